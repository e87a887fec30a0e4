"""What a formulation declares and what its structure says must be the same model."""

from __future__ import annotations

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.problems import random_problem
from indefinite_opt.modeling.structures.box_line import BoxLine
from indefinite_opt.modeling.structures.proxy_kernel import ProxyStructure
from indefinite_opt.modeling.structures.structure import ExplicitProgram

TITLES = [
    "LussDual(C=2, rho=0.5)", "LussBall(C=2)", "ESVM(C=2)", "ESVM(C=2, energy=0.8)", "KSVM(C=2)",
    "KernelLogistic(C=2)", "SeparabilitySVM(C=2)", "SeparabilitySVM(C=2, convex=False)",
    "PseudoEuclideanPrimal(C=2)",
    "SVMDual(C=2)", "SVMDual(C=inf)", "SVMDual(C=2, bias=False)", "ConvexHullDual(mu=0.3)",
    "GuoSchuurmansQP(beta=0.2)", "GuoSchuurmansLP(beta=0.2)", "LPSVM(C=3)", "UniformWeights",
    "SpectrumSVM(transform=clip)", "SpectrumSVM(transform=flip)", "SpectrumSVM(transform=shift)",
    "SpectrumSVM(transform=clip, centered=True)",
]  # fmt: skip


def formulation_of(title: str) -> iopt.Formulation:
    from indefinite_opt.workflow.solving import as_formulation

    return as_formulation(title)


# A kernel with positive definite pairs, so that C = inf is not refused.
PROBLEM = random_problem("l1-gaussian", n=14, seed=3)
SENSITIVITY = np.random.default_rng(8).standard_normal((14, 14))
FORMULATIONS = [formulation_of(title) for title in TITLES] + [
    iopt.GuoSchuurmansQP(beta=0.2, sensitivity=SENSITIVITY),
    iopt.GuoSchuurmansLP(beta=0.2, sensitivity=SENSITIVITY),
]


def structure_values(structure, x):
    if isinstance(structure, ExplicitProgram):
        ends = np.cumsum([np.prod(shape, dtype=int) for shape in structure.shapes.values()])
        parts = np.split(x, ends[:-1])
        return {
            name: part.reshape(shape)
            for (name, shape), part in zip(structure.shapes.items(), parts, strict=True)
        }
    if isinstance(structure, ProxyStructure):
        return structure.values(x) | {"K": structure.proxy_kernel(x)}
    return structure.values(x) if isinstance(structure, BoxLine) else structure.read(x)


def structure_objective(structure, x):
    if isinstance(structure, ExplicitProgram):
        return structure.sense * structure.value(structure_values(structure, x))
    if isinstance(structure, BoxLine):
        return structure.sense * (structure.value(x) + structure.constant)
    return structure.sense * float(structure.cost @ x)


def infeasibility(structure, x):
    if isinstance(structure, ExplicitProgram):
        return structure.infeasibility(structure_values(structure, x))
    return structure.infeasibility(x)


