"""Interior points and blocks for kernels kept as factors, against other solvers."""

from __future__ import annotations

import re

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.peers import libsvm
from indefinite_opt.modeling.structures import BoxLineQP
from indefinite_opt.quadratic.local.descent.interior_point import InteriorPoint
from indefinite_opt.solvers.low_rank._loops import FactoredProgram, sweep
from indefinite_opt.solvers.low_rank.low_rank import LowRank, LowRankSettings


def factored(n: int, r: int, negative: int = 0, seed: int = 0) -> iopt.KernelProblem:
    """Random cosines of points in eight dimensions, some with a negative sign."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, 8))
    noise = 0.3 * generator.standard_normal(n)
    y = np.where(X[:, 0] * X[:, 1] + X[:, 2] + noise > 0.0, 1, -1)
    angles = 0.4 * X @ generator.standard_normal((8, r)) + generator.uniform(0.0, 6.28, r)
    signs = np.where(np.arange(r) < negative, -1.0, 1.0)
    return iopt.KernelProblem.from_factors(np.sqrt(2.0 / r) * np.cos(angles), signs, y)


def matrix(problem: iopt.KernelProblem) -> np.ndarray:
    assert problem.factors is not None
    return (problem.factors.factors * problem.factors.signs) @ problem.factors.factors.T


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_the_convex_optimum_is_that_of_libsvm(C: float) -> None:
    problem = factored(n=900, r=30)
    result = iopt.solve(problem, iopt.SVMDual(C=C))
    assert result.solver == "low-rank"
    assert result.status is iopt.Status.SOLVED
    whole = iopt.KernelProblem(matrix(problem), problem.labels)
    peer, _, known = libsvm(whole, C, tol=1e-7)
    assert result.objective == pytest.approx(known, rel=1e-6)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert result.certificate.bound >= known * (1.0 - 1e-9)
    # The square root of the accuracy of the objective.
    assert result.classifier.offset == pytest.approx(peer.intercept_[0], abs=1e-3)


@pytest.mark.parametrize("C", [1.0, 30.0])
def test_a_nonconvex_program_ends_at_a_local_optimum_of_the_matrix(C: float) -> None:
    problem = factored(n=900, r=30, negative=8)
    result = iopt.solve(problem, iopt.SVMDual(C=C))
    assert result.certificate.claim is iopt.Claim.LOCAL
    whole = iopt.KernelProblem(matrix(problem), problem.labels)
    certificate = iopt.verify(whole, iopt.SVMDual(C=C), result.values)
    assert certificate.claim is iopt.Claim.LOCAL
    assert certificate.objective == pytest.approx(result.objective, rel=1e-12)


@pytest.mark.parametrize("title", ["SVMDual(C=2, bias=False)", "ConvexHullDual(mu=0.1)"])
def test_no_line_and_two_lines(title: str) -> None:
    problem = factored(n=800, r=20)
    result = iopt.solve(problem, title)
    whole = iopt.KernelProblem(matrix(problem), problem.labels)
    assert result.objective == pytest.approx(iopt.solve(whole, title).objective, rel=1e-6)
    assert result.certificate.claim is iopt.Claim.GLOBAL


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("negative", [0, 8])
def test_points_may_have_weights(negative: int, bias: bool) -> None:
    problem = factored(n=800, r=20, negative=negative)
    weights = np.random.default_rng(1).uniform(0.2, 3.0, 800)
    dual = iopt.SVMDual(C=1.0, bias=bias, weights=weights)
    result = iopt.solve(problem, dual)
    whole = iopt.KernelProblem(matrix(problem), problem.labels)
    certificate = iopt.verify(whole, dual, result.values)
    assert certificate.claim is result.certificate.claim
    if negative:
        assert certificate.claim is iopt.Claim.LOCAL
    else:
        assert certificate.claim is iopt.Claim.GLOBAL


def test_a_kernel_of_zeros_is_solved() -> None:
    """Of the hulls of classes whose kernel is zero every pair of points has distance 0."""
    problem = iopt.KernelProblem.from_factors(np.zeros((700, 3)), None, np.resize([1, -1], 700))
    assert iopt.solve(problem, "ConvexHullDual(mu=0.01)").certificate.claim is iopt.Claim.GLOBAL
    assert iopt.solve(problem, "SVMDual").objective == pytest.approx(700.0)  # eᵀα at α = e


@pytest.mark.parametrize("lines", [0, 1, 2])
@pytest.mark.parametrize("negative", [0, 5])
def test_a_sweep_keeps_the_constraints_and_knows_its_gain(lines: int, negative: int) -> None:
    problem = factored(n=300, r=12, negative=negative)
    qp = BoxLineQP(problem, 2.0, -1.0, 0.5, lines, total=20.0)
    gram, x = problem.factors, qp.start()
    assert gram is not None
    before, v = qp.value(x), gram.signs * (gram.factors.T @ (qp.signs * x))
    c, u, count = np.full(300, -1.0), np.full(300, 0.5), qp.totals.size
    data = FactoredProgram(gram.factors, gram.signs, qp.signs, qp.group, c, u, 2.0)
    partners, moved = np.full((count, 2), -1), np.zeros(300, dtype=bool)
    for _ in range(3):
        gain, worst = sweep(data, np.arange(300), 1e-6, x, v, partners, moved)
        assert gain > 0.0
        assert worst > 1e-6
        assert before - qp.value(x) == pytest.approx(gain, rel=1e-9)
        before = qp.value(x)
    assert moved.any()
    assert qp.infeasibility(x) <= 1e-15
    assert np.any((x == 0.0) | (x == 0.5))
    np.testing.assert_allclose(v, gram.signs * (gram.factors.T @ (qp.signs * x)), atol=1e-11)


def test_a_path_starts_from_weights_that_are_exactly_at_their_bounds() -> None:
    problem = factored(n=900, r=30, negative=8)
    path = [iopt.SVMDual(C=C) for C in (1.0, 3.0)]
    for dual, result in zip(path, iopt.solve_path(problem, path), strict=True):
        assert result.certificate.claim is iopt.Claim.LOCAL
        alone = iopt.solve(problem, dual).objective
        assert result.objective == pytest.approx(alone, rel=0.02)


def test_a_step_solves_the_newton_equations() -> None:
    """Against the dense system of order n + 1."""
    problem = factored(n=60, r=5)
    qp = BoxLineQP.svm(problem, 1.0)
    assert problem.factors is not None
    point = InteriorPoint(qp, problem.factors)
    diagonal = point.below / point.w + point.above / (1.0 - point.w)
    solve, right = point.kkt(diagonal), np.random.default_rng(0).standard_normal(60)
    assert solve is not None
    step, level = solve(right)
    y = problem.y[:, None]
    H = y * matrix(problem) * y.T + np.diag(diagonal)
    system = np.block([[H, -y], [y.T, np.zeros((1, 1))]])
    expected = np.linalg.solve(system, np.append(right, 0.0))
    np.testing.assert_allclose(np.append(step, level), expected, rtol=1e-8, atol=1e-10)


def test_settings_tune_interior_points() -> None:
    problem = factored(n=700, r=10)
    few = LowRankSettings(max_steps=3, max_idle_steps=2, interior_tolerance=1e-3)
    result = iopt.solve(problem, iopt.SVMDual(C=1e3), solver=LowRank(settings=few))
    assert re.search(r" 3 interior steps", result.message)
    assert result.certificate.claim is iopt.Claim.GLOBAL


def test_a_start_is_kept_and_limits_are_obeyed() -> None:
    problem = factored(n=700, r=10)
    first = iopt.solve(problem, iopt.SVMDual(C=1.0))
    again = iopt.solve(problem, iopt.SVMDual(C=1.0), start=first.values["alpha"])
    assert again.objective == pytest.approx(first.objective, rel=1e-9)
    short = iopt.solve(problem, iopt.SVMDual(C=1.0), max_iter=2)
    assert short.status is iopt.Status.MAX_ITER
    assert short.certificate.claim is iopt.Claim.FEASIBLE
    stopped = iopt.solve(problem, iopt.SVMDual(C=1.0), callback=lambda trace: True)
    assert stopped.status is iopt.Status.INTERRUPTED
