"""Formulations of further tasks: LIBSVM where they are convex, and all faces where they are not."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy.optimize import linprog
from sklearn.svm import SVR, NuSVC, OneClassSVM
from sklearn.svm import NuSVR as LibsvmNuSVR

import indefinite_opt as iopt
from helpers import shaking
from helpers.exact import Program
from helpers.problems import FAMILIES, gaussian, kernel, symmetric
from indefinite_opt.errors import InfeasibleProblem, ParameterError, ProblemError

Array = NDArray[np.float64]

N = 30
TIGHT = 1e-10
"""Tolerance of LIBSVM, whose own stopping rule is about gradients."""


def data(seed: int) -> tuple[Array, Array, Array]:
    """A Gaussian kernel, targets and labels of both classes."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((N, 3))
    t = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * generator.standard_normal(N)
    squared = np.square(X[:, None] - X).sum(axis=2)
    return np.exp(-0.3 * squared), t, np.where(t > np.median(t), 1.0, -1.0)


def weights(machine: Any) -> Array:
    """The signed weights of a fitted machine of scikit-learn."""
    found = np.zeros(N)
    found[machine.support_] = machine.dual_coef_[0]
    return found


def check(problem: iopt.KernelProblem, formulation: Any, coef: Array, scale: float) -> Any:
    """Objectives and coefficients agree, and the certificate proves the optimum."""
    result = iopt.solve(problem, formulation, tol=1e-9)
    program = formulation.program(problem)
    ((name, _),) = program.shapes.items()
    theirs = coef * scale * (problem.y if problem.classes.size else 1.0)
    point = program.at(program.from_values({name: theirs}))
    assert result.objective == pytest.approx(program.declared(point.value), rel=1e-6)
    assert iopt.verify(problem, formulation, result.values).claim is iopt.Claim.GLOBAL
    slack = 1e-3 * scale * float(np.abs(coef).max())
    assert_allclose(result.classifier.coef, coef * scale, atol=slack)
    return result


