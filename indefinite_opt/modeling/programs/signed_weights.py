"""Quadratic programs in signed weights, such as those of support vector regression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from indefinite_opt.foundation import Array, derived
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import Construction, Gram, PairedQP, kernel_qp


def signed_qp(
    base: KernelProblem, h: float, c: Array, epsilon: float, upper: float | Array, total: float,
    sense: int, variable: str,
) -> PairedQP:  # fmt: skip
    """½hβᵀKβ + cᵀβ + ε‖β‖₁ on -u ≤ β ≤ u with eᵀβ = 0, and ‖β‖₁ ≤ t, in the parts of β.

    See `PairedQP`; t = 0 stands for no bound of the norm. u is a number, or has an entry per point
    where t = 0.
    """
    linear = np.concatenate([epsilon + c, epsilon - c])
    lines, both = 2 if total else 1, np.tile(upper, 2) if np.ndim(upper) else upper
    made = kernel_qp(_doubled(base), h, linear, both, lines, total, sense, variable)
    box = replace(made.feasible, names=("balance", "norm")[:lines])
    return replace(made, feasible=box, is_split=True)


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

    def centred_points(self) -> KernelProblem | None:
        centred = self.base.centred_points()
        return None if centred is None else _doubled(centred)

    def raised(self, amount: float) -> KernelProblem:
        return _doubled(self.base.raised(amount))

    def known_convex(self, lines: int) -> bool:
        return self.base.known_convex(min(lines, 1))

    def _is_psd_on(self, lines: int) -> bool:
        return self.base._is_psd_on(min(lines, 1))

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

    def with_sums(self) -> None:
        return None

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
