"""A user's own quadratic programs without an upper bound, or without a point, and their names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import cvxpy
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model
from indefinite_opt.errors import InfeasibleProblem, UnboundedProblem
from indefinite_opt.quadratic.programs.paired_qp import PairedQP


@dataclass(frozen=True)
class OwnSVM(iopt.Formulation):
    """max gainᵀα - ½ h αᵀQα  s.t.  yᵀα = 0, eᵀα = t, 0 ≤ α ≤ u, or its negative as a minimum."""

    gain: Any = field(default=1.0, compare=False)
    upper: Any = field(default=np.inf, compare=False)
    total: float | None = None
    line: bool = True
    curvature: float = 1.0
    minimize: bool = False

    def model(self, problem: iopt.KernelProblem) -> Model:
        alpha = cp.Variable(problem.n, name="alpha")
        Q, y = problem.symbols("Q", "y")
        gain = np.broadcast_to(np.asarray(self.gain, dtype=float), (problem.n,))
        rows = {"balance": y @ alpha == 0} if self.line else {}
        if self.total is not None:
            rows["total"] = cp.sum(alpha) == self.total
        value = gain @ alpha - 0.5 * self.curvature * cp.quad_form(alpha, Q)
        goal = {"minimize": -value} if self.minimize else {"maximize": value}
        bounds = {"lower": alpha >= 0, "upper": alpha <= self.upper}
        return Model(**goal, subject_to={**rows, **bounds}, coef=cp.multiply(y, alpha))


Y = [1, -1, 1, -1]
MIXED = np.array([[1.0, 2.0, 0.0, 0.0], [2.0, 1.0, 0.0, 0.0], [0.0, 0.0, 3.0, 0.0],
                  [0.0, 0.0, 0.0, 4.0]])  # fmt: skip
"""Points 0 and 1 have K_00 + K_11 - 2K_01 = -2; no other pair of opposite classes is below 0."""

POINTS = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0], [-1.0, -1.0]])
TWINS = POINTS @ POINTS.T
"""Points 0 and 1 are one point in opposite classes: the objective is linear along the pair."""


def problem_of(K: np.ndarray) -> iopt.KernelProblem:
    return iopt.KernelProblem(K, Y)


def check_ray(formulation: OwnSVM, K: np.ndarray, error: UnboundedProblem) -> None:
    """Along a feasible direction the objective rises without end, in its own numbers."""
    d, y = np.asarray(error.ray), np.array(Y, dtype=float)
    assert d.any()
    assert np.all(d >= 0.0)
    assert np.all(d[np.isfinite(np.broadcast_to(formulation.upper, 4))] == 0.0)
    if formulation.line:
        assert y @ d == 0.0
    curvature = formulation.curvature * float((y * d) @ K @ (y * d))
    slope = float(np.broadcast_to(formulation.gain, 4) @ d)
    assert curvature < 0.0 or (curvature == 0.0 and slope > 0.0)


GAIN = np.array([-1.0, 0.5, 1.0, 1.0])
"""Along the twins the objective falls, by 0.5 for each unit."""

UNBOUNDED = {
    "a pair of negative curvature": (OwnSVM(), MIXED),
    "whatever the slope": (OwnSVM(gain=-100.0), MIXED),
    "as a minimum": (OwnSVM(minimize=True), MIXED),
    "in another unit": (OwnSVM(curvature=3.0), MIXED),
    "twins": (OwnSVM(), TWINS),
    "twins, with unequal gains": (OwnSVM(gain=[-1.0, 1.25, 1.0, 1.0]), TWINS),
    "a weight of negative curvature": (OwnSVM(line=False), MIXED - 2.0 * np.eye(4)),
    "a weight without curvature": (OwnSVM(line=False), MIXED - np.eye(4)),
}
BOUNDED = {
    "twins with a gain below 0": OwnSVM(gain=GAIN),
    "as a minimum": OwnSVM(gain=GAIN, minimize=True),
    "twins in a box": OwnSVM(upper=2.0),
    "without a line": OwnSVM(line=False, gain=[-0.2, 0.1, 1.0, 1.0]),
    "twins with a total": OwnSVM(total=3.0),
}


@pytest.mark.parametrize("name", UNBOUNDED)
def test_an_unbounded_one_is_refused_with_its_ray(name: str) -> None:
    formulation, K = UNBOUNDED[name]
    problem = problem_of(K)
    assert isinstance(formulation.compiled(problem), PairedQP)
    for act in (iopt.solve, iopt.bound, lambda problem, one: one.declare(problem)):
        with pytest.raises(UnboundedProblem, match="without an upper bound") as caught:
            act(problem, formulation)
        check_ray(formulation, K, caught.value)


@pytest.mark.parametrize("name", BOUNDED)
def test_a_bounded_one_is_solved(name: str) -> None:
    """The twins' kernel is positive semidefinite: cvxpy solves the same program as declared."""
    formulation, y = BOUNDED[name], np.array(Y, dtype=float)
    x = cvxpy.Variable(4)
    gain = np.broadcast_to(np.asarray(formulation.gain), 4)
    rows = [x >= 0, *([y @ x == 0] if formulation.line else [])]
    rows += [cvxpy.sum(x) == formulation.total] if formulation.total is not None else []
    rows += [x <= formulation.upper] if np.all(np.isfinite(formulation.upper)) else []
    curved = cvxpy.sum_squares(POINTS.T @ cvxpy.multiply(y, x))
    expected = cvxpy.Problem(cvxpy.Maximize(gain @ x - 0.5 * curved), rows)
    expected.solve(solver="CLARABEL")
    problem = problem_of(TWINS)
    assert isinstance(formulation.compiled(problem), PairedQP)
    result = iopt.solve(problem, formulation)
    sign = -1.0 if formulation.minimize else 1.0
    assert sign * result.objective == pytest.approx(expected.value, rel=1e-6)
    closed = formulation.total is not None or np.isfinite(formulation.upper)
    # Without bounds on the weights, rounding counts without end, and no bound is proved.
    assert result.certificate.claim == (iopt.Claim.GLOBAL if closed else iopt.Claim.LOCAL)
    assert set(result.multipliers) == set(formulation.declare(problem).subject_to)


