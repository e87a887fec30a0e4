"""The relevance vector machine: one prior precision per weight, chosen by marginal likelihood.

    P(t = 1 | x) = σ(f(x)),   f(x) = Σ_i w_i φ_i(x),   w_i ~ N(0, 1/α_i),   σ(f) = 1/(1 + e⁻ᶠ)
    log L(α) = log p(t | w) - ½ wᵀAw - ½ log|ΦᵀBΦ + A| + ½ log|A|   at the mode of the posterior,

Laplace's approximation with A = diag(α), p = σ(Φw), B = diag(p(1 - p)); α_i = ∞ deletes φ_i. The
search iterates α_i = γ_i/w_i², γ_i = 1 - α_iΣ_ii, Σ the posterior covariance of w ([T01] (16),
(17)). In the regression with targets t̂ = Φw + B⁻¹(t - p) and noise B⁻¹ the gain of the best change
of one α_i follows from s_i = φ_iᵀC₋ᵢ⁻¹φ_i and q_i = φ_iᵀC₋ᵢ⁻¹t̂, C₋ᵢ = B⁻¹ + ΦA⁻¹Φᵀ without φ_i
([TF03] (17)-(25)); at the end no change raises log N(t̂ | 0, C). Other maxima may be better, hence
several starts; and log L is only nearly stationary, as the papers neglect that B depends on α.

.. [T01] Tipping, Sparse Bayesian Learning and the Relevance Vector Machine, JMLR 1, 2001.
.. [TF03] Tipping & Faul, Fast Marginal Likelihood Maximisation for Sparse Bayesian Models, 2003.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt.foundation import Array, checks, one_thread
from indefinite_opt.modeling import Classifier
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import Status
from indefinite_opt.studies.baselines.baseline import Baseline

START_ALPHAS = (np.inf, 1e-6, 1e-4)
"""The searches start with this α for every function scaled to unit length: without any function,
and with prior standard deviations of 1000 and 100, since for a kernel with a large constant part
no single function explains the labels."""

MIN_ALPHA = 1e-12
"""A prior standard deviation of a million; s²/(q² - s) rounds to 0 where B underflows."""

MIN_CHANGES = 20
"""Changes of all α, in which most functions go, before the best single deletion is considered."""


class Laplace(NamedTuple):
    """The posterior mode in units of the prior: Ψ = ΦA^-½, z = A^½w and I + ΨᵀBΨ = LLᵀ."""

    alpha: Array
    Psi: Array
    z: Array
    residual: Array  # t - p
    b: Array  # the diagonal of B
    factor: Array  # L
    log_evidence: float

    @property
    def weights(self) -> Array:
        """w at the mode, (m,)."""
        return self.z / np.sqrt(self.alpha)

    @property
    def factors(self) -> tuple[Array, Array]:
        """s = γ/Σ_ii and q = w/Σ_ii of the functions in use, from αΣ_ii = diag((LLᵀ)⁻¹)."""
        from scipy.linalg import solve_triangular

        rest = np.sum(solve_triangular(self.factor, np.eye(self.z.size), lower=True) ** 2, axis=0)
        return np.maximum(1.0 - rest, 0.0) * self.alpha / rest, self.weights * self.alpha / rest


def laplace(Phi: Array, alpha: Array, y: Array, start: Array) -> Laplace:
    """The mode of the strictly log-concave posterior by Newton's method, O(nm²) per step."""
    from scipy.linalg import cho_solve
    from scipy.special import expit, log_expit

    Psi, z, before, decrement = Phi / np.sqrt(alpha), start * np.sqrt(alpha), np.inf, np.inf

    def log_posterior(z: Array) -> float:
        return float(np.sum(log_expit(y * (Psi @ z))) - 0.5 * z @ z)

    # From a warm start three to ten steps suffice; the limit only guards against rounding.
    for _ in range(100):
        f, value = Psi @ z, log_posterior(z)
        b, residual = expit(f) * expit(-f), y * expit(-y * f)
        factor = np.linalg.cholesky(np.eye(z.size) + (Psi.T * b) @ Psi)
        # Near the mode a full step squares the decrement, until rounding prevents it.
        near = decrement <= 1e-6 * (1.0 - value)
        if decrement <= 1e-20 * (1.0 - value) or (near and decrement >= 0.5 * before):
            break
        gradient = Psi.T @ residual - z
        step = cho_solve((factor, True), gradient)
        before, decrement, length = decrement, float(gradient @ step), 1.0
        # Armijo's rule with a share of 1e-4; relative differences below 1e-12 are rounding.
        floor = value - 1e-12 * (1.0 - value)
        while log_posterior(z + length * step) < floor + 1e-4 * length * decrement:
            length *= 0.5
        z = z + length * step
    value -= float(np.sum(np.log(np.diag(factor))))
    return Laplace(alpha, Psi, z, residual, b, factor, value)


