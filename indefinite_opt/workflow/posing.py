"""What a caller asks about: a problem with a formulation, or a quadratic program alone."""

from __future__ import annotations

from typing import Any

from indefinite_opt.errors import ParameterError, ProblemError
from indefinite_opt.formulations import as_formulation
from indefinite_opt.modeling import Formulation
from indefinite_opt.problem import KernelProblem, Problem


def posed(problem: object, formulation: Any) -> tuple[Problem, Formulation]:
    """The problem and its formulation; a quadratic program is its own."""
    if isinstance(problem, Problem) and isinstance(problem, Formulation):
        if formulation is not None:
            expected = "nothing: a quadratic program is its own formulation"
            raise ParameterError("formulation", expected, repr(formulation))
        return problem, problem
    if not isinstance(problem, KernelProblem):
        expected = "a KernelProblem or a QuadraticProgram"
        raise ProblemError("problem", expected, type(problem).__name__)
    if formulation is None or isinstance(formulation, Problem):
        # A quadratic program is about no kernel: it stands in the place of the problem.
        expected = "a formulation of a kernel problem, or its name"
        raise ParameterError("formulation", expected, repr(formulation))
    return problem, as_formulation(formulation)
