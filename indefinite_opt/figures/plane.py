"""A plane in the space of a program's variables: its coordinates, its feasible part, contours."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from indefinite_opt.algebra import symbol_text
from indefinite_opt.errors import ParameterError
from indefinite_opt.figures import style
from indefinite_opt.foundation import Array, checked_values, finite_array
from indefinite_opt.quadratic import QP, CompiledProgram, VectorProgram

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RESOLUTION, LEAST_RESOLUTION = 121, 61
"""Grid points along each axis of a plane, and those of a program that is not quadratic, whose
objective is evaluated at each."""

MIN_ANGLE = 1e-6
"""Distance from a line from which on three points make a plane, as a share of their norm."""

FAR = 1e6
"""Where the plane ends that polygons are cut from, in units of the points that are drawn."""

MARGIN, WIDE_MARGIN = 0.06, 0.4
"""Room round the feasible set where all of it is drawn, and round three points, as shares of the
width."""


class View(NamedTuple):
    """What is drawn of a plane."""

    polygon: Array
    """Corners of the feasible part, (k, 2)."""
    first: Array
    second: Array
    """The coordinates of a grid."""
    values: Array
    """The declared objective there, (second.size, first.size)."""


@dataclass(frozen=True, eq=False)
class Plane:
    """The points x = origin + steps·s for coordinates s, and the program whose points they are."""

    program: VectorProgram
    origin: Array
    """(n,)"""
    steps: Array
    """(n, 2)"""
    reading: Array
    """(2, n) with s = reading·(x - origin) for points of the plane; the nearest ones for others."""
    labels: tuple[str, str]
    whole: bool
    """Whether the plane has every feasible point."""

    @classmethod
    def of(cls, program: VectorProgram, points: Sequence[Array], chosen: Any = None) -> Plane:
        """All feasible points if they have two dimensions, else the plane through three points.

        These are the chosen ones, or the first two of the others and the one farthest from their
        line.
        """
        if chosen is None and (exact := cls.of_all(program)) is not None:
            return exact
        if chosen is not None:
            points = [vector_of(program, each) for each in chosen]
            if len(points) != 3:
                raise ParameterError("plane", "three points", f"{len(points)}")
        corners = _corners(points) if points else []
        if len(corners) < 3:
            raise ParameterError(
                "plane", "three points that are not on a line", "points on a line",
                "Give three points, or a result with record=True, whose steps are points, too.",
            )  # fmt: skip
        origin, first, second = corners
        across = first - origin
        across /= np.linalg.norm(across)
        up = second - origin
        up = up - (up @ across) * across
        up /= np.linalg.norm(up)
        steps = np.column_stack([across, up])
        labels = "along the line of two points", "away from that line"
        return cls(program, origin, steps, steps.T, labels, whole=False)

    @classmethod
    def of_all(cls, program: VectorProgram) -> Plane | None:
        """The plane of all feasible points, in two of the variables; None if there are more."""
        n = program.n
        _, _, low, high, rows = constraints(program)
        equal = rows[low == high]
        if n == 2:
            equal = equal[:0]
        if n < 2 or n - equal.shape[0] > 2:
            return None
        _, sizes, right = np.linalg.svd(equal) if equal.size else (0, np.empty(0), np.eye(n))
        null = right[np.count_nonzero(sizes > 1e-12 * max(sizes.max(initial=0.0), 1.0)) :].T
        if null.shape[1] != 2:
            return None
        pairs = list(itertools.combinations(range(n), 2))
        volumes = [abs(float(np.linalg.det(null[[i, j]]))) for i, j in pairs]
        i, j = pairs[int(np.argmax(np.array(volumes) > 0.1 * max(volumes)))]
        steps = null @ np.linalg.inv(null[[i, j]])
        start = program.start()
        origin = start - steps @ start[[i, j]]
        names = [symbol_text(f"{program.variable}{k + 1}") for k in (i, j)]
        return cls(program, origin, steps, np.eye(n)[[i, j]], (names[0], names[1]), whole=True)

    def place(self, x: Array) -> Array:
        """The coordinates of points, (..., 2)."""
        placed: Array = (x - self.origin) @ self.reading.T
        return placed

    def values(self, first: Array, second: Array) -> Array:
        """The declared objective on a grid, (second.size, first.size)."""
        s = np.stack(np.meshgrid(first, second), axis=-1)
        F = _values_at(self.program, self.origin, self.steps, s)
        return np.vectorize(self.program.declared, otypes=[float])(F)

    def polygon(self, lower: Array | None = None, upper: Array | None = None) -> Array:
        """The corners of the feasible part, or that of a box in it, in turn; (k, 2).

        Where the plane has points that violate equations, these are passed over.
        """
        low, high, row_low, row_high, rows = constraints(self.program)
        low = low if lower is None else lower
        high = high if upper is None else upper
        free = row_low < row_high
        normals = np.vstack([np.eye(self.program.n), rows[free]])
        ends = np.concatenate([low, row_low[free]]), np.concatenate([high, row_high[free]])
        at, slopes = normals @ self.origin, normals @ self.steps
        size = FAR * (1.0 + float(np.abs(self.origin).max(initial=0.0)))
        corners = size * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
        for sign, end in ((-1.0, ends[0]), (1.0, ends[1])):
            for slope, room in zip(sign * slopes, sign * (end - at), strict=True):
                if np.isfinite(room):
                    corners = clipped(corners, slope, float(room))
        # Borders that meet in one point cut corners there, which differ by rounding.
        apart = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1)
        return corners[apart > 1e-9 * np.abs(corners).max(initial=0.0)]

    def window(self, places: Array, polygon: Array) -> tuple[Array, Array]:
        """The corners of what is drawn, for points at these coordinates."""
        size = 0.5 * FAR
        all_of_it = self.whole and polygon.size and np.abs(polygon).max() < size
        ends = np.vstack([polygon, places]) if all_of_it else places
        low, high = ends.min(axis=0), ends.max(axis=0)
        width = np.maximum(high - low, 0.5 * float((high - low).max()) or 1.0)
        middle = 0.5 * (low + high)
        reach = 0.5 * width * (1.0 + 2.0 * (MARGIN if all_of_it else WIDE_MARGIN))
        return middle - reach, middle + reach

    def view(self, places: Array, resolution: int) -> View:
        """The objective and the feasible part round points at these coordinates."""
        return self.view_between(*self.window(places, self.polygon()), resolution)

    def view_between(self, low: Array, high: Array, resolution: int) -> View:
        """The objective and the feasible part between two corners of what is drawn."""
        polygon = self.polygon()
        first, second = np.linspace(low, high, resolution).T
        return View(polygon, first, second, self.values(first, second))

    def draw(self, ax: Axes, view: View, bar: bool = True) -> None:
        """Contours of the objective on the feasible part, its border, and the axes."""
        from matplotlib.colors import LinearSegmentedColormap
        from matplotlib.patches import Polygon

        polygon, first, second, values = view
        seen = _inside(polygon, first, second)
        shown = values[seen] if seen.any() else values
        low, high = float(shown.min()), float(shown.max())
        if not low < high:
            low, high = low - 0.5, low + 0.5
        levels, sense = np.linspace(low, high, 15), self.program.sense
        colors = LinearSegmentedColormap.from_list("objective", style.OBJECTIVE_SHADES[::-sense])
        filled = ax.contourf(first, second, values, levels, cmap=colors, extend="both")
        lines = ax.contour(
            first, second, values, levels, colors=["white"], linewidths=0.5, linestyles="solid"
        )
        if len(polygon) > 2:
            border = Polygon(polygon, closed=True, transform=ax.transData)
            for artist in (filled, lines):
                artist.set_clip_path(border)
            ax.add_patch(Polygon(polygon, fill=False, edgecolor=style.INK, linewidth=1.1))
        self._draw_equations(ax, polygon)
        ax.set(xlim=first[[0, -1]], ylim=second[[0, -1]], aspect="equal")
        ax.set(xlabel=self.labels[0], ylabel=self.labels[1])
        if bar:
            better = "larger" if sense < 0 else "smaller"
            figure = ax.get_figure(root=True)
            scale = figure.colorbar(filled, ax=ax, shrink=0.85)  # type: ignore[union-attr]
            scale.set_label(f"objective ({better} is better)")
            ticks = levels[:: (levels.size - 1) // 2].tolist()
            scale.set_ticks(ticks, labels=[f"{tick:.3g}".replace("-", "−") for tick in ticks])
            scale.minorticks_off()

    def _draw_equations(self, ax: Axes, polygon: Array) -> None:
        """The feasible segment of a plane whose other points violate an equation."""
        _, _, low, high, rows = constraints(self.program)
        for row, end in zip(rows[low == high], high[low == high], strict=True):
            slope = row @ self.steps
            if len(polygon) > 2 and np.linalg.norm(slope) > 1e-9 * np.linalg.norm(row):
                room = float(end - row @ self.origin)
                cut = clipped(clipped(polygon, slope, room), -slope, -room)
                ax.plot(*cut.T, color=style.INK, linewidth=2.2, label="feasible")


def clipped(corners: Array, slope: Array, room: float) -> Array:
    """The part of a convex polygon where slope·s ≤ room, (k, 2).

    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> clipped(square, np.array([1.0, 0.0]), 0.5).max(axis=0)
    array([0.5, 1. ])
    """
    kept = []
    over = corners @ slope - room
    for k, here in enumerate(corners):
        before, there = over[k - 1], over[k]
        if (before <= 0.0) != (there <= 0.0):
            kept.append(corners[k - 1] + before / (before - there) * (here - corners[k - 1]))
        if there <= 0.0:
            kept.append(here)
    return np.array(kept).reshape(-1, 2)


def constraints(program: VectorProgram) -> tuple[Array, Array, Array, Array, Array]:
    """l, u, s, t and R of l ≤ x ≤ u and s ≤ Rx ≤ t, which may be the same."""
    low, high, row_low, row_high, rows = program.feasible.constraints
    return low, high, row_low, row_high, getattr(rows, "toarray", lambda: rows)()


def vector_of(program: VectorProgram, point: Any) -> Array:
    """A point as users give it: an array, or values by name."""
    if isinstance(point, Mapping):
        return program.from_values(checked_values("plane", point, program.shapes))
    return finite_array("plane", point, (program.n,))


def _corners(points: Sequence[Array]) -> list[Array]:
    """The first point, the first other one, and that farthest from their line, if there is one."""
    first = points[0]
    size = MIN_ANGLE * max(float(np.linalg.norm(x)) for x in points)
    second = next((x for x in points if np.linalg.norm(x - first) > size), None)
    if second is None:
        return [first]
    along = (second - first) / np.linalg.norm(second - first)
    away = np.array(points) - first
    distances = np.linalg.norm(away - np.outer(away @ along, along), axis=1)
    farthest = int(np.argmax(distances))
    return [first, second, points[farthest]] if distances[farthest] > size else [first, second]


def _inside(polygon: Array, first: Array, second: Array) -> Array:
    """Which points of a grid are in a polygon, (second.size, first.size) of bool."""
    from matplotlib.path import Path

    grid = np.stack(np.meshgrid(first, second), axis=-1)
    if len(polygon) < 3:
        return np.ones(grid.shape[:2], bool)
    return Path(polygon).contains_points(grid.reshape(-1, 2)).reshape(grid.shape[:2])


@singledispatch
def resolution_of(program: CompiledProgram[Any]) -> int:
    """Points of a grid along each axis, as many as can be evaluated at once."""
    return LEAST_RESOLUTION


@resolution_of.register
def _(qp: QP) -> int:
    return RESOLUTION


@singledispatch
def _values_at(program: VectorProgram, origin: Array, steps: Array, s: Array) -> Array:
    """F at origin + steps·s for each s of a grid, (..., 2)."""
    return np.apply_along_axis(program.value, -1, origin + s @ steps.T)


@_values_at.register
def _(qp: QP, origin: Array, steps: Array, s: Array) -> Array:
    # Exact on the plane, from two products with H.
    here = qp.at(origin)
    curved = steps.T @ np.column_stack([qp.hessian_times(u) for u in steps.T])
    slope = here.gradient @ steps
    return here.value + s @ slope + 0.5 * np.einsum("...a,ab,...b->...", s, curved, s)
