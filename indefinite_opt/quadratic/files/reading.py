"""Quadratic programs from and to files, by the ends of their names.

    .in           box-constrained programs of the public library
    .lp, .mps     formats of linear programming, with quadratic objectives (`lp_format`,
                  `mps_format`)
    .npz          arrays by name, among them what this package exports
    .qplib        QPLIB (`qplib_format`)

All but .npz may be packed by gzip: `spar.in.gz`.

A `.in` file holds the number n, the n numbers of c and the n² numbers of Q, separated by white
space, for the maximum of ½ xᵀQ x + cᵀx over 0 ≤ x ≤ 1, which the readme of the library says in
these letters [B]_. Here it becomes the minimisation of the negative, with `sense` -1.

A `.npz` file has one of three layouts:

- The letters P, q, G, h, A, b, lb, ub of `QuadraticArrays`, of which P and q are needed, with
  `constant`, `sense`, `name` and the names `variables`, `inequalities` and `equalities` if there
  are any. This is what `write_npz` writes.
- H, q, A, b, lower, upper and sense: a quadratic program that this package has exported.
- cost, A, row_lower, row_upper, lower, upper and sense: a linear program that it has exported.

References
----------
.. [B] S. Burer, BoxQP instances, https://github.com/sburer/BoxQP_instances: those of Vandenbussche
   and Nemhauser (2005) and of Burer and Vandenbussche (2009).
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import DataError
from indefinite_opt.foundation import MAX_BYTES, read_arrays, read_bytes, write_bytes
from indefinite_opt.quadratic.files.lp_format import read_lp, write_lp
from indefinite_opt.quadratic.files.mps_format import read_mps, write_mps
from indefinite_opt.quadratic.files.qplib_format import read_qplib, write_qplib
from indefinite_opt.quadratic.files.tokens import content_of, number, written
from indefinite_opt.quadratic.program.arrays import (
    LETTERS,
    MAX_ENTRIES,
    QuadraticArrays,
    quadratic_arrays,
)
from indefinite_opt.quadratic.program.naming import Names
from indefinite_opt.quadratic.program.standard_form import StandardForm


def read_boxqp(content: bytes, source: str) -> QuadraticArrays:
    """The program of a file's content; `DataError` if it is not of this format."""
    words = content.split()
    expected = "a number n of variables, n linear coefficients and n by n quadratic ones"
    if not words:
        raise DataError(source, expected, "an empty file")
    n = number(words[0], source)
    if n != int(n) or not 1 <= n <= MAX_ENTRIES**0.5:
        raise DataError(source, f"1 to {int(MAX_ENTRIES**0.5)} variables first", f"{n:g}")
    n = int(n)
    if len(words) != 1 + n + n * n:
        raise DataError(source, f"{expected}, {1 + n + n * n} numbers for n = {n}", f"{len(words)}")
    numbers = np.array([number(word, source) for word in words[1:]])
    Q = numbers[n:].reshape(n, n)
    return quadratic_arrays(-Q, -numbers[:n], lb=0.0, ub=1.0, sense=-1)


def write_boxqp(form: StandardForm, target: str) -> bytes:
    """The content of a file; `DataError` for other bounds than 0 and 1, for rows or a constant."""
    program = form.arrays()
    faults = {
        "rows": len(program.h) + len(program.b) > 0,
        "other bounds": np.any(program.lb != 0.0) or np.any(program.ub != 1.0),
        "a constant": program.constant != 0.0,
    }
    unfit = [fault for fault, there in faults.items() if there]
    if unfit:
        raise DataError(
            target, "a program without rows and a constant, with bounds 0 and 1",
            f"one with {' and '.join(unfit)}", "Write it as .qplib or .npz.",
        )  # fmt: skip
    lines = [[float(program.n)], -program.q, *-program.P]
    return content_of(" ".join(map(written, line)) for line in lines)


EXPORTED = {"H", "q", "A", "b", "lower", "upper"}
EXPORTED_LINEAR = {"cost", "A", "row_lower", "row_upper", "lower", "upper"}


