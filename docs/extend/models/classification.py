"""Machines for two classes, each a linear or quadratic program."""

from dataclasses import dataclass

import numpy as np

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model


@dataclass(frozen=True)
class TotalMargin(iopt.Formulation):
    """Yoon, Yun & Nakayama (2003): the surplus behind the margin earns C₂, a shortfall costs C₁."""

    C1: float = 1.0
    C2: float = 0.1

    def model(self, problem):
        alpha = cp.Variable(problem.n, name="alpha")
        Q, y, C1, C2 = problem.symbols("Q", "y", C1=self.C1, C2=self.C2)
        value = cp.sum(alpha) - 0.5 * cp.quad_form(alpha, Q)
        rows = {"balance": y @ alpha == 0, "lower": alpha >= C2, "upper": alpha <= C1}
        return Model(maximize=value, subject_to=rows, coef=cp.multiply(y, alpha), offset="balance")


@dataclass(frozen=True)
class PinballSVM(iopt.Formulation):
    """Huang, Shi & Suykens (2014): what is beyond the margin costs τ times as much."""

    C: float = 1.0
    tau: float = 0.5

    def model(self, problem):
        alpha = cp.Variable(problem.n, name="alpha")
        Q, y, C, tau = problem.symbols("Q", "y", C=self.C, tau=self.tau)
        value = cp.sum(alpha) - 0.5 * cp.quad_form(alpha, Q)
        rows = {"balance": y @ alpha == 0, "lower": alpha >= -tau * C, "upper": alpha <= C}
        return Model(maximize=value, subject_to=rows, coef=cp.multiply(y, alpha), offset="balance")


@dataclass(frozen=True)
class CostSensitive(iopt.Formulation):
    """Veropoulos, Campbell & Cristianini (1999): errors of the two classes have two prices."""

    plus: float = 2.0
    minus: float = 0.5

    def model(self, problem):
        alpha, prices = cp.Variable(problem.n, name="alpha"), (self.plus, self.minus)
        Q, y, c = problem.symbols("Q", "y", c=np.where(problem.y > 0, *prices))
        value = cp.sum(alpha) - 0.5 * cp.quad_form(alpha, Q)
        rows = {"balance": y @ alpha == 0, "lower": alpha >= 0, "upper": alpha <= c}
        return Model(maximize=value, subject_to=rows, coef=cp.multiply(y, alpha), offset="balance")


@dataclass(frozen=True)
class LagrangianSVM(iopt.Formulation):
    """Mangasarian & Musicant (2001): slacks and bias are squared, and only u ≥ 0 remains."""

    nu: float = 1.0

    def model(self, problem):
        u = cp.Variable(problem.n, name="u")
        Q, y, nu = problem.symbols("Q", "y", nu=self.nu)
        squares = cp.sum_squares(u) / nu + cp.quad_form(u, Q) + cp.square(y @ u)
        value, rows = 0.5 * squares - cp.sum(u), {"lower": u >= 0}
        return Model(minimize=value, subject_to=rows, coef=cp.multiply(y, u), offset=y @ u)


@dataclass(frozen=True)
class ProximalSVM(iopt.Formulation):
    """Fung & Mangasarian (2001): the margins are equations, all that is paid for is squared."""

    nu: float = 1.0

    def model(self, problem):
        u, xi = cp.Variable(problem.n, name="u"), cp.Variable(problem.n, name="xi")
        gamma, (K, y, nu) = cp.Variable(name="gamma"), problem.symbols("K", "y", nu=self.nu)
        coef = cp.multiply(y, u)
        squares = nu * cp.sum_squares(xi) + cp.sum_squares(u) + cp.square(gamma)
        rows = {"planes": cp.multiply(y, K @ coef - gamma) + xi == 1}
        return Model(minimize=0.5 * squares, subject_to=rows, coef=coef, offset=-gamma)


@dataclass(frozen=True)
class DoublyRegularizedSVM(iopt.Formulation):
    """Wang, Zhu & Zou (2006): a sum of sizes makes u sparse, a sum of squares groups it."""

    lambda1: float = 0.5
    lambda2: float = 0.2

    def model(self, problem):
        u, b = cp.Variable(problem.n, name="u"), cp.Variable(name="b")
        K, y, a, c = problem.symbols("K", "y", lambda1=self.lambda1, lambda2=self.lambda2)
        loss = cp.sum(cp.pos(1 - cp.multiply(y, K @ u + b)))
        return Model(minimize=loss + a * cp.norm1(u) + c / 2 * cp.sum_squares(u), coef=u, offset=b)


@dataclass(frozen=True)
class SquaredHinge(iopt.Formulation):
    """Chapelle (2007) in the primal, here with the penalty ½‖u‖², which suits every kernel."""

    C: float = 1.0

    def model(self, problem):
        u, b = cp.Variable(problem.n, name="u"), cp.Variable(name="b")
        K, y, C = problem.symbols("K", "y", C=self.C)
        loss = C * cp.sum(cp.square(cp.pos(1 - cp.multiply(y, K @ u + b))))
        return Model(minimize=0.5 * cp.sum_squares(u) + loss, coef=u, offset=b)


@dataclass(frozen=True)
class TwinSVM(iopt.Formulation):
    """Jayadeva, Khemchandani & Chandra (2007): a plane near one class; `near=-1` is the other."""

    near: int = 1
    C: float = 1.0
    delta: float = 0.01

    def model(self, problem):
        rows, near = np.c_[problem.K, np.ones(problem.n)], problem.y == self.near
        inverse = np.linalg.inv(rows[near].T @ rows[near] + self.delta * np.eye(problem.n + 1))
        alpha = cp.Variable(np.sum(~near), name="alpha")
        G, M, C = problem.symbols(G=rows[~near], M=inverse, C=self.C)
        value = cp.sum(alpha) - 0.5 * cp.quad_form(G.T @ alpha, M)
        box = {"lower": alpha >= 0, "upper": alpha <= C}
        plane = -self.near * (M @ (G.T @ alpha))
        return Model(maximize=value, subject_to=box, coef=plane[:-1], offset=plane[-1])


@dataclass(frozen=True)
class UncertainKernel(iopt.Formulation):
    """Robust to the kernels with ‖K - K₀‖_F ≤ ρ: the worst of them costs ρ‖y∘α‖²/2."""

    C: float = 1.0
    rho: float = 0.1

    def model(self, problem):
        alpha = cp.Variable(problem.n, name="alpha")
        Q, y, C, rho = problem.symbols("Q", "y", C=self.C, rho=self.rho)
        worst = cp.quad_form(alpha, Q) + rho * cp.sum_squares(cp.multiply(y, alpha))
        rows = {"balance": y @ alpha == 0, "lower": alpha >= 0, "upper": alpha <= C}
        value = cp.sum(alpha) - worst / 2
        return Model(maximize=value, subject_to=rows, coef=cp.multiply(y, alpha), offset="balance")
