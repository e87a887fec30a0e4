"""Square matrices that callers give: what is refused, what is copied, and what is kept as it is."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.messages import message
from indefinite_opt.core.symmetry import TILE
from indefinite_opt.errors import ProblemError
from indefinite_opt.quadratic import (
    DenseGram,
    checked_distances,
    checked_matrix,
    scanned_matrix,
)

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("K", "said"),
    [
        (np.zeros((2, 3)), "a square (n, n) matrix, n ≥ 2, got shape (2, 3)"),
        (np.zeros((0, 0)), "a square (n, n) matrix, n ≥ 2, got shape (0, 0)"),
        (3.0, "a square (n, n) matrix, n ≥ 2, got shape (1,)"),
        ([[0, NAN], [NAN, 0]], "finite numbers, got nan at (0, 1)"),
        ([[0, 0], [INF, 0]], "finite numbers, got inf at (1, 0)"),
        ([["a", "b"], ["c", "d"]], "a matrix of real numbers, got text"),
        (
            [[0, 1], [2, 0]],
            "a symmetric matrix (within 1e-10 of the largest entry of each row), "
            "got K[0, 1] = 1, K[1, 0] = 2. Pass symmetrize=True to use (K + Kᵀ)/2.",
        ),
    ],
    ids=lambda item: item[:40] if isinstance(item, str) else "",
)
def test_a_kernel_matrix_is_finite_square_and_symmetric(K: Any, said: str) -> None:
    assert message(checked_matrix, "K", K, False) == f"K: expected {said}"


def test_a_kernel_matrix_that_is_one_is_not_copied() -> None:
    K = np.array([[1.0, -2.0], [-2.0, 3.0]])
    matrix, extremes = checked_matrix("K", K, False)
    assert matrix is K
    assert extremes == (-2.0, 3.0)
    averaged, extremes = checked_matrix("K", [[1, 0], [4, 1]], True)
    assert averaged.tolist() == [[1.0, 2.0], [2.0, 1.0]]
    assert extremes == (1.0, 2.0)


@pytest.mark.parametrize("n", [40, 600], ids=["one tile", "several tiles"])
def test_a_single_entry_decides(n: int) -> None:
    """One that is not finite is found, the last bit counts, and zeros of either sign are equal."""
    for bad in (NAN, -np.inf):
        K = np.ones((n, n))
        K[3, n - 2] = bad
        said = message(checked_matrix, "K", K, False)
        assert said == f"K: expected finite numbers, got {bad} at (3, {n - 2})"
    for place in ((5, 7), (7, 5), (-1, 0), (0, -1)):
        K = np.ones((n, n))
        K[place] = np.nextafter(1.0, 2.0)
        mean, (least, most) = checked_matrix("K", K, False)
        assert mean is not K
        np.testing.assert_array_equal(mean, mean.T)
        assert (least, most) == (mean.min(), mean.max())
        np.testing.assert_allclose(mean, K, rtol=1e-15)
    K[0, n - 1], K[n - 1, 0] = 0.0, -0.0
    assert checked_matrix("K", K, False)[0] is K


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble])
def test_asymmetry_is_judged_in_units_of_the_type_that_came(kind: Any) -> None:
    """A unit in the last place is rounding, 64 of them are none; doubles may differ by 1e-10."""
    K = np.array([[2.0, 1.0], [1.0, -3.0]], kind)
    K[0, 1] = np.nextafter(K[1, 0], kind(2.0))
    matrix, _ = checked_matrix("K", K, False)
    assert matrix[0, 1] == matrix[1, 0] == 0.5 * (np.float64(K[0, 1]) + 1.0)
    eps = float(np.finfo(kind).eps)
    unit = eps if eps > 1e-10 else 2e-11
    K[0, 1] = 1.0 + 64.0 * unit
    said = message(checked_matrix, "K", K, False, "Advice.")
    assert checked_distances(np.abs(matrix) * (1 - np.eye(2))).dtype == np.float64
    assert f"a symmetric matrix (within {max(16.0 * eps, 1e-10):.2g} of the largest" in said
    assert said.endswith(" Advice.")


class OnADevice:
    """An array that numpy reads by `__array__`, as those of other packages."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self.values, dtype=dtype)


def test_the_type_of_an_array_of_another_package_is_its_own() -> None:
    K = np.array([[2.0, 1.0], [np.nextafter(np.float32(1.0), np.float32(2.0)), 3.0]], np.float32)
    assert checked_matrix("K", OnADevice(K), False)[0][0, 1] == 1.0 + 2.0**-24
    said = message(checked_matrix, "K", OnADevice(K.astype(np.float64)), False)
    assert "got K[0, 1] = 1.0, K[1, 0] = 1.0000001192092896" in said


