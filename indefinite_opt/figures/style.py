"""The typography, colours and axes that all figures share."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np

from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from indefinite_opt.figures.drawing import Drawing

P = ParamSpec("P")

BLUE, VERMILLION, INK, GREY, PALE = "#0072B2", "#D55E00", "#222222", "#666666", "#F3F4F6"

SIGN_COLORS = {1: BLUE, -1: VERMILLION}
"""What is positive and what is negative: classes, eigenvalues."""

CLASS_MARKS: dict[int, dict[str, Any]] = {
    1: {"color": SIGN_COLORS[1], "marker": "o"},
    -1: {"color": SIGN_COLORS[-1], "marker": "^"},
}
"""Colour and marker of the points of both classes, as matplotlib takes them."""

DECISION_SHADES = ("#E8A56A", "#FFFFFF", "#6FB1DA")
"""From the most negative to the most positive value of a decision function."""

OBJECTIVE_SHADES = ("#F7FBFF", "#D6E6F4", "#ABCFE6", "#6BAED6", "#3787C0", "#105BA4")
"""From the worst to the best objective."""

VALUES_MAP = "viridis"
"""The colour map of what is neither: predictions, distances, accuracies."""

LINE_COLORS = (BLUE, VERMILLION, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", INK)
LINE_STYLES = ("-", "--", "-.", ":")
"""Used in turn for the curves of a panel. As 7 and 4 have no common factor, the first 28 curves
differ in colour or style."""

GAP_RANGE = (1e-17, 10.0)
"""Where relative gaps of 0 and of infinity are drawn: below the rounding of any other gap, and a
decade above 1."""

_STYLE: dict[Any, Any] = {
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "text.parse_math": False,  # a class may be called "$5"
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "figure.constrained_layout.wspace": 0.05,
}


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Draw with the typography of this module, and leave matplotlib's settings as they were.

    At a prompt the figure is shown at once; in a script by its method `show`.
    """

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Figure:
        import matplotlib

        with matplotlib.rc_context(_STYLE):
            figure = draw(*args, **kwargs)
        # Somebody types at a prompt; a notebook shows the figures that its cells return.
        prompt = hasattr(sys, "ps1") and "ipykernel" not in sys.modules
        if prompt and kwargs.get("ax") is None and isinstance(figure, _drawing()):
            figure.show_if_possible()
        return figure

    return drawn


def panels(
    width: float, height: float, columns: int = 1, rows: int = 1, **options: Any
) -> tuple[Figure, list[Axes]]:
    """A figure of this size in inches with panels row by row, and options as in `subplots`."""
    figure = _drawing()(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False, **options).ravel())


def panel(ax: Axes | None, width: float, height: float) -> tuple[Figure, Axes]:
    """The axes of the caller with their figure, or those of a new figure of this size in inches."""
    if ax is None:
        figure, (ax,) = panels(width, height)
        return figure, ax
    root = ax.get_figure(root=True)
    if root is None:
        raise ProblemError("ax", "axes of a figure", "axes without one")
    return root, ax


def legend_above(ax: Axes, title: str | None = None, columns: int = 3) -> None:
    """A legend between the title of the figure and the axes, where it covers nothing."""
    ax.legend(
        title=title, title_fontsize=9.5, alignment="left", loc="lower left", ncols=columns,
        bbox_to_anchor=(0.0, 1.0), borderpad=0.0, handlelength=1.4, columnspacing=1.2,
    )  # fmt: skip


DOTS_PER_INCH = 90
"""Resolution of stored pictures, which is sharp enough on a page."""

PALETTE = 128
"""A PNG file with a table of so many colours has a third of the size."""


def png(figure: Figure) -> bytes:
    """A figure as a small PNG file."""
    from PIL import Image

    drawn, stored = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=DOTS_PER_INCH)
    Image.open(drawn).convert("RGB").quantize(PALETTE).save(stored, format="png", optimize=True)
    return stored.getvalue()


def _drawing() -> type[Drawing]:
    # matplotlib is imported when the first figure is drawn.
    from indefinite_opt.figures.drawing import Drawing

    return Drawing


def line_color(k: int) -> str:
    """The colour of the k-th of several curves or classes."""
    return LINE_COLORS[k % len(LINE_COLORS)]


def decades(low: float, high: float, at_most: int) -> list[float]:
    """Powers of ten from low to high, every k-th one from the top if there are too many."""
    first, last = int(np.floor(np.log10(low))), int(np.floor(np.log10(high)))
    step = -(-(last - first + 1) // at_most)
    return [10.0**k for k in range(last, first - 1, -step)][::-1]


def logarithmic(ax: Axes, which: str, values: Array) -> None:
    """Make the axis "x" or "y" logarithmic, from a whole decade below the values to one above."""
    drawn = values[np.isfinite(values) & (values > 0.0)]
    low, high = (drawn.min(), drawn.max()) if drawn.size else (1e-3, 1.0)
    first, last = 10.0 ** np.floor(np.log10(low)), 10.0 ** np.ceil(np.log10(high))
    last = max(last, 10.0 * first)
    ax.set(**{f"{which}scale": "log", f"{which}lim": (0.7 * first, 1.4 * last)})
    axis = getattr(ax, f"{which}axis")
    axis.set_ticks(decades(first, last, at_most=5))
    axis.set_major_formatter(power)
    ax.minorticks_off()


def power(value: float, _: Any = None) -> str:
    """A power of ten such as 10⁻³ in plain characters, which follow the font of a page."""
    if value == 0.0:
        return "0"
    exponent = round(float(np.log10(abs(value))))
    raised = str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    size = "1" if exponent == 0 else "10" if exponent == 1 else f"10{raised}"
    return f"−{size}" if value < 0 else size
