"""Landscapes: contours have the declared objective, borders are those of the feasible set."""

from __future__ import annotations

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.problems import heptagon, three_points
from indefinite_opt import figures
from indefinite_opt.errors import ParameterError
from indefinite_opt.figures.plane import Plane, clipped
from indefinite_opt.figures.surface import program_of


def test_the_feasible_part_of_a_polygon_is_the_polygon() -> None:
    _, program = program_of(heptagon(), None)
    corners = Plane.of(program, []).polygon()
    assert len(corners) == 7
    radii = np.linalg.norm(corners, axis=1)
    np.testing.assert_allclose(radii, 1.0 / np.cos(np.pi / 7.0), rtol=1e-12)


def test_three_weights_on_a_line_have_two_dimensions() -> None:
    """yᵀα = 0 with y = (1, 1, -1) and 0 ≤ α ≤ 2: the triangle α₁, α₂ ≥ 0, α₁ + α₂ ≤ 2."""
    problem = three_points()
    _, program = program_of(problem, "SVMDual(C=2)")
    plane = Plane.of(program, [])
    assert (plane.labels, plane.whole) == (("α₁", "α₂"), True)
    corners = plane.polygon()
    expected = [[0.0, 0.0], [0.0, 2.0], [2.0, 0.0]]
    order = np.lexsort(corners.round(9).T[::-1])
    np.testing.assert_allclose(corners[order], expected, atol=1e-12)
    first, second = np.array([0.3, 0.4]), np.array([0.1, 0.7, 0.9])
    found = plane.values(first, second)
    for i, v in enumerate(second):
        for j, u in enumerate(first):
            alpha = np.array([u, v, u + v])
            signed = problem.y * alpha
            value = alpha.sum() - 0.5 * signed @ problem.K @ signed
            assert found[i, j] == pytest.approx(value, rel=1e-12)
            np.testing.assert_allclose(plane.place(alpha), [u, v])


@pytest.mark.parametrize("formulation", ["LussDual(C=1, rho=0.3)", "ConvexHullDual(mu=1)"])
def test_values_are_those_of_the_declared_problem(formulation: str) -> None:
    problem = iopt.KernelProblem(np.diag([2.0, -1.0, 0.5, 1.0]) + 0.1, [1, 1, -1, -1])
    dual, program = program_of(problem, formulation)
    points = [program.feasible.random_point(np.random.default_rng(seed)) for seed in range(3)]
    plane = Plane.of(program, points, points)
    s = plane.place(np.array(points))
    for place, x in zip(s, points, strict=True):
        value = plane.values(place[:1], place[1:])[0, 0]
        certificate = iopt.verify(problem, dual, program.values(x), time_limit=5)  # type: ignore[arg-type]
        assert value == pytest.approx(certificate.objective, rel=1e-9)
        np.testing.assert_allclose(plane.origin + plane.steps @ place, x, atol=1e-12)


def test_a_polygon_is_cut_by_a_half_plane() -> None:
    square = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])
    triangle = clipped(square, np.array([1.0, 1.0]), 1.0)
    np.testing.assert_allclose(triangle[np.lexsort(triangle.T[::-1])], [[0, 0], [0, 1], [1, 0]])
    assert len(clipped(square, np.array([1.0, 0.0]), -1.0)) == 0


def test_marks_stand_where_the_points_are() -> None:
    qp = heptagon()
    result = iopt.solve(qp, record=True, seed=0)
    bracket = iopt.bound(qp)
    wrong = iopt.verify(qp, None, {"x": [0.0, 1.4]})
    ax = figures.landscape(qp, None, [result, bracket, wrong]).axes[0]
    drawn = {line.get_label(): line for line in ax.lines}
    assert {"steps", "start", "NONE"} <= set(drawn)
    np.testing.assert_allclose(drawn["NONE"].get_xydata(), [[0.0, 1.4]])
    np.testing.assert_allclose(
        drawn["best point of the bracket"].get_xydata()[0], bracket.values["x"]
    )
    path = [each.values["x"] for each in result.trace.iterates if each.step != "best end"]
    np.testing.assert_allclose(drawn["steps"].get_xydata(), path)
    # A local optimum is a corner of the heptagon.
    assert np.linalg.norm(path[-1]) == pytest.approx(1.0 / np.cos(np.pi / 7.0), rel=1e-9)


def test_a_plane_goes_through_its_three_points() -> None:
    problem = iopt.KernelProblem.from_dataset(iopt.datasets.haasdonk_figure3())
    result = iopt.solve(problem, "SVMDual(C=10)", record=True, seed=0)
    figure = figures.landscape(problem, "SVMDual(C=10)", result, resolution=31)
    labels = [text.get_text() for text in figure.axes[0].texts]
    assert {"0.8205", "0.6667"} <= set(labels)
    steps = next(line for line in figure.axes[0].lines if line.get_label() == "steps")
    assert len(steps.get_xdata()) >= 2


def test_a_line_of_feasible_points_is_drawn_on_the_box() -> None:
    problem = iopt.KernelProblem([[1.0, 0.5], [0.5, -3.0]], [1, -1])
    ax = figures.landscape(problem, "SVMDual(C=1)").axes[0]
    line = next(drawn for drawn in ax.lines if drawn.get_label() == "feasible")
    xy = line.get_xydata()
    np.testing.assert_allclose(xy[:, 0], xy[:, 1], atol=1e-12)
    assert (xy.min(), xy.max()) == pytest.approx((0.0, 1.0))


def test_unusable_arguments() -> None:
    problem = iopt.KernelProblem.from_dataset(iopt.datasets.haasdonk_figure3())
    with pytest.raises(ParameterError, match="plane: expected three points"):
        figures.landscape(problem, "SVMDual(C=10)")
    with pytest.raises(ParameterError, match="plane: expected three points, got 2"):
        figures.landscape(problem, "SVMDual(C=10)", plane=[np.zeros(20)] * 2)
    with pytest.raises(ParameterError, match=r"plane: .*line"):
        figures.landscape(problem, "SVMDual(C=10)", plane=[k * np.ones(20) for k in range(3)])
    with pytest.raises(ParameterError, match="single variable"):
        figures.landscape(problem, "LPSVM")
    with pytest.raises(ParameterError, match="results"):
        figures.landscape(heptagon(), None, "x")
    with pytest.raises(ParameterError, match="resolution"):
        figures.landscape(heptagon(), resolution=1)
