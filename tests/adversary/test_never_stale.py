"""No answer is about a model, a parameter or an array that it was not asked about."""

from __future__ import annotations

import pytest
from changes import sequence


@pytest.mark.parametrize("seed", range(40))
def test_a_sequence_of_changes(seed: int) -> None:
    world = sequence(seed)
    assert world.asked > 10
    assert world.stale == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_two_hundred_sequences(part: int) -> None:
    stale = [each for k in range(40) for each in sequence(1000 + 40 * part + k, 20).stale]
    assert stale == []
