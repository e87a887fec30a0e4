"""The piecewise linear and quadratic atoms of a canonical form, as entries of x and rows."""

from __future__ import annotations

from collections import Counter

import numpy as np

from indefinite_opt.algebra import (
    Affine,
    AffineRows,
    Canonical,
    Hidden,
    Operator,
    RowFactor,
    SeparableTerm,
)
from indefinite_opt.foundation import Array
from indefinite_opt.quadratic.data.naming import entry_names
from indefinite_opt.quadratic.rows.declared_rows import Epigraph
from indefinite_opt.quadratic.rows.polyhedron import Polyhedron


def has_epigraph(part: SeparableTerm) -> bool:
    """Whether a term is piecewise linear or quadratic, and convex where it is minimised."""
    weights = np.asarray(part.weights)
    return part.kind in ("abs", "pos", "pos2", "huber") and bool(np.all(weights >= 0.0))


class Epigraphs:
    """The epigraphs of a form, whose entries are behind those of its variables.

    A row in which every entry has one atom |u|, max(u, 0) or max u needs none: it is a row for each
    piece of the atom.
    """

    def __init__(self, form: Canonical, n: int) -> None:
        self.hidden = {one.name: one for one in form.hidden}
        self.rows = list(form.rows)
        for norm in form.norms:
            one = Hidden(f"·{norm.name}", "abs", norm.u, norm.u.m, norm.text)
            self.hidden[one.name] = one
            sums = {one.name: Operator.of(RowFactor(np.full(one.size, norm.size)))}
            self.rows.append(AffineRows(norm.name, Affine(1, sums, -norm.size * norm.end), False))
        costs = {name: form.affine.linear.get(name) for name in self.hidden}
        self.costs = {name: A.row for name, A in costs.items() if A is not None}
        linear = {v: A for v, A in form.affine.linear.items() if v not in self.hidden}
        self.affine = Affine(1, linear, form.affine.constant)
        self.separables = form.separables
        self.misplaced = self._misplaced()
        """The text of the first atom that is not convex where it stands, or None."""
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

    def _misplaced(self) -> str | None:
        """No row, term or cost may fall with an atom, as t is above the atom."""
        for part in self.separables:
            if not has_epigraph(part):
                return part.text
        for name, cost in self.costs.items():
            if np.any(cost < 0.0):
                return self.hidden[name].text
        for row in self.rows:
            for name in self.hidden.keys() & row.u.linear.keys():
                if np.any(row.u.linear[name].dense() < 0.0):
                    return self.hidden[name].text
        for u in self._inner:
            for name in self.hidden.keys() & u.linear.keys():
                if np.any(u.linear[name].dense() < 0.0):
                    return self.hidden[name].text
        return None

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
        return Epigraph(one.kind, self.places[name], weights, U, c, one.count, _label(one.text))

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
            text = _label(part.text)
            found.append(Epigraph(part.kind, place, weights, U, c, part.bend, text))
        return found


def set_ends(terms: list[Epigraph], body: Polyhedron) -> None:
    """Write bounds of the entries of epigraphs into those of the rows of the other variables.

    The upper ones are as far as these rows let the terms be, of which rows for the terms say
    nothing.
    """
    lower, upper = body.lower, body.upper
    low, high = (end.copy() for end in body.intervals) if terms else (lower, upper)
    for term in terms:
        lower[term.place], upper[term.place] = term.ends(lower, upper)[0], term.ends(low, high)[1]
        low[term.place], high[term.place] = lower[term.place], upper[term.place]


_LONGEST = 40
"""Characters of an atom that the names of its entries and rows repeat."""


def _label(text: str) -> str:
    """The text of an atom on one line, with its beginning and end if it is long."""
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[:28]} ... {text[-7:]}"


def names_of_epigraphs(terms: list[Epigraph]) -> tuple[list[str], list[str]]:
    """The names of the entries of some epigraphs, and of their rows; no two are the same."""
    entries: list[str] = []
    rows: list[str] = []
    count = Counter(term.text for term in terms)
    for k, term in enumerate(terms):
        text = term.text if count[term.text] == 1 else f"{term.text} ({k + 1})"
        size = term.place.stop - term.place.start
        entries += entry_names(text, (size,) if size > 1 else ())
        for side, (_, level) in enumerate(term.sides()):
            rows += entry_names(f"{text}, piece {side + 1}", (level.size,))
    return entries, rows
