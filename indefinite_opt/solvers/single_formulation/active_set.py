"""The active set method of Loosli, Ong & Canu, as printed."""

from __future__ import annotations

import numpy as np

from indefinite_opt.foundation import Array, one_thread
from indefinite_opt.quadratic import (
    Iterate,
    KreinLeastSquares,
    Solution,
    Solver,
    Status,
    Task,
    Trace,
    status_at_end,
    zero_tolerance,
)

_ITERATIONS_PER_POINT = 100
"""Iterations by default, per point; an active set method needs a few."""

_MIN_SINE = 1e-10
"""Least sine of the angle between a column and the span of the free ones: with a smaller one, least
squares loses more than ten of sixteen digits."""

_ROUNDING_SHARE = 1e-12
"""Share of a bound, or of the sizes of a sum, that counts as rounding."""

_ZERO, _FREE, _FULL = range(3)
"""The groups of Table 1: I₀, where α = 0; I_w; I_C, where α = C."""


class ActiveSet(Solver[KreinLeastSquares]):
    """Algorithm 2 of Loosli, Ong & Canu (2013) for `KSVM`, as printed.

    At first one weight of each class is free and all others are zero. The free weights α_w and λ
    solve (28),

        G_wᵀ(Gα - e + λy) = 0,   yᵀα = 0,

    by a QR decomposition of G_w that is updated as weights are freed and fixed. If the solution has
    a weight outside [0, C], the weights move towards it until the first one meets a bound, where it
    is fixed. Otherwise the point that violates (29) or (30) most is freed.

    Here the multiplier λ is inside the residual; in the conditions of (26), which is the declared
    problem, it is outside. So the result is in general *not* the solution of the declared problem,
    and the certificate says so; see the notes of `KSVM`. Contrary to the paper, the method need not
    end, since it does not minimise any function. An active set that recurs proves that it never
    will; then it stops, INACCURATE, at the point that violates (28)-(30) least. A given start is
    ignored. λ is the offset of the classifier: y_i f(x_i) = 1 is (Gα - e + λy)_i = 0.
    """

    name = "active-set"
    accepts = (KreinLeastSquares,)
    needs_convex = False
    records = True

    def solve(self, task: Task[KreinLeastSquares]) -> Solution:
        run = _ActiveSetIteration(task)
        status = status_at_end(run.solve, one_thread())
        return Solution(
            # The projection makes yᵀα = 0 to the last bit, however small α is.
            values=run.qp.values(run.qp.feasible.project(run.best)),
            status=status,
            iterations=run.iterations,
            trace=run.trace,
            message=(
                f"{run.words}; λ = {run.best_level!r}, (28)-(30) violated by {run.least:.2e}, "
                f"{run.iterations} systems solved"
            ),
            offset=run.best_level if np.isfinite(run.best_level) else None,
        )


class _Columns:
    """The free columns of G and their decomposition G_w = QR; O(n|w|) to add or drop one."""

    def __init__(self, G: Array) -> None:
        self.G = G
        self.index: list[int] = []
        self.Q, self.R = np.empty((G.shape[0], 0)), np.empty((0, 0))

    def add(self, j: int) -> bool:
        """Add a column; False if it is a combination of the others up to rounding."""
        import scipy.linalg

        column, last = np.ascontiguousarray(self.G[:, j]), len(self.index)
        if not column.any():
            return False
        try:
            self.Q, self.R = scipy.linalg.qr_insert(
                self.Q, self.R, column, last, which="col", rcond=_MIN_SINE
            )
        except np.linalg.LinAlgError:
            return False
        self.index.append(j)
        return True

    def drop(self, k: int) -> int:
        """Drop the k-th free column and return its point."""
        import scipy.linalg

        Q, R = scipy.linalg.qr_delete(self.Q, self.R, k, which="col")
        point = self.index.pop(k)
        # With all points free Q is square, and qr_delete leaves it square.
        self.Q, self.R = Q[:, : len(self.index)], R[: len(self.index)]
        return point

    def least_squares(self, right: Array) -> Array:
        """argmin ‖G_w a - right‖."""
        import scipy.linalg

        if not self.index:
            return np.empty(0)
        return scipy.linalg.solve_triangular(self.R, self.Q.T @ right, check_finite=False)


