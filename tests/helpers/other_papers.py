"""Data for the formulations of other papers, and other statements of the same programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

import indefinite_opt as iopt
from helpers import polyhedra, shaking

Array = NDArray[np.float64]

N, FEW = 12, 6
"""Points of convex programs, and of those whose faces are enumerated."""

ANY = ("gaussian", "tanh", "truncated", "random")
DEFINITE = ("gaussian", "shifted")

TIGHT = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-8)


class Data(NamedTuple):
    K: Array
    y: Array
    t: Array


class Known(NamedTuple):
    """The optimum, and the decision values at the points if they are unique."""

    value: float
    decisions: Array | None = None


def data(kernel: str, n: int = N) -> Data:
    """Points of two classes in the plane, a kernel of them or a random matrix, and targets."""
    generator = np.random.default_rng(1)
    X, y = generator.standard_normal((n, 2)), np.resize([1.0, -1.0, 1.0, -1.0, -1.0], n)
    X[:, 0] += 0.7 * y
    t, A = X[:, 0] ** 2 + 0.1 * generator.standard_normal(n), generator.standard_normal((n, n))
    products = np.tanh(X @ X.T - 0.5)
    least, heights = np.linalg.eigvalsh(products)[0], np.sqrt(1.0 + np.sum(X**2, axis=1))
    K = {
        "gaussian": np.exp(-np.square(X[:, None] - X).sum(-1)),
        "tanh": products,
        "shifted": products + (0.1 - least) * np.eye(n),
        "truncated": np.maximum(1.4 - np.abs(X[:, None] - X).sum(-1), 0.0),
        "random": (A + A.T) / 2,
        "hyperboloid": np.multiply.outer(heights, heights) - X @ X.T,
    }[kernel]
    K, order = (K + K.T) / 2, shaking.order(n, "other papers", kernel)
    return Data(K[np.ix_(order, order)], y[order], t[order])


def problem_of(task: str, d: Data) -> iopt.KernelProblem:
    labels = {"classification": d.y, "regression": d.t, "one class": None}[task]
    return iopt.KernelProblem(d.K, labels, task=task)


def factor(K: Array) -> Array:
    """A with K = AAᵀ."""
    values, vectors = np.linalg.eigh(K)
    assert values[0] > -1e-9
    return vectors * np.sqrt(np.maximum(values, 0.0))


def optimum(objective: Any, *rows: Any) -> float:
    stated = cp.Problem(objective, list(rows))
    stated.solve(solver="CLARABEL", **TIGHT)
    assert stated.status == "optimal"
    return float(stated.value)


def machine(
    K: Array, loss: Callable[[Any], Any], bias: bool = True, sign: float = 1.0, squared: float = 0.0
) -> Known:
    """min ½‖w‖² + ½ squared b² + loss(f) with f = Aw + b and K = AAᵀ."""
    w, b = cp.Variable(len(K)), cp.Variable()
    f = factor(K) @ w + (b if bias else 0.0)
    value = cp.sum_squares(w) / 2 + squared / 2 * cp.square(b) + loss(f)
    return Known(sign * optimum(cp.Minimize(value)), np.asarray(f.value))


def rows_of(d: Data, H: Array, q: Array, **rest: Any) -> polyhedra.Rows:
    return polyhedra.program(len(q), H, q, **rest)


def signed(d: Data) -> Array:
    return d.y[:, None] * d.K * d.y
