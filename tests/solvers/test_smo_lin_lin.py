"""SMO as Lin & Lin (2003) print it, against section 6.2 in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.exact import stationary_points
from helpers.printed_smo import printed_steps
from helpers.problems import noisy_problem, random_problem

KERNELS = ("noise", "sigmoid(a=1, r=0.5)", "epanechnikov", "l1-gaussian", "gaussian")


def solve(problem: iopt.KernelProblem, formulation: Any, **options: Any) -> iopt.workflow.Result:
    return iopt.solve(problem, formulation, solver="smo-lin-lin", **options)


@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_step_is_a_printed_one(kernel: str, started: bool) -> None:
    """From zero, and from weights that add up to n₊n₋/n in each class."""
    problem, C = noisy_problem(kernel, n=12), 2.0
    positive, negative = problem.class_sizes
    before = np.where(problem.y > 0, negative, positive) / 12 if started else np.zeros(12)
    start = before if started else None
    steps = solve(problem, iopt.SVMDual(C=C), start=start).iterations
    assert steps >= 3
    for count in range(1, min(steps, 40) + 1):
        result = solve(problem, iopt.SVMDual(C=C), max_iter=count, start=start)
        after = result.values["alpha"]
        printed = printed_steps(before, problem.K, problem.y, C)
        assert min(np.abs(after - alpha).max() for alpha in printed) < 1e-11
        assert result.iterations == count
        assert result.status is (iopt.Status.MAX_ITER if count < steps else iopt.Status.SOLVED)
        before = after


@pytest.mark.parametrize("seed", range(4))
def test_the_end_is_an_enumerated_stationary_point(seed: int) -> None:
    problem = noisy_problem("noise", n=7, seed=seed)
    found = stationary_points(problem.Q, -np.ones(7), 2.0, problem.y[None, :], np.zeros(1))
    result = solve(problem, iopt.SVMDual(C=2.0))
    assert min(np.abs(result.values["alpha"] - x).max() for x, _ in found) < 1e-5


def test_a_concave_pair_moves_to_the_near_end_of_its_segment() -> None:
    """K = -I, y = (1, 1, -1), C = 4, from α = (3, 1, 4): -y∘∇F = y∘(α + e) = (4, 2, -5).

    All three are in I_up, so i = 1. α₃ = C cannot grow, so that I_low holds the first two only, and
    j = 2. a = -2 and L = -min(C - α₁, α₂) = -1: α = (4, 0, 4), of objective 8 + ½·32, where no pair
    is left that violates (21).
    """
    problem = iopt.KernelProblem(-np.eye(3), [1, 1, -1])
    result = solve(problem, iopt.SVMDual(C=4.0), start=[3.0, 1.0, 4.0])
    np.testing.assert_array_equal(result.values["alpha"], [4.0, 0.0, 4.0])
    assert (result.iterations, result.objective) == (1, 24.0)


@pytest.mark.parametrize("title", ["ConvexHullDual(mu=0.5)", "GuoSchuurmansQP(beta=0.25)"])
def test_pairs_lie_in_one_class_where_each_has_its_constraint(title: str) -> None:
    """Both are αᵀQα on 0 ≤ α ≤ μ with class totals t: stationary points by enumeration."""
    problem = noisy_problem("noise", n=7)
    result = solve(problem, title)
    (alpha,) = result.values.values()
    total, upper = (2.0, 0.5) if title.startswith("Convex") else (1.0, 0.25)
    A = np.vstack([problem.y, np.ones(7)])
    found = stationary_points(problem.Q, np.zeros(7), upper, A, np.array([0.0, total]))
    assert min(np.abs(alpha - x).max() for x, _ in found) < 1e-5
    assert result.certificate.claim >= iopt.Claim.STATIONARY


# -------------------------------------------------------------------------- limits and refusals


def test_without_a_bias_there_is_no_pair() -> None:
    problem = random_problem("sigmoid", n=12, seed=0)
    title = "SVMDual(bias=False)"
    with pytest.raises(iopt.errors.IncompatibleSolver, match="pairs of weights along yᵀα = 0"):
        solve(problem, title)
    assert "smo-lin-lin" not in iopt.available_solvers(title)
    assert "smo-lin-lin" in iopt.available_solvers("SVMDual")


def test_an_unbounded_program_is_an_error() -> None:
    """Eigenvalue -1 along (2, -1, -1), which no pair of opposite classes shows."""
    v = np.array([2.0, -1.0, -1.0]) / np.sqrt(6.0)
    K = 4.0 * np.eye(3) - 5.0 * np.outer(v, v)
    problem = iopt.KernelProblem(K, [1, -1, -1])
    assert problem.squared_distances[0, 1:].min() > 0.0  # so Theorem 5 is silent
    with pytest.raises(iopt.errors.UnboundedProblem):
        solve(problem, iopt.SVMDual(C=np.inf))
