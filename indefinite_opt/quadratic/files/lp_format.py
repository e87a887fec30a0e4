r"""The format `.lp` of CPLEX, for linear constraints and continuous variables.

The objective is c₀ + cᵀx + [ xᵀQ x ] / 2, its products written as `x ^ 2` and `x * y`. Numbers are
written and read to the last bit. Comments begin with a backslash; keywords begin a line and do not
depend on case, names do. A constraint or a bound begins a line and may have two sides. Variables
are numbered in the order in which they appear. A side of at least 1e20 in size is infinite.
"""

from __future__ import annotations

import re
from collections import defaultdict

import numpy as np
from scipy import sparse

from indefinite_opt.errors import DataError
from indefinite_opt.quadratic.files import tokens
from indefinite_opt.quadratic.program.arrays import CUSTOMARY_INFINITY, QuadraticArrays
from indefinite_opt.quadratic.program.standard_form import StandardForm

_SIGNS = rb"((?:[+-]\s?)*)"
_NUMBER = rb"((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\d.]|[eE][+-]?\d))"
_NAME = rb"([^\s\d.+\-*^<>=:\[\]/][^\s+\-*^<>=:\[\]/]*)"
_RELATION = rb"(?P<relation><=|=<|>=|=>|<|>|=)"
_SIDE = rb"(?P<signs>(?:[+-]\s?)*)(?:(?P<digits>" + _NUMBER + rb")|(?i:inf(?:inity)?))(?![^\s<>=])"

_SECTION = re.compile(
    rb"(?i)(?:(minimi[sz]e|minimum|min)|(maximi[sz]e|maximum|max)|"
    rb"(subject to|such that|st\.|s\.t\.|st)|(bounds?)|(end)|"
    rb"(generals?|gen|integers?|int|binary|binaries|bin|semi-continuous|semis?|sos[12]?))"
    rb"(?=\s|$)"
)
_OBJECTIVE, _ROWS, _BOUNDS = "objective", "rows", "bounds"

_LABEL = re.compile(_NAME + rb"\s?:\s?")
_TERM = re.compile(
    rb"\s?" + _SIGNS + rb"(?:" + _NUMBER + rb"(?:\s?" + _NAME + rb")?|" + _NAME + rb")"
)
_PRODUCT = re.compile(
    rb"\s?" + _SIGNS + rb"(?:" + _NUMBER + rb"\s?)?" + _NAME
    + rb"\s?(?:\^\s?2(?![\d.])|\*\s?" + _NAME + rb")"
)  # fmt: skip
_OPENING, _CLOSING = re.compile(rb"\s?" + _SIGNS + rb"\["), re.compile(rb"\s?\]\s?/\s?2(?![\d.])")
_LEFT = re.compile(_SIDE + rb"\s?" + _RELATION + rb"\s?")
_RIGHT = re.compile(rb"\s?" + _RELATION + rb"\s?" + _SIDE)
_BOUNDED, _FREE = re.compile(_NAME), re.compile(rb"\s(?i:free)")


def read_lp(content: bytes, source: str) -> QuadraticArrays:
    """The program of a file's content; `DataError` if it is not of this format or kind."""
    return _LPReader(content, source).statement().arrays()


