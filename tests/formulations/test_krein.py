"""Krein spaces: ESVM, its certificate, KSVM, and the active set method as printed."""

from __future__ import annotations

import gc
import re
import weakref
from dataclasses import dataclass, replace

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence
from sklearn.svm import SVC

import indefinite_opt as iopt
from helpers.problems import labels, random_problem, symmetric
from indefinite_opt.formulations.esvm import ESVM
from indefinite_opt.formulations.ksvm import KSVM
from indefinite_opt.modeling.classifier import Classifier
from indefinite_opt.modeling.programs.krein import stabilise
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.solving.solution import Status
from indefinite_opt.theory.krein import krein_certificate

Array = NDArray[np.float64]


def odd_kernels(n: int) -> dict[str, Array]:
    v = np.random.default_rng(5).standard_normal(n)
    X = np.random.default_rng(6).standard_normal((n, 3))
    twins = symmetric(n, 7)
    twins[1] = twins[0]
    twins[:, 1] = twins[:, 0]
    twins[:2, :2] = 1.0
    return {
        "zero": np.zeros((n, n)), "rank one": np.outer(v, v), "minus rank one": -np.outer(v, v),
        "rank three": X @ np.diag([1.0, -1.0, 1.0]) @ X.T, "twins": twins, "-I": -np.eye(n),
        "centred": centred(symmetric(n, 8)),
    }  # fmt: skip


def centred(K: Array) -> Array:
    P = np.eye(K.shape[0]) - 1.0 / K.shape[0]
    return 0.5 * (P @ K @ P + (P @ K @ P).T)


def flipped(K: Array) -> Array:
    values, vectors = np.linalg.eigh(K)
    return (vectors * np.abs(values)) @ vectors.T


@pytest.mark.parametrize("energy", [1.0, 1.0 - 1e-15])
def test_esvm_of_a_definite_kernel_is_the_svm(
    gaussian_problem: iopt.KernelProblem, energy: float
) -> None:
    svm = iopt.solve(gaussian_problem, iopt.SVMDual(C=3.0), solver="smo", tol=1e-9)
    esvm = iopt.solve(gaussian_problem, ESVM(C=3.0, energy=energy), solver="smo", tol=1e-9)
    assert esvm.objective == pytest.approx(svm.objective, rel=1e-10)
    assert_allclose(esvm.classifier.coef, svm.classifier.coef, atol=1e-7)
    assert esvm.classifier.offset == pytest.approx(svm.classifier.offset, abs=1e-7)
    # The null space of a singular one is not touched: the weights remain as sparse as they were.
    problem = random_problem("linear", n=30, seed=0)
    z = np.random.default_rng(0).standard_normal(30)
    assert_allclose(stabilise(problem).coefficients(z), z, atol=1e-13)


@pytest.mark.parametrize("C", [0.1, 50.0])
def test_esvm_reproduces_libsvm_on_the_flipped_kernel(
    sigmoid_problem: iopt.KernelProblem, C: float
) -> None:
    """Algorithm 1 with scikit-learn as SvmSolver; then K takes the place of the flipped kernel."""
    K = sigmoid_problem.K
    machine = SVC(C=C, kernel="precomputed", tol=1e-9).fit(flipped(K), sigmoid_problem.y)
    result = iopt.solve(sigmoid_problem, ESVM(C=C), solver="smo", tol=1e-9)
    expected = machine.decision_function(flipped(K))
    found = result.classifier.decision_function(K)
    # LIBSVM keeps its kernel matrix in single precision.
    assert_allclose(found, expected, atol=1e-4)
    assert_array_equal(result.classifier.predict(K), machine.predict(flipped(K)))
    # The heuristic that the paper compares with: the same weights, K without the way back.
    heuristic = machine.decision_function(K)
    assert np.abs(heuristic - expected).max() > 0.1


