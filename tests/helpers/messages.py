"""What errors say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from indefinite_opt.errors import BadArgument

__all__ = ["message"]


def message(call: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    """The message of the error that a call with a bad argument raises."""
    with pytest.raises(BadArgument) as caught:
        call(*arguments, **options)
    return str(caught.value)
