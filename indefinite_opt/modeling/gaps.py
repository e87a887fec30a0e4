"""The one unit of gaps: every relative gap of the package is divided by it.

A gap is |objective - bound| of the minimised or maximised function without its constants, such as
ρ‖(K₀)₋‖² of the Luss dual. It is divided by

    max(|objective|, floor),

and is infinite where that is zero and the gap is not. Multiplying a kernel by s and dividing the
weights by s multiplies the objective, the bound and the floor alike: the relative gap, and so the
claim, is the same at every scale.

The floor is zero wherever the objective is a sum that does not cancel at an optimum: at any local
maximum of eᵀα - ½αᵀQα on a box, eᵀα ≥ αᵀQα, or shorter weights would be better, and the objective
is at least ½eᵀα. In the programs without such a term, nearest points of hulls, ν-forms and the
linear program of Guo & Schuurmans, the terms may cancel until nothing but rounding is left, and
the optimal value may be zero. There the floor is `CANCELLED` times what the terms add up to in
absolute value at the point in question, less the mean of each row, which balanced weights do not
notice: a large entry of K where there is no weight, or a constant in K, makes no gap look small.
A least squares problem has its constant for a part of the square, and the floor `CANCELLED` times
‖e‖², what α = 0 leaves of ‖Gα - e‖². `gap_unit` of every structure says what its gaps are divided
by. An absolute tolerance is a parameter of `verify`, `atol`.
"""

from __future__ import annotations

import math

__all__ = ["CANCELLED", "relative"]

CANCELLED = 1e-3
"""Share of what terms could add up to, below which a sum counts as cancelled: with the default
tolerance of 1e-6 a gap then has to be below 1e-9 of it, still a million times its rounding."""


def relative(gap: float, unit: float) -> float:
    """gap / unit, for gap ≥ 0; 0 for no gap, inf for one beside nothing.

    >>> relative(0.5, 2.0), relative(0.0, 0.0), relative(1e-12, 0.0)
    (0.25, 0.0, inf)
    """
    gap, unit = float(gap), float(unit)
    if gap == 0.0 and not math.isnan(unit):
        return 0.0
    if math.isinf(gap) or unit == 0.0:
        return math.inf
    return gap / unit
