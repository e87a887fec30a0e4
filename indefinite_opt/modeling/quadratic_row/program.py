"""Quadratic programs with one quadratic row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from indefinite_opt.errors import (
    IndefiniteOptError,
    InfeasibleProblem,
    SolverFailed,
    UnboundedProblem,
)
from indefinite_opt.foundation import (
    EPS,
    TINY,
    Array,
    Values,
    cached_property,
    one_thread,
    seconds_left,
)
from indefinite_opt.modeling.quadratic_row.extent import extent
from indefinite_opt.modeling.quadratic_row.secular import Pencil, Root, secular_root
from indefinite_opt.modeling.quadratic_row.tree import Hinges, Tree
from indefinite_opt.quadratic import (
    Claim,
    ExplicitProgram,
    LowerBound,
    Point,
    PolyhedralQP,
    RowCurvature,
    answers,
    proved_curvature,
    relative,
)

_SHIFTS = 0.0, 1e-9, 1e-7, 1e-5
"""Shares of the way to a definite matrix by which multipliers are moved for a bound."""

_PUSHES = 0.0, 2.0, 16.0, 128.0, 1e4, 1e7
"""Times its rounding by which a row is met, until it surely is."""

_MOVES = 12
"""Most steps of Newton's method by which a point is moved onto the row."""

_MET = 1e-9
"""Share of its size by which a variable or linear row may miss an end that it keeps in such steps.
"""

_DUAL = "The Lagrangian of the quadratic row is convex, and its bound meets the objective."
_TREE = "Bounds of {} by branch and bound meet the objective."


@dataclass(frozen=True, eq=False)
class QuadraticRow:
    """½xᵀGx + gᵀx ≤ c, or = c."""

    name: str
    G: Array
    g: Array
    c: float
    equal: bool

    def value(self, x: Array) -> float:
        """½xᵀGx + gᵀx - c."""
        return float(x @ (0.5 * (self.G @ x) + self.g)) - self.c

    def slope(self, x: Array) -> Array:
        """Gx + g."""
        return np.asarray(self.G @ x + self.g)

    def terms(self, x: Array) -> float:
        """The absolute terms of the row at x."""
        size = np.abs(x)
        return float(size @ (0.5 * (np.abs(self.G) @ size) + np.abs(self.g))) + abs(self.c)

    def rounding(self, x: Array) -> float:
        """By how much the computed value may be wrong."""
        return (2.0 * x.size + 8.0) * EPS * self.terms(x) + _underflow(x)

    def vanishes(self, x: Array) -> bool:
        """Whether every term of the row is 0 at x, without any rounding."""
        away = x != 0.0
        return self.c == 0.0 and not self.G[np.ix_(away, away)].any() and not self.g[away].any()


