"""The certificate must never claim what was not proved; what it proved is checked from a file."""

from __future__ import annotations

import dataclasses
import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.problems import random_problem, suited
from indefinite_opt.formulations import as_formulation
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.proof.proof_checker import FailedProof, check

Claim = iopt.Claim
IDENTITY = iopt.KernelProblem(np.eye(2), [1, -1])


def test_the_global_maximiser_is_no_minimum() -> None:
    """(0, 0) is the worst point of max α₁ + α₂ + α₁α₂, which HiGHS calls optimal."""
    problem = iopt.KernelProblem([[0.0, 1.0], [1.0, 0.0]], [1, -1])
    formulation = iopt.SVMDual(C=1.0, bias=False)
    assert iopt.verify(problem, formulation, {"alpha": [0.0, 0.0]}).claim is Claim.FEASIBLE
    assert iopt.verify(problem, formulation, {"alpha": [1.0, 1.0]}).claim is Claim.LOCAL


def test_an_interior_stationary_maximiser_is_no_local_optimum() -> None:
    """ᾱᵀQᾱ with Q = -I over two simplices is largest at the class means, which are stationary."""
    problem = iopt.KernelProblem(-np.eye(4), [1, 1, -1, -1])
    formulation = iopt.ConvexHullDual(mu=1.0)
    certificate = iopt.verify(problem, formulation, {"alphabar": [0.5, 0.5, 0.5, 0.5]})
    assert certificate.stationarity <= 1e-12
    assert certificate.claim is Claim.STATIONARY
    assert certificate.curvature == pytest.approx(-2.0)
    assert certificate.gap_kind == "KKT residual"
    assert np.isinf(certificate.gap)
    assert np.isinf(certificate.bound)
    assert "not a local optimum" in " ".join(certificate.reasons)


def test_global_needs_a_gap_not_only_kkt() -> None:
    """A convex problem's point with a small KKT residual but a visible gap is not GLOBAL."""
    problem, dual = random_problem("gaussian", n=40, seed=1), iopt.SVMDual(C=100.0)
    rough = iopt.solve(problem, dual, tol=1e-2)
    certificate = iopt.verify(problem, dual, rough.values, tol=1e-8)
    assert certificate.claim < Claim.STATIONARY
    exact = iopt.solve(problem, dual, tol=1e-9).objective
    assert certificate.bound >= exact - 1e-7
    assert certificate.gap >= exact - certificate.objective - 1e-9


EQUATIONS = ("balance", "total", "source", "target", "rows", "trace")
"""Constraints whose multipliers may have either sign."""

EVERY = [*iopt.available_formulations(), "SVMDual(bias=False)", "SeparabilitySVM(identity=False)"]


@pytest.mark.parametrize("title", EVERY)
def test_given_multipliers_and_points_are_held_to_their_word(title: str) -> None:
    """The solver's own keep the claim; one entry off by a tenth, or of the wrong sign, does not."""
    problem = suited(random_problem("sigmoid", n=20, seed=5), as_formulation(title))
    right = iopt.solve(problem, title, tol=1e-8)
    # Clarabel leaves 1.2e-6 of the slopes of quadratic rows.
    tol = 1e-5 if title == "MultipleKernelSVM" else 1e-6
    verify = partial(iopt.verify, problem, title, tol=tol)
    for name, given_value in right.multipliers.items():
        value = np.asarray(given_value, dtype=float)
        first = (np.arange(value.size) == 0).reshape(value.shape)
        largest = float(np.abs(value).max())
        off = {**right.multipliers, name: value + max(0.1, 0.1 * largest) * first}
        assert verify(right.values, off).claim is Claim.FEASIBLE, name
        certificate = verify(right.values, {**off, name: value - (1.0 + largest) * first})
        assert certificate.claim is Claim.FEASIBLE, name
        kind = name.partition("_")[0]  # lower, where two variables have a lower bound
        told = f"multipliers of '{kind}' must be nonnegative" in str(certificate)
        assert told == (kind not in EQUATIONS)
    assert verify({name: 0.0 * value for name, value in right.values.items()}).claim <= (
        Claim.FEASIBLE
    )
    with pytest.raises(iopt.errors.ProblemError, match="values: expected"):
        verify({"other": 0.0})
    if right.multipliers:
        assert verify(right.values, right.multipliers).claim is right.certificate.claim
        mirrored = verify({name: -value for name, value in right.values.items()})
        # Weights of both signs stay within their bounds.
        signed = right.formulation.task == "regression" or title == "LeastSquaresSVM"
        assert mirrored.claim is (Claim.FEASIBLE if signed else Claim.NONE)
        weights = next(iter(right.values))
        assert (f"-{weights} satisfies" if signed else "is violated by") in str(mirrored)
        with pytest.raises(iopt.errors.ProblemError, match="multipliers: expected"):
            verify(right.values, {"other": 0.0})


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("title", EVERY)
def test_no_number_is_too_large_or_small_to_be_judged(title: str) -> None:
    """Points that meet the constraints as well as can be: GLOBAL are those near the optimum."""
    problem = suited(random_problem("sigmoid", n=12, seed=5), as_formulation(title))
    right = iopt.solve(problem, title, tol=1e-9)
    program = as_formulation(title).program(problem)
    generator = np.random.default_rng(5)
    # Of other tasks weights are taken whose squares are numbers.
    largest = [1e150, 1e300] if right.formulation.task == "classification" else [1e100]
    for size in (0.0, 1e-3, 1.0, *largest):
        for base in (0.0, 1.0):
            values = {
                name: base * value + size * generator.standard_normal(np.shape(value))
                for name, value in right.values.items()
            }
            for given in (values, answers.feasible_values(program, values)):
                certificate = iopt.verify(problem, title, given)
                if certificate.claim is Claim.GLOBAL:
                    best = right.objective
                    assert certificate.objective == pytest.approx(best, rel=2e-6, abs=2e-6)


