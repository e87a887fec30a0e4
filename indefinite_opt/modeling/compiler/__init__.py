"""From a declared model to the program that is solved: the most special class that can hold it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from indefinite_opt.algebra import Model, NotCanonical, canonical
from indefinite_opt.errors import ProblemError
from indefinite_opt.modeling.compiler.comparison import compare, compare_theorem
from indefinite_opt.modeling.compiler.convex_program import ConvexProgram, as_cvxpy_program
from indefinite_opt.modeling.compiler.declared_qp import as_declared_qp
from indefinite_opt.modeling.compiler.falling_rays import model_ray, unbounded
from indefinite_opt.modeling.compiler.kernel_programs import (
    box_line_program,
    one_class_program,
    signed_program,
)
from indefinite_opt.modeling.compiler.linear_programs import box, game, one_class, one_norm
from indefinite_opt.modeling.compiler.margin_programs import lifted, logistic, separability
from indefinite_opt.modeling.compiler.quadratic_rows import quadratic_row_program
from indefinite_opt.modeling.compiler.reading import Mismatch, Reading
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import CompiledProgram, has_epigraph

RECOGNISERS: tuple[Callable[[Reading, KernelProblem], CompiledProgram[Any]], ...] = (
    box_line_program, one_class_program, signed_program, box, one_norm, game, one_class, logistic,
    separability, lifted, as_declared_qp,
)  # fmt: skip
"""Each makes a program of one class, or raises `Mismatch`; the most special ones first."""


def compiled(model: Model, problem: KernelProblem) -> CompiledProgram[Any]:
    """The program of a model for direct solvers.

    Every term and every constraint of the canonical form is taken over exactly once, and up to 200
    points the objective and each constraint's residual are compared with the declaration at a
    random point. A convex model that no class holds goes to cvxpy as declared.

    Raises
    ------
    NotCanonical
        For a model with an atom that no class of programs has a place for, and that is not convex
        by cvxpy's rules; the message quotes the atom.
    UnboundedProblem
        If a ray proves that such a model has no optimum.
    """
    if model.theorem is not None:
        program: CompiledProgram[Any] = model.theorem()
        compare_theorem(model, program, problem)
        return program
    try:
        form = canonical(model)
    except NotCanonical as error:
        return beyond_canonical(model, error, problem)
    if not form.variables:
        raise NotCanonical("none", "variables")
    # The others have rows of declared variables only, and no matrices among these.
    general = form.hidden or any(len(shape) > 1 for shape in form.variables.values())
    for recognise in (as_declared_qp,) if general else RECOGNISERS:
        reading = Reading(form)
        try:
            program = recognise(reading, problem)
        except Mismatch:
            continue
        if reading.is_complete:
            program.__dict__["spelled"] = reading.spelled
            if recognise is as_declared_qp:
                program.__dict__["ray_of_model"] = partial(unbounded, model, by_programs=False)
            compare(form, program, problem)
            return program
    atoms = [part.text for part in form.separables if not has_epigraph(part)]
    atoms += [norm.text for norm in form.norms] + [one.text for one in form.hidden]
    expected = "terms with rows of a quadratic program, or a known kind"
    if form.hidden and all(part.kind != "logistic" for part in form.separables):
        expected = "atoms that are convex where they stand, as in `atom <= affine`"
    return as_cvxpy_program(model, NotCanonical(", ".join(atoms), expected))


def beyond_canonical(
    model: Model, refused: ProblemError, problem: KernelProblem | None = None
) -> CompiledProgram[Any]:
    """The program of a model that has no canonical form: convex, or with one quadratic row.

    The error with which it was refused is raised, or a better one, if it is neither.
    """
    found = quadratic_row_program(model, problem)
    if found is None or (found.is_convex and not found.has_secular_equation):
        try:
            return as_cvxpy_program(model, refused)
        except NotCanonical:  # convex by its matrices, and not by the rules of cvxpy
            if found is None:
                raise
    return found
