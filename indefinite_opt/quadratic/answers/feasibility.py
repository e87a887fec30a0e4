"""Feasible points near a point, and what a program attains there."""

from __future__ import annotations

from functools import partial, singledispatch
from typing import Any

import numpy as np

from indefinite_opt.foundation import EPS, LEAST, Array, Values, derived
from indefinite_opt.quadratic.answers.units import sizes_of_terms
from indefinite_opt.quadratic.programs.program import (
    CompiledProgram,
    ExplicitProgram,
    Point,
    VectorProgram,
)
from indefinite_opt.quadratic.programs.qp import QP
from indefinite_opt.quadratic.rows.nearby import Nearby, granularity, may_underflow
from indefinite_opt.quadratic.rows.polyhedral_qp import PolyhedralQP


@singledispatch
def repair(program: CompiledProgram[Any], x: Any) -> tuple[float, float]:
    """The largest violation of a constraint at x, and the largest move to a feasible point.

    Both are absolute, and nan where they are not known.
    """
    return np.nan, np.nan


@repair.register
def _(program: VectorProgram, x: Array) -> tuple[float, float]:
    return program.feasible.repair(x)


@singledispatch
def feasible_values(program: CompiledProgram[Any], values: Values | None = None) -> Values | None:
    """Feasible values near some values, or else any that are cheap to compute.

    None if no such values are known.
    """
    return values


@feasible_values.register
def _(program: VectorProgram, values: Values | None = None) -> Values:
    return program.values(
        program.start() if values is None else program.feasible.project(program.from_values(values))
    )


@feasible_values.register
def _(program: ExplicitProgram, values: Values | None = None) -> Values | None:
    return None if values is None else program.repaired(values)


def feasible_near(
    program: VectorProgram, point: Point[Array], infeasibility: float
) -> Point[Array]:
    """A feasible point near one with that `infeasibility`; the same one up to n·eps.

    Bounds start from this point, as F may be convex along the constraints only. They allow for
    violations of the size of rounding.
    """
    if infeasibility > program.n * EPS:
        return program.at(program.feasible.project(point.x))
    return point


@singledispatch
def attained(
    program: CompiledProgram[Any], point: Point[Any], infeasibility: float
) -> tuple[Point[Any], float]:
    """A feasible point near one with that `infeasibility`, and the error of F there.

    It is the same point if that is feasible. F at an exactly feasible point differs from F there by
    this error at most. The error is in units of F.
    """
    raise NotImplementedError


def holds_exactly(program: CompiledProgram[Any], x: Array) -> bool:
    """Whether some point near x, if there is one, is proved to satisfy all rows exactly.

    Else they hold up to the rounding of their right-hand sides, as in files with rounded numbers.
    """
    near = program.feasible.near(x) if isinstance(program, PolyhedralQP) else None
    return near is None or near.exactly


@attained.register
def _(
    program: VectorProgram, point: Point[Array], infeasibility: float
) -> tuple[Point[Array], float]:
    return feasible_near(program, point, infeasibility), 0.0


@attained.register
def _(
    program: ExplicitProgram, point: Point[Values], infeasibility: float
) -> tuple[Point[Values], float]:
    repaired = program.repaired(point.x)
    return (point if repaired is point.x else program.at(repaired)), 0.0


@attained.register
def _(qp: PolyhedralQP, point: Point[Array], infeasibility: float) -> tuple[Point[Array], float]:
    """The point `near`, and an error that covers its radius, the rounding of F, and the `doubt`.

    Where the point is not feasible, one near its `lifted` entries of epigraphs counts if it is
    better: these have room for the rounding of their rows, and nothing else has to move for that.
    """
    if qp.constants:
        # Near a feasible point F is the same without what `at` adds.
        point = QP.at(qp, point.x)
    near = qp.feasible.near(point.x)
    if near is None:
        return feasible_near(qp, point, infeasibility), qp.doubt
    found = _with_error(qp, point, near)
    if qp.epigraphs and not np.array_equal(near.x, point.x):
        above = qp.feasible.near(qp.lifted(point.x))
        if above is not None and above.exactly >= near.exactly:
            other = _with_error(qp, point, above)
            if other[0].value + other[1] < found[0].value + found[1]:
                return other
    return found


def _with_error(qp: PolyhedralQP, point: Point[Array], near: Nearby) -> tuple[Point[Array], float]:
    """The point near another one, and what F at an exactly feasible point differs from F there."""
    same = np.array_equal(near.x, point.x)
    moved = point if same else QP.at(qp, near.x)
    sizes, rounding = qp.along_rows.sizes, (qp.n + 2.0) * EPS
    steep = np.abs(moved.gradient) + rounding * (sizes @ np.abs(near.x) + np.abs(qp.q))
    steep, away = steep + 0.5 * (sizes @ near.radius), near.radius > 0.0
    error = (1.0 + rounding) * near.radius[away] @ steep[away]
    return moved, float(error) + _value_error(qp, near.x) + qp.doubt


def _value_error(qp: PolyhedralQP, x: Array) -> float:
    """Bound on the rounding of F; 0 if all sums are exact, like those of small integers."""
    size = np.abs(x)
    terms = sizes_of_terms(qp, size)
    if not size.any():
        return 0.0
    # All sums are multiples of this power of two.
    unit = granularity(x)
    curved, linear = derived(qp, "granularity", partial(_granularity, qp))
    if terms < 2.0**51 * unit * min(0.5 * unit * curved, linear):
        return 0.0
    may = may_underflow(qp.along_rows.P.data, x, x) or may_underflow(qp.q, x)
    underflow = LEAST * (1.0 + float(size.sum())) if may else 0.0
    return (2.0 * qp.n + 4.0) * (EPS * terms + underflow)


def _granularity(qp: PolyhedralQP) -> tuple[float, float]:
    return granularity(qp.along_rows.P.data), granularity(qp.q)
