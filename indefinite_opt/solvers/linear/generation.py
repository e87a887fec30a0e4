"""Linear programs by generation of rows and columns, the restricted ones by interior points."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import SolverFailed
from indefinite_opt.foundation.interruptible import LONG, TimeLimitReached, within
from indefinite_opt.foundation.threads import one_thread
from indefinite_opt.modeling.gaps import relative
from indefinite_opt.modeling.highs_model import new_highs
from indefinite_opt.modeling.structures.quadratic_program import LinearProgram, power_near
from indefinite_opt.solvers.linear.row_form import MatrixGame, matrix_game
from indefinite_opt.solvers.solution import Claim, Solution, Status, Trace
from indefinite_opt.solvers.solver import Solver, Task

__all__ = ["Generation"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]

_LEAST_BATCH, _BATCH = 50, 0.05
"""Rows to begin with and to add at a time: this share of all, but not fewer than these. At n = 2000
twice the share is slower where few rows matter, and faster where nearly all do."""

_PRICE, _EVERY = 0.5, 5
"""Price when the restricted gap is this share of the whole one, and every so many steps."""

_NEAR, _IDLE, _WORTH = 0.1, 1e-3, 0.85
"""Within this relative gap rows whose multiplier is this share of the largest are left out again,
once, if that leaves no more than this share of the rows."""

_PAUSE = 4
"""Steps between two removals, so that new rows can show what they are good for."""

_BOUNDARY = 0.995
"""Share of the way to the boundary that a step may go."""

_NEGLIGIBLE = 1e-10
"""Columns with a smaller weight, relative to the largest, are left out of the preconditioner."""

_REFINEMENTS, _SOLVED = 5, 1e-9
"""Most conjugate gradient steps on a system of a step, and the relative residual that will do."""

_CENTRE = 0.05
"""Least share of the present complementarity to aim at: rows that join late need the room."""

_FAR = 100.0
"""No row is left out within so many tolerances, where finding it again costs more."""

_SHIFT = 1e-13
"""Added to the unit diagonal of the scaled normal matrix: repeated rows make it singular."""

_FEASIBLE = 1e-9
"""Relative violation of a row in a point that counts: far below any sensible tolerance."""

_ROUNDING = 2.0**-52
"""Relative rounding of a number."""

_SHORT, _SHORT_STEPS = 1e-5, 5
"""Steps shorter than this, so many in a row, are no progress."""

_SIMPLEX = 2
"""Simplex iterations per row and column, beside 1000, on each restricted program."""

_GRACE = 0.5
"""Seconds beyond its own time limit before HiGHS is no longer waited for."""

_INTERIOR_STEPS = 200
"""Interior steps before the simplex method takes over; 20 to 70 are usual."""


class Generation(Solver):
    """Row and column generation from central points, for large dense programs.

    A program is read as min fᵀv s.t. lo ≤ Gv ≤ hi on a box, turned round if it has more columns
    than rows (`matrix_game`), so that one kind of generation serves both. Rows of G join the
    restricted program while Mehrotra's predictor-corrector steps (1992) go on: at central points
    the multipliers do not swing from vertex to vertex as those of the simplex method do, which is
    all the stabilisation there is (Gondzio, González-Brevis & Munari 2013). A step with k rows
    costs O(k²n). The gap is that of the whole program: each pricing makes a feasible point, and
    the bound is the formulation's own.

    Where the interior is empty or steps become too short, the simplex method of HiGHS goes on with
    the rows there are, and rows are added to its live model; the message says so.
    """

    name = "generation"
    accepts = (LinearProgram,)
    needs_convex = True
    claims = Claim.GLOBAL

    def solve(self, task: Task) -> Solution:
        run = _Run(task)
        try:
            with one_thread():  # two were half as fast on two cores at n = 2000
                status = run.solve()
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        return run.solution(status)


class _Run:
    """The best point and the best bound of the whole program, and the rows in use.

    `asked` is the program as it was declared; everything else is done in units about 1.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.asked = cast("LinearProgram", task.structure)
        self.program = self.asked.rescaled()
        self.trace = Trace()
        self.steps = self.simplex = self.calls = 0
        self.x: Array | None = None
        self.value, self.bound = np.inf, -np.inf
        self.multipliers: dict[str, Array] = {}
        self.used = self.all = 0

    def solve(self) -> Status:
        self.game = game = matrix_game(self.program)
        self.all = game.row_lower.size
        self.batch = max(_LEAST_BATCH, int(_BATCH * self.all))
        v, nothing = game.start(), np.zeros(self.all)
        activity = game.G @ v
        chosen = self._worst(game.violation(activity), np.ones(self.all, bool))
        self.evaluate(v, np.zeros(game.e.size), nothing, activity)
        status = self.report()
        if status is None and game.has_interior:
            if self.x is not None:
                v = _inside(game, v, self.program.write(self.asked.read(self.x)))
            status, chosen = self._interior(_Interior(game, v, chosen))
        return self._simplex(chosen) if status is None else status

    # ------------------------------------------------------------------------ interior points

    def _interior(self, centre: _Interior) -> tuple[Status | None, Indices]:
        """Interior steps on ever better chosen rows; no status if they get nowhere."""
        outside = np.ones(self.all, bool)
        outside[centre.chosen] = False
        returned = np.zeros(self.all, bool)
        short, removed, self.used = 0, 0, centre.chosen.size
        for step in range(1, _INTERIOR_STEPS + 1):
            if not centre.step():
                break
            self.steps += 1
            short = short + 1 if centre.length < _SHORT else 0
            if short > _SHORT_STEPS:
                break
            due = centre.gap < _PRICE * self.gap or step % _EVERY == 0
            status = None
            if due:
                activity = self.game.G @ centre.v
                y = centre.spread(self.all)
                self.evaluate(centre.v, centre.eq, y, activity)
            status = self.report()
            if status is not None:
                return status, centre.chosen
            if not due:
                continue
            idle = centre.idle() & ~returned[centre.chosen]
            worth = idle.sum() > (1.0 - _WORTH) * idle.size
            if worth and self._may_leave() and step - removed > _PAUSE:
                returned[centre.chosen[idle]] = outside[centre.chosen[idle]] = True
                centre.remove(idle)
                removed = step
                continue
            found = self._worst(self.game.violation(activity), outside, above=0.0)
            if found.size:
                outside[found] = False
                centre.add(found, activity[found])
            self.used = max(self.used, centre.chosen.size)
        return None, centre.chosen

    def _may_leave(self) -> bool:
        """Whether multipliers are good enough to tell idle rows, and the end is not too near."""
        if self.x is None:
            return False
        size = self.asked.gap_unit(self.value, self.x)
        return _FAR * self.task.tol * size < self.gap <= _NEAR * abs(self.value)

    def _worst(self, violation: Array, among: Mask, above: float = -np.inf) -> Indices:
        """The most violated rows, one batch at most."""
        candidates = np.flatnonzero(among & (violation > above))
        order = np.argsort(-violation[candidates], kind="stable")
        return candidates[order[: self.batch]]

    # --------------------------------------------------------------------------------- simplex

    def _simplex(self, chosen: Indices) -> Status:
        """The restricted program by the simplex method, rows added to the live model."""
        game, model = self.game, _Model(self.game)
        outside = np.ones(self.all, bool)
        while True:
            model.add(chosen)
            outside[chosen] = False
            self.used = max(self.used, self.all - int(outside.sum()))
            limit = _SIMPLEX * (game.cost.size + model.chosen.size) + 1000
            if self.task.max_iter is not None:
                limit = max(self.task.max_iter - self.steps - self.simplex, 0)
            try:
                outcome = model.run(self.task.remaining, limit)
            except TimeLimitReached:
                return Status.TIME_LIMIT
            self.simplex += model.iterations
            if model.v is not None:
                activity = game.G @ model.v
                self.evaluate(model.v, model.eq, model.spread(self.all), activity)
                chosen = self._worst(game.violation(activity), outside, above=0.0)
            status = self.report()
            if status is not None:
                return status
            if outcome is not Status.SOLVED:
                if outcome is not Status.INACCURATE or not outside.any():
                    return outcome
                # Too few rows can leave the restricted program unbounded.
                chosen = np.flatnonzero(outside)
            elif chosen.size == 0:
                return Status.INACCURATE

    # -------------------------------------------------------------------------------- results

    @property
    def gap(self) -> float:
        """Between the best point and the best bound."""
        return self.value - self.bound

    def evaluate(self, v: Array, eq: Array, y: Array, activity: Array) -> None:
        """Keep the feasible point and the bound that v and its multipliers make, if better."""
        game, program = self.game, self.program
        self.calls += 1
        x = game.point(v, eq, y, activity)
        if game.defect(x, v, activity) <= _FEASIBLE:
            x = self.asked.repaired(self.asked.write(program.read(x)))
            value = float(self.asked.cost @ x)
            if value < self.value:
                self.x, self.value = x, value
        rows = game.rows(v, eq, y)
        multipliers = program.read_multipliers(rows, program.cost - program.matrix.T @ rows)
        bound = self.task.formulation.dual_bound(self.task.problem, multipliers)
        if bound > self.bound or not self.multipliers:
            self.bound, self.multipliers = bound, multipliers

    def report(self) -> Status | None:
        """One line of the trace; why to stop here, if there is a reason."""
        task, sense = self.task, self.program.sense
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
        if task.callback and task.callback(self.trace):
            return Status.INTERRUPTED
        if task.max_iter is not None and self.steps + self.simplex >= task.max_iter:
            return Status.MAX_ITER
        return Status.TIME_LIMIT if task.elapsed >= task.time_limit else None

    def solution(self, status: Status) -> Solution:
        """The best point, with the multipliers of the best bound."""
        if self.x is None:
            # Stopped before there was anything better; most formulations can repair any point.
            zero = self.asked.repaired(np.zeros(self.asked.cost.size))
            self.x = zero if self.asked.infeasibility(zero) <= _FEASIBLE else None
        if self.x is None:
            raise SolverFailed(f"generation found no feasible point of {self.task.formulation}")
        message = f"{self.used} of {self.all} rows, {self.steps} interior steps"
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


