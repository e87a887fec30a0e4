"""Figures: what is drawn are the numbers of the comparison, and no text covers another."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import indefinite_opt as iopt
from helpers.comparisons import NAN, hand_made, hand_made_bracket
from helpers.problems import random_problem
from indefinite_opt import figures
from indefinite_opt.figures import regions
from indefinite_opt.figures.bracket import convergence_figure
from indefinite_opt.figures.style import VERMILLION

INF = float("inf")


def line(ax: matplotlib.axes.Axes, label: str) -> matplotlib.lines.Line2D:
    (found,) = [drawn for drawn in ax.lines if drawn.get_label() == label]
    return found


def overlaps(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of visible texts of which one covers a part of the other."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    hidden = set()
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            hidden |= {tick.label1 for tick in ticks if not low <= tick.get_loc() <= high}
    boxes = [
        (text.get_text(), text.get_window_extent(renderer).padded(-1.0))
        for text in figure.findobj(matplotlib.text.Text)
        if text.get_visible() and text.get_text() and text not in hidden
    ]
    return [
        (first, second)
        for i, (first, box) in enumerate(boxes)
        for second, other in boxes[i + 1 :]
        if first != second and box.overlaps(other)
    ]


# ------------------------------------------------------------------------------------- spectrum


def test_spectrum_shows_every_eigenvalue_by_sign_and_the_inertia() -> None:
    problem = iopt.KernelProblem(np.diag([5.0, 2.0, 0.5, 0.0, -0.25, -4.0]), [1, 1, 1, 2, 2, 2])
    plain, centered = figures.spectrum_figure(problem).axes
    P = np.eye(6) - 1.0 / 6.0
    values = np.linalg.eigvalsh(P @ problem.K @ P)
    for ax, expected in ((plain, [5.0, 2.0, 0.5, -0.25, -4.0, 0.0]), (centered, values)):
        drawn = np.concatenate([part.get_ydata() for part in ax.lines[:2]])
        kept = np.asarray(expected)[np.abs(expected) > 1e-12]
        np.testing.assert_allclose(np.sort(drawn), np.sort(kept), rtol=1e-9)
        assert all(part.get_xdata()[0] == 1 for part in ax.lines[:2])
    names = [t.get_text() for t in plain.get_legend().get_texts()]
    assert names == ["3 positive", "2 negative", "1 zero"]
    p, q = problem.signature
    assert f"({p}, {q})" in centered.get_legend().get_title().get_text()
    assert plain.get_yscale() == "symlog"


@pytest.mark.parametrize("diagonal", [[-1.0, -2.0, -3.0], [0.0, 0.0, 0.0]])
def test_spectrum_of_one_sign_or_none(diagonal: list[float]) -> None:
    figure = figures.spectrum_figure(iopt.KernelProblem(np.diag(diagonal), [1, 1, 2]))
    drawn = sum(part.get_ydata().size for part in figure.axes[0].lines[:2])
    assert drawn == np.count_nonzero(diagonal)
    assert overlaps(figure) == []


# ----------------------------------------------------------------------------------- comparison


@pytest.fixture(scope="module")
def compared() -> Figure:
    return figures.comparison_figure(hand_made())


def test_accuracy_draws_means_spreads_folds_and_the_larger_class(compared: Figure) -> None:
    ax = compared.axes[0]
    mean = line(ax, "mean")
    np.testing.assert_array_equal(mean.get_xdata(), [87.5, 50.0, 50.0, 87.5, NAN])
    np.testing.assert_array_equal(mean.get_ydata(), range(5))
    assert sorted(line(ax, "each fold").get_xdata()) == [50, 50, 50, 75, 87.5, 87.5, 100]
    (container,) = ax.containers
    first_bar = container.lines[2][0].get_segments()[0]
    np.testing.assert_array_equal(first_bar, [[75.0, 0.0], [100.0, 0.0]])
    assert [t.get_text() for t in ax.texts] == ["larger class 75.0 %"]
    assert ax.yaxis_inverted()


def test_failures_are_told_in_the_row_label(compared: Figure) -> None:
    labels = compared.axes[0].get_yticklabels()
    assert [label.get_text() for label in (labels[0], labels[3])] == [
        "SVMDual · smo", "SpectrumSVM(transform=flip)",
    ]  # fmt: skip
    assert labels[2].get_text().endswith("\n1 of 2 failed")
    assert labels[4].get_text() == "ConvexHullDual\n2 of 2 failed"
    colors = [to_hex(label.get_color()) for label in labels]
    marked = [i for i, color in enumerate(colors) if color == VERMILLION.lower()]
    assert marked == [2, 4]


def test_gaps_and_residuals_never_share_an_axis(compared: Figure) -> None:
    accuracy, seconds, gap, residual = compared.axes
    assert accuracy.get_xlabel() == "test accuracy (%)"
    assert seconds.get_xlabel() == "seconds of one solve"
    (legend,) = compared.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert len(names) == len(set(names))
    assert {"mean", "each fold", "GLOBAL", "FEASIBLE", "LOCAL", "STATIONARY"} < set(names)
    drawn = {
        (ax.get_xlabel(), artist.get_label()): (*artist.get_xdata(), *artist.get_ydata())
        for ax in (gap, residual)
        for artist in ax.lines
        if artist.get_label() in figures.CLAIM_COLORS
    }
    assert drawn == {
        ("duality gap (relative)", "GLOBAL"): (3.1e-9, 0),
        ("duality gap (relative)", "FEASIBLE"): (2e-3, 2),
        ("KKT residual", "LOCAL"): (8e-7, 1),
        ("KKT residual", "STATIONARY"): (5e-7, 3),
    }
    assert line(gap, "GLOBAL").get_color() == figures.CLAIM_COLORS["GLOBAL"]
    assert line(gap, "GLOBAL").get_marker() != line(gap, "FEASIBLE").get_marker()


def test_brackets_of_the_global_solver_have_an_axis_of_their_own() -> None:
    """And gaps of zero and infinity stay on theirs."""
    comparison = hand_made()
    comparison.summary.loc[0, "gap"] = 0.0
    comparison.summary.loc[1, ["gap_kind", "claim", "gap"]] = ["global bracket", "GLOBAL", 2e-7]
    comparison.summary.loc[2, "gap"] = INF
    gap, bracket, residual = figures.comparison_figure(comparison).axes[2:]
    labels = [ax.get_xlabel() for ax in (gap, bracket, residual)]
    assert labels == ["duality gap (relative)", "global bracket (relative)", "KKT residual"]
    assert line(bracket, "GLOBAL").get_xdata().tolist() == [2e-7]
    low, high = gap.get_xlim()
    for claim, drawn in (("GLOBAL", 1e-17), ("FEASIBLE", 10.0)):
        assert line(gap, claim).get_xdata().tolist() == [drawn]
        assert low < drawn < high


def test_comparison_where_everything_failed() -> None:
    comparison = hand_made()
    comparison.chosen_rows = comparison.chosen_rows[-2:]
    comparison.summary = comparison.summary.tail(1)
    figure = figures.comparison_figure(comparison)
    assert [t.get_text() for t in figure.axes[0].get_yticklabels()] == [
        "ConvexHullDual\n2 of 2 failed"
    ]
    assert overlaps(figure) == []


def test_no_text_covers_another(compared: Figure) -> None:
    settings = dict(matplotlib.rcParams)
    assert overlaps(compared) == []
    assert overlaps(figures.spectrum_figure(hand_made().problem)) == []
    assert dict(matplotlib.rcParams) == settings


# --------------------------------------------------------------------------------------- brackets

CLOSING = [(0.5, 4.0, 8.0, 1.0), (1.0, 4.0, 5.0, 0.25), (3.0, 4.5, 4.6, 0.1 / 4.5)]


def test_bracket_shows_both_ends_and_the_gap_as_steps() -> None:
    figure = figures.bracket_figure(hand_made_bracket(CLOSING, (4.0, 4.5, 4.5009, 2e-4)))
    ends, gap = figure.axes
    objective, bound = line(ends, "objective of the best point"), line(ends, "proved bound")
    for drawn, values in ((objective, [4.0, 4.0, 4.5, 4.5]), (bound, [8.0, 5.0, 4.6, 4.5009])):
        assert drawn.get_drawstyle() == "steps-post"
        np.testing.assert_array_equal(drawn.get_xdata(), [0.5, 1.0, 3.0, 4.0])
        np.testing.assert_array_equal(drawn.get_ydata(), values)
    assert [text.get_text() for text in ends.get_legend().get_texts()] == [
        "objective of the best point", "proved bound",
    ]  # fmt: skip
    assert ends.get_legend().get_title().get_text() == "SVMDual on hand-made"
    assert gap.get_yscale() == "log"
    np.testing.assert_allclose(gap.lines[0].get_ydata(), [1.0, 0.25, 0.1 / 4.5, 2e-4])
    assert gap.get_title(loc="left") == "relative gap 2.0e-04 after 4 s"
    assert [ax.get_xlabel() for ax in figure.axes] == ["seconds", "seconds"]
    assert overlaps(figure) == []


@pytest.mark.parametrize(
    ("reports", "end"),
    [
        ([], (0.5, 4.0, INF, INF)),
        ([(0.5, 4.0, 4.5, 0.125)], (0.5, 4.0, 4.5, 0.125)),
        ([(0.5, 4.0, INF, INF), (0.6, 4.0, 5.0, 0.25)], (0.8, 4.0, 4.5, 0.125)),
        ([(0.0, 0.0, 0.0, 0.0)], (0.0, 0.0, 0.0, 0.0)),
        ([(0.1, 1e-9, 3e-9, 0.7)], (0.1, 1e-9, 1e-9, 0.0)),
        ([(0.1, -1e9, 3e9, 4.0)], (9999.0, -1e9, -0.9e9, 0.1)),
    ],
)
def test_brackets_of_any_length_and_gap(reports: object, end: object) -> None:
    """Every other one of a minimisation, whose numbers have the other sign."""
    if not (maximised := len(reports) % 2 == 0):
        reports = [(t, -value, -bound, gap) for t, value, bound, gap in reports]
        end = (end[0], -end[1], -end[2], end[3])
    bracket = hand_made_bracket(reports, end, maximised)
    figure = figures.bracket_figure(bracket)
    assert overlaps(figure) == []
    ends, gap = figure.axes
    low, high = ends.get_ylim()
    assert low < bracket.objective < high
    assert np.isinf(bracket.bound) or low < bracket.bound < high
    words = gap.get_title(loc="left")
    assert words.startswith("relative gap " + {0.0: "0 ", INF: "unknown "}.get(end[3], ""))


def test_a_bracket_of_the_package() -> None:
    problem = iopt.KernelProblem(-np.eye(4), [1, 1, -1, -1])
    bracket = iopt.bound(problem, iopt.ConvexHullDual(mu=0.75))
    ends, gap = bracket.plot().axes
    assert line(ends, "objective of the best point").get_ydata()[-1] == bracket.lower
    assert line(ends, "proved bound").get_ydata()[-1] == bracket.upper
    assert gap.lines[0].get_ydata()[-1] == pytest.approx(bracket.relative_gap)


# ---------------------------------------------------------------------------------- convergence


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


# ----------------------------------------------------------------------------- decision regions


def in_the_plane(dimension: int = 2) -> tuple[iopt.KernelProblem, iopt.modeling.Classifier]:
    """f(x) = 2 x₁ - 1 with the linear kernel, of two support vectors out of four points."""
    X = np.zeros((4, dimension))
    X[:, :2] = [[1.0, 0.0], [0.0, 2.0], [-1.0, 0.0], [3.0, 2.0]]
    problem = iopt.KernelProblem.from_data(X, ["a", "b", "a", "b"], "linear")
    return problem, iopt.modeling.Classifier(np.array([1.0, 0.0, -1.0, 0.0]), -1.0, problem.classes)


def test_decision_regions_draw_the_line_where_the_decision_is_zero(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However few points have their kernel values computed at once."""
    monkeypatch.setattr(regions, "MAX_KERNEL_VALUES", 5)
    problem, classifier = in_the_plane()
    ax = regions.decision_regions(problem, classifier, resolution=21).axes[0]
    (zero,) = [c for c in ax.collections if list(getattr(c, "levels", [])) == [0.0]]
    vertices = np.concatenate([path.vertices for path in zero.get_paths()])
    np.testing.assert_allclose(vertices[:, 0], 0.5, atol=1e-12)


