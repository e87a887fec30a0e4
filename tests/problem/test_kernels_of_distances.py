"""A matrix of distances gives one kernel by default, everywhere, and keeps its distances."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import indefinite_opt as iopt
from indefinite_opt.errors import ParameterError
from indefinite_opt.problem.datasets import Dataset

D = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]])
Y = np.array(["a", "b", "b"])
MEAN = 28.0 / 9.0
"""Of the nine squares."""


def test_every_function_makes_the_same_kernel_by_default(tmp_path: Path) -> None:
    path = tmp_path / "distances.csv"
    pd.DataFrame(D).assign(label=Y).to_csv(path, index=False)
    problems = [
        iopt.KernelProblem.from_distances(D, Y),
        iopt.KernelProblem.from_dataset(Dataset("three", Y, D=D)),
        iopt.KernelProblem.read(path, "distances"),
    ]
    for problem in problems:
        assert pytest.approx(np.exp(-(D**2) / MEAN), rel=1e-14) == problem.K
        assert (problem.kernel.form, problem.kernel.gamma) == ("gaussian", 1.0 / MEAN)
        assert pytest.approx(D) == problem.D


@pytest.mark.parametrize(
    ("kernel", "K"),
    [
        ("distance(form=gaussian, gamma=0.5)", np.exp(-0.5 * D**2)),
        ("distance(form=exponential, gamma=2)", np.exp(-2.0 * D)),
        ("distance(form=linear)", -0.5 * D**2),
        ("distance(form=raw)", D),
    ],
)
def test_the_same_distances_take_another_kernel(kernel: str, K: np.ndarray) -> None:
    problem = iopt.KernelProblem.from_distances(D, Y, name="three").with_kernel(kernel)
    assert pytest.approx(K, rel=1e-15) == problem.K
    assert (problem.name, problem.labels.tolist()) == ("three", Y.tolist())
    assert problem.kernel_with(D[:1]) == pytest.approx(K[:1], rel=1e-15)


def test_points_take_another_kernel_with_their_scaling() -> None:
    X = np.random.default_rng(0).normal(size=(8, 2))
    problem = iopt.KernelProblem.from_data(X, np.resize([0, 1], 8), "linear", scaling="minmax")
    other = problem.with_kernel("gaussian(gamma=2)")
    direct = iopt.KernelProblem.from_data(X, problem.labels, "gaussian(gamma=2)", scaling="minmax")
    assert np.array_equal(other.K, direct.K)
    with pytest.raises(ParameterError, match="expected none for problem"):
        iopt.KernelProblem(np.eye(3), Y).with_kernel("linear")
    with pytest.raises(ParameterError, match="expected a kernel of distances"):
        iopt.KernelProblem.from_distances(D, Y).with_kernel("linear")


def test_a_comparison_varies_the_kernel_of_distances() -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    distances = np.abs(X[:, None] - X[None, :]).max(axis=2)
    problem = iopt.KernelProblem.from_distances(distances, (X[:, 0] > 0).astype(int))
    kernels = ["distance(form=gaussian, gamma=0.1)", "distance(form=gaussian, gamma=2)"]
    comparison = iopt.compare(problem, ["SVMDual"], folds=2, grid={"kernel": kernels})
    assert comparison.frame["error"].tolist() == ["", ""]
    assert "gamma=" in comparison.summary["chosen"][0]
