"""The commands `compare` and `side-by-side`: several formulations on the same data."""

from __future__ import annotations

import math
import shlex
import sys
import textwrap
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from typer import Argument, Exit, Option

import indefinite_opt as iopt
from indefinite_opt.command_line import options
from indefinite_opt.command_line.terminal import WIDTH, console, print_json, say, stderr
from indefinite_opt.errors import IndefiniteOptError
from indefinite_opt.foundation import parse_call, split_calls, writing

DEFAULT_GRID = (
    "C=[0.01, 0.1, 1, 10, 100, 1000], rho=[1, 100, 10000], relative=[1.2, 2, 5], k=[1, 5, 15], "
    "nu=[0.1, 0.3, 0.5], relative_epsilon=[0.01, 0.1, 1], relative_gamma=[0.1, 1, 10], "
    "form=['gaussian', 'exponential', 'linear']"
)
"""Powers of ten around the default of C and from that of the penalty ρ on, multiples of the least
feasible bounds β and μ, numbers of neighbours, shares ν, widths ε in standard deviations of the
targets, multiples of the default γ where neither --kernel nor --gamma gives one, and forms of
distances unless --form or --gamma is given. With its three forms `compare words` takes 97 seconds
of a core, 1.8 times as long as with one."""


@options.with_options
def compare(
    data: options.DataOptions,
    limits: options.SolveOptions,
    formulations: str = Option("all", help="'all', or a list: 'SVMDual(C=10), mine.py:MyDual'."),
    solvers: str | None = Option(None, help="Solvers of each formulation, such as 'smo, highs'."),
    grid: str = Option(
        DEFAULT_GRID,
        help="Values of parameters: every fold chooses among them by cross-validation on its "
        "training points, except for parameters written with a method. With 'none', or without "
        "labels, methods have their defaults.",
    ),
    folds: int = Option(5, help="Number of folds of the cross-validation."),
    jobs: int = Option(1, help="Number of processes that share the folds."),
    cluster: str | None = options.CLUSTER,
    output: Path = Option(Path("indefinite-opt-report"), help="Folder for report and table."),
    resume: bool = Option(True, help="Continue from the cells that the folder has already."),
) -> None:
    """Compare formulations by nested cross-validation.

    Methods are those for the task of the data; more than two classes are trained one against one.
    The table is printed, and a report is written to the output folder. The exit code is 1 if every
    cell failed, or ended with the claim NONE. After Ctrl-C the same call continues the work.
    """
    from indefinite_opt.studies import Grid, bar, default_methods, has_gamma
    from indefinite_opt.studies.report import failures, terminal_table

    problem = data.problem()
    titles = split_calls(formulations) or [formulations]
    methods = None if formulations == "all" else titles
    values = {} if grid == "none" else parse_call(f"grid({grid})", "grid")[1]
    if grid == DEFAULT_GRID:
        # Without labels nothing tells the entries of a grid apart.
        usual = (methods or default_methods(problem.task)) if problem.labels is not None else []
        fitting = {name for method in usual for name in Grid(method).names}
        if usual and not data.has_own_gamma and has_gamma(problem.kernel):
            fitting.add("relative_gamma")
        if usual and problem.D is not None and data.form is None and data.gamma is None:
            fitting.add("form")
        if "epsilon" in fitting:
            fitting.add("relative_epsilon")
        values = {name: several for name, several in values.items() if name in fitting}
    with writing("output", output, "folder"):
        output.mkdir(parents=True, exist_ok=True)
    if resume and any(output.glob("cells*.jsonl")):
        say(f"Finished cells in {output} are used again; see --no-resume.", "yellow", stderr)
    with bar(stderr) as shown:

        def advance(done: int, total: int, row: dict[str, Any]) -> None:
            if row["status"] == str(iopt.Status.INTERRUPTED):
                raise KeyboardInterrupt  # which the solver took for the end of its own search
            shown(done, total, row)

        comparison = iopt.compare(
            problem, methods, split_calls(solvers) if solvers else None, n_jobs=jobs, folds=folds,
            grid=values, record=output, resume=resume, cluster=cluster, progress=advance,
            **vars(limits),
        )  # fmt: skip
    comparison.settings["command"] = shlex.join(["indefinite-opt", *sys.argv[1:]])
    report = comparison.to_html(output / "report.html")
    comparison.frame.to_csv(output / "cells.csv", index=False)
    (output / "table.md").write_text(comparison.to_markdown(), encoding="utf-8")
    (output / "table.tex").write_text(comparison.to_latex(), encoding="utf-8")
    say(f"{problem.name} (n = {problem.n})", style="bold")
    protocol = comparison.settings["evaluation"]
    say(f"{options.facts_line(problem)}; {protocol}, seed {limits.seed}\n", wrap=True)
    console.print(terminal_table(comparison, console.width), "")
    for name, solver, reason in failures(comparison):
        say(f"{name} ({solver}): {reason}\n", style="red", wrap=True)
    for sentence in comparison.conclusions:
        say(f"{sentence}\n", wrap=True)
    say(f"Report: {report}")
    if all(row["error"] or row["claim"] == iopt.Claim.NONE.name for row in comparison.rows):
        raise Exit(1)


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
    from indefinite_opt.modeling import pair_problems
    from indefinite_opt.workflow import in_pairs

    problem = data.problem()
    listed = formulations or USUAL[problem.task]
    chosen = [options.chosen_formulation(title) for title in split_calls(listed) or [listed]]
    counts = Counter(type(formulation).__name__ for formulation in chosen)
    rows, works = [], []
    for formulation in chosen:
        kind = type(formulation).__name__
        name = kind if counts[kind] == 1 else str(formulation)
        pairs: Any = [(None, None, problem)]
        for pair, _, part in pair_problems(problem) if in_pairs(problem, formulation) else pairs:
            declared = formulation.declare(part).formula()
            rows.append({"formulation": name, "classes": pair, "problem": declared})
            works.append((part, formulation))
    limits = {"tol": tol, "time_limit": time_limit, "seed": seed, "prove": time_limit}
    # A problem whose bracket needs a relaxation is solved first with every formulation that it
    # suits, so that rows do not count the time in which their code is loaded.
    random = np.random.default_rng(0).standard_normal((16, 16))
    loading = iopt.KernelProblem(random + random.T, np.repeat([-1, 1], 8))
    for formulation in (iopt.SVMDual(), *chosen):
        _solved(loading, formulation, limits)
    for row, work in zip(rows, works, strict=True):
        row |= _solved(*work, limits)
    if as_json:
        print_json({**options.facts(problem), "rows": rows})
    else:
        say(f"{problem.name} (n = {problem.n})", style="bold")
        say(f"{options.facts_line(problem)}\n", wrap=True)
        say(_table(rows))
    if all(row["claim"] in ("FAILED", "NONE") for row in rows):
        raise Exit(1)


def _solved(problem: iopt.KernelProblem, formulation: Any, limits: Any) -> dict[str, Any]:
    """The cells of one row behind the formula."""
    start = time.perf_counter()
    try:
        result = iopt.solve(problem, formulation, **limits)
        proved = result.certificate
    except IndefiniteOptError as error:
        return {"claim": "FAILED", "error": str(error)}
    return {
        "solver": result.solver, "claim": proved.claim.name, "objective": proved.objective,
        "bound": proved.bound, "gap": proved.relative_gap, "seconds": time.perf_counter() - start,
    }  # fmt: skip


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
            whole = part.replace(" = ", "\xa0=\xa0")  # no line ends inside an equation
            lines += textwrap.wrap(whole, WIDTH, initial_indent=indent, subsequent_indent="    ")
    return "\n".join(lines).replace("\xa0", " ")


def _cell(row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    unknown = value is None or (isinstance(value, float) and not math.isfinite(value))
    return "–" if unknown else format(value, COLUMNS[name][1:])
