"""Curvature along equations, multipliers that fit a gradient, and lower bounds from any."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from indefinite_opt.foundation import EPS, Array, Values, cached_property, one_thread
from indefinite_opt.modeling.gaps import CANCELLED
from indefinite_opt.modeling.linear_programs import solved_by_highs
from indefinite_opt.modeling.quadratic_programs.equilibration import balancing_units
from indefinite_opt.modeling.quadratic_programs.exact_bound import exact_bound, is_semidefinite
from indefinite_opt.modeling.quadratic_programs.nearby import exact_residuals
from indefinite_opt.modeling.quadratic_programs.polyhedron import Polyhedron
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

    with σ‖d‖² for the Σ σ_i d_i² of `RowCurvature.least`. If F is convex along Ax = b only, that
    takes -Lo from r and -½oᵀWo from the value, with L and W of `RowCurvature.folded` and o = Ax - b
    = -Ad. The right-hand side is minimised for each d_i on its own, between ends that the
    constraints prove. Where it has no minimum, as d_i has no end and r_i is rounding, it is taken
    at multipliers nearby with r_i = 0; see `_balanced`. Subtracted are the rounding of the sums and
    what these multipliers may change. Where that proves nothing, or the value is 0 and any rounding
    too much, fractions may prove more; ends that only linear programs prove are left for last.
    """
    bound = _between(curvature, q, body, point, z, y, body.intervals)
    if np.isfinite(body.intervals).all():
        return bound
    if (np.isinf(bound) or bound < point.value == 0.0) and curvature.is_semidefinite:
        bound = max(bound, exact_bound(curvature.P, q, body, point.x, z, y))
    return bound if np.isfinite(bound) else _between(curvature, q, body, point, z, y, body.ranges)


def _between(
    curvature: RowCurvature, q: Array, body: Polyhedron, point: Point[Array], z: Array, y: Array,
    ends: tuple[Array, Array],
) -> float:  # fmt: skip
    """The bound of `convex_bound` where every feasible point is between these ends."""
    x, n = point.x, body.n
    size, rows = np.abs(x), np.vstack([body.G, body.A])
    steep = curvature.sizes @ size + np.abs(q)
    over, _, sizes = body.sides(x)
    multipliers, doubt = np.concatenate([np.maximum(z, 0.0), y]), np.zeros(len(rows))
    count = n + len(rows) + 8.0
    low, high = ends
    falls, rises = np.minimum(low - x, 0.0), np.maximum(high - x, 0.0)
    sigma, (_, L, W) = curvature.least, curvature.folded
    L = L / np.reshape(curvature.unit, (-1, 1))
    missed, unsure = over[body.h.size :], (n + 2.0) * EPS * sizes[body.h.size :]
    turned = L @ missed
    turned_error = np.abs(L) @ (unsure + count * EPS * np.abs(missed))
    # Rounding that costs more than a thousandth of the default tolerance is avoided by exact sums.
    worth = 1e-9 * CANCELLED * float(size @ steep) / n

    def lowest(slopes: Array, error: Array) -> Array:
        down, up = _lowest(slopes - error, rises, sigma), _lowest(-slopes - error, -falls, sigma)
        return down + up

    def slopes_at(multipliers: Array) -> tuple[Array, Array]:
        """r and its rounding."""
        slopes = point.gradient + rows.T @ multipliers
        error = count * EPS * (steep + np.abs(rows.T) @ np.abs(multipliers))
        with np.errstate(invalid="ignore"):
            dear = ~(lowest(slopes, np.zeros(n)) - lowest(slopes, error) <= worth)
        if dear.any():
            sums = np.hstack([curvature.P[dear], rows.T[dear]])
            exact = _summed_exactly(sums, np.concatenate([x, multipliers]), -q[dear])
            if exact is not None:
                slopes[dear], error[dear] = exact, EPS * np.abs(exact)
        return slopes - turned, error + turned_error

    slopes, error = slopes_at(multipliers)
    balanced, terms = np.zeros(n, np.bool_), np.vstack([curvature.P, q, L.T])
    while (endless := np.isinf(lowest(slopes, error)) & ~balanced).any():
        balanced |= endless
        nearby = _balanced(rows, terms, body.h.size, balanced, multipliers, slopes_at)
        if nearby is None:
            break
        multipliers, doubt = nearby
        slopes, error = slopes_at(multipliers)
        error += np.abs(rows.T) @ doubt
        slopes[balanced] = error[balanced] = 0.0
    least = lowest(slopes, error)
    rounding = float((np.abs(multipliers) + doubt) @ sizes) + float(size @ steep)
    rounding += float(np.abs(least[np.isfinite(least)]).sum())
    bound = point.value + float(multipliers @ over) - float(doubt @ np.abs(over))
    bound += float(least.sum()) - count * EPS * rounding
    bound -= 0.5 * (1.0 + count * EPS) * float(W @ (np.abs(missed) + unsure) ** 2)
    return bound if np.isfinite(bound) else -np.inf


