"""The command `side-by-side`: declared problems with the objective and the bound of each."""

from __future__ import annotations

import math
import textwrap
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path  # noqa: F401 - the annotations of inherited fields are evaluated here
from typing import Any

import numpy as np
from typer import Argument, Exit, Option

import indefinite_opt as iopt
from indefinite_opt.command_line import options
from indefinite_opt.command_line.terminal import print_json, say
from indefinite_opt.errors import IndefiniteOptError
from indefinite_opt.foundation import split_calls
from indefinite_opt.modeling import pair_problems
from indefinite_opt.workflow import in_pairs

USUAL = {
    "classification": "SVMDual, ConvexHullDual, GuoSchuurmansLP, LussDual, LPSVM",
    "regression": "EpsilonSVR, NuSVR",
    "one class": "OneClassSVM, SVDD, OneClassLP",
}
"""The formulations that are solved by default, by the task of the data."""

COLUMNS = {
    "formulation": "<", "solver": "<", "claim": "<", "objective": ">.6g", "bound": ">.6g",
    "gap": ">.1e", "seconds": ">.2f",
}  # fmt: skip
"""The columns of the table, on which side their cells stand, and the forms of numbers."""

WIDTH = 80

LOADING = iopt.KernelProblem(1.0 - 2.0 * np.eye(8), np.repeat([-1, 1], 4))
"""It is solved first, so that no row counts the time in which code is loaded or compiled."""


@dataclass(frozen=True)
class DataOptions(options.DataOptions):
    """The data options, with a data set that needs no file by default."""

    data: str = Argument("words", help="As in `solve`; by default edit distances of 80 words.")


@options.with_options
def side_by_side(
    data: DataOptions,
    formulations: str | None = Option(
        None, help="A list: 'SVMDual(C=10), mine.py:MyDual'; by default some that fit the data."
    ),
    tol: float = options.TOL,
    time_limit: float = Option(60.0, help="Seconds for each solve, and for each proof."),
    seed: int = options.SEED,
    as_json: bool = options.JSON,
) -> None:
    """Solve formulations on all data, and prove how good each is.

    Each row has the declared problem, the best objective found, a bound that is proved, and their
    relative gap; for a nonconvex problem the bound is that of a bracket. Objectives of different
    formulations belong to different problems. If there are more than two classes, each pair has a
    row. The exit code is 1 if nothing was proved about any.
    """
    problem = data.problem()
    listed = formulations or USUAL[problem.task]
    chosen = [options.chosen_formulation(title) for title in split_calls(listed) or [listed]]
    parts = [
        (name, formulation, pair, part)
        for name, formulation in zip(_names(chosen), chosen, strict=True)
        for pair, part in _parts(problem, formulation)
    ]
    programs = [formulation.declare(part) for _, formulation, _, part in parts]
    _solved(LOADING, iopt.SVMDual(), tol, time_limit, seed)
    rows = [
        {"formulation": name, "classes": pair, "problem": program.formula()}
        | _solved(part, formulation, tol, time_limit, seed)
        for (name, formulation, pair, part), program in zip(parts, programs, strict=True)
    ]
    if as_json:
        print_json({**options.facts(problem), "rows": rows})
    else:
        say(f"{problem.name} (n = {problem.n})", style="bold")
        say(f"{options.facts_line(problem)}\n", wrap=True)
        say(_table(rows))
    if all(row["claim"] in ("FAILED", "NONE") for row in rows):
        raise Exit(1)


def _parts(problem: iopt.KernelProblem, formulation: Any) -> list[tuple[Any, iopt.KernelProblem]]:
    """The problem of each pair of several classes, else the problem itself, whose pair is None."""
    if not in_pairs(problem, formulation):
        return [(None, problem)]
    return [(one.pair, one.problem) for one in pair_problems(problem)]


def _names(chosen: list[Any]) -> list[str]:
    """The names of the classes, or the titles of those that have the same name."""
    counts = Counter(type(formulation).__name__ for formulation in chosen)
    return [str(one) if counts[type(one).__name__] > 1 else type(one).__name__ for one in chosen]


def _solved(
    problem: iopt.KernelProblem, formulation: Any, tol: float, time_limit: float, seed: int
) -> dict[str, Any]:
    """The cells of one row behind the formula."""
    start = time.perf_counter()
    try:
        result = iopt.solve(
            problem, formulation, seed=seed, tol=tol, time_limit=time_limit, prove=time_limit
        )
        proved = result.certificate
    except IndefiniteOptError as error:
        return {"claim": "FAILED", "error": str(error)}
    return {
        "solver": result.solver,
        "claim": proved.claim.name,
        "objective": proved.objective,
        "bound": proved.bound,
        "gap": proved.relative_gap,
        "seconds": time.perf_counter() - start,
    }


def _table(rows: list[dict[str, Any]]) -> str:
    """Two lines for each row: its numbers, and below them its problem."""
    cells = [list(COLUMNS), *([_cell(row, name) for name in COLUMNS] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    forms = [f"{side[0]}{width}" for side, width in zip(COLUMNS.values(), widths, strict=True)]
    head, *told = ("  ".join(map(format, texts, forms)).rstrip() for texts in cells)
    lines = [head, "─" * (sum(widths) + 2 * len(widths) - 2)]
    for row, numbers in zip(rows, told, strict=True):
        of = "{} | {}: ".format(*row["classes"]) if row.get("classes") else ""
        problem = of + row.get("error", row["problem"])
        parts = [problem] if len(problem) <= WIDTH - 2 else problem.split("  ", 1)
        lines.append(numbers)
        for indent, part in zip(("  ", "    "), parts, strict=False):
            lines += textwrap.wrap(part, WIDTH, initial_indent=indent, subsequent_indent="    ")
    return "\n".join(lines)


def _cell(row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    unknown = value is None or (isinstance(value, float) and not math.isfinite(value))
    return "–" if unknown else format(value, COLUMNS[name][1:])
