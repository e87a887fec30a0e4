"""Formulations on kernels kept as factors, against the same on the whole matrix."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers import shaking
from indefinite_opt.quadratic.solving.solution import Status


def pair(n: int = 90, seed: int = 0) -> tuple[iopt.KernelProblem, iopt.KernelProblem]:
    """The same kernel of rank 6 as factors and as a matrix."""
    generator = np.random.default_rng(seed)
    F = generator.standard_normal((n, 6)) * [2.0, 1.0, 1.0, 0.5, 1.0, 0.5]
    y = np.where(F[:, 0] + F[:, 1] * F[:, 4] + 0.5 * generator.standard_normal(n) > 0.0, 1, -1)
    shaken = shaking.order(n, seed)
    F, y = F[shaken], y[shaken]
    signs = [1, 1, 1, 1, -1, -1]
    whole = iopt.KernelProblem((F * signs) @ F.T, y)
    return iopt.KernelProblem.from_factors(F, signs, y), whole


CONVEX = (
    "SpectrumSVM(C=2, transform=clip)", "SpectrumSVM(C=2, transform=flip)",
    "SpectrumSVM(C=2, transform=flip, centered=True)",
    "SpectrumSVM(C=2, transform=clip, centered=True)",
    "ESVM(C=2)", "ESVM(C=2, energy=0.8)", "ESVM(C=2, rank=3)", "KernelLogistic(C=2)",
    "LussDual(C=2, rho=10)", "LussBall(C=2)", "LPSVM(C=2)", "UniformWeights",
)  # fmt: skip


@pytest.mark.parametrize("title", CONVEX)
def test_objectives_and_decisions_are_those_of_the_matrix(title: str) -> None:
    factored, whole = pair()
    ours, theirs = iopt.solve(factored, title, tol=1e-8), iopt.solve(whole, title, tol=1e-8)
    assert ours.certificate.claim is iopt.Claim.GLOBAL
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-7)
    F_new = np.random.default_rng(1).standard_normal((7, 6))
    rows = factored.kernel_with(F_new)
    np.testing.assert_allclose(
        ours.classifier.decision_function(rows), theirs.classifier.decision_function(rows),
        atol=1e-4,
    )  # fmt: skip


@functools.cache
def of_the_matrix(formulation: iopt.Formulation) -> float:
    return iopt.solve(pair()[1], formulation, tol=1e-10).objective


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2, 3))])
def test_proxies_of_factors_close_their_gap_whatever_rounding_does(seed: int) -> None:
    """Another order of the points and another power of two as unit change the rounding alone.

    The tolerance is a hundred times what the bound sets aside for rounding, 7e-11 of the objective.
    """
    generator = np.random.default_rng(seed)
    factored, whole = pair()
    assert factored.factors is not None
    order, unit = generator.permutation(whole.n), 2.0 ** generator.integers(-20, 21)
    F, signs = unit * factored.factors.factors[order], factored.factors.signs
    moved = iopt.KernelProblem.from_factors(F, signs, whole.labels[order])
    for formulation, same in (
        (iopt.LussBall(C=2.0), iopt.LussBall(C=2.0 / unit**2)),
        (iopt.LussDual(C=2.0, rho=10.0), iopt.LussDual(C=2.0 / unit**2, rho=10.0 / unit**6)),
    ):
        ours = iopt.solve(moved, same, tol=1e-8)
        assert ours.status is Status.SOLVED
        assert ours.certificate.claim is iopt.Claim.GLOBAL
        assert ours.objective * unit**2 == pytest.approx(of_the_matrix(formulation), rel=2e-8)


@pytest.mark.parametrize("signs", [[1] * 7, [1, 1, 1, 1, -1, -1, -1]])
@pytest.mark.parametrize("title", ["LussDual(C=0.05, rho=0.1)", "LussBall(C=0.05, radius=30000)"])
def test_proxies_of_factors_with_more_columns_than_rows(title: str, signs: list[int]) -> None:
    """The eigenvectors of K₀ then span the whole space."""
    F = np.random.default_rng(0).integers(-4, 5, (5, 7)).astype(float)
    factored = iopt.KernelProblem.from_factors(F, signs, [1, -1, 1, -1, 1])
    whole = iopt.KernelProblem((F * signs) @ F.T, [1, -1, 1, -1, 1])
    ours, theirs = iopt.solve(factored, title, tol=1e-9), iopt.solve(whole, title, tol=1e-9)
    assert ours.certificate.claim is iopt.Claim.GLOBAL
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-8)


LINEAR = ("LPSVM(C=0.1)", "LPSVM(C=10)")


@pytest.mark.parametrize("title", LINEAR)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 100.0])
def test_certificates_of_linear_programs_hold_for_the_matrix(title: str, scale: float) -> None:
    """The values and multipliers of either problem are optimal for the other."""
    few, _ = pair()
    assert few.factors is not None
    F, signs = scale * few.factors.factors, few.factors.signs
    factored = iopt.KernelProblem.from_factors(F, signs, few.labels)
    whole = iopt.KernelProblem((F * signs) @ F.T, few.labels)
    for mine, other in ((factored, whole), (whole, factored)):
        result = iopt.solve(mine, title)
        there = iopt.verify(other, title, result.values, result.multipliers)
        assert there.claim is result.certificate.claim is iopt.Claim.GLOBAL
        assert there.objective == pytest.approx(result.objective, rel=1e-9)
        assert result.certificate.bound <= there.objective * (1.0 + 1e-12)


def test_a_linear_program_of_more_points_is_solved_without_its_kernel_matrix() -> None:
    factored, whole = pair(n=450)
    ours, theirs = iopt.solve(factored, "LPSVM(C=0.2)"), iopt.solve(whole, "LPSVM(C=0.2)")
    assert (ours.solver, ours.certificate.claim) == ("highs", iopt.Claim.GLOBAL)
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-6)


def test_a_bound_of_a_linear_program_holds_for_any_multipliers() -> None:
    factored, whole = pair()
    best = iopt.solve(whole, "LPSVM(C=2)", tol=1e-9).objective
    generator = np.random.default_rng(0)
    for _ in range(20):
        margin = generator.exponential(0.3, factored.n)
        bound = iopt.LPSVM(C=2.0).dual_bound(factored, {"margin": margin})
        assert 0.0 < bound <= best
        assert bound == pytest.approx(iopt.LPSVM(C=2.0).dual_bound(whole, {"margin": margin}))


def test_the_kept_share_of_the_spectrum_is_that_of_the_matrix() -> None:
    factored, whole = pair()
    for kept in (iopt.ESVM(energy=0.8), iopt.ESVM(rank=3)):
        ours, theirs = kept.stabilised(factored), kept.stabilised(whole)
        np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-10)
    assert iopt.ESVM(energy=0.8).stabilised(factored).share == pytest.approx(
        np.abs(iopt.ESVM(energy=0.8).stabilised(whole).values).sum()
        / np.abs(whole.spectrum.values).sum()
    )


def test_a_shift_is_refused() -> None:
    factored, _ = pair()
    with pytest.raises(iopt.errors.ProblemError, match="A shift makes the rank n"):
        iopt.solve(factored, "SpectrumSVM(transform=shift)")
