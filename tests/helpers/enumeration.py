"""Every stationary point of a small quadratic program on a box and lines, by enumeration."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.modeling.structures.quadratic_program import BoxLineQP

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Program:
    """min ½xᵀHx + qᵀx, lower ≤ x ≤ upper, and Σ sign·x = total over each group (-1: no group)."""

    H: Array
    q: Array
    lower: Array
    upper: Array
    group: NDArray[np.int64]
    sign: Array
    totals: Array

    def value(self, X: Array) -> Array:
        return 0.5 * np.einsum("...i,ij,...j", X, self.H, X) + X @ self.q

    def gradient(self, X: Array) -> Array:
        return X @ self.H + self.q

    def residual(self, X: Array, slack: float = 1e-9) -> Array:
        """Steepest descent of one weight, or of a pair of one group, for points in the rows of X.

        Lin & Lin (2003), (21): of no pair may the weight that can rise have the smaller slope.
        """
        slope = self.sign * self.gradient(X)
        free_up, free_down = self.upper - X > slack, X - self.lower > slack
        rises = np.where(self.sign > 0, free_up, free_down)
        falls = np.where(self.sign > 0, free_down, free_up)
        worst = np.zeros(X.shape[:-1])
        for g in np.unique(self.group):
            members = self.group == g
            least = np.where(rises & members, slope, np.inf).min(axis=-1)
            most = np.where(falls & members, slope, -np.inf).max(axis=-1)
            pairs = most - least if g >= 0 else np.maximum(-least, most)
            worst = np.maximum(worst, pairs)
        return worst

    def levels(self, x: Array, slack: float) -> Array:
        """Multiplier of its line for each weight; between the ends where no weight is free."""
        slope = self.sign * self.gradient(x)
        free_up, free_down = self.upper - x > slack, x - self.lower > slack
        rises = np.where(self.sign > 0, free_up, free_down)
        falls = np.where(self.sign > 0, free_down, free_up)
        level = np.zeros(x.size)
        for g in range(self.totals.size):
            members = self.group == g
            ends = [slope[rises & members].min(initial=np.inf),
                    slope[falls & members].max(initial=-np.inf)]  # fmt: skip
            finite = [end for end in ends if np.isfinite(end)]
            level[members] = np.mean(finite) if finite else 0.0
        return level


def enumerated(program: Program) -> tuple[Array, Array, bool]:
    """Every isolated stationary point, one a row, their values, and whether all faces were regular.

    All bounds of the fixed weights of one free set are solved for at once. A face whose KKT matrix
    is singular is passed over: a minimum inside it continues to its edge at the same value.
    """
    n = program.q.size
    lines = program.sign * (program.group == np.arange(program.totals.size)[:, None])
    found, regular = [np.empty((0, n))], True
    for kept in itertools.product((False, True), repeat=n):
        free = np.array(kept, dtype=bool)
        corners = itertools.product(*zip(program.lower[~free], program.upper[~free], strict=True))
        X = np.zeros((2 ** int(np.sum(~free)), n))
        X[:, ~free] = np.array(list(corners)).reshape(X.shape[0], -1)
        moving = np.any(lines[:, free], axis=1)
        gap = program.totals - X @ lines.T
        X, gap = (rows[np.all(np.abs(gap[:, ~moving]) <= 1e-9, axis=1)] for rows in (X, gap))
        if free.any() and X.size:
            A = lines[moving][:, free]
            k, m = int(free.sum()), int(moving.sum())
            system = np.block([[program.H[np.ix_(free, free)], A.T], [A, np.zeros((m, m))]])
            if np.linalg.cond(system) > 1e10:
                regular = False
                continue
            right = np.hstack([-program.gradient(X)[:, free], gap[:, moving]])
            X[:, free] = np.linalg.solve(system, right.T).T[:, :k]
        inside = np.all((program.lower - 1e-9 <= X) & (program.upper + 1e-9 >= X), axis=1)
        found.append(X[inside])
    X = np.vstack(found)
    X = X[program.residual(X) <= 1e-8 * max(1.0, np.abs(program.H).max())]
    return X, program.value(X), regular


def least_curvature(program: Program, x: Array) -> float:
    """min dᵀHd over the critical cone at x, cut to a box: negative if and only if F falls nearby.

    For a quadratic objective the second-order necessary condition is sufficient, too.
    """
    slack = 1e-6 * float(np.max(np.abs(x)))
    at_lower, at_upper = x - program.lower <= slack, program.upper - x <= slack
    reduced = program.sign * program.gradient(x) - program.levels(x, slack)
    strong = (at_lower | at_upper) & (np.abs(reduced) > 1e-7 * max(1.0, np.abs(program.H).max()))
    kept = ~strong
    if not kept.any():
        return 0.0
    cone = Program(
        program.H[np.ix_(kept, kept)],
        np.zeros(int(kept.sum())),
        np.where(at_lower, 0.0, -1.0)[kept],
        np.where(at_upper, 0.0, 1.0)[kept],
        program.group[kept],
        program.sign[kept],
        np.zeros(program.totals.size),
    )
    return 2.0 * float(np.min(enumerated(cone)[1], initial=0.0))


def inertias(n: int) -> Iterator[tuple[int, int, int]]:
    """(positive, negative, zero) eigenvalues, every way."""
    yield from ((p, q, n - p - q) for p in range(n + 1) for q in range(n + 1 - p))


def random_kernel(generator: np.random.Generator, inertia: tuple[int, int, int]) -> Array:
    """Random eigenvectors, eigenvalues of given signs and sizes between 0.2 and 2."""
    positive, negative, zero = inertia
    signs = np.repeat([1.0, -1.0, 0.0], [positive, negative, zero])
    sizes = generator.uniform(0.2, 2.0, signs.size)
    vectors, _ = np.linalg.qr(generator.standard_normal((signs.size, signs.size)))
    K = (vectors * (signs * sizes)) @ vectors.T
    return 0.5 * (K + K.T)


def read(structure: BoxLineQP) -> Program:
    """The program as the papers write it, from K and y."""
    y, n = structure.problem.y, structure.n
    group = {0: np.full(n, -1), 1: np.zeros(n, int), 2: (y < 0).astype(int)}[structure.lines]
    return Program(
        H=structure.hessian * structure.problem.K * np.outer(y, y),
        q=np.full(n, structure.linear),
        lower=np.zeros(n),
        upper=np.full(n, structure.upper),
        group=group,
        sign=y if structure.lines == 1 else np.ones(n),
        totals=np.full(structure.lines, 0.5 * structure.total),
    )
