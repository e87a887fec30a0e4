"""Support vector machines in hyperbolic space: proved optima, and what two known methods miss.

Points are drawn around centres of the hyperboloid xᵀGx = -1, G = diag(-1, 1, 1): normal in the
tangent plane at (1, 0, 0), carried to the centre, and then along geodesics. One centre is a class,
and each class stands once against the rest.

The program is that of `docs/extend/models/quadratic_row.py:HyperbolicSVM`. Projected gradient takes
subgradient steps, and moves the time coordinate back where wᵀGw < 0. The semidefinite relaxation
has W in place of wwᵀ; its own point is w, made feasible in the same way. Both are those of the
literature, written anew: Cho, DeMeo, Peng & Berger (2019); Yang, Liu & Pehlevan (2025).

`python benchmarks/hyperbolic.py` prints the table, `--quick` its first half.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import indefinite_opt as iopt

sys.path.append(str(Path(__file__).parents[1] / "docs" / "extend" / "models"))
from quadratic_row import HyperbolicSVM

Array = NDArray[np.float64]

G = np.diag([-1.0, 1.0, 1.0])

SIZES = (30, 100, 300, 1000, 3000, 10_000)

STEPS = 3000
"""Of projected gradient, from the difference of the means."""


def hyperboloid(n: int, classes: int, spread: float, seed: int) -> tuple[Array, NDArray[np.intp]]:
    """n points around centres at distance 1.2 from the origin, and their classes."""
    g = np.random.default_rng(seed)
    labels, X = np.arange(n) % classes, np.zeros((n, 3))
    origin = np.array([1.0, 0.0, 0.0])
    for k in range(classes):
        angle = 2.0 * np.pi * k / classes
        flat = np.sinh(1.2) * np.array([np.cos(angle), np.sin(angle)])
        centre = np.array([np.cosh(1.2), *flat])
        drawn = g.normal(size=(np.sum(labels == k), 2)) * spread
        tangent = np.column_stack([np.zeros(len(drawn)), drawn])
        tangent = tangent + np.outer(drawn @ flat / (1.0 + centre[0]), origin + centre)
        length = np.sqrt(np.sum(drawn**2, axis=1, keepdims=True))
        X[labels == k] = np.cosh(length) * centre + np.sinh(length) * tangent / length
    return X, labels


def value(w: Array, rows: Array, C: float) -> float:
    """The objective."""
    return float(0.5 * w @ G @ w + C / np.sqrt(2.0) * np.maximum(1.0 + rows @ w, 0.0).sum())


def feasible(w: Array) -> Array:
    """w with a time coordinate that is at most as long as the others."""
    most = np.hypot(*w[1:])
    return np.array([np.clip(w[0], -most, most), *w[1:]])


def projected_gradient(rows: Array, C: float) -> float:
    """The least objective of all steps."""
    w = feasible(-G @ rows.mean(axis=0))
    best = value(w, rows, C)
    for step in range(STEPS):
        slope = G @ w + C / np.sqrt(2.0) * rows[1.0 + rows @ w > 0.0].sum(axis=0)
        size = np.linalg.norm(slope)
        if size == 0.0:
            break
        w = feasible(w - np.linalg.norm(w) / np.sqrt(1.0 + step) * slope / size)
        best = min(best, value(w, rows, C))
    return best


def relaxation(rows: Array, C: float) -> tuple[float, float]:
    """The bound of the semidefinite relaxation, and the objective of its point."""
    Z = cp.Variable((4, 4), PSD=True)
    square, w = 0.5 * cp.trace(G @ Z[1:, 1:]), Z[0, 1:]
    loss = C / np.sqrt(2.0) * cp.sum(cp.pos(1.0 + rows @ w))
    problem = cp.Problem(cp.Minimize(square + loss), [Z[0, 0] == 1.0, square >= 0.0])
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value), value(feasible(np.asarray(w.value)), rows, C)


def main() -> None:
    parser = argparse.ArgumentParser(description="Proved machines in hyperbolic space.")
    parser.add_argument("--quick", action="store_true", help="at most 300 points")
    quick = parser.parse_args().quick
    table = Table(title="One class against the rest, C = 1 and 10; worst of all classes")
    for column in (
        "points", "classes", "spread", "C", "gap", "nodes", "seconds",
        "projected gradient", "relaxation: bound", "its point", "its seconds",
    ):  # fmt: skip
        table.add_column(column, justify="right")
    for n in SIZES[: 3 if quick else None]:
        for classes, spread in ((2, 0.3), (5, 0.8)):
            X, labels = hyperboloid(n, classes, spread, seed=n)
            for C in (1.0, 10.0):
                table.add_row(str(n), str(classes), f"{spread}", f"{C:g}", *row(X, labels, C))
    Console(width=140).print(table)


def row(X: Array, labels: NDArray[np.intp], C: float) -> list[str]:
    """The worst gap and what the others miss most, as shares of the optimum."""
    worst = np.zeros(7)
    for k in range(int(labels.max()) + 1):
        y = np.where(labels == k, 1.0, -1.0)
        rows = y[:, None] * X @ G
        problem = iopt.KernelProblem.from_data(X, y, "pseudo-euclidean(p=1)", cache_mb=100)
        began = time.perf_counter()
        result = iopt.solve(problem, HyperbolicSVM(C=C, points=X), time_limit=60.0)
        gap = result.certificate.relative_gap
        spent, best = time.perf_counter() - began, result.objective
        began = time.perf_counter()
        bound, rounded = relaxation(rows, C)
        relaxed = time.perf_counter() - began
        found = projected_gradient(rows, C)
        missed = (found - best) / best, (best - bound) / best, (rounded - best) / best
        worst = np.maximum(worst, [gap, result.iterations, spent, *missed, relaxed])
    shares = [f"{100.0 * one:.2g} %" for one in worst[3:6]]
    return [f"{worst[0]:.0e}", f"{worst[1]:.0f}", f"{worst[2]:.2f}", *shares, f"{worst[6]:.2f}"]


if __name__ == "__main__":
    main()
