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
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indefinite_opt.errors import ParameterError
from indefinite_opt.figures import Score
from indefinite_opt.foundation import cached_property, checks, short, version_of
from indefinite_opt.modeling import Formulation
from indefinite_opt.problem import KernelProblem
from indefinite_opt.studies.cells import FAILURES, Cell, Plan, key_of, own_code_of
from indefinite_opt.studies.data import Data, Source, facts_of, training_problem
from indefinite_opt.studies.kernel_words import kernels_in_words
from indefinite_opt.studies.methods import Entry, Grid, Method, as_grid
from indefinite_opt.studies.metrics import COMPARED, METRICS, as_metrics
from indefinite_opt.studies.over_divisions import (
    mean_and_spread,
    proved_of_all,
    run_means,
    usual_ends,
)
from indefinite_opt.studies.own_code import code_of
from indefinite_opt.studies.progress import Progress
from indefinite_opt.studies.protocols import Protocol, RepeatedKFold, as_protocol
from indefinite_opt.studies.running import check_jobs, run_cells
from indefinite_opt.studies.store import Row
from indefinite_opt.workflow import solve

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


@dataclass(frozen=True, eq=False, repr=False)
class StudyOutcome:
    """The rows of a study; see `Study.run`. `print` it for its table.

    That is data sets × methods. A study of one data set with the metrics of `compare` shows for
    each method all of them.

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
    >>> import indefinite_opt as iopt
    >>> data = iopt.datasets.checkerboard(n=40, cells=2)
    >>> problem = iopt.KernelProblem.from_data(data.X, data.y, "gaussian")
    >>> comparison = iopt.compare(problem, ["SVMDual", "KNN"], folds=2)
    >>> comparison.frame.shape[0], sorted(comparison.summary["method"])
    (4, ['KNN(k=5)', 'SVMDual'])
    """

    study: Study
    rows: list[Row]

    @property
    def _compares(self) -> bool:
        """Whether it is the study of one data set with all metrics of `compare`."""
        return len(self.study.sources) == 1 and {*COMPARED} <= {*self.study.plan.metrics}

    @property
    def _report(self) -> Any:
        """What writes the tables and the conclusions."""
        from indefinite_opt.studies.report import over_data, tables

        return tables if self._compares else over_data

    def __str__(self) -> str:
        told: str = self._report.text(self)
        return told

    def __repr__(self) -> str:
        count = len(self.study.grids)
        if self._compares:
            best = self.summary["method"][0]
            return f"StudyOutcome({self.problem.name!r}, {count} methods, best {best})"
        return (
            f"StudyOutcome({len(self.study.sources)} data sets, {count} methods, "
            f"{len(self.rows)} rows)"
        )

    def _repr_html_(self) -> str:
        told: str = self._report.html(self)
        return told

    @cached_property
    def settings(self) -> dict[str, str]:
        """What is needed to run the study again, beside several data sets and the methods."""
        facts = facts_of(self.problem) if self._compares else {}
        if facts:
            (facts["kernel"],) = self.kernels.values()
        return {**facts, **settings_of(self.study)}

    @property
    def kernels(self) -> dict[str, str]:
        """The kernels of each data set in words: form, γ, and where γ comes from."""
        study = self.study
        return {
            name: kernels_in_words(data, [study.grid(name, label) for label in study.grids])
            for name, data in study.sources.items()
        }

    @property
    def scores(self) -> tuple[Score, ...]:
        """The metrics that `compare` does not have for every task, that which chooses first."""
        names = [name for name in self.study.plan.metrics if name not in COMPARED]
        return tuple(METRICS[name].score for name in dict.fromkeys([self.study.select, *names]))

    def _only(self, wanted: str) -> tuple[str, Data]:
        """The name and the data of the only data set; `ParameterError` if there are several."""
        if len(self.study.sources) > 1:
            got = f"{len(self.study.sources)}"
            raise ParameterError("study", f"one data set, as {wanted} is that of one", got)
        return next(iter(self.study.sources.items()))

    @property
    def problem(self) -> KernelProblem:
        """All data of the only data set, with its own kernel."""
        return self._only("the problem")[1].problem

    @property
    def formulations(self) -> list[Formulation]:
        """The methods that are formulations, with those parameters that have a single value."""
        bases = {str(grid.base): grid.base for grid in self.study.grids.values()}
        return [method for method in bases.values() if isinstance(method, Formulation)]

    @property
    def preferred(self) -> dict[str, Entry]:
        """By method, the entry of its grid that was chosen most often, of the only data set."""
        name, _ = self._only("the preferred entry")
        return {label: self._usual(name, label)[0] for label in self.study.grids}

    def _usual(self, data: str, label: str) -> tuple[Entry, Counter[int]]:
        """The entry of a grid that was chosen most often, and how often each was."""
        rows = self._chosen[data, label]
        counts = Counter(row["entry"] for row in rows if not row["error"])
        found = counts or Counter(row["entry"] for row in rows)
        return self.study.grid(data, label).entries[found.most_common(1)[0][0]], counts

    @property
    def test_per_train(self) -> float:
        """Test points per training point of the only data set, the mean over the divisions.

        Tests of differences need it; NaN for a fixed test set.
        """
        _, data = self._only("the share of test points")
        if data.test is not None:
            return math.nan
        divisions = self.study.plan.protocol.divisions(data.y)
        return float(np.mean([each.test.size / each.train.size for each in divisions]))

    @property
    def chosen_by_shown_scores(self) -> bool:
        """Whether parameters were chosen by the scores that are shown, not on training points."""
        study = self.study
        several = any(
            len(study.grid(data, label).entries) > 1
            for data in study.sources
            for label in study.grids
        )
        return several and study.plan.protocol.inner is None

    @property
    def ends(self) -> list[tuple[str, str]]:
        """Methods, each with an end of its grid that half of the divisions or more chose."""
        found = ((row["method"], end) for row in self.table for end in row["ends"])
        return list(dict.fromkeys(found))

    @cached_property
    def fitted(self) -> list[Any]:
        """The formulations solved on all data, with the entries chosen most often.

        Those of one class are solved on the points of the class that is described. Those that fail
        are left out.
        """
        _, data = self._only("what is fitted")
        entries = {str(entry): entry for entry in self.preferred.values()}
        results = []
        for entry in entries.values():
            if isinstance(entry.method, Formulation):
                with suppress(*FAILURES):
                    problem = training_problem(data.with_kernel(entry.kernel))
                    results.append(solve(problem, entry.method, tol=self.study.tol))
        return results

    @property
    def ranks(self) -> dict[str, float]:
        """The mean rank of each method over the data sets by the metric that chooses; 1 is best."""
        from indefinite_opt.studies.report.over_data import Scores

        scores = Scores.of(self)
        return dict(zip(scores.methods, scores.ranks.tolist(), strict=True))

    @property
    def conclusions(self) -> list[str]:
        """Which methods differ beyond chance, and what was proved.

        A comparison on one data set also says how indefinite the kernel is.
        """
        told: list[str] = self._report.conclusions(self)
        return told

    def to_markdown(self) -> str:
        """The printed table in Markdown, with the conclusions."""
        told: str = self._report.to_markdown(self)
        return told

    def to_latex(self, caption: str = "", label: str = "", *, chosen: bool = False) -> str:
        """The table in LaTeX for a paper, with the best scores in bold; needs booktabs.

        Parameters
        ----------
        caption : str
            Plain text; by default what the numbers are, or the data and the protocol.
        label : str
            What the paper refers to the table by; by default it has none.
        chosen : bool
            Whether the parameters that were chosen have a column, which data sets × methods have
            not.
        """
        told: str = self._report.to_latex(self, caption, label, chosen)
        return told

    def to_html(self, path: str | Path) -> Path:
        """Write a self-contained HTML report with the table, figures, methods and settings."""
        from indefinite_opt.studies.report import page

        return page.to_html(self, path) if self._compares else page.study_to_html(self, path)

    def plot(self) -> Figure:
        """Draw the mean ranks with Nemenyi's critical difference; see `figures`.

        A comparison on one data set is drawn with the scores, times and gaps of its methods.

        Raises
        ------
        ParameterError
            For mean ranks, if there are fewer than two methods, or fewer than two data sets.
        """
        from indefinite_opt.figures import comparison_figure, critical_difference_figure
        from indefinite_opt.studies.report.over_data import critical_difference, nemenyi_in_words

        if self._compares:
            return comparison_figure(self)
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
        """One row per data set and method.

        It has data, method, solver, divisions, runs, failed (divisions), chosen (the parameters
        that were chosen, and how often), the ends of its grid that half of the divisions or more
        chose, and the metrics. Each metric `m` that is a number has its mean over runs in `m`, and
        in `m_sd` the standard deviation over the runs; see `mean_and_spread`. What is proved is
        that of all divisions; see `proved_of_all`. For one class "nu" is the ν of the method, which
        bounds what it rejects of the training points.
        """
        summary = []
        for (data, label), rows in self._chosen.items():
            good = [row for row in rows if not row["error"]]
            grid, (usual, counts) = self.study.grid(data, label), self._usual(data, label)
            varied = ((grid.varied(entry), count) for entry, count in counts.most_common())
            line: Row = {
                "data": data, "method": label, "solver": rows[0]["solver"], "divisions": len(rows),
                "runs": len({row["run"] for row in rows}), "failed": len(rows) - len(good),
                "chosen": ", ".join(f"{told} ({count})" for told, count in varied if told),
                "ends": usual_ends(good),
            }  # fmt: skip
            chosen = ("selection", "selection_seconds") if self.study.plan.protocol.inner else ()
            proved = proved_of_all(good, self.study.plan.metrics)
            for name in (*chosen, *self.study.plan.metrics):
                if name in proved or any(isinstance(row[name], str) for row in good):
                    continue
                line[name], line[f"{name}_sd"] = mean_and_spread(rows, name)
            line |= proved
            if grid.method.task == "one class":
                line["nu"] = float(getattr(usual.method, "nu", math.nan))
            summary.append(line)
        return summary

    @cached_property
    def summary(self) -> pd.DataFrame:
        """The `table` for pandas: of each data set the best method first, what failed last."""
        import pandas as pd

        places, metric = list(self.study.sources), METRICS[self.study.select]

        def place(row: Row) -> tuple[int, float]:
            gain = metric.sign * row[metric.name]
            return places.index(row["data"]), math.inf if math.isnan(gain) else -gain

        ordered: list[Row] = sorted(self.table, key=place)
        return pd.DataFrame(ordered)


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
