"""Proofs about convex cone programs: multipliers of the graph form, bounds, and feasible points."""

from indefinite_opt.modeling.cones.bound import (
    bound_by_ranges,
    lower_bound,
    polished,
    ranges,
    slopes,
    unbounded_variable,
)
from indefinite_opt.modeling.cones.feasible import feasible_point, is_near_optimum
from indefinite_opt.modeling.cones.multipliers import (
    Multipliers,
    Solved,
    as_multipliers,
    by_name,
    interior_point,
    linearised_at,
    outside,
    paid,
    solved,
)

__all__ = [
    "Multipliers",
    "Solved",
    "as_multipliers",
    "bound_by_ranges",
    "by_name",
    "feasible_point",
    "interior_point",
    "is_near_optimum",
    "linearised_at",
    "lower_bound",
    "outside",
    "paid",
    "polished",
    "ranges",
    "slopes",
    "solved",
    "unbounded_variable",
]