@dataclass(frozen=True, eq=False)
class QuadraticRowProgram(ExplicitProgram):
    """min ½xᵀPx + qᵀx + Σ k_i max(r_i + R_iᵀx, 0)  s.t.  ½xᵀHx + hᵀx ≤ c or = c, rows, bounds.

    Every matrix may have any inertia. Without hinges, rows and bounds the dual of the quadratic row
    has no gap, and the optimum is a root of its secular equation. Else it is found by branch and
    bound over the coordinates along which the objective or the row is concave.

    `base` has all of it but the hinges and the quadratic row.
    """

    base: PolyhedralQP
    row: QuadraticRow
    hinges: Hinges

    title = "a quadratic program with a quadratic row"
    is_bounded_by_dual = True

    usual_solver = "secular"

    def __post_init__(self) -> None:
        if self.is_coupled:
            object.__setattr__(self, "usual_solver", "spatial")

    @cached_property
    def is_convex(self) -> bool:
        none = np.zeros((0, self.n))
        return not self.row.equal and self.base.is_psd and RowCurvature(self.row.G, none).is_psd

    @property
    def n(self) -> int:
        """Number of variables."""
        return self.base.n

    @property
    def sense(self) -> int:  # type: ignore[override]
        return self.base.sense

    @property
    def constant(self) -> float:  # type: ignore[override]
        return self.base.constant

    @property
    def multipliers_from_solver(self) -> bool:  # type: ignore[override]
        return self.is_coupled

    @property
    def is_coupled(self) -> bool:
        """Whether there is more than the quadratic row, so that its dual may have a gap."""
        body = self.base.feasible
        ranged = np.isfinite(body.lower).any() or np.isfinite(body.upper).any()
        return bool(self.hinges.costs.size or body.has_rows or ranged)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return self.base.shapes

    def vector(self, values: Values) -> Array:
        """x."""
        return self.base.from_values(values)

    def named(self, x: Array) -> Values:
        """x as declared variables."""
        return self.base.values(x)

    def value(self, values: Values) -> float:
        return self.value_at(self.vector(values))

    def value_at(self, x: Array) -> float:
        """The objective at x."""
        return float(x @ (0.5 * (self.base.P @ x) + self.base.q)) + self.hinges.value(x)

    def terms(self, x: Array) -> float:
        """The absolute terms of the objective at x."""
        size = np.abs(x)
        P, q = np.abs(self.base.P), np.abs(self.base.q)
        return float(size @ (0.5 * (P @ size) + q)) + self.hinges.terms(x)

    def rounding(self, x: Array) -> float:
        """By how much the computed objective may be wrong."""
        count = 2.0 * x.size + self.hinges.costs.size + 8.0
        return count * EPS * self.terms(x) + (_underflow(x) if x.any() else 0.0)

    def infeasibility(self, values: Values) -> float:
        """The larger one of the rows and bounds, and of the quadratic row beside its terms."""
        x = self.vector(values)
        over, terms = self.row.value(x), self.row.terms(x)
        missed = abs(over) if self.row.equal else max(over, 0.0)
        share = relative(max(missed - self.row.rounding(x), 0.0), terms)
        return max(self.base.infeasibility(x), share if np.isfinite(share) else np.inf)

    def arrays(self) -> dict[str, Array]:
        """P, q, rows and bounds as of a quadratic program; the quadratic row; the hinges."""
        row, hinges = self.row, self.hinges
        own = {"row_P": row.G, "row_q": row.g, "row_rhs": np.array(row.c)}
        own["row_equal"] = np.array(row.equal)
        if hinges.costs.size:
            own |= {"hinge_costs": hinges.costs, "hinge_rows": hinges.R, "hinge_offsets": hinges.r}
        return self.base.arrays() | own

    # ---------------------------------------------------------------------- feasible points

    def surely_feasible(self, x: Array) -> tuple[Array, float] | None:
        """A point near x, and an upper bound on F at an exactly feasible point beside it.

        It moves along the rows and bounds that are met, with ever more room until the row surely
        holds, also at the point beside it that satisfies rows and bounds. Where the row is an
        equation, it has both signs at the ends of a short segment of such points.
        """
        row, near = self.row, self.base.feasible.near
        for push in _PUSHES:
            room = push * row.rounding(x)
            found = near(self.moved(x, -room))
            other = near(self.moved(x, room)) if row.equal else found
            if found is None or other is None or not (found.exactly and other.exactly):
                continue
            radius = found.radius + np.abs(other.x - found.x) + other.radius
            signs = (self._sign(each.x, each.radius) for each in (found, other))
            is_origin = row.vanishes(found.x) and not radius.any()
            if tuple(signs) == (-1.0, 1.0 if row.equal else -1.0) or is_origin:
                return found.x, self._attained(found.x, radius)
        return None

    def moved(self, x: Array, target: float) -> Array:
        """A point near x where the row is at the target, or below it, by steps along the rows and
        bounds that are met."""
        body, row = self.base.feasible, self.row
        for _ in range(_MOVES):
            x = body.by_steps(x)
            over = row.value(x) - target
            step = -over * row.slope(x)
            if abs(over) < 0.5 * row.rounding(x) or (over < 0.0 and not row.equal):
                break
            low, high = body.at_bounds(x, _MET)
            step[(low & (step < 0.0)) | (high & (step > 0.0))] = 0.0
            if body.has_rows:
                sides, _, sizes = body.sides(x)
                held = body.are_equations | ((sides > -_MET * sizes) & (body.rows @ step > 0.0))
                free = step != 0.0
                columns = body.rows[np.flatnonzero(held)].toarray()[:, free].T
                if columns.size:
                    step[free] -= columns @ np.linalg.lstsq(columns, step[free], rcond=None)[0]
            fall = float(step @ row.slope(x))
            if not abs(fall) > 0.0:
                break
            x = x - (over / fall) * step
        return x

    def _sign(self, x: Array, radius: Array) -> float:
        """The sign of the row within a radius of x, or 0 if it is not sure."""
        value = self.row.value(x)
        spread = np.abs(self.row.slope(x)) + 0.5 * (np.abs(self.row.G) @ radius)
        room = self.row.rounding(np.abs(x) + radius) + (1.0 + EPS * x.size) * float(radius @ spread)
        return float(np.sign(value)) if abs(value) > room else 0.0

    def _attained(self, x: Array, radius: Array) -> float:
        """An upper bound on F within a radius of x."""
        steep = np.abs(self.base.gradient(x)) + 0.5 * (np.abs(self.base.P) @ radius)
        steep = steep + self.hinges.costs @ np.abs(self.hinges.R)
        spread = (1.0 + EPS * x.size) * float(radius @ steep)
        return self.value_at(x) + spread + self.rounding(np.abs(x) + radius)

    # ----------------------------------------------------------------- first-order conditions

    def multipliers(self, values: Values) -> dict[str, Array]:
        """That of the row which leaves the least gradient; none if there is more than the row."""
        if self.is_coupled:
            return {}
        x = self.vector(values)
        slope, gradient = self.row.slope(x), self.base.gradient(x)
        square = float(slope @ slope)
        found = -float(slope @ gradient) / square if square > 0.0 else 0.0
        return {self.row.name: np.array(found if self.row.equal else max(found, 0.0))}

    def residual(self, values: Values, multipliers: Values) -> float:
        x = self.vector(values)
        if self.row.name not in multipliers or self.is_coupled:
            return np.inf
        left = self.base.gradient(x) + float(multipliers[self.row.name]) * self.row.slope(x)
        unit = float(np.max(np.abs(self.base.P) @ np.abs(x) + np.abs(self.base.q), initial=0.0))
        return float(np.max(np.abs(left), initial=0.0)) / (unit or 1.0)

    def complementarity(self, values: Values, multipliers: Values) -> float:
        held = float(multipliers.get(self.row.name, np.inf))
        return abs(held * self.row.value(self.vector(values))) if held else 0.0

    # ------------------------------------------------------------------------------- bounds

    @cached_property
    def pencil(self) -> Pencil:
        """P + λH."""
        return Pencil(self.base.P, self.row.G, self.row.equal)

    @property
    def has_secular_equation(self) -> bool:
        """Whether the row is alone, and some multiplier makes the Lagrangian strictly convex."""
        return not self.is_coupled and self.pencil.is_definite

    @cached_property
    def root(self) -> Root:
        """The optimum by the secular equation.

        `UnboundedProblem` and `InfeasibleProblem` if these are proved, `SolverFailed` if nothing
        is.
        """
        row, q = self.row, self.base.q
        if not self.pencil.is_definite:
            falling = self.pencil.falling()
            if falling is not None:
                raise UnboundedProblem(
                    f"the objective falls without bound along directions with which "
                    f"{row.name!r} continues to hold",
                    falling[0],
                )
            raise SolverFailed(
                f"no multiplier of {row.name!r} is known with which the Lagrangian is strictly "
                "convex, as the secular equation needs. Give the variables finite bounds, so that "
                "branch and bound solves the program."
            )
        found = secular_root(self.pencil, q, row.g, row.c)
        if found is not None:
            return found
        side = -1.0 if row.equal and self.pencil.G.trace() <= 0.0 else 1.0
        least = convex_bound(side * row.G, side * row.g, -side * row.c)
        if least > 0.0:
            raise InfeasibleProblem(
                row.name, "a row that some point satisfies",
                f"one whose least violation is {least:.3g}",
            )  # fmt: skip
        raise SolverFailed(f"no point is known that satisfies {row.name!r}")

    @cached_property
    def tree(self) -> Tree:
        """Branch and bound, which goes on where it was."""
        return Tree(self, extent(self))

    @property
    def _bound_of_tree(self) -> LowerBound:
        nodes = "one node" if self.tree.nodes == 1 else f"{self.tree.nodes} nodes"
        return LowerBound(self.tree.lower, None, _TREE.format(nodes))

    def lower_bound(self, values: Values, multipliers: Values) -> float:
        """The best bound of the Lagrangian with the multiplier of the row, and with others near it.

        -inf if there are hinges, rows or bounds; see `tree`.
        """
        if self.is_coupled or self.row.name not in multipliers:
            return -np.inf
        given = float(multipliers[self.row.name])
        best = -np.inf
        for shift in _SHIFTS:
            multiplier = given + shift * (self.pencil.shift - given)
            best = max(best, self.lagrangian_bound(multiplier))
            if best > -np.inf and shift:
                break
        return best

    def lagrangian_bound(self, multiplier: float) -> float:
        """min ½xᵀ(P + λH)x + (q + λh)ᵀx - λc, rounded down.

        -inf unless the matrix is proved to be positive definite.
        """
        row, base = self.row, self.base
        if not row.equal and multiplier < 0.0:
            multiplier = 0.0
        P, q = base.P + multiplier * row.G, base.q + multiplier * row.g
        # P and q are less than what they stand for by their rounding.
        rounding = 2.0 * EPS * (np.abs(base.P) + abs(multiplier) * np.abs(row.G))
        size = float(rounding.sum(axis=1).max())
        error = 2.0 * EPS * (np.abs(base.q) + np.abs(multiplier * row.g))
        error[row.g == 0.0] = 0.0
        if error.any() and size == 0.0:
            return -np.inf
        square = float(error @ error) / (2.0 * size) if error.any() else 0.0
        P = P - (4.0 * size) * np.eye(self.n)
        least = convex_bound(P, q, -multiplier * row.c - 2.0 * square)
        lost = EPS * abs(multiplier * row.c)
        return float(np.nextafter(least - lost, -np.inf)) if lost else least

    def bounds(self, values: Values, multipliers: Values | None) -> Iterator[LowerBound]:
        """Bounds by branch and bound; or by the given multipliers, by those of the point, and by
        those of the optimum."""
        if self.is_coupled:
            halted, self.tree.halted = self.tree.halted, False
            yield self._bound_of_tree  # what is known
            if not halted:
                self.tree.run(seconds_left())
                yield self._bound_of_tree
            return
        if multipliers:
            yield LowerBound(self.lower_bound(values, multipliers), None, _DUAL)
        yield LowerBound(self.lower_bound(values, self.multipliers(values)), None, _DUAL)
        held = {self.row.name: np.array(self.root.multiplier)}
        yield LowerBound(self.lower_bound(values, held), None, _DUAL)


