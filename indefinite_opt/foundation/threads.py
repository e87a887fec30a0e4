"""Control of the threads of the dense linear algebra library."""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager, nullcontext
from typing import Any

__all__ = ["few_threads", "one_thread", "thread_count"]

_MIN_MULTITHREAD_ORDER = 1000
"""Order of a matrix below which a second BLAS thread costs more than it gains, and far more on a
busy machine: spinning threads slowed a loop of small eigenproblems by a factor of 60."""


@functools.cache
def _controller() -> Any:
    # Only loaded libraries are found, and compiled loops use that of scipy.
    import scipy.linalg.cython_lapack  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def few_threads(order: int) -> AbstractContextManager[Any]:
    """One BLAS thread inside the block for small matrices, otherwise as many as the library has."""
    if order >= _MIN_MULTITHREAD_ORDER:
        return nullcontext()
    return one_thread()


def one_thread() -> AbstractContextManager[Any]:
    """One BLAS thread inside the block, for many products with vectors and tall matrices."""
    return _controller().limit(limits=1, user_api="blas")


def thread_count() -> int:
    """Number of threads of the linear algebra library, which is also how many a solver may use."""
    found = [library["num_threads"] for library in _controller().info()]
    return max(1, min(found, default=1))
