"""Any other quadratic or linear program, with its arrays formed, under its declared names."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np

from indefinite_opt.algebra import (
    Affine,
    AffineRows,
    Hidden,
    NotCanonical,
    Operator,
    RowFactor,
    SeparableTerm,
    VariableBound,
)
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


_MOST = 5_000
"""Most entries of x for which arrays are formed if there are atoms that cvxpy takes as well."""


def has_epigraph(part: SeparableTerm) -> bool:
    """Whether a term is piecewise linear or quadratic, and convex where it is minimised."""
    weights = np.asarray(part.weights)
    return part.kind in ("abs", "pos", "pos2", "huber") and bool(np.all(weights >= 0.0))


def as_declared_qp(reading: Reading, problem: KernelProblem) -> PolyhedralQP:
    """½xᵀPx + qᵀx on rows and bounds; piecewise linear and quadratic terms by epigraphs."""
    form = reading.form
    require(all(map(has_epigraph, form.separables)))
    layout, n = {}, 0
    for name, shape in form.variables.items():
        layout[name] = slice(n, n + math.prod(shape)), shape
        n += math.prod(shape)
    cvxpy_takes_it = form.hidden or any(len(shape) > 1 for shape in form.variables.values())
    require(not cvxpy_takes_it or n + sum(one.u.m for one in form.hidden) <= _MOST)
    places = {name: part for name, (part, _) in layout.items()}
    tops = _Tops(reading, n)
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
                side = f"{row.name}, side {k + 1}" if k else row.name
                piece = DeclaredRows("inequalities", below(side, rows, -level, shape), shape)
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
    for term in epigraphs:
        lower[term.place], upper[term.place] = term.ends(lower, upper)
        costs, squares = term.costs
        q[term.place] += costs
        if squares.any():
            P[term.place, term.place] += np.diag(2.0 * squares)
        for slopes, level in term.sides():
            below(f"{term.kind} {len(h) + level.size}", slopes, -level, (level.size,))
    parts = [
        *form.variables.items(),
        *((f"{t.kind} {t.place.start}", (t.place.stop - t.place.start,)) for t in epigraphs),
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


class _Tops:
    """The epigraphs of a form, whose entries are behind those of its variables.

    A row in which every entry has one atom |u|, max(u, 0) or max u needs none: it is a row for each
    piece of the atom.
    """

    def __init__(self, reading: Reading, n: int) -> None:
        form = reading.form
        self.hidden = {one.name: one for one in reading.hidden()}
        self.rows = list(reading.rows())
        for norm in reading.norms():
            one = Hidden(f"·{norm.name}", "abs", norm.u, norm.u.m, norm.text)
            self.hidden[one.name] = one
            sums = {one.name: Operator.of(RowFactor(np.full(one.size, norm.size)))}
            self.rows.append(AffineRows(norm.name, Affine(1, sums, -norm.size * norm.end), False))
        costs = {name: form.affine.linear.get(name) for name in self.hidden}
        self.costs = {name: A.row for name, A in costs.items() if A is not None}
        linear = {v: A for v, A in form.affine.linear.items() if v not in self.hidden}
        self.affine = Affine(1, linear, form.affine.constant)
        self.separables = reading.separables()
        self._require_growth()
        uses = Counter(self.costs)
        for u in [row.u for row in self.rows] + self._inner:
            uses.update(self.hidden.keys() & u.linear.keys())
        self._opened = {}
        for row in self.rows:
            names = [name for name in row.u.linear if name in self.hidden]
            if len(names) == 1 and uses[names[0]] == 1 and self._is_open(row, names[0]):
                self._opened[row.name] = names[0]
        self.places: dict[str, slice] = {}
        self.total = n
        for name, one in self.hidden.items():
            if name not in self._opened.values():
                self.places[name] = self._place(one.kind, one.u.m, one.size)
        self._others = [self._place(part.kind, part.u.m, part.u.m) for part in self.separables]

    def _place(self, kind: str, rows: int, groups: int) -> slice:
        start, self.total = self.total, self.total + Epigraph.entries(kind, rows, groups)
        return slice(start, self.total)

    @property
    def _inner(self) -> list[Affine]:
        return [*(one.u for one in self.hidden.values()), *(part.u for part in self.separables)]

    def _require_growth(self) -> None:
        """No row, term or cost may fall with an atom, as t is above the atom."""
        require(all(np.all(cost >= 0.0) for cost in self.costs.values()))
        for u in [row.u for row in self.rows] + self._inner:
            for name in self.hidden.keys() & u.linear.keys():
                require(np.all(u.linear[name].dense() >= 0.0))

    def _is_open(self, row: AffineRows, name: str) -> bool:
        """Whether each entry of a row has exactly one entry of a hidden variable."""
        one, A = self.hidden[name], row.u.linear[name].dense()
        return one.kind != "largest" and bool(np.all(np.count_nonzero(A, axis=1) == 1))

    def opened(self, row: AffineRows) -> bool:
        """Whether it is a row for each piece of its atom."""
        return row.name in self._opened

    def _formed(self, u: Affine, places: dict[str, slice]) -> Array:
        """The coefficients of the entries of x, (m, total)."""
        declared = {name: A for name, A in u.linear.items() if name in places}
        rows = Affine(u.m, declared).rows(places, self.total)
        for name, A in u.linear.items():
            if name in self.places:
                rows[:, self.places[name]] += self._epigraph(name, places).spread(A.dense())
        return rows

    def _epigraph(self, name: str, places: dict[str, slice]) -> Epigraph:
        one = self.hidden[name]
        weights = self.costs.get(name, np.zeros(one.size))
        U, c = self._formed(one.u, places), one.u.constants
        return Epigraph(one.kind, self.places[name], weights, U, c, one.count)

    def pieces(self, row: AffineRows, places: dict[str, slice]) -> list[tuple[Array, Array]]:
        """Rows and numbers with Rx + r ≤ 0 that stand for a declared row together."""
        rows, constants = self._formed(row.u, places), row.u.constants
        if not self.opened(row):
            return [(rows, constants)]
        one = self.hidden[self._opened[row.name]]
        A = row.u.linear[one.name].dense()
        chosen = np.argmax(A, axis=1)
        w = A[np.arange(row.u.m), chosen]
        U, c = self._formed(one.u, places), one.u.constants
        sides = list(zip(U.reshape(-1, one.size, self.total), c.reshape(-1, one.size), strict=True))
        if one.kind == "abs":
            sides.append((-U, -c))
        elif one.kind == "pos":
            sides.append((0.0 * U, 0.0 * c))
        return [(rows + w[:, None] * V[chosen], constants + w * d[chosen]) for V, d in sides]

    def epigraphs(self, places: dict[str, slice]) -> list[Epigraph]:
        """Those of hidden variables, and then those of separable terms."""
        found = [self._epigraph(name, places) for name in self.places]
        for part, place in zip(self.separables, self._others, strict=True):
            weights = np.broadcast_to(np.asarray(part.weights, dtype=float), (part.u.m,))
            U, c = self._formed(part.u, places), part.u.constants
            found.append(Epigraph(part.kind, place, weights, U, c, part.bend))
        return found


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

    def __len__(self) -> int:
        return self._size

    @property
    def whole(self) -> Array:
        return np.concatenate(self._parts)