def program_of_arrays(arrays: dict[str, NDArray[Any]], source: str) -> QuadraticArrays:
    """The program of arrays by name; `DataError` for names of no layout."""
    names = set(arrays)
    others: dict[str, Any] = {
        "constant": _scalar(arrays, "constant", 0.0, source),
        "sense": int(_scalar(arrays, "sense", 1.0, source)),
        "name": "".join(_texts(arrays, "name", source)),
        "names": Names(*(_texts(arrays, part, source) for part in Names._fields)),
    }
    if others["sense"] not in (1, -1):
        raise DataError(source, "a sense of 1 or -1", str(others["sense"]))
    names -= {"constant", "sense", "name", *Names._fields}
    if names >= {"P", "q"} and names <= set(LETTERS):
        given: dict[str, Any] = {letter: arrays[letter] for letter in names}
        return quadratic_arrays(**given, **others)
    if names == EXPORTED:
        H, q, A, b, lower, upper = (arrays[k] for k in ("H", "q", "A", "b", "lower", "upper"))
        return quadratic_arrays(H, q, A=A, b=b, lb=lower, ub=upper, **others)
    if names == EXPORTED_LINEAR:
        program = StandardForm(
            1, arrays["cost"], arrays["lower"], arrays["upper"], arrays["row_lower"],
            arrays["row_upper"], arrays["A"],
        ).arrays()  # fmt: skip
        given = {letter: getattr(program, letter) for letter in LETTERS}
        return quadratic_arrays(**given, **others)
    raise DataError(
        source, f"arrays P, q, ... or {', '.join(sorted(EXPORTED))}",
        f"the names {', '.join(sorted(arrays)) or 'of none'}",
    )  # fmt: skip


def npz_content(program: QuadraticArrays) -> bytes:
    """The content of a file in the first layout."""
    file = io.BytesIO()
    arrays = {letter: getattr(program, letter) for letter in sorted(LETTERS)}
    others = {"constant": program.constant, "sense": program.sense, "name": program.name}
    others |= {part: names for part, names in program.names._asdict().items() if names}
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


_Reader = Callable[[bytes, str], QuadraticArrays]
_Writer = Callable[[StandardForm, str], bytes]

_FORMATS: dict[str, tuple[_Reader, _Writer]] = {
    ".in": (read_boxqp, write_boxqp),
    ".lp": (read_lp, write_lp),
    ".mps": (read_mps, write_mps),
    ".qplib": (read_qplib, write_qplib),
}


def read_program(path: str | Path, max_bytes: int = MAX_BYTES) -> QuadraticArrays:
    """The quadratic program of a file, as a minimisation; its `sense` tells what the file says.

    A program without a name gets that of the file. `max_bytes` is the largest size of the unpacked
    file.
    """
    path = Path(path)
    suffix = _suffix(path)
    if suffix == ".npz":
        program = program_of_arrays(read_arrays(path, max_bytes), str(path))
    else:
        # Where a format holds one triangle of P, nothing was changed.
        read = _FORMATS[suffix][0](read_bytes(path, max_bytes), str(path))
        program = replace(read, symmetrised=False)
    return program if program.name else replace(program, name=path.name.partition(".")[0])


def write_program(program: QuadraticArrays | StandardForm, path: str | Path) -> Path:
    """Write a program in the sense of its source, in the format that the file's name ends with.

    What is written is read to the last bit, or it is refused: .in holds nothing but programs on the
    unit box, .lp and .mps no finite bounds and right-hand sides of 1e20 and more. Names of
    variables and rows are kept by .npz, by .qplib where they have no blanks, and by .lp and .mps
    where they are plain words; otherwise they become x1, x2, ... and r1, r2, ...; the name of the
    program is kept by .npz and, without blanks, by .qplib. A file that exists is replaced in one
    step.
    """
    path = Path(path)
    suffix = _suffix(path)
    if suffix == ".npz":
        content = npz_content(program.arrays() if isinstance(program, StandardForm) else program)
    else:
        form = program if isinstance(program, StandardForm) else StandardForm.of(program)
        content = _FORMATS[suffix][1](form, str(path))
    # Without a time, equal programs make equal files.
    packed = path.suffix == ".gz"
    write_bytes(path, gzip.compress(content, mtime=0) if packed else content)
    return path


def _suffix(path: Path) -> str:
    """The ending that tells the format."""
    packed = path.suffix == ".gz"
    suffix = path.with_suffix("").suffix if packed else path.suffix
    if suffix not in _FORMATS and (packed or suffix != ".npz"):
        known = ", ".join([*_FORMATS, ".npz"])
        raise DataError("path", f"a file name ending in {known}", str(path))
    return suffix
