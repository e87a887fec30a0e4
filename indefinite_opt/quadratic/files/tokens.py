"""Lines, words and numbers of files, and the program that they state."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping

import numpy as np

from indefinite_opt.errors import DataError
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.matrices.sparse import as_sparse, matrix_of


def unlike(source: str, expected: str, text: bytes, hint: str = "") -> DataError:
    """The error that quotes what was found instead of what was expected."""
    return DataError(source, expected, repr(text[:80].decode("utf-8", "replace")), hint)


def lines_of(content: bytes, source: str, comment: bytes, end: bytes = b"") -> list[bytes]:
    """The lines of a text file without comments, a regular expression, and without empty lines.

    The word `end` must stand in the last line, in any case; that line is left out.
    """
    if b"\0" in content:
        raise DataError(source, "a text file", "a byte 0")
    text = re.sub(rb"(?m)" + comment, b"", b"\n".join(content.splitlines()))
    kept = [line.rstrip() for line in text.splitlines() if line.strip()]
    if end:
        last = kept.pop().strip() if kept else b""
        if last.lower() != end:
            expected = f"a last line {end.decode().upper()}"
            raise unlike(source, expected, last, "The file may be truncated.")
    return kept


def content_of(lines: Iterable[str]) -> bytes:
    """The content of a text file."""
    return "".join(f"{line}\n" for line in lines).encode()


def stated(
    source: str,
    sense: int,
    columns: Collection[bytes],
    entries: Mapping[tuple[int, int], float],
    products: Mapping[tuple[int, int], float],
    sides: list[tuple[float, float]],
    bounds: list[tuple[float, float]],
    constant: float,
    row_names: Iterable[bytes],
) -> StandardForm:
    """The program whose objective is the first row of the entries; `sides` has those of the others.

    `DataError` if there are no variables.
    """
    m, n = len(sides), len(columns)
    if n == 0:
        raise DataError(source, "a program", "one with no variables")
    (low, high), (lower, upper) = (np.reshape(ends, (-1, 2)).T for ends in (sides, bounds))
    rows, P = matrix_of(entries, m + 1, n), matrix_of(products, n, n)
    return StandardForm(
        sense, sense * as_sparse(rows[:1]).toarray()[0], lower, upper, low, high, rows[1:],
        sense * P, sense * constant, variables=_decoded(columns), row_names=_decoded(row_names),
    )  # fmt: skip


def _decoded(words: Iterable[bytes]) -> tuple[str, ...]:
    return tuple(word.decode("utf-8", "replace") for word in words)


def number(word: bytes, source: str, infinity: float | None = None) -> float:
    """A finite number, or an infinite one from the size `infinity` on, if that is given.

    The exponent may have the letter D of Fortran.

    >>> number(b"-0.4D0", "file")
    -0.4
    """
    try:
        value = float(word.replace(b"D", b"e").replace(b"d", b"e"))
    except ValueError:
        value = math.nan
    if abs(value) < (math.inf if infinity is None else infinity) and b"_" not in word:
        return value
    if infinity is None or math.isnan(value) or b"_" in word:
        raise unlike(source, "finite numbers" if infinity is None else "numbers", word)
    return math.copysign(math.inf, value)


def whole(word: bytes, source: str, what: str, least: int, most: int) -> int:
    """An integer within limits; the message calls it `what`."""
    digits = word.removeprefix(b"+")
    if digits.isdigit() and len(digits) <= 18 and least <= int(digits) <= most:
        return int(digits)
    raise unlike(source, f"{what}, an integer from {least} to {most}", word)


def written(value: float) -> str:
    """The shortest text that is read as the same number, without a point for integers.

    >>> written(3.0), written(0.1), written(-0.0), written(1e22)
    ('3', '0.1', '0', '1e+22')
    """
    value = float(value)
    # Below 2⁵³ every integer is a float and has as many digits as repr would use.
    return str(int(value)) if abs(value) < 2**53 and value == int(value) else repr(value)
