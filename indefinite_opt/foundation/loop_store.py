"""The machine code of compiled loops on disk: with the package, and in numba's folders.

numba's own files cannot come with a package: they are numbered in an index of each function, which
processes that compile at the same time mix up, and a loop is not compiled anew when one that it
calls in another file has changed. Here one file holds one loop for one tuple of argument types,
and its name is a hash of everything that its contents depend on. So a file that is found is right,
and one of another program, processor or version is never found.

The base class is an internal one of numba. If a future version has none like it, importing this
module raises `ImportError` or `AttributeError`, and loops are kept as numba does.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import sys
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba.core import config
from numba.core.caching import FunctionCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature

SHIPPED = Path(__file__).with_name("machine_code")
"""The folder of the machine code that comes with the package, which is made when it is built."""

SUFFIX = ".loop"

_PACKAGE = Path(__file__).parents[1]

_reduced, _rebuilt, _key = CompileResult._reduce, CompileResult._rebuild, FunctionCache._index_key


def _hash(*parts: bytes) -> str:
    """64 bits, which tell all programs apart, in hexadecimal digits."""
    total = hashlib.sha256()
    for part in parts:
        total.update(hashlib.sha256(part).digest())
    return total.hexdigest()[:16]


@functools.cache
def _loop_files() -> tuple[Path, ...]:
    """The files that hold the loops of the package, which begin with an underscore, and ours."""
    own = Path(__file__)
    return (*sorted(_PACKAGE.rglob("_[!_]*.py")), own, own.with_name("loops.py"))


@functools.cache
def _hash_of_all_loops() -> str:
    return _hash(*(path.read_bytes() for path in _loop_files()))


def _source_hash(loop: Callable[..., Any]) -> str:
    """Of all loops of the package, if this is one of them, else of the file of the loop."""
    source = Path(loop.__code__.co_filename)
    if source in _loop_files():
        return _hash_of_all_loops()
    with suppress(OSError):
        return _hash(source.read_bytes())
    return ""


def _trusted(path: Path) -> bytes:
    """The content of a file of ours, of root, or of whoever owns this package.

    Unpickling runs what a file says, and others may be able to write to its folder.
    """
    with path.open("rb") as file:
        if hasattr(os, "geteuid"):  # not on Windows
            owner = os.fstat(file.fileno()).st_uid
            if owner not in (0, os.geteuid(), Path(__file__).stat().st_uid):
                raise PermissionError(f"{path} belongs to another user")
        return file.read()


class LoopStore(FunctionCache):  # type: ignore[misc]  # numba has no types
    """Where numba looks for the machine code of a loop, and keeps it."""

    _cache_path: str | None
    _impl: Any

    def __init__(self, loop: Callable[..., Any]) -> None:
        try:
            super().__init__(loop)
        except RuntimeError:  # there is no folder that numba can write to
            self._py_func, self._impl, self._cache_path = loop, None, None
            self.enable()
        name = f"{loop.__module__}.{loop.__qualname__}"
        self._stem = "".join(c if c.isalnum() or c in "._" else "-" for c in name)
        self._source = _source_hash(loop)

    def file_name(self, signature: Any, codegen: Any) -> str:
        """The name of the file for some argument types."""
        types, _ = normalize_signature(signature)
        settings = (
            numba.__version__, sys.implementation.cache_tag, str(config.OPT), config.BOUNDSCHECK,
            getattr(config, "USING_SVML", None), self._py_func.__code__.co_firstlineno,
            [getattr(each, "fields", None) for each in types], _key(self, types, codegen),
        )  # fmt: skip
        return f"{self._stem}-{self._source}-{_hash(repr(settings).encode())}{SUFFIX}"

    def _load_overload(self, signature: Any, target_context: Any) -> Any:
        name = self.file_name(signature, target_context.codegen())
        for folder in (SHIPPED, self._cache_path):
            # A file that is cut off, cannot be read or is another user's is as good as none.
            with suppress(Exception):
                if folder is not None:
                    payload = pickle.loads(_trusted(Path(folder, name)))
                    return _rebuilt(target_context, *payload)
        return None

    def _save_overload(self, signature: Any, result: Any) -> None:
        if self._cache_path is None or not self._impl.check_cachable(result):
            return
        folder, name = Path(self._cache_path), self.file_name(signature, result.codegen)
        contents = dumps(_reduced(result))
        with suppress(OSError):  # the loop is there all the same
            folder.mkdir(parents=True, exist_ok=True)
            part = folder / f"{uuid.uuid4().hex}.part"
            part.write_bytes(contents)
            os.replace(part, folder / name)
            for old in folder.glob(f"{self._stem}-*{SUFFIX}"):
                if not old.name.startswith(f"{self._stem}-{self._source}-"):
                    old.unlink()