@pytest.mark.parametrize("energy", [0.5, 0.99, 1.0])
@pytest.mark.parametrize("name", ["sigmoid", "random", "rank three"])
def test_the_promised_share_is_there(name: str, energy: float) -> None:
    n = 90
    K = symmetric(n, 1) if name == "random" else odd_kernels(n).get(name)
    if K is None:
        problem = random_problem(name, n, seed=1)
    else:
        problem = iopt.KernelProblem(K, labels(n, 1), symmetrize=True)
    kept = stabilise(problem, energy)
    sizes = np.sort(np.abs(np.linalg.eigvalsh(problem.K)))[::-1]
    true = float(np.abs(kept.values).sum() / sizes.sum())
    assert energy - 1e-12 <= kept.share <= true + 1e-12
    assert kept.values.size <= kept.computed <= n
    if kept.computed == n:
        assert true == pytest.approx(kept.share, abs=1e-12)
        cheaper = sizes[: kept.values.size - 1].sum() / sizes.sum()
        assert energy == 1.0 or cheaper < energy
    found = np.sort(np.abs(kept.values))[::-1]
    assert_allclose(found, sizes[: found.size], atol=1e-10 * sizes[0])
    assert np.linalg.eigvalsh(kept.problem.K)[0] >= -1e-10 * sizes[0]


def test_lanczos_computes_few_eigenvalues_of_a_kernel_of_low_rank() -> None:
    K = odd_kernels(200)["rank three"]
    problem = iopt.KernelProblem(K, labels(200, 0), symmetrize=True)
    kept = stabilise(problem, 0.95)
    assert kept.computed == 16
    assert kept.values.size <= 3
    assert "spectrum" not in vars(problem)
    assert kept.seconds > 0.0
    # The same result where the whole spectrum is known already.
    again = iopt.KernelProblem(K, labels(200, 0), symmetrize=True)
    assert again.spectrum.values.size == 200
    assert_array_equal(stabilise(again, 0.95).values, kept.values)
    assert "16 computed" in str(kept)
    assert "at least" in str(kept)


def test_where_lanczos_fails_all_eigenvalues_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise ArpackNoConvergence("no convergence (%s)", np.empty(0), np.empty((0, 0)))

    monkeypatch.setattr("scipy.sparse.linalg.eigsh", fail)
    problem = random_problem("sigmoid", n=60, seed=4)
    kept = stabilise(problem, 0.8)
    assert kept.computed == 60
    assert kept.share >= 0.8


def test_stabilised_kernels_are_kept_with_their_problem_and_go_with_it() -> None:
    problem = random_problem("sigmoid", n=40, seed=0)
    formulation = ESVM(C=1.0, energy=0.7)
    kept = formulation.stabilised(problem)
    assert ESVM(C=9.0, energy=0.7).stabilised(problem) is kept
    assert formulation.program(problem).problem is kept.problem
    assert ESVM().stabilised(problem).vectors is problem.spectrum.vectors
    assert problem.squared() is problem.squared()
    gone = weakref.ref(problem)
    del problem
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("C", [1e-6, 1e4])
@pytest.mark.parametrize("name", odd_kernels(4))
def test_degenerate_kernels(name: str, C: float) -> None:
    """ESVM, KSVM and the active set method."""
    problem = iopt.KernelProblem(odd_kernels(12)[name], labels(12, 3), symmetrize=True)
    for formulation in (ESVM(C=C, energy=0.3), ESVM(C=C)):
        result = iopt.solve(problem, formulation, solver="smo", tol=1e-8)
        kept = formulation.stabilised(problem)
        assert result.certificate.primal_residual <= 1e-8
        # Training points get from K what they get from the kernel learnt with.
        z = problem.y * result.values["alpha"]
        size = max(1.0, float(np.abs(kept.problem.K).max()) * float(np.abs(z).sum()))
        assert_allclose(problem.K @ result.classifier.coef, kept.problem.K @ z, atol=1e-12 * size)
    result = iopt.solve(problem, KSVM(C=C), solver="smo")
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert result.objective == pytest.approx(least_squares(problem, C), rel=1e-5, abs=1e-5)
    assert np.isfinite(result.classifier.offset)
    result = iopt.solve(problem, KSVM(C=C), solver="active-set", seed=0)
    assert result.status in (Status.SOLVED, Status.INACCURATE)
    assert result.certificate.primal_residual <= 1e-9
    if result.status is Status.SOLVED:
        level, alpha = level_of(result.message), result.values["alpha"]
        assert violation_as_printed(problem, alpha, level, C) <= 1e-5
    if name in ("zero", "-I"):
        assert result.certificate.claim is iopt.Claim.GLOBAL


