"""Second-order conditions at a stationary point, and why a program is convex or not."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array, Values
from indefinite_opt.quadratic.answers.conditions import stacked_multipliers
from indefinite_opt.quadratic.programs.paired_qp import PairedQP
from indefinite_opt.quadratic.programs.program import (
    CompiledProgram,
    Curvature,
    Optimality,
    Point,
    sign_of_curvature,
)
from indefinite_opt.quadratic.programs.qp import RANK_TOLERANCE
from indefinite_opt.quadratic.rows.multipliers import of_rows, strict
from indefinite_opt.quadratic.rows.polyhedral_qp import PolyhedralQP


def critical_curvature(
    least_curvature: Callable[..., tuple[float, float]],
    free: tuple[Any, ...],
    held: tuple[Any, ...],
    weak: int,
) -> tuple[Curvature, float, int]:
    """The curvature along the critical cone, as `curvature` returns it.

    Where a multiplier of an active constraint is zero, the cone is not a subspace. It then lies
    between two subspaces. If the curvature is nonnegative on the larger one, it is so on the cone;
    if it is negative on the smaller one, it is so on the cone; otherwise it is undecided.
    `least_curvature` is the least eigenvalue of the Hessian on a subspace, inf if that is {0}, and
    its rounding; `free` and `held` are its arguments without and with the `weak` constraints that
    are active with a zero multiplier, the same object where there are none.
    """
    least, rounding = least_curvature(*free)
    sign = sign_of_curvature(least, rounding)
    if sign is not Curvature.NEGATIVE or held is free:
        return sign, least, weak
    inside, rounding = least_curvature(*held)
    if sign_of_curvature(inside, rounding).is_nonnegative:
        return Curvature.UNDECIDED, least, weak
    return Curvature.NEGATIVE, inside, 0


@singledispatch
def curvature(
    program: CompiledProgram[Any], point: Point[Any], optimality: Optimality, tol: float
) -> tuple[Curvature, float, int]:
    """Second-order conditions at a stationary point.

    Returns the curvature, the least eigenvalue of the Hessian on the directions that are examined,
    nan if it is not known, and how many of the variables that may move are at a bound.
    """
    return Curvature.UNKNOWN, np.nan, 0


@curvature.register
def _(
    qp: PairedQP, point: Point[Array], optimality: Optimality, tol: float
) -> tuple[Curvature, float, int]:
    """Curvature on the tangent space of the free and weakly active variables.

    Reduced gradients up to tol times their unit count as zero.
    """
    lower, upper = qp.feasible.at_bounds(point.x, tol)
    free = ~(lower | upper)
    weak = ~free & (np.abs(optimality.reduced) <= tol * optimality.unit)
    movable, count = (np.flatnonzero(free | weak),), int(np.count_nonzero(weak))
    inside = (np.flatnonzero(free),) if count else movable
    return critical_curvature(partial(least_curvature, qp), movable, inside, count)


def least_curvature(qp: PairedQP, kept: NDArray[np.intp]) -> tuple[float, float]:
    """Least eigenvalue of H on {d: Ad = 0, d = 0 outside `kept`}, and its rounding.

    That of hK on {v = s∘d}, where every line says that the sum of v over its group is zero.
    """
    members = qp.feasible.group[kept] == np.arange(qp.feasible.totals.size)[:, None]
    counts = np.count_nonzero(members, axis=1)
    normals = (members / np.sqrt(np.maximum(counts, 1))[:, None])[counts > 0].T
    if kept.size <= normals.shape[1]:
        return np.inf, 0.0
    least, rounding = qp.gram.least_eigenvalue(kept, normals)
    return qp.hessian * least, qp.hessian * rounding


@curvature.register
def _(
    qp: PolyhedralQP, point: Point[Array], optimality: Optimality, tol: float
) -> tuple[Curvature, float, int]:
    """Curvature on the directions along the active constraints with positive multipliers."""
    x, unit = point.x, qp.gradient_unit(point.gradient)
    found = _curvature(qp, x, stacked_multipliers(optimality), optimality.reduced, unit, tol)
    if found[0] is Curvature.UNDECIDED:
        # Where multipliers are not unique, others may be zero at fewer constraints.
        others = strict(qp.feasible, x, point.gradient / unit, tol, optimality.stationarity)
        if others is not None:
            found = _curvature(qp, x, *others, 1.0, tol)
    return found


def _curvature(
    qp: PolyhedralQP, x: Array, multipliers: Values, reduced: Array, unit: float, tol: float
) -> tuple[Curvature, float, int]:
    """`curvature` for some multipliers and the reduced gradient that they leave, in `unit`."""
    body = qp.feasible
    lower, upper = body.at_bounds(x, tol)
    at_bounds, active = lower | upper, body.active_rows(x, tol)
    weak = at_bounds & (np.abs(reduced) <= tol * unit) & (body.lower < body.upper)
    sizes = body.largest[: body.h.size]
    loose = active & (of_rows(body, multipliers)[0] * sizes <= tol * unit)
    count = int(weak.sum() + loose.sum())
    rows = np.vstack([body.G[active & ~loose], body.A])
    # Multipliers are known up to the tolerance: of rows that nearly depend on each other, not all
    # need be held.
    share = max(tol, RANK_TOLERANCE) if len(rows) > len(body.A) else RANK_TOLERANCE
    free = np.flatnonzero(~at_bounds | weak), rows, share
    held = np.flatnonzero(~at_bounds), np.vstack([body.G[active], body.A]), RANK_TOLERANCE
    if not count and share == RANK_TOLERANCE:
        held = free
    return critical_curvature(qp.along_rows.restricted, free, held, count)


ALWAYS_CONVEX = "Convex for every kernel"
"""Why a program is convex if no other reason is known."""


@singledispatch
def why_convex(program: CompiledProgram[Any]) -> str:
    """The reason for convexity, with which the explanation of a claim GLOBAL begins."""
    return ALWAYS_CONVEX


@why_convex.register
def _(qp: PairedQP) -> str:
    return f"Convex {qp.problem.why_convex(qp.feasible.lines)}"


@why_convex.register
def _(qp: PolyhedralQP) -> str:
    along = ""
    if not qp.is_psd:
        body = qp.feasible
        declared = body.held.size == body.b.size
        along = f" along the {'equality rows' if declared else 'rows that hold as equations'}"
    fixed = qp.along_rows.moving is not qp.along_rows.P
    return f"Convex by the eigenvalues of P{' without fixed variables' * fixed}{along}"


@singledispatch
def why_not_convex(program: CompiledProgram[Any]) -> str:
    """Why it is not known to be convex: the rest of the message "this one ..." of a solver."""
    return "is not: its objective is curved the wrong way"


@why_not_convex.register
def _(qp: PairedQP) -> str:
    problem = qp.problem
    if not problem.curvature_known:
        return "was not examined: its kernel matrix is never formed"
    direction = problem.negative_direction(qp.feasible.lines)
    if direction is None:
        return "is not: its kernel has a negative eigenvalue"
    signed = qp.feasible.signs * direction
    curvature = qp.hessian * float(signed @ problem.gram.times(signed))
    return f"is not: along one feasible direction its objective has curvature {curvature:.3g}"


@why_not_convex.register
def _(qp: PolyhedralQP) -> str:
    curvature = qp.along_rows
    units = "" if isinstance(curvature.unit, float) else ", in units that make its rows alike,"
    return f"is not: the least eigenvalue of P{units} is {curvature.least_everywhere:.3g}"
