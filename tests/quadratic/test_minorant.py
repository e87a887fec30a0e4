"""Bounds from convex minorants against exact arithmetic on the very numbers that were given."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.boxes import general_quadratic, random_multipliers, random_quadratic
from helpers.exact import fractions, global_minimisers, independent, is_psd, mirrored
from helpers.internals import relaxation_loops
from indefinite_opt.foundation import EPS
from indefinite_opt.quadratic.bracket import minorant, scaled_box
from indefinite_opt.quadratic.bracket.lagrangian import lagrangian_multipliers
from indefinite_opt.quadratic.bracket.minorant import (
    Inequalities,
    Multipliers,
    lower_bound,
    pair_indices,
)
from indefinite_opt.quadratic.bracket.scaled_box import TINY, BoxQuadratic, ScaledBox

Array = NDArray[np.float64]
Point = NDArray[np.object_]


def box(
    n: int, H: Any = 0.0, c: Any = 0.0, rows: Any = (), rhs: Any = (), low: Any = 0.0,
    high: Any = 1.0,
) -> tuple[BoxQuadratic, ScaledBox]:  # fmt: skip
    """A quadratic on the unit box without rows, unless told otherwise, and its scaled form."""
    c, low, high = (np.array(np.broadcast_to(part, n), float) for part in (c, low, high))
    curvature = np.array(np.broadcast_to(H, (n, n)), float)
    rows = np.array(rows, float).reshape(-1, n)
    q = BoxQuadratic(curvature, c, rows, np.array(rhs, float), low, high)
    return q, q.scaled(low, high)


def drawn(generator: np.random.Generator, widths: str) -> tuple[BoxQuadratic, ScaledBox]:
    """A random quadratic with a variable that is not fixed."""
    while True:
        if widths == "underflow":
            n, scale = int(generator.integers(1, 5)), 10.0 ** generator.uniform(-323.0, -300.0)
            return box(n, mirrored(scale * generator.integers(-1, 2, (n, n))))
        rows = widths == "rows"
        q = general_quadratic(generator) if rows else random_quadratic(generator, widths)
        scaled = q.scaled(q.lower, q.upper)
        if scaled.m and np.isfinite(scaled.size):
            return q, scaled


def value(q: BoxQuadratic, x: Point) -> Fraction:
    """f without rounding."""
    return x @ (fractions(q.H) @ x / 2 + fractions(q.c))


@dataclass(frozen=True)
class Minorant:
    """h of d = (x - center)/half without rounding, with each product multiplied out."""

    members: NDArray[np.intp]
    center: Point
    half: Point
    constant: Fraction
    slope: Point
    curvature: NDArray[np.object_]

    @classmethod
    def of(
        cls, q: BoxQuadratic, m: Multipliers, center: Point, half: Point, members: Any,
        binary: Any = False,
    ) -> Minorant:  # fmt: skip
        H, width = fractions(q.H), half[members]
        slope, constant = width * (H @ center + fractions(q.c))[members], value(q, center)
        M = H[np.ix_(members, members)] * np.outer(width, width)
        total = fractions(np.maximum(m.pairs, 0.0))
        for (p, q_, r), gamma in zip(*m.triangles, strict=True):
            for one, other, sign in ((p, q_ ^ 1, 1), (q_, r, 1), (p, r, -1)):
                (j, t), (i, s) = sorted([divmod(one, 2), divmod(other, 2)])
                total[i * (i - 1) // 2 + j, 2 * s + t] += sign * Fraction(max(gamma, 0.0))
        for i, j, nu in zip(*pair_indices(len(members)), total, strict=True):
            for (a, b), multiplier in zip(((1, 1), (1, -1), (-1, 1), (-1, -1)), nu, strict=True):
                # ¼ (1 + a d_i)(1 + b d_j)
                constant -= multiplier / 4
                slope[i] -= a * multiplier / 4
                slope[j] -= b * multiplier / 4
                M[i, j] -= a * b * multiplier / 4
                M[j, i] = M[i, j]
        # ¼ (1 - d²), which is zero for a variable that is at an end.
        squares = fractions(np.where(binary, m.squares, np.maximum(m.squares, 0.0)))
        constant -= squares.sum() / 4
        M[np.diag_indices(len(members))] += squares / 2
        for cliques, size in ((m.pentagons, 5), (m.heptagons, 7)):
            for literals, delta in zip(*cliques, strict=True):
                if len(set(literals // 2)) == size:
                    # (k - 1)/4 + ½ Σ (± d_i)(± d_j)
                    constant -= Fraction(size - 1, 4) * Fraction(max(delta, 0.0))
                    for one, other in itertools.permutations(literals.tolist(), 2):
                        sign = 1 - 2 * ((one + other) % 2)
                        M[one // 2, other // 2] -= sign * Fraction(max(delta, 0.0)) / 2
        return cls(members, center, half, constant, slope, M)

    @classmethod
    def rounded(cls, q: BoxQuadratic, scaled: ScaledBox, m: Multipliers) -> Minorant:
        """In the variables that the rounded `center` and `half` define."""
        return cls.of(q, m, fractions(scaled.center), fractions(scaled.half), scaled.members)

    @classmethod
    def exact(cls, q: BoxQuadratic, m: Multipliers, binary: Any = False) -> Minorant:
        """With d = ±1 at the very ends."""
        low, up = fractions(q.lower), fractions(q.upper)
        members = np.flatnonzero(q.upper > q.lower)
        return cls.of(q, m, (low + up) / 2, (up - low) / 2, members, binary)

    def __call__(self, x: Point) -> Fraction:
        d = (x - self.center)[self.members] / self.half[self.members]
        return self.constant + self.slope @ d + d @ self.curvature @ d / 2


def feasible(
    q: BoxQuadratic, generator: np.random.Generator, tries: int, binary: Any = False
) -> list[Point]:
    """Rational points of the box that satisfy the equality constraints; half of them vertices.

    As many variables as there are independent rows, in a random order, are solved for.
    """
    live, found = np.flatnonzero(q.upper > q.lower), []
    low, up = fractions(q.lower), fractions(q.upper)
    moving = live[~np.broadcast_to(binary, live.size)]
    for trial in range(tries):
        x = low.copy()
        share = fractions(generator.integers(0, 2, q.n))
        if trial % 2:
            share[moving] = fractions(generator.random(moving.size))
        x[live] += (share * (up - low))[live]
        order = generator.permutation(moving)
        rows = independent([
            [*row[order], right - row @ x]
            for row, right in zip(fractions(q.rows), fractions(q.rhs), strict=True)
        ])  # fmt: skip
        if rows is None:
            continue
        change = fractions(np.zeros(order.size))
        for row in reversed(rows):
            k = next(k for k, a in enumerate(row) if a)
            change[k] = (row[-1] - sum(map(mul, row[k + 1 :], change[k + 1 :]))) / row[k]
        x[order] += change
        if np.all((low <= x) & (x <= up)):
            found.append(x)
    return found


def test_rounded_ends_are_a_quarter_of_the_play_outside() -> None:
    """Also where the ends are neighbours among the floating point numbers, and near underflow."""
    generator, largest = np.random.default_rng(21), 0.0
    for trial in range(300):
        low = generator.standard_normal() * 10.0 ** generator.uniform(-305.0, 100.0)
        up = low + abs(low) * 10.0 ** generator.uniform(-16.0, 6.0)
        if trial % 3 == 0:
            up = low + generator.integers(1, 40) * np.spacing(low)
        _, scaled = box(1, low=low, high=up)
        if scaled.m == 0:
            ulps = 0.5 * scaled_box.MIN_WIDTH_ULPS * EPS * (abs(low) + abs(up))
            assert 0.5 * (up - low) <= max(scaled_box.MIN_HALF, ulps)
            continue
        center, half = Fraction(scaled.center[0]), Fraction(scaled.half[0])
        excess = max(abs((Fraction(end) - center) / half) for end in (low, up)) - 1
        assert excess <= Fraction(scaled.tolerance[0]) / 4
        assert scaled.tolerance[0] <= 0.5
        largest = max(largest, float(excess))
    assert largest > 0.02


def test_the_loss_beyond_rounded_ends() -> None:
    """Products, inequalities, ½ shift (d² - 1) and a tangent at |d| ≤ 1 + π/4, at their worst."""
    generator = np.random.default_rng(31)
    for _ in range(20):
        tolerance = generator.choice([1e-15, 1e-3, 0.1, 0.5], 3)
        slacks = [[-Fraction(each) / 8, 1 + Fraction(each) / 8] for each in tolerance]
        product = -min(a * b for a in slacks[0] for b in slacks[1])
        triangle = -min(p * (1 - q) * (1 - r) + (1 - p) * q * r
                        for p in slacks[0] for q in slacks[1] for r in slacks[2])  # fmt: skip
        square, none = -min(a * (1 - a) for a in slacks[0]), np.zeros(3)
        loss = minorant.loss_beyond_ends
        assert product <= Fraction(loss(tolerance, np.array([1.0, 0.0, 0.0]), none))
        assert triangle <= Fraction(loss(tolerance, np.ones(3), none))
        for each in (square, ((1 + Fraction(tolerance[0]) / 4) ** 2 - 1) / 2):
            assert each <= Fraction(loss(tolerance, none, np.array([1.0, 0.0, 0.0])))
        five = generator.choice([1e-15, 1e-3, 0.1, 0.5], 5)
        ends = [(-1 - Fraction(each) / 4, 1 + Fraction(each) / 4) for each in five]
        pairs = [sum(a * b for a, b in itertools.combinations(d, 2))
                 for d in itertools.product(*ends)]  # fmt: skip
        assert -1 - min(pairs) / 2 <= Fraction(loss(five, np.full(10, 2.0), np.zeros(5)))
        # A tangent of the slope s is |s| π/4 lower there than at the end.
        _, scaled = box(3, c=[-1.0, 2.0, 0.0], low=-1.0)
        found = replace(scaled, tolerance=tolerance).tangent(np.zeros(3), np.zeros(0))
        assert found.value == pytest.approx(-3.0 - found.slack)
        assert Fraction(found.slack) >= (Fraction(tolerance[0]) + 2 * Fraction(tolerance[1])) / 4


def fixed_case(generator: np.random.Generator) -> tuple[BoxQuadratic, ScaledBox, Array, Array]:
    """A part of a box in which some intervals are too narrow to count, and one is not."""
    n = int(generator.integers(2, 6))
    rows = generator.choice([-1.0, 1.0], (1, n))
    A = generator.standard_normal((n, n))
    low = generator.uniform(-2.0, 2.0, n)
    width = np.where(np.arange(n) % 2, 10.0 ** generator.uniform(-16.0, -10.3, n), 1.0)
    q = BoxQuadratic(A + A.T, generator.standard_normal(n), rows, rows @ (low + 0.5 * width),
                     low - 1.0, low + 2.0)  # fmt: skip
    return q, q.scaled(low, low + width), low, low + width


def test_what_f_may_lose_in_fixed_intervals_and_a_row_may_be_missed_by() -> None:
    """f at corners of the fixed intervals against f at the centers that stand for them.

    And a·d - rhs in d of an exact point on the row, whose right-hand side was rounded.
    """
    generator, tested = np.random.default_rng(23), 0
    for _ in range(60):
        q, scaled, low, up = fixed_case(generator)
        wide, center = scaled.members, fractions(scaled.center)
        x = np.where(generator.random(q.n) < 0.5, fractions(low), fractions(up))
        there = center.copy()
        there[wide] = x[wide]
        # The centers themselves are rounded, which is charged as a sum.
        charged = Fraction(scaled.fixed_loss) + Fraction(minorant.loss_of_sums(q.n, scaled.size))
        assert abs(value(q, x) - value(q, there)) <= charged
        x[wide] = fractions(generator.uniform(low, up))[wide]
        # Put on the row by moving x₀, which is wide, wherever that leads.
        row = fractions(q.rows[0])
        x[0] += row[0] * (Fraction(q.rhs[0]) - row @ x)
        d = (x - center)[wide] / fractions(scaled.half)[wide]
        missed = abs(fractions(scaled.rows) @ d - fractions(scaled.rhs))
        assert np.all(missed <= fractions(scaled.row_tolerance))
        tested += len(missed)
    assert tested > 45


def test_rows_are_orthonormal_and_missed_by_little() -> None:
    """At exact points of any rows, of every scale, and with the rows that the weights are of."""
    generator, tested, combined = np.random.default_rng(25), 0, 0
    for _ in range(60):
        q = general_quadratic(generator)
        scaled = q.scaled(q.lower, q.upper)
        Q = scaled.rows
        np.testing.assert_allclose(Q @ Q.T, np.eye(len(Q)), atol=1e-7)
        width = scaled.half[scaled.members]
        made = scaled.weights @ (q.rows[:, scaled.members] * width)
        np.testing.assert_allclose(Q, made, atol=1e-15 * np.abs(scaled.weights).max(initial=1.0))
        for x in feasible(q, generator, 3):
            d = (x - fractions(scaled.center))[scaled.members] / fractions(width)
            missed = abs(fractions(Q) @ d - fractions(scaled.rhs))
            assert np.all(missed <= fractions(scaled.row_tolerance))
            tested += 1
            combined += np.any(np.count_nonzero(scaled.weights, axis=1) > 1)
    assert tested > 40
    assert combined > 10


def test_all_independent_rows_are_there() -> None:
    """As many as the exact rank of the rows in the variables that are not fixed."""
    generator = np.random.default_rng(30)
    for _ in range(50):
        n = int(generator.integers(1, 6))
        A = generator.integers(-2, 3, (int(generator.integers(1, n + 2)), n)).astype(float)
        fixed = generator.random(n) < 0.3
        q, _ = box(n, rows=A, rhs=A @ np.full(n, 0.5))
        scaled = q.scaled(np.where(fixed, 0.5, 0.0), np.where(fixed, 0.5, 1.0))
        exact = independent([[*map(Fraction, row), Fraction(0)] for row in A[:, ~fixed]])
        assert len(scaled.rows) == len(exact)


@pytest.mark.parametrize("error", [0.0, 0.99])
@pytest.mark.parametrize("widths", ["equal", "narrow", "far", "rows"])
def test_a_tangent_of_the_exact_minorant_which_the_shift_makes_convex(
    widths: str, error: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M - LQ - QᵀLᵀ + shift is positive semidefinite in exact arithmetic, also where M is
    singular, and where computed eigenvalues are too large by 12(m + 8)·eps·‖M‖.

    Value and slopes, before anything is charged, are its tangent but for the rounding of sums,
    which are charged by the sizes of all terms.
    """
    eigenvalues = np.linalg.eigvalsh

    def rounded(M: Array) -> Array:
        return eigenvalues(M) + error * 12.0 * (len(M) + 8) * EPS * np.linalg.norm(M)

    monkeypatch.setattr(np.linalg, "eigvalsh", rounded)
    generator, compared = np.random.default_rng([27, len(widths)]), 0
    for _ in range(8):
        q, scaled = drawn(generator, widths)
        m, reach = scaled.m, fractions(np.maximum(np.abs(q.lower), np.abs(q.upper)))
        size_of_f = reach @ (abs(fractions(q.H)) @ reach / 2 + abs(fractions(q.c)))
        assert size_of_f <= Fraction(scaled.size) * (1 + Fraction(2.0**-45))
        multipliers = random_multipliers(generator, m, scaled.size * generator.integers(0, 3))
        bound = lower_bound(scaled, multipliers, generator.uniform(-1.0, 1.0, m))
        exact = Minorant.rounded(q, scaled, multipliers)
        point, shift = fractions(bound.point), Fraction(bound.shift)
        Q, L, r = fractions(scaled.rows), fractions(bound.coupling), fractions(scaled.rhs)
        # g(d) = h(d) - (Qd - r)ᵀLᵀd + ½ shift Σ(d² - 1)
        curvature = exact.curvature - L @ Q - Q.T @ L.T + shift * fractions(np.eye(m))
        assert is_psd(curvature.tolist())
        if np.count_nonzero(q.upper > q.lower) != m:
            continue
        slope = exact.slope + L @ r
        least = exact.constant - shift * m / 2 + slope @ point + point @ curvature @ point / 2
        gradient, nu = slope + curvature @ point, fractions(bound.nu)
        terms = multipliers.valid(np.zeros(m, bool)).terms()
        size = scaled.size + float(terms.sizes.sum() + terms.squares.sum()) + m * bound.shift
        size += np.abs(bound.coupling).sum(axis=0) @ (
            np.abs(scaled.rows).sum(axis=1) + np.abs(scaled.rhs))  # fmt: skip
        charged = Fraction(minorant.loss_of_sums(q.n, size))
        charged += abs(nu) @ fractions(scaled.row_tolerance)
        reduced = fractions(bound.reduced)
        told = Fraction(bound.value) + Fraction(bound.slack) + abs(reduced).sum()
        for signs in itertools.product((-1, 1), repeat=m):
            at = fractions(signs)
            there = least + gradient @ (at - point) + nu @ (Q @ at - r)
            assert abs(told + reduced @ at - there) <= charged
            compared += 1
    assert compared > 20


