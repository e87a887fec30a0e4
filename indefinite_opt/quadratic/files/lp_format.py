r"""The format `.lp` of CPLEX, for linear constraints and continuous variables.

The objective is c₀ + cᵀx + [ xᵀQ x ] / 2, its products written as `x ^ 2` and `x * y`. Numbers are
written and read to the last bit. Comments begin with a backslash; keywords begin a line and do not
depend on case, names do. A constraint or a bound may have two sides. Bounds follow one another in a
line or in several, as do constraints with labels; one without a label begins a line. Variables are
numbered in the order in which they appear. A side of at least 1e20 in size is infinite.

A section may come several times, and so may brackets in the objective. c₀ is a number, or the
coefficient of a variable `Constant` that is fixed at 1 and in no row, as Gurobi writes it: Gurobi
takes a number for a variable of that name. What is written here has this form.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from indefinite_opt.errors import DataError
from indefinite_opt.quadratic.data.arrays import CUSTOMARY_INFINITY
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.files import tokens
from indefinite_opt.quadratic.matrices.sparse import entries_of

_SIGNS = rb"(?P<signs>(?:[+-]\s?)*)"
_NUMBER = rb"(?P<digits>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\d.]|[eE][+-]?\d))"
_NAME = rb"([^\s\d.+\-*^<>=:\[\]/][^\s+\-*^<>=:\[\]/]*)"
_RELATION = rb"(?P<relation><=|=<|>=|=>|<|>|=)"
_SIDE = _SIGNS + rb"(?:" + _NUMBER + rb"|(?i:inf(?:inity)?))(?![^\s<>=])"

_HEADS = {
    "objective": rb"minimi[sz]e|minimum|min|maximi[sz]e|maximum|max",
    "rows": rb"subject to|such that|st\.|s\.t\.|st",
    "bounds": rb"bounds?",
    "end": rb"end",
    "discrete": rb"generals?|gen|integers?|int|binary|binaries|bin|semi-continuous|semis?|sos[12]?",
}
_SECTION = re.compile(rb"(?im)^(" + b"|".join(_HEADS.values()) + rb")(?=\s|$)")

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
_BLANK, _END_OF_ROW = re.compile(rb"\s"), re.compile(rb"\n|$| (?=" + _NAME + rb"\s?:)")
_CONSTANT = b"Constant"
_BOUNDED, _FREE = re.compile(_NAME), re.compile(rb"\s(?i:free)(?!\S)")


def read_lp(content: bytes, source: str) -> StandardForm:
    """The program of a file's content; `DataError` if it is not of this format or kind."""
    return _LPReader(content, source).program()


