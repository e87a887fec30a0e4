"""Models with one quadratic row: claims against enumeration, hard cases, and what is refused."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from typing import Any

import cvxpy
import numpy as np
import pytest
from scipy.optimize import minimize

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from helpers.one_quadratic_row import RowProgram, least_critical_value
from indefinite_opt import Claim
from indefinite_opt.errors import InfeasibleProblem, ProblemError, SolverFailed, UnboundedProblem
from indefinite_opt.foundation import TimeLimitReached
from indefinite_opt.modeling.quadratic_row.tree import Tree

Array = np.ndarray
PROBLEM = iopt.KernelProblem(np.eye(2), [1, -1])


@dataclass(frozen=True)
class OneRow(iopt.Formulation):
    """½xᵀAx + bᵀx + Σ max(r + Rx, 0) with one quadratic row, and a box if there are ends."""

    given: Any = None
    R: Any = None
    r: Any = None

    def model(self, problem: iopt.KernelProblem) -> cp.Model:
        A, b, G, g, c, equal, low, high = self.given
        x = cp.Variable(b.size, name="x")
        objective = 0.5 * cp.quad_form(x, A) + b @ x
        if self.R is not None:
            objective = objective + cp.sum(cp.pos(self.R @ x + self.r))
        side = 0.5 * cp.quad_form(x, G) + g @ x
        rows = {"row": side == c if equal else side <= c}
        if low is not None:
            rows |= {"low": x >= low, "high": x <= high}
        return cp.Model(minimize=objective, subject_to=rows)


def drawn(seed: int, number: int, boxed: bool) -> RowProgram:
    """A program of small whole numbers; every third ball, every fifth without linear terms."""
    g = np.random.default_rng([seed, number])
    n = int(g.integers(1, 4 if boxed else 5))

    def symmetric(size: int) -> Array:
        M = g.integers(-size, size + 1, (n, n)).astype(float)
        return M + M.T

    A, G = symmetric(3), symmetric(2)
    if number % 3 == 0:
        G = 2.0 * np.eye(n)
    b, slope = g.integers(-3, 4, n).astype(float), g.integers(-2, 3, n) * float(number % 2)
    if number % 5 == 0:
        b, slope = 0.0 * b, 0.0 * slope
    elif number % 7 == 0:  # in the range of A
        b = A @ g.integers(-1, 2, n)
    ends = (-g.integers(0, 4, n) * 1.0, g.integers(1, 4, n) * 1.0) if boxed else (None, None)
    return RowProgram(A, b, G, slope, float(g.integers(-3, 7)), bool(g.integers(2)), *ends)


def judged(program: RowProgram, seconds: float = 5.0) -> str:
    """What is claimed about a program; an assertion fails if it is false."""
    best = least_critical_value(program)
    try:
        result = iopt.solve(PROBLEM, OneRow(program), time_limit=seconds)
    except InfeasibleProblem:
        return "infeasible" if best == np.inf else "false"
    except UnboundedProblem as error:
        return "unbounded" if falls(program, np.array(error.ray)) else "false"
    except SolverFailed:
        return "undecided"
    certificate, x = result.certificate, result.values["x"]
    room = 1e-5 * (1.0 + abs(best))
    bounds = [certificate.bound, *result.trace.bound]
    assert np.nanmax(bounds) <= best + room, (program, bounds, best)
    missed = program.row(x) if not program.equal else abs(program.row(x))
    if certificate.claim > Claim.NONE:
        assert missed <= 1e-6 * (1.0 + np.max(np.abs(x)) ** 2), program
    if certificate.claim is Claim.GLOBAL:
        assert result.objective <= best + room, (program, result.objective, best)
    return str(certificate.claim)


def falls(program: RowProgram, d: Array) -> bool:
    """Whether feasible points with ever lower objectives are found along a direction."""
    values = []
    for t in (1e3, 1e5):
        found = minimize(
            lambda x, t=t: float(np.sum((x - t * d) ** 2)) / t**2, t * d, method="SLSQP",
            constraints=[{
                "type": "eq" if program.equal else "ineq",
                "fun": lambda x, t=t: -program.row(x) / t**2,
            }],
        )  # fmt: skip
        assert abs(program.row(found.x)) <= 1e-3 * t**2 or program.row(found.x) <= 0.0
        values.append(program.value(found.x))
    return values[1] < 10.0 * values[0] < 0.0


DECIDED = ("GLOBAL", "infeasible", "unbounded")


@pytest.mark.parametrize("boxed", [False, True])
def test_no_claim_is_false(boxed: bool) -> None:
    draws = 12 if boxed else 100
    claims = Counter(judged(drawn(1, number, boxed), 1.0) for number in range(draws))
    assert claims["false"] == 0
    assert sum(claims[one] for one in DECIDED) >= (0.4 if boxed else 0.75) * draws


@pytest.mark.slow
@pytest.mark.parametrize("boxed", [False, True])
def test_no_claim_of_2000_is_false(boxed: bool) -> None:
    draws = 100 if boxed else 1900
    claims = Counter(judged(drawn(2, number, boxed), 0.5) for number in range(draws))
    print(f"\n{claims}")
    assert claims["false"] == 0
    assert sum(claims[one] for one in DECIDED) >= (0.4 if boxed else 0.75) * draws


@pytest.mark.parametrize("radius", [0.25, 1.0, 4.0])
def test_the_hard_case(radius: float) -> None:
    """-x² + y² + y over a ball or sphere: y = -¼ in the hard case, and x² = r² - y²."""
    A, b = np.diag([-2.0, 2.0]), np.array([0.0, 1.0])
    for equal in (False, True):
        program = RowProgram(A, b, 2.0 * np.eye(2), np.zeros(2), radius**2, equal)
        y = -0.25 if radius >= 0.25 else -radius
        result = iopt.solve(PROBLEM, OneRow(program))
        assert result.certificate.claim is Claim.GLOBAL
        assert result.objective == pytest.approx(2.0 * y * y + y - radius**2, rel=1e-6)
        x = result.values["x"]
        assert np.abs(x) == pytest.approx([np.sqrt(radius**2 - y * y), -y], abs=1e-6)
        assert result.certificate.multipliers["row"] == pytest.approx(1.0, rel=1e-6)


@pytest.mark.slow
def test_a_sphere_of_1000_variables_is_proved() -> None:
    """Against the secular equation of a diagonal matrix, solved by bisection."""
    g = np.random.default_rng(5)
    n, radius = 1000, 2.0
    values, U = np.sort(g.normal(size=n)), np.linalg.qr(g.normal(size=(n, n)))[0]
    slopes = g.normal(size=n)
    A = U @ np.diag(values) @ U.T
    program = RowProgram(0.5 * (A + A.T), U @ slopes, np.eye(n), np.zeros(n), 0.5 * radius**2, True)
    low, high = -values[0] * (1.0 + 1e-12), -values[0] + np.linalg.norm(slopes) / radius
    for _ in range(200):
        middle = 0.5 * (low + high)
        long = np.linalg.norm(slopes / (values + middle)) > radius
        low, high = (middle, high) if long else (low, middle)
    u = -slopes / (values + high)
    result = iopt.solve(PROBLEM, OneRow(program))
    assert result.certificate.claim is Claim.GLOBAL
    assert result.objective == pytest.approx(0.5 * values @ u**2 + slopes @ u, rel=1e-7)


def hyperboloid(n: int, seed: int) -> tuple[Array, Array]:
    """Points (√(1 + ‖p‖²), p) of two classes with other means, and their labels."""
    g = np.random.default_rng(seed)
    y = np.where(np.arange(n) < n // 3, 1.0, -1.0)
    p = g.normal(size=(n, 2)) + y[:, None] * np.array([0.7, 0.2])
    return np.column_stack([np.sqrt(1.0 + np.sum(p**2, axis=1)), p]), y


@dataclass(frozen=True)
class Hyperbolic(iopt.Formulation):
    """½wᵀGw + C/√2 Σ max(1 + y x_iᵀGw, 0) with wᵀGw ≥ 0, G = diag(-1, 1, 1)."""

    X: Any = None
    y: Any = None
    C: float = 1.0

    def model(self, problem: iopt.KernelProblem) -> iopt.Model:
        w, G = cp.Variable(3, name="w"), np.diag([-1.0, 1.0, 1.0])
        margins = -(self.y[:, None] * self.X @ G) @ w
        return cp.Model(
            minimize=0.5 * cp.quad_form(w, G) + self.C / np.sqrt(2.0) * cp.sum(cp.pos(1 - margins)),
            subject_to={"spacelike": cp.quad_form(w, G) >= 0},
        )


@pytest.mark.parametrize(("n", "C"), [(30, 1.0), (300, 10.0)])
def test_machines_in_hyperbolic_space_are_proved(n: int, C: float) -> None:
    """Against many local searches from directions around the cone."""
    X, y = hyperboloid(n, seed=n)
    G = np.diag([-1.0, 1.0, 1.0])
    rows = y[:, None] * X @ G

    def value(w: Array) -> float:
        return 0.5 * w @ G @ w + C / np.sqrt(2.0) * np.maximum(1.0 + rows @ w, 0.0).sum()

    best = np.inf
    for angle in np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False):
        for time in (-0.5, 0.0, 0.5):
            start = np.array([time, np.cos(angle), np.sin(angle)])
            found = minimize(
                value, start, method="SLSQP",
                constraints=[{"type": "ineq", "fun": lambda w: w @ G @ w}],
            ).x  # fmt: skip
            found[0] = np.clip(found[0], -np.hypot(*found[1:]), np.hypot(*found[1:]))
            best = min(best, value(found))
    result = iopt.solve(PROBLEM, Hyperbolic(X, y, C))
    assert result.certificate.claim is Claim.GLOBAL
    assert result.solver == "spatial"
    assert result.objective <= best * (1.0 + 1e-9)
    assert result.certificate.bound <= best


def test_a_problem_of_cvxpy_with_a_quadratic_row() -> None:
    """-x² + y² + y over x² + y² ≤ 4 is least at y = -¼, -4 + 2y² + y, and on x = ½ at y = -½."""
    v = cvxpy.Variable(2, name="v")
    objective = cvxpy.Minimize(cvxpy.quad_form(v, np.diag([-1.0, 1.0])) + v[1])
    ball = cvxpy.sum_squares(v) <= 4.0
    result = iopt.solve(cvxpy.Problem(objective, [ball]))
    assert result.certificate.claim is Claim.GLOBAL
    assert result.objective == pytest.approx(-4.125, rel=1e-6)
    assert np.abs(v.value) == pytest.approx([np.sqrt(4.0 - 0.0625), 0.25], abs=1e-6)
    assert iopt.verify(cvxpy.Problem(objective, [ball])).claim is Claim.GLOBAL
    v.value = np.array([1.0, -0.25])
    weaker = iopt.verify(cvxpy.Problem(objective, [ball]))
    assert weaker.claim is Claim.FEASIBLE
    assert weaker.bound == pytest.approx(-4.125, rel=1e-6)
    boxed = iopt.solve(cvxpy.Problem(objective, [ball, v[0] == 0.5]))
    assert boxed.certificate.claim is Claim.GLOBAL
    assert boxed.objective == pytest.approx(-0.5, rel=1e-6)


@pytest.mark.parametrize(("slope", "end", "x", "y"), [
    (0.0, -1.0, -1.0, -np.sqrt(3.0)),  # a corner of the circle and the line
    (0.0, 1.0, 0.0, -2.0),
    (-1.0, -1.0, -(1.0 + np.sqrt(7.0)) / 2.0, (1.0 - np.sqrt(7.0)) / 2.0),
])  # fmt: skip
def test_a_circle_and_a_line(slope: float, end: float, x: float, y: float) -> None:
    """min y over x² + y² = 4 with x + slope·y ≤ end, in a box."""
    v = cvxpy.Variable(2)
    circle = cvxpy.sum_squares(v) == 4.0
    rows = [v[0] + slope * v[1] <= end, v >= -3.0, v <= 3.0]
    result = iopt.solve(cvxpy.Problem(cvxpy.Minimize(v[1]), [circle, *rows]))
    assert result.certificate.claim is Claim.GLOBAL
    assert v.value == pytest.approx([x, y], abs=1e-5)


def test_a_convex_row_by_itself_has_a_bound_without_ends_of_its_variables() -> None:
    """2x² - 3x over x² - 2x ≤ 5 is least at x = 3/4, and over x² ≤ -1 it has no point."""
    one, two = np.ones(1), 2.0 * np.eye(1)
    result = iopt.solve(
        PROBLEM, OneRow(RowProgram(2.0 * two, -3.0 * one, two, -2.0 * one, 5, False))
    )
    assert result.certificate.claim is Claim.GLOBAL
    assert result.objective == pytest.approx(-1.125, rel=1e-9)
    empty = RowProgram(two, -one, two, 0.0 * one, -1.0, False)
    with pytest.raises(InfeasibleProblem, match="least violation is 1"):
        iopt.solve(PROBLEM, OneRow(empty))


@pytest.mark.parametrize("low", [0.0, 20.0])
def test_ends_that_one_variable_needs_say_nothing_of_the_others(low: float) -> None:
    """x² - y over -x² ≤ 1 is least at x = 0 and the upper end of y, wherever that is."""
    x, y = cvxpy.Variable(), cvxpy.Variable()
    rows = [-cvxpy.square(x) <= 1.0, y >= low, y <= low + 10.0]
    result = iopt.solve(cvxpy.Problem(cvxpy.Minimize(cvxpy.square(x) - y), rows))
    assert result.certificate.claim is Claim.GLOBAL
    assert result.objective == pytest.approx(-low - 10.0, rel=1e-6)


@pytest.mark.parametrize("in_row", [True, False])
def test_a_small_negative_eigenvalue_beside_a_large_one_counts(in_row: bool) -> None:
    """With x₁ = 0 the small term decides whether there is a point, or what the optimum is."""
    x = cvxpy.Variable(2)
    form = 1e14 * cvxpy.square(x[0]) - 0.95 * cvxpy.square(x[1])
    objective, row = (cvxpy.sum(x), form <= -0.9) if in_row else (form, cvxpy.square(x[0]) <= 1.0)
    box = [x >= [0.0, -1.0], x <= [1e-8, 1.0]]
    least = -1.0 if in_row else -0.95
    try:
        result = iopt.solve(cvxpy.Problem(cvxpy.Minimize(objective), [row, *box]), time_limit=5.0)
    except SolverFailed:  # without a claim
        return
    assert result.certificate.bound <= least
    assert result.certificate.claim is not Claim.GLOBAL or result.objective <= least + 1e-6


def staircase() -> cvxpy.Problem:
    """t - y² under tangents that leave -0.9 at y = 1 and 0 to 4 at the other whole numbers."""
    y, t = cvxpy.Variable(), cvxpy.Variable()
    tangents = [(0.1, 0.0), (3.9, 3.8), (5.2, 6.4), (6.8, 11.2), (11.5, 30.0), (12.5, 35.0),
                (13.0, 38.0), (15.0, 52.0)]  # fmt: skip
    rows = [t >= slope * y - side for slope, side in tangents]
    rows += [cvxpy.square(y) <= 1000.0, y >= 0.0, y <= 8.0, t >= 0.0, t <= 100.0]
    return cvxpy.Problem(cvxpy.Minimize(t - cvxpy.square(y)), rows)


def test_no_bound_on_the_way_is_above_the_optimum() -> None:
    result = iopt.solve(staircase())
    assert result.certificate.claim is Claim.GLOBAL
    assert result.objective == pytest.approx(-0.9, abs=1e-6)
    assert max(result.trace.bound) <= -0.9
    for nodes in range(1, 12):
        assert iopt.solve(staircase(), max_iter=nodes).certificate.bound <= -0.9


@pytest.mark.parametrize("error", [KeyboardInterrupt, TimeLimitReached])
def test_an_interrupt_loses_no_node(error: type[BaseException]) -> None:
    """One convex program after the other is interrupted."""
    original, found = Tree._solved, 0
    for last in range(40):
        calls = itertools.count()

        def solved(tree: Tree, *given: Any, calls: Any = calls, last: int = last) -> Any:
            if next(calls) == last:
                raise error
            return original(tree, *given)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Tree, "_solved", solved)
            try:
                result = iopt.solve(staircase())
            except SolverFailed:
                continue
        found += 1
        assert result.certificate.bound <= -0.9
        assert result.certificate.claim is not Claim.GLOBAL or result.objective <= -0.9 + 1e-6
    assert found > 20


def test_an_underflow_is_not_the_origin() -> None:
    """x² ≤ 0 at x = 1e-170, where x² is 0 in doubles."""
    one = np.eye(1)
    given = RowProgram(-one, np.array([-1e170]), 2.0 * one, np.zeros(1), 0.0, False,
                       np.zeros(1), np.ones(1))  # fmt: skip
    program = OneRow(given).compiled(PROBLEM)
    assert program.surely_feasible(np.array([1e-170])) is None
    assert program.surely_feasible(np.zeros(1)) == (0.0, 0.0)


def test_what_is_refused_says_why() -> None:
    A, none = np.diag([-2.0, 2.0]), np.zeros(2)
    with pytest.raises(InfeasibleProblem, match="least violation is 4"):
        iopt.solve(PROBLEM, OneRow(RowProgram(A, none, 2.0 * np.eye(2), none, -4.0, True)))
    with pytest.raises(UnboundedProblem, match="falls without bound"):
        iopt.solve(PROBLEM, OneRow(RowProgram(A, none, np.diag([-2.0, 2.0]), none, 1.0, False)))
    x = cvxpy.Variable(2)
    two = [cvxpy.sum_squares(x) >= 1.0, cvxpy.sum_squares(x - 1.0) >= 1.0]
    with pytest.raises(ProblemError, match="which is convex and on the larger side"):
        iopt.solve(cvxpy.Problem(cvxpy.Minimize(x[0]), two))
