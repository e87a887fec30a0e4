"""Comparisons of every task against scikit-learn on the same folds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.metrics import mean_absolute_error, r2_score, roc_auc_score, root_mean_squared_error
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.svm import SVC, SVR, OneClassSVM

import indefinite_opt as iopt
from indefinite_opt.studies import Data, Grid, LeaveOneOut, Nested, RepeatedKFold, Study
from indefinite_opt.studies.data import described_class
from indefinite_opt.studies.methods import default_methods

DIABETES = load_diabetes(return_X_y=True)
IRIS = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def regression() -> iopt.KernelProblem:
    X, t = DIABETES
    X = X[:90] / X.std(axis=0)
    return iopt.KernelProblem.from_data(
        X, t[:90] / 50, "gaussian(gamma=0.05)", task="regression", name="diabetes"
    )


@pytest.fixture(scope="module")
def several() -> iopt.KernelProblem:
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return iopt.KernelProblem.from_data(X[::3], y[::3], "gaussian(gamma=0.05)", name="wine")


@pytest.fixture(scope="module")
def outliers() -> iopt.KernelProblem:
    """Setosa, and some of the others."""
    X, y = IRIS
    kept = np.r_[:50, 55:65, 110:120]
    labels = np.where(y[kept] == 0, "normal", "strange")
    return iopt.KernelProblem.from_data(
        X[kept], labels, "gaussian(gamma=0.5)", task="one class", name="setosa"
    )


def test_accuracies_of_several_classes_are_those_of_svc(several: iopt.KernelProblem) -> None:
    frame = iopt.compare(several, ["SVMDual(C=2)"], folds=4, tol=1e-9, seed=3).frame
    y, K = several.labels, several.K
    assert y is not None
    folds = StratifiedKFold(4, shuffle=True, random_state=3).split(y, y)
    for row, (train, test) in zip(frame.to_dict("records"), folds, strict=True):
        svc = SVC(C=2, kernel="precomputed", tol=1e-9).fit(K[np.ix_(train, train)], y[train])
        assert row["accuracy"] == svc.score(K[np.ix_(test, train)], y[test])
        assert row["support"] == svc.support_.size
        assert row["claim"] == "GLOBAL"
        assert np.isnan(row["objective"])
        assert row["gap"] <= 1e-9


def test_paths_of_several_classes_are_chosen_by_inner_folds(several: iopt.KernelProblem) -> None:
    grid = {"C": [1e-4, 1.0, 30.0]}
    comparison = iopt.compare(several, ["SVMDual", "LIBSVM", "LSSVM"], folds=2, grid=grid)
    rows = {row["method"]: row for row in comparison.summary.to_dict("records")}
    assert rows["SVMDual"]["accuracy"] == pytest.approx(rows["LIBSVM"]["accuracy"], abs=0.03)
    assert "C=0.0001" not in rows["SVMDual"]["chosen"]


SHOWN: dict[str, tuple[dict[str, Any], str, str, str, str]] = {
    "several": (
        {"classes": "0 (20), 1 (24), 2 (16)", "evaluation": "2 stratified folds"},
        "accuracy", "| accuracy |", "Accuracy on the points left out", "largest class 40.0 %",
    ),
    "regression": (
        {"evaluation": "2 folds"},
        "r2", "| R² | RMSE | MAE |", "The best mean R² is", "mean of the targets",
    ),
    "outliers": (
        {"described class": "normal"},
        "auc", "| AUC | rejected | ν |", "The class that is described is normal, 50 of 70", "",
    ),
}  # fmt: skip
"""Settings, the first metric, columns of the table, and words of the page and of the figure."""


@pytest.mark.parametrize(
    "name", [pytest.param("several", marks=pytest.mark.slow), "regression", "outliers"]
)
def test_all_methods_of_a_task_are_compared_and_shown(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    problem = request.getfixturevalue(name)
    settings, metric, columns, of_page, of_figure = SHOWN[name]
    comparison = iopt.compare(problem, folds=2)
    assert comparison.frame["error"].eq("").all()
    assert comparison.settings.items() >= settings.items()
    assert comparison.summary[metric].is_monotonic_decreasing
    assert {title.partition("(")[0] for title in comparison.summary["method"]} == {
        type(each).__name__ for each in default_methods(problem.task)
    }
    header, rule, first = comparison.to_markdown().splitlines()[:3]
    assert columns in header
    assert header.count("|") == rule.count("|") == first.count("|")
    page = comparison.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert of_page in page
    figure = comparison.plot()
    texts = {text.get_text() for axes in figure.axes for text in axes.texts}
    assert not of_figure or of_figure in texts
    # Models of one class are solved on the points of the class alone.
    solved = {result.problem.n for result in comparison.fitted}
    assert solved == {50 if problem.task == "one class" else problem.n}


def test_more_classes_than_thirds_are_targets(regression: iopt.KernelProblem) -> None:
    whole = regression.relabelled(np.arange(90) // 2)
    with pytest.raises(iopt.errors.ProblemError, match="With task='regression' whole numbers are"):
        iopt.compare(whole, ["SVMDual", "KNN"], folds=2)
    assert iopt.compare(whole, ["EpsilonSVR"], folds=2, task="regression").frame["r2"].notna().all()


def test_scores_of_regression_are_those_of_scikit_learn(regression: iopt.KernelProblem) -> None:
    title = "EpsilonSVR(C=3, epsilon=0.2)"
    comparison = iopt.compare(regression, [title], folds=4, tol=1e-9, seed=2)
    assert comparison.settings["evaluation"] == "4 folds"
    t, K = regression.targets, regression.K
    folds = KFold(4, shuffle=True, random_state=2).split(t)
    for row, (train, test) in zip(comparison.frame.to_dict("records"), folds, strict=True):
        svr = SVR(kernel="precomputed", C=3, epsilon=0.2, tol=1e-9)
        predicted = svr.fit(K[np.ix_(train, train)], t[train]).predict(K[np.ix_(test, train)])
        assert row["r2"] == pytest.approx(r2_score(t[test], predicted), abs=1e-5)
        assert row["rmse"] == pytest.approx(root_mean_squared_error(t[test], predicted), rel=1e-5)
        assert row["mae"] == pytest.approx(mean_absolute_error(t[test], predicted), rel=1e-5)
    (line,) = comparison.summary.to_dict("records")
    assert line["r2"] == pytest.approx(comparison.frame["r2"].mean())
    assert line["r2_sd"] == pytest.approx(comparison.frame["r2"].std(ddof=0))


def test_parameters_of_regression_are_chosen_by_r2(regression: iopt.KernelProblem) -> None:
    """By a loop over the inner folds of scikit-learn."""
    grid = {"C": [0.001, 0.5, 50.0]}
    comparison = iopt.compare(regression, ["KernelRidge"], folds=3, grid=grid)
    t, K = regression.targets, regression.K

    def score(train: Any, test: Any, C: float) -> float:
        part = iopt.KernelProblem(K[np.ix_(train, train)], t[train], task="regression")
        predicted = iopt.KernelRidge(C=C).fit(part).predict(K[np.ix_(test, train)])
        return float(r2_score(t[test], predicted))

    outer = KFold(3, shuffle=True, random_state=0)
    for row, (train, test) in zip(comparison.rows, outer.split(t), strict=True):
        inner = [(train[a], train[b]) for a, b in outer.split(t[train])]
        means = {C: np.mean([score(*parts, C) for parts in inner]) for C in grid["C"]}
        best = max(means, key=lambda C: means[C])
        assert row["chosen"] == f"KernelRidge(C={best:g})"
        assert row["r2"] == pytest.approx(score(train, test, best), abs=1e-8)


def test_nothing_is_chosen_where_no_entry_has_a_score(regression: iopt.KernelProblem) -> None:
    """One test point has no R²; pairs of classes of which a fold has too few points fail."""
    ridge = Grid("KernelRidge", C=[0.1, 10.0])
    study = Study({"t": regression}, {"m": ridge}, Nested(2, LeaveOneOut()), ("r2",), "r2")
    assert all(row["error"].startswith("ParameterError: select") for row in study.run().rows)
    four = iopt.KernelProblem(np.eye(16), np.tile([1, 2, 3, 4], 4))
    comparison = iopt.compare(four, ["LSSVM"], protocol=Nested(2, 2), grid={"C": [0.1, 10.0]})
    assert all(row["error"].startswith("ProblemError: y") for row in comparison.rows)


def test_protocols_of_targets_are_plain(regression: iopt.KernelProblem) -> None:
    """Whatever a protocol says of classes; one point alone has no R²."""
    one = iopt.compare(regression, ["KernelRidge"], protocol=Nested(3, 2)).settings["evaluation"]
    assert one == "3 folds, parameters chosen by 2 folds of the training points"
    alone = iopt.compare(regression, ["KernelRidge"], protocol=LeaveOneOut())
    assert alone.frame["rmse"].equals(alone.frame["mae"])
    assert alone.summary["r2"].isna().all()
    assert str(alone)


def test_a_fixed_test_set_of_targets(regression: iopt.KernelProblem) -> None:
    K, t = regression.K, regression.targets
    part, test = iopt.KernelProblem(K[:60, :60], t[:60]), (K[60:, :60], t[60:].tolist())
    (row,) = iopt.compare(part, ["EpsilonSVR(C=2)"], test=test, tol=1e-9).rows
    svr = SVR(kernel="precomputed", C=2, tol=1e-9, epsilon=0.1).fit(part.K, part.targets)
    assert row["r2"] == pytest.approx(r2_score(t[60:], svr.predict(test[0])), abs=1e-5)


def test_scores_of_one_class_are_those_of_scikit_learn(outliers: iopt.KernelProblem) -> None:
    comparison = iopt.compare(outliers, ["OneClassSVM(nu=0.2)"], folds=4, tol=1e-10, seed=1)
    y, K = outliers.labels, outliers.K
    assert y is not None
    inside = y == "normal"
    folds = StratifiedKFold(4, shuffle=True, random_state=1).split(y, y)
    for row, (train, test) in zip(comparison.rows, folds, strict=True):
        own = train[inside[train]]
        machine = OneClassSVM(kernel="precomputed", nu=0.2, tol=1e-10).fit(K[np.ix_(own, own)])
        values = machine.decision_function(K[np.ix_(test, own)])
        assert row["auc"] == pytest.approx(roc_auc_score(inside[test], values), abs=1e-12)
        rejected = np.mean(values[inside[test]] < 0)
        assert row["rejected"] == pytest.approx(rejected, abs=1e-12)
    (line,) = comparison.summary.to_dict("records")
    assert line["nu"] == 0.2


def test_the_described_class_is_the_larger_one_and_of_equal_ones_the_positive() -> None:
    K = np.eye(6)
    for labels, expected in (
        ([1, 1, 1, 1, -1, -1], 1),
        ([-1, -1, -1, -1, 1, 1], -1),
        ([1, 1, 1, -1, -1, -1], 1),
        (["a", "b", "b", "c", "c", "d"], "c"),
    ):
        problem = iopt.KernelProblem(K, labels, task="one class")
        assert described_class(problem) == expected
    assert described_class(iopt.KernelProblem(K)) is None


def test_the_described_class_is_called_by_its_name() -> None:
    """Labels -1 and 1 that stand for names, as those of the option --positive do."""
    points = np.random.default_rng(0).standard_normal((12, 2))
    labels = np.repeat([1, -1], [8, 4])
    problem = iopt.KernelProblem.from_data(points, labels, "rbf", task="one class")
    problem.meanings = {"1": "sound", "-1": "cracked"}
    comparison = iopt.compare(problem, ["OneClassSVM"], folds=2)
    told = comparison.conclusions[0]
    assert told.startswith("The class that is described is sound, 8 of 12 points;")
    assert comparison.settings["described class"] == "sound"


def test_without_labels_only_rejections_are_known(outliers: iopt.KernelProblem) -> None:
    problem = outliers.relabelled(None)
    comparison = iopt.compare(problem, ["OneClassSVM(nu=0.1)", "SVDD", "KNNDistance"], folds=3)
    assert "auc" not in comparison.frame
    assert comparison.settings["evaluation"] == "3 folds"
    assert comparison.conclusions[0].startswith("There are no labels")
    assert not any("best mean" in sentence for sentence in comparison.conclusions)
    frame = comparison.frame[comparison.frame["method"] == "OneClassSVM(nu=0.1)"]
    folds = KFold(3, shuffle=True, random_state=0).split(problem.K)
    for rejected, (train, test) in zip(frame["rejected"], folds, strict=True):
        machine = OneClassSVM(kernel="precomputed", nu=0.1, tol=1e-8)
        machine.fit(problem.K[np.ix_(train, train)])
        assert rejected == np.mean(machine.predict(problem.K[np.ix_(test, train)]) < 0)
    with pytest.raises(iopt.errors.ParameterError, match="grid: expected single values"):
        iopt.compare(problem, ["OneClassSVM"], grid={"nu": [0.1, 0.2]})


def test_a_fixed_test_set_of_one_class(outliers: iopt.KernelProblem) -> None:
    train, new = np.r_[:30, 50:60], np.r_[30:50, 60:70]
    K, y = outliers.K, outliers.labels
    assert y is not None
    part = iopt.KernelProblem(K[np.ix_(train, train)], y[train], task="one class")
    rows, inside = K[np.ix_(new, train)], y[new] == "normal"
    title = "OneClassSVM(nu=0.3)"
    (row,) = iopt.compare(part, [title], test=(rows, y[new]), tol=1e-10).rows
    machine = OneClassSVM(kernel="precomputed", nu=0.3, tol=1e-10).fit(part.K[:30, :30])
    assert row["auc"] == roc_auc_score(inside, machine.decision_function(rows[:, :30]))
    bare = part.relabelled(None)
    (row,) = iopt.compare(bare, [title], test=(rows, None), tol=1e-8).rows
    machine = OneClassSVM(kernel="precomputed", nu=0.3, tol=1e-10).fit(part.K)
    assert row["rejected"] == np.mean(machine.predict(rows) < 0)
    # Its diagonal is not constant, so that distances need the kernel of the new points.
    linear = iopt.KernelProblem.from_data(IRIS[0][train], y[train], "linear", task="one class")
    given = linear.kernel_with(IRIS[0][new]), y[new], linear.kernel_among(IRIS[0][new])
    (row,) = iopt.compare(linear, ["SVDD(C=0.2)"], test=given).rows
    assert (row["error"], row["auc"] > 0.5) == ("", True)
    (row,) = iopt.compare(linear, ["SVDD(C=0.2)"], test=given[:2]).rows
    assert row["error"].startswith("ProblemError: K_new_new")


@pytest.mark.parametrize("method", ["SVDD(C=0.2)", "KNNDistance(k=3)"])
def test_outliers_of_another_self_similarity_are_outliers(method: str) -> None:
    """Corners of a square have |x|² = 2; outliers are farther from them than any other corner."""
    corners = np.tile([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]], (5, 1))
    X, y = np.vstack([corners, 5.0 * corners[:10]]), np.repeat(["near", "out"], [20, 10])
    problem = iopt.KernelProblem(X @ X.T, y, task="one class")
    assert iopt.compare(problem, [method], folds=5).summary["auc"].tolist() == [1.0]


def test_labels_are_read_anew_for_another_task(several: iopt.KernelProblem) -> None:
    one = iopt.compare(several, ["OneClassSVM"], folds=2, task="one class")
    assert one.settings["described class"] == "1"
    numbers = iopt.compare(several, ["KernelRidge"], folds=2, task="regression")
    assert numbers.settings["targets"] == "from 0 to 2"
    back = iopt.compare(numbers.problem, ["KNN"], folds=2, task="classification")
    assert back.problem.classes.tolist() == [0.0, 1.0, 2.0]
    bare = iopt.compare(numbers.problem, ["OneClassSVM"], folds=2, task="one class")
    assert bare.problem.labels is None
    with pytest.raises(iopt.errors.UnknownName, match="task: expected one of"):
        iopt.compare(several, task="clustering")


def test_methods_of_another_task_are_refused(
    several: iopt.KernelProblem, regression: iopt.KernelProblem
) -> None:
    for problem, method, fitting in (
        (several, "EpsilonSVR", "methods of classification: .*SVMDual.*KNN"),
        (several, "OneClassSVM", "got OneClassSVM, which is for one class"),
        (several, "KernelRidge", "got KernelRidge.*, which is for regression"),
        (
            regression,
            "SVMDual",
            "of regression: EpsilonSVR, NuSVR, QuantileRegression, KNNRegression",
        ),
        (regression, Grid("KNN", k=[1, 3]), "got KNN.*which is for classification"),
    ):
        with pytest.raises(iopt.errors.ParameterError, match=f"formulations: .*{fitting}"):
            iopt.compare(problem, [method], folds=2)


def test_studies_of_every_task(
    regression: iopt.KernelProblem, outliers: iopt.KernelProblem, tmp_path: Path
) -> None:
    study = Study(
        {"diabetes": regression}, {"ridge": Grid("KernelRidge", C=[0.1, 1]), "SVR": "EpsilonSVR"},
        RepeatedKFold(3, repeats=2), ("rmse", "seconds"), "r2",
    )  # fmt: skip
    outcome = study.run(tmp_path / "cells.jsonl")
    assert [row["runs"] for row in outcome.table] == [2, 2]
    assert all(row["r2"] < 1 and row["rmse"] > 0 and not row["failed"] for row in outcome.table)
    again = study.run(tmp_path / "cells.jsonl")
    assert again.column("diabetes", "ridge", "r2") == outcome.column("diabetes", "ridge", "r2")
    one = Study(
        {"setosa": Data(outliers, kernel="linear")},
        {"SVDD": Grid("SVDD", C=[0.05, 0.5], kernel=["linear", "gaussian"])},
        Nested(3, 2), ("auc", "rejected"), "auc",
    )  # fmt: skip
    assert all(row["error"] == "" for row in one.run().rows)
    (row,) = Study({"d": regression}, {"SVR": "EpsilonSVR"}, 2, ("accuracy",)).run().table
    assert row["failed"] == 2
    (row, _) = Study({"d": regression}, {"SVR": "EpsilonSVR"}, 2, ("accuracy",)).run().rows
    expected = "metrics: expected one of r2, rmse, mae for regression, got accuracy"
    assert row["error"] == f"ParameterError: {expected}"


def test_divisions_are_stratified_by_classes_alone() -> None:
    X = np.random.default_rng(0).standard_normal((9, 2))
    for labels, expected in (
        (["b", "a", "b", "a", "b", "a", "b", "a", "b"], [1, -1, 1, -1, 1, -1, 1, -1, 1]),
        ([5, 7, 9] * 3, [0, 1, 2] * 3),
        (X[:, 0], [1] * 9),
        (None, [1] * 9),
    ):
        made = iopt.KernelProblem.from_data(X, labels, "linear")
        dataset = iopt.datasets.Dataset("nine", None if labels is None else np.array(labels), X=X)
        for data in (Data(made), Data(dataset)):
            assert data.y.tolist() == expected
    whole = iopt.datasets.Dataset("nine", np.array([5, 7, 9] * 3), X=X)
    assert set(Data(whole, options={"task": "regression"}).y.tolist()) == {1}


def test_regression_below_the_mean_is_said() -> None:
    """An ε of 0.1 for targets within 0.1 makes a constant, and a saturated kernel large errors."""
    g = np.random.default_rng(0)
    X = g.normal(size=(60, 3))
    targets = 0.02 * X[:, 0] + 0.01 * g.normal(size=60)
    problem = iopt.KernelProblem.from_data(X, targets, "sigmoid(a=0.5, r=-1)", task="regression")
    comparison = iopt.compare(problem, ["EpsilonSVR(C=1000)", "NuSVR"], folds=3)
    means = comparison.frame.groupby("method")["r2"].mean()
    assert means["EpsilonSVR(C=1000)"] < 0.0 < means["NuSVR"]
    (said,) = (one for one in comparison.conclusions if "mean of the targets" in one)
    assert said.startswith("EpsilonSVR predicts worse than the mean of the targets does")
    assert "mean of the targets" not in " ".join(
        iopt.compare(problem, ["NuSVR"], folds=3).conclusions
    )
    study = Study({"small": problem, "again": problem}, {"A": "EpsilonSVR(C=1000)", "B": "NuSVR"},
                  3, ["r2"], "r2")  # fmt: skip
    told = " ".join(study.run().conclusions)
    assert "A on small and again predict worse than the mean of the targets does" in told


def test_an_end_of_a_grid_that_is_chosen_is_said() -> None:
    """Pairs of clusters a unit apart, and the pairs 300: the scale of γ is far too small.

    A nearest neighbour is the same for every γ, and so are equal scores.
    """
    g = np.random.default_rng(0)
    labels = np.repeat([0, 1], 40)
    centres = np.array([[0, 0], [300, 0], [1, 0], [301, 0]])[np.repeat(range(4), 20)]
    X = centres + 0.2 * g.normal(size=(80, 2))
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    problem = iopt.KernelProblem.from_distances(distances, labels, "gaussian")
    methods = ["SVMDual", "KNN(k=1)"]

    def told(*values: float) -> str:
        grid = {"relative_gamma": list(values)}
        return " ".join(iopt.compare(problem, methods, grid=grid, folds=4).conclusions)

    words = "at an end of its grid: relative_gamma=100000 of SVMDual. A wider grid"
    assert words in told(1.0, 10.0, 1e5)
    assert "end of its grid" not in told(10.0, 1e5, 1e9)
    assert "end of its grid" not in told(1.0, 1e5)  # of two values every one is an end
    grid = Grid("SVMDual", relative_gamma=[1.0, 10.0, 1e5])
    for protocol in (2, Nested(2, 2)):
        outcome = Study({"board": problem, "again": problem}, {"SVM": grid}, protocol).run()
        assert outcome.table[0]["ends"] == ["relative_gamma=100000"]
        assert "relative_gamma=100000 of SVM on board and again." in " ".join(outcome.conclusions)


def test_ends_of_grids_that_can_be_passed() -> None:
    assert Grid("SVMDual", C=[1, 10, 100]).ends([0.9, 0.8, 0.8]) == ["C=1"]
    assert Grid("NuSVM", nu=[0.1, 0.5, 1.0]).ends([0.7, 0.8, 0.9]) == []
    assert Grid("NuSVM", nu=[0.1, 0.5, 0.9]).ends([0.7, 0.8, 0.9]) == ["nu=0.9"]
    assert Grid("SVMDual", C=[1, 10, np.inf]).ends([0.7, 0.8, 0.9]) == []
    assert Grid("SVMDual", kernel=["rbf", "linear", "sigmoid"]).ends([0.7, 0.8, 0.9]) == []
    assert Grid("SVMDual", C=[1, 10, 100]).ends([np.nan, 0.8, np.nan]) == []
    both = Grid("SVMDual", C=[1, 10, 100], gamma=[0.1, 1, 10])
    scores = [0.0] * 8 + [1.0]
    assert both.ends(scores) == ["C=100", "gamma=10"]
    assert both.ends([0.0] * 6 + [1.0] * 3) == ["gamma=10"]
