"""The relevance vector machine as a baseline."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt.foundation import checks
from indefinite_opt.modeling import Classifier
from indefinite_opt.problem import KernelProblem
from indefinite_opt.studies.baselines.baseline import Baseline
from indefinite_opt.studies.baselines.relevance import RelevanceFit, fit_relevance


@dataclass(frozen=True, eq=False, kw_only=True)
class RelevanceClassifier(Classifier):
    """A classifier whose values are log odds, P(+1 | x) = σ(f(x)), with its `RelevanceFit`."""

    fit: RelevanceFit = field(repr=False)

    def probabilities(self, K_new: ArrayLike) -> NDArray[np.float64]:
        """P(classes[1] | x) of m new points, (m,), from their (m, n) kernel rows."""
        from scipy.special import expit

        return expit(self.decision_function(K_new))


@dataclass(frozen=True)
class RVM(Baseline):
    """Sparse Bayesian logistic regression on the columns of K, which may have any inertia.

        P(y = 1 | x) = σ(Σ_i w_i k(x_i, x) + b),   w_i ~ N(0, 1/α_i),   b ~ N(0, 1/α_0)

    The α maximise the marginal likelihood of the labels, so that no parameter needs
    cross-validation.

    Parameters
    ----------
    constant : bool
        Whether the model has the offset b.
    max_iter : int
        Largest number of changes of α in a search; `fit.status` of the classifier says whether it
        sufficed.
    tol : float
        At the end no change of one α gains more than this in log marginal likelihood, in nats.

    Examples
    --------
    >>> problem = KernelProblem.from_data([[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1], "linear")
    >>> classifier = RVM().fit(problem)
    >>> classifier.support, classifier.predict([[-2.0, -1.0, 1.0, 2.0]]), classifier.fit.status.name
    (array([0]), array([1]), 'SOLVED')
    """

    reference: ClassVar[str] = "Tipping (2001), section 3; Tipping & Faul (2003), section 4"

    constant: bool = field(default=True, repr=False)
    max_iter: int = field(default=10_000, repr=False)
    tol: float = field(default=1e-6, repr=False)

    def __post_init__(self) -> None:
        checks.switch("constant", self.constant)
        checks.whole("max_iter", self.max_iter)
        checks.positive("tol", self.tol)

    def fit(self, problem: KernelProblem, seed: int = 0) -> RelevanceClassifier:
        """Train; nothing is random. Raises `ProblemError` if the kernel matrix is never formed."""
        K, y = problem.K, problem.y
        fit = fit_relevance(K, y, constant=self.constant, max_iter=self.max_iter, tol=self.tol)
        return RelevanceClassifier(fit.coef, fit.offset, problem.classes, fit=fit)
