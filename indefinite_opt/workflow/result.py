"""The result of solving a problem with a formulation."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt.errors import (
    DoubtfulResult,
    IncompatibleSolver,
    MatrixNotKept,
    ParameterError,
    ProblemError,
)
from indefinite_opt.foundation import (
    Array,
    Values,
    cached_property,
    finite_array,
    html_card,
)
from indefinite_opt.modeling import Classifier, Formulation
from indefinite_opt.problem import KernelProblem, check_problem
from indefinite_opt.quadratic import (
    AbsentGram,
    Answer,
    Certificate,
    Claim,
    Declaration,
    Optimum,
    Problem,
    Status,
    Trace,
)
from indefinite_opt.workflow.certificates.verification import certify
from indefinite_opt.workflow.saving import (
    arrays_of_result,
    classifier_parts,
    facts_of_result,
    write_result,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from indefinite_opt.workflow.bracket import Bracket


@dataclass(frozen=True)
class Evidence:
    """What the certificate of a result is computed from, besides its values."""

    multipliers: Values | None
    """None if the certificate computes its own."""
    witness: object
    """Data from which the solver's bound is computed again; see `Solution.witness`."""
    tol: float
    time_limit: float
    """Seconds that the solver has left for the certificate; inf without a limit."""
    remarks: tuple[str, ...] = ()
    """What would help to close the bracket, or why there is none; for claims below GLOBAL."""
    formulation: Any = None
    """The formulation with the model that was solved; see `Declaration.settled`."""
    values: Values | None = None
    """Copies of the values, which a caller may change in the result."""
    atol: float = 0.0


