"""A support vector machine and the best mixture of several kernels."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model
from indefinite_opt.foundation import Array, Values, checks
from indefinite_opt.modeling import Classifier, Formulation, parameter, several_kernels
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class MultipleKernelSVM(Formulation):
    r"""Support vector machine with the best mixture Σ μ_k K_k of several kernels, μ ≥ 0.

    .. math:: \max_{\alpha, t}\ e^\top\alpha - \tfrac12 t
              \quad\text{s.t.}\quad \alpha^\top Q_k\alpha \le t \text{ for all } k,
              \ y^\top\alpha = 0,\ 0 \le \alpha \le C

    with Q_k of the kernel K_k, divided by its trace and times the sum c of the traces. It is the
    least optimum of `SVMDual` over the mixtures of trace c. By default the kernels are the two
    parts K₊ and -K₋ of the given one: clip and flip are mixtures of them.

    Parameters
    ----------
    C : float
        Upper bound of the weights.
    kernels : (p, n, n) array, optional
        Other kernel matrices, in place of the parts of the given one. They must be positive
        semidefinite: else the row of one is not convex, and the model is refused.

    Notes
    -----
    f(x) = Σ_i α_i y_i Σ_k μ_k k_k(x_i, x) + b, where μ_k is twice the multiplier of the row of K_k,
    times c/tr K_k. The parts have the rows V₊V₊ᵀk and -V₋V₋ᵀk of new points, the `projected`
    treatment. With `kernels` there is no classifier, as predictions need new rows of all of them.

    References
    ----------
    Lanckriet, Cristianini, Bartlett, El Ghaoui & Jordan (2004), Learning the kernel matrix with
    semidefinite programming, JMLR 5. The quadratically constrained form is derived here.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[0.0, -1.0], [-1.0, 0.0]], [1, -1])   # eigenvalues -1 and 1
    >>> print(MultipleKernelSVM(C=10.0).declare(problem))
    MultipleKernelSVM(C=10)
      maximize    eᵀα - t/2
      subject to  αᵀQ₁α ≤ t  (kernel 1)
                  αᵀQ₂α ≤ t  (kernel 2)
                  yᵀα = 0    (balance)
                  0 ≤ α ≤ C  (lower, upper)
      with        α ∈ R², t ∈ R, Q₁ = eeᵀ ∈ R^(2×2), Q₂ ∈ R^(2×2), y ∈ R², C = 10
      solved as   a convex program as cvxpy states it, by clarabel
    >>> round(iopt.solve(problem, MultipleKernelSVM(C=10.0)).objective, 6)   # 2a - 2a²
    0.5
    """

    C: float = parameter(1.0, checks.weight_bound)
    kernels: Array | None = field(default=None, repr=False, compare=False)

    reference: ClassVar[str] = "Lanckriet, Cristianini, Bartlett, El Ghaoui & Jordan (2004)"
    convex: ClassVar[Any] = True
    needs_spectrum: ClassVar[bool] = True

    def model(self, problem: KernelProblem) -> Model:
        kernels, rows_of_new = _of_equal_traces(*several_kernels(problem, self.kernels))
        signed = {f"Q{k}": problem.y[:, None] * K * problem.y for k, K in enumerate(kernels, 1)}
        alpha, t = cp.Variable(problem.n, name="alpha"), cp.Variable(name="t")
        y, C, *Q = problem.symbols("y", C=self.C, **signed)
        rows = {f"kernel {k}": cp.quad_form(alpha, Qk) <= t for k, Qk in enumerate(Q, 1)}
        rows |= {"balance": y @ alpha == 0, "lower": alpha >= 0, "upper": alpha <= C}
        return Model(
            maximize=cp.sum(alpha) - t / 2,
            subject_to=rows,
            meanings={"t": "largest of the quadratic terms", **dict.fromkeys(signed, MEANING)},
            classifier=None if self.kernels is not None else partial(_mixed, problem, rows_of_new),
        )


MEANING = "label-signed matrix of one of the kernels, which all have the same trace"


def _of_equal_traces(
    kernels: list[Array], rows_of_new: list[Array]
) -> tuple[list[Array], list[Array]]:
    """Multiples of kernels, and of the rows of new points, that all have the sum of the traces."""
    traces = [float(np.trace(K)) for K in kernels]
    factors = [sum(traces) / trace if trace > 0.0 else 1.0 for trace in traces]
    pairs = zip(factors, kernels, rows_of_new, strict=True)
    scaled = [(factor * K, factor * rows) for factor, K, rows in pairs]
    return [K for K, _ in scaled], [rows for _, rows in scaled]


def _mixed(
    problem: KernelProblem, rows_of_new: list[Array], program: Any, values: Values
) -> Classifier:
    """f = Σ μ_k k_k(y∘α) + b; the multipliers of the rows of the kernels are μ_k/2."""
    held = program.multipliers(values)
    z = problem.y * values["alpha"]
    terms = [2.0 * held[f"kernel {k}"] * (T @ z) for k, T in enumerate(rows_of_new, 1)]
    return Classifier(np.sum(terms, axis=0), float(held["balance"]), problem.classes)
