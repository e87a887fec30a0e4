"""A file of JSON lines that only grows, and that one process at a time may write."""

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
"""Seconds between two attempts to lock a file."""


class Journal:
    """JSON lines in a file, which is locked until `close`, or until the process ends in any way.

    Another process that opens the same file waits until then, and says so. Lines that are no JSON,
    of zeros or blank cost only themselves. What follows the last line break was cut short by a
    crash, unless it is whole: the next line takes its place.

    Parameters
    ----------
    path : Path
        Made if it does not exist. A file that may only be read can be opened, but not added to.

    Attributes
    ----------
    path : Path
    entries : list of (int, object)
        Number and content of each line that was there.
    damaged : list of int
        Numbers of the lines that are no JSON.
    cut : bytes
        What follows the last line break, if it is no whole line.

    Raises
    ------
    DataError
        If the file cannot be opened or locked, or is none; from `append`, if it cannot be written.
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
        """Let go of the file."""
        self._file.close()

    def latest(
        self, key: Callable[[Any], Hashable], fault: Callable[[Any], str | None] = lambda entry: ""
    ) -> tuple[dict[Any, Any], list[str]]:
        """What is finished, and what is wrong with the lines that are left out.

        Parameters
        ----------
        key : callable
            Of an entry: of those with the same key the last one counts.
        fault : callable
            Why an entry is left out, empty if it is not, and None if nothing is wrong with it.
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
        """Add a line, in one piece and at once."""
        line = self._separator + json.dumps(entry).encode() + b"\n"
        try:
            if self.cut:
                self._file.truncate(self._end)
            # Unbuffered: after an error nothing is left to be written later. On a full disk a
            # part of the line is written, and the rest raises.
            left = memoryview(line)
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            raise self._unusable(error) from None
        self._separator = self.cut = b""

    def clear(self) -> None:
        """Forget all lines."""
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
    """Lock a file for this process, or say that another has it; the system itself unlocks it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            # A byte behind every content: on Windows nobody else could read a locked one.
            file.seek(2**40)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
