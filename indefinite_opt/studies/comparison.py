"""Formulations and baselines side by side, on the same folds and with the same spectra."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt.errors import ParameterError, ProblemError
from indefinite_opt.foundation import checks, label_vector, real_array
from indefinite_opt.modeling import Formulation
from indefinite_opt.problem import KernelProblem, Split, check_problem
from indefinite_opt.solvers import Claim, Status, as_solver
from indefinite_opt.studies.baselines.baseline import Baseline
from indefinite_opt.studies.cells import FAILURES, warm_up
from indefinite_opt.studies.methods import NO_SOLVER, Method, as_method, default_methods
from indefinite_opt.studies.record import (
    COLUMNS,
    HeldOut,
    Ledger,
    Row,
    cell_key,
    data_digest,
    study_settings,
)
from indefinite_opt.workflow import Result, available_solvers, solve

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["Comparison", "Method", "as_method", "compare", "default_methods", "warm_up"]

Cell = tuple[Method, str]
Work = tuple[int, Callable[[], Split], list[Cell]]
Progress = Callable[[int, int, Row], None]
Test = tuple[ArrayLike, ArrayLike] | tuple[ArrayLike, ArrayLike, ArrayLike]


class CellOptions(NamedTuple):
    """How every cell is solved; see `solve`."""

    seed: int
    tol: float
    time_limit: float | None


@dataclass(frozen=True, eq=False)
class Comparison:
    """The outcome of `compare`.

    Attributes
    ----------
    problem : KernelProblem
        The problem with all data.
    methods : list of Formulation and Baseline
    settings : dict of str to str
        What is needed to run the study again.
    rows : list of dict
        One entry per cell (formulation, solver, fold); see `frame`.
    """

    problem: KernelProblem
    methods: list[Method]
    settings: dict[str, str]
    rows: list[Row]

    @property
    def formulations(self) -> list[Formulation]:
        """The methods that are formulations."""
        return [method for method in self.methods if isinstance(method, Formulation)]

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per cell, with accuracy, objective, claim, the gap of `gap_kind`, and so on."""
        import pandas as pd

        return pd.DataFrame(self.rows, columns=list(COLUMNS))

    @cached_property
    def summary(self) -> pd.DataFrame:
        """One row per formulation and solver: means, the weakest claim, the largest gap."""
        import pandas as pd

        grouped: dict[tuple[str, str], list[Row]] = {}
        for row in self.rows:
            grouped.setdefault((row["formulation"], row["solver"]), []).append(row)
        return pd.DataFrame([_summary(*key, rows) for key, rows in grouped.items()])

    @cached_property
    def fitted(self) -> list[Result]:
        """The formulations solved on all data, without those that fail."""
        results = []
        for formulation in self.formulations:
            with contextlib.suppress(*FAILURES):
                results.append(solve(self.problem, formulation, tol=float(self.settings["tol"])))
        return results

    def to_markdown(self) -> str:
        """The summary as a Markdown table."""
        from indefinite_opt.studies.report.tables import to_markdown

        return to_markdown(self)

    def to_html(self, path: str | Path) -> Path:
        """Write a self-contained HTML report."""
        from indefinite_opt.studies.report.page import to_html

        return to_html(self, path)

    def plot(self) -> Figure:
        """Draw accuracy, time and gaps in one figure."""
        from indefinite_opt.figures import comparison_figure

        return comparison_figure(self)


