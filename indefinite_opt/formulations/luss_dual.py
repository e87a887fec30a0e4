"""Support vector machines with a proxy kernel, at a penalty for its distance from the given one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Inner, Model, Program
from indefinite_opt.foundation import checks
from indefinite_opt.modeling import (
    PROXY,
    PROXY_MEANINGS,
    TREATMENTS,
    Formulation,
    parameter,
    penalised_proxy,
    proxy_change,
    proxy_dual,
)
from indefinite_opt.modeling.programs import ProxyDual
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class LussDual(Formulation):
    r"""SVM dual against the worst proxy kernel near the given, indefinite one.

    .. math:: \max_{\alpha}\ \min_{K \succeq 0}
              \ e^\top\alpha - \tfrac12 (y\circ\alpha)^\top K (y\circ\alpha) + \rho\|K - K_0\|_F^2
              \quad\text{s.t.}\quad y^\top\alpha = 0,\ 0 \le \alpha \le C

    Concave in α for every K₀. The inner minimum is K* = (K₀ + zzᵀ/(4ρ))₊ with z = y∘α, its value
    eᵀα - ½zᵀK₀z - ‖z‖⁴/(16ρ) + ρ Σ min(λ, 0)² over the eigenvalues λ of K₀ + zzᵀ/(4ρ), and its
    gradient e - y∘K*z; both take O(n²) once K₀ is decomposed. For ρ → ∞ this is the SVM of the
    clipped kernel; at a finite ρ it is not the plain SVM even if K₀ ⪰ 0.

    Parameters
    ----------
    C : float
        Upper bound of the weights.
    rho : float
        Price ρ > 0 of the squared Frobenius distance between the proxy kernel and K₀.
    new_points : {"projected", "original", "joint"}
        How a new point's kernel row is treated; see `ProxyChange`. The paper uses `joint`.

    Notes
    -----
    Relative gaps are measured without the constant ρ‖(K₀)₋‖², the objective at α = 0, which can be
    orders of magnitude larger than everything else.

    References
    ----------
    Luss & d'Aspremont (2007), (3), (4), (5); `dual` is (6). Ying, Campbell & Girolami (2009) show
    that the objective is differentiable.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[0.0, -1.0], [-1.0, 0.0]], [1, -1])   # eigenvalues -1 and 1
    >>> print(LussDual(C=10.0, rho=1.0).declare(problem))
    LussDual(C=10, new_points=projected)
      maximize    min over K ⪰ 0 of eᵀα - ½ (y∘α)ᵀK(y∘α) + ρ ‖K - K₀‖_F²
      subject to  yᵀα = 0    (balance)
                  0 ≤ α ≤ C  (lower, upper)
      where       K is the proxy kernel, K₀ the given one
      with        α ∈ R², K ∈ R^(2×2), y ∈ R², K₀ ∈ R^(2×2), ρ = 1, C = 10
      solved as   a dual with a proxy kernel at a penalty, by newton
    >>> result = iopt.solve(problem, LussDual(C=10.0, rho=1.0))
    >>> result.values["alpha"].round(5), result.certificate.claim.name
    (array([0.77092, 0.77092]), 'GLOBAL')
    """

    C: float = parameter(1.0, checks.weight_bound)
    rho: float = parameter(1.0, checks.positive)
    new_points: str = parameter("projected", checks.choice, choices=TREATMENTS)

    reference: ClassVar[str] = "Luss & d'Aspremont (2007), (3), (5), (6)"
    in_every_title: ClassVar[frozenset[str]] = frozenset({"new_points"})

    def model(self, problem: KernelProblem) -> Model:
        alpha = cp.Variable(problem.n, name="alpha")
        K = cp.Variable((problem.n, problem.n), name="K", PSD=True)
        K0, y, C, rho = problem.symbols("K0", "y", C=self.C, rho=self.rho)
        z = cp.multiply(y, alpha)
        constraints = {"balance": y @ alpha == 0, "lower": alpha >= 0, "upper": alpha <= C}
        return Model(
            maximize=cp.sum(alpha) - 0.5 * (z @ K @ z) + rho * cp.sum_squares(K - K0),
            subject_to=constraints,
            meanings=PROXY_MEANINGS,
            where=(PROXY,),
            inner=Inner(K, {}, partial(penalised_proxy, alpha, K, constraints, problem, self.rho)),
            theorem=partial(ProxyDual, problem, rho=self.rho, C=self.C),
            coef=z,
            offset="balance",
            change=partial(proxy_change, problem),
        )

    def dual(self, problem: KernelProblem) -> Program:
        """The dual (6), a semidefinite program over the proxy kernel, for a few dozen points.

        >>> problem = KernelProblem([[0.0, -1.0], [-1.0, 0.0]], [1, -1])
        >>> print(LussDual(C=10.0, rho=1.0).dual(problem))
        Dual of LussDual(C=10, new_points=projected)
          minimize    ½ (y∘(e + λ - μ + ν y))ᵀK⁻¹(y∘(e + λ - μ + ν y)) + C eᵀμ
                        + ρ ‖K - K₀‖_F²
          subject to  λ ≥ 0  (lower)
                      μ ≥ 0  (upper)
                      K ⪰ 0  (domain)
          with        K ∈ R^(2×2), λ ∈ R², μ ∈ R², ν ∈ R, y ∈ R², K₀ ∈ R^(2×2), C = 10,
                      ρ = 1
        """
        model = proxy_dual(problem, self.C, rho=self.rho)
        return model.program(f"Dual of {self}", self.program(problem), is_solved=False)
