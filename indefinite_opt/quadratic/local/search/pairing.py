"""Programs with any rows in the variables in which pair steps can solve them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from indefinite_opt.foundation import Array
from indefinite_opt.quadratic.matrices.gram import DenseGram
from indefinite_opt.quadratic.rows.polyhedral_qp import PolyhedralQP
from indefinite_opt.quadratic.structures.paired_qp import PairedQP


@dataclass(frozen=True, eq=False)
class Paired:
    """A program in variables z_i = |a_i| x_i that move in pairs.

    a_i is the coefficient of x_i in its row, divided by a typical one of that row, or 1.

    >>> P, q = np.array([[0.0, 2.0], [2.0, 0.0]]), np.zeros(2)
    >>> given = np.array([[4.0, -2.0]]), np.array([6.0]), np.zeros(2), np.full(2, 9.0)
    >>> pairs = Paired.of(P, q, *given)
    >>> pairs.qp.signs, pairs.restore(pairs.place(np.array([2.0, 1.0])))
    (array([ 1., -1.]), array([2., 1.]))
    """

    qp: PairedQP
    """The program in z, whose rows have coefficients 1 and -1."""
    sizes: Array
    """|a|, (n,)."""
    lower: Array
    upper: Array
    """Bounds of x, (n,)."""

    @classmethod
    def of(
        cls, P: Array, q: Array, rows: Array, rhs: Array, lower: Array, upper: Array,
        **declared: Any,
    ) -> Paired:  # fmt: skip
        """min ½xᵀPx + qᵀx, rows·x = rhs, lower ≤ x ≤ upper, no variable being in two rows.

        Bounds that follow from a row and the other bounds must be among the given ones. A row of
        zeros is passed over. `declared` is the sense and the constant of the program.
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
        ends = rhs / units[:k], sizes * lower, sizes * upper
        names = tuple(f"line {g}" for g in range(k))
        gram = DenseGram(matrix)
        qp = PairedQP(gram, q / sizes, signs, group, *ends, lines_held=names, **declared)
        return cls(qp, sizes, lower, upper)

    def restore(self, z: Array) -> Array:
        """The x of a point z, at a bound exactly where z is."""
        x = np.clip(z / self.sizes, self.lower, self.upper)
        x = np.where(z == self.qp.lower, self.lower, x)
        return np.where(z == self.qp.upper, self.upper, x)

    def place(self, x: Array) -> Array:
        """The feasible z nearest to that of an x."""
        return self.qp.project(self.sizes * x)


def as_paired(asked: PolyhedralQP) -> Paired | None:
    """The program in pairs; None if there is none, if it overflows, or if a range is not finite."""
    if not (asked.is_disjoint and asked.is_bounded):
        return None
    # The ranges have the bounds that follow from rows, too.
    with np.errstate(over="ignore", invalid="ignore"):
        found = Paired.of(
            asked.P, asked.q, asked.A, asked.b, *asked.ranges, sense=asked.sense,
            constant=asked.constant,
        )  # fmt: skip
        if not (np.isfinite(found.qp.gram.largest) and np.isfinite(found.qp.linear).all()):
            return None
    return found
