"""Cones: what is called inside is so in exact arithmetic, and so are multipliers in the dual."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from indefinite_opt.algebra import (
    Cone,
    Exponential,
    Nonnegative,
    Power,
    SecondOrder,
    Semidefinite,
)

ORDER = 3
WEIGHTS = np.array([0.3, 0.25, 0.45])


def is_nonnegative(s: np.ndarray) -> bool:
    return bool(np.all(s >= 0.0))


def in_second_order(s: np.ndarray) -> bool:
    top, *rest = map(Fraction, s.tolist())
    return top >= 0 and top**2 >= sum(one**2 for one in rest)


def is_semidefinite(s: np.ndarray) -> bool:
    """By elimination in fractions."""
    S = [[Fraction(v) for v in row] for row in np.reshape(s, (ORDER, ORDER)).tolist()]
    assert all(S[i][j] == S[j][i] for i in range(ORDER) for j in range(ORDER))
    for k in range(ORDER):
        if S[k][k] < 0 or (S[k][k] == 0 and any(S[k][j] for j in range(k, ORDER))):
            return False
        for i in range(k + 1, ORDER):
            share = S[i][k] / S[k][k] if S[k][k] else Fraction(0)
            for j in range(k, ORDER):
                S[i][j] -= share * S[k][j]
    return True


def in_exponential(s: np.ndarray) -> bool:
    x, y, z = map(Decimal, s.tolist())
    if y > 0:
        return y * (x / y).exp() <= z
    return y == 0 and x <= 0 and z >= 0


def in_dual_of_exponential(Z: np.ndarray) -> bool:
    u, v, w = map(Decimal, Z.tolist())
    if u < 0:
        return -u * (v / u - 1).exp() <= w
    return u == 0 and v >= 0 and w >= 0


def product(x: list[Decimal]) -> Decimal:
    """Of powers by weights that sum to 1."""
    total = Decimal(0)
    weights = [Decimal(w) for w in WEIGHTS.tolist()]
    for part, w in zip(x, weights, strict=True):
        if part == 0:
            return Decimal(0)
        total += w / sum(weights) * part.ln()
    return total.exp()


def in_power(s: np.ndarray) -> bool:
    *x, last = map(Decimal, s.tolist())
    return min(x) >= 0 and product(x) >= abs(last)


def in_dual_of_power(Z: np.ndarray) -> bool:
    *x, last = map(Decimal, Z.tolist())
    weights = [Decimal(w) for w in WEIGHTS.tolist()]
    shares = [part / (w / sum(weights)) for part, w in zip(x, weights, strict=True)]
    return min(x) >= 0 and product(shares) >= abs(last)


Test = Callable[[np.ndarray], bool]
CONES: dict[str, tuple[Cone, Test, Test]] = {
    "nonnegative": (Nonnegative(3, 1), is_nonnegative, is_nonnegative),
    "second-order": (SecondOrder(4, 1), in_second_order, in_second_order),
    "semidefinite": (Semidefinite(ORDER**2, 1), is_semidefinite, is_semidefinite),
    "exponential": (Exponential(3, 1), in_exponential, in_dual_of_exponential),
    "power": (Power(4, 1, WEIGHTS), in_power, in_dual_of_power),
}


def drawn(name: str, generator: np.random.Generator) -> np.ndarray:
    """Numbers of any size, or a point whose margin is about 0."""
    cone, unit = CONES[name][0], generator.choice([1.0, 1.0, 1.0, 1e-170, 1e150])
    s = generator.standard_normal(cone.size) * 10.0 ** generator.uniform(-3, 3, cone.size)
    s *= 1.0 if name in ("exponential", "semidefinite") else unit
    if name == "semidefinite":
        L = generator.standard_normal((ORDER, int(generator.integers(1, ORDER + 1))))
        L *= 10.0 ** generator.uniform(-3, 3, (ORDER, 1))
        S = L @ L.T
        return np.ravel(0.5 * (S + S.T))
    if generator.random() < 0.3:
        return s
    # On the boundary, and then off it by a few roundings.
    if name == "second-order":
        s[0] = np.linalg.norm(s[1:])
    elif name == "exponential":
        s[1] = abs(s[1])
        s[0] = s[1] * generator.uniform(-30.0, 30.0)
        s[2] = s[1] * np.exp(s[0] / s[1])
    elif name == "power":
        s[:-1] = np.abs(s[:-1])
        s[-1] = np.exp(WEIGHTS @ np.log(s[:-1]))
    return s * (1.0 + 1e-16 * generator.integers(-3, 4, s.size))


@pytest.mark.parametrize("name", CONES)
def test_what_is_called_inside_is_inside(name: str) -> None:
    cone, inside, _ = CONES[name]
    generator, count = np.random.default_rng(1), 0
    with localcontext() as context:
        context.prec = 60
        for _ in range(400):
            s = drawn(name, generator)
            size = np.abs(s).max()
            for added in (0.0, 1e-15, 1e-12, 1e-6):
                point = s + added * size * cone.center().ravel()
                margins = cone.margins(point[:, None], np.zeros((cone.size, 1)))
                if np.all(margins >= 0.0):
                    count += 1
                    assert inside(point), (name, point.tolist())
    assert count >= 200  # a test that called nothing inside would be right, too


@pytest.mark.parametrize("name", CONES)
def test_points_within_an_error_are_inside(name: str) -> None:
    cone, inside, _ = CONES[name]
    generator, count = np.random.default_rng(2), 0
    with localcontext() as context:
        context.prec = 60
        for _ in range(300):
            s = drawn(name, generator) + np.abs(generator.normal()) * cone.center().ravel()
            error = np.abs(s) * 10.0 ** generator.uniform(-16, -1)
            if not np.all(cone.margins(s[:, None], error[:, None]) >= 0.0):
                continue
            count += 1
            for _ in range(5):
                away = s + error * (1.0 - 1e-12) * generator.choice([-1.0, 1.0], s.size)
                if name == "semidefinite":
                    S = np.reshape(away, (ORDER, ORDER))
                    away = np.ravel(0.5 * (S + S.T))
                assert inside(away), (name, s.tolist(), away.tolist())
    assert count >= 30


@pytest.mark.parametrize("name", CONES)
def test_a_projected_multiplier_is_in_the_dual_cone(name: str) -> None:
    cone, _, in_dual = CONES[name]
    generator = np.random.default_rng(3)
    with localcontext() as context:
        context.prec = 60
        for _ in range(400):
            Z = drawn(name, generator) * generator.choice([-1.0, 1.0])
            if name == "exponential" and generator.random() < 0.7:
                u, v = -abs(Z[0]), Z[1]
                Z = np.array([u, v, -u * np.exp(min(v / u - 1.0, 600.0))])
            if name == "semidefinite":
                Z = Z + np.ravel(np.diag(generator.normal(size=ORDER) * np.abs(Z).max()))
            found = cone.projected(Z[:, None])
            assert np.isfinite(found).all()
            assert in_dual(found.ravel()), (name, Z.tolist())
            again = cone.projected(found)
            assert np.abs(again - found).max() <= 1e-12 * np.abs(found).max() + 1e-300


@pytest.mark.parametrize("name", CONES)
def test_moves_are_self_adjoint_and_small_where_the_multiplier_is(name: str) -> None:
    cone, _, _ = CONES[name]
    generator = np.random.default_rng(4)
    for _ in range(50):
        Z = cone.projected(drawn(name, generator)[:, None])
        M, N = generator.standard_normal((2, cone.size, 1))
        if name == "semidefinite":
            M, N = (np.reshape(P + P.T, (-1, 1)) for P in generator.normal(size=(2, ORDER, ORDER)))
        move = cone.move(Z)
        one, other = np.sum(move(M) * N), np.sum(M * move(N))
        size = np.abs(Z).max() * np.abs(M).max() * np.abs(N).max() * cone.size**2
        assert abs(one - other) <= 1e-12 * size
        assert np.abs(move(M)).max() <= cone.size * 2.0 * np.abs(Z).max() * np.abs(M).max()


@pytest.mark.parametrize("name", CONES)
def test_no_point_of_a_cone_is_cut_off_by_its_ends(name: str) -> None:
    cone, inside, _ = CONES[name]
    generator, count = np.random.default_rng(5), 0
    with localcontext() as context:
        context.prec = 60
        for _ in range(400):
            s = drawn(name, generator)
            if not inside(s):
                continue
            count += 1
            wide: Any = np.abs(s) * generator.choice([0.0, 1.0, np.inf], s.size)
            wide[np.isnan(wide)] = np.inf
            low, high = cone.narrowed((s - wide)[:, None], (s + wide)[:, None])
            assert np.all(low.ravel() <= s), (name, s.tolist())
            assert np.all(s <= high.ravel()), (name, s.tolist())
    assert count >= 50
