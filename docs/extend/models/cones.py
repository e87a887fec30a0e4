"""Convex programs with cones, in cvxpy's atoms where `indefinite_opt.algebra` has none."""

from dataclasses import dataclass
from typing import ClassVar

import cvxpy
import numpy as np

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model


@dataclass(frozen=True)
class RobustRows(iopt.Formulation):
    """Shivaswamy, Bhattacharyya & Smola (2006): each row of K is known up to a ball of radius κ."""

    C: float = 1.0
    kappa: float = 0.1

    def model(self, problem):
        u, b = cvxpy.Variable(problem.n, name="u"), cvxpy.Variable(name="b")
        xi, y = cvxpy.Variable(problem.n, name="xi"), cvxpy.Constant(problem.y, name="y")
        margins = cvxpy.multiply(y, cvxpy.Constant(problem.K, name="K") @ u + b)
        rows = {"margin": margins >= 1 - xi + self.kappa * cvxpy.norm2(u), "slack": xi >= 0}
        value = cvxpy.norm2(u) + self.C * cvxpy.sum(xi)
        return Model(minimize=value, subject_to=rows, coef=u, offset=b)


@dataclass(frozen=True)
class TwoKernels(iopt.Formulation):
    """Lanckriet et al. (2004): the best mixture of K and K∘K; both must be semidefinite."""

    C: float = 1.0

    def model(self, problem):
        alpha, t = cp.Variable(problem.n, name="alpha"), cp.Variable(name="t")
        Q, y, C, Q2 = problem.symbols("Q", "y", C=self.C, Q2=problem.Q * problem.K)
        rows = {"first": cp.quad_form(alpha, Q) <= t, "second": cp.quad_form(alpha, Q2) <= t}
        rows |= {"balance": y @ alpha == 0, "lower": alpha >= 0, "upper": alpha <= C}
        return Model(maximize=cp.sum(alpha) - t / 2, subject_to=rows)


@dataclass(frozen=True)
class LearnedKernel(iopt.Formulation):
    """Chen, Gupta & Recht (2009): a machine, and a semidefinite K near the similarities S."""

    eta: float = 0.1
    gamma: float = 0.1

    def model(self, problem):
        n, X = problem.n, cvxpy.Variable((problem.n + 1,) * 2, PSD=True, name="X")
        K, z, s = X[:n, :n], X[:n, n], X[n, n]  # X ⪰ 0 says that s ≥ zᵀK⁻¹z
        S, y = cvxpy.Constant(problem.K, name="S"), cvxpy.Constant(problem.y, name="y")
        b = cvxpy.Variable(name="b")
        loss = cvxpy.sum(cvxpy.pos(1 - cvxpy.multiply(y, z + b))) / n
        value = loss + self.eta * s + self.gamma * cvxpy.norm(K - S, "fro")
        return Model(minimize=value, coef=np.linalg.pinv(problem.K) @ z, offset=b)


@dataclass(frozen=True)
class SparseLogistic(iopt.Formulation):
    """Krishnapuram, Carin, Figueiredo & Hartemink (2005), for two classes and with an offset."""

    lambda1: float = 0.1

    def model(self, problem):
        u, b = cp.Variable(problem.n, name="u"), cp.Variable(name="b")
        K, y, price = problem.symbols("K", "y", lambda1=self.lambda1)
        loss = cp.sum(cp.logistic(-cp.multiply(y, K @ u + b)))
        return Model(minimize=loss + price * cp.norm1(u), coef=u, offset=b)


@dataclass(frozen=True)
class SquareRootLasso(iopt.Formulation):
    """Belloni, Chernozhukov & Wang (2011) with the columns of K: λ₁ needs no noise level."""

    lambda1: float = 0.1
    task: ClassVar[str] = "regression"

    def model(self, problem):
        u, K = cvxpy.Variable(problem.n, name="u"), cvxpy.Constant(problem.K, name="K")
        t, price = cvxpy.Constant(problem.targets, name="t"), self.lambda1
        return Model(minimize=cvxpy.norm2(K @ u - t) + price * cvxpy.norm1(u), coef=u)


@dataclass(frozen=True)
class MaxCutRelaxation(iopt.Formulation):
    """Goemans & Williamson (1995): X ⪰ 0 with a diagonal of ones for xxᵀ with x in {-1, 1}ⁿ."""

    task: ClassVar[str] = "one class"

    def model(self, problem):
        K = cvxpy.Constant(problem.K, name="K")
        X = cvxpy.Variable(K.shape, PSD=True, name="X")
        rows = {"diagonal": cvxpy.diag(X) == 1}
        return Model(maximize=cvxpy.trace(K @ X), subject_to=rows)
