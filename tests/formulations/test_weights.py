"""Weights of the points, against LIBSVM, copies of points and general quadratic programs."""

from __future__ import annotations

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.peers import libsvm
from helpers.problems import random_problem


@pytest.mark.parametrize("seed", range(3))
def test_a_definite_kernel_gives_what_libsvm_gives(seed: int) -> None:
    problem = random_problem("gaussian", n=40, seed=seed)
    weights = np.random.default_rng(seed).uniform(0.1, 5.0, problem.n)
    machine, _, objective = libsvm(problem, C=2.0, tol=1e-10, weights=weights)
    result = iopt.solve(problem, iopt.SVMDual(C=2.0, weights=weights), tol=1e-8)
    expected = machine.decision_function(problem.K)
    decisions = result.classifier.decision_function(problem.K)
    np.testing.assert_allclose(decisions, expected, atol=1e-5)  # LIBSVM has K in single precision
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert result.objective == pytest.approx(objective, rel=1e-9)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_brackets_of_three_ways_to_say_it_overlap(seed: int, bias: bool) -> None:
    """Whole weights are copies of a point; both are a quadratic program with bounds C·weights."""
    problem = random_problem("sigmoid", n=12, seed=seed)
    counts = np.random.default_rng(seed).integers(1, 4, problem.n)
    weighted = iopt.bound(
        problem, iopt.SVMDual(C=5.0, bias=bias, weights=counts.astype(float)), gap=1e-7
    )
    copies = np.repeat(np.arange(problem.n), counts)
    repeated = iopt.KernelProblem(problem.K[np.ix_(copies, copies)], problem.y[copies])
    program = iopt.QuadraticProgram(
        P=problem.Q, q=-np.ones(problem.n), lb=np.zeros(problem.n), ub=5.0 * counts,
        A=problem.y[None, :] if bias else None, b=np.zeros(1) if bias else None,
    )  # fmt: skip
    plain = iopt.bound(program, gap=1e-7)
    assert weighted.upper == pytest.approx(-plain.lower, rel=1e-6)
    assert weighted.lower == pytest.approx(-plain.upper, rel=1e-6)
    best = iopt.solve(repeated, iopt.SVMDual(C=5.0, bias=bias)).objective
    assert best <= weighted.upper * (1.0 + 1e-9)
    assert best == pytest.approx(weighted.lower, rel=1e-6)


@pytest.mark.parametrize("formulation", [iopt.SVMDual, iopt.SpectrumSVM, iopt.ESVM])
def test_weights_that_cannot_be_used_are_refused(formulation: type) -> None:
    problem = random_problem("sigmoid", n=6, seed=0)
    with pytest.raises(iopt.errors.ProblemError, match=r"weights: .*shape \(6,\).*shape \(5,\)"):
        iopt.solve(problem, formulation(weights=np.ones(5)))
    with pytest.raises(iopt.errors.ParameterError, match="Leave out points without weight"):
        iopt.solve(problem, formulation(weights=np.zeros(6)))


def test_weights_need_a_finite_bound_and_are_part_of_the_title() -> None:
    with pytest.raises(iopt.errors.ParameterError, match="weights: expected None if C is infinite"):
        iopt.SVMDual(C=np.inf, weights=np.ones(3))
    titles = {str(iopt.SVMDual(weights=np.full(3, value))) for value in (1.0, 2.0)}
    assert len(titles) == 2


@pytest.mark.parametrize("formulation", [iopt.EpsilonSVR, iopt.OneClassSVM])
@pytest.mark.parametrize("seed", range(2))
def test_whole_weights_are_copies_of_points_without_classes_too(
    formulation: type[iopt.Formulation], seed: int
) -> None:
    base = random_problem("sigmoid", n=10, seed=seed)
    generator = np.random.default_rng(seed)
    counts, targets = generator.integers(1, 4, base.n), generator.normal(size=base.n)
    copies = np.repeat(np.arange(base.n), counts)
    of_task = {"task": formulation.task}
    labels = targets if formulation.task == "regression" else None
    problem = iopt.KernelProblem(base.K, labels, **of_task)
    again = None if labels is None else labels[copies]
    repeated = iopt.KernelProblem(base.K[np.ix_(copies, copies)], again, **of_task)
    weighted = formulation(weights=counts.astype(float))  # type: ignore[call-arg]
    found = iopt.bound(problem, weighted, gap=1e-7)
    best = iopt.solve(repeated, formulation()).objective
    assert found.lower - 1e-6 <= best <= found.upper + 1e-6
    result = iopt.solve(problem, weighted)
    assert result.objective == pytest.approx(best, rel=1e-6)
    assert result.certificate.claim >= iopt.Claim.LOCAL
