"""What a model says at one time, which is compared with what it says later.

A model may read what changes: a global variable, a `cvxpy.Parameter`, an array of the caller. It is
therefore asked again whenever it is solved, and only its record tells whether the program that was
compiled from it is still the same.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import operator
from dataclasses import replace
from typing import Any

import numpy as np

from indefinite_opt.algebra.atoms import Atom, Constant, Constraint, Expression, Variable
from indefinite_opt.algebra.from_cvxpy import AtPresent, has_parameters
from indefinite_opt.algebra.operators import Operator
from indefinite_opt.algebra.program import Model, mapped
from indefinite_opt.foundation import Array, frozen, is_sparse

_PLAIN = (str, int, float, complex, bool, type(None), np.generic)
"""Types of values that never change."""


class Record:
    """Objective, constraints and coefficients of a model, written down part by part.

    Arrays are copied unless they are read-only. Objects of this package, such as a kernel
    matrix, are known by their identity, and what cannot be compared never agrees.

    >>> import indefinite_opt.algebra as cp
    >>> def record(end):
    ...     x = cp.Variable(2, name="x")
    ...     return Record(Model(minimize=cp.sum_squares(x), subject_to={"lower": x >= end}))
    >>> record(1.0).agrees(record(1.0)), record(1.0).agrees(record(2.0))
    (True, False)
    """

    def __init__(self, model: Model) -> None:
        self._plain: list[Any] = []
        self._arrays: list[Array] = []
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._plain.append("maximize" if model.minimize is None else "minimize")
        self._write_expression(model.maximize if model.minimize is None else model.minimize)
        self._plain.append(("dict", *model.subject_to))
        self._write_expression(*model.subject_to.values())
        if model.inner is not None:
            self._write_expression(model.inner.variable)
            self._write(model.inner.subject_to)
        for part in (model.theorem, model.coef):
            if part is not None:
                self._write_expression(part)
        self._types = [*map(type, self._plain)]

    def agrees(self, other: Record) -> bool:
        """Whether both say the same, types of numbers included."""
        return (
            self._plain == other._plain
            and self._types == other._types
            and all(map(operator.is_, self._objects, other._objects))
            and all(map(_same_array, self._arrays, other._arrays))
        )

    def without(self, parts: dict[str, Any]) -> Record | None:
        """What it says of any such objects and arrays, which are known by their names there.

        Two records without the parts of two problems agree if the models say the same of each. None
        if there are other objects.
        """
        names = dict(zip(map(id, parts.values()), parts, strict=True))
        other = copy.copy(self)
        other._objects = [*map(names.get, map(id, self._objects))]
        if None in other._objects:
            return None
        other._plain, other._arrays = [*self._plain], []
        for each in self._arrays:
            name = names.get(id(each))
            other._plain.append(name)
            if name is None:
                other._arrays.append(each)
        other._types = [*map(type, other._plain)]
        return other

    @property
    def digest(self) -> str:
        """A digest of it without its objects, which is the same in every process.

        Numbers count to nine digits, as another number of threads may round what a model computes
        in another way.
        """
        content = hashlib.sha256(repr([*map(_nine_digits, self._plain)]).encode())
        for array in self._arrays:
            content.update(f"{array.dtype} {array.shape}".encode())
            if array.dtype.kind == "f":
                unit = float(np.max(np.abs(array), initial=0.0, where=np.isfinite(array))) or 1.0
                content.update(f"{unit:.9g}".encode())
                array = np.round(array / unit, 9) + 0.0
            content.update(np.ascontiguousarray(array).tobytes())
        return content.hexdigest()[:24]

    def _write(self, part: Any) -> None:
        """A value, or what expressions and constraints are made of."""
        kind = type(part)
        if kind in (Atom, Constraint):
            self._write_expression(part)
        elif isinstance(part, _PLAIN):
            self._plain.append(part)
        elif isinstance(part, list | tuple):
            self._plain.append((type(part).__name__, len(part)))
            for each in part:
                self._write(each)
        elif isinstance(part, dict):
            self._plain.append(("dict", *part))
            for each in part.values():
                self._write(each)
        elif isinstance(part, np.ndarray) and part.dtype != object:
            self._plain.append("array")
            self._arrays.append(frozen(part))
        elif isinstance(part, slice):
            self._write(["slice", part.start, part.stop, part.step])
        else:
            self._write_expression(part)

    def _write_expression(self, *wholes: Any) -> None:
        """The nodes of expressions or constraints; one that was written has a number.

        There is no call for each node, as this takes a part of the time of every solve.
        """
        plain, numbers, left = self._plain, self._numbers, [*reversed(wholes)]
        while left:
            part = left.pop()
            count = len(numbers)
            number = numbers.setdefault(id(part), count)
            kind = type(part)
            if number < count:
                plain.append(number)
            elif kind is Atom:
                plain.append((part.kind, part.shape, len(part.args)))
                if part.key is not None:
                    self._write(part.key)
                left += part.args
            elif kind is Constraint:
                plain.append((part.kind, len(part.args)))
                left += part.args
            elif kind is Constant:
                value = part._value
                if not part.shape:
                    plain.append(("Constant", part._name, value.item()))
                    continue
                plain.append(("Constant", part._name))
                if type(value) is Operator:
                    left.append(value)
                else:
                    self._write(value)
            elif kind is Variable:
                plain.append(("Variable", part._name, part.shape, part.attributes["PSD"]))
            elif kind is Operator:
                plain.append(("Operator", part.shape))
                for multiple, factors in part.terms:
                    plain.append(multiple)
                    for factor in factors:
                        plain.append(type(factor).__name__)
                    for factor in factors:
                        for each in factor.content:
                            if type(each) is np.ndarray:
                                self._arrays.append(frozen(each))
                            else:
                                self._write(each)
            elif isinstance(part, (Expression, Constraint)):
                plain.append((part.kind, part.shape, len(part.args)))
                self._write(part.content)
                left += part.args
            else:
                self._write_object(part)

    def _write_object(self, part: Any) -> None:
        """A part that is not an expression of this package."""
        if _is_own(part):
            self._plain.append("object")
            self._objects.append(part)
        elif is_sparse(part):
            whole = part.tocsr()
            self._plain.append((type(part).__name__, part.shape))
            self._write([whole.data, whole.indices, whole.indptr])
        elif isinstance(part, functools.partial):
            self._plain.append(("partial", *part.keywords))
            self._write([part.func, *part.args, *part.keywords.values()])
        else:
            self._plain.append("object")
            self._objects.append(object())  # what cannot be compared never agrees


def _nine_digits(part: Any) -> Any:
    if isinstance(part, tuple):
        return tuple(map(_nine_digits, part))
    return f"{part:.9g}" if isinstance(part, float) else part


def _same_array(one: Array, other: Array) -> bool:
    return one is other or (
        one.dtype == other.dtype and one.shape == other.shape and np.array_equal(one, other)
    )


def _is_own(part: Any) -> bool:
    """Whether it is a class, a function or an object of this package, which do not change."""
    kind = part if hasattr(part, "__qualname__") else type(part)
    return (getattr(kind, "__module__", None) or "").partition(".")[0] == __name__.partition(".")[0]


def settled(model: Model) -> Model:
    """The model with the present values of `cvxpy.Parameter`s in place of these.

    >>> import cvxpy
    >>> end, x = cvxpy.Parameter(value=1.0), cvxpy.Variable(name="x")
    >>> kept = settled(Model(minimize=x, subject_to={"lower": x >= end}))
    >>> end.value = 2.0
    >>> print(kept.program("kept", compiled=None))
    kept
      minimize    x
      subject to  x ≥ 1  (lower)
      with        x ∈ R
    """
    written = [model.minimize, model.maximize, model.coef, model.offset, *model.subject_to.values()]
    if not has_parameters(written):
        return model
    at_present = AtPresent()
    objective, negative, coef, offset, *rows = map(at_present, written)
    return replace(
        model, minimize=objective, maximize=negative, coef=coef, offset=offset,
        subject_to=dict(zip(model.subject_to, rows, strict=True)),
        # Variables of one model are converted together.
        inner=mapped(model.inner, at_present),
    )  # fmt: skip