class _LPReader:
    """The sections of a file, and the place in the one that is read."""

    def __init__(self, content: bytes, source: str) -> None:
        self.source = source
        self.numbers: dict[bytes, int] = {}
        self.lower: list[float] = []
        self.upper: list[float] = []
        self.entries: defaultdict[tuple[int, int], float] = defaultdict(float)
        self.products = self.entries.copy()
        self.text, self.place, self.sense = b"", 0, 0
        lines = tokens.lines_of(content, source, rb"\\.*", b"end")
        self.sections = self._sections([b" ".join(line.split()) for line in lines])

    def _sections(self, lines: list[bytes]) -> dict[str, bytes]:
        """The text of each section, its lines kept apart and its blanks single."""
        found: dict[str, list[bytes]] = {}
        current: list[bytes] | None = None
        for line in lines:
            match = _SECTION.match(line)
            if match:
                least, most, rows, bounds, end, discrete = match.groups()
                if discrete:
                    raise DataError(
                        self.source, "continuous variables", f"a section {discrete.decode()}"
                    )
                if end:
                    raise DataError(self.source, "one line END, the last", "another")
                kind = _ROWS if rows else _BOUNDS if bounds else _OBJECTIVE
                if kind in found:
                    raise DataError(self.source, "every section once", repr(match[0].decode()))
                self.sense = self.sense or (1 if least else -1 if most else 0)
                current = found.setdefault(kind, [])
                line = line[match.end() :].strip()
            if current is None:
                raise self._error("minimize or maximize first", line)
            if line:
                current.append(line)
        return {kind: b"\n".join(parts) for kind, parts in found.items()}

    def statement(self) -> StandardForm:
        """What the file states."""
        self._begin(_OBJECTIVE)
        self._match(_LABEL)
        constant = self._terms(-1)
        opening = self._match(_OPENING)
        if opening:
            self._products(_sign(opening[1]))
            constant += self._terms(-1, first=False)
        if self.place < len(self.text):
            raise self._error("the end of the objective")
        self._begin(_ROWS)
        sides: tuple[list[float], list[float]] = ([], [])
        labels: list[bytes] = []
        while self.place < len(self.text):
            labels.append(self._row(sides))
        self._begin(_BOUNDS)
        while self.place < len(self.text):
            self._bound()
        return tokens.stated(
            self.source, self.sense, self.numbers, self.entries, self.products, sides,
            (self.lower, self.upper), constant, tokens.decoded(labels) if all(labels) else (),
        )  # fmt: skip

    def _terms(self, row: int, first: bool = True) -> float:
        """Add the linear terms that follow; the value is the sum of the constants among them."""
        constant = 0.0
        while (match := _TERM.match(self.text, self.place)) and (first or match[1]):
            signs, digits, name, alone = match.groups()
            value = self._factor(signs, digits)
            name, first = name or alone, False
            if name:
                self.entries[row, self._variable(name)] += value
            else:
                constant += value
            self.place = match.end()
        return constant

    def _products(self, sign: float) -> None:
        """The terms between brackets, as entries of a lower triangle."""
        first = True
        while (match := _PRODUCT.match(self.text, self.place)) and (first or match[1]):
            signs, digits, one, other = match.groups()
            i = self._variable(one)
            j = self._variable(other) if other else i
            self.products[max(i, j), min(i, j)] += sign * self._factor(signs, digits)
            self.place, first = match.end(), False
        if not self._match(_CLOSING):
            raise self._error("products of two variables, or ] / 2 behind them")

    def _factor(self, signs: bytes, digits: bytes | None) -> float:
        return _sign(signs) * (tokens.number(digits, self.source) if digits else 1.0)

    def _row(self, sides: tuple[list[float], list[float]]) -> bytes:
        """Add a row; the value is its label, or empty."""
        label, left = self._match(_LABEL), self._match(_LEFT)
        if self._terms(len(sides[0])):
            raise self._error("constants on the right of a constraint")
        ends = self._narrowed(-np.inf, np.inf, left, "a linear constraint such as x + 2 y <= 3")
        for side, end in zip(sides, ends, strict=True):
            side.append(end)
        return label[1] if label else b""

    def _bound(self) -> None:
        left, name = self._match(_LEFT), self._match(_BOUNDED)
        expected = "a bound such as 0 <= x <= 1"
        if not name:
            raise self._error(expected)
        j = self._variable(name[1])
        low, high = self.lower[j], self.upper[j]
        if not left and self._match(_FREE):
            low, high = -np.inf, np.inf
            self._end_line()
        else:
            low, high = self._narrowed(low, high, left, expected)
        self.lower[j], self.upper[j] = low, high

    def _narrowed(
        self, low: float, high: float, left: re.Match[bytes] | None, expected: str
    ) -> tuple[float, float]:
        """Both sides after those on the left and on the right of a line, which ends there."""
        right = self._match(_RIGHT)
        if not (left or right):
            raise self._error(expected)
        self._end_line()
        for side in filter(None, (left, right)):
            digits, relation = side["digits"], side["relation"]
            size = tokens.number(digits, self.source, CUSTOMARY_INFINITY) if digits else np.inf
            value = _sign(side["signs"]) * size
            if relation == b"=" or (b"<" in relation) == (side is right):
                high = value
            if relation == b"=" or (b"<" in relation) == (side is left):
                low = value
        return low, high

    def _variable(self, name: bytes) -> int:
        known = self.numbers.get(name)
        if known is not None:
            return known
        self.lower.append(0.0)
        self.upper.append(np.inf)
        return self.numbers.setdefault(name, len(self.numbers))

    def _begin(self, section: str) -> None:
        self.text, self.place = self.sections.get(section, b""), 0

    def _match(self, pattern: re.Pattern[bytes]) -> re.Match[bytes] | None:
        match = pattern.match(self.text, self.place)
        if match:
            self.place = match.end()
        return match

    def _end_line(self) -> None:
        if self.text[self.place : self.place + 1] not in (b"", b"\n"):
            raise self._error("the end of the line")
        self.place += 1

    def _error(self, expected: str, text: bytes | None = None) -> DataError:
        got = self.text[self.place :] if text is None else text
        return tokens.unlike(self.source, expected, got[:40])


