"""Stationary points of a dual lifted to a primal: Haasdonk (2005), Lin & Lin (2003)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import Array, checks, finite_array
from indefinite_opt.modeling.programs import LiftedPrimal, SeparabilityProgram
from indefinite_opt.problem import KernelProblem, check_problem, embed
from indefinite_opt.quadratic import PairedQP, answers, relative


@dataclass(frozen=True, eq=False)
class Lifted:
    """A stationary point of the primal (9), lifted from one of SVM-DU.

    Attributes
    ----------
    values : dict of str to array
        w, b and xi.
    multipliers : dict of str to array
        α for the margins and C - α for the slacks.
    free : (int, int)
        Number of nonbounded weights in the classes +1 and -1. Proposition 2 asks for one in each;
        if there is none at all, b is not unique, and the middle of its interval is taken.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> lifted = iopt.theory.haasdonk_proposition_2(problem, 10.0, [0.5, 0.5])
    >>> sorted(lifted.values), lifted.free
    (['b', 'w', 'xi'], (1, 1))
    """

    values: dict[str, Array]
    multipliers: dict[str, Array]
    free: tuple[int, int]


def haasdonk_proposition_2(
    problem: KernelProblem, C: float, alpha: ArrayLike, tol: float = 1e-6
) -> Lifted:
    """Lift a stationary point of SVM-DU to the primal (9) (Haasdonk 2005, Proposition 2).

    w = Σ α_i y_i Φ(x_i), where Φ is the centred embedding that `embed` computes.

    Parameters
    ----------
    problem : KernelProblem
    C : float
        Finite upper bound of the weights.
    alpha : (n,) array_like
        Stationary weights of `SVMDual(C)`.
    tol : float
        Tolerance of feasibility and of the KKT residual.

    Raises
    ------
    ParameterError
        If C is not a positive, finite number.
    ProblemError
        If alpha is not n finite numbers, not feasible, or not stationary.

    Examples
    --------
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])   # x = 1 and x = -1
    >>> lifted = haasdonk_proposition_2(problem, 10.0, [0.5, 0.5])
    >>> abs(lifted.values["w"]).round(12), abs(lifted.values["b"]).round(12), lifted.free
    (array([1.]), np.float64(0.0), (1, 1))
    """
    checks.weight_bound("C", C)
    check_problem(problem)
    primal = LiftedPrimal(problem, embed(problem), C)
    weights = stationary_weights(primal.dual, alpha, tol)
    lower, upper = primal.dual.feasible.at_bounds(weights, tol)
    free, y = ~(lower | upper), problem.y
    values, multipliers = primal.lifted(weights)
    return Lifted(values, multipliers, (int(free[y > 0].sum()), int(free[y < 0].sum())))


def stationary_weights(qp: PairedQP, given: ArrayLike, tol: float) -> Array:
    """A copy of the weights; `ProblemError` unless they are a stationary point within tol."""
    checks.tolerance("tol", tol)
    name = qp.variable
    weights = finite_array(name, given, (qp.n,)).copy()
    violation = qp.infeasibility(weights)
    if violation > tol:
        raise ProblemError(name, "a feasible point", f"a violation of {violation:.2e}")
    gradient = qp.gradient(weights)
    residual = qp.feasible.first_order(weights, gradient, tol).residual / qp.gradient_unit(gradient)
    if residual > tol:
        raise ProblemError(
            name, f"a stationary point, within {tol:g}", f"a KKT residual of {residual:.2e}",
            "Solve again with a smaller tol, or pass a larger one.",
        )  # fmt: skip
    return weights


@dataclass(frozen=True, eq=False)
class Lift:
    """A point of Lin & Lin's (5), lifted from a stationary point of the SVM dual (2).

    Attributes
    ----------
    values : dict of str to array
        `alpha`, `b` and `xi`.
    multipliers : dict of str to array
        `margin` = α and `slack` = C - α, with which the point is stationary for (5), too.
    infeasibility : float
        The largest violation of a constraint of (5) by the values.
    short, bounded : int
        Number of margins below 1 and of weights at C. The first is at most the second, which
        thus limits the training error.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> lift = iopt.theory.lin_lin_theorem_1(problem, 10.0, [0.5, 0.5])
    >>> lift.values["alpha"], lift.infeasibility < 1e-12, lift.bounded
    (array([0.5, 0.5]), True, 0)
    """

    values: dict[str, Array]
    multipliers: dict[str, Array]
    infeasibility: float
    short: int
    bounded: int


def lin_lin_theorem_1(problem: KernelProblem, C: float, alpha: Array, tol: float = 1e-6) -> Lift:
    """Lift a stationary point of the SVM dual (2) to a feasible point of (5).

    b is the multiplier of yᵀα = 0 and ξ are those of α ≤ C. The margins are then at least 1 - ξ,
    and ξ_i > 0 only where α_i = C. More than the theorem says: with λ = α the first-order
    conditions of (5) hold as well.

    Parameters and errors are those of `haasdonk_proposition_2`; complementarity is tested, too.

    References
    ----------
    Lin & Lin (2003), Theorem 1.

    Examples
    --------
    >>> problem = KernelProblem([[0.0, 1.0], [1.0, 0.0]], [1, -1])   # eigenvalues -1 and 1
    >>> lift = lin_lin_theorem_1(problem, 2.0, np.array([2.0, 2.0]))
    >>> lift.values["xi"], lift.infeasibility < 1e-13, lift.short, lift.bounded
    (array([3., 3.]), True, 2, 2)
    """
    check_problem(problem)
    checks.weight_bound("C", C)
    program = SeparabilityProgram(problem, C, identity=False)
    dual = program.dual
    weights = stationary_weights(replace(dual, variable="alpha"), alpha, tol)
    gradient = dual.gradient(weights)
    first_order = dual.feasible.first_order(weights, gradient, tol)
    stationarity = first_order.residual / dual.gradient_unit(gradient)
    paid = dual.feasible.complementarity(weights, first_order.lower, first_order.upper)
    complementarity = relative(paid, answers.gap_unit(dual, dual.value(weights, gradient)))
    if max(stationarity, complementarity) > tol:
        raise ProblemError(
            "alpha", f"a stationary point of the SVM dual within {tol:g}",
            f"a KKT residual of {stationarity:.2e} and complementarity of {complementarity:.2e}",
            "Solve SVMDual first; Theorem 1 is about stationary points only.",
        )  # fmt: skip
    values = {
        "alpha": weights,
        "b": np.array(float(first_order.lines[0])),
        "xi": first_order.upper,
    }
    multipliers = {"margin": weights, "slack": C - weights}
    return Lift(
        values=values,
        multipliers=multipliers,
        infeasibility=program.infeasibility(values),
        short=int(np.sum(first_order.upper > tol)),
        bounded=int(np.sum(dual.feasible.at_bounds(weights, tol)[1])),
    )
