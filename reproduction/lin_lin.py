"""Lin & Lin (2003): contours of accuracy, and nested cross-validation."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from indefinite_opt import SVMDual, kernels
from indefinite_opt.studies import (
    Computation,
    ComputationOutcome,
    Data,
    Grid,
    Nested,
    RepeatedKFold,
    Study,
)
from reproduction.declaration import Check, Code, Entry, solve

Axes = Callable[[bool], tuple[list[float], list[float]]]
"""log₂ C and the heights of a figure, by whether its run is a quick one."""

SETS = ("heart", "german", "diabete", "a1a")

TOLERANCE = 1e-3
"""LIBSVM's tolerance of the optimality conditions, which the paper does not change."""


def data(name: str) -> Data:
    """One of the four data sets."""
    options = {} if name == "a1a" else {"scaling": "minmax-all"}
    return Data({"diabete": "diabetes"}.get(name, name), options=options)


def tables(quick: bool) -> dict[str, Study]:
    """Two-level cross-validation of the SVMs and of kernel logistic regression, for both tables."""
    bounds = [2.0**k for k in (range(0, 10, 3) if quick else range(-3, 13, 3))]
    scales = [2.0**k for k in (range(-9, 1, 3) if quick else range(-12, 4, 3))]
    shifts = [-1.2, 0.0, 1.2] if quick else [round(0.6 * k, 1) for k in range(-4, 5)]
    sigmoids = [f"sigmoid(a={a}, r={r})" for a in scales for r in shifts]
    gaussians = [f"gaussian(gamma={a})" for a in scales]
    logistic = functools.partial(Grid, "KernelLogistic", C=bounds, kernel=sigmoids)
    machines = {
        "RBF": Grid("LIBSVM", C=bounds, kernel=gaussians),
        "SVM": Grid("SVMDual", C=bounds, kernel=sigmoids, solver="smo-lin-lin", warm=False),
    }

    def study(methods: Mapping[str, Grid], *names: str) -> Study:
        return Study(
            data={name: data(name) for name in names},
            methods=methods,
            protocol=Nested(5, 3 if quick else 5),
            metrics=("accuracy", "support", "seconds", "prediction_seconds"),
            tol=TOLERANCE,
        )

    newton, gradients = logistic(solver="newton-cg"), logistic(solver="cg")
    if quick:
        return {"SVM": study(machines, "heart"), "KLR-NT": study({"KLR-NT": newton}, "heart")}
    return {
        "SVM": study(machines, *SETS),
        "KLR-NT": study({"KLR-NT": newton}, *SETS[:3]),
        "KLR-NT on a1a": study({"KLR-NT": newton}, "a1a"),
        "KLR-CG on heart": study({"KLR-CG": gradients}, "heart"),
        "KLR-CG": study({"KLR-CG": gradients}, *SETS[1:]),
    }


def experiment(row: str, method: str) -> str:
    """The experiment that has a method of the tables on a data set."""
    if (method, row) in (("KLR-NT", "a1a"), ("KLR-CG", "heart")):
        return f"{method} on {row}"
    return "SVM" if method == "RBF" else method


def exponential(a: float, X: NDArray[Any], Z: NDArray[Any]) -> NDArray[Any]:
    """The kernel e^(2a⟨x, z⟩) of (17)."""
    values: NDArray[Any] = np.exp(2.0 * a * (X @ Z.T))
    return values


