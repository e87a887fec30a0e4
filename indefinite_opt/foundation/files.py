"""Reading files from any source: whatever is damaged, malformed or too large is a `DataError`."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import pickle
import pickletools
import struct
import threading
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import DataError
from indefinite_opt.foundation import checks

MAX_BYTES = 10**9
"""Largest size of an unpacked file in bytes: a kernel matrix of 11,000 points in float64 fits."""

_DAMAGE = (
    OSError, EOFError, ValueError, ArithmeticError, LookupError, TypeError, RuntimeError,
    SyntaxError, MemoryError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error,
    tokenize.TokenError,
)  # fmt: skip
"""What reading a damaged file raises: numpy reads headers with Python's own parser and tokenizer,
and passes on their errors and those of the decompressors."""


def read_bytes(path: Path, max_bytes: int = MAX_BYTES) -> bytes:
    """The content of a file of at most `max_bytes` bytes, unpacked if its name ends in .gz.

    The ending may have capitals.
    """
    checks.whole("max_bytes", max_bytes)
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            content = file.read(max_bytes + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(str(path), "a readable file", _reason(error)) from None
    if len(content) > max_bytes:
        raise _too_large(path, max_bytes)
    return content


@contextmanager
def writing(argument: str, path: str | Path, kind: str = "file") -> Iterator[None]:
    """A context in which a refusal by the operating system is a `DataError` of the argument."""
    try:
        yield
    except OSError as error:
        got = f"{path}: {_reason(error)}"
        raise DataError(argument, f"a {kind} that can be written", got) from None


def write_bytes(path: Path, content: bytes) -> None:
    """Create or replace a file in one step: where that fails, what was there stays."""
    target = path.resolve()
    new = target.with_name(f".{target.name}.{os.getpid()}-{threading.get_ident()}")
    with writing("path", path):
        if target.exists():
            with target.open("ab"):  # refused where the old file must not be changed
                pass
        if target.exists() and not target.is_file():
            target.write_bytes(content)  # a pipe or a device
            return
        try:
            new.write_bytes(content)
            if target.exists():
                new.chmod(target.stat().st_mode)
            new.replace(target)
        finally:
            new.unlink(missing_ok=True)


def read_arrays(path: Path, max_bytes: int = MAX_BYTES) -> dict[str, NDArray[Any]]:
    """The arrays of a .npz file by name; Python objects in it are an error.

    Entries that are None are left out. That the file takes at most `max_bytes` bytes is checked
    before anything is unpacked.
    """
    checks.whole("max_bytes", max_bytes)
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size <= max_bytes:
            with np.load(path, allow_pickle=False) as file:
                members = dict(zip(file.files, file.zip.namelist(), strict=True))
                given = [name for name in members if not _is_none(file.zip, members[name])]
                arrays = {name: file[name] for name in given}
            if not all(isinstance(array, np.ndarray) for array in arrays.values()):
                raise ValueError("an entry is not an array")
            return arrays
    except _DAMAGE as error:
        raise DataError("file", "a readable .npz file", f"{path}: {_reason(error)}") from None
    raise _too_large(path, max_bytes)


def _is_none(archive: zipfile.ZipFile, member: str) -> bool:
    """Whether a member holds None as an array of Python objects, none of which is made for that.

    numpy writes such an array as a pickle: its operations are compared with those for None.
    """
    with archive.open(member) as file:
        content = file.read(1000)  # several times what None takes
    start = content.find(b"\n") + 1
    if not content.startswith(b"\x93NUMPY") or b"'descr': '|O'" not in content[:start]:
        return False
    kinds = (_operations(pickle.dumps(np.array(None), protocol)) for protocol in (2, 3, 4, 5))
    return _operations(content[start:]) in kinds


def _operations(pickled: bytes) -> list[tuple[str, str]] | None:
    """What unpickling would do, whatever numpy calls its modules; None if that is malformed."""
    try:
        found = [(code.name, repr(argument)) for code, argument, _ in pickletools.genops(pickled)]
    except ValueError:
        return None
    kept = [(name, argument) for name, argument in found if name != "FRAME"]
    return [(name, argument.replace("numpy._core", "numpy.core")) for name, argument in kept]


def read_json(path: Path, argument: str, max_bytes: int = MAX_BYTES) -> Any:
    """The content of a JSON file of at most `max_bytes` bytes."""
    content = read_bytes(path, max_bytes)
    try:
        return parsed_json(content)
    except ValueError as error:
        raise DataError(argument, "a readable JSON file", f"{path}: {error}") from None


def parsed_json(content: bytes) -> Any:
    """The content of JSON; `ValueError` if it is malformed or has a key twice in an object.

    One reader of a proof would take the first value of such a key, another one the last.
    """
    try:
        return json.loads(content.decode("utf-8"), object_pairs_hook=_with_unique_keys)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _with_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(whole := dict(pairs)) < len(pairs):
        raise ValueError("a key occurs twice in an object")
    return whole


def _too_large(path: Path, max_bytes: int) -> DataError:
    return DataError(
        str(path), f"at most {max_bytes} bytes, unpacked", "more", "Pass a larger max_bytes."
    )


def _reason(error: BaseException) -> str:
    words = getattr(error, "strerror", None) or str(error)  # without the name of the file again
    return " ".join(words.split()) or type(error).__name__
