"""The relevance vector machine against dense formulas, grids and scipy.

The dense formulas have the whole n × n covariance C = B⁻¹ + ΦA⁻¹Φᵀ, which the module never forms.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.special import expit

import indefinite_opt as iopt
from helpers.problems import random_problem
from indefinite_opt.quadratic.solving.solution import Status
from indefinite_opt.studies.baselines.rvm import (
    RVM,
    Laplace,
    RelevanceFit,
    fit_relevance,
    laplace,
)

Array = NDArray[np.float64]

TIGHT = 1e-12
"""Tolerance in nats of fits whose α are compared: a gain is quadratic in the error of log α, so
that these are good to about 1e-6."""


def functions(n: int = 30, count: int = 4, seed: int = 0) -> tuple[Array, Array, Array]:
    """Functions of unit length, precisions of very different sizes, labels."""
    generator = np.random.default_rng(seed)
    Phi = generator.standard_normal((n, count))
    Phi /= np.linalg.norm(Phi, axis=0)
    y = np.where(3.0 * Phi[:, 0] + 0.5 * generator.standard_normal(n) > 0, 1.0, -1.0)
    return Phi, 10.0 ** generator.uniform(-3, 1, count), y


def mode_of(Phi: Array, alpha: Array, y: Array) -> Laplace:
    return laplace(Phi, alpha, y, np.zeros(alpha.size))


def log_posterior(w: Array, Phi: Array, alpha: Array, y: Array) -> float:
    return float(np.sum(np.log(expit(y * (Phi @ w)))) - 0.5 * np.sum(alpha * w**2))


def regression_view(w: Array, Phi: Array, y: Array) -> tuple[Array, Array]:
    """t̂ and B⁻¹ at weights w; Tipping (2001), below (27)."""
    p = expit(Phi @ w)
    b = p * (1.0 - p)
    return Phi @ w + (0.5 * (1.0 + y) - p) / b, np.diag(1.0 / b)


def log_normal(target: Array, noise: Array, Phi: Array, alpha: Array) -> float:
    """log N(t̂ | 0, B⁻¹ + ΦA⁻¹Φᵀ)."""
    C = noise + (Phi / alpha) @ Phi.T
    squared = target @ np.linalg.solve(C, target)
    size = target.size * np.log(2.0 * np.pi) + np.linalg.slogdet(C)[1]
    return -0.5 * float(size + squared)


def unit(K: Array, constant: bool = True) -> Array:
    """The functions as `RelevanceFit.alpha` means them."""
    X = np.column_stack([K, np.ones(K.shape[0])]) if constant else K
    return X / np.linalg.norm(X, axis=0)


def frozen(fit: RelevanceFit, K: Array, y: Array) -> tuple[Array, Array, Array]:
    """Functions of unit length, and t̂ and B⁻¹ at the weights of a fit."""
    X = unit(K, constant=fit.alpha.size > K.shape[1])
    used = np.isfinite(fit.alpha)
    w = np.append(fit.coef, fit.offset)[: used.size]
    lengths = np.linalg.norm(np.column_stack([K, np.ones(y.size)]), axis=0)[: used.size]
    return X, *regression_view((w * lengths)[used], X[:, used], y)


@pytest.mark.parametrize("seed", range(2))
def test_mode_and_evidence_are_those_of_scipy_and_of_the_dense_covariance(seed: int) -> None:
    """Rasmussen & Williams (2006), (3.32): -½ log|I + B^½ΦA⁻¹ΦᵀB^½| is n × n."""
    Phi, alpha, y = functions(seed=seed)
    mode = mode_of(Phi, alpha, y)
    found = minimize(
        lambda w: -log_posterior(w, Phi, alpha, y),
        np.zeros(4),
        jac=lambda w: alpha * w - Phi.T @ (y * expit(-y * (Phi @ w))),
        method="trust-constr",
        hess=lambda w: np.diag(alpha) + (Phi.T * (expit(Phi @ w) * expit(-Phi @ w))) @ Phi,
        options={"gtol": 1e-10},
    )
    np.testing.assert_allclose(mode.weights, found.x, rtol=1e-6, atol=1e-8)
    gradient = Phi.T @ (y * expit(-y * (Phi @ mode.weights))) - alpha * mode.weights
    assert np.max(np.abs(gradient)) < 1e-13
    f = Phi @ mode.weights
    root = np.sqrt(expit(f) * expit(-f))
    inner = np.eye(y.size) + root[:, None] * ((Phi / alpha) @ Phi.T) * root
    dense = log_posterior(mode.weights, Phi, alpha, y) - 0.5 * np.linalg.slogdet(inner)[1]
    assert mode.log_evidence == pytest.approx(dense, rel=1e-12)


PROBLEMS = {
    "sigmoid": random_problem("sigmoid", n=60, seed=0),
    "gaussian": random_problem("gaussian", n=30, seed=1),
    "separated": iopt.KernelProblem.from_dataset(iopt.datasets.haasdonk_figure1a()),
}


@pytest.mark.parametrize(
    "name", ["sigmoid", "gaussian", pytest.param("separated", marks=pytest.mark.slow)]
)
def test_the_dense_likelihood_is_stationary(name: str) -> None:
    """By central differences in each log α in use; and no other function adds anything.

    Where the labels are certain the iteration would need tens of thousands of changes for 1e-12.
    """
    K, y = PROBLEMS[name].K, PROBLEMS[name].y
    tol = 1e-6 if name == "separated" else TIGHT
    fit = fit_relevance(K, y, tol=tol)
    assert fit.status is Status.SOLVED
    assert fit.promise <= tol
    X, target, noise = frozen(fit, K, y)
    used = np.flatnonzero(np.isfinite(fit.alpha))
    alpha = fit.alpha[used]
    before = log_normal(target, noise, X[:, used], alpha)
    for k in range(used.size):
        step = 1e-3 * (np.arange(used.size) == k)
        sides = [log_normal(target, noise, X[:, used], alpha * np.exp(s * step)) for s in (1, -1)]
        assert abs(sides[0] - sides[1]) / 2e-3 < 10.0 * tol**0.5
        assert max(sides) < before + tol
    for i in np.setdiff1d(np.arange(fit.alpha.size), used):
        for value in 10.0 ** np.arange(-6.0, 4.0, 4.0):
            more = log_normal(target, noise, X[:, [*used, i]], np.append(alpha, value))
            assert more < before + max(tol, 1e-9)


@pytest.mark.parametrize("positives", [1, 13])
def test_a_constant_alone(positives: int) -> None:
    """A zero kernel leaves b: n₊ - nσ(b) = αb and, at the best α, αb² = nσσ̄/(nσσ̄ + α)."""
    n = 20
    y = np.where(np.arange(n) < positives, 1.0, -1.0)
    fit = fit_relevance(np.zeros((n, n)), y, tol=TIGHT)

    def offset(alpha: float) -> float:
        return brentq(lambda b: positives - n * expit(b) - alpha * b, -50.0, 50.0, xtol=1e-14)

    def excess(log_alpha: float) -> float:
        alpha = np.exp(log_alpha)
        b = offset(alpha)
        certain = n * expit(b) * expit(-b)
        return alpha * b**2 - certain / (certain + alpha)

    alpha = np.exp(brentq(excess, -6.0, 3.0))
    assert fit.offset == pytest.approx(offset(alpha), rel=1e-5)
    assert fit.alpha[-1] == pytest.approx(alpha / n, rel=1e-4)
    assert not np.any(fit.coef)


@pytest.mark.parametrize("positives", [9, 10])
def test_nothing_is_learned_from_nothing(positives: int) -> None:
    """q² = (n₊ - n/2)²/n ≤ 1/20 is less than s = 1/4: the constant is not added."""
    y = np.where(np.arange(20) < positives, 1.0, -1.0)
    fit = fit_relevance(np.zeros((20, 20)), y)
    assert (fit.offset, fit.status) == (0.0, Status.SOLVED)
    assert fit.log_evidence == pytest.approx(-20.0 * np.log(2.0), rel=1e-14)
    assert np.all(np.isinf(fit.alpha))


def repeated_points(seed: int) -> tuple[Array, Array]:
    """60 draws of 15 points, separated classes: on these seeds the papers' steps never end."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((15, 2))
    X = X[generator.integers(0, 15, 60)]
    squares = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    return np.exp(-0.3 * squares), np.where(X[:, 0] > 0, 1.0, -1.0)


