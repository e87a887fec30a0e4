"""Residuals of linear programs, from multipliers whose conditions were worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt.errors import SolverFailed
from indefinite_opt.quadratic.solving.solution import Solution, Status
from indefinite_opt.solvers.external.highs import Highs

Claim = iopt.Claim


@pytest.mark.parametrize(
    ("xi", "margin", "slack", "stationarity", "complementarity", "claim"),
    [
        (0.0, 0.5, (8.5, 8.5), 0.0, 0.0, "GLOBAL"),
        # λ = (0.5, 0.7): yᵀλ = -0.2 for the free b, |K(y∘λ)| = 1.2 for coefficients that cost 1.
        # Both miss by 0.2, relative to the largest price, 9.
        (0.0, 0.7, (8.5, 8.3), 0.2 / 9.0, 0.0, "FEASIBLE"),
        # ξ₁ = 0.1 is not needed: 8.5·0.1 for ξ₁ ≥ 0 and 0.5·0.1 for its row, of a value of 1.9.
        (0.1, 0.5, (8.5, 8.5), 0.0, 0.9 / 1.9, "FEASIBLE"),
        # The price of a slack is 9; what is given for it is off by half of 9e-6, and by twice.
        (0.0, 0.5, (8.5 + 5e-6, 8.5), 0.0, 0.0, "GLOBAL"),
        (0.0, 0.5, (8.5 + 2e-5, 8.5), 0.0, 0.0, "FEASIBLE"),
        (0.0, 0.5, (8.5, -0.25), 0.0, 0.0, "FEASIBLE"),
    ],
)
def test_residuals_of_multipliers(
    xi: float, margin: float, slack: tuple[float, float], stationarity: float,
    complementarity: float, claim: str,
) -> None:  # fmt: skip
    """K = (1, -1; -1, 1), C = 9: u = (½, -½) has the margins 1 and the value 1, λ = (½, ½)."""
    problem = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    values = {"u": [0.5, -0.5], "b": 0.0, "xi": [xi, 0.0]}
    multipliers = {"margin": [0.5, margin], "slack": slack}
    certificate = iopt.verify(problem, iopt.LPSVM(C=9.0), values, multipliers)
    assert certificate.claim is Claim[claim]
    assert certificate.stationarity == pytest.approx(stationarity, rel=1e-12)
    assert certificate.complementarity == pytest.approx(complementarity, rel=1e-12, abs=1e-15)
    assert (certificate.curvature, certificate.gap_kind) == (0.0, "duality gap")
    said = "The multipliers of 'slack' must be nonnegative; the least is -0.25."
    assert (said in str(certificate)) == (min(slack) < 0.0)


def game(
    upper: float, total: float, alpha: list[float] | None = None
) -> iopt.workflow.certificates.Certificate:
    """K = I, β̄ = ½: α = e/4, δ = ½, and Δπ = ½e for π = e/4."""
    problem = iopt.KernelProblem(np.eye(4), [1, 1, -1, -1])
    weights = np.full(4, 0.25) if alpha is None else np.array(alpha)
    multipliers = {
        "sensitivity": np.full(4, 0.25), "balance": 0.0, "total": total,
        "lower": np.zeros(4), "upper": np.full(4, upper),
    }  # fmt: skip
    values = {"alpha": weights, "delta": 2.0 * weights.max()}
    return iopt.verify(problem, iopt.GuoSchuurmansLP(beta=0.5), values, multipliers)


def test_upper_ends_have_multipliers_of_the_other_sign() -> None:
    """Reduced costs are ½ + total: with total = -0.8 they pull all α to β̄, ¼ away: 4·0.3/4."""
    assert game(upper=0.0, total=-0.5).claim is Claim.GLOBAL
    certificate = game(upper=0.3, total=-0.8)
    assert certificate.claim is Claim.FEASIBLE
    assert certificate.complementarity == pytest.approx(0.3 / 0.5, rel=1e-12)
    assert certificate.stationarity == 0.0
    for wrong, said in ((0.1, "do not agree"), (-0.1, "must be nonnegative")):
        certificate = game(upper=wrong, total=-0.5)
        assert certificate.claim is Claim.FEASIBLE
        assert "'upper'" in str(certificate)
        assert said in str(certificate)
    # At their upper end nothing is wrong with such a multiplier.
    edge = game(upper=0.3, total=-0.8, alpha=[0.5, 0.0, 0.5, 0.0])
    assert edge.complementarity == pytest.approx((2 * 0.3 * 0.5 + 2 * 0.25 * 1.0) / 1.0, rel=1e-12)


def test_a_gap_that_multipliers_do_not_close() -> None:
    """α = (½, 0, ½, 0) has δ = 1, and the bound is ½: half of the objective is missing."""
    problem = iopt.KernelProblem(np.eye(4), [1, 1, -1, -1])
    values = {"alpha": [0.5, 0.0, 0.5, 0.0], "delta": 1.0}
    certificate = iopt.verify(problem, iopt.GuoSchuurmansLP(beta=0.5), values)
    assert certificate.claim is Claim.FEASIBLE
    assert certificate.bound == pytest.approx(0.5, rel=1e-12)
    assert certificate.relative_gap == pytest.approx(0.5, rel=1e-12)
    assert "the bound leaves a duality gap of 5.00e-01" in str(certificate)


def test_a_negative_norm_is_told() -> None:
    """K = -I, C = 1: α = (1, 1) has αᵀQα = -2, and 4·(-2)/2² = -2."""
    problem = iopt.KernelProblem(-np.eye(2), [1, -1])
    certificate = iopt.verify(problem, iopt.SVMDual(C=1.0), {"alpha": [1.0, 1.0]})
    assert certificate.claim is Claim.LOCAL
    assert "squared norm -2:" in str(certificate)
    positive = iopt.KernelProblem(np.eye(2), [1, -1])
    assert "squared norm" not in str(iopt.solve(positive, iopt.SVMDual(C=1.0)).certificate)
    zero = iopt.verify(problem, iopt.ConvexHullDual(mu=1.0), {"alphabar": [1.0, 1.0]})
    assert "squared norm" in str(zero)


def test_the_class_means_are_compared_only_if_the_matrix_is_in_memory() -> None:
    """The kernel -xz on 1 and -1: the means have squared distance -4, so has the normal."""
    labels, values = [1, -1], {"alpha": [1.0, 1.0]}

    def said(**options: float) -> str:
        problem = iopt.KernelProblem.from_data(
            [[1.0], [-1.0]], labels, iopt.kernels.PseudoEuclidean(p=0), **options
        )
        return " ".join(iopt.verify(problem, iopt.SVMDual(C=1.0), values).reasons)

    assert "squared distance -4" in said()
    assert "squared norm -4" in said(cache_mb=1.0)
    assert "squared distance" not in said(cache_mb=1.0)


@pytest.mark.parametrize("outcome", [SolverFailed("no time"), None])
def test_without_multipliers_a_point_is_feasible(
    outcome: SolverFailed | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HiGHS may end without a point, or with one and no multipliers."""
    problem = iopt.KernelProblem(np.eye(4), [1, 1, -1, -1])
    values = iopt.solve(problem, "LPSVM").values

    def solve(solver: Highs, task: object) -> Solution:
        if outcome is not None:
            raise outcome
        return Solution(values, Status.TIME_LIMIT)

    monkeypatch.setattr(Highs, "solve", solve)
    certificate = iopt.verify(problem, "LPSVM", values)
    assert certificate.claim is Claim.FEASIBLE
    assert certificate.bound == -np.inf
    assert certificate.stationarity == certificate.complementarity == np.inf
