"""The rule of `design.md`: which method to take, by the spectrum of the similarities alone."""

from __future__ import annotations

STEPS = ((0.001, "SVMDual"), (0.15, "clip"), (0.5, "square"), (1.01, "flip"))
"""The negative shares below which each method is taken."""


def chosen_by_rule(negative_share: float) -> str:
    """The method for a negative share of the first kernel, -d²/2 of distances.

    >>> [chosen_by_rule(share) for share in (0.0, 0.05, 0.2, 0.6)]
    ['SVMDual', 'clip', 'square', 'flip']
    """
    return next(method for limit, method in STEPS if negative_share < limit)
