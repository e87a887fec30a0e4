"""The relevance vector machine as a baseline."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt.errors import ParameterError
from indefinite_opt.modeling.classifier import Classifier
from indefinite_opt.modeling.formulation import check_positive, check_switch
from indefinite_opt.problem.kernel_problem import KernelProblem
from indefinite_opt.studies.baselines.baseline import Baseline
from indefinite_opt.studies.baselines.relevance import RelevanceFit, fit_relevance, sigmoid

__all__ = ["RVM", "RelevanceClassifier"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class RelevanceClassifier(Classifier):
    """A classifier whose values are log odds: P(+1 | x) = σ(f(x)).

    Attributes
    ----------
    fit : RelevanceFit
        Precisions, log evidence, status and trace of the search.
    """

    fit: RelevanceFit = field(repr=False)

    @property
    def support(self) -> NDArray[np.intp]:
        """Indices of the relevance vectors: deleted functions have a weight of exactly 0."""
        return np.flatnonzero(self.coef)

    def probabilities(self, K_new: ArrayLike) -> Array:
        """P(classes[1] | x) of m new points, (m,), at the mode of the weights.

        Parameters
        ----------
        K_new : (m, n) array_like
            k(new point, training point).

        Raises
        ------
        ProblemError
            For a wrong shape or non-finite values.
        """
        return sigmoid(self.decision_function(K_new))


@dataclass(frozen=True)
class RVM(Baseline):
    """Sparse Bayesian logistic regression on the columns of K, of any inertia.

        P(y = 1 | x) = σ(Σ_i w_i k(x_i, x) + b),   w_i ~ N(0, 1/α_i),   b ~ N(0, 1/α_0)

    The α maximise the marginal likelihood of the labels, see `rvm`; nothing is left to choose by
    cross-validation.

    Parameters
    ----------
    constant : bool
        Whether there is a b.
    max_iter : int
        Most changes of an α, positive. At the limit the best α so far are used; `fit.status` of
        the classifier tells.
    tol : float
        Nats of log marginal likelihood that no change of one α promises at the end.

    Raises
    ------
    ParameterError
        For a parameter of the wrong kind or out of range.

    References
    ----------
    Tipping (2001), section 3; Tipping & Faul (2003), section 4.

    Examples
    --------
    >>> problem = KernelProblem.from_data([[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1], "linear")
    >>> classifier = RVM().fit(problem)
    >>> classifier.support, classifier.predict([[-2.0, -1.0, 1.0, 2.0]])
    (array([0]), array([1]))
    >>> classifier.fit.status.name
    'SOLVED'
    """

    reference: ClassVar[str] = "Tipping (2001), section 3; Tipping & Faul (2003), section 4"

    constant: bool = field(default=True, repr=False)
    max_iter: int = field(default=10_000, repr=False)
    tol: float = field(default=1e-6, repr=False)

    def __post_init__(self) -> None:
        check_switch("constant", self.constant)
        check_positive("max_iter", self.max_iter)
        if not isinstance(self.max_iter, int | np.integer):
            raise ParameterError("max_iter", "a positive integer", repr(self.max_iter))
        check_positive("tol", self.tol)

    def fit(self, problem: KernelProblem, seed: int = 0) -> RelevanceClassifier:
        """Train; nothing is random, so `seed` changes nothing.

        Raises
        ------
        ProblemError
            If the rows of K are computed on demand: all of K is read again and again.
        """
        fit = fit_relevance(
            problem.K, problem.y, constant=self.constant, max_iter=self.max_iter, tol=self.tol
        )
        return RelevanceClassifier(fit.coef, fit.offset, problem.classes, fit=fit)
