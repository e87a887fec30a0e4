"""Descents on quadratic programs without labels: boxes, simplices, weighted rows, free variables.

What is expected comes from enumeration over all faces, from closed forms, or from UNO.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import indefinite_opt as iopt
from helpers import exact
from helpers.exact import mirrored
from helpers.internals import descent_loops
from helpers.problems import labels, symmetric
from indefinite_opt.errors import UnboundedProblem
from indefinite_opt.modeling.structures import BoxLineQP, PairedQP, paired
from indefinite_opt.solvers.descent import Descent, descend
from indefinite_opt.solvers.local_search.iterated_search import Effort
from indefinite_opt.solvers.local_search.pair_search import LocalSearch
from indefinite_opt.solvers.solver import Task

Array = NDArray[np.float64]

INF = np.inf
KINDS = ("box", "simplex", "row", "rows", "mixed", "half", "free")


class Program(NamedTuple):
    """min ½xᵀPx + qᵀx, rows·x = rhs, lower ≤ x ≤ upper."""

    P: Array
    q: Array
    rows: Array
    rhs: Array
    lower: Array
    upper: Array

    def value(self, x: Array) -> float:
        return float(0.5 * x @ self.P @ x + self.q @ x)

    @property
    def lowest(self) -> float:
        """The least value, by enumeration of faces."""
        ends = self.lower, self.upper
        return exact.Program.on(self.P, self.q, *ends, A=self.rows, b=self.rhs).lowest

    def check_feasible(self, x: Array) -> None:
        assert np.all(x >= self.lower)
        assert np.all(x <= self.upper)
        size = 1.0 + np.abs(self.rows) @ np.abs(x)
        assert np.all(np.abs(self.rows @ x - self.rhs) <= 1e-12 * size)

    def forms(self) -> tuple[PairedQP, Any, Any]:
        form = paired(*self)
        assert form is not None
        return form

    def search(self, effort: Effort | None = None, seed: int = 0) -> Array:
        """The best point of a local search."""
        qp, restore, _ = self.forms()
        task = Task(None, "The program", qp, seed=seed)  # type: ignore[arg-type]
        search = LocalSearch(effort or Effort(jobs=1), task)
        assert search.run() is iopt.Status.SOLVED
        x: Array = restore(search.elite[0].x)
        self.check_feasible(x)
        assert search.elite[0].value == pytest.approx(self.value(x), rel=1e-9, abs=1e-9)
        return x


def program(kind: str, n: int, seed: int) -> Program:
    """Integers in [-50, 50] as Vandenbussche & Nemhauser (2005) draw them, with many sorts of rows.

    The bounds of "half" are infinite on one side and those of "free" on both, with a P that is
    positive definite but for a part whose bounds are finite.
    """
    r = np.random.default_rng([seed, n, KINDS.index(kind)])
    density = r.choice([0.2, 0.5, 1.0])
    P = mirrored((r.integers(-50, 51, (n, n)) * (r.random((n, n)) < density)).astype(float).T)
    q = (r.integers(-50, 51, n) * (r.random(n) < density)).astype(float)
    if kind == "box":
        return Program(P, q, np.zeros((0, n)), np.zeros(0), np.zeros(n), np.ones(n))
    if kind == "simplex":
        A = np.triu(r.random((n, n)) < r.choice([0.3, 0.5, 0.8]), 1).astype(float)
        P = -(A + A.T + 0.5 * np.eye(n))
        return Program(P, np.zeros(n), np.ones((1, n)), np.ones(1), np.zeros(n), np.full(n, INF))
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
    return Program(P, q, rows, rhs, lower, upper)


# ------------------------------------------------------------------------- against enumeration


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [2, 3, 4, 5, pytest.param(6, marks=pytest.mark.slow)])
def test_small_programs_end_at_their_optimum(n: int, kind: str) -> None:
    for seed in range(4):
        one = program(kind, n, seed)
        assert one.value(one.search()) == pytest.approx(one.lowest, rel=1e-6, abs=1e-6), seed


@pytest.mark.parametrize("lines", [0, 1, 2])
def test_a_vector_as_linear_term_of_a_kernel_program(lines: int) -> None:
    for seed in range(6):
        n, y = 5, labels(5, seed)
        linear = np.random.default_rng(seed).standard_normal(n)
        problem = iopt.KernelProblem(symmetric(n, seed), y)
        qp = BoxLineQP(problem, 1.0, linear, 1.0, lines, total=1.0)
        search = LocalSearch(Effort(jobs=1), Task(problem, iopt.SVMDual(), qp))
        assert search.run() is iopt.Status.SOLVED
        ends = np.zeros(n), np.ones(n)
        expected = Program(qp.H(), linear, qp.A, qp.b, *ends).lowest
        assert search.elite[0].value == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [8, 40])
def test_a_descent_ends_at_a_stationary_point(n: int, kind: str) -> None:
    """One multiplier per row explains the gradient up to signs at the bounds."""
    for seed in range(4):
        one = program(kind, n, seed)
        qp, restore, place = one.forms()
        generator = np.random.default_rng(seed)
        start = place(np.clip(5.0 * generator.standard_normal(n), one.lower, one.upper))
        z, value = descend(qp, start, tol=1e-9)
        x = restore(z)
        one.check_feasible(x)
        assert value == pytest.approx(one.value(x), rel=1e-9, abs=1e-9)
        assert value <= one.value(restore(start)) + 1e-9 * abs(value)
        gradient = one.P @ x + one.q
        size = np.abs(one.P) @ np.abs(x) + np.abs(one.q) + 1.0
        for row in [*one.rows, np.zeros(n)]:
            members = row != 0.0 if row.any() else ~np.any(one.rows != 0.0, axis=0)
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


# ------------------------------------------------------------------------------- closed forms


def graph(name: str) -> tuple[Array, int]:
    """Adjacency and clique number of a graph with a formula."""
    if name == "Petersen":  # 2-subsets of 5, adjacent if disjoint: no triangle
        sets = list(itertools.combinations(range(5), 2))
        return np.array([[float(not set(a) & set(b)) for b in sets] for a in sets]), 2
    if name == "triangular":  # 2-subsets of 8, adjacent if they meet: all that hold one number
        sets = list(itertools.combinations(range(8), 2))
        return np.array([[float(len(set(a) & set(b)) == 1) for b in sets] for a in sets]), 7
    if name == "Hamming":  # words of 6 bits at distance 4 or more: A(6, 4) = 4
        words = np.array(list(itertools.product((0, 1), repeat=6)))
        return (np.sum(words[:, None] != words, axis=2) >= 4).astype(float), 4
    part = np.repeat(np.arange(9), 5)  # Turán: nine parts of five
    return (part[:, None] != part).astype(float), 9


@pytest.mark.parametrize("name", ["Petersen", "triangular", "Hamming", "Turan"])
def test_clique_numbers(name: str) -> None:
    """Motzkin & Straus (1965), Bomze (1997): max xᵀ(A + ½I)x on the simplex is 1 - 1/(2ω)."""
    A, clique = graph(name)
    n = len(A)
    P = -2.0 * (A + 0.5 * np.eye(n))
    one = Program(P, np.zeros(n), np.ones((1, n)), np.ones(1), np.zeros(n), np.full(n, INF))
    x = one.search()
    assert one.value(x) == pytest.approx(-(1.0 - 0.5 / clique), rel=1e-9)
    np.testing.assert_allclose(x[x > 1e-6], 1.0 / clique, rtol=1e-5)


def test_the_least_norm_on_a_hyperplane() -> None:
    """min ½‖x‖², aᵀx = b, all variables free: x = ab/‖a‖²."""
    a = np.array([1e-2, -3.0, 0.5, 1e2])
    one = Program(np.eye(4), np.zeros(4), a[None], np.array([7.0]), *np.full((2, 4), INF))
    qp, restore, place = one._replace(lower=np.full(4, -INF)).forms()
    z, _ = descend(qp, place(np.zeros(4)), tol=1e-12)
    np.testing.assert_allclose(restore(z), 7.0 * a / (a @ a), rtol=1e-6)


def test_a_flip_across_a_barrier() -> None:
    """-(x - c)² on [0, 1] is least at the end that is farther from c, whichever end is nearer."""
    c = np.array([0.4, 0.6, 0.45, 0.55])
    one = Program(-2.0 * np.eye(4), 2.0 * c, np.zeros((0, 4)), np.zeros(0), np.zeros(4), np.ones(4))
    x = one.search(Effort(starts=1, kicks=1, jobs=1))
    np.testing.assert_array_equal(x, np.where(c < 0.5, 1.0, 0.0))


# --------------------------------------------------------------------------------- exchanges


@pytest.mark.parametrize("seed", range(6))
def test_no_change_of_two_variables_is_left(seed: int) -> None:
    """After exchanges no two variables of a box have better values, one of them at an end."""
    one = program("box", 8, seed)
    qp, _, place = one.forms()
    run = Descent(Task(None, "", qp), place(np.full(8, 0.5)))  # type: ignore[arg-type]
    for _ in range(50):
        run.to_local_minimum()
        before = run.value
        if not run.exchange():
            break
        assert run.value < before
        assert run.value == pytest.approx(one.value(run.alpha), rel=1e-12)
    grid = np.linspace(0.0, 1.0, 21)
    for i, j in itertools.combinations(range(8), 2):
        for values in itertools.product(grid, repeat=2):
            x = run.alpha.copy()
            x[[i, j]] = values
            at_end = {values[0], values[1]} & {0.0, 1.0}
            assert not at_end or one.value(x) >= run.value - 1e-9 * abs(run.value)


def test_an_exchange_without_end_is_told() -> None:
    """x₁x₂ < 0 for x₁ = -x₂: the concave pair of a row goes on for ever."""
    K = np.array([[0.0, 1.0], [1.0, 0.0]])
    ends = np.full(2, -INF), np.full(2, INF)
    box = descent_loops.Box(np.ones(2), np.zeros(2, np.int64), 1, False, *ends)
    K.setflags(write=False)
    hessian = descent_loops.Hessian(K, K[:0], np.zeros(2), 1.0, 1e-12)
    point = descent_loops.Point(np.zeros(2), np.zeros(2))
    assert descent_loops.exchange(hessian, box, point, 0.0)[3:] == (0, 1)


# ------------------------------------------------------------------------------- unboundedness


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
    one = Program(
        np.array(P), np.array(q), np.reshape(rows, (-1, n)), np.zeros(len(rows)),
        np.full(n, low), np.full(n, INF),
    )  # fmt: skip
    qp, restore, place = one.forms()
    with pytest.raises(UnboundedProblem, match="unbounded") as caught:
        descend(qp, place(np.ones(n)))
    direction = restore(caught.value.direction)
    assert np.all((direction >= 0.0) | (low == -INF))
    np.testing.assert_allclose(one.rows @ direction, 0.0, atol=1e-12)
    x = place(np.ones(n))
    values = [one.value(restore(x) + t * direction) for t in (1e3, 1e6, 1e9)]
    assert values[2] < values[1] < values[0] < 0.0


def test_curved_rays_that_a_bound_ends_are_no_error() -> None:
    """-x² on [0, 5] beside a free convex variable."""
    one = Program(
        np.diag([-2.0, 2.0]), np.array([0.0, -2.0]), np.zeros((0, 2)), np.zeros(0),
        np.array([0.0, -INF]), np.array([5.0, INF]),
    )  # fmt: skip
    np.testing.assert_allclose(one.search(), [5.0, 1.0])


# ------------------------------------------------------------------------------ the scaled form


def test_a_variable_in_two_rows_has_no_form() -> None:
    rows = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    assert paired(np.eye(3), np.zeros(3), rows, np.ones(2), np.zeros(3), np.ones(3)) is None
    assert paired(np.eye(3), np.zeros(3), 0.0 * rows, np.zeros(2), np.zeros(3), np.ones(3))


def test_the_form_of_a_program() -> None:
    """Coefficients ±1 after the change of variables; bounds that a row implies."""
    one = Program(
        np.arange(9.0).reshape(3, 3), np.ones(3), np.array([[4.0, 0.0, -2.0]]), np.array([8.0]),
        np.zeros(3), np.array([INF, INF, 3.0]),
    )  # fmt: skip
    qp, restore, place = one._replace(P=one.P + one.P.T).forms()
    assert isinstance(qp, PairedQP)
    np.testing.assert_array_equal(qp.signs, [1.0, 1.0, -1.0])
    np.testing.assert_array_equal(qp.group, [0, 1, 0])
    # x₁ = (8 + 2x₃)/4 ≤ 3.5 where x₃ ≤ 3.
    assert restore(qp.upper)[0] == 3.5
    assert qp.upper[1] == INF
    x = np.array([2.5, 1.25, 1.0])
    np.testing.assert_allclose(restore(place(x)), x)
    assert qp.value(place(x)) == pytest.approx(x @ one.P @ x + x.sum())


@pytest.mark.parametrize("kind", KINDS)
def test_the_form_is_a_structure(kind: str) -> None:
    """Residuals, multipliers and violations are those of the program itself."""
    for seed in range(5):
        one = program(kind, 7, seed)
        qp, restore, place = one.forms()
        generator = np.random.default_rng(seed)
        z = qp.random_start(generator)
        assert qp.infeasibility(z) <= 1e-14
        np.testing.assert_allclose(place(restore(z)), z, atol=1e-12)
        point = qp.at(z)
        assert point.value == pytest.approx(one.value(restore(z)))
        optimality = qp.optimality(point, None)
        again = qp.optimality(point, optimality.multipliers)
        assert again.stationarity <= 1e-12
        assert again.complementarity == pytest.approx(optimality.complementarity)
        assert {k: np.shape(v) for k, v in optimality.multipliers.items()} == qp.multiplier_shapes
        # The nearest point: no feasible direction from it leads towards what is projected.
        outside = 4.0 * generator.standard_normal(7)
        nearest = qp.project(outside)
        assert qp.infeasibility(nearest) <= 1e-14
        for _ in range(20):
            other = qp.random_start(generator)
            assert (outside - nearest) @ (other - nearest) <= 1e-11
        assert qp.infeasibility(z + 1.0) > 0.0


def test_convexity_is_that_along_the_rows() -> None:
    """-x₁x₂ is convex where x₁ + x₂ is given, and is not on a box."""
    P, q, ends = np.array([[0.0, -1.0], [-1.0, 0.0]]), np.zeros(2), (np.zeros(2), np.ones(2))
    line = Program(P, q, np.ones((1, 2)), np.ones(1), *ends).forms()[0]
    assert not line.known_convex
    assert line.is_convex
    assert line.known_convex
    assert not Program(P, q, np.zeros((0, 2)), np.zeros(0), *ends).forms()[0].is_convex


# ---------------------------------------------------------------------------------- beside UNO


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["box", "simplex", "row", "rows", "mixed"])
def test_not_worse_than_twenty_starts_of_uno(kind: str) -> None:
    """On all but one of ten programs with 50 variables at most."""
    cp = pytest.importorskip("cvxpy")
    pytest.importorskip("unopy")
    worse = 0
    for n, seed in itertools.product((20, 50), range(5)):
        one = program(kind, n, seed)
        x = cp.Variable(n)
        constraints = [x >= one.lower]
        constraints += [x <= one.upper] if np.all(np.isfinite(one.upper)) else []
        constraints += [one.rows @ x == one.rhs] if one.rhs.size else []
        goal = cp.Minimize(0.5 * cp.sum(cp.multiply(x, one.P @ x)) + one.q @ x)
        model, generator, best = cp.Problem(goal, constraints), np.random.default_rng(seed), INF
        for _ in range(20):
            x.value = generator.uniform(one.lower, np.minimum(one.upper, 1.0))
            model.solve(nlp=True, solver=cp.UNO, logger="SILENT")
            point = np.clip(x.value, one.lower, one.upper)
            if np.all(np.abs(one.rows @ point - one.rhs) <= 1e-6):
                best = min(best, one.value(point))
        worse += one.value(one.search()) > best + 1e-6 * abs(best)
    assert worse <= 1
