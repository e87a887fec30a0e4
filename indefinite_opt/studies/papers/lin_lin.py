"""Lin & Lin (2003): contours of accuracy, and nested cross-validation."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.formulations import SVMDual
from indefinite_opt.problem import kernels
from indefinite_opt.studies.data import Data
from indefinite_opt.studies.methods import Grid
from indefinite_opt.studies.papers import (
    Check,
    Code,
    Computation,
    ComputationOutcome,
    Entry,
)
from indefinite_opt.studies.protocols import Nested, RepeatedKFold
from indefinite_opt.studies.study import Study
from indefinite_opt.workflow import solve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
            feasible = formulation.structure(split.problem)
            generator = np.random.default_rng(index)
            results = [
                solve(
                    split.problem, formulation, "smo-lin-lin" if bias else "smo", tol=TOLERANCE,
                    start=feasible.random_start(generator) if starts else np.zeros(split.problem.n),
                )
                for _ in range(max(1, starts))
            ]  # fmt: skip
            best = max(results, key=lambda result: result.objective)
            hits[index] += np.sum(best.classifier.predict(split.K_new) == split.labels)
    return {"accuracy": (100.0 * hits / problem.n).tolist()}


def contours(
    ax: Axes,
    title: str,
    horizontal: Sequence[float],
    vertical: Sequence[float],
    rows: Sequence[Any],
) -> None:
    """Lines of equal accuracy over log₂ C and another parameter, with percentages."""
    values = np.array([row["accuracy"] for row in rows])
    lines = ax.contour(horizontal, vertical, values, levels=8, cmap="viridis")
    ax.clabel(lines, fontsize=7)
    ax.set_title(f"{title}; best {values.max():.1f} %", loc="left", fontsize=9)
    ax.set_xlabel("log₂ C")


def percentage(row: str, method: str) -> Entry:
    """The accuracy of a method of the tables."""
    return Entry(method, factor=100.0, experiment=experiment(row, method))


KERNELS = {
    "tanh(a⟨x, z⟩ + r)": "sigmoid(a={a}, r={r})",
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
                share = 1.0 if title.startswith("tanh") else 2.0 / (1.0 + math.exp(-2.0 * r))
                settings[f"{title}; a = {a:g}; {height:g}"] = {
                    "data": data("heart"),
                    "kernel": kernel.format(a=a, r=r),
                    "bounds": tuple(share * 2.0**C for C in horizontal),
                }
    return {"contours": Computation(accuracies, settings)}


def draw_figure_1(outcomes: Mapping[str, ComputationOutcome]) -> Figure:
    """Three rows of kernels, two columns of a."""
    from matplotlib.figure import Figure

    found = outcomes["contours"].settings
    heights = sorted({float(name.split("; ")[2]) for name in found})
    figure = Figure(figsize=(8.0, 9.0), layout="constrained")
    panels = figure.subplots(len(KERNELS), len(SCALES))
    for line, title in zip(panels, KERNELS, strict=True):
        for ax, a in zip(line, SCALES, strict=True):
            rows = [found[f"{title}; a = {a:g}; {height:g}"][0] for height in heights]
            horizontal = figure_1_axes(quick=len(heights) == len(figure_1_axes(True)[1]))[0]
            contours(ax, f"{title}, a = {a:g}", horizontal, heights, rows)
            ax.set_ylabel("log₂(-r)")
    return figure


ALIKE = 1.0
"""Percentage points by which the accuracies of like contours differ in the mean."""

VARYING = 5.0
"""Percentage points by which an accuracy varies with C where the kernel is not constant in double
precision, as it is for the least r of the axes."""


def check_figure_1(outcomes: Mapping[str, ComputationOutcome]) -> dict[str, Check]:
    """The sentences on Figure 1: differences of the panels at the largest and at a small r.

    The small one is the least for which the classifiers are not all constant.
    """
    found = outcomes["contours"].settings
    heights = sorted({float(name.split("; ")[2]) for name in found})
    tanh, limit, gaussian = KERNELS

    def line(title: str, a: float, height: float) -> NDArray[Any]:
        return np.array(found[f"{title}; a = {a:g}; {height:g}"][0]["accuracy"])

    def apart(one: str, other: str, a: float, height: float) -> float:
        return float(np.mean(np.abs(line(one, a, height) - line(other, a, height))))

    small = {
        a: max(h for h in heights if np.ptp(line(tanh, a, h)) > VARYING or h == heights[0])
        for a in SCALES
    }
    far = {a: apart(tanh, limit, a, small[a]) for a in SCALES}
    near = {a: apart(tanh, limit, a, heights[0]) for a in SCALES}
    scaled = {a: apart(limit, gaussian, a, small[a]) for a in SCALES}

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


def figure_2(quick: bool) -> dict[str, Computation]:
    """One setting for each data set, program and r."""
    return {name: contour_of(name, quick) for name in (SETS[:1] if quick else SETS)}


def contour_of(name: str, quick: bool) -> Computation:
    """Both contours of a data set."""
    horizontal, vertical = figure_2_axes(quick)
    return Computation(
        accuracies,
        {
            f"{name}; {title}; {r}": {
                "data": data(name),
                "kernel": f"sigmoid(a={1.0 / FEATURES[name]}, r={r})",
                "bounds": tuple(2.0**C for C in horizontal),
                "bias": bias,
            }
            for title, bias in PROGRAMS.items()
            for r in vertical
        },
    )


def draw_figure_2(outcomes: Mapping[str, ComputationOutcome]) -> Figure:
    """A row for each data set; on the left with the constraint, on the right without it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.0 * len(outcomes)), layout="constrained")
    panels = figure.subplots(len(outcomes), 2, squeeze=False)
    for line, (name, outcome) in zip(panels, outcomes.items(), strict=True):
        heights = sorted({float(setting.split("; ")[2]) for setting in outcome.settings})
        horizontal = figure_2_axes(quick=len(heights) == len(figure_2_axes(True)[1]))[0]
        for ax, title in zip(line, PROGRAMS, strict=True):
            rows = [outcome.settings[f"{name}; {title}; {r}"][0] for r in heights]
            contours(ax, f"{name}, {title}", horizontal, heights, rows)
            ax.set_ylabel("r")
    return figure


