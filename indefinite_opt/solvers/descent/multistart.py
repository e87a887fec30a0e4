"""Many descents: from diverse starts, then from the best ends kicked out of their valleys."""

from __future__ import annotations

from dataclasses import dataclass

from indefinite_opt.modeling.structures import BoxLineQP
from indefinite_opt.solvers.descent.local_search import Effort, LocalSearch
from indefinite_opt.solvers.solution import Solution
from indefinite_opt.solvers.solver import Solver, Task, status_at_end

__all__ = ["MultiStart"]


@dataclass(frozen=True)
class MultiStart(Effort, Solver[BoxLineQP]):
    """The best of many descents, and how often they came to which end.

    First come zero (or the given start), the class means, spectral starts (weight where the
    eigenvectors of the most negative eigenvalues have the sign of y), random vertices and random
    interiors. Then the best ends are kicked, which is iterated local search: random pairs of
    weights are exchanged, among all points or the neighbours of one, and pair steps lead down
    again. From the answer neither a pair step nor negative curvature leads down, and with kicks
    no whole exchange of two weights either.

    It stops early where all starts agree, and after one descent where the problem is known to be
    convex. The answer depends on the seed, not on the number of threads.

    Parameters
    ----------
    starts : int
        Descents from diverse starts.
    kicks : int
        Most kicks; none without a finite upper bound, or where rows of K are computed on demand.
    budget : float
        Work of everything in units of the first descent; may be infinite.
    jobs : int, optional
        Threads; by default as many as the linear algebra library uses.
    """

    name = "multistart"
    accepts = (BoxLineQP,)
    needs_convex = False

    def solve(self, task: Task[BoxLineQP]) -> Solution:
        search = LocalSearch(self, task)
        return search.solution(status_at_end(search.run))
