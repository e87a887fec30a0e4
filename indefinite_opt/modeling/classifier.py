"""Classifiers: coefficients, offset, and the treatment of the kernel rows of new points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import EPS, Array, Values, cached_property, checks, finite_array
from indefinite_opt.modeling.programs import (
    ProxyDual,
    ProxyEigen,
    ProxyOracle,
    SpacePrimal,
)
from indefinite_opt.problem import KernelProblem, own_sensitivity
from indefinite_opt.quadratic import CANCELLED, TRANSFORMS, PairedQP, eigendecomposition

TREATMENTS = ("original", "projected", "joint")
"""How a new point's kernel values are used after training on a changed kernel."""


@dataclass(frozen=True, eq=False)
class KernelChange:
    """A transformation h(K), or h(PKP), of the training kernel, and its extension to new points."""

    problem: KernelProblem
    """The problem with the original kernel."""
    transform: str
    """A name in `TRANSFORMS`: clip, flip, shift or square."""
    centered: bool

    def projected(self, coef: Array) -> Array:
        """Coefficients that applied to k(·, x) give those of k̃(·, x), the projected treatment.

        k̃ is V₊V₊ᵀk for clip, V sign(Λ)Vᵀk for flip and VΛVᵀk = Kk for square, which at a training
        point is its column of h(K). Shift changes the diagonal only, so that k̃ = k for every new
        point.
        """
        if self.transform == "shift":
            return coef
        source = self.problem.centered_spectrum if self.centered else self.problem.spectrum
        return source.vectors @ (source.row_factors(self.transform) * (source.vectors.T @ coef))

    def center(self, coef: Array) -> tuple[Array, float]:
        """Coefficients and offset that apply P(k(·, x) - Ke/n) instead of k(·, x)."""
        if not self.centered:
            return coef, 0.0
        centered, mean = coef - coef.mean(), np.full(coef.size, 1.0 / coef.size)
        return centered, -float(centered @ self.problem.gram.times(mean))

    def joint(self, K_new: Array, K_new_new: Array) -> Array:
        """Rows of h(full) for the new points, with full the kernel of training and new points.

        If centred, the full matrix is centred at the mean of the training points.
        """
        n = self.problem.n
        full = np.block([[self.problem.K, K_new.T], [K_new, K_new_new]])
        if self.centered:
            means = full[:, :n].mean(axis=1)
            full = full - means[:, None] - means[None, :] + means[:n].mean()
        return _transformed_rows(full, n, self.transform)


@dataclass(frozen=True, eq=False)
class ProxyChange:
    """A proxy kernel K* = (K₀ + zzᵀ/(4ρ))₊ in place of the training kernel K₀.

    Luss & d'Aspremont (2007, section 2.3) add zzᵀ/(4ρ) to the training block of the full kernel
    and clip the full matrix: `joint`. The projected treatment replaces a new point's row k by
    X₊X₊ᵀk, with X₊ the eigenvectors of K₀ + zzᵀ/(4ρ) with positive eigenvalues. New points have no
    entry in z, and a training point's row is treated as if it were new: the result differs from its
    row of K* by a multiple of X₊X₊ᵀz, which vanishes as ρ grows.
    """

    problem: KernelProblem
    """The problem with K₀."""
    z: Array
    """y∘α, (n,)."""
    rho: float
    """ρ, may be infinite."""

    @cached_property
    def eigen(self) -> ProxyEigen:
        """Eigenvalues and eigenvectors of K₀ + zzᵀ/(4ρ)."""
        return ProxyOracle(self.problem.spectrum).eigen(self.z, self.rho)

    @cached_property
    def kernel(self) -> Array:
        """K*, (n, n), formed when first read."""
        return self.eigen.kernel()

    def projected(self, coef: Array) -> Array:
        """Coefficients that applied to k(·, x) give those of X₊X₊ᵀk(·, x)."""
        kept = self.eigen.vectors[:, self.eigen.values > self.problem.zero_tolerance]
        return kept @ (kept.T @ coef)

    def center(self, coef: Array) -> tuple[Array, float]:
        """The coefficients as they are, since nothing is centred."""
        return coef, 0.0

    def joint(self, K_new: Array, K_new_new: Array) -> Array:
        """Rows of the full kernel for the new points, after adding zzᵀ/(4ρ) and clipping."""
        n = self.problem.n
        trained = self.problem.K + np.outer(self.z * (0.25 / self.rho), self.z)
        return _transformed_rows(np.block([[trained, K_new.T], [K_new, K_new_new]]), n, "clip")


