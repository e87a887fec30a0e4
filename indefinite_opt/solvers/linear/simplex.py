"""A linear program in HiGHS to which rows are added, solved by the simplex method."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array
from indefinite_opt.modeling.linear_programs import add_rows, highs_model, power_near, run_within
from indefinite_opt.modeling.structures import StandardForm
from indefinite_opt.solvers.linear.row_form import RowForm
from indefinite_opt.solvers.solution import Status

__all__ = ["RestrictedModel", "run_highs"]

Indices = NDArray[np.intp]


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

    def __init__(self, form: RowForm) -> None:
        self.form, self.chosen = form, np.empty(0, dtype=np.intp)
        self.v: Array | None = None
        self.eq, self._y = np.zeros(form.e.size), np.empty(0)
        self.iterations = 0
        # The smallest nonzero cost becomes about 1, since tolerances of HiGHS are absolute.
        costs = np.abs(form.cost[form.cost != 0.0])
        self._unit = float(power_near(costs.min())) if costs.size else 1.0
        cost = form.cost / self._unit
        self.highs = highs_model(
            StandardForm(1, cost, form.lower, form.upper, form.e, form.e, form.E)
        )
        # Presolve would find nothing to remove in a kernel matrix.
        self.highs.setOptionValue("presolve", "off")

    def add(self, rows: Indices) -> None:
        """Add rows of G to the model."""
        form = self.form
        add_rows(self.highs, form.G[rows], form.row_lower[rows], form.row_upper[rows])
        self.chosen = np.concatenate([self.chosen, rows])

    def run(self, seconds: float, iterations: int) -> Status:
        """Solve from the last basis and keep the point and its multipliers; see `run_highs`."""
        highs, before = self.highs, max(self.highs.getInfo().simplex_iteration_count, 0)
        status = run_highs(highs, seconds, iterations)
        answer = highs.getSolution()
        self.iterations = max(highs.getInfo().simplex_iteration_count - before, 0)
        if answer.value_valid and answer.dual_valid:
            self.v, duals = np.array(answer.col_value), self._unit * np.array(answer.row_dual)
            self.eq, self._y = duals[: self.form.e.size], duals[self.form.e.size :]
        return status

    def spread(self, count: int) -> Array:
        """Multipliers of all rows of G, zero for those not in the model."""
        y = np.zeros(count)
        y[self.chosen] = self._y
        return y