class _ActiveSetIteration:
    """The state of the algorithm: the weights, λ and the group of every point.

    Attributes
    ----------
    best, best_level, least
        The feasible point that violates (28)-(30) least, its λ, and its largest violation.
    words : str
        Why the algorithm stopped.
    """

    def __init__(self, task: Task[KreinLeastSquares]) -> None:
        program = task.program
        self.task, self.qp, self.C = task, program, float(program.feasible.upper)
        self.G, self.y = program.source.Q, program.source.y
        n = program.n
        self.Ge, self.Gy = self.G.sum(axis=1), self.G @ self.y
        # A sum that vanishes up to rounding would determine λ by rounding alone.
        sizes = np.abs(self.G).sum(axis=1)
        self.Gy[np.abs(self.Gy) <= zero_tolerance(n, 1.0) * sizes] = 0.0
        self.limit = _ITERATIONS_PER_POINT * n if task.max_iter is None else task.max_iter
        self.alpha, self.level = np.zeros(n), 0.0
        self.group = np.full(n, _ZERO, dtype=np.int8)
        self.columns = _Columns(self.G)
        self.seen: set[bytes] = set()
        self.iterations, self.trace, self.words = 0, Trace(), "interrupted"
        self.best, self.best_level, self.least = self.alpha, np.nan, np.inf
        generator = np.random.default_rng(task.seed)
        for sign in (1.0, -1.0):
            self._free(int(generator.choice(np.flatnonzero(self.y == sign))))

    def solve(self) -> Status:
        """Iterate until there is a reason to stop, which is stored in `words`."""
        stopped = None
        while stopped is None:
            stopped = self._iterate()
        status, self.words = stopped
        return status

    def _iterate(self) -> tuple[Status, str] | None:
        """One step; the status and the reason if the algorithm is to stop after it, else None."""
        self.iterations += 1
        target = self._system()
        if target is None:
            return Status.INACCURATE, "λ has no effect on yᵀα with these free points"
        slack = _ROUNDING_SHARE * self.C
        if np.any(target < -slack) or np.any(target > self.C + slack):
            self._move(target)
            return self._stop()
        self.alpha[self.columns.index] = np.clip(target, 0.0, self.C)
        violations = self._violations()
        return self._report(float(violations.max())) or self._release(violations)

    def _system(self) -> Array | None:
        """Set the λ for which yᵀα = 0 and return the α_w of (28); None if there is none."""
        free, full = self.columns.index, self.group == _FULL
        right = 1.0 - self.C * self.G[:, full].sum(axis=1)
        if not free:
            # Without free weights λ minimises the left side of (28) in the least-squares sense.
            self.level = float(self.y @ right) / self.y.size
            return np.empty(0)
        if not self.Gy[free].any():
            return None
        plain, slope = (self.columns.least_squares(b) for b in (right, self.y))
        signed = self.y[free] * slope
        missing = float(self.y[free] @ plain) + self.C * float(self.y[full].sum())
        if abs(signed.sum()) <= _ROUNDING_SHARE * np.abs(signed).sum():
            return None
        self.level = missing / float(signed.sum())
        return plain - self.level * slope

    def _move(self, target: Array) -> None:
        """Move towards the target until the first weight meets its bound and is fixed there."""
        current = self.alpha[self.columns.index]
        step = target - current
        bound = np.where(step < 0.0, 0.0, self.C)
        outside = (target < 0.0) | (target > self.C)
        reach = np.full(step.size, np.inf)
        reach[outside] = (bound[outside] - current[outside]) / step[outside]
        k = int(np.argmin(reach))
        moved = np.clip(current + min(float(reach[k]), 1.0) * step, 0.0, self.C)
        moved[k] = bound[k]
        self.alpha[self.columns.index] = moved
        self.group[self.columns.drop(k)] = _ZERO if bound[k] == 0.0 else _FULL

    def _violations(self) -> Array:
        """By how much each point violates (28), (29) or (30), relative to their terms, (n,)."""
        pushed = self.G @ (self.G @ self.alpha) - self.Ge
        sides = pushed + self.level * self.Gy
        unit = max(float(np.abs(self.Ge).max()), abs(self.level) * float(np.abs(self.Gy).max()))
        outward = np.choose(self.group, (-sides, np.abs(sides), sides))
        violations = np.maximum(outward, 0.0) / (unit or 1.0)
        worst = float(violations.max())
        if worst < self.least:
            self.best, self.best_level, self.least = self.alpha.copy(), self.level, worst
        return violations

    def _release(self, violations: Array) -> tuple[Status, str] | None:
        """Free the point that violates its condition most; why to stop if none can be freed."""
        state = self.group.tobytes()
        if state in self.seen:
            return Status.INACCURATE, "an active set recurred: the algorithm cycles"
        self.seen.add(state)
        # The condition of a column in the span of the free ones holds with equality; a violation
        # of it is rounding.
        for j in np.argsort(-violations, kind="stable"):
            if violations[j] <= self.task.tol:
                break
            if self.group[j] != _FREE and self._free(int(j)):
                return None
        return Status.INACCURATE, "no violating point has a column independent of the free ones"

    def _free(self, j: int) -> bool:
        if not self.columns.add(j):
            return False
        self.group[j] = _FREE
        return True

    def _report(self, violation: float) -> tuple[Status, str] | None:
        """Add to the trace; the status and the reason if the algorithm is to stop here."""
        task, qp = self.task, self.qp
        objective = qp.sense * (qp.value(self.alpha) + qp.constant)
        iterate = None
        if task.recording:
            iterate = Iterate("active-set step", qp.values(self.alpha.copy()), objective)
        self.trace.add(task.elapsed, self.iterations, objective, violation, iterate=iterate)
        if violation <= task.tol:
            return Status.SOLVED, "conditions (27)-(30) hold"
        return self._stop(self.trace)

    def _stop(self, trace: Trace | None = None) -> tuple[Status, str] | None:
        status = self.task.stop(trace, self.iterations, self.limit)
        return None if status is None else (status, str(status.value))
