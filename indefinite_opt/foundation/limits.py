"""Time limits: a look at the clock before every call that may take long."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from contextvars import ContextVar
from typing import Any, TypeVar

from indefinite_opt.foundation.threads import one_thread

T = TypeVar("T")

clock = time.perf_counter

LONG = 500
"""Order of a matrix from which O(n³) work takes some hundredths of a second: long enough for a look
at the clock."""

SECONDS_BEYOND_LIMIT = 0.5
"""Seconds after a time limit in which a point is still measured, so that it is not lost."""

OPERATIONS_PER_SECOND = 2e10
"""Operations on numbers in a second that LAPACK makes on one thread, as an order of magnitude."""


_DEADLINE: ContextVar[float] = ContextVar("deadline", default=float("inf"))


class TimeLimitReached(Exception):
    """No time is left for a call."""


def limited(order: int, seconds: float, function: Callable[..., T], *arguments: Any) -> T:
    """The result of function(*arguments), work of O(n³) for an order n, if it begins in time.

    A call that has begun is not abandoned: a time limit may be exceeded by one of them, unless it
    asks for `seconds_left` or `afford` itself. Calls of an order below `LONG` are always made, and
    have `SECONDS_BEYOND_LIMIT` at least.

    >>> limited(10, 0.0, sum, [1, 2])
    3
    >>> limited(1000, 0.0, sum, [1, 2])
    Traceback (most recent call last):
    indefinite_opt.foundation.limits.TimeLimitReached: no time is left for sum
    """
    short = order < LONG
    if seconds <= 0.0 and not short:
        whole = getattr(function, "func", function)  # of functools.partial
        name = getattr(whole, "__name__", type(whole).__name__)
        raise TimeLimitReached(f"no time is left for {name}")
    least = SECONDS_BEYOND_LIMIT if short else 0.0
    token = _DEADLINE.set(min(_DEADLINE.get(), clock() + max(seconds, least)))
    try:
        with nullcontext() if short else one_thread():
            return function(*arguments)
    finally:
        _DEADLINE.reset(token)


def seconds_left() -> float:
    """Seconds that the call inside `limited` has, for solvers that obey a limit; may be inf."""
    deadline = _DEADLINE.get()
    return deadline - clock() if deadline < float("inf") else deadline


def afford(operations: float) -> None:
    """Raise `TimeLimitReached` if so many operations are too many for the call inside `limited`.

    They are if they take longer than `seconds_left`, and longer than `SECONDS_BEYOND_LIMIT`. This
    is for a factorisation, which looks at no clock: it does not begin if it cannot end in time.

    >>> limited(10, 60.0, afford, 1e9)
    >>> limited(10, 60.0, afford, 1e15)
    Traceback (most recent call last):
    indefinite_opt.foundation.limits.TimeLimitReached: 1e+15 operations do not end in time
    """
    seconds = operations / OPERATIONS_PER_SECOND
    if seconds > SECONDS_BEYOND_LIMIT and seconds > seconds_left():
        raise TimeLimitReached(f"{operations:.0e} operations do not end in time")
