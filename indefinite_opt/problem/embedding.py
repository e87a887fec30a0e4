"""The pseudo-Euclidean picture of a kernel (Haasdonk 2005)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt.foundation.arrays import real_array
from indefinite_opt.problem.kernel_problem import KernelProblem

__all__ = ["Diagnosis", "Embedding", "diagnose", "embed"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Embedding:
    """Points in R^(p,q) whose pseudo-Euclidean squared distances are those of the kernel.

    Attributes
    ----------
    points : (n, p + q) array
        Φ(x_i) in the rows, centred, coordinates uncorrelated; the first p are real, the last q
        imaginary.
    signature : (p, q)
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

    Φ = V|Λ|^{1/2} from the nonzero part of PKP = VΛVᵀ.

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
    points = spectrum.vectors[:, kept] * np.sqrt(np.abs(values[kept]))
    return Embedding(points, (positive.size, negative.size))


@dataclass(frozen=True)
class Diagnosis:
    """Haasdonk's suitability criteria (2005, sections 7.3 and 7.4), readable by `print`.

    Attributes
    ----------
    n : int
    signature : (p, q)
        Of the pseudo-Euclidean space of the data.
    class_mean_distance : float
        ‖m⁻ - m⁺‖², an upper bound on `hull_distance`.
    balanced : bool
        Whether n₊ = n₋; only then does a positive class mean distance guarantee a solution of
        positive norm for C or μ small enough.
    hull_distance : float or None
        wᵀMw = (2/Σα)² αᵀQα of the convex-hull solution; None before training.
    margin : float or None
        2/√(αᵀQα) for the weights as given; None before training or where αᵀQα ≤ 0.
    bounded : float or None
        Share of weights at the upper bound; bounds the training error of an SVM.
    """

    n: int
    signature: tuple[int, int]
    class_mean_distance: float
    balanced: bool
    hull_distance: float | None = None
    margin: float | None = None
    bounded: float | None = None

    @property
    def negated(self) -> bool:
        """Whether the kernel is the negative of a conditionally positive semidefinite one."""
        return self.signature[0] == 0

    @property
    def sentences(self) -> list[str]:
        """What the criteria say, before and after training."""
        p, q = self.signature
        said = [f"The data live in R^({p},{q}): {q} of {p + q} directions are imaginary."]
        distance = f"squared distance of the class means {self.class_mean_distance:.4g}"
        if self.negated:
            said.append("No direction is real: wᵀMw ≤ 0 for every solution; unsuitable.")
        elif self.class_mean_distance < 0:
            said.append(f"Negative {distance}: wᵀMw < 0 for every solution; unsuitable.")
        elif self.class_mean_distance > 0 and self.balanced:
            said.append(f"Positive {distance}, equal classes: wᵀMw > 0 for C or μ small enough.")
        else:
            said.append(f"The {distance} bounds wᵀMw from above; nothing more is known.")
        if self.hull_distance is not None:
            verdict = (
                "separated by a hyperplane of positive norm"
                if self.hull_distance > 0
                else "a counterintuitive separation of nonpositive norm"
            )
            said.append(f"After training wᵀMw = {self.hull_distance:.4g}: {verdict}.")
        if self.margin is not None:
            said.append(f"Margin 2/√(wᵀMw) = {self.margin:.4g}.")
        if self.bounded is not None:
            said.append(
                f"{100 * self.bounded:.1f} % of the weights are at the upper bound; "
                "no larger share of the training points can be misclassified by an SVM."
            )
        return said

    def __str__(self) -> str:
        return "\n".join(self.sentences)


def diagnose(
    problem: KernelProblem, alpha: ArrayLike | None = None, upper: float = np.inf
) -> Diagnosis:
    """Is this kernel, or this trained SVM, suitable for separation in its own geometry?

    Parameters
    ----------
    problem : KernelProblem
    alpha : (n,) array_like, optional
        Weights of `SVMDual` or `ConvexHullDual`; without them only the criteria before training.
    upper : float
        Their upper bound (C or μ).

    Raises
    ------
    ProblemError
        If alpha does not have n finite entries.
    """
    p, q = problem.signature
    positive, negative = problem.class_sizes
    before = {
        "n": problem.n,
        "signature": (p, q),
        "class_mean_distance": problem.class_mean_distance,
        "balanced": positive == negative,
    }
    if alpha is None:
        return Diagnosis(**before)  # type: ignore[arg-type]
    weights = real_array("alpha", alpha, f"{problem.n} finite weights", (problem.n,))
    coef = problem.y * weights
    norm = float(coef @ problem.gram.times(coef))
    total = float(weights.sum())
    return Diagnosis(
        **before,  # type: ignore[arg-type]
        hull_distance=norm * (2.0 / total) ** 2 if total > 0 else None,
        margin=2.0 / np.sqrt(norm) if norm > 0 else None,
        bounded=float(np.mean(weights >= upper)) if np.isfinite(upper) else 0.0,
    )
