"""The solver of every kind of program if the caller names none."""

from __future__ import annotations

from typing import Any

from indefinite_opt.foundation import TimeLimitReached, limited
from indefinite_opt.modeling.linear_programs import LinearProgram
from indefinite_opt.modeling.structures import (
    LogisticProgram,
    ProxyStructure,
    SeparabilityProgram,
    SpacePrimal,
)
from indefinite_opt.quadratic import QP, Structure, Task

_USUAL: dict[Any, str] = {
    QP: "multistart",
    LinearProgram: "highs",
    ProxyStructure: "newton",
    LogisticProgram: "newton-cg",
    SeparabilityProgram: "lifted-dual",
    SpacePrimal: "lift",
}
_MIN_GENERATED_ROWS = 400
"""Rows from which linear programs are solved by `generation`. Between 250 and 600, depending on
kernel and formulation, it becomes faster than the full model of HiGHS
(benchmarks/linear_programs.py)."""


def usual_solver(kind: type[Structure[Any]]) -> str:
    """The default solver of a kind of program, whatever its size and curvature.

    >>> from indefinite_opt.modeling.structures import BoxLineQP
    >>> usual_solver(BoxLineQP)
    'multistart'
    """
    return next(name for base, name in _USUAL.items() if issubclass(kind, base))


def default_solver(task: Task[Any]) -> str:
    """The name of the default solver of a task: that of its kind, but for two cases.

    Large linear programs are solved by `generation`, and convex quadratic programs with dense rows
    by Clarabel, if convexity can be tested within the limits of the task.
    """
    structure = task.structure
    if structure.is_linear:
        return "generation" if structure.row_lower.size >= _MIN_GENERATED_ROWS else "highs"
    if structure.has_own_rows and not structure.is_disjoint:
        try:
            order = structure.convexity_order
            if limited(order, task.remaining, lambda: bool(structure.is_convex)):
                return "clarabel"
        except TimeLimitReached:
            pass  # a search needs no convexity, and ends at once with a feasible point
    return usual_solver(type(structure))
