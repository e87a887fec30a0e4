"""Semidefinite cvxpy models of the formulations with a proxy kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from indefinite_opt.algebra import Constraint, Definition, Model, Translation, Variable
from indefinite_opt.problem import KernelProblem

PROXY = Definition(
    "K is the proxy kernel, K₀ the given one",
    r"K\text{ is the proxy kernel, }K_0\text{ the given one}",
)
"""In all other formulations K is the given kernel."""

PROXY_MEANINGS = {
    "K": "proxy kernel matrix, positive semidefinite",
    "rho": "penalty of moving the kernel matrix away from the given one",
    "r": "largest squared distance of the proxy kernel from the given one",
    "lambda": "multipliers of α ≥ 0",
    "mu": "multipliers of α ≤ C",
    "nu": "multiplier of yᵀα = 0",
}
"""What symbols mean in programs with a proxy kernel, and in their duals."""


def penalised_proxy(
    alpha: Variable,
    K: Variable,
    constraints: dict[str, Constraint],
    problem: KernelProblem,
    rho: float,
    translated: Translation,
) -> Any:
    """`LussDual` as a semidefinite program in α and K, without the inner minimum.

    K* = argmin ‖K‖² over K ⪰ 0, K ⪰ K₀ + zzᵀ/(4ρ), and the inner minimum is -ρ‖K*‖² + ρ‖K₀‖².
    """
    import cvxpy as cp

    weights, proxy = translated(alpha), translated(K)
    z = cp.multiply(problem.y, weights)
    bordered = cp.bmat([[proxy - problem.K, z[:, None]], [z[None, :], np.full((1, 1), 4.0 * rho)]])
    least = rho * (np.sum(problem.K**2) - cp.sum_squares(proxy))
    rows = [translated(one) for one in constraints.values()]
    return cp.Problem(cp.Maximize(cp.sum(weights) + least), [*rows, bordered >> 0])


def proxy_within(
    alpha: Variable,
    constraints: dict[str, Constraint],
    problem: KernelProblem,
    radius: float,
    translated: Translation,
) -> Any:
    """`LussBall` as a semidefinite program in α, the penalty ρ of the distance, and S = ρK*.

    The minimum over K equals the maximum over ρ of the minimum at penalty ρ, and S has least norm
    among S ⪰ 0 with S ⪰ ρK₀ + zzᵀ/4.
    """
    import cvxpy as cp

    weights, K0 = translated(alpha), problem.K
    z = cp.multiply(problem.y, weights)
    rho = cp.Variable(name="rho", nonneg=True)
    S = cp.Variable((problem.n, problem.n), name="S", PSD=True)
    bordered = cp.bmat([[S - rho * K0, 0.5 * z[:, None]], [0.5 * z[None, :], np.eye(1)]])
    least = rho * (np.sum(problem.K**2) - radius) - cp.quad_over_lin(S, rho)
    rows = [translated(one) for one in constraints.values()]
    return cp.Problem(cp.Maximize(cp.sum(weights) + least), [*rows, bordered >> 0])


def proxy_dual(
    problem: KernelProblem, C: float, *, rho: float | None = None, radius: float | None = None
) -> Model:
    """The dual of `LussDual` (rho) or `LussBall` (radius): a minimum over the proxy kernel K ⪰ 0.

    max over α of eᵀα - ½(y∘α)ᵀK(y∘α) equals the minimum of its own dual, which is convex in K, too:
    ½(y∘v)ᵀK⁻¹(y∘v) + C eᵀμ with v = e + λ - μ + νy, where λ ≥ 0, μ ≥ 0 and ν are the multipliers of
    α ≥ 0, α ≤ C and yᵀα = 0 (Luss & d'Aspremont 2007, (6)).
    """
    import cvxpy as cp

    K = cp.Variable((problem.n, problem.n), name="K", PSD=True)
    lower = cp.Variable(problem.n, name="lambda")
    upper = cp.Variable(problem.n, name="mu")
    balance = cp.Variable(name="nu")
    named = {"C": C, "K0": problem.K, "y": problem.y}
    penalty, K0, y = (cp.Constant(value, name=name) for name, value in named.items())
    v = 1.0 + lower - upper + balance * y
    objective = 0.5 * cp.matrix_frac(cp.multiply(y, v), K) + penalty * cp.sum(upper)
    constraints, distance = {"lower": lower >= 0, "upper": upper >= 0}, cp.sum_squares(K - K0)
    if rho is not None:
        objective += cp.Constant(rho, name="rho") * distance
    if radius is not None:
        constraints["ball"] = distance <= cp.Constant(radius, name="r")
    return Model(minimize=objective, subject_to=constraints, meanings=PROXY_MEANINGS)
