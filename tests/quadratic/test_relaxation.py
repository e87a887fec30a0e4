"""The alternating direction method: its projection, its two ways to iterate, its children."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.internals import relaxation_loops
from indefinite_opt.foundation import Array
from indefinite_opt.quadratic.bracket.finite_form import box_quadratic
from indefinite_opt.quadratic.bracket.minorant import Inequalities, lower_bound, pair_indices
from indefinite_opt.quadratic.bracket.relaxation import Iterate, Relaxation
from indefinite_opt.quadratic.bracket.scaled_box import BoxQuadratic, ScaledBox
from indefinite_opt.quadratic.bracket.settings import (
    CORNER_TUNINGS,
    VERTEX_TUNING,
    Settings,
    Tuning,
)
from indefinite_opt.quadratic.matrices.positive_part import PositivePart
from indefinite_opt.quadratic.matrices.spectrum import eigenpairs_above


def scaled_of(n: int, seed: int, formulation: str = "SVMDual(C=1)") -> tuple[ScaledBox, float]:
    """A random kernel's quadratic program, and a value that it attains."""
    generator = np.random.default_rng(seed)
    A = generator.standard_normal((n, n))
    problem = iopt.KernelProblem(A + A.T, generator.permutation(np.arange(n) % 2))
    result = iopt.solve(problem, formulation)
    quadratic = box_quadratic(result.formulation.program(problem))
    return whole(quadratic), quadratic.value(next(iter(result.values.values())))


def whole(q: BoxQuadratic) -> ScaledBox:
    return q.scaled(q.lower, q.upper)


