"""Descent to a local minimum: blocks of pair steps, Newton steps on a face, negative curvature."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import UnboundedProblem
from indefinite_opt.foundation import Array
from indefinite_opt.modeling import relative
from indefinite_opt.modeling.structures import BoxLineQP
from indefinite_opt.solvers.descent.face import Face
from indefinite_opt.solvers.solution import Status, Trace
from indefinite_opt.solvers.solver import Task

if TYPE_CHECKING:  # numba is imported when a descent begins
    from indefinite_opt.solvers.descent._loops import Limits, Outcome

__all__ = ["CHOLESKY_WORK", "Descent"]

Indices = NDArray[np.intp]

FIRST_BLOCK_SHARE, READINGS_PER_DOUBLING = 1 / 8, 4.0
"""First size of a block as a share of n; it has doubled when work is this many readings of K, since
long runs are those in which small blocks undo each other."""

MIN_BLOCK, MAX_BLOCK, MAX_BLOCK_SHARE = 64, 512, 0.1
"""No block has fewer points than the first, and none more than both the second and this share of n:
its part of K should stay in the cache of the processor."""

LEAVE_SHARE = 0.3
"""A block is left when its own violation has fallen to this share: what it would still gain depends
on v at the other points, which is out of date by then."""

CHUNK_WORK = 2e7
"""Work (entries of K read) between two looks at the clock: some hundredths of a second."""

OVERHEAD_WORK = 5e5
"""Work that a Newton step takes even on an empty face; the same again counts as next to nothing."""

PAIR_STEPS_PER_NEWTON_STEP = 2.0
"""Pair steps take this many times the work of a Newton step on the face before one is taken."""

MAX_FACE, MAX_FACE_SHARE = 1280, 0.15
"""Most weights on the face of a Newton step, as for a block: its matrix is a few per cent of K."""

CHOLESKY_WORK = 1.0 / 36.0
"""Work of a factorisation in units of k³: ⅓k³ flops, a dozen of which take the time of an entry."""

MAX_STEPS, MAX_STEPS_PER_POINT = 10_000_000, 100
"""Limit on the steps where the caller gives none; the larger of the two counts."""

MAX_ESCAPES = 100
"""Stationary points left along negative curvature before giving up."""

MAX_REFRESHES = 100
"""Exact gradients before rounding is blamed."""

MIN_TARGET = 1e-16
"""A residual smaller than this share of the unit is never asked for."""

ROUNDING_SHARE = 0.1
"""The gradient is computed afresh when v may be off by this share of the violation to reach."""

HARD_MARGIN_SHARE = 0.25
"""The residual to reach without an upper bound, in units of the tolerance: the bound on the optimum
of a hard margin falls short by twice the residual."""

COMPLEMENTARITY_SHARE = 0.5
"""What complementarity may reach of the tolerance; the rest is left for the rounding that a
rigorous bound allows for."""

MAX_TIGHTENING = 0.01
"""The residual to reach falls to no less than this share at once."""

MIN_CURVATURE_SHARE = 1e-12
"""A curvature counts as at least this share of the largest diagonal entry of H when pairs are
compared: smaller ones are rounding."""

MIN_EXCHANGE_SHARE = 1e-9
"""An exchange has to lower F by this share, far beyond rounding and far below any tolerance."""

MIN_GROWTH = 1.01
"""Growing along the ray of the weights by less is left to pair steps."""


class _Action(Enum):
    """What to do after a chunk of pair steps that does not end the descent."""

    GO_ON = "more pair steps, after a Newton step or an exact gradient where one is due"
    TIGHTEN = "ask for a smaller violation"
    REFRESH = "compute the gradient afresh"


class Descent:
    """A point of a `BoxLineQP` on its way down.

    Weights change by pair steps, many in a block of the worst violators; where these are slow, by
    Newton steps on the face of the free weights. Both decrease F for any symmetric K.
    `v` = -y∘∇F is kept up to date at all points, so that nothing ever need be examined again, and
    is computed afresh before anything is claimed and whenever its rounding, which is bounded on
    the way, could matter.

    Parameters
    ----------
    task : Task
        The program, and the limits, looked at between chunks of work.
    alpha : (n,) array
        A feasible point; changed in place.
    gradient : (n,) array, optional
        ∇F there, if it is known.
    exact : bool
        Whether that gradient was computed at this very point; claims are made from none other.
    tilt : (n,) array, optional
        Added to the linear term of the program.
    trace : Trace, optional
        Where to report; the callback of the task is asked only with one.

    Attributes
    ----------
    alpha, v, value
        The point, -y∘∇F and F.
    box, hessian, point
        The program and the point as compiled loops take them.
    rounding : float
        Bound on what rounding may have done to an entry of v.
    iterations, newton_steps, escapes, refreshes, kicks : int
        Steps of all kinds; those on a face; those out of a stationary point; exact gradients;
        kicks.
    work : float
        In entries of K read; the same on every machine.
    curvature : str
        What is known of the curvature at the end, as a clause.
    """

    def __init__(
        self,
        task: Task[BoxLineQP],
        alpha: Array,
        gradient: Array | None = None,
        exact: bool = True,
        tilt: Array | None = None,
        trace: Trace | None = None,
    ) -> None:
        from indefinite_opt.solvers.descent import _loops as smo_loops

        self.task, self.alpha, self.tilt, self.trace = task, alpha, tilt, trace
        self.qp = qp = task.structure
        self.gram = gram = qp.problem.gram
        group = (qp.problem.y < 0).astype(np.int64) * (qp.lines == 2)
        self.box = smo_loops.Box(qp.problem.y, group, qp.lines, qp.upper)
        rows = np.empty((0, qp.n)) if gram.whole is None else gram.whole
        largest = float(np.max(np.abs(gram.diagonal)))
        floor = max(MIN_CURVATURE_SHARE * qp.hessian * largest, smo_loops.MIN_DIVISOR)
        self.hessian = smo_loops.Hessian(rows, gram.diagonal, qp.hessian, floor)
        self.v = np.empty(qp.n)
        self.point = smo_loops.Point(alpha, self.v)
        self._largest = 0.0 if gram.whole is None else qp.problem.largest
        self.iterations = self.newton_steps = self.escapes = self.kicks = self._offset = 0
        self.refreshes = -1
        self.work = self._since_face = 0.0
        self.curvature = "curvature not examined"
        self._stopped = False
        self._limit = task.max_iter or max(MAX_STEPS, MAX_STEPS_PER_POINT * qp.n)
        self._set(self._exact_gradient() if gradient is None else gradient)
        self._exact = exact

    @property
    def gradient(self) -> Array | None:
        """∇F, if it was computed afresh at this very point."""
        return -self.qp.problem.y * self.v if self._exact else None

    def _exact_gradient(self) -> Array:
        self._balance()
        gradient = self.qp.gradient(self.alpha)
        if self.tilt is not None:
            gradient += self.tilt
        return gradient

    def _balance(self) -> None:
        """Give what the rounding of many steps has added to a line to the freest weight on it."""
        qp, y = self.qp, self.qp.problem.y
        for g in range(qp.lines):
            total = 0.0 if qp.lines == 1 else 0.5 * qp.total * (1.0 - 2.0 * g)
            room = np.where(self.box.group == g, np.minimum(self.alpha, qp.upper - self.alpha), 0.0)
            t = int(np.argmax(room))
            excess = float(y[self.box.group == g] @ self.alpha[self.box.group == g]) - total
            if abs(excess) < room[t]:
                self.alpha[t] -= y[t] * excess

    def _set(self, gradient: Array) -> None:
        qp = self.qp
        np.multiply(-qp.problem.y, gradient, out=self.v)
        linear: Any = qp.linear if self.tilt is None else qp.linear + self.tilt
        self.value = 0.5 * float(self.alpha @ (gradient + linear))
        self.unit = qp.gradient_unit(gradient)
        self._exact, self.rounding = True, 0.0
        self.refreshes += 1

    def to_local_minimum(self, allowance: float = np.inf) -> Status:
        """To a stationary point, and on from it as long as negative curvature shows the way.

        Parameters
        ----------
        allowance : float
            The curvature is examined if that takes no more than this share of the work so far,
            or next to nothing.
        """
        while True:
            status = self.to_stationarity()
            if status is not Status.SOLVED or self._stopped or not self._escape(allowance):
                return status
            if self.iterations >= self._limit:
                return Status.MAX_ITER
            if self.escapes >= MAX_ESCAPES:
                self.curvature = f"{MAX_ESCAPES} stationary points left along negative curvature"
                return status

    def to_stationarity(self) -> Status:
        """Steps until the first-order tests of the certificate pass, with an exact gradient.

        After every chunk of pair steps the first line of the table that applies is followed;
        `_next_action` reads it. An error says so if F has no lower bound.

        | pair steps | gradient | and                                      | action            |
        |------------|----------|------------------------------------------|-------------------|
        | converged  | exact    | complementarity within its share of tol  | SOLVED            |
        | converged  | exact    | no smaller violation can be asked for    | INACCURATE        |
        | any        | any      | the callback wants to stop               | INTERRUPTED       |
        | running    | any      | no steps are left                        | MAX_ITER          |
        | running    | any      | no time is left                          | TIME_LIMIT        |
        | running    | any      |                                          | go on             |
        | stalled    | exact    |                                          | INACCURATE        |
        | ended      | any      | too many exact gradients                 | INACCURATE        |
        | converged  | exact    |                                          | tighten           |
        | ended      | updated  |                                          | refresh           |
        """
        from indefinite_opt.solvers.descent import _loops as smo_loops

        target = self.task.tol * (HARD_MARGIN_SHARE if np.isinf(self.qp.upper) else 1.0)
        while True:
            steps = max(self._limit - self.iterations, 0)
            state, violation = self.pair_steps(target * self.unit, steps)
            self._stopped = self._report(violation / self.unit)
            if state == smo_loops.UNBOUNDED or self._grow():
                raise self._unbounded()
            # A small violation of each condition may still add up to a large gap.
            excess = np.inf
            if state == smo_loops.CONVERGED and self._exact:
                excess = self._complementarity() / (COMPLEMENTARITY_SHARE * self.task.tol)
            action = self._next_action(state, target, excess)
            if isinstance(action, Status):
                return action
            if action is _Action.TIGHTEN:
                target *= max(0.5 / excess, MAX_TIGHTENING)
            elif action is _Action.REFRESH:
                self._set(self._exact_gradient())
            else:
                if self._since_face >= PAIR_STEPS_PER_NEWTON_STEP * self.newton_work():
                    self.newton_step()
                if self.rounding > ROUNDING_SHARE * target * self.unit:
                    self._set(self._exact_gradient())

    def _next_action(self, state: int, target: float, excess: float) -> Status | _Action:
        """The table of `to_stationarity`; excess is infinite unless converged and exact."""
        from indefinite_opt.solvers.descent import _loops as smo_loops

        task, converged = self.task, state == smo_loops.CONVERGED and self._exact
        if excess <= 1.0:
            return Status.SOLVED
        if converged and target < MIN_TARGET:
            return Status.INACCURATE
        if self._stopped:
            return Status.INTERRUPTED
        if state == smo_loops.RUNNING:
            if self.iterations >= self._limit:
                return Status.MAX_ITER
            return Status.TIME_LIMIT if task.elapsed >= task.time_limit else _Action.GO_ON
        if state == smo_loops.STALLED and self._exact:
            return Status.INACCURATE
        if self.refreshes >= MAX_REFRESHES:
            return Status.INACCURATE
        return _Action.TIGHTEN if converged else _Action.REFRESH

    def _unbounded(self) -> UnboundedProblem:
        return UnboundedProblem(
            f"{self.task.formulation} is unbounded, up to rounding: no curvature opposes a "
            f"direction of the weights that {self.iterations} steps have reached. "
            "Use a finite upper bound."
        )

    def pair_steps(self, tolerance: float, steps: int) -> tuple[int, float]:
        """Blocks of pair steps for one chunk of work; state and violation."""
        from indefinite_opt.solvers.descent import _loops as smo_loops

        n, gram = self.qp.n, self.gram
        wanted = FIRST_BLOCK_SHARE * n * (1.0 + self.work / (READINGS_PER_DOUBLING * n * n))
        size = int(
            min(max(wanted, MIN_BLOCK), max(MAX_BLOCK, MAX_BLOCK_SHARE * n), n, gram.capacity)
        )
        due = PAIR_STEPS_PER_NEWTON_STEP * self.newton_work() - self._since_face
        work = max(min(due, CHUNK_WORK, max(2.0 * n * n, OVERHEAD_WORK)), 1.0)
        limits = smo_loops.Limits(tolerance, LEAVE_SHARE, steps, work)
        if gram.whole is None:
            return self._pair_steps_on_rows(size, limits)
        outcome = smo_loops.solve_blocks(
            self.hessian, self.box, self.point, limits, size, self._offset
        )
        self._take(outcome)
        return outcome.state, outcome.violation

    def _pair_steps_on_rows(self, size: int, limits: Limits) -> tuple[int, float]:
        """The same where a block has to ask for its rows of K."""
        from indefinite_opt.solvers.descent import _loops as smo_loops

        block, state, end = smo_loops.empty_block(size), smo_loops.RUNNING, self.work + limits.work
        while True:
            count, violation = smo_loops.choose_block(
                self.box, self.point, limits.violation, size, self._offset, block
            )
            if count == 0:
                return smo_loops.CONVERGED, violation
            if state != smo_loops.RUNNING or limits.steps <= 0 or self.work >= end:
                return state, violation
            chosen = smo_loops.Block(block.members[:count], block.ends)
            storage, slots = self.gram.rows(chosen.members)
            self._largest = max(self._largest, float(np.abs(storage[slots]).max()))
            hessian = self.hessian._replace(rows=storage)
            outcome = smo_loops.solve_block(
                hessian, slots, chosen, self.box, self.point, violation, limits
            )
            self._take(outcome)
            state, limits = outcome.state, limits._replace(steps=limits.steps - outcome.steps)

    def _take(self, outcome: Outcome) -> None:
        self._offset = outcome.offset
        self._count(outcome.steps, outcome.work, outcome.decrease, outcome.rounding)

    def _count(self, steps: int, work: float, decrease: float, rounding: float = 0.0) -> None:
        self._exact = self._exact and steps == 0
        # Rounding of what is added to v, and of v itself, which a step changes once.
        held = (steps + 2.0) * float(np.max(np.abs(self.v)))
        self.rounding += np.finfo(float).eps * (self._largest * rounding + 2.0 * held)
        self.iterations += steps
        self.value -= decrease
        self.work += work
        self._since_face += work

    def _free(self) -> NDArray[np.bool_]:
        return (self.alpha > 0.0) & (self.alpha < self.qp.upper)

    def _face(self, chosen: NDArray[np.bool_]) -> Face:
        return Face(self.qp, self.alpha, self.v, self.box.group, chosen)

    def _face_work(self, members: NDArray[np.bool_]) -> float:
        """Of a factorisation for some weights, and of the part of K that it needs."""
        k = float(np.count_nonzero(members))
        return CHOLESKY_WORK * k**3 + 2.0 * k**2 + k * self.qp.n + OVERHEAD_WORK

    def _largest_face(self) -> float:
        """Most weights of a face whose matrix is a few per cent of K."""
        return min(max(MAX_FACE, MAX_FACE_SHARE * self.qp.n), self.gram.capacity)

    def newton_work(self) -> float:
        """Of a Newton step from here; infinite where the face is empty or too large for one."""
        free = self._free()
        if not 0 < np.count_nonzero(free) <= self._largest_face():
            return np.inf
        return self._face_work(free)

    def newton_step(self) -> None:
        """Towards the minimum on the face, or along negative curvature to its edge.

        Nothing is done where the face is too large.
        """
        work = self.newton_work()
        if np.isinf(work):
            return
        self.work += work
        self._since_face = 0.0
        face = self._face(self._free())
        direction, curved = face.newton_direction()
        if direction is None:
            return
        reach = face.reach(direction)
        if not curved and reach >= 1.0:
            self._move(face, [face.projected(direction)])
        elif not curved:
            # The end lies outside: its projection, or the way there as far as the bounds allow.
            self._move(face, [face.projected(direction), face.edge(direction)])
        elif np.isfinite(reach):
            self._move(face, [face.edge(direction)])
        self.newton_steps += 1
        self._since_face = 0.0

    def _move(self, face: Face, goals: list[Array], least: float = 0.0) -> bool:
        """To the lowest point on the ways to some goals; whether F falls by more than least.

        F is quadratic on each way, so that its lowest point is known in closed form.
        """
        qp, members = self.qp, face.members
        y, best = qp.problem.y[members], least
        chosen: tuple[Array, float, Array] | None = None
        for goal in goals:
            change, slope, curvature = face.along(y * (goal - face.x))
            if slope < 0.0 and curvature > slope:
                continue
            length = 1.0 if curvature <= slope else slope / curvature
            decrease = length * (slope - 0.5 * length * curvature)
            if decrease > best:
                best, chosen = decrease, (goal, length, change)
        if chosen is None:
            return False
        goal, length, change = chosen
        step = goal - face.x
        if length < 1.0:
            goal = np.clip(face.x + length * step, 0.0, qp.upper)
        self.alpha[members] = goal
        self.v -= length * change
        rounding = (members.size + 2.0) * qp.hessian * float(np.abs(step).sum())
        self._count(1, float(len(goals) * members.size * qp.n), best, rounding)
        return True

    def _escape(self, allowance: float) -> bool:
        """A step away from a stationary point that is no local minimum; whether there was one.

        First the free weights are examined, then those at a bound with zero multiplier as well:
        these may move to one side only, so that negative curvature there need not lead down.

        | the face                                    | action                          |
        |---------------------------------------------|---------------------------------|
        | is too large, or examining it too much work | stay                            |
        | has no negative curvature                   | the next face, or stay          |
        | has some, and nothing bounds F along it     | raise an error                  |
        | has some, and a step along it lowers F      | leave                           |
        | has some, and no such step                  | the next face, or stay          |
        """
        qp = self.qp
        if qp.problem.known_convex(qp.lines):
            self.curvature = "the program is convex"
            return False
        if self.iterations >= self._limit:
            return False
        free = self._free()
        reduced = np.abs(self._levels[self.box.group] - self.v)
        weak = ~free & (reduced <= self.task.tol * self.unit)
        faces = [(free, "the free weights")]
        if weak.any():
            faces.append(
                (free | weak, "the free weights and those at a bound with zero multiplier")
            )
        unlimited = np.isinf(allowance)
        affordable = np.inf if unlimited else max(allowance * self.work, 2.0 * OVERHEAD_WORK)
        room = self.gram.capacity if unlimited else self._largest_face()
        for members, where in faces:
            count, work = int(members.sum()), self._face_work(members)
            if count > room or work > affordable:
                self.curvature = f"curvature not examined on {count} weights"
                return False
            self.work += work
            if self._leave(self._face(members), where):
                self.escapes += 1
                return True
        return False

    def _leave(self, face: Face, where: str) -> bool:
        """A step along negative curvature of a face, if that lowers F; says what was found."""
        if face.order == 0:
            self.curvature = "no direction is left to move in"
            return False
        direction = face.curved_direction()
        if direction is None:
            self.curvature = f"curvature nonnegative on {where}"
            return False
        self.curvature = f"curvature negative on {where}"
        qp = self.qp
        if face.is_open and not np.isfinite(face.reach(direction)):
            _, _, curvature = face.along(qp.problem.y[face.members] * direction)
            if curvature < 0.0:
                raise self._unbounded()
        mass = float(self.alpha.sum())
        terms = qp.hessian * self._largest * mass**2 + qp.tilt * mass
        return self._move(face, face.goals(direction), 4.0 * np.finfo(float).eps * terms)

    def exchange(self) -> int:
        """Whole pair steps that pay although their first moves do not; how many were made.

        One pass over K: from a stationary point a concave pair may be uphill at first and end
        lower at a bound. Ends when a pass over all pairs finds none.
        """
        from indefinite_opt.solvers.descent import _loops as smo_loops

        qp, gram = self.qp, self.gram
        if gram.whole is None or qp.lines == 0 or np.isinf(qp.upper):
            return 0
        least = MIN_EXCHANGE_SHARE * qp.gap_unit(self.value, self.alpha)
        made, decrease, rounding = smo_loops.exchange(self.hessian, self.box, self.point, least)
        self._count(int(made), float(qp.n) * (qp.n + 2.0 * made), decrease, rounding)
        return int(made)

    def kicked(self, kicks: int, steps: int, work: float) -> None:
        """Take note that alpha and v were changed by `smo_loops.kick`."""
        self.kicks += kicks
        self.iterations += steps
        self._set(-self.qp.problem.y * self.v)
        self._exact = False
        self.rounding = np.inf
        self.work += work

    def _complementarity(self) -> float:
        """Multipliers times slacks, relative to the objective, as the certificate has it."""
        from indefinite_opt.solvers.descent import _loops as smo_loops

        qp = self.qp
        total, self._levels = smo_loops.complementarity(self.box, self.point)
        return relative(float(total), qp.gap_unit(self.value, self.alpha))

    def _report(self, residual: float) -> bool:
        """Add to the trace; whether the callback wants to stop."""
        if self.trace is None:
            return False
        task = self.task
        self.trace.add(task.elapsed, self.iterations, self.qp.declared(self.value), residual)
        return bool(task.callback and task.callback(self.trace))

    def _grow(self) -> bool:
        """With u = ∞ and no fixed total: go to the minimum along the ray of the weights.

        The feasible set is then a cone, so that tα is feasible for every t > 0, with
        F(tα) = ½t²αᵀHα + t qᵀα. Whether F falls without end along it: αᵀHα ≤ 0 up to rounding.
        """
        qp, alpha = self.qp, self.alpha
        if np.isfinite(qp.upper) or qp.lines == 2 or not alpha.any():
            return False
        slope = float(np.sum(qp.linear * alpha))
        if self.tilt is not None:
            slope += float(self.tilt @ alpha)
        curvature = 2.0 * (self.value - slope)
        rounding = qp.n * np.finfo(float).eps * qp.hessian * qp.problem.largest
        if curvature <= rounding * float(alpha.sum()) ** 2:
            return slope < 0.0
        factor = -slope / curvature
        if factor > MIN_GROWTH:
            self.alpha *= factor
            self._set(self._exact_gradient())
        return False
