"""The cells of a study: one method on one division of one data set, trained and tested.

A cell yields rows of plain numbers and texts. What its entries share is computed once: kernel
matrices, the splits of a division with their spectra, and the paths of entries that differ in one
number only. Each process keeps what it has made for the next cells.
"""

from __future__ import annotations

import functools
import itertools
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from indefinite_opt.foundation import few_threads
from indefinite_opt.modeling import Formulation
from indefinite_opt.problem import KernelProblem, Split
from indefinite_opt.solvers import Status, as_solver
from indefinite_opt.studies.baselines.baseline import Baseline
from indefinite_opt.studies.data import Data
from indefinite_opt.studies.methods import NO_SOLVER, Entry, Grid, Method
from indefinite_opt.studies.metrics import METRICS, Fit, measured
from indefinite_opt.studies.protocols import Division, Protocol, as_protocol
from indefinite_opt.workflow import Result, available_solvers, solve, solve_path

__all__ = ["Cell", "Outcome", "Plan", "Row", "Unit", "run_unit", "warm_up"]

Row = dict[str, Any]

FAILURES = (ValueError, ArithmeticError, RuntimeError, MemoryError)
"""Exceptions that make a cell fail without ending the study. Those of this package and of numpy's
linear algebra are ValueErrors; solvers raise the others."""

MAX_CACHE_BYTES = 2**28
"""Memory for problems and splits that a process keeps, 256 MB: all of a data set of 500 points with
25 inner folds, and one of a few thousand points."""

MATRICES_OF_A_PROBLEM = 4
"""Number of n × n matrices that a problem keeps as a rule: K, Q, eigenvectors and test rows."""


@dataclass(frozen=True)
class Plan:
    """What is the same for all cells of a study; see `Study`."""

    protocol: Protocol
    metrics: tuple[str, ...] = ("accuracy",)
    select: str = "accuracy"
    seed: int = 0
    tol: float = 1e-6
    time_limit: float | None = None


class Cell(NamedTuple):
    """A method with the label that it has in the study, and the key of its rows in the store."""

    key: str
    label: str
    grid: Grid


class Unit(NamedTuple):
    """Cells that share a division of a data set, so that one process should run them."""

    name: str
    data: Data
    division: Division
    cells: list[Cell]
    plan: Plan


class Outcome(NamedTuple):
    """The rows of a cell: one, or with a grid and no inner protocol one per entry."""

    key: str
    rows: list[Row]

    @property
    def interrupted(self) -> bool:
        """Whether a search was ended by Ctrl-C, so that the cell has to be run again."""
        return any(row.get("status") == str(Status.INTERRUPTED) for row in self.rows)


def run_unit(unit: Unit, write: Callable[[Outcome], None] | None = None) -> Iterator[Outcome]:
    """The outcomes of the cells; each is first given to `write`, if it is not interrupted."""
    for cell in unit.cells:
        warm_up([cell.grid.solver])
        outcome = Outcome(cell.key, _cell_rows(unit, cell))
        if write is not None and not outcome.interrupted:
            write(outcome)
        yield outcome


@functools.cache
def _warmed(name: str) -> None:
    half = np.random.default_rng(0).standard_normal((12, 12))
    tiny = [KernelProblem(K, [1, -1] * 6) for K in (np.eye(12), half + half.T)]
    for formulation in ("SVMDual", "ConvexHullDual", "GuoSchuurmansLP", "LussDual"):
        if as_solver(name).name in available_solvers(formulation):
            for problem in tiny:
                # A solver that cannot run reports that in its own cells.
                with suppress(*FAILURES):
                    solve(problem, formulation, solver=name)


def warm_up(names: Iterable[str]) -> None:
    """Load and compile solvers on two tiny problems, so that no cell is charged for it."""
    for name in names:
        if name != NO_SOLVER:
            _warmed(name)


