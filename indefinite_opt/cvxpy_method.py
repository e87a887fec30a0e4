"""`problem.solve(method="indefinite_opt")` for problems of cvxpy, convex or not.

Importing this module registers the method. It takes quadratic programs of any curvature with affine
constraints, and piecewise linear atoms where they are convex.
"""

from __future__ import annotations

import warnings
from typing import Any

import cvxpy as cp
from cvxpy import settings
from cvxpy.problems.problem import SolverStats
from cvxpy.reductions.solution import Solution

from indefinite_opt.errors import (
    DoubtfulResult,
    InfeasibleProblem,
    ParameterError,
    SolverFailed,
    UnboundedProblem,
)
from indefinite_opt.foundation import clock
from indefinite_opt.quadratic import Claim, QuadraticProgram, Status
from indefinite_opt.workflow import Result, solve

NAME = "indefinite_opt"

OTHER_PROBLEMS = ("gp", "qcp", "requires_grad", "nlp")
"""Options of cvxpy that ask for problems of other kinds."""


def solve_problem(
    problem: cp.Problem,
    solver: str | None = None,
    warm_start: bool = False,
    verbose: bool = False,
    **options: Any,
) -> float:
    """Solve a cvxpy problem; call it as `problem.solve(method="indefinite_opt", ...)`.

    It sets the values of the variables, the dual values of the constraints (in cvxpy's signs),
    `problem.value` and `problem.status`. The status is "optimal" if the certificate claims GLOBAL,
    "infeasible" or "unbounded" if that is proved, "user_limit" if a limit was reached, and
    otherwise "optimal_inaccurate", which stands for a local optimum. `problem.solution.attr` has
    more: "claim" and "bound", the proved bound on the optimal value, "certificate" and "result", or
    "error" where there is no optimum.

    Parameters
    ----------
    problem : cvxpy.Problem
        A quadratic objective of any curvature with affine constraints, and piecewise linear atoms
        in both; see `QuadraticProgram.from_cvxpy`.
    solver, verbose, **options
        As in `indefinite_opt.solve`, such as `prove`, `tol`, `time_limit` and `seed`.
    warm_start : bool
        Whether to start at the present values of the variables, if all of them have one.

    Returns
    -------
    float
        The optimal value, or that of the best point.

    Raises
    ------
    ProblemError
        If the problem is not such a program; the message quotes the expression.
    ParameterError
        For an option that asks for another kind of problem, such as `gp=True`.
    cvxpy.error.SolverError
        If the solver ends without a point, or nothing is proved about its point.

    Warns
    -----
    DoubtfulResult
        If the certificate claims only that the point is FEASIBLE.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import indefinite_opt.cvxpy_method
    >>> x = cp.Variable(2)
    >>> problem = cp.Problem(cp.Minimize(x[0] * x[1] - x[0]), [x >= 0, cp.sum(x) <= 1])
    >>> problem.solve(method="indefinite_opt", prove=10)
    -1.0
    >>> problem.status, x.value, problem.solution.attr["claim"]
    ('optimal', array([1., 0.]), 'GLOBAL')
    """
    for name in OTHER_PROBLEMS:
        if options.pop(name, False):
            raise ParameterError(name, "False, as the problem is a quadratic program", "True")
    for name in ("enforce_dpp", "ignore_dpp", "canon_backend"):  # of cvxpy's own path to solvers
        options.pop(name, None)
    began = clock()
    try:
        program = QuadraticProgram.from_cvxpy(_with_variables(problem))
        start = None
        if warm_start and all(variable.value is not None for variable in problem.variables()):
            start = program.cvxpy_origin.point()
        seconds = clock() - began
        result = solve(program, None, solver, start=start, verbose=verbose, **options)
        solution = _solution(result, program)
    except (InfeasibleProblem, UnboundedProblem) as error:
        infeasible = isinstance(error, InfeasibleProblem)
        status = settings.INFEASIBLE if infeasible else settings.UNBOUNDED
        minimised = isinstance(problem.objective, cp.Minimize)
        value = float("inf") if infeasible == minimised else -float("inf")
        problem.unpack(Solution(status, value, {}, {}, {"error": error}))
        return value
    except SolverFailed as error:
        raise cp.error.SolverError(str(error)) from error
    problem.unpack(solution)
    problem._solver_stats = SolverStats(
        f"{NAME}, {result.solver}", result.seconds, seconds, result.iterations, None
    )
    return float(problem.value)


def _with_variables(problem: Any) -> Any:
    """The problem, with a variable that is 0 if it has none, as one of parameters only."""
    if not isinstance(problem, cp.Problem) or problem.variables():
        return problem
    return cp.Problem(problem.objective, [*problem.constraints, cp.Variable() == 0])


def _solution(result: Result, program: QuadraticProgram) -> Solution:
    """The solution as cvxpy keeps it; `SolverFailed` if nothing is proved."""
    certificate, origin = result.certificate, program.cvxpy_origin
    words = " ".join(certificate.reasons)
    if certificate.claim is Claim.NONE:
        raise SolverFailed(f"nothing is proved about the point of {result.solver}: {words}")
    if certificate.claim is Claim.FEASIBLE:
        words = f"only feasibility is proved about the point of {result.solver}: {words}"
        warnings.warn(words, DoubtfulResult, stacklevel=5)
    status = settings.OPTIMAL_INACCURATE
    if certificate.claim is Claim.GLOBAL:
        status = settings.OPTIMAL
    elif result.status in (Status.TIME_LIMIT, Status.MAX_ITER, Status.INTERRUPTED):
        status = settings.USER_LIMIT
    origin.assign(result.values["x"])
    return Solution(
        status,
        result.objective,
        {variable.id: variable.value for variable in origin.variables},
        origin.duals(certificate.multipliers),
        {
            "claim": certificate.claim.name, "bound": certificate.bound,
            "certificate": certificate, "result": result,
            settings.SOLVE_TIME: result.seconds, settings.NUM_ITERS: result.iterations,
        },
    )  # fmt: skip


cp.Problem.register_solve(NAME, solve_problem)
