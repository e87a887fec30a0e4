"""Guo & Schuurmans' linear program: least worst-case sensitivity to flipped labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from indefinite_opt.algebra import Model, constants
from indefinite_opt.formulations.guo_schuurmans_qp import WeighsSensitivity
from indefinite_opt.foundation import Array
from indefinite_opt.modeling.linear_programs import (
    Columns,
    Entries,
    LinearProgram,
    Rows,
    SensitivityGame,
    SensitivityUnits,
)
from indefinite_opt.problem import KernelProblem, own_sensitivity


@dataclass(frozen=True)
class GuoSchuurmansLP(WeighsSensitivity):
    r"""Linear program (12): the convex upper bound on (9) for any confidence function.

    .. math:: \min_{\alpha,\delta}\ \delta
              \quad\text{s.t.}\quad \delta \ge \sum_k \alpha_k\Delta_{ki}\ \forall i,\
              y^\top\alpha = 0,\ e^\top\alpha = 1,\ 0 \le \alpha \le \bar\beta

    Convex for every Δ, as it is a matrix game on a box. δ ≥ αᵀΔα at every feasible point, so that
    the optimal δ is an upper bound on the least αᵀΔα (Proposition 2); for a kernel, where Δ = 2Q,
    this is twice (4). It bounds (4) itself only if αᵀQα ≥ 0 at the solution.

    Parameters
    ----------
    beta : float, optional
        β̄, at least 1/(2 min(n₊, n₋)).
    relative : float, optional
        β̄ as a multiple of the least feasible one, at least 1; in place of `beta`, by default 1.2.
        It suits every subset of the data.
    sensitivity : (n, n) array, optional
        Sensitivity matrix Δ_ki = c(y_k, y_i | x_k, x_i) - c(ȳ_k, y_i | x_k, x_i); by default that
        of the problem, which is 2Q or `ConfidenceProblem.sensitivity`.
    offset : {"widest", "nearest"}
        Which offset of least training error the classifier has; see `least_error_offset`.

    Notes
    -----
    Dual: max_π min_α αᵀΔπ over the simplex. The inner minimum is found by sorting, so that every
    π ≥ 0 gives a bound, whatever the solver returned. Classifier as in `GuoSchuurmansQP`.

    References
    ----------
    Guo & Schuurmans (2009), (6), (11), (12).

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> print(GuoSchuurmansLP(beta=0.5).declare(problem))
    GuoSchuurmansLP(beta=0.5)
      minimize    δ
      subject to  Δᵀα ≤ δ e  (sensitivity)
                  yᵀα = 0    (balance)
                  eᵀα = 1    (total)
                  0 ≤ α ≤ β̄  (lower, upper)
    >>> round(iopt.solve(problem, GuoSchuurmansLP(beta=0.5)).objective, 12)
    2.0
    """

    reference: ClassVar[str] = "Guo & Schuurmans (2009), (11), (12)"
    structure_type: ClassVar[type] = LinearProgram
    convex: ClassVar[bool | None] = True

    def model(self, problem: KernelProblem) -> Model:
        import cvxpy as cp

        alpha = cp.Variable(problem.n, name="alpha")
        delta = cp.Variable(name="delta")
        game = self._game(problem)
        betabar, Delta, y = constants(betabar=game.beta, Delta=game.Delta(), y=problem.y)
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

    def structure(
        self, problem: KernelProblem, units: SensitivityUnits | None = None
    ) -> LinearProgram:
        """The program in given units, with the rows Δᵀα - δe ≤ 0."""
        n, game = problem.n, self._game(problem)
        units, bounds = units or game.natural_units(), ("lower", "upper")
        sensitivity: dict[str, Entries] = {"alpha": partial(units.transposed, game), "delta": -1.0}
        return LinearProgram(
            {
                "alpha": Columns((n,), lower=0.0, upper=game.beta, constraints=bounds),
                "delta": Columns((), cost=units.scale),
            },
            {
                "sensitivity": Rows((n,), sensitivity, upper=-units.shift),
                "balance": Rows((), {"alpha": problem.y}, lower=0.0, upper=0.0),
                "total": Rows((), {"alpha": 1.0}, lower=1.0, upper=1.0),
            },
            units=units,
            repair=game.repaired,
            least_unit=game.gap_floor,
            slacks={"delta": 0.0},
            source=(GuoSchuurmansLP, problem, self.sensitivity),
            rescale=partial(self._rescaled, problem),
        )

    def _rescaled(self, problem: KernelProblem) -> LinearProgram:
        return self.structure(problem, self._game(problem).units())

    def dual_bound(self, problem: KernelProblem, multipliers: dict[str, Array]) -> float:
        return self._game(problem).bound(multipliers["sensitivity"])

    def _game(self, problem: KernelProblem) -> SensitivityGame:
        Delta = own_sensitivity(problem, self.sensitivity)
        return SensitivityGame(problem, Delta, self._beta(problem))
