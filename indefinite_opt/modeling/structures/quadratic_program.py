"""Quadratic programs on a box with equality constraints, of any curvature."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import InfeasibleProblem, UnboundedProblem
from indefinite_opt.foundation import EPS, Array, Values, cached_property, one_thread
from indefinite_opt.modeling.structures.convex_bounds import ConvexBounds
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import (
    CANCELLED,
    MAX_CHARGE,
    QP,
    Claim,
    Curvature,
    DenseGram,
    LowerBound,
    Optimality,
    Point,
    Spelling,
    charged,
    critical_curvature,
)


@dataclass(frozen=True, eq=False)
class BoxLineQP(ConvexBounds):
    """min F(x) = ½ xᵀHx + cᵀx  s.t.  0 ≤ x ≤ u and none, one or two equality constraints.

    H = h·Q with Q_ij = y_i y_j K_ij for a kernel of any inertia. The equality constraints are
    those of `BoxLine`.
    """

    effort = 1.0
    has_one_bound = True
    title = "a quadratic program on a box with line constraints"
    problem: KernelProblem
    """Holds K and y; nothing is copied."""
    hessian: float
    """h > 0."""
    linear: float | Array
    """c, a number for all variables or one per variable."""
    upper: float | Array
    """u, may be infinite if it is a number; an array only where the sum of x is not fixed."""
    lines: int
    """Number of equality constraints: 0, 1 or 2."""
    total: float = 0.0
    """t > 0, or 0 where the sum of x is not fixed."""
    sense: int = 1
    """1 or -1: the declared objective is sense · F."""
    variable: str = "alpha"
    """Name of x in the declared program."""
    spelled: Mapping[str, Spelling] = field(default_factory=dict)

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

    def without_constant(self) -> BoxLineQP:
        """The same program, whose kernel has no large constant; see `KernelProblem`."""
        plain = self.problem.without_constant() if self.is_balanced else self.problem
        return self if plain is self.problem else replace(self, problem=plain)

    @cached_property
    def plain(self) -> BoxLineQP:
        """The same F on the feasible set without terms of a constant in K that cancel, else itself.

        The sum of v = y∘x is fixed. Where it is 0, a constant has no effect. Where it is t, one of
        c adds ½hct² = ½hct·eᵀx; and for the linear term -½ht·diag(K) of a smallest ball it has no
        effect, either. Points are centred, as K has already lost digits of their products.
        """
        constant = self.problem.constant
        if not constant or (not self.is_balanced and self.lines != 1):
            return self
        centred, half = self.problem.centred_points(), 0.5 * self.hessian * self.total
        if self.is_balanced:
            return replace(self, problem=centred or self.problem.without_constant())
        if centred is not None:
            if np.array_equal(self.linear, -half * self.gram.diagonal):
                return replace(self, problem=centred, linear=-half * centred.gram.diagonal)
            return self
        plain = self.problem.without_constant()
        return replace(self, problem=plain, linear=self.linear + half * constant)

    def at(self, x: Array, gradient: Array | None = None) -> Point[Array]:
        """F by the `plain` program, and for a linear kernel by its points; and ∇F.

        If a point misses the lines by more than rounding, F is that of this program, which
        includes what the constant adds.
        """
        point, plain = super().at(x, gradient), self.plain
        if plain is not self and self.infeasibility(x) > self.n * EPS:
            plain = self
        points = plain.problem.features
        if points is not None:
            with one_thread():
                w = (plain.problem.y * x) @ points
            value = 0.5 * self.hessian * float(w @ w) + plain.linear_value(x)
        elif plain is not self:
            value = plain.value(x)
        else:
            return point
        return Point(x, value, point.gradient)

    def raised(self, amount: float) -> BoxLineQP:
        """The same program with K + aI."""
        return replace(self, problem=raised(self.problem, amount))

    def linear_value(self, x: Array) -> float:
        """cᵀx."""
        return float(np.sum(self.linear * x))

    @property
    def is_balanced(self) -> bool:
        """Whether yᵀx = 0, so that a constant in K has no effect."""
        return self.lines == 2 or (self.lines == 1 and not self.total)

    def convexified(self) -> tuple[Array, Array, float]:
        plain = self.without_constant()
        return super().convexified() if plain is self else plain.convexified()

    def charged_bounds(
        self, point: Point[Array], multipliers: Values | None, most: float
    ) -> Iterator[LowerBound]:
        """Bounds by K + δI; see `QP.charged_bounds`.

        With 0 ≤ x ≤ u the weights v of K have ‖v‖² ≤ uᵀx, also those that are differences of two x.
        So F̃ is F + ½hδ(‖v‖² - uᵀx). The rounding of K + δI and of the linear term is charged, too.
        """
        plain, problem = self.plain, self.problem
        if plain is not self:
            yield from plain.charged_bounds(plain.at(point.x), multipliers, most)
            return
        if not self.is_bounded or not problem.curvature_known or problem.features is not None:
            return
        h, widest, weights = self.hessian, self.widest, self.kernel_weights(point.x)
        here = max(0.5 * h * float((widest * point.x).sum() - weights @ weights), 0.0)
        squares = np.square(widest).sum() * (1 if np.ndim(widest) else self.n)
        per_curvature = max(here, 0.125 * h * float(squares) / MAX_CHARGE)
        if any(-met * per_curvature > most for met in problem.curvatures_met(self.lines)):
            return
        delta = problem.zero_tolerance - problem.least_curvature(self.lines)
        if delta * per_curvature > most:
            return
        convex = self.raised(delta)
        if convex.plain is not convex or not convex.is_convex:
            return
        # What is added to the diagonal may be larger by its rounding.
        added = (1.0 + 8.0 * EPS) * (delta + EPS * (convex.gram.largest + delta))
        price, always = 0.5 * h * added * widest, 0.0
        if self.total:
            always = (1.0 + 8.0 * EPS) * float(price) * self.total
        else:
            price = price + 4.0 * EPS * (np.abs(self.linear) + price)
            convex = replace(convex, linear=self.linear - price)
        bounds = convex.bounds(convex.at(point.x), multipliers)
        values = (bound.value for bound in bounds)
        if always:
            values = (float(np.nextafter(bound.value - always, -np.inf)) for bound in bounds)
        yield from charged(values, -delta, delta * here)

    def kernel_weights(self, x: Array) -> Array:
        """v with xᵀHx = hvᵀKv."""
        return self.signs * x

    def differs_in_upper_bounds(self, other: QP | None) -> bool:
        names = ("problem", "hessian", "lines", "total")
        return (
            other is not None
            and all(getattr(other, name, None) == getattr(self, name) for name in names)
            and np.array_equal(other.linear, self.linear)
        )

    def refuse_without_optimum(self) -> None:
        """Raise `UnboundedProblem` if a weight, or a pair of them, proves it, without upper bounds.

        Along a weight, or a pair of opposite classes on the line yᵀx = 0, F is ½ct² + at with the
        curvature c and the slope a; it falls without end for c < 0, and for c = 0 and a < 0.
        `InfeasibleProblem` if an upper bound is negative, or a class cannot sum to t/2.
        """
        least = float(np.min(self.upper))
        if least < 0.0:
            raise InfeasibleProblem("upper", "at least 0, the lower bound", repr(least))
        if self.total:
            weight, members = self.least_filled
            if weight > members * float(self.upper) * (1.0 + 1e-12):
                among = "the smaller class, of size" if self.lines == 2 else "all points,"
                raise InfeasibleProblem(
                    "upper", f"at least {weight / members!r} = {weight:g}/{members}",
                    repr(float(self.upper)),
                    f"Otherwise the weights of {among} {members}, cannot sum to {weight:g}.",
                )  # fmt: skip
        elif np.any(np.isinf(self.upper)):
            (_refuse_weight if self.lines == 0 else _refuse_pair)(self)

    @property
    def solved_as(self) -> str:
        lines = ("", " with one equation", " with two equations")[self.lines]
        return f"a quadratic program on a box{lines}, by {self.usual_solver}"

    @property
    def is_bounded(self) -> bool:
        return bool(np.all(np.isfinite(self.upper))) or self.total > 0.0

    @property
    def is_convex(self) -> bool:
        # Beside a large constant, curvature of any size would pass for rounding.
        return self.known_convex or self.plain.without_constant().problem.is_convex(self.lines)

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

    @property
    def _steepest(self) -> float:
        """Bound on |(Hx)_i|, up to the multipliers of the lines, for weights of the given total.

        A constant in K has no effect, as yᵀx = 0 with two lines.
        """
        return self.hessian * self.problem.spread * self.total

    def curvature(
        self, point: Point[Array], optimality: Optimality, tol: float
    ) -> tuple[Curvature, float, int]:
        """Curvature on the tangent space of the free and weakly active variables.

        Reduced gradients up to tol times their unit count as zero.
        """
        lower, upper = self.at_bounds(point.x, tol)
        free = ~(lower | upper)
        weak = ~free & (np.abs(optimality.reduced) <= tol * optimality.unit)
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

    def remarks(self, point: Point[Array], claim: Claim, bounded: bool) -> list[str]:
        """Sentences on missing upper bounds, on curvature that may be rounding, and on a normal
        without a positive squared norm.

        For the latter see Haasdonk (2005), 7.3-7.4.
        """
        if claim < Claim.STATIONARY:
            return []
        words = []
        if claim < Claim.GLOBAL and (curved := self.problem.curved_by_rounding(self.lines)):
            words = [curved]
        if claim is Claim.GLOBAL and self.known_convex and not self.is_bounded:
            words = ["Without upper bounds, eigenvalues within rounding of zero count as zero."]
        return words + self._about_margin(point)

    def _about_margin(self, point: Point[Array]) -> list[str]:
        x, problem = point.x, self.problem
        if np.ndim(self.linear) or problem.classes.size != 2:
            return []  # It is no separation of two classes.
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

    def central_start(self) -> Array:
        """Equal weights in each class (Haasdonk 2005, section 7.3)."""
        positive, negative = self.problem.class_sizes
        if not negative:
            return self.project(np.full(self.n, self.total / self.n))
        largest = self.extent(self.typical_width)[1] * min(positive, negative)
        return self.project(np.where(self.signs > 0, largest / positive, largest / negative))


def raised(problem: KernelProblem, amount: float) -> KernelProblem:
    """The same labels with K + aI."""
    K = problem.K.copy()
    K[np.diag_indices(problem.n)] += amount
    return problem.with_gram(DenseGram.of_own(K, known_symmetric=True))


def _refuse_weight(qp: BoxLineQP) -> None:
    """Raise `UnboundedProblem` if F falls without end along a single weight."""
    diagonal, slope = qp.gram.diagonal, np.full(qp.n, qp.linear)
    endless = np.isinf(np.full(qp.n, qp.upper))
    endless &= (diagonal < 0.0) | ((diagonal == 0.0) & (slope < 0.0))
    if not endless.any():
        return
    worst = int(np.argmin(np.where(endless, diagonal, np.inf)))
    raise UnboundedProblem(
        f"without an upper bound and without a bias the program is unbounded: K[{worst}, {worst}] "
        f"= {diagonal[worst]:.6g} ≤ 0, so the objective is unbounded along that weight (Lin & "
        "Lin 2003, Theorem 10). Use a finite C.",
        np.where(np.arange(qp.n) == worst, 1.0, 0.0),
    )


def _refuse_pair(qp: BoxLineQP) -> None:
    """Raise `UnboundedProblem` if F falls without end along two weights of opposite classes."""
    diagonal, slope, y = qp.gram.diagonal, np.full(qp.n, qp.linear), qp.problem.y
    free = np.isinf(np.full(qp.n, qp.upper))
    positive, negative = np.flatnonzero(free & (y > 0)), np.flatnonzero(free & (y < 0))
    for i in positive if negative.size else ():
        crossed = qp.gram.block(np.array([i]), negative)[0]
        squared = diagonal[i] + diagonal[negative] - 2.0 * crossed
        closest = np.flatnonzero(squared <= 0.0)
        for k in closest[np.argsort(squared[closest], kind="stable")].tolist():
            j, both = int(negative[k]), float(crossed[k])
            # Where terms cancel, the sign of a rounded sum proves nothing; that of fsum is exact.
            exact = math.fsum([diagonal[i], diagonal[j], -both, -both])
            if exact < 0.0 or (exact == 0.0 and math.fsum([slope[i], slope[j]]) < 0.0):
                raise UnboundedProblem(
                    f"without an upper bound the program is unbounded: points {i} and {j} of "
                    f"opposite classes have K_ii + K_jj - 2K_ij = {exact:.6g} ≤ 0, so the "
                    "objective is unbounded along that pair (Lin & Lin 2003, Theorem 5). Use "
                    "a finite C.",
                    np.where(np.isin(np.arange(qp.n), [int(i), j]), 1.0, 0.0),
                )
