"""Regularisation paths: formulations that differ in a parameter, solved in sequence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from indefinite_opt.modeling import Formulation
from indefinite_opt.problem import KernelProblem
from indefinite_opt.solvers import Session, Solver
from indefinite_opt.workflow.posing import posed
from indefinite_opt.workflow.result import Result
from indefinite_opt.workflow.solving import Options, solve_with


def solve_path(
    problem: KernelProblem,
    formulations: Iterable[Formulation | str],
    solver: str | Solver[Any] | None = None,
    tol: float = 1e-6,
    time_limit: float | None = None,
    max_iter: int | None = None,
    seed: int | None = None,
    verbose: bool = False,
) -> list[Result]:
    """Solve formulations that differ in C, μ, β, ρ or r in sequence, and reuse what they share.

    `highs` keeps its matrix and basis, `osqp` its factorised model, and `newton` its second
    derivatives as long as they are useful (vary C in the inner loop of a grid). The others start
    from the solution before. `smo` first moves the weights at the bound along with the bound, and
    the free weights accordingly; it is the solver for long paths of quadratic programs if a local
    optimum is enough. Parameters and default solvers are those of `solve`, and `time_limit` holds
    for each formulation separately.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, 0.0], [0.0, 1.0]], [1, -1])
    >>> path = solve_path(problem, [iopt.SVMDual(C=C) for C in (0.25, 0.5, 4.0)])
    >>> [result.objective for result in path]
    [0.4375, 0.75, 1.0]
    """
    options = Options(tol, time_limit, max_iter, None, seed, None, verbose)
    results: list[Result] = []
    session: Session[Any] | None = None
    for item in formulations:
        _, formulation = posed(problem, item)
        if not results or type(results[-1].formulation) is not type(formulation):
            session = None
        result, session = solve_with(problem, formulation, solver, session, options)
        results.append(result)
    return results
