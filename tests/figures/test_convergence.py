"""The convergence figure draws the gap of the trace, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.problems import random_problem
from indefinite_opt.figures.bracket import convergence_figure

PROBLEM = random_problem("sigmoid", n=40, seed=2)


def test_lines_are_the_gaps_of_the_traces() -> None:
    results = {
        name: iopt.solve(PROBLEM, "LussDual(C=1, rho=1)", solver=name)
        for name in ("accpm", "projected-gradient")
    }
    figure = convergence_figure(results)
    by_iteration, by_time = figure.axes
    for k, result in enumerate(results.values()):
        trace = result.trace
        expected = np.abs(np.array(trace.objective) - np.array(trace.bound))
        for ax, along in ((by_iteration, trace.iterations), (by_time, trace.seconds)):
            x, gap = ax.lines[k].get_data()
            np.testing.assert_array_equal(x, along)
            shown = np.isfinite(gap)
            np.testing.assert_allclose(np.asarray(gap)[shown], expected[shown], rtol=1e-12)
            assert shown[-1]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(results)
    relative = convergence_figure(results, relative=True)
    assert relative.axes[0].lines[0].get_data()[1][-1] <= 1e-6
    assert "relative" in relative.axes[0].get_ylabel()


def test_a_result_without_bounds_shows_its_residual() -> None:
    """Its name is its own, and beside gaps both are named."""
    results = {name: iopt.solve(PROBLEM, "SVMDual", solver=name) for name in ("smo", "dca")}
    figure = convergence_figure(results)
    assert figure.axes[0].get_ylabel() == "KKT residual"
    for line, result in zip(figure.axes[0].lines, results.values(), strict=True):
        shown = np.asarray(line.get_ydata(), float)
        known = np.isfinite(shown)
        np.testing.assert_array_equal(shown[known], np.array(result.trace.residual)[known])
    results["newton"] = iopt.solve(PROBLEM, "LussDual")
    both = convergence_figure(results).axes[0].get_ylabel()
    assert both == "relative gap, or KKT residual"
    with pytest.raises(iopt.errors.ParameterError, match="at least one"):
        convergence_figure({})
