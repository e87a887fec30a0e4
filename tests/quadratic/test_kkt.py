"""Conditions of first and second order against every global minimiser, in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from helpers.boxes import degenerate, general_quadratic, holds
from helpers.exact import global_minimisers
from indefinite_opt.quadratic.bracket.minorant import Multipliers, lower_bound
from indefinite_opt.quadratic.bracket.optimality_conditions import Box, Conditions


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
                     else Multipliers(generator.random((scaled.m * (scaled.m - 1) // 2, 4)),
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
