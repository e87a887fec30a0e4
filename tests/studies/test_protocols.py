"""Protocols divide as scikit-learn does; studies choose, average and resume by the stated rules."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import recall_score
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, StratifiedShuffleSplit
from sklearn.svm import SVC

import indefinite_opt as iopt
from indefinite_opt.errors import BadArgument, ParameterError, UnknownName
from indefinite_opt.modeling import KernelChange
from indefinite_opt.studies import (
    Computation,
    Data,
    Grid,
    LeaveOneOut,
    Nested,
    RepeatedKFold,
    RepeatedSplit,
    SelectThenTest,
    Study,
)

Array = NDArray[Any]


def points(n: int = 48, seed: int = 0) -> tuple[Array, Array]:
    """Two overlapping classes in the plane."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, 2))
    return X, np.where(X[:, 0] + 0.8 * generator.standard_normal(n) > 0.2, 1, -1)


@pytest.fixture(scope="module")
def problem() -> iopt.KernelProblem:
    return iopt.KernelProblem.from_data(*points(), "gaussian(gamma=0.5)")


def test_run_r_has_the_seed_r_larger() -> None:
    """And sizes of training sets are numbers or shares, of which a share may be used."""
    _, y = points()
    expected: dict[Any, list[Any]] = {
        RepeatedKFold(folds=4, repeats=2, seed=7, stratified=False): [
            KFold(4, shuffle=True, random_state=seed) for seed in (7, 8)
        ]
    }
    for train, share, size in ((30, 1.0, 30), (0.5, 1.0, 24), (100, 0.75, 36)):
        expected[RepeatedSplit(train, repeats=2, seed=2, max_share=share)] = [
            StratifiedShuffleSplit(1, train_size=size, test_size=48 - size, random_state=seed)
            for seed in (2, 3)
        ]
    for protocol, splitters in expected.items():
        parts = [
            (run, sorted(train), sorted(test))
            for run, splitter in enumerate(splitters)
            for train, test in splitter.split(y, y)
        ]
        found = [(d.run, d.train.tolist(), d.test.tolist()) for d in protocol.divisions(y)]
        assert found == parts


def test_protocols_say_what_they_do() -> None:
    assert str(Nested(5, 5)).startswith("5 stratified folds, parameters chosen by 5 stratified")
    assert str(SelectThenTest(train=767)).startswith(
        "one random stratified split with 767 training points"
    )
    assert str(RepeatedKFold(5, 10)) == "10 × 5 stratified folds"


@pytest.mark.parametrize(
    "make",
    [
        lambda y: RepeatedKFold(folds=1),
        lambda y: RepeatedKFold(repeats=0),
        lambda y: RepeatedKFold(folds=40).divisions(y),
        lambda y: RepeatedSplit(train=48).divisions(y),
        lambda y: RepeatedSplit(train=1.5),
        lambda y: Nested(5, Nested(5, 5)),
        lambda y: Nested(2.5, 5),
        lambda y: LeaveOneOut().divisions(y[:1]),
    ],
)
def test_impossible_protocols(make: Any) -> None:
    with pytest.raises(BadArgument):
        make(points()[1])


def test_ties_go_to_the_smallest_C_then_to_the_first() -> None:
    grid = Grid("SVMDual", C=[10, 1], kernel=["gaussian(gamma=1)", "gaussian(gamma=2)"])
    assert [entry.C for entry in grid.entries] == [10, 1, 10, 1]
    assert grid.best([0.9, 0.9, 0.9, 0.9]) == 1
    assert grid.best([0.9, 0.8, 0.9, 0.9 - 1e-16]) == 3
    assert grid.best([0.9, 0.8, 0.9, 0.8]) == 0
    assert grid.best([float("nan"), 0.1, float("nan"), 0.2]) == 3
    assert grid.best([float("nan")] * 4) == 1


def test_grids_refuse_what_no_method_has() -> None:
    with pytest.raises(UnknownName, match="Did you mean C"):
        Grid("SVMDual", c=[1])
    with pytest.raises(ParameterError, match="C: expected a number from"):
        Grid("SVMDual", C=[1, -1])
    with pytest.raises(ParameterError, match="solver: expected one of"):
        Grid("LPSVM", solver="smo")
    with pytest.raises(ParameterError, match="at least one"):
        Grid("SVMDual", C=[])
    assert str(Grid("SVMDual", C=[1, 2.5], bias=False)) == "SVMDual(bias=False) over C in {1, 2.5}"


