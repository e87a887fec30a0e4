"""What tunes a descent."""

from __future__ import annotations

from dataclasses import dataclass


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

    first_block_share: float = 1 / 8
    readings_per_doubling: float = 4.0
    """First size of a block as a share of n, and the work, in readings of K, that doubles it: long
    runs are those in which small blocks undo each other."""
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
    leave_share: float = 0.3
    """A block is left when its own violation has fallen to this share: further gains would depend
    on v at the other points, which is out of date by then."""
    chunk_readings: float = 2.0
    chunk_work: float = 2e7
    """Work between two reports to the trace and checks of the time, in readings of K, and the most
    of it in entries of K read: some hundredths of a second."""
    overhead_work: float = 5e5
    """Work of a Newton step even on an empty face; twice this may always be spent on curvature."""
    pair_steps_per_newton_step: float = 2.0
    """Work of pair steps before a Newton step on the face, in units of the work of that step."""
    max_face: int = 1280
    max_face_share: float = 0.15
    """Most weights on the face of a Newton step, the larger of a number and a share of n: its
    matrix is a few per cent of K."""
    whole_step: float = 1.0 + 1e-6
    """A step whose optimal length is 1 up to this factor, or longer, has length 1 and ends exactly
    on the bounds that it reaches."""
    max_growths: int = 10
    max_joining_share: float = 0.25
    max_left_share: float = 0.5
    """After a Newton step the violators join its working set, so many times in turn, as long as
    they are at most the first share of it, since pair steps are better at choosing among many,
    and as long as the largest violation falls to the second share each time."""
    min_working_set: int = 60
    """Free weights from which Newton steps along a path use a working set: for fewer, factorising
    their part of K anew takes less time than what surrounds it."""
    computing_work: float = 3.0
    """Work of computing an entry of K on demand, in units of that of reading one from memory."""
    max_steps: int = 10_000_000
    max_steps_per_point: int = 100
    """Steps by default, the larger of a number and a multiple of n."""
    max_escapes: int = 100
    """Most stationary points that are left along negative curvature."""
    max_refreshes: int = 100
    """Most exact gradients; if more were needed, rounding would prevent further progress."""
    min_target: float = 1e-16
    """Smallest residual to reach, in units of the gradient."""
    rounding_share: float = 0.1
    """The gradient is recomputed when the error of v may exceed this share of the residual to
    reach."""
    kept_rounding_share: float = 0.01
    """A point is accepted without computing the gradient anew if the error of v is at most this
    share of the residual to reach, which is reduced accordingly."""
    hard_margin_share: float = 0.25
    """The residual to reach without an upper bound, in units of the tolerance: the bound on the
    optimum of a hard margin falls short by twice the residual."""
    complementarity_share: float = 0.5
    """Largest complementarity as a share of the tolerance; the rest is left for the rounding that a
    rigorous bound allows for."""
    max_tightening: float = 0.01
    """Smallest factor by which the residual to reach is reduced at once."""
    min_curvature_share: float = 1e-12
    """When pairs are compared, a curvature counts as at least this share of the largest diagonal
    entry of H: smaller ones are rounding."""
    min_exchange_share: float = 1e-9
    """Least decrease of F by an exchange, as a share of it: far above rounding and far below any
    tolerance."""
    min_growth: float = 1.01
    """Least factor by which the weights are scaled up at once; less is left to pair steps."""
    min_computed_block: int = 1024
    min_computed_block_share: float = 0.2
    """A block has at least the larger of a number and a share of n points, if there are as many
    violators: with that share its part of K takes about as long as the rows of the changed
    weights."""
    points_per_free_weight: float = 1.5
    """Points of a block for every weight between its bounds: with less, blocks undo each other."""
    computed_growth: float = 1.125
    """Order of new memory for a block's part of K, as a multiple of what the block needs: the block
    after it is often a little larger."""
    max_inner_block: int = 512
    """Points of the smaller blocks by which a block is solved, whose part of K should stay in the
    cache of the processor; if more weights are free, such blocks would undo each other's steps."""
    max_work_between_checks: float = 5e8
    """Most work (entries of K read) between two looks at the clock, half a second."""
    max_steps_per_row: float = 4.0
    """Most work of steps inside a block, in units of computing the rows of its points."""
    curvature_share: float = 0.25
    """Work on a search for negative curvature at the end of a single descent, at most, as a share
    of all work before it."""
    libsvm_tolerance: float = 1e-3
    """Violation of the optimality conditions at which LIBSVM ends, in units of the gradient."""
