"""Programs with any rows in the variables in which pair steps can solve them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from indefinite_opt.foundation import Array
from indefinite_opt.quadratic.rows.polyhedral_qp import PolyhedralQP
from indefinite_opt.quadratic.solving.solution import Solution
from indefinite_opt.quadratic.structures.paired_qp import PairedQP, paired
from indefinite_opt.quadratic.structures.qp import QP


@dataclass(frozen=True, eq=False)
class Paired:
    """A program in which every variable is in at most one equality row, and its scaled form.

    Attributes
    ----------
    asked : QP
    qp : PairedQP
        The same program in variables z whose rows have coefficients 1 and -1.
    restore, place : callable
        The feasible x for a z, and the feasible z nearest to an x.
    """

    asked: QP
    qp: PairedQP
    restore: Callable[[Array], Array]
    place: Callable[[Array], Array]

    def restored(self, solution: Solution) -> Solution:
        """A solution of the scaled form in the variables that were asked for."""
        z, named = self.qp.variable, self.asked.values
        optima = tuple(
            replace(each, values=named(self.restore(each.values[z])) if each.values else {})
            for each in solution.optima
        )
        x = self.restore(solution.values[z])
        return replace(solution, values=named(x), optima=optima, gradient=None)


def as_paired(asked: PolyhedralQP) -> Paired | None:
    """The scaled form; None if there is none, if it overflows, or if a range is not finite."""
    if not (asked.is_disjoint and asked.is_bounded):
        return None
    # The ranges have the bounds that follow from rows, too.
    with np.errstate(over="ignore", invalid="ignore"):
        qp, restore, place = paired(asked.P, asked.q, asked.A, asked.b, *asked.ranges)
        if not (np.isfinite(qp.gram.largest) and np.isfinite(qp.linear).all()):
            return None
    qp.sense, qp.constant = asked.sense, asked.constant
    return Paired(asked, qp, lambda z: asked.project(restore(z)), place)
