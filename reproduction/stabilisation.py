"""The dual stabilisation problem of Loosli et al. (2013), section 4.3, and where it goes wrong.

With G = UDUᵀ, P₊ and P₋ project on the eigenvectors of its positive and negative eigenvalues,
P = P₊ - P₋, G₊ = P₊G, G₋ = -P₋G and G̃ = G₊ + G₋. Section 4.3 goes from (15) by α = Pα̃ to (17) and
by α₊ = P₊α, α₋ = P₋α to (18), which have the same value. The step to (19) replaces
0 ≤ α₊ - α₋ ≤ C by 0 ≤ α₊ ≤ C/2 and -C/2 ≤ α₋ ≤ 0, and (16) and (20) keep these bounds. This is no
equivalence:

1. α₊ and α₋ are projections of α, whose entries have any sign. With them (19) has a subset of the
   feasible points of (18), and may have no solution of it.
2. Without them, for any two vectors, α₊ = α̃/2 and α₋ = -α̃/2 are feasible and have a larger
   objective than (15), eᵀα̃ - ⅛α̃ᵀG̃α̃ for eᵀα̃ - ½α̃ᵀG̃α̃.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import cvxpy as cp
import numpy as np
from numpy.typing import ArrayLike, NDArray

import indefinite_opt as iopt
from indefinite_opt.errors import ParameterError, ProblemError

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DualStabilisation:
    """A solution α̃ of (15), restored to α = Pα̃, in the programs (16) to (20); `print` it.

    Attributes
    ----------
    holds : bool
        Whether α₊ and α₋ satisfy the bounds of (16), (19) and (20), within `tol`.
    outside : float
        Largest violation of 0 ≤ α₊ ≤ C/2 and -C/2 ≤ α₋ ≤ 0, in units of C.
    plus, minus, alpha : (n,) arrays
        α₊ = P₊α̃, α₋ = -P₋α̃ and α = α₊ + α₋ = Pα̃.
    objective : float
        Of (15), and so of (17) and (18).
    unrestricted : float
        Value of the objective of (18) at α₊ = α̃/2, α₋ = -α̃/2, which is feasible for (19) if α₊
        and α₋ need not be in the spaces of P₊ and P₋.
    tol : float
    """

    holds: bool
    outside: float
    plus: Array = field(repr=False)
    minus: Array = field(repr=False)
    alpha: Array = field(repr=False)
    objective: float
    unrestricted: float
    tol: float

    def __str__(self) -> str:
        verdict = "is feasible" if self.holds else "is NOT feasible"
        return (
            f"The solution of (15), restored, {verdict} for (19) and (20) (tol {self.tol:g}): its "
            f"parts leave their bounds by {self.outside:.3g} C.\n"
            f"Objective {self.objective:.6g} in (15), (17) and (18); with any α₊ and α₋ that of "
            f"(19) reaches {self.unrestricted:.6g}."
        )


def dual_stabilisation(
    problem: iopt.KernelProblem, C: float, alpha: ArrayLike, tol: float = 1e-6
) -> DualStabilisation:
    """Restore a solution of `ESVM(C)`, and check it in the programs said to be equivalent to (15).

    Parameters
    ----------
    problem : KernelProblem
    C : float
        Upper bound of the weights, finite.
    alpha : (n,) array_like
        α̃, a solution of `ESVM(C)` (15), as in `Result.values`.
    tol : float
        Tolerance of the solution, and of the bounds in units of C.

    Raises
    ------
    ParameterError
        If C is not a positive number, or the tolerance not between 0 and 1.
    ProblemError
        If alpha is not n finite numbers or no solution of (15), or if K was changed after the
        problem was made.

    Examples
    --------
    G has the eigenvalues 5 on (-1, 2) and -5 on (2, 1), so that G̃ = 5I and α̃ = (1/5, 1/5):

    >>> problem = iopt.KernelProblem([[-3.0, 4.0], [4.0, 3.0]], [1, -1])
    >>> found = dual_stabilisation(problem, 1.0, [0.2, 0.2])
    >>> found.plus.round(12), found.minus.round(12)            # α₊ ≥ 0 is violated
    (array([-0.04,  0.08]), array([-0.24, -0.12]))
    >>> print(found)
    The solution of (15), restored, is NOT feasible for (19) and (20) (tol 1e-06): its parts \
