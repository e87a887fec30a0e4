"""LIBSVM's pair steps alone: for many small problems, without the cost of a `Task`."""

from __future__ import annotations

import numpy as np

from indefinite_opt.core import descent as loops
from indefinite_opt.foundation import Array
from indefinite_opt.quadratic.matrices.gram import DenseGram

MAX_WORK = 1e8
"""Most work at once, in entries of K: some tenths of a second, in which no interrupt is noticed."""

READINGS_BEFORE_FORMING = 12.0
"""Work on a part of K that is not formed, in readings of it: forming it takes about as long."""


def second_order_steps(
    gram: DenseGram, signs: Array, upper: Array, tol: float, max_steps: int
) -> tuple[Array, float | None, int]:
    """The dual of a support vector machine from zero to a stationary point, by LIBSVM's steps.

    min ½αᵀQα - eᵀα with Q_ij = y_i y_j K_ij, yᵀα = 0 and 0 ≤ α ≤ upper, for a K of any inertia.

    Parameters
    ----------
    gram : DenseGram
        K, which is not formed where it is a part of another matrix or of floats: rows are read.
    signs : (n,) array of -1 and +1
        y.
    upper : (n,) array
        Finite.
    tol : float
        Largest violation m - M of the optimality conditions (Lin & Lin 2003, (21)), compared with
        the gradient that is computed at the end.
    max_steps : int

    Returns
    -------
    alpha : (n,) array
        Feasible.
    offset : float or None
        b of the classifier; None if the steps, or the work of a few tenths of a second, did not
        suffice.
    steps : int

    Examples
    --------
    >>> K = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> second_order_steps(DenseGram(K), np.array([1.0, -1.0]), np.full(2, 9.0), 1e-9, 100)
    (array([0.5, 0.5]), 0.0, 1)
    """
    n = signs.size
    lower, alpha = np.zeros(n), np.zeros(n)
    given = gram.diagonal, 1.0, signs, np.zeros(n, np.int64), 1, lower, upper
    source = gram.source
    program: loops.PairProgram
    if source is None:
        program = loops.PairProgram(gram.matrix, *given)
    else:
        program = loops.PartProgram(source[0], source[1], *given)
    most_work = MAX_WORK if source is None else max(MAX_WORK, READINGS_BEFORE_FORMING * n**2)
    point, state, steps, work = loops.DescentPoint(alpha, signs.copy()), loops.RUNNING, 0, 0.0
    going = True
    while going:
        # Half of the tolerance is left for the rounding of what the steps add to v.
        limits = 0.5 * tol, max_steps - steps, MAX_WORK
        outcome = loops.pair_steps(program, point, loops.LIBSVM, *limits)
        state, steps, work = outcome.state, steps + outcome.steps, work + outcome.work
        fuller = isinstance(program, loops.PartProgram) and program.make_room()
        going = state == loops.RUNNING and work < most_work and (fuller or steps < max_steps)
    if state != loops.CONVERGED:
        return alpha, None, steps
    if isinstance(program, loops.PartProgram):
        v, moved = signs.copy(), np.flatnonzero(alpha)
        program.subtract(moved, (signs * alpha)[moved], v)
    else:
        v = signs - gram.matrix @ (signs * alpha)
    rises = np.where(signs > 0.0, alpha < upper, alpha > 0.0)
    falls = np.where(signs > 0.0, alpha > 0.0, alpha < upper)
    m, M = float(v[rises].max()), float(v[falls].min())
    free = rises & falls
    offset = float(v[free].mean()) if free.any() else 0.5 * (m + M)
    return alpha, offset if m - M <= tol else None, steps
