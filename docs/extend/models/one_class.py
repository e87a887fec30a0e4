"""Descriptions of one class, and clusters, as quadratic programs of any curvature."""

from dataclasses import dataclass
from typing import ClassVar

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model


@dataclass(frozen=True)
class OneClassPinball(iopt.Formulation):
    """Schölkopf et al. (2001) with the loss of Huang, Shi & Suykens (2014): weights below 0."""

    nu: float = 0.5
    tau: float = 0.2
    task: ClassVar[str] = "one class"

    def model(self, problem):
        alpha = cp.Variable(problem.n, name="alpha")
        K, n, nu, tau = problem.symbols("K", n=problem.n, nu=self.nu, tau=self.tau)
        box = {"lower": alpha >= -tau / (nu * n), "upper": alpha <= 1 / (nu * n)}
        rows = {"total": cp.sum(alpha) == 1} | box
        value = 0.5 * cp.quad_form(alpha, K)
        return Model(minimize=value, subject_to=rows, coef=alpha, offset="total")


@dataclass(frozen=True)
class KernelMeanMatching(iopt.Formulation):
    """Huang, Smola, Gretton, Borgwardt & Schölkopf (2007): weights β for the mean of class -1."""

    B: float = 3.0
    epsilon: float = 0.1

    def model(self, problem):
        beta, mean = cp.Variable(problem.n, name="beta"), problem.K[:, problem.y < 0].mean(1)
        data = {"kappa": problem.n * mean, "n": problem.n, "B": self.B, "epsilon": self.epsilon}
        K, kappa, n, B, epsilon = problem.symbols("K", **data)
        value = 0.5 * cp.quad_form(beta, K) - kappa @ beta
        rows = {"lower": beta >= 0, "upper": beta <= B}
        rows["total"] = cp.abs(cp.sum(beta) - n) <= n * epsilon
        return Model(minimize=value, subject_to=rows)


@dataclass(frozen=True)
class TwoMeans(iopt.Formulation):
    """Two clusters by the signs of x, after Zha et al. (2001), with |eᵀx| ≤ βn and x in a box."""

    beta: float = 0.2
    task: ClassVar[str] = "one class"

    def model(self, problem):
        x = cp.Variable(problem.n, name="x")
        K, n, beta = problem.symbols("K", n=problem.n, beta=self.beta)
        rows = {"sizes": cp.abs(cp.sum(x)) <= beta * n, "box": cp.abs(x) <= 1}
        return Model(maximize=cp.quad_form(x, K) / n, subject_to=rows, coef=x)
