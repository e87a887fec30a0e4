"""Claims at the border of underflow, overflow and rounding, each worked out by hand."""

from __future__ import annotations

from fractions import Fraction

import cvxpy
import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt import Claim
from indefinite_opt.algebra.cones import Exponential, Power, SecondOrder
from indefinite_opt.errors import SolverFailed, UnboundedProblem
from indefinite_opt.quadratic.bracket.minorant import Inequalities, Multipliers, lower_bound
from indefinite_opt.quadratic.bracket.optimality_conditions import Box, Conditions
from indefinite_opt.quadratic.bracket.scaled_box import BoxQuadratic
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.matrices.units import Units

L = 2.0**-1074
"""The least positive number."""


def test_one_infinite_end_leaves_the_other_rounded() -> None:
    """-x - y is least at x = y = 1, which the sums with 2³⁰ cannot tell from 0."""
    x, y, s = (cvxpy.Variable() for _ in range(3))
    moved = cvxpy.hstack([1e-7 * x + 2.0**30, 1e-7 * y + 2.0**30])
    problem = cvxpy.Problem(cvxpy.Minimize(-x - y), [x <= 1.0, y <= 1.0, cvxpy.SOC(s, moved)])
    x.value, y.value, s.value = 0.0, 0.0, 2.0**31
    found = iopt.verify(problem)
    assert found.bound <= -2.0
    assert found.claim is not Claim.GLOBAL


def test_constants_of_many_rows_are_sums_of_as_many_terms() -> None:
    """Each 0.9 is lost beside 2⁵⁴."""
    x, count = cvxpy.Variable(), 400
    rows = [x <= 0.9 for _ in range(count)]
    objective = cvxpy.Minimize(2.0**54 - count * x)
    found = iopt.solve(cvxpy.Problem(objective, [*rows, cvxpy.SOC(cvxpy.Constant(2.0), x)]))
    assert Fraction(found.certificate.bound) <= 2**54 - count * Fraction(0.9)


@pytest.mark.parametrize("count", [1, 3, 6, 7, 10])
def test_a_class_reaches_its_total_weight_exactly(count: int) -> None:
    """With less the primal of reduced hulls is unbounded."""
    problem = iopt.KernelProblem(np.eye(2 * count), np.resize([-1, 1], 2 * count))
    for formulation in (iopt.ConvexHullPrimal(mu=1.0 / count), iopt.ConvexHullPrimal(relative=1.0)):
        mu = formulation.compiled(problem).mu
        assert Fraction(mu) * count >= 1
        assert mu == pytest.approx(1.0 / count, rel=1e-15)


def test_an_exponential_that_underflows_is_not_lost_in_its_product() -> None:
    """1e305·exp(-746) is 1e-19."""
    point = np.array([[-7.46e307], [1e305], [1e-323]])
    assert Exponential(3, 1).margins(point, np.zeros((3, 1)))[0] < 0.0


def test_a_product_that_is_no_number_satisfies_no_condition() -> None:
    """The complementarity is 5, beside 0·∞."""
    qp = iopt.QuadraticProgram(q=[1.0, 0.0], G=[[-1.0, 0.0], [0.0, -1e120]], h=[0.0, 0.0])
    found = iopt.verify(qp, [5.0, 1e200], multipliers={"inequalities": [1.0, 0.0]})
    assert found.claim < Claim.LOCAL


def test_a_value_whose_terms_overflow_is_not_closed() -> None:
    """F is 2¹⁶⁰⁷, and both products round to one number."""
    a = (1.0 + 2.0**-51) * 2.0**332
    qp = iopt.QuadraticProgram([[a, -a], [-a, a]])
    x = [(2.0 - 2.0**-51) * 2.0**690, (2.0 - 2.0**-52) * 2.0**690]
    assert iopt.verify(qp, x).claim is not Claim.GLOBAL


def test_a_slope_that_underflows_is_not_0() -> None:
    """-1e-340·t - ½ has no least value."""
    P = np.zeros((3, 3))
    P[0, 1] = P[1, 0] = -1e-170
    P[2, 2] = 1.0
    qp = iopt.QuadraticProgram(
        P, [0.0, 0.0, -1.0], lb=[1e-170, 0.0, 0.0], ub=[1e-170, np.inf, 10.0]
    )
    assert iopt.verify(qp, [1e-170, 0.0, 1.0]).claim is not Claim.GLOBAL


def test_nearly_opposite_rows_hold_no_direction() -> None:
    """(0, -t) is feasible, and F = -½t²; exact multipliers are 0."""
    qp = iopt.QuadraticProgram(
        np.diag([0.0, -1.0]), G=[[1.0, 0.0], [-1.0, 1e-7]], h=[0.0, 0.0], lb=-1.0, ub=1.0
    )
    given = {"inequalities": [1.0, 1.0], "lower": [0.0, 0.0], "upper": [0.0, 0.0]}
    found = iopt.verify(qp, [0.0, 0.0], multipliers=given)
    assert found.claim < Claim.LOCAL


