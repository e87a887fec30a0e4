"""Brackets hold the optimum of a closed form or of a brute force, at whatever moment they end."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.callbacks import press, stop
from helpers.cases import CASES
from helpers.exact import BoxProgram, as_matrix, as_vector
from helpers.problems import symmetric
from helpers.processes import HANGS
from indefinite_opt.problem.datasets.synthetic import haasdonk_lemma4
from indefinite_opt.quadratic.bracket.finite_form import box_quadratic
from indefinite_opt.quadratic.bracket.settings import Settings
from indefinite_opt.quadratic.programs.paired_qp import PairedQP
from indefinite_opt.workflow.bounding import METHODS

INF = float("inf")

ROUNDING = 1e-12
"""Of the expected values, whose closed forms and linear systems are computed in doubles."""

CONVEX_CASES = {
    "two points, C = inf", "zero kernel", "conditionally PSD only", "weights, no bias", "clip",
    "hull, reduced to the means", "ν-form of the identity", "regression, bounded",
    "nu regression of two points",
}  # fmt: skip
"""Those of the known cases that are bracketed by their duals, one for each set of rows."""

CHEAP = {"spectral", "lagrangian", "separable"}


def problem_of(n: int, seed: int) -> iopt.KernelProblem:
    """About half of the eigenvalues are negative, and the labels are given in turn."""
    return iopt.KernelProblem(symmetric(n, seed), np.resize([-1, 1], n), name="gaussian-matrix")


def assert_holds(bracket: iopt.workflow.Bracket, optimum: float) -> None:
    """The contract of a `Bracket` with a known optimum."""
    slack = ROUNDING * max(1.0, abs(optimum))
    assert bracket.lower <= optimum + slack
    assert bracket.upper >= optimum - slack
    assert_consistent(bracket)


def assert_consistent(bracket: iopt.workflow.Bracket) -> None:
    """What holds of every bracket, the optimum known or not."""
    assert bracket.rigorous
    assert bracket.lower <= bracket.upper
    ends = (bracket.lower, bracket.upper)
    attained, proved = ends if bracket.maximised else ends[::-1]
    assert (bracket.objective, bracket.bound) == (attained, proved)
    best = min if bracket.maximised else max
    assert bracket.bounds[bracket.method] == best(bracket.bounds.values())
    trace = bracket.trace
    assert len(trace) >= 1
    assert trace.seconds == sorted(trace.seconds)
    assert trace.iterations == sorted(trace.iterations)
    sign = 1.0 if bracket.maximised else -1.0
    assert np.all(np.diff(sign * np.array(trace.objective)) >= 0.0)
    bounds = sign * np.array(trace.bound)
    # Infinite ones first, of which no difference can be made.
    assert np.all(bounds[1:] <= bounds[:-1])
    assert sign * bracket.objective >= sign * trace.objective[-1]
    assert sign * bracket.bound <= bounds[-1]
    assert bracket.nodes >= trace.iterations[-1]
    assert bracket.seconds >= trace.seconds[-1]


@pytest.mark.parametrize(
    "case",
    [
        case for case in CASES
        if isinstance(case.formulation.program(case.problem()), PairedQP)
        and (case.claim is iopt.Claim.LOCAL or case.name in CONVEX_CASES)
    ],
    ids=lambda case: case.name,
)  # fmt: skip
def test_cases(case: Any) -> None:
    bracket = iopt.bound(case.problem(), case.formulation, gap=1e-8)
    assert_holds(bracket, case.objectives[0])
    assert bracket.relative_gap <= 1e-8
    assert bracket.status is iopt.Status.SOLVED


@pytest.mark.parametrize(
    ("formulation", "optimum", "method"),
    [
        # The lemma's first vertex v has ⟨v, v⟩ = 4: 2/⟨v, v⟩, -⟨v, v⟩, and ¼⟨v, v⟩.
        *((iopt.SVMDual(C=1.0), 0.5, method) for method in METHODS),
        (iopt.SVMDual(C=INF), 0.5, "branch-and-bound"),
        (iopt.ConvexHullDual(mu=1.0), -4.0, "branch-and-bound"),
        (iopt.GuoSchuurmansQP(beta=0.5), 1.0, "branch-and-bound"),
    ],
    ids=str,
)
def test_eight_local_optima(formulation: iopt.Formulation, optimum: float, method: str) -> None:
    data = haasdonk_lemma4(q=3)
    assert data.optima is not None
    assert data.optima["objective"].max() == 0.5
    problem = iopt.KernelProblem.from_dataset(data)
    bracket = iopt.bound(problem, formulation, method=method)
    assert_holds(bracket, optimum)
    if formulation == iopt.SVMDual(C=1.0):
        assert set(bracket.bounds) == CHEAP | {method} - {"cheap"}
    if method in ("cheap", "lagrangian"):
        # Products of one variable cannot tell the vertices from what lies between them.
        assert bracket.relative_gap > 0.5
        return
    assert bracket.relative_gap <= 1e-4
    (weights,) = bracket.values.values()
    assert np.flatnonzero(weights > 1e-6).tolist() == [0, 8]


def test_zero_kernel() -> None:
    """Separations of squared length 0."""
    problem = iopt.KernelProblem(np.zeros((5, 5)), [1, 1, 1, -1, -1])
    for formulation in (iopt.ConvexHullDual(), iopt.GuoSchuurmansQP()):
        bracket = iopt.bound(problem, formulation)
        assert (bracket.lower, bracket.upper, bracket.relative_gap) == (0.0, 0.0, 0.0)
    # A game that is no kernel: αᵀΔα at the only feasible point (½, ½) is ¼ (0 + 1 + 3 + 0).
    two = iopt.KernelProblem(np.zeros((2, 2)), [1, -1])
    Delta = np.array([[0.0, 1.0], [3.0, 0.0]])
    assert_holds(iopt.bound(two, iopt.GuoSchuurmansQP(beta=0.5, sensitivity=Delta)), 1.0)


def test_a_hard_margin_that_no_pair_refuses() -> None:
    """d²(+, each -) = 1, but the middle of the two - is at squared distance -1: unbounded."""
    # K₀₀ = 1 and K₀ⱼ = 0; d²₀ⱼ = 1 + K_jj = 1; at the middle 1 + ¼ · 2 K₁₂ = 1 + ½ (-4) = -1.
    problem = iopt.KernelProblem([[1.0, 0, 0], [0, 0.0, -4.0], [0, -4.0, 0.0]], [1, -1, -1])
    with pytest.raises(iopt.errors.UnboundedProblem, match="Use a finite C,"):
        iopt.bound(problem, iopt.SVMDual(C=INF))
    assert iopt.bound(problem, iopt.SVMDual(C=1.0)).relative_gap <= 1e-4


@pytest.mark.parametrize("end", [stop, press])
def test_a_callback_or_ctrl_c_keeps_the_bracket(end: Any) -> None:
    bracket = iopt.bound(problem_of(50, 0), "ConvexHullDual", gap=1e-12, callback=end(2))
    assert_consistent(bracket)
    assert bracket.status is iopt.Status.INTERRUPTED
    assert 2 <= len(bracket.trace) <= 3  # the end may be one more report
    assert np.isfinite(bracket.bound)
    assert "interrupted" in str(bracket)


def open_program() -> iopt.QuadraticProgram:
    """The cliques of four joined pentagons, which take 31 nodes; a row alone bounds x above."""
    whole = iopt.QuadraticProgram.read("clique-cyclejoin-4-5")
    return iopt.QuadraticProgram(whole.P, whole.q, A=whole.A, b=whole.b, lb=0.0)


def test_an_open_bracket_says_what_would_help() -> None:
    bracket = iopt.bound(open_program(), max_nodes=3, gap=1e-9)
    assert_consistent(bracket)
    assert bracket.bounds["root"] <= bracket.lower < bracket.upper
    text = " ".join(str(bracket).split())
    open_nodes = bracket.trace.open_nodes[-1]
    assert f" 3 nodes ({open_nodes} open), " in text
    assert ": stopped at the node limit with the best point so far. In the second half of" in text
    assert "20 variables lack a finite lb or ub" in text
    goal, seconds = re.search(r"A gap of (\S+) was reached after (\S+) s\.$", text).groups()
    assert bracket.relative_gap <= float(goal) < 10.0 * bracket.relative_gap
    before = np.array(bracket.trace.seconds) < 0.99 * float(seconds)
    assert np.all(np.array(bracket.trace.residual)[before] > float(goal))
    assert max(map(len, str(bracket).splitlines())) <= 80


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        ({"time_limit": 1e-9}, "has not been divided yet: more time would help."),
        ({"max_nodes": 1}, "has not been divided yet: a larger max_nodes would help."),
        ({"method": "cheap"}, "The method branch-and-bound divides the root as well."),
        ({"settings": Settings(max_relaxed_variables=10)}, "more variables than"),
    ],
)
def test_what_would_help_before_the_root_is_divided(options: Any, advice: str) -> None:
    text = str(iopt.bound(open_program(), gap=1e-9, **options))
    assert advice in " ".join(text.split())


def test_what_cannot_be_bracketed_is_refused() -> None:
    for name in ("LPSVM", "LussDual", "KernelLogistic"):
        with pytest.raises(iopt.errors.IncompatibleSolver, match=f"^{name}.* cannot be bracketed"):
            iopt.bound(problem_of(4, 0), name)
    problem = iopt.KernelProblem([[1.0, 3.0], [3.0, 1.0]], [1, -1])
    with pytest.raises(
        iopt.errors.IncompatibleSolver, match="without a bias the weights need a finite"
    ):
        iopt.bound(problem, iopt.SVMDual(C=INF, bias=False))


@pytest.mark.parametrize("missing", [1e-12, 1e-11, 1e-6])
def test_a_program_has_a_bracket_if_it_is_empty_by_rounding_only(missing: float) -> None:
    """x₁ + x₂ = 2 + missing on the unit square: the only point within reach has the value -1."""
    qp = iopt.QuadraticProgram(-np.eye(2), A=[[1.0, 1.0]], b=[2.0 + missing], lb=0.0, ub=1.0)
    if missing > 1e-12:
        with pytest.raises(iopt.errors.InfeasibleProblem, match=r"row 0 of A, ub\[0\] and ub\[1\]"):
            iopt.bound(qp)
        return
    bracket = iopt.bound(qp, time_limit=HANGS)
    certificate = iopt.verify(qp, bracket.values)
    # Rounding is far below what is missing, which is rounding of the data, beside the side of 2.
    assert certificate.primal_residual <= missing
    assert certificate.missed == pytest.approx(missing, rel=0.1)
    assert "satisfy all rows exactly" in str(certificate)
    assert bracket.lower == pytest.approx(-1.0, abs=4.0 * missing)
    assert bracket.upper == pytest.approx(-1.0, abs=4.0 * missing)
    said = {word for word in ("WRONG", "UNSURE") if word in str(bracket)}
    assert bracket.rigorous == (not said)


CONVEX = {
    # ½x² - x in one free variable.
    "free": (iopt.QuadraticProgram([[1.0]], [-1.0]), -0.5),
    # 2x² - 2x + 3y is 2x² - 8x + 21 where 2x + y = 7, which has the least value 13 at x = 2.
    "a row": (
        iopt.QuadraticProgram(
            [[4.0, 0.0], [0.0, 0.0]], [-2.0, 3.0], G=[[-2.0, -1.0]], h=[-7.0], lb=[2.0, -INF]
        ),
        13.0,
    ),
    # ½x² + y with y ≥ x and x + 3y ≥ 0: at x = y = 0, where the multipliers are a quarter each.
    "zero": (
        iopt.QuadraticProgram(
            [[1.0, 0.0], [0.0, 0.0]], [0.0, 1.0], G=[[1.0, -1.0], [-1.0, -3.0]], h=[0.0, 0.0]
        ),
        0.0,
    ),
    # x + 2y on x + y = 3 with x, y ≥ 0.
    "linear": (
        iopt.QuadraticProgram(np.zeros((2, 2)), [1.0, 2.0], A=[[1.0, 1.0]], b=[3.0], lb=0.0),
        3.0,
    ),
}
"""Programs with the optimum of a closed form; none but the last has finite ranges."""


@pytest.mark.parametrize("name", CONVEX)
def test_a_convex_program_is_bracketed_by_its_dual(name: str) -> None:
    program, optimum = CONVEX[name]
    bracket = iopt.bound(program, gap=1e-8)
    assert_holds(bracket, optimum)
    assert bracket.status is iopt.Status.SOLVED
    # A tenth of the gap; these programs are solved up to rounding.
    assert bracket.upper - bracket.lower <= 1e-9 * max(1.0, abs(optimum))
    assert bracket.check(program) <= optimum
    assert bracket.check(program) == pytest.approx(bracket.lower, abs=1e-9)


def test_a_hard_margin_that_rounding_does_not_decide_has_no_infinite_bracket() -> None:
    """Of K = vvᵀ, which is unbounded in exact numbers, and bounded or not as rounding makes it."""
    for v in np.random.default_rng(0).uniform(0.1, 1.0, (5, 4)):
        problem = iopt.KernelProblem(np.outer(v, v), [1, -1, 1, -1])
        try:
            bracket = iopt.bound(problem, iopt.SVMDual(C=np.inf), time_limit=HANGS)
        except (iopt.errors.UnboundedProblem, iopt.errors.SolverFailed) as error:
            assert "finite C" in str(error)  # noqa: PT017
        else:
            assert np.isfinite(bracket.objective)
            assert bracket.lower <= bracket.upper


def test_the_upper_end_is_the_value_of_a_feasible_point_in_tiny_units() -> None:
    """Of weights up to 7e-56, where a descent ended at a point that misses a row by 27 %."""
    from scipy.optimize import linprog

    lower, upper = np.array([0.0, -2, -5, -3, 0]), np.array([7.0, 7, 3, 6, 1])
    rows = np.array(
        [[20.0, -30, -50, 0, -50], [4, -2, 2, -3, -3], [3, -4, 3, -4, -4], [4, -4, 0, -1, -1]]
    )
    sides, cost = np.array([291.5, 5.955, 4.376e-1, 13.91]), np.array([-16.0, 25, -25, -8, -14])
    qp = iopt.QuadraticProgram(
        -np.diag([13.0, 8, 18, 0, 1]), 1e108 * cost,
        rows * [[1.0], [1e6], [1e-6], [1e8]], 1e-56 * sides * [1.0, 1e6, 1e-6, 1e8],
        lb=1e-56 * lower, ub=1e-56 * upper,
    )  # fmt: skip
    bracket = iopt.bound(qp, time_limit=HANGS)
    optimum = 1e52 * float(linprog(cost, rows, sides, bounds=np.column_stack([lower, upper])).fun)
    assert bracket.rigorous
    assert bracket.lower == pytest.approx(optimum, rel=1e-6)
    assert bracket.upper == pytest.approx(optimum, rel=1e-6)


def test_the_bracket_of_a_dual_is_kept_where_no_search_does_better() -> None:
    """‖x - c‖² with rows that c satisfies: its terms cancel to 0, and boxes lose more digits."""
    generator, n = np.random.default_rng(0), 20
    c = 1e5 * (1.0 + generator.integers(0, 64, n) / 64)
    A = generator.integers(-3, 4, (n // 2, n)).astype(float)
    qp = iopt.QuadraticProgram(
        2.0 * np.eye(n), -2.0 * c, A=A, b=A @ c, lb=0.0, ub=1e6, constant=float(c @ c)
    )
    bracket = iopt.bound(qp)
    assert bracket.method == "dual"
    assert -0.1 < bracket.lower <= 0.0 <= bracket.upper < 0.1


@pytest.mark.parametrize("formulation", ["SVMDual(C=1)", "SVMDual(C=1, bias=False)"])
def test_every_optimum_is_in_the_ranges(formulation: str) -> None:
    """By enumeration of all faces, in fractions, of kernels of small whole numbers with ties."""
    narrow = equal = total = 0
    for seed in range(16):
        generator = np.random.default_rng(seed)
        n = int(generator.integers(2, 6))
        A = generator.integers(-2, 3, (n, n)).astype(float)
        problem = iopt.KernelProblem(A + A.T, np.resize([-1, 1], n))
        bracket = iopt.bound(problem, formulation, gap=1e-9)
        low, high = bracket.ranges["alpha"].T
        q = box_quadratic(bracket.program)
        program = BoxProgram(
            as_matrix(q.H), as_vector(q.c), as_vector(q.lower), list(as_vector(q.upper)),
            as_matrix(q.rows), as_vector(q.rhs),
        )  # fmt: skip
        least, _ = program.minimum()
        optima = [x for x in program.candidates() if program.holds(x) and program.value(x) == least]
        for x in optima:
            assert all(a <= v <= b for a, v, b in zip(low, x, high, strict=True))
        same = [len({x[i] for x in optima}) == 1 for i in range(n)]
        narrow, equal = narrow + int(np.sum(high - low < 1e-3)), equal + int(np.sum(low == high))
        total += sum(same)
    assert total > 30
    assert narrow >= 0.5 * total
    assert equal >= 0.25 * total


def test_ranges_hold_an_optimum_that_rounded_rows_are_blind_to() -> None:
    """Two nearly parallel rows meet in (½, ½) alone; up to rounding they have (1, 0), too."""
    e = 2.0**-46
    rows, sides = [[1.0, 1.0], [1.0, 1.0 + e]], [1.0, 1.0 + 0.5 * e]
    qp = iopt.QuadraticProgram(
        [[-2.0, 0.0], [0.0, 0.0]], [0.0, 1.0], A=rows, b=sides, lb=0.0, ub=1.0
    )
    low, high = iopt.bound(qp).ranges["x"].T
    assert np.all(low <= 0.5)
    assert np.all(high >= 0.5)


def test_along_rays_only_zeros_are_known() -> None:
    """Points of the finite form have the total weight 1, and the optimum has another one."""
    bracket = iopt.bound(iopt.KernelProblem(2.0 * np.eye(2) - 0.5, [1, -1]), "SVMDual(C=inf)")
    low, high = bracket.ranges["alpha"].T
    assert np.all(low <= bracket.values["alpha"])
    assert np.all(high >= bracket.values["alpha"])
