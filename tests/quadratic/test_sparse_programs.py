"""Sparse programs: they stay sparse, and have the solutions and claims of the dense ones."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

import indefinite_opt as iopt
from helpers.exact import as_vector, dot, linear_optimum
from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import TimeLimitReached
from indefinite_opt.quadratic.matrices.positive_factor import sparse_least_eigenvalue
from indefinite_opt.quadratic.matrices.sparse import (
    Entries,
    as_sparse,
    block_of,
    largest_in_rows,
    rows_of,
    stacked,
    transposed,
)
from indefinite_opt.quadratic.matrices.units import program_units
from indefinite_opt.quadratic.rows import polyhedral_qp
from indefinite_opt.quadratic.rows.linear_rows import LinearRows
from indefinite_opt.quadratic.rows.nearby import Nearby, Sides, nearby_point, nearest_point
from indefinite_opt.quadratic.rows.ranges import tightened
from indefinite_opt.quadratic.rows.row_curvature import RowCurvature

Array = NDArray[np.float64]


def least_squares(n: int) -> dict[str, Any]:
    """½‖x - s‖² with s = 0, 1, ..., a band of rows, Σx = 42 and x ≥ 0."""
    place = np.arange(n)
    band = [(place % k == 0).astype(float) for k in (2, 3, 5)]
    G = sparse.diags_array([band[0], band[1][:-1], band[2][:-1]], offsets=[0, 1, -1])
    return {
        "P": sparse.eye_array(n, format="csc"), "q": -place.astype(float), "G": G.tocsc(),
        "h": np.ones(n), "A": sparse.csc_array(np.ones((1, n))), "b": [42.0], "lb": 0.0,
    }  # fmt: skip


def by_clarabel(P: Any, q: Array, G: Any, h: Array, A: Any, b: Any, lb: float) -> float:
    """The objective of Clarabel, called directly."""
    import clarabel

    n = q.size
    rows = sparse.vstack([A, G, -sparse.eye_array(n)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    cones = [clarabel.ZeroConeT(len(b)), clarabel.NonnegativeConeT(h.size + n)]
    right = np.concatenate([b, h, np.full(n, -lb)])
    half, rows = sparse.csc_matrix(sparse.triu(P)), sparse.csc_matrix(rows)
    return float(clarabel.DefaultSolver(half, q, rows, right, cones, settings).solve().obj_val)


@pytest.mark.parametrize("n", [30, 3000])
def test_sparse_least_squares(n: int) -> None:
    """A dense P of 3,000 variables would have 72 MB; the optimum is on a face and exact."""
    data = least_squares(n)
    qp = iopt.QuadraticProgram(**data)
    assert sparse.issparse(qp.P)
    assert sparse.issparse(qp.G)
    result = iopt.solve(qp)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert result.objective == pytest.approx(by_clarabel(**data), rel=1e-7)
    assert np.max(data["G"] @ result.x) <= 1.0
    assert result.x.sum() == pytest.approx(42.0, abs=1e-12)
    assert np.array_equal(iopt.solve_qp(**data), result.x)


def test_a_program_too_large_to_be_dense() -> None:
    """15,000 variables: 1.8 GB if P were dense. ½‖x - s‖² on x ≥ 0 with Σx ≤ 1 is the projection.

    s = (1, 0.9, 0, ...) projects to (0.55, 0.45, 0, ...).
    """
    n = 15_000
    s = np.zeros(n)
    s[:2] = 1.0, 0.9
    qp = iopt.QuadraticProgram(
        sparse.eye_array(n), -s, G=sparse.csr_array(np.ones((1, n))), h=[1.0], lb=0.0
    )
    result = iopt.solve(qp)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    np.testing.assert_allclose(result.x[:3], [0.55, 0.45, 0.0], atol=1e-12)


@pytest.mark.parametrize("ending", ["lp", "mps", "qplib"])
def test_a_program_too_large_to_be_dense_in_a_file(ending: str, tmp_path: Any) -> None:
    """Σ x_j² / 2 + x_1 x_n over a row: 6,000 variables, more entries with zeros than are formed."""
    n = 6000
    corner = sparse.csr_array(([1.0, 1.0], ([0, n - 1], [n - 1, 0])), shape=(n, n))
    P = sparse.csr_array(sparse.eye_array(n) + corner)
    row = sparse.csr_array(([2.0, -3.0], ([0, 0], [1, n - 1])), shape=(1, n))
    qp = iopt.QuadraticProgram(P, G=row, h=[1.0], lb=0.0, ub=1.0, sense=-1)
    again = iopt.QuadraticProgram.read(qp.write(tmp_path / f"a.{ending}"))
    assert sparse.issparse(again.P)
    assert abs(again.P + P).nnz == 0  # of the minimisation
    assert np.array_equal(again.G, row.toarray())
    assert (again.sense, again.h.tolist(), again.ub.tolist()) == (-1, [1.0], [1.0] * n)


@pytest.mark.parametrize("bounds", [{}, {"lb": 0.0, "ub": 0.5}])
def test_large_programs_without_rows(bounds: dict[str, float]) -> None:
    """½‖x - s‖² has the minimiser s, clipped to the bounds."""
    n = 6000
    s = np.arange(n) % 7 - 3.0
    result = iopt.solve(iopt.QuadraticProgram(sparse.eye_array(n), -s, **bounds))
    assert result.certificate.claim is iopt.Claim.GLOBAL
    expected = np.clip(s, bounds.get("lb", -np.inf), bounds.get("ub", np.inf))
    np.testing.assert_allclose(result.x, expected, atol=1e-9)


@pytest.mark.slow
def test_a_large_program_that_is_not_convex_is_refused_by_name() -> None:
    n = 5001
    P = sparse.diags_array(np.where(np.arange(n) == 7, -1.0, 1.0))
    rows = sparse.csr_array(np.ones((1, n)))
    qp = iopt.QuadraticProgram(P, np.zeros(n), G=rows, h=[1.0], lb=-1.0, ub=1.0)
    with pytest.raises(ProblemError, match="P: expected at most 25000000 entries, zeros included"):
        iopt.solve(qp)


@pytest.mark.parametrize("seed", range(2))
def test_sparse_and_dense_arrays_give_the_same(seed: int) -> None:
    g = np.random.default_rng(seed)
    n, m = 20, 10
    B = sparse.random_array((n, n), density=0.1, rng=g)
    P, G = (B.T @ B).tocsr(), sparse.random_array((m, n), density=0.2, rng=g, format="csr")
    q, h = g.standard_normal(n), g.uniform(0.0, 1.0, m)
    one = iopt.solve(iopt.QuadraticProgram(P, q, G, h, lb=-1.0, ub=1.0))
    other = iopt.solve(iopt.QuadraticProgram(P.toarray(), q, G.toarray(), h, lb=-1.0, ub=1.0))
    assert one.objective == other.objective
    assert one.certificate.claim is other.certificate.claim is iopt.Claim.GLOBAL


def test_sparse_arrays_are_copied_symmetrised_and_read_only() -> None:
    P = sparse.csr_array(([1.0, 2.0, 3.0], ([0, 0, 1], [0, 1, 1])), shape=(2, 2))
    qp = iopt.QuadraticProgram(P, [1.0, 1.0], lb=0.0)
    P.data[:] = 7.0
    assert qp.P.toarray().tolist() == [[1.0, 1.0], [1.0, 3.0]]
    assert qp.notes == ("P was not symmetric and was replaced by (P + Pᵀ)/2, rounded to doubles.",)
    with pytest.raises(ValueError, match="read-only"):
        qp.P.data[0] = 0.0
    tiny = sparse.csr_array(np.array([[5e-324, 1.0], [2.0, 5e-324]]))
    assert iopt.QuadraticProgram(tiny).P.toarray().tolist() == [[5e-324, 1.5], [1.5, 5e-324]]
    rows = sparse.csr_array(([0.0, 2.0, 1.0], [1, 1, 0], [0, 3]), shape=(1, 2))  # in no order
    before = rows.data.copy(), rows.indices.copy(), rows.indptr.copy()
    iopt.QuadraticProgram(np.eye(2), G=rows, h=[1.0])
    assert all(map(np.array_equal, before, (rows.data, rows.indices, rows.indptr)))
    twice = sparse.coo_array(([1.0, 2.0], ([0, 0], [0, 0])), shape=(1, 1))
    assert iopt.QuadraticProgram(twice, [1.0]).P.toarray().tolist() == [[3.0]]


def test_sparse_programs_in_files_and_cvxpy(tmp_path: Any) -> None:
    """What is written is what the dense program writes, and cvxpy solves it."""
    data = least_squares(12)
    qp = iopt.QuadraticProgram(**data)
    dense = iopt.QuadraticProgram(
        **{k: v.toarray() if sparse.issparse(v) else v for k, v in data.items()}
    )
    for ending in ("npz", "mps", "lp", "qplib"):
        paths = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
        qp.write(paths[0])
        dense.write(paths[1])
        if ending != "npz":
            assert paths[0].read_text() == paths[1].read_text()
        again = iopt.QuadraticProgram.read(paths[0])
        assert np.array_equal(again.P, dense.P)
        assert np.array_equal(again.G, dense.G)
    problem = qp.declare().cvxpy()
    problem.solve(solver="CLARABEL")
    assert problem.value == pytest.approx(by_clarabel(**data), rel=1e-6)


# ----------------------------------------------------------------------------- linear programs


@pytest.mark.parametrize("seed", range(3))
def test_linear_programs_have_the_optimum_of_scipy(seed: int) -> None:
    """Degenerate ones among them, with more active constraints than variables."""
    g = np.random.default_rng(seed)
    n, m = 40, 25
    A = sparse.random_array((m, n), density=0.15, rng=g, format="csr")
    A.data = g.integers(-3, 4, A.nnz).astype(float)
    x = g.integers(0, 3, n) * (g.random(n) < 0.4)
    q = A.T @ g.integers(-2, 3, m) + g.integers(0, 2, n) * (x == 0)
    result = iopt.solve(iopt.QuadraticProgram(q=q, A=A, b=A @ x, lb=0.0))
    expected = linprog(q, A_eq=A, b_eq=A @ x, bounds=(0, None)).fun
    assert result.objective == pytest.approx(expected, abs=1e-8)
    assert (result.solver, result.certificate.claim) == ("highs", iopt.Claim.GLOBAL)
    assert np.all(result.x >= 0.0)


# ----------------------------------------------------------------------------------- the parts


def test_entries_are_those_of_the_matrix() -> None:
    g = np.random.default_rng(0)
    dense = g.standard_normal((9, 7)) * (g.random((9, 7)) < 0.3)
    dense[4] = 0.0
    x, kept = g.standard_normal(7), np.array([0, 4, 5, 8])
    sizes = np.abs(dense) * np.abs(x)
    for matrix in (dense, sparse.csr_array(dense)):
        entries = Entries.of(matrix)
        np.testing.assert_allclose(entries.times(x), dense @ x)
        np.testing.assert_allclose(entries.sizes(np.abs(x)), sizes.sum(axis=1))
        np.testing.assert_allclose(entries.chosen(kept).times(x), dense[kept] @ x)
        np.testing.assert_array_equal(entries.largest(np.abs(x)), sizes.max(axis=1))
        np.testing.assert_array_equal(entries.dense(np.array([1, 6]), 7), dense[:, [1, 6]])
    np.testing.assert_array_equal(largest_in_rows(as_sparse(dense), np.abs(x)), sizes.max(axis=1))
    whole = stacked(dense, sparse.csr_array((0, 7)), as_sparse(dense[:2]))
    np.testing.assert_array_equal(whole.toarray(), np.vstack([dense, dense[:2]]))


@pytest.mark.parametrize("n", [250, 400])
def test_least_eigenvalues_of_large_parts(n: int) -> None:
    """Two separate chains and a few single variables, against all eigenvalues."""
    chain = sparse.diags_array([-1.0, 2.1, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    matrix = sparse.block_diag([chain, 3.0 * chain, sparse.eye_array(3)], format="csr")
    curvature = RowCurvature(matrix, sparse.csr_array((0, 2 * n + 3)))
    exact = np.linalg.eigvalsh(chain.toarray())[0]
    assert curvature.is_psd
    for part, factor in ((slice(0, n), 1.0), (slice(n, 2 * n), 3.0)):
        least = curvature.least[part]
        assert np.all((least <= factor * exact) & (least >= 0.95 * factor * exact))
    assert curvature.least[-3:].tolist() == [1.0] * 3
    bent = (chain - 0.2 * sparse.eye_array(n)).tocsr()
    assert sparse_least_eigenvalue(bent, 1e-12) is None
    assert not RowCurvature(bent, sparse.csr_array((0, n))).is_psd


def test_units_of_sparse_programs_remove_scales() -> None:
    """Entries of one program in units from 1e-6 to 1e6 are near 1 again."""
    g = np.random.default_rng(3)
    n, m = 30, 20
    scale, height = 10.0 ** g.uniform(-6, 6, n), 10.0 ** g.uniform(-6, 6, m)
    rows = sparse.random_array((m, n), density=0.3, rng=g, format="csr")
    rows.data = g.uniform(1.0, 2.0, rows.nnz)
    diagonal = sparse.diags_array
    P = diagonal(1.0 / scale**2).tocsr()
    scaled = (diagonal(height) @ rows @ diagonal(1.0 / scale)).tocsr()
    units = program_units(P, 1.0 / scale, scaled, height, np.zeros(n), scale)
    sizes = abs(diagonal(units.row) @ scaled @ diagonal(units.column)).data
    assert np.all((sizes > 0.1) & (sizes < 10.0))


def test_rows_of_large_programs_are_scaled_without_the_objective() -> None:
    """A feasible point of few rows needs no dense P, which would have 36 million entries."""
    n = 6000
    P, A = sparse.eye_array(n, format="csr"), sparse.csr_array(np.ones((1, n)))
    qp = iopt.QuadraticProgram(P, A=A, b=[1.0], lb=0.0).compiled()
    scaled = qp.feasible.in_units(qp.feasible.row_units)
    assert scaled.hessian is None
    x = qp.feasible.row_units.read(LinearRows(scaled).vertex())
    assert x.sum() == pytest.approx(1.0, rel=1e-12)
    assert x.min() == 0.0


def test_a_chain_of_rows_bounds_all_of_its_variables() -> None:
    """x₀ ≤ 1 and x_{k+1} ≤ 2 x_k bound every variable in as many passes."""
    n = 40
    rows = sparse.diags_array([-2.0, 1.0], offsets=[0, 1], shape=(n - 1, n)).tocsr()
    low, high = np.zeros(n), np.full(n, np.inf)
    high[0] = 1.0
    _, found = tightened(rows, np.zeros(n - 1), np.zeros(n - 1, bool), (low, high), passes=100)
    np.testing.assert_allclose(found, 2.0 ** np.arange(n), rtol=1e-9)
    assert np.all(found >= 2.0 ** np.arange(n))


def holds_a_point(sides: Sides, dense: Array, near: Nearby) -> bool:
    """Whether rows and bounds hold within the radius, by the simplex method in fractions."""
    x, radius, lower, upper = map(as_vector, (near.x, near.radius, sides.lower, sides.upper))
    low = [max(c - r, b) for c, r, b in zip(x, radius, lower, strict=True)]
    high = [min(c + r, b) for c, r, b in zip(x, radius, upper, strict=True)]
    if any(a > b for a, b in zip(low, high, strict=True)):
        return False
    n, ends = len(low), []
    for row, first, last in zip(dense, sides.low, sides.high, strict=True):
        ends.append((row, last, first < last))
        if first < last and np.isfinite(first):
            ends.append((-row, -first, True))
    slacks = sum(own for _, _, own in ends)
    A, b, used = [], [], 0
    for row, end, own in ends:
        extra = [Fraction(int(own and i == used)) for i in range(slacks)]
        used += own
        A.append([*as_vector(row), *[Fraction(0)] * n, *extra])
        b.append(Fraction(end) - dot(as_vector(row), low))
    for j in range(n):
        unit = [Fraction(int(i == j)) for i in range(n)]
        A.append([*unit, *unit, *[Fraction(0)] * slacks])
        b.append(high[j] - low[j])
    return linear_optimum([Fraction(0)] * (2 * n + slacks), A, b) is not None


@pytest.mark.parametrize("part", range(3))
def test_points_nearby_are_within_their_radius(part: int) -> None:
    """Whole numbers and decimals, dependent rows, vertices with too many active constraints."""
    proved = 0
    for seed in range(25 * part, 25 * part + 25):
        g = np.random.default_rng(seed)
        n, m = int(g.integers(3, 7)), int(g.integers(1, 5))
        unit = 1.0 if seed % 2 else 0.1
        rows = unit * g.integers(-3, 4, (m, n))
        if m > 2:
            rows[-1] = rows[0] + rows[1]
        x = unit * g.integers(0, 5, n)
        rhs = rows @ x
        low = np.where(g.random(m) < 0.6, rhs, -np.inf)
        sides = Sides(Entries.of(rows), low, rhs, np.zeros(n), np.full(n, 4.0 * unit))
        near = x + 10.0 ** -g.integers(7, 12) * g.standard_normal(n) * (g.random(n) < 0.7)
        found = nearby_point(sides, near)
        if found is not None:
            proved += 1
            assert np.max(np.abs(found.x - x)) <= 1e-5
            assert holds_a_point(sides, rows, found)
        nearest = nearest_point(sides, near, np.full(n, 4.0 * unit))
        if nearest is not None:
            assert holds_a_point(sides, rows, nearest)
            # x is such a point; the least move is found up to a thousandth of it, or 1e-10.
            far = float(np.max(np.abs(near - x))) / (4.0 * unit)
            assert nearest.share(near, np.full(n, 4.0 * unit)) <= 1.002 * far + 3e-10
    assert proved >= 15


def test_far_away_the_sign_tells_the_end_that_is_missed() -> None:
    """Beside 8e20 both ends of ±1e-13 are equally far; the row is missed on the side of x."""
    end, free = np.array([1e-13]), np.array([np.inf])
    sides = Sides(Entries.of(np.array([[1.0]])), -end, end, -free, free)
    for x in (np.array([-8e20]), np.array([8e20])):
        ends, over = sides.missed(x)
        assert np.array_equal(ends, np.sign(x) * end)
        assert sides.violated(over, ends).all()
    empty = Sides(Entries.of(np.eye(1)), -end, end, np.array([-9e20]), np.array([-8e20]))
    assert nearby_point(empty, np.array([-8e20])) is None


def test_a_limit_that_was_too_short_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that was stopped by a limit is solved when there is time."""

    def stopped(*_: object) -> None:
        raise TimeLimitReached

    g = np.random.default_rng(0)
    n = 500  # from here on limits are looked at
    B = g.standard_normal((n, n))
    qp = iopt.QuadraticProgram(
        B.T @ B, g.standard_normal(n), G=g.standard_normal((5, n)), h=np.ones(5), lb=-1.0, ub=1.0
    )
    with monkeypatch.context() as patch:
        patch.setattr(polyhedral_qp, "convex_solution", stopped)
        assert iopt.solve(qp, time_limit=60.0).status is iopt.Status.TIME_LIMIT
    result = iopt.solve(qp)
    assert (result.status, result.certificate.claim) == (iopt.Status.SOLVED, iopt.Claim.GLOBAL)


@pytest.mark.parametrize("shape", [(0, 3), (7, 4), (90, 160)])
def test_parts_of_sparse_matrices_are_those_of_scipy(shape: tuple[int, int]) -> None:
    """The last one has more entries than are sorted by numpy."""
    g = np.random.default_rng(0)
    dense = np.where(g.random(shape) < 0.3, g.standard_normal(shape), 0.0)
    for given in (as_sparse(dense), sparse.csr_array(dense)):
        turned = transposed(given)
        assert turned.shape == shape[::-1]
        np.testing.assert_array_equal(turned.toarray(), dense.T)
        assert turned.has_sorted_indices
        np.testing.assert_allclose(turned @ np.ones(shape[0]), dense.sum(axis=0), atol=1e-12)
        rows = g.permutation(shape[0])[: shape[0] // 2]
        np.testing.assert_array_equal(rows_of(given, rows).toarray(), dense[rows])
        square = given @ turned
        np.testing.assert_array_equal(block_of(square, rows), square.toarray()[np.ix_(rows, rows)])
        two = Entries.of(given).beside(Entries.of(given), shape[1])
        x = g.standard_normal(2 * shape[1])
        np.testing.assert_allclose(two.times(x), np.hstack([dense, dense]) @ x, atol=1e-12)
