"""Quadratic programs from and to files, by the ends of their names.

    .in           box-constrained programs of the public library (`boxqp_format`)
    .lp, .mps     formats of linear programming, with quadratic objectives (`highs_formats`)
    .npz          arrays by name, among them what this package exports (`npz_format`)
    .qplib        QPLIB (`qplib_format`)

All but .npz may be packed by gzip: `spar.in.gz`.
"""

from __future__ import annotations

import functools
import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from indefinite_opt.errors import DataError
from indefinite_opt.foundation import MAX_BYTES, read_arrays, read_bytes
from indefinite_opt.problem.programs.arrays import QuadraticArrays
from indefinite_opt.problem.programs.boxqp_format import read_boxqp, write_boxqp
from indefinite_opt.problem.programs.highs_formats import read_highs, write_lp, write_mps
from indefinite_opt.problem.programs.npz_format import program_of_arrays, write_npz
from indefinite_opt.problem.programs.qplib_format import read_qplib, write_qplib

__all__ = ["read_program", "write_program"]

_READERS: dict[str, Callable[[bytes, str], QuadraticArrays]] = {
    ".in": read_boxqp,
    ".qplib": read_qplib,
    ".lp": functools.partial(read_highs, suffix=".lp"),
    ".mps": functools.partial(read_highs, suffix=".mps"),
}

_WRITERS: dict[str, Callable[[QuadraticArrays, str], bytes]] = {
    ".in": write_boxqp,
    ".qplib": write_qplib,
    ".lp": write_lp,
    ".mps": write_mps,
    ".npz": write_npz,
}


def read_program(path: str | Path, max_bytes: int = MAX_BYTES) -> QuadraticArrays:
    """The quadratic program of a file, as a minimisation; its `sense` tells what the file says.

    A program without a name gets that of the file.

    Parameters
    ----------
    path : path
        Ending in .in, .lp, .mps, .npz or .qplib, or in one of these but .npz and .gz.
    max_bytes : int
        Largest size of the unpacked file in bytes.

    Raises
    ------
    DataError
        For another ending, and for a file that cannot be read or does not keep to its format.
    ProblemError
        For numbers that make no program, such as a lower bound above the upper one.
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


def write_program(program: QuadraticArrays, path: str | Path) -> Path:
    """Write a program in the sense of its source, in the format that the file's name ends with.

    .npz, .qplib and .lp keep every number to the last bit, and so does .in, which holds nothing but
    programs on the unit box; .mps keeps 15 digits. Names of variables are kept by .qplib only.

    Raises
    ------
    DataError
        For another ending, one that cannot hold the program, or a file that cannot be written.
    """
    path = Path(path)
    suffix, packed = _suffix(path, _WRITERS)
    content = _WRITERS[suffix](program, str(path))
    try:
        # Without a time, equal programs make equal files.
        path.write_bytes(gzip.compress(content, mtime=0) if packed else content)
    except OSError as error:
        raise DataError("path", "a file that can be written", f"{path}: {error.strerror}") from None
    return path


def _suffix(path: Path, known: list[str] | dict[str, Callable[..., bytes]]) -> tuple[str, bool]:
    """The ending that tells the format, and whether the file is packed."""
    packed = path.suffix == ".gz"
    suffix = path.with_suffix("").suffix if packed else path.suffix
    if suffix not in known or (packed and suffix == ".npz"):
        raise DataError("path", f"a file name ending in {', '.join(known)}", str(path))
    return suffix, packed
