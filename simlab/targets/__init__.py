"""targets: the functions to be learned.

A kind defines `Params` and ``draw(params, dim, rng) -> f``, one random target, a function of X (n, d); and, where it
is known, ``power(params, dim, max_degree) -> (K+1,)``: E f_k² by degree k, the same for every draw, for x uniform on
the unit sphere. Where the radius counts `power` takes it as ``radius=1.0``; `simlab.sphere.power` estimates it for any
f. A target of the radius alone is a `Radial`, which knows its profile. One made of known neurons
(`_neurons.NeuronSum`) has attributes ``neurons`` (k, d) and ``coefficients`` (k,).
A target is a function: noise on its values belongs to the experiment.
"""

from simlab.targets._radial import Radial

__all__ = ["Radial"]
