"""What every command shares: text and JSON on the terminal, and Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

import numpy as np
from rich.console import Console
from typer import Exit

from indefinite_opt.errors import BadArgument, IndefiniteOptError
from indefinite_opt.quadratic import Certificate, Claim


class _Console(Console):
    """A console that lets the program end when the reader of a pipe has seen enough."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


# A pipe has no width of its own, unless COLUMNS says one; 100 columns hold most tables.
console = _Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else 100)
stderr = Console(stderr=True)


def say(text: object, style: str | None = None, to: Console = console) -> None:
    """Print a text as it stands: brackets are not markup, and long lines are not broken."""
    to.print(str(text), style=style, highlight=False, markup=False, soft_wrap=True)


ADVISED = re.compile(
    r"\b(?P<name>symmetrize|kind|labels|missing|ignore)="
    r"(?P<value>True|\"[^\"]*\"|'[^']*'|\[[^]]*\])|\b(?P<bare>cache_mb|max_bytes|data_dir)\b"
)
"""An argument in the advice of an error."""


def in_options(error: IndefiniteOptError, options: Collection[str]) -> str:
    """The message of an error, with its advice in terms of the options of a command.

    Advice about an argument that the command has no option for is left out.

    >>> error = BadArgument("K", "a symmetric matrix", "another", "Pass symmetrize=True.")
    >>> in_options(error, {"symmetrize"})
    'K: expected a symmetric matrix, got another. Pass --symmetrize.'
    >>> in_options(error, {"tol"})
    'K: expected a symmetric matrix, got another'
    """
    advice = error.hint if isinstance(error, BadArgument) else str(error)
    names = {found["name"] or found["bare"] for found in ADVISED.finditer(advice)}
    if not names <= set(options):
        return str(error).removesuffix(f". {advice}")
    return str(error).removesuffix(advice) + with_options(advice)


def with_options(advice: str) -> str:
    """The advice with options in place of arguments.

    >>> with_options('Read it by kind="distances", or leave out cache_mb.')
    'Read it by --kind distances, or leave out --cache-mb.'
    """

    def option(found: re.Match[str]) -> str:
        flag = "--" + (found["name"] or found["bare"]).replace("_", "-")
        given = (found["value"] or "True").strip("[]'\"")
        return flag if given == "True" else f"{flag} {given}"

    return ADVISED.sub(option, advice)


def paragraph(text: object, style: str | None = None) -> None:
    """Print a text in lines as long as the terminal is wide, and an empty line after it."""
    console.print(f"{text}\n", style=style, highlight=False, markup=False)


@contextmanager
def progress(title: str) -> Iterator[Callable[..., None]]:
    """A bar on the standard error stream while cells are run, and the function that moves it.

    It is called with a text and, if cells have been finished, with the numbers of these and of all.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    )  # fmt: skip
    with Interrupts() as interrupts, Progress(*columns, console=stderr) as shown:
        bar = shown.add_task(title, total=None)

        def advance(text: str, done: int | None = None, total: int | None = None) -> None:
            if interrupts.came and done is not None:
                raise KeyboardInterrupt  # a solver has taken it for the end of its own search
            shown.update(bar, description=text, completed=done, total=total)

        yield advance


def print_json(value: Any) -> None:
    """Print standard JSON, with null in place of NaN and the infinities."""
    print(json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def fields(thing: object, names: str) -> dict[str, Any]:
    """Attributes of these names, which are separated by blanks."""
    return {name: getattr(thing, name) for name in names.split()}


def certificate_fields(certificate: Certificate) -> dict[str, Any]:
    """The claim of a certificate and its numbers, as JSON has them."""
    numbers = fields(
        certificate,
        "objective bound gap relative_gap primal_residual stationarity complementarity curvature",
    )
    return {
        "claim": certificate.claim.name,
        "gap_kind": certificate.gap_kind,
        **{name: float(number) for name, number in numbers.items()},
        "tol": certificate.tol,
        "reasons": list(certificate.reasons),
    }


def exit_without_proof(claim: Claim) -> None:
    """End the command with exit code 1 if nothing is proved."""
    if claim is Claim.NONE:
        raise Exit(1)


class Interrupts:
    """A context that notes whether Ctrl-C was pressed, since a search just ends then.

    Python ignores exceptions in destructors, and one interrupt in 300 came in one of them: it is
    sent again.
    """

    came = False

    def __enter__(self) -> Self:
        before = signal.getsignal(signal.SIGINT)
        main = threading.current_thread() is threading.main_thread()
        # Where signals are ignored, as after nohup, they stay ignored.
        self._before = before if main and callable(before) else None
        outer = getattr(before, "__self__", None)
        self._raise: Callable[[int, FrameType | None], object] = (
            outer._interrupt if isinstance(outer, Interrupts) else signal.default_int_handler
        )
        self._hook = sys.unraisablehook
        if self._before is not None:
            signal.signal(signal.SIGINT, self._interrupt)
            sys.unraisablehook = self._repeat
        return self

    def __exit__(self, *error: object) -> None:
        sys.unraisablehook = self._hook
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _repeat(self, lost: Any) -> None:
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            self._hook(lost)
            return
        again = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))  # after a pause
        again.daemon = True
        again.start()

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self.came = True
        self._raise(number, frame)
