"""The best point and the best bound of a linear program."""

from __future__ import annotations

from typing import Any

import numpy as np

from indefinite_opt.errors import SolverFailed
from indefinite_opt.foundation import Array, Values
from indefinite_opt.modeling.linear_programs import LinearProgram
from indefinite_opt.quadratic import Solution, Status, Task, Trace, relative
from indefinite_opt.solvers.linear.reformulation import Reformulation

_MAX_INFEASIBILITY = 1e-9
"""Relative violation up to which a point counts as feasible, far below any sensible tolerance."""

_NEAR_ZERO = 1e-6
"""Objective, beside a thousandth of the terms of its largest row, that may be 0 up to rounding."""


class LinearBracket:
    """The best point x of a linear program with its value, and the best bound with its multipliers.

    The point is repaired and the bound holds for any multipliers, whoever found them.
    """

    def __init__(self, task: Task[Any], program: LinearProgram) -> None:
        self.task, self.program = task, program
        self.x: Array | None = None
        self.value, self.bound = np.inf, -np.inf
        self.multipliers: Values = {}

    def offer(self, reformulation: Reformulation, v: Array, rows: Array) -> None:
        """Keep the feasible point near v, and the bound of the multipliers of rows, if better."""
        v = np.clip(v, reformulation.form.lower, reformulation.form.upper)
        values, multipliers = reformulation.solution(v, rows)
        x = self.program.repaired(self.program.from_values(values))
        value = float(self.program.cost @ x)
        if value < self.value:
            self.x, self.value = x, value
        self.offer_bound(multipliers)

    def offer_bound(self, multipliers: Values) -> None:
        """Keep the bound of multipliers of the declared constraints, if it is better."""
        bound = self.program.dual_bound(multipliers)
        if bound > self.bound or not self.multipliers:
            self.bound, self.multipliers = bound, multipliers

    @property
    def gap(self) -> float:
        """The value of the best point less the best bound."""
        return self.value - self.bound

    @property
    def unit(self) -> float:
        """The divisor of the gap."""
        if self.x is None:
            return np.inf
        # Rows need not be read for an objective that is not 0 beside their terms.
        size = self.program.theorem.size_of_rows(self.program.values(self.x))
        near_zero = abs(self.value) <= _NEAR_ZERO * size
        return self.task.unit(self.program.at(self.x), self.multipliers if near_zero else None)

    @property
    def relative_gap(self) -> float:
        """The gap in its unit, nan if there is none."""
        if not (np.isfinite(self.value) and np.isfinite(self.bound)):
            return np.nan
        # A value below the bound, by rounding, is no better than one above it.
        return relative(abs(self.gap), self.unit)

    @property
    def is_closed(self) -> bool:
        """Whether the gap is within the tolerance of the task."""
        return self.relative_gap <= self.task.tol

    def solution(
        self, status: Status, iterations: int, message: str, trace: Trace | None = None
    ) -> Solution:
        """The best point, with the multipliers of the best bound."""
        program = self.program
        if self.x is None:
            # Stopped before the first point; most formulations can repair any.
            self.x = program.repaired(np.zeros(program.cost.size))
            if program.infeasibility(self.x) > _MAX_INFEASIBILITY:
                raise SolverFailed(f"no feasible point of {self.task.formulation} is known yet")
        return Solution(
            values=program.values(self.x),
            multipliers=self.multipliers,
            status=status,
            iterations=iterations,
            trace=trace or Trace(),
            message=message,
        )
