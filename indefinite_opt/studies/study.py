"""Studies: data sets × methods × a protocol, divided into cells that are run once and stored.

`study.run(store="cells.jsonl", n_jobs=2)` shares the cells by joblib, and appends each finished one
to a file. When it is run again, after whatever end, it runs only the cells that are missing there;
a cell is the same if the version of the package, the data, the protocol with the metrics, the
method and the division are.
"""

from __future__ import annotations

import datetime
import math
import os
import platform
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indefinite_opt.errors import ParameterError
from indefinite_opt.foundation import (
    cached_property,
    checks,
    clock,
    connected,
    one_thread,
    short,
    version_of,
)
from indefinite_opt.quadratic import Status
from indefinite_opt.studies.cells import Cell, Plan, forget_problems, key_of, own_code_of
from indefinite_opt.studies.data import Data, Source
from indefinite_opt.studies.methods import Grid, Method, as_grid
from indefinite_opt.studies.metrics import METRICS, as_metrics
from indefinite_opt.studies.own_code import code_of
from indefinite_opt.studies.progress import Progress, advancing, wants_bar
from indefinite_opt.studies.protocols import Protocol, RepeatedKFold, as_protocol
from indefinite_opt.studies.store import Row, Store
from indefinite_opt.workflow import LOGGER, shown

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_KINDS: tuple[tuple[str, Any, str], ...] = (
    ("data", Mapping | list | tuple, "a dict of data by their names, or a list of names"),
    ("methods", Mapping, "a dict of methods by their labels"),
    ("metrics", list | tuple, "a list of names"),
)
"""What the fields of a study may be."""


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
        A number stands for as many stratified folds; those of targets, and of data without labels,
        are plain.
    metrics : sequence of str
        Names in `METRICS`. Those of regression are "r2", "rmse" and "mae", and those of one class
        "auc" and "rejected".
    select : str
        The metric by which entries of a grid are chosen.
    seed : int
        Seed of the random starts of solvers; divisions have the seed of the protocol.
    tol, time_limit
        As in `solve`, for every fit.
    prove : float, optional
        As in `solve`, for every fit that is tested, but not for those by which parameters are
        chosen; see the metric "proved_within".

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
    prove: float | None = None

    def __post_init__(self) -> None:
        checks.limits(self.tol, self.time_limit)
        checks.positive("prove", self.prove, infinite=True, optional=True)
        checks.seed("seed", self.seed)
        for name, kinds, expected in _KINDS:
            if not isinstance(getattr(self, name), kinds):
                raise ParameterError(name, expected, repr(getattr(self, name)))
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

    def grid(self, data: str, label: str) -> Grid:
        """The grid of a method on a data set, which may have several kernels of its own."""
        grid, kernels = self.grids[label], self.sources[data].kernels
        if grid.kernels != (None,) or len(kernels) < 2:
            return grid
        return grid.over(grid.solver, {"kernel": kernels})

    @cached_property
    def plan(self) -> Plan:
        """What is the same for all cells."""
        return Plan(
            as_protocol(self.protocol), as_metrics([*self.metrics, self.select]), self.select,
            self.seed, self.tol, self.time_limit, self.prove,
        )  # fmt: skip

    def _cells(self) -> list[Cell]:
        """By data set, then by division, so that methods find what others have made for it."""
        plan, cells = self.plan, []
        protocols = code_of(type(plan.protocol)) + code_of(type(plan.protocol.inner))
        for name, data in self.sources.items():
            grids = {label: self.grid(name, label) for label in self.grids}
            own = {label: own_code_of(grid, data) for label, grid in grids.items()}
            for division in plan.protocol.divisions(data.y):
                # What this package has written is known by its name and its version.
                parts = str([part.tolist() for part in division[2:]]) if protocols else ""
                for label, grid in grids.items():
                    written = filter(None, [protocols, parts, own[label]])
                    key = key_of(
                        repr(plan), grid.identity, data.digest, *map(str, division[:2]), *written
                    )
                    cells.append(Cell(key, name, data, label, grid, division, plan, own[label]))
        return cells

    def _check_fit(self) -> None:
        """Raise the error of a method or kernel that does not fit the data, before any cell."""
        for name, data in self.sources.items():
            for label in self.grids:
                grid = self.grid(name, label)
                if grid.method.task != data.task:
                    expected = f"methods of {data.task} for {name}"
                    raise ParameterError("methods", expected, f"{label}, of {grid.method.task}")
                for kernel in grid.kernels:
                    data.check_kernel(kernel)

    def run(
        self,
        store: str | Path | None = None,
        n_jobs: int | None = None,
        *,
        cluster: Any = None,
        resume: bool = True,
        progress: Progress | bool | None = None,
    ) -> StudyOutcome:
        """Run all cells, or those that a store does not have yet.

        Parameters
        ----------
        store : path, optional
            A .jsonl file, or a folder that holds one. Every cell is written to it, by this process,
            as soon as it is finished. Only one process may run with a store at a time.
        n_jobs : int, optional
            Number of processes, as in joblib, whose back end can be chosen by
            `joblib.parallel_config`; each uses one BLAS thread.
        cluster : str, Client or Cluster of dask.distributed, optional
            Runs the cells by joblib's back end "dask" instead.
        resume : bool
            Whether cells in the store are used; otherwise all are run, and written again.
        progress : callable or False, optional
            Called with (number of cells done, number of all cells, last row). By default a bar in a
            terminal, which also says what is resumed; False for none.

        Raises
        ------
        ParameterError
            If n_jobs is not an integer other than 0, or a method or kernel does not fit the data.
        DataError
            If the store cannot be written or holds something else, or if no cluster answers.
        """
        check_jobs(n_jobs)
        self._check_fit()
        cells = self._cells()
        found = run_cells(cells, store, n_jobs, cluster, resume, progress)
        # By data set, then by method, then by division.
        names, labels = list(self.sources), list(self.grids)
        cells.sort(key=lambda cell: (names.index(cell.data_name), labels.index(cell.label)))
        # Cells of equal keys have the same rows under several names.
        rows = [
            {**row, "data": cell.data_name, "method": cell.label}
            for cell in cells
            for row in found[cell.key]
        ]
        return StudyOutcome(self, rows)


