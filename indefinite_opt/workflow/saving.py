"""Results in .npz files, of which nothing is executed when they are read."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np

from indefinite_opt.errors import DataError, ParameterError
from indefinite_opt.formulations import as_formulation, known
from indefinite_opt.foundation import checks, parsed_json, read_arrays, writing
from indefinite_opt.problem import Encoding, KernelProblem, kernels
from indefinite_opt.solvers import Status

FORMAT = "indefinite_opt result 3"
"""Name and version of the form of these files."""

_NUMBERS = ("objective", "seconds", "residual", "iterations", "offset")
"""Of these the offset may be None."""


def save(result: Any, path: str | Path) -> Path:
    """Write a `Result` to a .npz file, as its `save` does."""
    path, problem = Path(path), result.problem
    if type(problem) is not KernelProblem:
        expected = "one on a KernelProblem, whose data the file holds"
        raise ParameterError("result", expected, f"one on a {type(problem).__name__}")
    kernel, factors = problem.kernel, problem.factors
    if kernel is not None and (not isinstance(kernel, kernels.Kernel) or not _named(kernel)):
        raise ParameterError(
            "kernel", "one that has a name, which the file can hold", repr(kernel),
            "Pickle holds functions.",
        )  # fmt: skip
    if any(isinstance(value, np.ndarray) for value in vars(result.formulation).values()):
        expected = "one without arrays about the points, such as weights"
        raise ParameterError("formulation", expected, str(result.formulation))
    cls = type(result.formulation)
    if known().get(cls.__name__) is not cls:
        raise ParameterError(
            "formulation", "one of this package, which the file can name", str(result.formulation),
            "Pickle holds others.",
        )  # fmt: skip
    made = None if kernel is None else [kernel.name, dataclasses.asdict(kernel)]
    facts = {
        "format": FORMAT,
        "name": problem.name,
        "formulation": str(result.formulation),
        "kernel": made,
        "scaling": problem.scaling,
        "cache_mb": problem.cache_mb,
        "precision": problem.precision,
        "approximation": problem.how_approximated,
        "form": problem.form,
        "table": problem.table and dataclasses.asdict(problem.table),
        "objects": problem.objects,
        "meanings": problem.meanings,
        "status": result.status.name,
        "solver": result.solver,
        "message": result.message,
        "tol": result.evidence.tol,
        "time_limit": result.evidence.time_limit,
        **{name: getattr(result, name) for name in _NUMBERS},
    }
    arrays: dict[str, Any] = {"facts": np.array(json.dumps(facts)), "y": problem.labels}
    if kernel is not None:
        arrays["X"] = problem.X
    elif factors:
        arrays |= {"F": factors.factors, "signs": factors.signs}
    else:
        arrays["K"] = problem.gram.whole
    for kind, values in (("value", result.values), ("multiplier", result.multipliers)):
        arrays |= {f"{kind} {name}": array for name, array in values.items()}
    with writing("path", path), path.open("wb") as file:
        np.savez_compressed(file, **arrays)
    return path


def read(path: Path, max_bytes: int) -> dict[str, Any]:
    """What a file of `save` holds, by the names of `Result` and `Evidence`."""
    arrays = read_arrays(path, max_bytes)
    try:
        facts = parsed_json(str(arrays["facts"]).encode())
        if facts["format"] != FORMAT:
            raise KeyError("format")
        problem = _problem(facts, arrays)
        formulation = as_formulation(facts["formulation"])
        parts: dict[str, dict[str, Any]] = {"value": {}, "multiplier": {}}
        for name, array in arrays.items():
            kind, blank, rest = name.partition(" ")
            if blank and kind in parts:
                parts[kind][rest] = np.asarray(array, dtype=np.float64)
        numbers = {name: None if facts[name] is None else float(facts[name]) for name in _NUMBERS}
        formulation.classifier(problem, parts["value"])  # or an error of what is missing
        return {
            **numbers,
            "problem": problem,
            "formulation": formulation,
            "values": parts["value"],
            "multipliers": parts["multiplier"],
            "status": Status[facts["status"]],
            "solver": str(facts["solver"]),
            "message": str(facts["message"]),
            "tol": float(facts["tol"]),
            "time_limit": float(facts["time_limit"]),
        }
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        expected = "a result that Result.save or `solve --save` has written"
        raise DataError("path", expected, f"{path}: {type(error).__name__}: {error}") from None


def _named(kernel: kernels.Kernel) -> bool:
    """Whether the name of a kernel stands for its class."""
    own = type(kernel).__module__ == kernels.Kernel.__module__
    return own and kernel.name in kernels.names()


def _problem(facts: Any, arrays: Any) -> KernelProblem:
    y, name = arrays["y"], str(facts["name"])
    if facts["kernel"] is not None:
        kind, parameters = facts["kernel"]
        given = arrays["X"], y, kernels.get(str(kind), **parameters)
        if facts["approximation"] is not None:
            how = facts["approximation"]
            problem = KernelProblem.approximate(*given, **how, scaling=facts["scaling"], name=name)
        else:
            problem = KernelProblem.from_data(
                *given, scaling=facts["scaling"], cache_mb=facts["cache_mb"],
                precision=facts["precision"], name=name,
            )  # fmt: skip
    elif "F" in arrays:
        problem = KernelProblem.from_factors(arrays["F"], arrays["signs"], y, name=name)
    else:
        problem = KernelProblem(arrays["K"], y, precision=facts["precision"], name=name)
    if facts["form"] is not None:
        form, gamma = facts["form"]
        checks.choice("form", form, kernels.FORMS)
        checks.positive("gamma", gamma)
        problem.form = form, float(gamma)
    problem.table = facts["table"] and Encoding.from_dict(facts["table"])
    problem.objects = tuple(map(str, facts["objects"]))
    problem.meanings = {str(label): str(text) for label, text in facts["meanings"].items()}
    return problem
