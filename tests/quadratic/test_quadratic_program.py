"""Quadratic programs of any curvature: what they accept, how they read, and what proves a bound."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog, minimize

import indefinite_opt as iopt
from helpers.exact import Exactly, as_matrix, as_vector, dot, is_psd, product
from helpers.polyhedra import best_bound
from indefinite_opt.errors import (
    IncompatibleSolver,
    InfeasibleProblem,
    ParameterError,
    ProblemError,
)
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.matrices.units import balancing_units
from indefinite_opt.quadratic.rows.exact_bound import is_semidefinite
from indefinite_opt.quadratic.rows.row_curvature import RowCurvature

Array = NDArray[np.float64]


def convex_program(n: int, seed: int, **rows: Any) -> iopt.QuadraticProgram:
    generator = np.random.default_rng(seed)
    F = generator.standard_normal((n, n))
    P = F @ F.T + 0.1 * np.eye(n)
    return iopt.QuadraticProgram(P, generator.standard_normal(n), **rows)


def rows_of(n: int, seed: int) -> dict[str, dict[str, Any]]:
    generator = np.random.default_rng(100 + seed)
    G = generator.standard_normal((3, n))
    return {
        "free": {},
        "box": {"lb": -1.0, "ub": 0.5},
        "half-bounded": {"lb": 0.0},
        "inequalities": {"G": G, "h": np.full(3, 0.2)},
        "simplex": {"A": np.ones((1, n)), "b": [1.0], "lb": 0.0},
        "all": {"G": G, "h": np.ones(3), "A": np.ones((1, n)), "b": [1.0], "lb": -1.0, "ub": 2.0},
    }


@pytest.mark.parametrize("solver", ["highs", "osqp", "clarabel", "scs"])
def test_every_convex_solver_takes_it(solver: str) -> None:
    qp = convex_program(5, 1, **rows_of(5, 1)["all"])
    certificate = iopt.solve(qp, solver=solver).certificate
    assert certificate.claim is iopt.Claim.GLOBAL, str(certificate)


@pytest.mark.parametrize("kind", rows_of(2, 0))
def test_no_multipliers_prove_more_than_the_optimal_value(kind: str) -> None:
    """Whatever the point and the multipliers, the bound is below the objective of every point."""
    generator = np.random.default_rng(7)
    qp = convex_program(5, 3, **rows_of(5, 3)[kind])
    program = qp.program()
    best = iopt.solve(qp).objective
    for _ in range(20):
        point = program.at(program.feasible.random_point(generator))
        multipliers = {
            name: generator.standard_normal(shape) * 10.0 ** generator.uniform(-8, 2)
            for name, shape in answers.multiplier_shapes(program).items()
        }
        assert best_bound(program, point, multipliers) <= best + 1e-7 * max(1.0, abs(best))


def test_convex_along_the_equations_only() -> None:
    """xᵀPx = -4x₁x₂ on x₁ + x₂ = 1: with x₁ = t it is 4t² - 4t, least at t = ½."""
    qp = iopt.QuadraticProgram([[0.0, -4.0], [-4.0, 0.0]], A=[[1.0, -1.0]], b=[0.0], lb=-1, ub=1)
    assert not qp.program().is_convex
    qp = iopt.QuadraticProgram([[0.0, -4.0], [-4.0, 0.0]], A=[[1.0, 1.0]], b=[1.0], lb=-1, ub=2)
    assert qp.program().is_convex
    result = iopt.solve(qp)
    assert result.values["x"] == pytest.approx([0.5, 0.5], abs=1e-6)
    assert result.objective == pytest.approx(-1.0, rel=1e-9)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert "along the equality rows" in str(result.certificate)


def test_convex_along_the_equations_only_without_bounds() -> None:
    """½·40x² - 30xy + ½·60y² - 10z² - 40x - 30y + 40z on x = z: least at x = 3, y = 2."""
    P = [[40.0, -30.0, 0.0], [-30.0, 60.0, 0.0], [0.0, 0.0, -20.0]]
    A, b = [[-2.0, 0.0, 2.0]], [0.0]
    qp = iopt.QuadraticProgram(P, [-40.0, -30.0, 40.0], A=A, b=b, lb=[-4.0, -np.inf, -np.inf])
    certificate = iopt.solve(qp).certificate
    assert certificate.bound == pytest.approx(-30.0, rel=1e-9)
    assert certificate.claim is iopt.Claim.GLOBAL


@pytest.mark.parametrize("C", [0.1, 30.0])
def test_the_primal_of_a_support_vector_machine_meets_its_dual(C: float) -> None:
    """½‖w‖² + C Σξ_i with y_i(wᵀx_i + b) ≥ 1 - ξ_i, ξ ≥ 0, with w and b free."""
    n, generator = 20, np.random.default_rng(20)
    X = generator.standard_normal((n, 3))
    y = np.where(X[:, 0] + 0.5 * generator.standard_normal(n) > 0.0, 1.0, -1.0)
    P, lb = np.zeros((n + 4, n + 4)), np.concatenate([np.full(4, -np.inf), np.zeros(n)])
    P[:3, :3] = np.eye(3)
    G = -np.hstack([y[:, None] * X, y[:, None], np.eye(n)])
    q = np.concatenate([np.zeros(4), np.full(n, C)])
    certificate = iopt.solve(iopt.QuadraticProgram(P, q, G, -np.ones(n), lb=lb)).certificate
    dual = iopt.solve(iopt.KernelProblem(X @ X.T, y), iopt.SVMDual(C=C)).objective
    assert certificate.bound == pytest.approx(dual, rel=2e-6)
    assert certificate.claim is iopt.Claim.GLOBAL


def test_rounding_of_a_singular_matrix_leaves_no_bound_without_ends() -> None:
    """As floats, FᵀF may have the eigenvalue -1e-17, along which |w| ≤ s falls in the end."""
    F = np.random.default_rng(0).standard_normal((2, 5))
    P, identity = np.zeros((10, 10)), np.eye(5)
    P[:5, :5] = F.T @ F
    q = np.concatenate([-F.sum(axis=0), np.full(5, 0.1)])
    G = np.block([[identity, -identity], [-identity, -identity]])
    certificate = iopt.solve(iopt.QuadraticProgram(P, q, G, np.zeros(10))).certificate
    assert certificate.bound == -np.inf
    assert "give x[0] a finite range, so that rounding" in " ".join(certificate.reasons)
    ended = iopt.solve(iopt.QuadraticProgram(P, q, G, np.zeros(10), lb=-1e3, ub=1e3)).certificate
    assert ended.claim is iopt.Claim.GLOBAL
    assert ended.objective == pytest.approx(certificate.objective, rel=1e-6)


@pytest.mark.parametrize("power", [-300, -60, 0, 60, 140])
def test_rows_of_any_length_leave_finite_curvature_along_them(power: int) -> None:
    """-4x₁x₂ along d = (1, -1)/√2 has the curvature 4, which rows may prove, and never more."""
    P = np.array([[0.0, -4.0], [-4.0, 0.0]])
    least = RowCurvature(P, np.full((1, 2), 10.0**power)).least
    assert np.all(np.isfinite(least) & (least <= 4.0))
    assert np.all(least > 3.9) == (abs(power) < 70)


@pytest.mark.parametrize("seed", range(6))
def test_the_least_curvature_along_nearly_dependent_rows_is_proved(seed: int) -> None:
    """Along two rows in three dimensions: that of their cross product, in exact arithmetic."""
    generator = np.random.default_rng(seed)
    row, change = generator.standard_normal((2, 3))
    other = row + 10.0 ** generator.uniform(-11, -3) * change
    F = generator.standard_normal((3, 3))
    qp = iopt.QuadraticProgram(F + F.T, A=[row, other], b=[0.0, 0.0], lb=-1.0, ub=1.0)
    u, v = as_vector(row), as_vector(other)
    assert_proved_along(qp, [u[i - 2] * v[i - 1] - u[i - 1] * v[i - 2] for i in range(3)])


def assert_proved_along(qp: iopt.QuadraticProgram, d: list[Fraction]) -> None:
    """dᵀPd is not less than what is proved of it, exactly."""
    proved = as_vector(qp.program().along_rows.least)
    assert dot(proved, [v * v for v in d]) <= dot(d, product(as_matrix(qp.P), d))


@pytest.mark.parametrize("power", [0, 8, 27, 100])
@pytest.mark.parametrize("seed", range(2))
def test_units_hide_no_curvature(seed: int, power: int) -> None:
    """P = SBS with S of powers of two is convex if and only if B is, for d at which dᵀBd < 0.

    B = FFᵀ of rank 3 has the eigenvalue 0, and B - ε·vvᵀ with its vector v has -ε: far above
    rounding, and below that of the largest entry of P from `power` = 27 on.
    """
    generator = np.random.default_rng(seed)
    F = generator.integers(-3, 4, (4, 3)).astype(float)
    v = np.linalg.svd(F)[0][:, 3]
    units = 2.0 ** generator.integers(-power, power + 1, 4)
    for curved, convex in ((0.0, True), (1e-9, False), (-1e-9, True)):
        P = (F @ F.T - curved * np.outer(v, v)) * units * units[:, None]
        qp = iopt.QuadraticProgram(P, lb=-1.0, ub=1.0)
        assert qp.program().is_convex is convex
        assert_proved_along(qp, as_vector(v / units))


@pytest.mark.parametrize("rows", [{}, {"G": [[1.0, 1.0]], "h": [1e7]}])
def test_a_saddle_that_units_hide_is_no_minimum(rows: dict[str, Any]) -> None:
    """½·10¹²x² - ½·10⁻⁵y²: its minimum -5·10⁶ is at y = ±10⁶, and 0 is a saddle."""
    qp = iopt.QuadraticProgram(np.diag([1e12, -1e-5]), [0.0, 0.0], lb=-1e6, ub=1e6, **rows)
    assert not qp.program().is_convex
    certificate = iopt.verify(qp, {"x": [0.0, 0.0]})
    assert certificate.claim is iopt.Claim.STATIONARY
    assert certificate.curvature < 0.0
    # An interior point or descents may stay at the saddle, but do not call it a minimum.
    assert iopt.solve(qp).certificate.claim is not iopt.Claim.GLOBAL
    if not rows:
        assert iopt.solve(qp).objective == pytest.approx(-5e6)


HALF = np.array([[1.0, -1.0, 3.0], [-1.0, 1.0, -1.0], [3.0, -1.0, 1.0]])
"""Half of (x - y + z)² + 4xz, which is copositive and indefinite."""

ZEROS: dict[str, tuple[Any, Any, dict[str, Any], Any]] = {
    "product": ([[0, 1], [1, 0]], [0, 0], {"lb": [0, 0], "ub": [1, 3]}, [0, 0]),
    "copositive": (HALF, np.zeros(3), {"lb": [0, 0, 0], "ub": [1, 2, 1]}, [0, 0, 0]),
    "simplex": (HALF, np.zeros(3), {"A": [[1, 1, 1]], "b": [1], "lb": [0, 0, 0]}, [0.5, 0.5, 0]),
    "linear": (
        np.zeros((2, 2)), [1, 0], {"G": [[-2, -3]], "h": [0], "lb": [0, 0], "ub": [1, 1]}, [0, 0]
    ),
    "convex": (
        [[2, 0], [0, 0]], [0, 1], {"G": [[-1, -1]], "h": [0], "lb": [-1, 0], "ub": [1, 2]}, [0, 0]
    ),
}  # fmt: skip
"""Programs whose least value is 0, and where it is: sums of products of nonnegative numbers, of
squares, and of the copositive form."""


def zero_program(
    name: str, power: int = 0, shift: float = 0.0
) -> tuple[iopt.QuadraticProgram, Array]:
    """A program of `ZEROS` with other units and origins of its variables, and its optimum."""
    P, q, rows, best = ZEROS[name]
    P, q, best = np.array(P, dtype=float), np.array(q, dtype=float), np.array(best, dtype=float)
    generator = np.random.default_rng(power)
    size = 2.0 ** generator.integers(-power, power + 1, q.size)
    move = shift * size * generator.integers(-1, 2, q.size)
    objective = 2.0**power
    H = objective * P / size / size[:, None]
    shown = {key: size * np.array(rows[key]) + move for key in ("lb", "ub") if key in rows}
    for matrix, side in (("G", "h"), ("A", "b")):
        if matrix in rows:
            shown[matrix] = np.array(rows[matrix]) / size
            shown[side] = np.array(rows[side]) + shown[matrix] @ move
    qp = iopt.QuadraticProgram(H, objective * q / size - H @ move, **shown)
    return qp, size * best + move


@pytest.mark.parametrize(
    ("name", "power", "shift"),
    [("product", 0, 0.0), *((name, 30, 1000.0) for name in sorted(ZEROS))],
)
def test_a_minimum_of_zero_is_global_in_any_units(name: str, power: int, shift: float) -> None:
    qp, best = zero_program(name, power, shift)
    # At x = 0 the terms vanish, and with them what rounding may leave of 0.
    atol = 1e-9 * 2.0**power if name == "product" else 0.0
    certificate = iopt.verify(qp, {"x": best}, bound=True, atol=atol)
    assert certificate.claim is iopt.Claim.GLOBAL
    assert iopt.solve(qp, solver="global", atol=atol).certificate.claim is iopt.Claim.GLOBAL
    bracket = iopt.bound(qp, atol=atol)
    assert bracket.status is iopt.Status.SOLVED
    assert bracket.relative_gap <= 1e-4 or bracket.zero_range > 0.0 or atol
    assert "inf" not in f"{certificate} {certificate!r} {bracket} {bracket!r}"


def test_a_gap_beside_zero_has_no_share() -> None:
    free = iopt.QuadraticProgram([[2.0]], [0.0])
    nearly = iopt.verify(free, {"x": [1e-9]})
    assert "inf" not in f"{nearly} {nearly!r}"


def test_rounding_instead_of_zero_is_no_unit_of_the_objective() -> None:
    """The rows leave zero only; an objective of 1e-320 there was a divisor that overflowed."""
    A = [[2.0**-6, 2.0**-6, 0], [2.0**-4, 0, -(2.0**-4)], [0, 1.5 * 2.0**-24, -(2.0**-24)]]
    P = np.zeros((3, 3))
    P[:2, 2] = P[2, :2] = [-(2.0**-11), -(2.0**-9)]
    ends = {"lb": [-4096, -6144, -2048], "ub": [4096, 2048, 6144]}
    result = iopt.solve(iopt.QuadraticProgram(P, [-51, 26, -43], A=A, b=np.zeros(3), **ends))
    np.testing.assert_allclose(result.x, 0.0, atol=1e-12)
    assert result.objective == pytest.approx(0.0, abs=1e-9)


def test_a_minimum_of_zero_that_rows_alone_leave_is_global() -> None:
    """The rows narrow every range until its rounding is left, by the same share for each variable.

    -6x₁ + 6·2⁻⁹x₂ = 0 leaves x₃ = 0 of the second equation, then x₀ = 0 of the first inequality
    with its opposite, and 0.375x₀ + 3·2⁻⁸x₂ ≤ 0 leaves x₂ ≤ 0, where x₁ = 2⁻⁹x₂ ≥ 0.
    """
    P = 2.0**-15 * np.array(
        [[2560.0, 49152, -32, -512], [49152, 1179648, -256, -20480], [-32, -256, 1.5, 8],
         [-512, -20480, 8, 1152]]
    )  # fmt: skip
    first, band = np.array([0.25, 6, -3 / 256, 1 / 16]), np.array([0, 0, 1 / 128, 0])
    G = np.array([band, -band, first, -first, [0.375, 0, 3 / 256, 0]])
    A = [[0, -2, 1 / 256, 0], [0, -6, 3 / 256, 3 / 16]]
    qp = iopt.QuadraticProgram(
        P, [0.125, 0.0, 5 / 256, 0.1875], G=G, h=[3, 4, 0, 0, 0], A=A, b=np.zeros(2),
        lb=[0.0, 0.0, -np.inf, 0.0], ub=[8.0, 0.5, np.inf, 16.0],
    )  # fmt: skip
    result = iopt.solve(qp)
    np.testing.assert_allclose(result.x, 0.0, atol=1e-12)
    assert result.certificate.claim is iopt.Claim.GLOBAL


@pytest.mark.parametrize("fall", [1e-1, 1e-7])
def test_a_zero_that_is_no_minimum_stays_one(fall: float) -> None:
    """xy + z(1 - z) - fall·z: 0 at the origin, a local minimum, and -fall at z = 1."""
    P = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -2.0]])
    qp = iopt.QuadraticProgram(P, [0.0, 0.0, 1.0 - fall], lb=0.0, ub=[1e6, 1e6, 1.0])
    certificate = iopt.verify(qp, {"x": np.zeros(3)}, bound=True)
    assert certificate.claim < iopt.Claim.GLOBAL
    assert certificate.gap >= fall


@pytest.mark.parametrize("width", [1e3, 1e12])
def test_no_bounds_however_wide_make_a_gap_look_small(width: float) -> None:
    """½x² - x has the value 0 at x = 0 and -½ at x = 1; y costs more than anything about x."""
    alone = iopt.QuadraticProgram([[1.0]], [-1.0], lb=-width, ub=width)
    P, q = np.diag([1.0, 0.0]), [-1.0, 1e7]
    priced = iopt.QuadraticProgram(P, q, lb=[-1.0, 0.0], ub=[1.0, width])
    for qp, zero in ((alone, [0.0]), (priced, [0.0, 0.0])):
        certificate = iopt.verify(qp, {"x": zero})
        assert certificate.claim < iopt.Claim.GLOBAL
        assert certificate.gap >= 0.5
    bracket = iopt.bound(alone)
    assert bracket.relative_gap == pytest.approx((bracket.upper - bracket.lower) / 0.5)


def test_it_reads_as_mathematics_and_says_nothing_about_kernels() -> None:
    qp = iopt.QuadraticProgram(
        np.diag([1.0, -1.0]), [1.0, 0.0], [[1.0, 1.0]], [1.0], [[1.0, -1.0]], [0.0], lb=0.0, ub=2.0
    )
    program = qp.declare()
    assert str(program) == (
        "QuadraticProgram(2 variables, 2 rows)\n"
        "  minimize    ½ xᵀPx + qᵀx\n"
        "  subject to  Gx ≤ h       (inequalities)\n"
        "              Ax = b       (equalities)\n"
        "              lb ≤ x ≤ ub  (lower, upper)\n"
        "  with        x ∈ R², P ∈ R^(2×2), q ∈ R², G = eᵀ ∈ R^(1×2), h ∈ R¹,\n"
        "              A ∈ R^(1×2), b ∈ R¹, lb = 0 ∈ R², ub = 2 e ∈ R²\n"
        "  solved as   a quadratic program with 2 rows, by clarabel if it is convex,\n"
        "              else by multistart"
    )
    words = " ".join(program.legend().values())
    assert set(program.legend()) == {"x", "P", "q", "G", "h", "A", "b", "lb", "ub"}
    for word in ("kernel", "class", "label", "hull", "separat"):
        assert word not in words
    x = np.array([0.3, 0.4])
    assert program.evaluate({"x": x})[0] == pytest.approx(0.5 * (0.09 - 0.16) + 0.3)


def test_multipliers_of_a_point_in_a_corner() -> None:
    """min -x₁ - 2x₂ on x₁ + x₂ ≤ 1, x ≥ 0: at (0, 1) the row costs 2 and x₁ ≥ 0 costs 1."""
    qp = iopt.QuadraticProgram(np.zeros((2, 2)), [-1.0, -2.0], [[1.0, 1.0]], [1.0], lb=0.0)
    certificate = iopt.verify(qp, {"x": [0.0, 1.0]})
    assert certificate.claim is iopt.Claim.GLOBAL
    assert certificate.multipliers["inequalities"] == pytest.approx([2.0])
    assert certificate.multipliers["lower"] == pytest.approx([1.0, 0.0])
    given = {"inequalities": [2.0], "lower": [1.0, 0.0]}
    assert iopt.verify(qp, {"x": [0.0, 1.0]}, multipliers=given).claim is iopt.Claim.GLOBAL
    wrong = {"inequalities": [-2.0], "lower": [1.0, 0.0]}
    assert iopt.verify(qp, {"x": [0.0, 1.0]}, multipliers=wrong).claim is iopt.Claim.FEASIBLE


SADDLE: dict[str, Any] = {"P": np.diag([1.0, -1.0]), "lb": -1.0, "ub": 1.0}
CURVATURES: dict[str, tuple[dict[str, Any], list[float], str]] = {
    # ½(x² - y²) on |x|, |y| ≤ 1: a saddle at 0, a minimum at (0, ±1), a stationary point at (0, 0).
    "saddle": (SADDLE, [0.0, 0.0], "STATIONARY"),
    "minimum": (SADDLE, [0.0, 1.0], "LOCAL"),
    "slope": (SADDLE, [0.5, 1.0], "FEASIBLE"),
    "outside": (SADDLE, [0.0, 2.0], "NONE"),
    # With y ≤ 0 as well the curvature is negative on one side of a row whose multiplier is 0.
    "a weak row": ({**SADDLE, "G": [[0.0, 1.0]], "h": [0.0]}, [0.0, 0.0], "STATIONARY"),
    # -½‖x‖² on the simplex at a vertex: y = 0 leaves both other bounds with multiplier zero.
    "multipliers that are not unique": (
        {"P": -np.eye(3), "A": np.ones((2, 3)), "b": [1.0, 1.0], "lb": 0.0, "ub": 1.0},
        [1.0, 0.0, 0.0], "LOCAL",
    ),
    # F falls along (0, -1/2, 1), which x₂ > lb₂ does not prevent, however close lb₂ is to 0.
    "beside a small bound": (
        {"P": [[1.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, -1.0]], "A": [[2.0, 2.0, 1.0]],
         "b": [0.0], "lb": [0.0, -(2.0**-22), 0.0]},
        [0.0, 0.0, 0.0], "STATIONARY",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CURVATURES)
def test_claims_by_curvature(case: str) -> None:
    program, x, claim = CURVATURES[case]
    assert iopt.verify(iopt.QuadraticProgram(**program), {"x": x}).claim.name == claim


def test_an_asymmetric_matrix_is_symmetrised_with_a_note() -> None:
    qp = iopt.QuadraticProgram([[1.0, 2.0], [0.0, 1.0]], lb=-1.0, ub=1.0)
    assert qp.P.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert "was not symmetric" in str(iopt.verify(qp, {"x": [0.0, 0.0]}))
    assert iopt.QuadraticProgram(np.eye(2)).notes == ()


def test_the_caller_may_change_his_arrays() -> None:
    P = np.eye(2)
    qp = iopt.QuadraticProgram(P, lb=-1.0, ub=1.0)
    P[0, 0] = -5.0
    assert qp.P[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        qp.P[0, 0] = -5.0
    for name in ("P", "q", "ub", "sense", "constant"):
        with pytest.raises(AttributeError, match=f"{name} of a quadratic program cannot change"):
            setattr(qp, name, getattr(qp, name))


EYE = np.eye(2)
REFUSED: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "empty": ({"P": np.zeros((0, 0))}, ProblemError, "P"),
    "text": ({"P": [["a"]]}, ProblemError, "P"),
    "complex": ({"P": [[1j]]}, ProblemError, "P"),
    "bounds cross": ({"P": EYE, "lb": 1.0, "ub": 0.0}, InfeasibleProblem, "lb"),
    **{
        f"{name} {value!r}": ({"P": EYE, name: value}, ParameterError, name)
        for name, value in (
            ("sense", 0), ("sense", "max"), ("constant", np.nan), ("constant", "1"), ("name", 3),
        )
    },
}  # fmt: skip
"""Beside those of `quadratic_arrays`, which have a test of their own."""


@pytest.mark.parametrize("case", REFUSED)
def test_bad_arrays_are_refused_by_name(case: str) -> None:
    arrays, error, argument = REFUSED[case]
    with pytest.raises(error) as caught:
        iopt.QuadraticProgram(**arrays)
    assert caught.value.argument == argument  # type: ignore[attr-defined]


def test_a_proof_is_checked_for_the_program_that_is_asked_about() -> None:
    """-x²/2 on [0, 1] is -½ at least, and -3x²/2 is -3/2: one proof serves both, weakly or well."""
    bracket = iopt.bound(iopt.QuadraticProgram([[-1.0]], lb=0.0, ub=1.0))
    assert -0.5 - 1e-6 <= bracket.check(bracket.problem) <= -0.5
    assert bracket.check(iopt.QuadraticProgram([[-3.0]], lb=0.0, ub=1.0)) <= -1.5
    assert bracket.check(iopt.QuadraticProgram(-EYE, lb=0.0, ub=1.0)) <= -1.0


def test_questions_that_make_no_sense() -> None:
    qp, problem = iopt.QuadraticProgram(-EYE, lb=0.0, ub=1.0), iopt.KernelProblem(EYE, [1, -1])
    other: Any = qp
    endless = iopt.QuadraticProgram(np.diag([1.0, -1.0, 0.0]), lb=[0, -1, 0], ub=[1, 1, np.inf])
    calls: list[tuple[Callable[[], object], type[Exception], str]] = [
        (lambda: iopt.solve(qp, "SVMDual"), ParameterError, "its own formulation"),
        (lambda: iopt.solve_path(other, ["SVMDual"]), ParameterError, "its own formulation"),
        (lambda: iopt.solve_path(problem, [qp]), ParameterError, "formulation of a kernel problem"),
        (lambda: iopt.solve(problem), ParameterError, "formulation"),
        (lambda: iopt.solve(problem, qp), ParameterError, "formulation of a kernel problem"),
        (lambda: iopt.solve(other.P), ProblemError, "KernelProblem"),
        (lambda: iopt.solve(other, callback=3), ParameterError, "callback: expected a function"),
        (lambda: iopt.bound(other, callback=3), ParameterError, "callback: expected a function"),
        (lambda: iopt.solve(qp).classifier, IncompatibleSolver, "no classifier"),
        (lambda: iopt.available_solvers(int), ParameterError, "formulation"),
        (lambda: iopt.bound(endless), IncompatibleSolver, r"x\[2\]"),
    ]
    for call, error, message in calls:
        with pytest.raises(error, match=message):
            call()
    assert {"multistart", "global"} < set(iopt.available_solvers(iopt.QuadraticProgram))


def test_large_slacks_do_not_hide_what_a_row_leaves_open() -> None:
    """x = -2⁻¹³ by a row, beside an inequality whose slack is 2²⁸."""
    rows = ([[0.0], [16384.0]], [2.0**28, 0.0], [[2.0**19]], [-64.0])
    qp = iopt.QuadraticProgram([[0.0]], [-983040.0], *rows, lb=-(2.0**-12))
    bracket = iopt.bound(qp, gap=1e-6)
    assert bracket.values["x"].tolist() == [-(2.0**-13)]
    assert bracket.lower <= 120.0 <= bracket.upper <= 120.0 + 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_ranges_from_equations_without_common_variables(seed: int) -> None:
    """Those of linear programs, infinite ones too."""
    generator = np.random.default_rng(seed)
    a = generator.choice([-2.0, -1.0, 1.0, 3.0], 7)
    A = np.where(np.array([[0, 0, 0, 1, 1, 2, 2]]) == np.arange(2)[:, None], a, 0.0)
    lower = np.where(generator.random(7) < 0.3, -np.inf, -generator.uniform(0.0, 2.0, 7))
    upper = np.where(generator.random(7) < 0.3, np.inf, generator.uniform(0.0, 2.0, 7))
    b = A @ generator.uniform(np.maximum(lower, -2.0), np.minimum(upper, 2.0))
    ranges = (
        iopt.QuadraticProgram(A=A, b=b, lb=lower, ub=upper, q=np.ones(7)).program().feasible.ranges
    )
    for end, given, side in zip(ranges, (lower, upper), (1.0, -1.0), strict=True):
        for i in range(7):
            answer = linprog(side * np.eye(7)[i], None, None, A, b, np.column_stack([lower, upper]))
            exact = side * answer.fun if answer.status == 0 else -side * np.inf
            if np.isfinite(given[i]):
                assert side * end[i] <= side * exact + 1e-9  # a bound is kept as it is
            else:
                assert end[i] == pytest.approx(exact, rel=1e-9, abs=1e-9)


SINGULAR: dict[str, tuple[dict[str, Any], Fraction]] = {
    "½(2x + 3y)² - 3y": (
        {"P": [[4.0, 6.0], [6.0, 9.0]], "q": [0.0, -3.0], "ub": [0.0, 2.0]}, Fraction(-6),
    ),
    "(x - y)², x ≥ 1": ({"P": [[2.0, -2.0], [-2.0, 2.0]], "lb": [1.0, -np.inf]}, Fraction(0)),
    "(x + y)² - 2(x + y)": ({"P": 2.0 * np.ones((2, 2)), "q": [-2.0, -2.0]}, Fraction(-1)),
    # On the row it is ½(2x - 1)² + x + 1, which is least at x = 1/4.
    "½(3x - y)² + y, y ≥ x + 1": (
        {"P": [[9.0, -3.0], [-3.0, 1.0]], "q": [0.0, 1.0], "G": [[1.0, -1.0]], "h": [-1.0]},
        Fraction(11, 8),
    ),
    "a linear program with a multiplier 0": (
        {
            "q": [2.0, -3.0, -2.0], "G": [[-1.0, 2.0, 3.0]], "h": [1.0], "A": [[3.0, 2.0, -3.0]],
            "b": [6.0], "ub": [0.0, 6.0, np.inf],
        },
        Fraction(-22),
    ),
    "squares that are 0 together, at the usual start": (
        {
            "P": [
                [62.0, -24.0, -12.0, -30.0, -2.0], [-24.0, 18.0, -18.0, 12.0, 0.0],
                [-12.0, -18.0, 66.0, 12.0, 0.0], [-30.0, 12.0, 12.0, 36.0, 0.0],
                [-2.0, 0.0, 0.0, 0.0, 2.0],
            ],
            "G": [
                [1.0, -1.0, 1.0, -2.0, 0.0], [0.0, 1.0, -3.0, -1.0, 0.0],
                [-3.0, 1.0, 1.0, 1.0, 0.0],
            ],
            "h": [6.0, 6.0, 8.0],
            "lb": [0.0, 0.0, 0.0, 0.0, -np.inf], "ub": [3.0, 3.0, 3.0, 3.0, np.inf],
        },
        Fraction(0),
    ),
    "2x² - 2x, x ≤ 0 twice": (
        {"P": [[4.0]], "q": [-2.0], "G": [[3.0], [2.0]], "h": [0.0, 0.0]}, Fraction(0),
    ),
}  # fmt: skip
"""Convex along all directions but not strictly, with ends that are infinite, and the optimum."""


@pytest.mark.parametrize("case", SINGULAR)
def test_singular_programs_without_ends_are_proved_in_fractions(case: str) -> None:
    arrays, optimum = SINGULAR[case]
    result = iopt.solve(iopt.QuadraticProgram(**arrays))
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert result.objective == pytest.approx(float(optimum), rel=1e-6, abs=1e-9)
    assert Fraction(result.certificate.bound) <= optimum
    assert result.certificate.bound == pytest.approx(float(optimum), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("size", [5e-324, 1e-291, 1e-250, 1e250])
def test_units_that_balance_never_overflow(size: float) -> None:
    row, column = balancing_units(np.diag([1.0, size]))
    assert np.isfinite([row, column]).all()
    assert 0.5 <= row[1] * size * column[1] <= 2.0
    assert np.all(np.frexp([row, column])[0] == 0.5)


def test_a_gradient_of_denormal_numbers_is_no_error() -> None:
    """Interior points for ½x² with x = 0 by two short equations end there."""
    qp = iopt.QuadraticProgram([[1.0]], A=[[2.0**-36], [2.0**-30]], b=[0.0, 0.0], lb=-1.0)
    result = iopt.solve(qp)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert result.objective == 0.0


def test_semidefinite_exactly() -> None:
    """Against elimination in fractions: singular integer matrices, and a bit less of an entry."""
    generator = np.random.default_rng(0)
    for n in (1, 2, 3, 3, 4, 5, 6, 6, 6):
        F = generator.integers(-3, 4, (n, int(generator.integers(1, n + 1)))) * 2.0**-30
        P = F @ F.T
        assert is_semidefinite(P)
        P[0, 0] = np.nextafter(P[0, 0], -1.0)
        assert is_semidefinite(P) == is_psd(as_matrix(P))


@pytest.mark.parametrize("kind", rows_of(2, 0))
def test_the_program_states_the_declared_program(kind: str) -> None:
    """Objective and feasibility of random points as cvxpy evaluates the declaration."""
    generator = np.random.default_rng(11)
    A, q = generator.standard_normal((5, 5)), generator.standard_normal(5)
    for sense in (1, -1):
        qp = iopt.QuadraticProgram(A + A.T, q, **rows_of(5, 2)[kind], sense=sense, constant=2.5)
        stated, program = qp.declare(), qp.program()
        assert stated.compiled is program
        for scale in (0.1, 10.0):
            x = scale * generator.standard_normal(5)
            feasible = program.feasible.project(x)
            for point in (x, feasible):
                objective, violation = stated.evaluate({"x": point})
                declared = program.declared(program.value(point))
                assert objective == pytest.approx(declared, rel=1e-12)
                assert (violation <= 1e-9) == (program.infeasibility(point) <= 1e-9)
                expected = 0.5 * point @ (A + A.T) @ point + q @ point + 2.5
                assert objective == pytest.approx(expected, rel=1e-10)
            assert stated.evaluate({"x": feasible})[1] <= 1e-9
        assert set(stated.subject_to) == set(answers.multiplier_shapes(program))


def test_a_maximisation_is_of_the_objective_that_was_given(tmp_path: Any) -> None:
    """max ½‖x‖² + (1, 2, 3)ᵀx on [-1, 2]³ is 6 + 12 at (2, 2, 2)."""
    qp = iopt.QuadraticProgram(np.eye(3), [1.0, 2.0, 3.0], lb=-1, ub=2, sense=-1)
    assert str(qp.declare()).splitlines()[1] == "  maximize    ½ xᵀPx + qᵀx"
    for program in (qp, iopt.QuadraticProgram.read(qp.write(tmp_path / "program.lp"))):
        result = iopt.solve(program, solver="global")
        assert result.x == pytest.approx([2.0, 2.0, 2.0])
        assert result.objective == pytest.approx(18.0)


@pytest.mark.parametrize("seed", range(2))
def test_one_line_is_as_good_as_scipy(seed: int) -> None:
    """Convex programs with rows of both kinds against SLSQP, linear ones against linprog."""
    g = np.random.default_rng(seed)
    root = g.standard_normal((6, 6))
    P, q, z = root.T @ root, g.standard_normal(6), g.uniform(size=6)
    G, A = g.standard_normal((3, 6)), g.standard_normal((2, 6))
    h, b = G @ z + g.uniform(size=3), A @ z
    x = iopt.solve_qp(P, q, G, h, A, b, lb=0.0, ub=1.0, initvals=z, verbose=False)
    rows = [
        {"type": "ineq", "fun": lambda v: h - G @ v},
        {"type": "eq", "fun": lambda v: A @ v - b},
    ]
    peer = minimize(
        lambda v: 0.5 * v @ P @ v + q @ v, z, bounds=[(0, 1)] * 6, constraints=rows,
        options={"ftol": 1e-12, "maxiter": 1000},
    )  # fmt: skip
    assert 0.5 * x @ P @ x + q @ x == pytest.approx(peer.fun, rel=1e-6, abs=1e-8)
    x = iopt.solve_qp(q=q, G=G, h=h, A=A, b=b, lb=0.0, ub=1.0, tol=1e-8)
    assert q @ x == pytest.approx(linprog(q, G, h, A, b, (0, 1)).fun, rel=1e-6, abs=1e-9)
    with pytest.raises(ProblemError, match="q: expected a linear term"):
        iopt.solve_qp(lb=0.0)


def test_brackets_tell_their_progress(caplog: pytest.LogCaptureFixture) -> None:
    qp = iopt.QuadraticProgram.read("boxqp-20-50-1")
    bracket = iopt.bound(qp, verbose=True)
    columns = "   nodes    open          lower          upper      gap seconds"
    row = caplog.messages[caplog.messages.index(columns) + 1]
    lower, upper, gap = map(float, row.split()[2:5])
    assert lower <= bracket.lower <= bracket.upper <= upper
    assert gap == pytest.approx((upper - lower) / abs(upper), rel=1e-2)
    assert caplog.messages[-1].startswith("solved after ")
    assert caplog.messages[-1].endswith(f" from {bracket.lower:.9g} to {bracket.upper:.9g}")
    caplog.clear()
    iopt.bound(qp)
    assert caplog.messages == []


@pytest.mark.parametrize(
    ("size", "order"), [(1e14, [0, 1, 2, 3]), (1e15, [2, 0, 3, 1]), (3e15, [3, 2, 1, 0])]
)
def test_terms_that_cancel_hide_no_violation(size: float, order: list[int]) -> None:
    """x₁ - x₂ + x₃ ≥ 1 where x₁ = x₂ and x₃ = x₄, the cost: in integers x₄ ≥ 1, for any x₁ ≤ size.

    At x₄ = 0 the first row is missed by 1, which is rounding beside terms of this size.
    """
    G, A = np.array([[-1.0, 1.0, -1.0, 0.0]]), np.array([[1.0, -1.0, 0.0, 0.0], [0, 0, 1.0, -1.0]])
    cost, ends = np.array([0.0, 0.0, 0.0, 1.0]), np.array([size, size, 10.0, 10.0])
    qp = iopt.QuadraticProgram(
        q=cost[order], G=G[:, order], h=[-1.0], A=A[:, order], b=[0.0, 0.0], lb=0.0, ub=ends[order]
    )
    program = qp.program()
    for x in ([size, size, 0.0, 0.0], [size, size, 1.0, 1.0]):
        point = program.at(np.array(x)[order])
        near, error = answers.attained(program, point, program.infeasibility(point.x))
        assert near.value + error == pytest.approx(1.0)
    certificate = iopt.verify(qp, {"x": np.array([size, size, 0.0, 0.0])[order]})
    assert certificate.claim < iopt.Claim.LOCAL
    # Any bound is at least as far as that from the objective 0 or from the optimal value 1.
    assert certificate.gap >= 0.5


def dual_value(program: Any, x: Array, z: Array, y: Array, reach: Array) -> Fraction:
    """F(x) + zᵀ(Gx - h) + yᵀ(Ax - b) - Σ |r_i|·reach_i, exact, with r = ∇F + Gᵀz + Aᵀy."""
    exact = Exactly(program, x)
    slope = [abs(entry) for entry in exact.reduced(z, y)]
    return exact.lagrangian(z, y) - dot(slope, as_vector(reach))


@pytest.mark.parametrize("part", ["linear", "quadratic", "inequalities", "equalities"])
@pytest.mark.parametrize("seed", range(3))
def test_the_rounding_of_each_sum_is_taken_off_the_bound(part: str, seed: int) -> None:
    """All variables are fixed, so that the bound is a sum of terms, of which one kind is there."""
    g = np.random.default_rng(seed)
    n, m = 6, 3
    x, rows = g.standard_normal(n), g.standard_normal((m, n))
    F, prices = g.standard_normal((n, n)), g.random(m)
    P = F @ F.T if part == "quadratic" else np.zeros((n, n))
    q = g.standard_normal(n) if part == "linear" else np.zeros(n)
    right = {"inequalities": {"G": rows, "h": rows @ x}, "equalities": {"A": rows, "b": rows @ x}}
    program = iopt.QuadraticProgram(P, q, **right.get(part, {}), lb=x, ub=x).program()
    multipliers = {part: prices} if part in right else {}
    exact = dual_value(program, x, *(multipliers.get(k, np.zeros(0)) for k in right), np.zeros(n))
    bound = best_bound(program, program.at(x), multipliers)
    # A sum of k terms is wrong by k·eps/2 of these at most, and often by one: k is below 20 here,
    # the terms are below 1000.
    assert 0 < exact - Fraction(bound) < Fraction(20 * 1000 * 2.0**-52)


@pytest.mark.parametrize("wide", [0, 5])
def test_one_wide_range_costs_a_bound_only_the_rounding_of_its_own_slope(wide: int) -> None:
    """The slope of that variable is 0 but for rounding, and is summed exactly; the others are 1."""
    g = np.random.default_rng(wide)
    n, m = 6, 3
    A, y = g.standard_normal((m, n)), g.standard_normal(m)
    q, ends = -(A.T @ y), np.ones(n)
    q[np.arange(n) != wide] += 1.0
    ends[wide] = 1e12
    program = iopt.QuadraticProgram(q=q, A=A, b=np.zeros(m), lb=-ends, ub=ends).program()
    x = np.zeros(n)
    # Summed as usual, the slope is wrong by 17 eps times its terms, which would cost 1e-2.
    bound = Fraction(best_bound(program, program.at(x), {"equalities": y}))
    assert dual_value(program, x, np.zeros(0), y, ends) - bound <= 1e-6


@pytest.mark.parametrize(("missed", "ends"), [(1e-3, (-4, 4)), (-1e-6, (-4, 0)), (-1e-6, (0, 4))])
def test_a_point_beside_the_rows_along_which_a_program_is_convex_proves_no_more(
    missed: float, ends: tuple[float, float]
) -> None:
    """-½x₁² + ½x₂² with x₁ = 1 is least at x₂ = 0, with -½; the tangent at 1 + δ is δ²/2 above."""
    low, high = ends
    qp = iopt.QuadraticProgram(
        np.diag([-1.0, 1.0]), A=[[1.0, 0.0]], b=[1.0], lb=[-4.0, low], ub=[4.0, high]
    )
    program, x = qp.program(), np.array([1.0 + missed, 0.0])
    bound = best_bound(program, program.at(x), {"equalities": np.array([x[0]])})
    # ‖P‖(2‖d‖ + δ)δ with ‖d‖ < 8 is taken off, with three to spare.
    assert -0.5 - 50.0 * abs(missed) <= bound <= -0.5


@pytest.mark.parametrize(
    ("P", "A", "least"),
    [
        ([[1.0, -1.0], [-1.0, 1.0]], [[0, 0]], 0.0),
        ([[0.1, 0.3], [0.3, 0.9]], [[1, 0]], 0.9),
        # Of diag(-1, 1) along e₂, e₁ and (1, -1)/√2; rows that say nothing twice change nothing.
        (np.diag([-1.0, 1.0]), [[0, 0]], -1.0),
        (np.diag([-1.0, 1.0]), [[1, 0]], 1.0),
        (np.diag([-1.0, 1.0]), [[0, 1]], -1.0),
        (np.diag([-1.0, 1.0]), [[1, 1], [2, 2]], 0.0),
        (np.diag([-1.0, 1.0]), [[1, 0], [0, 1]], np.inf),
    ],
)
def test_the_least_curvature_along_rows(P: Any, A: Any, least: float) -> None:
    rows = np.array(A, dtype=float)
    program = iopt.QuadraticProgram(P, [0.0, 0.0], A=rows, b=np.zeros(len(rows))).program()
    found, rounding = program.along_rows.restricted(np.arange(2), rows)
    assert found == pytest.approx(least, abs=1e-14)
    assert program.is_convex == (least >= 0.0)
    assert 0.0 <= rounding <= 1e-14


def polyhedron(**parts: Any) -> Any:
    return iopt.QuadraticProgram(q=np.zeros(2), **parts).program()


@pytest.mark.parametrize(
    ("parts", "x", "share"),
    [
        ({"lb": 0.0, "ub": 3.0}, [-1.0, 2.0], 1 / 2),
        ({"lb": 0.0, "ub": 3.0}, [1.0, 5.0], 2 / 3),
        ({"lb": 0.0, "ub": [1e-9, 1e9]}, [2e-9, 1e9], 1.0),
        ({"lb": [1.0, 0.0], "ub": [1.0, 3.0]}, [1.5, 3.0], 0.5 / 3),
        ({"A": [[1e9, 0]], "b": [1], "lb": 0, "ub": [1e-9, 1e12]}, [0.0, 1e12], 1.0),
        ({"lb": 2.0}, [0.0, 0.0], np.inf),
        ({"lb": 0.0, "ub": 3.0}, [1.0, 3.0], 0.0),
        ({"G": [[3, -4]], "h": [-5 - 0.014]}, [1.0, 2.0], 1e-3),
        ({"G": [[3, -4]], "h": [-5]}, [1.0, 2.0], 0.0),
        ({"A": [[3, -4]], "b": [-5 - 0.014]}, [1.0, 2.0], 1e-3),
        ({"A": [[3, -4]], "b": [-5 + 0.07]}, [1.0, 2.0], 5e-3),
        # x₁ is at its bound, so that x₂ moves by 0.0035, beside its range of 1.
        ({"A": [[3, -4]], "b": [-5 - 0.014], "lb": [1, 1.5], "ub": [4, 2.5]}, [1.0, 2.0], 3.5e-3),
        ({"A": [[3, -4]], "b": [2]}, [0.0, 0.0], np.inf),
        ({"G": [[1, 0]], "h": [0], "A": [[0, 0]], "b": [0]}, [4.0, 1.0], 1.0),
    ],
)
def test_how_far_the_nearest_feasible_point_is_beside_the_largest_entry_or_the_range(
    parts: dict[str, Any], x: list[float], share: float
) -> None:
    """Both entries of x = (1, 2) move by up to 2t, which changes 3x₁ - 4x₂ by 14t."""
    found = polyhedron(**parts).infeasibility(np.array(x))
    # The nearest point is found up to a thousandth of the distance.
    assert found == pytest.approx(share, rel=2e-3)


@pytest.mark.parametrize(
    ("parts", "x", "nearest"),
    [
        ({"A": [[1, 2]], "b": [5]}, [0.0, 0.0], [1.0, 2.0]),
        ({"A": [[1, 2]], "b": [5]}, [4.0, 3.0], [3.0, 1.0]),
        ({"G": [[2, 1]], "h": [-5]}, [0.0, 0.0], [-2.0, -1.0]),
        ({"G": [[2, 1]], "h": [5]}, [1.0, 1.0], [1.0, 1.0]),
        ({"A": [[1, 2]], "b": [5], "G": [[0, 1]], "h": [3]}, [0.0, 0.0], [1.0, 2.0]),
        ({"A": [[1, 1]], "b": [3], "lb": 0.0, "ub": [1.0, 9.0]}, [1.0, 1.0], [1.0, 2.0]),
    ],
)
def test_a_point_is_moved_onto_the_rows_by_the_shortest_step(
    parts: dict[str, Any], x: list[float], nearest: list[float]
) -> None:
    """The foot of the perpendicular; a variable at its bound stays there if the others suffice."""
    found = polyhedron(**parts).feasible.project(np.array(x))
    # Least squares of two numbers below 10: 1e-14 with a factor of a hundred to spare.
    np.testing.assert_allclose(found, nearest, rtol=0.0, atol=1e-12)
