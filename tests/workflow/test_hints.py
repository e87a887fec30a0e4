"""Values that other programs write in another form are recognised, and judged as they are."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.svm import SVC

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from helpers.peers import libsvm

C = 1.0


@pytest.fixture(scope="module")
def problem() -> iopt.KernelProblem:
    data = iopt.datasets.load("checkerboard(n=60)")
    return iopt.KernelProblem.from_data(data.points, data.y, "sigmoid(a=1, r=-1)")


@pytest.fixture(scope="module")
def alpha(problem: iopt.KernelProblem) -> np.ndarray:
    return iopt.solve(problem, iopt.SVMDual(C=C)).values["alpha"]


def said(certificate: iopt.Certificate) -> str:
    return " ".join(certificate.reasons)


def test_dual_coef_of_libsvm(problem: iopt.KernelProblem) -> None:
    """The residual of y∘α is what the certificate of y∘α says, here of LIBSVM's tolerance."""
    _, signed, _ = libsvm(problem, C, tol=1e-3)
    certificate = iopt.verify(problem, iopt.SVMDual(C=C), signed)
    assert certificate.claim is iopt.Claim.NONE
    assert "y∘alpha, as LIBSVM's dual_coef_" in said(certificate)
    right = iopt.verify(problem, iopt.SVMDual(C=C), problem.y * signed, tol=1e-4)
    expected = f"the first-order conditions up to {right.stationarity:.1e}."
    assert expected in said(certificate)


def test_the_alpha_of_the_paper_for_esvm(problem: iopt.KernelProblem) -> None:
    values, vectors = np.linalg.eigh(problem.K)
    found = iopt.solve(problem, iopt.ESVM(C=C)).values["alpha"]
    y = problem.y
    paper = y * (vectors @ (np.sign(values) * (vectors.T @ (y * found))))
    certificate = iopt.verify(problem, iopt.ESVM(C=C), {"alpha": paper})
    assert certificate.claim <= iopt.Claim.FEASIBLE
    assert "as the paper's α" in said(certificate)


def test_the_tolerance_that_a_solution_of_libsvm_meets(problem: iopt.KernelProblem) -> None:
    """LIBSVM ends where no pair, by numpy, violates the conditions by more than its tolerance."""
    svc = SVC(C=C, kernel="precomputed", tol=1e-2).fit(problem.K, problem.y)
    alpha = np.zeros(problem.n)
    alpha[svc.support_] = np.abs(svc.dual_coef_[0])
    y = problem.y
    slope = y * (1.0 - y * (problem.K @ (y * alpha)))
    up = np.where(y > 0.0, alpha < C, alpha > 0.0)
    down = np.where(y > 0.0, alpha > 0.0, alpha < C)
    violation = slope[up].max() - slope[down].min()
    assert 0.0 < violation <= 1e-2
    tight = iopt.verify(problem, iopt.SVMDual(C=C), alpha, tol=1e-9)
    assert tight.claim is iopt.Claim.FEASIBLE
    told = re.search(r"With tol (\S+) the claim is (\w+)\.", said(tight))
    assert told is not None
    tol, name = float(told[1]), told[2]
    assert 0.05 * violation <= tol <= 2.0 * violation  # the unit of the gradient is about 1
    assert iopt.verify(problem, iopt.SVMDual(C=C), alpha, tol=tol).claim.name == name
    assert iopt.Claim[name] >= iopt.Claim.STATIONARY
    below = iopt.verify(problem, iopt.SVMDual(C=C), alpha, tol=0.4 * tol)
    assert below.claim is iopt.Claim.FEASIBLE


def test_points_that_nothing_makes_right_get_no_hint(problem: iopt.KernelProblem) -> None:
    noise = np.random.default_rng(0).standard_normal(problem.n)
    (reason,) = iopt.verify(problem, iopt.SVMDual(C=C), noise).reasons
    assert reason.startswith("The constraint 'balance' is violated")
    # A feasible point that is far from stationary.
    middle = np.where(problem.y > 0.0, 1.0 / np.sum(problem.y > 0.0), 1.0 / np.sum(problem.y < 0.0))
    certificate = iopt.verify(problem, iopt.SVMDual(C=C), middle)
    assert certificate.claim is iopt.Claim.FEASIBLE
    assert "With tol" not in said(certificate)


