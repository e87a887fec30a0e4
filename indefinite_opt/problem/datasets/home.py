"""The folder that holds the data, and OpenML, from which missing sets are fetched."""

from __future__ import annotations

import os
import warnings
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indefinite_opt.errors import DataError
from indefinite_opt.foundation import MAX_BYTES

VARIABLE = "INDEFINITE_OPT_DATA"
"""Environment variable that names the data folder."""

HINT = f"Set {VARIABLE} to the folder that holds the data, or pass data_dir."


@dataclass(frozen=True)
class Home:
    """The folder with the files of named sets, and the largest size of a file in bytes."""

    data_dir: str | Path | None
    max_bytes: int = MAX_BYTES

    @property
    def named(self) -> Path | None:
        """The data folder, whether it exists or not; None if none is configured."""
        named = self.data_dir if self.data_dir is not None else os.environ.get(VARIABLE)
        return Path(named).expanduser() if named else None

    @property
    def folder(self) -> Path | None:
        """The data folder; None if none is configured, `DataError` if it does not exist."""
        folder = self.named
        if folder is not None and not folder.is_dir():
            origin = "data_dir" if self.data_dir is not None else VARIABLE
            raise DataError(origin, "the folder of the data sets", f"no folder {str(folder)!r}")
        return folder

    @property
    def unlisted(self) -> list[str]:
        """Names of the tables in the folder; empty if it does not exist."""
        return [path.stem for path in (self.named / "uci").glob("*.csv")] if self.named else []

    def file(self, *parts: str) -> Path | None:
        """A file of the folder; None if it is not there."""
        path = self.folder.joinpath(*parts) if self.folder else None
        return path if path and path.is_file() else None

    def needed_file(self, *parts: str) -> Path:
        """A file of the folder; `DataError` if it is not there."""
        path = self.file(*parts)
        if path is None:
            got = f"no such file in {str(self.folder)!r}" if self.folder else "no data folder"
            raise DataError("data_dir", f"the file {'/'.join(parts)}", got, HINT)
        return path


def fetch(which: str | int | None) -> Any:
    """A data set of OpenML by its number or name; `DataError` if it cannot be fetched."""
    from http.client import HTTPException

    from sklearn.datasets import fetch_openml

    key = {"data_id": which} if isinstance(which, int) else {"name": which, "version": 1}
    try:
        with warnings.catch_warnings():
            # One for each attempt to reach the network; the error of the last one says it once.
            warnings.simplefilter("ignore")
            return fetch_openml(**key, as_frame=True, parser="auto")
    except (OSError, EOFError, zlib.error, ValueError, HTTPException, ImportError) as error:
        got = f"{type(error).__name__}: {error}"
        raise DataError(f"OpenML {which}", "the data set to be fetched", got, HINT) from error
