"""The figure of a comparison: accuracy or another score, time and the gaps that were proved.

It is a `matplotlib.figure.Figure` of its own, made without pyplot or global state. The colours of
Okabe and Ito can be told apart by colour-blind readers, and shapes repeat what colours say.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from indefinite_opt.figures import style
from indefinite_opt.figures.inputs import ComparisonLike
from indefinite_opt.modeling import Formulation
from indefinite_opt.problem import KernelProblem

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CLAIM_COLORS = {
    "GLOBAL": "#009E73",
    "LOCAL": "#56B4E9",
    "STATIONARY": "#E69F00",
    "FEASIBLE": "#D55E00",
    "NONE": "#CC79A7",
}

_GAPS = ("duality gap", "global bracket")
"""Those values of `Certificate.gap_kind` that name a distance from a bound."""


@style.styled
def comparison_figure(comparison: ComparisonLike) -> Figure:
    """Accuracy, R² or AUC, time and what was proved, one row per method.

    >>> import indefinite_opt as iopt
    >>> data = iopt.datasets.checkerboard(n=40, cells=2)
    >>> problem = iopt.KernelProblem.from_data(data.X, data.y, "gaussian")
    >>> figure = comparison_figure(iopt.compare(problem, ["SVMDual", "KNN"], folds=2))
    >>> len(figure.axes) > 1
    True
    """
    rows, present = records_of(comparison.summary), set(comparison.summary["gap_kind"])
    kinds = [kind for kind in (*_GAPS, "KKT residual") if kind in present] or ["duality gap"]
    drawings: list[Callable[[Axes, ComparisonLike], None]] = [_score_panel, _time_panel]
    drawings += [partial(_gap_panel, kind=kind) for kind in kinds]
    widths = [1.5, 1.0, *(0.9 for _ in kinds)]
    labels = [
        textwrap.fill(label, 34)
        + (f"\n{row['failed']} of {row['divisions']} failed" if row["failed"] else "")
        for label, row in zip(row_labels(comparison), rows, strict=True)
    ]
    height = 1.3 + 0.29 * len(labels) + 0.1 * sum(label.count("\n") for label in labels)
    figure, axes = style.panels(
        2.6 + 1.45 * sum(widths), height, len(drawings), sharey=True, width_ratios=widths
    )
    legend: dict[str, Any] = {}
    for ax, draw in zip(axes, drawings, strict=True):
        for k in range(0, len(labels), 2):
            ax.axhspan(k - 0.5, k + 0.5, color=style.PALE, zorder=0)
        draw(ax, comparison)
        ax.grid(axis="x")
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        handles, names = ax.get_legend_handles_labels()
        legend |= dict(zip(names, handles, strict=True))
    axes[0].set_yticks(range(len(labels)), labels)
    axes[0].set_ylim(len(labels) - 0.5, -0.5)
    for tick, row in zip(axes[0].get_yticklabels(), rows, strict=True):
        tick.set_color(style.VERMILLION if row["failed"] else style.INK)
    handles, names = list(legend.values()), list(legend)
    figure.legend(handles, names, loc="outside lower center", ncols=len(names))
    return figure


def with_solver(title: str, solver: str) -> str:
    """The name of a method that is run with several solvers, with one of them."""
    return f"{title} · {solver}"


def without_solver(row: Mapping[Any, Any]) -> str:
    """The name of the method of a row, without that of its solver.

    >>> without_solver({"method": "SVMDual · smo", "solver": "smo"})
    'SVMDual'
    """
    name: str = row["method"]
    return name.removesuffix(with_solver("", row["solver"]))


def row_labels(comparison: ComparisonLike) -> list[str]:
    """Short unique names of the rows of the summary.

    Parameters are named where two formulations of one class differ in them, and solvers where a
    formulation has several.

    >>> import indefinite_opt as iopt
    >>> data = iopt.datasets.checkerboard(n=40, cells=2)
    >>> problem = iopt.KernelProblem.from_data(data.X, data.y, "gaussian")
    >>> sorted(row_labels(iopt.compare(problem, ["SVMDual(C=1)", "SVMDual(C=10)"], folds=2)))
    ['SVMDual(C=1)', 'SVMDual(C=10)']
    """
    objects = {str(formulation): formulation for formulation in comparison.formulations}
    labels = []
    for row in records_of(comparison.summary):
        name = without_solver(row)
        label = _short_name(objects[name], objects.values()) if name in objects else name
        labels.append(with_solver(label, row["solver"]) if name != row["method"] else label)
    return labels


def _short_name(formulation: Formulation, others: Any) -> str:
    peers = [other for other in others if type(other) is type(formulation)]
    different = [
        f"{name}={value}"
        for name, value in formulation.parameters().items()
        if any(peer.parameters().get(name) != value for peer in peers)
    ]
    kind = type(formulation).__name__
    return f"{kind}({', '.join(different)})" if different else kind


def _score_panel(ax: Axes, comparison: ComparisonLike) -> None:
    summary, score = comparison.summary, comparison.scores[0]
    mean, spread = (
        score.unit * summary[name].to_numpy(float) for name in (score.name, f"{score.name}_sd")
    )
    _fold_dots(ax, comparison, score.name, score.unit)
    ax.errorbar(
        mean, range(len(mean)), xerr=np.nan_to_num(spread), fmt="none", ecolor=style.BLUE,
        capsize=2.5, elinewidth=1.2, label="± standard deviation",
    )  # fmt: skip
    ax.plot(mean, range(len(mean)), "o", color=style.BLUE, markersize=5.0, label="mean")
    known = (row[score.name] for row in comparison.chosen_rows)
    drawn = [score.unit * value for value in known if not np.isnan(value)]
    if score.name in ("accuracy", "auc"):
        start, name = _chance(comparison.problem)
        _reference_line(ax, start, name)
        # Both end at 100 %, although the whiskers of a mean near it do not.
        ax.set_xlim(max(0.0, min([start, *drawn]) - 0.05 * score.unit), 1.01 * score.unit)
    elif score.name == "r2":
        _reference_line(ax, 0.0, "mean of the targets")
        # Far below 0 methods are equally useless, and would hide the differences of the others.
        ax.set_xlim(max(-1.0, min([0.0, *drawn]) - 0.05), 1.01)
    ax.set_xlabel(f"test {score.head}")


def _chance(problem: KernelProblem) -> tuple[float, str]:
    """The accuracy of the larger class, or the AUC of random numbers, and its name."""
    if problem.task == "one class":
        return 0.5, "chance"
    sizes = [np.count_nonzero(problem.labels == label) for label in problem.classes]
    majority = 100.0 * max(sizes) / problem.n
    kind = "larger" if problem.classes.size == 2 else "largest"
    return majority, f"{kind} class {majority:.1f} %"


def _time_panel(ax: Axes, comparison: ComparisonLike) -> None:
    seconds = comparison.summary["seconds"].to_numpy(float)
    drawn = np.concatenate([seconds, [row["seconds"] for row in comparison.chosen_rows]])
    style.logarithmic(ax, "x", drawn)
    _fold_dots(ax, comparison, "seconds", 1.0)
    ax.plot(seconds, range(len(seconds)), "o", color=style.BLUE, markersize=5.0, label="mean")
    ax.set_xlabel("seconds of one solve")


def _fold_dots(ax: Axes, comparison: ComparisonLike, column: str, unit: float) -> None:
    """Draw one faint dot per fold, below the mean."""
    position = {method: i for i, method in enumerate(comparison.summary["method"])}
    rows = [row for row in comparison.chosen_rows if not np.isnan(row[column])]
    ax.plot(
        [unit * row[column] for row in rows], [position[row["method"]] + 0.24 for row in rows],
        "o", color=style.GREY, alpha=0.45, markersize=3.0, markeredgewidth=0.0, label="each fold",
    )  # fmt: skip


def _gap_panel(ax: Axes, comparison: ComparisonLike, kind: str) -> None:
    ax.set_xscale("log")
    ax.set_xlim(0.3 * style.GAP_RANGE[0], 10.0 * style.GAP_RANGE[1])
    rows = enumerate(records_of(comparison.summary))
    drawn = [(row["gap"], i, row["claim"]) for i, row in rows if row["gap_kind"] == kind]
    if drawn:
        gaps, positions, claims = zip(*drawn, strict=True)
        draw_claims(ax, np.clip(gaps, *style.GAP_RANGE), positions, claims)
    _reference_line(ax, float(comparison.settings["tol"]), "tol")
    ax.set_xticks([1e-16, 1e-8, 1.0])
    ax.xaxis.set_major_formatter(style.power)
    ax.minorticks_off()
    ax.set_xlabel(f"{kind} (relative)" if kind in _GAPS else kind)


def draw_claims(ax: Axes, x: Any, y: Any, claims: Sequence[str], size: float = 6.0) -> None:
    """Draw points whose shapes and colours show their claims, with labels of a legend."""
    for marker, (claim, color) in zip("os^DX", CLAIM_COLORS.items(), strict=True):
        chosen = np.array([each == claim for each in claims])
        if chosen.any():
            ax.plot(
                np.asarray(x)[chosen], np.asarray(y)[chosen], marker, color=color,
                markeredgecolor=style.INK, markeredgewidth=0.5, markersize=size, label=claim,
            )  # fmt: skip


def _reference_line(ax: Axes, at: float, name: str) -> None:
    """Draw a dashed vertical line with its name above the axes, where nothing else is."""
    ax.axvline(at, color=style.GREY, linestyle="--", linewidth=1.0)
    ax.annotate(
        name, (at, 1.0), (0.0, 3.0), color=style.GREY, fontsize=8.0, ha="center",
        xycoords=("data", "axes fraction"), textcoords="offset points",
    )  # fmt: skip


def records_of(table: pd.DataFrame) -> list[dict[Any, Any]]:
    """The rows of a table by the names of its columns."""
    return table.to_dict("records")