leave their bounds by 0.04 C.
    Objective 0.2 in (15), (17) and (18); with any α₊ and α₋ that of (19) reaches 0.35.
    """
    solution = iopt.theory.krein_certificate(problem, iopt.ESVM(C), {"alpha": alpha}, tol)
    if not solution.holds:
        raise ProblemError(
            "alpha", "a stationary point of (15)", f"one that misses it by {solution.violation:.2e}"
        )
    tilde = np.asarray(alpha, dtype=float)
    P, halves = _decomposed(problem)
    restored = P @ tilde
    plus, minus = 0.5 * (restored + tilde), 0.5 * (restored - tilde)
    outside = np.concatenate([-plus, plus - 0.5 * C, minus, -minus - 0.5 * C])
    violation = max(float(outside.max()) / C, 0.0)
    curvature = float(tilde @ sum(halves) @ tilde)
    return DualStabilisation(
        holds=violation <= tol,
        outside=violation,
        plus=plus,
        minus=minus,
        alpha=restored,
        objective=float(tilde.sum()) - 0.5 * curvature,
        unrestricted=float(tilde.sum()) - 0.125 * curvature,
        tol=tol,
    )


def stabilisation_program(problem: iopt.KernelProblem, C: float, equation: int) -> Any:
    """One of the programs (17), (18) and (19) in cvxpy, in `alpha` or `alpha_plus`, `alpha_minus`.

    (17) max -½ αᵀG̃α + eᵀPα  s.t.  yᵀPα = 0, 0 ≤ Pα ≤ C;

    (18) max -½ α₊ᵀG₊α₊ - ½ α₋ᵀG₋α₋ + eᵀα₊ - eᵀα₋  s.t.  yᵀ(α₊ - α₋) = 0, 0 ≤ α₊ - α₋ ≤ C;

    (19) max over α₊, min over α₋ of -½ α₊ᵀG₊α₊ + ½ α₋ᵀG₋α₋ + eᵀα₊ + eᵀα₋
    s.t.  yᵀα₊ = yᵀα₋, 0 ≤ α₊ ≤ C/2, -C/2 ≤ α₋ ≤ 0.

    That α₊ and α₋ are in the spaces of P₊ and P₋ is implied in the paper and declared here: without
    it (18) would have the value of a linear program.

    The objective of (19) has no common term, so that there is a saddle point for every common value
    of yᵀα₊ and yᵀα₋. The program is that of the one at which the shared constraint has one
    multiplier: the objective of (18), of which (19) changes a sign, with the bounds of (19). As
    G₋α₊ = 0 = G₊α₋, the objective of (16) and (20), in the sum α = α₊ + α₋, is that of (19); so are
    their constraints, but (16) prints Cp for C/2.

    Raises
    ------
    ParameterError
        If C is not a positive number, or there is no such program.

    Examples
    --------
    >>> problem = iopt.KernelProblem([[-3.0, 4.0], [4.0, 3.0]], [1, -1])
    >>> programs = [stabilisation_program(problem, 1.0, number) for number in (17, 18, 19)]
    >>> [round(float(each.solve(solver="CLARABEL")), 6) + 0.0 for each in programs]
    [0.2, 0.2, 0.0]
    """
    bound = iopt.ESVM(C).C  # which is checked
    if equation not in (17, 18, 19):
        raise ParameterError("equation", "17, 18 or 19", repr(equation))
    (P, halves), y, n = _decomposed(problem), problem.y, problem.n
    if equation == 17:
        turned = P @ cp.Variable(n, name="alpha")
        gain = cp.sum(turned) - 0.5 * cp.quad_form(turned, cp.psd_wrap(sum(halves)))
        return cp.Problem(cp.Maximize(gain), [y @ turned == 0, turned >= 0, turned <= bound])
    plus, minus = cp.Variable(n, name="alpha_plus"), cp.Variable(n, name="alpha_minus")
    # Both are positive semidefinite up to rounding.
    curved, bent = (
        0.5 * cp.quad_form(part, cp.psd_wrap(half))
        for part, half in zip((plus, minus), halves, strict=True)
    )
    spaces = [plus == P @ plus, minus == -P @ minus]
    bounds = [plus - minus >= 0, plus - minus <= bound]
    if equation == 19:
        bounds = [plus >= 0, plus <= bound / 2, minus <= 0, minus >= -bound / 2]
    gain = -curved - bent + cp.sum(plus) - cp.sum(minus)
    return cp.Problem(cp.Maximize(gain), [y @ plus == y @ minus, *bounds, *spaces])


def _decomposed(problem: iopt.KernelProblem) -> tuple[Array, tuple[Array, Array]]:
    """P, and G₊ and G₋; eigenvalues that are zero up to rounding count as positive."""
    values, U = np.linalg.eigh(problem.Q)
    signs = np.where(values < -problem.zero_tolerance, -1.0, 1.0)
    halves = [(U * (sign * values).clip(min=0.0)) @ U.T for sign in (1.0, -1.0)]
    return (U * signs) @ U.T, (halves[0], halves[1])
