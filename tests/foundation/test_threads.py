"""One BLAS thread, and tiles of work on threads of the package."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from indefinite_opt.foundation import in_tiles, one_thread, pool, product, thread_count, tiles
from indefinite_opt.foundation.threads import libraries


def library_threads() -> set[int]:
    """Of numpy and scipy; solvers of other packages bring libraries of their own."""
    return {each.get_num_threads() for each in libraries()}


@pytest.mark.parametrize(("count", "size"), [(0, 3), (1, 3), (6, 3), (7, 3), (5, 0)])
def test_tiles_cover_everything_once(count: int, size: int) -> None:
    covered = [k for part in tiles(count, size) for k in range(part.start, part.stop)]
    assert covered == list(range(count))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_each_tile_is_worked_on_once_whatever_the_number_of_threads(threads: int) -> None:
    seen = np.zeros(50, int)
    with threadpool_limits(threads):
        in_tiles(lambda part: np.add.at(seen, np.arange(part.start, part.stop), 1), tiles(50, 4))
    assert (seen == 1).all()


def test_the_library_has_one_thread_inside_and_its_own_number_afterwards() -> None:
    with threadpool_limits(2):
        before = library_threads()
        with one_thread():
            assert library_threads() == {1}
            assert thread_count() == 2
            with one_thread():
                assert library_threads() == {1}
            assert library_threads() == {1}
        assert library_threads() == before


def test_the_limit_ends_when_the_last_of_two_threads_leaves_it() -> None:
    """The library has one number for the process: the first to leave must not change it."""
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))
    seen: list[tuple[set[int], int]] = []

    def second() -> None:
        first_is_in.wait(10.0)
        with one_thread():
            second_is_in.set()
            first_is_out.wait(10.0)
            seen.append((library_threads(), thread_count()))

    with threadpool_limits(2):
        other = threading.Thread(target=second)
        other.start()
        with one_thread():
            first_is_in.set()
            second_is_in.wait(10.0)
        first_is_out.set()
        other.join()
        assert seen == [({1}, 2)]
        assert library_threads() == {2}


def test_nested_work_is_not_divided_again() -> None:
    """Two threads that each divided their tiles once more would be more than two."""
    names: set[str] = set()

    def inner(part: slice) -> None:
        names.add(threading.current_thread().name)

    with threadpool_limits(2):
        in_tiles(lambda part: in_tiles(inner, tiles(8, 1)), tiles(4, 1))
    assert 1 <= len(names) <= 2


def test_threads_of_a_pool_count_as_one() -> None:
    with threadpool_limits(2), pool(2) as executor:
        assert list(executor.map(lambda _: thread_count(), range(4))) == [1] * 4


def test_a_failure_in_a_tile_is_raised() -> None:
    def fail(part: slice) -> None:
        raise ZeroDivisionError

    with threadpool_limits(2), pytest.raises(ZeroDivisionError):
        in_tiles(fail, tiles(4, 1))
    assert thread_count() >= 1


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shape", [(3, 4, 5), (700, 300, 200)])
def test_products_agree(threads: int, shape: tuple[int, int, int]) -> None:
    g = np.random.default_rng(0)
    A, B = g.integers(-9, 9, shape[:2]) * 1.0, g.integers(-9, 9, shape[1:]) * 1.0
    with threadpool_limits(threads):
        np.testing.assert_array_equal(product(A, B), A @ B)  # integers: exact in any order
