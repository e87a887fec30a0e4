"""Random problems that several test files use."""

from __future__ import annotations

import numpy as np

import indefinite_opt as iopt


def random_problem(kernel: str, n: int, seed: int) -> iopt.KernelProblem:
    """Two overlapping classes of standard normal points."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, 5))
    y = np.where(X[:, 0] + 0.5 * generator.standard_normal(n) > 0, 1, -1)
    return iopt.KernelProblem.from_data(X, y, kernel)
