"""Semidefinite models in cvxpy that the formulations with a proxy kernel share."""

from __future__ import annotations

from typing import Any

from indefinite_opt.modeling.program import constants
from indefinite_opt.problem.kernel_problem import KernelProblem

__all__ = ["kernel_variable", "svm_dual"]


def kernel_variable(problem: KernelProblem) -> Any:
    """The unknown proxy kernel K ⪰ 0, (n, n)."""
    import cvxpy as cp

    return cp.Variable((problem.n, problem.n), name="K", PSD=True)


def svm_dual(K: Any, problem: KernelProblem, C: float) -> tuple[Any, dict[str, Any]]:
    """max over α of eᵀα - ½(y∘α)ᵀK(y∘α) as the minimum of its own dual, convex in K as well.

    ½(y∘v)ᵀK⁻¹(y∘v) + C eᵀμ with v = e + λ - μ + νy and λ, μ ≥ 0, the multipliers of α ≥ 0, α ≤ C
    and yᵀα = 0 (Luss & d'Aspremont 2007, (6)).

    Returns
    -------
    cvxpy expression, dict of cvxpy constraints
    """
    import cvxpy as cp

    lower = cp.Variable(problem.n, name="lambda")
    upper = cp.Variable(problem.n, name="mu")
    balance = cp.Variable(name="nu")
    price, y = constants(C=C, y=problem.y)
    v = 1.0 + lower - upper + balance * y
    objective = 0.5 * cp.matrix_frac(cp.multiply(y, v), K) + price * cp.sum(upper)
    return objective, {"lower": lower >= 0, "upper": upper >= 0}
