"""Quadratic programs in signed weights, such as those of support vector regression."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from indefinite_opt.foundation import Array, Values, cached_property, derived
from indefinite_opt.modeling.structures.quadratic_program import BoxLineQP, raised
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import Construction, FirstOrder, Gram, Optimality, Point


@dataclass(frozen=True, eq=False)
class SignedQP(BoxLineQP):
    """½hβᵀKβ + cᵀβ + ε‖β‖₁ on -u ≤ β ≤ u with eᵀβ = 0, and ‖β‖₁ ≤ t or without that row.

    It is solved in the parts x = (β₊, β₋) ≥ 0 of β = β₊ - β₋, as a `BoxLineQP` with the labels
    (e, -e) and K in each of four blocks. That is the same program for **every** K. H is 0 along
    directions that change both parts alike: without t the least eᵀx for a given β is ‖β‖₁. With t
    and ε = 0 the row becomes eᵀx = t, as both parts can grow by the same amount until it holds:
    their sum reaches 2nu - ‖β‖₁ ≥ t, because t ≤ nu.
    """

    title = "a quadratic program in signed weights"
    base: KernelProblem = field(kw_only=True)
    """The problem with K and without labels, of which `problem` has four blocks."""

    @classmethod
    def of(
        cls, base: KernelProblem, h: float, c: Array, epsilon: float, upper: float | Array,
        total: float, sense: int, variable: str,
    ) -> SignedQP:  # fmt: skip
        """The program with these numbers; t = 0 stands for no bound of the norm.

        u is a number, or has an entry per point where t = 0.
        """
        linear = np.concatenate([epsilon + c, epsilon - c])
        lines = 2 if total else 1
        both = np.tile(upper, 2) if np.ndim(upper) else upper
        return cls(_doubled(base), h, linear, both, lines, total, sense, variable, base=base)

    @property
    def fixed_sum(self) -> float | None:
        return None  # of β there is none

    # ------------------------------------------------------------------ β and its parts

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {self.variable: (self.base.n,)}

    def values(self, x: Array) -> Values:
        return {self.variable: x[: self.base.n] - x[self.base.n :]}

    def from_values(self, values: Values) -> Array:
        beta = np.asarray(values[self.variable], dtype=float)
        missing = self.total - float(np.abs(beta).sum())
        both = np.zeros(beta.size)
        if missing > 0.0:
            room = np.maximum(float(self.upper) - np.abs(beta), 0.0)
            both = np.minimum(room * (0.5 * missing / (float(room.sum()) or 1.0)), room)
        return self.least_parts(values) + np.tile(both, 2)

    def least_parts(self, values: Values) -> Array:
        """The parts that have nothing in common, whatever the sum of a norm has to be."""
        beta = np.asarray(values[self.variable], dtype=float)
        return np.maximum(np.concatenate([beta, -beta]), 0.0)

    def value(self, x: Array, gradient: Array | None = None) -> float:
        if not self.total:
            return super().value(x, gradient)
        # As ε = 0, what both parts have in common counts by its rounding only.
        slope = self.gradient(x) if gradient is None else gradient
        return 0.5 * float(self.values(x)[self.variable] @ (slope + self.linear)[: self.base.n])

    @cached_property
    def plain(self) -> SignedQP:
        if not self.problem.constant:
            return self
        centred = self.base.centred_points()
        if centred is None:
            return replace(self, problem=self.problem.without_constant())
        return replace(self, problem=_doubled(centred), base=centred)

    def raised(self, amount: float) -> SignedQP:
        base = raised(self.base.without_constant(), amount)
        return replace(self, problem=_doubled(base), base=base)

    def kernel_weights(self, x: Array) -> Array:
        return self.values(x)[self.variable]

    def linear_value(self, x: Array) -> float:
        if not self.total:
            return super().linear_value(x)
        return float(np.asarray(self.linear)[: self.base.n] @ self.values(x)[self.variable])

    def residuals(self, values: Values) -> Values:
        """The excess of each constraint, by the names in this program."""
        beta, upper = values[self.variable], self.upper
        upper = upper[: self.base.n] if isinstance(upper, np.ndarray) else upper
        found = {"balance": np.array([beta.sum()]), "lower": -upper - beta, "upper": beta - upper}
        if self.total:
            found["norm"] = np.array([np.abs(beta).sum() - self.total])
        return found

    def convex_objective(self, variables: Mapping[str, Any]) -> Any:
        import cvxpy as cp

        if not self.is_convex:
            return None
        # The sums of both parts are fixed, so that the first block is K made convex on eᵀβ = 0.
        H, _, constant = self.convexified()
        n, beta, c = self.base.n, variables[self.variable], np.asarray(self.linear)
        form = 0.5 * cp.quad_form(beta, cp.psd_wrap(H[:n, :n])) + 0.5 * (c[:n] - c[n:]) @ beta
        epsilon = 0.5 * float(c[0] + c[n])
        return self.sense * (form + epsilon * cp.norm1(beta) + constant)

    def row_terms(self, x: Array, multipliers: Values) -> float:
        size = np.abs(self.values(x)[self.variable])
        mass, n, multipliers = float(size.sum()), size.size, self.as_held(multipliers)
        lines = np.abs([multipliers[name] for name in self.lines_held])
        total = float(lines @ np.array([mass, mass + self.total])[: self.lines])
        ends = np.where(np.isfinite(self.upper), self.upper, 0.0) * np.ones(2 * n)
        bounds = np.abs(multipliers["lower"]) + np.abs(multipliers["upper"])
        return total + float(bounds @ (ends[:n] + size))

    # ------------------------------------------------------------------ multipliers

    @property
    def lines_held(self) -> tuple[str, ...]:
        return ("balance", "norm")[: self.lines]

    @property
    def line_names(self) -> tuple[str, ...]:
        return super().line_names[:1]  # the norm is an inequality where it is declared

    @property
    def multiplier_shapes(self) -> dict[str, tuple[int, ...]]:
        n = self.base.n
        shapes = dict.fromkeys(self.lines_held, ()) | dict.fromkeys(("lower", "upper"), (n,))
        return {self.spelling(name).name: shape for name, shape in shapes.items()}

    def multipliers(self, first_order: FirstOrder) -> Values:
        lines = zip(self.lines_held, map(np.array, first_order.lines), strict=True)
        above, n = first_order.upper, self.base.n
        return self.as_declared(dict(lines) | {"lower": above[n:], "upper": above[:n]})

    def optimality(
        self, point: Point[Array], multipliers: Values | None, tol: float = 0.0
    ) -> Optimality:
        x, gradient, unit = point.x, point.gradient, self.gradient_unit(point.gradient)
        if multipliers is None:
            first_order = self.first_order(x, gradient, tol)
            multipliers, reduced = self.multipliers(first_order), first_order.reduced
            upper, residual = first_order.upper, first_order.residual
        else:
            held = self.as_held(multipliers)
            reduced = self.reduced(gradient, held)
            upper = np.concatenate([held["upper"], held["lower"]])
            residual = float(np.max(-np.minimum(reduced + upper, 0.0)))
        # Those of x ≥ 0 are no multipliers of a declared constraint.
        paid = self.complementarity(x, np.maximum(reduced + upper, 0.0), upper)
        return Optimality(multipliers, residual / unit, paid, unit, reduced)


class _Doubled(KernelProblem):
    """Each point of a problem twice, with the labels +1 and -1: K in each of four blocks.

    vᵀ(K K; K K)v is wᵀKw for the sum w of both halves of v. So the matrix is convex along the lines
    of a program if and only if K is so for the weights of sum 0 that these leave.
    """

    base: KernelProblem

    @property
    def features(self) -> Array | None:
        points = self.base.features
        return None if points is None else np.vstack([points, points])

    def known_convex(self, lines: int) -> bool:
        return self.base.known_convex(min(lines, 1))

    def _convex_on(self, lines: int) -> bool:
        return self.base._convex_on(min(lines, 1))

    def why_convex(self, lines: int) -> str:
        return self.base.why_convex(min(lines, 1))

    def convexity_allowance(self, lines: int) -> float:
        return 2.0 * self.base.convexity_allowance(min(lines, 1))

    def proved_curvature(self, lines: int, most: int) -> float:
        return 0.0

    def curvatures_met(self, lines: int) -> Iterator[float]:
        yield from self.base.curvatures_met(min(lines, 1))
        # The sum of both halves of v is at most √2 times as long as v.
        yield from (0.5 * curvature for curvature in super().curvatures_met(lines))

    def least_curvature(self, lines: int) -> float:
        return self.base.least_curvature(min(lines, 1))

    def negative_direction(self, lines: int) -> Array | None:
        found = self.base.negative_direction(min(lines, 1))
        return None if found is None else np.concatenate([found, np.zeros(found.size)])


def _doubled(base: KernelProblem) -> KernelProblem:
    """The `_Doubled` of a problem, which is kept with it."""

    def make() -> KernelProblem:
        gram: Gram = base.gram.repeated(2)
        made, known = base.gram.construction, None
        if made is not None:
            allowance, norm = (None if a is None else 2.0 * a for a in (made.allowance, made.norm))
            known = Construction(made.why, made.lines, allowance, norm)
        gram.construction = known
        signs = np.repeat([1.0, -1.0], base.n)
        doubled = _Doubled.from_gram(gram, signs, name=base.name)
        doubled.__dict__["base"] = base
        return doubled

    return derived(base, "doubled", make)
