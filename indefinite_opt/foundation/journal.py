"""An append-only file of JSON lines, written by one process at a time."""

from __future__ import annotations

import io
import json
import os
import stat
import sys
import time
import warnings
from collections.abc import Callable, Hashable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from indefinite_opt.errors import DataError
from indefinite_opt.foundation.files import parsed_json

__all__ = ["Journal"]

_WAIT = 0.2
"""Seconds between two attempts to lock a file that another process is writing."""


class Journal:
    """JSON lines in a file, which stays locked until `close` or the end of the process.

    Another process that opens the same file warns, and waits until then. Damaged or blank lines do
    not affect the others. Text after the last line break that is not a complete JSON object was cut
    off by a crash: the next line overwrites it.

    Parameters
    ----------
    path : Path
        Created if it does not exist. A read-only file can be opened, but not added to.

    Attributes
    ----------
    path : Path
    entries : list of (int, object)
        Number and content of each line that the file had when it was opened.
    damaged : list of int
        Numbers of the lines that are not JSON.
    cut : bytes
        What follows the last line break, if it is not a complete line.

    Raises
    ------
    DataError
        If the path cannot be opened or locked, or is not a file; from `append` and `clear`, if it
        cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries: list[tuple[int, Any]] = []
        self.damaged: list[int] = []
        self.cut = self._separator = b""
        self._end = 0
        readable = path.exists() and not os.access(path, os.W_OK)
        try:
            self._file = path.open("rb" if readable else "a+b", buffering=0)
        except OSError as error:
            raise self._unusable(error) from None
        try:
            self._wait()
            self._read()
        except OSError as error:
            self.close()
            raise self._unusable(error) from None
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close and unlock the file."""
        self._file.close()

    def latest(
        self, key: Callable[[Any], Hashable], fault: Callable[[Any], str | None] = lambda entry: ""
    ) -> tuple[dict[Any, Any], list[str]]:
        """The latest entry of each key, and what is wrong with the lines that were left out.

        Parameters
        ----------
        key : callable
            Key of an entry; of those with the same key the last one counts.
        fault : callable
            Empty text for an entry to keep, the reason for one that is wrong, and None for one to
            leave out silently.
        """
        found: dict[Any, Any] = {}
        faults = [f"line {number} is not JSON" for number in self.damaged]
        for number, entry in self.entries:
            reason = fault(entry)
            if reason == "":
                found[key(entry)] = entry
            elif reason:
                faults.append(f"line {number}: {reason}")
        return found, faults

    def append(self, entry: object) -> None:
        """Add a line and write it immediately."""
        line = self._separator + json.dumps(entry).encode() + b"\n"
        try:
            if self.cut:
                self._file.truncate(self._end)
            # Unbuffered: after an error nothing is left to be written later. On a full disk only
            # a part of the line is written at first, and the next attempt raises.
            left = memoryview(line)
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            raise self._unusable(error) from None
        self._separator = self.cut = b""

    def clear(self) -> None:
        """Delete all lines."""
        try:
            self._file.truncate(0)
        except OSError as error:
            raise self._unusable(error) from None
        self._read()

    def _wait(self) -> None:
        if not stat.S_ISREG(os.fstat(self._file.fileno()).st_mode):
            raise OSError("not a file")
        if not _lock(self._file):
            warnings.warn(f"{self.path} is being written; waiting for its end.", stacklevel=2)
            while not _lock(self._file):
                time.sleep(_WAIT)

    def _read(self) -> None:
        self.entries, self.damaged, self._separator = [], [], b""
        self._file.seek(0)
        content = self._file.read()
        *lines, self.cut = content.split(b"\n")
        self._end = len(content) - len(self.cut)
        for number, line in enumerate(lines, start=1):
            text = line.strip(b"\0 \t\r")
            try:
                if text:
                    self.entries.append((number, parsed_json(text)))
            except ValueError:
                self.damaged.append(number)
        try:
            last = parsed_json(self.cut)
        except ValueError:
            return
        # An object has its closing brace: only the line break is missing.
        if isinstance(last, dict):
            self.entries.append((len(lines) + 1, last))
            self.cut, self._separator = b"", b"\n"

    def _unusable(self, error: OSError) -> DataError:
        reason = error.strerror or str(error)
        return DataError("record", "a file that can be written", f"{self.path}: {reason}")


def _lock(file: io.FileIO) -> bool:
    """Whether the file could be locked for this process; the system unlocks it at the end."""
    try:
        if sys.platform == "win32":
            import msvcrt

            # A byte beyond any content, since Windows lets no other process read a locked byte.
            file.seek(2**40)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
