"""Options that several commands share, and the data, kernels and code that they name."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from typer import Argument, Option
from typer.models import ArgumentInfo

import indefinite_opt as iopt
from indefinite_opt.command_line.terminal import in_options
from indefinite_opt.errors import DataError, ParameterError
from indefinite_opt.foundation import MAX_BYTES, checks, parse_call

if TYPE_CHECKING:
    from indefinite_opt.modeling import Formulation

FORMULATION = Argument(help="'SVMDual(C=10)', or one of your own, 'mine.py:MyDual(C=10)'.")
DATA_DIR = Option(None, help="Folder of the named data sets.", envvar="INDEFINITE_OPT_DATA")
MAX_SIZE = Option(MAX_BYTES, help="Maximum size of a file to read, in unpacked bytes.")
TOL = Option(1e-6, help="Relative tolerance of solvers and certificates.")
ATOL = Option(0.0, help="Absolute gap, in units of the objective, that counts as closed, too.")
SEED = Option(0, help="Seed of the random starts, and of folds.")
SOLVER = Option(None, help="Solver to use; by default one that suits the program.")
OUTPUT = Option(None, help="Write the values of the best point to this .npz or .csv file.")
CLUSTER = Option(None, help="Address of a Dask scheduler whose workers share the work.")
JSON = Option(False, "--json", help="Print JSON instead of text.")


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the fields of its dataclasses as arguments and, after its own, as options."""
    groups: dict[str, Any] = {}
    own, shared = list[inspect.Parameter](), list[inspect.Parameter]()
    for name, one in inspect.signature(command, eval_str=True).parameters.items():
        if not dataclasses.is_dataclass(one.annotation):
            own.append(one)
            continue
        fields = inspect.signature(one.annotation, eval_str=True).parameters  # type: ignore[arg-type]
        groups[name] = one.annotation, list(fields)
        for field in fields.values():
            (own if isinstance(field.default, ArgumentInfo) else shared).append(field)

    @functools.wraps(command)
    def called(**given: Any) -> None:
        for name, (group, names) in groups.items():
            given[name] = group(**{one: given.pop(one) for one in names})
        command(**given)

    every = [one.replace(kind=one.KEYWORD_ONLY) for one in own + shared]
    called.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in every}
    return called


@dataclass(frozen=True)
class SolveOptions:
    """The options of `iopt.solve` that `iopt.compare` has as well."""

    tol: float = TOL
    time_limit: float | None = Option(None, help="Seconds for each solve with its certificate.")
    seed: int = SEED
    prove: float | None = Option(
        None, help="Seconds of branch and bound that follow, to prove nonconvex solutions."
    )


@dataclass(frozen=True)
class DataOptions:
    """The argument and the options that name the data and their kernel."""

    data: str = Argument(
        help="A data set (see `list data`), a .npz file with points X, similarities K or distances "
        "D and labels y, if any, or a .csv file."
    )
    kind: str | None = Option(None, help="points (default), similarities or distances in a .csv.")
    label: str | None = Option(
        None,
        help="Column of labels or targets; by default 'label', or the last one; 'none' for "
        "features only.",
    )
    labels: Path | None = Option(None, help="File of labels for a matrix, one in each line.")
    task: str | None = Option(
        None,
        help="What labels are for: classification, regression or one-class. By default numbers "
        "that are not whole are targets, and no labels are one class.",
    )
    missing: str | None = Option(None, help="Empty cells: drop (default), impute or refuse.")
    ignore: str | None = Option(None, help="Columns to leave out, separated by commas.")
    positive: str | None = Option(None, help="Label that becomes +1; by default the larger one.")
    data_dir: Path | None = DATA_DIR
    max_bytes: int = MAX_SIZE
    kernel: str | None = Option(
        None, help="Kernel of points: 'sigmoid(a=0.1, r=-1)'; by default that of the data, or rbf."
    )
    gamma: float | None = Option(
        None, help="Parameter of the kernel, or of --form gaussian or exponential."
    )
    a: float | None = Option(None, "--a", help="Parameter of the sigmoid kernel.")
    r: float | None = Option(None, "--r", help="Parameter of the sigmoid or polynomial kernel.")
    degree: int | None = Option(None, help="Parameter of the polynomial kernel.")
    scaling: str | None = Option(
        None, help="Scaling of the features: minmax, unit, standard, each also with -all, or none."
    )
    cache_mb: float | None = Option(None, help="Keep rows of the kernel in so many megabytes only.")
    form: str | None = Option(
        None,
        help="Kernel of distances: gaussian exp(-gamma d²), the default, "
        "exponential exp(-gamma d), linear -d²/2, raw d.",
    )
    symmetrize: bool = Option(False, "--symmetrize", help="Average K or D with its transpose.")
    asymmetric: bool = Option(False, "--asymmetric", help="Take an asymmetric K as it is.")

    def problem(self) -> iopt.KernelProblem:
        """The problem that the data and their kernel make; no option is ignored."""
        from indefinite_opt.problem import kernels

        dataset = self._read()
        kind, uses = "points", "kernel gamma a r degree scaling cache_mb"
        if dataset.K is not None:
            kind, uses = "similarities", "symmetrize asymmetric"
        elif dataset.D is not None:
            kind, uses = "distances", "form symmetrize"
            uses += " gamma" if self.form in (None, *kernels.FORMS_WITH_GAMMA) else ""
        given = self._given("kernel gamma a r degree scaling cache_mb form symmetrize asymmetric")
        for name, value in given.items():
            if name not in uses.split():
                raise ParameterError(name, f"none for data given as {kind}", f"{value}")
            if name in self._written:
                raise ParameterError(name, "one value", f"{value}, beside --kernel {self.kernel!r}")
        task = self.task and self.task.replace("-", " ")
        return iopt.KernelProblem.from_dataset(dataset, task=task, **given)

    def program(self, sense: str | None) -> iopt.QuadraticProgram:
        """The quadratic program that is named instead of data; no option is ignored."""
        names = [one.name for one in dataclasses.fields(self)]
        names = [name for name in names if name not in ("data", "data_dir", "max_bytes")]
        for name, value in self._given(" ".join(names)).items():
            raise ParameterError(name, "none for a quadratic program", f"{value}")
        return iopt.QuadraticProgram.read(self.data, self.max_bytes, sense)

    @property
    def has_own_gamma(self) -> bool:
        """Whether the options give the parameter γ of the kernel."""
        return self.gamma is not None or "gamma" in self._written

    @property
    def _written(self) -> dict[str, Any]:
        """The parameters that are written with the kernel."""
        return parse_call(self.kernel or "rbf", "kernel")[1]

    def _given(self, names: str) -> dict[str, Any]:
        """Those of these options that were given, by name."""
        values = {name: getattr(self, name) for name in names.split()}
        return {name: v for name, v in values.items() if v is not None and v is not False}

    def _read(self) -> iopt.datasets.Dataset:
        path, given = Path(self.data), self._given("kind label labels missing ignore")
        if "ignore" in given:
            given["ignore"] = [name.strip() for name in given["ignore"].split(",")]
        if path.suffix in (".npz", ".csv", ".gz"):
            dataset = iopt.datasets.read(path, **given, max_bytes=self.max_bytes)
        elif path.suffix and path.is_file():
            raise DataError("data", "the name of a data set or of a .npz or .csv file", self.data)
        else:
            load = functools.partial(iopt.datasets.load, self.data, self.data_dir)
            dataset = load(max_bytes=self.max_bytes)
            if dataset.table is not None and "missing" in given:
                dataset = load(max_bytes=self.max_bytes, missing=given.pop("missing"))
            for name, value in given.items():
                raise ParameterError(name, f"none for the data set {dataset.name}", str(value))
        if self.positive is not None and self.task == "regression":
            raise ParameterError("positive", "none for targets", self.positive)
        return dataset if self.positive is None else _with_positive(dataset, self.positive)