def test_decision_regions_draw_every_point_and_circle_the_support() -> None:
    """On axes of the caller's."""
    figure = Figure()
    ax = figure.subplots()
    assert regions.decision_regions(*in_the_plane(), ax=ax, resolution=5) is figure
    assert ax.get_xlabel() == "x₁"
    drawn = {c.get_label(): np.asarray(c.get_offsets()).tolist() for c in ax.collections}
    assert drawn["class a"] == [[1.0, 0.0], [-1.0, 0.0]]
    assert drawn["class b"] == [[0.0, 2.0], [3.0, 2.0]]
    assert drawn["2 support vectors"] == [[1.0, 0.0], [-1.0, 0.0]]
    assert overlaps(figure) == []


def test_names_of_classes_are_no_mathematics() -> None:
    problem, classifier = in_the_plane()
    problem.classes = np.array(["$1_$", r"$\bad{$"])
    ax = regions.decision_regions(problem, classifier, resolution=5).axes[0]
    FigureCanvasAgg(ax.figure).draw()
    assert ax.get_legend().get_texts()[0].get_text() == "class $1_$"


@pytest.mark.parametrize(("height", "aspect"), [(2.0, 1.0), (40.0, "auto")])
def test_distances_are_seen_where_features_have_comparable_ranges(
    height: float, aspect: object
) -> None:
    """Up to a ratio of four both axes have the same scale."""
    X = [[0.0, 0.0], [4.0, height], [1.0, 0.0], [2.0, 0.5 * height]]
    problem = iopt.KernelProblem.from_data(X, [1, 1, -1, -1], "linear")
    result = iopt.solve(problem, "SVMDual")
    for figure in (figures.points_figure(problem), figures.regions_figure(problem, [result])):
        assert figure.axes[0].get_aspect() == aspect


