"""Time limits: a look at the clock before every call that may take long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from indefinite_opt.foundation.threads import one_thread

T = TypeVar("T")

LONG = 500
"""Order of a matrix from which O(n³) work takes some hundredths of a second: long enough for a look
at the clock."""

SECONDS_BEYOND_LIMIT = 0.5
"""Seconds after a time limit in which a point is still measured, so that it is not lost."""


class TimeLimitReached(Exception):
    """No time is left for a call."""


def limited(order: int, seconds: float, function: Callable[..., T], *arguments: Any) -> T:
    """The result of function(*arguments), work of O(n³) for an order n, if it begins in time.

    A call that has begun is not abandoned: a time limit may be exceeded by one of them. Calls of an
    order below `LONG` are always made.

    >>> limited(10, 0.0, sum, [1, 2])
    3
    >>> limited(1000, 0.0, sum, [1, 2])
    Traceback (most recent call last):
    indefinite_opt.foundation.limits.TimeLimitReached: no time is left for sum
    """
    if order < LONG:
        return function(*arguments)
    if seconds <= 0.0:
        whole = getattr(function, "func", function)  # of functools.partial
        name = getattr(whole, "__name__", type(whole).__name__)
        raise TimeLimitReached(f"no time is left for {name}")
    with one_thread():
        return function(*arguments)