@pytest.mark.parametrize("rank", [1, 14, 30, 100])
def test_rank_is_the_number_of_eigenvalues_in_use(rank: int) -> None:
    """K̃ = Σ|λ|vvᵀ over the largest |λ|, whether by a partial decomposition or by a whole one."""
    whole = random_problem("sigmoid", n=30, seed=4)
    values, vectors = np.linalg.eigh(whole.K)
    largest = np.argsort(-np.abs(values))[:rank]
    expected = (vectors[:, largest] * np.abs(values[largest])) @ vectors[:, largest].T
    true = np.abs(values[largest]).sum() / np.abs(values).sum()
    _ = whole.spectrum
    for problem in (whole, iopt.KernelProblem(whole.K, whole.y)):
        formulation = ESVM(C=2.0, rank=rank)
        kept = formulation.stabilised(problem)
        assert formulation.stabilised(problem) is kept
        assert kept.values.size == min(rank, 30)
        assert_allclose(kept.problem.K, expected, atol=1e-12 * np.abs(values).max())
        assert 0.3 * true <= kept.share <= true + 1e-12
        result = iopt.solve(problem, f"ESVM(C=2, rank={rank})")
        assert str(result.formulation) == f"ESVM(C=2, rank={rank})"
        decided = expected @ (problem.y * result.values["alpha"]) + result.classifier.offset
        found = result.classifier.decision_function(problem.K)
        assert_allclose(found, decided, atol=1e-9)


def test_rank_and_energy_exclude_each_other() -> None:
    with pytest.raises(iopt.errors.ParameterError, match="rank: expected None if energy is given"):
        ESVM(energy=0.9, rank=3)


@pytest.mark.parametrize(("C", "energy"), [(0.05, 0.9), (1.0, 1.0), (20.0, 0.9)])
def test_the_optimum_is_certified_and_agrees_with_cvxpy(C: float, energy: float) -> None:
    """Primal (14) in the coefficients w of K̃: min ½wᵀK̃w + C Σ max(0, 1 - y(K̃w + b))."""
    problem = random_problem("sigmoid", n=34, seed=6)
    formulation = ESVM(C=C, energy=energy)
    result = iopt.solve(problem, formulation, solver="smo", tol=1e-9)
    certificate = krein_certificate(problem, formulation, result.values)
    assert certificate.holds
    assert certificate.violation <= 1e-6

    values, vectors = np.linalg.eigh(problem.K)
    chosen = np.isin(np.round(values, 8), np.round(formulation.stabilised(problem).values, 8))
    root = vectors[:, chosen] * np.sqrt(np.abs(values[chosen]))
    w, b = cp.Variable(root.shape[1]), cp.Variable()
    hinge = cp.sum(cp.pos(1 - cp.multiply(problem.y, root @ w + b)))
    primal = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * hinge))
    primal.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10)
    assert certificate.primal == pytest.approx(primal.value, rel=1e-6)
    assert certificate.dual == pytest.approx(primal.value, rel=1e-6)
    assert certificate.square == pytest.approx(float(np.sum(w.value**2)), rel=1e-4)
    # ‖f₊‖² - ‖f₋‖², from the signs of the eigenvalues.
    signed = float(np.sum(np.sign(values[chosen]) * w.value**2))
    assert certificate.krein_square == pytest.approx(signed, rel=1e-4, abs=1e-4)
    margins = problem.y * (root @ w.value + b.value)
    free = (result.values["alpha"] > 1e-6 * C) & (result.values["alpha"] < C * (1 - 1e-6))
    assert_allclose(certificate.margins[free], 1.0, atol=1e-6)
    if free.any():
        assert_allclose(certificate.margins, margins, atol=1e-4)


