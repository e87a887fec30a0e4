"""Any other quadratic or linear program, with its arrays formed, under its declared names."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from indefinite_opt.algebra import NotCanonical, SeparableTerm, VariableBound
from indefinite_opt.errors import InfeasibleProblem
from indefinite_opt.foundation import Array, Values
from indefinite_opt.modeling.compiler.kernel_constants import (
    KernelConstant,
    with_linear,
    without_constants,
)
from indefinite_opt.modeling.compiler.reading import Reading, require
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import (
    Curvature,
    LowerBound,
    Names,
    Optimality,
    Point,
    PolyhedralQP,
    Polyhedron,
    entry_names,
)


class DeclaredRows(NamedTuple):
    """A declared constraint: a part of the multipliers of one kind, in a shape."""

    kind: str
    """inequalities, equalities, lower or upper."""
    part: slice
    shape: tuple[int, ...]
    size: float | Array = 1.0
    """The declared rows are multiples of those here: 2v ≤ 1 has half the multiplier of v ≤ ½."""


class Epigraph(NamedTuple):
    """Σ w_i φ(u_i) with φ(u) = |u|, max(u, 0) or its square, and u = Ux + c; t_i ≥ ±u_i, t ≥ 0."""

    kind: str
    """abs, pos or pos2, as in `SeparableTerm`."""
    place: slice
    """Where t is in x."""
    weights: Array
    U: Array
    c: Array

    def least(self, x: Array) -> Array:
        """The least feasible t."""
        u = self.U @ x + self.c
        return np.abs(u) if self.kind == "abs" else np.maximum(u, 0.0)

    def sides(self) -> Iterator[tuple[Array, Array]]:
        """The affine functions that t is above."""
        yield self.U, self.c
        if self.kind == "abs":
            yield -self.U, -self.c

    def atom(self, v: Any) -> Any:
        """The term as an expression of cvxpy in the declared variables v."""
        import cvxpy as cp

        u = self.U[:, : v.size] @ v + self.c
        t = cp.abs(u) if self.kind == "abs" else cp.pos(u)
        return self.weights @ (cp.square(t) if self.kind == "pos2" else t)


class DeclaredQP(PolyhedralQP):
    """A `PolyhedralQP` whose x is made of declared variables and, behind them, epigraphs.

    An entry t of the epigraphs stands for |u_i| or max(u_i, 0) of an affine u, by rows t ≥ ±u_i.
    `layout` has the place in x and the shape of each declared variable, `named` the declared
    constraints. F leaves out the `constants` of kernels that equations fix; multipliers by declared
    names, and F at points that miss these equations, are those of the declared program.
    """

    title = "a quadratic program with rows"

    def __init__(
        self, *rows: Any, layout: dict[str, tuple[slice, tuple[int, ...]]],
        named: dict[str, DeclaredRows], epigraphs: tuple[Epigraph, ...] = (),
        constants: tuple[KernelConstant, ...] = (), doubt: float = 0.0, **program: Any,
    ) -> None:  # fmt: skip
        super().__init__(*rows, **program)
        self.layout, self.named, self.epigraphs = layout, named, epigraphs
        self.constants, self.doubt = constants, doubt

    def refuse_without_optimum(self) -> None:
        """Raise `InfeasibleProblem` for bounds that exclude each other, or for rows."""
        for name, (part, _) in self.layout.items():
            low, high = self.lower[part], self.upper[part]
            if np.any(low > high):
                k = int(np.argmax(low > high))
                raise InfeasibleProblem(
                    f"bounds of {name}", "lower ones that are not above the upper ones",
                    f"{float(low[k])!r} ≤ {name}[{k}] ≤ {float(high[k])!r}",
                )  # fmt: skip
        super().refuse_without_optimum()

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: shape for name, (_, shape) in self.layout.items()}

    def values(self, x: Array) -> Values:
        return {name: x[part].reshape(shape) for name, (part, shape) in self.layout.items()}

    def from_values(self, values: Values) -> Array:
        x = self.lower.copy()
        for name, (part, _) in self.layout.items():
            x[part] = np.ravel(values[name])
        for term in self.epigraphs:
            x[term.place] = term.least(x)
        return x

    def sizes_of(self, x: Array) -> Array:
        sizes = super().sizes_of(x)  # those of epigraphs, which are no variables of the model
        for part, _ in self.layout.values():
            sizes[part] = np.max(np.abs(x[part]), initial=0.0)
        return sizes

    def at(self, x: Array, gradient: Array | None = None) -> Point[Array]:
        point = super().at(x, gradient)
        for constant in self.constants:
            beside = constant.beside(x)
            if beside is not None:
                point = Point(x, point.value + beside[0], point.gradient + beside[1])
        return point

    def attained(self, point: Point[Array], infeasibility: float) -> tuple[Point[Array], float]:
        if not self.constants:
            return super().attained(point, infeasibility)
        # Near a feasible point F is the same without what it leaves out.
        point = Point(point.x, *self.value_gradient(point.x))
        near, error = super().attained(point, infeasibility)
        return near, error + self.doubt

    def convex_objective(self, variables: Mapping[str, Any]) -> Any:
        """The objective with a Hessian that cvxpy need not examine, if it is convex."""
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

    # ------------------------------------------------------- multipliers by declared names

    @property
    def multiplier_shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: block.shape for name, block in self.named.items()}

    def named_multipliers(self, stacked: Values, x: Array) -> Values:
        none = np.zeros(self.n)  # of a side on which every bound is infinite
        if self.constants:
            stacked = {**stacked, "equalities": stacked["equalities"] - self._shift(x)}
        return {
            name: np.reshape(stacked.get(block.kind, none)[block.part] / block.size, block.shape)
            for name, block in self.named.items()
        }

    def _shift(self, x: Array) -> Array:
        """By how much multipliers of equations are larger than those of the declared program."""
        return sum((one.slope(x) * one.weights for one in self.constants), np.zeros(self.b.size))

    def _stacked(self, multipliers: Values, x: Array) -> Values | None:
        """The multipliers of all rows; None if those of epigraphs have to be recovered."""
        if self.epigraphs:
            return None
        stacked = {name: np.zeros(size) for name, (size,) in self.stacked_shapes.items()}
        for name, block in self.named.items():
            if block.kind in stacked:
                stacked[block.kind][block.part] = block.size * np.ravel(multipliers[name])
        if self.constants:
            stacked["equalities"] += self._shift(x)
        return stacked

    def _refitted(self, point: Point[Array], stacked: Values) -> Values:
        """Multipliers whose part along each constant's a leaves the least residual where x is free.

        Those of a point beside the equations have that of how far it misses them.
        """
        z, y = stacked.get("inequalities", np.zeros(0)), stacked["equalities"]
        free = ~np.logical_or(*self.at_bounds(point.x, _AT_BOUND))
        columns = np.array([constant.a for constant in self.constants]).T[free]
        left = (point.gradient + self.columns @ np.concatenate([z, y]))[free]
        along = np.linalg.lstsq(columns, -left, rcond=None)[0]
        change = sum(m * one.weights for m, one in zip(along, self.constants, strict=True))
        return stacked | {"equalities": y + change}

    def row_terms(self, x: Array, multipliers: Values) -> float:
        return super().row_terms(x, self._stacked(multipliers, x) or {})

    def optimality(
        self, point: Point[Array], multipliers: Values | None, tol: float = 0.0
    ) -> Optimality:
        stacked = None if multipliers is None else self._stacked(multipliers, point.x)
        found = super().optimality(point, stacked, tol)
        return _Stacked(**vars(found) | {
            "multipliers": self.named_multipliers(found.multipliers, point.x),
            "stacked": found.multipliers,
        })  # fmt: skip

    def inconsistencies(self, optimality: Optimality, tol: float) -> list[str]:
        return super().inconsistencies(_as_stacked(optimality), tol)

    def balanced_residual(self, point: Point[Array], optimality: Optimality) -> float:
        return super().balanced_residual(point, _as_stacked(optimality))

    def curvature(
        self, point: Point[Array], optimality: Optimality, tol: float
    ) -> tuple[Curvature, float, int]:
        return super().curvature(point, _as_stacked(optimality), tol)

    def bounds(self, point: Point[Array], multipliers: Values | None) -> Iterator[LowerBound]:
        return self._less_doubt(super().bounds(point, self._of_all_rows(multipliers, point)))

    def charged_bounds(
        self, point: Point[Array], multipliers: Values | None, most: float
    ) -> Iterator[LowerBound]:
        stacked = self._of_all_rows(multipliers, point)
        return self._less_doubt(super().charged_bounds(point, stacked, most))

    def _of_all_rows(self, multipliers: Values | None, point: Point[Array]) -> Values | None:
        """The multipliers of all rows, where those of the declared program are known."""
        stacked = self._stacked(multipliers, point.x) if multipliers else None
        return self._refitted(point, stacked) if stacked and self.constants else stacked

    def _less_doubt(self, bounds: Iterator[LowerBound]) -> Iterator[LowerBound]:
        for bound in bounds:
            value = float(np.nextafter(bound.value - self.doubt, -np.inf))
            yield bound._replace(value=value) if self.doubt else bound


@dataclass(frozen=True, eq=False)
class _Stacked(Optimality):
    """Multipliers by declared names, and as the rows have them."""

    stacked: Values = field(default_factory=dict)


def _as_stacked(optimality: Optimality) -> Optimality:
    stacked = optimality.stacked if isinstance(optimality, _Stacked) else optimality.multipliers
    return replace(optimality, multipliers=stacked)


_AT_BOUND = 1e-8
"""Distance from a bound, as a share of the variable, up to which a variable is not free."""

_OF_POINTS = (
    "K = XXᵀ for the points X: objective and bound are those of the inner products of the centred "
    "points, as K holds rounded products."
)


def has_epigraph(part: SeparableTerm) -> bool:
    """Whether a term is piecewise linear or quadratic, and convex where it is minimised."""
    weights = np.asarray(part.weights)
    return part.kind in ("abs", "pos", "pos2") and bool(np.all(weights >= 0.0))


def as_declared_qp(reading: Reading, problem: KernelProblem) -> DeclaredQP:
    """½xᵀPx + qᵀx on rows and bounds; |u|, max(u, 0) and its square by epigraphs."""
    form = reading.form
    require(all(map(has_epigraph, form.separables)))
    layout, n = {}, 0
    for name, shape in form.variables.items():
        layout[name] = slice(n, n + math.prod(shape)), shape
        n += math.prod(shape)
    tops, total = [], n
    for part in form.separables:
        tops.append(slice(total, total + part.u.m))
        total += part.u.m
    places = {name: part for name, (part, _) in layout.items()}
    lower, upper = np.full(total, -np.inf), np.full(total, np.inf)
    named: dict[str, DeclaredRows] = {}
    G, h = _Stack(total), _Stack()
    A, b = _Stack(total), _Stack()
    called: dict[str, list[str]] = {"inequalities": [], "equalities": []}
    for name, shape in form.variables.items():
        first, further = _split(reading.all_bounds(name))
        for bound in first:
            ends = lower if bound.side == "lower" else upper
            ends[places[name]] = np.ravel(bound.end)
            named[bound.name] = DeclaredRows(bound.side, places[name], shape, bound.size)
        for bound in further:
            sign = -1.0 if bound.side == "lower" else 1.0
            below = G.add(sign * np.eye(total)[places[name]])
            h.add(np.ravel(np.broadcast_to(sign * np.asarray(bound.end), shape)))
            named[bound.name] = DeclaredRows("inequalities", below, shape, bound.size)
            called["inequalities"] += entry_names(bound.name, shape)
    for row in reading.rows():
        rows, right, kind = (A, b, "equalities") if row.equal else (G, h, "inequalities")
        below = rows.add(row.u.rows(places, total))
        right.add(-row.u.constants)
        shape = () if row.u.m == 1 else (row.u.m,)
        named[row.name] = DeclaredRows(kind, below, shape)
        called[kind] += entry_names(row.name, shape)
    body = Polyhedron(G.whole, h.whole, A.whole, b.whole, lower, upper)
    plain, constants = without_constants(form, problem, places, body)
    P, q, constant = reading.objective(plain, places, total)
    q, doubt = with_linear(q, constants, body)
    if not math.isfinite(doubt):
        constants, doubt = (), 0.0
        P, q, constant = form.arrays(places, total)
    epigraphs = []
    for part, top in zip(reading.separables(), tops, strict=True):
        weights = np.broadcast_to(np.asarray(part.weights, dtype=float), (part.u.m,))
        U, c = part.u.rows(places, total), part.u.constants
        term = Epigraph(part.kind, top, weights, U, c)
        epigraphs.append(term)
        lower[top], upper[top] = 0.0, _largest(term, lower, upper)
        if part.kind == "pos2":
            P[top, top] += np.diag(2.0 * weights)
        else:
            q[top] += weights
        for slopes, level in term.sides():
            above = slopes.copy()
            above[:, top] -= np.eye(part.u.m)
            G.add(above)
            h.add(-level)
            called["inequalities"] += entry_names(f"{part.kind} {len(h)}", (part.u.m,))
    parts = [
        *form.variables.items(),
        *((f"{term.kind} {term.place.start}", (term.weights.size,)) for term in epigraphs),
    ]
    variables = [one for name, shape in parts for one in entry_names(name, shape)]
    names = Names(tuple(variables), *map(tuple, called.values()))
    return DeclaredQP(
        G.whole, h.whole, A.whole, b.whole, lower, upper, P=0.5 * (P + P.T), q=q, sense=form.sense,
        constant=constant, layout=layout, named=named, epigraphs=tuple(epigraphs), names=names,
        constants=constants, doubt=doubt, notes=(_OF_POINTS,) * any(c.of_points for c in constants),
    )  # fmt: skip


def _split(bounds: list[VariableBound]) -> tuple[list[VariableBound], list[VariableBound]]:
    """A bound for each side, and further ones, which are rows with multipliers of their own."""
    first: dict[str, VariableBound] = {}
    further = []
    for bound in sorted(bounds, key=lambda one: bool(np.all(np.isfinite(one.end)))):
        if first.setdefault(bound.side, bound) is bound:
            continue
        if not np.all(np.isfinite(bound.end)):
            raise NotCanonical(f"{bound.name}, one more bound of {bound.variable}", "finite ends")
        further.append(bound)
    return list(first.values()), further


class _Stack:
    """Blocks of rows, one below the other."""

    def __init__(self, *width: int) -> None:
        self._parts: list[Array] = [np.zeros((0, *width))]
        self._size = 0

    def add(self, rows: Array) -> slice:
        self._parts.append(rows)
        self._size += len(rows)
        return slice(self._size - len(rows), self._size)

    def __len__(self) -> int:
        return self._size

    @property
    def whole(self) -> Array:
        return np.concatenate(self._parts)


def _largest(term: Epigraph, lower: Array, upper: Array) -> Array:
    """Above every |u_i| that bounds of the variables allow; t is never larger at an optimum."""
    held = term.U != 0.0
    ends = np.maximum(np.abs(lower), np.abs(upper))
    with np.errstate(invalid="ignore"):
        sizes = np.where(held, np.abs(term.U) * ends, 0.0).sum(axis=1)
    return np.asarray((1.0 + 1e-9) * (sizes + np.abs(term.c)))
