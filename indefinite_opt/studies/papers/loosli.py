"""Loosli, Ong & Canu (2013): nine methods on a checkerboard and on published data."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import ParameterError
from indefinite_opt.problem import Kernel, KernelProblem, datasets
from indefinite_opt.studies.data import Data
from indefinite_opt.studies.methods import Grid
from indefinite_opt.studies.papers import Check, Code, Computation, Entry
from indefinite_opt.studies.papers._loosli_boards import (
    FIGURE_1,
    FIGURE_3_POINTS,
    FIGURE_4_POINTS,
    METHODS,
    SPECTRA,
    check_figure_1,
    check_figure_2,
    check_figure_5,
    draw_figure_1,
    draw_figure_2,
    draw_figure_5,
    figure_2,
    figure_5,
    figure_of_regions,
    method,
)
from indefinite_opt.studies.protocols import Nested, RepeatedKFold
from indefinite_opt.studies.study import Study, StudyOutcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TABLE_METHODS = tuple(name for name in METHODS if name != "ESVM-L")


def protocol(quick: bool) -> Nested:
    """Five folds, ten times, with C by five folds of the training points."""
    return Nested(RepeatedKFold(5, repeats=1 if quick else 10), inner=3 if quick else 5)


def methods(quick: bool, *names: str, spectra: float) -> dict[str, Grid]:
    """All methods of the tables, or those of these names; `spectra` is C of the last three.

    ESVM-L is ESVM there.
    """
    bounds = [0.1, 1.0] if quick else [0.01, 0.1, 1.0, 10.0, 100.0]
    chosen: dict[str, float | list[float]] = {
        "Indefinite SVM": [0.001, 0.01, 0.1, 1.0],
        **dict.fromkeys(SPECTRA, spectra),
    }
    return {name: method(name, chosen.get(name, bounds)) for name in names or TABLE_METHODS}


def entry(column: str, experiment: str = "accuracy") -> Entry:
    """An accuracy in percent, or the smallest eigenvalue, printed with 4 digits or more."""
    if column == "min eig":
        return Entry(metric="lambda_min", experiment=column, relative=1e-4)
    return Entry("ESVM" if column == "ESVM-L" else column, factor=100.0, experiment=experiment)


def smallest_eigenvalue(data: Data) -> dict[str, Any]:
    """The smallest eigenvalue of the kernel matrix of all points."""
    return {"lambda_min": float(data.problem.spectrum.minimum), "n": data.problem.n}


SERIES_KERNELS = [
    f"sigmoid(a={a}, r={r})"
    for a in (-1.0, -0.5, -0.1, 0.1, 0.5, 1.0)
    for r in (-2.0, -1.0, 0.0, 1.0, 2.0)
]


def series(name: str, quick: bool) -> dict[str, Study]:
    """Figures 6 and 7: all methods with many sigmoid kernels on one data set, at C = 1.

    A quick run leaves out the relevance vector machine, which takes a second for each training.
    """
    tried = SERIES_KERNELS[::6] if quick else SERIES_KERNELS
    names = [name for name in METHODS if not (quick and name == "RVM")]
    study = Study(
        data={name: Data(name, options={"scaling": "minmax-all"})},
        methods={one: method(one, 1.0, kernel=tried) for one in names},
        protocol=RepeatedKFold(5),
        metrics=("accuracy", "training_error", "lambda_min"),
    )
    return {"accuracy": study}


def kernel_means(outcomes: Mapping[str, StudyOutcome]) -> dict[str, NDArray[Any]]:
    """By method, for each kernel the means of the least eigenvalue and of both accuracies, (k, 3).

    These are the accuracies on the test points and on the training points.
    """
    means = {}
    for name in METHODS:
        entries: dict[int, list[tuple[float, float, float]]] = {}
        for row in outcomes["accuracy"].rows:
            if row["method"] == name and not row["error"]:
                numbers = row["lambda_min"], row["accuracy"], 1.0 - row["training_error"]
                entries.setdefault(row["entry"], []).append(numbers)
        if entries:
            means[name] = np.array([np.mean(entries[k], axis=0) for k in sorted(entries)])
    return means


def series_figure(outcomes: Mapping[str, StudyOutcome]) -> Figure:
    """Accuracy on the test points, and on the training points, against the least eigenvalue."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.4, 8.0), layout="constrained")
    panels = figure.subplots(2, 1)
    means = kernel_means(outcomes)
    for ax, part, column in zip(panels, ("test", "training"), (1, 2), strict=True):
        for index, name in enumerate(METHODS):
            if name in means:
                least, percent = means[name][:, 0], 100.0 * means[name][:, column]
                order = np.argsort(least)
                ax.plot(least[order], percent[order], f"C{index}", marker="o", ms=3, label=name)
        ax.set(xlabel="smallest eigenvalue of the training kernel", ylabel=f"% correct, {part} set")
        ax.set_xscale("symlog")
    panels[0].legend(ncols=3, fontsize=8)
    return figure


