"""Local solvers of quadratic programs whose variables move in pairs or alone."""

from indefinite_opt.solvers.descent.descent import Descent, descend
from indefinite_opt.solvers.descent.second_order import second_order_steps
from indefinite_opt.solvers.descent.settings import DescentSettings

__all__ = ["Descent", "DescentSettings", "descend", "second_order_steps"]