@pytest.mark.parametrize(
    ("order", "words"),
    [("grouped", "in the order of the points +1, then -1"), ("reversed", "in the reverse order")],
)
def test_another_order_of_points(
    problem: iopt.KernelProblem, alpha: np.ndarray, order: str, words: str
) -> None:
    places = np.argsort(-problem.y, kind="stable") if order == "grouped" else np.arange(60)[::-1]
    certificate = iopt.verify(problem, iopt.SVMDual(C=C), {"alpha": alpha[places]})
    assert words in said(certificate)


def test_weights_of_another_sum(problem: iopt.KernelProblem) -> None:
    hulls = iopt.solve(problem, iopt.ConvexHullDual()).values["alphabar"]
    assert "scaled to the sum 1" in said(iopt.verify(problem, iopt.GuoSchuurmansQP(), hulls))


def test_multipliers_of_the_other_sign(problem: iopt.KernelProblem, alpha: np.ndarray) -> None:
    certificate = iopt.verify(problem, iopt.SVMDual(C=C), alpha)
    turned = {name: -value for name, value in certificate.multipliers.items()}
    judged = iopt.verify(problem, iopt.SVMDual(C=C), alpha, multipliers=turned)
    assert judged.claim is iopt.Claim.FEASIBLE
    assert "With the opposite sign the multipliers satisfy" in said(judged)


@pytest.mark.parametrize("formulation", ["LPSVM", "SeparabilitySVM", "PseudoEuclideanPrimal"])
def test_missing_slacks_are_computed(problem: iopt.KernelProblem, formulation: str) -> None:
    values = dict(iopt.solve(problem, formulation).values)
    slack = values.pop("xi")
    certificate = iopt.verify(problem, formulation, values)
    whole = iopt.verify(problem, formulation, {**values, "xi": slack})
    assert certificate.claim is whole.claim
    assert abs(certificate.objective - whole.objective) <= 1e-6 * abs(whole.objective)
    assert "The slacks ξ were not among the values" in said(certificate)


def test_violations_of_kernels_that_are_never_formed_have_no_name() -> None:
    """The declaration needs the whole matrix, which rows on demand do not have."""
    X, y = np.random.default_rng(0).normal(size=(12, 2)), np.resize([1, -1], 12)
    values = {"alpha": np.full(12, 9.0)}
    problem = iopt.KernelProblem.from_data(X, y, "gaussian", cache_mb=1.0)
    certificate = iopt.verify(problem, iopt.SVMDual(C=1.0), values)
    assert certificate.claim is iopt.Claim.NONE
    assert "is violated by" in " ".join(certificate.reasons)


@dataclass(frozen=True)
class Planes(iopt.Formulation):
    """min ½‖u‖² + ½b² - eᵀu - b, over u and b of n + 1 entries or, without b, of n - 1."""

    more: bool = True

    def model(self, problem: iopt.KernelProblem) -> cp.Model:
        size = problem.n if self.more else problem.n - 1
        u, b = cp.Variable(size, name="u"), cp.Variable(name="b")
        goal = 0.5 * (cp.sum_squares(u) + cp.square(b)) - cp.sum(u) - b
        return cp.Model(minimize=goal, subject_to={"margin": cp.sum(u) + b <= 10 * problem.n})


@pytest.mark.parametrize("more", [True, False])
def test_points_of_several_variables(more: bool) -> None:
    """The optimum is 1 everywhere, and its opposite is recognised, in any number of entries."""
    problem = iopt.KernelProblem(np.eye(4), [1, -1, 1, -1])
    size = problem.n if more else problem.n - 1
    opposite = {"u": -np.ones(size), "b": -1.0}
    certificate = iopt.verify(problem, Planes(more), opposite)
    assert certificate.claim is iopt.Claim.FEASIBLE
    assert "The opposite of all values satisfies" in said(certificate)
    away = iopt.verify(problem, Planes(more), {"u": np.arange(1.0, size + 1.0), "b": 0.0})
    assert away.claim is iopt.Claim.FEASIBLE
    assert "opposite" not in said(away)
