"""The depot with the errors of this package."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from indefinite_opt.errors import ParameterError, UnknownName
from indefinite_opt.quadratic.data.arrays import quadratic_arrays
from indefinite_opt.quadratic.instances import depot as module

P = ParamSpec("P")
T = TypeVar("T")


def with_errors(function: Callable[P, T]) -> Callable[P, T]:
    """The same function, whose errors are `UnknownName` and `ParameterError`."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except module.NotKnown as error:
            raise UnknownName(*error.args) from None
        except module.NotAllowed as error:
            raise ParameterError(*error.args) from None

    return call


depot = with_errors(module.depot)


@with_errors
def named_arrays(name: str) -> dict[str, Any]:
    """The `quadratic_arrays` of a name, which is one of the depot or of another size or seed.

    >>> program = named_arrays("clique-johnson-8-4-4")
    >>> program["q"].size, round(1 / (2 + 2 * program["optimum"]))
    (70, 14)
    >>> named_arrays("boxqp-50-40")
    Traceback (most recent call last):
    indefinite_opt.errors.ParameterError: name: expected boxqp-n-density-seed, got 'boxqp-50-40'
    """
    made = module.arrays(name)
    letters = {letter: made[letter] for letter in ("P", "q", "G", "h", "A", "b", "lb", "ub")}
    if not made["P"].any():
        letters["P"] = None
    return quadratic_arrays(**letters, name=name, optimum=made.get("optimum"))
