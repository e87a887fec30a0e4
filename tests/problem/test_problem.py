"""The problem object: validation, spectra computed once, geometry of the kernel."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

import indefinite_opt as iopt
from helpers.problems import random_problem
from indefinite_opt.errors import ParameterError, UnknownName
from indefinite_opt.problem.datasets import Dataset
from indefinite_opt.quadratic.matrices import gram as problem_module
from indefinite_opt.quadratic.matrices.spectrum import eigendecomposition


def test_eigendecompositions_happen_once_and_only_when_asked(monkeypatch) -> None:
    calls = []

    def counted(K, **options):
        calls.append(K.shape)
        return eigendecomposition(K, **options)

    monkeypatch.setattr(problem_module, "eigendecomposition", counted)
    problem = random_problem("sigmoid", n=30, seed=0)
    assert iopt.solve(problem, iopt.SVMDual(C=1.0)).objective > 0
    assert calls == []
    for transform in ("clip", "flip", "shift", "square"):
        iopt.solve(problem, iopt.SpectrumSVM(transform=transform))
    assert len(calls) == 1
    assert problem.spectrum.inertia.negative > 0
    iopt.solve(problem, iopt.SpectrumSVM(transform="flip", centered=True))
    assert len(calls) == 2


def test_signature_of_a_known_matrix() -> None:
    # Points (1, 0), (0, 1), (0, -1) of R^(1,1): real spread 1, imaginary spread 2.
    points = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    K = points[:, :1] @ points[:, :1].T - points[:, 1:] @ points[:, 1:].T
    problem = iopt.KernelProblem(K, [1, -1, -1])
    assert problem.signature == (1, 1)
    assert problem.squared_distances[1, 2] == -4.0
    assert problem.squared_distances[0, 1] == 0.0
    # Class means (1, 0) and (0, 0).
    assert problem.class_mean_distance == pytest.approx(1.0, abs=1e-15)


@settings(max_examples=15)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 12),
    rank=st.integers(0, 12),
    scale=st.sampled_from([1e-8, 1.0, 1e8]),
)
def test_embedding_reproduces_squared_distances(seed, n, rank, scale) -> None:
    """Haasdonk's Proposition 1, for every inertia and rank, duplicates included."""
    generator = np.random.default_rng(seed)
    factors = generator.standard_normal((n, min(rank, n)))
    signs = generator.choice([-1.0, 1.0], min(rank, n))
    K = scale * (factors * signs) @ factors.T
    problem = iopt.KernelProblem(0.5 * (K + K.T), np.resize([1, -1], n))
    embedding = iopt.theory.embed(problem)
    p, q = embedding.signature
    assert p + q < n
    assert (p, q) == (problem.signature if any(problem.signature) else (1, 0))  # a line, no point
    largest = np.abs(problem.squared_distances).max()
    assert_allclose(embedding.squared_distances(), problem.squared_distances, atol=1e-10 * largest)
    assert_allclose(embedding.points.mean(axis=0), 0.0, atol=1e-7 * np.sqrt(scale))


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 10), lines=st.integers(0, 2))
def test_convexity_and_its_witness_agree_with_eigenvalues(seed, n, lines) -> None:
    generator = np.random.default_rng(seed)
    eigenvalues = generator.choice([-1.0, 0.0, 1.0], n, p=[0.15, 0.25, 0.6])
    V = np.linalg.qr(generator.standard_normal((n, n)))[0]
    K = (V * eigenvalues) @ V.T
    problem = iopt.KernelProblem(0.5 * (K + K.T), np.resize([1, -1, 1], n))
    normals = np.column_stack([np.ones(n), problem.y])[:, :lines]
    basis = np.linalg.svd(normals, full_matrices=True)[0][:, lines:] if lines else np.eye(n)
    least = np.linalg.eigvalsh(basis.T @ K @ basis).min() if basis.shape[1] else 0.0
    assert problem.is_convex(lines) == (least >= -1e-10)
    direction = problem.negative_direction(lines)
    assert (direction is None) == problem.is_convex(lines)
    if direction is not None:
        signed = problem.y * direction
        assert signed @ K @ signed < 0
        assert np.abs(normals.T @ signed).max(initial=0.0) < 1e-9
        assert np.linalg.norm(direction) == pytest.approx(1.0)


