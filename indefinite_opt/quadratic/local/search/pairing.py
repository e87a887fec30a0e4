"""Programs with any rows in the variables in which pair steps can solve them.

These are z_i = |a_i| x_i, where a_i is the coefficient of x_i in its row, divided by a typical one
of that row, or 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from indefinite_opt.foundation import Array
from indefinite_opt.quadratic.matrices.gram import DenseGram
from indefinite_opt.quadratic.programs.paired_box import PairedBox
from indefinite_opt.quadratic.programs.paired_qp import PairedQP
from indefinite_opt.quadratic.rows.polyhedral_qp import PolyhedralQP


def in_pairs(
    P: Array, q: Array, rows: Array, rhs: Array, lower: Array, upper: Array, **declared: Any
) -> tuple[PairedQP, Array]:
    """min ½xᵀPx + qᵀx, rows·x = rhs, lower ≤ x ≤ upper in z = |a|∘x, and |a|, (n,).

    No variable is in two rows, whose coefficients become 1 and -1. Bounds that follow from a row
    and the other bounds must be among the given ones. A row of zeros is passed over. `declared` is
    the sense and the constant of the program.

    >>> P, q = np.array([[0.0, 2.0], [2.0, 0.0]]), np.zeros(2)
    >>> ends = np.zeros(2), np.full(2, 9.0)
    >>> qp, sizes = in_pairs(P, q, np.array([[4.0, -2.0]]), np.array([6.0]), *ends)
    >>> qp.feasible.signs, restored(qp, sizes, ends, qp.feasible.project(sizes * [2.0, 1.0]))
    (array([ 1., -1.]), array([2., 1.]))
    """
    used = rows != 0.0
    kept = used.any(axis=1)
    rows, rhs, used = rows[kept], rhs[kept], used[kept]
    k = rows.shape[0]
    held = used.any(axis=0)
    group = np.where(held, used.argmax(axis=0) if k else 0, k).astype(np.int64)
    coefficients = np.where(held, rows.sum(axis=0), 1.0)
    # Divided by a power of two, so that equal coefficients become 1 but for their signs.
    logs = np.bincount(group, np.log2(np.abs(coefficients)), k + 1)
    counts = np.maximum(np.bincount(group, minlength=k + 1), 1)
    units = np.append(np.exp2(np.round(logs / counts))[:k], 1.0)
    sizes, signs = np.abs(coefficients) / units[group], np.sign(coefficients)
    shape = signs / sizes
    matrix = np.ascontiguousarray(P, dtype=np.float64)
    if np.any(shape != 1.0):
        matrix = matrix * shape[:, None]
        matrix *= shape
    names = tuple(f"line {g}" for g in range(k))
    box = PairedBox(signs, group, rhs / units[:k], sizes * lower, sizes * upper, names)
    return PairedQP(DenseGram(matrix), q / sizes, box, **declared), sizes


def as_paired(asked: PolyhedralQP) -> tuple[PairedQP, Array] | None:
    """`in_pairs` of a program; None if it has none, if that overflows, or without finite ranges."""
    body = asked.feasible
    if not (body.is_disjoint and body.is_bounded):
        return None
    # The ranges have the bounds that follow from rows, too.
    with np.errstate(over="ignore", invalid="ignore"):
        qp, sizes = in_pairs(
            asked.P, asked.q, body.A, body.b, *body.ranges, sense=asked.sense,
            constant=asked.constant,
        )  # fmt: skip
        if not (np.isfinite(qp.gram.largest) and np.isfinite(qp.linear).all()):
            return None
    return qp, sizes


def restored(qp: PairedQP, sizes: Array, ends: tuple[Array, Array], z: Array) -> Array:
    """The x between these ends of a point z, at a bound exactly where z is."""
    x = np.clip(z / sizes, *ends)
    x = np.where(z == qp.feasible.lower, ends[0], x)
    return np.where(z == qp.feasible.upper, ends[1], x)
