"""One policy for all threads: the linear algebra library gets one, and this package the others.

Its own threads make a factorisation or a product faster on idle cores, but wait for each other in a
loop: beside one other busy process a factorisation of order 300 took a thousand times as long as
on one thread. So BLAS and LAPACK are called on one thread, and large work is divided into tiles,
which threads of this package take as they come: a core that is busy otherwise does fewer of them.

Inside such a thread nothing is divided again.
"""

from __future__ import annotations

import functools
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock, current_thread, main_thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

TILE = 256
"""Rows of a tile: large enough for products of full speed, and small enough that the last tile of
a matrix of order 1000 does not keep one thread waiting for long."""

TILE_ENTRIES = 2**17
"""Entries of a tile that is read several times: a megabyte, which a processor's cache holds."""

_ALLOWED: ContextVar[int | None] = ContextVar("threads", default=None)
"""How many threads may work, once that has been settled: by `one_thread`, which changes what the
library would answer, and to 1 inside the threads of a pool."""


@contextmanager
def interrupts_held() -> Iterator[list[object]]:
    """Hold Ctrl-C back until the end of the block, where it is raised; the list tells if it came.

    Python raises it between any two instructions, also right after a lock was taken and before it
    is certain to be released. A thread of a pool that needs this lock would then wait forever, and
    whoever waits for that thread. So the calls that share locks with a pool stand in such a block.
    """
    came: list[object] = []
    if current_thread() is not main_thread():
        yield came
        return
    before = signal.getsignal(signal.SIGINT)
    if not callable(before):  # ignored, or not Python's to handle
        yield came
        return
    signal.signal(signal.SIGINT, lambda number, frame: came.append(frame))
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            before(signal.SIGINT, None)


@functools.cache
def libraries() -> list[Any]:
    """The linear algebra libraries that have threads, as `threadpoolctl` controls them.

    Some solvers bring one that never has more than one, which says nothing of the others.
    """
    # Only loaded libraries are found, and compiled loops use that of scipy.
    import scipy.linalg.cython_lapack  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return [
        each for each in ThreadpoolController().lib_controllers
        if each.user_api == "blas" and getattr(each, "threading_layer", "") != "disabled"
    ]  # fmt: skip


def _counts() -> list[int]:
    return [library.get_num_threads() or 1 for library in libraries()]


class _Limit:
    """One BLAS thread for as long as any thread of the process is inside.

    Most libraries have one number for the whole process, so that it is set back when the last
    thread leaves; where OpenMP makes the threads, each thread has a number of its own.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._before: list[int] = []
        self.threads = 1

    def enter(self) -> int:
        """Set the limit; returns how many threads there were before the first entered."""
        with self._lock:
            if self._inside == 0:
                self._before = _counts()
                self.threads = min(self._before, default=1)
            self._inside += 1
            for library in libraries():
                _set_threads(library, 1)
            return self.threads

    def leave(self) -> None:
        """Remove the limit, unless another thread needs it."""
        with self._lock:
            self._inside -= 1
            for library, before in zip(libraries(), self._before, strict=True):
                per_thread = getattr(library, "threading_layer", "") == "openmp"
                if self._inside == 0 or per_thread:
                    _set_threads(library, before)

    @property
    def in_force(self) -> bool:
        """Whether some thread is inside."""
        return self._inside > 0


def _set_threads(library: Any, number: int) -> None:
    """Set the number of a library, also where threadpoolctl lets only one thread do that."""
    release = getattr(library, "clear_controlling_thread", None)  # from version 3.8 on
    if release is not None:
        release(force=True)
    library.set_num_threads(number)
    if release is not None:
        release(force=True)


_LIMIT = _Limit()


@contextmanager
def one_thread() -> Iterator[None]:
    """One BLAS thread inside the block, and `thread_count` threads for `in_tiles`."""
    if _ALLOWED.get() is not None:  # one thread is in force already
        yield
        return
    token = _ALLOWED.set(_LIMIT.enter())
    try:
        yield
    finally:
        _ALLOWED.reset(token)
        _LIMIT.leave()


def thread_count() -> int:
    """How many threads a solver may use: as many as the linear algebra library has, so that
    OMP_NUM_THREADS and `threadpoolctl` govern both.
    """
    allowed = _ALLOWED.get()
    if allowed is not None:
        return allowed
    if _LIMIT.in_force:  # in another thread
        return _LIMIT.threads
    return min(_counts(), default=1)


def pool(workers: int) -> ThreadPoolExecutor:
    """An executor whose threads divide nothing again."""
    return ThreadPoolExecutor(workers, initializer=_ALLOWED.set, initargs=(1,))


def tiles(count: int, size: int = TILE) -> Iterator[slice]:
    """0, ..., count - 1 in slices of length max(size, 1).

    >>> list(tiles(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    size = max(size, 1)
    for first in range(0, count, size):
        yield slice(first, min(first + size, count))


def in_tiles(work: Callable[[slice], object], parts: Iterator[slice]) -> None:
    """Call `work` with each part, on all threads, which take the parts as they come.

    The work must release the interpreter's lock, as numpy does, and write to its own part only.
    """
    listed = list(parts)
    with one_thread():
        workers = min(thread_count(), len(listed))
        if workers <= 1 or len(listed) < 4:  # fewer take less time than to start threads
            for part in listed:
                work(part)
            return
        with interrupts_held() as came, pool(workers) as executor:
            for _ in executor.map(lambda part: None if came else work(part), listed):
                pass


def product(A: NDArray[Any], B: NDArray[Any]) -> NDArray[Any]:
    """A @ B on all threads, the rows of A in tiles.

    >>> product(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    # As many multiplications take a few milliseconds, and to start threads a tenth of one.
    if A.size * B.shape[1] < 2e7:
        with one_thread():
            whole: NDArray[Any] = A @ B
        return whole
    result = np.empty((A.shape[0], B.shape[1]), np.result_type(A, B))

    def work(part: slice) -> None:
        np.matmul(A[part], B, out=result[part])

    in_tiles(work, tiles(len(A)))
    return result
