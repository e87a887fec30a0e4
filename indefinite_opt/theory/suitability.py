"""Whether a kernel matrix suits a support vector machine at all (Haasdonk 2005)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from indefinite_opt.foundation import finite_array
from indefinite_opt.problem import KernelProblem
from indefinite_opt.theory.hulls import svm_program
from indefinite_opt.theory.lifting import stationary_weights


@dataclass(frozen=True)
class HullDiagnosis:
    """A trained SVM as a separator of convex hulls; `print` it.

    Attributes
    ----------
    suitability : Diagnosis
        Signature, wᵀMw of the hulls, squared distance of the class means, margin, and the share
        of weights at the bound.
    training_error : float
        Share of the training points that are misclassified.
    unbounded_slack : float
        Largest slack of a point whose weight is below C, which is 0 up to the tolerance.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> found = iopt.theory.hull_diagnosis(problem, 10.0, [0.5, 0.5])
    >>> print(found.suitability.sentences[2])
    After training wᵀMw = 4: separated by a hyperplane of positive norm.
    >>> found.training_error, found.unbounded_slack
    (0.0, 0.0)
    """

    suitability: Diagnosis
    training_error: float
    unbounded_slack: float

    @property
    def sentences(self) -> list[str]:
        """The statements of the criteria."""
        return [
            *self.suitability.sentences,
            f"{100 * self.training_error:.1f} % of the training points are misclassified; the "
            f"largest slack where the weight is below C is {self.unbounded_slack:.2g}.",
        ]

    def __str__(self) -> str:
        return "\n".join(self.sentences)


def hull_diagnosis(
    problem: KernelProblem, C: float, alpha: ArrayLike, tol: float = 1e-6
) -> HullDiagnosis:
    """Evaluate Haasdonk's criteria (2005, sections 7.3 and 7.4) at a stationary point of SVM-DU.

    Parameters and errors are those of `svm_to_hull`.

    Examples
    --------
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> answer = hull_diagnosis(problem, 10.0, [0.5, 0.5])
    >>> answer.suitability.hull_distance, answer.suitability.class_mean_distance
    (4.0, 4.0)
    >>> float(answer.suitability.margin), answer.suitability.bounded, answer.training_error
    (2.0, 0.0, 0.0)
    """
    qp = svm_program(problem, C)
    weights = stationary_weights(qp, alpha, tol)
    _, upper = qp.at_bounds(weights, tol)
    # The reduced gradient is y_i f(x_i) - 1; see Lin & Lin (2003), (21).
    surplus = qp.first_order(weights, qp.gradient(weights), tol).reduced
    suitability = replace(diagnose(problem, weights, upper=C), bounded=float(np.mean(upper)))
    return HullDiagnosis(
        suitability=suitability,
        training_error=float(np.mean(surplus <= -1.0)),
        unbounded_slack=float(np.max(np.maximum(-surplus[~upper], 0.0), initial=0.0)),
    )


@dataclass(frozen=True)
class Diagnosis:
    """Haasdonk's suitability criteria (2005, sections 7.3 and 7.4); `print` them.

    Attributes
    ----------
    n : int
    signature : (p, q)
        Of the pseudo-Euclidean space of the data.
    negative_share : float
        Share of the imaginary directions in the spectrum; see `KernelProblem.negative_share`.
    class_mean_distance : float
        ‖m⁻ - m⁺‖², an upper bound on `hull_distance`.
    balanced : bool
        Whether n₊ = n₋. Only then does a positive distance of the class means guarantee a
        solution of positive norm for small enough C or μ.
    hull_distance : float or None
        wᵀMw = (2/Σα)² αᵀQα of the convex-hull solution; None before training.
    margin : float or None
        2/√(αᵀQα) for the weights as given; None before training and if αᵀQα ≤ 0.
    bounded : float or None
        Share of weights at the upper bound, which bounds the training error of an SVM.

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
        """The statements of the criteria, before and after training."""
        p, q = self.signature
        said = [
            f"The data live in R^({p},{q}): {q} of {p + q} directions are imaginary, with "
            f"{100 * self.negative_share:.3g} % of the spectrum."
        ]
        distance = f"squared distance of the class means {self.class_mean_distance:.4g}"
        if self.negated:
            said.append("No direction is real: wᵀMw ≤ 0 for every solution; unsuitable.")
        elif self.class_mean_distance < 0:
            said.append(f"Negative {distance}: wᵀMw < 0 for every solution; unsuitable.")
        elif self.class_mean_distance > 0 and self.balanced:
            said.append(f"Positive {distance}, equal classes: wᵀMw > 0 for C or μ small enough.")
        else:
            said.append(
                f"The class means are {self.class_mean_distance:.4g} apart (squared), so the "
                "kernel is not ruled out; this test cannot confirm it."
            )
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
    """Examine whether a kernel, or a trained SVM, suits separation in its own geometry.

    Parameters
    ----------
    problem : KernelProblem
    alpha : (n,) array_like, optional
        Weights of `SVMDual` or `ConvexHullDual`. Without them only the criteria that need no
        training are evaluated.
    upper : float
        Their upper bound (C or μ).

    Raises
    ------
    ProblemError
        If alpha does not have n finite entries.

    Examples
    --------
    Two points at squared distance -2, one of each class:

    >>> import indefinite_opt as iopt
    >>> print(diagnose(iopt.KernelProblem([[0.0, 1.0], [1.0, 0.0]], [1, -1])))
    The data live in R^(0,1): 1 of 1 directions are imaginary, with 100 % of the spectrum.
    No direction is real: wᵀMw ≤ 0 for every solution; unsuitable.
    """
    p, q = problem.signature
    positive, negative = problem.class_sizes
    before = {
        "n": problem.n,
        "signature": (p, q),
        "negative_share": problem.negative_share,
        "class_mean_distance": problem.class_mean_distance,
        "balanced": positive == negative,
    }
    if alpha is None:
        return Diagnosis(**before)  # type: ignore[arg-type]
    weights = finite_array("alpha", alpha, (problem.n,))
    coef = problem.y * weights
    norm = float(coef @ problem.gram.times(coef))
    total = float(weights.sum())
    return Diagnosis(
        **before,  # type: ignore[arg-type]
        hull_distance=norm * (2.0 / total) ** 2 if total > 0 else None,
        margin=2.0 / np.sqrt(norm) if norm > 0 else None,
        bounded=float(np.mean(weights >= upper)) if np.isfinite(upper) else 0.0,
    )