def accuracies(
    data: Data, kernel: str, bounds: Sequence[float], bias: bool = True, starts: int = 0
) -> dict[str, Any]:
    """The accuracy of five-fold cross-validation for each C.

    The program is (2), or without a bias (19). With `starts` it is solved from so many random
    points in place of zero, and the one with the best objective is tested.
    """
    name, _, scale = kernel.partition(" ")
    chosen = (
        kernels.Custom(functools.partial(exponential, float(scale)))
        if name == "exponential"
        else kernels.get(kernel)
    )
    problem, hits = data.with_kernel(chosen), np.zeros(len(bounds))
    for division in RepeatedKFold(5).divisions(problem.y):
        split = problem.split(division.train, division.test)
        for index, C in enumerate(bounds):
            formulation = SVMDual(C=C, bias=bias)
            feasible = formulation.program(split.problem).feasible
            generator = np.random.default_rng(index)
            results = [
                solve(
                    split.problem, formulation, "smo-lin-lin" if bias else "smo", tol=TOLERANCE,
                    start=feasible.random_point(generator) if starts else np.zeros(split.problem.n),
                )
                for _ in range(max(1, starts))
            ]  # fmt: skip
            best = max(results, key=lambda result: result.objective)
            hits[index] += np.sum(best.classifier.predict(split.K_new) == split.labels)
    return {"accuracy": (100.0 * hits / problem.n).tolist()}


def maps(settings: Mapping[str, Sequence[Any]]) -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    """By the title of a panel its heights, (k,), and the accuracies over heights and C, (k, m)."""
    named: dict[str, dict[float, Any]] = {}
    for name, rows in settings.items():
        title, _, height = name.rpartition("; ")
        named.setdefault(title, {})[float(height)] = rows[0]["accuracy"]
    return {
        title: (np.array(sorted(lines)), np.array([lines[height] for height in sorted(lines)]))
        for title, lines in named.items()
    }


