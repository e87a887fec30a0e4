"""The exponential function of all entries of a matrix."""

from __future__ import annotations

from indefinite_opt.core import library
from indefinite_opt.core.binding import NUMBER, Table, table
from indefinite_opt.foundation import Array

_of_multiples = library.function("exponential_of_multiples", Table, NUMBER)


def exp(matrix: Array, factor: float) -> Array:
    """exp(factor · x) for every entry x of a matrix without gaps, in place.

    The error is below one unit in the last place of the value at factor · x as it is rounded, and
    every processor computes the same number.

    >>> import numpy as np
    >>> exp(np.array([[0.0, 1.0]]), -2.0).round(4)
    array([[1.    , 0.1353]])
    """
    _of_multiples(table(matrix, "matrix", changed=True), factor)
    return matrix
