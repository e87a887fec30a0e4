"""Eigenvalues of diag(d) + σuuᵀ, σ > 0, one at a time; `rank_one.cpp` says how."""

from __future__ import annotations

import ctypes
from ctypes import Structure, c_double
from typing import NamedTuple

import numpy as np

from indefinite_opt.core import library
from indefinite_opt.core.binding import (
    INT64,
    NUMBER,
    WHOLE,
    Held,
    Indices,
    Lent,
    Table,
    View,
    lending,
    number,
    numbers,
    places,
    positive,
    reference,
    table,
    vector,
)
from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import Array


class Poles(Held, Structure):
    """The distinct eigenvalues of D.

    Attributes
    ----------
    values : (c,) array
        At least one, ascending.
    pole_of : (n,) array of int64
        Coordinate i belongs to the pole `pole_of[i]`.
    """

    _fields_ = [("values", View), ("pole_of", View)]

    def __init__(self, values: Array, pole_of: Indices) -> None:
        given = vector(values, "values")
        super().__init__(given, places(pole_of, "pole_of", None, given.size))
        if not given.size:
            raise ProblemError("values", "at least one pole", "none")
        numbers(values, "values")
        self.arrays = values, pole_of


class Roots(NamedTuple):
    """The roots of the secular equation, one to the right of every pole."""

    values: Array
    """λ, (r,)."""
    distances: Array
    """λ_j - d_j, (r,), with an error of at most a few eps·Σ|terms of g|/g'."""
    slopes: Array
    """g'(λ), (r,)."""
    inverse: Array
    """1/(d_k - λ_j) in row j and column k, (r, r)."""


_weights = library.function(
    "rank_one_weights", View, reference(Poles), NUMBER, View, View, ctypes.POINTER(c_double),
    returns=WHOLE,
)  # fmt: skip
_roots = library.function("rank_one_roots", View, View, View, View, View, Table)
_positive_part = library.function(
    "rank_one_positive_part", View, reference(Poles), NUMBER, NUMBER, View, Lent, returns=NUMBER
)


def solve_roots(d: Array, s: Array) -> Roots:
    """All roots of 1 + Σ_k s_k/(d_k - λ) for ascending poles d and positive weights s, (r,)."""
    poles, weights = vector(d, "d"), vector(s, "s", d.size)
    numbers(d, "d")
    numbers(s, "s")
    r = d.size
    roots = Roots(np.empty(r), np.empty(r), np.empty(r), np.empty((r, r)))
    columns = (vector(each, "roots", changed=True) for each in roots[:3])
    _roots(poles, weights, *columns, table(roots.inverse, "roots", changed=True))
    return roots


def gather_weights(u: Array, poles: Poles, sigma: float) -> tuple[Array, Indices, float]:
    """σΣu² of every pole, (c,), the indices of the poles that move, and σ‖u‖²."""
    count: int = poles.values.size
    weights, active, total = np.empty(count), np.empty(count, np.int64), c_double()
    moving = _weights(
        _coordinates(u, poles), poles, positive(sigma, "sigma"),
        vector(weights, "weights", changed=True),
        vector(active, "active", dtype=INT64, changed=True), total,
    )  # fmt: skip
    return weights, active[:moving], total.value


def positive_part(u: Array, poles: Poles, sigma: float, epsilon: float) -> tuple[float, Array]:
    """½(‖M₊‖² - ‖D₊‖²)/(2σ) and q = M₊u for M = D + σuuᵀ, in the coordinates of D, (n,).

    With ε > 0, the smooth h_ε(λ) of `rank_one.cpp` replaces max(λ, 0)², and half its derivative
    replaces max(λ, 0).
    """
    view = _coordinates(u, poles)
    result = np.empty(u.size)
    change: float = _positive_part(
        view, poles, positive(sigma, "sigma"), number(epsilon, "epsilon", 0.0),
        vector(result, "result", changed=True), lending(*6 * [poles.values.size]),
    )  # fmt: skip
    return change, result


def _coordinates(u: Array, poles: Poles) -> View:
    view = vector(u, "u", poles.pole_of.size)
    numbers(u, "u")
    return view
