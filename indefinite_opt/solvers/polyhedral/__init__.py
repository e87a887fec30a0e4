"""The local solver of quadratic programs with any linear rows."""

from indefinite_opt.solvers.polyhedral.recession import unbounded_along
from indefinite_opt.solvers.polyhedral.refinement import Refinement
from indefinite_opt.solvers.polyhedral.search import PolyhedralSearch

__all__ = ["PolyhedralSearch", "Refinement", "unbounded_along"]
