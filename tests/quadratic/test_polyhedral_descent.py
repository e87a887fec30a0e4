"""Descents over linear rows end where theory says, from any point and in any units."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import nnls

from helpers.polyhedra import (
    Array,
    Rows,
    bilinear,
    concave,
    indefinite,
    knapsack,
    program,
    random_rows,
    rescaled,
    transportation,
)
from indefinite_opt.quadratic.local.polyhedral.descent import ActiveSetDescent, placed, refined
from indefinite_opt.quadratic.local.polyhedral.recession import falling_ray
from indefinite_opt.quadratic.rows.linear_rows import LinearRows
from indefinite_opt.quadratic.solving.solution import Status

INF = float("inf")


def tiny(seed: int) -> Rows:
    """Small integers, so that vertices are degenerate, rows dependent and minima flat."""
    generator = np.random.default_rng(seed)
    n, inequalities, equalities = generator.integers((1, 0, 0), (7, 8, 3))
    P = np.triu(generator.integers(-3, 4, (n, n)) * (generator.random((n, n)) < 0.7)).astype(float)
    P = (P + P.T, P @ P.T, -P @ P.T, 0.0 * P)[generator.integers(4)]
    G = generator.integers(-2, 3, (inequalities, n)).astype(float)
    A = generator.integers(-2, 3, (equalities, n)).astype(float)
    if inequalities > 1:
        G[1] = 3.0 * G[0]
    if equalities > 1:
        A[1] = -2.0 * A[0]
    lower = np.where(generator.random(n) < 0.8, -generator.integers(0, 3, n), -INF)
    upper = np.where(generator.random(n) < 0.8, generator.integers(0, 3, n), INF)
    x = np.clip(generator.integers(-1, 2, n), lower, upper)
    slack = generator.integers(0, 2, inequalities) * generator.integers(0, 3)
    q = generator.integers(-3, 4, n) * generator.integers(0, 2)
    return program(int(n), P, q, G, G @ x + slack, A, A @ x, lower, upper)


def normals(qp: Rows, x: Array) -> Array:
    """Outward normals of all constraints that hold with equality at x, in rows."""
    low, high = qp.lower >= x - 1e-9, qp.upper <= x + 1e-9
    eye = np.eye(qp.n)
    return np.vstack([qp.G[qp.G @ x >= qp.h - 1e-9], qp.A, -qp.A, -eye[low], eye[high]])


def check_stationary(qp: Rows, x: Array) -> None:
    """-∇F lies in the cone of the normals, by nonnegative least squares."""
    gradient, cone = qp.gradient(x), normals(qp, x)
    distance = nnls(cone.T, -gradient)[1] if len(cone) else np.linalg.norm(gradient)
    assert distance <= 1e-8 * (1.0 + np.abs(gradient).max())


def check_minimum(qp: Rows, x: Array, generator: np.random.Generator) -> None:
    """F is nowhere lower near x, on the way to random vertices and points between them."""
    scaled, units = qp.scaled, qp.units
    rows = LinearRows(scaled)
    vertices = np.array([units.read(rows.random_vertex(generator)) for _ in range(20)])
    goals = np.vstack([vertices, generator.dirichlet(np.full(20, 0.3), 80) @ vertices])
    size = 1.0 + abs(qp.value(x))
    for goal in goals:
        assert qp.value(x + 1e-3 * (goal - x)) >= qp.value(x) - 1e-11 * size


def check_ray(qp: Rows, x: Array, d: Array) -> None:
    """x + td is feasible for all t ≥ 0, and F falls without end along it."""
    assert np.abs(d).max() > 0.0
    assert np.all(qp.G @ d <= 1e-9)
    assert np.all(np.abs(qp.A @ d) <= 1e-9)
    assert np.all(d[np.isfinite(qp.lower)] >= 0.0)
    assert np.all(d[np.isfinite(qp.upper)] <= 0.0)
    values = [qp.value(x + t * d) for t in (0.0, 1e3, 1e6)]
    assert values[2] < values[1] - 1e2
    assert values[1] < values[0]


@pytest.mark.parametrize(
    "seed", [*range(6), *(pytest.param(k, marks=pytest.mark.slow) for k in range(10, 50))]
)
def test_every_end_is_a_minimum_or_an_unbounded_ray(seed: int) -> None:
    qp, generator = tiny(seed), np.random.default_rng(seed)
    scaled, units = qp.scaled, qp.units
    rows = LinearRows(scaled)
    for k in range(4):
        z = rows.random_vertex(generator)
        if k % 2:
            z = 0.5 * (z + rows.random_vertex(generator))
        run = ActiveSetDescent(scaled, z)
        before = qp.value(units.read(z))
        assert run.run() is Status.SOLVED
        while run.ray is None and run.escape(rows.over, seed):
            assert run.run() is Status.SOLVED
        x = units.read(run.z)
        assert qp.violation(x) <= 1e-14
        assert qp.value(x) <= before + 1e-12 * (1.0 + abs(before))
        if run.ray is not None:
            check_ray(qp, x, units.read(run.ray))
            continue
        check_stationary(qp, x)
        check_minimum(qp, x, generator)
        assert run.residual() <= 1e-12
        multipliers = units.multipliers(run.signed_multipliers(), qp.h.size)
        uneven, equal, lower, upper = multipliers.values()
        left = qp.gradient(x) + uneven @ qp.G + equal @ qp.A
        np.testing.assert_allclose(left, lower - upper, rtol=0, atol=1e-10)
        for part, slack in (
            (uneven, qp.h - qp.G @ x),
            (lower, x - qp.lower),
            (upper, qp.upper - x),
        ):
            assert np.min(part, initial=0.0) >= 0.0
            assert np.all(np.abs(slack[part > 1e-10]) <= 1e-12)


CLASSES = [
    random_rows(40, 20, 6, 0), bilinear(40, 10, 0), concave(40, 20, 0), transportation(5, 8, 0),
    knapsack(40, 0),
]  # fmt: skip


@pytest.mark.parametrize("seed", [None, 0])
@pytest.mark.parametrize("qp", CLASSES)
def test_descents_are_feasible_stationary_and_monotone_in_any_units(
    qp: Rows, seed: int | None
) -> None:
    if seed is not None:
        qp = rescaled(qp, seed)
    scaled, generator = qp.scaled, np.random.default_rng(0)
    rows = LinearRows(scaled)
    for k in range(4):
        vertices = [rows.random_vertex(generator) for _ in "abc"]
        run = ActiveSetDescent(
            scaled, generator.dirichlet(np.ones(3)) @ vertices if k % 2 else vertices[0]
        )
        values = [run.value]
        while run.run(max_iter=run.iterations + 5) is Status.MAX_ITER:
            values.append(run.value)
            assert scaled.violation(run.z) <= 1e-13
        values.append(run.value)
        assert np.all(np.diff(values) <= 1e-13 * np.abs(values[:-1]))
        assert run.residual() <= 1e-13
        assert scaled.violation(run.z) <= 1e-13
        assert run.curvature == "curvature not examined"
        assert not run.escape(rows.over, 0)
        assert run.curvature.startswith("curvature nonnegative on the free space")


def at_zero(P: Any, q: Any = None, lower: float = 0.0) -> ActiveSetDescent:
    """A descent in a box up to 1, which has ended after it began at 0."""
    run = ActiveSetDescent(program(len(P), P, q, lower=lower, upper=1.0).scaled, np.zeros(len(P)))
    assert run.run() is Status.SOLVED
    return run


def test_a_saddle_is_left() -> None:
    """xy on [-1, 1]² has zero gradient at 0, and minima -1 at two corners."""
    assert sorted(at_zero([[0, 1], [1, 0]], lower=-1.0).z.tolist()) == [-1.0, 1.0]


def test_a_vertex_is_left_between_two_weakly_active_bounds() -> None:
    """-xy on [0, 1]² has zero gradient at 0 and falls along no edge, but along (1, 1)."""
    run = at_zero([[0, -1], [-1, 0]])
    assert run.z.tolist() == [0.0, 0.0]
    assert run.escape(LinearRows, 0)
    run.run()
    assert run.z.tolist() == [1.0, 1.0]


def test_a_vertex_stays_where_the_curvature_on_its_cone_is_copositive() -> None:
    """xy on [0, 1]² is indefinite at 0 with zero gradient, but 0 is a minimum."""
    run = at_zero([[0, 1], [1, 0]])
    assert not run.escape(LinearRows, 0)
    assert run.curvature.endswith("and no descent into their cone was found")
    assert run.z.tolist() == [0.0, 0.0]


def test_an_edge_is_followed_to_its_far_end() -> None:
    """x - 2x² on [0, 1] rises from the minimum 0 at first, and is -1 at the other end."""
    run = at_zero([[-4.0]], [1.0])
    assert run.z.tolist() == [0.0]
    assert run.exchange()
    run.run()
    assert run.z.tolist() == [1.0]
    assert not run.exchange()


def test_descents_start_at_a_given_point_that_is_feasible_and_near_another_one() -> None:
    qp = random_rows(20, 10, 3, 0)
    rows, generator = LinearRows(qp.scaled), np.random.default_rng(0)
    vertices = np.array([rows.random_vertex(generator) for _ in range(5)])
    z = vertices.mean(axis=0)
    np.testing.assert_allclose(placed(qp.qp, qp.units.read(z)), z, rtol=0, atol=1e-14)
    near = z + 1e-7 * generator.standard_normal(20)
    repaired = placed(qp.qp, qp.units.read(near))
    assert qp.scaled.violation(repaired) <= 1e-14
    assert np.linalg.norm(repaired - near) <= 2.0 * np.linalg.norm(z - near)


def test_descents_start_at_a_feasible_point_where_none_is_given() -> None:
    """Points without numbers have none nearby, and infinite ones are beyond a bound."""
    qp = program(2, lower=-1.0, upper=1.0)
    assert placed(qp.qp, np.array([0.0, np.nan])).tolist() == [0.0, 0.0]
    assert qp.units.read(placed(qp.qp, np.array([np.inf, 0.0]))).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("seed", range(3))
def test_descents_from_points_outside_end_at_stationary_points(seed: int) -> None:
    """Rows and bounds are missed by about as much as there is room between them."""
    qp, generator = random_rows(20, 10, 3, seed), np.random.default_rng(seed)
    for _ in range(5):
        x = refined(qp.qp, generator.uniform(-1.0, 2.0, 20))
        assert qp.violation(x) <= 1e-13
        check_stationary(qp, x)


@pytest.mark.parametrize("seed", range(2))
def test_quadratic_assignments_do_not_cycle(seed: int) -> None:
    k, generator = 6, np.random.default_rng(seed)
    qp = transportation(k, k, 0)._replace(P=indefinite(k * k, generator), b=np.ones(2 * k))
    scaled, units = qp.scaled, qp.units
    rows = LinearRows(scaled)
    for _ in range(5):
        run = ActiveSetDescent(scaled, rows.random_vertex(generator))
        assert run.run() is Status.SOLVED
        check_stationary(qp, units.read(run.z))


def test_fixed_and_free_variables_empty_and_repeated_rows() -> None:
    """x0 is fixed at 2; of the rows only x1 + x2 ≤ 3 matters; x3 is free with minimum 4.

    min (x1 - 2)² + (x2 - 3)² has its minimum at (1, 2) on that row.
    """
    qp = program(
        4, np.diag([-2.0, 2, 2, 2]), [0, -4, -6, -8],
        [[0, 1, 1, 0], [0, 0, 0, 0], [0, 2, 2, 0], [1, 1, 1, 0]], [3, 0, 6, 5],
        [[0, 0, 0, 0], [1, 0, 0, 0]], [0, 2], [2, 0, 0, -INF], [2, INF, INF, INF],
    )  # fmt: skip
    scaled, units = qp.scaled, qp.units
    run = ActiveSetDescent(scaled, LinearRows(scaled).vertex())
    run.run()
    np.testing.assert_allclose(units.read(run.z), [2, 1, 2, 4], rtol=0, atol=1e-14)
    multipliers = units.multipliers(run.signed_multipliers(), qp.h.size)
    assert multipliers["inequalities"] @ [1, 0, 2, 1] == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("qp", "falls"),
    [
        (program(2, q=[-1, 0], lower=0), True),  # linear, along x0
        (program(2, q=[1, 0], lower=0), False),
        (program(2, np.diag([1.0, 0.0]), [-1, 0], lower=0), False),
        (program(2, np.diag([1.0, 0.0]), [-1, -1], lower=0), True),  # convex, along x1
        (program(2, [[0, 1], [1, 0]], lower=0), False),  # copositive
        (program(2, [[0, 1], [1, 0]]), True),
        (program(2, [[1, -2], [-2, 1]], lower=0), True),  # only in the interior, along (1, 1)
        (program(2, [[1, -2], [-2, 1]], [0, 0], [[1, -2], [-2, 1]], [1, 1], lower=0), True),
        (program(2, [[1, -2], [-2, 1]], [0, 0], [[-1, 4]], [0], lower=0), False),  # on 4x1 ≤ x0
        (program(2, np.diag([-1.0, 1.0]), lower=0.0, upper=9.0), False),  # a bounded box
        (program(3, -np.eye(3), A=[[1, 1, 1]], b=[1], lower=0), False),  # bounded by a row
    ],
)  # fmt: skip
def test_rays_are_found_where_there_are_some(qp: Rows, falls: bool) -> None:
    scaled, units = qp.scaled, qp.units
    rows = LinearRows(scaled)
    error = falling_ray(qp.qp, rows, np.random.default_rng(0))
    assert (error is not None) == falls
    if error is not None:
        check_ray(qp, units.read(rows.vertex()), error.ray)
