"""The box with equality constraints: exact projections, linear programs, first-order conditions."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from scipy.optimize import linprog

import indefinite_opt as iopt
from indefinite_opt.quadratic.programs.paired_box import FirstOrder, project_line
from indefinite_opt.quadratic.programs.paired_qp import PairedQP, kernel_qp

Array = NDArray[np.float64]

Y = np.array([1, 1, -1, -1, 1])


def box(upper: float, lines: int, total: float = 0.0, y: Array = Y) -> PairedQP:
    """F = ½‖x‖² with the constraints; only those are looked at."""
    problem = iopt.KernelProblem(np.eye(y.size), y)
    return kernel_qp(problem, 1.0, 0.0, upper, lines, total=total)


def exact_projection(x: Array, a: Array, b: Fraction, upper: float) -> list[Fraction] | None:
    """clip(x - ta, 0, u) with aᵀz = b, t between two breakpoints by interpolation; None if none."""
    points = [Fraction(float(v)) for v in x]
    signs, top = [int(s) for s in a], None if np.isinf(upper) else Fraction(upper)

    def at(t: Fraction) -> list[Fraction]:
        moved = [max(v - t * s, Fraction(0)) for v, s in zip(points, signs, strict=True)]
        return moved if top is None else [min(v, top) for v in moved]

    def level(t: Fraction) -> Fraction:
        return sum((s * v for s, v in zip(signs, at(t), strict=True)), Fraction(0))

    kinks = {s * v for s, v in zip(signs, points, strict=True)}
    if top is not None:
        kinks |= {s * (v - top) for s, v in zip(signs, points, strict=True)}
    # Far outside all kinks the level is constant or goes on as it does there.
    far = 1 + max(map(abs, kinks)) + abs(b)
    order = sorted([*kinks, -far, far])
    for low, high in itertools.pairwise(order):
        first, last = level(low), level(high)
        if first >= b >= last:
            share = Fraction(0) if first == last else (first - b) / (first - last)
            return at(low + share * (high - low))
    return None


@pytest.mark.parametrize("upper", [0.25, 3.0, np.inf])
@pytest.mark.parametrize("size", [1e-3, 1e6])
def test_projections_are_exact(upper: float, size: float) -> None:
    """Against rational arithmetic; sums within the rounding of what is projected."""
    generator = np.random.default_rng([int(size > 1), int(min(upper, 9.0) * 4)])
    for trial in range(24):
        n = int(generator.integers(1, 6))
        a = np.ones(n) if trial % 3 == 0 else generator.choice([-1.0, 1.0], n)
        x = size * generator.standard_normal(n)
        if trial % 4 == 0:
            x = size * generator.integers(-1, 2, n).astype(float)
        b = float(a @ generator.integers(0, 5, n)) / 4.0 * min(upper, 2.0)
        expected = exact_projection(x, a, Fraction(b), upper)
        assert expected is not None
        found = project_line(x, a, b, upper)
        rounding = 1e-15 * n * max(1.0, float(np.abs(x).max()))
        assert_allclose(found, [float(v) for v in expected], atol=4.0 * rounding)
        assert 0.0 <= found.min() <= found.max() <= upper
        assert abs(float(a @ found) - b) <= 1e-14 * max(1.0, abs(b), float(np.abs(found).sum()))


@pytest.mark.parametrize(("lines", "total"), [(0, 0.0), (1, 0.0), (2, 1.5)])
def test_points_are_projected_onto_every_constraint(lines: int, total: float) -> None:
    qp = box(1.0, lines, total)
    if lines == 0:
        outside = np.array([-2.0, 0.25, 1.5, 0.0, 1.0])
        assert_array_equal(qp.feasible.project(outside), [0.0, 0.25, 1.0, 0.0, 1.0])
    generator = np.random.default_rng(lines)
    for _ in range(8):
        x = 2.0 * generator.standard_normal(5)
        z = qp.feasible.project(x)
        assert qp.infeasibility(z) <= 1e-15
        # The nearest point: no feasible direction from it leads towards x.
        for _ in range(8):
            other = qp.feasible.random_point(generator)
            assert qp.infeasibility(other) <= 1e-15
            assert (x - z) @ (other - z) <= 1e-13


@pytest.mark.parametrize(("lines", "total"), [(0, 0.0), (1, 0.0), (2, 1.0), (2, 1.7)])
def test_the_linear_minimum_is_that_of_a_linear_program(lines: int, total: float) -> None:
    generator = np.random.default_rng([lines, int(10 * total)])
    for trial in range(15):
        y = np.append([1, -1], generator.choice([-1, 1], int(generator.integers(0, 5))))
        qp = box(float(generator.choice([0.5, 0.9, 2.0])), lines, total, y)
        g = generator.standard_normal(y.size)
        if trial % 3 == 0:
            g = generator.integers(-1, 2, y.size).astype(float)
        equations = {"A_eq": qp.feasible.A, "b_eq": qp.feasible.b} if lines else {}
        expected = linprog(g, bounds=[(0.0, qp.feasible.upper)] * y.size, **equations)
        if expected.status == 0:
            assert qp.feasible.linear_minimum(g) == pytest.approx(expected.fun, abs=1e-12)


def test_the_linear_minimum_without_upper_bound() -> None:
    """A pair of opposite classes, or one weight, of negative cost can grow without end."""
    y = np.array([1, -1])
    for lines, cost, expected in (
        (0, [0.0, 1.0], 0.0), (0, [-1e-9, 1.0], -np.inf), (1, [-1.0, 1.0], 0.0),
        (1, [-1.0, 0.5], -np.inf), (1, [-1.0, 2.0], 0.0),
    ):  # fmt: skip
        assert box(np.inf, lines, y=y).feasible.linear_minimum(np.array(cost)) == expected
    assert box(np.inf, 2, 3.0, y).feasible.linear_minimum(np.array([-1.0, 3.0])) == 3.0


def test_how_far_a_feasible_point_is_beside_the_largest_weight_or_the_range() -> None:
    """Both weights move by up to t times the smaller of max x and the upper bound."""
    for upper, lines, total, x, expected in (
        (4.0, 0, 0.0, [-1.0, 2.0], 0.5), (4.0, 0, 0.0, [1.0, 5.0], 0.25),
        (4.0, 0, 0.0, [0, 0], 0.0), (0.5, 0, 0.0, [-1.0, 2.0], 3.0),
        # 3 and 1 meet at 2, and -1 and 4 at 1.5.
        (4.0, 1, 0.0, [3.0, 1.0], 1 / 3), (4.0, 1, 0.0, [-1.0, 4.0], 5 / 8),
        # Both have to become 5 or 1; 9 and 1 are the ends of what they may be.
        (9.0, 2, 10.0, [3.0, 1.0], 4 / 3), (9.0, 2, 2.0, [5.0, 1.0], 4 / 5),
        (9.0, 2, 10.0, [0, 0], np.inf), (9.0, 2, 0.5, [0, 0], np.inf),
    ):  # fmt: skip
        qp = box(upper, lines, total, np.array([1, -1]))
        assert qp.infeasibility(np.array(x, dtype=float)) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(20))
def test_how_far_a_feasible_point_is_as_by_a_linear_program(seed: int) -> None:
    """min t with |z - x| ≤ t·reach over the box and the lines; bounds of different sizes."""
    g = np.random.default_rng(seed)
    n = int(g.integers(2, 9))
    y = np.append([1, -1], g.choice([-1, 1], n - 2))
    upper = g.random(n) * 10.0 ** g.integers(-3, 2, n)
    qp = box(upper, 1, y=y)
    x = np.clip(g.standard_normal(n), 0.0, upper) + 0.1 * g.standard_normal(n)
    reach = np.minimum(np.max(np.abs(x)), upper)[:, None]
    moves = np.vstack([np.hstack([np.eye(n), -reach]), np.hstack([-np.eye(n), -reach])])
    least = linprog(
        np.append(np.zeros(n), 1.0), moves, np.concatenate([x, -x]),
        np.append(y, 0.0)[None, :], [0.0], [*((0.0, end) for end in upper), (0.0, None)],
    )  # fmt: skip
    # HiGHS has a tolerance of 1e-7 in units of the program, of which reach may be a thousandth.
    assert qp.infeasibility(x) == pytest.approx(least.fun, rel=1e-5, abs=1e-4)


def test_what_counts_as_being_at_a_bound() -> None:
    """Within tol of the largest weight, or of the upper bound where that is less."""
    x = np.array([0.0, 0.01, 0.0101, 0.5, 1.0])
    lower, upper = box(np.inf, 1).feasible.at_bounds(x, 0.01)
    assert_array_equal(lower, [True, True, False, False, False])
    assert not upper.any()
    lower, upper = box(2.0, 1).feasible.at_bounds(np.array([0.0, 0.03, 1.97, 1.99, 4.0]), 0.01)
    assert_array_equal(lower, [True, False, False, False, False])
    assert_array_equal(upper, [False, False, False, True, True])


def pairs(qp: PairedQP, x: Array, g: Array) -> float:
    """The steepest feasible exchange of two weights, or change of one where no line holds it."""
    y = qp.problem.y
    worst = 0.0
    for i in range(qp.n):
        for up in (True, False):
            if not (x[i] < qp.feasible.upper if up else x[i] > 0.0):
                continue
            slope = g[i] if up else -g[i]
            if qp.feasible.lines == 0:
                worst = max(worst, -slope)
            for j in range(qp.n):
                # The line keeps its value: yᵢdᵢ + yⱼdⱼ = 0 with |dᵢ| = |dⱼ| = 1.
                down = (y[j] == y[i]) == up
                allowed = x[j] > 0.0 if down else x[j] < qp.feasible.upper
                same = qp.feasible.lines == 1 or (qp.feasible.lines == 2 and y[i] == y[j])
                if i != j and same and allowed:
                    worst = max(worst, -slope + (g[j] if down else -g[j]))
    return worst


@pytest.mark.parametrize(("lines", "total"), [(0, 0.0), (1, 0.0), (2, 2.0)])
def test_residuals_and_multipliers(lines: int, total: float) -> None:
    """The residual by all pairs; ∇F + Aᵀν is zero on average on the free weights of a line."""
    generator = np.random.default_rng([5, lines])
    for _ in range(40):
        y = np.append([1, -1], generator.choice([-1, 1], int(generator.integers(0, 5))))
        qp = box(1.0, lines, total, y)
        x = np.clip(generator.uniform(-0.7, 1.7, y.size), 0.0, 1.0)
        g = generator.standard_normal(y.size)
        found = qp.feasible.first_order(x, g)
        assert found.residual == pytest.approx(pairs(qp, x, g), abs=1e-14)
        assert found.lines.shape == (lines,)
        assert_allclose(found.reduced, g + qp.feasible.A.T @ found.lines, atol=1e-14)
        free = (x > 0.0) & (x < 1.0)
        for group in {0: [], 1: [free], 2: [free & (y > 0), free & (y < 0)]}[lines]:
            if group.any():
                signs = y[group] if lines == 1 else np.ones(int(group.sum()))
                assert float((signs * found.reduced[group]).mean()) == pytest.approx(0.0, abs=1e-14)


def test_the_level_of_a_line_without_free_weights() -> None:
    """The middle of the interval that the weights at the bounds leave; its finite end; else 0."""
    qp, zero = box(1.0, 1), np.where(Y > 0, 0.0, 1.0)
    g = np.array([-3.0, 1.0, 7.0, 2.0, 4.0])
    for x, tol, residual, level in (
        # May rise in y∘x: 1 and the negative class at 1, with -y∘g = 3, 7; may fall: -1, 2, -4.
        (np.array([0.0, 1.0, 1.0, 0.0, 1.0]), 0.0, 11.0, 0.5 * (7.0 - 4.0)),
        # Where all may rise only, the level is the largest.
        (zero, 0.0, 0.0, 7.0),
        (1.0 - zero, 0.0, 0.0, -4.0),
        # With a tolerance as wide as the box all are at both ends: no weight moves.
        (np.full(5, 0.5), 1.0, 0.0, 0.0),
    ):
        found = qp.feasible.first_order(x, g, tol)
        assert (found.residual, float(found.lines[0])) == (residual, level)


def test_signs_of_multipliers_and_complementarity() -> None:
    """2·0.5 + 0·1 from below and 3·(2 - 1) from above."""
    first_order = FirstOrder(0.0, np.empty(0), np.array([2.0, -3.0]))
    lower, upper = first_order.lower, first_order.upper
    assert (lower.tolist(), upper.tolist()) == ([2.0, 0.0], [0.0, 3.0])
    x, y = np.array([0.5, 1.0]), np.array([1, -1])
    assert box(2.0, 1, y=y).feasible.complementarity(x, lower, upper) == 4.0
    assert box(2.0, 1, y=y).feasible.complementarity(-x, -lower, -upper) == 1.0 + 9.0
    assert box(np.inf, 1, y=y).feasible.complementarity(x, lower, upper) == 1.0
    assert box(2.0, 1, y=y).feasible.complementarity(x, lower, None) == 1.0
