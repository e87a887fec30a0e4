"""The curvature of a quadratic function along the equations of its feasible set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import EPS, Array, cached_property, one_thread
from indefinite_opt.modeling.structures.qp import RANK_TOLERANCE
from indefinite_opt.problem import in_own_units, norm_bound, own_units, zero_tolerance


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

    @property
    def least(self) -> Array:
        """σ with proved dᵀPd ≥ Σ σ_i d_i² for all d, or else for those along Ad = 0; (n,).

        A variable without products with others has σ_i = P_ii.
        """
        if self.is_convex_everywhere or not len(self.A):
            everywhere = np.full(self.n, self.least_everywhere - self._zero)
            alone = np.count_nonzero(self.P, axis=0) == (np.diag(self.P) != 0.0)
            return np.where(alone, np.diag(self.P), everywhere / self.unit / self.unit)
        # The basis of these directions is turned by an angle of the size of the rounding of A
        # times the condition number of A.
        largest, least = self.row_sizes
        turned = (self.n + len(self.A)) * EPS * largest / least
        along = self._least_along_rows - self._zero - 4.0 * self.norm * turned
        return np.full(self.n, along) / self.unit / self.unit

    @cached_property
    def row_sizes(self) -> tuple[float, float]:
        """The largest and the least singular value of A in z that is not zero; 1 and 1 if A is."""
        sizes = np.linalg.svd(self.A * self.unit, compute_uv=False)
        sizes = sizes[sizes > RANK_TOLERANCE * sizes[0]]
        return (float(sizes[0]), float(sizes[-1])) if sizes.size else (1.0, 1.0)

    def restricted(self, kept: NDArray[np.intp], rows: Array) -> tuple[float, float]:
        """Least eigenvalue of P on {d : rows·d = 0, d = 0 outside `kept`}, and its rounding.

        Both are in the units of the kept variables in which no row of P is small beside others.
        """
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
