"""Formulations of other papers, against other statements of the same programs.

A convex program has its optimum from the dual, a linear system, scikit-learn or cvxpy, from arrays
that no model has made; a nonconvex one from the enumeration of all faces.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import null_space
from scipy.optimize import minimize_scalar

import indefinite_opt as iopt
from helpers import polyhedra
from helpers.other_papers import (
    ANY,
    DEFINITE,
    FEW,
    Array,
    Data,
    Known,
    N,
    data,
    factor,
    machine,
    optimum,
    problem_of,
    rows_of,
    signed,
)
from helpers.problems import positive_part
from indefinite_opt.errors import ParameterError, ProblemError, UnboundedProblem

LABELLED = np.resize([1.0, 1.0, 0.0], N)


def several(d: Data) -> Array:
    """Two semidefinite kernels: K₊ and its square, entry by entry."""
    K = positive_part(d.K)
    return np.array([K, K**2])


# ----------------------------------------------------------------------------- by their primal


def squared_slacks(d: Data) -> Known:
    return machine(d.K, lambda f: cp.sum_squares(cp.pos(1 - cp.multiply(d.y, f))))


def quantile(d: Data) -> Known:
    def loss(f: Any) -> Any:
        above = d.t - f
        return 2.0 * cp.sum(cp.maximum(0.7 * above, -0.3 * above))

    return machine(d.K, loss)


def ranking(d: Data) -> Known:
    def loss(f: Any) -> Any:
        pairs = itertools.product(np.where(d.y > 0)[0], np.where(d.y < 0)[0])
        return 0.5 * sum(cp.pos(1 - f[i] + f[j]) for i, j in pairs)

    return Known(machine(d.K, loss, bias=False).value)


def laplacian(d: Data) -> Known:
    """By the factor of both penalties together, and edges point by point."""
    n, W = len(d.y), np.zeros((len(d.y),) * 2)
    for i in range(n):
        away = [d.K[i, i] - 2.0 * d.K[i, j] + d.K[j, j] for j in range(n)]
        for j in sorted((j for j in range(n) if j != i), key=lambda j: away[j])[:3]:
            W[i, j] = W[j, i] = 1.0
    both = 0.2 * d.K + 0.3 / n**2 * d.K @ (np.diag(W.sum(0)) - W) @ d.K
    a, b = cp.Variable(n), cp.Variable()
    short = cp.multiply(LABELLED, cp.pos(1 - cp.multiply(d.y, d.K @ a + b)))
    value = cp.sum(short) / LABELLED.sum() + cp.sum_squares(factor((both + both.T) / 2).T @ a)
    return Known(optimum(cp.Minimize(value)))


# ---------------------------------------------------------------------- convex for every kernel


def fisher(d: Data) -> Known:
    """The scatter class by class, and a linear system."""
    N_, means = 0.3 * np.eye(len(d.y)), []
    for side in (1.0, -1.0):
        Kc = d.K[:, d.y == side]
        means.append(Kc.mean(1))
        N_ += sum(np.outer(k - means[-1], k - means[-1]) for k in Kc.T)
    w = np.linalg.solve(N_, means[0] - means[1])
    decisions = w @ d.K - w @ (means[0] + means[1]) / 2
    return Known(float(-w @ (means[0] - means[1])), decisions)


def noisy(d: Data) -> Known:
    """A second-order cone for each row, in whose ends all is linear."""
    n = len(d.y)
    errors = np.abs(np.outer(np.arange(n), d.t))
    u, b, s = cp.Variable(n), cp.Variable(), cp.Variable(n)
    cones = [cp.SOC(s[i], np.diag(errors[i]) @ u) for i in range(n)]
    short = cp.pos(1 + 0.2 * s - cp.multiply(d.y, d.K @ u + b))
    return Known(optimum(cp.Minimize(cp.norm1(u) + 1.5 * cp.sum(short)), *cones))


def mixed_norm(kernels: list[Array]) -> Callable[[Data], Known]:
    """The dual: max eᵀλ - λᵀλ/(4C) with ‖K_k(y∘λ)‖ ≤ 1, yᵀλ = 0, λ ≥ 0."""

    def known(d: Data) -> Known:
        m = cp.Variable(len(d.y), nonneg=True)
        rows = [cp.norm2(K @ cp.multiply(d.y, m)) <= 1 for K in kernels]
        return Known(optimum(cp.Maximize(cp.sum(m) - cp.sum_squares(m) / 6), *rows, d.y @ m == 0))

    return known


def parts(d: Data) -> list[Array]:
    return [positive_part(d.K), positive_part(-d.K)]


def mixture(kernels: list[Array]) -> Callable[[Data], Known]:
    """The least value of LIBSVM over the mixtures of two kernels, and its decision values."""

    def known(d: Data) -> Known:
        from sklearn.svm import SVC

        traces = [np.trace(K) for K in kernels]
        same = [sum(traces) / r * K for K, r in zip(kernels, traces, strict=True) if r > 1e-9]

        def at(share: float) -> tuple[float, Array]:
            K = share * same[0] + (1.0 - share) * same[-1]
            svc = SVC(C=1.5, kernel="precomputed", tol=1e-11).fit(K, d.y)
            z = svc.dual_coef_[0]
            value = np.abs(z).sum() - z @ K[np.ix_(svc.support_, svc.support_)] @ z / 2
            return float(value), svc.decision_function(K)

        options = {"xatol": 1e-9}
        found = minimize_scalar(
            lambda share: at(share)[0], bounds=(0.0, 1.0), method="bounded", options=options
        )
        return Known(*min((at(share) for share in (found.x, 0.0, 1.0)), key=lambda one: one[0]))

    return known


def learned(d: Data) -> Known:
    """With a block matrix X ⪰ 0 in place of zᵀK⁻¹z, and a second-order cone."""
    n = len(d.y)
    X, b, far = cp.Variable((n + 1, n + 1), PSD=True), cp.Variable(), cp.Variable()
    loss = cp.sum(cp.pos(1 - cp.multiply(d.y, X[:-1, -1] + b))) / n
    value = loss + 0.2 * X[-1, -1] + 0.3 * far
    return Known(optimum(cp.Minimize(value), cp.SOC(far, cp.vec(X[:-1, :-1] - d.K, order="F"))))


def weights(d: Data) -> Array:
    return np.asarray(1.0 + np.abs(np.subtract.outer(d.t, d.t)))


def nearest(d: Data) -> Known:
    """The dual: max -‖Z/W‖²/4 - ⟨Z, K₀⟩ with Z ⪰ 0."""
    Z = cp.Variable(d.K.shape, PSD=True)
    value = -cp.sum_squares(cp.multiply(1.0 / weights(d), Z)) / 4 - cp.trace(Z @ d.K)
    return Known(optimum(cp.Maximize(value)))


Made = Callable[[Data], iopt.Formulation]

CONVEX: dict[str, tuple[tuple[str, ...], Made, Callable[[Data], Known]]] = {
    "squared slacks": (DEFINITE, lambda _: iopt.L2SVM(C=2.0), squared_slacks),
    "quantile": (DEFINITE, lambda _: iopt.QuantileRegression(C=2.0, tau=0.7), quantile),
    "ranking": (DEFINITE, lambda _: iopt.RankingSVM(C=0.5), ranking),
    "graph": (
        DEFINITE, lambda _: iopt.LaplacianSVM(0.2, 0.3, neighbors=3, labelled=LABELLED), laplacian
    ),
    "Fisher": (ANY, lambda _: iopt.KernelFisher(mu=0.3), fisher),
    "noisy": (
        ANY,
        lambda d: iopt.NoisyLPSVM(1.5, 0.2, sigma=np.abs(np.outer(np.arange(N), d.t))),
        noisy,
    ),
    "mixed norm of parts": (
        ANY, lambda _: iopt.MixedNormSVM(C=1.5), lambda d: mixed_norm(parts(d))(d)
    ),
    "mixed norm": (
        ANY,
        lambda d: iopt.MixedNormSVM(C=1.5, kernels=np.array([d.K, -several(d)[1]])),
        lambda d: mixed_norm([d.K, several(d)[1]])(d),
    ),
    "mixture of parts": (
        ANY, lambda _: iopt.MultipleKernelSVM(C=1.5), lambda d: mixture(parts(d))(d)
    ),
    "mixture": (
        ANY,
        lambda d: iopt.MultipleKernelSVM(C=1.5, kernels=several(d)),
        lambda d: mixture(list(several(d)))(d),
    ),
    "learned": (ANY, lambda _: iopt.LearnedKernel(eta=0.2, gamma=0.3), learned),
    "nearest": (ANY, lambda d: iopt.NearestKernel(W=weights(d)), nearest),
}  # fmt: skip
"""Kernels, a formulation with parameters that are not its defaults, and its optimum."""


@pytest.mark.parametrize(
    ("name", "kernel"), [(name, kernel) for name, of in CONVEX.items() for kernel in of[0]]
)
def test_convex_ones_have_the_optimum_of_another_statement(name: str, kernel: str) -> None:
    d = data(kernel)
    _, made, other = CONVEX[name]
    formulation, known = made(d), other(d)
    result = iopt.solve(problem_of(formulation.task, d), formulation)
    # Both have the tolerances of their solvers.
    assert result.objective == pytest.approx(known.value, rel=1e-6, abs=1e-8)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    if known.decisions is not None and result.has_classifier:
        found = result.classifier.decision_function(d.K)
        size = np.abs(known.decisions).max()
        assert_allclose(found, known.decisions, rtol=0.0, atol=1e-6 + 1e-3 * size)


# --------------------------------------------------------------------------- of any curvature


def pairs(d: Data) -> Array:
    e = np.eye(len(d.y))
    return np.array([e[i] - e[j] for i in np.where(d.y > 0)[0] for j in np.where(d.y < 0)[0]])


NONCONVEX: dict[str, tuple[iopt.Formulation, Callable[[Data], tuple[float, polyhedra.Rows]]]] = {
    "ranking": (
        iopt.RankingSVM(C=0.5),
        lambda d: (
            -1.0,
            rows_of(
                d, pairs(d) @ d.K @ pairs(d).T, -np.ones(len(pairs(d))), lower=0.0, upper=0.5
            ),
        ),
    ),
    "quantile": (
        iopt.QuantileRegression(C=2.0, tau=0.7),
        lambda d: (-1.0, rows_of(d, d.K, -d.t, A=d.y**2, b=0.0, lower=-0.6, upper=1.4)),
    ),
    "ball": (
        iopt.SVDDneg(C1=0.6, C2=0.3),
        lambda d: (
            -1.0,
            rows_of(
                d, 2.0 * signed(d), -d.y * np.diag(d.K), A=d.y, b=1.0, lower=0.0,
                upper=np.where(d.y > 0, 0.6, 0.3),
            ),
        ),
    ),
}  # fmt: skip
"""The sign of the objective in a minimum, and the arrays of that."""


@pytest.mark.parametrize("kernel", ANY)
@pytest.mark.parametrize("name", NONCONVEX)
def test_of_any_curvature_they_have_the_best_of_all_faces(name: str, kernel: str) -> None:
    d, (formulation, stated) = data(kernel, FEW), NONCONVEX[name]
    sign, rows = stated(d)
    known = sign * polyhedra.lowest(rows)
    problem = problem_of(formulation.task, d)
    result = iopt.solve(problem, formulation, prove=60)
    assert result.objective == pytest.approx(known, rel=1e-6, abs=1e-8)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert formulation.declare(problem).is_convex == (kernel in ("gaussian", "truncated"))


def test_the_surface_of_the_ball_meets_the_points_between_the_bounds() -> None:
    """There the own similarity, of the factor -1, the coefficients and the offset cancel."""
    d = data("tanh", 8)
    result = iopt.solve(problem_of("classification", d), iopt.SVDDneg(C1=0.6, C2=0.3), prove=60)
    alpha, found = result.values["alpha"], result.classifier.decision_function(d.K, np.diag(d.K))
    free = (alpha > 1e-4) & (alpha < np.where(d.y > 0, 0.6, 0.3) - 1e-4)
    assert free.any()
    assert_allclose(found[free], 0.0, atol=1e-4)


# ----------------------------------------------------------------------- without a finite optimum


@pytest.mark.parametrize("kernel", ANY)
def test_least_squares_have_the_solution_of_a_linear_system_or_no_optimum(kernel: str) -> None:
    d = data(kernel)
    problem, dual = problem_of("classification", d), iopt.LeastSquaresSVM(C=2.0)
    M, n = signed(d) + np.eye(N) / 2.0, N
    basis = null_space(d.y[None])
    if np.linalg.eigvalsh(basis.T @ M @ basis)[0] < 0.0:
        with pytest.raises(UnboundedProblem):
            iopt.solve(problem, dual)
        return
    whole = np.block([[M, d.y[:, None]], [d.y[None], np.zeros((1, 1))]])
    solution = np.linalg.solve(whole, np.r_[np.ones(n), 0.0])
    alpha, b = solution[:n], solution[n]
    result = iopt.solve(problem, dual)
    assert result.objective == pytest.approx(alpha.sum() / 2, rel=1e-6)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    found = result.classifier.decision_function(d.K)
    assert_allclose(found, d.K @ (d.y * alpha) + b, atol=1e-5)
    # The baseline solves the same system, also where its point is a saddle.
    assert_allclose(found, iopt.LSSVM(C=2.0).fit(problem).decision_function(d.K), atol=1e-5)


def test_some_have_no_optimum_on_some_indefinite_kernels() -> None:
    d = data("random")
    problem = problem_of("classification", d)
    for formulation in (iopt.LaplacianSVM(), iopt.L2SVM(C=10.0)):
        with pytest.raises(UnboundedProblem):
            iopt.solve(problem, formulation)
    with pytest.raises(ProblemError, match="not convex in constraint 'kernel 1'"):
        iopt.solve(problem, iopt.MultipleKernelSVM(kernels=np.array([d.K, d.K @ d.K - d.K])))


def test_a_mixture_of_one_indefinite_kernel_has_a_quadratic_row() -> None:
    """It is the SVM dual of that kernel, which another branch and bound solves."""
    d = data("random")
    few = np.concatenate([np.flatnonzero(d.y == 1.0)[:2], np.flatnonzero(d.y == -1.0)[:2]])
    K = d.K[np.ix_(few, few)]
    problem = iopt.KernelProblem(K, d.y[few])
    known = iopt.solve(problem, "SVMDual(C=1)", prove=10)
    result = iopt.solve(problem, iopt.MultipleKernelSVM(C=1.0, kernels=K[None]))
    assert result.solver == "spatial"
    assert known.certificate.claim is result.certificate.claim is iopt.Claim.GLOBAL
    assert result.objective == pytest.approx(known.objective, rel=1e-5)


# ---------------------------------------------------------------------------- what is made of them


def test_squared_slacks_are_the_hard_margin_of_another_kernel() -> None:
    d = data("tanh")
    one = iopt.solve(problem_of("classification", d), iopt.L2SVM(C=0.5))
    hard = problem_of("classification", d._replace(K=d.K + 2.0 * np.eye(N)))
    other = iopt.solve(hard, iopt.SVMDual(C=np.inf))
    assert one.objective == pytest.approx(other.objective, rel=1e-6)


def test_without_negative_examples_the_ball_is_that_of_one_class() -> None:
    """A negative point that is far away has no weight."""
    d = data("gaussian", 8)
    K = np.block([[d.K, np.zeros((8, 1))], [np.zeros((1, 8)), 50.0 * np.eye(1)]])
    problem = iopt.KernelProblem(K, np.r_[np.ones(8), -1.0])
    one = iopt.solve(problem, iopt.SVDDneg(C1=0.4))
    other = iopt.solve(iopt.KernelProblem(d.K), iopt.SVDD(C=0.4))
    assert one.objective == pytest.approx(other.objective, rel=1e-6)
    assert_allclose(one.values["alpha"], np.r_[other.values["alpha"], 0.0], atol=1e-4)


def test_labels_of_points_without_one_are_not_read() -> None:
    d = data("gaussian")
    half = iopt.LaplacianSVM(labelled=LABELLED)
    other = d._replace(y=np.where(LABELLED == 1.0, d.y, -d.y))
    one, two = (iopt.solve(problem_of("classification", each), half) for each in (d, other))
    assert one.objective == pytest.approx(two.objective, rel=1e-7)
    with pytest.raises(ParameterError, match="labelled: expected 1 or 0 for each point"):
        iopt.solve(problem_of("classification", d), iopt.LaplacianSVM(labelled=2.0 * LABELLED))
    positive = np.where(d.y > 0, 1.0, 0.0)
    with pytest.raises(ParameterError, match="labelled"):
        iopt.solve(problem_of("classification", d), iopt.LaplacianSVM(labelled=positive))


def test_without_errors_the_rows_are_those_of_the_linear_program() -> None:
    problem = problem_of("classification", data("random"))
    expected = iopt.solve(problem, iopt.LPSVM(C=1.5)).objective
    for noisy in (iopt.NoisyLPSVM(1.5, kappa=0.0), iopt.NoisyLPSVM(1.5, sigma=np.zeros((N, N)))):
        assert iopt.solve(problem, noisy).objective == pytest.approx(expected, rel=1e-6)
    with pytest.raises(ParameterError, match="sigma"):
        iopt.solve(problem, iopt.NoisyLPSVM(sigma=-np.ones((N, N))))


def test_a_problem_is_made_of_the_nearest_kernel() -> None:
    d = data("random")
    problem = problem_of("classification", d)
    K = iopt.solve(problem, "NearestKernel").values["K"]
    assert_allclose(K, problem.transformed("clip").K, atol=1e-5)
    made = iopt.KernelProblem(K, problem.labels)
    clipped = iopt.solve(problem, "SpectrumSVM(transform=clip)").objective
    assert iopt.solve(made, "SVMDual").objective == pytest.approx(clipped, rel=1e-4)
    with pytest.raises(ParameterError, match="W: expected"):
        iopt.solve(problem, iopt.NearestKernel(W=np.triu(np.ones((N, N)))))


def test_the_learned_kernel_has_its_own_values_at_the_points() -> None:
    """Also near the swap: it is clipped, 2η/(1 + k) + γ√(1 + k²) with k = 1 for η = √2 γ."""
    d = data("random")
    result = iopt.solve(problem_of("classification", d), iopt.LearnedKernel())
    found = result.classifier.decision_function(d.K)
    assert_allclose(found, result.values["z"] + result.values["b"], atol=1e-6)
    swap = iopt.KernelProblem([[0.0, -1.0], [-1.0, 0.0]], [1, -1])
    near = iopt.solve(swap, iopt.LearnedKernel(eta=np.sqrt(0.08), gamma=0.2))
    assert near.objective == pytest.approx(np.sqrt(0.32), rel=1e-6)
    assert_allclose(near.values["K"], [[1.0, -1.0], [-1.0, 1.0]], atol=1e-3)


def test_more_pairs_than_a_matrix_has_rows_are_refused() -> None:
    y = np.where(np.arange(160) < 80, 1, -1)
    with pytest.raises(ProblemError, match=r"at most 5000 pairs .* got 6400 pairs"):
        iopt.solve(iopt.KernelProblem(np.eye(160), y), "RankingSVM")


def test_ranks_are_those_of_the_decision_values() -> None:
    """The order of the pairs that are right, and classes by the threshold of least error."""
    d = data("shifted")
    fitted = iopt.solve(problem_of("classification", d), iopt.RankingSVM(C=100.0)).classifier
    values = fitted.decision_function(d.K)
    assert values[d.y > 0].min() > values[d.y < 0].max()
    assert fitted.predict(d.K).tolist() == d.y.tolist()
