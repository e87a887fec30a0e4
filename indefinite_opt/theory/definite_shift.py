"""Constants that make a kernel positive definite (Lin & Lin 2003, Theorem 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from indefinite_opt.foundation import Array
from indefinite_opt.problem import KernelProblem, check_problem
from indefinite_opt.quadratic import eigendecomposition, norm_bound, zero_tolerance
from indefinite_opt.theory.sigmoid_statement import LeastEigenvalue, least_eigenvalue


@dataclass(frozen=True)
class DefiniteShift:
    """For which Δ the matrix K + Δeeᵀ is positive definite; `print` it.

    Attributes
    ----------
    infimum : float
        K + Δeeᵀ is positive definite if and only if Δ exceeds this; it may be negative. inf if K is
        not, or not beyond rounding, conditionally positive definite.
    proved : float
        The smallest Δ of those tried for which that is proved, with all rounding; inf if none.
    conditional : LeastEigenvalue
        Least vᵀKv over ‖v‖ = 1, eᵀv = 0.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[0.0, -1.0], [-1.0, 0.0]], [1, -1])
    >>> shift = iopt.theory.lin_lin_theorem_3(problem)
    >>> round(shift.infimum, 12), shift.conditional.positive
    (0.5, True)
    """

    infimum: float
    proved: float
    conditional: LeastEigenvalue

    def __str__(self) -> str:
        on_plane = f"on eᵀv = 0 K is {self.conditional}"
        if self.conditional.negative:
            return f"K + Δeeᵀ is positive definite for no Δ: {on_plane}"
        if np.isinf(self.infimum):
            return f"rounding hides whether K + Δeeᵀ is positive definite for any Δ: {on_plane}"
        proof = "rounding hides where" if np.isinf(self.proved) else f"proved for {self.proved!r}"
        return f"K + Δeeᵀ is positive definite for Δ > {self.infimum:.6g}, {proof}: {on_plane}"


def lin_lin_theorem_3(problem: KernelProblem) -> DefiniteShift:
    """The least Δ of Theorem 3: K is CPD if and only if K + Δeeᵀ is PD for some Δ.

    inf Δ = -min {xᵀKx : eᵀx = 1} = (cᵀB⁻¹c - eᵀKe/n)/n, where B = NᵀKN and c = NᵀKe/√n
    with an orthonormal basis N of eᵀv = 0: the Schur complement of B in K + Δeeᵀ. If K is
    nonsingular, this is -1/(eᵀK⁻¹e). As yᵀα = 0, no Δ changes `SVMDual`, see (8).

    Parameters
    ----------
    problem : KernelProblem

    Raises
    ------
    ProblemError
        If rows of K are computed on demand, or K was changed after the problem was made.

    Notes
    -----
    One eigendecomposition and up to nine further eigenvalue problems of O(n³). A constant part of
    K is subtracted first, so that it costs no digits of B.

    References
    ----------
    Lin & Lin (2003), Theorem 3, which proves that Δ exists by compactness and gives no number.

    Examples
    --------
    >>> problem = KernelProblem([[0.0, -1.0], [-1.0, 0.0]], [1, -1])   # eigenvalues -1 and 1
    >>> shift = lin_lin_theorem_3(problem)
    >>> round(shift.infimum, 12), np.linalg.eigvalsh(problem.K + shift.proved)[0] > 0.0
    (0.5, np.True_)
    >>> print(lin_lin_theorem_3(KernelProblem([[0.0, 1.0], [1.0, 0.0]], [1, -1])))
    K + Δeeᵀ is positive definite for no Δ: on eᵀv = 0 K is not positive semidefinite \
(least eigenvalue -1)
    """
    check_problem(problem)
    K, n = problem.K, problem.n
    constant = 0.5 * sum(problem.gram.extremes)
    rest = K - constant
    norm = norm_bound(rest)
    turned = _turned(rest)
    cross, block = turned[1:, 0], turned[1:, 1:]
    spectrum = eigendecomposition(block)
    conditional = LeastEigenvalue(float(spectrum.values[0]), zero_tolerance(n, norm))
    if not conditional.positive:
        return DefiniteShift(np.inf, np.inf, conditional)
    shares = (spectrum.vectors.T @ cross) ** 2 / spectrum.values
    infimum = (float(shares.sum()) - float(turned[0, 0])) / n - constant
    unit = max(abs(infimum), norm / n)
    # In units of |Δ| or of ‖K‖/n, from what rounding leaves of Δ to where the rounding of a proof
    # hides the least eigenvalue.
    tried = (infimum + float(share) * unit for share in 10.0 ** np.arange(-12.0, 5.0, 2.0))
    proved = next((shift for shift in tried if least_eigenvalue(K + shift).positive), np.inf)
    return DefiniteShift(infimum, proved, conditional)


def _turned(K: Array) -> Array:
    """HKH for the reflection H that takes e/√n to minus the first unit vector."""
    n = K.shape[0]
    v = np.full(n, 1.0 / np.sqrt(n))
    v[0] += 1.0
    v *= np.sqrt(2.0 / float(v @ v))
    image = K @ v
    half = image - 0.5 * float(v @ image) * v
    crossed = np.outer(half, v)
    return K - crossed - crossed.T