def _transformed_rows(full: Array, n: int, transform: str) -> Array:
    """Rows from n on and columns before n of a full kernel with transformed spectrum."""
    source = eigendecomposition(full)
    values = TRANSFORMS[transform](source.values)
    kept = values != 0
    left = source.vectors[n:, kept] * values[kept]
    rows: Array = left @ source.vectors[:n, kept].T
    return rows.reshape(full.shape[0] - n, n)


@dataclass(frozen=True, eq=False)
class Classifier:
    """f(x) = Σ_i coef_i k(x_i, x) + own·k(x, x) + offset, whose sign is the class.

    For regression f(x) itself is the prediction. For one class -1 is predicted for outliers, where
    f(x) < 0, and +1 for others: points on the boundary are inside.

    Attributes
    ----------
    coef : (n,) array
        Signed coefficients, one per training point.
    offset : float
        b.
    classes : (2,) array
        Labels predicted for negative and positive values; empty for regression.
    new_points : {"original", "projected", "joint"}
        Treatment of a new point's kernel row if training changed the kernel: use the row as it is;
        apply the training transformation to it; or transform the matrix of training and new points
        together, for which the kernel among the new points is needed. A centred model is always
        centred.
    change : KernelChange, ProxyChange or None
        The change of the kernel in training; None if there was none.
    own : float
        The coefficient of k(x, x), -1 for `SVDD` and 0 for all others.
    diagonal : float, optional
        K_ii, if it is the same for all training points; k(x, x) counts as equal to it where it is
        not given.
    zero : float, optional
        For one class the largest |f(x)| that counts as 0, see `boundary_width`. None for other
        tasks, which use the values as they are; there a value of 0 belongs to the first of
        `classes`.
    distances : bool
        Whether f takes distances d(x_i, x) instead of k(x_i, x).
    sides : int
        2 for an asymmetric matrix, where `coef` and `K_new` have 2n columns, first those of
        k(x, x_i) and then those of k(x_i, x); else 1.

    Examples
    --------
    f(x) = ½ k(x₁, x) - ½ k(x₂, x), for two new points with their kernel rows:

    >>> f = Classifier(np.array([0.5, -0.5]), 0.0, np.array([-1, 1]))
    >>> f.decision_function([[1.0, -1.0], [-2.0, 2.0]]), f.predict([[1.0, -1.0], [-2.0, 2.0]])
    (array([ 1., -2.]), array([ 1, -1]))
    """

    coef: Array
    offset: float
    classes: NDArray[Any]
    new_points: str = "original"
    change: KernelChange | ProxyChange | None = None
    own: float = 0.0
    diagonal: float | None = None
    zero: float | None = None
    distances: bool = False
    sides: int = 1

    def __post_init__(self) -> None:
        checks.choice("new_points", self.new_points, TREATMENTS)

    def __getstate__(self) -> dict[str, Any]:
        # A joint treatment needs the kernel matrix at every prediction.
        if self.change is None or self.new_points == "joint":
            return self.__dict__
        _ = self._direct
        lighter = replace(self.change, problem=self.change.problem.without_matrix())
        return self.__dict__ | {"change": lighter}

    def __copy__(self) -> Classifier:
        return replace(self)

    def __repr__(self) -> str:
        changed = f", new_points={self.new_points!r}" if self.change is not None else ""
        return (
            f"Classifier({self.support.size} of {self.coef.size} coefficients not zero, "
            f"offset={self.offset:.6g}, classes={self.classes.tolist()}{changed})"
        )

    @property
    def support(self) -> NDArray[np.intp]:
        """Indices of the training points with nonzero coefficients."""
        sizes = np.abs(self.coef).reshape(self.sides, -1).max(axis=0)
        # Interior-point methods do not give exact zeros.
        return np.flatnonzero(sizes > 1e-6 * float(np.max(sizes, initial=0.0)))

    def with_new_points(self, new_points: str) -> Classifier:
        """The same classifier with another treatment of new points."""
        return replace(self, new_points=new_points)

    def decision_function(self, K_new: ArrayLike, K_new_new: ArrayLike | None = None) -> Array:
        """f at m new points.

        Parameters
        ----------
        K_new : (m, n) array_like
            k(new point, training point) with the original kernel.
        K_new_new : (m, m) array_like, optional
            Kernel among the new points, for the joint treatment; for `SVDD` also its diagonal, (m,)
            array_like, where K_ii is not the same for all training points.

        Returns
        -------
        (m,) array

        Raises
        ------
        ProblemError
            For a wrong shape, non-finite values, or a missing `K_new_new`.
        """
        rows = self._rows(K_new)
        if self.change is None or self.new_points != "joint":
            direct = self.unchanged()
            values: Array = rows @ direct.coef + direct.offset
            if self.own:
                values = values + self._own_part(len(rows), K_new_new)
            return self.settled(values)
        if K_new_new is None:
            raise ProblemError(
                "K_new_new", "the (m, m) kernel among the new points", "nothing",
                "The joint treatment transforms training and new points together.",
            )  # fmt: skip
        block = finite_array("K_new_new", K_new_new, (len(rows), len(rows)))
        return self.settled(self.change.joint(rows, block) @ self.coef + self.offset)

    def settled(self, values: Array) -> Array:
        """Decision values, of which those that count as 0 are 0."""
        if self.zero is None:
            return values
        return np.where(np.abs(values) <= self.zero, 0.0, values)

    def _own_part(self, m: int, K_new_new: ArrayLike | None) -> Array | float:
        """own·k(x, x) of m new points."""
        if K_new_new is not None:
            square = np.ndim(K_new_new) == 2
            given = finite_array("K_new_new", K_new_new, (m, m) if square else (m,))
            return self.own * (np.diag(given) if square else given)
        if self.diagonal is None:
            raise ProblemError(
                "K_new_new", "the (m,) values k(x, x) of the new points, or their kernel matrix",
                "nothing", "K_ii is not the same for all training points.",
            )  # fmt: skip
        return self.own * self.diagonal

    def _rows(self, K_new: ArrayLike) -> Array:
        try:
            return finite_array("K_new", K_new, (None, self.coef.size))
        except ProblemError as error:
            hint = (
                "Rows are kernel values of new points with the training points: for points X use "
                "problem.kernel_with(X)."
            )
            if self.distances:
                hint = "Rows are distances of new points from the training points."
            raise ProblemError(error.argument, error.expected, error.got, hint) from None

    def unchanged(self) -> Classifier:
        """The classifier that has the same values without a change of the kernel.

        For the joint treatment there is none, and the classifier itself is returned.
        """
        return self if self.change is None or self.new_points == "joint" else self._direct

    @cached_property
    def _direct(self) -> Classifier:
        """See `unchanged`; a pickle has it, and not the kernel matrix that it is computed from."""
        change, coef = self.change, self.coef
        if change is None:
            return self
        if self.new_points == "projected":
            coef = change.projected(coef)
        coef, shift = change.center(coef)
        return Classifier(coef, self.offset + shift, self.classes, zero=self.zero)

    def predict(self, K_new: ArrayLike, K_new_new: ArrayLike | None = None) -> NDArray[Any]:
        """Predicted labels, or numbers, of m new points, (m,)."""
        values = self.decision_function(K_new, K_new_new)
        if not self.classes.size:
            return values
        positive = values > 0.0 if self.zero is None else values >= 0.0
        return self.classes[positive.astype(int)]


