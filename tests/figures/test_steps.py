"""Frames of solvers at work: what they show is what the solver did."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import indefinite_opt as iopt
from helpers.problems import heptagon, three_points
from indefinite_opt import figures
from indefinite_opt.errors import DataError, ParameterError
from indefinite_opt.figures.tree import Boxes
from indefinite_opt.quadratic import proved_tree
from indefinite_opt.workflow import Bracket


@pytest.fixture(scope="module")
def bracket() -> Bracket:
    return iopt.bound(heptagon(), gap=1e-6)


def test_boxes_cover_the_whole_box_and_bound_what_is_in_them(bracket: Bracket) -> None:
    qp = heptagon()
    tree = proved_tree(bracket.program, bracket.proof)
    assert len(tree) >= 5
    x = np.random.default_rng(0).uniform(-1.1, 1.1, (2000, 2))
    x = x[(x @ qp.G.T <= 1.0).all(axis=1)]
    values = (-(x**2)).sum(axis=1) + x @ [0.05, 0.02]
    assert [box.parent for box in tree].index(-1) == 0
    np.testing.assert_array_equal([tree[0].lower, tree[0].upper], [[-1.5, -1.5], [1.5, 1.5]])
    filled = 0
    for k, box in enumerate(tree):
        # Small boxes near the optimum may hold none of these points.
        held = ((x >= box.lower) & (x <= box.upper)).all(axis=1)
        assert np.all(values[held] >= box.bound - 1e-9)
        filled += bool(held.any())
        parts = [each for each in tree if each.parent == k]
        assert (box.variable >= 0) == bool(parts)
        if parts:
            covered = [((x >= p.lower) & (x <= p.upper)).all(axis=1) for p in parts]
            kept = ((x >= box.left[0]) & (x <= box.left[1])).all(axis=1)  # type: ignore[index]
            assert np.any(covered, axis=0)[kept].all()
    assert filled >= 5
    leaves = [box.bound for box in tree if box.variable < 0 and box.left is not None]
    assert min(leaves) == pytest.approx(bracket.lower, rel=1e-9)


def test_boxes_are_taken_by_their_bounds(bracket: Bracket) -> None:
    boxes = Boxes.of(bracket)
    assert sorted(boxes.order) == list(range(len(boxes.tree)))
    ends = [boxes.ends(k)[0] for k in range(1, len(boxes.tree) + 1)]
    assert ends == sorted(ends)
    assert boxes.ends(len(boxes.tree)) == (pytest.approx(bracket.lower, rel=1e-6), 0)
    taken = [boxes.tree[boxes.tree[k].parent].bound for k in boxes.order[1:]]
    for k, bound in enumerate(taken):
        done = set(boxes.order[: k + 1])
        waiting = [
            boxes.tree[box.parent].bound
            for j, box in enumerate(boxes.tree)
            if box.parent in done and j not in done
        ]
        assert bound == min(waiting)


def test_the_tree_stands_at_its_bounds(bracket: Bracket) -> None:
    ax = figures.tree_figure(bracket).axes[0]
    marks = [line for line in ax.lines if line.get_marker() not in ("None", None, "")]
    heights = np.concatenate([line.get_ydata() for line in marks])
    np.testing.assert_allclose(np.sort(heights), np.sort(Boxes.of(bracket).bounds))
    best = next(line for line in ax.lines if line.get_label() == "best point")
    assert best.get_ydata()[0] == pytest.approx(bracket.objective)


def test_the_frames_of_a_bracket(bracket: Bracket) -> None:
    work = figures.step_by_step(bracket)
    assert len(work.frames) == len(work.captions) == len(Boxes.of(bracket).tree)
    assert re.match(r"Box 1: bound -\d.*, divided along x[₁₂]; 2 boxes wait; ", work.captions[0])
    turns = (2.0 * np.arange(7) + 1.0) * np.pi / 7.0
    corners = np.column_stack([np.cos(turns), np.sin(turns)]) / np.cos(np.pi / 7.0)
    best = min(-float(x @ x) + x @ [0.05, 0.02] for x in corners)
    assert work.captions[-1].endswith(f"optimal value ≤ {best:.6g}")
    assert isinstance(work.frames[2], Figure)
    assert work.frames[2] is not work.frames[2]  # drawn on demand
    assert len(work.frames[1:3]) == 2


def test_the_steps_of_smo_on_two_dimensions_are_its_path() -> None:
    problem = three_points()
    result = iopt.solve(problem, "SVMDual(C=2)", solver="smo", record=True)
    work = figures.step_by_step(result)
    left, right = work.frames[-1].axes
    steps = next(line for line in left.lines if line.get_label() == "steps")
    np.testing.assert_allclose(steps.get_xydata()[-1], result.values["alpha"][:2], atol=1e-12)
    assert right.lines[-1].get_ydata()[0] == pytest.approx(result.objective)
    assert work.captions[0] == "Start: objective 0"
    assert all(re.match(r"Step \d+, pair step: α. and α. move", text) for text in work.captions[1:])


def test_more_weights_are_bars_and_those_that_move_stand_out() -> None:
    problem = iopt.KernelProblem.from_dataset(iopt.datasets.haasdonk_figure3())
    result = iopt.solve(problem, "SVMDual(C=10)", solver="smo", record=True)
    work = figures.step_by_step(result)
    ax = work.frames[1].axes[0]
    heights = np.array([bar.get_height() for bar in ax.patches[:20]])
    np.testing.assert_allclose(heights, result.trace.iterates[1].values["alpha"])
    colors = [bar.get_facecolor() for bar in ax.patches[:20]]
    assert len({*colors}) == 2
    moved = [color for color in colors if color != colors[int(np.argmin(heights))]]
    assert len(moved) == 2


@pytest.mark.slow
def test_the_shaded_side_of_a_cut_has_no_better_point() -> None:
    problem = three_points()
    result = iopt.solve(problem, "LussDual(C=1, rho=0.05)", solver="accpm", record=True)
    work = figures.step_by_step(result, most=6)
    assert len(work.frames) == 6
    assert work.captions[0].startswith("Cut 1: the best centre so far has objective")
    labels = work.frames[1].axes[0].get_legend_handles_labels()[1]
    assert labels == ["centre", "cut off now", "cut off before"]
    gaps = [float(text.split("the gap ")[1].split(";")[0]) for text in work.captions]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 1e-4
    assert "enlarged" in work.captions[-1]
    best, bound = work.frames[-1].axes[1].lines[2:4]
    assert best.get_ydata()[-1] == pytest.approx(result.objective, rel=1e-6)
    assert bound.get_ydata()[-1] >= best.get_ydata()[-1] - 1e-12


def test_the_legend_of_cuts_has_the_colours_of_the_picture() -> None:
    """Opaque ones, which nothing below them changes."""
    result = iopt.solve(three_points(), "LussDual(C=1, rho=0.05)", solver="accpm", record=True)
    ax = figures.step_by_step(result, most=6).frames[1].axes[0]
    handles, labels = ax.get_legend_handles_labels()
    legend = {tuple(each.get_facecolor()) for each in handles[labels.index("cut off now") :]}
    filled = [each.get_facecolor() for each in ax.collections if each.get_zorder() == 2]
    shaded = {tuple(colors[0].tolist()) for colors in filled if len(colors)}
    assert len(legend) == 2
    assert {color[3] for color in legend} == {1.0}
    assert legend <= shaded


@pytest.mark.parametrize("solver", ["newton-cg", "active-set", "multistart"])
def test_other_solvers_have_frames_too(solver: str) -> None:
    problem = three_points()
    name = {"newton-cg": "KernelLogistic", "active-set": "KSVM"}.get(solver, "SVMDual(C=2)")
    work = figures.step_by_step(iopt.solve(problem, name, solver=solver, record=True))
    assert work.frames[-1].axes[1].get_ylabel() == "objective"


def test_a_slider_without_scripts_of_others(tmp_path: Path) -> None:
    result = iopt.solve(three_points(), "SVMDual(C=2)", solver="smo", record=True)
    work = figures.step_by_step(result, most=2)
    work.frames = [Figure((1.0, 1.0)), Figure((1.0, 1.0))]
    text = work._repr_html_()
    assert text.count("<figure") == text.count("</figure>") == 2
    assert text.count(" hidden>") == 1
    assert 'max="1"' in text
    assert 'alt="Start: objective 0"' in text
    assert not re.search(r"(src|href)=\"(?!data:)", text)
    page = work.save(tmp_path / "work.html")
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")
    folder = work.save(tmp_path / "frames")
    assert [file.name for file in sorted(folder.iterdir())] == ["step-001.png", "step-002.png"]
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in folder.iterdir())
    with pytest.raises(DataError, match="path"):
        work.save(page / "inside")


def test_a_plane_cuts_the_boxes_of_more_variables() -> None:
    """The plane of the first two of three variables, where the whole box is a square of side 2."""
    program = iopt.QuadraticProgram(-np.eye(3), [0.1, 0.0, 0.0], lb=-1.0, ub=1.0)
    points = [np.zeros(3), np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])]
    frame = figures.step_by_step(iopt.bound(program), plane=points).frames[0]
    box = [patch.get_xy() for patch in frame.axes[1].patches if len(patch.get_xy()) > 3][-1]
    np.testing.assert_allclose(np.ptp(box, axis=0), [2.0, 2.0])


def test_a_box_that_the_search_has_left_is_open() -> None:
    """Its bound is below the best point, and a gap that was not asked for closes nothing."""
    program = heptagon()
    bracket = iopt.bound(program, gap=1e-9, max_nodes=1)
    boxes = Boxes.of(bracket)
    assert bracket.status is not iopt.Status.SOLVED
    assert boxes.kinds[int(np.argmin(boxes.bounds))] != "closed: no better point"
    assert "open" in boxes.kinds


def test_results_without_records_are_refused() -> None:
    problem = three_points()
    with pytest.raises(ParameterError, match=r"result: .*record=True"):
        figures.step_by_step(iopt.solve(problem, "SVMDual(C=2)"))
    with pytest.raises(ParameterError, match=r"bracket: .*proof"):
        figures.tree_figure(iopt.solve(problem, "SVMDual(C=2)"))
    three = iopt.KernelProblem(np.diag([1.0, -1.0, 0.5] * 4), np.repeat([0, 1, 2], 4))
    with pytest.raises(ParameterError, match=r"result\[0, 1\]"):
        figures.step_by_step(iopt.solve(three, "SVMDual(C=2)", record=True))
    with pytest.raises(ParameterError, match=r"bracket\[0, 1\]"):
        figures.tree_figure(iopt.bound(three, "SVMDual(C=2)"))
    with pytest.raises(ParameterError, match="most"):
        figures.step_by_step(iopt.solve(problem, "SVMDual(C=2)", record=True), most=1)
