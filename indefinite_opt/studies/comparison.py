"""Formulations and baselines side by side, on the same folds and with the same spectra."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from indefinite_opt.errors import ParameterError, ProblemError, UnknownName, shown
from indefinite_opt.figures import Score, scores_of
from indefinite_opt.foundation import (
    TASKS,
    cached_property,
    checks,
    finite_array,
    label_vector,
    parse_call,
    real_array,
)
from indefinite_opt.modeling import Formulation, check_classes
from indefinite_opt.problem import KernelProblem, check_problem
from indefinite_opt.quadratic import Claim
from indefinite_opt.solvers import as_solver
from indefinite_opt.studies.cells import FAILURES
from indefinite_opt.studies.data import Data, HeldOut, described_class, training_problem
from indefinite_opt.studies.methods import (
    KERNELS,
    NO_SOLVER,
    Entry,
    Grid,
    Method,
    as_grid,
    default_methods,
)
from indefinite_opt.studies.progress import Progress
from indefinite_opt.studies.protocols import (
    FixedTestSet,
    Nested,
    Protocol,
    RepeatedKFold,
    as_protocol,
    unstratified,
)
from indefinite_opt.studies.store import Row
from indefinite_opt.studies.study import Study, mean_and_spread, settings_of, usual_ends
from indefinite_opt.workflow import Result, available_solvers, html_table, solve, weakest_kind

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Test = tuple[ArrayLike, ArrayLike | None] | tuple[ArrayLike, ArrayLike | None, ArrayLike]

SHOWN = ("objective", "claim", "gap_kind", "gap", "proved_within", "support", "seconds", "status")
"""The metrics of `METRICS` that a comparison shows besides the scores of its task."""


def columns_of(problem: KernelProblem) -> tuple[str, ...]:
    """The columns of the table of cells."""
    scores = (score.name for score in scores_of(problem))
    return ("formulation", "solver", "fold", *scores, *SHOWN, "error", "run", "chosen")


@dataclass(frozen=True, eq=False)
class Comparison:
    """The outcome of `compare`.

    Attributes
    ----------
    problem : KernelProblem
        The problem with all data, of the task that was compared.
    methods : list of Formulation and Baseline
    settings : dict of str to str
        What is needed to run the study again.
    rows : list of dict
        One entry per cell (formulation, solver, run, fold); see `frame`.
    preferred : dict of str to Entry
        By its title in the rows, the entry of each method's grid that was chosen most often.
    test_per_train : float
        Test points per training point, the mean over the divisions, which tests of differences
        need; NaN for a fixed test set.
    ends : list of (str, str)
        Methods, each with an end of its grid that was chosen in half of the divisions or more.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> data = iopt.datasets.checkerboard(n=40, cells=2)
    >>> problem = iopt.KernelProblem.from_data(data.X, data.y, "gaussian")
    >>> comparison = iopt.compare(problem, ["SVMDual", "KNN"], folds=2)
    >>> comparison.frame.shape[0], sorted(comparison.summary["formulation"])
    (4, ['KNN(k=5)', 'SVMDual'])
    """

    problem: KernelProblem
    methods: list[Method]
    settings: dict[str, str]
    rows: list[Row]
    preferred: dict[str, Entry] = field(default_factory=dict)
    test_per_train: float = math.nan
    ends: list[tuple[str, str]] = field(default_factory=list)

    def __repr__(self) -> str:
        rows = self.summary.to_dict("records")
        best = f", best {rows[0]['formulation']}" if rows else ""
        return f"Comparison({self.problem.name!r}, {len(rows)} rows{best})"

    def __str__(self) -> str:
        from indefinite_opt.studies.report.tables import table_text, text_width

        told = (textwrap.fill(sentence, text_width()) for sentence in self.conclusions)
        return "\n\n".join([table_text(self), *told])

    def _repr_html_(self) -> str:
        from indefinite_opt.studies.report.tables import table_cells

        title = f"{self.problem.name} (n = {self.problem.n}), {self.settings['evaluation']}"
        return html_table(title, table_cells(self), self.conclusions)

    @property
    def formulations(self) -> list[Formulation]:
        """The methods that are formulations."""
        return [method for method in self.methods if isinstance(method, Formulation)]

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per cell: accuracy, objective, claim, gap, the chosen parameters, and so on.

        In place of the accuracy stand "r2", "rmse" and "mae" for regression, and "auc" and
        "rejected" for one class.
        """
        import pandas as pd

        return pd.DataFrame(self.rows, columns=list(columns_of(self.problem)))

    @cached_property
    def summary(self) -> pd.DataFrame:
        """One row per formulation and solver: means, the weakest claim, the largest gap.

        The best mean accuracy comes first, or R², or AUC, and what failed in every division last.
        For one class "nu" is the ν of the method, which bounds what it rejects of the training
        points.
        """
        import pandas as pd

        grouped: dict[tuple[str, str], list[Row]] = {}
        for row in self.rows:
            grouped.setdefault((row["formulation"], row["solver"]), []).append(row)
        scores = scores_of(self.problem)
        summaries = [_summary(rows, scores) for rows in grouped.values()]
        if self.problem.task == "one class":
            for row in summaries:
                entry = self.preferred.get(row["formulation"])
                row["nu"] = float(getattr(entry and entry.method, "nu", math.nan))
        first, sign = scores[0].name, -1.0 if scores[0].larger_is_better else 1.0
        summaries.sort(key=lambda row: math.inf if math.isnan(row[first]) else sign * row[first])
        return pd.DataFrame(summaries)

    @cached_property
    def fitted(self) -> list[Result | Any]:
        """The formulations solved on all data, with the parameters and kernel chosen most often.

        Those of one class are solved on the points of the class that is described.

        Those that fail are left out.
        """
        results, data = [], Data(self.problem)
        for each in self.formulations:
            entry = self.preferred.get(str(each), Entry(each, None, ""))
            if isinstance(entry.method, Formulation):
                with contextlib.suppress(*FAILURES):
                    problem = training_problem(data.with_kernel(entry.kernel))
                    tol = float(self.settings["tol"])
                    results.append(solve(problem, entry.method, tol=tol))
        return results

    @property
    def conclusions(self) -> list[str]:
        """Which methods differ beyond chance, what was proved, and how indefinite the kernel is."""
        from indefinite_opt.studies.report.verdict import conclusions

        return conclusions(self)

    def to_markdown(self) -> str:
        """The summary as a Markdown table."""
        from indefinite_opt.studies.report.tables import to_markdown

        return to_markdown(self)

    def to_latex(self, caption: str = "", label: str = "", *, chosen: bool = False) -> str:
        """The summary as a LaTeX table for a paper, with the best score in bold; needs booktabs.

        Parameters
        ----------
        caption : str
            Plain text; by default the name of the problem and the protocol.
        label : str
            What the paper refers to the table by; by default it has none.
        chosen : bool
            Whether the parameters that were chosen have a column.
        """
        from indefinite_opt.studies.report.tables import to_latex

        return to_latex(self, caption, label, chosen)

    def to_html(self, path: str | Path) -> Path:
        """Write a self-contained HTML report."""
        from indefinite_opt.studies.report.page import to_html

        return to_html(self, path)

    def plot(self) -> Figure:
        """Draw accuracy, R² or AUC, with time and gaps, in one figure."""
        from indefinite_opt.figures import comparison_figure

        return comparison_figure(self)


