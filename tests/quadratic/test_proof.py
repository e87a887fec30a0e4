"""A proof is checked without the search: honest ones prove what was found, forged ones no more."""

from __future__ import annotations

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.exact import mirrored
from helpers.problems import whole_numbers
from helpers.programs import Program
from indefinite_opt.quadratic.bracket.finite_form import box_quadratic
from indefinite_opt.quadratic.bracket.minorant import Inequalities, Multipliers
from indefinite_opt.quadratic.bracket.optimality_conditions import Box, Conditions
from indefinite_opt.quadratic.bracket.proof import Part, Proof, Tangent
from indefinite_opt.quadratic.bracket.relaxation import Relaxation
from indefinite_opt.quadratic.bracket.scaled_box import BoxQuadratic, ScaledBox


def conditions_of(problem: iopt.KernelProblem, formulation: iopt.Formulation) -> Conditions:
    return Conditions(box_quadratic(formulation.program(problem)))


def least_of(problem: iopt.KernelProblem, formulation: iopt.Formulation) -> float:
    return Program.of(problem.K, problem.y, formulation).least


def random_kernel(generator: np.random.Generator, n: int) -> iopt.KernelProblem:
    A = generator.standard_normal((n, n))
    return iopt.KernelProblem(A + A.T, np.resize([1, -1], n))


def assert_below(proof: Proof, conditions: Conditions, least: float) -> None:
    assert proof.lower_bound(conditions) <= least + 1e-12 * max(1.0, abs(least))


def whole_box(conditions: Conditions) -> tuple[Box, ScaledBox]:
    box = conditions.begin()
    return box, conditions.whole.scaled(box.lower, box.upper)


def whole_number_problem(seed: int) -> tuple[iopt.KernelProblem, iopt.Formulation, float]:
    """Small whole numbers, a formulation, and the least of F by enumeration."""
    problem, formulation = whole_numbers(seed, 2, (
        iopt.SVMDual(C=1.0), iopt.SVMDual(C=0.5, bias=False),
        iopt.ConvexHullDual(mu=1.0), iopt.GuoSchuurmansQP(beta=0.5),
    ))  # fmt: skip
    return problem, formulation, least_of(problem, formulation)


@pytest.mark.parametrize("formulation", [iopt.SVMDual(C=2.0), iopt.ConvexHullDual(mu=1.0)])
@pytest.mark.parametrize("seed", range(2))
def test_a_proof_of_another_problem_proves_nothing_false(
    seed: int, formulation: iopt.Formulation
) -> None:
    """Same n and same formulation, another kernel: the boxes fit, the multipliers do not."""
    generator = np.random.default_rng(seed)
    problems = [random_kernel(generator, 5) for _ in range(2)]
    for ours, other in (problems, problems[::-1]):
        proof = iopt.bound(other, formulation, gap=1e-6).proof
        assert proof is not None
        assert_below(proof, conditions_of(ours, formulation), least_of(ours, formulation))


def test_false_triangle_inequalities_are_not_believed() -> None:
    """With γ on literals that no inequality belongs to, -9.927 was "proved" to be -8.927."""
    generator = np.random.default_rng(5)
    problem, formulation = random_kernel(generator, 6), iopt.SVMDual(C=1.0)
    conditions, least = conditions_of(problem, formulation), least_of(problem, formulation)
    box = conditions.tightened(conditions.start())
    assert box is not None
    scaled = conditions.whole.scaled(box.lower, box.upper)
    relaxation = Relaxation.of_whole(scaled, least, box.binary[scaled.members])
    relaxation.run(500)
    honest, start = relaxation.multipliers(), relaxation.mean()
    literals, multipliers = honest.triangles
    for p, r in generator.integers(0, 2 * scaled.m, (60, 2)):
        false = Inequalities(np.vstack([literals, [[p, p, r]]]), np.append(multipliers, 1.0))
        forged = Multipliers(honest.pairs, honest.squares, false)
        assert_below(Proof(Part(last=Tangent(forged, start))), conditions, least)


