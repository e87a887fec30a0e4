"""Steps of an active-set method for quadratic programs.

The working set W and the factors Q = [Z Y], T and L are those of `active_set.cpp`.

Constraint c < n is the variable c, and constraint n + k is row k.
"""

from __future__ import annotations

from ctypes import Structure, c_bool, c_double
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.core import binding, library
from indefinite_opt.core.binding import (
    INT64,
    UINT64,
    WHOLE,
    Indices,
    Lent,
    Table,
    View,
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


def _whole(*names: str) -> list[int]:
    return [int(_number(name)) for name in names]


RUNNING, STATIONARY, UNBOUNDED, STALLED = _whole("RUNNING", "STATIONARY", "UNBOUNDED", "STALLED")

LOWER, EQUAL, UPPER, TEMPORARY, FLAT = _whole("LOWER", "EQUAL", "UPPER", "TEMPORARY", "FLAT")
"""Where a constraint of W is held: at an end, at both, at another value, or at another value along
a direction in which nothing changes."""

(ARTIFICIAL,) = _whole("ARTIFICIAL")
"""In place of a constraint: a column of Q that is held."""

FREE, STEPS, IDLE, REFINED, SINCE, FLATS, COUNTS = _whole(
    "FREE", "STEPS", "IDLE", "REFINED", "SINCE", "FLATS", "COUNTS"
)
"""Places in `State.counts`: nz, the dimension of Z; steps; steps in a row of length zero; Newton
steps in a row on one working set; steps since the factors were computed; moves in a row that left
the objective as it was. The last one is how many there are."""

PARALLEL_SHARE = _number("PARALLEL_SHARE")
"""Slope of a constraint along a direction, as a share of the product of their lengths, up to which
it counts as parallel to it."""

CURVATURE_SHARE = _number("CURVATURE_SHARE")
"""Curvature along a unit vector, as a share of n times the largest entry of P, up to which it may
be rounding."""

MULTIPLIER_SHARE = _number("MULTIPLIER_SHARE")
"""Multiplier times the length of its normal, as a share of √n times the terms of the gradient, up
to which it may be rounding."""

FACTOR_STEPS = 400
"""Steps after which the factors are computed anew: each loses a few roundings."""


class QuadraticViews(Structure):
    """The arrays of a `Quadratic` as the loops take them."""

    _fields_ = [
        ("P", Table), ("R", Table), ("q", View), ("low", View), ("high", View), ("norms", View),
        ("largest", c_double),
    ]  # fmt: skip


class StateViews(Structure):
    """The arrays of a `State` as the loops take them."""

    _fields_ = [
        ("x", View), ("values", View), ("gradient", View), ("basis", Table), ("T", Table),
        ("L", Table), ("slot", View), ("side", View), ("held", View), ("tried", View),
        ("slack", View), ("ray", View), ("multiplier", View), ("extent", View), ("counts", View),
        ("draws", View),
    ]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Quadratic:
    """min ½xᵀPx + qᵀx  s.t.  low ≤ (x, Rx) ≤ high; the arrays may not change.

    Attributes
    ----------
    P : (n, n) array
        Finite and symmetric.
    q : (n,) array
        Finite.
    R : (m, n) array
        Finite.
    low, high : (n + m,) array
    """

    P: Array
    q: Array
    R: Array
    low: Array
    high: Array

    def __post_init__(self) -> None:
        n = vector(self.q, "q").size
        table(self.P, "P", n, n)
        sides = n + table(self.R, "R", columns=n).count
        for ends, name in ((self.low, "low"), (self.high, "high")):
            vector(ends, name, sides)
            numbers(ends, name)
        for array, name in ((self.P, "P"), (self.q, "q"), (self.R, "R")):
            if not np.isfinite(array).all():
                raise ProblemError(name, "finite numbers", "infinite ones or NaN")

    @cached_property
    def sizes(self) -> Array:
        """|P|, (n, n)."""
        return np.abs(self.P)

    @cached_property
    def norms(self) -> Array:
        """Lengths of the normals, (n + m,)."""
        return np.concatenate([np.ones(self.q.size), np.linalg.norm(self.R, axis=1)])

    @cached_property
    def largest(self) -> float:
        """The largest entry of |P|."""
        return max(float(self.P.max(initial=0.0)), -float(self.P.min(initial=0.0)))

    @cached_property
    def views(self) -> QuadraticViews:
        """The arrays as the loops take them."""
        return QuadraticViews(
            table(self.P, "P"), table(self.R, "R"), vector(self.q, "q"), vector(self.low, "low"),
            vector(self.high, "high"), vector(self.norms, "norms"), self.largest,
        )  # fmt: skip

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.P, self.q, self.R, self.low, self.high)