def size(structure):
    if isinstance(structure, ExplicitProgram):
        return sum(int(np.prod(shape, dtype=int)) for shape in structure.shapes.values())
    return structure.n if isinstance(structure, BoxLine) else structure.cost.size


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_objective_agrees_with_the_declaration(formulation: iopt.Formulation) -> None:
    """At feasible points: off the line Σα_iα_jy_iy_jd² and -2αᵀQα differ, as they may."""
    program = formulation.declare(PROBLEM)
    structure = program.structure
    generator = np.random.default_rng(0)
    for _ in range(5):
        if isinstance(structure, BoxLine):
            x = structure.random_start(generator)
        else:
            x = generator.uniform(0.0, 0.2, size(structure))
            if isinstance(formulation, iopt.LPSVM):
                # u = p - r with both parts positive costs more than ‖u‖₁.
                x[:14] *= generator.integers(0, 2, 14)
                x[14:28] *= x[:14] == 0
        declared, violation = program.evaluate(structure_values(structure, x))
        assert structure_objective(structure, x) == pytest.approx(declared, rel=1e-10, abs=1e-12)
        assert (infeasibility(structure, x) <= 1e-9) == (violation <= 1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_feasible_set_agrees_with_the_declaration(formulation: iopt.Formulation) -> None:
    program = formulation.declare(PROBLEM)
    structure = program.structure
    generator = np.random.default_rng(1)
    for _ in range(20):
        x = generator.uniform(-0.1, 0.4, size(structure))
        _, violation = program.evaluate(structure_values(structure, x))
        assert (infeasibility(structure, x) <= 1e-12) == (violation <= 1e-12)
    if isinstance(structure, BoxLine):
        points = structure.start(), structure.random_start(generator)
        for x in points:
            assert program.evaluate(structure_values(structure, x))[1] <= 1e-9


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_names_of_multipliers_are_those_of_the_constraints(formulation: iopt.Formulation) -> None:
    program = formulation.declare(PROBLEM)
    structure = program.structure
    if isinstance(structure, BoxLine):
        x = structure.start()
        names = structure.multipliers(structure.first_order(x, structure.value_gradient(x)[1]))
    elif isinstance(structure, ExplicitProgram):
        names = structure.multipliers(structure_values(structure, np.zeros(size(structure))))
    else:
        names = structure.read_multipliers(
            np.zeros(structure.row_lower.size), np.zeros(structure.cost.size)
        )
    assert set(names) == set(program.subject_to)
    assert program.name == str(formulation)


@pytest.mark.parametrize(
    "title", ["SVMDual(C=2)", "ConvexHullDual", "GuoSchuurmansQP", "SVMDual(C=2, bias=False)"]
)
def test_convexified_objective_equals_the_declared_one_on_the_lines(title: str) -> None:
    # K + t(eeᵀ) with t < 0 is conditionally positive definite and indefinite.
    gaussian = random_problem("gaussian", n=12, seed=5)
    shift = 0.0 if "bias" in title else -3.0
    problem = iopt.KernelProblem(gaussian.K + shift, gaussian.labels)
    assert problem.is_conditionally_psd
    assert problem.is_psd == (shift == 0.0)
    program = formulation_of(title).declare(problem)
    assert program.curvature == "convex"
    H, q, constant = program.structure.convexified()
    assert np.linalg.eigvalsh(H).min() >= -1e-12
    generator = np.random.default_rng(2)
    for _ in range(5):
        x = program.structure.random_start(generator)
        value = program.structure.sense * (0.5 * x @ H @ x + q @ x + constant)
        assert value == pytest.approx(program.evaluate(program.structure.values(x))[0], rel=1e-10)
    compiled = program.cvxpy()
    assert compiled.is_dcp()
    compiled.solve(solver="CLARABEL")
    assert compiled.value == pytest.approx(
        iopt.solve(problem, formulation_of(title)).objective, rel=1e-6, abs=1e-7
    )


def test_a_nonconvex_program_is_passed_on_as_declared(
    sigmoid_problem: iopt.KernelProblem,
) -> None:
    import cvxpy as cp

    program = iopt.SVMDual(C=2.0).declare(sigmoid_problem)
    assert program.curvature == "nonconvex"
    with pytest.raises(cp.DCPError):
        program.cvxpy().solve(solver="CLARABEL")


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_latex_text_and_legend_come_from_the_declaration(formulation: iopt.Formulation) -> None:
    program = formulation.declare(PROBLEM)
    assert program.latex().count(r"\\") >= len(program.subject_to) - 1
    assert program.sense in str(program)
    assert {"alpha", "alphabar", "u", "w"} & set(program.legend())
    assert program._repr_latex_().startswith("$")


def test_latex_follows_a_changed_declaration() -> None:
    from indefinite_opt.modeling.display.program_text import text

    with_bias = text(iopt.SVMDual(C=1.0).declare(PROBLEM))
    without = text(iopt.SVMDual(C=1.0, bias=False).declare(PROBLEM))
    hard = text(iopt.SVMDual(C=np.inf).declare(PROBLEM))
    assert "yᵀα = 0" in with_bias
    assert "yᵀα" not in without
    assert "≤ C" in with_bias
    assert "≤ C" not in hard