@pytest.mark.parametrize("name", ["EpsilonSVR", "NuSVR", "OneClassSVM", "NuSVM", "total"])
@pytest.mark.parametrize("seed", [0, 4, 8])
def test_the_optimum_is_that_of_libsvm(seed: int, name: str) -> None:
    """Its C of NuSVR is C/n here, and its weights of one class sum to νn, where ours sum to 1.

    It divides the weights of NuSVM, of a total νn, by ρ, so that they are known up to a factor.
    """
    K, t, y = data(seed)
    # Where νn is a whole number there may be no free weight, and the offset is open.
    C, nu = [0.3, 1.0, 10.0][seed % 3], [0.11, 0.52, 0.83][seed // 3 % 3]
    epsilon = [0.0, 0.1, 0.3][seed // 3 % 3]
    peers: dict[str, tuple[Any, Array | None, Any]] = {
        "EpsilonSVR": (SVR(C=C, epsilon=epsilon), t, iopt.EpsilonSVR(C=C, epsilon=epsilon)),
        "NuSVR": (LibsvmNuSVR(C=C, nu=nu), t, iopt.NuSVR(C=C * N, nu=nu)),
        "OneClassSVM": (OneClassSVM(nu=nu), None, iopt.OneClassSVM(nu=nu)),
        "NuSVM": (NuSVC(nu=nu), y, iopt.NuSVM(nu=nu)),
        "total": (NuSVC(nu=nu), y, iopt.NuSVM(nu=nu, equality=True)),
    }
    peer, labels, formulation = peers[name]
    theirs = peer.set_params(kernel="precomputed", tol=TIGHT).fit(K, labels)
    coef = weights(theirs)
    scale = 1.0 if labels is t else nu / float(np.abs(coef).sum())
    scale = scale if labels is not None else 1.0 / (nu * N)
    result = check(iopt.KernelProblem(K, labels), formulation, coef, scale)
    if labels is t:
        assert_allclose(result.classifier.predict(K), theirs.predict(K), atol=1e-3)
    elif labels is None:
        ours = result.classifier.decision_function(K) * nu * N
        assert_allclose(ours, theirs.decision_function(K), atol=1e-3)


def test_the_center_of_a_ball_around_points_of_a_plane() -> None:
    """The smallest ball around the corners of a triangle of 3, 4, 5 has its radius 5/2."""
    X = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
    problem = iopt.KernelProblem.from_data(X, None, "linear")
    result = iopt.solve(problem, iopt.SVDD(C=1.0))
    assert result.objective == pytest.approx(6.25, rel=1e-9)
    assert_allclose(result.values["alpha"] @ X, [1.5, 2.0], atol=1e-6)
    new = np.array([[1.5, 2.0], [4.0, 2.0], [4.1, 2.0]])
    decided = result.classifier.decision_function(new @ X.T, np.square(new).sum(axis=1))
    assert_allclose(decided, [6.25, 0.0, 6.25 - 2.6**2], atol=1e-5)
    with pytest.raises(ProblemError, match="K_ii is not the same"):
        result.classifier.decision_function(new @ X.T)


APART = ("large diagonal", "graded")
"""Kernels with entries far apart."""


def drawn(seed: int) -> tuple[iopt.KernelProblem, Any, Program]:
    """A NuSVM, EpsilonSVR or NuSVR with any kernel, and its program; signed weights are α - α*.

    `tests/adversary` draws the other formulations.
    """
    generator = np.random.default_rng(seed)
    family, machine = FAMILIES[seed // 3 % len(FAMILIES)], seed % 3 == 0
    n = int(generator.integers(4, 9 if machine and family not in APART else 5))
    # All faces are enumerated in the units of the bounds.
    K = kernel(family, n, seed) / shaking.unit(family, seed)
    C, nu = float(generator.choice([0.5, 2.0])), float(generator.choice([0.25, 0.5]))
    if machine:
        y = np.resize([1.0, -1.0], n)
        rows = {"G": -np.ones((1, n)), "h": [-nu], "A": y[None, :], "b": [0]}
        program = Program.on(K * np.outer(y, y), np.zeros(n), 0.0, 1 / n, **rows)
        return iopt.KernelProblem(K, y), iopt.NuSVM(nu=nu), program
    t = np.round(generator.standard_normal(n), 2) + np.array([0.125, *np.zeros(n - 1)])
    problem, signs = iopt.KernelProblem(K, t, task="regression"), np.repeat([1.0, -1.0], n)
    H, zero = np.tile(K, (2, 2)) * np.outer(signs, signs), {"A": signs[None, :], "b": [0]}
    slope = -np.tile(t, 2) * signs
    if seed % 3 == 1:
        epsilon = float(generator.choice([0.0, 0.25]))
        program = Program.on(H, epsilon + slope, 0.0, C, **zero)
        return problem, iopt.EpsilonSVR(C=C, epsilon=epsilon), program
    program = Program.on(H, slope, 0.0, C / n, G=np.ones((1, 2 * n)), h=[C * nu], **zero)
    return problem, iopt.NuSVR(C=C, nu=nu), program


def test_the_bracket_holds_the_least_value_of_all_faces() -> None:
    """`solve` reaches the optimum most of the time."""
    reached = []
    for seed in range(0, 42, 4):
        problem, formulation, program = drawn(seed)
        sense = 1.0 if isinstance(formulation, iopt.NuSVM) else -1.0
        # Of entries far apart every face is computed in fractions.
        apart = FAMILIES[seed // 3 % len(FAMILIES)] in APART
        least = program.minimum(every=True) if apart else None
        optimum = sense * (program.lowest if least is None else float(least[0]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", iopt.errors.DoubtfulResult)
            bracket = iopt.bound(problem, formulation, time_limit=20.0)
            result = iopt.solve(problem, formulation)
        slack = 1e-9 * max(1.0, abs(optimum))
        assert bracket.lower - slack <= optimum <= bracket.upper + slack, f"seed {seed}"
        beyond = sense * (optimum - result.objective)
        assert beyond <= 1e-7 * max(1.0, abs(optimum)), f"seed {seed}: better than all faces"
        reached.append(beyond >= -1e-6 * max(0.01, abs(optimum)))
    assert np.mean(reached) >= 0.8


def test_a_total_is_not_tight_for_an_indefinite_kernel() -> None:
    """K = -I: ½αᵀQα = -½‖α‖² is least at α = e/n, where eᵀα = 1, and not at eᵀα = ν.

    With eᵀα = ν = ½ there are two weights of 1/4.
    """
    problem = iopt.KernelProblem(-np.eye(4), [1, 1, -1, -1])
    for equality, optimum in ((False, -0.5 * 4 / 16), (True, -0.5 * 2 / 16)):
        bracket = iopt.bound(problem, iopt.NuSVM(nu=0.5, equality=equality))
        assert bracket.upper == pytest.approx(optimum, rel=1e-6)
        assert bracket.lower == pytest.approx(optimum, rel=1e-4)


@pytest.mark.parametrize("seed", range(2))
def test_the_shares_that_nu_bounds(seed: int) -> None:
    """At every stationary point of any kernel at most νn points are outside, and νn support it."""
    problem = iopt.KernelProblem(symmetric(N, seed))
    for nu in (0.2, 0.5):
        result = iopt.solve(problem, iopt.OneClassSVM(nu=nu))
        assert result.certificate.claim >= iopt.Claim.STATIONARY
        decided = result.classifier.decision_function(problem.K)
        assert np.sum(decided < -1e-6) <= nu * N + 1e-9
        assert result.classifier.support.size >= nu * N - 1e-9


@pytest.mark.parametrize("distances", [False, True])
def test_the_linear_program_of_one_class(distances: bool) -> None:
    """Both forms by scipy, and the second one as the first one for K = -D."""
    X = np.random.default_rng(5).standard_normal((20, 2))
    D = np.sqrt(np.square(X[:, None] - X).sum(axis=2))
    problem = iopt.KernelProblem.from_distances(D, form="raw")
    if not distances:
        problem = iopt.KernelProblem(-D)
    n, nu = 20, 0.3
    cost = np.concatenate([np.zeros(n), [1.0], np.full(n, 1 / (nu * n))])
    rows = np.hstack([D, -np.ones((n, 1)), -np.eye(n)])
    total = np.concatenate([np.ones(n), np.zeros(n + 1)])[None, :]
    expected = linprog(cost, rows, np.zeros(n), total, [1.0], bounds=(0, None)).fun
    result = iopt.solve(problem, iopt.OneClassLP(nu=nu, distances=distances))
    sign = 1.0 if distances else -1.0
    assert sign * result.objective == pytest.approx(expected, rel=1e-8)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert np.sum(result.classifier.decision_function(problem.K) < -1e-7) <= nu * n


def test_what_a_formulation_needs_is_said_by_name() -> None:
    K = gaussian(6, 2, 0.5)
    with pytest.raises(ProblemError, match="EpsilonSVR and NuSVR"):
        iopt.solve(iopt.KernelProblem(K, np.linspace(0, 1.1, 6)), iopt.SVMDual())
    with pytest.raises(ProblemError, match="OneClassSVM, SVDD and OneClassLP"):
        iopt.solve(iopt.KernelProblem(K), iopt.SVMDual())
    with pytest.raises(ProblemError, match="task='regression'"):
        iopt.solve(iopt.KernelProblem(K, [1, 1, 1, 2, 2, 2]), iopt.EpsilonSVR())
    with pytest.raises(InfeasibleProblem, match=r"at most 0\.66"):
        iopt.solve(iopt.KernelProblem(K, [1, 1, 1, 1, 2, 2]), iopt.NuSVM(nu=0.7))
    with pytest.raises(InfeasibleProblem, match=r"at least 0\.16"):
        iopt.solve(iopt.KernelProblem(K), iopt.SVDD(C=0.1))


def test_nu_of_one_leaves_no_tube_on_any_number_of_points() -> None:
    """n·(C/n) may be less than C by rounding, as for 49 points; LIBSVM solves ε = 0."""
    x = np.linspace(0.0, 3.0, 49)
    K, t = np.exp(-((x[:, None] - x) ** 2)), np.sin(2.0 * x)
    problem = iopt.KernelProblem(K, t, task="regression")
    peer = SVR(kernel="precomputed", C=1.0 / 49, epsilon=0.0, tol=1e-9).fit(K, t)
    beta = np.zeros(49)
    beta[peer.support_] = peer.dual_coef_[0]
    result = iopt.solve(problem, iopt.NuSVR(C=1.0, nu=1.0))
    assert result.objective == pytest.approx(t @ beta - 0.5 * beta @ K @ beta, rel=1e-7)
    assert result.certificate.claim is iopt.Claim.GLOBAL


@pytest.mark.parametrize("C", [1e8, 1e12])
def test_a_large_bound_of_the_norm_leaves_the_interpolation(C: float) -> None:
    """β = K⁻¹(t - b) with eᵀβ = 0: b = 1, β = (-1, 0, 1, 0), and the objective is 1."""
    K, t = np.diag([1.0, 2.0, 1.0, 1.0]), [0.0, 1.0, 2.0, 1.0]
    result = iopt.solve(iopt.KernelProblem(K, t, task="regression"), iopt.NuSVR(C=C, nu=0.5))
    assert result.values["beta"] == pytest.approx(np.array([-1.0, 0.0, 1.0, 0.0]), abs=1e-3)
    beta = result.values["beta"]
    assert result.objective == pytest.approx(t @ beta - 0.5 * beta @ K @ beta, rel=1e-12)
    assert result.objective == pytest.approx(1.0, rel=1e-6)


def test_a_tube_with_which_objectives_overflow_is_refused() -> None:
    problem = iopt.KernelProblem(np.eye(3), [0.5, 2.0, -1.0], task="regression")
    assert iopt.solve(problem, iopt.EpsilonSVR(C=1e50, epsilon=1e152)).objective == 0.0
    with pytest.raises(ParameterError, match=r"epsilon: .* at most 1e\+152"):
        iopt.EpsilonSVR(epsilon=1.7e308)


@pytest.mark.parametrize("more", [0.0, 3e-16, 1e-13, 8e-13])
@pytest.mark.parametrize("smaller", [3, 6, 7, 11, 13])
def test_nu_at_its_largest_value(smaller: int, more: float) -> None:
    """There every weight of the smaller class is 1/n; more by rounding only is that value."""
    K, _, _ = data(1)
    y = np.repeat([-1.0, 1.0], [N - smaller, smaller])[shaking.order(N, "largest nu")]
    nu = 2.0 * smaller / N * (1.0 + more)
    result = iopt.solve(iopt.KernelProblem(K, y), iopt.NuSVM(nu=nu))
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert_allclose(result.values["alpha"][y > 0.0], 1.0 / N, rtol=1e-6)
    with pytest.raises(InfeasibleProblem, match=r"^nu: expected at most .* = 2 min"):
        iopt.solve(iopt.KernelProblem(K, y), iopt.NuSVM(nu=2.0 * smaller / N + 1e-9))


def test_sizes_that_leave_no_point_are_refused_before_the_kernel() -> None:
    """6 of 30 points: ν ≤ 0.4, a weight μ of a hull is at least 1/6, and β at least 1/12."""
    y = np.repeat([0, 1], [24, 6])
    X = np.random.default_rng(0).normal(size=(30, 2))

    def kernel(a: object, b: object) -> Array:
        raise AssertionError("the kernel was computed")

    for formulation, words in (
        (iopt.NuSVM(nu=0.9), r"nu: expected at most 0\.4 "),
        (iopt.ConvexHullDual(mu=0.16), r"mu: expected at least 0\.1666"),
        (iopt.GuoSchuurmansQP(beta=0.08), r"beta: expected at least 0\.0833"),
        (iopt.GuoSchuurmansLP(beta=0.08), r"beta: expected at least 0\.0833"),
    ):
        with pytest.raises(InfeasibleProblem, match=words):
            iopt.KernelClassifier(formulation, kernel=kernel).fit(X, y)
