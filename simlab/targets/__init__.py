"""targets: the functions to be learned.

A kind defines `Params` and ``draw(params, dim, rng) -> f``, one random target, a function of X (n, d).
"""
