"""What a solver is asked about."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from indefinite_opt.quadratic.programs.declaration import Declaration


class Problem(ABC):
    """The data of an optimization problem, such as a `QuadraticProgram`."""

    name: str
    """What to call it in reports."""
    cvxpy_origin: Any = None
    """The caller's own problem that it was made from, a `CvxpyOrigin`, or None."""

    @property
    def declaration(self) -> Declaration | None:
        """The program that the problem itself is; None if a formulation has to be named."""
        return None

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of training points, or of variables."""

    @property
    def curvature_known(self) -> bool:
        """Whether convexity can be tested."""
        return True

    def without_matrix(self) -> Problem:
        """What a pickle of a result holds: itself, unless it has a matrix that can be left out."""
        return self

    def refusal(self, program: Any) -> str | None:
        """Why a program cannot be solved on these data, as a clause of an error, or None."""
        return None

    def prepare(self, program: Any) -> None:  # noqa: B027  # most programs need nothing
        """Compute and cache what a program needs and what takes O(n³), such as a spectrum."""
