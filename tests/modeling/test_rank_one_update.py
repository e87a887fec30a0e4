"""Roots of the secular equation, against arithmetic of 60 digits and against full matrices."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from helpers.internals import rank_one

Array = NDArray[np.float64]

DIGITS = 60


def exact_distances(d: Array, s: Array, j: int) -> list[Decimal]:
    """d_k - λ_j for all k to 25 digits, by bisection from the nearer of the two poles."""
    poles, weights = [Decimal(x) for x in d.tolist()], [Decimal(x) for x in s.tolist()]
    total = sum(weights)
    width = poles[j + 1] - poles[j] if j + 1 < len(poles) else total

    def g(base: Decimal, tau: Decimal) -> Decimal:
        terms = (w / (p - base - tau) for p, w in zip(poles, weights, strict=True))
        return 1 + sum(terms)

    base, sign, far = poles[j], 1, width
    if j + 1 < len(poles):
        far = width / 2
        if g(base, far) < 0:
            base, sign = poles[j + 1], -1
    elif len(poles) == 1:
        return [-total]
    near = far * Decimal(10) ** -300
    while far - near > far * Decimal(10) ** -25:
        middle = (near * far).sqrt() if far > 4 * near else (near + far) / 2
        if (g(base, sign * middle) < 0) == (sign > 0):
            near = middle
        else:
            far = middle
    return [p - base - sign * far for p in poles]


def check(d: Array, s: Array) -> None:
    """All that is found, to a few roundings.

    One rounding in every term of g moves the root by eps · (1 + Σ|terms|)/g', whatever the method;
    this may be more than a rounding of its distance from the nearest pole.
    """
    values, distances, slopes, inverse = rank_one.solve_roots(d, s)
    for array in (values, distances, slopes, inverse):
        assert np.all(np.isfinite(array))
    eps = Decimal(np.finfo(float).eps.item())
    with localcontext() as context:
        context.prec = DIGITS
        for j in range(d.size):
            exact = exact_distances(d, s, j)
            pairs = list(zip([Decimal(w) for w in s.tolist()], exact, strict=True))
            slope = sum(w / x**2 for w, x in pairs)
            moved = eps * (1 + sum(w / abs(x) for w, x in pairs)) / slope
            accuracy = 10 * eps + 10 * moved / min(abs(x) for x in exact)
            assert abs(Decimal(float(distances[j])) + exact[j]) <= 10 * (moved - eps * exact[j])
            assert abs(Decimal(float(slopes[j])) / slope - 1) <= 2 * accuracy
            for k, x in enumerate(exact):
                assert abs(Decimal(float(inverse[j, k])) * x - 1) <= accuracy
            pole = Decimal(float(d[j]))
            size = max(abs(pole), abs(pole - exact[j]))
            assert abs(Decimal(float(values[j])) - pole + exact[j]) <= 10 * (moved + eps * size)


def poles(kind: str, r: int, generator: np.random.Generator) -> Array:
    signs = generator.choice([-1.0, 1.0], r)
    steps = {
        "random": lambda: generator.standard_normal(r),
        "gaps far from zero": lambda: 1.0 + np.cumsum(10.0 ** generator.uniform(-15, -1, r)),
        "gaps near zero": lambda: np.cumsum(10.0 ** generator.uniform(-16, -1, r)),
        "one cluster": lambda: -1.0 + np.cumsum(10.0 ** generator.uniform(-15, -13, r)),
        "graded": lambda: signs * 10.0 ** generator.uniform(-16, 0, r),
        "graded far": lambda: signs * 10.0 ** generator.uniform(-70, 70, r),
        "with zero": lambda: np.append(generator.standard_normal(r - 1), 0.0),
    }
    return np.unique(steps[kind]())


def weights(kind: str, r: int, generator: np.random.Generator) -> Array:
    squares = generator.standard_normal(r) ** 2
    spans = {
        "alike": lambda: squares,
        "small to one": lambda: 10.0 ** generator.uniform(-30, 0, r),
        "small to large": lambda: 10.0 ** generator.uniform(-30, 30, r),
        "scaled": lambda: squares * 10.0 ** generator.uniform(-8, 8),
    }
    return spans[kind]()


POLES = ["random", "gaps far from zero", "gaps near zero", "one cluster", "graded", "graded far",
         "with zero"]  # fmt: skip
WEIGHTS = ["alike", "small to one", "small to large", "scaled"]


@pytest.mark.parametrize("spread", WEIGHTS)
@pytest.mark.parametrize("kind", POLES)
def test_every_distance_has_all_its_digits(kind: str, spread: str) -> None:
    generator = np.random.default_rng(0)
    for r in (1, 2, 5):
        d = poles(kind, r, generator)
        check(d, weights(spread, d.size, generator))


@pytest.mark.parametrize(
    ("d", "s", "expected"),
    [
        ([2.0], [3.0], [3.0]), ([-1e8], [1e-12], [1e-12]),  # one pole: λ = d + s
        # (0, 1; 1, 0) + nothing: d = ∓1, s = 1/2 each: λ² - λ - 1 = 0.
        ([-1.0, 1.0], [0.5, 0.5], [(3 - 5**0.5) / 2, (5**0.5 - 1) / 2]),
        # d = 0, 1, s = 1, 1: λ² - 3λ + 1 = 0.
        ([0.0, 1.0], [1.0, 1.0], [(3 - 5**0.5) / 2, (1 + 5**0.5) / 2]),
        # d = ∓1, s = 1, 1: λ² - 2λ - 1 = 0, λ = 1 ∓ √2.
        ([-1.0, 1.0], [1.0, 1.0], [2 - 2**0.5, 2**0.5]),
    ],
)  # fmt: skip
def test_closed_forms(d: list[float], s: list[float], expected: list[float]) -> None:
    distances = rank_one.solve_roots(np.array(d), np.array(s)).distances
    assert_allclose(distances, expected, rtol=1e-14)


def test_weights_of_poles_add_up_and_small_ones_stay() -> None:
    u = np.array([3.0, 4.0, 1e-20, 2.0])
    poles = rank_one.Poles(np.array([-1.0, 0.0, 1.0]), np.array([0, 0, 1, 2]))
    gathered, active, total = rank_one.gather_weights(u, poles, 0.5)
    assert active.tolist() == [0, 2]
    assert total == pytest.approx(14.5)
    assert_allclose(gathered, [12.5, 5e-41, 2.0])
