"""Local solvers of quadratic programs on a box with line constraints, and their common descent."""

from indefinite_opt.solvers.descent.descent import Descent

__all__ = ["Descent"]