def test_data_refuse_what_they_would_ignore(problem: iopt.KernelProblem) -> None:
    with pytest.raises(ParameterError, match="options: expected none for a problem"):
        Data(problem, options={"scaling": "minmax"})
    with pytest.raises(UnknownName, match="Did you mean sigmoid"):
        Data("checkerboard", kernel="sigmiod")
    with pytest.raises(ParameterError, match="select: expected a metric"):
        Study({"plane": problem}, {"SVM": "SVMDual"}, select="objective")
    with pytest.raises(UnknownName, match="metric"):
        Study({"plane": problem}, {"SVM": "SVMDual"}, metrics=("acuracy",))


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("data", lambda problem: Study(5, {"m": "KNN"})),  # type: ignore[arg-type]
        ("data", lambda problem: Data(5)),  # type: ignore[arg-type]
        ("problem", lambda problem: Data(lambda kernel: 5).problem),  # type: ignore[arg-type,return-value]
        ("kernel", lambda problem: Data(problem, 5)),  # type: ignore[arg-type]
        ("options", lambda problem: Data(problem, options=5)),  # type: ignore[arg-type]
        ("methods", lambda problem: Study({"a": problem}, ["KNN"])),  # type: ignore[arg-type]
        ("metrics", lambda problem: Study({"a": problem}, {"m": "KNN"}, metrics="accuracy")),
        ("record", lambda problem: Study({"a": problem}, {"m": "KNN"}).run(5)),  # type: ignore[arg-type]
        ("function", lambda problem: Computation(5, {"a": {}})),  # type: ignore[arg-type]
        ("settings", lambda problem: Computation(dict, {"a": 5})),  # type: ignore[dict-item]
        ("x", lambda problem: Computation(dict, {"a": {"x": np.arange(2000)}})),
        ("formulation", lambda problem: iopt.compare(problem, 5)),  # type: ignore[arg-type]
        ("grid", lambda problem: iopt.compare(problem, grid=5)),  # type: ignore[arg-type]
        ("problem", lambda problem: iopt.KNN().fit(np.eye(3))),  # type: ignore[arg-type]
        ("problem", lambda problem: iopt.KNNDistance().fit(np.eye(3))),  # type: ignore[arg-type]
    ],
)
def test_arguments_of_another_kind_are_named(
    name: str, call: Any, problem: iopt.KernelProblem
) -> None:
    with pytest.raises(BadArgument) as caught:
        call(problem)
    assert caught.value.argument == name


def test_a_digest_tells_data_apart() -> None:
    """Distances twice as large have the same Gaussian kernel, whose width is relative to them."""
    X, y = points(24)
    D = np.abs(X[:, None] - X[None]).sum(axis=2)
    made = [iopt.datasets.Dataset(name="D", D=scale * D, y=y) for scale in (1.0, 2.0)]
    near = [iopt.KernelProblem.from_dataset(each).K for each in made]
    np.testing.assert_allclose(*near)
    one, two = (Data(each).digest for each in made)
    scaled = Data(iopt.datasets.Dataset(name="X", X=X, y=y), options={"scaling": "minmax"})
    plain = Data(iopt.datasets.Dataset(name="X", X=X, y=y))
    turned = Data(iopt.datasets.Dataset(name="X", X=X[:, ::-1].copy(), y=y))
    flipped = Data(iopt.datasets.Dataset(name="X", X=X, y=-y))
    digests = [one, two, *(data.digest for data in (scaled, plain, turned, flipped))]
    assert len(set(digests)) == 6
    again = Data(iopt.datasets.Dataset(name="X", X=X.copy(), y=y.copy()))
    assert again.digest == plain.digest


def signed(sign: float, X: Array, Z: Array) -> Array:
    product: Array = sign * (X @ Z.T)
    return product