def test_distances_are_neither_negative_nor_similarities() -> None:
    hollow = np.ones((3, 3)) - np.eye(3)
    assert checked_distances(hollow).tolist() == hollow.tolist()
    for D, said in (
        (-hollow, "nonnegative distances, got -1 at (0, 1)"),
        (np.ones((3, 3)), "distances, 0 on the diagonal, got 1 at (0, 0). Similarities are for "
                          "KernelProblem(K, y)."),
    ):  # fmt: skip
        assert message(checked_distances, D) == f"D: expected {said}"
    assert "D: expected a symmetric matrix" in message(checked_distances, np.triu(hollow))
    # What rounding makes of distances is no error.
    points = 1e3 + np.random.default_rng(0).standard_normal((4, 3))
    squares = (points**2).sum(axis=1)
    D = np.sqrt(np.abs(squares[:, None] - 2.0 * points @ points.T + squares[None, :]))
    assert np.diag(D).max() > 0.0 or D.min() == 0.0
    assert checked_distances(D, symmetrize=True).shape == (4, 4)


def symmetric(n: int) -> Any:
    """Integers, which every type holds exactly."""
    made = np.random.default_rng(n).integers(-50, 50, (n, n))
    return np.tril(made) + np.tril(made, -1).T


@pytest.mark.parametrize("n", [1, 2, TILE - 1, TILE, TILE + 1, 3 * TILE + 5])
def test_every_layout_and_type_is_the_same_matrix(n: int) -> None:
    K = symmetric(n)
    spaced = np.zeros((2 * n, 3 * n))
    spaced[::2, ::3] = K
    bytes_ = np.zeros(8 * n * n + 1, np.uint8)
    misaligned = bytes_[1:].view(np.float64).reshape(n, n)
    misaligned[...] = K
    double = K.astype(np.float64)
    forms = {
        "lists": K.tolist(), "int8": K.astype(np.int8), "int64": K, "half": K.astype(np.float16),
        "single": K.astype(np.float32), "double": double, "long": K.astype(np.longdouble),
        "objects": K.astype(object), "other bytes first": double.astype(">f8"),
        "single, other bytes first": K.astype(">f4"), "by columns": np.asfortranarray(double),
        "single by columns": np.asfortranarray(K.astype(np.float32)), "gaps": spaced[::2, ::3],
        "backwards": double[::-1, ::-1].copy()[::-1, ::-1], "not aligned": misaligned,
    }  # fmt: skip
    for name, form in forms.items():
        for own in (False, True):
            kept, found = scanned_matrix("K", form, floats=True, own=own)
            assert kept.flags.c_contiguous, name
            assert kept.flags.aligned, name
            assert kept.dtype == (np.float32 if name in ("single", "single by columns") else float)
            np.testing.assert_array_equal(kept, K, err_msg=name)
            assert (found.least, found.most) == (K.min(), K.max())
            if own:
                assert not kept.flags.writeable
                assert isinstance(form, list) or not np.shares_memory(kept, form)
        for argument in ({}, {"symmetrize": True}):
            given = {"symmetrize": False} | argument
            np.testing.assert_array_equal(checked_matrix("K", form, **given)[0], K, err_msg=name)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_errors_name_the_place_in_what_was_given(order: Any, kind: Any) -> None:
    n = TILE + 9
    for i, j in ((0, n - 1), (n - 1, 0), (TILE, TILE - 1), (3, 5)):
        K = np.array(symmetric(n), kind, order=order)
        K[i, j] = NAN
        assert message(scanned_matrix, "K", K, floats=True).endswith(f"got nan at ({i}, {j})")
        K[i, j] = 1000.0
        low, high = sorted((i, j))
        assert f"K[{low}, {high}] = {K[low, high]:g}, K[{high}, {low}] = {K[high, low]:g}" in (
            message(scanned_matrix, "K", K, floats=True)
        )