CLOSE = 0.05
"""Difference of accuracies up to which two methods are comparable."""


def check_series(outcomes: Mapping[str, StudyOutcome]) -> dict[str, Check]:
    """The sentences on Figures 6 and 7, from the mean test accuracy for each kernel.

    That on the weakest heuristic is of Figure 7 only.
    """
    found = kernel_means(outcomes)
    means = {name: values[:, 1] for name, values in found.items()}
    least = found["ESVM"][:, 0]
    good = [name for name in ("ESVM", "LP SVM", "RVM") if name in means]
    others = [name for name in means if name not in (*good, "ESVM-L")]
    worst, rivals = (np.array([means[name] for name in names]) for names in (good, others))
    ahead = float(np.mean(worst.min(axis=0) >= rivals.max(axis=0) - CLOSE))
    average = {name: float(values.mean()) for name, values in means.items()}
    shared = sorted(average[name] for name in SPECTRA)
    spread = {name: float(means[name].std()) for name in ("KSVM", "ESVM")}
    indefinite = least < np.median(least)
    heuristics = np.array([means[name] for name in SPECTRA]).mean(axis=0)
    deep, shallow = heuristics[indefinite].mean(), heuristics[~indefinite].mean()

    def told(*names: str) -> str:
        return "mean accuracies: " + ", ".join(f"{x} {100 * average[x]:.1f}" for x in names)

    return {
        "almost always": Check(
            # From four fifths of the kernels on something holds almost always.
            ahead >= 0.8,
            f"for {100 * ahead:.0f} % of the kernels none of {', '.join(good)} is more than "
            f"{100 * CLOSE:.0f} points below any other method",
        ),
        "comparable": Check(
            "RVM" in means and abs(average["ESVM"] - average["RVM"]) <= CLOSE,
            told(*(name for name in ("ESVM", "RVM") if name in means)),
        ),
        "inconstant": Check(
            spread["KSVM"] > spread["ESVM"],
            f"over the kernels its accuracy has a standard deviation of {100 * spread['KSVM']:.1f} "
            f"points, that of ESVM {100 * spread['ESVM']:.1f}",
        ),
        "negative": Check(
            bool(deep < shallow),
            f"mean accuracy {100 * deep:.1f} for the half of the kernels with the smaller least "
            f"eigenvalues, {100 * shallow:.1f} for the others",
        ),
        "between": Check(
            shared[-1] <= average["Indefinite SVM"] <= average["ESVM"],
            told("Indefinite SVM", *SPECTRA, "ESVM"),
        ),
        "weakest": Check(average["Trunc eigs"] == shared[0], told(*SPECTRA)),
    }


SIGMOIDS = {
    "Sonar": Data("sonar", "sigmoid(a=-0.5, r=1)", {"scaling": "minmax-all"}),
    "Heart": Data("heart", "sigmoid(a=-1, r=1)", {"scaling": "minmax-all"}),
    "Breast cancer": Data("breast", "sigmoid(a=-0.5, r=0.5)", {"scaling": "minmax-all"}),
    "Diabetes": Data("diabetes", "sigmoid(a=-0.5, r=1)", {"scaling": "minmax-all"}),
    "Adult (a1a)": Data("a1a", "sigmoid(a=-0.5, r=1)"),
}

SHORT = ("Sonar", "Heart", "Breast cancer")

WITHOUT_RVM = tuple(name for name in TABLE_METHODS if name != "RVM")


def nested(
    sets: Mapping[str, Data], quick: bool, C: float, names: tuple[str, ...], *chosen: str
) -> Study:
    """The study of some sets by all methods, or by those chosen, and C of the transformations."""
    data = {name: sets[name] for name in names}
    return Study(data, methods(quick, *chosen, spectra=C), protocol(quick))


