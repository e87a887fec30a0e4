"""The studies of Loosli, Ong & Canu (2013): quick runs, and what they say of the paper's text."""

from __future__ import annotations

import numpy as np
import pytest

from reproduction.comparison import Reproduction, reproduce
from reproduction.declaration import PaperStudy, find
from reproduction.loosli import (
    BOARD_KERNEL,
    TWO_POINTS,
    TWO_POINTS_BOUND,
    board,
    errors,
    region,
    solutions,
)


def study(item: str) -> PaperStudy:
    (found,) = find(f"loosli-{item}").values()
    return found


def quick(item: str) -> Reproduction:
    made = reproduce(f"loosli-{item}", study(item), quick=True)
    assert not made.failed
    return made


def test_esvm_stabilises_where_libsvm_minimises() -> None:
    """On two points both have closed forms: ±1/|λ| with λ = k₁₁ - k₁₂ if k₁₁ = k₂₂, and C."""
    twin = ((1.0, 0.0), (-1.0, 0.0))
    found, eigenvalue = solutions(twin), np.tanh(-1.0 + 1.0) - np.tanh(1.0 + 1.0)
    assert found["ESVM"]["coef"] == pytest.approx([1.0 / eigenvalue, -1.0 / eigenvalue])
    assert found["LIBSVM"]["coef"] == pytest.approx([TWO_POINTS_BOUND, -TWO_POINTS_BOUND])
    found = solutions(TWO_POINTS)
    least, largest = np.linalg.eigvalsh(found["K"])
    assert least < 0.0 < largest
    right = {
        name: np.sign(found["K"] @ found[name]["coef"] + found[name]["offset"]) * [1, -1]
        for name in ("ESVM", "LIBSVM")
    }
    assert np.all(right["ESVM"] == 1.0)
    assert np.any(right["LIBSVM"] == -1.0)


@pytest.mark.parametrize("item", ["figure-1", "figure-2"])
def test_generated_data_need_no_folder(item: str) -> None:
    made = quick(item)
    assert made.study.draw is not None
    assert made.study.draw(made.outcomes).axes


def test_few_eigenvectors_suffice() -> None:
    # Section 6.2.1: the error is stable once the meaningful eigenvalues are used.
    rows = errors(120, (1, 20, 120))
    assert rows[-1]["share"] == pytest.approx(1.0)
    assert rows[0]["test"] > rows[1]["test"] + 0.1
    assert rows[1]["test"] == pytest.approx(rows[2]["test"], abs=0.05)


def test_truncated_spectrum_loses_what_esvm_uses() -> None:
    """Section 6.2.2: correcting the kernel loses information."""
    assert board(150).spectrum.minimum < -30.0, BOARD_KERNEL
    esvm, clipped = (region(name, 150)["test_error"] for name in ("ESVM", "Trunc eigs"))
    assert esvm < 0.25 < clipped


@pytest.mark.slow
@pytest.mark.usefixtures("data_dir")
def test_tables_on_the_data_of_the_paper() -> None:
    made = quick("table-2")
    eigenvalues = {row: made.compared[row, "min eig"] for row in ("Sonar", "Heart")}
    assert all(one.distance <= 1.0 for one in eigenvalues.values())
    for method in ("ESVM", "ESVM-L", "LP SVM", "RVM"):
        assert made.compared["Heart", method].reproduced
    assert quick("table-3").compared["Protein,2vs2", "min eig"].distance == 0.0


def test_lost_data_are_said() -> None:
    table = study("table-3")
    noted = {row: table.note(row, "ESVM") for row in table.numbers.rows}
    kinds = {row: note.kind for row, note in noted.items() if note}
    lost = {row for row, kind in kinds.items() if kind == "missing"}
    assert lost == {"NewsGroups,2vs2", "PolyDisH57"}
    assert {row for row, kind in kinds.items() if kind == "stand_ins"} == {
        "Balls3D", "CatCortex,2vs1", "CoilYork,2vs2", "GaussM1 linear", "GaussM02"
    }  # fmt: skip