def test_bars_are_as_high_as_their_panels_and_named_at_the_border() -> None:
    problem, _ = in_the_plane()
    results = [iopt.solve(problem, f"SVMDual(C={C})") for C in (1.0, 2.0, 3.0, 4.0)]
    figure = figures.regions_figure(problem, results)
    FigureCanvasAgg(figure).draw()
    bars = [bar for ax in figure.axes for bar in ax.child_axes]
    for ax, bar in zip(figure.axes[:4], bars, strict=True):
        # The ends of a bar are triangles above and below its values.
        assert 0.9 < bar.bbox.height / ax.bbox.height <= 1.0
    named = [bool(bar.get_ylabel()) for bar in bars]
    assert named == [False, False, True, True]
    assert [ax.get_ylabel() for ax in figure.axes[:4]] == ["x₂", "", "", "x₂"]


def test_classes_have_the_same_marks_in_every_figure() -> None:
    """And the values of a result have their colours."""
    problem, classifier = in_the_plane()
    points = figures.points_figure(problem).axes[0]
    map_ = regions.decision_regions(problem, classifier, resolution=5).axes[0]
    for ax in (points, map_):
        for sign, name in ((-1, "class a"), (1, "class b")):
            (drawn,) = [c for c in ax.collections if c.get_label() == name]
            assert to_hex(drawn.get_facecolor()[0]) == figures.SIGN_COLORS[sign].lower()
    bars = figures.result_figure(iopt.solve(problem, "SVMDual", solver="smo")).axes[0].containers
    assert {each.get_label(): to_hex(each.patches[0].get_facecolor()) for each in bars} == {
        "class a": figures.SIGN_COLORS[-1].lower(), "class b": figures.SIGN_COLORS[1].lower()
    }  # fmt: skip


