"""Form and γ of the kernel of the data: in grids, absolute and relative, and in reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt.errors import ParameterError, UnknownName
from indefinite_opt.studies import Data, Grid, Nested, RepeatedKFold, Study
from indefinite_opt.studies.kernel_words import kernels_in_words

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


def test_forms_of_distances_have_their_own_usual_width() -> None:
    """Beside γ = 0.3 of the problem: 1/mean(d) of the exponential form, and none of the linear."""
    forms = ["gaussian", "exponential", "linear"]
    grid = Grid("SVMDual", form=forms, relative_gamma=[1, 10])
    data = Data(PROBLEMS["distances"])
    found = [data.with_kernel(kernel) for kernel in grid.kernels]
    expected = [np.exp(-0.3 * D**2), np.exp(-3.0 * D**2), np.exp(-D / D.mean())]
    expected += [np.exp(-10.0 * D / D.mean()), -0.5 * D**2]
    for problem, K in zip(found, expected, strict=True):
        np.testing.assert_allclose(problem.K, K, rtol=1e-12)
    assert [str(kernel) for kernel in grid.kernels] == [
        "form=gaussian, relative_gamma=1", "form=gaussian, relative_gamma=10",
        "form=exponential, relative_gamma=1", "form=exponential, relative_gamma=10", "form=linear",
    ]  # fmt: skip
    for form in forms:
        varied = accuracies(PROBLEMS["distances"], form=form)
        gamma = {"gaussian": {"gamma": 0.3}}.get(form, {})
        assert varied == accuracies(iopt.KernelProblem.from_distances(D, Y, form, **gamma))
    with pytest.raises(ParameterError, match="form: expected none for problem, which is not made"):
        accuracies(PROBLEMS["points"], form=["gaussian"])
    with pytest.raises(ParameterError, match="got kernel and form"):
        Grid("SVMDual", kernel="linear", form=["gaussian"])
    with pytest.raises(UnknownName, match="form: expected one of"):
        Grid("SVMDual", form=["round"])


def test_the_ends_of_the_widths_are_those_of_the_form_that_was_chosen() -> None:
    grid = Grid("SVMDual", form=["gaussian", "linear"], relative_gamma=[0.1, 1, 10])
    assert grid.ends([0.5, 0.6, 0.9, 0.7]) == ["form=gaussian, relative_gamma=10"]
    assert grid.ends([0.5, 0.9, 0.6, 0.7]) == []
    assert grid.ends([0.5, 0.6, 0.7, 0.9]) == []  # the linear form has no width
    assert grid.ends([0.5, 0.6, 0.9, 0.9]) == []


def test_reports_name_the_kernel_its_width_and_where_that_comes_from(tmp_path: Path) -> None:
    usual = iopt.KernelProblem.from_distances(D, Y)
    data = {"dtw": Data(usual), "given": Data(PROBLEMS["distances"])}
    methods = {"SVM": Grid("SVMDual", C=[1], relative_gamma=[1, 10])}
    outcome = Study(data, methods, 2).run(progress=False)
    told = {
        "dtw": "gaussian exp(−γ d²), γ = relative_gamma/mean(d²), "
        f"1/mean(d²) = {1.0 / np.mean(D**2):.4g}",
        "given": "gaussian exp(−γ d²), γ = relative_gamma · 0.3",
    }
    assert outcome.kernels == told
    page = outcome.to_html(tmp_path / "study.html").read_text(encoding="utf-8")
    assert all(f"<td>{text}</td>" in page for text in told.values())
    assert "default" not in page.partition("</style>")[2]
    latex = r"Kernel: gaussian exp($-$$\gamma$ d$^2$), $\gamma$ = relative\_gamma/mean(d$^2$)"
    assert latex in outcome.to_latex()
    comparison = iopt.compare(usual, ["SVMDual", "KNN"], folds=2, grid={"form": ["linear"]})
    assert comparison.settings["kernel"] == "linear −d²/2"
    page = comparison.to_html(tmp_path / "one.html").read_text(encoding="utf-8")
    assert "<dt>kernel</dt><dd>linear −d²/2</dd>" in page
    assert "Kernel: linear $-$d$^2$/2}" in comparison.to_latex()


POINTS = {
    "rbf": f"gaussian exp(−γ |x − z|²), γ = 1/(d · variance) = {0.5 / X.var():.4g}",
    "gaussian(gamma=2)": "gaussian exp(−γ |x − z|²), γ = 2",
    "sigmoid(a=0.1, r=-1)": "sigmoid tanh(a <x, z> + r), a=0.1, r=-1",
    "linear": "linear <x, z>",
    "tl1": "tl1 max(0, ρ − |x − z|_1), ρ = 1.4",
    "distance(distance=chebyshev, form=linear)":
        "distance(distance=chebyshev, form=linear, gamma=1.0)",
}  # fmt: skip


@pytest.mark.parametrize("kernel", POINTS)
def test_kernels_of_points_are_named_by_their_formula(kernel: str) -> None:
    problem = iopt.KernelProblem.from_data(X, Y, kernel)
    assert kernels_in_words(Data(problem), [Grid("SVMDual")]) == POINTS[kernel]
    matrix = Data(iopt.KernelProblem(problem.K, Y))
    assert kernels_in_words(matrix, [Grid("KNN")]) == "similarities as they were given"
