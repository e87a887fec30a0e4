"""Many descents over linear rows, from diverse starts and then from perturbed ends."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from indefinite_opt.errors import SolverFailed
from indefinite_opt.foundation import Array, TimeLimitReached, Values, limited, one_thread
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.local.descent.descent import MAX_SINGLE_STEPS
from indefinite_opt.quadratic.local.polyhedral.descent import (
    ActiveSetDescent,
    is_convex,
    placed,
    views,
)
from indefinite_opt.quadratic.local.polyhedral.recession import endless, falling_ray
from indefinite_opt.quadratic.local.search.iterated_search import Chain, Effort, End, IteratedSearch
from indefinite_opt.quadratic.rows.linear_rows import LinearRows
from indefinite_opt.quadratic.rows.polyhedral_qp import PolyhedralQP
from indefinite_opt.quadratic.solving.solution import Solution, Status
from indefinite_opt.quadratic.solving.solver import Task

ROW_MAX_TIE_SHARE = 1e-9
"""Relative difference up to which objectives count as equal: descents end at rounding."""

ROW_OVERHEAD_WORK = 1e8
"""Work (flops) that takes as long as a descent does outside the compiled loops, some
milliseconds."""

TILTS: tuple[float, float] = (0.05, 3.0)
"""Range of the norm of a tilt, relative to the gradient at the point or its change on the way
to another one. Over five classes of programs such tilts missed the best known value in 2 of
80 runs, steps towards random vertices in 33."""

TILTED_SHARES: tuple[float, float] = (0.05, 0.5)
"""Range of the share of variables that a tilt concerns, half of the time; else all."""

MAX_PASSES = 100
"""Most exchanges after one descent; a few are usual."""

MAX_ESCAPES = 100
"""Most stationary points that are left by a direction between weakly active constraints."""

T = TypeVar("T")


class PolyhedralSearch(IteratedSearch):
    """The search with active sets, for any rows.

    The first descent is from the given start or a feasible point, and is enough for a convex
    program. The others are from random vertices. Iterated local search follows: from the best ends
    down a randomly tilted objective (a perturbation), and down the true one again. At all ends
    edges are followed to their far ends as long as the objective is lower there.

    Parameters
    ----------
    options : Effort
        Numbers of starts and perturbations, budget and threads; see the solver `multistart`.
    task : Task
        Of a `PolyhedralQP`.

    Raises
    ------
    InfeasibleProblem, UnboundedProblem
        By `run`.
    SolverFailed
        By `run`, if the objective seems to fall without end and nothing proves it.
    """

    rounds, max_idle_rounds = 8, 4
    qp: PolyhedralQP

    def __init__(self, options: Effort, task: Task[Any]) -> None:
        super().__init__(options, task)
        self.scaled, self.units = self.qp.scaled, self.qp.units
        self.rows = LinearRows(self.scaled, lambda: task.time_limit - task.elapsed)
        self.program, self.unit = views(self.scaled), self.units.objective

    def run(self) -> Status:
        with one_thread():
            return super().run()

    def _is_convex(self) -> bool:
        return bool(self._timed(is_convex, self.scaled))

    def _settle(self) -> None:
        """Examine the second-order conditions at the best end, and go on while they fail."""
        best = self.elite[0]
        run = ActiveSetDescent(self.scaled, best.x, self.program)
        status = self._finish(run, self._steps())
        for _ in range(MAX_ESCAPES):
            if status is not Status.SOLVED or run.ray is not None:
                break
            if not run.escape(self.rows.over, self.task.seed, self._timed):
                break
            status = self._finish(run, self._steps())
        self._raise_unbounded(run.ray, run.z)
        self.iterations += run.iterations
        if run.value <= best.value + self._tie_width(best.value):
            self.elite[0] = self._end(run, status)

    def _first(self) -> Status:
        """The descent from the given or default start; a ray is sought before it."""
        task = self.task
        if task.start is None:
            run = self._begun(self.units.write(self.qp.start()))
        else:
            run = self._begun(placed(self.qp, np.asarray(task.start, dtype=float)))
        self._pool = [run.z.copy()]
        error = self._timed(falling_ray, self.qp, self.rows, next(self.generators))
        if error is not None:
            raise error
        try:
            status = self._finish(run, task.max_iter, self._visiting(run))
        except KeyboardInterrupt:
            self.elite = [self._end(run, Status.INTERRUPTED)]
            raise
        self.limit = self.options.budget_of(self.qp.n) * (run.work + 0.5 * ROW_OVERHEAD_WORK)
        self.elite = []
        self._take(self._chain_of(run, status))
        return Status.INTERRUPTED if self._report() else status

    def _visiting(self, run: ActiveSetDescent) -> Callable[[], Status | None]:
        """What the first descent asks between its steps, each of which is recorded if any is."""
        if not self.task.recording:
            return self._asked
        run.steps_at_once = 1
        self._add("start", run.end, run.value, np.nan)

        def visit() -> Status | None:
            self._add("active-set step", run.end, run.value, np.nan, run.iterations)
            if len(self.trace) >= MAX_SINGLE_STEPS:
                run.steps_at_once = MAX_SINGLE_STEPS
            return self._asked()

        return visit

    def _begun(self, z: Array) -> ActiveSetDescent:
        """A descent from a point, which is the result if the search is stopped before it ends."""
        run = ActiveSetDescent(self.scaled, z, self.program)
        self.elite = [self._end(run, Status.INTERRUPTED)]
        return run

    def _end(self, run: ActiveSetDescent, status: Status) -> End:
        return End(
            run.end.copy(), run.value, status, run.curvature, run.residual(),
            multipliers=self.units.multipliers(run.signed_multipliers(), self.qp.feasible.h.size),
        )  # fmt: skip

    def _raise_unbounded(self, ray: Array | None, start: Array) -> None:
        if ray is not None:
            raise endless(self.qp, ray, start)

    def _starts(self) -> Iterable[Callable[[np.random.Generator], Array]]:
        return itertools.repeat(self._random_vertex)

    def _random_vertex(self, generator: np.random.Generator) -> Array:
        try:
            z = self.rows.random_vertex(generator)
        except SolverFailed:  # HiGHS may see no point in units that are those of P
            z = self._vertex_of_rows(generator)
        self._pool.append(z)
        return z

    def _vertex_of_rows(self, generator: np.random.Generator) -> Array:
        """A random vertex in the units of rows and bounds, or a feasible point."""
        units = self.qp.feasible.row_units
        try:
            x = units.read(
                self.rows.over(self.qp.feasible.in_units(units)).random_vertex(generator)
            )
        except SolverFailed:
            x = self.qp.start()
        return self.units.write(x)

    def _asked(self) -> Status | None:
        """Why a descent should stop, or None."""
        return Status.INTERRUPTED if self.halt.is_set() else self.task.stop()

    def _timed(self, function: Callable[..., T], *arguments: Any) -> T:
        """A call that may take O(n³), within the time that is left, else `TimeLimitReached`."""
        left = self.task.time_limit - self.task.elapsed
        return limited(self.qp.n, left, function, *arguments)

    def _descent(self, start: Array, place: int, steps: int | None) -> Chain:
        run = ActiveSetDescent(self.scaled, start, self.program, place)
        return self._chain_of(run, self._finish(run, steps))

    def _chain_of(self, run: ActiveSetDescent, status: Status) -> Chain:
        work = run.work + 0.1 * ROW_OVERHEAD_WORK
        return Chain([self._end(run, status)], work, run.iterations, 0, run.ray)

    def _finish(
        self, run: ActiveSetDescent, steps: int | None,
        halt: Callable[[], Status | None] | None = None,
    ) -> Status:  # fmt: skip
        """Descend, and go on along edges and between weakly active constraints while that pays."""
        halt = halt or self._asked
        try:
            status = run.run(halt, steps)
            for _ in range(MAX_PASSES):
                ended = status is not Status.SOLVED or run.ray is not None
                if ended or not run.exchange(self._timed):
                    break
                status = run.run(halt, steps)
            return status
        except TimeLimitReached:
            return self._asked() or Status.TIME_LIMIT

    def _chain(
        self, end: End, allowed: float, count: int, generator: np.random.Generator, place: int,
        steps: int | None,
    ) -> Chain:  # fmt: skip
        """Perturbations from one end; each that leads to a lower point is the base of the next."""
        chain, best, z = Chain([], 0.1 * ROW_OVERHEAD_WORK), end.value, end.x
        allowed += chain.work
        while count > 0 and chain.work < allowed and self._asked() is None:
            count -= 1
            start = self._perturb(z, generator, chain, steps)
            left = None if steps is None else steps - chain.iterations
            if left is not None and left <= 0:
                break
            run = ActiveSetDescent(self.scaled, start, self.program, count)
            status = self._finish(run, left)
            chain.perturbations += 1
            chain.work += run.work + 0.1 * ROW_OVERHEAD_WORK
            chain.iterations += run.iterations
            chain.ray = run.ray
            chain.ends.append(self._end(run, status))
            if status is not Status.SOLVED or run.ray is not None:
                break
            if run.value < best - self._tie_width(best):
                best, z = run.value, run.z
        return chain

    @np.errstate(over="ignore", invalid="ignore")
    def _perturb(
        self, z: Array, generator: np.random.Generator, chain: Chain, steps: int | None
    ) -> Array:
        """The end of a descent of the objective with random terms added to q, from z.

        It is z itself if numbers overflow.
        """
        program, n = self.program, z.size
        away = self._pool[generator.integers(len(self._pool))] - z
        steep = max(np.linalg.norm(program.P @ z + program.q), np.linalg.norm(program.P @ away))
        size = np.exp(generator.uniform(*np.log(TILTS))) * float(steep) / np.sqrt(n)
        tilt = size * generator.standard_normal(n)
        if generator.random() < 0.5:
            tilt[generator.random(n) > generator.uniform(*TILTED_SHARES)] = 0.0
        q = program.q + tilt
        if not np.isfinite(q).all():
            return z
        run = ActiveSetDescent(self.scaled, z, program.with_objective(q))
        run.run(self._asked, None if steps is None else steps - chain.iterations)
        chain.work += run.work
        chain.iterations += run.iterations
        return run.z if np.isfinite(run.z).all() else z

    def _take(self, chain: Chain) -> None:
        if chain.ray is not None:  # a chain that a limit ends may have no end
            self._raise_unbounded(chain.ray, chain.ends[-1].x)
        super()._take(chain)

    def _tie_width(self, value: float) -> float:
        return ROW_MAX_TIE_SHARE * abs(value)

    def _pattern(self, z: Array) -> bytes:
        program = self.program
        values = np.concatenate([z, program.R @ z])
        with np.errstate(invalid="ignore"):
            near = self.task.tol * (1.0 + np.abs(values))
            ends = np.concatenate([values <= program.low + near, values >= program.high - near])
        return np.packbits(ends).tobytes()

    def _values(self, x: Array) -> Values:
        return self.qp.values(self.units.read(x))

    def solution(self, status: Status) -> Solution:
        if not self.elite:  # stopped before anything was done
            self._begun(self.units.write(self.qp.start()))
        qp, best = self.qp, self.elite[0]
        x = self.units.read(best.x)
        made = f"{self.descents} descents, {self.perturbations} of them after perturbations"
        return replace(
            self._solution(status, made),
            multipliers=answers.named_of_rows(qp, best.multipliers, x),
            gradient=qp.gradient(x),
        )
