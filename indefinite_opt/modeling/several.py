"""What models of several kernels have in common, and models that are written with cvxpy's atoms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from indefinite_opt.foundation import Array, finite_array
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import checked_matrix


def several_kernels(problem: KernelProblem, given: Array | None) -> tuple[list[Array], list[Array]]:
    """Kernel matrices (n, n), and for each the matrix that rows of new points are multiplied by.

    Without given ones they are the parts K₊ and -K₋ of K = K₊ + K₋ that are not 0, with the
    eigenvectors V of the one or the other, and VVᵀ or -VVᵀ.

    >>> kernels, rows = several_kernels(KernelProblem(-np.eye(2), [1, -1]), None)
    >>> np.allclose(kernels, np.eye(2)), np.allclose(rows, -np.eye(2))
    (True, True)
    """
    n = problem.n
    if given is not None:
        matrices = finite_array("kernels", given, (None, n, n))
        return [checked_matrix("kernels", K, False)[0] for K in matrices], [np.eye(n)] * len(given)
    spectrum, kernels, rows = problem.spectrum, [], []
    for sign in (1.0, -1.0):
        values = sign * spectrum.values
        V = spectrum.vectors[:, values > problem.zero_tolerance]
        if V.size:
            kernels.append((V * values[values > problem.zero_tolerance]) @ V.T)
            rows.append(sign * V @ V.T)
    return kernels or [problem.K], rows or [np.eye(n)]


def in_cvxpy(constants: Iterable[Any]) -> list[Any]:
    """The constants of a model as those of cvxpy, for atoms that `algebra` does not have."""
    import cvxpy

    return [cvxpy.Constant(np.asarray(one.value), name=one.name()) for one in constants]
