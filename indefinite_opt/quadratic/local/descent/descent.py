"""Descent to a local minimum: blocks of pair steps, Newton steps on a face, negative curvature."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.core import descent as loops
from indefinite_opt.errors import SolverFailed, UnboundedProblem
from indefinite_opt.foundation import EPS, Array, cached_property
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.local.descent.computed_blocks import ComputedBlocks
from indefinite_opt.quadratic.local.descent.face import Face
from indefinite_opt.quadratic.local.descent.low_rank import columns_of, interior_optimum
from indefinite_opt.quadratic.programs.gaps import relative
from indefinite_opt.quadratic.programs.paired_qp import PairedQP
from indefinite_opt.quadratic.programs.program import Point
from indefinite_opt.quadratic.rows.no_optimum import proved_ray
from indefinite_opt.quadratic.solving.solution import Iterate, Solution, Status, Trace
from indefinite_opt.quadratic.solving.solver import Task

MAX_WHOLE, BLOCK_SHARE, MIN_BLOCK, MIN_STEPS_PER_BLOCK = 512, 1 / 8, 64, 32
"""Points up to which steps select among all of them. With more points blocks are formed, a share of
n but at least so many points, as long as blocks take that many steps."""

CHUNK_READINGS, CHUNK_WORK = 2.0, 2e7
"""Work between two reports to the trace and checks of the time, in readings of K, which are n²
entries, and the most of it in entries: some hundredths of a second."""

READINGS_BEFORE_INTERIOR, WORK_BEFORE_INTERIOR, WORK_GROWTH = 20.0, 2e7, 8.0
"""Interior points are tried after so much work, the first number in readings of K, if factors of K
have at most r columns with n·r² equal to that work, so that they take about as long; if not, again
each time the work has grown by the last number."""

MAX_STEPS, MAX_STEPS_PER_POINT = 10_000_000, 100
"""Steps by default, the larger of a number and a multiple of n."""

OVERHEAD_WORK = 5e5
"""Work of a Newton step even on an empty face; twice this may always be spent on curvature."""

PAIR_STEPS_PER_NEWTON_STEP = 2.0
"""Work of pair steps before a Newton step on the face, in units of the work of that step."""

MAX_FACE = 1280
MAX_FACE_SHARE = 0.15
"""Most weights on the face of a Newton step, the larger of a number and a share of n: its
matrix is a few per cent of K."""

WHOLE_STEP = 1.0 + 1e-6
"""A step whose optimal length is 1 up to this factor, or longer, has length 1 and ends exactly
on the bounds that it reaches."""

MAX_ESCAPES = 100
"""Most stationary points that are left along negative curvature."""

MAX_REFRESHES = 100
"""Most exact gradients; if more were needed, rounding would prevent further progress."""

MIN_TARGET = 1e-16
"""Smallest residual to reach, in units of the gradient."""

ROUNDING_SHARE = 0.1
"""The gradient is recomputed when the error of v may exceed this share of the residual to
reach."""

HARD_MARGIN_SHARE = 0.25
"""The residual to reach without an upper bound, in units of the tolerance: the bound on the
optimum of a hard margin falls short by twice the residual."""

COMPLEMENTARITY_SHARE = 0.5
"""Largest complementarity as a share of the tolerance; the rest is left for the rounding that a
rigorous bound allows for."""

MAX_TIGHTENING = 0.01
"""Smallest factor by which the residual to reach is reduced at once."""

MAX_SINGLE_STEPS = 2000
"""Steps that are recorded one by one; later ones in chunks, so that points take little memory."""

MIN_GROWTH = 1.01
"""Least factor by which the weights are scaled up at once; less is left to pair steps."""

CHOLESKY_WORK = 1.0 / 36.0
"""Work of a factorisation in units of k³: ⅓k³ flops, a dozen of which take the time of an entry."""


class Descent:
    """A descent from a feasible point of a `PairedQP` to a stationary point or local minimum.

    Weights change by pair steps, or alone if they are in no constraint; where these are slow, by
    Newton steps on the face of the free weights. Both decrease F for any symmetric K. `v` = -y∘∇F
    is updated, and recomputed before anything is claimed and whenever its rounding, for which a
    bound is kept, could matter.

    Parameters
    ----------
    task : Task
        The program, and the limits, which are checked between chunks of work.
    alpha : (n,) array
        A feasible point; changed in place.
    gradient : (n,) array, optional
        ∇F there, if it is known.
    exact : bool
        Whether that gradient was computed at this very point, as claims require.
    tilt : (n,) array, optional
        Added to the linear term of the program.
    trace : Trace, optional
        The trace to report to; without one the callback of the task is not called.

    Attributes
    ----------
    alpha, v, value
        The point, -y∘∇F and F.
    program, point
        The program and the point as the loops take them.
    rounding : float
        Bound on what rounding may have done to an entry of v.
    iterations, newton_steps, escapes, refreshes, perturbations : int
        Steps of all kinds; Newton steps; steps away from a stationary point; exact gradients;
        perturbations.
    work : float
        Work in entries of K read, the same on every machine.
    curvature : str
        What is known of the curvature at the end, as a clause.
    direction : (n,) array, optional
        Where F seems to fall without end, after an error that says so.
    """

    def __init__(
        self,
        task: Task[PairedQP],
        alpha: Array,
        gradient: Array | None = None,
        exact: bool = True,
        tilt: Array | None = None,
        trace: Trace | None = None,
    ) -> None:
        self.task, self.alpha, self.tilt, self.trace = task, alpha, tilt, trace
        self.qp = qp = task.program
        self.gram = qp.gram
        self.program = qp.pairs
        n = self.program.n
        linear = np.full(n, qp.linear, np.float64)
        self.linear = linear if tilt is None else linear + tilt
        self._endless = bool(np.isinf(qp.feasible.lower).any() or np.isinf(qp.feasible.upper).any())
        self._offset, self._undone = 0, False  # whether blocks undo each other's steps
        self._interior_due = READINGS_BEFORE_INTERIOR * n**2 + WORK_BEFORE_INTERIOR
        self.v = np.empty(n)
        self.point = loops.DescentPoint(alpha, self.v)
        self.iterations = self.newton_steps = self.escapes = self.perturbations = 0
        self.refreshes = 0
        self.work = self._since_face = 0.0
        self.curvature = "curvature not examined"
        self.direction: Array | None = None
        self._stopped = False
        self.chunk = min(max(CHUNK_READINGS * n**2, OVERHEAD_WORK), CHUNK_WORK)
        self._largest_face = min(max(MAX_FACE, MAX_FACE_SHARE * n), self.gram.capacity)
        self._limit = task.max_iter or max(MAX_STEPS, MAX_STEPS_PER_POINT * n)
        if gradient is None and alpha.any():
            self._refresh()
        else:
            self._set(self.linear if gradient is None else gradient)
            self._exact = exact

    @property
    def gradient(self) -> Array | None:
        """∇F, if it was computed at this very point, else None."""
        return -self.qp.feasible.signs * self.v if self._exact else None

    def _refresh(self) -> None:
        """Compute the gradient anew, at a point that satisfies the constraints exactly."""
        self._balance()
        gradient = self.qp.gradient(self.alpha)
        self._set(gradient if self.tilt is None else gradient + self.tilt)
        self.refreshes += 1

    def _balance(self) -> None:
        """Correct each line, off by rounding, at its largest free weight, which rounds most."""
        box = self.program
        for g, total in enumerate(self.qp.feasible.totals):
            members = slice(None) if box.tied else box.group == g
            x, y = self.alpha[members], box.y[members]
            max_step = np.minimum(x - box.lower[members], box.upper[members] - x)
            excess = float(y @ x) - total
            t = int(np.argmax(np.where(max_step > abs(excess), np.abs(x), -1.0)))
            if abs(excess) < max_step[t]:
                x[t] -= y[t] * excess
                self.alpha[members] = x

    def _set(self, gradient: Array) -> None:
        np.multiply(-self.qp.feasible.signs, gradient, out=self.v)
        self.value = 0.5 * float(self.alpha @ (gradient + self.linear))
        # What the absolute terms of an entry of Hα sum up to at most.
        terms = float(self.program.h * self.gram.largest_read * np.abs(self.alpha).sum())
        self.unit = self.qp.gradient_unit(gradient)
        if self.unit <= EPS * self.program.n * terms:
            # A gradient of rounding only is a gradient of zero, relative to its terms.
            self.unit = terms
        self._exact, self.rounding = True, 0.0

    def to_local_minimum(self, allowance: float = np.inf) -> Status:
        """Go to a stationary point, and on from it as long as negative curvature is found.

        Parameters
        ----------
        allowance : float
            The curvature is examined if that takes no more than this share of the work so far or
            twice `OVERHEAD_WORK`.
        """
        while True:
            status = self.to_stationarity()
            if status is not Status.SOLVED or self._stopped or not self._escape(allowance):
                return status
            self._visit("negative curvature")
            if self.iterations >= self._limit:
                return Status.MAX_ITER
            if self.escapes >= MAX_ESCAPES:
                self.curvature = f"{self.escapes} stationary points left along negative curvature"
                return status

    def to_stationarity(self) -> Status:
        """Go down until the first-order tests of the certificate pass with an exact gradient.

        After every chunk of pair steps the first line of the table that applies decides how to go
        on. `UnboundedProblem` is raised if F has no lower bound, and `SolverFailed` if it seems so
        but is not proved; `direction` then says where F falls.

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
        complementary = COMPLEMENTARITY_SHARE * self.task.tol
        target = self.task.tol * (HARD_MARGIN_SHARE if self._endless else 1.0)
        if self.task.recording and self.trace is not None and not self.trace.iterates:
            self._report(np.nan, "start")
        while True:
            steps = max(self._limit - self.iterations, 0)
            state, violation = self.pair_steps(target * self.unit, steps)
            self._stopped = self._report(violation / self.unit)
            endless = self._endless_step() if state == loops.UNBOUNDED else None
            if endless is None and self._endless:
                self._grow()
            if state == loops.UNBOUNDED:
                raise self.endless(endless)
            converged = state == loops.CONVERGED and self._exact
            # Small violations of many conditions may add up to a large gap.
            excess = self._complementarity() / complementary if converged else np.inf
            refreshed = self.refreshes >= MAX_REFRESHES
            status: Status | None = None
            if excess <= 1.0:
                status = Status.SOLVED
            elif converged and target < MIN_TARGET:
                status = Status.INACCURATE
            elif self._stopped:
                status = Status.INTERRUPTED
            elif state == loops.RUNNING:
                status = self.task.stop(None, self.iterations, self._limit)
            elif refreshed or (state == loops.STALLED and self._exact):
                status = Status.INACCURATE
            if status is not None:
                if not self._exact:
                    self._balance()
                return status
            if state == loops.RUNNING:
                if self.work >= self._interior_due and self.try_interior_points():
                    self._visit("interior points")
                if self._since_face >= PAIR_STEPS_PER_NEWTON_STEP * self.newton_work():
                    self.newton_step()
                    self._visit("Newton step")
                if self.rounding > ROUNDING_SHARE * target * self.unit:
                    self._refresh()
            elif converged:
                target *= max(0.5 / excess, MAX_TIGHTENING)
            else:
                self._refresh()

    def endless(self, near: Array | None) -> UnboundedProblem | SolverFailed:
        """The error for a direction of the weights in which no curvature seems to oppose F."""
        # After an infinite step the weights themselves are a direction, except for their beginning.
        self.direction = self.alpha if near is None else near
        ray = self._proved(self.direction)
        has_C = hasattr(self.task.formulation, "C")
        advice = "Use a finite C, or a smaller one." if has_C else "Add bounds."
        if ray is not None:
            return UnboundedProblem(
                f"{self.task.formulation} is unbounded along a direction of the weights that was "
                f"found after {self.iterations} steps. {advice}",
                ray,
            )
        return SolverFailed(
            f"{self.task.formulation} seems to be unbounded along a direction of the weights that "
            f"was found after {self.iterations} steps, but this is not proved. {advice}"
        )

    def _proved(self, near: Array) -> Array | None:
        """A ray near a direction, if exact arithmetic on the stored kernel matrix proves one."""
        qp, box, moved = self.qp, self.program, np.flatnonzero(near)
        if self.gram.on_demand or not moved.size:
            return None
        y, group, linear = box.y[moved], box.group[moved], np.broadcast_to(qp.linear, qp.n)
        rows = np.array([np.where(group == g, y, 0.0) for g in range(box.groups)])
        form = StandardForm(
            1, linear[moved], box.lower[moved], box.upper[moved],
            qp.feasible.totals, qp.feasible.totals, rows.reshape(-1, moved.size),
            # Without the factor h > 0, which changes no sign but rounds.
            y[:, None] * y * self.gram.block(moved, moved),
        )  # fmt: skip
        proof = proved_ray(form, near[moved])
        if proof is None:
            return None
        ray = np.zeros(qp.n)
        ray[moved] = [float(part) for part in proof.direction]
        return ray / np.max(np.abs(ray))

    def _endless_step(self) -> Array | None:
        """The direction of an infinite step of a pair or a single weight, if K is stored."""
        if self.gram.on_demand:
            return None
        box, v, K = self.program, self.v, self.gram.matrix
        rising = np.where(box.y > 0.0, box.upper, -box.lower)
        falling = np.where(box.y > 0.0, box.lower, -box.upper)
        for i in np.flatnonzero(np.isinf(rising) | np.isinf(falling)):
            step = np.zeros(v.size)
            if box.group[i] == box.groups:
                if K[i, i] <= 0.0 and np.isinf(rising[i] if v[i] > 0.0 else falling[i]):
                    step[i] = np.sign(v[i])
            else:
                others = (box.group == box.group[i]) & np.isinf(falling) & (v < v[i])
                others &= K[i, i] + np.diag(K) - 2.0 * K[i] <= 0.0
                if np.isinf(rising[i]) and others.any():
                    step[i], step[np.argmax(others)] = 1.0, -1.0
            if step.any():
                return box.y * step
        return None

    def pair_steps(self, tolerance: float, steps: int) -> tuple[int, float]:
        """One chunk of pair steps, on blocks if there are many points; state and violation.

        Blocks that are too small for all free weights may undo each other's steps.
        """
        n = self.program.n
        due = PAIR_STEPS_PER_NEWTON_STEP * self.newton_work() - self._since_face
        work = max(min(due, self.chunk), 1.0)
        size = int(max(BLOCK_SHARE * n, MIN_BLOCK))
        whole = n <= MAX_WHOLE or (self._undone and np.count_nonzero(self._free()) > size)
        exact, self._exact = self._exact, False  # an interrupt may leave v and alpha apart
        if self.gram.on_demand:
            outcome = self._computed_blocks.steps(self.point, tolerance, steps, work)
        elif whole:
            outcome = self.whole_steps(loops.SECOND_ORDER, tolerance, steps, work)
        else:
            outcome, self._offset, blocks = loops.block_steps(
                self.program, self.point, tolerance, size, self._offset, steps, work
            )
            self._undone |= outcome.steps < MIN_STEPS_PER_BLOCK * blocks
        self._exact = exact
        self._count(outcome.steps, outcome.work, outcome.decrease, outcome.rounding)
        return outcome.state, outcome.violation

    def whole_steps(
        self, rule: int, tolerance: float, steps: int, work: float
    ) -> loops.StepOutcome:
        """Pair steps that select among all points; recorded ones are made one by one.

        These are the same steps, and they end where they would end together.
        """
        n = self.program.n
        made = partial(loops.pair_steps, self.program, self.point, rule, tolerance)
        if not self._recording:
            return made(steps, work)
        whole = made(0, work)
        while whole.state == loops.RUNNING and whole.steps < steps and whole.work - n < work:
            single = self._recording
            one = made(1, 1.0) if single else made(steps - whole.steps, work + n - whole.work)
            whole = loops.StepOutcome(
                one.state, one.violation, whole.steps + one.steps, whole.decrease + one.decrease,
                whole.work + one.work - n, whole.rounding + one.rounding,
            )  # fmt: skip
            if single and one.steps:
                violation = one.violation / self.unit
                self._report(violation, "pair step", whole.steps, whole.decrease)
        return whole

    @cached_property
    def _computed_blocks(self) -> ComputedBlocks:
        from indefinite_opt.quadratic.local.descent.computed_blocks import ComputedBlocks

        task = self.task
        return ComputedBlocks(self.program, self.gram, lambda: task.elapsed >= task.time_limit)

    def try_interior_points(self) -> bool:
        """Go where interior points lead, if K = FFᵀ for few columns; False unless F is lower.

        Such kernels, as linear ones of few features, are singular on all larger faces, so that pair
        steps are many where the bounds are large; the number of interior points hardly depends on
        them.
        """
        qp, n, work, self._interior_due = self.qp, self.qp.n, self._interior_due, np.inf
        if self.tilt is not None or not (qp.problem is not None and qp.feasible.is_bounded):
            return False
        F = columns_of(self.gram, min(int((work / n) ** 0.5), n // 2, self.gram.capacity))
        if F is None:
            self._interior_due = WORK_GROWTH * work
            return False
        seconds, most = self.task.time_limit - self.task.elapsed, self._limit - self.iterations
        best, steps = interior_optimum(qp, F, self.task.tol, most, max(seconds, 0.0))
        self.iterations += steps
        if best is None or qp.value(best) >= self.value:
            return False
        self._exact = False  # an interrupt may leave v and alpha apart
        self.alpha[:] = best
        self._refresh()
        return True

    def _count(self, steps: int, work: float, decrease: float, rounding: float = 0.0) -> None:
        self._exact = self._exact and steps == 0
        # The rounding of what is added to v, and that of v itself once per step.
        held = (steps + 2.0) * float(np.max(np.abs(self.v)))
        self.rounding += EPS * (self.gram.largest_read * rounding + 2.0 * held)
        self.iterations += steps
        self.value -= decrease
        self.work += work
        self._since_face += work

    def _free(self) -> NDArray[np.bool_]:
        return (self.alpha > self.program.lower) & (self.alpha < self.program.upper)

    def _face_work(self, members: NDArray[np.bool_]) -> float:
        """Work of a factorisation for some weights and of reading its part of K."""
        k, n = float(np.count_nonzero(members)), self.program.n
        computing = loops.COMPUTING_WORK * (2.0 * k * n + k**2)
        reading = computing if self.gram.on_demand else k * n
        return CHOLESKY_WORK * k**3 + 2.0 * k**2 + reading + OVERHEAD_WORK

    def newton_work(self) -> float:
        """Work of a Newton step from here; infinite if the face is empty or too large."""
        free = self._free()
        if not 0 < np.count_nonzero(free) <= self._largest_face:
            return np.inf
        return self._face_work(free)

    def newton_step(self) -> None:
        """Go towards the minimum on the face, or along negative curvature to its boundary.

        Nothing is done if the face is empty or too large.
        """
        work = self.newton_work()
        if np.isinf(work):
            return
        self.work += work
        self._since_face = 0.0
        face = Face(self.gram, self.program, self.point, self._free())
        direction, curved = face.newton_direction()
        if direction is None:
            return
        goals = [] if curved else [face.projected(direction)]
        if face.reach(direction) < (np.inf if curved else 1.0):
            goals.append(face.edge(direction))
        if goals:
            self._move(face, goals)
        self.newton_steps += 1
        self._since_face = 0.0

    def _move(self, face: Face, goals: list[Array], least: float = 0.0) -> bool:
        """Go to the lowest point on the segments to some goals; False unless F falls by `least`.

        F is quadratic on each segment, where its minimum is known in closed form.
        """
        members, best = face.members, least
        chosen: tuple[Array, float, Array] | None = None
        found = face.along([goal - face.x for goal in goals])
        for goal, (change, slope, curvature) in zip(goals, found, strict=True):
            if slope < 0.0 and curvature > slope:
                continue
            length = 1.0 if curvature <= WHOLE_STEP * slope else slope / curvature
            decrease = length * (slope - 0.5 * length * curvature)
            if decrease > best:
                best, chosen = decrease, (goal, length, change)
        if chosen is None:
            return False
        goal, length, change = chosen
        step = goal - face.x
        if length < 1.0:
            goal = np.clip(face.x + length * step, face.lower, face.upper)
        self.alpha[members] = goal
        self.v -= length * change
        rounding = (members.size + 2.0) * self.program.h * float(np.abs(step).sum())
        self._count(1, float(len(goals) * members.size * self.qp.n), best, rounding)
        return True

    def _escape(self, allowance: float) -> bool:
        """A step away from a stationary point that is not a local minimum; False without one.

        First the free weights are examined, then those at a bound with zero multiplier as well:
        these can move in one direction only, so that F need not decrease along negative curvature.

        | the face                                    | action                          |
        |---------------------------------------------|---------------------------------|
        | is too large, or examining it too much work | stay                            |
        | has no negative curvature                   | the next face, or stay          |
        | has some, and nothing bounds F along it     | raise an error                  |
        | has some, and a step along it lowers F      | leave                           |
        | has some, and no such step                  | the next face, or stay          |
        """
        if self.qp.known_convex:
            self.curvature = "the program is convex"
            return False
        if self.iterations >= self._limit:
            return False
        free = self._free()
        weak = ~free & (np.abs(self._reduced) <= self.task.tol * self.unit)
        faces = [(free, "the free weights")]
        if weak.any():
            faces.append(
                (free | weak, "the free weights and those at a bound with zero multiplier")
            )
        unlimited = np.isinf(allowance)
        affordable = max(allowance * self.work, 2.0 * OVERHEAD_WORK)
        most = self.gram.capacity if unlimited else self._largest_face
        for members, where in faces:
            count, work = int(members.sum()), self._face_work(members)
            if count > most or work > affordable:
                self.curvature = f"curvature not examined on {count} weights"
                return False
            self.work += work
            if self._leave(Face(self.gram, self.program, self.point, members), where):
                self.escapes += 1
                return True
        return False

    def _leave(self, face: Face, where: str) -> bool:
        """A step along negative curvature of a face, if that lowers F; sets `curvature`."""
        if face.order == 0:
            self.curvature = "no direction is left to move in"
            return False
        direction = face.curved_direction()
        if direction is None:
            self.curvature = f"curvature nonnegative on {where}"
            return False
        self.curvature = f"curvature negative on {where}"
        if face.is_open and not np.isfinite(face.reach(direction)):
            ((_, _, curvature),) = face.along([direction])
            if curvature < 0.0:
                endless = np.zeros(self.qp.n)
                endless[face.members] = direction
                raise self.endless(endless)
        mass = float(np.abs(self.alpha).sum())
        terms = self.program.h * self.gram.largest_read * mass**2 + self.qp.linear_size * mass
        return self._move(face, face.goals(direction), 4.0 * EPS * terms)

    def perturbed(self, perturbations: int, steps: int, work: float) -> None:
        """Record that `perturb` has changed alpha and v."""
        self.perturbations += perturbations
        self.iterations += steps
        self._set(-self.qp.feasible.signs * self.v)
        self._exact = False
        self.rounding = np.inf
        self.work += work

    def solution(self, status: Status, message: str) -> Solution:
        """The point, with what is known of it."""
        return Solution(
            values=self.qp.values(self.alpha),
            status=status,
            iterations=self.iterations,
            trace=Trace() if self.trace is None else self.trace,
            message=message,
            gradient=self.gradient,
        )

    def _complementarity(self) -> float:
        """Multipliers times slacks, relative to the objective, as in the certificate."""
        qp, first_order = (
            self.qp,
            self.qp.feasible.first_order(self.alpha, -self.qp.feasible.signs * self.v),
        )
        self._reduced = first_order.reduced
        total = qp.feasible.complementarity(self.alpha, first_order.lower, first_order.upper)
        return relative(
            total, self.task.unit(Point(self.alpha, self.value, -self.qp.feasible.signs * self.v))
        )

    def _report(
        self, residual: float, step: str = "pair steps", made: int = 0, decrease: float = 0.0
    ) -> bool:
        """Add to the trace; True if the callback asks to stop.

        `step` is the word for what was done, of which `made` steps and what they have lowered F by
        are not counted yet.
        """
        if self.trace is None:
            return False
        task, value, iterate = self.task, self.qp.declared(self.value - decrease), None
        if task.recording:
            iterate = Iterate(step, self.qp.values(self.alpha.copy()), value)
        self.trace.add(task.elapsed, self.iterations + made, value, residual, iterate=iterate)
        return bool(task.callback and task.callback(self.trace))

    @property
    def _recording(self) -> bool:
        """Whether single steps are recorded."""
        if self.trace is None or not self.task.recording:
            return False
        return len(self.trace.iterates) < MAX_SINGLE_STEPS

    def _visit(self, step: str) -> None:
        """Report a point between two checks, if single steps are recorded."""
        if self._recording:
            self._report(np.nan, step)

    def _grow(self) -> None:
        """Go to the minimum along the ray of the weights that have no bound.

        The weights, except for those that are bounded, are a direction d of the feasible set if
        they satisfy the constraints with totals zero. `UnboundedProblem` is raised if F has no
        minimum along it: dᵀHd ≤ 0 up to rounding.
        """
        qp, box, alpha = self.qp, self.program, self.alpha
        endless = np.where(alpha > 0.0, np.isinf(box.upper), np.isinf(box.lower)) & (alpha != 0.0)
        if not endless.any():
            return
        direction = np.where(endless, alpha, 0.0)
        mass = np.bincount(box.group, np.abs(direction), box.groups + 1)[: box.groups]
        held = np.bincount(box.group, box.y * direction, box.groups + 1)[: box.groups]
        eps = EPS
        if np.any(np.abs(held) > (qp.n + 2.0) * eps * mass):
            return
        gradient, size = -box.y * self.v, float(np.abs(direction).sum())
        everything = np.array_equal(direction, alpha)
        image = gradient - self.linear if everything else qp.hessian_times(direction)
        slope, curvature = float(gradient @ direction), float(image @ direction)
        rounding = qp.n * eps * qp.hessian * qp.gram.largest * size**2
        if curvature <= rounding:
            if curvature < -rounding or slope < -self.task.tol * self.unit * size:
                raise self.endless(direction)
            return
        factor = 1.0 - slope / curvature
        if factor > MIN_GROWTH:
            self.alpha += (factor - 1.0) * direction
            self._refresh()
