"""Curvature of a quadratic function everywhere, and along equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import EPS, Array, afford, cached_property, one_thread
from indefinite_opt.quadratic.matrices.positive_factor import sparse_least_eigenvalue
from indefinite_opt.quadratic.matrices.sparse import (
    Matrix,
    as_dense,
    as_sparse,
    block_of,
    compressed,
    sizes_in,
    with_data,
)
from indefinite_opt.quadratic.matrices.spectrum import (
    norm_bound,
    zero_tolerance,
)
from indefinite_opt.quadratic.matrices.units import in_own_units, own_units
from indefinite_opt.quadratic.programs.qp import RANK_TOLERANCE
from indefinite_opt.quadratic.rows.exact_bound import is_semidefinite

_MAX_DENSE_ORDER = 200
"""Order of the largest part of P, of variables that are connected by products, whose eigenvalues
are computed from all of its entries: some milliseconds."""

_RAISES = 0.5, 2.0, 8.0
"""Roundings of its norm by which the diagonal of P is raised until P is semidefinite exactly."""

_SPARSE_SHARE = 0.1
"""Share of entries that are not zero below which larger parts are factorised as sparse ones."""


class RowCurvature:
    """dᵀPd for all d with d = 0 in fixed variables, and for those with Ad = 0 as well.

    P, symmetric, (n, n), and A, (k, n), are dense or sparse; A may be a function that returns it,
    which is only called if P is not semidefinite everywhere. P is judged in each variable's own
    unit, in z with x = unit∘z; see `own_units`. `fixed` is a mask, by default of no variable.

    >>> curvature = RowCurvature(np.diag([-1.0, 1.0]), np.array([[1.0, 0.0]]))
    >>> curvature.is_psd, curvature.is_convex
    (False, True)
    """

    def __init__(
        self, P: Matrix, A: Matrix | Callable[[], Matrix], fixed: NDArray[np.bool_] | None = None
    ) -> None:
        self.given, self._given_rows = P, A
        self.P = as_sparse(P)
        self.fixed = np.zeros(self.n, dtype=bool) if fixed is None else fixed

    @cached_property
    def _rows(self) -> Matrix:
        return self._given_rows() if callable(self._given_rows) else self._given_rows

    @cached_property
    def moving(self) -> Any:
        """P without the rows and columns of fixed variables, sparse, (n, n)."""
        return without(self.fixed, self.P)

    @property
    def n(self) -> int:
        """Number of variables."""
        return int(self.P.shape[0])

    @cached_property
    def A(self) -> Array:
        """The rows without the columns of fixed variables, dense, (k, n)."""
        A = as_dense("A", self._rows)
        return np.where(self.fixed, 0.0, A) if self.fixed.any() else A

    @cached_property
    def dense(self) -> Array:
        """P, dense, (n, n)."""
        return as_dense("P", self.given)

    @cached_property
    def sizes(self) -> Any:
        """|P|, sparse, (n, n)."""
        return sizes_in(self.P)

    @cached_property
    def unit(self) -> Array | float:
        """The units of the variables, (n,), or 1.0 if they are good as they are."""
        units = own_units(self.moving)
        return 1.0 if units is None else units

    @cached_property
    def _scaled(self) -> Any:
        """P in z without fixed variables, sparse."""
        unit = self.unit
        if isinstance(unit, float):
            return self.moving
        moving = self.moving
        lines = np.repeat(unit, np.diff(moving.indptr))
        return with_data(moving, moving.data * (lines * unit[moving.indices]))

    @cached_property
    def norm(self) -> float:
        """A bound on the norm of P in z."""
        return norm_bound(self._scaled)

    @cached_property
    def _least(self) -> tuple[Array, Array]:
        """The least eigenvalue of the part of P in z that a variable is connected with; its error.

        Two (n,) arrays; 0 for a row of zeros. For large parts it may be 99 % of that, or 0 where it
        is rounding.
        """
        from scipy.sparse.csgraph import connected_components

        P, least = self._scaled, np.array(self._scaled.diagonal(), dtype=float)
        error = np.full(self.n, self._zero)
        others = np.diff(P.indptr) - (least != 0.0)
        if not others.any():
            return least, error
        whole = P.nnz == self.n**2
        part = np.zeros(self.n, dtype=int) if whole else connected_components(P, False)[1]
        order, counts = np.argsort(part, kind="stable"), np.bincount(part)
        ends = np.cumsum(counts)
        for k in np.flatnonzero(counts > 1).tolist():
            members = order[ends[k] - counts[k] : ends[k]]
            least[members], error[members] = self._least_of(P, members)
        return least, error

    def _least_of(self, P: Any, members: NDArray[np.intp]) -> tuple[float, float]:
        """The least eigenvalue of a block of a symmetric sparse matrix, or a value just below; its
        error."""
        order, zero, whole = members.size, self._zero, members.size == self.n
        if order > _MAX_DENSE_ORDER:
            block = P if whole else P[members][:, members]
            if block.nnz < _SPARSE_SHARE * order**2:
                found = sparse_least_eigenvalue(block, zero)
                if found is not None:
                    return found
        afford(4.0 / 3.0 * order**3)
        dense = as_dense("P", P) if whole else block_of(P, members)
        with one_thread():
            return float(np.linalg.eigvalsh(dense)[0]), zero

    @cached_property
    def least_everywhere(self) -> float:
        """Least eigenvalue of P in z, without rows and columns of zeros."""
        curved = np.diff(self.moving.indptr) > 0
        return float(np.min(self._least[0][curved], initial=np.inf)) if curved.any() else 0.0

    @cached_property
    def _least_along_rows(self) -> float:
        """The same on the directions along Ad = 0; inf if there are none."""
        if not self._rows.shape[0]:
            return self.least_everywhere
        return self.restricted(np.flatnonzero(~self.fixed), self.A)[0]

    @property
    def _zero(self) -> float:
        return zero_tolerance(self.n, self.norm)

    @property
    def is_convex(self) -> bool:
        """Whether dᵀPd ≥ 0 along Ad = 0, up to rounding in each variable's own unit."""
        return self.is_psd or self._least_along_rows >= -self._zero

    @property
    def is_psd(self) -> bool:
        """Whether dᵀPd ≥ 0 whatever Ad is, up to rounding."""
        return self.least_everywhere >= -self._zero

    @property
    def lacking(self) -> Array:
        """δ with P + diag(δ) convex, up to rounding, along Ad = 0 if that is the cheaper, (n,)."""
        least, error = self._least
        lacking = np.where(least < 0.0, error - least, 0.0)
        if self._least_along_rows > 0.5 * self.least_everywhere:
            lacking = np.where(self._alone, 0.0, 2.0 * self._zero - self._least_along_rows)
        return np.where(self.fixed, 0.0, lacking / self.unit / self.unit)

    @cached_property
    def is_semidefinite(self) -> bool:
        """Whether P as it is, without any rounding, is proved to be so."""
        return self.is_psd and is_semidefinite(self.moving)

    @cached_property
    def raised(self) -> tuple[Any, Array] | None:
        """P + diag(δ), rounded, which is proved to be semidefinite where fixed variables stay; δ.

        δ is 0 if P is so itself, and else as small as the rounding of P: it is no less than what
        the rounded diagonal exceeds that of P by. The matrix is sparse, (n, n); δ is (n,). None if
        nothing is proved.
        """
        from scipy import sparse

        if self.is_semidefinite:
            return self.P, np.zeros(self.n)
        if not self.is_psd:
            return None
        given, curved = self.P.diagonal(), np.diff(self._scaled.indptr) > 0
        for share in _RAISES:
            # Units are powers of two, by which nothing is rounded.
            above = (self._scaled.diagonal() + share * EPS * self.norm) / self.unit / self.unit
            above = np.where(curved, above, given)
            raised = as_sparse(self.P - sparse.diags_array(given) + sparse.diags_array(above))
            raised.eliminate_zeros()
            if is_semidefinite(without(self.fixed, raised)):
                return raised, np.nextafter(above - given, np.inf, where=curved, out=0.0 * given)
        return None

    @cached_property
    def folded(self) -> tuple[Matrix, Matrix, Array]:
        """M = P - LA - AᵀLᵀ + AᵀWA in z, convex wherever P is along Ad = 0; L and diagonal W.

        (n, n), (n, k), (k,). dᵀPd = dᵀMd + 2dᵀL(Ad) - (Ad)ᵀW(Ad) for every L and W. With this L the
        first three terms are P between projections onto the directions along the rows; W makes M
        positive across them. Both are zero for rows so long or short that they would overflow.
        Where P is convex for all d, both have no columns, and M and L are sparse.
        """
        if self.is_psd:
            none = compressed(np.zeros(0), np.zeros(0, int), np.zeros(self.n + 1, int), 0)
            return self._scaled, none, np.zeros(0)
        k = self._rows.shape[0]
        afford(4.0 * k * k * self.n)
        A, P = self.A * self.unit, self._scaled.toarray()
        lengths = np.linalg.norm(A, axis=1)
        usable = (lengths > 1e-70) & (lengths < 1e70)
        if not usable.any():
            return P, np.zeros_like(A.T), np.zeros(k)
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
        alone = np.diff(self.moving.indptr) == (self.moving.diagonal() != 0.0)
        if self.is_psd:
            return np.asarray(alone)
        return np.asarray(alone & ~np.any(self.A, axis=0))

    @cached_property
    def least(self) -> Array:
        """σ with proved dᵀMd ≥ Σ σ_i d_i² for all d, with the M of `folded` in x; (n,).

        A variable without products with others has σ_i = P_ii, others the least eigenvalue of the
        part of P that they are connected with. The terms of M, whose sizes are S, go through at
        most 2(k + 5) roundings of eps/2.
        """
        together = ~self._alone
        least: Array | float = self._least[0] - self._least[1]
        if not self.is_psd and together.any():
            (M, L, W), A = self.folded, np.abs(self.A * self.unit)
            afford(4.0 / 3.0 * self.n**3)
            across = np.abs(L) @ A
            S = abs(self._scaled) + across + across.T + (A.T * W) @ A
            with one_thread():
                least = float(np.linalg.eigvalsh(M[np.ix_(together, together)])[0])
            least -= zero_tolerance(self.n, norm_bound(M)) + (len(A) + 5) * EPS * norm_bound(S)
        return np.where(together, least / self.unit / self.unit, self.moving.diagonal())

    def restricted(
        self, kept: NDArray[np.intp], rows: Array, dependent: float = RANK_TOLERANCE
    ) -> tuple[float, float]:
        """Least eigenvalue of P on {d : rows·d = 0, d = 0 outside `kept`}, and its rounding.

        Both are in the units of the kept variables in which no row of P is small beside others.
        Rows are alike in size there; what they say together beyond a share `dependent` counts.
        """
        if not kept.size:
            return np.inf, 0.0
        # Of the rows all singular vectors, and of what they leave the eigenvalues.
        afford(4.0 * len(rows) * kept.size**2 + 4.0 / 3.0 * kept.size**3)
        block, rows = in_own_units(self.dense[np.ix_(kept, kept)], rows[:, kept])
        basis = np.eye(kept.size)
        largest = np.max(np.abs(rows), axis=1, initial=0.0)
        rows = rows[largest > 0.0] / largest[largest > 0.0, None]
        if rows.size:
            _, sizes, across = np.linalg.svd(rows)
            basis = across[int(np.sum(sizes > dependent * sizes[0])) :].T
        if not basis.size:
            return np.inf, 0.0
        norm = norm_bound(block)
        if norm == 0.0:
            return 0.0, 0.0
        with one_thread():
            least = float(np.linalg.eigvalsh(basis.T @ block @ basis)[0])
        return least, zero_tolerance(kept.size, norm)


def without(fixed: NDArray[np.bool_], P: Any) -> Any:
    """A sparse P without the rows and columns of some variables, whose places stay empty."""
    if not fixed.any():
        return P
    kept = P.copy()
    lines = np.repeat(fixed, np.diff(P.indptr))
    kept.data[lines | fixed[P.indices]] = 0.0
    kept.eliminate_zeros()
    return kept
