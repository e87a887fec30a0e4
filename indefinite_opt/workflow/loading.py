"""Results read back from files of `Result.save`; an error names what no result can have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from indefinite_opt.errors import BadArgument, DataError, IndefiniteOptError, shown
from indefinite_opt.formulations import named_formulation
from indefinite_opt.foundation import (
    MAX_BYTES,
    TASKS,
    checked_values,
    checks,
    finite_array,
    parsed_json,
    read_arrays,
)
from indefinite_opt.modeling import OUTLIERS, Classifier, Formulation, pair_problems
from indefinite_opt.problem import Encoding, KernelProblem, as_text, kernels
from indefinite_opt.quadratic import AbsentGram, Status, Trace, answers
from indefinite_opt.workflow.arguments import in_pairs
from indefinite_opt.workflow.pairwise import PairwiseResult
from indefinite_opt.workflow.result import Evidence, Result
from indefinite_opt.workflow.saving import FORMAT, OF_THE_CLASSIFIER, READABLE

_EXPECTED = "a result that Result.save or `solve --save` has written"


def load(path: str | Path, max_bytes: int = MAX_BYTES) -> Result | PairwiseResult:
    """The result in a file of `Result.save`, or of the command `solve --save`.

    It predicts, and is certified again from its values when `certificate` is read. If the file has
    no matrix, a certificate needs `Result.with_problem`. Its trace and the other ends of descents
    are not in the file. A model of more than two classes is the `PairwiseResult` that was saved.

    Parameters
    ----------
    path : str or Path
    max_bytes : int
        Largest size of the unpacked file in bytes.

    Raises
    ------
    DataError
        If the file holds no such result: an entry is missing or unknown, an array has another shape
        than the formulation declares or a number that is not finite, or a fact is out of its range.
        The error names the entry.

    Examples
    --------
    >>> import tempfile, indefinite_opt as iopt
    >>> problem = iopt.KernelProblem.from_data([[0.0], [1.0], [3.0]], ["low", "low", "high"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = iopt.solve(problem, "SVMDual(C=10)").save(Path(folder) / "model.npz")
    ...     again = iopt.load(path)
    >>> again.predict([[0.5], [4.0]]), again.certificate.claim.name
    (array(['low', 'high'], dtype='<U4'), 'GLOBAL')
    """
    arrays = read_arrays(Path(path), max_bytes)
    try:
        return _result(arrays)
    except BadArgument as error:
        # The hint, if any, is about an argument of a call that the reader did not make.
        entry = f"{error.argument} in {path}"
        raise DataError(entry, error.expected, error.got) from None
    except IndefiniteOptError as error:
        raise DataError("path", _EXPECTED, f"{path}: {error}") from None
    except KeyError as error:
        raise DataError("path", _EXPECTED, f"{path} without the entry {error}") from None
    except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError) as error:
        raise DataError("path", _EXPECTED, f"{path}: {type(error).__name__}: {error}") from None


def _result(arrays: dict[str, Any]) -> Result | PairwiseResult:
    facts = parsed_json(str(arrays.pop("facts")).encode())
    if facts["format"] not in READABLE:
        raise DataError("format", repr(FORMAT), shown(facts["format"]))
    formulation = named_formulation(_text(facts, "formulation"))
    problem = _problem(facts, arrays)
    if "pairs" in facts:
        return _pairwise_result(problem, formulation, facts, arrays)
    return _result_on(problem, formulation, facts, arrays)


def _pairwise_result(
    problem: KernelProblem, formulation: Formulation, facts: dict[str, Any], arrays: dict[str, Any]
) -> PairwiseResult:
    """The results of all pairs; the names of their arrays begin with the number of the pair."""
    found, k = facts["pairs"], problem.classes.size
    if not in_pairs(problem, formulation):
        raise DataError("pairs", "none without more than two classes", shown(found))
    if not isinstance(found, list) or len(found) != k * (k - 1) // 2:
        raise DataError("pairs", f"a list of facts for each pair of {k} classes", shown(found))
    checks.positive("seconds", facts["seconds"], zero=True)
    own: list[dict[str, Any]] = [{} for _ in found]
    for name, array in arrays.items():
        number, _, entry = name.partition(" ")
        if number not in map(str, range(len(own))):
            raise DataError("entries", "entries of a saved result", repr(name))
        own[int(number)][entry] = array
    members = {}
    for (pair, _, part), one, entries in zip(pair_problems(problem), found, own, strict=True):
        try:
            members[pair] = _result_on(part, formulation, one, entries)
        except BadArgument as error:
            argument = f"{error.argument} of {pair[0]} against {pair[1]}"
            raise DataError(argument, error.expected, error.got) from None
    return PairwiseResult(problem, formulation, members, float(facts["seconds"]))


def _result_on(
    problem: KernelProblem, formulation: Formulation, facts: dict[str, Any], arrays: dict[str, Any]
) -> Result:
    settled: Formulation | None = None
    if not isinstance(problem.gram, AbsentGram):
        settled = formulation.settled(problem)
    classifier = None if settled is not None else _classifier(problem, formulation, facts, arrays)
    parts: dict[str, dict[str, Any]] = {"value": {}, "multiplier": {}}
    for name in arrays:
        kind, _, variable = name.partition(" ")
        if kind not in parts:
            raise DataError("entries", "entries of a saved result", repr(name))
        parts[kind][variable] = arrays[name]
    multipliers = parts["multiplier"]  # a solve that a limit has ended may have none
    if settled is None:  # their shapes are compared when the problem is given again
        values, multipliers = (_finite(kind, held) for kind, held in parts.items())
    else:
        program = settled.program(problem)
        values = checked_values("value", parts["value"], program.shapes)
        if multipliers:
            shapes = answers.multiplier_shapes(program)
            multipliers = checked_values("multiplier", multipliers, shapes)
    checks.number("objective", facts["objective"])
    checks.positive("seconds", facts["seconds"], zero=True)
    checks.positive("residual", facts["residual"], zero=True, infinite=True)
    checks.whole("iterations", facts["iterations"], 0)
    if facts["offset"] is not None:
        checks.number("offset", facts["offset"])
    checks.choice("status", facts["status"], Status.__members__)
    checks.tolerance("tol", facts["tol"])
    checks.positive("atol", facts.get("atol", 0.0), zero=True)
    checks.positive("time_limit", facts["time_limit"], infinite=True)
    result = Result(
        problem=problem,
        formulation=formulation,
        values=values,
        multipliers=multipliers,
        objective=float(facts["objective"]),
        status=Status[facts["status"]],
        solver=_text(facts, "solver"),
        seconds=float(facts["seconds"]),
        residual=float(facts["residual"]),
        iterations=facts["iterations"],
        trace=Trace(),
        message=_text(facts, "message"),
        doubt=_text(facts, "doubt"),
        optima=(),
        offset=None if facts["offset"] is None else float(facts["offset"]),
        bracket=None,
        evidence=Evidence(
            multipliers or None,
            None,
            facts["tol"],
            float(facts["time_limit"]),
            (),
            settled,
            atol=float(facts.get("atol", 0.0)),
        ),
    )
    if settled is None:
        result.__dict__.update(
            {"has_classifier": classifier is not None, "training_error": None}
            | ({} if classifier is None else {"classifier": classifier})
        )
        return result
    if not result.has_classifier:
        return result
    with np.errstate(over="ignore", invalid="ignore"):
        classifier = result.classifier
    if not np.isfinite([*classifier.coef, classifier.offset]).all():
        raise DataError("value", "values that define a classifier", "an overflow")
    return result


def _finite(kind: str, held: dict[str, Any]) -> dict[str, Any]:
    """Arrays of finite numbers of any shape, by the names of their variables."""
    shapes = {name: np.shape(array) for name, array in held.items()}
    return checked_values(kind, held, shapes)


def _classifier(
    problem: KernelProblem, formulation: Formulation, facts: dict[str, Any], arrays: dict[str, Any]
) -> Classifier | None:
    """The classifier in a file without the kernel matrix; its entries are removed."""
    found, given = facts["classifier"], {}
    if found is None:
        return None
    with _reading("classifier", facts):
        given = {name: found[name] for name in OF_THE_CLASSIFIER}
    for name in ("offset", "own", "diagonal", "zero"):
        if given[name] is not None or name in ("offset", "own"):
            checks.number(f"classifier {name}", given[name])
    checks.switch("classifier distances", given["distances"])
    support = arrays.pop("classifier support")
    if support.dtype.kind not in "iu" or support.ndim != 1 or np.any(np.diff(support) <= 0):
        raise DataError("classifier support", "ascending indices", shown(support))
    sides = 2 if problem.asymmetric else 1
    size = sides * problem.n
    if support.size and (support[0] < 0 or support[-1] >= size):
        expected = f"indices from 0 to {size - 1}"
        raise DataError("classifier support", expected, f"{support[0]} to {support[-1]}")
    coef = np.zeros(size)
    coef[support] = finite_array("classifier coef", arrays.pop("classifier coef"), support.shape)
    classes = OUTLIERS if formulation.task == "one class" else problem.classes
    return Classifier(coef, classes=classes, sides=sides, **given)


def _without_matrix(
    facts: dict[str, Any], arrays: dict[str, Any], y: Any, task: str, name: str
) -> KernelProblem:
    """The problem of a file that does not hold the matrix that was given."""
    diagonal = finite_array("diagonal", arrays.pop("diagonal"), (None,))
    extremes = finite_array("extremes", facts["extremes"], (2,))
    asymmetric = facts.get("asymmetric", False)
    gram = AbsentGram(diagonal, (float(extremes[0]), float(extremes[1])), asymmetric)
    problem = KernelProblem.from_gram(gram, y, task=task, name=name)
    with _reading("digest", facts):
        problem.kept_digest = int(facts["digest"], 16)
    return problem


def _problem(facts: dict[str, Any], arrays: dict[str, Any]) -> KernelProblem:
    """The problem; its entries are removed from the arrays."""
    y, name = arrays.pop("y", None), _text(facts, "name")
    task = facts["task"]
    checks.choice("task", task, TASKS)
    asymmetric = facts.get("asymmetric", False)  # older files have no such matrix
    checks.switch("asymmetric", asymmetric)
    kernel: Any = None
    if facts["kernel"] is not None:
        with _reading("kernel", facts):
            kind, parameters = facts["kernel"]
            kernel = kernels.get(str(kind), **parameters)
    if "X" in arrays:
        problem = KernelProblem.from_data(
            arrays.pop("X"), y, kernel, task=task, scaling=facts["scaling"],
            cache_mb=facts["cache_mb"], name=name,
        )  # fmt: skip
    elif "D" in arrays:
        if not isinstance(kernel, kernels.DistanceSubstitution):
            raise DataError("kernel", "a kernel of distances, as there is D", str(kernel))
        problem = KernelProblem.from_distances(
            arrays.pop("D"), y, kernel.form, task=task, gamma=kernel.width, name=name
        )
    else:
        if "diagonal" in arrays:
            problem = _without_matrix(facts, arrays, y, task, name)
        else:
            problem = KernelProblem(
                arrays.pop("K"), y, task=task, asymmetric=asymmetric, copy=False, name=name
            )
        if getattr(kernel, "distance", kernels.PRECOMPUTED) != kernels.PRECOMPUTED:
            raise DataError("kernel", "a kernel of distances or none, as there is K", str(kernel))
        problem.kernel = kernel
    _describe(problem, facts)
    return problem


def _describe(problem: KernelProblem, facts: dict[str, Any]) -> None:
    """Set what the file says about columns, rows and labels."""
    with _reading("table", facts):
        problem.table = None if facts["table"] is None else Encoding.from_dict(facts["table"])
        names = problem.table.features if problem.table else ()
    if problem.table and problem.X is not None:
        wanted, got = problem.X.shape[1], len(names)
        if wanted != got:
            raise DataError("table", f"a table of {wanted} features, as X has", f"{got}")
    objects, meanings = facts["objects"], facts["meanings"]
    if not isinstance(objects, list) or len(objects) not in (0, problem.n):
        raise DataError("objects", f"a list of {problem.n} names, or an empty one", shown(objects))
    labels = set(map(as_text, problem.classes.tolist()))
    if not isinstance(meanings, dict) or not set(meanings) <= labels:
        raise DataError("meanings", "meanings of the labels, or nothing", shown(meanings))
    problem.objects = tuple(_text(objects, place) for place in range(len(objects)))
    problem.meanings = {label: _text(meanings, label) for label in meanings}


@contextmanager
def _reading(entry: str, facts: dict[str, Any]) -> Iterator[None]:
    """A context in which an entry that cannot be taken apart is a `DataError` of its name."""
    try:
        yield
    except IndefiniteOptError:
        raise
    except (TypeError, ValueError, AttributeError, LookupError):
        raise DataError(entry, "what Result.save writes", shown(facts[entry])) from None


def _text(facts: Any, key: str | int) -> str:
    if not isinstance(facts[key], str):
        raise DataError(str(key), "a text", shown(facts[key]))
    return str(facts[key])
