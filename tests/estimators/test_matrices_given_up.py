"""A fit to points gives up its kernel matrix when it ends, before a garbage collection."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification

import indefinite_opt as iopt
from indefinite_opt.quadratic import Certificate


@pytest.fixture
def _no_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize(
    "machine",
    [
        iopt.IndefiniteSVC(),
        iopt.IndefiniteSVC(kernel="sigmoid"),
        iopt.IndefiniteSVC(kernel="sigmoid", max_iter=50),
        iopt.KernelClassifier(kernel="rbf"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*max_iter")
@pytest.mark.usefixtures("_no_collection")
def test_no_matrix_outlives_a_fit(machine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_classification(700, 4, random_state=0)
    form, formed = type(machine)._gram_to_fit, []

    def noted(self: Any, training: Any) -> Any:
        gram = form(self, training)
        formed.append(weakref.ref(gram))
        return gram

    monkeypatch.setattr(type(machine), "_gram_to_fit", noted)
    machine.fit(X, y)
    assert len(formed) == 1
    assert formed[0]() is None
    assert isinstance(machine.certificate_, Certificate)
    assert np.mean(machine.predict(X) == y) > 0.7