def test_infeasible_points_claim_nothing() -> None:
    problem = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    for alpha in ([0.5, 0.4], [-0.1, -0.1], [1.2, 1.2]):
        certificate = iopt.verify(problem, iopt.SVMDual(C=1.0), {"alpha": alpha})
        assert certificate.claim is Claim.NONE
        assert "violated" in str(certificate)


def test_gaps_of_the_svm_dual_are_primal_minus_dual(gaussian_problem: iopt.KernelProblem) -> None:
    """P = ½αᵀQα + C Σ max(0, 1 - y f) at the best b, computed here by brute force over b.

    With a smaller tolerance a better bound would be looked for.
    """
    C = 2.0
    values = iopt.solve(gaussian_problem, iopt.SVMDual(C=C), tol=1e-3).values
    certificate = iopt.verify(gaussian_problem, iopt.SVMDual(C=C), values, tol=1e-2)
    alpha, y = values["alpha"], gaussian_problem.y
    scores = gaussian_problem.K @ (y * alpha)
    offsets = y - scores  # the hinge sum is piecewise linear with these breakpoints
    hinge = min(np.maximum(0.0, 1.0 - y * (scores + b)).sum() for b in offsets)
    primal = 0.5 * alpha @ gaussian_problem.Q @ alpha + C * hinge
    assert certificate.bound == pytest.approx(primal, rel=1e-9)
    assert certificate.gap_kind == "duality gap"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_infinite_gap_is_never_closed() -> None:
    certificate = iopt.verify(IDENTITY, iopt.SVMDual(C=np.inf), {"alpha": [1e200, 1e200]})
    assert certificate.claim is not iopt.Claim.GLOBAL


def test_gaps_are_printed_in_the_unit_they_have() -> None:
    known = iopt.solve(IDENTITY, iopt.SVMDual(C=1.0)).certificate
    number = "2.00e+00 (relative 2.50e-01)"
    for changes, told, line in (
        ({"gap": 2.0, "relative_gap": 0.25}, f"duality gap {number}, tol", [number]),
        ({"gap": 2.0, "relative_gap": np.inf}, "duality gap 2.00e+00, tol", ["2.00e+00"]),
        ({"gap": np.inf, "relative_gap": np.inf, "bound": -np.inf}, "duality gap inf, tol", []),
        ({"gap_kind": "KKT residual", "stationarity": 3e-7}, "KKT residual 3.00e-07, tol", []),
    ):
        certificate = dataclasses.replace(known, **{"gap_kind": "duality gap", **changes})
        assert told in repr(certificate)
        rows = [row for row in str(certificate).splitlines() if "duality gap " in row]
        assert [row.split("duality gap")[1].strip() for row in rows] == line
        # 2α - α² is largest at α = 1.
        assert "objective=1," in repr(certificate)
    lines = str(dataclasses.replace(known, objective=-0.0)).splitlines()
    assert "  objective        0" in lines
    html = known._repr_html_()
    assert 0 <= html.index("GLOBAL: the point is a global optimum") < html.index("objective")


