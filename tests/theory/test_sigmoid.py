"""The sigmoid analysis against closed forms, brute force and the kernel matrix itself."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indefinite_opt as iopt
from indefinite_opt.theory.sigmoid import analyse_sigmoid, shift_threshold


def clouds(n: int = 16, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping classes in the plane."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, 2))
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    return X + 0.6 * y[:, None], y


def two_point_threshold(x: float, z: float, a: float) -> float:
    """r̂ of two points on a line: where det(K + eeᵀ) = 0.

    With A = e^{2ax²}, B = e^{2az²}, D = e^{2axz} and t = e^{2r} the determinant of E/(1 + tE) has
    the sign of AB(1 + tD)² - D²(1 + tA)(1 + tB) = AB - D² - t·D(D(A + B) - 2AB): linear in t.
    """
    A, B, D = np.exp(2 * a * x * x), np.exp(2 * a * z * z), np.exp(2 * a * x * z)
    slope = D * (D * (A + B) - 2 * A * B)
    return 0.5 * np.log((A * B - D * D) / slope) if slope > 0 else np.inf


# The threshold of Theorem 4.


@pytest.mark.parametrize(("x", "z", "a"), [(1, 2, 1), (0.5, 1.5, 1), (0.2, 1.5, 2), (1, 1.1, 3)])
def test_the_threshold_of_two_points_is_that_of_the_closed_form(x, z, a) -> None:
    found = shift_threshold([[x], [z]], a)
    expected = two_point_threshold(x, z, a)
    assert found.proved <= expected <= found.refuted
    assert found.refuted - found.proved < 3e-4
    # Two points of equal norm have none: D = 1/A, 2 - 2A² < 0, so that no determinant vanishes.
    assert two_point_threshold(1, -1, 1) == np.inf
    found = shift_threshold([[1.0], [-1.0]], 1.0)
    assert found.refuted == np.inf
    assert found.proved > 10


def test_the_threshold_of_points_far_apart_and_too_close() -> None:
    found = shift_threshold([[30.0], [31.0], [-30.0]], 1.0)  # e^(2·961) is no float
    assert -1000 < found.proved < found.refuted < -900
    # Seven points within 1e-3: λ_min of their RBF kernel is far below 1e-16.
    assert shift_threshold(np.linspace(0, 1e-3, 7)[:, None], 1.0).proved == -np.inf


# Cases and theorems.


def test_the_table_of_section_3() -> None:
    cases = [(1, -1, 1), (1, 0, 2), (1, 2, 2), (-1, 2, 3), (-1, 0, 4), (-1, -2, 4), (0, 1, 0)]
    for a, r, case in cases:
        assert analyse_sigmoid(*clouds(6), a, r).case == case


def test_theorem_5_on_one_pair() -> None:
    """x = 1, z = 2, a = r = 1: tanh 2 + tanh 5 - 2 tanh 3 = -0.0262."""
    analysis = analyse_sigmoid([[1.0], [2.0]], [1, -1], 1.0, 1.0)
    expected = np.tanh(2) + np.tanh(5) - 2 * np.tanh(3)
    assert analysis.pair.squared_distance == pytest.approx(expected, abs=1e-14)
    assert analysis.bounded is False
    problem = iopt.KernelProblem.from_data([[1.0], [2.0]], [1, -1], "sigmoid", a=1.0, r=1.0)
    with pytest.raises(iopt.errors.UnboundedProblem, match="Theorem 5"):
        iopt.SVMDual(C=np.inf).program(problem)


def test_condition_9_is_decided_exactly() -> None:
    """max a‖x‖² + r with a = 0.1 (a little more than a tenth) at ‖x‖² = 4: not 0.4 in floats."""
    X, y = [[1.0], [2.0]], [1, -1]
    assert analyse_sigmoid(X, y, 1.0, -4.0).lemma_2
    assert not analyse_sigmoid(X, y, 1.0, np.nextafter(-4.0, 0.0)).lemma_2
    # 4·fl(0.1) = fl(0.4) exactly, a scaling by a power of two; 9·fl(0.1) is no float.
    assert analyse_sigmoid(X, y, 0.1, -0.4).lemma_2
    assert not analyse_sigmoid([[1.0], [3.0]], y, 0.1, -0.9).lemma_2


def test_lemma_2_makes_every_pair_convex() -> None:
    X, y = clouds(10)
    r = -0.5 * float(np.max(np.sum(X**2, axis=1)))
    assert analyse_sigmoid(X, y, 0.5, 1.0001 * r).lemma_2
    K = np.tanh(0.5 * X @ X.T + 1.0001 * r)
    D = np.diag(K)[:, None] + np.diag(K)[None, :] - 2 * K
    assert D[~np.eye(10, dtype=bool)].min() > 0


def test_theorem_6_beyond_its_threshold() -> None:
    """r̄ = -r̂(|a|): for x = 1, 2 and a = -1 the closed form gives 2.9166."""
    bar = -two_point_threshold(1, 2, 1)
    X, y = [[1.0], [2.0]], [1, -1]
    beyond = analyse_sigmoid(X, y, -1.0, bar + 0.01)
    assert beyond.theorem_6
    assert beyond.bounded is False
    assert not analyse_sigmoid(X, y, -1.0, bar - 0.01).theorem_6
    for r in (bar + 0.01, bar + 5):
        assert np.tanh(r - 1) + np.tanh(r - 4) - 2 * np.tanh(r - 2) < 0


def test_theorem_7_needs_no_strict_inequality() -> None:
    """⟨0, 1⟩ = 0 = min(0, 1): tanh r + tanh(r - 1) - 2 tanh r < 0."""
    analysis = analyse_sigmoid([[0.0], [1.0]], [1, -1], -1.0, -0.5)
    assert analysis.theorem_7 == (0, 1)
    assert analysis.bounded is False
    # ⟨1, 2⟩ = 2 > min(1, 4): the theorem is silent, and for r = 0 so is Theorem 5, as
    # tanh(-1) + tanh(-4) - 2 tanh(-2) = 0.167 > 0.
    silent = analyse_sigmoid([[1.0], [2.0]], [1, -1], -1.0, 0.0)
    assert silent.theorem_7 is None
    assert silent.pair.squared_distance == pytest.approx(0.1671, abs=1e-4)
    assert silent.bounded is True
    # It is not used outside case 4.
    assert analyse_sigmoid([[0.0], [1.0]], [1, -1], -1.0, 0.5).theorem_7 is None


def test_a_point_in_both_classes_is_a_pair_of_distance_0() -> None:
    analysis = analyse_sigmoid([[0.1, 0.3], [0.1, 0.3], [1.0, 1.0]], [1, -1, 1], 0.7, -5.0)
    assert (analysis.pair.i, analysis.pair.j) == (0, 1)
    assert (analysis.pair.squared_distance, analysis.pair.rounding) == (0.0, 0.0)
    assert analysis.bounded is False
    assert not analysis.distinct
    assert not analysis.theorem_4


def test_a_distance_that_underflows_proves_nothing() -> None:
    """e^(-2·400) is no float; the kernel is conditionally positive definite (Theorem 4)."""
    analysis = analyse_sigmoid([[1.0], [-1.0]], [1, -1], 1.0, -400.0)
    assert analysis.pair.squared_distance == 0.0
    assert not analysis.pair.unbounded
    assert analysis.bounded is True


def test_a_point_twice_in_its_class_leaves_the_problem_bounded() -> None:
    """Two weights of one point act as their sum; K itself is only conditionally semidefinite."""
    analysis = analyse_sigmoid([[1.0], [1.0], [-1.0]], [1, 1, -1], 1.0, -4.0)
    assert not analysis.distinct
    assert not analysis.conditional.positive
    assert analysis.bounded is True
    constant = analyse_sigmoid([[1.0], [2.0]], [1, -1], 0.0, -1.0)
    assert (constant.bounded, constant.threshold) == (False, None)


def test_separated_classes_are_bounded_without_cpd() -> None:
    """Inner products: ≥ 4 within a class, ≤ -4 across; but tanh 7 + tanh 12 < 2 tanh 9."""
    X, y = [[2.0], [3.0], [-2.0], [-3.0]], [1, 1, -1, -1]
    analysis = analyse_sigmoid(X, y, 1.0, 3.0)
    assert np.tanh(7) + np.tanh(12) - 2 * np.tanh(9) < 0
    assert analysis.conditional.negative
    assert analysis.separated
    assert analysis.bounded is True
    problem = iopt.KernelProblem.from_data(X, y, "sigmoid", a=1.0, r=3.0)
    assert np.isfinite(iopt.solve(problem, iopt.SVMDual(C=np.inf)).objective)


def test_what_is_not_proved_is_not_claimed() -> None:
    X, y = clouds(30)
    analysis = analyse_sigmoid(X, y, 0.3, -2.0)
    assert analysis.conditional.negative
    assert analysis.pair.squared_distance > 0
    assert analysis.bounded is None


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.floats(-2, 2), st.floats(-4, 4))
def test_claims_hold_in_sampled_directions(seed: int, a: float, r: float) -> None:
    """Bounded: vᵀQv > 0 for all v ≥ 0 on the line; unbounded: the pair has vᵀQv ≤ 0."""
    generator = np.random.default_rng(seed)
    X, y = generator.standard_normal((5, 2)), np.array([1, 1, -1, -1, 1])
    analysis = analyse_sigmoid(X, y, a, r)
    K = np.tanh(a * X @ X.T + r)
    rounding = 1e-13
    pair = analysis.pair
    distance = K[pair.i, pair.i] + K[pair.j, pair.j] - 2 * K[pair.i, pair.j]
    assert pair.squared_distance == pytest.approx(distance, abs=rounding)
    V = generator.exponential(size=(200, 5)) * (generator.random((200, 5)) < 0.5)
    for sign in (1, -1):
        V[:, y == sign] /= np.maximum(V[:, y == sign].sum(axis=1, keepdims=True), 1e-300)
    V = V[np.abs(V @ y) < 1e-9] * y
    curvatures = np.einsum("ki,ij,kj->k", V, K, V)
    if analysis.bounded:
        assert curvatures.min(initial=0.0) > -rounding
    if analysis.theorem_6:
        assert curvatures.max(initial=0.0) < rounding
    if analysis.theorem_7 is not None:
        assert distance <= rounding
    if analysis.conditional.positive:
        assert curvatures.min(initial=0.0) > -rounding
    if analysis.kernel.positive:
        assert np.linalg.eigvalsh(K)[0] > 0


# Digits.


def test_a_kernel_that_tanh_rounds_away_is_still_known() -> None:
    """K + eeᵀ → 2e^{2r}E: its least eigenvalue on eᵀv = 0 is 2e^{2r} times that of E."""
    X, y = clouds(6)
    analysis = analyse_sigmoid(X, y, 0.5, -40.0)
    Z = np.linalg.svd(np.ones((1, 6)))[2][1:].T
    least = np.linalg.eigvalsh(Z.T @ np.exp(X @ X.T) @ Z)[0]
    assert analysis.conditional.value == pytest.approx(2 * np.exp(-80.0) * least, rel=1e-6)
    assert analysis.conditional.positive
    assert analysis.bounded is True
    assert np.all(np.tanh(0.5 * X @ X.T - 40.0) == -1.0)


def shifted_exactly(X: np.ndarray, a: float, r: float) -> list[list[Decimal]]:
    """K + eeᵀ of the floats as they are, in the precision of the context."""

    def entry(x: np.ndarray, z: np.ndarray) -> Decimal:
        inner = sum(Decimal(float(p)) * Decimal(float(q)) for p, q in zip(x, z, strict=True))
        return 2 / (1 + (-2 * (Decimal(a) * inner + Decimal(r))).exp())

    return [[entry(x, z) for z in X] for x in X]


def positive_definite(matrix: list[list[Decimal]]) -> bool:
    """Whether all pivots of the elimination are positive."""
    M = [row[:] for row in matrix]
    for k, pivot_row in enumerate(M):
        if pivot_row[k] <= 0:
            return False
        for row in M[k + 1 :]:
            factor = row[k] / pivot_row[k]
            row[:] = [p - factor * q for p, q in zip(row, pivot_row, strict=True)]
    return True


@pytest.mark.parametrize("seed", range(8))
def test_every_proof_stands_in_two_hundred_digits(seed: int) -> None:
    """Scales of X, a and r over several powers of ten; undecided is allowed, wrong is not."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((4, 2)) * 10 ** generator.uniform(-2, 0.8)
    a = float(10 ** generator.uniform(-2, 0.3))
    r = float(generator.standard_normal() * 10 ** generator.uniform(-1, 1))
    analysis = analyse_sigmoid(X, [1, -1, 1, -1], a, r)
    threshold, pair = analysis.threshold, analysis.pair
    with localcontext() as context:
        context.prec = 200
        S = shifted_exactly(X, a, r)
        # vᵀKv on eᵀv = 0 is a form in the differences to the last point.
        D = [[S[i][j] - S[i][3] - S[3][j] + S[3][3] for j in range(3)] for i in range(3)]
        K = [[entry - 1 for entry in row] for row in S]
        for claim, matrix in (
            (analysis.shifted, S), (analysis.conditional, D), (analysis.kernel, K),
        ):  # fmt: skip
            assert not (claim.positive and not positive_definite(matrix))
            assert not (claim.negative and positive_definite(matrix))
        if np.isfinite(threshold.proved):
            assert positive_definite(shifted_exactly(X, a, threshold.proved))
        if np.isfinite(threshold.refuted):
            assert not positive_definite(shifted_exactly(X, a, threshold.refuted))
        exact = S[pair.i][pair.i] + S[pair.j][pair.j] - 2 * S[pair.i][pair.j]
        assert abs(exact - Decimal(pair.squared_distance)) <= Decimal(pair.rounding)


