"""The training points in the plane, and the reduced convex hulls of two classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from indefinite_opt.errors import ParameterError, ProblemError
from indefinite_opt.figures import style
from indefinite_opt.foundation import Array, checked_points, checks, finite_array
from indefinite_opt.problem import KernelProblem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HULL_DIRECTIONS = 361
"""Directions in which the boundary of a reduced hull is computed, one for each degree; the last
one is the first one again."""

COMPARABLE = 4.0
"""Up to this ratio of the ranges of both features their axes have the same scale, so that distances
can be seen. Beyond it the panel would be a stripe."""

INNER_PRODUCTS = ("linear", "pseudo-euclidean")
"""The kernels in which a line of the plane has a normal in the plane."""


@style.styled
def points_figure(problem: KernelProblem, ax: Axes | None = None) -> Figure:
    """The training points of a problem in the plane, with a colour and a marker for each class.

    Parameters
    ----------
    problem : KernelProblem
        Made by `from_data` from points in the plane.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Raises
    ------
    ProblemError
        If the problem has no points in the plane.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem.from_dataset(iopt.datasets.haasdonk_figure3())
    >>> [text.get_text() for text in points_figure(problem).axes[0].get_legend().get_texts()]
    ['class -1', 'class 1']
    """
    figure, ax = style.panel(ax, 4.4, 4.0)
    draw_points(ax, problem)
    style.legend_above(ax)
    return figure


@style.styled
def hulls_figure(
    problem: KernelProblem,
    mu: float = 1.0,
    weights: ArrayLike | None = None,
    ax: Axes | None = None,
) -> Figure:
    """The convex hulls of both classes in the plane, reduced ones, and the line between two points.

    The weights of a convex-hull dual, or of a support vector machine, stand for one point in
    each hull, z₊ and z₋: the means of the classes with these weights. The figure joins the two
    points, and draws the line through their midpoint that is orthogonal to z₊ - z₋ in the inner
    product of the kernel.

    Parameters
    ----------
    problem : KernelProblem
        Two classes of points in the plane, made by `from_data`.
    mu : float
        The largest weight in the reduced hulls, from 1/n of the smaller class on; at 1 they are the
        whole hulls.
    weights : (n,) array, optional
        Nonnegative, with a positive sum in each class. The kernel must be linear or
        pseudo-Euclidean.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Raises
    ------
    ProblemError
        If the problem does not have two classes of points in the plane, if the weights do not fit,
        or if there are weights and the kernel is not an inner product of the plane.
    ParameterError
        If mu is too small for the weights of a class to sum to 1.

    References
    ----------
    B. Haasdonk (2005), Figures 1 to 3.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem.from_dataset(iopt.datasets.haasdonk_figure1a())
    >>> hulls = iopt.ConvexHullDual(mu=0.5)
    >>> alpha = iopt.solve(problem, hulls).values["alphabar"]
    >>> hulls_figure(problem, mu=0.5, weights=alpha).axes[0].get_aspect()
    1.0
    """
    X = points_in_plane(problem)
    if problem.task != "classification" or problem.classes.size != 2:
        raise ProblemError("problem", "two classes", f"{problem.task}, {problem.classes.size}")
    _check_bound(mu, problem.smaller_class)
    ends = None if weights is None else _two_means(problem, X, weights)
    figure, ax = style.panel(ax, 4.6, 4.2)
    draw_points(ax, problem)
    for sign, color in style.SIGN_COLORS.items():
        mine = X[problem.y == sign]
        ax.fill(*reduced_hull(mine, 1.0).T, color=color, alpha=0.12, linewidth=0)
        ax.fill(*reduced_hull(mine, mu).T, facecolor=color, alpha=0.2, edgecolor=color)
    if ends is not None:
        ax.plot(*ends.T, color=style.INK, marker="D", markersize=5, zorder=4)
        middle = ends.mean(axis=0)
        u, v = problem.kernel(np.eye(2)) @ (ends[0] - ends[1])
        ax.axline(
            middle, middle + np.array([-v, u]), color=style.LINE_COLORS[2], linewidth=2, zorder=2
        )
    ax.set_aspect("equal")
    style.legend_above(ax)
    return figure


def reduced_hull(X: ArrayLike, mu: float) -> Array:
    """Points on the boundary of the hull of the points x_i with no weight above μ.

    The reduced hull is the set of all Σ_i α_i x_i with Σ_i α_i = 1 and 0 <= α_i <= μ ([H05]_,
    Section 3.3). In a given direction the points that lie farthest along it have the largest
    weights that are allowed.

    Parameters
    ----------
    X : (n, 2) array
        The points of one class.
    mu : float
        At least 1/n; the whole hull from 1 on.

    Returns
    -------
    (361, 2) array
        The farthest point in each direction, in steps of one degree from 0 to 360.

    Raises
    ------
    ParameterError
        If mu is below 1/n, so that the weights cannot sum to 1.

    Examples
    --------
    >>> corners = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    >>> reduced_hull(corners, 1.0).max(axis=0), reduced_hull(corners, 0.5).max(axis=0)
    (array([1., 1.]), array([0.5, 0.5]))
    """
    X = checked_points("X", X, features=2)
    _check_bound(mu, len(X))
    angles = np.linspace(0.0, 2.0 * np.pi, HULL_DIRECTIONS)
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    farthest = np.argsort(-directions @ X.T, axis=1)
    weights = np.clip(1.0 - mu * np.arange(len(X)), 0.0, mu)
    return np.einsum("k,dkx->dx", weights, X[farthest])


def points_in_plane(problem: KernelProblem) -> Array:
    """The points of the problem, (n, 2)."""
    if problem.X is None:
        raise ProblemError("problem", "one made by from_data", "one without points")
    if problem.X.shape[1] != 2:
        raise ProblemError(
            "problem", "points in the plane, X of shape (n, 2)", f"X of shape {problem.X.shape}"
        )
    return problem.X


def shape_of(X: Array) -> float | None:
    """The height of the points by their width; None if their axes need different scales.

    >>> shape_of(np.array([[0.0, 0.0], [4.0, 2.0]])), shape_of(np.array([[0.0, 0.0], [4.0, 0.1]]))
    (0.5, None)
    """
    width, height = np.ptp(X, axis=0)
    if max(width, height) > COMPARABLE * min(width, height) or width == 0.0:
        return None
    return float(height / width)


def draw_points(ax: Axes, problem: KernelProblem) -> None:
    """The training points by class, with names for a legend and for the axes.

    Both axes have the same scale if the ranges of the features are comparable.
    """
    X = points_in_plane(problem)
    groups = [(X, style.CLASS_MARKS[1], "training points")]
    if problem.classes.size == 2:
        groups = [
            (X[problem.y == sign], style.CLASS_MARKS[sign], f"class {name}")
            for sign, name in zip((-1, 1), problem.class_names, strict=True)
        ]
    elif problem.classes.size > 2:
        labels: Any = problem.labels
        groups = [
            (X[labels == label], {"color": style.line_color(k)}, f"class {problem.meaning(label)}")
            for k, label in enumerate(problem.classes)
        ]
    for chosen, mark, label in groups:
        ax.scatter(
            chosen[:, 0], chosen[:, 1], s=22.0, edgecolor="white", linewidth=0.6, label=label,
            zorder=3, **mark,
        )  # fmt: skip
    if shape_of(X) is not None:
        ax.set_aspect("equal")
    ax.set(xlabel="x₁", ylabel="x₂")


def _check_bound(mu: float, size: int) -> None:
    if not checks.is_number(mu) or mu < (1.0 - 1e-12) / size:
        raise ParameterError(
            "mu", f"at least 1/{size}, so that {size} weights can sum to 1", repr(mu)
        )


def _two_means(problem: KernelProblem, X: Array, weights: ArrayLike) -> Array:
    """z₊ and z₋: the means of both classes with these weights, (2, 2)."""
    if getattr(problem.kernel, "name", None) not in INNER_PRODUCTS:
        raise ProblemError(
            "problem", "a linear or pseudo-Euclidean kernel, to draw a line", str(problem.kernel),
            "Leave out the weights, or draw the classifier with `decision_regions`.",
        )  # fmt: skip
    alpha = finite_array("weights", weights, (problem.n,))
    sums = np.array([alpha[problem.y == sign].sum() for sign in (1.0, -1.0)])
    if alpha.min() < 0.0 or sums.min() <= 0.0:
        raise ProblemError(
            "weights", "nonnegative, with a positive sum in each class",
            f"a least weight of {alpha.min():.3g} and the sums {sums[0]:.3g} and {sums[1]:.3g}",
        )  # fmt: skip
    return (
        np.array([alpha[problem.y == s] @ X[problem.y == s] for s in (1.0, -1.0)]) / sums[:, None]
    )