@pytest.mark.parametrize(
    "pair",
    [
        (lambda X, Z: X @ Z.T, lambda X, Z: -X @ Z.T),
        (partial(signed, 1.0), partial(signed, -1.0)),
    ],
)
def test_functions_of_one_name_are_different_kernels(pair: Any, tmp_path: Path) -> None:
    """Each has the eigenvalues of its own matrix: in a grid, as that of data, and from a store."""
    X, y = points(12)
    table = iopt.datasets.Dataset(name="X", X=X, y=y)
    study = Study(
        {"plane": table, **{f"{sign}": Data(table, sign) for sign in pair}},
        {"grid": Grid("KNN", k=3, kernel=pair), "own": "KNN(k=3)"},
        RepeatedSplit(8, 1),
        ("lambda_max",),
    )
    (division,) = study.plan.protocol.divisions(y)
    K = X[division.train] @ X[division.train].T
    largest = pytest.approx([np.linalg.eigvalsh(sign * K)[-1] for sign in (1.0, -1.0)], abs=1e-9)
    for _ in range(2):
        rows = study.run(tmp_path).rows
        for name in study.sources:
            assert [
                row["lambda_max"] for row in rows if (row["data"], row["method"]) == (name, "grid")
            ] == largest
        owns = [row["lambda_max"] for row in rows if row["method"] == "own"]
        assert owns[1:] == largest


def test_nested_selection_is_that_of_scikit_learn() -> None:
    """The same folds, the same grid and the same rule: the same choices and accuracies."""
    X, y = points(60, seed=3)
    Cs, gammas = [0.1, 10.0], [0.1, 1.0]
    kernels = [f"gaussian(gamma={gamma})" for gamma in gammas]
    study = Study(
        data={"plane": iopt.KernelProblem.from_data(X, y, "gaussian")},
        methods={"SVM": Grid("SVMDual", C=Cs, kernel=kernels, solver="smo")},
        protocol=Nested(outer=RepeatedKFold(3, seed=1), inner=RepeatedKFold(3, seed=2)),
    )
    outcome = study.run()
    for row, (train, test) in zip(
        outcome.rows, StratifiedKFold(3, shuffle=True, random_state=1).split(X, y), strict=True
    ):
        # scikit-learn takes the first of equal scores: with C outside it is the smallest C.
        search = GridSearchCV(
            SVC(tol=1e-6), [{"C": [C], "gamma": [gamma]} for C in Cs for gamma in gammas],
            cv=StratifiedKFold(3, shuffle=True, random_state=2),
        ).fit(X[train], y[train])  # fmt: skip
        chosen = f"SVMDual(C={search.best_params_['C']:g}), gaussian"
        assert row["chosen"].replace("SVMDual,", "SVMDual(C=1),").startswith(chosen)
        assert f"gamma={search.best_params_['gamma']}" in row["chosen"]
        assert row["selection"] == pytest.approx(search.best_score_)
        assert row["accuracy"] == pytest.approx(search.score(X[test], y[test]))


def test_without_an_inner_protocol_the_best_mean_is_reported(problem: iopt.KernelProblem) -> None:
    X, y = points()
    grid = Grid("LIBSVM", C=[0.01, 0.3, 3.0, 100.0])
    study = Study({"plane": problem}, {"SVM": grid}, RepeatedKFold(4, repeats=2))
    outcome = study.run()
    assert len(outcome.rows) == 8 * 4
    runs = np.zeros((4, 2))
    for run in range(2):
        for train, test in StratifiedKFold(4, shuffle=True, random_state=run).split(X, y):
            for k, entry in enumerate(grid.entries):
                svc = SVC(C=entry.C, gamma=0.5).fit(X[train], y[train])
                runs[k, run] += svc.score(X[test], y[test]) / 4
    means = runs.mean(axis=1)
    best = int(np.argmax(means))
    (row,) = outcome.table
    assert row["accuracy"] == pytest.approx(means[best])
    assert row["accuracy_sd"] == pytest.approx(runs[best].std())
    assert outcome.run_means("plane", "SVM", "accuracy") == pytest.approx(runs[best])
    assert (row["runs"], row["divisions"], row["failed"]) == (2, 8, 0)


