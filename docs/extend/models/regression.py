"""Regressions, each a linear or quadratic program; t are the targets."""

from dataclasses import dataclass
from typing import ClassVar

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model


@dataclass(frozen=True)
class HuberRegression(iopt.Formulation):
    """Huber (1964): errors count as squares up to δ, and linearly beyond it."""

    lambda2: float = 0.1
    delta: float = 0.5
    task: ClassVar[str] = "regression"

    def model(self, problem):
        u, b = cp.Variable(problem.n, name="u"), cp.Variable(name="b")
        K, t, ridge = problem.symbols("K", t=problem.targets, lambda2=self.lambda2)
        loss = cp.sum(cp.huber(K @ u + b - t, self.delta))
        return Model(minimize=loss + ridge * cp.sum_squares(u), coef=u, offset=b)


@dataclass(frozen=True)
class LeastAbsoluteDeviations(iopt.Formulation):
    """The sum of the sizes of all errors, and of all coefficients: a linear program."""

    lambda1: float = 0.1
    task: ClassVar[str] = "regression"

    def model(self, problem):
        u, b = cp.Variable(problem.n, name="u"), cp.Variable(name="b")
        K, t, price = problem.symbols("K", t=problem.targets, lambda1=self.lambda1)
        return Model(minimize=cp.norm1(K @ u + b - t) + price * cp.norm1(u), coef=u, offset=b)


@dataclass(frozen=True)
class LargestDeviation(iopt.Formulation):
    """Chebyshev's criterion: the largest error, with a price for the coefficients."""

    lambda1: float = 0.1
    task: ClassVar[str] = "regression"

    def model(self, problem):
        u, b = cp.Variable(problem.n, name="u"), cp.Variable(name="b")
        K, t, price = problem.symbols("K", t=problem.targets, lambda1=self.lambda1)
        return Model(minimize=cp.norm_inf(K @ u + b - t) + price * cp.norm1(u), coef=u, offset=b)


@dataclass(frozen=True)
class KernelLasso(iopt.Formulation):
    """Tibshirani (1996) with the columns of K as in Roth (2004): few coefficients are not 0."""

    lambda1: float = 0.1
    task: ClassVar[str] = "regression"

    def model(self, problem):
        u = cp.Variable(problem.n, name="u")
        K, t, price = problem.symbols("K", t=problem.targets, lambda1=self.lambda1)
        return Model(minimize=0.5 * cp.sum_squares(K @ u - t) + price * cp.norm1(u), coef=u)


@dataclass(frozen=True)
class DantzigSelector(iopt.Formulation):
    """Candès & Tao (2007) with the columns of K: no column may explain more of what is left."""

    delta: float = 0.3
    task: ClassVar[str] = "regression"

    def model(self, problem):
        u = cp.Variable(problem.n, name="u")
        K, t, delta = problem.symbols("K", t=problem.targets, delta=self.delta)
        rows = {"correlation": cp.norm_inf(K.T @ (t - K @ u)) <= delta}
        return Model(minimize=cp.norm1(u), subject_to=rows, coef=u)
