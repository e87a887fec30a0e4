"""The unit of a gap, and when a gap is closed.

f is the objective in the declared sense with all of its constants, and f₀ the same without them. A
gap is |objective - bound|, enlarged by the rounding of the objective and by what it takes to
satisfy every constraint exactly. Its unit is

    u = min(|f|, |f₀|),

and a relative gap is the gap divided by u, infinite if u is zero and the gap is not. Nothing else
is a unit: terms of the objective may be larger by any factor, where they cancel. A gap is closed if
it is at most tol·u, or at most `atol`, an absolute tolerance in units of the objective.

If the optimal value is 0, no gap is small relative to it. There is one exception, because doubles
cannot show a difference below their rounding: if the value and the bound, of the smaller one of f
and f₀, both lie in [-R, R] with

    R = 64 · 2⁻⁵³ · (Σ|terms of the objective| + Σᵢ|λᵢ|(|bᵢ| + Σⱼ|aᵢⱼxⱼ|)),

the optimal value is 0 up to rounding. Constants are terms, and so are the terms of u in an atom
such as |u|; bounds are rows, and the multipliers λ are those that this package computes, as larger
ones from a caller would make R larger.

Multiplying a kernel by s and dividing the weights by s multiplies value, bound, u and R by the same
factor, so that no claim depends on the scale.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Decimal

CANCELLED = 1e-3
"""Share of the largest possible terms of a gradient or of a row below which their sum counts as
cancelled, where residuals and slacks are judged; a gap has no such floor."""

ZERO_SHARE = 64.0 * 2.0**-53
"""R as a share of the terms: 64 roundings."""


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


def at_most(share: float, digits: int = 1) -> str:
    """A gap rounded up to one digit or more, so that it says no more than is proved.

    >>> at_most(5.2e-5), at_most(9.3e-4), at_most(0.02), at_most(1e-4), at_most(5.21e-5, digits=2)
    ('6e-5', '1e-3', '2e-2', '1e-4', '5.3e-5')
    """
    exact = Decimal(repr(float(share)))
    if not exact:
        return "0"
    last = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return f"{exact.quantize(last, ROUND_CEILING):.{digits - 1}e}"


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
