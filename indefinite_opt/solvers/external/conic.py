"""Clarabel and SCS, conic solvers of convex programs, through cvxpy."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from indefinite_opt.errors import SolverFailed
from indefinite_opt.foundation import TimeLimitReached, afford, limited, power_near
from indefinite_opt.modeling.compiler import ConvexProgram
from indefinite_opt.modeling.linear_programs import LinearProgram
from indefinite_opt.modeling.programs import (
    LogisticProgram,
    ProxyDual,
    SeparabilityProgram,
)
from indefinite_opt.quadratic import (
    QP,
    CompiledProgram,
    Solution,
    Solver,
    Status,
    Task,
    answers,
    relative,
    status_of,
)
from indefinite_opt.solvers.external.cvxpy_backend import (
    missing_package,
    or_feasible,
    solve_by_cvxpy,
)

TOLERANCE_SHARE = 1e-2
"""Tolerance as a share of `tol`: the certificate is stricter."""

_MODELLING = 3.0
"""Operations that cvxpy and a conic solver take before a first iteration, as a multiple of n³."""


class _Conic(Solver[CompiledProgram[Any]]):
    time_limit: ClassVar[str]
    """The name of its option."""
    max_tolerance: ClassVar[float] = np.inf
    semidefinite_points: ClassVar[int]
    """Most points for which the model of a proxy kernel takes seconds."""

    accepts = (
        QP,
        LinearProgram,
        ProxyDual,
        LogisticProgram,
        SeparabilityProgram,
        ConvexProgram,
    )
    needs_convex = True

    @abstractmethod
    def options(self, tolerance: float, max_iter: int | None) -> dict[str, Any]:
        """The options of the solver, under its own names."""

    def unavailable(self) -> str | None:
        return missing_package(self.name)

    def refusal(self, task: Task[Any]) -> str | None:
        reason, n = super().refusal(task), task.problem.n
        if reason is None and task.program.has_inner_problem and n > self.semidefinite_points:
            return (
                f"its semidefinite model has {n * (n + 1) // 2} unknown entries of the proxy "
                f"kernel: it is a reference for at most {self.semidefinite_points} points"
            )
        return reason

    def solve(self, task: Task[Any]) -> Solution:
        return or_feasible(task, self.name.upper(), lambda: self._solution(task))

    def _solution(self, task: Task[Any]) -> Solution:
        """Solve once, and where the objective is tiny once more in its own unit."""
        tolerance = min(TOLERANCE_SHARE * task.tol, self.max_tolerance)
        solution = self._attempt(task, tolerance)
        unit = task.in_time(1.0, _objective_unit, task.program, solution)
        # These solvers take a gap for small beside max(1, |objective|).
        if solution.status is not Status.SOLVED or not 0.0 < task.tol * unit < tolerance:
            return solution
        try:
            again = self._attempt(task, tolerance, float(power_near(np.array(unit))))
        except SolverFailed:
            return replace(solution, status=Status.INACCURATE)
        except (KeyboardInterrupt, TimeLimitReached) as error:
            return replace(solution, status=status_of(error))
        return again if again.status is Status.SOLVED else replace(solution, status=again.status)

    def _attempt(self, task: Task[Any], tolerance: float, unit: float = 1.0) -> Solution:
        options = self.options(tolerance, task.max_iter)
        if np.isfinite(task.time_limit):
            options[self.time_limit] = task.remaining

        def attempt() -> Solution:
            # A model is made and factorised once, dense, before the solver looks at its clock.
            afford(_MODELLING * task.problem.n**3)
            return solve_by_cvxpy(task, self.name.upper(), options, unit)

        return limited(task.problem.n, task.time_limit - task.elapsed, attempt)


def solution_of_rows(task: Task[Any], name: str) -> Solution | None:
    """The solution of a program with rows, without cvxpy; None if it is not accurate enough."""
    qp = task.program
    if not qp.has_own_rows:
        return None
    found = task.in_time(None, lambda: qp.convex_solution)
    return _accurate(task, name, found) or sharp_solution_of_rows(task, name)


def sharp_solution_of_rows(task: Task[Any], name: str) -> Solution | None:
    """The same with a smaller tolerance, if the first one is not exact."""
    return _accurate(task, name, task.in_time(None, lambda: task.program.sharp_solution))


def _accurate(task: Task[Any], name: str, found: Any) -> Solution | None:
    """A solution, if it is one of this solver that is as accurate as the task asks."""
    qp = task.program
    if found is None or found.solver != name:
        return None
    x = found.x
    multipliers, point = answers.named_of_rows(qp, found.by_kind(qp.feasible), x), qp.at(x)
    optimality = answers.optimality(qp, point, multipliers, task.tol)
    balanced = 0.0 if found.exact else answers.balanced_residual(qp, point, optimality, task.tol)
    paid = relative(optimality.complementarity, task.unit(point))
    if (
        answers.inconsistencies(qp, optimality, task.tol)
        or max(optimality.stationarity, balanced, paid) > task.tol
    ):
        return None
    return Solution(
        values=qp.values(x), multipliers=multipliers, status=Status.SOLVED,
        iterations=found.iterations, message=f"{name}: {found.status}",
    )  # fmt: skip


def solution_of_cones(task: Task[Any]) -> Solution | None:
    """The solution of the graph form of a convex program; None if there is none."""
    program = task.program
    if not isinstance(program, ConvexProgram):
        return None
    values = task.in_time(None, program.solved_values)
    if values is None or program.solution is None:
        return None
    return Solution(
        values=values, multipliers={}, status=Status.SOLVED,
        iterations=program.solution.iterations, message="clarabel: the graph form",
    )  # fmt: skip


def _objective_unit(program: CompiledProgram[Any], solution: Solution) -> float:
    """The divisor of gaps at a solution of a linear or general quadratic program.

    1 for the other formulations, which are not solved again: a second solution may be less accurate
    where the objective cancels, and takes long for semidefinite programs.
    """
    if not program.is_linear and not program.has_own_rows:
        return 1.0
    point = program.at(program.from_values(solution.values))
    return float(answers.gap_unit(program, point.value))


class Clarabel(_Conic):
    """Interior point (Goulart & Chen); accurate, O(n³) per iteration.

    A program with rows is passed as sparse arrays. The equations of the face that the points come
    to are then solved, so that its constraints hold up to rounding. A program with cones is passed
    in its graph form.
    """

    name = "clarabel"
    time_limit = "time_limit"
    max_tolerance = 1e-8
    semidefinite_points = 50

    def options(self, tolerance: float, max_iter: int | None) -> dict[str, Any]:
        tolerances = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tolerance)
        return {**tolerances, "max_iter": max_iter or 200}

    def _solution(self, task: Task[Any]) -> Solution:
        found = None
        if task.max_iter is None:
            found = solution_of_rows(task, self.name) or solution_of_cones(task)
        if found is None and task.late:
            raise TimeLimitReached
        return super()._solution(task) if found is None else found


class SCS(_Conic):
    """Operator splitting (O'Donoghue et al.); cheap iterations, slow to high accuracy."""

    name = "scs"
    time_limit = "time_limit_secs"
    semidefinite_points = 100

    def options(self, tolerance: float, max_iter: int | None) -> dict[str, Any]:
        return {"eps_abs": tolerance, "eps_rel": tolerance, "max_iters": max_iter or 200_000}
