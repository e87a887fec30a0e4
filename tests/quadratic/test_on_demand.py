"""Blocks of pair steps where rows of K are computed on demand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.svm import SVC

import indefinite_opt as iopt
from helpers.internals import descent_loops as loops
from helpers.programs import Program
from indefinite_opt.problem.kernel_matrix import RowGram
from indefinite_opt.quadratic.local.descent import computed_blocks
from indefinite_opt.quadratic.local.descent.computed_blocks import ComputedBlocks
from indefinite_opt.quadratic.local.descent.descent import Descent
from indefinite_opt.quadratic.solving.solver import Task
from indefinite_opt.solvers.descent.smo import SMO

TOL = 1e-6
N = 1400
"""More points than the least block has."""


def noisy(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of two classes with a curved boundary between them."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((N, 6))
    noise = 0.5 * generator.standard_normal(N)
    return X, np.where(X[:, 0] + X[:, 1] * X[:, 2] + noise > 0.0, 1, -1)


SIGMOID = "sigmoid(a=0.3, r=-0.5)"


def smo(X: Any, y: Any, kernel: str, formulation: iopt.Formulation, cache_mb: float) -> Any:
    problem = iopt.KernelProblem.from_data(X, y, kernel, cache_mb=cache_mb)
    result = iopt.solve(problem, formulation, solver="smo", tol=TOL)
    assert result.status is iopt.Status.SOLVED
    return result


@pytest.mark.parametrize(("C", "cache_mb"), [(1.0, 100.0), (10.0, 3.0), (1.0, 0.3)])
def test_a_convex_problem_in_several_blocks_agrees_with_libsvm(C: float, cache_mb: float) -> None:
    """All rows fit into the cache, a fifth of them, or 26; the block is limited with it."""
    X, y = noisy(0)
    svc = SVC(C=C, kernel="rbf", gamma=1.0 / 6.0, tol=1e-8).fit(X, y)
    z = np.zeros(N)
    z[svc.support_] = svc.dual_coef_[0]
    theirs = np.abs(z).sum() - 0.5 * z @ iopt.kernels.Gaussian()(X) @ z
    result = smo(X, y, "gaussian", iopt.SVMDual(C=C), cache_mb)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert result.objective == pytest.approx(theirs, rel=2.0 * TOL)


@pytest.mark.parametrize(
    "formulation", [iopt.SVMDual(C=1.0, bias=False), iopt.ConvexHullDual(mu=0.01)]
)
def test_an_indefinite_problem_in_several_blocks_ends_where_the_gradient_says(
    formulation: iopt.Formulation,
) -> None:
    """Feasibility and first-order conditions by the whole matrix, by other code."""
    X, y = noisy(1)
    result = smo(X, y, SIGMOID, formulation, 4.0)
    program = Program.of(iopt.kernels.get(SIGMOID)(X), np.asarray(y, dtype=float), formulation)
    x = program.check(result)
    assert program.violation(x) <= 1.01 * TOL * program.unit(x)


def test_the_part_of_K_of_a_block_is_that_of_its_members_after_every_change() -> None:
    generator = np.random.default_rng(3)
    X, y = noisy(3)
    problem = iopt.KernelProblem.from_data(X, y, SIGMOID, cache_mb=4.0)
    K = iopt.kernels.get(SIGMOID)(X)
    qp = iopt.SVMDual().program(problem)
    run = Descent(Task(problem, iopt.SVMDual(), qp), np.zeros(N))
    blocks = ComputedBlocks(run.program, run.gram, lambda: False)
    for size in (40, 40, 60, 25, 50):
        members = np.sort(generator.choice(80, size, replace=False))
        placed, _ = blocks.place(members)
        np.testing.assert_array_equal(np.sort(placed), members)
        found = blocks.K[:size, :size]
        np.testing.assert_allclose(found, K[np.ix_(placed, placed)], rtol=0, atol=1e-14)


def test_a_block_ends_where_the_clock_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a piece of up to 100 steps; v is -y∘∇F by the whole matrix, wherever it is left."""
    X, y = noisy(4)
    K = iopt.kernels.Gaussian()(X)
    problem = iopt.KernelProblem.from_data(X, y, "gaussian", cache_mb=100.0)
    qp = iopt.SVMDual(C=50.0).program(problem)
    clock: list[bool] = []

    def run(blocks: int) -> loops.StepOutcome:
        clock.clear()
        descent = Descent(Task(problem, iopt.SVMDual(C=50.0), qp), np.zeros(N))
        expired = lambda: len(clock) >= blocks or clock.append(True)  # noqa: E731
        found = ComputedBlocks(descent.program, descent.gram, lambda: bool(expired()))
        outcome = found.steps(descent.point, 0.5, 10_000, np.inf)
        gradient = y * (K @ (y * descent.alpha)) - 1.0
        np.testing.assert_allclose(descent.v, -y * gradient, atol=1e-11)
        value = 0.5 * descent.alpha @ (gradient - 1.0)
        assert outcome.decrease == pytest.approx(-value, rel=1e-12)
        return outcome

    whole = run(1)
    monkeypatch.setattr(computed_blocks, "MAX_WORK", 100.0 * (3.0 * N + loops.STEP_WORK))
    few, more = run(1), run(3)
    assert 0 < few.steps < 0.5 * whole.steps
    assert few.steps < more.steps


def test_an_interrupted_block_leaves_no_gradient_that_claims_could_rest_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ctrl-C comes when the rows of the first block have been added up."""
    X, y = noisy(5)
    problem = iopt.KernelProblem.from_data(X, y, "gaussian", cache_mb=3.0)
    spread = RowGram.spread

    def interrupted(*arguments: Any) -> None:
        spread(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(RowGram, "spread", interrupted)
    qp = iopt.SVMDual(C=50.0).program(problem)
    solution = SMO().solve(Task(problem, iopt.SVMDual(C=50.0), qp))
    assert solution.status is iopt.Status.INTERRUPTED
    assert solution.gradient is None
