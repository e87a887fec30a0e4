"""Conditions of first and second order against every global minimiser, in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from helpers.boxes import degenerate, general_quadratic, holds
from helpers.exact import global_minimisers
from indefinite_opt.solvers.branch_and_bound.minorant import BoxQuadratic, Multipliers, lower_bound
from indefinite_opt.solvers.branch_and_bound.optimality_conditions import Box, Conditions


@pytest.mark.parametrize("kind", ["lines", "rows"])
@pytest.mark.parametrize(
    "seed", [*range(2), *(pytest.param(k, marks=pytest.mark.slow) for k in range(2, 80))]
)
def test_a_minimiser_survives_every_step(seed: int, kind: str) -> None:
    """All those with the fewest free variables do: tightened, reduced, divided, tightened again."""
    generator = np.random.default_rng(seed)
    for _ in range(6 if kind == "lines" else 20):
        q = degenerate(generator) if kind == "lines" else general_quadratic(generator)
        try:
            least, points = global_minimisers(q)
        except ValueError:  # no point
            continue
        conditions = Conditions(q)
        boxes = [conditions.tightened(conditions.start())]
        assert all(holds(boxes[0], x, q) for x in points)
        for _ in range(6):
            found: list[Box] = []
            for box in boxes:
                inside = [x for x in points if holds(box, x, q)]
                if box is None or not inside or not box.live.any():
                    continue
                scaled = q.scaled(box.lower, box.upper)
                m = (Multipliers.box_diagonal(scaled) if scaled.m and generator.random() < 0.5
                     else Multipliers.plain(generator.random((scaled.m * (scaled.m - 1) // 2, 4)),
                                            generator.standard_normal(scaled.m)))  # fmt: skip
                binary = box.binary[scaled.members]
                bound = lower_bound(scaled, m, generator.uniform(-1, 1, scaled.m), binary)
                assert Fraction(bound.value) <= least
                value = float(least) + generator.choice([1e-9, 1e-3, 1.0])
                reduced = conditions.reduced(box, scaled, bound, value)
                assert reduced is not None
                assert least >= value or all(holds(reduced, x, q) for x in inside)
                if least >= value:  # rounded down
                    continue
                live = np.flatnonzero(reduced.live)
                if not live.size:
                    continue
                i = int(generator.choice(live))
                at = float(generator.uniform(reduced.lower[i], reduced.upper[i]))
                for part in conditions.parts(reduced, i, at):
                    mine = [x for x in inside if holds(part, x, q)]
                    tight = conditions.tightened(part)
                    assert all(holds(tight, x, q) for x in mine)
                    inside = [x for x in inside if x not in mine] if tight is None else inside
                    if tight is not None:
                        found.append(tight)
                parts = conditions.parts(reduced, i, at)
                assert all(any(holds(part, x, q) for part in parts) for x in inside)
            boxes = found[:4]


@pytest.mark.parametrize("total", [0.5, 1.0, 1.3, 2.0, 2.0 + 1e-12, 2.999999, 3.0])
def test_the_level_of_a_row_where_the_total_is_no_whole_number(total: float) -> None:
    """Σx = t in the unit box with f = cᵀx: the ⌊t⌋ cheapest are 1, the next is the rest."""
    c = np.array([3.0, -1.0, 7.0, 2.0, 2.5])
    q = BoxQuadratic(np.zeros((5, 5)), c, np.ones((1, 5)), np.array([total]),
                     np.zeros(5), np.ones(5))  # fmt: skip
    box = Conditions(q).tightened(Conditions(q).start())
    assert box is not None
    x = np.zeros(5)
    x[np.argsort(c)] = np.clip(total - np.arange(5), 0.0, 1.0)
    assert np.all(box.lower <= x)
    assert np.all(x <= box.upper)
    # Where the total is whole the level is an interval between two of them.
    assert box.live.sum() <= 2


def test_exclusive_pairs_by_their_own_curvature() -> None:
    """Along e_i - e_j of a row, and by the 2 × 2 determinant where there is none."""
    H = np.array([[2.0, 3.0, 0.0], [3.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    free = BoxQuadratic(H, np.zeros(3), np.zeros((0, 3)), np.zeros(0), np.zeros(3), np.ones(3))
    expected = np.zeros((3, 3), bool)
    expected[0, 1] = expected[1, 0] = expected[2, 2] = True
    np.testing.assert_array_equal(Conditions(free).exclusive, expected)
    line = BoxQuadratic(H, np.zeros(3), np.ones((1, 3)), np.ones(1), np.zeros(3), np.ones(3))
    expected[2, 2] = False
    np.testing.assert_array_equal(Conditions(line).exclusive, expected)
    signed = BoxQuadratic(H, np.zeros(3), np.array([[1.0, -1.0, 1.0]]), np.zeros(1),
                          np.zeros(3), np.ones(3))  # fmt: skip
    assert not Conditions(signed).exclusive.any()
