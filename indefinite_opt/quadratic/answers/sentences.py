"""What a certificate says beside its claim."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from indefinite_opt.foundation import Array, Values
from indefinite_opt.quadratic.answers.conditions import constraint_name
from indefinite_opt.quadratic.answers.feasibility import holds_exactly
from indefinite_opt.quadratic.programs.claim import Claim
from indefinite_opt.quadratic.programs.paired_qp import PairedQP
from indefinite_opt.quadratic.programs.program import CompiledProgram, ExplicitProgram, Point
from indefinite_opt.quadratic.rows.polyhedral_qp import PolyhedralQP


@singledispatch
def violation(
    program: CompiledProgram[Any], x: Any, infeasibility: float, tol: float
) -> tuple[str, list[str]]:
    """What an infeasibility above tol means, as a clause, and further sentences on it."""
    return f"relative violation {infeasibility:.2e}", []


@violation.register
def _(qp: PolyhedralQP, x: Array, infeasibility: float, tol: float) -> tuple[str, list[str]]:
    clause = f"all constraints hold at a point that is {infeasibility:.2e} away, relative to x"
    if np.isinf(infeasibility):
        clause = "no point nearby is proved to satisfy all constraints"
    if qp.feasible.discrepancy(x) > tol:
        return clause, []
    return clause, [
        "That is small relative to terms that cancel, but no point within tol is proved to "
        "satisfy all constraints."
    ]


@singledispatch
def worst_row(program: CompiledProgram[Any], x: Any) -> tuple[str, float, str] | None:
    """The constraint that x misses most, by how much, and the row or bound of it.

    Rows count in units of their largest entries. None where there are no names for rows.
    """
    return None


@worst_row.register
def _(qp: PolyhedralQP, x: Array) -> tuple[str, float, str] | None:
    body = qp.feasible
    if not qp.keeps_kinds:
        return None
    missed = body.rows @ x - body.rhs
    missed[body.h.size :] = np.abs(missed[body.h.size :])
    over = np.concatenate([missed, body.lower - x, x - body.upper])
    units = np.concatenate([np.where(body.largest > 0.0, body.largest, 1.0), np.ones(2 * qp.n)])
    k = int(np.argmax(over / units))
    size = float(over[k])
    kinds = ("inequalities", "equalities", "lower", "upper")
    for kind, count in zip(kinds, (body.h.size, body.b.size, qp.n, qp.n), strict=True):
        if k < count:
            return kind, size, constraint_name(qp, kind, k)
        k -= count
    return None


@singledispatch
def remarks(
    program: CompiledProgram[Any], point: Point[Any], claim: Claim, bounded: bool
) -> list[str]:
    """Further sentences for the certificate of a feasible point, which may have a bound."""
    return []


@remarks.register
def _(program: ExplicitProgram, point: Point[Values], claim: Claim, bounded: bool) -> list[str]:
    explained = Claim.STATIONARY <= claim < Claim.GLOBAL
    return list(program.explanation(point.x)) if explained else []


@remarks.register
def _(qp: PairedQP, point: Point[Array], claim: Claim, bounded: bool) -> list[str]:
    """Sentences on missing upper bounds, on curvature that may be rounding, and on a normal
    without a positive squared norm.

    For the latter see Haasdonk (2005), 7.3-7.4.
    """
    if claim < Claim.STATIONARY:
        return []
    words = []
    if claim < Claim.GLOBAL and (curved := qp.problem.curved_by_rounding(qp.feasible.lines)):
        words = [curved]
    if claim is Claim.GLOBAL and qp.known_convex and not qp.feasible.is_bounded:
        words = ["Without upper bounds, eigenvalues within rounding of zero count as zero."]
    return words + _about_margin(qp, point)


def _about_margin(qp: PairedQP, point: Point[Array]) -> list[str]:
    x, problem = point.x, qp.problem
    if np.ndim(qp.linear) or problem.classes.size != 2:
        return []  # It is no separation of two classes.
    weight, pull = float(x.sum()), point.gradient - qp.linear
    square, lost = float(x @ pull), 1e-9 * qp.linear_size * weight
    if weight == 0.0 or square > lost:
        return []
    if square < -lost:
        norm = 4.0 * (square / weight) / weight / qp.hessian
    else:  # beside the linear term, H times small weights is lost to rounding
        shares = x / weight
        norm = 4.0 * float(shares @ qp.hessian_times(shares)) / qp.hessian
        if norm > 0.0:
            return []
    words = f"The normal of this separation has squared norm {norm:.3g}: no positive margin"
    # Computing all of K once more may take longer than the solve.
    if qp.feasible.lines > 0 and problem.curvature_known and problem.class_mean_distance < 0.0:
        words += (
            "; no separation with positive norm exists, as the class means have squared "
            f"distance {problem.class_mean_distance:.3g}"
        )
    return [f"{words} (Haasdonk 2005, section 7)."]


@remarks.register
def _(qp: PolyhedralQP, point: Point[Array], claim: Claim, bounded: bool) -> list[str]:
    words = []
    if claim < Claim.GLOBAL and not bounded and qp.is_convex and not qp.feasible.is_bounded:
        words = [
            f"No bound is proved: {endless(qp)}, so that rounding makes the bound infinite. Give "
            "it lower and upper bounds."
        ]
    if not holds_exactly(qp, point.x):
        words.append(
            "No point nearby is proved to satisfy all rows exactly: they hold up to 1e-12 of "
            "their right-hand sides or entries, as in files whose numbers are rounded."
        )
    return words + list(qp.notes if claim >= Claim.STATIONARY else ())


def endless(qp: PolyhedralQP) -> str:
    """Part of a sentence that names the first variable without a finite range."""
    body = qp.feasible
    k = int(np.argmin(np.isfinite(body.ranges).all(axis=0)))
    if not body.knows_ranges:
        return f"no finite range of {body.names.variable(k)} was known in time"
    return f"neither bounds nor rows give {body.names.variable(k)} a finite range"
