"""Several classes by classifiers of two: one against one, or one against the rest."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import ParameterError
from indefinite_opt.estimators.training_data import TrainingData
from indefinite_opt.foundation import Array, Values, cached_property
from indefinite_opt.modeling import Classifier
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import Certificate, Declaration, DenseGram
from indefinite_opt.workflow import Result
from indefinite_opt.workflow.certificates import verify

MULTICLASS = ("ovo", "ovr")


class BinaryProblem(NamedTuple):
    """The numbers of the classes that one machine tells apart."""

    negative: tuple[int, ...]
    positive: tuple[int, ...]

    def name(self, classes: list[Any]) -> tuple[Any, Any]:
        """The labels of both classes, or the label of one and "rest"."""
        if len(self.negative) == 1:
            return classes[self.negative[0]], classes[self.positive[0]]
        return classes[self.positive[0]], "rest"


def divisions(scheme: str, k: int) -> list[BinaryProblem]:
    """The divisions of k classes, of which two always need a single machine.

    >>> [tuple(division) for division in divisions("ovo", 3)]
    [((0,), (1,)), ((0,), (2,)), ((1,), (2,))]
    >>> [tuple(division) for division in divisions("ovr", 3)]
    [((1, 2), (0,)), ((0, 2), (1,)), ((0, 1), (2,))]
    """
    if k == 2 or scheme == "ovo":
        return [BinaryProblem((i,), (j,)) for i, j in itertools.combinations(range(k), 2)]
    return [BinaryProblem(tuple(i for i in range(k) if i != j), (j,)) for j in range(k)]


@dataclass(frozen=True, eq=False)
class Training:
    """Training points sorted by class, so that every class is a range of points."""

    data: TrainingData
    places: NDArray[np.intp]
    """Where each point was among those that were given to `fit`, (n,)."""
    bounds: list[int]
    """Where each class begins, and n."""
    weights: Array | None
    """Weight of each point times that of its class, (n,); None if all are 1."""
    class_weights: Array
    """(k,)."""

    def indices(self, division: BinaryProblem) -> NDArray[np.intp]:
        """The points of a division, ascending."""
        kept = sorted(division.negative + division.positive)
        return np.concatenate([np.arange(*self.bounds[c : c + 2]) for c in kept])

    def part(self, K: Array, division: BinaryProblem) -> tuple[Array, Array]:
        """The kernel matrix of the points of a division, and their labels of -1 and +1."""
        kept = sorted(division.negative + division.positive)
        ranges = [slice(*self.bounds[c : c + 2]) for c in kept]
        signs = [1.0 if c in division.positive else -1.0 for c in kept]
        labels = np.repeat(signs, [each.stop - each.start for each in ranges])
        if labels.size == len(K):
            return K, labels
        return np.block([[K[one, other] for other in ranges] for one in ranges]), labels

    def gram(self) -> DenseGram:
        """The kernel matrix of all points."""
        return DenseGram.of_own(self.data.gram())

    def problem(self, gram: DenseGram, division: BinaryProblem) -> KernelProblem:
        """The problem of a division, for the kernel matrix of all points."""
        K, labels = self.part(gram.matrix, division)
        own = gram if K is gram.matrix else DenseGram(K)
        return KernelProblem.from_gram(own, labels, definiteness=self.data.definiteness())


@dataclass(frozen=True, eq=False)
class Machine:
    """A trained classifier of two classes, without its problem, which holds the kernel matrix."""

    division: BinaryProblem
    fitted: Any
    """A classifier of kernel rows, whose values are positive for the positive class."""
    formulation: Declaration | None = None
    """What was solved; None for a baseline."""
    values: Values | None = None
    """The solution."""
    steps: int = 1
    """Iterations of the solver, at least 1."""
    result: Result | None = None
    """What the solver returned, where `solve` was called."""

    @classmethod
    def of(cls, division: BinaryProblem, result: Result) -> Machine:
        """The machine of a result."""
        light = replace(result, problem=None)  # type: ignore[arg-type]
        return cls(
            division, result.classifier.unchanged(), result.formulation, result.values,
            max(result.iterations, 1), light,
        )  # fmt: skip

    def certificate(self, problem: KernelProblem) -> Certificate:
        """The certificate of the solution, for the problem of the machine."""
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
    """All machines of an estimator, with the training points they share."""

    training: Training
    members: list[Machine]

    @property
    def are_pairs(self) -> bool:
        """Whether there are several, each of which tells two classes apart."""
        single = all(len(machine.division.negative) == 1 for machine in self.members)
        return single and len(self.members) > 1

    @cached_property
    def coef(self) -> Array | None:
        """Coefficients of all points in every machine, (machines, n); None if there are none."""
        fitted = [machine.fitted for machine in self.members]
        if not all(isinstance(each, Classifier) and each.change is None for each in fitted):
            return None
        coef = np.zeros((len(self.members), self.training.places.size))
        for row, machine in zip(coef, self.members, strict=True):
            row[self.training.indices(machine.division)] = machine.fitted.coef
        return coef

    @property
    def offsets(self) -> Array:
        """Offsets of machines that have coefficients, (machines,)."""
        return np.array([machine.fitted.offset for machine in self.members])

    def decisions(self, X: Any) -> Array:
        """Decision values of new points in every machine, (m, machines)."""
        coef, data = self.coef, self.training.data
        if coef is not None:
            # Coefficients that are zero up to the accuracy of a solver count here, too.
            used = np.flatnonzero(coef.any(axis=0))
            return data.rows(X, used) @ coef[:, used].T + self.offsets
        rows, among = data.rows(X), None
        if any(getattr(machine.fitted, "new_points", "") == "joint" for machine in self.members):
            among = data.among(X)
        places = [self.training.indices(machine.division) for machine in self.members]
        return np.column_stack([
            machine.fitted.decision_function(rows[:, chosen], among)
            for machine, chosen in zip(self.members, places, strict=True)
        ])  # fmt: skip


def votes(values: Array, k: int, break_ties: bool = True) -> Array:
    """Votes of one-against-one machines for k classes, (m, k).

    The decision values of the pairs, (m, k(k - 1)/2), are positive for the second class. With
    `break_ties`, classes with equally many votes differ by less than a vote according to the sums
    of their decision values, as in scikit-learn.

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
