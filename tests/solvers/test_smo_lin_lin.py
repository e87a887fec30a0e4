"""SMO as Lin & Lin (2003) print it, by section 6.2 in plain Python; pair steps of LIBSVM."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import indefinite_opt as iopt
from helpers.exact import stationary_points
from helpers.peers import libsvm
from helpers.printed_smo import printed_steps
from helpers.problems import noisy_problem, random_problem


def solve(problem: iopt.KernelProblem, formulation: Any, **options: Any) -> iopt.workflow.Result:
    return iopt.solve(problem, formulation, solver="smo-lin-lin", **options)


@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("kernel", ["noise", "sigmoid(a=1, r=0.5)", "gaussian"])
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


@pytest.mark.parametrize(
    ("title", "totals", "upper"),
    [("SVMDual(C=2)", [0.0], 2.0), ("ConvexHullDual(mu=0.5)", [0.0, 2.0], 0.5),
     ("GuoSchuurmansQP(beta=0.25)", [0.0, 1.0], 0.25)],
)  # fmt: skip
def test_the_end_is_an_enumerated_stationary_point(
    title: str, totals: list[float], upper: float
) -> None:
    """Where each class has its constraint, a pair lies in one of them: αᵀQα with class totals."""
    problem = noisy_problem("noise", n=7)
    result = solve(problem, title)
    (alpha,) = result.values.values()
    A = np.vstack([problem.y, np.ones(7)])[: len(totals)]
    q = np.full(7, -1.0 if title.startswith("SVM") else 0.0)
    found = stationary_points(problem.Q, q, upper, A, np.array(totals))
    assert min(np.abs(alpha - x).max() for x, _ in found) < 1e-5
    assert result.certificate.claim >= iopt.Claim.STATIONARY


def test_a_concave_pair_moves_to_the_near_end_of_its_segment() -> None:
    """K = -I, y = (1, 1, -1), C = 4, from α = (3, 1, 4): -y∘∇F = y∘(α + e) = (4, 2, -5).

    All three are in I_up, so i = 1. α₃ = C cannot grow, so that I_low holds the first two only, and
    j = 2. a = -2 and L = -min(C - α₁, α₂) = -1: α = (4, 0, 4), of objective 8 + ½·32, where no pair
    is left that violates (21).
    """
    problem = iopt.KernelProblem(-np.eye(3), [1, 1, -1])
    result = solve(problem, iopt.SVMDual(C=4.0), start=[3.0, 1.0, 4.0])
    assert_array_equal(result.values["alpha"], [4.0, 0.0, 4.0])
    assert (result.iterations, result.objective) == (1, 24.0)


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
    negative = iopt.KernelProblem(-np.eye(4), [1, 1, -1, -1])
    with pytest.raises(iopt.errors.UnboundedProblem):
        iopt.solve(negative, iopt.SVMDual(C=np.inf), SECOND_ORDER)


SECOND_ORDER = "smo(second_order=True)"


@pytest.mark.parametrize(
    ("kernel", "C"), [("sigmoid", 5.0), ("l1-gaussian", 0.3), ("gaussian", 5.0)]
)
def test_ends_are_as_good_as_those_of_libsvm(kernel: str, C: float) -> None:
    """The first pairs are those of LIBSVM, until rounding decides a tie between two of them.

    From there on the paths may part, and of a kernel that is not convex either may end higher.
    """
    as_good = 0
    for seed in range(12):
        problem = random_problem(kernel, n=60, seed=seed)
        order = np.argsort(problem.y, kind="stable")  # as LIBSVM orders the points
        problem = iopt.KernelProblem(problem.K[np.ix_(order, order)], problem.y[order])
        result = iopt.solve(problem, iopt.SVMDual(C=C), SECOND_ORDER)
        assert result.status is iopt.Status.SOLVED
        assert result.residual <= 1e-6
        # LIBSVM takes the first class for the positive one, as the solver does.
        _, _, theirs = libsvm(problem, C, tol=1e-3)
        as_good += result.objective >= theirs * (1.0 - 1e-12)
    assert as_good >= (12 if kernel == "gaussian" else 9)


def test_rows_on_demand_and_other_constraints_take_blocks_of_pairs() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1, -1)
    problem = iopt.KernelProblem.from_data(X, y, "gaussian")
    on_demand = iopt.KernelProblem.from_data(X, y, "gaussian", cache_mb=1.0)
    for formulation in (iopt.SVMDual(), iopt.SVMDual(bias=False), iopt.ConvexHullDual()):
        expected = iopt.solve(problem, formulation, "smo").objective
        for one in (problem, on_demand):
            found = iopt.solve(one, formulation, SECOND_ORDER).objective
            assert found == pytest.approx(expected, rel=1e-6)
