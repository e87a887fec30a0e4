"""The best of many descents, from diverse starts and then from the best points after kicks."""

from __future__ import annotations

from dataclasses import dataclass

from indefinite_opt.modeling import PolyhedralQP
from indefinite_opt.modeling.structures import BoxLineQP
from indefinite_opt.solvers.descent.local_search import Effort, LocalSearch
from indefinite_opt.solvers.polyhedral import PolyhedralSearch
from indefinite_opt.solvers.solution import Solution
from indefinite_opt.solvers.solver import Solver, Task, status_at_end

__all__ = ["MultiStart"]


@dataclass(frozen=True)
class MultiStart(Effort, Solver[BoxLineQP | PolyhedralQP]):
    """The best of many descents, and how often they ended at which point.

    The starts are zero (or the given one), the class means, spectral ones (weight where the
    eigenvectors of the most negative eigenvalues have the sign of y), random vertices and random
    interior points. Iterated local search follows from the best points: random pairs of weights
    are exchanged (a kick), among all points or the neighbours of one, and pair steps lead down
    again. At the result neither a pair step nor negative curvature leads down and, with kicks, no
    exchange of two weights as far as the bounds allow does either.

    The search stops early if all starts agree, and after one descent if the problem is known to be
    convex. The result depends on the seed, not on the number of threads.

    Parameters
    ----------
    starts : int
        Descents from diverse starts.
    kicks : int
        Most kicks; none without a finite upper bound, or if rows of K are computed on demand.
    budget : float
        Total work in units of the first descent; may be infinite.
    jobs : int, optional
        Threads; by default as many as the linear algebra library uses.
    """

    name = "multistart"
    accepts = (BoxLineQP, PolyhedralQP)
    needs_convex = False

    def solve(self, task: Task[BoxLineQP | PolyhedralQP]) -> Solution:
        search: LocalSearch | PolyhedralSearch
        if isinstance(task.structure, PolyhedralQP):
            search = PolyhedralSearch(self, task)
        else:
            search = LocalSearch(self, task.on(task.structure))
        return search.solution(status_at_end(search.run))
