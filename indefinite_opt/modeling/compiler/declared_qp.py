"""Any other quadratic or linear program, with its arrays formed, under its declared names."""

from __future__ import annotations

import math

import numpy as np

from indefinite_opt.algebra import NotCanonical, SeparableTerm, VariableBound
from indefinite_opt.foundation import Array
from indefinite_opt.modeling.compiler.kernel_constants import with_linear, without_constants
from indefinite_opt.modeling.compiler.reading import Reading, require
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import (
    DeclaredRows,
    Epigraph,
    Names,
    PolyhedralQP,
    Polyhedron,
    entry_names,
)

_OF_POINTS = (
    "K = XXᵀ for the points X: objective and bound are those of the inner products of the centred "
    "points, as K holds rounded products."
)


def has_epigraph(part: SeparableTerm) -> bool:
    """Whether a term is piecewise linear or quadratic, and convex where it is minimised."""
    weights = np.asarray(part.weights)
    return part.kind in ("abs", "pos", "pos2") and bool(np.all(weights >= 0.0))


def as_declared_qp(reading: Reading, problem: KernelProblem) -> PolyhedralQP:
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
    blocks = tuple(part for part, _ in layout.values())
    body = Polyhedron(G.whole, h.whole, A.whole, b.whole, lower, upper, names, blocks)
    return PolyhedralQP(
        body, 0.5 * (P + P.T), q, sense=form.sense, constant=constant, layout=layout, named=named,
        epigraphs=tuple(epigraphs), constants=constants, doubt=doubt,
        notes=(_OF_POINTS,) * any(c.of_points for c in constants),
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
