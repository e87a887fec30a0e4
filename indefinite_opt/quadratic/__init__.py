"""Any quadratic program, convex or not: read, solved, bracketed, proved and checked.

This folder uses no kernels, data sets or formulations. It imports `foundation`, which checks
arguments and threads, and `algebra`, which prints programs; others import this file only. Users
reach most of it through `iopt.QuadraticProgram`, `solve`, `bound` and `verify`.

The folders, in the order in which data flow: `matrices`, `data`, `files`, `instances`,
`programs`, `rows`, `answers`, `solving`, `local`, `bracket`, `proof`. Programs of kernels are
`PairedQP`s, and solvers derive from `Solver`. Other kinds of programs register what certificates
ask of them with the functions of `answers`, and their proofs with `bound_document`.
"""

from indefinite_opt.quadratic import answers, instances
from indefinite_opt.quadratic.bracket.conic_relaxation import CONIC_SOLVERS, conic_multipliers
from indefinite_opt.quadratic.bracket.finite_form import FiniteForm, finite_form, obstacle
from indefinite_opt.quadratic.bracket.lagrangian import lagrangian_multipliers
from indefinite_opt.quadratic.bracket.minorant import Multipliers, lower_bound
from indefinite_opt.quadratic.bracket.proof import Proof, ProvedBox
from indefinite_opt.quadratic.bracket.scaled_box import BoxQuadratic
from indefinite_opt.quadratic.bracket.search import (
    DESCENT_TOL,
    BranchAndBound,
    GlobalSearch,
    lagrangian_bound,
    proved_bound,
    proved_ranges,
    proved_tree,
)
from indefinite_opt.quadratic.bracket.settings import Settings
from indefinite_opt.quadratic.data.naming import Names, entry_names, side_name
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.files.reading import write_program
from indefinite_opt.quadratic.instances.named import depot
from indefinite_opt.quadratic.local.descent.descent import Descent
from indefinite_opt.quadratic.local.descent.printed_steps import PrintedSteps
from indefinite_opt.quadratic.local.descent.second_order import second_order_steps
from indefinite_opt.quadratic.local.polyhedral.recession import falling_ray
from indefinite_opt.quadratic.local.search.iterated_search import Effort
from indefinite_opt.quadratic.local.search.multistart import MultiStart
from indefinite_opt.quadratic.local.search.pair_search import LocalSearch
from indefinite_opt.quadratic.matrices.given import (
    checked_distances,
    checked_matrix,
    digest_of,
    scanned_matrix,
)
from indefinite_opt.quadratic.matrices.gram import (
    CHUNK,
    SYMMETRIZED,
    AbsentGram,
    AsymmetricGram,
    Construction,
    DenseGram,
    Gram,
    Indices,
)
from indefinite_opt.quadratic.matrices.spectrum import (
    TRANSFORMS,
    Spectrum,
    cholesky_in_place,
    eigendecomposition,
    frobenius_norm,
    least_eigenvalue,
    negative_direction,
    norm_bound,
    psd_tolerance,
    without_directions,
    zero_tolerance,
)
from indefinite_opt.quadratic.matrices.units import Units, in_own_units
from indefinite_opt.quadratic.programs.claim import Claim
from indefinite_opt.quadratic.programs.declaration import Declaration
from indefinite_opt.quadratic.programs.feasible_set import FeasibleSet
from indefinite_opt.quadratic.programs.gaps import (
    CANCELLED,
    ZERO_SHARE,
    at_most,
    gap_and_share,
    gap_in_words,
    relative,
)
from indefinite_opt.quadratic.programs.krein_least_squares import KreinLeastSquares
from indefinite_opt.quadratic.programs.paired_box import (
    FirstOrder,
    PairedBox,
    cheapest,
    filled,
    project_line,
)
from indefinite_opt.quadratic.programs.paired_program import PairedProgram
from indefinite_opt.quadratic.programs.paired_qp import (
    PairedQP,
    differs_in_upper_bounds,
    hull_dual,
    kernel_qp,
    least_parts,
    svm_dual,
)
from indefinite_opt.quadratic.programs.problem import Problem
from indefinite_opt.quadratic.programs.program import (
    CompiledProgram,
    Curvature,
    ExplicitProgram,
    LowerBound,
    Optimality,
    Point,
    Spelling,
    VectorProgram,
)
from indefinite_opt.quadratic.programs.qp import QP
from indefinite_opt.quadratic.proof import proof_checker
from indefinite_opt.quadratic.proof.certificate import Answer, Certificate, claim_of
from indefinite_opt.quadratic.proof.no_optimum import NoOptimum, no_optimum
from indefinite_opt.quadratic.proof.proof_document import (
    Document,
    bound_document,
    bracket_document,
    document,
    linear_document,
    plain,
    read_document,
    triangle,
    write_document,
)
from indefinite_opt.quadratic.quadratic_program import QuadraticProgram
from indefinite_opt.quadratic.rows.cvxpy_problem import CvxpyParts, dual_values, parts_of_cvxpy
from indefinite_opt.quadratic.rows.declared_rows import DeclaredRows, Epigraph, KernelConstant
from indefinite_opt.quadratic.rows.epigraphs import (
    Epigraphs,
    has_epigraph,
    names_of_epigraphs,
    set_ends,
)
from indefinite_opt.quadratic.rows.linear_rows import LinearRows
from indefinite_opt.quadratic.rows.nearby import exact_residuals
from indefinite_opt.quadratic.rows.no_optimum import met_exactly, proved_ray
from indefinite_opt.quadratic.rows.polyhedral_qp import PolyhedralQP
from indefinite_opt.quadratic.rows.polyhedron import Polyhedron
from indefinite_opt.quadratic.rows.ranges import proved_curvature
from indefinite_opt.quadratic.rows.row_curvature import RowCurvature
from indefinite_opt.quadratic.rows.to_highs import (
    change_costs,
    highs_model,
    run_within,
    simplex_limit,
)
from indefinite_opt.quadratic.solving.iteration import Iteration
from indefinite_opt.quadratic.solving.predictor_corrector import (
    PredictorCorrector,
    StepSettings,
    max_step,
)
from indefinite_opt.quadratic.solving.solution import (
    Iterate,
    Optimum,
    Solution,
    Status,
    Trace,
    Witness,
)
from indefinite_opt.quadratic.solving.solver import (
    Callback,
    Session,
    Solver,
    Task,
    status_at_end,
    status_of,
)

SOLVERS = (BranchAndBound, MultiStart)
"""The solvers of this library, which `known` lists beside those of kernel programs."""
