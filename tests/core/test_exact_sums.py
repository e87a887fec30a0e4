"""Sums of products with one rounding, against fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt.core import exact_sums


def nearest(exact: Fraction) -> float:
    """The nearest double, but not 0 for another number."""
    try:
        found = float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
    return found if found or not exact else math.copysign(5e-324, 1.0 if exact > 0 else -1.0)


@pytest.mark.parametrize("cancels", [False, True])
@pytest.mark.parametrize(
    "powers", [(-3, 3), (-60, 60), (-540, -530), (-1070, 1000), (500, 520)], ids=str
)
def test_sums_of_numbers_of_all_sizes(powers: tuple[int, int], cancels: bool) -> None:
    """From denormal numbers to overflow, also where nothing but the last digits is left."""
    for seed in range(20):
        g = np.random.default_rng(seed)
        n, m = 12, 4
        row, member = np.sort(g.integers(0, m, n)), g.integers(0, n, n)
        value, x, rhs = (
            np.ldexp(g.standard_normal(size), g.integers(*powers, size)) for size in (n, n, m)
        )
        if cancels:
            row[1::2], member[1::2], value[1::2] = row[::2], member[::2], -value[::2]
            value[5] = np.nextafter(value[5], np.inf)
            rhs[:] = 0.0
        found = exact_sums.residuals(row, member, value, x, rhs)
        for k in range(m):
            terms = (Fraction(value[e]) * Fraction(x[member[e]]) for e in np.flatnonzero(row == k))
            assert found[k] == nearest(sum(terms, -Fraction(rhs[k])))


def test_rows_with_numbers_that_are_not_finite() -> None:
    """Such a row is NaN, and no other; an entry that counts 0 times is none."""
    row, member = np.array([0, 1, 1, 2]), np.array([0, 1, 2, 3])
    value, x = np.array([np.inf, 1.0, 1.0, np.inf]), np.array([1.0, np.nan, 1.0, 0.0])
    found = exact_sums.residuals(row, member, value, x, np.array([0.0, 0.0, 1.0]))
    assert np.isnan(found[:2]).all()
    assert found[2] == -1.0


def test_wrong_indices_are_refused() -> None:
    """C++ would read elsewhere."""
    one, x = np.ones(1), np.ones(2)
    for row, member in ((1, 0), (0, 2), (-1, 0), (0, -1)):
        with pytest.raises(iopt.errors.ProblemError, match="indices from 0"):
            exact_sums.residuals(np.array([row]), np.array([member]), one, x, one)
