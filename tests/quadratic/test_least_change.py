"""Points that solve sparse equations, and factorisations that prove eigenvalues."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from indefinite_opt.quadratic.matrices.positive_factor import DENSE_ORDER, positive_factor
from indefinite_opt.quadratic.matrices.sparse import Entries
from indefinite_opt.quadratic.rows.nearby import exact_residuals, least_change


def solved(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """The solution of regular equations, by elimination in fractions."""
    rows = [[*row, b] for row, b in zip(matrix, right, strict=True)]
    for k in range(len(rows)):
        pivot = next(i for i in range(k, len(rows)) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [each / rows[k][k] for each in rows[k]]
        for i in range(len(rows)):
            if i != k and rows[i][k]:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


@pytest.mark.parametrize("power", [-400, 0, 30])
@pytest.mark.parametrize("seed", range(4))
def test_an_exact_solution_is_within_the_radius(seed: int, power: int) -> None:
    """The least change from the point that is found, in fractions, is that solution."""
    g = np.random.default_rng(seed)
    m, n = 4, 9
    rows = np.where(g.random((m, n)) < 0.6, g.standard_normal((m, n)), 0.0)
    rows[:, :m] += np.eye(m)
    rows *= np.exp2(g.integers(-20, 20, m))[:, None]
    x, unit = g.uniform(0.1, 1.0, n), np.exp2(g.integers(-6, 1, n).astype(float))
    unit[-1] = 0.0
    rhs = rows @ (x + 1e-9 * unit * g.standard_normal(n)) * 2.0**power
    x = x * 2.0**power
    entries = Entries.of(rows)
    found = least_change(entries, rhs, exact_residuals(entries, x, rhs), unit, x)
    assert found is not None
    assert found.x[-1] == x[-1]
    assert found.radius[-1] == 0.0
    A = [[Fraction(a) for a in row] for row in rows.tolist()]
    weights = [Fraction(u) ** 2 for u in unit.tolist()]
    point = [Fraction(each) for each in found.x.tolist()]
    left = [
        sum((a * v for a, v in zip(row, point, strict=True)), -Fraction(b))
        for row, b in zip(A, rhs.tolist(), strict=True)
    ]
    product = [
        [sum(a * w * b for a, w, b in zip(one, weights, other, strict=True)) for other in A]
        for one in A
    ]
    share = solved(product, [-each for each in left])
    for j in range(n):
        change = weights[j] * sum(A[i][j] * share[i] for i in range(m))
        assert abs(change) <= Fraction(float(found.radius[j]))
    # Far below what was missed: rounding divided by the least singular value.
    assert found.radius.max() <= 1e-9 * np.abs(x).max()


def test_dependent_equations_have_no_least_change() -> None:
    """Whether they have a solution is not decided by rounded products."""
    rows = np.array([[1.0, 2.0, 0.5], [2.0, 4.0, 1.0]])
    x, rhs = np.ones(3), np.array([3.0, 6.0])
    entries = Entries.of(rows)
    assert least_change(entries, rhs, exact_residuals(entries, x, rhs), np.ones(3), x) is None


@pytest.mark.parametrize("order", [DENSE_ORDER, DENSE_ORDER + 1])
def test_factors_prove_no_more_than_the_least_eigenvalue(order: int) -> None:
    """tridiag(-1, 2, -1) has the eigenvalues 2 - 2cos(kπ/(n + 1))."""
    least = 2.0 - 2.0 * np.cos(np.pi / (order + 1))
    chain = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(order, order)).tocsr()
    found = positive_factor(chain, -0.9 * least)
    assert found is not None
    assert 0.0 < found.error < 0.01 * least
    right = np.cos(np.arange(order))
    left = chain @ found.solve(right) - 0.9 * least * found.solve(right) - right
    assert np.abs(left).max() < 1e-9
    assert positive_factor(chain, -1.1 * least) is None
