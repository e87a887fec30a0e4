"""A proof is checked without the search: honest ones prove what was found, forged ones no more."""

from __future__ import annotations

import numpy as np
import pytest
from test_enumeration import enumerated, read

import indefinite_opt as iopt
from indefinite_opt.global_search import box_quadratic
from indefinite_opt.kkt import Conditions
from indefinite_opt.minorant import Multipliers
from indefinite_opt.proof import Part, Proof, Tangent
from indefinite_opt.relaxation import Relaxation


def conditions_of(problem: iopt.KernelProblem, formulation: iopt.Formulation) -> Conditions:
    return Conditions(box_quadratic(formulation.structure(problem)))


def whole_number_problem(seed: int) -> tuple[iopt.KernelProblem, iopt.Formulation, float]:
    """Small whole numbers, a formulation, and the least of F by enumeration."""
    generator = np.random.default_rng(seed)
    n = int(generator.integers(2, 6))
    A = generator.integers(-2, 3, (n, n)).astype(float)
    y = np.append([1, -1], generator.choice([-1, 1], n - 2))
    problem = iopt.KernelProblem(np.tril(A) + np.tril(A, -1).T, y)
    formulation = (
        iopt.SVMDual(C=1.0), iopt.SVMDual(C=0.5, bias=False),
        iopt.ConvexHullDual(mu=1.0), iopt.GuoSchuurmansQP(beta=0.5),
    )[seed % 4]  # fmt: skip
    return problem, formulation, float(enumerated(read(formulation.structure(problem)))[1].min())


@pytest.mark.parametrize("seed", range(40))
def test_honest_proofs_prove_nothing_false(seed: int) -> None:
    problem, formulation, least = whole_number_problem(seed)
    for gap in (1e-9, 0.1):
        bracket = iopt.bound(problem, formulation, gap=gap)
        assert bracket.proof is not None
        proved = bracket.proof.lower_bound(conditions_of(problem, formulation))
        assert proved <= least + 1e-12 * max(1.0, abs(least))
        assert proved >= least - 2.0 * gap * max(1.0, abs(least))


@pytest.mark.parametrize("seed", range(10))
def test_a_proof_of_another_problem_proves_nothing_false(seed: int) -> None:
    """Same n and same formulation, another kernel: the boxes fit, the multipliers do not."""
    generator = np.random.default_rng(seed)
    y = np.array([1, -1, 1, -1, 1])
    problems = []
    for _ in range(2):
        A = generator.standard_normal((5, 5))
        problems.append(iopt.KernelProblem(A + A.T, y))
    formulation = (iopt.SVMDual(C=2.0), iopt.ConvexHullDual(mu=1.0))[seed % 2]
    for ours, other in (problems, problems[::-1]):
        least = float(enumerated(read(formulation.structure(ours)))[1].min())
        proof = iopt.bound(other, formulation, gap=1e-6).proof
        assert proof is not None
        proved = proof.lower_bound(conditions_of(ours, formulation))
        assert proved <= least + 1e-12 * max(1.0, abs(least))


def test_false_triangle_inequalities_are_not_believed() -> None:
    """With γ on three places that no inequality belongs to, -9.927 was "proved" to be -8.927."""
    generator = np.random.default_rng(5)
    A = generator.standard_normal((6, 6))
    problem = iopt.KernelProblem(A + A.T, [1, -1] * 3)
    formulation = iopt.SVMDual(C=1.0)
    conditions = conditions_of(problem, formulation)
    least = float(enumerated(read(formulation.structure(problem)))[1].min())
    box = conditions.tightened(conditions.start())
    assert box is not None
    spins = conditions.whole.spins(box.lower, box.upper)
    relaxation = Relaxation(spins, least, box.binary[spins.members])
    relaxation.run(500)
    honest, start = relaxation.multipliers(), relaxation.mean()
    count = honest.pairs.size
    for a, c in generator.integers(0, count, (400, 2)):
        forged = Multipliers(
            honest.pairs, honest.squares,
            np.vstack([honest.places, [[a, a, c]]]), np.append(honest.gamma, 1.0),
        )  # fmt: skip
        proof = Proof(Part(last=Tangent(forged, start)))
        assert proof.lower_bound(conditions) <= least + 1e-12 * abs(least)


@pytest.mark.parametrize("value", [-np.inf, -100.0, 0.0, 100.0, np.inf, np.nan])
def test_a_forged_value_of_a_reduction_proves_no_more(value: float) -> None:
    """What is cut off is bounded by that value, so a low one cuts more and proves less."""
    for seed in range(8):
        problem, formulation, least = whole_number_problem(seed)
        conditions = conditions_of(problem, formulation)
        bracket = iopt.bound(problem, formulation, gap=1e-9)
        assert bracket.proof is not None
        root = bracket.proof.root
        forged = Proof(Part(reductions=[(t, value) for t in root.tangents], last=root.last))
        assert forged.lower_bound(conditions) <= least + 1e-12 * max(1.0, abs(least))


def test_a_start_outside_the_box_proves_no_more() -> None:
    for seed in range(8):
        problem, formulation, least = whole_number_problem(seed)
        conditions = conditions_of(problem, formulation)
        box = conditions.tightened(conditions.start())
        assert box is not None
        spins = conditions.whole.spins(box.lower, box.upper)
        for size in (1e2, 1e6, 1e10):
            start = size * np.random.default_rng(seed).standard_normal(spins.m)
            tangent = Tangent(Multipliers.separable(spins), start)
            proved = Proof(Part(last=tangent)).lower_bound(conditions)
            assert proved <= least + 1e-12 * max(1.0, abs(least))
