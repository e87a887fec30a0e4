"""A support vector classifier that chooses C by cross-validation along the path of solutions."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import BaseCrossValidator, check_cv

from indefinite_opt.errors import ParameterError
from indefinite_opt.estimators.fitting import all_or_nothing
from indefinite_opt.estimators.machines import Machine, pairings
from indefinite_opt.estimators.parameters import KernelLike
from indefinite_opt.estimators.svc import IndefiniteSVC
from indefinite_opt.estimators.training_data import square
from indefinite_opt.formulations import SVMDual
from indefinite_opt.foundation import Array, checks, refuse_mask
from indefinite_opt.solvers import Solver
from indefinite_opt.workflow import solve_path


class IndefiniteSVCCV(IndefiniteSVC):
    """`IndefiniteSVC` with the C of the best score in cross-validation.

    In each fold the kernel is computed once, and every pair of classes is solved along all values
    of C in ascending order, each from the solution before.

    Parameters
    ----------
    Cs : int or list of float
        Values of C; a number stands for as many from 1e-4 to 1e4, evenly spaced in logarithm.
    cv : int, cross-validation generator or iterable, optional
        Folds, as in scikit-learn; by default five stratified ones.
    scoring : str or callable, optional
        A scorer of scikit-learn; by default accuracy.
    kernel, degree, gamma, coef0, probability, tol, class_weight, max_iter, \
decision_function_shape, break_ties, random_state, multiclass, solver
        As in `IndefiniteSVC`.

    Attributes
    ----------
    C_ : float
        The value with the best mean score, the smallest of several.
    Cs_ : (m,) array
        All values, ascending.
    scores_ : (folds, m) array

    Examples
    --------
    >>> import numpy as np
    >>> from indefinite_opt import IndefiniteSVCCV
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> y = (X[:, 0] > 0.0).astype(int)
    >>> search = IndefiniteSVCCV(Cs=[0.01, 1.0, 100.0], kernel="linear").fit(X, y)
    >>> search.scores_.shape, search.C_
    ((5, 3), 1.0)
    """

    Cs: Any
    cv: Any
    scoring: Any

    def __init__(
        self,
        *,
        Cs: int | ArrayLike = 10,
        cv: int | BaseCrossValidator | Iterable[Any] | None = None,
        scoring: str | Callable[..., float] | None = None,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        probability: bool = False,
        tol: float = 1e-8,
        class_weight: dict[Any, float] | str | None = None,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: int | np.random.RandomState | None = None,
        multiclass: str = "ovo",
        solver: str | Solver[Any] | None = None,
        cache_size: float = 200.0,
        shrinking: bool = True,
        verbose: bool = False,
    ) -> None:
        self._keep(locals())

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose C by cross-validation and train with it on all points; see `IndefiniteSVC`.

        Where points or classes have weights, the scores of the folds are weighted, too.
        """
        points, labels, copies, weights = self._checked(X, y, sample_weight)
        self.Cs_ = self._values_of_C()
        scorer, scores = check_scoring(self, scoring=self.scoring), []
        for train, test in check_cv(self.cv, labels, classifier=True).split(points, labels):
            inner, outer = points[train], points[test]
            if self._precomputed:
                inner, outer = square("K", points)[np.ix_(train, train)], outer[:, train]
            path = self._path(inner, labels[train], copies[train], weights[train])
            weighted = not np.all(weights == 1.0)
            options = {"sample_weight": weights[test]} if weighted else {}
            scores.append([scorer(fitted, outer, labels[test], **options) for fitted in path])
        self.scores_ = np.array(scores)
        self.C_ = float(self.Cs_[np.argmax(self.scores_.mean(axis=0))])
        return super().fit(X, y, sample_weight)

    def _path(self, X: Any, y: Any, copies: Array, weights: Array) -> list[IndefiniteSVC]:
        """An estimator for every value of C, fitted to some of the points."""
        base = self._with_C(float(self.Cs_[0])).set_params(class_weight=None)
        base._checked(X, y, copies)
        data, bounds = base._sorted(X, y, copies, weights)
        kernel = data.kernel_matrix(remembered=False)
        members: list[list[Machine]] = [[] for _ in self.Cs_]
        for negative, positive in pairings(self.multiclass, bounds):
            problem = kernel.problem(negative, positive)
            formulations = [
                base._weighted(SVMDual(C=float(C)), negative, positive) for C in self.Cs_
            ]
            results = solve_path(
                problem, formulations, self.solver or "smo", self.tol, max_iter=self._step_limit()
            )
            for machines, result in zip(members, results, strict=True):
                machines.append(Machine.of(negative, positive, result))
        path = []
        for C, machines in zip(self.Cs_, members, strict=True):
            fitted = copy.copy(base).set_params(C=float(C))
            fitted._settle(data, bounds, machines)
            path.append(fitted)
        return path

    def _with_C(self, C: float) -> IndefiniteSVC:
        own = {name: value for name, value in self.get_params(deep=False).items()
               if name not in ("Cs", "cv", "scoring")}  # fmt: skip
        return IndefiniteSVC(C=C, **{name: clone(value, safe=False) for name, value in own.items()})

    def _uncalibrated(self) -> IndefiniteSVC:
        return self._with_C(self.C_).set_params(probability=False, class_weight=None)

    def _method(self) -> SVMDual:
        return SVMDual(C=self.C_)

    def _values_of_C(self) -> Array:
        if checks.is_whole(self.Cs):
            checks.whole("Cs", self.Cs)
            return np.geomspace(1e-4, 1e4, self.Cs)  # as in `LogisticRegressionCV`
        refuse_mask("Cs", self.Cs, "an array without a mask")
        values = np.unique(np.asarray(self.Cs, dtype=np.float64))
        if values.size == 0 or not np.all((values > 0.0) & np.isfinite(values)):
            raise ParameterError("Cs", "a positive integer or positive numbers", repr(self.Cs))
        return values
