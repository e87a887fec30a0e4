"""The γ of the kernel of the data in grids: of distances, of points, absolute and relative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt.errors import ParameterError
from indefinite_opt.studies import Data, Grid, Nested, RepeatedKFold, Study

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = (X[:, 0] * X[:, 1] > 0.0).astype(int)
D = np.abs(X[:, None] - X[None, :]).max(axis=2)

PROBLEMS = {
    "points": iopt.KernelProblem.from_data(X, Y, "gaussian(gamma=0.3)"),
    "distances": iopt.KernelProblem.from_distances(D, Y, "gaussian", gamma=0.3),
}


def accuracies(problem: iopt.KernelProblem, **grid: Any) -> list[float]:
    comparison = iopt.compare(problem, ["SVMDual(C=1)"], folds=4, grid=grid)
    assert comparison.frame["error"].tolist() == [""] * 4
    return comparison.frame["accuracy"].tolist()


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize(("grid", "gamma"), [({"gamma": 2.0}, 2.0), ({"relative_gamma": 10}, 3.0)])
def test_one_bandwidth_is_that_of_a_problem_made_with_it(
    name: str, grid: dict[str, Any], gamma: float
) -> None:
    kernel = f"gaussian(gamma={gamma})"
    direct = {
        "points": iopt.KernelProblem.from_data(X, Y, kernel),
        "distances": iopt.KernelProblem.from_distances(D, Y, "gaussian", gamma=gamma),
    }[name]
    varied = accuracies(PROBLEMS[name], **{key: [value] for key, value in grid.items()})
    assert varied == accuracies(direct)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_best_bandwidth_is_chosen_inside_the_folds(name: str) -> None:
    """With γ = 10⁻⁸ all points are alike, and the larger class is predicted."""
    comparison = iopt.compare(
        PROBLEMS[name], ["SVMDual(C=10)", "ESVM(C=10)"], folds=2, grid={"gamma": [1e-8, 1.0]}
    )
    assert set(comparison.frame["chosen"]) == {"SVMDual(C=10), gamma=1", "ESVM(C=10), gamma=1"}
    assert set(comparison.summary["chosen"]) == {"gamma=1 (2)"}
    assert len(comparison.fitted) == 2
    assert {result.problem.kernel.gamma for result in comparison.fitted} == {1.0}


def test_studies_vary_the_bandwidth_of_each_data_set() -> None:
    study = Study(
        {name: Data(problem) for name, problem in PROBLEMS.items()},
        {"SVM": Grid("SVMDual", C=[1, 10], relative_gamma=[0.1, 1])},
        Nested(RepeatedKFold(2), 2),
    )
    outcome = study.run()
    assert len(study.grids["SVM"].entries) == 4
    assert {row["error"] for row in outcome.rows} == {""}


def test_kernels_without_a_bandwidth_refuse_it() -> None:
    for problem in (
        iopt.KernelProblem(np.eye(40), Y),
        iopt.KernelProblem.from_distances(D, Y, "linear"),
        iopt.KernelProblem.from_data(X, Y, "linear"),
    ):
        with pytest.raises(ParameterError, match="expected a kernel that has one"):
            Data(problem).with_kernel(Grid("SVMDual", gamma=1.0).kernels[0])
    with pytest.raises(ParameterError, match="got kernel and gamma"):
        Grid("SVMDual", kernel="linear", gamma=[1.0])
    with pytest.raises(ParameterError, match="gamma"):
        Grid("SVMDual", gamma=[-1.0])


def test_data_with_several_kernels_have_them_tried_by_every_grid_that_names_none() -> None:
    """With γ = 10⁻⁸ all points are alike; the grid that names a kernel keeps it."""
    kernels = ["gaussian(gamma=1e-8)", "gaussian(gamma=1)"]
    data = {"several": Data(iopt.datasets.Dataset("points", Y, X=X), kernels)}
    methods = {"own": Grid("SVMDual", C=[10]), "named": Grid("SVMDual", C=[10], kernel=kernels[1])}
    tried = Study(data, methods, Nested(2, 2)).run()
    assert {row["chosen"] for row in tried.rows} == {"SVMDual(C=10), gaussian(gamma=1)"}
    assert tried.column("several", "own", "accuracy") == tried.column(
        "several", "named", "accuracy"
    )
    assert str(data["several"].problem.kernel) == "gaussian(gamma=1e-08)"
    entries = [len(tried.study.grid("several", label).entries) for label in methods]
    assert entries == [2, 1]
    shown = Study(data, methods, 2).run()
    assert {row["entry"] for row in shown.chosen_rows} == {0, 1}
    with pytest.raises(ParameterError, match="kernel: expected at least one"):
        Data("words", [])
