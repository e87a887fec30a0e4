"""Linear programs at any scale and offset: they end, their points are feasible, bounds hold."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

import indefinite_opt as iopt
from helpers.exact import as_matrix, as_vector, linear_optimum, product
from helpers.problems import random_problem
from helpers.processes import fresh
from indefinite_opt.modeling.linear_programs.linear_program import LinearProgram
from indefinite_opt.quadratic.solving.solution import Status
from indefinite_opt.quadratic.structures.claim import Claim

LABELS = np.array([-1, 1, -1, -1, -1, -1])

OFFSET = 509701220.0


def cycling_kernel() -> np.ndarray:
    """Rows that HiGHS cycles on: their differences are 1e-8 of their size."""
    A = np.random.default_rng(19).uniform(0.2, 3.4, (6, 6))
    return np.round(OFFSET + 0.5 * (A + A.T), 7)


def game_value(K: np.ndarray, y: np.ndarray, beta: float) -> float:
    """The optimal δ by scipy's interior points, of numbers about 1."""
    n = y.size
    Q = K * np.outer(y, y)
    found = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=np.column_stack([2.0 * Q, -np.ones(n)]),
        b_ub=np.zeros(n),
        A_eq=np.append([y, np.ones(n)], [[0.0], [0.0]], axis=1),
        b_eq=[0.0, 1.0],
        bounds=[(0.0, beta)] * n + [(None, None)],
    )
    assert found.status == 0
    return float(found.fun)


def test_a_constant_added_to_the_kernel_does_not_keep_the_solvers_busy() -> None:
    """The weights are balanced: the constant changes nothing. It took for ever once."""
    code = (
        "import indefinite_opt as iopt\n"
        f"problem = iopt.KernelProblem({cycling_kernel().tolist()}, {LABELS.tolist()})\n"
        "for solver in ('highs', 'generation'):\n"
        "    result = iopt.solve(problem, 'GuoSchuurmansLP', solver=solver)\n"
        "    print(result.objective.hex(), result.status, result.certificate.claim.name)\n"
    )
    exact = game_value(cycling_kernel() - OFFSET, LABELS, 0.5)
    ends = [line.split() for line in fresh(code).splitlines()]
    assert [end[1:] for end in ends] == [["solved", "GLOBAL"]] * 2
    assert [float.fromhex(end[0]) for end in ends] == pytest.approx([exact] * 2, abs=1e-6)


@pytest.mark.parametrize("offset", [1e3, 1e6, 5e8])
def test_the_linear_machine_does_not_notice_a_constant(offset: float) -> None:
    """b takes it up: b' = b - c eᵀu."""
    problem = random_problem("sigmoid", n=20, seed=5)
    K = offset + problem.K
    plain = iopt.solve(iopt.KernelProblem(K - offset, problem.y), iopt.LPSVM())
    moved = iopt.solve(iopt.KernelProblem(K, problem.y), iopt.LPSVM())
    assert moved.objective == pytest.approx(plain.objective, rel=1e-6)
    np.testing.assert_allclose(moved.values["u"], plain.values["u"], atol=1e-5)
    assert moved.status is Status.SOLVED
    assert moved.certificate.claim is Claim.GLOBAL


def test_an_offset_that_rounding_does_not_survive_is_not_called_solved() -> None:
    """Ulps of the entries are 1e-3: no point can be feasible to 1e-6 of what is at stake."""
    K = 1e13 + random_problem("sigmoid", n=20, seed=5).K
    for title in ("LPSVM", "GuoSchuurmansLP"):
        result = iopt.solve(iopt.KernelProblem(K, np.arange(20) % 2), title)
        assert result.certificate.claim is Claim.GLOBAL or result.status is Status.INACCURATE


PROGRAMS = (iopt.LPSVM(C=3.0), iopt.GuoSchuurmansLP(), iopt.UniformWeights())


@pytest.mark.parametrize("formulation", PROGRAMS, ids=str)
@pytest.mark.parametrize("scale", [1e-10, 1.0, 1e10])
def test_any_point_is_repaired(formulation: iopt.Formulation, scale: float) -> None:
    problem = random_problem("sigmoid", n=12, seed=1)
    problem = iopt.KernelProblem(scale * problem.K, problem.y)
    program = formulation.structure(problem)
    assert isinstance(program, LinearProgram)
    generator = np.random.default_rng(0)
    for _ in range(5):
        x = program.repaired(generator.standard_normal(program.cost.size))
        assert program.infeasibility(x) <= 1e-13
        np.testing.assert_allclose(program.repaired(x), x, rtol=1e-9, atol=1e-13)


def test_the_repaired_slacks_are_the_least() -> None:
    """K = [[2, 1], [1, 3]], u = (1, -1), b = ½: margins 3/2 and 3/2 for y = (1, -1)."""
    problem = iopt.KernelProblem([[2.0, 1.0], [1.0, 3.0]], [1, -1])
    program = iopt.LPSVM().structure(problem)
    x = program.repaired(program.write({"u": np.array([1.0, -1.0]), "b": 0.5, "xi": np.ones(2)}))
    np.testing.assert_array_equal(program.read(x)["xi"], [0.0, 0.0])
    x = program.repaired(program.write({"u": np.array([0.5, 0.0]), "b": 0.5, "xi": -np.ones(2)}))
    # Margins ½·2 + ½ = 3/2 and -(½·1 + ½) = -1.
    np.testing.assert_array_equal(program.read(x)["xi"], [0.0, 2.0])


