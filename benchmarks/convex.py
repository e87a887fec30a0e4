"""Convex programs against solvers of convex programs; run `python benchmarks/convex.py`.

CPU seconds of one process, with imports before: the program from its arrays, `solve`, its
certificate, and the text of that, against a peer alone on the same arrays. Quadratic programs are
those of Maros and Mészáros in the folder that INDEFINITE_OPT_DATA names, linear ones those of
netlib that they were made from, and some that are drawn here; the last one is the sparse
least-squares problem of qpsolvers. PIQP, ProxQP, DAQP and quadprog take part if they are installed.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
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
"""Programs that import what the others need."""

NONCONVEX = ("VALUES",)
"""Programs that are not convex, which count in no mean."""


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

    def value(self, x: Array) -> float:
        """The objective."""
        return float(x @ (0.5 * (self.P @ x) + self.q)) + self.r

    def violation(self, x: Array) -> float:
        """The largest violation of a row or bound, relative to 1 and its right-hand side."""
        rows = self.A @ x
        sides = (self.low - rows, self.low), (rows - self.high, self.high)
        ends = (self.lb - x, self.lb), (x - self.ub, self.ub)
        shares = [
            np.where(np.isfinite(end), over, 0.0) / (1.0 + np.where(np.isfinite(end), abs(end), 0))
            for over, end in (*sides, *ends)
        ]
        return max(float(np.max(share, initial=0.0)) for share in shares)

    def one_sided(self) -> tuple[Any, Array, Any, Array]:
        """G, h, A and b with Gx ≤ h and Ax = b."""
        equal, below, above = self.low == self.high, np.isfinite(self.low), np.isfinite(self.high)
        G = sparse.vstack([self.A[above & ~equal], -self.A[below & ~equal]], format="csc")
        h = np.concatenate([self.high[above & ~equal], -self.low[below & ~equal]])
        return G, h, sparse.csc_array(self.A[equal]), self.low[equal]

    def with_bounds_as_rows(self) -> Arrays:
        """The same program with its bounds behind its rows, too."""
        rows = sparse.vstack([self.A, sparse.eye_array(self.q.size)], format="csr")
        low, high = np.append(self.low, self.lb), np.append(self.high, self.ub)
        return self._replace(A=rows, low=low, high=high)


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


def least_squares(n: int) -> Arrays:
    """½‖x - s‖² with a band of rows, one row of ones and x ≥ 0, as in the tests of qpsolvers."""
    place = np.arange(n)
    band = [(place % k == 0).astype(float) for k in (2, 3, 5)]
    G = sparse.diags_array([band[0], band[1][:-1], band[2][:-1]], offsets=[0, 1, -1])
    A = sparse.csr_array(sparse.vstack([G, np.ones((1, n))]))
    low, high = np.append(np.full(n, -np.inf), 42.0), np.append(np.ones(n), 42.0)
    eye, s = sparse.eye_array(n, format="csc"), place.astype(float)
    return Arrays(eye, -s, 0.0, A, low, high, np.zeros(n), np.full(n, np.inf))


def ours(a: Arrays) -> tuple[float, str]:
    """The objective and the claim, after the certificate was printed."""
    G, h, A, b = a.one_sided()
    rows: dict[str, Any] = {"G": G, "h": h} if h.size else {}
    rows |= {"A": A, "b": b} if b.size else {}
    qp = iopt.QuadraticProgram(a.P if a.P.nnz else None, a.q, lb=a.lb, ub=a.ub, **rows)
    result = iopt.solve(qp, time_limit=60.0)
    str(result.certificate)
    return result.objective + a.r, result.certificate.claim.name


# ------------------------------------------------------------- peers, with their own tolerances


def clarabel(a: Arrays) -> Array:
    """The point of Clarabel."""
    import clarabel as peer

    G, h, A, b = a.with_bounds_as_rows().one_sided()
    settings = peer.DefaultSettings()
    settings.verbose = False
    cones = [peer.ZeroConeT(b.size), peer.NonnegativeConeT(h.size)]
    half, rows = sparse.csc_matrix(sparse.triu(a.P)), sparse.csc_matrix(sparse.vstack([A, G]))
    solver = peer.DefaultSolver(half, a.q, rows, np.append(b, h), cones, settings)
    return np.asarray(solver.solve().x)


def highs(a: Arrays) -> Array:
    """The point of HiGHS."""
    import highspy

    rows, model, lp = sparse.csr_array(a.A), highspy.Highs(), highspy.HighsLp()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("time_limit", 60.0)
    lp.num_col_, lp.num_row_ = a.q.size, a.low.size
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = a.q, a.lb, a.ub
    lp.row_lower_, lp.row_upper_ = a.low, a.high
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = rows.indptr, rows.indices
    lp.a_matrix_.value_ = rows.data
    model.passModel(lp)
    if a.P.nnz:
        half = sparse.csc_array(sparse.tril(a.P))
        model.passHessian(a.q.size, half.nnz, 1, half.indptr, half.indices, half.data)
    model.run()
    return np.array(model.getSolution().col_value)


def osqp(a: Arrays) -> Array:
    """The point of OSQP."""
    import osqp as peer

    rows = a.with_bounds_as_rows()
    solver = peer.OSQP()
    solver.setup(
        sparse.csc_matrix(a.P), a.q, sparse.csc_matrix(rows.A), rows.low, rows.high, verbose=False
    )
    return np.asarray(solver.solve(raise_error=False).x)


def piqp(a: Arrays) -> Array:
    """The point of PIQP."""
    import piqp as peer

    G, h, A, b = a.one_sided()
    solver = peer.SparseSolver()
    solver.setup(
        sparse.csc_matrix(a.P), a.q, sparse.csc_matrix(A), b, sparse.csc_matrix(G),
        np.full(h.size, -np.inf), h, a.lb, a.ub,
    )  # fmt: skip
    solver.solve()
    return np.asarray(solver.result.x)


def proxqp(a: Arrays) -> Array:
    """The point of ProxQP."""
    from proxsuite import proxqp as peer

    _, _, A, b = a.one_sided()
    other = a.low != a.high
    C = sparse.csc_matrix(sparse.vstack([a.A[other], sparse.eye_array(a.q.size)]))
    low, high = np.append(a.low[other], a.lb), np.append(a.high[other], a.ub)
    wide = 1e20
    found = peer.sparse.solve(
        sparse.csc_matrix(a.P), a.q, sparse.csc_matrix(A), b, C, np.maximum(low, -wide),
        np.minimum(high, wide),
    )  # fmt: skip
    return np.asarray(found.x)


def daqp(a: Arrays) -> Array:
    """The point of DAQP, which is dense."""
    import daqp as peer

    wide = 1e30
    low, high = np.append(a.lb, a.low), np.append(a.ub, a.high)
    sense = np.where(low == high, 5, 0).astype(np.int32)
    H, rows = np.ascontiguousarray(a.P.toarray()), np.ascontiguousarray(a.A.toarray())
    ends = np.minimum(high, wide), np.maximum(low, -wide)
    return np.asarray(peer.solve(H, a.q.copy(), rows, *ends, sense)[0])


def quadprog(a: Arrays) -> Array:
    """The point of quadprog, which is dense, and needs a definite P."""
    import quadprog as peer

    G, h, A, b = a.with_bounds_as_rows().one_sided()
    C = -sparse.vstack([A, G]).toarray()
    return np.asarray(peer.solve_qp(a.P.toarray(), -a.q, C.T, -np.append(b, h), b.size)[0])


PEERS: dict[str, tuple[str, Callable[[Arrays], Array]]] = {
    "Clarabel": ("clarabel", clarabel), "HiGHS": ("highspy", highs), "OSQP": ("osqp", osqp),
    "PIQP": ("piqp", piqp), "ProxQP": ("proxsuite", proxqp), "DAQP": ("daqp", daqp),
    "quadprog": ("quadprog", quadprog),
}  # fmt: skip


# ---------------------------------------------------------------------------------------- tables


def cpu(call: Callable[[], Any], failed: Any) -> tuple[float, Any]:
    """CPU seconds, and what was returned; what stands for a failure if there is an error."""
    began = time.process_time()
    try:
        found = call()
    except iopt.IndefiniteOptError as error:
        found = np.nan, type(error).__name__
    except Exception:  # a peer may raise anything
        found = failed
    return time.process_time() - began, found


def mean(ratios: list[float]) -> float:
    """The geometric mean."""
    return float(np.exp(np.mean(np.log(ratios)))) if ratios else np.nan


def quadratic_table(folder: Path, names: list[str]) -> None:
    """One line for each program, the means of each size, and one line for each peer."""
    with open(folder / "REFERENCE.csv", encoding="utf-8") as file:
        best = {row["name"]: float(row["objective"]) for row in csv.DictReader(file)}
    peers = {
        label: call for label, (module, call) in PEERS.items() if importlib.util.find_spec(module)
    }
    for name in WARM:
        ours(maros_meszaros(folder / f"{name}.mat"))
        for call in peers.values():
            cpu(lambda name=name, call=call: call(maros_meszaros(folder / f"{name}.mat")), None)
    print("| program | n | ours s | Clarabel s | ours / Clarabel | claim | off |")
    print("|---" * 7 + "|")
    found: list[tuple[int, float, str, float]] = []
    ratios: dict[str, list[float]] = {label: [] for label in peers}
    right = dict.fromkeys(peers, 0)
    for name in names or sorted(best):
        a = maros_meszaros(folder / f"{name}.mat")
        scale = max(1.0, abs(best[name]))
        times = {}
        mine, (objective, claim) = cpu(lambda a=a: ours(a), None)
        for label, call in peers.items():
            seconds, x = cpu(lambda a=a, call=call: call(a), None)
            times[label] = seconds
            solved = x is not None and x.shape == a.q.shape and bool(np.isfinite(x).all())
            if solved and a.violation(x) <= 1e-6 and abs(a.value(x) - best[name]) <= 1e-6 * scale:
                right[label] += 1
                if name not in NONCONVEX:
                    ratios[label].append(mine / seconds)
        off = abs(objective - best[name]) / scale
        ratio = mine / times["Clarabel"]
        if name not in NONCONVEX:
            found.append((a.q.size, ratio, claim, off))
        print(
            f"| {name} | {a.q.size} | {mine:.3f} | {times['Clarabel']:.4f} | {ratio:.1f} | {claim} "
            f"| {off:.0e} |",
            flush=True,
        )
    for least, most in GROUPS:
        some = [ratio for n, ratio, _, _ in found if least <= n < most]
        if not some:
            continue
        print(f"\nn from {least} to {most - 1}: {mean(some):.1f} ({len(some)} programs)")
    proved = sum(claim == "GLOBAL" for _, _, claim, _ in found)
    good = sum(off <= 1e-6 for *_, off in found)
    print(f"\nOf {len(found)} convex programs {proved} are GLOBAL, {good} within 1e-6 of the best.")
    print("\n| solver | within 1e-6, violations too | ours / solver where it is |")
    print("|---|---|---|")
    for label in peers:
        print(f"| {label} | {right[label]} | {mean(ratios[label]):.1f} |")


def linear_table(sizes: list[int], folder: Path) -> None:
    """One line for each linear program."""
    for call in (ours, highs):
        call(linear(60, 0))
    programs = {f"{n} variables": linear(n, n) for n in sizes}
    for path in sorted(folder.glob("Q*.mat")):
        a = maros_meszaros(path)
        if a.q.any():
            programs[path.stem[1:].lower()] = a._replace(P=sparse.csc_array(a.P.shape))
    print("\n| linear program | n | ours s | HiGHS s | ours / HiGHS | claim |\n" + "|---" * 6 + "|")
    ratios = []
    for name, a in programs.items():
        theirs, _ = cpu(lambda a=a: highs(a), None)
        mine, (_, claim) = cpu(lambda a=a: ours(a), None)
        ratios.append(mine / theirs)
        print(
            f"| {name} | {a.q.size} | {mine:.3f} | {theirs:.4f} | {ratios[-1]:.1f} | {claim} |",
            flush=True,
        )
    print(f"\nmean {mean(ratios):.1f} ({len(ratios)} programs)")


def least_squares_table(sizes: list[int]) -> None:
    """One line for each size of the sparse least-squares problem."""
    print("\n| least squares, n | ours s | Clarabel s | OSQP s | claim |\n" + "|---" * 5 + "|")
    for n in sizes:
        a = least_squares(n)
        mine, (_, claim) = cpu(lambda a=a: ours(a), None)
        theirs = [cpu(lambda a=a, call=call: call(a), None)[0] for call in (clarabel, osqp)]
        print(f"| {n} | {mine:.3f} | {theirs[0]:.3f} | {theirs[1]:.3f} | {claim} |", flush=True)


def main() -> None:
    """Read the command line, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[100, 300, 600])
    parser.add_argument("--programs", nargs="*", default=[])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = Path(os.environ.get("INDEFINITE_OPT_DATA", ".")) / "maros_meszaros"
    if folder.is_dir():
        quadratic_table(folder, options.programs)
    else:
        print(f"The programs of Maros and Mészáros are left out: there is no folder {folder}.")
    linear_table(options.sizes, folder)
    least_squares_table([1500, 15000])


if __name__ == "__main__":
    main()
