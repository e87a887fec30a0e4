"""Descents from points of a relaxation, which need not satisfy the rows, and rays."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from indefinite_opt.foundation import Array
from indefinite_opt.modeling import PolyhedralQP
from indefinite_opt.modeling.quadratic_programs import Equilibrated, LinearRows
from indefinite_opt.solvers.polyhedral.descent import ActiveSetDescent, compiled, nearest_point
from indefinite_opt.solvers.polyhedral.recession import falling_ray

__all__ = ["Refinement"]


class Refinement:
    """Local optima of one program near given points, and rays along which it is unbounded.

    Parameters
    ----------
    qp : PolyhedralQP
    """

    def __init__(self, qp: PolyhedralQP) -> None:
        self.qp = qp

    @cached_property
    def _scaled(self) -> Equilibrated:
        return Equilibrated(self.qp.P, self.qp.q, self.qp.polyhedron)

    @cached_property
    def _feasible(self) -> Array:
        return self._scaled.write(self.qp.polyhedron.point)

    def ray(self) -> Array | None:
        """A direction along which the objective falls without end; None if none is found."""
        rows = LinearRows(self._scaled)
        found = falling_ray(self._scaled, rows, np.random.default_rng(0))
        return None if found is None else self._scaled.read(found)

    def descended(self, x: Array) -> Array:
        """The end of a descent from the feasible point nearest to x."""
        scaled = self._scaled
        z = nearest_point(scaled, scaled.write(np.asarray(x, dtype=np.float64)), self._feasible)
        run = ActiveSetDescent(scaled, z, compiled(scaled))
        run.run()
        return scaled.read(run.z)
