"""The inner minimum over proxy kernels, against eigendecompositions of the whole matrix."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

import indefinite_opt as iopt
from helpers.problems import INERTIAS, of_inertia, positive_part
from indefinite_opt.modeling.programs.proxy_kernel import ProxyDual, ProxyOracle
from indefinite_opt.quadratic.matrices.spectrum import eigendecomposition

Array = NDArray[np.float64]

POINTS = ["normal", "tiny", "huge", "eigenvector", "sparse", "one entry"]


def point(kind: str, K: Array, seed: int) -> Array:
    generator = np.random.default_rng(seed + 1)
    n = K.shape[0]
    z = generator.standard_normal(n)
    match kind:
        case "tiny" | "huge":
            z *= 1e-10 if kind == "tiny" else 1e5
        case "eigenvector":
            z = np.linalg.eigh(K)[1][:, generator.integers(n)]
        case "sparse":
            z[generator.random(n) < 0.7] = 0.0
        case "one entry":
            z = np.eye(n)[generator.integers(n)]
    return z


def labels(n: int) -> Array:
    return np.where(np.arange(n) % 2, 1.0, -1.0)


def dual_of(K: Array, rho: float, C: float = 10.0) -> ProxyDual:
    return iopt.LussDual(C=C, rho=rho).program(iopt.KernelProblem(K, labels(K.shape[0])))


def ball_of(K: Array, room: float, C: float = 10.0) -> ProxyDual:
    problem = iopt.KernelProblem(K, labels(K.shape[0]))
    radius = float(np.sum(np.minimum(np.linalg.eigvalsh(K), 0.0) ** 2)) + room
    return iopt.LussBall(C=C, radius=radius).program(problem)


@pytest.mark.parametrize("where", POINTS)
@pytest.mark.parametrize("kind", INERTIAS)
def test_value_and_product_of_the_oracle(kind: str, where: str) -> None:
    for seed, n in enumerate((1, 2, 7)):
        K = of_inertia(kind, n, seed)
        z = point(where, K, seed)
        oracle = ProxyOracle(eigendecomposition(K))
        for rho in (1e-8, 1.0, 1e8):
            change, product = oracle(z, rho)
            M = K + np.outer(z, z) / (4.0 * rho)
            squares = [np.sum(np.maximum(np.linalg.eigvalsh(A), 0.0) ** 2) for A in (M, K)]
            norm = float(np.linalg.norm(M, 2)) + float(np.linalg.norm(K, 2))
            # ρ‖M‖² is what the reference rounds to eps.
            expected = rho * (squares[0] - squares[1])
            assert change == pytest.approx(expected, abs=1e-13 * rho * norm**2)
            error = float(np.linalg.norm(product - positive_part(M) @ z))
            assert error <= 1e-13 * norm * float(np.linalg.norm(z))


def test_oracle_near_zero() -> None:
    """c(z) = ½zᵀK₀₊z + O(‖z‖⁴), although ρ‖M₊‖² and ρ‖K₀₊‖² agree to 24 digits."""
    K, z = of_inertia("indefinite", 8, 3), 1e-12 * point("normal", np.eye(8), 3)
    oracle = ProxyOracle(eigendecomposition(K))
    change, product = oracle(z, 1.0)
    assert change == pytest.approx(0.5 * z @ positive_part(K) @ z, rel=1e-10)
    assert_allclose(product, positive_part(K) @ z, rtol=1e-10)
    for rho in (1e-8, 1e8):
        change, product = oracle(np.zeros(8), rho)
        assert change == 0.0
        assert not product.any()


@settings(max_examples=20)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 12),
    kind=st.sampled_from(INERTIAS),
    log_rho=st.floats(-8.0, 8.0),
    log_scale=st.floats(-8.0, 8.0),
)
def test_eigen_decomposes_the_updated_of_inertia(
    seed: int, n: int, kind: str, log_rho: float, log_scale: float
) -> None:
    K, rho = of_inertia(kind, n, seed) * 10.0**log_scale, 10.0**log_rho
    z = point(POINTS[seed % len(POINTS)], K, seed)
    eigen = ProxyOracle(eigendecomposition(K)).eigen(z, rho)
    M = K + np.outer(z, z) / (4.0 * rho)
    norm = float(np.linalg.norm(K, 2) + z @ z / (4.0 * rho))
    X = eigen.vectors
    assert_allclose(X.T @ X, np.eye(n), atol=1e-12)
    assert_allclose((X * eigen.values) @ X.T, M, atol=1e-13 * norm)
    assert_allclose(eigen.kernel(), positive_part(M), atol=1e-13 * norm)
    # What σzzᵀ has along directions that stay is left out: rounding of M.
    assert_allclose(
        np.outer(eigen.along, eigen.along) / (4.0 * rho),
        X.T @ np.outer(z, z) @ X / (4.0 * rho),
        atol=1e-13 * norm,
    )


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 100.0])
@pytest.mark.parametrize("kind", ["indefinite", "psd", "zero", "repeated", "graded", "clusters"])
def test_smoothed_oracle(kind: str, epsilon: float) -> None:
    """Every max(0, λ) of (5), as printed, is max over 0 ≤ v ≤ 1 of vλ - εv²/2."""

    def negative_of_5(K: Array, z: Array, rho: float) -> float:
        """Without αᵀe and without the constant ρ‖K₀‖²."""
        values, vectors = np.linalg.eigh(K + np.outer(z, z) / (4.0 * rho))
        v = np.clip(values / epsilon, 0.0, 1.0)
        phi = v * values - 0.5 * epsilon * v**2
        among = np.einsum("ij,ik,kj->j", vectors, K, vectors)
        terms = 0.5 * phi * (vectors.T @ z) ** 2 - rho * phi**2 + 2.0 * rho * among * phi
        return float(terms.sum())

    for seed, n in enumerate((1, 5)):
        K = of_inertia(kind, n, seed)
        z = point("normal", K, seed)
        for rho in (1e-2, 1.0, 1e2):
            change, product = ProxyOracle(eigendecomposition(K))(z, rho, epsilon)
            M = K + np.outer(z, z) / (4.0 * rho)
            norm, length = np.linalg.norm(M), np.linalg.norm(z)
            expected = negative_of_5(K, z, rho) - negative_of_5(K, 0.0 * z, rho)
            assert change == pytest.approx(expected, abs=1e-11 * rho * norm**2)
            if epsilon < 0.1:  # differences of so short a step would straddle the kinks
                continue
            steps = 1e-5 * length * np.eye(n)
            slopes = [
                (negative_of_5(K, z + step, rho) - negative_of_5(K, z - step, rho)) / 2e-5 / length
                for step in steps
            ]
            rounding = 1e-9 * rho * norm**2 / length  # of a difference of values, by the step
            assert_allclose(product, slopes, atol=rounding + 1e-7 * norm * length)


def programs(kind: str, seed: int) -> list[ProxyDual]:
    K = of_inertia(kind, 6, seed)
    return [dual_of(K, 0.3), dual_of(K, 30.0), ball_of(K, 0.1), ball_of(K, 10.0)]


def interior(n: int, seed: int) -> Array:
    return np.random.default_rng(seed + 2).uniform(0.5, 2.0, n)


@pytest.mark.parametrize("kind", ["indefinite", "psd", "nsd", "zero", "rank one", "repeated"])
def test_gradients_and_second_derivatives_by_differences(kind: str) -> None:
    for program in programs(kind, seed=0):
        x, y = interior(program.n, 0), program.problem.y
        gradient = program.gradient(x).copy()
        moves = 1e-5 * np.eye(program.n)
        slopes = [(program.value(x + m) - program.value(x - m)) / 2e-5 for m in moves]
        size = 1.0 + float(np.max(np.abs(gradient)))
        assert_allclose(gradient, slopes, atol=1e-7 * size)
        H = [(program.gradient(x + m) - program.gradient(x - m)) / 2e-5 for m in moves]
        signed = program.at(x).second_derivative()
        # The second derivative may jump where an eigenvalue crosses zero; not at these points.
        size = 1.0 + float(np.max(np.abs(H)))
        assert_allclose(signed * np.outer(y, y), H, atol=2e-6 * size)
        assert_allclose(signed, signed.T, rtol=1e-12, atol=1e-12 * size)
        assert np.linalg.eigvalsh(signed)[0] >= -1e-9 * size


@settings(max_examples=20)
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(INERTIAS),
    log_room=st.floats(-6.0, 6.0),
    log_z=st.floats(-4.0, 4.0),
)
def test_kernel_of_the_ball_is_on_the_sphere(
    seed: int, kind: str, log_room: float, log_z: float
) -> None:
    n = 2 + seed % 6
    K, room = of_inertia(kind, n, seed), 10.0**log_room
    ball = ball_of(K, room)
    x = 10.0**log_z * interior(n, seed)
    at = ball.at(x)
    kernel = at.eigen.kernel()
    assert np.linalg.eigvalsh(kernel)[0] >= -1e-12 * np.linalg.norm(kernel, 2)
    radius = float(np.sum(np.minimum(np.linalg.eigvalsh(K), 0.0) ** 2)) + ball.slack
    distance = float(np.sum((kernel - K) ** 2))
    # The distance itself is known to the rounding of K.
    rounding = 1e-13 * (np.sum(K**2) + radius)
    assert distance <= radius * (1.0 + 1e-12) + rounding
    assert distance == pytest.approx(radius, rel=1e-8, abs=rounding)
    z = ball.problem.y * x
    assert at.value == pytest.approx(0.5 * z @ kernel @ z - x.sum(), rel=1e-8, abs=1e-8 * x.sum())
    assert_allclose(
        at.gradient + 1.0, ball.problem.y * (kernel @ z), atol=1e-8 * np.linalg.norm(kernel @ z)
    )


def test_closed_forms_of_the_ball() -> None:
    """K₀ = 0: K* = √r zzᵀ/‖z‖², ½√r‖z‖²; K₀ = I moves the eigenvalue along z alone: 1 + √r."""
    x = np.array([1.0, 2.0, 2.0])
    for room in (1e-12, 1e-4, 4.0, 1e8):
        zero, ball = ball_of(np.zeros((3, 3)), room), ball_of(np.eye(3), room)
        assert zero.value(x) == pytest.approx(4.5 * np.sqrt(room) - 5.0, rel=1e-9)
        root = np.sqrt(ball.slack)
        assert ball.value(x) == pytest.approx(4.5 * (1 + root) - 5.0, rel=1e-9)
        # ‖K* - K₀‖ = ‖z‖²/(4ρ)
        assert ball.at(x).rho == pytest.approx(9.0 / (4.0 * root), rel=1e-7)
    # Where all eigenvalues are negative, K* = 0 in a neighbourhood, and the function is constant.
    dual, x = dual_of(-np.eye(4), 10.0), np.full(4, 0.5)
    assert dual.value(x) == -2.0
    assert not dual.at(x).second_derivative().any()
    assert not dual.at(x).eigen.kernel().any()


@pytest.mark.parametrize(("kind", "room"), [("indefinite", 0.01), ("nsd", 1.0), ("rank one", 50.0)])
def test_values_by_semidefinite_programs(kind: str, room: float) -> None:
    """max over K ⪰ 0 of ½zᵀKz in the ball, and of ½zᵀKz - ρ‖K - K₀‖² at a price."""
    n = 4
    K0, x = of_inertia(kind, n, 11), interior(n, 11)
    ball, dual = ball_of(K0, room), dual_of(K0, room)
    z = ball.problem.y * x
    K = cp.Variable((n, n), PSD=True)
    gain = 0.5 * cp.sum(cp.multiply(K, np.outer(z, z)))
    radius = float(np.sum(np.minimum(np.linalg.eigvalsh(K0), 0.0) ** 2)) + room
    inside = cp.Problem(cp.Maximize(gain), [cp.norm(K - K0, "fro") <= np.sqrt(radius)])
    inside.solve(solver=cp.CLARABEL)
    assert ball.value(x) + x.sum() == pytest.approx(inside.value, rel=1e-6)
    priced = cp.Problem(cp.Maximize(gain - room * cp.sum_squares(K - K0)))
    priced.solve(solver=cp.CLARABEL)
    assert dual.value(x) + dual.constant + x.sum() == pytest.approx(
        priced.value, rel=1e-6, abs=1e-6
    )