def compare(
    problem: KernelProblem,
    formulations: Iterable[Method | type[Method] | str] | None = None,
    solvers: Sequence[str] | None = None,
    test: Test | None = None,
    n_jobs: int | None = None,
    *,
    folds: int = 5,
    seed: int = 0,
    tol: float = 1e-6,
    time_limit: float | None = None,
    record: str | Path | None = None,
    resume: bool = True,
    progress: Progress | None = None,
) -> Comparison:
    """Run formulations × solvers × folds, and collect what each cell achieved and proved.

    Parameters
    ----------
    problem : KernelProblem
        If `from_data` made it with scaling, each fold is scaled by its own training points.
    formulations : iterable, optional
        Formulations and baselines as objects, classes or names; by default all, with their default
        parameters. One that is listed twice is run once.
    solvers : sequence of str, optional
        Every formulation is run with each of these solvers that fits it; by default with its
        default solver. Baselines have no solver.
    test : (K_new, y_new) or (K_new, y_new, K_new_new), optional
        One fixed test set instead of folds: (m, n) kernel rows, m labels, and the (m, m) kernel
        matrix of the new points if a formulation treats new points jointly.
    n_jobs : int, optional
        Number of joblib processes that share the folds; each uses one BLAS thread.
    folds : int
        Number of stratified cross-validation folds, shuffled by `seed`.
    tol, time_limit
        As in `solve`, for every cell.
    record : path, optional
        A .jsonl file that receives every row as soon as it is known, so that an interrupted study
        can be resumed; or a folder, in which each study has a file of its own.
    resume : bool
        Whether to continue an existing record; otherwise it is cleared.
    progress : callable, optional
        Called with (number of rows done, number of all rows, last row).

    Returns
    -------
    Comparison

    Notes
    -----
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
    """
    check_problem(problem)
    checks.limits(tol, time_limit)
    checks.seed("seed", seed)
    if n_jobs is not None and (not checks.is_whole(n_jobs) or n_jobs == 0):
        raise ParameterError("n_jobs", "an integer other than 0", repr(n_jobs))
    methods = _methods(formulations)
    cells = [(method, name) for method in methods for name in _solver_names(method, solvers)]
    if not cells:
        raise ParameterError("solvers", "at least one that fits a formulation", repr(solvers))
    held_out = None if test is None else _checked_test(problem, test)
    splits = _splits(problem, held_out, folds, seed)
    settings = study_settings(problem, held_out, folds, seed, tol, time_limit)
    with contextlib.ExitStack() as stack:
        ledger = None
        if record is not None:
            study = {**settings, "data": data_digest(problem, held_out)}
            ledger = stack.enter_context(Ledger(Path(record), study, len(splits), resume))
        options = CellOptions(seed, tol, time_limit)
        rows = _rows(cells, splits, options, n_jobs, ledger, progress)
    return Comparison(problem, methods, settings, rows)


def _rows(
    cells: list[Cell],
    splits: list[Callable[[], Split]],
    options: CellOptions,
    n_jobs: int | None,
    ledger: Ledger | None,
    progress: Progress | None,
) -> list[Row]:
    """The rows of all cells in order, taken from the ledger or computed now and written to it."""
    order = {(str(method), solver): k for k, (method, solver) in enumerate(cells)}
    total = len(cells) * len(splits)
    recorded = {} if ledger is None else ledger.rows
    rows = [row for key, row in recorded.items() if key[:2] in order]
    if progress and rows:
        progress(len(rows), total, rows[-1])
    for row in _run(_missing(cells, splits, rows), n_jobs, options):
        rows.append(row)
        # An interrupted cell is not recorded, so that a resumed study solves it again.
        if ledger is not None and row["status"] != str(Status.INTERRUPTED):
            ledger.write(row)
        if progress:
            progress(len(rows), total, row)
    return sorted(rows, key=lambda row: (order[row["formulation"], row["solver"]], row["fold"]))


def _missing(cells: list[Cell], splits: list[Callable[[], Split]], rows: list[Row]) -> list[Work]:
    """The cells of each fold that have no row yet; folds without any are omitted."""
    done = {cell_key(row) for row in rows}
    work = [
        (fold, split, [cell for cell in cells if (str(cell[0]), cell[1], fold) not in done])
        for fold, split in enumerate(splits)
    ]
    return [item for item in work if item[2]]


def _methods(given: Iterable[Method | type[Method] | str] | None) -> list[Method]:
    """The methods to compare, each one once."""
    if isinstance(given, str | type | Formulation | Baseline):
        given = [given]
    methods = [as_method(item) for item in given or default_methods()]
    return list({str(method): method for method in methods}.values())


def _solver_names(method: Method, solvers: Sequence[str] | None) -> list[str]:
    if isinstance(method, Baseline):
        return [NO_SOLVER]
    if solvers is None:
        return [method.structure_type.default_solver]
    fitting = available_solvers(method)
    return [name for name in dict.fromkeys(solvers) if as_solver(name).name in fitting]


def _checked_test(problem: KernelProblem, test: Test) -> HeldOut:
    """K_new, y_new and K_new_new as arrays; the last one is empty if it is not given."""
    if not isinstance(test, tuple | list) or len(test) not in (2, 3):
        raise ProblemError("test", "(K_new, y_new) or (K_new, y_new, K_new_new)", _kind(test))
    expected = f"K_new of shape (m, {problem.n}) and m labels"
    K_new = real_array("test", test[0], expected, (None, problem.n), finite=False)
    y_new = label_vector("test", test[1], expected)
    if not len(K_new) == len(y_new) > 0:
        raise ProblemError("test", expected, f"{len(K_new)} rows and {len(y_new)} labels")
    among = real_array("test", test[2], "a matrix K_new_new") if len(test) > 2 else np.empty((0, 0))
    return K_new, y_new, among


