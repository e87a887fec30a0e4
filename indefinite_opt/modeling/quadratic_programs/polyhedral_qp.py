"""Quadratic programs on a polyhedron, of any curvature, as solvers and certificates read them."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import EPS, Array, Values, cached_property, one_thread
from indefinite_opt.modeling.gaps import CANCELLED
from indefinite_opt.modeling.quadratic_programs.equilibration import Equilibrated
from indefinite_opt.modeling.quadratic_programs.polyhedron import (
    Polyhedron,
    exact_residuals,
    solved_by_highs,
)
from indefinite_opt.modeling.structures.qp import QP, RANK_TOLERANCE, critical_curvature
from indefinite_opt.modeling.structures.structure import (
    Curvature,
    Optimality,
    Point,
    StandardForm,
)
from indefinite_opt.problem import in_own_units, norm_bound, own_units, zero_tolerance

__all__ = ["PolyhedralQP"]

_HARMLESS_SHARE = 1e-9
"""Share of the least unit of gaps that the rounding of reduced gradients may cost before they are
summed exactly: a thousandth of the default tolerance."""

_MOST_EXACT = 10**6
"""Most products that are summed exactly, which takes some tenths of a second."""

_SAFE_SIZE = 1e140
"""Largest size, and inverse of the least one, of factors whose product is split without over- and
underflow."""

_MISSED_SHARE = 0.01
"""Share of the tolerance by which HiGHS may miss the conditions for multipliers; its own tolerance
of 1e-7 would be a tenth of the default one."""

_STATIONARY = 1e-6
"""Residual of the first-order conditions, the default tolerance of certificates, up to which a
point may be optimal with the value 0."""

_PIVOTS = 30
"""Most steps for each multiplier while multipliers are fitted; one or two are usual."""


@dataclass(frozen=True, eq=False)
class PolyhedralQP(QP):
    """min F(x) = ½ xᵀPx + qᵀx  s.t.  Gx ≤ h, Ax = b, lower ≤ x ≤ upper.

    Attributes
    ----------
    P : (n, n) array
        Symmetric, of any inertia.
    q : (n,) array
    polyhedron : Polyhedron
        The feasible set.
    notes : tuple of str
        Sentences for the certificate on how the program was read.
    """

    has_own_rows = True
    variable = "x"
    P: Array
    q: Array
    polyhedron: Polyhedron
    sense: int = 1
    constant: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Number of variables."""
        return self.q.size

    @property
    def linear(self) -> Array:  # type: ignore[override]
        """The linear term, (n,)."""
        return self.q

    @property
    def A(self) -> Array:
        """Rows of the equality constraints, (k, n)."""
        return self.polyhedron.A

    @property
    def b(self) -> Array:
        """Right-hand sides of the equality constraints, (k,)."""
        return self.polyhedron.b

    @property
    def constraints(self) -> tuple[Array, Array, Array, Array, Array]:
        body = self.polyhedron
        low = np.concatenate([np.full(body.h.size, -np.inf), body.b])
        high = np.concatenate([body.h, body.b])
        return body.lower, body.upper, low, high, np.vstack([body.G, body.A])

    def H(self) -> Array:
        """P."""
        return self.P

    def hessian_times(self, x: Array) -> Array:
        """Px."""
        return np.asarray(self.P @ x)

    @cached_property
    def equilibrated(self) -> Equilibrated:
        """The program in units in which its entries are near 1."""
        return Equilibrated(self.P, self.q, self.polyhedron)

    # ------------------------------------------------------------------ convexity

    # P is judged in each variable's own unit, z with x = unit∘z; see `own_units`.

    @cached_property
    def _unit(self) -> Array | float:
        units = own_units(self.P)
        return 1.0 if units is None else units

    @cached_property
    def _scaled(self) -> Array:
        """The Hessian in z."""
        unit = self._unit
        return self.P if isinstance(unit, float) else self.P * unit * unit[:, None]

    @cached_property
    def _norm(self) -> float:
        return norm_bound(self._scaled)

    @cached_property
    def _curved(self) -> NDArray[np.bool_]:
        """The variables in which F is not linear."""
        return np.any(self.P, axis=1)

    @cached_property
    def _least_everywhere(self) -> float:
        """Least eigenvalue of the Hessian in z, without rows and columns of zeros."""
        curved = self._curved
        block = self._scaled if curved.all() else self._scaled[np.ix_(curved, curved)]
        with one_thread():
            return float(np.linalg.eigvalsh(block)[0]) if block.size else 0.0

    @cached_property
    def _least_along_rows(self) -> float:
        """The same on the directions along Ax = b; inf if there are none."""
        if not self.polyhedron.b.size:
            return self._least_everywhere
        return self.least_curvature(np.arange(self.n), self.polyhedron.A)[0]

    @property
    def least(self) -> Array:
        """σ with proved dᵀPd ≥ Σ σ_i d_i² for all d, or else for those along Ax = b; (n,).

        A variable without products with others has σ_i = P_ii.
        """
        if self.is_convex_everywhere or not self.polyhedron.b.size:
            everywhere = np.full(self.n, self._least_everywhere - self._zero)
            alone = np.count_nonzero(self.P, axis=0) == (np.diag(self.P) != 0.0)
            return np.where(alone, np.diag(self.P), everywhere / self._unit / self._unit)
        # The basis of these directions is turned by an angle of the size of the rounding of A
        # times the condition number of A.
        largest, least = self._row_sizes
        turned = (self.n + self.polyhedron.b.size) * EPS * largest / least
        along = self._least_along_rows - self._zero - 4.0 * self._norm * turned
        return np.full(self.n, along) / self._unit / self._unit

    @cached_property
    def _row_sizes(self) -> tuple[float, float]:
        """The largest and the least singular value of A in z that is not zero; 1 and 1 if A is."""
        sizes = np.linalg.svd(self.polyhedron.A * self._unit, compute_uv=False)
        sizes = sizes[sizes > RANK_TOLERANCE * sizes[0]]
        return (float(sizes[0]), float(sizes[-1])) if sizes.size else (1.0, 1.0)

    @property
    def _zero(self) -> float:
        return zero_tolerance(self.n, self._norm)

    @property
    def is_convex(self) -> bool:
        """Whether F is convex along Ax = b, up to rounding in each variable's own unit."""
        return self.is_convex_everywhere or self._least_along_rows >= -self._zero

    @property
    def is_convex_everywhere(self) -> bool:
        return self._least_everywhere >= -self._zero

    @property
    def why_convex(self) -> str:
        along = "" if self.is_convex_everywhere else " along the equality rows"
        return f"Convex by the eigenvalues of P{along}"

    def why_not_convex(self) -> str:
        units = "" if isinstance(self._unit, float) else ", in units that make its rows alike,"
        return f"is not: the least eigenvalue of P{units} is {self._least_everywhere:.3g}"

    @property
    def is_bounded(self) -> bool:
        return self.polyhedron.is_bounded

    # ------------------------------------------------------------------ values

    @property
    def multiplier_shapes(self) -> dict[str, tuple[int, ...]]:
        body = self.polyhedron
        sizes = {"inequalities": body.h.size, "equalities": body.b.size}
        sizes |= {"lower": self.n * bool(np.isfinite(body.lower).any())}
        sizes |= {"upper": self.n * bool(np.isfinite(body.upper).any())}
        return {name: (size,) for name, size in sizes.items() if size}

    def infeasibility(self, x: Array) -> float:
        return self.polyhedron.infeasibility(x)

    def price_of_rounding(self, point: Point[Array], unit: float) -> float:
        return self.polyhedron.price_of_rounding(point.x, point.gradient, unit)

    def project(self, x: Array) -> Array:
        """A feasible point near x."""
        return self.polyhedron.repaired(x)

    def start(self) -> Array:
        """A feasible point."""
        return self.polyhedron.point

    def random_start(self, generator: np.random.Generator) -> Array:
        """A random feasible point."""
        low, high = self.polyhedron.ranges
        x = generator.standard_normal(self.n)
        finite = np.isfinite(low) & np.isfinite(high)
        x[finite] = generator.uniform(low[finite], high[finite])
        return self.project(x)

    # ------------------------------------------------------------------ units

    def gap_unit(self, value: float, x: Array) -> float:
        """|F|, or a floor where the terms of F vanish or cancel at x; see `gaps`.

        The floor is `CANCELLED` times the larger of the sum of the absolute terms at x and, at a
        point that satisfies the first-order conditions, of what they come to in other places: the
        least, over the variables with a finite range w_j, of the terms w_j(|∇F_j| + ½Σ|P_ij|w_i)
        in which x_j takes part when all of these variables move through their ranges.
        """
        size = np.abs(x)
        terms = float(size @ (0.5 * (self._sizes @ size) + np.abs(self.q)))
        if abs(value) > CANCELLED * terms:
            return abs(value)
        gradient = self.gradient(x)
        moved = self._widths * (np.abs(gradient) + self._bends)
        moved = moved[(moved > 0.0) & np.isfinite(moved)]
        if moved.size and moved.min() > terms:
            # Elsewhere a step leads down, which wide bounds must not make look short.
            found = self.optimality(self.at(x, gradient), None, _STATIONARY)
            if found.stationarity <= _STATIONARY:
                terms = float(moved.min())
        return CANCELLED * terms

    @cached_property
    def _sizes(self) -> Array:
        """|P|, (n, n)."""
        return np.abs(self.P)

    @cached_property
    def _widths(self) -> Array:
        """Widths of the finite ranges of variables, else 0, (n,)."""
        low, high = self.polyhedron.ranges
        width = high - low
        return np.where(np.isfinite(width), width, 0.0)

    @cached_property
    def _bends(self) -> Array:
        """What moving all variables with finite ranges adds to each |∇F_j|, by halves, (n,)."""
        return 0.5 * (self._sizes @ self._widths)

    def gradient_unit(self, gradient: Array) -> float:
        """Size relative to which the residual of the first-order conditions is judged.

        It is the larger of max |q| and max |Px|.
        """
        curved = float(np.max(np.abs(gradient - self.q)))
        return max(float(np.max(np.abs(self.q))), curved) or 1.0

    # ------------------------------------------------------------------ optimality

    def at_bounds(self, x: Array, tol: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Entries that count as being at the lower and at the upper bound, two (n,) masks.

        They are within a share `tol` of the range and of the largest variable; of a bound that is
        not zero, also within this share of the bound or the variable itself.
        """
        body = self.polyhedron
        width = np.minimum(body.upper - body.lower, float(np.max(np.abs(x))))

        def near(end: Array) -> NDArray[np.bool_]:
            own = np.where(end == 0.0, np.inf, np.maximum(np.abs(end), np.abs(x)))
            return np.abs(x - end) <= tol * np.minimum(width, own)

        return (x <= body.lower) | near(body.lower), (x >= body.upper) | near(body.upper)

    def active_rows(self, x: Array, tol: float) -> NDArray[np.bool_]:
        """Inequality rows that count as equations, (m,)."""
        body = self.polyhedron
        sizes = np.abs(body.G) @ np.abs(x) + np.abs(body.h)
        return body.h - body.G @ x <= tol * sizes

    def optimality(
        self, point: Point[Array], multipliers: Values | None, tol: float = 0.0
    ) -> Optimality:
        x, gradient, body = point.x, point.gradient, self.polyhedron
        unit = self.gradient_unit(gradient)
        if multipliers is None:
            multipliers = self._recovered(x, gradient, tol)
        z, y = self._of_rows(multipliers)
        reduced = gradient + body.G.T @ z + body.A.T @ y
        low = multipliers.get("lower", np.zeros(self.n))
        high = multipliers.get("upper", np.zeros(self.n))
        residual = float(np.max(np.abs(reduced - low + high)))
        paid = float(z @ np.abs(body.h - body.G @ x))
        for prices, slack in ((low, x - body.lower), (high, body.upper - x)):
            held = prices != 0.0
            paid += float(np.abs(prices[held]) @ np.abs(slack[held]))
        return Optimality(multipliers, residual / unit, paid, unit, reduced)

    def _of_rows(self, multipliers: Values) -> tuple[Array, Array]:
        body = self.polyhedron
        z = multipliers.get("inequalities", np.zeros(body.h.size))
        return z, multipliers.get("equalities", np.zeros(body.b.size))

    def _recovered(self, x: Array, gradient: Array, tol: float) -> Values:
        """The multipliers of the active constraints that leave the least residual ‖·‖₂."""
        from scipy.optimize import nnls

        body, active = self.polyhedron, self.active_rows(x, tol)
        lower, upper = self.at_bounds(x, tol)
        rows, count = np.vstack([body.G[active], body.A]), int(active.sum())
        lengths = np.linalg.norm(rows, axis=1)
        lengths[lengths == 0.0] = 1.0
        scaled, sides = rows / lengths[:, None], np.eye(self.n)
        columns = np.vstack([scaled, -scaled[count:], -sides[lower], sides[upper]]).T
        prices = np.zeros(columns.shape[1])
        if len(rows):
            with contextlib.suppress(RuntimeError):  # without an answer nothing is claimed
                prices, _ = nnls(columns, -gradient, maxiter=_PIVOTS * prices.size)
        prices[count : len(rows)] -= prices[len(rows) : len(rows) + body.b.size]
        z = np.zeros(body.h.size)
        z[active], y = np.split(prices[: len(rows)] / lengths, [count])
        reduced = gradient + body.G.T @ z + body.A.T @ y
        found = {
            "inequalities": z,
            "equalities": y,
            "lower": np.where(lower, np.maximum(reduced, 0.0), 0.0),
            "upper": np.where(upper, np.maximum(-reduced, 0.0), 0.0),
        }
        return {name: found[name] for name in self.multiplier_shapes}

    def inconsistencies(self, optimality: Optimality, tol: float) -> list[str]:
        found = super().inconsistencies(optimality, tol)
        for name, ends in (("lower", self.polyhedron.lower), ("upper", self.polyhedron.upper)):
            prices = optimality.multipliers.get(name)
            if prices is not None and np.any(prices[np.isinf(ends)] != 0.0):
                found.append(f"The multipliers of {name!r} must be 0 where there is no bound.")
        return found

    def bound_multipliers(self, point: Point[Array]) -> Values | None:
        return self._recovered(point.x, point.gradient, EPS * self.n)

    def bound_at(self, point: Point[Array], multipliers: Values | None) -> float:
        """A lower bound on F over the feasible set if F is convex there, for any multipliers.

        With d = w - x for a feasible w, prices z ≥ 0 and y of the rows and r = ∇F + Gᵀz + Aᵀy,

            F(w) = F(x) + ∇Fᵀd + ½dᵀPd ≥ F(x) + zᵀ(Gx - h) + yᵀ(Ax - b) + rᵀd + ½σ‖d‖²,

        with σ‖d‖² for the Σ σ_i d_i² of `least`. The right-hand side is minimised for each d_i on
        its own, between ends that the constraints prove. Subtracted are the
        rounding of the sums and, if F is convex along Ax = b only, what the distance of x from
        these rows may add: ‖P‖(2‖d_R‖‖d‖ + ‖d_R‖²) for the part d_R of d across them.
        """
        x, gradient, body = point.x, point.gradient, self.polyhedron
        z, y = self._of_rows(multipliers or {})
        z = np.maximum(z, 0.0)
        reduced = gradient + body.G.T @ z + body.A.T @ y
        n, size = self.n, np.abs(x)
        steep = self._sizes @ size + np.abs(self.q)
        terms = steep + np.abs(body.G.T) @ z + np.abs(body.A.T) @ np.abs(y)
        count = n + body.h.size + body.b.size + 8.0
        error = count * EPS * terms
        low, high = body.ranges
        falls, rises = np.minimum(low - x, 0.0), np.maximum(high - x, 0.0)
        sigma = self.least

        def lowest(slopes: Array, error: Array) -> Array:
            down, up = (
                _lowest(slopes - error, rises, sigma),
                _lowest(-slopes - error, -falls, sigma),
            )
            return down + up

        least = lowest(reduced, error)
        worth = _HARMLESS_SHARE * CANCELLED * float(size @ steep) / n
        with np.errstate(invalid="ignore"):
            dear = ~(lowest(reduced, np.zeros(n)) - least <= worth)
        if dear.any():
            reduced, error = self._summed_exactly(dear, x, z, y, reduced, error)
            least = lowest(reduced, error)
        over, _, sizes = body.sides(x)
        prices = np.concatenate([z, y])
        paid, rounding = float(prices @ over), float(np.abs(prices) @ sizes)
        rounding += float(size @ steep) + float(np.abs(least[np.isfinite(least)]).sum())
        bound = point.value + paid + float(least.sum()) - count * EPS * rounding
        if not self.is_convex_everywhere:
            bound -= self._across_rows(x, np.maximum(rises, -falls))
        return bound if np.isfinite(bound) else -np.inf

    def _summed_exactly(
        self, chosen: NDArray[np.bool_], x: Array, z: Array, y: Array, reduced: Array, error: Array
    ) -> tuple[Array, Array]:
        """Reduced gradients and their errors, those of the chosen variables with one rounding.

        Rounding of the sums is worth much where a variable has a wide range, and more than any
        bound where it has none.
        """
        body, weights = self.polyhedron, np.concatenate([x, z, y])
        sums = np.hstack([self.P[chosen], body.G.T[chosen], body.A.T[chosen]])
        sizes = np.abs(np.concatenate([sums.ravel(), weights]))
        sizes = sizes[sizes > 0.0]
        if sums.size > _MOST_EXACT or np.any((sizes < 1.0 / _SAFE_SIZE) | (sizes > _SAFE_SIZE)):
            return reduced, error
        reduced, error = reduced.copy(), error.copy()
        reduced[chosen] = exact_residuals(sums, weights, -self.q[chosen])
        error[chosen] = EPS * np.abs(reduced[chosen])
        return reduced, error

    def _across_rows(self, x: Array, reach: Array) -> float:
        """What the part of d across the rows Ax = b may change of dᵀPd for |d| ≤ reach."""
        over, _, sizes = self.polyhedron.sides(x)
        missed = (np.abs(over) + (self.n + 2.0) * EPS * sizes)[self.polyhedron.h.size :]
        across = float(np.linalg.norm(missed)) / self._row_sizes[1]
        length = float(np.linalg.norm(reach / self._unit))
        return self._norm * across * (2.0 * length + across)

    # ------------------------------------------------------------------ curvature

    @property
    def convexity_order(self) -> int:
        return self.n

    def curvature_order(self, point: Point[Array], optimality: Optimality, tol: float) -> int:
        return self.n

    def curvature(
        self, point: Point[Array], optimality: Optimality, tol: float
    ) -> tuple[Curvature, float, int]:
        """Curvature on the directions along the active constraints with positive multipliers."""
        found = self._curvature(point.x, optimality.multipliers, optimality.reduced, tol)
        if found[0] is Curvature.UNDECIDED:
            # Where multipliers are not unique, others may be zero at fewer constraints.
            strict = self._strict_multipliers(point, optimality, tol)
            if strict is not None:
                found = self._curvature(point.x, *strict, tol)
        return found

    def _curvature(
        self, x: Array, multipliers: Values, reduced: Array, tol: float
    ) -> tuple[Curvature, float, int]:
        """`curvature` for some multipliers and the reduced gradient that they leave."""
        body = self.polyhedron
        lower, upper = self.at_bounds(x, tol)
        at_bounds, active = lower | upper, self.active_rows(x, tol)
        limit = tol * self.gradient_unit(self.gradient(x))
        weak = at_bounds & (np.abs(reduced) <= limit) & (body.lower < body.upper)
        sizes = np.max(np.abs(body.G), axis=1, initial=0.0)
        loose = active & (self._of_rows(multipliers)[0] * sizes <= limit)
        count = int(weak.sum() + loose.sum())
        rows = np.vstack([body.G[active & ~loose], body.A])
        free = np.flatnonzero(~at_bounds | weak), rows
        held = np.flatnonzero(~at_bounds), np.vstack([body.G[active], body.A])
        return critical_curvature(self.least_curvature, free, held, count)

    def _strict_multipliers(
        self, point: Point[Array], optimality: Optimality, tol: float
    ) -> tuple[Values, Array] | None:
        """Multipliers that are positive at as many active constraints as any, and what they leave.

        A linear program in the multipliers of the rows and in s, at most the multipliers of the
        active inequalities and at most 1, with the largest sum of s, in units of the gradient. The
        conditions may be missed by twice as much as by the known multipliers: by as much as `tol`,
        small multipliers would seem positive where they cannot be. None if HiGHS does not solve it.
        """
        x, unit, body = point.x, optimality.unit, self.polyhedron
        gradient = point.gradient / unit
        lower, upper = self.at_bounds(x, tol)
        active = np.flatnonzero(self.active_rows(x, tol))
        rows = np.vstack([body.G[active], body.A])
        held = np.flatnonzero(lower ^ upper)
        k, count = len(rows), active.size + held.size
        if not rows.size:
            return None
        signs = np.where(lower, 1.0, -1.0)[held, None]
        free = np.flatnonzero(~(lower | upper))
        reach = np.zeros((active.size, k))
        reach[:, : active.size] = np.eye(active.size)
        above = np.vstack([reach, signs * rows[:, held].T])
        matrix = np.block(
            [[rows[:, free].T, np.zeros((free.size, count))], [above, -np.eye(count)]]
        )
        slack, floor = 2.0 * optimality.stationarity, np.zeros(k + count)
        floor[active.size : k] = -np.inf
        least = np.concatenate([np.zeros(active.size), -signs[:, 0] * gradient[held]])
        form = StandardForm(
            1, np.concatenate([np.zeros(k), -np.ones(count)]), floor,
            np.concatenate([np.full(k, np.inf), np.ones(count)]),
            np.concatenate([-gradient[free] - slack, least]),
            np.concatenate([-gradient[free] + slack, np.full(count, np.inf)]), matrix,
        )  # fmt: skip
        found = solved_by_highs(form)
        if found is None:
            return None
        z = np.zeros(body.h.size)
        z[active] = np.maximum(found[: active.size], 0.0)
        y = found[active.size : k]
        reduced = gradient + body.G.T @ z + body.A.T @ y
        if np.max(np.abs(reduced[free]), initial=0.0) > slack + _MISSED_SHARE * tol:
            return None
        return {"inequalities": unit * z, "equalities": unit * y}, unit * reduced

    def least_curvature(self, kept: NDArray[np.intp], rows: Array) -> tuple[float, float]:
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

    def remarks(self, point: Point[Array], is_global: bool) -> list[str]:
        return list(self.notes)

    # ------------------------------------------------------------------ other forms

    def arrays(self) -> Values:
        """P, q, G, h, A, b, lb and ub, the letters of qpsolvers."""
        body = self.polyhedron
        return {
            "P": self.P, "q": self.q, "G": body.G, "h": body.h, "A": body.A, "b": body.b,
            "lb": body.lower, "ub": body.upper,
        }  # fmt: skip

    # ------------------------------------------------------------------ rows as equations

    def with_slacks(self, low: Array, high: Array) -> PolyhedralQP:
        """The program in (x, s) with Gx + s = h and s ≥ 0 in place of Gx ≤ h.

        `low` and `high` are finite ends that every feasible x is between.
        """
        body = self.polyhedron
        m, k = body.h.size, body.b.size
        least = np.where(body.G > 0.0, body.G * low, 0.0) + np.where(
            body.G < 0.0, body.G * high, 0.0
        )
        sizes = np.abs(least).sum(axis=1) + np.abs(body.h)
        most = body.h - least.sum(axis=1) + (self.n + 4.0) * EPS * sizes
        rows = np.block([[body.G, np.eye(m)], [body.A, np.zeros((k, m))]])
        wide = Polyhedron(
            np.zeros((0, self.n + m)), np.zeros(0), rows, np.concatenate([body.h, body.b]),
            np.concatenate([low, np.zeros(m)]), np.concatenate([high, np.maximum(most, 0.0)]),
        )  # fmt: skip
        P = np.zeros((self.n + m, self.n + m))
        P[: self.n, : self.n] = self.P
        q = np.concatenate([self.q, np.zeros(m)])
        return PolyhedralQP(P, q, wide, self.sense, self.constant)

    def lifted(self, x: Array) -> Array:
        """(x, s) for the program with slacks."""
        return np.concatenate([x, np.maximum(self.polyhedron.h - self.polyhedron.G @ x, 0.0)])


def _lowest(slope: Array, reach: Array, sigma: Array) -> Array:
    """min of slope·t + ½·sigma·t² over 0 ≤ t ≤ reach, entry by entry; reach may be infinite."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        t = np.clip(-slope / sigma, 0.0, reach)
        inside = t * (slope + 0.5 * sigma * t)
        curved = np.where(sigma < 0.0, 0.5 * sigma * reach, 0.0)
        at_end = np.where((reach > 0.0) & (slope + curved < 0.0), reach * (slope + curved), 0.0)
        return np.where(sigma > 0.0, inside, at_end)
