"""Quadratic programs on a polyhedron, of any curvature, as solvers and certificates read them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from indefinite_opt.errors import InfeasibleProblem, ProblemError, UnboundedProblem
from indefinite_opt.foundation import (
    EPS,
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
)
from indefinite_opt.quadratic.matrices.units import Units, program_units
from indefinite_opt.quadratic.programs.program import Point
from indefinite_opt.quadratic.programs.qp import QP, across_rows
from indefinite_opt.quadratic.rows.convex_solution import (
    ATTEMPTS,
    ConvexSolution,
    convex_solution,
)
from indefinite_opt.quadratic.rows.declared_rows import DeclaredRows, Epigraph, KernelConstant
from indefinite_opt.quadratic.rows.feasibility import feasible_point
from indefinite_opt.quadratic.rows.multipliers import shapes_by_kind
from indefinite_opt.quadratic.rows.polyhedron import Polyhedron
from indefinite_opt.quadratic.rows.row_curvature import RowCurvature

_LEAST_ROW = 1e-307
"""Least size of the largest entry of a row that is not zero: below it numbers of double precision
lose digits, and multipliers overflow."""

_LIFT = 8.0
"""Roundings of its terms by which an entry of an epigraph is lifted above the least one: a quarter
of those up to which a value counts as 0."""

_NO_ZERO = 0.1
"""Share of its terms from which a value of F is far from 0."""

_HARDLY = 1e-9
"""Infeasibility up to which the exact end of a face stays as it is."""


class PolyhedralQP(QP):
    """min F(x) = ½ xᵀPx + qᵀx  s.t.  Gx ≤ h, Ax = b, lower ≤ x ≤ upper.

    P, symmetric, of any inertia, (n, n), is dense or sparse, as G and A are. `notes` are sentences
    for the certificate on how the program was read.

    x is made of declared variables, whose places and shapes are the `layout`, and, behind them, of
    `epigraphs`: entries that stand for |u_i|, max(u_i, 0) and other piecewise linear or quadratic
    functions of an affine u, by rows; if x is the only variable, they are a part of it. `named` are
    the declared constraints. F leaves out the `constants` of kernels that equations fix;
    multipliers by declared names, and F at points that miss these equations, are those of the
    declared program. By default x is the only variable, and all rows of one kind, or all bounds on
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
            kinds = shapes_by_kind(self.feasible).items()
            named = {kind: DeclaredRows(kind, slice(None), shape) for kind, shape in kinds}
        self.named = named
        self.epigraphs, self.constants, self.doubt = epigraphs, constants, doubt
        feasible.is_coarse = self._is_far_from_zero
        self._ends: dict[int, tuple[ConvexSolution | None, bool]] = {}

    @property
    def keeps_kinds(self) -> bool:
        """Whether the declared constraints are the rows and bounds themselves, by their kinds."""
        return all(name == block.kind for name, block in self.named.items())

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
        body, P = self.feasible, self.along_rows.P
        return program_units(P, self.q, body.rows, body.rhs, body.lower, body.upper)

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

        None for other programs, and if no point nearby is proved to be feasible. It is kept if no
        time limit has made it less accurate. `TimeLimitReached` if half of the seconds that are
        left do not suffice; the other half is for finding a feasible point.
        """
        proved, improves = self._ended(0)
        return self._ended(1)[0] if proved is None and improves else proved

    @property
    def sharp_solution(self) -> ConvexSolution | None:
        """The same with a smaller tolerance; None if the `convex_solution` is exact, or none is.

        It takes about as long once more.
        """
        return self._ended(1)[0] if self._ended(0)[1] else None

    def _ended(self, attempt: int) -> tuple[ConvexSolution | None, bool]:
        """The end of an attempt that is proved, and whether a smaller tolerance may improve it."""
        known = self._ends.get(attempt)
        if known is not None:
            return known
        found = None
        if not self.is_searched and self.is_psd:
            found = self._solved(0.5 * seconds_left(), ATTEMPTS[attempt : attempt + 1])
        proved = None if found is None else self._proved(found)
        improves = found is not None and not found.exact and not self.is_linear_objective
        if seconds_left() > 0.0 and not (found is not None and found.early):
            self._ends[attempt] = proved, improves
        return proved, improves

    def _solved(
        self, seconds: float, attempts: tuple[tuple[float, int, int], ...]
    ) -> ConvexSolution | None:
        body = self.feasible
        (P, q, _), given = self._moving, self.along_rows.P
        if P is not given and RowCurvature(self._given, body.given_rows[1]).is_psd:
            # In the program as it is given, fixed variables add nothing large to q.
            P, q = given, self.q
        found = convex_solution(P, q, body, seconds, attempts)
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
        near = self.feasible.near(found.x, any_distance=not found.exact)
        if near is not None:
            stays = found.exact and self.infeasibility(found.x) <= _HARDLY
            return found if stays else found._replace(x=near.x)
        near = None if found.before is None else self.feasible.near(found.before)
        return None if near is None else found._replace(x=near.x)

    def _is_far_from_zero(self, x: Array) -> bool:
        """Whether F at x is at least a share of its terms, with and without the constant."""
        with np.errstate(over="ignore", invalid="ignore"):
            value, size = float(x @ (0.5 * (self.along_rows.P @ x) + self.q)), np.abs(x)
            terms = float(size @ (0.5 * (self.along_rows.sizes @ size) + np.abs(self.q)))
        least = min(abs(value), abs(value + self.constant))
        return bool(least > _NO_ZERO * (terms + abs(self.constant)))

    def refuse_without_optimum(self) -> None:
        """Find a feasible point, or raise `InfeasibleProblem`.

        It names bounds that exclude each other, or rows and bounds that do. Rows of denormal
        numbers are refused by a `ProblemError`.
        """
        body = self.feasible
        crossed = body.lower > body.upper
        for name, (part, shape) in self.layout.items() if crossed.any() else ():
            low, high = body.lower[part], body.upper[part]
            if crossed[part].any():
                k = int(np.argmax(crossed[part]))
                place = ", ".join(map(str, np.unravel_index(k, shape or (1,), order="F")))
                raise InfeasibleProblem(
                    f"bounds of {name}", "lower bounds that are at most the upper ones",
                    f"{float(low[k])!r} ≤ {name}[{place}] ≤ {float(high[k])!r}",
                )  # fmt: skip
        largest = body.largest
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
            first_point(self)

    def ray_of_model(self) -> UnboundedProblem | None:
        """The error with a ray of the declared model, if the compiler knows how to find one."""
        return None

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
        return RowCurvature(self._given, body.rows_held, body.fixed)

    @property
    def is_convex(self) -> bool:
        """Whether F is convex along the rows that hold as equations, where fixed variables stay.

        That is up to rounding in each variable's own unit.
        """
        return self.along_rows.is_convex

    @property
    def is_psd(self) -> bool:
        """Whether F is convex in the variables that are not fixed, whatever the rows are."""
        return self.along_rows.is_psd

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
        q = self.q + np.where(body.fixed, 0.0, push)
        return curvature.moving, q, 0.5 * float(x @ push)

    def _psd_form(self) -> tuple[Array, Array, float]:
        """As `QP._psd_form`, where fixed variables and all rows that hold as equations count."""
        body = self.feasible
        P, c, constant = self._moving
        H, A = as_dense("P", P), self.along_rows.A
        if self.is_psd:
            return H, c, constant
        b = body.rhs[body.held] - body.rows[body.held] @ np.where(body.fixed, body.lower, 0.0)
        H, c, offset = across_rows(H, c, A, b)
        return H, c, constant + offset

    def cvxpy_objective(self, variables: Mapping[str, Any]) -> Any:
        """The declared objective with the Hessian of `_psd_form`; None if it is not convex."""
        import cvxpy as cp

        if not self.is_convex:
            return None
        v = cp.hstack([cp.vec(variables[name], order="F") for name in self.layout])
        # Equations have no entries of epigraphs, so that only the block of v changes.
        H, c, constant = self._psd_form()
        smooth = H[: v.size, : v.size]
        objective = 0.5 * cp.quad_form(v, cp.psd_wrap(smooth)) + c[: v.size] @ v
        known: list[tuple[Epigraph, Any]] = []
        for term in self.epigraphs:
            if term.place.start < v.size:  # is a part of the only variable
                continue
            u = term.U[:, : v.size] @ v + term.c
            for before, values in known:
                A = before.gathered(term.U)
                u = u + A @ values if A.any() else u
            known.append((term, term.atom(u)))
            if term.weights.any():
                objective = objective + term.weights @ known[-1][1]
        return self.sense * (objective + self.constant + constant)

    # ------------------------------------------------------------------ declared names

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: shape for name, (_, shape) in self.layout.items()}

    def values(self, x: Array) -> Values:
        layout = self.layout.items()
        return {name: x[part].reshape(shape, order="F") for name, (part, shape) in layout}

    def from_values(self, values: Values) -> Array:
        x = np.zeros(self.n)
        for name, (part, _) in self.layout.items():
            x[part] = np.ravel(values[name], order="F")
        for term in self.epigraphs:
            x[term.place] = term.least(x)
        return x

    def terms(self, x: Array) -> Array:
        """|x|, and for entries of epigraphs the size of the terms of what they stand for, (n,)."""
        sizes = np.abs(x)
        for term in self.epigraphs:
            ends = np.abs(term.ends(-sizes, sizes))
            sizes[term.place] = np.maximum(sizes[term.place], ends.max(axis=0))
        return sizes

    def lifted(self, x: Array) -> Array:
        """x with entries of epigraphs that are above the least ones by the rounding of these."""
        lifted, room = x.copy(), _LIFT * EPS * self.terms(x)
        for term in self.epigraphs:
            lifted[term.place] = term.least(lifted)
            lifted[term.tops] += room[term.tops]
        return lifted

    # ------------------------------------------------------------------ values

    def at(self, x: Array, gradient: Array | None = None) -> Point[Array]:
        point = super().at(x, gradient)
        for constant in self.constants:
            beside = constant.beside(x)
            if beside is not None:
                point = Point(x, point.value + beside[0], point.gradient + beside[1])
        return point

    # ------------------------------------------------------------------ units

    def gradient_unit(self, gradient: Array) -> float:
        """The larger of max |q| and max |Px|."""
        curved = float(np.max(np.abs(gradient - self.q)))
        return max(float(np.max(np.abs(self.q))), curved) or 1.0

    # ------------------------------------------------------------------ other forms

    def arrays(self) -> Values:
        """P, q, G, h, A, b, lb and ub, in the letters of qpsolvers, constant and sense."""
        body = self.feasible
        return {
            "P": self.P, "q": self.q, "G": body.G, "h": body.h, "A": body.A, "b": body.b,
            "lb": body.lower, "ub": body.upper,
            "constant": np.array(self.constant), "sense": np.array(float(self.sense)),
        }  # fmt: skip


def first_point(qp: PolyhedralQP) -> Array:
    """The `convex_solution` if there is one and time for it, or else a feasible point."""
    with suppress(TimeLimitReached):
        if (known := qp.convex_solution) is not None:
            return known.x
    return qp.point


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
