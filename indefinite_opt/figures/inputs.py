"""The attributes that figures read from results, brackets and comparisons, as protocols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from indefinite_opt.modeling import Classifier, Formulation
from indefinite_opt.problem import KernelProblem
from indefinite_opt.solvers import Trace

if TYPE_CHECKING:
    import pandas as pd


class ResultLike(Protocol):
    """The solution of a formulation; see `indefinite_opt.workflow.Result`.

    Examples
    --------
    A function that asks for a protocol takes every object with these attributes:

    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> result: ResultLike = iopt.solve(problem, iopt.SVMDual(C=1.0))
    >>> result.solver
    'multistart'
    """

    @property
    def formulation(self) -> Formulation: ...
    @property
    def solver(self) -> str: ...
    @property
    def trace(self) -> Trace: ...
    @property
    def classifier(self) -> Classifier: ...


class BracketLike(Protocol):
    """A lower and an upper bound on an optimal value; see `indefinite_opt.bound`.

    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[0.0, 2.0], [2.0, 0.0]], [1, -1])
    >>> bracket: BracketLike = iopt.bound(problem, iopt.SVMDual(C=1.0))
    >>> bracket.title, bracket.relative_gap < 1e-6
    ('SVMDual on problem', True)
    """

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
    """Formulations cross-validated on one problem; see `indefinite_opt.compare`.

    >>> import indefinite_opt as iopt
    >>> data = iopt.datasets.checkerboard(n=40, cells=2)
    >>> problem = iopt.KernelProblem.from_data(data.X, data.y, "gaussian")
    >>> comparison: ComparisonLike = iopt.compare(problem, ["SVMDual"], folds=2)
    >>> [str(formulation) for formulation in comparison.formulations]
    ['SVMDual']
    """

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
