"""Guo & Schuurmans' linear program: least worst-case sensitivity to flipped labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Definition, Model
from indefinite_opt.formulations.guo_schuurmans_qp import WeighsSensitivity
from indefinite_opt.problem import KernelProblem, own_sensitivity


@dataclass(frozen=True)
class GuoSchuurmansLP(WeighsSensitivity):
    r"""Linear program (12): the convex upper bound on (9) for any confidence function.

    .. math:: \min_{\alpha,\delta}\ \delta
              \quad\text{s.t.}\quad \delta \ge \sum_k \alpha_k\Delta_{ki}\ \forall i,
              \ y^\top\alpha = 0,\ e^\top\alpha = 1,\ 0 \le \alpha \le \bar\beta

    Convex for every Δ, as it is a matrix game on a box. δ ≥ αᵀΔα at every feasible point, so that
    the optimal δ is an upper bound on the least αᵀΔα (Proposition 2); for a kernel, where Δ = 2Q,
    this is twice (4). It bounds (4) itself only if αᵀQα ≥ 0 at the solution.

    Parameters
    ----------
    beta : float, optional
        β̄, at least 1/(2 min(n₊, n₋)).
    relative : float, optional
        β̄ as a multiple of the least feasible β̄, at least 1, instead of `beta`; 1.2 by default. It
        suits every subset of the data.
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
      where       Δ = 2Q
      with        α ∈ R², δ ∈ R, Δ ∈ R^(2×2), y ∈ R², β̄ = ½
      solved as   a linear program, by highs
    >>> round(iopt.solve(problem, GuoSchuurmansLP(beta=0.5)).objective, 12)
    2.0
    """

    reference: ClassVar[str] = "Guo & Schuurmans (2009), (11), (12)"

    def model(self, problem: KernelProblem) -> Model:
        alpha = cp.Variable(problem.n, name="alpha")
        delta = cp.Variable(name="delta")
        Q, y, betabar = problem.symbols("Q", "y", betabar=self._beta(problem))
        given = own_sensitivity(problem, self.sensitivity)
        (Delta,) = problem.symbols(Delta=2.0 * Q.value if given is None else given)
        sensitivity = Definition("Δ = 2Q", r"\Delta = 2Q", ("Q",))
        if given is not None:
            sensitivity = Definition(
                "Δ_ki = c(y_k, y_i | x_k, x_i) - c(-y_k, y_i | x_k, x_i)",
                r"\Delta_{ki} = c(y_k, y_i | x_k, x_i) - c(-y_k, y_i | x_k, x_i)",
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
            meanings={"delta": "largest sensitivity"},
            where=(sensitivity,),
            classifier=self._least_error(problem),
        )
