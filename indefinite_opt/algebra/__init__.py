"""Models in the letters of papers: expressions, which are printed, read and translated into cvxpy.

The atoms have cvxpy's names: `import indefinite_opt.algebra as cp`.

>>> import indefinite_opt.algebra as cp
>>> x = cp.Variable(2, name="x")
>>> model = cp.Model(minimize=cp.sum_squares(x), subject_to={"total": cp.sum(x) == 2})
>>> print(model.program("Least squares", compiled=None))
Least squares
  minimize    ‖x‖₂²
  subject to  eᵀx = 2  (total)
  with        x ∈ R²
"""

from indefinite_opt.algebra.atoms import (
    Constant,
    Constraint,
    Dual,
    Expression,
    Variable,
    abs,
    attributes_of,
    dual,
    duals_of,
    huber,
    logistic,
    max,
    maximum,
    multiply,
    norm1,
    norm_inf,
    pos,
    quad_form,
    square,
    sum,
    sum_largest,
    sum_squares,
)
from indefinite_opt.algebra.canonical_form import (
    Affine,
    AffineRows,
    Canonical,
    Hidden,
    NormRow,
    NotCanonical,
    QuadraticTerm,
    Reader,
    SeparableTerm,
    VariableBound,
    affine,
    canonical,
    difference,
    joined,
    level,
)
from indefinite_opt.algebra.cones import (
    Cone,
    Exponential,
    Nonnegative,
    Power,
    SecondOrder,
    Semidefinite,
    Zero,
)
from indefinite_opt.algebra.from_cvxpy import HELD_BY_ONE, CvxpyAtom, converted
from indefinite_opt.algebra.graph_forms import (
    ConePiece,
    GraphForm,
    OpaquePiece,
    QuadraticPiece,
    alone_in_rows,
    graph_form,
)
from indefinite_opt.algebra.notation import symbol_text
from indefinite_opt.algebra.operators import (
    ColumnFactor,
    DiagonalFactor,
    Factor,
    MatrixFactor,
    Operator,
    RowFactor,
)
from indefinite_opt.algebra.printing import latex_expression, legend, mathml
from indefinite_opt.algebra.program import Definition, Inner, Model, Program, constants
from indefinite_opt.algebra.record import Record, settled
from indefinite_opt.algebra.sizes import term_sizes
from indefinite_opt.algebra.to_cvxpy import Translation, psd_factor, solve_quietly

__all__ = [
    "Constant",
    "Constraint",
    "Definition",
    "Expression",
    "Inner",
    "Model",
    "NotCanonical",
    "Variable",
    "abs",
    "constants",
    "dual",
    "huber",
    "latex_expression",
    "logistic",
    "max",
    "maximum",
    "multiply",
    "norm1",
    "norm_inf",
    "pos",
    "quad_form",
    "square",
    "sum",
    "sum_largest",
    "sum_squares",
    "symbol_text",
]
