"""The figure of a result says something for every solver."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

import indefinite_opt as iopt
from indefinite_opt import figures
from indefinite_opt.errors import ParameterError
from indefinite_opt.figures.points import draw_points


def figure_3() -> iopt.KernelProblem:
    return iopt.KernelProblem.from_dataset(iopt.datasets.haasdonk_figure3())


def test_ends_of_descents_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """In intervals if they are many."""
    result = iopt.solve(figure_3(), "SVMDual(C=10)", seed=0, prove=60)
    ax = result.plot().axes[0]
    ends = next(line for line in ax.lines if line.get_label() == "ends of descents")
    # Haasdonk (2005), Figure 3: the optima are 2/3 and 32/39.
    np.testing.assert_allclose(np.sort(ends.get_xdata()), [2 / 3, 32 / 39], rtol=1e-6)
    counts = [end.count for end in result.optima]
    np.testing.assert_array_equal(ends.get_ydata(), counts)
    marks = {line.get_label(): line.get_xdata()[0] for line in ax.lines}
    assert marks["GLOBAL, 0.820513"] == pytest.approx(32 / 39)
    assert marks["proved bound"] >= 32 / 39 - 1e-12
    monkeypatch.setattr("indefinite_opt.figures.result.MOST_BARS", 1)
    bars = result.plot().axes[0].patches
    assert sum(bar.get_height() for bar in bars) == sum(counts)


def test_a_solver_that_reports_seldom_shows_its_values() -> None:
    problem = figure_3()
    result = iopt.solve(problem, "SVMDual(C=10)", solver="smo")
    ax = result.plot().axes[0]
    heights = [bar.get_height() for bar in ax.patches]
    np.testing.assert_allclose(np.sort(heights), np.sort(result.values["alpha"]))
    assert ax.get_legend_handles_labels()[1] == ["class 1", "class -1"]
    # Labels -1 and 1 may stand for others, as those of the option --positive do.
    problem.meanings = {"-1": "1", "1": "0"}
    assert result.plot().axes[0].get_legend_handles_labels()[1] == ["class 0", "class 1"]
    points = Figure().add_subplot()
    draw_points(points, problem)
    assert points.get_legend_handles_labels()[1] == ["class 1", "class 0"]


def test_recorded_steps_and_reports_are_curves() -> None:
    recorded = iopt.solve(figure_3(), "SVMDual(C=0.1)", solver="smo", record=True)
    cuts = iopt.solve(figure_3(), "LussDual(C=1, rho=0.1)", solver="accpm")
    for result in (recorded, cuts):
        line = result.plot().axes[0].lines[0]
        assert np.isfinite(line.get_ydata()).sum() >= 3


def test_spectra_of_several_kernels_share_a_panel() -> None:
    problem = iopt.KernelProblem(np.diag([4.0, 1.0, -2.0, 0.05]), [1, 1, -1, -1])
    named = {"K": problem} | {t: problem.transformed(t) for t in ("clip", "flip", "shift")}
    (ax,) = figures.spectrum_figure(named).axes
    drawn = {line.get_label(): line.get_ydata() for line in ax.lines}
    np.testing.assert_allclose(drawn["K"], [4.0, 1.0, 0.05, -2.0])
    np.testing.assert_allclose(drawn["clip"], [4.0, 1.0, 0.05, 0.0], atol=1e-12)
    np.testing.assert_allclose(drawn["flip"], [4.0, 2.0, 1.0, 0.05])
    np.testing.assert_allclose(drawn["shift"], [6.0, 3.0, 2.05, 0.0], atol=1e-12)
    with pytest.raises(ParameterError, match="at least one kernel"):
        figures.spectrum_figure({})


@pytest.mark.parametrize("least", [0.5, 1e-3, 1e-8])
def test_no_tick_of_a_spectrum_comes_near_zero(least: float) -> None:
    """Ticks are at least a twentieth of the axis apart from zero, in its own coordinates."""
    values = np.concatenate([np.geomspace(least, 900.0, 40), -np.geomspace(least, 900.0, 30)])
    problem = iopt.KernelProblem(np.diag(values), np.resize([1, -1], 70))
    ax = figures.spectrum_figure(problem).axes[0]
    ticks = np.sort(ax.get_yticks())
    places = ax.transAxes.inverted().transform(
        ax.transData.transform(np.column_stack([np.ones(ticks.size), ticks]))
    )[:, 1]
    assert np.diff(places).min() > 0.05
    assert ticks.size >= 3
