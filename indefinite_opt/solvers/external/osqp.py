"""OSQP, a first-order solver for convex quadratic programs, called directly."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from indefinite_opt.errors import SolverFailed
from indefinite_opt.foundation import afford, limited
from indefinite_opt.quadratic import (
    QP,
    Session,
    Solution,
    Solver,
    Status,
    Task,
    differs_in_upper_bounds,
)
from indefinite_opt.solvers.external.cvxpy_backend import moved, or_feasible

TOLERANCE_SHARE = 1e-2
"""Tolerance as a share of `tol`: the certificate is stricter than its test."""

MIN_INFEASIBILITY_TOLERANCE = 1e-15
"""Tolerance of its tests of infeasibility and unboundedness: every program here is feasible and
bounded, but nearly degenerate ones look otherwise at the usual 1e-4."""


MAX_ITER = 200_000
"""Iterations by default; each takes O(n²)."""

FACTORISATION = 6.0
"""Operations of LAPACK that take as long as its sparse factorisation of a dense matrix, over n³."""


@dataclass(frozen=True)
class OSQP(Solver[QP]):
    """Operator splitting with solution polishing (Stellato et al.)."""

    name = "osqp"
    accepts = (QP,)
    needs_convex = True

    def solve(self, task: Task[QP]) -> Solution:
        return self.session().solve(task)

    def session(self) -> Session[QP]:
        return OSQPSession(self)


class OSQPSession(Session[QP]):
    """Keeps the factorised model between tasks that differ only in their bounds."""

    def __init__(self, solver: OSQP) -> None:
        super().__init__(solver)
        self._model: Any = None
        self._previous: QP | None = None

    def solve(self, task: Task[QP]) -> Solution:
        return or_feasible(task, "OSQP", lambda: self._solution(task))

    def _solution(self, task: Task[QP]) -> Solution:
        qp = task.program
        previous, self._previous = self._previous, None  # the model may be left half changed
        with _silent():
            answer = limited(qp.n, task.remaining, self._answer, task, qp, previous)
        self._previous = qp
        return _read(task, answer)

    def _answer(self, task: Task[QP], qp: QP, previous: QP | None) -> Any:
        if differs_in_upper_bounds(qp, previous):
            lower, upper, row_lower, row_upper, _ = qp.feasible.constraints
            ends = np.concatenate([row_lower, lower]), np.concatenate([row_upper, upper])
            self._model.update(l=ends[0], u=ends[1])
            self._model.update_settings(**self._limits(task))
        else:
            self._model = self._build(qp, task)
        answer = self._model.solve(raise_error=False)
        if answer.x is not None and not qp.infeasibility(np.asarray(answer.x)) <= task.tol:
            # Polishing can leave the feasible set where many bounds are active.
            self._model.update_settings(polishing=False, **self._limits(task))
            answer = self._model.solve(raise_error=False)
            self._model.update_settings(polishing=True)
        return answer

    def _limits(self, task: Task[QP]) -> dict[str, Any]:
        limits: dict[str, Any] = {"max_iter": task.max_iter or MAX_ITER}
        if np.isfinite(task.time_limit):
            limits["time_limit"] = task.remaining
        return limits

    def _build(self, qp: QP, task: Task[QP]) -> Any:
        import osqp
        from scipy import sparse

        afford(FACTORISATION * qp.n**3)
        form = qp.standard_form(convexified=True)
        H = np.zeros((qp.n, qp.n)) if form.hessian is None else form.hessian
        tolerance = TOLERANCE_SHARE * task.tol
        model = osqp.OSQP()
        try:
            model.setup(
                sparse.csc_matrix(np.triu(H)),
                form.cost,
                sparse.vstack([sparse.csr_matrix(form.matrix), sparse.eye(qp.n)], format="csc"),
                np.concatenate([form.row_lower, form.lower]),
                np.concatenate([form.row_upper, form.upper]),
                eps_abs=tolerance,
                eps_rel=tolerance,
                eps_prim_inf=MIN_INFEASIBILITY_TOLERANCE,
                eps_dual_inf=MIN_INFEASIBILITY_TOLERANCE,
                polishing=True,
                verbose=False,
                **self._limits(task),
            )
        except osqp.OSQPException as error:
            # As for a Hessian of large numbers, whose rounding it takes for negative curvature.
            words = f"error {error} in its setup"
            raise SolverFailed(f"OSQP failed on {task.formulation}: {words}") from error
        return model


class _Unheard:
    """A stream without what some threads write to it."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.silent: set[int] = set()
        """The threads that are not heard."""

    def write(self, text: str) -> int:
        if threading.get_ident() in self.silent:
            return len(text)
        return int(self.stream.write(text) or 0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


_STREAMS = threading.Lock()
"""Held while `sys.stdout` is replaced."""


@contextmanager
def _silent() -> Iterator[None]:
    """Discard what this thread prints: OSQP has words for `sys.stdout` though it is not verbose.

    It says there that polishing was not needed, and that a Hessian seems to be non-convex. Other
    threads go on printing. If other code replaces `sys.stdout` meanwhile, its replacement is kept.
    """
    me = threading.get_ident()
    with _STREAMS:
        if sys.stdout is None:
            unheard = _Unheard(None)
        elif isinstance(sys.stdout, _Unheard):
            unheard = sys.stdout
        else:
            sys.stdout = unheard = _Unheard(sys.stdout)
        unheard.silent.add(me)
    try:
        yield
    finally:
        with _STREAMS:
            unheard.silent.discard(me)
            if not unheard.silent and sys.stdout is unheard:
                sys.stdout = unheard.stream


def _read(task: Task[QP], answer: Any) -> Solution:
    qp = task.program
    words = str(answer.info.status)
    if answer.x is None or not np.all(np.isfinite(answer.x)):
        raise SolverFailed(f"OSQP returned no point: {words}")
    statuses = {
        "solved": Status.SOLVED,
        "time limit reached": Status.TIME_LIMIT,
        "run time limit reached": Status.TIME_LIMIT,
        "maximum iterations reached": Status.MAX_ITER,
    }
    return Solution(
        values=qp.values(moved(task, qp.feasible.project, np.asarray(answer.x))),
        status=statuses.get(words, Status.INACCURATE),
        iterations=int(answer.info.iter),
        message=f"OSQP: {words}",
    )
