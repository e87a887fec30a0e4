"""Figures of a comparison, of a kernel's spectrum, and of a bracket that closes.

Every function makes its own `matplotlib.figure.Figure`: no pyplot, no global state, no window.
Colours are those of Okabe and Ito, which colour-blind readers tell apart; shape says the same.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import ParameterError
from indefinite_opt.figures.inputs import BracketLike, ComparisonLike
from indefinite_opt.modeling.formulation import Formulation
from indefinite_opt.problem.kernel_problem import KernelProblem

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from indefinite_opt.problem.spectrum import Spectrum

__all__ = [
    "CLAIM_COLORS",
    "LINE_COLORS",
    "LINE_STYLES",
    "bracket_figure",
    "comparison_figure",
    "row_labels",
    "side_by_side",
    "spectrum_figure",
    "styled",
]

Array = NDArray[np.float64]

BLUE, VERMILLION, INK, GREY, PALE = "#0072B2", "#D55E00", "#222222", "#666666", "#F3F4F6"

CLAIM_COLORS = {
    "GLOBAL": "#009E73",
    "LOCAL": "#56B4E9",
    "STATIONARY": "#E69F00",
    "FEASIBLE": "#D55E00",
    "NONE": "#CC79A7",
}
_CLAIM_MARKERS = {"GLOBAL": "o", "LOCAL": "s", "STATIONARY": "^", "FEASIBLE": "D", "NONE": "X"}

LINE_COLORS = (BLUE, VERMILLION, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", INK)
LINE_STYLES = ("-", "--", "-.", ":")
"""Of curves in one panel, in turn; their numbers have no common factor."""

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

_GAP_RANGE = (1e-17, 10.0)
"""Where gaps of 0 and of infinity are drawn: below the rounding of any other, and above 1."""

_GAPS = ("duality gap", "global bracket")
"""Kinds of `Certificate.gap_kind` that are distances from a bound."""

_OPENING = 0.05
"""Share of the time in which a bracket may be wider than the picture of its ends."""


Panel = Callable[["Axes", ComparisonLike], None]
P = ParamSpec("P")


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Draw with the typography of this module, and leave matplotlib's settings as they were."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Figure:
        import matplotlib

        with matplotlib.rc_context(_STYLE):
            return draw(*args, **kwargs)

    return drawn


@styled
def spectrum_figure(problem: KernelProblem) -> Figure:
    """Eigenvalues of K and of PKP, positive and negative ones each by rank.

    A few negative eigenvalues among many positive ones stay visible: both signs start at rank 1,
    and both axes are logarithmic (the vertical one symmetrically, through zero).
    """
    positive, negative = problem.signature
    titles = "kernel K", f"centred kernel PKP, signature ({positive}, {negative})"
    spectra = problem.spectrum, problem.centered_spectrum
    figure, axes = side_by_side(7.6, 3.3, columns=2, share_y=True)
    for ax, title, spectrum in zip(axes, titles, spectra, strict=True):
        _spectrum_panel(ax, title, spectrum)
    _signed_log_axis(axes[0], spectra)
    axes[0].set_ylabel("eigenvalue")
    return figure


def _signed_log_axis(ax: Axes, spectra: Sequence[Spectrum]) -> None:
    threshold = _smallest_size(spectra)
    lowest = min(0.0, *(s.minimum for s in spectra))
    highest = max(0.0, *(s.maximum for s in spectra))
    largest = max(threshold, -lowest, highest)
    decades = float(np.log10(largest / threshold))
    # The linear part around zero takes a fixed share of the axis; no tick may crowd its 0.
    ax.set_yscale("symlog", linthresh=threshold, linscale=max(0.3, 0.06 * decades))
    ticks = _decades(threshold * 10.0 ** (0.15 * decades), largest, at_most=4)
    ax.set_yticks([-t for t in ticks if -t >= lowest] + [0.0] + [t for t in ticks if t <= highest])
    ax.set_ylim(3.0 * lowest - threshold, 3.0 * highest + threshold)
    ax.yaxis.set_major_formatter(_power)
    ax.yaxis.set_minor_locator(_no_ticks())


def _spectrum_panel(ax: Axes, title: str, spectrum: Spectrum) -> None:
    values, tolerance = spectrum.values, spectrum.zero_tolerance
    positive = values[values > tolerance][::-1]
    negative = values[values < -tolerance]
    drawn = [("positive", positive, BLUE, "o"), ("negative", negative, VERMILLION, "v")]
    for name, part, color, marker in drawn:
        # Past rank 30 the logarithmic axis is too dense for a marker each; the line has them all.
        ranks = np.unique(np.geomspace(30, max(part.size, 30), 60).astype(int)) - 1
        marked = [*range(min(part.size, 29)), *(int(r) for r in ranks if r < part.size)]
        ax.plot(
            np.arange(1, part.size + 1), part, color=color, marker=marker, markersize=3.5,
            linewidth=1.0, markevery=marked, label=f"{part.size} {name}",
        )  # fmt: skip
    zero = spectrum.inertia.zero
    if zero:
        ax.plot([], [], color=GREY, linewidth=1.0, label=f"{zero} zero")
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    ax.set_xlabel("rank among those of its sign")
    ax.set_xscale("log")
    ax.set_xlim(0.85, 1.18 * max(positive.size, negative.size, 2))
    ax.xaxis.set_major_formatter(lambda rank, _: f"{rank:g}")
    ax.xaxis.set_minor_formatter(lambda rank, _: "")
    ax.grid(axis="y")
    ax.legend(
        title=title, title_fontsize=9.5, alignment="left", loc="lower left", ncols=3,
        bbox_to_anchor=(0.0, 1.0), borderpad=0.0, handlelength=1.4, columnspacing=1.2,
    )  # fmt: skip


def _smallest_size(spectra: Sequence[Spectrum]) -> float:
    """Where the axis turns linear: below every eigenvalue drawn, within twelve decades."""
    sizes = [np.abs(s.values[np.abs(s.values) > s.zero_tolerance]) for s in spectra]
    nonzero = np.concatenate(sizes)
    if nonzero.size == 0:
        return 1.0
    smallest = max(float(nonzero.min()), 1e-12 * float(nonzero.max()))
    return float(10.0 ** np.floor(np.log10(smallest)))


@styled
def bracket_figure(brackets: BracketLike | Mapping[str, BracketLike]) -> Figure:
    """The two ends of a bracket over time, and its relative gap on a logarithmic axis.

    Both ends are what was known at each moment, so they are steps. Of several brackets only the
    gaps are drawn, since their objectives cannot be compared.

    Parameters
    ----------
    brackets : BracketLike or mapping of str to Bracket
        The keys become the legend.

    Raises
    ------
    ParameterError
        For a mapping without any bracket.
    """
    if not isinstance(brackets, Mapping):
        figure, (ends, gap) = side_by_side(7.6, 3.3, columns=2, widths=[1.15, 1.0])
        _ends_panel(ends, brackets)
        _closing_panel(gap, {"": brackets})
        size = brackets.relative_gap
        words = "unknown" if np.isinf(size) else f"{size:.1e}" if size else "0"
        gap.set_title(f"relative gap {words} after {brackets.seconds:.3g} s")
        return figure
    if not brackets:
        raise ParameterError("brackets", "at least one", "none")
    figure, (gap,) = side_by_side(5.4, 3.4)
    _closing_panel(gap, brackets)
    gap.set_ylabel("relative gap")
    entries = gap.get_legend_handles_labels()
    figure.legend(*entries, loc="outside lower center", ncols=min(len(brackets), 3))
    return figure


def _steps(bracket: BracketLike) -> tuple[Array, Array, Array, Array]:
    """Seconds, objective, bound and relative gap from the first report to the very end.

    The last entry is the bracket itself: a bound that ended the search has no report. What is
    not finite is nan, which matplotlib leaves out.
    """
    trace = bracket.trace
    columns = np.array(
        [
            [*trace.seconds, bracket.seconds],
            [*trace.objective, bracket.objective],
            [*trace.bound, bracket.bound],
            [*trace.residual, bracket.relative_gap],
        ]
    )
    seconds, objective, bound, gap = np.where(np.isfinite(columns), columns, np.nan)
    return seconds, objective, bound, gap


def _ends_panel(ax: Axes, bracket: BracketLike) -> None:
    seconds, objective, bound, _ = _steps(bracket)
    ax.fill_between(seconds, objective, bound, step="post", color=GREY, alpha=0.16, linewidth=0.0)
    for values, color, label in (
        (objective, BLUE, "objective of the best point"),
        (bound, VERMILLION, "proved bound"),
    ):
        ax.plot(seconds, values, color=color, drawstyle="steps-post", linewidth=1.6, label=label)
        # A bracket that took no time is two points.
        ax.plot(seconds[-1:], values[-1:], "o", color=color, markersize=4.0, clip_on=False)
    _seconds_axis(ax, seconds[-1])
    ax.set_ylim(_around(seconds, objective, bound))
    _plain_ticks(ax.yaxis, float(np.max(np.abs(ax.get_ylim()))))
    ax.set_ylabel("objective")
    ax.legend(
        title=textwrap.fill(f"{bracket.formulation} on {bracket.name}", 52), title_fontsize=9.5,
        alignment="left", loc="lower left", ncols=2, bbox_to_anchor=(0.0, 1.0), borderpad=0.0,
        handlelength=1.4, columnspacing=1.2,
    )  # fmt: skip


def _around(seconds: Array, objective: Array, bound: Array) -> tuple[float, float]:
    """Limits that show the bracket but for its first moments."""
    late = seconds >= _OPENING * seconds[-1]
    late[np.flatnonzero(~late)[-1:]] = True  # still in force when the others begin
    shown = np.concatenate([objective[late], bound[late]])
    shown = shown[np.isfinite(shown)]
    low, high = float(shown.min()), float(shown.max())
    margin = 0.08 * (high - low) or 0.05 * abs(high) or 1.0
    return low - margin, high + margin


def _closing_panel(ax: Axes, brackets: Mapping[str, BracketLike]) -> None:
    drawn = {name: _steps(bracket) for name, bracket in brackets.items()}
    floor = _draw_below([gap for _, _, _, gap in drawn.values()])
    for i, (name, (seconds, _, _, gap)) in enumerate(drawn.items()):
        color, line = LINE_COLORS[i % len(LINE_COLORS)], LINE_STYLES[i % len(LINE_STYLES)]
        if not name:
            color = INK
        gap = np.maximum(gap, floor)
        ax.plot(
            seconds, gap, color=color, linestyle=line, drawstyle="steps-post", linewidth=1.6,
            label=name,
        )  # fmt: skip
        ax.plot(seconds[-1:], gap[-1:], "o", color=color, markersize=4.0, clip_on=False)
    _seconds_axis(ax, max(seconds[-1] for seconds, *_ in drawn.values()))
    _gap_axis(ax, np.concatenate([np.maximum(gap, floor) for *_, gap in drawn.values()]), floor)


def _draw_below(gaps: Sequence[Array]) -> float:
    """Where gaps of 0 are drawn: a decade below all others."""
    every = np.concatenate(gaps)
    positive = every[every > _GAP_RANGE[0]]
    least = float(positive.min()) if positive.size else 10.0 * _GAP_RANGE[0]
    return float(10.0 ** (np.floor(np.log10(least)) - 1.0))


def _gap_axis(ax: Axes, gaps: Array, floor: float) -> None:
    finite = gaps[np.isfinite(gaps)]
    if not finite.size:
        ax.set_yticks([])
        return
    closed = bool(np.any(finite <= floor))
    low = floor if closed else 10.0 * floor
    high = max(10.0 ** np.ceil(np.log10(finite.max())), 10.0 * low)
    ax.set_yscale("log")
    # The last point lies on the axis where the gap is 0.
    ax.set_ylim(low if closed else 0.7 * low, 1.4 * high)
    ticks = _decades(10.0 * floor, high, at_most=6)
    ax.set_yticks([floor, *ticks] if closed else ticks)
    ax.yaxis.set_major_formatter(lambda gap, _: "0" if closed and gap <= floor else _power(gap))
    ax.yaxis.set_minor_locator(_no_ticks())


def _seconds_axis(ax: Axes, last: float) -> None:
    ax.set_xlim(0.0, 1.02 * max(last, 1e-3))
    _plain_ticks(ax.xaxis, ax.get_xlim()[1])
    ax.set_xlabel("seconds")
    ax.grid(True)


@styled
def comparison_figure(comparison: ComparisonLike) -> Figure:
    """Accuracy, time and what was proved, one row for each formulation and solver."""
    gaps = _gap_panels(comparison)
    widths = [1.5, 1.0, *(0.9 for _ in gaps)]
    return _rows_figure(comparison, [_accuracy_panel, _time_panel, *gaps], widths)


def row_labels(comparison: ComparisonLike) -> list[str]:
    """Short unique names of the rows of the summary.

    Parameters are named where they tell formulations of one class apart, solvers where one
    formulation has several.
    """
    objects = {str(formulation): formulation for formulation in comparison.formulations}
    rows = _records(comparison.summary)
    repeated = Counter(row["formulation"] for row in rows)
    labels = []
    for row in rows:
        name = row["formulation"]
        label = _short_name(objects[name], objects.values()) if name in objects else name
        labels.append(f"{label} · {row['solver']}" if repeated[name] > 1 else label)
    return labels


def _short_name(formulation: Formulation, others: Any) -> str:
    peers = [other for other in others if type(other) is type(formulation)]
    telling = [
        f"{name}={value}"
        for name, value in formulation.parameters().items()
        if any(peer.parameters().get(name) != value for peer in peers)
    ]
    kind = type(formulation).__name__
    return f"{kind}({', '.join(telling)})" if telling else kind


def _rows_figure(
    comparison: ComparisonLike, panels: Sequence[Panel], widths: Sequence[float]
) -> Figure:
    """Panels beside each other with one row for each row of the summary, first row on top."""
    labels, failed = _tick_labels(comparison)
    height = 1.3 + 0.29 * len(labels) + 0.1 * sum(label.count("\n") for label in labels)
    figure, axes = side_by_side(3.2 + 2.2 * sum(widths), height, len(panels), True, widths)
    for ax, panel in zip(axes, panels, strict=True):
        for row in range(0, len(labels), 2):
            ax.axhspan(row - 0.5, row + 0.5, color=PALE, zorder=0)
        panel(ax, comparison)
        ax.grid(axis="x")
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
    axes[0].set_yticks(range(len(labels)), labels)
    axes[0].set_ylim(len(labels) - 0.5, -0.5)
    for tick, marked in zip(axes[0].get_yticklabels(), failed, strict=True):
        tick.set_color(VERMILLION if marked else INK)
    _shared_legend(figure, axes)
    return figure


def _tick_labels(comparison: ComparisonLike) -> tuple[list[str], list[bool]]:
    """Wrapped row labels that tell of failures, and which rows have any."""
    rows = _records(comparison.summary)
    labels = [textwrap.fill(label, 34) for label in row_labels(comparison)]
    failed = [bool(row["failed"]) for row in rows]
    for i, row in enumerate(rows):
        if row["failed"]:
            labels[i] += f"\n{row['failed']} of {row['cells']} failed"
    return labels, failed


def _shared_legend(figure: Figure, axes: Sequence[Axes]) -> None:
    """Below all panels, each name once."""
    entries: dict[str, Any] = {}
    for ax in axes:
        handles, names = ax.get_legend_handles_labels()
        entries |= dict(zip(names, handles, strict=True))
    if entries:
        figure.legend(
            list(entries.values()), list(entries), loc="outside lower center", ncols=len(entries)
        )


def _accuracy_panel(ax: Axes, comparison: ComparisonLike) -> None:
    summary = comparison.summary
    mean, spread = (100.0 * summary[c].to_numpy(float) for c in ("accuracy", "spread"))
    _fold_dots(ax, comparison, "accuracy", 100.0)
    ax.errorbar(
        mean, range(len(mean)), xerr=np.nan_to_num(spread), fmt="none", ecolor=BLUE,
        capsize=2.5, elinewidth=1.2, label="± standard deviation",
    )  # fmt: skip
    ax.plot(mean, range(len(mean)), "o", color=BLUE, markersize=5.0, label="mean")
    majority = 100.0 * max(comparison.problem.class_sizes) / comparison.problem.n
    _reference_line(ax, majority, f"larger class {majority:.1f} %")
    lowest = min([majority, *(100.0 * comparison.frame["accuracy"].dropna())])
    # Whiskers of a mean near 100 % end at the edge; there is nothing beyond to show.
    ax.set_xlim(max(0.0, lowest - 5.0), 101.0)
    ax.set_xlabel("test accuracy (%)")


def _time_panel(ax: Axes, comparison: ComparisonLike) -> None:
    seconds = comparison.summary["seconds"].to_numpy(float)
    drawn = np.concatenate([seconds, comparison.frame["seconds"].to_numpy(float)])
    _log_limits(ax, drawn[drawn > 0.0])
    _fold_dots(ax, comparison, "seconds", 1.0)
    ax.plot(seconds, range(len(seconds)), "o", color=BLUE, markersize=5.0, label="mean")
    ax.xaxis.set_major_formatter(_duration)
    ax.set_xlabel("time of one solve")


def _fold_dots(ax: Axes, comparison: ComparisonLike, column: str, unit: float) -> None:
    """One faint dot a fold, below the mean."""
    keys = ["formulation", "solver"]
    position = {tuple(row): i for i, row in enumerate(comparison.summary[keys].to_numpy())}
    frame = comparison.frame.dropna(subset=[column])
    heights = [position[tuple(row)] + 0.24 for row in frame[keys].to_numpy()]
    ax.plot(
        unit * frame[column].to_numpy(float), heights, "o", color=GREY, alpha=0.45,
        markersize=3.0, markeredgewidth=0.0, label="each fold",
    )  # fmt: skip


def _gap_panels(comparison: ComparisonLike) -> list[Panel]:
    """One panel for each kind of number that occurs; duality gaps if none does."""
    present = set(comparison.summary["gap_kind"])
    kinds = [kind for kind in (*_GAPS, "KKT residual") if kind in present]
    return [partial(_gap_panel, kind=kind) for kind in kinds or ["duality gap"]]


def _gap_panel(ax: Axes, comparison: ComparisonLike, kind: str) -> None:
    rows = list(enumerate(_records(comparison.summary)))
    ax.set_xscale("log")
    ax.set_xlim(0.3 * _GAP_RANGE[0], 10.0 * _GAP_RANGE[1])
    for claim, color in CLAIM_COLORS.items():
        drawn = [(i, r["gap"]) for i, r in rows if (r["gap_kind"], r["claim"]) == (kind, claim)]
        if drawn:
            positions, gaps = zip(*drawn, strict=True)
            ax.plot(
                np.clip(gaps, *_GAP_RANGE), positions, _CLAIM_MARKERS[claim], color=color,
                markeredgecolor=INK, markeredgewidth=0.5, markersize=6.0, label=claim,
            )  # fmt: skip
    tol = _tolerance(comparison.settings)
    if tol is not None:
        _reference_line(ax, tol, "tol")
    ax.set_xticks([1e-16, 1e-12, 1e-8, 1e-4, 1.0])
    ax.xaxis.set_major_formatter(_power)
    ax.xaxis.set_minor_locator(_no_ticks())
    ax.set_xlabel(f"{kind} (relative)" if kind in _GAPS else kind)


def _reference_line(ax: Axes, at: float, name: str) -> None:
    """A dashed vertical line, named above the axes where nothing else is."""
    ax.axvline(at, color=GREY, linestyle="--", linewidth=1.0)
    ax.annotate(
        name, (at, 1.0), (0.0, 3.0), color=GREY, fontsize=8.0, ha="center",
        xycoords=("data", "axes fraction"), textcoords="offset points",
    )  # fmt: skip


def _tolerance(settings: Mapping[str, Any]) -> float | None:
    try:
        return float(settings["tol"])
    except (KeyError, TypeError, ValueError):
        return None


def side_by_side(
    width: float,
    height: float,
    columns: int = 1,
    share_y: bool = False,
    widths: Sequence[float] | None = None,
) -> tuple[Figure, list[Axes]]:
    """A figure of panels side by side, sizes in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(
        1, columns, sharey=share_y, squeeze=False, gridspec_kw={"width_ratios": widths}
    )
    return figure, list(axes[0])