class _LPReader:
    """The sections of a file, and the place in the one that is read."""

    def __init__(self, content: bytes, source: str) -> None:
        self.source = source
        self.numbers: dict[bytes, int] = {}
        self.bounds: dict[int, tuple[float, float]] = {}
        self.entries: defaultdict[tuple[int, int], float] = defaultdict(float)
        self.products = self.entries.copy()
        self.text, self.place, self.sense = b"", 0, 0
        lines = tokens.lines_of(content, source, rb"\\.*", b"end")
        self.sections = self._sections(b"\n".join(b" ".join(line.split()) for line in lines))

    def _sections(self, text: bytes) -> dict[str, bytes]:
        """The text of each section, its lines kept apart and its blanks single."""
        before, *parts = _SECTION.split(text)
        if before:
            raise self._error("minimize or maximize first", before.splitlines()[0])
        found: dict[str, bytes] = {}
        for head, body in zip(parts[::2], parts[1::2], strict=True):
            kind = next(kind for kind, words in _HEADS.items() if re.fullmatch(words, head, re.I))
            if kind == "discrete":
                got = f"a section {head.decode()}"
                raise DataError(self.source, "continuous variables", got)
            if kind == "end":
                raise DataError(self.source, "one line END, at the end", "another one")
            if kind == "objective" and kind in found:
                raise DataError(self.source, "one objective", f"another one, {head.decode()!r}")
            found[kind] = b"\n".join(filter(None, (found.get(kind), body.strip())))
            if kind == "objective":
                self.sense = -1 if head.lower().startswith(b"max") else 1
        return found

    def program(self) -> StandardForm:
        """What the file states."""
        self._begin("objective")
        self._match(_LABEL)
        start = self.place
        constant = self._terms(0)
        while opening := self._match(_OPENING):
            if start < opening.start() and not opening["signs"]:
                raise self._error("+ or - before a bracket", opening[0])
            self._products(_sign(opening))
            constant += self._terms(0, first=False)
        if self.place < len(self.text):
            raise self._error("the end of the objective")
        self._begin("rows")
        sides: list[tuple[float, float]] = []
        labels: list[bytes] = []
        while self.place < len(self.text):
            labels.append(self._row(sides))
        self._begin("bounds")
        while self.place < len(self.text):
            self._bound()
        constant += self._constant()
        bounds = [self.bounds.get(j, (0.0, np.inf)) for j in self.numbers.values()]
        return tokens.stated(
            self.source, self.sense, self.numbers, self.entries, self.products, sides, bounds,
            constant, labels if all(labels) else (),
        )  # fmt: skip

    def _constant(self) -> float:
        """The coefficient of the variable `Constant`, which is left out, if it stands for 1."""
        j = self.numbers.get(_CONSTANT)
        if j is None or self.bounds.get(j) != (1.0, 1.0) or len(self.numbers) == 1:
            return 0.0
        if any(k == j and i for i, k in self.entries) or any(j in pair for pair in self.products):
            return 0.0
        del self.numbers[_CONSTANT]
        value = self.entries.pop((0, j), 0.0)
        new = {k: k - (k > j) for k in range(len(self.numbers) + 1)}
        self.numbers = {name: new[k] for name, k in self.numbers.items()}
        self.bounds = {new[k]: ends for k, ends in self.bounds.items()}
        entries = {(i, new[k]): entry for (i, k), entry in self.entries.items()}
        products = {(new[i], new[k]): entry for (i, k), entry in self.products.items()}
        self.entries, self.products = defaultdict(float, entries), defaultdict(float, products)
        return value

    def _signed(
        self, pattern: re.Pattern[bytes], first: bool = True
    ) -> Iterator[tuple[re.Match[bytes], float]]:
        """The terms that follow, with their factors; all but the first one have signs."""
        while (match := pattern.match(self.text, self.place)) and (first or match["signs"]):
            self.place, first, digits = match.end(), False, match["digits"]
            yield match, _sign(match) * (tokens.number(digits, self.source) if digits else 1.0)

    def _terms(self, row: int, first: bool = True) -> float:
        """Add the linear terms that follow; the value is the sum of the constants among them."""
        constant = 0.0
        for match, value in self._signed(_TERM, first):
            if name := match[3] or match[4]:
                self.entries[row, self._variable(name)] += value
            else:
                constant += value
        return constant

    def _products(self, sign: float) -> None:
        """The terms between brackets, as entries of a lower triangle."""
        for match, value in self._signed(_PRODUCT):
            i = self._variable(match[3])
            j = self._variable(match[4] or match[3])
            self.products[max(i, j), min(i, j)] += sign * value
        if not self._match(_CLOSING):
            raise self._error("products of two variables, or ] / 2 after them")

    def _row(self, sides: list[tuple[float, float]]) -> bytes:
        """Add the sides of a row and its entries; the value is its label, or empty."""
        label, left = self._match(_LABEL), self._match(_LEFT)
        if self._terms(len(sides) + 1):
            raise self._error("constants on the right of a constraint")
        low, high = self._narrowed(
            -np.inf, np.inf, left, "a linear constraint such as x + 2 y <= 3"
        )
        if not self._match(_END_OF_ROW):
            raise self._error("the end of the line, or another constraint with a label")
        name = label[1] if label else b""
        sides.append((low, high))
        if low == np.inf or high == -np.inf:
            called = name.decode("utf-8", "replace") or f"number {len(sides)}"
            expected = f"sides of the row {called} with numbers between"
            raise DataError(self.source, expected, f"{low:g} to {high:g}")
        return name

    def _bound(self) -> None:
        left, name = self._match(_LEFT), self._match(_BOUNDED)
        expected = "a bound such as 0 <= x <= 1"
        if not name:
            raise self._error(expected)
        j = self._variable(name[1])
        if not left and self._match(_FREE):
            self.bounds[j] = -np.inf, np.inf
        else:
            self.bounds[j] = self._narrowed(*self.bounds.get(j, (0.0, np.inf)), left, expected)
        self._match(_BLANK)

    def _narrowed(
        self, low: float, high: float, left: re.Match[bytes] | None, expected: str
    ) -> tuple[float, float]:
        """Both sides after those on the left and on the right of a row or a variable."""
        right = self._match(_RIGHT)
        if not (left or right):
            raise self._error(expected)
        if left and right:
            first, second = (side["relation"].strip(b"=") for side in (left, right))
            if not first or first != second:
                both = "two sides with <= or two with >="
                raise self._error(both, self.text[left.start() : right.end()])
        for side in filter(None, (left, right)):
            digits, relation = side["digits"], side["relation"]
            size = tokens.number(digits, self.source, CUSTOMARY_INFINITY) if digits else np.inf
            value = _sign(side) * size
            if relation == b"=" or (b"<" in relation) == (side is right):
                high = value
            if relation == b"=" or (b"<" in relation) == (side is left):
                low = value
        return low, high

    def _variable(self, name: bytes) -> int:
        return self.numbers.setdefault(name, len(self.numbers))

    def _begin(self, section: str) -> None:
        self.text, self.place = self.sections.get(section, b""), 0

    def _match(self, pattern: re.Pattern[bytes]) -> re.Match[bytes] | None:
        if match := pattern.match(self.text, self.place):
            self.place = match.end()
        return match

    def _error(self, expected: str, text: bytes | None = None) -> DataError:
        got = self.text[self.place :] if text is None else text
        return tokens.unlike(self.source, expected, got[:40])


