"""Lin & Lin (2003): worked examples, counterexamples and checkable statements, by number.

Numbers are derived in the comments. Where the printed text slips, the comment says so.
"""

from __future__ import annotations

import itertools

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import indefinite_opt as iopt
from helpers.cases import LIN_LIN
from helpers.exact import stationary_points
from helpers.printed_smo import paper_smo
from indefinite_opt.theory.sigmoid import analyse_sigmoid, shift_threshold

INF = np.inf
EXAMPLE = np.array(LIN_LIN)
EXAMPLE_Y = np.array([1, 1, -1])


def points(n: int = 12, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    return generator.standard_normal((n, 2)) + 0.5 * y[:, None], y


def sigmoid(a: float, r: float, n: int = 12, seed: int = 0) -> iopt.KernelProblem:
    return iopt.KernelProblem.from_data(*points(n, seed), "sigmoid", a=a, r=r)


# Section 2: the dual (2) and the problem (5) of separability.


def test_theorem_2_a_stationary_point_of_6_separates_and_is_one_of_2_for_large_c() -> None:
    """α̂ = (⅔, 0, ⅔) of the example: ξ = 0 in (5); stationary for (2) from C = ⅔ on."""
    problem = iopt.KernelProblem(EXAMPLE, EXAMPLE_Y)
    alpha = np.array([2 / 3, 0.0, 2 / 3])
    # Qα = (4/3 - ... ): K(y∘α) = (⅔ + ⅔, 4/3 + ⅔, -⅔) = (4/3, 2, -⅔); b = y_i - f₀ = -1/3 on
    # the free points 1 and 3: margins 4/3 - 1/3 = 1, 2 - 1/3 = 5/3, ⅔ + 1/3 = 1.
    margins = problem.Q @ alpha - EXAMPLE_Y / 3
    assert_allclose(margins, [1, 5 / 3, 1], atol=1e-15)
    for C in (2 / 3, 1.0, 10.0, INF):
        assert iopt.verify(problem, iopt.SVMDual(C=C), {"alpha": alpha}).claim == iopt.Claim.LOCAL


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
def test_an_unbounded_6_holds_a_weight_of_every_global_minimum_at_c(C: float) -> None:
    """K₁₁ + K₂₂ - 2K₁₂ = -2 < 0 for opposite classes; all stationary points are enumerated."""
    K = np.array([[1.0, 2.0, 0.3], [2.0, 1.0, 0.1], [0.3, 0.1, 1.0]])
    problem = iopt.KernelProblem(K, [1, -1, 1])
    found = stationary_points(problem.Q, -np.ones(3), C, problem.y[None, :], np.zeros(1))
    best, value = min(found, key=lambda pair: pair[1])
    assert best.max() == pytest.approx(C, rel=1e-12)
    assert iopt.solve(problem, iopt.SVMDual(C=C)).objective == pytest.approx(-value, rel=1e-7)
    with pytest.raises(iopt.errors.UnboundedProblem, match="Theorem 5"):
        iopt.solve(problem, iopt.SVMDual(C=INF))


def test_for_psd_kernels_a_solution_of_5_need_not_solve_2() -> None:
    """K = xxᵀ, x = (1, -1, 0), y∘x = (1, 1, 0): Q has the null vectors (1, -1, 0) and (0, 0, 1).

    A solution of (2) plus (-2, 2, 7) has the same Qα, so that it solves (5), but is not even
    feasible for (2).
    """
    x = np.array([1.0, -1.0, 0.0])
    problem = iopt.KernelProblem(np.outer(x, x), [1, -1, 1])
    C = 0.9
    dual = iopt.solve(problem, iopt.SVMDual(C=C), tol=1e-10)
    # (5) by a conic solver, for positive semidefinite K.
    a, b, xi = cp.Variable(3), cp.Variable(), cp.Variable(3, nonneg=True)
    objective = 0.5 * cp.quad_form(a, cp.psd_wrap(problem.Q)) + C * cp.sum(xi)
    program = cp.Problem(cp.Minimize(objective), [problem.Q @ a + b * problem.y >= 1 - xi])
    program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    assert dual.objective == pytest.approx(program.value, rel=1e-7)
    other = dual.values["alpha"] + np.array([-2.0, 2.0, 7.0])
    assert_allclose(problem.Q @ other, problem.Q @ dual.values["alpha"], atol=1e-12)
    certificate = iopt.verify(problem, iopt.SVMDual(C=C), {"alpha": other})
    assert certificate.claim == iopt.Claim.NONE


# Theorem 3 and its counterexamples.


def test_theorem_3_a_cpd_kernel_is_pd_after_a_shift_and_6_is_attained() -> None:
    """K + eeᵀ is PD; (8) with Δ = 1 and 5 is the same problem with the same unique solution."""
    X, y = points(8)
    r = shift_threshold(X, 0.5).proved - 0.5
    problem = iopt.KernelProblem.from_data(X, y, "sigmoid", a=0.5, r=r)
    assert not problem.is_psd
    assert problem.is_conditionally_psd
    first = iopt.solve(problem, iopt.SVMDual(C=INF), tol=1e-9)
    assert iopt.verify(problem, iopt.SVMDual(C=INF), first.values).claim == iopt.Claim.GLOBAL
    for delta in (1.0, 5.0):
        shifted = iopt.KernelProblem(problem.K + delta, y)
        assert np.linalg.eigvalsh(problem.K + delta)[0] > 0
        second = iopt.solve(shifted, iopt.SVMDual(C=INF), tol=1e-9)
        assert second.objective == pytest.approx(first.objective, rel=1e-6)
        alpha = first.values["alpha"]
        assert_allclose(second.values["alpha"], alpha, atol=1e-4 * alpha.max())


def test_the_spectrum_and_the_objective_of_the_example_of_section_2() -> None:
    """(1, -1, 0) has -1. On (1, 1, 0)/√2 and e₃: (3, -√2; -√2, 0), λ² - 3λ - 2 = 0.

    ½[3(α₁ - ⅔)² + 3(α₂ - ⅔)² + 8α₁α₂ - 8/3] is printed for α₃ = α₁ + α₂, and is at least -4/3.
    """
    problem = iopt.KernelProblem(EXAMPLE, EXAMPLE_Y)
    expected = [-1.0, (3 - np.sqrt(17)) / 2, (3 + np.sqrt(17)) / 2]
    assert_allclose(problem.spectrum.values, expected, atol=1e-14)
    assert problem.spectrum.inertia == (1, 2, 0)
    qp = iopt.SVMDual(C=INF).program(problem)
    for p, q in np.random.default_rng(0).exponential(size=(20, 2)):
        printed = 0.5 * (3 * (p - 2 / 3) ** 2 + 3 * (q - 2 / 3) ** 2 + 8 * p * q - 8 / 3)
        assert qp.value(np.array([p, q, p + q])) == pytest.approx(printed, abs=1e-12)
        assert printed >= -4 / 3


def test_the_example_has_two_local_optima_and_a_saddle() -> None:
    """On α₃ = α₁ + α₂ the gradient is (3α₁ + 4α₂ - 2, 4α₁ + 3α₂ - 2).

    α₂ = 0: α₁ = ⅔, F = -⅔, and the other way round; both positive: α₁ = α₂ = 2/7,
    F = ½[6(8/21)² + 32/49 - 8/3] = -4/7, a saddle, as (1, -1) has curvature 3 + 3 - 8 < 0.
    """
    problem = iopt.KernelProblem(EXAMPLE, EXAMPLE_Y)
    points = {
        (0, 2 / 3, 2 / 3): (iopt.Claim.LOCAL, 2 / 3),
        (2 / 7, 2 / 7, 4 / 7): (iopt.Claim.STATIONARY, 4 / 7),
        (2 / 3, 0, 2 / 3): (iopt.Claim.LOCAL, 2 / 3),
    }
    found = stationary_points(problem.Q, -np.ones(3), 100.0, problem.y[None, :], np.zeros(1))
    finite = sorted(tuple(np.round(x, 12)) for x, _ in found)
    assert_allclose(finite, list(points), atol=1e-11)
    for alpha, (claim, objective) in points.items():
        certificate = iopt.verify(problem, iopt.SVMDual(C=INF), {"alpha": alpha})
        assert certificate.claim == claim
        assert certificate.objective == pytest.approx(objective, rel=1e-12)


@pytest.mark.parametrize("K", [np.zeros((2, 2)), np.diag([1.0, -1.0])])
def test_psd_and_cpsd_do_not_keep_6_bounded(K: np.ndarray) -> None:
    """Both have K₁₁ + K₂₂ - 2K₁₂ = 0, and the objective 2Δ at (Δ, Δ)."""
    problem = iopt.KernelProblem(K, [1, -1])
    assert problem.is_conditionally_psd
    with pytest.raises(iopt.errors.UnboundedProblem, match="Theorem 5"):
        iopt.solve(problem, iopt.SVMDual(C=INF))
    for C in (1.0, 100.0):
        assert iopt.solve(problem, iopt.SVMDual(C=C)).objective == pytest.approx(2 * C)


# Theorems 4 to 7 are in test_sigmoid.py, Theorem 1 is beside the formulation (5).


# Section 5: without the linear constraint.


def test_theorem_10() -> None:
    """One K_ii < 0: F(Δe_i) = ½Δ²K_ii - Δ → -∞.

    For the sigmoid min a‖x‖² + r < 0: (19) is unbounded though (6) is not.
    """
    for value in (-1e-9, -2.0):
        problem = iopt.KernelProblem(np.diag([1.0, value, 2.0]), [1, -1, 1])
        with pytest.raises(iopt.errors.UnboundedProblem, match="Theorem 10"):
            iopt.solve(problem, iopt.SVMDual(C=INF, bias=False))
    X, y = points(8)
    r = shift_threshold(X, 0.5).proved - 0.5
    problem = iopt.KernelProblem.from_data(X, y, "sigmoid", a=0.5, r=r)
    assert analyse_sigmoid(X, y, 0.5, r).theorem_10
    assert np.isfinite(iopt.solve(problem, iopt.SVMDual(C=INF)).objective)
    with pytest.raises(iopt.errors.UnboundedProblem, match="Theorem 10"):
        iopt.solve(problem, iopt.SVMDual(C=INF, bias=False))


# Section 6: SMO for kernels that are not PSD.


@pytest.mark.parametrize("seed", range(2))
def test_lemma_3_and_theorem_11_on_an_indefinite_kernel(seed: int) -> None:
    """F falls by σ/2‖Δα‖² and more, σ the least |K_tt + K_rr - 2K_tr|/2 as no pair has 0.

    (30) names 2/C, too, for pairs of curvature 0, of which there are none here. The end is
    stationary for the package, which from there goes no lower than down to another local optimum.
    """
    problem = sigmoid(1.0, 0.5, n=14, seed=seed)
    K, y, C = problem.K, problem.y, 3.0
    curvatures = problem.squared_distances[~np.eye(14, dtype=bool)]
    assert curvatures.min() < 0
    sigma = np.abs(curvatures).min() / 2
    qp = iopt.SVMDual(C=C).program(problem)
    iterates = list(paper_smo(K, y, C))
    for before, after in itertools.pairwise(iterates):
        decrease = qp.value(before) - qp.value(after)
        assert decrease >= 0.5 * sigma * np.sum((after - before) ** 2) - 1e-12
        assert decrease > -1e-12
    end = iterates[-1]
    certificate = iopt.verify(problem, iopt.SVMDual(C=C), {"alpha": end}, tol=1e-7)
    assert certificate.claim >= iopt.Claim.STATIONARY
    package = iopt.solve(problem, iopt.SVMDual(C=C), "smo", start=end)
    assert package.objective >= -qp.value(end) - 1e-9


def test_the_unmodified_step_would_never_move() -> None:
    """K = (0, 1; 1, 0), y = (1, -1), α = 0: K₁₁ - 2K₁₂ + K₂₂ = -2, (25) = -2/-2 = +1 > 0 = H.

    (27) takes L = -C: α = (C, C), of objective 2C + C².
    """
    K, y, C = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([1.0, -1.0]), 4.0
    iterates = list(paper_smo(K, y, C))
    assert_array_equal(iterates, [[0, 0], [C, C]])
    problem = iopt.KernelProblem(K, y)
    result = iopt.solve(problem, iopt.SVMDual(C=C), "smo")
    assert_array_equal(result.values["alpha"], [C, C])
    assert result.objective == pytest.approx(2 * C + C * C)
