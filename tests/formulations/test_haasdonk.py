"""The primal (9) of Haasdonk (2005) in R^(p,q), and Proposition 2, which lifts SVM-DU to it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import indefinite_opt as iopt
from helpers.problems import random_problem
from indefinite_opt.errors import ProblemError
from indefinite_opt.formulations.pseudo_euclidean_primal import PseudoEuclideanPrimal
from indefinite_opt.modeling.programs.pseudo_euclidean import LiftedPrimal
from indefinite_opt.problem.embedding import Embedding
from indefinite_opt.theory.lifting import haasdonk_proposition_2

TWO_POINTS = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])


def indefinite(kind: str, n: int = 40, seed: int = 0) -> iopt.KernelProblem:
    """Problems with q > 0: a sigmoid kernel, and the data and kernel of Figure 4a."""
    if kind == "sigmoid":
        return random_problem(kind, n, seed)
    data = iopt.datasets.load("haasdonk-figure4a")
    return iopt.KernelProblem.from_dataset(data, "l1-gaussian", gamma=50.0)


def trained(problem: iopt.KernelProblem, C: float, tol: float = 1e-9) -> np.ndarray:
    return iopt.solve(problem, iopt.SVMDual(C=C), solver="smo", tol=tol).values["alpha"]


@pytest.mark.parametrize("slope", [0.0, 1e-3, -7.0, 1e6])
def test_margin_maximisation_diverges_for_two_points(slope: float) -> None:
    """w = (1, λ), b = 0, ξ = 0 satisfies the constraints with equality; wᵀMw = 1 - λ².

    Only the flat one is stationary.
    """
    embedding = Embedding(np.array([[1.0, 0.0], [-1.0, 0.0]]), (1, 1))
    primal = LiftedPrimal(TWO_POINTS, embedding, 2.0)
    values = {"w": np.array([1.0, slope]), "b": np.array(0.0), "xi": np.zeros(2)}
    assert primal.infeasibility(values) <= 1e-14 * max(1.0, abs(slope))
    assert_array_equal(primal.decision_values(values), [1.0, -1.0])
    assert 2.0 * primal.value(values) == 1.0 - slope**2
    assert not primal.is_convex
    multipliers = primal.multipliers(values)
    assert primal.lower_bound(values, multipliers) == -np.inf
    assert_allclose(multipliers["margin"], [0.5, 0.5])  # w = 2α₁ on the real axis
    assert (primal.residual(values, multipliers) <= 1e-6) == (slope == 0.0)
    lower = primal.feasible_below(values, -1e20)
    assert primal.infeasibility(lower) <= 1e-14 * float(np.linalg.norm(lower["w"]))
    assert primal.value(lower) <= -1e20 * (1 - 1e-12)


def test_the_space_of_two_points_alone_is_euclidean() -> None:
    result = iopt.solve(TWO_POINTS, PseudoEuclideanPrimal(C=10.0))
    assert result.solver == "lift"
    with pytest.raises(ProblemError, match=r"an imaginary direction, got the signature \(1, 0\)"):
        PseudoEuclideanPrimal().program(TWO_POINTS).feasible_below(result.values, -1.0)


@pytest.mark.parametrize("primal", ["pseudo-euclidean", "hulls"])
@settings(max_examples=6)
@given(seed=st.integers(0, 1000), level=st.sampled_from([0.0, -1.0, -1e6]))
def test_every_problem_with_an_imaginary_direction_is_unbounded(
    primal: str, seed: int, level: float
) -> None:
    """Feasibility and objective are those of the declared cvxpy program."""
    generator = np.random.default_rng(seed)
    A = generator.standard_normal((8, 8))
    problem = iopt.KernelProblem(A + A.T, np.resize([1, -1], 8))
    C, mu = float(generator.uniform(0.1, 10.0)), float(generator.uniform(0.25, 2.0))
    formulation = iopt.ConvexHullPrimal(mu=mu) if primal == "hulls" else PseudoEuclideanPrimal(C=C)
    program = formulation.program(problem)
    assert program.embedding.signature[1] > 0
    start = {name: generator.standard_normal(shape) for name, shape in program.shapes.items()}
    objective, violation = formulation.declare(problem).evaluate(
        program.feasible_below(start, level)
    )
    assert objective <= level + 1e-9 * max(abs(level), 1.0)
    assert violation <= 1e-9 * np.sqrt(abs(level) + 1.0)
    arrays = program.arrays()
    assert ("mu" in arrays) == (primal == "hulls")
    if primal != "hulls":
        assert_allclose(arrays["Phi"] @ arrays["M"] @ arrays["Phi"].T, problem.centered, atol=1e-9)


@pytest.mark.parametrize(("kind", "C"), [("sigmoid", 0.3), ("sigmoid", 10.0), ("l1-gaussian", 1e3)])
def test_proposition_2(kind: str, C: float) -> None:
    """The KKT conditions of (9) written out, with the paper's b and ξ for every k and l."""
    problem = indefinite(kind)
    assert problem.signature[1] > 0
    alpha, y = trained(problem, C), problem.y
    embedding = iopt.theory.embed(problem)
    Phi, M = embedding.points, np.diag(embedding.M)
    lifted = haasdonk_proposition_2(problem, C, alpha)
    w, b, xi = (lifted.values[name] for name in ("w", "b", "xi"))
    size = max(1.0, float(np.max(np.abs(Phi @ M @ w))))

    # ∇w = 0, ∇b = 0, ∇ξ = 0, feasibility, complementarity.
    assert_allclose(M @ w, M @ Phi.T @ (y * alpha), atol=1e-10 * np.linalg.norm(w))
    assert_array_equal(lifted.multipliers["margin"], alpha)
    assert_array_equal(lifted.multipliers["slack"], C - alpha)
    margins = y * (Phi @ M @ w + b)
    assert np.all(margins >= 1 - xi - 1e-12 * size)
    assert np.all(xi >= 0)
    assert_allclose(alpha / C * (margins - 1 + xi), 0, atol=1e-7 * size)
    assert_allclose((1 - alpha / C) * xi, 0, atol=1e-7 * size)

    # The slack is 1 - y f where α = C and 0 elsewhere; b is the same for all k and l.
    assert_allclose(xi, np.where(alpha == C, 1 - margins, 0.0), atol=1e-7 * size)
    free = (alpha > 0) & (alpha < C)
    plus, minus = np.flatnonzero(free & (y > 0)), np.flatnonzero(free & (y < 0))
    assert lifted.free == (plus.size, minus.size)
    assert min(lifted.free) > 0
    for k in plus:
        for m in minus:
            assert b == pytest.approx(-0.5 * w @ M @ (Phi[k] + Phi[m]), abs=1e-7 * size)