def check_jobs(n_jobs: int | None) -> None:
    """Raise `ParameterError` unless joblib can run that many processes."""
    if n_jobs is not None and (not checks.is_whole(n_jobs) or n_jobs == 0):
        raise ParameterError("n_jobs", "an integer other than 0", repr(n_jobs))


def run_cells(
    cells: Sequence[Any],
    store: str | Path | None,
    n_jobs: int | None,
    cluster: Any,
    resume: bool,
    progress: Progress | bool | None,
) -> dict[str, list[Row]]:
    """The rows of cells by key, as `Study.run` describes it.

    The number of processes is one that `check_jobs` accepts. A cell is a `Cell`, or anything else
    that has a `key` and a method `rows`.
    """
    kept = None if store is None else Store(store)
    wanted = {cell.key: cell for cell in cells}
    resumed = _resumed(kept, list(wanted), progress) if kept and resume else {}
    rows: dict[str, list[Row]] = {}
    with ExitStack() as stack:
        advance = stack.enter_context(advancing(progress))

        def add(found: Mapping[str, list[Row]]) -> None:
            rows.update(found)
            if found and advance:
                advance(len(rows), len(wanted), list(found.values())[-1][-1])

        add(resumed)
        left = [cell for key, cell in wanted.items() if key not in rows]
        for key, found in stack.enter_context(closing(_outcomes(left, n_jobs, cluster))):
            # A search that was ended by Ctrl-C is run again next time.
            interrupted = any(row.get("status") == str(Status.INTERRUPTED) for row in found)
            if kept and not interrupted:
                kept.add(key, found)
            add({key: found})
    return rows


def _resumed(
    kept: Store, wanted: Sequence[str], progress: Progress | bool | None
) -> dict[str, list[Row]]:
    """The rows of cells that a store has; how many they are is logged, and said beside a bar."""
    found = {key: kept.outcomes[key] for key in wanted if key in kept.outcomes}
    broken = "; 1 broken line was left out" if kept.broken else ""
    if found or broken:
        with shown(wants_bar(progress)):
            LOGGER.info("%d of %d cells are in %s%s", len(found), len(wanted), kept.path, broken)
    return found


