"""The format `.qplib` of the library QPLIB, for linear constraints and continuous variables.

A file stands for

    minimize or maximize  ½ xᵀQ x + bᵀx + q   subject to  c_l ≤ B x ≤ c_u,  l ≤ x ≤ u,

where Q is *lower triangular*, not symmetric: an entry "2 1 3.0" contributes 3/2 x_2 x_1. That is
how the documentation of the library reads [D]_ and how its files reproduce the published values of
its points; the appendix of the paper [F]_ calls Q symmetric with only its lower triangle given,
which would count off-diagonal entries twice. Numbers come first in a line, and what follows them is
a comment, as are lines that begin with !, # or %. A value at or beyond the one named as infinity is
infinite.

References
----------
.. [D] QPLIB, A Library of Quadratic Programming Instances, https://qplib.zib.de/doc.html
.. [F] F. Furini et al., QPLIB: A Library of Quadratic Programming Instances, Mathematical
   Programming Computation 11, 2019, Appendix B.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from indefinite_opt.errors import DataError
from indefinite_opt.foundation import Array
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.files import tokens
from indefinite_opt.quadratic.matrices.sparse import Matrix, entries_of, matrix_of

INFINITY = sys.float_info.max
"""What is written as infinity. The files of the library have this number rounded up to 15 digits,
1.79769313486232E+308, which is read as an infinite one."""

MAX_SIZE = 1_000_000
"""Largest number of variables, and of constraints, that is believed: vectors are then as long."""


class _Lines:
    """The lines of a file that are not comments, one after the other."""

    def __init__(self, content: bytes, source: str) -> None:
        self.source = source
        lines = tokens.lines_of(content, source, rb"^\s*[!#%].*")
        self.left = iter([line.split() for line in lines])

    def words(self, what: str, count: int = 1) -> list[bytes]:
        """The first words of the next line, at least `count` of them."""
        words = next(self.left, None)
        if words is None:
            raise DataError(self.source, what, "the end of the file")
        if len(words) < count:
            raise tokens.unlike(self.source, f"{what}: {count} words in a line", b" ".join(words))
        return words

    def text(self, what: str) -> str:
        return self.words(what)[0].decode("utf-8", "replace")

    def number(self, what: str, infinity: float | None = None) -> float:
        return tokens.number(self.words(what)[0], self.source, infinity)

    def whole(self, what: str, least: int, most: int) -> int:
        return tokens.whole(self.words(what)[0], self.source, what, least, most)

    def listed(self, what: str, *shape: int) -> dict[Any, bytes]:
        """The places in an array that are listed behind their number, and the word of each."""
        found: dict[Any, bytes] = {}
        for _ in range(self.whole(f"the number of {what}", 0, math.prod(shape))):
            words = self.words(what, len(shape) + 1)
            place = tuple(
                tokens.whole(word, self.source, f"an index of {what}", 1, size) - 1
                for word, size in zip(words, shape, strict=False)
            )
            if place in found:
                raise DataError(self.source, f"every one of the {what} once", f"{place} twice")
            found[place] = words[len(shape)]
        return found

    def matrix(self, what: str, rows: int, columns: int) -> Matrix:
        """A matrix given by its nonzero entries."""
        words = self.listed(what, rows, columns)
        entries = {place: tokens.number(word, self.source) for place, word in words.items()}
        return matrix_of(entries, rows, columns)

    def vector(self, what: str, size: int, infinity: float | None = None) -> Array:
        """A vector given by a default value and the entries that differ from it."""
        values = np.full(size, self.number(f"the default value of {what}", infinity))
        for place, word in self.listed(f"other values of {what}", size).items():
            values[place] = tokens.number(word, self.source, infinity)
        return values

    def names(self, what: str, size: int, letter: str) -> tuple[str, ...]:
        """Names by number where no others are listed; none if there are no others at all."""
        others = self.listed(f"names of {what}", size)
        names = {place: word.decode("utf-8", "replace") for (place,), word in others.items()}
        return tuple(names.get(j, f"{letter}{j + 1}") for j in range(size)) if names else ()


def read_qplib(content: bytes, source: str) -> StandardForm:
    """The program of a file's content; `DataError` if it is not of this format or kind."""
    lines = _Lines(content, source)
    name = lines.text("the name of the problem")
    kind = lines.text("the type of the problem").upper()
    if len(kind) != 3 or kind[0] not in "LDCQ" or kind[1] not in "CBMIG" or kind[2] not in "NBLDCQ":
        raise DataError(source, "a type of the problem such as QCL in the second line", repr(kind))
    variables = "binary" if kind[1] in "BM" else "integer"
    if kind[1] != "C" or kind[2] in "DCQ":
        refused = "quadratic constraints" if kind[1] == "C" else f"{variables} variables"
        raise DataError(
            source, "continuous variables and linear constraints", f"{refused} (type {kind})"
        )
    goal = lines.text("minimize or maximize").lower()
    if goal not in ("minimize", "maximize"):
        raise DataError(source, "minimize or maximize in the third line", repr(goal))
    n = lines.whole("the number of variables", 1, MAX_SIZE)
    rows = kind[2] == "L"
    m = lines.whole("the number of constraints", 0, MAX_SIZE) if rows else 0
    Q = matrix_of({}, n, n) if kind[0] == "L" else lines.matrix("quadratic terms", n, n)
    q = lines.vector("the linear coefficients", n)
    constant = lines.number("the constant of the objective")
    B = lines.matrix("linear terms of the constraints", m, n) if rows else matrix_of({}, 0, n)
    infinity = lines.number("the value of infinity", np.inf)
    if infinity <= 0.0:
        raise DataError(source, "a positive value of infinity", f"{infinity:g}")
    sides = [("left-hand sides", m), ("right-hand sides", m)] if rows else []
    sides += [("lower bounds", n), ("upper bounds", n)]
    bounds = [lines.vector(f"the {side}", size, infinity) for side, size in sides]
    left, right, lower, upper = bounds if rows else [np.zeros(0), np.zeros(0), *bounds]
    lines.vector("the starting point", n)
    if rows:
        lines.vector("the starting multipliers of the constraints", m)
    lines.vector("the starting multipliers of the bounds", n)
    names = lines.names("variables", n, "x"), lines.names("constraints", m, "r")
    for words in lines.left:
        raise tokens.unlike(source, "the end of the file", b" ".join(words))
    sense = 1 if goal == "minimize" else -1
    return StandardForm(
        sense, sense * q, lower, upper, left, right, B, sense * Q, sense * constant, name, *names
    )


