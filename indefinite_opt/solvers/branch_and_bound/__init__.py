"""Global optima of quadratic programs on a box and a line, with bounds and proofs.

A box is bounded by convex minorants (`minorant`), whose multipliers come from a relaxation;
optimality conditions exclude parts that contain no minimiser; the search divides the rest, and its
proof can be checked independently of it.
"""

from indefinite_opt.solvers.branch_and_bound.conic_relaxation import (
    CONIC_SOLVERS,
    limited_multipliers,
)
from indefinite_opt.solvers.branch_and_bound.finite_forms import (
    FiniteForm,
    finite_form,
    obstacle,
)
from indefinite_opt.solvers.branch_and_bound.minorant import (
    BoxQuadratic,
    Multipliers,
    pair_indices,
    triangle_literals,
)
from indefinite_opt.solvers.branch_and_bound.optimality_conditions import Box, Conditions
from indefinite_opt.solvers.branch_and_bound.proof import Part, Proof, Step, Tangent
from indefinite_opt.solvers.branch_and_bound.search import DESCENT_TOL, GlobalSearch, proved_bound
from indefinite_opt.solvers.branch_and_bound.settings import Settings
from indefinite_opt.solvers.branch_and_bound.tangents import Bound, ScaledBox

__all__ = [
    "CONIC_SOLVERS",
    "DESCENT_TOL",
    "Bound",
    "Box",
    "BoxQuadratic",
    "Conditions",
    "FiniteForm",
    "GlobalSearch",
    "Multipliers",
    "Part",
    "Proof",
    "ScaledBox",
    "Settings",
    "Step",
    "Tangent",
    "finite_form",
    "limited_multipliers",
    "obstacle",
    "pair_indices",
    "proved_bound",
    "triangle_literals",
]
