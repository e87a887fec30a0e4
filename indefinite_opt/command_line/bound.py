"""The commands `bound` and `check-proof`: a bracket while it closes, and its proof."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Annotated, Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text
from typer import Argument, Exit, Option

import indefinite_opt as iopt
from indefinite_opt.command_line.options import (
    BestPoint,
    Cluster,
    DataOptions,
    Json,
    check_writable,
    chosen_formulation,
    facts_line,
    save_values,
    with_data_options,
)
from indefinite_opt.command_line.terminal import exit_without_proof, fields, print_json, say, stderr
from indefinite_opt.errors import DataError
from indefinite_opt.foundation import checks, writing
from indefinite_opt.quadratic import Certificate, Trace, gap_in_words, proof_checker, read_document


class Watch:
    """The callback of `bound`, and a context in which its reports are shown.

    On a terminal the two ends of the bracket stand on both sides of a bar that fills as the gap
    closes, and all of it vanishes at the end. Elsewhere there is a line every few seconds; five
    show an hour in a log. `goal` is the relative gap at which the search stops.
    """

    def __init__(
        self, console: Console, title: str, goal: float, line_seconds: float = 5.0
    ) -> None:
        self.console, self.title, self.goal = console, title, goal
        self.line_seconds = line_seconds
        self.trace = Trace()
        self._began = self._told = time.perf_counter()
        self._live: Live | None = None

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self._live = Live(
                get_renderable=self.picture, console=self.console, transient=True,
                refresh_per_second=8,
            )  # fmt: skip
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def __call__(self, trace: Trace) -> None:
        """Remember a report, and print its line if one is due."""
        self.trace = trace
        now = time.perf_counter()
        if self._live is None and len(trace) and now - self._told >= self.line_seconds:
            self._told = now
            self.console.print(self.line(), highlight=False, markup=False, soft_wrap=True)

    def line(self) -> str:
        """The last report in one line."""
        low, high = self._ends()
        return f"{low} ≤ optimal value ≤ {high}, {self._progress(self.trace.seconds[-1])}"

    def picture(self) -> Group:
        """The title, the two ends with the bar between them, and the numbers."""
        seconds = time.perf_counter() - self._began
        title = Text(self.title, style="bold")
        hint = Text("Ctrl-C ends the search and keeps the bracket", style="dim")
        if not len(self.trace):
            waiting = Text(f"loading, local search and first bounds, {seconds:.1f} s")
            return Group(title, waiting, hint)
        low, high = self._ends()
        row = Table.grid(padding=(0, 1), expand=True)
        row.add_column(no_wrap=True, min_width=14, justify="right")
        row.add_column(ratio=1)
        row.add_column(no_wrap=True, min_width=14)
        share = share_closed(self.trace.residual, self.goal)
        row.add_row(low, ProgressBar(total=1.0, completed=share), high)
        return Group(title, row, Text(self._progress(seconds)), hint)

    def _ends(self) -> tuple[str, str]:
        low, high = sorted((self.trace.objective[-1], self.trace.bound[-1]))
        return f"{low:#.10g}", f"{high:#.10g}"

    def _progress(self, seconds: float) -> str:
        count, open_nodes = self.trace.iterations[-1], self.trace.open_nodes[-1]
        gap = abs(self.trace.objective[-1] - self.trace.bound[-1])
        work = f"{count} node{'s' * (count != 1)} ({open_nodes} open)"
        return (
            f"{gap_in_words(gap, self.trace.residual[-1], digits=1)} (goal {self.goal:g}), "
            f"{f'{count} iterations' if open_nodes is None else work}, {seconds:.1f} s"
        )


def share_closed(gaps: list[float], goal: float) -> float:
    """How far a gap has closed on a logarithmic scale: 0 at the first finite gap, 1 at the goal."""
    first = next((gap for gap in gaps if math.isfinite(gap)), math.inf)
    now = gaps[-1]
    if now <= goal:
        return 1.0
    if first <= now or math.isinf(first):
        return 0.0
    return math.log(first / now) / math.log(first / goal)


@with_data_options
def bound(
    options: DataOptions,
    formulation: Annotated[
        str, Argument(help="A quadratic program: 'SVMDual(C=10)', ConvexHullDual, GuoSchuurmansQP.")
    ],
    time_limit: Annotated[
        float, Option(help="Seconds allowed, with reading the data; inf for no limit.")
    ] = 60.0,
    gap: Annotated[float, Option(help="Relative gap at which the search stops.")] = 1e-4,
    method: Annotated[
        str, Option(help="Method: branch-and-bound, relaxation, clarabel, scs or cheap.")
    ] = "branch-and-bound",
    max_nodes: Annotated[int | None, Option(help="Maximum number of nodes.")] = None,
    seed: Annotated[int, Option(help="Seed of the local search.")] = 0,
    output: BestPoint = None,
    plot: Annotated[
        Path | None, Option(help="Draw the bracket over time to this .png, .svg or .pdf file.")
    ] = None,
    proof: Annotated[
        Path | None, Option(help="Write the proof to this .json file, for `check-proof`.")
    ] = None,
    cluster: Cluster = None,
    require_gap: Annotated[
        float | None, Option(help="Exit with code 1 unless the relative gap is at most this.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Bracket the global optimum with a proved bound.

    The other end of the bracket is the objective of the best point found. The exit code is 1 if it
    violates constraints or lies beyond the bound. Ctrl-C ends the search: the bracket so far, which
    is as valid as any, is still printed, and the exit code is 130.
    """
    began = time.perf_counter()
    check_writable(output=output, plot=plot, proof=proof)
    if plot is not None and plot.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise DataError("plot", "a file whose name ends in .png, .svg or .pdf", f"{plot}")
    checks.positive("require_gap", require_gap, optional=True)
    problem = options.problem()
    chosen = chosen_formulation(formulation)
    if time_limit > 0.0:
        left = time_limit - (time.perf_counter() - began)
        # Even if reading took longer, a share is left for the search: it gives a point and a bound.
        time_limit = max(left, 0.1 * time_limit)
    with Watch(stderr, f"{chosen} on {problem.name} (n = {problem.n})", gap) as watch:
        bracket = iopt.bound(
            problem, chosen, time_limit=time_limit, gap=gap, method=method, max_nodes=max_nodes,
            seed=seed, callback=watch, cluster=cluster,
        )  # fmt: skip
    facts = options.facts(problem)
    if as_json:
        print_json({**facts, "seed": seed, **bracket_fields(bracket)})
    else:
        say(bracket)
        say(f"  {facts_line(facts)}; seed {seed}")
    if output is not None:
        save_values(output, bracket.values)
    if plot is not None:
        with writing("plot", plot):
            bracket.plot().savefig(plot, dpi=200)
    if proof is not None:
        bracket.save(proof)
    if bracket.status is iopt.Status.INTERRUPTED:
        raise Exit(130)
    exit_without_proof(claim_of_bracket(bracket))
    if require_gap is not None and not bracket.relative_gap <= require_gap:
        raise Exit(1)


