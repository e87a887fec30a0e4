"""Descents on quadratic programs without labels: boxes, simplices, weighted rows, free variables.

What is expected comes from enumeration over all faces, from closed forms, or from UNO.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import indefinite_opt as iopt
from helpers.exact import mirrored
from helpers.polyhedra import Rows, lowest, program
from helpers.problems import labels, symmetric
from indefinite_opt.errors import UnboundedProblem
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.local.descent.descent import Descent
from indefinite_opt.quadratic.local.search.iterated_search import Effort
from indefinite_opt.quadratic.local.search.pair_search import LocalSearch
from indefinite_opt.quadratic.local.search.pairing import as_paired, in_pairs, restored
from indefinite_opt.quadratic.programs.paired_qp import PairedQP, kernel_qp
from indefinite_opt.quadratic.rows.polyhedron import Polyhedron
from indefinite_opt.quadratic.solving.solver import Task

Array = NDArray[np.float64]

INF = np.inf
KINDS = ("box", "simplex", "row", "rows", "mixed", "half", "free")


def forms(one: Rows) -> tuple[PairedQP, Any, Any]:
    """The scaled form, within the bounds and those that the rows imply."""
    ends = Polyhedron(one.G, one.h, one.A, one.b, one.lower, one.upper).intervals
    qp, sizes = in_pairs(one.P, one.q, one.A, one.b, *ends)
    return qp, lambda z: restored(qp, sizes, ends, z), lambda x: qp.feasible.project(sizes * x)


def check_feasible(one: Rows, x: Array) -> None:
    assert np.all(x >= one.lower)
    assert np.all(x <= one.upper)
    size = 1.0 + np.abs(one.A) @ np.abs(x)
    assert np.all(np.abs(one.A @ x - one.b) <= 1e-12 * size)


def descend(qp: PairedQP, start: Array, tol: float = 1e-6) -> tuple[Array, float]:
    """The local minimum that a descent ends at, and the value there."""
    task = Task(None, "The program", qp, tol)  # type: ignore[arg-type]
    run = Descent(task, start.copy())
    run.to_local_minimum()
    return run.alpha, run.value


def search(one: Rows, effort: Effort | None = None, seed: int = 0) -> Array:
    """The best point of a local search."""
    qp, restore, _ = forms(one)
    task = Task(None, "The program", qp, seed=seed)  # type: ignore[arg-type]
    local = LocalSearch(effort or Effort(jobs=1), task)
    assert local.run() is iopt.Status.SOLVED
    x: Array = restore(local.elite[0].x)
    check_feasible(one, x)
    assert local.elite[0].value == pytest.approx(one.value(x), rel=1e-9, abs=1e-9)
    return x


def drawn(kind: str, n: int, seed: int) -> Rows:
    """Integers in [-50, 50] as Vandenbussche & Nemhauser (2005) draw them, with many sorts of rows.

    The bounds of "half" are infinite on one side and those of "free" on both, with a P that is
    positive definite but for a part whose bounds are finite.
    """
    r = np.random.default_rng([seed, n, KINDS.index(kind)])
    density = r.choice([0.2, 0.5, 1.0])
    P = mirrored((r.integers(-50, 51, (n, n)) * (r.random((n, n)) < density)).astype(float).T)
    q = (r.integers(-50, 51, n) * (r.random(n) < density)).astype(float)
    if kind == "box":
        return program(n, P, q, lower=0.0, upper=1.0)
    if kind == "simplex":
        A = np.triu(r.random((n, n)) < r.choice([0.3, 0.5, 0.8]), 1).astype(float)
        P = -(A + A.T + 0.5 * np.eye(n))
        return program(n, P, A=np.ones(n), b=1.0, lower=0.0)
    k = {"row": 1, "rows": max(2, n // 6), "mixed": max(1, n // 8), "half": 1, "free": 1}[kind]
    group = r.integers(0, k + (kind not in ("row", "rows")), n)
    group[: min(k, n)] = np.arange(min(k, n))
    rows = np.where(group == np.arange(k)[:, None], r.choice([-1, 1], n) * r.uniform(0.3, 4, n), 0)
    lower = r.uniform(-3.0, 0.0, n)
    upper = lower + r.uniform(0.1, 4.0, n)
    rhs = rows @ r.uniform(lower, upper)
    if kind in ("half", "free"):
        endless = r.random(n) < 0.5
        P[np.ix_(endless, endless)] += 60.0 * n * np.eye(int(endless.sum()))
        upper = np.where(endless, INF, upper)
        lower = np.where(endless & (kind == "free"), -INF, lower)
    return program(n, P, q, A=rows, b=rhs, lower=lower, upper=upper)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [2, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_small_programs_end_at_their_optimum(n: int, kind: str) -> None:
    for seed in range(2):
        one = drawn(kind, n, seed)
        assert one.value(search(one)) == pytest.approx(lowest(one), rel=1e-6, abs=1e-6), seed


@pytest.mark.parametrize("lines", [0, 1, 2])
def test_a_vector_as_linear_term_of_a_kernel_program(lines: int) -> None:
    for seed in range(3):
        n, y = 5, labels(5, seed)
        linear = np.random.default_rng(seed).standard_normal(n)
        problem = iopt.KernelProblem(symmetric(n, seed), y)
        qp = kernel_qp(problem, 1.0, linear, 1.0, lines, total=1.0)
        search = LocalSearch(Effort(jobs=1), Task(problem, iopt.SVMDual(), qp))
        assert search.run() is iopt.Status.SOLVED
        expected = lowest(
            program(n, qp.H(), linear, A=qp.feasible.A, b=qp.feasible.b, lower=0.0, upper=1.0)
        )
        assert search.elite[0].value == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [8, 40])
def test_a_descent_ends_at_a_stationary_point(n: int, kind: str) -> None:
    """One multiplier per row explains the gradient up to signs at the bounds."""
    for seed in range(2):
        one = drawn(kind, n, seed)
        qp, restore, place = forms(one)
        generator = np.random.default_rng(seed)
        start = place(np.clip(5.0 * generator.standard_normal(n), one.lower, one.upper))
        z, value = descend(qp, start, tol=1e-9)
        x = restore(z)
        check_feasible(one, x)
        assert value == pytest.approx(one.value(x), rel=1e-9, abs=1e-9)
        assert value <= one.value(restore(start)) + 1e-9 * abs(value)
        gradient = one.P @ x + one.q
        size = np.abs(one.P) @ np.abs(x) + np.abs(one.q) + 1.0
        for row in [*one.A, np.zeros(n)]:
            members = row != 0.0 if row.any() else ~np.any(one.A != 0.0, axis=0)
            # The multiplier must be above these ratios and below those; without a row it is 0.
            ratio = -gradient / np.where(row == 0.0, 1.0, row)
            up, down = (x < one.upper) & members, (x > one.lower) & members
            positive = (row > 0.0) | ~row.any()
            least = np.max(ratio[(up & positive) | (down & ~positive)], initial=-INF)
            most = np.min(ratio[(down & positive) | (up & ~positive)], initial=INF)
            allowed = 1e-8 * float(size.max()) / min([1.0, *np.abs(row[row != 0.0])])
            if row.any():
                assert least <= most + allowed
            else:
                assert least <= allowed
                assert most >= -allowed


def test_optima_in_closed_form() -> None:
    """min ½‖x‖², aᵀx = b, all variables free: x = ab/‖a‖².

    -(x - c)² on [0, 1] is least at the end that is farther from c, whichever end is nearer; -x² on
    [0, 5] beside a free convex variable has a ray that a bound ends.
    """
    a = np.array([1e-2, -3.0, 0.5, 1e2])
    qp, restore, place = forms(program(4, np.eye(4), A=a, b=7.0))
    z, _ = descend(qp, place(np.zeros(4)), tol=1e-12)
    np.testing.assert_allclose(restore(z), 7.0 * a / (a @ a), rtol=1e-6)
    c = np.array([0.4, 0.6, 0.45, 0.55])
    one = program(4, -2.0 * np.eye(4), 2.0 * c, lower=0.0, upper=1.0)
    x = search(one, Effort(starts=1, perturbations=1, jobs=1))
    np.testing.assert_array_equal(x, np.where(c < 0.5, 1.0, 0.0))
    low, q = np.array([0.0, -INF]), np.array([0.0, -2.0])
    one = program(2, np.diag([-2.0, 2.0]), q, lower=low, upper=np.array([5.0, INF]))
    np.testing.assert_allclose(search(one), [5.0, 1.0])


def test_steps_below_the_rounding_of_one_variable_end() -> None:
    """min 6x₁² + 4x₁x₂ + 4.5x₂² + 10x₂, 3x₁ + x₂ = -1: x₁ = 7/69, with a bound that is far away."""
    one = iopt.QuadraticProgram(
        [[12.0, 4.0], [4.0, 9.0]], [0.0, 10.0], A=[[-3.0, -1.0]], b=[1.0],
        lb=[-128.0, -(2.0**39)], ub=[65536.0, 8192.0],
    )  # fmt: skip
    result = iopt.solve(one)
    assert result.status is iopt.Status.SOLVED
    assert result.iterations < 100
    np.testing.assert_allclose(result.x, [7.0 / 69.0, -30.0 / 23.0], rtol=1e-9)
    assert result.objective == pytest.approx(-404.0 / 69.0, rel=1e-12)


UNBOUNDED = {
    "a concave variable": ([[-1.0]], [0.5], [], -INF),
    "a linear variable": ([[0.0]], [-1.0], [], 0.0),
    "a pair": ([[1.0, 3.0], [3.0, 1.0]], [0.0, 1.0], [[1.0, 1.0]], -INF),
    "a weighted pair": ([[1.0, 0.0], [0.0, -9.0]], [1.0, 0.0], [[2.0, -1.0]], 0.0),
    "three together": (
        [[1.0, -0.8, -0.8], [-0.8, 1.0, -0.8], [-0.8, -0.8, 1.0]],
        [-1.0, -1.0, -1.0], [], 0.0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNBOUNDED)
def test_unbounded_programs_have_a_direction(name: str) -> None:
    P, q, rows, low = UNBOUNDED[name]
    n = len(q)
    one = program(n, np.array(P), np.array(q), A=rows, b=np.zeros(len(rows)), lower=low)
    qp, restore, place = forms(one)
    with pytest.raises(UnboundedProblem, match="unbounded") as caught:
        descend(qp, place(np.ones(n)))
    direction = restore(caught.value.direction)
    assert np.all((direction >= 0.0) | (low == -INF))
    np.testing.assert_allclose(one.A @ direction, 0.0, atol=1e-12)
    x = place(np.ones(n))
    values = [one.value(restore(x) + t * direction) for t in (1e3, 1e6, 1e9)]
    assert values[2] < values[1] < values[0] < 0.0


def test_the_form_of_a_program() -> None:
    """Coefficients ±1 after the change of variables; bounds that a row implies."""
    rows = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    for A, b in ((rows, np.ones(2)), (0.0 * rows, np.zeros(2))):
        two = iopt.QuadraticProgram(np.eye(3), A=A, b=b, lb=0.0, ub=1.0).program()
        assert (as_paired(two) is None) == A.any()  # x₂ is in two rows
    P = np.arange(9.0).reshape(3, 3)
    row, upper = np.array([4.0, 0.0, -2.0]), np.array([INF, INF, 3.0])
    one = program(3, P + P.T, np.ones(3), A=row, b=8.0, lower=0.0, upper=upper)
    qp, restore, place = forms(one)
    assert isinstance(qp, PairedQP)
    np.testing.assert_array_equal(qp.feasible.signs, [1.0, 1.0, -1.0])
    np.testing.assert_array_equal(qp.feasible.group, [0, 1, 0])
    # x₁ = (8 + 2x₃)/4 ≤ 3.5 where x₃ ≤ 3.
    assert restore(qp.feasible.upper)[0] == pytest.approx(3.5, rel=1e-11)
    assert qp.feasible.upper[1] == INF
    x = np.array([2.5, 1.25, 1.0])
    np.testing.assert_allclose(restore(place(x)), x)
    assert qp.value(place(x)) == pytest.approx(x @ P @ x + x.sum())


@pytest.mark.parametrize("kind", KINDS)
def test_the_form_is_a_program(kind: str) -> None:
    """Residuals, multipliers and violations are those of the program itself."""
    for seed in range(2):
        one = drawn(kind, 7, seed)
        qp, restore, place = forms(one)
        generator = np.random.default_rng(seed)
        z = qp.feasible.random_point(generator)
        assert qp.infeasibility(z) <= 1e-14
        np.testing.assert_allclose(place(restore(z)), z, atol=1e-12)
        point = qp.at(z)
        assert point.value == pytest.approx(one.value(restore(z)))
        optimality = answers.optimality(qp, point, None)
        again = answers.optimality(qp, point, optimality.multipliers)
        assert again.stationarity <= 1e-12
        assert again.complementarity == pytest.approx(optimality.complementarity)
        assert {
            k: np.shape(v) for k, v in optimality.multipliers.items()
        } == answers.multiplier_shapes(qp)
        # The nearest point: no feasible direction from it leads towards what is projected.
        outside = 4.0 * generator.standard_normal(7)
        nearest = qp.feasible.project(outside)
        assert qp.infeasibility(nearest) <= 1e-14
        for _ in range(10):
            other = qp.feasible.random_point(generator)
            assert (outside - nearest) @ (other - nearest) <= 1e-11
        assert qp.infeasibility(z + 1.0) > 0.0
