"""Support vector machines on a kernel made positive semidefinite by changing its spectrum."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Definition, Model
from indefinite_opt.foundation import Array, checks
from indefinite_opt.modeling import (
    TREATMENTS,
    Formulation,
    KernelChange,
    parameter,
    weighted_bound,
)
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import TRANSFORMS


@dataclass(frozen=True)
class SpectrumSVM(Formulation):
    r"""SVM dual on a kernel with transformed spectrum, always convex.

    .. math:: \max_\alpha\ e^\top\alpha - \tfrac12 (y\circ\alpha)^\top\tilde K(y\circ\alpha)
              \quad\text{s.t.}\quad y^\top\alpha = 0,\ 0 \le \alpha \le C

    with K̃ = V h(Λ) Vᵀ, where h(λ) = max(λ, 0) for "clip" (denoising), |λ| for "flip",
    λ - min(λ_min, 0) for "shift", and λ² for "square".

    The square K̃ = K² = KKᵀ holds the inner products of the rows of K, taken as features: without
    centring the program is the dual of `SeparabilitySVM`. Values of K² grow with n and with the
    squares of the values of K. If cK replaces K, then C/c² gives the same classifier; a C that
    suits K does not suit K².

    Parameters
    ----------
    C : float
        Upper bound of the weights.
    transform : {"clip", "flip", "shift", "square"}
    centered : bool
        Transform PKP, P = I - eeᵀ/n, instead of K: Haasdonk's CNE (clip) and RNE (flip).
    new_points : {"projected", "original", "joint"}
        How a new point's kernel row k is treated; see `Classifier`. With `projected`, clip, flip
        and square give training points the decision values that they had in training; for square k
        becomes Kk. A shift changes only the diagonal, so that `projected` and `original` are the
        same for it. For square, values of `original` have another unit than those of training.
        Results with different treatments are not comparable.
    weights : (n,) array, optional
        Positive weights of the points, which multiply C: 0 ≤ α_i ≤ C·weights_i.

    References
    ----------
    Guo & Schuurmans (2009), section 5; Haasdonk (2005), section 7.5 (CNE, RNE); Loosli, Ong &
    Canu (2013), sections 6.1.1 and 6.1.3 (`original`); Luss & d'Aspremont (2007), section 2.3
    (`joint`); Schleif & Tiňo (2015, Indefinite proximity learning: a review, Neural Computation 27)
    for the square.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[0.0, -1.0], [-1.0, 0.0]], [1, -1])   # eigenvalues -1 and 1
    >>> print(SpectrumSVM(C=10.0, transform="clip").declare(problem))
    SpectrumSVM(C=10, transform=clip, new_points=projected)
      maximize    eᵀα - ½ (y∘α)ᵀK̃(y∘α)
      subject to  yᵀα = 0    (balance)
                  0 ≤ α ≤ C  (lower, upper)
      where       K̃ = V max(Λ, 0) Vᵀ, K = V Λ Vᵀ
      with        α ∈ R², K̃ ∈ R^(2×2), y ∈ R², C = 10
      solved as   a quadratic program on a box with one equation, by multistart
    >>> iopt.solve(problem, SpectrumSVM(C=10.0, transform="clip")).values["alpha"]
    array([1., 1.])
    """

    C: float = parameter(1.0, checks.weight_bound)
    transform: str = parameter("clip", checks.choice, choices=TRANSFORMS)
    centered: bool = parameter(False, checks.switch)
    new_points: str = parameter("projected", checks.choice, choices=TREATMENTS)
    weights: Array | None = field(default=None, repr=False, compare=False)

    reference: ClassVar[str] = "Guo & Schuurmans (2009), section 5; Haasdonk (2005), section 7.5"
    needs_spectrum: ClassVar[bool] = True
    in_every_title: ClassVar[frozenset[str]] = frozenset({"transform", "new_points"})

    def model(self, problem: KernelProblem) -> Model:
        alpha = cp.Variable(problem.n, name="alpha")
        changed = problem.transformed(self.transform, self.centered)
        upper = weighted_bound(self.C, self.weights, problem.n)
        y, C, Ktilde = problem.symbols("y", C=upper, Ktilde=changed)
        return Model(
            maximize=cp.sum(alpha) - 0.5 * cp.quad_form(cp.multiply(y, alpha), Ktilde),
            subject_to={"balance": y @ alpha == 0, "lower": alpha >= 0, "upper": alpha <= C},
            where=(self._definition,),
            coef=cp.multiply(y, alpha),
            offset="balance",
            change=KernelChange(problem, self.transform, self.centered),
        )

    @property
    def _definition(self) -> Definition:
        """K̃ by the eigenvalues of K, or of PKP if it is centred."""
        source, symbols = ("PKP", ("P",)) if self.centered else ("K", ())
        if self.transform == "shift":
            return Definition(
                f"K̃ = {source} - min(λ_min({source}), 0) I",
                rf"\tilde{{K}} = {source} - \min(\lambda_{{\min}}({source}), 0)\, I",
                (*symbols, "I"),
            )
        if self.transform == "square":
            base = "(PKP)" if self.centered else "K"
            return Definition(f"K̃ = {base}²", rf"\tilde{{K}} = {base}^2", symbols)
        middle = {
            "clip": ("max(Λ, 0)", r"\max(\Lambda, 0)"), "flip": ("|Λ|", r"|\Lambda|")
        }[self.transform]  # fmt: skip
        return Definition(
            f"K̃ = V {middle[0]} Vᵀ, {source} = V Λ Vᵀ",
            rf"\tilde{{K}} = V {middle[1]} V^\top \\ & {source} = V \Lambda V^\top",
            ("V", "Lambda", *symbols),
        )
