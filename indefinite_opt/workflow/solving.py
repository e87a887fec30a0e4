"""Choose a solver, check that it fits, solve, and hand over a result that can prove itself."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt import solvers as solver_files
from indefinite_opt.errors import IncompatibleSolver, ParameterError, SolverFailed
from indefinite_opt.formulations import as_formulation
from indefinite_opt.foundation.arrays import checked_values, real_array
from indefinite_opt.foundation.interruptible import TimeLimitReached, limited
from indefinite_opt.modeling.formulation import Formulation, check_problem, check_tolerance
from indefinite_opt.modeling.gaps import relative
from indefinite_opt.modeling.structures.box_line import BoxLine
from indefinite_opt.modeling.structures.proxy_kernel import ProxyBall, ProxyDual
from indefinite_opt.modeling.structures.quadratic_program import BoxLineQP, LinearProgram, Structure
from indefinite_opt.modeling.structures.structure import ExplicitProgram
from indefinite_opt.problem.kernel_problem import KernelProblem
from indefinite_opt.solvers.solution import Result, Solution, Status
from indefinite_opt.solvers.solver import Callback, Session, Solver, Task
from indefinite_opt.workflow.certificates.verification import certify

__all__ = [
    "as_formulation",
    "check_limits",
    "check_seed",
    "default_solver",
    "fitting_solvers",
    "is_whole",
    "solve",
    "solve_path",
]

Array = NDArray[np.float64]
Start = ArrayLike | Mapping[str, ArrayLike]

DEFAULT_SOLVERS: dict[type, str] = {
    BoxLineQP: "multistart",
    LinearProgram: "highs",
    ProxyDual: "newton",
    ProxyBall: "newton",
}
"""By structure; none needs to know the curvature of a kernel."""


def default_solver(structure_type: type) -> str:
    """Name of the solver for a structure, unless told otherwise."""
    if issubclass(structure_type, ExplicitProgram):
        return structure_type.default_solver
    return next(DEFAULT_SOLVERS[kind] for kind in structure_type.__mro__ if kind in DEFAULT_SOLVERS)


def solve(
    problem: KernelProblem,
    formulation: Formulation | str,
    solver: str | Solver | None = None,
    tol: float = 1e-6,
    time_limit: float | None = None,
    max_iter: int | None = None,
    start: Start | None = None,
    seed: int | None = None,
    callback: Callback | None = None,
) -> Result:
    """Solve a problem with a formulation.

    Parameters
    ----------
    problem : KernelProblem
    formulation : Formulation or str
        A formulation object, or its name with parameters: `"SVMDual(C=10)"`.
    solver : str or Solver, optional
        By default `multistart` for quadratic and `highs` for linear programs, `newton` for the
        duals with a proxy kernel; `solvers(formulation)` lists what fits. Names may have
        parameters: `"multistart(starts=50)"`.
    tol : float
        Relative accuracy asked of the solver, and tolerance of the certificate.
    time_limit : float, optional
        Seconds for the solver, and for the certificate when it is read.
    max_iter : int, optional
        Iterations of the solver; None for its own limit.
    start : array_like or mapping, optional
        Starting point of the local solvers, the first of several for some; moved to the nearest
        feasible point.
    seed : int, optional
        Of every random draw, nonnegative and below 2³²; 0 if not given.
    callback : callable, optional
        Called with the `Trace` at every report; a true answer stops the solver.

    Returns
    -------
    Result

    Raises
    ------
    IncompatibleSolver
        If the solver cannot take this problem; the message says what is missing.
    InfeasibleProblem, UnboundedProblem
        If the parameters leave nothing to solve.
    SolverFailed
        If the solver ends without any point.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, 0.0], [0.0, -1.0]], ["a", "b"])
    >>> result = solve(problem, iopt.SVMDual(C=2.0))
    >>> result.values["alpha"], result.objective, result.certificate.claim.name
    (array([2., 2.]), 4.0, 'GLOBAL')
    """
    return _solve(
        problem, as_formulation(formulation), solver, None,
        tol, time_limit, max_iter, start, seed, callback,
    )[0]  # fmt: skip


def solve_path(
    problem: KernelProblem,
    formulations: Iterable[Formulation | str],
    solver: str | Solver | None = None,
    tol: float = 1e-6,
    time_limit: float | None = None,
    max_iter: int | None = None,
    seed: int | None = None,
) -> list[Result]:
    """Solve formulations that differ in C, μ, β, ρ or r one after the other; reuse what they share.

    `highs` keeps its matrix and basis, `osqp` its factorised model, `newton` its second derivatives
    as long as they serve (vary C in the inner loop of a grid). The others start each problem
    at the solution before it; `smo`, the default for quadratic programs, first moves the weights
    at the bound along with it and the free weights as these demand. Parameters as in `solve`;
    `time_limit` is for each formulation.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, 0.0], [0.0, 1.0]], [1, -1])
    >>> path = solve_path(problem, [iopt.SVMDual(C=C) for C in (0.25, 0.5, 4.0)])
    >>> [result.objective for result in path]
    [0.4375, 0.75, 1.0]
    """
    results: list[Result] = []
    session: Session | None = None
    for item in formulations:
        formulation = as_formulation(item)
        if not results or type(results[-1].formulation) is not type(formulation):
            session = None
        local = solver is None and issubclass(formulation.structure_type, BoxLineQP)
        result, session = _solve(
            problem, formulation, "smo" if local else solver, session,
            tol, time_limit, max_iter, None, seed, None,
        )  # fmt: skip
        results.append(result)
    return results


def _solve(
    problem: KernelProblem,
    formulation: Formulation,
    solver: str | Solver | None,
    session: Session | None,
    tol: float,
    time_limit: float | None,
    max_iter: int | None,
    start: Start | None,
    seed: int | None,
    callback: Callback | None,
) -> tuple[Result, Session]:
    began = time.perf_counter()
    check_limits(tol, time_limit, max_iter)
    if seed is not None:
        check_seed(seed)
    check_problem(problem)
    limit = np.inf if time_limit is None else float(time_limit)
    try:
        structure = limited(problem.n, limit, formulation.structure, problem)
    except TimeLimitReached:
        raise _no_time(formulation, limit) from None
    task = Task(
        problem=problem,
        formulation=formulation,
        structure=structure,
        tol=tol,
        time_limit=limit,
        max_iter=max_iter,
        start=None if start is None else _feasible_start(structure, start),
        seed=0 if seed is None else int(seed),
        callback=callback,
        began=began,
    )
    chosen = solver_files.get(default_solver(type(structure)) if solver is None else solver)
    if session is None:
        session = chosen.session()
    try:
        limited(problem.n, task.remaining, _prepare, chosen, task)
    except TimeLimitReached:
        return _result(task, chosen, _unprepared(task)), session
    return _result(task, chosen, session.solve(task)), session


def _prepare(solver: Solver, task: Task) -> None:
    """All that takes O(n³) before the solver has a point."""
    refusal = solver.refusal(task)
    if refusal is not None:
        raise IncompatibleSolver(
            f"{solver.name} cannot solve {task.formulation} on this problem: {refusal}. "
            f"Solvers that can: {', '.join(_willing(task)) or 'none'}."
        )
    solver.prepare(task)


def _unprepared(task: Task) -> Solution:
    """The start, where there was no time for more; a quadratic program has one at once."""
    qp = task.structure
    if not isinstance(qp, BoxLineQP):
        raise _no_time(task.formulation, task.time_limit)
    return Solution(
        values=qp.values(qp.start() if task.start is None else task.start),
        status=Status.TIME_LIMIT,
        message="the time was over before the curvature of the program was known",
    )


def _no_time(formulation: Formulation, seconds: float) -> SolverFailed:
    return SolverFailed(
        f"no point of {formulation} is known: the {seconds:.3g} s of the time limit were over "
        "before the eigenvalues of the kernel matrix had been computed"
    )


def _willing(task: Task) -> list[str]:
    names = fitting_solvers(task.formulation)
    return [name for name in names if solver_files.get(name).refusal(task) is None]


def _result(task: Task, solver: Solver, solution: Solution) -> Result:
    objective, residual, multipliers, infeasibility = _measures(task, solution)
    status = solution.status
    if status is Status.SOLVED and not infeasibility <= task.tol:
        # Whatever the solver's own test says of a point that the certificate rejects.
        status = Status.INACCURATE
    problem, formulation, values = task.problem, task.formulation, solution.values
    boxed = isinstance(task.structure, BoxLine)
    recovered = None if boxed else multipliers
    return Result(
        formulation=formulation,
        values=values,
        multipliers=multipliers,
        objective=objective,
        status=status,
        solver=str(solver),
        seconds=task.elapsed,
        residual=residual,
        iterations=solution.iterations,
        trace=solution.trace,
        message=solution.message,
        optima=solution.optima,
        _classify=lambda: formulation.classifier(problem, values),
        _certify=lambda: certify(
            problem,
            formulation,
            values,
            recovered,
            task.tol,
            witness=solution.witness,
            time_limit=task.time_limit,
        ),
    )


def _measures(task: Task, solution: Solution) -> tuple[float, float, dict[str, Array], float]:
    """Objective, residual, multipliers and infeasibility, computed from the values themselves."""
    structure = task.structure
    if isinstance(structure, BoxLine):
        x, gradient = solution.values[structure.variable], solution.gradient
        if gradient is None:
            value, gradient = structure.value_gradient(x)
        else:
            value = structure.value(x, gradient)
        first_order = structure.first_order(x, gradient, task.tol)
        residual = first_order.residual / structure.gradient_unit(gradient)
        objective, multipliers = structure.declared(value), structure.multipliers(first_order)
        return objective, residual, multipliers, structure.infeasibility(x)
    if isinstance(structure, ExplicitProgram):
        values = solution.values
        multipliers = solution.multipliers or structure.multipliers(values)
        residual = structure.residual(values, multipliers)
        objective = structure.sense * structure.value(values)
        return objective, residual, multipliers, structure.infeasibility(values)
    x = structure.write(solution.values)
    value = float(structure.cost @ x)
    bound = -np.inf
    if solution.multipliers:
        bound = task.formulation.dual_bound(task.problem, solution.multipliers)
    gap = relative(abs(value - bound), structure.gap_unit(value, x))
    infeasibility = structure.infeasibility(x)
    return structure.sense * value, max(gap, infeasibility), solution.multipliers, infeasibility


def _feasible_start(structure: Structure, start: Start) -> Array:
    if not isinstance(structure, BoxLine):
        expected = "nothing: this formulation is solved without a start"
        raise ParameterError("start", expected, "a start")
    name, shape = structure.variable, (structure.n,)
    if isinstance(start, Mapping):
        return structure.project(checked_values("start", start, {name: shape})[name])
    expected = f"{structure.n} finite numbers"
    return structure.project(real_array("start", start, expected, shape))


def _is_number(value: object) -> bool:
    number = isinstance(value, int | float | np.integer | np.floating)
    return number and not isinstance(value, bool)


def check_limits(tol: float, time_limit: float | None, max_iter: int | None = None) -> None:
    """Raise `ParameterError` unless the tolerance and the limits of a solve are in range."""
    check_tolerance(tol)
    if time_limit is not None and not (_is_number(time_limit) and time_limit > 0):
        raise ParameterError("time_limit", "a positive number of seconds", repr(time_limit))
    if max_iter is not None and not (is_whole(max_iter) and max_iter > 0):
        raise ParameterError("max_iter", "a positive integer", repr(max_iter))


def check_seed(seed: int) -> None:
    """Raise `ParameterError` unless seed is one that every random generator takes."""
    if not (is_whole(seed) and 0 <= seed < 2**32):
        raise ParameterError("seed", "a nonnegative integer below 2³²", repr(seed))


def is_whole(value: object) -> bool:
    """Whether value is an integer, and no truth value."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def fitting_solvers(formulation: Formulation | type[Formulation] | str | None = None) -> list[str]:
    """Names of the solvers that take a formulation, or of all solvers.

    A solver that needs convexity is listed where the kernel decides it.
    """
    files = solver_files.known()
    if formulation is None:
        return sorted(files)
    wanted = as_formulation(formulation)
    return sorted(
        name
        for name, solver in files.items()
        if issubclass(wanted.structure_type, solver.accepts)
        and not (solver.needs_convex and wanted.convex is False)
    )
