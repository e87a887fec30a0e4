"""Row and column generation for linear programs, by interior points of restricted programs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array, limited, one_thread
from indefinite_opt.modeling.linear_programs import LinearProgram
from indefinite_opt.quadratic import (
    Solution,
    Solver,
    Status,
    Task,
    Trace,
    status_at_end,
)
from indefinite_opt.solvers.linear.bracket import LinearBracket
from indefinite_opt.solvers.linear.form import forms
from indefinite_opt.solvers.linear.interior_point import LinearInteriorPoint
from indefinite_opt.solvers.linear.simplex import LinearModels

MIN_BATCH_ROWS = 50
BATCH_SHARE = 0.05
"""Rows to begin with and to add at a time: this share of all, but at least so many. At n = 2000
twice the share is slower where few rows matter, and faster where nearly all do."""

PRICING_GAP_SHARE = 0.5
PRICING_INTERVAL = 5
"""All rows are examined when the gap of the restricted program is below this share of the gap
of the whole program, and after this many steps in any case."""

MAX_LEAVING_GAP = 0.1
"""Relative gap above which no rows leave: multipliers do not tell which are idle before."""

MIN_LEAVING_TOLERANCES = 100.0
"""No row leaves once the gap is below this many tolerances: having to add it again would cost
more than it saves."""

MIN_LEAVING_SHARE = 0.15
"""Rows leave only if more than this share of those in use can, so that steps get cheaper."""

MIN_LEAVING_INTERVAL = 4
"""Steps between two removals of rows: multipliers of new rows need some steps to settle."""

MIN_DISTANCE_SHARE = 1e-3
"""Least distance of the first point from both ends of a bounded range, as a share of it."""

MIN_STEP_LENGTH = 1e-5
MAX_SHORT_STEPS = 5
"""Interior steps end after more than this many in a row are shorter than this."""

MAX_INTERIOR_STEPS = 200
"""Interior steps before the simplex method takes over; 20 to 70 are usual."""


Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Generation(Solver[LinearProgram]):
    """Row and column generation from central points, for large dense programs.

    The program is min fᵀv s.t. lo ≤ Gv ≤ hi on a box; of programs that hand over a dual that is
    solved, so that row generation covers many columns, too. Rows of G join the restricted program
    between Mehrotra's predictor-corrector steps (1992): at central points the multipliers do not
    jump from vertex to vertex as those of the simplex method do, which stabilises the generation
    (Gondzio, González-Brevis & Munari 2013). A step with k rows costs O(k²n). The gap is that of
    the whole program: each pricing gives a feasible point, and the bound is the formulation's.

    Where the interior is empty or steps become too short, HiGHS solves the whole program; the
    message says so.
    """

    name = "generation"
    accepts = (LinearProgram,)
    needs_convex = True

    def solve(self, task: Task[LinearProgram]) -> Solution:
        run = _GenerationIteration(task)
        # On two cores two threads took twice as long as one at n = 2000.
        return run.solution(status_at_end(run.solve, one_thread()))


class GeneratedRows:
    """The rows in use: the most violated ones join, and each may leave once if it is idle.

    Parameters
    ----------
    open_rows : array of bool
        Which rows need not be in use.

    Attributes
    ----------
    most : int
        Largest number of rows in use at any time.
    """

    def __init__(self, open_rows: Mask) -> None:
        self.count, self.most = int(np.count_nonzero(open_rows)), 0
        self._batch = max(MIN_BATCH_ROWS, int(BATCH_SHARE * self.count))
        self._outside, self._has_left = open_rows.copy(), np.zeros(open_rows.size, bool)
        self._last_leaving = 0

    def join(self, violation: Array, above: float = 0.0) -> Indices:
        """Add the most violated unused rows, at most one batch."""
        candidates = np.flatnonzero(self._outside & (violation > above))
        order = np.argsort(-violation[candidates], kind="stable")
        return self._joined(candidates[order[: self._batch]])

    def _joined(self, rows: Indices) -> Indices:
        self._outside[rows] = False
        self.most = max(self.most, self.count - int(np.count_nonzero(self._outside)))
        return rows

    def leaving(self, used: Indices, idle: Mask, step: int) -> Mask:
        """Which of the rows in use may leave: none if few could, or if others left recently."""
        leaving = idle & ~self._has_left[used]
        few = np.count_nonzero(leaving) <= MIN_LEAVING_SHARE * leaving.size
        if few or step - self._last_leaving <= MIN_LEAVING_INTERVAL:
            return np.zeros_like(leaving)
        return leaving

    def leave(self, rows: Indices, step: int) -> None:
        """Take rows out of use."""
        self._has_left[rows] = self._outside[rows] = True
        self._last_leaving = step


class _GenerationIteration:
    """The best point and the best bound of the whole program, and the rows in use."""

    def __init__(self, task: Task[LinearProgram]) -> None:
        self.task, self.trace, self.models = task, Trace(), LinearModels()
        self.bracket = LinearBracket(task, task.structure)
        self.rows = GeneratedRows(np.zeros(0, bool))
        self.steps = self.calls = self.simplex = 0

    def solve(self) -> Status:
        self.form = form = next(forms(self.task.structure))
        self.rows = GeneratedRows(~form.equal)
        v = self._start()
        chosen = self.rows.join(self._violation(form.matrix @ v), above=-np.inf)
        self.evaluate(v, np.zeros(form.row_lower.size))
        status = self.report()
        if status is None and self.rows.count and np.all(form.lower < form.upper):
            if self.bracket.x is not None and not form.is_dual:
                free = np.isinf(form.lower) & np.isinf(form.upper)
                v = np.where(free, self.bracket.x / form.column_scale, v)
            status = self._interior(LinearInteriorPoint(form, v, chosen))
        if status is None:
            status = self.models.solve(self.task, self.bracket)
            self.simplex = self.models.done
            self.report()
        return status

    def _start(self) -> Array:
        """The middle of the box, moved onto the equalities as far as the box allows."""
        form = self.form
        low, high = np.isfinite(form.lower), np.isfinite(form.upper)
        base = np.where(low, form.lower, np.where(high, form.upper, 0.0))
        ranges = np.where(low & high, form.upper - form.lower, 1.0)
        v = base + np.where(low, 0.5, np.where(high, -0.5, 0.0)) * ranges
        boxed, equal = low | high, form.row_lower == form.row_upper
        if equal.any():
            E = form.matrix[equal]
            v[boxed] += np.linalg.lstsq(E[:, boxed], form.row_lower[equal] - E @ v, rcond=None)[0]
        inside = MIN_DISTANCE_SHARE * ranges
        return np.clip(v, form.lower + inside, form.upper - inside)

    # ------------------------------------------------------------------------ interior points

    def _interior(self, centre: LinearInteriorPoint) -> Status | None:
        """Interior steps with an exchange of rows; None if they stop before the gap is closed."""
        short = 0
        for step in range(1, MAX_INTERIOR_STEPS + 1):
            if not limited(centre.chosen.size, self.task.remaining, centre.step):
                break
            self.steps += 1
            short = short + 1 if centre.length < MIN_STEP_LENGTH else 0
            if short > MAX_SHORT_STEPS:
                break
            closing = centre.gap < PRICING_GAP_SHARE * self.bracket.gap
            activity = None
            if closing or step % PRICING_INTERVAL == 0:
                activity = self.form.matrix @ centre.v
                self.evaluate(centre.v, centre.multipliers())
            status = self.report()
            if status is not None:
                return status
            if activity is not None:
                self._exchange(centre, activity, step)
        return None

    def _exchange(self, centre: LinearInteriorPoint, activity: Array, step: int) -> None:
        """Remove idle rows or, if there are too few, add violated ones."""
        leaving = self.rows.leaving(centre.chosen, centre.idle(), step)
        if leaving.any() and self._may_leave():
            self.rows.leave(centre.chosen[leaving], step)
            centre.remove(leaving)
            return
        joining = self.rows.join(self._violation(activity))
        if joining.size:
            centre.add(joining, activity[joining])

    def _violation(self, activity: Array) -> Array:
        """By how much each row is violated, negative where it is slack."""
        return np.maximum(self.form.row_lower - activity, activity - self.form.row_upper)

    def _may_leave(self) -> bool:
        """Whether the gap is small enough to tell idle rows, and large enough for that to pay."""
        bracket = self.bracket
        least = MIN_LEAVING_TOLERANCES * self.task.tol * bracket.unit
        return least < bracket.gap <= MAX_LEAVING_GAP * abs(bracket.value)

    # -------------------------------------------------------------------------------- results

    def evaluate(self, v: Array, rows: Array) -> None:
        """Offer a point of the form, and the multipliers of all rows."""
        self.calls += 1
        self.bracket.offer(self.form, v, rows)

    def report(self) -> Status | None:
        """Add to the trace; the status if the search is to stop here, else None."""
        task, bracket, sense = self.task, self.bracket, self.task.structure.sense
        self.trace.add(
            task.elapsed,
            self.steps + self.simplex,
            sense * bracket.value,
            bracket.relative_gap,
            bound=sense * bracket.bound,
            calls=self.calls,
        )
        if bracket.is_closed:
            return Status.SOLVED
        return task.stop(self.trace, self.steps + self.simplex)

    def solution(self, status: Status) -> Solution:
        """The best point, with the multipliers of the best bound."""
        message = f"{self.rows.most} of {self.rows.count} rows, {self.steps} interior steps"
        if self.simplex:
            message += f", then {self.simplex} of the simplex method"
        return self.bracket.solution(status, self.steps + self.simplex, message, self.trace)
