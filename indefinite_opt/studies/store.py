"""An append-only store of the outcomes of cells, which several processes may share.

Each line is a JSON object of its own: the key of a cell, a checksum, and the rows. A line is
appended at once when a cell is finished, under a lock, so that a process can be killed at any
moment and lose only the cells it is working on. A line that was cut off or damaged is left out with
a warning, and costs that cell alone. Of two lines of one cell the later one counts.

A process that works on a cell holds a lock on it, which the system releases when the process ends
however it ends; so processes that share a store divide the cells among them.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import warnings
import zlib
from pathlib import Path
from typing import Any, Self

from indefinite_opt.errors import DataError
from indefinite_opt.foundation import parsed_json, writing
from indefinite_opt.studies.cells import Outcome, Row

LOCKS_FROM = 2**40
"""The first byte of the file that stands for a lock: far beyond any content. This one is held while
a line is written, and those that follow stand for cells."""

LINE_START = b'{"key": "'
"""How every line begins: a file that begins otherwise and has no valid line is no store."""

MAX_FAULTS_SHOWN = 5
"""Number of unusable lines of a store that a warning names."""


class Store:
    """The outcomes of cells in a file of JSON lines.

    The path is that of a file, which is created if it does not exist, or of a folder, in which it
    is `cells.jsonl`. A read-only file can be read, but not added to; `DataError` says that a path
    cannot be opened, or is a file with other content. `outcomes` has the rows of each finished cell
    by its key, as of the last `refresh`.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path) / "cells.jsonl" if Path(path).is_dir() else Path(path)
        self.outcomes: dict[str, list[Row]] = {}
        self._read_to = self._lines = 0
        self._claimed: set[str] = set()
        with writing("record", self.path):
            self._writable = not self.path.exists() or os.access(self.path, os.W_OK)
            self._file = _opened(self.path, self._writable)
        try:
            self._check()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and release all locks."""
        os.close(self._file)

    def refresh(self) -> list[int]:
        """Read the lines that any process has added since; the numbers of damaged ones."""
        os.lseek(self._file, self._read_to, os.SEEK_SET)
        content = b"".join(iter(lambda: os.read(self._file, 2**20), b""))
        *lines, rest = content.split(b"\n")
        self._read_to += len(content) - len(rest)
        damaged = []
        for line in lines:
            self._lines += 1
            text = line.strip(b"\0 \t\r")
            outcome = _parsed(text)
            if outcome is not None:
                self.outcomes[outcome.key] = outcome.rows
            elif text:
                damaged.append(self._lines)
        return damaged

    def _check(self) -> None:
        """Refuse a file of something else, and name the damaged lines of a store."""
        damaged = self.refresh()
        os.lseek(self._file, 0, os.SEEK_SET)
        start = os.read(self._file, 2**10).strip(b"\0\n")[: len(LINE_START)]
        if not self.outcomes and not LINE_START.startswith(start):
            raise DataError(
                "record", "a store of results", f"{self.path}, which holds something else",
                "Choose another file.",
            )  # fmt: skip
        if damaged:
            more = len(damaged) - MAX_FAULTS_SHOWN
            named = ", ".join(f"line {number}" for number in damaged[:MAX_FAULTS_SHOWN])
            tail = f" and {more} more" if more > 0 else ""
            warnings.warn(f"{self.path}: left out damaged {named}{tail}", stacklevel=4)

    def add(self, outcome: Outcome) -> None:
        """Write the rows of a cell to the disk at once."""
        with writing("record", self.path):
            if not self._writable:
                raise OSError("it is read-only")
            _append(self._file, outcome)
        self.outcomes[outcome.key] = outcome.rows

    def claim(self, key: str) -> bool:
        """Whether this process may work on a cell: nobody else does.

        POSIX systems release the locks of a process on a file when it closes the file once, so
        that a process should open a store only once at a time; otherwise a cell may be run twice,
        which does no harm.
        """
        free = not self._writable or _lock(self._file, _place(key), wait=False)
        if free:
            self._claimed.add(key)
        return free

    def release(self, key: str) -> None:
        """Let others work on a cell."""
        if key in self._claimed:
            self._claimed.discard(key)
            if self._writable:
                _lock(self._file, _place(key), release=True)


def append(path: Path, outcome: Outcome) -> None:
    """Add the rows of a cell to a store that this process has not opened."""
    with writing("record", path):
        file = _opened(path, True)
        try:
            _append(file, outcome)
        finally:
            os.close(file)


def _opened(path: Path, writable: bool) -> int:
    mode = os.O_RDWR | os.O_APPEND | os.O_CREAT if writable else os.O_RDONLY
    file = os.open(path, mode | getattr(os, "O_BINARY", 0), 0o666)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError("not a file")
    return file


def _append(file: int, outcome: Outcome) -> None:
    line = {"key": outcome.key, "crc": _checksum(*outcome), "rows": outcome.rows}
    left = memoryview(json.dumps(line).encode() + b"\n")
    _lock(file, LOCKS_FROM)
    try:
        size = os.fstat(file).st_size
        if size:
            os.lseek(file, size - 1, os.SEEK_SET)
            if os.read(file, 1) != b"\n":  # somebody was killed while writing a line
                os.write(file, b"\n")
        while left:  # on a full disk a part is written first, and the next attempt raises
            left = left[os.write(file, left) :]
    finally:
        _lock(file, LOCKS_FROM, release=True)


def _parsed(line: bytes) -> Outcome | None:
    """The outcome in a line, or None if the line is damaged."""
    try:
        entry = parsed_json(line)
        key, rows = entry["key"], entry["rows"]
        whole = entry["crc"] == _checksum(key, rows) and isinstance(key, str)
        whole = whole and all(isinstance(row, dict) for row in rows)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return Outcome(key, rows) if whole else None


def _checksum(key: Any, rows: Any) -> int:
    """CRC-32 of the key and the rows as they are written."""
    return zlib.crc32(json.dumps([key, rows]).encode())


def _place(key: str) -> int:
    """The byte that stands for a cell; two cells rarely share one, and then wait for each other."""
    return LOCKS_FROM + 1 + zlib.crc32(key.encode())


def _lock(file: int, byte: int, *, wait: bool = True, release: bool = False) -> bool:
    """Whether one byte could be locked for this process, or released."""
    try:
        if sys.platform == "win32":
            import msvcrt

            take = msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK
            os.lseek(file, byte, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_UNLCK if release else take, 1)
        else:
            import fcntl

            take = fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB)
            fcntl.lockf(file, fcntl.LOCK_UN if release else take, 1, byte)
    except (BlockingIOError, PermissionError):
        return False
    return True
