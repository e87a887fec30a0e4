"""Support vector machines as separators of reduced convex hulls, and back (Haasdonk 2005)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from indefinite_opt.errors import NoCounterpart
from indefinite_opt.foundation import Array, checks
from indefinite_opt.modeling import reduced_weight
from indefinite_opt.modeling.structures import BoxLineQP
from indefinite_opt.problem import KernelProblem, check_problem
from indefinite_opt.theory.lifting import stationary_weights


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


def svm_program(problem: KernelProblem, C: float) -> BoxLineQP:
    check_problem(problem)
    checks.positive("C", C, infinite=True)
    return BoxLineQP.svm(problem, C)


def _hulls(problem: KernelProblem, mu: float) -> BoxLineQP:
    check_problem(problem)
    checks.positive("mu", mu)
    return BoxLineQP.hulls(problem, reduced_weight("mu", mu, 1.0, problem.smaller_class))


def svm_to_hull(problem: KernelProblem, C: float, alpha: ArrayLike, tol: float = 1e-6) -> HullPoint:
    """Map α to ᾱ = 2α/Σα with μ = 2C/Σα: stationary, and a local optimum if α is one.

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
    qp, y = _hulls(problem, mu), problem.y
    weights = stationary_weights(qp, alphabar, tol)
    lower, upper = qp.at_bounds(weights, tol)
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
    return SVMPoint(float(qp.upper) / rho, {"alpha": weights / rho})
