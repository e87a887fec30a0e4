"""A linear program in HiGHS to which rows are added, solved by the simplex method."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array
from indefinite_opt.modeling.linear_programs import LinearProgram
from indefinite_opt.quadratic import (
    StandardForm,
    Status,
    add_rows,
    change_costs,
    highs_model,
    run_within,
)

Indices = NDArray[np.intp]

LEAST_TOLERANCE = 1e-10
"""The smallest tolerance that HiGHS accepts."""


def run_highs(highs: Any, seconds: float, iterations: int) -> Status:
    """Why HiGHS stopped; see `run_within`."""
    import highspy

    statuses = {
        highspy.HighsModelStatus.kOptimal: Status.SOLVED,
        highspy.HighsModelStatus.kTimeLimit: Status.TIME_LIMIT,
        highspy.HighsModelStatus.kIterationLimit: Status.MAX_ITER,
    }
    return statuses.get(run_within(highs, seconds, iterations), Status.INACCURATE)


class RestrictedModel:
    """The restricted program in HiGHS: all columns, the equalities, and the rows added so far."""

    def __init__(self, program: LinearProgram) -> None:
        self.program, self.rows = program, np.flatnonzero(program.row_lower == program.row_upper)
        self.v: Array | None = None
        self.multipliers = np.zeros(program.row_lower.size)
        self.iterations, self._refined = 0, False
        self._unit, self._largest = program.cost_units
        e, E = program.row_lower[self.rows], program.dense[self.rows]
        cost = program.cost / self._unit
        self.highs = highs_model(StandardForm(1, cost, program.lower, program.upper, e, e, E))
        # Presolve would find nothing to remove in a kernel matrix.
        self.highs.setOptionValue("presolve", "off")

    def add(self, rows: Indices) -> None:
        """Add rows of the program to the model."""
        program = self.program
        add_rows(self.highs, program.dense[rows], program.row_lower[rows], program.row_upper[rows])
        self.rows = np.concatenate([self.rows, rows])

    def refine(self) -> bool:
        """Go on with costs in units of the largest, and with the least tolerances there are.

        False if these are in force already.
        """
        if self._refined:
            return False
        self._refined, self._unit = True, self._largest
        self.highs.clearSolver()
        change_costs(self.highs, self.program.cost / self._unit)
        for kind in ("primal", "dual"):
            self.highs.setOptionValue(f"{kind}_feasibility_tolerance", LEAST_TOLERANCE)
        return True

    def run(self, seconds: float, iterations: int) -> Status:
        """Solve from the last basis; keep the point and the multipliers of all rows."""
        highs, before = self.highs, max(self.highs.getInfo().simplex_iteration_count, 0)
        status = run_highs(highs, seconds, iterations)
        answer = highs.getSolution()
        self.iterations = max(highs.getInfo().simplex_iteration_count - before, 0)
        if answer.value_valid and answer.dual_valid:
            self.v = np.array(answer.col_value)
            self.multipliers[self.rows] = self._unit * np.array(answer.row_dual)
        return status
