"""Classifiers of two classes each, which together decide between several."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import ParameterError
from indefinite_opt.estimators.training_data import Rows, TrainingData
from indefinite_opt.foundation import Array, Values, cached_property
from indefinite_opt.modeling import Classifier
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import Certificate, Declaration
from indefinite_opt.workflow import Result
from indefinite_opt.workflow.certificates import verify

MULTICLASS = ("ovo", "ovr")


def pairings(scheme: str, bounds: Sequence[int]) -> list[tuple[Rows, Rows]]:
    """The negative and the positive class of every machine, as ranges of sorted points.

    "ovo" is one versus one, in the order (0, 1), (0, 2), ..., (1, 2), ..., and "ovr" one versus the
    rest; two classes always make a single machine. `bounds` says where each class begins in the
    sorted points, and their number.

    >>> pairings("ovr", [0, 2, 3, 7])[1]
    (((0, 2), (3, 7)), ((2, 3),))
    """
    classes = list(itertools.pairwise(bounds))
    if len(classes) == 2 or scheme == "ovo":
        return [((one,), (other,)) for one, other in itertools.combinations(classes, 2)]
    return [(tuple(c for c in classes if c != one), (one,)) for one in classes]


@dataclass(frozen=True, eq=False)
class Machine:
    """A classifier of two classes, whose points are ranges of the sorted training points."""

    negative: Rows
    positive: Rows
    fitted: Any
    """A classifier whose values are positive for the positive class."""
    formulation: Declaration | None = None
    """What was solved; None for a baseline."""
    values: Values | None = None
    """The solution."""
    steps: int = 1
    """Iterations of the solver, at least 1."""
    result: Result | None = None
    """All that a solver returned, without its problem, which would keep the kernel matrix."""

    @classmethod
    def of(cls, negative: Rows, positive: Rows, result: Result) -> Machine:
        """The machine of a result, of which all is kept but the problem."""
        light = replace(result, problem=None)  # type: ignore[arg-type]
        return cls(
            negative, positive, result.classifier.unchanged(), result.formulation, result.values,
            max(result.iterations, 1), light,
        )  # fmt: skip

    @property
    def indices(self) -> NDArray[np.intp]:
        """The points of the machine, in ascending order."""
        return np.concatenate([np.arange(*part) for part in sorted(self.negative + self.positive)])

    @property
    def is_linear(self) -> bool:
        """Whether decision values are sums of kernel values with coefficients."""
        return isinstance(self.fitted, Classifier) and self.fitted.change is None

    def certificate(self, problem: KernelProblem) -> Certificate:
        """What is proved of the solution, on the problem of the machine."""
        if self.result is not None:
            return replace(self.result, problem=problem).certificate
        return verify(problem, self.solved, self.values or {})

    @property
    def solved(self) -> Declaration:
        """The formulation; `ParameterError` for a baseline."""
        if self.formulation is None:
            raise ParameterError(
                "formulation", "a formulation, as certificates are about the optimum of one",
                "a baseline",
            )  # fmt: skip
        return self.formulation


@dataclass(frozen=True, eq=False)
class Machines:
    """All machines of an estimator, with the training data they share, sorted by class."""

    data: TrainingData
    members: list[Machine]

    @cached_property
    def coef(self) -> Array | None:
        """Coefficients of all points in every machine, (machines, n); None if there are none."""
        if not all(machine.is_linear for machine in self.members):
            return None
        coef = np.zeros((len(self.members), self.data.size))
        for row, machine in zip(coef, self.members, strict=True):
            row[machine.indices] = machine.fitted.coef
        return coef

    @cached_property
    def support(self) -> NDArray[np.intp]:
        """Sorted points that some machine needs."""
        needed = np.zeros(self.data.size, dtype=bool)
        for machine in self.members:
            needed[machine.indices[machine.fitted.support]] = True
        return np.flatnonzero(needed)

    def decisions(self, X: Any) -> Array:
        """Decision values of new points in every machine, (m, machines)."""
        coef = self.coef
        if coef is not None:
            # Coefficients that are zero up to the accuracy of a solver count here, too.
            used = np.flatnonzero(coef.any(axis=0))
            offsets = np.array([machine.fitted.offset for machine in self.members])
            return self.data.rows(X, used) @ coef[:, used].T + offsets
        rows = self.data.rows(X)
        among = None
        if any(getattr(m.fitted, "new_points", "") == "joint" for m in self.members):
            among = self.data.among(X)
        values = [m.fitted.decision_function(rows[:, m.indices], among) for m in self.members]
        return np.column_stack(values)


def votes(values: Array, k: int, break_ties: bool = True) -> Array:
    """Votes of one-versus-one machines for k classes, (m, k).

    The decision values of the pairs, (m, k(k - 1)/2), are positive for the second class. Unless
    ties stay, classes with as many votes differ by less than a vote according to the sums of their
    decision values, as in scikit-learn.

    >>> votes(np.array([[-1.0, -2.0, 5.0]]), 3, break_ties=False)
    array([[2., 0., 1.]])
    """
    counted, confidence = np.zeros((2, len(values), k))
    for value, (i, j) in zip(values.T, itertools.combinations(range(k), 2), strict=True):
        counted[:, i] += value <= 0.0
        counted[:, j] += value > 0.0
        confidence[:, i] -= value
        confidence[:, j] += value
    if not break_ties:
        return counted
    # Monotonic, and always less than half a vote.
    return counted + confidence / (3.0 * (np.abs(confidence) + 1.0))
