"""Linear programs at any scale and offset: they end, bounds hold; other forms and units."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog

import indefinite_opt as iopt
from helpers.exact import as_matrix, as_vector, linear_optimum, product
from helpers.problems import random_problem
from helpers.processes import fresh
from indefinite_opt.modeling.linear_programs.linear_program import LinearProgram
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.programs.claim import Claim
from indefinite_opt.quadratic.solving.solution import Status
from indefinite_opt.solvers.linear.reformulation import Reformulation, reformulations

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


@pytest.mark.slow
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


@pytest.mark.parametrize("offset", [1e3, 5e8])
def test_the_linear_machine_does_not_notice_a_constant(offset: float) -> None:
    """b takes it up: b' = b - c eᵀu."""
    problem = random_problem("sigmoid", n=20, seed=5)
    K = offset + problem.K
    plain, moved = (
        iopt.solve(iopt.KernelProblem(one, problem.y), "LPSVM") for one in (K - offset, K)
    )
    assert moved.objective == pytest.approx(plain.objective, rel=1e-6)
    assert_allclose(moved.values["u"], plain.values["u"], atol=1e-5)
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
@pytest.mark.parametrize("scale", [1e-10, 1e10])
def test_any_point_is_repaired(formulation: iopt.Formulation, scale: float) -> None:
    problem = random_problem("sigmoid", n=12, seed=1)
    program = formulation.program(iopt.KernelProblem(scale * problem.K, problem.y))
    assert isinstance(program, LinearProgram)
    generator = np.random.default_rng(0)
    for _ in range(2):
        given = program.values(generator.standard_normal(program.cost.size))
        values = answers.feasible_values(program, given)
        x = program.from_values(values)
        assert program.infeasibility(x) <= 1e-13
        again = program.from_values(answers.feasible_values(program, values))
        assert_allclose(again, x, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("formulation", PROGRAMS, ids=str)
@pytest.mark.parametrize("scale", [1e-10, 1.0, 1e10])
def test_conditions_by_blocks_are_those_of_the_matrix(
    formulation: iopt.Formulation, scale: float
) -> None:
    """c - Aᵀλ with the sign of an infinite end, and what the multipliers pay for slacks."""
    problem = random_problem("sigmoid", n=12, seed=1)
    program = formulation.program(iopt.KernelProblem(scale * problem.K, problem.y))
    assert isinstance(program, LinearProgram)
    generator = np.random.default_rng(0)
    x, rows = (generator.standard_normal(v.size) for v in (program.cost, program.row_lower))
    rows = np.where(program.row_lower == program.row_upper, rows, -np.abs(rows))
    found = answers.optimality(program, program.at(x), program.multipliers(rows))
    A = program.arrays()["A"]
    reduced = program.cost - A.T @ rows
    ends = np.where(reduced > 0.0, program.lower, program.upper)
    violated = np.abs(reduced[np.isinf(ends)]).max(initial=0.0)
    unit = max(1.0, np.abs(program.cost).max())
    assert found.stationarity == pytest.approx(violated / unit, rel=1e-12)
    held = np.isfinite(ends)
    paid = np.abs(rows) @ np.abs(A @ x - program.row_upper)
    paid += np.abs(reduced[held]) @ np.abs(x - ends)[held]
    assert found.complementarity == pytest.approx(paid, rel=1e-12)


def test_the_repaired_slacks_are_the_least() -> None:
    """K = [[2, 1], [1, 3]], u = (1, -1), b = ½: margins 3/2 and 3/2 for y = (1, -1)."""
    problem = iopt.KernelProblem([[2.0, 1.0], [1.0, 3.0]], [1, -1])
    program = iopt.LPSVM().program(problem)
    found = answers.feasible_values(
        program, {"u": np.array([1.0, -1.0]), "b": 0.5, "xi": np.ones(2)}
    )
    assert_array_equal(found["xi"], [0.0, 0.0])
    found = answers.feasible_values(
        program, {"u": np.array([0.5, 0.0]), "b": 0.5, "xi": -np.ones(2)}
    )
    # Margins ½·2 + ½ = 3/2 and -(½·1 + ½) = -1.
    assert_array_equal(found["xi"], [0.0, 2.0])


def test_the_repaired_weights_are_the_nearest() -> None:
    """(0.9, 0.3 | 0.2): the first class goes down by 0.35 each, where 0.3 would be negative."""
    problem = iopt.KernelProblem(np.diag([1.0, 2.0, 4.0]), [1, 1, -1])
    program = iopt.GuoSchuurmansLP(beta=0.5).program(problem)
    found = answers.feasible_values(program, {"alpha": np.array([0.9, 0.3, 0.2]), "delta": -7.0})
    assert_allclose(found["alpha"], [0.5, 0.0, 0.5], atol=1e-15)
    # δ = max 2 Q α = max(2·½, 0, 8·½).
    assert found["delta"] == pytest.approx(4.0, abs=1e-15)


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


@pytest.mark.parametrize(("seed", "offset"), [(0, 0.0), (1, 1e3), (2, 1e6), (3, 1e9)])
def test_the_bound_of_the_game_is_below_its_exact_value(seed: int, offset: float) -> None:
    generator = np.random.default_rng(seed)
    y = np.array([1, -1, 1, -1, -1, 1, -1])
    A = generator.standard_normal((7, 7))
    K = offset + 0.5 * (A + A.T)
    problem, formulation = iopt.KernelProblem(K, y), iopt.GuoSchuurmansLP(beta=0.3)
    Delta = 2.0 * K * np.outer(y, y)
    forms = generator.random(7), generator.random(7) ** 20, np.eye(7)[seed], 1e-300 * np.ones(7)
    for pi in forms:
        bound = formulation.program(problem).dual_bound({"sensitivity": pi})
        exact = exact_dual_value(Delta, y, 0.3, pi)
        assert Fraction(bound) <= exact
        assert bound >= float(exact) - 1e-7 * max(1.0, abs(float(exact)))


@pytest.mark.parametrize(("seed", "offset"), [(0, 0.0), (1, 1e3), (2, 1e6), (3, 1e9)])
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
        assert Fraction(formulation.program(problem).dual_bound({"margin": margin})) <= exact
    bound = formulation.program(problem).dual_bound(solved.multipliers)
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


@pytest.mark.parametrize(("solver", "scale"), [("clarabel", 1e-8), ("scs", 1e-5)])
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
    # Two points, one weight: multipliers have the units of the problem, and add up to 1e-3.
    pair = iopt.KernelProblem([[1e3, -1e3], [-1e3, 1e3]], [1, -1])
    result = iopt.solve(pair, iopt.LPSVM(C=1.0), solver="clarabel")
    assert result.multipliers["margin"].sum() == pytest.approx(1e-3, rel=1e-5)


@pytest.mark.parametrize(("seed", "solver"), [(0, "highs"), (1, "generation")])
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


KERNELS = {
    "plain": lambda K: K, "tiny": lambda K: 1e-11 * K, "huge": lambda K: 1e9 * K,
    "large offset": lambda K: 100.0 * (9.0 + K),
}  # fmt: skip
FORMULATIONS = (
    iopt.LPSVM(C=3.0), iopt.GuoSchuurmansLP(), iopt.OneClassLP(nu=0.3),
    iopt.OneClassLP(nu=0.3, distances=True), iopt.UniformWeights(),
)  # fmt: skip


def program(formulation: iopt.Formulation, kernel: str, n: int = 12) -> LinearProgram:
    K = KERNELS[kernel](random_problem("l1-gaussian", n=n, seed=2).K)
    found = formulation.program(iopt.KernelProblem(K, np.arange(n) % 3 == 0))
    assert isinstance(found, LinearProgram)
    return found


def optimum(form: StandardForm | LinearProgram) -> tuple[float, np.ndarray, np.ndarray]:
    """The optimum, v and the multipliers of all rows by SciPy, from the arrays alone."""
    A = form.matrix if isinstance(form, StandardForm) else form.dense
    rows, right = np.vstack([A, -A]), np.concatenate([form.row_upper, -form.row_lower])
    held = np.isfinite(right)
    found = linprog(
        form.cost, A_ub=rows[held], b_ub=right[held],
        bounds=np.column_stack([form.lower, form.upper]),
    )  # fmt: skip
    assert found.status == 0, found.message
    both = np.zeros(right.size)
    both[held] = found.ineqlin.marginals if held.any() else 0.0
    multipliers = both[: len(A)] - both[len(A) :]
    return float(found.fun), found.x, multipliers


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
@pytest.mark.parametrize("kernel", ["plain", "large offset"])
def test_every_form_has_the_optimum_of_the_program(
    formulation: iopt.Formulation, kernel: str
) -> None:
    """A dual has its negative; values and multipliers of the form are optimal for the program."""
    whole = program(formulation, kernel)
    best, _, _ = optimum(whole)
    for found in reformulations(whole):
        value, v, rows = optimum(found.form)
        size = max(1.0, abs(best))
        assert value == pytest.approx(-best if found.is_dual else best, abs=1e-6 * size)
        values, multipliers = found.solution(v, rows)
        x = whole.from_values(answers.feasible_values(whole, values))
        assert whole.cost @ x == pytest.approx(best, abs=1e-6 * size)
        assert whole.dual_bound(multipliers) == pytest.approx(best, abs=1e-6 * size)


@pytest.mark.parametrize("formulation", FORMULATIONS[:4], ids=str)
@pytest.mark.parametrize("kernel", ["tiny", "huge", "large offset"])
def test_other_units_say_the_same_program(formulation: iopt.Formulation, kernel: str) -> None:
    """The objective, the distances from bounds and of rows from their ends, and the Lagrangian."""
    given = Reformulation.of(program(formulation, kernel))
    found = given.in_good_units()
    natural, form, units = given.form, found.form, found.units
    entries = np.abs(form.matrix)
    assert 0.25 <= entries.max() <= 4.0
    generator = np.random.default_rng(0)
    z = generator.standard_normal(form.cost.size)
    # Levels are subtracted along the equations: at a point where these hold nothing changes.
    E, e = form.matrix[form.equal], form.row_lower[form.equal]
    z += np.linalg.lstsq(E, e - E @ z, rcond=None)[0]
    v = units.read(z)
    assert form.cost @ z == pytest.approx(natural.cost @ v, rel=1e-9, abs=1e-12)
    for side in ("row_lower", "row_upper"):
        ours = natural.matrix @ v - getattr(natural, side)
        theirs = (form.matrix @ z - getattr(form, side)) / units.row
        held = np.isfinite(ours)
        size = np.abs(natural.matrix).max() * np.abs(v).max()
        assert_allclose(ours[held], theirs[held], atol=1e-9 * size)
    for side in ("lower", "upper"):
        assert_array_equal(getattr(natural, side), units.read(getattr(form, side)))
    # zᵀG'ᵀλ' - e'ᵀλ' of the equations and rows is the same as in natural units.
    rows = generator.standard_normal(form.row_lower.size)
    assert found.level is not None
    whole = units.row * rows
    whole[form.equal] -= found.level @ whole
    assert_allclose(
        (form.matrix.T @ rows) / units.column, natural.matrix.T @ whole,
        rtol=1e-6, atol=1e-6 * np.abs(natural.matrix).max(),
    )  # fmt: skip


@pytest.mark.parametrize("offset", [0.0, 64.0])
def test_the_dual_of_the_linear_machine(offset: float) -> None:
    """K = c + (2, 1; 1, 3), y = (1, -1), λ = (t, t): |t|, |2t| ≤ 1, so that t = ½ and eᵀλ = 1.

    The second row is tight; u = (0, v) has both margins 1 at (1 + c)v + b = 1 = -(3 + c)v - b.
    """
    problem = iopt.KernelProblem(offset + np.array([[2.0, 1.0], [1.0, 3.0]]), [1, -1])
    whole = iopt.LPSVM(C=10.0).program(problem)
    for found in reformulations(whole):
        assert found.is_dual
        assert found.form.matrix.shape == (3, 2)
        # The rows of the program are e - ξ - y∘(Ku + b) ≤ 0, whose multipliers are -λ.
        value, v, rows = optimum(found.form)
        assert value == pytest.approx(-1.0, rel=1e-9)
        values, multipliers = found.solution(v, rows)
        assert_allclose(multipliers["margin"], [0.5, 0.5], atol=1e-9)
        assert_allclose(multipliers["slack"], [9.5, 9.5], atol=1e-9)
        assert_allclose(values["u"], [0.0, -1.0], atol=1e-9)
        assert_allclose(values["b"], 2.0 + offset, rtol=1e-9)
    result = iopt.solve(problem, iopt.LPSVM(C=10.0), solver="generation")
    assert_allclose(result.values["u"], [0.0, -1.0], atol=1e-6)
    assert result.values["b"] == pytest.approx(2.0 + offset, rel=1e-6)
    assert result.objective == pytest.approx(1.0, rel=1e-6)