@pytest.mark.parametrize("lines", [0, 1, 2])
@pytest.mark.parametrize("across", ["e", "y", "both", "none", "elsewhere"])
def test_a_sample_of_points_decides_convexity_where_it_is_curved(lines: int, across: str) -> None:
    """Negative eigenvalues whose eigenvectors are known, some of them across the lines."""
    n = 120
    generator = np.random.default_rng(lines)
    y = generator.permutation(np.resize([1.0, 1.0, -1.0], n))
    factors = generator.standard_normal((n, 30))
    excluded = {"e": [np.ones(n)], "y": [y], "both": [np.ones(n), y], "none": []}
    lowered = excluded.get(across, [generator.standard_normal(n)])
    K = factors @ factors.T - 50.0 * sum(np.outer(v, v) for v in lowered)
    problem = iopt.KernelProblem(0.5 * (K + K.T), y)
    normals = np.column_stack([np.ones(n), y])[:, :lines]
    basis = np.linalg.svd(normals, full_matrices=True)[0][:, lines:] if lines else np.eye(n)
    convex = bool(np.linalg.eigvalsh(basis.T @ problem.K @ basis).min() >= -1e-9 * n)
    assert convex == (len(lowered) <= {"e": lines, "y": lines - 1, "both": lines}.get(across, 0))
    assert problem.is_convex(lines) == convex


@pytest.mark.parametrize("cache_mb", [None, 1.0])
def test_scaling_of_all_points_is_kept(cache_mb: float | None) -> None:
    """As Lin & Lin (2003) do: the range of all points, [0, 10], is [-1, 1] and [0, 1]."""
    X, train, test = np.array([[0.0], [5.0], [10.0], [2.0]]), np.array([0, 1]), np.array([2, 3])
    for scaling, scaled in (
        ("minmax-all", [-1.0, 0.0, 1.0, -0.6]),
        ("unit-all", [0.0, 0.5, 1.0, 0.2]),
        ("standard-all", (X.ravel() - 4.25) / X.std()),
    ):
        problem = iopt.KernelProblem.from_data(
            X, [1, -1, 1, -1], "linear", scaling=scaling, cache_mb=cache_mb
        )
        split, K = problem.split(train, test), np.outer(scaled, scaled)
        block = split.problem.gram.block(np.arange(2), np.arange(2))
        assert_allclose(block, K[:2, :2], atol=1e-15)
        assert_allclose(split.K_new, K[2:, :2], atol=1e-15)
        assert_allclose(split.K_new_new(), K[2:, 2:], atol=1e-15)
        if cache_mb is not None:  # a split of a split, and raw new points
            again = split.problem.split(train[::-1], train)
            assert_allclose(again.K_new, K[:2, 1::-1], atol=1e-15)
            rows = split.problem.kernel_with(X[test])
            assert_allclose(rows, K[2:, :2], atol=1e-15)
    fitted = iopt.KernelProblem.from_data(X, [1, -1, 1, -1], "linear", scaling="unit")
    assert_allclose(fitted.split(train, test).K_new, [[0.0, 2.0], [0.0, 0.4]])
    assert fitted.split(train, np.arange(0)).K_new.shape == (0, 2)


@pytest.mark.parametrize(("scale", "centered"), [(1e-70, True), (1.0, False), (1e70, True)])
def test_the_square_is_the_product_of_the_kernel_with_itself(scale: float, centered: bool) -> None:
    K = random_problem("sigmoid", n=30, seed=0).K
    problem = iopt.KernelProblem(scale * K, np.resize([1, -1], 30))
    changed = problem.transformed("square", centered)
    P = np.eye(30) - (1.0 / 30.0 if centered else 0.0)
    expected = np.linalg.matrix_power(P @ K @ P, 2)
    assert_allclose(changed.K / scale / scale, expected, atol=1e-12)
    assert changed.is_psd
    assert changed.spectrum.minimum >= 0.0
    largest = scale**2 * np.linalg.norm(P @ K @ P, 2) ** 2
    assert changed.spectrum.maximum == pytest.approx(largest, rel=1e-12)
    assert problem.transformed("square", centered) is changed


