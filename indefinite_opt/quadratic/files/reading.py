"""Quadratic programs from and to files, by the ends of their names.

    .in           box-constrained programs of the public library
    .lp           a format of linear programming, with quadratic objectives (`lp_format`)
    .mps, .qps    another one (`mps_format`); both endings stand for the same format
    .npz          arrays by name, among them what this package exports (`npz_format`)
    .qplib        QPLIB (`qplib_format`)

All but .npz may be packed by gzip: `spar.in.gz`. Endings may have capitals. Text is in UTF-8, or in
an encoding that agrees with it for the letters of ASCII; a byte order mark of UTF-8 is skipped.

A `.in` file holds the number n, the n numbers of c and the n² numbers of Q, separated by white
space, for the maximum of ½ xᵀQ x + cᵀx over 0 ≤ x ≤ 1, which the readme of the library says in
these letters [B]_. Here it becomes the minimisation of the negative, with `sense` -1. Other
collections mean the minimum, and the file does not say which: `read_program` takes the sense.

References
----------
.. [B] S. Burer, BoxQP instances, https://github.com/sburer/BoxQP_instances: those of Vandenbussche
   and Nemhauser (2005) and of Burer and Vandenbussche (2009).
"""

from __future__ import annotations

import codecs
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from indefinite_opt.errors import DataError, ParameterError, shown
from indefinite_opt.foundation import MAX_BYTES, read_arrays, read_bytes, write_bytes
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.files.lp_format import read_lp, write_lp
from indefinite_opt.quadratic.files.mps_format import read_mps, write_mps
from indefinite_opt.quadratic.files.npz_format import program_of_arrays, write_npz
from indefinite_opt.quadratic.files.qplib_format import read_qplib, write_qplib
from indefinite_opt.quadratic.files.tokens import content_of, number, written
from indefinite_opt.quadratic.matrices.sparse import MAX_ENTRIES, as_dense


def read_boxqp(content: bytes, source: str, sense: int = -1) -> StandardForm:
    """The program of a file's content; `DataError` if it is not of this format.

    The sense is that of the library, -1 for a maximum, or 1 for a minimum.
    """
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
    none = np.zeros(0)
    return StandardForm(
        sense, sense * numbers[:n], np.zeros(n), np.ones(n), none, none, np.zeros((0, n)), sense * Q
    )


def write_boxqp(form: StandardForm, target: str) -> bytes:
    """The content of a file; `DataError` for other bounds than 0 and 1, for rows or a constant."""
    faults = {
        "rows": np.isfinite([form.row_lower, form.row_upper]).any(),
        "other bounds": np.any(form.lower != 0.0) or np.any(form.upper != 1.0),
        "a constant": form.constant != 0.0,
    }
    unfit = [fault for fault, there in faults.items() if there]
    if unfit:
        raise DataError(
            target, "a program with bounds 0 and 1, without rows and without a constant",
            f"one with {' and '.join(unfit)}", "Write it as .qplib or .npz.",
        )  # fmt: skip
    program = form.arrays()
    lines = [[float(form.cost.size)], -program["q"], *-as_dense("P", program["P"])]
    return content_of(" ".join(map(written, line)) for line in lines)


_Reader = Callable[[bytes, str], StandardForm]
_Writer = Callable[[StandardForm, str], bytes]

_FORMATS: dict[str, tuple[_Reader, _Writer]] = {
    ".in": (read_boxqp, write_boxqp),
    ".lp": (read_lp, write_lp),
    ".mps": (read_mps, write_mps),
    ".qps": (read_mps, write_mps),
    ".qplib": (read_qplib, write_qplib),
}


SENSES = {"max": -1, "min": 1}
"""What a .in file may stand for."""


def read_program(
    path: str | Path, max_bytes: int = MAX_BYTES, sense: str | None = None
) -> dict[str, Any]:
    """The `quadratic_arrays` of a file, for a minimisation; their `sense` is that of the file.

    A program without a name gets that of the file. `max_bytes` is the largest size of the unpacked
    file. A .in file stands for a maximum, as the readme of its library says, unless `sense` is
    "min"; files of other formats state their sense, and giving one is a `ParameterError`.
    """
    path = Path(path)
    suffix = suffix_of(path)
    if sense is not None and suffix != ".in":
        hint = f"A {suffix} file states its own sense."
        raise ParameterError("sense", "a sense for .in files only", shown(sense), hint)
    if sense not in (None, *SENSES):
        raise ParameterError("sense", "'max' or 'min'", shown(sense))
    if suffix == ".npz":
        arrays = program_of_arrays(read_arrays(path, max_bytes), str(path))
    else:
        content = _text(read_bytes(path, max_bytes), str(path))
        if sense is None:
            form = _FORMATS[suffix][0](content, str(path))
        else:
            form = read_boxqp(content, str(path), SENSES[sense])
        arrays = form.arrays()
        # Where a format holds one triangle of P, nothing was changed.
        arrays["symmetrised"] &= suffix == ".in"
    arrays["name"] = arrays["name"] or path.name.partition(".")[0]
    return arrays


_FOREIGN = {
    codecs.BOM_UTF32_LE: "UTF-32", codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16",
}  # fmt: skip


def _text(content: bytes, source: str) -> bytes:
    """The content without the byte order mark of UTF-8; `DataError` for another one's."""
    for mark, encoding in _FOREIGN.items():
        if content.startswith(mark):
            hint = "Save it as UTF-8."
            raise DataError(source, "a text file in UTF-8", f"one in {encoding}", hint)
    return content.removeprefix(codecs.BOM_UTF8)


def write_program(form: StandardForm, path: str | Path) -> Path:
    """Write a program in the sense of its source, in the format that the file's name ends with.

    What is written is read back to the last bit, or it is an error: .in files hold only programs on
    the unit box, and .lp, .mps and .qps files no finite bounds and right-hand sides of 1e20 and
    more. Names of variables and rows are kept by .npz, by .qplib where they have no blanks, and by
    the others where they are plain words and none is Constant; otherwise they become x1, x2, ...
    and r1, r2,
    ...; the name of the program is kept by .npz and, without blanks, by .qplib. A .in file is
    written as in the library, for a maximum. A file that exists is replaced in one step.
    """
    path = Path(path)
    suffix = suffix_of(path)
    write = write_npz if suffix == ".npz" else _FORMATS[suffix][1]
    content = write(form, str(path))
    # Without a time, equal programs make equal files.
    write_bytes(path, gzip.compress(content, mtime=0) if _is_packed(path) else content)
    return path


def suffix_of(path: Path) -> str:
    """The ending that tells the format, in small letters."""
    packed = _is_packed(path)
    suffix = (path.with_suffix("").suffix if packed else path.suffix).lower()
    if suffix not in _FORMATS and (packed or suffix != ".npz"):
        known = ", ".join([*_FORMATS, ".npz"])
        raise DataError("path", f"a file name ending in {known}", str(path))
    return suffix


def _is_packed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"
