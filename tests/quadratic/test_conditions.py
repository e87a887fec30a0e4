"""Each condition on a box by itself: what it leaves, and where rounding must not decide."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from indefinite_opt.quadratic.bracket.minorant import Multipliers, lower_bound
from indefinite_opt.quadratic.bracket.optimality_conditions import Box, Conditions, parallel_columns
from indefinite_opt.quadratic.bracket.scaled_box import Bound, BoxQuadratic

Array = NDArray[np.float64]

EPS = 2.0**-52


def conditions(
    H: Array, c: Array | None = None, rows: Array | None = None, rhs: Array | None = None,
    lower: Array | None = None, upper: Array | None = None,
) -> Conditions:  # fmt: skip
    """On the unit box without rows, unless told otherwise."""
    n = len(H)
    rows = np.zeros((0, n)) if rows is None else np.asarray(rows, float)
    return Conditions(BoxQuadratic(
        np.asarray(H, float), np.zeros(n) if c is None else np.asarray(c, float), rows,
        np.zeros(len(rows)) if rhs is None else np.asarray(rhs, float),
        np.zeros(n) if lower is None else np.asarray(lower, float),
        np.ones(n) if upper is None else np.asarray(upper, float),
    ))  # fmt: skip


def part(conditions: Conditions, lower: list[float], upper: list[float]) -> Box:
    """A part of the whole box, with nothing supposed of the minimiser."""
    n = conditions.whole.n
    none = np.zeros(n, bool)
    return Box(np.array(lower, float), np.array(upper, float), none, none.copy())


# --------------------------------------------------------------------------------- second order


@pytest.mark.parametrize(
    ("rows", "excess"),
    [
        # 1 + 1 - 2(1 + δ) = -2δ, and the sizes of its terms are 4.
        ([[1.0, 1.0]], 32),
        ([[-1.0, -1.0]], 32),
        # 1 - (1 + δ)² = -2δ - δ², and the sizes are 2.
        (None, 16),
    ],
)
def test_curvature_counts_as_negative_beyond_its_rounding(
    rows: list[list[float]] | None, excess: int
) -> None:
    """The sum must exceed 16 eps of the sizes of its terms."""
    for factor, believed in ((0.7, False), (1.4, True)):
        H = np.ones((2, 2))
        H[0, 1] = H[1, 0] = 1.0 + round(excess * factor) * EPS
        found = conditions(H, rows=rows).exclusive
        np.testing.assert_array_equal(found, [[False, believed], [believed, False]])
    # Signs of a row turn the exchange into a common move, along which f is curved upwards.
    H[0, 1] = H[1, 0] = 3.0
    assert not conditions(H, rows=[[1.0, -1.0]]).exclusive.any()
    H[0, 1] = H[1, 0] = -3.0
    assert conditions(H, rows=[[1.0, -1.0]]).exclusive[0, 1]


def test_large_terms_of_one_sign_do_not_hide_a_negative_curvature() -> None:
    """-1e-13 of terms of size 2 is believed, of 1e3 is not; nor is that of -1e3 in another pair."""
    H = np.diag([1.0, 1.0, 1e3, 1e3])
    H[0, 1] = H[1, 0] = 1.0 + 0.5e-13
    H[2, 3] = H[3, 2] = 1e3 + 0.5e-13
    line = conditions(H, rows=np.ones((1, 4))).exclusive
    assert line[0, 1]
    assert not line[2, 3]
    H[0, 0] = -1e3
    assert conditions(H, rows=np.ones((1, 4))).exclusive[0, 1]


def test_one_variable_alone_and_pairs_where_no_row_holds_them() -> None:
    """x₀ and x₁ are on a row, x₂, x₃ and x₄ are not."""
    H = np.diag([-1.0, -1.0, 0.0, 1.0, 2.0])
    H[3, 4] = H[4, 3] = 1.5
    H[0, 3] = H[3, 0] = 9.0
    found = conditions(H, rows=[[1.0, 1.0, 0.0, 0.0, 0.0]]).exclusive
    expected = np.zeros((5, 5), bool)
    expected[0, 1] = expected[1, 0] = True  # -1 - 1 along the row
    expected[2, 2] = True  # flat by itself
    expected[3, 4] = expected[4, 3] = True  # 2 - 1.5² < 0
    np.testing.assert_array_equal(found, expected)
    each = conditions(H, rows=[[1.0, 1.0, 0.0, 0.0, 0.0]])
    start = each.consistent(each.start())
    assert start is not None
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
    assert each.consistent(replace(box.freed(2), binary=np.array([False, False, True]))) is None


def test_a_binary_variable_has_its_ends_only() -> None:
    """An interval without the lower end is the upper one, and one with neither is empty."""
    each = exclusive_pair()
    binary = replace(each.start(), binary=np.array([False, False, True]))
    for (low, high), expected in (
        ((0.0, 0.5), (0.0, 0.0)), ((0.5, 1.0), (1.0, 1.0)), ((0.0, 1.0), (0.0, 1.0)),
        ((0.25, 0.75), None),
    ):  # fmt: skip
        left = each.consistent(binary.narrowed(2, low, high))
        if expected is None:
            assert left is None
        else:
            assert (left.lower[2], left.upper[2]) == expected


# ----------------------------------------------------------------------------- equality constraints


def test_what_a_row_leaves_of_each_interval() -> None:
    """x₀ + x₁ - x₂ = 1.5 with x₁ ≤ ½: x₀ = 1.5 - x₁ + x₂ ≥ 1, x₁ ≥ ½ + x₂, x₂ ≤ 0."""
    each = conditions(np.eye(3), rows=[[1.0, 1.0, -1.0]], rhs=[1.5])
    left = each.on_lines(part(each, [0.0, 0.0, 0.0], [1.0, 0.5, 1.0]))
    np.testing.assert_allclose(left.lower, [1.0, 0.5, 0.0], atol=1e-11)
    np.testing.assert_allclose(left.upper, [1.0, 0.5, 0.0], atol=1e-11)
    assert np.all(left.lower <= [1.0, 0.5, 0.0])
    assert np.all(left.upper >= [1.0, 0.5, 0.0])
    fixed_loss = each.on_lines(part(each, [0.0, 0.0, 0.25], [1.0, 1.0, 0.5]))
    np.testing.assert_allclose(fixed_loss.lower, [0.75, 0.75, 0.25], atol=1e-11)
    np.testing.assert_allclose(fixed_loss.upper, [1.0, 1.0, 0.5], atol=1e-11)
    assert each.on_lines(part(each, [0.0, 0.0, 0.75], [1.0, 1.0, 1.0])) is None
    assert each.on_lines(part(each, [0.0, 0.0, 0.0], [0.5, 0.5, 1.0])) is None


@pytest.mark.parametrize(("off", "holds"), [(5e-12, True), (7e-12, False)])
def test_a_row_is_missed_by_more_than_rounding(off: float, holds: bool) -> None:
    """1 + 1 = 2 by 1e-12 of 1 + 1 + 1 + 1 + 2; the same from above and below."""
    for sign in (1.0, -1.0):
        each = conditions(np.eye(2), rows=np.ones((1, 2)), rhs=[2.0 + sign * off])
        assert (each.on_lines(part(each, [1.0, 1.0], [1.0, 1.0])) is not None) == holds


def test_intervals_are_cut_a_little_further_out() -> None:
    """Between one and ten times 1e-12 of the sizes in the row: rounding never cuts a minimiser."""
    generator = np.random.default_rng(0)
    for _ in range(100):
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


def test_ends_that_are_whole_numbers_are_not_cut_to_whole_numbers() -> None:
    """As for C = 3: on x_1 + x_2 = 2.5 both are at most 2.5, not 2."""
    row, ends = np.ones((1, 2)), np.array([3, 3])
    quadratic = BoxQuadratic(-np.eye(2), np.zeros(2), row, np.array([2.5]), 0 * ends, ends)
    box = Conditions(quadratic).on_lines(Conditions(quadratic).start())
    assert box is not None
    np.testing.assert_allclose(box.upper, 2.5, rtol=1e-9)


def test_rows_that_share_variables_cut_each_others_intervals() -> None:
    """2x₀ + 1e-3·x₁ = 1 and x₀ - x₂ = ¼ leave x₀ in [0.4995, ½], and x₂ a quarter less."""
    rows = [[2.0, 1e-3, 0.0], [1.0, 0.0, -1.0]]
    each = conditions(np.eye(3), rows=rows, rhs=[1.0, 0.25])
    left = each.tightened(each.start())
    np.testing.assert_allclose(left.lower, [0.4995, 0.0, 0.2495], atol=1e-8)
    np.testing.assert_allclose(left.upper, [0.5, 1.0, 0.25], atol=1e-8)
    # Each row alone has points: x₀ + x₁ = 1 and x₀ - x₁ = 2 have none in common.
    each = conditions(np.eye(2), rows=[[1.0, 1.0], [1.0, -1.0]], rhs=[1.0, 2.0])
    assert each.tightened(each.start()) is None
    # A row without entries is met or not whatever the box is.
    empty = conditions(np.eye(2), rows=[[0.0, 0.0]], rhs=[1.0])
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


# --------------------------------------------------------------------------- parts and reductions


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


@pytest.mark.parametrize("slope", [2.0, -2.0])
def test_a_tangent_cuts_off_what_is_no_better_than_a_value(slope: float) -> None:
    """f = slope·x₀ + x₁² on [0, 1]²: f < ½ leaves a quarter of x₀; f < min f - 1 leaves its end."""
    each = conditions(np.diag([0.0, 2.0]), [slope, 0.0])
    box, least = part(each, [0.0, 0.0], [1.0, 1.0]), min(slope, 0.0)
    scaled = each.whole.scaled(box.lower, box.upper)
    # The minorant is constant in x₁, and falls by 1 a unit of d in x₀: what conditions leave is not
    # looked at here.
    bound = Bound(least, np.zeros(2), np.array([0.5 * slope, 0.0]), np.zeros(0))
    plain = replace_tightened(each)
    left = plain.reduced(box, scaled, bound, least + 0.5)
    low, high = (0.0, 0.25) if slope > 0.0 else (0.75, 1.0)
    np.testing.assert_allclose([left.lower[0], left.upper[0]], [low, high], atol=1e-11)
    assert left.lower[0] <= low
    assert left.upper[0] >= high
    assert left.lower[0] < low or slope > 0.0
    assert left.upper[0] > high or slope < 0.0
    assert (left.lower[1], left.upper[1]) == (0.0, 1.0)
    nothing = plain.reduced(box, scaled, bound, least - 1.0)
    end = 0.0 if slope > 0.0 else 1.0
    np.testing.assert_allclose([nothing.lower[0], nothing.upper[0]], [end, end], atol=1e-11)
    whole = plain.reduced(box, scaled, bound, least + 2.0)
    np.testing.assert_allclose([whole.lower[0], whole.upper[0]], [0.0, 1.0], atol=1e-11)


def test_large_values_leave_room_for_their_rounding() -> None:
    """At f ≈ 1e9 the difference of two values is known to 1e-7; 1e-12 of that is left, 1e-3."""
    each = replace_tightened(conditions(np.zeros((1, 1)), [1.0], lower=[1e9], upper=[1e9 + 1.0]))
    box = part(each, [1e9], [1e9 + 1.0])
    scaled = each.whole.scaled(box.lower, box.upper)
    bound = Bound(1e9, np.zeros(1), np.array([0.5]), np.zeros(0))
    left = each.reduced(box, scaled, bound, 1e9 + 0.25)
    assert 0.9e-3 <= left.upper[0] - 1e9 - 0.25 <= 1.1e-3


def test_every_rounding_of_a_reduction_makes_it_smaller() -> None:
    """From -¼ to 0 at slope 1: x ≤ ¼, and 1e-12 of it twice, for the room and for the step."""
    each = replace_tightened(conditions(np.zeros((1, 1)), [1.0]))
    box = part(each, [0.0], [1.0])
    scaled = each.whole.scaled(box.lower, box.upper)
    for slope in (0.5, -0.5):
        bound = Bound(-0.25, np.zeros(1), np.array([slope]), np.zeros(0))
        left = each.reduced(box, scaled, bound, 0.0)
        kept = left.upper[0] - left.lower[0]
        assert 0.25 * (1.0 + 1.9e-12) <= kept <= 0.25 * (1.0 + 2.1e-12)


class Untightened(Conditions):
    """A reduction by itself."""

    def tightened(self, box: Box) -> Box | None:
        return box


def replace_tightened(each: Conditions) -> Conditions:
    return Untightened(each.whole)


def test_conditions_follow_from_each_other_until_none_does() -> None:
    """x₂ is binary as f is concave in it; x₀ + x₁ = ½ leaves x₀ ≤ ½, and x₀ - x₃ = ¼ x₃ ≤ ¼."""
    H, rows = np.diag([1.0, 1.0, -1.0, 1.0]), [[1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, -1.0]]
    each = conditions(H, np.zeros(4), rows, [0.5, 0.25])
    left = each.tightened(each.start().narrowed(2, 0.5, 1.0))
    assert left is not None
    np.testing.assert_allclose(left.lower, [0.25, 0.0, 1.0, 0.0], atol=1e-11)
    np.testing.assert_allclose(left.upper, [0.5, 0.25, 1.0, 0.25], atol=1e-11)
    np.testing.assert_array_equal(each.begin().upper[[0, 1, 3]], left.upper[[0, 1, 3]])
    # Where rounding leaves no point at all a search begins with everything.
    empty = conditions(np.eye(2), rows=np.ones((1, 2)), rhs=[5.0])
    assert empty.tightened(empty.start()) is None
    np.testing.assert_array_equal(empty.begin().upper, [1.0, 1.0])


def test_a_reduction_is_tightened() -> None:
    """f = -x₀² is least at 1; cut off below ½, x₀ is at an end and so at 1."""
    each = conditions(np.array([[-2.0]]), [0.0])
    scaled = each.whole.scaled(np.zeros(1), np.ones(1))
    bound = lower_bound(scaled, Multipliers.spectral(1), np.zeros(1))
    left = each.reduced(each.start(), scaled, bound, -0.5)
    assert (left.lower[0], left.upper[0]) == (1.0, 1.0)