def test_a_short_row_is_a_row() -> None:
    """x₁x₂ + ½x₃² + ½x₄² is t² + s² where x₁ = x₂ and x₃ = -x₄."""
    P = np.diag([0.0, 0.0, 1.0, 1.0])
    P[0, 1] = P[1, 0] = 1.0
    qp = iopt.QuadraticProgram(P, A=[[1e-13, -1e-13, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]], b=[0.0, 0.0])
    found = iopt.verify(qp, np.zeros(4))
    assert found.claim >= Claim.LOCAL


def test_a_range_keeps_what_its_quotient_loses() -> None:
    """x₁ reaches 1e-30, where -1e40·x₁ is -1e10."""
    qp = iopt.QuadraticProgram(
        q=[-1e40, 0.0], G=[[1e-300, -1e-160]], h=[0.0], lb=0.0, ub=[np.inf, 1e-170]
    )
    given = {"inequalities": [0.0], "lower": [0.0, 0.0], "upper": [0.0, 0.0]}
    found = iopt.verify(qp, [0.0, 0.0], multipliers=given)
    assert found.bound <= -1e10


def test_a_bracket_has_no_upper_end_that_no_point_attains() -> None:
    """Two nearly parallel rows meet in (½, ½) alone, where F = -½."""
    e = 2.0**-50
    qp = iopt.QuadraticProgram(
        -2.0 * np.eye(2), A=[[1.0, 1.0], [1.0, 1.0 + e]], b=[1.0, 1.0 + 0.5 * e], lb=0.0, ub=1.0
    )
    bracket = iopt.bound(qp)
    assert bracket.lower <= -0.5
    assert bracket.upper >= -0.5 or not bracket.rigorous


def test_rows_cut_off_no_point_by_an_underflow() -> None:
    """x₁ is 1.6 times the least number, which the quotient rounds to 2."""
    a = 2.0**498
    u = a * L
    whole = BoxQuadratic(
        np.diag([0.0, -u]), np.array([a, 0.0]), np.array([[a, u]]), np.array([1.6 * u]),
        np.zeros(2), np.array([2.0**34 * L, 1.0]),
    )  # fmt: skip
    conditions = Conditions(whole)
    box = conditions.on_lines(Box(whole.lower, whole.upper, *np.zeros((2, 2), bool)))
    assert box is not None
    # x₁ = 1 or 2 times the least number leave 0.6u for x₂, and none.
    assert box.lower[0] <= L
    assert box.upper[0] >= L


def test_first_order_allows_for_the_underflow_of_multipliers() -> None:
    """Along the row the slope is -0.15v, so that (1, 1) is the optimum."""
    a = 2.0**497
    v = a * L
    whole = BoxQuadratic(
        np.zeros((2, 2)), np.array([-1.45 * v, 1.3 * v]), np.array([[a, -a]]), np.zeros(1),
        np.array([-1.0, 0.0]), np.array([2.0, 1.0]),
    )  # fmt: skip
    found = Conditions(whole).at_every_optimum(
        Box(whole.lower, whole.upper, *np.zeros((2, 2), bool))
    )
    assert found is not None
    assert np.all(found.upper >= 1.0)


def test_forged_inequalities_do_not_count() -> None:
    """Two literals may differ; eight bits do not hold the place of a product."""
    pair = Inequalities(np.array([[0, 2]]), np.ones(1))
    assert not pair.genuine(2).literals.size
    few = Inequalities(np.array([[0, 2, 24]], np.int8), np.ones(1)).genuine(13)
    many = Inequalities(np.array([[0, 2, 24]]), np.ones(1)).genuine(13)
    assert few.products().places.tolist() == many.products().places.tolist()


def test_a_forged_multiplier_below_rounding_proves_nothing() -> None:
    """The objective is 0 everywhere."""
    whole = BoxQuadratic(
        np.zeros((3, 3)), np.zeros(3), np.ones((1, 3)), np.array([3.0]), np.zeros(3), np.ones(3)
    )
    scaled = whole.scaled(whole.lower, whole.upper, orthonormal=False)
    found = lower_bound(scaled, Multipliers.spectral(3), np.zeros(3), nu=np.array([-L]))
    assert found.value <= 0.0


def test_a_quotient_that_underflows_is_no_end_at_0() -> None:
    """x reaches 2⁻¹⁰⁸², where -2⁴⁰⁰x is -2⁻⁶⁸²."""
    qp = iopt.QuadraticProgram(q=[-(2.0**400)], G=[[2.0**60]], h=[2.0**-1022], lb=0.0)
    found = iopt.verify(qp, [0.0])
    assert found.bound <= -(2.0**-682)
    assert found.claim is not Claim.GLOBAL


