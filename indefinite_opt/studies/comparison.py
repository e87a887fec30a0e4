"""Formulations and baselines side by side on one problem: a study of one data set."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from indefinite_opt.errors import ParameterError, ProblemError, UnknownName, shown
from indefinite_opt.figures import scores_of, with_solver
from indefinite_opt.foundation import (
    TASKS,
    checks,
    finite_array,
    label_vector,
    parse_call,
    real_array,
    split_source,
)
from indefinite_opt.modeling import check_classes
from indefinite_opt.problem import KernelProblem, check_problem
from indefinite_opt.studies.data import Data, HeldOut
from indefinite_opt.studies.methods import (
    KERNELS,
    NO_SOLVER,
    Grid,
    Method,
    as_grid,
    default_methods,
    may_solve,
)
from indefinite_opt.studies.metrics import COMPARED
from indefinite_opt.studies.progress import Progress
from indefinite_opt.studies.protocols import (
    FixedTestSet,
    Nested,
    Protocol,
    RepeatedKFold,
    as_protocol,
    unstratified,
)
from indefinite_opt.studies.study import Study, StudyOutcome

RELATIVE_EPSILON = "relative_epsilon"
"""Name in grids of ε in units of the standard deviation of the targets."""

Test = tuple[ArrayLike, ArrayLike | None] | tuple[ArrayLike, ArrayLike | None, ArrayLike]


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
) -> StudyOutcome:
    """Run formulations × solvers × folds, and collect what each cell achieved and proved.

    It is a `studies.Study` of one data set, whose metrics are the scores of the task and what is
    proved.

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
        by default with its default solver. One whose kind of program only a solve can tell is run
        with all. Baselines have no solver.
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
        distances, and "relative_gamma" multiples of its own γ; "form" may have forms of distances
        beside them, see `Grid`. "relative_epsilon" has multiples of the standard deviation of the
        targets, which are values of ε. Without a protocol the values are chosen in each fold by
        three folds of its training points (`Nested`), and then tested once.
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

    Returns
    -------
    StudyOutcome
        Prints itself as a table with conclusions, the best method first; `summary` and `frame` have
        its numbers for pandas, `plot` draws them, and `to_html` writes a report.

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

    A formulation whose model has no `coef` has no classifier: its row has no score and no support
    vectors, but objective, claim and time.

    A cell that fails reports its error in its row and does not stop the others, whatever error the
    code of a user ends with; a method that no solver takes has such rows, too. The printed table
    tells the reasons. `seconds` is the time of the solve; solvers are loaded and compiled before,
    on tiny problems.

    Examples
    --------
    >>> import numpy as np, indefinite_opt as iopt
    >>> X = np.random.default_rng(0).normal(size=(40, 2)) + np.repeat([[-2.0], [2.0]], 20, axis=0)
    >>> problem = iopt.KernelProblem.from_data(X, np.repeat([0, 1], 20), "gaussian")
    >>> comparison = compare(problem, ["SVMDual", "UniformWeights"], folds=2)
    >>> comparison.summary[["method", "accuracy", "claim"]].values.tolist()
    [['SVMDual', 1.0, 'GLOBAL'], ['UniformWeights', 1.0, 'GLOBAL']]
    >>> chosen = compare(problem, ["SVMDual", "KNN"], folds=2, grid={"C": [0.1, 10], "k": [1, 3]})
    >>> chosen.summary["chosen"].tolist()
    ['C=10 (2)', 'k=1 (2)']
    """
    check_problem(problem)
    problem = _of_task(problem, task)
    scores = scores_of(problem)
    grids = _grids(formulations, solvers, _in_units(grid, problem), problem.task)
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
    names = [score.name for score in scores]
    repeated = Counter(title for title, _ in grids)
    methods = {
        title if repeated[title] == 1 else with_solver(title, each.solver): each
        for title, each in grids
    }
    study = Study(
        {problem.name: Data(problem, test=held_out)}, methods, chosen, [*names, *COMPARED],
        names[0], seed=seed, tol=tol, time_limit=time_limit, prove=prove,
    )  # fmt: skip
    outcome = study.run(record, n_jobs, cluster=cluster, resume=resume, progress=progress)
    if grid:
        over = [f"{name} in {', '.join(map(str, values))}" for name, values in grid.items()]
        if RELATIVE_EPSILON in grid:
            over.append(f"standard deviation of the targets: {_spread(problem):.6g}")
        outcome.settings["grid"] = "; ".join(over)
    outcome.settings["methods"] = ", ".join(dict.fromkeys(title for title, _ in grids))
    return outcome


def _in_units(grid: Any, problem: KernelProblem) -> Any:
    """The values of a grid, with ε in the units of the targets."""
    if not isinstance(grid, Mapping) or RELATIVE_EPSILON not in grid:
        return {} if grid is None else grid
    if problem.task != "regression":
        raise ParameterError("grid", f"no {RELATIVE_EPSILON} without targets", RELATIVE_EPSILON)
    if "epsilon" in grid:
        raise ParameterError("grid", f"epsilon or {RELATIVE_EPSILON}", "both")
    others = {name: values for name, values in grid.items() if name != RELATIVE_EPSILON}
    shares = finite_array("grid", np.atleast_1d(grid[RELATIVE_EPSILON]), (None,))
    return others | {"epsilon": [float(f"{each:.3g}") for each in shares * _spread(problem)]}


def _spread(problem: KernelProblem) -> float:
    """The standard deviation of the targets, or 1 if all are the same."""
    return float(np.std(problem.targets)) or 1.0


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
        hint = "`task` reads the labels for another task."
        if grid.method.task == "clusters":
            hint = "Clusters have no score on test points: `solve` finds and proves them."
        raise ParameterError(
            "formulations", f"methods of {task}: {', '.join(fitting)}",
            f"{grid.method}, which is for {grid.method.task}", hint,
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
            names = [name for name in dict.fromkeys(solvers) if may_solve(name, grid.method)]  # type: ignore[arg-type]
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
        return set(parse_call(split_source(item)[1])[1])
    if isinstance(item, Grid):
        return {*item.parameters, *(() if item.kernels == (None,) else KERNELS)}
    usual = {each.name: each.default for each in dataclasses.fields(item)}  # type: ignore[arg-type]
    return {name for name in names if name in usual and getattr(item, name) != usual[name]}


def _checked_test(problem: KernelProblem, test: Test) -> HeldOut:
    """K_new, y_new and K_new_new as arrays; the last one is empty if it is not given."""
    if not isinstance(test, tuple | list) or len(test) not in (2, 3):
        size = f" of {len(test)}" if isinstance(test, tuple | list) else ""
        got = f"{type(test).__name__}{size}"
        raise ProblemError("test", "(K_new, y_new) or (K_new, y_new, K_new_new)", got)
    expected = f"K_new of shape (m, {problem.n}) and m labels"
    if problem.asymmetric:
        K_new = problem.of_training_points("test[0]", test[0])
    else:
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
