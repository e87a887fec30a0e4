"""Arrays by name, `.npz`, in one of three layouts.

- The letters P, q, G, h, A, b, lb, ub of `QuadraticProgram`, of which P and q are needed, with
  `constant`, `sense`, `name` and the names `variables`, `inequalities` and `equalities` if there
  are any. This is what `write_npz` writes.
- H, q, A, b, lower, upper and sense: a quadratic program that this package has exported.
- cost, A, row_lower, row_upper, lower, upper and sense: a linear program that it has exported.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import DataError
from indefinite_opt.quadratic.data.arrays import LETTERS, quadratic_arrays
from indefinite_opt.quadratic.data.naming import Names
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.matrices.sparse import as_dense

EXPORTED = {"H", "q", "A", "b", "lower", "upper"}
EXPORTED_LINEAR = {"cost", "A", "row_lower", "row_upper", "lower", "upper"}


def program_of_arrays(arrays: dict[str, NDArray[Any]], source: str) -> dict[str, Any]:
    """The `quadratic_arrays` of arrays by name; `DataError` for names of no layout."""
    names = set(arrays)
    others: dict[str, Any] = {
        "constant": _scalar(arrays, "constant", 0.0, source),
        "sense": _scalar(arrays, "sense", 1.0, source),
        "name": "".join(_texts(arrays, "name", source)),
        "names": Names(*(_texts(arrays, part, source) for part in Names._fields)),
    }
    if others["sense"] not in (1, -1):
        raise DataError(source, "a sense of 1 or -1", f"{others['sense']:g}")
    others["sense"] = int(others["sense"])
    names -= {"constant", "sense", "name", *Names._fields}
    if names >= {"P", "q"} and names <= set(LETTERS):
        given: dict[str, Any] = {letter: arrays[letter] for letter in names}
        return quadratic_arrays(**given, **others)
    if names == EXPORTED:
        H, q, A, b, lower, upper = (arrays[k] for k in ("H", "q", "A", "b", "lower", "upper"))
        return quadratic_arrays(H, q, A=A, b=b, lb=lower, ub=upper, **others)
    if names == EXPORTED_LINEAR:
        split = StandardForm(
            1, arrays["cost"], arrays["lower"], arrays["upper"], arrays["row_lower"],
            arrays["row_upper"], arrays["A"],
        ).arrays()  # fmt: skip
        return quadratic_arrays(**{letter: split[letter] for letter in LETTERS}, **others)
    raise DataError(
        source, f"arrays P, q, ... or {', '.join(sorted(EXPORTED))}",
        f"the names {', '.join(sorted(arrays))}" if arrays else "no arrays",
    )  # fmt: skip


def write_npz(form: StandardForm, target: str) -> bytes:
    """The content of a file in the first layout."""
    file, program = io.BytesIO(), form.arrays()
    arrays = {letter: as_dense(letter, program[letter]) for letter in sorted(LETTERS)}
    others = {each: program[each] for each in ("constant", "sense", "name")}
    others |= {part: names for part, names in program["names"]._asdict().items() if names}
    # mypy assumes that one of the names might be allow_pickle.
    np.savez_compressed(file, **arrays, **others)  # type: ignore[arg-type]
    return file.getvalue()


def _scalar(arrays: dict[str, NDArray[Any]], name: str, default: float, source: str) -> float:
    value = arrays.get(name, np.array(default))
    if value.size != 1 or value.dtype.kind not in "iuf" or not np.isfinite(value).all():
        raise DataError(source, f"a finite number {name}", f"{value.dtype} of shape {value.shape}")
    return float(value.ravel()[0])


def _texts(arrays: dict[str, NDArray[Any]], name: str, source: str) -> tuple[str, ...]:
    value = np.atleast_1d(arrays.get(name, np.zeros(0, "U1")))
    if value.ndim != 1 or value.dtype.kind != "U" or (name == "name" and value.size > 1):
        raise DataError(source, f"a text {name}", f"{value.dtype} of shape {value.shape}")
    return tuple(map(str, value))
