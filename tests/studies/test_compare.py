"""Comparisons: the cells of an independent loop, failures in their rows, records to resume from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.svm import SVC

import indefinite_opt as iopt
from helpers.problems import positive_part, random_problem
from indefinite_opt.errors import ParameterError, UnknownName
from indefinite_opt.foundation import TASKS
from indefinite_opt.studies import (
    METRICS,
    Grid,
    LeaveOneOut,
    Nested,
    RepeatedKFold,
    Study,
    StudyOutcome,
    cells,
)
from indefinite_opt.studies.cells import _fits
from indefinite_opt.studies.data import Data
from indefinite_opt.studies.methods import ONLY_NAMED, default_methods
from indefinite_opt.studies.metrics import COMPARED

Array = NDArray[Any]
TITLES = ["SVMDual", "LPSVM", "UniformWeights"]
QUICK = ["KNN(k=1)", "KNN", "LSSVM"]
"""What records are tested with."""


def points(n: int = 60, seed: int = 0) -> tuple[Array, Array]:
    """Two overlapping classes, 2 : 1, in three dimensions of very different widths."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, 3))
    y = np.where(X[:, 0] + 0.7 * generator.standard_normal(n) > 0.4, "yes", "no")
    return X * [1.0, 5.0, 0.2], y


@pytest.fixture(scope="module")
def problem() -> iopt.KernelProblem:
    X, y = points()
    return iopt.KernelProblem.from_data(X, y, "gaussian(gamma=0.3)")


