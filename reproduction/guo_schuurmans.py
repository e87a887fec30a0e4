"""Guo & Schuurmans (2009): the data, the methods and the protocol of Tables 1 to 3.

Attributes are discretised for naive Bayes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import CategoricalNB

import indefinite_opt as iopt
from indefinite_opt.studies import Data, Grid, Nested, RepeatedSplit, Study
from reproduction.declaration import Code, Entry
from reproduction.learners import LogisticPairs

Array = NDArray[np.float64]

MAX_LEVELS = 4
"""Largest number of different values of a numeric attribute that is used as a category, such
as the kind of chest pain in heart; the sets have no measurements with so few."""


def discretised(X: Array, y: NDArray[np.int64], names: tuple[str, ...]) -> Array:
    """Codes 1, 2, ... of the attributes: intervals of numbers by their cut points, and categories.

    As in a `Dataset`, a category with several levels has a column `attribute=level` for each.
    """
    groups: dict[str, list[int]] = {}
    for column, name in enumerate(names):
        attribute, _, level = name.partition("=")
        # A category of two levels is one column with the name of the second.
        groups.setdefault(attribute if level else name, []).append(column)
    codes = []
    for columns in groups.values():
        values = X[:, columns[0]]
        if len(columns) > 1:
            codes.append(np.argmax(X[:, columns], axis=1))
        elif np.unique(values).size <= MAX_LEVELS:
            codes.append(np.unique(values, return_inverse=True)[1])
        else:
            codes.append(np.searchsorted(cut_points(values, y > 0), values))
    return 1.0 + np.column_stack(codes)


def cut_points(values: Array, labels: NDArray[np.bool_]) -> list[float]:
    """Cut points of a numeric attribute by the minimum description length principle.

    Fayyad & Irani (1993): the cut of least class entropy is accepted if it gains more than
    (log2(n - 1) + log2(3^k - 2) - k H + k1 H1 + k2 H2) / n bits, with k classes in the whole and in
    both parts; both parts are then cut in the same way.

    >>> cut_points(np.arange(20.0), np.arange(20) >= 8)
    [7.5]
    >>> cut_points(np.arange(20.0), np.arange(20) % 2 > 0)
    []
    """
    order = np.argsort(values, kind="stable")
    values, labels = values[order], labels[order]
    n, cuts = values.size, np.flatnonzero(np.diff(values)) + 1
    if not cuts.size:
        return []
    parts = [cut * _entropy(labels[:cut]) + (n - cut) * _entropy(labels[cut:]) for cut in cuts]
    cut = int(cuts[np.argmin(parts)])
    left, right = labels[:cut], labels[cut:]
    k, k1, k2 = (np.unique(part).size for part in (labels, left, right))
    information = k * _entropy(labels) - k1 * _entropy(left) - k2 * _entropy(right)
    cost = np.log2(n - 1) + np.log2(3.0**k - 2.0) - information
    if n * _entropy(labels) - min(parts) <= cost:
        return []
    middle = float(0.5 * (values[cut - 1] + values[cut]))
    return [*cut_points(values[:cut], left), middle, *cut_points(values[cut:], right)]


def _entropy(labels: NDArray[np.bool_]) -> float:
    """Entropy of the classes in bits."""
    share = float(np.mean(labels))
    return -sum(p * float(np.log2(p)) for p in (share, 1.0 - share) if p > 0.0)


@dataclass(frozen=True)
class CategoricalNaiveBayes:
    """Naive Bayes on pairs [x, x'] of coded points; see `ConfidenceProblem.from_learner`.

    Learned from all n² pairs it is P(a | x) P(b | x'), the product of the ordinary model with
    itself. Laplace's correction adds 1 to each count of points.
    """

    levels: tuple[int, ...]
    """Number of codes of each attribute, which are 1, 2, ..."""

    def fit(self, X: Array, y: Array) -> Callable[[Array, Array, Array], tuple[Array, Array]]:
        """Learn log P(a, b | x, x') from points (n, d) and their labels -1 and +1."""
        ordinary = CategoricalNB(alpha=1.0, min_categories=np.array(self.levels))
        ordinary.fit(X.astype(np.int64) - 1, y > 0)

        def confidences(X: Array, Z: Array, z: Array) -> tuple[Array, Array]:
            first, second = (
                ordinary.predict_log_proba(points.astype(np.int64) - 1) for points in (X, Z)
            )
            known = np.where(z > 0.0, second[:, 1], second[:, 0])
            return first[:, 1, None] + known, first[:, 0, None] + known

        return confidences

    def __str__(self) -> str:
        return "categorical naive Bayes"


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


def _problem(name: str, kernel: iopt.Kernel | None) -> iopt.KernelProblem:
    X, y = _points(name)
    return iopt.KernelProblem.from_data(X, y, kernel or "linear", name=name)


def _learned(name: str, learner: str, kernel: iopt.Kernel | None) -> iopt.ConfidenceProblem:
    X, y = _points(name)
    chosen: LogisticPairs | CategoricalNaiveBayes = LogisticPairs(ridge=100.0)
    if learner == LEARNERS["NB"]:
        chosen = CategoricalNaiveBayes(tuple(int(most) for most in X.max(axis=0)))
    return iopt.ConfidenceProblem.from_learner(X, y, chosen, name=name)


def _points(name: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    loaded = iopt.datasets.load(FILES.get(name, name))
    # Rows that come before those of the paper.
    start = {"corral": 32}.get(name, 0)
    X, y = loaded.points[start:], loaded.y[start:]
    return discretised(X, y, loaded.feature_names), y


BOUNDS = [1.05, 1.2, 1.5, 2, 3, 5, 8]
"""Bounds β as multiples of the least feasible one, from nearly uniform weights to a hard margin."""

OFFSET = "offset=nearest"
"""The offset nearest to 0 among those of least training error."""

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
"""The learners of the columns, as the names of the data have them."""


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
