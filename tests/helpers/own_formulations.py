"""Formulations that a user may write: each is a model and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model


@dataclass(frozen=True)
class Written(iopt.Formulation):
    """A given model, for problems of a given kind."""

    text: str
    written: Model = field(compare=False, repr=False)
    kind: str = "classification"
    takes_asymmetric: ClassVar[bool] = True

    @property
    def task(self) -> str:  # type: ignore[override]
        return self.kind

    def model(self, problem: iopt.KernelProblem) -> Model:
        return self.written


@dataclass(frozen=True)
class RidgeDual(iopt.Formulation):
    """max eᵀα - ½ αᵀQα - 1/(4C) ‖α‖²  s.t.  yᵀα = 0, 0 ≤ α ≤ u."""

    C: float = 1.0
    upper: float = 10.0

    def model(self, problem: iopt.KernelProblem) -> Model:
        alpha = cp.Variable(problem.n, name="alpha")
        Q, y, C, u = problem.symbols("Q", "y", C=self.C, u=self.upper)
        smooth = 0.5 * cp.quad_form(alpha, Q) + cp.sum_squares(alpha) / (4 * C)
        return Model(
            maximize=cp.sum(alpha) - smooth,
            subject_to={"balance": y @ alpha == 0, "lower": alpha >= 0, "upper": alpha <= u},
            coef=cp.multiply(y, alpha),
            offset="balance",
        )


@dataclass(frozen=True)
class SquaredHinge(iopt.Formulation):
    """min ½ ‖u‖² + C Σ max(1 - y_i((Ku)_i + b), 0)²."""

    C: float = 1.0

    def model(self, problem: iopt.KernelProblem) -> Model:
        u, b = cp.Variable(problem.n, name="u"), cp.Variable(name="b")
        K, y, C = problem.symbols("K", "y", C=self.C)
        short = cp.pos(1 - cp.multiply(y, K @ u + b))
        loss = C * cp.sum(cp.square(short))
        return Model(minimize=0.5 * cp.sum_squares(u) + loss, coef=u, offset=b)


@dataclass(frozen=True)
class HingeLP(iopt.Formulation):
    """min ‖u‖₁ + C Σ max(1 - y_i((Ku)_i + b), 0)."""

    C: float = 1.0

    def model(self, problem: iopt.KernelProblem) -> Model:
        u, b = cp.Variable(problem.n, name="u"), cp.Variable(name="b")
        K, y, C = problem.symbols("K", "y", C=self.C)
        short = cp.pos(1 - cp.multiply(y, K @ u + b))
        return Model(minimize=cp.norm1(u) + C * cp.sum(short), coef=u, offset=b)


OWN = (RidgeDual, SquaredHinge, HingeLP)