@pytest.mark.parametrize("form", ["linear", "gaussian", "exponential", "raw"])
def test_new_distances_give_kernel_rows(form: str) -> None:
    """Those of the problem with all objects; also in a subset, and after pickling."""
    D = np.abs(np.subtract.outer([0.0, 1.0, 3.0, 7.0, 4.0], [0.0, 1.0, 3.0, 7.0, 4.0]))
    gamma = 0.3 if form in ("gaussian", "exponential") else None
    whole = iopt.KernelProblem.from_distances(D, [1, -1, 1, -1, 1], form, gamma=gamma)
    problem = iopt.KernelProblem.from_distances(D[:4, :4], [1, -1, 1, -1], form, gamma=gamma)
    part = whole.split(np.arange(4), np.array([4])).problem
    for one in (problem, part, pickle.loads(pickle.dumps(problem))):
        assert_array_equal(one.kernel_with(D[4:, :4]), whole.K[4:, :4])
    width = ", gamma=0.3" if form in ("gaussian", "exponential") else ""
    assert problem.origin == f"{form} of distances{width}"
    with pytest.raises(iopt.errors.ProblemError, match="D: expected a symmetric"):
        iopt.KernelProblem.from_distances([[0, 1], [2, 0]], [1, -1])
    for wrong, told in ((D[4:], "shape"), (-D[4:, :4], "nonnegative"), ([[np.nan] * 4], "fin")):
        with pytest.raises(iopt.errors.ProblemError, match=told):
            problem.kernel_with(wrong)


