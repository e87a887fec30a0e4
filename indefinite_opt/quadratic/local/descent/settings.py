"""What tunes a descent."""

from __future__ import annotations

from dataclasses import dataclass

COMPUTING_WORK = 3.0
"""Work of computing an entry of K on demand, in units of that of reading one from memory."""


@dataclass(frozen=True)
class DescentSettings:
    """Sizes, shares and limits of a `Descent`; `SMO(settings=...)` takes others.

    Work is counted in entries of K that are read, and readings of K are n² of them.

    Examples
    --------
    >>> from indefinite_opt.quadratic import DescentSettings
    >>> DescentSettings(max_block=256).max_block
    256
    """

    min_block: int = 64
    max_block: int = 512
    max_block_share: float = 0.1
    """A block has at least the first number of points, and at most the larger of the second and
    this share of n: its part of K should stay in the cache of the processor."""
    max_whole: int = 512
    min_steps_per_block: int = 32
    """Points up to which all of them are one block, since K is about as fast to read as a part of
    it. So it is for more points once blocks have taken fewer steps than the second number, as
    long as one has no space for all free weights: then blocks undo each other's steps."""
    chunk_readings: float = 2.0
    chunk_work: float = 2e7
    """Work between two reports to the trace and checks of the time, in readings of K, and the most
    of it in entries of K read: some hundredths of a second."""
    min_working_set: int = 60
    """Free weights from which Newton steps along a path use a working set: for fewer, factorising
    their part of K anew takes less time than what surrounds it."""
    readings_before_interior: float = 20.0
    work_before_interior: float = 2e7
    work_growth: float = 8.0
    """Interior points are tried after so much work, the first number in readings of K, if factors
    of K have at most r columns with n·r² equal to that work, so that they take about as long; if
    not, again each time the work has grown by the last number."""
    max_steps: int = 10_000_000
    max_steps_per_point: int = 100
    """Steps by default, the larger of a number and a multiple of n."""
    min_computed_block: int = 1024
    min_computed_block_share: float = 0.2
    """A block has at least the larger of a number and a share of n points, if there are as many
    violators: with that share its part of K takes about as long as the rows of the changed
    weights."""
    max_work_between_checks: float = 5e8
    """Most work (entries of K read) between two looks at the clock, half a second."""
