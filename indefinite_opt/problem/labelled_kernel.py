"""What every problem offers, and a kernel matrix with labels: spectrum and curvature of αᵀQα."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import EPS, Array, cached_property, rounding_of
from indefinite_opt.problem.kernel_matrix import remarks
from indefinite_opt.quadratic import (
    Gram,
    Problem,
    Spectrum,
    least_eigenvalue,
    negative_direction,
    psd_tolerance,
    without_directions,
    zero_tolerance,
)


class LabelledKernel(Problem):
    """A kernel matrix K of any inertia and labels or targets; see `KernelProblem`."""

    gram: Gram
    y: Array
    classes: NDArray[Any]
    task: str
    _values: Array
    """The number of each label among the classes, or the target; see `Labels`."""
    _convex: dict[int, bool]
    """Along how many lines a test has shown or refuted convexity; None where samples have not."""
    _curved: dict[tuple[int, int], float]
    """The least vᵀKv/‖v‖² along so many lines of a sample of so many points; with all n points,
    that of the vector by which a test has refuted convexity.
    """

    @cached_property
    def n(self) -> int:
        """Number of training points."""
        return int(self.y.size)

    @property
    def K(self) -> Array:
        """The kernel matrix, (n, n), read-only.

        Raises
        ------
        ProblemError
            If it is not kept as a whole, or asymmetric; also from whatever reads K, such as Q,
            squared distances, linear programs and cvxpy.
        """
        return self.gram.matrix

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """Sentences on a K that is nearly constant, nearly diagonal, or looks like distances."""
        return remarks(self.gram)

    @cached_property
    def Q(self) -> Array:
        """Q_ij = y_i y_j K_ij, (n, n), read-only."""
        made = self.K * np.outer(self.y, self.y)
        made.flags.writeable = False
        return made

    def refusal(self, program: Any) -> str | None:
        """Why a program cannot be solved on this K, as a clause of an error message, or None."""
        if program.has_inner_problem and not self.curvature_known:
            return (
                "the eigenvalues of the whole kernel matrix are needed, which "
                "cache_mb=math.inf forms"
            )
        return None

    def prepare(self, program: Any) -> None:
        """Compute and cache the spectrum of K, if the program needs it."""
        if program.has_inner_problem:
            _ = self.spectrum

    @property
    def largest(self) -> float:
        """max |K_ij|; where rows are computed on demand, all of them are computed once."""
        return self.gram.largest

    @property
    def spread(self) -> float:
        """(max K_ij - min K_ij)/2: the largest |K_ij| after the best constant is subtracted.

        A constant in K has no effect on weights with yᵀα = 0.
        """
        least, most = self.gram.extremes
        return 0.5 * (most - least)

    @cached_property
    def class_sizes(self) -> tuple[int, int]:
        """(n₊, n₋) of two classes."""
        positive = int(np.sum(self.y > 0))
        return positive, self.n - positive

    @property
    def smaller_class(self) -> int:
        """min(n₊, n₋)."""
        return min(self.class_sizes)

    @property
    def labels(self) -> Any:
        """The labels as the caller wrote them, or the targets, (n,); None if there are none."""
        if self.task == "regression":
            return self._values
        return self.classes[self._values.astype(int)] if self.classes.size else None

    @property
    def targets(self) -> Array:
        """The numbers t to predict, (n,).

        Raises
        ------
        ProblemError
            If the problem has classes or no labels.
        """
        if self.task != "regression":
            hint = "Whole numbers are classes unless task='regression' is given."
            raise ProblemError("problem", "a problem with targets", self.kind, hint)
        return self._values

    @property
    def kind(self) -> str:
        """What the labels are, in words."""
        if self.task == "regression":
            return "one with targets"
        if self.task == "one class":
            return "one with " + ("the task 'one class'" if self.classes.size else "no labels")
        words = {1: "a single class", 2: "two classes"}
        return f"one with {words.get(self.classes.size, f'{self.classes.size} classes')}"

    @cached_property
    def squared_distances(self) -> Array:
        """d²_ij = K_ii - 2K_ij + K_jj, (n, n); may be negative (Haasdonk 2005, (1))."""
        diagonal = np.diag(self.K)
        squared = (diagonal[:, None] + diagonal[None, :]) - 2.0 * self.K  # symmetric if rounded
        np.fill_diagonal(squared, 0.0)
        return squared

    @cached_property
    def class_mean_distance(self) -> float:
        """Squared distance of the class means, cᵀKc with c_i = 1/n₊ or -1/n₋ (section 7.3)."""
        positive, negative = self.class_sizes
        c = np.where(self.y > 0, 1.0 / positive, -1.0 / negative)
        return float(c @ self.gram.times(c))

    # ------------------------------------------------------------------ spectrum

    @cached_property
    def curvature_known(self) -> bool:
        """Whether convexity can be tested: K is kept as a whole, and is symmetric."""
        return not (self.gram.on_demand or self.gram.asymmetric)

    @property
    def spectrum(self) -> Spectrum:
        """Eigendecomposition of K."""
        return self.gram.spectrum

    @property
    def centered(self) -> Array:
        """PKP with P = I - eeᵀ/n, (n, n): the inner products of the centred embedding."""
        return self.gram.centered_matrix

    @property
    def centered_spectrum(self) -> Spectrum:
        """Eigendecomposition of PKP."""
        return self.gram.centered_spectrum

    @property
    def zero_tolerance(self) -> float:
        """Magnitude up to which an eigenvalue of K is rounding; see `spectrum.zero_tolerance`.

        It also bounds the rounding of a product Kx relative to ‖x‖.
        """
        return self.gram.rounding

    def with_sums(self) -> LabelledKernel | None:
        """The same problem with a smaller bound on the norm of K; see `Gram.with_sums`."""
        return None

    @property
    def signature(self) -> tuple[int, int]:
        """(p, q): positive and negative eigenvalues of PKP (Haasdonk 2005, Proposition 1).

        Those within the rounding of the type in which the entries came count as 0; see
        `Spectrum.least_counted`.
        """
        inertia = self.centered_spectrum.inertia
        return inertia.positive, inertia.negative

    @property
    def negative_share(self) -> float:
        """Share of the negative eigenvalues of PKP in the sum of the magnitudes of all of them.

        0 for kernels that are conditionally positive semidefinite, 1 for the negative of one.
        Unlike the number of negative eigenvalues, it tells rounding-sized ones from large ones.
        """
        return self.centered_spectrum.negative_share

    @property
    def counted_as_zero(self) -> str:
        """Which eigenvalues count as 0 in signatures because of a coarse type, or an empty text."""
        if rounding_of(self.gram.came_as) == EPS or not self.curvature_known:
            return ""
        return self._as_zero(self.centered_spectrum.least_counted)

    def _as_zero(self, size: float) -> str:
        return f"numbers came as {self.gram.came_as.name}: eigenvalues up to {size:.2g} count as 0"

    def curved_by_rounding(self, lines: int) -> str:
        """A sentence if K is not convex along the lines, but is up to the rounding of its type."""
        coarser = rounding_of(self.gram.came_as) / EPS
        if coarser == 1.0 or not self.curvature_known or self.is_convex(lines):
            return ""
        size, known = coarser * self.zero_tolerance, self.gram.decompositions.get(lines)
        if known is None:
            shifted = self.K + size * np.eye(self.n)
            direction = negative_direction(shifted, _orthonormal(self.y, lines))
            within = direction is None
        else:
            within = known.minimum >= -size
        if not within:
            return ""
        zero = self._as_zero(size)
        return f"The negative part of K may be rounding, as its {zero} in the signature."

    # ------------------------------------------------------------------ convexity

    @property
    def is_psd(self) -> bool:
        """Whether K is positive semidefinite up to `convexity_allowance`."""
        return self.known_convex(lines=0) or self._is_psd_on(lines=0)

    @property
    def is_conditionally_psd(self) -> bool:
        """Whether vᵀKv ≥ 0 for all v with eᵀv = 0: the SVM dual with a bias is convex then."""
        return self.known_convex(lines=1) or self._is_psd_on(lines=1)

    def is_convex(self, lines: int) -> bool:
        """Whether αᵀQα is convex along the equality constraints.

        `lines` is the number of these constraints: 0 for all directions; 1 for those with yᵀd = 0;
        2 for those with yᵀd = 0 and eᵀd = 0.

        Decided by a theorem or a spectrum if one is known, else by one Cholesky factorisation.
        False where convexity cannot be tested; see `curvature_known`.
        """
        return self.known_convex(lines) or (self.curvature_known and self._is_psd_on(lines))

    def known_convex(self, lines: int) -> bool:
        """Whether `is_convex` is already known to be true; nothing is computed."""
        made = self.gram.construction
        if made is not None and lines >= made.lines:
            return True
        return any(map(self._convex.get, range(lines + 1)))

    def convexity_allowance(self, lines: int) -> float:
        """The a for which `is_convex` proves vᵀKv ≥ -a‖v‖².

        The rounding of the kernel's values if a theorem proves convexity, and else twice the
        tolerance of a Cholesky factorisation; see `psd_tolerance`.
        """
        return self.gram.allowance(lines)

    def proved_curvature(self, lines: int, most: int) -> float:
        """A number a ≥ 0 with vᵀKv ≥ a‖v‖² along the lines; 0 if none is proved.

        It follows from a spectrum that is known. Without one, matrices of order `most` or less are
        examined: half of the least eigenvalue is proved by a Cholesky factorisation.
        """
        known, found = self.gram.decompositions, [0.0]
        if 0 in known:
            found.append(known[0].minimum)
        if 1 in known and lines > 0 and self.n > 1:
            found.append(float(known[1].values[1]))  # the least one but the zero of e
        if max(found) > 4.0 * self.zero_tolerance:
            return max(found) - 4.0 * self.zero_tolerance
        if self.gram.on_demand or self.n > most or self.gram.norm == 0.0:
            return 0.0
        normals, matrix, norm = _orthonormal(self.y, lines), self.K.copy().T, self.gram.norm
        tolerance = psd_tolerance(matrix, norm)
        if normals is not None:
            without_directions(matrix, normals, 2.0 * norm)
        half = 0.5 * least_eigenvalue(matrix, tolerance)
        if half <= 4.0 * tolerance:
            return 0.0
        shifted = self.K - half * np.eye(self.n)
        # Along the lines this is at least -2τ, with τ of a matrix whose norm is larger by a half.
        proved = negative_direction(shifted, normals, norm + half) is None
        return half - 3.0 * psd_tolerance(shifted, norm + half) if proved else 0.0

    def curvatures_met(self, lines: int) -> Iterator[float]:
        """vᵀKv/‖v‖² along the lines of some vectors, the first of them without any work."""
        yield self._curved.get((lines, self.n), 0.0)
        yield from self._sampled(lines)
        normals = _orthonormal(self.y, lines)
        for v in self.gram.__dict__.get("most_negative", np.empty((0, 0))).T:
            along = v if normals is None else v - normals @ (normals.T @ v)
            square = float(along @ along)
            if square > 1e-6:
                yield float(along @ self.gram.times(along)) / square

    def least_curvature(self, lines: int) -> float:
        """The least vᵀKv/‖v‖² along the lines, up to rounding; O(n³) without a known spectrum."""
        known = self.gram.decompositions.get(lines)
        if known is not None:
            return known.minimum
        return _least_eigenvalue(self.K.copy(), _orthonormal(self.y, lines), self.gram.norm)

    def why_convex(self, lines: int) -> str:
        """How convexity is known, as part of a sentence: "by its eigenvalues"."""
        made = self.gram.construction
        if made is not None and lines >= made.lines:
            return f"by construction, as {made.why}"
        along = "" if lines == 0 or self._convex.get(0, False) else " along the constraints"
        return f"by its eigenvalues{along}"

    def negative_direction(self, lines: int) -> Array | None:
        """A unit vector d with dᵀQd < 0 along the equality constraints, or None if convex."""
        direction = self.gram.negative_direction(_orthonormal(self.y, lines))
        return None if direction is None else self.y * direction

    def _is_psd_on(self, lines: int) -> bool:
        """What a test says, if convexity is not known; it is made once."""
        convex = self._convex.get(lines)
        if convex is None:
            convex = self._convex[lines] = self._test_psd(lines)
        return convex

    def _test_psd(self, lines: int) -> bool:
        # n·max|K| is known without a pass over K and in most cases small enough.
        rough = zero_tolerance(self.n, self.n * self.gram.largest)
        for curvature in self._sampled(lines):
            if curvature < -2.0 * rough or curvature < -2.0 * self.zero_tolerance:
                return False
        known = self.gram.decompositions.get(lines)
        if known is not None:
            self._curved[lines, self.n] = known.minimum
            return known.minimum >= -self.zero_tolerance
        direction = self.gram.negative_direction(_orthonormal(self.y, lines))
        if direction is None:
            return True
        self._curved[lines, self.n] = float(direction @ self.gram.times(direction))
        return False

    def _sampled(self, lines: int) -> Iterator[float]:
        """The least vᵀKv/‖v‖² along the lines for larger and larger samples of the points.

        Each has at most a sixth of them, which takes little time beside the O(n³) of all of K.
        """
        for size in (50, 100, 200, 500):
            if 6 * size > self.n:
                break
            if (lines, size) not in self._curved:
                chosen = _sample(self.n, size)
                block, norm = self.gram.block(chosen, chosen), size * self.gram.largest
                normals = _orthonormal(self.y[chosen], lines)
                self._curved[lines, size] = _least_eigenvalue(block, normals, norm)
            yield self._curved[lines, size]


def _least_eigenvalue(K: Array, normals: Array | None, norm: float) -> float:
    """The least vᵀKv/‖v‖² for v orthogonal to the normals, for ‖K‖ ≤ norm; K is overwritten."""
    matrix = K.T
    if normals is not None:
        without_directions(matrix, normals, 2.0 * norm)
    return least_eigenvalue(matrix, psd_tolerance(matrix, norm))


def _orthonormal(y: Array, lines: int) -> Array | None:
    """Orthonormal basis of the excluded directions in terms of v = y∘d: e, or e and y."""
    if lines == 0:
        return None
    if lines == 1:
        return np.full((y.size, 1), 1.0 / math.sqrt(y.size))
    columns = [np.ones(y.size), y - y.mean()]
    return np.column_stack([each / (float(np.linalg.norm(each)) or 1.0) for each in columns])


@functools.lru_cache(maxsize=8)
def _sample(n: int, size: int) -> NDArray[np.intp]:
    """Some of the numbers 0, ..., n - 1 in ascending order, always the same.

    To draw them takes 0.06 ms, which is a twentieth of a solve with 300 points.
    """
    chosen = np.sort(np.random.default_rng(0).permutation(n)[:size])
    chosen.flags.writeable = False
    return chosen
