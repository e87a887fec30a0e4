"""Bounds of weights that are relative to the least feasible one, and hulls that meet."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt

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
@pytest.mark.parametrize("relative", [1.5, 2, 5.0])
def test_certificates_say_where_hulls_meet(
    crossed: iopt.KernelProblem, name: str, relative: float
) -> None:
    """From z₊ = 0 on; a bound beyond that of the whole hull is that of the whole hull."""
    result = iopt.solve(crossed, f"{name}(relative={relative})")
    assert result.objective == pytest.approx(0.0, abs=1e-9)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    constant = [r for r in result.certificate.reasons if "The classifier is constant" in r]
    assert len(constant) == 1
    K = crossed.K
    values = result.classifier.decision_function(K)
    assert np.ptp(values) < 1e-8


@pytest.mark.parametrize("name", ["ConvexHullDual", "GuoSchuurmansQP"])
def test_an_isotropic_normal_is_not_constant(name: str) -> None:
    """k = diag(1, -1, 1, -1), equal weights: the normal has norm 0, but the values differ."""
    problem = iopt.KernelProblem(np.diag([1.0, -1.0, 1.0, -1.0]), [1, 1, -1, -1])
    result = iopt.solve(problem, f"{name}(relative=1)")
    assert result.objective == 0.0
    values = result.classifier.decision_function(problem.K)
    np.testing.assert_allclose(np.sign(values - values.mean()), [1, -1, -1, 1])
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
    for wrong in (0.99, 0.0, -1.0, np.nan, np.inf, "1.2", True):
        with pytest.raises(iopt.errors.ParameterError, match="relative"):
            make(relative=wrong)
    with pytest.raises(iopt.errors.ParameterError, match=f"None if {parameter} is given"):
        make(relative=1.5, **{parameter: 0.5})