@pytest.mark.parametrize(
    ("kind", "literals", "products"),
    # Of five literals there are ten pairs, each with two products and a tenth of a constant of 4,
    # of seven 21, with a 21st of 9.
    [
        ("triangles", [1, 3, 4], 3),
        ("pentagons", [0, 3, 4, 7, 8], 10 * 2.4),
        ("heptagons", [0, 3, 4, 7, 8, 11, 12], 21 * 2.0 + 9.0),
    ],
)
def test_inequalities_that_are_given_many_times_are_charged_as_often(
    kind: str, literals: list[int], products: float
) -> None:
    """A sum of a thousand equal numbers of 53 digits is off by more than all other terms."""
    n, count = len(literals), 1000
    q, scaled = box(n)
    one = Inequalities(np.array([literals]), np.ones(1))
    many = Inequalities(np.tile(one.literals, (count, 1)), np.full(count, 0.1))
    once, often = (replace(Multipliers.spectral(n), **{kind: each}) for each in (one, many))
    exact = count * Fraction(0.1) * Minorant.rounded(q, scaled, once).curvature
    terms = often.valid(np.zeros(n, bool)).terms()
    M, size = minorant._without_products(scaled, terms)[2], terms.sizes.sum()
    assert 0 < abs(fractions(M) - exact).sum() <= Fraction(minorant.loss_of_sums(n, size))
    # Each product is in a thousand inequalities, and sums of n variables are in units of n.
    assert size == pytest.approx(products * 0.1 * count * count / n)