@pytest.mark.parametrize("seed", [9, 41])
def test_of_equal_functions_one_is_used(seed: int) -> None:
    K, y = repeated_points(seed)
    fit = fit_relevance(K, y, max_iter=1000)
    assert fit.status is Status.SOLVED
    used = K[:, np.isfinite(fit.alpha[:-1])]
    assert np.unique(used.round(12), axis=1).shape == used.shape


def test_the_limit_is_honest() -> None:
    problem = PROBLEMS["sigmoid"]
    for limit in (1, 5):
        fit = fit_relevance(problem.K, problem.y, max_iter=limit)
        assert (fit.status, fit.iterations) == (Status.MAX_ITER, limit)
        assert fit.promise > 1e-6


def best_evidence(Phi: Array, y: Array) -> float:
    """The largest log L of any subset of the functions: the best of a grid of α, then polished."""

    def loss(log_alpha: Array, chosen: list[int]) -> float:
        alpha = np.exp(np.clip(log_alpha, -25.0, 20.0))
        return -mode_of(Phi[:, chosen], alpha, y).log_evidence

    found = [y.size * np.log(2.0)]
    for size in range(1, Phi.shape[1] + 1):
        for chosen in map(list, itertools.combinations(range(Phi.shape[1]), size)):
            grid = list(itertools.product(np.arange(-14.0, 5.0, 3.0), repeat=size))
            for start in sorted(grid, key=lambda point: loss(np.array(point), chosen))[:1]:
                polished = minimize(loss, start, args=(chosen,), method="Nelder-Mead")
                found.append(polished.fun)
    return -min(found)


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        *(("gaussian", 0), ("sigmoid", 1)),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in (("constant", 2), ("gaussian", 3))
        ),
    ],
)
def test_evidence_is_that_of_brute_force(kind: str, seed: int) -> None:
    """Of two columns and the constant, or of three columns, for 40 points with noisy labels.

    What the papers leave out, that B moves with α, cost up to 0.3 nats on 80 such problems.
    """
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((40, 2))
    constant = seed % 2 == 0
    centres = X[: 2 if constant else 3]
    bumps = np.exp(-np.sum((X[:, None] - centres) ** 2, axis=2))
    K = {"gaussian": bumps, "constant": 3.0 + bumps, "sigmoid": np.tanh(X @ centres.T - 1.0)}[kind]
    y = np.where(X[:, 0] + 0.2 * X[:, 1] + generator.standard_normal(40) > 0, 1.0, -1.0)
    fit = fit_relevance(K, y, constant=constant)
    assert fit.status is Status.SOLVED
    assert fit.log_evidence > best_evidence(unit(K, constant), y) - 0.3


