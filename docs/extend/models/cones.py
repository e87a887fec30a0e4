"""Convex programs with cones, in cvxpy's atoms where `indefinite_opt.algebra` has none."""

from dataclasses import dataclass
from typing import ClassVar

import cvxpy

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model


def named(**values):
    """Constants of cvxpy, which are printed under their names."""
    return [cvxpy.Constant(value, name=name) for name, value in values.items()]


@dataclass(frozen=True)
class RobustRows(iopt.Formulation):
    """Shivaswamy, Bhattacharyya & Smola (2006): each row of K is known up to a ball of radius κ."""

    C: float = 1.0
    kappa: float = 0.1

    def model(self, problem):
        u, b = cvxpy.Variable(problem.n, name="u"), cvxpy.Variable(name="b")
        xi = cvxpy.Variable(problem.n, name="xi")
        K, y, C, kappa = named(K=problem.K, y=problem.y, C=self.C, kappa=self.kappa)
        worst = cvxpy.multiply(y, K @ u + b) - kappa * cvxpy.norm2(u)
        rows = {"margin": worst >= 1 - xi, "slack": xi >= 0}
        value = cvxpy.norm2(u) + C * cvxpy.sum(xi)
        return Model(minimize=value, subject_to=rows, coef=u, offset=b)


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
        u = cvxpy.Variable(problem.n, name="u")
        K, t, price = named(K=problem.K, t=problem.targets, lambda1=self.lambda1)
        return Model(minimize=cvxpy.norm2(K @ u - t) + price * cvxpy.norm1(u), coef=u)


@dataclass(frozen=True)
class MaxCutRelaxation(iopt.Formulation):
    """Goemans & Williamson (1995): X ⪰ 0 with a diagonal of ones for xxᵀ with x in {-1, 1}ⁿ."""

    task: ClassVar[str] = "one class"

    def model(self, problem):
        X, (K,) = cvxpy.Variable(problem.K.shape, PSD=True, name="X"), named(K=problem.K)
        rows = {"diagonal": cvxpy.diag(X) == 1}
        return Model(maximize=cvxpy.trace(K @ X), subject_to=rows)
