"""What a solver returns."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from indefinite_opt.foundation import Array, Values


class Status(enum.Enum):
    """Why a solver stopped; the value is a sentence.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> status = iopt.solve(problem, iopt.SVMDual()).status
    >>> print(f"{status}: {status.value}")
    solved: converged
    """

    SOLVED = "converged"
    INACCURATE = "stopped because rounding or its own limits prevent further progress"
    MAX_ITER = "stopped at the iteration limit with the best point so far"
    TIME_LIMIT = "stopped at the time limit with the best point so far"
    INTERRUPTED = "interrupted; the best point so far is kept"

    def __str__(self) -> str:
        return self.name.lower()


class Iterate(NamedTuple):
    """A point that a solver has visited; see `solve` with `record=True`.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> result = iopt.solve(problem, iopt.SVMDual(C=1.0), solver="smo", record=True)
    >>> [(each.step, each.values["alpha"]) for each in result.trace.iterates][:2]
    [('start', array([0., 0.])), ('pair step', array([0.5, 0.5]))]
    """

    step: str
    """What has led to the point, such as "pair step" or "Newton step"; "cut" for the centre at
    which a cutting plane is made."""
    values: Values
    """The declared variables."""
    objective: float
    """In the declared sense."""
    gradient: Array | None = None
    """∇F of the minimisation form, (n,), where a cut is made."""


@dataclass
class Trace:
    """Progress of a solver, one entry per report.

    Attributes
    ----------
    seconds, iterations, objective, residual, bound, calls, open_nodes : lists of equal length
        Time since the start; iterations so far, in branch and bound nodes; objective in the
        declared sense; the measure that the solver stops by (a KKT residual, or a relative gap if
        it has a bound; nan if none); its bound on the optimal value (nan if none); evaluations of
        the objective (0 if they are not counted); and in branch and bound the nodes that are still
        to be bounded or divided (None elsewhere).
    iterates : list of Iterate
        The point of each report if the call was made with `record=True`, else empty.

    Examples
    --------
    >>> trace = Trace()
    >>> trace.add(seconds=0.1, iterations=5, objective=2.0, residual=1e-3, bound=2.5)
    >>> len(trace), trace.gap
    (1, [0.5])
    """

    seconds: list[float] = field(default_factory=list)
    iterations: list[int] = field(default_factory=list)
    objective: list[float] = field(default_factory=list)
    residual: list[float] = field(default_factory=list)
    bound: list[float] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    open_nodes: list[int | None] = field(default_factory=list)
    iterates: list[Iterate] = field(default_factory=list)

    def add(
        self,
        seconds: float,
        iterations: int,
        objective: float,
        residual: float,
        bound: float = np.nan,
        calls: int = 0,
        open_nodes: int | None = None,
        iterate: Iterate | None = None,
    ) -> None:
        """Append one entry."""
        self.seconds.append(seconds)
        self.iterations.append(iterations)
        self.objective.append(objective)
        self.residual.append(residual)
        self.bound.append(bound)
        self.calls.append(calls)
        self.open_nodes.append(open_nodes)
        if iterate is not None:
            self.iterates.append(iterate)

    @property
    def gap(self) -> list[float]:
        """|objective - bound|, nan without a bound."""
        return [abs(a - b) for a, b in zip(self.objective, self.bound, strict=True)]

    def __len__(self) -> int:
        return len(self.seconds)

    def __repr__(self) -> str:
        if not self.seconds:
            return "Trace(no reports)"
        return (
            f"Trace({len(self)} reports, seconds={self.seconds[-1]:.3g}, "
            f"iterations={self.iterations[-1]}, objective={self.objective[-1]:.6g})"
        )


@dataclass(frozen=True, eq=False)
class Optimum:
    """A point at which descents of a search from several starts have ended.

    Attributes
    ----------
    objective : float
        In the declared sense.
    count : int
        How many descents ended there.
    values : dict of str to array
        The declared variables; empty for all but the best optima if there are many.

    Examples
    --------
    Two local optima of the same problem (Haasdonk 2005, Figure 3), at 2/3 and 32/39:

    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem.from_dataset(iopt.datasets.haasdonk_figure3())
    >>> result = iopt.solve(problem, iopt.SVMDual(C=10.0), seed=0)
    >>> [round(optimum.objective, 6) for optimum in result.optima]
    [0.820513, 0.666667]
    """

    objective: float
    count: int
    values: Values = field(repr=False)


@dataclass(frozen=True, eq=False)
class Witness:
    """Points whose tangents prove a lower bound on a convex F, which can be recomputed from them.

    Attributes
    ----------
    points : (m, n) array
    shares : (m,) array
        Nonnegative weights of the tangents; their sum is 1.
    weights : (n,) array, optional
        For a single point x, at which F is a minimum over kernels: the point where the tangent of
        the program with the kernel K*(x) proves a sharper bound.
    """

    points: Array
    shares: Array
    weights: Array | None = None

    @classmethod
    def of(cls, point: Array, weights: Array | None = None) -> Witness:
        """The tangent at one point, or at some weights that of the program with its kernel."""
        return cls(point[None, :], np.ones(1), weights)


@dataclass
class Solution:
    """A solver's answer, in the variables of the declared program.

    Attributes
    ----------
    values : dict of str to array
        The declared variables.
    multipliers : dict of str to array
        One entry per declared constraint, empty if the solver returns none; inequality multipliers
        are nonnegative and belong to the minimisation form of the program.
    status : Status
    iterations : int
    trace : Trace
    message : str
        The solver's account of its work.
    gradient : (n,) array or None
        ∇F at the values, if the solver has computed it by `PairedQP.gradient` at this very point.
        Results do not rely on it, but compute the gradient again.
    optima : tuple of Optimum
        Where the descents of a search from several starts ended, the best first.
    witness : object
        Data from which the solver's own bound can be recomputed, such as a `Witness` or the proof
        of a branch and bound; None if there is no bound.
    offset : float or None
        b of the classifier, if the algorithm determines it; else the values define it.

    Examples
    --------
    >>> answer = Solution({"alpha": np.array([0.5, 0.5])}, Status.SOLVED, message="converged")
    >>> print(answer.status, answer.values["alpha"])
    solved [0.5 0.5]
    """

    values: Values
    status: Status
    multipliers: Values = field(default_factory=dict)
    iterations: int = 0
    trace: Trace = field(default_factory=Trace)
    message: str = ""
    gradient: Array | None = None
    optima: tuple[Optimum, ...] = ()
    witness: object = None
    offset: float | None = None
