"""Values that are computed once and kept with the object that they belong to, without a lock."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:
    from functools import cached_property as cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801
        """`functools.cached_property` as it is from Python 3.12 on: without a lock.

        Before, one lock served the property of all instances: threads that solved different
        problems waited for each other.
        """

        def __init__(self, func: Callable[[Any], Any]) -> None:
            super().__init__(func)
            self.lock = nullcontext()


def derived(owner: object, key: object, make: Callable[[], T]) -> T:
    """What `make` returns, kept with its owner for later calls with the same key.

    >>> calls, owner = iter("ab"), type("Owner", (), {})()
    >>> [derived(owner, "first", lambda: next(calls)) for _ in range(3)]
    ['a', 'a', 'a']
    """
    kept = derived_values(owner)
    if key not in kept:
        kept.setdefault(key, make())  # of two threads both get what was made first
    known: T = kept[key]
    return known


def derived_values(owner: object) -> dict[object, Any]:
    """What is kept with an owner by its keys; an entry is read once, as threads replace it."""
    kept: dict[object, Any] = owner.__dict__.setdefault("_derived", {})
    return kept
