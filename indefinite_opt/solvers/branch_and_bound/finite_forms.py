"""Programs with a finite box, which branch and bound divides, for those that callers ask for.

A bound of the finite form is one of the program that was asked for, and every point of it stands
for a point of that program.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from indefinite_opt.foundation import (
    EPS,
    LEAST,
    TILE_ENTRIES,
    Array,
    cached_property,
    in_tiles,
    tiles,
)
from indefinite_opt.modeling import PolyhedralQP
from indefinite_opt.modeling.quadratic_programs import LinearRows
from indefinite_opt.modeling.structures import QP, BoxLineQP
from indefinite_opt.solvers.branch_and_bound.minorant import BoxQuadratic
from indefinite_opt.solvers.branch_and_bound.optimality_conditions import Conditions
from indefinite_opt.solvers.descent.descent import Descent
from indefinite_opt.solvers.local_search.iterated_search import Effort
from indefinite_opt.solvers.local_search.pair_search import LocalSearch
from indefinite_opt.solvers.local_search.pairing import Paired, as_paired
from indefinite_opt.solvers.polyhedral import falling_ray, refined
from indefinite_opt.solvers.solution import Status
from indefinite_opt.solvers.solver import Task, status_at_end

MAX_INFEASIBILITY = 1e-9
"""Infeasibility up to which a point counts for the upper end. Ends of descents have 1e-14 and less,
unless numbers as small as 1e-56 have made their steps fail."""

SEPARABLE_BUDGET = 10.0
"""Budget of the local search where secants bound boxes in a millisecond: that of `MultiStart` by
default takes half of the time then, and the same number of nodes follows, as they lead to descents
as well."""


class FiniteForm(ABC):
    """A program with a finite box and the same optimum as another one.

    Attributes
    ----------
    asked : QP
        The program that was asked for.
    structure : QP
        The finite one.
    unbounded_at : float
        The largest value of the finite form at which the program that was asked for is unbounded.
    """

    unbounded_at: ClassVar[float] = -np.inf

    def __init__(self, asked: Any, structure: Any) -> None:
        self.asked, self.structure = asked, structure

    @classmethod
    @abstractmethod
    def of(cls, qp: Any) -> FiniteForm | None:
        """The form of a program; None if there is none."""

    @classmethod
    @abstractmethod
    def obstacle(cls, qp: Any) -> str | None:
        """Why a program has no form that can be bracketed, as a sentence, or None."""

    @cached_property
    @abstractmethod
    def quadratic(self) -> BoxQuadratic:
        """The arrays of the finite form."""

    @cached_property
    def conditions(self) -> Conditions:
        """What optimal points of the finite form satisfy."""
        return Conditions(self.quadratic)

    def start(self) -> Array:
        """A feasible point."""
        point: Array = self.structure.start()
        return point

    def placed(self, x: Array) -> Array:
        """A feasible point of the finite form for a point of the program that was asked for."""
        placed: Array = self.structure.project(x)
        return placed

    def restored(self, z: Array, value: float) -> Array:
        """The point that z stands for, whose value in the finite form is given."""
        return z

    def original(self, value: float, away: float = -np.inf) -> float:
        """The value of the program that was asked for, at a value of the finite form.

        Where it is rounded, this is in the direction of `away`.
        """
        return value

    def level(self, value: float) -> float:
        """The value of the finite form at a value of the program that was asked for."""
        return value

    @property
    def ray(self) -> float | None:
        """The length of the linear term along the rays that points stand for, if they do."""
        return None

    def attained(self, z: Array) -> tuple[float, Array] | None:
        """A value of the finite form that a feasible point near z certainly has, and the point.

        None if z is not known to be feasible.
        """
        if self.structure.infeasibility(z) > MAX_INFEASIBILITY:
            return None
        return self.structure.value(z), z

    @abstractmethod
    def best_point(self, task: Task[Any]) -> tuple[Status, Array | None]:
        """How a local search ended, and its best point; `task` is about the finite form."""

    @abstractmethod
    def descended(self, task: Task[Any], z: Array) -> tuple[Array, float]:
        """The point and the value at which a descent from near z ends."""

    def linear_bound(self) -> float:
        """A lower bound in O(n²) from H_ij x_i x_j ≥ min(H_ij, 0) u_i x_j; -inf if there is none.

        The linear function that this leaves is minimised over the box and the lines; a bound on
        the rounding is subtracted.
        """
        return -np.inf


class _Lines(FiniteForm):
    """A `BoxLineQP`, as it is if its box is finite, but for a large constant in its kernel."""

    structure: BoxLineQP

    @classmethod
    def of(cls, qp: BoxLineQP) -> FiniteForm | None:
        plain = qp.without_constant()
        if qp.is_bounded:
            return _Lines(qp, plain)
        if qp.lines == 0 or np.ndim(qp.linear):
            return None
        return _Rays(qp, replace(plain, linear=0.0, lines=2, total=1.0, sense=1))

    @classmethod
    def obstacle(cls, qp: BoxLineQP) -> str | None:
        if not qp.problem.curvature_known:
            return "the whole kernel matrix is needed, which is never formed: leave out cache_mb"
        if cls.of(qp) is None:
            return "ranges are divided, and without a bias the weights need a finite upper bound"
        return None

    @cached_property
    def quadratic(self) -> BoxQuadratic:
        return box_quadratic(self.structure)

    def attained(self, z: Array) -> tuple[float, Array] | None:
        qp = self.structure
        infeasibility = qp.infeasibility(z)
        if infeasibility > MAX_INFEASIBILITY:
            return None
        point, error = qp.attained(qp.at(z), infeasibility)
        return point.value + error, point.x

    def best_point(self, task: Task[Any]) -> tuple[Status, Array | None]:
        local = LocalSearch(Effort(), task)
        status = status_at_end(local.run)
        return status, local.elite[0].x if local.elite else None

    def descended(self, task: Task[Any], z: Array) -> tuple[Array, float]:
        run = Descent(task, self.structure.project(z))
        run.to_stationarity()
        return run.alpha, run.value

    def linear_bound(self) -> float:
        # H is not formed: memory that is used for the first time takes longer than these sums.
        qp, push = self.structure, np.empty(self.structure.n)
        linear, upper = _costs_and_bounds(qp)
        K, y = qp.problem.K, qp.problem.y
        signed = y * upper

        def add(part: slice) -> None:
            products = K[part] * signed
            products *= y[part, None]
            push[part] = 0.5 * qp.hessian * np.minimum(products, 0.0, out=products).sum(axis=1)

        in_tiles(add, tiles(qp.n, TILE_ENTRIES // qp.n))
        size = float(upper @ (np.abs(linear) - push))
        # Each product may lose a smallest number, times the weight that it belongs to.
        underflow = LEAST * (qp.n + 8) * (qp.n + 8 + float(upper.sum())) if np.any(push) else 0.0
        rounding = 4.0 * (qp.n + 8) * EPS * size + underflow + qp.doubt(upper)
        return qp.linear_minimum(linear + push) - rounding


class _Rays(_Lines):
    """The best point of total weight 1, for a `BoxLineQP` without upper bounds.

    ½h αᵀQα - c eᵀα is minimised along each ray first: with q the minimum of ½h αᵀQα over total
    weight 1 the minimum is -c²/(4q) if q > 0, and the problem is unbounded otherwise. This requires
    yᵀα = 0, which makes the weights of total 1 a box with two lines.
    """

    unbounded_at = 0.0

    def placed(self, x: Array) -> Array:
        return super().placed(x / (float(x.sum()) or 1.0))

    def restored(self, z: Array, value: float) -> Array:
        # Without an optimum the scale of a ray means nothing.
        return z * (self.asked.tilt / (2.0 * value)) if value > 0.0 else z

    @property
    def ray(self) -> float:
        return float(self.asked.tilt)

    def original(self, value: float, away: float = -np.inf) -> float:
        if not value > 0.0:
            return -np.inf
        if np.isinf(value):
            return 0.0
        exact = -(Fraction(self.asked.tilt) ** 2) / (4 * Fraction(value))
        rounded = float(exact)
        inwards = rounded > exact if away < 0.0 else rounded < exact
        return float(np.nextafter(rounded, away)) if inwards else rounded

    def level(self, value: float) -> float:
        return -(self.asked.tilt**2) / (4.0 * value) if value < 0.0 else np.inf


class _Slacks(FiniteForm):
    """A `PolyhedralQP` with finite ranges, its inequality rows as equations with slacks.

    Descents run in the variables that were asked for.
    """

    structure: PolyhedralQP

    @classmethod
    def of(cls, qp: PolyhedralQP) -> FiniteForm | None:
        return cls(qp, with_slacks(qp, *qp.ranges)) if qp.is_bounded else None

    @classmethod
    def obstacle(cls, qp: PolyhedralQP) -> str | None:
        if qp.is_bounded:
            return None
        scaled = qp.equilibrated
        error = falling_ray(scaled, LinearRows(scaled), np.random.default_rng(0))
        if error is not None:
            raise error
        return f"{qp.endless}, which branch and bound needs; give it lower and upper bounds"

    @cached_property
    def _paired(self) -> Paired | None:
        return as_paired(self.asked)

    @cached_property
    def quadratic(self) -> BoxQuadratic:
        qp = self.structure
        return BoxQuadratic(qp.P, qp.q, qp.A, qp.b, qp.lower, qp.upper)

    def start(self) -> Array:
        # Beside large slacks, what is rounding for a row is not rounding for its variables.
        point: Array = self._lifted(self.asked.start())
        return point

    def placed(self, x: Array) -> Array:
        return self._lifted(self.asked.project(x))

    def attained(self, z: Array) -> tuple[float, Array] | None:
        x = self.restored(z, 0.0)
        infeasibility = self.asked.infeasibility(x)
        if infeasibility > MAX_INFEASIBILITY:
            return None
        point, error = self.asked.attained(self.asked.at(x), infeasibility)
        return point.value + error, self._lifted(point.x)

    def _lifted(self, x: Array) -> Array:
        """(x, s) for a feasible x."""
        return np.concatenate([x, np.maximum(self.asked.h - self.asked.G @ x, 0.0)])

    def restored(self, z: Array, value: float) -> Array:
        return z[: self.asked.n]

    def best_point(self, task: Task[Any]) -> tuple[Status, Array | None]:
        from indefinite_opt.solvers.local_search.multistart import MultiStart

        start = None if task.start is None else self.restored(task.start, 0.0)
        inner = task.on(self.asked, start=start)
        search = (
            MultiStart(budget=SEPARABLE_BUDGET) if self.quadratic.is_separable else MultiStart()
        )
        solution = search.solve(inner)
        return solution.status, self._lifted(solution.values[self.asked.variable])

    def descended(self, task: Task[Any], z: Array) -> tuple[Array, float]:
        x, pairs = self.restored(z, 0.0), self._paired
        if pairs is None:
            x = refined(self.asked, x)
        else:
            run = Descent(task.on(pairs.qp, start=None), pairs.place(x))
            run.to_stationarity()
            x = pairs.restore(run.alpha)
        point = self._lifted(x)
        return point, self.structure.value(point)


def with_slacks(qp: PolyhedralQP, low: Array, high: Array) -> PolyhedralQP:
    """The program in (x, s) with Gx + s = h and s ≥ 0 in place of Gx ≤ h.

    `low` and `high` are finite ends that every feasible x is between.
    """
    n, m, k = qp.n, qp.h.size, qp.b.size
    least = np.where(qp.G > 0.0, qp.G * low, 0.0) + np.where(qp.G < 0.0, qp.G * high, 0.0)
    sizes = np.abs(least).sum(axis=1) + np.abs(qp.h)
    most = qp.h - least.sum(axis=1) + (n + 4.0) * EPS * sizes
    rows = np.block([[qp.G, np.eye(m)], [qp.A, np.zeros((k, m))]])
    P = np.zeros((n + m, n + m))
    P[:n, :n] = qp.P
    return PolyhedralQP(
        np.zeros((0, n + m)), np.zeros(0), rows, np.concatenate([qp.h, qp.b]),
        np.concatenate([low, np.zeros(m)]), np.concatenate([high, np.maximum(most, 0.0)]),
        P=P, q=np.concatenate([qp.q, np.zeros(m)]), sense=qp.sense, constant=qp.constant,
    )  # fmt: skip


def finite_form(qp: QP) -> FiniteForm | None:
    """A program with a finite box and the same optimum, or None."""
    return _kind(qp).of(qp)


def _kind(qp: QP) -> type[FiniteForm]:
    return _Slacks if qp.has_own_rows else _Lines


def box_quadratic(qp: BoxLineQP) -> BoxQuadratic:
    """The arrays of a `BoxLineQP`; with two lines there is one row per class."""
    y, rows, rhs = qp.problem.y, qp.A, qp.b
    if qp.lines == 2:
        rows = np.array([y > 0, y < 0], float)
        rhs = np.full(2, 0.5 * qp.total)
    linear, upper = _costs_and_bounds(qp)
    return BoxQuadratic(qp.H(), linear, rows, rhs, np.zeros(qp.n), upper, qp.doubt(upper))


def _costs_and_bounds(qp: BoxLineQP) -> tuple[Array, Array]:
    """c, and the largest value of each weight in the box and on the lines; two (n,) arrays."""
    return np.full(qp.n, qp.linear, float), np.full(qp.n, qp.widest, float)


def obstacle(qp: QP) -> str | None:
    """Why branch and bound cannot bracket a program, as a sentence, or None.

    Raises
    ------
    UnboundedProblem
        If a ray is found along which the objective falls without end.
    """
    return _kind(qp).obstacle(qp)
