"""Programs that are convex but for curvature that is worth less than the tolerance, and others."""

from __future__ import annotations

import itertools
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.exact import BoxProgram, Program, as_matrix, as_vector
from indefinite_opt.modeling.programs.signed_weights import signed_qp
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.programs.paired_qp import kernel_qp

Claim = iopt.Claim

DELTA = 1e-9


def single(n: int) -> np.ndarray[Any, Any]:
    """A Gaussian kernel of points of a plane in single precision."""
    X = points(n)
    return np.exp(-0.5 * np.sum((X[:, None] - X[None]) ** 2, axis=-1, dtype=np.float32))


def points(n: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(n).standard_normal((n, 2)).astype(np.float32)


@pytest.mark.parametrize(
    "formulation",
    [iopt.SVMDual(C=1.0), iopt.SVMDual(C=10.0, bias=False), iopt.ConvexHullDual(mu=0.2),
     iopt.NuSVM(nu=0.3), iopt.OneClassSVM(nu=0.3), iopt.EpsilonSVR(C=1.0, epsilon=0.1),
     iopt.NuSVR(C=1.0, nu=0.5)],
    ids=str,
)  # fmt: skip
def test_a_kernel_in_single_precision_is_solved_with_a_proof(formulation: Any) -> None:
    """The bound is beyond F of every feasible point, computed in fractions from K as it came."""
    n, K = 40, single(40)
    y = np.where(points(n)[:, 0] > 0.0, 1, -1)
    targets = np.sin(np.arange(n))
    task = "regression" if "SVR" in str(formulation) else None
    problem = iopt.KernelProblem(K, targets if task else y, task=task)
    assert np.linalg.eigvalsh(problem.K)[0] < -1e-8
    result = iopt.solve(problem, formulation)
    program, certificate = formulation.program(problem), result.certificate
    assert not program.is_convex
    assert certificate.claim is Claim.GLOBAL
    assert certificate.gap_kind == "duality gap"
    assert certificate.reasons[0].startswith("Nonconvex by eigenvalues down to -")
    assert "here, and its dual bound meets the objective." in certificate.reasons[0]
    H, c = as_matrix(program.H()), as_vector(np.full(program.n, program.linear))
    declared = BoxProgram(H, c, [], [], [], [])
    bound = program.sense * Fraction(certificate.bound)
    for seed in range(3):
        x = program.feasible.random_point(np.random.default_rng(seed))
        assert declared.value(as_vector(x)) > bound
    x = program.from_values(result.values)
    value = declared.value(as_vector(x))
    assert 0 <= value - bound <= Fraction(1e-6) * abs(value) * (1 + Fraction(1, 1000))


def test_what_the_certificate_charges() -> None:
    """½(x₁ + x₂)² - ½δx₂² - x₁ is least at (1, 0), where δ·(0 + 1(u - 1))/2 is charged."""
    P = [[1.0, 1.0], [1.0, 1.0 - DELTA]]
    qp = iopt.QuadraticProgram(P, [-1.0, -1.0 + 1e-3], lb=0.0, ub=3.0)
    certificate = iopt.verify(qp, [1.0, 0.0])
    assert certificate.claim is Claim.GLOBAL
    # The least eigenvalue is -δ/2 up to δ².
    words = "Nonconvex by eigenvalues down to -5.1e-10 only. A convex function below the"
    assert certificate.reasons[0].startswith(words)
    assert certificate.bound <= -0.5


@pytest.mark.parametrize("width", [1.0, 8.0, 2.0**10, 2.0**27])
def test_wide_boxes_make_much_of_little_curvature(width: float) -> None:
    """diag(1, 1, -δ, -δ): at (1, 1, t, t) F is -1 - δt², which is -1 - δu² at the least."""
    qp = iopt.QuadraticProgram(np.diag([1.0, 1.0, -DELTA, -DELTA]), [-1, -1, 0, 0], ub=width, lb=0)
    least = -1 - Fraction(DELTA) * Fraction(width) ** 2
    fits = DELTA * width**2 < 1e-6
    for t in (0.0, 0.5 * width, width):
        certificate = iopt.verify(qp, [1.0, 1.0, t, t])
        if fits or t < width:
            assert (certificate.claim is Claim.GLOBAL) == fits
        if np.isfinite(certificate.bound):
            assert Fraction(certificate.bound) <= least


@pytest.mark.parametrize(("lines", "share"), [(0, 0.0), (1, 0.0), (1, 1.5), (2, 1.5)])
@pytest.mark.parametrize("width", [1.0, 2.0**10, 2.0**27])
def test_bounds_of_kernel_programs_in_boxes_of_any_width(
    width: float, lines: int, share: float
) -> None:
    """Whatever they leave open, they are below the optimum, which fractions give."""
    closed = 0
    for shift, k in itertools.product((DELTA, 1e-12, 3e-6), (-1, 0, 2, 3)):
        # Of sum 0, and of sum 0 in each class, are (1, 0, -1) and others, along which K is -δI.
        K = np.outer([1, k, 1], [1, k, 1]) - shift * np.eye(3)
        problem = iopt.KernelProblem(K, [1.0, -1.0, 1.0])
        problem = problem.unlabelled if lines == 1 and share else problem
        qp = kernel_qp(problem, 1.0, -1.0, width, lines, total=share * width)
        assert not qp.is_convex
        exact = BoxProgram(
            as_matrix(qp.H()), as_vector(np.full(3, qp.linear)), [Fraction(0)] * 3,
            [Fraction(width)] * 3, as_matrix(qp.feasible.A) if lines else [],
            as_vector(qp.feasible.b),
        )  # fmt: skip
        least, best = exact.minimum()
        for x in (qp.start(), qp.feasible.project(np.full(3, 0.3 * width)), np.array(best, float)):
            bounds = [bound.value for bound in answers.charged_bounds(qp, qp.at(x), {}, np.inf)]
            assert bounds
            assert all(Fraction(value) <= least for value in bounds)
        closed += max(bounds) >= float(least) - 1e-6 * abs(float(least))
    assert closed >= (3 if width == 1.0 else 0)


@pytest.mark.parametrize("total", [0.0, 1.0])
def test_bounds_of_programs_in_signed_weights(total: float) -> None:
    """A program of two weights β and -β, as their sum is 0, is one of a single variable."""
    K = np.array([[1.0, 1.0], [1.0, 1.0 - DELTA]])
    K[0, 0] -= DELTA
    base = iopt.KernelProblem(K, [0.5, -0.5], task="regression")
    epsilon = 0.0 if total else 0.1
    qp = signed_qp(base, 1.0, np.array([-0.5, 0.25]), epsilon, 1.0, total, 1, "beta")
    # ½(-2δ)β² - ¾β + 2ε|β| is concave on each side of 0: the largest β is best.
    most = Fraction(1, 2) if total else Fraction(1)
    curved = as_matrix(K)
    curvature = curved[0][0] + curved[1][1] - 2 * curved[0][1]
    least = curvature * most**2 / 2 - Fraction(3, 4) * most + 2 * Fraction(epsilon) * most
    x = qp.from_values({"beta": np.array([float(most), -float(most)])})
    bounds = [bound.value for bound in answers.charged_bounds(qp, qp.at(x), {}, np.inf)]
    assert all(Fraction(value) <= least for value in bounds)
    assert max(bounds) == pytest.approx(float(least), abs=1e-8)


@pytest.mark.parametrize("width", [1.0, 50.0, 2.0**20])
def test_bounds_of_rows_in_boxes_of_any_width(width: float) -> None:
    """As above, with a row or an equation, and a variable that only rows bound."""
    claims = []
    for seed in range(12):
        g = np.random.default_rng(seed)
        B = g.integers(-2, 3, (2, 3)).astype(float)
        P = B.T @ B - DELTA * np.diag(g.integers([0, 0, 1], 2))
        q, row = g.integers(-3, 4, 3).astype(float), np.array([1.0, *g.integers(1, 3, 2)])
        rows = {"G": [row], "h": [width]} if seed % 2 else {"A": [row], "b": [width]}
        upper = np.full(3, np.inf if seed % 3 == 0 else width)
        qp, program = (
            iopt.QuadraticProgram(P, q, lb=0.0, ub=upper, **rows),
            Program.on(P, q, 0.0, np.minimum(upper, width), **rows),
        )
        found = program.minimum()
        assert found is not None
        least, best = found
        for solved in (iopt.solve(qp), None):
            certificate = iopt.verify(qp, np.array(best, float))
            certificate = certificate if solved is None else solved.certificate
            if abs(least) > 1e-3:
                claims.append(certificate.claim)
            if np.isfinite(certificate.bound):
                assert Fraction(certificate.bound) <= least
            if certificate.claim is Claim.GLOBAL:
                off = abs(Fraction(certificate.objective) - least)
                assert off <= Fraction(1.01e-6) * abs(least)
    if width == 1.0:
        assert claims.count(Claim.GLOBAL) == len(claims)
    assert width < 2.0**20 or claims.count(Claim.GLOBAL) < len(claims)


def test_truly_indefinite_programs_have_no_such_bound() -> None:
    problem = iopt.KernelProblem([[0.0, 1.0], [1.0, 0.0]], [1, -1])
    certificate = iopt.verify(problem, iopt.SVMDual(C=1.0, bias=False), {"alpha": [1.0, 1.0]})
    assert certificate.claim is Claim.LOCAL
    assert certificate.gap_kind == "KKT residual"
    assert certificate.reasons[0].startswith("Not convex")


def test_a_problem_of_an_earlier_version_is_certified() -> None:
    """Pickles did not have the curvature that a test of convexity had met."""
    problem = iopt.KernelProblem(single(12), np.resize([1, -1], 12))
    state = pickle.loads(pickle.dumps(problem)).__getstate__()
    del state["_curved"]
    earlier = object.__new__(iopt.KernelProblem)
    earlier.__setstate__(state)
    assert iopt.solve(earlier, "SVMDual(C=1)").certificate.claim is Claim.GLOBAL