def _outcomes(
    cells: Sequence[Any], n_jobs: int | None, cluster: Any
) -> Generator[tuple[str, list[Row]], None, None]:
    """The keys and rows of cells, in the order in which they are finished."""
    from joblib import Parallel, delayed, parallel_config

    with ExitStack() as stack:
        stack.callback(forget_problems)
        if cluster is not None and cells:
            client = stack.enter_context(connected(cluster))
            stack.enter_context(parallel_config("dask", client=client))
            n_jobs = None  # as many as the cluster has threads
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
        yield from stack.enter_context(closing(parallel(delayed(_finished)(c) for c in cells)))


def _finished(cell: Any) -> tuple[str, list[Row]]:
    """The key of a cell and its rows, each with its part of the time, in equal parts."""
    began = clock()
    with one_thread():
        rows = cell.rows()
    spent = (clock() - began) / max(1, len(rows))
    return cell.key, [{**row, "cell_seconds": spent} for row in rows]


@dataclass(frozen=True, eq=False, repr=False)
class StudyOutcome:
    """The rows of a study; see `Study.run`. `print` it for the table data sets × methods.

    Attributes
    ----------
    study : Study
    rows : list of dict
        By data set, method and division, one row for each tested entry of a grid: data, method,
        entry (its index), chosen (its title), solver, run, fold, selection (the mean score by which
        the inner protocol chose it, larger is better), selection_seconds, ends (of the
        grid, at which its parameters are), status, the metrics,
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

    def __str__(self) -> str:
        from indefinite_opt.studies.report import over_data

        return over_data.text(self)

    def __repr__(self) -> str:
        return (
            f"StudyOutcome({len(self.study.sources)} data sets, {len(self.study.grids)} methods, "
            f"{len(self.rows)} rows)"
        )

    def _repr_html_(self) -> str:
        from indefinite_opt.studies.report import over_data

        return over_data.html(self)

    @property
    def settings(self) -> dict[str, str]:
        """What is needed to run the study again, beside its data and methods."""
        return settings_of(self.study)

    @property
    def ranks(self) -> dict[str, float]:
        """The mean rank of each method over the data sets by the metric that chooses; 1 is best."""
        from indefinite_opt.studies.report.over_data import Scores

        scores = Scores.of(self)
        return dict(zip(scores.methods, scores.ranks.tolist(), strict=True))

    @property
    def conclusions(self) -> list[str]:
        """Which methods differ over the data sets beyond chance, and what was proved."""
        from indefinite_opt.studies.report import over_data

        return over_data.conclusions(self)

    def to_markdown(self) -> str:
        """Data sets × methods as a Markdown table, with mean ranks and conclusions."""
        from indefinite_opt.studies.report import over_data

        return over_data.to_markdown(self)

    def to_latex(self, caption: str = "", label: str = "") -> str:
        """Data sets × methods as a LaTeX table for a paper, the best in bold; needs booktabs.

        Parameters
        ----------
        caption : str
            Plain text; by default what the numbers are.
        label : str
            What the paper refers to the table by; by default it has none.
        """
        from indefinite_opt.studies.report import over_data

        return over_data.to_latex(self, caption, label)

    def to_html(self, path: str | Path) -> Path:
        """Write a self-contained HTML report with the table, the ranks, methods and settings."""
        from indefinite_opt.studies.report.page import study_to_html

        return study_to_html(self, path)

    def plot(self) -> Figure:
        """Draw the mean ranks with Nemenyi's critical difference; see `figures`.

        Raises
        ------
        ParameterError
            If there are fewer than two methods, or fewer than two data sets.
        """
        from indefinite_opt.figures import critical_difference_figure
        from indefinite_opt.studies.report.over_data import critical_difference, nemenyi_in_words

        count, ranks = len(self.study.sources), self.ranks
        if count < 2 or len(ranks) < 2:
            expected = "two methods and two data sets or more, as ranks are means over data sets"
            raise ParameterError("study", expected, f"{len(ranks)} and {count}")
        difference = critical_difference(len(ranks), count)
        return critical_difference_figure(ranks, difference, nemenyi_in_words(count))

    @cached_property
    def chosen_rows(self) -> list[Row]:
        """One row per data set, method and division: with the entry that was chosen.

        Without an inner protocol it is the entry of the best mean over all divisions.
        """
        return [row for rows in self._chosen.values() for row in rows]

    @cached_property
    def _chosen(self) -> dict[tuple[str, str], list[Row]]:
        """The chosen rows of each data set and method."""
        groups: dict[tuple[str, str], list[Row]] = {}
        for row in self.rows:
            groups.setdefault((row["data"], row["method"]), []).append(row)
        if self.study.plan.protocol.inner is not None:
            return groups
        sign, name = METRICS[self.study.select].sign, self.study.select
        for (data, label), rows in groups.items():
            grid = self.study.grid(data, label)
            scores: list[list[float]] = [[] for _ in grid.entries]
            for row in rows:
                value = math.nan if row["error"] else float(row[name])
                scores[row["entry"]].append(sign * value)
            # The mean is NaN if an entry failed on a division.
            means = [float(np.mean(values)) if values else np.nan for values in scores]
            best, ends = grid.best(means), grid.ends(means)
            groups[data, label] = [{**row, "ends": ends} for row in rows if row["entry"] == best]
        return groups

    @property
    def frame(self) -> pd.DataFrame:
        """The rows as a table."""
        import pandas as pd

        return pd.DataFrame(self.rows)

    def column(self, data: str, method: str, name: str) -> list[Any]:
        """An entry of the chosen rows of a data set and method, by run and fold."""
        return [row[name] for row in self._chosen.get((data, method), [])]

    def run_means(self, data: str, method: str, name: str) -> list[float]:
        """As `run_means` of the chosen rows of a data set and method."""
        return run_means(self._chosen[data, method], name)

    @cached_property
    def table(self) -> list[Row]:
        """One row per data set and method: data, method, divisions, runs, failed, and the metrics.

        The ends are those of its grid that half of the divisions or more chose.
        Each metric `m` that is a number has its mean over runs in `m`, and in `m_sd` the standard
        deviation over the runs; see `mean_and_spread`.
        """
        summary = []
        for (data, label), rows in self._chosen.items():
            good = [row for row in rows if not row["error"]]
            line: Row = {
                "data": data, "method": label, "divisions": len(rows),
                "runs": len({row["run"] for row in rows}), "failed": len(rows) - len(good),
                "ends": usual_ends(good),
            }  # fmt: skip
            chosen = ("selection", "selection_seconds") if self.study.plan.protocol.inner else ()
            for name in (*chosen, *self.study.plan.metrics):
                if any(isinstance(row[name], str) for row in good):
                    continue
                line[name], line[f"{name}_sd"] = mean_and_spread(rows, name)
            summary.append(line)
        return summary


VERSIONED = ("indefinite_opt", "numpy", "scipy", "highspy", "cvxpy", "scikit-learn")
"""Packages whose versions are among the settings of a study."""


def settings_of(study: Study) -> dict[str, str]:
    """What is needed to run a study again, beside its data and methods, as texts for reports."""
    return {
        "evaluation": str(study.plan.protocol),
        "seed": str(study.seed),
        "tol": short(study.tol),
        "time limit": "none" if study.time_limit is None else f"{short(study.time_limit)} s",
        **({} if study.prove is None else {"prove": f"{short(study.prove)} s for each fit"}),
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": f"{platform.platform()}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}",
        "versions": ", ".join(f"{name} {version_of(name)}" for name in VERSIONED),
    }


def usual_ends(rows: list[Row]) -> list[str]:
    """The ends of a grid that half or more of the rows of a method chose."""
    counts = Counter(end for row in rows for end in row.get("ends", ()))
    return [end for end, count in counts.items() if 2 * count >= len(rows)]


def run_means(rows: list[Row], name: str) -> list[float]:
    """A metric of each run: the mean over its folds that did not fail."""
    runs: dict[int, list[float]] = {}
    for row in rows:
        if not row["error"]:
            runs.setdefault(row["run"], []).append(float(row[name]))
    return [float(np.mean(values)) for values in runs.values()]


def mean_and_spread(rows: list[Row], name: str) -> tuple[float, float]:
    """The mean of a metric over runs, and its standard deviation; NaN if all cells failed.

    The deviation is that of the population: of the runs, or of the folds of a single run.
    """
    means = run_means(rows, name)
    parts = means if len(means) > 1 else [float(row[name]) for row in rows if not row["error"]]
    if not means:
        return math.nan, math.nan
    with np.errstate(invalid="ignore"):  # of infinite gaps
        return float(np.mean(means)), float(np.std(parts))