@pytest.mark.parametrize("K", [np.zeros((3, 3)), np.ones((3, 3))], ids=["zero", "constant"])
def test_points_that_do_not_differ(K: np.ndarray) -> None:
    """w cannot separate them: with b = -1 the point of the smaller class pays 2 C = 4."""
    problem = iopt.KernelProblem(K, [1, -1, -1])
    primals = (PseudoEuclideanPrimal(C=2.0), iopt.ConvexHullPrimal(mu=1))
    for formulation, optimum in zip(primals, (4.0, 0.0), strict=True):
        result = iopt.solve(problem, formulation)
        assert result.objective == pytest.approx(optimum, abs=1e-12)
        assert formulation.declare(problem).cvxpy().solve() == pytest.approx(optimum, abs=1e-6)
        outside = result.values | {"xi": result.values["xi"] - 1.0}
        certificate = iopt.verify(problem, formulation, outside)
        said = " ".join(certificate.reasons)
        assert "'margin' is violated by 1 (relative violation 1.00e+00)" in said


@pytest.mark.parametrize(("kind", "C"), [("sigmoid", 0.1), ("l1-gaussian", 50.0)])
def test_the_lifted_point_is_certified(kind: str, C: float) -> None:
    problem = indefinite(kind)
    formulation = PseudoEuclideanPrimal(C=C)
    result = iopt.solve(problem, formulation)
    alone = iopt.verify(problem, formulation, result.values)  # multipliers recovered from w
    given_too = iopt.verify(problem, formulation, result.values, result.multipliers)
    for certificate in (result.certificate, alone, given_too):
        assert certificate.claim is iopt.Claim.STATIONARY
        assert certificate.bound == -np.inf
        assert certificate.gap_kind == "KKT residual"
        assert any("unbounded below" in reason for reason in certificate.reasons)
    dual = iopt.solve(problem, iopt.SVMDual(C=C), solver="smo")
    assert result.objective == pytest.approx(dual.objective, rel=1e-6)


