"""A trained model in a .npz file, from which new points can be classified.

The file holds the training data as they were given, how their kernel was made, the formulation and
the values of its variables. Nothing in it is executed when it is read.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import indefinite_opt as iopt
from indefinite_opt.command_line.options import writing
from indefinite_opt.errors import DataError
from indefinite_opt.formulations import as_formulation
from indefinite_opt.foundation import checks, parsed_json, read_arrays
from indefinite_opt.workflow import Result

__all__ = ["Model", "read_model", "save_model"]

FORMAT = "indefinite_opt model 1"
"""Name and version of the form of these files."""


class Model(NamedTuple):
    """A classifier with the problem that it was trained on.

    Attributes
    ----------
    problem : KernelProblem
    classifier : Classifier
    formulation : str
    feature_names : tuple of str
        Names of the columns of X, or empty.
    names : dict of str to str
        What the labels "-1" and "1" of a named data set stand for; empty for other labels.
    """

    problem: iopt.KernelProblem
    classifier: Any
    formulation: str
    feature_names: tuple[str, ...]
    names: dict[str, str]


def save_model(path: Path, result: Result, dataset: iopt.datasets.Dataset) -> None:
    """Write the trained model of a result on a data set.

    Raises
    ------
    DataError
        If the file cannot be written.
    """
    problem: Any = result.problem
    kernel = problem.kernel
    facts = {
        "format": FORMAT,
        "name": problem.name,
        "formulation": str(result.formulation),
        "kernel": None if kernel is None else [kernel.name, dataclasses.asdict(kernel)],
        "scaling": problem.scaling,
        "rank": None if problem.approximation is None else problem.approximation.rank,
        "form": problem.form,
        "offset": result.classifier.offset,
        "classes": list(dataset.classes),
        "feature_names": list(dataset.feature_names),
    }
    matrix = {"X": problem.X} if kernel is not None else {"K": problem.K}
    arrays: dict[str, Any] = {"facts": np.array(json.dumps(facts)), "y": problem.labels, **matrix}
    arrays |= {f"value {name}": array for name, array in result.values.items()}
    with writing("save", path), path.open("wb") as file:
        np.savez_compressed(file, **arrays)


def read_model(path: Path, max_bytes: int) -> Model:
    """The model in a file that `save_model` has written.

    Raises
    ------
    DataError
        If the file holds no such model.
    """
    arrays = read_arrays(path, max_bytes)
    expected = "a model that `solve --save` has written"
    try:
        facts = parsed_json(str(arrays["facts"]).encode())
        if facts["format"] != FORMAT:
            raise KeyError("format")
        problem = _problem(facts, arrays)
        formulation = as_formulation(facts["formulation"])
        values = {
            name.removeprefix("value "): np.asarray(array)
            for name, array in arrays.items()
            if name.startswith("value ")
        }
        classifier = formulation.classifier(problem, values)
        classifier = dataclasses.replace(classifier, offset=float(facts["offset"]))
        names = dict(zip(("-1", "1"), map(str, facts["classes"]), strict=True))
        features = tuple(map(str, facts["feature_names"]))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise DataError("model", expected, f"{path}: {reason}") from None
    known = {"-1", "1"} == set(map(str, problem.classes.tolist())) and names["1"] != "+1"
    return Model(problem, classifier, str(formulation), features, names if known else {})


def _problem(facts: Any, arrays: Any) -> iopt.KernelProblem:
    y = arrays["y"]
    if facts["kernel"] is not None:
        name, parameters = facts["kernel"]
        given = arrays["X"], y, iopt.kernels.get(str(name), **parameters)
        named = {"scaling": facts["scaling"], "name": str(facts["name"])}
        if facts.get("rank") is None:
            return iopt.KernelProblem.from_data(*given, **named)
        return iopt.KernelProblem.approximate(*given, rank=int(facts["rank"]), **named)
    problem = iopt.KernelProblem(arrays["K"], y, name=str(facts["name"]))
    if facts["form"] is not None:
        form, gamma = facts["form"]
        checks.choice("form", form, iopt.kernels.FORMS)
        checks.positive("gamma", gamma)
        problem.form = form, float(gamma)
    return problem