def _sign(signs: bytes) -> float:
    return -1.0 if signs.count(b"-") % 2 else 1.0


def write_lp(program: StandardForm, target: str) -> bytes:
    """The content of a file, with variables x1, x2, ... where their names are not plain words.

    All of them stand in the linear part of the objective, since readers number them in the order in
    which they appear. `DataError` for sides of 1e20 and more, and for terms that overflow.
    """
    program.check_sides(CUSTOMARY_INFINITY, target)
    products, (names, labels) = program.products(target), program.written_names()
    costs, constant = program.sense * program.cost, program.sense * program.constant
    terms = [f"{_signed(value)} {name}" for value, name in zip(costs, names, strict=True)]
    if products.any():
        quadratic = [
            f"{_signed(products[i, j])} {names[i]} " + ("^2" if i == j else f"* {names[j]}")
            for i, j in np.argwhere(products)
        ]
        terms += ["+ [", *quadratic, "] / 2"]
    # SCIP does not read a constant before the bracket.
    terms += [_signed(constant)] if constant else []
    direction = "minimize" if program.sense > 0 else "maximize"
    lines = [direction, *_wrapped("objective:", terms), "subject to"]
    rows = sparse.csr_array(program.matrix)
    for label, (sign, i, side) in zip(labels, program.one_sided(), strict=True):
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        entries = zip(rows.data[part], rows.indices[part], strict=True)
        terms = [f"{_signed(value)} {names[j]}" for value, j in entries] or [f"+ 0 {names[0]}"]
        lines += _wrapped(f"{label}:", [*terms, sign, tokens.written(side)])
    lines.append("bounds")
    for name, lower, upper in zip(names, program.lower, program.upper, strict=True):
        lines.append(f" {_extended(lower)} <= {name} <= {_extended(upper)}")
    return tokens.content_of([*lines, "end"])


def _signed(value: float) -> str:
    return f"{'-' if value < 0 else '+'} {tokens.written(abs(value))}"


def _extended(value: float) -> str:
    return tokens.written(value) if np.isfinite(value) else f"{'-' if value < 0 else '+'}inf"


def _wrapped(start: str, terms: list[str]) -> list[str]:
    """The terms in lines of eight, which are shorter than every reader's limit."""
    lines = [" ".join(terms[k : k + 8]) for k in range(0, len(terms), 8)]
    return [f" {start} {line}" if k == 0 else f"  {line}" for k, line in enumerate(lines)]
