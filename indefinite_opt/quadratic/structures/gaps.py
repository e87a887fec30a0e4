"""The unit by which every relative gap is divided.

A gap is |objective - bound| of the minimised or maximised function without its constants, such as
ρ‖(K₀)₋‖² of the Luss dual. A relative gap is that gap divided by

    max(|objective|, floor),

and infinite if that is zero and the gap is not. Multiplying a kernel by s and dividing the weights
by s multiplies the objective, the bound and the floor by the same factor: the relative gap, and
thus the claim, does not depend on the scale.

The floor is zero if the terms of the objective do not cancel at an optimum: at a local maximum of
eᵀα - ½αᵀQα on a box, eᵀα ≥ αᵀQα, because shorter weights would be better otherwise, and the
objective is at least ½eᵀα. In the programs without a linear term (nearest points of hulls, ν-forms
and the linear program of Guo & Schuurmans) the terms may cancel up to rounding, and the optimal
value may be zero. There the floor is `CANCELLED` times the sum of their absolute values at the
point in question. From each row its mean is subtracted first, which has no effect on balanced
weights; so neither a large entry of K at a zero weight nor a constant in K makes a gap look small.
For least squares, ‖Gα - e‖², the constant is part of the square, and the floor is `CANCELLED` times
‖e‖², its value at α = 0.

A quadratic program of a user may have the optimal value 0 at x = 0, where all terms vanish. Its
floor is `CANCELLED` times the sum of the absolute terms at x or, if that is larger and x satisfies
the first-order conditions, of the least terms over the feasible ranges: those that one variable
takes part in when all variables with a finite range w move through it, the least
w_j(|∇F_j| + ½Σ|P_ij|w_i) that is not 0. They bound how F varies, and are the same in other units
of F or of a variable, and after a shift of a variable. The floor counts only where F is 0 up to
the rounding of its terms at x, so that wide bounds do not make the gap of another value look
small, and where the first-order conditions hold, because elsewhere a step shows that 0 is not the
minimum. It is the least over the variables, so that a variable with large terms does not hide what
another one has to gain.

`gap_unit` of every structure gives the divisor of its gaps. `verify` has an absolute tolerance,
too, `atol`.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Decimal

CANCELLED = 1e-3
"""Share of the sum of the absolute terms below which a sum counts as cancelled. With the default
tolerance of 1e-6 a gap must then be below 1e-9 of that sum, still a million times its rounding."""


def relative(gap: float, unit: float) -> float:
    """gap / unit for gap ≥ 0; 0 only if the gap is 0, and inf if only the unit is 0.

    >>> relative(0.5, 2.0), relative(0.0, 0.0), relative(1e-12, 0.0)
    (0.25, 0.0, inf)
    """
    gap, unit = float(gap), float(unit)
    if gap == 0.0 and not math.isnan(unit):
        return 0.0
    if math.isinf(gap) or unit == 0.0:
        return math.inf
    return gap / unit or math.ulp(0.0)


def at_most(share: float) -> str:
    """A gap rounded up to one digit, so that it says no more than is proved.

    >>> at_most(5.2e-5), at_most(9.3e-4), at_most(0.02), at_most(1e-4)
    ('6e-5', '1e-3', '2e-2', '1e-4')
    """
    exact = Decimal(repr(float(share)))
    if not exact:
        return "0"
    return f"{exact.quantize(Decimal(1).scaleb(exact.adjusted()), ROUND_CEILING):.0e}"


def gap_in_words(gap: float, share: float, digits: int = 2) -> str:
    """A gap as its share of the unit, or in absolute terms where only the unit is 0.

    >>> gap_in_words(0.5, 0.25), gap_in_words(1e-12, math.inf), gap_in_words(math.inf, math.inf)
    ('relative gap 2.50e-01', 'absolute gap 1.00e-12', 'relative gap inf')
    """
    absolute = math.isinf(share) and math.isfinite(gap)
    size = gap if absolute else share
    return f"{'absolute' if absolute else 'relative'} gap {size:.{digits}e}"


def gap_and_share(gap: float, share: float) -> str:
    """A gap with its share of the unit, the one text for it wherever a certificate shows it.

    >>> gap_and_share(0.5, 0.25), gap_and_share(1e-12, math.inf), gap_and_share(math.inf, math.inf)
    ('5.00e-01 (relative 2.50e-01)', '1.00e-12', 'inf')
    """
    return f"{gap:.2e} (relative {share:.2e})" if math.isfinite(share) else f"{gap:.2e}"
