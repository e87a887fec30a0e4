"""What can be proved about a point."""

from __future__ import annotations

import enum


class Claim(enum.IntEnum):
    """What has been proved about a point, from nothing to a global optimum.

    Examples
    --------
    >>> [claim.name for claim in Claim]
    ['NONE', 'FEASIBLE', 'STATIONARY', 'LOCAL', 'GLOBAL']
    >>> Claim.LOCAL < Claim.GLOBAL
    True
    >>> print(Claim.LOCAL, f"{Claim.LOCAL:>7}", int(Claim.LOCAL))
    LOCAL   LOCAL 3
    """

    NONE = 0
    FEASIBLE = 1
    STATIONARY = 2
    LOCAL = 3
    GLOBAL = 4

    def __str__(self) -> str:
        return self.name

    def __format__(self, form: str) -> str:
        return format(self.name, form)
