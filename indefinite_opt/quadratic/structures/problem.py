"""What a solver is asked about."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from indefinite_opt.foundation import Array


class Problem(ABC):
    """The data of an optimization problem, such as a `QuadraticProgram`."""

    name: str
    """What to call it in reports."""
    assign: Callable[[Array], None] | None = None
    """Writes a point x into the caller's own variables, if the problem was made from these."""

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of training points, or of variables."""

    @property
    def curvature_known(self) -> bool:
        """Whether convexity can be tested."""
        return True

    def refusal(self, structure: Any) -> str | None:
        """Why a structure cannot be solved on these data, as a clause of an error, or None."""
        return None

    def prepare(self, structure: Any) -> None:  # noqa: B027  # most programs need nothing
        """Compute and cache what a structure needs and what takes O(n³), such as a spectrum."""
