"""Guo & Schuurmans' linear program: least worst-case sensitivity to flipped labels."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.modeling.classifier import Classifier
from indefinite_opt.modeling.formulation import Formulation, check_positive, reduced_weight
from indefinite_opt.modeling.gaps import CANCELLED
from indefinite_opt.modeling.program import Model, constants
from indefinite_opt.modeling.structures.box_line import cheapest, project_line
from indefinite_opt.modeling.structures.quadratic_program import LinearProgram, power_near
from indefinite_opt.problem.confidence_problem import confidence_classifier, own_sensitivity
from indefinite_opt.problem.kernel_problem import KernelProblem

__all__ = ["GuoSchuurmansLP"]

Array = NDArray[np.float64]

_EPS = float(np.finfo(float).eps)

_LEVEL = 8.0
"""Δ is shifted where that makes its largest entry less by this factor."""

_COARSE = 1e-8
"""Relative rounding of the bound beyond which it is computed more finely."""


@dataclass(frozen=True)
class GuoSchuurmansLP(Formulation):
    r"""Linear program (12): the convex upper bound on (9) for any confidence function.

    .. math:: \min_{\alpha,\delta}\ \delta
              \quad\text{s.t.}\quad \delta \ge \sum_k \alpha_k\Delta_{ki}\ \forall i,\
              y^\top\alpha = 0,\ e^\top\alpha = 1,\ 0 \le \alpha \le \bar\beta

    A matrix game on a box; convex for every Δ. δ ≥ αᵀΔα at every feasible point, so that the
    optimal δ is an upper bound on the least αᵀΔα (Proposition 2); for a kernel Δ = 2Q, and that is
    twice (4). On (4) itself it is a bound only where αᵀQα ≥ 0 at the solution.

    Parameters
    ----------
    beta : float, optional
        β̄, at least 1/(2 min(n₊, n₋)); by default five times that, at most 1/2.
    sensitivity : (n, n) array, optional
        Any sensitivity matrix, Δ_ki = c(y_k, y_i | x_k, x_i) - c(ȳ_k, y_i | x_k, x_i), instead
        of the problem's own: 2Q, or `ConfidenceProblem.sensitivity`.

    Notes
    -----
    Dual: max_π min_α αᵀΔπ over the simplex; the inner minimum is a sort, so every π ≥ 0 gives a
    bound that needs no trust in the solver. Classifier as in `GuoSchuurmansQP`.

    References
    ----------
    Guo & Schuurmans (2009), (6), (11), (12).

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> round(iopt.solve(problem, GuoSchuurmansLP(beta=0.5)).objective, 12)
    2.0
    """

    beta: float | None = None
    sensitivity: Array | None = field(default=None, repr=False, compare=False)

    reference: ClassVar[str] = "Guo & Schuurmans (2009), (11), (12)"
    structure_type: ClassVar[type] = LinearProgram
    convex: ClassVar[bool | None] = True

    def __post_init__(self) -> None:
        if self.beta is not None:
            check_positive("beta", self.beta)

    def model(self, problem: KernelProblem) -> Model:
        import cvxpy as cp

        alpha = cp.Variable(problem.n, name="alpha")
        delta = cp.Variable(name="delta")
        betabar, Delta, y = constants(
            betabar=self._beta(problem), Delta=self._sensitivity(problem), y=problem.y
        )
        return Model(
            minimize=delta,
            subject_to={
                "sensitivity": delta >= Delta.T @ alpha,
                "balance": y @ alpha == 0,
                "total": cp.sum(alpha) == 1,
                "lower": alpha >= 0,
                "upper": alpha <= betabar,
            },
        )

    def structure(self, problem: KernelProblem) -> LinearProgram:
        """x = (α, δ); rows Δᵀα - δe ≤ 0, yᵀα = 0, eᵀα = 1."""
        natural = _Units(1.0, np.zeros((2, problem.n)))
        return replace(self._program(problem, natural), rescale=partial(self._rescale, problem))

    def _rescale(self, problem: KernelProblem) -> LinearProgram | None:
        units = _units(self._sensitivity(problem), problem.y)
        natural = not units.level.any() and units.scale == 1.0
        return None if natural else self._program(problem, units)

    def _program(self, problem: KernelProblem, units: _Units) -> LinearProgram:
        n, zeros = problem.n, np.zeros(problem.n)
        return LinearProgram(
            cost=np.append(zeros, units.scale),
            lower=np.append(zeros, -np.inf),
            upper=np.append(np.full(n, self._beta(problem)), np.inf),
            row_lower=np.concatenate([np.full(n, -np.inf), [0.0, 1.0]]),
            row_upper=np.concatenate(
                [zeros - 0.5 * units.level.sum(axis=0) / units.scale, [0.0, 1.0]]
            ),
            build_matrix=partial(self._rows, problem, units),
            key=(GuoSchuurmansLP, id(problem), id(self.sensitivity)),
            read=lambda x: {"alpha": x[:n], "delta": units.scale * x[n]},
            write=lambda values: np.append(values["alpha"], values["delta"] / units.scale),
            read_multipliers=lambda rows, reduced: _read_multipliers(units.restored(rows), reduced),
            write_multipliers=lambda named: units.changed(_write_multipliers(named)),
            repair=partial(self._repaired, problem, units),
            slacks={"delta": 0.0},
            gap_floor=lambda x: self._floor(problem, np.maximum(x[:n], 0.0)),
        )

    def classifier(self, problem: KernelProblem, values: dict[str, Array]) -> Classifier:
        return confidence_classifier(problem, values["alpha"], self.sensitivity)

    def dual_bound(self, problem: KernelProblem, multipliers: dict[str, Array]) -> float:
        """min over α of αᵀΔπ, π the sensitivity multipliers scaled to sum to one.

        Less what rounding may have added.
        """
        pi = np.maximum(multipliers["sensitivity"], 0.0)
        if not pi.max() > 0.0:
            return -np.inf
        pi = pi / pi.max()
        pi = pi / pi.sum()
        y, Delta = problem.y, own_sensitivity(problem, self.sensitivity)
        if Delta is None:
            costs, largest = 2.0 * y * (problem.K @ (y * pi)), 2.0 * problem.largest
        else:
            costs, largest = Delta @ pi, float(np.max(np.abs(Delta)))
        bound, rounding = self._cheapest(problem, costs, largest)
        if rounding > _COARSE * abs(bound):
            # Each class has the weight ½: a row less a constant for each loses half of their sum.
            Delta = self._sensitivity(problem)
            level = _class_means(Delta, y)
            shifted = _less(Delta, level, y)
            largest = float(np.max(np.abs(shifted)))
            constants = 0.5 * level.sum(axis=0) * pi
            fine, error = self._cheapest(problem, shifted @ pi, largest)
            error += 4.0 * (problem.n + 4) * _EPS * float(np.abs(constants).sum())
            fine += float(constants.sum())
            bound, rounding = max(
                (bound, rounding), (fine, error), key=lambda pair: pair[0] - pair[1]
            )
        return bound - rounding - 4.0 * _EPS * abs(bound)

    def _cheapest(
        self, problem: KernelProblem, costs: Array, largest: float
    ) -> tuple[float, float]:
        """min costsᵀα over the feasible α, and what rounding may have added to it.

        To the n products in each cost, of a sum π that is not quite 1, and to the n of the sum.
        """
        y = problem.y
        classes = (np.sort(costs[y > 0]), np.sort(costs[y < 0]))
        bound = sum(cheapest(ascending, 0.5, self._beta(problem)) for ascending in classes)
        return bound, 4.0 * (problem.n + 4) * _EPS * largest

    def _floor(self, problem: KernelProblem, alpha: Array) -> float:
        """`CANCELLED` times Σ_k α_k |y_ky_iΔ_ki - c_i| in the largest row i, c_i the mean.

        Balanced weights do not notice c_i; see `gaps`.
        """
        y, Delta = problem.y, own_sensitivity(problem, self.sensitivity)
        if Delta is None:
            row = int(np.argmax(y * problem.gram.times(y * alpha)))
            terms = 2.0 * problem.K[row]
        else:
            row = int(np.argmax(Delta.T @ alpha))
            terms = y * y[row] * Delta[:, row]
        mean = float(alpha @ terms) / (float(alpha.sum()) or 1.0)
        return CANCELLED * float(alpha @ np.abs(terms - mean))

    def _repaired(self, problem: KernelProblem, units: _Units, x: Array) -> Array:
        """The nearest feasible α with the δ that it needs."""
        n, y = problem.n, problem.y
        alpha = np.empty(n)
        for sign in (1.0, -1.0):
            group = y == sign
            ones = np.ones(int(group.sum()))
            alpha[group] = project_line(x[:n][group], ones, 0.5, self._beta(problem))
        Delta = own_sensitivity(problem, self.sensitivity)
        rows = 2.0 * y * (problem.K @ (y * alpha)) if Delta is None else Delta.T @ alpha
        return np.append(alpha, float(np.max(rows)) / units.scale)

    def _rows(self, problem: KernelProblem, units: _Units) -> Array:
        n = problem.n
        rows = np.empty((n + 2, n + 1))
        Delta = self._sensitivity(problem)
        shifted = _less(Delta, units.level, problem.y) if units.level.any() else Delta
        np.divide(shifted.T, units.scale, out=rows[:n, :n])
        rows[:n, n] = -1.0
        rows[n, :n], rows[n + 1, :n] = problem.y, 1.0
        rows[n:, n] = 0.0
        return rows

    def _sensitivity(self, problem: KernelProblem) -> Array:
        Delta = own_sensitivity(problem, self.sensitivity)
        return 2.0 * problem.Q if Delta is None else Delta

    def _beta(self, problem: KernelProblem) -> float:
        return reduced_weight("beta", self.beta, 0.5, problem.smaller_class)


@dataclass(frozen=True, eq=False)
class _Units:
    """δ = scale·δ', and (Δ_ki - level of the class of k in row i)/scale in the place of Δ_ki.

    Every feasible α has the weight ½ in each class, so that row i loses half the sum of its levels.
    """

    scale: float
    level: Array

    def restored(self, rows: Array) -> Array:
        """Multipliers of the rows Δᵀα - δe ≤ 0, yᵀα = 0, eᵀα = 1."""
        return self._moved(np.append(rows[:-2] / self.scale, rows[-2:]), -rows[:-2] / self.scale)

    def changed(self, rows: Array) -> Array:
        """Multipliers in these units."""
        return self._moved(np.append(rows[:-2] * self.scale, rows[-2:]), rows[:-2])

    def _moved(self, rows: Array, weights: Array) -> Array:
        plus, minus = self.level @ weights
        rows[-2:] += 0.5 * (plus - minus), 0.5 * (plus + minus)
        return rows


def _class_means(Delta: Array, y: Array) -> Array:
    """Mean of Δ_ki over the k of each class, (2, n)."""
    return np.array([Delta[y > 0].mean(axis=0), Delta[y < 0].mean(axis=0)])


def _less(Delta: Array, level: Array, y: Array) -> Array:
    """Δ_ki less the level of the class of k in row i, a new array."""
    return Delta - level[(y < 0).astype(int)]


def _units(Delta: Array, y: Array) -> _Units:
    """Units in which entries are at most about 1; with a level where that makes Δ far smaller."""
    level = _class_means(Delta, y)
    largest, spread = float(np.max(np.abs(Delta))), float(np.max(np.abs(_less(Delta, level, y))))
    # Rounding of a constant is no spread.
    if not y.size * _EPS * largest < spread < largest / _LEVEL:
        level, spread = np.zeros_like(level), largest
    return _Units(float(power_near(np.array(spread))), level)


def _read_multipliers(rows: Array, reduced: Array) -> dict[str, Array]:
    # A row Δᵀα - δe ≤ 0 has a nonpositive multiplier in the solver's convention.
    n = rows.size - 2
    return {
        "sensitivity": np.maximum(-rows[:n], 0.0),
        "balance": -rows[n],
        "total": -rows[n + 1],
        "lower": np.maximum(reduced[:n], 0.0),
        "upper": np.maximum(-reduced[:n], 0.0),
    }


def _write_multipliers(named: dict[str, Array]) -> Array:
    return -np.concatenate([named["sensitivity"], [named["balance"], named["total"]]])
