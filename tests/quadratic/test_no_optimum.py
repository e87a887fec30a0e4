"""Rays and conflicts: what is proved holds in exact fractions, and nothing false is proved."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.exact import as_vector, dot
from indefinite_opt.errors import InfeasibleProblem
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.rows.feasibility import proved_conflict
from indefinite_opt.quadratic.rows.no_optimum import Conflict, feasible_exactly, proved_ray

Q, INF = iopt.QuadraticProgram, np.inf


def random_form(generator: np.random.Generator, n: int = 5, m: int = 2) -> StandardForm:
    """Small integers and thirds of them, with equations, one-sided rows and open variables."""
    A = generator.integers(-3, 4, (m, n)) / generator.choice([1.0, 3.0], (m, 1))
    H = generator.integers(-2, 3, (n, n)).astype(float)
    low = np.where(generator.random(n) < 0.5, 0.0, -INF)
    high = np.where(generator.random(n) < 0.2, 1.0, INF)
    ends = generator.integers(-2, 3, m).astype(float)
    equal = generator.random(m) < 0.5
    return StandardForm(
        1, generator.integers(-3, 4, n).astype(float), low, high,
        np.where(equal, ends, -INF), ends, A, H + H.T,
    )  # fmt: skip


def is_ray(form: StandardForm, d: list[Fraction]) -> bool:
    """Every condition again, entry by entry."""
    rows = [dot(as_vector(row), d) for row in form.matrix]
    lower, upper = [*form.lower, *form.row_lower], [*form.upper, *form.row_upper]
    for change, low, high in zip([*d, *rows], lower, upper, strict=True):
        if (change < 0 and low > -INF) or (change > 0 and high < INF):
            return False
    image = [dot(as_vector(row), d) for row in form.hessian]  # type: ignore[union-attr]
    curvature, slope = dot(image, d), dot(as_vector(form.cost), d)
    return curvature < 0 or (curvature == 0 and (slope < 0 or any(image)))


@pytest.mark.parametrize("seed", range(2))
def test_what_is_proved_is_a_ray(seed: int) -> None:
    """Directions with the rounding that algorithms leave, of programs that may have no ray."""
    generator = np.random.default_rng(seed)
    form = random_form(generator)
    for entries in product([-1.0, 0.0, 1.0], repeat=4):
        near = np.array([*entries, generator.integers(-1, 2)]) / 3.0
        near *= 1.0 + 1e-15 * generator.standard_normal(5)
        ray = proved_ray(form, near)
        if ray is not None:
            assert is_ray(form, ray.direction)
            assert ray.curvature <= 0


def test_a_rounded_ray_of_equations_is_found() -> None:
    """x₁/3 + x₂/7 + x₃ = 1 leaves (3, 7, -2) where that falls by 1."""
    A = np.array([[1 / 3, 1 / 7, 1.0]])
    form = StandardForm(
        1, np.array([0.0, 0.0, 0.5]), np.full(3, -INF), np.full(3, INF), np.ones(1), np.ones(1), A,
    )  # fmt: skip
    ray = proved_ray(form, np.array([3.0, 7.0, -2.0]))
    assert ray is not None
    assert dot(as_vector(A[0]), ray.direction) == 0
    assert [float(part) for part in ray.direction] == pytest.approx([3.0, 7.0, -2.0])


@pytest.mark.parametrize("slope", [-1.0, -0.5, 0.0, 0.25])
@pytest.mark.parametrize("level", [-1.0, -0.25, 0.0, 0.5, 1.0])
def test_a_ray_without_curvature_falls_from_where_it_starts(slope: float, level: float) -> None:
    """kx₁ + x₁x₂ at x₂ = s and along x₁ ≥ 0 is (k + s)x₁, which falls if k + s < 0."""
    form = StandardForm(
        1, np.array([slope, 0.0]), np.array([0.0, level]), np.array([INF, level]), np.zeros(0),
        np.zeros(0), np.zeros((0, 2)), np.array([[0.0, 1.0], [1.0, 0.0]]),
    )  # fmt: skip
    ray = proved_ray(form, np.array([1.0, 0.0]), np.array([3.0, level]))
    assert (ray is not None) == (slope + level < 0.0)
    qp = Q([[0.0, 1.0], [1.0, 0.0]], [slope, 0.0], lb=[0.0, level], ub=[INF, level])
    assert iopt.verify(qp, {"ray": [1.0, 0.0]}).proved == (slope + level < 0.0)


def test_no_curvature_is_too_small_to_end_a_fall() -> None:
    one, none = np.ones(1), np.empty(0)
    form = StandardForm(1, -one, np.zeros(1), np.full(1, INF), none, none, np.empty((0, 1)))
    for curvature in (1e-9, 1e-300):
        convex, concave = (form._replace(hessian=np.array([[c]])) for c in (curvature, -curvature))
        assert proved_ray(convex, one) is None
        assert proved_ray(concave, one) is not None


@pytest.mark.parametrize("seed", range(4))
def test_what_is_proved_is_a_conflict(seed: int) -> None:
    generator = np.random.default_rng(seed)
    form = random_form(generator, n=3, m=4)
    for _ in range(20):
        conflict = proved_conflict(form, generator.integers(-2, 3, 4) / 3.0)
        if conflict is None:
            continue
        assert conflict.exact
        # The rows weighted and added exclude every x between the bounds.
        reduced = [dot(conflict.multipliers, as_vector(column)) for column in form.matrix.T]
        most = least = Fraction()
        for y, low, high in zip(conflict.multipliers, form.row_lower, form.row_upper, strict=True):
            most += y * Fraction(high if y > 0 else low) if y else 0
        for r, low, high in zip(reduced, form.lower, form.upper, strict=True):
            least += r * Fraction(low if r > 0 else high) if r else 0
        assert least - most == conflict.excess > 0


@pytest.mark.parametrize("low", [-1.0, -0.5, 0.0, 0.5, 1.0])
@pytest.mark.parametrize("high", [-1.0, 0.0, 0.75, INF])
def test_a_row_with_a_lower_end_is_no_row_with_the_opposite_one(low: float, high: float) -> None:
    """x₁ + x₂ ≥ low excludes all x ≤ high/2 if high < low, whatever multipliers are tried."""
    form = StandardForm(
        1, np.zeros(2), np.full(2, -5.0), np.full(2, 0.5 * high), np.array([low]), np.array([INF]),
        np.ones((1, 2)),
    )  # fmt: skip
    for y in (-1.0, -1.0 / 3.0, 1.0):
        conflict = proved_conflict(form, np.array([y]))
        assert (conflict is not None) == (high < low)
        if conflict is not None:
            assert conflict.excess == conflict.multipliers[0] * Fraction(high - low)


def test_points_meet_their_rows_exactly() -> None:
    A = np.array([[1 / 3, 1 / 7, 1.0], [1.0, -1.0, 0.0]])
    form = StandardForm(
        1, np.zeros(3), np.zeros(3), np.full(3, INF), np.array([1.0, -INF]), np.array([1.0, 0.1]), A
    )
    x = feasible_exactly(form, np.array([0.75, 0.65, 1.0 - 0.25 - 0.65 / 7]))
    assert x is not None
    assert dot(as_vector(A[0]), x) == 1
    assert dot(as_vector(A[1]), x) <= Fraction(0.1)
    assert feasible_exactly(form._replace(upper=np.zeros(3)), np.zeros(3)) is None


FINITE = {
    # The optimum of the first is at (q₁, q₂)/P with the row x₁ - x₂ ≤ 1 slack.
    "steep": (Q(np.diag([1.0, 1e-3]), [-1e6, -1e6], G=[[1.0, -1.0]], h=[1.0]), -5.005e14),
    "cheap": (Q(np.zeros((2, 2)), [1.0, 1.0], G=[[-1.0, -1.0]], h=[1e10], lb=-1000.0), -2000.0),
    "far": (Q(np.zeros((2, 2)), [1.0, 1.0], G=[[-1.0, -1.0]], h=[1e10], lb=-1e12), -1e10),
    "one": (Q([[1e-14]], [-1.0]), -5e13),
    **{
        f"concave {k}": (
            Q(np.diag([1.0, -(10.0**-k)]), [4.0, -4.0], lb=[-INF, -1.0], ub=[INF, 0.0]), -8.0
        )
        for k in (4, 10, 13)
    },
    **{
        f"convex {k}": (
            Q(np.diag([1.0, 10.0**-k]), [-1.0, -1.0], G=[[1.0, -1.0]], h=[1.0]),
            -0.5 - 0.5 * 10.0**k,
        )
        for k in (4, 9, 13)
    },
}  # fmt: skip


@pytest.mark.parametrize("name", FINITE)
def test_finite_programs_are_not_called_unbounded(name: str) -> None:
    """Separable or with slack rows, so that the optimum is that of each variable alone."""
    qp, optimum = FINITE[name]
    assert iopt.solve(qp).objective == pytest.approx(optimum, rel=1e-9)


def test_an_unbounded_program_carries_its_ray() -> None:
    qp = Q(np.diag([1.0, 0.0]), [0.0, -1.0], G=[[1.0, -1.0]], h=[1.0])
    for solver in (None, "clarabel", "multistart"):
        with pytest.raises(iopt.errors.UnboundedProblem) as caught:
            iopt.solve(qp, solver=solver)
        np.testing.assert_array_equal(caught.value.ray, [0.0, 1.0])


def test_an_infeasible_program_carries_its_conflict() -> None:
    """x₁ + x₂ ≤ 1 against x ≥ 1: the row and both bounds, each once."""
    with pytest.raises(iopt.errors.InfeasibleProblem) as caught:
        iopt.solve(Q(np.eye(2), G=[[1.0, 1.0]], h=[1.0], lb=1.0))
    conflict = caught.value.conflict
    assert conflict is not None
    share = conflict["inequalities"][0]
    np.testing.assert_array_equal(conflict["inequalities"], [share])
    np.testing.assert_array_equal(conflict["lower"], [share, share])


@pytest.mark.parametrize(
    "values",
    [
        {"ray": [0.0, 1.0], "x": [0.0, 0.0]},
        {"conflict": {"rows": [1.0]}},
        {"conflict": {"upper": [1.0, 1.0]}},
        {"conflict": [1.0]},
    ],
)
def test_what_is_no_ray_and_no_conflict_is_named(values: dict[str, object]) -> None:
    qp = Q(np.eye(2), G=[[1.0, 1.0]], h=[1.0], lb=1.0)
    with pytest.raises(iopt.errors.ProblemError):
        iopt.verify(qp, values)


@pytest.mark.parametrize("name", ["SVMDual", "NuSVM", "GuoSchuurmansLP"])
def test_conflicts_are_those_of_quadratic_programs(name: str) -> None:
    problem = iopt.KernelProblem(np.eye(2), [1, -1])
    with pytest.raises(iopt.errors.ParameterError, match="a conflict of a QuadraticProgram"):
        iopt.verify(problem, name, {"conflict": {}})


def chain(length: int, last: float) -> iopt.QuadraticProgram:
    """x₀ = 2 and x_{k+1} = 0.9 x_k + 0.1, so x_k = 1 + 0.9ᵏ; the last one is at least `last`."""
    A = np.eye(length, length + 1, 1) - 0.9 * np.eye(length, length + 1)
    lb, ub = np.full(length + 1, -np.inf), np.full(length + 1, np.inf)
    lb[0] = ub[0] = 2.0
    lb[length] = last
    return iopt.QuadraticProgram(q=np.ones(length + 1), A=A, b=np.full(length, 0.1), lb=lb, ub=ub)


@pytest.mark.parametrize("length", [20, 100, pytest.param(300, marks=pytest.mark.slow)])
def test_conflicts_of_any_length_are_proved(length: int) -> None:
    """The last x is 1 to many digits, and 1.5 is asked for, or 0.5."""
    empty = chain(length, 1.5)
    with pytest.raises(iopt.errors.InfeasibleProblem) as info:
        iopt.solve(empty)
    proof = iopt.verify(empty, info.value)
    assert proof.proved
    if isinstance(proof.proof, Conflict) and not proof.proof.exact:
        with pytest.raises(iopt.errors.ParameterError, match="fractions would be too long"):
            proof.save("conflict.json")
    result = iopt.solve(chain(length, 0.5))
    assert result.objective == pytest.approx(length + 1 + (1.0 - 0.9 ** (length + 1)) / 0.1)


def test_a_conflict_is_proved_in_its_time_only() -> None:
    """x ≤ 1 and 3x ≥ 4, with multipliers that are wrong in the last digit."""
    form = StandardForm(
        1, np.zeros(2), np.full(2, -np.inf), np.full(2, np.inf), np.array([-np.inf, 4.0]),
        np.array([1.0, np.inf]), np.array([[0.1, 0.1], [0.3, 0.3]]),
    )  # fmt: skip
    near = np.array([3.0 + 1e-15, -1.0])
    assert proved_conflict(form, near) is not None
    assert proved_conflict(form, near, lambda: 0.0) is None


@pytest.mark.parametrize("share", [1e-6, 1e-9, 5e-11, 1e-11, 2e-12, 1e-13])
@pytest.mark.parametrize("scale", [1.0, 2.0**20, 2.0**-20])
def test_a_conflict_names_what_was_written(share: float, scale: float) -> None:
    """x₁ + x₂ ≤ 1 and ≥ 1 + d have no bound, and each must be relaxed by d/2, in any units."""
    G = scale * np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, 0.0]])
    h = scale * np.array([1.0, -1.0 - share, 5.0])
    try:
        x = iopt.solve_qp(np.eye(2), [0.0, 0.0], G=G, h=h)
    except iopt.errors.SolverFailed:
        return  # neither is claimed
    except InfeasibleProblem as error:
        found = error
    else:
        assert np.all(G @ x <= h + 1e-9 * scale)
        return
    assert found.got == "row 0 of G contradicts row 1 of G"
    assert set(found.conflict or ()) == {"inequalities"}
    relaxed = float(found.hint.split()[5])
    # The rows as doubles are up to 2⁻⁵² apart from those above.
    assert relaxed == pytest.approx(scale * share / 2, rel=0.01, abs=4e-16 * scale)