@pytest.mark.parametrize("cache_mb", [None, 1.0])
def test_tl1_of_new_points_and_parts(cache_mb: float | None) -> None:
    """max(0.7 d - ‖x - z‖₁, 0) by scipy, of features that the training points scale to [0, 1]."""
    generator = np.random.default_rng(4)
    X, y = 10.0 * generator.random((30, 4)) - 3.0, np.resize([1, -1], 30)
    problem = iopt.KernelProblem.from_data(X, y, "tl1", scaling="unit", cache_mb=cache_mb)
    split = problem.split(np.arange(20), np.arange(20, 30))
    assert problem.origin == split.problem.origin == "tl1(rho=2.8)"

    def expected(known: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        low, width = known.min(axis=0), np.ptp(known, axis=0)
        apart = cdist((left - low) / width, (right - low) / width, "cityblock")
        return np.maximum(0.7 * 4 - apart, 0.0)

    new = 10.0 * generator.random((6, 4)) - 3.0
    for part, known in ((problem, X), (split.problem, X[:20])):
        assert_allclose(part.kernel_with(new), expected(known, new, known), atol=1e-12)
        assert_allclose(part.kernel_among(new), expected(known, new, new), atol=1e-12)
    assert_allclose(split.K_new, expected(X[:20], X[20:], X[:20]), atol=1e-12)


def test_split_of_a_matrix_cuts_blocks() -> None:
    K = np.arange(16.0).reshape(4, 4)
    problem = iopt.KernelProblem(K + K.T, [1, -1, 1, -1])
    split = problem.split(np.array([0, 1]), np.array([3, 2]))
    assert_array_equal(split.K_new, (K + K.T)[np.ix_([3, 2], [0, 1])])
    assert_array_equal(split.K_new_new(), (K + K.T)[np.ix_([3, 2], [3, 2])])
    assert_array_equal(split.labels, [-1, 1])
    with pytest.raises(iopt.errors.ProblemError, match="made by from_data"):
        problem.kernel_with([[1.0]])


def test_from_dataset_reads_points_similarities_and_distances() -> None:
    def entry(form: str | None = None, gamma: float | None = None, **arrays: Any) -> float:
        data = iopt.datasets.Dataset(name="p", y=np.array([1, -1]), **arrays)
        chosen = {} if form is None else {"form": form, "gamma": gamma}
        return iopt.KernelProblem.from_dataset(data, **chosen).K[0, 1]

    X, D = np.array([[1.0], [2.0]]), np.array([[0.0, 2.0], [2.0, 0.0]])
    assert entry(X=X) == pytest.approx(np.exp(-4.0))  # γ = 1/variance = 4
    assert entry(K=np.array([[1.0, 0.5], [0.5, 1.0]])) == 0.5
    assert entry(D=D) == pytest.approx(np.exp(-2.0))  # γ = 1/mean(d²) = 1/2
    assert entry(D=D, form="exponential") == pytest.approx(np.exp(-2.0))  # γ = 1/mean(d) = 1
    assert entry(D=D, form="exponential", gamma=0.25) == pytest.approx(np.exp(-0.5))
    for form in ("gaussian", "exponential"):
        assert entry(D=np.zeros((2, 2)), form=form) == 1.0


@pytest.mark.parametrize(("noise", "scale"), [(1e-8, 1.0), (0.1, 1e-200), (2.0, 1e48)])
def test_a_perturbation_is_symmetric_and_of_the_size_that_was_asked_for(noise, scale) -> None:
    K = scale * random_problem("sigmoid", n=30, seed=0).K
    problem = iopt.KernelProblem(K, np.resize([1, -1], 30))
    changed = problem.perturbed(noise, seed=3)
    assert_array_equal(changed.K, changed.K.T)
    assert_array_equal(changed.labels, problem.labels)
    size = np.linalg.norm((changed.K - K) / scale) / np.linalg.norm(K / scale)
    assert size == pytest.approx(noise, rel=1e-7)  # K + E rounds E to eps/noise of its size


def test_a_perturbation_is_reproducible_and_that_of_a_wigner_matrix() -> None:
    """Of ‖E‖_F² a share of 2/(n + 1) lies on the diagonal, as its entries have twice the variance.

    The eigenvalues of E/σ fill the semicircle [-2√n, 2√n], σ the deviation of the entries off the
    diagonal: ‖E‖_F² ≈ n²σ², so that ‖E‖_2/‖E‖_F ≈ 2/√n.
    """
    n = 200
    problem = iopt.KernelProblem(np.eye(n), np.resize([1, -1], n))
    first, again, other = (problem.perturbed(0.5, seed=seed).K for seed in (1, 1, 2))
    assert_array_equal(first, again)
    E, F = first - problem.K, other - problem.K
    assert abs(np.sum(E * F)) < 0.05 * np.sum(E * E)
    assert np.sum(np.diag(E) ** 2) / np.sum(E * E) == pytest.approx(2 / (n + 1), rel=0.3)
    assert np.linalg.norm(E, 2) / np.linalg.norm(E) == pytest.approx(2 / np.sqrt(n), rel=0.05)
    assert_array_equal(problem.K, np.eye(n))
    assert_array_equal(problem.perturbed(0.0).K, problem.K)
    zero = iopt.KernelProblem(np.zeros((2, 2)), [1, -1])
    assert_array_equal(zero.perturbed(1.0).K, zero.K)  # the size is relative to K


@pytest.mark.parametrize("times", [1.0, -1.0])
def test_kernels_whose_objectives_would_overflow_are_refused(times: float) -> None:
    """The squares of entries are numbers, and so is C²K for C up to 1e50."""
    y, K = [1, -1], times * np.array([[1.0, 0.5], [0.5, 1.0]])
    assert iopt.KernelProblem(1e152 * K, y).n == 2
    with pytest.raises(iopt.errors.ProblemError, match=r"K: expected entries of at most 1e\+152"):
        iopt.KernelProblem(1.01e152 * K, y)
    with pytest.raises(iopt.errors.ProblemError, match=r"K: expected entries of at most 1e\+152"):
        iopt.KernelProblem.from_data(
            [[1e39], [1.0]], y, kernel="polynomial(degree=2, gamma=1, r=0)", scaling=None
        )


def test_bounds_on_weights_that_would_overflow_or_vanish_are_refused() -> None:
    for name in iopt.available_formulations():
        formulation: Any = getattr(iopt, name)
        if "C" not in formulation.__dataclass_fields__:
            continue
        for C in (1e50, 1e-100):
            assert formulation(C=C).C == C
        for C in (1.01e50, 9.9e-101, 5e-324):
            with pytest.raises(iopt.errors.ParameterError, match=r"C: .*from 1e-100 to 1e\+50"):
                formulation(C=C)


@pytest.mark.parametrize("weights", [[1.0, 1e21], [1e-150, 1.0], [1e-300, 1e-300]])
def test_products_of_weights_and_C_have_the_range_of_C(weights: list[float]) -> None:
    problem = iopt.KernelProblem(np.eye(2), [1, -1])
    for formulation in (iopt.SVMDual, iopt.SpectrumSVM, iopt.ESVM):
        weighted = formulation(C=1e30, weights=weights)
        with pytest.raises(iopt.errors.ParameterError, match="weights: expected products with C"):
            iopt.solve(problem, weighted)


TINY_K = np.array([[1.0, -0.5, 0.3], [-0.5, 1.0, 0.2], [0.3, 0.2, 1.0]])
TINY_Y = [1, -1, 1]


@pytest.mark.parametrize("C", [1e-20, 1e-100])
@pytest.mark.parametrize("name", ["SVMDual", "SpectrumSVM", "ESVM", "KSVM", "LussDual", "LussBall"])
def test_weights_with_a_tiny_bound_are_at_it(name: str, C: float) -> None:
    """The linear term outweighs all others: the lone weight of its class is at C, as is their sum
    in the other class, so that the objective is 2C but for terms of the size of C².

    Of KSVM it is ‖Gα - e‖² = 3 - 2eᵀGα, minimised by the better of the two others.
    """
    result = iopt.solve(iopt.KernelProblem(TINY_K, TINY_Y), getattr(iopt, name)(C=C))
    values = result.x
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert values[1] == pytest.approx(C, rel=1e-9)
    assert values[0] + values[2] == pytest.approx(C, rel=1e-9)
    if name not in ("KSVM", "ESVM"):
        assert result.objective == pytest.approx(2.0 * C, rel=1e-9)


@pytest.mark.parametrize("C", [1e-10, 1e-100])
def test_a_tiny_bound_does_not_hide_the_margin(C: float) -> None:
    """αᵀQα is lost beside eᵀα, but its sign is that of all multiples of α."""
    for sign in (1.0, -1.0):
        problem = iopt.KernelProblem(sign * TINY_K, TINY_Y)
        reasons = " ".join(iopt.verify(problem, iopt.SVMDual(C=C), [0.5 * C, C, 0.5 * C]).reasons)
        share = np.array([0.25, -0.5, 0.25])
        norm = 4.0 * sign * float(share @ TINY_K @ share)
        said = f"has squared norm {norm:.3g}: no positive margin"
        assert (said in reasons) == (sign < 0.0)


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e-100])
def test_kernels_of_a_tiny_size_are_solved_or_refused_by_name(size: float) -> None:
    """With C = 1 the kernel is lost beside eᵀα; with C = ∞ the optimum is 5/4 of one over the size.

    In the primal form b = 1 leaves a slack of 2 in the smaller class.
    """
    problem = iopt.KernelProblem(size * TINY_K, TINY_Y)
    for name in ("SVMDual", "SpectrumSVM", "SeparabilitySVM(identity=False)"):
        result = iopt.solve(problem, name)
        assert result.objective == pytest.approx(2.0, rel=1e-9)
        assert result.certificate.claim is iopt.Claim.GLOBAL
    try:
        hard = iopt.solve(problem, "SVMDual(C=inf)").objective
    except iopt.errors.SolverFailed:
        assert size < 1e-100
    else:
        assert hard * size == pytest.approx(1.25, rel=1e-6)
    for name in ("LussDual", "LussBall"):
        if size < 1e-140:
            with pytest.raises(iopt.errors.ProblemError, match="eigenvalue of at least 1e-140"):
                iopt.solve(problem, name)
        else:
            assert iopt.solve(problem, name).certificate.claim is iopt.Claim.GLOBAL


