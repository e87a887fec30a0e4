"""Row and column generation for linear programs, by interior points of restricted programs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import SolverFailed
from indefinite_opt.foundation import Array, TimeLimitReached, limited, one_thread
from indefinite_opt.modeling import relative
from indefinite_opt.modeling.linear_programs import LinearProgram, simplex_limit
from indefinite_opt.solvers.linear.interior_point import InteriorPoint
from indefinite_opt.solvers.linear.row_form import RowForm
from indefinite_opt.solvers.linear.simplex import RestrictedModel
from indefinite_opt.solvers.solution import Solution, Status, Trace
from indefinite_opt.solvers.solver import Solver, Task, status_at_end

__all__ = ["Generation"]

Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]

_MIN_BATCH_ROWS, _BATCH_SHARE = 50, 0.05
"""Rows to begin with and to add at a time: this share of all, but at least this many. At n = 2000
twice the share is slower where few rows matter, and faster where nearly all do."""

_PRICING_GAP_SHARE, _PRICING_INTERVAL = 0.5, 5
"""All rows are priced when the gap of the restricted program is below this share of the gap of the
whole program, and after this many steps in any case."""

_MAX_LEAVING_GAP = 0.1
"""Relative gap above which no rows leave: multipliers do not tell which are idle before that."""

_MIN_LEAVING_TOLERANCES = 100.0
"""No row leaves once the gap is below this many tolerances: having to add it again would cost more
than it saves."""

_MIN_LEAVING_SHARE = 0.15
"""Rows leave only if more than this share of those in use can, so that steps get cheaper."""

_MIN_LEAVING_INTERVAL = 4
"""Steps between two removals of rows: the multipliers of new rows need some steps to settle."""

_MAX_INFEASIBILITY = 1e-9
"""Relative violation up to which a point counts as feasible, far below any sensible tolerance."""

_MIN_STEP_LENGTH, _MAX_SHORT_STEPS = 1e-5, 5
"""Interior steps end after more than this many in a row are shorter than this."""

_MAX_INTERIOR_STEPS = 200
"""Interior steps before the simplex method takes over; 20 to 70 are usual."""


class Generation(Solver[LinearProgram]):
    """Row and column generation from central points, for large dense programs.

    The program is min fᵀv s.t. lo ≤ Gv ≤ hi on a box; programs with many columns are dualised
    (`RowForm`), so that row generation covers both cases. Rows of G join the restricted program
    between Mehrotra's predictor-corrector steps (1992): at central points the multipliers do not
    jump from vertex to vertex as those of the simplex method do, which stabilises the generation
    (Gondzio, González-Brevis & Munari 2013). A step with k rows costs O(k²n). The gap is that of
    the whole program: each pricing gives a feasible point, and the bound is the formulation's.

    Where the interior is empty or steps become too short, the simplex method of HiGHS continues
    with the rows in use and adds others to its model; the message says so.
    """

    name = "generation"
    accepts = (LinearProgram,)
    needs_convex = True

    def solve(self, task: Task[LinearProgram]) -> Solution:
        run = _Run(task)
        # On two cores two threads took twice as long as one at n = 2000.
        return run.solution(status_at_end(run.solve, one_thread()))


class Rows:
    """The rows of G in use: the most violated ones join, and each may leave once if it is idle.

    Parameters
    ----------
    count : int
        Number of rows of G.

    Attributes
    ----------
    most : int
        Largest number of rows in use at any time.
    """

    def __init__(self, count: int) -> None:
        self.count, self.most = count, 0
        self._batch = max(_MIN_BATCH_ROWS, int(_BATCH_SHARE * count))
        self._outside, self._has_left = np.ones(count, bool), np.zeros(count, bool)
        self._last_leaving = 0

    def join(self, violation: Array, above: float = 0.0) -> Indices:
        """Add the most violated unused rows, at most one batch."""
        candidates = np.flatnonzero(self._outside & (violation > above))
        order = np.argsort(-violation[candidates], kind="stable")
        return self._joined(candidates[order[: self._batch]])

    def join_all(self) -> Indices:
        """Add all unused rows."""
        return self._joined(np.flatnonzero(self._outside))

    def _joined(self, rows: Indices) -> Indices:
        self._outside[rows] = False
        self.most = max(self.most, self.count - int(np.count_nonzero(self._outside)))
        return rows

    def leaving(self, used: Indices, idle: Mask, step: int) -> Mask:
        """Which of the rows in use may leave: none if few could, or if others left recently."""
        leaving = idle & ~self._has_left[used]
        few = np.count_nonzero(leaving) <= _MIN_LEAVING_SHARE * leaving.size
        if few or step - self._last_leaving <= _MIN_LEAVING_INTERVAL:
            return np.zeros_like(leaving)
        return leaving

    def leave(self, rows: Indices, step: int) -> None:
        """Take rows out of use."""
        self._has_left[rows] = self._outside[rows] = True
        self._last_leaving = step


class _Run:
    """The best point and the best bound of the whole program, and the rows in use.

    `asked` is the declared program; the others are rescaled to data of about unit size.
    """

    def __init__(self, task: Task[LinearProgram]) -> None:
        self.task = task
        self.asked = task.structure
        self.trace, self.rows = Trace(), Rows(0)
        self.steps = self.simplex = self.calls = 0
        self.x: Array | None = None
        self.value, self.bound = np.inf, -np.inf
        self.multipliers: dict[str, Array] = {}

    def solve(self) -> Status:
        self.program = self.asked.rescaled()
        self.form = form = RowForm(self.program)
        self.rows = Rows(form.row_lower.size)
        v = form.start()
        chosen = self.rows.join(form.violation(form.G @ v), above=-np.inf)
        self.evaluate(v, np.zeros(form.e.size), np.zeros(self.rows.count))
        status = self.report()
        if status is None and form.has_interior:
            if self.x is not None and form.dual is None:
                v = np.where(form.free, self.program.write(self.asked.read(self.x)), v)
            centre = InteriorPoint(form, v, chosen)
            status, chosen = self._interior(centre), centre.chosen
        return self._simplex(chosen) if status is None else status

    # ------------------------------------------------------------------------ interior points

    def _interior(self, centre: InteriorPoint) -> Status | None:
        """Interior steps with an exchange of rows; None if they stop before the gap is closed."""
        short = 0
        for step in range(1, _MAX_INTERIOR_STEPS + 1):
            if not limited(centre.chosen.size, self.task.remaining, centre.step):
                break
            self.steps += 1
            short = short + 1 if centre.length < _MIN_STEP_LENGTH else 0
            if short > _MAX_SHORT_STEPS:
                break
            closing = centre.gap < _PRICING_GAP_SHARE * self.gap
            activity = None
            if closing or step % _PRICING_INTERVAL == 0:
                activity = self.form.G @ centre.v
                self.evaluate(centre.v, centre.eq, centre.spread(self.rows.count))
            status = self.report()
            if status is not None:
                return status
            if activity is not None:
                self._exchange(centre, activity, step)
        return None

    def _exchange(self, centre: InteriorPoint, activity: Array, step: int) -> None:
        """Remove idle rows or, if there are too few, add violated ones."""
        leaving = self.rows.leaving(centre.chosen, centre.idle(), step)
        if leaving.any() and self._may_leave():
            self.rows.leave(centre.chosen[leaving], step)
            centre.remove(leaving)
            return
        found = self.rows.join(self.form.violation(activity))
        if found.size:
            centre.add(found, activity[found])

    def _may_leave(self) -> bool:
        """Whether the gap is small enough to tell idle rows, and large enough for that to pay."""
        if self.x is None:
            return False
        least = _MIN_LEAVING_TOLERANCES * self.task.tol * self.asked.gap_unit(self.value, self.x)
        return least < self.gap <= _MAX_LEAVING_GAP * abs(self.value)

    # --------------------------------------------------------------------------------- simplex

    def _simplex(self, chosen: Indices) -> Status:
        """Solve restricted programs by the simplex method, adding rows to one model."""
        form, model = self.form, RestrictedModel(self.form)
        while True:
            model.add(chosen)
            limit = simplex_limit(form.cost.size + model.chosen.size)
            if self.task.max_iter is not None:
                limit = max(self.task.max_iter - self.steps - self.simplex, 0)
            try:
                outcome = model.run(self.task.remaining, limit)
            except TimeLimitReached:
                return Status.TIME_LIMIT
            self.simplex += model.iterations
            chosen = np.empty(0, dtype=np.intp)
            if model.v is not None:
                self.evaluate(model.v, model.eq, model.spread(self.rows.count))
                chosen = self.rows.join(form.violation(form.G @ model.v))
            status = self.report()
            if status is not None:
                return status
            if outcome is not Status.SOLVED:
                # Too few rows can leave the restricted program unbounded.
                chosen = np.concatenate([chosen, self.rows.join_all()])
                if outcome is not Status.INACCURATE or chosen.size == 0:
                    return outcome
            elif chosen.size == 0:
                return Status.INACCURATE

    # -------------------------------------------------------------------------------- results

    @property
    def gap(self) -> float:
        """The value of the best point less the best bound."""
        return self.value - self.bound

    def evaluate(self, v: Array, eq: Array, y: Array) -> None:
        """Keep the feasible point made from v and the bound of its multipliers, if better."""
        self.calls += 1
        x = self.asked.repaired(self.asked.write(self.form.values(v, eq, y)))
        value = float(self.asked.cost @ x)
        if value < self.value:
            self.x, self.value = x, value
        multipliers = self.form.multipliers(v, eq, y)
        bound = self.task.formulation.dual_bound(self.task.problem, multipliers)
        if bound > self.bound or not self.multipliers:
            self.bound, self.multipliers = bound, multipliers

    def report(self) -> Status | None:
        """Add to the trace; the status if the search is to stop here, else None."""
        task, sense = self.task, self.asked.sense
        closed = np.isfinite(self.value) and np.isfinite(self.bound)
        left = np.nan
        if closed and self.x is not None:
            left = relative(max(self.gap, 0.0), self.asked.gap_unit(self.value, self.x))
        self.trace.add(
            task.elapsed,
            self.steps + self.simplex,
            sense * self.value,
            left,
            bound=sense * self.bound,
            calls=self.calls,
        )
        if left <= task.tol:
            return Status.SOLVED
        return task.stop(self.trace, self.steps + self.simplex)

    def solution(self, status: Status) -> Solution:
        """The best point, with the multipliers of the best bound."""
        if self.x is None:
            # Stopped before the first evaluation; most formulations can repair any point.
            zero = self.asked.repaired(np.zeros(self.asked.cost.size))
            self.x = zero if self.asked.infeasibility(zero) <= _MAX_INFEASIBILITY else None
        if self.x is None:
            raise SolverFailed(f"generation found no feasible point of {self.task.formulation}")
        message = f"{self.rows.most} of {self.rows.count} rows, {self.steps} interior steps"
        if self.simplex:
            message += f", then {self.simplex} of the simplex method"
        return Solution(
            values=self.asked.read(self.x),
            multipliers=self.multipliers,
            status=status,
            iterations=self.steps + self.simplex,
            trace=self.trace,
            message=message,
        )