def _with_positive(dataset: iopt.datasets.Dataset, positive: str) -> iopt.datasets.Dataset:
    """The data set with labels -1 and 1, where 1 stands for the class of this name."""
    from indefinite_opt.problem import as_text

    y, names = dataset.y, list(dataset.classes)
    if y is None or len(names) != 2:
        raise ParameterError("positive", "none for data without two classes", positive)
    labels = np.unique(y).tolist()
    names = [as_text(label) for label in labels] if names == ["-1", "+1"] else names
    checks.choice("positive", positive, names)
    k = names.index(positive)
    classes = names[1 - k], names[k]
    return dataclasses.replace(dataset, y=np.where(y == labels[k], 1, -1), classes=classes)


def facts(problem: iopt.KernelProblem) -> dict[str, Any]:
    """What was made of the data, for every output."""
    names = problem.class_names
    negative, positive = names if len(names) == 2 else (None, None)
    # The spectrum is computed only for this if that takes at most 0.3 s on one core.
    small = problem.n <= 1000 and problem.curvature_known
    return {
        "problem": problem.name, "n": problem.n,
        "kernel": problem.origin, "scaling": problem.scaling or "none",
        "task": problem.task, "labels": problem.labels_in_words,
        "positive": positive, "negative": negative,
        "negative_share": problem.negative_share if small else None,
        "table": str(problem.table) if problem.table and problem.table.rows else None,
        "notes": [in_options(remark) for remark in problem.remarks],
    }  # fmt: skip


def facts_line(problem: iopt.KernelProblem) -> str:
    """What `facts` says, in one line, with more about tables and odd kernels."""
    told = facts(problem)
    share = told["negative_share"]
    negative = "not computed" if share is None else f"{100 * share:.3g} % of the spectrum"
    if share is not None and problem.counted_as_zero:
        negative += f" ({problem.counted_as_zero})"
    table = f"table of {told['table']}\n  " if told["table"] else ""
    labels = told["labels"] if problem.labels is not None else "no labels"
    if told["positive"] is not None:
        labels = f"+1 = {told['positive']}, -1 = {told['negative']}"
    return (
        f"{table}kernel {told['kernel']}, scaling {told['scaling']}, {labels}; "
        f"negative part: {negative}" + "".join(f"\n  note: {note}\n " for note in told["notes"])
    )


def chosen_formulation(title: str) -> Formulation:
    """The formulation of a title; `ParameterError` for a baseline, which only `compare` runs."""
    from indefinite_opt.studies import as_method
    from indefinite_opt.studies.baselines import Baseline

    method = as_method(title)
    if isinstance(method, Baseline):
        got = f"the baseline {type(method).__name__}"
        raise ParameterError("formulation", "a formulation", got, "`compare` runs baselines.")
    return method
