"""The pseudo-Euclidean embedding of a kernel (Haasdonk 2005)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from indefinite_opt.foundation import Array
from indefinite_opt.problem.kernel_problem import KernelProblem


@dataclass(frozen=True, eq=False)
class Embedding:
    """Points in R^(p,q) whose pseudo-Euclidean squared distances are those of the kernel.

    Attributes
    ----------
    points : (n, p + q) array
        Φ(x_i) in the rows, centred, with uncorrelated coordinates; the first p are real, the last
        q imaginary.
    signature : (p, q)
        Numbers of real and imaginary coordinates.

    Examples
    --------
    Two points at squared distance -2: one imaginary coordinate.

    >>> import indefinite_opt as iopt
    >>> found = iopt.theory.embed(iopt.KernelProblem([[0.0, 1.0], [1.0, 0.0]], [1, -1]))
    >>> found.signature, found.squared_distances().round(9).tolist()
    ((0, 1), [[0.0, -2.0], [-2.0, 0.0]])
    """

    points: Array
    signature: tuple[int, int]

    @property
    def M(self) -> Array:
        """Diagonal of the inner product ⟨z, z'⟩ = zᵀMz', (p + q,)."""
        p, q = self.signature
        return np.concatenate([np.ones(p), -np.ones(q)])

    def squared_distances(self) -> Array:
        """‖Φ(x_i) - Φ(x_j)‖² in R^(p,q), (n, n): equation (2)."""
        inner = (self.points * self.M) @ self.points.T
        norms = np.diag(inner)
        return norms[:, None] - 2.0 * inner + norms[None, :]


def embed(problem: KernelProblem) -> Embedding:
    """Isometric embedding of the training points in R^(p,q) (Haasdonk 2005, Proposition 1).

    Φ = V|Λ|^{1/2} from the nonzero part of PKP = VΛVᵀ. Where PKP = 0, all points are the origin of
    a line, as cvxpy has no quadratic forms of vectors without entries.

    Examples
    --------
    >>> problem = KernelProblem([[0.0, 2.0], [2.0, 0.0]], [-1, 1])   # d² = -4
    >>> embed(problem).signature, embed(problem).squared_distances()[0, 1].round(12)
    ((0, 1), np.float64(-4.0))
    """
    spectrum = problem.centered_spectrum
    values, tolerance = spectrum.values, spectrum.zero_tolerance
    positive = np.flatnonzero(values > tolerance)[::-1]
    negative = np.flatnonzero(values < -tolerance)
    kept = np.concatenate([positive, negative])
    if not kept.size:
        return Embedding(np.zeros((problem.n, 1)), (1, 0))
    points = spectrum.vectors[:, kept] * np.sqrt(np.abs(values[kept]))
    return Embedding(points, (positive.size, negative.size))
