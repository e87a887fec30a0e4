"""Quadratic programs with one quadratic row: secular equation, and branch and bound."""

from indefinite_opt.modeling.quadratic_row.program import QuadraticRow, QuadraticRowProgram
from indefinite_opt.modeling.quadratic_row.tree import Hinges

__all__ = ["Hinges", "QuadraticRow", "QuadraticRowProgram"]
