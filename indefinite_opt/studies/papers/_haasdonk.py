"""What the figures of Haasdonk (2005) share: a trained classifier as a row, and its picture."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from indefinite_opt.figures import decision_regions
from indefinite_opt.foundation import Array
from indefinite_opt.modeling import Classifier, Formulation
from indefinite_opt.problem import KernelProblem
from indefinite_opt.studies.cells import Row
from indefinite_opt.studies.papers import ComputationOutcome, Entry
from indefinite_opt.theory import diagnose
from indefinite_opt.workflow import solve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAPER = "Haasdonk (2005)"

ENTRIES = {
    name: Entry(metric=name, unit=0.5, counted=False) for name in ("sign of wMw", "wrong non-SVs")
}
"""What the text says of a picture, which is not printed as a number."""

COORDINATES = (
    "The paper prints no coordinates. The points are drawn so that they have the properties that "
    "it states."
)

SEPARABLE = "haasdonk-figure1a(n=40)"
OVERLAPPING = "haasdonk-figure1c(n=12, seed=1)"
"""The data of Figures 1a, 1b and 2a, and of 1c, 1d, 2b and 2c. Of 20 draws of the latter 17 have
all properties that the paper states of these four pictures; with 18 points or more none has."""

HULL_DIRECTIONS = 360
"""Directions in which the boundary of a reduced convex hull is computed, one for each degree."""

BOUND_SHARE = 1e-6
"""Share of the bound by which a weight may fall below it and counts as bounded."""


def trained(problem: KernelProblem, formulation: Formulation, solver: str | None = None) -> Row:
    """The classifier of `SVMDual` or `ConvexHullDual`, with all that its picture shows."""
    result = solve(problem, formulation, solver)
    ((name, alpha),) = result.values.items()
    bound = getattr(formulation.structure(problem), "upper", math.inf)
    found, classifier = diagnose(problem, alpha), result.classifier
    support = np.isin(np.arange(problem.n), classifier.support)
    wrong = classifier.predict(problem.K) != problem.labels
    p, q = found.signature
    return {
        "title": f"{'C' if name == 'alpha' else 'μ'} = {bound:.4g}", "objective": result.objective,
        "X": problem.X, "y": problem.y, "kernel": str(problem.kernel),
        "coef": classifier.coef, "offset": classifier.offset,
        "mu": min(1.0, 2.0 * bound / float(alpha.sum())),
        "p": p, "q": q, "DCM": found.class_mean_distance, "wMw": found.hull_distance,
        "sign of wMw": np.sign(found.hull_distance or 0.0), "SVs": np.count_nonzero(support),
        "bounded SVs": np.count_nonzero(alpha >= (1.0 - BOUND_SHARE) * bound),
        "wrong": np.count_nonzero(wrong), "wrong non-SVs": np.count_nonzero(wrong & ~support),
    }  # fmt: skip


def reduced_hull(X: Array, mu: float) -> Array:
    """Vertices of the hull of the points x_i with weights of at most μ, (HULL_DIRECTIONS, d = 2).

    In each direction the points that lie farthest along it have the largest possible weights.

    >>> corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> reduced_hull(corners, 1.0).max(axis=0), reduced_hull(corners, 0.5).max(axis=0)
    (array([1., 1.]), array([0.5, 0.5]))
    """
    angles = np.linspace(0.0, 2.0 * np.pi, HULL_DIRECTIONS)
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    farthest = np.argsort(-directions @ X.T, axis=1)
    weights = np.clip(1.0 - mu * np.arange(len(X)), 0.0, mu)
    return np.einsum("k,dkx->dx", weights, X[farthest])


def draw(outcomes: Mapping[str, ComputationOutcome]) -> Figure:
    """A panel for the first row of each setting of the experiment "panels", two in a line.

    Each has decision values, support vectors and, in R^(1,1), reduced hulls with w and Mw.
    """
    from matplotlib.figure import Figure

    rows = {name: found[0] for name, found in outcomes["panels"].settings.items()}
    lines = -(-len(rows) // 2)
    figure = Figure(figsize=(9.0, 3.0 * lines), layout="constrained")
    panels = figure.subplots(lines, 2).ravel()
    for ax, (name, row) in zip(panels, rows.items(), strict=True):
        problem = KernelProblem.from_data(np.array(row["X"]), np.array(row["y"]), row["kernel"])
        coef = np.array(row["coef"])
        decision_regions(problem, Classifier(coef, row["offset"], problem.classes), ax)
        ax.get_legend().remove()
        ax.collections[0].colorbar.remove()
        if row["kernel"].startswith("pseudo-euclidean"):
            _draw_hulls(ax, problem, np.abs(coef), row["mu"])
        ax.set_aspect("equal")
        ax.set_title(f"({name}) {row['title']}, wᵀMw = {row['wMw']:.3g}, {row['SVs']} SVs")
    return figure


def _draw_hulls(ax: Axes, problem: KernelProblem, weights: Array, mu: float) -> None:
    """The reduced hulls, and from the middle of z⁺ and z⁻ half of w, solid, and of Mw, dashed."""
    ends = []
    for sign in (1.0, -1.0):
        mine = problem.y == sign
        X = np.asarray(problem.X)[mine]
        ax.plot(*reduced_hull(X, mu).T, color="black", linewidth=0.8)
        ends.append(weights[mine] @ X / weights[mine].sum())
    middle, half = 0.5 * (ends[0] + ends[1]), 0.5 * (ends[0] - ends[1])
    for vector, line in ((half, "solid"), (half * [1.0, -1.0], "dashed")):
        arrow = {"arrowstyle": "->", "linestyle": line, "linewidth": 1.6}
        ax.annotate("", middle + vector, middle, arrowprops=arrow)
