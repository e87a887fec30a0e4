"""The local solver of quadratic programs with any linear rows."""

from indefinite_opt.solvers.polyhedral.descent import refined
from indefinite_opt.solvers.polyhedral.recession import falling_ray
