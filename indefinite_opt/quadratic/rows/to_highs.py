"""Linear and quadratic programs as HiGHS models, each passed in one call."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from indefinite_opt.foundation import Array, TimeLimitReached
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.matrices.sparse import as_sparse


@cache
def _silent() -> Any:
    """The class of HiGHS instances that print nothing."""
    import highspy

    class Silent(highspy.Highs):  # type: ignore[misc]
        def enableCallbacks(self) -> Any:
            # From version 1.16 on this call, by which the instance is made, prints a banner.
            self.setOptionValue("output_flag", False)
            return super().enableCallbacks()

    return Silent


def highs_model(form: StandardForm) -> Any:
    """A HiGHS instance with the model in its declared sense.

    Only a convexified quadratic program may be solved, because HiGHS tests nothing but the diagonal
    of a Hessian for convexity and can call a maximiser optimal.
    """
    import highspy
    from scipy import sparse

    highs, sense, matrix = _silent()(), form.sense, form.matrix
    m, n = matrix.shape
    if isinstance(matrix, np.ndarray):
        # All entries of a dense matrix are passed: finding its zeros would cost more.
        starts, indices, entries = np.arange(m + 1) * n, np.tile(np.arange(n), m), matrix.ravel()
    else:
        starts, indices, entries = matrix.indptr, matrix.indices, matrix.data
    direction = highspy.ObjSense.kMinimize if sense > 0 else highspy.ObjSense.kMaximize
    highs.passModel(
        n, m, entries.size, int(highspy.MatrixFormat.kRowwise), int(direction),
        sense * form.constant, sense * form.cost,
        form.lower, form.upper, form.row_lower, form.row_upper,
        starts.astype(np.int32), indices.astype(np.int32), entries,
        np.zeros(n, np.int32),
    )  # fmt: skip
    if form.hessian is not None:
        lower = sparse.csc_array(sparse.tril(sense * as_sparse(form.hessian)))
        highs.passHessian(
            n, lower.nnz, highspy.HessianFormat.kTriangular, lower.indptr, lower.indices, lower.data
        )
    return highs


def change_costs(highs: Any, cost: Array) -> None:
    """Another cost vector for the same program."""
    highs.changeColsCost(cost.size, np.arange(cost.size, dtype=np.int32), cost)


def set_tolerance(highs: Any, tolerance: float) -> None:
    """What a constraint and a reduced cost may be violated by."""
    for kind in ("primal", "dual"):
        highs.setOptionValue(f"{kind}_feasibility_tolerance", tolerance)


def simplex_limit(sides: int) -> int:
    """Most simplex iterations on a program with this many rows and columns together.

    Nearly degenerate programs can keep the simplex method busy for ever.
    """
    return 1000 + 2 * sides


def run_within(highs: Any, seconds: float, iterations: int) -> Any:
    """Run HiGHS from its present state, within limits, and return its model status.

    The limit of iterations holds for each of its methods. `TimeLimitReached` if there is no time to
    start it. HiGHS may exceed its time limit by a factorisation.
    """
    for option in ("simplex_iteration_limit", "ipm_iteration_limit", "qp_iteration_limit"):
        highs.setOptionValue(option, int(iterations))
    if seconds <= 0.0:
        raise TimeLimitReached("no time is left for HiGHS")
    if np.isfinite(seconds):
        highs.setOptionValue("time_limit", float(highs.getRunTime()) + seconds)
    highs.run()
    return highs.getModelStatus()


def solved_by_highs(
    form: StandardForm, tolerance: float = 1e-7, seconds: float = np.inf, presolve: bool = True
) -> tuple[Array, Array] | None:
    """Solution of a linear program and multipliers of its rows, None if HiGHS finds none.

    Without `presolve` a program that the simplex method solves in few steps takes half the time.
    `TimeLimitReached` if it does not end in time.
    """
    import highspy

    highs = highs_model(form)
    set_tolerance(highs, tolerance)
    if not presolve:
        highs.setOptionValue("presolve", "off")
    status = run_within(highs, seconds, simplex_limit(sum(form.matrix.shape)))
    if status == highspy.HighsModelStatus.kTimeLimit:
        raise TimeLimitReached("a linear program did not end in time")
    if status != highspy.HighsModelStatus.kOptimal:
        return None
    answer = highs.getSolution()
    return np.array(answer.col_value), np.array(answer.row_dual)
