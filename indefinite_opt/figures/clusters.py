"""The figure of clusters: the similarities in their order, and the weights of the points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from indefinite_opt.errors import ProblemError
from indefinite_opt.figures import style
from indefinite_opt.foundation import finite_array
from indefinite_opt.problem import KernelProblem, check_problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@style.styled
def clusters_figure(
    problem: KernelProblem, clusters: ArrayLike, weights: ArrayLike | None = None
) -> Figure:
    """The kernel matrix with its points sorted by clusters, and bars of their weights.

    A frame marks each cluster. Points in none come last. Colours span the entries off the diagonal.

    Parameters
    ----------
    problem : KernelProblem
    clusters : (n,) array_like of int
        The cluster of each point, and -1 for points in none, as `Result.clusters` has them.
    weights : (n,) array_like, optional
        Weights of the points, such as those of `DominantSet`, by which a cluster is sorted.

    Raises
    ------
    ProblemError
        If clusters or weights do not have n entries, or clusters are not whole numbers.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, 0.1, 0.9], [0.1, 1.0, 0.2], [0.9, 0.2, 1.0]])
    >>> clusters_figure(problem, [0, 1, 0]).axes[0].get_title(loc="left")
    'similarities of 2 clusters'
    >>> len(clusters_figure(problem, [0, -1, 0], [0.5, 0.0, 0.5]).axes)
    3
    """
    from matplotlib.patches import Rectangle

    check_problem(problem)
    of = finite_array("clusters", clusters, (problem.n,))
    if np.any(of != np.round(of)):
        raise ProblemError("clusters", "whole numbers", "others")
    w = np.zeros(problem.n) if weights is None else finite_array("weights", weights, (problem.n,))
    order = np.lexsort((-w, np.where(of < 0.0, np.inf, of)))
    K, of = problem.K[np.ix_(order, order)], of[order]
    figure, axes = style.panels(*((4.8, 4.0, 1) if weights is None else (8.4, 4.0, 2)))
    others = K[~np.eye(problem.n, dtype=bool)] if problem.n > 1 else K
    shown = axes[0].imshow(K, vmin=others.min(), vmax=others.max(), interpolation="nearest")
    figure.colorbar(shown, ax=axes[0], shrink=0.85)
    names = np.unique(of[of >= 0.0])
    for name in names:
        first, size = float(np.argmax(of == name)) - 0.5, float(np.sum(of == name))
        frame = Rectangle((first, first), size, size, fill=False, linewidth=2.0)
        frame.set_edgecolor(style.VERMILLION)
        axes[0].add_patch(frame)
    counted = "1 cluster" if names.size == 1 else f"{names.size} clusters"
    axes[0].set_title(f"similarities of {counted}", loc="left")
    axes[0].set(xticks=[], yticks=[], xlabel="points, by clusters")
    axes[0].grid(visible=False)
    if weights is not None:
        inside = w[order][of >= 0.0]
        axes[1].bar(np.arange(1, inside.size + 1), inside, 0.85, color=style.BLUE)
        axes[1].set_title(f"weights of the {inside.size} points in clusters", loc="left")
        axes[1].set(xlabel="points, by clusters", ylabel="weight", xlim=(0.3, inside.size + 0.7))
    return figure