@pytest.mark.parametrize(("kind", "C"), [("sigmoid", 10.0), ("l1-gaussian", 0.1)])
def test_the_classifier_is_that_of_the_svm(kind: str, C: float) -> None:
    """On new points, with the kernel as it is: centring moves b, not f."""
    problem = indefinite(kind)
    alpha = trained(problem, C)
    svm = iopt.SVMDual(C=C).classifier(problem, {"alpha": alpha})
    values = haasdonk_proposition_2(problem, C, alpha).values
    classifier = PseudoEuclideanPrimal(C=C).classifier(problem, values)
    assert problem.X is not None
    rows = problem.kernel_with(np.random.default_rng(5).standard_normal((20, problem.X.shape[1])))
    expected = svm.decision_function(rows)
    size = max(1.0, float(np.max(np.abs(expected))))
    assert_allclose(classifier.decision_function(rows), expected, atol=1e-6 * size)
    # And wᵀMΦ(x) + b itself at the training points.
    primal = PseudoEuclideanPrimal(C=C).program(problem)
    assert_allclose(
        primal.decision_values(values), svm.decision_function(problem.K), atol=1e-9 * size
    )
    assert abs(float(values["b"]) - svm.offset) > 1e-6


def test_duplicates_leave_the_weights_open_but_not_the_certificate() -> None:
    """Ten points three times over: Φ has rank 9 for 30 weights, and α is one of many."""
    X = np.random.default_rng(1).standard_normal((10, 3))
    y = np.resize([1, -1], 30)
    problem = iopt.KernelProblem.from_data(np.tile(X, (3, 1)), y, "sigmoid")
    formulation = PseudoEuclideanPrimal(C=2.0)
    result = iopt.solve(problem, formulation)
    assert formulation.program(problem).embedding.M.size == 9
    assert iopt.verify(problem, formulation, result.values).claim is iopt.Claim.STATIONARY
    svm = iopt.solve(problem, iopt.SVMDual(C=2.0), solver="smo")
    ours, theirs = (one.classifier.decision_function(problem.K) for one in (result, svm))
    assert_allclose(ours, theirs, atol=1e-5)


def test_without_nonbounded_weights_b_is_in_the_middle_of_its_interval() -> None:
    # C = ¼: both at the bound, w = ½, f(±1) = ±½ + b, slacks ½; any |b| ≤ ½ will do.
    lifted = haasdonk_proposition_2(TWO_POINTS, 0.25, [0.25, 0.25])
    assert lifted.free == (0, 0)
    assert float(lifted.values["b"]) == pytest.approx(0.0)
    assert_allclose(lifted.values["xi"], [0.5, 0.5])
    formulation = PseudoEuclideanPrimal(C=0.25)
    certificate = iopt.verify(TWO_POINTS, formulation, lifted.values)
    assert certificate.claim is iopt.Claim.GLOBAL
    assert certificate.objective == pytest.approx(0.375)  # ½ · ¼ + ¼ · 1
    # The balance is 0 for every b in between, and the objective the same.
    shifted = {**lifted.values, "b": np.array(0.25), "xi": np.array([0.25, 0.75])}
    assert iopt.verify(TWO_POINTS, formulation, shifted).claim is iopt.Claim.GLOBAL


