"""Solvers of other packages: Clarabel, HiGHS, OSQP, SCS and UNO."""

from indefinite_opt.solvers.external.conic import sharp_solution_of_rows
from indefinite_opt.solvers.external.highs import Highs
from indefinite_opt.solvers.external.uno import UNO
