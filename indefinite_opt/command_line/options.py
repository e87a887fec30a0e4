"""Options that several commands share, and the files and the code of one's own that they name."""

from __future__ import annotations

import csv
import functools
import importlib
import inspect
import math
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal

import numpy as np
from typer import Argument, Option

import indefinite_opt as iopt
from indefinite_opt.command_line.terminal import with_options
from indefinite_opt.errors import DataError, ParameterError, UnknownName
from indefinite_opt.foundation import (
    MAX_BYTES,
    Values,
    cached_property,
    instantiate,
    parse_call,
    read_arrays,
    read_bytes,
    read_json,
    writing,
)
from indefinite_opt.modeling import Formulation
from indefinite_opt.problem import as_text, read_frame
from indefinite_opt.studies import as_method
from indefinite_opt.studies.baselines import Baseline


def named_or_own(text: str) -> Any:
    """The title as it is, or an object of the class that `FILE.py:Class(C=1)` names.

    In place of a file there may be a module, `package.module:Class`. Nothing but the command line
    reads such titles, as they run code: a saved result never does.
    """
    source, colon, _ = text.partition("(")[0].rpartition(":")  # C:\\mine.py:MyDual has two
    if not colon:
        return text
    title = text.removeprefix(source + colon)
    module = _module(source)
    own = {
        name: cls
        for name, cls in inspect.getmembers(module, inspect.isclass)
        if issubclass(cls, Formulation | Baseline) and not inspect.isabstract(cls)
    }
    if not own:
        raise DataError(
            "formulation", "a file with a class of Formulation or Baseline", f"none in {source}"
        )
    return instantiate("formulation", own, title)


def _module(source: str) -> ModuleType:
    """The module, found by its own name, so that other processes find it too."""
    path = Path(source)
    if path.suffix != ".py":
        return _imported(source, source, Path.cwd())
    if not path.is_file():
        raise DataError("formulation", "a file of Python", f"{source}: there is none")
    name = path.stem
    module = _imported(name, source, path.resolve().parent)
    if Path(str(module.__file__)).resolve() != path.resolve():
        raise DataError(
            "formulation", "a file whose name is not that of another module",
            f"{source}, while {name} is {module.__file__}",
        )  # fmt: skip
    return module


