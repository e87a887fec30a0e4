"""Files for the commands to read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set in three forms, and files that are none."""
    folder = tmp_path_factory.mktemp("data")
    generator = np.random.default_rng(0)
    X = generator.standard_normal((24, 3))
    y = np.where(X[:, 0] + 0.5 * generator.standard_normal(24) > 0, 1, -1)
    D = np.abs(X[:, None] - X[None]).sum(axis=2)
    np.savez(folder / "points.npz", X=X, y=y)
    np.savez(folder / "similarities.npz", K=np.tanh(X @ X.T - 1.0), y=y)
    np.savez(folder / "distances.npz", D=D, y=y)
    np.savez(folder / "flat.npz", K=X[:, 1:2] @ X[:, 1:2].T, y=y)
    np.savez(folder / "no-labels.npz", X=X)
    np.savez(folder / "other-labels.npz", X=X, labels=y)
    np.savez(folder / "many-classes.npz", X=X, y=np.arange(24))
    np.savez(folder / "short.npz", X=X, y=y[:20])
    np.save(folder / "array.npy", X)
    (folder / "junk.npz").write_bytes(b"junk")
    return folder