def _records(table: pd.DataFrame) -> list[dict[Any, Any]]:
    return table.to_dict("records")


def _no_ticks() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()


def _decades(low: float, high: float, at_most: int) -> list[float]:
    """Powers of ten from low to high, evenly thinned from the top."""
    first, last = int(np.floor(np.log10(low))), int(np.floor(np.log10(high)))
    step = -(-(last - first + 1) // at_most)
    return [10.0**k for k in range(last, first - 1, -step)][::-1]


def _log_limits(ax: Axes, values: Array) -> None:
    """Whole decades around the values, so that the axis always has ticks to read."""
    low, high = (values.min(), values.max()) if values.size else (1e-3, 1.0)
    first, last = 10.0 ** np.floor(np.log10(low)), 10.0 ** np.ceil(np.log10(high))
    last = max(last, 10.0 * first)
    ax.set_xscale("log")
    ax.set_xlim(0.7 * first, 1.4 * last)
    ax.set_xticks(_decades(first, last, at_most=4))
    ax.xaxis.set_minor_locator(_no_ticks())


def _power(value: float, _: Any = None) -> str:
    """10⁻³ in plain characters: mathematical typesetting would not follow the page's font."""
    if value == 0.0:
        return "0"
    exponent = round(float(np.log10(abs(value))))
    size = "1" if exponent == 0 else "10" if exponent == 1 else f"10{_raised(exponent)}"
    return f"−{size}" if value < 0 else size


def _raised(exponent: int) -> str:
    return str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _plain_ticks(axis: Axis, largest: float) -> None:
    """The whole number at every tick: an offset or a factor at the end of the axis is overlooked.

    Equally many decimals, but for sizes of which these would be nothing but zeros.
    """
    from matplotlib.ticker import ScalarFormatter

    if not 1e-4 <= largest < 1e7:
        axis.set_major_formatter(lambda value, _: f"{value:.10g}".replace("-", "−"))
        return
    formatter = ScalarFormatter(useOffset=False)
    formatter.set_scientific(False)
    axis.set_major_formatter(formatter)


def _duration(seconds: float, _: Any = None) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= 0.999 * size:
            return f"{seconds / size:g} {unit}"
    return f"{seconds * 1e6:g} µs"
