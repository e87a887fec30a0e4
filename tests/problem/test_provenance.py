"""Nothing is known of a kernel matrix but what was computed from it, or made so by construction."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import indefinite_opt as iopt
from helpers.problems import random_problem

Claim = iopt.Claim
LABELS = [1, 1, -1, -1]


def test_a_negated_kernel_is_not_believed_to_be_convex() -> None:
    """For K = -I, Σα - ½αᵀQα = Σα + ½αᵀα: 6 at α = e, and 1 + 1 + ½ + ½ = 3 at (1, 0, 1, 0)."""
    problem = iopt.KernelProblem(-np.eye(4), LABELS)
    assert not problem.is_psd
    worse = iopt.verify(problem, iopt.SVMDual(C=1.0), {"alpha": [1.0, 0.0, 1.0, 0.0]})
    assert worse.claim < Claim.GLOBAL
    assert not np.isfinite(worse.bound)
    best = iopt.verify(problem, iopt.SVMDual(C=1.0), {"alpha": np.ones(4)}, bound=True)
    assert best.claim is Claim.GLOBAL
    assert best.objective == 6.0
    assert best.gap_kind == "global bracket"


def test_a_factor_makes_a_kernel_that_is_convex_by_construction() -> None:
    F = np.array([[1.0], [2.0], [-1.0], [0.5]])
    problem = iopt.KernelProblem(np.eye(4), LABELS).with_factor(F)
    assert_array_equal(problem.K, np.outer(F, F))
    assert problem.is_psd
    result = iopt.solve(problem, iopt.SVMDual(C=1.0))
    assert result.certificate.claim is Claim.GLOBAL
    assert "Convex by construction, as its kernel matrix is F" in str(result.certificate)


@pytest.mark.parametrize(
    ("kernel", "formulation", "words"),
    [
        ("sigmoid", iopt.SpectrumSVM(transform="flip"), "the spectrum was changed by 'flip'"),
        ("sigmoid", iopt.ESVM(energy=0.5), "its negative eigenvalues were flipped"),
        ("sigmoid", iopt.KSVM(), "its kernel matrix is F times the transpose of F"),
    ],
)
def test_the_certificate_says_why_a_problem_is_convex(kernel, formulation, words) -> None:
    result = iopt.solve(random_problem(kernel, n=30, seed=3), formulation)
    assert result.certificate.claim is Claim.GLOBAL
    assert words in str(result.certificate)


def test_convexity_along_the_constraints_only_says_so() -> None:
    """-d²/2 of points on a line is conditionally positive definite, and no more."""
    x = np.array([0.0, 1.0, 3.0, 4.0])
    problem = iopt.KernelProblem(-0.5 * (x[:, None] - x) ** 2, LABELS)
    certificate = iopt.solve(problem, iopt.SVMDual(C=1.0)).certificate
    assert certificate.claim is Claim.GLOBAL
    assert "Convex by its eigenvalues along the constraints" in str(certificate)


@pytest.mark.parametrize("formulation", ["SVMDual(C=10)", "LPSVM", "LussDual"])
def test_writing_to_the_array_that_was_given_changes_nothing(formulation) -> None:
    K = random_problem("sigmoid", n=12, seed=0).K.copy()
    y = np.resize([1, -1], 12)
    expected = iopt.solve(iopt.KernelProblem(K.copy(), y), formulation, seed=0)
    problem = iopt.KernelProblem(K, y)
    before = problem.K.copy()
    K[:] = -np.eye(12)
    result = iopt.solve(problem, formulation, seed=0)
    assert_array_equal(problem.K, before)
    assert result.objective == expected.objective
    assert result.certificate.claim is expected.certificate.claim
    assert result.certificate.objective == expected.certificate.objective


def test_no_constructor_keeps_the_array_of_its_caller() -> None:
    for make in (
        lambda D: iopt.KernelProblem.from_distances(D, LABELS, "raw"),
        lambda D: iopt.ConfidenceProblem(D, LABELS),
    ):
        D = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
        problem, before = make(D), D.copy()
        D[:] = 0.0
        assert_array_equal(problem.K, before)


@pytest.mark.parametrize("how", [{}, {"cache_mb": 1}, {"scaling": "minmax"}])
def test_writing_to_the_points_that_were_given_changes_nothing(how) -> None:
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    problem = iopt.KernelProblem.from_data(X, LABELS, "gaussian(gamma=1)", **how)

    def read() -> list[np.ndarray]:
        block = problem.gram.block(np.arange(4), np.arange(4))
        split = problem.split(np.array([0, 1, 3]), np.array([2]))
        return [block, problem.kernel_with(np.array([[0.5], [2.5]])), split.K_new]

    before = read()
    X[:] = 7.0
    problem.gram.__dict__.pop("diagonal", None)
    for found, expected in zip(read(), before, strict=True):
        assert_array_equal(found, expected)


def test_what_a_problem_holds_cannot_be_written_to() -> None:
    K = np.eye(4)
    problem = iopt.KernelProblem(K, LABELS)
    for array in (problem.K, problem.y):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 2.0
    K[0, 0] = 2.0  # the caller's own array can
    rows = iopt.KernelProblem.from_data(K, LABELS, "gaussian(gamma=1)", cache_mb=1)
    with pytest.raises(ValueError, match="read-only"):
        rows.X[0, 0] = 3.0


def test_the_kernel_is_symmetric_to_the_last_bit_and_not_copied_where_that_was_asked() -> None:
    K = np.array([[1.0, 0.3], [0.3, 1.0]])
    assert not np.shares_memory(iopt.KernelProblem(K, [1, -1]).K, K)
    assert np.shares_memory(iopt.KernelProblem(K, [1, -1], copy=False).K, K)
    K = K.copy()
    K[0, 1] *= 1.0 + 1e-15
    problem = iopt.KernelProblem(K, [1, -1], copy=False)
    assert not np.shares_memory(problem.K, K)
    assert_array_equal(problem.K, problem.K.T)
    assert problem.K[0, 1] == 0.5 * K[0, 1] + 0.5 * K[1, 0]


@pytest.mark.parametrize("size", [1e12, 1e6])
def test_asymmetry_is_judged_by_its_own_rows(size: float) -> None:
    """90 against 0 is rounding beside 1e12 only if it stands in the same row."""
    K = np.diag([size, 1.0, 1.0, 1.0])
    K[1, 2] = 90.0
    with pytest.raises(iopt.errors.ProblemError, match=r"K\[1, 2\] = 90, K\[2, 1\] = 0"):
        iopt.KernelProblem(K, LABELS)
    K[1, 2] = 0.0
    K[0, 2] = 1e-11 * size
    assert iopt.KernelProblem(K, LABELS).K[2, 0] == 0.5e-11 * size


def test_rows_on_demand_are_not_all_computed_for_a_unit() -> None:
    X = np.random.default_rng(0).standard_normal((40, 2))
    y = np.tile([1, -1], 20)
    problem = iopt.KernelProblem.from_data(X, y, "gaussian", cache_mb=1)
    iopt.solve(problem, iopt.SVMDual(C=1.0)).certificate  # noqa: B018
    assert "extremes" not in vars(problem.gram)
