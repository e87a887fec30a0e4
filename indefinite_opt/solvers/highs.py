"""HiGHS: linear programs directly, convex quadratic programs with a proved Hessian."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, cast

import numpy as np

from indefinite_opt.errors import SolverFailed
from indefinite_opt.highs_model import highs_model
from indefinite_opt.solution import Claim, Solution, Status
from indefinite_opt.solver import Session, Solver, Task
from indefinite_opt.structure import BoxLineQP, LinearProgram

__all__ = ["Highs"]

_SIMPLEX_SHARE = 2
"""Simplex iterations, per row and column, after which the interior-point method takes over."""


class Highs(Solver):
    """Simplex and interior point (Huangfu & Hall), called without a modelling layer between.

    HiGHS examines only the diagonal of a Hessian, so a quadratic program reaches it only after
    our own curvature test.
    """

    name = "highs"
    accepts = (BoxLineQP, LinearProgram)
    needs_convex = True
    claims = Claim.GLOBAL

    def solve(self, task: Task) -> Solution:
        return self.session().solve(task)

    def session(self) -> Session:
        return HighsSession(self)


class HighsSession(Session):
    """Keeps a linear program between tasks with the same matrix; costs and bounds are changed."""

    def __init__(self, solver: Solver) -> None:
        super().__init__(solver)
        self._highs: Any = None
        self._key: Hashable = None
        # Holds what `key` was made from, so that its identity cannot be reused.
        self._structure: Any = None

    def solve(self, task: Task) -> Solution:
        structure = cast("BoxLineQP | LinearProgram", task.structure)
        if isinstance(structure, LinearProgram) and structure.key == self._key:
            self._update(structure)
        else:
            convexified = isinstance(structure, BoxLineQP)
            self._highs = highs_model(structure, convexified=convexified)
            self._key = structure.key if isinstance(structure, LinearProgram) else None
        self._structure = structure
        return self._run(task)

    def _update(self, program: LinearProgram) -> None:
        columns = np.arange(program.cost.size, dtype=np.int32)
        rows = np.arange(program.row_lower.size, dtype=np.int32)
        cost = program.sense * program.cost
        self._highs.changeColsCost(columns.size, columns, cost)
        self._highs.changeColsBounds(columns.size, columns, program.lower, program.upper)
        self._highs.changeRowsBounds(rows.size, rows, program.row_lower, program.row_upper)

    def _run(self, task: Task) -> Solution:
        import highspy

        highs = self._highs
        # HiGHS adds this to the Hessian's diagonal; its default shows at our tolerance.
        highs.setOptionValue("qp_regularization_value", 1e-12)
        if np.isfinite(task.time_limit):
            highs.setOptionValue("time_limit", float(highs.getRunTime()) + task.remaining)
        limit = task.max_iter
        if limit is None and isinstance(task.structure, LinearProgram):
            # Nearly degenerate games can keep the simplex method busy for ever.
            limit = _SIMPLEX_SHARE * (highs.getNumCol() + highs.getNumRow()) + 1000
        _limit_iterations(highs, limit)
        # A kernel matrix has no rows to remove, and looking for them takes longer than the simplex.
        highs.setOptionValue("presolve", "off")
        highs.setOptionValue("solver", "choose")
        highs.setOptionValue("run_crossover", "on")
        highs.run()
        decided = (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kTimeLimit)
        if task.max_iter is None and limit and highs.getModelStatus() not in decided:
            highs.clearSolver()
            _limit_iterations(highs, None)
            highs.setOptionValue("solver", "ipm")
            # Crossover would end in the same simplex method; our bound needs no vertex.
            highs.setOptionValue("run_crossover", "off")
            highs.run()
        outcome = highs.getModelStatus()
        words = highs.modelStatusToString(outcome)
        answer = highs.getSolution()
        x = np.array(answer.col_value)
        if not answer.value_valid or x.size == 0:
            raise SolverFailed(f"HiGHS returned no point for {task.formulation}: {words}")
        statuses = {
            highspy.HighsModelStatus.kOptimal: Status.SOLVED,
            highspy.HighsModelStatus.kTimeLimit: Status.TIME_LIMIT,
            highspy.HighsModelStatus.kIterationLimit: Status.MAX_ITER,
        }
        info = highs.getInfo()
        structure = cast("BoxLineQP | LinearProgram", task.structure)
        multipliers = {}
        if isinstance(structure, LinearProgram) and answer.dual_valid:
            # A maximised model reports the duals of the maximisation.
            rows = structure.sense * np.array(answer.row_dual)
            reduced = structure.sense * np.array(answer.col_dual)
            multipliers = structure.read_multipliers(rows, reduced)
        return Solution(
            values=structure.read(x)
            if isinstance(structure, LinearProgram)
            else structure.values(x),
            multipliers=multipliers,
            status=statuses.get(outcome, Status.INACCURATE),
            iterations=int(
                max(info.simplex_iteration_count, 0)
                + max(info.ipm_iteration_count, 0)
                + max(info.qp_iteration_count, 0)
            ),
            message=f"HiGHS: {words}",
        )


def _limit_iterations(highs: Any, limit: int | None) -> None:
    unlimited = 2_147_483_647
    for option in ("simplex_iteration_limit", "ipm_iteration_limit", "qp_iteration_limit"):
        highs.setOptionValue(option, unlimited if limit is None else int(limit))
