"""Stationary points that are no local minima: the descent of `smo` leaves them, and no others."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

import indefinite_opt as iopt
from helpers.exact import stationary_points
from helpers.problems import FAMILIES, kernel, labels
from helpers.programs import EPS, FORMS, INF, TOL, Program, form, smo
from indefinite_opt.formulations import as_formulation

Array = NDArray[np.float64]


def escapes(result: iopt.workflow.Result) -> int:
    """How many steps along negative curvature the message tells of."""
    return int(re.findall(r"(\d+) along negative curvature", result.message)[0])


def ended(
    K: Array, y: Any, formulation: iopt.Formulation, start: Any, rounding: float = 0.0
) -> tuple[iopt.workflow.Result, Program, Array]:
    """The checked end of a descent from a stationary point."""
    program = Program.of(K, y, formulation)
    assert program.violation(np.array(start)) <= rounding
    result = smo(iopt.KernelProblem(K, y), formulation, start=start)
    return result, program, program.check(result)


BARRIER = np.array([[1.0, 2.0], [2.0, 1.0]])  # eigenvalues 3 and -1; Q(⅓, ⅓) = e
TWO_BARRIERS = np.kron(np.eye(2), BARRIER)
CORNERS = np.kron(np.eye(2), [[0.0, 1.0], [1.0, 0.0]])


@pytest.mark.parametrize(
    ("Q", "y", "formulation", "start", "first", "last"),
    [
        # ½αᵀQα - eᵀα is -½·⅔ at the saddle and -½ at its ends (1, 0) and (0, 1).
        (BARRIER, [1, -1], "SVMDual(C=2, bias=False)", [1 / 3, 1 / 3], 1 / 3, 0.5),
        (BARRIER, [1, 1, -1], "SVMDual(C=2, bias=False)", [1 / 3, 1 / 3], 1 / 3, 0.5),
        # Both classes at the saddle: 2·⅓; one weight of each is left, 2·½.
        (TWO_BARRIERS, [1, 1, -1, -1], "SVMDual(C=1)", [1 / 3] * 4, 2 / 3, 1.0),
        (TWO_BARRIERS, [1, 1, -1, -1], "SVMDual(C=inf)", [1 / 3] * 4, 2 / 3, 1.0),
        # tᵀ(0, 1; 1, 0)t with t₁ + t₂ = ½ is at most 2/16, at t = (¼, ¼), and 0 at (½, 0).
        (CORNERS, [1, 1, -1, -1], "GuoSchuurmansQP(beta=0.5)", [0.25] * 4, 0.25, 0.0),
        # -αᵀα on two simplices of weight ½, and ᾱᵀᾱ on two of weight 1: least at the means.
        (-np.eye(6), [1, 1, 1, -1, -1, -1], "GuoSchuurmansQP(beta=0.5)", [1 / 6] * 6, -1 / 6, -0.5),
        (-np.eye(5), [1, 1, 1, 1, -1], "ConvexHullDual(mu=1)", [0.25] * 4 + [1.0], 1.25, 2.0),
        # μ = ¼: four weights of ¼ in each class.
        (-np.eye(40), [1] * 20 + [-1] * 20, "ConvexHullDual(mu=0.25)", [0.05] * 40, 0.1, 0.5),
        # Twins: Q = (1, 1; 1, 1) ⊗ (1, 2; 2, 1), a valley of saddles along the differences.
        (np.kron(np.ones((2, 2)), BARRIER), [1, -1, 1, -1], "SVMDual(C=2, bias=False)",
         [1 / 6] * 4, 1 / 3, 0.5),
    ],
)  # fmt: skip
def test_stationary_points_that_are_no_optima_are_left(
    Q: Array, y: list[int], formulation: str, start: list[float], first: float, last: float
) -> None:
    n = len(y)
    if len(Q) < n:  # one more point that stays at zero: its slope is 5/3 - 1
        Q = np.block([[Q, np.full((2, 1), 2.5)], [np.full((1, 2), 2.5), np.ones((1, 1))]])
        start = [*start, 0.0]
    K = Q * np.outer(y, y)
    result, program, _ = ended(K, y, as_formulation(formulation), start, 4.0 * EPS)
    assert program.sense * program.value(np.array(start)) == pytest.approx(first)
    assert escapes(result) >= 1
    assert result.objective == pytest.approx(last, abs=TOL)
    assert result.certificate.claim >= iopt.Claim.LOCAL


def weak(schur: list[list[float]]) -> Array:
    """Q = LLᵀ-like with Q₁₁ = 1 and a Schur complement: α = (1, 0, ...) is stationary, all weak."""
    S = np.array(schur)
    Q = np.ones((len(S) + 1, len(S) + 1))
    Q[1:, 1:] += S
    return Q


MIXED = {
    # α = (½, 0, 1), C = 1: Q₁₁ = 1, Q₁₃ = ½, Q₃₃ = ¾, Q₂₃ = 1 - ½Q₁₂; Schur (½, s; s, ½).
    1.0: np.array([[1.0, 0.0, 0.5], [0.0, 0.5, 1.0], [0.5, 1.0, 0.75]]),
    -1.0: np.array([[1.0, 2.0, 0.5], [2.0, 4.5, 0.0], [0.5, 0.0, 0.75]]),
}


@pytest.mark.parametrize(
    ("Q", "C", "start"),
    [
        # One weak weight, at zero and (Qα = e at (½, 1)) at C: curvature -1 and -½.
        (weak([[-1.0]]), 3.0, [1.0, 0.0]),
        (np.array([[0.5, 0.75], [0.75, 0.625]]), 1.0, [0.5, 1.0]),
        # Both may grow together, where the form is -2; one grows as the other shrinks.
        (weak([[1.0, -2.0], [-2.0, 1.0]]), 3.0, [1.0, 0.0, 0.0]),
        (MIXED[1.0], 1.0, [0.5, 0.0, 1.0]),
    ],
)
def test_negative_curvature_inward_is_followed(Q: Array, C: float, start: list[float]) -> None:
    y = np.resize([1.0, -1.0], len(Q))
    result, program, x = ended(Q * np.outer(y, y), y, iopt.SVMDual(C=C, bias=False), start)
    assert escapes(result) >= 1
    assert program.value(x) < program.value(np.array(start)) - 1e-3
    ends = stationary_points(Q, np.full(len(Q), -1.0), C, np.empty((0, len(Q))), np.empty(0))
    assert min(float(np.abs(x - end).max()) for end, _ in ends) <= 1e-6
    assert result.certificate.claim is iopt.Claim.LOCAL


@pytest.mark.parametrize(
    ("S", "bound"),
    [
        (np.diag([-1.0, -2.0, -3.0]), 0.2),
        ([[-0.48, -0.3, 0.38], [-0.3, -0.52, 0.6], [0.38, 0.6, -3.09]], 0.2098),
        ([[-0.55, 1.82, 0.58], [1.82, -10.31, -2.49], [0.58, -2.49, -0.92]], 0.2098),
    ],
)
def test_slopes_of_mere_rounding_do_not_hold_back(S: ArrayLike, bound: float) -> None:
    """Opposite twins of equal weight: ∇F = 0, and αᵀQα = zᵀSz for the differences z, S < 0."""
    K, y = np.kron(S, np.ones((2, 2))), np.tile([1.0, -1.0], 3)
    formulation = iopt.GuoSchuurmansQP(beta=bound)
    start = np.repeat([bound, 0.5 - 2.0 * bound], [4, 2])
    result, program, _ = ended(K, y, formulation, start, 1e-15)
    better = start + np.array([-0.1, 0.0, 0.0, 0.0, 0.1, 0.0])
    program.check_feasible(better)
    assert program.value(better) < -0.02
    assert result.objective < -0.005
    assert result.certificate.claim is iopt.Claim.LOCAL


@pytest.mark.parametrize(
    ("Q", "C", "start"),
    [
        # (1, 2; 2, 1) is negative on (1, -1) only: one of two weights at zero would shrink.
        (weak([[1.0, 2.0], [2.0, 1.0]]), 3.0, [1.0, 0.0, 0.0]),
        # α = (½, 1, 1), C = 1, Schur (¼, ½; ½, ¼): one of two weights at C would grow.
        (np.array([[1.0, 0.25, 0.25], [0.25, 0.3125, 0.5625], [0.25, 0.5625, 0.3125]]), 1.0,
         [0.5, 1.0, 1.0]),
        # Negative on (1, 1), with one weight at zero and one at C.
        (MIXED[-1.0], 1.0, [0.5, 0.0, 1.0]),
    ],
)  # fmt: skip
def test_negative_curvature_outward_decides_nothing(Q: Array, C: float, start: list[float]) -> None:
    """Local minima, as the form is nonnegative on all feasible directions."""
    y, x = np.array([1.0, -1.0, 1.0]), np.array(start)
    moves = np.random.default_rng(0).uniform(-1.0, 1.0, (10_000, 3))
    inside = np.where(x == 0.0, np.abs(moves), np.where(x == C, -np.abs(moves), moves))
    assert np.einsum("ki,ij,kj->k", inside, Q, inside).min() >= 0.0
    result, _, end = ended(Q * np.outer(y, y), y, iopt.SVMDual(C=C, bias=False), start)
    np.testing.assert_array_equal(end, x)
    assert "curvature negative on the free weights and those at a bound" in result.message
    assert result.certificate.claim is iopt.Claim.STATIONARY
    assert "decides nothing" in str(result.certificate)


@pytest.mark.parametrize("name", FORMS)
@settings(max_examples=15)
@given(
    n=st.integers(2, 10), seed=st.integers(0, 2**32 - 1), family=st.sampled_from(FAMILIES),
    scale=st.sampled_from([1e-2, 1.0, 1e2]),
)  # fmt: skip
def test_an_end_is_called_improvable_only_if_it_is(
    name: str, n: int, seed: int, family: str, scale: float
) -> None:
    """STATIONARY leaves open what zero multipliers leave open, and nothing more.

    An optimal value of zero has no relative gap, so that the tolerance is absolute as well.
    """
    K, y = scale * kernel(family, n, seed), labels(n, seed)
    problem, formulation = iopt.KernelProblem(K, y), form(name, y, 1.5)
    result = smo(problem, formulation, max_iter=100_000)
    atol = EPS * float(np.abs(K).max())
    certificate = iopt.verify(problem, formulation, result.values, atol=atol)
    assert certificate.claim >= iopt.Claim.STATIONARY
    if certificate.claim is iopt.Claim.STATIONARY:
        assert "decides nothing" in str(certificate)


@pytest.mark.parametrize("scale", [1.0, 1e-8])
def test_flat_is_flat_at_any_scale(scale: float) -> None:
    """αᵀQα = -sα₃²: α₃ = ½, and how the others share their weight changes nothing."""
    K = -scale * np.diag([0.0, 0.0, 1.0, 0.0, 0.0])
    problem = iopt.KernelProblem(K, [1, 1, 1, -1, -1])
    start = [1 / 6, 1 / 6, 1 / 6, 0.25, 0.25]
    result = smo(problem, iopt.GuoSchuurmansQP(beta=0.5), start=start)
    assert result.objective == pytest.approx(-0.25 * scale, rel=TOL)
    assert "can be improved" not in str(result.certificate)
    assert result.certificate.claim is iopt.Claim.LOCAL


@pytest.mark.parametrize("name", ["SVMDual", *FORMS[2:]])
def test_a_constant_kernel_has_no_curvature(name: str) -> None:
    """αᵀQα = κ(yᵀα)² = 0."""
    y = np.array([1.0, 1.0, 1.0, -1.0, -1.0])
    for K in (np.zeros((5, 5)), np.full((5, 5), -1.0), np.full((5, 5), 1e8)):
        total = Program.of(K, y, form(name, y, 1.3)).total
        start = np.array([2.0, 2.0, 2.0, 3.0, 3.0]) * total / 12.0
        result, _, _ = ended(K, y, form(name, y, 1.3), start, INF)
        assert "curvature negative" not in result.message
        assert escapes(result) == 0
        assert result.iterations <= 5
