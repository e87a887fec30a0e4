"""Models with one quadratic row of any inertia, in coordinates of the space of the kernel."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model


def on_hyperboloid(K):
    """X with K = -XGXᵀ, for a matrix of one positive eigenvalue and few negative ones."""
    values, vectors = np.linalg.eigh(K)
    kept = np.abs(values) > 1e-9 * np.abs(values).max()
    if np.sum(values[kept] > 0) != 1:
        raise ValueError("K must have one positive eigenvalue")
    return (vectors[:, kept] * np.sqrt(np.abs(values[kept])))[:, ::-1]


@dataclass(frozen=True)
class KreinSphere(iopt.Formulation):
    """Oglic & Gärtner (2018); inside: Liu et al. (2021). From abstracts; f = ΦMw is centred."""

    lambda1: float = 1.0
    r: float = 1.0
    inside: bool = False

    def model(self, problem):
        Phi, M = iopt.theory.embed(problem).points, np.diag(iopt.theory.embed(problem).M)
        w, own = cp.Variable(len(M), name="w"), Phi / np.sum(Phi**2, axis=0)
        y, Phi, M, price, r = problem.symbols("y", Phi=Phi, M=M, lambda1=self.lambda1, r=self.r)
        square, most = cp.sum_squares(Phi @ M @ w), problem.n * r**2
        value = cp.sum_squares(Phi @ M @ w - y) + price * cp.quad_form(w, M)
        rows = {"sphere": square <= most if self.inside else square == most}
        offset = problem.y.mean() - (problem.K.mean(axis=0) @ own) @ w
        return Model(minimize=value, subject_to=rows, coef=own @ w, offset=offset)


@dataclass(frozen=True)
class HyperbolicSVM(iopt.Formulation):
    """Cho, DeMeo, Peng & Berger (2019): points of the hyperboloid xᵀGx = -1, with K = -XGXᵀ."""

    C: float = 1.0
    points: Any = field(default=None, repr=False, compare=False)

    def model(self, problem):
        X = on_hyperboloid(problem.K) if self.points is None else self.points
        w, own = cp.Variable(X.shape[1], name="w"), X @ np.linalg.inv(X.T @ X)
        G = np.diag(np.where(np.arange(X.shape[1]) == 0, -1.0, 1.0))
        y, C, X, G = problem.symbols("y", C=self.C, X=X, G=G)
        loss = C / np.sqrt(2) * cp.sum(cp.pos(1 + cp.multiply(y, X @ G @ w)))
        rows = {"spacelike": cp.quad_form(w, G) >= 0}
        return Model(minimize=0.5 * cp.quad_form(w, G) + loss, subject_to=rows, coef=own @ w)
