"""The relevance vector machine: weights with a precision each, chosen by the marginal likelihood.

    P(t = 1 | x) = σ(f(x)),   f(x) = Σ_i w_i φ_i(x),   w_i ~ N(0, 1/α_i),   σ(f) = 1/(1 + e⁻ᶠ)

The α maximise the marginal likelihood of the labels; most α_i become infinite, which deletes φ_i.
The integral over w is Laplace's approximation at the mode of the posterior: with Φ the functions
that are left, A = diag(α), t in {0, 1}, p = σ(Φw) and B = diag(p(1 - p)) at the mode,

    log L(α) = log p(t | w) - ½ wᵀAw - ½ log|ΦᵀBΦ + A| + ½ log|A|.

At the mode the labels look like the targets t̂ = Φw + B⁻¹(t - p) of a regression with noise B⁻¹,
whose marginal likelihood is N(t̂ | 0, C), C = B⁻¹ + ΦA⁻¹Φᵀ. While t̂ and B are held fixed, the best
value of any one α_i is known in closed form, and so is the gain of going there, from the sparsity
and quality factors s_i = φ_iᵀC₋ᵢ⁻¹φ_i and q_i = φ_iᵀC₋ᵢ⁻¹t̂, C₋ᵢ without the term of φ_i. No matrix
of order n is ever factorised.

Where the search ends, every single α_i is at its only maximum of log N(t̂ | 0, C), the others held
fixed; all together they may have better ones elsewhere. log L is stationary there only nearly: the
papers leave out that t̂ and B move with α, and so does this module, and log L may fall a little on
the way.

Nothing is asked of the functions φ: the columns of a kernel of any inertia will do.

References
----------
.. [T01] M. E. Tipping, Sparse Bayesian Learning and the Relevance Vector Machine, Journal of
   Machine Learning Research 1, 211-244, 2001: section 3, (23)-(27).
.. [TF03] M. E. Tipping and A. C. Faul, Fast Marginal Likelihood Maximisation for Sparse Bayesian
   Models, Proc. 9th Workshop on Artificial Intelligence and Statistics, 2003: (17)-(25) and
   section 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation.threads import few_threads, one_thread
from indefinite_opt.solvers.solution import Status

__all__ = ["Basis", "Factors", "Laplace", "RelevanceFit", "fit_relevance", "laplace", "sigmoid"]

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_LEAST = 1e-12
"""Least α of a function of unit length, a prior standard deviation of a million: where B vanishes
in rounding, on classes that are far apart, s²/(q² - s) would be 0."""

_NEWTON_STEPS = 100
"""A warm start takes three to ten; only rounding could keep the line search busy for longer."""

_ARMIJO = 1e-4
"""Share of the increase that the slope promises which a step must keep."""

_PURE = 1e-6
"""Squared Newton decrement, as a share of 1 + |log posterior|, below which full steps converge
quadratically; much closer to the mode the log posterior cannot tell its values apart."""

_DECREMENT = 1e-26
"""The same where the mode is reached: rounding, (1e-13)²."""

_SHARE = 0.1
"""Functions in use are settled until what they gain is below this share of the last gain that the
search through all functions found: that search costs about M/m times as much."""

_TIE = 1e-6
"""Share by which a new function must promise more than one in use: the copy of a function promises
as much as the function itself, but for rounding, and has nothing to add."""

_CHUNK = 2**18
"""Numbers worked on at once, 2 MB."""


# --------------------------------------------------------------------------- the mode for given α


@dataclass(frozen=True, eq=False)
class Laplace:
    """Laplace's approximation at the mode, in the unit of the prior: Ψ = ΦA^-½, z = A^½w.

    M = I + ΨᵀBΨ has no eigenvalue below 1, however large or small the α are, and
    |ΦᵀBΦ + A| = |A||M|.

    Attributes
    ----------
    alpha : (m,) array
        Precisions α.
    Psi : (n, m) array
    z : (m,) array
        The mode.
    f : (n,) array
        Ψz = Φw.
    residual : (n,) array
        t - p.
    b : (n,) array
        p(1 - p), the diagonal of B.
    factor : (m, m) array
        Lower triangular L with M = LLᵀ.
    log_evidence : float
        log L(α), in nats.
    """

    alpha: Array
    Psi: Array
    z: Array
    f: Array
    residual: Array
    b: Array
    factor: Array
    log_evidence: float

    @property
    def weights(self) -> Array:
        """w at the mode, (m,); [T01] (27)."""
        return self.z / np.sqrt(self.alpha)

    @cached_property
    def inverse(self) -> Array:
        """M⁻¹ = A^½ΣA^½, (m, m), Σ the posterior covariance of w, [T01] (26)."""
        half = np.linalg.solve(self.factor, np.eye(self.z.size))
        return half.T @ half

    @property
    def factors(self) -> Factors:
        """Factors of the functions in use, from M⁻¹ alone.

        [TF03] (23) with S = α - α²Σ_ii and Q = αw put in: s = γ/Σ_ii and q = w/Σ_ii, γ of [T01]
        (17), which lose no digits where S is close to α.
        """
        diagonal = np.diag(self.inverse)
        gamma = np.maximum(1.0 - diagonal, 0.0)
        return Factors(gamma * self.alpha / diagonal, self.z * np.sqrt(self.alpha) / diagonal)


def laplace(Phi: Array, alpha: Array, y: Array, start: Array | None = None) -> Laplace:
    """The mode of the posterior of the weights, [T01] (24), by Newton's method.

    Parameters
    ----------
    Phi : (n, m) array
        Functions in use at the n points; m may be 0.
    alpha : (m,) array
        Their precisions, positive and finite.
    y : (n,) array of -1 and +1
        Labels; t = (1 + y)/2.
    start : (m,) array, optional
        Weights to start from; 0 by default.

    Notes
    -----
    The log posterior is strictly concave, and thanks to the prior its maximum is finite for
    separated classes, too. A step is halved until it rises as promised. O(nm²) a step.

    Examples
    --------
    A constant function and three labels of four: at the mode 3 - 4σ(w) = αw.

    >>> mode = laplace(np.ones((4, 1)), np.array([1.0]), np.array([1.0, 1.0, 1.0, -1.0]))
    >>> w = mode.weights[0]
    >>> bool(abs(3 - 4 * sigmoid(w) - w) < 1e-14)
    True
    """
    root = np.sqrt(alpha)
    Psi = Phi / root
    z = np.zeros(alpha.size) if start is None else start * root
    before = np.inf
    for _ in range(_NEWTON_STEPS):
        f = Psi @ z
        value = _log_posterior(z, f, y)
        gradient = Psi.T @ _residual(f, y) - z
        factor = _factorised(Psi, _noise(f))
        step = np.linalg.solve(factor.T, np.linalg.solve(factor, gradient))
        decrement = float(gradient @ step)
        near = decrement <= _PURE * (1.0 - value)
        # Near the mode a full step squares the decrement; where it does not, all is rounding.
        if decrement <= _DECREMENT * (1.0 - value) or (near and decrement >= 0.5 * before):
            break
        before = decrement
        if not near:
            step *= _length(z, f, step, Psi @ step, y, value, decrement)
        z = z + step
    f = Psi @ z
    factor = _factorised(Psi, _noise(f))
    log_evidence = _log_posterior(z, f, y) - float(np.sum(np.log(np.diag(factor))))
    return Laplace(alpha, Psi, z, f, _residual(f, y), _noise(f), factor, log_evidence)


def sigmoid(f: Array) -> Array:
    """σ(f) = 1/(1 + e⁻ᶠ), to full relative accuracy on both sides and without overflow.

    Examples
    --------
    >>> sigmoid(np.array([0.0, 1e4, -1e4]))
    array([0.5, 1. , 0. ])
    """
    return np.exp(-np.logaddexp(0.0, -f))


def _residual(f: Array, y: Array) -> Array:
    """t - p."""
    return y * sigmoid(-y * f)


def _noise(f: Array) -> Array:
    """b = p(1 - p)."""
    return sigmoid(f) * sigmoid(-f)


def _log_posterior(z: Array, f: Array, y: Array) -> float:
    """log p(t | w) - ½zᵀz, never positive."""
    return -float(np.sum(np.logaddexp(0.0, -y * f))) - 0.5 * float(z @ z)


def _factorised(Psi: Array, b: Array) -> Array:
    """L with I + ΨᵀBΨ = LLᵀ."""
    M = np.eye(Psi.shape[1]) + (Psi.T * b) @ Psi
    with one_thread():
        return np.linalg.cholesky(M).astype(np.float64, copy=False)


def _length(
    z: Array, f: Array, step: Array, image: Array, y: Array, value: float, decrement: float
) -> float:
    """1, ½, ¼, ...: the first that rises by its share of what the slope promises."""
    length = 1.0
    while length > _ARMIJO * np.finfo(float).eps:
        reached = _log_posterior(z + length * step, f + length * image, y)
        if reached >= value + _ARMIJO * length * decrement:
            break
        length *= 0.5
    return length


# ---------------------------------------------------------- what one α can do for the evidence


class Factors(NamedTuple):
    """Sparsity and quality factors of k functions, each as if it were not in use, [TF03] (19).

    Attributes
    ----------
    s, q : (k,) arrays
        φᵀC₋ᵢ⁻¹φ and φᵀC₋ᵢ⁻¹t̂.
    """

    s: Array
    q: Array

    @property
    def best_alpha(self) -> Array:
        """The only maximum of ℓ: s²/(q² - s) where q² > s, else infinite; [TF03] (20), (21).

        Examples
        --------
        >>> Factors(np.array([1.0, 1.0]), np.array([2.0, 0.5])).best_alpha
        array([0.33333333,        inf])
        """
        excess = self.q**2 - self.s
        alpha = np.full(self.s.size, np.inf)
        with np.errstate(over="ignore"):
            np.divide(self.s**2, excess, out=alpha, where=excess > 0.0)
        return np.maximum(alpha, _LEAST)

    def share(self, alpha: Array) -> Array:
        """ℓ(α) = ½[log α - log(α + s) + q²/(α + s)], the share of a function in log N(t̂ | 0, C).

        In nats, 0 for infinite α; [TF03] (17), (18).
        """
        return 0.5 * (self.q**2 / (alpha + self.s) - np.log1p(self.s / alpha))


class Basis:
    """Columns of K and, last, the constant function; read as functions of unit length.

    Another length with another α gives the same f, s/α, q²/s and L: unit length changes nothing
    but the size of the numbers.

    Parameters
    ----------
    K : (n, M) array
        Any finite matrix.
    constant : bool
        Whether the constant is a function, too.

    Attributes
    ----------
    size : int
        M, or M + 1.
    lengths : (size,) array
        ‖φ_i‖, and 1 for zero columns.
    """

    def __init__(self, K: Array, constant: bool) -> None:
        self.K = K
        self.size = K.shape[1] + int(constant)
        self.lengths = np.ones(self.size)
        for part, X in self._parts():
            # Through the largest entry, for lengths whose squares overflow or vanish.
            largest = np.max(np.abs(X), axis=0)
            largest[largest == 0.0] = 1.0
            length = largest * np.linalg.norm(X / largest, axis=0)
            self.lengths[part] = np.where(length > 0.0, length, 1.0)

    def _parts(self) -> Iterator[tuple[slice, Array]]:
        """All functions at the n points, as many at a time as fit the cache."""
        n = self.K.shape[0]
        count = max(1, _CHUNK // n)
        for first in range(0, self.size, count):
            part = slice(first, min(first + count, self.size))
            columns = self.K[:, part]
            X = np.ones((n, part.stop - first))
            X[:, : columns.shape[1]] = columns
            X /= self.lengths[part]
            yield part, X

    def columns(self, chosen: Indices) -> Array:
        """The chosen functions at the n points, (n, k)."""
        X = np.ones((self.K.shape[0], chosen.size))
        inside = chosen < self.K.shape[1]
        X[:, inside] = self.K[:, chosen[inside]]
        X /= self.lengths[chosen]
        return X

    def factors(self, mode: Laplace) -> Factors:
        """S = φᵀC⁻¹φ and Q = φᵀC⁻¹t̂ of all functions, O(nMm); [TF03] (22), (24), (25).

        They are s and q of the functions that are not in use. At the mode C⁻¹t̂ = t - p.
        """
        S, Q = np.empty((2, self.size))
        half = np.linalg.solve(mode.factor, (mode.Psi * mode.b[:, None]).T)
        for part, X in self._parts():
            S[part] = mode.b @ X**2 - np.sum((half @ X) ** 2, axis=0)
            Q[part] = mode.residual @ X
        return Factors(np.maximum(S, 0.0), Q)


# --------------------------------------------------------------------------------- the search for α


@dataclass(frozen=True, eq=False)
class RelevanceFit:
    """What the search for α has come to.

    Attributes
    ----------
    coef : (M,) array
        Weights of the columns of K at the mode; exactly 0 for those not in use.
    offset : float
        Weight of the constant function, 0 if it is not in use.
    alpha : (M,) or (M + 1,) array
        Precisions, infinite for functions not in use; last that of the constant, if there is one.
        They belong to functions of unit length: that of the weight in `coef` is ‖φ‖²α.
    log_evidence : float
        log L(α), in nats.
    promise : float
        What the best change of any one α would still add to log N(t̂ | 0, C), in nats.
    status : Status
        SOLVED if `promise` is within the tolerance; else MAX_ITER, and of all α on the way those
        with the largest log L(α) are returned.
    iterations : int
        How many times an α was changed.
    trace : (iterations + 1,) array
        log L(α), from the empty model on.
    """

    coef: Array
    offset: float
    alpha: Array
    log_evidence: float
    promise: float
    status: Status
    iterations: int
    trace: Array = field(repr=False)


def fit_relevance(
    K: Array, y: Array, *, constant: bool = True, max_iter: int = 10_000, tol: float = 1e-6
) -> RelevanceFit:
    """Precisions by one change after the other: add, re-estimate, delete; [TF03] section 4.

    Parameters
    ----------
    K : (n, M) array
        Functions in the columns; any finite matrix.
    y : (n,) array of -1 and +1
    constant : bool
        Whether the constant is a function, too, with a precision like the others.
    max_iter : int
        Most changes of an α.
    tol : float
        Nats that the search is done for: it ends when no change of one α promises more.

    Returns
    -------
    RelevanceFit

    Notes
    -----
    A change costs O(nm²) with m functions in use, and the search through all functions, made only
    when those in use are settled, O(nMm). Nothing is random. The change of a function that turns
    back is halved until it goes on in one direction: [TF03] can add and delete it forever, as the
    best α for one B may be beaten by none for the next.

    Examples
    --------
    The signs of four numbers from their products with three of them: one is enough.

    >>> x = np.array([-2.0, -1.0, 1.0, 2.0])
    >>> fit = fit_relevance(np.outer(x, x[1:]), np.sign(x))
    >>> fit.status.name, int(np.count_nonzero(fit.coef)), fit.offset
    ('SOLVED', 1, 0.0)
    """
    with few_threads(min(K.shape)):
        return _Search(K, y, constant).run(max_iter, tol)


class _Change(NamedTuple):
    gain: float
    which: int
    alpha: float


class _Search:
    def __init__(self, K: Array, y: Array, constant: bool) -> None:
        self.basis, self.y = Basis(K, constant), y
        size = self.basis.size
        self.alpha, self.weights = np.full(size, np.inf), np.zeros(size)
        self.damping, self.direction = np.ones(size), np.zeros(size)
        self.active = np.empty(0, dtype=np.intp)
        self.mode = self._mode()
        self.best = self.active, self.mode
        self.trace = [self.mode.log_evidence]

    def run(self, max_iter: int, tol: float) -> RelevanceFit:
        floor = tol
        while True:
            change = self._best_of_active()
            if change.gain <= floor:
                change = self._best_of_all()
                floor = max(tol, _SHARE * change.gain)
            if change.gain <= tol:
                return self._result(Status.SOLVED, change.gain)
            if len(self.trace) > max_iter:
                self.active, self.mode = self.best
                return self._result(Status.MAX_ITER, self._best_of_all().gain)
            self._apply(change)

    def _best_of_active(self) -> _Change:
        return _best_change(self.mode.factors, self.mode.alpha, self.active)

    def _best_of_all(self) -> _Change:
        idle = np.setdiff1d(np.arange(self.basis.size), self.active)
        s, q = self.basis.factors(self.mode)
        known = self._best_of_active()
        new = _best_change(Factors(s[idle], q[idle]), self.alpha[idle], idle)
        return new if new.gain > (1.0 + _TIE) * known.gain else known

    def _apply(self, change: _Change) -> None:
        i = change.which
        known = np.isfinite(self.alpha[i])
        self.alpha[i] = self._damped(change)
        if np.isinf(self.alpha[i]):
            self.active = self.active[self.active != i]
            self.weights[i] = 0.0
        elif not known:
            self.active = np.append(self.active, i)
        self.mode = self._mode()
        self.trace.append(self.mode.log_evidence)
        if self.mode.log_evidence > self.best[1].log_evidence:
            self.best = self.active, self.mode

    def _damped(self, change: _Change) -> float:
        """α where the change leads, or part of the way to it where the last one went too far."""
        i = change.which
        variance, wanted = 1.0 / self.alpha[i], 1.0 / change.alpha
        direction = np.sign(wanted - variance)
        back = direction == -self.direction[i]
        self.direction[i] = direction
        self.damping[i] = 0.5 * self.damping[i] if back else min(2.0 * self.damping[i], 1.0)
        if self.damping[i] == 1.0:
            return change.alpha
        return 1.0 / (variance + self.damping[i] * (wanted - variance))

    def _mode(self) -> Laplace:
        """The mode for the functions in use, from the last weights on."""
        active = self.active
        mode = laplace(self.basis.columns(active), self.alpha[active], self.y, self.weights[active])
        self.weights[active] = mode.weights
        return mode

    def _result(self, status: Status, promise: float) -> RelevanceFit:
        M = self.basis.K.shape[1]
        weights, alpha = np.zeros(M + 1), np.full(self.basis.size, np.inf)
        weights[self.active] = self.mode.weights / self.basis.lengths[self.active]
        alpha[self.active] = self.mode.alpha
        return RelevanceFit(
            coef=weights[:M],
            offset=float(weights[M]),
            alpha=alpha,
            log_evidence=self.mode.log_evidence,
            promise=promise,
            status=status,
            iterations=len(self.trace) - 1,
            trace=np.array(self.trace),
        )


def _best_change(factors: Factors, alpha: Array, indices: Indices) -> _Change:
    """The change of one α that promises most; the first of equal ones."""
    if indices.size == 0:
        return _Change(0.0, -1, np.inf)
    best = factors.best_alpha
    gains = factors.share(best) - factors.share(alpha)
    k = int(np.argmax(gains))
    return _Change(float(gains[k]), int(indices[k]), float(best[k]))
