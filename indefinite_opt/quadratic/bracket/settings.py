"""What decides how long branch and bound takes, but not whether its bounds are valid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from indefinite_opt.foundation import Array


@dataclass(frozen=True)
class Tuning:
    """Parameters that affect the speed of convergence but not the limit."""

    omega: float
    """Weight of the coordinate 1, in units of n: with a smaller one the corner of Z oscillates,
    with a larger one the rest converges slowly."""
    penalty: float
    """First penalty, in units of 1/n and the norm of the cost."""
    balance: float
    """The penalty is adapted until the primal residual is this multiple of the dual one."""


CORNER_TUNINGS: tuple[Tuning, ...] = (Tuning(1.0, 3.0, 1.0), Tuning(0.1, 10.0, 1.0))
"""The same where the rows hold the feasible set near a corner of the box, as in a simplex:
found on five standard quadratic programs, n = 50 to 100, where the others need several times as
long."""

VERTEX_TUNING = Tuning(0.2, 3.0, 0.2)
MIN_VERTEX_ORDER, MIN_VERTEX_SHARE, AT_END = 150, 0.98, 1.0 - 1e-6
"""It replaces the first tuning if there are at least this many variables, and this share of the
variables of the best point are at their ends. On box programs and random kernels of 150 to 300
variables it reaches a gap in 0.4 to 0.7 of the time, but on others it may take twice as long."""

MIN_CORNER_SHARE = 0.5
"""A row holds the feasible set near a corner if its right-hand side is this share of its
largest value in the box."""


@dataclass(frozen=True)
class Settings:
    """The settings of branch and bound; every bracket is valid for any of them."""

    max_relaxed_variables: int = 2000
    """Larger problems get the cheap bounds only: the lifted point takes 100 MB and more."""
    max_lagrangian_variables: int = 200
    """The Lagrangian dual bounds boxes of up to so many variables before the relaxation does: for
    200 it takes a third of a second, where the search takes 10 seconds and more."""
    default_max_nodes: int = 20_000
    """Most nodes if neither their number nor the time is limited: minutes for ten variables."""
    seconds_per_unit: float = 2.0
    """How long a worker of a cluster divides before it reports: a hundred times as long as messages
    take."""
    max_secant_bounds: int = 40_000
    """Bounds by secants, if f is separable, before relaxations bound what is left: each takes a
    millisecond where all terms are concave and some where not, and a hundred of them less time than
    one relaxation."""
    min_chunk: int = 25
    max_chunk: int = 100
    """Least and most iterations between two bounds."""
    root_idle_iterations: int = 800
    idle_iterations: int = 300
    idle_gap_share: float = 0.7
    """A box is divided unless its gap falls to this share within this many iterations, at the root
    and below it. At the root more iterations take less time than the boxes they save."""
    cuts_per_variable: float = 20.0
    """Most triangle inequalities added at a time, per variable."""
    min_width_loss: float = 0.1
    """A box that has lost this share of its mean width is bounded again before it is divided."""
    max_proof_numbers: float = 3e7
    """Most numbers that are kept for a proof (240 MB)."""
    tunings: tuple[Tuning, ...] = (Tuning(0.1, 1.0, 0.5), Tuning(0.1, 0.3, 4.0))
    """Tried at the root. Found on box programs and kernels of 80 to 200 points: the first suits
    programs whose minimisers have most variables at their ends, the second those with many inside,
    and either may leave three times the gap of the other after a thousand iterations."""

    def tunings_of(self, rows: Array, rhs: Array, d: Array) -> tuple[Tuning, ...]:
        """The tunings to try on a box with these rows, d its best point in scaled variables."""
        reach = np.abs(rows).sum(axis=1)
        if np.any(np.abs(rhs) >= MIN_CORNER_SHARE * reach):
            return CORNER_TUNINGS
        if d.size >= MIN_VERTEX_ORDER and np.mean(np.abs(d) >= AT_END) >= MIN_VERTEX_SHARE:
            return VERTEX_TUNING, *self.tunings[1:]
        return self.tunings
