"""What a kernel problem remembers of the type in which its numbers came."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import indefinite_opt as iopt
from helpers import shaking
from indefinite_opt.quadratic import zero_tolerance
from indefinite_opt.studies.report.verdict import _negative_part

N = 120
ORDER = shaking.order(N, "coarse types")
POINTS = np.linspace(500.0, 501.0, N)[ORDER, None]
LABELS = np.where(np.sin(9.0 * POINTS[:, 0]) > 0.0, 1, -1)


def narrow(points: Any = POINTS) -> Any:
    """exp(-d²/2), positive semidefinite but for the rounding of its type."""
    return np.exp(-((points - points.T) ** 2) / 2)


SINGLE = narrow().astype(np.float32)


def text(certificate: Any) -> str:
    return " ".join(str(certificate).split())


def test_eigenvalues_within_the_rounding_of_the_type_count_as_zero() -> None:
    single, double = iopt.KernelProblem(SINGLE, LABELS), iopt.KernelProblem(narrow(), LABELS)
    tolerance = zero_tolerance(N, single.gram.norm) * 2.0**29  # 2⁻²³ beside 2⁻⁵²
    assert single.centered_spectrum.least_counted == pytest.approx(tolerance, rel=1e-12)
    values = np.linalg.eigvalsh(single.centered)
    assert single.signature == (np.sum(values > tolerance), 0)
    assert single.negative_share == 0.0
    assert double.signature[1] == 0
    assert double.counted_as_zero == ""
    assert single.counted_as_zero.startswith("numbers came as float32: eigenvalues up to 0.0")
    # As doubles the same entries have negative eigenvalues, which no type explains.
    kept = iopt.KernelProblem(SINGLE.astype(float), LABELS)
    assert kept.signature[1] > N / 4
    beyond = single.centered_spectrum.inertia_beyond(single.centered_spectrum.zero_tolerance)
    assert beyond.negative == kept.signature[1]


def test_the_certificate_names_the_type_and_claims_no_more() -> None:
    """Convexity of the matrix as it is, is not proved by what counts in signatures.

    In so wide a box rounding to single precision is worth more than the tolerance.
    """
    single, kept = (
        iopt.solve(iopt.KernelProblem(K, LABELS), iopt.SVMDual(C=1e4))
        for K in (SINGLE, SINGLE.astype(float))
    )
    words = "The negative part of K may be rounding, as its numbers came as float32: eigenvalues up"
    assert words in text(single.certificate)
    assert "float32" not in text(kept.certificate)
    assert single.objective == pytest.approx(kept.objective, rel=1e-6)
    assert single.certificate.claim is kept.certificate.claim
    assert single.certificate.claim < iopt.Claim.GLOBAL
    assert "float32" not in text(iopt.solve(iopt.KernelProblem(narrow(), LABELS), "SVMDual"))


def test_a_large_negative_eigenvalue_is_no_rounding() -> None:
    K = SINGLE - np.float32(0.5) * np.eye(N, dtype=np.float32)[[0]].T @ np.eye(N)[[0]]
    problem = iopt.KernelProblem(K.astype(np.float32), LABELS)
    assert problem.signature[1] == 1
    assert problem.curved_by_rounding(lines=1) == ""
    assert "may be rounding" not in text(iopt.solve(problem, "SVMDual").certificate)


@pytest.mark.parametrize("known", [False, True])
def test_the_sentence_needs_no_spectrum(known: bool) -> None:
    problem = iopt.KernelProblem(SINGLE, LABELS)
    assert not known or problem.spectrum.minimum < 0.0
    assert problem.curved_by_rounding(lines=0).startswith("The negative part of K may be rounding")


@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "int8"])
def test_the_type_of_a_matrix_of_points_and_of_distances(kind: str) -> None:
    X = np.round(4.0 * np.random.default_rng(0).standard_normal((20, 2)))
    D, y = np.abs(X[:, :1] - X[:, :1].T), np.resize([1, -1], 20)
    made = [
        iopt.KernelProblem((X @ X.T).astype(kind), y),
        iopt.KernelProblem(pd.DataFrame((X @ X.T).astype(kind)), y),
        iopt.KernelProblem.from_data(X.astype(kind), y, "linear"),
        iopt.KernelProblem.from_distances(D.astype(kind), y, "linear"),
    ]
    expected = "float64" if kind == "int8" else kind
    for problem in made:
        assert problem.gram.came_as == expected
        assert (problem.counted_as_zero == "") == (expected == "float64")
        parts = [problem.split(np.arange(10), np.arange(10, 20)).problem, problem.relabelled(-y)]
        parts += [problem.transformed("clip"), pickle.loads(pickle.dumps(problem))]
        for part in parts:
            assert part.gram.came_as == expected
    scaled = iopt.KernelProblem.from_data(X.astype(kind), y, "linear", scaling="unit")
    assert scaled.split(np.arange(10), np.arange(10, 20)).problem.gram.came_as == expected
    assert scaled.with_kernel("rbf").gram.came_as == expected


def test_a_kernel_that_computes_in_a_coarse_type() -> None:
    def kernel(X: Any, Z: Any) -> Any:
        return np.exp(-((X - Z.T) ** 2) / 2).astype(np.float32)

    problem = iopt.KernelProblem.from_data(POINTS, LABELS, kernel)
    assert problem.gram.came_as == np.float32
    assert problem.signature[1] == 0


def test_reports_say_so() -> None:
    problem = iopt.KernelProblem(SINGLE, LABELS)
    p, _ = problem.signature
    assert problem.counted_as_zero in problem._repr_html_()
    words = _negative_part(problem)
    assert words.startswith(f"The centred kernel matrix has signature ({p}, 0): it is positive")
    assert "up to rounding. Its numbers came as float32: eigenvalues up to" in words
    double = _negative_part(iopt.KernelProblem(narrow(), LABELS))
    assert double.endswith("it is positive semidefinite.")
