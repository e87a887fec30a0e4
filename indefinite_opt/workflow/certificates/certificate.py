"""What a point proves: the numbers that were measured, and the claim that follows from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from indefinite_opt.errors import ParameterError
from indefinite_opt.foundation import Values
from indefinite_opt.modeling import Formulation
from indefinite_opt.modeling.structures import Curvature
from indefinite_opt.problem import KernelProblem
from indefinite_opt.solvers import Claim
from indefinite_opt.workflow.certificates.proof_document import certificate_document, write_document

__all__ = ["Certificate", "Facts", "claim_of"]

Basis = tuple[KernelProblem, Formulation, Values, Values, object]


@dataclass(frozen=True)
class Facts:
    """All that a claim depends on.

    Attributes
    ----------
    primal : float
        Largest constraint violation.
    consistent : bool
        Whether multipliers that were given have the right signs and satisfy the first-order
        conditions; True where none were given.
    relative_gap : float
        Between the objective and a proved bound; inf without one.
    first_order : bool
        Whether first-order conditions hold, to the tolerance.
    curvature : Curvature
        Of the Hessian on the tangent space; UNKNOWN where it was not examined.
    """

    primal: float
    consistent: bool
    relative_gap: float
    first_order: bool
    curvature: Curvature = Curvature.UNKNOWN


def claim_of(facts: Facts, tol: float) -> Claim:
    """The strongest claim that the facts support; a number that is nan supports none.

    >>> claim_of(Facts(0.0, True, 1e-9, True), tol=1e-6).name
    'GLOBAL'
    >>> claim_of(Facts(0.0, True, np.inf, True, Curvature.POSITIVE), tol=1e-6).name
    'LOCAL'
    """
    if not facts.primal <= tol:
        return Claim.NONE
    if not facts.consistent:
        return Claim.FEASIBLE
    if facts.relative_gap <= tol:
        return Claim.GLOBAL
    if not facts.first_order:
        return Claim.FEASIBLE
    return Claim.LOCAL if facts.curvature.is_nonnegative else Claim.STATIONARY


@dataclass(frozen=True, eq=False)
class Certificate:
    """An honest statement about a point; `print` it.

    Attributes
    ----------
    claim : Claim
        The strongest statement that was proved, to the tolerance `tol`.
    objective : float
        In the declared sense.
    primal_residual : float
        Largest constraint violation, relative to the sizes in the constraint.
    stationarity : float
        Violation of the first-order conditions, in the natural unit of the gradient.
    complementarity : float
        Multipliers times slacks, in the unit of gaps.
    curvature : float
        Smallest eigenvalue of the Hessian on the tangent space of the free and weakly active
        variables; inf where that space is {0}, nan where it was not needed, 0 for linear programs.
    bound : float
        Rigorous bound on the optimal value in the declared sense; infinite if there is none.
    gap, relative_gap : float
        |objective - bound|, and that in the one unit of gaps, max(|objective|, floor); see `gaps`.
        Where constraints are violated a little, the objective of the point that satisfies them
        exactly counts if it is farther from the bound. inf without a bound.
    gap_kind : str
        "duality gap" for convex programs, "global bracket" for others where branch and bound has
        proved a bound. "KKT residual" where no bound is known: then `stationarity` is the only
        number there is, and it is no gap.
    tol : float
        The tolerance of the claim.
    reasons : tuple of str
        Why the claim is what it is.
    multipliers : dict of str to array
        Those that were checked: given, or recovered.
    basis : tuple, optional
        What was certified, for `save`: problem, formulation, values, multipliers, witness.
    """

    claim: Claim
    objective: float
    primal_residual: float
    stationarity: float
    complementarity: float
    curvature: float
    bound: float
    gap: float
    relative_gap: float
    gap_kind: str
    tol: float
    reasons: tuple[str, ...]
    multipliers: Values = field(repr=False)
    basis: Basis | None = field(default=None, repr=False)

    def save(self, path: str | Path) -> Path:
        """Write the proof of the bound to a JSON file that anybody can check.

        `indefinite-opt check-proof FILE`, or `proof_checker.py` without this package, computes the
        bound from it in exact arithmetic. It may differ from `bound` by the rounding that is
        allowed for here.

        Raises
        ------
        ParameterError
            For a nonconvex program without a proved bound, and for programs that are neither
            linear, quadratic nor a Luss dual.
        DataError
            If the file cannot be written.
        """
        if self.basis is None:
            raise ParameterError("certificate", "one made by solve or verify", "one made by hand")
        self.basis[0].check_unchanged()
        return write_document(certificate_document(*self.basis), path)

    @property
    def measure(self) -> float:
        """The number that `gap_kind` names."""
        return self.stationarity if self.gap_kind == "KKT residual" else self.relative_gap

    def __str__(self) -> str:
        meaning = {
            Claim.NONE: "nothing is proved",
            Claim.FEASIBLE: "the point is feasible, nothing more",
            Claim.STATIONARY: "the point is stationary",
            Claim.LOCAL: "the point is a local optimum",
            Claim.GLOBAL: "the point is a global optimum",
        }
        lines = [f"{self.claim.name}: {meaning[self.claim]} (tol {self.tol:g})"]
        lines += [f"  {reason}" for reason in self.reasons]
        lines.append(f"  objective        {self.objective:.10g}")
        if np.isfinite(self.bound):
            lines.append(f"  bound            {self.bound:.10g}")
            lines.append(f"  {self.gap_kind:<16} {self.gap:.2e} (relative {self.relative_gap:.2e})")
        lines.append(f"  constraints      {self.primal_residual:.2e}")
        lines.append(f"  stationarity     {self.stationarity:.2e}")
        lines.append(f"  complementarity  {self.complementarity:.2e}")
        if not np.isnan(self.curvature):
            lines.append(f"  curvature        {self.curvature:.2e}")
        return "\n".join(lines)
