"""What certificates ask of a program, one question a file, whatever kind of program it is.

Each question is a function of the program, with `functools.singledispatch`. A kind of program that
has an answer of its own registers it: with the question if it belongs to `quadratic`, else beside
its class. Answers that take more than a page have their own files, `paired_bounds` and
`least_squares`.

- `feasibility`: which feasible point is near, and what the program attains there?
- `multipliers`: what are multipliers called in the declared program, and how large are they there?
- `conditions`: how far is a point from the first-order conditions?
- `second_order`: what is the sign of the curvature, and why is the program convex or not?
- `bound`: what is a lower bound on its value?
- `units`: in which units is a gap judged, and which values are 0 up to rounding?
- `sentences`: which further sentences does the certificate have?
"""

from indefinite_opt.quadratic.answers import least_squares as least_squares
from indefinite_opt.quadratic.answers.bound import MAX_CHARGE, bounds, charged, charged_bounds
from indefinite_opt.quadratic.answers.conditions import (
    balanced_residual,
    fitted_multipliers,
    inconsistencies,
    misfit,
    optimality,
    wrong_signs,
)
from indefinite_opt.quadratic.answers.feasibility import (
    attained,
    feasible_near,
    feasible_values,
    holds_exactly,
    repair,
)
from indefinite_opt.quadratic.answers.multipliers import (
    as_declared,
    as_held,
    line_names,
    multiplier_shapes,
    named_multipliers,
    named_of_rows,
    of_all_rows,
    spelling,
)
from indefinite_opt.quadratic.answers.paired_bounds import (
    doubt,
    doubt_of_slopes,
    dual_bound,
    explicit_bounds,
    gradient_rounding,
    proved_curvature,
)
from indefinite_opt.quadratic.answers.second_order import (
    ALWAYS_CONVEX,
    critical_curvature,
    curvature,
    least_curvature,
    why_convex,
    why_not_convex,
)
from indefinite_opt.quadratic.answers.sentences import endless, remarks, violation, worst_row
from indefinite_opt.quadratic.answers.units import (
    are_zero,
    gap_unit,
    row_terms,
    terms,
    zero_range,
)
