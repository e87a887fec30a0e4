"""What is drawn of programs that are unbounded or infeasible."""

from __future__ import annotations

import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt import figures


def labels(figure: object) -> list[str]:
    """The entries of the legend."""
    return [text.get_text() for text in figure.axes[0].get_legend().get_texts()]  # type: ignore[attr-defined]


@pytest.mark.parametrize("bounds", [False, True])
def test_the_rows_that_contradict_have_their_weights(bounds: bool) -> None:
    """x₁ ≥ 4/5 and x₂ ≥ 3/5 leave no x₁ + x₂ ≤ 1; equal weights add up to 0 ≤ -2/5 times them."""
    rows = {"G": [[1.0, 1.0]], "h": [1.0], "lb": [0.8, 0.6]}
    if not bounds:
        rows = {"G": [[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]], "h": [1.0, -0.8, -0.6]}
    qp = iopt.QuadraticProgram(np.eye(2), [0.0, 0.0], **rows)
    with pytest.raises(iopt.errors.InfeasibleProblem) as caught:
        iopt.solve(qp)
    figure = figures.no_optimum_figure(iopt.verify(qp, caught.value))
    halves, weights = zip(*(label.split(", weight ") for label in labels(figure)), strict=True)
    assert halves == ("x₁ + x₂ ≤ 1", "x₁ ≥ 0.8", "x₂ ≥ 0.6")
    assert len({*weights}) == 1
    # The three excluded parts cover the picture.
    ax = figure.axes[0]
    grid = np.stack(np.meshgrid(*(np.linspace(*ax.get_xlim(), 40),) * 2), axis=-1).reshape(-1, 2)
    inside = [patch.get_path().contains_points(grid) for patch in ax.patches]
    assert len(inside) == 3
    seen = np.all(
        [(grid > [ax.get_xlim()[0], ax.get_ylim()[0]]).all(1),
         (grid < [ax.get_xlim()[1], ax.get_ylim()[1]]).all(1)], axis=0,
    )  # fmt: skip
    assert np.any(inside, axis=0)[seen].all()


def test_the_objective_falls_along_the_ray() -> None:
    plane = iopt.QuadraticProgram([[1.0, -2.0], [-2.0, 1.0]], [0.0, 0.0], lb=0)
    figure = figures.no_optimum_figure(iopt.verify(plane, {"ray": [1.0, 1.0]}))
    (arrow,) = figure.axes[0].texts
    np.testing.assert_allclose(np.subtract(arrow.xy, arrow.xyann), np.sqrt(2.0), rtol=1e-12)
    more = iopt.QuadraticProgram(np.diag([1.0, 1.0, -1.0]), [0.0, 0.0, 1.0], lb=0)
    figure = figures.no_optimum_figure(iopt.verify(more, {"ray": [0.0, 0.0, 2.0]}))
    (line,) = figure.axes[0].get_lines()
    lengths, values = line.get_data()
    np.testing.assert_allclose(values, lengths - 0.5 * lengths**2, atol=1e-12)


def test_weights_of_rows_in_more_variables() -> None:
    G = [[1.0, 1.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]
    qp = iopt.QuadraticProgram(np.eye(3), np.zeros(3), G=G, h=[1.0, -0.8, -0.6], lb=[-1, -1, 0])
    figure = figures.no_optimum_figure(iopt.verify(qp, {"conflict": {"inequalities": [1, 1, 1]}}))
    assert labels(figure) == ["upper ends"]
    assert "contradict" in figure.axes[0].get_legend().get_title().get_text()
    heights = [bar.get_height() for bar in figure.axes[0].patches]
    np.testing.assert_allclose(heights, heights[0])


def test_nothing_is_drawn_that_is_not_proved() -> None:
    qp = iopt.QuadraticProgram(np.eye(2), [0.0, 0.0])
    proof = iopt.verify(qp, {"ray": [1.0, 0.0]})
    with pytest.raises(iopt.errors.ParameterError, match="NOT PROVED"):
        figures.no_optimum_figure(proof)
    with pytest.raises(iopt.errors.ParameterError, match=r"iopt\.verify\(problem, error\)"):
        figures.no_optimum_figure(iopt.errors.UnboundedProblem("endless"))  # type: ignore[arg-type]
