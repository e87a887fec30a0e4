"""Numbers as they stand in files."""

from __future__ import annotations

import math

from indefinite_opt.errors import DataError

__all__ = ["number", "whole", "written"]


def number(word: bytes, source: str, infinite: bool = False) -> float:
    """A number, finite unless `infinite`; its exponent may have the letter D of Fortran.

    >>> number(b"-0.4D0", "file")
    -0.4
    """
    try:
        value = float(word.replace(b"D", b"e").replace(b"d", b"e"))
    except ValueError:
        value = math.nan
    if b"_" in word or math.isnan(value) or not (infinite or math.isfinite(value)):
        raise DataError(source, "numbers" if infinite else "finite numbers", _quoted(word))
    return value


def whole(word: bytes, source: str, what: str, least: int, most: int) -> int:
    """An integer within limits; the message calls it `what`."""
    digits = word.removeprefix(b"+")
    if digits.isdigit() and len(digits) <= 18 and least <= int(digits) <= most:
        return int(digits)
    raise DataError(source, f"{what}, an integer from {least} to {most}", _quoted(word))


def written(value: float) -> str:
    """The shortest text that is read as the same number, without a point for integers.

    >>> written(3.0), written(0.1), written(-0.0), written(1e22)
    ('3', '0.1', '0', '1e+22')
    """
    value = float(value)
    # Below 2⁵³ every integer is a float and has as many digits as repr would use.
    return str(int(value)) if abs(value) < 2**53 and value == int(value) else repr(value)


def _quoted(word: bytes) -> str:
    return repr(word.decode("utf-8", "replace"))