def compare(
    problem: KernelProblem,
    formulations: Iterable[Grid | Method | type[Method] | str] | None = None,
    solvers: Sequence[str] | None = None,
    test: Test | None = None,
    n_jobs: int | None = None,
    *,
    folds: int = 5,
    seed: int = 0,
    tol: float = 1e-6,
    time_limit: float | None = None,
    protocol: Protocol | int | None = None,
    grid: Mapping[str, Any] | None = None,
    record: str | Path | None = None,
    resume: bool = True,
    cluster: Any = None,
    progress: Progress | bool | None = None,
    task: str | None = None,
    prove: float | None = None,
) -> Comparison:
    """Run formulations × solvers × folds, and collect what each cell achieved and proved.

    Parameters
    ----------
    problem : KernelProblem
        If `from_data` made it with scaling, each fold is scaled by its own training points.
    formulations : iterable, optional
        Formulations and baselines as objects, classes or names, or a `studies.Grid` of one; by
        default all of the task, with their default parameters. One that is listed twice is run
        once.
    solvers : sequence of str, optional
        Every formulation is run with each of these solvers that fits it, of which each fits some;
        by default with its default solver. Baselines have no solver.
    test : (K_new, y_new) or (K_new, y_new, K_new_new), optional
        One fixed test set instead of folds: (m, n) kernel rows, m labels or targets, and the (m, m)
        kernel matrix of the new points if a formulation treats new points jointly, or needs their
        k(x, x), as `SVDD` does. Without labels y_new is None.
    n_jobs : int, optional
        Number of processes, as in joblib, that share the cells; each uses one BLAS thread.
    folds : int
        Number of cross-validation folds, shuffled by `seed`; stratified if there are classes.
    tol, time_limit
        As in `solve`, for every fit.
    protocol : Protocol or int, optional
        How the points are divided in place of `folds`; see `studies.protocols`.
    grid : mapping of str to list, optional
        Values of parameters, such as {"C": [0.1, 1, 10], "kernel": ["linear", "gaussian"]}, for
        every method that has the parameter and for which it is not written out. In place of
        kernels "gamma" may have values of γ for the kernel of the problem, of points or of
        distances, and "relative_gamma" multiples of its own γ. Without a protocol
        the values are chosen in each fold by three folds of its training points (`Nested`), and
        then tested once.
    record : path, optional
        A .jsonl file that receives every cell as soon as it is known, so that an interrupted
        comparison can be resumed, or a folder for it. It may hold many comparisons, of which one
        runs at a time.
    resume : bool
        Whether to use the cells of an existing record; otherwise all are run again.
    cluster : str, Client or Cluster of dask.distributed, optional
        Runs the cells by joblib's back end "dask" on an existing cluster.
    progress : callable or False, optional
        Called with (number of rows done, number of all rows, last row). By default a bar in a
        terminal; False for none.
    task : {"classification", "regression", "one class"}, optional
        By default that of the problem; for another one its labels are read anew.
    prove : float, optional
        Seconds of branch and bound, as in `solve`, for every fit that is tested, but not for those
        by which parameters are chosen.

    Raises
    ------
    ParameterError
        For a method of another task; the message names those that fit. For a solver that fits no
        formulation.
    UnknownName
        For a name in the grid that is a parameter of none of the methods.
    ProblemError
        If the labels are none of the task.

    Notes
    -----
    More than two classes are trained one against one, and vote. The claim of a cell is then the
    weakest of all pairs, its gap the largest, and its support vectors those of any pair; it has no
    objective.

    Scores of regression are R² = 1 - Σ(f(x_i) - t_i)² / Σ(t_i - mean(t))² of the test points, which
    ranks methods and chooses parameters, the root of the mean squared error and the mean absolute
    error. R² needs two test points or more: it is NaN if one is left out at a time.

    For one class with labels, the largest class is described (of equally large ones the last, of
    two the positive one): only its points train, and all points test. Scores are the area under the
    ROC curve of the decision values, which ranks methods and chooses parameters, and the share of
    the test points of the class that is rejected, which is to be compared with ν. Without labels
    this share is the only score.

    A cell that fails reports its error in its row and does not stop the others. `seconds` is the
    time of the solve; solvers are loaded and compiled before, on tiny problems.

    Examples
    --------
    >>> import numpy as np, indefinite_opt as iopt
    >>> X = np.random.default_rng(0).normal(size=(40, 2)) + np.repeat([[-2.0], [2.0]], 20, axis=0)
    >>> problem = iopt.KernelProblem.from_data(X, np.repeat([0, 1], 20), "gaussian")
    >>> comparison = compare(problem, ["SVMDual", "UniformWeights"], folds=2)
    >>> comparison.summary[["formulation", "accuracy", "claim"]].values.tolist()
    [['SVMDual', 1.0, 'GLOBAL'], ['UniformWeights', 1.0, 'GLOBAL']]
    >>> chosen = compare(problem, ["SVMDual", "KNN"], folds=2, grid={"C": [0.1, 10], "k": [1, 3]})
    >>> chosen.summary["chosen"].tolist()
    ['C=10 (2)', 'k=1 (2)']
    """
    check_problem(problem)
    problem = _of_task(problem, task)
    scores = scores_of(problem)
    grids = _grids(formulations, solvers, {} if grid is None else grid, problem.task)
    held_out = None if test is None else _checked_test(problem, test)
    several = any(len(each.entries) > 1 for _, each in grids)
    if protocol is not None and held_out is not None:
        raise ParameterError("protocol", "None with a fixed test set", str(protocol))
    if several and scores[0].name == "rejected":
        raise ParameterError(
            "grid", "single values, as parameters are chosen by labelled outliers", "several"
        )
    if protocol is not None:
        chosen = as_protocol(protocol)
    else:
        chosen = RepeatedKFold(folds, seed=seed) if held_out is None else FixedTestSet()
        # Three inner folds are the fewest that leave most of the training points to train.
        chosen = Nested(chosen, RepeatedKFold(3, seed=seed)) if several else chosen
    if problem.task == "regression" or problem.labels is None:
        chosen = unstratified(chosen)
    data, names = Data(problem, test=held_out), [score.name for score in scores]
    study = Study(
        {problem.name: data}, {f"{title} · {each.solver}": each for title, each in grids},
        chosen, [*names, *SHOWN], names[0], seed=seed, tol=tol, time_limit=time_limit,
        prove=prove,
    )  # fmt: skip
    titles = dict(zip(study.grids, grids, strict=True))

    def shown(row: Row) -> Row:
        title, each = titles[row["method"]]
        told = {"formulation": title, "chosen": each.varied(row["entry"])}
        return {name: told.get(name, row.get(name)) for name in columns_of(problem)}

    def advance(done: int, total: int, row: Row) -> None:
        if callable(progress):
            progress(done, total, shown(row))

    outcome = study.run(
        record, n_jobs, cluster=cluster, resume=resume,
        progress=advance if callable(progress) else progress,
    )  # fmt: skip
    rows = [shown(row) for row in outcome.chosen_rows]
    methods = {title: each.base for title, each in grids}
    settings = _settings(study, problem, grid or {}) | {"methods": ", ".join(methods)}
    preferred: dict[str, Entry] = {}
    ends: list[tuple[str, str]] = []
    for label, (title, each) in titles.items():
        mine = [row for row in outcome.chosen_rows if row["method"] == label]
        good = [row for row in mine if not row["error"]]
        counts = Counter(row["entry"] for row in good or mine)
        preferred.setdefault(title, each.entries[counts.most_common(1)[0][0]])
        ends += [(title, end) for end in usual_ends(good)]
    ratio = math.nan
    if held_out is None:
        divisions = chosen.divisions(data.y)
        ratio = float(np.mean([each.test.size / each.train.size for each in divisions]))
    ends = list(dict.fromkeys(ends))
    return Comparison(problem, list(methods.values()), settings, rows, preferred, ratio, ends)


