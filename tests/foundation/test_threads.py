"""One BLAS thread, and threads of the package."""

from __future__ import annotations

import threading

import pytest
from threadpoolctl import threadpool_limits

from indefinite_opt.foundation import one_thread, pool, thread_count, tiles
from indefinite_opt.foundation.threads import libraries


def library_threads() -> set[int]:
    """Of numpy and scipy; solvers of other packages bring libraries of their own."""
    return {each.get_num_threads() for each in libraries()}


@pytest.mark.parametrize(("count", "size"), [(0, 3), (1, 3), (6, 3), (7, 3), (5, 0)])
def test_tiles_cover_everything_once(count: int, size: int) -> None:
    covered = [k for part in tiles(count, size) for k in range(part.start, part.stop)]
    assert covered == list(range(count))


def test_the_library_has_one_thread_inside_and_its_own_number_afterwards() -> None:
    """Also after a failure."""
    with threadpool_limits(2):
        before = library_threads()
        with one_thread():
            assert library_threads() == {1}
            assert thread_count() == 2
            with one_thread():
                assert library_threads() == {1}
            assert library_threads() == {1}
        with pytest.raises(ZeroDivisionError), one_thread():
            raise ZeroDivisionError
        assert library_threads() == before == {2}


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


def test_threads_of_a_pool_and_of_a_pool_in_it_count_as_one() -> None:
    with threadpool_limits(2), pool(2) as executor:
        assert list(executor.map(lambda _: thread_count(), range(4))) == [1] * 4

    def inner(_: int) -> list[int]:
        with one_thread(), pool(2) as executor:
            return [thread_count(), *executor.map(lambda _: thread_count(), range(2))]

    with threadpool_limits(2), one_thread(), pool(2) as executor:
        assert list(executor.map(inner, range(3))) == [[1, 1, 1]] * 3