def _inside(game: MatrixGame, v: Array, x: Array) -> Array:
    """v with its free entries where the first feasible point has them, if they are its own."""
    if x.size != v.size:
        return v
    return np.where(game.free, x, v)


class _Interior:
    """Mehrotra's method on the restricted program in w = (v, s), Ev = e, G_R v - s = 0.

    Attributes
    ----------
    chosen : (k,) array of int
        R, the rows in use.
    w, low, high : (n + k,) arrays
        Variables and slacks, and their bounds.
    below, above : (n + k,) arrays
        Multipliers of the bounds, zero where there is none.
    dual : (e + k,) array
        Multipliers of the equalities and of the rows in use.
    length : float
        Of the last step, the shorter one of primal and dual.
    """

    def __init__(self, game: MatrixGame, v: Array, chosen: Indices) -> None:
        self.game, self.chosen = game, chosen
        self.rows = np.vstack([game.E, game.G[chosen]])
        self.kept, self.length = game.e.size, 1.0
        activity = game.G[chosen] @ v
        self.low = np.concatenate([game.lower, game.row_lower[chosen]])
        self.high = np.concatenate([game.upper, game.row_upper[chosen]])
        self._masks()
        largest = float(np.max(np.abs(activity), initial=0.0)) or 1.0
        slack = self._slack(chosen, activity, 1e-2 * largest)
        self.w = np.concatenate([v, slack])
        cost = float(np.max(np.abs(game.cost))) or 1.0
        # With a free column the multipliers of the rows share its cost, as the odds of a game do.
        unit = cost / chosen.size if game.free.any() else 0.1 * cost
        boxed = float(np.max(np.abs(game.cost[~game.free]), initial=0.0))
        first = np.where(game.free, 0.0, max(boxed, 0.1 * largest))
        every = np.concatenate([first, np.full(chosen.size, unit)])
        self.below, self.above = every * self.has_low, every * self.has_high
        self.dual = np.concatenate([np.zeros(self.kept), (self.below - self.above)[v.size :]])

    @property
    def v(self) -> Array:
        """Variables without slacks, (n,)."""
        return self.w[: self.game.cost.size]

    @property
    def eq(self) -> Array:
        """Multipliers of the equalities."""
        return self.dual[: self.kept]

    @property
    def gap(self) -> float:
        """Complementarity, the gap of the restricted program where it is feasible."""
        over, under = self._distances()
        return float(self.below @ over + self.above @ under)

    def spread(self, count: int) -> Array:
        """Multipliers of all rows of G, zero for those not in use."""
        y = np.zeros(count)
        y[self.chosen] = self.dual[self.kept :]
        return y

    def idle(self) -> Mask:
        """Rows in use whose multipliers hardly count."""
        weight = (self.below + self.above)[self.game.cost.size :]
        return weight <= _IDLE * weight.max()

    def add(self, rows: Indices, activity: Array) -> None:
        """Take rows into use, their slacks a median distance inside, their multipliers central."""
        n = self.game.cost.size
        over, under = self._distances()
        mean = self.mean
        nearest = np.minimum(
            np.where(self.has_low, over, np.inf), np.where(self.has_high, under, np.inf)
        )[n:]
        # Never zero, where a slack would have no inside.
        distance = max(float(np.median(nearest)), 1e-12)
        slack = self._slack(rows, activity, distance)
        low, high = self.game.row_lower[rows], self.game.row_upper[rows]
        self.below = np.concatenate([self.below, mean / (slack - low)])
        self.above = np.concatenate([self.above, mean / (high - slack)])
        self.w = np.concatenate([self.w, slack])
        self.low, self.high = np.concatenate([self.low, low]), np.concatenate([self.high, high])
        self.dual = np.concatenate([self.dual, (self.below - self.above)[-rows.size :]])
        self.rows = np.vstack([self.rows, self.game.G[rows]])
        self.chosen = np.concatenate([self.chosen, rows])
        self._masks()

    def remove(self, idle: Mask) -> None:
        """Leave rows out again."""
        stays = np.concatenate([np.ones(self.game.cost.size, bool), ~idle])
        for name in ("w", "low", "high", "below", "above"):
            setattr(self, name, getattr(self, name)[stays])
        rows = np.concatenate([np.ones(self.kept, bool), ~idle])
        self.dual, self.rows = self.dual[rows], self.rows[rows]
        self.chosen = self.chosen[~idle]
        self._masks()

    def step(self) -> bool:
        """One predictor-corrector step; False where the normal matrix cannot be factorised."""
        over, under = self._distances()
        weights = self.below / over + self.above / under
        normal = _Normal.make(self.rows, weights, self.kept, self.game.free)
        if normal is None:
            return False
        residual, lack = self._residuals()
        first, second = self.below * over, self.above * under

        def newton(low: Array, high: Array) -> tuple[Array, Array, Array, Array]:
            """(dw, ddual, dbelow, dabove): products of bounds and multipliers change by these."""
            dw, ddual = normal.solve(low / over - high / under - residual, lack)
            return dw, ddual, (low - self.below * dw) / over, (high + self.above * dw) / under

        dw, _, dbelow, dabove = newton(-first, -second)
        primal, dual = self._longest(dw, dbelow, dabove)
        after = float(
            (self.below + dual * dbelow)[self.has_low] @ (over + primal * dw)[self.has_low]
            + (self.above + dual * dabove)[self.has_high] @ (under - primal * dw)[self.has_high]
        )
        target = max((after / self.gap) ** 3, _CENTRE) * self.mean
        dw, ddual, dbelow, dabove = newton(
            (target - first - dbelow * dw) * self.has_low,
            (target - second + dabove * dw) * self.has_high,
        )
        primal, dual = self._longest(dw, dbelow, dabove)
        primal, dual = min(1.0, _BOUNDARY * primal), min(1.0, _BOUNDARY * dual)
        if not np.all(np.isfinite(dw)) or not np.all(np.isfinite(ddual)):
            return False
        self.w, self.dual = self.w + primal * dw, self.dual + dual * ddual
        self.below, self.above = self.below + dual * dbelow, self.above + dual * dabove
        self.length = min(primal, dual)
        self._onto_equalities(normal)
        return True

    def _onto_equalities(self, normal: _Normal) -> None:
        """Move v onto Ev = e in the norm of Θ: rounding in a step must not cost feasibility."""
        if not self.kept:
            return
        rows, n = self.game.E, self.game.cost.size
        scaled = rows * normal.inverse[:n]
        lack = self.game.e - rows @ self.v
        move = np.zeros(self.w.size)
        move[:n] = np.linalg.lstsq(scaled @ rows.T, lack, rcond=None)[0] @ scaled
        nothing = np.zeros(self.w.size)
        reach, _ = self._longest(move, nothing, nothing)
        self.w = self.w + min(1.0, _BOUNDARY * reach if reach < 1.0 else 1.0) * move

    @property
    def mean(self) -> float:
        """Complementarity of one bound."""
        return self.gap / max(int(self.has_low.sum() + self.has_high.sum()), 1)

    def _residuals(self) -> tuple[Array, Array]:
        """Of stationarity in w, and of the equalities."""
        n = self.game.cost.size
        stationarity = self.above - self.below
        stationarity[:n] += self.game.cost - self.dual @ self.rows
        stationarity[n:] += self.dual[self.kept :]
        lack = -(self.rows @ self.v)
        lack[: self.kept] += self.game.e
        lack[self.kept :] += self.w[n:]
        return stationarity, lack

    def _longest(self, dw: Array, dbelow: Array, dabove: Array) -> tuple[float, float]:
        """Steps to the boundary, primal and dual, at most 1."""
        over, under = self._distances()
        low, high = self.has_low, self.has_high
        primal = min(_reach(over[low], dw[low]), _reach(under[high], -dw[high]))
        dual = min(_reach(self.below[low], dbelow[low]), _reach(self.above[high], dabove[high]))
        return primal, dual

    def _distances(self) -> tuple[Array, Array]:
        """To the lower and to the upper bounds, 1 where there is none."""
        # Beside its bound w has few digits: a distance is never less than their rounding.
        least = _ROUNDING * (np.abs(self.w) + _ROUNDING)
        over = np.where(self.has_low, np.maximum(self.w - self.low, least), 1.0)
        return over, np.where(self.has_high, np.maximum(self.high - self.w, least), 1.0)

    def _slack(self, rows: Indices, activity: Array, distance: float) -> Array:
        """Slacks at the activity, or where that is too near the ends of the row, inside."""
        low, high = self.game.row_lower[rows], self.game.row_upper[rows]
        margin = np.minimum(distance, 0.25 * (high - low))
        return np.clip(activity, low + margin, high - margin)

    def _masks(self) -> None:
        self.has_low, self.has_high = np.isfinite(self.low), np.isfinite(self.high)


