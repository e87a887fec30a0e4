"""Support vector machines with a proxy kernel within a given distance of the given one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Inner, Model, Program
from indefinite_opt.foundation import checks
from indefinite_opt.modeling import (
    PROXY,
    PROXY_MEANINGS,
    TREATMENTS,
    Formulation,
    parameter,
    proxy_change,
    proxy_dual,
    proxy_within,
)
from indefinite_opt.modeling.programs import ProxyDual
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class LussBall(Formulation):
    r"""SVM dual against the worst proxy kernel in a ball around the given, indefinite one.

    .. math:: \max_{\alpha}\ \min_{K \succeq 0,\ \|K - K_0\|_F^2 \le r}
              \ e^\top\alpha - \tfrac12 (y\circ\alpha)^\top K (y\circ\alpha)
              \quad\text{s.t.}\quad y^\top\alpha = 0,\ 0 \le \alpha \le C

    It is `LussDual` with a penalty ρ that depends on α and puts K* on the sphere. There is a
    positive semidefinite kernel in the ball if and only if r ≥ ‖(K₀)₋‖², the sum of the squared
    negative eigenvalues; with equality it is the clipped kernel only.

    Parameters
    ----------
    C : float
        Upper bound of the weights.
    radius : float, optional
        r, the bound on the squared Frobenius distance; by default 0.01 ‖K₀‖² more than the
        smallest feasible one.
    new_points : {"projected", "original", "joint"}
        How a new point's kernel row is treated; see `ProxyChange`.

    References
    ----------
    Luss & d'Aspremont (2007), (2).

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[0.0, -1.0], [-1.0, 0.0]], [1, -1])   # eigenvalues -1 and 1
    >>> LussBall.smallest_radius(problem)
    1.0
    >>> print(LussBall(C=10.0, radius=2.0).declare(problem))
    LussBall(C=10, radius=2, new_points=projected)
      maximize    min over K ⪰ 0, ‖K - K₀‖_F² ≤ r of eᵀα - ½ (y∘α)ᵀK(y∘α)
      subject to  yᵀα = 0    (balance)
                  0 ≤ α ≤ C  (lower, upper)
      where       K is the proxy kernel, K₀ the given one
      with        α ∈ R², K ∈ R^(2×2), K₀ ∈ R^(2×2), y ∈ R², r = 2, C = 10
      solved as   a dual with a proxy kernel in a ball, by newton
    >>> iopt.solve(problem, LussBall(C=10.0, radius=2.0)).values["alpha"]    # K* = eeᵀ + ...
    array([0.5, 0.5])
    """

    C: float = parameter(1.0, checks.weight_bound)
    radius: float | None = parameter(None, checks.positive, zero=True, optional=True)
    new_points: str = parameter("projected", checks.choice, choices=TREATMENTS)

    reference: ClassVar[str] = "Luss & d'Aspremont (2007), (2)"
    in_every_title: ClassVar[frozenset[str]] = frozenset({"new_points"})

    @staticmethod
    def smallest_radius(problem: KernelProblem) -> float:
        """‖(K₀)₋‖²; in a smaller ball there is no positive semidefinite kernel."""
        return problem.spectrum.negative_square

    def model(self, problem: KernelProblem) -> Model:
        alpha = cp.Variable(problem.n, name="alpha")
        K = cp.Variable((problem.n, problem.n), name="K", PSD=True)
        program = ProxyDual.in_ball(problem, self.radius, self.C)
        K0, y, C, r = problem.symbols("K0", "y", C=self.C, r=program.radius)
        z = cp.multiply(y, alpha)
        constraints = {"balance": y @ alpha == 0, "lower": alpha >= 0, "upper": alpha <= C}
        ball = {"ball": cp.sum_squares(K - K0) <= r}
        within = partial(proxy_within, alpha, constraints, problem, program.radius)
        return Model(
            maximize=cp.sum(alpha) - 0.5 * (z @ K @ z),
            subject_to=constraints,
            meanings=PROXY_MEANINGS,
            where=(PROXY,),
            inner=Inner(K, ball, within),
            theorem=partial(ProxyDual, problem, None, self.C, program.slack),
            coef=z,
            offset="balance",
            change=partial(proxy_change, problem),
        )

    def dual(self, problem: KernelProblem) -> Program:
        """The dual, a minimum over the proxy kernels in the ball as in (6)."""
        program: Any = self.program(problem)
        model = proxy_dual(problem, self.C, radius=program.radius)
        return model.program(f"Dual of {self}", program, is_solved=False)