@pytest.mark.parametrize("C", [1e-60, pytest.param(1e50, marks=pytest.mark.slow)])
def test_a_price_at_which_proxy_kernels_overflow_is_refused(C: float) -> None:
    problem = iopt.KernelProblem(TINY_K, TINY_Y)
    least = 0.75 * C * C / 1e152
    assert np.isfinite(iopt.solve(problem, iopt.LussDual(C=C, rho=1.01 * least)).objective)
    with pytest.raises(iopt.errors.ParameterError, match=r"rho: expected at least .* for this C"):
        iopt.solve(problem, iopt.LussDual(C=C, rho=0.99 * least))


D = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]])
Y = np.array(["a", "b", "b"])
MEAN = 28.0 / 9.0
"""Of the nine squares."""


def test_every_function_makes_the_same_kernel_by_default(tmp_path: Path) -> None:
    path = tmp_path / "distances.csv"
    pd.DataFrame(D).assign(label=Y).to_csv(path, index=False)
    problems = [
        iopt.KernelProblem.from_distances(D, Y),
        iopt.KernelProblem.from_dataset(iopt.datasets.Dataset("three", Y, D=D)),
        iopt.KernelProblem.read(path, "distances"),
    ]
    for problem in problems:
        assert pytest.approx(np.exp(-(D**2) / MEAN), rel=1e-14) == problem.K
        assert (problem.kernel.form, problem.kernel.gamma) == ("gaussian", 1.0 / MEAN)
        assert pytest.approx(D) == problem.D


