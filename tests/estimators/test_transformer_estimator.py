"""Embeddings and changes of the spectrum as steps, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from scipy.spatial.distance import cdist
from sklearn.decomposition import KernelPCA
from sklearn.svm import SVC

import indefinite_opt as iopt

RANDOM = np.random.default_rng(0)
X, NEW = RANDOM.normal(size=(30, 3)), RANDOM.normal(size=(7, 3))
y = (X[:, 0] * X[:, 1] > 0.0).astype(int)
KERNEL = iopt.kernels.Sigmoid(a=0.5, r=-0.5)


def test_an_embedding_has_the_distances_of_the_kernel() -> None:
    step = iopt.PseudoEuclideanEmbedding(kernel=KERNEL)
    Z = step.fit_transform(X)
    signs = np.sign(step.eigenvalues_)
    K = KERNEL(X)
    squared = np.diag(K)[:, None] - 2.0 * K + np.diag(K)
    np.testing.assert_allclose(((Z[:, None] - Z) ** 2) @ signs, squared, atol=1e-8)
    assert step.signature_ == iopt.KernelProblem(K, y).signature
    # A new point has the differences of squared distances that lie in the space of the others.
    rows = KERNEL(NEW, X)
    inner = (step.transform(NEW) * signs) @ Z.T
    centered = rows - rows.mean(axis=1, keepdims=True) - K.mean(axis=0) + K.mean()
    np.testing.assert_allclose(inner, centered, atol=1e-8)
    # Sparse points are the same points.
    sparse = step.fit(scipy.sparse.csr_array(X)).transform(scipy.sparse.csr_array(NEW))
    np.testing.assert_array_equal(sparse, step.fit(X).transform(NEW))


def test_an_embedding_of_a_definite_kernel_is_kernel_pca() -> None:
    ours = iopt.PseudoEuclideanEmbedding(2, "gaussian(gamma=0.3)").fit(X)
    theirs = KernelPCA(2, kernel="rbf", gamma=0.3).fit(X)
    expected, found = theirs.transform(NEW), ours.transform(NEW)
    signs = np.sign(np.sum(found * expected, axis=0))
    np.testing.assert_allclose(found * signs, expected, atol=1e-8)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_)


def test_distances_of_a_plane_are_embedded_in_two_coordinates() -> None:
    D, D_new = cdist(X[:, :2], X[:, :2]), cdist(NEW[:, :2], X[:, :2])
    step = iopt.PseudoEuclideanEmbedding(kernel="distance(form=linear)", metric="precomputed")
    Z = step.fit_transform(D)
    assert step.signature_ == (2, 0)
    np.testing.assert_allclose(cdist(Z, Z), D, atol=1e-7)
    np.testing.assert_allclose(cdist(step.transform(D_new), Z), D_new, atol=1e-7)


@pytest.mark.parametrize("spectrum", ["clip", "flip", "shift", "square"])
def test_a_changed_spectrum_is_that_of_the_formulation(spectrum: str) -> None:
    K, rows = KERNEL(X), KERNEL(NEW, X)
    step = iopt.SpectrumTransformer(spectrum)
    changed = step.fit_transform(K)
    np.testing.assert_allclose(
        changed, iopt.KernelProblem(K, y).transformed(spectrum).K, atol=1e-10
    )
    assert np.linalg.eigvalsh(changed).min() > -1e-10
    machine = SVC(kernel="precomputed", tol=1e-10).fit(changed, y)
    formulation = iopt.SpectrumSVM(transform=spectrum)
    expected = iopt.KernelClassifier(formulation, KERNEL).fit(X, y)
    np.testing.assert_allclose(
        machine.decision_function(step.transform(rows)), expected.decision_function(NEW), atol=1e-5
    )


def test_rows_of_training_points_are_found_whatever_their_order() -> None:
    K = KERNEL(X)
    step = iopt.SpectrumTransformer("shift").fit(K)
    some = np.array([4, 0, 17])
    np.testing.assert_array_equal(step.transform(K[some]), step.transform(K)[some])
    assert step.transform(K)[0, 0] == K[0, 0] - step.eigenvalues_[0]


def test_what_cannot_be_used_is_refused() -> None:
    for step, message in (
        (iopt.SpectrumTransformer("clap"), "spectrum: expected one of clip, flip, shift, square"),
        (iopt.PseudoEuclideanEmbedding(0), "n_components: expected a positive integer or None"),
    ):
        with pytest.raises(ValueError, match=message):
            step.fit(KERNEL(X))


def test_a_kernel_that_tells_no_points_apart() -> None:
    """tanh of large products is 1, and a centred matrix of ones is 0: there is no coordinate."""
    far = 1e3 + X
    with pytest.warns(UserWarning, match=r"The embedding has no columns: .* Scale the features"):
        Z = iopt.PseudoEuclideanEmbedding(3, kernel="sigmoid(a=1)").fit_transform(far)
    assert Z.shape == (len(X), 0)