def test_ten_thousand_products_that_underflow_are_charged() -> None:
    """-½u(Σx)² on [0, ½]ⁿ with u = 5e-324, the least number: ¼u and less is rounded to 0."""
    n, u = 100, 5e-324
    _, scaled = box(n, -u, high=0.5)
    least = -Fraction(u) * (n * Fraction(1, 2)) ** 2 / 2
    for multipliers in (Multipliers.spectral(n), Multipliers.separable(scaled)):
        bound = lower_bound(scaled, multipliers, np.ones(n))
        assert least - 1000 * Fraction(TINY) <= Fraction(bound.value) <= least


@pytest.mark.parametrize("size", [5e-324, 1e-310])
def test_rows_that_underflow_exclude_no_point(size: float) -> None:
    """x + y = 1 in units of `size`: ½hx² - x is least at (1, 0) for h ≤ 1."""
    for curvature, least in ((0.0, -1.0), (-2.0, -2.0), (1.0, -0.5)):
        _, scaled = box(2, np.diag([curvature, 0.0]), [-1.0, 0.0], [size, size], [size])
        for multipliers in (Multipliers.spectral(2), Multipliers.separable(scaled)):
            bound = lower_bound(scaled, multipliers, np.zeros(2))
            assert -9.0 <= bound.value <= least


