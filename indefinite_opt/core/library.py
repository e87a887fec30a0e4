"""The compiled library: which build this process uses, its functions and its constants.

There are two builds, `generic` and, on x86-64, `avx2`, which processors with these vector
instructions take. Both compute the same numbers. The environment variable INDEFINITE_OPT_CORE
names one of them, or the path of another build.
"""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import zlib
from collections.abc import Callable
from ctypes import PYFUNCTYPE, c_char_p, c_double, c_int64, c_uint32, c_void_p, py_object
from pathlib import Path
from typing import Any

from indefinite_opt.errors import BuildError, ParameterError

FOLDER = Path(__file__).parent

VARIABLE = "INDEFINITE_OPT_CORE"

GENERIC, AVX2 = "generic", "avx2"


def path_of(build: str, folder: Path = FOLDER) -> Path:
    """Where the library of a build is."""
    return folder / f"{build}.core"


def checksum(folder: Path) -> int | None:
    """The number that `build_tools/compiler.py` gives to the sources here; None without sources."""
    files = sorted([*folder.glob("*.cpp"), *folder.glob("*.h")])
    if not files:
        return None
    return functools.reduce(lambda found, path: zlib.crc32(path.read_bytes(), found), files, 0)


def opened(path: Path, folder: Path = FOLDER) -> ctypes.CDLL:
    """A library that belongs to the sources in a folder, if there are any; or `BuildError`."""
    reason = "was not built"
    if path.exists():
        try:
            found = ctypes.CDLL(str(path))
            sources = c_uint32.in_dll(found, "sources").value
        except (OSError, ValueError) as error:  # ValueError: it is another library
            reason = f"cannot be loaded ({error})"
        else:
            if checksum(folder) in (None, sources):
                return found
            reason = "is that of other sources"
    raise BuildError(
        f"the compiled core for {platform.system()} on {platform.machine()} {reason}: {path}. "
        "`pip install .` in a copy of the repository builds it with gcc, clang or the package "
        "ziglang; in an editable installation `python build_tools/compiler.py` does"
    )


def chosen(wanted: str, folder: Path = FOLDER) -> tuple[str, ctypes.CDLL]:
    """The build that INDEFINITE_OPT_CORE names, or the one for this processor if it is empty."""
    if wanted not in ("", GENERIC, AVX2):
        path = Path(wanted)
        if path.is_file():
            return wanted, opened(path, folder)
        expected = f"empty, {GENERIC}, {AVX2}, or the path of a library"
        raise ParameterError(VARIABLE, expected, repr(wanted))
    generic = opened(path_of(GENERIC, folder), folder)
    fast = bool(generic.has_avx2())
    if wanted == AVX2 and not fast:
        raise ParameterError(VARIABLE, "a build that this processor runs", repr(wanted))
    if wanted == GENERIC or not fast:
        return GENERIC, generic
    return AVX2, opened(path_of(AVX2, folder), folder)


build, library = chosen(os.environ.get(VARIABLE, ""))

has_avx2 = bool(library.has_avx2())


def function(name: str, *arguments: Any, returns: Any = None) -> Callable[..., Any]:
    """A function of the library, with the types of its arguments and of its result.

    ctypes releases the interpreter's lock during a call.
    """
    found: Any = getattr(library, name)
    found.argtypes, found.restype = arguments, returns
    return found


def constant(name: str) -> float:
    """A number that the C++ states."""
    return c_double.in_dll(library, f"constant_{name}").value


def layout(name: str, fields: int) -> list[int]:
    """The size of a structure in C++, and the offsets of its fields."""
    found: Any = function(f"layout_{name}", returns=ctypes.POINTER(c_int64))()[: fields + 1]
    return list(found)


def scipy_pointer(module: Any, name: str, signature: str) -> int:
    """The address of a function of SciPy's BLAS or LAPACK, if it has this signature.

    SciPy hands its functions over as capsules, whose names are their signatures. One built with
    64-bit integers is refused.
    """
    # Functions of our own: the types of those that `pythonapi` keeps are those of any package.
    get_name = PYFUNCTYPE(c_char_p, py_object)(("PyCapsule_GetName", ctypes.pythonapi))
    kind = PYFUNCTYPE(c_void_p, py_object, c_char_p)
    get_pointer = kind(("PyCapsule_GetPointer", ctypes.pythonapi))
    capsule = module.__pyx_capi__[name]
    given: bytes = get_name(capsule)
    # Numbers are `double`, under the name that the file of SciPy gives this type.
    plain = given.decode().replace(f"__pyx_t_5scipy_6linalg_{_length(module)}_d", "double")
    if plain != signature:
        where = f"{module.__name__}.{name}"
        hint = "Install SciPy from the package index or conda-forge."
        raise BuildError(f"{where}: expected the signature {signature}, got {plain}. {hint}")
    address: int = get_pointer(capsule, given)
    return address


def _length(module: Any) -> str:
    """The last part of a module's name as Cython writes it, after its length."""
    last = module.__name__.rpartition(".")[2]
    return f"{len(last)}{last}"