@pytest.mark.parametrize("seed", range(4))
def test_a_forged_value_of_a_reduction_proves_no_more(seed: int) -> None:
    """What is cut off is bounded by that value, so a low one cuts more and proves less."""
    problem, formulation, least = whole_number_problem(seed)
    root = iopt.bound(problem, formulation, gap=1e-9).proof.root
    for value in (-np.inf, -100.0, 0.0, 100.0, np.inf, np.nan):
        forged = Proof(Part(reductions=[(t, value) for t, _ in root.bounds], last=root.last))
        assert_below(forged, conditions_of(problem, formulation), least)


def test_a_start_outside_the_box_proves_no_more() -> None:
    for seed in range(4):
        problem, formulation, least = whole_number_problem(seed)
        conditions = conditions_of(problem, formulation)
        _, scaled = whole_box(conditions)
        for size in (1e2, 1e6, 1e10):
            start = size * np.random.default_rng(seed).standard_normal(scaled.m)
            tangent = Tangent(Multipliers.separable(scaled), start)
            assert_below(Proof(Part(last=tangent)), conditions, least)


# ------------------------------------------------------------------------ the accounts of a proof


def frustrated(seed: int) -> tuple[Conditions, float]:
    """Five points, whole numbers, no row; and the least of f."""
    K = mirrored(np.random.default_rng(seed).integers(-3, 4, (5, 5)).astype(float))
    problem, formulation = iopt.KernelProblem(K, [1, -1, 1, -1, 1]), iopt.SVMDual(C=1.0, bias=False)
    return conditions_of(problem, formulation), least_of(problem, formulation)


def weak_tangent(scaled: ScaledBox, generator: np.random.Generator) -> Tangent:
    """Of a bound that is far from tight."""
    count = scaled.m * (scaled.m - 1) // 2
    m = Multipliers(10.0 * generator.random((count, 4)), np.zeros(scaled.m))
    return Tangent(m, generator.uniform(-1.0, 1.0, scaled.m))


def tight_tangent(scaled: ScaledBox, generator: np.random.Generator) -> Tangent:
    """Of the separable minorant, which is exact where one variable is left."""
    return Tangent(Multipliers.separable(scaled), generator.uniform(-1.0, 1.0, scaled.m))


def test_what_is_cut_off_is_bounded_by_the_value_it_was_cut_off_by() -> None:
    """A value below the least cuts the minimiser off; what is left may be better than that."""
    powerful = 0
    for seed in range(20):
        conditions, least = frustrated(seed)
        generator = np.random.default_rng(seed)
        box, scaled = whole_box(conditions)
        if scaled.m < 2:
            continue
        first = weak_tangent(scaled, generator)
        bound = first.bound(scaled, box)
        value = bound.value + generator.uniform(0.0, 0.05) * (least - bound.value)
        left = conditions.reduced(box, scaled, bound, value)
        last, beyond = None, -np.inf
        if left is not None:
            inner = conditions.whole.scaled(left.lower, left.upper)
            last = tight_tangent(inner, generator)
            beyond = last.bound(inner, left).value
        # Nothing left, or only what is worse than the least.
        powerful += left is None or beyond > least + 1e-9
        assert_below(Proof(Part([(first, value)], last)), conditions, least)
        # A second reduction by a high value does not make the first one good.
        second = [(first, value)] + ([(last, least + 100.0)] if last else [])
        assert_below(Proof(Part(second, last)), conditions, least)
    assert powerful >= 3


def test_what_is_cut_off_is_no_worse_than_its_tangent() -> None:
    """By a value that is too low the tangent's own bound is proved, and no less."""
    tested = 0
    for seed in range(15):
        conditions, least = frustrated(seed)
        box, scaled = whole_box(conditions)
        if scaled.m < 2:
            continue
        tangent = weak_tangent(scaled, np.random.default_rng(seed))
        bound = tangent.bound(scaled, box)
        for value in (-np.inf, bound.value - 10.0):
            assert Proof(Part([(tangent, value)])).lower_bound(conditions) == bound.value
            tested += 1
        # What an earlier tangent has shown holds for what a later one cuts off.
        proved = Proof(Part([(tangent, bound.value), (tangent, -np.inf)])).lower_bound(conditions)
        assert bound.value <= proved <= least
        assert Proof(Part(last=tangent)).lower_bound(conditions) == bound.value
    assert tested >= 8


