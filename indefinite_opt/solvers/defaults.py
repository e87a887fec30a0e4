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

_USUAL: dict[Any, tuple[str, str]] = {
    QP: ("multistart", "low-rank"),
    LinearProgram: ("highs", "highs"),
    ProxyStructure: ("newton", "accelerated-gradient"),
    LogisticProgram: ("newton-cg", "newton-cg"),
    SeparabilityProgram: ("lifted-dual", "lifted-dual"),
    SpacePrimal: ("lift", "lift"),
}
"""For a kernel matrix that can be read as a whole, and for one that is kept as factors."""

_MIN_GENERATED_ROWS = 400
"""Rows from which linear programs are solved by `generation`. Between 250 and 600, depending on
kernel and formulation, it becomes faster than the full model of HiGHS
(benchmarks/linear_programs.py)."""


def usual_solver(kind: type[Structure[Any]], on_factors: bool = False) -> str:
    """The default solver of a kind of program, whatever its size and curvature.

    >>> from indefinite_opt.modeling.structures import BoxLineQP
    >>> usual_solver(BoxLineQP), usual_solver(BoxLineQP, on_factors=True)
    ('multistart', 'low-rank')
    """
    return next(names[on_factors] for base, names in _USUAL.items() if issubclass(kind, base))


def default_solver(task: Task[Any]) -> str:
    """The name of the default solver of a task: that of its kind, but for two cases.

    Large linear programs are solved by `generation`, and convex quadratic programs with dense rows
    by Clarabel, if convexity can be tested within the limits of the task.
    """
    structure = task.structure
    on_factors = getattr(task.problem, "factors", None) is not None
    if structure.is_linear and not on_factors:
        return "generation" if structure.row_lower.size >= _MIN_GENERATED_ROWS else "highs"
    if structure.has_own_rows and not structure.is_disjoint:
        try:
            order = structure.convexity_order
            if limited(order, task.remaining, lambda: bool(structure.is_convex)):
                return "clarabel"
        except TimeLimitReached:
            pass  # a search needs no convexity, and ends at once with a feasible point
    return usual_solver(type(structure), on_factors)