def bound_of(relaxation: Relaxation, *binary: Any) -> float:
    multipliers, start = relaxation.multipliers(), relaxation.mean()
    return lower_bound(relaxation.scaled, multipliers, start, *binary).value


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_eigenpairs_above_a_level_are_those_of_numpy(n: int) -> None:
    A = np.random.default_rng(n).standard_normal((n, n))
    A += A.T
    values = np.linalg.eigvalsh(A)
    for share in (0.0, 0.3, 1.0):
        level = values[0] - 1.0 + share * (values[-1] - values[0] + 2.0)
        found = eigenpairs_above(A.copy(), level)
        assert found is not None
        np.testing.assert_allclose(found[0], values[values > level], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(A @ found[1], found[1] * found[0], atol=1e-11 * n)
        np.testing.assert_allclose(found[1].T @ found[1], np.eye(found[0].size), atol=1e-12 * n)


def test_tunings_go_by_the_rows_and_by_the_best_point() -> None:
    """A simplex has its points near a corner; at a vertex of a large box another one is first."""
    settings, rows, n = Settings(), np.ones((1, 200)), 200
    vertex = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    inside = np.where(np.arange(n) % 10 == 0, 0.5, vertex)
    balanced, cornered = np.zeros(1), np.full(1, 2.0 - n)
    assert settings.tunings_of(rows, cornered, vertex) == CORNER_TUNINGS
    assert settings.tunings_of(rows, balanced, inside) == settings.tunings
    assert settings.tunings_of(rows[:, :100], balanced, vertex[:100]) == settings.tunings
    assert settings.tunings_of(rows, balanced, vertex) == (VERTEX_TUNING, settings.tunings[1])


@pytest.mark.parametrize("tuning", [*Settings().tunings, VERTEX_TUNING])
@pytest.mark.parametrize("formulation", ["SVMDual(C=1)", "ConvexHullDual"])
def test_partial_and_full_projections_are_the_same_method(
    tuning: Tuning, formulation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rounding apart; with all eigenvalues rare the partial one is taken in every iteration."""
    scaled, value = scaled_of(16, 3, formulation)
    ends = []
    for partial, rare in ((10**9, 0.0), (1, 0.0), (1, 1.0)):
        monkeypatch.setattr(f"{Relaxation.__module__}.MIN_PARTIAL_ORDER", partial)
        monkeypatch.setattr(f"{PositivePart.__module__}.MAX_RARE_SHARE", rare)
        relaxation = Relaxation.of_whole(scaled, value, np.zeros(scaled.m, bool), tuning)
        for _ in range(3):
            relaxation.run(20)
            relaxation.add_triangles(50, 1e-3)
        iterate = relaxation.iterate
        ends.append(np.concatenate([iterate.pairs.ravel(), iterate.U.ravel()]))
        assert np.linalg.eigvalsh(iterate.U)[0] >= -1e-12 * scaled.m
    for other in ends[1:]:
        np.testing.assert_allclose(other, ends[0], atol=1e-9)


def test_triangle_inequalities_close_a_gap() -> None:
    """Of 5e-4 between the optimum and the relaxation without them nothing is left."""
    scaled, value = scaled_of(20, 1)
    gaps = []
    for most in (0, 200):
        relaxation, best = Relaxation.of_whole(scaled, value, np.zeros(scaled.m, bool)), -np.inf
        for _ in range(40):
            relaxation.run(50)
            best = max(best, bound_of(relaxation))
            relaxation.add_triangles(most, 1e-3)
        gaps.append((value - best) / abs(value))
    assert gaps[0] > 4e-4
    assert 0.0 <= gaps[1] < 1e-9


def test_odd_cliques_close_a_gap() -> None:
    """Of 1e-3 between the largest cut of a graph and the bound by triangles nothing is left."""
    generator, n = np.random.default_rng(5), 40
    weights = np.triu(generator.integers(-50, 51, (n, n)), 1).astype(float)
    weights += weights.T
    q = BoxQuadratic(
        weights, -0.5 * weights.sum(axis=1), np.zeros((0, n)), np.zeros(0), np.zeros(n), np.ones(n)
    )
    value, bounds = -986.5, []
    for most in (0, 500):
        relaxation, best = Relaxation.of_whole(whole(q), value, np.ones(n, bool)), -np.inf
        for _ in range(16):
            relaxation.run(50)
            best = max(best, bound_of(relaxation, relaxation.binary))
            relaxation.add_triangles(1000, 1e-3)
            relaxation.add_odd_cliques(most, 1e-3)
        bounds.append(best)
    assert min(q.value(np.round(0.5 + 0.5 * d)) for d in relaxation.roundings(5)) == value
    assert bounds[0] < value - 1.0
    assert value - 1e-6 <= bounds[1] <= value


def test_violated_odd_cliques_are_local_optima() -> None:
    """No exchange of one literal violates more; at D_ij = -¼ the sums are -2½ and -21/4."""
    generator = np.random.default_rng(11)
    triples = np.array([[0, 3, 4], [1, 2, 12], [5, 7, 9]])
    compared = 0
    for size in (5, 7):
        for _ in range(5):
            A = generator.uniform(-1.0, 1.0, (9, 9))
            D = A + A.T
            found, violations = relaxation_loops.violated_odd_cliques(D, triples, size, -np.inf)
            for clique, violation in zip(found.tolist(), violations, strict=True):
                assert violation == pytest.approx(violation_of(D, clique), rel=1e-12)
                for gone, new in itertools.product(clique, range(18)):
                    other = [new, *(p for p in clique if p != gone)]
                    if len({p // 2 for p in other}) == size:
                        assert violation_of(D, other) <= violation + 1e-8
                        compared += 1
    assert compared > 1000
    for size, violation in ((5, 0.5), (7, 2.25)):
        D = np.full((size, size), -0.25)
        answer = relaxation_loops.violated_odd_cliques(D, np.array([[0, 2, 4]]), size, 0.1)
        assert answer[0].tolist() == [list(range(0, 2 * size, 2))]
        assert answer[1].tolist() == [violation]


def violation_of(D: Array, literals: list[int]) -> float:
    """By how much the sum of products of two of k values ±d is below -(k - 1)/2, its least value.

    Of ones and minus ones the least sum is that of (k - 1)/2 against (k + 1)/2.
    """
    signs = [1 - 2 * (p % 2) for p in literals]
    pairs = itertools.combinations(zip(literals, signs, strict=True), 2)
    return -0.5 * (len(literals) - 1) - sum(s * t * D[p // 2, q // 2] for (p, s), (q, t) in pairs)


@pytest.mark.parametrize("size", [3, 5, 7])
def test_odd_cliques_hold_at_every_vertex_and_somewhere_as_equations(size: int) -> None:
    literals = np.arange(0, 2 * size, 2)[None]
    literals[0, ::2] += 1
    places, signs, least = Inequalities(literals, np.ones(1)).products()
    i, j = pair_indices(size)
    rooms = []
    for x in itertools.product((0, 1), repeat=size):
        slacks = np.array([(share, 1 - share) for share in x])
        products = (slacks[i][:, :, None] * slacks[j][:, None, :]).ravel()
        rooms.append(float((products[places] @ signs - least).item()))
    assert min(rooms) == 0.0
    assert max(rooms) > 0.0


def test_triples_of_literals_say_what_their_triangle_inequality_does() -> None:
    """It is violated at no vertex, and has room only where all three literals are equal.

    There are 4·C(m, 3), each multilinear: none is violated between the vertices either.
    """
    m, seen = 5, set()
    generator = np.random.default_rng(3)
    for _ in range(200):
        pairs = generator.standard_normal((m * (m - 1) // 2, 4))
        found, _ = relaxation_loops.most_violated(pairs, np.zeros_like(pairs), m, 0.0, 1000)
        seen |= set(map(tuple, found.tolist()))
    triangles = np.array(sorted(seen))
    places, signs, least = Inequalities(triangles, np.ones(len(triangles))).products()
    i, j = pair_indices(m)
    for x in itertools.product((0, 1), repeat=m):
        slacks = np.array([(share, 1 - share) for share in x])
        products = (slacks[i][:, :, None] * slacks[j][:, None, :]).ravel()
        equal = np.ptp(slacks.ravel()[triangles ^ [0, 1, 1]], axis=1) == 0
        np.testing.assert_array_equal(products[places] @ signs - least, equal)
    assert len(places) == 4 * 10


def test_a_part_of_a_box_inherits_its_bound() -> None:
    """Twenty iterations from the multipliers of the whole box do more than twenty from none."""
    A = np.random.default_rng(8).standard_normal((14, 14))
    problem = iopt.KernelProblem(A + A.T, np.arange(14) % 2)
    quadratic = box_quadratic(iopt.SVMDual(C=1.0, bias=False).program(problem))
    relaxation = Relaxation.of_whole(whole(quadratic), 0.0, np.zeros(14, bool))
    relaxation.run(1000)
    low, high = quadratic.lower.copy(), quadratic.upper.copy()
    low[3], high[5] = high[3], low[5]
    part = quadratic.scaled(low, high)
    assert part.m == 12
    child = relaxation.restricted(part, 0.0, np.zeros(12, bool))
    fresh = Relaxation.of_whole(part, 0.0, np.zeros(12, bool))
    for start in (child, fresh):
        start.run(20)
    assert bound_of(child) > bound_of(relaxation)
    assert bound_of(child) > bound_of(fresh) + 0.1 * abs(bound_of(fresh))


def test_multipliers_of_fixed_variables_are_folded_into_the_others() -> None:
    """The sum of all multiplied products, with x₁ = 1 and x₃ = 0 put in, is that of the child."""
    generator = np.random.default_rng(9)
    m, omega = 5, 1.7
    q = BoxQuadratic(np.eye(m), np.zeros(m), np.zeros((0, m)), np.zeros(0), np.zeros(m), np.ones(m))
    part = q.scaled(1.0 * (np.arange(m) == 1), 1.0 * (np.arange(m) != 3))
    old = Iterate.of_whole(m, 1.0)
    old.pairs[:] = -generator.random(old.pairs.shape)
    new = old.inherited(whole(q), part, omega)

    def products(pairs: np.ndarray, x: np.ndarray) -> float:
        slacks, (i, j) = np.column_stack([x, 1.0 - x]), pair_indices(x.size)
        return -2.0 * np.einsum("kab,ka,kb", pairs.reshape(-1, 2, 2), slacks[i], slacks[j])

    for _ in range(10):
        x = generator.random(m)
        x[1], x[3] = 1.0, 0.0
        left = x[part.members]
        ends = 2.0 * omega * (0.5 - new.ends) * np.column_stack([left, 1.0 - left])
        # x₁s₃ = 1: row 3·2/2 + 1 of the pairs, slacks s of 3 and x of 1.
        found = products(new.pairs, left) + ends.sum() + 2.0 * -old.pairs[4, 2]
        assert found == pytest.approx(products(old.pairs, x), rel=1e-12)
