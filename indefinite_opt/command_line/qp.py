"""The command `qp`: any quadratic program, from a file or by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

import indefinite_opt as iopt
from indefinite_opt.command_line.bound import bracket_fields
from indefinite_opt.command_line.live_bracket import Watch
from indefinite_opt.command_line.options import Json, check_writable, save_values
from indefinite_opt.command_line.terminal import (
    certificate_fields,
    print_json,
    say,
    stderr,
    warm_up_for,
)

__all__ = ["qp"]


def qp(
    file: Annotated[
        str,
        Argument(
            help="A .in (BoxQP), .lp, .mps, .npz or .qplib file, or the name of a generated "
            "program: boxqp-50-40-1."
        ),
    ],
    bound: Annotated[
        bool, Option("--bound", help="Bracket the global optimum with a proved bound.")
    ] = False,
    gap: Annotated[float, Option(help="Relative gap at which the bracket stops.")] = 1e-6,
    solver: Annotated[
        str | None, Option(help="Solver to use, by default the one that suits the program.")
    ] = None,
    time_limit: Annotated[float, Option(help="Seconds allowed, inf for no limit.")] = 60.0,
    seed: Annotated[int, Option(help="Seed of the random starts.")] = 0,
    output: Annotated[Path | None, Option(help="Write the best point to this .npz file.")] = None,
    proof: Annotated[
        Path | None, Option(help="Write the proof of a bracket to this .json file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Solve a quadratic program of any curvature, or bracket its global optimum.

    Ctrl-C ends the search: the best point and the bracket so far are still printed and written,
    and the exit code is 130.
    """
    for option, path in (("output", output), ("proof", proof)):
        check_writable(option, path)
    program = iopt.QuadraticProgram.read(file)
    if bound or proof is not None:
        with Watch(stderr, f"{program.name} (n = {program.n})", gap) as watch:
            warm_up_for("global")
            bracket = iopt.bound(program, time_limit=time_limit, gap=gap, seed=seed, callback=watch)
        values, status = bracket.values, bracket.status
        if as_json:
            print_json(bracket_fields(bracket) | {"values": values["x"].tolist()})
        else:
            say(bracket)
        if proof is not None:
            bracket.save(proof)
    else:
        warm_up_for(solver or program.structure().default_solver)
        result = iopt.solve(program, solver=solver, time_limit=time_limit, seed=seed)
        values, status = result.values, result.status
        if as_json:
            print_json(
                {
                    "problem": program.name,
                    "n": program.n,
                    "rows": program.h.size + program.b.size,
                    "solver": result.solver,
                    "status": str(result.status),
                    "seconds": result.seconds,
                    "iterations": result.iterations,
                    **certificate_fields(result.certificate),
                    "values": values["x"].tolist(),
                }
            )
        else:
            say(
                f"{program.name}, {program}, by {result.solver} in {result.seconds:.3g} s: "
                f"{result.status.value}"
            )
            say(result.certificate)
    if output is not None:
        save_values(output, values)
    if status is iopt.Status.INTERRUPTED:
        raise Exit(130)