def test_a_certificate_has_one_gap() -> None:
    """Half of the optimum (½, ½) of a dual, half of that of a linear program: far from optimal."""
    problem = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    dual = iopt.verify(problem, iopt.SVMDual(C=1.0), {"alpha": [0.25, 0.25]})
    machine = iopt.solve(problem, iopt.LPSVM(C=1.0))
    values = {**machine.values, "xi": machine.values["xi"] + 0.5}
    linear = iopt.verify(problem, iopt.LPSVM(C=1.0), values)
    for certificate in (dual, linear):
        assert certificate.claim is iopt.Claim.FEASIBLE
        number = f"{certificate.gap:.2e} (relative {certificate.relative_gap:.2e})"
        assert certificate.gap == pytest.approx(abs(certificate.objective - certificate.bound))
        assert any(f"gap of {number}" in reason for reason in certificate.reasons)
        assert f"  duality gap      {number}" in str(certificate).splitlines()
        assert f"duality gap {number}, tol" in repr(certificate)
        assert certificate.measure == certificate.relative_gap
    # What a linear solver is judged by is the gap of its certificate.
    assert machine.residual == pytest.approx(machine.certificate.relative_gap, abs=1e-15)
    curved = iopt.KernelProblem(-np.eye(2), [1, -1])
    local = iopt.verify(curved, iopt.SVMDual(C=1.0), {"alpha": [0.9, 0.9]})
    assert local.gap_kind == "KKT residual"
    assert local.measure == local.stationarity > 0.0


SAVED = [
    ("gaussian", iopt.SVMDual(C=1.0), None),
    ("gaussian", iopt.SVMDual(C=np.inf), None),
    ("sigmoid", iopt.SVMDual(C=1.0), "global"),
    ("sigmoid", iopt.ConvexHullDual(), "global"),
    ("sigmoid", iopt.GuoSchuurmansLP(), None),
    ("sigmoid", iopt.LPSVM(C=1.0), None),
    ("sigmoid", iopt.SpectrumSVM(C=1.0), None),
    ("sigmoid", iopt.KSVM(C=1.0), None),
    ("sigmoid", iopt.LussDual(C=1.0, rho=1.0), None),
]


@pytest.mark.parametrize(("kernel", "formulation", "solver"), SAVED, ids=str)
def test_the_checker_proves_what_the_certificate_claims(
    kernel: str, formulation: iopt.Formulation, solver: str | None, tmp_path: Path
) -> None:
    """The exact bound is on the same side of the objective, and as near to it."""
    problem = random_problem(kernel, n=16, seed=4)
    certificate = iopt.solve(problem, formulation, solver=solver).certificate
    assert certificate.claim is iopt.Claim.GLOBAL
    path = certificate.save(tmp_path / "proof.json")
    proved, _ = check(json.loads(path.read_text()))
    size = max(abs(certificate.objective), 1e-3)
    assert abs(proved - certificate.objective) <= 2e-6 * size
    beyond = proved - certificate.objective
    maximised = formulation.declare(problem).sense == "maximize"
    assert (beyond if maximised else -beyond) >= -1e-9 * size


def test_what_has_no_proof_cannot_be_saved(tmp_path: Path) -> None:
    problem = random_problem("sigmoid", n=16, seed=4)
    for formulation in (iopt.SVMDual(C=1.0), iopt.KernelLogistic()):
        with pytest.raises(iopt.errors.ParameterError, match="one with a proof"):
            iopt.solve(problem, formulation).certificate.save(tmp_path / "proof.json")
    assert not list(tmp_path.iterdir())
    proved = iopt.solve(problem, iopt.LPSVM()).certificate
    with pytest.raises(iopt.errors.DataError, match=r"^path: expected a file that"):
        proved.save(tmp_path / "missing" / "proof.json")


def test_a_step_cannot_enlarge_a_box(tmp_path: Path) -> None:
    """Outside its range a variable that is at an end would have a nonzero product of its shares."""
    problem = random_problem("sigmoid", n=16, seed=4)
    path = iopt.bound(problem, iopt.SVMDual(C=1.0)).save(tmp_path / "proof.json")
    document = json.loads(path.read_text())
    assert check(document)[0] > 0.0
    steps = document["proof"]["steps"]
    steps.insert(0, {"rule": "rows", "lower": [[0, -1.0]], "upper": [[0, 2.0]]})
    with pytest.raises(FailedProof, match="the lower end of variable 0 does not follow"):
        check(document)
    steps[0] = {"rule": "rows", "lower": [[0, 0.0]], "upper": [[0, 1.0]]}
    assert check(document)[0] > 0.0
