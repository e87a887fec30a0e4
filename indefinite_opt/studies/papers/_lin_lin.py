"""The data, the contours and the nested cross-validation of Lin & Lin (2003)."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.formulations import SVMDual
from indefinite_opt.problem import kernels
from indefinite_opt.studies.data import Data
from indefinite_opt.studies.methods import Grid
from indefinite_opt.studies.papers import Entry
from indefinite_opt.studies.protocols import Nested, RepeatedKFold
from indefinite_opt.studies.study import Study
from indefinite_opt.workflow import solve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAPER = "Lin & Lin (2003)"
SETS = ("heart", "german", "diabete", "a1a")
TOLERANCE = 1e-3
"""LIBSVM's tolerance of the optimality conditions, which the paper does not change."""

SCALED = (
    "The features are scaled to [-1, 1] over the whole data set, but those of a1a, which are 0 "
    "or 1, are not."
)
PRINTED_SMO = (
    "SVMs with the sigmoid kernel are trained by SMO as printed in section 6, from zero. The paper "
    "used LIBSVM of 2003, which is the same algorithm."
)
LONG = ("KLR-NT on a1a", "KLR-CG")


def data(name: str) -> Data:
    """One of the four data sets."""
    options = {} if name == "a1a" else {"scaling": "minmax-all"}
    return Data({"diabete": "diabetes"}.get(name, name), options=options)


def nested(quick: bool) -> dict[str, Study]:
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
        "KLR-CG": study({"KLR-CG": gradients}, *SETS),
    }


def experiment(row: str, method: str) -> str:
    """The experiment that has a method of the tables on a data set."""
    if method == "KLR-NT" and row == "a1a":
        return "KLR-NT on a1a"
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