def claim_of_bracket(bracket: iopt.workflow.Bracket) -> iopt.Claim:
    """What is proved of the best point of a bracket."""
    if isinstance(bracket.proof, Certificate):
        return bracket.proof.claim
    return iopt.Claim.FEASIBLE if bracket.rigorous else iopt.Claim.NONE


def bracket_fields(bracket: iopt.workflow.Bracket) -> dict[str, Any]:
    """The bracket and its trace, as JSON has them."""
    trace = bracket.trace
    ends = [trace.objective, trace.bound]
    lower, upper = ends if bracket.maximised else ends[::-1]
    return {
        "problem": bracket.name,
        "n": bracket.n,
        "formulation": str(bracket.formulation),
        **fields(bracket, "lower upper objective bound relative_gap rigorous method bounds"),
        "status": str(bracket.status),
        "boxes": bracket.nodes,
        **fields(bracket, "iterations seconds"),
        "trace": {
            "seconds": trace.seconds,
            "boxes": trace.iterations,
            "open": trace.open_nodes,
            "lower": lower,
            "upper": upper,
            "relative_gap": trace.residual,
        },
    }


def check_proof(
    path: Annotated[Path, Argument(help="A proof, as `bound --proof` writes it.")],
    program: Annotated[
        Path | None, Argument(help="Another proof, which has to be about the same program.")
    ] = None,
) -> None:
    """Check a proof in exact arithmetic, without solvers.

    The exit code is 1 unless the proof holds.
    """
    documents = [read_document(file) for file in (path, program) if file is not None]
    try:
        digests = {proof_checker.digest(document) for document in documents}
    except (proof_checker.FailedProof, *proof_checker.MALFORMED) as error:
        raise DataError("path", "a proof", f"one without a program: {error}") from None
    if len(digests) > 1:
        print("FAILED: the proof is about another program")
        raise Exit(1)
    code = proof_checker.main(str(path))
    if code:
        raise Exit(code)
