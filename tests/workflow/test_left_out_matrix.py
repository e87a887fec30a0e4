"""Pickles and files of results leave out a matrix that was given: they predict as before, and what
needs the matrix says so by name."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt.errors import DataError, MatrixNotKept, ProblemError

RNG = np.random.default_rng(11)
N = 90
X = RNG.normal(size=(N, 3))
D = np.abs(X[:, None] - X).sum(axis=2)
NEW = np.abs(RNG.normal(size=(8, 3))[:, None] - X).sum(axis=2)
TWO = np.where(X[:, 0] + X[:, 1] ** 2 > 0.6, "inside", "outside")
THREE = np.resize(["a", "b", "c"], N)


def similarity(distances: Any) -> Any:
    """Of any inertia."""
    return np.exp(-distances) - 0.3 * np.cos(2.0 * distances)


K = similarity(D)
CASES: dict[str, tuple[Callable[[], iopt.KernelProblem], str, Any]] = {
    "similarities": (lambda: iopt.KernelProblem(K, TWO), "SVMDual(C=2)", similarity(NEW)),
    "floats": (
        lambda: iopt.KernelProblem(K.astype(np.float32), TWO), "SVMDual(C=2)", similarity(NEW),
    ),
    "distances": (
        lambda: iopt.KernelProblem.from_distances(D, TWO, "linear"), "SVMDual(C=2)", NEW,
    ),
    "three classes": (lambda: iopt.KernelProblem(K, THREE), "SVMDual(C=2)", similarity(NEW)),
    "changed kernel": (lambda: iopt.KernelProblem(K, TWO), "SpectrumSVM", similarity(NEW)),
    "projected": (
        lambda: iopt.KernelProblem(K, TWO), "SpectrumSVM(new_points=projected)", similarity(NEW),
    ),
    "proxy kernel": (lambda: iopt.KernelProblem(K, TWO), "LussDual", similarity(NEW)),
    "linear program": (lambda: iopt.KernelProblem(K, TWO), "LPSVM", similarity(NEW)),
    "targets": (lambda: iopt.KernelProblem(K, X[:, 1]), "EpsilonSVR", similarity(NEW)),
    "one class": (lambda: iopt.KernelProblem(K), "OneClassSVM", similarity(NEW)),
    "distances of one class": (
        lambda: iopt.KernelProblem.from_distances(D, None, "linear"), "SVDD", NEW,
    ),
}  # fmt: skip


def claim(result: Any) -> Any:
    return result.claim if hasattr(result, "claim") else result.certificate.claim


def pickled(result: Any, folder: Path) -> tuple[Any, int]:
    content = pickle.dumps(result)
    return pickle.loads(content), len(content)


def saved(result: Any, folder: Path) -> tuple[Any, int]:
    path = result.save(folder / "model.npz")
    return iopt.load(path), path.stat().st_size


@pytest.mark.parametrize("way", [pickled, saved])
@pytest.mark.parametrize("case", CASES)
def test_results_predict_without_the_matrix_and_are_certified_with_it(
    case: str, way: Any, tmp_path: Path
) -> None:
    make, formulation, new = CASES[case]
    problem = make()
    result = iopt.solve(problem, formulation)
    again, size = way(result, tmp_path)
    assert size < K.nbytes / 2  # n numbers of several kinds, where K has n²
    expected = result.decision_function(new)
    np.testing.assert_allclose(again.decision_function(new), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(again.predict(new), result.predict(new))
    with pytest.raises(MatrixNotKept, match=r"its kernel matrix.*result\.with_problem"):
        claim(again)
    with pytest.raises(MatrixNotKept):
        _ = again.problem.K
    assert result.problem.name in repr(again) + again._repr_html_()
    assert claim(again.with_problem(make())) is claim(result)
    twice, _ = way(again, tmp_path)
    np.testing.assert_array_equal(twice.predict(new), result.predict(new))


@pytest.mark.parametrize("case", ["similarities", "three classes", "distances"])
def test_only_the_same_problem_is_taken(case: str, tmp_path: Path) -> None:
    make, formulation, _ = CASES[case]
    problem = make()
    again, _ = saved(iopt.solve(problem, formulation), tmp_path)
    other = problem.K.copy()
    other[4, 4] = np.nextafter(other[4, 4], 9.0)
    labels = problem.labels.copy()
    labels[:2] = labels[1::-1]
    for wrong in (
        iopt.KernelProblem(other, problem.labels), problem.relabelled(labels),
        iopt.KernelProblem(K[:-3, :-3], problem.labels[:-3]),
    ):  # fmt: skip
        with pytest.raises(ProblemError, match="problem: expected the problem of the result"):
            again.with_problem(wrong)
    with pytest.raises(ProblemError, match="a KernelProblem"):
        again.with_problem(K)


def test_a_certificate_that_was_read_before_is_in_the_pickle() -> None:
    result = iopt.solve(iopt.KernelProblem(K, TWO), "SVMDual(C=2)")
    known = result.certificate
    again = pickle.loads(pickle.dumps(result))
    assert str(again.certificate) == str(known)
    assert len(pickle.dumps(result)) < K.nbytes
    with pytest.raises(MatrixNotKept):  # the file of a proof holds the matrix
        again.certificate.save("never.json")


def test_copies_in_one_process_keep_the_matrix() -> None:
    result = iopt.solve(iopt.KernelProblem(K, TWO), "SpectrumSVM")
    for made in (copy.copy(result), copy.deepcopy(result)):
        assert made.certificate.claim is result.certificate.claim
        assert made.problem.gram.n == N
    joint = copy.copy(result.classifier).with_new_points("joint")
    assert joint.decision_function(K[:3], K[:3, :3]).shape == (3,)
    lighter = pickle.loads(pickle.dumps(result.classifier))
    assert len(pickle.dumps(lighter)) < K.nbytes / 2
    with pytest.raises(MatrixNotKept):
        lighter.with_new_points("joint").decision_function(K[:3], K[:3, :3])


@pytest.mark.parametrize("formulation", ["SpectrumSVM(new_points=joint)", "SVDD"])
def test_a_matrix_that_predictions_need_stays(formulation: str, tmp_path: Path) -> None:
    """The joint treatment transforms it; k(x, x) is known of the points that have these rows."""
    result = iopt.solve(iopt.KernelProblem(K * np.outer(1 + X[:, 0] ** 2, 1 + X[:, 0] ** 2), TWO),
                        formulation)  # fmt: skip
    rows = result.problem.K[:4]
    own = {"own": result.problem.K[:4, :4]} if "joint" in formulation else {}
    for way in (pickled, saved):
        again, size = way(result, tmp_path)
        assert size > K.nbytes
        np.testing.assert_array_equal(again.predict(rows, **own), result.predict(rows, **own))
        assert claim(again) is claim(result)


@pytest.mark.parametrize("case", ["similarities", "three classes", "distances"])
def test_files_may_hold_the_matrix_as_those_of_earlier_versions_do(
    case: str, tmp_path: Path
) -> None:
    make, formulation, new = CASES[case]
    result = iopt.solve(make(), formulation)
    path = result.save(tmp_path / "model.npz", with_matrix=True)
    assert claim(iopt.load(path)) is claim(result)
    with np.load(path) as file:
        arrays = dict(file)
    facts = json.loads(str(arrays["facts"]))
    arrays["facts"] = np.array(json.dumps(facts | {"format": "indefinite_opt result 8"}))
    np.savez_compressed(path, **arrays)
    again = iopt.load(path)
    assert claim(again) is claim(result)
    np.testing.assert_array_equal(again.predict(new), result.predict(new))


DAMAGE: dict[str, tuple[Any, ...]] = {
    "diagonal": (np.zeros((N, 2)), np.full(N, np.nan), np.zeros(N).astype(str), np.zeros(N - 1)),
    "classifier support": (
        np.array([-1, 2]), np.array([2, N]), np.array([2, 2]), np.array([0.5]),
        np.zeros((2, 2), int),
    ),
    "classifier coef": (np.full(3, np.nan), np.zeros(2), np.zeros(3, "M8[D]")),
    "value alpha": (np.full(N, np.nan), np.zeros(N).astype(str)),
    "extremes": ([1.0], [0.0, None], "x", None, [0.0, float("nan")]),
    "digest": ("x", 3, None, ""),
    "classifier": ({}, 3, "x", {"offset": None}),
    "offset": (float("nan"), None, "x"),
    "own": (None, "x"),
    "distances": (1, None, "yes"),
    "zero": ("x", float("inf")),
}  # fmt: skip


@pytest.mark.parametrize("entry", DAMAGE)
def test_damaged_files_without_a_matrix_are_refused(entry: str, tmp_path: Path) -> None:
    result = iopt.solve(iopt.KernelProblem(K, TWO), "SVMDual(C=2)")
    path = result.save(tmp_path / "model.npz")
    with np.load(path) as file:
        arrays = dict(file)
    facts = json.loads(str(arrays["facts"]))
    for bad in DAMAGE[entry]:
        changed, said = dict(arrays), dict(facts)
        if entry in arrays:
            changed[entry] = bad
        elif entry in facts and entry != "offset":
            said[entry] = bad
        else:
            said["classifier"] = facts["classifier"] | {entry: bad}
        np.savez(path, **(changed | {"facts": np.array(json.dumps(said))}))
        with pytest.raises(DataError):
            iopt.load(path)
    for missing in ("classifier support", "classifier coef"):
        np.savez(path, **{name: each for name, each in arrays.items() if name != missing})
        with pytest.raises(DataError, match=missing):
            iopt.load(path)
