"""Convex models that go to cvxpy's solvers: every cone counts in the conditions of optimality."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt.algebra import Model, NotCanonical
from indefinite_opt.quadratic import answers

PROBLEM = iopt.KernelProblem(np.eye(2), [1, -1])

x, y = cp.Variable((2, 2), name="x"), cp.Variable((3, 3), name="y")
TARGETS = {
    variable: 3.0 * np.random.default_rng(0).standard_normal(variable.shape) for variable in (x, y)
}

CONES = {
    "second-order, rows": cp.SOC(np.ones(2), x, axis=1),
    "second-order, columns": cp.SOC(np.ones(2), x, axis=0),
    "second-order, square": cp.SOC(np.ones(3), y, axis=0),
    "second-order, one": cp.SOC(cp.Constant(1), x[0]),
    "power": cp.PowCone3D(x[0, 0], x[0, 1], x[1, 0], 0.3),
    "powers": cp.PowCone3D(y[0], y[1], y[2], [0.3, 0.4, 0.6]),
    "power of more": cp.PowConeND(y[:2].T, y[2], np.array([[0.3, 0.7]] * 3), axis=1),
    "exponential": cp.ExpCone(x[0, 0], x[0, 1], x[1, 0]),
    "exponentials": cp.ExpCone(y[:2], y[:2] + 1.0, 2.0 + y[1:]),
    "nonnegative": cp.constraints.NonNeg(x - 1.0),
    "zero": cp.constraints.Zero(x - 1.0),
    "positive semidefinite": x + x.T >> np.eye(2),
    "negative semidefinite": x << -2.0 * np.eye(2),
    "sums": cp.sum(x, axis=0) <= -1.0,
    "equal sums": cp.sum(x, axis=0) == -1.0,
}


@dataclasses.dataclass(frozen=True)
class Nearest(iopt.Formulation):
    """The nearest point of a cone, with a ball, for which no other class of programs is."""

    cone: str = ""

    def model(self, problem: Any) -> Model:
        row = CONES[self.cone]
        (variable,) = row.variables()
        distance = cp.sum_squares(variable - TARGETS[variable])
        return Model(minimize=distance, subject_to={"a": row, "ball": cp.norm(variable) <= 40.0})


@pytest.mark.parametrize("cone", CONES)
def test_the_multipliers_of_a_cone_are_in_the_conditions(cone: str) -> None:
    result = iopt.solve(PROBLEM, Nearest(cone))
    program = Nearest(cone).program(PROBLEM)
    ((name, nearest),) = result.values.items()
    (variable,) = (each for each in TARGETS if each.name() == name)
    reference = cp.Problem(cp.Minimize(cp.norm(variable - TARGETS[variable], "fro")), [CONES[cone]])
    assert np.linalg.norm(nearest - TARGETS[variable]) == pytest.approx(
        reference.solve("SCS", eps=1e-9), abs=1e-6
    )
    assert result.multipliers["a"].shape == answers.multiplier_shapes(program)["a"]
    assert program.infeasibility(result.values) <= 1e-6
    assert program.residual(result.values, result.multipliers) <= 1e-6
    assert program.complementarity(result.values, result.multipliers) <= 1e-5


@pytest.mark.parametrize("cone", CONES)
def test_only_inequalities_have_multipliers_of_one_sign(cone: str) -> None:
    """Equations, under any name, and cones have others: those of the solver are not blamed."""
    result = iopt.solve(PROBLEM, Nearest(cone))
    own, blame = result.multipliers, "The multipliers of 'a' must be nonnegative"
    assert blame not in str(iopt.verify(PROBLEM, Nearest(cone), result.values, own))
    turned = {**own, "a": -1.0 - np.abs(own["a"])}
    blamed = blame in str(iopt.verify(PROBLEM, Nearest(cone), result.values, turned))
    assert blamed == (cone in ("nonnegative", "sums"))


@dataclasses.dataclass(frozen=True)
class Allowed(iopt.Formulation):
    """The nearest point that the attribute of a variable allows, in the Frobenius norm."""

    attribute: str = ""
    ball: bool = True

    def model(self, problem: Any) -> Model:
        value = [-1.0, 1.0] if self.attribute == "bounds" else True
        z = cp.Variable((2, 2), name="z", **{self.attribute: value})
        rows = {"ball": cp.norm(z) <= 40.0} if self.ball else {}
        return Model(minimize=cp.sum_squares(z - TARGETS[x]), subject_to=rows)


def semidefinite(target: np.ndarray) -> np.ndarray:
    """The positive semidefinite matrix that is nearest, by its spectrum (Higham 1988)."""
    values, vectors = np.linalg.eigh(0.5 * (target + target.T))
    part: np.ndarray = vectors * np.maximum(values, 0.0) @ vectors.T
    return part


ALLOWED: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "nonneg": lambda target: np.maximum(target, 0.0),
    "nonpos": lambda target: np.minimum(target, 0.0),
    "bounds": lambda target: np.clip(target, -1.0, 1.0),
    "symmetric": lambda target: 0.5 * (target + target.T),
    "diag": lambda target: np.diag(np.diagonal(target)),
    "PSD": semidefinite,
    "NSD": lambda target: -semidefinite(-target),
}


@pytest.mark.parametrize("ball", [True, False])
@pytest.mark.parametrize("attribute", ALLOWED)
def test_attributes_of_variables_are_in_the_conditions(attribute: str, ball: bool) -> None:
    formulation = Allowed(attribute, ball)
    result, program = iopt.solve(PROBLEM, formulation), formulation.program(PROBLEM)
    np.testing.assert_allclose(result.values["z"], ALLOWED[attribute](TARGETS[x]), atol=1e-5)
    assert program.infeasibility(result.values) <= 1e-6
    assert program.residual(result.values, result.multipliers) <= 1e-4
    away = {"z": np.asarray(result.values["z"]) + 0.1 * np.eye(2)}
    # As a share of the terms of the slope, which are 10 at most.
    assert program.residual(away, result.multipliers) >= 0.02


def test_each_of_several_attributes_is_a_constraint() -> None:
    """cvxpy projects on one of them; the nearest point has max(t, 0) for the means t of pairs."""

    @dataclasses.dataclass(frozen=True)
    class Both(iopt.Formulation):
        def model(self, problem: Any) -> Model:
            z = cp.Variable((2, 2), name="z", symmetric=True, nonneg=True)
            return Model(minimize=cp.sum_squares(z - TARGETS[x]), subject_to={})

    result, program = iopt.solve(PROBLEM, Both()), Both().program(PROBLEM)
    nearest = np.maximum(0.5 * (TARGETS[x] + TARGETS[x].T), 0.0)
    np.testing.assert_allclose(result.values["z"], nearest, atol=1e-5)
    assert program.infeasibility(result.values) <= 1e-6
    assert program.infeasibility({"z": np.array([[1.0, 2.0], [1.0, 0.0]])}) >= 0.2
    assert program.infeasibility({"z": np.array([[1.0, -1.0], [-1.0, 0.0]])}) >= 0.2
    assert program.residual(result.values, result.multipliers) <= 1e-6
    assert result.certificate.claim is iopt.Claim.GLOBAL


def test_complex_variables_are_refused() -> None:
    with pytest.raises(NotCanonical, match="expected real variables, got the complex variable z"):
        iopt.solve(PROBLEM, Allowed("complex"))


def test_a_semidefinite_program_has_its_optimum() -> None:
    """min tr X with X ⪰ [[1, 2], [2, 0]] is the sum of the positive eigenvalues."""

    @dataclasses.dataclass(frozen=True)
    class Above(iopt.Formulation):
        def model(self, problem: Any) -> Model:
            X = cp.Variable((2, 2), name="X", PSD=True)
            return Model(minimize=cp.trace(X), subject_to={"above": X >> given})

    given = np.array([[1.0, 2.0], [2.0, 0.0]])
    result = iopt.solve(PROBLEM, Above())
    assert result.objective == pytest.approx((1.0 + np.sqrt(17.0)) / 2.0, rel=1e-6)
