"""Guo & Schuurmans' quadratic program: least weighted sensitivity to flipped labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Definition, Model
from indefinite_opt.foundation import Array, Values, checks, finite_array
from indefinite_opt.modeling import (
    OFFSETS,
    Formulation,
    LeastError,
    check_weight_bound,
    constant_scores,
    parameter,
    reduced_weight,
)
from indefinite_opt.problem import ConfidenceProblem, KernelProblem, own_sensitivity


@dataclass(frozen=True)
class WeighsSensitivity(Formulation):
    """A program in weights of at most β̄ that weigh the sensitivity to flipped labels."""

    beta: float | None = None
    relative: float | None = None
    sensitivity: Array | None = field(default=None, repr=False, compare=False)
    offset: str = parameter("widest", checks.choice, choices=OFFSETS)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_weight_bound("beta", self.beta, self.relative)

    def remarks(self, problem: KernelProblem, values: Values) -> list[str]:
        Delta = own_sensitivity(problem, self.sensitivity)
        return constant_scores(problem, values["alpha"], Delta)

    def _least_error(self, problem: KernelProblem) -> LeastError:
        return LeastError(problem, self.sensitivity, self.offset)

    def refuse_sizes(self, first: int, second: int) -> None:
        reduced_weight("beta", self.beta, 0.5, min(first, second), self.relative)

    def _beta(self, problem: KernelProblem) -> float:
        return reduced_weight("beta", self.beta, 0.5, problem.smaller_class, self.relative)


@dataclass(frozen=True)
class GuoSchuurmansQP(WeighsSensitivity):
    r"""Quadratic program (4), the ν-form of the support vector machine.

    .. math:: \min_\alpha\ \alpha^\top Q\alpha
              \quad\text{s.t.}\quad y^\top\alpha = 0,\ e^\top\alpha = 1,
              \ 0 \le \alpha \le \bar\beta

    `ConvexHullDual` with ᾱ = 2α and μ = 2β̄. The paper writes C = K∘yyᵀ for Q, and β for β̄.

    Parameters
    ----------
    beta : float, optional
        β̄, at least 1/(2 min(n₊, n₋)).
    relative : float, optional
        β̄ as a multiple of the least feasible β̄, at least 1, instead of `beta`; 1.2 by default. It
        suits every subset of the data.
    sensitivity : (n, n) array, optional
        Sensitivity matrix Δ of a general confidence function, (6) and (9), not necessarily
        symmetric; the objective is then αᵀΔα. Not needed for a `ConfidenceProblem`, whose Q is
        (Δ + Δᵀ)/4, so that αᵀQα = ½αᵀΔα.
    offset : {"widest", "nearest"}
        Which offset of least training error the classifier has; see `least_error_offset`.

    Notes
    -----
    f(x) = Σ α_j y_j k(x_j, x) + b with b of least training error. For a general Δ the rows given to
    the classifier must hold ½ y_j (c(+1, y_j | x, x_j) - c(-1, y_j | x, x_j)), which is k(x_j, x)
    for the confidences of a kernel.

    References
    ----------
    Guo & Schuurmans (2009), (2), (4), (9), (10).

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> print(GuoSchuurmansQP(beta=0.5).declare(problem))
    GuoSchuurmansQP(beta=0.5)
      minimize    αᵀQα
      subject to  yᵀα = 0    (balance)
                  eᵀα = 1    (total)
                  0 ≤ α ≤ β̄  (lower, upper)
      with        α ∈ R², Q ∈ R^(2×2), y ∈ R², β̄ = ½
      solved as   a quadratic program on a box with two equations, by multistart
    >>> iopt.solve(problem, GuoSchuurmansQP(beta=0.5)).objective
    1.0
    """

    reference: ClassVar[str] = "Guo & Schuurmans (2009), (2), (4)"

    def model(self, problem: KernelProblem) -> Model:
        alpha = cp.Variable(problem.n, name="alpha")
        y, betabar = problem.symbols("y", betabar=self._beta(problem))
        if self.sensitivity is None:
            (matrix,) = problem.symbols("Q")
        else:
            Delta = finite_array("sensitivity", self.sensitivity, (problem.n, problem.n))
            (matrix,) = problem.symbols(Delta_s=0.5 * (Delta + Delta.T))
        confidences = isinstance(problem, ConfidenceProblem) and self.sensitivity is None
        symmetric = Definition("Q = (Δ + Δᵀ)/4", r"Q = (\Delta + \Delta^\top)/4", ("Delta",))
        return Model(
            minimize=cp.quad_form(alpha, matrix),
            where=(symmetric,) if confidences else (),
            subject_to={
                "balance": y @ alpha == 0,
                "total": cp.sum(alpha) == 1,
                "lower": alpha >= 0,
                "upper": alpha <= betabar,
            },
            classifier=self._least_error(problem),
        )
