"""Theorem 3 of Lin & Lin: the least Δ with K + Δeeᵀ ≻ 0, against eigenvalues and closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.cases import LIN_LIN
from helpers.problems import gaussian, symmetric
from indefinite_opt.theory import lin_lin_theorem_3


def problem_of(K: np.ndarray) -> iopt.KernelProblem:
    return iopt.KernelProblem(K, np.resize([1, -1], len(K)))


def conditionally_definite(n: int, seed: int) -> np.ndarray:
    """Definite on eᵀv = 0 with eigenvalues of at least 1, and anything across it."""
    generator = np.random.default_rng(seed)
    A = generator.standard_normal((n, n))
    centred = A - A.mean(axis=0)
    u = generator.standard_normal(n)
    return centred @ centred.T + np.eye(n) + u[:, None] + u - 3.0


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n", [2, 7, 40])
def test_the_least_eigenvalue_changes_its_sign_there(n: int, seed: int) -> None:
    K = conditionally_definite(n, seed)
    shift = lin_lin_theorem_3(problem_of(K))
    assert shift.infimum == pytest.approx(-1.0 / np.linalg.solve(K, np.ones(n)).sum(), rel=1e-9)
    step = 1e-6 * max(1.0, abs(shift.infimum))
    assert np.linalg.eigvalsh(K + shift.infimum - step)[0] < 0.0
    assert np.linalg.eigvalsh(K + shift.infimum + step)[0] > 0.0
    assert shift.infimum < shift.proved < shift.infimum + step
    assert np.linalg.eigvalsh(K + shift.proved)[0] > 0.0
    assert shift.conditional.positive


def test_two_points() -> None:
    """det(K + Δeeᵀ) = ac - b² + Δ(a + c - 2b): Δ > (b² - ac)/(a + c - 2b), if a + c > 2b."""
    for a, b, c in np.random.default_rng(0).standard_normal((20, 3)):
        shift = lin_lin_theorem_3(problem_of(np.array([[a, b], [b, c]])))
        expected = (b * b - a * c) / (a + c - 2 * b) if a + c > 2 * b else np.inf
        assert shift.infimum == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_no_shift_helps_what_is_not_cpd() -> None:
    """diag(1, -1) is CPSD only, the example of section 2 has vᵀKv = -2 at (1, -1, 0)."""
    for K in (np.diag([1.0, -1.0]), np.zeros((3, 3)), np.array(LIN_LIN), symmetric(8, 0)):
        shift = lin_lin_theorem_3(problem_of(K))
        assert shift.infimum == shift.proved == np.inf
        negative = np.linalg.eigvalsh(K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean())[0]
        assert shift.conditional.value == pytest.approx(negative, abs=1e-14)
        said = "rounding hides whether" if abs(negative) < 1e-14 else "positive definite for no Δ"
        assert said in str(shift)


@pytest.mark.parametrize("constant", [-(2.0**30), 2.0**30])
def test_a_constant_in_the_kernel_moves_the_threshold_alone(constant: float) -> None:
    """To the last digit of Δ: the entries are multiples of 2⁻²⁰, so that their sums are exact."""
    K = np.round(gaussian(20, 2, 0.5) * 2**20) / 2**20
    plain, moved = (lin_lin_theorem_3(problem_of(K + shift)) for shift in (0.0, constant))
    assert moved.infimum + constant == pytest.approx(plain.infimum, abs=2e-7)
    assert moved.conditional.value == pytest.approx(plain.conditional.value, rel=1e-9)
    assert moved.proved == np.inf or np.linalg.eigvalsh(K + (constant + moved.proved))[0] > 0


def test_theorem_4_has_a_shift_below_1() -> None:
    """K + eeᵀ is PD up to r̂, and above r̂ not even positive semidefinite."""
    X = np.random.default_rng(0).standard_normal((8, 2))
    threshold = iopt.theory.shift_threshold(X, 0.5)
    shifts = [
        lin_lin_theorem_3(problem_of(np.tanh(0.5 * X @ X.T + r))).infimum
        for r in (threshold.proved - 1e-3, threshold.refuted + 1e-3)
    ]
    assert shifts[0] < 1.0 < shifts[1]
