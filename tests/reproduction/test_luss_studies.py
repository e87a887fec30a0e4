"""Studies of Luss & d'Aspremont (2007), on bundled digits and, where it is at hand, their data."""

from __future__ import annotations

import numpy as np
import pytest

from indefinite_opt.studies import Computation, Data, RepeatedSplit
from reproduction.comparison import Reproduction, reproduce
from reproduction.declaration import find
from reproduction.luss import METHODS, PARAMETERS, draw_figure_1, gaps, triangle

TRAIN, ITERATIONS = 180, 100
"""Half of the bundled digits 3 and 5, and enough iterations for the order of the methods."""


def quick(name: str) -> Reproduction:
    return reproduce(name, find(name)[name], quick=True)


def test_figure_1_has_the_order_of_the_paper() -> None:
    """Both methods start from one gap, and ACCPM ends with the smaller one."""
    digits = Data("digits-3-5")
    common = {"data": digits, "train": TRAIN, "iterations": ITERATIONS, "seed": 0, **PARAMETERS}
    settings = {name: {**common, "solver": solver} for name, (solver, _) in METHODS.items()}
    outcome = Computation(gaps, settings).run()
    curves = {row["setting"]: row["gaps"] for row in outcome.rows}
    (division,) = RepeatedSplit(TRAIN, 1, 0, stratified=False).divisions(digits.y)
    positive = int(np.sum(digits.y[division.train] > 0))
    # At zero the slope is -e, so that the best weights of the linearisation are C = 10 for each
    # point of the smaller class and as many of the larger one.
    for curve in curves.values():
        assert curve[0] == pytest.approx(20.0 * min(positive, TRAIN - positive), rel=1e-6)
        assert np.all(np.diff(curve) <= 1e-9 * curve[0])
    assert curves["ACCPM, printed"][-1] < 0.1 * curves["projected gradient, printed"][-1]
    assert curves["ACCPM, with a proximal term"][-1] < 1e-7
    panels = draw_figure_1({"gaps": outcome}).axes
    assert [len(ax.lines) for ax in panels] == [6, 6]


def test_the_kernel_of_the_EP_rows_is_a_triangle_of_the_distance() -> None:
    """1 - γd for γd < 1, and 0 beyond."""
    X = np.array([[0.0, 0.0], [0.3, 0.4], [3.0, 4.0]])
    np.testing.assert_allclose(triangle(X[:1], X, gamma=1.2), [[1.0, 0.4, 0.0]])


@pytest.mark.slow
@pytest.mark.usefixtures("data_dir")
def test_table_1_has_the_printed_eigenvalues_of_liver() -> None:
    """-1.38e-15, rounding, and 3.74, which varies by 0.15 from one division to another."""
    reproduction = quick("luss-table-1")
    ours = {
        column: reproduction.compared["Liver-EP", column].ours
        for column in ("# Train", "# Test", "λmin", "λmax")
    }
    values = {column: one.value for column, one in ours.items() if one is not None}
    assert values["# Train"] == 276
    assert values["# Test"] == 69
    assert abs(values["λmin"]) < 1e-13
    assert values["λmax"] == pytest.approx(3.74, abs=0.45)


@pytest.mark.slow
@pytest.mark.usefixtures("data_dir")
def test_table_2_has_the_printed_accuracies_of_liver() -> None:
    """Within two standard deviations of a share of 69 test points, 5.8 points each."""
    reproduction = quick("luss-table-2")
    assert reproduction.failed == 0
    found = [one for one in reproduction.compared.values() if one.row == "Liver-EP accuracy"]
    assert len(found) == 5
    for one in found:
        assert one.ours is not None
        assert one.ours.value == pytest.approx(one.fact.value, abs=2 * 5.8)
