"""The cells of a study: one method on one division of one data set, trained and tested.

A cell yields rows of plain numbers and texts. What its entries share is computed once: kernel
matrices, the splits of a division with their spectra, and the paths of entries that differ in one
number only. Each process keeps what it has made for the next cells.
"""

from __future__ import annotations

import hashlib
import itertools
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import IndefiniteOptError, ParameterError
from indefinite_opt.foundation import clock, version_of
from indefinite_opt.modeling import Formulation
from indefinite_opt.problem import Kernel, Split
from indefinite_opt.quadratic import Status
from indefinite_opt.studies.baselines.baseline import Baseline, trained
from indefinite_opt.studies.data import Data
from indefinite_opt.studies.methods import Bandwidth, Grid, Method, identity_of
from indefinite_opt.studies.metrics import METRICS, Fit
from indefinite_opt.studies.own_code import told_of, told_of_kernel
from indefinite_opt.studies.protocols import Division, Protocol, as_protocol
from indefinite_opt.studies.store import Row
from indefinite_opt.workflow import Options, PairwiseResult, Result, path_entries, solve

Indices = NDArray[np.intp]

FAILURES = (Exception,)
"""Exceptions that make a cell fail without ending the study: those of this package and of solvers,
and any with which the code of a user ends. Ctrl-C is not one of them."""

MAX_CACHE_BYTES = 2**28
"""Memory for problems and splits that a process keeps, 256 MB: all of a data set of 500 points with
25 inner folds, and one of a few thousand points."""


@dataclass(frozen=True)
class Plan:
    """What is the same for all cells of a study; see `Study`."""

    protocol: Protocol
    metrics: tuple[str, ...] = ("accuracy",)
    select: str = "accuracy"
    seed: int = 0
    tol: float = 1e-6
    time_limit: float | None = None
    prove: float | None = None


class Cell(NamedTuple):
    """A method on a division of a data set; the names are those of the study."""

    key: str
    data_name: str
    data: Data
    label: str
    grid: Grid
    division: Division
    plan: Plan
    own: str
    """What the user's own code says of the data, when the study began; see `own_code_of`."""

    def rows(self) -> list[Row]:
        """One row, or with a grid and no inner protocol one per entry; failures are in them."""
        plan, entries = self.plan, self.grid.entries
        # What an earlier cell has loaded is used again.
        data = _keep(self.data.digest, lambda: (self.data.y.size, self.data))
        if self.own and own_code_of(self.grid, data) != self.own:
            raise ParameterError(
                "methods", f"{self.label} as it was when the study began",
                "another one in the process of a cell",
                "It has changed since, or a process has another version of its module: restart "
                "Python, or run without n_jobs.",
            )  # fmt: skip
        row: Row = {
            "data": self.data_name, "method": self.label, "entry": 0, "chosen": str(entries[0]),
            "solver": self.grid.solver, "run": self.division.run, "fold": self.division.fold,
            "selection": float("nan"), "selection_seconds": 0.0, "ends": [],
            **{name: METRICS[name].missing for name in ("status", *plan.metrics)}, "error": "",
        }  # fmt: skip
        tested: Sequence[int] = range(len(entries))
        if plan.protocol.inner is not None and len(entries) > 1:
            began = clock()
            try:
                scores = _selection_scores(data, self.division.train, self.grid, plan)
            except FAILURES as failure:
                return [{**row, "error": error_text(failure)}]
            best = self.grid.best(scores)
            tested = [best]
            row["selection"], row["selection_seconds"] = scores[best], clock() - began
            row["ends"] = self.grid.ends(scores)
        rows = [
            {**row, "entry": index, "chosen": str(entries[index]), **_measured(fit, plan.metrics)}
            for index, fit in _trained(data, self.division[2:], self.grid, tested, plan)
        ]
        return sorted(rows, key=lambda row: row["entry"])


def key_of(*parts: str) -> str:
    """A digest of the version and of everything else that determines the rows of a cell."""
    content = "\n".join([version_of("indefinite_opt"), *parts])
    return hashlib.sha256(content.encode()).hexdigest()[:24]


def own_code_of(grid: Grid, data: Data) -> str:
    """What methods and kernels of a grid that are not of this package say of some data, or ""."""
    told = [
        told_of(method, data) for method in {str(e.method): e.method for e in grid.entries}.values()
    ]
    kernels = {identity_of(entry.kernel): entry.kernel for entry in grid.entries}
    told += [told_of_kernel(kernel, data) for kernel in kernels.values()]
    return "\n".join(told) if any(told) else ""


def _measured(fit: Fit | Exception, metrics: Iterable[str]) -> Row:
    """The metrics of a fit, or the error in place of it."""
    try:
        if isinstance(fit, Exception):
            raise fit
        return {name: METRICS[name].of(fit) for name in ("status", *metrics)}
    except FAILURES as failure:
        return {"error": error_text(failure)}


