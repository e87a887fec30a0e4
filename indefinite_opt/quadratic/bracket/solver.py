"""Global optimisation of the nonconvex quadratic programs, with a proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from indefinite_opt.quadratic.bracket.finite_forms import obstacle
from indefinite_opt.quadratic.bracket.search import GlobalSearch
from indefinite_opt.quadratic.bracket.settings import Settings
from indefinite_opt.quadratic.local.search.multistart import MultiStart
from indefinite_opt.quadratic.solving.solution import Solution
from indefinite_opt.quadratic.solving.solver import Solver, Task
from indefinite_opt.quadratic.structures.gaps import gap_in_words
from indefinite_opt.quadratic.structures.qp import QP


@dataclass(frozen=True)
class BranchAndBound(Solver[QP]):
    """Local search, then branch and bound until the relative gap is `tol`; see `bound`.

    The bounds come from a doubly nonnegative relaxation with triangle inequalities, or from secants
    where F is separable, and are valid wherever the search is stopped. The solution contains the
    proof of its bound, which the certificate checks. `max_iter` limits the number of nodes.

    Parameters
    ----------
    settings : Settings, optional
    """

    settings: Settings | None = None

    name = "global"
    accepts = (QP,)
    needs_convex = False

    def refusal(self, task: Task[Any]) -> str | None:
        reason = super().refusal(task)
        if reason is not None or task.structure.is_convex:
            return reason
        return obstacle(task.structure)

    def solve(self, task: Task[QP]) -> Solution:
        qp = task.structure
        if qp.is_convex:  # the dual proves the bound without any division
            return MultiStart().solve(task)
        search = GlobalSearch(task, task.tol, settings=self.settings)
        status = search.run()
        return Solution(
            values=qp.values(search.bracket.best),
            status=status,
            iterations=search.nodes,
            trace=search.trace,
            message=(
                f"{search.nodes} nodes, {search.iterations} iterations of the relaxation; "
                f"{gap_in_words(search.bracket.absolute_gap, search.bracket.relative_gap)}"
            ),
            witness=search.proof,
        )
