"""Long calls into compiled code that still obey time limits and Ctrl-C.

Python handles signals between two of its own instructions, not while a library works. A long call
therefore runs in a thread of its own while the caller waits in short intervals; a call that keeps
the interpreter's lock runs in a process of its own.
"""

from __future__ import annotations

import atexit
import contextvars
import ctypes
import functools
import os
import pickle
import select
import signal
import sys
import warnings
from collections.abc import Callable
from threading import Event, Thread, local
from typing import Any, TypeVar

from indefinite_opt.foundation.loops import clock
from indefinite_opt.foundation.threads import one_thread

T = TypeVar("T")

LONG = 500
"""Order of a matrix from which O(n³) work runs in a thread of its own: an eigendecomposition then
takes some hundredths of a second, and starting the thread a ten-thousandth."""

SECONDS_BEYOND_LIMIT = 0.5
"""Seconds beyond its own time limit after which a solver of another package is abandoned."""

_INTERVAL = 0.05
"""Seconds between two checks of the clock: a time limit is exceeded by no more than this."""

_call = local()
"""Of a thread that `within` has started: whether its call was abandoned, an `Event`."""


class TimeLimitReached(Exception):
    """A call that was abandoned because its time was over or its caller asked it to stop."""


def within(
    seconds: float,
    function: Callable[..., T],
    *arguments: Any,
    stop: Callable[[], bool] | None = None,
) -> T:
    """The result of function(*arguments), if it comes in time.

    The call is abandoned when its time is over, on Ctrl-C, and with a call that it is part of.
    Since a thread cannot be killed, it runs on in the background until it returns or the process
    ends, and so must not change anything that others read. It must also release the interpreter's
    lock, as numpy's linear algebra does; scipy's wrappers of BLAS and LAPACK keep it. It has one
    BLAS thread until it returns: OpenBLAS would wait forever at the end of the process for threads
    that it has given work at that time. A process with an abandoned call ends without the
    destructors of its libraries, which would free the memory that the call works in.

    The time may be infinite; nothing is started if it is not positive. `stop` is called in every
    interval, and the call is abandoned once it returns a true value. Exceptions of the function
    itself are passed on.

    Examples
    --------
    >>> import time
    >>> within(60.0, sum, [1, 2])
    3
    >>> within(0.01, time.sleep, 0.5)
    Traceback (most recent call last):
    indefinite_opt.foundation.interruptible.TimeLimitReached: sleep did not end within 0.01 s
    """
    outcome: list[T] = []
    failure: list[BaseException] = []
    done, abandoned = Event(), Event()
    outer: Event | None = getattr(_call, "abandoned", None)
    # The context holds how numpy treats floating-point errors.
    context = contextvars.copy_context()

    def run() -> None:
        _call.abandoned = abandoned
        try:
            with one_thread():
                outcome.append(context.run(function, *arguments))
        except BaseException as error:
            failure.append(error)
        finally:
            done.set()

    end = clock() + seconds
    try:
        if seconds > 0.0:
            Thread(target=run, daemon=True).start()
        while not done.wait(min(_INTERVAL, max(end - clock(), 0.0))):
            asked = stop is not None and stop()
            if clock() >= end or asked or (outer is not None and outer.is_set()):
                whole = getattr(function, "func", function)  # of functools.partial
                name = getattr(whole, "__name__", type(whole).__name__)
                raise TimeLimitReached(f"{name} did not end within {seconds:.3g} s")
    except BaseException:
        abandoned.set()
        _end_without_destructors()
        atexit.register(done.wait, 2.0 * _INTERVAL)  # so that calls inside it are abandoned, too
        raise
    if failure:
        raise failure[0]
    return outcome[0]


@functools.cache
def _end_without_destructors() -> None:
    """Let the process end by `_exit`, with the same status, once Python has shut down.

    Without it, processes in which OpenBLAS was computing ended one time in ten with "Bad memory
    unallocation" or a segmentation fault, as its destructor unmaps the memory of its threads. What
    libraries have printed is flushed before. Only the C libraries of Linux have `on_exit`, and not
    all of them; elsewhere the process ends as it did.
    """
    if sys.platform != "linux":
        return
    library = ctypes.CDLL(None)
    if hasattr(library, "on_exit") and hasattr(library, "__cxa_atexit"):
        # The last that was registered is called first.
        library.on_exit(library._exit, None)
        library.__cxa_atexit(library.fflush, None, None)


def limited(
    order: int,
    seconds: float,
    function: Callable[..., T],
    *arguments: Any,
    stop: Callable[[], bool] | None = None,
) -> T:
    """`within` for work of O(n³), but a direct call if the order n is below `LONG`."""
    if order < LONG:
        return function(*arguments)
    return within(seconds, function, *arguments, stop=stop)


def in_child(seconds: float, function: Callable[..., T], *arguments: Any) -> T:
    """`within` for calls that keep the interpreter's lock, or that handle Ctrl-C themselves.

    A forked child process makes the call, passes its result on, pickled, and is killed if the call
    is abandoned. Where processes cannot be forked safely (anywhere but on Linux) this is `within`.

    >>> in_child(60.0, divmod, 17, 5)
    (3, 2)
    """
    if sys.platform != "linux":
        return within(seconds, function, *arguments)
    end = clock() + seconds
    ours, theirs = os.pipe()
    with warnings.catch_warnings():
        # Other threads do not exist in the child. The only locks it takes that they might hold
        # are those that Python, the C library and OpenBLAS reset after a fork.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        _answer(theirs, function, arguments)
    os.close(theirs)
    answer = bytearray()
    try:
        while True:
            if select.select([ours], [], [], _INTERVAL)[0]:
                part = os.read(ours, 1 << 20)
                if not part:
                    break
                answer += part
            elif clock() >= end:
                raise TimeLimitReached(f"a child process did not end within {seconds:.3g} s")
    finally:
        os.close(ours)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if not answer:
        raise RuntimeError("a child process ended without an answer")
    outcome, error = pickle.loads(answer)
    if error is not None:
        raise error
    return outcome


def _answer(pipe: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """Call the function, write its result to the pipe and end the process."""
    try:
        os.setsid()  # Ctrl-C in the terminal is for the parent
        outcome: Any = None
        error: BaseException | None = None
        try:
            outcome = function(*arguments)
        except BaseException as raised:
            error = raised
        with os.fdopen(pipe, "wb") as answer:
            pickle.dump((outcome, error), answer)
    finally:
        os._exit(0)
