"""What all quadratic programs have in common, however Hessian and constraints are kept."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from indefinite_opt.foundation import Array, Values
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.matrices.sparse import as_dense
from indefinite_opt.quadratic.programs.gaps import at_most
from indefinite_opt.quadratic.programs.program import (
    Curvature,
    LowerBound,
    Point,
    VectorProgram,
    sign_of_curvature,
)

RANK_TOLERANCE = 1e-12
"""Share of the largest singular value of some rows below which others count as zero."""

MAX_CHARGE = 16.0
"""How many times the gap that counts as closed the charge of `QP.charged_bounds` may be anywhere in
the box. Where it is larger, F is not nearly convex, although the charge may be small at a point."""


class QP(VectorProgram):
    """min F(x) = ½ xᵀHx + cᵀx over linear constraints, of any curvature.

    A subclass answers for one way to hold H and one kind of feasible set; solvers that accept this
    class ask it, and need not know which.
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

    def differs_in_upper_bounds(self, other: QP | None) -> bool:
        """Whether all else is known to be as in the other program."""
        return False

    @property
    def plain(self) -> QP:
        """The same F on the feasible set, with fewer terms that cancel; by default itself."""
        return self

    @property
    def is_convex_everywhere(self) -> bool:
        """Whether H is positive semidefinite, not only along the equality constraints."""
        return self.is_convex

    @property
    def known_convex(self) -> bool:
        return False

    def charged_bounds(
        self, point: Point[Array], multipliers: Values | None, most: float
    ) -> Iterator[LowerBound]:
        """Lower bounds on an F that is not convex by so little that they may be within `most`.

        F is raised to a convex one by ½δ‖x‖², δ a proved bound on the negative curvature, and for
        l ≤ x ≤ u a linear function takes away as much or more: F̃ = F + ½δ Σ(x_j - l_j)(x_j - u_j),
        which is at most F. What it is less at the point is charged, and more than that if another
        point is the optimum of F̃. A bound of F̃ is one of F.
        """
        return iter(())

    def gradient(self, x: Array) -> Array:
        """∇F(x) = Hx + c."""
        return self.hessian_times(x) + self.linear

    def value(self, x: Array, gradient: Array | None = None) -> float:
        """F(x), in O(n) if the gradient is given."""
        g = self.gradient(x) if gradient is None else gradient
        return 0.5 * float(x @ (g + self.linear))

    def value_gradient(self, x: Array) -> tuple[float, Array]:
        gradient = self.gradient(x)
        return self.value(x, gradient), gradient

    def standard_form(self, convexified: bool = False) -> StandardForm:
        """The program as declared, or the minimisation of its `convexified` form."""
        H, c, offset = self.H(), np.full(self.n, self.linear), 0.0
        if convexified:
            H, c, offset = self.convexified()
        sense, constant = 1 if convexified else self.sense, offset + self.constant
        return StandardForm(sense, c, *self.feasible.constraints, H if H.any() else None, constant)

    def convex_objective(self, variables: Mapping[str, Any]) -> Any:
        """The declared objective with the Hessian of `convexified`; None if it is not convex."""
        import cvxpy as cp

        if not self.is_convex:
            return None
        H, c, constant = self.convexified()
        x = variables[self.variable]
        form = 0.5 * cp.quad_form(x, cp.psd_wrap(H)) + c @ x + constant
        return self.sense * (form + self.constant)

    def convexified(self) -> tuple[Array, Array, float]:
        """H̃ ⪰ 0, c̃ and a constant with F(x) = ½xᵀH̃x + c̃ᵀx + constant where Ax = b.

        Only if `is_convex`. If H is positive semidefinite these are H and c; if it is so only along
        the constraints, the curvature across them is projected out, because convex solvers reject
        or misuse an indefinite Hessian.
        """
        H, c = self.H(), np.full(self.n, self.linear)
        if self.is_convex_everywhere:
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


def critical_curvature(
    least_curvature: Callable[..., tuple[float, float]],
    free: tuple[Any, ...],
    held: tuple[Any, ...],
    weak: int,
) -> tuple[Curvature, float, int]:
    """The curvature along the critical cone, as `CompiledProgram.curvature` returns it.

    Where a multiplier of an active constraint is zero, the cone is not a subspace. It then lies
    between two subspaces. If the curvature is nonnegative on the larger one, it is so on the cone;
    if it is negative on the smaller one, it is so on the cone; otherwise it is undecided.
    `least_curvature` is the least eigenvalue of the Hessian on a subspace, inf if that is {0}, and
    its rounding; `free` and `held` are its arguments without and with the `weak` constraints that
    are active with a zero multiplier.
    """
    least, rounding = least_curvature(*free)
    sign = sign_of_curvature(least, rounding)
    if sign is not Curvature.NEGATIVE or not weak:
        return sign, least, weak
    inside, rounding = least_curvature(*held)
    if sign_of_curvature(inside, rounding).is_nonnegative:
        return Curvature.UNDECIDED, least, weak
    return Curvature.NEGATIVE, inside, 0


def charged(values: Iterable[float], least: float, worth: float) -> Iterator[LowerBound]:
    """Bounds of a convex function that is less than F by `worth` at a point, with the reason.

    `least` is a bound on the eigenvalues of H.
    """
    why = (
        f"Nonconvex by eigenvalues down to -{at_most(-least, 2)} only; what that is worth here, "
        f"{at_most(worth, 2)}, is charged to the dual bound, which meets the objective."
    )
    for value in values:
        yield LowerBound(value, None, why)
