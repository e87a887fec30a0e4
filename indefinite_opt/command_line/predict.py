"""The command `predict`: the classes of new points, by a model that `solve --save` has written."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from typer import Argument, Option

import indefinite_opt as iopt
from indefinite_opt.command_line.model_file import Model, read_model
from indefinite_opt.command_line.options import Json, MaxBytes, check_writable, writing
from indefinite_opt.command_line.terminal import print_json, say, stderr
from indefinite_opt.errors import DataError, ParameterError
from indefinite_opt.foundation import MAX_BYTES, Array, read_arrays

__all__ = ["predict"]


def predict(
    model: Annotated[Path, Argument(help="A model, as `solve --save` writes it.")],
    data: Annotated[
        Path,
        Argument(
            help="New points: a .csv file with the features of the training data, or a .npz file "
            "with points X, or with similarities K or distances D, one row for each new point."
        ),
    ],
    output: Annotated[Path | None, Option(help="Write the table to this .csv file.")] = None,
    label: Annotated[
        str | None, Option(help="Column of true labels in the .csv file, for the accuracy.")
    ] = None,
    max_bytes: MaxBytes = MAX_BYTES,
    as_json: Json = False,
) -> None:
    """Classify new points with a saved model.

    A table of labels and decision values is printed; with true labels in the file, named y or by
    the option --label, the accuracy as well.
    """
    check_writable("output", output)
    trained = read_model(model, max_bytes)
    rows, truth = _kernel_rows(trained, data, label, max_bytes)
    among = None
    if trained.classifier.new_points == "joint":
        raise DataError(
            "model", "one that treats new points one by one", "the joint treatment",
            'Solve the formulation with new_points="projected".',
        )  # fmt: skip
    values = trained.classifier.decision_function(rows, among)
    predicted = [_named(trained, label) for label in trained.classifier.predict(rows, among)]
    accuracy = None
    if truth is not None:
        accuracy = float(np.mean([a == b for a, b in zip(predicted, truth, strict=True)]))
    if as_json:
        print_json(
            {
                "formulation": trained.formulation,
                "problem": trained.problem.name,
                "kernel": trained.problem.origin,
                "scaling": trained.problem.scaling or "none",
                "accuracy": accuracy,
                "labels": predicted,
                "decision_values": values.tolist(),
            }
        )
    elif output is None:
        _write(sys.stdout, predicted, values)
    if output is not None:
        with writing("output", output), output.open("w", encoding="utf-8", newline="") as file:
            _write(file, predicted, values)
    if accuracy is not None:
        say(f"{100 * accuracy:.1f} % of {len(predicted)} labels agree", to=stderr)


def _write(file: Any, labels: list[str], values: Array) -> None:
    table = csv.writer(file, lineterminator="\n")
    table.writerow(("label", "decision_value"))
    numbers = (repr(float(value)) for value in values)
    table.writerows(zip(labels, numbers, strict=True))


def _named(trained: Model, label: Any) -> str:
    """A predicted or true label, by its meaning if the training data named one."""
    text = f"{label:.0f}" if isinstance(label, float) and label.is_integer() else str(label)
    return trained.names.get(text, text)


def _kernel_rows(
    trained: Model, path: Path, label: str | None, max_bytes: int
) -> tuple[Array, list[str] | None]:
    """Kernel values of new and training points, and the true labels if there are any."""
    problem = trained.problem
    if path.suffix in (".csv", ".gz"):
        frame = iopt.datasets.read_frame(path, max_bytes)
        if problem.X is None:
            raise DataError("data", "a .npz file, as in training", str(path))
        names = trained.feature_names or [str(k) for k in range(problem.X.shape[1])]
        truth = None
        if label is not None:
            if label not in frame.columns:
                raise iopt.errors.UnknownName("label", label, map(str, frame.columns))
            truth = [_named(trained, value) for value in frame[label].tolist()]
        X = iopt.datasets.encode_like(frame, names, str(path))
        return problem.kernel_with(X), truth
    if label is not None:
        raise ParameterError("label", "none for data that are no .csv file", label)
    arrays = read_arrays(path, max_bytes)
    wanted = "X" if problem.X is not None else "K" if problem.form is None else "D"
    if wanted not in arrays:
        raise DataError(
            "data", f"a .npz file with {wanted}, one row for each new point",
            f"{path} with {', '.join(arrays) or 'nothing'}",
        )  # fmt: skip
    truth = [_named(trained, value) for value in arrays["y"].tolist()] if "y" in arrays else None
    if wanted == "K":
        return arrays["K"], truth
    return problem.kernel_with(arrays[wanted]), truth
