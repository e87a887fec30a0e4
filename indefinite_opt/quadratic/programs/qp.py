"""What all quadratic programs have in common, however Hessian and constraints are kept."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from indefinite_opt.foundation import Array
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.matrices.sparse import as_dense
from indefinite_opt.quadratic.programs.program import VectorProgram

RANK_TOLERANCE = 1e-12
"""Share of the largest singular value of some rows below which others count as zero."""


class QP(VectorProgram):
    """min F(x) = ½ xᵀHx + cᵀx over linear constraints, of any curvature.

    Each subclass holds H in one way, and has one kind of feasible set; solvers that accept this
    class need not know which.
    """

    title = "a quadratic program with linear constraints"
    usual_solver = "multistart"
    linear: float | Array
    """c, a number for all variables or one per variable."""

    @abstractmethod
    def H(self) -> Array:
        """The Hessian, (n, n), which callers must not write into."""

    @abstractmethod
    def hessian_times(self, x: Array) -> Array:
        """Hx."""

    @property
    def is_psd(self) -> bool:
        """Whether H is positive semidefinite, not only along the equality constraints."""
        return self.is_convex

    @property
    def known_convex(self) -> bool:
        return False

    def gradient(self, x: Array) -> Array:
        """∇F(x) = Hx + c."""
        return self.hessian_times(x) + self.linear

    def value(self, x: Array, gradient: Array | None = None) -> float:
        """F(x), in O(n) if the gradient is given."""
        g = self.gradient(x) if gradient is None else gradient
        return 0.5 * float(x @ (g + self.linear))

    def standard_form(self, convexified: bool = False) -> StandardForm:
        """The program as declared, or the minimum of a convex form of it; see `_psd_form`."""
        H, c, offset = self.H(), np.full(self.n, self.linear), 0.0
        if convexified:
            H, c, offset = self._psd_form()
        sense, constant = 1 if convexified else self.sense, offset + self.constant
        return StandardForm(sense, c, *self.feasible.constraints, H if H.any() else None, constant)

    def cvxpy_objective(self, variables: Mapping[str, Any]) -> Any:
        """The declared objective with the Hessian of `_psd_form`; None if it is not convex."""
        import cvxpy as cp

        if not self.is_convex:
            return None
        H, c, constant = self._psd_form()
        x = variables[self.variable]
        form = 0.5 * cp.quad_form(x, cp.psd_wrap(H)) + c @ x + constant
        return self.sense * (form + self.constant)

    def _psd_form(self) -> tuple[Array, Array, float]:
        """H̃ ⪰ 0, c̃ and a constant with F(x) = ½xᵀH̃x + c̃ᵀx + constant where Ax = b.

        Only if `is_convex`. If H is positive semidefinite these are H and c; if it is so only along
        the constraints, the curvature across them is projected out, because convex solvers reject
        or misuse an indefinite Hessian.
        """
        H, c = self.H(), np.full(self.n, self.linear)
        if self.is_psd:
            return H, c, 0.0
        _, _, low, high, rows = self.feasible.constraints
        return across_rows(H, c, as_dense("A", rows)[low == high], low[low == high])


def across_rows(H: Array, c: Array, A: Array, b: Array) -> tuple[Array, Array, float]:
    """H̃, c̃ and a constant with ½xᵀHx + cᵀx = ½xᵀH̃x + c̃ᵀx + constant where Ax = b.

    H̃ is H between projections onto the directions along the rows, (n, n).
    """
    offset = np.linalg.lstsq(A, b, rcond=None)[0]
    left, sizes, _ = np.linalg.svd(A.T, full_matrices=False)
    basis = left[:, sizes > RANK_TOLERANCE * sizes[0]]
    crossed, push = H @ basis, H @ offset
    half = crossed - 0.5 * basis @ (basis.T @ crossed)
    H = H - half @ basis.T
    H -= basis @ half.T
    return H, c + push - basis @ (basis.T @ push), 0.5 * float(offset @ push)
