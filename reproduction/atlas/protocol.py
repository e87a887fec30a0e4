"""What the atlas runs: all methods on the same nested folds, and the ends of descents.

The study trains and tests every method. Parameters and kernels are chosen by three inner folds of
the training points; each nonconvex program that is tested gets some seconds for a proof. More than
two classes are trained one against one, and share these seconds.

Left out are `GuoSchuurmansQP`, whose program is that of `ConvexHullDual`; `NuSVM`, whose
program differs from it only where eᵀα > ν, and whose searches take longer than all others together;
`ConvexHullPrimal` and `PseudoEuclideanPrimal`, which are unbounded on indefinite kernels;
`AsKLS` and `BilinearSVM`, which are for asymmetric similarities;
`SpectrumSVM` with flip, whose classifier is that of `ESVM`; and the relevance vector machine, which
takes longer than all convex programs. The atlas was run before the package had `KernelFisher`,
`L2SVM`, `LaplacianSVM`, `LearnedKernel`, `LeastSquaresSVM`, `MixedNormSVM`, `MultipleKernelSVM`,
`NoisyLPSVM`, `RankingSVM` and `SVDDneg`.

The ends are those of LIBSVM and of descents on the same dual. They are compared with
the optimum that is proved, on the two largest classes of each pair and with its first kernel.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import indefinite_opt as iopt
from indefinite_opt.studies import (
    Computation,
    ComputationOutcome,
    Data,
    Grid,
    Nested,
    RepeatedKFold,
    Study,
    StudyOutcome,
)
from reproduction.declaration import solve

Array = NDArray[np.float64]
Row = dict[str, Any]
Progress = Callable[[int, int, Row], None]

BOUNDS = [0.1, 1, 10]
"""C of the grids, for distances in units of their median and kernels of that size."""

RELATIVE = [1.2, 2, 5]
"""Bounds of the weights in units of the least feasible one."""

METHODS: Mapping[str, Grid] = {
    "SVMDual": Grid("SVMDual", C=BOUNDS),
    "ConvexHullDual": Grid("ConvexHullDual", relative=RELATIVE),
    "LIBSVM": Grid("LIBSVM", C=BOUNDS),
    "clip": Grid("SpectrumSVM(transform=clip)", C=BOUNDS),
    "shift": Grid("SpectrumSVM(transform=shift)", C=BOUNDS),
    "square": Grid("SpectrumSVM(transform=square)", C=BOUNDS),
    "ESVM": Grid("ESVM", C=BOUNDS),
    "KSVM": Grid("KSVM", C=BOUNDS),
    "LPSVM": Grid("LPSVM", C=BOUNDS),
    "GuoSchuurmansLP": Grid("GuoSchuurmansLP", relative=RELATIVE),
    "SeparabilitySVM": Grid("SeparabilitySVM", C=BOUNDS),
    "KernelLogistic": Grid("KernelLogistic", C=BOUNDS),
    "LussDual": Grid("LussDual", C=BOUNDS),
    "LussBall": Grid("LussBall", C=BOUNDS),
    "UniformWeights": Grid("UniformWeights"),
    "LSSVM": Grid("LSSVM", C=BOUNDS),
    "1-NN": Grid("KNN(k=1)"),
    "k-NN": Grid("KNN", k=[3, 5, 9]),
}
"""The methods by their labels; every grid also has the kernels of the data."""

NONCONVEX = ("SVMDual", "ConvexHullDual")
"""The methods whose programs are not convex on an indefinite kernel."""

METRICS = ("accuracy", "claim", "proved_within", "seconds")

PROVED, USUAL, DESCENT, LIBSVM = "proved", "usual search", "one descent", "LIBSVM"
"""The ends that are compared; those of random starts are numbered."""


@dataclass(frozen=True)
class Protocol:
    """How much is run.

    Attributes
    ----------
    folds, inner : int
        Outer folds, and inner ones that choose parameters.
    seconds : float
        For the proof of each nonconvex program.
    ends_folds : int
        The first of the outer folds on whose training points ends are compared.
    starts : int
        Random starts of descents.
    methods : tuple of str
        Labels in `METHODS`.
    """

    folds: int = 5
    inner: int = 3
    seconds: float = 30.0
    ends_folds: int = 2
    starts: int = 20
    methods: tuple[str, ...] = tuple(METHODS)

    def study(self, data: Any, seed: int) -> Study:
        """All methods on pairs with the divisions of a seed."""
        outer, inner = (RepeatedKFold(count, seed=seed) for count in (self.folds, self.inner))
        methods = {name: METHODS[name] for name in self.methods}
        return Study(data, methods, Nested(outer, inner), METRICS, prove=self.seconds)

    def ends(self, data: Mapping[str, Data]) -> Computation:
        """The ends of descents on each pair, fold and C."""
        settings = {
            f"{name}, C={C}, fold {fold}": {
                "data": one, "C": C, "fold": fold, "folds": self.folds, "starts": self.starts,
                "seconds": self.seconds,
            }
            for name, one in data.items() for fold in range(self.ends_folds) for C in BOUNDS
        }  # fmt: skip
        return Computation(ends, settings)


FULL = Protocol()

QUICK = Protocol(
    folds=2, inner=2, seconds=1.0, ends_folds=1, starts=5,
    methods=("SVMDual", "LIBSVM", "clip", "ESVM", "LPSVM", "1-NN"),
)  # fmt: skip
"""What `--quick` runs, on `QUICK_PAIRS`."""

QUICK_PAIRS = ("aural-sonar", "mites-bray-curtis", "cat-cortex", "wine-tl1", "iris-tanh")


def spectrum(data: Data) -> Row:
    """The number of points and classes of a pair, and the spectrum of its first kernel."""
    problem = data.problem
    p, q = problem.signature
    return {
        "n": problem.n, "classes": problem.classes.size, "p": p, "q": q,
        "negative": problem.negative_share,
    }  # fmt: skip


def largest_classes(y: NDArray[Any]) -> NDArray[np.intp]:
    """The places of the points of the two largest classes, of equal ones the first.

    >>> largest_classes(np.array([0, 1, 1, 2, 2, 2, 0]))
    array([0, 3, 4, 5, 6])
    """
    labels, sizes = np.unique(y, return_counts=True)
    chosen = labels[np.argsort(-sizes, kind="stable")[:2]]
    return np.flatnonzero(np.isin(y, chosen))


def objective(K: Array, coef: Array) -> float:
    """eᵀα - ½ αᵀQα of the `SVMDual`, by the signed coefficients y∘α."""
    return float(np.abs(coef).sum() - 0.5 * coef @ K @ coef)


def random_start(y: Array, C: float, seed: int) -> Array:
    """Weights in [0, C] with yᵀα = 0: a random share of the points has weights, equal by class.

    >>> y = np.array([1.0, 1.0, 1.0, -1.0, -1.0])
    >>> alpha = random_start(y, 2.0, seed=3)
    >>> bool(abs(y @ alpha) < 1e-12), bool(alpha.min() >= 0.0), bool(alpha.max() <= 2.0)
    (True, True, True)
    """
    draws = np.random.default_rng(seed)
    alpha: Array = np.where(draws.random(y.size) < draws.random(), float(C), 0.0)
    positive, negative = (float(alpha[y == sign].sum()) for sign in (1, -1))
    least = min(positive, negative)
    for sign, total in ((1, positive), (-1, negative)):
        alpha[y == sign] *= least / total if total else 0.0
    return alpha


def ends(data: Data, C: float, fold: int, folds: int, starts: int, seconds: float) -> list[Row]:
    """Objectives and accuracies of the points at which methods end on one `SVMDual`.

    Parameters
    ----------
    data : Data
    C : float
    fold, folds : int
        The test points are those of this fold, of as many stratified ones with seed 0.
    starts : int
        Random starts from which the descent runs.
    seconds : float
        For the proof.
    """
    places = largest_classes(data.y)
    division = RepeatedKFold(folds).divisions(data.y[places])[fold]
    split = data.split(data.problem, places[division.train], places[division.test])
    problem, formulation = split.problem, iopt.SVMDual(C=C)
    p, q = problem.signature
    shared = {
        "fold": fold, "C": C, "n": problem.n, "p": p, "q": q, "negative": problem.negative_share
    }  # fmt: skip

    def row(name: str, train: Callable[[], Any]) -> Row:
        began = time.perf_counter()
        found = train()
        spent = time.perf_counter() - began
        classifier = getattr(found, "classifier", found)
        hits = classifier.predict(split.K_new) == split.labels
        return {
            **shared, "method": name, "objective": objective(problem.K, classifier.coef),
            "accuracy": float(np.mean(hits)), "seconds": spent,
        }  # fmt: skip

    result = solve(problem, formulation, prove=seconds)
    rows = [
        row(PROVED, lambda: result)
        | {
            "seconds": result.seconds,
            "proved_within": result.certificate.proved_within,
        },
        row(USUAL, lambda: solve(problem, formulation)),
        row(DESCENT, lambda: solve(problem, formulation, "smo")),
        row(LIBSVM, lambda: iopt.LIBSVM(C=C).fit(problem)),
    ]
    for k in range(starts):
        start = {"alpha": random_start(problem.y, C, k)}
        rows.append(row(str(k), functools.partial(solve, problem, formulation, "smo", start=start)))
    return rows


def run(
    data: Mapping[str, Data],
    protocol: Protocol,
    seeds: Iterable[int],
    store: Path,
    n_jobs: int | None = None,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> list[Row]:
    """Everything of these pairs, seed after seed; finished cells are in the store.

    The rows have a `part`: "pair" for the spectra, "end" for `ends`, "study" for the study. `run`
    is the seed.
    """
    shared: Any = {"n_jobs": n_jobs, "cluster": cluster, "progress": progress}
    described = Computation(spectrum, {name: {"data": one} for name, one in data.items()})
    found = _parts("pair", described.run(store, **shared))
    for seed in seeds:
        outcome = protocol.study(data, seed).run(store, **shared)
        found += [
            {**row, "part": "study", "pair": row["data"], "run": seed} for row in outcome.rows
        ]
        if not any(row["part"] == "end" for row in found):
            found += _parts("end", protocol.ends(data).run(store, **shared))
    return found


def _parts(part: str, outcome: ComputationOutcome) -> list[Row]:
    return [{**row, "part": part, "pair": row["setting"].split(", C=")[0]} for row in outcome.rows]


def outcome_of(rows: Iterable[Row], protocol: Protocol) -> StudyOutcome:
    """The study of stored rows, which needs no data."""
    kept = [dict(row) for row in rows]
    names = list(dict.fromkeys(row["pair"] for row in kept))
    found = {row["method"] for row in kept}
    methods = tuple(name for name in protocol.methods if name in found)
    study = replace(protocol, methods=methods).study(dict.fromkeys(names, "words"), 0)
    for row in kept:
        unknown = dict.fromkeys(("selection", "selection_seconds"), np.nan)
        row |= {"data": row["pair"], "entry": 0, "solver": "", **unknown}  # which are not stored
    return StudyOutcome(study, kept)
