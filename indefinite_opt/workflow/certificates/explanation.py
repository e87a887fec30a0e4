"""The reasons for a claim, as sentences about the numbers that were measured."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from indefinite_opt.errors import IndefiniteOptError
from indefinite_opt.foundation import Values
from indefinite_opt.quadratic import Claim, Curvature, PolyhedralQP, Task, gap_and_share
from indefinite_opt.workflow.certificates.measurement import Measurement


def explain(found: Measurement, claim: Claim, values: Values) -> list[str]:
    """Why the claim follows from the measurement, and what is missing for a stronger one."""
    task, point = found.measured.task, found.measured.point
    if claim is Claim.NONE:
        return [*_inconsistencies(found), *_violation(found, values)]
    bounded = bool(np.isfinite(found.measured.bound.value))
    if not found.facts.consistent:
        reasons = _inconsistencies(found)
    elif claim is Claim.GLOBAL:
        reasons = [_why_global(found)]
    else:
        reasons = [*_conditions(found), *_gap(found)]
    reasons += task.in_time([], task.structure.remarks, point, claim, bounded)
    return reasons + task.formulation.remarks(task.problem, values)


def _inconsistencies(found: Measurement) -> list[str]:
    """What is wrong about given multipliers."""
    if found.facts.consistent:
        return []
    task = found.measured.task
    wrong: list[str] = task.structure.inconsistencies(found.optimality, task.tol)
    return wrong or ["The given multipliers do not satisfy the first-order conditions."]


def _violation(found: Measurement, values: Values) -> list[str]:
    """By how much the point violates the constraints, and which one most, where that is cheap."""
    task, primal = found.measured.task, found.measured.primal
    structure, x = task.structure, found.measured.point.x
    relative = f"relative violation {primal:.2e}"
    if isinstance(structure, PolyhedralQP):
        relative = f"all constraints hold at a point that is {primal:.2e} away, relative to x"
        if np.isinf(primal):
            relative = "no point nearby is proved to satisfy all constraints"
    worst = _worst(task, values) if task.problem.n <= 2000 else None
    if worst is None:
        reasons = [f"A constraint is violated by {primal:.2e}, relative to its terms."]
    else:
        name, size = worst
        reasons = [f"The constraint {name!r} is violated by {size:.3g} ({relative})."]
    if isinstance(structure, PolyhedralQP) and structure.discrepancy(x) <= task.tol:
        reasons.append(
            "That is small relative to terms that cancel, but no point within tol is proved to "
            "satisfy all constraints."
        )
    return reasons


def _worst(task: Task[Any], values: Values) -> tuple[str, float] | None:
    """The constraint that is violated most, and by how much; None if none can be named."""
    with suppress(IndefiniteOptError):  # of kernels that are never formed
        program = task.in_time(None, task.formulation.declare, task.problem)
        sizes = {} if program is None else program.violations(values)
        name = max(sizes, key=sizes.__getitem__, default="")
        if name and sizes[name] > 0.0:
            return name, sizes[name]
    return None


def _why_global(found: Measurement) -> str:
    structure, why = found.measured.task.structure, found.measured.bound.why
    if not found.convex:
        return why or _about_bracket(found)[0]
    if found.zero_range > 0.0:
        return f"{structure.why_convex}, and {_zero(found)}."
    return why or f"{structure.why_convex}, and the dual bound meets the objective."


def _zero(found: Measurement) -> str:
    """That value and bound are 0 up to rounding, as a clause."""
    less = " without constants" if found.measured.task.structure.constant else ""
    return (
        f"objective and bound{less} are 0 up to rounding: within {found.zero_range:.1e}, which "
        "is 64 roundings of their terms"
    )


def _conditions(found: Measurement) -> list[str]:
    """Which of the optimality conditions hold."""
    task, sign = found.measured.task, found.facts.curvature
    if task.structure.multipliers_from_solver:
        return []
    if not found.examined:
        return ["The first-order conditions were not examined in time."]
    if not found.facts.first_order:
        failing = "stationarity" if found.optimality.stationarity > task.tol else "complementarity"
        return [f"The first-order conditions fail: {failing}."]
    if found.curvature_late:
        return ["First-order conditions hold; curvature was not examined in time."]
    if sign is Curvature.UNKNOWN:
        return [sign.sentence()]
    return [_doubt(found) + sign.sentence(found.weak)]


def _doubt(found: Measurement) -> str:
    """Why local conditions do not decide global optimality, as sentences before a reason."""
    if found.convex:
        return ""
    known = "Not convex"
    if not found.measured.task.problem.curvature_known:
        known = "Convexity was not examined, as the kernel matrix is never formed"
    elif found.convex is None:
        known = "Convexity was not examined in time"
    bounded = np.isfinite(found.measured.bound.value)
    return f"{known}. " if bounded else f"{known}; no bound on the global optimum is known. "


def _gap(found: Measurement) -> list[str]:
    """What the bound leaves open."""
    measured = found.measured
    if not found.convex:
        return _about_bracket(found)
    if np.isfinite(measured.bound.value):
        return [f"Convex, but the bound leaves a duality gap of {_sized(found)}."]
    if measured.task.late:
        return ["No bound was computed in time."]
    if measured.task.structure.is_linear:
        return ["No multipliers are known that prove a bound."]
    return []


def _about_bracket(found: Measurement) -> list[str]:
    """What branch and bound has proved about a nonconvex program."""
    measured, searched = found.measured, found.searched
    if searched is None:
        return []
    if np.isinf(measured.bound.value):
        return ["No bound was proved in time."]
    task, value = measured.task, measured.point.value
    margin = max(task.tol * measured.unit, task.atol, found.zero_range)
    if measured.bound.value - value > margin:
        return ["The objective lies beyond the bound, which is valid for exactly feasible points."]
    if measured.closed:
        parts = "one node" if searched.nodes <= 1 else f"{searched.nodes} nodes"
        if found.zero_range > 0.0:
            return [f"Not convex, but after {parts} {_zero(found)}."]
        return [f"Not convex, but bounds of {parts} meet the objective."]
    notes = [f"The bound leaves a global bracket of {_sized(found)}."]
    if searched.better < value - margin:
        better = task.structure.declared(searched.better)
        notes.append(f"A better point exists: its objective is {better:.10g}.")
    return notes


def _sized(found: Measurement) -> str:
    """The gap and its share of the unit, or what helps where no gap is small beside that."""
    gap, share = found.measured.gap, found.measured.relative_gap
    words = gap_and_share(gap, share)
    if np.isfinite(share) or np.isinf(gap):
        return words
    return f"{words} in absolute terms; `atol` is an absolute tolerance"