@pytest.mark.parametrize(
    ("kernel", "K"),
    [
        ("distance(form=gaussian, gamma=0.5)", np.exp(-0.5 * D**2)),
        ("distance(form=exponential, gamma=2)", np.exp(-2.0 * D)),
        ("distance(form=linear)", -0.5 * D**2),
        ("distance(form=raw)", D),
    ],
)
def test_the_same_distances_take_another_kernel(kernel: str, K: np.ndarray) -> None:
    problem = iopt.KernelProblem.from_distances(D, Y, name="three").with_kernel(kernel)
    assert pytest.approx(K, rel=1e-15) == problem.K
    assert (problem.name, problem.labels.tolist()) == ("three", Y.tolist())
    assert problem.kernel_with(D[:1]) == pytest.approx(K[:1], rel=1e-15)


def test_points_take_another_kernel_with_their_scaling() -> None:
    X = np.random.default_rng(0).normal(size=(8, 2))
    problem = iopt.KernelProblem.from_data(X, np.resize([0, 1], 8), "linear", scaling="minmax")
    other = problem.with_kernel("gaussian(gamma=2)")
    direct = iopt.KernelProblem.from_data(X, problem.labels, "gaussian(gamma=2)", scaling="minmax")
    assert np.array_equal(other.K, direct.K)
    with pytest.raises(iopt.errors.ParameterError, match="expected none for problem"):
        iopt.KernelProblem(np.eye(3), Y).with_kernel("linear")
    with pytest.raises(iopt.errors.ParameterError, match="expected a kernel of distances"):
        iopt.KernelProblem.from_distances(D, Y).with_kernel("linear")


def test_a_comparison_varies_the_kernel_of_distances() -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    distances = np.abs(X[:, None] - X[None, :]).max(axis=2)
    problem = iopt.KernelProblem.from_distances(distances, (X[:, 0] > 0).astype(int))
    kernels = ["distance(form=gaussian, gamma=0.1)", "distance(form=gaussian, gamma=2)"]
    comparison = iopt.compare(problem, ["SVMDual"], folds=2, grid={"kernel": kernels})
    assert comparison.frame["error"].tolist() == ["", ""]
    assert "gamma=" in comparison.summary["chosen"][0]