def boundary_width(
    problem: KernelProblem, classifier: Classifier, error: float | None, tol: float
) -> float:
    """The largest |f(x)| that counts as 0 for one class, so that a point is on the boundary.

    At a stationary point f is 0 where a weight is off its bounds, not negative where it is 0, and
    not positive where it is at its upper bound. A solver leaves `error`, the most by which a
    training point violates that. Where it is not known, it may be 2 `tol` of the largest |f(x_i)|,
    or of `CANCELLED` times the largest |f(x_i) - offset| if that is more. The rounding of f is
    added.
    """
    diagonal = problem.gram.diagonal if classifier.own else np.zeros(1)
    if error is None:
        sums = problem.gram.times(classifier.coef) + classifier.own * diagonal
        sizes = np.abs(sums + classifier.offset), CANCELLED * np.abs(sums)
        error = 2.0 * tol * float(max(size.max() for size in sizes))
    terms = problem.gram.largest * float(np.abs(classifier.coef).sum())
    terms += abs(classifier.offset) + abs(classifier.own) * float(np.abs(diagonal).max())
    return error + (problem.n + 4) * EPS * terms


def outliers_beyond(
    problem: KernelProblem, classifier: Classifier, most: float, weights: Array | None = None
) -> list[str]:
    """A sentence if more than a share `most` of the training points, or of their weights, is out.

    At a stationary point of these formulations there are no more. Nothing is said of kernels whose
    matrix is never formed.
    """
    if problem.gram.on_demand:
        return []
    described = problem.as_distances if classifier.distances else problem
    values = described.gram.times(classifier.coef) + classifier.offset
    if classifier.own:
        values = values + classifier.own * problem.gram.diagonal
    share = float(np.average(classifier.settled(values) < 0.0, weights=weights))
    if share <= most * (1.0 + 1e-6):
        return []
    of = "training points" if weights is None else "weights of the training points"
    return [
        f"{100.0 * share:.3g} % of the {of} are outliers, where a stationary point has at most "
        f"{100.0 * most:.3g} %."
    ]


