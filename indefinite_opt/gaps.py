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
the optimal value may be zero. There the floor is `CANCELLED` times what the terms could add up to.
A least squares problem ‖Gα - e‖², whose optimal value may be zero as well, has the floor ‖e‖², as
is usual for its duality gaps. Who means an absolute tolerance divides it by `unit`.
"""

from __future__ import annotations

import math

__all__ = ["CANCELLED", "relative", "unit"]

CANCELLED = 1e-3
"""Share of what terms could add up to, below which a sum counts as cancelled: with the default
tolerance of 1e-6 a gap then has to be below 1e-9 of it, still a million times its rounding."""


def unit(objective: float, floor: float = 0.0) -> float:
    """max(|objective|, floor): what an absolute gap is compared with."""
    return max(abs(float(objective)), float(floor))


def relative(gap: float, objective: float, floor: float = 0.0) -> float:
    """gap / max(|objective|, floor), for gap ≥ 0; 0 for no gap, inf for one beside nothing.

    >>> relative(0.5, -2.0), relative(0.0, 0.0), relative(1e-12, 0.0)
    (0.25, 0.0, inf)
    """
    gap, size = float(gap), unit(objective, floor)
    if gap == 0.0 and not math.isnan(size):
        return 0.0
    if math.isinf(gap) or size == 0.0:
        return math.inf
    return gap / size