def _reach(x: Array, dx: Array) -> float:
    """Largest t ≤ 1 with x + t·dx ≥ 0."""
    falling = dx < 0.0
    return min(1.0, float(np.min(-x[falling] / dx[falling], initial=1.0)))


class _Normal:
    """Factors of the normal matrix M = B Θ⁻¹ Bᵀ, bordered by the free columns.

    B = (rows of E and G_R, -I for the slacks), Θ the weights of the bounds.
    """

    def __init__(
        self, rows: Array, inverse: Array, kept: int, free: Mask, factor: Array, scale: Array
    ) -> None:
        self.rows, self.inverse, self.kept = rows, inverse, kept
        self.factor, self.scale = factor, scale
        self.free = np.flatnonzero(free)
        self.border = rows[:, self.free]
        self.crossed = self._apply(self.border)
        self.corner = self.border.T @ self.crossed

    @classmethod
    def make(cls, rows: Array, weights: Array, kept: int, free: Mask) -> _Normal | None:
        """None where rounding has made M indefinite."""
        import scipy.linalg

        n = free.size
        inverse = np.zeros(weights.size)
        bounded = np.concatenate([~free, np.ones(weights.size - n, bool)])
        if not np.all(np.isfinite(weights)) or not np.all(weights[bounded] > 0.0):
            return None
        inverse[bounded] = 1.0 / weights[bounded]
        columns = inverse[:n]
        counted = columns > _NEGLIGIBLE * columns.max(initial=0.0)
        # What is left out here, the refinement of each solution knows.
        scaled = rows[:, counted] * np.sqrt(columns[counted])
        matrix = scaled @ scaled.T
        diagonal = np.einsum("ii->i", matrix)
        diagonal[kept:] += inverse[n:]
        if not np.all(np.isfinite(diagonal)):
            return None
        scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
        matrix *= scale[:, None]
        matrix *= scale
        diagonal[:] = 1.0 + _SHIFT
        try:
            # The transpose of a symmetric matrix is in the order that LAPACK overwrites.
            factor = scipy.linalg.cholesky(
                matrix.T, lower=True, overwrite_a=True, check_finite=False
            )
            return cls(rows, inverse, kept, free, factor, scale)
        except np.linalg.LinAlgError:
            return None

    def solve(self, pull: Array, lack: Array) -> tuple[Array, Array]:
        """(dw, ddual) with Θdw - Bᵀddual = pull and B dw = lack."""
        n = self.rows.shape[1]
        slack = self.inverse[n:] * pull[n:]
        right = lack - self.rows @ (self.inverse[:n] * pull[:n])
        right[self.kept :] += slack
        ddual = self._refined(right)
        moved = np.zeros(self.free.size)
        if self.free.size:
            right = self.border.T @ ddual + pull[self.free]
            moved = np.asarray(np.linalg.solve(self.corner, right), dtype=np.float64)
            ddual -= self.crossed @ moved
        dw = np.concatenate(
            [
                self.inverse[:n] * (pull[:n] + ddual @ self.rows),
                self.inverse[n:] * (pull[n:] - ddual[self.kept :]),
            ]
        )
        dw[self.free] = moved
        return dw, ddual

    def _refined(self, right: Array) -> Array:
        """M⁻¹ times a vector, with conjugate gradients for what rounding and left-out columns cost.

        All of M counts here; its factors are the preconditioner.
        """
        n = self.rows.shape[1]
        solved = self._apply(right)
        wanted = _SOLVED * float(np.linalg.norm(self.scale * right))
        direction, before = np.zeros_like(right), np.inf
        rest = right - self._times(solved, n)
        for _ in range(_REFINEMENTS):
            if float(np.linalg.norm(self.scale * rest)) <= wanted:
                break
            ahead = self._apply(rest)
            product = float(rest @ ahead)
            direction = ahead + product / before * direction
            image = self._times(direction, n)
            curvature = float(direction @ image)
            if not (product > 0.0 and curvature > 0.0):
                break
            solved = solved + product / curvature * direction
            rest = rest - product / curvature * image
            before = product
        return solved

    def _times(self, dual: Array, n: int) -> Array:
        """M times a vector."""
        image = self.rows @ (self.inverse[:n] * (dual @ self.rows))
        image[self.kept :] += self.inverse[n:] * dual[self.kept :]
        return image

    def _apply(self, right: Array) -> Array:
        """M⁻¹ times a vector or the columns of a matrix."""
        import scipy.linalg

        scale = self.scale if right.ndim == 1 else self.scale[:, None]
        solved = scipy.linalg.cho_solve((self.factor, True), scale * right, check_finite=False)
        return np.asarray(scale * solved)


