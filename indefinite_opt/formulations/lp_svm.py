"""The linear programming support vector machine, for any matrix as kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from indefinite_opt.algebra import Model, constants
from indefinite_opt.foundation import Array, checks
from indefinite_opt.modeling import Classifier, Formulation, parameter
from indefinite_opt.modeling.linear_programs import (
    Columns,
    DualUnits,
    Entries,
    KernelUnits,
    LinearProgram,
    OneNormMachine,
    Rows,
)
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class LPSVM(Formulation):
    r"""Linear programming SVM (generalised SVM with a 1-norm).

    .. math:: \min_{u,b,\xi}\ \|u\|_1 + C e^\top\xi
              \quad\text{s.t.}\quad y \circ (Ku + be) \ge e - \xi,\ \xi \ge 0

    Convex for every kernel. u is the coefficient vector itself, of either sign, and sparse.

    Parameters
    ----------
    C : float
        Price of the slacks.

    Notes
    -----
    Dual: max eᵀλ s.t. |Kᵀ(y∘λ)| ≤ e, yᵀλ = 0, 0 ≤ λ ≤ C. Any λ is clipped, balanced and
    scaled to be feasible, so that the bound holds whatever the solver returned.

    References
    ----------
    Mangasarian (1999), generalised support vector machines; compared by Loosli, Ong & Canu (2013),
    section 6.1.2.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> print(LPSVM(C=10.0).declare(problem))
    LPSVM(C=10)
      minimize    ‖u‖₁ + C eᵀξ
      subject to  y∘(Ku + b e) ≥ e - ξ  (margin)
                  ξ ≥ 0                 (slack)
    >>> round(iopt.solve(problem, LPSVM(C=10.0)).objective, 12)
    1.0
    """

    C: float = parameter(1.0, checks.weight_bound)

    reference: ClassVar[str] = "Mangasarian (1999); Loosli, Ong & Canu (2013), section 6.1.2"
    structure_type: ClassVar[type] = LinearProgram
    convex: ClassVar[bool | None] = True

    def model(self, problem: KernelProblem) -> Model:
        import cvxpy as cp

        u = cp.Variable(problem.n, name="u")
        b = cp.Variable(name="b")
        xi = cp.Variable(problem.n, name="xi")
        C, K, y = constants(C=self.C, K=problem.K, y=problem.y)
        return Model(
            minimize=cp.norm1(u) + C * cp.sum(xi),
            subject_to={"margin": cp.multiply(y, K @ u + b) >= 1 - xi, "slack": xi >= 0},
        )

    def structure(self, problem: KernelProblem, units: KernelUnits | None = None) -> LinearProgram:
        """The program in given units; u is the difference of two nonnegative columns."""
        n, y, machine = problem.n, problem.y, self._machine(problem)
        units = units or machine.natural_units()
        kernel = partial(units.signed_kernel, problem)
        margins: dict[str, Entries] = {"u": kernel, "b": y, "xi": 1.0}
        slack = Columns((n,), cost=self.C, lower=0.0, constraints=("slack", None))
        return LinearProgram(
            {"u": Columns((n,), units.scale, absolute=True), "b": Columns(()), "xi": slack},
            {"margin": Rows((n,), margins, lower=1.0)},
            units=units,
            repair=machine.repaired,
            slacks={"xi": 1.0},
            source=(LPSVM, problem),
            dual=partial(self._dual, problem, units),
            rescale=partial(self._rescaled, problem),
        )

    def _rescaled(self, problem: KernelProblem) -> LinearProgram:
        return self.structure(problem, self._machine(problem).units())

    def _dual(self, problem: KernelProblem, units: KernelUnits) -> LinearProgram:
        """max eᵀλ s.t. |Kᵀ(y∘λ)| ≤ e, yᵀλ = 0, 0 ≤ λ ≤ C; its multipliers are u, b and ξ."""
        n, e = problem.n, units.scale
        return LinearProgram(
            {"margin": Columns((n,), -1.0, lower=0.0, upper=self.C, constraints=(None, "xi"))},
            {
                "u": Rows((n,), {"margin": lambda: units.signed_kernel(problem).T}, -e, e),
                "b": Rows((), {"margin": problem.y}, lower=0.0, upper=0.0),
            },
            units=DualUnits(units),
        )

    def classifier(self, problem: KernelProblem, values: dict[str, Array]) -> Classifier:
        return Classifier(values["u"], float(values["b"]), problem.classes)

    def dual_bound(self, problem: KernelProblem, multipliers: dict[str, Array]) -> float:
        return self._machine(problem).bound(multipliers["margin"])

    def _machine(self, problem: KernelProblem) -> OneNormMachine:
        return OneNormMachine(problem, self.C)
