"""Quadratic programs on a polyhedron, of any curvature, as solvers and certificates read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from indefinite_opt.errors import InfeasibleProblem, ProblemError
from indefinite_opt.foundation import (
    EPS,
    LEAST,
    Array,
    TimeLimitReached,
    Values,
    cached_property,
    seconds_left,
)
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.matrices.sparse import (
    MAX_ENTRIES,
    Matrix,
    as_dense,
    as_sparse,
    largest_in_rows,
)
from indefinite_opt.quadratic.matrices.units import Units, program_units
from indefinite_opt.quadratic.programs.claim import Claim
from indefinite_opt.quadratic.programs.gaps import relative
from indefinite_opt.quadratic.programs.program import (
    Curvature,
    LowerBound,
    Optimality,
    Point,
)
from indefinite_opt.quadratic.programs.qp import (
    MAX_CHARGE,
    QP,
    across_rows,
    charged,
    critical_curvature,
)
from indefinite_opt.quadratic.rows.convex_solution import ConvexSolution, convex_solution
from indefinite_opt.quadratic.rows.declared_rows import DeclaredRows, Epigraph, KernelConstant
from indefinite_opt.quadratic.rows.dual_bound import convex_bounds
from indefinite_opt.quadratic.rows.feasibility import feasible_point
from indefinite_opt.quadratic.rows.multipliers import fitted, of_rows, reduced, strict
from indefinite_opt.quadratic.rows.nearby import granularity, may_underflow
from indefinite_opt.quadratic.rows.polyhedron import Polyhedron
from indefinite_opt.quadratic.rows.ranges import optimal_ranges
from indefinite_opt.quadratic.rows.row_curvature import RowCurvature

_LEAST_ROW = 1e-307
"""Least size of the largest entry of a row that is not zero: below it numbers of double precision
lose digits, and multipliers overflow."""

_HARDLY = 1e-9
"""Infeasibility up to which the exact end of a face stays as it is."""

_AT_BOUND = 1e-8
"""Distance from a bound, as a share of the variable, up to which a variable is not free."""


class PolyhedralQP(QP):
    """min F(x) = ½ xᵀPx + qᵀx  s.t.  Gx ≤ h, Ax = b, lower ≤ x ≤ upper.

    P, symmetric, of any inertia, (n, n), is dense or sparse, as G and A are. `notes` are sentences
    for the certificate on how the program was read.

    x is made of declared variables, whose places and shapes are the `layout`, and, behind them, of
    `epigraphs`: an entry t stands for |u_i| or max(u_i, 0) of an affine u, by rows t ≥ ±u_i.
    `named` are the declared constraints. F leaves out the `constants` of kernels that equations
    fix; multipliers by declared names, and F at points that miss these equations, are those of the
    declared program. By default x is the only variable, and all rows of one kind, or all bounds of
    one side, are one constraint.
    """

    has_own_rows = True
    variable = "x"
    feasible: Polyhedron
    doubt: float
    """By how much F may differ on the feasible set from what it stands for, as P is rounded."""

    def __init__(
        self, feasible: Polyhedron, P: Matrix, q: Array, *, sense: int = 1, constant: float = 0.0,
        notes: tuple[str, ...] = (), layout: dict[str, tuple[slice, tuple[int, ...]]] | None = None,
        named: dict[str, DeclaredRows] | None = None, epigraphs: tuple[Epigraph, ...] = (),
        constants: tuple[KernelConstant, ...] = (), doubt: float = 0.0,
    ) -> None:  # fmt: skip
        self.feasible, self._given, self.q = feasible, P, q
        self.sense, self.constant, self.notes = sense, constant, notes
        self.layout = layout or {self.variable: (slice(0, self.n), (self.n,))}
        if named is None:
            kinds = self._stacked_shapes.items()
            named = {kind: DeclaredRows(kind, slice(None), shape) for kind, shape in kinds}
        self.named = named
        self.epigraphs, self.constants, self.doubt = epigraphs, constants, doubt
        self._solution: tuple[ConvexSolution | None] | None = None

    @cached_property
    def P(self) -> Array:
        """P, dense, (n, n)."""
        return as_dense("P", self._given)

    @property
    def is_linear_objective(self) -> bool:
        """Whether P is zero."""
        return not self.along_rows.P.nnz

    @property
    def linear(self) -> Array:  # type: ignore[override]
        """The linear term, (n,)."""
        return self.q

    def H(self) -> Array:
        return self.P

    def hessian_times(self, x: Array) -> Array:
        return np.asarray(self.along_rows.P @ x)

    @cached_property
    def units(self) -> Units:
        """The units in which entries of P, q, rows and ranges are near 1."""
        body = self.feasible
        P = self.along_rows.P
        return program_units(
            P,
            self.q,
            body.rows,
            body.rhs,
            body.lower,
            body.upper,
        )

    @cached_property
    def scaled(self) -> StandardForm:
        """The program in its `units`, dense."""
        body = self.feasible
        P, (lower, upper, low, high, _) = self.P, body.constraints
        rows = np.vstack([body.G, body.A])
        return StandardForm(1, self.q, lower, upper, low, high, rows, P).in_units(self.units)

    @property
    def is_searched(self) -> bool:
        """Whether descents solve it, convex or not: a finite box with disjoint rows, of any size
        that is possible with a dense P."""
        return self.feasible.is_disjoint and self.n**2 <= MAX_ENTRIES and self.feasible.is_bounded

    @property
    def convex_solution(self) -> ConvexSolution | None:
        """Where a solver of convex programs ends, at a point that is proved to be feasible.

        None of other programs, and if no point nearby is proved. It is kept if no time limit has
        made it less accurate. `TimeLimitReached` if half of the seconds that are left do not
        suffice, as the others are for a feasible point.
        """
        if self._solution is not None:
            return self._solution[0]
        found = None
        if not self.is_searched and self.is_convex_everywhere:
            found = self._solved(0.5 * seconds_left())
        proved = None if found is None else self._proved(found)
        if seconds_left() > 0.0 and not (found is not None and found.early):
            self._solution = (proved,)
        return proved

    def _solved(self, seconds: float) -> ConvexSolution | None:
        body = self.feasible
        (P, q, _), given = self._moving, self.along_rows.P
        if P is not given and RowCurvature(self._given, body.given_rows[1]).is_convex_everywhere:
            # In the program as it is given, fixed variables add nothing large to q.
            P, q = given, self.q
        found = convex_solution(P, q, body, seconds)
        if found is None or P is given:
            return found
        slopes = self.gradient(found.x) + body.columns @ found.multipliers
        return found._replace(reduced=np.where(body.fixed, slopes, found.reduced))

    @cached_property
    def point(self) -> Array:
        """A feasible point; `InfeasibleProblem` names rows and bounds that are in conflict."""
        return feasible_point(self.feasible)

    def start(self) -> Array:
        """The `point`."""
        return self.point

    def _proved(self, found: ConvexSolution) -> ConvexSolution | None:
        """A solution at a point near it that is proved to be feasible, if there is one.

        The exact end of a face stays as it is where it hardly violates a constraint: its zeros are
        zeros, and its bounds bounds.
        """
        near = self.feasible.near(found.x)
        if near is not None:
            stays = found.exact and self.infeasibility(found.x) <= _HARDLY
            return found if stays else found._replace(x=near.x)
        near = None if found.before is None else self.feasible.near(found.before)
        return None if near is None else found._replace(x=near.x)

    def _feasible_point(self) -> Array:
        """The `convex_solution` if there is one and time for it, or else the `point`."""
        with suppress(TimeLimitReached):
            if (known := self.convex_solution) is not None:
                return known.x
        return self.point

    def refuse_without_optimum(self) -> None:
        """Find a feasible point, or raise `InfeasibleProblem`.

        It names bounds that exclude each other, or rows and bounds that do. Rows of denormal
        numbers are refused by a `ProblemError`.
        """
        body = self.feasible
        for name, (part, _) in self.layout.items():
            low, high = body.lower[part], body.upper[part]
            if np.any(low > high):
                k = int(np.argmax(low > high))
                raise InfeasibleProblem(
                    f"bounds of {name}", "lower ones that are not above the upper ones",
                    f"{float(low[k])!r} ≤ {name}[{k}] ≤ {float(high[k])!r}",
                )  # fmt: skip
        largest = largest_in_rows(body.rows)
        small = np.flatnonzero((largest > 0.0) & (largest < _LEAST_ROW))
        if small.size:
            k, count = int(small[0]), body.h.size
            row = body.names.inequality(k) if k < count else body.names.equality(k - count)
            raise ProblemError(
                row, f"zeros, or an entry of at least {_LEAST_ROW:g} in size",
                f"entries of at most {largest[k]:.3g}",
                "Multiply the row and its right-hand side by a power of two.",
            )  # fmt: skip
        if "point" not in vars(self):
            self._feasible_point()

    @property
    def solved_as(self) -> str:
        body = self.feasible
        if not body.has_rows and self.is_searched:
            return "a quadratic program on a box, by multistart"
        count = _count(body.h.size + body.b.size, "row")
        kind = f"a {{}} program {f'with {count}' if body.has_rows else 'without rows'}"
        if self.is_linear_objective:
            return f"{kind.format('linear')}, by highs"
        kind = kind.format("quadratic")
        if self.is_searched:
            return f"{kind}, by multistart"
        return f"{kind}, by clarabel if it is convex, else by multistart"

    # ------------------------------------------------------------------ convexity

    @cached_property
    def along_rows(self) -> RowCurvature:
        """The curvature of F in the variables that are not fixed, everywhere and along the rows
        that hold as equations."""
        body = self.feasible
        return RowCurvature(self._given, body.rows[body.held], body.fixed)

    @property
    def is_convex(self) -> bool:
        """Whether F is convex along the rows that hold as equations, where fixed variables stay.

        That is up to rounding in each variable's own unit.
        """
        return self.along_rows.is_convex

    @property
    def is_convex_everywhere(self) -> bool:
        """Whether F is convex in the variables that are not fixed, whatever the rows are."""
        return self.along_rows.is_convex_everywhere

    @cached_property
    def _moving(self) -> tuple[Matrix, Array, float]:
        """P̃, sparse, q̃ and a constant with F(x) = ½xᵀP̃x + q̃ᵀx + constant where fixed variables
        are at their bounds, and without products of these."""
        body = self.feasible
        curvature = self.along_rows
        if curvature.moving is curvature.P:
            return curvature.P, self.q, 0.0
        x = np.where(body.fixed, body.lower, 0.0)
        push = np.asarray(curvature.P @ x)
        return (
            curvature.moving,
            self.q + np.where(body.fixed, 0.0, push),
            0.5 * float(x @ push),
        )

    def convexified(self) -> tuple[Array, Array, float]:
        """As `QP.convexified`, where fixed variables and all rows that hold as equations count."""
        body = self.feasible
        P, c, constant = self._moving
        H, A = as_dense("P", P), self.along_rows.A
        if self.is_convex_everywhere:
            return H, c, constant
        b = body.rhs[body.held] - body.rows[body.held] @ np.where(body.fixed, body.lower, 0.0)
        H, c, offset = across_rows(H, c, A, b)
        return H, c, constant + offset

    @property
    def why_convex(self) -> str:
        which = (
            "equality rows"
            if self.feasible.held.size == self.feasible.b.size
            else "rows that hold as equations"
        )
        along = "" if self.is_convex_everywhere else f" along the {which}"
        fixed = self.along_rows.moving is not self.along_rows.P
        return f"Convex by the eigenvalues of P{' without fixed variables' * fixed}{along}"

    def why_not_convex(self) -> str:
        curvature = self.along_rows
        units = "" if isinstance(curvature.unit, float) else ", in units that make its rows alike,"
        return f"is not: the least eigenvalue of P{units} is {curvature.least_everywhere:.3g}"

    @property
    def endless(self) -> str:
        """Part of a sentence that names the first variable without a finite range."""
        body = self.feasible
        k = int(np.argmin(np.isfinite(body.ranges).all(axis=0)))
        if not body.knows_ranges:
            return f"no finite range of {body.names.variable(k)} was known in time"
        return f"neither bounds nor rows give {body.names.variable(k)} a finite range"

    @cached_property
    def optimal_ranges(self) -> tuple[Array, Array] | None:
        """Finite ends that all minimisers are between, or None; see `rows.optimal_ranges`.

        They are the `ranges`, but for variables that have none there and in which F is convex.
        """
        body = self.feasible
        if body.is_bounded:
            return body.ranges
        P, q, in_rows = self.along_rows.P, self.q, np.diff(body.columns.indptr) > 0
        alone = np.isinf(body.lower) & np.isinf(body.upper) & ~in_rows
        found = optimal_ranges(P, q, alone, body.ranges, self._certain)
        if found is None or np.isfinite(found).all():
            return found
        # What is left has no costs and products, and only needs ends from the rows.
        G, A = body.given_rows
        low, high = Polyhedron(G, body.h, A, body.b, *found, body.names).ranges
        return (low, high) if np.isfinite([low, high]).all() else None

    def _certain(self, x: Array) -> float:
        """A value that some feasible point attains for certain, near x if possible; or inf."""
        for point in (self.feasible.project(x), self._feasible_point()):
            if self.feasible.near(point) is not None:
                found, error = self.attained(self.at(point), 0.0)
                return found.value + error
        return np.inf

    def convex_objective(self, variables: Mapping[str, Any]) -> Any:
        """The declared objective with the Hessian of `convexified`; None if it is not convex."""
        import cvxpy as cp

        if not self.is_convex:
            return None
        v = cp.hstack([cp.vec(variables[name], order="F") for name in self.layout])
        # Equations have no entries of epigraphs, so that only the block of v changes.
        H, c, constant = self.convexified()
        smooth = H[: v.size, : v.size]
        objective = 0.5 * cp.quad_form(v, cp.psd_wrap(smooth)) + c[: v.size] @ v
        terms = sum((term.atom(v) for term in self.epigraphs), objective)
        return self.sense * (terms + self.constant + constant)

    # ------------------------------------------------------------------ declared names

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: shape for name, (_, shape) in self.layout.items()}

    def values(self, x: Array) -> Values:
        return {name: x[part].reshape(shape) for name, (part, shape) in self.layout.items()}

    def from_values(self, values: Values) -> Array:
        x = self.feasible.lower.copy()
        for name, (part, _) in self.layout.items():
            x[part] = np.ravel(values[name])
        for term in self.epigraphs:
            x[term.place] = term.least(x)
        return x

    @property
    def multiplier_shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: block.shape for name, block in self.named.items()}

    @property
    def _stacked_shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the multipliers of all rows and bounds that there are."""
        body = self.feasible
        sizes = {"inequalities": body.h.size, "equalities": body.b.size}
        sizes |= {"lower": self.n * bool(np.isfinite(body.lower).any())}
        sizes |= {"upper": self.n * bool(np.isfinite(body.upper).any())}
        return {name: (size,) for name, size in sizes.items() if size}

    def named_multipliers(self, stacked: Values, x: Array) -> Values:
        """Multipliers of all rows and bounds at x by the names of the declared constraints."""
        none = np.zeros(self.n)  # of a side on which every bound is infinite
        if self.constants:
            stacked = {**stacked, "equalities": stacked["equalities"] - self._shift(x)}
        return {
            name: block.read(stacked.get(block.kind, none)) for name, block in self.named.items()
        }

    def _stacked(self, multipliers: Values, x: Array) -> Values | None:
        """The multipliers of all rows, 0 where none are given.

        None if those of epigraphs have to be recovered.
        """
        if self.epigraphs:
            return None
        stacked = {kind: np.zeros(shape) for kind, shape in self._stacked_shapes.items()}
        for name, block in self.named.items():
            if block.kind in stacked and name in multipliers:
                stacked[block.kind][block.part] = block.write(multipliers[name])
        if self.constants:
            stacked["equalities"] += self._shift(x)
        return stacked

    def _shift(self, x: Array) -> Array:
        """By how much multipliers of equations are larger than those of the declared program."""
        return sum(
            (one.slope(x) * one.weights for one in self.constants), np.zeros(self.feasible.b.size)
        )

    def _of_bounds(self, multipliers: Values | None, point: Point[Array]) -> Values | None:
        """The multipliers of all rows for a bound, where those of the declared program are known.

        Those of constants are refitted: their part along each a is the one that leaves the least
        residual where x is free, as those of a point that misses the equations have that of how far
        it misses them.
        """
        body = self.feasible
        stacked = self._stacked(multipliers, point.x) if multipliers else None
        if not stacked or not self.constants:
            return stacked
        free = ~np.logical_or(*body.at_bounds(point.x, _AT_BOUND))
        columns = np.array([constant.a for constant in self.constants]).T[free]
        left = reduced(body, point.gradient, *of_rows(body, stacked))[free]
        along = np.linalg.lstsq(columns, -left, rcond=None)[0]
        change = sum(m * one.weights for m, one in zip(along, self.constants, strict=True))
        return stacked | {"equalities": stacked["equalities"] + change}

    # ------------------------------------------------------------------ values

    def at(self, x: Array, gradient: Array | None = None) -> Point[Array]:
        point = super().at(x, gradient)
        for constant in self.constants:
            beside = constant.beside(x)
            if beside is not None:
                point = Point(x, point.value + beside[0], point.gradient + beside[1])
        return point

    def attained(self, point: Point[Array], infeasibility: float) -> tuple[Point[Array], float]:
        """A feasible point nearby, and how far F there may be from F at an exactly feasible one.

        The error covers the radius of the point `near`, the rounding of F, and the `doubt`.
        """
        if self.constants:
            # Near a feasible point F is the same without what it leaves out.
            point = Point(point.x, *self.value_gradient(point.x))
        near = self.feasible.near(point.x)
        if near is None:
            moved, error = super().attained(point, infeasibility)
            return moved, error + self.doubt
        same = np.array_equal(near.x, point.x)
        moved = point if same else Point(near.x, *self.value_gradient(near.x))
        sizes, rounding = self.along_rows.sizes, (self.n + 2.0) * EPS
        steep = np.abs(moved.gradient) + rounding * (sizes @ np.abs(near.x) + np.abs(self.q))
        error = (1.0 + rounding) * near.radius @ (steep + 0.5 * (sizes @ near.radius))
        return moved, float(error) + self.value_error(near.x) + self.doubt

    def value_error(self, x: Array) -> float:
        """Bound on the rounding of F, 0 where all sums are exact, as those of small integers."""
        size = np.abs(x)
        terms = self._terms(size)
        if not size.any():
            return 0.0
        # All sums are multiples of this power of two.
        unit, (curved, linear) = granularity(x), self._granularity
        if terms < 2.0**51 * unit * min(0.5 * unit * curved, linear):
            return 0.0
        may = may_underflow(self.along_rows.P.data, x, x) or may_underflow(self.q, x)
        underflow = LEAST * (1.0 + float(size.sum())) if may else 0.0
        return (2.0 * self.n + 4.0) * (EPS * terms + underflow)

    @cached_property
    def _granularity(self) -> tuple[float, float]:
        return granularity(self.along_rows.P.data), granularity(self.q)

    # ------------------------------------------------------------------ units

    def terms(self, point: Point[Array]) -> float:
        return self._terms(np.abs(point.x))

    def _terms(self, size: Array) -> float:
        """½|x|ᵀ|P||x| + |q|ᵀ|x|."""
        return float(size @ (0.5 * (self.along_rows.sizes @ size) + np.abs(self.q)))

    def row_terms(self, x: Array, multipliers: Values) -> float:
        body = self.feasible
        size, stacked = np.abs(x), self._stacked(multipliers, x) or {}
        rows = np.abs(np.concatenate(of_rows(body, stacked)))
        total = float(rows @ (np.abs(body.rhs) + abs(body.rows) @ size)) if rows.size else 0.0
        for name, ends in (("lower", body.lower), ("upper", body.upper)):
            finite = np.where(np.isfinite(ends), np.abs(ends), 0.0) + size
            total += float(np.abs(stacked.get(name, np.zeros(self.n))) @ finite)
        return total

    def gradient_unit(self, gradient: Array) -> float:
        """The larger of max |q| and max |Px|."""
        curved = float(np.max(np.abs(gradient - self.q)))
        return max(float(np.max(np.abs(self.q))), curved) or 1.0

    # ------------------------------------------------------------------ optimality

    def optimality(
        self, point: Point[Array], multipliers: Values | None, tol: float = 0.0
    ) -> Optimality:
        body = self.feasible
        x, gradient = point.x, point.gradient
        unit = self.gradient_unit(gradient)
        stacked = None if multipliers is None else self._stacked(multipliers, x)
        if stacked is None:
            stacked = self._fitted(point, tol)
        z, y = of_rows(body, stacked)
        left = reduced(body, gradient, z, y)
        low = stacked.get("lower", np.zeros(self.n))
        high = stacked.get("upper", np.zeros(self.n))
        residual = float(np.max(np.abs(left - low + high)))
        paid = float(z @ np.abs(body.rows @ x - body.rhs)[: z.size])
        for ends, slack in ((low, x - body.lower), (high, body.upper - x)):
            held = ends != 0.0
            paid += float(np.abs(ends[held]) @ np.abs(slack[held]))
        named = self.named_multipliers(stacked, x)
        return Optimality(named, residual / unit, paid, unit, left, stacked)

    def balanced_residual(self, point: Point[Array], optimality: Optimality) -> float:
        """The residual of the first-order conditions in units in which entries are near 1.

        Beside a variable with a large gradient in its own unit, `optimality` sees no residual of
        variables with other units.
        """
        units, stacked, zero = self.units.column, _of_all_rows(optimality), np.zeros(self.n)
        left = optimality.reduced - stacked.get("lower", zero) + stacked.get("upper", zero)
        terms = np.maximum(np.abs(self.q), np.abs(point.gradient - self.q))
        return relative(float(np.max(np.abs(left) * units)), float(np.max(terms * units)))

    def inconsistencies(self, optimality: Optimality, tol: float) -> list[str]:
        stacked = _of_all_rows(optimality)
        found = super().inconsistencies(replace(optimality, multipliers=stacked), tol)
        for name, ends in (("lower", self.feasible.lower), ("upper", self.feasible.upper)):
            multipliers = stacked.get(name)
            if multipliers is not None and np.any(multipliers[np.isinf(ends)] != 0.0):
                found.append(f"The multipliers of {name!r} must be 0 where there is no bound.")
        return found

    def _fitted(self, point: Point[Array], tol: float) -> Values:
        multipliers = fitted(self.feasible, point.x, point.gradient, tol)
        return {name: multipliers[name] for name in self._stacked_shapes}

    def bounds(self, point: Point[Array], multipliers: Values | None) -> Iterator[LowerBound]:
        """Those of `convex_bounds`. Only the multipliers of the rows count.

        Recovered ones follow given ones.
        """
        stacked = self._of_bounds(multipliers, point)
        if stacked:
            yield from self._bounds_from(point, *of_rows(self.feasible, stacked))
        recovered = self._fitted(point, EPS * self.n)
        yield from self._bounds_from(point, *of_rows(self.feasible, recovered))

    def _bounds_from(self, point: Point[Array], z: Array, y: Array) -> Iterator[LowerBound]:
        best = -np.inf
        for value in convex_bounds(self.along_rows, self.q, self.feasible, point, z, y):
            best = max(best, value)
            yield LowerBound(self._less_doubt(best))

    def _less_doubt(self, bound: float) -> float:
        """A bound of what F stands for, given one of F."""
        return float(np.nextafter(bound - self.doubt, -np.inf)) if self.doubt else bound

    def charged_bounds(
        self, point: Point[Array], multipliers: Values | None, most: float
    ) -> Iterator[LowerBound]:
        """Those of `convex_bounds` with P + diag(δ), at the point and then at the optimum of F̃.

        All parts of P that variables without finite ends have are convex.
        """
        body = self.feasible
        delta, x = self.along_rows.lacking, point.x
        low, high = body.ranges if body.knows_ranges else body.intervals
        raised = np.flatnonzero(delta)
        low, high, inside = low[raised], high[raised], x[raised]
        if not np.isfinite(low + high).all():
            return
        delta = delta[raised]
        worth = max(0.5 * float(delta @ ((inside - low) * (high - inside))), 0.0)
        anywhere = 0.125 * float(delta @ np.square(high - low))
        if worth > most or anywhere > MAX_CHARGE * most:
            return
        from scipy import sparse

        added = np.zeros(self.n)
        added[raised] = delta
        P = as_sparse(self.along_rows.P + sparse.diags_array(added))
        q, size = self.q.copy(), np.maximum(np.abs(low), np.abs(high))
        q[raised] -= 0.5 * delta * (low + high)
        # Subtracted is the rounding of what is added, in P, q and the constant.
        steep = (np.abs(P.diagonal()[raised]) + 2.0 * delta) * size + np.abs(self.q[raised])
        constant = 0.5 * float(delta @ (low * high)) - (self.n + 8.0) * EPS * float(steep @ size)
        curvature = RowCurvature(P, body.rows[body.held], body.fixed)

        def bounds_at(x: Array, z: Array, y: Array) -> Iterator[float]:
            gradient = P @ x + q
            there = Point(x, 0.5 * float(x @ (gradient + q)), gradient)
            for value in convex_bounds(curvature, q, body, there, z, y):
                yield self._less_doubt(float(np.nextafter(value + constant, -np.inf)))

        def bounds() -> Iterator[float]:
            known = self._of_bounds(multipliers, point) or self._fitted(point, EPS * self.n)
            yield from bounds_at(x, *of_rows(body, known))
            solution = None
            if curvature.is_convex_everywhere:
                solution = convex_solution(P, q, body, seconds_left())
            if solution is not None:
                yield from bounds_at(solution.x, *np.split(solution.multipliers, [body.h.size]))

        yield from charged(bounds(), -float(delta.max()), worth)

    # ------------------------------------------------------------------ curvature

    def curvature(
        self, point: Point[Array], optimality: Optimality, tol: float
    ) -> tuple[Curvature, float, int]:
        """Curvature on the directions along the active constraints with positive multipliers."""
        x, unit = point.x, self.gradient_unit(point.gradient)
        found = self._curvature(x, _of_all_rows(optimality), optimality.reduced, unit, tol)
        if found[0] is Curvature.UNDECIDED:
            # Where multipliers are not unique, others may be zero at fewer constraints.
            others = strict(self.feasible, x, point.gradient / unit, tol, optimality.stationarity)
            if others is not None:
                found = self._curvature(x, *others, 1.0, tol)
        return found

    def _curvature(
        self, x: Array, multipliers: Values, reduced: Array, unit: float, tol: float
    ) -> tuple[Curvature, float, int]:
        """`curvature` for some multipliers and the reduced gradient that they leave, in `unit`."""
        body = self.feasible
        lower, upper = body.at_bounds(x, tol)
        at_bounds, active = lower | upper, body.active_rows(x, tol)
        weak = at_bounds & (np.abs(reduced) <= tol * unit) & (body.lower < body.upper)
        sizes = largest_in_rows(body.rows)[: body.h.size]
        loose = active & (of_rows(body, multipliers)[0] * sizes <= tol * unit)
        count = int(weak.sum() + loose.sum())
        free = (
            np.flatnonzero(~at_bounds | weak),
            np.vstack([body.G[active & ~loose], body.A]),
        )
        held = np.flatnonzero(~at_bounds), np.vstack([body.G[active], body.A])
        return critical_curvature(self.along_rows.restricted, free, held, count)

    def remarks(self, point: Point[Array], claim: Claim, bounded: bool) -> list[str]:
        words = []
        if claim < Claim.GLOBAL and not bounded and self.is_convex and not self.feasible.is_bounded:
            words = [
                f"No bound is proved, as rounding counts without end: {self.endless}; give it "
                "lower and upper bounds."
            ]
        near = self.feasible.near(point.x)
        if near is not None and not near.exactly:
            words.append(
                "No point nearby is proved to satisfy all rows exactly: they hold up to 1e-12 of "
                "their right-hand sides or entries, as in files whose numbers are rounded."
            )
        return words + list(self.notes if claim >= Claim.STATIONARY else ())

    # ------------------------------------------------------------------ other forms

    def arrays(self) -> Values:
        """P, q, G, h, A, b, lb and ub, in the letters of qpsolvers, constant and sense."""
        body = self.feasible
        return {
            "P": self.P, "q": self.q, "G": body.G, "h": body.h, "A": body.A, "b": body.b,
            "lb": body.lower, "ub": body.upper,
            "constant": np.array(self.constant), "sense": np.array(float(self.sense)),
        }  # fmt: skip


def _of_all_rows(optimality: Optimality) -> Values:
    """Multipliers of all rows and bounds; those by name where nothing was computed in time."""
    return optimality.stacked or optimality.multipliers


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