def eigenvalues(sets: Mapping[str, Data]) -> Computation:
    """The smallest eigenvalues of all points."""
    return Computation(smallest_eigenvalue, {name: {"data": one} for name, one in sets.items()})


def table_2(quick: bool) -> dict[str, Study | Computation]:
    """The accuracies, those of the larger sets apart, and the eigenvalues."""
    study = functools.partial(nested, SIGMOIDS, quick, 1.0)
    least = eigenvalues({name: SIGMOIDS[name] for name in (SHORT[:2] if quick else SIGMOIDS)})
    if quick:
        return {"accuracy": study(("Heart",)), "min eig": least}
    return {
        "accuracy": study(SHORT),
        "Diabetes": study(("Diabetes",), *WITHOUT_RVM),
        "RVM on Diabetes": study(("Diabetes",), "RVM"),
        "Adult (a1a)": study(("Adult (a1a)",), *WITHOUT_RVM),
        "RVM on Adult": study(("Adult (a1a)",), "RVM"),
        "min eig": least,
    }


def table_2_entry(row: str, column: str) -> Entry:
    """The experiment that has a data set and a method."""
    if column == "RVM" and row not in SHORT:
        return entry(column, f"RVM on {row.partition(' ')[0]}")
    return entry(column, "accuracy" if row in SHORT else row)


def _two_classes(name: str, classes: tuple[str, ...], kernel: Kernel | None) -> KernelProblem:
    """The dissimilarities of several classes as a kernel, some of them against the rest."""
    if kernel is not None:
        raise ParameterError("kernel", "none, since D is the kernel", str(kernel))
    parts = [datasets.load(f"{name}-{letter}") for letter in classes]
    labels = np.max([part.y for part in parts], axis=0)
    return KernelProblem.from_dataset(dataclasses.replace(parts[0], y=labels), form="raw")


SPECTRA_BOUND = 0.01
"""C of the three transformations of the spectrum."""

DISSIMILARITIES = {
    "Protein,2vs2": Data(functools.partial(_two_classes, "protein", ("HB", "M"))),
    "CatCortex,2vs1": Data(functools.partial(_two_classes, "catcortex53", ("V", "S"))),
    "CoilYork,2vs2": Data("coilyork", options={"form": "raw"}),
    "Balls3D": Data("balls", options={"form": "raw"}),
    "GaussM1 linear": Data("gaussians(n=200)", options={"form": "raw"}),
    "GaussM02": Data("gaussians(n=200, p=0.2)", options={"form": "raw"}),
}

GAUSSIANS = ("GaussM1 linear", "GaussM02")

WHOLE = {
    **DISSIMILARITIES,
    "GaussM1 linear": Data("gaussians", options={"form": "raw"}),
    "GaussM02": Data("gaussians(p=0.2)", options={"form": "raw"}),
}
"""With the number of objects that the eigenvalues are of."""


def table_3(quick: bool) -> dict[str, Study | Computation]:
    """The accuracies, and the smallest eigenvalues of all points."""
    study = functools.partial(nested, DISSIMILARITIES, quick, SPECTRA_BOUND)
    least = eigenvalues(DISSIMILARITIES if quick else WHOLE)
    if quick:
        return {"accuracy": study(("CatCortex,2vs1",)), "min eig": least}
    small = tuple(name for name in DISSIMILARITIES if name not in GAUSSIANS)
    return {
        "accuracy": study(small),
        "GaussM": study(GAUSSIANS, "ESVM", "KSVM", "RVM", *SPECTRA),
        "min eig": least,
    }


def table_3_entry(row: str, column: str) -> Entry:
    """The experiment that has a data set."""
    return entry(column, "GaussM" if row in GAUSSIANS else "accuracy")


STUDIES = {
    "figure-1": Code(FIGURE_1, draw=draw_figure_1, checks=check_figure_1),
    "figure-2": Code(figure_2, draw=draw_figure_2, checks=check_figure_2),
    "figure-3": figure_of_regions(FIGURE_3_POINTS),
    "figure-4": figure_of_regions(FIGURE_4_POINTS),
    "figure-5": Code(figure_5, draw=draw_figure_5, checks=check_figure_5),
    "figure-6": Code(functools.partial(series, "heart"), draw=series_figure, checks=check_series),
    "figure-7": Code(functools.partial(series, "sonar"), draw=series_figure, checks=check_series),
    "table-2": Code(table_2, table_2_entry),
    "table-3": Code(table_3, table_3_entry),
}
