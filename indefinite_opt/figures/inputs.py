"""The attributes that figures read from results, brackets and comparisons, as protocols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from indefinite_opt.modeling import Classifier, Formulation, PairwiseClassifier
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import Declaration, Trace

if TYPE_CHECKING:
    import pandas as pd


class ResultLike(Protocol):
    """The solution of a formulation; see `indefinite_opt.workflow.Result`."""

    @property
    def formulation(self) -> Declaration: ...
    @property
    def solver(self) -> str: ...
    @property
    def trace(self) -> Trace: ...
    @property
    def classifier(self) -> Classifier | PairwiseClassifier: ...


class BracketLike(Protocol):
    """A lower and an upper bound on an optimal value; see `indefinite_opt.bound`."""

    @property
    def title(self) -> str: ...
    @property
    def trace(self) -> Trace: ...
    @property
    def objective(self) -> float: ...
    @property
    def bound(self) -> float: ...
    @property
    def relative_gap(self) -> float: ...
    @property
    def seconds(self) -> float: ...


class ComparisonLike(Protocol):
    """Formulations cross-validated on one problem; see `indefinite_opt.compare`."""

    @property
    def problem(self) -> KernelProblem: ...
    @property
    def formulations(self) -> Sequence[Formulation]: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def frame(self) -> pd.DataFrame: ...
    @property
    def summary(self) -> pd.DataFrame: ...
    @property
    def test_per_train(self) -> float: ...
    @property
    def fitted(self) -> Sequence[ResultLike]: ...
