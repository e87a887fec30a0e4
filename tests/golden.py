"""What every formulation gives on twelve kernels, and on every problem with a known optimum.

`python tests/golden.py` prints what differs from `golden.json`. `--write` writes the file anew;
`--add` adds what is missing, drops what there is no more, and keeps all other entries.
`tests/test_golden.py` runs the same comparison.

An entry is written only if its objective is the same however the points are ordered, for every
seed and every number of BLAS threads (`PLANS`): other values depend on the processor. The claim
and the gap of an entry are the weakest of these runs. All other entries are left out, and printed.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import indefinite_opt as iopt
from helpers.cases import CASES

FILE = Path(__file__).with_name("golden.json")

VARIANTS: dict[str, tuple[dict[str, Any], ...]] = {
    "SVMDual": ({"bias": False}, {"C": 10.0}, {"C": math.inf}),
    "ConvexHullDual": ({"mu": 1.0}, {"relative": 2.0}),
    "ConvexHullPrimal": ({"relative": 2.0},),
    "ESVM": ({"energy": 0.8}, {"rank": 3}),
    "GuoSchuurmansLP": ({"relative": 2.0},), "GuoSchuurmansQP": ({"relative": 2.0},),
    "LPSVM": ({"C": 10.0},),
    "LussBall": ({"radius": 100.0},), "LussDual": ({"rho": 100.0},),
    "SeparabilitySVM": ({"identity": False},), "UniformWeights": ({"bias": False},),
    "NuSVM": ({"nu": 0.2}, {"nu": 0.2, "equality": True}), "NuSVR": ({"C": 30.0},),
    "OneClassSVM": ({"nu": 0.2},), "SVDD": ({"C": 0.1},), "EpsilonSVR": ({"C": 10.0},),
    "OneClassLP": ({"nu": 0.2},),
    "SpectrumSVM": (
        {"transform": "flip"}, {"transform": "shift"}, {"transform": "square"}, {"centered": True},
    ),
}  # fmt: skip
"""Parameters beside the default ones."""

PLANS = ((None, 0, 1), (None, 1, 2), *((order, order % 3, 1 + order % 2) for order in range(20)))
"""Seed of the order of the points, seed of the solver, and number of BLAS threads."""

TOL = 1e-6
"""By which objectives that count as equal may differ, in the unit of the gap."""

X = np.random.default_rng(0).standard_normal((30, 4))  # the points

Entry = dict[str, Any]
Plan = tuple[int | None, int, int]
Job = tuple[Any, Any, iopt.Formulation]


def kernels() -> dict[str, Any]:
    """Twelve kernel matrices."""
    A = np.random.default_rng(1).standard_normal((30, 30))
    D2 = np.square(X[:, None] - X).sum(axis=2)
    gaussian, linear, symmetric = np.exp(-0.2 * D2), X[:, :3] @ X[:, :3].T, 0.5 * (A + A.T)
    return {
        "gaussian": gaussian, "linear": linear, "sigmoid": np.tanh(0.5 * X @ X.T - 1.0),
        "tanh of distances": 1.0 - np.tanh(0.5 * D2),
        "negative squared distances": -D2,
        "random": symmetric,
        "negative definite": -A @ A.T / 30.0, "rank one": np.outer(X[:, 0], X[:, 0]),
        "twins": symmetric[::2, ::2].repeat(2, 0).repeat(2, 1),
        "large constant": gaussian + 1e3, "small unit": 1e-6 * symmetric,
        "Krein": linear - 0.3 * np.outer(X[:, 3], X[:, 3]) + 0.1 * (gaussian - np.exp(-0.1 * D2)),
    }  # fmt: skip


def formulations() -> Iterator[tuple[str, iopt.Formulation]]:
    for name in iopt.available_formulations():
        for parameters in ({}, *VARIANTS.get(name, ())):
            listed = ", ".join(f"{key}={value}" for key, value in parameters.items())
            yield f"{name}({listed})", getattr(iopt, name)(**parameters)


def jobs() -> dict[str, Job]:
    """Kernel matrix, labels and formulation of every entry by its name, "kernel: formulation"."""
    y = np.where(X[:, 0] + 0.7 * np.sin(5.0 * X[:, 1]) > 0.0, 1, -1)
    t = X[:, 0] + np.sin(2.0 * X[:, 1])  # the targets
    found: dict[str, Job] = {
        f"{kernel}: {title}": (K, t if formulation.task == "regression" else y, formulation)
        for kernel, K in kernels().items()
        for title, formulation in formulations()
    }
    return found | {f"case: {case.name}": (case.K, case.y, case.formulation) for case in CASES}


def digits(value: float, count: int = 12) -> float | None:
    """Rounded to significant digits; None if it is not finite."""
    return float(f"{value:.{count}g}") if math.isfinite(value) else None


def solved(job: Job, plan: Plan = PLANS[0]) -> Entry:
    """What `solve` gives: objective, claim, gap, unit of the gap and solver, or the error.

    Formulations with one parameter for each point keep the order of the points.
    """
    (K, y, formulation), (order, seed, threads) = job, plan
    if order is not None and not any(isinstance(v, np.ndarray) for v in vars(formulation).values()):
        moved = np.random.default_rng(order).permutation(len(y))
        K, y = np.asarray(K)[np.ix_(moved, moved)], np.asarray(y)[moved]
    try:
        with threadpool_limits(threads, "blas"):
            task = "regression" if formulation.task == "regression" else None
            problem = iopt.KernelProblem(K, y, task=task)
            result = iopt.solve(problem, formulation, seed=seed)
            certificate = result.certificate
    except iopt.IndefiniteOptError as error:
        return {"error": type(error).__name__}
    gap, relative = certificate.gap, certificate.relative_gap
    unit = gap / relative if 0.0 < relative < math.inf else abs(result.objective)
    return {
        "objective": digits(result.objective),
        "sense": "max" if "maximize" in str(formulation.declare(problem)) else "min",
        "claim": certificate.claim.name, "gap": digits(gap, 2), "unit": digits(unit, 2),
        "solver": result.solver,
    }  # fmt: skip


def chosen(runs: list[Entry]) -> Entry | str:
    """The weakest of several runs of one entry if they agree, or how they differ."""
    if any("error" in run for run in runs):
        ends = sorted({run.get("error", "solved") for run in runs})
        return runs[0] if len(ends) == 1 else f"ends differ: {', '.join(ends)}"
    objectives, gaps = [run["objective"] for run in runs], [run["gap"] for run in runs]
    spread, unit = max(objectives) - min(objectives), max(run["unit"] for run in runs)
    if spread > 0.5 * TOL * unit:  # so that neither end is near the limit of a later comparison
        return f"objectives differ by {spread:.1e}, in a unit of {unit:.1e}"
    return runs[0] | {
        "objective": (min if runs[0]["sense"] == "max" else max)(objectives),
        "claim": min((run["claim"] for run in runs), key=lambda claim: iopt.Claim[claim]),
        "gap": None if None in gaps else max(gaps),
        "unit": unit,
    }


def golden() -> dict[str, Entry]:
    return json.loads(FILE.read_text(encoding="utf-8"))


def difference(name: str, old: Entry, new: Entry) -> str:
    """How a new entry is worse than the golden one, or claims too much; empty if neither."""
    if "error" in old or "error" in new:
        return "" if old == new else f"{old} became {new}"
    step = {"max": 1.0, "min": -1.0}[old["sense"]] * (new["objective"] - old["objective"])
    allowed = TOL * max(old["unit"], abs(old["objective"]))
    both = f"{old['objective']} ({old['claim']}) became {new['objective']} ({new['claim']})"
    if new["sense"] != old["sense"] or step < -allowed:
        return f"worse: {both}"
    if old["gap"] is not None and step > old["gap"] + allowed:
        return f"beyond a proved bound: {both}"
    if iopt.Claim[new["claim"]] < iopt.Claim[old["claim"]]:
        return f"weaker claim: {both}"
    if new["claim"] != "GLOBAL":
        return ""
    if new["gap"] is None or new["gap"] > max(10.0 * (old["gap"] or 0.0), allowed):
        return f"larger gap: {old['gap']} became {new['gap']}"
    for optimum, tol in [(c.objectives[0], c.tol) for c in CASES if name == f"case: {c.name}"]:
        right = abs(new["objective"] - optimum) <= tol * max(1.0, abs(optimum))
        return "" if right else f"the optimum is {optimum}: {both}"
    proved = old["gap"] is not None or proved_by_bracket(jobs()[name], new["objective"], allowed)
    return "" if proved else f"no proof of this claim: {both}"


def proved_by_bracket(job: Job, objective: float, allowed: float) -> bool:
    """Whether both ends of a bracket are near the objective."""
    task = "regression" if job[2].task == "regression" else None
    problem = iopt.KernelProblem(job[0], job[1], task=task)
    try:
        bracket = iopt.bound(problem, job[2], time_limit=None, gap=TOL, max_nodes=2000, seed=0)
    except iopt.errors.IncompatibleSolver:
        return False
    return max(abs(bracket.lower - objective), abs(bracket.upper - objective)) <= 2.0 * allowed


def write(kept: dict[str, Entry]) -> None:
    """Write one entry per line; those that are kept are not computed."""
    lines = []
    for name, job in jobs().items():
        entry = kept.get(name) or chosen([solved(job, plan) for plan in PLANS])
        if isinstance(entry, str):
            print(f"left out: {name}: {entry}")
        else:
            lines.append(f"{json.dumps(name)}: {json.dumps(entry)}")
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(lines)} entries")


def main() -> None:
    found, options = jobs(), sys.argv[1:]
    if options in (["--write"], ["--add"]):
        write(golden() if options == ["--add"] else {})
    for name, old in golden().items():
        if words := difference(name, old, solved(found[name])) if name in found else "is no more":
            print(f"{name}: {words}")


if __name__ == "__main__":
    main()
