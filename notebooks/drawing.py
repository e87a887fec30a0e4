"""What the notebooks draw with: panels, alternative texts, and the pictures that several need."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import display
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK, GREY, PALE = "#222222", "#666666", "#DDDDDD"
BLUE, ORANGE, GREEN, PINK, YELLOW = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"
ABOVE = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0)}
"""Where a legend does not hide anything."""

DOTS_PER_INCH = 90
"""Sharp enough on a page, and small enough to be stored in a notebook."""

plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False})


def panels(columns: int, width: float = 8.4, height: float = 3.5, **options: Any) -> Any:
    """A figure in inches, and its panels side by side."""
    return plt.subplots(1, columns, figsize=(width, height), layout="constrained", **options)


def show(figure: Figure, alt: str) -> None:
    """Display a figure with a text for those who cannot see it."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=DOTS_PER_INCH)
    plt.close(figure)
    image = base64.b64encode(file.getvalue()).decode("ascii")
    data = {"image/png": image, "text/plain": alt}
    display(data, raw=True, metadata={"image/png": {"alt": alt}})


def scatter(ax: Axes, X: np.ndarray, y: np.ndarray, size: float = 22.0) -> None:
    """The points of both classes, with their names above the axes."""
    for label, color, marker in ((-1, ORANGE, "^"), (1, BLUE, "o")):
        ax.scatter(
            *X[y == label].T, s=size, color=color, marker=marker, label=f"class {label}", zorder=3
        )
    ax.legend(**ABOVE, ncols=2)


def light_cone(ax: Axes, reach: float) -> None:
    """The plane of one real and one imaginary coordinate: the null lines and the unit curves."""
    u = np.linspace(-reach, reach, 201)
    null = {"color": YELLOW, "linewidth": 1.5, "zorder": 1}
    ax.plot(u, u, **null, label="squared length 0")
    ax.plot(u, -u, **null)
    curve = np.sqrt(1.0 + u**2)
    for sign in (-1.0, 1.0):
        first = sign > 0
        ax.plot(sign * curve, u, color=BLUE, label="squared length 1" if first else None)
        label = "squared length -1" if first else None
        ax.plot(u, sign * curve, color=ORANGE, linestyle="--", label=label)
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    ax.set(xlabel="$u$ (real)", ylabel="$v$ (imaginary)")


def hulls(ax: Axes, X: np.ndarray, y: np.ndarray) -> None:
    """The convex hulls of both classes in the plane."""
    from scipy.spatial import ConvexHull

    for label, color in ((-1, ORANGE), (1, BLUE)):
        points = X[y == label]
        corners = points[ConvexHull(points).vertices]
        ax.fill(*corners.T, color=color, alpha=0.12, linewidth=0)


def reduced_hulls(ax: Axes, X: np.ndarray, y: np.ndarray, mu: float) -> None:
    """The hulls of both classes with no weight above mu, from their support in all directions."""
    for label, color in ((-1, ORANGE), (1, BLUE)):
        points, corners = X[y == label], []
        for angle in np.linspace(0.0, 2.0 * np.pi, 181):
            order = np.argsort(points @ [np.cos(angle), np.sin(angle)])[::-1]
            weights = np.clip(1.0 - mu * np.arange(len(points)), 0.0, mu)
            corners.append(weights @ points[order])
        ax.fill(*np.array(corners).T, facecolor=color, alpha=0.2, edgecolor=color)


def separation(ax: Axes, X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> None:
    """The points that the weights stand for in either class, and the plane half-way."""
    plus, minus = (weights[y == label] @ X[y == label] for label in (1, -1))
    ax.plot(*np.array([plus, minus]).T, "-", color=INK, marker="D", markersize=5, zorder=4)
    middle, (u, v) = 0.5 * (plus + minus), plus - minus
    direction = np.array([v, u])  # orthogonal in the plane with the lengths u² - v²
    ax.axline(middle, middle + direction, color=GREEN, linewidth=2, zorder=2)


def contours(ax: Axes, first: np.ndarray, second: np.ndarray, values: np.ndarray) -> None:
    """A function over a box of two weights, dark where it is small."""
    ax.contourf(first, second, values, 24, cmap="cividis", alpha=0.85)
    ax.contour(first, second, values, 24, colors="white", linewidths=0.4)
    ax.set(aspect="equal", xlabel="$\\alpha_1$", ylabel="$\\alpha_2$")


def spectra(ax: Axes, named: dict[str, np.ndarray], colors: Sequence[str]) -> None:
    """Eigenvalues of several matrices beside each other, in ascending order."""
    width = 0.8 / len(named)
    for k, ((name, values), color) in enumerate(zip(named.items(), colors, strict=True)):
        ax.bar(np.arange(len(values)) + k * width - 0.4, values, width, color=color, label=name)
    ax.axhline(0.0, color=INK, linewidth=0.8)
    ax.set(xlabel="rank, ascending", ylabel="eigenvalue")
    ax.legend(loc="upper left")


def plane_map(
    ax: Axes, first: np.ndarray, second: np.ndarray, values: np.ndarray, **options: Any
) -> Any:
    """A map of values over two parameters; rows belong to the second."""
    image = ax.pcolormesh(first, second, values, shading="nearest", **options)
    ax.axhline(0.0, color="white", linewidth=0.8)
    ax.axvline(0.0, color="white", linewidth=0.8)
    ax.set(xlabel="$a$", ylabel="$r$")
    return image
