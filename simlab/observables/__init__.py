"""observables: what is measured along a flow, one file each.

A kind defines `Params`, ``outputs(params) -> {name: Output}`` and ``measure(params, view) -> {name: value}``. An output
without the dimension ``record`` is measured once, at the start.
"""
