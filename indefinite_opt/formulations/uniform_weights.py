"""Uniform weights, a baseline for learned ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model
from indefinite_opt.foundation import checks
from indefinite_opt.modeling import OFFSETS, Formulation, LeastError
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
      with        α ∈ R², 1/n = ½
      solved as   a linear program, by highs
    >>> iopt.solve(problem, UniformWeights()).values["alpha"]
    array([0.5, 0.5])
    """

    bias: bool | None = None
    offset: str = "widest"

    reference: ClassVar[str] = "Guo & Schuurmans (2009), section 6, α⁰"

    def __post_init__(self) -> None:
        if self.bias is not None:
            checks.switch("bias", self.bias)
        checks.choice("offset", self.offset, OFFSETS)

    def model(self, problem: KernelProblem) -> Model:
        alpha = cp.Variable(problem.n, name="alpha")
        y, share = problem.symbols("y", **{"1/n": 1.0 / problem.n})
        learned = own_sensitivity(problem, None) is not None
        bias = not learned if self.bias is None else self.bias
        return Model(
            maximize=cp.sum(alpha),
            subject_to={"lower": alpha >= 0, "upper": alpha <= share},
            coef=cp.multiply(y, alpha),
            classifier=LeastError(problem, None, self.offset) if bias else None,
        )