def test_decision_regions_need_points_in_the_plane() -> None:
    problem, classifier = in_the_plane()
    bare = iopt.KernelProblem(problem.K, problem.labels)
    with pytest.raises(iopt.errors.ProblemError, match="from_data"):
        regions.decision_regions(bare, classifier)
    with pytest.raises(iopt.errors.ProblemError, match=r"X of shape \(4, 3\)"):
        regions.decision_regions(*in_the_plane(dimension=3))
    other = iopt.modeling.Classifier(np.ones(3), 0.0, problem.classes)
    with pytest.raises(iopt.errors.ProblemError, match="4 coefficients"):
        regions.decision_regions(problem, other)


@pytest.mark.parametrize("task", ["several classes", "regression", "one class", "no labels"])
def test_regions_of_every_task(task: str) -> None:
    X = np.random.default_rng(0).standard_normal((30, 2))
    labels = {
        "several classes": np.resize(["a", "b", "c"], 30),
        "regression": 50.0 + X[:, 0],
        "one class": np.resize([1, 1, -1], 30),
        "no labels": None,
    }[task]
    kind = "one class" if task == "one class" else None
    problem = iopt.KernelProblem.from_data(X, labels, "polynomial(degree=2)", task=kind)
    title = {"several classes": "SVMDual", "regression": "EpsilonSVR"}.get(task, "SVDD(C=0.2)")
    result = iopt.solve(problem, title)
    figure = iopt.figures.decision_regions(problem, result.classifier, resolution=20)
    legend = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    expected = {
        "several classes": ["class a", "class b", "class c"],
        "one class": ["class -1", "class 1"],
    }.get(task, ["training points"])
    assert legend[:-1] == expected
    if task == "regression":
        # The bar is about the predictions, not about 0.
        (bar,) = figure.axes[0].child_axes
        assert float(bar.get_yticklabels()[1].get_text()) == pytest.approx(50.0, abs=1.0)
        assert bar.get_ylabel() == "prediction f(x)"
    assert len(iopt.figures.regions_figure(problem, [result, result]).axes) >= 2
    assert result.plot().axes


