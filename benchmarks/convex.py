"""Convex programs against Clarabel and HiGHS; run `python benchmarks/convex.py`.

CPU seconds of one process, with imports and compilation before: the program from its arrays,
`solve`, its certificate, and the text of that, against Clarabel or HiGHS alone on the same arrays.
Quadratic programs are those of Maros and Mészáros in the folder that INDEFINITE_OPT_DATA names;
linear ones are drawn here, of the sizes of netlib's.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import indefinite_opt as iopt

Array = NDArray[np.float64]

GROUPS = ((0, 100), (100, 300), (300, 600), (600, 1200))
"""Numbers of variables that are reported together."""

WARM = ("HS21", "HS35", "QAFIRO", "QPCBOEI2", "QSCAGR7", "QSHARE2B", "DUAL4")
"""Programs that load and compile what the others need."""


class Arrays(NamedTuple):
    """½xᵀPx + qᵀx + r with l ≤ Ax ≤ u and bounds; rows and numbers as a modelling tool has them."""

    P: Any
    q: Array
    r: float
    A: Any
    low: Array
    high: Array
    lb: Array
    ub: Array


def maros_meszaros(path: Path) -> Arrays:
    """The program of a .mat file, whose last n rows are the bounds."""
    from scipy.io import loadmat

    held = loadmat(path)
    q = held["q"].ravel().astype(float)
    A = sparse.csr_array(held["A"]).astype(float)
    low, high = (held[name].ravel().astype(float) for name in "lu")
    low, high = np.where(low <= -1e19, -np.inf, low), np.where(high >= 1e19, np.inf, high)
    P, m = sparse.csc_array(held["P"]).astype(float), A.shape[0] - q.size
    r = float(held["r"].ravel()[0])
    return Arrays(P, q, r, A[:m], low[:m], high[:m], low[m:], high[m:])


def linear(n: int, seed: int) -> Arrays:
    """A sparse linear program of n variables and n/2 rows with a known feasible point."""
    g = np.random.default_rng(seed)
    A = sparse.random_array((n // 2, n), density=min(1.0, 6.0 / n), rng=g, format="csr")
    x, m = g.uniform(0.0, 1.0, n), n // 2
    high = A @ x + np.where(g.random(m) < 0.5, 0.0, g.uniform(0.0, 1.0, m))
    low = np.where(g.random(m) < 0.5, high, -np.inf)
    high = np.where(np.isfinite(low), A @ x, high)
    low = np.where(np.isfinite(low), high, low)
    zero = sparse.csc_array((n, n))
    return Arrays(zero, g.standard_normal(n), 0.0, A, low, high, np.zeros(n), np.full(n, 10.0))


def ours(a: Arrays) -> tuple[float, str]:
    """The objective and the claim, after the certificate was printed."""
    equal, below, above = a.low == a.high, np.isfinite(a.low), np.isfinite(a.high)
    G = sparse.vstack([a.A[above & ~equal], -a.A[below & ~equal]])
    h = np.concatenate([a.high[above & ~equal], -a.low[below & ~equal]])
    rows: dict[str, Any] = {"G": G, "h": h} if h.size else {}
    rows |= {"A": a.A[equal], "b": a.low[equal]} if equal.any() else {}
    qp = iopt.QuadraticProgram(a.P if a.P.nnz else None, a.q, lb=a.lb, ub=a.ub, **rows)
    result = iopt.solve(qp, time_limit=60.0)
    str(result.certificate)
    return result.objective + a.r, result.certificate.claim.name


def clarabel(a: Arrays) -> None:
    """The solution by Clarabel, with its own tolerances."""
    import clarabel as peer

    rows = sparse.vstack([a.A, sparse.eye_array(a.q.size)], format="csr")
    low, high = np.append(a.low, a.lb), np.append(a.high, a.ub)
    equal, below, above = low == high, np.isfinite(low), np.isfinite(high)
    R = sparse.vstack([rows[equal], rows[above & ~equal], -rows[below & ~equal]])
    b = np.concatenate([low[equal], high[above & ~equal], -low[below & ~equal]])
    settings = peer.DefaultSettings()
    settings.verbose = False
    cones = [
        peer.ZeroConeT(int(equal.sum())), peer.NonnegativeConeT(b.size - int(equal.sum()))
    ]  # fmt: skip
    half = sparse.csc_matrix(sparse.triu(a.P))
    peer.DefaultSolver(half, a.q, sparse.csc_matrix(R), b, cones, settings).solve()


def highs(a: Arrays) -> None:
    """The solution of a linear program by HiGHS."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    milp(a.q, bounds=Bounds(a.lb, a.ub), constraints=LinearConstraint(a.A, a.low, a.high))


