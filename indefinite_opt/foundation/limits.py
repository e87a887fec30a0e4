"""Time limits: a look at the clock before every call that may take long."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeVar

from indefinite_opt.foundation.loops import clock
from indefinite_opt.foundation.threads import one_thread

T = TypeVar("T")

LONG = 500
"""Order of a matrix from which O(n³) work takes some hundredths of a second: long enough for a look
at the clock."""

SECONDS_BEYOND_LIMIT = 0.5
"""Seconds after a time limit in which a point is still measured, so that it is not lost."""


_DEADLINE: ContextVar[float] = ContextVar("deadline", default=float("inf"))


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
    token = _DEADLINE.set(min(_DEADLINE.get(), clock() + seconds))
    try:
        with one_thread():
            return function(*arguments)
    finally:
        _DEADLINE.reset(token)


def seconds_left() -> float:
    """Seconds that the call inside `limited` has, for solvers that obey a limit; may be inf."""
    return _DEADLINE.get() - clock()
