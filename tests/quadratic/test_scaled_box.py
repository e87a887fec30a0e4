"""The parts of a bound one by one: intervals, multipliers, tangents, and what rounding may cost."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from helpers.exact import fractions, global_minimisers, mirrored
from indefinite_opt.quadratic.bracket.minorant import (
    Bound,
    Inequalities,
    Multipliers,
    lower_bound,
    pair_indices,
)
from indefinite_opt.quadratic.bracket.scaled_box import BoxQuadratic, ScaledBox

Array = NDArray[np.float64]

EPS = 2.0**-52


def quadratic(H: Any, c: Any, lower: Any, upper: Any, *lines: Any) -> BoxQuadratic:
    """With one number for all ends, or one for each; without rows, unless some are given."""
    n = len(c)
    rows, rhs = lines or (np.zeros((0, n)), [])
    parts = (H, c, rows, rhs, np.broadcast_to(lower, n), np.broadcast_to(upper, n))
    return BoxQuadratic(*(np.array(part, dtype=float) for part in parts))


def whole(q: BoxQuadratic) -> ScaledBox:
    return q.scaled(q.lower, q.upper)


def bound_of(q: BoxQuadratic) -> Bound:
    """By the least eigenvalue, with a tangent in the middle of the box."""
    scaled = whole(q)
    return lower_bound(scaled, Multipliers.spectral(scaled.m), np.zeros(scaled.m))


def random_case(generator: np.random.Generator, n: int) -> BoxQuadratic:
    """Whole numbers, two rows without a common variable, and intervals of several widths."""
    H = mirrored(generator.integers(-3, 4, (n, n)).astype(float))
    lower = generator.integers(-4, 5, n).astype(float)
    upper = lower + 2.0 ** generator.integers(-1, 3, n)
    rows = np.zeros((2, n))
    rows[np.arange(n) % 2, np.arange(n)] = generator.choice([-1.0, 1.0], n)
    rhs = rows @ (lower + 0.25 * (upper - lower))
    return quadratic(H, generator.integers(-3, 4, n), lower, upper, rows, rhs)


# ---------------------------------------------------------------------------------------- d


@pytest.mark.parametrize("seed", range(3))
def test_scaled_variables_say_the_same_of_every_point(seed: int) -> None:
    """f, rows and points by d, on a part of the box in which some variables are fixed."""
    generator = np.random.default_rng(seed)
    q = random_case(generator, 5)
    fixed = generator.random(5) < 0.4
    fixed[0] = False
    lower, upper = q.lower.copy(), np.where(fixed, q.lower, q.upper)
    scaled = q.scaled(lower, upper)
    np.testing.assert_array_equal(scaled.members, np.flatnonzero(~fixed))
    assert scaled.m == int((~fixed).sum())
    kept = [k for k, row in enumerate(q.rows) if np.any(row[~fixed])]
    assert len(scaled.rows) == len(kept)
    for _ in range(10):
        d = generator.integers(-4, 5, scaled.m) / 4.0
        x = scaled.point(d)
        assert np.all((lower <= x) & (x <= upper))
        np.testing.assert_array_equal(scaled.place(x), d)
        by_d = scaled.constant + scaled.slope @ d + 0.5 * d @ scaled.curvature @ d
        assert by_d == 0.5 * x @ q.H @ x + q.c @ x == q.value(x)
        missed = scaled.weights @ (q.rows @ x - q.rhs)
        np.testing.assert_allclose(scaled.rows @ d - scaled.rhs, missed, atol=1e-14)
    np.testing.assert_array_equal(scaled.place(upper + 9.0), np.ones(scaled.m))
    # Unit of rounding: every term at its largest in the box.
    reach = np.maximum(np.abs(lower), np.abs(upper))
    size = sum(0.5 * abs(q.H[i, j]) * reach[i] * reach[j] for i in range(5) for j in range(5))
    assert scaled.size == pytest.approx(size + sum(np.abs(q.c) * reach))


def test_the_projection_along_the_rows() -> None:
    """PMP with P = I - A⁺A: of rows that share no variable, and of some that depend on others."""
    generator = np.random.default_rng(0)
    q = random_case(generator, 6)
    A = generator.standard_normal((3, 6))
    A = np.vstack([A, A[0] - 2.0 * A[2]])
    M = mirrored(generator.standard_normal((6, 6)))
    for rows, count in ((q.rows, 2), (A, 3)):
        scaled = whole(quadratic(q.H, q.c, q.lower, q.upper, rows, rows @ q.lower))
        wide = rows * scaled.half
        P = np.eye(6) - np.linalg.pinv(wide) @ wide
        np.testing.assert_allclose(scaled.across(M), P @ M @ P, atol=1e-13)
        np.testing.assert_allclose(scaled.rows @ scaled.rows.T, np.eye(count), atol=1e-14)
    np.testing.assert_array_equal(np.count_nonzero(whole(q).weights, axis=1), [1, 1])


def test_rows_of_which_only_rounding_is_left_are_left_out() -> None:
    """1e8·x₀ + 1e-8·x₁ = 1e8 says of x₁ in [0, 1] where x₀ is fixed: 1e-8·x₁ = 0 up to 1e-8."""
    q = quadratic(np.eye(2), [0, 0], 0, 1, [[1e8, 1e-8], [0, 0]], [1e8, 0])
    fixed = np.array([1.0, 0.0]), np.ones(2)
    assert len(whole(q).rows) == 1
    assert len(q.scaled(*fixed).rows) == 0
    # Of 1e-2·x₁ = 0 up to 1e-8 something is left.
    scaled = quadratic(np.eye(2), [0, 0], 0, 1, [[1e8, 1e-2]], [1e8]).scaled(*fixed)
    np.testing.assert_array_equal(scaled.rows, [[1.0]])
    assert 0.5 * EPS * 1e8 / 0.5e-2 <= scaled.row_tolerance[0] <= 100.0 * EPS * 1e8 / 0.5e-2
    # Two rows that differ by 1e-9 of their length count as one, by 1e-7 as two.
    for share, count in ((1e-9, 1), (1e-7, 2)):
        rows = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0 * share]])
        q = quadratic(np.eye(2), [0, 0], 0, 1, rows, rows @ [0.5, 0.5])
        assert len(whole(q).rows) == count


@pytest.mark.parametrize("k", [1, 2, 16])
@pytest.mark.parametrize("seed", range(4))
def test_rows_by_scaled_variables_are_as_far_off_as_their_tolerance(seed: int, k: int) -> None:
    """At every vertex, in fractions, also where many rows of two variables depend on each other."""
    g, n = np.random.default_rng(seed), 2
    lower = g.uniform(-1.0, 1.0, n)
    upper = lower + g.uniform(0.1, 1.0, n)
    rows = g.standard_normal((k, n))
    q = quadratic(np.eye(n), np.zeros(n), lower, upper, rows, rows @ (0.5 * (lower + upper)))
    scaled = whole(q)
    assert scaled.m == n
    A, weights, own = (fractions(part) for part in (q.rows, scaled.weights, scaled.rows))
    assert len(own) == min(k, n)
    for d in itertools.product([-1, 1], repeat=n):
        x = fractions(scaled.center) + fractions(scaled.half) * np.array(d)
        meant = weights @ (A @ x - fractions(q.rhs))
        off = abs(own @ np.array(d) - fractions(scaled.rhs) - meant)
        assert np.all(off <= fractions(scaled.row_tolerance))


def test_intervals_too_thin_to_count() -> None:
    """Below 1e-10 of the range x is fixed in the middle, and f may fall by its slope times half."""
    half, H, c, ends = 0.5e-11, [[0, 1], [1, 4]], [3, -8], [1, 2]
    q, line = quadratic(H, c, 0, ends), quadratic(H, c, 0, ends, [[1, -1]], [-0.5])
    lower, upper = np.array([0.0, 1.0]), np.array([1.0, 1.0 + 2.0 * half])
    scaled = q.scaled(lower, upper)
    np.testing.assert_array_equal(scaled.members, [0])
    # |x₀ + 4x₁ - 8| ≤ 1 + 4 + 8 by the sizes of its terms.
    assert scaled.fixed_loss == pytest.approx(13.0 * half, rel=1e-4)
    assert q.scaled(lower, np.array([1.0, 1.0 + 1e-9])).m == 2
    # In units of the length of the row, half of the interval that counts.
    assert half <= 0.5 * line.scaled(lower, upper).row_tolerance[0] <= 1.1 * half
    # Nothing but the rounding of the row itself where no variable is fixed.
    rounding = np.hypot(0.5, 1.0) * whole(line).row_tolerance[0]
    assert EPS * 3.0 <= rounding <= 1000.0 * EPS * 3.0
    assert whole(q).fixed_loss == 0.0


# ----------------------------------------------------------------------------------- multipliers


def test_multipliers_of_the_wrong_sign_count_as_zero() -> None:
    """Those of squares may be negative where a variable is at one of its ends."""
    pairs = np.array([[1.0, -2.0, 3.0, -4.0], [0.0, 0.0, 0.0, 5.0], [0.0, 0.0, 0.0, 0.0]])
    # x₁s₀ + s₁s₂ ≥ s₀s₂ twice, the second with a multiplier of the wrong sign, and no inequality.
    literals = np.array([[1, 3, 4], [1, 3, 4], [0, 0, 4]])
    triangles = Inequalities(literals, np.array([7.0, -1.0, 100.0]))
    multipliers = Multipliers(pairs, np.array([-1.0, -2.0, 3.0]), triangles)
    terms = multipliers.valid(np.array([False, True, False])).terms()
    expected = np.maximum(pairs, 0.0)
    np.testing.assert_array_equal(terms.squares, [0.0, -2.0, 3.0])
    expected[0, 1] += 7.0  # x₁s₀
    expected[2, 1] += 7.0  # x₂s₁
    expected[1, 1] -= 7.0  # x₂s₀
    np.testing.assert_array_equal(terms.pairs, expected)
    np.testing.assert_array_equal(terms.sizes, [4.0 + 7.0, 5.0 + 7.0, 7.0])


def test_five_literals_of_different_variables_hold_at_every_vertex() -> None:
    """Each is multilinear, so that it holds on the whole box; each is an equation somewhere."""
    m = 5
    i, j = pair_indices(m)
    literals = np.array([
        [2 * k + side for k, side in zip(order, sides, strict=True)]
        for order in itertools.permutations(range(m))
        for sides in itertools.product((0, 1), repeat=m)
    ])  # fmt: skip
    places, signs, least = Inequalities(literals, np.ones(len(literals))).products()
    left = []
    for x in itertools.product((0, 1), repeat=m):
        slacks = np.array([(share, 1 - share) for share in x])
        products = (slacks[i][:, :, None] * slacks[j][:, None, :]).ravel()
        left.append(products[places] @ signs - least)
    np.testing.assert_array_equal(np.min(left, axis=0), 0.0)


def test_what_removes_the_products() -> None:
    """The minorant of separable multipliers has no product of two variables, and no concave one."""
    generator = np.random.default_rng(3)
    for n in (2, 4):
        q = quadratic(mirrored(generator.standard_normal((n, n))), np.zeros(n), 0, 2)
        separable = Multipliers.separable(whole(q))
        # ¼(++ + --) - ¼(+- + -+) cancels each product, and half of a square each -x².
        cancelled = 0.25 * separable.pairs @ [1.0, -1.0, -1.0, 1.0]
        np.testing.assert_allclose(cancelled, q.H[pair_indices(n)], atol=1e-14)
        assert separable.pairs.min() >= 0.0
        assert np.all((separable.pairs > 0.0).sum(axis=1) == 2)
        np.testing.assert_allclose(separable.squares, 2.0 * np.maximum(-np.diag(q.H), 0.0))
        assert not Multipliers.spectral(n).squares.any()
        assert not separable.triangles.multipliers.any()


# -------------------------------------------------------------------------------------- tangents


def test_the_bound_of_a_linear_function_is_the_value_of_a_linear_program() -> None:
    """With rows that share no variable, from starts everywhere in the box."""
    generator = np.random.default_rng(0)
    for _ in range(25):
        q = random_case(generator, int(generator.integers(2, 7)))
        q = replace(q, H=np.zeros((q.n, q.n)), c=generator.standard_normal(q.n))
        scaled = whole(q)
        start = generator.uniform(-1.0, 1.0, scaled.m)
        bound = lower_bound(scaled, Multipliers.spectral(scaled.m), start)
        ends = np.column_stack([q.lower, q.upper])
        least = linprog(q.c, A_eq=q.rows, b_eq=q.rhs, bounds=ends).fun
        assert least - 1e-9 * scaled.size <= bound.value <= least + 1e-12 * scaled.size


@pytest.mark.parametrize("kind", ["equations", "slacks", "flat"])
def test_the_minimum_with_rows_that_share_variables_is_found(kind: str) -> None:
    """Against an interior point method of others, from a start that is far."""
    generator = np.random.default_rng(12)
    for n, k in ((4, 2), (10, 4), (25, 20)):
        A, inner = generator.standard_normal((n, n)), generator.uniform(0.1, 0.9, n)
        G, c = generator.uniform(-1.0, 1.0, (k, n)), 3.0 * generator.standard_normal(n)
        H = np.zeros((n, n)) if kind == "flat" else A @ A.T / n
        upper, rhs = np.ones(n), G @ inner
        if kind != "equations":
            G, H = np.hstack([G, np.eye(k)]), np.pad(H, (0, k))
            upper, c = np.append(upper, np.full(k, 0.5)), np.append(c, np.zeros(k))
            rhs = rhs + 0.1
        q = quadratic(H, c, 0, upper, G, rhs)
        x = cp.Variable(q.n)
        value = 0.5 * cp.quad_form(x, cp.psd_wrap(H)) + c @ x
        program = cp.Problem(cp.Minimize(value), [G @ x == rhs, x >= 0.0, x <= upper])
        least, allowed = program.solve(solver="CLARABEL"), 1e-6 * whole(q).size
        assert least - allowed <= bound_of(q).value <= least + allowed


def test_the_tangents_of_a_box_without_a_point_grow_without_limit() -> None:
    """x₀ + x₁ = 3 and x₀ - x₁ + x₂ = 0 on the unit box: the rows contradict the box."""
    q = quadratic(np.eye(3), np.zeros(3), 0, 1, [[1, 1, 0], [1, -1, 1]], [3, 0])
    assert bound_of(q).value > 1e3


def convex_case(generator: np.random.Generator) -> BoxQuadratic:
    """A positive definite f on a box, with up to two rows that leave room."""
    n, k = int(generator.integers(1, 5)), int(generator.integers(0, 3))
    A = generator.integers(-2, 3, (n, n)).astype(float)
    rows = np.zeros((k, n))
    if k:
        rows[np.arange(n) % k, np.arange(n)] = generator.choice([-1.0, 1.0], n)
    rows = rows[np.any(rows, axis=1)]
    lower = generator.integers(-2, 2, n).astype(float)
    upper = lower + 2.0 ** generator.integers(-1, 2, n)
    rhs = rows @ (lower + generator.integers(1, 4, n) / 4.0 * (upper - lower))
    c = 4.0 * generator.standard_normal(n)
    return quadratic(A @ A.T + np.eye(n), c, lower, upper, rows, rhs)


def test_the_minimum_of_a_convex_function_is_found() -> None:
    """From any start, with rows and at ends: the best tangent is as high as the minimum.

    Active sets may repeat before that: then the best tangent so far is taken, and is lower.
    """
    generator = np.random.default_rng(11)
    missed = tested = 0
    for _ in range(25):
        scaled = whole(q := convex_case(generator))
        least, size = float(global_minimisers(q)[0]), max(1.0, scaled.size)
        for start in (np.zeros(scaled.m), generator.uniform(-1.0, 1.0, scaled.m)):
            bound = lower_bound(scaled, Multipliers.spectral(scaled.m), start)
            assert bound.value <= least
            tested += 1
            missed += bound.value < least - bound.slack - 1e-12 * size
    assert missed <= 0.08 * tested


def test_a_square_of_a_binary_variable_may_be_added() -> None:
    """f = 2x² - 2x on {0, 1} is 0; on [0, 1] it is -½ at ½; the multiplier -2 takes that away."""
    scaled = whole(quadratic([[4]], [-2], 0, 1))
    for square, binary, expected in (
        (-2.0, [True], 0.0), (-2.0, [False], -0.5), (0.0, [True], -0.5), (-2.0, None, -0.5),
    ):  # fmt: skip
        m = Multipliers(np.zeros((0, 4)), np.array([square]))
        atoms = () if binary is None else (np.array(binary),)
        value = lower_bound(scaled, m, np.zeros(1), *atoms).value
        assert expected - 1e-12 <= value <= expected


# ------------------------------------------------------------------------------ what rounding costs


def unit_box(n: int, H: float = 0.0, c: float = 0.0) -> ScaledBox:
    """½H‖x‖² + c eᵀx on [-1, 1]ⁿ, where the scaled variables are the variables."""
    return whole(quadratic(H * np.eye(n), np.full(n, c), -1, 1))


@pytest.mark.parametrize("n", [3, 12])
def test_everything_that_is_added_is_charged(n: int) -> None:
    """One term a thousand times all others: between m·eps/2 of its size and some thousands more."""
    count = n * (n - 1) // 2
    triangle = Inequalities(np.array([[1, 3, 4]]), np.ones(1))
    zero, squares, small = np.zeros((count, 4)), np.zeros(n), unit_box(n, 1e-3)
    cases = {
        "f": (unit_box(n, H=1.0), Multipliers.spectral(n), 0.5 * n),
        "linear": (unit_box(n, c=1.0), Multipliers.spectral(n), float(n)),
        "negative": (unit_box(n, H=-1.0), Multipliers.spectral(n), 0.5 * n + n),
        "pairs": (small, Multipliers(zero + 1.0, squares), 4.0 * count),
        "squares": (small, Multipliers(zero, squares + 1.0), float(n)),
        "triangles": (small, Multipliers(zero, squares, triangle), 3.0),
    }
    for name, (scaled, multipliers, size) in cases.items():
        slack = lower_bound(scaled, multipliers, np.zeros(n)).slack
        assert slack >= 0.5 * (n + 2) * EPS * size, name
        # A shift by the least eigenvalue, and by a margin, is at most n times what is shifted.
        assert slack <= 200.0 * (n + 8) * EPS * size * (1.0 + n), name


def test_without_free_variables_only_f_is_charged() -> None:
    bound = bound_of(quadratic([[2, 0], [0, 0]], [0, -5], 1, 1))
    assert bound.value == 1.0 - 5.0 - bound.slack
    assert EPS * 6.0 <= bound.slack <= 1000.0 * EPS * 6.0


@pytest.mark.parametrize("upper", [0.0, 1.0])
@pytest.mark.parametrize("doubt", [2.0**-20, 3.0])
def test_what_the_function_may_lie_below_f_is_subtracted(doubt: float, upper: float) -> None:
    """f = x₀² - 5x₁ is -5u for x₁ ≤ u; with all variables fixed or none."""
    q = replace(quadratic([[2, 0], [0, 0]], [0, -5], 0, upper), doubt=doubt)
    least = -5.0 * upper - doubt
    assert least - 1e-9 <= bound_of(q).value <= least


@pytest.mark.parametrize("kind", ["linear", "square", "product"])
def test_terms_that_are_all_too_small_for_a_float_are_charged(kind: str) -> None:
    """f = 1e-300·x₀, -½·1e-300·x₀² or 1e-300·x₀x₁ beside ±1e-100: the minimum is not quite 0."""
    H, c, tiny, end = np.zeros((2, 2)), np.zeros(2), 1e-300, 1e-100
    if kind == "linear":
        c[0], least = tiny, -Fraction(tiny) * Fraction(end)
    elif kind == "square":
        H[0, 0], least = -tiny, -Fraction(tiny) * Fraction(end) ** 2 / 2
    else:
        H[0, 1] = H[1, 0] = tiny
        least = -Fraction(tiny) * Fraction(end) ** 2
    q = quadratic(H, c, -end, end)
    assert q.size(np.full(2, end)) == 0.0
    assert -1e-300 <= Fraction(bound_of(q).value) <= least


@pytest.mark.parametrize("seed", range(4))
def test_products_that_lose_digits_beside_a_wide_interval_are_charged(seed: int) -> None:
    """hx₀x₁ is -hab at the least for |x₀| ≤ a and |x₁| ≤ b, where ha is a denormal number."""
    g = np.random.default_rng(seed)
    h, a, b = (float(x) for x in g.uniform(1.0, 9.0, 3) * [1e-301, 1e-11, 1e20])
    q = quadratic([[0.0, h], [h, 0.0]], [0.0, 0.0], [-a, -b], [a, b])
    least = -Fraction(h) * Fraction(a) * Fraction(b)
    assert least * Fraction(1.0 + 1e-6) <= Fraction(bound_of(q).value) <= least


def test_the_tangent_is_charged_for_ends_that_are_rounded() -> None:
    """f = 1e6·x on [1e6, 1e6 + 1]: the ends are known to some 1e-10 in d."""
    slack = bound_of(quadratic([[0]], [1e6], 1e6, 1e6 + 1.0)).slack
    assert 2.0 * EPS * 1e6 * 0.5e6 <= slack <= 1.0


def test_a_curved_function_is_charged_across_a_row_that_is_missed() -> None:
    """f = -½·1e3·(x₂ + x₃)², x₂ + x₃ = 1 - x₁, x₁ up to 1e-11: steep across the row only."""
    H = np.zeros((3, 3))
    H[1:, 1:] = -1e3
    q = quadratic(H, np.zeros(3), 0, 1, np.ones((1, 3)), [1])
    for low in (0.0, 1e-11):
        scaled = q.scaled(np.array([-low, 0.0, 0.0]), np.array([1e-11 - low, 1.0, 1.0]))
        assert scaled.m == 2
        least = -500.0 * (1.0 + low) ** 2
        bound = lower_bound(scaled, Multipliers.spectral(2), np.zeros(2))
        assert least - 1e-6 <= bound.value <= least
        assert bound.slack >= 1e3 * 0.5e-11
