"""Results in .npz files, which hold arrays and JSON and execute nothing."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np

from indefinite_opt.errors import ParameterError
from indefinite_opt.formulations import known
from indefinite_opt.foundation import writing
from indefinite_opt.problem import KernelProblem, kernels

FORMAT = "indefinite_opt result 9"
"""Name and version of the form of these files."""

READABLE = (FORMAT, "indefinite_opt result 8")
"""The forms that `load` reads. Files of the form 8 have a matrix, where there are no points."""

_OF_THE_PROBLEM = ("name", "scaling", "cache_mb", "objects", "meanings", "asymmetric")

_OF_THE_RESULT = (
    "solver", "message", "doubt", "objective", "seconds", "residual", "iterations", "offset",
)  # fmt: skip
"""The offset may be None."""

OF_THE_CLASSIFIER = ("offset", "own", "diagonal", "zero", "distances")
"""Numbers of a classifier, of which the diagonal and zero may be None; see `Classifier`."""


def facts_of_result(result: Any) -> dict[str, Any]:
    """What a file says about a result on one problem, beside its arrays."""
    return {name: getattr(result, name) for name in _OF_THE_RESULT} | {
        "status": result.status.name,
        "tol": result.evidence.tol,
        "atol": result.evidence.atol,
        "time_limit": result.evidence.time_limit,
    }


def arrays_of_result(result: Any) -> dict[str, Any]:
    """The values and the multipliers of a result by the names of their entries in a file."""
    parts = (("value", result.values), ("multiplier", result.multipliers))
    return {f"{kind} {name}": array for kind, values in parts for name, array in values.items()}


def classifier_parts(result: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a file without the kernel matrix says about a classifier, and its arrays."""
    if not result.has_classifier:
        return {"classifier": None}, {}
    direct = result.classifier.unchanged()
    numbers = {name: getattr(direct, name) for name in OF_THE_CLASSIFIER}
    support = np.flatnonzero(direct.coef)
    return {"classifier": numbers}, {
        "classifier support": support,
        "classifier coef": direct.coef[support],
    }


def write_result(
    path: str | Path, problem: Any, formulation: Any, facts: dict[str, Any],
    arrays: dict[str, Any], kept: bool,
) -> Path:  # fmt: skip
    """Write a result to a file: its problem and formulation, and these facts and arrays.

    `kept` says whether a matrix that was given is written, too.

    Raises
    ------
    ParameterError
        If the file could not hold the problem or the formulation.
    DataError
        If the file cannot be written.
    """
    path = Path(path)
    if type(problem) is not KernelProblem:
        expected = "a result on a KernelProblem, whose data the file holds"
        raise ParameterError("result", expected, f"one on a {type(problem).__name__}")
    kernel = problem.kernel
    own = type(kernel).__module__ == kernels.Kernel.__module__
    if kernel is not None and not (
        isinstance(kernel, kernels.Kernel) and own and kernel.name in kernels.names()
    ):
        raise ParameterError(
            "kernel", "a kernel with a name, which the file can hold", repr(kernel),
            "Use pickle for functions.",
        )  # fmt: skip
    if any(isinstance(value, np.ndarray) for value in vars(formulation).values()):
        expected = "a formulation without arrays about the points, such as weights"
        raise ParameterError("formulation", expected, str(formulation))
    cls = type(formulation)
    if known().get(cls.__name__) is not cls:
        raise ParameterError(
            "formulation", "a class of this package, which the file can name", str(formulation),
            "Use pickle for others.",
        )  # fmt: skip
    every = {
        "format": FORMAT,
        **{name: getattr(problem, name) for name in _OF_THE_PROBLEM},
        "formulation": str(formulation),
        "task": problem.task,
        "kernel": None if kernel is None else [kernel.name, dataclasses.asdict(kernel)],
        "table": problem.table and dataclasses.asdict(problem.table),
        **facts,
    }
    data: dict[str, Any] = {"facts": np.array(json.dumps(every))}
    if problem.labels is not None:
        data["y"] = problem.labels
        if data["y"].dtype.hasobject:  # such as texts of pandas
            data["y"] = np.array(problem.labels.tolist())
        if data["y"].dtype.hasobject:
            expected = "texts, numbers or dates of numpy, which the file can hold"
            got = f"labels of type {type(problem.labels[0]).__name__}"
            raise ParameterError("labels", expected, got, "Use pickle for others.")
    if problem.X is not None:
        data["X"] = problem.X
    elif not kept:
        data["diagonal"] = problem.gram.diagonal
        every |= {"extremes": problem.gram.extremes, "digest": f"{problem.digest:016x}"}
        data["facts"] = np.array(json.dumps(every))
    elif problem.D is not None:
        data["D"] = problem.D
    else:
        data["K"] = problem.directed
    # Numbers of kernels are hardly any smaller if they are compressed, which takes seconds.
    write = np.savez if "D" in data or "K" in data else np.savez_compressed
    with writing("path", path), path.open("wb") as file:
        write(file, **data, **arrays)
    return path
