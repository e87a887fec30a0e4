"""The command `qp`: any quadratic program, from a file or by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
from typer import Argument, Exit, Option

import indefinite_opt as iopt
from indefinite_opt.command_line.bound import Watch, bracket_fields, claim_of_bracket
from indefinite_opt.command_line.options import (
    BestPoint,
    Json,
    MaxBytes,
    Seed,
    check_writable,
    save_values,
)
from indefinite_opt.command_line.terminal import (
    certificate_fields,
    exit_without_proof,
    fields,
    print_json,
    say,
    stderr,
)
from indefinite_opt.errors import ParameterError
from indefinite_opt.foundation import MAX_BYTES, Array


def qp(
    file: Annotated[
        str,
        Argument(
            help="A .in (BoxQP), .lp, .mps, .npz or .qplib file, or the name of a generated "
            "program: boxqp-50-40-1, clique-paley-7."
        ),
    ],
    bound: Annotated[
        bool, Option("--bound", help="Bracket the global optimum with a proved bound.")
    ] = False,
    gap: Annotated[
        float | None,
        Option(help="Relative gap at which the bracket stops, by default 1e-4; implies --bound."),
    ] = None,
    solver: Annotated[
        str | None, Option(help="Solver to use, by default the one that suits the program.")
    ] = None,
    time_limit: Annotated[
        float, Option(help="Seconds allowed, with the certificate; inf for no limit.")
    ] = 60.0,
    seed: Seed = 0,
    max_bytes: MaxBytes = MAX_BYTES,
    output: BestPoint = None,
    proof: Annotated[
        Path | None,
        Option(help="Write the proof to this .json file, for `check-proof`; implies --bound."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Solve a quadratic program of any curvature, or bracket its global optimum.

    The exit code is 1 if nothing is proved of the solution. Ctrl-C ends the search: the best point
    and the bracket so far are still printed and written, and the exit code is 130.
    """
    check_writable(output=output, proof=proof)
    bracketed = bound or gap is not None or proof is not None
    if bracketed and solver is not None:
        raise ParameterError("solver", "none with --bound, which has its own method", solver)
    program = iopt.QuadraticProgram.read(file, max_bytes)
    if bracketed:
        goal = 1e-4 if gap is None else gap
        with Watch(stderr, _title(program), goal) as watch:
            bracket = iopt.bound(
                program, time_limit=time_limit, gap=goal, seed=seed, callback=watch
            )
        values, status, claim = bracket.values, bracket.status, claim_of_bracket(bracket)
        told = str(bracket)
        facts = bracket_fields(bracket)
    else:
        result = iopt.solve(program, solver=solver, time_limit=time_limit, seed=seed)
        values, status, claim = result.values, result.status, result.certificate.claim
        told = (
            f"{_title(program)}, by {result.solver} in {result.seconds:.3g} s: "
            f"{status.value}\n{result.certificate}"
        )
        facts = {
            "problem": program.name,
            "n": program.n,
            "rows": program.h.size + program.b.size,
            "status": str(status),
            **fields(result, "solver seconds iterations"),
            **certificate_fields(result.certificate),
        }
    if as_json:
        names = {"variables": program.names.variables} if program.names.variables else {}
        print_json(facts | names | {"values": values["x"].tolist()})
    else:
        say(f"{told}\n{_solution(program, values['x'])}")
    if output is not None:
        save_values(output, values)
    if proof is not None:
        bracket.save(proof)
    if status is iopt.Status.INTERRUPTED:
        raise Exit(130)
    exit_without_proof(claim)


def _solution(program: iopt.QuadraticProgram, x: Array) -> str:
    """The first entries of x that are not zero, by name, in one line."""
    used, shown = np.flatnonzero(x), 6
    listed = [f"{program.names.variable(j)} = {x[j]:.6g}" for j in used[:shown]]
    more = [f"{used.size - shown} more"] if used.size > shown else []
    zeros = [f"{x.size - used.size} at 0"] if x.size > used.size else []
    return "  " + ", ".join(listed + more + zeros)


def _title(program: iopt.QuadraticProgram) -> str:
    rows = program.h.size + program.b.size
    told = "" if rows == 0 else ", 1 row" if rows == 1 else f", {rows} rows"
    return f"{program.name} (n = {program.n}{told})"