def test_the_repaired_weights_are_the_nearest() -> None:
    """(0.9, 0.3 | 0.2): the first class goes down by 0.35 each, where 0.3 would be negative."""
    problem = iopt.KernelProblem(np.diag([1.0, 2.0, 4.0]), [1, 1, -1])
    program = iopt.GuoSchuurmansLP(beta=0.5).structure(problem)
    found = program.repaired_values({"alpha": np.array([0.9, 0.3, 0.2]), "delta": -7.0})
    np.testing.assert_allclose(found["alpha"], [0.5, 0.0, 0.5], atol=1e-15)
    # δ = max 2 Q α = max(2·½, 0, 8·½).
    assert found["delta"] == pytest.approx(4.0, abs=1e-15)


# ------------------------------------------------------------------------- rigorous bounds


def exact_dual_value(Delta: np.ndarray, y: np.ndarray, beta: float, pi: np.ndarray) -> Fraction:
    """min αᵀΔπ/eᵀπ over the feasible α, exactly: each class fills its least costs first."""
    weights = as_vector(pi)
    total = Fraction(0)
    for sign in (1, -1):
        costs = sorted(product(as_matrix(Delta[y == sign]), weights))
        left = Fraction(1, 2)
        for cost in costs:
            share = min(left, Fraction(beta))
            total += share * cost
            left -= share
    return total / sum(weights)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6, 1e9])
@pytest.mark.parametrize("seed", range(5))
def test_the_bound_of_the_game_is_below_its_exact_value(seed: int, offset: float) -> None:
    generator = np.random.default_rng(seed)
    y = np.array([1, -1, 1, -1, -1, 1, -1])
    A = generator.standard_normal((7, 7))
    K = offset + 0.5 * (A + A.T)
    problem, formulation = iopt.KernelProblem(K, y), iopt.GuoSchuurmansLP(beta=0.3)
    Delta = 2.0 * K * np.outer(y, y)
    forms = generator.random(7), generator.random(7) ** 20, np.eye(7)[seed], 1e-300 * np.ones(7)
    for pi in forms:
        bound = formulation.structure(problem).dual_bound({"sensitivity": pi})
        exact = exact_dual_value(Delta, y, 0.3, pi)
        assert Fraction(bound) <= exact
        assert bound >= float(exact) - 1e-7 * max(1.0, abs(float(exact)))


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6, 1e9])
@pytest.mark.parametrize("seed", range(5))
def test_the_bound_of_the_linear_machine_is_a_feasible_dual_value(seed: int, offset: float) -> None:
    """By the exact optimum of the dual of four points."""
    generator = np.random.default_rng(seed)
    y = np.array([1, -1, 1, -1])
    A = generator.standard_normal((4, 4))
    K = offset + 0.5 * (A + A.T)
    problem, formulation = iopt.KernelProblem(K, y), iopt.LPSVM(C=2.0)
    exact = exact_dual_optimum(K, y, 2.0)
    solved = iopt.solve(problem, formulation, solver="highs")
    for margin in (generator.random(4), solved.multipliers["margin"], 1e9 * np.ones(4)):
        assert Fraction(formulation.structure(problem).dual_bound({"margin": margin})) <= exact
    bound = formulation.structure(problem).dual_bound(solved.multipliers)
    assert bound >= float(exact) * (1.0 - 1e-6)


def exact_dual_optimum(K: np.ndarray, y: np.ndarray, C: float) -> Fraction:
    """max eᵀλ, |Kᵀ(y∘λ)| ≤ e, yᵀλ = 0, 0 ≤ λ ≤ C, with a slack for each inequality."""
    n = y.size
    slopes, none = K.T * y, np.zeros((n, n))
    rows = np.block([
        [slopes, np.eye(n), none, none], [-slopes, none, np.eye(n), none],
        [np.eye(n), none, none, np.eye(n)], [y, np.zeros(3 * n)],
    ])  # fmt: skip
    cost, right = np.repeat([-1.0, 0.0], [n, 3 * n]), np.repeat([1.0, C, 0.0], [2 * n, n, 1])
    least = linear_optimum(as_vector(cost), as_matrix(rows), as_vector(right))
    assert least is not None
    return -least


