"""Weights of points, by LIBSVM, copies and quadratic programs; bounds relative to the least."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import indefinite_opt as iopt
from helpers.problems import random_problem


@pytest.mark.parametrize(("seed", "bias"), [(0, True), (1, False)])
def test_brackets_of_three_ways_to_say_it_overlap(seed: int, bias: bool) -> None:
    """Whole weights are copies of a point; both are a quadratic program with bounds C·weights."""
    problem = random_problem("sigmoid", n=12, seed=seed)
    counts = np.random.default_rng(seed).integers(1, 4, problem.n)
    formulation = iopt.SVMDual(C=5.0, bias=bias, weights=counts.astype(float))
    weighted = iopt.bound(problem, formulation, gap=1e-7)
    copies = np.repeat(np.arange(problem.n), counts)
    repeated = iopt.KernelProblem(problem.K[np.ix_(copies, copies)], problem.y[copies])
    program = iopt.QuadraticProgram(
        P=problem.Q, q=-np.ones(problem.n), lb=np.zeros(problem.n), ub=5.0 * counts,
        A=problem.y[None, :] if bias else None, b=np.zeros(1) if bias else None,
    )  # fmt: skip
    plain = iopt.bound(program, gap=1e-7)
    assert weighted.upper == pytest.approx(-plain.lower, rel=1e-6)
    assert weighted.lower == pytest.approx(-plain.upper, rel=1e-6)
    best = iopt.solve(repeated, iopt.SVMDual(C=5.0, bias=bias)).objective
    assert best <= weighted.upper * (1.0 + 1e-9)
    assert best == pytest.approx(weighted.lower, rel=1e-6)


@pytest.mark.parametrize("formulation", [iopt.SVMDual, iopt.SpectrumSVM, iopt.ESVM])
def test_weights_that_cannot_be_used_are_refused(formulation: type) -> None:
    problem = random_problem("sigmoid", n=6, seed=0)
    with pytest.raises(iopt.errors.ProblemError, match=r"weights: .*shape \(6,\).*shape \(5,\)"):
        iopt.solve(problem, formulation(weights=np.ones(5)))
    with pytest.raises(iopt.errors.ParameterError, match="Leave out points without weight"):
        iopt.solve(problem, formulation(weights=np.zeros(6)))


def test_weights_need_a_finite_bound_and_are_part_of_the_title() -> None:
    with pytest.raises(iopt.errors.ParameterError, match="weights: expected None if C is infinite"):
        iopt.SVMDual(C=np.inf, weights=np.ones(3))
    titles = {str(iopt.SVMDual(weights=np.full(3, value))) for value in (1.0, 2.0)}
    assert len(titles) == 2


@pytest.mark.parametrize("formulation", [iopt.EpsilonSVR, iopt.OneClassSVM])
def test_whole_weights_are_copies_of_points_without_classes_too(
    formulation: type[iopt.Formulation],
) -> None:
    base = random_problem("sigmoid", n=10, seed=0)
    generator = np.random.default_rng(0)
    counts, targets = generator.integers(1, 4, base.n), generator.normal(size=base.n)
    copies = np.repeat(np.arange(base.n), counts)
    of_task = {"task": formulation.task}
    labels = targets if formulation.task == "regression" else None
    problem = iopt.KernelProblem(base.K, labels, **of_task)
    again = None if labels is None else labels[copies]
    repeated = iopt.KernelProblem(base.K[np.ix_(copies, copies)], again, **of_task)
    weighted = formulation(weights=counts.astype(float))  # type: ignore[call-arg]
    found = iopt.bound(problem, weighted, gap=1e-7)
    best = iopt.solve(repeated, formulation()).objective
    assert found.lower - 1e-6 <= best <= found.upper + 1e-6
    result = iopt.solve(problem, weighted)
    assert result.objective == pytest.approx(best, rel=1e-6)
    assert result.certificate.claim >= iopt.Claim.LOCAL


BOUNDED = {"ConvexHullDual": "mu", "GuoSchuurmansQP": "beta", "GuoSchuurmansLP": "beta"}


@pytest.fixture
def crossed() -> iopt.KernelProblem:
    """-1 and 3 against -3 and 1 on the line.

    If no weight exceeds the share s of its class, s from 1/2 to 1, then the nearest points of the
    reduced hulls are z₊ = max(3 - 4s, 0) = -z₋.
    """
    X = np.array([[-1.0], [3.0], [-3.0], [1.0]])
    return iopt.KernelProblem.from_data(X, [1, 1, -1, -1], "linear")


@pytest.mark.parametrize(("relative", "nearest"), [(1.0, 1.0), (None, 0.6), (1.2, 0.6), (1.4, 0.2)])
def test_relative_bounds_have_the_values_of_the_line(
    crossed: iopt.KernelProblem, relative: float | None, nearest: float
) -> None:
    """With w = (z₊ - z₋)/2 the three objectives are -‖2w‖², ‖w‖² and the largest 2 y_i x_i w."""
    optimum = {
        "ConvexHullDual": -4.0 * nearest**2,
        "GuoSchuurmansQP": nearest**2,
        "GuoSchuurmansLP": 6.0 * nearest,
    }
    for name, value in optimum.items():
        formulation = getattr(iopt, name)(relative=relative)
        assert str(formulation) == (f"{name}(relative={relative:g})" if relative else name)
        result = iopt.solve(crossed, formulation)
        assert result.objective == pytest.approx(value, rel=1e-6)
        assert result.certificate.claim is iopt.Claim.GLOBAL
        assert not any("constant" in reason for reason in result.certificate.reasons)


@pytest.mark.parametrize("name", BOUNDED)
@pytest.mark.parametrize("relative", [1.5, 5.0])
def test_certificates_say_where_hulls_meet(
    crossed: iopt.KernelProblem, name: str, relative: float
) -> None:
    """From z₊ = 0 on; a bound beyond that of the whole hull is that of the whole hull."""
    result = iopt.solve(crossed, f"{name}(relative={relative})")
    assert result.objective == pytest.approx(0.0, abs=1e-9)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    reasons = " ".join(result.certificate.reasons)
    assert reasons.count("The classifier is constant") == 1
    assert np.ptp(result.classifier.decision_function(crossed.K)) < 1e-8


@pytest.mark.parametrize("name", ["ConvexHullDual", "GuoSchuurmansQP"])
def test_an_isotropic_normal_is_not_constant(name: str) -> None:
    """k = diag(1, -1, 1, -1), equal weights: the normal has norm 0, but the values differ."""
    problem = iopt.KernelProblem(np.diag([1.0, -1.0, 1.0, -1.0]), [1, 1, -1, -1])
    result = iopt.solve(problem, f"{name}(relative=1)")
    assert result.objective == 0.0
    values = result.classifier.decision_function(problem.K)
    assert_allclose(np.sign(values - values.mean()), [1, -1, -1, 1])
    assert not any("constant" in reason for reason in result.certificate.reasons)


@pytest.mark.parametrize("name", BOUNDED)
def test_defaults_classify_overlapping_classes(name: str) -> None:
    """Two spherical Gaussians: the best accuracy is Φ(0.7√2) = 0.839."""
    r = np.random.default_rng(0)
    y, y_new = np.repeat([1, -1], 50), np.repeat([1, -1], 1000)
    X, X_new = (r.normal(size=(t.size, 2)) + 0.7 * t[:, None] for t in (y, y_new))
    problem = iopt.KernelProblem.from_data(X, y, "linear")
    classifier = iopt.solve(problem, name).classifier
    assert np.mean(classifier.predict(problem.kernel_with(X_new)) == y_new) > 0.82


def test_relative_bounds_are_feasible_in_every_fold() -> None:
    """The least β̄ of all data, times 1.1, is infeasible with four fifths of them."""
    X = np.random.default_rng(0).normal(size=(35, 2))
    y = np.repeat([1, -1], [10, 25])
    problem = iopt.KernelProblem.from_data(X, y, "gaussian")
    methods = [f"{name}(relative={m})" for name in BOUNDED for m in (1, 1.1)]
    frame = iopt.compare(problem, methods).frame
    assert len(frame) == 30
    assert frame["error"].isna().all() or (frame["error"] == "").all()


@pytest.mark.parametrize(("name", "parameter"), BOUNDED.items())
def test_relative_bounds_are_at_least_one_and_alone(name: str, parameter: str) -> None:
    make: Any = getattr(iopt, name)
    with pytest.raises(iopt.errors.ParameterError, match="relative"):
        make(relative=0.99)
    with pytest.raises(iopt.errors.ParameterError, match=f"None if {parameter} is given"):
        make(relative=1.5, **{parameter: 0.5})
