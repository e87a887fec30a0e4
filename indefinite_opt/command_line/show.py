"""The commands `list` and `show`: what there is."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from rich.table import Table
from typer import Argument, Option

import indefinite_opt as iopt
from indefinite_opt.command_line.options import DATA_DIR, JSON, chosen_formulation
from indefinite_opt.command_line.terminal import console, print_json, say
from indefinite_opt.foundation import checks

LISTED = Path(__file__).with_name("listed.json")
"""What `list` says, so that it need not import every class, and the names of the data.
`python tests/command_line/test_show_command.py` writes it anew."""


def list_(
    what: str = Argument("all", help="formulations, baselines, solvers, kernels, data or all."),
    data_dir: Path | None = DATA_DIR,
    as_json: bool = JSON,
) -> None:
    """List the formulations, baselines, solvers, kernels and data."""
    sections: dict[str, dict[str, str]] = json.loads(LISTED.read_text(encoding="utf-8"))
    if what != "all":
        checks.choice("what", what, [*sections, "all"])
        sections = {what: sections[what]}
    if "data" in sections and (as_json or what == "data" or data_dir is not None):
        described = iopt.datasets.describe(data_dir)
        short = what == "all" and not as_json
        sections["data"] = {"names": ", ".join(described)} if short else described
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
    labels = {"classification": np.repeat([-1, 1], 250), "regression": 0.5 * np.arange(500.0)}
    problem = iopt.KernelProblem(K, labels.get(formulation.task))
    program = formulation.declare(problem)
    meanings = (f"  {symbol}: {told}" for symbol, told in program.legend(with_data=False).items())
    shown = program.text(with_data=False)
    text = "\n".join([shown, "", "where", *meanings, "", formulation.reference])
    say(program.latex() if latex else text)