def without_time(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.drop(columns=["seconds", "cell_seconds"])


# --------------------------------------------------------------------------------- rows and cells


def test_one_row_for_each_cell(problem: iopt.KernelProblem) -> None:
    comparison = iopt.compare(problem, TITLES, folds=4)
    frame = comparison.frame
    assert list(frame.columns) == [
        "data", "method", "entry", "chosen", "solver", "run", "fold", "selection",
        "selection_seconds", "ends", "status", "accuracy", "objective", "claim", "gap_kind", "gap",
        "proved_within", "support", "seconds", "error", "cell_seconds",
    ]  # fmt: skip
    assert len(frame) == 3 * 4
    assert not frame.duplicated(["method", "fold"]).any()
    for title, solver in zip(TITLES, ("multistart", "default", "default"), strict=True):
        rows = frame[frame["method"] == title]
        assert rows["fold"].tolist() == [0, 1, 2, 3]
        assert set(rows["solver"]) == {solver}
        assert set(rows["claim"]) == {"GLOBAL"}
        assert set(rows["gap_kind"]) == {"duality gap"}
        assert rows["gap"].max() <= 1e-6
        assert rows["seconds"].gt(0).all()
        assert rows["error"].eq("").all()
    summary = comparison.summary
    assert sorted(summary["method"]) == sorted(TITLES)
    assert summary["accuracy"].is_monotonic_decreasing
    assert summary["divisions"].tolist() == [4, 4, 4]
    assert summary["failed"].tolist() == [0, 0, 0]
    for title, mean in zip(summary["method"], summary["accuracy"], strict=True):
        assert mean == frame[frame["method"] == title]["accuracy"].mean()


def test_a_grid_is_chosen_by_inner_folds(problem: iopt.KernelProblem) -> None:
    """By a study with the nested protocol."""
    grid = {"C": [0.01, 1], "kernel": ["gaussian(gamma=0.3)", "gaussian(gamma=9)"]}
    comparison = iopt.compare(problem, ["SVMDual", "LIBSVM", "KNN"], folds=2, grid=grid)
    nested = Nested(RepeatedKFold(2), RepeatedKFold(2))
    study = Study({"p": problem}, {"LIBSVM": Grid("LIBSVM", **grid)}, nested, ("accuracy",))
    rows = comparison.frame[comparison.frame["method"] == "LIBSVM"]
    assert rows["accuracy"].tolist() == study.run().column("p", "LIBSVM", "accuracy")
    assert comparison.settings["grid"] == (
        "C in 0.01, 1; kernel in gaussian(gamma=0.3), gaussian(gamma=9)"
    )
    assert len(comparison.rows) == 6
    (fitted,) = comparison.fitted
    assert fitted.problem.kernel == comparison.preferred["SVMDual"].kernel
    costs = iopt.compare(problem, ["SVMDual"], folds=3, grid={"C": [1e-6, 3]})
    assert [str(result.formulation) for result in costs.fitted] == ["SVMDual(C=3)"]
    with pytest.raises(iopt.errors.UnknownName, match="grid: expected one of"):
        iopt.compare(problem, ["SVMDual"], grid={"c": [1]})


def test_a_protocol_takes_the_place_of_folds(problem: iopt.KernelProblem) -> None:
    comparison = iopt.compare(problem, ["KNN"], protocol=RepeatedKFold(3, repeats=2))
    frame = comparison.frame
    assert list(zip(frame["run"], frame["fold"], strict=True)) == [
        (run, fold) for run in range(2) for fold in range(3)
    ]
    (row,) = comparison.summary.to_dict("records")
    means = frame.groupby("run")["accuracy"].mean()
    assert row["accuracy"] == pytest.approx(means.mean())
    assert row["accuracy_sd"] == pytest.approx(means.std(ddof=0))
    assert comparison.settings["evaluation"] == "2 × 3 stratified folds"
    assert "chosen by the scores" not in str(comparison)
    without_inner = iopt.compare(problem, [Grid("KNN", k=[1, 3])], protocol=RepeatedKFold(3))
    assert without_inner.frame["entry"].tolist() == [0, 1] * 3
    assert "Parameters were chosen by the scores that are shown" in str(without_inner)
    alone = iopt.compare(problem, ["KNN"], protocol=LeaveOneOut())
    assert alone.summary["divisions"].tolist() == [60]


def test_solvers_times_formulations(problem: iopt.KernelProblem) -> None:
    """Each formulation is run with those of the solvers that fit it."""
    comparison = iopt.compare(problem, TITLES[:2], solvers=["osqp", "smo", "highs"], folds=2)
    cells = list(comparison.summary[["method", "solver"]].itertuples(index=False, name=None))
    assert cells == [
        ("SVMDual · osqp", "osqp"), ("SVMDual · smo", "smo"), ("SVMDual · highs", "highs"),
        ("LPSVM", "highs"),
    ]  # fmt: skip
    objectives = comparison.frame.pivot_table("objective", "fold", "method")
    for solver in ("osqp", "highs"):
        np.testing.assert_allclose(
            objectives[f"SVMDual · {solver}"], objectives["SVMDual · smo"], rtol=1e-6
        )
    assert "| SVMDual | osqp |" in comparison.to_markdown()


def test_all_formulations_by_default() -> None:
    every = [method for task in (*TASKS, "clusters") for method in default_methods(task)]
    known = {*iopt.available_formulations(), *iopt.available_baselines()}
    assert {type(method).__name__ for method in every} == known - {*ONLY_NAMED}
    assert known > {*ONLY_NAMED}
    names = [type(method).__name__ for method in default_methods()]
    assert names.count("SpectrumSVM") == 4
    frame = iopt.compare(iopt.KernelProblem.from_data(*points(24), "gaussian"), folds=2).frame
    assert len(frame) == 2 * len(names)
    assert frame["error"].eq("").all()


def test_a_comparison_is_the_study_of_its_problem(problem: iopt.KernelProblem) -> None:
    """Data and methods that are declared as a study have the same rows, table and report."""
    comparison = iopt.compare(problem, ["SVMDual", "KNN"], folds=2)
    metrics = ["accuracy", *COMPARED]
    methods = {"SVMDual": "SVMDual", "KNN(k=5)": "KNN"}
    outcome = Study({problem.name: problem}, methods, RepeatedKFold(2), metrics).run()
    times = ("seconds", "cell_seconds")
    for one, other in zip(outcome.rows, comparison.rows, strict=True):
        assert {k: v for k, v in one.items() if k not in times and v == v} == {
            k: v for k, v in other.items() if k not in times and v == v
        }
    assert outcome.conclusions == comparison.conclusions
    assert outcome.to_latex() == comparison.to_latex()
    assert set(comparison.settings) == {*outcome.settings, "methods"}
    few = Study({problem.name: problem}, methods, RepeatedKFold(2), ["accuracy"]).run()
    assert str(few).startswith("accuracy (%): mean")
    two = Study({"a": problem, "b": problem}, methods, RepeatedKFold(2), metrics).run()
    assert str(two).startswith("accuracy (%): mean")
    for name in ("problem", "preferred", "test_per_train", "fitted"):
        with pytest.raises(ParameterError, match=r"study: expected one data set, .* got 2"):
            getattr(two, name)
    with pytest.raises(ParameterError, match="chosen: expected False"):
        two.to_latex(chosen=True)


# ------------------------------------------------------------------------------------- failures


def test_a_failing_cell_is_reported_and_stops_nothing() -> None:
    X, y = points(30)
    # Equal points of both classes: C = inf is unbounded wherever both are in the training set.
    X = np.vstack([X, X[:10]])
    y = np.concatenate([y, np.where(y[:10] == "yes", "no", "yes")])
    problem = iopt.KernelProblem.from_data(X, y, "linear")
    titles = ["ConvexHullDual(mu=1e-6)", "SVMDual(C=inf)", "SVMDual"]
    comparison = iopt.compare(problem, titles, folds=2)
    frame = comparison.frame
    assert len(frame) == 6
    hull, hard, soft = (frame[frame["method"] == str(f)] for f in comparison.formulations)
    assert hull["error"].str.startswith("InfeasibleProblem: mu: expected at least 0.").all()
    assert hard["error"].str.startswith("UnboundedProblem: without an upper bound").all()
    for rows in (hull, hard):
        assert set(rows["status"]) == {"failed"}
        assert set(rows["claim"]) == {"-"}
        assert rows[["accuracy", "objective", "gap", "seconds"]].isna().all(axis=None)
    assert soft["error"].eq("").all()
    assert soft["accuracy"].between(0.3, 1.0).all()
    summary = comparison.summary
    assert summary["failed"].tolist() == [0, 2, 2]
    assert summary["claim"].tolist() == ["GLOBAL", "-", "-"]
    assert summary["accuracy"].isna().tolist() == [False, True, True]


def test_an_error_of_a_solver_stops_nothing(
    problem: iopt.KernelProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    from indefinite_opt.solvers.external import highs

    def failing(session: Any, task: Any) -> Any:
        raise RuntimeError("out of licences")

    monkeypatch.setattr(highs.HighsSession, "solve", failing)
    frame = iopt.compare(problem, TITLES[:2], folds=2).frame
    assert frame["error"].tolist() == ["", "", *2 * ["RuntimeError: out of licences"]]


def test_an_interrupted_cell_is_solved_anew(
    problem: iopt.KernelProblem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its row is in the table, and not in the record."""
    from indefinite_opt.solvers.descent.smo import SMOSession

    original, record = SMOSession.solve, tmp_path / "record.jsonl"

    def interrupted(session: SMOSession, task: Any) -> Any:
        solution = original(session, task)
        solution.status = iopt.Status.INTERRUPTED
        return solution

    with monkeypatch.context() as patched:
        patched.setattr(SMOSession, "solve", interrupted)
        first = iopt.compare(problem, TITLES[:1], ["smo"], folds=2, record=record, n_jobs=1)
    assert first.frame["status"].tolist() == ["interrupted"] * 2
    seen: list[Any] = []
    second = iopt.compare(
        problem, TITLES[:1], ["smo"], folds=2, record=record, progress=progress_of(seen)
    )
    assert second.frame["status"].tolist() == ["solved"] * 2
    assert len(seen) == 2


# ------------------------------------------------------------------------------- fixed test sets


def test_a_fixed_test_set() -> None:
    """Luss & d'Aspremont: `joint` clips the kernel of training and new points as one."""
    X, y = points(70, seed=2)
    K = np.tanh(0.2 * X @ X.T - 0.5)
    assert np.linalg.eigvalsh(K).min() < -0.1
    problem, K_new, y_new = iopt.KernelProblem(K[:40, :40], y[:40]), K[40:, :40], y[40:]
    svc = SVC(C=2.0, kernel="precomputed", tol=1e-8).fit(positive_part(problem.K), problem.labels)
    joint = "SpectrumSVM(C=2, new_points=joint)"
    for title, test, rows in (
        ("SpectrumSVM(C=2, new_points=original)", (K_new, y_new.tolist()), K_new),
        (joint, (K_new, y_new, K[40:, 40:]), positive_part(K)[40:, :40]),
    ):
        comparison = iopt.compare(problem, [title], test=test)
        (row,) = comparison.rows
        expected = np.mean(svc.predict(rows) == y_new)
        assert row["accuracy"] == pytest.approx(expected, abs=1 / 30 + 1e-12)
        assert (row["fold"], row["error"]) == (0, "")
        assert comparison.settings["evaluation"] == "fixed test set"
    for test in ((K_new, y_new), (K_new, y_new, K[40:45, 40:])):
        (row,) = iopt.compare(problem, [joint], test=test).rows
        assert row["error"].startswith("ProblemError: K_new_new: expected")


def test_the_rows_of_a_fixed_test_set_have_one_kernel() -> None:
    X, y = points(30, seed=2)
    problem = iopt.KernelProblem.from_data(X[:20], y[:20], "gaussian(gamma=0.5)")
    test = problem.kernel_with(X[20:]), y[20:]
    for grid in ({"kernel": ["linear", "gaussian"]}, {"gamma": [9.0]}, {"relative_gamma": [2.0]}):
        with pytest.raises(ParameterError, match="of which the rows of the test points are"):
            iopt.compare(problem, ["LIBSVM"], test=test, grid=grid)
    (row,) = iopt.compare(problem, ["LIBSVM"], test=test, grid={"gamma": [0.5]}).rows
    svc = SVC(gamma=0.5).fit(X[:20], y[:20])
    assert row["accuracy"] == svc.score(X[20:], y[20:])


# -------------------------------------------------------------------------------------- records


class Stop(Exception):
    """Raised by the test's own progress callback."""


def progress_of(seen: list[Any], stop_after: int | None = None) -> Any:
    def progress(done: int, total: int, row: dict[str, Any]) -> None:
        seen.append((done, total, (row["method"], row["solver"], row["fold"])))
        if done == stop_after:
            raise Stop

    return progress


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "study.jsonl"


@pytest.fixture
def before(problem: iopt.KernelProblem, record: Path) -> list[Any]:
    """The calls of a study that is stopped when three of its nine rows are in the record."""
    seen: list[Any] = []
    with pytest.raises(Stop):
        iopt.compare(problem, QUICK, folds=3, record=record, progress=progress_of(seen, 3))
    return seen


def lines_of(record: Path) -> list[bytes]:
    return record.read_bytes().splitlines()


@pytest.mark.parametrize(
    "rest", [b"", b"{", b'{"key": "0123456789', b'{"key": "01", "rows": [{"a": 1}]}']
)
def test_an_interrupted_study_goes_on_and_drops_half_a_line(
    rest: bytes, before: list[Any], problem: iopt.KernelProblem, record: Path
) -> None:
    there = record.read_bytes()
    assert there.count(b"\n") == 3
    record.write_bytes(there + rest)
    after: list[Any] = []
    comparison = iopt.compare(problem, QUICK, folds=3, record=record, progress=progress_of(after))
    # One call says how far the record goes; then one for each new cell, none twice.
    assert [done for done, _, _ in after] == list(range(3, 10))
    assert {total for _, total, _ in before + after} == {9}
    cells = [cell for _, _, cell in before + after[1:]]
    assert len(cells) == len(set(cells)) == 9
    # To the last digit of their times the first rows are the old ones.
    assert record.read_bytes().startswith(there)
    assert len(lines_of(record)) == len(comparison.rows) == 9
    fresh = iopt.compare(problem, QUICK, folds=3)
    pd.testing.assert_frame_equal(without_time(comparison.frame), without_time(fresh.frame))


def test_a_finished_study_is_only_read(problem: iopt.KernelProblem, record: Path) -> None:
    """A failed cell has an answer, too; NaN survives the file."""
    titles = [*QUICK, "ConvexHullDual(mu=1e-6)"]
    first = iopt.compare(problem, titles, folds=2, record=record)
    text = record.read_bytes()
    seen: list[Any] = []
    second = iopt.compare(problem, titles, folds=2, record=record, progress=progress_of(seen))
    pd.testing.assert_frame_equal(second.frame, first.frame)
    assert second.frame["accuracy"].isna().sum() == 2
    assert [done for done, _, _ in seen] == [8]
    assert record.read_bytes() == text


@pytest.mark.usefixtures("before")
def test_without_resuming_all_cells_are_run_again(
    problem: iopt.KernelProblem, record: Path
) -> None:
    seen: list[Any] = []
    last = iopt.compare(
        problem, QUICK, folds=3, record=record, resume=False, progress=progress_of(seen)
    )
    assert [done for done, _, _ in seen] == list(range(1, 10))
    assert len(lines_of(record)) == 3 + 9
    # Of two lines of one cell the later one counts.
    again = iopt.compare(problem, QUICK, folds=3, record=record)
    pd.testing.assert_frame_equal(again.frame, last.frame)


def test_other_settings_and_other_data_are_other_cells(
    problem: iopt.KernelProblem, record: Path
) -> None:
    """Each adds its rows to one record, and the first comparison is only read afterwards."""
    K, labels = problem.K.copy(), problem.labels
    K[0, 0] += 1e-9
    flipped = np.where(np.arange(60) == 3, labels[::-1], labels)
    test = (problem.K[:9], labels[:9])
    others: list[tuple[iopt.KernelProblem, dict[str, Any]]] = [
        *((problem, change) for change in (
            {"seed": 1}, {"folds": 4}, {"tol": 1e-5}, {"time_limit": 9.0}, {"grid": {"k": [1, 2]}},
            {"test": test}, {"test": (test[0][::-1], test[1])},
        )),
        # A matrix without its points, another one, and other labels.
        (iopt.KernelProblem(problem.K, labels), {}),
        (iopt.KernelProblem(K, labels), {}),
        (iopt.KernelProblem(problem.K, flipped), {}),
    ]  # fmt: skip
    first = iopt.compare(problem, ["KNN"], folds=3, record=record)
    count = 3
    for other, change in others:
        found = iopt.compare(other, ["KNN"], record=record, **{"folds": 3, **change})
        count += len(found.rows)
        assert len(lines_of(record)) == count, change
    again = iopt.compare(problem, ["KNN"], folds=3, record=record)
    pd.testing.assert_frame_equal(again.frame, first.frame)
    assert len(lines_of(record)) == count


def test_a_record_that_is_none(problem: iopt.KernelProblem, record: Path) -> None:
    for text in ("no study\n", "no study", '{"K": 1}\n', "[" * 100_000 + "\n"):
        record.write_text(text, encoding="utf-8")
        with pytest.raises(iopt.errors.DataError, match="record: expected a store of results"):
            iopt.compare(problem, QUICK, record=record)
        assert record.read_text(encoding="utf-8") == text
    with pytest.raises(iopt.errors.DataError, match=r"can be written, got /dev/zero: not a file"):
        iopt.compare(problem, QUICK, record="/dev/zero")
    with pytest.raises(iopt.errors.DataError, match="can be written"):
        iopt.compare(problem, QUICK, record=record / "absent" / "study.jsonl")


def test_a_line_that_is_no_cell_is_named(problem: iopt.KernelProblem, record: Path) -> None:
    iopt.compare(problem, ["KNN"], folds=2, record=record)
    there = lines_of(record)
    for k, content in enumerate((
        b"\xff\xfe\x00", b'{"key": "01', b"[" * 100_000, b"9" * 5000, b"[1, 2]",
        b'{"key": [], "rows": []}', b'{"key": "01", "rows": {}}', b'{"key": "01", "rows": [1]}',
    )):  # fmt: skip
        line = k % 3
        changed = b"\n".join([*there[:line], content, *there[line:], b""])
        record.write_bytes(changed)
        with pytest.raises(iopt.errors.DataError, match=f"record: .*whose line {line + 1} is not"):
            iopt.compare(problem, ["KNN"], folds=2, record=record)
        assert record.read_bytes() == changed


# --------------------------------------------------------------------- digests, and rows on demand


def test_labels_that_are_objects_are_digested_by_value() -> None:
    """Their bytes are addresses, and equal texts may be different objects."""

    def digest(*names: str) -> str:
        y = np.empty(4, dtype=object)
        y[:] = [f"class {name}" for name in names]
        return Data(iopt.datasets.Dataset(name="objects", y=y, K=np.eye(4))).digest

    assert digest(*"aabb") == digest(*"aabb") != digest(*"abab")


def test_rows_on_demand_are_compared(problem: iopt.KernelProblem, tmp_path: Path) -> None:
    """The same cells as with the whole matrix; what needs it fails in its own cells."""
    X, y = points()
    settings: dict[str, Any] = {"solvers": ["smo", "highs"], "folds": 2}
    lazy, moved = (
        iopt.KernelProblem.from_data(each, y, "gaussian(gamma=0.3)", cache_mb=0.02)
        for each in (X, X[::-1])
    )
    record, seen = tmp_path / "study.jsonl", []
    found = iopt.compare(lazy, TITLES, record=record, **settings).frame
    whole = iopt.compare(problem, TITLES[:1], **settings).frame
    quadratic = found["solver"] == "smo"
    assert found["error"][quadratic].tolist() == ["", ""]
    np.testing.assert_allclose(
        found["objective"][quadratic], whole["objective"][whole["solver"] == "smo"], rtol=1e-6
    )
    linear = found["method"] == "LPSVM"
    assert found["error"][linear].str.startswith("ProblemError: problem: expected the whole").all()
    iopt.compare(lazy, TITLES, record=record, progress=progress_of(seen), **settings)
    assert len(seen) == 1
    count = len(lines_of(record))
    iopt.compare(moved, TITLES, record=record, **settings)
    assert len(lines_of(record)) == 2 * count


# -------------------------------------------------------------------------------------- summary


def hand_made(*rows: dict[str, Any]) -> StudyOutcome:
    """A study with all metrics, of these rows."""
    base = {
        "data": "two", "method": "SVMDual", "entry": 0, "ends": [],
        "solver": "smo", "fold": 0, "accuracy": 0.5,
        "objective": 1.0, "claim": "GLOBAL", "gap_kind": "duality gap", "gap": 1e-9, "support": 3,
        "proved_within": 1e-9,
        "seconds": 0.1, "status": "solved", "error": "", "run": 0, "chosen": "",
    }  # fmt: skip
    told = [{**base, **row} for row in rows]
    methods = {str(row["method"]): "SVMDual" for row in told}
    metrics = ["accuracy", *(name for name in METRICS if name in base)]
    data = {"two": iopt.KernelProblem(np.eye(2), [1, -1])}
    return StudyOutcome(Study(data, methods, metrics=metrics), told)


def test_a_summary_takes_the_weakest_claim_and_the_worst_gap_and_never_mixes_kinds() -> None:
    """A duality gap of 0.5 is no KKT residual: only what all folds have may stand for all."""
    comparison = hand_made(
        {"gap": 3e-8, "accuracy": 0.5, "seconds": 1.0},
        {"gap": 2e-3, "claim": "FEASIBLE", "accuracy": 1.0, "seconds": 3.0},
        {"gap": 1e-7, "claim": "LOCAL", "accuracy": 0.75, "objective": 4.0, "seconds": 2.0},
    )
    (row,) = comparison.summary.to_dict("records")
    assert (row["claim"], row["gap_kind"], row["gap"]) == ("FEASIBLE", "duality gap", 2e-3)
    assert row["accuracy"] == 0.75
    assert row["accuracy_sd"] == pytest.approx(np.sqrt(1 / 24))
    assert (row["objective"], row["seconds"], row["support"]) == (2.0, 2.0, 3.0)
    assert (row["failed"], row["divisions"]) == (0, 3)
    comparison = hand_made(
        {"gap": 0.5, "claim": "FEASIBLE"},
        {"gap": 2e-7, "gap_kind": "KKT residual", "claim": "STATIONARY"},
        {"gap": 4e-7, "gap_kind": "KKT residual", "claim": "LOCAL"},
    )
    (row,) = comparison.summary.to_dict("records")
    assert (row["claim"], row["gap_kind"], row["gap"]) == ("FEASIBLE", "KKT residual", 4e-7)


def test_summary_leaves_failures_out_of_the_means() -> None:
    nothing = dict.fromkeys(("accuracy", "objective", "gap", "seconds"), float("nan"))
    failed = {**nothing, "claim": "-", "gap_kind": "", "support": 0, "error": "SolverFailed: no"}
    comparison = hand_made({"accuracy": 0.25}, failed, {"method": "other", **failed})
    first, second = comparison.summary.to_dict("records")
    assert (first["accuracy"], first["support"], first["claim"]) == (0.25, 3.0, "GLOBAL")
    assert (first["failed"], first["divisions"]) == (1, 2)
    assert (second["failed"], second["divisions"], second["claim"]) == (1, 1, "-")
    assert np.isnan(second["accuracy"])


@pytest.mark.parametrize(
    "formulations",
    [
        [iopt.SVMDual(C=0.12345678), iopt.SVMDual(C=0.12345699)],
        [iopt.GuoSchuurmansQP(), iopt.GuoSchuurmansQP(sensitivity=np.eye(60))],
    ],
    ids=["digits", "sensitivity"],
)
def test_different_formulations_are_kept_apart(
    formulations: list[iopt.Formulation], problem: iopt.KernelProblem
) -> None:
    comparison = iopt.compare(problem, formulations, test=(problem.K, problem.labels))
    assert len(comparison.summary) == 2
    assert comparison.frame["error"].eq("").all()
    comparison.plot()


def test_what_is_listed_twice_is_run_once(problem: iopt.KernelProblem) -> None:
    formulations = ["SVMDual", iopt.SVMDual(C=1.0), iopt.SVMDual]
    comparison = iopt.compare(problem, formulations, solvers=["smo", "smo"], folds=2)
    assert comparison.formulations == [iopt.SVMDual()]
    assert comparison.frame["fold"].tolist() == [0, 1]
    assert comparison.summary["divisions"].tolist() == [2]


def test_the_kernel_of_a_function_has_the_same_name_in_every_run() -> None:
    X, y = points()
    problem = iopt.KernelProblem.from_data(X, y, inner_products)
    comparison = iopt.compare(problem, ["UniformWeights"], folds=2)
    assert comparison.settings["kernel"] == "custom(function=inner_products)"


def inner_products(X: Array, Z: Array) -> Array:
    return X @ Z.T


# ------------------------------------------------------------------------------------- bad input


def test_folds_up_to_the_smaller_class() -> None:
    problem = iopt.KernelProblem(np.eye(7), [1, 1, 1, 1, -1, -1, -1])
    assert len(iopt.compare(problem, ["SVMDual"], folds=3).rows) == 3
    with pytest.raises(
        iopt.errors.ParameterError, match=r"from 2 to 3 \(the smaller class\), got 4"
    ):
        iopt.compare(problem, ["SVMDual"], folds=4)


def test_a_failure_in_a_path_is_marked_and_is_not_solved_again(
    problem: iopt.KernelProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second attempt would take the time limit a second time."""

    def again(*arguments: Any, **options: Any) -> Any:
        pytest.fail("solved again")

    monkeypatch.setattr(cells, "solve", again)
    split = problem.split(np.arange(40), np.arange(40, 60))
    grid = Grid("ConvexHullDual", mu=[0.001, 0.5, 1.0], solver="smo")
    study = Study({"points": problem}, {"hulls": grid}, RepeatedKFold(2), time_limit=100.0)
    failed, *fits = _fits(split, [entry.method for entry in grid.entries], grid, study.plan)
    assert isinstance(failed, iopt.errors.InfeasibleProblem)
    for fit, mu in zip(fits, (0.5, 1.0), strict=True):
        alone = iopt.solve(split.problem, iopt.ConvexHullDual(mu=mu))
        assert fit.result.objective == pytest.approx(alone.objective, rel=1e-5)
    for row in study.run().rows:
        expected = ("failed", "InfeasibleProblem") if row["entry"] == 0 else ("solved", "")
        assert (row["status"], row["error"].partition(":")[0]) == expected


@pytest.mark.parametrize(("n", "solver"), [(60, "highs"), (450, "generation")])
def test_linear_programs_have_the_solver_that_suits_their_size(n: int, solver: str) -> None:
    """As `solve` chooses it: at 1,284 points generation takes a twentieth of the time of HiGHS."""
    data = iopt.datasets.load(f"checkerboard(n={n})")
    problem = iopt.KernelProblem.from_data(data.points, data.y, "gaussian(gamma=2)")
    split = problem.split(np.arange(n - 10), np.arange(n - 10, n))
    grid = Grid("LPSVM", C=[0.1, 1.0])
    plan = Study({"board": problem}, {"LP": grid}, RepeatedKFold(2)).plan
    fits = list(_fits(split, [entry.method for entry in grid.entries], grid, plan))
    assert [fit.result.solver for fit in fits] == [solver] * 2


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_gap_of_folds_with_several_kinds_is_of_the_weakest(
    order: tuple[int, int],
) -> None:
    """A bracket, of a fold that is not convex, says less than the duality gaps of the others."""
    gaps = [("duality gap", 3e-9), ("global bracket", 2e-7)]
    found = hand_made(
        *({"fold": fold, "gap_kind": gaps[k][0], "gap": gaps[k][1]} for fold, k in enumerate(order))
    ).summary
    assert found[["gap_kind", "gap"]].to_numpy().tolist() == [["global bracket", 2e-7]]


def test_values_and_solvers_that_fit_no_method_are_refused() -> None:
    problem = random_problem("sigmoid", n=12, seed=0)
    with pytest.raises(UnknownName, match=r"grid: expected one of C, .*, got 'nu'"):
        iopt.compare(problem, ["SVMDual"], folds=2, grid={"nu": [0.1, 0.2]})
    with pytest.raises(
        ParameterError, match=r"solvers: expected some that fit .*, got .*active-set"
    ):
        iopt.compare(problem, ["SVMDual"], ["smo", "active-set"], folds=2)