def test_no_entry_is_lost_between_units() -> None:
    """-x₂ is least where 2⁻¹⁰²⁰x₂ is 1."""
    G, low = np.array([[1.0, 2.0**-1020, 0.0]]), np.array([-1.0, 0.0, -(2.0**400)])
    qp = iopt.QuadraticProgram(q=[0.0, -1.0, 0.0], G=G, h=[0.0], lb=low)
    form = StandardForm(1, qp.q, low, np.full(3, np.inf), np.array([-np.inf]), np.zeros(1), G)
    units = Units(np.array([2.0**99, 2.0**699, 2.0**399]), np.array([2.0**-99]), 1.0)
    assert form.in_units(units).matrix[0, 1] == 2.0**-420
    try:
        result = iopt.solve(qp, solver="multistart")
    except UnboundedProblem:
        pytest.fail("it has a least value")
    except SolverFailed:
        return
    assert result.certificate.bound <= -(2.0**1020)


def test_multipliers_below_rounding_prove_no_conflict() -> None:
    """x = a is feasible."""
    a = 0.3 * 2.0**-114
    qp = iopt.QuadraticProgram(q=[0.0], G=[[-1.0], [1.0], [1.0]], h=[-a, a, a], lb=0.0, ub=1.0)
    said = iopt.verify(qp, {"conflict": {"inequalities": 2.0**-960 * np.array([2.0, 1.0, 1.0])}})
    assert "PROVED" not in str(said).replace("NOT PROVED", "")


def test_what_is_left_across_rows_is_squared_in_its_own_size() -> None:
    P = np.diag([-1.0, 1.0])
    qp = iopt.QuadraticProgram(P, A=[[1e-65, 0.0]], b=[0.0])
    found = iopt.verify(qp, [1e-105, 0.0], multipliers={"equalities": [1.5e-40]})
    assert found.bound <= 0.0


def test_cones_keep_what_underflows() -> None:
    """y reaches 1 where 2⁻⁶⁰⁰y ≤ 2⁻⁶⁰⁰x and x ≤ 1; norms and products of the least numbers."""
    x, y, s = (cvxpy.Variable() for _ in range(3))
    t = 2.0**-600
    rows = [x <= t, t * y <= t * x, cvxpy.SOC(s, y)]
    problem = cvxpy.Problem(cvxpy.Minimize(-(2.0**700) * y), rows)
    x.value, y.value, s.value = 0.0, 0.0, 1.0
    found = iopt.verify(problem)
    assert found.bound <= -(2.0**100)
    assert found.claim is not Claim.GLOBAL
    point = np.array([[L], [L], [L]])
    assert SecondOrder(3, 1).margins(point, np.zeros((3, 1)))[0] < 0.0
    Z = SecondOrder(3, 1).projected(point)[:, 0]
    assert Z[1] ** 2 + Z[2] ** 2 == 0.0 or Z[0] > L
    powers = Power(3, 1, np.array([0.5, 0.5]))
    assert powers.margins(np.array([[L], [3.0 * L], [2.0 * L]]), np.zeros((3, 1)))[0] < 0.0


def test_the_quotient_in_a_logarithm_may_underflow() -> None:
    """x ≤ y·log(z/y) with y = 2⁷⁴ and z = 1.4·2⁻¹⁰⁰⁰."""
    y, z = 2.0**74, 1.4 * 2.0**-1000
    low, high = np.array([[-np.inf], [y], [0.0]]), np.array([[np.inf], [y], [z]])
    top = Exponential(3, 1).narrowed(low, high)[1][0, 0]
    assert top >= y * (np.log(1.4) - 1074.0 * np.log(2.0)) * (1.0 + 1e-14)


def test_an_optimum_of_0_and_a_complementarity_are_proved() -> None:
    """‖x‖² over x₁² - x₂² ≤ 1 is least at 0; over x₁x₂ ≤ 0 the point (0, 5) is feasible."""
    x = cvxpy.Variable(2)
    row = cvxpy.quad_form(x, np.diag([1.0, -1.0])) <= 1.0
    found = iopt.solve(cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(x)), [row]))
    assert (found.certificate.claim, found.objective) == (Claim.GLOBAL, 0.0)
    product = cvxpy.quad_form(x, np.array([[0.0, 1.0], [1.0, 0.0]]), assume_PSD=False) <= 0.0
    problem = cvxpy.Problem(cvxpy.Minimize(-x[1]), [product, x >= 0.0, x <= 5.0])
    again = iopt.solve(problem)
    assert again.certificate.claim is Claim.GLOBAL
    assert again.objective == pytest.approx(-5.0, rel=1e-6)


def test_a_row_that_only_rounding_meets_proves_no_point() -> None:
    """(-999, 1000) is the only point of both rows; (½, ½) meets them up to 1e-12."""
    e = 2.0**-50
    x = cvxpy.Variable(2)
    A, b = np.array([[1.0, 1.0], [1.0, 1.0 + e]]), np.array([1.0, 1.0 + 1000.0 * e])
    rows = [A @ x == b, x >= -2000.0, x <= 2000.0]
    loose = cvxpy.quad_form(x, np.diag([1.0, -1.0])) <= 1e9
    try:
        found = iopt.solve(
            cvxpy.Problem(cvxpy.Minimize(0.5 * cvxpy.sum_squares(x)), [*rows, loose]), time_limit=5
        )
    except SolverFailed:
        return
    assert found.certificate.claim is not Claim.GLOBAL or found.objective > 1e5
