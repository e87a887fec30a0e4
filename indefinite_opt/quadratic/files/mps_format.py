"""The format `.mps` with quadratic objectives, for linear constraints and continuous variables.

The objective is cᵀx + ½ xᵀQ x minus the right-hand side of its row. Q stands in a section QUADOBJ
or QSECTION as a triangle, or whole in a section QMATRIX. Numbers are written and read to the last
bit. An upper bound below 0 makes the lower one -inf where the file has none.

Each section holds one vector; a second name is refused, as readers differ in which they take.

A file does not say how its fields are divided. These ways are tried in turn until the whole file
can be read; if all fail, the error is from the way that gets furthest.

1. The free form: blanks divide words. This is right for files of the fixed form, too, if their
   names contain no blanks.
2. The fixed form: fields stand in columns 2-3, 5-12, 15-22, 25-36, 40-47 and 50-61, and names may
   contain blanks. Nothing stands between the fields nor in columns 62 to 72, there are no tabs, and
   what stands from column 73 on is a comment.
3. Two blanks or a tab divide fields, for names with blanks that do not keep to the columns.

A number of at least 1e20 in size is infinite in RHS, RANGES and BOUNDS. An infinite right-hand side
leaves a row L without an upper end and a row G without a lower one; an infinite range takes the end
that the right-hand side has not set. What no x could satisfy, or what is a difference of infinite
numbers, is refused: L with -inf, G with inf, E with either, and a finite range of an infinite side.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from operator import itemgetter
from typing import Any

import numpy as np

from indefinite_opt.errors import DataError
from indefinite_opt.quadratic.data.arrays import CUSTOMARY_INFINITY
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.files import tokens
from indefinite_opt.quadratic.matrices.sparse import as_sparse, entries_of

_WHOLE = b"QMATRIX"
_QUADRATIC = (b"QUADOBJ", b"QSECTION", _WHOLE)
_SECTIONS = (
    b"NAME", b"OBJSENSE", b"ROWS", b"COLUMNS", b"RHS", b"RANGES", b"BOUNDS", *_QUADRATIC
)  # fmt: skip
_SENSES = {b"MAX": -1, b"MAXIMIZE": -1, b"MAXIMISE": -1, b"MIN": 1, b"MINIMIZE": 1, b"MINIMISE": 1}
_ENDS = {
    b"UP": ("upper",), b"LO": ("lower",), b"FX": ("lower", "upper"), b"FR": ("lower", "upper"),
    b"MI": ("lower",), b"PL": ("upper",),
}  # fmt: skip

_FIELDS = ((1, 3), (4, 12), (14, 22), (24, 36), (39, 47), (49, 61))
"""Where the fields of the fixed form begin and end in a line."""
_GAPS = ((0, 1), (3, 4), (12, 14), (22, 24), (36, 39), (47, 49), (61, 72))
_BLANKS = "Names contain blanks only in the columns of the fixed form, or between two blanks each."


def read_mps(content: bytes, source: str) -> StandardForm:
    """The program of a file's content; `DataError` if it is not of this format or kind."""
    lines = tokens.lines_of(content, source, rb"^\*.*", b"endata")
    failed: list[tuple[int, DataError]] = []
    for fields in (_free, _fixed, _spaced):
        reader = _MPSReader(source, fields)
        try:
            return reader.program(lines)
        except DataError as error:
            failed.append((reader.read, error))
    raise max(failed, key=itemgetter(0))[1]


def _free(section: bytes, line: bytes) -> list[bytes]:
    """The words of a line of a section."""
    return line.split()


def _fixed(section: bytes, line: bytes) -> list[bytes]:
    """The fields in the columns of a line; none if something stands between them."""
    if section == b"OBJSENSE":
        return line.split()
    between = b"".join(line[start:stop] for start, stop in _GAPS)
    if between.strip() or b"\t" in line:
        return []
    fields = (line[start:stop].strip() for start, stop in _FIELDS)
    return [field for field in fields if field]


def _spaced(section: bytes, line: bytes) -> list[bytes]:
    """The fields between two blanks or a tab; behind the kind of a row or bound one is enough."""
    if section in (b"ROWS", b"BOUNDS"):
        kind, *rest = line.split(None, 1)
        return [kind, *(field for part in rest for field in _spaced(b"", part))]
    return [field.strip() for field in re.split(rb"\t| {2,}", line) if field.strip()]


