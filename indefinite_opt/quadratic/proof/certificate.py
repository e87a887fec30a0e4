"""Answers and certificates: what is measured about a point, and the claim that follows."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from indefinite_opt.errors import ParameterError
from indefinite_opt.foundation import Values, html_card
from indefinite_opt.quadratic.programs.claim import Claim
from indefinite_opt.quadratic.programs.declaration import Declaration
from indefinite_opt.quadratic.programs.gaps import at_most, gap_and_share
from indefinite_opt.quadratic.programs.problem import Problem
from indefinite_opt.quadratic.programs.program import (
    Curvature,
    LowerBound,
    Optimality,
    Point,
)
from indefinite_opt.quadratic.proof.proof_document import certificate_document, write_document

Basis = tuple[Problem, Declaration, Values, Values, object]


ROUNDING = 1e-12
"""Largest `primal_residual` that is printed without what the point misses."""

_NO_BOUND = LowerBound(-math.inf)


@dataclass(eq=False)
class Answer:
    """A point, and all that is measured about it.

    `solve`, `verify` and `bound` fill it step by step, each as far as it needs, and the certificate
    reads it: what is in it is not computed again. All numbers are those of one program, `tol` and
    `atol`. `workflow.certificates.measurement` has a function for each step.
    """

    point: Point[Any]
    came: Values = field(default_factory=dict)
    """Multipliers that came with the point; empty if there were none."""
    given: bool = False
    """Whether these multipliers are part of what is certified."""

    primal: float = math.inf
    """How far the nearest feasible point is, or the largest violation of a constraint."""
    near: Point[Any] = field(init=False)
    """A feasible point nearby; the point itself if none is known."""
    error: float = math.nan
    """By how much F at an exactly feasible point may differ from F there; nan before one is
    sought."""

    optimality: Optimality = field(default_factory=lambda: Optimality({}, math.inf, math.inf))
    """The first-order conditions."""
    examined: bool | None = None
    """Whether the first-order conditions were examined in time; None before they are."""
    consistent: bool = True
    """Whether any given multipliers have the right signs and satisfy the first-order conditions."""
    first_order: bool = False
    """Whether the first-order conditions hold within the tolerance."""
    complementarity: float = math.inf
    """Multipliers times slacks, or what F changes by at the feasible point if that is more, in the
    unit of gaps."""
    recovered: Values | None = None
    """Multipliers that are recovered at the point, on which R is based; those that came with the
    point may have any size. None before they are needed."""

    convex: bool | None = None
    """None if convexity could not be decided in time, or is not examined yet."""
    bound: LowerBound = _NO_BOUND
    """The bound that leaves the least gap."""
    complete: bool = False
    """Whether no further bound on a convex F is known that might close the gap."""
    gap: float = math.inf
    relative_gap: float = math.inf
    """The gap to the bound, and the same in the unit of gaps; infinite without a bound."""
    closed: bool = False
    """Whether the gap is within a tolerance, or value and bound are 0 up to rounding."""
    zero_range: float = 0.0
    """R if the gap is closed only as value and bound are 0 up to rounding, else 0."""
    nodes: int | None = None
    """How many boxes branch and bound has bounded; None if it was not tried."""
    better: float = math.inf
    """The least F that it has found."""
    lagrangian: float = math.nan
    """The bound of the Lagrangian dual of a nonconvex F; nan if it was not computed."""
    proof: object = None
    """The proof of its bound; None if it was not tried, or if that would take too much memory."""
    open: float = 0.0
    """What `solve` takes for the relative gap of a convex program with rows: that of a bound if no
    linear program is needed to know the ranges of the variables, or if the optimal value is about
    0; otherwise the larger of stationarity and relative complementarity. For others it is 0."""

    curvature: Curvature = Curvature.UNKNOWN
    """The sign of the Hessian on the tangent space."""
    least_curvature: float = math.nan
    """Least eigenvalue of the Hessian along the directions of `curvature`; nan if none."""
    weak: int = 0
    """How many of the variables that may move are at a bound."""
    curvature_late: bool = False
    """Whether there was no time for curvature."""

    def __post_init__(self) -> None:
        self.near = self.point

    def for_another_tol(self, came: Values) -> Answer:
        """What depends on no tolerance, with these multipliers."""
        answer = Answer(self.point, came, self.given, self.primal, convex=self.convex)
        answer.near, answer.error = self.near, self.error
        return answer

    @property
    def gap_kind(self) -> str:
        """Which measure of optimality there is; see `Certificate`."""
        if self.convex or self.bound.why is not None:
            return "duality gap"
        bounded = self.nodes is not None and math.isfinite(self.bound.value)
        return "global bracket" if bounded else "KKT residual"


def claim_of(answer: Answer, tol: float) -> Claim:
    """The strongest claim that an answer supports; a nan supports none.

    >>> point = Point(np.zeros(1), 0.0, np.zeros(1))
    >>> claim_of(Answer(point, primal=0.0, closed=True), tol=1e-6).name
    'GLOBAL'
    >>> local = Answer(point, primal=0.0, first_order=True, curvature=Curvature.POSITIVE)
    >>> claim_of(local, tol=1e-6).name
    'LOCAL'
    """
    if not answer.primal <= tol:
        return Claim.NONE
    if not answer.consistent:
        return Claim.FEASIBLE
    if answer.closed:
        return Claim.GLOBAL
    if not answer.first_order:
        return Claim.FEASIBLE
    return Claim.LOCAL if answer.curvature.is_nonnegative else Claim.STATIONARY


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is proved about a point; `print` it.

    Attributes
    ----------
    claim : Claim
        The strongest statement that was proved within the tolerance `tol`.
    objective : float
        In the declared sense.
    primal_residual : float
        How far the nearest point is that is proved to satisfy all constraints: the largest move of
        an entry, relative to the smaller of its range and the largest entry of the variable as
        declared. A variable that is 0 moves by the rounding of its rows at most, and that move is
        relative to the size that its rows and bounds give it. inf if no such point is proved. In
        programs without such points it is the largest violation of a constraint, relative to its
        terms.
    stationarity : float
        Violation of the first-order conditions, in the natural unit of the gradient.
    complementarity : float
        Multipliers times slacks, and multipliers times violations of rows, in the unit of gaps.
    curvature : float
        Smallest eigenvalue of the Hessian on the tangent space of the free and weakly active
        variables; inf if that space is {0}, nan if it was not needed, 0 for linear programs. For a
        `QuadraticProgram` whose variables differ in scale it is in units that make its rows similar
        in size.
    bound : float
        Rigorous bound on the optimal value in the declared sense; infinite if there is none. For
        a linear kernel it may be a bound for the exact inner products of the points, which the
        kernel matrix holds in rounded form; the reasons say so.
    gap, relative_gap : float
        |objective - bound|, and its ratio to min(|f|, |f₀|), the smaller one of the objective with
        and without its constants. The objective of a nearby point that satisfies the constraints
        exactly, moved by its rounding, is used if that is farther from the bound. inf without a
        bound; the ratio is inf, too, where the smaller one is 0.
    gap_kind : str
        "duality gap" for convex programs, and for those that are so slightly nonconvex that the
        dual bound can allow for it; "global bracket" for others if branch and bound has proved a
        bound, else "KKT residual": then `stationarity` is the only measure, and it is not a gap.
    tol, atol : float
        The tolerances of the claim: a gap is closed if it is at most tol · min(|f|, |f₀|), or at
        most atol.
    zero_range : float
        R if objective and bound lie in [-R, R], so that both are 0 up to rounding; else 0.
    reasons : tuple of str
        The reasons for the claim, as sentences.
    multipliers : dict of str to array
        The multipliers that were checked, given or recovered.
    missed, moved, change : float
        The largest violation of a constraint, the largest move to the point that satisfies all of
        them, and by how much its objective is larger; nan where they are not known.
    basis : tuple, optional
        Problem, formulation, values, multipliers and witness, from which `save` makes the proof.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> certificate = iopt.verify(problem, iopt.SVMDual(C=1.0), {"alpha": [0.5, 0.5]})
    >>> certificate.claim.name, certificate.objective, certificate.gap_kind
    ('GLOBAL', 0.5, 'duality gap')
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
    atol: float = 0.0
    zero_range: float = 0.0
    missed: float = math.nan
    moved: float = math.nan
    change: float = math.nan

    def save(self, path: str | Path) -> Path:
        """Write the proof of the bound to a JSON file that can be checked independently.

        `indefinite-opt check-proof FILE`, or `proof_checker.py` without this package, computes the
        bound from it in exact arithmetic. It may differ from `bound`, which allows for rounding.
        For a linear kernel `bound` may also be about the exact inner products of the points,
        whereas the file holds the kernel matrix.

        Raises
        ------
        ParameterError
            If a nonconvex program has no bound of branch and bound, or the program is neither
            linear nor quadratic nor a Luss dual.
        DataError
            If the file cannot be written.
        """
        if self.basis is None:
            raise ParameterError(
                "certificate", "a certificate made by solve or verify", "one made by hand"
            )
        return write_document(certificate_document(*self.basis), path)

    @property
    def proved_within(self) -> float:
        """The relative gap to a proved bound of a feasible point; inf if there is none.

        0 where the optimal value is 0 up to rounding.
        """
        if self.zero_range > 0.0:
            return 0.0
        return self.relative_gap if self.claim > Claim.NONE else math.inf

    @property
    def measure(self) -> float:
        """The number that `gap_kind` names: `stationarity`, or the relative gap.

        0 where the optimal value is 0 up to rounding.
        """
        if self.gap_kind == "KKT residual":
            return self.stationarity
        return 0.0 if self.zero_range > 0.0 else self.relative_gap

    def __getstate__(self) -> dict[str, Any]:
        if self.basis is None:
            return self.__dict__
        return self.__dict__ | {"basis": (self.basis[0].without_matrix(), *self.basis[1:])}

    def __repr__(self) -> str:
        residual = self.gap_kind == "KKT residual"
        measure = f"{self.stationarity:.2e}" if residual else self._gap
        return (
            f"Certificate({self.claim.name}, objective={self.objective:.6g}, "
            f"{self.gap_kind} {measure}, tol={self.tol:g})"
        )

    def _repr_html_(self) -> str:
        return html_card(self.headline, self._rows, " ".join(self.reasons))

    @property
    def _rows(self) -> list[tuple[str, str]]:
        """The numbers, each with its name."""
        rows = [("objective", f"{self.objective + 0.0:.10g}")]  # no -0
        if np.isfinite(self.bound):
            rows += [("bound", f"{self.bound:.10g}"), (self.gap_kind, self._gap)]
        rows.append(("constraints", f"{self.primal_residual:.2e}{self._repair}"))
        for name in ("stationarity", "complementarity", "curvature"):
            if np.isfinite(getattr(self, name)):  # others are not known, or not needed
                rows.append((name, f"{getattr(self, name):.2e}"))
        return rows

    @property
    def _repair(self) -> str:
        """What the point misses, and what it costs to satisfy all constraints."""
        if self.primal_residual <= ROUNDING:
            return ""
        parts = {"missed by": self.missed, "moved by": self.moved, "objective by": self.change}
        known = [f"{words} {size:.2e}" for words, size in parts.items() if np.isfinite(size)]
        return f" ({', '.join(known)})" if known else ""

    @property
    def _gap(self) -> str:
        zero = f"{self.gap:.2e} (0 up to rounding)"
        return zero if self.zero_range > 0.0 else gap_and_share(self.gap, self.relative_gap)

    @property
    def headline(self) -> str:
        """The claim in one sentence."""
        meaning = {
            Claim.NONE: "nothing is proved",
            Claim.FEASIBLE: "the point is feasible, nothing more",
            Claim.STATIONARY: "the point is stationary",
            Claim.LOCAL: "the point is a local optimum",
            Claim.GLOBAL: "the point is a global optimum",
        }
        within = ""
        if Claim.NONE < self.claim < Claim.GLOBAL and self.proved_within <= 0.9:
            within = f", proved within {at_most(self.proved_within)}"
        if self.zero_range > 0.0 and self.claim is Claim.GLOBAL:
            meaning[Claim.GLOBAL] += ", with the value 0 up to rounding"
        tolerances = f"tol {self.tol:g}" + (f", atol {self.atol:g}" if self.atol else "")
        return f"{self.claim.name}{within}: {meaning[self.claim]} ({tolerances})"

    def __str__(self) -> str:
        lines = [self.headline]
        for reason in self.reasons:
            lines += _wrapped(f"  {reason}", 4)
        for name, value in self._rows:
            lines += _wrapped(f"  {name:<16} {value}", 19)
        return "\n".join(lines)


def _wrapped(text: str, indent: int) -> list[str]:
    """The text in lines of 80 columns at most, where spaces allow that; the others are indented."""
    return textwrap.wrap(
        text, 80, subsequent_indent=" " * indent, drop_whitespace=True, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
