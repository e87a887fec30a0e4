"""Precomputed matrices in the types of other packages, a unit in the last place from symmetric."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.svm import SVC

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
    doubles = matrix.astype(np.float64)
    return 0.5 * (doubles + doubles.T)


OF_KERNELS: dict[str, Callable[[], Any]] = {
    "IndefiniteSVC": lambda: iopt.IndefiniteSVC(kernel="precomputed"),
    "probability": lambda: iopt.IndefiniteSVC(kernel="precomputed", probability=True),
    "KernelClassifier": lambda: iopt.KernelClassifier("LPSVM", kernel="precomputed"),
}


@pytest.mark.parametrize("kind", HALVES)
@pytest.mark.parametrize("name", OF_KERNELS)
def test_a_kernel_matrix_trains_as_its_symmetric_part(name: str, kind: Any) -> None:
    given = shaken(K, kind)
    SVC(kernel="precomputed").fit(given, Y)  # takes it, too
    fitted, plain = OF_KERNELS[name]().fit(given, Y), OF_KERNELS[name]().fit(mean(given), Y)
    np.testing.assert_array_equal(
        fitted.decision_function(mean(given)), plain.decision_function(mean(given))
    )
    assert np.mean(fitted.predict(given) == Y) > 0.8


@pytest.mark.parametrize("kind", HALVES)
def test_a_matrix_of_distances_trains_as_its_symmetric_part(kind: Any) -> None:
    def made() -> Any:
        return iopt.KernelClassifier("SVMDual", kernel="distance", metric="precomputed")

    given = shaken(D, kind)
    fitted, plain = made().fit(given, Y), made().fit(mean(given), Y)
    np.testing.assert_array_equal(
        fitted.decision_function(mean(given)), plain.decision_function(mean(given))
    )


def test_a_frame_in_single_precision_trains() -> None:
    given = pd.DataFrame(shaken(K, np.float32))
    assert iopt.IndefiniteSVC(kernel="precomputed").fit(given, Y).score(given, Y) > 0.8


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


def rounded(kind: Any) -> Callable[[Any, Any], Any]:
    """The kernel in a type, where k(x, z) and k(z, x) are rounded to different sides."""

    def kernel(A: Any, B: Any) -> Any:
        A, B = (each.toarray() if sparse.issparse(each) else np.asarray(each) for each in (A, B))
        values = np.tanh(0.5 * A @ B.T - 1.0).astype(kind)
        turned = A[:, :1] > B[:, 0]
        return np.where(turned, np.nextafter(values, kind(np.inf)), values)

    return kernel


@pytest.mark.parametrize("kind", HALVES)
def test_a_kernel_function_of_lower_precision_is_averaged(kind: Any) -> None:
    kernel = rounded(kind)
    expected = mean(kernel(X, X))
    problem = iopt.KernelProblem.from_data(X, Y, kernel)
    np.testing.assert_array_equal(problem.K, expected)
    for points in (X, sparse.csr_array(X)):
        fitted = iopt.IndefiniteSVC(kernel=kernel).fit(points, Y)
        assert fitted.score(points, Y) > 0.8


@pytest.mark.parametrize("kind", HALVES)
def test_what_is_not_averaged_needs_values_in_double_precision(kind: Any) -> None:
    """Rows on demand are not."""
    said = "Compute its values in float64, or leave out cache_mb"
    with pytest.raises(iopt.errors.ProblemError, match=said):
        iopt.KernelProblem.from_data(X, Y, rounded(kind), cache_mb=1.0)


WRONG = K + 1e-3 * (np.arange(1600).reshape(40, 40) == 1)
"""An entry that differs from its mirror image, at (0, 1)."""
FAR = D + 1e-3 * (np.arange(1600).reshape(40, 40) == 1)


@pytest.mark.parametrize("name", OF_KERNELS)
def test_the_advice_on_an_asymmetric_matrix_can_be_followed(name: str) -> None:
    with pytest.raises(iopt.errors.ProblemError) as caught:
        OF_KERNELS[name]().fit(WRONG, Y)
    assert "K[0, 1] = " in caught.value.got
    assert caught.value.hint == "Fit to (K + K.T) / 2."
    OF_KERNELS[name]().fit((WRONG + WRONG.T) / 2, Y)


def test_the_advice_on_asymmetric_distances_can_be_followed() -> None:
    estimator = iopt.KernelClassifier("SVMDual", kernel="distance", metric="precomputed")
    with pytest.raises(iopt.errors.ProblemError, match=r"D\[0, 1\] = .* Fit to \(D \+ D\.T\) / 2"):
        estimator.fit(FAR, Y)
    estimator.fit((FAR + FAR.T) / 2, Y)
    with pytest.raises(iopt.errors.ProblemError, match='kernel="precomputed", without a metric'):
        estimator.fit(D + np.eye(40), Y)
    iopt.KernelClassifier("SVMDual", kernel="precomputed").fit(D + np.eye(40), Y)


@pytest.mark.parametrize(
    ("kernel", "argument"),
    [("sigmoid", "gamma"), ("sigmoid", "coef0"), ("rbf", "gamma"), ("poly", "gamma"),
     ("poly", "coef0")],
)  # fmt: skip
def test_kernels_of_svc_name_its_arguments(kernel: str, argument: str) -> None:
    with pytest.raises(iopt.errors.ParameterError, match=f"^{argument}: expected a "):
        iopt.IndefiniteSVC(kernel=kernel, **{argument: np.nan}).fit(X, Y)
