"""Local solvers of quadratic programs whose variables move in pairs or alone."""

from indefinite_opt.solvers.descent.descent import Descent, descend

__all__ = ["Descent", "descend"]
