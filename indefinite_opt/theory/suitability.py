"""Whether a kernel matrix suits a support vector machine at all (Haasdonk 2005)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import checks, finite_array
from indefinite_opt.problem import KernelProblem, check_problem
from indefinite_opt.theory.numbers import Numbers


@dataclass(frozen=True)
class Diagnosis(Numbers):
    """Haasdonk's suitability criteria (2005, sections 7.3 and 7.4) as numbers.

    Attributes
    ----------
    n : int
    signature : (p, q)
        The signature of the pseudo-Euclidean space of the data.
    negative_share : float
        Share of the imaginary directions in the spectrum; see `KernelProblem.negative_share`.
    class_mean_distance : float or None
        ‖m⁻ - m⁺‖², an upper bound on `hull_distance`; of several classes the least of all pairs,
        and None without classes.
    balanced : bool or None
        Whether n₊ = n₋, or all classes have the same size; None without classes. Only then does a
        positive distance of the class means guarantee a solution of positive norm for small enough
        C or μ.
    hull_distance : float or None
        wᵀMw = (2/Σα)² αᵀQα of the convex-hull solution; None before training.
    margin : float or None
        2/√(αᵀQα) for the weights as given; None before training and if αᵀQα ≤ 0.
    bounded : float or None
        Share of weights at the upper bound, up to a share of 10⁻⁶; it bounds the training error of
        an SVM.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> found = iopt.theory.diagnose(problem)
    >>> found.signature, found.class_mean_distance
    ((1, 0), 4.0)
    """

    n: int
    signature: tuple[int, int]
    negative_share: float
    class_mean_distance: float | None
    balanced: bool | None
    hull_distance: float | None = None
    margin: float | None = None
    bounded: float | None = None

    @property
    def negated(self) -> bool:
        """Whether the kernel is the negative of a conditionally positive semidefinite one."""
        return self.signature[0] == 0

    @property
    def suitable(self) -> bool | None:
        """Whether separating hyperplanes of positive norm exist, if that is known without training.

        False if wᵀMw ≤ 0 for every solution, True if wᵀMw > 0 for C or μ small enough, and None if
        these criteria decide neither. For several classes the answer is about every pair. For
        targets and one class it is about weights with eᵀα = 0, and only a negated kernel decides.
        """
        distance = self.class_mean_distance
        if self.negated or (distance is not None and distance < 0):
            return False
        return True if distance is not None and distance > 0 and self.balanced else None


def diagnose(
    problem: KernelProblem, alpha: ArrayLike | None = None, upper: float = np.inf
) -> Diagnosis:
    """Examine whether a kernel, or a trained SVM, suits separation in its own geometry.

    Parameters
    ----------
    problem : KernelProblem
        Of any task; the spectrum needs no labels.
    alpha : (n,) array_like, optional
        Weights of `SVMDual` or `ConvexHullDual`. Without them only the criteria that need no
        training are evaluated.
    upper : float
        Their upper bound (C or μ).

    Raises
    ------
    ProblemError
        If alpha does not have n finite entries, or is given where there are no two classes.
    ParameterError
        If upper is not positive.

    Examples
    --------
    Two points at squared distance -2, one of each class:

    >>> import indefinite_opt as iopt
    >>> print(diagnose(iopt.KernelProblem([[0.0, 1.0], [1.0, 0.0]], [1, -1])))
    n                    2
    signature            (0, 1)
    negative_share       1
    class_mean_distance  -2
    balanced             True
    hull_distance        not known
    margin               not known
    bounded              not known
    negated              True
    suitable             False
    """
    check_problem(problem)
    checks.weight_bound("upper", upper, infinite=True)
    p, q = problem.signature
    distance, balanced = _class_means(problem)
    before = {
        "n": problem.n,
        "signature": (p, q),
        "negative_share": problem.negative_share,
        "class_mean_distance": distance,
        "balanced": balanced,
    }
    if alpha is None:
        return Diagnosis(**before)  # type: ignore[arg-type]
    if problem.classes.size != 2:
        hint = "Weights of SVMDual belong to two classes."
        raise ProblemError("problem", "a problem with two classes for alpha", problem.kind, hint)
    weights = finite_array("alpha", alpha, (problem.n,))
    coef = problem.y * weights
    norm = float(coef @ problem.gram.times(coef))
    total = float(weights.sum())
    return Diagnosis(
        **before,  # type: ignore[arg-type]
        hull_distance=norm * (2.0 / total) ** 2 if total > 0 else None,
        margin=2.0 / np.sqrt(norm) if norm > 0 else None,
        bounded=float(np.mean(weights >= (1.0 - 1e-6) * upper)) if np.isfinite(upper) else 0.0,
    )


def _class_means(problem: KernelProblem) -> tuple[float | None, bool | None]:
    """The least squared distance of two class means, and whether all classes are equally large."""
    if problem.classes.size < 2:
        return None, None
    if problem.classes.size == 2:
        positive, negative = problem.class_sizes
        return problem.class_mean_distance, positive == negative
    members = [problem.labels == label for label in problem.classes]
    sizes = [np.count_nonzero(each) for each in members]
    means = np.column_stack([each / size for each, size in zip(members, sizes, strict=True)])
    inner = means.T @ np.column_stack([problem.gram.times(mean) for mean in means.T])
    squares = np.diag(inner)
    distances = squares[:, None] + squares - 2.0 * inner
    pairs = np.triu_indices(len(sizes), 1)
    return float(distances[pairs].min()), len(set(sizes)) == 1