# -------------------------------------------------------------------------------- points and hulls


def test_reduced_hull_of_a_square_is_known() -> None:
    """With weights of at most ½ it has the midpoints of all pairs of corners, and no more."""
    square = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])
    whole, half = figures.reduced_hull(square, 1.0), figures.reduced_hull(square, 0.5)
    assert np.abs(whole - 1.0).max() == 1.0
    # |x - 1| + |y - 1| <= 1, the hull of the midpoints of its sides; 45 degrees is one normal.
    distances = np.abs(half - 1.0).sum(axis=1)
    np.testing.assert_allclose(distances.max(), 1.0, rtol=1e-12)
    np.testing.assert_allclose(half[[0, 90, 180, 270], [0, 1, 0, 1]], [2.0, 2.0, 0.0, 0.0])
    np.testing.assert_allclose(figures.reduced_hull(square, 0.25), 1.0, rtol=1e-12)


def corners(kernel: str) -> iopt.KernelProblem:
    """The points (2, 1) and (2, 3) of one class, and the origin and (0, 1) of the other."""
    X = [[2.0, 1.0], [2.0, 3.0], [0.0, 0.0], [0.0, 1.0]]
    return iopt.KernelProblem.from_data(X, [1, 1, -1, -1], kernel)


@pytest.mark.parametrize(("kernel", "sign"), [("linear", 1.0), ("pseudo-euclidean", -1.0)])
def test_the_line_between_two_points_is_orthogonal_in_the_inner_product(
    kernel: str, sign: float
) -> None:
    problem = corners(kernel)
    figure = figures.hulls_figure(problem, weights=[3.0, 1.0, 2.0, 2.0])
    joined, line = figure.axes[0].lines
    ends = np.column_stack(joined.get_data())
    # Means with these weights: (3 (2, 1) + (2, 3)) / 4 and ((0, 0) + (0, 1)) / 2.
    np.testing.assert_allclose(ends, [[2.0, 1.5], [0.0, 0.5]])
    (a, b) = np.subtract(line.get_xy2(), line.get_xy1())
    normal = ends[0] - ends[1]
    assert a * normal[0] + sign * b * normal[1] == pytest.approx(0.0, abs=1e-12)
    assert np.hypot(a, b) > 1.0
    np.testing.assert_allclose(line.get_xy1(), [1.0, 1.0])
    assert kernel == "linear" or overlaps(figure) == []


def test_points_are_drawn_by_class() -> None:
    ax = figures.points_figure(corners("linear")).axes[0]
    drawn = {c.get_label(): np.asarray(c.get_offsets()).tolist() for c in ax.collections}
    assert drawn == {"class -1": [[0.0, 0.0], [0.0, 1.0]], "class 1": [[2.0, 1.0], [2.0, 3.0]]}


