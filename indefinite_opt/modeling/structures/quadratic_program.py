"""Quadratic programs on a box with equality constraints, of any curvature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import EPS, Array
from indefinite_opt.modeling.gaps import CANCELLED
from indefinite_opt.modeling.structures.box_line import BoxLine
from indefinite_opt.modeling.structures.paired_qp import PairedQP
from indefinite_opt.modeling.structures.qp import QP, critical_curvature
from indefinite_opt.modeling.structures.structure import Curvature, Optimality, Point
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True, eq=False)
class BoxLineQP(BoxLine, PairedQP):
    """min F(x) = ½ xᵀHx + cᵀx  s.t.  0 ≤ x ≤ u and none, one or two equality constraints.

    H = h·Q with Q_ij = y_i y_j K_ij for a kernel of any inertia. The equality constraints are
    none; yᵀx = 0; or yᵀx = 0 and eᵀx = t, which fix the weight of each class to t/2.
    """

    ruggedness = 1.0
    title = "a quadratic program on a box with line constraints"
    problem: KernelProblem
    """Holds K and y; nothing is copied."""
    hessian: float
    """h > 0."""
    linear: float | Array
    """c, a number for all variables or one per variable."""
    upper: float | Array
    """u, may be infinite if it is a number; an array only with less than two lines."""
    lines: int
    """Number of equality constraints: 0, 1 or 2."""
    total: float = 0.0
    """t, read only with two lines."""
    sense: int = 1
    """1 or -1: the declared objective is sense · F."""
    variable: str = "alpha"
    """Name of x in the declared program."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "gram", self.problem.gram)

    @classmethod
    def svm(
        cls, problem: KernelProblem, C: float | Array, *, lines: int = 1, variable: str = "alpha"
    ) -> BoxLineQP:
        """The dual of a support vector machine, max eᵀx - ½xᵀQx on 0 ≤ x ≤ C, as a minimum.

        C is a number, or has an entry per point.
        """
        return cls(problem, 1.0, -1.0, C, lines, sense=-1, variable=variable)

    @classmethod
    def hulls(cls, problem: KernelProblem, mu: float) -> BoxLineQP:
        """The nearest points of two convex hulls reduced by mu, max -xᵀQx, as a minimum."""
        return cls(problem, 2.0, 0.0, mu, lines=2, total=2.0, sense=-1, variable="alphabar")

    def differs_in_upper_bounds(self, other: QP | None) -> bool:
        names = ("problem", "hessian", "lines", "total")
        return (
            other is not None
            and all(getattr(other, name, None) == getattr(self, name) for name in names)
            and np.array_equal(other.linear, self.linear)
        )

    @property
    def is_bounded(self) -> bool:
        return bool(np.all(np.isfinite(self.upper))) or self.lines == 2

    @property
    def is_convex(self) -> bool:
        return self.problem.is_convex(self.lines)

    @property
    def convexity_order(self) -> int:
        return self.problem.convexity_order(self.lines)

    @property
    def known_convex(self) -> bool:
        return self.problem.known_convex(self.lines)

    @property
    def why_convex(self) -> str:
        return f"Convex {self.problem.why_convex(self.lines)}"

    @property
    def is_convex_everywhere(self) -> bool:
        return self.problem.is_convex(lines=0)

    def why_not_convex(self) -> str:
        problem = self.problem
        if not problem.curvature_known:
            return "was not examined: its kernel matrix is never formed"
        direction = problem.negative_direction(self.lines)
        if direction is None:
            return "is not: its kernel has a negative eigenvalue"
        signed = problem.y * direction
        curvature = self.hessian * float(signed @ problem.gram.times(signed))
        return f"is not: along one feasible direction its objective has curvature {curvature:.3g}"

    def why_global(self) -> list[str]:
        reasons = [f"{self.why_convex}, and the dual bound meets the objective."]
        if np.any(np.isinf(self.upper)) and self.lines < 2:
            reasons.append(
                "Without upper bounds, eigenvalues within rounding of zero count as zero."
            )
        return reasons

    def gradient_unit(self, gradient: Array) -> float:
        """Size relative to which a KKT residual is judged.

        With a linear term it is max |c| (the margin 1 of an SVM), but at least 1e-6 of the
        gradient, below which rounding would decide. Without one it is the size of the gradient, but
        at least `CANCELLED` times its largest possible size, as it vanishes if two hulls meet.
        """
        largest = float(np.abs(gradient - self.linear).max())
        if self.tilt > 0.0:
            return max(self.tilt, 1e-6 * largest)
        return max(largest, CANCELLED * self._steepest) or 1.0

    def gap_unit(self, value: float, x: Array) -> float:
        # The terms of F are at most those of the largest entries; if F exceeds these the floor need
        # not be computed. It is zero with a linear term, and rows on demand must not be computed.
        if np.any(self.linear) or abs(value) >= 0.5 * self.total * CANCELLED * self._steepest:
            return abs(value)
        return max(abs(value), self.gap_floor(x))

    def gap_floor(self, x: Array) -> float:
        """Zero with a linear term, else `CANCELLED` times the sum of the absolute terms of F."""
        if np.any(self.linear):
            return 0.0
        return 0.5 * CANCELLED * self.hessian * self.problem.gram.deviation(x)

    @property
    def _steepest(self) -> float:
        """Bound on |(Hx)_i|, up to the multipliers of the lines, for weights of the given total.

        A constant in K has no effect, as yᵀx = 0 with two lines.
        """
        return self.hessian * self.problem.spread * self.total

    def bound_at(self, point: Point[Array], multipliers: Mapping[str, Array] | None) -> float:
        return self.dual_bound(point.x, point.gradient)

    def dual_bound(self, x: Array, gradient: Array) -> float:
        """A lower bound on F over the feasible set, valid if F is convex there.

        It is the linearisation at x minimised over the feasible set; for the SVM dual this is the
        primal objective at the best offset. With u = ∞ the primal point is first scaled until it is
        feasible. From it are subtracted

        1. ½ha‖z - x‖² ≤ ½ha(R² + ‖x‖²), by which F may lie below its linearisation at a feasible z,
           where convexity is proved up to a and R is the largest ‖z‖;
        2. the rounding of the gradient, at most n·eps·‖|H|‖‖x‖, along z - x;
        3. the rounding of the remaining sums, n·eps of their terms.

        With c < 0 and no fixed total, R need only bound a minimiser z, which cannot be improved by
        shrinking: zᵀ∇F(z) ≤ 0, so that F(z) ≤ ½c eᵀz and ‖z‖² ≤ u·eᵀz ≤ 2u|F(z)|/|c|. A bound on
        F(z) thus gives a smaller R, which gives a better bound.
        """
        problem, eps = self.problem, EPS
        curvature = float(x @ (gradient - self.linear))
        square, length = self._square_radius(x), float(np.linalg.norm(x))

        def allowance(square: float) -> float:
            curved = 0.5 * problem.convexity_allowance(self.lines) * (square + length**2)
            return self.hessian * (
                curved + problem.zero_tolerance * length * (float(np.sqrt(square)) + length)
            )

        if self.is_bounded:
            least = self.linear_minimum(gradient)
            terms = float(np.abs(x) @ np.abs(gradient)) + abs(least)
            single = self.upper if self.lines < 2 else np.minimum(self.upper, 0.5 * self.total)
            rounding = eps * ((self.n + 4.0) * terms + float((single * np.abs(gradient)).sum()))
            least -= 0.5 * curvature + rounding
            bound = least - allowance(square)
            if self.lines < 2 and np.ndim(self.linear) == 0 and np.all(self.linear < 0.0):
                largest = float(np.max(self.upper))
                for _ in range(2):  # further updates change little
                    square = min(square, 2.0 * largest * abs(bound) / self.tilt)
                    bound = least - allowance(square)
            return bound
        if np.ndim(self.linear):
            return -np.inf
        # Hard margin: ½wᵀw/(1 - v)² where v is the largest shortfall of a margin at the best b.
        y = self.problem.y
        if self.lines == 0:
            shortfall = float(np.max(-gradient))
        else:
            signed = -y * gradient
            shortfall = 0.5 * (float(signed[y > 0].max()) - float(signed[y < 0].min()))
        # If 1 - v is small the rounding of the gradient matters.
        noise = (self.n + 4.0) * eps * (float(np.max(np.abs(gradient))) + self.tilt)
        noise += self.hessian * problem.zero_tolerance * length
        shortfall = max((shortfall + noise) / self.tilt, 0.0)
        if shortfall >= 1.0:
            return -np.inf
        least = -0.5 * max(curvature, 0.0) / (1.0 - shortfall) ** 2
        rounding = (self.n + 4.0) * eps * (float(np.abs(x) @ np.abs(gradient)) - least)
        return least - allowance(square) - rounding

    def _square_radius(self, x: Array) -> float:
        """Largest ‖z‖² over the feasible set; for u = ∞ that of 2x."""
        if self.lines == 2:
            return self.total * min(float(self.upper), 0.5 * self.total)
        if np.ndim(self.upper):
            return float(np.sum(np.square(self.upper)))
        if np.isinf(self.upper):
            return 4.0 * float(x @ x)
        count = self.n if self.lines == 0 else 2 * self.problem.smaller_class
        return count * float(self.upper) * float(self.upper)

    def curvature_order(self, point: Point[Array], optimality: Optimality, tol: float) -> int:
        free, weak = self._critical(point, optimality, tol)
        return int(np.count_nonzero(free | weak))

    def _critical(
        self, point: Point[Array], optimality: Optimality, tol: float
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The variables off their bounds, and those at one whose multiplier is zero."""
        lower, upper = self.at_bounds(point.x, tol)
        at_bounds = lower | upper
        return ~at_bounds, at_bounds & (np.abs(optimality.reduced) <= tol * optimality.unit)

    def curvature(
        self, point: Point[Array], optimality: Optimality, tol: float
    ) -> tuple[Curvature, float, int]:
        """Curvature on the tangent space of the free and weakly active variables.

        Reduced gradients up to tol times their unit count as zero.
        """
        free, weak = self._critical(point, optimality, tol)
        movable, inside = np.flatnonzero(free | weak), np.flatnonzero(free)
        count = int(np.count_nonzero(weak))
        return critical_curvature(self.least_curvature, (movable,), (inside,), count)

    def least_curvature(self, kept: NDArray[np.intp]) -> tuple[float, float]:
        """Least eigenvalue of H on {d: Ad = 0, d = 0 outside `kept`}, and its rounding.

        That of hK on {v = y∘d}, where every line says that the sum of v over its group is zero.
        """
        members = self.group[kept] == np.arange(self.totals.size)[:, None]
        counts = np.count_nonzero(members, axis=1)
        normals = (members / np.sqrt(np.maximum(counts, 1))[:, None])[counts > 0].T
        if kept.size <= normals.shape[1]:
            return np.inf, 0.0
        least, rounding = self.problem.gram.least_eigenvalue(kept, normals)
        return self.hessian * least, self.hessian * rounding

    def remarks(self, point: Point[Array], is_global: bool) -> list[str]:
        """A sentence if the squared norm of the normal is not positive (Haasdonk 2005, 7.3-7.4)."""
        x, problem = point.x, self.problem
        weight, pull = float(x.sum()), point.gradient - self.linear
        # Beside the linear term, H times small weights is lost to rounding.
        if weight == 0.0 or float(x @ pull) > 1e-9 * self.tilt * weight:
            return []
        shares = x / weight
        norm = 4.0 * float(shares @ self.hessian_times(shares)) / self.hessian
        if norm > 0.0:
            return []
        words = f"The normal of this separation has squared norm {norm:.3g}: no positive margin"
        # Computing all of K once more may take longer than the solve.
        if self.lines > 0 and problem.curvature_known and problem.class_mean_distance < 0.0:
            words += (
                "; no separation with positive norm exists, as the class means have squared "
                f"distance {problem.class_mean_distance:.3g}"
            )
        return [f"{words} (Haasdonk 2005, section 7)."]

    def kernel_sensitivity(self, x: Array) -> float:
        """½h‖x‖², as ½h(y∘x)ᵀE(y∘x) is at most that times the norm of E."""
        return 0.5 * self.hessian * float(x @ x)

    def central_start(self) -> Array:
        """Equal weights in each class (Haasdonk 2005, section 7.3)."""
        positive, negative = self.problem.class_sizes
        largest = self.extent(self.typical_width)[1] * min(positive, negative)
        return self.project(np.where(self.signs > 0, largest / positive, largest / negative))
