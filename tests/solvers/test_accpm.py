"""ACCPM: centres with known coordinates, bounds that hold, linear convergence, honest stops.

Numbers come from closed forms, from Clarabel, from dense eigendecompositions written down here,
and from Newton's method, which shares no step with cutting planes.
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

import indefinite_opt as iopt
from helpers.problems import positive_part, random_problem
from indefinite_opt.modeling.programs.proxy_kernel import ProxyDual
from indefinite_opt.quadratic.solving.solution import Solution, Status
from indefinite_opt.quadratic.solving.solver import Task
from indefinite_opt.solvers.proxy_kernel.accpm import ACCPM
from indefinite_opt.solvers.proxy_kernel.analytic_center import AnalyticCenter
from indefinite_opt.solvers.proxy_kernel.newton import Newton

Array = NDArray[np.float64]

FORMULATION = iopt.LussDual()  # a task names one; the solvers read the program


def run(dual: ProxyDual, solver: Any = None, **options: Any) -> Solution:
    task = Task(dual.problem, FORMULATION, dual, **options)
    return (solver or ACCPM()).solve(task)


def value(dual: ProxyDual, alpha: Array) -> float:
    """f at α from all eigenvalues of K₀ + zzᵀ/(4ρ), the penalty at zero left out."""
    problem, rho = dual.problem, dual.rho
    assert rho is not None
    z = problem.y * alpha
    least = np.minimum(np.linalg.eigvalsh(problem.K + np.outer(z, z) / (4.0 * rho)), 0.0)
    penalty = np.minimum(np.linalg.eigvalsh(problem.K), 0.0)
    quartic = 0.5 * float(z @ problem.K @ z) + float(z @ z) ** 2 / (16.0 * rho)
    return float(alpha.sum()) - quartic + rho * float(least @ least - penalty @ penalty)


def optimum(dual: ProxyDual) -> float:
    """Of f, by Newton's method; certain to 1e-9 of itself."""
    solution = run(dual, Newton(), tol=1e-9)
    best = value(dual, solution.values["alpha"])
    assert min(solution.trace.bound) + dual.constant <= best + 1e-8 * best + rounding(dual)
    return best


def rounding(dual: ProxyDual) -> float:
    """Of ρ times squared eigenvalues, which cancel in `value`: 2e9 at the largest penalty."""
    return dual.n * float(np.finfo(float).eps) * abs(dual.constant)


def check_feasible(dual: ProxyDual, alpha: Array) -> None:
    assert alpha.min() >= 0.0
    assert alpha.max() <= dual.feasible.upper
    assert abs(float(dual.problem.y @ alpha)) <= 1e-12 * max(float(alpha.sum()), 1e-300)


def first_set(dual: ProxyDual) -> AnalyticCenter:
    """The set of t ≥ -eᵀα: the tangent at zero, where F = 0."""
    return AnalyticCenter(dual, np.zeros(dual.n), -np.ones(dual.n), depth=1.0)


