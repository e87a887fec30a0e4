"""Kernel programs as programs with a finite box, which branch and bound divides."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from indefinite_opt.foundation import (
    EPS,
    LEAST,
    TILE_ENTRIES,
    Array,
    cached_property,
    tiles,
)
from indefinite_opt.quadratic import (
    BoxQuadratic,
    Descent,
    Effort,
    FiniteForm,
    LocalSearch,
    PairedQP,
    Status,
    Task,
    form_type,
    kernel_qp,
    status_at_end,
)


@form_type.register(PairedQP)
def _form_of_lines(qp: PairedQP) -> type[FiniteForm]:
    return LineForm


class LineForm(FiniteForm):
    """A `PairedQP`, as it is if its box is finite, but for a large constant in its kernel."""

    structure: PairedQP

    @classmethod
    def of(cls, qp: PairedQP) -> FiniteForm | None:
        plain = qp.without_constant()
        if qp.is_bounded:
            return LineForm(qp, plain)
        if qp.lines == 0 or np.ndim(qp.linear):
            return None
        ones = kernel_qp(plain.problem, plain.hessian, 0.0, plain.upper, 2, 1.0)
        return RayForm(qp, replace(ones, variable=qp.variable))

    @classmethod
    def obstacle(cls, qp: PairedQP) -> str | None:
        if not qp.problem.curvature_known:
            return "the whole kernel matrix is needed, which is never formed: leave out cache_mb"
        if cls.of(qp) is None:
            return "ranges are divided, and without a bias the weights need a finite upper bound"
        return None

    @cached_property
    def quadratic(self) -> BoxQuadratic:
        return box_quadratic(self.structure)

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
        K, y = qp.gram.matrix, qp.signs
        signed = y * upper

        def add(part: slice) -> None:
            products = K[part] * signed
            products *= y[part, None]
            push[part] = 0.5 * qp.hessian * np.minimum(products, 0.0, out=products).sum(axis=1)

        for part in tiles(qp.n, TILE_ENTRIES // qp.n):
            add(part)
        size = float(upper @ (np.abs(linear) - push))
        # Each product may lose a smallest number, times the weight that it belongs to.
        underflow = LEAST * (qp.n + 8) * (qp.n + 8 + float(upper.sum())) if np.any(push) else 0.0
        rounding = 4.0 * (qp.n + 8) * EPS * size + underflow + qp.doubt(upper)
        return qp.linear_minimum(linear + push) - rounding


class RayForm(LineForm):
    """The best point of total weight 1, for a `PairedQP` without upper bounds.

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


def box_quadratic(qp: PairedQP) -> BoxQuadratic:
    """The arrays of a `PairedQP`; with two lines there is one row per class."""
    y, rows, rhs = qp.signs, qp.A, qp.b
    if qp.lines == 2:
        rows = np.array([y > 0, y < 0], float)
        rhs = np.full(2, 0.5 * qp.total)
    linear, upper = _costs_and_bounds(qp)
    return BoxQuadratic(qp.H(), linear, rows, rhs, np.zeros(qp.n), upper, qp.doubt(upper))


def _costs_and_bounds(qp: PairedQP) -> tuple[Array, Array]:
    """c, and the largest value of each weight in the box and on the lines; two (n,) arrays."""
    return np.full(qp.n, qp.linear, float), np.full(qp.n, qp.widest, float)
