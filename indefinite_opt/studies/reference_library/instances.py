"""The instances of the reference library: SVM duals of kernels, and programs of the suite.

Those of kernels are generated from a kernel, a size and a seed, the others from their names. Which
ones there are `benchmarks/reference_instances.py` says.

References
----------
.. [H05] B. Haasdonk, Feature Space Interpretation of SVMs with Indefinite Kernels, IEEE
   Transactions on Pattern Analysis and Machine Intelligence 27(4), 2005.
.. [MS65] T. S. Motzkin and E. G. Straus, Maxima for Graphs and a New Proof of a Theorem of Turán,
   Canadian Journal of Mathematics 17, 1965.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from indefinite_opt.formulations import named_formulation
from indefinite_opt.foundation import Array, finite_array
from indefinite_opt.modeling import Formulation
from indefinite_opt.problem import KernelProblem
from indefinite_opt.problem.datasets import haasdonk_lemma4
from indefinite_opt.quadratic import QP, QuadraticProgram

FEATURES = 8
"""Number of coordinates of the random points."""

CLIQUES = {14: 3, 38: 4, 62: 5}
"""The clique number of the Paley graph on n - 1 vertices, by n."""


@dataclass(frozen=True, eq=False)
class Instance:
    """The definition of an instance; everything else is computed from it.

    Attributes
    ----------
    name : str
        Family, n and formulation, `sigmoid-040-c10`; or the name of a quadratic program for
        `QuadraticProgram.read`, `boxqp-50-40-1`.
    kernel : str
        A kernel with its parameters, or the name of a matrix that is built directly. Empty for a
        quadratic program.
    n : int
        Number of points, or of variables.
    seed : int
        Seed of the 32-bit Mersenne twister that draws points and labels; 0 if nothing is drawn, or
        if the name says it.
    title : str
        The formulation with its parameters; empty for a quadratic program.

    Examples
    --------
    >>> instance = Instance("simpson-020-c1", "simpson", 20, 20, "SVMDual(C=1)")
    >>> instance.problem().n, str(instance.formulation)
    (20, 'SVMDual')
    """

    name: str
    kernel: str
    n: int
    seed: int
    title: str

    @property
    def formulation(self) -> Formulation | None:
        """The formulation that the title names; None for a quadratic program, which is its own."""
        return named_formulation(self.title) if self.title else None

    def problem(self) -> KernelProblem | QuadraticProgram:
        """The quadratic program, or kernel matrix and labels, generated from kernel, n and seed.

        Examples
        --------
        >>> Instance("simpson-020-c1", "simpson", 20, 20, "SVMDual(C=1)").problem()
        KernelProblem('simpson-020-c1', n=20, classes=[-1, 1])
        """
        return self.kernel_problem() if self.kernel else QuadraticProgram.read(self.name)

    def kernel_problem(self) -> KernelProblem:
        """The problem of a kernel."""
        if self.kernel == "haasdonk-lemma4":
            data = haasdonk_lemma4(q=(self.n - 1).bit_length() - 1)
            return KernelProblem.from_data(
                np.asarray(data.X), data.y, cast("Any", data.kernel), name=self.name
            )
        if self.kernel == "paley-graph":
            # Minus the adjacency matrix on n - 1 vertices, and one isolated point.
            n, vertices, K = self.n - 1, np.arange(self.n - 1), np.zeros((self.n, self.n))
            differences = np.subtract.outer(vertices, vertices) % n
            K[:-1, :-1] = -1.0 * np.isin(differences, vertices[1:] ** 2 % n)
            return KernelProblem(K, np.where(np.arange(self.n) < n, 1, -1), name=self.name)
        # NumPy guarantees the stream of RandomState, but not that of default_rng.
        random = np.random.RandomState(self.seed)
        X = random.uniform(-1.0, 1.0, (self.n, FEATURES))
        y = np.where(X[:, 0] + random.uniform(-1.0, 1.0, self.n) > 0.0, 1, -1)
        if self.kernel == "minus-identity":
            return KernelProblem(-np.eye(self.n), y, name=self.name)
        if self.kernel == "random-symmetric":
            A = random.uniform(-1.0, 1.0, (self.n, self.n))
            return KernelProblem(0.5 * (A + A.T), y, name=self.name)
        return KernelProblem.from_data(X, y, self.kernel, name=self.name)

    def program(self, problem: KernelProblem | QuadraticProgram) -> QP:
        """The quadratic program as solvers read it."""
        if isinstance(problem, KernelProblem):
            return cast("QP", named_formulation(self.title).program(problem))
        return problem.program()

    def closed_form(self, problem: KernelProblem | QuadraticProgram) -> float | None:
        """The optimal value of an instance built to have a known one, else None."""
        if not isinstance(problem, KernelProblem):
            # 1/(2ω) - 1 for the standard program of a graph of clique number ω.
            return problem.optimum
        if self.kernel == "haasdonk-lemma4":
            # Lemma 4 of [H05]_: the origin and the vertex of least <v, v> = 4, for any C ≥ 1/2.
            return 0.5
        if self.kernel == "paley-graph":
            # The only point of its class has weight 1/2 and the others u/2 with u in the simplex,
            # so the objective is -uᵀAu/4, and max uᵀAu = 1 - 1/ω for a graph A ([MS65]_).
            return -0.25 * (1.0 - 1.0 / CLIQUES[self.n])
        if self.kernel == "minus-identity":
            # eᵀα + ½αᵀα is convex, so it is maximal at a vertex: in each class as many weights
            # are at C as the smaller class has points.
            C = float(self.program(problem).feasible.constraints[1].max())
            return problem.smaller_class * (2.0 * C + C * C)
        return None


@dataclass(frozen=True)
class Digest:
    """Numbers that show whether arrays are the same, up to rounding.

    A hash would not do, as mathematical libraries differ in the last place. M is the kernel matrix,
    or P of a quadratic program; w_i = i/n, times the label y_i of a kernel problem, i = 1..n.

    Attributes
    ----------
    plus : int or None
        Number of labels +1; None for a quadratic program.
    trace, frobenius : float
        Σ M_ii and (Σ M_ij²)^½.
    checksum : float
        wᵀMw, which depends on the order of points and labels, or of variables.
    lambda_min, lambda_max : float
        Extreme eigenvalues of M.
    linear : float or None
        wᵀq of a quadratic program; None for a kernel problem, as below.
    rows : float or None
        Σ k/m ((R w)_k - r_k) over the m rows, k = 1..m, R those of G and then of A, and r the
        numbers of h and then of b.
    bounds : float or None
        wᵀlb + 2 wᵀub over all finite bounds.

    Examples
    --------
    >>> digest = Digest.of([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> digest.plus, digest.trace, digest.frobenius, round(digest.lambda_max, 12)
    (1, 2.0, 2.0, 2.0)
    """

    plus: int | None
    trace: float
    frobenius: float
    checksum: float
    lambda_min: float
    lambda_max: float
    linear: float | None = None
    rows: float | None = None
    bounds: float | None = None

    @classmethod
    def of(cls, K: ArrayLike, y: ArrayLike) -> Digest:
        """The digest of a kernel matrix and labels -1, +1.

        Examples
        --------
        >>> Digest.of([[1.0, 2.0], [2.0, 1.0]], [1, -1]).checksum
        -0.75
        """
        labels = finite_array("y", y, (None,))
        n = labels.size
        matrix = finite_array("K", K, (n, n))
        w = labels * np.arange(1, n + 1) / n
        return cls(int(np.sum(labels > 0)), **_of_matrix(matrix, w))

    @classmethod
    def of_program(cls, qp: QuadraticProgram) -> Digest:
        """The digest of the arrays of a quadratic program.

        Examples
        --------
        >>> Digest.of_program(QuadraticProgram.read("boxqp-20-100-1")).bounds
        21.0
        """
        w = np.arange(1, qp.n + 1) / qp.n
        rows, right = np.vstack([qp.G, qp.A]), np.concatenate([qp.h, qp.b])
        weights = np.arange(1, right.size + 1) / max(right.size, 1)
        low, high = (float(w[held] @ end[held]) for end in (qp.lb, qp.ub)
                     for held in [np.isfinite(end)])  # fmt: skip
        return cls(
            None, **_of_matrix(qp.P, w), linear=float(w @ qp.q),
            rows=float(weights @ (rows @ w - right)), bounds=low + 2.0 * high,
        )  # fmt: skip

    @classmethod
    def of_problem(cls, problem: KernelProblem | QuadraticProgram) -> Digest:
        """The digest of either kind of problem."""
        if isinstance(problem, KernelProblem):
            return cls.of(problem.K, problem.y)
        return cls.of_program(problem)

    def difference(self, other: Digest) -> float:
        """Largest difference between entries, relative to the norm of the matrix."""
        mine, others = dataclasses.astuple(self), dataclasses.astuple(other)
        if [entry is None for entry in mine] != [entry is None for entry in others]:
            return np.inf
        known = [(a, b) for a, b in zip(mine, others, strict=True) if a is not None]
        size = max(self.frobenius, other.frobenius, 1.0)
        return float(np.max(np.abs(np.diff(np.array(known, dtype=float))))) / size


def _of_matrix(matrix: Array, w: Array) -> dict[str, float]:
    """The entries of a digest that a symmetric matrix has."""
    eigenvalues = np.linalg.eigvalsh(matrix)
    return {
        "trace": float(np.trace(matrix)),
        "frobenius": float(np.linalg.norm(matrix)),
        "checksum": float(w @ matrix @ w),
        "lambda_min": float(eigenvalues[0]),
        "lambda_max": float(eigenvalues[-1]),
    }