HIGH = 1.0
"""Percentage points below the best accuracy up to which another one is high, too."""

LOST = 5.0
"""Percentage points that make a performance bad."""


def _maps(
    settings: Mapping[str, Sequence[Any]], titles: Sequence[str]
) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """r, (k,), and the accuracies over r and C, (k, m), of each title."""
    maps = []
    for title in titles:
        named = {
            float(name.rpartition("; ")[2]): rows[0]["accuracy"]
            for name, rows in settings.items()
            if name.rpartition("; ")[0] == title
        }
        shifts = np.array(sorted(named))
        maps.append((shifts, np.array([named[r] for r in shifts])))
    return maps


def check_figure_2(outcomes: Mapping[str, ComputationOutcome]) -> dict[str, Check]:
    """The sentences on Figure 2, for each data set."""
    means, high, moved, lost = {}, {}, {}, {}
    for name, outcome in outcomes.items():
        (r, left), (_, right) = _maps(outcome.settings, [f"{name}; {t}" for t in PROGRAMS])
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
    """One setting for each kind of start and r."""
    horizontal, vertical = figure_2_axes(quick)
    return {
        "contours": Computation(
            accuracies,
            {
                f"{title}; {r}": {
                    "data": data("heart"),
                    "kernel": f"sigmoid(a={1.0 / FEATURES['heart']}, r={r})",
                    "bounds": tuple(2.0**C for C in horizontal),
                    "starts": starts,
                }
                for title, starts in STARTS.items()
                for r in vertical
            },
        )
    }


def draw_figure_5(outcomes: Mapping[str, ComputationOutcome]) -> Figure:
    """On the left from zero, on the right the best of five."""
    from matplotlib.figure import Figure

    found = outcomes["contours"].settings
    heights = sorted({float(name.split("; ")[1]) for name in found})
    horizontal = figure_2_axes(quick=len(heights) == len(figure_2_axes(True)[1]))[0]
    figure = Figure(figsize=(8.0, 3.4), layout="constrained")
    for ax, title in zip(figure.subplots(1, 2), STARTS, strict=True):
        contours(ax, title, horizontal, heights, [found[f"{title}; {r}"][0] for r in heights])
        ax.set_ylabel("r")
    return figure


def check_figure_5(outcomes: Mapping[str, ComputationOutcome]) -> dict[str, Check]:
    """The sentences on Figure 5."""
    (r, zero), (_, best) = _maps(outcomes["contours"].settings, list(STARTS))
    horizontal = np.array(figure_2_axes(quick=r.size == len(figure_2_axes(True)[1]))[0])
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
    """The Gaussian kernel makes a method of its own."""
    return percentage(row, "RBF" if column == "RBF SVM" else column)


METRICS = {"#SV": "support", "train": "seconds", "test": "prediction_seconds"}

SUPPORT_SPREAD = 0.1
"""Share of the number of support vectors that counts as a standard deviation: it depends on the C
that is chosen, and those of nearly the same accuracy differ by more."""


def table_2_entry(row: str, column: str) -> Entry:
    """A metric of the models; times depend on the machine."""
    kind, _, method = column.partition(" ")
    return Entry(
        method,
        METRICS[kind],
        experiment=experiment(row, method),
        relative=SUPPORT_SPREAD,
        counted=kind == "#SV",
    )


STUDIES = {
    "figure-1": Code(figure_1, draw=draw_figure_1, checks=check_figure_1),
    "figure-2": Code(figure_2, draw=draw_figure_2, checks=check_figure_2),
    "figure-5": Code(figure_5, draw=draw_figure_5, checks=check_figure_5),
    "table-1": Code(tables, table_1_entry),
    "table-2": Code(tables, table_2_entry),
}