def _balanced(
    rows: Array,
    terms: Array,
    inequalities: int,
    chosen: NDArray[np.bool_],
    multipliers: Array,
    slopes_at: Callable[[Array], tuple[Array, Array]],
) -> tuple[Array, Array] | None:
    """Multipliers within `doubt` of which there are some with slope 0 in the chosen variables.

    As many rows as independent columns are changed, those with large multipliers: the first that a
    QR decomposition with pivoting takes. If B are their entries, r the slopes and R ≈ B⁻ᵀ, changes
    δ with Bᵀδ = -r satisfy δ = -Rr + (I - RBᵀ)δ. So they exist, and |δ| ≤ 2ω, where |Rr| ≤ ω and
    |I - RBᵀ|ω ≤ ½ω (see Rump 2010, Verification methods: rigorous results using floating-point
    arithmetic, Acta Numerica 19). Other columns must be combinations of these with simple weights,
    exactly, in the rows and in the other `terms` of the slopes. None if that fails or an inequality
    could get a negative multiplier.
    """
    members, weights = np.flatnonzero(chosen), np.abs(multipliers)
    weights[inequalities:] = float(weights.sum()) or 1.0  # equations admit both signs
    weighted = rows[:, members] * weights[:, None]
    lengths = np.abs(weighted).max(axis=0, initial=0.0)
    weighted /= np.where(lengths > 0.0, lengths, 1.0)
    if not np.isfinite(weighted).all() or not lengths.any():
        return None
    triangle, order = qr(weighted, mode="r", pivoting=True, check_finite=False)
    sizes = np.abs(np.diagonal(triangle))
    count = int(np.count_nonzero(sizes > RANK_TOLERANCE * sizes[0]))
    _, held = qr(weighted[:, order[:count]].T, mode="r", pivoting=True, check_finite=False)
    held, members, others = held[:count], members[order[:count]], members[order[count:]]
    B = rows[np.ix_(held, members)]
    inverse = np.linalg.inv(B.T)
    both = np.vstack([rows, terms])
    for j in others:
        shares = np.round(64.0 * (rows[held, j] @ inverse)) / 64.0
        left = _summed_exactly(both[:, members], shares, both[:, j])
        if left is None or left.any():
            return None
    nearby = multipliers.copy()
    for _ in range(2):  # from those of a solver, and once more from rounding
        nearby[held] -= inverse @ slopes_at(nearby)[0][members]
    slopes, error = slopes_at(nearby)
    size = np.abs(inverse) @ (np.abs(slopes) + error)[members]
    size += np.sqrt(EPS) * size.max()
    off = np.abs(np.eye(count) - inverse @ B.T)
    off += (count + 2.0) * EPS * (np.abs(inverse) @ np.abs(B.T))
    doubt = np.zeros_like(multipliers)
    doubt[held] = 3.0 * size  # 2ω, and the rounding of all this
    if np.all(off @ size <= 0.4 * size) and np.all((nearby >= doubt)[:inequalities]):
        return nearby, doubt
    return None


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
