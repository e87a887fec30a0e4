"""The command `compare`: formulations on the same folds, as a table and a report."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

from typer import Exit, Option

import indefinite_opt as iopt
from indefinite_opt.command_line import options
from indefinite_opt.command_line.terminal import console, say, stderr
from indefinite_opt.foundation import parse_call, split_calls, writing
from indefinite_opt.studies import Grid, bar, default_methods, has_gamma

DEFAULT_GRID = (
    "C=[0.01, 0.1, 1, 10, 100, 1000], rho=[1, 100, 10000], relative=[1.2, 2, 5], k=[1, 5, 15], "
    "nu=[0.1, 0.3, 0.5], relative_gamma=[0.1, 1, 10]"
)
"""Powers of ten around the default of C and from that of the penalty ρ on, multiples of the least
feasible bounds β and μ, numbers of neighbours, shares ν, and multiples of the default γ where
neither --kernel nor --gamma gives one. Embedded data take about a minute."""


@options.with_options
def compare(
    data: options.DataOptions,
    limits: options.SolveOptions,
    formulations: str = Option("all", help="'all', or a list: 'SVMDual(C=10), mine.py:MyDual'."),
    solvers: str | None = Option(None, help="Solvers of each formulation, such as 'smo, highs'."),
    grid: str = Option(
        DEFAULT_GRID,
        help="Values from which the parameters of each method are chosen in every fold, by three "
        "folds of its training points, unless they are written with the method; 'none' for its "
        "defaults, by which methods are compared if there are no labels.",
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
    cell failed, or ended with the claim NONE. After Ctrl-C the same call goes on where it was.
    """
    from indefinite_opt.studies.report import failures, terminal_table

    problem = data.problem()
    titles = [] if formulations == "all" else split_calls(formulations) or [formulations]
    methods = [options.named_or_own(title) for title in titles] or None
    values = {} if grid == "none" else parse_call(f"grid({grid})", "grid")[1]
    if grid == DEFAULT_GRID:
        # Without labels nothing tells the entries of a grid apart.
        usual = default_methods(problem.task) if problem.labels is not None else []
        fitting = {name for method in usual for name in Grid(method).names}
        if usual and not data.has_own_gamma and has_gamma(problem.kernel):
            fitting.add("relative_gamma")
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
    settings = comparison.settings
    settings["command"] = shlex.join(["indefinite-opt", *sys.argv[1:]])
    report = comparison.to_html(output / "report.html")
    comparison.frame.to_csv(output / "cells.csv", index=False)
    (output / "table.md").write_text(comparison.to_markdown(), encoding="utf-8")
    (output / "table.tex").write_text(comparison.to_latex(), encoding="utf-8")
    say(f"{problem.name} (n = {problem.n})", style="bold")
    line = f"{options.facts_line(problem)}; {settings['evaluation']}, seed {limits.seed}\n"
    say(line, wrap=True)
    console.print(terminal_table(comparison, console.width), "")
    for name, solver, reason in failures(comparison):
        say(f"{name} ({solver}): {reason}\n", style="red", wrap=True)
    for sentence in comparison.conclusions:
        say(f"{sentence}\n", wrap=True)
    say(f"Report: {report}")
    if all(row["error"] or row["claim"] == iopt.Claim.NONE.name for row in comparison.rows):
        raise Exit(1)
