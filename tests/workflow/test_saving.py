"""Results in files, and predictions for new points in one line."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import indefinite_opt as iopt

RNG = np.random.default_rng(5)
X = RNG.normal(size=(30, 3))
NEW = RNG.normal(size=(7, 3))
Y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.6, "inside", "outside")


def manhattan(A: Any, B: Any) -> Any:
    return np.abs(A[:, None] - B).sum(axis=2)


def cases() -> dict[str, tuple[iopt.KernelProblem, Any, Any]]:
    """A problem, new points as `predict` takes them, and their kernel by numpy."""
    D, D_new = manhattan(X, X), manhattan(NEW, X)
    low, high = X.min(axis=0), X.max(axis=0)
    scaled, scaled_new = (2.0 * (A - low) / (high - low) - 1.0 for A in (X, NEW))
    return {
        "points": (
            iopt.KernelProblem.from_data(X, Y, "sigmoid(a=0.5, r=-1)", scaling="minmax"),
            NEW, np.tanh(0.5 * scaled_new @ scaled.T - 1.0),
        ),
        "rows on demand": (
            iopt.KernelProblem.from_data(X, Y, "laplacian(gamma=0.3)", cache_mb=1.0),
            NEW, np.exp(-0.3 * D_new),
        ),
        "distances": (iopt.KernelProblem.from_distances(D, Y, "linear"), D_new, -0.5 * D_new**2),
        "similarities": (iopt.KernelProblem(np.exp(-D), Y), np.exp(-D_new), np.exp(-D_new)),
    }  # fmt: skip


@pytest.mark.parametrize("case", cases())
def test_results_predict_and_are_read_back(case: str, tmp_path: Path) -> None:
    problem, new, K_new = cases()[case]
    result = iopt.solve(problem, "SVMDual(C=2)")
    coef, offset = result.classifier.coef, result.classifier.offset
    expected = K_new @ coef + offset
    assert result.decision_function(new) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    labels = np.where(expected > 0.0, *problem.classes[::-1])
    assert result.predict(new).tolist() == labels.tolist()
    again = iopt.load(result.save(tmp_path / "model.npz"))
    assert again.predict(new).tolist() == labels.tolist()
    for name in ("objective", "status", "solver", "iterations", "residual"):
        assert getattr(again, name) == getattr(result, name)
    np.testing.assert_array_equal(again.x, result.x)
    if problem.X is None:  # the file has no matrix that was given
        again = again.with_problem(problem)
    assert again.certificate.claim is result.certificate.claim
    assert again.certificate.objective == pytest.approx(result.certificate.objective, rel=1e-12)
    assert str(again.formulation) == str(result.formulation)


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=["depth", "width", "height"])
    result = iopt.solve(iopt.KernelProblem.from_data(frame, Y, "gaussian"), "LPSVM")
    new = pd.DataFrame(NEW, columns=frame.columns)
    expected = result.predict(NEW).tolist()
    assert len(set(expected)) == 2
    for loaded in (result, iopt.load(result.save(tmp_path / "model.npz"))):
        assert loaded.predict(new[["height", "depth", "width"]]).tolist() == expected
        with pytest.raises(iopt.errors.DataError, match="a column 'width', as in the training"):
            loaded.predict(new[["height", "depth"]])


@pytest.mark.parametrize("kind", ["similarities", "distances"])
def test_columns_of_a_matrix_are_found_by_name(kind: str, tmp_path: Path) -> None:
    names = [f"object {k}" for k in range(len(X))]
    D, D_new = manhattan(X, X), manhattan(NEW, X)
    matrix, new = (D, D_new) if kind == "distances" else (np.exp(-D), np.exp(-D_new))
    pd.DataFrame(matrix, names, names).assign(label=Y).to_csv(tmp_path / "matrix.csv")
    problem = iopt.KernelProblem.read(tmp_path / "matrix.csv", kind)
    result = iopt.solve(problem, "SVMDual(C=2)")
    expected = result.decision_function(new)
    frame = pd.DataFrame(new, columns=names)
    for loaded in (result, iopt.load(result.save(tmp_path / "model.npz"))):
        shuffled = frame[names[::-1]]
        np.testing.assert_allclose(loaded.decision_function(shuffled), expected, rtol=1e-9)
        with pytest.raises(iopt.errors.DataError, match="names of the rows, got another"):
            loaded.predict(frame.rename(columns={"object 3": "another"}))
    # Columns without names are those of the training points.
    unnamed = result.decision_function(pd.DataFrame(new))
    np.testing.assert_allclose(unnamed, expected, rtol=1e-9)


def test_new_points_that_are_treated_jointly() -> None:
    problem = iopt.KernelProblem.from_data(X, Y, "sigmoid(a=0.5, r=-1)")
    result = iopt.solve(problem, "SpectrumSVM(new_points=joint)")
    among = problem.kernel(NEW)
    expected = result.classifier.decision_function(problem.kernel_with(NEW), among)
    assert result.decision_function(NEW) == pytest.approx(expected, rel=1e-12)
    assert problem.kernel_among(NEW) == pytest.approx(among, rel=1e-12)


class Doubled(iopt.kernels.Gaussian):
    """Another class under a known name."""

    def evaluate(self, A: Any, B: Any) -> Any:
        return 2.0 * super().evaluate(A, B)


def test_what_a_file_cannot_hold(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    qp = iopt.solve(iopt.QuadraticProgram([[1.0]], [1.0], lb=0.0, ub=1.0))
    with pytest.raises(iopt.errors.ParameterError, match="expected a result on a KernelProblem"):
        qp.save(path)
    with pytest.raises(iopt.errors.IncompatibleSolver, match="defines no classifier"):
        qp.predict([[1.0]])
    for kernel in (lambda A, B: A @ B.T, Doubled(0.5)):
        own = iopt.solve(iopt.KernelProblem.from_data(X, Y, kernel), "LPSVM")
        said = "kernel: expected a kernel with a name"
        with pytest.raises(iopt.errors.ParameterError, match=said):
            own.save(path)
    problem = iopt.KernelProblem.from_data(X, Y)
    weighted = iopt.solve(problem, iopt.SVMDual(weights=np.ones(30)))
    with pytest.raises(iopt.errors.ParameterError, match="without arrays about the points"):
        weighted.save(path)
    with pytest.raises(iopt.errors.DataError, match="a file that can be written"):
        iopt.solve(problem, "LPSVM").save(tmp_path / "absent" / "model.npz")
    assert not path.exists()
    with pytest.raises(AttributeError, match="expected a single variable, got u, xi, b"):
        _ = iopt.solve(problem, "LPSVM").x


def test_labels_that_are_objects_are_read_back(tmp_path: Path) -> None:
    frame = pd.DataFrame({"of texts": Y.astype(object), "of truth values": (Y == "inside")})
    for labels in (frame["of texts"], frame["of truth values"].astype(object)):
        result = iopt.solve(iopt.KernelProblem.from_data(X, labels, "gaussian"), "SVMDual")
        again = iopt.load(result.save(tmp_path / "model.npz"))
        assert again.predict(NEW).tolist() == result.predict(NEW).tolist()
    halves = np.where(Y == "inside", Fraction(1, 2), Fraction(1, 3))
    result = iopt.solve(iopt.KernelProblem(np.eye(30), halves), "SVMDual")
    with pytest.raises(iopt.errors.ParameterError, match=r"labels: .* Fraction"):
        result.save(tmp_path / "other.npz")
    assert not (tmp_path / "other.npz").exists()