@pytest.mark.parametrize("part", [0.0, 3.0, 100.0])
@pytest.mark.parametrize("constant", [False, True])
def test_a_large_constant_part_is_seen_through(part: float, constant: bool) -> None:
    x = np.r_[np.linspace(-2, -1, 10), np.linspace(1, 2, 10)]
    problem = iopt.KernelProblem(part + np.exp(-((x[:, None] - x) ** 2)), np.sign(x))
    classifier = RVM(constant=constant).fit(problem)
    assert classifier.fit.status is Status.SOLVED
    np.testing.assert_array_equal(classifier.predict(problem.K), problem.y)


def test_the_classifier_is_a_sum_of_kernel_values() -> None:
    """On an indefinite kernel, with labels of the caller's own."""
    problem = PROBLEMS["sigmoid"]
    assert not problem.is_conditionally_psd
    named = iopt.KernelProblem(problem.K, np.where(problem.y > 0, "yes", "no"))
    classifier = RVM().fit(named)
    values = problem.K[:9, classifier.support] @ classifier.coef[classifier.support]
    values += classifier.offset
    np.testing.assert_allclose(classifier.decision_function(problem.K[:9]), values, rtol=1e-12)
    np.testing.assert_allclose(classifier.probabilities(problem.K[:9]), expit(values), rtol=1e-12)
    np.testing.assert_array_equal(
        classifier.predict(problem.K[:9]), np.where(values > 0, "yes", "no")
    )
    assert 0 < classifier.support.size < 10
    assert np.mean(classifier.predict(problem.K) == np.where(problem.y > 0, "yes", "no")) > 0.8
    assert classifier.fit.status is Status.SOLVED
    without = RVM(constant=False).fit(problem)
    assert (without.offset, without.fit.alpha.shape) == (0.0, (60,))
