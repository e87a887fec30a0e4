"""Generators like the field's, against Gurobi and SCIP; run `python benchmarks/frontier.py`.

Concave costs of single variables over rows and on transportation networks, indefinite programs with
rows and equations, bilinear ones over two polytopes, standard quadratic programs, random and of the
cliques of random graphs, and box QPs: ten programs of each size with fixed seeds and integer data.
The solvers take turns on each program, with the same time limit, a relative gap of 1e-6 and two
threads; SCIP uses one.

A program is closed by a solver if its gap ends at 1e-6; twice that for peers, whose best points are
moved into the feasible set before they are evaluated. Ours is called slow on a program that Gurobi
closes if it takes more than three times as long and a second, or leaves it open. The ratio is the
geometric mean of a peer's seconds divided by ours; less than 0.05 s counts as 0.05 s, and an open
program as the time limit. CPU seconds are those of all threads, and for peers without imports. A
peer that is not installed, has crashed or refuses a program by its licence says so, and does not
count there.

A bound of one solver beyond a feasible value of another is printed as a line that begins with
DISAGREE, and makes the exit status 1.

`--resume FILE` keeps every finished call as a line of JSON, and reads it from there next time.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from pathlib import Path

import numpy as np
from global_bracket import FALSE, Journal, head, say, share
from global_peers import RELATIVE_GAP, Peer, gurobi, scip
from threadpoolctl import threadpool_limits

import indefinite_opt as iopt
from indefinite_opt.quadratic.instances.depot import Draws

THREADS = 2

LEAST_SECONDS = 0.05
"""What less counts as in ratios: such times are those of starting, not of solving."""

PEERS: dict[str, Peer] = {"Gurobi": partial(gurobi, threads=THREADS), "SCIP": scip}

OURS = "ours"


@dataclass(frozen=True)
class Run:
    """lower ≤ min F ≤ upper as one solver gives it, and what that took."""

    lower: float
    upper: float
    closed: bool
    seconds: float
    cpu: float
    note: str = ""

    def counted(self, limit: float) -> float:
        """The seconds that enter ratios."""
        return max(self.seconds, LEAST_SECONDS) if self.closed else limit

    @property
    def missing(self) -> bool:
        """Whether the solver is not installed, refuses a program of this size, or has crashed."""
        return bool(self.note) and not self.note.startswith("stopped from outside")


def separable(n: int, rows: int, seed: int) -> iopt.QuadraticProgram:
    """The polytope and the linear costs of `concave`, with squares of single variables."""
    whole = iopt.QuadraticProgram.read(f"concave-{n}-{rows}-1-{seed}")
    P = -np.diag(Draws(seed).integers(1, 20, n))
    return iopt.QuadraticProgram(P, whole.q, whole.G, whole.h, lb=whole.lb, ub=whole.ub)


def cliques(n: int, density: int, seed: int) -> iopt.QuadraticProgram:
    """-xᵀ(2A + I)x on the simplex for the edges A of a random graph: 1/ω - 2 (Bomze 1997)."""
    edges = Draws(seed).symmetric(1, 1, density, n)
    np.fill_diagonal(edges, 0.0)
    P = -4.0 * edges - 2.0 * np.eye(n)
    return iopt.QuadraticProgram(P, A=np.ones((1, n)), b=[1.0], lb=0.0, ub=1.0)


BUILDERS: dict[str, Callable[..., iopt.QuadraticProgram]] = {
    "separable": separable,
    "cliques": cliques,
}

FAMILIES: dict[str, list[str]] = {
    "concave separable, rows": ["separable-20-10", "separable-35-15", "separable-50-20"],
    "concave, transportation": ["transportation-4-5", "transportation-5-7", "transportation-5-10"],
    "indefinite, rows and equations": [
        f"rowqp-{n}-{n // 4}-{n // 4}-{density}" for n in (20, 35, 50) for density in (20, 60, 100)
    ],
    "bilinear, two polytopes": ["bilinear-10-10-5", "bilinear-17-18-9", "bilinear-25-25-12"],
    "standard QP, random": [f"stqp-{n}-{density}" for n in (20, 35, 50) for density in (50, 90)],
    "standard QP, cliques": [
        f"cliques-{n}-{density}" for n in (20, 35, 50) for density in (50, 75)
    ],
    "box QP": [f"boxqp-{n}-{density}" for n in (20, 40, 60) for density in (20, 60, 100)],
}
"""Names of the programs without their seeds, by family."""


def program(name: str) -> iopt.QuadraticProgram:
    """The program of a name."""
    family, *numbers = name.split("-")
    build = BUILDERS.get(family)
    return iopt.QuadraticProgram.read(name) if build is None else build(*map(int, numbers))


def measured(solver: str, name: str, limit: float) -> Run:
    """What a solver says of a program within a time limit."""
    qp = program(name)
    if solver != OURS:
        found = PEERS[solver](qp.program(), limit)
        closed = found.gap <= 2.0 * RELATIVE_GAP
        return Run(found.lower, found.upper, closed, found.seconds, found.cpu, found.note)
    with threadpool_limits(THREADS):
        began, cpu = time.perf_counter(), time.process_time()
        ours = iopt.bound(qp, time_limit=limit, gap=RELATIVE_GAP)
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    return Run(ours.lower, ours.upper, ours.relative_gap <= RELATIVE_GAP, seconds, cpu)


def disagreements(name: str, runs: dict[str, Run]) -> list[str]:
    """A line for every bound that lies beyond a value of another solver by more than rounding.

    Bounds of peers may do so by their tolerances.
    """
    return [
        f"DISAGREE on {name}: {one} proves {runs[one].lower:.12g}, {other} has {value:.12g}"
        for one, other in permutations(runs, 2)
        for value in [runs[other].upper]
        for tolerance in [FALSE if one == OURS else RELATIVE_GAP]
        if runs[one].lower > value + tolerance * max(1.0, abs(value))
    ]


class Table:
    """The runs of all programs so far."""

    def __init__(self, limit: float, journal: Journal, peers: Sequence[str] = tuple(PEERS)) -> None:
        self.limit, self.journal, self.solvers = limit, journal, (OURS, *peers)
        self.false: list[str] = []
        self.notes: set[str] = set()

    def runs(self, name: str) -> dict[str, Run]:
        """The runs of one program by solver; notes and disagreements are printed at once."""
        runs: dict[str, Run] = {}
        for solver in self.solvers:
            key = f"{solver} {name} {self.limit:g} s"
            run = self.journal.get(Run, key)
            if run is None:
                run = measured(solver, name, self.limit)
                if not run.missing:
                    self.journal.put(key, run)
            if not run.missing:
                runs[solver] = run
            if run.note and run.note not in self.notes:
                self.notes.add(run.note)
                say(f"{solver} on {name}: {run.note}")
        for line in disagreements(name, runs):
            self.false.append(line)
            say(line)
        return runs

    def ratio(self, rows: list[dict[str, Run]], peer: str) -> float:
        """The geometric mean of the peer's seconds divided by ours; nan without any."""
        pairs = [(row[peer], row[OURS]) for row in rows if peer in row]
        logs = [np.log(a.counted(self.limit) / b.counted(self.limit)) for a, b in pairs]
        return float(np.exp(np.mean(logs))) if logs else np.nan

    def row(self, title: str, rows: dict[str, dict[str, Run]]) -> None:
        """Print one row."""
        listed = list(rows.values())
        by_solver = {s: [row[s] for row in listed if s in row] for s in self.solvers}
        closed = " | ".join(
            f"{sum(run.closed for run in runs)} of {len(runs)}" for runs in by_solver.values()
        )
        slow = [
            not row[OURS].closed or row[OURS].seconds > 3.0 * row["Gurobi"].seconds + 1.0
            for row in listed if "Gurobi" in row and row["Gurobi"].closed
        ]  # fmt: skip
        ratios = " | ".join(f"{self.ratio(listed, peer):.2g}" for peer in self.solvers[1:])
        cpu = ", ".join(f"{sum(run.cpu for run in runs):.1f}" for runs in by_solver.values())
        still = ", ".join(name for name, row in rows.items() if not row[OURS].closed)
        say(f"| {title} | {closed} | {share(slow)} | {ratios} | {cpu} | {still} |")


