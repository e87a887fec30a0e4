"""The doubly nonnegative relaxation as a conic solver takes it, without triangle inequalities."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from indefinite_opt.errors import SolverFailed
from indefinite_opt.quadratic.bracket.minorant import Multipliers, pair_indices
from indefinite_opt.quadratic.bracket.scaled_box import ScaledBox

TIME_LIMIT_OPTIONS = {"clarabel": "time_limit", "scs": "time_limit_secs"}
"""The names that conic solvers give to their time limit in seconds."""

THREAD_OPTIONS: dict[str, dict[str, int]] = {"clarabel": {"max_threads": 1}, "scs": {}}
"""Clarabel keeps its threads from one solve to the next, and a child process inherits the pool
without them: where the parent has used Clarabel, a child that wants threads waits forever."""

CONIC_SOLVERS = tuple(TIME_LIMIT_OPTIONS)
"""The conic solvers that can bound the whole box."""


def doubly_nonnegative(scaled: ScaledBox) -> tuple[Any, dict[str, Any]]:
    """The relaxation without triangle inequalities as cvxpy declares it.

    With Y ≈ (1, d)(1, d)ᵀ: Y ⪰ 0, Y₀₀ = 1, the rows of Y satisfy the equality constraints, and the
    products of any two slacks (1 ± d_i)/2 are nonnegative.

    Returns
    -------
    cvxpy problem, dict of cvxpy constraints
        "pairs_0" to "pairs_3" and "squares"; their multipliers are those of `Multipliers`.
    """
    import cvxpy as cp

    m = scaled.m
    Y = cp.Variable((m + 1, m + 1), name="Y", PSD=True)
    i, j = pair_indices(m)
    di, dj, dij = Y[0, i + 1], Y[0, j + 1], Y[i + 1, j + 1]
    constraints = {"corner": Y[0, 0] == 1.0}
    for q, (si, sj) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
        constraints[f"pairs_{q}"] = 0.25 * (1.0 + si * di + sj * dj + si * sj * dij) >= 0.0
    constraints["squares"] = 0.25 * (1.0 - cp.diag(Y)[1:]) >= 0.0
    for k, row in enumerate(scaled.rows):
        constraints[f"row_{k}"] = row @ Y[1:, :] == scaled.rhs[k] * Y[0, :]
    cost = scaled.constant + scaled.slope @ Y[0, 1:]
    cost += 0.5 * cp.sum(cp.multiply(scaled.curvature, Y[1:, 1:]))
    return cp.Problem(cp.Minimize(cost), list(constraints.values())), constraints


def conic_multipliers(scaled: ScaledBox, solver: str, seconds: float = np.inf) -> Multipliers:
    """Multipliers from a conic solver; their bound is valid whatever its accuracy.

    Parameters
    ----------
    scaled : ScaledBox
    solver : {"clarabel", "scs"}
    seconds : float
        Time limit of the solver; may be infinite.

    Raises
    ------
    SolverFailed
        If the solver returns no multipliers.
    """
    import cvxpy as cp

    if scaled.m == 0:
        return Multipliers.spectral(0)
    model, constraints = doubly_nonnegative(scaled)
    limit = {TIME_LIMIT_OPTIONS[solver]: seconds} if np.isfinite(seconds) else {}
    with warnings.catch_warnings():
        # Multipliers of an inaccurate solution are valid, too.
        warnings.simplefilter("ignore")
        try:
            model.solve(solver=solver.upper(), **THREAD_OPTIONS[solver], **limit)
        except cp.SolverError as error:
            raise SolverFailed(f"{solver} on the semidefinite relaxation: {error}") from None
    columns = [constraints[f"pairs_{q}"].dual_value for q in range(4)]
    squares = constraints["squares"].dual_value
    if squares is None or any(column is None for column in columns):
        raise SolverFailed(f"{solver} on the semidefinite relaxation: {model.status}")
    return Multipliers(np.column_stack(columns), np.asarray(squares))