def _sign(match: re.Match[bytes]) -> float:
    return -1.0 if match["signs"].count(b"-") % 2 else 1.0


def write_lp(program: StandardForm, target: str) -> bytes:
    """The content of a file, with variables x1, x2, ... where their names are not plain words.

    All of them stand in the linear part of the objective, since readers number them in the order in
    which they appear. The constant is the coefficient of a variable `Constant` behind them, fixed
    at 1. `DataError` for sides of 1e20 and more, and for terms that overflow.
    """
    program.check_sides(CUSTOMARY_INFINITY, target)
    products, (names, labels) = program.products(target), program.written_names()
    costs, constant = program.sense * program.cost, program.sense * program.constant
    terms = [f"{_signed(value)} {name}" for value, name in zip(costs, names, strict=True)]
    terms += [f"{_signed(constant)} {_CONSTANT.decode()}"] if constant else []
    if products.nnz:
        quadratic = [
            f"{_signed(value)} {names[i]} " + ("^2" if i == j else f"* {names[j]}")
            for i, j, value in entries_of(products)
        ]
        terms += ["+ [", *quadratic, "] / 2"]
    direction = "minimize" if program.sense > 0 else "maximize"
    lines = [direction, *_wrapped("objective:", terms), "subject to"]
    rows = defaultdict(list)
    for i, j, value in entries_of(program.matrix):
        rows[i].append(f"{_signed(value)} {names[j]}")
    for label, (sign, i, side) in zip(labels, program.one_sided(), strict=True):
        terms = rows.get(i, [f"+ 0 {names[0]}"])
        lines += _wrapped(f"{label}:", [*terms, sign, tokens.written(side)])
    lines.append("bounds")
    for name, lower, upper in zip(names, program.lower, program.upper, strict=True):
        lines.append(f" {_extended(lower)} <= {name} <= {_extended(upper)}")
    lines += [f" {_CONSTANT.decode()} = 1"] if constant else []
    return tokens.content_of([*lines, "end"])


def _signed(value: float) -> str:
    return f"{'-' if value < 0 else '+'} {tokens.written(abs(value))}"


def _extended(value: float) -> str:
    return tokens.written(value) if np.isfinite(value) else f"{'-' if value < 0 else '+'}inf"


def _wrapped(start: str, terms: list[str]) -> list[str]:
    """The terms in lines of eight, which are shorter than every reader's limit."""
    lines = [" ".join(terms[k : k + 8]) for k in range(0, len(terms), 8)]
    return [f" {start} {line}" if k == 0 else f"  {line}" for k, line in enumerate(lines)]
