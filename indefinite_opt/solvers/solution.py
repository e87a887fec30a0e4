"""What a solver returns, and what a user reads."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from indefinite_opt.modeling.classifier import Classifier
    from indefinite_opt.solvers.branch_and_bound.proof import Proof
    from indefinite_opt.workflow.certificates.certificate import Certificate

__all__ = ["Claim", "Optimum", "Result", "Solution", "Status", "Trace", "Witness"]

Array = NDArray[np.float64]
Values = dict[str, Array]


class Claim(enum.IntEnum):
    """What has been proved about a point, from nothing to a global optimum."""

    NONE = 0
    FEASIBLE = 1
    STATIONARY = 2
    LOCAL = 3
    GLOBAL = 4


class Status(enum.Enum):
    """Why a solver stopped; the value is a sentence."""

    SOLVED = "stopped with its own optimality test satisfied"
    INACCURATE = "stopped because rounding or its own limits prevent further progress"
    MAX_ITER = "stopped at the iteration limit with the best point so far"
    TIME_LIMIT = "stopped at the time limit with the best point so far"
    INTERRUPTED = "interrupted; the best point so far is kept"

    def __str__(self) -> str:
        return self.name.lower()


@dataclass
class Trace:
    """Progress of a solver, one entry a report.

    Attributes
    ----------
    seconds, iterations, objective, residual, bound, calls : lists of equal length
        Time since the start, iterations so far, objective in the declared sense, the solver's own
        measure of how far it has to go (a KKT residual, or a relative gap where it has a bound;
        nan if none), its bound on the optimal value (nan if none), and evaluations of the
        objective (0 where they are not counted).
    """

    seconds: list[float] = field(default_factory=list)
    iterations: list[int] = field(default_factory=list)
    objective: list[float] = field(default_factory=list)
    residual: list[float] = field(default_factory=list)
    bound: list[float] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)

    def add(
        self,
        seconds: float,
        iterations: int,
        objective: float,
        residual: float,
        bound: float = np.nan,
        calls: int = 0,
    ) -> None:
        """Append one entry."""
        self.seconds.append(seconds)
        self.iterations.append(iterations)
        self.objective.append(objective)
        self.residual.append(residual)
        self.bound.append(bound)
        self.calls.append(calls)

    @property
    def gap(self) -> list[float]:
        """|objective - bound|, nan without a bound."""
        return [abs(a - b) for a, b in zip(self.objective, self.bound, strict=True)]

    def __len__(self) -> int:
        return len(self.seconds)


@dataclass(frozen=True, eq=False)
class Optimum:
    """One of the ends that a search from several starts has come to.

    Attributes
    ----------
    objective : float
        In the declared sense.
    count : int
        How many descents ended there.
    values : dict of str to array
        The declared variables; empty but for the best of many.
    """

    objective: float
    count: int
    values: Values = field(repr=False)


@dataclass(frozen=True, eq=False)
class Witness:
    """Points whose tangents prove a bound on a convex F: anybody can compute it again from them.

    Attributes
    ----------
    points : (m, n) array
    shares : (m,) array
        Nonnegative weights of the tangents, of sum 1.
    """

    points: Array
    shares: Array

    @classmethod
    def of(cls, point: Array) -> Witness:
        """The tangent at one point."""
        return cls(point[None, :], np.ones(1))


@dataclass
class Solution:
    """A solver's answer in the letters of the declared program.

    Attributes
    ----------
    values : dict of str to array
        The declared variables.
    multipliers : dict of str to array
        One entry a declared constraint, empty if the solver gives none; inequality multipliers
        are nonnegative, and belong to the minimisation form of the program.
    status : Status
    iterations : int
    trace : Trace
    message : str
        The solver's own words.
    gradient : (n,) array or None
        ∇F at the values, if the solver has it from `BoxLineQP.gradient` itself.
    optima : tuple of Optimum
        The different ends of a search from several starts, the best first.
    witness : Witness or Proof or None
        Where the solver's own bound comes from.
    """

    values: Values
    status: Status
    multipliers: Values = field(default_factory=dict)
    iterations: int = 0
    trace: Trace = field(default_factory=Trace)
    message: str = ""
    gradient: Array | None = None
    optima: tuple[Optimum, ...] = ()
    witness: Witness | Proof | None = None


@dataclass(frozen=True, eq=False)
class Result:
    """The answer to one problem with one formulation; see `solve`.

    Attributes
    ----------
    formulation : Formulation
    values, multipliers : dict of str to array
        Declared variables, and one multiplier a declared constraint.
    objective : float
        In the formulation's own sense, as declared.
    status : Status
    solver : str
    seconds : float
        The whole call, from checking to reading back.
    residual : float
        KKT residual in the natural unit of the gradient (for a linear program: the duality gap, or
        the violation of a constraint if that is more).
    iterations : int
    trace : Trace
    message : str
        The solver's own words, if any.
    optima : tuple of Optimum
        The different ends of a search from several starts, the best first; see `Optimum`.
    """

    formulation: Any
    values: Values
    multipliers: Values
    objective: float
    status: Status
    solver: str
    seconds: float
    residual: float
    iterations: int
    trace: Trace
    message: str
    optima: tuple[Optimum, ...] = field(repr=False)
    _classify: Callable[[], Classifier] = field(repr=False)
    _certify: Callable[[], Certificate] = field(repr=False)

    @cached_property
    def classifier(self) -> Classifier:
        """The classifier these values define."""
        return self._classify()

    @cached_property
    def certificate(self) -> Certificate:
        """What these values prove; computed when first read."""
        return self._certify()

    def __repr__(self) -> str:
        return (
            f"Result({self.formulation}, objective={self.objective:.6g}, status={self.status}, "
            f"solver={self.solver!r}, seconds={self.seconds:.3g})"
        )
