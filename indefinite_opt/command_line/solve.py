"""The commands `diagnose`, `solve` and `verify`: a kernel, and what a point of a problem proves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
from typer import Argument, Exit, Option

import indefinite_opt as iopt
from indefinite_opt.command_line.options import (
    DataOptions,
    FormulationTitle,
    Json,
    Seed,
    TimeLimit,
    Tolerance,
    check_writable,
    chosen_formulation,
    facts_line,
    read_values,
    save_values,
    with_data_options,
)
from indefinite_opt.command_line.terminal import (
    certificate_fields,
    exit_without_proof,
    fields,
    print_json,
    say,
    with_options,
)
from indefinite_opt.foundation import checks


@with_data_options
def diagnose(options: DataOptions, as_json: Json = False) -> None:
    """Tell how indefinite a kernel is, and whether it suits its labels.

    The criteria are those of Haasdonk (2005, sections 7.3 and 7.4) that need no training.
    """
    problem = options.problem()
    found = iopt.theory.diagnose(problem)
    positive, negative = problem.class_sizes
    spectra = {"K": problem.spectrum, "PKP": problem.centered_spectrum}
    facts = {**options.facts(problem), "negative_share": found.negative_share}
    if as_json:
        print_json(
            {
                **facts,
                "class_sizes": {"positive": positive, "negative": negative},
                "signature": list(problem.signature),
                "class_mean_distance": found.class_mean_distance,
                "convex": problem.is_conditionally_psd,
                "spectra": {
                    name: {
                        **spectrum.inertia._asdict(),
                        "smallest": spectrum.minimum,
                        "largest": spectrum.maximum,
                        "negative_share": spectrum.negative_share,
                    }
                    for name, spectrum in spectra.items()
                },
                "sentences": found.sentences,
            }
        )
        return
    say(f"{problem.name} (n = {problem.n}: {positive} of class +1, {negative} of class -1)")
    say(f"  {facts_line(facts)}")
    for name, spectrum in spectra.items():
        say(f"  eigenvalues of {name:<4} from {spectrum.minimum:.4g} to {spectrum.maximum:.4g}")
    for sentence in found.sentences:
        say(sentence)
    if problem.is_conditionally_psd:
        say("The SVM dual with a bias is convex: every stationary point is a global optimum.")
    else:
        say("The SVM dual with a bias is not convex: `bound` tells how good a point is.")


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
    seed: Seed = 0,
    output: Annotated[
        Path | None, Option(help="Write the values of the variables to this .npz or .csv file.")
    ] = None,
    save: Annotated[
        Path | None, Option(help="Write the trained model to this .npz file, for `predict`.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Solve a formulation and print what the solution proves.

    The exit code is 1 if that is nothing, so that the claim is NONE. Ctrl-C ends the search: the
    best point so far is still printed and written, and the exit code is 130.
    """
    check_writable(output=output, save=save)
    problem = options.problem()
    chosen = chosen_formulation(formulation)
    result = iopt.solve(
        problem, chosen, solver=solver, tol=tol, time_limit=time_limit, max_iter=max_iter,
        seed=seed,
    )  # fmt: skip
    if output is not None:
        save_values(output, result.values)
    if save is not None:
        result.save(save)
    facts = options.facts(problem)
    support, error = int(result.classifier.support.size), result.training_error
    if as_json:
        print_json(
            {
                **facts,
                "seed": seed,
                "formulation": str(result.formulation),
                "status": str(result.status),
                **fields(result, "solver seconds iterations training_error"),
                "support": support,
                "remarks": list(map(with_options, result.remarks)),
                "optima": [[one.objective, one.count] for one in result.optima],
                "offset": result.classifier.offset,
                **certificate_fields(result.certificate),
            }
        )
    else:
        say(
            f"{problem.name} (n = {problem.n}), {result.formulation}, by {result.solver} in "
            f"{result.seconds:.3g} s: {result.status.value}"
        )
        say(f"  {facts_line(facts)}; seed {seed}")
        wrong = "" if error is None else f"; {100 * error:.3g} % of them misclassified"
        say(f"  {support} support vectors of {problem.n} points{wrong}")
        if len(result.optima) > 1:
            ends = [f"{one.objective:.6g} ({one.count})" for one in result.optima]
            shown = 5  # the best ones, which a line of a terminal holds
            more = f" and {len(ends) - shown} others" if len(ends) > shown else ""
            say(f"  ends of descents (how many): {', '.join(ends[:shown])}{more}")
        say(result.certificate)
        for remark in result.remarks[len(facts["remarks"]) :]:
            say(with_options(remark), style="yellow")
        open_gap = not np.isfinite(result.certificate.bound) and not problem.gram.on_demand
        # These may be nonconvex quadratic programs, which `bound` takes.
        if open_gap and isinstance(
            chosen, (iopt.SVMDual, iopt.ConvexHullDual, iopt.GuoSchuurmansQP)
        ):
            say("  The command `bound` brackets the global optimum.")
    if result.status is iopt.Status.INTERRUPTED:
        raise Exit(130)
    exit_without_proof(result.certificate.claim)


@with_data_options
def verify(
    options: DataOptions,
    formulation: FormulationTitle,
    values: Annotated[
        Path,
        Argument(
            help="A .npz, .json or .csv file with the values of the variables, by name, or "
            "with one number a line."
        ),
    ],
    tol: Tolerance = 1e-6,
    bound: Annotated[
        bool, Option("--bound", help="Also bracket the optimum of a nonconvex quadratic program.")
    ] = False,
    time_limit: Annotated[
        float, Option(help="Seconds allowed for the check, with that bracket.")
    ] = 60.0,
    require: Annotated[
        str, Option(help="Exit with code 1 unless the claim is at least this one, such as LOCAL.")
    ] = "FEASIBLE",
    as_json: Json = False,
) -> None:
    """Check a solution from any source and print what it proves."""
    checks.choice("require", require.upper(), iopt.Claim.__members__)
    wanted = iopt.Claim[require.upper()]
    problem = options.problem()
    chosen = chosen_formulation(formulation)
    point = read_values(values, options.max_bytes)
    certificate = iopt.verify(problem, chosen, point, tol=tol, bound=bound, time_limit=time_limit)
    facts = options.facts(problem)
    if as_json:
        print_json({**facts, "formulation": str(chosen), **certificate_fields(certificate)})
    else:
        say(certificate)
        say(f"  {problem.name} (n = {problem.n}), {chosen}; {facts_line(facts)}")
    if certificate.claim < wanted:
        raise Exit(1)
