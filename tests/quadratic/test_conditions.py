"""Conditions on a box: what each leaves, where rounding must not decide, and every minimiser."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from helpers.boxes import degenerate, general_quadratic, holds
from helpers.exact import global_minimisers
from indefinite_opt.quadratic.bracket.lagrangian import lagrangian_multipliers
from indefinite_opt.quadratic.bracket.minorant import Multipliers, lower_bound
from indefinite_opt.quadratic.bracket.optimality_conditions import Box, Conditions, parallel_columns
from indefinite_opt.quadratic.bracket.scaled_box import Bound, BoxQuadratic

EPS = 2.0**-52


def conditions(
    H: Any, c: Any = 0.0, rows: Any = (), rhs: Any = 0.0, lower: Any = 0.0, upper: Any = 1.0
) -> Conditions:
    """On the unit box without rows, unless told otherwise."""
    H = np.asarray(H, float)
    rows = np.array(rows, float).reshape(-1, len(H))
    c, lower, upper = (np.array(np.broadcast_to(end, len(H)), float) for end in (c, lower, upper))
    rhs = np.array(np.broadcast_to(rhs, len(rows)), float)
    return Conditions(BoxQuadratic(H, c, rows, rhs, lower, upper))


def part(conditions: Conditions, lower: list[float], upper: list[float]) -> Box:
    """A part of the whole box, with nothing supposed of the minimiser."""
    n = conditions.whole.n
    none = np.zeros(n, bool)
    return Box(np.array(lower, float), np.array(upper, float), none, none.copy())


def assert_ends(box: Box, lower: list[float], upper: list[float], atol: float = 1e-11) -> None:
    """The box is this one or a little wider."""
    np.testing.assert_allclose(box.lower, lower, atol=atol)
    np.testing.assert_allclose(box.upper, upper, atol=atol)
    assert np.all(box.lower <= lower)
    assert np.all(box.upper >= upper)


# 1 + 1 - 2(1 + δ) = -2δ, with terms of sizes 4; without a row 1 - (1 + δ)² = -2δ - δ², with 2.
@pytest.mark.parametrize(("rows", "excess"), [([1.0, 1.0], 32), ([-1.0, -1.0], 32), ([], 16)])
def test_curvature_counts_as_negative_beyond_its_rounding(rows: list[float], excess: int) -> None:
    """The sum must exceed 16 eps of the sizes of its terms."""
    for factor, believed in ((0.7, False), (1.4, True)):
        H = np.ones((2, 2))
        H[0, 1] = H[1, 0] = 1.0 + round(excess * factor) * EPS
        found = conditions(H, rows=rows).exclusive
        np.testing.assert_array_equal(found, [[False, believed], [believed, False]])
    # Signs of a row turn the exchange into a common move, along which f is curved upwards.
    H[0, 1] = H[1, 0] = 3.0
    assert not conditions(H, rows=[1.0, -1.0]).exclusive.any()
    H[0, 1] = H[1, 0] = -3.0
    assert conditions(H, rows=[1.0, -1.0]).exclusive[0, 1]
    # -1e-13 of terms of size 2 is believed, of 1e3 is not; nor is that of -1e3 in another pair.
    H = np.diag([1.0, 1.0, 1e3, 1e3])
    H[0, 1] = H[1, 0] = 1.0 + 0.5e-13
    H[2, 3] = H[3, 2] = 1e3 + 0.5e-13
    line = conditions(H, rows=np.ones(4)).exclusive
    assert (line[0, 1], line[2, 3]) == (True, False)
    H[0, 0] = -1e3
    assert conditions(H, rows=np.ones(4)).exclusive[0, 1]


def test_one_variable_alone_and_pairs_where_no_row_holds_them() -> None:
    """x₀ and x₁ are on a row, x₂, x₃ and x₄ are not."""
    H = np.diag([-1.0, -1.0, 0.0, 1.0, 2.0])
    H[3, 4] = H[4, 3] = 1.5
    H[0, 3] = H[3, 0] = 9.0
    each = conditions(H, rows=[1.0, 1.0, 0.0, 0.0, 0.0])
    expected = np.zeros((5, 5), bool)
    expected[0, 1] = expected[1, 0] = True  # -1 - 1 along the row
    expected[2, 2] = True  # flat by itself
    expected[3, 4] = expected[4, 3] = True  # 2 - 1.5² < 0
    np.testing.assert_array_equal(each.exclusive, expected)
    start = each.consistent(each.start())
    np.testing.assert_array_equal(start.binary, [False, False, True, False, False])
    assert not start.free.any()
    assert start.live.all()


def exclusive_pair() -> Conditions:
    """x₀ and x₁ are not both free: 2 · 1 < 3²."""
    return conditions(np.array([[2.0, 3.0, 0.0], [3.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))


def test_of_an_exclusive_pair_one_is_at_an_end() -> None:
    each = exclusive_pair()
    box = each.start()
    np.testing.assert_array_equal(each.consistent(box.freed(0)).binary, [False, True, False])
    np.testing.assert_array_equal(each.consistent(box.freed(2)).binary, [False, False, False])
    assert each.consistent(box.freed(0).freed(1)) is None
    assert each.consistent(box.freed(0).freed(2)) is not None
    third = np.array([False, False, True])
    assert each.consistent(replace(box.freed(2), binary=third)) is None
    # An interval of a binary variable without its lower end is the upper one.
    binary = replace(box, binary=third)
    for low, high, end in ((0.0, 0.5, 0.0), (0.5, 1.0, 1.0)):
        left = each.consistent(binary.narrowed(2, low, high))
        assert left.lower[2] == left.upper[2] == end
    whole = each.consistent(binary)
    assert (whole.lower[2], whole.upper[2]) == (0.0, 1.0)
    assert each.consistent(binary.narrowed(2, 0.25, 0.75)) is None


def test_what_a_row_leaves_of_each_interval() -> None:
    """x₀ + x₁ - x₂ = 1.5 with x₁ ≤ ½: x₀ = 1.5 - x₁ + x₂ ≥ 1, x₁ ≥ ½ + x₂, x₂ ≤ 0."""
    each = conditions(np.eye(3), rows=[1.0, 1.0, -1.0], rhs=1.5)
    left = each.on_lines(part(each, [0.0, 0.0, 0.0], [1.0, 0.5, 1.0]))
    assert_ends(left, [1.0, 0.5, 0.0], [1.0, 0.5, 0.0])
    left = each.on_lines(part(each, [0.0, 0.0, 0.25], [1.0, 1.0, 0.5]))
    assert_ends(left, [0.75, 0.75, 0.25], [1.0, 1.0, 0.5])
    assert each.on_lines(part(each, [0.0, 0.0, 0.75], [1.0, 1.0, 1.0])) is None
    assert each.on_lines(part(each, [0.0, 0.0, 0.0], [0.5, 0.5, 1.0])) is None
    # 1 + 1 = 2 is missed by 1e-12 of 1 + 1 + 1 + 1 + 2; the same from above and below.
    for off, met in ((5e-12, True), (7e-12, False), (-5e-12, True), (-7e-12, False)):
        each = conditions(np.eye(2), rows=[1.0, 1.0], rhs=2.0 + off)
        assert (each.on_lines(part(each, [1.0, 1.0], [1.0, 1.0])) is not None) == met
    # Ends that are whole numbers, as for C = 3, are not cut to whole numbers.
    row, ends = np.ones((1, 2)), np.array([3, 3])
    each = Conditions(BoxQuadratic(-np.eye(2), np.zeros(2), row, np.array([2.5]), 0 * ends, ends))
    np.testing.assert_allclose(each.on_lines(each.start()).upper, 2.5, rtol=1e-9)


def test_intervals_are_cut_a_little_further_out() -> None:
    """Between one and ten times 1e-12 of the sizes in the row: rounding never cuts a minimiser."""
    generator = np.random.default_rng(0)
    for _ in range(40):
        n = int(generator.integers(2, 6))
        signs = generator.choice([-1.0, 1.0], n)
        x = generator.uniform(0.0, 1.0, n)
        lower, upper = np.clip(x - 0.2, 0.0, 1.0), np.clip(x + 0.2, 0.0, 1.0)
        lower[1:], upper[1:] = x[1:], x[1:]
        each = conditions(np.eye(n), rows=signs[None], rhs=[float(signs @ x)])
        left = each.on_lines(part(each, lower.tolist(), upper.tolist()))
        size = float(np.abs(lower).sum() + np.abs(upper).sum() + abs(signs @ x))
        assert 0.9e-12 * size <= left.upper[0] - x[0] <= 1.2e-12 * size or upper[0] <= x[0]
        assert 0.9e-12 * size <= x[0] - left.lower[0] <= 1.2e-12 * size or lower[0] >= x[0]
        np.testing.assert_array_equal(left.lower[1:], x[1:])
        np.testing.assert_array_equal(left.upper[1:], x[1:])


def test_rows_that_share_variables_cut_each_others_intervals() -> None:
    """2x₀ + 1e-3·x₁ = 1 and x₀ - x₂ = ¼ leave x₀ in [0.4995, ½], and x₂ a quarter less."""
    rows = [[2.0, 1e-3, 0.0], [1.0, 0.0, -1.0]]
    each = conditions(np.eye(3), rows=rows, rhs=[1.0, 0.25])
    left = each.tightened(each.start())
    assert_ends(left, [0.4995, 0.0, 0.2495], [0.5, 1.0, 0.25], atol=1e-8)
    # Each row alone has points: x₀ + x₁ = 1 and x₀ - x₁ = 2 have none in common.
    each = conditions(np.eye(2), rows=[[1.0, 1.0], [1.0, -1.0]], rhs=[1.0, 2.0])
    assert each.tightened(each.start()) is None
    # A row without entries is met or not whatever the box is.
    empty = conditions(np.eye(2), rows=[0.0, 0.0], rhs=1.0)
    assert empty.on_lines(empty.start()) is not None


def test_parallel_columns_are_found_exactly() -> None:
    """(1, 3) is a third of (3, 9), and a third of 1 is not 0.333…: 0.1·3 and 0.3 differ."""
    rows = np.array([[1.0, 3.0, 0.0, 0.1, 0.3, 0.0, -2.0], [3.0, 9.0, 0.0, 0.3, 0.9, 2.0, -6.0]])
    found = sorted(sorted(same.tolist()) for same in parallel_columns(rows))
    assert found == [[0, 1, 6], [2], [3], [4], [5]]
    # Along (3, -1) the curvature is 9 + 1 - 6·H₀₁, negative for H₀₁ > 10/6.
    for cross, expected in ((1.6, False), (1.7, True)):
        H = np.eye(7)
        H[0, 1] = H[1, 0] = cross
        pairs = conditions(H, rows=rows).exclusive
        assert pairs[0, 1] == pairs[1, 0] == expected
        assert not pairs[0, 3:].any()


def ends(boxes: list[Box], i: int, each: Conditions) -> list[tuple[float, float]]:
    """The interval of a variable in each box, once binary variables are at their ends."""
    left = [each.consistent(box) for box in boxes]
    return [(float(box.lower[i]), float(box.upper[i])) for box in left if box is not None]


def test_the_parts_of_a_box() -> None:
    each = exclusive_pair()
    box = each.start()
    # x₂ by its interval, no part smaller than a fifth of it.
    for at, where in ((0.5, 0.5), (0.01, 0.2), (0.9, 0.8), (0.3, 0.3)):
        assert ends(each.parts(box, 2, at), 2, each) == [(0.0, where), (where, 1.0)]
    half = box.narrowed(2, 0.5, 1.0)
    assert ends(each.parts(half, 2, 0.0), 2, each) == [(0.5, 0.6), (0.6, 1.0)]
    # x₀ is at one end, the other, or free, as that decides about x₁.
    three = each.parts(box, 0, 0.5)
    assert ends(three, 0, each) == [(0.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
    assert [bool(piece.free[0]) for piece in three] == [False, False, True]
    assert [bool(piece.binary[0]) for piece in three] == [True, True, False]
    # Free already, or x₁ fixed or binary: by its interval.
    assert ends(each.parts(box.freed(0), 0, 0.5), 0, each) == [(0.0, 0.5), (0.5, 1.0)]
    fixed = box.narrowed(1, 1.0, 1.0)
    assert ends(each.parts(fixed, 0, 0.5), 0, each) == [(0.0, 0.5), (0.5, 1.0)]
    binary = replace(box, binary=np.array([False, True, False]))
    assert ends(each.parts(binary, 0, 0.5), 0, each) == [(0.0, 0.5), (0.5, 1.0)]
    assert ends(each.parts(binary, 1, 0.5), 1, each) == [(0.0, 0.0), (1.0, 1.0)]
    # Ends that the box has lost are no parts.
    assert ends(each.parts(binary.narrowed(1, 0.5, 1.0), 1, 0.5), 1, each) == [(1.0, 1.0)]
    upper = ends(each.parts(box.narrowed(0, 0.5, 1.0), 0, 0.5), 0, each)
    assert upper == [(1.0, 1.0), (0.5, 1.0)]


class Untightened(Conditions):
    """A reduction by itself: what conditions leave of it is not looked at."""

    def tightened(self, box: Box) -> Box | None:
        return box


def reduced(
    each: Conditions, lower: list[float], upper: list[float], least: float, slope: float,
    value: float,
) -> Box:  # fmt: skip
    """What is left where f < value, by a minorant that is `least` at an end of x₀.

    It changes by `slope` per unit of d in x₀, and is constant in all other variables.
    """
    box = part(each, lower, upper)
    scaled = each.whole.scaled(box.lower, box.upper)
    slopes = np.append(slope, np.zeros(len(lower) - 1))
    bound = Bound(least, np.zeros(len(lower)), slopes, np.zeros(0))
    return Untightened(each.whole).reduced(box, scaled, bound, value)


@pytest.mark.parametrize("slope", [2.0, -2.0])
def test_a_tangent_cuts_off_what_is_no_better_than_a_value(slope: float) -> None:
    """f = slope·x₀ + x₁² on [0, 1]²: f < ½ leaves a quarter of x₀; f < min f - 1 leaves its end."""
    each, least = conditions(np.diag([0.0, 2.0]), [slope, 0.0]), min(slope, 0.0)

    def left(value: float) -> Box:
        return reduced(each, [0.0, 0.0], [1.0, 1.0], least, 0.5 * slope, value)

    quarter = left(least + 0.5)
    low, high = (0.0, 0.25) if slope > 0.0 else (0.75, 1.0)
    assert_ends(quarter, [low, 0.0], [high, 1.0])
    assert quarter.lower[0] < low or slope > 0.0
    assert quarter.upper[0] > high or slope < 0.0
    end = 0.0 if slope > 0.0 else 1.0
    assert_ends(left(least - 1.0), [end, 0.0], [end, 1.0])
    assert_ends(left(least + 2.0), [0.0, 0.0], [1.0, 1.0])


def test_a_reduction_leaves_room_for_every_rounding() -> None:
    """At f ≈ 1e9 the difference of two values is known to 1e-7; 1e-12 of that is left, 1e-3.

    From -¼ to 0 at slope 1: x ≤ ¼, and 1e-12 of it twice, for the room and for the step.
    """
    far = conditions(np.zeros((1, 1)), [1.0], lower=[1e9], upper=[1e9 + 1.0])
    left = reduced(far, [1e9], [1e9 + 1.0], 1e9, 0.5, 1e9 + 0.25)
    assert 0.9e-3 <= left.upper[0] - 1e9 - 0.25 <= 1.1e-3
    for slope in (0.5, -0.5):
        left = reduced(conditions(np.zeros((1, 1)), [1.0]), [0.0], [1.0], -0.25, slope, 0.0)
        kept = left.upper[0] - left.lower[0]
        assert 0.25 * (1.0 + 1.9e-12) <= kept <= 0.25 * (1.0 + 2.1e-12)


def test_a_slope_of_one_sign_puts_a_variable_at_an_end() -> None:
    """Of ½x₀² - 4x₀ + x₀x₁ + ½x₁² x₀ falls and x₁ is open; of the negative x₁ is where x₀ says."""
    H, c = np.array([[1.0, 1.0], [1.0, 1.0]]), [-4.0, 0.0]
    each = conditions(H, c)
    left = each.at_ends(each.start())
    np.testing.assert_array_equal([left.lower, left.upper], [[1.0, 0.0], [1.0, 1.0]])
    # With x₀ = 1 the slope of x₁ is 1 + x₁ > 0.
    left = each.at_ends(left)
    np.testing.assert_array_equal([left.lower, left.upper], [[1.0, 0.0], [1.0, 0.0]])
    assert each.at_ends(each.start().freed(0)) is None
    assert each.at_ends(each.start().narrowed(0, 0.0, 0.5)) is None
    # A slope that is 0 at an end of the box decides nothing.
    level = conditions(H, [-2.0, 0.0])
    np.testing.assert_array_equal(level.at_ends(level.start()).lower, [0.0, 0.0])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_multiplier_of_a_row_comes_from_variables_off_their_ends(sign: float) -> None:
    """x₀ + x₁ + x₂ = 1 with slopes 0, 1, -1: below its end x₀ has ν ≥ 0, above it ν ≤ 0."""
    each = conditions(np.zeros((3, 3)), [0.0, 1.0, -1.0], sign * np.ones(3), sign)
    whole = each.start()
    np.testing.assert_array_equal(each.at_ends(whole).upper, np.ones(3))
    left = each.at_ends(whole.narrowed(0, 0.0, 0.5))
    np.testing.assert_array_equal([left.lower, left.upper], [[0.0, 0.0, 0.0], [0.5, 0.0, 1.0]])
    left = each.at_ends(whole.narrowed(0, 0.5, 1.0))
    np.testing.assert_array_equal([left.lower, left.upper], [[0.5, 0.0, 1.0], [1.0, 1.0, 1.0]])
    # In a second row a variable has two multipliers.
    two = conditions(np.zeros((3, 3)), [0.0, 1.0, -1.0], [[1.0, 1.0, 1.0], [0.0, 1.0, 1.0]], 1.0)
    for box in (whole, whole.narrowed(0, 0.0, 0.5)):
        np.testing.assert_array_equal(two.at_ends(box).upper[1:], [1.0, 1.0])


def test_conditions_follow_from_each_other_until_none_does() -> None:
    """x₂ is binary as f is concave in it; x₀ + x₁ = ½ leaves x₀ ≤ ½, and x₀ - x₃ = ¼ x₃ ≤ ¼."""
    H, rows = np.diag([1.0, 1.0, -1.0, 1.0]), [[1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, -1.0]]
    each = conditions(H, rows=rows, rhs=[0.5, 0.25])
    left = each.tightened(each.start().narrowed(2, 0.5, 1.0))
    assert_ends(left, [0.25, 0.0, 1.0, 0.0], [0.5, 0.25, 1.0, 0.25])
    np.testing.assert_array_equal(each.begin().upper[[0, 1, 3]], left.upper[[0, 1, 3]])
    # Where rounding leaves no point at all a search begins with everything.
    empty = conditions(np.eye(2), rows=[1.0, 1.0], rhs=5.0)
    assert empty.tightened(empty.start()) is None
    np.testing.assert_array_equal(empty.begin().upper, [1.0, 1.0])
    # A reduction is tightened: f = -x₀² is least at 1; below -½ x₀ is at an end and so at 1.
    each = conditions([[-2.0]])
    scaled = each.whole.scaled(np.zeros(1), np.ones(1))
    bound = lower_bound(scaled, Multipliers.spectral(1), np.zeros(1))
    left = each.reduced(each.start(), scaled, bound, -0.5)
    assert (left.lower[0], left.upper[0]) == (1.0, 1.0)


@pytest.mark.parametrize("kind", ["lines", "rows"])
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 12))]
)
def test_a_minimiser_survives_every_step(seed: int, kind: str) -> None:
    """All those with the fewest free variables do, in fractions: tightened, reduced, divided."""
    generator = np.random.default_rng(seed)
    for _ in range(4 if kind == "lines" else 12):
        q = degenerate(generator) if kind == "lines" else general_quadratic(generator)
        try:
            least, points = global_minimisers(q)
        except ValueError:  # no point
            continue
        each = Conditions(q)
        boxes = [each.tightened(each.start())]
        assert all(holds(boxes[0], x, q) for x in points)
        for _ in range(6):
            found: list[Box] = []
            for box in boxes:
                inside = [x for x in points if holds(box, x, q)]
                if box is None or not inside or not box.live.any():
                    continue
                scaled = q.scaled(box.lower, box.upper)
                m = (lagrangian_multipliers(scaled) if scaled.m and generator.random() < 0.5
                     else Multipliers(generator.random((scaled.m * (scaled.m - 1) // 2, 4)),
                                      generator.standard_normal(scaled.m)))  # fmt: skip
                binary = box.binary[scaled.members]
                bound = lower_bound(scaled, m, generator.uniform(-1, 1, scaled.m), binary)
                assert Fraction(bound.value) <= least
                value = float(least) + generator.choice([1e-9, 1e-3, 1.0])
                left = each.reduced(box, scaled, bound, value)
                assert left is not None
                assert least >= value or all(holds(left, x, q) for x in inside)
                if least >= value:  # rounded down
                    continue
                live = np.flatnonzero(left.live)
                if not live.size:
                    continue
                i = int(generator.choice(live))
                at = float(generator.uniform(left.lower[i], left.upper[i]))
                for piece in each.parts(left, i, at):
                    mine = [x for x in inside if holds(piece, x, q)]
                    tight = each.tightened(piece)
                    assert all(holds(tight, x, q) for x in mine)
                    inside = [x for x in inside if x not in mine] if tight is None else inside
                    if tight is not None:
                        found.append(tight)
                pieces = each.parts(left, i, at)
                assert all(any(holds(piece, x, q) for piece in pieces) for x in inside)
            boxes = found[:4]