def draw_contours(outcomes: Mapping[str, ComputationOutcome], axes: Axes, label: str) -> Figure:
    """Lines of equal accuracy over log₂ C and another parameter, two panels in a row."""
    found = [panel for outcome in outcomes.values() for panel in maps(outcome.settings).items()]
    figure = Figure(figsize=(8.0, 1.5 * len(found) + 0.4), layout="constrained")
    panels = figure.subplots(len(found) // 2, 2).ravel()
    for ax, (title, (heights, values)) in zip(panels, found, strict=True):
        lines = ax.contour(columns(axes, heights), heights, values, levels=8, cmap="viridis")
        ax.clabel(lines, fontsize=7)
        shown = title.replace("; ", ", ")
        ax.set_title(f"{shown}; best {values.max():.1f} %", loc="left", fontsize=9)
        ax.set(xlabel="log₂ C", ylabel=label)
    return figure


def columns(axes: Axes, heights: NDArray[Any]) -> list[float]:
    """log₂ C of a figure, whose run was a quick one if it has as few heights."""
    return axes(len(heights) == len(axes(True)[1]))[0]


SIGMOID = "tanh(a⟨x, z⟩ + r)"

KERNELS = {
    SIGMOID: "sigmoid(a={a}, r={r})",
    "(17), exp(2a⟨x, z⟩)": "exponential {a}",
    "RBF, exp(-a|x - z|²)": "gaussian(gamma={a})",
}

SCALES = (1.0, 0.01)


def figure_1_axes(quick: bool) -> tuple[list[float], list[float]]:
    """log₂ C and log₂(-r)."""
    if quick:
        return [-2.0, 4.0, 10.0], [0.0, 1.5, 3.0]
    return [float(k) for k in range(-2, 14)], [0.5 * k for k in range(10)]


def figure_1(quick: bool) -> dict[str, Computation]:
    """One setting for each kernel and r; (17) and the RBF kernel have C̃ = (1 + tanh r)C."""
    horizontal, vertical = figure_1_axes(quick)
    settings = {}
    for title, kernel in KERNELS.items():
        for a in SCALES:
            for height in vertical:
                r = -(2.0**height)
                # 1 + tanh r, without the cancellation of that sum.
                share = 1.0 if title == SIGMOID else 2.0 / (1.0 + math.exp(-2.0 * r))
                settings[f"{title}; a = {a:g}; {height:g}"] = {
                    "data": data("heart"),
                    "kernel": kernel.format(a=a, r=r),
                    "bounds": tuple(share * 2.0**C for C in horizontal),
                }
    return {"contours": Computation(accuracies, settings)}


ALIKE = 1.0
"""Percentage points by which the accuracies of like contours differ in the mean."""

VARYING = 5.0
"""Percentage points by which an accuracy varies with C where the kernel is not constant in double
precision, as it is for the least r of the axes."""


def check_figure_1(outcomes: Mapping[str, ComputationOutcome]) -> dict[str, Check]:
    """The sentences on Figure 1: differences of the panels at the largest and at a small r.

    The small one is the least for which the classifiers are not all constant.
    """
    found = maps(outcomes["contours"].settings)
    small, far, near, scaled = {}, {}, {}, {}
    for a in SCALES:
        heights, tanh = found[f"{SIGMOID}; a = {a:g}"]
        limit, gaussian = (found[f"{title}; a = {a:g}"][1] for title in KERNELS if title != SIGMOID)
        varying = np.flatnonzero(np.ptp(tanh, axis=1) > VARYING)
        last = varying[-1] if varying.size else 0
        apart = np.abs(tanh - limit).mean(axis=1)
        small[a], far[a], near[a] = heights[last], apart[last], apart[0]
        scaled[a] = np.abs(limit - gaussian)[last].mean()

    def at(a: float) -> str:
        return f"a = {a:g}, r = {-(2.0 ** small[a]):.3g}"

    return {
        "limit": Check(
            max(far.values()) <= ALIKE and all(far[a] <= near[a] for a in SCALES),
            "they differ in the mean over C by "
            + ", ".join(f"{far[a]:.1f} points ({at(a)}; r = -1: {near[a]:.1f})" for a in SCALES),
        ),
        "difference": Check(
            scaled[1.0] > ALIKE, f"by {scaled[1.0]:.1f} points in the mean over C ({at(1.0)})"
        ),
        "alike": Check(
            max(far[0.01], scaled[0.01]) <= ALIKE,
            f"they differ by {far[0.01]:.1f} and {scaled[0.01]:.1f} points ({at(0.01)})",
        ),
    }


FEATURES = {"heart": 13, "german": 24, "diabete": 8, "a1a": 123}
"""Numbers n of features, for a = 1/n."""

PROGRAMS = {"(2)": True, "(19), without yᵀα = 0": False}


def figure_2_axes(quick: bool) -> tuple[list[float], list[float]]:
    """log₂ C and r."""
    if quick:
        return [-2.0, 4.0, 10.0], [-2.0, 0.0, 2.0]
    return [float(k) for k in range(-2, 14)], [round(0.2 * k - 2.0, 1) for k in range(21)]


def shifted(name: str, title: str, quick: bool, **options: Any) -> dict[str, dict[str, Any]]:
    """The settings of a panel: one for each r, with a = 1/n."""
    horizontal, vertical = figure_2_axes(quick)
    return {
        f"{title}; {r}": {
            "data": data(name),
            "kernel": f"sigmoid(a={1.0 / FEATURES[name]}, r={r})",
            "bounds": tuple(2.0**C for C in horizontal),
            **options,
        }
        for r in vertical
    }


def figure_2(quick: bool) -> dict[str, Computation]:
    """An experiment for each data set, and a panel for each program."""
    settings: dict[str, dict[str, Any]] = {name: {} for name in (SETS[:1] if quick else SETS)}
    for name, of_set in settings.items():
        for title, bias in PROGRAMS.items():
            of_set |= shifted(name, f"{name}; {title}", quick, bias=bias)
    return {name: Computation(accuracies, of_set) for name, of_set in settings.items()}


HIGH = 1.0
"""Percentage points below the best accuracy up to which another one is high, too."""

LOST = 5.0
"""Percentage points that make a performance bad."""


def check_figure_2(outcomes: Mapping[str, ComputationOutcome]) -> dict[str, Check]:
    """The sentences on Figure 2, for each data set."""
    means, high, moved, lost = {}, {}, {}, {}
    for name, outcome in outcomes.items():
        (r, left), (_, right) = maps(outcome.settings).values()
        means[name] = left[r < 0.0].mean(), left[r > 0.0].mean()
        high[name] = left.max(), left[r > 0.0].max()
        moved[name] = right[r >= 0.0].max(), right[r < 0.0].max()
        lost[name] = left[r < 0.0].mean(), right[r < 0.0].mean()

    def told(pairs: Mapping[str, Sequence[float]]) -> str:
        return ", ".join(f"{name} {a:.1f} and {b:.1f}" for name, (a, b) in pairs.items())

    return {
        "negative": Check(
            all(a > b for a, b in means.values()),
            f"the mean accuracies over r < 0 and over r > 0 are: {told(means)}",
        ),
        "sometimes": Check(
            any(a - b <= HIGH for a, b in high.values()),
            f"the best of all and the best with r > 0 are: {told(high)}",
        ),
        "shift": Check(
            all(a >= b for a, b in moved.values()),
            f"the best with r ≥ 0 and with r < 0 are: {told(moved)}",
        ),
        "bad": Check(
            all(a - b >= LOST for a, b in lost.values()),
            f"the mean accuracies over r < 0 with the constraint and without it are: {told(lost)}",
        ),
    }


STARTS = {"from zero": 0, "best of five random starts": 5}


def figure_5(quick: bool) -> dict[str, Computation]:
    """A panel for each kind of start."""
    settings: dict[str, Any] = {}
    for title, starts in STARTS.items():
        settings |= shifted("heart", title, quick, starts=starts)
    return {"contours": Computation(accuracies, settings)}


def check_figure_5(outcomes: Mapping[str, ComputationOutcome]) -> dict[str, Check]:
    (r, zero), (_, best) = maps(outcomes["contours"].settings).values()
    horizontal = np.array(columns(figure_2_axes, r))
    apart = np.abs(zero - best)
    good = apart[zero >= zero.max() - HIGH]
    low, several = apart[r < -0.5], apart[np.ix_(r > 0.5, horizontal > 6.0)]
    return {
        "good": Check(
            float(good.mean()) <= ALIKE,
            f"where the accuracy is within {HIGH:g} point of the best, by {good.mean():.1f} points "
            "in the mean",
        ),
        "low": Check(
            float(low.mean()) <= 0.5 * ALIKE,
            f"by {low.mean():.1f} points in the mean, {low.max():.1f} at most",
        ),
        "several": Check(
            float(several.max()) > ALIKE and float(several.mean()) <= LOST,
            f"by {several.mean():.1f} points in the mean, {several.max():.1f} at most",
        ),
    }


def table_1_entry(row: str, column: str) -> Entry:
    """The accuracy in percent; the Gaussian kernel makes a method of its own."""
    method = "RBF" if column == "RBF SVM" else column
    return Entry(method, factor=100.0, experiment=experiment(row, method))


METRICS = {"#SV": "support", "train": "seconds", "test": "prediction_seconds"}

SUPPORT_SPREAD = 0.1
"""Share of the number of support vectors that counts as a standard deviation: it depends on the C
that is chosen, and those of nearly the same accuracy differ by more."""


def table_2_entry(row: str, column: str) -> Entry:
    """A metric of the models; times depend on the machine."""
    kind, _, method = column.partition(" ")
    return Entry(
        method, METRICS[kind], experiment=experiment(row, method), relative=SUPPORT_SPREAD,
        counted=kind == "#SV",
    )  # fmt: skip


draw_shifts = functools.partial(draw_contours, axes=figure_2_axes, label="r")

STUDIES = {
    "figure-1": Code(
        figure_1,
        draw=functools.partial(draw_contours, axes=figure_1_axes, label="log₂(-r)"),
        checks=check_figure_1,
    ),
    "figure-2": Code(figure_2, draw=draw_shifts, checks=check_figure_2),
    "figure-5": Code(figure_5, draw=draw_shifts, checks=check_figure_5),
    "table-1": Code(tables, table_1_entry),
    "table-2": Code(tables, table_2_entry),
}
