"""The studies of Lin & Lin (2003): their quick runs, and what their contours are made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from indefinite_opt import datasets
from indefinite_opt.studies import ComputationOutcome, Data
from reproduction.comparison import reproduce
from reproduction.declaration import find
from reproduction.lin_lin import accuracies

BOARD = "checkerboard(n=40, cells=2)"


def libsvm_accuracy(C: float, **kernel: Any) -> float:
    """Five-fold cross-validation by scikit-learn alone, in percent."""
    board = datasets.load(BOARD)
    X, y = np.asarray(board.X), board.y
    folds = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
    hits = [
        np.sum(SVC(C=C, **kernel).fit(X[train], y[train]).predict(X[test]) == y[test])
        for train, test in folds
    ]
    return 100.0 * float(np.sum(hits)) / len(y)


def test_contours_are_cross_validation() -> None:
    found = accuracies(Data(BOARD), "gaussian(gamma=4)", (1.0, 50.0))["accuracy"]
    assert found == pytest.approx(
        [libsvm_accuracy(1.0, gamma=4.0), libsvm_accuracy(50.0, gamma=4.0)]
    )


def test_exponential_kernel_of_17_is_the_limit_of_the_sigmoid() -> None:
    # Theorem 8: with C = C̃/(1 + tanh r), the decision values for r → -∞ are those of (17).
    limit = accuracies(Data(BOARD), "exponential 0.7", (1.0, 20.0))["accuracy"]
    shares = 1.0 + np.tanh(-6.0)
    near = accuracies(Data(BOARD), "sigmoid(a=0.7, r=-6)", (1.0 / shares, 20.0 / shares))
    assert near["accuracy"] == pytest.approx(limit)


def test_random_starts_find_the_optimum_of_a_convex_program() -> None:
    from_zero = accuracies(Data(BOARD), "gaussian(gamma=4)", (50.0,))
    assert accuracies(Data(BOARD), "gaussian(gamma=4)", (50.0,), starts=2) == from_zero


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cells that the studies share."""
    return tmp_path_factory.mktemp("cells") / "cells.jsonl"


@pytest.mark.slow
@pytest.mark.usefixtures("data_dir")
@pytest.mark.parametrize("name", ["lin-lin-table-1", "lin-lin-table-2", "lin-lin-figure-5"])
def test_quick_run(name: str, store: Path) -> None:
    (study,) = find(name).values()
    made = reproduce(name, study, quick=True, store=store)
    assert not made.failed
    assert made.tally.reproduced == made.tally.at_hand
    if study.draw is not None:
        assert len(study.draw(made.outcomes).axes) == 2


@pytest.mark.slow
@pytest.mark.usefixtures("data_dir")
def test_linear_constraint_matters_for_small_r() -> None:
    # Section 5: without the constraint the good regions shift to r ≥ 0.
    (study,) = find("lin-lin-figure-2").values()
    made = reproduce("lin-lin-figure-2", study, quick=True)
    heart = made.outcomes["heart"]
    assert isinstance(heart, ComputationOutcome)
    best = {name: max(rows[0]["accuracy"]) for name, rows in heart.settings.items()}
    assert best["heart; (2); -2.0"] > 80.0
    assert best["heart; (19), without yᵀα = 0; -2.0"] < 60.0
    assert best["heart; (19), without yᵀα = 0; 0.0"] > 80.0


def test_table_2_has_the_cells_of_table_1_and_long_ones_wait_for_a_request() -> None:
    first, second = (find(f"lin-lin-table-{k}")[f"lin-lin-table-{k}"] for k in (1, 2))
    assert first.experiments is second.experiments
    assert set(first.long) <= set(first.experiments(False))
    assert not set(first.long) & set(first.experiments(True))
