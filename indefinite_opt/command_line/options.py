"""Options that several commands share, and the files that options name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from typer import Argument, Option

import indefinite_opt as iopt
from indefinite_opt.errors import DataError, ParameterError, UnknownName
from indefinite_opt.foundation import MAX_BYTES, Values, read_arrays, read_json

__all__ = [
    "DataDir",
    "DataOptions",
    "FormulationTitle",
    "Json",
    "MaxBytes",
    "TimeLimit",
    "Tolerance",
    "check_writable",
    "read_dataset",
    "read_values",
    "save_values",
    "with_data_options",
    "writing",
]


class Scaling(StrEnum):
    """Scalings of the features: to [-1, 1], to [0, 1], to mean 0 and variance 1.

    Those of all points are kept for subsets.
    """

    minmax = "minmax"
    unit = "unit"
    standard = "standard"
    minmax_all = "minmax-all"
    unit_all = "unit-all"
    standard_all = "standard-all"
    none = "none"


class Form(StrEnum):
    """Kernels made from distances."""

    gaussian = "gaussian"
    linear = "linear"
    raw = "raw"


DEFAULT_KERNEL = "sigmoid"

DataDir = Annotated[
    Path | None, Option(help="Folder of the named data sets.", envvar="INDEFINITE_OPT_DATA")
]
FormulationTitle = Annotated[
    str, Argument(help="A formulation, with or without parameters: 'SVMDual(C=10)'.")
]
MaxBytes = Annotated[int, Option(help="Maximum size of a file to read, in unpacked bytes.")]
Tolerance = Annotated[float, Option(help="Relative tolerance of solvers and certificates.")]
TimeLimit = Annotated[float | None, Option(help="Seconds allowed for each solve.")]
Json = Annotated[bool, Option("--json", help="Print JSON instead of text.")]


@dataclass(frozen=True)
class DataOptions:
    """The argument and the options that name the data and their kernel."""

    data: Annotated[
        str,
        Argument(
            help="A data set (see `list data`), or a .npz file with labels y and points X, "
            "similarities K or distances D."
        ),
    ]
    kernel: Annotated[
        str, Option(help="Kernel to compute from points: sigmoid, 'sigmoid(a=0.1, r=-1)'.")
    ] = DEFAULT_KERNEL
    gamma: Annotated[float | None, Option(help="Parameter gamma of the kernel.")] = None
    a: Annotated[float | None, Option("--a", help="Parameter a of the sigmoid kernel.")] = None
    r: Annotated[
        float | None, Option("--r", help="Parameter r of the sigmoid or polynomial kernel.")
    ] = None
    degree: Annotated[int | None, Option(help="Degree of the polynomial kernel.")] = None
    scaling: Annotated[Scaling, Option(help="Scaling of the features.")] = Scaling.minmax
    form: Annotated[Form, Option(help="Kernel to compute from distances.")] = Form.gaussian
    data_dir: DataDir = None
    max_bytes: MaxBytes = MAX_BYTES

    def problem(self) -> iopt.KernelProblem:
        """The problem that the data and their kernel make."""
        dataset = self._dataset()
        given = {name: getattr(self, name) for name in ("gamma", "a", "r", "degree")}
        parameters = {name: value for name, value in given.items() if value is not None}
        if dataset.X is None and (parameters or self.kernel != DEFAULT_KERNEL):
            raise ParameterError(
                "kernel", "no kernel and no parameters for data given as similarities or distances",
                ", ".join([self.kernel, *(f"{name}={v}" for name, v in parameters.items())]),
            )  # fmt: skip
        return iopt.KernelProblem.from_dataset(
            dataset,
            iopt.kernels.get(self.kernel, **parameters),
            scaling=None if self.scaling is Scaling.none else self.scaling.value,
            form=self.form.value,
        )

    def _dataset(self) -> iopt.datasets.Dataset:
        path = Path(self.data)
        if path.suffix == ".npz":
            return read_dataset(path, self.max_bytes)
        try:
            # A name wins over a file or folder that happens to have it.
            return iopt.datasets.load(self.data, self.data_dir, max_bytes=self.max_bytes)
        except (ParameterError, UnknownName):
            if not path.is_file():
                raise
        raise DataError("data", "the name of a data set or of a readable .npz file", self.data)


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


def read_dataset(path: Path, max_bytes: int) -> iopt.datasets.Dataset:
    """The data set in a .npz file."""
    arrays = read_arrays(path, max_bytes)
    matrices: dict[str, Any] = {name: arrays[name] for name in "XKD" if name in arrays}
    if "y" not in arrays or len(matrices) != 1:
        raise DataError(
            "data", "a .npz file with y and exactly one of X, K and D",
            f"{path} with {', '.join(arrays) or 'nothing'}",
        )  # fmt: skip
    return iopt.datasets.Dataset(name=path.stem, y=arrays["y"], **matrices)


def read_values(path: Path, max_bytes: int) -> dict[str, Any]:
    """The values of the variables in a .npz or .json file."""
    if path.suffix != ".json":
        return dict(read_arrays(path, max_bytes))
    values = read_json(path, "values", max_bytes)
    if not isinstance(values, dict):
        raise DataError("values", "a JSON object of names and numbers", f"{path}")
    return values


def save_values(path: Path, values: Values) -> None:
    """Write the values of the variables to a .npz file."""
    with writing("output", path), path.open("wb") as file:
        np.savez_compressed(file, **values)  # type: ignore[arg-type]


@contextmanager
def writing(option: str, path: Path, kind: str = "file") -> Iterator[None]:
    """A context that turns the errors of the operating system into one that names the option."""
    try:
        yield
    except OSError as error:
        raise DataError(option, f"a {kind} that can be written", f"{path}: {error}") from None


def check_writable(option: str, path: Path | None) -> None:
    """Raise the error of a file that cannot be written before the work, not after it."""
    if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
        raise DataError(option, "a file that can be written", f"{path}")
