"""Brackets of the SVM dual of 1,000 points and more, on real similarities.

The data are those of the atlas (`reproduction/atlas`) with so many points. Each has the kernel and
the C that cross-validation chose for `SVMDual` on the first fold of the first seed, and all its
points; of several classes the largest stands against the rest. A program is closed if its relative
gap is at most 1e-3. "Negative" is the share of the centred kernel's eigenvalues, by size, that is
negative, the spectral gap that of the bound by the least eigenvalue, and "same in every optimum"
the share of weights whose `Bracket.ranges` have one point.

`python benchmarks/large_proofs.py` runs each for ten minutes and appends its row to a file, from
which the same command goes on; `--only german-tl1 --minutes 2` is a part of it.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import indefinite_opt as iopt

sys.path.append(str(Path(__file__).parents[1]))
from reproduction.atlas.pairs import pairs
from reproduction.atlas.protocol import FULL
from reproduction.atlas.table import KEPT, read

LEAST, GAP = 1000, 1e-3

HEADS = {
    "n": "n", "C": "C", "negative": "negative", "spectral": "spectral gap",
    "root": "gap of the root", "gap": "gap", "nodes": "nodes", "iterations": "iterations",
    "seconds": "seconds", "first": "seconds to 1e-3", "same": "same in every optimum",
}  # fmt: skip


def program(name: str, folder: Path, jobs: int) -> tuple[iopt.KernelProblem, iopt.Formulation]:
    """The problem of all points of a pair, and the formulation that was chosen for it."""
    data = pairs()[name].data(folder, jobs)
    table = read(KEPT / "study-0-0.csv.gz")
    row = table[(table["pair"] == name) & (table["method"] == "SVMDual")].iloc[0]
    own, grid = FULL.chosen(data, 0, "SVMDual", row["chosen"])
    problem, formulation = own.with_kernel(grid.entries[0].kernel), grid.entries[0].method
    classes, counts = np.unique(problem.y, return_counts=True)
    y = np.where(problem.y == classes[np.argmax(counts)], 1, -1)
    return iopt.KernelProblem(problem.K, y, name=name), formulation


def measured(name: str, folder: Path, jobs: int, minutes: float) -> dict[str, Any]:
    """The row of a pair."""
    problem, formulation = program(name, folder, jobs)
    # The signed weights sum to 0, so that a constant in the kernel has no effect.
    K = problem.K - problem.K.mean(axis=0)
    values = np.linalg.eigvalsh(K - K.mean(axis=1)[:, None])
    bracket = iopt.bound(problem, formulation, time_limit=60.0 * minutes, gap=GAP / 2.0)
    attained = bracket.objective
    low, high = bracket.ranges["alpha"].T
    trace = zip(bracket.trace.seconds, bracket.trace.residual, strict=True)
    reached = [second for second, gap in trace if gap <= GAP]
    found: dict[str, Any] = {
        "pair": name, "n": problem.n, "C": formulation.C,
        "negative": float(-values[values < 0.0].sum() / np.abs(values).sum()),
        "gap": bracket.relative_gap, "nodes": bracket.nodes, "iterations": bracket.iterations,
        "seconds": bracket.seconds, "first": min(reached, default=None),
        "same": float(np.mean(low == high)),
    }  # fmt: skip
    for kind in ("spectral", "root"):
        bound = bracket.bounds.get(kind)
        found[kind] = None if bound is None else abs(bound - attained) / abs(attained)
    return found


def main() -> None:
    """Run what is not in the file, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--only", nargs="*", help="names of pairs; by default all with 1,000 points")
    add("--minutes", type=float, default=10.0, help="for each; 10 by default")
    add("--jobs", type=int, default=2, help="processes that compute distances; 2 by default")
    add("--matrices", type=Path, default=Path("reproduced/atlas/matrices"), help="folder of these")
    add("--rows", type=Path, default=Path("reproduced/large_proofs.jsonl"), help="file of rows")
    given = parser.parse_args()
    names = given.only or [name for name, pair in pairs().items() if pair.n >= LEAST]
    given.rows.parent.mkdir(parents=True, exist_ok=True)
    given.rows.touch()
    rows = [json.loads(line) for line in given.rows.read_text(encoding="utf-8").splitlines()]
    for name in names:
        if name not in {row["pair"] for row in rows}:
            rows.append(measured(name, given.matrices, given.jobs, given.minutes))
            with given.rows.open("a", encoding="utf-8") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    table = Table(title=f"Brackets of at most {given.minutes:g} minutes")
    for head in ("pair", *HEADS.values()):
        table.add_column(head, justify="left" if head == "pair" else "right")
    for row in sorted(rows, key=lambda row: row["gap"]):
        table.add_row(row["pair"], *(shown(key, row[key]) for key in HEADS))
    Console(width=150).print(table)


def shown(key: str, value: float | None) -> str:
    """A cell of the table."""
    if value is None:
        return "-"
    if key in ("negative", "spectral", "root", "gap", "same"):
        return f"{100.0 * value:.3g} %"
    return f"{value:.0f}" if key in ("seconds", "first") else f"{value:g}"


if __name__ == "__main__":
    main()
