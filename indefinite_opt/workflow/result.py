"""The answer to one problem with one formulation."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from indefinite_opt.foundation import Values
from indefinite_opt.modeling import Classifier, Formulation
from indefinite_opt.problem import KernelProblem
from indefinite_opt.solvers import Optimum, Status, Trace
from indefinite_opt.workflow.certificates.certificate import Certificate
from indefinite_opt.workflow.certificates.verification import certify

__all__ = ["Result"]


@dataclass(frozen=True)
class Evidence:
    """What the certificate of a result is computed from, beside its values.

    Attributes
    ----------
    multipliers : dict of str to array, or None
        None where the certificate computes its own.
    witness : object
        What the solver's bound is computed from again; see `Solution.witness`.
    tol : float
    time_limit : float
        Seconds for the certificate.
    """

    multipliers: Values | None
    witness: object
    tol: float
    time_limit: float


@dataclass(frozen=True, eq=False)
class Result:
    """The answer to one problem with one formulation; see `solve`.

    It can be pickled: a process that loads it predicts and certifies as this one does.

    Attributes
    ----------
    problem : KernelProblem
    formulation : Formulation
    values, multipliers : dict of str to array
        Declared variables, and one multiplier per declared constraint.
    objective : float
        In the formulation's own sense, as declared.
    status : Status
    solver : str
    seconds : float
        The whole call, from checking to reading back.
    residual : float
        KKT residual in the natural unit of the gradient (for a linear program: the duality gap, or
        the violation of a constraint if that is more).
    iterations : int
    trace : Trace
    message : str
        The solver's own words, if any.
    optima : tuple of Optimum
        The different ends of a search from several starts, the best first; see `Optimum`.
    """

    problem: KernelProblem = field(repr=False)
    formulation: Formulation
    values: Values
    multipliers: Values
    objective: float
    status: Status
    solver: str
    seconds: float
    residual: float
    iterations: int
    trace: Trace
    message: str
    optima: tuple[Optimum, ...] = field(repr=False)
    evidence: Evidence = field(repr=False)

    @cached_property
    def classifier(self) -> Classifier:
        """The classifier these values define."""
        return self.formulation.classifier(self.problem, self.values)

    @cached_property
    def certificate(self) -> Certificate:
        """What these values prove; computed when first read."""
        return certify(
            self.problem,
            self.formulation,
            self.values,
            self.evidence.multipliers,
            self.evidence.tol,
            witness=self.evidence.witness,
            time_limit=self.evidence.time_limit,
        )

    def __repr__(self) -> str:
        return (
            f"Result({self.formulation}, objective={self.objective:.6g}, status={self.status}, "
            f"solver={self.solver!r}, seconds={self.seconds:.3g})"
        )
