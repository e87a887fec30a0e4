"""Quadratic programs of any curvature in which every variable is in at most one equality row."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.core import descent as loops
from indefinite_opt.foundation import Array, Values, cached_property
from indefinite_opt.quadratic.matrices.gram import Gram
from indefinite_opt.quadratic.matrices.spectrum import in_own_units, negative_direction
from indefinite_opt.quadratic.structures.paired_box import PairedBox
from indefinite_opt.quadratic.structures.qp import QP
from indefinite_opt.quadratic.structures.structure import Point

_FAR = 1e-12
"""Share of the terms of F above which it is not 0 up to their rounding, whatever rows add."""


class PairedQP(PairedBox, QP):
    """min F(x) = ½ xᵀHx + cᵀx on a `PairedBox`: what compiled pair steps can solve.

    H = h·ssᵀ∘K with h > 0, a symmetric matrix K of any inertia, which is stored as a whole or
    computed row by row, and the signs s of the constraints.
    """

    effort: ClassVar[float] = 4.0
    """How much more work a local search should spend on it than on a kernel program."""
    has_one_bound: ClassVar[bool] = False
    """Whether it is 0 ≤ x ≤ u with two equality constraints at most, as interior points need."""
    title = "a quadratic program with every variable in at most one equality constraint"
    variable = "z"

    def __init__(
        self,
        gram: Gram,
        linear: float | Array,
        signs: Array,
        group: NDArray[np.int64],
        totals: Array,
        lower: float | Array,
        upper: float | Array,
        hessian: float = 1.0,
    ) -> None:
        self.gram, self.linear, self.hessian = gram, linear, hessian
        self.signs, self.group, self.totals = signs, group, totals
        self.lower, self.upper = lower, upper

    def hessian_times(self, x: Array) -> Array:
        """Hx in O(n · nonzeros of x)."""
        return self.hessian * self.signs * self.gram.times(self.signs * x)

    def H(self) -> Array:
        dense: Array = self.gram.matrix * (self.hessian * self.signs)[:, None]
        dense *= self.signs
        return dense

    @cached_property
    def pairs(self) -> loops.PairProgram:
        """The program as pair steps take it; without rows of K where they are computed."""
        gram, n = self.gram, self.n
        rows = np.empty((0, n)) if gram.on_demand else gram.matrix
        signs, lower, upper = (
            np.full(n, each, np.float64) for each in (self.signs, self.lower, self.upper)
        )
        return loops.PairProgram(
            rows, gram.diagonal, self.hessian, signs, self.group, self.totals.size, lower, upper
        )

    @property
    def constraints(self) -> tuple[Array, Array, Array, Array, Array]:
        lower, upper = np.full(self.n, self.lower), np.full(self.n, self.upper)
        return lower, upper, self.b, self.b, self.A

    def arrays(self) -> Values:
        """H, q, A, b, lower, upper and sense of min ½xᵀHx + qᵀx s.t. Ax = b, lower ≤ x ≤ upper.

        With the constant, if there is one.
        """
        lower, upper, b, _, A = self.constraints
        q, sense = np.full(self.n, self.linear), np.array(float(self.sense))
        constant = {"constant": np.array(self.constant)} if self.constant else {}
        return constant | {
            "H": self.H(), "q": q, "A": A, "b": b, "lower": lower, "upper": upper, "sense": sense
        }  # fmt: skip

    @property
    def tilt(self) -> float:
        """max |c|."""
        c = self.linear
        return abs(c) if isinstance(c, float | int) else float(np.abs(c).max())

    def central_start(self) -> Array:
        """A feasible point near the middle of the box."""
        lower, upper = self.extent(self.typical_width)
        return self.project(np.full(self.n, 0.5 * (lower + upper)))

    @property
    def typical_width(self) -> float:
        """Typical size of a variable without bounds: max |c| / (h · mean |K_ii|)."""
        size = float(np.mean(np.abs(self.gram.diagonal))) or self.gram.largest or 1.0
        return (self.tilt or 1.0) / (self.hessian * size)

    @cached_property
    def is_convex(self) -> bool:
        """Whether F is convex along the constraints, up to rounding: enough to end a search."""
        k, held = self.totals.size, self.group < self.totals.size
        normals = np.zeros((self.n, k))
        normals[np.flatnonzero(held), self.group[held]] = 1.0
        matrix = self.gram.block(np.arange(self.n), np.arange(self.n))
        matrix, rows = in_own_units(matrix, normals.T)
        normals = rows.T / np.linalg.norm(rows, axis=1)
        return negative_direction(matrix, normals if k else None) is None

    @property
    def known_convex(self) -> bool:
        return bool(self.__dict__.get("is_convex", False))

    def gradient_unit(self, gradient: Array) -> float:
        """Size of the terms of the gradient, relative to which a residual is judged."""
        return max(self.tilt, float(np.max(np.abs(gradient - self.linear)))) or 1.0

    def terms(self, point: Point[Array]) -> float:
        """½h|x|ᵀ|K||x| + |c|ᵀ|x|, or 0 where |F| is far above the rounding of such terms."""
        size = np.abs(point.x)
        pull, half = float((np.abs(self.linear) * size).sum()), 0.5 * self.hessian
        # Rows on demand are not computed for an F that is not 0, nor large blocks read.
        most = half * self.gram.largest_read * float(np.square(size.sum()))
        if self.gap_unit(point.value) > _FAR * (most + pull):
            return 0.0
        support = np.flatnonzero(size)
        block = np.abs(self.gram.block(support, support))
        return half * float(size[support] @ block @ size[support]) + pull
