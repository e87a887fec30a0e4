"""Points are feasible in their own units: beside the largest entry, and beside the range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cvxpy
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from helpers.own_formulations import Written
from indefinite_opt import Claim

Array = NDArray[np.float64]


def least_share(qp: iopt.QuadraticProgram, x: Array) -> float:
    """min t with |z - x| ≤ t·min(max |x|, ub - lb) over rows and bounds, by HiGHS.

    In a unit in which t is near 1, as the tolerances of HiGHS are absolute.
    """
    n, reach = x.size, np.minimum(np.max(np.abs(x)), qp.ub - qp.lb)
    missed = [(np.maximum(qp.lb - x, 0.0) / reach), np.maximum(x - qp.ub, 0.0) / reach]
    missed += [np.maximum(qp.G @ x - qp.h, 0.0) / (np.abs(qp.G) @ reach)]
    missed += [np.abs(qp.A @ x - qp.b) / (np.abs(qp.A) @ reach)]
    unit = float(np.max(np.concatenate(missed)))
    if unit == 0.0:
        return 0.0
    step = unit * reach
    high, wide = (np.abs(rows) @ step for rows in (qp.G, qp.A))
    moves = np.hstack([np.vstack([np.eye(n), -np.eye(n)]), -np.ones((2 * n, 1))])
    found = linprog(
        np.append(np.zeros(n), 1.0),
        np.vstack([np.hstack([qp.G * step / high[:, None], np.zeros((qp.h.size, 1))]), moves]),
        np.concatenate([(qp.h - qp.G @ x) / high, np.zeros(2 * n)]),
        np.hstack([qp.A * step / wide[:, None], np.zeros((qp.b.size, 1))]),
        (qp.b - qp.A @ x) / wide,
        [*zip((qp.lb - x) / step, (qp.ub - x) / step, strict=True), (0.0, None)],
        options={"primal_feasibility_tolerance": 1e-9},
    )
    return float(found.fun) * unit if found.status == 0 else np.inf


def portfolio(seed: int) -> iopt.QuadraticProgram:
    """Weights of sum 1 between 0 and a limit, with limits of groups or an expected return."""
    g = np.random.default_rng(seed)
    n = int(g.integers(5, 30))
    F = 0.1 * g.standard_normal((n, max(2, n // 3)))
    G, A = np.empty((0, n)), np.ones((1, n))
    if seed % 3 == 1:
        G = (g.random((3, n)) < 0.4).astype(float)
        G[:, 0] = 1.0
    if seed % 3 == 2:
        A = np.vstack([A, g.standard_normal(n)])
    return iopt.QuadraticProgram(
        F @ F.T + np.diag(0.02 * g.random(n)), 0.02 * g.standard_normal(n), G=G,
        h=np.full(len(G), 0.4), A=A, b=np.array([1.0, 0.0])[: len(A)],
        lb=-0.2 if seed % 3 == 2 else 0.0, ub=0.5,
    )  # fmt: skip


def by_osqp(qp: iopt.QuadraticProgram, accuracy: float) -> Array:
    import osqp

    rows = sparse.csc_matrix(np.vstack([qp.A, qp.G, np.eye(qp.q.size)]))
    low = np.concatenate([qp.b, np.full(qp.h.size, -np.inf), qp.lb])
    high, model = np.concatenate([qp.b, qp.h, qp.ub]), osqp.OSQP()
    model.setup(
        sparse.csc_matrix(np.triu(qp.P)), qp.q, rows, low, high, verbose=False, eps_abs=accuracy,
        eps_rel=accuracy, max_iter=20_000,
    )  # fmt: skip
    return np.asarray(model.solve(raise_error=False).x)


def by_scs(qp: iopt.QuadraticProgram, accuracy: float) -> Array:
    import scs

    eye, k = np.eye(qp.q.size), qp.b.size
    rows = sparse.csc_matrix(np.vstack([qp.A, qp.G, -eye, eye]))
    right = np.concatenate([qp.b, qp.h, -qp.lb, qp.ub])
    data = {"P": sparse.csc_matrix(np.triu(qp.P)), "A": rows, "b": right, "c": qp.q}
    solver = scs.SCS(
        data, {"z": k, "l": right.size - k}, verbose=False, eps_abs=accuracy, eps_rel=accuracy
    )
    return np.asarray(solver.solve()["x"])


@pytest.mark.parametrize("solver", [by_osqp, by_scs])
@pytest.mark.parametrize("seed", range(6))
def test_points_of_other_solvers_count_where_a_feasible_point_is_near(
    seed: int, solver: Any
) -> None:
    """Bounds and rows are missed at once; a linear program says whether some point is near."""
    qp, counted = portfolio(seed), 0
    for accuracy in (1e-3, 1e-5, 1e-7, 1e-9):
        x = solver(qp, accuracy)
        least = least_share(qp, x)
        if 0.99e-6 < least < 1.01e-6:
            continue  # both are found up to a thousandth
        counted += least < 1e-6
        assert (iopt.verify(qp, x).claim > Claim.NONE) == (least < 1e-6), (accuracy, least)
    assert counted


@pytest.mark.parametrize("size", [1e-7, 1e-9, 1e-15, 1e-22])
def test_bounds_that_are_missed_beside_a_sum(size: float) -> None:
    """Each vertex of the simplex, as OSQP, SCS or SCIP may leave it."""
    qp = iopt.QuadraticProgram(-np.eye(3), A=np.ones((1, 3)), b=[1.0], lb=0.0, ub=1.0)
    for off in ([2.0, -1.0, -1.0], [-0.5, -0.5, 1.0], [1.0, -0.25, -0.75]):
        x = np.array([1.0, 0.0, 0.0]) + size * np.array(off)
        certificate = iopt.verify(qp, x)
        assert certificate.claim >= Claim.FEASIBLE
        assert certificate.primal_residual <= 2.01 * size
        assert certificate.missed <= 2.01 * size
    assert iopt.verify(qp, [1.0 + 2e-5, -1e-5, -1e-5]).claim is Claim.NONE


@pytest.mark.parametrize(("low", "missed", "claim"), [
    (0.0, 0.5e-6, Claim.FEASIBLE), (0.0, 2e-6, Claim.NONE),
    # The range is 1, whatever the distance from 0, and half of it is no rounding.
    (1e6, 0.5e-6, Claim.FEASIBLE), (1e6, 0.5, Claim.NONE),
])  # fmt: skip
def test_a_bound_is_judged_beside_the_range(low: float, missed: float, claim: Claim) -> None:
    qp = iopt.QuadraticProgram(np.eye(2), [-low - 3.0, -low - 3.0], lb=low, ub=low + 1.0)
    found = iopt.verify(qp, [low + 1.0 + missed, low + 1.0])
    assert (found.claim is Claim.NONE) == (claim is Claim.NONE)


def test_at_zero_nothing_moves() -> None:
    qp = iopt.QuadraticProgram(np.eye(2), A=[[1.0, 1.0]], b=[1e-12], lb=0.0, ub=1.0)
    assert iopt.verify(qp, [0.0, 0.0]).claim is Claim.NONE
    assert iopt.verify(qp, [0.5e-12, 0.5e-12]).claim > Claim.NONE


@pytest.mark.parametrize("unit", [2.0**30, 2.0**-30, 1e9, 1e-9])
@pytest.mark.parametrize("seed", range(4))
def test_no_claim_depends_on_units_of_rows_and_variables(seed: int, unit: float) -> None:
    g = np.random.default_rng(seed)
    qp = portfolio(seed)
    rows = np.where(g.random((qp.h.size + qp.b.size, 1)) < 0.5, unit, 1.0)
    up, down = np.split(rows, [qp.h.size])
    best = iopt.solve(qp).x
    for size in (0.0, 1e-9, 0.5e-7, 1e-5):
        x = best + size * g.standard_normal(best.size)
        before = iopt.verify(qp, x)
        for a in (1.0, unit):  # the variables are a times as large
            other = iopt.QuadraticProgram(
                qp.P / a**2, qp.q / a, G=up * qp.G / a, h=up[:, 0] * qp.h, A=down * qp.A / a,
                b=down[:, 0] * qp.b, lb=a * qp.lb, ub=a * qp.ub,
            )  # fmt: skip
            after = iopt.verify(other, a * x)
            assert after.claim is before.claim
            # Least moves are found up to a thousandth.
            expected = pytest.approx(before.primal_residual, rel=2e-3, abs=1e-10)
            assert after.primal_residual == expected


FORMULATIONS = {
    "SVMDual": ("SVMDual(C={})", 1.0, -1.0),
    "without bias": ("SVMDual(C={}, bias=False)", 1.0, -1.0),
    "ConvexHullDual": ("ConvexHullDual(mu={})", 0.5, 0.0),
    "OneClassSVM": ("OneClassSVM(nu={})", 0.5, 0.0),
    "EpsilonSVR": ("EpsilonSVR(C={}, epsilon=0.1)", 1.0, -1.0),
}


@pytest.mark.parametrize("unit", [2.0**30, 1e9])
@pytest.mark.parametrize("name", FORMULATIONS)
def test_no_claim_depends_on_the_unit_of_the_kernel(name: str, unit: float) -> None:
    """Kernels times a unit, and C divided by it, where there is one."""
    text, parameter, power = FORMULATIONS[name]
    g = np.random.default_rng(0)
    X = g.standard_normal((12, 2))
    K, y = np.exp(-np.square(X[:, None] - X).sum(axis=2)), np.where(X[:, 0] > 0.0, 1, -1)
    targets = {"y": X[:, 1] if name == "EpsilonSVR" else y}
    before = iopt.KernelProblem(K, **targets)
    after = iopt.KernelProblem(unit * K, **targets)
    asked, other = text.format(parameter), text.format(parameter * unit**power)
    ((variable, best),) = iopt.solve(before, asked).values.items()
    for size in (0.0, 1e-8, 1e-4):
        x = best + size * np.max(np.abs(best)) * g.standard_normal(best.shape)
        claims = [
            iopt.verify(before, asked, {variable: x}).claim,
            iopt.verify(after, other, {variable: x * unit**power}).claim,
        ]
        assert (claims[0] > Claim.NONE) == (claims[1] > Claim.NONE) == (size < 1e-6)


@dataclass(frozen=True)
class WithConstants(iopt.Formulation):
    """min ‖x‖² with Σw ≤ limit, which has no variable, and -1 ≤ x ≤ 1."""

    limit: float = 0.3

    def model(self, problem: iopt.KernelProblem) -> cp.Model:
        x = cp.Variable(problem.n, name="x")
        w = cp.Constant(np.array([0.1, 0.2]), name="w")
        rows = {"budget": cp.sum(w) <= self.limit, "lower": x >= -1, "upper": x <= 1}
        return cp.Model(minimize=cp.sum_squares(x), subject_to=rows)


def test_constants_that_differ_by_rounding_are_no_conflict() -> None:
    """0.1 + 0.2 is 0.30000000000000004; 0.1 + 0.2 ≤ 0.2999 is a conflict."""
    problem = iopt.KernelProblem([[0.0, 1.0], [1.0, 0.0]], [1, -1])
    assert "budget" in str(WithConstants().declare(problem))
    assert iopt.solve(problem, WithConstants()).certificate.claim is Claim.GLOBAL
    with pytest.raises(iopt.errors.InfeasibleProblem, match="budget"):
        iopt.solve(problem, WithConstants(0.2999))


@dataclass(frozen=True)
class Distance(iopt.Formulation):
    """min t with ‖Ax - b‖ ≤ t, yᵀx = 0 and v ≥ 0, in a unit of all variables."""

    unit: float = 1.0

    def model(self, problem: iopt.KernelProblem) -> cp.Model:
        x, t = cvxpy.Variable(2, name="x"), cvxpy.Variable(name="t")
        v = cvxpy.Variable(2, name="v")
        b = self.unit * np.array([3.0, 3.0])
        rows = {
            "cone": cvxpy.norm2(x - b) <= t + cvxpy.sum(v),
            "balance": np.array([1.0, -1.0]) @ x == 0,
            "v": v >= 0,
        }
        return cp.Model(minimize=t + cvxpy.sum(v), subject_to=rows)


@pytest.mark.parametrize("unit", [1.0, 2.0**30, 1e-9])
@pytest.mark.parametrize(("t", "off", "claim"), [
    # It is the optimum: the multiplier of the cone is (1, 0, 0). No bound ends a range of t.
    (0.0, 0.0, Claim.STATIONARY),
    # The value 0 and the balance are sums of terms of size 3, which cancel.
    (-1e-9, 0.0, Claim.FEASIBLE), (0.0, 1e-15, Claim.FEASIBLE), (0.0, 2e-6, Claim.FEASIBLE),
    (-1e-4, 0.0, Claim.NONE), (0.0, 1e-4, Claim.NONE),
])  # fmt: skip
def test_rows_of_cone_programs_are_judged_beside_their_terms(
    unit: float, t: float, off: float, claim: Claim
) -> None:
    problem = iopt.KernelProblem(np.eye(2), [1, -1])
    x = unit * np.array([3.0 + off, 3.0])
    values = {"x": x, "t": unit * (t + off), "v": np.zeros(2)}
    assert iopt.verify(problem, Distance(unit), values).claim is claim


def test_a_bound_that_a_cone_solver_misses_is_met_by_what_solve_returns() -> None:
    """v is 0 at the optimum, beside which -1e-10 would be anything."""
    result = iopt.solve(iopt.KernelProblem(np.eye(2), [1, -1]), Distance())
    assert np.all(result.values["v"] >= 0.0)
    assert result.certificate.claim >= Claim.FEASIBLE


@pytest.mark.parametrize("unit", [1e-290, 1e-300, 1e-306])
def test_tiny_rows_are_read_as_they_are(unit: float) -> None:
    """x₁ + x₂ ≥ 6 on [0, 4]² has the least sum 6, and x₁ + x₂ ≥ 9 contradicts the box."""
    for side, optimum in ((6.0, 6.0), (9.0, None)):
        qp = iopt.QuadraticProgram(
            None, [1.0, 1.0], G=[[-unit, -unit]], h=[-side * unit], lb=0.0, ub=4.0
        )
        if optimum is None:
            with pytest.raises(iopt.errors.InfeasibleProblem) as info:
                iopt.solve(qp)
            assert iopt.verify(qp, info.value).proved
        else:
            assert iopt.solve(qp).objective == pytest.approx(optimum, rel=1e-9)


@pytest.mark.parametrize("unit", [1e-308, 1e-310, 1e-316, 5e-324])
def test_rows_of_denormal_numbers_are_refused_by_name(unit: float) -> None:
    rows = {"G": [[-1.0, 0.0], [-unit, -unit]], "h": [0.0, -unit]}
    qp = iopt.QuadraticProgram(None, [1.0, 1.0], **rows, lb=0.0, ub=4.0)
    for call in (iopt.solve, iopt.bound, lambda qp: iopt.verify(qp, {"x": [4.0, 4.0]})):
        with pytest.raises(iopt.errors.ProblemError, match="row 1 of G"):
            call(qp)


@pytest.mark.parametrize("far", [1e12, 1e15, 1e17, 1e18, 9e19])
@pytest.mark.parametrize("unit", [1.0, 2.0**-20])
def test_rows_that_are_far_away_do_no_harm(far: float, unit: float) -> None:
    """Only x₁ + x₂ ≤ ½ binds: (5/4, -3/4), -29/16; and in the box (1, -1), -3."""
    G, h = [[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]], unit * np.array([0.5, far, far])
    rows = {"G": G, "h": h}
    q, square = np.array([-3.0, -1.0]) / unit, unit**2
    convex = iopt.solve(
        iopt.QuadraticProgram(np.array([[2.0, 1.0], [1.0, 2.0]]) / square, q, **rows)
    )
    np.testing.assert_allclose(convex.x, unit * np.array([1.25, -0.75]), rtol=1e-6)
    assert convex.certificate.claim is Claim.GLOBAL
    ends = {"lb": -unit, "ub": unit}
    other = iopt.QuadraticProgram(np.array([[2.0, 3.0], [3.0, 2.0]]) / square, q, **rows, **ends)
    assert iopt.solve(other).objective == pytest.approx(-3.0, rel=1e-9)
    linear = iopt.solve(iopt.QuadraticProgram(None, np.array([-1.0, -1.0]) / unit, **rows))
    assert linear.objective == pytest.approx(-0.5, rel=1e-9)


def test_feasible_points_are_found_where_units_of_the_objective_hide_them() -> None:
    """x₁ = 3x₂ + 7/2 with x₂ from -7/6 to -1; -10¹⁴x₂² is least at -7/6, up to 10⁻⁹ of it."""
    qp = iopt.QuadraticProgram(
        [[-4e-08, -1000.0], [-1000.0, -2e14]], [0.0005, -2e7], G=[[0.0, 2.0]], h=[-2.0],
        A=[[-1.0, 3.0]], b=[-3.5], lb=[0.0, -3.0], ub=[1.0, 1.0],
    )  # fmt: skip
    optimum = -1e14 * (7 / 6) ** 2
    assert iopt.verify(qp, {"x": [0.5, -1.0]}).claim >= Claim.FEASIBLE
    assert iopt.solve(qp).objective == pytest.approx(optimum, rel=1e-5)
    bracket = iopt.bound(qp)
    assert bracket.lower == pytest.approx(optimum, rel=1e-5)
    assert bracket.upper == pytest.approx(optimum, rel=1e-5)


def test_a_certificate_says_where_rows_hold_up_to_rounding_of_their_data_only() -> None:
    """x₁ + 3x₂ = 0 and fl(1/3)x₁ + x₂ = 0 have only 0 in common, far from (3, -1)."""
    rows = {"A": [[1.0, 3.0], [1.0 / 3.0, 1.0]], "b": [0.0, 0.0]}
    qp = iopt.QuadraticProgram(np.eye(2), [-3.0, 1.0], **rows, lb=-4.0, ub=4.0)
    certificate = iopt.verify(qp, [3.0, -1.0])
    assert certificate.claim is Claim.NONE or "satisfy all rows exactly" in str(certificate)
    assert "satisfy all rows exactly" not in str(iopt.verify(qp, [0.0, 0.0]))


def beside(rows: Any) -> Written:
    """A model of two numbers x and y whose objective is 0."""
    x, y = cp.Variable(name="x"), cp.Variable(name="y")
    named = {f"row {k}": row for k, row in enumerate(rows(x, y))}
    return Written("", cp.Model(minimize=0 * x + 0 * y, subject_to=named))


@pytest.mark.parametrize("unit", [1.0, 2.0**40, 2.0**-40])
@pytest.mark.parametrize(("missed", "claim"), [
    # The row has terms of size 1, and 2⁻⁵² is one digit of them in double precision.
    (2.0**-52, Claim.FEASIBLE), (2.0**-50, Claim.FEASIBLE), (1e-12, Claim.NONE), (1e-3, Claim.NONE),
])  # fmt: skip
def test_a_variable_that_is_0_may_miss_the_rounding_of_its_rows(
    unit: float, missed: float, claim: Claim
) -> None:
    """x = 1 is fixed, and x + y ≥ 1 + missed lets y move alone; y = 0 is no unit."""
    total = unit * (1.0 + missed)
    model = beside(lambda x, y: [x == unit, y >= 0, x + y >= total, x + y <= 5 * unit])
    found = iopt.verify(iopt.KernelProblem(np.eye(2), [1, -1]), model, {"x": unit, "y": 0.0})
    assert (found.claim is Claim.NONE) == (claim is Claim.NONE)


@pytest.mark.parametrize("rows", [
    # All of what is missed is the size that a row or a bound gives y, whatever others say.
    lambda x, y: [x + y <= 5, y >= 1e-16],
    lambda x, y: [x + y <= 5, 2 * y + 0 * x >= 1e-16],
    lambda x, y: [x <= 1, x >= 1, y <= 5, 1e-3 * x <= 1e12 * y],
    lambda x, y: [x + y <= 5, y <= 5, y >= 1e-16, y <= 2e-16],
])  # fmt: skip
def test_a_variable_that_is_0_misses_the_size_that_rows_give_it(rows: Any) -> None:
    problem = iopt.KernelProblem(np.eye(2), [1, -1])
    assert iopt.verify(problem, beside(rows), {"x": 1.0, "y": 0.0}).claim is Claim.NONE