@pytest.fixture(scope="module")
def solved() -> tuple[iopt.KernelProblem, ESVM, Array]:
    problem, formulation = random_problem("sigmoid", n=40, seed=0), ESVM(C=1.0)
    return problem, formulation, iopt.solve(problem, formulation, tol=1e-9).values["alpha"]


def test_wrong_weights_are_noticed(solved: tuple[iopt.KernelProblem, ESVM, Array]) -> None:
    problem, formulation, alpha = solved
    assert krein_certificate(problem, formulation, {"alpha": alpha}).holds
    free = np.flatnonzero((alpha > 0.01) & (alpha < 0.99))
    pair = np.zeros(alpha.size)
    i, j = next((i, j) for i in free for j in free if problem.y[i] != problem.y[j])
    pair[[i, j]] = 1e-3
    feasible = [0.999 * alpha, alpha + pair, 0.0 * alpha,
                formulation.program(problem).feasible.project(alpha[::-1])]  # fmt: skip
    infeasible = [alpha + 2.0 * (alpha == 0.0), alpha + 1e-3 * (alpha == 0.0)]
    for wrong in feasible + infeasible:
        certificate = krein_certificate(problem, formulation, {"alpha": wrong})
        assert not certificate.holds
        assert "holds          False" in str(certificate)
        assert certificate.violation > 1e-6
        if any(wrong is one for one in infeasible):
            assert certificate.infeasibility > 1e-6
        else:
            assert certificate.residual > 1e-6
            assert certificate.gap > 0.0


@dataclass(frozen=True)
class Forgetful(ESVM):
    """Leaves out the way back, as the heuristic "abs" does."""

    def classifier(self, problem: iopt.KernelProblem, values: dict[str, Array]) -> Classifier:
        right = super().classifier(problem, values)
        return replace(right, coef=problem.y * values["alpha"])


def test_wrong_coefficients_are_noticed(solved: tuple[iopt.KernelProblem, ESVM, Array]) -> None:
    problem, _, alpha = solved
    certificate = krein_certificate(problem, Forgetful(C=1.0), {"alpha": alpha})
    assert not certificate.holds
    assert certificate.link > 0.1
    assert certificate.violation == certificate.link


def test_formulations_without_a_stabilised_kernel() -> None:
    problem = iopt.KernelProblem([[0.0, -1.0], [-1.0, 0.0]], [1, -1])
    for formulation in (iopt.SVMDual(), ESVM):
        with pytest.raises(iopt.errors.ParameterError, match="a formulation with a stabilised"):
            krein_certificate(problem, formulation, {"alpha": [0.0, 0.0]})


def least_squares(problem: iopt.KernelProblem, C: float) -> float:
    """(26) by Clarabel, from G itself."""
    G = problem.K * np.outer(problem.y, problem.y)
    alpha = cp.Variable(problem.n)
    rows = [problem.y @ alpha == 0, alpha >= 0, alpha <= C]
    program = cp.Problem(cp.Minimize(cp.sum_squares(G @ alpha - 1)), rows)
    return float(program.solve(solver="CLARABEL"))


