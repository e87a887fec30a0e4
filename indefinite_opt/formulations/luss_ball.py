"""Support vector machines that choose their own proxy kernel within a given distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import InfeasibleProblem
from indefinite_opt.modeling.classifier import TREATMENTS, Classifier, ProxyChange
from indefinite_opt.modeling.formulation import Formulation, check_choice, check_positive
from indefinite_opt.modeling.program import Inner, Program, constants
from indefinite_opt.modeling.semidefinite import kernel_variable, svm_dual
from indefinite_opt.modeling.structures.proxy_kernel import ProxyBall
from indefinite_opt.problem.kernel_problem import KernelProblem

__all__ = ["LussBall"]

Array = NDArray[np.float64]

_SHARE = 0.01
"""Of ‖K₀‖², the room that the default radius leaves beyond the smallest one."""


@dataclass(frozen=True)
class LussBall(Formulation):
    r"""SVM dual against the worst proxy kernel in a ball around the given, indefinite one.

    .. math:: \max_{\alpha}\ \min_{K \succeq 0,\ \|K - K_0\|_F^2 \le r}\
              e^\top\alpha - \tfrac12 (y\circ\alpha)^\top K (y\circ\alpha)
              \quad\text{s.t.}\quad y^\top\alpha = 0,\ 0 \le \alpha \le C

    `LussDual` with the price ρ that puts K* on the sphere, found anew for every α. There is a
    positive semidefinite kernel in the ball if and only if r ≥ ‖(K₀)₋‖², the sum of the squared
    negative eigenvalues; with equality it is the clipped kernel alone.

    Parameters
    ----------
    C : float
        Upper bound of the weights.
    radius : float, optional
        r, a bound on the squared Frobenius distance; by default 0.01 ‖K₀‖² more than the smallest
        feasible one.
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
      maximize    min over K of eᵀα - ½ (y∘α)ᵀK(y∘α)
      subject to  yᵀα = 0          (balance)
                  0 ≤ α ≤ C        (lower, upper)
                  ‖K - K₀‖_F² ≤ r  (ball)
                  K ⪰ 0            (domain)
    >>> iopt.solve(problem, LussBall(C=10.0, radius=2.0)).values["alpha"]    # K* = eeᵀ + ...
    array([0.5, 0.5])
    """

    C: float = 1.0
    radius: float | None = None
    new_points: str = "projected"

    reference: ClassVar[str] = "Luss & d'Aspremont (2007), (2)"
    structure_type: ClassVar[type] = ProxyBall
    convex: ClassVar[bool | None] = True

    def __post_init__(self) -> None:
        check_positive("C", self.C)
        if self.radius is not None:
            check_positive("radius", self.radius, zero=True)
        check_choice("new_points", self.new_points, TREATMENTS)

    @staticmethod
    def smallest_radius(problem: KernelProblem) -> float:
        """‖(K₀)₋‖²: below it no positive semidefinite kernel is in the ball."""
        return problem.spectrum.negative_square

    def _room(self, problem: KernelProblem) -> float:
        """How much the radius exceeds the smallest one."""
        if self.radius is None:
            return _SHARE * float(np.sum(problem.spectrum.values**2))
        least = self.smallest_radius(problem)
        # Eigenvalues are known to zero_tolerance; the sum of their squares to twice that of each.
        rounding = 2.0 * problem.zero_tolerance * float(np.sqrt(problem.n * least))
        if self.radius < least - rounding:
            raise InfeasibleProblem(
                "radius", f"at least {least!r}, the squared negative eigenvalues of K₀ summed",
                repr(self.radius), "No positive semidefinite kernel is in a smaller ball.",
            )  # fmt: skip
        return max(self.radius - least, 0.0)

    def declare(self, problem: KernelProblem) -> Program:
        import cvxpy as cp

        alpha = cp.Variable(problem.n, name="alpha")
        K = kernel_variable(problem)
        radius = self.smallest_radius(problem) + self._room(problem)
        C, r, K0, y = constants(C=self.C, r=radius, K0=problem.K, y=problem.y)
        z = cp.multiply(y, alpha)
        constraints = {"balance": y @ alpha == 0, "lower": alpha >= 0, "upper": alpha <= C}

        def equivalent() -> Any:
            # The minimum over K is the maximum over its price ρ of the minimum with that price;
            # S = ρK* is the least in ‖·‖ with S ⪰ 0 and S ⪰ ρK₀ + zzᵀ/4.
            rho = cp.Variable(name="rho", nonneg=True)
            S = cp.Variable((problem.n, problem.n), name="S", PSD=True)
            bordered = cp.bmat([[S - rho * K0, 0.5 * z[:, None]], [0.5 * z[None, :], np.eye(1)]])
            least = rho * (np.sum(problem.K**2) - radius) - cp.quad_over_lin(S, rho)
            return cp.Problem(
                cp.Maximize(cp.sum(alpha) + least), [*constraints.values(), bordered >> 0]
            )

        return Program(
            name=str(self),
            maximize=cp.sum(alpha) - 0.5 * (z @ K @ z),
            subject_to=constraints,
            structure=self.structure(problem),
            inner=Inner(K, {"ball": cp.sum_squares(K - K0) <= r}, equivalent),
        )

    def dual(self, problem: KernelProblem) -> Program:
        """Minimum over the proxy kernels in the ball, in the manner of (6)."""
        import cvxpy as cp

        K = kernel_variable(problem)
        machine, constraints = svm_dual(K, problem, self.C)
        radius = self.smallest_radius(problem) + self._room(problem)
        r, K0 = constants(r=radius, K0=problem.K)
        return Program(
            name=f"Dual of {self}",
            minimize=machine,
            subject_to=constraints | {"ball": cp.sum_squares(K - K0) <= r},
            structure=self.structure(problem),
        )

    def structure(self, problem: KernelProblem) -> ProxyBall:
        return ProxyBall(problem, room=self._room(problem), upper=self.C)

    def classifier(self, problem: KernelProblem, values: dict[str, Array]) -> Classifier:
        ball, alpha = self.structure(problem), values["alpha"]
        offset = float(ball.first_order(alpha, ball.gradient(alpha), tol=1e-6).lines[0])
        z = problem.y * alpha
        change = ProxyChange(problem, z, ball.price(ball.oracle.coordinates(z)))
        return Classifier(z, offset, problem.classes, self.new_points, change)
