"""The command `fetch`: named data sets of OpenML into a folder, with checksums."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

import indefinite_opt as iopt
from indefinite_opt.command_line.terminal import say
from indefinite_opt.errors import DataError


def fetch(
    names: Annotated[
        list[str] | None, Argument(help="Names of data sets from OpenML (see `list data`).")
    ] = None,
    data_dir: Annotated[
        Path, Option(help="Folder of the named data sets.", envvar="INDEFINITE_OPT_DATA")
    ] = Path("indefinite-opt-data"),
    check: Annotated[
        bool, Option("--check", help="Only compare the files of the folder with SHA256SUMS.")
    ] = False,
) -> None:
    """Fetch named data sets from OpenML into a folder.

    Numbers of rows and of labels are compared with those of the papers. The checksum of each file
    goes to SHA256SUMS, and a later fetch of other data is refused.
    """
    if check:
        raise Exit(_compare(data_dir))
    if not names:
        raise DataError("names", "at least one data set of OpenML", "none", "See `list data`.")
    for name in names:
        say(f"{name}: {iopt.datasets.store_table(name, data_dir)}")
    say(f"Set INDEFINITE_OPT_DATA={data_dir.absolute()}, or pass --data-dir, to use them.")


def _compare(folder: Path) -> int:
    """Print what became of each listed file; 1 if one is missing or changed, else 0."""
    sums = iopt.datasets.read_checksums(folder)
    if not sums:
        raise DataError("data_dir", "a folder with a file SHA256SUMS", str(folder))
    code = 0
    for place, digest in sums.items():
        file = folder / place
        if not file.is_file():
            told = "MISSING"
        else:
            with file.open("rb") as stream:
                found = hashlib.file_digest(stream, "sha256").hexdigest()
            told = "OK" if found == digest else "CHANGED"
        say(f"{place}: {told}", style=None if told == "OK" else "red")
        code = code if told == "OK" else 1
    return code
