"""Local solvers of quadratic programs on a box and a line, and the descent that they share."""

from indefinite_opt.solvers.descent.descent import Descent

__all__ = ["Descent"]