def _underflow(x: Array) -> float:
    """More than a quadratic function of x, or of what is near it, loses by underflow."""
    return TINY * (1.0 + float(np.abs(x).sum()))


@one_thread()
def convex_bound(P: Array, q: Array, constant: float) -> float:
    """The least ½xᵀPx + qᵀx + constant, rounded down; -inf unless P is proved to be definite.

    With the gradient r at a point x and zᵀDPDz ≥ σ‖z‖² it is at least F(x) - ‖Dr‖²/2σ.

    >>> bool(-0.5 - 1e-12 < convex_bound(2.0 * np.eye(2), np.array([1.0, -1.0]), 0.0) <= -0.5)
    True
    """
    found = proved_curvature(P)
    if found is None:
        return -np.inf
    curvature, units = found
    x = np.asarray(np.linalg.solve(P, -q))
    x = x - np.linalg.solve(P, P @ x + q)
    count, size = 2.0 * len(q) + 8.0, np.abs(x)
    steep = np.abs(P) @ size + np.abs(q)
    left = np.abs(P @ x + q) + count * EPS * steep
    scaled = units * left
    value = float(x @ (0.5 * (P @ x) + q)) + constant
    error = count * EPS * (float(size @ steep) + abs(constant))
    error += _underflow(x) if x.any() or q.any() else 0.0
    least = value - error - (1.0 + count * EPS) * float(scaled @ scaled) / (2.0 * curvature)
    return least if np.isfinite(least) else -np.inf


