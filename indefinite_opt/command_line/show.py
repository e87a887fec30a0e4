"""The commands `list`, `show` and `fetch`: what exists, as mathematics, and data from OpenML."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from pathlib import Path
from typing import Annotated

import numpy as np
from rich.table import Table
from typer import Argument, Exit, Option

import indefinite_opt as iopt
from indefinite_opt import solvers
from indefinite_opt.algebra import symbol_text
from indefinite_opt.command_line.options import DataDir, Json, chosen_formulation
from indefinite_opt.command_line.terminal import console, print_json, say
from indefinite_opt.errors import DataError
from indefinite_opt.foundation import checks, short

PAPERS = {
    "H05": "Haasdonk 2005",
    "LA07": "Luss and d'Aspremont 2007",
    "LL03": "Lin and Lin 2003",
    "LOC13": "Loosli, Ong and Canu 2013",
}
"""Papers by the keys of references in docstrings."""


def list_(
    what: Annotated[
        str, Argument(help="What to list: formulations, baselines, solvers, kernels, data or all.")
    ] = "all",
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """List the formulations, baselines, solvers, kernels and data."""
    data = dict(sorted(iopt.datasets.describe(data_dir).items()))
    sections: dict[str, dict[str, str]] = {
        "formulations": {
            name: f"{_parameters(getattr(iopt, name))}{getattr(iopt, name).reference}; solvers: "
            + ", ".join(iopt.available_solvers(name))
            for name in iopt.available_formulations()
        },
        "baselines": {
            name: f"{_parameters(getattr(iopt, name))}{getattr(iopt, name).reference}"
            for name in iopt.available_baselines()
        },
        "solvers": {
            name: _first_line(solver) + (" (convex programs only)" if solver.needs_convex else "")
            for name, solver in sorted(solvers.known().items())
        },
        # "distance" has no default distance, so it cannot be made from its name alone.
        "kernels": {
            name: _first_line(iopt.kernels.get(name))
            for name in iopt.kernels.names()
            if name != "distance"
        },
        "data": data if what == "data" or as_json else {"names": ", ".join(data)},
    }
    if what != "all":
        checks.choice("what", what, [*sections, "all"])
        sections = {what: sections[what]}
    if as_json:
        print_json(sections)
        return
    for kind, entries in sections.items():
        table = Table(title=kind, title_justify="left", box=None, show_header=False)
        table.add_column(style="bold", no_wrap=True)
        table.add_column(overflow="fold")
        for name, meaning in entries.items():
            table.add_row(name, meaning)
        console.print(table)
        console.print()


def _parameters(cls: type) -> str:
    """The parameters of a formulation or baseline with their defaults, before other text."""
    fields = [
        f"{field.name}={short(field.default)}"
        for field in dataclasses.fields(cls)
        if field.repr and field.default is not dataclasses.MISSING
    ]
    return f"({', '.join(fields)}); " if fields else ""


def _first_line(thing: object) -> str:
    line = (thing.__doc__ or "").strip().split("\n")[0]
    return re.sub(r"\[(\w+)\]_", lambda found: PAPERS.get(found[1], found[1]), line)


def show(
    name: Annotated[str, Argument(help="A formulation, with or without parameters.")],
    latex: Annotated[bool, Option(help="Print LaTeX source instead of text.")] = False,
) -> None:
    """Show a formulation as mathematics.

    The formulas are generated from its declaration.
    """
    formulation = chosen_formulation(name)
    # Only symbols are shown. The kernel is indefinite, and so small that it lies in every ball of
    # `LussBall`; the points are enough for small bounds on the weights, and no two are equal, which
    # keeps the hard margin bounded.
    K = 1e-9 * iopt.kernels.get("l1-gaussian")(np.random.default_rng(0).standard_normal((500, 3)))
    program = formulation.declare(iopt.KernelProblem(K, np.repeat([-1, 1], 250)))
    if latex:
        say(program.latex())
        return
    meanings = (f"  {symbol_text(name)}: {told}" for name, told in program.legend().items())
    say("\n".join([str(program), "", "where", *meanings, "", formulation.reference]))


def fetch(
    names: Annotated[
        list[str] | None, Argument(help="Names of data sets from OpenML (see `list data`).")
    ] = None,
    data_dir: Annotated[
        Path, Option(help="Folder of the named data sets.", envvar="INDEFINITE_OPT_DATA")
    ] = Path("indefinite-opt-data"),
    check: Annotated[
        bool, Option("--check", help="Only compare the files of the folder with SHA256SUMS.")
    ] = False,
) -> None:
    """Fetch named data sets from OpenML into a folder.

    Numbers of rows and of labels are compared with those of the papers. The checksum of each file
    goes to SHA256SUMS, and a later fetch of other data is refused.
    """
    if check:
        raise Exit(_compare(data_dir))
    if not names:
        raise DataError("names", "at least one data set of OpenML", "none", "See `list data`.")
    for name in names:
        say(f"{name}: {iopt.datasets.store_table(name, data_dir)}")
    say(f"Set INDEFINITE_OPT_DATA={data_dir.absolute()}, or pass --data-dir, to use them.")


def _compare(folder: Path) -> int:
    """Print what became of each listed file; 1 if one is missing or changed, else 0."""
    sums = iopt.datasets.read_checksums(folder)
    if not sums:
        raise DataError("data_dir", "a folder with a file SHA256SUMS", str(folder))
    code = 0
    for place, digest in sums.items():
        file = folder / place
        if not file.is_file():
            told = "MISSING"
        else:
            with file.open("rb") as stream:
                found = hashlib.file_digest(stream, "sha256").hexdigest()
            told = "OK" if found == digest else "CHANGED"
        say(f"{place}: {told}", style=None if told == "OK" else "red")
        code = code if told == "OK" else 1
    return code
