"""Precomputed matrices in the types of other packages, a unit in the last place from symmetric."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import indefinite_opt as iopt

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((40, 3))
Y = np.where(X[:, 0] + 0.3 * RANDOM.standard_normal(40) > 0.0, "yes", "no")
K = np.tanh(0.5 * X @ X.T - 1.0)
D = np.abs(X[:, None] - X).sum(axis=2)
HALVES = [np.float32, np.float16]


def shaken(matrix: Any, kind: Any) -> Any:
    """The matrix in a type, its upper half a unit in the last place larger than the lower one."""
    rounded = matrix.astype(kind)
    rounded = np.where(np.tri(len(rounded), k=-1, dtype=bool), rounded, rounded.T)
    above = np.triu_indices(len(rounded), 1)
    rounded[above] = np.nextafter(rounded[above], kind(np.inf))
    return rounded


def mean(matrix: Any) -> Any:
    doubles = np.asarray(matrix, np.float64)
    return 0.5 * (doubles + doubles.T)


PRECOMPUTED: dict[str, tuple[Any, Any]] = {
    "IndefiniteSVC": (iopt.IndefiniteSVC(kernel="precomputed", probability=True), K),
    "KernelClassifier": (iopt.KernelClassifier("LPSVM", kernel="precomputed"), K),
    "distances": (iopt.KernelClassifier("SVMDual", kernel="distance", metric="precomputed"), D),
}
"""Estimators, and the matrices that they take."""


@pytest.mark.parametrize("name", PRECOMPUTED)
@pytest.mark.parametrize(
    "typed",
    [
        lambda matrix: shaken(matrix, np.float16),
        lambda matrix: pd.DataFrame(shaken(matrix, np.float32)),
    ],
    ids=["half", "frame"],
)
def test_a_matrix_trains_as_its_symmetric_part(name: str, typed: Any) -> None:
    estimator, matrix = PRECOMPUTED[name]
    given = typed(matrix)
    decisions = estimator.fit(given, Y).decision_function(given)
    np.testing.assert_allclose(
        decisions, estimator.fit(mean(given), Y).decision_function(given), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("kind", HALVES)
def test_a_spectrum_is_that_of_the_symmetric_part(kind: Any) -> None:
    given = shaken(K, kind)
    changed = iopt.SpectrumTransformer("shift").fit_transform(given)
    least = np.linalg.eigvalsh(mean(given)).min()
    rows = given.astype(np.float64) - least * np.eye(40)
    np.testing.assert_allclose(changed, rows, rtol=0.0, atol=1e-10)
    embedded = iopt.PseudoEuclideanEmbedding(kernel="precomputed").fit(given)
    symmetric = iopt.PseudoEuclideanEmbedding(kernel="precomputed").fit(mean(given))
    np.testing.assert_array_equal(embedded.eigenvalues_, symmetric.eigenvalues_)


@pytest.mark.parametrize("kind", HALVES)
def test_a_kernel_function_of_lower_precision_is_averaged(kind: Any) -> None:
    def kernel(A: Any, B: Any) -> Any:
        """k(x, z) and k(z, x) are rounded to different sides."""
        A, B = (each.toarray() if sparse.issparse(each) else np.asarray(each) for each in (A, B))
        values = np.tanh(0.5 * A @ B.T - 1.0).astype(kind)
        turned = A[:, :1] > B[:, 0]
        return np.where(turned, np.nextafter(values, kind(np.inf)), values)

    problem = iopt.KernelProblem.from_data(X, Y, kernel)
    np.testing.assert_array_equal(problem.K, mean(kernel(X, X)))
    for points in (X, sparse.csr_array(X)):
        fitted = iopt.IndefiniteSVC(kernel=kernel).fit(points, Y)
        assert fitted.score(points, Y) > 0.8
    # Rows on demand are not averaged.
    said = "Compute its values in float64, or form K by cache_mb=math.inf"
    with pytest.raises(iopt.errors.ProblemError, match=said):
        iopt.KernelProblem.from_data(X, Y, kernel, cache_mb=1.0)


@pytest.mark.parametrize("name", PRECOMPUTED)
def test_the_advice_on_an_asymmetric_matrix_can_be_followed(name: str) -> None:
    estimator, matrix = PRECOMPUTED[name]
    wrong = matrix + 1e-3 * (np.arange(1600).reshape(40, 40) == 1)
    letter = "D" if matrix is D else "K"
    with pytest.raises(iopt.errors.ProblemError) as caught:
        estimator.fit(wrong, Y)
    assert f"{letter}[0, 1] = " in caught.value.got
    assert caught.value.hint == f"Fit to ({letter} + {letter}.T) / 2."
    estimator.fit((wrong + wrong.T) / 2, Y)


def test_similarities_in_the_place_of_distances_are_refused_with_what_to_do() -> None:
    estimator, _ = PRECOMPUTED["distances"]
    with pytest.raises(iopt.errors.ProblemError, match='kernel="precomputed", without a metric'):
        estimator.fit(D + np.eye(40), Y)
    iopt.KernelClassifier("SVMDual", kernel="precomputed").fit(D + np.eye(40), Y)
