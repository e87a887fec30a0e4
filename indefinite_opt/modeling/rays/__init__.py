"""Proofs that models have no minimum, by rays in fractions, whatever their terms are."""

from indefinite_opt.modeling.rays.growth import growth_form, growth_model, places
from indefinite_opt.modeling.rays.ray_checker import FORMAT, FailedRay, check
from indefinite_opt.modeling.rays.unbounded_ray import UnboundedRay, is_ray

__all__ = [
    "FORMAT", "FailedRay", "UnboundedRay", "check", "growth_form", "growth_model",
    "is_ray", "places",
]  # fmt: skip
