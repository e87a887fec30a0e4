"""Programs that are unbounded or infeasible by construction, in exact numbers and odd units."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.processes import HANGS
from indefinite_opt.quadratic import proof_checker
from indefinite_opt.quadratic.proof.proof_document import no_optimum_document

INF = np.inf


def with_a_ray(seed: int) -> iopt.QuadraticProgram:
    """A feasible point x₀ and a ray d of small integers; rows, bounds and P are made to fit.

    P d is zero, or else P has a term -ddᵀ.
    """
    g = np.random.default_rng([seed, 1])
    n, m, k = int(g.integers(2, 6)), int(g.integers(0, 4)), int(g.integers(0, 2))
    d, x = g.integers(-2, 3, n).astype(float), g.integers(-3, 4, n).astype(float)
    d[int(g.integers(n))] = 1.0
    square = float(d @ d)

    def without_d(rows: np.ndarray) -> np.ndarray:
        """The rows times dᵀd, with their part along d taken off: whole numbers."""
        return square * rows - np.outer(rows @ d, d)

    G = without_d(g.integers(-3, 4, (m, n)).astype(float)) - np.outer(g.integers(0, 3, m), d)
    A = without_d(g.integers(-3, 4, (k, n)).astype(float))
    M = without_d(without_d(g.integers(-3, 4, (n, n)).astype(float)).T)
    P, q = M + M.T, g.integers(-5, 6, n).astype(float)
    kind = g.integers(3)
    if kind == 0:
        P -= np.outer(d, d)  # curved
    else:
        q = without_d(q[None])[0] - d  # flat, and convex every other time
        P = P if kind == 1 else without_d(without_d(np.eye(n)).T)
    lb = np.where((d >= 0.0) & (g.random(n) < 0.5), x - g.integers(0, 3, n), -INF)
    ub = np.where((d <= 0.0) & (g.random(n) < 0.5), x + g.integers(0, 3, n), INF)
    h, b = G @ x + g.integers(0, 3, m), A @ x
    unit = 2.0 ** g.integers(-13, 14, n)
    row = 2.0 ** g.integers(-13, 14, m)
    scale = 2.0 ** float(g.integers(-20, 21))
    return iopt.QuadraticProgram(
        scale * P * unit * unit[:, None], scale * q * unit,
        (G * unit * row[:, None]) if m else None, (h * row) if m else None,
        (A * unit) if k else None, b if k else None, lb=lb / unit, ub=ub / unit,
    )  # fmt: skip


def with_a_conflict(seed: int) -> iopt.QuadraticProgram:
    """Rows whose sum with small weights says zᵀx ≤ β, with bounds that say zᵀx ≥ β + 1."""
    g = np.random.default_rng([seed, 2])
    n, m = int(g.integers(1, 6)), int(g.integers(1, 5))
    G, y = g.integers(-3, 4, (m, n)).astype(float), g.integers(1, 4, m).astype(float)
    z = y @ G
    lb = np.where(z > 0.0, g.integers(-3, 4, n), -INF).astype(float)
    ub = np.where(z < 0.0, g.integers(-3, 4, n), INF).astype(float)
    least = float(np.where(z > 0.0, lb, np.where(z < 0.0, ub, 0.0)) @ z)
    h = g.integers(-3, 4, m).astype(float)
    h[0] += np.floor((least - 1.0 - y @ h) / y[0])
    P = g.integers(-3, 4, (n, n)).astype(float)
    unit, row = 2.0 ** g.integers(-13, 14, n), 2.0 ** g.integers(-13, 14, m)
    return iopt.QuadraticProgram(
        (P + P.T) * unit * unit[:, None], g.integers(-5, 6, n) * unit, G * unit * row[:, None],
        h * row, lb=lb / unit, ub=ub / unit,
    )  # fmt: skip


CALLS = {
    "solve": lambda qp: iopt.solve(qp, time_limit=HANGS),
    "global": lambda qp: iopt.solve(qp, solver="global", time_limit=HANGS),
    "clarabel": lambda qp: iopt.solve(qp, solver="clarabel", time_limit=HANGS),
    "bound": lambda qp: iopt.bound(qp, time_limit=HANGS),
}


def hunt(make: object, error: type[Exception], seeds: range) -> Counter[str]:
    """How calls end; what claims an optimum, or an error without a proof, fails."""
    ends: Counter[str] = Counter()
    for seed in seeds:
        qp = make(seed)  # type: ignore[operator]
        for name, call in CALLS.items():
            try:
                answer = call(qp)
            except error as found:
                proof = iopt.verify(qp, found)
                assert proof.proved, (seed, name)
                try:
                    document = no_optimum_document(proof.form, proof.proof)
                except iopt.errors.ParameterError:
                    ends[f"{name}: without a start"] += 1  # the ray holds, from any point
                else:
                    assert proof_checker.check(document)[0] == proof.kind
                    ends[f"{name}: proved"] += 1
            except (iopt.errors.SolverFailed, iopt.errors.IncompatibleSolver) as refusal:
                ends[f"{name}: {type(refusal).__name__}"] += 1
            else:
                if isinstance(answer, iopt.workflow.Bracket):
                    assert not np.isfinite(answer.lower), (seed, name)
                else:
                    infeasible = error is iopt.errors.InfeasibleProblem
                    most = iopt.Claim.NONE if infeasible else iopt.Claim.FEASIBLE
                    assert answer.certificate.claim <= most, (seed, name)
                ends[f"{name}: no claim"] += 1
    return ends


@pytest.mark.parametrize("part", range(2))
def test_unbounded_programs(part: int) -> None:
    ends = hunt(with_a_ray, iopt.errors.UnboundedProblem, range(10 * part, 10 * part + 10))
    assert ends["solve: proved"] + ends["solve: without a start"] >= 9


@pytest.mark.parametrize("part", range(2))
def test_infeasible_programs(part: int) -> None:
    ends = hunt(with_a_conflict, iopt.errors.InfeasibleProblem, range(10 * part, 10 * part + 10))
    assert ends["solve: proved"] == 10


@pytest.mark.slow
def test_many_programs_without_optimum() -> None:
    print(hunt(with_a_ray, iopt.errors.UnboundedProblem, range(20, 130)))
    print(hunt(with_a_conflict, iopt.errors.InfeasibleProblem, range(20, 130)))
