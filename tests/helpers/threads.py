"""Threads that change places as often as Python allows."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable

__all__ = ["run_together"]


def run_together(works: Iterable[Callable[[], object]]) -> None:
    """Call each of these in a thread of its own, all of them at the same time."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work) for work in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
