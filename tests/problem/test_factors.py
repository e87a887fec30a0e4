"""Kernel matrices kept as factors, against the matrix that they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt.quadratic.matrices.factored import factorised
from indefinite_opt.quadratic.matrices.gram import DenseGram

SIGNS = np.array([1.0, 1.0, 1.0, -1.0, -1.0])


def pair(n: int = 1500, seed: int = 0) -> tuple[iopt.KernelProblem, iopt.KernelProblem]:
    """The same kernel as factors and as a matrix, of more rows than are worked on at once."""
    generator = np.random.default_rng(seed)
    F = generator.standard_normal((n, SIGNS.size))
    y = np.where(generator.random(n) < 0.4, 1, -1)
    return iopt.KernelProblem.from_factors(F, SIGNS, y), iopt.KernelProblem((F * SIGNS) @ F.T, y)


def test_products_blocks_and_diagonal_are_those_of_the_matrix() -> None:
    factored, whole = pair()
    x = np.random.default_rng(1).standard_normal(factored.n)
    np.testing.assert_allclose(factored.gram.times(x), whole.K @ x, atol=1e-10)
    np.testing.assert_allclose(factored.gram.diagonal, np.diag(whole.K), atol=1e-12)
    some, others = np.array([3, 1400, 7]), np.array([0, 1499])
    np.testing.assert_allclose(
        factored.gram.block(some, others), whole.K[np.ix_(some, others)], atol=1e-12
    )
    storage, slots = factored.gram.rows([7, 3, 7])
    np.testing.assert_allclose(storage[slots], whole.K[[7, 3, 7]], atol=1e-12)
    least, most = factored.gram.extremes
    assert least <= whole.K.min()
    assert most >= whole.K.max()


@pytest.mark.parametrize("signs", [None, SIGNS])
def test_the_spread_of_entries_leaves_out_a_constant(signs: np.ndarray | None) -> None:
    F = np.random.default_rng(0).standard_normal((40, 5))
    y = np.resize([1, -1], 40)
    small = iopt.KernelProblem.from_factors(F, signs, y)
    shifted = np.column_stack([F, np.full(40, 1e4)])
    large = iopt.KernelProblem.from_factors(shifted, None if signs is None else [*signs, -1], y)
    assert large.largest >= 1e8
    assert large.spread <= 4.0 * small.spread


@pytest.mark.parametrize("centered", [False, True])
def test_spectra_are_those_of_the_matrix(centered: bool) -> None:
    factored, whole = pair(n=300)
    ours = factored.centered_spectrum if centered else factored.spectrum
    theirs = whole.centered_spectrum if centered else whole.spectrum
    assert ours.inertia == theirs.inertia == (3, 2, 295)
    known = theirs.values[np.abs(theirs.values) > 1e-9]
    np.testing.assert_allclose(ours.values, known, rtol=1e-12)
    np.testing.assert_allclose(ours.vectors.T @ ours.vectors, np.eye(5), atol=1e-13)
    matrix = whole.centered if centered else whole.K
    np.testing.assert_allclose(ours.rebuild(ours.values), matrix, atol=1e-11)
    assert [ours.minimum, ours.maximum] == pytest.approx([known[0], known[-1]], rel=1e-12)
    assert factored.signature == whole.signature


def test_small_eigenvalues_do_not_disturb_the_eigenvectors_of_large_ones() -> None:
    """Columns of sizes 1 to 1e-6: |K| is that of the matrix up to the rounding of K."""
    F = np.random.default_rng(0).standard_normal((30, 5)) * [1.0, 1e-2, 1e-4, 1e-5, 1e-6]
    problem = iopt.KernelProblem.from_factors(F, [-1, 1, 1, -1, 1], np.resize([1, -1], 30))
    spectrum = problem.spectrum
    assert spectrum.values.size == 5
    np.testing.assert_allclose(spectrum.vectors.T @ spectrum.vectors, np.eye(5), atol=1e-13)
    values, vectors = np.linalg.eigh((F * [-1, 1, 1, -1, 1]) @ F.T)
    expected = (vectors * np.abs(values)) @ vectors.T
    np.testing.assert_allclose(spectrum.rebuild(np.abs(spectrum.values)), expected, atol=1e-13)


def test_a_centred_kernel_has_the_rounding_of_the_kernel() -> None:
    """All points are the same up to rounding, and so PKP is zero, as for the whole matrix."""
    F = np.full((50, 3), 1e6) + 1e-10 * np.random.default_rng(0).standard_normal((50, 3))
    y = np.resize([1, -1], 50)
    assert iopt.KernelProblem.from_factors(F, None, y).signature == (0, 0)
    assert iopt.KernelProblem(F @ F.T, y).signature == (0, 0)


def test_the_zero_matrix_has_a_spectrum() -> None:
    problem = iopt.KernelProblem.from_factors(np.zeros((4, 2)), None, [1, 1, -1, -1])
    assert problem.spectrum.inertia == (0, 0, 4)
    assert problem.is_psd


def test_a_kernel_may_be_convex_along_a_line_only() -> None:
    """-eeᵀ + xxᵀ is negative along e alone, which the line excludes."""
    x = np.linspace(-1.0, 1.0, 50)
    F = np.column_stack([x, np.ones(50)])
    problem = iopt.KernelProblem.from_factors(F, [1, -1], np.sign(x + 0.01))
    assert [problem.is_convex(lines) for lines in range(3)] == [False, True, True]


def test_positive_signs_prove_convexity_without_any_rounding() -> None:
    F = np.random.default_rng(0).standard_normal((20, 3))
    problem = iopt.KernelProblem.from_factors(F, None, np.resize([1, -1], 20))
    assert problem.known_convex(0)
    assert problem.convexity_allowance(lines=0) == 0.0
    assert problem.why_convex(0).startswith("by construction")


def test_whatever_needs_the_matrix_is_refused() -> None:
    factored, _ = pair(n=40)
    with pytest.raises(iopt.errors.ProblemError, match="kept as factors"):
        _ = factored.K
    with pytest.raises(iopt.errors.IncompatibleSolver, match="form it by KernelProblem"):
        iopt.solve(factored, "SVMDual", solver="uno")
    for title in ("KSVM", "GuoSchuurmansLP", "PseudoEuclideanPrimal", "SeparabilitySVM"):
        with pytest.raises(iopt.errors.IndefiniteOptError, match="kept as factors"):
            iopt.solve(factored, title)


def test_changed_factors_are_noticed() -> None:
    F = np.random.default_rng(0).standard_normal((10, 2))
    problem = iopt.KernelProblem.from_factors(F, None, np.resize([1, -1], 10))
    F[0, 0] += 1.0
    with pytest.raises(iopt.errors.ProblemError, match="changed"):
        problem.check_unchanged()


@pytest.mark.parametrize("signs", [[1.0, 0.5], [1.0], [1.0, np.nan]])
def test_signs_are_checked(signs: list[float]) -> None:
    with pytest.raises(iopt.errors.ProblemError, match="signs"):
        iopt.KernelProblem.from_factors(np.ones((4, 2)), signs, [1, 1, -1, -1])


@pytest.mark.parametrize("n", [40, 3000])
def test_the_bound_on_rounding_covers_the_worst_case_of_the_sums(n: int) -> None:
    """k terms round by (k - 1)·eps/2 of their absolute values at worst (Higham 2002, section 3.1).

    The sums of Fᵀx have blocks of 1024 terms and as many terms as blocks, and those of F(s∘w) have
    r terms; the absolute terms of an entry of Kx are those of |F||F|ᵀ|x|, exact here: F and x are
    integers.
    """
    generator = np.random.default_rng(n)
    F = generator.integers(-9, 10, (n, 2)).astype(float)
    x = generator.integers(-9, 10, n).astype(float)
    problem = iopt.KernelProblem.from_factors(F, [1, -1], np.resize([1, -1], n))
    terms = np.abs(F) @ (np.abs(F).T @ np.abs(x))
    longest = min(n, 1024) + n / 1024 + 2
    needed = 2.0**-53 * longest * float(terms.max())
    # Twice of what is needed, and room for eight terms more.
    assert 2.0 * needed <= problem.factors.largest_rounding(x) <= 3.0 * needed  # type: ignore[union-attr]
    square = np.abs(F).T @ np.abs(F)
    norm = 2.0**-53 * longest * float(np.linalg.eigvalsh(square)[-1])
    # The norm of |F|ᵀ|F| may be bounded by that of Frobenius: at most √2 times the norm.
    assert 2.0 * norm <= problem.factors.rounding <= 4.5 * norm  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("F", "signs"),
    [
        ([[1.001], [0.999]], [1]),
        ([[1.0], [-1.0]], [1]),
        ([[0.0, 1.0], [1.0, 0.0]], [1, -1]),
        ([[1.0, 0.1], [1.0, -0.1], [1.002, 0.0]], [1, -1]),
    ],
    ids=["nearly constant", "both signs", "indefinite", "nearly constant and indefinite"],
)
def test_the_extremes_of_factors_are_bounds_on_all_entries(F: list, signs: list) -> None:
    K = (np.array(F) * signs) @ np.array(F).T
    least, most = iopt.KernelProblem.from_factors(
        F, signs, np.resize([1, -1], len(F))
    ).gram.extremes
    assert least <= K.min() + 1e-15
    assert most >= K.max() - 1e-15
    # Neither is farther away than the product of the longest rows.
    assert max(-least, most) <= np.square(F).sum(axis=1).max() + 1e-15


def test_directions_that_are_excluded_give_no_eigenvalue() -> None:
    """On three points, without one direction, a definite kernel has two positive eigenvalues."""
    F = np.random.default_rng(1).standard_normal((6, 5))
    gram = iopt.KernelProblem.from_factors(F, None, np.resize([1, -1], 6)).gram
    kept, normal = np.array([0, 2, 5]), np.ones((3, 1)) / np.sqrt(3.0)
    basis = np.linalg.svd(normal)[0][:, 1:]
    expected = np.linalg.eigvalsh(basis.T @ F[kept] @ F[kept].T @ basis)[0]
    assert expected > 0.01
    assert gram.least_eigenvalue(kept, normal)[0] == pytest.approx(expected, rel=1e-10)


def test_no_more_rows_are_kept_than_there_are() -> None:
    assert iopt.KernelProblem.from_factors(np.eye(3), None, [1, 1, -1]).gram.capacity == 3


@pytest.mark.parametrize("lines", [0, 1, 2])
def test_a_direction_of_negative_curvature_is_the_steepest_one(lines: int) -> None:
    """The eigenvector of PKP for its least eigenvalue, with P across orthogonal normals."""
    generator = np.random.default_rng(lines)
    F = generator.standard_normal((30, 5))
    gram = iopt.KernelProblem.from_factors(F, SIGNS, np.resize([1, -1], 30)).gram
    normals = np.linalg.qr(generator.standard_normal((30, lines)))[0]
    across = np.eye(30) - normals @ normals.T
    values, vectors = np.linalg.eigh(across @ (F * SIGNS) @ F.T @ across)
    found = gram.negative_direction(normals if lines else None)
    assert found is not None
    assert abs(float(found @ vectors[:, 0])) == pytest.approx(1.0, abs=1e-12)
    assert float(found @ found) == pytest.approx(1.0, abs=1e-14)
    assert gram.least_eigenvalue(np.arange(30), normals)[0] == pytest.approx(values[0], rel=1e-12)


def test_without_negative_signs_there_is_no_negative_direction() -> None:
    F = np.random.default_rng(0).standard_normal((9, 3))
    assert iopt.KernelProblem.from_factors(F, None, np.resize([1, -1], 9)).gram.is_definite
    tiny = np.column_stack([F, 1e-12 * F[:, 0]])
    gram = iopt.KernelProblem.from_factors(tiny, [1, 1, 1, -1], np.resize([1, -1], 9)).gram
    assert not gram.is_definite
    assert gram.negative_direction(None) is None


def test_few_points_have_no_eigenvalue_of_zero_from_the_rank() -> None:
    """Two of five points in general position: both eigenvalues of a rank-3 kernel are positive."""
    F = np.random.default_rng(4).standard_normal((5, 3))
    gram = iopt.KernelProblem.from_factors(F, None, np.resize([1, -1], 5)).gram
    for kept in ([0, 3], [1, 2, 4]):
        expected = np.linalg.eigvalsh(F[kept] @ F[kept].T)[0]
        assert gram.least_eigenvalue(np.array(kept), np.zeros((len(kept), 0)))[0] == pytest.approx(
            expected, rel=1e-9
        )
    # Four directions in a space of rank 3: K vanishes in one of them.
    assert abs(gram.least_eigenvalue(np.arange(4), np.zeros((4, 0)))[0]) <= gram.rounding


def test_weighted_squares_of_factors_and_normals() -> None:
    """[F N]ᵀ diag(w) [F N] in integers, over more rows than are scaled at once."""
    generator = np.random.default_rng(5)
    n = 9000
    F, normals = generator.integers(-3, 4, (n, 2)) * 1.0, generator.integers(0, 2, (n, 1)) * 1.0
    weights = generator.integers(0, 3, n) ** 2 * 1.0
    gram = iopt.KernelProblem.from_factors(F, None, np.resize([1, -1], n)).gram
    both = np.hstack([F, normals])
    np.testing.assert_array_equal(gram.weighted(weights, normals), (both.T * weights) @ both)


def test_many_rows_at_once_are_refused() -> None:
    gram = iopt.KernelProblem.from_factors(np.ones((3, 1)), None, [1, -1, 1]).gram
    gram.capacity = 2
    storage, slots = gram.rows([2, 0, 2])
    np.testing.assert_array_equal(storage[slots], np.ones((3, 3)))
    with pytest.raises(iopt.errors.ParameterError, match="at most 2 different rows at once, got 3"):
        gram.rows([0, 1, 2])


@pytest.mark.parametrize("on_demand", [False, True])
def test_a_matrix_of_low_rank_is_factorised(on_demand: bool) -> None:
    X = np.random.default_rng(5).standard_normal((40, 6)) * 10.0 ** np.arange(-2.0, 4.0)
    stored = {"cache_mb": 30.5 * 8e-6 * 40} if on_demand else {}
    gram = iopt.KernelProblem.from_data(X, [1, -1] * 20, "linear", **stored).gram
    found = factorised(gram, 6)
    assert found is not None
    K = X @ X.T
    np.testing.assert_allclose(found.factors @ found.factors.T, K, atol=1e-9 * np.abs(K).max())
    assert factorised(gram, 3) is None
    assert factorised(found, 6) is found


@pytest.mark.parametrize(
    "K",
    [
        -np.eye(3), np.zeros((3, 3)), np.eye(4)[::-1], np.diag([1.0, -1e-3]),
        [[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    ],
)  # fmt: skip
def test_other_matrices_are_not_factorised(K: Any) -> None:
    """No entry on the diagonal is left after no or few columns, but others are."""
    assert factorised(DenseGram(np.array(K)), 3) is None