def test_floats_that_differ_by_rounding_become_the_doubles_of_their_mean() -> None:
    K = np.ones((3, 3), np.float32)
    K[0, 2] = np.nextafter(K[2, 0], np.float32(2.0))
    kept, _ = scanned_matrix("K", K, floats=True)
    assert kept.dtype == np.float64
    assert kept[0, 2] == kept[2, 0] == 1.0 + 2.0**-24


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_without_a_copy_the_array_is_used_and_cannot_be_written_to(kind: Any, order: Any) -> None:
    points = np.random.default_rng(0).standard_normal((40, 3)).astype(kind)
    K, y = np.tanh(points @ points.T), np.resize([-1, 1], 40)
    K = np.array(np.tril(K) + np.tril(K, -1).T, kind, order=order)
    copied = iopt.KernelProblem(K, y)
    assert K.flags.writeable
    problem = iopt.KernelProblem(K, y, copy=False)
    assert not K.flags.writeable
    kept = problem.gram.matrix if problem.gram.source is None else problem.gram.source[0]
    assert np.shares_memory(kept, K)
    assert kept.dtype == kind
    with pytest.raises(ValueError, match="read-only"):
        K[0, 0] = 2.0
    one, other = (iopt.solve(each, "SVMDual(C=2)") for each in (copied, problem))
    np.testing.assert_array_equal(one.values["alpha"], other.values["alpha"])
    assert one.certificate.claim is other.certificate.claim
    np.testing.assert_array_equal(problem.K, K)
    assert problem.K.dtype == np.float64


def test_without_a_copy_an_array_that_has_to_change_is_copied_and_stays_writable() -> None:
    K = np.array([[1.0, 0.3], [0.3, 1.0]])
    rounded = K.copy()
    rounded[0, 1] *= 1.0 + 1e-15
    for given in (rounded, K.astype(np.float16), K.astype(int), np.repeat(K, 2, axis=1)[:, ::2]):
        problem = iopt.KernelProblem(given, [1, -1], copy=False)
        assert given.flags.writeable
        assert not np.shares_memory(problem.K, given)


def test_a_gram_of_floats_or_of_a_part_reads_what_the_whole_has() -> None:
    K, chosen = symmetric(60).astype(np.float64), np.random.default_rng(1).permutation(60)
    few, x = chosen[:25], np.zeros(25)
    x[[3, 7]] = 1.0, -2.0
    part = K[np.ix_(few, few)]
    for whole in (DenseGram(K, (K.min(), K.max())), DenseGram(K.astype(np.float32))):
        lazy, formed = whole.selected(few), whole.part(few)
        twice = whole.selected(chosen).selected(np.arange(25))
        for gram in (lazy, formed, twice):
            np.testing.assert_array_equal(gram.diagonal, np.diag(part))
            np.testing.assert_array_equal(gram.block(np.arange(4), np.arange(25)), part[:4])
            np.testing.assert_allclose(gram.times(x), part @ x, rtol=1e-12)
        assert lazy.source is not None
        for gram in (lazy, formed, twice):
            np.testing.assert_array_equal(gram.matrix, part)
            assert gram.extremes == (part.min(), part.max())
            assert gram.matrix.dtype == np.float64
            assert not gram.matrix.flags.writeable
        assert lazy.source is None
        assert whole.selected(chosen).extremes == (K.min(), K.max())


def test_without_a_copy_only_an_array_itself_is_shared() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.eye(4))
    problem = iopt.KernelProblem(frame, [1, -1, 1, -1], copy=False)
    assert not np.shares_memory(problem.K, frame.to_numpy())


def test_a_result_is_not_put_on_other_points_or_another_kernel() -> None:
    generator = np.random.default_rng(0)
    X, y = generator.standard_normal((20, 3)), np.resize([1, -1], 20)
    D = np.linalg.norm(X[:, None] - X, axis=2)
    of_distances = iopt.KernelProblem.from_distances(D, y, "gaussian", gamma=0.5)
    result = iopt.solve(of_distances, iopt.SVMDual(C=1.0))
    for other in (iopt.KernelProblem.from_distances(D, y, "linear"), iopt.KernelProblem(D, y)):
        with pytest.raises(ProblemError, match="another kernel"):
            result.with_problem(other)
    result.with_problem(iopt.KernelProblem.from_distances(D, y, "gaussian", gamma=0.5))
    of_points = iopt.solve(iopt.KernelProblem.from_data(X, y, "rbf"), iopt.SVMDual(C=1.0))
    with pytest.raises(ProblemError, match="other points"):
        of_points.with_problem(iopt.KernelProblem.from_data(X + 1.0, y, "rbf"))


def test_the_pickle_of_rows_on_demand_has_no_rows() -> None:
    X, y = np.random.default_rng(0).standard_normal((300, 2)), np.resize([1, -1], 300)
    problem = iopt.KernelProblem.from_data(X, y, "gaussian", cache_mb=0.7)
    objective = iopt.solve(problem, iopt.SVMDual(C=1.0)).objective
    written = pickle.dumps(problem)
    assert len(written) < 50_000
    again = iopt.solve(pickle.loads(written), iopt.SVMDual(C=1.0))
    assert again.objective == pytest.approx(objective, rel=1e-9)
