"""Every structure answers the same questions, in the letters of its declaration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.problems import suited
from indefinite_opt.algebra.program import Program
from indefinite_opt.formulations import as_formulation
from indefinite_opt.solvers import as_solver

FORMULATIONS = sorted(iopt.available_formulations())


def declared(name: str) -> Program:
    generator = np.random.default_rng(0)
    A = generator.standard_normal((7, 7))
    problem = iopt.KernelProblem(A + A.T, [1, 1, 1, -1, -1, -1, -1])
    formulation = as_formulation(name)
    return formulation.declare(suited(problem, formulation))


def random_values(program: Program) -> dict[str, Any]:
    generator = np.random.default_rng(1)
    shapes = program.structure.shapes
    return {name: generator.standard_normal(shape) for name, shape in shapes.items()}


@pytest.mark.parametrize("name", FORMULATIONS)
def test_the_default_solver_accepts_the_structure(name: str) -> None:
    structure = declared(name).structure
    solver = as_solver(type(structure).usual_solver)
    assert isinstance(structure, solver.accepts)
    assert not solver.needs_convex or structure.is_convex


@pytest.mark.parametrize("name", FORMULATIONS)
def test_a_standard_form_has_the_declared_objective(name: str) -> None:
    program = declared(name)
    form = program.structure.standard_form()
    values = program.structure.feasible_values(random_values(program))
    if form is None:
        return
    x = program.structure.from_values(values)
    value = float(form.cost @ x) + form.constant
    if form.hessian is not None:
        value += 0.5 * float(x @ form.hessian @ x)
    assert form.sense * value == pytest.approx(program.evaluate(values)[0], rel=1e-11)


@pytest.mark.parametrize("name", FORMULATIONS)
def test_near_any_point_there_is_a_feasible_one(name: str) -> None:
    program = declared(name)
    structure = program.structure
    point = structure.at(structure.from_values(random_values(program)))
    near, _ = structure.attained(point, structure.infeasibility(point.x))
    assert structure.infeasibility(near.x) <= 1e-13
    again, _ = structure.attained(near, structure.infeasibility(near.x))
    assert again.value == pytest.approx(near.value, rel=1e-12)
