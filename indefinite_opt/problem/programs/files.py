"""Quadratic programs from and to files, by the ends of their names.

    .in           box-constrained programs of the public library (`boxqp_format`)
    .lp, .mps     formats of linear programming, with quadratic objectives (`lp_format`,
                  `mps_format`)
    .npz          arrays by name, among them what this package exports (`npz_format`)
    .qplib        QPLIB (`qplib_format`)

All but .npz may be packed by gzip: `spar.in.gz`.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from indefinite_opt.errors import DataError
from indefinite_opt.foundation import MAX_BYTES, read_arrays, read_bytes, write_bytes
from indefinite_opt.problem.programs.arrays import QuadraticArrays
from indefinite_opt.problem.programs.boxqp_format import read_boxqp, write_boxqp
from indefinite_opt.problem.programs.lp_format import read_lp, write_lp
from indefinite_opt.problem.programs.mps_format import read_mps, write_mps
from indefinite_opt.problem.programs.npz_format import program_of_arrays, write_npz
from indefinite_opt.problem.programs.qplib_format import read_qplib, write_qplib
from indefinite_opt.problem.programs.standard_form import StandardForm

_READERS: dict[str, Callable[[bytes, str], QuadraticArrays]] = {
    ".in": read_boxqp,
    ".qplib": read_qplib,
    ".lp": read_lp,
    ".mps": read_mps,
}

_WRITERS: dict[str, Callable[[QuadraticArrays, str], bytes]] = {
    ".in": write_boxqp,
    ".npz": write_npz,
}

_STATED: dict[str, Callable[[StandardForm, str], bytes]] = {
    ".qplib": write_qplib,
    ".lp": write_lp,
    ".mps": write_mps,
}


def read_program(path: str | Path, max_bytes: int = MAX_BYTES) -> QuadraticArrays:
    """The quadratic program of a file, as a minimisation; its `sense` tells what the file says.

    A program without a name gets that of the file. `max_bytes` is the largest size of the unpacked
    file.
    """
    path = Path(path)
    suffix, _ = _suffix(path, [*_READERS, ".npz"])
    if suffix == ".npz":
        program = program_of_arrays(read_arrays(path, max_bytes), str(path))
    else:
        # Where a format holds one triangle of P, nothing was changed.
        read = _READERS[suffix](read_bytes(path, max_bytes), str(path))
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
    suffix, packed = _suffix(path, [*_WRITERS, *_STATED])
    if suffix in _STATED:
        stated = program if isinstance(program, StandardForm) else StandardForm.of(program)
        content = _STATED[suffix](stated, str(path))
    else:
        arrays = program.arrays() if isinstance(program, StandardForm) else program
        content = _WRITERS[suffix](arrays, str(path))
    # Without a time, equal programs make equal files.
    write_bytes(path, gzip.compress(content, mtime=0) if packed else content)
    return path


def _suffix(path: Path, known: list[str]) -> tuple[str, bool]:
    """The ending that tells the format, and whether the file is packed."""
    packed = path.suffix == ".gz"
    suffix = path.with_suffix("").suffix if packed else path.suffix
    if suffix not in known or (packed and suffix == ".npz"):
        raise DataError("path", f"a file name ending in {', '.join(known)}", str(path))
    return suffix, packed
