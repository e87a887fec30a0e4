"""The compiled loops of the descent, and the rounding of what they keep up to date."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import indefinite_opt as iopt
from helpers.internals import descent_loops, perturbation_loops
from helpers.problems import gaussian, labels, symmetric
from helpers.programs import FORMS, INF, Program, form, program_of
from indefinite_opt.quadratic.local.descent.descent import Descent
from indefinite_opt.quadratic.solving.solver import Task

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


class State(NamedTuple):
    """v, weights, signs and groups of points on their way, many of them at a bound."""

    v: Array
    alpha: Array
    y: Array
    group: Indices
    groups: int
    lower: Array
    upper: Array

    @property
    def loops(self) -> tuple[descent_loops.PairProgram, descent_loops.DescentPoint]:
        """The state as the loops take it; its kernel matrix is not read."""
        n = self.v.size
        program = descent_loops.PairProgram(
            np.empty((0, n)), np.ones(n), 1.0, self.y, self.group, self.groups, self.lower,
            self.upper,
        )  # fmt: skip
        return program, descent_loops.DescentPoint(self.alpha, self.v)

    def worst(self, chosen: Indices) -> float:
        """Largest violation among some points, pair by pair and one by one."""
        below, above = self.alpha < self.upper, self.alpha > self.lower
        rises, falls = np.where(self.y > 0, (below, above), (above, below))
        v, group = self.v, self.group
        alone = [max(v[i] * rises[i], -v[i] * falls[i]) for i in chosen if group[i] == self.groups]
        pairs = [v[i] - v[j] for i, j in itertools.product(chosen, repeat=2)
                 if rises[i] and falls[j] and group[i] == group[j] != self.groups]  # fmt: skip
        return max([0.0, *alone, *pairs])


@st.composite
def states(draw: st.DrawFn) -> State:
    n, groups = draw(st.integers(2, 24)), draw(st.integers(0, 4))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    levels = draw(st.sampled_from([2, 5, 1000]))  # few of them, for ties
    v = generator.integers(-levels, levels, n) * 10.0 ** draw(st.integers(-6, 6))
    ends = [draw(st.sampled_from([(-INF, -2.0, 0.0), (0.0, 0.1, 1.0, INF)][k])) for k in (0, 1)]
    lower, upper = np.full(n, ends[0]), np.full(n, ends[1])
    if draw(st.booleans()):
        lower, upper = generator.choice([-INF, -2.0, 0.0], n), generator.choice([0.1, 1.0, INF], n)
    low, high = np.maximum(lower, -5.0), np.minimum(upper, 5.0)
    alpha = np.where(generator.random(n) < 0.3, 0.5 * (low + high), low)
    alpha = np.where(generator.random(n) < 0.3, high, alpha)
    group = generator.integers(0, groups + draw(st.integers(int(groups == 0), 1)), n)
    y = labels(n, int(generator.integers(99)))
    return State(v, alpha, y, group.astype(np.int64), groups, lower, upper)


def chosen_block(
    at: tuple[descent_loops.PairProgram, descent_loops.DescentPoint], size: int, offset: int = 0
) -> tuple[Indices, float]:
    members = np.full(size, -1)
    count, worst = descent_loops.choose_block(*at, offset, members)
    assert np.all(members[count:] == -1)
    return members[:count], worst


@settings(max_examples=60)
@given(state=states(), size=st.integers(2, 30), offset=st.integers(0, 23))
def test_a_block_holds_the_worst_violators(state: State, size: int, offset: int) -> None:
    n = state.v.size
    block, worst = chosen_block(state.loops, size, offset % n)
    assert worst == state.worst(np.arange(n))
    if worst == 0.0:
        assert block.size == 0
        return
    assert 1 <= block.size <= size
    assert np.unique(block).size == block.size
    assert state.worst(block) == worst


def test_a_block_holds_the_worst_of_those_that_rise_and_of_those_that_fall() -> None:
    """Six weights at 0 with v from 10 down to 5, and six at 1 with v from 0 up to 5, on one line.

    The i-th of each violates (21) by 10 - i: of six, two of each kind are sure to be the worst.
    """
    v = np.append(np.arange(10.0, 4.0, -1.0), np.arange(6.0))
    alpha, y, group = np.repeat([0.0, 1.0], 6), np.ones(12), np.zeros(12, np.int64)
    order = np.random.default_rng(0).permutation(12)
    state = State(v[order], alpha[order], y, group, 1, np.zeros(12), np.ones(12))
    block, worst = chosen_block(state.loops, 6)
    assert worst == 10.0
    assert {0, 1, 6, 7} <= set(order[block].tolist()) <= {0, 1, 2, 6, 7, 8}


@pytest.mark.parametrize("sizes", [[5], [1], [4, 3], [1, 3], [0, 3], [2, 3, 1, 2]])
@pytest.mark.parametrize("free", [0, 4])
def test_reduced_matrix(free: int, sizes: list[int]) -> None:
    """NᵀKN, the columns of N being e_p - e_b, b the last of the group of p, or e_p alone."""
    m = sum(sizes) + free
    n = m + 2
    K = symmetric(n, 3)
    columns = np.random.default_rng(m).permutation(n)[:m]
    group = np.append(np.repeat(np.arange(len(sizes)), sizes), np.full(free, -1))
    N = np.eye(m)
    for p in np.flatnonzero(group >= 0):
        N[np.flatnonzero(group == group[p])[-1], p] -= 1.0
    N = N[:, np.any(N != 0.0, axis=0)]
    expected = N.T @ K[np.ix_(columns, columns)] @ N
    storage, slots = K[columns[::-1]].copy(), np.arange(m)[::-1].copy()
    storage.setflags(write=False)
    matrix = np.zeros((N.shape[1], N.shape[1]))
    last = [np.flatnonzero(group == g)[-1] if g >= 0 else -1 for g in group]
    descent_loops.reduced_matrix(storage, slots, columns, np.array(last), matrix)
    np.testing.assert_allclose(np.tril(matrix), np.tril(expected), atol=8e-15)
    np.testing.assert_array_equal(np.triu(matrix, 1), 0.0)


def running(
    K: Array, y: Array, formulation: iopt.Formulation, start: Array | None = None,
    seed: int | None = None,
) -> tuple[Descent, Program]:  # fmt: skip
    """A descent from a point, from a random one, or from where it starts by default."""
    qp = program_of(iopt.KernelProblem(K, y), formulation)
    if start is None:
        start = (
            qp.start() if seed is None else qp.feasible.random_point(np.random.default_rng(seed))
        )
    run = Descent(Task(qp.problem, formulation, qp), start.copy())
    return run, Program.of(K, y, formulation)


def error_of_v(run: Descent, program: Program) -> float:
    return float(np.abs(run.v + program.y * program.gradient(run.alpha)).max())


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize(
    ("kind", "slack"), [("indefinite", 0.05), ("negative", 0.0), ("positive", 0.05)]
)
def test_perturbations_only_go_down(kind: str, name: str, slack: float) -> None:
    n = 30
    K = symmetric(n, 1) if kind == "indefinite" else gaussian(n, 3, 0.5)
    K = -K if kind == "negative" else K
    y = np.resize([1.0, -1.0], n)
    run, program = running(K, y, form(name, y, 2.0), seed=0)
    plan = perturbation_loops.PerturbationPlan(50, n // 2, slack, 1e-3, 10**9, INF)
    linear, generator = np.full(n, program.c), np.array([7], np.uint64)
    values = [program.value(run.alpha)]
    for _ in range(4):
        before = run.alpha.copy()
        given = run.program, run.point, linear, plan, generator
        made, steps, work = perturbation_loops.perturb(*given)
        assert made == 50
        assert min(steps, work) > 0
        program.check_feasible(run.alpha)
        error = error_of_v(run, program)
        assert error <= 1e-10 * float(np.abs(K).max()) * max(1.0, run.alpha.sum())
        values.append(program.value(run.alpha))
        assert values[-1] < values[-2] or np.array_equal(before, run.alpha)
    assert values[-1] < values[0]


@pytest.mark.parametrize("steps", [1, 400])
@pytest.mark.parametrize("name", FORMS)
def test_a_block_of_steps(name: str, steps: int) -> None:
    """Only weights of the block change, v everywhere, and F by what is told."""
    n, m = 25, 10
    y = np.resize([1.0, -1.0], n)
    run, program = running(symmetric(n, 6), y, form(name, y, 3.0), seed=1)
    before, at = run.alpha.copy(), (run.program, run.point)
    block, _ = chosen_block(at, m)
    # The work that is allowed is used up by one block.
    outcome, offset, blocks = descent_loops.block_steps(*at, 2e-9, m, 0, steps, 1.0)
    assert blocks == 1
    assert 1 <= outcome.steps <= steps
    moved = np.flatnonzero(run.alpha != before)
    assert outcome.work >= n * moved.size
    assert offset == (block[-1] + 1) % n
    assert np.isin(moved, block).all()
    program.check_feasible(run.alpha)
    assert error_of_v(run, program) <= 1e-14 * n
    assert outcome.decrease > 0.0
    fallen = program.value(before) - program.value(run.alpha)
    assert outcome.decrease == pytest.approx(fallen, abs=1e-14 * n * steps)


def assert_rounding_is_bounded(run: Descent, program: Program) -> None:
    """The largest error that pair steps have made of v."""

    def exact(alpha: Array) -> NDArray[np.longdouble]:
        product = program.Q.astype(np.longdouble) @ alpha.astype(np.longdouble)
        return -program.y * (program.h * product + program.c)

    before = exact(run.alpha) - run.v
    for _ in range(30):
        state, _ = run.pair_steps(1e-10 * run.unit, 1000)
        if state != descent_loops.RUNNING:
            break
    assert run.gradient is None
    assert np.abs(exact(run.alpha) - run.v - before).max() <= run.rounding


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("kind", ["indefinite", "large"])
def test_rounding_is_bounded(kind: str, name: str) -> None:
    n = 60
    K = symmetric(n, 1) if kind == "indefinite" else 1e4 * gaussian(n, 3, 0.05)
    y = np.resize([1.0, -1.0], n)
    run, program = running(K, y, form(name, y, 5.0 if name in FORMS[2:] else 100.0))
    assert_rounding_is_bounded(run, program)
    assert run.value == pytest.approx(program.value(run.alpha), rel=1e-9, abs=1e-9)


def test_rounding_is_bounded_beside_heavy_weights() -> None:
    """60 weights at the bound make v large, and four others take steps that it hardly shows."""
    heavy, few, C = 60, 4, 1e4
    y = np.resize([1.0, -1.0], few + heavy)
    K = np.zeros((y.size, y.size))
    K[:few, :few] = gaussian(few, 2, 0.3)
    K[few:, few:] = -np.outer(y[few:], y[few:])
    K[:few, few:] = 1e-6 * np.outer(np.ones(few), y[few:] * np.resize([1, 1, -1, -1], heavy))
    K[few:, :few] = K[:few, few:].T
    start = np.append(np.zeros(few), np.full(heavy, C))
    assert_rounding_is_bounded(*running(K, y, iopt.SVMDual(C=C, bias=False), start))