def _cell_rows(unit: Unit, cell: Cell) -> list[Row]:
    """The rows of one cell; a failure is reported in them."""
    plan, division, entries = unit.plan, unit.division, cell.grid.entries
    chosen: Sequence[int] = range(len(entries))
    selection: Row = {}
    error = ""
    if plan.protocol.inner is not None and len(entries) > 1:
        began = time.perf_counter()
        try:
            scores = selection_scores(unit, cell.grid)
            chosen = [cell.grid.best(scores)]
            selection = {
                "selection": scores[chosen[0]],
                "selection_seconds": time.perf_counter() - began,
            }
        except FAILURES as failure:
            error, chosen = _told(failure), [0]
    problems = _Problems.of(unit.data)
    rows = []
    trained = _trained(problems, division.train, division.test, entries, chosen, cell.grid, plan)
    for index, fit in sorted(trained, key=lambda pair: pair[0]) if not error else [(0, None)]:
        row: Row = {
            "data": unit.name, "method": cell.label, "entry": index,
            "chosen": str(entries[index]), "solver": cell.grid.solver,
            "run": division.run, "fold": division.fold,
            "selection": float("nan"), "selection_seconds": 0.0, **selection,
            **{name: METRICS[name].missing for name in plan.metrics}, "error": error,
        }  # fmt: skip
        if isinstance(fit, Fit):
            try:
                row |= measured(fit, plan.metrics)
            except FAILURES as failure:
                row["error"] = _told(failure)
        elif fit is not None:
            row["error"] = _told(fit)
        rows.append(row)
    return rows


def selection_scores(unit: Unit, grid: Grid) -> list[float]:
    """The mean score of each entry over the inner divisions; larger is better.

    An entry that fails on one of them has no score, NaN.
    """
    plan, train, entries = unit.plan, unit.division.train, grid.entries
    metric = METRICS[plan.select]
    sign = 1.0 if metric.larger_is_better else -1.0
    problems = _Problems.of(unit.data)
    inner = as_protocol(plan.protocol.inner or 0).divisions(unit.data.y[train])
    scores = np.full((len(inner), len(entries)), np.nan)
    for which in _by_kernel(entries):
        for row, division in zip(scores, inner, strict=True):
            parts = train[division.train], train[division.test]
            for index, fit in _trained(problems, *parts, entries, which, grid, plan):
                if isinstance(fit, Fit):
                    with suppress(*FAILURES):
                        row[index] = sign * float(metric.value(fit))
    return [float(score) for score in scores.mean(axis=0)]


def _by_kernel(entries: Sequence[Entry]) -> list[list[int]]:
    """The indices of entries, grouped by their kernels, which come one after another."""
    groups = itertools.groupby(range(len(entries)), key=lambda index: entries[index].kernel)
    return [list(group) for _, group in groups]


def _trained(
    problems: _Problems,
    train: Any,
    test: Any,
    entries: Sequence[Entry],
    which: Iterable[int],
    grid: Grid,
    plan: Plan,
) -> Iterator[tuple[int, Fit | Exception]]:
    """Those entries trained on some points, in any order, or the exceptions that they raised."""
    chains: dict[Any, list[int]] = {}
    for index in which:
        chains.setdefault((str(entries[index].kernel), *_rest(entries[index], grid)), []).append(
            index
        )
    for chain in chains.values():
        ordered = sorted(chain, key=lambda index: _position(entries[index], grid))
        try:
            split = problems.split(entries[chain[0]].kernel, train, test)
        except FAILURES as failure:
            yield from ((index, failure) for index in chain)
            continue
        methods = [entries[index].method for index in ordered]
        for index, found in zip(ordered, _fits(split, methods, grid, plan), strict=True):
            yield index, found


