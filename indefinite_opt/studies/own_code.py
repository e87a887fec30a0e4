"""What tells the user's own models, kernels and protocols apart before and after an edit.

A cell of a study is known by the names and the parameters of what is of this package. What a user
has written may say something else tomorrow under the same name.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import re
from collections.abc import Iterable
from types import CodeType
from typing import Any

import numpy as np

from indefinite_opt.foundation import one_thread
from indefinite_opt.modeling import Formulation, pair_problems
from indefinite_opt.problem import Kernel
from indefinite_opt.studies.data import Data, training_problem

_SAMPLED_ROWS = 16
"""Rows of a kernel matrix that distinguish functions of the same name and code."""

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
"""What the text of an object has that differs from process to process."""


def code_of(part: Any) -> str:
    """A digest of the code of a class or a function; empty for one of this package or of Python.

    >>> one, two = (eval(f"lambda: {k}", {"__name__": "mine"}) for k in (1, 2))
    >>> code_of(Kernel), code_of(one) == code_of(two), code_of(one) == code_of(one)
    ('', False, True)
    """
    told = "\n".join(_code(part))
    return _digest(told) if told else ""


def _code(part: Any) -> Iterable[str]:
    part = inspect.unwrap(part) if callable(part) else part
    if isinstance(part, functools.partial):
        yield from _code(part.func)
    elif isinstance(part, type):
        for base in part.__mro__:
            if _is_own(base):
                continue
            for name, value in vars(base).items():
                parts = [getattr(value, each, None) for each in ("fget", "__func__")]
                inner = next((each for each in parts if each is not None), value)
                if isinstance(value, bool | int | float | str | tuple) and name[:2] != "__":
                    yield f"{name} = {_ADDRESS.sub('', repr(value))}"
                elif hasattr(inner, "__code__"):
                    yield from (f"{name}: {line}" for line in _code(inner))
    elif hasattr(part, "__code__"):
        if not _is_own(part):
            yield _of_code(part.__code__)
            yield _ADDRESS.sub("", repr(getattr(part, "__defaults__", None)))
    elif callable(part):
        yield from _code(type(part))


def _is_own(part: Any) -> bool:
    module = str(getattr(part, "__module__", "builtins")).partition(".")[0]
    return module in ("builtins", "abc", "typing", "dataclasses", __name__.partition(".")[0])


def _of_code(code: CodeType) -> str:
    constants = [
        _of_code(each) if isinstance(each, CodeType) else repr(each)
        for each in code.co_consts
        if not isinstance(each, frozenset)  # whose order differs from process to process
    ]
    return f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {constants}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def told_of(method: Any, data: Data) -> str:
    """A digest of what a method that is not of this package says of some data, and of its code.

    Empty for the methods of this package. The numbers that the model of a formulation reads, such
    as a global variable or a `cvxpy.Parameter`, are those at the time of the call.
    """
    code = code_of(type(method))
    if not code or not isinstance(method, Formulation):
        return code
    problem = training_problem(data.problem)
    if method.task == problem.task == "classification" and problem.classes.size > 2:
        problem = next(iter(pair_problems(problem))).problem
    with one_thread():
        return f"{code} {method.digest_of(problem)}"


def told_of_kernel(kernel: Any, data: Data) -> str:
    """The same for a kernel with a function, or of another class, by some rows of its matrix."""
    functions = [each for each in getattr(kernel, "__dict__", {}).values() if callable(each)]
    code = " ".join(filter(None, map(code_of, [type(kernel), *functions])))
    if not code or not isinstance(kernel, Kernel) or data.problem.X is None:
        return code
    points = data.problem._scaled(data.problem.X)
    with one_thread():
        rows = np.asarray(kernel.fitted(points)(points[:_SAMPLED_ROWS], points))
    size = float(np.abs(rows).max()) or 1.0
    return f"{code} {size:.9g} {_digest(str((np.round(rows / size, 9) + 0.0).tobytes()))}"
