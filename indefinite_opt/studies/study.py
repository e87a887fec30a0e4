"""Studies: data sets × methods × a protocol, divided into cells that are run once and stored.

`study.run(store="cells.jsonl", n_jobs=2)` appends each finished cell to a file. When it is run
again, after whatever end, it runs only the cells that are missing there; a cell is the same if the
version of the package, the data, the protocol with the metrics, the method and the division are.
"""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indefinite_opt.errors import ParameterError
from indefinite_opt.foundation import cached_property, checks, connected
from indefinite_opt.studies.cells import (
    Cell,
    CellUnit,
    Outcome,
    Plan,
    Row,
    forget_problems,
    key_of,
    run_unit,
)
from indefinite_opt.studies.data import Data, Source
from indefinite_opt.studies.methods import Grid, Method, as_grid
from indefinite_opt.studies.metrics import METRICS, as_metrics
from indefinite_opt.studies.protocols import Protocol, RepeatedKFold, as_protocol
from indefinite_opt.studies.store import Store, append

if TYPE_CHECKING:
    import pandas as pd


def run_units(
    units: Iterable[CellUnit], n_jobs: int | None, store: Store | None, several: bool
) -> Iterator[Outcome]:
    """The outcomes of units as they come; they are in the store already.

    With several units and n_jobs other than 1, joblib's processes share them, and each writes to
    the store what it has finished.
    """
    if n_jobs in (None, 1) or not several:
        write = None if store is None else store.add
        for unit in units:
            yield from run_unit(unit, write)
        return
    from joblib import Parallel, delayed, parallel_config

    write = None if store is None else functools.partial(append, store.path)
    with parallel_config(backend="loky", inner_max_num_threads=1):
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="n_jobs")
        for outcomes in parallel(delayed(_listed)(unit, write) for unit in units):
            yield from outcomes


def on_cluster(units: Iterable[CellUnit], cluster: Any, store: Store | None) -> Iterator[Outcome]:
    """The outcomes of units that run on a Dask cluster, written to the store by this process.

    A unit whose worker dies is given to another one. If several die of it, as many as the cluster's
    `allowed-failures` say, its cells are run one by one, and the one of which workers die then has
    failed; it is not stored, so that it is tried again next time. The cluster is what `connected`
    takes.
    """
    with connected(cluster) as client:
        from distributed import KilledWorker, as_completed

        waiting, given = iter(units), {}

        def submit(unit: Any) -> Any:
            future = client.submit(_listed, unit, pure=False)
            given[future.key] = unit
            return future

        running = as_completed([])
        threads = sum(client.nthreads().values()) or 1
        # Two units for each thread, so that none waits for the next one.
        for _, unit in zip(range(2 * threads), waiting, strict=False):
            running.add(submit(unit))
        for future in running:
            unit = given.pop(future.key)
            try:
                outcomes = future.result()
            except KilledWorker as error:
                if len(unit.cells) > 1:
                    for cell in unit.cells:
                        running.add(submit(unit._replace(cells=[cell])))
                else:
                    (cell,) = unit.cells
                    rows = unit.failed(cell, f"KilledWorker: {error}")
                    yield Outcome(cell.key, [{**row, "cell_seconds": 0.0} for row in rows])
                outcomes = []
            for outcome in outcomes:
                if store is not None and not outcome.interrupted:
                    store.add(outcome)
                yield outcome
            for unit in waiting:
                running.add(submit(unit))
                break


def _listed(unit: CellUnit, write: Any = None) -> list[Outcome]:
    return list(run_unit(unit, write))


Progress = Callable[[int, int, Row], None]


