"""Any quadratic program: the class that users write, its structure and its feasible set."""

from indefinite_opt.modeling.quadratic_programs.conflict import proved_conflict
from indefinite_opt.modeling.quadratic_programs.equilibration import Equilibrated
from indefinite_opt.modeling.quadratic_programs.linear_rows import LinearRows
from indefinite_opt.modeling.quadratic_programs.polyhedral_qp import PolyhedralQP
from indefinite_opt.modeling.quadratic_programs.quadratic_program import QuadraticProgram