@dataclass(frozen=True, eq=False)
class Result:
    """The result of solving a problem with a formulation; see `solve`.

    It can be pickled; another process that loads it can predict and certify. A pickle leaves out a
    given matrix of similarities or distances. The result still predicts, and has its certificate if
    that was read before; any other certificate needs `with_problem`.

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
    doubt : str
        A sentence if the solver stopped before it reached its tolerance, as the solver itself or
        the residuals of its point say; else empty. It needs no certificate.
    optima : tuple of Optimum
        The different end points of a search from several starts, the best first; see `Optimum`.
    offset : float or None
        b of the classifier, if the solver's algorithm determines it; else the values define it.
    bracket : Bracket or None
        The bracket by branch and bound, if `prove` asked for one; see `bound`.

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
    formulation: Declaration
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
    doubt: str
    optima: tuple[Optimum, ...] = field(repr=False)
    offset: float | None = field(repr=False)
    bracket: Bracket | None = field(repr=False)
    evidence: Evidence = field(repr=False)
    _answer: Answer | None = field(init=False, repr=False, default=None)
    """What `solve` has measured at these values; neither pickled nor part of a changed copy."""

    @classmethod
    def of(cls, answer: Answer | None, **parts: Any) -> Self:
        """The result of a solve that has measured its point."""
        result = cls(**parts)
        object.__setattr__(result, "_answer", answer)
        return result

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__ | {"_answer": None}
        if not keeps_matrix(self):
            known: dict[str, Any] = {"training_error": self.training_error}
            if self.has_classifier:
                known |= {"classifier": self.classifier, "has_classifier": True}
            state |= known | {"problem": self.problem.without_matrix()}
        return state

    def __copy__(self) -> Self:
        return self._copy(self.__dict__)

    def __deepcopy__(self, memo: Any) -> Self:
        return self._copy(copy.deepcopy(self.__dict__ | {"_answer": None}, memo))

    def _copy(self, state: dict[str, Any]) -> Self:
        made = object.__new__(type(self))
        made.__dict__.update(state | {"_answer": None})
        return made

    def with_problem(self, problem: KernelProblem) -> Self:
        """The same result on the problem that it was found for, which has its matrix.

        A result that was pickled, or saved, on a given matrix of similarities or distances does not
        hold it. It predicts without; a certificate needs it.

        Raises
        ------
        ProblemError
            If the problem has another matrix (by its digest), other points, another title of the
            kernel, or other labels.
        """
        refuse_another(self.problem, problem)
        return replace(self, problem=problem)

    @property
    def _settled(self) -> Any:
        return self.formulation if self.evidence.formulation is None else self.evidence.formulation

    @property
    def _found(self) -> Values:
        return self.values if self.evidence.values is None else self.evidence.values

    @property
    def program(self) -> Any:
        """The program that was solved, as solvers read it."""
        return self._settled.program(self.problem)

    @cached_property
    def has_classifier(self) -> bool:
        """Whether these values define a classifier.

        Values of a quadratic program do not, and neither do those of a formulation whose model has
        no `coef`.
        """
        own = isinstance(self.formulation, Formulation)
        return own and bool(self._settled.has_classifier(self.problem))

    @cached_property
    def classifier(self) -> Classifier:
        """The classifier these values define, if there is one; see `has_classifier`."""
        if not isinstance(self.formulation, Formulation):
            raise IncompatibleSolver("a quadratic program defines no classifier")
        described = self.formulation.task == "one class"
        more: dict[str, Any] = {"tol": self.evidence.tol} if described else {}
        if self.program.multipliers_from_solver:
            more["multipliers"] = self.evidence.multipliers or {}
        classifier = self._settled.classifier(self.problem, self._found, **more)
        return classifier if self.offset is None else replace(classifier, offset=self.offset)

    @cached_property
    def clusters(self) -> NDArray[np.intp]:
        """The cluster of each point, from 0 on, (n,), and -1 for points in none.

        Raises
        ------
        ProblemError
            If the formulation is for another task than "clusters".
        """
        if not isinstance(self.formulation, Formulation):
            raise IncompatibleSolver("a quadratic program defines no clusters")
        return self._settled.clusters(self.problem, self._found)

    @cached_property
    def training_error(self) -> float | None:
        """Share of the training points that are misclassified.

        None if there are not two classes, if there is no classifier, or if decision values need
        more than the kernel matrix.
        """
        problem, formulation = self.problem, self.formulation
        if not isinstance(problem, KernelProblem) or problem.gram.on_demand:
            return None
        if not isinstance(formulation, Formulation) or formulation.task != "classification":
            return None
        if not self.has_classifier or self.classifier.new_points == "joint":
            return None
        direct = self.classifier.unchanged()
        if problem.asymmetric:
            rows = np.hstack([problem.directed, problem.directed.T])
            positive = direct.decision_function(rows) > 0.0
        else:
            positive = problem.gram.times(direct.coef) + direct.offset > 0.0
        return float(np.mean(positive != (problem.y > 0.0)))

    def _warn(self) -> None:
        """Issue a warning for the caller of the caller if the numbers are in doubt."""
        if self.doubt:
            warn_of_doubt(self.doubt, stacklevel=4)

    @property
    def x(self) -> Array:
        """The values of the only variable, such as the x of a quadratic program.

        Raises
        ------
        AttributeError
            If there are several; `values` has them by name.

        Warns
        -----
        DoubtfulResult
            If there is a `doubt`; `values` has the numbers without the warning.
        """
        if len(self.values) != 1:
            names = ", ".join(self.values)
            raise AttributeError(f"x: expected a single variable, got {names}; values has them")
        self._warn()
        (only,) = self.values.values()
        return only

    def decision_function(self, X: Any, own: ArrayLike | None = None) -> Array:
        """Decision values of new points, (m,); see `predict`."""
        self._warn()
        return self.classifier.decision_function(*self._kernels(X, own))

    def predict(self, X: Any, own: ArrayLike | None = None) -> NDArray[Any]:
        """Labels of new points, (m,); numbers for regression, and -1 for outliers of one class.

        Parameters
        ----------
        X : (m, d) array_like or DataFrame
            New points in the form that `from_data` took; a DataFrame must have columns of the same
            names. For a problem of `from_distances`: distances from the training points, (m, n).
            Otherwise: kernel values with the training points, (m, n). If the training points have
            names, as in a file, columns with names may be in any order. For an asymmetric
            matrix: the pair of both (m, n) matrices k(x, x_i) and k(x_i, x).
        own : (m,) or (m, m) array_like, optional
            k(x, x) of new points, or the kernel matrix among them, for a problem of a kernel
            matrix. `SVDD` needs k(x, x) if K_ii is not the same for all training points, and the
            joint treatment of new points needs the matrix. For all others it is an error. A row
            that equals a row of K counts as that training point. For points and distances k(x, x)
            is computed.

        Raises
        ------
        ProblemError
            If X or `own` has another shape, or `own` is needed and not known.
        ParameterError
            If `own` is given where it has no effect.

        Warns
        -----
        DoubtfulResult
            If there is a `doubt`; `classifier` predicts without the warning.
        """
        self._warn()
        return self.classifier.predict(*self._kernels(X, own))

    def _kernels(self, X: Any, own: ArrayLike | None) -> tuple[Array, Array | None]:
        """Kernel values of new points with the training points and, if needed, among them."""
        if not isinstance(self.problem, KernelProblem):
            raise ParameterError(
                "result", "a result on a KernelProblem", "one on a QuadraticProgram"
            )
        return kernel_values(self.problem, self.classifier, X, own)

    def save(self, path: str | Path, *, with_matrix: bool = False) -> Path:
        """Write the values and what predictions need to a .npz file, for `load`.

        The file has the formulation, the multipliers and the points. Instead of a given matrix of
        similarities or distances it has the classifier, and a certificate then needs
        `with_problem`. With `with_matrix` it has the matrix, 8n² bytes. It always has a matrix that
        predictions need, as in the joint treatment.

        Raises
        ------
        ParameterError
            If the file could not hold the problem: a quadratic program, or a kernel that is a
            function without a name.
        DataError
            If the file cannot be written.
        """
        facts, arrays = facts_of_result(self), arrays_of_result(self)
        kept = with_matrix or keeps_matrix(self)
        if not kept:
            own, more = classifier_parts(self)
            facts, arrays = facts | own, arrays | more
        return write_result(path, self.problem, self.formulation, facts, arrays, kept)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences on an odd kernel matrix, and on a training error above chance."""
        problem, error = self.problem, self.training_error
        if not isinstance(problem, KernelProblem):
            return ()
        if error is None:
            return problem.remarks
        share = min(problem.class_sizes) / problem.n
        if error <= share:
            return problem.remarks
        return (
            *problem.remarks,
            f"{100 * error:.3g} % of the training points are misclassified, where the larger class "
            f"alone would misclassify {100 * share:.3g} %.",
        )

    @cached_property
    def certificate(self) -> Certificate:
        """The certificate of these values, computed when it is first read.

        It may take the seconds that the solver has left of `time_limit`, also after loading from a
        file. There is always enough time to measure feasibility and residuals. The certificate says
        what was not examined in time; `verify` has a time limit of its own.
        """
        known = self.evidence
        found = certify(
            self.problem, self._settled, self._found, known.multipliers, known.tol,
            witness=known.witness, time_limit=known.time_limit, atol=known.atol,
            answer=self._answer,
        )  # fmt: skip
        if found.claim is Claim.GLOBAL or not known.remarks:
            return found
        return replace(found, reasons=(*found.reasons, *known.remarks))

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("objective", f"{self.objective:.10g}"),
            ("solver", f"{self.solver}, {self.seconds:.3g} s, {self.iterations} iterations"),
            ("status", self.status.value),
        ]
        if len(self.optima) > 1:
            ends = ", ".join(f"{one.objective:.6g} ({one.count})" for one in self.optima[:5])
            rows.append(("optima (descents)", ends))
        rows += [("note", remark) for remark in self.remarks]
        own = str(self.formulation)
        try:
            proved = self.certificate._repr_html_()
        except MatrixNotKept as error:
            rows.append(("certificate", error))
            proved = ""
        return html_card(f"{own} on {self.problem.name}", rows) + proved

    def plot(self) -> Figure:
        """Draw its clusters, else the ends of its descents, its convergence, or its values.

        See `figures.result_figure`; `figures.step_by_step` draws what `record=True` has kept.
        """
        from indefinite_opt.figures import result_figure

        return result_figure(self)

    def __repr__(self) -> str:
        return (
            f"Result({self.formulation}, objective={self.objective:.6g}, status={self.status}, "
            f"solver={self.solver!r}, seconds={self.seconds:.3g})"
        )


