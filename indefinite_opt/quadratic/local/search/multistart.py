"""The best of many descents, from diverse starts and then from perturbed ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from indefinite_opt.foundation import TimeLimitReached, Values, limited
from indefinite_opt.quadratic.local.search.iterated_search import Effort
from indefinite_opt.quadratic.local.search.pair_search import LocalSearch
from indefinite_opt.quadratic.local.search.pairing import as_paired, restored
from indefinite_opt.quadratic.local.search.row_search import PolyhedralSearch
from indefinite_opt.quadratic.programs.paired_qp import PairedQP
from indefinite_opt.quadratic.programs.qp import QP
from indefinite_opt.quadratic.solving.solution import Solution, Status
from indefinite_opt.quadratic.solving.solver import Solver, Task, status_at_end

T = TypeVar("T")


@dataclass(frozen=True)
class MultiStart(Effort, Solver[QP]):
    """The best of many descents, and how often they ended at which point.

    The starts are zero (or the given one), the class means or the middle of the box, spectral ones
    (weight where the eigenvectors of the most negative eigenvalues have the sign of y), random
    vertices and random interior points. Iterated local search follows from the best points: random
    pairs of weights are exchanged (a perturbation), among all points or the neighbours of one, and
    weights that are in no equality constraint go to their other bound; then pair steps lead down
    again. At the result neither a pair step nor negative curvature leads down.

    The search stops early if all starts agree, and after one descent if the problem is known to be
    convex. The result depends on the seed, not on the number of threads.

    Parameters
    ----------
    starts : int
        Descents from diverse starts.
    perturbations : int, optional
        Most perturbations; by default 2400, or 24 for each weight if these are fewer. A program
        without a kernel takes four times as many. None are made without finite bounds, or if rows
        of K are computed on demand.
    budget : float, optional
        Total work in units of the first descent; may be infinite. By default 40 for up to a
        thousand weights, and less for more: 40 · (1000/n)^1.3.
    jobs : int, optional
        Threads; by default as many as the linear algebra library uses.
    """

    name = "multistart"
    accepts = (QP,)
    needs_convex = False
    descends = True
    records = True

    def preparation_order(self, task: Task[Any]) -> int:
        return 0

    def solve(self, task: Task[QP]) -> Solution:
        program = task.program
        if isinstance(program, PairedQP):
            return _searched(LocalSearch(self, task.on(program)))
        try:
            return self._over_rows(task)
        except TimeLimitReached:
            message = "the time limit left no time to begin the first descent"
            return Solution(task.start_values() or {}, Status.TIME_LIMIT, message=message)

    def _over_rows(self, task: Task[Any]) -> Solution:
        """`solve` for a user's rows; `TimeLimitReached` where a search cannot begin in time."""
        program = task.program

        def begun(function: Callable[..., T], *arguments: Any) -> T:
            return limited(program.n, task.time_limit - task.elapsed, function, *arguments)

        found = begun(as_paired, program)
        if found is None:
            return _searched(begun(PolyhedralSearch, self, task))
        pairs, sizes = found
        start = None if task.start is None else pairs.feasible.project(sizes * task.start)
        ended = _searched(LocalSearch(self, task.on(pairs, start=start)))

        def declared(values: Values) -> Values:
            z = values.get(pairs.variable)  # optima beyond the best ones have no values
            if z is None:
                return {}
            x = restored(pairs, sizes, program.feasible.ranges, z)
            return program.values(program.feasible.project(x))

        optima = tuple(replace(each, values=declared(each.values)) for each in ended.optima)
        path = ended.trace.iterates
        path[:] = [each._replace(values=declared(each.values)) for each in path]
        ended = replace(ended, values=declared(ended.values), optima=optima, gradient=None)
        if ended.status is not Status.INACCURATE:
            return ended
        # Pair steps stall where units are mixed; a descent with an active set goes on from there.
        task = task.on(program, start=program.from_values(ended.values))
        again = _searched(begun(PolyhedralSearch, self, task))
        return again if again.status is Status.SOLVED else ended


def _searched(search: LocalSearch | PolyhedralSearch) -> Solution:
    status = status_at_end(search.run)
    if status is Status.INTERRUPTED and not search.elite:
        raise KeyboardInterrupt  # while loops were compiled: there is no point to keep
    return search.solution(status)