def _fits(split: Split, methods: list[Method], grid: Grid, plan: Plan) -> Iterator[Fit | Exception]:
    """Methods that differ in one number, trained in order."""
    formulations = [method for method in methods if isinstance(method, Formulation)]
    results: Sequence[Result | Exception] = []
    options: dict[str, Any] = {"tol": plan.tol, "time_limit": plan.time_limit, "seed": plan.seed}
    if grid.warm and len(formulations) > 1:
        with suppress(*FAILURES):
            results = solve_path(split.problem, formulations, grid.solver, **options)
    if formulations and not results:
        results = [_attempt(split, method, grid.solver, options) for method in formulations]
    for method, result in itertools.zip_longest(methods, results):
        if isinstance(result, Exception):
            yield result
            continue
        try:
            yield _fit(split, method, result, plan)
        except FAILURES as failure:
            yield failure


def _attempt(
    split: Split, formulation: Formulation, solver: str, options: dict[str, Any]
) -> Result | Exception:
    try:
        return solve(split.problem, formulation, solver, **options)
    except FAILURES as failure:
        return failure


def _fit(split: Split, method: Method, result: Result | None, plan: Plan) -> Fit:
    if result is not None:
        if result.status is Status.INTERRUPTED and plan.protocol.inner is not None:
            raise KeyboardInterrupt  # a choice among searches that were cut short is none
        return Fit(split, method, result.classifier, result, result.seconds)
    assert isinstance(method, Baseline)
    began = time.perf_counter()
    fitted = method.fit(split.problem, plan.seed)
    return Fit(split, method, fitted, None, time.perf_counter() - began)


def _path_parameter(grid: Grid) -> str | None:
    """The parameter along which the entries of a grid are solved: C, else the first number."""
    varied = {
        name
        for name, values in grid.parameters
        if len(values) > 1 and all(isinstance(value, int | float) for value in values)
    }
    return "C" if "C" in varied else next((n for n, _ in grid.parameters if n in varied), None)


def _rest(entry: Entry, grid: Grid) -> tuple[Any, ...]:
    """The parameters of an entry but for that of the path, as texts."""
    along = _path_parameter(grid)
    return tuple(repr(getattr(entry.method, name)) for name, _ in grid.parameters if name != along)


def _position(entry: Entry, grid: Grid) -> float:
    along = _path_parameter(grid)
    return 0.0 if along is None else float(getattr(entry.method, along))


def _told(failure: Exception) -> str:
    return f"{type(failure).__name__}: {failure}"


class _Problems:
    """The problems of a data set with several kernels, and their splits, kept in this process."""

    _kept: ClassVar[OrderedDict[Any, tuple[int, Any]]] = OrderedDict()

    def __init__(self, data: Data) -> None:
        self.data = data

    @classmethod
    def of(cls, data: Data) -> _Problems:
        """Those of these data; what an earlier cell loaded is used again."""
        return cls._keep(("data", data.token), 0, lambda: cls(data))

    def split(self, kernel: Any, train: Any, test: Any) -> Split:
        """The split of some training and test points with a kernel."""
        token, name = self.data.token, str(kernel)
        return self._keep(
            (token, name, train.tobytes(), test.tobytes()),
            train.size,
            lambda: self.data.split(self._problem(kernel), train, test),
        )

    def _problem(self, kernel: Any) -> KernelProblem:
        if kernel is None:
            return self.data.problem
        make = functools.partial(self.data.with_kernel, kernel)
        return self._keep((self.data.token, str(kernel)), self.data.y.size, make)

    @classmethod
    def _keep(cls, key: Any, n: int, make: Callable[[], Any]) -> Any:
        """What was made for this key, or is made now; what was used least recently goes."""
        if key in cls._kept:
            cls._kept.move_to_end(key)
            return cls._kept[key][1]
        with few_threads(n):
            made = make()
        cls._kept[key] = MATRICES_OF_A_PROBLEM * 8 * n * n, made
        while len(cls._kept) > 1 and sum(size for size, _ in cls._kept.values()) > MAX_CACHE_BYTES:
            cls._kept.popitem(last=False)
        return made
