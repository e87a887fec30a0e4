"""What commands print and write: text, JSON, errors with their exit codes, and values."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import re
import sys
import textwrap
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from rich.console import Console
from typer import Exit
from typer.core import TyperCommand

import indefinite_opt as iopt
from indefinite_opt.errors import BadArgument, DataError, IndefiniteOptError
from indefinite_opt.foundation import read_arrays, read_bytes, read_json

WIDTH = 80
"""The columns of prose."""

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
            told, code = f"error: the memory is too small ({error}); --cache-mb needs less", 2
        except BrokenPipeError:  # the reader, such as `head`, has what it wants
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise Exit(1) from None
        except OSError as error:
            told, code = f"error: output: {error}", 1
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except KeyboardInterrupt:
            told, code = "interrupted", 130
        say(told, "red", stderr)
        raise Exit(code)


ADVISED = re.compile(
    r"\b(symmetrize|asymmetric|kind|labels?|missing|ignore|task)=(True|\"[^\"]*\"|'[^']*'|\[[^]]*\])"
    r"|\b(cache_mb|max_bytes|data_dir)\b(?:=math\.(inf)\b)?"
)
"""An argument in the advice of an error."""


def in_options(advice: str) -> str:
    """The advice with options in place of arguments.

    >>> in_options('Read it by kind="distances", or form K by cache_mb=math.inf.')
    'Read it by --kind distances, or form K by --cache-mb inf.'
    """

    def option(found: re.Match[str]) -> str:
        flag = (found[1] or found[3]).replace("_", "-")
        value = (found[2] or found[4] or "True").strip("[]'\"")
        value = value.replace(" ", "-") if flag == "task" else value
        return f"--{flag}" if value == "True" else f"--{flag} {value}"

    return ADVISED.sub(option, advice)


def _message(error: Exception, options: set[str]) -> str:
    """The message of an error, without advice that the command has no option for."""
    advice = error.hint if isinstance(error, BadArgument) else ""
    advised = {found[1] or found[3] for found in ADVISED.finditer(advice)}
    return in_options(str(error) if advised <= options else str(error).removesuffix(f". {advice}"))


def say(text: object, style: str | None = None, to: Console = console, wrap: bool = False) -> None:
    """Print a text, in which brackets are not markup; lines of prose are broken with `wrap`."""
    told = "\n".join(map(_wrapped, str(text).split("\n"))) if wrap else str(text)
    to.print(told, style=style, highlight=False, markup=False, soft_wrap=not to.is_terminal)


def _wrapped(line: str) -> str:
    """A line on several of at most `WIDTH` columns, with its indentation."""
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.fill(
        line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def answer(
    as_json: bool, told: object, text: str, good: bool, status: object = None, error: str = ""
) -> NoReturn:
    """Print JSON or the text, and end with 130 after Ctrl-C, with 1 unless the outcome is good.

    An error is printed behind it, and the end is then with 2.
    """
    if as_json:
        print_json(told)
    else:
        say(text, wrap=True)
    if error:
        say(f"error: {error}", "red", stderr)
        raise Exit(2)
    raise Exit(130 if status is iopt.Status.INTERRUPTED else int(not good))


def public(found: Any) -> dict[str, Any]:
    """A result, bracket or certificate as JSON has it, without arrays; of pairs each of them."""
    from indefinite_opt.workflow import Bracket, Result, training_fit

    if isinstance(found, Mapping):
        shared = "formulation status seconds gap gap_kind claim relative_gap rigorous"
        told = {name: getattr(found, name) for name in shared.split() if hasattr(found, name)}
        told["pairs"] = [{"classes": pair} | public(one) for pair, one in found.items()]
    else:
        arrays = ("values", "multipliers", "trace")
        shown = [one.name for one in dataclasses.fields(found) if one.repr]
        told = {name: getattr(found, name) for name in shown if name not in arrays}
    if isinstance(found, Bracket):
        trace = {name: column for name, column in vars(found.trace).items() if name != "iterates"}
        told |= {"objective": found.objective, "bound": found.bound, "trace": trace}
    if isinstance(found, Result):
        ends = [(one.objective, one.count) for one in found.optima]
        told |= public(found.certificate) | {"remarks": found.remarks, "optima": ends}
    if getattr(found, "has_classifier", False):
        classifier = found.classifier
        told |= dict([training_fit(found)]) | {"support": classifier.support.size}
        told |= {"offset": classifier.offset} if hasattr(classifier, "offset") else {}
    return {k: v.name if isinstance(v, iopt.Claim) else v for k, v in told.items()}


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


def save_values(path: Path | None, found: Any) -> None:
    """Write the values of the variables to a .csv file, one entry a row, or to a .npz file.

    For several pairs of classes they have the names of their pair.
    """
    if path is None:
        return
    parts = {"": found}
    if isinstance(found, Mapping):
        parts = {f" ({a} | {b})": one for (a, b), one in found.items()}
    values = {name + of: array for of, one in parts.items() for name, array in one.values.items()}
    if path.suffix == ".npz":
        with path.open("wb") as file:
            np.savez_compressed(file, **values)
        return
    import pandas as pd

    rows = [
        (name, " ".join(map(str, place)), entry)
        for name, array in values.items()
        for place, entry in np.ndenumerate(array)
    ]
    pd.DataFrame(rows, columns=["variable", "index", "value"]).to_csv(path, index=False)


def _read_solution(path: Path, max_bytes: int) -> dict[str, float]:
    """The primal values in a .sol file: a name and a number a line, of HiGHS in its section."""
    text = read_bytes(path, max_bytes).decode("utf-8", "replace")
    lines = [line.split() for line in text.splitlines()]
    if ["#", "Primal", "solution", "values"] in lines:
        lines = lines[lines.index(["#", "Primal", "solution", "values"]) :]
        starts = [k for k, words in enumerate(lines) if words[:2] == ["#", "Columns"]]
        ends = [k for k, words in enumerate(lines) if words[:2] == ["#", "Rows"]]
        lines = lines[starts[0] : ends[0]] if starts and ends else [["no point"]]
    values = {}
    for words in lines:
        if not words or words[0].startswith("#"):
            continue
        with suppress(ValueError):
            if len(words) == 2 and words[0] not in values:
                values[words[0]] = float(words[1])
                continue
        expected = "a .sol file with a name and a number a line, as HiGHS and Gurobi write it"
        raise DataError("values", expected, f"{path} with the line {' '.join(words)!r}")
    return values


def read_values(path: Path, max_bytes: int) -> Any:
    """The values in a .npz or .json file, one number a line, or a table as `save_values` writes.

    Or those of a .sol file of HiGHS or Gurobi, by their names.
    """
    if path.suffix == ".json":
        return read_json(path, "values", max_bytes)
    if path.suffix == ".sol":
        return _read_solution(path, max_bytes)
    if path.suffix not in (".csv", ".txt"):
        return read_arrays(path, max_bytes)
    content = read_bytes(path, max_bytes)
    with suppress(ValueError):
        return np.array(content.decode("utf-8", "replace").split(), float)
    import pandas as pd

    values = {}
    try:
        frame = pd.read_csv(io.BytesIO(content), dtype={"index": str}, keep_default_na=False)
        for name, rows in frame.groupby("variable", sort=False):
            places = [tuple(map(int, text.split())) for text in rows["index"]]
            shape = tuple(1 + k for k in places[-1])
            values[str(name)] = rows["value"].to_numpy(float).reshape(shape)
            if places != list(np.ndindex(shape)):
                raise ValueError
    except (KeyError, ValueError, OverflowError):
        expected = "a table with the columns variable, index and value, as `solve` writes it"
        raise DataError("values", expected, f"{path}") from None
    return values
