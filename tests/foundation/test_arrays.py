"""Arrays that cannot be used: one sentence that names the argument and says what came."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import indefinite_opt as iopt
from helpers.learners import Bayes
from helpers.messages import message
from indefinite_opt import theory
from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation.arrays import (
    checked_labels,
    checked_points,
    checked_values,
    finite_array,
    label_vector,
    labelled,
    real_array,
)

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("value", "got"),
    [
        (np.full((4, 4), 1 + 1j), "complex numbers"),
        ([["1", "0"], ["0", "1"]], "text"),
        (np.array([b"1"]), "text"),
        (np.array(["2020-01-01"], "M8[D]"), "dates"),
        (np.array([1], "m8[s]"), "durations"),
        (None, "an entry of type NoneType"),
        ([[1, None], [None, 1]], "an entry of type NoneType"),
        ([{}, 1], "an entry of type dict"),
        ([[1.0], [1.0, 2.0]], "nested sequences of unequal lengths"),
        ([NAN, 1.0], "nan at 0"),
        ([[0.0, 0.0], [INF, 0.0]], "inf at (1, 0)"),
        (-INF, "-inf"),
    ],
    ids=lambda item: item if isinstance(item, str) else "",
)
def test_what_is_no_array_of_finite_numbers(value: Any, got: str) -> None:
    said = message(real_array, "it", value, "some numbers")
    assert said == f"it: expected some numbers, got {got}"


@pytest.mark.parametrize("mask", [True, False])
def test_no_mask_is_ignored(mask: bool) -> None:
    """Labels, and points of estimators, included: numpy reads what a mask hides."""
    y = np.ma.masked_array([-1.0, 1.0], mask=mask)
    K = np.ma.masked_array(np.eye(2), mask=mask)
    hint = "Fill or leave out the masked entries, or give K.data."
    said = message(real_array, "K", K, "numbers")
    assert said == f"K: expected numbers, got a masked array. {hint}"
    for call in (
        lambda: real_array("it", list(K), "rows"),
        lambda: label_vector("y", y),
        lambda: iopt.KernelProblem(K, [-1, 1]),
        lambda: iopt.KernelProblem(np.eye(2), y),
        lambda: iopt.KernelClassifier(kernel="linear").fit(K, [-1, 1]),
        lambda: iopt.IndefiniteSVC(kernel="linear").fit(np.eye(2), y),
        lambda: iopt.KernelClassifier(kernel="linear").fit(np.eye(2), [-1, 1], abs(y)),
        lambda: iopt.IndefiniteSVC().fit(np.eye(2), [-1, 1], sample_weight=abs(y)),
        lambda: iopt.SpectrumTransformer().fit(K),
    ):
        assert "got a masked array" in message(call)


def test_numbers_of_any_type_are_taken_up_to_the_largest_double() -> None:
    largest = "it: expected numbers up to 1.8e+308, the largest double, got larger ones"
    for value in ([[10**400, 0], [0, 1]], [10**5000]):
        assert message(real_array, "it", value, "numbers") == largest
    assert real_array("it", [True, 2], "numbers").tolist() == [1.0, 2.0]
    assert real_array("it", [1, np.float32(0.5)], "numbers").tolist() == [1.0, 0.5]
    assert real_array("it", np.array([1, 10**20], object), "numbers").tolist() == [1.0, 1e20]
    assert np.isnan(real_array("it", [NAN], "numbers", finite=False)[0])
    K = np.eye(3)
    assert real_array("K", K, "a matrix", (3, None)) is K


def test_a_shape_is_the_shape_or_any_length() -> None:
    assert finite_array("it", [[1, 2]], (None, 2)).tolist() == [[1.0, 2.0]]
    assert finite_array("it", np.empty((0, 2)), (None, 2)).shape == (0, 2)
    assert finite_array("it", 3, ()) == 3.0
    for value, shape, expected in (
        ([1.0], (2,), "(2,), got shape (1,)"), (1.0, (2,), "(2,), got shape ()"),
        (np.ones((2, 3)), (None, 2), "(m, 2), got shape (2, 3)"),
        ([1.0, NAN], (2,), "(2,), got nan at 1"),
    ):  # fmt: skip
        said = message(finite_array, "it", value, shape)
        assert said == f"it: expected finite real numbers of shape {expected}"


@pytest.mark.parametrize(
    ("points", "got"),
    [
        ([1.0, 2.0], "shape (2,)"), ([[[1.0]]], "shape (1, 1, 1)"),
        (np.zeros((0, 2)), "shape (0, 2)"), (np.zeros((2, 0)), "shape (2, 0)"),
        ([[1.0], [NAN]], "nan at (1, 0)"), ([["a"]], "text"), (None, "an entry of type NoneType"),
    ],
    ids=str,
)  # fmt: skip
def test_points_stand_in_rows(points: Any, got: str) -> None:
    said = "X: expected a finite matrix with points in rows, of shape (m, d) with m, d ≥ 1, got "
    assert message(checked_points, "X", points) == said + got
    assert checked_points("X", [[1, 2]], 2).tolist() == [[1.0, 2.0]]
    assert "of shape (m, 3) with m ≥ 1" in message(checked_points, "X", points, 3)
    assert message(checked_points, "X", np.ones((4, 2)), 3).endswith("m ≥ 1, got shape (4, 2)")


def test_values_have_names_by_which_they_are_checked() -> None:
    shapes = {"alpha": (2,), "b": ()}
    for given, said in (
        (np.ones(2), "a mapping with alpha of shape (2,), b of shape (), got an object of "),
        (SimpleNamespace(values={}), "got an object of type SimpleNamespace. Pass its `values`."),
        ({}, "alpha of shape (2,), b of shape (), got the names none"),
        ({"alpha": [1, 1], "b": 0, 1: 2}, "got the names 1, alpha, b"),
    ):
        assert said in message(checked_values, "values", given, shapes)
    held = SimpleNamespace(multipliers={})
    assert message(checked_values, "multipliers", held, shapes).endswith("Pass its `multipliers`.")
    values = checked_values("values", {"b": 1, "alpha": [1, 2]}, shapes)
    assert {name: value.tolist() for name, value in values.items()} == {"alpha": [1, 2], "b": 1}
    for alpha, got in (([1.0], "shape (1,)"), ([1.0, NAN], "nan at 1"), (["x", "y"], "text")):
        said = message(checked_values, "values", {"alpha": alpha, "b": 0}, shapes)
        expected = f"finite real numbers of shape (2,), got {got}"
        assert said == f"values['alpha']: expected {expected}"


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (5, "a vector of labels, got shape ()"),
        ([[1, -1]], "a vector of labels, got shape (1, 2)"),
        ([[1], [1, 2]], "a vector of labels, got nested sequences of unequal lengths"),
        ((), "4 labels, one for each row of K, got 0 labels"),
        ([1, -1, 1], "4 labels, one for each row of K, got 3 labels"),
        ([1.0, NAN, 1.0, 1.0], "finite labels, got NaN or infinite entries"),
        (np.array([1.0, NAN] * 2, object), "finite labels, got NaN"),
        (np.array(["2020-01-01", "NaT"] * 2, "M8[D]"), "finite labels, got NaN"),
        ([1, "a", None, 1], "labels of one type that can be sorted, got labels of type NoneT"),
        ([1, 1, 1, 1], "labels of exactly two classes, got 1 (1)"),
        ([1, 2, 3, 3], "labels of exactly two classes, got 3 (1, 2, 3)"),
    ],
    ids=lambda item: item[:40] if isinstance(item, str) else "",
)
def test_labels_are_of_two_classes(labels: Any, said: str) -> None:
    assert message(checked_labels, labels, 4).startswith(f"y: expected {said}")


def test_the_larger_label_is_positive() -> None:
    classes, y = checked_labels(["no", "yes", "no"], 3)
    assert (classes.tolist(), y.tolist()) == (["no", "yes"], [-1.0, 1.0, -1.0])
    assert label_vector("test", [3, 1]).tolist() == [3, 1]
    assert message(label_vector, "test", 1, "m labels") == "test: expected m labels, got shape ()"


PAIR = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
LINE = iopt.KernelProblem.from_data([[1.0], [2.0]], [1, -1], "linear", scaling="minmax")
DUAL, HALF = iopt.SVMDual(C=1.0), np.array([0.5, 0.5])
Y = np.array([1, -1])
BAD = np.array([[1j, 0.0], [0.0, 1j]])
CLASSIFIER = iopt.solve(PAIR, DUAL).classifier
SEVERAL = iopt.solve(iopt.KernelProblem(np.eye(9), [1, 2, 3] * 3), "UniformWeights").classifier
LEARNED = iopt.ConfidenceProblem.from_learner([[1.0], [2.0], [3.0], [4.0]], [1, -1, 1, -1], Bayes())

CALLS: dict[str, tuple[str, Callable[[], Any]]] = {
    "KernelProblem": ("K", lambda: iopt.KernelProblem(BAD, [1, -1])),
    "labels": ("y", lambda: iopt.KernelProblem(PAIR.K, [BAD, 1])),
    "from_data": ("X", lambda: iopt.KernelProblem.from_data(BAD, [1, -1])),
    "sparse points": ("X", lambda: iopt.KernelProblem.from_data(csr_array(np.eye(2)), [1, -1])),
    "from_distances": ("D", lambda: iopt.KernelProblem.from_distances(BAD, [1, -1])),
    "a data set with a flat K": ("K", lambda: iopt.datasets.Dataset("a", Y, K=np.ones(2))),
    "a data set with one number": ("D", lambda: iopt.datasets.Dataset("a", Y, D=np.array(1.0))),
    "a data set with a list": ("X", lambda: iopt.datasets.Dataset("a", Y, X=[[1.0], [1.0]])),
    "a data set with one label": ("y", lambda: iopt.datasets.Dataset("a", Y[0], X=np.eye(2))),
    "kernel_with": ("X_new", lambda: LINE.kernel_with(BAD)),
    "X of a kernel": ("X", lambda: iopt.kernels.Linear()(BAD)),
    "Z of a kernel": ("Z", lambda: iopt.kernels.Linear()(PAIR.K, BAD)),
    "width of a kernel": ("Z", lambda: iopt.kernels.Linear()(PAIR.K, [[1.0]])),
    "values of a kernel": ("K", lambda: iopt.kernels.get(lambda X, Z: 1j * X @ Z.T)(PAIR.K)),
    "ConfidenceProblem": ("K", lambda: iopt.ConfidenceProblem(BAD, [1, -1])),
    "from_sensitivity": ("Delta", lambda: iopt.ConfidenceProblem.from_sensitivity(BAD, [1, -1])),
    "given": ("given", lambda: iopt.ConfidenceProblem.from_tables(BAD, PAIR.K, [1, -1])),
    "flipped": ("flipped", lambda: iopt.ConfidenceProblem.from_tables(PAIR.K, BAD, [1, -1])),
    "from_learner": ("X", lambda: iopt.ConfidenceProblem.from_learner(BAD, [1, -1], Bayes())),
    "plus": ("plus", lambda: LEARNED.rows(BAD, BAD)),
    "minus": ("minus", lambda: LEARNED.rows(np.ones((2, 4)), np.ones((3, 4)))),
    "points of confidences": ("X_new", lambda: LEARNED.kernel_with(np.ones((2, 3)))),
    "embed": ("alpha", lambda: theory.diagnose(PAIR, BAD[0])),
    "sensitivity": ("sensitivity", lambda: iopt.solve(PAIR, iopt.GuoSchuurmansQP(sensitivity=BAD))),
    "start": ("start", lambda: iopt.solve(PAIR, DUAL, start=BAD[0])),
    "start by name": ("start['alpha']", lambda: iopt.solve(PAIR, DUAL, start={"alpha": BAD[0]})),
    "values": ("values", lambda: iopt.verify(PAIR, "LPSVM", HALF)),
    "a value": ("values['alpha']", lambda: iopt.verify(PAIR, DUAL, {"alpha": [1.0]})),
    "multipliers": ("multipliers", lambda: iopt.verify(PAIR, DUAL, {"alpha": HALF}, {"lower": 0})),
    "declaration": ("values['alpha']", lambda: DUAL.declare(PAIR).evaluate({"alpha": BAD[0]})),
    "krein_certificate": (
        "values", lambda: theory.krein_certificate(PAIR, iopt.ESVM(), {"beta": HALF})
    ),
    "lift": ("alpha", lambda: theory.haasdonk_proposition_2(PAIR, 1.0, [0.5, 0.5, 0.0])),
    "theorem_1": ("alpha", lambda: theory.lin_lin_theorem_1(PAIR, 1.0, [0.5, NAN])),
    "hull_to_svm": ("alphabar", lambda: theory.hull_to_svm(PAIR, 1.0, [1.0])),
    "predict": ("K_new", lambda: CLASSIFIER.predict(np.ones((2, 3)))),
    "predict of several": ("K_new", lambda: SEVERAL.predict(np.ones((2, 4)))),
    "square": ("K", lambda: iopt.SpectrumTransformer("square").fit(1e100 * PAIR.K)),
    "neighbours": ("K_new", lambda: iopt.KNN(k=1).fit(PAIR).predict(BAD)),
    "analyse_sigmoid": ("X", lambda: theory.analyse_sigmoid([1.0, 2.0], [1, -1])),
    "held-out data": ("test", lambda: iopt.compare(PAIR, ["SVMDual"], test=(PAIR.K,))),
    "held-out kernel": ("test", lambda: iopt.compare(PAIR, ["SVMDual"], test=(BAD, [1, -1]))),
    "held-out labels": ("test", lambda: iopt.compare(PAIR, ["SVMDual"], test=(PAIR.K, [1]))),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_arrays_of_functions_are_checked(name: str) -> None:
    argument, call = CALLS[name]
    assert re.match(rf"{re.escape(argument)}: expected .*, got ", message(call))


@pytest.mark.parametrize(
    ("y", "task"),
    [([1.5, 2.5, 4.0], "regression"), ([1, 2.5, 4], "regression"), ([1, 2, 4], "classification")],
)
def test_numbers_that_are_objects_ask_for_the_task_of_the_same_numbers(y: Any, task: str) -> None:
    """As a column of pandas with numbers of several types holds them."""
    found, same = labelled(np.array(y, dtype=object), 3), labelled(y, 3)
    assert found.task == same.task == task
    assert found.values.tolist() == same.values.tolist()


def test_targets_with_which_objectives_overflow_are_refused() -> None:
    assert labelled([1e152, 0.5, 0.0], 3).values[0] == 1e152
    with pytest.raises(ProblemError, match=r"y: expected targets of at most 1e\+152"):
        labelled([1.7e308, 0.5, 0.0], 3)
