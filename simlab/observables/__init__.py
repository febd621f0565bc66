"""observables: what is measured along a flow, one file each.

A kind defines `Params`, ``outputs(params) -> {name: Output}`` and ``measure(params, view) -> {name: value}``, `view` as
in `view.View`. An output without the dimension ``record`` is measured once, at the start. A kind may also define

- ``check(params, setting)``: a ValueError of one line that names the key where it makes no sense (`view.Setting`);
- ``SEVERAL_OUTPUTS = True``: it also makes sense where the target has several outputs, y being (n, c) then;
- ``NEEDS``: what the experiment must provide; ("linearised",): the linearised network trained beside (`view.linear`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simlab.core import lookup

if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = lookup.attributes(__name__)