@dataclass(frozen=True, eq=False)
class State:
    """A point, its working set and the factors; the arrays are changed in place.

    Attributes
    ----------
    values : (n + m,) array
        x and Rx.
    gradient : (n,) array
    basis : (n, n) array
        Qᵀ: rows Z, then Y.
    T : (n, n) array
        Used from row and column nz on.
    L : (n, n) array
        Used up to row and column nz.
    slot : (n,) array of int64
        The constraint in each row of T.
    side : (n,) array of int64
        Where that is held.
    held : (n + m,) array of int64
        1 if the constraint is in W.
    tried : (n + m,) array of int64
        1 if its release was found not to lead down from this point.
    slack : (n + m,) array
        Distance from an end that counts as none.
    ray : (n,) array
        Direction along which the objective was found unbounded.
    multiplier : (n,) array
        Of each row of T.
    extent : (1,) array
        Largest entry of x on the way: rounding of x is in proportion to it.
    counts : (COUNTS,) array of int64
        See FREE and the others.
    draws : (1,) array of uint64
        State of the random numbers.
    """

    values: Array
    gradient: Array
    basis: Array
    T: Array
    L: Array
    slot: Indices
    side: Indices
    held: Indices
    tried: Indices
    slack: Array
    ray: Array
    multiplier: Array
    extent: Array
    counts: Indices
    draws: NDArray[np.uint64]

    def __post_init__(self) -> None:
        _ = self.views  # this checks types and shapes

    @property
    def x(self) -> Array:
        """The point, (n,), which is part of `values`."""
        return self.values[: self.gradient.size]

    @cached_property
    def views(self) -> StateViews:
        """The arrays as the loops take them."""
        values = vector(self.values, "values", changed=True)
        gradient = vector(self.gradient, "gradient", changed=True)
        n, sides = gradient.size, values.size
        if sides < n:
            raise ProblemError("values", f"at least {n} of them", str(sides))

        def numbered(name: str, size: int, dtype: np.dtype[Any] = binding.DOUBLE) -> View:
            return vector(getattr(self, name), name, size, dtype, changed=True)

        return StateViews(
            View(values.data, n), values, gradient,
            *(table(getattr(self, name), name, n, n, changed=True) for name in ("basis", "T", "L")),
            *(numbered(name, n, INT64) for name in ("slot", "side")),
            *(numbered(name, sides, INT64) for name in ("held", "tried")),
            numbered("slack", sides), numbered("ray", n), numbered("multiplier", n),
            numbered("extent", 1), numbered("counts", COUNTS, INT64), numbered("draws", 1, UINT64),
        )  # fmt: skip

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, name) for name in self.__dataclass_fields__)


def new_state(program: Quadratic, x: Array, seed: int) -> State:
    """The state at a point, before `factorise`."""
    n, sides = program.q.size, program.low.size
    vector(x, "x", n)
    numbers(x, "x")

    def whole(size: int) -> Indices:
        return np.zeros(size, dtype=np.int64)

    values = np.concatenate([x, np.zeros(sides - n)])
    return State(
        values, np.zeros(n), np.eye(n), np.zeros((n, n)), np.zeros((n, n)), whole(n), whole(n),
        whole(sides), whole(sides), np.zeros(sides), np.zeros(n), np.zeros(n), np.zeros(1),
        whole(COUNTS), np.array([seed], dtype=np.uint64),
    )  # fmt: skip


_PROGRAM, _STATE = reference(QuadraticViews), reference(StateViews)
_factorise = library.function("active_set_factorise", _PROGRAM, _STATE, c_bool, Lent)
_advance = library.function("active_set_advance", _PROGRAM, _STATE, WHOLE, Lent, returns=WHOLE)


def factorise(program: Quadratic, state: State, fresh: bool) -> None:
    """Compute the factors of W, or with `fresh` those of all constraints at their ends at x.

    Dependent constraints are left out. Columns of Q along which the curvature is not positive,
    given those before them, are held by artificial constraints.
    """
    _require_working_set(program, state)
    for name in ("x", "extent"):
        numbers(getattr(state, name), name)
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
    _require_working_set(program, state)
    for name in ("x", "extent", "slack", "basis", "T", "L"):
        numbers(getattr(state, name), name)
    if steps < 0:
        raise ProblemError("steps", "a number of steps", str(steps))
    outcome: int = _advance(program.views, state.views, steps, _memory(program))
    finite = np.isfinite(state.x).all() and np.isfinite(state.gradient).all()
    return outcome if finite else STALLED


def _require_working_set(program: Quadratic, state: State) -> None:
    """Raise `ProblemError` if the state is that of another program, or has no working set."""
    n, sides = program.q.size, program.low.size
    given = state.gradient.size, state.values.size
    if given != (n, sides):
        expected = f"a state of {n} variables and {sides - n} rows"
        raise ProblemError("state", expected, f"one of {given[0]} and {given[1] - given[0]}")
    binding.places(state.counts[FREE : FREE + 1], "counts", n + 1)
    nz = int(state.counts[FREE])
    slot, side = state.slot[nz:], state.side[nz:]
    binding.places(slot, "slot", sides, ARTIFICIAL)
    binding.places(side, "side", FLAT + 1, LOWER)
    if np.any((slot == ARTIFICIAL) & (side < TEMPORARY)):
        raise ProblemError("side", "artificial constraints that are temporary", "one at an end")


def _memory(program: Quadratic) -> Lent:
    """Memory for all vectors of a step at one time."""
    n, sides = program.q.size, program.low.size
    return lending(*8 * [n], *3 * [sides])