class _Model:
    """The restricted program in HiGHS: all columns, the equalities, and rows added one by one."""

    def __init__(self, game: MatrixGame) -> None:
        self.game, self.chosen = game, np.empty(0, dtype=np.intp)
        self.v: Array | None = None
        self.eq, self._y = np.zeros(game.e.size), np.empty(0)
        self.iterations = 0
        self.highs = highs = new_highs()
        # A kernel matrix has no rows to remove.
        highs.setOptionValue("presolve", "off")
        columns = np.arange(game.cost.size, dtype=np.int32)
        highs.addVars(columns.size, game.lower, game.upper)
        # The least price is about 1, so that the tolerances of HiGHS hold for small ones, too.
        prices = np.abs(game.cost[game.cost != 0.0])
        self._unit = float(power_near(prices.min())) if prices.size else 1.0
        highs.changeColsCost(columns.size, columns, game.cost / self._unit)
        self._append(game.E, game.e, game.e)

    def add(self, rows: Indices) -> None:
        """Rows of G join the model."""
        game = self.game
        self._append(game.G[rows], game.row_lower[rows], game.row_upper[rows])
        self.chosen = np.concatenate([self.chosen, rows])

    def run(self, seconds: float, limit: int) -> Status:
        """Solve from the last basis, keep the point and its multipliers.

        Raises
        ------
        TimeLimitReached
            If HiGHS has not looked at the clock in time.
        """
        import highspy

        highs, before = self.highs, max(self.highs.getInfo().simplex_iteration_count, 0)
        if np.isfinite(seconds):
            highs.setOptionValue("time_limit", float(highs.getRunTime()) + seconds)
        highs.setOptionValue("simplex_iteration_limit", int(limit))
        if self.game.cost.size < LONG:
            highs.run()
        else:
            within(seconds + _GRACE, highs.run)
        answer, outcome = highs.getSolution(), highs.getModelStatus()
        self.iterations = max(highs.getInfo().simplex_iteration_count - before, 0)
        if answer.value_valid and answer.dual_valid:
            self.v, duals = np.array(answer.col_value), self._unit * np.array(answer.row_dual)
            self.eq, self._y = duals[: self.game.e.size], duals[self.game.e.size :]
        statuses = {
            highspy.HighsModelStatus.kOptimal: Status.SOLVED,
            highspy.HighsModelStatus.kTimeLimit: Status.TIME_LIMIT,
            highspy.HighsModelStatus.kIterationLimit: Status.MAX_ITER,
        }
        return statuses.get(outcome, Status.INACCURATE)

    def spread(self, count: int) -> Array:
        """Multipliers of all rows of G, zero for those not in the model."""
        y = np.zeros(count)
        y[self.chosen] = self._y
        return y

    def _append(self, block: Array, low: Array, high: Array) -> None:
        height, width = block.shape
        if height == 0:
            return
        self.highs.addRows(
            height, low, high, block.size,
            (np.arange(height) * width).astype(np.int32),
            np.tile(np.arange(width, dtype=np.int32), height),
            np.ascontiguousarray(block).ravel(),
        )  # fmt: skip
