"""What the atlas runs, as `design.md` plans it: a study, proofs, ends of searches, and times.

The study trains and tests every method on the same nested folds. Parameters and kernels are chosen
on inner folds of the training points. The other parts begin with what the study has chosen for
`SVMDual` and the other methods in the folds of the first seed.

Left out are methods that are another one under a second name or at another parameter:
`SeparabilitySVM`, whose classifier is that of square; `SpectrumSVM` with flip, whose classifier is
that of `ESVM`; `GuoSchuurmansQP` and `NuSVM`, whose programs are that of `ConvexHullDual`, the
second but for eᵀα > ν; and `LussBall`, which is `LussDual` at a ρ that depends on α. Left out, too,
are methods that need something that these data do not have: `ConvexHullPrimal` and
`PseudoEuclideanPrimal`, which are unbounded on indefinite kernels; `AsKLS` and `BilinearSVM`, which
are for asymmetric similarities; `LaplacianSVM` and `RankingSVM`, which are for points without
labels and for ranks; `MultipleKernelSVM` and `MixedNormSVM`, which are for several kernels at a
time; `NoisyLPSVM`, which is for noise that is known; and `SVDDneg`, which describes one class.
`LeastSquaresSVM` and `L2SVM` have no minimum on most indefinite kernels, where the saddle point of
the first is `LSSVM`. `LearnedKernel`, which is a semidefinite program, and `KernelFisher`, which
took a quarter of the time of all methods on the first pairs of the pilot, are left out for time.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

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
)
from reproduction.declaration import solve

Array = NDArray[np.float64]
Row = dict[str, Any]
Progress = Callable[[int, int, Row], None]

METHODS: Mapping[str, tuple[str, ...]] = {
    "SVMDual": ("SVMDual", "C"),
    "ConvexHullDual": ("ConvexHullDual", "relative"),
    "LIBSVM": ("LIBSVM", "C"),
    "clip": ("SpectrumSVM(transform=clip)", "C"),
    "flip": ("ESVM", "C"),
    "shift": ("SpectrumSVM(transform=shift)", "C"),
    "square": ("SpectrumSVM(transform=square)", "C"),
    "KSVM": ("KSVM", "C"),
    "LPSVM": ("LPSVM", "C"),
    "GuoSchuurmansLP": ("GuoSchuurmansLP", "relative"),
    "KernelLogistic": ("KernelLogistic", "C"),
    "LussDual": ("LussDual", "C", "rho"),
    "LSSVM": ("LSSVM", "C"),
    "UniformWeights": ("UniformWeights",),
    "k-NN": ("KNN", "k"),
}
"""The methods by their labels, each with the names of the parameters that are tuned."""

NONCONVEX = ("SVMDual", "ConvexHullDual")
"""The methods whose programs are not convex on an indefinite kernel."""

FORMS = ("linear", "gaussian")
"""-d²/2 and exp(-γd²) of distances d."""

METRICS = ("accuracy", "claim", "negative_share", "seconds")

PROVED, USUAL, DESCENT, LIBSVM = "proved", "usual search", "one descent", "LIBSVM"
"""The ends that are compared; those of random starts are numbered."""


@dataclass(frozen=True)
class Fold(RepeatedKFold):
    """One fold of as many shuffled stratified ones.

    >>> (division,) = Fold(folds=3, seed=0, fold=1).divisions(np.repeat([-1, 1], 6))
    >>> division.fold, division.test.size
    (1, 4)
    """

    fold: int = 0

    def divisions(self, y: NDArray[Any]) -> list[Any]:
        """The division of which these points are tested."""
        return [super().divisions(y)[self.fold]]


@dataclass(frozen=True)
class Protocol:
    """How much is run.

    Attributes
    ----------
    grids : mapping
        The values of each parameter that is tuned; `gamma` is that of `relative_gamma`, in units of
        1/(w b), where w and b are the medians of the distances within and between the classes.
    seeds : tuple of int
        Of the folds; proofs, ends and times are those of the first.
    folds, inner : int
        Outer folds, and inner ones that choose parameters.
    tested : int
        The first of the outer folds that are run.
    time_limit : float
        Seconds of each fit.
    seconds : float
        For the proof of each nonconvex program.
    ends_folds : int
        The first of the outer folds on whose training points ends are compared.
    starts : int
        Random starts of descents.
    methods : tuple of str
        Labels in `METHODS`.
    """

    grids: Mapping[str, Sequence[float]]
    seeds: tuple[int, ...] = (0, 1, 2)
    folds: int = 3
    inner: int = 3
    tested: int = 3
    time_limit: float = 20.0
    seconds: float = 30.0
    ends_folds: int = 2
    starts: int = 20
    methods: tuple[str, ...] = field(default=tuple(METHODS))

    def grid(self, label: str, distances: bool) -> Grid:
        """The grid of a method; for distances it has their forms, too."""
        method, *tuned = METHODS[label]
        values: dict[str, Any] = {name: self.grids[name] for name in tuned}
        if distances:
            values |= {"form": FORMS, "relative_gamma": self.grids["gamma"]}
        return Grid(method, **values)

    def study(self, data: Mapping[str, Data], seed: int, fold: int) -> list[Study]:
        """All methods on one fold of each pair: those of distances, and then all others."""
        own = {name: with_unit(one, self, seed, fold) for name, one in data.items()}
        outer, inner = Fold(self.folds, seed=seed, fold=fold), RepeatedKFold(self.inner, seed=seed)
        nested = Nested(outer, inner)
        found = []
        for distances in (True, False):
            chosen = {name: one for name, one in own.items() if has_distances(one) is distances}
            if chosen:
                grids = {label: self.grid(label, distances) for label in self.methods}
                found.append(Study(chosen, grids, nested, METRICS, time_limit=self.time_limit))
        return found

    def chosen(self, data: Data, fold: int, label: str, title: str) -> tuple[Data, Grid]:
        """What the study has chosen by this title in a fold of the first seed, and its data."""
        (study,) = self.study({"": data}, self.seeds[0], fold)
        grid = study.grid("", label)
        entry = next(each for each in grid.entries if str(each) == title)
        return study.sources[""], Grid(entry.method, kernel=entry.kernel)


GRIDS: Mapping[str, Sequence[float]] = {
    "C": [0.1, 1, 10, 100, 1000],
    "relative": [1, 1.1, 1.5, 3, 10],
    "rho": [1, 30, 1000],
    "k": [1, 3, 5, 9, 15, 25],
    "gamma": [0.1, 0.3, 1, 3, 10],
}

FULL = Protocol(GRIDS)

PILOT = Protocol(
    {
        "C": [0.01, 0.1, 1, 10, 100, 1000],
        "relative": [1.05, 1.2, 2, 5, 20, 100],
        "rho": [0.01, 0.1, 1, 10, 100, 1000],
        "k": [1, 3, 5, 9, 15, 25],
        "gamma": [0.01, 0.1, 0.3, 1, 3, 10, 100],
    },
    seeds=(1000,), folds=5, tested=1,
)  # fmt: skip
"""The wide grids by which `GRIDS` were fixed, on one fold of the pairs of the first atlas."""

QUICK = Protocol(
    {**GRIDS, "C": [0.1, 1, 10], "gamma": [0.1, 1, 10]},
    seeds=(0,), folds=2, inner=2, tested=2, seconds=1.0, ends_folds=1, starts=5,
    methods=("SVMDual", "LIBSVM", "clip", "flip", "LPSVM", "k-NN"),
)  # fmt: skip
"""What `--quick` runs, on `QUICK_PAIRS`."""

QUICK_PAIRS = ("aural-sonar", "mites-bray-curtis", "cat-cortex", "wine-tl1", "iris-tanh")


def has_distances(data: Data) -> bool:
    """Whether the data are distances, of which kernels of several forms and γ are made."""
    return data.problem.D is not None


def with_unit(data: Data, protocol: Protocol, seed: int, fold: int) -> Data:
    """The data with the kernel exp(-d²/(w b)) of the training points of a fold, if distances."""
    train, D = divided(data, protocol, seed, fold).train, data.problem.D
    if D is None:
        return data
    within, between = medians(D[np.ix_(train, train)], data.y[train])
    gamma = 1.0 / (within * between)
    return replace(data, kernel=f"distance(distance=precomputed, form=gaussian, gamma={gamma!r})")


def divided(data: Data, protocol: Protocol, seed: int, fold: int) -> Any:
    """The training and test points of a fold."""
    return Fold(protocol.folds, seed=seed, fold=fold).divisions(data.y)[0]


def medians(D: Array, y: NDArray[Any]) -> tuple[float, float]:
    """The median of the distances between two points of one class, and of two classes.

    More than half of the distances within the classes may be 0; then the first is the second.

    >>> medians(np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 3.0], [5.0, 3.0, 0.0]]), np.array([0, 0, 1]))
    (1.0, 4.0)
    """
    i, j = np.triu_indices(len(y), 1)
    same = y[i] == y[j]
    between = float(np.median(D[i, j][~same]))
    return float(np.median(D[i, j][same])) or between, between


def described(data: Data, protocol: Protocol, seed: int, fold: int) -> Row:
    """The training points of a fold: their number, and the spectrum of the first kernel."""
    division = divided(data, protocol, seed, fold)
    problem = data.split(data.problem, division.train, division.test).problem
    p, q = problem.signature
    return {
        "run": seed, "fold": fold, "n": problem.n, "classes": problem.classes.size,
        "p": p, "q": q, "negative_share": problem.negative_share,
    }  # fmt: skip


def proof(data: Data, protocol: Protocol, fold: int, label: str, title: str) -> Row:
    """The fit that the study has chosen for a nonconvex method, with some seconds for a proof."""
    own, grid = protocol.chosen(data, fold, label, title)
    one = Fold(protocol.folds, seed=protocol.seeds[0], fold=fold)
    metrics = (*METRICS, "proved_within")
    study = Study({"": own}, {label: grid}, one, metrics, prove=protocol.seconds)
    return study.run(progress=False).rows[0] | {"run": protocol.seeds[0], "fold": fold}


def timed(data: Data, protocol: Protocol, label: str) -> Row:
    """The study of a method on the first fold of the first seed, for the seconds that it takes."""
    (study,) = replace(protocol, methods=(label,)).study({"": data}, protocol.seeds[0], 0)
    return study.run(progress=False).rows[0]


def largest_classes(y: NDArray[Any]) -> NDArray[Any]:
    """The two largest classes, of equal ones the first, in their order.

    >>> largest_classes(np.array([0, 1, 1, 2, 2, 2, 0]))
    array([0, 2])
    """
    labels, sizes = np.unique(y, return_counts=True)
    return np.sort(labels[np.argsort(-sizes, kind="stable")[:2]])


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


def ends(data: Data, protocol: Protocol, fold: int, C: float, title: str) -> list[Row]:
    """Objectives and accuracies of the points at which searches end on one `SVMDual`.

    The program is that of the two largest classes in a fold of the first seed, with the kernel
    that the study has chosen there for `SVMDual` by this title.
    """
    own, grid = protocol.chosen(data, fold, "SVMDual", title)
    division = divided(data, protocol, protocol.seeds[0], fold)
    two = np.isin(data.y, largest_classes(data.y))
    train, test = (part[two[part]] for part in division[2:])
    split = own.split(own.with_kernel(grid.kernels[0]), train, test)
    problem, formulation = split.problem, iopt.SVMDual(C=C)
    p, q = problem.signature
    shared = {
        "fold": fold, "C": C, "n": problem.n, "p": p, "q": q, "chosen": str(grid.entries[0]),
        "negative_share": problem.negative_share,
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

    result = solve(problem, formulation, prove=protocol.seconds)
    rows = [
        row(PROVED, lambda: result)
        | {"seconds": result.seconds, "proved_within": result.certificate.proved_within},
        row(USUAL, lambda: solve(problem, formulation)),
        row(DESCENT, lambda: solve(problem, formulation, "smo")),
        row(LIBSVM, lambda: iopt.LIBSVM(C=C).fit(problem)),
    ]
    for k in range(protocol.starts):
        start = {"alpha": random_start(problem.y, C, k)}
        rows.append(row(str(k), functools.partial(solve, problem, formulation, "smo", start=start)))
    return rows


class Unit(NamedTuple):
    """What is run, stored and put into the table as a whole: a part on one fold of all pairs."""

    part: str
    seed: int
    fold: int

    def __str__(self) -> str:
        return f"{self.part}-{self.seed}-{self.fold}"


def units(protocol: Protocol, part: str) -> list[Unit]:
    """The units of a part in the order in which they run: seed after seed.

    >>> [str(unit) for unit in units(FULL, "ends")]
    ['ends-0-0', 'ends-0-1']
    """
    counts = {"study": protocol.tested, "proofs": protocol.tested, "ends": protocol.ends_folds}
    seeds = protocol.seeds if part == "study" else protocol.seeds[:1]
    folds = range(counts.get(part, 1))
    return [Unit(part, seed, fold) for seed in seeds for fold in folds]


def run(
    unit: Unit,
    data: Mapping[str, Data],
    protocol: Protocol,
    store: Path,
    studied: Sequence[Row] = (),
    n_jobs: int | None = None,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> list[Row]:
    """The rows of a unit; finished cells are in the store.

    Parameters
    ----------
    studied : sequence of dict
        The rows of the study on the same fold, which proofs and ends need.
    """
    shared: Any = {"n_jobs": n_jobs, "cluster": cluster, "progress": progress}
    seed, fold = unit.seed, unit.fold
    if unit.part == "study":
        arguments = {"protocol": protocol, "seed": seed, "fold": fold}
        settings = {name: {"data": one, **arguments} for name, one in data.items()}
        found = _rows("pair", Computation(described, settings).run(store, **shared))
        for study in protocol.study(data, seed, fold):
            rows = study.run(store, **shared).rows
            found += [{**row, "part": "study", "pair": row["data"], "run": seed} for row in rows]
        return found
    chosen = {
        (row["pair"], row["method"]): row["chosen"]
        for row in studied
        if row["part"] == "study" and not row["error"] and row["fold"] == fold
    }
    given: dict[str, dict[str, Any]] = {}
    for name, one in data.items():
        base = {"data": one, "protocol": protocol}
        for label in protocol.methods:
            title = chosen.get((name, label))
            if unit.part == "times":
                given[f"{name}, {label}"] = {**base, "label": label}
            elif unit.part == "proofs" and title is not None and label in NONCONVEX:
                given[f"{name}, {label}"] = {**base, "fold": fold, "label": label, "title": title}
            elif unit.part == "ends" and title is not None and label == "SVMDual":
                for C in protocol.grids["C"]:
                    given[f"{name}, C={C}"] = {**base, "fold": fold, "C": C, "title": title}
    function: Any = {"times": timed, "proofs": proof, "ends": ends}[unit.part]
    return _rows(unit.part, Computation(function, given).run(store, **shared))


def _rows(part: str, outcome: ComputationOutcome) -> list[Row]:
    return [{**row, "part": part, "pair": row["setting"].split(", ")[0]} for row in outcome.rows]