class _MPSReader:
    """What the lines of a file have said so far."""

    def __init__(self, source: str, fields: Callable[[bytes, bytes], list[bytes]]) -> None:
        self.source = source
        self.fields = fields
        self.read = 0
        """Number of the lines that have been read."""
        self.sense, self.section = 1, b""
        self.seen: set[bytes] = set()
        self.rows: dict[bytes, int] = {}
        """Numbers of the rows: 0 of the objective, -1 of other free rows."""
        self.objective = b""
        self.kinds: list[bytes] = []
        self.columns: dict[bytes, int] = {}
        self.entries: dict[tuple[int, int], float] = {}
        self.products: dict[tuple[int, int], float] = {}
        self.sides: dict[int, float] = {}
        self.ranges: dict[int, float] = {}
        self.bounds: dict[str, dict[int, float]] = {"lower": {}, "upper": {}}
        self.vectors: dict[bytes, bytes] = {}
        """Names of the vectors of the sections RHS, RANGES and BOUNDS that have one."""

    def program(self, lines: list[bytes]) -> StandardForm:
        """What the lines of a file state."""
        for line in lines:
            if not line[:1].isspace():
                self._begin(line.split())
            elif words := self.fields(self.section, line):
                self._data(words)
            else:
                raise self._error("fields in the columns of the fixed form", [line])
            self.read += 1
        products, lower, upper = self.products, self.bounds["lower"], self.bounds["upper"]
        if any(products.get((j, i), 0.0) != value for (i, j), value in products.items()):
            raise DataError(
                self.source, "a symmetric matrix in the section QMATRIX", "another",
                "A triangle belongs in a section QUADOBJ.",
            )  # fmt: skip
        bounds = [
            (lower.get(j, -np.inf if upper.get(j, 0.0) < 0.0 else 0.0), upper.get(j, np.inf))
            for j in self.columns.values()
        ]
        constraints = [row for row, i in self.rows.items() if i > 0]
        sides = [self._sides(*one) for one in zip(constraints, self.kinds, strict=True)]
        return tokens.stated(
            self.source, self.sense, self.columns, self.entries, products, sides, bounds,
            0.0 - self.sides.get(0, 0.0), constraints,
        )  # fmt: skip

    def _begin(self, words: list[bytes]) -> None:
        """The head of a section."""
        head = self.section = words[0].upper()
        if head not in _SECTIONS or head in self.seen:
            names = ", ".join(name.decode() for name in _SECTIONS)
            raise self._error(f"sections, each once, among {names}", words)
        self.seen.add(head)
        if head == b"OBJSENSE" and len(words) > 1:
            self._data(words[1:])
        if head in _QUADRATIC:
            if self.seen & {*_QUADRATIC} != {head}:
                raise self._error("one section with quadratic terms", words)
            if len(words) > 1 and words[1:] != self.objective.split():
                raise self._error("quadratic terms of the objective only", words)

    def _data(self, words: list[bytes]) -> None:
        """One line of the present section."""
        match self.section:
            case b"OBJSENSE":
                if words[0].upper() not in _SENSES:
                    raise self._error("MAX or MIN", words)
                self.sense = _SENSES[words[0].upper()]
            case b"ROWS":
                self._row(words)
            case b"COLUMNS":
                self._column(words)
            case b"RHS" | b"RANGES" as section:
                # Behind the name of the vector, if there is one.
                first = len(words) % 2
                if not 2 <= len(words) - first <= 4:
                    raise self._error("one or two rows with their numbers", words)
                self._vector(words[:first], words)
                self._numbers(words, first, self.sides if section == b"RHS" else self.ranges)
            case b"BOUNDS":
                self._bound(words)
            case section if section in _QUADRATIC:
                if len(words) != 3:
                    raise self._error("two variables and a number", words)
                i, j = map(self._variable, words[:2])
                value = tokens.number(words[2], self.source)
                for place in {(i, j)} if section == _WHOLE else {(i, j), (j, i)}:
                    self._once(self.products, place, value, words)
            case _:
                raise self._error("the head of a section", words)

    def _sides(self, row: bytes, kind: bytes) -> tuple[float, float]:
        """Both sides of a constraint, from its kind, its right-hand side and its range."""
        i = self.rows[row]
        side, width = self.sides.get(i, 0.0), self.ranges.get(i)
        if np.isinf(side):
            wrong = kind == b"E" or (side < 0) == (kind == b"L")
            if wrong or not (width is None or np.isinf(width)):
                expected = f"a finite right-hand side of the row {row.decode('utf-8', 'replace')}"
                beside = f" beside the range {width:g}" if width is not None else ""
                raise DataError(
                    self.source, f"{expected} of kind {kind.decode()}", f"{side:g}{beside}"
                )
            return -np.inf, np.inf
        if kind == b"E":
            low, high = sorted((side, side + (width or 0.0)))
            return low, high
        size = np.inf if width is None else abs(width)
        return (side - size, side) if kind == b"L" else (side, side + size)

    def _row(self, words: list[bytes]) -> None:
        kind = words[0].upper()
        if len(words) != 2 or kind not in (b"N", b"L", b"G", b"E") or words[1] in self.rows:
            hint = _BLANKS if len(words) > 2 else ""
            raise self._error("N, L, G or E and the name of a new row", words, hint)
        if kind != b"N":
            self.kinds.append(kind)
            self.rows[words[1]] = len(self.kinds)
        else:
            self.rows[words[1]] = -1 if self.objective else 0
            self.objective = self.objective or words[1]

    def _column(self, words: list[bytes]) -> None:
        if len(words) not in (3, 5):
            hint = _BLANKS if len(words) > 3 else ""
            raise self._error("a variable and one or two rows with their numbers", words, hint)
        if words[1].strip(b"'").upper() == b"MARKER":
            raise self._error("continuous variables", words)
        j = self.columns.setdefault(words[0], len(self.columns))
        if j < len(self.columns) - 1:
            raise self._error("the lines of each variable together", words)
        self._numbers(words, 1, self.entries, j)

    def _numbers(
        self, words: list[bytes], first: int, values: dict[Any, float], column: int | None = None
    ) -> None:
        """Keep the numbers that stand behind rows from a word on, except for free rows."""
        for row, digits in zip(words[first::2], words[first + 1 :: 2], strict=True):
            i = self.rows.get(row)
            if i is None:
                raise self._error("a row of the section ROWS", words)
            if i == 0 and values is self.ranges:
                raise self._error("ranges of constraints only", words)
            finite = values is self.entries or i == 0
            value = tokens.number(digits, self.source, None if finite else CUSTOMARY_INFINITY)
            if i >= 0:
                self._once(values, i if column is None else (i, column), value, words)

    def _bound(self, words: list[bytes]) -> None:
        """A kind, the name of the vector if there is one, a variable, and a number if it needs one.

        A number behind a kind that needs none is allowed.
        """
        kind = words[0].upper()
        if kind in (b"BV", b"LI", b"UI", b"SC", b"SI"):
            raise self._error("continuous variables", words)
        numbered = kind in (b"UP", b"LO", b"FX")
        if kind not in _ENDS or not 2 + numbered <= len(words) <= 4:
            raise self._error("a bound UP, LO, FX, FR, MI or PL of a variable", words)
        if numbered:
            name, value = words[-2], tokens.number(words[-1], self.source, CUSTOMARY_INFINITY)
        else:
            short = len(words) == 2 or (len(words) == 3 and words[2] not in self.columns)
            name, value = words[1 if short else 2], np.inf
        self._vector(words[1 : words.index(name, 1)], words)
        j = self._variable(name)
        for end in _ENDS[kind]:
            below = end == "lower" and not numbered
            self._once(self.bounds[end], j, -value if below else value, words)

    def _vector(self, called: list[bytes], words: list[bytes]) -> None:
        """Refuse a second name of a vector in a section."""
        if any(name != self.vectors.setdefault(self.section, name) for name in called):
            raise self._error("one vector", words)

    def _variable(self, name: bytes) -> int:
        if name not in self.columns:
            raise self._error("a variable of the section COLUMNS", [name])
        return self.columns[name]

    def _once(self, values: dict[Any, float], place: Any, value: float, words: list[bytes]) -> None:
        if place in values:
            raise self._error("every number once", words)
        values[place] = value

    def _error(self, expected: str, words: list[bytes], hint: str = "") -> DataError:
        place = self.section[:20].decode("utf-8", "replace") or "the first line"
        return tokens.unlike(self.source, f"{expected} (in {place})", b" ".join(words), hint)