def keeps_matrix(result: Any) -> bool:
    """Whether a pickle or a file of a result has its kernel matrix, or what it is made of."""
    problem = result.problem
    if not isinstance(problem, KernelProblem) or not problem.matrix_was_given:
        return True
    if not result.has_classifier:
        return False
    # The joint treatment transforms it; other points of a sphere are recognised by their rows.
    found = result.classifier
    by_row = bool(found.own) and found.diagonal is None and problem.origin == "precomputed"
    return found.new_points == "joint" or by_row


def refuse_another(own: Any, problem: KernelProblem) -> None:
    """Raise `ProblemError` unless a problem is the one that a result was found for."""
    check_problem(problem)
    if isinstance(problem.gram, AbsentGram):
        _ = problem.gram.matrix  # which says what is missing
    if own.asymmetric != problem.asymmetric:
        got = "an asymmetric one" if problem.asymmetric else "one with a symmetric matrix"
        raise ProblemError("problem", "the problem of the result", got)
    if own.n != problem.n or own.digest not in (None, problem.digest):
        raise ProblemError("problem", "the problem of the result", "one with another matrix")
    if str(own.kernel) != str(problem.kernel):
        raise ProblemError("problem", "the problem of the result", "one with another kernel")
    same = own.X is problem.X or (problem.X is not None and np.array_equal(own.X, problem.X))
    if own.X is not None and not same:
        raise ProblemError("problem", "the problem of the result", "one with other points")
    if own.task != problem.task or not np.array_equal(own.labels, problem.labels):
        raise ProblemError("problem", "the problem of the result", "one with other labels")


