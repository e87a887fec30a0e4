"""What the variables and rows of a program are called."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from indefinite_opt.errors import ProblemError, shown

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*", re.ASCII)
"""Names that every reader of .lp and .mps files takes for names, except these:"""

_RESERVED = re.compile(
    r"(?i)e[0-9].*|free|inf(inity)?|st|bounds?|end|gen(eral)?s?|int(eger)?s?|bin(ary|aries)?"
    r"|min(imum|imi[sz]e)?|max(imum|imi[sz]e)?|subject|such|sos[12]?|semis?"
    r"|name|rows|columns|rhs|ranges|marker|objsense|endata"
)


class Names(NamedTuple):
    """The names of a program's variables and of its rows of G and A; each of the three or none."""

    variables: tuple[str, ...] = ()
    inequalities: tuple[str, ...] = ()
    equalities: tuple[str, ...] = ()

    def variable(self, j: int) -> str:
        """The name of x_j, or x[j]."""
        return self.variables[j] if self.variables else f"x[{j}]"

    def bound(self, side: str, j: int) -> str:
        """What messages call an end of x_j, where the side is lb or ub."""
        return f"{side} of {self.variables[j]}" if self.variables else f"{side}[{j}]"

    def inequality(self, k: int) -> str:
        """What messages call a row of G."""
        return f"row {self.inequalities[k]}" if self.inequalities else f"row {k} of G"

    def equality(self, k: int) -> str:
        """What messages call a row of A."""
        return f"row {self.equalities[k]}" if self.equalities else f"row {k} of A"

    def checked(self, n: int, m: int, k: int) -> Names:
        """These names as tuples, n, m and k many; `ProblemError` for other texts."""
        sizes = zip(self._fields, self, (n, m, k), strict=True)
        variables, inequalities, equalities = (_checked(*one) for one in sizes)
        if set(inequalities) & set(equalities):
            raise ProblemError(
                "equalities", "names that differ from those of inequalities", shown(equalities)
            )
        return Names(variables, inequalities, equalities)


UNNAMED = Names()
"""No names."""


def _checked(argument: str, given: Any, size: int) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given if given is not None else ())
    if not names:
        return ()
    expected = f"{size} names that differ"
    if not all(isinstance(name, str) and name for name in names):
        raise ProblemError(argument, expected, shown(given))
    if len(names) != size or len(set(names)) != size:
        twice = next((name for name in names if names.count(name) > 1), None)
        got = f"{len(names)}" if twice is None else f"{twice!r} twice"
        raise ProblemError(argument, expected, got)
    return names


def side_name(name: str, k: int) -> str:
    """The name of row k of the rows that stand for a declared constraint together.

    >>> side_name("size", 0), side_name("size", 1), without_side("row size, side 2[0]")
    ('size', 'size, side 2', 'row size[0]')
    """
    return f"{name}, side {k + 1}" if k else name


def without_side(name: str) -> str:
    """The name of the declared constraint, given one of `side_name`."""
    return re.sub(r", side \d+", "", name)


def entry_names(name: str, shape: tuple[int, ...]) -> list[str]:
    """What the entries of an array are called, column by column.

    >>> entry_names("x", ()), entry_names("y", (2,)), entry_names("Z", (1, 2))
    (['x'], ['y[0]', 'y[1]'], ['Z[0, 0]', 'Z[0, 1]'])
    """
    places = (", ".join(map(str, reversed(place))) for place in np.ndindex(*reversed(shape)))
    return [f"{name}[{place}]" if place else name for place in places]


def written_names(names: Sequence[str], size: int, letter: str, taken: Iterable[str]) -> list[str]:
    """The names as .lp and .mps files hold them: x1, x2, ... unless all of them are plain words.

    >>> written_names(("tea", "milk"), 2, "x", ()), written_names(("x[0]", "x[1]"), 2, "x", ())
    (['tea', 'milk'], ['x1', 'x2'])
    """
    plain = all(_PLAIN.fullmatch(name) and not _RESERVED.fullmatch(name) for name in names)
    if len(names) == size and plain and not set(names) & set(taken):
        return list(names)
    return [f"{letter}{j + 1}" for j in range(size)]