def cpu(call: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds and what was returned; an error of the package by its name."""
    began = time.process_time()
    try:
        found = call()
    except iopt.IndefiniteOptError as error:
        found = np.nan, type(error).__name__
    return time.process_time() - began, found


def mean(ratios: list[float]) -> float:
    """The geometric mean."""
    return float(np.exp(np.mean(np.log(ratios)))) if ratios else np.nan


def quadratic_table(folder: Path) -> None:
    """One line for each program of Maros and Mészáros, and the means of each size."""
    with open(folder / "REFERENCE.csv", encoding="utf-8") as file:
        best = {row["name"]: float(row["objective"]) for row in csv.DictReader(file)}
    for name in WARM:
        ours(maros_meszaros(folder / f"{name}.mat"))
        clarabel(maros_meszaros(folder / f"{name}.mat"))
    print("| program | n | ours s | Clarabel s | ours / Clarabel | claim | off |")
    print("|---" * 7 + "|")
    found: list[tuple[int, float, str, float]] = []
    for name in sorted(best):
        a = maros_meszaros(folder / f"{name}.mat")
        theirs, _ = cpu(lambda a=a: clarabel(a))
        mine, (objective, claim) = cpu(lambda a=a: ours(a))
        off = abs(objective - best[name]) / max(1.0, abs(best[name]))
        found.append((a.q.size, mine / theirs, claim, off))
        print(
            f"| {name} | {a.q.size} | {mine:.3f} | {theirs:.4f} | {mine / theirs:.1f} | {claim} | "
            f"{off:.0e} |",
            flush=True,
        )
    for least, most in GROUPS:
        ratios = [ratio for n, ratio, _, _ in found if least <= n < most]
        print(f"\nn from {least} to {most - 1}: {mean(ratios):.1f} ({len(ratios)} programs)")
    proved = sum(claim == "GLOBAL" for _, _, claim, _ in found)
    right = sum(off <= 1e-6 for *_, off in found)
    print(f"\nGLOBAL {proved} of {len(found)}; within 1e-6 of the best value known {right}.")


def linear_table(sizes: list[int]) -> None:
    """One line for each linear program."""
    for call in (ours, highs):
        call(linear(60, 0))
    print("\n| n | ours s | HiGHS s | ours / HiGHS | claim |\n" + "|---" * 5 + "|")
    for n in sizes:
        a = linear(n, n)
        theirs, _ = cpu(lambda a=a: highs(a))
        mine, (_, claim) = cpu(lambda a=a: ours(a))
        print(f"| {n} | {mine:.3f} | {theirs:.4f} | {mine / theirs:.1f} | {claim} |", flush=True)


def main() -> None:
    """Read the command line, and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[100, 300, 600])
    options = parser.parse_args()
    warnings.simplefilter("ignore", iopt.errors.DoubtfulResult)
    folder = Path(os.environ.get("INDEFINITE_OPT_DATA", ".")) / "maros_meszaros"
    if folder.is_dir():
        quadratic_table(folder)
    else:
        print(f"The programs of Maros and Mészáros are left out: there is no folder {folder}.")
    linear_table(options.sizes)


if __name__ == "__main__":
    main()