def ratios(full: bool = False) -> dict[str, float]:
    """The ratio of each family to each peer, which is left out where it is not installed."""
    limit, each = (60.0, 10) if full else (10.0, 1)
    table, found = Table(limit, Journal(None)), {}
    for family, settings in FAMILIES.items():
        chosen = settings if full else settings[:2]
        rows = [table.runs(f"{name}-{seed}") for name in chosen for seed in range(1, each + 1)]
        found |= {f"{peer}, {family}": table.ratio(rows, peer) for peer in PEERS}
    if table.false:
        raise AssertionError("; ".join(table.false))
    return {name: ratio for name, ratio in found.items() if np.isfinite(ratio)}


def main() -> int:
    """Print the table, a row per size as soon as it is finished, and a row per family."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--family", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--each", type=int, default=10, help="programs of each size")
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit of each call")
    parser.add_argument(
        "--peers", nargs="*", choices=PEERS, default=list(PEERS), help="beside which; may be none"
    )
    parser.add_argument("--resume", type=Path, help="journal of JSON lines to go on from")
    options = parser.parse_args()
    say(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start.")
    table = Table(options.seconds, Journal(options.resume), options.peers)
    columns = " | ".join(table.solvers)
    head(
        f"Closed to {RELATIVE_GAP:g} within {options.seconds:g} s",
        f"programs | {columns} | slow | "
        + " | ".join(f"{peer} / ours" for peer in options.peers)
        + f" | CPU s: {columns.replace(' |', ',')} | open",
    )
    everything: dict[str, dict[str, Run]] = {}
    for family in options.family:
        whole: dict[str, dict[str, Run]] = {}
        for setting in FAMILIES[family]:
            names = [f"{setting}-{seed}" for seed in range(1, options.each + 1)]
            rows = {name: table.runs(name) for name in names}
            table.row(setting, rows)
            whole |= rows
        table.row(f"**{family}**", whole)
        everything |= whole
    table.row("**all**", everything)
    say(f"\n{len(table.false)} disagreements. Load {os.getloadavg()[0]:.1f} at the end.")
    return int(bool(table.false))


if __name__ == "__main__":
    sys.exit(main())
