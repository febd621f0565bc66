"""networks: finite-width networks, their gradients and tangent kernels.

A kind defines `Params` and, with θ the flat vector of all weights:

- ``initialise(params, dim, rng) -> theta``
- ``forward(params, theta, X) -> f (n,)``
- ``sizes(params, dim) -> int64 array`` and ``output_scale(params) -> float``, what its gradient needs of the parameters
- ``scratch_size(params, dim, n) -> int``, the floats of scratch space its gradient needs
- ``gradient``, compiled, of signature `simlab.networks._signature.GRADIENT`, so that one descent loop serves all
- ``tangent_gram(params, theta, X) -> K (n, n)``, K_ij = ⟨∇f(x_i), ∇f(x_j)⟩
"""