def write_qplib(program: StandardForm, target: str) -> bytes:
    """The content of a file, from which `read_qplib` makes the same program.

    The name of the program loses its blanks, and names of variables and rows are left out where one
    of them has blanks. `DataError` for finite bounds equal to the largest float, and for terms that
    overflow.
    """
    program.check_sides(INFINITY, target)
    name = "".join(program.name.split()).lstrip("!#%") or "program"
    n, m, triangle = program.cost.size, len(program.row_lower), program.products(target)
    quadratic, origin = triangle.nnz > 0, np.zeros(n)
    lines = [
        name, f"{'Q' if quadratic else 'L'}C{'L' if m else 'B'}",
        "minimize" if program.sense > 0 else "maximize", f"{n} # number of variables",
        *([f"{m} # number of constraints"] if m else []),
        *(_entries(triangle, "quadratic terms in objective") if quadratic else []),
        *_vector(program.sense * program.cost, 0.0, "linear coefficients in objective"),
        f"{tokens.written(program.sense * program.constant)} # objective constant",
        *(_entries(program.matrix, "linear terms in all constraints") if m else []),
        f"{tokens.written(INFINITY)} # value for infinity",
        *(_vector(program.row_lower, -np.inf, "left-hand sides") if m else []),
        *(_vector(program.row_upper, np.inf, "right-hand sides") if m else []),
        *_vector(program.lower, 0.0, "variable lower bounds"),
        *_vector(program.upper, np.inf, "variable upper bounds"),
        *_vector(origin, 0.0, "variable primal values in starting point"),
        *(_vector(np.zeros(m), 0.0, "constraint dual values in starting point") if m else []),
        *_vector(origin, 0.0, "variable bound dual values in starting point"),
    ]  # fmt: skip
    for names, what in ((program.variables, "variable"), (program.row_names, "constraint")):
        kept = names if all(map(_one_word, names)) else ()
        lines.append(f"{len(kept)} # number of non-default {what} names")
        lines += [f"{j + 1} {name}" for j, name in enumerate(kept)]
    return tokens.content_of(lines)


def _one_word(name: str) -> bool:
    """Whether a reader that divides lines at blanks has the name as it is."""
    content = name.encode("utf-8", "replace")
    return content.split() == [content] and content.decode() == name


def _entries(matrix: Matrix, what: str) -> list[str]:
    terms = [f"{i + 1} {j + 1} {tokens.written(value)}" for i, j, value in entries_of(matrix)]
    return [f"{len(terms)} # number of {what}", *terms]


def _vector(values: Array, default: float, what: str) -> list[str]:
    places = np.flatnonzero(values != default)
    return [
        f"{_extended(default)} # default value for {what}",
        f"{places.size} # number of non-default {what}",
        *(f"{j + 1} {_extended(values[j])}" for j in places),
    ]


def _extended(value: float) -> str:
    return tokens.written(value if np.isfinite(value) else np.copysign(INFINITY, value))
