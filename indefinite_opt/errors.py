"""Errors that name the argument, what was expected, and what was given, and a warning."""

from __future__ import annotations

import difflib
import itertools
import sys
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = [
    "MAX_SHOWN",
    "BadArgument",
    "BuildError",
    "DataError",
    "DoubtfulResult",
    "FailedCheck",
    "IncompatibleSolver",
    "IndefiniteOptError",
    "InfeasibleProblem",
    "NoCounterpart",
    "ParameterError",
    "ProblemError",
    "SolverFailed",
    "UnboundedProblem",
    "UnknownName",
    "shown",
]

MAX_SHOWN = 500
"""Most characters of a given value that a message repeats, so that the rest stays readable."""

ROWS_AND_BOUNDS = "rows and bounds"
"""The argument of an `InfeasibleProblem` that is about several constraints."""


class IndefiniteOptError(ValueError):
    """Base class of every error this package raises on purpose.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> try:
    ...     iopt.SVMDual(C=-1.0)
    ... except iopt.errors.IndefiniteOptError as error:
    ...     print(error)
    C: expected a number from 1e-100 to 1e+50 or inf, got -1.0
    """


class BadArgument(IndefiniteOptError):
    """An argument that cannot be used.

    Parameters
    ----------
    argument : str
        Name of the argument, as the caller wrote it.
    expected : str
        What would have been accepted.
    got : str
        What was given instead.
    hint : str, optional
        What to do about it.

    Examples
    --------
    >>> error = BadArgument("C", "a positive number", "-1", "Use C > 0.")
    >>> error.argument, error.got
    ('C', '-1')
    >>> print(error)
    C: expected a positive number, got -1. Use C > 0.
    """

    def __init__(self, argument: str, expected: str, got: str, hint: str = "") -> None:
        super().__init__(argument, expected, got, hint)
        self.argument = argument
        self.expected = expected
        self.got = got
        self.hint = hint

    def __str__(self) -> str:
        return self._advised(f"{self.argument}: expected {self.expected}, got {_cut(self.got)}")

    def _advised(self, sentence: str) -> str:
        return f"{sentence}. {self.hint}" if self.hint else sentence


class BuildError(IndefiniteOptError):
    """A compiled core that is missing or does not fit the machine; the message says what to do.

    Examples
    --------
    The first call in a copy of the sources in which nothing was built raises it:

    >>> error = BuildError("the compiled core for Linux on x86_64 was not built")
    >>> isinstance(error, IndefiniteOptError)
    True
    """


class ProblemError(BadArgument):
    """A kernel matrix, distance matrix, label vector or point that cannot be used.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> iopt.KernelProblem([[1.0, 2.0], [2.0, 1.0]], y=[1, 1, 2])
    Traceback (most recent call last):
    indefinite_opt.errors.ProblemError: y: expected 2 labels, one for each row of K, got 3 labels
    """


class MatrixNotKept(ProblemError):
    """A kernel matrix that a pickle or a file has left out is needed again.

    Predictions need the rows of new points only. For a certificate give the problem again, by
    `Result.with_problem`.

    Examples
    --------
    >>> import pickle, indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, 0.0], [0.0, 1.0]], y=[1, 2])
    >>> result = pickle.loads(pickle.dumps(iopt.solve(problem, "SVMDual")))
    >>> result.certificate
    Traceback (most recent call last):
    indefinite_opt.errors.MatrixNotKept: problem: expected its kernel matrix, got a problem that \
was pickled or saved without it. Give the problem again, by result.with_problem(problem).
    >>> result.with_problem(problem).certificate.claim.name
    'GLOBAL'
    """


class ParameterError(BadArgument):
    """A parameter of a formulation, kernel or solver outside its range.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> iopt.ConvexHullDual(mu=-1.0)
    Traceback (most recent call last):
    indefinite_opt.errors.ParameterError: mu: expected a positive number or None, got -1.0
    """


class DataError(BadArgument):
    """A data set or file that is missing, unreadable or not of the expected form.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> try:
    ...     iopt.QuadraticProgram.read("program.txt")
    ... except DataError as error:
    ...     print(error.got)
    program.txt
    """


