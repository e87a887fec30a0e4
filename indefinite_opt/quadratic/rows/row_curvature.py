"""Curvature of a quadratic function everywhere, and along equations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import EPS, Array, cached_property, one_thread
from indefinite_opt.quadratic.matrices.spectrum import (
    in_own_units,
    norm_bound,
    own_units,
    zero_tolerance,
)
from indefinite_opt.quadratic.rows.exact_bound import is_semidefinite
from indefinite_opt.quadratic.structures.qp import RANK_TOLERANCE


@dataclass(frozen=True, eq=False)
class RowCurvature:
    """dᵀPd for all d, and for those with Ad = 0.

    P is judged in each variable's own unit, in z with x = unit∘z; see `own_units`.

    >>> curvature = RowCurvature(np.diag([-1.0, 1.0]), np.array([[1.0, 0.0]]))
    >>> curvature.is_convex_everywhere, curvature.is_convex
    (False, True)
    """

    P: Array
    """Symmetric, (n, n)."""
    A: Array
    """(k, n)."""

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.P)

    @cached_property
    def sizes(self) -> Array:
        """|P|, (n, n)."""
        return np.abs(self.P)

    @cached_property
    def unit(self) -> Array | float:
        """The units of the variables, (n,), or 1.0 if they are good as they are."""
        units = own_units(self.P)
        return 1.0 if units is None else units

    @cached_property
    def _scaled(self) -> Array:
        """P in z."""
        unit = self.unit
        return self.P if isinstance(unit, float) else self.P * unit * unit[:, None]

    @cached_property
    def norm(self) -> float:
        """A bound on the norm of P in z."""
        return norm_bound(self._scaled)

    @cached_property
    def least_everywhere(self) -> float:
        """Least eigenvalue of P in z, without rows and columns of zeros."""
        curved = np.any(self.P, axis=1)
        block = self._scaled if curved.all() else self._scaled[np.ix_(curved, curved)]
        with one_thread():
            return float(np.linalg.eigvalsh(block)[0]) if block.size else 0.0

    @cached_property
    def _least_along_rows(self) -> float:
        """The same on the directions along Ad = 0; inf if there are none."""
        if not len(self.A):
            return self.least_everywhere
        return self.restricted(np.arange(self.n), self.A)[0]

    @property
    def _zero(self) -> float:
        return zero_tolerance(self.n, self.norm)

    @property
    def is_convex(self) -> bool:
        """Whether dᵀPd ≥ 0 along Ad = 0, up to rounding in each variable's own unit."""
        return self.is_convex_everywhere or self._least_along_rows >= -self._zero

    @property
    def is_convex_everywhere(self) -> bool:
        """Whether dᵀPd ≥ 0 for all d, up to rounding."""
        return self.least_everywhere >= -self._zero

    @cached_property
    def is_semidefinite(self) -> bool:
        """Whether P is proved to be positive semidefinite as it is, without any rounding."""
        return self.is_convex_everywhere and is_semidefinite(self.P)

    @cached_property
    def folded(self) -> tuple[Array, Array, Array]:
        """M = P - LA - AᵀLᵀ + AᵀWA in z, convex wherever P is along Ad = 0; L and diagonal W.

        (n, n), (n, k), (k,). dᵀPd = dᵀMd + 2dᵀL(Ad) - (Ad)ᵀW(Ad) for every L and W. With this L the
        first three terms are P between projections onto the directions along the rows; W makes M
        positive across them. Both are zero where P is convex for all d, and for rows so long or
        short that they would overflow.
        """
        A, P = self.A * self.unit, self._scaled
        lengths = np.linalg.norm(A, axis=1)
        usable = (lengths > 1e-70) & (lengths < 1e70)
        if self.is_convex_everywhere or not usable.any():
            return P, np.zeros_like(A.T), np.zeros(len(A))
        A, lengths = np.where(usable[:, None], A, 0.0), np.where(usable, lengths, 1.0)
        U, sizes, V = np.linalg.svd(A / lengths[:, None], full_matrices=False)
        kept = sizes > RANK_TOLERANCE * sizes[0]
        U, V = U[:, kept] / sizes[kept], V[kept]
        L = P @ V.T
        L = (L - 0.5 * V.T @ (V @ L)) @ U.T / lengths
        L[self._alone] = 0.0
        W = np.where(usable, self.norm / lengths**2, 0.0)
        across = L @ A
        return P - across - across.T + (A.T * W) @ A, L, W

    @cached_property
    def _alone(self) -> NDArray[np.bool_]:
        """Variables without products with others, which are in no row unless P is convex."""
        alone = np.count_nonzero(self.P, axis=0) == (np.diag(self.P) != 0.0)
        return alone & (self.is_convex_everywhere | ~np.any(self.A, axis=0))

    @cached_property
    def least(self) -> Array:
        """σ with proved dᵀMd ≥ Σ σ_i d_i² for all d, with the M of `folded` in x; (n,).

        A variable without products with others has σ_i = P_ii. The terms of M, whose sizes are S,
        go through at most 2(k + 5) roundings of eps/2.
        """
        least, together = self.least_everywhere - self._zero, ~self._alone
        if not self.is_convex_everywhere and together.any():
            (M, L, W), A = self.folded, np.abs(self.A * self.unit)
            across = np.abs(L) @ A
            S = np.abs(self._scaled) + across + across.T + (A.T * W) @ A
            with one_thread():
                least = float(np.linalg.eigvalsh(M[np.ix_(together, together)])[0])
            least -= zero_tolerance(self.n, norm_bound(M)) + (len(A) + 5) * EPS * norm_bound(S)
        return np.where(together, least / self.unit / self.unit, np.diag(self.P))

    def restricted(self, kept: NDArray[np.intp], rows: Array) -> tuple[float, float]:
        """Least eigenvalue of P on {d : rows·d = 0, d = 0 outside `kept`}, and its rounding.

        Both are in the units of the kept variables in which no row of P is small beside others.
        """
        if not kept.size:
            return np.inf, 0.0
        block, rows = in_own_units(self.P[np.ix_(kept, kept)], rows[:, kept])
        basis = np.eye(kept.size)
        if rows.size:
            _, sizes, across = np.linalg.svd(rows)
            rank = int(np.sum(sizes > RANK_TOLERANCE * sizes[0])) if sizes[0] > 0.0 else 0
            basis = across[rank:].T
        if not basis.size:
            return np.inf, 0.0
        norm = norm_bound(block)
        if norm == 0.0:
            return 0.0, 0.0
        with one_thread():
            least = float(np.linalg.eigvalsh(basis.T @ block @ basis)[0])
        return least, zero_tolerance(kept.size, norm)
