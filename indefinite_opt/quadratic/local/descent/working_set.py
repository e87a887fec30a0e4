"""A working set of a descent, whose part of the Hessian is kept factorised while the set grows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array, one_thread
from indefinite_opt.quadratic.local.descent._loops import BoxLines, DescentPoint
from indefinite_opt.quadratic.matrices.gram import Gram
from indefinite_opt.quadratic.structures.paired_box import project_line

Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

MIN_CURVATURE_SHARE = 1e-8
"""Least curvature on the set, in units of the largest diagonal entry of K: far above the rounding
of a factor whose pivots are at least this large."""

MAX_HELD_SHARE = 0.2
"""The set is made anew if more than this share of it is at bounds: the work of holding weights
there grows with the square of their number."""

MAX_ACTIVE_SETS = 20
"""Most systems solved in search of a minimum; a handful is usual."""

GROWTH = 1.25
"""Room for a factor, in units of its order, whenever there was not enough."""


class WorkingSet:
    """Weights with at most one equality constraint, on which K is positive definite.

    Moves z of yα keep their sum if there is a constraint: that of the first weight, the reference,
    follows from the others, on which K becomes M_pr = K_pr - K_p0 - K_0r + K_00. With the factor
    M = UᵀU the inverse T = U⁻¹ is kept: M⁻¹ = TTᵀ, and the part of M⁻¹ for some weights is the
    product of their rows of T. Weights that join border U and T. Those that come to a bound stay in
    the set and are held there by multipliers.

    Parameters
    ----------
    gram : Gram
        K, stored as a whole.
    box : BoxLines
        The constraints: one on all weights, or none.

    Attributes
    ----------
    members : (m,) array
        The weights in the order in which they joined.
    contains : (n,) array of bool
    """

    def __init__(self, gram: Gram, box: BoxLines) -> None:
        self.gram, self.tied = gram, box.groups == 1
        self.members: Indices = np.empty(0, np.intp)
        self.contains = np.zeros(gram.n, np.bool_)
        self._inverse = np.empty((0, 0))  # T, with space to grow
        self._least = MIN_CURVATURE_SHARE * float(np.max(np.abs(gram.diagonal)))
        self._work = 0.0

    @property
    def order(self) -> int:
        """The number of independent members."""
        return self.members.size - (1 if self.tied and self.members.size else 0)

    @property
    def inverse(self) -> Array:
        """T."""
        return self._inverse[: self.order, : self.order]

    def take_work(self) -> float:
        """Work since this was last asked, in entries of K read."""
        work, self._work = self._work, 0.0
        return work

    def hold(self, free: Mask) -> bool:
        """Let all free weights join; False if K is not positive definite on them."""
        outside = np.flatnonzero(free & ~self.contains)
        held = np.count_nonzero(~free[self.members])
        if held <= MAX_HELD_SHARE * self.members.size and self.append(outside) == outside.size:
            return True
        self.clear()
        members = np.flatnonzero(free)
        if self.append(members) == members.size:
            return True
        self.clear()
        return False

    def clear(self) -> None:
        """Let all members leave."""
        self.contains[self.members] = False
        self.members = self.members[:0]

    def append(self, points: Indices) -> int:
        """Let points join, except those that make K indefinite; returns how many did."""
        first = 0
        if self.tied and self.members.size == 0:
            first = min(points.size, 1)
            self._join(points[:first])
            points = points[first:]
        if points.size == 0:
            return first
        old, columns = self.order, np.concatenate([self.members, points])
        block = self.gram.block(points, columns)
        if self.tied:
            block -= self.gram.block(self.members[:1], columns)
            block = block[:, 1:] - block[:, :1]
        with one_thread():
            border = block[:, :old] @ self.inverse
            corner = block[:, old:] - border @ border.T
            corner[np.diag_indices(points.size)] -= self._least
            joining, inverse = _definite_part(corner)
            self._work += float(points.size) * (old + points.size) ** 2 / 4.0
            self._border(border[joining].T, inverse)
        self._join(points[joining])
        return first + joining.size

    def _border(self, border: Array, inverse: Array) -> None:
        """Extend T, given U⁻ᵀB and the inverse of the last diagonal block of the new factor."""
        old, count = border.shape
        if old + count > self._inverse.shape[0]:
            larger = np.empty((int(GROWTH * (old + count)),) * 2)
            larger[:old, :old] = self._inverse[:old, :old]
            self._inverse = larger
        T = self._inverse[: old + count, : old + count]
        T[:old, old:] = T[:old, :old] @ (border @ -inverse)
        T[old:, :old] = 0.0
        T[old:, old:] = inverse

    def _join(self, points: Indices) -> None:
        self.members = np.concatenate([self.members, points])
        self.contains[points] = True

    def minimum(self, h: float, box: BoxLines, point: DescentPoint) -> tuple[Mask, Array]:
        """The weights that change on the way to the minimum on the set, and all weights there.

        Those beyond a bound are held there, and those whose multiplier has the wrong sign released,
        all at once, until neither happens: a primal-dual active set method (Hintermüller, Ito &
        Kunisch 2003). That need not end for every K; then the last point is projected.
        """
        members = self.members
        y, alpha = box.y[members], point.alpha[members]
        lower, upper = box.lower[members], box.upper[members]
        low, high = lower - alpha, upper - alpha
        low, high = np.where(y > 0.0, low, -high), np.where(y > 0.0, high, -low)
        with one_thread():
            moves, held = self._held_minimum(point.v[members] / h, low, high)
        there = np.clip(alpha + y * moves, lower, upper)
        if held is not None:
            there = np.where(held * y > 0.0, upper, np.where(held * y < 0.0, lower, there))
        elif self.tied:
            there = project_line(alpha + y * moves, y, float(y @ alpha), upper, lower)
        goal, changed = point.alpha.copy(), np.zeros(self.contains.size, np.bool_)
        goal[members] = there
        changed[members] = there != alpha
        return changed, goal

    def _held_minimum(
        self, slopes: Array, low: Array, high: Array
    ) -> tuple[Array, NDArray[np.int8] | None]:
        """Moves of yα of all members, and at which bound each is held: -1, 0 or 1.

        The latter is None if the moves are not those to the minimum.
        """
        start = moves = self._solved(slopes)
        held = (high <= 0.0).astype(np.int8) - (low >= 0.0)
        for _ in range(MAX_ACTIVE_SETS):
            places = np.flatnonzero(held)
            multipliers = np.zeros(held.size)
            moves = start
            if places.size:
                ends = np.where(held > 0, high, low)[places]
                try:
                    multipliers[places] = np.linalg.solve(
                        self._inverse_part(places), start[places] - ends
                    )
                except np.linalg.LinAlgError:  # every weight is held
                    break
                moves = self._solved(slopes - multipliers)
                moves[places] = ends
            self._work += 2.0 * float(self.order) ** 2 + float(places.size) ** 3 / 12.0
            stays = held * multipliers > 0.0
            outside = (moves > high).astype(np.int8) - (moves < low)
            now = np.where(stays, held, np.where(held == 0, outside, 0)).astype(np.int8)
            if np.array_equal(now, held):
                return moves, held
            held = now
        return moves, None

    def _solved(self, slopes: Array) -> Array:
        """Moves of yα of all members to the minimum without bounds."""
        T = self.inverse
        if not self.tied:
            return T @ (slopes @ T)
        moves = T @ ((slopes[1:] - slopes[0]) @ T)
        return np.concatenate([[-moves.sum()], moves])

    def _inverse_part(self, places: Indices) -> Array:
        """How the moves of some members depend on their slopes: a part of M⁻¹.

        It is rrᵀ with a row r for each: that of T, or minus the sum of all for the reference.
        """
        rows = self.inverse[places - 1] if self.tied else self.inverse[places]
        if self.tied:
            rows[places == 0] = -self.inverse.sum(axis=0)
        self._work += self.order * float(places.size) ** 2 / 6.0
        return rows @ rows.T


def _definite_part(corner: Array) -> tuple[Indices, Array]:
    """Indices on which a symmetric matrix is positive definite, and the inverse of its factor."""
    from scipy.linalg import lapack

    joining, part = np.arange(corner.shape[0]), corner
    while joining.size:
        factor, failed = lapack.dpotrf(part.T, lower=0, clean=1)
        if not failed:
            return joining, lapack.dtrtri(factor, lower=0)[0]
        joining = np.delete(joining, failed - 1)
        part = corner[np.ix_(joining, joining)]
    return joining, np.empty((0, 0))