def _imported(name: str, source: str, folder: Path) -> ModuleType:
    """The module of that name; the folder comes last, so that no file there hides a library."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    try:
        return importlib.import_module(name)
    except Exception as error:
        told = f"{source}: {type(error).__name__}: {error}"
        raise DataError("formulation", "code that Python imports", told) from error


FILE_SUFFIXES = (".npz", ".csv", ".gz")

VALUE_COLUMNS = ("variable", "index", "value")
"""Columns of a table of values: one row for each entry of each variable."""

DataDir = Annotated[
    Path | None, Option(help="Folder of the named data sets.", envvar="INDEFINITE_OPT_DATA")
]
FormulationTitle = Annotated[
    str,
    Argument(
        help="A formulation, with or without parameters: 'SVMDual(C=10)'; or one of your own, "
        "'mine.py:MyDual(C=10)'."
    ),
]
MaxBytes = Annotated[int, Option(help="Maximum size of a file to read, in unpacked bytes.")]
Tolerance = Annotated[float, Option(help="Relative tolerance of solvers and certificates.")]
TimeLimit = Annotated[
    float | None, Option(help="Seconds allowed for each solve and its certificate together.")
]
Json = Annotated[bool, Option("--json", help="Print JSON instead of text.")]
Seed = Annotated[int, Option(help="Seed of the random starts.")]
BestPoint = Annotated[Path | None, Option(help="Write the best point to this .npz or .csv file.")]
Cluster = Annotated[
    str | None, Option(help="Address of a Dask scheduler whose workers share the work.")
]


USES = {
    "points": {"kernel", "gamma", "a", "r", "degree", "scaling", "cache_mb"},
    "similarities": {"symmetrize"},
    "distances": {"form", "gamma", "symmetrize"},
}
"""The options about kernels that each kind of data has a use for."""


@dataclass(frozen=True)
class DataOptions:
    """The argument and the options that name the data and their kernel."""

    data: Annotated[
        str,
        Argument(
            help="A data set (see `list data`), a .npz file with labels y and points X, "
            "similarities K or distances D, or a .csv file."
        ),
    ]
    kind: Annotated[
        Literal["points", "similarities", "distances"] | None,
        Option(help="What a .csv file holds.", show_default="points"),
    ] = None
    kernel: Annotated[
        str | None,
        Option(
            help="Kernel to compute from points: 'sigmoid(a=0.1, r=-1)'.",
            show_default="rbf, or that of a named data set",
        ),
    ] = None
    gamma: Annotated[
        float | None,
        Option(help="Parameter gamma of the kernel, or of the Gaussian form of distances."),
    ] = None
    a: Annotated[float | None, Option("--a", help="Parameter a of the sigmoid kernel.")] = None
    r: Annotated[
        float | None, Option("--r", help="Parameter r of the sigmoid or polynomial kernel.")
    ] = None
    degree: Annotated[int | None, Option(help="Degree of the polynomial kernel.")] = None
    scaling: Annotated[
        Literal["minmax", "unit", "standard", "minmax-all", "unit-all", "standard-all", "none"]
        | None,
        Option(help="Scaling of the features.", show_default="minmax, or that of a named data set"),
    ] = None
    form: Annotated[
        Literal["gaussian", "linear", "raw"] | None,
        Option(
            help="Kernel to compute from distances d: exp(-gamma d²), -d²/2, or d itself.",
            show_default="gaussian",
        ),
    ] = None
    label: Annotated[
        str | None,
        Option(help="Column of labels in a .csv file; without it 'label', or the last column."),
    ] = None
    labels: Annotated[
        Path | None, Option(help="File of labels for a matrix, one in each line.")
    ] = None
    missing: Annotated[
        Literal["drop", "impute", "refuse"] | None,
        Option(help="What to do about empty cells of a table.", show_default="drop"),
    ] = None
    ignore: Annotated[
        str | None, Option(help="Columns of a table to leave out, separated by commas.")
    ] = None
    positive: Annotated[
        str | None,
        Option(help="Label that becomes +1; without it the larger one in sorting order."),
    ] = None
    symmetrize: Annotated[
        bool, Option("--symmetrize", help="Replace K or D by the mean of itself and its transpose.")
    ] = False
    cache_mb: Annotated[
        float | None,
        Option(help="Never form the kernel matrix of points, but keep rows in so many megabytes."),
    ] = None
    data_dir: DataDir = None
    max_bytes: MaxBytes = MAX_BYTES

    @cached_property
    def dataset(self) -> iopt.datasets.Dataset:
        """The data set, with labels -1 and 1 where the option `positive` names one of them."""
        dataset = self._read()
        if self.positive is None:
            return dataset
        names = np.unique(dataset.y).tolist()
        meanings = dict(zip(map(as_text, names), names, strict=True))
        if meanings.keys() == {"-1", "1"}:
            meanings |= dict(zip(dataset.classes, names, strict=True))
        if len(names) != 2 or self.positive not in meanings:
            raise UnknownName("positive", self.positive, meanings)
        wanted = meanings[self.positive]
        other = next(name for name in names if name != wanted)
        told = dict(zip(names, dataset.classes, strict=True))
        classes = (as_text(other), as_text(wanted))
        if set(dataset.classes) != {"-1", "+1"}:
            classes = (told[other], told[wanted])
        return replace(dataset, y=np.where(dataset.y == wanted, 1, -1), classes=classes)

    def problem(self) -> iopt.KernelProblem:
        """The problem that the data and their kernel make."""
        dataset = self.dataset
        arrays = {"points": dataset.X, "similarities": dataset.K, "distances": dataset.D}
        kind = next(kind for kind, array in arrays.items() if array is not None)
        names = sorted(set().union(*USES.values()))
        values = {name: getattr(self, name) for name in names}
        given = {name: v for name, v in values.items() if v is not None and v is not False}
        uses = USES[kind] - ({"gamma"} if self.form in ("linear", "raw") else set())
        useless = [name.replace("_", "-") for name in given if name not in uses]
        if useless:
            told = ", ".join(f"{name}={given[name.replace('-', '_')]}" for name in useless)
            raise ParameterError(useless[0], f"none for data given as {kind}", told)
        kernel: Any = self.kernel or dataset.kernel or "rbf"
        written = parse_call(self.kernel or "rbf", "kernel")[1]
        parameters = {name: given[name] for name in ("a", "r", "degree", "gamma") if name in given}
        for name, value in parameters.items():
            if name in written:
                told = f"one in --kernel {kernel!r} and --{name} {value}"
                raise ParameterError(name, "one value", told)
            if kind == "points" and kernel == "rbf" and name != "gamma":
                raise ParameterError(
                    name, "no parameter that the default kernel rbf does not have",
                    f"--{name} {value}", "Add --kernel sigmoid, or another one.",
                )  # fmt: skip
        return iopt.KernelProblem.from_dataset(
            dataset, kernel, scaling=self.scaling or "default", form=self.form or "gaussian",
            symmetrize=self.symmetrize, cache_mb=self.cache_mb, **parameters,
        )  # fmt: skip

    def _read(self) -> iopt.datasets.Dataset:
        path = Path(self.data)
        ignored = self.ignore and [name.strip() for name in self.ignore.split(",")]
        given = {name: getattr(self, name) for name in ("label", "labels", "kind", "missing")}
        given = {name: value for name, value in {**given, "ignore": ignored}.items() if value}
        if path.suffix in FILE_SUFFIXES and path.exists():
            return iopt.datasets.read(path, **given, max_bytes=self.max_bytes)
        try:
            # A name wins over a file or folder that happens to have it.
            return self._named(given)
        except (ParameterError, UnknownName):
            if path.suffix in FILE_SUFFIXES:
                raise DataError("data", "a file", f"{self.data}: there is none") from None
            if not path.is_file():
                raise
        raise DataError("data", "the name of a data set or of a .npz or .csv file", self.data)

    def _named(self, given: dict[str, Any]) -> iopt.datasets.Dataset:
        found = iopt.datasets.load(self.data, self.data_dir, max_bytes=self.max_bytes)
        missing = {"missing": given["missing"]} if found.table and "missing" in given else {}
        for name in given.keys() - missing.keys():
            raise ParameterError(name, f"none for the data set {found.name}", str(given[name]))
        if missing:
            return iopt.datasets.load(self.data, self.data_dir, max_bytes=self.max_bytes, **missing)
        return found

    def facts(self, problem: iopt.KernelProblem) -> dict[str, Any]:
        """What was made of the data, for every output."""
        (negative, positive), names = problem.classes.tolist(), self.dataset.classes
        # The labels of a data set are -1 and 1, and its classes say what those stand for.
        if {negative, positive} == {-1, 1} and set(names) != {"-1", "+1"}:
            negative, positive = names
        facts = {
            "problem": problem.name,
            "n": problem.n,
            "kernel": problem.origin,
            "scaling": problem.scaling or "none",
            "positive": as_text(positive),
            "negative": as_text(negative),
            "remarks": list(map(with_options, problem.remarks)),
        }
        if self.dataset.table is not None:
            facts["table"] = {"used": str(self.dataset.table), **asdict(self.dataset.table)}
        # The spectrum is computed only for this if that takes at most 0.3 s on one core.
        if problem.n <= 1000 and problem.curvature_known:
            facts["negative_share"] = problem.negative_share
        return facts


def chosen_formulation(title: str) -> iopt.Formulation:
    """The formulation of a title; `ParameterError` for a baseline, which only `compare` runs."""
    method = as_method(named_or_own(title))
    if isinstance(method, Baseline):
        got = f"the baseline {type(method).__name__}"
        raise ParameterError("formulation", "a formulation", got, "`compare` runs baselines.")
    return method


def facts_line(facts: dict[str, Any]) -> str:
    """What `DataOptions.facts` says, in one line, with more about tables and odd kernels."""
    share = facts.get("negative_share")
    told = "not computed" if share is None else f"{100 * share:.3g} % of the spectrum"
    table = f"table of {facts['table']['used']}\n  " if "table" in facts else ""
    return (
        f"{table}kernel {facts['kernel']}, scaling {facts['scaling']}, +1 = {facts['positive']}, "
        f"-1 = {facts['negative']}; negative part: {told}"
        + "".join(f"\n  note: {remark}\n " for remark in facts["remarks"])
    )


def with_data_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command every option of `DataOptions` in place of its first parameter."""
    shared = inspect.signature(DataOptions, eval_str=True).parameters
    _, *own = inspect.signature(command, eval_str=True).parameters.values()

    @functools.wraps(command)
    def called(**given: Any) -> None:
        command(DataOptions(**{name: given.pop(name) for name in shared}), **given)

    # Arguments come before options, in the order in which both are declared.
    parameters = sorted([*shared.values(), *own], key=lambda one: one.default is not one.empty)
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    return called


