"""Both ends of a bracket in exact arithmetic: a bound is proved, and a point attains the other."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.exact import as_matrix, as_vector, is_psd, mirrored
from helpers.kernel_programs import beside, exact_program
from indefinite_opt.errors import ParameterError
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.answers.paired_bounds import surely
from indefinite_opt.quadratic.bracket.finite_form import finite_form
from indefinite_opt.quadratic.bracket.search import GlobalSearch
from indefinite_opt.quadratic.local.search.pair_search import central_start
from indefinite_opt.quadratic.programs.gaps import relative
from indefinite_opt.quadratic.solving.solution import Status
from indefinite_opt.quadratic.solving.solver import Task

INF = float("inf")


def kernel(seed: int, exponent: int) -> tuple[iopt.KernelProblem, np.random.Generator]:
    """At most four points, and a constant of ±2^exponent in K, which rounds the other part."""
    g = np.random.default_rng([seed, exponent])
    n = int(g.integers(2, 5))
    A = g.standard_normal((n, n))
    other = [A + A.T, A @ A.T, np.round(3.0 * (A + A.T)), 1e3 * A @ A.T][seed % 4]
    K = mirrored(other + float(g.choice([-1.0, 1.0])) * 2.0**exponent)
    y = g.permutation(np.where(np.arange(n) < int(g.integers(1, n)), 1, -1))
    return iopt.KernelProblem(K, y), g


def formulations(problem: iopt.KernelProblem, g: np.random.Generator) -> list[iopt.Formulation]:
    C = float(10.0 ** g.uniform(-2.0, 2.0))
    least = 1.0 / problem.smaller_class
    return [
        iopt.SVMDual(C=C),
        iopt.SVMDual(C=C, weights=g.uniform(0.1, 3.0, problem.n)),
        iopt.ConvexHullDual(mu=1.1 * least),
        iopt.GuoSchuurmansQP(beta=0.55 * least),
    ]


@pytest.mark.parametrize("exponent", [20, 50])
@pytest.mark.parametrize("seed", range(4))
def test_a_constant_in_the_kernel_moves_no_end_beyond_the_optimum(seed: int, exponent: int) -> None:
    """With yᵀα = 0 it has no effect. In doubles it is rounded to 2^-2 at 2^50, before and after."""
    problem, g = kernel(seed, exponent)
    for formulation in formulations(problem, g):
        program = exact_program(problem, formulation)
        bracket = iopt.bound(problem, formulation)
        optimum = bracket.program.sense * program.minimum()[0]
        assert Fraction(bracket.lower) <= optimum <= Fraction(bracket.upper)
        assert bracket.rigorous
        assert (bracket.status is Status.SOLVED) == (bracket.relative_gap <= 1e-4)
        if seed != 3:  # whose terms are up to 1e8 times as large as the optimum
            # No digit of what is left of K - c is lost, so the ends are as near as ever.
            assert bracket.relative_gap <= 1e-4
        assert abs(bracket.check(problem) - bracket.bound) <= 1e-9 * abs(bracket.bound)


@pytest.mark.parametrize("exponent", [46, 50])
def test_curvature_beside_a_constant_does_not_pass_for_rounding(exponent: int) -> None:
    """n·eps·2^46 is 0.06: K - c decides, in fractions on the differences of two points."""
    signs = set()
    for seed in range(6):
        g = np.random.default_rng(seed)
        A = g.standard_normal((4, 4))
        K = mirrored((A @ A.T if seed % 3 == 0 else A + A.T) + 2.0**exponent)
        problem = iopt.KernelProblem(K, [-1, 1, -1, -1])
        rows = as_matrix(K)
        # With two lines weights move within a class only.
        kept = {iopt.SVMDual(C=1.5): (1, 2, 3), iopt.ConvexHullDual(mu=1.0): (2, 3)}
        for formulation, others in kept.items():
            qp = formulation.program(problem)
            # (e_i - e_0)ᵀK(e_j - e_0)
            exact = [[rows[i][j] - rows[0][j] - rows[i][0] + rows[0][0] for j in others]
                     for i in others]  # fmt: skip
            assert qp.is_convex == is_psd(exact)
            signs.add(qp.is_convex)
            program = exact_program(problem, formulation)
            bracket = iopt.bound(problem, formulation)
            assert Fraction(bracket.lower) <= -program.minimum()[0] <= Fraction(bracket.upper)
    assert signs == {True, False}


@pytest.mark.parametrize("exponent", [20, 50])
@pytest.mark.parametrize(
    "formulation", [iopt.SVMDual(C=3.0, bias=False), iopt.KSVM(C=2.0)], ids=str
)
def test_ends_are_right_where_a_constant_has_an_effect(
    formulation: iopt.Formulation, exponent: int
) -> None:
    """Without a line; and for KSVM, whose matrix K² is rounded, so that it need not be near."""
    for seed in range(3):
        problem, _ = kernel(seed, exponent)
        program = exact_program(problem, formulation)
        bracket = iopt.bound(problem, formulation, time_limit=5.0, max_nodes=50)
        constant = problem.n if isinstance(formulation, iopt.KSVM) else 0
        optimum = bracket.program.sense * (program.minimum()[0] + constant)
        assert Fraction(bracket.lower) <= optimum <= Fraction(bracket.upper)
        assert bracket.rigorous


@pytest.mark.parametrize("exponent", [0, 40])
def test_the_attained_value_is_one_of_a_feasible_point_nearby(exponent: int) -> None:
    """Of every feasible point that differs in a weight, or in one of each class.

    The points are rounded: in most of them the sum of a class misses its total by 1e-17 or more.
    """
    compared = 0
    for seed in range(8):
        problem, g = kernel(seed, exponent)
        others = [iopt.SVMDual(C=2.0, bias=False), iopt.KSVM(C=2.0)]
        for formulation in formulations(problem, g) + others:
            program, qp = exact_program(problem, formulation), formulation.program(problem)
            for x in (qp.feasible.random_point(g), central_start(qp)):
                point, error = answers.attained(qp, qp.at(x), 0.0)
                attained = Fraction(point.value + error)
                least = min(attained, Fraction(surely(qp, qp.at(x))))
                for z in beside(program, as_vector(x)):
                    assert program.value(z) <= least
                    compared += 1
                size = float(np.abs(x) @ np.abs(qp.H()) @ np.abs(x) + np.sum(np.abs(qp.linear * x)))
                # A few hundred roundings of its terms, or of K² those of its factors.
                near = 1e-12 if not isinstance(formulation, iopt.KSVM) else 1e-11
                assert attained - program.value(as_vector(x)) <= near * size
    assert compared >= 100


def test_a_point_outside_of_the_box_attains_what_one_inside_does() -> None:
    """F = α₁² + α₂² - α₁ - α₂ is 0 at (1, 1), and 2t + 2t² at (1 + t, 1 + t)."""
    problem = iopt.KernelProblem(2.0 * np.eye(2), [1, -1])
    qp = iopt.SVMDual(C=1.0).program(problem)
    for t in (1e-12, 1e-9, 1e-3):
        x = np.array([1.0 + t, 1.0 + t])
        # Far enough outside, it is moved; nearer than rounding, the way to the box is an error.
        point, error = answers.attained(qp, qp.at(x), qp.infeasibility(x))
        assert point.x.max() <= 1.0
        assert 0.0 <= point.value + error <= 1e-13
        point, error = answers.attained(qp, qp.at(x), 0.0)
        assert 2.0 * t <= point.value + error <= 8.0 * t


@pytest.mark.parametrize("count", [3, 49])
def test_the_least_bound_that_rounding_leaves_too_small(count: int) -> None:
    """As doubles, three weights of 1/3 sum to less than 1; the next number is meant."""
    y = np.where(np.arange(2 * count) < count, 1, -1)
    problem = iopt.KernelProblem(-np.eye(2 * count), y)
    qp = iopt.ConvexHullDual(mu=1.0 / count).program(problem)
    assert Fraction(float(qp.feasible.widest)) * count >= 1
    assert qp.feasible.widest <= np.nextafter(1.0 / count, 1.0)
    bracket = iopt.bound(problem, iopt.ConvexHullDual(mu=1.0 / count))
    # Every weight is 1/count: -αᵀQα = 2/count.
    assert bracket.lower <= 2.0 / count <= bracket.upper
    assert bracket.relative_gap <= 1e-9


@pytest.mark.parametrize("scale", [1e-150, 1e-280, 1e-320])
def test_tiny_kernels_are_as_curved_as_others(scale: float) -> None:
    """The squares of their entries are 0: the separation of -I is no convex program.

    ‖z₊ - z₋‖² = -Σᾱ² is largest, -1, at equal weights, and least, -2, at a vertex of each class.
    """
    problem = iopt.KernelProblem(-scale * np.eye(4), [1, 1, -1, -1])
    formulation = iopt.ConvexHullDual(mu=1.0)
    assert problem.gram.norm >= scale
    assert not problem.is_conditionally_psd
    worst = iopt.verify(problem, formulation, {"alphabar": np.full(4, 0.5)})
    assert worst.claim < iopt.Claim.LOCAL
    bracket = iopt.bound(problem, formulation)
    program = exact_program(problem, formulation)
    assert Fraction(bracket.lower) <= -program.minimum()[0] <= Fraction(bracket.upper)
    if scale >= 1e-280:
        assert bracket.relative_gap <= 1e-4


@pytest.mark.parametrize("scale", [1e-320, 1e-300])
def test_bounds_hold_where_products_underflow(scale: float) -> None:
    for seed in range(3):
        g = np.random.default_rng(seed)
        A = g.standard_normal((3, 3))
        K = mirrored(scale * (A @ A.T if seed % 2 else A + A.T))
        problem = iopt.KernelProblem(K, [1, -1, 1])
        C = float(10.0 ** g.uniform(-3.0, 1.0)) / scale
        for formulation in (
            iopt.ConvexHullDual(mu=1.0),
            iopt.GuoSchuurmansQP(beta=0.5),
            iopt.SVMDual(C=min(C, 1e20)),
        ):
            qp = formulation.program(problem)
            optimum = exact_program(problem, formulation).minimum()[0]
            form = finite_form(qp)
            task = Task(problem, formulation, qp, max_iter=3, time_limit=5.0)
            search = GlobalSearch(task, 1e-6)
            search.run()
            proved = [search.bracket.lower, form.linear_bound()]
            if qp.is_convex:
                points = [qp.at(x) for x in (search.bracket.point, qp.feasible.random_point(g))]
                proved += [
                    found.value for point in points for found in answers.bounds(qp, point, None)
                ]
            assert all(Fraction(bound) <= optimum for bound in proved if np.isfinite(bound))
            assert Fraction(search.bracket.value) >= optimum


def test_a_relative_gap_is_zero_only_for_equal_ends() -> None:
    assert relative(5e-324, 1e10) > 0.0
    # F = αᵀQα - 2eᵀα + 2 = 0 at (1, 1): the constant 2 rounds what is left of 0.
    problem = iopt.KernelProblem(np.eye(2), [1, -1])
    for bracket in (
        iopt.bound(problem, iopt.KSVM(C=1.0)),
        iopt.bound(problem, iopt.SVMDual(C=0.5)),
        iopt.bound(iopt.QuadraticProgram([[2.0]], [-2.0], constant=1e6, lb=0, ub=1)),
    ):
        assert (bracket.relative_gap == 0.0) == (bracket.lower == bracket.upper)


@pytest.mark.parametrize("method", ["branch-and-bound", "relaxation", "clarabel", "cheap"])
@pytest.mark.parametrize("gap", [1e-2, 1e-15])
def test_solved_means_that_the_goal_is_met(method: str, gap: float) -> None:
    g = np.random.default_rng(3)
    A = g.standard_normal((8, 8))
    problem = iopt.KernelProblem(A + A.T, np.resize([1, -1], 8))
    limit = {"max_nodes": 20} if method == "branch-and-bound" else {}
    for formulation in (iopt.SVMDual(C=1.0), iopt.ConvexHullDual()):
        bracket = iopt.bound(problem, formulation, method=method, gap=gap, **limit)
        solved = bracket.relative_gap <= gap
        assert (bracket.status is Status.SOLVED) == solved
        assert not solved or str(bracket).endswith("s: converged")
    # An absolute goal counts as well.
    bracket = iopt.bound(problem, iopt.SVMDual(C=1.0), gap=1e-15, atol=1.0, method=method)
    met = bracket.upper - bracket.lower <= 1.0
    assert (bracket.status is Status.SOLVED) == met
    assert met or method == "cheap"


@pytest.mark.parametrize("gap", [0.5, 1e-8])
def test_rays_end_where_the_goal_is_met(gap: float) -> None:
    """Their optimum is -1/(4q): boxes are closed where it is within the gap, not q."""
    for seed in range(2):
        g = np.random.default_rng(seed)
        X = g.standard_normal((9, 2))
        K = X @ X.T + np.eye(9) - 0.3 * np.outer(X[:, 0], X[:, 0]) ** 2 / 9.0
        bracket = iopt.bound(
            iopt.KernelProblem(K, np.resize([1, -1], 9)), iopt.SVMDual(C=INF), gap=gap
        )
        assert bracket.status is Status.SOLVED
        assert bracket.relative_gap <= gap


@pytest.mark.parametrize("gap", [1e-3, 1e-12])
def test_a_convex_program_without_a_box_is_solved_when_its_gap_is_closed(gap: float) -> None:
    problem = iopt.KernelProblem(np.diag([1.0, 2.0, 4.0]), [1, -1, 1])
    formulation = iopt.SVMDual(C=INF, bias=False)
    bracket = iopt.bound(problem, formulation, gap=gap)
    assert bracket.method == "dual"
    # Each weight for itself: Σ 1/(2K_ii).
    assert bracket.lower <= 0.875 <= bracket.upper
    assert (bracket.status is Status.SOLVED) == (bracket.relative_gap <= gap)
    assert Fraction(bracket.lower) <= Fraction(7, 8) <= Fraction(bracket.upper)


@pytest.mark.parametrize("name", ["max_nodes", "cluster"])
def test_arguments_of_branch_and_bound_are_refused_by_other_methods(name: str) -> None:
    problem = iopt.KernelProblem(np.eye(4), [1, -1, 1, -1])
    for method in ("relaxation", "clarabel", "cheap"):
        with pytest.raises(ParameterError, match=f"^{name}: expected None for method='{method}'"):
            iopt.bound(problem, "SVMDual", method=method, **{name: 3})
