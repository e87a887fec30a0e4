"""Threads of the dense linear algebra library, kept under control."""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager, nullcontext
from typing import Any

__all__ = ["SMALL", "few_threads", "one_thread", "thread_count"]

SMALL = 1000
"""Below this order a second BLAS thread costs more than it brings (and much more when the
machine is busy: spinning threads slowed a loop of small eigenproblems 60 times)."""


@functools.cache
def _controller() -> Any:
    # Only libraries that are loaded are found, and compiled loops use the one of scipy.
    import scipy.linalg.cython_lapack  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def few_threads(order: int) -> AbstractContextManager[Any]:
    """One BLAS thread inside the block when matrices are of order below `SMALL`."""
    if order >= SMALL:
        return nullcontext()
    return one_thread()


def one_thread() -> AbstractContextManager[Any]:
    """One BLAS thread inside the block, for many products with vectors and tall matrices."""
    return _controller().limit(limits=1, user_api="blas")


def thread_count() -> int:
    """Threads of the linear algebra library, one at least: how many a solver may use, too."""
    found = [library["num_threads"] for library in _controller().info()]
    return max(1, min(found, default=1))
