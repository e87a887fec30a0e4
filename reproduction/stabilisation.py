"""The dual stabilisation problem of Loosli et al. (2013), section 4.3, and where it goes wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from indefinite_opt.errors import ParameterError
from indefinite_opt.foundation import Array, checks
from indefinite_opt.modeling import Inner, Model, Program, constants
from indefinite_opt.modeling.structures import BoxLineQP, Stabilised, stabilise
from indefinite_opt.problem import KernelProblem, check_problem
from indefinite_opt.theory.lifting import stationary_weights

MEANINGS = {
    "P": "P₊ - P₋",
    "P_plus": "projection on the eigenvectors of G with positive eigenvalues",
    "P_minus": "projection on the eigenvectors of G with negative eigenvalues",
    "Gtilde": "G with the absolute values of its eigenvalues, G₊ + G₋",
    "G_plus": "positive part of G, G = G₊ - G₋",
    "G_minus": "negative part of G, positive semidefinite",
    "alpha_plus": "part of the weights in the space of P₊",
    "alpha_minus": "part of the weights in the space of P₋",
}
"""What the symbols of (17) to (19) mean."""


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
        α₊ = P₊α̃, α₋ = -P₋α̃ and α = α₊ + α₋ = Pα̃, P = P₊ - P₋.
    objective : float
        Of (15), and so of (17) and (18).
    unrestricted : float
        Value of the objective of (18) at α₊ = α̃/2, α₋ = -α̃/2, which is feasible for (19) if α₊
        and α₋ need not be in the spaces of P₊ and P₋.
    tol : float

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[-3.0, 4.0], [4.0, 3.0]], [1, -1])
    >>> found = iopt.theory.dual_stabilisation(problem, 1.0, [0.2, 0.2])
    >>> found.holds, round(found.outside, 12), round(found.unrestricted, 12)
    (False, 0.04, 0.35)
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
    problem: KernelProblem, C: float, alpha: ArrayLike, tol: float = 1e-6
) -> DualStabilisation:
    """Restore a solution of `ESVM(C)`, and check it in the programs said to be equivalent to (15).

    Section 4.3 goes from (15) by α = Pα̃ to (17) and by α₊ = P₊α, α₋ = P₋α to (18), which have the
    same value. The step to (19) replaces 0 ≤ α₊ - α₋ ≤ C by 0 ≤ α₊ ≤ C/2 and -C/2 ≤ α₋ ≤ 0, and
    (16) and (20) keep these bounds. This is no equivalence:

    1. α₊ and α₋ are projections of α, whose entries have any sign. With them (19) has a subset of
       the feasible points of (18), and may have no solution of it.
    2. Without them, for any two vectors, α₊ = α̃/2 and α₋ = -α̃/2 are feasible and have a larger
       objective than (15), eᵀα̃ - ⅛α̃ᵀG̃α̃ for eᵀα̃ - ½α̃ᵀG̃α̃.

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
        If alpha is not n finite numbers, not feasible, or no solution of (15); or if K was changed
        after the problem was made.

    References
    ----------
    Loosli, Ong & Canu (2013), section 4.3, (15)-(20).

    Examples
    --------
    G has the eigenvalues 5 on (-1, 2) and -5 on (2, 1), so that G̃ = 5I and α̃ = (1/5, 1/5):

    >>> problem = KernelProblem([[-3.0, 4.0], [4.0, 3.0]], [1, -1])
    >>> found = dual_stabilisation(problem, 1.0, [0.2, 0.2])
    >>> found.plus.round(12), found.minus.round(12)            # α₊ ≥ 0 is violated
    (array([-0.04,  0.08]), array([-0.24, -0.12]))
    >>> print(found)
    The solution of (15), restored, is NOT feasible for (19) and (20) (tol 1e-06): its parts \