def _of_task(problem: KernelProblem, task: str | None) -> KernelProblem:
    """The problem, or with its labels read anew for another task."""
    if task is not None and task != problem.task:
        checks.choice("task", task, TASKS)
        # Targets name no class, of which the largest one could be described.
        targets = task == "one class" and problem.task == "regression"
        problem = problem.relabelled(None if targets else problem.labels, task)
    if problem.task == "classification":
        check_classes(problem)
    return problem


def _check_task(grid: Grid, task: str) -> None:
    """Raise `ParameterError` for a method of another task."""
    if grid.method.task != task:
        fitting = dict.fromkeys(type(method).__name__ for method in default_methods(task))
        raise ParameterError(
            "formulations", f"methods of {task}: {', '.join(fitting)}",
            f"{grid.method}, which is for {grid.method.task}",
            "`task` reads the labels for another task.",
        )  # fmt: skip


def _grids(
    formulations: Iterable[Grid | Method | type[Method] | str] | None,
    solvers: Sequence[str] | None,
    values: Mapping[str, Any],
    task: str,
) -> list[tuple[str, Grid]]:
    """Each method with each solver that fits it, once, over its share of the values."""
    if not isinstance(formulations, Iterable) or isinstance(formulations, str):
        formulations = [] if formulations is None else [formulations]
    items = list(formulations) or default_methods(task)
    if not isinstance(values, Mapping):
        raise ParameterError("grid", "a dict of lists of values by their names", shown(values))
    known = {name for item in items for name in as_grid(item).names}
    for name in values:
        if name not in known | set(KERNELS):
            raise UnknownName("grid", name, [*known, *KERNELS])
    idle = dict.fromkeys(solvers or ())
    found: dict[tuple[str, str], Grid] = {}
    for item in items:
        grid, written = as_grid(item), _written(item, values)
        _check_task(grid, task)
        mine = {
            name: several
            for name, several in values.items()
            if name in {*grid.names, *KERNELS} and name not in written
        }
        names = [grid.solver]
        if grid.solver != NO_SOLVER and solvers is not None:
            fitting = available_solvers(grid.method)  # type: ignore[arg-type]
            names = [name for name in dict.fromkeys(solvers) if as_solver(name).name in fitting]
            idle = {name: None for name in idle if name not in names}
        for solver in names:
            each = grid.over(solver, mine)
            title = each.title if values else str(each)
            found.setdefault((title, solver), each)
    if idle or not found:
        got = repr(list(map(str, idle)) or solvers)
        raise ParameterError("solvers", "some that fit a formulation each", got)
    return [(title, grid) for (title, _), grid in found.items()]