def _selection_scores(data: Data, train: Indices, grid: Grid, plan: Plan) -> list[float]:
    """The mean score of each entry over the inner divisions; larger is better.

    An entry that fails on one of them has no score, NaN. If all do, the error of the last one is
    raised: there is nothing to choose by.
    """
    metric = METRICS[plan.select]
    plan = replace(plan, prove=None)  # no proof is needed to choose parameters
    inner = as_protocol(plan.protocol.inner or 0).divisions(data.y[train])
    scores = np.full((len(inner), len(grid.entries)), np.nan)
    failed: Exception = ParameterError(
        "select", "a metric that the test points of every inner division determine", plan.select
    )
    # Each kernel is computed once: all divisions use it before the next one.
    kernels = itertools.groupby(range(len(grid.entries)), lambda index: grid.entries[index].kernel)
    for entries in [list(group) for _, group in kernels]:
        for row, division in zip(scores, inner, strict=True):
            parts = train[division.train], train[division.test]
            for index, found in _trained(data, parts, grid, entries, plan):
                try:
                    if isinstance(found, Exception):
                        raise found
                    if found.fitted is None and metric.needs_classifier:
                        raise ParameterError(
                            "grid", f"single values for {found.method}", "several",
                            "A model without coef has no scores to choose them by.",
                        )  # fmt: skip
                    row[index] = metric.sign * float(metric.of(found))
                except FAILURES as failure:
                    failed = failure
    means = scores.mean(axis=0)
    if np.isnan(means).all():
        raise failed
    return [float(score) for score in means]


def _trained(
    data: Data,
    parts: tuple[Indices, Indices],
    grid: Grid,
    which: Iterable[int],
    plan: Plan,
) -> Iterator[tuple[int, Fit | Exception]]:
    """Entries trained and to be tested on two sets of points, or the exceptions they raised."""
    for path in grid.paths(which):
        methods = [grid.entries[index].method for index in path]
        try:
            split = _split(data, grid.entries[path[0]].kernel, *parts)
        except FAILURES as failure:
            yield from ((index, failure) for index in path)
            continue
        yield from zip(path, _fits(split, methods, grid, plan), strict=True)


def _fits(split: Split, methods: list[Method], grid: Grid, plan: Plan) -> Iterator[Fit | Exception]:
    """The methods of a path, trained in order."""
    names = ("tol", "time_limit", "seed", "prove")
    limits: dict[str, Any] = {name: getattr(plan, name) for name in names}
    solver = grid.entries[0].solver
    path: Iterator[Result | PairwiseResult | IndefiniteOptError] = iter(())
    formulations = [method for method in methods if isinstance(method, Formulation)]
    if grid.warm and len(formulations) > 1:
        path = path_entries(split.problem, formulations, solver, Options(**limits))
    for method in methods:
        try:
            if isinstance(method, Baseline):
                began = clock()
                learned = trained(method, split.problem, plan.seed)
                yield Fit(split, method, learned, None, clock() - began)
                continue
            result = None
            # After an exception that is no error of this package each is solved for itself.
            with suppress(*FAILURES):
                result = next(path, None)
            if result is None:
                result = solve(split.problem, method, solver, **limits)
            if isinstance(result, IndefiniteOptError):
                raise result
            if result.status is Status.INTERRUPTED and plan.protocol.inner is not None:
                raise KeyboardInterrupt  # no parameters are chosen from interrupted searches
            fitted = result.classifier if result.has_classifier else None
            yield Fit(split, method, fitted, result, result.seconds)
        except FAILURES as failure:
            yield failure


def error_text(failure: Exception) -> str:
    """What a row says of an exception."""
    return f"{type(failure).__name__}: {failure}"


_kept: OrderedDict[Any, tuple[int, Any]] = OrderedDict()
_lock = threading.Lock()


def _keep(key: Any, make: Callable[[], tuple[int, Any]]) -> Any:
    """What this process made for a key, or makes now together with its number of points.

    These are data, their problems with several kernels, and splits of these. What was used least
    recently goes.
    """
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key][1]
    n, made = make()
    with _lock:
        # As a rule a problem keeps four n × n matrices: K, Q, eigenvectors and test rows.
        _kept[key] = 4 * 8 * n * n, made
        while len(_kept) > 1 and sum(size for size, _ in _kept.values()) > MAX_CACHE_BYTES:
            _kept.popitem(last=False)
    return made


def _split(data: Data, kernel: Kernel | Bandwidth | None, train: Indices, test: Indices) -> Split:
    """The split of some training and test points with a kernel."""
    whole = (data.digest, identity_of(kernel))

    def made() -> tuple[int, Split]:
        problem = data.problem
        if kernel is not None:
            problem = _keep(whole, lambda: (data.y.size, data.with_kernel(kernel)))
        return train.size, data.split(problem, train, test)

    return _keep((*whole, train.tobytes(), test.tobytes()), made)


def forget_problems() -> None:
    """Release the problems that this process keeps for the next cells."""
    with _lock:
        _kept.clear()
