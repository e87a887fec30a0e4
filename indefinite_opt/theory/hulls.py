"""Support vector machines as separators of reduced convex hulls, and unique optima of both.

See Haasdonk (2005), Propositions 1 and 3 and Lemma 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from indefinite_opt.errors import NoCounterpart
from indefinite_opt.foundation import Array, checks
from indefinite_opt.modeling import reduced_weight
from indefinite_opt.problem import KernelProblem, check_problem
from indefinite_opt.quadratic import PairedQP, hull_dual, svm_dual
from indefinite_opt.theory.lifting import stationary_weights
from indefinite_opt.theory.numbers import Numbers


class HullPoint(NamedTuple):
    """A point of `ConvexHullDual(mu)`: its parameter, and ᾱ under the name `alphabar`.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> point = iopt.theory.svm_to_hull(problem, 10.0, [0.5, 0.5])
    >>> point.mu, point.values["alphabar"]
    (20.0, array([1., 1.]))
    """

    mu: float
    values: dict[str, Array]


class SVMPoint(NamedTuple):
    """A point of `SVMDual(C)`: its parameter, and α under the name `alpha`.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> point = iopt.theory.hull_to_svm(problem, 20.0, [1.0, 1.0])
    >>> point.C, point.values["alpha"]
    (10.0, array([0.5, 0.5]))
    """

    C: float
    values: dict[str, Array]


def svm_program(problem: KernelProblem, C: float) -> PairedQP:
    check_problem(problem)
    checks.weight_bound("C", C, infinite=True)
    return svm_dual(problem, C)


def svm_to_hull(problem: KernelProblem, C: float, alpha: ArrayLike, tol: float = 1e-6) -> HullPoint:
    """Map α to ᾱ = 2α/Σα with μ = 2C/Σα, which is stationary, and a local optimum if α is one.

    Parameters
    ----------
    problem : KernelProblem
    C : float
        Upper bound of the weights. If it is infinite the hulls are not reduced, and μ = 1.
    alpha : (n,) array_like
        Stationary weights of `SVMDual(C)`.
    tol : float
        Tolerance of feasibility and of the KKT residual.

    Returns
    -------
    HullPoint
        Its separating plane is parallel to that of the SVM, and the same if no weight is at C.

    Raises
    ------
    ParameterError
        If C is not positive.
    ProblemError
        If alpha is not n finite numbers, not feasible, or not stationary (0 never is).

    References
    ----------
    Haasdonk (2005), Proposition 3 (printed as 7), cases 1 and 3.

    Examples
    --------
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> svm_to_hull(problem, 10.0, [0.5, 0.5])
    HullPoint(mu=20.0, values={'alphabar': array([1., 1.])})
    """
    weights = stationary_weights(svm_program(problem, C), alpha, tol)
    scale = 2.0 / float(weights.sum())
    mu = 1.0 if np.isinf(C) else scale * C
    return HullPoint(mu, {"alphabar": scale * weights})


def hull_to_svm(
    problem: KernelProblem, mu: float, alphabar: ArrayLike, tol: float = 1e-6
) -> SVMPoint:
    """Map ᾱ to α = ᾱ/ρ with C = μ/ρ, where ρ = ½ᾱᵀQ(e_k + e_l).

    k and l are nonbounded points of opposite classes. A local optimum is mapped to a local optimum
    only if Q is positive semidefinite along the directions in which SVM-DU is flat to first order,
    which `verify` examines.

    Parameters
    ----------
    problem : KernelProblem
    mu : float
        Upper bound of the weights.
    alphabar : (n,) array_like
        Stationary weights of `ConvexHullDual(mu)`.
    tol : float
        Tolerance of feasibility and of the KKT residual.

    Raises
    ------
    NoCounterpart
        If a class has no nonbounded weight, or ρ ≤ 0 within tol.
    InfeasibleProblem, ParameterError
        If mu is too small for a class to reach its weight, or not a positive number.
    ProblemError
        If alphabar is not n finite numbers, not feasible, or not stationary.

    References
    ----------
    Haasdonk (2005), Proposition 3 (printed as 7), cases 2 and 3.

    Examples
    --------
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> hull_to_svm(problem, 20.0, [1.0, 1.0])     # ρ = ½(2 + 2)
    SVMPoint(C=10.0, values={'alpha': array([0.5, 0.5])})
    """
    check_problem(problem)
    checks.positive("mu", mu)
    bound = reduced_weight("mu", mu, 1.0, problem.smaller_class)
    qp, y = hull_dual(problem, bound), problem.y
    weights = stationary_weights(qp, alphabar, tol)
    lower, upper = qp.feasible.at_bounds(weights, tol)
    free = [~(lower | upper) & (y == sign) for sign in (1.0, -1.0)]
    counts = [int(group.sum()) for group in free]
    if min(counts) == 0:
        raise NoCounterpart(
            "alphabar", "a nonbounded weight in each class",
            f"{counts[0]} in the class +1 and {counts[1]} in -1",
            "Without them ρ, and with it C, is not determined (Haasdonk 2005, Proposition 3).",
        )  # fmt: skip
    gradient = qp.gradient(weights)  # 2Qᾱ
    rho = 0.25 * sum(float(gradient[group].mean()) for group in free)
    if rho <= 0.25 * tol * qp.gradient_unit(gradient):
        raise NoCounterpart(
            "alphabar", "ρ = ½ᾱᵀQ(e_k + e_l) > 0", f"ρ = {rho:.6g}",
            "No SVM has this plane (Haasdonk 2005, Proposition 3); a smaller mu may help.",
        )  # fmt: skip
    return SVMPoint(float(qp.feasible.upper) / rho, {"alpha": weights / rho})


@dataclass(frozen=True)
class Uniqueness(Numbers):
    """What Lemma 5 of Haasdonk (2005) says about a stationary point.

    Attributes
    ----------
    signature : (p, q)
        The signature of the pseudo-Euclidean space of the data; the lemma asks for p = 1.
    hull_distance : float
        ‖z⁺ - z⁻‖² = wᵀMw, which the lemma asks to be positive.
    least_distance : float
        The least d²_ij over pairs within a class where i may gain weight and j may lose it; inf
        if there is no such pair. z⁺ and z⁻ have positive squared distance to all other points of
        their reduced hulls if and only if it is positive.
    enough : float
        Both distances must exceed this for their signs to be certain despite rounding and `tol`.
    mu : float
        The upper bound of the weights in the reduced hulls.
    bounded : bool
        Whether a weight is at its upper bound.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> found = iopt.theory.haasdonk_lemma_5(problem, 10.0, [0.5, 0.5])
    >>> found.unique, found.globally_optimal
    (True, True)
    """

    signature: tuple[int, int]
    hull_distance: float
    least_distance: float
    enough: float
    mu: float
    bounded: bool

    @property
    def unique(self) -> bool:
        """Whether z⁺ and z⁻ are the only stationary pair of their reduced hulls.

        They are if p = 1 and both distances are positive; otherwise the lemma decides nothing.
        """
        least = min(self.hull_distance, self.least_distance)
        return self.signature[0] == 1 and least > self.enough

    @property
    def globally_optimal(self) -> bool:
        """Whether the weights are the global optimum of the SVM dual, too.

        They are if the hulls are not reduced and no weight is at its bound.
        """
        return self.unique and self.mu >= 1.0 and not self.bounded


def haasdonk_lemma_5(
    problem: KernelProblem, C: float, alpha: ArrayLike, tol: float = 1e-6
) -> Uniqueness:
    """Test whether a stationary point is the only one, in a space with one real direction.

    Parameters and errors are those of `svm_to_hull`; `tol` also decides which weights count as at a
    bound.

    References
    ----------
    Haasdonk (2005), Lemma 5.

    Examples
    --------
    Three points (±1, 0), (3, 1) in R^(1,1):

    >>> X = np.array([[1.0, 0.0], [3.0, 1.0], [-1.0, 0.0]])
    >>> problem = KernelProblem(X @ np.diag([1.0, -1.0]) @ X.T, [1, 1, -1])
    >>> answer = haasdonk_lemma_5(problem, 10.0, [0.5, 0.0, 0.5])
    >>> answer.signature, answer.hull_distance, answer.least_distance    # 2² - 1²
    ((1, 1), 4.0, 3.0)
    >>> answer.unique, answer.globally_optimal
    (True, True)
    """
    qp, y = svm_program(problem, C), problem.y
    weights = stationary_weights(qp, alpha, tol)
    lower, upper = qp.feasible.at_bounds(weights, tol)
    least = np.inf
    for group in (y > 0, y < 0):
        gaining, losing = np.flatnonzero(group & ~upper), np.flatnonzero(group & ~lower)
        distances = problem.squared_distances[np.ix_(gaining, losing)]
        least = min(least, float(np.min(distances[gaining[:, None] != losing], initial=np.inf)))
    coef = y * weights
    norm = float(coef @ problem.gram.times(coef))
    # At a point stationary within tol, the sign of wᵀM(Φ_i - Φ_j) is certain if
    # |wᵀM(Φ_i - Φ_j)| ≥ (‖w‖² d²_ij)^½ > tol.
    enough = max(2.0 * problem.zero_tolerance, tol**2 / norm if norm > 0.0 else 0.0)
    scale, spectrum = 2.0 / float(weights.sum()), problem.centered_spectrum
    return Uniqueness(
        signature=spectrum.inertia_beyond(spectrum.zero_tolerance)[:2],
        hull_distance=norm * scale**2,
        least_distance=least,
        enough=enough,
        mu=1.0 if np.isinf(C) else scale * C,
        bounded=bool(upper.any()),
    )
