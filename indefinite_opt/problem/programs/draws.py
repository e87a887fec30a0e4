"""Random integers that are the same on every platform and with every version of numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array, checks


class Draws:
    """Uniform integers from the raw words of PCG64.

    numpy keeps the words of a seeded bit generator for good, but not what its `Generator` makes of
    them. Of k values, a word below the largest multiple of k in 64 bits chooses the one whose
    number is its remainder; other words are passed over, so that all values are equally likely.
    >>> Draws(1).integers(-50, 50, 4)
    array([ -1., -23., -17., -32.])
    """

    def __init__(self, seed: int) -> None:
        checks.seed("seed", seed)
        self._words = np.random.PCG64(seed)

    def integers(self, least: int, most: int, *shape: int) -> Array:
        """Independent integers from `least` to `most`, both included, as floats."""
        values = most - least + 1
        limit = 2**64 - 2**64 % values
        count = int(np.prod(shape, dtype=np.int64))
        accepted: NDArray[np.uint64] = np.zeros(0, np.uint64)
        while accepted.size < count:
            words = self._words.random_raw(count - accepted.size)
            accepted = np.concatenate([accepted, words[words <= np.uint64(limit - 1)]])
        return (accepted % np.uint64(values)).astype(np.float64).reshape(shape) + float(least)

    def chosen(self, percent: int, *shape: int) -> NDArray[np.bool_]:
        """Independent choices, each made with a probability of `percent` in a hundred."""
        return self.integers(1, 100, *shape) <= percent

    def symmetric(self, least: int, most: int, percent: int, n: int) -> Array:
        """A symmetric matrix; entries on and above the diagonal are 0 unless chosen, or uniform."""
        entries = self.integers(least, most, n, n) * self.chosen(percent, n, n)
        return np.triu(entries) + np.triu(entries, 1).T

    def order(self, n: int) -> NDArray[np.intp]:
        """A random permutation of 0, ..., n - 1."""
        return np.argsort(self.integers(0, 2**53 - 1, n), kind="stable")