OFFSETS = ("widest", "nearest")
"""Which of the offsets of least training error is taken; see `least_error_offset`."""


def least_error_offset(scores: Array, y: Array, rule: str = "widest") -> float:
    """An offset b that minimises the training errors of sign(scores + b), O(n log n).

    Between two neighbouring thresholds -scores the number of errors is constant, and several
    intervals may have the least one (Guo & Schuurmans 2009, section 4, below (11)). The "widest"
    rule takes the middle of the widest of these intervals; the "nearest" one takes 0 if it is in
    one of them, and else the middle of the nearest one.

    >>> least_error_offset(np.array([1.0, 2.0, 5.0]), np.array([-1.0, -1.0, 1.0]))
    -3.5
    >>> least_error_offset(np.array([-1.0, 2.0, 4.0]), np.array([-1.0, 1.0, 1.0]), "nearest")
    0.0
    """
    # Interior-point methods leave weights that should be 0 at about the first share of the scores;
    # at the second one scores that should be equal differ by their rounding.
    largest = float(np.max(np.abs(scores)))
    slack = (1e-9 if rule == "nearest" else 1e-12) * largest
    scores = np.where(np.abs(scores) <= slack, 0.0, scores)
    order = np.argsort(scores, kind="stable")
    ascending, labels = scores[order], y[order]
    # A cut above the k lowest scores classifies those as negative and all others as positive.
    errors = np.concatenate([[0], np.cumsum(labels)]) + np.sum(labels < 0)
    # Equal scores cannot be separated: no cut lies between them.
    possible = np.concatenate([[True], np.diff(ascending) > slack, [True]])
    best = np.flatnonzero(possible & (errors == errors[possible].min()))
    spread = float(ascending[-1] - ascending[0])
    # Where all scores are the same, all points are still on one side.
    reach = max(spread, 2e-9 * largest, 0.0 if rule == "nearest" else 1.0) or 1.0
    ends = np.concatenate([[ascending[0] - reach], ascending, [ascending[-1] + reach]])
    low, high = ends[best], ends[best + 1]
    if rule == "nearest":
        cut = int(np.argmin(np.maximum(np.maximum(low, -high), 0.0)))
        if low[cut] <= 0.0 < high[cut]:
            return 0.0
    else:
        outer = (best == 0) | (best == scores.size)
        cut = int(np.argmax(np.where(outer, -1.0, high - low)))
    return -0.5 * float(low[cut] + high[cut])


