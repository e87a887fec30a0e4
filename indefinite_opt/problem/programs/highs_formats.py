"""The formats `.lp` and `.mps`, read by HiGHS.

The objective is c₀ + cᵀx + ½ xᵀQ x in both: as [ ... ] / 2 in an .lp file, and in a section QUADOBJ
or QMATRIX of an .mps file. A coefficient of at most 1e-12 would be dropped by HiGHS and is refused
instead. HiGHS also writes the .mps files, with 15 significant digits, so that integers and short
decimals survive exactly.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from indefinite_opt.errors import DataError
from indefinite_opt.foundation import TimeLimitReached, in_child
from indefinite_opt.problem.programs.arrays import (
    MAX_ENTRIES,
    QuadraticArrays,
    quadratic_arrays,
    split_rows,
)
from indefinite_opt.problem.programs.tokens import written

__all__ = ["read_highs", "write_lp", "write_mps"]

SMALLEST_COEFFICIENT = 1e-12
"""Coefficients of rows and of the Hessian up to this size are dropped: the least that HiGHS allows
for its option small_matrix_value."""

MIN_SECONDS, SECONDS_PER_BYTE = 5.0, 1e-5
"""Time that HiGHS has to read a file: this many seconds, and ten for each megabyte, which is a
hundred times what it needs."""


def _silent_highs() -> Any:
    import highspy

    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("small_matrix_value", SMALLEST_COEFFICIENT)
    return highs


LAST_WORDS = {".lp": b"end", ".mps": b"endata"}
"""The word in the last line of a complete file, by format; HiGHS reads truncated files as well."""


class _Model(NamedTuple):
    """What HiGHS has read, and the lines in which it says that it has not read everything."""

    complaints: list[str]
    sense: int = 1
    hessian: Any = None
    cost: Any = None
    rows: Any = None
    bounds: tuple[Any, ...] = ()
    constant: float = 0.0
    discrete: int = 0
    variables: tuple[str, ...] = ()


def read_highs(content: bytes, source: str, suffix: str) -> QuadraticArrays:
    """The program of the content of an .lp or .mps file.

    HiGHS reads it in a process of its own, since malformed files can keep it in an endless loop.

    Raises
    ------
    DataError
        If HiGHS cannot read it, which is quoted, or if it has integer or semicontinuous variables.
    """
    _check_end(content, source, LAST_WORDS[suffix])
    expected = f"a program that HiGHS can read from {suffix}"
    seconds = MIN_SECONDS + SECONDS_PER_BYTE * len(content)
    try:
        model = in_child(seconds, _read_quietly, content, source, suffix)
    except TimeLimitReached:
        raise DataError(source, expected, f"no end after {seconds:.3g} s") from None
    except RuntimeError as error:
        raise DataError(source, expected, str(error)) from None
    if model.complaints:
        raise DataError(source, expected, "; ".join(model.complaints))
    if model.discrete:
        raise DataError(
            source, "continuous variables", f"{model.discrete} integer or semicontinuous variables"
        )
    n, sense = model.cost.size, model.sense
    if n * max(n, model.rows.shape[0]) > MAX_ENTRIES:
        raise DataError(source, f"at most {MAX_ENTRIES} entries", f"{n} variables")
    lower, upper, row_lower, row_upper = model.bounds
    return quadratic_arrays(
        sense * model.hessian, sense * model.cost,
        *split_rows(model.rows.toarray(), row_lower, row_upper), lower, upper,
        constant=sense * model.constant, sense=sense, variables=model.variables,
    )  # fmt: skip


def _check_end(content: bytes, source: str, last: bytes) -> None:
    if b"\0" in content:
        raise DataError(source, "a text file", "a byte 0")
    # A comment follows a backslash in .lp files, and an asterisk that begins a line of .mps files.
    lines = (line.partition(b"\\")[0].strip() for line in reversed(content.splitlines()))
    end = next((line for line in lines if line and not line.startswith(b"*")), b"")
    if end.lower() != last:
        shown = repr(end[:80].decode("utf-8", "replace"))
        word = last.decode().upper()
        raise DataError(source, f"a last line {word}", shown, "The file may be truncated.")


def _read_quietly(content: bytes, source: str, suffix: str) -> _Model:
    """`_read` where nothing that HiGHS prints past its options is seen."""
    if sys.platform == "linux":  # where this is a process of its own
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return _read(content, source, suffix)


def _read(content: bytes, source: str, suffix: str) -> _Model:
    import highspy

    with tempfile.TemporaryDirectory() as folder:
        file, log = Path(folder, f"model{suffix}"), Path(folder, "log")
        file.write_bytes(content)
        log.touch()
        highs = _silent_highs()
        highs.setOptionValue("output_flag", True)
        highs.setOptionValue("log_to_console", False)
        highs.setOptionValue("log_file", str(log))
        status = highs.readModel(str(file))
        highs.setOptionValue("log_file", "")
        messages = log.read_text(errors="replace").replace(str(file), source).splitlines()
    model, lp = highs.getModel(), highs.getModel().lp_
    complaints = [
        line.partition(":")[2].strip()
        for line in messages
        if line.startswith("ERROR") or "ignored" in line
    ]
    if complaints or status == highspy.HighsStatus.kError or lp.num_col_ == 0:
        return _Model(complaints or ["no variables"])
    n, hessian = lp.num_col_, model.hessian_
    columnwise = lp.a_matrix_.format_ == highspy.MatrixFormat.kColwise
    bounds = (lp.col_lower_, lp.col_upper_, lp.row_lower_, lp.row_upper_)
    entries = _matrix(hessian, (n, n), True) if hessian.dim_ else sparse.csc_array((n, n))
    if hessian.format_ == highspy.HessianFormat.kTriangular:
        entries = entries + sparse.tril(entries, -1).T
    return _Model(
        [],
        1 if lp.sense_ == highspy.ObjSense.kMinimize else -1,
        entries,
        np.array(lp.col_cost_),
        _matrix(lp.a_matrix_, (lp.num_row_, n), columnwise),
        tuple(np.array(bound) for bound in bounds),
        lp.offset_,
        sum(kind != highspy.HighsVarType.kContinuous for kind in lp.integrality_),
        _names(lp),
    )


def _names(lp: Any) -> tuple[str, ...]:
    """The names of the variables, none if they are not in UTF-8."""
    try:
        return tuple(lp.col_names_)
    except UnicodeDecodeError:
        return ()


def _matrix(matrix: Any, shape: tuple[int, int], columnwise: bool) -> Any:
    """A matrix of HiGHS as one of scipy."""
    parts = (np.array(matrix.value_), np.array(matrix.index_), np.array(matrix.start_))
    return (sparse.csc_array if columnwise else sparse.csr_array)(parts, shape=shape)


def write_mps(program: QuadraticArrays, target: str) -> bytes:
    """The content of an .mps file as HiGHS writes it; `DataError` if it does not."""
    import highspy

    n, sense = program.n, program.sense
    rows = sparse.csr_array(np.vstack([program.G, program.A]))
    lower = np.concatenate([np.full(len(program.h), -np.inf), program.b])
    upper = np.concatenate([program.h, program.b])
    highs = _silent_highs()
    direction = highspy.ObjSense.kMinimize if sense > 0 else highspy.ObjSense.kMaximize
    highs.passModel(
        n, rows.shape[0], rows.nnz, int(highspy.MatrixFormat.kRowwise), int(direction),
        sense * program.constant, sense * program.q, program.lb, program.ub, lower, upper,
        rows.indptr.astype(np.int32), rows.indices.astype(np.int32), rows.data,
        np.zeros(n, np.int32),
    )  # fmt: skip
    triangle = sparse.csc_array(np.tril(sense * program.P))
    if triangle.nnz:
        highs.passHessian(
            n, triangle.nnz, highspy.HessianFormat.kTriangular,
            triangle.indptr.astype(np.int32), triangle.indices.astype(np.int32), triangle.data,
        )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "model.mps")
        status = highs.writeModel(str(file))
        if status == highspy.HighsStatus.kError or not file.exists():
            raise DataError(target, "a program that HiGHS can write", str(status))
        return file.read_bytes()


def write_lp(program: QuadraticArrays, target: str) -> bytes:
    """The content of an .lp file, with variables x1, x2, ... in their order.

    HiGHS numbers the variables of an .lp file in the order in which they appear, so that all of
    them stand in the linear part of the objective. Numbers are written to the last bit.
    """
    del target
    n, sense = program.n, program.sense
    P, names = sense * program.P, [f"x{j + 1}" for j in range(n)]
    terms = [
        f"{_signed(value)} {name}" for value, name in zip(sense * program.q, names, strict=True)
    ]
    terms.append(_signed(sense * program.constant))
    if P.any():
        diagonal = [f"{_signed(P[j, j])} {names[j]} ^2" for j in range(n) if P[j, j]]
        pairs = np.argwhere(np.triu(P, 1))
        products = [f"{_signed(2.0 * P[i, j])} {names[i]} * {names[j]}" for i, j in pairs]
        terms += ["+ [", *diagonal, *products, "] / 2"]
    lines = ["minimize" if sense > 0 else "maximize", *_wrapped("objective:", terms), "subject to"]
    for sign, rows, right in (("<=", program.G, program.h), ("=", program.A, program.b)):
        for row, value in zip(rows, right, strict=True):
            terms = [f"{_signed(row[j])} {names[j]}" for j in np.flatnonzero(row)] or ["+ 0 x1"]
            lines += _wrapped("", [*terms, sign, written(value)])
    lines.append("bounds")
    for name, lower, upper in zip(names, program.lb, program.ub, strict=True):
        lines.append(f" {_extended(lower)} <= {name} <= {_extended(upper)}")
    return ("\n".join([*lines, "end"]) + "\n").encode()


def _signed(value: float) -> str:
    return f"{'-' if value < 0 else '+'} {written(abs(value))}"


def _extended(value: float) -> str:
    return written(value) if np.isfinite(value) else f"{'-' if value < 0 else '+'}inf"


def _wrapped(start: str, terms: list[str]) -> list[str]:
    """The terms in lines of eight, which are shorter than every reader's limit."""
    lines = [" ".join(terms[k : k + 8]) for k in range(0, len(terms), 8)]
    return [f" {start} {line}".rstrip() if k == 0 else f"  {line}" for k, line in enumerate(lines)]
