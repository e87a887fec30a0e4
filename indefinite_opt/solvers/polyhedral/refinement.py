"""Descents from points of a relaxation, which need not satisfy the rows."""

from __future__ import annotations

import numpy as np

from indefinite_opt.foundation import Array, cached_property
from indefinite_opt.modeling import PolyhedralQP
from indefinite_opt.solvers.polyhedral.descent import ActiveSetDescent, compiled, nearest_point


class Refinement:
    """Local optima of one program near given points.

    Parameters
    ----------
    qp : PolyhedralQP
    """

    def __init__(self, qp: PolyhedralQP) -> None:
        self.qp = qp

    @cached_property
    def _feasible(self) -> Array:
        return self.qp.equilibrated.write(self.qp.start())

    def descended(self, x: Array) -> Array:
        """The end of a descent from the feasible point nearest to x."""
        scaled = self.qp.equilibrated
        z = nearest_point(scaled, scaled.write(np.asarray(x, dtype=np.float64)), self._feasible)
        run = ActiveSetDescent(scaled, z, compiled(scaled))
        run.run()
        return scaled.read(run.end)
