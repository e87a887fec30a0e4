"""Haasdonk (2005): classifiers in the plane, and the models of Table 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from indefinite_opt import (
    LIBSVM,
    ConvexHullDual,
    Formulation,
    KernelProblem,
    SVMDual,
    datasets,
)
from indefinite_opt.figures import decision_regions, reduced_hull
from indefinite_opt.modeling import Classifier
from indefinite_opt.studies import Computation, ComputationOutcome, Data, Grid, LeaveOneOut, Study
from indefinite_opt.theory import diagnose, svm_to_hull
from reproduction.declaration import Check, Code, Entry, solve

Array = NDArray[np.float64]
Row = dict[str, Any]

SEPARABLE = "haasdonk-figure1a(n=40)"

OVERLAPPING = "haasdonk-figure1c(n=12, seed=1)"
"""The data of Figures 1a, 1b and 2a, and of 1c, 1d, 2b and 2c. 17 of 20 draws of the latter have
all properties that the paper states of these four pictures; with 18 points or more none has."""


def trained(problem: KernelProblem, formulation: Formulation, solver: str | None = None) -> Row:
    """The classifier of `SVMDual` or `ConvexHullDual`, with all that its picture shows."""
    result = solve(problem, formulation, solver)
    ((name, alpha),) = result.values.items()
    bound = formulation.program(problem).feasible.upper
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
        # A weight that falls below its bound by rounding counts as bounded.
        "bounded SVs": np.count_nonzero(alpha >= (1.0 - 1e-6) * bound),
        "wrong": np.count_nonzero(wrong), "wrong non-SVs": np.count_nonzero(wrong & ~support),
    }  # fmt: skip


def draw_panels(outcomes: Mapping[str, ComputationOutcome]) -> Figure:
    """A panel for the first row of each setting of the experiment "panels", two in a line.

    Each has decision values, support vectors and, in R^(1,1), reduced hulls with w and Mw.
    """
    rows = {name: found[0] for name, found in outcomes["panels"].settings.items()}
    lines = -(-len(rows) // 2)
    figure = Figure(figsize=(9.0, (5.0 if lines == 1 else 3.0) * lines), layout="constrained")
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
        ax.set_title(f"({name}) {row['title']}, wᵀMw = {row['wMw']:.3g}, {row['SVs']} SVs", size=9)
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


def classified(rows: Sequence[Row]) -> Check:
    """Whether no point is misclassified unless it is a support vector."""
    wrong = sum(row["wrong non-SVs"] for row in rows)
    return Check(wrong == 0, f"{wrong} points that are no support vectors are misclassified")


def norms(panels: Mapping[str, list[Row]], names: str, sign: float) -> Check:
    """Whether wᵀMw has a sign in the first row of each of some panels."""
    found = {name: float(panels[name][0]["wMw"]) for name in names}
    shown = ", ".join(f"{value:.3g} in ({name})" for name, value in found.items())
    return Check(all(sign * value > 0.0 for value in found.values()), f"wᵀMw is {shown}")


def check_figure_1(outcomes: Mapping[str, ComputationOutcome]) -> dict[str, Check]:
    panels = outcomes["panels"].settings
    a, b, c, d = (panels[name][0] for name in "abcd")
    negative = norms(panels, "c", -1.0)
    return {
        "separate": Check(
            a["wrong"] == b["wrong"] == 0, f"{a['wrong']} and {b['wrong']} points are misclassified"
        ),
        "more": Check(a["SVs"] < b["SVs"], f"{a['SVs']} with μ = 1, {b['SVs']} with μ = 0.1"),
        "overlap": Check(negative.holds, f"{negative.measured}; {c['wrong']} points are wrong"),
        "reduced": norms(panels, "d", 1.0),
        "correct": classified([a, b, d]),
    }


HULLS = {
    "a": {"data": Data(SEPARABLE), "mu": 1.0},
    "b": {"data": Data(SEPARABLE), "mu": 0.1},
    "c": {"data": Data(OVERLAPPING), "mu": 1.0},
    "d": {"data": Data(OVERLAPPING), "mu": 0.25},
}
"""The data and the bound μ of each panel."""


def hulls(data: Data, mu: float) -> Row:
    """The nearest points of the hulls whose weights are at most μ."""
    return trained(data.problem, ConvexHullDual(mu=mu))


MACHINES = {
    "a": {"data": Data(SEPARABLE), "mu": 0.1},
    "b": {"data": Data(OVERLAPPING), "C": 1e10},
    "c": {"data": Data(OVERLAPPING), "C": 0.1},
    "d": {"data": Data("haasdonk-figure2d(n=4)"), "C": 1.0},
}
"""C of (a) follows from μ of Figure 1b; that of (b) is printed, that of (c) small enough for a
positive squared norm, and for (d) all C give the same normal vector."""


def machine(data: Data, C: float | None = None, mu: float = 1.0) -> Row:
    """The indefinite support vector machine with C, or with the C that corresponds to μ."""
    return trained(data.problem, SVMDual(C=_corresponding(data.problem, mu) if C is None else C))


def _corresponding(problem: KernelProblem, mu: float) -> float:
    """The C with 2C/Σα = μ (Proposition 3, case 1), which increases with C, by halving decades."""
    low, high = 1e-4, 1e2
    for _ in range(40):
        C = math.sqrt(low * high)
        found = svm_to_hull(problem, C, solve(problem, SVMDual(C=C)).values["alpha"])
        low, high = (C, high) if found.mu < mu else (low, C)
    return low


def check_figure_2(outcomes: Mapping[str, ComputationOutcome]) -> dict[str, Check]:
    panels = outcomes["panels"].settings
    b, d = panels["b"][0], panels["d"][0]
    unsuitable = norms(panels, "d", -1.0)
    return {
        "soft": norms(panels, "a", 1.0),
        "large": norms(panels, "b", -1.0),
        "correct": classified([b]),
        "bounded": Check(
            b["wrong"] <= b["bounded SVs"], f"{b['wrong']} wrong, {b['bounded SVs']} at the bound"
        ),
        "small": norms(panels, "c", 1.0),
        "means": Check(
            unsuitable.holds and d["DCM"] < 0.0,
            f"the means have squared distance {d['DCM']:.3g}, and {unsuitable.measured}",
        ),
    }


MIN_DIFFERENCE = 1e-3
"""Relative difference of the objectives of different optima; here they are 0.67 and 0.82."""


def optimum(permuted: bool, C: float) -> Row:
    """The optimum that `smo` finds, or another one that it finds after a permutation."""
    data = datasets.haasdonk_figure3()
    found: list[Row] = []
    # About every second permutation ends in the other optimum.
    for seed in range(100):
        order = np.random.default_rng(seed).permutation(data.n) if seed else np.arange(data.n)
        problem = KernelProblem.from_dataset(replace(data, X=data.points[order], y=data.y[order]))
        found.append(trained(problem, SVMDual(C=C), "smo"))
        first, last = found[0]["objective"], found[-1]["objective"]
        if not permuted or abs(last - first) > MIN_DIFFERENCE * first:
            return found[-1]
    raise RuntimeError("all permutations end in the same optimum")


OPTIMA = {"a": {"permuted": False, "C": 10.0}, "b": {"permuted": True, "C": 10.0}}
"""No weight of either optimum reaches C, all are below 1."""


def check_figure_3(outcomes: Mapping[str, ComputationOutcome]) -> dict[str, Check]:
    a, b = (outcomes["panels"].settings[name][0] for name in "ab")
    return {
        "two": Check(
            abs(a["objective"] - b["objective"]) > MIN_DIFFERENCE * abs(a["objective"]),
            f"the objectives are {a['objective']:.4g} and {b['objective']:.4g}",
        ),
        "correct": Check(
            a["wrong"] == b["wrong"] == 0, f"{a['wrong']} and {b['wrong']} points are misclassified"
        ),
    }


DRAWS, QUICK_DRAWS = 40, 2

L1_MACHINES = {
    "a": {"name": "haasdonk-figure4a", "C": math.inf},
    "b": {"name": "haasdonk-figure4b", "C": 2000.0},
}
"""The data and C of each panel, as printed."""


def machines(name: str, C: float, draws: int) -> list[Row]:
    """The support vector machines of several draws of the points."""
    sets = [datasets.load(name, seed=seed) for seed in range(draws)]
    return [trained(KernelProblem.from_dataset(data), SVMDual(C=C)) for data in sets]


def figure_4(quick: bool) -> dict[str, Computation]:
    """Both panels, with many draws or with a few."""
    draws = QUICK_DRAWS if quick else DRAWS
    settings = {panel: {**one, "draws": draws} for panel, one in L1_MACHINES.items()}
    return {"panels": Computation(machines, settings)}


def check_figure_4(outcomes: Mapping[str, ComputationOutcome]) -> dict[str, Check]:
    """The sentences on Figure 4, for all draws of the points."""
    panels = outcomes["panels"].settings
    a, b = panels["a"], panels["b"]

    def mean(rows: Sequence[Row], name: str) -> float:
        return float(np.mean([row[name] for row in rows]))

    checks = {}
    for panel, rows in panels.items():
        checks[f"indefinite-{panel}"] = Check(
            all(row["q"] > 0 for row in rows),
            f"{mean(rows, 'p'):.0f} positive and {mean(rows, 'q'):.0f} negative ones in the mean",
        )
        means, hulls = (sum(row[name] > 0.0 for row in rows) for name in ("DCM", "wMw"))
        checks[f"norm-{panel}"] = Check(
            means == hulls == len(rows),
            f"the squared distance of the means is positive in {means} of {len(rows)} draws, "
            f"that of the hulls in {hulls} of {len(rows)} draws",
        )
    bounded, wrong = (sum(row[name] for row in a) for name in ("bounded SVs", "wrong"))
    return checks | {
        "sparse": Check(
            all(row["SVs"] < len(row["y"]) for row in a) and bounded == wrong == 0,
            f"{mean(a, 'SVs'):.0f} of {len(a[0]['y'])} in the mean, {bounded} bounded, "
            f"{wrong} points wrong in all draws",
        ),
        "many": Check(
            all(row["bounded SVs"] > 0 for row in b),
            f"{mean(b, 'bounded SVs'):.0f} of {mean(b, 'SVs'):.0f} in the mean",
        ),
        "correct": classified(b),
    }


FILES = {
    "proteins-H-α": "protein-HA", "proteins-H-β": "protein-HB", "proteins-M": "protein-M",
    "proteins-GH": "protein-G", "cat-cortex-V": "catcortex53-V", "cat-cortex-A": "catcortex53-A",
    "cat-cortex-S": "catcortex53-S", "cat-cortex-F": "catcortex53-F",
}  # fmt: skip

GRIDS: dict[str, dict[str, tuple[float, ...]]] = {
    "proteins": {"gammas": (1e-4, 1e-3, 1e-2), "costs": (1e4, 1e3, 1e2, 10.0)},
    "cat": {
        "gammas": (1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0),
        "costs": (1e3, 1e2, 10.0, 1.0),
    },
}
"""Distances of proteins are about 10, those of areas about 4."""

QUICK_GRID = {"gammas": (0.03, 0.1), "costs": (10.0, 1.0)}


def leave_one_out(
    data: Data, gammas: Sequence[float], costs: Sequence[float], neighbours: int
) -> Row:
    """The best errors in percent, and the indefinite SVM with the best γ and C on all points.

    The first of several entries of the grid with equal errors counts.
    """
    kernels = [f"distance(form=gaussian, gamma={gamma!r})" for gamma in gammas]
    changed: dict[str, Any] = {"kernel": kernels, "C": costs, "centered": True}
    grids = {
        "SVM": Grid("LIBSVM", kernel=kernels, C=costs),
        "CNE": Grid("SpectrumSVM", transform="clip", **changed),
        "RNE": Grid("SpectrumSVM", transform="flip", **changed),
        "k-nn": Grid("KNN", kernel=kernels[0], k=range(1, neighbours + 1)),
    }
    hits = {name: np.zeros(len(grid.entries)) for name, grid in grids.items()}
    for row in Study({"row": data}, grids, LeaveOneOut()).run().rows:
        hits[row["method"]][row["entry"]] += row["accuracy"]
    best = {name: grid.entries[int(np.nanargmax(hits[name]))] for name, grid in grids.items()}
    errors = {name: 100.0 * (1.0 - np.nanmax(found) / data.y.size) for name, found in hits.items()}
    problem, C = data.with_kernel(best["SVM"].kernel), best["SVM"].C
    weights = np.abs(LIBSVM(C).fit(problem).coef)
    found = diagnose(problem, weights)
    p, q = found.signature
    return {
        **errors, "k": 1 + int(np.argmax(hits["k-nn"])), "chosen": str(best["SVM"]), "p": p, "q": q,
        "DCM": found.class_mean_distance, "wMw": found.hull_distance,
        "SVs": np.count_nonzero(weights), "bSVs": np.count_nonzero(weights >= C),
    }  # fmt: skip


def table_1(quick: bool) -> dict[str, Computation]:
    """One row of the table after another."""
    settings = {
        row: {
            # The paper reports at most three neighbours.
            "data": Data(FILES[row]), "neighbours": 5,
            **(QUICK_GRID if quick else GRIDS[row.split("-")[0]]),
        }
        for row in (("cat-cortex-V", "cat-cortex-A") if quick else FILES)
    }  # fmt: skip
    return {"rows": Computation(leave_one_out, settings)}


UNITS = {"k": 0.5, "p": 1.0, "q": 0.5, "SVs": 1.0, "bSVs": 1.0}
"""What counts as one standard deviation of a number that is a count."""


def table_1_entry(row: str, column: str) -> Entry:
    """Errors are in percent, counts in units, and squared distances differ by shares."""
    if column in ("DCM", "wMw"):
        return Entry(metric=column, relative=0.02)
    return Entry(metric=column, unit=UNITS.get(column, 1.5))


def on_panels(
    function: Callable[..., Any], settings: Mapping[str, Any]
) -> Callable[[bool], dict[str, Computation]]:
    """The experiment of a figure that is quick."""
    return lambda quick: {"panels": Computation(function, settings)}


def shown(row: str, column: str) -> Entry:
    """A count below Figure 4, or what the text says of a picture and prints as no number."""
    printed = column in ("p", "q", "SVs", "bounded SVs")
    return Entry(metric=column, unit=1.0 if printed else 0.5, counted=printed)


STUDIES = {
    "figure-1": Code(on_panels(hulls, HULLS), shown, draw_panels, check_figure_1),
    "figure-2": Code(on_panels(machine, MACHINES), shown, draw_panels, check_figure_2),
    "figure-3": Code(on_panels(optimum, OPTIMA), shown, draw_panels, check_figure_3),
    "figure-4": Code(figure_4, shown, draw_panels, check_figure_4),
    "table-1": Code(table_1, table_1_entry),
}
