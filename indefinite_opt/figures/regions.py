"""Decision regions of classifiers in the plane."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from indefinite_opt.errors import ParameterError, ProblemError
from indefinite_opt.figures import style
from indefinite_opt.figures.inputs import ResultLike
from indefinite_opt.figures.points import draw_points, points_in_plane, shape_of
from indefinite_opt.foundation import Array, checks
from indefinite_opt.modeling import PairwiseClassifier
from indefinite_opt.problem import KernelProblem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.figure import Figure

    from indefinite_opt.modeling import Classifier

MAX_KERNEL_VALUES = 2_000_000
"""Kernel values held at once while a decision function is evaluated on a grid: 16 MB."""

PANEL_WIDTH = 1.9
"""Inches of a panel of several, without its labels."""


@style.styled
def regions_figure(problem: KernelProblem, results: Sequence[ResultLike]) -> Figure:
    """Decision regions of several results, three per row.

    Parameters
    ----------
    problem : KernelProblem
        Made by `from_data` from points in the plane.
    results : sequence of Result
        Results on this problem.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem.from_dataset(iopt.datasets.haasdonk_figure3())
    >>> results = [iopt.solve(problem, iopt.SVMDual(C=C)) for C in (1.0, 10.0)]
    >>> len(regions_figure(problem, results).axes) >= 2
    True
    """
    if not results:
        raise ParameterError("results", "at least one", "none")
    columns = min(len(results), 3)
    rows = -(-len(results) // columns)
    height = 0.75 + PANEL_WIDTH * (shape_of(points_in_plane(problem)) or 1.0)
    figure, axes = style.panels(2.8 * columns + 0.4, height * rows + 0.3, columns, rows)
    for k, (ax, result) in enumerate(zip(axes, results, strict=False)):
        bar = _draw_regions(ax, problem, result.classifier, resolution=80)
        ax.set_title(textwrap.fill(str(result.formulation), 34))
        # What all panels share is written at the borders of the figure.
        if k % columns:
            ax.set_ylabel("")
        if k + columns < len(results):
            ax.set_xlabel("")
        if bar is not None and k % columns < columns - 1 and k < len(results) - 1:
            bar.set_label("")
    for ax in axes[len(results) :]:
        ax.set_axis_off()
    handles, labels = axes[0].get_legend_handles_labels()
    names = [*labels[:-1], "support vectors"]  # their number differs from panel to panel
    figure.legend(handles, names, loc="outside lower center", ncols=3)
    return figure


@style.styled
def decision_regions(
    problem: KernelProblem,
    classifier: Classifier | PairwiseClassifier,
    ax: Axes | None = None,
    resolution: int = 200,
) -> Figure:
    """The decision function of a classifier in the plane, with the training points.

    With more than two classes it shows the regions of the classes, for a regression the
    predictions.

    Parameters
    ----------
    problem : KernelProblem
        Made by `from_data` from points in the plane.
    classifier : Classifier or PairwiseClassifier
        Trained on this problem.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.
    resolution : int
        Grid points along each axis.

    Raises
    ------
    ProblemError
        If the problem has no points in the plane, or the classifier belongs to another problem.
    ParameterError
        If the resolution is below 2.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem.from_dataset(iopt.datasets.haasdonk_figure3())
    >>> result = iopt.solve(problem, iopt.SVMDual(C=10.0))
    >>> figure = decision_regions(problem, result.classifier, resolution=20)
    >>> figure.axes[0].get_xlabel()
    'x₁'
    """
    figure, ax = style.panel(ax, 5.6, 4.4)
    _draw_regions(ax, problem, classifier, resolution)
    style.legend_above(ax)
    return figure


def _draw_regions(
    ax: Axes, problem: KernelProblem, classifier: Classifier | PairwiseClassifier, resolution: int
) -> Colorbar | None:
    """The regions with the points; the bar of the values, which several classes do not have."""
    X = _plane_points(problem, classifier, resolution)
    low, high = X.min(axis=0), X.max(axis=0)
    margin = np.where(high > low, 0.08 * (high - low), 1.0)
    horizontal, vertical = np.linspace(low - margin, high + margin, resolution).T
    values = _on_grid(problem, classifier, horizontal, vertical)
    bar = None
    if isinstance(classifier, PairwiseClassifier):
        count = problem.classes.size
        colors = [style.line_color(k) for k in range(count)]
        edges = np.arange(count + 1) - 0.5
        ax.contourf(horizontal, vertical, values, edges, colors=colors, alpha=0.3)
    else:
        bar = _draw_values(ax, horizontal, vertical, values, problem.task == "regression")
    draw_points(ax, problem)
    support = classifier.support
    ax.scatter(
        X[support, 0], X[support, 1], s=64.0, facecolor="none", edgecolor=style.INK, linewidth=0.8,
        label=f"{support.size} support vectors", zorder=4,
    )  # fmt: skip
    ax.locator_params(nbins=4)  # as many in a small panel, so that the layout finds room for them
    return bar


def _draw_values(
    ax: Axes, horizontal: Array, vertical: Array, values: Array, regression: bool
) -> Colorbar:
    """Shades of a function on a grid around 0, or around the middle of predictions, with a bar."""
    from matplotlib.colors import LinearSegmentedColormap

    # With the maximum as limit, a few steep places would make all others look white.
    middle = float(np.median(values)) if regression else 0.0
    limit = float(np.quantile(np.abs(values - middle), 0.95)) or 1.0
    signs = LinearSegmentedColormap.from_list("decision", style.DECISION_SHADES)
    colors = style.VALUES_MAP if regression else signs
    levels = np.linspace(middle - limit, middle + limit, 13)
    shades = ax.contourf(horizontal, vertical, values, levels, cmap=colors, extend="both")
    if not regression and values.min() < 0.0 < values.max():
        ax.contour(horizontal, vertical, values, [0.0], colors=[style.INK], linewidths=1.4)
    # As high as the panel, whose height follows from the scale of its axes.
    inset = ax.inset_axes((1.03, 0.0, 0.05, 1.0))
    figure, ends = ax.get_figure(root=True), [middle - limit, middle, middle + limit]
    bar: Colorbar = figure.colorbar(shades, cax=inset, ticks=ends)  # type: ignore[union-attr]
    inset.set_yticklabels([f"{end:.2g}".replace("-", "−") for end in ends])
    bar.set_label("prediction f(x)" if regression else "decision function f(x)")
    return bar


def _plane_points(
    problem: KernelProblem, classifier: Classifier | PairwiseClassifier, resolution: int
) -> Array:
    checks.whole("resolution", resolution, least=2)
    X = points_in_plane(problem)
    if isinstance(classifier, PairwiseClassifier):
        return X
    if classifier.coef.size != problem.n:
        raise ProblemError(
            "classifier", f"{problem.n} coefficients", f"{classifier.coef.size} coefficients"
        )
    if classifier.change is not None and classifier.new_points == "joint":
        raise ProblemError(
            "classifier", "one that treats new points one by one", "the joint treatment",
            'Draw classifier.with_new_points("projected") instead.',
        )  # fmt: skip
    return X


def _on_grid(problem: KernelProblem, classifier: Any, horizontal: Array, vertical: Array) -> Array:
    """The decision values, or the numbers of the classes of several, on a grid."""
    points = np.stack(np.meshgrid(horizontal, vertical), axis=-1).reshape(-1, 2)
    several = isinstance(classifier, PairwiseClassifier)
    own = not several and bool(classifier.own) and classifier.diagonal is None

    def values(block: Array) -> Array:
        rows = problem.kernel_with(block)
        if several:
            return np.searchsorted(classifier.classes, classifier.predict(rows)).astype(float)
        found: Array = classifier.decision_function(
            rows, problem.kernel_among(block) if own else None
        )
        return found

    # With k(x, x) a block has at most 1000 points, whose kernel among themselves is needed.
    count = max(1, len(points) * problem.n // MAX_KERNEL_VALUES, own * len(points) // 1000)
    blocks = np.array_split(points, count)
    return np.concatenate(list(map(values, blocks))).reshape(vertical.size, horizontal.size)
