"""DCA: every iteration goes down, every end is stationary, and every stop is an honest one."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.exact import stationary_points
from helpers.problems import random_problem
from helpers.processes import HANGS
from helpers.programs import program_of, weights
from indefinite_opt.solvers.descent.dca import DCA

QUADRATIC = ("SVMDual(C=2)", "SVMDual(C=2, bias=False)", "ConvexHullDual", "GuoSchuurmansQP")
PARTS = ("clip", "shift")


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("title", QUADRATIC)
def test_every_iteration_goes_down(title: str, part: str) -> None:
    problem = random_problem("sigmoid", n=50, seed=3)
    result = iopt.solve(problem, title, solver=DCA(part), max_iter=300)
    qp, trace = program_of(problem, title), result.trace
    values = qp.sense * np.array(trace.objective)
    assert trace.iterations == list(range(len(trace)))
    assert values[0] == pytest.approx(qp.value(qp.start()), rel=1e-12, abs=1e-300)
    assert np.all(np.diff(values) < 0.0)
    assert values[-1] == pytest.approx(qp.sense * result.objective, rel=1e-12)
    assert result.iterations == trace.iterations[-1]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("title", QUADRATIC)
def test_an_iteration_minimises_the_majorant(title: str, part: str) -> None:
    """F₊(α) - ∇F₋(α⁰)ᵀα from the first start, by Clarabel; K₊ from numpy's eigenvalues."""
    problem = random_problem("sigmoid", n=20, seed=1)
    qp = program_of(problem, title)
    eigenvalues, V = np.linalg.eigh(problem.K)
    kept = np.maximum(eigenvalues, 0) if part == "clip" else eigenvalues - eigenvalues.min()
    positive = qp.hessian * (V * kept) @ V.T * np.outer(problem.y, problem.y)
    start = qp.feasible.random_point(np.random.default_rng(0))
    tilt = qp.H() @ start + qp.linear - positive @ start
    x = cp.Variable(problem.n)
    root = np.sqrt(qp.hessian * kept)[:, None] * V.T * problem.y
    majorant = 0.5 * cp.sum_squares(root @ x) + tilt @ x
    bounds = [x >= 0, x <= qp.feasible.upper] + (
        [qp.feasible.A @ x == qp.feasible.b] if qp.feasible.lines else []
    )
    least = cp.Problem(cp.Minimize(majorant), bounds).solve(solver="CLARABEL")
    result = iopt.solve(problem, title, solver=DCA(part), start=start, max_iter=1)
    z = weights(result)
    reached = 0.5 * z @ positive @ z + tilt @ z
    before = 0.5 * start @ positive @ start + tilt @ start
    assert result.iterations == 1
    # Inner problems are solved to a tenth of the residual of the problem itself.
    assert least - 1e-6 * abs(least) <= reached <= least + 0.05 * (before - least)


def small(seed: int) -> tuple[iopt.KernelProblem, iopt.Formulation]:
    """Six points or less, an indefinite kernel, one of the four formulations."""
    generator = np.random.default_rng(seed)
    n = int(generator.integers(2, 7))
    A = generator.standard_normal((n, n))
    problem = iopt.KernelProblem(A + A.T, np.append([1, -1], generator.choice([-1, 1], n - 2)))
    C = float(10.0 ** generator.uniform(-1, 1))
    # Off the whole multiples, at which whole classes sit at bounds and no point is isolated.
    mu = min(1.3 / problem.smaller_class, 1.1)
    formulations = (
        iopt.SVMDual(C=C),
        iopt.SVMDual(C=C, bias=False),
        iopt.ConvexHullDual(mu=mu),
        iopt.GuoSchuurmansQP(beta=0.5 * mu),
    )
    return problem, formulations[seed % 4]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("seed", range(8))