def _written(item: Grid | Method | type[Method] | str, names: Iterable[str]) -> set[str]:
    """Those parameters that the caller has given a value of his own, which are not varied."""
    if isinstance(item, str):
        return set(parse_call(item)[1])
    if isinstance(item, Grid):
        return {*item.parameters, *(() if item.kernels == (None,) else KERNELS)}
    usual = {each.name: each.default for each in dataclasses.fields(item)}  # type: ignore[arg-type]
    return {name for name in names if name in usual and getattr(item, name) != usual[name]}


def _settings(study: Study, problem: KernelProblem, grid: Mapping[str, Any]) -> dict[str, str]:
    """What is needed to run a comparison again, as texts for reports."""
    over = "; ".join(f"{name} in {', '.join(map(str, grid[name]))}" for name in grid)
    described = described_class(problem)
    if problem.task == "regression":
        labels = {"targets": problem.labels_in_words.removeprefix("targets ")}
    else:
        labels = {"classes": problem.labels_in_words} if problem.task == "classification" else {}
    return {
        "problem": problem.name,
        "points": str(problem.n),
        **({"table": str(problem.table)} if problem.table and problem.table.rows else {}),
        "kernel": problem.origin,
        "scaling": problem.scaling or "none",
        **labels,
        **({} if described is None else {"described class": problem.meaning(described)}),
        **({"grid": over} if grid else {}),
        **settings_of(study),
    }


