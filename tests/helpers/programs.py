"""Quadratic programs on a box and lines as plain numbers after formulations.md, and checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

import indefinite_opt as iopt
from helpers import exact
from indefinite_opt.formulations import as_formulation
from indefinite_opt.quadratic.programs.paired_qp import PairedQP

Array = NDArray[np.float64]
INF = float("inf")
EPS = float(np.finfo(np.float64).eps)
TOL = 1e-6

FORMS = ("SVMDual", "no bias", "ConvexHullDual", "GuoSchuurmansQP")
"""One line, no line, and two lines twice."""


def form(name: str, y: ArrayLike, size: float) -> iopt.Formulation:
    """A formulation whose bound is `size`: C itself, or in units of the least that is feasible."""
    positive = int(np.sum(np.asarray(y) > 0))
    least = 1.0 / min(positive, np.size(y) - positive)
    if name == "ConvexHullDual":
        return iopt.ConvexHullDual(mu=least * max(size, 1.0))
    if name == "GuoSchuurmansQP":
        return iopt.GuoSchuurmansQP(beta=0.5 * least * max(size, 1.0))
    return iopt.SVMDual(C=size, bias=name != "no bias")


@dataclass(frozen=True, eq=False)
class Program:
    """min F(x) = ½h xᵀQx + c eᵀx, 0 ≤ x ≤ u, and none, one or two lines."""

    Q: Array
    y: Array
    h: float
    c: float
    upper: float | Array
    lines: int
    total: float = 0.0
    sense: int = 1
    variable: str = "alpha"

    @classmethod
    def of(cls, K: ArrayLike, y: ArrayLike, formulation: Any) -> Program:
        signs = np.where(np.asarray(y) > 0, 1.0, -1.0)
        Q = np.asarray(K, float) * np.outer(signs, signs)
        if isinstance(formulation, iopt.SVMDual):
            upper = formulation.C * (1.0 if formulation.weights is None else formulation.weights)
            return cls(Q, signs, 1.0, -1.0, upper, int(formulation.bias), sense=-1)
        if isinstance(formulation, iopt.ConvexHullDual):
            return cls(Q, signs, 2.0, 0.0, formulation.mu, 2, 2.0, -1, "alphabar")
        return cls(Q, signs, 2.0, 0.0, formulation.beta, 2, 1.0)

    @property
    def A(self) -> Array:
        return np.vstack([self.y, np.ones(self.y.size)])[: self.lines]

    @property
    def groups(self) -> list[NDArray[np.bool_]]:
        """The points among which weight is exchanged."""
        return [self.y > 0, self.y < 0] if self.lines == 2 else [self.y != 0][: self.lines]

    def gradient(self, x: Array) -> Array:
        """∇F, summed in extended precision where the machine has it; x may be rows of points."""
        product = x.astype(np.longdouble) @ self.Q.astype(np.longdouble)
        return np.asarray(self.h * product + self.c, float)

    def value(self, x: Array) -> Array:
        return 0.5 * np.sum(x * (self.gradient(x) + self.c), axis=-1)

    def stationary_points(self) -> tuple[Array, Array]:
        """The isolated KKT points, one a row, and their values."""
        n, totals = self.y.size, np.array([0.0, self.total])[: self.lines]
        ends = exact.stationary_points(
            self.h * self.Q, np.full(n, self.c), self.upper, self.A, totals
        )
        points = np.array([x for x, _ in ends]).reshape(-1, n)
        return points, np.array([value for _, value in ends])

    @property
    def least(self) -> float:
        """The least value of F."""
        return float(self.stationary_points()[1].min())

    def rounding(self, x: Array) -> float:
        """Of F or of an entry of ∇F, whichever way they are summed up."""
        terms = self.h * np.abs(self.Q) @ np.abs(x) + abs(self.c)
        return 4.0 * x.size * EPS * float(max(terms.max(), np.abs(x) @ terms))

    def rounded_gap(self, x: Array) -> float:
        """Of Σ |multiplier| · slack, what the rounding of the multipliers alone may add up to."""
        terms = self.h * np.abs(self.Q) @ np.abs(x) + abs(self.c)
        slack = np.maximum(x, self.upper - x) if np.isfinite(self.upper) else x
        return 4.0 * x.size * EPS * float(terms @ slack)

    def unit(self, x: Array) -> float:
        """What a violation is compared with."""
        largest = float(np.abs(self.gradient(x) - self.c).max())
        if self.c:
            return max(abs(self.c), 1e-6 * largest)
        # Balanced weights do not notice a constant in K: half the range of its entries counts.
        spread = 0.5 * float(np.ptp(self.Q * np.outer(self.y, self.y)))
        return max(largest, 1e-3 * self.h * spread * self.total) or 1.0

    def _ends(self, x: Array, slack: float) -> Iterator[tuple[NDArray[np.bool_], float, float]]:
        """Each group, its m and its M of Lin & Lin (21), with a slack at the bounds."""
        signed, below, above = -self.y * self.gradient(x), x < self.upper - slack, x > slack
        rising, falling = (np.where(self.y > 0, *ways) for ways in ((below, above), (above, below)))
        for group in self.groups:
            m = np.max(signed[group & rising], initial=-INF)
            yield group, float(m), float(np.min(signed[group & falling], initial=INF))
        if not self.lines:  # no multiplier, or one that is zero
            yield self.y == 0, float(np.max(signed[rising], initial=0.0)), 0.0
            yield self.y == 0, 0.0, float(np.min(signed[falling], initial=0.0))

    def violation(self, x: Array, slack: float = 0.0) -> float:
        """max(0, m - M) of Lin & Lin (21); without lines the largest slope of one weight."""
        return max([0.0, *(m - M for _, m, M in self._ends(x, slack))])

    def least_curvature(self, x: Array) -> float:
        """min dᵀ∇²F d over the critical cone at x, cut to a box: negative if F falls nearby.

        And only then: for a quadratic objective the necessary condition is sufficient, too.
        """
        slack = 1e-6 * float(np.max(np.abs(x)))
        at_lower, at_upper, levels = x <= slack, self.upper - x <= slack, np.zeros(x.size)
        for group, m, M in self._ends(x, slack):
            finite = [end for end in (m, M) if np.isfinite(end)]
            levels[group] = np.mean(finite) if finite else 0.0
        reduced, H = -self.y * self.gradient(x) - levels, self.h * self.Q
        kept = ~(at_lower | at_upper) | (np.abs(reduced) <= 1e-7 * max(1.0, np.abs(H).max()))
        cone = exact.Program.on(
            H[np.ix_(kept, kept)], np.zeros(kept.sum()), np.where(at_lower, 0.0, -1.0)[kept],
            np.where(at_upper, 0.0, 1.0)[kept], A=self.A[:, kept], b=np.zeros(self.lines),
        )  # fmt: skip
        return 2.0 * cone.lowest

    def exchanges(self, x: Array) -> tuple[Array, Array]:
        """Decrease of F where i takes all that it can from j, pair by pair, and its curvature.

        Both are 0 for points that exchange nothing.
        """
        max_step, rest = np.where(self.y > 0, (self.upper - x, x), (x, self.upper - x))
        v, K = -self.y * self.gradient(x), self.h * self.Q * np.outer(self.y, self.y)
        together = np.any([np.outer(group, group) for group in self.groups], axis=0)
        steps = together * np.minimum.outer(max_step, rest)
        curvatures = together * (np.add.outer(np.diag(K), np.diag(K)) - 2.0 * K)
        return steps * np.subtract.outer(v, v) - 0.5 * steps**2 * curvatures, curvatures

    def check_feasible(self, x: Array, steps: int = 0) -> None:
        """Bounds exactly, and lines without drift but what so many steps may round two weights."""
        assert np.all(np.isfinite(x))
        assert x.min() >= 0.0
        assert x.max() <= self.upper
        sums, mass = self.A.astype(np.longdouble) @ x, float(x.sum())
        drift = np.abs(sums - np.array([0.0, self.total])[: self.lines])
        assert np.all(drift <= x.size * EPS * mass + (steps * EPS * self.upper if steps else 0.0))

    def check(self, result: iopt.workflow.Result) -> Array:
        """Everything a result says about itself that can be computed again; its weights.

        Pair steps on kernels of low rank with large weights may take more than ten million.
        """
        x = result.values[self.variable]
        self.check_feasible(x)
        ends = (iopt.Status.SOLVED, iopt.Status.INACCURATE, iopt.Status.MAX_ITER)
        assert result.status in ends
        rounding = self.rounding(x)
        assert self.sense * result.objective == pytest.approx(self.value(x), abs=rounding)
        violation, unit = self.violation(x), self.unit(x)
        assert result.residual * unit <= violation + rounding
        if result.status is iopt.Status.SOLVED:
            assert violation <= TOL * unit + rounding
            # Beyond it two sums of one gradient differ by more than the certificate allows.
            if rounding <= TOL * unit and self.rounded_gap(x) <= TOL * abs(self.value(x)):
                assert result.certificate.claim >= iopt.Claim.STATIONARY
        return x


def smo(
    problem: iopt.KernelProblem, formulation: iopt.Formulation, **options: Any
) -> iopt.workflow.Result:
    return iopt.solve(problem, formulation, solver="smo", **options)


def program_of(problem: iopt.KernelProblem, formulation: iopt.Formulation | str) -> PairedQP:
    """The program that a solver reads."""
    program = as_formulation(formulation).program(problem)
    assert isinstance(program, PairedQP)
    return program


def weights(result: iopt.workflow.Result) -> Array:
    """The only variable of a result."""
    (x,) = result.values.values()
    return x


def check_feasible(program: PairedQP, x: Array, atol: float = 1e-10, at_least: float = 1.0) -> None:
    """Bounds exactly, and lines up to atol times the larger of the weight and at_least."""
    assert x.min() >= 0.0
    assert x.max() <= program.feasible.upper
    atol *= max(at_least, float(x.sum()))
    np.testing.assert_allclose(program.feasible.A @ x, program.feasible.b, rtol=0, atol=atol)
