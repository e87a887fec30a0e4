"""Random problems of every kind and false points for them, against exact references.

Two dozen by default. The slow test takes three minutes: ADVERSARY_SECONDS and ADVERSARY_SEED say
otherwise.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from campaign import assert_nothing_false, long_campaign
from decimals import eigen, logistic_bracket
from drawing import BRACKETED, FORMULATIONS, KERNELS, draw
from hunt import Hunt
from references import reference_of
from scipy.optimize import linprog

import indefinite_opt as iopt
from helpers.exact import BoxProgram, as_matrix, as_vector, is_psd, linear_optimum, mirrored


@pytest.mark.parametrize("first", [0, pytest.param(24, marks=pytest.mark.slow)])
def test_nothing_false_is_claimed_of_kernels_of_every_kind(first: int) -> None:
    """24 draws, with all kinds of kernels and nearly all formulations among them."""
    hunt = Hunt(27)
    hunt.run(draws=len(KERNELS), first=first * (len(KERNELS) + 1), step=len(KERNELS) + 1)
    assert_nothing_false(hunt)
    assert sum(hunt.counts[claim] for claim in ("GLOBAL", "LOCAL", "STATIONARY")) >= 16


@pytest.mark.slow
def test_nothing_false_is_claimed(capsys: pytest.CaptureFixture[str]) -> None:
    long_campaign(Hunt, capsys)


@pytest.mark.slow
def test_brackets_hold_the_optimum_whatever_constant_a_kernel_has() -> None:
    """The constant has no effect along yᵀα = 0."""
    hunt = Hunt(38, ["constant"], list(BRACKETED), brackets_only=True)
    hunt.run(draws=75)
    assert_nothing_false(hunt)


# -------------------------------------------------------------------------- the references


def test_the_enumeration_finds_minima_known_in_closed_form() -> None:
    """-x₁x₂ on the unit square; the nearest point to (2, 1/2) on x₁ = x₂; -½‖x‖² on x₁ + x₂ = 1."""
    zero, one = [Fraction(0)] * 2, [Fraction(1)] * 2
    product = BoxProgram(as_matrix([[0, -1], [-1, 0]]), zero, zero, list(one), [], [])
    assert product.minimum() == (Fraction(-1), one)
    line, eye = [[Fraction(1), Fraction(-1)]], as_matrix(np.eye(2))
    nearest = BoxProgram(eye, as_vector([-2, -0.5]), zero, [None] * 2, line, [Fraction(0)])
    assert nearest.minimum() == (Fraction(-25, 16), [Fraction(5, 4)] * 2)
    vertices = BoxProgram(as_matrix(-np.eye(2)), zero, zero, list(one), [one], [Fraction(1)])
    assert vertices.minimum()[0] == Fraction(-1, 2)


def test_the_simplex_method_agrees_with_scipy() -> None:
    g = np.random.default_rng(0)
    for _ in range(25):
        A = g.integers(-2, 3, (3, 7)).astype(float)
        b, cost = A @ g.integers(0, 3, 7), g.integers(0, 5, 7).astype(float)
        found = linear_optimum(as_vector(cost), as_matrix(A), as_vector(b))
        assert found is not None
        assert float(found) == pytest.approx(linprog(cost, A_eq=A, b_eq=b).fun, abs=1e-9)
    assert linear_optimum([Fraction(1)], [[Fraction(1)]], [Fraction(-1)]) is None


def test_eigenvalues_and_semidefiniteness_agree_with_numpy() -> None:
    g = np.random.default_rng(1)
    for n in (2, 5):
        A = mirrored(g.standard_normal((n, n)))
        values, vectors = eigen(as_matrix(A))
        rows = np.array([[float(v) for v in row] for row in vectors])
        diagonal = np.array([float(v) for v in values])
        np.testing.assert_allclose(rows.T @ (diagonal[:, None] * rows), A, atol=1e-14)
        np.testing.assert_allclose(np.sort(diagonal), np.linalg.eigvalsh(A), atol=1e-13)
        assert not is_psd(as_matrix(A - (diagonal.min() + 1e-9) * np.eye(n)))
        assert is_psd(as_matrix(A - (diagonal.min() - 1e-9) * np.eye(n)))
    assert is_psd(as_matrix([[1, 1], [1, 1]]))
    assert not is_psd(as_matrix([[0, 1], [1, 1]]))


def test_the_logistic_bracket_closes_on_a_closed_form() -> None:
    """K = 0: C(3 log(5/3) + 2 log(5/2)), from any point."""
    y = as_vector([1, 1, 1, -1, -1])
    value, low, high = logistic_bracket(
        as_matrix(np.zeros((5, 5))), y, Fraction(2), as_vector([1, 0, 0, 0, 0]), Fraction(1)
    )
    expected = 2.0 * (3.0 * np.log(5 / 3) + 2.0 * np.log(5 / 2))
    assert float(low) == pytest.approx(expected, rel=1e-14)
    assert low <= high < value
    assert high - low < Fraction(1, 10**20)


def test_drawing_is_reproducible_and_covers_everything() -> None:
    kernels, formulations = list(KERNELS), list(FORMULATIONS)
    count = len(kernels) * len(formulations)
    drawn = [draw(3, k, kernels, formulations) for k in range(count)]
    assert len({(each.kind, each.name) for each in drawn}) == count
    again = draw(3, 17, kernels, formulations)
    np.testing.assert_array_equal(again.K, drawn[17].K)
    assert again.formulation == drawn[17].formulation


def test_an_asymmetric_kernel_is_its_mean() -> None:
    """diag(1e12, 1, 1, 1), K₁₂ = 90, K₂₁ = 0: (0, 10, 10, 0) has 20 - 100 + 45·100 = 4420."""
    K, y = np.diag([1e12, 1.0, 1.0, 1.0]), np.array([1.0, 1.0, -1.0, -1.0])
    K[1, 2] = 90.0
    drawn = replace(draw(0, 0, ["random"], ["SVMDual"]), K=K, y=y, formulation=iopt.SVMDual(C=10.0))
    reference = reference_of(drawn)
    assert reference.value({"alpha": np.array([0.0, 10.0, 10.0, 0.0])}) == -4420
    assert reference.low is not None
    assert reference.low <= -4420
