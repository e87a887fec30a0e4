"""The command `compare`: formulations on the same folds, as a table and a report."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

from typer import Exit, Option

import indefinite_opt as iopt
from indefinite_opt.command_line.options import (
    Cluster,
    DataOptions,
    Json,
    TimeLimit,
    Tolerance,
    facts_line,
    named_or_own,
    with_data_options,
)
from indefinite_opt.command_line.terminal import (
    console,
    paragraph,
    print_json,
    progress,
    say,
    stderr,
)
from indefinite_opt.errors import ParameterError
from indefinite_opt.foundation import parse_call, split_calls, writing
from indefinite_opt.studies import Comparison

DEFAULT_GRID = (
    "C=[0.01, 0.1, 1, 10, 100, 1000], rho=[1, 100, 10000], relative=[1.2, 2, 5], k=[1, 5, 15]"
)
"""Powers of ten around the default of C and from that of the penalty ρ on, multiples of the least
feasible bounds β and μ from their default on, and numbers of neighbours; the whole comparison of
the embedded data takes less than a minute on one core."""


@with_data_options
def compare(
    options: DataOptions,
    formulations: Annotated[
        str,
        Option(
            help="'all', or a list such as 'SVMDual(C=10), LPSVM, mine.py:MyDual', the last one "
            "from a file of your own."
        ),
    ] = "all",
    solvers: Annotated[
        str | None,
        Option(help="Solvers to run each formulation with, a list such as 'smo, highs'."),
    ] = None,
    grid: Annotated[
        str,
        Option(
            help="Values from which the parameters of each method are chosen in every fold, by "
            "three folds of its training points, unless they are written with the method; 'none' "
            "for its defaults."
        ),
    ] = DEFAULT_GRID,
    folds: Annotated[int, Option(help="Number of folds of the cross-validation.")] = 5,
    seed: Annotated[int, Option(help="Seed of the folds and of the random starts.")] = 0,
    tol: Tolerance = 1e-6,
    time_limit: TimeLimit = None,
    jobs: Annotated[int, Option(help="Number of processes that share the folds.")] = 1,
    cluster: Cluster = None,
    output: Annotated[Path, Option(help="Folder for the report and the table.")] = Path(
        "indefinite-opt-report"
    ),
    show_chosen: Annotated[
        bool,
        Option("--chosen", help="Print how often each parameter was chosen, below the table."),
    ] = False,
    resume: Annotated[
        bool, Option(help="Continue from the rows that an earlier run left in the folder.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Compare formulations by nested cross-validation on the same folds.

    The table is printed, and a report is written to the output folder. The exit code is 1 if every
    cell failed, or ended with the claim NONE.
    """
    problem = options.problem()
    chosen = None if formulations == "all" else split_calls(formulations)
    if chosen == [] or any(" " in name.partition("(")[0].strip() for name in chosen or []):
        expected = "'all' or names separated by commas, such as 'SVMDual(C=10), LPSVM'"
        raise ParameterError("formulations", expected, repr(formulations))
    methods = None if chosen is None else [named_or_own(title) for title in chosen]
    with writing("output", output, "folder"):
        output.mkdir(parents=True, exist_ok=True)
    if resume and any(output.glob("cells*.jsonl")):
        told = f"Finished cells in {output} are used again where they fit; see --no-resume."
        say(told, style="yellow", to=stderr)
    with progress("loading") as advance:

        def cell_done(done: int, total: int, row: dict[str, Any]) -> None:
            text = f"{row['formulation'].partition('(')[0]}, fold {row['fold'] + 1}"
            advance(f"{text:<26}", done, total)

        comparison = iopt.compare(
            problem, methods, split_calls(solvers) if solvers else None, n_jobs=jobs, folds=folds,
            seed=seed, tol=tol, time_limit=time_limit, grid=_values(grid), record=output,
            resume=resume, cluster=cluster, progress=cell_done,
        )  # fmt: skip
        facts = options.facts(problem)
        command = shlex.join(["indefinite-opt", *sys.argv[1:]])
        comparison.settings.update(
            command=command, positive=facts["positive"], negative=facts["negative"]
        )
        if "table" in facts:
            comparison.settings["table"] = facts["table"]["used"]
        advance(f"{'writing the report':<26}")
        report = comparison.to_html(output / "report.html")
        comparison.frame.to_csv(output / "cells.csv", index=False)
        (output / "table.md").write_text(comparison.to_markdown(), encoding="utf-8")
    if as_json:
        print_json(
            {
                **facts,
                "settings": comparison.settings,
                "table": comparison.summary.to_dict("records"),
                "folds": comparison.frame.to_dict("records"),
                "conclusions": comparison.conclusions,
            }
        )
    else:
        _print(comparison, facts, report, show_chosen)
    if all(row["error"] or row["claim"] == iopt.Claim.NONE.name for row in comparison.rows):
        raise Exit(1)


def _print(comparison: Comparison, facts: dict[str, Any], report: Path, show_chosen: bool) -> None:
    from indefinite_opt.studies.report import chosen_texts, failures, terminal_table

    say(f"{facts['problem']} (n = {facts['n']})", style="bold")
    evaluation, seed = (comparison.settings[name] for name in ("evaluation", "seed"))
    paragraph(f"{facts_line(facts)}; {evaluation}, seed {seed}")
    console.print(terminal_table(comparison, console.width))
    say("")
    for name, chosen in chosen_texts(comparison) if show_chosen else []:
        say(f"  {name}: {chosen} folds")
    for name, solver, told in failures(comparison):
        paragraph(f"{name} ({solver}): {told}", style="red")
    for sentence in comparison.conclusions:
        paragraph(sentence)
    say(f"Report: {report}")


def _values(grid: str) -> dict[str, Any]:
    """The values of a grid such as 'C=[0.1, 1], k=[1, 5]', by parameter."""
    if grid == "none":
        return {}
    try:
        return parse_call(f"grid({grid})", "grid")[1]
    except ParameterError:
        expected = "lists of values such as 'C=[0.1, 1], k=[1, 5]', or 'none'"
        raise ParameterError("grid", expected, repr(grid)) from None
