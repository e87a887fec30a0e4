"""The ν-support vector machine, for kernels of any inertia."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model
from indefinite_opt.errors import InfeasibleProblem, ParameterError
from indefinite_opt.foundation import Values, checks
from indefinite_opt.modeling import Formulation, boundary_width, parameter, share
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class NuSVM(Formulation):
    r"""ν-support vector machine (ν-SVM), the dual.

    .. math:: \min_\alpha\ \tfrac12\alpha^\top Q\alpha
              \quad\text{s.t.}\quad y^\top\alpha = 0,\ e^\top\alpha \ge \nu,
              \ 0 \le \alpha \le 1/n

    Convex if and only if K is conditionally positive semidefinite.

    Parameters
    ----------
    nu : float
        ν, at most 2 min(n₊, n₋)/n. The share of support vectors is at least ν; if K is
        conditionally positive semidefinite, the share of margin errors is at most ν.
    equality : bool
        Whether eᵀα = ν is required, as LIBSVM does. If K is conditionally positive semidefinite,
        such an optimum exists (Chang & Lin 2001). For indefinite K it need not: where αᵀQα < 0, it
        falls along the ray through α, and the row is not tight.

    Notes
    -----
    f(x) = Σ α_i y_i k(x_i, x) + b, where y_i f(x_i) is the margin ρ for all free weights; ρ is the
    multiplier of eᵀα ≥ ν, 0 where that is not tight. LIBSVM divides f by ρ.

    A margin error is a point with y_i f(x_i) < ρ, and has α_i = 1/n at every stationary point. So
    the share of margin errors is at most eᵀα, which is at most the share of support vectors. For
    indefinite K eᵀα may exceed ν, and then ν does not bound the share of margin errors. The
    certificate states that share if it is larger than ν.

    References
    ----------
    Schölkopf, Smola, Williamson & Bartlett (2000), New support vector algorithms, section 4.
    Chang & Lin (2001), Training ν-support vector classifiers, Neural Computation 13, Theorem 1.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> print(NuSVM(nu=0.5).declare(problem))
    NuSVM
      minimize    ½ αᵀQα
      subject to  yᵀα = 0      (balance)
                  eᵀα ≥ ν      (total)
                  0 ≤ α ≤ 1/n  (lower, upper)
      with        α ∈ R², Q ∈ R^(2×2), y ∈ R², ν = ½, 1/n = ½
      solved as   a quadratic program with 2 rows, by clarabel if it is convex,
                  else by multistart
    >>> round(iopt.solve(problem, NuSVM(nu=0.5)).objective, 9)
    0.125
    """

    nu: float = parameter(0.5, share)
    equality: bool = parameter(False, checks.switch)

    reference: ClassVar[str] = "Schölkopf, Smola, Williamson & Bartlett (2000), section 4"

    def refuse_sizes(self, first: int, second: int) -> None:
        self._feasible(min(first, second), first + second)

    def _feasible(self, smaller: int, n: int) -> float:
        """ν, or its largest value where ν is above that by no more than rounding."""
        most = 2.0 * smaller / n
        if self.nu > most * (1.0 + 1e-12):
            raise InfeasibleProblem(
                "nu", f"at most {most!r} = 2 min(n₊, n₋)/n", repr(self.nu),
                "Above it the smaller class cannot have half of the weights.",
            )  # fmt: skip
        return min(self.nu, most)

    def model(self, problem: KernelProblem) -> Model:
        feasible = self._feasible(problem.smaller_class, problem.n)
        if not self.equality and problem.gram.on_demand:
            raise ParameterError(
                "equality", "True where rows of K are computed on demand", "False",
                "The row eᵀα ≥ ν needs the whole kernel matrix, which cache_mb=math.inf forms.",
            )  # fmt: skip
        alpha = cp.Variable(problem.n, name="alpha")
        Q, y, nu, upper = problem.symbols("Q", "y", nu=feasible, **{"1/n": 1.0 / problem.n})
        total = cp.sum(alpha)
        return Model(
            minimize=0.5 * cp.quad_form(alpha, Q),
            subject_to={
                "balance": y @ alpha == 0,
                "total": total == nu if self.equality else total >= nu,
                "lower": alpha >= 0,
                "upper": alpha <= upper,
            },
            meanings={"nu": "least sum of the weights"},
            coef=cp.multiply(y, alpha),
            offset="balance",
        )

    def remarks(self, problem: KernelProblem, values: Values) -> list[str]:
        """The share of margin errors, where eᵀα > ν and it is more than ν."""
        total = float(values["alpha"].sum())
        if self.equality or total <= self.nu * (1.0 + 1e-6):
            return []
        # The row is not tight, so that ρ is 0.
        fitted = self.classifier(problem, values)
        margins = problem.y * (problem.gram.times(fitted.coef) + fitted.offset)
        wrong = float(np.mean(margins < -boundary_width(problem, fitted, None, 1e-6)))
        if wrong <= self.nu:
            return []
        return [
            f"eᵀα = {total:.4g} exceeds ν = {self.nu:g}, which therefore does not bound the share "
            f"of margin errors: ρ is 0, and they are {100.0 * wrong:.3g} % of the training points."
        ]