def test_metrics_against_their_definitions(problem: iopt.KernelProblem) -> None:
    X, y = points()
    names = (
        "recall", "specificity", "training_error", "support", "bounded", "lambda_min",
        "signature_p", "signature_q", "squared_norm", "class_mean_distance",
    )  # fmt: skip
    study = Study({"plane": problem}, {"SVM": "SVMDual(C=2)"}, SelectThenTest(30, 3), names)
    (row,) = study.run().rows
    assert row["error"] == ""
    (division,) = study.plan.protocol.divisions(y)
    svc = SVC(C=2.0, gamma=0.5, tol=1e-8).fit(X[division.train], y[division.train])
    predicted = svc.predict(X[division.test])
    assert row["recall"] == pytest.approx(recall_score(y[division.test], predicted))
    assert row["specificity"] == pytest.approx(
        recall_score(y[division.test], predicted, pos_label=-1)
    )
    assert row["training_error"] == pytest.approx(
        1 - svc.score(X[division.train], y[division.train])
    )
    assert row["support"] == svc.support_.size
    assert row["bounded"] == np.sum(np.abs(svc.dual_coef_) > 2.0 - 1e-6)
    K = problem.K[np.ix_(division.train, division.train)]
    coef = np.zeros(30)
    coef[svc.support_] = svc.dual_coef_[0]
    assert row["squared_norm"] == pytest.approx(coef @ K @ coef, rel=1e-5)
    values = np.linalg.eigvalsh(K)
    assert row["lambda_min"] == pytest.approx(values[0], abs=1e-12)
    assert (row["signature_p"], row["signature_q"]) == (29, 0)
    sides = [y[division.train] > 0, y[division.train] < 0]
    c = sides[0] / sides[0].sum() - sides[1] / sides[1].sum()
    assert row["class_mean_distance"] == pytest.approx(c @ K @ c)


def test_weights_at_the_bound_are_counted_where_there_is_a_bound() -> None:
    """Of a stabilised kernel the coefficients are others; a price of errors bounds no weight."""
    generator = np.random.default_rng(3)
    K, y = generator.standard_normal((24, 24)), np.repeat([1, -1], 12)
    problem = iopt.KernelProblem(K + K.T, y)
    methods = {name: name for name in ("ESVM(C=0.02)", "LIBSVM(C=0.02)", "LSSVM(C=0.02)")}
    study = Study({"K": problem}, methods, SelectThenTest(16, 2), ("bounded",))
    (division,) = study.plan.protocol.divisions(y)
    part = problem.K[np.ix_(division.train, division.train)]
    values, vectors = np.linalg.eigh(part)
    svc = [
        SVC(C=0.02, kernel="precomputed", tol=1e-9).fit(kernel, y[division.train])
        for kernel in (vectors * np.abs(values) @ vectors.T, part)
    ]
    at_bound = [int(np.sum(np.abs(each.dual_coef_) > 0.02 * (1 - 1e-6))) for each in svc]
    found = [row["bounded"] for row in study.run().rows]
    assert found[:2] == at_bound
    assert np.isnan(found[2])


def test_distances_have_kernels_of_their_own() -> None:
    X, y = points(24)
    D = np.abs(X[:, None] - X[None]).sum(axis=2)
    data = iopt.datasets.Dataset(name="distances", D=D, y=y)
    forms = ["distance(form=gaussian, gamma=0.5)", "distance(form=linear)"]
    study = Study({"D": data}, {"SVM": Grid("SVMDual", kernel=forms)}, 3, ("objective",))
    outcome = study.run()
    for k, (form, gamma) in enumerate((("gaussian", 0.5), ("linear", None))):
        made = iopt.KernelProblem.from_distances(D, y, form, gamma=gamma)
        alone = Study({"K": made}, {"SVM": "SVMDual"}, 3, ("objective",)).run()
        mine = [row["objective"] for row in outcome.rows if row["entry"] == k]
        assert mine == pytest.approx(alone.column("K", "SVM", "objective"))
    (division,) = SelectThenTest(12, 2).divisions(y)
    alone = Study({"D": made}, {"SVM": "SVMDual"}, SelectThenTest(12, 2), ("negative_share",)).run()
    P = np.eye(12) - 1 / 12
    values = np.linalg.eigvalsh(P @ made.K[np.ix_(division.train, division.train)] @ P)
    share = -values[values < 0.0].sum() / np.abs(values).sum()
    assert alone.column("D", "SVM", "negative_share") == pytest.approx([share])
    similarities = iopt.datasets.Dataset(name="K", K=X @ X.T, y=y)
    with pytest.raises(iopt.errors.ParameterError, match="not made of points"):
        Study({"K": similarities}, {"SVM": Grid("SVMDual", kernel="linear")}, 3).run()