KINDS = ("spectral", "lagrangian", "separable", "any", "binary", "multipliers of rows")


@pytest.mark.parametrize("widths", ["equal", "narrow", "far", "rows", "underflow"])
def test_bound_and_tangent_are_below_the_minorant(widths: str) -> None:
    """Value ≤ h(x) ≤ f(x), and so is value + Σ(|r| + r d): exactly, at every rational point."""
    generator = np.random.default_rng(len(widths))
    tested = dict.fromkeys(KINDS, 0)
    for kind in 3 * KINDS:
        q, scaled = drawn(generator, widths)
        if kind == "multipliers of rows":
            scaled = q.scaled(q.lower, q.upper, orthonormal=False)
        if np.count_nonzero(q.upper > q.lower) != scaled.m:
            continue
        size = scaled.size * 10.0 ** generator.uniform(-4.0, 3.0)
        if widths == "underflow":
            size = 10.0 ** generator.uniform(-323.0, -300.0)
        multipliers = random_multipliers(generator, scaled.m, size)
        if kind in KINDS[:3]:
            multipliers = {"spectral": Multipliers.spectral(scaled.m),
                           "lagrangian": lagrangian_multipliers(scaled),
                           "separable": Multipliers.separable(scaled)}[kind]  # fmt: skip
        binary = generator.random(scaled.m) < (0.4 if kind == "binary" else 0.0)
        nu = None
        if kind == "multipliers of rows":
            nu = size * generator.standard_normal(scaled.rhs.size)
        start = generator.uniform(-1.0, 1.0, scaled.m)
        bound = lower_bound(scaled, multipliers, start, binary, nu)
        minorant_there = Minorant.exact(q, multipliers, binary)
        reduced, members = fractions(bound.reduced), scaled.members
        for x in feasible(q, generator, 6, binary):
            h = minorant_there(x)
            assert h <= value(q, x)
            assert Fraction(bound.value) <= h
            d = (x - fractions(scaled.center))[members] / fractions(scaled.half)[members]
            assert Fraction(bound.value) + abs(reduced).sum() + reduced @ d <= h
            tested[kind] += 1
    assert min(tested.values()) > 2


