"""Steps of an active-set method for quadratic programs.

`active_set.cpp` says what the working set W, the factors Q = [Z Y], T and L, and the constants are.
"""

from __future__ import annotations

from ctypes import Structure, c_bool, c_double
from typing import Any

import numpy as np

from indefinite_opt.core import library
from indefinite_opt.core.binding import (
    WHOLE,
    Fixed,
    Indices,
    Lent,
    Table,
    View,
    count,
    finite,
    lending,
    numbers,
    reference,
    table,
    vector,
)
from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import Array, cached_property


def _number(name: str) -> float:
    return library.constant(f"ACTIVE_SET_{name}")


def _whole(names: str) -> list[int]:
    return [int(_number(name)) for name in names.split()]


RUNNING, STATIONARY, UNBOUNDED, STALLED = _whole("RUNNING STATIONARY UNBOUNDED STALLED")
LOWER, EQUAL, UPPER, TEMPORARY, ARTIFICIAL = _whole("LOWER EQUAL UPPER TEMPORARY ARTIFICIAL")
FREE, STEPS, SINCE, COUNTS = _whole("FREE STEPS SINCE COUNTS")
PARALLEL_SHARE = _number("PARALLEL_SHARE")
CURVATURE_SHARE = _number("CURVATURE_SHARE")
MULTIPLIER_SHARE = _number("MULTIPLIER_SHARE")

FACTOR_STEPS = 400
"""Steps after which the factors are computed anew: each loses a few roundings."""


class QuadraticViews(Structure):
    """The arrays of a `Quadratic` in C++."""

    _fields_ = [
        ("P", Table), ("R", Table), ("q", View), ("low", View), ("high", View), ("norms", View),
        ("largest", c_double),
    ]  # fmt: skip


class StateViews(Structure):
    """The arrays of a `State` in C++."""

    _fields_ = [
        ("x", View), ("values", View), ("gradient", View), ("basis", Table), ("T", Table),
        ("L", Table), ("slot", View), ("side", View), ("held", View), ("tried", View),
        ("slack", View), ("ray", View), ("multiplier", View), ("extent", View), ("counts", View),
        ("draws", View),
    ]  # fmt: skip


class Quadratic(Fixed):
    """min ½xᵀPx + qᵀx  s.t.  low ≤ (x, Rx) ≤ high; the arrays may not change.

    Parameters
    ----------
    P : (n, n) array
        Finite and symmetric.
    q : (n,) array
        Finite.
    R : (m, n) array
        Finite.
    low, high : (n + m,) array

    Attributes
    ----------
    norms : (n + m,) array
        Lengths of the normals.
    largest : float
        The largest entry of |P|.
    """

    def __init__(self, P: Array, q: Array, R: Array, low: Array, high: Array) -> None:
        self.R, self.low, self.high = R, low, high
        linear = vector(q, "q")
        rows = table(R, "R", None, linear.size)
        sides = linear.size + rows.count
        ends = vector(low, "low", sides), vector(high, "high", sides)
        numbers(low, "low")
        numbers(high, "high")
        finite(R, "R")
        self.norms = np.concatenate([np.ones(linear.size), np.linalg.norm(R, axis=1)])
        self.views = QuadraticViews(Table(), rows, linear, *ends, vector(self.norms, "norms"))
        self._set_linear(q)
        self._set_quadratic(P)

    def _set_linear(self, q: Array) -> None:
        self.q, self.views.q = q, vector(q, "q", self.views.R.columns)
        finite(q, "q")

    def _set_quadratic(self, P: Array) -> None:
        n = self.views.R.columns
        self.P, self.views.P = P, table(P, "P", n, n)
        finite(P, "P")
        self.largest = max(float(P.max(initial=0.0)), -float(P.min(initial=0.0)))
        self.views.largest = self.largest

    def __reduce__(self) -> tuple[Any, ...]:
        return Quadratic, (self.P, self.q, self.R, self.low, self.high)

    @cached_property
    def sizes(self) -> Array:
        """|P|, (n, n)."""
        return np.abs(self.P)

    def with_objective(self, q: Array, P: Array | None = None) -> Quadratic:
        """The same rows and bounds with another objective."""
        changed = {"q", "views"} if P is None else {"q", "views", "P", "largest", "sizes"}
        other = object.__new__(Quadratic)
        other.__dict__.update((k, v) for k, v in self.__dict__.items() if k not in changed)
        other.views = QuadraticViews.from_buffer_copy(self.views)
        other._set_linear(q)
        if P is not None:
            other._set_quadratic(P)
        return other


