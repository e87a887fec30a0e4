"""The compiled active-set method makes the steps that its formulas state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from plain_active_set import minimum

from indefinite_opt.core.active_set import (
    ARTIFICIAL,
    EQUAL,
    FREE,
    LOWER,
    RUNNING,
    STALLED,
    STATIONARY,
    TEMPORARY,
    UNBOUNDED,
    UPPER,
    Quadratic,
    State,
    advance,
    factorise,
)
from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import Array

KINDS = ("convex", "singular", "indefinite", "concave")
SIZES = [(1, 0), (2, 1), (5, 0), (6, 4), (9, 12), (20, 10)]


def random_program(n: int, m: int, kind: str, seed: int) -> tuple[Quadratic, Array]:
    """A program in a box, of whose rows a third are equations, and a feasible point."""
    generator = np.random.default_rng(seed)
    root = generator.standard_normal((n, n))
    half = root[:, : n // 2]
    P = {
        "convex": root @ root.T + np.eye(n), "singular": half @ half.T,
        "indefinite": root + root.T, "concave": -root @ root.T,
    }[kind]  # fmt: skip
    R, x = generator.standard_normal((m, n)), generator.uniform(-1.0, 1.0, n)
    wide = generator.random(m) * np.resize([0.0, 1.0, 1.0], m)
    low = np.concatenate([np.full(n, -1.0), R @ x - wide])
    high = np.concatenate([np.ones(n), R @ x + np.where(wide > 0.5, np.inf, wide)])
    return Quadratic(P, 2.0 * generator.standard_normal(n), R, low, high), x


def normals(program: Quadratic) -> Array:
    return np.vstack([np.eye(program.q.size), program.R])


def check_factors(program: Quadratic, state: State) -> None:
    """Q = [Z Y] is orthogonal, WZ = 0 and WY = T is triangular, LLᵀ = ZᵀPZ."""
    n, nz, Q = program.q.size, int(state.counts[FREE]), state.basis.T
    np.testing.assert_allclose(Q.T @ Q, np.eye(n), rtol=0, atol=1e-12)
    held = state.slot[nz:] != ARTIFICIAL
    assert sorted(state.slot[nz:][held]) == np.flatnonzero(state.held).tolist()
    W, T = normals(program)[state.slot[nz:][held]], state.T[nz:, nz:]
    np.testing.assert_allclose(W @ Q[:, :nz], 0.0, rtol=0, atol=1e-11)
    np.testing.assert_allclose(W @ Q[:, nz:], np.triu(T)[held], rtol=0, atol=1e-11)
    assert not np.tril(T, -1).any()
    Z, L = Q[:, :nz], np.tril(state.L[:nz, :nz])
    np.testing.assert_allclose(L @ L.T, Z.T @ program.P @ Z, rtol=0, atol=1e-10)
    assert np.all(np.diag(L) > 0.0)


def ended(program: Quadratic, x: Array) -> State:
    """The state at a stationary point, to which the steps are made one by one."""
    state = State(program, x, 0)
    factorise(program, state, True)
    check_factors(program, state)
    for _ in range(1000):
        outcome = advance(program, state, 1)
        check_factors(program, state)
        if outcome != RUNNING:
            assert outcome == STATIONARY
            return state
    raise AssertionError("more steps than any of these programs needs")


def check_conditions(program: Quadratic, state: State) -> None:
    """Constraints hold, and ∇F = Σ λ_c a_c with the sign that the end of each constraint asks."""
    nz, x = int(state.counts[FREE]), state.x
    values = np.concatenate([x, program.R @ x])
    assert np.all(values >= program.low - 1e-12)
    assert np.all(values <= program.high + 1e-12)
    slot, side, factors = state.slot[nz:], state.side[nz:], state.multiplier[nz:]
    at_end = side < TEMPORARY
    left = program.P @ x + program.q - factors[at_end] @ normals(program)[slot[at_end]]
    np.testing.assert_allclose(left, 0.0, rtol=0, atol=1e-10)
    assert np.all(factors[side == LOWER] >= -1e-10)
    assert np.all(factors[side == UPPER] <= 1e-10)
    for held, ends in (((LOWER, EQUAL), program.low), ((UPPER, EQUAL), program.high)):
        chosen = slot[np.isin(side, held)]
        np.testing.assert_allclose(values[chosen], ends[chosen], rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "m"), SIZES)
@pytest.mark.parametrize("seed", range(3))
def test_ends_satisfy_the_conditions_and_factors_stay_exact(
    n: int, m: int, kind: str, seed: int
) -> None:
    program, x = random_program(n, m, kind, seed)
    check_conditions(program, ended(program, x))


@pytest.mark.parametrize(("n", "m"), SIZES)
@pytest.mark.parametrize("seed", range(3))
def test_the_end_of_a_convex_program_is_that_of_the_plain_method(n: int, m: int, seed: int) -> None:
    program, x = random_program(n, m, "convex", seed)
    A, equal = normals(program), program.low == program.high
    above, below = ~equal & (program.high < np.inf), ~equal & (program.low > -np.inf)
    rows = np.vstack([A[equal], A[above], -A[below]])
    rhs = np.concatenate([program.high[equal], program.high[above], -program.low[below]])
    plain = minimum(program.P, program.q, rows, rhs, x, int(np.count_nonzero(equal)))
    np.testing.assert_allclose(ended(program, x).x, plain, rtol=0, atol=1e-10)


def test_factors_that_are_computed_anew_are_those_of_the_same_working_set() -> None:
    program, x = random_program(12, 8, "indefinite", 0)
    state = State(program, x, 0)
    factorise(program, state, True)
    assert advance(program, state, 6) == RUNNING
    held = state.held.copy()
    factorise(program, state, False)
    check_factors(program, state)
    assert state.held.tolist() == held.tolist()


def test_a_program_without_end_is_unbounded_along_its_ray() -> None:
    """xy where x ≥ -1 and x + y ≥ -1 falls without end as x rises and y falls."""
    program = Quadratic(
        np.array([[0.0, 1.0], [1.0, 0.0]]), np.zeros(2), np.ones((1, 2)),
        np.array([-1.0, -np.inf, -1.0]), np.full(3, np.inf),
    )  # fmt: skip
    state = State(program, np.array([1.0, 1.0]), 0)
    factorise(program, state, True)
    assert advance(program, state, 100) == UNBOUNDED
    d = state.ray
    assert d @ program.P @ d < 0.0
    assert d[0] >= 0.0
    assert d.sum() >= -1e-15


def test_rotations_of_numbers_whose_squares_underflow_are_orthogonal() -> None:
    rows = np.array([[1e-170, 3e-170, 2e-310, 1.0], [1.0, 1e-200, 5e-324, 5e-324]])
    ends = np.concatenate([np.full(4, 2.0), np.zeros(2)])
    program = Quadratic(np.eye(4), np.ones(4), rows, -ends, ends)
    state = State(program, np.zeros(4), 0)
    factorise(program, state, True)
    assert state.counts[FREE] == 2
    np.testing.assert_allclose(state.basis @ state.basis.T, np.eye(4), rtol=0, atol=1e-15)
    np.testing.assert_allclose(rows @ state.basis[:2].T, 0.0, rtol=0, atol=1e-15)


def test_numbers_that_overflow_end_the_steps() -> None:
    free = np.full(2, np.inf)
    program = Quadratic(np.diag([1e200, 1e200]), np.zeros(2), np.empty((0, 2)), -free, free)
    state = State(program, np.array([1e200, 1.0]), 0)
    factorise(program, state, True)
    assert advance(program, state, 5) == STALLED


def changed(array: Array, value: Any) -> Array:
    """A copy whose last entry is another one."""
    other = array.copy()
    other.reshape(-1)[-1] = value
    return other


REFUSED = {
    "P": [lambda a: a[:-1], lambda a: a.T[::2], lambda a: a.astype(np.float32), np.nan, np.inf],
    "q": [lambda a: a[None], lambda a: list(a), np.nan, -np.inf],
    "R": [lambda a: a[:, :-1], lambda a: np.asfortranarray(a), np.nan, np.inf],
    "low": [lambda a: a[:-1], np.nan],
    "high": [lambda a: np.append(a, 1.0), np.nan],
}


@pytest.mark.parametrize(("name", "change"), [(k, c) for k, each in REFUSED.items() for c in each])
def test_programs_that_loops_would_misread_are_refused(name: str, change: Any) -> None:
    program, _ = random_program(4, 3, "convex", 0)
    given = {each: getattr(program, each) for each in REFUSED}
    array = given[name]
    array = change(array) if callable(change) else changed(array, change)
    with pytest.raises(ProblemError, match=rf"^{name}:"):
        Quadratic(**given | {name: array})
    if name in ("P", "q"):
        with pytest.raises(ProblemError, match=rf"^{name}:"):
            program.with_objective(**{"q": program.q, name: array})


def test_another_objective_has_the_same_rows() -> None:
    program, x = random_program(6, 4, "convex", 0)
    other = program.with_objective(-x, np.eye(6))
    assert (other.norms is program.norms, other.largest) == (True, 1.0)
    np.testing.assert_allclose(ended(other, x).x, x, rtol=0, atol=1e-14)  # it is the nearest point
    assert program.P is not other.P
    np.testing.assert_array_equal(other.sizes, np.eye(6))


def test_python_cannot_write_where_loops_take_indices_from() -> None:
    program, x = random_program(4, 3, "convex", 0)
    state = State(program, x, 0)
    for name in ("slot", "side", "counts"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(state, name)[...] = 0


@pytest.mark.parametrize("x", [np.zeros(3), np.zeros((1, 4)), np.array([0.0, 0.0, 0.0, np.nan])])
def test_points_that_loops_would_misread_are_refused(x: Array) -> None:
    with pytest.raises(ProblemError, match=r"^x:"):
        State(random_program(4, 3, "convex", 0)[0], x, 0)


def test_a_point_that_is_no_number_is_refused() -> None:
    program, x = random_program(4, 3, "convex", 0)
    state = State(program, x, 0)
    factorise(program, state, True)
    state.x[0] = np.nan
    for call in (lambda: factorise(program, state, True), lambda: advance(program, state, 1)):
        with pytest.raises(ProblemError, match=r"^x: expected numbers, got NaN"):
            call()


def test_a_state_belongs_to_a_program_of_its_size() -> None:
    program, x = random_program(4, 3, "convex", 0)
    state = State(program, x, 0)
    other, _ = random_program(4, 2, "convex", 0)
    for call in (lambda: factorise(other, state, True), lambda: advance(other, state, 1)):
        with pytest.raises(ProblemError, match="expected a state of 4 variables and 2 rows"):
            call()
    with pytest.raises(ProblemError, match=r"^steps:"):
        advance(program, state, -1)
