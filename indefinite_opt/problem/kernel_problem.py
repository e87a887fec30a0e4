"""The data of a learning problem: a symmetric kernel matrix of any inertia with labels."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import (
    EPS,
    Array,
    Stored,
    cached_property,
    checked_distances,
    checked_labels,
    checked_matrix,
    checked_points,
    checked_precision,
    checks,
    finite_array,
    html_card,
    one_thread,
    scanned_matrix,
)
from indefinite_opt.problem import kernels
from indefinite_opt.problem.approximation import Approximation, approximated
from indefinite_opt.problem.cholesky import cholesky_in_place
from indefinite_opt.problem.datasets.scaling import fitted_scaling, keeps_scaling, unscaled
from indefinite_opt.problem.datasets.synthetic import Dataset
from indefinite_opt.problem.factored_kernel import FactorGram
from indefinite_opt.problem.kernel_matrix import DenseGram, Gram, RowGram, formed
from indefinite_opt.problem.problem import Problem
from indefinite_opt.problem.spectrum import (
    Spectrum,
    breakdown_direction,
    convexity_tolerance,
    eigendecomposition,
    negative_direction,
    norm_bound,
    zero_tolerance,
)

__all__ = ["KernelProblem", "Split", "check_problem"]

_CURVATURE_SAMPLES, _MAX_SAMPLE_SHARE = (50, 200, 500), 0.2
"""Numbers of points on which negative curvature is looked for first, one after the other, and the
largest share of all points: so it takes little time beside the O(n³) of all of K, and no memory."""

_OF_KERNEL_ALONE = frozenset({
    "K", "X", "kernel", "scaling", "cache_mb", "spectrum", "centered", "centered_spectrum",
    "squared_distances", "_norm", "_scaled", "form", "_construction", "approximation", "_remade",
})  # fmt: skip
"""Attributes of a problem that do not depend on its labels, whether given or derived."""

_MIN_PROVED = 1e-290
"""Least largest entry of a matrix that a theorem is applied to; the smallest normal number is
2e-308, and rounding relative to smaller entries says nothing."""


class KernelProblem(Problem):
    """Kernel matrix K of any inertia and labels y of two classes.

    Derived quantities are computed on first access and then kept.

    Parameters
    ----------
    K : (n, n) array_like
        Symmetric, finite kernel (similarity) matrix. A C-contiguous array of the chosen precision
        that is symmetric to the last bit is used without a copy and must not be changed
        afterwards; its checksum is compared before every claim. A matrix that is symmetric up to
        rounding is replaced by (K + Kᵀ)/2.
    y : (n,) array_like
        Labels of exactly two classes; the larger one in sorting order becomes +1.
    symmetrize : bool
        Replace K by (K + Kᵀ)/2 instead of refusing an asymmetric matrix.
    precision : {"double", "single"}
        Keep K in float64 or in float32, which takes half the memory. Sums are always taken in
        double precision, and every claim is about the matrix that is kept.
    name : str
        What to call the problem in reports.

    Attributes
    ----------
    gram : Gram
        The kernel matrix as solvers read it.
    y : (n,) array of -1.0 and +1.0
    classes : (2,) array
        The caller's labels for -1 and +1.
    X, kernel, scaling, cache_mb : optional
        Raw data, kernel function, scaling of the features and size of the cache of rows, if the
        problem was made by `from_data`.
    form : (str, float), optional
        Form and γ, if the problem was made by `from_distances`.

    Raises
    ------
    ProblemError
        If K is not square, finite and symmetric within `arrays.SYMMETRY_TOLERANCE` (for float32
        within its rounding), or y does not have n entries of exactly two classes; later, from
        whatever makes a claim, if K has been changed meanwhile.
    UnknownName
        For an unknown precision.

    Examples
    --------
    >>> problem = KernelProblem([[0.0, 1.0], [1.0, 0.0]], ["cat", "dog"])
    >>> problem.y, problem.spectrum.inertia
    (array([-1.,  1.]), Inertia(positive=1, negative=1, zero=0))
    """

    def __init__(
        self,
        K: ArrayLike,
        y: ArrayLike,
        *,
        symmetrize: bool = False,
        precision: str = "double",
        name: str = "problem",
    ) -> None:
        matrix, extremes, found = scanned_matrix("K", K, symmetrize, checked_precision(precision))
        shared = isinstance(K, np.ndarray) and np.may_share_memory(matrix, K)
        gram = DenseGram(matrix, extremes, shared, found)
        _refuse_overflow(gram)
        self._begin(gram, y, name)

    @classmethod
    def _of_own(cls, K: Stored, y: ArrayLike, precision: str, name: str) -> KernelProblem:
        """The problem of a matrix that no caller can change, so that it needs no checksum."""
        problem = cls.__new__(cls)
        matrix, extremes = checked_matrix("K", K, False, checked_precision(precision))
        problem._begin(DenseGram(matrix, extremes, shared=False), y, name)
        return problem

    @classmethod
    def from_gram(
        cls,
        gram: Gram,
        y: ArrayLike,
        *,
        name: str = "problem",
        definiteness: kernels.Definiteness | None = None,
    ) -> KernelProblem:
        """The problem of a kernel matrix that has been checked already; nothing is copied.

        `definiteness` is the theorem, if there is one, of the kernel that gave all its values.

        Examples
        --------
        >>> from indefinite_opt.problem import DenseGram
        >>> gram = DenseGram(np.array([[0.0, 1.0], [1.0, 0.0]]))
        >>> KernelProblem.from_gram(gram, [1, 2]).y
        array([-1.,  1.])
        """
        problem = cls.__new__(cls)
        _refuse_overflow(gram)
        problem._begin(gram, y, name)
        problem._apply_theorem(definiteness)
        return problem

    def _begin(self, gram: Gram, y: ArrayLike, name: str) -> None:
        self.gram = gram
        self.classes, self.y = checked_labels(y, gram.n)
        self.y.flags.writeable = False
        self.name = name
        self.X: Array | None = None
        self.kernel: Callable[..., Array] | None = None
        self.scaling: str | None = None
        self.cache_mb: float | None = None
        self._scaled: Callable[[Array], Array] = unscaled
        self.approximation: Approximation | None = None
        self._remade: partial[KernelProblem] | None = None
        self.form: tuple[str, float] | None = None
        self._convex: dict[int, bool] = {}
        self._uncurved_samples: set[int] = set()
        self._construction: _Construction | None = None
        self._transformed: dict[tuple[str, bool], KernelProblem] = {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.y.flags.writeable = False

    @classmethod
    def from_data(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        kernel: str | Callable[..., Any] = "sigmoid",
        *,
        scaling: str | None = None,
        cache_mb: float | None = None,
        precision: str = "double",
        name: str = "problem",
        **parameters: Any,
    ) -> KernelProblem:
        """K_ij = k(x_i, x_j), with the features scaled first if so chosen.

        Parameters
        ----------
        X : (n, d) array_like
            One row per point.
        y : (n,) array_like
            Labels of two classes.
        kernel : str or callable
            A name of `kernels.names()`, `"name(parameter=value)"`, a kernel object, or any
            callable (X, Z) -> (n, m).
        scaling : {"minmax", "unit", "standard"}, optional
            Scale each feature to [-1, 1], to [0, 1], or to mean 0 and variance 1. `split` fits the
            scaling again, on the training points alone; with "-all" behind the name, as in
            "minmax-all", it keeps that of all points.
        cache_mb : float, optional
            Never form K, but compute its rows on demand and keep as many as fit into this many
            megabytes: for data whose matrix does not fit into memory. Solvers take up to as much
            for a block, and leave that much less to rows that are not in memory by then. Rows of
            kernels on few features are kept only if they are asked for often, as computing them
            hardly takes longer than reading them. Whatever needs the whole matrix (spectra, linear
            programs, cvxpy, a test of convexity) is then unavailable.
        precision, name
            As in `KernelProblem`.
        **parameters
            Parameters of a kernel given by name.

        Raises
        ------
        ProblemError
            If X is not a finite matrix, or the kernel is not symmetric or not finite on it.
        ParameterError
            If the cache has no room for two rows.

        Examples
        --------
        >>> KernelProblem.from_data([[0.0], [2.0]], [-1, 1], "linear").K
        array([[0., 0.],
               [0., 4.]])
        """
        function = kernels.get(kernel, **parameters)
        dtype = checked_precision(precision)
        points = checked_points("X", X)
        scaled = fitted_scaling(scaling, points)
        if cache_mb is None:
            K = formed(function, scaled(points), dtype)
            problem = cls._of_own(K, y, precision, name)
            _refuse_overflow(problem.gram)
        else:
            problem = cls._of_gram(RowGram(scaled(points), function, cache_mb, dtype), y, name)
        problem.X, problem.kernel = points, function
        problem.scaling, problem._scaled = scaling, scaled
        problem.cache_mb = cache_mb
        problem._apply_theorem(kernels.definiteness(function, points.shape[1]))
        return problem

    @classmethod
    def from_dataset(
        cls,
        dataset: Dataset,
        kernel: str | Callable[..., Any] | None = None,
        *,
        scaling: str | None = None,
        form: str = "gaussian",
        gamma: float | None = None,
        symmetrize: bool = False,
        cache_mb: float | None = None,
        precision: str = "double",
        **parameters: Any,
    ) -> KernelProblem:
        """The problem of a data set of points, similarities or distances.

        Parameters
        ----------
        dataset : Dataset
            See `datasets.load`.
        kernel, scaling, cache_mb, **parameters
            For points, as in `from_data`; the default kernel is that of the data set, else the
            sigmoid.
        form : {"linear", "gaussian", "raw"}
            For distances, as in `from_distances`.
        gamma : float, optional
            γ of the Gaussian form, by default 1/mean(d²); for points that of the kernel.
        symmetrize : bool
            For similarities and distances, as in `KernelProblem`.
        precision : {"double", "single"}
            As in `KernelProblem`.
        """
        if dataset.X is not None:
            chosen = kernel or dataset.kernel or "sigmoid"
            if gamma is not None:
                parameters["gamma"] = gamma
            return cls.from_data(
                dataset.X, dataset.y, chosen, scaling=scaling, cache_mb=cache_mb,
                precision=precision, name=dataset.name, **parameters,
            )  # fmt: skip
        if dataset.D is not None:
            # If all distances are 0, every γ gives the same kernel.
            if gamma is None:
                D = checked_distances(dataset.D, symmetrize)
                gamma = 1.0 / (float(np.mean(np.square(D))) or 1.0)
            return cls.from_distances(
                dataset.D, dataset.y, form, gamma=gamma, symmetrize=symmetrize,
                precision=precision, name=dataset.name,
            )  # fmt: skip
        if dataset.K is None:
            raise ProblemError("dataset", "points X, similarities K or distances D", "none of them")
        return cls(
            dataset.K, dataset.y, symmetrize=symmetrize, precision=precision, name=dataset.name
        )

    @classmethod
    def from_distances(
        cls,
        D: ArrayLike,
        y: ArrayLike,
        form: str = "linear",
        *,
        gamma: float = 1.0,
        symmetrize: bool = False,
        precision: str = "double",
        name: str = "problem",
    ) -> KernelProblem:
        """Kernel from a matrix of distances d_ij (not squared).

        Parameters
        ----------
        D : (n, n) array_like
            Symmetric, finite, nonnegative distances, 0 on the diagonal up to rounding.
        y : (n,) array_like
            Labels of two classes.
        form : {"linear", "gaussian", "raw"}
            -d²/2 (Haasdonk 2005, section 7.1), exp(-γd²) (section 7.5), or d itself.
        gamma : float
            γ > 0 of the Gaussian form.
        symmetrize, precision, name
            As in `KernelProblem`.

        Examples
        --------
        >>> KernelProblem.from_distances([[0.0, 2.0], [2.0, 0.0]], [-1, 1]).K
        array([[-0., -2.],
               [-2., -0.]])
        """
        distances = checked_distances(D, symmetrize)
        checks.positive("gamma", gamma)
        checks.choice("form", form, kernels.FORMS)
        kernel = kernels.of_distances(distances, form, gamma)
        if kernel is distances:
            problem = cls(kernel, y, precision=precision, name=name)
        else:
            problem = cls._of_own(kernel, y, precision, name)
            _refuse_overflow(problem.gram)
        problem.form = form, float(gamma)
        return problem

    @classmethod
    def from_factors(
        cls,
        F: ArrayLike,
        signs: ArrayLike | None,
        y: ArrayLike,
        *,
        name: str = "problem",
    ) -> KernelProblem:
        """K = F diag(signs) Fᵀ of rank r, which is never formed: memory and products take O(nr).

        Spectra, curvature and claims are those of this K, in O(nr²). What needs the n × n matrix
        (cvxpy, brackets, some formulations, most solvers) refuses; `solver="low-rank"` is the
        default for quadratic programs.

        Parameters
        ----------
        F : (n, r) array_like
            A C-contiguous float64 array is used without a copy and must not be changed afterwards.
        signs : (r,) array_like of -1 and 1, or None
            None stands for K = FFᵀ.
        y : (n,) array_like
            Labels of two classes.
        name
            As in `KernelProblem`.

        Raises
        ------
        ProblemError
            If F is not a finite matrix, the signs are not r numbers of -1 and 1, or y is not n
            labels of two classes.

        Examples
        --------
        >>> problem = KernelProblem.from_factors([[1.0, 1.0], [0.0, 2.0]], [1, -1], [1, -1])
        >>> problem.spectrum.values.round(4), problem.is_psd
        (array([-4.8284,  0.8284]), False)
        """
        return cls._of_gram(FactorGram(F, signs), y, name)

    @classmethod
    def approximate(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        kernel: str | Callable[..., Any] = "sigmoid",
        rank: int = 300,
        method: str = "nystrom",
        *,
        landmarks: int | None = None,
        scaling: str | None = None,
        seed: int = 0,
        name: str = "problem",
        **parameters: Any,
    ) -> KernelProblem:
        """A problem on an approximation K̃ of rank at most r, kept as factors; see `from_factors`.

        Every claim is about K̃; certificates say so, and by how much the objective with K may
        differ, with which probability, as far as `approximation.bound_error` has bounded it.

        Parameters
        ----------
        X, y, kernel, scaling, name, **parameters
            As in `from_data`.
        rank : int
            Columns of F, at most n.
        method : {"nystrom", "random-features"}
            Nyström's method for kernels of any inertia: K̃ = C ⟦W⟧⁺ Cᵀ with the kernel C between
            points and landmarks, and the part ⟦W⟧ of the kernel of the landmarks that belongs to
            its `rank` eigenvalues largest in magnitude. Random features exist for the Gaussian
            kernel (random cosines) and for polynomial kernels of any inertia.
        landmarks : int, optional
            Points drawn uniformly, without replacement, for Nyström's method; 2·rank by default.
        seed : int
            Seed of that draw, or of the random features.

        Raises
        ------
        ParameterError
            If the rank exceeds n, or the kernel has no random features.

        References
        ----------
        Oglic & Gärtner (2019), Scalable learning in reproducing kernel Kreĭn spaces. Nakatsukasa &
        Park (2023), Randomized low-rank approximation for symmetric indefinite matrices. Rahimi &
        Recht (2007) and Kar & Karnick (2012) for the random features.

        Examples
        --------
        >>> X, y = np.linspace(-1.0, 1.0, 50)[:, None], np.resize([1, -1], 50)
        >>> problem = KernelProblem.approximate(X, y, "sigmoid", rank=8)
        >>> exact = KernelProblem.from_data(X, y, "sigmoid")
        >>> float(np.abs(problem.kernel_with(X) - exact.K).max()) < 1e-4
        True
        """
        function = kernels.get(kernel, **parameters)
        points = checked_points("X", X)
        scaled = fitted_scaling(scaling, points)
        found = approximated(function, scaled(points), rank, method, landmarks, seed)
        problem = cls._of_gram(found.gram, y, name)
        problem.approximation, problem.X, problem.kernel = found, points, function
        problem.scaling, problem._scaled = scaling, scaled
        problem._remade = partial(
            cls.approximate, kernel=function, rank=rank, method=method, landmarks=landmarks,
            seed=seed, name=name,
        )  # fmt: skip
        return problem

    @classmethod
    def _of_gram(cls, gram: Gram, y: ArrayLike, name: str) -> KernelProblem:
        problem = cls.__new__(cls)
        problem._begin(gram, y, name)
        if isinstance(gram, FactorGram) and gram.is_definite:
            problem._convex = {0: True, 1: True, 2: True}
            problem._construction = _Construction("its kernel matrix is F times the transpose of F")
        return problem

    @property
    def factors(self) -> FactorGram | None:
        """F and the signs of K = F diag(signs) Fᵀ, if that is how K is kept."""
        return self.gram if isinstance(self.gram, FactorGram) else None

    def __repr__(self) -> str:
        return f"KernelProblem({self.name!r}, n={self.n}, classes={self.classes.tolist()})"

    def _repr_html_(self) -> str:
        positive, negative = self.class_sizes
        rows: list[tuple[str, object]] = [
            ("points", self.n),
            (
                "classes",
                f"+1 = {self.classes[1]} ({positive}), -1 = {self.classes[0]} ({negative})",
            ),
            ("kernel", self.origin),
            ("scaling", self.scaling or "none"),
        ]
        if "centered_spectrum" in self.__dict__:  # else it would cost an eigendecomposition
            rows += [
                ("signature", "({}, {})".format(*self.signature)),
                ("negative share", f"{100 * self.negative_share:.3g} % of the spectrum"),
            ]
        return html_card(f"{type(self).__name__} {self.name}", rows)

    @property
    def origin(self) -> str:
        """How K was made: by a kernel function, from distances, or outside of this package.

        >>> KernelProblem.from_factors([[1.0], [0.0]], None, [1, -1]).origin
        'precomputed factors of rank 1'
        """
        if self.factors is not None and self.kernel is None:
            return f"precomputed factors of rank {self.factors.signs.size}"
        if self.kernel is not None:
            made = self.approximation
            rank = "" if made is None else f", approximated with rank {made.gram.signs.size}"
            return f"{self.kernel}{rank}"
        if self.form is None:
            return "precomputed"
        form, gamma = self.form
        return f"{form} of distances" + (f", gamma={gamma:.6g}" if form == "gaussian" else "")

    @property
    def n(self) -> int:
        """Number of training points."""
        return int(self.y.size)

    @cached_property
    def K(self) -> Array:
        """The kernel matrix, (n, n), read-only, in float64; a copy if it is kept in float32.

        Raises
        ------
        ProblemError
            If its rows are computed on demand; also from whatever reads K, such as Q, spectra,
            squared distances, linear programs and cvxpy.
        """
        whole = self.gram.whole
        if self.factors is not None:
            raise ProblemError(
                "problem", "the whole kernel matrix", "one that is kept as factors",
                "SVMDual, ESVM, SpectrumSVM, ConvexHullDual, GuoSchuurmansQP, KernelLogistic, "
                "LPSVM, LussDual, LussBall and UniformWeights read factors; for others and cvxpy "
                "form the matrix where n is small: KernelProblem((F * signs) @ F.T, y).",
            )  # fmt: skip
        if whole is None:
            raise ProblemError(
                "problem", "the whole kernel matrix", "one whose rows are computed on demand",
                "Spectra, squared distances, linear programs, cvxpy and all solvers but smo, "
                "multistart, newton-cg and cg need the whole matrix: leave out cache_mb.",
            )  # fmt: skip
        matrix = whole.astype(np.float64, copy=False)
        matrix.flags.writeable = False
        return matrix

    def check_unchanged(self) -> None:
        """Raise `ProblemError` if K, or the points it is computed from, have been changed.

        Whatever makes a claim calls this first, because what is known of K is computed only once.
        It is one pass over K, a few milliseconds per ten million entries.
        """
        if self.gram.changed():
            raise ProblemError(
                "problem", "the kernel matrix that it was made with", "one that was changed since",
                "Make a new KernelProblem after every change, or give this one a copy.",
            )  # fmt: skip

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

    @property
    def precision(self) -> str:
        """ "double" or "single"."""
        return "single" if self.gram.dtype == np.float32 else "double"

    @property
    def curvature_known(self) -> bool:
        """Whether convexity can be tested, which is not so if rows of K are computed on demand."""
        return self.gram.whole is not None or self.factors is not None

    @cached_property
    def class_sizes(self) -> tuple[int, int]:
        """(n₊, n₋)."""
        positive = int(np.sum(self.y > 0))
        return positive, self.n - positive

    @property
    def smaller_class(self) -> int:
        """min(n₊, n₋)."""
        return min(self.class_sizes)

    @cached_property
    def Q(self) -> Array:
        """Q_ij = y_i y_j K_ij, (n, n)."""
        return self.K * np.outer(self.y, self.y)

    @cached_property
    def zero_tolerance(self) -> float:
        """Magnitude up to which an eigenvalue of K is rounding; see `spectrum.zero_tolerance`.

        It also bounds the rounding of a product Kx relative to ‖x‖.
        """
        if self.factors is not None:
            return self.factors.rounding
        return zero_tolerance(self.n, self._norm)

    @cached_property
    def _norm(self) -> float:
        if self._construction is None or self._construction.norm is None:
            return norm_bound(self.K)
        if self.gram.whole is None:
            return self._construction.norm
        return min(self._construction.norm, float(np.linalg.norm(self.K)))

    def convexity_allowance(self, lines: int) -> float:
        """The a for which `is_convex` proves vᵀKv ≥ -a‖v‖².

        It is that of a Cholesky factorisation, see `convexity_tolerance`, which the rounding of
        FFᵀ does not exceed; or the rounding of a kernel that theory says is convex.
        """
        if self.factors is not None:
            return 0.0 if self.factors.is_definite else 2.0 * self.factors.rounding
        made = self._construction
        if made is not None and made.allowance is not None and lines >= made.lines:
            return made.allowance
        return 2.0 * convexity_tolerance(self.K, self._norm)

    def _apply_theorem(self, found: kernels.Definiteness | None) -> None:
        """Note that a theorem proves convexity, unless rounding to single precision may undo it.

        The computed matrix is K + E with |E_ij| ≤ c·eps·k, k the largest |K_ij|, so that
        ‖E‖ ≤ n·c·eps·k. On the diagonal of a positive semidefinite kernel there is an entry of
        size k. Of -d² every entry is at most four times as large as some entry of its first row.
        """
        if found is None or self.gram.dtype != np.float64:
            return
        if found.conditional:
            first = self.gram.block(np.arange(1), np.arange(self.n))
            largest = 4.0 * float(np.abs(first).max())
        else:
            largest = float(np.abs(self.gram.diagonal).max())
        if largest < _MIN_PROVED:  # entries may have been lost to underflow
            return
        eps, lines = EPS, 1 if found.conditional else 0
        allowance = self.n * found.rounding * eps * largest
        self._construction = _Construction(
            found.theorem, lines, allowance, self.n * largest + allowance
        )
        self._convex = dict.fromkeys(range(lines, 3), True)

    @cached_property
    def spectrum(self) -> Spectrum:
        """Eigendecomposition of K; without the eigenvectors of zero if it is kept as factors."""
        if self.factors is not None:
            return self.factors.spectrum
        return eigendecomposition(self.K)

    @cached_property
    def centered(self) -> Array:
        """PKP with P = I - eeᵀ/n, (n, n): the inner products of the centred embedding."""
        means = self.K.mean(axis=0)
        return self.K - means[:, None] - means[None, :] + means.mean()

    @cached_property
    def centered_spectrum(self) -> Spectrum:
        """Eigendecomposition of PKP."""
        if self.factors is not None:
            return self.factors.centered().spectrum
        return eigendecomposition(self.centered, norm=self._norm)

    @property
    def signature(self) -> tuple[int, int]:
        """(p, q): positive and negative eigenvalues of PKP (Haasdonk 2005, Proposition 1)."""
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
    def is_psd(self) -> bool:
        """Whether K is positive semidefinite up to `convexity_allowance`."""
        return self._convex_on(lines=0)

    @property
    def is_conditionally_psd(self) -> bool:
        """Whether vᵀKv ≥ 0 for all v with eᵀv = 0, up to `convexity_allowance`.

        The SVM dual with a bias is convex if and only if this holds.
        """
        return self._convex_on(lines=1)

    def is_convex(self, lines: int) -> bool:
        """Whether αᵀQα is convex along the equality constraints.

        Parameters
        ----------
        lines : {0, 1, 2}
            0: all directions; 1: those with yᵀd = 0; 2: those with yᵀd = 0 and eᵀd = 0.

        Notes
        -----
        Decided by a theorem or a spectrum if one is known, else by one Cholesky factorisation.
        False where convexity cannot be tested; see `curvature_known`.
        """
        return self.known_convex(lines) or (self.curvature_known and self._convex_on(lines))

    def known_convex(self, lines: int) -> bool:
        """Whether `is_convex` is already known to be true; nothing is computed."""
        return any(self._convex.get(fewer, False) for fewer in range(lines + 1))

    def convexity_order(self, lines: int) -> int:
        """Order of the matrix that `is_convex` has yet to factorise; 0 if a sample decides it."""
        if self.known_convex(lines) or not self.curvature_known:
            return 0
        if self.factors is None and lines not in self._convex and self._curved_sample(lines):
            self._convex[lines] = False
        return 0 if lines in self._convex else self.n

    def why_convex(self, lines: int) -> str:
        """How convexity is known, as part of a sentence: "by its eigenvalues"."""
        if self._construction is not None and lines >= self._construction.lines:
            return f"by construction, as {self._construction.why}"
        along = "" if lines == 0 or self._convex.get(0, False) else " along the constraints"
        return f"by its eigenvalues{along}"

    def _convex_on(self, lines: int) -> bool:
        if lines not in self._convex:
            self._convex[lines] = self._test_convexity(lines)
        return self._convex[lines]

    def _test_convexity(self, lines: int) -> bool:
        if any(self._convex.get(fewer, False) for fewer in range(lines)):
            return True
        if self.factors is not None:
            return self.negative_direction(lines) is None
        if self._curved_sample(lines):
            return False
        if lines < 2:
            key, matrix = ("spectrum", self.K) if lines == 0 else ("centered_spectrum", None)
            if key in self.__dict__:
                known: Spectrum = self.__dict__[key]
                return known.minimum >= -self.zero_tolerance
            if matrix is not None:
                return negative_direction(matrix, norm=self._norm) is None
        return self.negative_direction(lines) is None

    def _curved_sample(self, lines: int) -> bool:
        """Whether a sample of points shows negative curvature beyond the rounding of all of K."""
        if lines in self._uncurved_samples:
            return False
        for size in _CURVATURE_SAMPLES:
            if size > _MAX_SAMPLE_SHARE * self.n:
                break
            chosen = _sample(self.n, size)
            block = self.gram.block(chosen, chosen)
            direction = _curved_direction(block, self.y[chosen], lines)
            if direction is None:
                continue
            curvature = float(direction @ block @ direction) / float(direction @ direction)
            # n·max|K| is known without a pass over K and in most cases small enough.
            if curvature < -2.0 * zero_tolerance(self.n, self.n * self.largest):
                return True
            if curvature < -2.0 * self.zero_tolerance:
                return True
        self._uncurved_samples.add(lines)
        return False

    def negative_direction(self, lines: int) -> Array | None:
        """A unit vector d with dᵀQd < 0 along the equality constraints, or None if convex."""
        normals = _orthonormal(self.y, lines)
        if self.factors is not None:
            direction = self.factors.negative_direction(normals)
        else:
            direction = negative_direction(self.K, normals, self._norm)
        return None if direction is None else self.y * direction

    @cached_property
    def squared_distances(self) -> Array:
        """d²_ij = K_ii - 2K_ij + K_jj, (n, n); may be negative (Haasdonk 2005, (1))."""
        diagonal = np.diag(self.K)
        squared = diagonal[:, None] - 2.0 * self.K + diagonal[None, :]
        np.fill_diagonal(squared, 0.0)
        return squared

    @cached_property
    def class_mean_distance(self) -> float:
        """Squared distance of the class means, cᵀKc with c_i = 1/n₊ or -1/n₋ (section 7.3)."""
        positive, negative = self.class_sizes
        c = np.where(self.y > 0, 1.0 / positive, -1.0 / negative)
        return float(c @ self.gram.times(c))

    def transformed(self, transform: str, centered: bool = False) -> KernelProblem:
        """The same labels with h(K), or h(PKP), for a transformation "clip", "flip", "shift".

        The spectrum of the new problem is known without another decomposition. If K is kept as
        factors the new kernel is, too, and a shift, which would make its rank n, is refused.
        """
        key = (transform, centered)
        if key not in self._transformed:
            source = self.centered_spectrum if centered else self.spectrum
            image = source.transformed(transform)
            name = f"{self.name}, {transform}"
            made = f"the spectrum was changed by {transform!r}"
            if self.factors is None:
                problem = self._constructed(image.rebuild(image.values), name, made)
            elif transform == "shift":
                raise ProblemError(
                    "problem", "a whole kernel matrix for 'shift'", "one that is kept as factors",
                    "A shift makes the rank n; 'clip' and 'flip' keep the factors.",
                )  # fmt: skip
            else:
                problem = self._of_spectrum(image, name, made)
            problem.__dict__["spectrum"] = image
            self._transformed[key] = problem
        return self._transformed[key]

    def with_labels(self, y: ArrayLike) -> KernelProblem:
        """The same kernel with other labels; what is known of the kernel alone is shared.

        Examples
        --------
        >>> problem = KernelProblem([[0.0, 1.0], [1.0, 0.0]], [-1, 1])
        >>> spectrum = problem.spectrum
        >>> problem.with_labels([1, -1]).spectrum is spectrum
        True
        """
        problem = KernelProblem.from_gram(self.gram, y, name=self.name)
        problem.__dict__.update({k: v for k, v in self.__dict__.items() if k in _OF_KERNEL_ALONE})
        problem._convex = {lines: known for lines, known in self._convex.items() if lines < 2}
        return problem

    @property
    def is_decomposed(self) -> bool:
        """Whether an eigendecomposition of K or of PKP has been computed."""
        return "spectrum" in self.__dict__ or "centered_spectrum" in self.__dict__

    def with_kernel(self, K: ArrayLike, name: str = "problem") -> KernelProblem:
        """The same labels with another kernel matrix."""
        return KernelProblem(K, self.labels, name=name)

    def perturbed(self, noise: float, seed: int = 0) -> KernelProblem:
        """The same labels with the kernel K + E, E a random symmetric matrix of a given size.

        E = s(A + Aᵀ), where A has independent standard normal entries and s > 0 is such that
        ‖E‖_F = noise · ‖K‖_F.

        Parameters
        ----------
        noise : float
            Size of E relative to K, in Frobenius norms, not negative.
        seed : int
            Seed of A; the same seed gives the same perturbation.

        Returns
        -------
        KernelProblem
            A problem of its own; what is known of K, such as points and spectrum, is not known of
            K + E.

        Raises
        ------
        ParameterError
            If noise is negative or not finite, or the seed no integer from 0 to 2³² - 1.
        ProblemError
            If rows of K are computed on demand.

        References
        ----------
        Luss & d'Aspremont (2007), section 4.2: means and deviations over data sets "created by
        randomly perturbing" others. How large their perturbations are is not printed.

        Examples
        --------
        >>> problem = KernelProblem([[0.0, 3.0], [3.0, 0.0]], [1, -1])
        >>> E = problem.perturbed(0.1, seed=1).K - problem.K
        >>> bool(np.all(E == E.T)), (np.linalg.norm(E) / np.linalg.norm(problem.K)).round(12)
        (True, np.float64(0.1))
        """
        checks.positive("noise", noise, zero=True)
        checks.seed("seed", seed)
        K = self.K
        A = np.random.default_rng(seed).standard_normal((self.n, self.n))
        E = A + A.T
        # Scaled first, so that no square leaves the range of doubles.
        largest = self.largest or 1.0
        E *= noise * float(np.linalg.norm(K / largest) / np.linalg.norm(E)) * largest
        E += K
        name = f"{self.name}, noise {noise:g}, seed {seed}"
        return KernelProblem._of_own(
            E.astype(self.gram.dtype, copy=False), self.labels, self.precision, name
        )

    def with_factor(self, F: Array, name: str = "problem") -> KernelProblem:
        """The same labels with the kernel FFᵀ, positive semidefinite by construction, O(n²r).

        Parameters
        ----------
        F : (n, r) array
        name : str
            What to call the problem in reports.

        Examples
        --------
        >>> problem = KernelProblem([[0.0, 1.0], [1.0, 0.0]], [1, -1])
        >>> problem.with_factor(np.array([[1.0], [2.0]])).K
        array([[1., 2.],
               [2., 4.]])
        """
        with one_thread():
            # The product of a matrix with its own transpose is symmetric to the last bit.
            product = F @ F.T
        return self._constructed(product, name, "its kernel matrix is F times the transpose of F")

    def _of_spectrum(self, image: Spectrum, name: str, why: str) -> KernelProblem:
        """The same labels with a positive semidefinite kernel, kept as the factors V√Λ."""
        F = image.vectors * np.sqrt(image.values)
        problem = KernelProblem._of_gram(FactorGram(F, owned=True), self.labels, name)
        problem._construction = _Construction(why)
        return problem

    def _constructed(self, K: Array, name: str, why: str) -> KernelProblem:
        """The same labels with a kernel that is positive semidefinite, for the reason `why`."""
        problem = KernelProblem._of_own(K, self.labels, "double", name)
        problem._convex, problem._construction = dict.fromkeys(range(3), True), _Construction(why)
        return problem

    @property
    def labels(self) -> NDArray[Any]:
        """The labels as the caller wrote them, (n,)."""
        return self.classes[(self.y > 0).astype(int)]

    def kernel_with(self, X_new: ArrayLike) -> Array:
        """k(new point, training point), (m, n), for raw new points, if made by `from_data`.

        For a problem of `from_distances` the argument is the (m, n) distances of new points from
        the training points.

        Examples
        --------
        >>> problem = KernelProblem.from_distances([[0.0, 2.0], [2.0, 0.0]], [-1, 1])
        >>> problem.kernel_with([[1.0, 3.0]])
        array([[-0.5, -4.5]])

        For a problem of `from_factors` it is the (m, r) factors of new points.
        """
        if self.factors is not None:
            return (self.factors_with(X_new) * self.factors.signs) @ self.factors.factors.T
        if self.form is not None:
            distances = finite_array("X_new", X_new, (None, self.n))
            if distances.min(initial=0.0) < 0.0:
                raise ProblemError("X_new", "distances, none negative", f"{distances.min():g}")
            return kernels.of_distances(distances, *self.form)
        X, kernel = self._source()
        points = checked_points("X_new", X_new, X.shape[1])
        return kernel(self._scaled(points), self._scaled(X))

    def factors_with(self, X_new: ArrayLike) -> Array:
        """Rows of F for new points, (m, r), if K is kept as factors.

        With f = `factors_with(X_new)` the decision values of a classifier are f @ w + offset, where
        w = signs * (F.T @ coef): m·r numbers instead of the m·n of `kernel_with`. For a problem of
        `from_factors` the argument is those rows themselves, which are checked.

        Examples
        --------
        >>> problem = KernelProblem.from_factors([[1.0, 1.0], [0.0, 2.0]], [1, -1], [1, -1])
        >>> problem.kernel_with([[3.0, 1.0]])
        array([[ 2., -2.]])
        """
        if self.factors is None:
            raise ProblemError("problem", "one made by from_factors or approximate", "another")
        if self.approximation is None:
            return checked_points("X_new", X_new, self.factors.signs.size)
        X, _ = self._source()
        points = checked_points("X_new", X_new, X.shape[1])
        return self.approximation.features(self._scaled(points))

    def _source(self) -> tuple[Array, Callable[..., Array]]:
        if self.X is None or self.kernel is None:
            raise ProblemError("problem", "one made by from_data", "one without points")
        return self.X, self.kernel

    def split(self, train: NDArray[np.intp], test: NDArray[np.intp]) -> Split:
        """Training problem and test kernel for two sets of rows.

        A `from_data` problem with scaling that is fitted again, or with rows on demand, is rebuilt
        from its training points; otherwise K is cut into blocks.
        """
        known, labels = self.labels[train], self.labels[test]
        whole, block = self.gram.whole, self.gram.block
        kept = keeps_scaling(self.scaling)
        if self.factors is not None:
            return self._split_factors(train, test)
        if whole is not None and kept:
            cut = whole[np.ix_(train, train)]
            problem = KernelProblem._of_own(cut, known, self.precision, self.name)
            problem.form = self.form
            made = self._construction
            if made is not None and made.allowance is not None:
                # What holds of K up to rounding holds of its principal submatrices.
                problem._construction = made
                problem._convex = dict.fromkeys(range(made.lines, 3), True)
            return Split(problem, block(test, train), labels, lambda: block(test, test))
        X, kernel = self._source()
        problem = KernelProblem.from_data(
            self._scaled(X[train]) if kept else X[train], known, kernel,
            scaling=None if kept else self.scaling, cache_mb=self.cache_mb,
            precision=self.precision, name=self.name,
        )  # fmt: skip
        if kept:
            problem.X, problem.scaling, problem._scaled = X[train], self.scaling, self._scaled
        scaled, points = problem._scaled, X[test]
        return Split(problem, problem.kernel_with(points), labels, lambda: kernel(scaled(points)))

    def _split_factors(self, train: NDArray[np.intp], test: NDArray[np.intp]) -> Split:
        """`split` for factors: landmarks and features are drawn again from the training points.

        Of a rank, or a number of landmarks, that exceeds their number, as many are left.
        """
        known, gram = self.labels[train], self.factors
        assert gram is not None
        if self._remade is None:
            rows, new = gram.factors[train], gram.factors[test]
            problem = KernelProblem.from_factors(rows, gram.signs, known, name=self.name)
        else:
            X, _ = self._source()
            kept = keeps_scaling(self.scaling)
            part = self._scaled(X[train]) if kept else X[train]
            scaling = None if kept else self.scaling
            asked = {key: self._remade.keywords[key] for key in ("rank", "landmarks")}
            fewer = {key: value and min(value, len(part)) for key, value in asked.items()}
            problem = self._remade(part, known, scaling=scaling, **fewer)
            if kept:
                problem.X, problem.scaling, problem._scaled = X[train], self.scaling, self._scaled
            new = problem.factors_with(X[test])
        made = problem.factors
        assert made is not None
        K_new = (new * made.signs) @ made.factors.T
        return Split(problem, K_new, self.labels[test], lambda: (new * made.signs) @ new.T)


class _Construction(NamedTuple):
    """Why a kernel matrix is convex without a test of its eigenvalues.

    Attributes
    ----------
    why : str
        As part of a sentence.
    lines : int
        Along how many equality constraints; see `KernelProblem.is_convex`.
    allowance : float, optional
        By how much rounding may have moved an eigenvalue, if that is known.
    norm : float, optional
        A bound on ‖K‖ that needs no pass over K, if there is one.
    """

    why: str
    lines: int = 0
    allowance: float | None = None
    norm: float | None = None


@dataclass(frozen=True, eq=False)
class Split:
    """A training problem with the data needed to test on other points.

    Attributes
    ----------
    problem : KernelProblem
    K_new : (m, n) array
        k(test point, training point).
    labels : (m,) array
        True labels of the test points.
    K_new_new : callable
        Computes the (m, m) kernel among the test points, for the joint treatment.
    """

    problem: KernelProblem
    K_new: Array
    labels: NDArray[Any]
    K_new_new: Callable[[], Array]


def check_problem(problem: Any) -> None:
    """Raise `ProblemError` unless problem is a `KernelProblem`."""
    if not isinstance(problem, KernelProblem):
        raise ProblemError("problem", "a KernelProblem", type(problem).__name__)


def _orthonormal(y: Array, lines: int) -> Array | None:
    """Orthonormal basis of the excluded directions in terms of v = y∘d: e, or e and y."""
    if lines == 0:
        return None
    columns = [np.ones(y.size), y - y.mean()][:lines]
    return np.column_stack([each / (float(np.linalg.norm(each)) or 1.0) for each in columns])


@functools.lru_cache(maxsize=8)
def _sample(n: int, size: int) -> NDArray[np.intp]:
    """Some of the numbers 0, ..., n - 1 in ascending order, always the same."""
    chosen = np.sort(np.random.default_rng(0).permutation(n)[:size])
    chosen.flags.writeable = False
    return chosen


def _curved_direction(K: Array, y: Array, lines: int) -> Array | None:
    """A direction v = y∘d along the lines in which a small K seems curved downwards, or None.

    The lines say that the sum of v is zero, and with two that it is so in each class: one entry of
    v follows from the others that it shares a line with.
    """
    reduced = K
    if lines:
        follows = np.zeros(y.size, dtype=np.intp)
        if lines == 2:
            follows[:] = np.where(y > 0.0, np.argmax(y > 0.0), np.argmax(y < 0.0))
        rows = K[follows]
        reduced = K - rows - rows.T + rows[:, follows]
        reduced[follows, follows] = 1.0  # the rest of the row is zero
    factor = np.asfortranarray(reduced)
    breakdown = cholesky_in_place(factor)
    if breakdown == 0:
        return None
    direction = breakdown_direction(factor, breakdown)
    if lines:
        np.subtract.at(direction, follows, direction.copy())
    return direction


def _refuse_overflow(gram: Gram) -> None:
    """Raise `ProblemError` where terms of an objective could overflow."""
    if gram.largest_read > checks.MAX_ENTRY:
        raise ProblemError(
            "K", f"entries of at most {checks.MAX_ENTRY:g}, or objectives overflow",
            f"{gram.largest_read:.3g}", "Scale the kernel.",
        )  # fmt: skip
