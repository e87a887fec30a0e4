"""Formulations solved in sequence: a path, which is a sequence, a table and a figure."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from indefinite_opt.errors import IndefiniteOptError, ProblemError
from indefinite_opt.foundation import cached_property, finite_array, label_vector
from indefinite_opt.modeling import Formulation, PairProblem, name_pair, of_each_pair, of_points
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import Declaration, DenseGram, Session, Solver, at_most
from indefinite_opt.workflow.arguments import as_problem, in_pairs
from indefinite_opt.workflow.fit import misfit, training_fit
from indefinite_opt.workflow.pairwise import PairwiseResult, proof_of
from indefinite_opt.workflow.result import Result, kernel_values
from indefinite_opt.workflow.solving import Options, solve_with
from indefinite_opt.workflow.tables import aligned, html_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Entry = Result | PairwiseResult | IndefiniteOptError

_SCALARS = (bool, int, float, str, np.generic, type(None))
"""Types of parameters that stand in tables as they are, as arrays do not."""


def solve_path(
    problem: KernelProblem,
    formulations: Iterable[Formulation | str],
    solver: str | Solver[Any] | None = None,
    tol: float = 1e-6,
    time_limit: float | None = None,
    max_iter: int | None = None,
    seed: int | None = None,
    verbose: bool = False,
    prove: float | None = None,
) -> Path:
    """Solve formulations that differ in C, μ, β, ρ or r in sequence, and reuse what they share.

    With more than two classes each pair is solved in sequence, one against one, as in `solve`.

    `highs` keeps its matrix and basis, `osqp` its factorised model, and `newton` its second
    derivatives as long as they are useful (vary C in the inner loop of a grid). The other solvers
    start from the previous solution. `smo` first moves the weights at the bound along with the
    bound, and the free weights accordingly; it is the solver for long paths of quadratic programs
    if a local optimum is enough. Parameters and default solvers are those of `solve`. `time_limit`
    holds for each formulation separately, its certificate included, and so does `prove`.

    Returns
    -------
    Path
        A sequence with a `Result` for each formulation, in their order. Where `solve` would raise
        one of the errors of `indefinite_opt.errors`, such as `InfeasibleProblem`, that error is the
        entry, and the path goes on. If every formulation fails, the first error is raised. With
        more than two classes the entries are `PairwiseResult`, or the first error of a pair. The
        path prints itself as a table, `table` and `frame` hold its numbers, and `plot` draws them.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, 0.0], [0.0, 1.0]], [1, -1])
    >>> path = solve_path(problem, [iopt.SVMDual(C=C) for C in (0.25, 0.5, 4.0)])
    >>> [result.objective for result in path]
    [0.4375, 0.75, 1.0]
    >>> print(path.frame[["C", "objective", "support", "claim"]].to_string(index=False))
       C  objective  support  claim
    0.25     0.4375        2 GLOBAL
    0.50     0.7500        2 GLOBAL
    4.00     1.0000        2 GLOBAL

    The hulls of two points need weights of 1:

    >>> path = solve_path(problem, [iopt.ConvexHullDual(mu=mu) for mu in (0.5, 1.0)])
    >>> [type(entry).__name__ for entry in path]
    ['InfeasibleProblem', 'Result']
    >>> [(row["mu"], row["claim"], row["error"][:17]) for row in path.table]
    [(0.5, None, 'InfeasibleProblem'), (1.0, 'GLOBAL', '')]
    """
    options = Options(tol, time_limit, max_iter, None, seed, None, verbose, prove)
    chosen = [as_problem(problem, item)[1] for item in formulations]
    entries = list(path_entries(problem, chosen, solver, options))
    failed = [entry for entry in entries if isinstance(entry, IndefiniteOptError)]
    if failed and len(failed) == len(entries):
        raise failed[0]
    return Path(problem, tuple(chosen), tuple(entries))


def path_entries(
    problem: KernelProblem,
    formulations: Sequence[Any],
    solver: str | Solver[Any] | None,
    options: Options,
) -> Iterator[Entry]:
    """The entries of `solve_path`, all of which may be errors.

    Each entry comes as soon as it is solved; with several classes all entries come at the end.
    """
    several = [in_pairs(problem, each) for each in formulations]
    if any(several):
        # Those of another task, such as one class, are of all points.
        of_pairs, others = (
            [each for each, own in zip(formulations, several, strict=True) if own is kind]
            for kind in (True, False)
        )
        found = {
            True: iter(_path_of_pairs(problem, of_pairs, solver, options)),
            False: path_entries(problem, others, solver, options),
        }
        yield from (next(found[kind]) for kind in several)
        return
    session: Session[Any] | None = None
    before: Declaration | None = None
    for formulation in formulations:
        if type(before) is not type(formulation):
            session = None
        before = formulation
        try:
            result, session = solve_with(problem, formulation, solver, session, options)
        except IndefiniteOptError as error:
            # The next one starts anew, as a solver may fail with its session half changed.
            session = None
            yield error
        else:
            yield result


def _path_of_pairs(
    problem: KernelProblem, formulations: Sequence[Any], solver: Any, options: Options
) -> list[Entry]:
    """The paths of all pairs of classes, each with an equal part of the time limit."""
    share = options.shared(problem)

    def path_of(pair: PairProblem) -> list[Any]:
        own = [of_points(each, pair.points, problem.n) for each in formulations]
        return list(path_entries(pair.problem, own, solver, share))

    paths = of_each_pair(problem, path_of)
    entries: list[Entry] = []
    for formulation, *found in zip(formulations, *paths.values(), strict=True):
        members = dict(zip(paths, found, strict=True))
        failed = [pair for pair, one in members.items() if isinstance(one, IndefiniteOptError)]
        if failed:
            name_pair(members[failed[0]], failed[0])
            entries.append(members[failed[0]])
            continue
        seconds = sum(one.seconds for one in found)
        entries.append(PairwiseResult(problem, formulation, members, seconds))
    return entries


@dataclass(frozen=True, eq=False, repr=False)
class Path(Sequence[Any]):
    """What `solve_path` has found: a sequence of results and errors; `print` it.

    Certificates are computed when the table is first read, printed or drawn.

    Attributes
    ----------
    problem : KernelProblem
    formulations : tuple of Formulation
    entries : tuple of Result, PairwiseResult and IndefiniteOptError
        One entry per formulation, which `path[k]` gives as well; an error if it has failed.

    Examples
    --------
    With K = I the weights of two points are min(C, 1), and the objective is 2C - C² up to C = 1:

    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, 0.0], [0.0, 1.0]], [1, -1])
    >>> path = iopt.solve_path(problem, [iopt.SVMDual(C=C) for C in (0.25, 0.5, 4.0)])
    >>> len(path), path[0].objective, path.varied
    (3, 0.4375, ('C',))
    >>> print(path.frame[["C", "objective", "support", "claim"]].to_string(index=False))
       C  objective  support  claim
    0.25     0.4375        2 GLOBAL
    0.50     0.7500        2 GLOBAL
    4.00     1.0000        2 GLOBAL
    """

    problem: KernelProblem
    formulations: tuple[Any, ...]
    entries: tuple[Entry, ...]

    def __setstate__(self, state: dict[str, Any]) -> None:
        # The pickle of a path has the matrix once, and those of its results do not.
        own: KernelProblem = state["problem"]
        found = state["entries"]
        if isinstance(own.gram, DenseGram) and own.matrix_was_given:
            found = tuple(
                each if isinstance(each, IndefiniteOptError) else each.with_problem(own)
                for each in found
            )
        self.__dict__.update(state | {"entries": found})

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, index: Any) -> Any:
        """An entry, or a list of entries for a slice."""
        found = self.entries[index]
        return list(found) if isinstance(found, tuple) else found

    @cached_property
    def varied(self) -> tuple[str, ...]:
        """Names of the parameters that differ; none if the formulations are of several classes."""
        if len({type(each) for each in self.formulations}) != 1:
            return ()
        told = [each.parameters() for each in self.formulations]
        names = [field.name for field in dataclasses.fields(self.formulations[0])]
        return tuple(name for name in names if len({each.get(name) for each in told}) > 1)

    @property
    def titles(self) -> list[str]:
        """The values of the parameters that differ, or whole formulations, as texts."""
        return [
            ", ".join(f"{v:.6g}" if isinstance(v, float) else str(v) for v in known.values())
            for known in map(self._parameters, self.formulations)
        ]

    @cached_property
    def table(self) -> list[dict[str, Any]]:
        """One row per entry, all with the same columns; None where an entry has no such number.

        The columns are the parameters that differ (or "formulation"), "objective" (not for pairs of
        classes), "support" (the number of support vectors), "training_error" (the share of
        misclassified points; "training_rmse" for regression, "training_outliers" for one class),
        "claim", "gap_kind", "gap" and "proved_within" of the certificate (with pairs of classes the
        weakest and the largest of all pairs), "seconds", and "error", which is empty unless the
        formulation has failed. Models without `coef` have no support and no training error.
        """
        found = [_measured(entry) for entry in self.entries]
        names = dict.fromkeys(name for each in found for name in each if name != "error")
        return [
            self._parameters(formulation) | {name: each.get(name) for name in (*names, "error")}
            for formulation, each in zip(self.formulations, found, strict=True)
        ]

    @property
    def frame(self) -> pd.DataFrame:
        """The table as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.table)

    def test_error(self, X: Any, y: Any = None) -> list[float]:
        """The error of each entry on new points; NaN where the formulation has failed.

        It is the share of misclassified points, for regression the root mean squared error, and
        for one class, which needs no labels, the share of points that are called outliers.

        Parameters
        ----------
        X : (m, d) array_like or DataFrame
            As in `Result.predict`.
        y : (m,) array_like
            Labels or targets.

        Raises
        ------
        ProblemError
            If X or y has another shape.
        """
        return [
            np.nan if isinstance(entry, IndefiniteOptError) else _test_error(entry, X, y)
            for entry in self.entries
        ]

    def plot(self, test: tuple[Any, Any] | None = None) -> Figure:
        """Draw objective, support vectors and fit over the parameter that varies.

        With `test`, a pair (X_new, y_new), also the fit of these points; see `test_error` and
        `figures.path_figure`.
        """
        from indefinite_opt.figures import path_figure

        return path_figure(self, test)

    def _parameters(self, formulation: Any) -> dict[str, Any]:
        """The values of what differs, of arrays their digests; else the whole formulation."""
        if not self.varied:
            return {"formulation": str(formulation)}
        known = {name: getattr(formulation, name) for name in self.varied}
        return {
            name: value if isinstance(value, _SCALARS) else formulation.parameters()[name]
            for name, value in known.items()
        }

    @property
    def _title(self) -> str:
        kinds = dict.fromkeys(type(each).__name__ for each in self.formulations)
        over = f" over {', '.join(self.varied)}" if self.varied else ""
        return f"{', '.join(kinds)}{over} on {self.problem.name} (n = {self.problem.n})".lstrip()

    @property
    def _summary(self) -> str:
        solved = [each for each in self.entries if not isinstance(each, IndefiniteOptError)]
        failed = len(self) - len(solved)
        words = f"{len(self)} formulation{'s' * (len(self) != 1)}"
        words += f", {failed} failed" if failed else ""
        return f"{words}, {sum(each.seconds for each in solved):.3g} s"

    def __repr__(self) -> str:
        return f"Path({self._title}: {self._summary})"

    @property
    def _rows(self) -> list[dict[str, str]]:
        """The cells of the printed table."""
        head = ", ".join(self.varied) or "formulation"
        told = zip(self.titles, self.table, strict=True)
        return [{head: title, **_texts(row)} for title, row in told]

    @property
    def _failures(self) -> list[str]:
        told = zip(self.formulations, self.table, strict=True)
        return [f"{formulation}: {row['error']}" for formulation, row in told if row["error"]]

    def __str__(self) -> str:
        return aligned(f"{self._title}: {self._summary}", self._rows, self._failures)

    def _repr_html_(self) -> str:
        return html_table(f"{self._title}: {self._summary}", self._rows, self._failures)


