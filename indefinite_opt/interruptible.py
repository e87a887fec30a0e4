"""Long calls into compiled code, run so that time limits and Ctrl-C hold all the same.

Python looks at signals and clocks between two of its own instructions, and not while a library
works. A long call therefore runs in a thread of its own while the caller waits in short intervals.
"""

from __future__ import annotations

import contextvars
import time
from collections.abc import Callable
from threading import Event, Thread
from typing import Any, TypeVar

__all__ = ["LONG", "TimeLimitReached", "limited", "within"]

T = TypeVar("T")

LONG = 500
"""From this order of a matrix on an eigendecomposition takes some hundredths of a second, and a
thread (a ten-thousandth) costs nothing beside it; smaller ones are called directly."""

_INTERVAL = 0.05
"""Seconds between two looks at the clock."""


class TimeLimitReached(Exception):
    """A call that was abandoned: its time was over, or its caller asked to stop."""


def within(
    seconds: float,
    function: Callable[..., T],
    *arguments: Any,
    stop: Callable[[], bool] | None = None,
) -> T:
    """The result of function(*arguments), if it comes in time.

    The call is abandoned where time is over, and on Ctrl-C: nobody can end it, so that it goes on
    in a daemon thread until it returns, or the process ends. It must therefore change nothing that
    others read. It must also release the interpreter's lock, as numpy's linear algebra does;
    scipy's wrappers of BLAS and LAPACK keep it. Limits of BLAS threads hold for the whole process,
    so that they belong around `within`, not inside it.

    Parameters
    ----------
    seconds : float
        Time allowed, may be infinite; nothing is started where it is not positive.
    function : callable
    *arguments
        Passed on.
    stop : callable, optional
        Asked now and then; a true answer abandons the call.

    Raises
    ------
    TimeLimitReached
        If the call was abandoned. Exceptions of the function itself are passed on.

    Examples
    --------
    >>> import time
    >>> within(60.0, sum, [1, 2])
    3
    >>> within(0.01, time.sleep, 60.0)
    Traceback (most recent call last):
    indefinite_opt.interruptible.TimeLimitReached: sleep did not end within 0.01 s
    """
    outcome: list[T] = []
    failure: list[BaseException] = []
    done = Event()
    # Numpy's treatment of floating-point errors is part of the context.
    context = contextvars.copy_context()

    def run() -> None:
        try:
            outcome.append(context.run(function, *arguments))
        except BaseException as error:
            failure.append(error)
        finally:
            done.set()

    end = time.perf_counter() + seconds
    if seconds > 0.0:
        Thread(target=run, daemon=True).start()
    while not done.wait(min(_INTERVAL, max(end - time.perf_counter(), 0.0))):
        if time.perf_counter() >= end or (stop is not None and stop()):
            whole = getattr(function, "func", function)  # of a partial one
            name = getattr(whole, "__name__", type(whole).__name__)
            raise TimeLimitReached(f"{name} did not end within {seconds:.3g} s")
    if failure:
        raise failure[0]
    return outcome[0]


def limited(
    order: int,
    seconds: float,
    function: Callable[..., T],
    *arguments: Any,
    stop: Callable[[], bool] | None = None,
) -> T:
    """`within` for what takes O(n³), a direct call where the order n is below `LONG`."""
    if order < LONG:
        return function(*arguments)
    return within(seconds, function, *arguments, stop=stop)
