"""Lower bounds of programs whose optimum is a known fraction, beside which rounding is large."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import indefinite_opt as iopt
from helpers.exact import (
    Program,
    as_matrix,
    as_vector,
    fractions,
    global_minimisers,
    is_psd,
    linear_optimum,
    solved,
)
from helpers.polyhedra import best_bound
from indefinite_opt.errors import InfeasibleProblem
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.bracket.finite_form import box_quadratic, finite_form, with_slacks
from indefinite_opt.quadratic.programs.paired_qp import kernel_qp, svm_dual
from indefinite_opt.quadratic.rows.exact_bound import exact_bound
from indefinite_opt.quadratic.rows.linear_rows import _sizes
from indefinite_opt.quadratic.rows.nearby import exact_residuals
from indefinite_opt.quadratic.rows.row_curvature import RowCurvature

Array = NDArray[np.float64]

EPS = 2.0**-52


def in_fractions(qp: iopt.QuadraticProgram, x: Any, z: Any = (), y: Any = ()) -> float:
    """`exact_bound` at these points and multipliers."""
    body = qp.program()
    return exact_bound(
        body.P, body.q, body.feasible, *(np.array(part, float) for part in (x, z, y))
    )


def test_multipliers_that_are_rounding_of_slopes_count_as_zero() -> None:
    """All of ∇F = P(x - v) is 0 at v = (1, 1, -1), where both rows are active without a price."""
    P = np.array([[2.0, -4.0, 1.0], [-4.0, 8.0, -2.0], [1.0, -2.0, 1.0]])
    v = np.array([1.0, 1.0, -1.0])
    qp = iopt.QuadraticProgram(P, -P @ v, G=[[1.0, 1.0, 0.0], [0.0, 1.0, 0.3]], h=[2.0, 0.7])
    for z in ([0.0, 0.0], [2e-15, 0.0], [3e-16, 1e-15], [5e-324, 1e-16]):
        assert in_fractions(qp, v, z) == -0.5 * v @ P @ v


def test_an_optimum_of_0_is_proved_where_a_sum_of_squares_is_rounded() -> None:
    """½‖Lx‖² with Lᵀ(Lx) in double precision, which may have an eigenvalue below 0 of its rounding.

    The optimum is then not 0, but what enumeration in fractions says.
    """
    rounded = closed = 0
    for seed in range(12):
        g = np.random.default_rng(seed)
        L = g.standard_normal((2, 4))
        P, ends, row = L.T @ L, g.uniform(1.0, 2.0, 4), g.uniform(0.5, 1.0, 4)
        P = 0.5 * (P + P.T)
        qp = iopt.QuadraticProgram(P, np.zeros(4), A=row[None], b=[1.0], lb=-ends, ub=ends)
        rounded += not is_psd(as_matrix(P))
        found = Program.on(P, np.zeros(4), -ends, ends, A=[row], b=[1.0]).minimum(every=True)
        assert found is not None
        certificate = iopt.solve(qp).certificate
        closed += certificate.claim is iopt.Claim.GLOBAL
        # 64 roundings of the largest ½|x|ᵀ|P||x|, or the tolerance where the optimum is not 0.
        room = 64.0 * 2.0**-53 * 0.5 * float(ends @ np.abs(P) @ ends)
        assert float(found[0]) - max(room, 1e-6 * found[0]) <= certificate.bound <= found[0]
    assert rounded >= 3
    assert closed >= 6


def test_a_matrix_that_is_raised_is_semidefinite_and_no_larger_than_its_share() -> None:
    """In fractions; the variable that is fixed stays as it is, whatever its products are."""
    for seed in range(20):
        g = np.random.default_rng([seed, 1])
        L = g.standard_normal((2, 4)) * 2.0 ** g.integers(-20, 20, 4)
        P = L.T @ L
        P = 0.5 * (P + P.T)
        fixed = np.array([False, False, False, seed % 2 == 1])
        P[fixed, fixed] = -1.0
        raised = RowCurvature(P, np.zeros((0, 4)), fixed).raised
        assert raised is not None
        matrix, delta = raised[0].toarray(), raised[1]
        kept = np.flatnonzero(~fixed)
        assert is_psd(as_matrix(matrix[np.ix_(kept, kept)]))
        more = fractions(matrix) - fractions(P)
        assert not np.any(more[~np.eye(4, dtype=bool)])
        assert all(0 <= a <= d for a, d in zip(np.diagonal(more), fractions(delta), strict=True))
        # A dozen roundings, each in the unit of its variable.
        assert np.all(delta <= 100.0 * EPS * np.abs(np.diagonal(P)))


def test_a_negative_multiplier_of_an_inequality_proves_no_bound() -> None:
    """½x₁² + x₂ falls without end under x₂ ≤ 0, of which the multiplier would be -1.

    Of x₂ ≥ 0 it is 1, and of x₂ = 0 it may be -1.
    """
    f, G, h = (np.diag([1.0, 0.0]), [0.0, 1.0]), [[0.0, 1.0], [1.0, 1.0]], [0.0, 5.0]
    turned = iopt.QuadraticProgram(*f, G=[[0.0, -1.0]], h=[3.0])
    equation = iopt.QuadraticProgram(*f, A=[[0.0, 1.0]], b=[3.0])
    for z in (0.0, 1.0, 2.0):
        for rows in (1, 2):
            qp = iopt.QuadraticProgram(*f, G=G[:rows], h=h[:rows])
            assert in_fractions(qp, [0.0, 0.0], [z, 0.0][:rows]) == -np.inf
        assert in_fractions(turned, [0.0, -3.0], [z or 1.0]) == -3.0
        assert in_fractions(equation, [0.0, 3.0], [], [-z]) == 3.0


def test_a_bound_that_is_no_float_is_rounded_down() -> None:
    """½kx² - x is -1/(2k) at 1/k; with one unit in the last place to spare."""
    for k, scale in itertools.product(range(1, 12), (1.0, 2.0**-30, 3.0)):
        qp = iopt.QuadraticProgram([[float(k)]], [scale])
        found, least = in_fractions(qp, [-scale / k]), -(Fraction(scale) ** 2) / (2 * k)
        assert Fraction(found) <= least
        assert Fraction(np.nextafter(found, np.inf)) > least


class Square(NamedTuple):
    """min qᵀ(u, w) with as many rows as free variables u, and w in a box: each w has one u.

    Of the rows Bu + Cw = or ≤ h the first `count` are inequalities. They are dependent for no w,
    so that their multipliers -B⁻ᵀq_u are the only ones.
    """

    B: Array
    C: Array
    h: Array
    q: Array
    low: Array
    high: Array
    count: int
    y: Array
    """Approximate multipliers."""

    @property
    def program(self) -> Any:
        rows, k, n = np.hstack([self.B, self.C]), self.count, len(self.B)
        free = np.full(n, np.inf)
        return iopt.QuadraticProgram(
            np.zeros((self.q.size, self.q.size)), self.q, G=rows[:k], h=self.h[:k], A=rows[k:],
            b=self.h[k:], lb=np.r_[-free, self.low], ub=np.r_[free, self.high],
        ).program()  # fmt: skip

    @property
    def optimum(self) -> Fraction | None:
        """-hᵀy + Σ min over w of (q_w + Cᵀy)w for y = -B⁻ᵀq_u; None if an inequality has y < 0."""
        n = len(self.B)
        found = solved(np.column_stack([fractions(self.B.T), -fractions(self.q[:n])]).tolist())
        assert found is not None
        if min(found[: self.count], default=0) < 0:
            return None
        y, low, high = np.array(found), fractions(self.low), fractions(self.high)
        slopes = fractions(self.q[n:]) + fractions(self.C.T) @ y
        return np.minimum(slopes * low, slopes * high).sum() - y @ fractions(self.h)


def ill_conditioned(g: np.random.Generator, n: int, power: int) -> Array:
    """Whole numbers: a triangular matrix, to which rows and columns are added to each other."""
    B = np.triu(g.integers(-2, 3, (n, n)), 1) + np.diag(g.choice([1, 3, 5], n))
    for _ in range(power):
        i, j = g.choice(n, 2, replace=False)
        B[i] += g.choice([-1, 1]) * B[j]
        j, i = g.choice(n, 2, replace=False)
        B[:, i] += g.choice([-1, 1]) * B[:, j]
    return B.astype(float)


def squares(seed: int, count: int) -> Iterator[Square]:
    """Multipliers of inequalities and slopes in w are 0 but for the rounding of q."""
    g = np.random.default_rng(seed)
    for _ in range(count):
        n, m = int(g.integers(2, 5)), int(g.integers(0, 3))
        count = int(g.integers(0, n + 1))
        B = ill_conditioned(g, n, int(g.integers(2, 40)))
        C = g.integers(-3, 4, (n, m)).astype(float)
        y = g.standard_normal(n) * 10.0 ** g.integers(-3, 4, n)
        y[:count] = np.abs(y[:count]) * g.choice([1.0, 1e-6, 1e-9, 0.0], count)
        q = -np.hstack([B, C]).T @ y
        low = g.uniform(-1.0, 0.0, m) * 10.0 ** g.integers(0, 7, m)
        h, high = g.integers(-9, 10, n).astype(float), low + 10.0 ** g.integers(0, 7, m)
        yield Square(B, C, h, q, low, high, count, y)


@pytest.mark.parametrize(("seed", "count"), [(0, 10), pytest.param(1, 20, marks=pytest.mark.slow)])
def test_multipliers_of_linear_programs_prove_no_more_than_the_optimum(
    seed: int, count: int
) -> None:
    """From any point, on the rows or not: where w is at an end only rounding decides its slope."""
    g, tight = np.random.default_rng([9, seed]), 0
    for declared in squares(seed, count):
        program, optimum, k = declared.program, declared.optimum, declared.count
        y = declared.y * (1.0 + g.choice([0.0, EPS, 1e-9]) * g.standard_normal(declared.y.size))
        for trial in range(3):
            # Beside so small a number sums are not computed exactly.
            ends = np.array([declared.low, declared.high, np.full(declared.low.size, 1e-150)])
            w = g.permuted(ends, axis=0)[0]
            u = np.linalg.solve(declared.B, declared.h - declared.C @ w)
            if trial:
                u += 10.0 ** g.integers(-6, 7) * g.standard_normal(u.size)
            point = program.at(np.r_[u, w])
            bound = best_bound(program, point, {"inequalities": y[:k], "equalities": y[k:]})
            if optimum is None:
                assert bound == -np.inf
            else:
                assert bound == -np.inf or Fraction(bound) <= optimum
                tight += bound >= float(optimum) - 1e-6 * abs(float(optimum))
    assert tight > 10


@pytest.mark.parametrize("start", [0.0, -0.25, 1.0, 3.0])
def test_points_no_worse_than_one_may_be_anywhere_on_the_rows(start: float) -> None:
    """½x₁² + x₁ for x₁ + x₂ = 0 is -½ at (-1, 1); nothing but F bounds x₁ and x₂.

    A bound from F(w) ≤ F(x) that took ∇F(x) for the equation, or F(x) for its side, would say that
    x₁ is 0.
    """
    qp = iopt.QuadraticProgram(np.diag([1.0, 0.0]), [1.0, 0.0], A=[[1.0, 1.0]], b=[0.0])
    program = qp.program()
    none = {"inequalities": np.zeros(0), "equalities": np.zeros(1)}
    bound = best_bound(program, program.at(np.array([start, -start])), none)
    assert -0.5 - 1e-12 <= bound <= -0.5
    certificate = iopt.verify(qp, [start, -start])
    assert -0.5 - 1e-12 <= certificate.bound <= -0.5
    assert certificate.claim < iopt.Claim.GLOBAL


def test_large_multipliers_that_cancel_prove_no_more_than_the_optimum() -> None:
    """x - 7y = 0 twice, once in units of 3, so that (7, 1)t is feasible, with t up to 10⁹.

    Slopes of 10⁸ cancel to some 10⁻⁸, which rounding changes in each variable by as much.
    """
    g = np.random.default_rng(0)
    for _ in range(20):
        q, first = 1e-8 * g.standard_normal(2), 1e8 * g.standard_normal()
        program = iopt.QuadraticProgram(
            np.zeros((2, 2)), q, A=[[1.0, -7.0], [3.0, -21.0]], b=np.zeros(2), lb=0.0,
            ub=[7e9, 1e9],
        ).program()  # fmt: skip
        least = min(7 * Fraction(q[0]) + Fraction(q[1]), Fraction(0)) * 10**9
        # Beside so small a number sums are not computed exactly.
        point = program.at(np.array([1e-150, 0.0]))
        bound = best_bound(program, point, {"equalities": np.array([first, -first / 3.0])})
        assert Fraction(bound) <= least


TWO_ROWS = np.array([[1.0, 1.0], [1.0, -1.0]])


def two_rows(q: Array, y: Array, inequalities: int, unit: float) -> Square:
    """u₁ ± u₂ = 1 or ≤ 1 in units of the rows, without w; y are multipliers in the unit 1."""
    B, none, free = unit * TWO_ROWS, np.zeros((2, 0)), np.zeros(0)
    return Square(B, none, np.full(2, unit), q, free, free, inequalities, y / unit)


@pytest.mark.parametrize("unit", [1.0, 2.0**-10, 2.0**10])
def test_an_inverse_that_is_none_proves_no_more_than_the_optimum(
    monkeypatch: pytest.MonkeyPatch, unit: float
) -> None:
    """Of an ill-conditioned matrix it may have no right digit; u₁ ± u₂ = 1 stands for it.

    With a tenth of the inverse, multipliers stay near those that were given, and seem right. One
    of -2⁻¹⁷ of u₁ + u₂ ≤ 1 is still near the given 2⁻¹⁰ with seven tenths of the inverse.
    """
    inverse = np.linalg.inv
    monkeypatch.setattr(np.linalg, "inv", lambda matrix: 0.1 * inverse(matrix))
    for share in (-1e-3, 1e-3):
        declared = two_rows(np.array([-1.0, 5.0]), (1.0 + share) * np.array([-2.0, 3.0]), 0, unit)
        program, optimum = declared.program, declared.optimum
        assert optimum == -1
        for x in ([3.0, 0.0], [-3.0, 0.0], [0.0, 3.0], [0.0, -3.0]):
            bound = best_bound(program, program.at(np.array(x)), {"equalities": declared.y})
            assert bound == -np.inf or Fraction(bound) <= optimum
    monkeypatch.setattr(np.linalg, "inv", lambda matrix: 0.7 * inverse(matrix))
    for true, expected in ((-(2.0**-17), -np.inf), (2.0**-9, -1.0 - 2.0**-9)):
        q = -TWO_ROWS.T @ np.array([true, 1.0])
        declared = two_rows(q, np.array([2.0**-10, 1.0]), 2, unit)
        assert declared.optimum == (None if true < 0.0 else expected)
        program = declared.program
        point = program.at(np.array([1.0, 0.0]))
        bound = best_bound(program, point, {"inequalities": declared.y})
        assert bound == pytest.approx(expected, abs=1e-3)
        assert bound <= expected


def test_residuals_of_rows_are_rounded_once() -> None:
    """Where the products of a row cancel to their last digits."""
    g = np.random.default_rng(0)
    for _ in range(8):
        rows, x = g.standard_normal((9, 4)), g.standard_normal(4) * 2.0 ** g.integers(-40, 40, 4)
        rhs = rows @ x
        exact = fractions(rows) @ fractions(x) - fractions(rhs)
        assert exact_residuals(rows, x, rhs).tolist() == exact.astype(float).tolist()


@pytest.mark.parametrize("lines", [0, 1, 2])
def test_curvature_that_counts_as_zero_proves_no_more_than_the_optimum(lines: int) -> None:
    """diag(1, 1, -δ, -δ) is convex up to rounding, and wide boxes make much of δ."""
    for delta in (0.0, EPS, 8 * EPS):
        K = np.diag([1.0, 1.0, -delta, -delta])
        problem = iopt.KernelProblem(K, np.array([1.0, -1.0, 1.0, -1.0]))
        qp = kernel_qp(problem, 1.0, -1.0, 2.0**27, lines, total=2.0**27)
        assert qp.is_convex
        least, points = global_minimisers(box_quadratic(qp))
        for x in (np.array(points[0], float), np.array([1.0, 1.0, 0.0, 0.0]), np.full(4, 2.0**25)):
            bound = answers.dual_bound(qp, x, qp.gradient(x))
            assert Fraction(bound) <= least
        assert bound > -np.inf


@pytest.mark.parametrize("lines", [0, 1])
def test_sums_of_a_kernel_dual_are_rounded(lines: int) -> None:
    """Without a kernel all weights are at C, and the optimum is -nC."""
    g = np.random.default_rng(1)
    for n in (2, 6, 10, 14, 30):
        problem = iopt.KernelProblem(np.zeros((n, n)), [1.0, -1.0] * (n // 2))
        for C in (0.1, *(10.0 ** g.uniform(-8.0, 8.0, 6))):
            qp = svm_dual(problem, C, lines=lines)
            x = np.full(n, C) * g.integers(0, 2)
            bound = answers.dual_bound(qp, x, qp.gradient(x))
            assert Fraction(bound) <= -n * Fraction(C)
            assert bound >= -n * C * (1.0 + (2 * n + 16) * EPS)


@pytest.mark.parametrize(("tilt", "least"), [(1.0, 8.0), (3.0, 0.5)])
def test_what_a_ray_stands_for(tilt: float, least: float) -> None:
    """½hαᵀQα - c eᵀα along α = tz, eᵀz = 1: t²q - ct is least at t = c/(2q), with -c²/(4q)."""
    qp = kernel_qp(iopt.KernelProblem(np.eye(2), [1.0, -1.0]), 4.0 * least, -tilt, np.inf, 1)
    form, z = finite_form(qp), np.array([0.5, 0.5])
    assert form is not None
    assert form.value(z) == least
    best = form.restored(z, least)
    np.testing.assert_array_equal(best, tilt / (2.0 * least) * z)
    assert form.original(least) == qp.value(best) == -(tilt**2) / (4.0 * least)
    assert form.level(form.original(least)) == pytest.approx(least)
    assert form.original(0.0) == form.original(-least) == -np.inf


@pytest.mark.parametrize("share", [1.0, 1e-3, 1e-12])
@pytest.mark.parametrize("lines", [0, 1])
def test_the_bound_of_a_hard_margin_far_from_its_optimum(lines: int, share: float) -> None:
    """½Σk_iα_i² - α₁ - α₂ is least at 1/k_i, or at 2/(k₁ + k₂) on α₁ = α₂.

    Where margins are of the size of `share`, their rounding counts 1/share times.
    """
    g = np.random.default_rng(0)
    for k in g.uniform(0.5, 2.0, (20, 2)):
        qp = svm_dual(iopt.KernelProblem(np.diag(k), [1.0, -1.0]), np.inf, lines=lines)
        one, other = as_vector(k)
        least = -2 / (one + other) if lines else -(1 / one + 1 / other) / 2
        x = share * (np.full(2, 2.0 / k.sum()) if lines else 1.0 / k)
        bound = answers.dual_bound(qp, x, qp.gradient(x))
        assert Fraction(bound) <= least
        assert bound == pytest.approx(float(least), rel=1e-13 / share)


@pytest.mark.parametrize("power", [0, 6])
@pytest.mark.parametrize("seed", range(6))
def test_ranges_hold_every_point_of_a_simplex_in_fractions(seed: int, power: int) -> None:
    """Of n + 1 rows over free variables, without a bound and then with some, of any size."""
    g = np.random.default_rng(seed)
    n = int(g.integers(2, 4))
    units = 10.0 ** g.integers(-power, power + 1, n)
    R = g.standard_normal((n, n)) * units
    G = np.vstack([R, -g.uniform(0.5, 2.0, n) @ R])
    h = G @ (g.standard_normal(n) / units) + g.uniform(0.1, 2.0, n + 1)
    lb = np.where(g.random(n) < 0.3 * (seed % 3), -0.1 / units, -np.inf)
    try:
        program = iopt.QuadraticProgram(np.eye(n), np.zeros(n), G=G, h=h, lb=lb).program()
    except InfeasibleProblem:
        return
    # x = u - v and slacks of the rows, and of the bounds that there are.
    rows = np.vstack([G, -np.eye(n)[np.isfinite(lb)]])
    ends = np.append(h, -lb[np.isfinite(lb)])
    standard = as_matrix(np.hstack([rows, -rows, np.eye(len(rows))]))
    low, high = program.feasible.ranges
    for i, (least, most) in enumerate(zip(low, high, strict=True)):
        cost = np.zeros(2 * n + len(rows))
        cost[[i, n + i]] = 1.0, -1.0
        low_end, high_end = (
            linear_optimum(as_vector(c), standard, as_vector(ends)) for c in (cost, -cost)
        )
        if low_end is None or high_end is None:
            return
        assert Fraction(least) <= low_end
        assert -high_end <= Fraction(most)
        if not np.isfinite(lb).any():
            assert most - least == pytest.approx(float(-high_end - low_end), rel=1e-9)


def test_sizes_of_variables_that_bound_each_other() -> None:
    """z ≤ c + Δz with positive weights w = c: |z| ≤ w / (1 - max (Δw)_i/w_i)."""
    inf = np.inf
    for rows, sizes in (
        # |z₁| ≤ 1 and |z₂| ≤ 2, whatever the third is.
        ([[0, 0, 0], [0, 0, 0]], [1, 2, inf]),
        # |z₁| ≤ 1 + |z₃|/10, and that one has no end; nor has what depends on |z₁|.
        ([[0, 0, 0.1], [0, 0, 0]], [inf, 2, inf]), ([[0, 0, 0.1], [0.1, 0, 0]], [inf, inf, inf]),
        # With w = (1, 2) the shares are (2/8)/1 and (1/8)/2.
        ([[0, 0.125, 0], [0.125, 0, 0]], [4 / 3, 8 / 3, inf]),
        ([[0, 0.6, 0], [0, 0, 0]], [inf, inf, inf]),
    ):  # fmt: skip
        delta = np.array([*rows, [0, 0, 0]], float)
        found = _sizes(np.array([1.0, 2.0, 5.0]), delta, np.array([True, True, False]))
        assert np.all(found >= sizes)
        np.testing.assert_allclose(found, sizes, rtol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_slacks_reach_to_every_feasible_point_in_fractions(seed: int) -> None:
    """h - Gx is largest at a corner of the box; whatever cancels there is rounded."""
    g, n = np.random.default_rng(seed), 6
    low = g.uniform(-2.0, 1.0, n)
    high = low + g.uniform(0.0, 1.0, n)
    G = g.standard_normal((1, n)) * g.choice([0.0, 1.0, 1e8], (1, n))
    h = np.where(G > 0.0, G * low, G * high).sum(axis=1) + 1e-3 * g.random(1)
    program = iopt.QuadraticProgram(np.eye(n), np.zeros(n), G=G, h=h, lb=low, ub=high).program()
    (slack,), end = with_slacks(program, low, high).upper[n:], Fraction(h[0])
    least = np.minimum(fractions(G[0]) * fractions(low), fractions(G[0]) * fractions(high))
    most, size = max(end - least.sum(), 0), abs(least).sum() + abs(end)
    assert most <= Fraction(slack) <= most + size * Fraction((2 * n + 8) * EPS)


@pytest.mark.parametrize("slope", [3e-300, 1.1e-305])
def test_a_denormal_optimum_is_not_below_its_bound(slope: float) -> None:
    """The product of slope and lower end is below the normal numbers."""
    for end in (-1e-9, -7.7e-12, -1e-15):
        qp = iopt.QuadraticProgram(q=[slope], lb=[end], ub=[1e9])
        assert Fraction(iopt.bound(qp).lower) <= Fraction(slope) * Fraction(end)


@pytest.mark.parametrize("power", range(5))
def test_curvature_that_is_a_denormal_number_bounds_no_more_than_the_optimum(power: int) -> None:
    """½px² + qx between two ends is least there or at -q/p, in fractions.

    Half of p is rounded by as much as a quarter of it, and products with p lose their digits.
    """
    g, least_float = np.random.default_rng(power), 5e-324
    for _ in range(12):
        p, q = (float(k) * least_float for k in g.integers([1, -2000], [50, 2000]))
        low, high = (float(end) for end in np.sort(g.uniform(-1.0, 1.0, 2) * 10.0**power))
        inside = [min(max(-q / p, low), high), float(g.uniform(low, high))]
        ends = {Fraction(low), Fraction(high), -Fraction(q) / Fraction(p)}
        optimum = min(Fraction(p) * x * x / 2 + Fraction(q) * x for x in ends if low <= x <= high)
        qp = iopt.QuadraticProgram([[p]], [q], lb=low, ub=high)
        for x in (low, high, *inside):
            assert Fraction(iopt.verify(qp, [x]).bound) <= optimum


def test_multipliers_of_terms_that_underflow_prove_no_more_than_the_optimum() -> None:
    """qx for ax ≥ b and 0 ≤ x ≤ u is least at b/a, where all products are denormal numbers."""
    g = np.random.default_rng(0)
    for _ in range(20):
        a, price = 1e-307 * g.uniform(1.0, 9.0), 10.0 ** g.uniform(0.0, 6.0)
        q, high = a * price, 10.0 ** -g.uniform(8.0, 14.0)
        b = a * g.uniform(0.0, 0.9 * high)
        program = iopt.QuadraticProgram(q=[q], G=[[-a]], h=[-b], lb=0.0, ub=high).program()
        for x in (0.0, high, b / a):
            point, multipliers = program.at(np.array([x])), {"inequalities": np.array([price])}
            bound = best_bound(program, point, multipliers)
            assert Fraction(bound) <= Fraction(q) * Fraction(b) / Fraction(a)


@pytest.mark.parametrize("off", [0.0, 1e-3, -1e-3, 1e-6])
@pytest.mark.parametrize("y", [1.0, 0.5, -1.0])
def test_a_product_with_what_a_row_fixes_is_no_curvature_of_its_own(y: float, off: float) -> None:
    """xy for x = 1 and -1 ≤ y ≤ 1 is -1 at the least, also from points that miss the row."""
    qp = iopt.QuadraticProgram(
        [[0.0, 1.0], [1.0, 0.0]], A=[[1.0, 0.0]], b=[1.0], lb=[-5.0, -1.0], ub=[5.0, 1.0]
    )
    program = qp.program()
    assert program.is_convex
    point, price = program.at(np.array([1.0 + off, y])), np.array([-y])
    assert -1.0 - off**2 - 1e-11 <= best_bound(program, point, {"equalities": price}) <= -1.0


@pytest.mark.parametrize("off", [0.0, 1e-6, -0.5])
@pytest.mark.parametrize("slope", [-3.0, 1.0])
def test_a_fixed_variable_bounds_at_its_value(slope: float, off: float) -> None:
    """x² - 2x + y² + sy + xy for y = 1 is least, s + ¾, at x = ½, wherever y is in the point."""
    qp = iopt.QuadraticProgram([[2.0, 1.0], [1.0, 2.0]], [-2.0, slope], lb=[-9, 1], ub=[9, 1])
    program, least = qp.program(), slope + 0.75
    bound = best_bound(program, program.at(np.array([0.5, 1.0 + off])), {})
    assert least - 1e-12 <= bound <= least