@pytest.mark.parametrize(("multiplier", "C"), [(0.5, 1e-3), (7.0, 1.0), (400.0, 50.0)])
def test_centre_of_a_balanced_box_with_one_cut(multiplier: float, C: float) -> None:
    """All α equal a, and t = 1/λ₀ - na: a minimises -λ₀a - log a - log(C - a)."""
    n = 6
    balanced = iopt.KernelProblem(np.eye(n), np.tile([1, -1], n // 2))
    found = first_set(ProxyDual(balanced, 1.0, C))
    assert found.center(multiplier, tol=1e-10)
    # λ₀a² - (λ₀C - 2)a - C = 0
    linear = multiplier * C - 2.0
    a = (linear + np.sqrt(linear**2 + 4.0 * multiplier * C)) / (2.0 * multiplier)
    assert_allclose(found.alpha, a, rtol=1e-9)
    assert found.depth == pytest.approx(n * a - 1.0 / multiplier, rel=1e-9)


def centre_by_clarabel(
    dual: ProxyDual, cuts: list[tuple[float, Array]], q: float, around: Array, multiplier: float
) -> tuple[Array, float]:
    """α and t at the centre of the set t ≥ offset + gradientᵀα."""
    alpha, t = cp.Variable(dual.n), cp.Variable()
    barrier = cp.sum(cp.log(alpha)) + cp.sum(cp.log(dual.feasible.upper - alpha))
    barrier += sum(cp.log(t - offset - gradient @ alpha) for offset, gradient in cuts)
    height = t + 0.5 * q * cp.sum_squares(alpha - around)
    constraints = [dual.problem.y @ alpha == 0]
    problem = cp.Problem(cp.Minimize(multiplier * height - barrier), constraints)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return np.asarray(alpha.value), float(t.value)


@pytest.mark.parametrize("q", [0.0, 0.01, 0.1])
def test_centre_of_many_cuts(q: float) -> None:
    """Tangents of a quadratic at centres, ᾱ and U moved in between: Clarabel knows the last set."""
    generator = np.random.default_rng(4)
    n, multiplier = 8, 10.0
    y = np.array([1, 1, 1, -1, -1, -1, -1, -1])
    dual = ProxyDual(iopt.KernelProblem(np.eye(n), y), 1.0, 1.5)
    root = generator.standard_normal((3, n))
    found = first_set(dual)
    found.q = q
    cuts, level, around = [(0.0, -np.ones(n))], 0.0, np.zeros(n)
    outcomes = set()
    for _ in range(7):
        assert found.center(multiplier, tol=1e-10)
        x = found.alpha.copy()
        here = 0.5 * float(np.sum((root @ x) ** 2)) - float(x.sum())
        gradient = root.T @ (root @ x) - 1.0
        cuts.append((here - float(gradient @ x), gradient))
        outcomes.add(here < level)
        if here < level:
            found.lower_level(level - here, gradient)
            level, around = here, x
            found.add(0.0, gradient)
        else:
            found.add(here - level - float(gradient @ found.d), gradient)
    assert outcomes == {False, True}
    assert found.center(multiplier, tol=1e-10)
    alpha, t = centre_by_clarabel(dual, cuts, q, around, multiplier)
    assert_allclose(found.alpha, alpha, atol=1e-5)
    assert found.depth == pytest.approx(level - t, rel=1e-5)
    assert float(y @ found.alpha) == pytest.approx(0.0, abs=1e-14)
    assert found.multipliers.sum() == pytest.approx(found.level_multiplier, rel=1e-9)


@pytest.mark.parametrize(
    ("kernel", "C", "rho"),
    [("sigmoid", 10.0, 1.0), ("epanechnikov", 1.0, 100.0), ("gaussian", 1.0, 1.0)],
)
def test_agrees_with_newton(kernel: str, C: float, rho: float) -> None:
    """The optimum to the gap, bounds above it, best points below it, numbers as declared."""
    dual = ProxyDual(random_problem(kernel, n=40, seed=1), rho, C)
    best = optimum(dual)
    solution = run(dual, tol=1e-7)
    alpha, trace = solution.values["alpha"], solution.trace
    assert solution.status is Status.SOLVED
    check_feasible(dual, alpha)
    reached = value(dual, alpha)
    assert best - 1.1e-7 * best <= reached <= best + 1e-9 * best
    assert min(trace.bound) + dual.constant >= best - 1e-9 * best
    assert max(trace.objective) + dual.constant <= best + 1e-9 * best
    assert trace.objective[-1] + dual.constant == pytest.approx(reached, rel=1e-9)
    assert trace.residual[-1] == pytest.approx(trace.gap[-1] / best, rel=1e-3, abs=1e-9)
    assert np.all(np.diff(trace.bound) <= 0.0)
    assert_allclose(solution.gradient, dual.gradient(alpha), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("room", [0.0, 0.5])
def test_the_ball_agrees_with_newton(room: float) -> None:
    dual = ProxyDual(random_problem("sigmoid", n=40, seed=3), None, 1.0, slack=room)
    reference = run(dual, Newton(), tol=1e-8)
    solution = run(dual)
    assert reference.status is solution.status is Status.SOLVED
    best = max(reference.trace.objective)
    assert solution.trace.objective[-1] == pytest.approx(best, rel=2e-6)
    assert min(solution.trace.bound) >= best - 1e-8 * abs(best)


def test_the_witness_proves_the_bound() -> None:
    """The tangents at its points, by dense eigenvalues; minimised over A by linear programming."""
    dual = ProxyDual(random_problem("sigmoid", n=30, seed=0), 1.0, 10.0)
    solution = run(dual, ACCPM(proximal=0.0), tol=1e-4)
    assert solution.message.endswith("bound from the cut model")
    witness = solution.witness
    assert witness is not None
    assert witness.points.shape == (witness.shares.size, 30)
    assert np.all(witness.shares >= 0.0)
    level, slope = 0.0, np.zeros(30)
    y = dual.problem.y
    for x, share in zip(witness.points, witness.shares / witness.shares.sum(), strict=True):
        K = positive_part(dual.problem.K + np.outer(y * x, y * x) / 4.0)
        gradient = y * (K @ (y * x)) - 1.0
        level += share * (-value(dual, x) - float(gradient @ x))
        slope += share * gradient
    alpha = cp.Variable(30)
    program = cp.Problem(cp.Minimize(slope @ alpha), [alpha >= 0, alpha <= 10, y @ alpha == 0])
    proved = level + float(program.solve(solver="HIGHS"))
    reported = -(solution.trace.bound[-1] + dual.constant)
    assert reported <= proved + 1e-9
    assert reported == pytest.approx(proved, abs=1e-6)
    assert witness.shares.size > 1


def test_convergence_is_linear() -> None:
    """More than a digit every six evaluations, on a straight line down to 1e-8."""
    dual = ProxyDual(random_problem("sigmoid", n=60, seed=0), 1.0, 10.0)
    solution = run(dual, tol=1e-8)
    gaps = np.log10(np.maximum(solution.trace.gap, 1e-16))
    iterations = np.array(solution.trace.iterations, dtype=float)
    assert solution.status is Status.SOLVED
    assert np.polyfit(iterations, gaps, 1)[0] < -1.0 / 6.0
    assert np.corrcoef(iterations, gaps)[0, 1] < -0.95
    assert solution.trace.calls[-1] == solution.iterations + 2  # the start and the rounding


@pytest.mark.parametrize("name", ["one", "minus one", "identity", "negative", "mixed", "large"])
def test_degenerate_kernels(name: str) -> None:
    v = np.random.default_rng(7).standard_normal(9)
    K = {
        "one": np.outer(v, v), "minus one": -np.outer(v, v), "identity": np.eye(9),
        "negative": -np.diag(np.arange(1.0, 10.0)), "mixed": np.diag([5.0, -5.0, *np.zeros(7)]),
        "large": 1e3 * np.outer(v, v) - 10.0 * np.eye(9),
    }[name]  # fmt: skip
    for positive in (1, 4):
        y = np.where(np.arange(9) < positive, 1, -1)
        dual = ProxyDual(iopt.KernelProblem(K, y), 0.5, 2.0)
        solution, best = run(dual), optimum(dual)
        assert solution.status is Status.SOLVED
        check_feasible(dual, solution.values["alpha"])
        assert value(dual, solution.values["alpha"]) == pytest.approx(best, rel=2e-6)
        assert min(solution.trace.bound) + dual.constant >= best - 1e-8 * best


def test_rounding_is_blamed_in_the_end() -> None:
    """Nobody gets to 1e-15: it says so, soon, and is as near as rounding allows."""
    solution = run(ProxyDual(random_problem("sigmoid", n=40, seed=5), 1.0, 1.0), tol=1e-15)
    assert solution.status is Status.INACCURATE
    assert solution.trace.residual[-1] < 1e-8
    assert solution.iterations < 300
    assert solution.trace.calls[-1] <= solution.iterations + 4  # one evaluation a cut
