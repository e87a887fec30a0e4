"""What a caller asks about: a problem with a formulation, or a quadratic program, and solvers."""

from __future__ import annotations

from typing import Any

from indefinite_opt.errors import ParameterError, ProblemError
from indefinite_opt.formulations import as_formulation
from indefinite_opt.modeling import CvxpyProblem, Formulation
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import Declaration, Problem, QuadraticProgram
from indefinite_opt.solvers import known


def from_cvxpy(problem: Any) -> Any:
    """The program of a `cvxpy.Problem`, quadratic or with cones; anything else as it is."""
    if type(problem).__module__.partition(".")[0] != "cvxpy":
        return problem
    try:
        return QuadraticProgram.from_cvxpy(problem)
    except ProblemError as refused:
        if not getattr(problem, "variables", list)():  # or no problem at all
            raise
        return CvxpyProblem(problem, refused)


def as_problem(problem: object, formulation: Any) -> tuple[Problem, Declaration]:
    """The problem and its formulation; a quadratic program is its own."""
    problem = from_cvxpy(problem)
    own = problem.declaration if isinstance(problem, Problem) else None
    if isinstance(problem, Problem) and own is not None:
        if formulation is not None:
            expected = "None for a quadratic program, which is its own formulation"
            raise ParameterError("formulation", expected, repr(formulation))
        return problem, own
    if not isinstance(problem, KernelProblem):
        expected = "a KernelProblem or a QuadraticProgram"
        raise ProblemError("problem", expected, type(problem).__name__)
    if formulation is None or isinstance(formulation, Problem):
        # A quadratic program has no kernel, and takes the place of the problem.
        expected = "a formulation of a kernel problem, or its name"
        raise ParameterError("formulation", expected, repr(formulation))
    return problem, as_formulation(formulation).unsettled


def in_pairs(problem: Problem, formulation: Declaration) -> bool:
    """Whether a formulation of two classes is asked of more than two."""
    return (
        isinstance(problem, KernelProblem)
        and isinstance(formulation, Formulation)
        and formulation.task == problem.task == "classification"
        and problem.classes.size > 2
    )


def available_solvers(
    formulation: Declaration | type[Declaration] | str | None = None,
) -> list[str]:
    """Names of the solvers for a formulation, or of all solvers.

    A solver that needs convexity is listed unless the formulation is nonconvex for every kernel,
    and one that needs a bias unless the formulation has none.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> available_solvers(iopt.LPSVM)
    ['clarabel', 'generation', 'highs', 'scs']
    >>> "global" in available_solvers("SVMDual")
    True
    """
    files = known()
    if formulation is None:
        return sorted(files)
    wanted: Any = formulation
    if isinstance(formulation, str) or not hasattr(formulation, "program_type"):
        wanted = as_formulation(formulation)  # type: ignore[arg-type]
    return sorted(
        name
        for name, solver in files.items()
        if issubclass(wanted.program_type, solver.accepts)
        and not (solver.needs_convex and wanted.convex is False)
        and not (solver.needs_bias and getattr(wanted, "bias", True) is False)
    )