@dataclass(frozen=True)
class LeastError:
    """ŷ(x) = argmax_y Σ_j α_j c(y, y_j | x, x_j) + by, (3), with b of least training error.

    A training point's score is ½ y_i (Δα)_i, which for Δ = 2Q is Σ_j α_j y_j K_ij.
    """

    problem: KernelProblem
    sensitivity: Array | None
    rule: str = "widest"

    def __call__(self, program: object, values: Values) -> Classifier:
        problem, alpha = self.problem, values["alpha"]
        scores = _scores(problem, alpha, own_sensitivity(problem, self.sensitivity))
        b = least_error_offset(scores, problem.y, self.rule)
        return Classifier(problem.y * alpha, b, problem.classes)


LIFTED_MEANINGS = {
    "M": "inner product of the pseudo-Euclidean space, diag(1, ..., 1, -1, ..., -1)",
    "Phi": "training points in the pseudo-Euclidean space, one per row",
}
"""What symbols mean in programs whose classifier is a vector of that space."""


def lifted_classifier(
    problem: KernelProblem, program: SpacePrimal, values: Values, scale: float = 1.0
) -> Classifier:
    """A multiple of wᵀMΦ(x) + b in values of the kernel; see `SpacePrimal.coefficients`."""
    coef, offset = program.coefficients(values)
    return Classifier(scale * coef, scale * offset, problem.classes)


def mean_residual_classifier(
    problem: KernelProblem, program: PairedQP, values: Values
) -> Classifier:
    """f = K(y∘α) + b with the mean of y - K(y∘α) over the free weights, or over all, as b."""
    coef = problem.y * values["alpha"]
    residual = problem.y - problem.gram.times(coef)
    lower, upper = program.feasible.at_bounds(values["alpha"], tol=1e-6)
    free = ~(lower | upper)
    offset = float(residual[free if free.any() else slice(None)].mean())
    return Classifier(coef, offset, problem.classes)


def proxy_change(problem: KernelProblem, program: ProxyDual, values: Values) -> ProxyChange:
    """The change of the kernel at the weights of a solution."""
    z = problem.y * values["alpha"]
    return ProxyChange(problem, z, program.penalty(program.oracle.coordinates(z)))


def _scores(problem: KernelProblem, alpha: Array, Delta: Array | None) -> Array:
    """Decision values of the training points without offset, for the kernel if Δ is None."""
    y = problem.y
    return problem.gram.times(y * alpha) if Delta is None else 0.5 * y * (Delta @ alpha)


def constant_scores(problem: KernelProblem, alpha: Array, Delta: Array | None = None) -> list[str]:
    """A sentence if the decision values of all training points are the same.

    For a kernel they are if and only if two reduced convex hulls meet. The largest and the smallest
    value count as equal if they differ by less than the share `CANCELLED` of the terms of
    their sums. As the weights are balanced, a constant in the terms has no effect and is left out.
    Scores are those of a sensitivity matrix Delta, (n, n), or of the kernel.
    """
    scores, y = _scores(problem, alpha, Delta), problem.y
    ends = np.array([np.argmin(scores), np.argmax(scores)])
    if Delta is None:
        terms = problem.gram.block(ends, np.arange(problem.n))
    else:
        terms = 0.5 * Delta[ends] * np.outer(y[ends], y)
    means = terms @ alpha / alpha.sum()
    size = float((np.abs(terms - means[:, None]) @ alpha).sum())
    spread = float(scores[ends[1]] - scores[ends[0]])
    if spread > CANCELLED * size:
        return []
    return [
        "The classifier is constant on the training points: their decision values agree within "
        f"{spread:.2g}, as where reduced convex hulls meet. A smaller bound of the weights may "
        "separate the classes."
    ]
