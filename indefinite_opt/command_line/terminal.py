"""What commands print and write: text, JSON, errors with their exit codes, and values."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from typer import Exit
from typer.core import TyperCommand

from indefinite_opt.errors import BadArgument, DataError, IndefiniteOptError
from indefinite_opt.foundation import Values, read_arrays, read_bytes, read_json
from indefinite_opt.problem import read_frame
from indefinite_opt.quadratic import Claim, Status
from indefinite_opt.workflow import WIDTH

# A pipe has no width of its own, unless COLUMNS says one; 100 columns hold most tables.
width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 100
console, stderr = Console(width=width, emoji=False), Console(stderr=True, emoji=False)


class Command(TyperCommand):
    """A command that answers a known error with one line and exit code 2, and Ctrl-C with 130."""

    def invoke(self, ctx: Any) -> None:
        try:
            super().invoke(ctx)
            sys.stdout.flush()
            return
        except IndefiniteOptError as error:
            told, code = f"error: {_message(error, {str(one.name) for one in self.params})}", 2
        except MemoryError as error:
            told, code = f"error: the memory is too small ({error}); --cache-mb takes less of it", 2
        except OSError as error:
            told, code = f"error: output: {error}", 1
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except KeyboardInterrupt:
            told, code = "interrupted", 130
        say(told, "red", stderr)
        raise Exit(code)


ADVISED = re.compile(
    r"\b(symmetrize|kind|labels?|missing|ignore|task)=(True|\"[^\"]*\"|'[^']*'|\[[^]]*\])"
    r"|\b(cache_mb|max_bytes|data_dir)\b"
)
"""An argument in the advice of an error."""


def in_options(advice: str) -> str:
    """The advice with options in place of arguments.

    >>> in_options('Read it by kind="distances", or leave out cache_mb.')
    'Read it by --kind distances, or leave out --cache-mb.'
    """

    def option(found: re.Match[str]) -> str:
        flag, value = (found[1] or found[3]).replace("_", "-"), (found[2] or "True").strip("[]'\"")
        value = value.replace(" ", "-") if flag == "task" else value
        return f"--{flag}" if value == "True" else f"--{flag} {value}"

    return ADVISED.sub(option, advice)


def _message(error: Exception, options: set[str]) -> str:
    """The message of an error, without advice that the command has no option for."""
    advice = error.hint if isinstance(error, BadArgument) else ""
    advised = {found[1] or found[3] for found in ADVISED.finditer(advice)}
    return in_options(str(error) if advised <= options else str(error).removesuffix(f". {advice}"))


def end(status: Status, good: bool) -> None:
    """End with the exit code 130 after Ctrl-C, and with 1 unless the outcome is good."""
    if status is Status.INTERRUPTED or not good:
        raise Exit(130 if status is Status.INTERRUPTED else 1)


def say(text: object, style: str | None = None, to: Console = console, wrap: bool = False) -> None:
    """Print a text, in which brackets are not markup; lines of prose are broken with `wrap`."""
    told = "\n".join(map(_wrapped, str(text).split("\n"))) if wrap else str(text)
    to.print(told, style=style, highlight=False, markup=False, soft_wrap=not to.is_terminal)


def _wrapped(line: str) -> str:
    """A line on several of at most `WIDTH` columns, with its indentation.

    >>> print(_wrapped("  positive on the free variables" + " and so on" * 6))
      positive on the free variables and so on and so on and so on and so on and so
      on and so on
    """
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.fill(
        line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def public(thing: Any) -> dict[str, Any]:
    """The attributes of a result, bracket or certificate, as JSON has them, without arrays."""
    names = [one.name for one in dataclasses.fields(thing) if one.repr]
    told = {k: getattr(thing, k) for k in names if k not in ("values", "multipliers", "trace")}
    return {k: v.name if isinstance(v, Claim) else v for k, v in told.items()}


def print_json(value: object) -> None:
    """Print standard JSON: arrays are lists, NaN and the infinities null, and the rest is text."""
    text = json.dumps(value, default=lambda one: getattr(one, "tolist", one.__str__)())
    value = json.loads(text, parse_constant=lambda _: None)
    console.out(json.dumps(value, indent=2, ensure_ascii=False), highlight=False)


def check_writable(**paths: Path | None) -> None:
    """Raise the error of a file that cannot be written before the work, not after it."""
    for option, path in paths.items():
        if path and option == "output" and path.suffix not in (".npz", ".csv"):
            raise DataError(option, "a file whose name ends in .npz or .csv", f"{path}")
        if path and (path.is_dir() or not path.absolute().parent.is_dir()):
            raise DataError(option, "a file that can be written", f"{path}")


def save_values(path: Path | None, values: Values) -> None:
    """Write the values of the variables to a .csv file, one entry a row, or to a .npz file."""
    if path is None:
        return
    import pandas as pd

    if path.suffix == ".csv":
        rows = [
            (name, " ".join(map(str, place)), entry)
            for name, array in values.items()
            for place, entry in np.ndenumerate(array)
        ]
        pd.DataFrame(rows, columns=["variable", "index", "value"]).to_csv(path, index=False)
    else:
        with path.open("wb") as file:
            np.savez_compressed(file, **values)  # type: ignore[arg-type]


def read_values(path: Path, max_bytes: int) -> Any:
    """The values in a .npz or .json file, one number a line, or a table as `save_values` writes."""
    if path.suffix == ".json":
        return read_json(path, "values", max_bytes)
    if path.suffix not in (".csv", ".txt"):
        return dict(read_arrays(path, max_bytes))
    try:
        return np.array(read_bytes(path, max_bytes).decode("utf-8", "replace").split(), float)
    except ValueError:
        frame, values = read_frame(path, max_bytes), {}
    try:
        for name, rows in frame.groupby("variable", sort=False):
            # A scalar has an empty cell, beside which 3 is read as 3.0.
            texts = ["" if k != k else str(k).removesuffix(".0") for k in rows["index"]]
            places = [text.split() for text in texts]
            shape = tuple(1 + int(k) for k in places[-1])
            values[str(name)] = rows["value"].to_numpy(float).reshape(shape)
            if places != [list(map(str, place)) for place in np.ndindex(shape)]:
                raise ValueError
    except (KeyError, ValueError, OverflowError):
        expected = "a table with the columns variable, index and value, as `solve` writes it"
        raise DataError("values", expected, f"{path}") from None
    return values
