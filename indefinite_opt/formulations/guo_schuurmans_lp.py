"""Guo & Schuurmans' linear program: least worst-case sensitivity to flipped labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.box_line import cheapest
from indefinite_opt.classifier import Classifier
from indefinite_opt.confidence import confidence_classifier, own_sensitivity
from indefinite_opt.formulation import Formulation, check_positive, reduced_weight
from indefinite_opt.gaps import CANCELLED
from indefinite_opt.problem import KernelProblem
from indefinite_opt.program import Program, constants
from indefinite_opt.structure import LinearProgram

__all__ = ["GuoSchuurmansLP"]

Array = NDArray[np.float64]


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

    def declare(self, problem: KernelProblem) -> Program:
        import cvxpy as cp

        alpha = cp.Variable(problem.n, name="alpha")
        delta = cp.Variable(name="delta")
        betabar, Delta, y = constants(
            betabar=self._beta(problem), Delta=self._sensitivity(problem), y=problem.y
        )
        return Program(
            name=str(self),
            minimize=delta,
            subject_to={
                "sensitivity": delta >= Delta.T @ alpha,
                "balance": y @ alpha == 0,
                "total": cp.sum(alpha) == 1,
                "lower": alpha >= 0,
                "upper": alpha <= betabar,
            },
            structure=self.structure(problem),
        )

    def structure(self, problem: KernelProblem) -> LinearProgram:
        """x = (α, δ); rows Δᵀα - δe ≤ 0, yᵀα = 0, eᵀα = 1."""
        n, zeros = problem.n, np.zeros(problem.n)
        Delta = own_sensitivity(problem, self.sensitivity)
        if Delta is None:
            spread = 2.0 * problem.spread
        else:
            # Of y_k y_i Δ_ki, as a constant in it is not noticed by balanced weights.
            spread = 0.5 * float(np.ptp(Delta * np.outer(problem.y, problem.y)))
        return LinearProgram(
            cost=np.append(zeros, 1.0),
            lower=np.append(zeros, -np.inf),
            upper=np.append(np.full(n, self._beta(problem)), np.inf),
            row_lower=np.concatenate([np.full(n, -np.inf), [0.0, 1.0]]),
            row_upper=np.concatenate([zeros, [0.0, 1.0]]),
            build_matrix=partial(self._rows, problem),
            key=(GuoSchuurmansLP, id(problem), id(self.sensitivity)),
            read=lambda x: {"alpha": x[:n], "delta": x[n]},
            write=lambda values: np.append(values["alpha"], values["delta"]),
            read_multipliers=_read_multipliers,
            write_multipliers=_write_multipliers,
            gap_floor=CANCELLED * spread,
        )

    def classifier(self, problem: KernelProblem, values: dict[str, Array]) -> Classifier:
        return confidence_classifier(problem, values["alpha"], self.sensitivity)

    def dual_bound(self, problem: KernelProblem, multipliers: dict[str, Array]) -> float:
        """min over α of αᵀΔπ, π the sensitivity multipliers scaled to sum to one."""
        pi = np.maximum(multipliers["sensitivity"], 0.0)
        if not pi.sum() > 0:
            return -np.inf
        pi = pi / pi.sum()
        y, Delta = problem.y, own_sensitivity(problem, self.sensitivity)
        costs = 2.0 * y * (problem.K @ (y * pi)) if Delta is None else Delta @ pi
        classes = (np.sort(costs[y > 0]), np.sort(costs[y < 0]))
        return sum(cheapest(ascending, 0.5, self._beta(problem)) for ascending in classes)

    def _rows(self, problem: KernelProblem) -> Array:
        n = problem.n
        rows = np.empty((n + 2, n + 1))
        rows[:n, :n] = self._sensitivity(problem).T
        rows[:n, n] = -1.0
        rows[n, :n], rows[n + 1, :n] = problem.y, 1.0
        rows[n:, n] = 0.0
        return rows

    def _sensitivity(self, problem: KernelProblem) -> Array:
        Delta = own_sensitivity(problem, self.sensitivity)
        return 2.0 * problem.Q if Delta is None else Delta

    def _beta(self, problem: KernelProblem) -> float:
        return reduced_weight("beta", self.beta, 0.5, problem.smaller_class)


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
