"""Programs of any objective in which every variable is in at most one equality constraint."""

from __future__ import annotations

import numpy as np

from indefinite_opt.foundation import Array, Values
from indefinite_opt.quadratic.programs.paired_box import FirstOrder, PairedBox
from indefinite_opt.quadratic.programs.program import Optimality, Point, VectorProgram


class PairedProgram(VectorProgram):
    """min F(x) on a `PairedBox`."""

    feasible: PairedBox

    @property
    def line_names(self) -> tuple[str, ...]:
        """Names of the equality constraints in the declared program."""
        return tuple(self.spelling(name).name for name in self.feasible.names)

    @property
    def multiplier_shapes(self) -> dict[str, tuple[int, ...]]:
        box = self.feasible
        bounds = ("lower", "upper") if np.any(np.isfinite(box.upper)) else ("lower",)
        shapes = dict.fromkeys(box.names, ()) | dict.fromkeys(bounds, (box.n,))
        return {self.spelling(name).name: shape for name, shape in shapes.items()}

    def start(self) -> Array:
        return self.feasible.start()

    def multipliers(self, first_order: FirstOrder) -> Values:
        """Multipliers by the names of the declared constraints; none of infinite upper bounds."""
        lines = zip(self.feasible.names, map(np.array, first_order.lines), strict=True)
        bounds = {"lower": first_order.lower}
        if np.any(np.isfinite(self.feasible.upper)):
            bounds["upper"] = first_order.upper
        return self.as_declared(dict(lines) | bounds)

    def optimality(
        self, point: Point[Array], multipliers: Values | None, tol: float = 0.0
    ) -> Optimality:
        box, x, gradient = self.feasible, point.x, point.gradient
        unit = self.gradient_unit(gradient)
        if multipliers is None:
            found = box.first_order(x, gradient, tol)
            paid = box.complementarity(x, found.lower, found.upper)
            declared, reduced = self.multipliers(found), found.reduced
            return Optimality(declared, found.residual / unit, paid, unit, reduced)
        held = self.as_held(multipliers)
        reduced = gradient + box.A.T @ np.array([held[name] for name in box.names])
        upper = held.get("upper", np.zeros(box.n))
        # Those of a bound that no declared constraint states are the ones that fit best.
        lower = held.get("lower", np.maximum(reduced + upper, 0.0))
        residual = float(np.max(np.abs(reduced - lower + upper)))
        paid = box.complementarity(x, lower, held.get("upper"))
        return Optimality(multipliers, residual / unit, paid, unit, reduced)

    def row_terms(self, x: Array, multipliers: Values) -> float:
        box, size, total, held = self.feasible, np.abs(x), 0.0, self.as_held(multipliers)
        if box.names:
            lines = np.abs([held[name] for name in box.names])
            total += float(lines @ (np.abs(box.A) @ size + np.abs(box.b)))
        for name, ends in (("lower", box.lower), ("upper", box.upper)):
            finite = np.where(np.isfinite(ends), np.abs(ends), 0.0) + size
            total += float(np.abs(held.get(name, np.zeros(box.n))) @ finite)
        return total