def test_the_offset_fits_the_free_points() -> None:
    problem = random_problem("sigmoid", n=30, seed=1)
    result = iopt.solve(problem, KSVM(C=1.0), solver="smo", tol=1e-9)
    alpha, offset = result.values["alpha"], result.classifier.offset
    free = (alpha > 1e-7) & (alpha < 1.0 - 1e-7)
    assert 0 < free.sum() < 30
    target = (problem.y - problem.K @ (problem.y * alpha))[free]
    assert offset == pytest.approx(target.mean(), abs=1e-10)  # by least squares
    # Without free points it fits all.
    zero = iopt.KernelProblem(np.zeros((4, 4)), [1, 1, 1, -1])
    assert KSVM(C=1.0).classifier(zero, {"alpha": np.zeros(4)}).offset == 0.5


def level_of(message: str) -> float:
    """λ, as the message gives it."""
    found = re.search(r"λ = (\S+),", message)
    assert found is not None
    return float(found[1])


def violation_as_printed(
    problem: iopt.KernelProblem, alpha: Array, level: float, C: float
) -> float:
    """(28) on the free points, (29) at zero, (30) at C; G built from K and y here."""
    G = problem.K * np.outer(problem.y, problem.y)
    sides = G @ (G @ alpha - 1.0 + level * problem.y)
    zero, full = alpha <= 1e-12 * C, alpha >= C * (1.0 - 1e-12)
    terms = np.abs(G @ np.ones(alpha.size)).max() + abs(level) * np.abs(G @ problem.y).max()
    violated = np.where(zero, -sides, np.where(full, sides, np.abs(sides)))
    return float(violated.max() / (terms or 1.0))


@pytest.mark.parametrize(
    ("kernel", "C"), [("sigmoid", 0.01), ("gaussian", 1.0), ("l1-gaussian", 100.0)]
)
def test_conditions_27_to_30_hold_as_printed(kernel: str, C: float) -> None:
    problem = random_problem(kernel, n=40, seed=0)
    result = iopt.solve(problem, KSVM(C=C), solver="active-set", seed=0)
    alpha = result.values["alpha"]
    assert result.status is Status.SOLVED
    assert abs(problem.y @ alpha) <= 1e-12 * np.abs(alpha).sum()
    assert alpha.min() >= 0.0
    assert alpha.max() <= C
    assert violation_as_printed(problem, alpha, level_of(result.message), C) <= 2e-6
    # The declared problem is another one: never better than its optimum, and told apart.
    assert result.objective >= least_squares(problem, C) - 1e-5
    assert result.certificate.claim >= iopt.Claim.FEASIBLE


def test_the_offset_of_the_printed_algorithm_is_lambda() -> None:
    """(28) on the free points, multiplied by the inverse of their block: y_i f(x_i) = 1 there.

    Without weights at C the free columns of G suffice, so that G_w(α_w) + λy = e by least squares.
    """
    problem = random_problem("sigmoid", n=40, seed=0)
    result = iopt.solve(problem, KSVM(C=1.0), solver="active-set")
    assert result.classifier.offset == level_of(result.message)
    alpha, y = result.values["alpha"], problem.y
    G = problem.K * np.outer(y, y)
    free = (alpha > 1e-9) & (alpha < 1.0 - 1e-9)
    full = alpha >= 1.0 - 1e-9
    # The normal equations of (28) and yᵀα = 0, solved for α_w and λ together.
    size = int(free.sum())
    system = np.zeros((size + 1, size + 1))
    system[:size, :size] = G[:, free].T @ G[:, free]
    system[:size, size] = G[:, free].T @ y
    system[size, :size] = y[free]
    right = np.append(G[:, free].T @ (1.0 - G[:, full].sum(axis=1)), -y[full].sum())
    solved = np.linalg.solve(system, right)
    assert_allclose(alpha[free], solved[:-1], atol=1e-6)
    assert result.classifier.offset == pytest.approx(solved[-1], abs=1e-6)
    declared = KSVM(C=1.0).classifier(problem, result.values)
    assert abs(result.classifier.offset - declared.offset) > 1e-3
    assert_array_equal(result.classifier.coef, declared.coef)


