"""The figure of a path: what was found for each value of the parameter that varies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from indefinite_opt.errors import ParameterError
from indefinite_opt.figures import style
from indefinite_opt.figures.comparison import draw_claims
from indefinite_opt.figures.inputs import PathLike
from indefinite_opt.foundation import Array, checks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FITS: dict[str, tuple[str, float, float]] = {
    "training_error": ("accuracy (%)", 100.0, -100.0),
    "training_rmse": ("RMSE", 0.0, 1.0),
    "training_outliers": ("outliers (%)", 0.0, 100.0),
}
"""Columns of the table with the label of their panel; a and b of the number a + b·value drawn."""

_LINES = {"training": (style.BLUE, "-"), "test": (style.VERMILLION, "--.")}
"""Colours and styles of the curves by their names."""

_MOST_TITLES, _TITLE_LENGTH = 25, 24
"""How many positions have their titles, and how many characters these have, at most."""

_WIDE = 30.0
"""Ratio of the largest to the smallest number from which on an axis may be logarithmic: within a
single decade it would have one or two ticks."""


@style.styled
def path_figure(path: PathLike, test: tuple[Any, Any] | None = None) -> Figure:
    """Objective, support vectors and fit over the parameter that varies, in panels that share it.

    The axis of the parameter is logarithmic if its values are spaced like powers. If several
    parameters vary, or one without finite numbers, the entries stand side by side under their
    titles. Shapes and colours say what is proved. Where a formulation has failed there is a cross,
    and the curves are interrupted.

    Parameters
    ----------
    path : Path
    test : (X_new, y_new), optional
        New points and their labels, as in `Path.test_error`.

    Raises
    ------
    ParameterError
        If the path has no entry, or `test` is not a pair.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, 0.0], [0.0, 1.0]], [1, -1])
    >>> path = iopt.solve_path(problem, [iopt.SVMDual(C=C) for C in (0.01, 0.1, 1.0)])
    >>> [axes.get_ylabel() for axes in path_figure(path).axes]
    ['objective', 'support vectors', 'accuracy (%)']
    """
    if not path.table:
        raise ParameterError("path", "at least one entry", "none")
    panels = _panels(path, test)
    numbers = _numbers(path)
    x = np.arange(float(len(path.table))) if numbers is None else numbers
    longest = 0 if numbers is not None else max(map(len, _short_titles(path)))
    height = 0.9 + 1.75 * len(panels) + 0.07 * longest
    figure, axes = style.panels(6.8, height, rows=len(panels), sharex=True)
    legend: dict[str, Any] = {}
    for ax, (label, curves) in zip(axes, panels.items(), strict=True):
        _draw(ax, x, curves, path.table)
        ax.set_ylabel(label)
        ax.grid(True)
        handles, names = ax.get_legend_handles_labels()
        legend |= dict(zip(names, handles, strict=True))
    _label_parameter(axes[-1], path, numbers)
    figure.align_ylabels(axes)
    figure.legend([*legend.values()], [*legend], loc="outside lower center", ncols=len(legend))
    return figure


def _panels(path: PathLike, test: tuple[Any, Any] | None) -> dict[str, dict[str, Array]]:
    """The curves of each panel by their names, and the panels by their labels."""
    columns = path.table[0]
    panels = {}
    if "objective" in columns:
        panels["objective"] = {"": _column(path.table, "objective")}
    if "support" in columns:
        panels["support vectors"] = {"": _column(path.table, "support")}
    fits = [name for name in _FITS if name in columns]
    if len(fits) == 1:  # else formulations are for different tasks, and nothing can be compared
        label, start, factor = _FITS[fits[0]]
        errors = {"training": _column(path.table, fits[0])}
        if test is not None:
            if not isinstance(test, tuple | list) or len(test) != 2:
                raise ParameterError("test", "a pair (X_new, y_new)", type(test).__name__)
            errors["test"] = np.asarray(path.test_error(*test))
        known = {name: values for name, values in errors.items() if not np.isnan(values).all()}
        if known:
            panels[label] = {name: start + factor * values for name, values in known.items()}
    return panels


def _column(table: Sequence[Mapping[str, Any]], name: str) -> Array:
    """A column of numbers, NaN where there is none."""
    return np.array([np.nan if row[name] is None else row[name] for row in table], dtype=float)


def _numbers(path: PathLike) -> Array | None:
    """The values of the one parameter that varies, if all are finite numbers."""
    if len(path.varied) != 1:
        return None
    values = [row[path.varied[0]] for row in path.table]
    if not all(checks.is_number(value) and np.isfinite(value) for value in values):
        return None
    return np.array(values, dtype=float)


def _draw(
    ax: Axes, x: Array, curves: Mapping[str, Array], table: Sequence[Mapping[str, Any]]
) -> None:
    """Curves in the order of x, with marks of the claims and a cross for each failure."""
    order = np.argsort(x, kind="stable")
    claims = [row["claim"] for row in table]
    drawn = np.concatenate([*curves.values()])
    if _spans_decades(drawn):
        style.logarithmic(ax, "y", drawn)
    for name, values in curves.items():
        color, line = _LINES.get(name, (style.GREY, "-"))
        ax.plot(
            x[order], values[order], line, color=color, linewidth=1.4, label=name or "_curve"
        )  # fmt: skip
        if name != "test":  # dots are enough, as the marks of claims would hide a second curve
            draw_claims(ax, x, values, claims, size=float(np.clip(200.0 / x.size, 3.0, 6.0)))
    failed = np.array([bool(row["error"]) for row in table])
    if failed.any():
        ax.plot(
            x[failed], np.full(failed.sum(), 0.06), "x", color=style.VERMILLION, label="failed",
            transform=ax.get_xaxis_transform(),
        )  # fmt: skip


def _spans_decades(values: Array) -> bool:
    """Whether only a logarithmic axis shows the smallest of positive numbers."""
    known = values[np.isfinite(values)]
    return bool(known.size and known.min() > 0.0 and known.max() > _WIDE * known.min())


def _label_parameter(ax: Axes, path: PathLike, numbers: Array | None) -> None:
    """Name the parameter below the lowest panel, with its values or the titles of the entries."""
    ax.set_xlabel(", ".join(path.varied) or "formulation")
    if numbers is None:
        titles = _short_titles(path)
        shown = range(0, len(titles), -(-len(titles) // _MOST_TITLES))
        rotation = 90.0 if sum(map(len, titles)) > 60 else 0.0
        ax.set_xticks(shown, [titles[k] for k in shown], rotation=rotation)
    elif _like_powers(numbers):
        style.logarithmic(ax, "x", numbers)


def _short_titles(path: PathLike) -> list[str]:
    """The titles of the entries, the last character … if something is left out."""
    return [
        title if len(title) <= _TITLE_LENGTH else f"{title[: _TITLE_LENGTH - 1]}…"
        for title in path.titles
    ]


def _like_powers(values: Array) -> bool:
    """Whether the median is nearer to the geometric mean of the ends than to their mean.

    >>> _like_powers(np.logspace(-3, 3, 50)), _like_powers(np.linspace(0.1, 10.0, 50))
    (True, False)
    """
    low, high = float(values.min()), float(values.max())
    if low <= 0.0 or high < _WIDE * low:
        return False
    return float(np.median(values)) < 0.5 * (math.sqrt(low * high) + 0.5 * (low + high))
