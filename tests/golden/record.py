"""What the package answers today, on problems of all kinds: a record that a rewrite must keep.

`python tests/golden/record.py` computes the answers anew and prints each that differs from the
record beside this file; `--write` makes a new record. Both leave as soon as the rewrite is done.

An answer is the value of the objective as a minimum, the claim, the relative gap and the solver.
A GLOBAL value has to be the same to 1e-9, or lower; local ones may differ, as roundings decide
between optima, but none by 2 % upwards, nor their mean. No claim may be weaker.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import indefinite_opt as iopt
from helpers.cases import CASES
from helpers.changed_models import changes
from helpers.own_formulations import Written
from indefinite_opt import formulations

Line = list[Any]

FILE = Path(__file__).with_name("golden.json")

KERNELS = (
    "linear", "polynomial(degree=2)", "gaussian(gamma=0.5)", "rbf", "sigmoid(a=1, r=-1)",
    "laplacian", "l1-gaussian", "epanechnikov", "tl1", "simpson", "distance",
    "pseudo-euclidean(p=2)",
)  # fmt: skip

MODELS = 200
"""Changed models of users."""

PROGRAMS = {
    "boxqp-20-50-1": 40, "boxqp-30-60-1": 40, "boxqp-50-30-1": 20, "boxqp-40-30-1": 20,
    "rowqp-10-3-2-50-1": 40, "rowqp-20-5-5-50-1": 20,
}  # fmt: skip
"""Quadratic programs by name, and most nodes of their brackets."""


def points(task: str) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(7)
    X = generator.standard_normal((24, 3))
    signs = np.where(X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * generator.standard_normal(24) > 0.0, 1, -1)
    return X, X @ [1.0, -0.5, 0.25] if task == "regression" else signs


def problem(kernel: str, task: str) -> iopt.KernelProblem:
    X, y = points(task)
    given = None if task == "one-class" else y
    return iopt.KernelProblem.from_data(
        X, given, kernel, task="regression" if task == "regression" else None
    )


def answered(solve: Callable[[], Any], sense: int = 1) -> Line:
    """The line of a result, or of the error that came instead."""
    try:
        result = solve()
    except iopt.errors.IndefiniteOptError as error:
        return [None, type(error).__name__, None, ""]
    certificate = result.certificate
    value, gap = sense * float(result.objective), float(certificate.relative_gap)
    return [value, certificate.claim.name, gap, str(result.solver)]


def sense_of(model: Any) -> int:
    return 1 if model.maximize is None else -1


def of_formulations() -> Iterator[tuple[str, Line]]:
    for name in sorted(vars(formulations)):
        kind = getattr(formulations, name)
        if not (isinstance(kind, type) and issubclass(kind, iopt.Formulation)):
            continue
        if kind is iopt.Formulation:
            continue
        for kernel in KERNELS:
            formulation, given = kind(), problem(kernel, kind.task)
            sense = sense_of(formulation.model(given))
            yield f"{name} with {kernel}", answered(lambda: iopt.solve(given, formulation), sense)  # noqa: B023


def of_cases() -> Iterator[tuple[str, Line]]:
    for case in CASES:
        given = case.problem()
        sense = sense_of(case.formulation.model(given))
        yield f"case {case.name}", answered(lambda: iopt.solve(given, case.formulation), sense)  # noqa: B023


def of_models() -> Iterator[tuple[str, Line]]:
    X, y = points("classification")
    small = iopt.KernelProblem.from_data(X[:8], y[:8], "sigmoid(a=1, r=-1)")
    of = [
        iopt.SVMDual(C=2.0), iopt.ConvexHullDual(), iopt.NuSVM(nu=0.4), iopt.LPSVM(),
        iopt.GuoSchuurmansLP(), iopt.KernelLogistic(), iopt.ESVM(), iopt.GuoSchuurmansQP(),
    ]  # fmt: skip
    for k, formulation in enumerate(of):
        every = list(changes(formulation.model(small)))
        for text, model in every[k :: len(every) * len(of) // MODELS][: MODELS // len(of)]:
            key = f"{type(formulation).__name__}: {text}"
            solve = lambda: iopt.solve(small, Written(text, model), time_limit=20)  # noqa: B023, E731
            yield key, answered(solve, sense_of(model))


def of_programs() -> Iterator[tuple[str, Line]]:
    for name, nodes in PROGRAMS.items():
        qp = iopt.QuadraticProgram.read(name)
        bracket = iopt.bound(qp, max_nodes=nodes, time_limit=None, gap=1e-6)
        yield f"bracket of {name}", [bracket.upper, bracket.status.name, bracket.relative_gap, ""]
        yield f"solve {name}", answered(lambda: iopt.solve(qp))  # noqa: B023


PARTS = (of_formulations, of_cases, of_models, of_programs)


def part(number: int) -> dict[str, Line]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dict(PARTS[number]())


def record() -> dict[str, Line]:
    with ProcessPoolExecutor(2) as pool:
        return {
            key: line for found in pool.map(part, range(len(PARTS))) for key, line in found.items()
        }


CLAIMS = [claim.name for claim in sorted(iopt.Claim)]


def rank(line: Line) -> int:
    """The place of a claim; errors and what is no claim have none."""
    return CLAIMS.index(line[1]) if line[1] in CLAIMS else -1


def differences(old: dict[str, Line], new: dict[str, Line]) -> Iterator[str]:
    """A sentence on each answer that may not have changed so."""
    rises = []
    for key in old.keys() | new.keys():
        before, after = old.get(key), new.get(key)
        if before is None or after is None:
            yield f"{key}: {before} became {after}"
            continue
        if rank(before) < 0 and before[1] != after[1]:
            yield f"{key}: {before[1]} became {after[1]}"
        elif rank(after) < rank(before):
            yield f"{key}: the claim {before[1]} became {after[1]}"
        if before[0] is None or after[0] is None:
            continue
        rise = (after[0] - before[0]) / max(abs(before[0]), 1e-12)
        rises.append(rise)
        if rise > (1e-9 if before[1] == "GLOBAL" else 0.02):
            yield f"{key}: the value {before[0]!r} became {after[0]!r} ({before[1]}, {after[1]})"
    print(f"{len(rises)} values, mean change {np.mean(rises):+.2e}, most {max(rises):+.2e}")


def main() -> None:
    found = record()
    if "--write" in sys.argv:
        FILE.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n", encoding="utf-8")
        print(len(found), "answers")
        return
    told = sorted(differences(json.loads(FILE.read_text(encoding="utf-8")), found))
    print("\n".join(told) or "no answer differs")
    raise SystemExit(bool(told))


if __name__ == "__main__":
    main()