def test_hulls_need_two_classes_in_the_plane_and_fitting_weights() -> None:
    problem = corners("linear")
    with pytest.raises(iopt.errors.ParameterError, match=r"^mu: expected at least 1/2.* got 0\.4"):
        figures.hulls_figure(problem, mu=0.4)
    with pytest.raises(iopt.errors.ParameterError, match=r"^mu: expected at least 1/4"):
        figures.reduced_hull(problem.X, 0.2)
    with pytest.raises(iopt.errors.ProblemError, match="decision_regions"):
        figures.hulls_figure(corners("gaussian"), weights=np.ones(4))
    for weights in ([1.0, 1.0, 0.0, 0.0], [-1.0, 2.0, 1.0, 1.0]):
        with pytest.raises(iopt.errors.ProblemError, match=r"^weights: .*positive sum"):
            figures.hulls_figure(problem, weights=weights)
    bare = iopt.KernelProblem(problem.K, problem.labels)
    with pytest.raises(iopt.errors.ProblemError, match="from_data"):
        figures.points_figure(bare)
    three = iopt.KernelProblem.from_data(problem.X, [1, 2, 3, 3], "linear")
    with pytest.raises(iopt.errors.ProblemError, match="two classes"):
        figures.hulls_figure(three)


# --------------------------------------------------------------------------------------- notebooks


def test_a_picture_in_a_notebook_is_small_and_has_its_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shell = pytest.importorskip(
        "IPython.display", reason="IPython, which notebooks have, is missing"
    )
    shown: list[Any] = []
    monkeypatch.setattr(shell, "display", shown.append)
    figure, ax = plt.subplots(figsize=(4.0, 3.0))
    ax.imshow(np.random.default_rng(0).uniform(size=(60, 60)))
    number = figure.number
    figures.show(figure, "Random pixels.")
    (picture,) = shown
    png, metadata = picture._repr_png_()
    assert repr(picture) == metadata["alt"] == "Random pixels."
    read = plt.imread(io.BytesIO(png), format="png")
    assert read.shape[:2] == (270, 360)
    plain = io.BytesIO()
    figure.savefig(plain, format="png", dpi=90)
    assert len(png) < 0.6 * len(plain.getvalue())
    assert number not in plt.get_fignums()
    with pytest.raises(iopt.errors.ParameterError, match=r"^alt: expected a text"):
        figures.show(figure, " ")


# ------------------------------------------------------------------------------------------ paths


def hand_made_path(
    column: str = "training_error", values: tuple[object, ...] = (0.01, 0.1, 1.0, 10.0)
) -> SimpleNamespace:
    """Four values of C, of which the third one has failed; in another order than their size."""
    order = (3, 0, 2, 1)
    objectives, claims = (-1.0, -2.0, None, -3.0), ("GLOBAL", "LOCAL", None, "GLOBAL")
    rows = [
        {"C": values[k], "objective": objectives[k], "support": (40, 30, None, 10)[k],
         column: (0.5, 0.25, None, 0.0)[k], "claim": claims[k], "error": "failed" * (k == 2)}
        for k in order
    ]  # fmt: skip
    return SimpleNamespace(
        varied=("C",), titles=[str(row["C"]) for row in rows], table=rows,
        test_error=lambda X, y: [(0.5, 0.125, NAN, 0.25)[k] for k in order],
    )  # fmt: skip


def test_a_path_is_drawn_over_its_parameter_with_its_claims_and_failures() -> None:
    figure = figures.path_figure(hand_made_path(), test=([], []))
    objective, support, accuracy = figure.axes
    labels = [ax.get_ylabel() for ax in figure.axes]
    assert labels == ["objective", "support vectors", "accuracy (%)"]
    assert [ax.get_xlabel() for ax in figure.axes] == ["", "", "C"]
    for curve, expected in (
        (line(objective, "_curve"), [-1.0, -2.0, NAN, -3.0]),
        (line(support, "_curve"), [40, 30, NAN, 10]),
        (line(accuracy, "training"), [50.0, 75.0, NAN, 100.0]),
        (line(accuracy, "test"), [50.0, 87.5, NAN, 75.0]),
    ):
        np.testing.assert_array_equal(curve.get_xdata(), [0.01, 0.1, 1.0, 10.0])
        np.testing.assert_array_equal(curve.get_ydata(), expected)
    for ax in figure.axes:
        assert ax.get_xscale() == "log"
        assert sorted(line(ax, "GLOBAL").get_xdata()) == [0.01, 10.0]
        assert line(ax, "LOCAL").get_xdata().tolist() == [0.1]
        assert line(ax, "failed").get_xdata().tolist() == [1.0]
        assert line(ax, "LOCAL").get_color() == figures.CLAIM_COLORS["LOCAL"]
        assert line(ax, "LOCAL").get_marker() != line(ax, "GLOBAL").get_marker()
    (legend,) = figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert sorted(names) == ["GLOBAL", "LOCAL", "failed", "test", "training"]
    assert overlaps(figure) == []