@pytest.mark.parametrize("kind", ["similarities", "distances"])
def test_columns_of_new_rows_are_found_by_the_names_of_training(kind: str) -> None:
    names, x, new = list("abcd"), np.array([0.0, 1.0, 4.0, 6.0]), np.array([[2.0], [-1.0]])
    pair = {"similarities": lambda s, t: s * t, "distances": lambda s, t: np.abs(s - t)}[kind]
    make = {"similarities": iopt.KernelProblem, "distances": iopt.KernelProblem.from_distances}
    frame = pd.DataFrame(pair(x[:, None], x), columns=names, index=names)
    result = iopt.solve(make[kind](frame, [1, 1, 2, 2]), "SVMDual")
    rows = pd.DataFrame(pair(new, x), columns=names)
    assert result.predict(rows[list("dacb")]).tolist() == result.predict(pair(new, x)).tolist()
    with pytest.raises(iopt.errors.DataError, match="names of the rows, got e"):
        result.predict(rows.rename(columns={"a": "e"}))


def test_arguments_for_data_of_another_kind_are_refused() -> None:
    X = np.random.default_rng(0).normal(size=(6, 2))
    y, D = np.resize([1, -1], 6), np.abs(X[:, None] - X).sum(axis=2)
    kinds = {
        "points": Dataset("points", y, X=X),
        "distances": Dataset("distances", y, D=D),
        "similarities": Dataset("similarities", y, K=np.exp(-D)),
    }
    usual = {kind: iopt.KernelProblem.from_dataset(one).K for kind, one in kinds.items()}
    for arguments, takers in (
        ({"kernel": "laplacian"}, "points"),
        ({"scaling": "unit"}, "points"),
        ({"cache_mb": 3.0}, "points"),
        ({"gamma": 2.0}, "points distances"),
        ({"form": "exponential"}, "distances"),
        ({"symmetrize": True}, "distances similarities"),
        ({"a": 2.0}, ""),
    ):
        (name,) = arguments
        for kind, data in kinds.items():
            if kind in takers:
                made = iopt.KernelProblem.from_dataset(data, **arguments)
                assert made.cache_mb or name == "symmetrize" or (usual[kind] != made.K).any()
            else:
                expected = f"parameter of rbf|{name}: expected none for data given as {kind}"
                with pytest.raises((UnknownName, ParameterError), match=expected):
                    iopt.KernelProblem.from_dataset(data, **arguments)


def test_a_width_without_effect_on_distances_is_refused() -> None:
    D = np.array([[0.0, 2.0], [2.0, 0.0]])
    for form in ("linear", "raw"):
        with pytest.raises(ParameterError, match=f"gamma: expected None for form='{form}'"):
            iopt.KernelProblem.from_distances(D, [1, -1], form, gamma=2.0)
    problem = iopt.KernelProblem.from_distances(D, [1, -1])
    with pytest.raises(ParameterError, match="distance: expected none with a matrix"):
        problem.with_kernel("distance(distance=chebyshev)")
    assert problem.with_kernel("distance(form=linear)").K[0, 1] == -2.0
    with pytest.raises(ParameterError, match="distance: expected none with a matrix"):
        iopt.KernelClassifier(kernel="distance(distance=chebyshev)", metric="precomputed").fit(
            D, [1, -1]
        )


def test_nothing_that_a_caller_holds_is_part_of_a_problem() -> None:
    K, D = np.eye(4), 1.0 - np.eye(4)
    frame, kept, y = pd.DataFrame(np.eye(4)), np.eye(4), [1, -1, 1, -1]
    problems = [
        iopt.KernelProblem(K, y),
        iopt.KernelProblem(frame, y),
        iopt.KernelProblem.from_data(np.eye(4), y, lambda X, Z: kept),
        iopt.KernelProblem.from_distances(D, y, "gaussian", gamma=1.0),
    ]
    before = [problem.K.copy() for problem in problems]
    for array in (K, D, kept):
        array[:] = 9.0
    frame.iloc[:, :] = 9.0
    problems.append(problems[3].with_kernel("distance(form=gaussian, gamma=1)"))
    for problem, right in zip(problems, [*before, before[3]], strict=True):
        assert np.array_equal(problem.K, right)
