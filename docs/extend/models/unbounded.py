"""Primal problems that have no minimum if the kernel matrix is not positive semidefinite."""

from dataclasses import dataclass

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model


@dataclass(frozen=True)
class IndefiniteLogistic(iopt.Formulation):
    """Liu, Huang, Gong & Yang (2017): kernel logistic regression with the penalty ½αᵀKα."""

    C: float = 1.0

    def model(self, problem):
        alpha, b = cp.Variable(problem.n, name="alpha"), cp.Variable(name="b")
        K, y, C = problem.symbols("K", "y", C=self.C)
        loss = C * cp.sum(cp.logistic(-cp.multiply(y, K @ alpha + b)))
        return Model(minimize=cp.quad_form(alpha, K) / 2 + loss, coef=alpha, offset=b)


@dataclass(frozen=True)
class SparseIndefiniteLogistic(iopt.Formulation):
    """Wang & Yao (2025): the same and ‖α‖₁, by the abstract; the weights of the terms are ours."""

    C: float = 1.0
    price: float = 0.1

    def model(self, problem):
        alpha, b = cp.Variable(problem.n, name="alpha"), cp.Variable(name="b")
        K, y, C, p = problem.symbols("K", "y", C=self.C, p=self.price)
        loss = C * cp.sum(cp.logistic(-cp.multiply(y, K @ alpha + b)))
        value = cp.quad_form(alpha, K) / 2 + p * cp.norm1(alpha) + loss
        return Model(minimize=value, coef=alpha, offset=b)


@dataclass(frozen=True)
class SquaredHingePrimal(iopt.Formulation):
    """Xu et al. (2017), IKSVM-DC: ½γβᵀKβ and squared hinge losses, as in the authors' code."""

    gamma: float = 8.0

    def model(self, problem):
        beta, b = cp.Variable(problem.n, name="beta"), cp.Variable(name="b")
        K, y, gamma = problem.symbols("K", "y", gamma=self.gamma)
        loss = cp.sum(cp.square(cp.pos(1 - cp.multiply(y, K @ beta + b)))) / 2
        return Model(minimize=gamma * cp.quad_form(beta, K) / 2 + loss, coef=beta, offset=b)


@dataclass(frozen=True)
class HingePrimal(iopt.Formulation):
    """The primal problem of the SVM with f(x) = Σ βᵢ k(xᵢ, x) + b, for any K."""

    C: float = 1.0

    def model(self, problem):
        beta, b = cp.Variable(problem.n, name="beta"), cp.Variable(name="b")
        K, y, C = problem.symbols("K", "y", C=self.C)
        loss = C * cp.sum(cp.pos(1 - cp.multiply(y, K @ beta + b)))
        return Model(minimize=cp.quad_form(beta, K) / 2 + loss, coef=beta, offset=b)


@dataclass(frozen=True)
class TwoKernelPrimal(iopt.Formulation):
    """Xue et al. (2019) take several kernels in the primal; here K and K∘K, with hinge losses."""

    C: float = 1.0

    def model(self, problem):
        alpha, beta = (cp.Variable(problem.n, name=name) for name in ("alpha", "beta"))
        b, (K, y, C) = cp.Variable(name="b"), problem.symbols("K", "y", C=self.C)
        (K2,) = problem.symbols(K2=problem.K * problem.K)
        loss = C * cp.sum(cp.pos(1 - cp.multiply(y, K @ alpha + K2 @ beta + b)))
        return Model(minimize=(cp.quad_form(alpha, K) + cp.quad_form(beta, K2)) / 2 + loss)