def _measured(entry: Entry) -> dict[str, Any]:
    """The numbers of an entry by the names of their columns."""
    if isinstance(entry, IndefiniteOptError):
        return {"error": f"{type(entry).__name__}: {entry}"}
    told: dict[str, Any] = {"objective": entry.objective} if isinstance(entry, Result) else {}
    if entry.has_classifier:
        told |= {"support": int(entry.classifier.support.size), **dict([training_fit(entry)])}
    return told | {**proof_of(entry), "seconds": entry.seconds, "error": ""}


def _test_error(entry: Any, X: Any, y: Any) -> float:
    """The `misfit` of new points, whose labels are checked."""
    classifier, task = entry.classifier, entry.formulation.task
    predicted = classifier.predict(*kernel_values(entry.problem, classifier, X))
    if task == "one class":
        return misfit(task, predicted, None)
    if task == "regression":
        return misfit(task, predicted, finite_array("y", y, predicted.shape))
    labels = label_vector("y", y)
    if labels.shape != predicted.shape:
        expected = f"{predicted.size} labels, one for each row of X"
        raise ProblemError("y", expected, f"{labels.size} labels")
    return misfit(task, predicted, labels)


def _percent(share: float) -> str:
    return f"{100.0 * share:.1f} %"


_FORMS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "objective": ("objective", "{:.6g}".format),
    "support": ("SVs", str),
    "training_error": ("training error", _percent),
    "training_rmse": ("RMSE", "{:.4g}".format),
    "training_outliers": ("outliers", _percent),
    "claim": ("claim", str),
    "proved_within": ("within", lambda share: at_most(share) if np.isfinite(share) else "–"),
    "seconds": ("seconds", "{:.3g}".format),
}
"""The heads of the columns that are printed, and how their numbers are written."""


def _texts(row: dict[str, Any]) -> dict[str, str]:
    """The cells of a row behind its title."""
    cells = {
        head: "–" if row[name] is None else written(row[name])
        for name, (head, written) in _FORMS.items()
        if name in row
    }
    return cells | {"claim": "FAILED"} if row["error"] else cells