def test_the_end_is_one_of_all_stationary_points(seed: int, part: str) -> None:
    problem, formulation = small(seed)
    qp = program_of(problem, formulation)
    known = stationary_points(
        qp.H(), np.full(qp.n, qp.linear), qp.feasible.upper, qp.feasible.A, qp.feasible.b
    )
    generator = np.random.default_rng(seed)
    for start in (None, qp.feasible.random_point(generator), qp.feasible.random_point(generator)):
        result = iopt.solve(problem, formulation, solver=DCA(part), start=start)
        assert result.status is iopt.Status.SOLVED
        distances = [np.abs(weights(result) - point).max() for point, _ in known]
        # First order in the tolerance; near-singular faces magnify it.
        assert min(distances) <= 1e-3 * max(1.0, np.abs(weights(result)).max())
        nearest = known[int(np.argmin(distances))][1]
        assert qp.sense * result.objective == pytest.approx(nearest, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("solver", ["multistart", *map(DCA, PARTS)], ids=str)
@pytest.mark.parametrize("diagonal", [0.0, 1.0])
def test_an_unbounded_box_and_a_copositive_kernel(diagonal: float, solver: Any) -> None:
    """αᵀQα > 0 for all weights; a bound far away changes nothing but the path."""
    generator = np.random.default_rng(0)
    y = np.array([1, 1, 1, -1, -1, -1])
    Q = generator.uniform(0.2, 2.0, (6, 6))
    Q = 0.5 * (Q + Q.T)
    np.fill_diagonal(Q, diagonal)
    problem = iopt.KernelProblem(Q * np.outer(y, y), y)
    assert not problem.is_conditionally_psd
    result = iopt.solve(problem, "SVMDual(C=inf)", solver=solver)
    qp = program_of(problem, "SVMDual(C=1000)")
    known = stationary_points(qp.H(), np.full(6, -1.0), 1000.0, qp.feasible.A, qp.feasible.b)
    assert result.status is iopt.Status.SOLVED
    assert min(abs(result.objective + value) for _, value in known) <= 1e-5


UNBOUNDED: dict[str, tuple[Any, list[int], str]] = {
    # α = e has eᵀQe = 4 - 8; each opposite pair has curvature 2.
    "negative": (-np.eye(4) - 0.1, [1, 1, -1, -1], "SVMDual(C=inf)"),
    "pairs": (np.kron(np.eye(2), [[1.0, -2.0], [-2.0, 1.0]]), [1, 1, -1, -1], "SVMDual(C=inf)"),
    "negative, no bias": (-np.eye(2), [1, -1], "SVMDual(C=inf, bias=False)"),
    # α = (1, 1): αᵀQα = 2 - 4.
    "no bias": ([[1.0, 2.0], [2.0, 1.0]], [1, -1], "SVMDual(C=inf, bias=False)"),
    # XOR: α = e has Σ α_i y_i x_i = 0; convex, and flat along the ray.
    "xor": ([[0.0, 0, 0, 0], [0, 2, 1, 1], [0, 1, 1, 0], [0, 1, 0, 1]], [1, 1, -1, -1],
            "SVMDual(C=inf)"),
}  # fmt: skip


@pytest.mark.parametrize("solver", ["multistart", "smo", *map(DCA, PARTS)], ids=str)
@pytest.mark.parametrize("name", UNBOUNDED)
def test_an_objective_without_end_is_named(name: str, solver: Any) -> None:
    """ "a named status and error text, not a hang": formulations.md, section 1."""
    K, y, title = UNBOUNDED[name]
    with pytest.raises(iopt.errors.UnboundedProblem, match="Use a finite "):
        iopt.solve(iopt.KernelProblem(K, y), title, solver=solver, time_limit=HANGS)


def test_an_end_that_cannot_be_improved_is_called_inaccurate() -> None:
    """Nothing below the rounding of the objective can be asked for."""
    problem = random_problem("sigmoid", n=40, seed=0)
    result = iopt.solve(problem, "SVMDual(C=10)", solver=DCA("shift"), tol=1e-15, max_iter=500)
    assert result.status in (iopt.Status.INACCURATE, iopt.Status.MAX_ITER)
    assert result.certificate.claim <= iopt.Claim.FEASIBLE


def test_the_eigenvalues_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_problem("sigmoid", n=40, seed=0)
    iopt.solve(problem, "SVMDual", solver="dca")
    monkeypatch.setattr("scipy.linalg.eigh", None)
    iopt.solve(problem, "SVMDual(C=2)", solver="dca")
