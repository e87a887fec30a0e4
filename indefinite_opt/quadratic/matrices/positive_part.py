"""Positive semidefinite parts of symmetric matrices that change little from one to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from indefinite_opt.foundation import Array, afford
from indefinite_opt.quadratic.matrices.spectrum import eigenpairs_above

MAX_RARE_SHARE = 0.1
"""Only the eigenpairs of the rarer sign are computed if these are at most this share of all; that
takes a third to a half of the time."""

MIN_FILTERED_ORDER, MAX_FILTERED_SHARE = 250, 0.25
"""From this order on those are followed from matrix to matrix, if they are at most this share."""

DEGREE = 3
"""Degree of the polynomial that amplifies them: with 2 a relaxation of 1,000 variables converges
slower at first."""

SPARE_SHARE, SPARE = 0.3, 20
"""So many more directions are followed, as eigenvalues change their sign."""

WIDENING = 1.1
"""The interval that the polynomial does not amplify ends at so many times the least eigenvalue,
which is known from one step of the power method for each matrix."""


class _Followed(NamedTuple):
    """What is known of the last matrix, times the sign of the eigenvalues that are rare."""

    sign: float
    basis: Array
    """Its leading eigenvectors, approximately, and random ones where these are too few."""
    most: float
    """Its largest eigenvalue."""
    last: Array
    """A vector that the power method makes an eigenvector of the least one."""


@dataclass
class PositivePart:
    """The method for one sequence of matrices.

    From `MIN_FILTERED_ORDER` on a part is not exact. The eigenvectors of the rarer sign are those
    of the matrix in a subspace, which is that of the matrix before, amplified by a Chebyshev
    polynomial (Zhou, Saad, Tiago & Chelikowsky 2006). That takes products with a few vectors in
    place of a decomposition, and alternating directions converge as with exact parts.

    Parameters
    ----------
    positive : int
        Positive eigenvalues of the last matrix, or a guess of their number.
    """

    positive: int
    _followed: _Followed | None = None

    def of(self, G: Array, out: Array) -> None:
        """Set `out` to the projection of G onto the positive semidefinite matrices."""
        order = len(G)
        sign = 1.0 if 2 * self.positive <= order else -1.0
        rare = min(self.positive, order - self.positive)
        if order >= MIN_FILTERED_ORDER and rare <= MAX_FILTERED_SHARE * order:
            values, vectors = self._filtered(G, sign)
        else:
            self._followed = None
            few = rare <= MAX_RARE_SHARE * order
            pairs = eigenpairs_above(sign * G, 0.0) if few else None
            if pairs is None:
                values, vectors = np.linalg.eigh(G)
                sign = 1.0 if 2 * np.count_nonzero(values > 0.0) <= order else -1.0
                chosen = sign * values > 0.0
                pairs = sign * values[chosen], vectors[:, chosen]
            values, vectors = pairs
        half = vectors * np.sqrt(values)
        if sign > 0.0:
            self.positive = values.size
            np.matmul(half, half.T, out=out)
        else:
            self.positive = order - values.size
            np.add(G, half @ half.T, out=out)

    def _filtered(self, G: Array, sign: float) -> tuple[Array, Array]:
        """Positive eigenvalues of sign·G in the subspace that is followed, and their vectors."""
        order, G = len(G), sign * G
        if self._followed is None or self._followed.sign != sign:
            afford(9.0 * order**3)
            values, vectors = np.linalg.eigh(G)
            last = vectors[:, 0]
        else:
            _, basis, most, last = self._followed
            last = G @ last - most * last
            last /= np.linalg.norm(last) or 1.0
            least = WIDENING * min(float(last @ (G @ last)), 0.0)
            values, vectors = _in_subspace(G, _amplified(G, basis, least))
        count = np.count_nonzero(values > 0.0)
        wanted = min(int((1.0 + SPARE_SHARE) * count) + SPARE, order)
        basis = vectors[:, ::-1][:, :wanted]
        if basis.shape[1] < wanted:
            generator = np.random.default_rng(count)
            more = generator.standard_normal((order, wanted - basis.shape[1])) / np.sqrt(order)
            basis = np.hstack([basis, more])
        self._followed = _Followed(sign, basis, float(values[-1]), last)
        return values[values > 0.0], vectors[:, values > 0.0]


def _amplified(G: Array, basis: Array, least: float) -> Array:
    """The Chebyshev polynomial of G on [least, 0] times the columns of a basis."""
    half = -0.5 * least
    if half == 0.0:
        return G @ basis
    before, now = basis, G @ basis / half + basis
    for _ in range(DEGREE - 1):
        before, now = now, 2.0 * (G @ now / half + now) - before
    return now


def _in_subspace(G: Array, columns: Array) -> tuple[Array, Array]:
    """Eigenvalues, ascending, and vectors of G in the span of some columns."""
    Q = np.linalg.qr(columns)[0]
    inner = Q.T @ (G @ Q)
    values, vectors = np.linalg.eigh(0.5 * (inner + inner.T))
    return values, Q @ vectors
