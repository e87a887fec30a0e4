"""Support vector machines in Krein spaces by the eigenvectors of the kernel: ESVM and ESVM-L."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model
from indefinite_opt.errors import ParameterError, shown
from indefinite_opt.foundation import Array, checks
from indefinite_opt.modeling import Formulation, parameter, weighted_bound
from indefinite_opt.modeling.programs import Stabilised, stabilise, stabilised_symbols
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class ESVM(Formulation):
    r"""Stabilised SVM in a Krein space: trained with |K|, applied with K.

    .. math:: \max_{\tilde\alpha}\ e^\top\tilde\alpha
              - \tfrac12 (y\circ\tilde\alpha)^\top\tilde K(y\circ\tilde\alpha)
              \quad\text{s.t.}\quad y^\top\tilde\alpha = 0,\ 0 \le \tilde\alpha \le C

    with K = VΛVᵀ and K̃ = V|Λ|Vᵀ; α̃ is declared as alpha. The classifier uses the original kernel,
    f(x) = Σ coef_i k(x_i, x) + b with coef = V sign(Λ)Vᵀ(y∘α̃). On the training points it agrees
    with `SpectrumSVM(transform="flip")`; it is not sparse.

    Parameters
    ----------
    C : float
        Upper bound of the weights α̃; those of the classifier, y∘coef, may be negative.
    energy : float
        Share of Σ|λ| that the eigenvalues in use must reach, in (0, 1]. Below 1 (ESVM-L) only the
        largest in magnitude are used, and usually only they are computed; see `stabilised`.
    rank : int, optional
        Number of eigenvalues to use, instead of the share; all if there are fewer.
    weights : (n,) array, optional
        Positive weights of the points, which multiply C: 0 ≤ α_i ≤ C·weights_i.

    Notes
    -----
    For K ⪰ 0 this is the SVM itself. `theory.krein_certificate` checks a solution with the original
    kernel.

    References
    ----------
    Loosli, Ong & Canu (2013), Algorithm 1, (15); ESVM-L: section 4, before 4.1.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[0.0, 1.0], [1.0, 0.0]], [1, -1])   # eigenvalues -1 and 1
    >>> print(ESVM(C=10.0).declare(problem))
    ESVM(C=10)
      maximize    eᵀα - ½ (y∘α)ᵀK̃(y∘α)
      subject to  yᵀα = 0    (balance)
                  0 ≤ α ≤ C  (lower, upper)
      where       K̃ = V |Λ| Vᵀ, K = V Λ Vᵀ
                  α is the paper's α̃; the classifier has V sign(Λ) Vᵀ(y∘α)
      with        α ∈ R², K̃ ∈ R^(2×2), y ∈ R², C = 10
      solved as   a quadratic program on a box with one equation, by multistart
    >>> result = iopt.solve(problem, ESVM(C=10.0))
    >>> result.values["alpha"], result.classifier.coef
    (array([1., 1.]), array([-1.,  1.]))
    >>> result.classifier.decision_function(problem.K)
    array([ 1., -1.])
    """

    C: float = parameter(1.0, checks.weight_bound)
    energy: float = parameter(1.0, checks.positive, most=1.0)
    rank: int | None = parameter(None, checks.whole, optional=True)
    weights: Array | None = field(default=None, repr=False, compare=False)

    reference: ClassVar[str] = "Loosli, Ong & Canu (2013), Algorithm 1, (15)"
    needs_spectrum: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rank is not None and self.energy != 1.0:
            raise ParameterError("rank", "None if energy is given", shown(self.rank))

    def model(self, problem: KernelProblem) -> Model:
        alpha = cp.Variable(problem.n, name="alpha")
        kept = self.stabilised(problem)
        upper = weighted_bound(self.C, self.weights, problem.n)
        y, C, Ktilde, S = problem.symbols("y", C=upper, Ktilde=kept.problem, S=kept.sign_operator)
        return Model(
            maximize=cp.sum(alpha) - 0.5 * cp.quad_form(cp.multiply(y, alpha), Ktilde),
            subject_to={"balance": y @ alpha == 0, "lower": alpha >= 0, "upper": alpha <= C},
            where=stabilised_symbols(self.energy, self.rank),
            coef=S @ cp.multiply(y, alpha),
            offset="balance",
        )

    def stabilised(self, problem: KernelProblem) -> Stabilised:
        """K̃ and the eigenvalues that it is made of, with their share of Σ|λ| and their cost.

        >>> import numpy as np
        >>> problem = KernelProblem(np.diag([4.0, -3.0, 2.0, 1.0]), [1, -1, 1, -1])
        >>> kept = ESVM(energy=0.7).stabilised(problem)
        >>> kept.values, kept.share, kept.computed
        (array([-3.,  4.]), 0.7, 4)
        """
        return stabilise(problem, float(self.energy), self.rank)
