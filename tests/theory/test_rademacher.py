"""Proposition 3.1 of Loosli et al. against the average over all signs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.linalg

import indefinite_opt as iopt
from helpers.problems import noisy_problem
from indefinite_opt.theory import loosli_proposition_3_1


def average(K: np.ndarray) -> float:
    """E √(εᵀ|K|ε/n) over all 2ⁿ signs, |K| as the root of K²."""
    magnitude = np.real(scipy.linalg.sqrtm(K @ K))
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=len(K))))
    squares = np.einsum("si,ij,sj->s", signs, magnitude, signs)
    return float(np.sqrt(np.maximum(squares, 0.0) / len(K)).mean())


@pytest.mark.parametrize(("kernel", "seed"), [("noise", 0), ("epanechnikov", 1), ("gaussian", 3)])
def test_the_average_lies_between_the_bound_and_its_share(kernel: str, seed: int) -> None:
    """The constant 1/√2 of Khinchin's inequality is that of Latała & Oleszkiewicz (1994)."""
    problem = noisy_problem(kernel, n=10, seed=seed)
    bound, exact = loosli_proposition_3_1(problem), average(problem.K)
    assert bound / np.sqrt(2) - 1e-9 <= exact <= bound


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_diag_1_minus_1(scale: float) -> None:
    """εᵀ|K|ε = 2 for all signs, so that the bound is attained: √scale."""
    problem = iopt.KernelProblem(scale * np.diag([1.0, -1.0]), [1, -1])
    assert loosli_proposition_3_1(problem) == pytest.approx(np.sqrt(scale), rel=1e-12)
    assert loosli_proposition_3_1(problem) >= average(problem.K)
    # So is 1 for a unit diagonal without a negative part.
    assert loosli_proposition_3_1(noisy_problem("gaussian", n=30)) == pytest.approx(1.0, rel=1e-12)
