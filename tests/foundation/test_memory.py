"""Large arrays take over the memory of earlier ones, but never of one that is still used."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from indefinite_opt import kernels
from indefinite_opt.foundation import large_array, memory

ROWS = 1500
"""18 megabytes for a square matrix."""


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


@pytest.fixture(autouse=True)
def _nothing_is_kept() -> None:
    gc.collect()
    memory._SPARE.clear()


def test_memory_is_taken_over_when_the_last_view_is_gone() -> None:
    first = large_array(ROWS, ROWS)
    first[:] = 1.0
    place, view = address(first), first[1:, ::2].T
    del first
    second = large_array(ROWS, ROWS)
    second[:] = 2.0
    assert np.all(view == 1.0)
    del view
    assert address(large_array(ROWS - 1, ROWS)) == place
    assert np.all(second == 2.0)


@pytest.mark.parametrize(
    ("rows", "kept"), [(ROWS, 1), (1400, 0), (round((memory.MOST_BYTES / 8) ** 0.5) + 9, 0)]
)
def test_one_block_of_a_middle_size_is_kept(rows: int, kept: int) -> None:
    arrays = [large_array(rows, rows) for _ in range(3)]
    assert {array.shape for array in arrays} == {(rows, rows)}
    assert all(array.flags.c_contiguous and array.flags.writeable for array in arrays)
    del arrays
    assert len(memory._SPARE) == kept


def test_another_size_gives_up_what_is_kept() -> None:
    large_array(ROWS, ROWS)
    assert len(memory._SPARE) == 1
    kept = large_array(2 * ROWS, ROWS)
    assert not memory._SPARE
    del kept
    large_array(ROWS, 2 * ROWS)
    assert [each.size for each in memory._SPARE] == [16 * ROWS**2]
    large_array(6000, 6000)
    assert not memory._SPARE


def test_a_kernel_matrix_of_a_user_keeps_its_values() -> None:
    X = np.random.default_rng(0).standard_normal((ROWS, 3))
    first = kernels.get("gaussian")(X)
    copy = first.copy()
    kernels.get("sigmoid")(X)
    kernels.get("linear")(X)
    assert np.array_equal(first, copy)
