"""Sequential minimal optimization exactly as Lin & Lin (2003) print it."""

from __future__ import annotations

from typing import Any

from indefinite_opt.quadratic import (
    PairedQP,
    PrintedSteps,
    Solution,
    Solver,
    Task,
    Trace,
    status_at_end,
)


class SMOLinLin(Solver[PairedQP]):
    r"""SMO for kernels of any inertia as printed: pairs (22), steps (27); for comparison.

    With F = ½αᵀQα - eᵀα the pair is the one that violates (21) most,

    .. math:: i = \arg\max_{t\in I_{up}} -y_t\nabla F(\alpha)_t,\qquad
              j = \arg\min_{t\in I_{low}} -y_t\nabla F(\alpha)_t

    and y_jα_j moves by d̂_j < 0, y_iα_i by -d̂_j. If K_ii - 2K_ij + K_jj > 0, d̂_j is the minimiser
    (25), or the bound L where that is nearer; otherwise d̂_j = L, although the other end of a
    concave pair may be lower. F decreases in every step, and every limit point is stationary
    (Lemma 3, Theorem 11). A step takes O(n), with K in memory.

    The descent starts from zero or a given point. The paper prints no tolerance: it stops where the
    first-order tests of the certificate pass. Where each class has a constraint of its own, as in
    CH-DU, a pair lies in one class. Without a bias there is no pair to choose: Lin & Lin solve (19)
    by another method, which they do not print.

    References
    ----------
    Lin & Lin (2003), section 6.2, (22), (27).

    Examples
    --------
    A concave pair, on which (25) would not move:

    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[0.0, 1.0], [1.0, 0.0]], [1, -1])
    >>> result = iopt.solve(problem, iopt.SVMDual(C=4.0), solver="smo-lin-lin")
    >>> result.values["alpha"], result.iterations, result.objective
    (array([4., 4.]), 1, 24.0)
    """

    name = "smo-lin-lin"
    accepts = (PairedQP,)
    needs_convex = False
    descends = True
    records = True
    needs_bias = True

    def refusal(self, task: Task[Any]) -> str | None:
        refusal = super().refusal(task)
        if refusal is not None:
            return refusal
        if task.program.feasible.lines == 0:
            return "it moves pairs of weights along yᵀα = 0, and there is no such constraint"
        if task.program.gram.on_demand:
            return "it reads the rows of a kernel matrix in memory, and this one is never formed"
        return None

    def solve(self, task: Task[PairedQP]) -> Solution:
        qp = task.program
        start = qp.start() if task.start is None else task.start.copy()
        run = PrintedSteps(task, start, trace=Trace())
        status = status_at_end(run.to_stationarity)
        message = f"{run.iterations} steps, {run.refreshes} exact gradients"
        return run.solution(status, message)
