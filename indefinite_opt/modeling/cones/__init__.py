"""Proofs about convex cone programs: multipliers of the graph form, bounds, and feasible points."""

from indefinite_opt.modeling.cones.bound import lower_bound, ranges, slopes, unbounded_variable
from indefinite_opt.modeling.cones.feasible import feasible_point
from indefinite_opt.modeling.cones.multipliers import (
    Multipliers,
    as_multipliers,
    by_name,
    interior_point,
    outside,
    solved,
)

__all__ = [
    "Multipliers",
    "as_multipliers",
    "by_name",
    "feasible_point",
    "interior_point",
    "lower_bound",
    "outside",
    "ranges",
    "slopes",
    "solved",
    "unbounded_variable",
]
