"""Several kernels of any inertia, of which a mixed norm of the coefficients selects some."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from indefinite_opt.algebra import Model
from indefinite_opt.foundation import Array, checks
from indefinite_opt.modeling import Formulation, in_cvxpy, parameter, several_kernels
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class MixedNormSVM(Formulation):
    r"""Multiple indefinite kernel learning: coefficients u_k of each kernel, with a mixed norm.

    .. math:: \min_{u_1, \ldots, u_p, b, \xi}\ \sum_k\|u_k\|_2 + C\|\xi\|^2
              \quad\text{s.t.}\quad y\circ\Bigl(\sum_k K_k u_k + be\Bigr) \ge e - \xi

    Convex for all kernels. The norms make whole u_k zero, so that kernels are selected. By default
    the kernels are the two parts K₊ and -K₋ of the given one.

    Parameters
    ----------
    C : float
        Price of the squared slacks.
    kernels : (p, n, n) array, optional
        Other kernel matrices of any inertia, in place of the parts of the given one.

    Notes
    -----
    f(x) = Σ_k Σ_i u_ki k_k(x_i, x) + b. The parts have the rows V₊V₊ᵀk and -V₋V₋ᵀk of new points,
    the `projected` treatment. With `kernels` there is no classifier, as predictions need new rows
    of all of them.

    References
    ----------
    Kowalski, Szafranski & Ralaivola (2009), Multiple indefinite kernel learning with mixed norm
    regularization, International Conference on Machine Learning. By its abstract the problem is a
    loss and a mixed norm, such as that of the group lasso; loss and norm are chosen here.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[0.0, -1.0], [-1.0, 0.0]], [1, -1])   # eigenvalues -1 and 1
    >>> print(MixedNormSVM(C=1.0).declare(problem))
    MixedNormSVM
      minimize    ‖u₁‖₂ + ‖u₂‖₂ + C ‖ξ‖₂²
      subject to  y∘(K₁u₁ + K₂u₂ + b e) ≥ e - ξ  (margin)
      with        u₁ ∈ R², u₂ ∈ R², b ∈ R, ξ ∈ R², y ∈ R², K₁ ∈ R^(2×2),
                  K₂ = ½ eeᵀ ∈ R^(2×2), C = 1
      solved as   a convex program as cvxpy states it, by clarabel
    >>> result = iopt.solve(problem, MixedNormSVM(C=1.0))   # f = √½ ‖u₁‖
    >>> round(result.objective, 6), bool(abs(result.values["u2"]).max() < 1e-6)
    (1.164214, True)
    """

    C: float = parameter(1.0, checks.weight_bound)
    kernels: Array | None = field(default=None, repr=False, compare=False)

    reference: ClassVar[str] = "Kowalski, Szafranski & Ralaivola (2009)"
    convex: ClassVar[Any] = True
    needs_spectrum: ClassVar[bool] = True

    def model(self, problem: KernelProblem) -> Model:
        import cvxpy as cp

        kernels, rows_of_new = several_kernels(problem, self.kernels)
        named = {f"K{k}": K for k, K in enumerate(kernels, 1)}
        y, C, *K = in_cvxpy(problem.symbols("y", C=self.C, **named))
        u = [cp.Variable(problem.n, name=f"u{k}") for k in range(1, len(K) + 1)]
        b, xi = cp.Variable(name="b"), cp.Variable(problem.n, name="xi")
        f = sum(Kk @ uk for Kk, uk in zip(K, u, strict=True)) + b
        coef = sum(T @ uk for T, uk in zip(rows_of_new, u, strict=True))
        return Model(
            minimize=sum(map(cp.norm2, u)) + C * cp.sum_squares(xi),
            subject_to={"margin": cp.multiply(y, f) >= 1 - xi}, meanings=_meanings(len(u)),
            coef=None if self.kernels is not None else coef, offset=b,
        )  # fmt: skip


def _meanings(count: int) -> dict[str, str]:
    found = {"C": "penalty of squared slacks"}
    for k in range(1, count + 1):
        found |= {f"K{k}": f"matrix of kernel {k}", f"u{k}": f"coefficients of kernel {k}"}
    return found
