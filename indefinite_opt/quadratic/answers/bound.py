"""Lower bounds on the value of a program from a feasible point and multipliers.

A convex F is nowhere below its linearisation at a point x,

    F(z) ≥ F(x) + ∇F(x)ᵀ(z - x).

The least value of the right-hand side over the feasible set, or a smaller one by multipliers of the
constraints, is a lower bound, whatever x and the multipliers are. Near an optimum it is sharp. What
its computation may have rounded is subtracted. If a feasible point attains no more, it is a global
optimum. The answers of programs in pairs are in `paired_bounds`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import singledispatch
from typing import Any

import numpy as np

from indefinite_opt.foundation import EPS, Array, Values, seconds_left
from indefinite_opt.quadratic.answers.conditions import fitted_multipliers
from indefinite_opt.quadratic.answers.multipliers import as_held, of_all_rows
from indefinite_opt.quadratic.matrices.sparse import as_sparse
from indefinite_opt.quadratic.programs.gaps import at_most
from indefinite_opt.quadratic.programs.program import (
    CompiledProgram,
    ExplicitProgram,
    LowerBound,
    Point,
)
from indefinite_opt.quadratic.programs.qp import QP
from indefinite_opt.quadratic.rows.convex_solution import convex_solution
from indefinite_opt.quadratic.rows.dual_bound import dual_bounds
from indefinite_opt.quadratic.rows.multipliers import of_rows, reduced
from indefinite_opt.quadratic.rows.polyhedral_qp import PolyhedralQP
from indefinite_opt.quadratic.rows.row_curvature import RowCurvature

MAX_CHARGE = 16.0
"""Largest charge of `charged_bounds` anywhere in the box, as a multiple of the gap that counts as
closed. If it is larger, F is not nearly convex, although the charge may be small at a point."""

_AT_BOUND = 1e-8
"""Distance from a bound, as a share of the variable, up to which a variable is not free."""


@singledispatch
def bounds(
    program: CompiledProgram[Any], point: Point[Any], multipliers: Values | None
) -> Iterator[LowerBound]:
    """Lower bounds on a convex F from a feasible point, each of which takes longer than the last.

    They hold for any point and any multipliers. Bounds by given multipliers, where the kind of
    program uses them, come before those by multipliers that are recovered from the point.
    """
    return iter(())


@bounds.register
def _(
    program: ExplicitProgram, point: Point[Values], multipliers: Values | None
) -> Iterator[LowerBound]:
    if multipliers:
        yield LowerBound(program.lower_bound(point.x, as_held(program, multipliers)))
    yield LowerBound(program.lower_bound(point.x, program.multipliers(point.x)))


@bounds.register
def _(qp: PolyhedralQP, point: Point[Array], multipliers: Values | None) -> Iterator[LowerBound]:
    """The bounds of `dual_bounds`, for which only the multipliers of the rows count."""
    stacked = _of_bounds(qp, multipliers, point)
    if stacked:
        yield from bounds_from(qp, point, *of_rows(qp.feasible, stacked))
    recovered = fitted_multipliers(qp, point, EPS * qp.n)
    yield from bounds_from(qp, point, *of_rows(qp.feasible, recovered))


def _of_bounds(qp: PolyhedralQP, multipliers: Values | None, point: Point[Array]) -> Values | None:
    """The multipliers of all rows for a bound, or None if those that are given do not say them.

    At a point that misses the equations which fix the constant of a kernel, multipliers of these
    depend on how far it misses them. So their part along each a is fitted again: it leaves the
    least residual in the variables that are off their bounds.
    """
    body = qp.feasible
    # A program without declared constraints may have rows of epigraphs.
    is_known = multipliers is not None and (multipliers or (qp.epigraphs and not qp.named))
    stacked = of_all_rows(qp, multipliers or {}, point.x) if is_known else None
    if not stacked or not qp.constants:
        return stacked
    free = ~np.logical_or(*body.at_bounds(point.x, _AT_BOUND))
    columns = np.array([constant.a for constant in qp.constants]).T[free]
    left = reduced(body, point.gradient, *of_rows(body, stacked))[free]
    along = np.linalg.lstsq(columns, -left, rcond=None)[0]
    change = sum(m * one.weights for m, one in zip(along, qp.constants, strict=True))
    return stacked | {"equalities": stacked["equalities"] + change}


def bounds_from(qp: PolyhedralQP, point: Point[Array], z: Array, y: Array) -> Iterator[LowerBound]:
    """Bounds by multipliers z of the inequalities, (m,), and y of the equations, (k,).

    Each is the largest up to then.
    """
    best = -np.inf
    for value in dual_bounds(qp.along_rows, qp.q, qp.feasible, point, z, y, qp.constant):
        best = max(best, value)
        yield LowerBound(_less_doubt(qp, best))


def _less_doubt(qp: PolyhedralQP, bound: float) -> float:
    """A lower bound on what F stands for, from one on F; see `PolyhedralQP.doubt`."""
    return float(np.nextafter(bound - qp.doubt, -np.inf)) if qp.doubt else bound


@singledispatch
def charged_bounds(
    qp: QP, point: Point[Array], multipliers: Values | None, most: float
) -> Iterator[LowerBound]:
    """Lower bounds on a slightly nonconvex F; none if they cannot be within `most` of F.

    With a proved bound δ on the negative curvature, F + ½δ‖x‖² is convex. A linear function takes
    away at least as much again on l ≤ x ≤ u:

        F̃(x) = F(x) + ½δ Σ (x_j - l_j)(x_j - u_j) ≤ F(x).

    So a lower bound on F̃ is one on F. The difference F - F̃ at the point is what it costs, and it
    costs more if F̃ has its optimum at another point. `most` is in units of F.
    """
    return iter(())


@charged_bounds.register
def _(
    qp: PolyhedralQP, point: Point[Array], multipliers: Values | None, most: float
) -> Iterator[LowerBound]:
    """The bounds of `dual_bounds` for P + diag(δ), at the point and then at the optimum of F̃.

    Only variables with δ_j > 0 need finite ranges.
    """
    body = qp.feasible
    delta, x = qp.along_rows.lacking, point.x
    low, high = body.ranges if body.knows_ranges else body.intervals
    raised = np.flatnonzero(delta)
    low, high, inside = low[raised], high[raised], x[raised]
    if not np.isfinite(low + high).all():
        return
    delta = delta[raised]
    worth = max(0.5 * float(delta @ ((inside - low) * (high - inside))), 0.0)
    anywhere = 0.125 * float(delta @ np.square(high - low))
    if worth > most or anywhere > MAX_CHARGE * most:
        return
    from scipy import sparse

    added = np.zeros(qp.n)
    added[raised] = delta
    P = as_sparse(qp.along_rows.P + sparse.diags_array(added))
    q, size = qp.q.copy(), np.maximum(np.abs(low), np.abs(high))
    q[raised] -= 0.5 * delta * (low + high)
    # Subtracted is the rounding of what is added, in P, q and the constant.
    steep = (np.abs(P.diagonal()[raised]) + 2.0 * delta) * size + np.abs(qp.q[raised])
    constant = 0.5 * float(delta @ (low * high)) - (qp.n + 8.0) * EPS * float(steep @ size)
    curvature = RowCurvature(P, body.rows[body.held], body.fixed)

    def bounds_at(x: Array, z: Array, y: Array) -> Iterator[float]:
        gradient = P @ x + q
        there = Point(x, 0.5 * float(x @ (gradient + q)), gradient)
        for value in dual_bounds(curvature, q, body, there, z, y):
            yield _less_doubt(qp, float(np.nextafter(value + constant, -np.inf)))

    def values() -> Iterator[float]:
        known = _of_bounds(qp, multipliers, point) or fitted_multipliers(qp, point, EPS * qp.n)
        yield from bounds_at(x, *of_rows(body, known))
        solution = None
        if curvature.is_psd:
            solution = convex_solution(P, q, body, seconds_left())
        if solution is not None:
            yield from bounds_at(solution.x, *np.split(solution.multipliers, [body.h.size]))

    yield from charged(values(), -float(delta.max()), worth)


def charged(values: Iterable[float], least: float, worth: float) -> Iterator[LowerBound]:
    """Bounds on a convex function that is less than F by `worth` at a point, with the reason.

    `least` is a lower bound on the eigenvalues of H.
    """
    why = (
        f"Nonconvex by eigenvalues down to -{at_most(-least, 2)} only. A convex function below the "
        f"objective is lower by {at_most(worth, 2)} here, and its dual bound meets the objective."
    )
    for value in values:
        yield LowerBound(value, None, why)
