"""The diagnosis of problems with several classes, with targets and without labels."""

from __future__ import annotations

import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt.theory import diagnose

RNG = np.random.default_rng(0)
X = RNG.standard_normal((24, 3))


@pytest.mark.parametrize("kernel", ["linear", "sigmoid"])
def test_of_several_classes_the_closest_means_count(kernel: str) -> None:
    y = np.resize(["a", "b", "c"], 24)
    problem = iopt.KernelProblem.from_data(X, y, kernel)
    found = diagnose(problem)
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    each = []
    for pair in pairs:
        chosen = np.isin(y, pair)
        part = iopt.KernelProblem(problem.K[np.ix_(chosen, chosen)], y[chosen])
        each.append(diagnose(part).class_mean_distance)
    assert found.class_mean_distance == pytest.approx(min(each), rel=1e-9)
    assert found.balanced
    assert found.signature == problem.signature
    if kernel == "linear":
        means = [X[y == label].mean(axis=0) for label in "abc"]
        least = min(np.sum((means[i] - means[j]) ** 2) for i, j in [(0, 1), (0, 2), (1, 2)])
        assert found.class_mean_distance == pytest.approx(least, rel=1e-9)
        assert found.suitable


@pytest.mark.parametrize("labels", [X[:, 0], None], ids=["targets", "no labels"])
def test_the_spectrum_needs_no_labels(labels: np.ndarray | None) -> None:
    problem = iopt.KernelProblem.from_data(X, labels, "sigmoid")
    found = diagnose(problem)
    assert found.signature == problem.signature
    assert found.negative_share == problem.negative_share
    assert (found.class_mean_distance, found.balanced, found.suitable) == (None, None, None)
    assert "class_mean_distance  None" in str(found)
    negated = iopt.KernelProblem(-X @ X.T, labels)
    assert diagnose(negated).suitable is False
    with pytest.raises(iopt.errors.ProblemError, match="problem: expected one with two classes"):
        diagnose(problem, np.ones(24))