@pytest.mark.parametrize("solver", ["highs", "generation"])
@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_the_gap_of_a_small_or_large_objective_is_relative_to_it(scale: float, solver: str) -> None:
    """Multiplying K and C changes the unit of the objective; SciPy solves the unscaled program."""
    base = random_problem("sigmoid", n=60, seed=4)
    n, y = base.n, base.y
    signed = y[:, None] * base.K
    # min eᵀ(p + q) + C eᵀξ  s.t.  y∘(K(p - q) + be) + ξ ≥ e, with b free.
    rows = np.hstack([signed, -signed, y[:, None], np.eye(n)])
    cost = np.concatenate([np.ones(2 * n), [0.0], np.full(n, 2.0)])
    bounds = [(0.0, None)] * (2 * n) + [(None, None)] + [(0.0, None)] * n
    expected = linprog(cost, A_ub=-rows, b_ub=-np.ones(n), bounds=bounds).fun
    problem = iopt.KernelProblem(base.K / scale, base.labels)
    formulation = iopt.LPSVM(C=2.0 * scale)  # u goes with the scale, too
    result = iopt.solve(problem, formulation, solver=solver)
    assert result.objective == pytest.approx(scale * expected, rel=2e-6)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    worse = dict(result.values, xi=result.values["xi"] * 1.01)
    certificate = iopt.verify(problem, formulation, worse)
    excess = certificate.objective / (scale * expected) - 1.0
    assert excess > 1e-3
    assert certificate.claim is iopt.Claim.FEASIBLE
    assert certificate.relative_gap == pytest.approx(excess / (1.0 + excess), rel=1e-2)


@pytest.mark.parametrize("solver", ["clarabel", "scs"])
@pytest.mark.parametrize("scale", [1e-8, 1e-5])
def test_conic_solvers_close_the_gap_of_a_small_objective(scale: float, solver: str) -> None:
    """A QP without a quadratic term; SciPy solves it without the scale."""
    generator = np.random.default_rng(3)
    q, G, n = generator.standard_normal(6), generator.standard_normal((4, 6)), 6
    expected = linprog(q, A_ub=G, b_ub=np.ones(4), bounds=(0.0, 1.0)).fun
    program = iopt.QuadraticProgram(
        P=np.zeros((n, n)), q=scale * q, G=G, h=np.ones(4), lb=np.zeros(n), ub=np.ones(n)
    )
    result = iopt.solve(program, solver=solver)
    assert result.objective == pytest.approx(scale * expected, rel=1e-6)
    assert result.certificate.claim is iopt.Claim.GLOBAL


def test_multipliers_of_conic_solvers_have_the_units_of_the_problem() -> None:
    """Two points, one weight: the multipliers of the margins add up to the objective."""
    problem = iopt.KernelProblem([[1e3, -1e3], [-1e3, 1e3]], [1, -1])
    result = iopt.solve(problem, iopt.LPSVM(C=1.0), solver="clarabel")
    # Either of u = (1e-3, 0) and (0, -1e-3) has margins of 1.
    assert result.objective == pytest.approx(1e-3, rel=1e-6)
    assert result.multipliers["margin"].sum() == pytest.approx(1e-3, rel=1e-5)
    assert result.certificate.claim is iopt.Claim.GLOBAL


@pytest.mark.parametrize("formulation", PROGRAMS, ids=str)
def test_products_by_blocks_are_those_of_the_matrix(formulation: iopt.Formulation) -> None:
    problem = random_problem("sigmoid", n=12, seed=0)
    program = formulation.structure(problem)
    generator = np.random.default_rng(1)
    x = generator.standard_normal(program.cost.size)
    rows = generator.standard_normal(program.row_lower.size)
    image, multipliers = program.products(x, rows)
    A = program.arrays()["A"]
    np.testing.assert_allclose(image, A @ x, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(multipliers, A.T @ rows, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("solver", ["highs", "generation"])
@pytest.mark.parametrize("seed", range(3))
def test_features_of_very_different_sizes_leave_a_proof(seed: int, solver: str) -> None:
    """The weights of a linear kernel of them cost millions of times less than the slacks."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((80, 4)) * [1.0, 10.0, 100.0, 500.0]
    y = np.where(X @ [3.0, 0.1, 0.01, 0.002] + 3.0 * generator.standard_normal(80) > 0, 1, -1)
    problem = iopt.KernelProblem(X @ X.T, y)
    result = iopt.solve(problem, iopt.LPSVM(C=1.0), solver=solver)
    # On some processors the longest floating-point numbers are doubles.
    accuracy = max(1e-6, 1e11 * float(np.finfo(np.longdouble).eps))
    assert result.certificate.relative_gap <= accuracy
    # With the normal w = Xᵀu as a variable, in the units of the features, no number is large.
    sizes, eye, none = np.abs(X).max(axis=0), np.eye(80), np.zeros((80, 80))
    scaled, column = X / sizes, y[:, None]
    equal = np.hstack([scaled.T, -scaled.T, np.diag(-(sizes**-2.0)), np.zeros((4, 81))])
    least = np.hstack([none, none, column * scaled, column, eye])
    free, positive = (None, None), (0.0, None)
    peer = linprog(
        np.repeat([1.0, 0.0, 1.0], [160, 5, 80]), A_eq=equal, b_eq=np.zeros(4), A_ub=-least,
        b_ub=-np.ones(80), bounds=[positive] * 160 + [free] * 5 + [positive] * 80,
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )  # fmt: skip
    assert result.objective == pytest.approx(peer.fun, rel=2e-6)