def test_joint_rows_are_shared_and_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """One eigendecomposition of the joint matrix for each transformation, whatever C is."""
    X, y = points(40)
    problem = iopt.KernelProblem.from_data(X, y, "sigmoid(a=1, r=-1)")
    Cs = (0.3, 3.0, 30.0)
    methods = {
        transform: Grid(f"SpectrumSVM(transform={transform}, new_points=joint)", C=Cs)
        for transform in ("clip", "square")
    }
    calls: list[str] = []
    joint = KernelChange.joint

    def counted(change: KernelChange, *given: Array) -> Array:
        calls.append(change.transform)
        return joint(change, *given)

    monkeypatch.setattr(KernelChange, "joint", counted)
    study = Study({"plane": problem}, methods, SelectThenTest(25, 2))
    outcome = study.run()
    # Two inner folds for the choice, and one test, which is another split.
    assert calls == ["clip"] * 3 + ["square"] * 3
    (division,) = study.plan.protocol.divisions(y)
    split = problem.split(division.train, division.test)
    for row in outcome.rows:
        formulation = study.grids[row["method"]].entries[row["entry"]].method
        classifier = iopt.solve(split.problem, formulation).classifier
        hits = classifier.predict(split.K_new, split.K_new_new()) == split.labels
        assert row["accuracy"] == np.mean(hits)


def test_failures_stay_in_their_entries(problem: iopt.KernelProblem) -> None:
    """A weight bound that is infeasible for the training points is never chosen."""
    grid = Grid("ConvexHullDual", mu=[1e-3, 0.2, 0.5])
    outcome = Study({"plane": problem}, {"hull": grid}, Nested(3, 3)).run()
    assert all(row["error"] == "" and row["entry"] in (1, 2) for row in outcome.rows)
    fixed = Study({"plane": problem}, {"hull": "ConvexHullDual(mu=0.001)"}, Nested(3, 3)).run()
    assert fixed.table[0]["failed"] == 3
    assert np.isnan(fixed.table[0]["accuracy"])
    neighbours = Grid("KNN", k=[3, 99])
    study = Study({"plane": problem}, {"NN": neighbours}, 3, ("support",), select="support")
    assert [row["entry"] for row in study.run().chosen_rows] == [0, 0, 0]


def small(seed: int = 0) -> Study:
    """Baselines only, since other processes would load and compile solvers for seconds."""
    return Study(
        {"plane": iopt.KernelProblem.from_data(*points(seed=seed), "gaussian(gamma=0.5)")},
        {"SVM": Grid("LIBSVM", C=[0.1, 1]), "1-NN": "KNN(k=1)", "NN": "KNN"},
        RepeatedKFold(3, repeats=2),
        ("accuracy", "support"),
    )


def text(outcome: Any) -> str:
    """The rows as text, in which NaN equals NaN, without the times."""
    return json.dumps([{**row, "cell_seconds": 0.0} for row in outcome.rows])


@pytest.mark.slow
def test_processes_give_the_same_rows_and_one_writes(tmp_path: Path) -> None:
    """Of computations, too; the back end is that of joblib."""
    store, calls, expected = tmp_path / "cells.jsonl", [], text(small().run(n_jobs=1))
    outcome = small().run(store, n_jobs=2, progress=lambda *given: calls.append(given[:2]))
    assert text(outcome) == expected
    assert calls == [(done, 18) for done in range(1, 19)]
    assert len(store.read_bytes().splitlines()) == 18
    numbers = Computation(dict, {str(k): {"number": k} for k in range(3)}).run(n_jobs=2)
    assert [row["number"] for row in numbers.rows] == [0, 1, 2]
    with joblib.parallel_config("threading", n_jobs=2):
        assert text(small().run()) == expected