@pytest.mark.parametrize(("seed", "C"), [(0, 0.1), (1, 1.0), (2, 100.0)])
def test_with_equal_row_sums_it_solves_the_declared_problem(seed: int, C: float) -> None:
    """Then Gy = ρy, and G(λy) = λρy: the multiplier is the same inside and outside."""
    n = 15
    first = np.random.default_rng(seed).standard_normal(n)
    i = np.arange(n)
    circulant = first[(i[:, None] - i) % n] + first[(i - i[:, None]) % n]
    problem = iopt.KernelProblem(circulant, labels(n, seed))
    result = iopt.solve(problem, KSVM(C=C), solver="active-set")
    assert result.status is Status.SOLVED
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert result.objective == pytest.approx(least_squares(problem, C), rel=1e-5, abs=1e-6)


def test_a_cycle_is_noticed_and_the_best_point_returned() -> None:
    """The paper's proof that it ends is that of a convex program, which this is not."""
    problem = random_problem("linear", n=60, seed=0)
    result = iopt.solve(problem, KSVM(C=0.01), solver="active-set")
    assert result.status is Status.INACCURATE
    assert "cycles" in result.message
    assert 0 < result.iterations < 10 * problem.n
    found = violation_as_printed(problem, result.values["alpha"], level_of(result.message), C=0.01)
    assert found > 1e-3
    said = re.search(r"violated by (\S+),", result.message)
    assert said is not None
    assert min(result.trace.residual) == pytest.approx(float(said[1]), rel=1e-2)
    assert result.certificate.primal_residual <= 1e-9


def test_where_the_rows_sum_to_zero_lambda_has_no_effect() -> None:
    problem = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    result = iopt.solve(problem, KSVM(C=1.0), solver="active-set")
    assert result.status is Status.INACCURATE
    assert "λ has no effect" in result.message
    # G = (1, 1; 1, 1): (26) has α = (½, ½) and a residual of zero.
    assert iopt.solve(problem, KSVM(C=1.0), solver="smo").objective == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(("kernel", "C"), [("sigmoid", 1e-3), ("l1-gaussian", 10.0)])
def test_ksvm_agrees_with_cvxpy(kernel: str, C: float) -> None:
    problem = random_problem(kernel, n=40, seed=9)
    expected = least_squares(problem, C)
    result = iopt.solve(problem, KSVM(C=C), solver="smo", tol=1e-8)
    # Clarabel's own accuracy is relative to n, which the objective leaves little of.
    assert result.objective == pytest.approx(expected, rel=1e-6, abs=1e-6)
    # What is left of n = 40 carries the rounding of all of it.
    certificate = iopt.verify(problem, KSVM(C=C), result.values, tol=1e-7)
    assert certificate.claim is iopt.Claim.GLOBAL
    assert certificate.bound == pytest.approx(expected, rel=1e-6, abs=1e-6)
    program = KSVM(C=C).declare(problem)
    assert program.evaluate(result.values)[0] == pytest.approx(result.objective, rel=1e-9)
    compiled = program.cvxpy()
    compiled.solve(solver="CLARABEL")
    assert compiled.value == pytest.approx(expected, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("C", [0.1, 1e4])
def test_the_bound_holds_at_any_point(C: float) -> None:
    problem = iopt.KernelProblem(symmetric(20, 3), labels(20, 3))
    program = KSVM(C=C).program(problem)
    expected = least_squares(problem, C) - program.constant
    generator = np.random.default_rng(0)
    for _ in range(20):
        x = program.feasible.random_point(generator) * generator.choice([1e-3, 0.1, 1.0])
        at = program.at(x)
        value, gradient = at.value, at.gradient
        assert answers.dual_bound(program, x, gradient) <= expected + 1e-6
        residual = problem.Q @ x - 1.0
        assert value + 20.0 == pytest.approx(float(residual @ residual), rel=1e-10, abs=1e-8)
        assert_allclose(gradient, 2.0 * problem.Q @ residual, rtol=1e-9, atol=1e-9)