leave their bounds by 0.04 C.
    Objective 0.2 in (15), (17) and (18); with any α₊ and α₋ that of (19) reaches 0.35.
    """
    stabilised, qp = _dual(problem, C)
    problem.check_unchanged()
    tilde = stationary_weights(qp, alpha, tol)
    restored = problem.y * stabilised.coefficients(problem.y * tilde)
    plus, minus = 0.5 * (restored + tilde), 0.5 * (restored - tilde)
    outside = np.concatenate([-plus, plus - 0.5 * C, minus, -minus - 0.5 * C])
    violation = max(float(outside.max()) / C, 0.0)
    curvature = float(tilde @ (qp.gradient(tilde) + 1.0))
    return DualStabilisation(
        holds=violation <= tol,
        outside=violation,
        plus=plus,
        minus=minus,
        alpha=restored,
        objective=float(tilde.sum()) - 0.5 * curvature,
        unrestricted=float(tilde.sum()) - 0.125 * curvature,
        tol=float(tol),
    )


def stabilisation_program(problem: KernelProblem, C: float, equation: int) -> Program:
    """One of the programs (17), (18) and (19), declared as the paper prints it.

    With G = UDUᵀ, P₊ and P₋ project on the eigenvectors of its positive and negative eigenvalues,
    P = P₊ - P₋, G₊ = P₊G, G₋ = -P₋G and G̃ = G₊ + G₋. That α₊ and α₋ are in the spaces of P₊ and P₋
    is implied in the paper and declared here: without it (18) would have the value of a linear
    program.

    (19) maximises over α₊ and minimises over α₋ an objective without a common term, so that there
    is a saddle point for every common value of yᵀα₊ and yᵀα₋. `cvxpy` returns the one at which the
    shared constraint has one multiplier: the maximiser of the objective of (18), of which (19)
    changes a sign and the bounds. As G₋α₊ = 0 = G₊α₋, the objective of (16) and (20), in the sum
    α = α₊ + α₋, is that of (19); so are their constraints, but (16) prints Cp for C/2.

    Parameters
    ----------
    problem : KernelProblem
    C : float
        Upper bound of the weights, finite.
    equation : {17, 18, 19}

    Returns
    -------
    Program
        `export` writes (15), of which it is a restatement.

    Raises
    ------
    ParameterError
        If C is not a positive number, or there is no such program.

    References
    ----------
    Loosli, Ong & Canu (2013), (17)-(20).

    Examples
    --------
    >>> problem = KernelProblem([[-3.0, 4.0], [4.0, 3.0]], [1, -1])
    >>> print(stabilisation_program(problem, 1.0, 18))
    Loosli et al. (18)
      maximize    -½ α₊ᵀG₊α₊ - ½ α₋ᵀG₋α₋ + eᵀα₊ - eᵀα₋
      subject to  yᵀ(α₊ - α₋) = 0  (balance)
                  0 ≤ α₊ - α₋ ≤ C  (lower, upper)
                  P₋α₊ = 0         (plus)
                  P₊α₋ = 0         (minus)
    >>> programs = [stabilisation_program(problem, 1.0, number).cvxpy() for number in (17, 18, 19)]
    >>> [round(float(each.solve(solver="CLARABEL")), 6) + 0.0 for each in programs]
    [0.2, 0.2, 0.0]
    """
    stabilised, qp = _dual(problem, C)
    if equation not in (17, 18, 19):
        raise ParameterError("equation", "17, 18 or 19", repr(equation))
    U = problem.y[:, None] * stabilised.vectors
    model = _model(equation, C, problem.y, problem.Q, qp.H(), (U * stabilised.signs) @ U.T)
    return _Restatement(**vars(model), name=f"Loosli et al. ({equation})", structure=qp)


def _dual(problem: KernelProblem, C: float) -> tuple[Stabilised, BoxLineQP]:
    """The decomposition of K, and the program (15)."""
    check_problem(problem)
    checks.weight_bound("C", C)
    stabilised = stabilise(problem)
    return stabilised, BoxLineQP.svm(stabilised.problem, C)


class _Restatement(Program):
    """A program in other variables than its structure, which cvxpy is given as it is declared."""

    def cvxpy(self) -> Any:
        import cvxpy as cp

        if self.inner is not None:
            return self.inner.equivalent()
        return cp.Problem(cp.Maximize(self.objective), list(self.subject_to.values()))


def _model(
    equation: int, bound: float, labels: Array, gram: Array, stabilised: Array, signs: Array
) -> Model:
    """(17), (18) or (19) from C, y, G, G̃ and P."""
    import cvxpy as cp

    identity = np.eye(labels.size)
    C, y, P, Gtilde = constants(C=bound, y=labels, P=signs, Gtilde=stabilised)
    if equation == 17:
        turned = P @ cp.Variable(labels.size, name="alpha")
        return Model(
            maximize=-0.5 * cp.quad_form(turned, cp.psd_wrap(Gtilde)) + cp.sum(turned),
            subject_to={"balance": y @ turned == 0, "lower": turned >= 0, "upper": turned <= C},
            meanings=MEANINGS,
        )
    plus, minus = (cp.Variable(labels.size, name=f"alpha_{part}") for part in ("plus", "minus"))
    P_plus, P_minus = constants(P_plus=0.5 * (identity + signs), P_minus=0.5 * (identity - signs))
    halves = constants(G_plus=0.5 * (stabilised + gram), G_minus=0.5 * (stabilised - gram))
    # Both are positive semidefinite up to rounding.
    curved, bent = (
        0.5 * cp.quad_form(part, cp.psd_wrap(half))
        for part, half in zip((plus, minus), halves, strict=True)
    )
    gain = -curved - bent + cp.sum(plus) - cp.sum(minus)
    if equation == 18:
        return Model(
            maximize=gain,
            subject_to={
                "balance": y @ (plus - minus) == 0,
                "lower": plus - minus >= 0,
                "upper": plus - minus <= C,
                "plus": P_minus @ plus == 0,
                "minus": P_plus @ minus == 0,
            },
            meanings=MEANINGS,
        )
    outer = {
        "balance": y @ plus == y @ minus,
        "lower": plus >= 0,
        "upper": plus <= C / 2,
        "plus": P_minus @ plus == 0,
    }
    inner = {"lower": minus >= -C / 2, "upper": minus <= 0, "minus": P_plus @ minus == 0}

    def equivalent() -> Any:
        return cp.Problem(cp.Maximize(gain), [*outer.values(), *inner.values()])

    return Model(
        maximize=-curved + bent + cp.sum(plus) + cp.sum(minus),
        subject_to=outer,
        inner=Inner(minus, inner, equivalent),
        meanings=MEANINGS,
    )