def test_parts_that_are_missing_prove_what_was_known_before() -> None:
    """Each part is as good as the box it is a part of, and one good part proves nothing alone."""
    tested = 0
    for seed in range(8):
        conditions, least = frustrated(seed)
        generator = np.random.default_rng(seed)
        box, scaled = whole_box(conditions)
        if not box.live.any():
            continue
        tangent = weak_tangent(scaled, generator)
        known = tangent.bound(scaled, box).value
        i = int(np.argmax(box.upper - box.lower))  # the widest interval is divided
        pieces = [conditions.tightened(piece) for piece in conditions.parts(box, i, 0.5)]
        inside = [piece for piece in pieces if piece is not None]
        if len(inside) < len(pieces):
            continue
        for parts in ([], [None], [None] * len(pieces), [Part()] * (len(pieces) + 1)):
            forged = Proof(Part(last=tangent, divided=(i, 0.5), parts=list(parts)))
            assert forged.lower_bound(conditions) == known
        children, bounds = [], []
        for piece in inside:
            scaled = conditions.whole.scaled(piece.lower, piece.upper)
            child = tight_tangent(scaled, generator)
            children.append(Part(last=child))
            bounds.append(child.bound(scaled, piece).value)
        # With all but one bounded well, what is proved is the one that is not.
        for missing in (*range(len(children)), None):
            parts = [None if j == missing else child for j, child in enumerate(children)]
            proof = Proof(Part(last=tangent, divided=(i, 0.5), parts=parts))
            assert known <= proof.lower_bound(conditions) <= least + 1e-12 * max(1.0, abs(least))
        assert proof.boxes == 1 + len(children)
        # A division of a box that was not bounded itself.
        alone = Proof(Part(divided=(i, 0.5), parts=children))
        assert alone.lower_bound(conditions) == min(bounds)
        tested += 1
    assert tested >= 3


def test_a_tangent_of_another_size_is_none() -> None:
    conditions, _ = frustrated(0)
    _, scaled = whole_box(conditions)
    m = scaled.m
    assert m >= 2
    count = m * (m - 1) // 2
    honest = Tangent(Multipliers.spectral(m), np.zeros(m))
    assert honest.fits(scaled)
    for multipliers, start in (
        (honest.multipliers, np.zeros(m + 1)), (honest.multipliers, np.zeros((m, 1))),
        (Multipliers(np.zeros((count + 1, 4)), np.zeros(m)), np.zeros(m)),
        (Multipliers(np.zeros((count, 3)), np.zeros(m)), np.zeros(m)),
        (Multipliers(np.zeros((count, 4)), np.zeros(m - 1)), np.zeros(m)),
    ):  # fmt: skip
        tangent = Tangent(multipliers, start)
        assert not tangent.fits(scaled)
        assert Proof(Part(last=tangent)).lower_bound(conditions) == -np.inf
        # Nor are the reductions that follow one believed.
        assert Proof(Part([(tangent, 0.0), (honest, 0.0)])).lower_bound(conditions) == -np.inf


@pytest.mark.parametrize(
    ("rows", "rhs"),
    [
        ([[1, 1, 0]], [2 + 1e-9]),
        # (0, 7/8, 1) misses one of them by as much: ends move before nothing is left.
        ([[-1, 1, 1], [-1, 0, 2], [2, 2, -1]], [1.875 + 1e-9, 2, 0.75]),
        ([[-1, 1, 1], [-1, 0, 2], [2, 2, -1]], [1.875 - 1e-9, 2, 0.75]),
        ([[-1, 1, 1], [-1, 0, 2], [2, 2, -1]], [1.875, 2 - 1e-9, 0.75]),
    ],
)
def test_rows_that_rounding_excludes_from_the_whole_box_prove_nothing(
    rows: list[list[float]], rhs: list[float]
) -> None:
    """No part of the unit box is left by rows that miss it by 1e-9, but a box is none the less."""
    n, (A, b) = 3, (np.array(rows, float), np.array(rhs, float))
    whole = BoxQuadratic(np.eye(n), -np.ones(n), A, b, np.zeros(n), np.ones(n))
    conditions = Conditions(whole)
    assert conditions.tightened(conditions.start()) is None
    assert conditions.begin() is not None
    assert Proof(Part()).lower_bound(conditions) == -np.inf
