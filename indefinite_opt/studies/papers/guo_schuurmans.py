"""Guo & Schuurmans (2009): the data, the methods and the protocol of Tables 1 to 3."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.problem import ConfidenceProblem, Kernel, KernelProblem, datasets
from indefinite_opt.studies.data import Data
from indefinite_opt.studies.methods import Grid
from indefinite_opt.studies.papers import Code, Entry
from indefinite_opt.studies.papers._discretised import CategoricalNaiveBayes, discretised
from indefinite_opt.studies.protocols import Nested, RepeatedSplit
from indefinite_opt.studies.study import Study

NAIVE_BAYES = "naive-bayes"

SETS = (
    "australian", "breast", "cleve", "corral", "crx", "diabetes", "flare", "german", "glass2",
    "heart", "hepatitis", "mofn-3-7", "pima", "vote",
)  # fmt: skip

QUICK_SETS = ("corral", "heart", "hepatitis")
"""The smallest sets, and one of the others."""

FILES = {"german": "german_raw", "mofn-3-7": "mofn_3_7_10", "vote": "vote(missing=impute)"}


def accuracy_entry(row: str, column: str) -> Entry:
    """The accuracy of a method on a set; the last row has the averages."""
    return Entry(mean_of=SETS) if row == "average" else Entry()


def protocol(quick: bool, chosen: bool = True) -> Nested | RepeatedSplit:
    """Training on 100 points, or 4/5 of a smaller set; parameters by five folds of these."""
    # Twice the number of the paper, so that less of the difference is our own chance.
    outer = RepeatedSplit(train=100, repeats=1 if quick else 10, max_share=0.8)
    return Nested(outer, inner=3 if quick else 5) if chosen else outer


def data(quick: bool, *learners: str) -> dict[str, Data]:
    """The data sets, or each with each learner of confidences."""
    names = QUICK_SETS if quick else SETS
    if not learners:
        return {name: Data(functools.partial(_problem, name)) for name in names}
    return {
        f"{name}, {learner}": Data(functools.partial(_learned, name, learner))
        for name in names
        for learner in learners
    }


def _problem(name: str, kernel: Kernel | None) -> KernelProblem:
    X, y = _points(name)
    return KernelProblem.from_data(X, y, kernel or "linear", name=name)


def _learned(name: str, learner: str, kernel: Kernel | None) -> ConfidenceProblem:
    X, y = _points(name)
    levels = tuple(int(most) for most in X.max(axis=0))
    chosen = CategoricalNaiveBayes(levels) if learner == NAIVE_BAYES else learner
    return ConfidenceProblem.from_learner(X, y, chosen, name=name)


def _points(name: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    loaded = datasets.load(FILES.get(name, name))
    # Rows that come before those of the paper.
    start = {"corral": 32}.get(name, 0)
    X, y = loaded.points[start:], loaded.y[start:]
    return discretised(X, y, loaded.feature_names), y


BOUNDS = [1.05, 1.2, 1.5, 2, 3, 5, 8]
"""Bounds β as multiples of the least feasible one, from nearly uniform weights to a hard margin."""

OFFSET = "offset=nearest"
"""Of the offsets of least training error the one nearest to 0."""

LINEAR, QUADRATIC = f"GuoSchuurmansLP({OFFSET})", f"GuoSchuurmansQP({OFFSET})"

CENTRAL = "clarabel"
"""(12) has many solutions where most confidences are near 0. An interior-point method ends in the
middle of these, a simplex method at one with many zeros."""


def table_1(quick: bool) -> dict[str, Study]:
    """Three choices of the weights with each of the kernels."""
    methods: dict[str, Grid] = {}
    bounds = BOUNDS[:4] if quick else BOUNDS
    for name, kernel in {"L": "linear", "RBF": "gaussian(gamma=1)"}.items():
        bias = "bias=False" if name == "L" else OFFSET
        methods[f"{name}-α0"] = Grid(f"UniformWeights({bias})", kernel=kernel)
        for label, chosen, solver in (("α1", LINEAR, CENTRAL), ("α2", QUADRATIC, "smo")):
            grid = Grid(chosen, kernel=kernel, relative=bounds, solver=solver)
            methods[f"{name}-{label}"] = grid
    return {"accuracy": Study(data=data(quick), methods=methods, protocol=protocol(quick))}


LARGE_COSTS = [1, 10, 100, 1000, 10000]
"""The kernel varies by 10⁻³ of its size over the points, so that only large C separate them."""

PRICES = [1e4, 1e6, 1e8]
"""Prices ρ of a change of the kernel, up to those that leave nothing but the removal of negative
eigenvalues."""


def table_2(quick: bool) -> dict[str, Study]:
    """Spectrum transformations, the proxy kernel of (13), and the linear program."""
    kernel = "sigmoid(a=0.001, r=-1)"
    costs, bounds = (LARGE_COSTS[1::2], BOUNDS[:4]) if quick else (LARGE_COSTS, BOUNDS)
    methods = {
        label: Grid("SpectrumSVM", kernel=kernel, transform=transform, C=costs)
        for label, transform in {"denoise": "clip", "flip": "flip", "shift": "shift"}.items()
    }
    methods["reg-svm"] = Grid("LussDual", kernel=kernel, rho=PRICES, C=costs)
    methods["α1"] = Grid(LINEAR, kernel=kernel, relative=bounds, solver=CENTRAL)
    return {"accuracy": Study(data=data(quick), methods=methods, protocol=protocol(quick))}


LEARNERS = {"LR": "logistic(ridge=100)", "NB": "naive-bayes"}


def table_3(quick: bool) -> dict[str, Study]:
    """Uniform weights and the linear program on the confidences of both learners."""
    methods = {"α0": Grid("UniformWeights"), "α1": Grid(LINEAR, solver=CENTRAL)}
    return {
        "accuracy": Study(
            data=data(quick, *LEARNERS.values()),
            methods=methods,
            protocol=protocol(quick, chosen=False),
        )
    }


def learned_entry(row: str, column: str) -> Entry:
    """The weights are the method, and the learner makes the data."""
    learner, weights = column.split("-")
    rows = SETS if row == "average" else ()
    return Entry(method=weights, mean_of=rows, data=f"{row}, {LEARNERS[learner]}")


STUDIES = {
    "table-1": Code(table_1, accuracy_entry),
    "table-2": Code(table_2, accuracy_entry),
    "table-3": Code(table_3, learned_entry),
}