def test_what_is_not_stationary_is_not_lifted() -> None:
    with pytest.raises(ProblemError, match="a stationary point, within 1e-06, got a KKT residual"):
        haasdonk_proposition_2(TWO_POINTS, 1.0, [0.4, 0.4])
    assert haasdonk_proposition_2(TWO_POINTS, 1.0, [0.4, 0.4], tol=0.9).free == (1, 1)
    with pytest.raises(ProblemError, match="alpha: expected a feasible point"):
        haasdonk_proposition_2(TWO_POINTS, 1.0, [0.5, 0.4])
    with pytest.raises(ProblemError, match="alpha: expected a feasible point"):
        haasdonk_proposition_2(TWO_POINTS, 0.25, [0.5, 0.5])


@settings(max_examples=10)
@given(seed=st.integers(0, 1000))
def test_the_bound_of_a_convex_one_holds_for_any_multipliers(seed: int) -> None:
    problem = random_problem("gaussian", n=12, seed=7)
    primal = PseudoEuclideanPrimal(C=2.0).program(problem)
    optimum = iopt.solve(problem, iopt.SVMDual(C=2.0), tol=1e-9).objective
    multipliers = {"margin": 3.0 * np.random.default_rng(seed).standard_normal(12)}
    assert primal.lower_bound({}, multipliers) <= optimum * (1 + 1e-9)


def test_wrong_points_lose_the_claim() -> None:
    problem = indefinite("sigmoid")
    formulation = PseudoEuclideanPrimal(C=1.0)
    result = iopt.solve(problem, formulation)
    primal = formulation.program(problem)

    def claim(**changed: np.ndarray) -> iopt.Claim:
        return iopt.verify(problem, formulation, {**result.values, **changed}).claim

    p, _ = primal.embedding.signature
    w, b, xi = (result.values[name] for name in ("w", "b", "xi"))
    for k in (0, p - 1, p, w.size - 1):  # most and least variance, real and imaginary
        nudged = w.copy()
        nudged[k] += 1e-3 * np.linalg.norm(w)
        assert claim(w=nudged, xi=xi + 1.0) is iopt.Claim.FEASIBLE
    assert claim(xi=xi + 0.1) is iopt.Claim.FEASIBLE
    assert claim(xi=xi - 0.1) is iopt.Claim.NONE
    assert claim(b=b + 0.1) is iopt.Claim.NONE
    lower = primal.feasible_below(result.values, -10.0)
    assert iopt.verify(problem, formulation, lower).claim is iopt.Claim.FEASIBLE


def test_the_certificate_tells_the_sign_of_the_norm() -> None:
    """Figure 2b, 2c: a large C gives a normal of negative norm, a small one of positive norm."""
    data = iopt.datasets.load("haasdonk-figure1c(n=40)")
    problem = iopt.KernelProblem.from_dataset(data, "pseudo-euclidean(p=1)")
    said = {}
    for C in (1e-3, 1e3):
        result = iopt.solve(problem, PseudoEuclideanPrimal(C=C))
        primal = PseudoEuclideanPrimal(C=C).program(problem)
        assert primal.embedding.signature == (1, 1)
        said[C] = str(result.certificate)
        margins = problem.y * result.classifier.decision_function(problem.K)
        below = result.multipliers["margin"] < C
        assert np.all(margins[below] >= 1 - 1e-5)
    assert "margin" in said[1e-3]
    assert "no positive margin" not in said[1e-3]
    assert "no positive margin" in said[1e3]


@pytest.mark.parametrize("seed", range(60, 100))
def test_a_closed_gap_on_a_convex_kernel_comes_with_a_small_residual(seed: int) -> None:
    """The gap falls with the square of the residual: seeds 70 and 89 once ended above tol."""
    generator = np.random.default_rng(seed)
    n = int(generator.integers(6, 40))
    points = generator.standard_normal((n, 2))
    K = np.exp(-((points[:, None] - points) ** 2).sum(axis=-1))
    problem = iopt.KernelProblem(K, np.where(np.arange(n) % 2, 1, -1))
    result = iopt.solve(problem, iopt.ConvexHullPrimal(), tol=1e-6)
    assert result.status is iopt.Status.SOLVED
    assert not result.doubt
    assert result.residual <= 1e-6
