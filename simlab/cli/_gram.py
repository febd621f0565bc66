"""gram: the matrix of a kernel on data from a file, of any size, into HDF5."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import click

from simlab.cli import _hint, _kernel_options, _options


@click.command(short_help="Gram matrix of data into HDF5, larger than memory.")
@_kernel_options.kernel
@click.argument("inputs", metavar="X")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    required=True,
    help="HDF5 file to write.",
)
@click.option(
    "--memory", type=_kernel_options.size, help="Most memory to use, such as 4GB.  [default: half of what is free]"
)
@click.option("--float32", is_flag=True, help="Store single precision (computed in double).")
@click.option("--threads", type=click.IntRange(min=1), metavar="N", help="Threads to use.  [default: usable cores]")
@click.option("--overwrite", is_flag=True, help="Replace what an earlier command left, when the new file is whole.")
@click.option("--repair", is_flag=True, help="Compute damaged blocks again; set aside what is damaged beyond that.")
@_options.commits_every(5.0, "Time between commits; a kill loses the blocks since the last.")
@_options.quiet
@_options.as_json
def gram(
    kind: str,
    inputs: str,
    output: Path,
    memory: int | None,
    float32: bool,
    threads: int | None,
    overwrite: bool,
    repair: bool,
    commit_seconds: float,
    quiet: bool,
    as_json: bool,
    settings: tuple[str, ...],
    **fields: Any,
) -> None:
    """Assemble the Gram matrix of kernel KIND (or several: nngp,ntk) on the rows of X, a .npy, .npz, HDF5 or IDX file.

    The matrix is written block by block, so that it may be larger than memory; stopped or killed, the same command goes
    on where it was, and where the file is finished it checks it and is done. Every block has a checksum. What is
    unfinished lies beside FILE as FILE.part; a FILE that is a link stands for what it leads to. X.npz::NAME and
    X.h5::NAME choose one array of several.

    \b
    Example:
      simlab gram ntk X.npy --depth 3 -o K.h5
      simlab gram nngp,ntk train-images-idx3-ubyte.gz --depth 2,10 \\
          --float32 --memory 4GB -o K.h5
    """
    from simlab.cli._progress import Display
    from simlab.core.errors import BadInput
    from simlab.core.resources import free_memory
    from simlab.data.files import read_array
    from simlab.kernels.gram.store import Limits, Listener, gram_file

    chosen = _kernel_options.kernels(kind, fields, settings)
    names = [name_of(kernel) for kernel in chosen]
    if len(set(names)) < len(names):
        raise BadInput(f"{kind}: the same kernel twice ({', '.join(names)})")
    if not output.name:
        raise BadInput("--output: give the name of a file")
    if not output.parent.is_dir():
        raise BadInput(f"{output.parent}: no such directory")
    source = Path(inputs.partition("::")[0])
    if output.exists() and source.exists() and output.samefile(source):
        raise BadInput(f"{output}: is the input itself; choose another name")
    X = read_array(inputs)
    if overwrite and output.exists():
        _hint.goes_on_with(*sys.argv[1:])  # without it the file that is there would be in the way
    else:
        _hint.same_command()
    began = time.monotonic()
    with Display(quiet) as display:

        def progress(done: int, total: int, before: int) -> None:
            display.amount("pairs", done, total, (done - before) / max(time.monotonic() - began, 1e-9))

        gram_file(
            dict(zip(names, chosen, strict=True)),
            X,
            output,
            dtype="float32" if float32 else "float64",
            overwrite=overwrite,
            repair=repair,
            limits=Limits(memory or free_memory() // 2, threads, commit_seconds),
            listener=Listener(progress, display.say),
        )
    datasets = {name: repr(kernel) for name, kernel in zip(names, chosen, strict=True)}
    if as_json:
        dtype = "float32" if float32 else "float64"
        _options.print_json({"output": str(output), "datasets": datasets, "inputs": list(X.shape), "dtype": dtype})
    else:
        for name, text in datasets.items():
            click.echo(f"{output}: {name} : {X.shape[0]} x {X.shape[0]}, {text}")


def name_of(kernel: Any) -> str:
    """The dataset's name: the kind, and the depth where there is one."""
    from simlab.core.parsing import dump

    depth = dump(kernel).get("depth")
    return str(kernel.kind) if depth is None else f"{kernel.kind}_{depth}"


COMMANDS = {"gram": gram}