@pytest.mark.parametrize(("gain", "line"), [(0.0, True), (-1.0, False)])
def test_without_a_gain_no_weight_is_best(gain: float, line: bool) -> None:
    """The bound of a hard margin is one of weights with a gain."""
    result = iopt.solve(problem_of(TWINS + np.eye(4)), OwnSVM(gain=gain, line=line))
    assert_allclose(result.values["alpha"], 0.0, atol=1e-12)
    assert result.certificate.claim == iopt.Claim.GLOBAL
    assert abs(result.certificate.bound) <= 1e-12
    program = OwnSVM(gain=GAIN).declare(problem_of(TWINS))
    assert list(program.subject_to) == ["balance", "lower"]  # an infinite bound is no constraint
    assert "inf" not in str(program)


def test_bounds_of_which_some_are_infinite() -> None:
    """A pair without end that has one bound is bounded; with none it is refused."""
    pair = OwnSVM(upper=np.array([np.inf, np.inf, 1.0, 1.0]))
    with pytest.raises(UnboundedProblem) as caught:
        iopt.solve(problem_of(MIXED), pair)
    assert_array_equal(caught.value.ray, [1.0, 1.0, 0.0, 0.0])
    held = OwnSVM(upper=np.array([np.inf, 0.5, 1.0, 1.0]))
    result = iopt.solve(problem_of(MIXED), held)
    assert result.values["alpha"][1] == pytest.approx(0.5)


@pytest.mark.parametrize("minimize", [False, True])
def test_a_total_that_no_class_reaches_is_refused(minimize: bool) -> None:
    """Two points in each class have at most 2u of weight, half of the total."""
    problem = problem_of(MIXED)
    result = iopt.solve(problem, OwnSVM(upper=0.75, total=4 * 0.75, minimize=minimize))
    assert_allclose(result.values["alpha"], 0.75)
    formulation = OwnSVM(upper=0.75, total=1.5 * 4 * 0.75, minimize=minimize)
    assert isinstance(formulation.compiled(problem), PairedQP)
    for act in (iopt.solve, iopt.bound):
        with pytest.raises(InfeasibleProblem, match=r"at least 1\.125 = .* class, of size 2,"):
            act(problem, formulation)


@dataclass(frozen=True)
class Weighted(iopt.Formulation):
    """The ν-SVM of Schölkopf et al. (2000), with a price of small weights."""

    nu: float = 0.5

    def model(self, problem: Any) -> Model:
        alpha, t = cp.Variable(problem.n, name="alpha"), cp.Variable(name="t")
        Q, y, nu, n = problem.symbols("Q", "y", nu=self.nu, n=problem.n)
        return Model(
            minimize=0.5 * cp.quad_form(alpha, Q) + cp.sum(cp.pos(t - alpha)) + cp.norm1(alpha),
            subject_to={
                "balance": y @ alpha == 0,
                "total": cp.sum(alpha) >= nu,
                "least": alpha >= t - 1,
                "t_low": t >= 0,
                "upper": alpha <= 1 / n,
            },
        )


def test_names_of_rows_and_variables() -> None:
    problem = iopt.KernelProblem(np.diag([1.0, -1.0, 2.0]), [1, -1, -1])
    names = Weighted().program(problem).feasible.names
    assert names.variables[:4] == ("alpha[0]", "alpha[1]", "alpha[2]", "t")
    assert names.equalities == ("balance",)
    assert names.inequalities[:4] == ("total", "least[0]", "least[1]", "least[2]")
    for declared in names:
        assert len(set(declared)) == len(declared)
    program = Weighted().program(problem)
    assert [*map(len, names)] == [program.n, len(program.feasible.h), len(program.feasible.b)]


def test_a_conflict_names_the_constraints() -> None:
    # One point of the class +1 holds the weight 1/4, and with it both classes: 2/4 < 0.6.
    problem = iopt.KernelProblem(np.eye(4), [1, -1, -1, -1])
    with pytest.raises(InfeasibleProblem, match=r"ub of alpha\[0\] contradict each other"):
        iopt.solve(problem, Weighted(nu=0.6))