def write_mps(program: StandardForm, target: str) -> bytes:
    """The content of a file, with variables x1, x2, ... and rows r1, r2, ... without plain names.

    A row with two sides becomes two rows, since a range, their difference, would be rounded.
    `DataError` for sides of 1e20 and more.
    """
    program.check_sides(CUSTOMARY_INFINITY, target)
    sides, (names, rows) = list(program.one_sided()), program.written_names()
    letters = {"<=": "L", ">=": "G", "=": "E"}
    lines = ["NAME program"]
    if program.sense < 0:
        lines += ["OBJSENSE", "    MAX"]
    lines += ["ROWS", " N objective"]
    lines += [f" {letters[sign]} {row}" for row, (sign, _, _) in zip(rows, sides, strict=True)]
    lines.append("COLUMNS")
    columns = defaultdict(list)
    for j, k, value in entries_of(as_sparse(program.matrix)[[i for _, i, _ in sides]].T.tocsr()):
        columns[j].append(f" {names[j]} {rows[k]} {tokens.written(value)}")
    for j, slope in enumerate(program.sense * program.cost):
        # Every variable has a line, which numbers it.
        lines += [f" {names[j]} objective {tokens.written(slope)}", *columns[j]]
    lines.append("RHS")
    if program.constant:
        lines.append(f" RHS objective {tokens.written(-program.sense * program.constant)}")
    right = ((row, side) for row, (_, _, side) in zip(rows, sides, strict=True) if side)
    lines += [f" RHS {row} {tokens.written(side)}" for row, side in right]
    lines.append("BOUNDS")
    for name, lower, upper in zip(names, program.lower, program.upper, strict=True):
        # Lower bounds always, as readers differ in what they are below a negative upper one.
        kind = "LO" if lower > -np.inf else "MI" if upper < np.inf else "FR"
        lines.append(f" {kind} BND {name} {tokens.written(lower) if kind == 'LO' else ''}")
        lines += [f" UP BND {name} {tokens.written(upper)}"] if upper < np.inf else []
    products = [] if program.hessian is None else list(entries_of(program.hessian))
    lines += ["QUADOBJ"] * bool(products)
    for i, j, value in products:
        if i >= j:
            lines.append(f" {names[i]} {names[j]} {tokens.written(program.sense * value)}")
    return tokens.content_of([*lines, "ENDATA"])
