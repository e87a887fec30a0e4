"""The result of solving a problem with a formulation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from indefinite_opt.foundation import Values, cached_property, html_card
from indefinite_opt.modeling import Classifier, Formulation
from indefinite_opt.problem import Problem
from indefinite_opt.solvers import Optimum, Status, Trace
from indefinite_opt.workflow.certificates.certificate import Certificate
from indefinite_opt.workflow.certificates.verification import certify

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Result"]


@dataclass(frozen=True)
class Evidence:
    """What the certificate of a result is computed from, besides its values.

    Attributes
    ----------
    multipliers : dict of str to array, or None
        None if the certificate computes its own.
    witness : object
        Data from which the solver's bound is computed again; see `Solution.witness`.
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
    """The result of solving a problem with a formulation; see `solve`.

    It can be pickled; another process that loads it can predict and certify.

    Attributes
    ----------
    problem : KernelProblem or QuadraticProgram
    formulation : Formulation
        The quadratic program itself, if that is what was solved.
    values, multipliers : dict of str to array
        One entry per declared variable, and one per declared constraint.
    objective : float
        In the declared sense.
    status : Status
    solver : str
    seconds : float
        Duration of the whole call, with checks of the arguments.
    residual : float
        KKT residual in the natural unit of the gradient; for a linear program the larger of
        relative duality gap and constraint violation.
    iterations : int
    trace : Trace
    message : str
        The message of the solver, if any.
    optima : tuple of Optimum
        The different end points of a search from several starts, the best first; see `Optimum`.
    offset : float or None
        b of the classifier, if the solver's algorithm determines it; else the values define it.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> result = iopt.solve(problem, iopt.SVMDual(C=1.0))
    >>> result.objective, result.values["alpha"]
    (0.5, array([0.5, 0.5]))
    >>> result.classifier.predict(problem.K), result.certificate.claim.name
    (array([ 1, -1]), 'GLOBAL')
    """

    problem: Problem = field(repr=False)
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
    offset: float | None = field(repr=False)
    evidence: Evidence = field(repr=False)

    @cached_property
    def classifier(self) -> Classifier:
        """The classifier these values define; a quadratic program has none."""
        classifier = self.formulation.classifier(self.problem, self.values)
        return classifier if self.offset is None else replace(classifier, offset=self.offset)

    @cached_property
    def certificate(self) -> Certificate:
        """The certificate of these values, computed when it is first read."""
        return certify(
            self.problem,
            self.formulation,
            self.values,
            self.evidence.multipliers,
            self.evidence.tol,
            witness=self.evidence.witness,
            time_limit=self.evidence.time_limit,
        )

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("objective", f"{self.objective:.10g}"),
            ("solver", f"{self.solver}, {self.seconds:.3g} s, {self.iterations} iterations"),
            ("status", self.status.value),
        ]
        if len(self.optima) > 1:
            ends = ", ".join(f"{one.objective:.6g} ({one.count})" for one in self.optima[:5])
            rows.append(("optima (descents)", ends))
        own = str(self.formulation)
        return html_card(f"{own} on {self.problem.name}", rows) + self.certificate._repr_html_()

    def plot(self) -> Figure:
        """Draw what the solver stopped by, against its iterations and seconds."""
        from indefinite_opt.figures import convergence_figure

        return convergence_figure({f"{self.formulation}, {self.solver}": self})

    def __repr__(self) -> str:
        return (
            f"Result({self.formulation}, objective={self.objective:.6g}, status={self.status}, "
            f"solver={self.solver!r}, seconds={self.seconds:.3g})"
        )
