"""Formulations that a user may write: each is a model and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model


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
class NuSVM(iopt.Formulation):
    """min ½ αᵀQα  s.t.  yᵀα = 0, eᵀα ≥ ν, 0 ≤ α ≤ 1/n."""

    nu: float = 0.3

    def model(self, problem: iopt.KernelProblem) -> Model:
        alpha = cp.Variable(problem.n, name="alpha")
        Q, y, nu, share = problem.symbols("Q", "y", nu=self.nu, **{"1/n": 1 / problem.n})
        return Model(
            minimize=0.5 * cp.quad_form(alpha, Q),
            subject_to={
                "balance": y @ alpha == 0, "total": cp.sum(alpha) >= nu,
                "lower": alpha >= 0, "upper": alpha <= share,
            },
            coef=cp.multiply(y, alpha), offset="balance",
        )  # fmt: skip


@dataclass(frozen=True)
class OneClass(iopt.Formulation):
    """min ½ αᵀKα  s.t.  eᵀα = 1, 0 ≤ α ≤ 1/(νn)."""

    nu: float = 0.3

    def model(self, problem: iopt.KernelProblem) -> Model:
        alpha = cp.Variable(problem.n, name="alpha")
        K, u = problem.symbols("K", u=1 / (self.nu * problem.n))
        return Model(
            minimize=0.5 * cp.quad_form(alpha, K),
            subject_to={"total": cp.sum(alpha) == 1, "lower": alpha >= 0, "upper": alpha <= u},
            coef=alpha,
            offset="total",
        )


@dataclass(frozen=True)
class SVDD(iopt.Formulation):
    """max diag(K)ᵀα - αᵀKα  s.t.  eᵀα = 1, 0 ≤ α ≤ C."""

    C: float = 0.4

    def model(self, problem: iopt.KernelProblem) -> Model:
        alpha = cp.Variable(problem.n, name="alpha")
        K, d, C = problem.symbols("K", d=problem.gram.diagonal, C=self.C)
        return Model(
            maximize=d @ alpha - cp.quad_form(alpha, K),
            subject_to={"total": cp.sum(alpha) == 1, "lower": alpha >= 0, "upper": alpha <= C},
            coef=alpha,
            offset="total",
        )


@dataclass(frozen=True)
class SVR(iopt.Formulation):
    """max tᵀβ - ε ‖β‖₁ - ½ βᵀKβ  s.t.  eᵀβ = 0, -C ≤ β ≤ C; t are the labels by default."""

    C: float = 1.0
    eps: float = 0.1
    targets: object = field(default=None, repr=False, compare=False)

    def model(self, problem: iopt.KernelProblem) -> Model:
        beta = cp.Variable(problem.n, name="beta")
        targets = problem.y if self.targets is None else self.targets
        K, t, C, eps = problem.symbols("K", t=targets, C=self.C, epsilon=self.eps)
        return Model(
            maximize=t @ beta - eps * cp.norm1(beta) - 0.5 * cp.quad_form(beta, K),
            subject_to={"balance": cp.sum(beta) == 0, "lower": beta >= -C, "upper": beta <= C},
            coef=beta,
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


OWN = (RidgeDual, NuSVM, OneClass, SVDD, SVR, SquaredHinge, HingeLP)
