"""Decision regions of classifiers in the plane."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from indefinite_opt.errors import ParameterError, ProblemError
from indefinite_opt.figures import style
from indefinite_opt.figures.inputs import ResultLike
from indefinite_opt.figures.points import draw_points, points_in_plane
from indefinite_opt.foundation import Array, checks
from indefinite_opt.modeling import PairwiseClassifier
from indefinite_opt.problem import KernelProblem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from indefinite_opt.modeling import Classifier

MAX_KERNEL_VALUES = 2_000_000
"""Kernel values held at once while a decision function is evaluated on a grid: 16 MB."""


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
    rows = -(-len(results) // 3)
    figure, axes = style.panels(9.6, 3.1 * rows + 0.3, 3, rows)
    for ax, result in zip(axes, results, strict=False):
        decision_regions(problem, result.classifier, ax=ax, resolution=80)
        ax.get_legend().remove()  # type: ignore[union-attr]
        ax.set_title(textwrap.fill(str(result.formulation), 38))
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
    X = _plane_points(problem, classifier, resolution)
    low, high = X.min(axis=0), X.max(axis=0)
    margin = np.where(high > low, 0.08 * (high - low), 1.0)
    horizontal, vertical = np.linspace(low - margin, high + margin, resolution).T
    values = _on_grid(problem, classifier, horizontal, vertical)
    figure, ax = style.panel(ax, 5.6, 4.4)
    if isinstance(classifier, PairwiseClassifier):
        count = problem.classes.size
        colors = [style.line_color(k) for k in range(count)]
        edges = np.arange(count + 1) - 0.5
        ax.contourf(horizontal, vertical, values, edges, colors=colors, alpha=0.3)
    else:
        _draw_values(ax, horizontal, vertical, values, problem.task == "regression")
    draw_points(ax, problem)
    support = classifier.support
    ax.scatter(
        X[support, 0], X[support, 1], s=64.0, facecolor="none", edgecolor=style.INK, linewidth=0.8,
        label=f"{support.size} support vectors", zorder=4,
    )  # fmt: skip
    style.legend_above(ax)
    return figure


def _draw_values(
    ax: Axes, horizontal: Array, vertical: Array, values: Array, regression: bool
) -> None:
    """Shades of a function on a grid around 0, or around the middle of predictions, with a bar."""
    from matplotlib.colors import LinearSegmentedColormap

    # With the maximum as limit, a few steep places would make all others look white.
    middle = float(np.median(values)) if regression else 0.0
    limit = float(np.quantile(np.abs(values - middle), 0.95)) or 1.0
    colors = LinearSegmentedColormap.from_list("classes", ["#E8A56A", "#FFFFFF", "#6FB1DA"])
    levels = np.linspace(middle - limit, middle + limit, 13)
    shades = ax.contourf(horizontal, vertical, values, levels, cmap=colors, extend="both")
    if not regression and values.min() < 0.0 < values.max():
        ax.contour(horizontal, vertical, values, [0.0], colors=[style.INK], linewidths=1.4)
    ends = [middle - limit, middle, middle + limit]
    figure = ax.get_figure(root=True)
    bar = figure.colorbar(shades, ax=ax, ticks=ends)  # type: ignore[union-attr]
    bar.ax.set_yticklabels([f"{end:.2g}".replace("-", "−") for end in ends])
    bar.set_label("prediction f(x)" if regression else "decision function f(x)")


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
