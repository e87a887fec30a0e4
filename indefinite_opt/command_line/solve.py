"""The commands `solve` and `verify`: a point, found here or elsewhere, and what it proves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

import indefinite_opt as iopt
from indefinite_opt.command_line.options import (
    DataOptions,
    FormulationTitle,
    Json,
    TimeLimit,
    Tolerance,
    read_values,
    save_values,
    with_data_options,
)
from indefinite_opt.command_line.terminal import certificate_fields, print_json, say, warm_up_for
from indefinite_opt.formulations import as_formulation
from indefinite_opt.foundation import checks

__all__ = ["solve", "verify"]


@with_data_options
def solve(
    options: DataOptions,
    formulation: FormulationTitle,
    solver: Annotated[
        str | None, Option(help="Solver to use, by default the one that suits the formulation.")
    ] = None,
    tol: Tolerance = 1e-6,
    time_limit: TimeLimit = None,
    max_iter: Annotated[
        int | None, Option(help="Maximum number of iterations of the solver.")
    ] = None,
    seed: Annotated[int, Option(help="Seed of the random starts.")] = 0,
    output: Annotated[
        Path | None, Option(help="Write the values of the variables to this .npz file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Solve a formulation and print what the solution proves.

    Ctrl-C ends the search: the best point so far is still printed and written, and the exit code
    is 130.
    """
    problem = options.problem()
    chosen = as_formulation(formulation)
    warm_up_for(solver or chosen.structure_type.default_solver)
    result = iopt.solve(
        problem, chosen, solver=solver, tol=tol, time_limit=time_limit, max_iter=max_iter,
        seed=seed,
    )  # fmt: skip
    if output is not None:
        save_values(output, result.values)
    if as_json:
        print_json(
            {
                "problem": problem.name,
                "n": problem.n,
                "formulation": str(result.formulation),
                "solver": result.solver,
                "status": str(result.status),
                "seconds": result.seconds,
                "iterations": result.iterations,
                "support": int(result.classifier.support.size),
                "offset": result.classifier.offset,
                **certificate_fields(result.certificate),
            }
        )
    else:
        say(
            f"{problem.name} (n = {problem.n}), {result.formulation}, by {result.solver} in "
            f"{result.seconds:.3g} s: {result.status.value}"
        )
        say(result.certificate)
    if result.status is iopt.Status.INTERRUPTED:
        raise Exit(130)


@with_data_options
def verify(
    options: DataOptions,
    formulation: FormulationTitle,
    values: Annotated[
        Path, Argument(help="A .npz or .json file with the values of the variables, by name.")
    ],
    tol: Tolerance = 1e-6,
    bound: Annotated[
        bool, Option("--bound", help="Also bracket the optimum of a nonconvex quadratic program.")
    ] = False,
    time_limit: Annotated[float, Option(help="Seconds allowed for that bracket.")] = 60.0,
    require: Annotated[
        str | None,
        Option(help="Exit with code 1 unless the claim is at least this one, such as LOCAL."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a solution from any source and print what it proves."""
    wanted = iopt.Claim.NONE
    if require is not None:
        checks.choice("require", require.upper(), iopt.Claim.__members__)
        wanted = iopt.Claim[require.upper()]
    problem = options.problem()
    chosen = as_formulation(formulation)
    point = read_values(values, options.max_bytes)
    certificate = iopt.verify(problem, chosen, point, tol=tol, bound=bound, time_limit=time_limit)
    if as_json:
        print_json(certificate_fields(certificate))
    else:
        say(certificate)
    if certificate.claim < wanted:
        raise Exit(1)
