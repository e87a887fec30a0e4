"""Errors that name the argument, what was expected, and what was given."""

from __future__ import annotations

import difflib
import itertools
import sys
from collections.abc import Iterable
from typing import Any

__all__ = [
    "MAX_SHOWN",
    "BadArgument",
    "DataError",
    "IncompatibleSolver",
    "IndefiniteOptError",
    "InfeasibleProblem",
    "NoCounterpart",
    "ParameterError",
    "ProblemError",
    "SolverFailed",
    "UnboundedProblem",
    "UnknownName",
    "shown",
]

MAX_SHOWN = 500
"""Characters of a given value that a message repeats at most, so that the rest stays readable."""


class IndefiniteOptError(ValueError):
    """Base class of every error this package raises on purpose."""


class BadArgument(IndefiniteOptError):
    """An argument that cannot be used.

    Parameters
    ----------
    argument : str
        Name of the argument, as the caller wrote it.
    expected : str
        What would have been accepted.
    got : str
        What was given instead.
    hint : str, optional
        What to do about it.
    """

    def __init__(self, argument: str, expected: str, got: str, hint: str = "") -> None:
        super().__init__(argument, expected, got, hint)
        self.argument = argument
        self.expected = expected
        self.got = got
        self.hint = hint

    def __str__(self) -> str:
        got = self.got if len(self.got) <= MAX_SHOWN else f"{self.got[:MAX_SHOWN]}..."
        sentence = f"{self.argument}: expected {self.expected}, got {got}"
        return f"{sentence}. {self.hint}" if self.hint else sentence


class ProblemError(BadArgument):
    """A kernel matrix, distance matrix, label vector or point that cannot be used."""


class ParameterError(BadArgument):
    """A parameter of a formulation, kernel or solver outside its range."""


class DataError(BadArgument):
    """A data set or file that is missing, unreadable or not of the expected form."""


class UnknownName(BadArgument):
    """A name that is not registered; the message offers the nearest ones.

    Parameters
    ----------
    argument : str
        What kind of name it is: "kernel", "formulation", "solver", ...
    name : str
        The name that was asked for.
    known : iterable of str
        The names that exist.
    """

    def __init__(self, argument: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        folded = {candidate.casefold(): candidate for candidate in names}
        close = difflib.get_close_matches(str(name).casefold(), folded, n=3)
        near = [folded[key] for key in close]
        hint = f"Did you mean {' or '.join(near)}?" if near else ""
        super().__init__(argument, f"one of {_listed(names)}", repr(name), hint)
        self.name = name
        self.known = names

    def __reduce__(self) -> tuple[type, tuple[str, str, list[str]]]:
        return type(self), (self.argument, self.name, self.known)


def _listed(names: list[str]) -> str:
    """The names, as many as `MAX_SHOWN` characters hold, and how many are left."""
    lengths = itertools.accumulate(len(name) + 2 for name in names)
    fitting = sum(length <= MAX_SHOWN for length in lengths)
    if fitting == len(names):
        return ", ".join(names)
    return f"{', '.join(names[:fitting])} and {len(names) - fitting} others"


class InfeasibleProblem(ParameterError):
    """Parameters that leave no feasible point; the message names the nearest that do."""


class UnboundedProblem(IndefiniteOptError):
    """An objective without a finite optimum; the message names the direction that proves it.

    Attributes
    ----------
    direction : (n,) array or None
        A direction in which the solver's variables may go on without end, if it is known.
    """

    def __init__(self, message: str, direction: Any = None) -> None:
        super().__init__(message)
        self.direction = direction


class IncompatibleSolver(IndefiniteOptError):
    """A solver that cannot take this problem; the message says what is missing."""


class SolverFailed(IndefiniteOptError):
    """A solver that ended without a point to return; the message quotes the solver."""


def shown(value: object) -> str:
    """The `repr` of a value, even of an integer that is too long for Python to print.

    >>> shown(10**5000)
    'an integer of more than 4300 digits'
    """
    try:
        return repr(value)
    except ValueError:
        if not isinstance(value, int):
            raise
        return f"an integer of more than {sys.get_int_max_str_digits()} digits"


class NoCounterpart(ProblemError):
    """A stationary point without a counterpart in the other problem; the message says why."""
