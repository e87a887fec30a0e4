"""The figure of a program without an optimum: the ray, or the rows that contradict each other."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indefinite_opt.algebra import symbol_text
from indefinite_opt.errors import InfeasibleProblem, ParameterError, UnboundedProblem
from indefinite_opt.figures import style
from indefinite_opt.figures.plane import Plane, clipped
from indefinite_opt.foundation import Array
from indefinite_opt.modeling import UnboundedRay
from indefinite_opt.quadratic import NoOptimum, QuadraticProgram, StandardForm

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POINTS = 101
"""How many points the objective is drawn at along a ray."""

RESOLUTION = 161
"""Grid points along each axis of a plane."""

MOST_BARS = 40
"""The rows with the largest weights that are drawn one by one."""


class Half(NamedTuple):
    """A half-plane slope·x ≤ room, and its weight in the contradiction."""

    slope: Array
    room: float
    weight: float
    symbols: tuple[str, str]

    @property
    def label(self) -> str:
        """The inequality with a positive first coefficient, and the weight if it has one."""
        sign = 1.0 if self.slope[np.flatnonzero(self.slope)[0]] > 0.0 else -1.0
        text = ""
        for size, symbol in zip(sign * self.slope, self.symbols, strict=True):
            if size:
                joined = (" − " if size < 0.0 else " + ") if text else ""
                text += joined + ("" if abs(size) == 1.0 else f"{abs(size):.3g} ") + symbol
        words = f"{text} {'≤' if sign > 0.0 else '≥'} {sign * self.room + 0.0:.3g}"
        return words.replace("-", "−") + (f", weight {self.weight:.3g}" if self.weight else "")


@style.styled
def no_optimum_figure(proof: NoOptimum | UnboundedRay) -> Figure:
    """Why a program has no optimum, from the proof that `verify` returns.

    In two variables an unbounded program is drawn with the ray along which its objective falls, and
    an infeasible one with what each row and bound excludes. In more variables the picture has the
    objective along the ray, or the weights of the rows whose sum is a contradiction. An
    `UnboundedRay` is drawn as at² + bt.

    Parameters
    ----------
    proof : NoOptimum or UnboundedRay

    Raises
    ------
    ParameterError
        If nothing is proved.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> saddle = iopt.QuadraticProgram([[1.0, -2.0], [-2.0, 1.0]], [0.0, 0.0], lb=0)
    >>> figure = no_optimum_figure(iopt.verify(saddle, {"ray": [1.0, 1.0]}))
    >>> figure.axes[0].get_xlabel()
    'x₁'
    """
    if not isinstance(proof, NoOptimum | UnboundedRay) or not proof.proved:
        expected = "a proof of verify that a program is unbounded or infeasible"
        hint = ""
        if isinstance(proof, UnboundedProblem | InfeasibleProblem):
            hint = "iopt.verify(problem, error) makes it of this error."
        raise ParameterError("proof", expected, f"{type(proof).__name__}: {proof}", hint)
    flat = isinstance(proof, NoOptimum) and proof.form.cost.size == 2
    figure, (ax,) = style.panels(*((5.8, 5.0) if flat else (7.0, 3.6)))
    if isinstance(proof, UnboundedRay):
        title = "unbounded: the objective falls along the ray"
        _draw_growth(ax, proof)
    elif proof.kind == "unbounded":
        title = "unbounded: the objective falls along the ray"
        (_draw_ray if flat else _draw_along)(ax, proof)
    else:
        title = "infeasible: these rows contradict each other"
        if flat:
            title = "infeasible: what the rows exclude covers the plane"
        (_draw_halves if flat else _draw_weights)(ax, proof)
    style.legend_above(ax, title, columns=1 if flat else 2)
    return figure


# ------------------------------------------------------------------------------------------- rays


def _start_and_ray(proof: NoOptimum) -> tuple[Array, Array]:
    """A feasible point, or 0 if none is known, and a ray of length 1."""
    ray = proof.ray
    assert ray is not None
    start = getattr(proof.proof, "start", None)
    point = np.zeros(ray.size) if start is None else np.array([*map(float, start)])
    return point, ray / np.linalg.norm(ray)


def _draw_ray(ax: Axes, proof: NoOptimum) -> None:
    """Contours of the objective with the ray."""
    start, ray = _start_and_ray(proof)
    program = QuadraticProgram.from_arrays(proof.form.arrays()).program()
    size = 2.0 * max(1.0, float(np.abs(start).max()))
    end = start + size * ray
    middle = 0.5 * (start + end)
    plane = Plane(program, np.zeros(2), np.eye(2), np.eye(2), _names(proof.form), whole=True)
    plane.draw(ax, plane.view_between(middle - 0.8 * size, middle + 0.8 * size, RESOLUTION))
    arrow = {"arrowstyle": "-|>", "color": style.VERMILLION, "linewidth": 2.0}
    ax.annotate("", (end[0], end[1]), (start[0], start[1]), arrowprops=arrow, zorder=4)
    ax.plot(*start, "o", color=style.VERMILLION, markersize=6.0, label="ray", zorder=4)


def _draw_along(ax: Axes, proof: NoOptimum) -> None:
    """The objective along the ray."""
    start, ray = _start_and_ray(proof)
    form = proof.form
    lengths = np.linspace(0.0, 10.0 * max(1.0, float(np.abs(start).max())), POINTS)
    x = start + lengths[:, None] * ray
    curved = np.einsum("ij,ij->i", x @ form.dense_hessian, x)
    values = form.sense * (0.5 * curved + x @ form.cost + form.constant)
    ax.plot(lengths, values, color=style.VERMILLION, linewidth=1.8, label="objective")
    ax.set(xlabel="distance along the ray", ylabel="objective")
    ax.grid(True)


def _draw_growth(ax: Axes, ray: UnboundedRay) -> None:
    """at² + bt, which the objective differs from by no more than a constant if b is known."""
    a, b = float(ray.quadratic), float(ray.linear or 0)
    t = np.linspace(0.0, 4.0 * max(1.0, -b / a if a else 0.0), POINTS)
    ax.plot(t, a * t**2 + b * t, color=style.VERMILLION, linewidth=1.8, label="growth")
    ax.set(xlabel="t, of s + td", ylabel="minimised objective")
    ax.grid(True)


# -------------------------------------------------------------------------------------- conflicts


def _draw_halves(ax: Axes, proof: NoOptimum) -> None:
    """What each row and bound excludes of the plane, in colours those that contradict."""
    from matplotlib.patches import Polygon

    halves = _halves(proof)
    low, high = _window(halves)
    square = np.array([low, [high[0], low[1]], high, [low[0], high[1]]])
    colors = iter(itertools.cycle(style.LINE_COLORS))
    for half in halves:
        color = next(colors) if half.weight else style.GREY
        outside = clipped(square, -half.slope, -half.room)
        if len(outside) > 2:
            ax.add_patch(Polygon(outside, color=color, alpha=0.16, linewidth=0.0))
        border = clipped(outside, half.slope, half.room + 1e-9 * np.abs(high - low).max())
        ax.plot(
            *border.T, color=color, linewidth=1.8 if half.weight else 1.0, label=half.label,
        )  # fmt: skip
    first, second = _names(proof.form)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    ax.set(xlabel=first, ylabel=second)


def _halves(proof: NoOptimum) -> list[Half]:
    """Rows and bounds as half-planes."""
    form, y = proof.form, proof.conflict
    assert y is not None
    rows = form.dense_matrix
    # What the rows leave of the variables, the bounds take up with the opposite sign.
    slopes = np.vstack([rows, np.eye(2)])
    weights = np.concatenate([y, -(rows.T @ y)])
    lower = np.concatenate([form.row_lower, form.lower])
    upper = np.concatenate([form.row_upper, form.upper])
    found = []
    for slope, low, high, weight in zip(slopes, lower, upper, weights.tolist(), strict=True):
        found.append(Half(slope, float(high), max(weight, 0.0), _names(form)))
        found.append(Half(-slope, -float(low), max(-weight, 0.0), _names(form)))
    return [half for half in found if np.isfinite(half.room) and half.slope.any()]


def _window(halves: list[Half]) -> tuple[Array, Array]:
    """The corners of a square with the points where borders meet."""
    places = [half.slope * half.room / (half.slope @ half.slope) for half in halves]
    for one, other in itertools.combinations(halves, 2):
        both = np.array([one.slope, other.slope])
        lengths = np.linalg.norm(both, axis=1).prod()
        if abs(float(np.linalg.det(both))) > 1e-6 * lengths:
            places.append(np.linalg.solve(both, [one.room, other.room]))
    low, high = np.min(places, axis=0), np.max(places, axis=0)
    reach = 0.8 * (float(np.max(high - low)) or 1.0)
    middle = 0.5 * (low + high)
    return middle - reach, middle + reach


def _draw_weights(ax: Axes, proof: NoOptimum) -> None:
    """The weights of the rows whose sum is a contradiction, the largest first."""
    y = proof.conflict
    assert y is not None
    order = np.argsort(-np.abs(y), kind="stable")[:MOST_BARS]
    order = order[y[order] != 0.0]
    names = proof.form.row_names or tuple(map(str, range(y.size)))
    for sign, color, label in ((1, style.BLUE, "upper ends"), (-1, style.VERMILLION, "lower ends")):
        chosen = sign * y[order] > 0.0
        if chosen.any():
            sizes = np.abs(y[order][chosen])
            ax.bar(np.flatnonzero(chosen), sizes, 0.85, color=color, label=label)
    ax.set_xticks(range(order.size), [names[k] or str(k) for k in order], rotation=90)
    ax.set(xlabel="row", ylabel="weight in the contradiction")


def _names(form: StandardForm) -> tuple[str, str]:
    """The symbols of the two variables."""
    first, second = form.variables or (symbol_text("x1"), symbol_text("x2"))
    return first, second
