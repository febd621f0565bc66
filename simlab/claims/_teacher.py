"""What the claims about wide nets share: parts of their specs, a net that learns a teacher by descent near the edge."""

from __future__ import annotations

TEACHER = """\
[data]
kind = "uniform_sphere"
dim = 10
[target]
kind = "relu_teacher"
[network]
kind = "two_layer"
"""
"""A two-layer net on the labels of a ReLU teacher; fields of the net may follow."""

EDGE_DESCENT = """\
[flow]
kind = "gradient_descent"
steps = {steps}
step = 0.5
step_unit = "edge"
"""
"""Steps of half of 2/λ_max, the largest stable one, with λ_max of K/n at the start."""
