"""Random programs with one quadratic row, solved here and by Gurobi: claims, gaps and times.

Objective and row have any inertia. A point of Gurobi below a proved bound, or one of a program that
is said to be infeasible, is a false claim; it counts if the point violates nothing by more than
1e-8. Unbounded ones are counted, and Gurobi searches within ±1000 where variables have no ends.

`python benchmarks/quadratic_rows.py` prints the table of 2,000 draws. Gurobi's licence without a
fee (`pip install gurobipy`) suffices for programs of this size.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from typing import Any

import cvxpy as cp
import gurobipy
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import indefinite_opt as iopt
from indefinite_opt.errors import InfeasibleProblem, SolverFailed, UnboundedProblem

Array = NDArray[np.float64]

KINDS = {
    "the row alone": (),
    "in a box": ("box",),
    "in a box, linear rows": ("box", "rows"),
    "in a box, 20 hinges": ("box", "hinges"),
    "in a box, rows, hinges": ("box", "rows", "hinges"),
}

SECONDS = 3.0
"""Of each solver for each program."""

VIOLATION = 1e-8
"""Of the points of Gurobi that count."""

GAP = 1e-6
"""Relative gap at which a program counts as closed."""


class Drawn:
    """½xᵀAx + bᵀx + Σ max(r + Rx, 0) with ½xᵀGx + gᵀx ≤ c or = c, Dx ≤ e, |x_i| ≤ 2."""

    def __init__(self, seed: int, parts: tuple[str, ...]) -> None:
        g = np.random.default_rng(seed)
        self.n = n = int(g.integers(2, 7))
        drawn = g.integers if seed % 2 else g.uniform
        (self.A, self.G) = ((M + M.T) / 2.0 for M in drawn(-3, 4, (2, n, n)).astype(float))
        self.b, self.g = drawn(-3, 4, (2, n)).astype(float)
        self.c, self.equal = float(g.integers(-2, 4)), bool(g.integers(2))
        if seed % 4 == 0:
            self.G, self.g, self.c = np.eye(n), np.zeros(n), 0.5 + abs(self.c)  # a ball or sphere
        hinges, rows = 20 * ("hinges" in parts), 2 * ("rows" in parts)
        self.R, self.r = g.normal(size=(hinges, n)), g.normal(size=hinges)
        self.D, self.e = g.normal(size=(rows, n)), g.normal(size=rows) + 1.0
        self.reach = 2.0 if "box" in parts else np.inf

    def violation(self, x: Array) -> float:
        """The largest of row, rows and box."""
        over = float(x @ (0.5 * self.G @ x + self.g)) - self.c
        linear = max(np.max(self.D @ x - self.e, initial=0.0), np.abs(x).max() - self.reach, 0.0)
        return max(abs(over) if self.equal else over, float(linear))

    def value(self, x: Array) -> float:
        """The objective."""
        hinges = np.maximum(self.r + self.R @ x, 0.0).sum()
        return float(x @ (0.5 * self.A @ x + self.b) + hinges)

    def problem(self) -> cp.Problem:
        """The program for cvxpy's language."""
        x = cp.Variable(self.n)
        objective = 0.5 * cp.quad_form(x, self.A) + self.b @ x
        if self.r.size:
            objective += cp.sum(cp.pos(self.R @ x + self.r))
        row = 0.5 * cp.quad_form(x, self.G) + self.g @ x
        constraints = [row == self.c if self.equal else row <= self.c]
        if self.e.size:
            constraints.append(self.D @ x <= self.e)
        if np.isfinite(self.reach):
            constraints += [x >= -self.reach, x <= self.reach]
        return cp.Problem(cp.Minimize(objective), constraints)

    def of_gurobi(self, environment: Any) -> tuple[Array | None, float]:
        """Gurobi's point, and its bound."""
        with gurobipy.Model(env=environment) as model:
            model.Params.TimeLimit, model.Params.MIPGap = SECONDS, GAP / 2.0
            model.Params.FeasibilityTol, model.Params.Threads = 1e-9, 1
            ends = min(self.reach, 1e3)
            x = model.addMVar(self.n, lb=-ends, ub=ends)
            t = model.addMVar(self.r.size, lb=0.0)
            model.setObjective(x @ (0.5 * self.A) @ x + self.b @ x + t.sum())
            row = x @ (0.5 * self.G) @ x + self.g @ x
            model.addConstr(row == self.c if self.equal else row <= self.c)
            if self.r.size:
                model.addConstr(t >= self.R @ x + self.r)
            if self.e.size:
                model.addConstr(self.D @ x <= self.e)
            model.optimize()
            return (np.array(x.X) if model.SolCount else None), float(
                getattr(model, "ObjBound", -np.inf)
            )


def judged(drawn: Drawn, environment: Any) -> tuple[Counter[str], list[float]]:
    """What both solvers do with a program, and the seconds that each takes."""
    began, found = time.perf_counter(), Counter({"draws": 1})
    low, value = -np.inf, np.inf
    try:
        result = iopt.solve(drawn.problem(), time_limit=SECONDS)
        low, value = result.certificate.bound, result.objective
    except InfeasibleProblem:
        low = np.inf
    except UnboundedProblem:
        found["unbounded"] += 1
    except SolverFailed:
        found["undecided"] += 1
    middle = time.perf_counter()
    x, bound = drawn.of_gurobi(environment)
    times = [middle - began, time.perf_counter() - middle]
    best = np.inf if x is None or drawn.violation(x) > VIOLATION else drawn.value(x)
    room = 1e-5 * max(1.0, abs(best)) if np.isfinite(best) else 0.0
    found["false"] += low > best + room
    if found["unbounded"] or found["undecided"]:
        return found, times
    found["infeasible"] += low == np.inf
    closed = low == np.inf or value - low <= GAP * max(1.0, abs(value))
    found["closed"] += closed
    found["open for Gurobi"] += not (x is None or drawn.value(x) - bound <= GAP * abs(bound) + GAP)
    found["worse than Gurobi"] += value > best + room
    return found, times


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=400, help="of each kind; 400 by default")
    given = parser.parse_args()
    table = Table(title="One quadratic row of any inertia, 2 to 6 variables")
    heads = (
        "draws", "closed", "infeasible", "unbounded", "undecided", "worse than Gurobi",
        "open for Gurobi", "false",
    )  # fmt: skip
    for head in ("program", *heads, "seconds", "Gurobi's"):
        table.add_column(head, justify="left" if head == "program" else "right")
    with gurobipy.Env(params={"OutputFlag": 0}) as environment:
        for kind, parts in KINDS.items():
            counts, seconds = Counter[str](), []
            for number in range(given.draws):
                found, times = judged(Drawn(1000 * len(parts) + number, parts), environment)
                counts.update(found)
                seconds.append(times)
            spent = np.sum(seconds, axis=0)
            shown = [str(counts[head]) for head in heads]
            table.add_row(kind, *shown, *(f"{one:.0f}" for one in spent))
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
