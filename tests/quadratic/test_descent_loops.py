"""The compiled loops of the descent, and the rounding of what they keep up to date."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import indefinite_opt as iopt
from helpers.internals import descent_loops, perturbation_loops
from helpers.problems import gaussian, labels, symmetric
from helpers.programs import FORMS, INF, Program, form, program_of
from indefinite_opt.modeling.structures import BoxLineQP
from indefinite_opt.quadratic.local.descent.descent import Descent
from indefinite_opt.quadratic.solving.solver import Task

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


def box(K: Array, y: Array, formulation: iopt.Formulation) -> BoxLineQP:
    """The structure that a descent reads."""
    return program_of(iopt.KernelProblem(K, y), formulation)


# ----------------------------------------------------------------------------- compiled loops


@dataclass(frozen=True, eq=False)
class State:
    """v, weights, signs and groups of points on their way, many of them at a bound."""

    v: Array
    alpha: Array
    y: Array
    group: Indices
    groups: int
    lower: Array
    upper: Array

    @property
    def alone(self) -> NDArray[np.bool_]:
        return self.group == self.groups

    @property
    def loops(self) -> tuple[descent_loops.PairProgram, descent_loops.DescentPoint]:
        """The state as the loops take it; its kernel matrix is not read."""
        n, singles = self.v.size, bool(self.alone.any())
        program = descent_loops.pair_program(
            np.empty((0, n)), np.ones(n), 1.0, self.y, self.group, self.groups, singles,
            self.lower, self.upper,
        )  # fmt: skip
        return program, descent_loops.DescentPoint(self.alpha, self.v)

    @property
    def rises(self) -> NDArray[np.bool_]:
        return np.where(self.y > 0, self.alpha < self.upper, self.alpha > self.lower)

    @property
    def falls(self) -> NDArray[np.bool_]:
        return np.where(self.y > 0, self.alpha > self.lower, self.alpha < self.upper)

    def worst(self, chosen: Indices) -> float:
        """Largest violation among some points, pair by pair and one by one."""
        rises, falls = self.rises, self.falls
        alone = [max(self.v[i] * rises[i], -self.v[i] * falls[i]) for i in chosen if self.alone[i]]
        pairs = [
            self.v[i] - self.v[j]
            for i in chosen
            for j in chosen
            if rises[i] and falls[j] and self.group[i] == self.group[j] != self.groups
        ]
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


@settings(max_examples=200)
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


@pytest.mark.parametrize("sizes", [[5], [1], [4, 3], [1, 3], [2, 1], [1, 1], [0, 3], [2, 3, 1, 2]])
@pytest.mark.parametrize("free", [0, 1, 4])
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


@dataclass(eq=False)
class Loose:
    """A point, and v there, as the loops take them."""

    program: Program
    K: Array
    group: Indices
    alpha: Array
    v: Array

    @classmethod
    def at(cls, program: Program, alpha: Array) -> Loose:
        """With K protected, as in a problem: loops would be compiled anew for other types."""
        group = (program.y < 0).astype(np.int64) * (program.lines == 2)
        K = np.ascontiguousarray(program.Q * np.outer(program.y, program.y))
        K.setflags(write=False)
        return cls(program, K, group, alpha, -program.y * program.gradient(alpha))

    @property
    def error(self) -> float:
        """Of v against the gradient."""
        return float(np.abs(self.v + self.program.y * self.program.gradient(self.alpha)).max())

    @property
    def loops(self) -> tuple[descent_loops.PairProgram, descent_loops.DescentPoint]:
        """The program and the point as the loops take them."""
        p, n = self.program, self.v.size
        program = descent_loops.pair_program(
            self.K, np.diag(self.K).copy(), p.h, p.y.copy(), self.group, p.lines, p.lines == 0,
            np.zeros(n), np.full(n, p.upper),
        )  # fmt: skip
        return program, descent_loops.DescentPoint(self.alpha, self.v)

    def perturb(self, state: NDArray[np.uint64], slack: float) -> tuple[int, int, float]:
        n = self.v.size
        plan = perturbation_loops.PerturbationPlan(50, n // 2, slack, 1e-3, 10**9, INF)
        linear = np.full(n, self.program.c)
        return perturbation_loops.perturb(*self.loops, linear, plan, state)


@pytest.mark.parametrize("slack", [0.0, 0.05])
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("kind", ["indefinite", "negative", "positive"])
def test_perturbations_only_go_down(kind: str, name: str, slack: float) -> None:
    n = 30
    K = symmetric(n, 1) if kind == "indefinite" else gaussian(n, 3, 0.5)
    K = -K if kind == "negative" else K
    y = np.resize([1.0, -1.0], n)
    formulation = form(name, y, 2.0)
    program = Program.of(K, y, formulation)
    qp = box(K, y, formulation)
    point = Loose.at(program, qp.random_start(np.random.default_rng(0)))
    generator = np.array([7], np.uint64)
    value, useful = program.value(point.alpha), 0
    for _ in range(6):
        before = point.alpha.copy()
        made, steps, work = point.perturb(generator, slack)
        assert made == 50
        assert steps > 0
        assert work > 0.0
        program.check_feasible(point.alpha)
        assert point.error <= 1e-10 * float(np.abs(K).max()) * max(1.0, point.alpha.sum())
        reached = program.value(point.alpha)
        assert reached < value or np.array_equal(before, point.alpha)
        value, useful = reached, useful + (reached < value)
    assert useful > 0


@pytest.mark.parametrize("steps", [1, 7, 400])
@pytest.mark.parametrize("name", FORMS)
def test_a_block_of_steps(name: str, steps: int) -> None:
    """Only weights of the block change, v everywhere, and F by what is told."""
    n, m = 25, 10
    y = np.resize([1.0, -1.0], n)
    K = symmetric(n, 6)
    formulation = form(name, y, 3.0)
    program = Program.of(K, y, formulation)
    qp = box(np.eye(n), y, formulation)
    point = Loose.at(program, qp.random_start(np.random.default_rng(1)))
    before = point.alpha.copy()
    at = point.loops
    block, _ = chosen_block(at, m)
    # The work that is allowed is used up by one block.
    *outcome, offset, blocks = descent_loops.block_steps(*at, 2e-9, m, 0, steps, 1.0)
    outcome = descent_loops.StepOutcome(*outcome)
    assert blocks == 1
    assert 1 <= outcome.steps <= steps
    moved = np.flatnonzero(point.alpha != before)
    assert outcome.work >= n * moved.size
    assert offset == (block[-1] + 1) % n
    assert np.isin(moved, block).all()
    program.check_feasible(point.alpha)
    assert point.error <= 1e-14 * n
    assert outcome.decrease > 0.0
    fallen = program.value(before) - program.value(point.alpha)
    assert outcome.decrease == pytest.approx(fallen, abs=1e-14 * n * steps)


# ----------------------------------------------------------------------------------- rounding


def running(K: Array, y: Array, formulation: iopt.Formulation, start: Array | None) -> Descent:
    qp = box(K, y, formulation)
    task = Task(qp.problem, formulation, qp)
    return Descent(task, qp.start() if start is None else start.copy())


def rounding_of_v(run: Descent, program: Program) -> tuple[float, float, float]:
    """Largest error that pair steps have made of v, the bound on it, and error of the value."""

    def exact(alpha: Array) -> NDArray[np.longdouble]:
        product = program.Q.astype(np.longdouble) @ alpha.astype(np.longdouble)
        return -program.y * (program.h * product + program.c)

    before = exact(run.alpha) - run.v
    for _ in range(30):
        state, _ = run.pair_steps(1e-10 * run.unit, 1000)
        if state != descent_loops.RUNNING:
            break
    assert run.gradient is None
    error = np.abs(exact(run.alpha) - run.v - before).max()
    value = abs(run.value - program.value(run.alpha))
    return float(error), float(run.rounding), value


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("kind", ["indefinite", "gaussian", "large"])
def test_rounding_is_bounded(kind: str, name: str) -> None:
    n = 60
    K = symmetric(n, 1) if kind == "indefinite" else gaussian(n, 3, 0.05)
    K = 1e4 * K if kind == "large" else K
    y = np.resize([1.0, -1.0], n)
    formulation = form(name, y, 5.0 if name in FORMS[2:] else 100.0)
    run = running(K, y, formulation, None)
    error, bound, value = rounding_of_v(run, Program.of(K, y, formulation))
    assert error <= bound
    assert value <= 1e-9 * max(1.0, abs(run.value))


def test_rounding_is_bounded_beside_heavy_weights() -> None:
    """60 weights at the bound make v large, and four others take steps that it hardly shows."""
    heavy, few, C = 60, 4, 1e4
    y = np.resize([1.0, -1.0], few + heavy)
    K = np.zeros((y.size, y.size))
    K[:few, :few] = gaussian(few, 2, 0.3)
    K[few:, few:] = -np.outer(y[few:], y[few:])
    K[:few, few:] = 1e-6 * np.outer(np.ones(few), y[few:] * np.resize([1, 1, -1, -1], heavy))
    K[few:, :few] = K[:few, few:].T
    formulation = iopt.SVMDual(C=C, bias=False)
    run = running(K, y, formulation, np.append(np.zeros(few), np.full(heavy, C)))
    error, bound, _ = rounding_of_v(run, Program.of(K, y, formulation))
    assert error <= bound