@answers.bounds.register
def _(
    program: QuadraticRowProgram, point: Point[Values], multipliers: Values | None
) -> Iterator[LowerBound]:
    with suppress(IndefiniteOptError):  # without an optimum or a range of the variables
        yield from program.bounds(point.x, multipliers)


@answers.remarks.register
def _(program: QuadraticRowProgram, point: Point[Values], claim: Claim, bounded: bool) -> list[str]:
    if claim is Claim.GLOBAL or claim is Claim.NONE:
        return []
    if not bounded:
        return ["No bound is proved."]
    if program.is_coupled and not program.tree.is_closed:
        return [f"{program.tree.nodes} nodes leave a gap; with a longer time_limit more follow."]
    return ["The bound leaves a gap; `solve` finds the optimum."]


@answers.attained.register
def _(
    program: QuadraticRowProgram, point: Point[Values], infeasibility: float
) -> tuple[Point[Values], float]:
    found = program.surely_feasible(program.vector(point.x))
    if found is None:
        return point, np.inf
    x, most = found
    near = program.at(program.named(x))
    return near, max(most - near.value, 0.0)


@answers.multiplier_shapes.register
def _(program: QuadraticRowProgram) -> dict[str, tuple[int, ...]]:
    return {program.row.name: ()} | answers.multiplier_shapes(program.base)


@answers.line_names.register
def _(program: QuadraticRowProgram) -> tuple[str, ...]:
    kinds = {name for name, block in program.base.named.items() if block.kind == "equalities"}
    return (*kinds, *((program.row.name,) if program.row.equal else ()))


@answers.terms.register
def _(program: QuadraticRowProgram, point: Point[Values]) -> float:
    return program.terms(program.vector(point.x))
