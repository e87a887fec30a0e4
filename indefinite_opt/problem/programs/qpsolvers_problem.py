"""Programs from the problems of qpsolvers, or from anything with the same attributes."""

from __future__ import annotations

from typing import Any

from indefinite_opt.errors import ProblemError
from indefinite_opt.problem.programs.arrays import QuadraticArrays, quadratic_arrays

LETTERS = ("P", "q", "G", "h", "A", "b", "lb", "ub")


def program_of_qpsolvers(problem: Any) -> QuadraticArrays:
    """The program of an object with attributes P, q, G, h, A, b, lb and ub, each of them or None.

    Matrices may be dense or of scipy.sparse. The package qpsolvers is not needed.
    >>> from types import SimpleNamespace
    >>> problem = SimpleNamespace(P=[[2.0]], q=[1.0], lb=[0.0], ub=[3.0])
    >>> program_of_qpsolvers(problem).ub
    array([3.])
    """
    given: dict[str, Any] = {letter: getattr(problem, letter, None) for letter in LETTERS}
    missing = [letter for letter in ("P", "q") if given[letter] is None]
    if missing:
        raise ProblemError(
            "problem", "an object with attributes P and q, as a qpsolvers.Problem",
            f"one of type {type(problem).__name__} without {' and '.join(missing)}",
        )  # fmt: skip
    return quadratic_arrays(**given)
