"""A fit that fails or is interrupted leaves every estimator as it was."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError

import indefinite_opt as iopt
from indefinite_opt import estimators
from indefinite_opt.estimators.training_data import MEMORY

RANDOM = np.random.default_rng(3)
X, NEW = RANDOM.normal(size=(24, 2)), RANDOM.normal(size=(9, 2))
OTHER = RANDOM.normal(size=(30, 3))
LABELS = np.where(X[:, 0] > 0.0, 1, 0)
OTHER_LABELS = np.array(["a", "b", "c"])[np.argmax(OTHER, axis=1)]

PARAMETERS: dict[str, dict[str, Any]] = {
    "IndefiniteSVC": {"probability": True},
    "IndefiniteSVCCV": {"Cs": [0.1, 1.0], "cv": 2},
}
"""Parameters with which a fit has all of its stages; the other classes keep their defaults."""

NAMES = sorted(estimators.__all__)
FOLDER = str(Path(estimators.__file__).parent)


def made(name: str) -> Any:
    return getattr(estimators, name)(**PARAMETERS.get(name, {}))


def data(estimator: Any, points: Any, new: Any) -> tuple[Any, Any]:
    """Points to fit and new ones, or their inner products for steps that take a matrix."""
    if isinstance(estimator, iopt.SpectrumTransformer):
        return points @ points.T, new @ points.T
    return points, new


def answers(estimator: Any, new: Any) -> Any:
    """All that the estimator says of new points."""
    if not is_classifier(estimator):
        return estimator.transform(new).tolist()
    said = estimator.classes_.tolist(), estimator.predict(new).tolist()
    return *said, estimator.decision_function(new).tolist()


class InterruptAt:
    """Ctrl-C at one line that is executed in the folder of the estimators; else lines are counted.

    Python raises KeyboardInterrupt between two instructions, which a trace function can do, too.
    """

    def __init__(self, line: int | None = None) -> None:
        self.line, self.lines = line, 0

    def __enter__(self) -> InterruptAt:
        self._before = sys.gettrace()
        sys.settrace(self._enter)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(self._before)

    def _enter(self, frame: Any, event: str, argument: Any) -> Any:
        return self._count if frame.f_code.co_filename.startswith(FOLDER) else None

    def _count(self, frame: Any, event: str, argument: Any) -> Any:
        if event == "line":
            self.lines += 1
            if self.lines == self.line:
                raise KeyboardInterrupt
        return self._count


@pytest.mark.parametrize("name", NAMES)
def test_bad_input_leaves_the_old_model(name: str) -> None:
    estimator = made(name)
    points, new = data(estimator, X, NEW)
    estimator.fit(points, LABELS)
    before, stored = answers(estimator, new), pickle.dumps(estimator)
    bad = np.array(data(estimator, OTHER, NEW @ np.eye(2, 3))[0])
    bad[-1, -1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        estimator.fit(bad, OTHER_LABELS)
    assert answers(estimator, new) == before
    assert pickle.dumps(estimator) == stored
    if is_classifier(estimator):
        for labels in (np.full(30, "a"), OTHER[:, 0]):
            with pytest.raises(ValueError, match=r"one class|continuous"):
                estimator.fit(OTHER, labels)
        assert answers(estimator, new) == before
        assert pickle.dumps(estimator) == stored


@pytest.mark.parametrize("name", NAMES)
def test_ctrl_c_anywhere_leaves_one_whole_model(name: str) -> None:
    estimator = made(name)
    points, new = data(estimator, X, NEW)
    others, other_new = data(estimator, OTHER, NEW @ np.eye(2, 3))
    after = answers(made(name).fit(others, OTHER_LABELS), other_new)
    before, stored = answers(estimator.fit(points, LABELS), new), pickle.dumps(estimator)
    with InterruptAt() as counted:
        estimator.fit(others, OTHER_LABELS)
    assert counted.lines > 5
    last = counted.lines
    ends = {*range(1, 6), *range(last - 5, last + 1)}
    for line in sorted({*ends, *np.linspace(6, last, 6, dtype=int).tolist()}):
        estimator = pickle.loads(stored)
        with pytest.raises(KeyboardInterrupt), InterruptAt(line):
            estimator.fit(others, OTHER_LABELS)
        if line == last:  # all is done but the return
            assert answers(estimator, other_new) == after
        else:
            assert answers(estimator, new) == before
            assert pickle.dumps(estimator) == pickle.dumps(pickle.loads(stored))


@pytest.mark.parametrize("name", NAMES)
def test_a_first_fit_that_is_interrupted_leaves_nothing(name: str) -> None:
    points, new = data(made(name), X, NEW)
    estimator = made(name)
    MEMORY.clear()  # a kernel that is found again takes fewer lines
    with InterruptAt() as counted:
        estimator.fit(points, LABELS)
    for line in np.linspace(1, counted.lines - 1, 8, dtype=int).tolist():
        estimator = made(name)
        MEMORY.clear()
        with pytest.raises(KeyboardInterrupt), InterruptAt(line):
            estimator.fit(points, LABELS)
        assert vars(estimator) == vars(made(name))
        with pytest.raises(NotFittedError):
            estimator.predict(new) if is_classifier(estimator) else estimator.transform(new)


def test_a_fit_removes_what_only_the_fit_before_had() -> None:
    classifier = iopt.IndefiniteSVC(probability=True).fit(X, LABELS)
    classifier.predict_proba(NEW)
    classifier.set_params(probability=False, kernel="precomputed").fit(X @ X.T, LABELS)
    assert not hasattr(classifier, "support_vectors_")
    assert not hasattr(classifier, "_calibration")


def test_fits_with_one_generator_draw_different_numbers() -> None:
    generator = np.random.RandomState(0)
    classifier = iopt.KernelClassifier(random_state=generator).fit(X, LABELS)
    state = generator.get_state()[2]
    classifier.fit(X, LABELS)
    assert classifier.random_state is generator
    assert generator.get_state()[2] != state
