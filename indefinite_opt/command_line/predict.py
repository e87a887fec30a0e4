"""The command `predict`: the classes of new points, by a model that `solve --save` has written."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from typer import Argument, Option

import indefinite_opt as iopt
from indefinite_opt.command_line.options import Json, MaxBytes, check_writable
from indefinite_opt.command_line.terminal import exit_without_proof, print_json, say, stderr
from indefinite_opt.errors import DataError, ParameterError
from indefinite_opt.foundation import MAX_BYTES, Array, checks, finite_array, read_arrays, writing
from indefinite_opt.problem import Encoding, as_text, read_frame, read_grid
from indefinite_opt.workflow import Result


def predict(
    model: Annotated[Path, Argument(help="A model, as `solve --save` writes it.")],
    data: Annotated[
        Path,
        Argument(
            help="New points: a .csv file with the columns of the training data or, for a matrix, "
            "with a row of similarities or distances for each; or a .npz file with X, K or D."
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
    the option --label, the accuracy as well. If the solver of the model has stopped short of its
    tolerance, a warning says so, and the exit code is 1 if nothing is proved of the model.
    """
    check_writable(output=output)
    trained = iopt.load(model, max_bytes)
    rows, truth = _kernel_rows(trained, data, label, max_bytes)
    if trained.classifier.new_points == "joint":
        raise DataError(
            "model", "one that treats new points one by one", "the joint treatment",
            'Solve the formulation with new_points="projected".',
        )  # fmt: skip
    values = trained.classifier.decision_function(rows)
    predicted = [_named(trained, label) for label in trained.classifier.predict(rows)]
    accuracy = None
    if truth is not None:
        accuracy = float(np.mean([a == b for a, b in zip(predicted, truth, strict=True)]))
    problem = _problem(trained)
    if as_json:
        print_json(
            {
                "formulation": str(trained.formulation),
                "problem": problem.name,
                "kernel": problem.origin,
                "scaling": problem.scaling or "none",
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
    if trained.doubt:
        say(trained.doubt, style="yellow", to=stderr)
        exit_without_proof(trained.certificate.claim)


def _write(file: Any, labels: list[str], values: Array) -> None:
    table = csv.writer(file, lineterminator="\n")
    table.writerow(("label", "decision_value"))
    numbers = (repr(float(value)) for value in values)
    table.writerows(zip(labels, numbers, strict=True))


def _problem(trained: Result) -> iopt.KernelProblem:
    assert isinstance(trained.problem, iopt.KernelProblem)  # no other result is saved
    return trained.problem


def _named(trained: Result, label: Any) -> str:
    """A predicted or true label, by its meaning if the training data named one."""
    return _problem(trained).meanings.get(as_text(label), as_text(label))


def _kernel_rows(
    trained: Result, path: Path, label: str | None, max_bytes: int
) -> tuple[Array, list[str] | None]:
    """Kernel values of new and training points, and the true labels if there are any."""
    problem = _problem(trained)
    if path.suffix in (".csv", ".gz"):
        if problem.X is None:
            grid = read_grid(path, problem.n, label, max_bytes)
            rows = grid.in_order(problem.objects, str(path))
            K_new = rows if problem.form is None else problem.kernel_with(rows)
            labels = [] if grid.labels is None else grid.labels.tolist()
            return K_new, [_named(trained, value) for value in labels] or None
        frame = read_frame(path, max_bytes)
        truth: list[str] | None = None
        if label is not None:
            checks.choice("label", label, frame.columns)
            truth = [_named(trained, value) for value in frame[label].tolist()]
        table = problem.table
        if table is None:
            table = Encoding.of_numbers(tuple(map(str, range(problem.X.shape[1]))))
        return problem.kernel_with(table.encode(frame, str(path))), truth
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
        return finite_array("K", arrays["K"], (None, problem.n)), truth
    return problem.kernel_with(arrays[wanted]), truth
