"""Haasdonk's diagnosis, and the equivalences between his problems."""

from __future__ import annotations

import numpy as np
import pytest

import indefinite_opt as iopt


def test_diagnosis_of_a_negated_kernel() -> None:
    problem = iopt.KernelProblem(-np.eye(4), [1, 1, -1, -1])
    diagnosis = iopt.theory.diagnose(problem)
    assert diagnosis.negated
    assert diagnosis.class_mean_distance == -1.0  # -(½² · 4)
    assert diagnosis.suitable is False


def test_diagnosis_before_and_after_training() -> None:
    # x = 1, 3 against -1, -1: means 2 and -1, squared distance 9; hulls at 1 and -1.
    x = np.array([1.0, 3.0, -1.0, -1.0])
    problem = iopt.KernelProblem(np.outer(x, x), [1, 1, -1, -1])
    before = iopt.theory.diagnose(problem)
    assert before.class_mean_distance == pytest.approx(9.0)
    assert before.signature == (1, 0)
    assert before.suitable is True
    result = iopt.solve(problem, iopt.SVMDual(C=10.0))
    after = iopt.theory.diagnose(problem, result.values["alpha"], upper=10.0)
    assert after.hull_distance == pytest.approx(4.0, rel=1e-5)
    # w = 1, margin 2/|w| = 2, nothing at the bound.
    assert after.margin == pytest.approx(2.0, rel=1e-5)
    assert after.bounded == 0.0


def test_hull_plane_passes_through_the_midpoint() -> None:
    """g vanishes at (z₊ + z₋)/2 and is ±‖z₊ - z₋‖² at the two points, in R^(1,1)."""
    data = iopt.datasets.load("haasdonk-figure1a")
    problem = iopt.KernelProblem.from_dataset(data, "pseudo-euclidean(p=1)")
    result = iopt.solve(problem, iopt.ConvexHullDual(mu=1.0), tol=1e-10)
    weights = result.values["alphabar"]
    X, y = np.asarray(data.X), problem.y
    z_plus, z_minus = (weights * (y > 0)) @ X, (weights * (y < 0)) @ X
    rows = problem.kernel_with(np.array([(z_plus + z_minus) / 2, z_plus, z_minus]))
    values = result.classifier.decision_function(rows)
    distance = -result.objective
    np.testing.assert_allclose(values, [0.0, distance, -distance], atol=1e-8)
    # And in terms of squared distances: -Σ ᾱ y d² + ½ Σ ᾱ_i ᾱ_j y_i d²_ij.
    D2 = problem.squared_distances
    direct = -(weights * y) @ D2 + 0.5 * (weights * y) @ D2 @ weights
    np.testing.assert_allclose(result.classifier.decision_function(problem.K), direct, atol=1e-8)