@pytest.mark.parametrize(
    ("values", "scale", "ticks"),
    [
        ((0.1, 0.2, 0.3, 0.4), "linear", None),
        ((0.0, 0.1, 1.0, 10.0), "linear", None),
        ((0.1, 1.0, 10.0, INF), "linear", ["inf", "0.1", "10.0", "1.0"]),
        ((None, "a", "b", "c"), "linear", ["c", "None", "b", "a"]),
    ],
)
def test_the_axis_of_a_path_suits_its_values(
    values: tuple[object, ...], scale: str, ticks: list[str] | None
) -> None:
    """Powers are on a logarithmic axis; what is no finite number has its place in the path."""
    figure = figures.path_figure(hand_made_path(values=values))
    ax = figure.axes[-1]
    assert ax.get_xscale() == scale
    curve = line(figure.axes[0], "_curve").get_xdata().tolist()
    assert curve == ([0, 1, 2, 3] if ticks else list(values))
    if ticks:
        assert [text.get_text() for text in ax.get_xticklabels()] == ticks
        assert overlaps(figure) == []


def test_a_path_of_different_formulations_has_their_titles() -> None:
    path = hand_made_path()
    path.varied = ()
    path.titles = ["SVMDual(C=10)", "LPSVM", "SpectrumSVM(C=10, transform=flip)", "KernelLogistic"]
    figure = figures.path_figure(path)
    ticks = [text.get_text() for text in figure.axes[-1].get_xticklabels()]
    assert ticks == [*path.titles[:2], "SpectrumSVM(C=10, trans…", path.titles[3]]
    assert figure.axes[-1].get_xlabel() == "formulation"
    assert overlaps(figure) == []


def test_the_fit_of_a_path_is_that_of_its_task() -> None:
    """And objectives over decades have a logarithmic axis."""
    for column, label, drawn in (
        ("training_rmse", "RMSE", [0.5, 0.25, NAN, 0.0]),
        ("training_outliers", "outliers (%)", [50.0, 25.0, NAN, 0.0]),
    ):
        path = hand_made_path(column)
        for row, value in zip(path.table, (1e-3, 1.0, None, 100.0), strict=True):
            row["objective"] = value
        first, *_, last = figures.path_figure(path).axes
        assert first.get_yscale() == "log"
        assert last.get_ylabel() == label
        np.testing.assert_array_equal(line(last, "training").get_ydata(), drawn)


def test_panels_that_a_path_does_not_have() -> None:
    """Pairs of classes have no objective, and some formulations no known fit."""
    path = hand_made_path()
    for row in path.table:
        del row["objective"]
        row["training_error"] = None
    assert [ax.get_ylabel() for ax in figures.path_figure(path).axes] == ["support vectors"]
    with pytest.raises(iopt.errors.ParameterError, match="test: expected a pair"):
        figures.path_figure(path, test=np.ones((2, 3)))


def test_paths_draw_themselves() -> None:
    """With K = I the objective is 2c - c² at c = min(C, 1); see `Path.plot`."""
    problem = iopt.KernelProblem(np.eye(2), [1, -1])
    path = iopt.solve_path(problem, [iopt.SVMDual(C=C) for C in (0.01, 0.1, 1.0)])
    figure = path.plot(test=([[1.0, 0.0], [2.0, 0.0]], [1, -1]))
    np.testing.assert_allclose(
        line(figure.axes[0], "_curve").get_ydata(), [0.0199, 0.19, 1.0], rtol=1e-5
    )
    assert line(figure.axes[2], "test").get_ydata().tolist() == [50.0] * 3
    assert line(figure.axes[2], "training").get_ydata().tolist() == [100.0] * 3
