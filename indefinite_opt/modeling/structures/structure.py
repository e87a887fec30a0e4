"""Convex or smooth programs in several variables that carry their own optimality measures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.problem import KernelProblem

__all__ = ["ExplicitProgram"]

Array = NDArray[np.float64]
Values = Mapping[str, Array]


class ExplicitProgram(ABC):
    """min F over variables of several names and shapes; subclasses say how to judge a point.

    For formulations that are neither a quadratic program on a box with lines nor linear. Solvers
    accept the subclasses they know.

    Attributes
    ----------
    problem : KernelProblem
    sense : {1, -1}
        Declared objective = sense · F.
    is_convex : bool
    gap_floor : float
        See `gaps`.
    title : str
        What kind of program it is, with its article, for messages.
    default_solver : str
        Name of the solver that takes it unless told otherwise.
    """

    title: ClassVar[str]
    default_solver: ClassVar[str]
    problem: KernelProblem
    sense: int = 1
    is_convex: bool = True
    gap_floor: float = 0.0

    @property
    def why_convex(self) -> str:
        """The reason that stands before a claim of GLOBAL."""
        return "Convex for every kernel"

    def gap_unit(self, value: float) -> float:
        """What gaps are divided by where F has this value; see `gaps`."""
        return max(abs(value), self.gap_floor)

    @abstractmethod
    def arrays(self) -> dict[str, Array]:
        """The data of the program by the names of the papers, for export."""

    @property
    @abstractmethod
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of every declared variable."""

    @abstractmethod
    def value(self, values: Values) -> float:
        """F."""

    @abstractmethod
    def infeasibility(self, values: Values) -> float:
        """Largest violation of a constraint, relative to the size of what is in it."""

    @abstractmethod
    def residual(self, values: Values, multipliers: Values) -> float:
        """Violation of the first-order conditions, in the natural unit of the gradient."""

    @abstractmethod
    def complementarity(self, values: Values, multipliers: Values) -> float:
        """Multipliers times slacks, in units of the objective; 0 without inequalities."""

    @abstractmethod
    def multipliers(self, values: Values) -> dict[str, Array]:
        """Multipliers of the declared constraints, recovered from a point; {} if there are none."""

    @abstractmethod
    def lower_bound(self, values: Values, multipliers: Values) -> float:
        """A lower bound on F that holds whatever the numbers: -inf where nothing can be said."""

    def repaired(self, values: Values) -> Values:
        """The values, changed as little as it takes to satisfy every constraint exactly."""
        return values

    def explanation(self, values: Values) -> tuple[str, ...]:
        """Further sentences for the certificate about a point that satisfies the conditions."""
        return ()