@pytest.mark.parametrize(
    ("first", "count"), [(0, 30), pytest.param(30, 300, marks=pytest.mark.slow)]
)
def test_no_bound_exceeds_the_least_value_with_any_rows(first: int, count: int) -> None:
    """By enumeration of all faces in exact arithmetic."""
    tested = tight = 0
    for seed in range(first, first + count):
        generator = np.random.default_rng([29, seed])
        q = general_quadratic(generator)
        try:
            least, _ = global_minimisers(q)
        except ValueError:
            continue
        scaled = q.scaled(q.lower, q.upper)
        m, size = scaled.m, float(scaled.size)
        for multipliers in (Multipliers.spectral(m), Multipliers.separable(scaled),
                            random_multipliers(generator, m, 0.3 * size)):  # fmt: skip
            bound = lower_bound(scaled, multipliers, generator.uniform(-1.0, 1.0, m))
            assert Fraction(bound.value) <= least, seed
            tested += 1
            tight += bound.value >= float(least) - 1e-6 * size
    assert tested > 2 * count
    assert tight > 0.6 * count


@pytest.mark.parametrize("width", [1e-13, 1e-11, 1e-7])
def test_multipliers_of_the_size_of_f_on_a_narrow_interval(width: float) -> None:
    """f = -x + y - y²/2 on x = y is least at x = 1, -½; the rows fix x to width 2e-16/width."""
    _, scaled = box(2, np.diag([0.0, -1.0]), [-1.0, 1.0], [1.0, -1.0], [0.0], [1.0 - width, 1.0])
    for square in (1e-3, 1e-1, 10.0):
        m = Multipliers(np.zeros((0, 4)), np.full(scaled.m, square))
        assert lower_bound(scaled, m, np.zeros(scaled.m)).value <= -0.5