def _kind(test: object) -> str:
    size = f" of {len(test)}" if isinstance(test, tuple | list) else ""
    return f"{type(test).__name__}{size}"


def _splits(
    problem: KernelProblem, test: HeldOut | None, folds: int, seed: int
) -> list[Callable[[], Split]]:
    if test is not None:
        return [partial(_fixed_split, problem, *test)]
    checks.whole("folds", folds, 2, problem.smaller_class, reason="the smaller class")
    from sklearn.model_selection import StratifiedKFold

    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    indices = splitter.split(np.zeros(problem.n), problem.y)
    return [partial(problem.split, train, held) for train, held in indices]


def _fixed_split(
    problem: KernelProblem, K_new: NDArray[Any], labels: NDArray[Any], among: NDArray[Any]
) -> Split:
    return Split(problem, K_new, labels, lambda: among)


def _run(work: list[Work], n_jobs: int | None, options: CellOptions) -> Iterator[Row]:
    if n_jobs in (None, 1) or len(work) < 2:
        for item in work:
            yield from _fold_rows(item, options)
        return
    from joblib import Parallel, delayed, parallel_config

    with parallel_config(backend="loky", inner_max_num_threads=1):
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
        jobs = (delayed(_fold_list)(item, options) for item in work)
        for rows in parallel(jobs):
            yield from rows


def _fold_list(work: Work, options: CellOptions) -> list[Row]:
    return list(_fold_rows(work, options))


def _fold_rows(work: Work, options: CellOptions) -> Iterator[Row]:
    fold, make_split, cells = work
    split = make_split()
    warm_up({name for _, name in cells})
    for method, solver in cells:
        yield _cell(split, method, solver, fold, options)


def _cell(split: Split, method: Method, solver: str, fold: int, options: CellOptions) -> Row:
    seed, tol, time_limit = options
    row: Row = {
        "formulation": str(method), "solver": solver, "fold": fold,
        "accuracy": float("nan"), "objective": float("nan"), "claim": "-", "gap_kind": "",
        "gap": float("nan"), "support": 0, "seconds": float("nan"), "status": "failed",
        "error": "",
    }  # fmt: skip
    try:
        if isinstance(method, Baseline):
            row.update(_fitted(split, method, seed))
        else:
            result = solve(split.problem, method, solver, tol, time_limit, seed=seed)
            row.update(_solved(split, result))
    except FAILURES as error:
        row["error"] = f"{type(error).__name__}: {error}"
    return row


def _fitted(split: Split, baseline: Baseline, seed: int) -> Row:
    began = time.perf_counter()
    fitted = baseline.fit(split.problem, seed)
    seconds = time.perf_counter() - began
    predicted = fitted.predict(split.K_new)
    return {
        "accuracy": float(np.mean(predicted == split.labels)),
        "support": int(fitted.support.size),
        "seconds": seconds,
        "status": "fitted",
    }


def _solved(split: Split, result: Result) -> Row:
    classifier, certificate = result.classifier, result.certificate
    among = split.K_new_new() if classifier.new_points == "joint" else None
    predicted = classifier.predict(split.K_new, among)
    return {
        "accuracy": float(np.mean(predicted == split.labels)),
        "objective": result.objective,
        "claim": certificate.claim.name,
        "gap_kind": certificate.gap_kind,
        "gap": float(certificate.measure),
        "support": int(classifier.support.size),
        "seconds": result.seconds,
        "status": str(result.status),
    }


def _summary(formulation: str, solver: str, rows: list[Row]) -> Row:
    good = [row for row in rows if not row["error"]]
    kinds = {row["gap_kind"] for row in good}
    # If only some folds are convex, only the weaker measure describes all of them.
    kind = "KKT residual" if "KKT residual" in kinds else next(iter(kinds), "")
    accuracies = [row["accuracy"] for row in good]
    claims = [Claim[row["claim"]] for row in good if row["claim"] != "-"]
    return {
        "formulation": formulation,
        "solver": solver,
        "accuracy": _mean(accuracies),
        "spread": float(np.std(accuracies)) if accuracies else float("nan"),
        "objective": _mean([row["objective"] for row in good]),
        "claim": min(claims).name if claims else "-",
        "gap_kind": kind,
        "gap": max((row["gap"] for row in good if row["gap_kind"] == kind), default=float("nan")),
        "support": _mean([row["support"] for row in good]),
        "seconds": _mean([row["seconds"] for row in good]),
        "failed": len(rows) - len(good),
        "cells": len(rows),
    }


def _mean(numbers: list[float]) -> float:
    return float(np.mean(numbers)) if numbers else float("nan")