def kernel_values(
    problem: KernelProblem, classifier: Any, X: Any, own: ArrayLike | None = None
) -> tuple[Array, Array | None]:
    """What a classifier takes: rows of kernel values or distances and, if needed, k(x, x).

    `own` is k(x, x) of new points, or their kernel matrix, where only the caller can know it.
    """
    joint, precomputed = classifier.new_points == "joint", problem.origin == "precomputed"
    needed = joint or getattr(classifier, "own", 0.0) != 0.0
    if own is not None and not (needed and precomputed):
        why = "k(x, x) is computed" if needed else "this classifier does not use k(x, x)"
        raise ParameterError("own", f"None, as {why}", "values")
    if precomputed:
        rows = problem.of_training_points("X", X)
        if own is not None:
            m, square = len(rows), joint or np.ndim(own) == 2
            return rows, finite_array("own", own, (m, m) if square else (m,))
        if joint or not needed or classifier.diagonal is not None:
            return rows, None
        return rows, _own_of_training_points(problem, rows)
    if getattr(classifier, "distances", False) and problem.X is None:
        return problem.distances_from_training_points(X), None
    rows = problem.kernel_with(X)
    if joint or (needed and problem.X is not None and classifier.diagonal is None):
        return rows, problem.kernel_among(X)
    if needed and problem.X is None:  # of distances, where no point has one from itself
        return rows, problem.kernel_with(np.zeros_like(rows))[:, 0]
    return rows, None


def _own_of_training_points(problem: KernelProblem, rows: Array) -> Array:
    """K_ii of the training points of which these are the rows of K, (m,)."""
    # The sum makes -0.0 and 0.0 the same.
    known = {(row + 0.0).tobytes(): i for i, row in enumerate(problem.K)}
    places = [known.get((row + 0.0).tobytes()) for row in rows]
    if None in places:
        raise ProblemError(
            "own", "k(x, x) of the new points, (m,), or their kernel matrix", "nothing",
            f"K_ii is not the same for all training points, and row {places.index(None)} of X "
            "does not equal the row of one of them.",
        )  # fmt: skip
    found: Array = problem.gram.diagonal[np.array(places, dtype=np.intp)]
    return found


def warn_of_doubt(doubt: str, stacklevel: int) -> None:
    """Issue a `DoubtfulResult`."""
    words = f"{doubt} `certificate` says what is proved."
    warnings.warn(words, DoubtfulResult, stacklevel=stacklevel)
