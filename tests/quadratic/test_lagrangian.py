"""The Lagrangian dual of a nonconvex program, against closed forms and the relaxation of Shor."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.linalg import null_space

import indefinite_opt as iopt
from helpers.exact import mirrored
from indefinite_opt.quadratic import lagrangian_multipliers, lower_bound
from indefinite_opt.quadratic.bracket.minorant import Multipliers
from indefinite_opt.quadratic.bracket.scaled_box import BoxQuadratic


def cycle(n: int) -> iopt.QuadraticProgram:
    """-Σ (1 - x_i x_j)/2 over the edges of a cycle, in [-1, 1]: minus its largest cut."""
    H = 0.5 * (np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), -1, axis=1))
    return iopt.QuadraticProgram(H, np.zeros(n), lb=-1, ub=1, constant=-n / 2)


def dual_bound(q: BoxQuadratic) -> float:
    """The bound on the whole box."""
    scaled = q.scaled(q.lower, q.upper)
    return lower_bound(scaled, lagrangian_multipliers(scaled), np.zeros(scaled.m)).value


def shor(q: BoxQuadratic) -> float:
    """Shor's relaxation of the box as (x - l)(u - x) ≥ 0, with the rows times every variable."""
    # The columns of Y are where the rows hold: a Y that is singular has no interior for a solver.
    span = null_space(np.column_stack([-q.rhs, q.rows])) if len(q.rows) else np.eye(q.n + 1)
    Y = span @ cp.Variable((span.shape[1], span.shape[1]), PSD=True) @ span.T
    x, X = Y[0, 1:], Y[1:, 1:]
    rules = [Y[0, 0] == 1.0, cp.diag(X) <= cp.multiply(q.lower + q.upper, x) - q.lower * q.upper]
    value = 0.5 * cp.sum(cp.multiply(q.H, X)) + q.c @ x
    program: Any = cp.Problem(cp.Minimize(value), rules)
    return float(program.solve(solver="CLARABEL"))


@pytest.mark.parametrize("n", [3, 5, 9])
def test_odd_cycles_have_the_bound_of_goemans_and_williamson(n: int) -> None:
    """n/2 · (1 + cos(π/n)), where the largest cut has n - 1 edges."""
    bracket = iopt.bound(cycle(n), method="lagrangian")
    assert bracket.upper == pytest.approx(1 - n, rel=1e-9)
    least = -0.5 * n * (1.0 + np.cos(np.pi / n))
    assert bracket.bounds["lagrangian"] == pytest.approx(least, rel=1e-7)
    assert bracket.bounds["lagrangian"] <= bracket.lower


def test_even_cycles_and_one_variable_have_no_duality_gap() -> None:
    """A cycle of even length has a cut of all its edges; one quadratic row is the S-lemma."""
    assert iopt.bound(cycle(8), method="lagrangian").relative_gap < 1e-7
    for curvature, slope in ((-2.0, 0.5), (-1.0, -3.0)):
        qp = iopt.QuadraticProgram([[curvature]], [slope], lb=-1, ub=2)
        # A concave function is least at an end.
        least = min(0.5 * curvature * x**2 + slope * x for x in (-1.0, 2.0))
        bracket = iopt.bound(qp, method="lagrangian")
        assert bracket.lower == pytest.approx(least, rel=1e-7)


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_the_relaxation_of_shor_has_the_same_value(rows: int) -> None:
    """Rows go through a point that is well inside the box, so that both programs have solutions."""
    generator = np.random.default_rng(rows)
    for n in range(rows + 1, rows + 8):
        low = generator.uniform(-2.0, 1.0, n)
        high = low + generator.uniform(0.5, 3.0, n)
        H, c = mirrored(generator.standard_normal((n, n))), generator.standard_normal(n)
        A = generator.standard_normal((rows, n))
        inner = low + generator.uniform(0.3, 0.7, n) * (high - low)
        q = BoxQuadratic(H, c, A, A @ inner, low, high)
        scaled = q.scaled(low, high)
        found, least = dual_bound(q), shor(q)
        assert found == pytest.approx(least, abs=1e-5 * scaled.size)
        spectral = lower_bound(scaled, Multipliers.spectral(scaled.m), np.zeros(scaled.m)).value
        assert found >= spectral - 1e-7 * scaled.size


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e12, 1e140])
def test_the_unit_of_the_objective_does_not_matter(scale: float) -> None:
    H = mirrored(np.random.default_rng(4).standard_normal((6, 6)))
    qp = iopt.QuadraticProgram(H, np.ones(6), lb=-1, ub=1)
    other = iopt.QuadraticProgram(scale * H, np.full(6, scale), lb=-1, ub=1)
    found, again = (iopt.bound(each, method="lagrangian").bounds for each in (qp, other))
    assert again["lagrangian"] == pytest.approx(scale * found["lagrangian"], rel=1e-6)


def test_certificates_say_what_the_duality_gap_is() -> None:
    """Of the cycle of five: 5/2 · (1 + cos(π/5)) is 4.522542, 13.1 % more than 4 edges."""
    qp, point = cycle(5), {"x": [1.0, -1.0, 1.0, -1.0, 1.0]}
    said = (
        "The Lagrangian bound is -4.522542: the duality gap is at most 13.1 % of the optimal value."
    )
    certificate = iopt.verify(qp, point, bound=True)
    assert certificate.claim is iopt.Claim.GLOBAL
    assert said in certificate.reasons
    assert said in iopt.solve(qp, prove=10).certificate.reasons
    worse = iopt.verify(qp, {"x": [1.0, 1.0, 1.0, -1.0, -1.0]}, bound=True)
    assert worse.claim is not iopt.Claim.GLOBAL
    assert said in worse.reasons
    # An even cycle has no gap, and its certificate says nothing about one.
    even = iopt.verify(cycle(4), {"x": [1.0, -1.0, 1.0, -1.0]}, bound=True)
    assert even.claim is iopt.Claim.GLOBAL
    assert not any("Lagrangian" in reason for reason in even.reasons)


def test_rows_that_leave_one_point() -> None:
    qp = iopt.QuadraticProgram(-np.eye(2), [0, 0], A=np.eye(2), b=[0.5, 0.25], lb=-1, ub=1)
    bracket = iopt.bound(qp, method="lagrangian")
    assert bracket.lower == pytest.approx(-0.5 * (0.25 + 0.0625), rel=1e-7)