# Wrong input.


def test_bad_input() -> None:
    for X, y, argument in (([[1e200], [1.0]], [1, -1], "X"), ([[1.0], [2.0]], [1, 1], "y")):
        with pytest.raises(iopt.errors.BadArgument) as caught:
            analyse_sigmoid(X, y)
        assert caught.value.argument == argument


def test_the_numbers_that_decide() -> None:
    analysis = analyse_sigmoid([[1.0, 2.0], [-1.0, 0.0], [0.0, 3.0]], [1, -1, 1])
    assert (analysis.a, analysis.r) == (0.5, -1.0)  # 1/d, and the default of the kernel
    assert analysis.levels == (-0.5, 3.5)
    assert analysis.theorem_10


@pytest.mark.parametrize("seed", range(4))
def test_the_threshold_agrees_with_eigenvalues_on_a_grid(seed: int) -> None:
    """tanh + 1 formed directly has ten digits and more down to r = -5: enough for four points."""
    X = np.random.default_rng(seed).standard_normal((4, 2))
    found = shift_threshold(X, 0.7)
    for r in np.linspace(-5, 3, 33):
        least = np.linalg.eigvalsh(np.tanh(0.7 * X @ X.T + r) + 1)[0]
        if abs(least) > 1e-12:
            assert r < found.refuted if least > 0 else r > found.proved
