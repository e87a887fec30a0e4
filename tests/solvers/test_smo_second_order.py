"""LIBSVM's pair steps, after which all others go down: no end is worse than that of LIBSVM."""

from __future__ import annotations

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.peers import libsvm
from helpers.problems import random_problem

SOLVER = "smo(second_order=True)"


@pytest.mark.parametrize("kernel", ["sigmoid", "epanechnikov", "l1-gaussian", "gaussian"])
@pytest.mark.parametrize("C", [0.3, 5.0])
def test_ends_are_as_good_as_those_of_libsvm(kernel: str, C: float) -> None:
    """The first pairs are those of LIBSVM, until rounding decides a tie between two of them.

    From there on the paths may part, and of a kernel that is not convex either may end higher.
    """
    as_good = 0
    for seed in range(12):
        problem = random_problem(kernel, n=60, seed=seed)
        order = np.argsort(problem.y, kind="stable")  # as LIBSVM orders the points
        problem = iopt.KernelProblem(problem.K[np.ix_(order, order)], problem.y[order])
        result = iopt.solve(problem, iopt.SVMDual(C=C), SOLVER)
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
            found = iopt.solve(one, formulation, SOLVER).objective
            assert found == pytest.approx(expected, rel=1e-6)


def test_a_hard_margin_without_end_is_refused() -> None:
    problem = iopt.KernelProblem(-np.eye(4), [1, 1, -1, -1])
    with pytest.raises(iopt.errors.UnboundedProblem):
        iopt.solve(problem, iopt.SVMDual(C=np.inf), SOLVER)
