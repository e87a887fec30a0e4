"""Local solvers of quadratic programs whose variables move in pairs or alone."""

from indefinite_opt.solvers.descent.descent import Descent, descend
from indefinite_opt.solvers.descent.second_order import second_order_steps

__all__ = ["Descent", "descend", "second_order_steps"]