def best_change(alpha: Array, s: Array, q: Array) -> tuple[Array, Array]:
    """The best value of each α, s²/(q² - s) or infinity, and the gain of the change in nats.

    A function adds ½[q²/(α + s) - log(1 + s/α)] to log N(t̂ | 0, C); [TF03] (18), (20), (21).
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        best = np.maximum(np.where(q**2 > s, s**2 / (q**2 - s), np.inf), MIN_ALPHA)
    now, then = (0.5 * (q**2 / (a + s) - np.log1p(s / a)) for a in (alpha, best))
    return best, then - now


class RelevanceFit(NamedTuple):
    """The outcome of the best search; functions that are not in use have the weight 0."""

    coef: Array  # weights of the columns of K, (M,)
    offset: float  # weight of the constant function
    alpha: Array  # for functions of unit length, the constant last; infinite if not in use
    log_evidence: float  # log L(α), in nats
    promise: float  # gain in log N(t̂ | 0, C) by the best change of one α, in nats
    status: Status  # SOLVED if `promise` is within the tolerance, else MAX_ITER
    iterations: int  # number of changes of α in this search


def fit_relevance(
    K: Array, y: Array, *, constant: bool = True, max_iter: int = 10_000, tol: float = 1e-6
) -> RelevanceFit:
    """The best outcome of the searches, each of at most `max_iter` changes of α.

    The functions are the columns of `K`, (n, M), and with `constant` a constant function. At the
    end no change of one α gains more than `tol` nats. A change costs O(nm²) with m functions in
    use.
    """
    X = np.column_stack([K, np.ones(y.size)]) if constant else K
    lengths = np.linalg.norm(X, axis=0) + ~np.any(X, axis=0)  # 1 for a column of zeros
    with one_thread():
        ends = [_search(X / lengths, y, alpha, max_iter, tol) for alpha in START_ALPHAS]
    best = max(ends, key=lambda end: end.log_evidence)
    weights, M = np.append(best.coef / lengths, 0.0), K.shape[1]
    return best._replace(coef=weights[:M], offset=float(weights[M]))


def _search(X: Array, y: Array, start: float, max_iter: int, tol: float) -> RelevanceFit:
    """One search over functions of unit length, all of which start with α = `start`."""
    alpha, weights = np.full(X.shape[1], np.inf), np.zeros(X.shape[1])
    # Of equal functions only one is used, since copies would share a weight for ever.
    signs = np.sign(np.take_along_axis(X, np.argmax(np.abs(X), axis=0)[None], axis=0))
    distinct = np.unique((X * signs).round(12), axis=1, return_index=True)[1]
    alpha[distinct[np.any(X[:, distinct], axis=0)]] = start
    returned = np.zeros(alpha.size, dtype=bool)
    for changes in itertools.count():
        active, idle = np.flatnonzero(np.isfinite(alpha)), np.flatnonzero(np.isinf(alpha))
        mode = laplace(X[:, active], alpha[active], y, weights[active])
        weights[active], weights[idle] = mode.weights, 0.0
        s, q = mode.factors
        best, gains = best_change(mode.alpha, s, q)
        promise = float(np.max(gains, initial=0.0))
        if promise <= tol or changes >= max_iter:
            # For functions not in use s = φᵀC⁻¹φ and q = φᵀC⁻¹t̂, where C⁻¹t̂ = t - p at the mode.
            half = np.linalg.solve(mode.factor, (mode.Psi * mode.b[:, None]).T) @ X[:, idle]
            S = np.maximum(mode.b @ X[:, idle] ** 2 - np.sum(half**2, axis=0), 0.0)
            best, gains = best_change(alpha[idle], S, mode.residual @ X[:, idle])
            promise = float(np.max(gains, initial=promise))
            if promise <= tol or changes >= max_iter:
                break
            k = np.argmax(gains)
            alpha[idle[k]], returned[idle[k]] = best[k], True
            continue
        gamma, k = s / (mode.alpha + s), np.argmax(gains)
        deleted = gamma < 1e-3 * gamma.max()
        # A function that has returned is not deleted again here, lest it come and go forever.
        if changes >= MIN_CHANGES and not deleted.any() and not returned[active[k]]:
            deleted[k] = np.isinf(best[k])
        moved = np.maximum(gamma / np.maximum(mode.weights**2, 1e-300), MIN_ALPHA)
        alpha[active] = np.where(deleted, np.inf, moved)
    status = Status.SOLVED if promise <= tol else Status.MAX_ITER
    return RelevanceFit(weights, 0.0, alpha, mode.log_evidence, promise, status, changes)


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
        self.check_task(problem)
        K, y = problem.K, problem.y
        fit = fit_relevance(K, y, constant=self.constant, max_iter=self.max_iter, tol=self.tol)
        return RelevanceClassifier(fit.coef, fit.offset, problem.classes, fit=fit)