@dataclass(frozen=True, eq=False)
class Study:
    """Data sets × methods × a protocol.

    Parameters
    ----------
    data : mapping of str to Data, or sequence of str
        The data sets by their names in the tables, or names as in `datasets.load`. In place of
        `Data` everything may stand that is its `source`.
    methods : mapping of str to Grid, Formulation, Baseline, class or str
        By their labels in the tables.
    protocol : Protocol or int
        A number stands for as many stratified folds.
    metrics : sequence of str
        Names in `METRICS`.
    select : str
        The metric by which entries of a grid are chosen.
    seed : int
        Seed of the random starts of solvers; divisions have the seed of the protocol.
    tol, time_limit
        As in `solve`, for every fit.
    name : str

    Examples
    --------
    >>> from indefinite_opt.studies import Data, Grid, Nested, RepeatedKFold, Study
    >>> study = Study(
    ...     data={"board": Data("checkerboard(n=60, cells=2)", kernel="gaussian")},
    ...     methods={
    ...         "SVM": Grid("SVMDual", C=[1, 10], kernel=["linear", "gaussian(gamma=9)"]),
    ...         "LP": "LPSVM(C=10)",
    ...         "5-NN": "KNN(k=5)",
    ...     },
    ...     protocol=Nested(outer=RepeatedKFold(folds=3, repeats=2), inner=3),
    ... )
    >>> outcome = study.run()
    >>> [(row["method"], row["runs"]) for row in outcome.table]
    [('SVM', 2), ('LP', 2), ('5-NN', 2)]
    >>> outcome.table[0]["accuracy"] > 0.8, outcome.table[0]["accuracy_sd"] < 0.1
    (True, True)
    """

    data: Mapping[str, Data | Source] | Sequence[str]
    methods: Mapping[str, Grid | Method | type[Method] | str]
    protocol: Protocol | int = field(default_factory=RepeatedKFold)
    metrics: Sequence[str] = ("accuracy",)
    select: str = "accuracy"
    seed: int = 0
    tol: float = 1e-6
    time_limit: float | None = None
    name: str = "study"

    def __post_init__(self) -> None:
        checks.limits(self.tol, self.time_limit)
        checks.seed("seed", self.seed)
        as_metrics([*self.metrics, self.select])
        if METRICS[self.select].larger_is_better is None:
            raise ParameterError("select", "a metric that can be too large or small", self.select)
        for name in ("data", "methods"):
            if not getattr(self, name):
                raise ParameterError(name, "at least one", repr(getattr(self, name)))
        _ = self.plan, self.grids, self.sources

    @cached_property
    def sources(self) -> dict[str, Data]:
        """The data sets by name."""
        named = self.data if isinstance(self.data, Mapping) else {name: name for name in self.data}
        return {
            name: source if isinstance(source, Data) else Data(source)
            for name, source in named.items()
        }

    @cached_property
    def grids(self) -> dict[str, Grid]:
        """The methods by label."""
        return {label: as_grid(given) for label, given in self.methods.items()}

    @cached_property
    def plan(self) -> Plan:
        """What is the same for all cells."""
        return Plan(
            as_protocol(self.protocol), as_metrics([*self.metrics, self.select]), self.select,
            self.seed, self.tol, self.time_limit,
        )  # fmt: skip

    def units(self, stored: bool = True) -> list[CellUnit]:
        """All cells, those of one division together; without a store they need no digest."""
        found = []
        for name, data in self.sources.items():
            digest = data.digest if stored else data.token
            for division in self.plan.protocol.divisions(data.y):
                where = f"{digest} {division.run} {division.fold}"
                cells = [
                    Cell(key_of(repr(self.plan), grid.identity, where), label, grid)
                    for label, grid in self.grids.items()
                ]
                found.append(CellUnit(name, data, division, cells, self.plan))
        return found

    def run(
        self,
        store: str | Path | None = None,
        n_jobs: int | None = None,
        *,
        cluster: Any = None,
        resume: bool = True,
        progress: Progress | None = None,
    ) -> StudyOutcome:
        """Run all cells, or those that a store does not have yet.

        Parameters
        ----------
        store : path, optional
            A .jsonl file, or a folder that holds one. Several processes may share it; each then
            runs those cells that no other one is running.
        n_jobs : int, optional
            Number of joblib processes; each uses one BLAS thread.
        cluster : str, Client or Cluster of dask.distributed, optional
            An existing cluster to run on instead.
        resume : bool
            Whether cells in the store are used; otherwise all are run, and written again.
        progress : callable, optional
            Called with (number of cells done, number of all cells, last row).
        """
        check_jobs(n_jobs)
        units = self.units(store is not None)
        # With few divisions single cells are distributed, so that no process is idle.
        if len(units) < 8 and (cluster is not None or n_jobs not in (None, 1)):
            units = [unit._replace(cells=[cell]) for unit in units for cell in unit.cells]
        outcomes = run_all(units, store, n_jobs, cluster, resume, progress)
        # By data set, then by method, then by division, in whose order the units are.
        cells = [(unit.name, cell) for unit in units for cell in unit.cells]
        names, labels = list(self.sources), list(self.grids)
        cells.sort(key=lambda one: (names.index(one[0]), labels.index(one[1].label)))
        rows = [
            {**row, "data": name, "method": cell.label}
            for name, cell in cells
            for row in outcomes[cell.key]
        ]
        return StudyOutcome(self, rows)


