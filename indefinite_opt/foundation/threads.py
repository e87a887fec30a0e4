"""One BLAS thread during a solve, and as many threads of this package as the library had before.

The library's own threads make a large factorisation faster on idle cores, but wait for each other
in a loop: beside one other busy process a factorisation of order 300 took a thousand times as long
as on one thread. So BLAS and LAPACK are called on one thread, and searches that do not depend on
each other run beside each other, each in a thread of a `pool`.
"""

from __future__ import annotations

import functools
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from threading import Lock, current_thread, main_thread
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_ALLOWED: ContextVar[int | None] = ContextVar("threads", default=None)
"""How many threads may work: settled by `one_thread`, and 1 inside the threads of a pool."""


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back until the end of the block, where it is raised.

    Python raises it between any two instructions, also right after a lock was taken and before it
    is certain to be released. A thread of a pool that needs this lock would then wait forever, and
    so would every thread that waits for it. Calls that share locks with a pool are therefore made
    in such a block.
    """
    before = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or not callable(before):
        yield
        return
    came: list[object] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append(frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            before(signal.SIGINT, None)


@functools.cache
def libraries() -> list[Any]:
    """The linear algebra libraries that have threads, as `threadpoolctl` controls them.

    Some solvers bring one that never has more than one, which says nothing about the others.
    """
    # Only loaded libraries are found, and the loops use that of scipy. A thread that imports the
    # part first would hold its lock while it waits for another one that imports the whole.
    import scipy.linalg
    import scipy.linalg.cython_lapack  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return [
        each for each in ThreadpoolController().lib_controllers
        if each.user_api == "blas" and getattr(each, "threading_layer", "") != "disabled"
    ]  # fmt: skip


class _Block(AbstractContextManager[None, None]):
    """A block with one BLAS thread, and a decorator of functions that are such blocks."""

    def __call__(self, function: F) -> F:
        @functools.wraps(function)
        def inside(*arguments: Any, **named: Any) -> Any:
            with one_thread():  # where it is called, not where it was made
                return function(*arguments, **named)

        return inside  # type: ignore[return-value]


class _Inner(nullcontext[None], _Block):
    """The same inside of another one, where nothing has to be set."""


class _Outer(_Block):
    """The same for as long as any thread of the process is inside.

    Most libraries have one number for the whole process, so that it is set back when the last
    thread leaves; where OpenMP makes the threads, each thread has a number of its own.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self.before: list[int] = []
        """How many threads each library had before the first entered; empty if none is inside."""

    def __enter__(self) -> None:
        with self._lock:
            self.before = self.before or _counts()
            self._inside += 1
            _set_threads([1] * len(self.before))
            _ALLOWED.set(min(self.before, default=1))

    def __exit__(self, *error: object) -> None:
        _ALLOWED.set(None)
        with self._lock:
            self._inside -= 1
            _set_threads(self.before, others_inside=self._inside > 0)
            if self._inside == 0:
                self.before = []


def _counts() -> list[int]:
    return [library.get_num_threads() or 1 for library in libraries()]


def _set_threads(numbers: list[int], others_inside: bool = False) -> None:
    """Set the number of each library, also where threadpoolctl lets only one thread do that.

    While other threads are inside, only numbers of this thread alone.
    """
    for library, number in zip(libraries(), numbers, strict=True):
        if others_inside and getattr(library, "threading_layer", "") != "openmp":
            continue
        release = getattr(library, "clear_controlling_thread", lambda force: None)  # from 3.8 on
        release(force=True)
        library.set_num_threads(number)
        release(force=True)


_OUTER, _INNER = _Outer(), _Inner()


def one_thread() -> _Block:
    """One BLAS thread inside the block, which may stand in another one or run beside others."""
    return _OUTER if _ALLOWED.get() is None else _INNER


def thread_count() -> int:
    """How many threads a solver may use: as many as the linear algebra library has, so that
    OMP_NUM_THREADS and `threadpoolctl` govern both.
    """
    allowed = _ALLOWED.get()
    return min(_OUTER.before or _counts(), default=1) if allowed is None else allowed


def pool(workers: int) -> ThreadPoolExecutor:
    """An executor whose threads count as one thread each, so that they start no others."""
    return ThreadPoolExecutor(workers, initializer=_ALLOWED.set, initargs=(1,))
