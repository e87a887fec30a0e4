"""Checks of the numbers, switches and names that callers give.

Each check takes the name of an argument, its value and what is allowed, and raises an error that
names the argument, what was expected and what was given. `arrays` has the checks of arrays.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from indefinite_opt.errors import ParameterError, UnknownName, shown

LARGEST = sys.float_info.max
"""The largest finite float. Values are compared with it, not converted: an integer can be larger
than every float."""

MAX_ENTRY = 1e152
"""Largest entry of a kernel matrix, whose square does not overflow."""

MAX_WEIGHT = 1e50
"""Largest bound on a weight: terms of an objective, at most `MAX_ENTRY` times its square, do not
overflow, nor do sums of 10²⁷ of them."""


MIN_WEIGHT = 1e-100
"""Smallest bound on a weight: its square, and one over it, are numbers of full precision."""


def is_number(value: object) -> bool:
    """Whether value is a real number of Python or numpy; Booleans are not.

    >>> is_number(1), is_number(np.float32(0.5)), is_number(True), is_number("1")
    (True, True, False, False)
    """
    real = isinstance(value, int | float | np.integer | np.floating)
    return real and not isinstance(value, bool)


def is_whole(value: object) -> bool:
    """Whether value is an integer of Python or numpy; Booleans are not.

    >>> is_whole(2), is_whole(np.int64(2)), is_whole(2.0), is_whole(True)
    (True, True, False, False)
    """
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def number(argument: str, value: Any, least: float = -LARGEST, most: float = LARGEST) -> None:
    """Raise `ParameterError` unless value is a finite number from `least` to `most`.

    >>> number("shift", 0.5, 0.0, 1.0)
    >>> number("shift", 2, 0.0, 1.0)
    Traceback (most recent call last):
    indefinite_opt.errors.ParameterError: shift: expected a number from 0 to 1, got 2
    """
    bounded = (least, most) != (-LARGEST, LARGEST)
    expected = f"a number from {least:g} to {most:g}" if bounded else "a finite number"
    _require(least <= _plain(value) <= most, argument, value, expected)


def positive(
    argument: str,
    value: Any,
    *,
    most: float = LARGEST,
    zero: bool = False,
    infinite: bool = False,
    optional: bool = False,
) -> None:
    """Raise `ParameterError` unless value is a positive number of at most `most`.

    `zero`, `infinite` and `optional` also allow 0, infinity and None.

    >>> positive("C", 1.0)
    >>> positive("radius", -1.0, zero=True, optional=True)
    Traceback (most recent call last):
    indefinite_opt.errors.ParameterError: radius: expected a positive number, 0 or None, got -1.0
    """
    if optional and value is None:
        return
    plain = _plain(value)
    fits = plain >= 0 and (zero or plain != 0)
    fits = fits and (plain <= most or (infinite and plain == np.inf))
    bound = f" of at most {most:g}" if most < LARGEST else ""
    words = f"a positive number{bound}", "0" * zero, "inf" * infinite, "None" * optional
    _require(fits, argument, value, *words)


def weight_bound(argument: str, value: Any, *, infinite: bool = False) -> None:
    """Raise `ParameterError` unless value is a number that can bound weights, such as C.

    >>> weight_bound("C", 1e-200)
    Traceback (most recent call last):
    indefinite_opt.errors.ParameterError: C: expected a number from 1e-100 to 1e+50, got 1e-200
    """
    plain = _plain(value)
    fits = MIN_WEIGHT <= plain <= MAX_WEIGHT or (infinite and plain == np.inf)
    words = f"a number from {MIN_WEIGHT:g} to {MAX_WEIGHT:g}", "inf" * infinite
    _require(fits, argument, value, *words)


def _require(fits: bool, argument: str, value: Any, *allowed: str) -> None:
    """Raise `ParameterError` for a number that does not fit, or that numpy cannot represent."""
    long = isinstance(value, int | np.integer) and not -sys.maxsize <= value <= sys.maxsize
    if long or not fits:
        expected = _either(*allowed) + (", above 2⁶³ as a float" if fits else "")
        raise ParameterError(argument, expected, shown(value))


def whole(
    argument: str,
    value: Any,
    least: int = 1,
    most: float = sys.maxsize,
    *,
    reason: str = "",
    optional: bool = False,
) -> None:
    """Raise `ParameterError` unless value is an integer from `least` to `most`.

    `reason` says where `most` comes from; `optional` also allows None.

    >>> whole("starts", 5)
    >>> whole("starts", 2.5)
    Traceback (most recent call last):
    indefinite_opt.errors.ParameterError: starts: expected a positive integer, got 2.5
    """
    if (optional and value is None) or (is_whole(value) and least <= value <= most):
        return
    if most < sys.maxsize or (is_whole(value) and value > most):
        words = f"an integer from {least} to {most}{f' ({reason})' if reason else ''}"
    else:
        words = "a positive integer" if least == 1 else f"an integer of at least {least}"
    raise ParameterError(argument, _either(words, "None" * optional), shown(value))


def seed(argument: str, value: Any, *, optional: bool = False) -> None:
    """Raise `ParameterError` unless value is a seed of 32 bits, as every generator accepts."""
    whole(argument, value, 0, 2**32 - 1, optional=optional)


def switch(argument: str, value: Any) -> None:
    """Raise `ParameterError` unless value is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(argument, "True or False", shown(value))


def callback(value: Any) -> None:
    """Raise `ParameterError` unless value, which progress is reported to, is callable or None."""
    if value is not None and not callable(value):
        raise ParameterError("callback", "a function of a Trace, or None", shown(value))


def choice(argument: str, value: Any, choices: Iterable[str]) -> None:
    """Raise `UnknownName` unless value is one of the choices.

    >>> choice("form", "cubic", ("linear", "raw"))
    Traceback (most recent call last):
    indefinite_opt.errors.UnknownName: form: expected one of linear, raw, got 'cubic'
    """
    if not isinstance(value, str) or value not in choices:
        raise UnknownName(argument, value, choices)


def tolerance(argument: str, value: Any) -> None:
    """Raise `ParameterError` unless 0 < value < 1."""
    if not (is_number(value) and 0.0 < value < 1.0):
        raise ParameterError(argument, "a number between 0 and 1", shown(value))


def limits(tol: Any, time_limit: Any, max_iter: Any = None) -> None:
    """Raise `ParameterError` unless the tolerance and the limits of a solve are in range."""
    tolerance("tol", tol)
    positive("time_limit", time_limit, infinite=True, optional=True)
    whole("max_iter", max_iter, optional=True)


def _either(*allowed: str) -> str:
    """The nonempty texts as an enumeration.

    >>> _either("a number", "", "0", "None")
    'a number, 0 or None'
    """
    *others, last = [text for text in allowed if text]
    return f"{', '.join(others)} or {last}" if others else last


def _plain(value: Any) -> Any:
    """The number in Python's own type, and nan for anything else.

    A float32 cannot be compared with the largest double.
    """
    if not is_number(value):
        return np.nan
    if isinstance(value, np.floating):
        return float(value)
    return int(value) if isinstance(value, np.integer) else value