def read_values(path: Path, max_bytes: int) -> Any:
    """The values of the variables in a .npz, .json or .csv file, or one number a line."""
    if path.suffix in (".csv", ".txt"):
        lines = read_bytes(path, max_bytes).decode("utf-8", "replace").split()
        try:
            return np.array([float(line) for line in lines])
        except ValueError:
            return _values_table(path, max_bytes)
    if path.suffix != ".json":
        return dict(read_arrays(path, max_bytes))
    values = read_json(path, "values", max_bytes)
    if not isinstance(values, dict):
        raise DataError("values", "a JSON object of names and numbers", f"{path}")
    return values


def _values_table(path: Path, max_bytes: int) -> dict[str, Any]:
    """Values from rows of variable, index and value; indices of matrices are such as "0 3"."""
    frame = read_frame(path, max_bytes)
    expected = "a table with the columns variable, index and value, an index for each entry"
    if list(frame.columns) != list(VALUE_COLUMNS):
        raise DataError("values", expected, f"the columns {', '.join(map(str, frame.columns))}")
    values: dict[str, Any] = {}
    for name, rows in frame.groupby("variable", sort=False):
        try:
            entries = dict(zip(map(_place, rows["index"].tolist()), rows["value"], strict=True))
            shape = tuple(1 + max(axis) for axis in zip(*entries, strict=True))
            # So that every entry is there once.
            whole = len(rows) == len(entries) == math.prod(shape)
            if not whole or any(k < 0 for place in entries for k in place):
                raise ValueError
            numbers = np.empty(shape)
            for place, number in entries.items():
                numbers[place] = float(number)
        except (ValueError, IndexError, TypeError, OverflowError):
            raise DataError("values", expected, f"other rows of {name} in {path}") from None
        values[str(name)] = numbers
    return values


def _place(index: Any) -> tuple[int, ...]:
    """The place of an entry: "0 3" in a matrix, 3 or, beside empty cells, 3.0 in a vector."""
    if isinstance(index, str):
        return tuple(map(int, index.split()))
    return () if math.isnan(index) else (int(index),)


def save_values(path: Path, values: Values) -> None:
    """Write the values of the variables to a .csv or a .npz file."""
    if path.suffix == ".csv":
        with writing("output", path), path.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(VALUE_COLUMNS)
            for name, array in values.items():
                for place, number in np.ndenumerate(array):
                    rows.writerow((name, " ".join(map(str, place)), repr(float(number))))
        return
    with writing("output", path), path.open("wb") as file:
        np.savez_compressed(file, **values)  # type: ignore[arg-type]


def check_writable(**paths: Path | None) -> None:
    """Raise the error of a file that cannot be written before the work, not after it."""
    for option, path in paths.items():
        if option == "output" and path is not None and path.suffix not in (".npz", ".csv"):
            raise DataError(option, "a file whose name ends in .npz or .csv", f"{path}")
        if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
            raise DataError(option, "a file that can be written", f"{path}")
