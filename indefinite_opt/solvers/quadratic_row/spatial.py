"""Branch and bound of programs with a quadratic row, over the directions that are concave."""

from __future__ import annotations

from dataclasses import dataclass

from indefinite_opt.errors import InfeasibleProblem, SolverFailed
from indefinite_opt.foundation import checks
from indefinite_opt.modeling.quadratic_row import QuadraticRowProgram
from indefinite_opt.quadratic import Solution, Solver, Status, Task, Trace, relative, status_at_end


@dataclass(frozen=True)
class Spatial(Solver[QuadraticRowProgram]):
    """Spatial branch and bound with convex programs by Clarabel, whose bounds are computed again.

    Nodes divide the coordinates along which the objective or the row is concave, so that it suits
    programs in which these are few, as in hyperbolic space, whatever the number of hinges is. The
    best point comes from the convex-concave procedure of Yuille & Rangarajan (2003).

    Parameters
    ----------
    max_nodes : int
        Most nodes, unless `max_iter` of `solve` says otherwise.
    """

    max_nodes: int = 20_000

    name = "spatial"
    accepts = (QuadraticRowProgram,)
    needs_convex = False

    def __post_init__(self) -> None:
        checks.whole("max_nodes", self.max_nodes)

    def solve(self, task: Task[QuadraticRowProgram]) -> Solution:
        program, tree, trace = task.program, task.program.tree, Trace()
        stopped: list[Status] = []

        def report(bound: float) -> bool:
            gap = relative(max(tree.best - bound, 0.0), abs(tree.best))
            trace.add(task.elapsed, tree.nodes, tree.best, gap, bound=bound)
            status = task.stop(trace, tree.nodes, task.max_iter or self.max_nodes)
            stopped.extend([] if status is None else [status])
            return status is not None

        def run() -> Status:
            tree.run(task.remaining, report=report)
            return Status.SOLVED if tree.is_closed else Status.TIME_LIMIT

        ended = status_at_end(run)
        tree.halted = ended is Status.INTERRUPTED or Status.MAX_ITER in stopped
        if tree.point is None and tree.is_closed:
            raise InfeasibleProblem(
                program.row.name, "a point that satisfies the quadratic row with all others",
                "none: every node of branch and bound is proved to be empty",
            )  # fmt: skip
        if tree.point is None:
            raise SolverFailed("no feasible point was found; give a longer time_limit")
        return Solution(
            values=program.named(tree.point),
            status=stopped[0] if stopped else ended,
            iterations=tree.nodes,
            trace=trace,
            message=f"{tree.nodes} nodes, bracket from {tree.lower:.10g} to {tree.best:.10g}",
        )
