"""Curvature along equations, multipliers that fit a gradient, and lower bounds from any."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import EPS, Array, Values, cached_property, one_thread
from indefinite_opt.modeling.gaps import CANCELLED
from indefinite_opt.modeling.linear_programs import solved_by_highs
from indefinite_opt.modeling.quadratic_programs.equilibration import balancing_units
from indefinite_opt.modeling.quadratic_programs.polyhedron import Polyhedron, exact_residuals
from indefinite_opt.modeling.structures.qp import RANK_TOLERANCE
from indefinite_opt.modeling.structures.structure import Point
from indefinite_opt.problem import in_own_units, norm_bound, own_units, zero_tolerance
from indefinite_opt.problem.programs import StandardForm


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


def of_rows(body: Polyhedron, multipliers: Values) -> tuple[Array, Array]:
    """z and y, those of the inequalities and of the equations; zeros where there are none."""
    z = multipliers.get("inequalities", np.zeros(body.h.size))
    return z, multipliers.get("equalities", np.zeros(body.b.size))


def reduced(body: Polyhedron, gradient: Array, z: Array, y: Array) -> Array:
    """∇F + Gᵀz + Aᵀy, (n,)."""
    return gradient + body.G.T @ z + body.A.T @ y


def fitted(body: Polyhedron, x: Array, gradient: Array, tol: float) -> Values:
    """The multipliers of the active constraints that leave the least residual ‖·‖₂.

    The residual of each variable is measured in a unit in which its conditions have terms near 1.
    """
    active = body.active_rows(x, tol)
    lower, upper = body.at_bounds(x, tol)
    rows, count = np.vstack([body.G[active], body.A]), int(active.sum())
    row, column = balancing_units(np.vstack([rows, gradient]))
    scaled = rows * row[:-1, None] * column
    columns, target = np.vstack([scaled, -scaled[count:]]).T, -gradient * row[-1] * column
    multipliers = _least(columns, target, lower, upper)
    multipliers[count : len(rows)] -= multipliers[len(rows) :]
    z = np.zeros(body.h.size)
    z[active], y = np.split(multipliers[: len(rows)] * row[:-1] / row[-1], [count])
    left = reduced(body, gradient, z, y)
    return {
        "inequalities": z,
        "equalities": y,
        "lower": np.where(lower, np.maximum(left, 0.0), 0.0),
        "upper": np.where(upper, np.maximum(-left, 0.0), 0.0),
    }


def _least(
    columns: Array, target: Array, lower: NDArray[np.bool_], upper: NDArray[np.bool_]
) -> Array:
    """v ≥ 0 with the least ‖columns·v - target‖, where bounds excuse residuals of one sign.

    A variable at a bound counts as long as its residual has the wrong sign. What is minimised is
    convex, and quadratic as long as the same variables count: Newton's method, whose steps are
    halved until they lead down.
    """
    from scipy.optimize import nnls

    v, missed, counted = np.zeros(columns.shape[1]), np.inf, ~(lower | upper)
    if not v.size:  # on which scipy's function would end the process
        return v

    def wrong(v: Array) -> Array:
        left = columns @ v - target
        return np.where((left > 0.0) & lower | (left < 0.0) & upper, 0.0, left)

    for _ in range(50):  # two to five are usual, and one or two pivots for each multiplier
        best, share = v, 1.0
        if counted.any():
            with contextlib.suppress(RuntimeError):  # without an answer nothing is claimed
                best, _ = nnls(columns[counted], target[counted], maxiter=30 * v.size)
        while np.linalg.norm(wrong(v + share * (best - v))) >= missed:
            share *= 0.5
            if share < EPS:
                return v
        v = v + share * (best - v)
        left = wrong(v)
        missed, before, counted = float(np.linalg.norm(left)), counted, left != 0.0
        counted |= ~(lower | upper)
        if share == 1.0 and np.array_equal(before, counted):
            break
    return v


def strict(
    body: Polyhedron, x: Array, gradient: Array, tol: float, residual: float
) -> tuple[Values, Array] | None:
    """Multipliers of the rows with maximal support, and the reduced gradient that they leave.

    They are positive at as many active constraints as any: each is s + t with 0 ≤ s ≤ 1 and t ≥ 0,
    and the linear program has the largest sum of s, for a gradient in its own unit. The conditions
    may be missed by twice the `residual` of known multipliers: by as much as `tol`, small
    multipliers would seem positive where they cannot be. None if HiGHS does not solve it.
    """
    lower, upper = body.at_bounds(x, tol)
    active, held = np.flatnonzero(body.active_rows(x, tol)), np.flatnonzero(lower ^ upper)
    if not (active.size or body.b.size):
        return None
    bounds = np.eye(body.n)[:, held] * np.where(lower, -1.0, 1.0)[held]
    normals = np.hstack([body.G[active].T, bounds])
    k, m, kept = normals.shape[1], body.b.size, ~(lower & upper)
    slack, free = 2.0 * residual, ~(lower | upper)
    form = StandardForm(
        1, np.repeat([-1.0, 0.0], [k, k + m]), np.repeat([0.0, -np.inf], [2 * k, m]),
        np.repeat([1.0, np.inf], [k, k + m]), (-gradient - slack * free)[kept],
        (-gradient + slack * free)[kept], np.hstack([normals, normals, body.A.T])[kept],
    )  # fmt: skip
    solution = solved_by_highs(form)
    if solution is None:
        return None
    small, rest, y = np.split(solution[0], [k, 2 * k])
    z = np.zeros(body.h.size)
    z[active] = np.maximum(small + rest, 0.0)[: active.size]
    left = reduced(body, gradient, z, y)
    # The tolerance of HiGHS itself, 1e-7, would be a tenth of the default one.
    if np.max(np.abs(left[free]), initial=0.0) > slack + 0.01 * tol:
        return None
    return {"inequalities": z, "equalities": y}, left


def convex_bound(
    curvature: RowCurvature, q: Array, body: Polyhedron, point: Point[Array], z: Array, y: Array
) -> float:
    """A lower bound on F = ½xᵀPx + qᵀx over the polyhedron if F is convex there.

    With d = w - x for a feasible w, multipliers z ≥ 0 and y of the rows and r = ∇F + Gᵀz + Aᵀy,

        F(w) = F(x) + ∇Fᵀd + ½dᵀPd ≥ F(x) + zᵀ(Gx - h) + yᵀ(Ax - b) + rᵀd + ½σ‖d‖²,

    with σ‖d‖² for the Σ σ_i d_i² of `RowCurvature.least`. The right-hand side is minimised for each
    d_i on its own, between ends that the constraints prove. Subtracted are the rounding of the sums
    and, if F is convex along Ax = b only, what the distance of x from these rows may add:
    ‖P‖(2‖d_R‖‖d‖ + ‖d_R‖²) for the part d_R of d across them.
    """
    x, n = point.x, body.n
    z, size = np.maximum(z, 0.0), np.abs(x)
    slopes = reduced(body, point.gradient, z, y)
    steep = curvature.sizes @ size + np.abs(q)
    over, _, sizes = body.sides(x)
    multipliers = np.concatenate([z, y])
    count = n + multipliers.size + 8.0
    error = count * EPS * (steep + np.abs(body.G.T) @ z + np.abs(body.A.T) @ np.abs(y))
    low, high = body.ranges
    falls, rises = np.minimum(low - x, 0.0), np.maximum(high - x, 0.0)
    sigma = curvature.least

    def lowest(slopes: Array, error: Array) -> Array:
        down, up = _lowest(slopes - error, rises, sigma), _lowest(-slopes - error, -falls, sigma)
        return down + up

    least = lowest(slopes, error)
    # Rounding that costs more than a thousandth of the default tolerance is avoided by exact sums.
    worth = 1e-9 * CANCELLED * float(size @ steep) / n
    with np.errstate(invalid="ignore"):
        dear = ~(lowest(slopes, np.zeros(n)) - least <= worth)
    if dear.any():
        sums = np.hstack([curvature.P[dear], body.G.T[dear], body.A.T[dear]])
        exact = _summed_exactly(sums, np.concatenate([x, multipliers]), -q[dear])
        if exact is not None:
            slopes[dear], error[dear] = exact, EPS * np.abs(exact)
            least = lowest(slopes, error)
    rounding = float(np.abs(multipliers) @ sizes) + float(size @ steep)
    rounding += float(np.abs(least[np.isfinite(least)]).sum())
    bound = point.value + float(multipliers @ over) + float(least.sum()) - count * EPS * rounding
    if not curvature.is_convex_everywhere:
        missed = (np.abs(over) + (n + 2.0) * EPS * sizes)[body.h.size :]
        across = float(np.linalg.norm(missed)) / curvature.row_sizes[1]
        length = float(np.linalg.norm(np.maximum(rises, -falls) / curvature.unit))
        bound -= curvature.norm * across * (2.0 * length + across)
    return bound if np.isfinite(bound) else -np.inf


def _summed_exactly(sums: Array, weights: Array, rhs: Array) -> Array | None:
    """sums·weights - rhs with one rounding each; None where that takes long or may overflow.

    Rounding of the sums is worth much where a variable has a wide range, and more than any bound
    where it has none. A million products take some tenths of a second, and factors of these sizes
    are split without over- and underflow.
    """
    sizes = np.abs(np.concatenate([sums.ravel(), weights]))
    sizes = sizes[sizes > 0.0]
    if sums.size > 10**6 or np.any((sizes < 1e-140) | (sizes > 1e140)):
        return None
    return exact_residuals(sums, weights, rhs)


def _lowest(slope: Array, reach: Array, sigma: Array) -> Array:
    """min of slope·t + ½·sigma·t² over 0 ≤ t ≤ reach, entry by entry; reach may be infinite."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        t = np.clip(-slope / sigma, 0.0, reach)
        inside = t * (slope + 0.5 * sigma * t)
        curved = np.where(sigma < 0.0, 0.5 * sigma * reach, 0.0)
        at_end = np.where((reach > 0.0) & (slope + curved < 0.0), reach * (slope + curved), 0.0)
        return np.where(sigma > 0.0, inside, at_end)
