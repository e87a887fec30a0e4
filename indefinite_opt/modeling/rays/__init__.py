"""Proofs that models have no minimum, by rays in fractions, whatever their terms are."""

from indefinite_opt.modeling.rays.growth import Growth, growth_form
from indefinite_opt.modeling.rays.ray_checker import FORMAT, FailedRay, check
from indefinite_opt.modeling.rays.unbounded_ray import UnboundedRay, is_ray

__all__ = ["FORMAT", "FailedRay", "Growth", "UnboundedRay", "check", "growth_form", "is_ray"]
