"""Programs with a margin and a slack for every point, whose duals solvers lift."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from indefinite_opt.foundation import Array, Values
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import ExplicitProgram, PairedQP

no_warnings = np.errstate(over="ignore", invalid="ignore")
"""Sums that overflow lead to no claim: values are then nan, and residuals infinite."""


class MarginProgram(ExplicitProgram):
    """min R(w) + penalty·Σξ_i  s.t.  excess_i(w) + ξ_i ≥ 0,  ξ ≥ 0, for an affine excess.

    w are all variables but ξ. The multipliers are α of the margins and η of ξ ≥ 0; at a stationary
    point α + η = penalty, and the gradient of R is a linear combination of those of the margins.
    """

    penalty_name: ClassVar[str] = "C"
    near_margin: ClassVar[float] = 1e-6
    """Distance of a margin from equality, in its unit, that counts as zero when multipliers are
    recovered: the default tolerance of certificates."""
    problem: KernelProblem

    @property
    def penalty(self) -> float:
        """The penalty of the slacks."""
        return float(getattr(self, self.penalty_name))

    @property
    @abstractmethod
    def dual(self) -> PairedQP:
        """The program in α whose stationary points lift to stationary points of this one."""

    @abstractmethod
    def lifted(self, alpha: Array) -> tuple[dict[str, Array], dict[str, Array]]:
        """A point and multipliers from weights of `dual`."""

    @abstractmethod
    def regulariser(self, values: Values) -> float:
        """R, the part of the objective without the slacks."""

    @abstractmethod
    def excess(self, values: Values) -> Array:
        """By how much each margin exceeds what is asked of it without slack, (n,)."""

    @abstractmethod
    def rounding(self, values: Values) -> Array:
        """Bound on the rounding of each excess, (n,)."""

    @abstractmethod
    def equations(self, values: Values) -> tuple[Array, Array, Array, Array]:
        """Columns and right-hand side of α in ∇R, (k, n) and (k,), and in the equations of α."""

    def margin_unit(self, values: Values) -> float:
        """The size relative to which margins and slacks are judged: 1, the margin."""
        return 1.0

    @no_warnings
    def value(self, values: Values) -> float:
        """R + penalty·Σξ."""
        value = self.regulariser(values) + self.penalty * float(values["xi"].sum())
        return value if np.isfinite(value) else np.nan

    @no_warnings
    def infeasibility(self, values: Values) -> float:
        """Largest possible shortfall of a slack, including rounding, relative to its size."""
        unit = self.margin_unit(values)
        needed = np.maximum(self.rounding(values) - self.excess(values), 0.0)
        violation = float(np.max((needed - values["xi"]) / np.maximum(needed, unit)))
        return max(violation, 0.0) if np.isfinite(violation) else np.inf

    @no_warnings
    def repaired(self, values: Values) -> dict[str, Array]:
        return {**values, "xi": np.maximum(values["xi"], np.maximum(-self.excess(values), 0.0))}

    @no_warnings
    def complementarity(self, values: Values, multipliers: Values) -> float:
        """Σ |α_i| |excess_i + ξ_i| + |η_i| |ξ_i|."""
        xi = values["xi"]
        paid = np.abs(multipliers["margin"]) @ np.abs(self.excess(values) + xi)
        total = float(paid + np.abs(multipliers["slack"]) @ np.abs(xi))
        return total if np.isfinite(total) else np.inf

    def multipliers(self, values: Values) -> dict[str, Array]:
        """α and η = penalty - α, recovered from w by `expansion`."""
        return self.split(self.expansion(values))

    def split(self, alpha: Array) -> dict[str, Array]:
        """α and η = penalty - α by the names of the constraints."""
        return {"margin": alpha, "slack": self.penalty - alpha}

    @no_warnings
    def expansion(self, values: Values) -> Array:
        """α with 0 ≤ α ≤ penalty, complementary to the slacks, that satisfies `equations` best.

        Points beyond their margin get 0 and points with slack the penalty; the others solve a
        bounded least squares problem that includes the equations of α.
        """
        from scipy.optimize import lsq_linear

        excess, small = self.excess(values), self.near_margin * self.margin_unit(values)
        free = np.abs(excess) <= small
        alpha = np.where((excess < 0.0) & ~free, self.penalty, 0.0)
        if not free.any():
            return alpha
        columns, target, rows, sums = self.equations(values)
        weight = float(np.max(np.abs(columns), initial=0.0)) or 1.0
        system = np.vstack([columns, weight * rows])
        wanted = np.concatenate([target, weight * sums]) - system @ alpha
        if np.all(np.isfinite(wanted)):
            bounds = (0.0, self.penalty)
            alpha[free] = lsq_linear(system[:, free], wanted, bounds=bounds, method="bvls").x
        return alpha
