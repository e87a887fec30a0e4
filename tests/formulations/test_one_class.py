"""What formulations of one class say of points: on the boundary, and of matrices and distances."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import indefinite_opt as iopt
from helpers import shaking
from indefinite_opt.errors import ParameterError, ProblemError

Array = NDArray[np.float64]

X = np.random.default_rng(0).normal(size=(60, 3))[shaking.order(60, "one class")]
NEW = np.random.default_rng(1).normal(size=(25, 3)) * np.linspace(0.5, 4.0, 25)[:, None]


def gaussian(A: Array, B: Array) -> Array:
    return np.exp(-0.3 * np.square(A[:, None] - B).sum(axis=2))


KERNELS = {
    "gaussian": gaussian,
    # Many points of the plane of the optimum: all weights may be off their bounds.
    "linear": lambda A, B: A @ B.T + 9.0,
    "indefinite": lambda A, B: np.tanh(A @ B.T - 0.5),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("nu", [1e-6, 0.05, 0.3])
def test_no_more_than_a_share_nu_is_outside(name: str, nu: float) -> None:
    K = KERNELS[name](X, X) * shaking.unit("one class", name)
    problem = iopt.KernelProblem(K)
    for formulation in (
        iopt.OneClassSVM(nu=nu), iopt.OneClassLP(nu=nu), iopt.SVDD(C=min(1.0, 1.0 / (60 * nu)))
    ):  # fmt: skip
        result = iopt.solve(problem, formulation)
        outside = result.predict(K) < 0
        assert outside.mean() <= nu + 1e-9
        # The sign of the decision value tells which points these are.
        assert_array_equal(result.decision_function(K) < 0.0, outside)
    estimator = iopt.IndefiniteOneClassSVM(kernel="precomputed", nu=nu).fit(K)
    assert (estimator.predict(K) < 0).mean() <= nu + 1e-9


def test_weights_off_their_bounds_are_on_the_boundary() -> None:
    K = gaussian(X, X)
    result = iopt.solve(iopt.KernelProblem(K), "OneClassSVM(nu=0.3)")
    alpha, most = result.values["alpha"], 1.0 / (0.3 * 60)
    free = (alpha > 1e-3 * most) & (alpha < (1.0 - 1e-3) * most)
    values = result.decision_function(K)
    assert free.any()
    assert_array_equal(values[free], 0.0)
    assert np.sum(values == 0.0) < 40  # the rest is inside or outside


@pytest.mark.parametrize("formulation", ["OneClassSVM(nu=0.3)", "OneClassLP(nu=0.3)"])
def test_a_constant_in_the_kernel_moves_no_point_across_the_boundary(formulation: str) -> None:
    K, rows = gaussian(X, X), gaussian(NEW, X)
    expected = iopt.solve(iopt.KernelProblem(K), formulation).predict(rows)
    assert {-1, 1} <= set(expected.tolist())
    moved = iopt.solve(iopt.KernelProblem(K + 2.0**12), formulation, tol=1e-9)
    assert_array_equal(moved.predict(rows + 2.0**12), expected)


def test_two_points_are_their_own_boundary() -> None:
    points = [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    problem = iopt.KernelProblem.from_data(points, None, "gaussian(gamma=0.3333)")
    result = iopt.solve(problem, "OneClassSVM(nu=0.5)")
    assert result.predict([*points, [100.0] * 3]).tolist() == [1, 1, -1]


# ----------------------------------------------------------------- k(x, x) of new points

CORNERS = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 1.0]])
"""The least circle around them has the centre (2, 0) and the radius 2."""
OTHERS = np.array([[2.0, 0.0], [2.0, 1.9], [2.0, 2.1]])
ROWS, OWN = OTHERS @ CORNERS.T, np.square(OTHERS).sum(axis=1)


def circle() -> iopt.Result:
    return iopt.solve(iopt.KernelProblem(CORNERS @ CORNERS.T), "SVDD(C=1)")


def test_a_ball_of_a_kernel_matrix_takes_k_of_new_points(tmp_path: Path) -> None:
    for result in (circle(), iopt.load(circle().save(tmp_path / "circle.npz"))):
        squares = np.square(OTHERS - [2.0, 0.0]).sum(axis=1)
        assert_allclose(result.decision_function(ROWS, OWN), 4.0 - squares, atol=1e-5)
        assert result.predict(ROWS, OWN).tolist() == [1, 1, -1]
        assert result.predict(ROWS, own=OTHERS @ OTHERS.T).tolist() == [1, 1, -1]


def test_a_ball_knows_k_of_its_own_points() -> None:
    K = CORNERS @ CORNERS.T
    assert circle().predict(K).tolist() == [1, 1, 1]
    assert_allclose(circle().decision_function(K[[2, 0]]), [3.0, 0.0], atol=1e-5)
    with pytest.raises(ProblemError, match=r"^own: expected k\(x, x\).*, and row 1 of X does"):
        circle().predict([K[0], ROWS[0]])


def test_k_of_new_points_is_refused_where_it_has_no_effect() -> None:
    with pytest.raises(ProblemError, match=r"^own: expected .* of shape \(3,\)"):
        circle().predict(ROWS, OWN[:2])
    plane = iopt.solve(iopt.KernelProblem(CORNERS @ CORNERS.T), "OneClassSVM(nu=0.5)")
    with pytest.raises(ParameterError, match="this classifier does not use"):
        plane.predict(ROWS, OWN)
    points = iopt.solve(iopt.KernelProblem.from_data(CORNERS, None, "linear"), "SVDD(C=1)")
    assert points.predict(OTHERS).tolist() == [1, 1, -1]
    with pytest.raises(ParameterError, match=r"k\(x, x\) is computed"):
        points.predict(OTHERS, OWN)


def test_a_ball_of_distances_needs_no_more_than_distances() -> None:
    # The rounding on this diagonal makes that of K differ.
    D = np.linalg.norm(CORNERS[:, None] - CORNERS, axis=2) + np.diag([0.0, 1e-7, 0.0])
    problem = iopt.KernelProblem.from_distances(D, None, "linear")
    new = np.linalg.norm(OTHERS[:, None] - CORNERS, axis=2)
    assert iopt.solve(problem, "SVDD(C=1)").predict(new).tolist() == [1, 1, -1]


def test_a_joint_treatment_takes_the_kernel_among_new_points() -> None:
    K, y = KERNELS["indefinite"](X, X), np.where(X[:, 0] > 0.0, 1, -1)
    rows, among = KERNELS["indefinite"](NEW, X), KERNELS["indefinite"](NEW, NEW)
    formulation = iopt.SpectrumSVM(C=1.0, transform="clip", new_points="joint")
    result = iopt.solve(iopt.KernelProblem(K, y), formulation)
    values = result.decision_function(rows, among)
    assert_allclose(values, result.classifier.decision_function(rows, among))


# ----------------------------------------------------------------------- linear programs


@pytest.mark.parametrize("n", [2, 3, 5, 6, 7, 10, 13, 20, 49, 98, 103])
def test_nu_of_one_is_certified_on_any_number_of_points(n: int) -> None:
    """The only multipliers are 1/n: the optimum is the largest mean of a column, here a fraction.

    For n = 49, for example, n times the double that is nearest to 1/n is less than 1.
    """
    entries = np.random.default_rng(n).integers(0, 9, size=(n, n))
    K = entries + entries.T
    result = iopt.solve(iopt.KernelProblem(K), "OneClassLP(nu=1)")
    best = max(Fraction(int(total), n) for total in K.sum(axis=0))
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert result.objective == pytest.approx(float(best), rel=1e-9)
    assert result.certificate.bound >= float(best) * (1.0 - 1e-9)


def test_the_declared_price_is_the_least_number_that_is_not_below_the_exact_one() -> None:
    for n in range(2, 60):
        for nu in (1.0, 0.3, 1.0 / 3.0):
            program = iopt.OneClassLP(nu=nu).program(iopt.KernelProblem(np.eye(n)))
            price, exact = program.variables["xi"].cost, 1 / (Fraction(nu) * n)
            assert Fraction(float(np.nextafter(price, 0.0))) < exact <= Fraction(price)


def far_away() -> tuple[Array, Array]:
    """Distances of 40 points, and of 15 new ones near them and 15 far away, from those 40."""
    generator = np.random.default_rng(3)
    points = generator.normal(size=(70, 2))
    points[55:] += 6.0
    D = np.linalg.norm(points[:, None] - points, axis=2)
    D = 0.5 * (D + D.T)
    return D[:40, :40], D[40:, :40]


@pytest.mark.parametrize("form", ["linear", "gaussian", "exponential"])
def test_distances_are_those_of_the_problem_whatever_its_kernel(form: str, tmp_path: Path) -> None:
    D, new = far_away()
    raw = iopt.solve(iopt.KernelProblem.from_distances(D, form="raw"), LPDD)
    result = iopt.solve(iopt.KernelProblem.from_distances(D, form=form), LPDD)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert result.objective == pytest.approx(raw.objective, rel=1e-9)
    # The program of any matrix, said in distances.
    w, rho = result.values["w"], float(result.values["rho"])
    for each in (result, iopt.load(result.save(tmp_path / "model.npz"))):
        assert_allclose(each.decision_function(new), rho - new @ w, atol=1e-5)
        assert_array_equal(each.predict(new)[15:], -1)
        assert (each.predict(D) < 0).mean() <= 0.1
    with pytest.raises(ProblemError, match="distances of new points from the training points"):
        result.classifier.predict(new[:, 1:])


LPDD = "OneClassLP(nu=0.1, distances=True)"


def test_distances_are_refused_where_there_are_none() -> None:
    problem = iopt.KernelProblem.from_data(X, None, "gaussian")
    with pytest.raises(ProblemError, match=r"^problem: expected a problem of distances.*form=raw"):
        iopt.solve(problem, LPDD)
    with pytest.raises(ProblemError, match="nonnegative distances"):
        iopt.solve(iopt.KernelProblem(-np.eye(3)), LPDD)
    cityblock = iopt.KernelProblem.from_data(X, None, "distance(distance=cityblock, form=raw)")
    result = iopt.solve(cityblock, LPDD)
    far = result.predict([[9.0, 9.0, 9.0], X.mean(axis=0)])
    assert far.tolist() == [-1, 1]


def test_comparisons_test_with_distances() -> None:
    points = np.random.default_rng(3).normal(size=(70, 2))
    points[55:] += 6.0
    y = np.where(np.arange(70) < 55, "known", "far")
    D = np.linalg.norm(points[:, None] - points, axis=2)
    for form in ("raw", "gaussian"):
        problem = iopt.KernelProblem.from_distances(0.5 * (D + D.T), y, form, task="one class")
        comparison = iopt.compare(problem, [LPDD], folds=3, seed=0)
        assert min(comparison.frame["auc"]) == 1.0


# ------------------------------------------------------------------------- margin errors


def test_margin_errors_are_counted_where_nu_does_not_bound_them() -> None:
    generator = np.random.default_rng(1)
    points = generator.normal(size=(50, 3))
    y = np.where(points[:, 0] + 0.7 * generator.normal(size=50) > 0.0, 1, -1)
    told = 0
    for K in (np.tanh(0.5 * points @ points.T - 0.6), gaussian(points, points)):
        for nu in (0.1, 0.3, 0.6):
            result = iopt.solve(iopt.KernelProblem(K, y), iopt.NuSVM(nu=nu))
            margins = y * result.classifier.decision_function(K)
            rho = float(np.ravel(result.multipliers["total"])[0])
            share = float(np.mean(margins < rho - 1e-6 * np.abs(margins).max()))
            said = [one for one in result.certificate.reasons if "margin errors" in one]
            assert share <= nu + 1e-9 or f"they are {100.0 * share:.3g} %" in said[0]
            assert not (said and share <= nu)
            told += bool(said)
    assert told


def test_outliers_are_counted_where_a_point_is_not_stationary() -> None:
    """With K = I the points without weight are the farther ones: f is -1/8 there, and else 1/8."""
    problem, alpha = iopt.KernelProblem(np.eye(10)), np.repeat([0.25, 0.0], [4, 6])
    certificate = iopt.verify(problem, "OneClassSVM(nu=0.4)", {"alpha": alpha})
    assert certificate.claim is iopt.Claim.FEASIBLE
    told = "60 % of the training points are outliers, where a stationary point has at most 40 %."
    assert told in certificate.reasons
    solved = iopt.solve(problem, "OneClassSVM(nu=0.4)").certificate
    assert not [one for one in solved.reasons if "outliers" in one]
