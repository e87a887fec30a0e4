"""Any other quadratic or linear program, with its arrays formed, under its declared names."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from indefinite_opt.algebra import NotCanonical, VariableBound
from indefinite_opt.foundation import Array
from indefinite_opt.modeling.compiler.kernel_constants import with_linear, without_constants
from indefinite_opt.modeling.compiler.reading import Reading, require
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import (
    DeclaredRows,
    Epigraphs,
    Names,
    PolyhedralQP,
    Polyhedron,
    entry_names,
    names_of_epigraphs,
    set_ends,
    side_name,
)

_OF_POINTS = (
    "K = XXᵀ for the points X: objective and bound are those of the inner products of the centred "
    "points, as K holds rounded products."
)


_MOST = 5_000
"""Most entries of x for which arrays are formed if there are atoms that cvxpy takes as well."""


def as_declared_qp(reading: Reading, problem: KernelProblem | None) -> PolyhedralQP:
    """½xᵀPx + qᵀx on rows and bounds; piecewise linear and quadratic terms by epigraphs."""
    form = reading.form
    layout, n = {}, 0
    for name, shape in form.variables.items():
        layout[name] = slice(n, n + math.prod(shape)), shape
        n += math.prod(shape)
    cvxpy_takes_it = form.hidden or any(len(shape) > 1 for shape in form.variables.values())
    require(not cvxpy_takes_it or n + sum(one.u.m for one in form.hidden) <= _MOST)
    places = {name: part for name, (part, _) in layout.items()}
    for parts in (reading.hidden, reading.rows, reading.norms, reading.separables):
        parts()  # which the epigraphs take over
    tops = Epigraphs(form, n)
    require(tops.misplaced is None)
    total = tops.total
    lower, upper = np.full(total, -np.inf), np.full(total, np.inf)
    named: dict[str, DeclaredRows] = {}
    G, h = _Stack(total), _Stack()
    A, b = _Stack(total), _Stack()
    called: dict[str, list[str]] = {"inequalities": [], "equalities": []}

    def below(name: str, rows: Array, right: Array, shape: tuple[int, ...]) -> slice:
        h.add(right)
        called["inequalities"] += entry_names(name, shape)
        return G.add(rows)

    for name, shape in form.variables.items():
        first, further = _split(reading.all_bounds(name))
        for bound in first:
            ends = lower if bound.side == "lower" else upper
            ends[places[name]] = np.ravel(bound.end)
            named[bound.name] = DeclaredRows(bound.side, places[name], shape, bound.size)
        for bound in further:
            sign = -1.0 if bound.side == "lower" else 1.0
            right = np.broadcast_to(sign * np.asarray(bound.end), math.prod(shape))
            part = below(bound.name, sign * np.eye(total)[places[name]], right, shape)
            named[bound.name] = DeclaredRows("inequalities", part, shape, bound.size)
    for row in tops.rows:
        shape = row.shape or (() if row.u.m == 1 else (row.u.m,))
        if row.equal:
            b.add(-row.u.constants)
            part = A.add(row.u.rows(places, total))
            called["equalities"] += entry_names(row.name, shape)
            named[row.name] = DeclaredRows("equalities", part, shape)
            continue
        pieces = []
        for k, (rows, level) in enumerate(tops.pieces(row, places)):
            piece = None
            if tops.opened(row):
                piece = _bounded(rows, level, shape, layout, lower, upper)
            if piece is None:
                part = below(side_name(row.name, k), rows, -level, shape)
                piece = DeclaredRows("inequalities", part, shape)
            pieces.append(piece)
        named[row.name] = pieces[0]._replace(others=tuple(pieces[1:]))
    body = Polyhedron(G.whole, h.whole, A.whole, b.whole, lower, upper)
    smooth = replace(form, affine=tops.affine)
    plain, constants = without_constants(smooth, problem, places, body)
    P, q, constant = reading.objective(plain, places, total)
    q, doubt = with_linear(q, constants, body)
    if not math.isfinite(doubt):
        constants, doubt = (), 0.0
        P, q, constant = smooth.arrays(places, total)
    epigraphs = tops.epigraphs(places)
    set_ends(epigraphs, body)
    for term in epigraphs:
        costs, squares = term.costs
        q[term.place] += costs
        if squares.any():
            P[term.place, term.place] += np.diag(2.0 * squares)
        for slopes, level in term.sides():
            h.add(-level)
            G.add(slopes)
    variables = [one for name, shape in form.variables.items() for one in entry_names(name, shape)]
    entries, sides = names_of_epigraphs(epigraphs)
    inequalities = (*called["inequalities"], *sides)
    names = Names((*variables, *entries), inequalities, tuple(called["equalities"]))
    blocks = tuple(part for part, _ in layout.values())
    atoms = frozenset((*entries, *sides))
    body = Polyhedron(G.whole, h.whole, A.whole, b.whole, lower, upper, names, blocks, atoms)
    return PolyhedralQP(
        body, 0.5 * (P + P.T), q, sense=form.sense, constant=constant, layout=layout, named=named,
        epigraphs=tuple(epigraphs), constants=constants, doubt=doubt,
        notes=(_OF_POINTS,) * any(c.of_points for c in constants),
    )  # fmt: skip


def _bounded(
    rows: Array, constants: Array, shape: tuple[int, ...],
    layout: dict[str, tuple[slice, tuple[int, ...]]], lower: Array, upper: Array,
) -> DeclaredRows | None:  # fmt: skip
    """Rx + r ≤ 0 as bounds of a variable that has none on that side, if it is ±a∘v + r.

    Entries of a are powers of two, as other quotients r/a would round the bounds.
    """
    for place, _ in layout.values():
        d = np.diagonal(rows[:, place])
        is_square = d.size == len(rows) == place.stop - place.start
        one_signed = bool(np.all(d > 0.0) or np.all(d < 0.0))
        is_exact = bool(np.all(np.abs(np.frexp(d)[0]) == 0.5))
        if not (is_square and one_signed and is_exact and np.count_nonzero(rows) == d.size):
            continue
        side, ends = ("upper", upper) if np.all(d > 0.0) else ("lower", lower)
        if np.all(np.isinf(ends[place])):
            ends[place] = 0.0 - constants / d
            return DeclaredRows(side, place, shape, np.abs(d))
    return None


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

    @property
    def whole(self) -> Array:
        return np.concatenate(self._parts)
