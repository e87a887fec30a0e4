"""Local solvers of quadratic programs whose variables move in pairs or alone."""

__all__ = ["Descent", "DescentSettings", "descend", "second_order_steps"]
