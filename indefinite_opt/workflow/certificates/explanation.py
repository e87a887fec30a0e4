"""The reasons for a claim, as sentences about the numbers that were measured."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from indefinite_opt.errors import IndefiniteOptError
from indefinite_opt.foundation import Values
from indefinite_opt.quadratic import (
    Answer,
    Claim,
    Curvature,
    Task,
    answers,
    gap_and_share,
    relative,
)
from indefinite_opt.workflow.certificates.measurement import allowed_gap


def explain(task: Task[Any], answer: Answer, claim: Claim, values: Values) -> list[str]:
    """Why the claim follows from the answer, and what is missing for a stronger one."""
    if claim is Claim.NONE:
        return [*_inconsistencies(task, answer), *_violation(task, answer, values)]
    if not answer.consistent:
        reasons = _inconsistencies(task, answer)
    elif claim is Claim.GLOBAL:
        reasons = _why_global(task, answer)
    else:
        reasons = [*_conditions(task, answer), *_gap(task, answer)]
    bounded = bool(np.isfinite(answer.bound.value))
    reasons += task.in_time([], answers.remarks, task.program, answer.point, claim, bounded)
    return reasons + task.formulation.remarks(task.problem, values)


def _inconsistencies(task: Task[Any], answer: Answer) -> list[str]:
    """What is wrong about given multipliers."""
    if answer.consistent:
        return []
    wrong: list[str] = answers.inconsistencies(task.program, answer.optimality, task.tol)
    if wrong:
        return wrong
    where = answers.misfit(task.program, answer.point, answer.optimality, task.tol)
    mend = " If no multipliers are given, they are recovered." if where else ""
    told = f"The given multipliers do not satisfy the first-order conditions. {where}{mend}"
    return [told.strip()]


def _violation(task: Task[Any], answer: Answer, values: Values) -> list[str]:
    """By how much the point violates the constraints, and which one most, where that is cheap."""
    program, primal, x = task.program, answer.primal, answer.point.x
    relative, more = answers.violation(program, x, primal, task.tol)
    if (row := answers.worst_row(program, x)) is not None:
        name, size, where = row
        told = f"The constraint {name!r} is violated by {size:.3g} in {where} ({relative}). {_MEND}"
    elif task.problem.n <= 2000 and (worst := _worst(task, values)) is not None:
        name, size = worst
        told = f"The constraint {name!r} is violated by {size:.3g} ({relative})."
    else:
        told = f"A constraint is violated by {primal:.2e}, relative to its terms."
    return [told, *more]


_MEND = (
    "A claim needs a point within tol that satisfies every row and bound. A smaller feasibility "
    "tolerance of the solver may give one."
)


def _worst(task: Task[Any], values: Values) -> tuple[str, float] | None:
    """The constraint that is violated most, and by how much; None if none can be named."""
    with suppress(IndefiniteOptError):  # of kernels that are never formed
        program = task.in_time(None, task.formulation.declare, task.problem)
        sizes = {} if program is None else program.violations(values)
        name = max(sizes, key=sizes.__getitem__, default="")
        if name and sizes[name] > 0.0:
            return name, sizes[name]
    return None


def _why_global(task: Task[Any], answer: Answer) -> list[str]:
    program, why = task.program, answer.bound.why
    if not answer.convex:
        return [why] if why else _about_bracket(task, answer)
    if answer.zero_range > 0.0:
        return [f"{answers.why_convex(program)}, and {_zero(task, answer)}."]
    return [why or f"{answers.why_convex(program)}, and the dual bound meets the objective."]


def _zero(task: Task[Any], answer: Answer) -> str:
    """That value and bound are 0 up to rounding, as a clause."""
    less = " without constants" if task.program.constant else ""
    return (
        f"objective and bound{less} are 0 up to rounding: within {answer.zero_range:.1e}, which "
        "is 64 roundings of their terms"
    )


def _conditions(task: Task[Any], answer: Answer) -> list[str]:
    """Which of the optimality conditions hold."""
    sign = answer.curvature
    if task.program.multipliers_from_solver:
        return []
    if not answer.examined:
        return ["The first-order conditions were not examined in time."]
    if not answer.first_order:
        failing = "stationarity" if answer.optimality.stationarity > task.tol else "complementarity"
        where = answers.misfit(task.program, answer.point, answer.optimality, task.tol)
        mend = " `solve(..., start=x)` goes on from such a point." if where else ""
        mend = " `solve` may find a better point." if where and task.program.has_cones else mend
        return [f"The first-order conditions fail: {failing}. {where}{mend}".strip()]
    if answer.curvature_late:
        return ["First-order conditions hold; curvature was not examined in time."]
    if sign is Curvature.UNKNOWN:
        return [sign.sentence()]
    return [_doubt(task, answer) + sign.sentence(answer.weak)]


def _doubt(task: Task[Any], answer: Answer) -> str:
    """Why local conditions do not decide global optimality, as sentences before a reason."""
    if answer.convex:
        return ""
    known = "Not convex"
    if not task.problem.curvature_known:
        known = "Convexity was not examined, as the kernel matrix is never formed"
    elif answer.convex is None:
        known = "Convexity was not examined in time"
    bounded = np.isfinite(answer.bound.value)
    return f"{known}. " if bounded else f"{known}; no bound on the global optimum is known. "


def _gap(task: Task[Any], answer: Answer) -> list[str]:
    """What the bound leaves open."""
    if not answer.convex:
        return _about_bracket(task, answer)
    if np.isfinite(answer.bound.value):
        return [f"Convex, but the bound leaves a duality gap of {_sized(answer)}."]
    if task.late:
        return ["No bound was computed in time."]
    if task.program.is_linear:
        return ["No multipliers are known that prove a bound."]
    return []


def _about_bracket(task: Task[Any], answer: Answer) -> list[str]:
    """What branch and bound has proved about a nonconvex program."""
    if answer.nodes is None:
        return []
    if np.isinf(answer.bound.value):
        return ["No bound was proved in time."]
    value = answer.point.value
    margin = max(allowed_gap(task, answer), answer.zero_range)
    if answer.bound.value - value > margin:
        return ["The objective lies beyond the bound, which is valid for exactly feasible points."]
    if answer.closed:
        parts = "one node" if answer.nodes <= 1 else f"{answer.nodes} nodes"
        if answer.zero_range > 0.0:
            return [f"Not convex, but after {parts} {_zero(task, answer)}."]
        words = [f"Not convex, but bounds of {parts} meet the objective."]
        return words + _about_lagrangian(task, answer)
    notes = [f"The bound leaves a global bracket of {_sized(answer)}."]
    if answer.better < value - margin:
        better = task.program.declared(answer.better)
        notes.append(f"A better point exists: its objective is {better:.10g}.")
    return notes + _about_lagrangian(task, answer)


def _about_lagrangian(task: Task[Any], answer: Answer) -> list[str]:
    """The duality gap of a nonconvex program, if its optimum is known."""
    gap, allowed = answer.better - answer.lagrangian, allowed_gap(task, answer)
    if not (gap > allowed and answer.better - answer.bound.value <= allowed):
        return []
    bound = task.program.declared(answer.lagrangian, -np.inf)
    share = relative(gap, abs(task.program.declared(answer.better)))
    size = f"{100.0 * share:.3g} % of the optimal value" if np.isfinite(share) else f"{gap:.3g}"
    return [f"The Lagrangian bound is {bound:.7g}: the duality gap is at most {size}."]


def _sized(answer: Answer) -> str:
    """The gap and its share of the unit, or what helps where no gap is small beside that."""
    gap, share = answer.gap, answer.relative_gap
    words = gap_and_share(gap, share)
    if np.isfinite(share) or np.isinf(gap):
        return words
    return f"{words} in absolute terms; `atol` is an absolute tolerance"