class UnknownName(BadArgument):
    """A name that is not registered; the message offers the nearest ones.

    Parameters
    ----------
    argument : str
        What kind of name it is: "kernel", "formulation", "solver", ...
    name : str
        The name that was asked for.
    known : iterable of str
        The names that exist.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> try:
    ...     iopt.kernels.get("sigmod")
    ... except UnknownName as error:
    ...     print(error.name, "-", error.hint)
    sigmod - Did you mean sigmoid or simpson?
    >>> UnknownName("formulation", "SVM", ["ESVM", "LussDual", "SVMDual"]).hint
    'Did you mean SVMDual or ESVM?'
    """

    def __init__(self, argument: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        folded = {candidate.casefold(): candidate for candidate in names}
        asked = str(name).casefold()
        longer = [key for key in folded if asked and key.startswith(asked)]
        close = difflib.get_close_matches(asked, folded, n=3)
        near = [folded[key] for key in dict.fromkeys([*longer, *close])][:3]
        hint = f"Did you mean {' or '.join(near)}?" if near else ""
        super().__init__(argument, f"one of {_listed(names)}", repr(name), hint)
        self.name = name
        self.known = names

    def __reduce__(self) -> tuple[type, tuple[str, str, list[str]]]:
        return type(self), (self.argument, self.name, self.known)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."


def _listed(names: list[str]) -> str:
    """The names, as many as `MAX_SHOWN` characters hold, and how many are left."""
    lengths = itertools.accumulate(len(name) + 2 for name in names)
    fitting = sum(length <= MAX_SHOWN for length in lengths)
    if fitting == len(names):
        return ", ".join(names)
    return f"{', '.join(names[:fitting])} and {len(names) - fitting} others"


class InfeasibleProblem(ParameterError):
    """No point is feasible; the message names the nearest parameters that leave one.

    For rows and bounds that contradict each other it names these.

    Attributes
    ----------
    conflict : dict of str to array, or None
        Multipliers of the rows and bounds of a quadratic program, by their names. Multiplied by
        them, the rows and bounds add up to a contradiction (Farkas's lemma). This was checked in
        exact arithmetic; entries are rounded to doubles. `verify` accepts the error, and checks it
        again.

    Examples
    --------
    In the smaller class one weight must be able to reach the total:

    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> try:
    ...     iopt.solve(problem, iopt.ConvexHullDual(mu=0.5))
    ... except InfeasibleProblem as error:
    ...     print(error.hint)
    Otherwise the weights of the smaller class, of size 1, cannot sum to 1.
    """

    conflict: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        if self.argument != ROWS_AND_BOUNDS:
            return super().__str__()
        return self._advised(f"Infeasible: {_cut(self.got)}")


class UnboundedProblem(IndefiniteOptError):
    """An objective without a finite optimum; the message names the direction that proves it.

    Attributes
    ----------
    ray, direction : (n,) array or None
        A direction d along which every row and bound continues to hold, and the objective decreases
        without bound: dᵀPd < 0, or dᵀPd = 0 and (Px + q)ᵀd < 0 at a feasible x. This was checked in
        exact arithmetic, except that x may be feasible only up to rounding; entries are rounded to
        doubles. `verify` accepts the error, checks it again, and looks for an exact x.
        With a quadratic row it is one of the directions along which the row continues to hold and
        dᵀPd < 0, with room for rounding; `verify` does not take it.
    proof : UnboundedRay or None
        The same in fractions, for a model that is not a quadratic program; its variables follow
        each other in `ray`. See `theory.unbounded_ray`.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[0.0, 1.0], [1.0, 0.0]], [1, -1])
    >>> try:
    ...     iopt.solve(problem, iopt.SVMDual(C=float("inf")))
    ... except UnboundedProblem as error:
    ...     print(str(error).partition(":")[0])
    without an upper bound the program is unbounded
    """

    def __init__(self, message: str, direction: Any = None, proof: Any = None) -> None:
        super().__init__(message)
        self.ray = self.direction = direction
        self.proof = proof


class IncompatibleSolver(IndefiniteOptError):
    """A solver that cannot take this problem; the message says what is missing.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[0.0, 1.0], [1.0, 0.0]], [1, -1])
    >>> try:
    ...     iopt.solve(problem, iopt.SVMDual(C=1.0), solver="clarabel")
    ... except IncompatibleSolver as error:
    ...     print(str(error).partition(":")[0])
    clarabel cannot solve SVMDual on this problem
    """


class SolverFailed(IndefiniteOptError):
    """A solver that ended without a point, or with one about which nothing is proved.

    The message quotes the solver or the certificate.

    Attributes
    ----------
    point : (n,) array or None
        The point about which nothing is proved; None if there is no point. Only `solve_qp` raises
        the error for such a point, as it returns no certificate.

    Examples
    --------
    A solver that ends without a point is caught like any other error:

    >>> try:
    ...     raise SolverFailed("highs ended without a point: time limit reached")
    ... except IndefiniteOptError as error:
    ...     print(error, error.point)
    highs ended without a point: time limit reached None
    """

    def __init__(self, message: str, point: Any = None) -> None:
        super().__init__(message)
        self.point = point


class FailedCheck(IndefiniteOptError):
    """A formulation that differs from its model; the message is the table of `check`.

    Attributes
    ----------
    checks : Checks
        What was compared.

    Examples
    --------
    >>> try:
    ...     raise FailedCheck("gradient  2.0e-01  FAILED", None)
    ... except IndefiniteOptError as error:
    ...     print(error)
    gradient  2.0e-01  FAILED
    """

    def __init__(self, message: str, checks: Any) -> None:
        super().__init__(message)
        self.checks = checks


class DoubtfulResult(UserWarning):
    """The warning that numbers come from a point about which little or nothing is proved.

    `Result.x`, `Result.predict` and `Result.decision_function` issue it if the solver stopped
    before it reached its tolerance. `solve_qp` issues it if it is proved only that the point
    satisfies the constraints. Estimators issue the `ConvergenceWarning` of scikit-learn instead.

    Examples
    --------
    >>> import warnings, numpy as np, indefinite_opt as iopt
    >>> problem = iopt.KernelProblem(np.diag([1.0, 2.0, 3.0, 4.0]), [1, 1, -1, -1])
    >>> result = iopt.solve(problem, iopt.SVMDual(C=10.0), "smo-lin-lin", max_iter=1)
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     result.x
    array([0.5, 0. , 0.5, 0. ])
    >>> caught[0].category.__name__, result.status.name
    ('DoubtfulResult', 'MAX_ITER')
    """


def shown(value: object) -> str:
    """The `repr` of a value, even of an integer that is too long for Python to print.

    >>> shown(10**5000)
    'an integer of more than 4300 digits'
    """
    try:
        return repr(value)
    except ValueError:
        if not isinstance(value, int):
            raise
        return f"an integer of more than {sys.get_int_max_str_digits()} digits"


class NoCounterpart(ProblemError):
    """A stationary point without a counterpart in the other problem; the message says why.

    Examples
    --------
    All weights are at the bound, so that ρ is not determined:

    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> try:
    ...     iopt.theory.hull_to_svm(problem, 1.0, [1.0, 1.0])
    ... except NoCounterpart as error:
    ...     print(error.expected)
    a nonbounded weight in each class
    """