@pytest.mark.parametrize("half", [4e-11, 1e-12])
def test_a_row_that_is_missed_is_charged_where_it_bends_f(half: float) -> None:
    """f = -(2x - 1)(2x - 3/2) on x + y = ¾ with |y| ≤ half, an interval too narrow to count.

    It is least at x = ¾ + half. Its minorant along the row is constant, so that the multiplier of
    the row is 0, and the curvature alone pays for what the row may be missed by.
    """
    q, _ = box(2, np.diag([-8.0, 0.0]), [5.0, 0.0], np.ones(2), [0.75], low=[0.0, -1.0])
    scaled = q.scaled(np.array([0.0, -half]), np.array([1.0, half]))
    bound = lower_bound(scaled, Multipliers.spectral(scaled.m), np.zeros(scaled.m))
    x = Fraction(3, 4) + Fraction(half)
    least = -4 * x * x + 5 * x
    assert least - 10 * Fraction(half) <= Fraction(bound.value) <= least


def test_bounds_in_closed_form() -> None:
    """x₀x₁ - x₀ - x₁ on the unit square: the envelope max(0, x₀ + x₁ - 1) gives -1 at (1, 1).

    ½‖d‖² + Σ_{i<j} d_id_j = ½(Σd_i)² is at least ½, with all squares 1; without them it is 0.
    """
    _, scaled = box(2, [[0.0, 1.0], [1.0, 0.0]], -1.0)
    least = lower_bound(scaled, Multipliers.separable(scaled), np.ones(2)).value
    assert -1.5 - 1e-12 <= least <= -1.0
    m = 5
    _, scaled = box(m, 4.0, -2.0 * m)  # ½(Σd)² - ½m²
    five = Inequalities(2 * np.arange(m)[None], np.array([2.0]))
    multipliers = Multipliers(np.zeros((10, 4)), np.full(m, -4.0), pentagons=five)
    bound = lower_bound(scaled, multipliers, np.zeros(m), np.ones(m, bool))
    assert bound.value == pytest.approx(0.5 - 0.5 * m**2, abs=1e-9)
    m = 7
    _, scaled = box(m, 4.0, -2.0 * m)
    seven = Inequalities(2 * np.arange(m)[None], np.array([2.0]))
    multipliers = Multipliers(np.zeros((21, 4)), np.full(m, -4.0), heptagons=seven)
    bound = lower_bound(scaled, multipliers, np.zeros(m), np.ones(m, bool))
    assert bound.value == pytest.approx(0.5 - 0.5 * m**2, abs=1e-9)


