"""The exponential function against its values in decimal arithmetic."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest

from indefinite_opt.core.exponential import exp


@pytest.mark.parametrize(
    "ends", [(-30.0, 0.0), (-0.4, 0.4), (-745.0, 709.0), (-745.2, -700.0), (-1e-15, 1e-15)]
)
def test_errors_are_below_one_unit_in_the_last_place(ends: tuple[float, float]) -> None:
    x = np.random.default_rng(0).uniform(*ends, (1, 1003))
    with localcontext() as context:
        context.prec = 40
        exact = [Decimal(number).exp() for number in x[0].tolist()]
        found = [Decimal(number) for number in exp(x.copy(), 1.0)[0].tolist()]
        units = [Decimal(float(np.spacing(float(value)))) for value in exact]
        errors = [abs(a - b) / u for a, b, u in zip(found, exact, units, strict=True)]
    assert max(errors) < 1


def test_ends_of_the_range() -> None:
    x = np.array([[0.0, -0.0, -746.0, -1e300, -np.inf, 709.9, np.inf, np.nan]])
    expected = [1.0, 1.0, 0.0, 0.0, 0.0, np.inf, np.inf, np.nan]
    np.testing.assert_array_equal(exp(x, 1.0)[0], expected)
    assert exp(np.array([[-745.0]]), 1.0)[0, 0] == 5e-324
    assert exp(np.array([[-709.7]]), -1.0)[0, 0] == pytest.approx(1.6549840276802644e308)


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (2, 2), (1, 7), (3, 3)])
def test_matrices_of_every_size_are_changed_in_place(shape: tuple[int, int]) -> None:
    x = np.random.default_rng(1).standard_normal(shape)
    expected = np.exp(-0.5 * x)
    assert exp(x, -0.5) is x
    np.testing.assert_allclose(x, expected, rtol=1e-15)
