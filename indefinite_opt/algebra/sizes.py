"""How large the terms of an expression are, which may be far more than their sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from indefinite_opt.algebra.atoms import Expression
from indefinite_opt.algebra.operators import Operator
from indefinite_opt.foundation import Array, is_sparse

_GROWTH = {
    **dict.fromkeys(("Power", "quad_over_lin", "QuadForm", "huber"), "faster"),
    **dict.fromkeys(
        (
            "abs", "maximum", "max", "norm_inf", "sum_largest", "norm1", "Promote", "index",
            "transpose",
        ),
        "alike",
    ),
}  # fmt: skip
"""`Expression.growth` of the atoms of this package.

In one that grows faster than its arguments a variable counts entry by entry: beside a large entry,
the square of a small one says nothing. The value of others at the sizes of their arguments bounds
their terms, or only places these.
"""


def term_sizes(e: Expression, whole: bool = True) -> Array:
    """The size of the largest term of each entry of an expression.

    The terms are those that are added in the expression, each at the values of its variables. A
    variable counts with its largest entry or, unless it is `whole`, entry by entry. Atoms
    other than sums, products, norms, powers and forms count with their value.

    >>> import indefinite_opt.algebra as cp
    >>> x = cp.Variable(2, name="x")
    >>> x.value = np.array([3.0, 1e-9])
    >>> float(term_sizes(cp.sum(cp.multiply([2.0, -1.0], x)) - 5)), term_sizes(x)
    (6.0, array([3., 3.]))
    """
    value = np.abs(_array(e.value))
    kind, args = e.kind, e.args
    growth = _GROWTH.get(kind, e.growth)
    if kind == "Variable" and whole:
        return np.full(value.shape, np.max(value, initial=0.0))
    if not args or any(isinstance(arg.value, Operator) for arg in args):
        return value
    whole = whole and growth != "faster"
    sizes = [term_sizes(arg, whole) for arg in args]
    found: Array = value
    if kind == "AddExpression":
        for part in sizes:
            found = np.maximum(found, part)
    elif kind == "NegExpression":
        (found,) = sizes
    elif kind == "Sum":
        found = np.max(sizes[0], axis=e.axis, keepdims=e.keepdims, initial=0.0)
    elif kind == "multiply":
        found = sizes[0] * sizes[1]
    elif kind == "DivExpression":
        found = sizes[0] / np.abs(_array(args[1].value))
    elif kind == "MulExpression":
        found = _largest_products(*sizes)
    elif kind == "QuadForm":
        vector = np.ravel(sizes[0])
        found = np.asarray(np.max(sizes[1] * vector * vector[:, None], initial=0.0))
    elif growth:
        found = np.abs(_array(e.numeric(sizes)))
    return np.maximum(np.broadcast_to(found, value.shape), value)


def _largest_products(left: Array, right: Array) -> Array:
    """max_j |a_ij b_jk| for vectors and matrices."""
    a, b = np.atleast_2d(left), right if right.ndim == 2 else right[:, None]
    if left.ndim == 0 or right.ndim == 0:
        return left * right
    found = np.column_stack([np.max(a * column, axis=1, initial=0.0) for column in b.T])
    shape = left.shape[:-1] + right.shape[1:]
    return np.reshape(found, shape)


def _array(value: Any) -> Array:
    return np.asarray(value.toarray() if is_sparse(value) else value, dtype=float)