def check_jobs(n_jobs: Any) -> None:
    """Raise `ParameterError` unless joblib takes this number of processes."""
    if n_jobs is not None and (not checks.is_whole(n_jobs) or n_jobs == 0):
        raise ParameterError("n_jobs", "an integer other than 0", repr(n_jobs))


def run_all(
    units: Sequence[Any],
    store: str | Path | None,
    n_jobs: int | None,
    cluster: Any,
    resume: bool,
    progress: Progress | None,
) -> dict[str, list[Row]]:
    """The rows of all cells of units by key, as `Study.run` describes it; see also `run_unit`.

    Cells in the store are taken over, and those that another process is running are waited for.
    """
    check_jobs(n_jobs)
    wanted = dict.fromkeys(cell.key for unit in units for cell in unit.cells)
    outcomes: dict[str, list[Row]] = {}
    started: set[str] = set()
    with ExitStack() as stack:
        stack.callback(forget_problems)
        opened = None if store is None else stack.enter_context(Store(store))
        shared = opened if resume else None

        def start(key: str) -> bool:
            """Whether a cell is to be run here, and by nobody else from now on."""
            if key in outcomes or key in started or (shared and not shared.claim(key)):
                return False
            if shared:
                shared.refresh()  # another process may have finished it just before
                if key in shared.outcomes:
                    shared.release(key)
                    return False
            started.add(key)
            return True

        def pending() -> Iterator[Any]:
            for unit in units:
                cells = [cell for cell in unit.cells if start(cell.key)]
                if cells:
                    yield unit._replace(cells=cells)

        def keep(found: Mapping[str, list[Row]]) -> None:
            outcomes.update(found)
            if found and progress:
                progress(len(outcomes), len(wanted), list(found.values())[-1][-1])

        def left() -> set[str]:
            return wanted.keys() - started - outcomes.keys()

        def read_store() -> None:
            if shared:
                shared.refresh()
                known = shared.outcomes
                keep({key: known[key] for key in wanted if key in known and key not in outcomes})

        read_store()
        waited = False
        while left():
            execute = (
                on_cluster(pending(), cluster, opened)
                if cluster is not None
                else run_units(pending(), n_jobs, opened, len(units) > 1)
            )
            for outcome in execute:
                if shared:
                    shared.release(outcome.key)
                keep({outcome.key: outcome.rows})
            read_store()
            if shared and left():
                if not waited:
                    told = f"{shared.path}: waiting for cells that another process is running"
                    warnings.warn(told, stacklevel=3)
                waited = True
                time.sleep(0.2)
    return outcomes


