"""Operators: sums and products of factors against the arrays that they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

import indefinite_opt as iopt
from indefinite_opt.algebra import (
    ColumnFactor,
    DiagonalFactor,
    Factor,
    MatrixFactor,
    Operator,
    RowFactor,
)
from indefinite_opt.errors import ProblemError

Array = NDArray[np.float64]
Pair = tuple[Operator, Array]

N = 5


def factors(generator: np.random.Generator) -> list[tuple[Factor, Array]]:
    """One factor of each kind, square where it can be, and its array."""
    n = N
    B, P = generator.standard_normal((n, n)), generator.standard_normal((n, n))
    d, v = generator.standard_normal(n), generator.standard_normal(n)
    thin = sparse.random_array((n, n), density=0.4, rng=generator, format="csr")
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    problem = iopt.KernelProblem(P + P.T, y)
    ((_, (kernel,)),) = problem.symbols("K")[0].value.terms
    return [
        (MatrixFactor(B), B), (MatrixFactor(B).T, B.T), (MatrixFactor(thin), thin.toarray()),
        (DiagonalFactor(d), np.diag(d)), (DiagonalFactor(y), np.diag(y)),
        (ColumnFactor(v), v[:, None]), (RowFactor(v), v[None, :]), (kernel, P + P.T),
    ]  # fmt: skip


def test_factors_are_their_arrays() -> None:
    for factor, array in factors(np.random.default_rng(1)):
        x = np.random.default_rng(2).standard_normal(array.shape[1])
        assert factor.shape == array.shape
        np.testing.assert_allclose(factor.times(x), array @ x, rtol=1e-12)
        np.testing.assert_array_equal(factor.dense(), array)
        np.testing.assert_array_equal(factor.T.dense(), array.T)
        assert np.all(factor.terms(np.abs(x)) >= np.abs(array) @ np.abs(x) * (1.0 - 1e-12))
        assert factor.same(factor)


def drawn(generator: np.random.Generator, depth: int) -> Pair:
    """A random sum or product of operators, and of their arrays."""
    if depth == 0:
        if generator.random() < 0.15:
            return Operator.identity(N, 0.5), 0.5 * np.eye(N)
        made = factors(generator)
        factor, array = made[generator.integers(len(made))]
        return Operator.of(factor), array
    (A, a), (B, b) = drawn(generator, depth - 1), drawn(generator, depth - 1)
    kind = generator.integers(5)
    if kind == 0 and a.shape == b.shape:
        return A + B, a + b
    if kind == 1 and a.shape == b.shape:
        return A - 0.3 * B, a - 0.3 * b
    if kind == 2:
        return A.T, a.T
    if kind == 3:
        return -A / 4.0, -a / 4.0
    return (A @ B, a @ b) if a.shape[1] == b.shape[0] else (A @ A.T, a @ a.T)


@pytest.mark.parametrize("seed", range(60))
def test_sums_and_products_are_those_of_arrays(seed: int) -> None:
    generator = np.random.default_rng(seed)
    A, a = drawn(generator, seed % 4)
    x, z = generator.standard_normal(a.shape[1]), generator.standard_normal(a.shape[0])
    size = 1e-11 * (1.0 + np.abs(a).max())
    assert A.shape == a.shape
    np.testing.assert_allclose(A.dense(), a, atol=size)
    np.testing.assert_allclose(np.asarray(A), a, atol=size)
    np.testing.assert_allclose(A @ x, a @ x, atol=size * 10)
    np.testing.assert_allclose(z @ A, z @ a, atol=size * 10)
    np.testing.assert_allclose(A.T @ z, a.T @ z, atol=size * 10)
    assert np.all(A.sizes(np.abs(x)) * (1.0 + 1e-9) + size >= np.abs(a @ x))
    if A.diagonal is not None:
        np.testing.assert_allclose(np.diag(A.diagonal), a, atol=size)
    if A.multiple is not None:
        np.testing.assert_allclose(A.multiple * np.eye(*a.shape), a, atol=size)
    if a.shape[0] == 1:
        np.testing.assert_allclose(A.row, a[0], atol=size)
    if a.shape[1] == 1:
        np.testing.assert_allclose(A.column, a[:, 0], atol=size)
    M = generator.standard_normal(a.shape)
    np.testing.assert_allclose(A + M, a + M, atol=size)
    np.testing.assert_allclose(M - A, M - a, atol=size)
    np.testing.assert_allclose(A * M, a * M, atol=size * 10)
    np.testing.assert_allclose(M @ A.T, M @ a.T, atol=size * 10)


def test_signs_that_meet_cancel() -> None:
    """diag(y) diag(y) = I, so that the square of y∘K∘y is y∘K²∘y."""
    problem = iopt.KernelProblem([[1.0, 2.0], [2.0, -3.0]], [1, -1])
    Q, K = (one.value for one in problem.symbols("Q", "K"))
    kinds = [type(factor).__name__ for factor in (Q @ Q).terms[0][1]]
    assert kinds == ["DiagonalFactor", "KernelFactor", "KernelFactor", "DiagonalFactor"]
    assert (Q - Q).terms == ()
    assert ((0.5 * K) + K).terms[0][0] == 1.5
    signs = Operator.of(DiagonalFactor(problem.y))
    assert (signs @ signs).multiple == 1.0


def test_a_row_times_a_column_is_a_number() -> None:
    v, w = np.array([1.0, 2.0]), np.array([3.0, -1.0])
    assert (Operator.of(RowFactor(v)) @ Operator.of(ColumnFactor(w))).multiple == 1.0
    column, row = Operator.of(ColumnFactor(v)), Operator.of(RowFactor(v))
    product = column @ row @ Operator.of(ColumnFactor(w))
    np.testing.assert_array_equal(product.column, v)


def test_shapes_that_do_not_fit_are_named() -> None:
    A = Operator.of(MatrixFactor(np.ones((2, 3))))
    for write in (lambda: A @ A, lambda: A + A.T, lambda: A @ np.ones(2), lambda: np.ones(3) @ A):
        with pytest.raises(ProblemError, match=r"\(2, 3\)|\(3, 2\)"):
            write()