def _checked_test(problem: KernelProblem, test: Test) -> HeldOut:
    """K_new, y_new and K_new_new as arrays; the last one is empty if it is not given."""
    if not isinstance(test, tuple | list) or len(test) not in (2, 3):
        size = f" of {len(test)}" if isinstance(test, tuple | list) else ""
        got = f"{type(test).__name__}{size}"
        raise ProblemError("test", "(K_new, y_new) or (K_new, y_new, K_new_new)", got)
    expected = f"K_new of shape (m, {problem.n}) and m labels"
    K_new = real_array("test", test[0], expected, (None, problem.n), finite=False)
    given: Any = test[1]
    y_new: Any = None
    if problem.task == "regression":
        y_new = finite_array("test", given, (None,))
    elif given is not None or problem.task != "one class":
        y_new = label_vector("test", given, expected)
    if not len(K_new) == len(K_new if y_new is None else y_new) > 0:
        raise ProblemError("test", expected, f"{len(K_new)} rows and {len(y_new)} labels")
    among = real_array("test", test[2], "a matrix K_new_new") if len(test) > 2 else np.empty((0, 0))
    return K_new, y_new, among


def _summary(rows: list[Row], scores: tuple[Score, ...]) -> Row:
    """One row for the cells of a formulation and solver."""
    good = [row for row in rows if not row["error"]]
    # If only some folds are convex, only the weaker measure describes all of them.
    kind = weakest_kind(row["gap_kind"] for row in good)
    mean = {score.name: mean_and_spread(rows, score.name)[0] for score in scores}
    first, *others = mean
    claims = [Claim[row["claim"]] for row in good if row["claim"] != "-"]
    bounds = [row["proved_within"] for row in good if row["claim"] != "-"]
    counts = Counter(row["chosen"] for row in good if row["chosen"])
    return {
        "formulation": rows[0]["formulation"],
        "solver": rows[0]["solver"],
        first: mean[first],
        "spread": mean_and_spread(rows, first)[1],
        **{name: mean[name] for name in others},
        "objective": mean_and_spread(rows, "objective")[0],
        "claim": min(claims).name if claims else "-",
        "gap_kind": kind,
        "gap": max((row["gap"] for row in good if row["gap_kind"] == kind), default=math.nan),
        "proved_within": max(bounds, default=math.nan),
        "proved": sum(math.isfinite(bound) for bound in bounds),
        "support": mean_and_spread(rows, "support")[0],
        "seconds": mean_and_spread(rows, "seconds")[0],
        "failed": len(rows) - len(good),
        "cells": len(rows),
        "chosen": ", ".join(f"{name} ({count})" for name, count in counts.most_common()),
    }
