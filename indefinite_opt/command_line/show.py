"""The commands `list` and `show`: what there is."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
from rich.table import Table
from typer import Argument, Option

import indefinite_opt as iopt
from indefinite_opt import solvers
from indefinite_opt.command_line.options import DATA_DIR, JSON, chosen_formulation
from indefinite_opt.command_line.terminal import console, print_json, say
from indefinite_opt.foundation import checks, short


def list_(
    what: str = Argument("all", help="formulations, baselines, solvers, kernels, data or all."),
    data_dir: Path | None = DATA_DIR,
    as_json: bool = JSON,
) -> None:
    """List the formulations, baselines, solvers, kernels and data."""
    # "distance" has no default distance, so it cannot be made from its name alone.
    kernels = [name for name in iopt.kernels.names() if name != "distance"]
    sections: dict[str, dict[str, str]] = {
        "formulations": {name: _method(name) for name in iopt.available_formulations()},
        "baselines": {name: _method(name) for name in iopt.available_baselines()},
        "solvers": {
            name: _first_line(solver) + " (convex programs only)" * solver.needs_convex
            for name, solver in sorted(solvers.known().items())
        },
        "kernels": {name: _first_line(iopt.kernels.get(name)) for name in kernels},
        "data": iopt.datasets.describe(data_dir),
    }
    if what != "all":
        checks.choice("what", what, [*sections, "all"])
        sections = {what: sections[what]}
    elif not as_json:
        sections["data"] = {"names": ", ".join(sections["data"])}
    if as_json:
        print_json(sections)
        return
    for kind, entries in sections.items():
        table = Table(title=kind, title_justify="left", box=None, show_header=False)
        table.add_column(style="bold", no_wrap=True)
        table.add_column(overflow="fold")
        for name, meaning in entries.items():
            table.add_row(name, meaning)
        console.print(table, "")


def _method(name: str) -> str:
    """Parameters of a formulation or baseline, reference, task and, of a formulation, solvers."""
    cls = getattr(iopt, name)
    defaults = [
        f"{field.name}={short(field.default)}"
        for field in dataclasses.fields(cls)
        if field.repr and field.default is not dataclasses.MISSING
    ]
    parts = [f"({', '.join(defaults)})"] * bool(defaults) + [cls.reference]
    parts += [f"for {cls.task}"] * (cls.task != "classification")
    if issubclass(cls, iopt.Formulation):
        parts.append(f"solvers: {', '.join(iopt.available_solvers(name))}")
    return "; ".join(parts)


def _first_line(thing: object) -> str:
    """What a docstring says first, without the key of a reference."""
    return re.sub(
        r" \(\[\w+\]_[^)]*\)|,? ?\[\w+\]_", "", (thing.__doc__ or "").strip().split("\n")[0]
    )


def show(
    name: str = Argument(help="A formulation, with or without parameters."),
    latex: bool = Option(False, help="Print LaTeX source instead of text."),
) -> None:
    """Show a formulation as mathematics.

    The formulas are generated from its declaration.
    """
    formulation = chosen_formulation(name)
    # Only symbols are shown. The kernel is indefinite, and so small that it lies in every ball of
    # `LussBall`; the points are enough for small bounds on the weights, and no two are equal, which
    # keeps the hard margin bounded.
    K = 1e-9 * iopt.kernels.get("l1-gaussian")(np.random.default_rng(0).standard_normal((500, 3)))
    labels = {"classification": np.repeat([-1, 1], 250), "regression": np.arange(500.0)}
    problem = iopt.KernelProblem(K, labels.get(formulation.task), task=formulation.task)
    program = formulation.declare(problem)
    meanings = (f"  {symbol}: {told}" for symbol, told in program.legend(with_data=False).items())
    shown = program.text(with_data=False)
    text = "\n".join([shown, "", "where", *meanings, "", formulation.reference])
    say(program.latex() if latex else text)
