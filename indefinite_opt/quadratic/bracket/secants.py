"""The linear programs that secants make of a concave separable program, box after box."""

from __future__ import annotations

import numpy as np

from indefinite_opt.foundation import Array
from indefinite_opt.quadratic.bracket.scaled_box import BoxQuadratic
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.rows.to_highs import (
    change_costs,
    highs_model,
    run_within,
    simplex_limit,
)

FAR = 1e6
"""How far above the values of f, in units of their size, a tangent proves that a box is empty."""


class SecantProgram:
    """min over a box and the rows of the secants of a concave separable f.

    In [l, u] the term ½hx² + cx is at least its secant, of slope c + ½h(l + u) (Falk & Soland
    1969). The simplex method goes on from the basis of the box before, so that an instance belongs
    to one thread.

    Parameters
    ----------
    whole : BoxQuadratic
        Concave and separable; the variables of the linear programs are shares of its intervals.
    """

    @np.errstate(over="ignore", invalid="ignore")
    def __init__(self, whole: BoxQuadratic) -> None:
        from scipy.sparse import csr_array

        self.whole, width = whole, whole.upper - whole.lower
        self.width = np.where(width > 0.0, width, 1.0)
        rows = whole.rows * self.width
        lengths = np.abs(rows).max(axis=1, initial=0.0)
        self.lengths = np.where(lengths > 0.0, lengths, 1.0)
        self.rows = rows / self.lengths[:, None]
        self.rhs = (whole.rhs - whole.rows @ whole.lower) / self.lengths
        reach = np.maximum(np.abs(whole.lower), np.abs(whole.upper))
        self.size = whole.size(reach) or 1.0
        ends = np.zeros(whole.n)
        form = StandardForm(1, ends, ends, ends, self.rhs, self.rhs, csr_array(self.rows))
        self._highs, self._indices = highs_model(form), np.arange(whole.n, dtype=np.int32)
        self._highs.setOptionValue("presolve", "off")

    @np.errstate(over="ignore", invalid="ignore")
    def solve(self, lower: Array, upper: Array) -> tuple[Array, Array] | None:
        """A vertex x, (n,), and multipliers ν of the rows, (k,), for `ScaledBox.tangent`.

        Where no point of the box is on the rows, x is the middle of the box, and with ν the tangent
        is far above all values of f. None if HiGHS finds neither multipliers nor a ray of them, or
        these overflow.
        """
        import highspy

        whole, highs = self.whole, self._highs
        low, high = (lower - whole.lower) / self.width, (upper - whole.lower) / self.width
        cost = (whole.c + 0.5 * np.diagonal(whole.H) * (lower + upper)) * self.width
        unit = float(np.abs(cost).max()) or 1.0
        if not np.isfinite(unit):
            return None
        change_costs(highs, cost / unit)
        highs.changeColsBounds(whole.n, self._indices, low, high)
        status = run_within(highs, np.inf, simplex_limit(whole.n + self.rhs.size))
        x, multipliers, scale = 0.5 * (lower + upper), np.full(self.rhs.size, np.nan), unit
        if status == highspy.HighsModelStatus.kOptimal:
            solution = highs.getSolution()
            x = whole.lower + self.width * np.array(solution.col_value)
            multipliers = np.array(solution.row_dual)
        elif status == highspy.HighsModelStatus.kInfeasible:
            _, known, ray = highs.getDualRay()
            multipliers = np.array(ray) if known else multipliers
            pulls = multipliers @ self.rows
            steepness = float(multipliers @ self.rhs - np.maximum(pulls * low, pulls * high).sum())
            scale = FAR * self.size / steepness if steepness > 0.0 else np.nan
        nu = -scale * multipliers / self.lengths
        return (x, nu) if np.isfinite(nu).all() else None
