"""Ranges of the variables of a program with one quadratic row that have none of their own."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import SolverFailed
from indefinite_opt.foundation import EPS, Array
from indefinite_opt.modeling.quadratic_row.tree import Ends

_FACES = 3000
"""Most boxes of directions that are examined to prove that points far away are not better."""

_GROWTH, _LARGEST = 8.0, 1e9
"""Factor between the ranges that are tried for variables without ends, and the last of them."""


def extent(program: Any) -> Ends:
    """Ends of every variable at an optimum.

    Those of the rows and bounds where they are finite. Other variables have ±R for the least R that
    is tried for which every point with a larger entry is proved to be worse than a known one.

    Raises
    ------
    SolverFailed
        If none of them is proved.
    """
    low, high = program.base.feasible.intervals
    if np.isfinite(low).all() and np.isfinite(high).all():
        return Ends(low, high)
    starts = [np.clip(np.zeros(program.n), low, high)]
    starts += [np.clip(k * program.row.slope(starts[0]), low, high) for k in (1.0, -1.0)]
    found = [program.surely_feasible(one) for one in starts]
    best = min((one[1] for one in found if one is not None), default=np.inf)
    row, q = program.row, program.base.q
    multipliers = {program.pencil.shift} | (set() if row.equal else {0.0})
    falls = q * row.g < 0.0  # as for t in `a(u) <= t`
    multipliers |= set((-2.0 * q[falls] / row.g[falls]).tolist())
    forms = [_Form.of(program, k) for k in multipliers]
    reach = _GROWTH**-3
    while np.isfinite(best) and reach < _LARGEST:
        if _nothing_beyond(program, forms, Ends(low, high), reach, best):
            far = ~(np.isfinite(low) & np.isfinite(high))  # nothing is known of the others
            ends = np.maximum(low, -reach), np.minimum(high, reach)
            return Ends(np.where(far, ends[0], low), np.where(far, ends[1], high))
        reach *= _GROWTH
    raise SolverFailed(
        "branch and bound needs a range of each variable, and found none that is proved to have an "
        "optimum; give the variables finite bounds"
    )


def _nothing_beyond(
    program: Any, forms: list[_Form], ends: Ends, reach: float, best: float
) -> bool:
    """Whether every feasible x with an entry beyond ±reach, where that has no end, is worse.

    The variables without two ends are tv with t ≥ reach and a largest entry ±1 of v. The faces of
    such v, and the ranges of the others, are divided into boxes. It suffices in each that a
    Lagrangian below the objective, ½mt² + st + k, is above the best at t = reach, and rises.
    """
    far = ~(np.isfinite(ends.low) & np.isfinite(ends.high))
    low = np.where(far, np.maximum(np.minimum(ends.low / reach, 0.0), -1.0), ends.low)
    high = np.where(far, np.minimum(np.maximum(ends.high / reach, 0.0), 1.0), ends.high)
    stack = []
    for j in map(int, np.flatnonzero(far)):
        for sign in (-1.0, 1.0):
            if low[j] <= sign <= high[j]:
                face = low.copy(), high.copy()
                face[0][j] = face[1][j] = sign
                stack.append(face)
    for _ in range(_FACES):
        if not stack:
            return True
        low, high = stack.pop()
        a, b = program.hinges.recession(np.where(far, 0.5 * (low + high), 0.0))
        if not any(form.rises(a, b, low, high, far, reach, best) for form in forms):
            width = (high - low) / np.where(far, 1.0, reach)
            j = int(np.argmax(width))
            if width[j] < 1e-9:
                return False
            middle = 0.5 * (low[j] + high[j])
            for part in ((low[j], middle), (middle, high[j])):
                face = low.copy(), high.copy()
                face[0][j], face[1][j] = part
                stack.append(face)
    return False


class _Form(NamedTuple):
    """½xᵀMx + lᵀx - k of a Lagrangian without its hinges, and the rounding of its numbers."""

    M: Array
    error: Array
    slope: Array
    slope_error: Array
    constant: float
    constant_error: float

    @classmethod
    def of(cls, program: Any, multiplier: float) -> _Form:
        base, row, hinges = program.base, program.row, program.hinges
        M, slope = base.P + multiplier * row.G, base.q + multiplier * row.g
        exact = np.vectorize(_is_sum, otypes=[bool])(M, base.P, multiplier, row.G)
        error = np.where(exact, 0.0, 2.0 * EPS * (np.abs(base.P) + abs(multiplier) * np.abs(row.G)))
        count = 16.0 * EPS
        sizes = np.abs(base.q) + np.abs(multiplier * row.g) + hinges.costs @ np.abs(hinges.R)
        constant = abs(multiplier * row.c) + float(hinges.costs @ np.abs(hinges.r))
        return cls(M, error, slope, count * sizes, -multiplier * row.c, count * constant)

    def rises(
        self,
        a: Array,
        b: float,
        low: Array,
        high: Array,
        far: NDArray[np.bool_],
        reach: float,
        best: float,
    ) -> bool:
        """Whether the Lagrangian with the hinges aᵀx + b is above the best, and rises with t."""
        corners = np.array([np.outer(u, v) for u in (low, high) for v in (low, high)])
        least, most = corners.min(axis=0), corners.max(axis=0)
        np.fill_diagonal(least, np.where(low * high <= 0.0, 0.0, np.minimum(low**2, high**2)))
        sizes = np.maximum(np.abs(least), np.abs(most))
        count = 2.0 * EPS * (self.M.size + 8.0)
        products = 0.5 * np.minimum(self.M * least, self.M * most)
        products -= 0.5 * (self.error + count * np.abs(self.M)) * sizes
        slope = np.minimum((self.slope + a) * low, (self.slope + a) * high)
        slope -= (self.slope_error + count * np.abs(self.slope + a)) * np.abs([low, high]).max(0)
        power = far[:, None] * 1 + far
        m, s, k = (float(products[power == degree].sum()) for degree in (2, 1, 0))
        s, k = s + float(slope[far].sum()), k + float(slope[~far].sum())
        rises = m >= 0.0 and 2.0 * m * reach + s > 0.0
        k += self.constant + b - self.constant_error
        value = m * reach**2 + s * reach + k - 1e-12 * (abs(s) * reach + abs(k))
        return bool(rises and value > best)


def _is_sum(total: float, first: float, multiplier: float, second: float) -> bool:
    """Whether a number is exactly first + multiplier · second."""
    return Fraction(total) == Fraction(first) + Fraction(multiplier) * Fraction(second)
