"""The commands `reference list`, `export`, `check` and `prove`: instances with known optima."""

from __future__ import annotations

import itertools
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from typer import Argument, Exit, Option

from indefinite_opt.command_line.options import Json, MaxBytes, Tolerance, read_values
from indefinite_opt.command_line.terminal import (
    certificate_fields,
    console,
    fields,
    print_json,
    say,
)
from indefinite_opt.errors import UnknownName
from indefinite_opt.foundation import MAX_BYTES
from indefinite_opt.studies.reference_library import library

reference_app = typer.Typer(
    help="List, export, check and prove reference instances.\n\n"
    "They are small, and have best-known objectives and certified brackets.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

InstanceName = Annotated[str, Argument(help="Name of an instance (see `reference list`).")]


@reference_app.command("list")
def list_(
    pattern: Annotated[
        str, Argument(help="Names to list, such as 'sigmoid-*' or 'boxqp-50-*'.")
    ] = "*",
    as_json: Json = False,
) -> None:
    """List the instances and what is known of their optima."""
    entries = library.references()
    found = [entry for entry in entries if fnmatchcase(entry.name, pattern)]
    if not found:
        raise UnknownName("pattern", pattern, (entry.name for entry in entries))
    if as_json:
        print_json({entry.name: library.cells(entry) for entry in found})
        return
    rows = [
        (entry.name, str(entry.n), entry.title or "QuadraticProgram", f"{entry.best:.6g}",
         f"{entry.relative_gap:.1e}", entry.method)
        for entry in found
    ]  # fmt: skip
    heads = ("name", "n", "formulation", "best known", "gap", "proved by")
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    # The last columns are left out as a whole where they do not fit.
    fitting = sum(total <= console.width for total in itertools.accumulate(w + 1 for w in widths))
    table = Table(box=None, pad_edge=False)
    for head in heads[:fitting]:
        right = head in ("n", "best known", "gap")
        table.add_column(head, justify="right" if right else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row[:fitting])
    console.print(table)


@reference_app.command()
def export(
    name: InstanceName,
    path: Annotated[
        Path,
        Argument(help="The .lp, .mps or .npz file to write; .qplib or .in if it is no SVM dual."),
    ],
) -> None:
    """Write the quadratic program of an instance for another solver."""
    say(library.export(name, path))


@reference_app.command()
def check(
    name: InstanceName,
    solution: Annotated[
        Path, Argument(help="A .npz, .json or .csv file with the values of your point.")
    ],
    max_bytes: MaxBytes = MAX_BYTES,
    tol: Tolerance = 1e-6,
    as_json: Json = False,
) -> None:
    """Compare your point with the best-known one.

    The exit code is 1 unless it is as good, or better without leaving the certified bracket.
    """
    found = library.check(name, read_values(solution, max_bytes), tol=tol)
    known = found.reference
    if as_json:
        print_json(
            {
                "standing": found.standing.name,
                "meaning": found.standing.value,
                **fields(found, "shortfall excess"),
                **fields(known, "name best lower upper method"),
                **certificate_fields(found.certificate),
                "objective": found.objective,
            }
        )
    else:
        impossible = found.standing is library.Standing.IMPOSSIBLE
        say(found, style="bold red" if impossible else None)
    if not found.standing.succeeds:
        raise Exit(1)


@reference_app.command()
def prove(
    name: InstanceName,
    path: Annotated[Path, Argument(help="The .json file to write, for `check-proof`.")],
    time_limit: Annotated[float, Option(help="Seconds allowed for the bracket.")] = 60.0,
) -> None:
    """Bracket an instance again and write the proof."""
    say(library.prove(name, path, time_limit))
