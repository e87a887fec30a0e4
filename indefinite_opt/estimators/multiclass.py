"""The machines of estimators: one for each pair of classes, or a single one."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import ParameterError, ProblemError
from indefinite_opt.estimators.training_data import Matrix, Points, TrainingData, dense
from indefinite_opt.foundation import Array, Values, cached_property, derived, derived_values
from indefinite_opt.modeling import Classifier, PairwiseClassifier
from indefinite_opt.problem import KernelProblem, RowGram
from indefinite_opt.quadratic import Certificate, Declaration, DenseGram, Gram
from indefinite_opt.workflow import Result
from indefinite_opt.workflow.certificates import verify

T = TypeVar("T")


class NoFormulation(ParameterError, AttributeError):
    """A baseline has no certificate; `hasattr` then says so."""


Pair = tuple[int, ...]
"""The numbers of two classes, of which the second one is positive; (0,) without classes."""


CERTIFIED = 1e-6
"""Least tolerance of certificates: that of estimators may be that of steps, in other units."""


@dataclass(frozen=True, eq=False)
class Training:
    """Training points sorted by class, so that every class is a range of points."""

    data: TrainingData
    places: NDArray[np.intp]
    """Where each point was among those that were given to `fit`, (n,)."""
    bounds: list[int]
    """Where each class begins, and n; [0, n] without classes."""
    weights: Array | None
    """Weight of each point times that of its class, (n,); None if all are 1."""
    class_weights: Array
    """(k,)."""

    @property
    def pairs(self) -> list[Pair]:
        """All pairs of classes."""
        return list(itertools.combinations(range(len(self.bounds) - 1), 2))

    def indices(self, pair: Pair) -> NDArray[np.intp]:
        """The points of a pair of classes, ascending."""
        return np.concatenate([np.arange(*self.bounds[c : c + 2]) for c in pair])

    def sizes(self, pair: Pair) -> list[int]:
        """How many points each class of a pair has."""
        return [self.bounds[c + 1] - self.bounds[c] for c in pair]

    def labels(self, pair: Pair) -> Array:
        """-1 and +1 for the points of a pair of classes."""
        return np.repeat([-1.0, 1.0], self.sizes(pair))

    def gram(self, again: bool = False) -> DenseGram:
        """The kernel matrix of all points; `again` says that `fit` has ended."""
        return self.data.gram(again)

    def part(self, gram: Gram, pair: Pair) -> tuple[Gram, Array]:
        """The kernel matrix of a pair of classes, and its labels of -1 and +1."""
        y = self.labels(pair)
        if y.size == gram.n:
            return gram, y
        chosen = self.indices(pair)
        return gram.selected(chosen) if isinstance(gram, DenseGram) else gram.part(chosen), y

    def rows(self, cache_mb: float) -> RowGram:
        """The kernel matrix of all points, of which so many megabytes of rows are kept."""
        data: Any = self.data
        return RowGram(dense(data.data), data.kernel, cache_mb)

    def problem(self, gram: Gram, pair: Pair) -> KernelProblem:
        """The problem of a pair of classes, for the kernel matrix of all points."""
        own, y = self.part(gram, pair)
        return KernelProblem.from_gram(own, y, definiteness=self.data.definiteness())

    def whole(self, gram: Gram, targets: Array | None, task: str) -> KernelProblem:
        """The problem of all points, which knows the kernel and the distances that they have."""
        known = self.data.definiteness()
        problem = KernelProblem.from_gram(gram, targets, task=task, definiteness=known)
        problem.kernel, problem.D = getattr(self.data, "kernel", None), self.data.given_distances
        return problem

    def refuse_unknown_squares(self, method: Any, fitted: Any) -> None:
        """Raise `ProblemError` if a classifier needs k(x, x) of new points that are rows of K."""
        own, diagonal = getattr(fitted, "own", 0.0), getattr(fitted, "diagonal", None)
        if own and diagonal is None and isinstance(self.data, Matrix):
            raise ProblemError(
                "X", f"the same K_ii for all points, as {type(method).__name__} needs k(x, x) of "
                "new points, which rows of kernel values do not have", "several values of K_ii",
                "Fit to points and a kernel, or to distances with metric='precomputed'.",
            )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Machine:
    """A trained classifier of two classes, without its problem, which holds the kernel matrix."""

    pair: Pair
    fitted: Any
    """A classifier of kernel rows, whose values are positive for the second class."""
    formulation: Declaration | None = None
    """What was solved; None for a baseline."""
    values: Values | None = None
    """The solution."""
    steps: int = 1
    """Iterations of the solver, at least 1."""
    result: Result | None = None
    """What the solver returned, where `solve` was called."""

    @classmethod
    def of(cls, pair: Pair, result: Result, steps_before: int = 0) -> Machine:
        """The machine of a result, whose problem has no other use: its matrix is given up."""
        steps = max(result.iterations + steps_before, 1)
        fitted, evidence = result.classifier.unchanged(), result.evidence
        if evidence.formulation is not None:
            evidence = replace(evidence, formulation=evidence.formulation.unsettled)
        light = replace(result, problem=None, evidence=evidence)  # type: ignore[arg-type]
        derived_values(result.problem).clear()  # programs, which refer to the problem
        return cls(pair, fitted, result.formulation, result.values, steps, light)

    def certificate(self, problem: KernelProblem) -> Certificate:
        """The certificate of the solution, for the problem of the machine."""
        if self.result is None:
            return verify(problem, self.solved, self.values or {}, tol=CERTIFIED)
        known = replace(self.result.evidence, tol=max(self.result.evidence.tol, CERTIFIED))
        return replace(self.result, problem=problem, evidence=known).certificate

    @property
    def solved(self) -> Declaration:
        """The formulation; `NoFormulation` for a baseline."""
        if self.formulation is None:
            raise NoFormulation(
                "formulation", "a formulation, as certificates are about the optimum of one",
                "a baseline",
            )  # fmt: skip
        return self.formulation


def is_sum(fitted: Any) -> bool:
    """Whether a classifier is a weighted sum of kernel values k(x_i, x), and a constant."""
    return (
        isinstance(fitted, Classifier)
        and fitted.change is None
        and not (fitted.own or fitted.distances)
    )


@dataclass(frozen=True, eq=False)
class Machines:
    """All machines of an estimator, with the training points they share."""

    training: Training
    members: list[Machine]

    def kept(self, name: str, compute: Callable[[], T]) -> T:
        """What is computed from a matrix that was given, once.

        From points it is computed again, as it would keep the matrices that were made for it.
        """
        return compute() if isinstance(self.training.data, Points) else derived(self, name, compute)

    @property
    def several(self) -> bool:
        """Whether there are more than two classes."""
        return len(self.members) > 1

    @cached_property
    def coef(self) -> Array | None:
        """Coefficients of all points in every machine, (machines, n); None if there are none."""
        fitted = [machine.fitted for machine in self.members]
        if not all(map(is_sum, fitted)):
            return None
        coef = np.zeros((len(self.members), self.training.places.size))
        for row, machine in zip(coef, self.members, strict=True):
            row[self.training.indices(machine.pair)] = machine.fitted.coef
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
        fitted = tuple(machine.fitted for machine in self.members)
        points = tuple(self.training.indices(machine.pair) for machine in self.members)
        classifier = PairwiseClassifier(fitted, points, np.empty(0))
        squares = any(
            getattr(each, "own", 0.0) and getattr(each, "diagonal", None) is None for each in fitted
        )
        among = data.among(X) if squares or classifier.new_points == "joint" else None
        distances = any(getattr(each, "distances", False) for each in fitted)
        rows = data.distances(X) if distances else data.rows(X)
        return classifier.pair_values(rows, among)
