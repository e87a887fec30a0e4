"""Clarabel and SCS, conic solvers of convex programs, through cvxpy."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from indefinite_opt.errors import SolverFailed
from indefinite_opt.foundation import TimeLimitReached, power_near
from indefinite_opt.modeling.compiler import ConvexProgram
from indefinite_opt.modeling.linear_programs import LinearProgram
from indefinite_opt.modeling.structures import (
    LogisticProgram,
    ProxyBall,
    ProxyDual,
    SeparabilityProgram,
)
from indefinite_opt.quadratic import (
    QP,
    PolyhedralQP,
    Solution,
    Solver,
    Status,
    Structure,
    Task,
    relative,
)
from indefinite_opt.solvers.external.cvxpy_backend import (
    abandoned,
    missing_package,
    semidefinite_refusal,
    solve_convex,
)


@dataclass(frozen=True)
class _Options:
    """The names of a solver's options, and their defaults."""

    tolerances: tuple[str, ...]
    max_tolerance: float
    iterations: str
    max_iter: int
    time_limit: str
    semidefinite_points: int  # most points for which the model of a proxy kernel takes seconds
    tolerance_share: float = 1e-2  # tolerance as a share of `tol`: the certificate is stricter


class _Conic(Solver[Structure[Any]]):
    accepts = (
        QP,
        LinearProgram,
        ProxyDual,
        ProxyBall,
        LogisticProgram,
        SeparabilityProgram,
        ConvexProgram,
    )
    needs_convex = True

    @property
    @abstractmethod
    def options(self) -> _Options:
        """How to tell the solver what is asked of it."""

    def unavailable(self) -> str | None:
        return missing_package(self.name)

    def refusal(self, task: Task[Any]) -> str | None:
        most = self.options.semidefinite_points
        return super().refusal(task) or semidefinite_refusal(task, most)

    def solve(self, task: Task[Any]) -> Solution:
        names = self.options
        tolerance = min(names.tolerance_share * task.tol, names.max_tolerance)
        options: dict[str, Any] = dict.fromkeys(names.tolerances, tolerance)
        options[names.iterations] = task.max_iter or names.max_iter
        if np.isfinite(task.time_limit):
            options[names.time_limit] = task.remaining
        solution = solve_convex(task, self.name.upper(), options)
        unit = task.in_time(1.0, _objective_unit, task.structure, solution)
        # These solvers take a gap for small beside max(1, |objective|).
        if solution.status is not Status.SOLVED or not 0.0 < task.tol * unit < tolerance:
            return solution
        if np.isfinite(task.time_limit):
            options[names.time_limit] = task.remaining
        unit = float(power_near(np.array(unit)))
        try:
            again = solve_convex(task, self.name.upper(), options, unit)
        except SolverFailed:
            return replace(solution, status=Status.INACCURATE)
        return again if again.status is Status.SOLVED else replace(solution, status=again.status)


def solution_of_rows(task: Task[Any], name: str) -> Solution | None:
    """The solution of a program with rows, without cvxpy; None if it is not accurate enough."""
    qp = task.structure
    if not isinstance(qp, PolyhedralQP):
        return None
    x = task.in_time(None, lambda: qp.convex_point)
    found = None if x is None else qp.convex_solution
    if x is None or found is None or found.solver != name:
        return None
    multipliers, point = qp.named_multipliers(found.by_kind(qp)), qp.at(x)
    optimality = qp.optimality(point, multipliers, task.tol)
    balanced = 0.0 if found.exact else qp.balanced_residual(point, optimality)
    paid = relative(optimality.complementarity, qp.gap_unit(point.value, point.x))
    if (
        qp.inconsistencies(optimality, task.tol)
        or max(optimality.stationarity, balanced, paid) > task.tol
    ):
        return None
    return Solution(
        values=qp.values(x), multipliers=multipliers, status=Status.SOLVED,
        iterations=found.iterations, message=f"{name}: {found.status}",
    )  # fmt: skip


def _objective_unit(structure: Structure[Any], solution: Solution) -> float:
    """The divisor of gaps at a solution of a linear or general quadratic program.

    1 for the other formulations, which are not solved again: a second solution may be less accurate
    where the objective cancels, and takes long for semidefinite programs.
    """
    if not structure.is_linear and not structure.has_own_rows:
        return 1.0
    point = structure.at(structure.from_values(solution.values))
    return float(structure.gap_unit(point.value, point.x))


class Clarabel(_Conic):
    """Interior point (Goulart & Chen); accurate, O(n³) per iteration.

    A program with rows is passed as sparse arrays. The equations of the face that the points come
    to are then solved, so that its constraints hold up to rounding.
    """

    def solve(self, task: Task[Any]) -> Solution:
        found = None if task.max_iter is not None else solution_of_rows(task, self.name)
        if isinstance(task.structure, PolyhedralQP) and task.structure.is_late:
            return abandoned(task, self.name, TimeLimitReached())
        return super().solve(task) if found is None else found

    name = "clarabel"
    options = _Options(
        tolerances=("tol_gap_abs", "tol_gap_rel", "tol_feas"),
        max_tolerance=1e-8,
        iterations="max_iter",
        max_iter=200,
        time_limit="time_limit",
        semidefinite_points=50,
    )


class SCS(_Conic):
    """Operator splitting (O'Donoghue et al.); cheap iterations, slow to high accuracy."""

    name = "scs"
    options = _Options(
        tolerances=("eps_abs", "eps_rel"),
        max_tolerance=np.inf,
        iterations="max_iters",
        max_iter=200_000,
        time_limit="time_limit_secs",
        semidefinite_points=100,
    )
