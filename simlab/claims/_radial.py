"""What the claims about descent on a radial target share: data, net, flow, and the control. MATH §8."""

from __future__ import annotations

TRAINING = """\
[data]
kind = "ball_fourier"
radii = "stratified"
[target]
kind = "radial_relu"
[network]
kind = "three_layer_mean_field"
init_std = 2.0
[flow]
kind = "gradient_descent"
steps = {steps}
step = 1.0
step_unit = "particle"
[sweep]
"data.dim" = {dims}
"network.width" = {widths}
"""
CONTROL = ('target.kind="axis_relu"', "target.scale=3.0")
"""A target of one coordinate."""
TITLE, CONTROL_TITLE = r"ReLU$(1 - \|x\|)$", "control: ReLU$(1 - 3|x_1|)$"
