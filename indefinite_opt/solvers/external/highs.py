"""HiGHS for linear programs and for quadratic programs that are known to be convex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from indefinite_opt.errors import SolverFailed
from indefinite_opt.foundation import TimeLimitReached
from indefinite_opt.modeling.linear_programs import LinearProgram
from indefinite_opt.quadratic import (
    QP,
    Session,
    Solution,
    Solver,
    Status,
    Task,
    change_costs,
    highs_model,
    simplex_limit,
    status_of,
)
from indefinite_opt.solvers.external.conic import solution_of_rows
from indefinite_opt.solvers.external.cvxpy_backend import abandoned
from indefinite_opt.solvers.linear.bracket import LinearBracket
from indefinite_opt.solvers.linear.simplex import LEAST_TOLERANCE, run_highs

MAX_INTERIOR_ITERATIONS = 200
"""Most iterations of the interior-point method; 20 to 60 are usual."""

MIN_QUADRATIC_ITERATIONS = 10_000
QUADRATIC_ITERATIONS_PER_VARIABLE = 100
"""Most iterations on a quadratic program: this many, plus these for each variable."""

MIN_TOLERANCE = LEAST_TOLERANCE
MAX_TOLERANCE = 1e-7
TOLERANCE_SHARE = 0.1
"""Feasibility tolerances as a share of `tol`, not above the default of HiGHS and not below the
smallest that it accepts."""

REGULARIZATION = 1e-12
"""Added to the diagonal of a Hessian; its default of 1e-7 would show at our tolerances."""

_Program = LinearProgram | QP


@dataclass(frozen=True)
class Highs(Solver[_Program]):
    """Simplex and interior point (Huangfu & Hall), called without a modelling layer.

    HiGHS examines only the diagonal of a Hessian, so quadratic programs pass our own curvature
    test first.
    """

    name = "highs"
    accepts = (LinearProgram, QP)
    needs_convex = True

    def solve(self, task: Task[_Program]) -> Solution:
        return self.session().solve(task)

    def session(self) -> Session[_Program]:
        return HighsSession(self)


class HighsSession(Session[_Program]):
    """Keeps a linear program between tasks with the same matrix; costs and bounds are changed."""

    def __init__(self, solver: Highs) -> None:
        super().__init__(solver)
        self._highs: Any = None
        self._program: LinearProgram | None = None

    def solve(self, task: Task[_Program]) -> Solution:
        if task.structure.is_linear:
            return self._linear(task)
        found = None if task.max_iter is not None else solution_of_rows(task, self.solver.name)
        return self._quadratic(task) if found is None else found

    def _linear(self, task: Task[Any]) -> Solution:
        program: LinearProgram = task.structure
        rescaled = program.rescaled()
        unit, largest = rescaled.cost_units
        if self._program is not None and program.shares_matrix(self._program):
            _change_ends(self._highs, rescaled)
        else:
            self._highs = highs_model(rescaled.standard_form())
        self._program = program
        bracket, words, done = LinearBracket(task, program), "", 0
        # Multipliers of zero rows until there are better ones, so that a certificate finds some.
        bracket.offer_bound(
            program.read_multipliers(np.zeros(program.row_lower.size), program.cost.copy())
        )
        limit = simplex_limit(program.cost.size + program.row_lower.size)
        least = MIN_TOLERANCE
        usual = max(min(MAX_TOLERANCE, TOLERANCE_SHARE * task.tol), least)
        attempts = [
            ("choose", limit, unit, usual), ("choose", limit, largest, least),
            ("ipm", MAX_INTERIOR_ITERATIONS, unit, usual),
        ]  # fmt: skip
        if task.max_iter is not None:
            attempts = [("choose", task.max_iter, *attempts[0][2:])]
        for method, iterations, unit, tolerance in attempts:
            if words:
                self._highs.clearSolver()
            change_costs(self._highs, program.sense * rescaled.cost / unit)
            # Presolve finds nothing to remove in a kernel matrix and takes longer than the simplex.
            # Crossover would end in the simplex method again, and our bound needs no vertex.
            options = {
                "presolve": "off", "primal_feasibility_tolerance": tolerance,
                "dual_feasibility_tolerance": tolerance,
                "solver": method, "run_crossover": "on" if method == "choose" else "off",
            }  # fmt: skip
            try:
                status = _run(self._highs, task, iterations, options)
            except (KeyboardInterrupt, TimeLimitReached) as error:
                self._highs = self._program = None  # half changed
                return bracket.solution(status_of(error), done, f"HiGHS: {words}")
            done += _iterations(self._highs)
            words = self._highs.modelStatusToString(self._highs.getModelStatus())
            self._offer(bracket, rescaled, unit)
            if bracket.is_closed or status is Status.TIME_LIMIT:
                break
        if bracket.is_closed or status is Status.SOLVED:
            status = Status.SOLVED if bracket.is_closed else Status.INACCURATE
        return bracket.solution(status, done, f"HiGHS: {words}")

    def _offer(self, bracket: LinearBracket, rescaled: LinearProgram, unit: float) -> None:
        """The point and the multipliers of the last run, with costs in multiples of a unit."""
        answer = self._highs.getSolution()
        point = np.array(answer.col_value)
        if answer.value_valid and point.size and np.all(np.isfinite(point)):
            bracket.offer(rescaled.read(point))
        if answer.dual_valid:
            # A maximised model reports the duals of the maximisation.
            unit *= rescaled.sense
            rows, reduced = unit * np.array(answer.row_dual), unit * np.array(answer.col_dual)
            bracket.offer_bound(rescaled.read_multipliers(rows, reduced))

    def _quadratic(self, task: Task[Any]) -> Solution:
        qp: QP = task.structure
        highs = highs_model(qp.standard_form(convexified=True))
        limit = task.max_iter
        options = {"qp_regularization_value": REGULARIZATION, "presolve": "off"}
        if limit is None:
            limit = QUADRATIC_ITERATIONS_PER_VARIABLE * qp.n
            limit += MIN_QUADRATIC_ITERATIONS
        try:
            status = _run(highs, task, limit, options)
        except (KeyboardInterrupt, TimeLimitReached) as error:
            return abandoned(task, "HiGHS", error)
        words = highs.modelStatusToString(highs.getModelStatus())
        answer = highs.getSolution()
        if not answer.value_valid or not len(answer.col_value):
            raise SolverFailed(f"HiGHS returned no point for {task.formulation}: {words}")
        x = task.in_time(None, qp.project, np.array(answer.col_value))
        if x is None:
            return abandoned(task, "HiGHS")
        if status is Status.SOLVED and not qp.has_own_rows:
            # With a singular Hessian it may stop far from its own tolerance.
            stationarity = qp.optimality(qp.at(x), None, task.tol).stationarity
            status = status if stationarity <= task.tol else Status.INACCURATE
        return Solution(
            qp.values(x), status, iterations=_iterations(highs), message=f"HiGHS: {words}"
        )


def _change_ends(highs: Any, program: LinearProgram) -> None:
    columns = np.arange(program.cost.size, dtype=np.int32)
    rows = np.arange(program.row_lower.size, dtype=np.int32)
    highs.changeColsBounds(columns.size, columns, program.lower, program.upper)
    highs.changeRowsBounds(rows.size, rows, program.row_lower, program.row_upper)


def _run(highs: Any, task: Task[_Program], iterations: int, options: dict[str, Any]) -> Status:
    """Set some options and run HiGHS within the limits; see `run_highs`."""
    for option, value in options.items():
        highs.setOptionValue(option, value)
    return run_highs(highs, task.remaining, iterations)


def _iterations(highs: Any) -> int:
    info = highs.getInfo()
    counts = (info.simplex_iteration_count, info.ipm_iteration_count, info.qp_iteration_count)
    return sum(max(int(count), 0) for count in counts)