class State(Fixed):
    """A point, its working set and the factors; the loops change them, in one thread at a time.

    Python may change x, and only reads the others.
    """

    x: Array  # (n,)
    values: Array  # (n + m,), x and Rx
    gradient: Array  # (n,)
    basis: Array  # (n, n), Qᵀ: rows Z, then Y
    T: Array  # (n, n), used from row and column nz on
    L: Array  # (n, n), used up to row and column nz
    slot: Indices  # (n,), the constraint in each row of T
    side: Indices  # (n,), where that is held
    held: Indices  # (n + m,), 1 if the constraint is in W
    tried: Indices  # (n + m,), 1 if its release was found not to lead down from this point
    slack: Array  # (n + m,), distance from an end that counts as none
    ray: Array  # (n,), direction along which the objective was found unbounded
    multiplier: Array  # (n,), of each row of T
    extent: Array  # (1,), largest entry of x on the way: rounding of x is in proportion to it
    counts: Indices  # (COUNTS,), see `Count` in C++
    draws: Indices  # (1,), state of the random numbers

    def __init__(self, program: Quadratic, x: Array, seed: int) -> None:
        self.n, self.sides = n, sides = program.q.size, program.low.size
        vector(x, "x", n)
        numbers(x, "x")
        self.views = StateViews()
        self._allot(
            np.float64, values=sides, gradient=n, slack=sides, ray=n, multiplier=n, extent=1
        )
        self._allot(np.int64, slot=n, side=n, held=sides, tried=sides, counts=COUNTS, draws=1)
        self.draws[0] = seed
        self.x = self.values[:n]
        self.x[:] = x
        self.views.x = View(self.views.values.data, n)
        self.basis, self.T, self.L = factors = np.zeros((3, n, n))
        place: int = factors.__array_interface__["data"][0]
        views = (Table(place + 8 * k * n * n, n, n) for k in range(3))
        self.views.basis, self.views.T, self.views.L = views
        for name in ("slot", "side", "counts"):  # which the loops take indices from
            getattr(self, name).flags.writeable = False

    def _allot(self, dtype: type[Any], **sizes: int) -> None:
        """Arrays of zeros in one block of memory, and their views."""
        memory = np.zeros(sum(sizes.values()), dtype)
        place: int = memory.__array_interface__["data"][0]
        first = 0
        for name, size in sizes.items():
            setattr(self, name, memory[first : first + size])
            setattr(self.views, name, View(place + memory.itemsize * first, size))
            first += size


_PROGRAM, _STATE = reference(QuadraticViews), reference(StateViews)
_factorise = library.function("active_set_factorise", _PROGRAM, _STATE, c_bool, Lent)
_advance = library.function("active_set_advance", _PROGRAM, _STATE, WHOLE, Lent, returns=WHOLE)


def factorise(program: Quadratic, state: State, fresh: bool) -> None:
    """Compute the factors of W, or with `fresh` those of all constraints at their ends at x.

    With `fresh`, earlier steps of length zero do not count any more.
    """
    _require_size(program, state)
    _factorise(program.views, state.views, fresh, _memory(program))


def advance(program: Quadratic, state: State, steps: int) -> int:
    """Some steps of the method, between which the factors are only updated.

    Returns RUNNING, STATIONARY, UNBOUNDED or STALLED.

    | on the working set          | and                                  | action                  |
    |-----------------------------|--------------------------------------|-------------------------|
    | the gradient is not zero    |                                      | Newton step             |
    | it is, up to rounding       | a constraint could lead down         | release it              |
    | it is, up to rounding       | no constraint leads down             | STATIONARY              |
    | steps stay idle too long    |                                      | STALLED                 |
    | numbers have overflowed     |                                      | STALLED                 |
    """
    _require_size(program, state)
    if steps < 0:
        raise ProblemError("steps", "a number of steps", str(steps))
    outcome: int = _advance(program.views, state.views, count(steps), _memory(program))
    return outcome


def _require_size(program: Quadratic, state: State) -> None:
    """Raise `ProblemError` if the state is that of another program, or its point has NaN."""
    n, sides = program.q.size, program.low.size
    if (state.n, state.sides) != (n, sides):
        expected = f"a state of {n} variables and {sides - n} rows"
        raise ProblemError("state", expected, f"one of {state.n} and {state.sides - state.n}")
    numbers(state.x, "x")


def _memory(program: Quadratic) -> Lent:
    """Memory for all vectors of a step at one time."""
    n, sides = program.q.size, program.low.size
    return lending(*8 * [n], *3 * [sides])
