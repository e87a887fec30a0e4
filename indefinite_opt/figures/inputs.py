"""What figures read: attributes of results, paths, brackets and comparisons; scores of tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

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
    def has_classifier(self) -> bool: ...
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


class PathLike(Protocol):
    """Formulations solved in sequence; see `indefinite_opt.solve_path`."""

    @property
    def varied(self) -> Sequence[str]: ...
    @property
    def titles(self) -> Sequence[str]: ...
    @property
    def table(self) -> Sequence[Mapping[str, Any]]: ...
    def test_error(self, X: Any, y: Any) -> Sequence[float]: ...


class ComparisonLike(Protocol):
    """Methods cross-validated on one problem; see `indefinite_opt.compare`."""

    @property
    def problem(self) -> KernelProblem: ...
    @property
    def formulations(self) -> Sequence[Formulation]: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def scores(self) -> Sequence[Score]: ...
    @property
    def chosen_rows(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def summary(self) -> pd.DataFrame: ...
    @property
    def test_per_train(self) -> float: ...
    @property
    def chosen_by_shown_scores(self) -> bool: ...
    @property
    def ends(self) -> Sequence[tuple[str, str]]: ...
    @property
    def fitted(self) -> Sequence[ResultLike]: ...


class Score(NamedTuple):
    """A metric of predictions, and how it is written."""

    name: str
    """The column of tables of numbers."""
    title: str
    percent: bool = False
    larger_is_better: bool = True

    @property
    def unit(self) -> float:
        """By what numbers are multiplied."""
        return 100.0 if self.percent else 1.0

    @property
    def head(self) -> str:
        """The title with the unit.

        >>> Score("accuracy", "accuracy", True).head
        'accuracy (%)'
        """
        return f"{self.title}{' (%)' * self.percent}"

    def text(self, value: float, spread: float | None = None) -> str:
        """The value with its spread and unit.

        >>> Score("accuracy", "accuracy", True).text(0.954, 0.012), Score("r2", "R²").text(0.5)
        ('95.4 ± 1.2 %', '0.500')
        """
        return f"{self.number(value, spread)}{' %' * self.percent}"

    def number(self, value: float, spread: float | None = None) -> str:
        """The value with its spread, in its unit.

        >>> Score("accuracy", "accuracy", True).number(0.954, 0.012)
        '95.4 ± 1.2'
        """
        form = ".1f" if self.percent else ".3f" if self.name in ("r2", "auc") else ".4g"
        around = "" if spread is None else f" ± {self.unit * spread:{form}}"
        return f"{self.unit * value:{form}}{around}"


ACCURACY = Score("accuracy", "accuracy", True)
AUC = Score("auc", "AUC")
REJECTED = Score("rejected", "rejected", True, larger_is_better=False)
REGRESSION = (
    Score("r2", "R²"),
    Score("rmse", "RMSE", larger_is_better=False),
    Score("mae", "MAE", larger_is_better=False),
)

SCORES = {score.name: score for score in (ACCURACY, AUC, REJECTED, *REGRESSION)}
"""The scores of all tasks by name."""


def scores_of(problem: KernelProblem) -> tuple[Score, ...]:
    """The scores of a task, the one that ranks methods first.

    For one class with labelled outliers the area under the ROC curve, and the share of the test
    points of the class that is rejected, which alone is known without labels.

    >>> [score.name for score in scores_of(KernelProblem([[1.0, 0.0], [0.0, 1.0]]))]
    ['rejected']
    """
    if problem.task == "regression":
        return REGRESSION
    if problem.task == "one class":
        several = problem.classes.size > 1
        return (AUC, REJECTED) if several else (REJECTED,)
    return (ACCURACY,)
