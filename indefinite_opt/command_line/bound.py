"""The commands `bound` and `check-proof`: a bracket of the global optimum, and its proof."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Exit, Option

import indefinite_opt as iopt
from indefinite_opt.command_line.live_bracket import Watch
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
from indefinite_opt.command_line.terminal import print_json, say, stderr
from indefinite_opt.errors import DataError
from indefinite_opt.foundation import checks, writing
from indefinite_opt.workflow.certificates import proof_checker, read_document


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

    The other end of the bracket is the objective of the best point found. Ctrl-C ends the search:
    the bracket so far, which is as valid as any, is still printed, and the exit code is 130.
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
    if require_gap is not None and not bracket.relative_gap <= require_gap:
        raise Exit(1)


def bracket_fields(bracket: iopt.workflow.Bracket) -> dict[str, Any]:
    """The bracket and its trace, as JSON has them."""
    trace = bracket.trace
    ends = [trace.objective, trace.bound]
    lower, upper = ends if bracket.maximised else ends[::-1]
    return {
        "problem": bracket.name,
        "n": bracket.n,
        "formulation": str(bracket.formulation),
        "lower": bracket.lower,
        "upper": bracket.upper,
        "objective": bracket.objective,
        "bound": bracket.bound,
        "relative_gap": bracket.relative_gap,
        "rigorous": bracket.rigorous,
        "method": bracket.method,
        "bounds": bracket.bounds,
        "status": str(bracket.status),
        "boxes": bracket.nodes,
        "iterations": bracket.iterations,
        "seconds": bracket.seconds,
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
