"""HiGHS for linear programs and for quadratic programs that are known to be convex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from indefinite_opt.errors import SolverFailed
from indefinite_opt.foundation import afford, limited
from indefinite_opt.modeling.linear_programs import LinearProgram
from indefinite_opt.quadratic import (
    QP,
    Session,
    Solution,
    Solver,
    Status,
    Task,
    answers,
    highs_model,
)
from indefinite_opt.solvers.external.conic import solution_of_rows
from indefinite_opt.solvers.external.cvxpy_backend import moved, or_feasible
from indefinite_opt.solvers.linear.bracket import LinearBracket
from indefinite_opt.solvers.linear.simplex import PER_ENTRY, LinearModels, iterations_of, run_highs

MIN_QUADRATIC_ITERATIONS = 10_000
QUADRATIC_ITERATIONS_PER_VARIABLE = 100
"""Most iterations on a quadratic program: this many, plus these for each variable."""

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
        self._models = LinearModels()

    def solve(self, task: Task[_Program]) -> Solution:
        if task.program.is_linear:
            return self._linear(task)
        found = None if task.max_iter is not None else solution_of_rows(task, self.solver.name)
        left = task.time_limit - task.elapsed
        return found or or_feasible(
            task, "HiGHS", lambda: limited(task.problem.n, left, self._quadratic, task)
        )

    def _linear(self, task: Task[Any]) -> Solution:
        program, models = task.program, self._models
        bracket = LinearBracket(task, program)
        # Multipliers of zero rows until there are better ones, so that a certificate finds some.
        bracket.offer_bound(program.multipliers(np.zeros(program.row_lower.size)))
        status = models.solve(task, bracket)
        return bracket.solution(status, models.done, f"HiGHS: {models.words}")

    def _quadratic(self, task: Task[Any]) -> Solution:
        qp: QP = task.program
        afford(PER_ENTRY * qp.n**2)
        highs = highs_model(qp.standard_form(convexified=True))
        limit = task.max_iter
        if limit is None:
            limit = MIN_QUADRATIC_ITERATIONS + QUADRATIC_ITERATIONS_PER_VARIABLE * qp.n
        highs.setOptionValue("qp_regularization_value", REGULARIZATION)
        highs.setOptionValue("presolve", "off")
        status = run_highs(highs, task.remaining, limit)
        words = highs.modelStatusToString(highs.getModelStatus())
        answer = highs.getSolution()
        if not answer.value_valid or not len(answer.col_value):
            raise SolverFailed(f"HiGHS returned no point for {task.formulation}: {words}")
        x = moved(task, qp.feasible.project, np.array(answer.col_value))
        if status is Status.SOLVED and not qp.has_own_rows:
            # With a singular Hessian it may stop far from its own tolerance.
            stationarity = answers.optimality(qp, qp.at(x), None, task.tol).stationarity
            status = status if stationarity <= task.tol else Status.INACCURATE
        return Solution(
            qp.values(x), status, iterations=iterations_of(highs), message=f"HiGHS: {words}"
        )
