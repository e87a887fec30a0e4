"""Properties that are computed once, without a lock."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

__all__ = ["cached_property"]

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801
        """`functools.cached_property` as it is from Python 3.12 on: without a lock.

        Before, one lock served the property of all instances, and a call that was abandoned at a
        time limit held it: other threads waited for that call to end, whatever they asked.
        """

        def __init__(self, func: Callable[[Any], Any]) -> None:
            super().__init__(func)
            self.lock = nullcontext()