@dataclass(frozen=True, eq=False)
class StudyOutcome:
    """The rows of a study; see `Study.run`.

    Attributes
    ----------
    study : Study
    rows : list of dict
        By data set, method and division, one row for each tested entry of a grid: data, method,
        entry (its index), chosen (its title), solver, run, fold, selection (the mean score by which
        the inner protocol chose it, larger is better), selection_seconds, status, the metrics,
        error, which is empty unless the cell failed, and cell_seconds, its part of the time that
        the whole cell took.

    Examples
    --------
    >>> study = Study({"board": "checkerboard(n=40, cells=2)"}, {"3-NN": "KNN(k=3)"}, 2)
    >>> outcome = study.run()
    >>> outcome.column("board", "3-NN", "accuracy")
    [0.85, 0.9]
    """

    study: Study
    rows: list[Row]

    @cached_property
    def chosen_rows(self) -> list[Row]:
        """One row per data set, method and division: with the entry that was chosen.

        Without an inner protocol it is the entry of the best mean over all divisions.
        """
        if self.study.plan.protocol.inner is not None:
            return self.rows
        kept = []
        for (_, label), rows in self._groups(self.rows).items():
            grid = self.study.grids[label]
            best = grid.best(self._scores(rows, len(grid.entries)))
            kept += [row for row in rows if row["entry"] == best]
        return kept

    def _scores(self, rows: list[Row], count: int) -> list[float]:
        """The mean score of each entry; NaN if it failed on a division."""
        sign = 1.0 if METRICS[self.study.select].larger_is_better else -1.0
        scores: list[list[float]] = [[] for _ in range(count)]
        for row in rows:
            scores[row["entry"]].append(sign * float(row[self.study.select]))
        return [float(np.mean(values)) if values else float("nan") for values in scores]

    @staticmethod
    def _groups(rows: list[Row]) -> dict[tuple[str, str], list[Row]]:
        groups: dict[tuple[str, str], list[Row]] = {}
        for row in rows:
            groups.setdefault((row["data"], row["method"]), []).append(row)
        return groups

    @property
    def frame(self) -> pd.DataFrame:
        """The rows as a table."""
        import pandas as pd

        return pd.DataFrame(self.rows)

    def column(self, data: str, method: str, name: str) -> list[Any]:
        """An entry of the chosen rows of a data set and method, by run and fold."""
        mine = (row for row in self.chosen_rows if (row["data"], row["method"]) == (data, method))
        return [row[name] for row in mine]

    def run_means(self, data: str, method: str, name: str) -> list[float]:
        """As `run_means` of the chosen rows of a data set and method."""
        return run_means(self._groups(self.chosen_rows)[data, method], name)

    @cached_property
    def table(self) -> list[Row]:
        """One row per data set and method: data, method, divisions, runs, failed, and the metrics.

        Each metric `m` that is a number has its mean over runs in `m`, and in `m_sd` the standard
        deviation over the runs (of the population; of the folds, if there is one run only).
        """
        summary = []
        for (data, label), rows in self._groups(self.chosen_rows).items():
            good = [row for row in rows if not row["error"]]
            line: Row = {
                "data": data, "method": label, "divisions": len(rows),
                "runs": len({row["run"] for row in rows}), "failed": len(rows) - len(good),
            }  # fmt: skip
            chosen = ("selection", "selection_seconds") if self.study.plan.protocol.inner else ()
            for name in (*chosen, *self.study.plan.metrics):
                if any(isinstance(row[name], str) for row in good):
                    continue
                means = run_means(rows, name)
                spread = means if len(means) > 1 else [float(row[name]) for row in good]
                line[name] = float(np.mean(means)) if means else float("nan")
                line[f"{name}_sd"] = float(np.std(spread)) if spread else float("nan")
            summary.append(line)
        return summary


def run_means(rows: list[Row], name: str) -> list[float]:
    """A metric of each run: the mean over its folds that did not fail."""
    runs: dict[int, list[float]] = {}
    for row in rows:
        if not row["error"]:
            runs.setdefault(row["run"], []).append(float(row[name]))
    return [float(np.mean(values)) for values in runs.values()]
