"""Evaluation protocols: which points train and which test, and where parameters are chosen.

A protocol is a frozen dataclass that yields seeded divisions of n labelled points. They are those
of scikit-learn's `LeaveOneOut`, `KFold`, `StratifiedKFold`, `ShuffleSplit` and
`StratifiedShuffleSplit`; run r has the seed `seed + r`, so that any run can be made by itself.

With `Nested` and `SelectThenTest` the parameters of a grid are chosen by the inner protocol on the
training points of each division, and the chosen ones are tested once. With any other protocol each
entry of a grid is tested on every division, and the entry of the best mean is reported. That is
what several papers do, and optimistic, since the entry was chosen by the points it is tested on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import ParameterError
from indefinite_opt.foundation import checks

Labels = NDArray[Any]


class Division(NamedTuple):
    """One division of the points: `fold` of `run`, with the indices of both parts, ascending.

    A run uses every point at most once for testing; means and deviations are taken over runs.
    """

    run: int
    fold: int
    train: NDArray[np.intp]
    test: NDArray[np.intp]


class Protocol(ABC):
    """How data are divided; subclasses are frozen dataclasses, whose repr identifies them."""

    inner: Protocol | int | None = None
    """Chooses parameters on the training points of each division."""

    @abstractmethod
    def divisions(self, y: Labels) -> list[Division]:
        """The divisions of points with these labels, (n,).

        Raises
        ------
        ParameterError
            If there are too few points for them.
        """


@dataclass(frozen=True)
class LeaveOneOut(Protocol):
    """Each point is tested once, by a model of all others; one run.

    >>> [division.test.tolist() for division in LeaveOneOut().divisions(np.array([0, 1, 1]))]
    [[0], [1], [2]]
    """

    def divisions(self, y: Labels) -> list[Division]:
        from sklearn.model_selection import LeaveOneOut as Splitter

        checks.whole("points", len(y), 2)
        return _divided([Splitter()], y)

    def __str__(self) -> str:
        return "leave one out"


@dataclass(frozen=True)
class FixedTestSet(Protocol):
    """All points train; the test points are apart from them, in `Data.test`."""

    def divisions(self, y: Labels) -> list[Division]:
        return [Division(0, 0, np.arange(len(y)), np.arange(0))]

    def __str__(self) -> str:
        return "fixed test set"


@dataclass(frozen=True)
class RepeatedKFold(Protocol):
    """Shuffled k-fold cross-validation, `repeats` times.

    Parameters
    ----------
    folds : int
        At most the size of the smaller class if stratified, else the number of points.
    repeats : int
        Number of runs.
    seed : int
    stratified : bool
        Whether each fold has the classes in the proportion of the whole.

    Examples
    --------
    >>> y = np.repeat([-1, 1], 6)
    >>> divisions = RepeatedKFold(folds=3, repeats=2).divisions(y)
    >>> [(division.run, division.fold, len(division.test)) for division in divisions]
    [(0, 0, 4), (0, 1, 4), (0, 2, 4), (1, 0, 4), (1, 1, 4), (1, 2, 4)]
    """

    folds: int = 5
    repeats: int = 1
    seed: int = 0
    stratified: bool = True

    def __post_init__(self) -> None:
        checks.whole("folds", self.folds, 2)
        _check_runs(self.repeats, self.seed, self.stratified)

    def divisions(self, y: Labels) -> list[Division]:
        from sklearn.model_selection import KFold, StratifiedKFold

        kind, most, reason = KFold, len(y), "the number of points"
        if self.stratified:
            kind, reason = StratifiedKFold, "the smaller class"
            most = int(np.unique(y, return_counts=True)[1].min())
        checks.whole("folds", self.folds, 2, most, reason=reason)
        seeds = range(self.seed, self.seed + self.repeats)
        return _divided([kind(self.folds, shuffle=True, random_state=seed) for seed in seeds], y)

    def __str__(self) -> str:
        times = f"{self.repeats} × " if self.repeats > 1 else ""
        return f"{times}{self.folds} {'stratified ' * self.stratified}folds"


@dataclass(frozen=True)
class RepeatedSplit(Protocol):
    """Random divisions into training points of a given number and all others for the test.

    Parameters
    ----------
    train : int or float
        Number of training points, or their share of all points if below 1.
    repeats : int
        Number of runs, each of one division.
    seed : int
    stratified : bool
        Whether both parts have the classes in the proportion of the whole.
    max_share : float
        Largest share of the points that trains, for data sets smaller than `train` requires.

    Examples
    --------
    >>> y = np.repeat([-1, 1], 6)
    >>> [(len(d.train), len(d.test)) for d in RepeatedSplit(train=4, repeats=2).divisions(y)]
    [(4, 8), (4, 8)]
    """

    train: int | float = 100
    repeats: int = 5
    seed: int = 0
    stratified: bool = True
    max_share: float = 1.0

    def __post_init__(self) -> None:
        if not checks.is_whole(self.train):
            checks.number("train", self.train, 0.0, 1.0)
        checks.number("max_share", self.max_share, 0.0, 1.0)
        _check_runs(self.repeats, self.seed, self.stratified)

    def divisions(self, y: Labels) -> list[Division]:
        from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

        n = len(y)
        wanted = self.train if checks.is_whole(self.train) else int(self.train * n)
        size = int(min(wanted, self.max_share * n))
        if not 1 < size < n - 1:
            raise ParameterError("train", f"from 2 to {n - 2} of {n} points", repr(self.train))
        kind = StratifiedShuffleSplit if self.stratified else ShuffleSplit
        seeds = range(self.seed, self.seed + self.repeats)
        # Without the size of the other part some versions of scikit-learn test 10 % only.
        sizes = {"train_size": size, "test_size": n - size}
        return _divided([kind(1, **sizes, random_state=seed) for seed in seeds], y)

    def __str__(self) -> str:
        share = f"{100 * self.train:g} %" if 0 < self.train < 1 else f"{self.train}"
        count, splits = ("one", "split") if self.repeats == 1 else (self.repeats, "splits")
        kind = f"{'stratified ' * self.stratified}{splits}"
        return f"{count} random {kind} with {share} training points"


@dataclass(frozen=True)
class Nested(Protocol):
    """Parameters are chosen by `inner` on the training points of each division of `outer`.

    Parameters
    ----------
    outer, inner : Protocol or int
        A number stands for as many stratified folds.

    Examples
    --------
    >>> y = np.repeat([-1, 1], 6)
    >>> protocol = Nested(outer=3, inner=2)
    >>> [len(division.test) for division in protocol.divisions(y)]
    [4, 4, 4]
    >>> print(protocol)
    3 stratified folds, parameters chosen by 2 stratified folds of the training points
    """

    outer: Protocol | int = 5
    inner: Protocol | int = 5

    def __post_init__(self) -> None:
        for name in ("outer", "inner"):
            given = as_protocol(getattr(self, name), name)
            if given.inner is not None:
                raise ParameterError(name, "a protocol that chooses no parameters", str(given))
            object.__setattr__(self, name, given)

    def divisions(self, y: Labels) -> list[Division]:
        return as_protocol(self.outer).divisions(y)

    def __str__(self) -> str:
        return f"{self.outer}, parameters chosen by {self.inner} of the training points"


def SelectThenTest(
    train: int | float = 0.5, inner: Protocol | int = 5, seed: int = 0, stratified: bool = True
) -> Nested:
    """One random division: parameters are chosen on the training points, then tested once.

    Parameters
    ----------
    train, seed, stratified
        As in `RepeatedSplit`.
    inner : Protocol or int
        Chooses the parameters; a number stands for as many stratified folds.

    Examples
    --------
    >>> y = np.repeat([-1, 1], 6)
    >>> protocol = SelectThenTest(train=0.5, inner=3)
    >>> [(len(d.train), len(d.test)) for d in protocol.divisions(y)]
    [(6, 6)]
    """
    return Nested(RepeatedSplit(train, 1, seed, stratified), inner)


def as_protocol(given: Protocol | int, argument: str = "protocol") -> Protocol:
    """A protocol, given as one or as a number of stratified folds."""
    if isinstance(given, Protocol):
        return given
    if checks.is_whole(given):
        return RepeatedKFold(given)
    raise ParameterError(argument, "a protocol or a number of folds", repr(given))


def unstratified(protocol: Protocol) -> Protocol:
    """The same with plain divisions, as for targets, which have no classes.

    >>> print(unstratified(Nested(outer=3, inner=2)))
    3 folds, parameters chosen by 2 folds of the training points
    """
    if isinstance(protocol, Nested):
        parts = (as_protocol(each) for each in (protocol.outer, protocol.inner))
        return Nested(*map(unstratified, parts))
    if getattr(protocol, "stratified", False):
        plain: Protocol = replace(protocol, stratified=False)  # type: ignore[type-var]
        return plain
    return protocol


def _divided(splitters: Iterable[Any], y: Labels) -> list[Division]:
    """What scikit-learn's splitters make of the points, one for each run."""
    return [
        Division(run, fold, np.sort(train), np.sort(test))
        for run, splitter in enumerate(splitters)
        for fold, (train, test) in enumerate(splitter.split(y, y))
    ]


def _check_runs(repeats: int, seed: int, stratified: bool) -> None:
    checks.whole("repeats", repeats)
    checks.seed("seed", seed)
    checks.seed("seed + repeats", seed + repeats)
    checks.switch("stratified", stratified)
