"""Uniform weights, a baseline for learned ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from indefinite_opt.algebra import Model, constants
from indefinite_opt.foundation import Array, checks
from indefinite_opt.modeling import OFFSETS, Classifier, Formulation, confidence_classifier
from indefinite_opt.modeling.linear_programs import Columns, LinearProgram
from indefinite_opt.problem import KernelProblem, own_sensitivity


@dataclass(frozen=True)
class UniformWeights(Formulation):
    r"""Uniform weights α⁰ = e/n.

    .. math:: \max_\alpha\ e^\top\alpha \quad\text{s.t.}\quad 0 \le \alpha \le 1/n

    The solution is known; it is declared as a program so that it is solved, certified and compared
    like the others.

    Parameters
    ----------
    bias : bool, optional
        Whether the classifier has the offset of `GuoSchuurmansQP`, of least training error. By
        default it has one for a kernel, as in (3), and none for the confidences of a
        `ConfidenceProblem`: for c = log P it then chooses the label with the larger product of
        probabilities, as in section 3.
    offset : {"widest", "nearest"}
        Which offset of least training error the classifier has; see `least_error_offset`.

    References
    ----------
    Guo & Schuurmans (2009), (3); section 3; section 6, α⁰.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> print(UniformWeights().declare(problem))
    UniformWeights
      maximize    eᵀα
      subject to  0 ≤ α ≤ 1/n  (lower, upper)
    >>> iopt.solve(problem, UniformWeights()).values["alpha"]
    array([0.5, 0.5])
    """

    bias: bool | None = None
    offset: str = "widest"

    reference: ClassVar[str] = "Guo & Schuurmans (2009), section 6, α⁰"
    structure_type: ClassVar[type] = LinearProgram
    convex: ClassVar[bool | None] = True

    def __post_init__(self) -> None:
        if self.bias is not None:
            checks.switch("bias", self.bias)
        checks.choice("offset", self.offset, OFFSETS)

    def model(self, problem: KernelProblem) -> Model:
        import cvxpy as cp

        alpha = cp.Variable(problem.n, name="alpha")
        (share,) = constants(**{"1/n": 1.0 / problem.n})
        return Model(
            maximize=cp.sum(alpha),
            subject_to={"lower": alpha >= 0, "upper": alpha <= share},
        )

    def structure(self, problem: KernelProblem) -> LinearProgram:
        n, bounds = problem.n, ("lower", "upper")
        return LinearProgram(
            {"alpha": Columns((n,), -1.0, lower=0.0, upper=1.0 / n, constraints=bounds)},
            {},
            sense=-1,
            source=(UniformWeights, problem),
        )

    def classifier(self, problem: KernelProblem, values: dict[str, Array]) -> Classifier:
        alpha, learned = values["alpha"], own_sensitivity(problem, None) is not None
        if self.bias or (self.bias is None and not learned):
            return confidence_classifier(problem, alpha, None, self.offset)
        return Classifier(problem.y * alpha, 0.0, problem.classes)

    def dual_bound(self, problem: KernelProblem, multipliers: dict[str, Array]) -> float:
        """-1, as eᵀα ≤ n · 1/n."""
        return -1.0
