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
    StandardForm,
    Status,
    Task,
    Trace,
    status_at_end,
)
from indefinite_opt.solvers.linear.bracket import LinearBracket
from indefinite_opt.solvers.linear.interior_point import LinearInteriorPoint
from indefinite_opt.solvers.linear.reformulation import Reformulation, reformulations
from indefinite_opt.solvers.linear.simplex import LinearModels

MIN_BATCH_ROWS = 50
BATCH_SHARE = 0.05
"""Rows to begin with and to add at a time: this share of all, but at least so many. At n = 2000
twice the share is slower where few rows matter, and faster where nearly all do."""

PRICING_INTERVAL = 5
"""All rows are examined when the gap of the restricted program is below that of the whole program,
and after this many steps in any case."""

MIN_DISTANCE_SHARE = 1e-3
"""Least distance of the first point from both ends of a bounded range, as a share of it."""

MIN_STEP_LENGTH = 1e-5
MAX_SHORT_STEPS = 5
"""Interior steps end after more than this many in a row are shorter than this."""

MAX_INTERIOR_STEPS = 200
"""Interior steps before HiGHS takes over; 20 to 70 are usual."""


@dataclass(frozen=True)
class Generation(Solver[LinearProgram]):
    """Row and column generation from central points, for large dense programs.

    The program is min cᵀv s.t. lo ≤ Gv ≤ hi on a box: the declared one or its dual, so that row
    generation covers many columns, too. Rows of G join the restricted program between Mehrotra's
    predictor-corrector steps (1992): at central points the multipliers do not jump from vertex to
    vertex as those of the simplex method do, which stabilises the generation (Gondzio,
    González-Brevis & Munari 2013). A step with k rows costs O(k²n). The gap is that of the whole
    program: each pricing gives a feasible point, and the bound is the formulation's.

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


class _GenerationIteration:
    """The best point and the best bound of the whole program, and the rows not yet in use."""

    def __init__(self, task: Task[LinearProgram]) -> None:
        self.task, self.trace, self.models = task, Trace(), LinearModels()
        self.bracket = LinearBracket(task, task.program)
        self.unused = np.zeros(0, dtype=bool)
        self.rows = self.steps = self.calls = 0

    def solve(self) -> Status:
        reformulation = next(reformulations(self.task.program))
        form = reformulation.form
        self.unused, v = ~form.equal, self._start(form)
        self.rows = int(np.count_nonzero(self.unused))
        chosen = self._most_violated(form, form.matrix @ v, above=-np.inf)
        self._evaluate(reformulation, v, np.zeros(form.row_lower.size))
        status = self._report()
        if status is None and self.rows and np.all(form.lower < form.upper):
            if self.bracket.x is not None and not reformulation.is_dual:
                free = np.isinf(form.lower) & np.isinf(form.upper)
                v = np.where(free, reformulation.units.write(self.bracket.x), v)
            status = self._interior(reformulation, LinearInteriorPoint(form, v, chosen))
        if status is None:
            status = self.models.solve(self.task, self.bracket)
            self._report()
        return status

    def _start(self, form: StandardForm) -> Array:
        """The middle of the box, moved onto the equalities as far as the box allows."""
        low, high = np.isfinite(form.lower), np.isfinite(form.upper)
        base = np.where(low, form.lower, np.where(high, form.upper, 0.0))
        ranges = np.where(low & high, form.upper - form.lower, 1.0)
        v = base + np.where(low, 0.5, np.where(high, -0.5, 0.0)) * ranges
        boxed, equal = low | high, form.equal
        if equal.any():
            E = form.matrix[equal]
            v[boxed] += np.linalg.lstsq(E[:, boxed], form.row_lower[equal] - E @ v, rcond=None)[0]
        inside = MIN_DISTANCE_SHARE * ranges
        return np.clip(v, form.lower + inside, form.upper - inside)

    def _interior(self, reformulation: Reformulation, centre: LinearInteriorPoint) -> Status | None:
        """Interior steps between which rows join; None if they stop before the gap is closed."""
        form, short = centre.form, 0
        for step in range(1, MAX_INTERIOR_STEPS + 1):
            if not limited(centre.chosen.size, self.task.remaining, centre.step):
                break
            self.steps += 1
            short = short + 1 if centre.length < MIN_STEP_LENGTH else 0
            if short > MAX_SHORT_STEPS:
                break
            is_priced = centre.gap < self.bracket.gap or step % PRICING_INTERVAL == 0
            if is_priced:
                self._evaluate(reformulation, centre.v, centre.multipliers())
            status = self._report()
            if status is not None:
                return status
            if is_priced:
                joining = self._most_violated(form, form.matrix @ centre.v)
                if joining.size:
                    centre.add(joining)
        return None

    def _most_violated(
        self, form: StandardForm, activity: Array, above: float = 0.0
    ) -> NDArray[np.intp]:
        """The unused rows that are violated most, at most one batch, which are used from now on."""
        violation = np.maximum(form.row_lower - activity, activity - form.row_upper)
        candidates = np.flatnonzero(self.unused & (violation > above))
        order = np.argsort(-violation[candidates], kind="stable")
        rows = candidates[order[: max(MIN_BATCH_ROWS, int(BATCH_SHARE * self.rows))]]
        self.unused[rows] = False
        return rows

    def _evaluate(self, reformulation: Reformulation, v: Array, rows: Array) -> None:
        """Offer a point of the form, and the multipliers of all rows."""
        self.calls += 1
        self.bracket.offer(reformulation, v, rows)

    def _report(self) -> Status | None:
        """Add to the trace; the status if the search is to stop here, else None."""
        task, bracket, sense = self.task, self.bracket, self.task.program.sense
        steps = self.steps + self.models.done
        self.trace.add(
            task.elapsed,
            steps,
            sense * bracket.value,
            bracket.relative_gap,
            bound=sense * bracket.bound,
            calls=self.calls,
        )
        return Status.SOLVED if bracket.is_closed else task.stop(self.trace, steps)

    def solution(self, status: Status) -> Solution:
        """The best point, with the multipliers of the best bound."""
        used = self.rows - int(np.count_nonzero(self.unused))
        message, done = f"{used} of {self.rows} rows, {self.steps} interior steps", self.models.done
        if done:
            message += f", then {done} of the simplex method"
        return self.bracket.solution(status, self.steps + done, message, self.trace)