def test_literals_that_are_no_inequality_prove_nothing() -> None:
    """-x₀x₁ is -1 at (1, 1), whatever is said of three literals with a variable twice.

    And 0 is bounded by 0: five such literals would prove ½ of ½ - x(1 - x).
    """
    _, scaled = box(3, [[0.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    honest = Multipliers.separable(scaled)
    for literals in np.random.default_rng(5).integers(-1, 7, (30, 3)):
        three = Inequalities(literals[None], np.array([0.5]))
        forged = Multipliers(honest.pairs, np.ones(3), three)
        assert lower_bound(scaled, forged, np.ones(3)).value <= -1.0
    _, scaled = box(5)
    none = Multipliers.spectral(5)
    for literals in ([0, 1, 2, 4, 6], [0, 0, 2, 4, 6], [-2, 0, 2, 4, 6], [0, 2, 4, 6, 10]):
        for sign in (-1.0, 1.0):
            five = Inequalities(np.array([literals]), np.array([sign]))
            bound = lower_bound(scaled, replace(none, pentagons=five), np.zeros(5))
            assert -1e-12 <= bound.value <= 0.0
    _, scaled = box(7)
    none = Multipliers.spectral(7)
    for literals in ([0, 1, 2, 4, 6, 8, 10], [-2, 0, 2, 4, 6, 8, 10], [0, 2, 4, 6, 8, 10, 14]):
        for sign in (-1.0, 1.0):
            seven = Inequalities(np.array([literals]), np.array([sign]))
            bound = lower_bound(scaled, replace(none, heptagons=seven), np.zeros(7))
            assert -1e-12 <= bound.value <= 0.0


def test_spread_is_the_adjoint_of_the_lifting() -> None:
    """⟨Z, WUWᵀ⟩ = ⟨WᵀZW, U⟩, the inner product of z = (√ω, x, s), with W written out."""
    generator, n, omega = np.random.default_rng(3), 4, 1.7
    theta = np.sqrt(omega + 0.5 * n)
    # z of u = (θ, d/√2): 1 = u₀/θ, x = (1 + d)/2, s = (1 - d)/2; the coordinate 1 weighs √ω.
    W = np.zeros((2 * n + 1, n + 1))
    W[0, 0] = np.sqrt(omega) / theta
    W[1:, 0] = 0.5 / theta
    W[1 : n + 1, 1:], W[n + 1 :, 1:] = np.eye(n) / np.sqrt(2.0), -np.eye(n) / np.sqrt(2.0)
    np.testing.assert_allclose(W.T @ W, np.eye(n + 1), atol=1e-15)
    Z = generator.standard_normal((2 * n + 1, 2 * n + 1))
    Z += Z.T
    i, j = pair_indices(n)
    x, s = np.arange(1, n + 1), np.arange(n + 1, 2 * n + 1)
    pairs = np.column_stack([Z[a[i], b[j]] for a in (x, s) for b in (x, s)])
    # Z₀₀ is ω and Z₀ᵢ is √ω times what the parts keep.
    ends = np.column_stack([Z[0, x], Z[0, s]]) / np.sqrt(omega)
    squares = np.column_stack([Z[x, x], Z[x, s], Z[s, s]])
    G = np.empty((n + 1, n + 1))
    relaxation_loops.spread(pairs, ends, squares, Z[0, 0] / omega, omega, G)
    # x_i s_j and s_j x_i are one entry of `pairs`: make Z agree with that.
    np.testing.assert_allclose(G, W.T @ Z @ W, atol=1e-12)
