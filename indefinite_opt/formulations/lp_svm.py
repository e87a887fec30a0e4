"""The linear programming support vector machine, for any matrix as kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model
from indefinite_opt.foundation import checks
from indefinite_opt.modeling import Formulation, parameter
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class LPSVM(Formulation):
    r"""Linear programming SVM (generalised SVM with a 1-norm).

    .. math:: \min_{u,b,\xi}\ \|u\|_1 + C e^\top\xi
              \quad\text{s.t.}\quad y \circ (Ku + be) \ge e - \xi,\ \xi \ge 0

    Convex for every kernel. u is the coefficient vector itself, of either sign, and sparse.

    Parameters
    ----------
    C : float
        Price of the slacks.

    Notes
    -----
    Dual: max eᵀλ s.t. |Kᵀ(y∘λ)| ≤ e, yᵀλ = 0, 0 ≤ λ ≤ C. Any λ is clipped, balanced and
    scaled to be feasible, so that the bound holds whatever the solver returned.

    Programs with a 1-norm of the coefficients are also proposed, for proximities, by Graepel,
    Herbrich, Schölkopf, Smola, Bartlett, Müller, Obermayer & Williamson (1999), for similarity
    functions by Balcan, Blum & Srebro (2008), and for indefinite kernels by Alabdulmohsin, Gao &
    Zhang (2014).

    References
    ----------
    Mangasarian (1999), generalised support vector machines; compared by Loosli, Ong & Canu (2013),
    section 6.1.2.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> print(LPSVM(C=10.0).declare(problem))
    LPSVM(C=10)
      minimize    ‖u‖₁ + C eᵀξ
      subject to  y∘(Ku + b e) ≥ e - ξ  (margin)
                  ξ ≥ 0                 (slack)
      with        u ∈ R², b ∈ R, ξ ∈ R², y ∈ R², K ∈ R^(2×2), C = 10
      solved as   a linear program, by highs
    >>> round(iopt.solve(problem, LPSVM(C=10.0)).objective, 12)
    1.0
    """

    C: float = parameter(1.0, checks.weight_bound)

    reference: ClassVar[str] = "Mangasarian (1999); Loosli, Ong & Canu (2013), section 6.1.2"

    def model(self, problem: KernelProblem) -> Model:
        u = cp.Variable(problem.n, name="u")
        b = cp.Variable(name="b")
        xi = cp.Variable(problem.n, name="xi")
        K, y, C = problem.symbols("K", "y", C=self.C)
        return Model(
            minimize=cp.norm1(u) + C * cp.sum(xi),
            subject_to={"margin": cp.multiply(y, K @ u + b) >= 1 - xi, "slack": xi >= 0},
            coef=u,
            offset=b,
        )
