"""The data of a learning problem: a symmetric kernel matrix of any inertia with labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt.algebra import Constant, constants
from indefinite_opt.errors import ParameterError, ProblemError, UnknownName
from indefinite_opt.foundation import (
    MAX_BYTES,
    Array,
    cached_property,
    checked_points,
    checks,
    derived,
    finite_array,
    html_card,
    labelled,
    one_thread,
    read_only,
    rounding_of,
    type_of,
)
from indefinite_opt.problem import kernels
from indefinite_opt.problem.datasets.encoding import Encoding, as_text
from indefinite_opt.problem.datasets.reading import in_order, read
from indefinite_opt.problem.datasets.scaling import fitted_scaling, keeps_scaling, unscaled
from indefinite_opt.problem.datasets.synthetic import Dataset
from indefinite_opt.problem.kernel_matrix import RowGram, apply_theorem
from indefinite_opt.problem.labelled_kernel import LabelledKernel
from indefinite_opt.problem.symbols import SYMBOLS
from indefinite_opt.quadratic import (
    AbsentGram,
    AsymmetricGram,
    Construction,
    DenseGram,
    Gram,
    Spectrum,
    checked_distances,
    checked_matrix,
    digest_of,
)

MOST_FORMED = 15_000
"""By default K is formed for up to so many points, for which it takes 1.8 GB."""

CACHE_MB = 500.0
"""Megabytes for rows of K, by default, for more points than that."""

_AS_IT_IS = "With asymmetric=True formulations such as AsKLS take it as it is."

_HIDING_SHARE = 2.0**-10
"""A constant hides digits if the entries of K differ by less than this share of it."""


class KernelProblem(LabelledKernel):
    """Kernel matrix K of any inertia with labels of classes, with targets, or without labels.

    Derived quantities are computed on first access and then kept.

    Parameters
    ----------
    K : (n, n) array_like
        Symmetric, finite kernel (similarity) matrix. A matrix that is symmetric up to rounding is
        replaced by (K + Kᵀ)/2. A float32 matrix is kept as such until a solver or a certificate
        needs the whole of it in doubles, which changes no value.
    y : (n,) array_like, optional
        Labels of two or more classes, real targets, or nothing for one class. With two classes the
        larger one in sorting order becomes +1.
    task : {"classification", "regression", "one class"}, optional
        What the labels are for. By default two values, texts, truth values and whole numbers of
        any type are classes, other numbers are targets, and no labels are one class.
    symmetrize : bool
        Replace K by (K + Kᵀ)/2 instead of refusing an asymmetric matrix.
    asymmetric : bool
        Take K_ij = k(x_i, x_j) as it is, for two classes and the formulations of asymmetric
        matrices, such as `AsKLS`. `directed` has the matrix, and whatever needs a symmetric one is
        refused.
    copy : bool
        K is copied, so that later changes of the caller's array have no effect. With `copy=False` a
        contiguous array of float64 or float32 that is symmetric to the last bit is used as it is,
        and becomes read-only. It must not be changed through another array either, such as one that
        it is a view of, or claims may be false. Every other K is copied.
    name : str
        What to call the problem in reports.

    Attributes
    ----------
    gram : Gram
        The kernel matrix as solvers read it.
    y : (n,) array of -1.0 and +1.0
        All of them +1, unless there are two classes.
    classes : (k,) array
        The caller's labels in sorting order, with two classes those for -1 and +1; empty without
        classes.
    targets : (n,) array
        The numbers to predict, for regression.
    X, kernel, scaling, cache_mb : optional
        Raw data, kernel function, scaling of the features and size of the cache of rows, if the
        problem was made by `from_data`.
    D : (n, n) array, optional
        The distances, if the problem was made by `from_distances`; its kernel has their form and γ.
    table : Encoding, optional
        How the columns of a table, or of a DataFrame, become the features of X.
    objects : tuple of str
        Names of the rows of K, as of a DataFrame, or empty.
    meanings : dict of str to str
        What labels such as "-1" and "1" stand for, where a data set says so.

    Raises
    ------
    ProblemError
        If K is not square, finite and symmetric up to rounding (1e-10 of the largest entry of each
        row, or for K of a coarser type, such as float32, 16 times the eps of that type), or y does
        not have n finite entries.

    Examples
    --------
    >>> problem = KernelProblem([[0.0, 1.0], [1.0, 0.0]], ["cat", "dog"])
    >>> problem.y, problem.spectrum.inertia
    (array([-1.,  1.]), Inertia(positive=1, negative=1, zero=0))
    """

    X: Array | None = None
    kernel: Any = None
    scaling: str | None = None
    cache_mb: float | None = None
    D: Array | None = None
    table: Encoding | None = None
    objects: tuple[str, ...] = ()
    _scaled: Callable[[Array], Array] = staticmethod(unscaled)
    kept_digest: int | None = None

    def __init__(
        self,
        K: ArrayLike,
        y: ArrayLike | None = None,
        *,
        task: str | None = None,
        symmetrize: bool = False,
        asymmetric: bool = False,
        copy: bool = True,
        name: str = "problem",
    ) -> None:
        checks.switch("asymmetric", asymmetric)
        if asymmetric and symmetrize:
            raise ParameterError("symmetrize", "False for an asymmetric matrix", "True")
        kept, extremes = checked_matrix(
            "K", K, symmetrize, floats=not asymmetric, own=copy or not isinstance(K, np.ndarray),
            asymmetric=asymmetric, if_large=_AS_IT_IS,
        )  # fmt: skip
        gram: Gram = AsymmetricGram(kept) if asymmetric else DenseGram(kept, extremes)
        if not copy and isinstance(K, np.ndarray) and np.may_share_memory(kept, K):
            K.setflags(write=False)
        gram.came_as = type_of(K)
        self._begin(gram, y, name, task)
        self.objects = _columns(K)

    @classmethod
    def from_gram(
        cls,
        gram: Gram,
        y: ArrayLike | None,
        *,
        task: str | None = None,
        name: str = "problem",
        definiteness: kernels.Definiteness | None = None,
    ) -> KernelProblem:
        """The problem of a kernel matrix that has been checked already; nothing is copied.

        Its array must not be changed afterwards.

        `definiteness` is the theorem, if any, that proves the kernel function definite.

        Examples
        --------
        >>> from indefinite_opt.quadratic import DenseGram
        >>> gram = DenseGram(np.array([[0.0, 1.0], [1.0, 0.0]]))
        >>> KernelProblem.from_gram(gram, [1, 2]).y
        array([-1.,  1.])
        """
        problem = cls.__new__(cls)
        problem._begin(gram, y, name, task)
        apply_theorem(gram, definiteness)
        return problem

    def _begin(self, gram: Gram, y: ArrayLike | None, name: str, task: str | None) -> None:
        self.gram = gram
        labels = labelled(y, gram.n, task)
        self.task, self.classes, self._values = labels
        self.y = labels.signs
        self.__setstate__({})
        self.name = name
        self.meanings: dict[str, str] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_derived"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Files of earlier versions do not have all of what tests have found.
        self.__dict__.update({"_convex": {}, "_curved": {}} | state)
        self.y.flags.writeable = self._values.flags.writeable = False

    @classmethod
    def from_data(
        cls,
        X: ArrayLike,
        y: ArrayLike | None = None,
        kernel: str | Callable[..., Any] = "rbf",
        *,
        task: str | None = None,
        scaling: str | None = None,
        cache_mb: float | None = None,
        name: str = "problem",
        **parameters: Any,
    ) -> KernelProblem:
        """K_ij = k(x_i, x_j), after a scaling of the features if one is chosen.

        For the kernel "linear" a certificate may be about the exact inner products of the scaled
        points, which K holds in rounded form; its reasons say so.

        Parameters
        ----------
        X : (n, d) array_like
            One row per point; X is copied.
        y, task
            As in `KernelProblem`.
        kernel : str or callable
            A name of `kernels.names()`, `"name(parameter=value)"`, a kernel object, or any
            callable (X, Z) -> (n, m). The γ of "rbf" is computed from all points, and the parts of
            a `split` keep it.
        scaling : {"minmax", "unit", "standard"}, optional
            Scale each feature to [-1, 1], to [0, 1], or to mean 0 and variance 1. `split` fits the
            scaling again, on the training points alone; a name that ends in "-all", such as
            "minmax-all", keeps the scaling of all points.
        cache_mb : float, optional
            Never form K, but compute its rows on demand and keep as many as fit into this many
            megabytes, 10⁶ bytes each; `math.inf` forms K. By default K is formed for up to 15,000
            points, 1.8 GB, and more points have a cache of 500 megabytes. Solvers take up to the
            same amount for a block, which leaves less room for rows that are not in memory by then.
            Rows of kernels on few features are kept only if they are asked for often, as computing
            them hardly takes longer than reading them. Whatever needs the whole matrix (spectra,
            linear programs, cvxpy, a test of convexity) is unavailable where K is not formed.
        name
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
        points = read_only(_own(checked_points("X", X), X))
        scaled = fitted_scaling(scaling, points)
        function = function.fitted(scaled(points))
        room = cache_mb
        if room is None:
            room = math.inf if len(points) <= MOST_FORMED else CACHE_MB
        gram: Gram
        if room == math.inf:
            K = function(scaled(points))
            if any(map(callable, vars(function).values())):
                K = K.copy()  # the function may return an array that it keeps
            gram = DenseGram.of_own(K)
        else:
            gram = RowGram(scaled(points), function, room)
        with np.errstate(all="ignore"):
            own = kernels.type_of_values(function, scaled(points))
        gram.came_as = coarsest(type_of(X), own)
        theorem = kernels.definiteness(function, points.shape[1])
        problem = cls.from_gram(gram, y, task=task, name=name, definiteness=theorem)
        names = _columns(X)
        problem.table = Encoding.of_numbers(names) if names else None
        problem.X, problem.kernel, problem.cache_mb = points, function, cache_mb
        problem.scaling, problem._scaled = scaling, scaled
        return problem

    @classmethod
    def from_dataset(
        cls,
        dataset: Dataset,
        kernel: str | Callable[..., Any] | None = None,
        *,
        task: str | None = None,
        scaling: str | None = "default",
        form: str = "gaussian",
        gamma: float | None = None,
        symmetrize: bool = False,
        asymmetric: bool = False,
        cache_mb: float | None = None,
        **parameters: Any,
    ) -> KernelProblem:
        """The problem of a data set of points, similarities or distances.

        Parameters
        ----------
        dataset : Dataset
            See `datasets.load` and `datasets.read`.
        task
            As in `KernelProblem`: "regression" takes whole numbers as targets.
        kernel, scaling, cache_mb, **parameters
            For points, as in `from_data`; kernel and scaling are those of the data set by default,
            and "rbf" where it has no kernel.
        form : {"linear", "gaussian", "exponential", "raw"}
            For distances, as in `from_distances`.
        gamma : float, optional
            γ of the form, by default 1/mean(d) for "exponential" and 1/mean(d²) for "gaussian", the
            means of all n² entries; for points the γ of the kernel.
        symmetrize : bool
            For similarities and distances, as in `KernelProblem`.
        asymmetric : bool
            For similarities, as in `KernelProblem`.

        Raises
        ------
        ParameterError
            For an argument that is for data of another kind.

        Examples
        --------
        >>> from indefinite_opt.problem.datasets import Dataset
        >>> cans = Dataset("cans", np.array([3, 5, 5, 4]), K=np.eye(4))
        >>> KernelProblem.from_dataset(cans)
        KernelProblem('cans', n=4, classes=[3, 4, 5])
        >>> KernelProblem.from_dataset(cans, task="regression").targets
        array([3., 5., 5., 4.])
        """
        _refuse_idle(
            dataset, kernel=kernel, scaling=None if scaling == "default" else scaling,
            cache_mb=cache_mb, **parameters, gamma=gamma, symmetrize=symmetrize or None,
            asymmetric=asymmetric or None, form=None if form == "gaussian" else form,
        )  # fmt: skip
        if dataset.X is not None:
            chosen = kernel or dataset.kernel or "rbf"
            scaling = dataset.scaling if scaling == "default" else scaling
            if gamma is not None:
                parameters["gamma"] = gamma
            problem = cls.from_data(
                dataset.X, dataset.y, chosen, task=task, scaling=scaling, cache_mb=cache_mb,
                name=dataset.name, **parameters,
            )  # fmt: skip
        elif dataset.D is not None:
            problem = cls.from_distances(
                dataset.D, dataset.y, form, task=task, gamma=gamma, symmetrize=symmetrize,
                name=dataset.name,
            )  # fmt: skip
        elif dataset.K is not None:
            problem = cls(
                dataset.K, dataset.y, task=task, symmetrize=symmetrize, asymmetric=asymmetric,
                name=dataset.name,
            )  # fmt: skip
        else:
            raise ProblemError("dataset", "points X, similarities K or distances D", "none of them")
        return problem.described(dataset)

    def described(self, dataset: Dataset) -> KernelProblem:
        """The problem itself, with what a data set says about its columns, rows and labels."""
        self.table = dataset.table or self.table
        if self.table is None and dataset.feature_names:
            self.table = Encoding.of_numbers(dataset.feature_names)
        self.objects = dataset.names
        labels = [as_text(label) for label in self.classes.tolist()]
        if len(labels) == len(dataset.classes) and dataset.classes != ("-1", "+1"):
            named = zip(labels, dataset.classes, strict=True)
            self.meanings = {label: name for label, name in named if label != name}
        return self

    @classmethod
    def read(
        cls,
        path: str | Path,
        kind: str | None = None,
        *,
        label: str | None = None,
        labels: str | Path | None = None,
        missing: str = "drop",
        ignore: Sequence[str] = (),
        max_bytes: int = MAX_BYTES,
        **options: Any,
    ) -> KernelProblem:
        """The problem of a table of points, or of a matrix of similarities or distances.

        A matrix in a .csv file counts as a matrix of doubles, however few digits it has. If K_ij
        and K_ji differ in their last digit, only the caller knows whether this is rounding or a
        mistake; `symmetrize` accepts it. The arrays of a .npz file have their own type.

        Parameters
        ----------
        path, kind, label, labels, missing, ignore, max_bytes
            As in `datasets.read`.
        **options
            As in `from_dataset`, such as `task`.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "alignments.csv"
        ...     written = path.write_text("8,2,5,cat\\n2,9,1,dog\\n5,1,7,cat\\n")
        ...     problem = KernelProblem.read(path, "similarities")
        >>> problem.K[0], problem.labels
        (array([8., 2., 5.]), array(['cat', 'dog', 'cat'], dtype='<U3'))
        """
        dataset = read(
            path, kind, label=label, labels=labels, missing=missing, ignore=ignore,
            max_bytes=max_bytes,
        )  # fmt: skip
        return cls.from_dataset(dataset, **options)

    @classmethod
    def from_distances(
        cls,
        D: ArrayLike,
        y: ArrayLike | None = None,
        form: str = "gaussian",
        *,
        task: str | None = None,
        gamma: float | None = None,
        symmetrize: bool = False,
        name: str = "problem",
    ) -> KernelProblem:
        """Kernel from a matrix of distances d_ij (not squared).

        Parameters
        ----------
        D : (n, n) array_like
            Symmetric, finite, nonnegative distances, 0 on the diagonal up to rounding.
        y, task
            As in `KernelProblem`.
        form : {"linear", "gaussian", "exponential", "raw"}
            -d²/2 (Haasdonk 2005, section 7.1), exp(-γd²) (section 7.5), exp(-γd), or d itself.
            exp(-γd) is positive semidefinite for all γ if and only if the square roots of the
            distances are Euclidean distances (Schoenberg 1938).
        gamma : float, optional
            γ > 0 of the forms "gaussian", in units of 1/d², and "exponential", in units of 1/d; by
            default 1/mean(d²) and 1/mean(d), the means of all n² entries. Other forms have no γ,
            and giving one is an error.
        symmetrize, name
            As in `KernelProblem`.

        Examples
        --------
        >>> KernelProblem.from_distances([[0.0, 2.0], [2.0, 0.0]], [-1, 1], "linear").K
        array([[-0., -2.],
               [-2., -0.]])
        >>> problem = KernelProblem.from_distances([[0, 2], [2, 0]], [-1, 1], "exponential")
        >>> problem.K.round(4)
        array([[1.    , 0.1353],
               [0.1353, 1.    ]])
        >>> problem.origin
        'exponential of distances, gamma=1'
        >>> problem.with_kernel("distance(form=gaussian, gamma=0.5)").origin
        'gaussian of distances, gamma=0.5'
        """
        distances = checked_distances(D, symmetrize, own=True)
        checks.positive("gamma", gamma, optional=True)
        checks.choice("form", form, kernels.FORMS)
        if gamma is not None and form not in kernels.FORMS_WITH_GAMMA:
            raise ParameterError("gamma", f"None for form={form!r}, which has no width", f"{gamma}")
        if gamma is None:
            # If all distances are 0, every γ gives the same kernel.
            mean = float(np.mean(distances if form == "exponential" else np.square(distances)))
            gamma = 1.0 / (mean or 1.0) if form in kernels.FORMS_WITH_GAMMA else 1.0
        kernel = kernels.of_distances(distances, form, gamma)
        if kernel is distances:
            problem = cls(kernel, y, task=task, name=name)
        else:
            problem = cls.from_gram(DenseGram.of_own(kernel), y, task=task, name=name)
        problem.gram.came_as = type_of(D)
        problem.objects, problem.D = _columns(D), read_only(distances)
        problem.kernel = kernels.DistanceSubstitution(kernels.PRECOMPUTED, form, float(gamma))
        return problem

    def check_kernel(self, kernel: kernels.Kernel) -> None:
        """Raise `ParameterError` unless `with_kernel` takes the kernel."""
        fits = self.X is not None and type(self) is KernelProblem
        if self.D is not None:
            fits = isinstance(kernel, kernels.DistanceSubstitution)
            if isinstance(kernel, kernels.DistanceSubstitution):
                kernel.check_given_distances()
        if not fits:
            kind = "none" if self.D is None else "a kernel of distances"
            raise ParameterError(
                "kernel", f"{kind} for {self.name}, which is not made of points", str(kernel),
                "Distances take distance(form=gaussian, gamma=1).",
            )  # fmt: skip

    def with_kernel(self, kernel: str | kernels.Kernel) -> KernelProblem:
        """The same data with another kernel.

        Parameters
        ----------
        kernel : str or Kernel
            As in `from_data`; for distances `"distance(form=gaussian, gamma=0.1)"` and the like.

        Raises
        ------
        ParameterError
            If the problem has neither points nor distances, or the kernel is not for them.
        """
        chosen: Any = kernels.get(kernel)
        self.check_kernel(chosen)
        if self.D is not None:
            made = KernelProblem.from_distances(
                self.D, self.labels, chosen.form, task=self.task, gamma=chosen.width, name=self.name
            )
        else:
            points: Any = self.X
            made = KernelProblem.from_data(
                points, self.labels, chosen, task=self.task, scaling=self.scaling,
                cache_mb=self.cache_mb, name=self.name,
            )  # fmt: skip
        made.gram.came_as = coarsest(made.gram.came_as, self.gram.came_as)
        for name in ("table", "objects", "meanings"):
            setattr(made, name, getattr(self, name))
        return made

    @property
    def as_distances(self) -> KernelProblem:
        """The same labels with the distances as K; the problem itself if its K may hold distances.

        Raises
        ------
        ProblemError
            If K has negative entries, or was made by a kernel from anything but a matrix of
            distances.

        Examples
        --------
        >>> problem = KernelProblem.from_distances([[0.0, 2.0], [2.0, 0.0]], [-1, 1], "gaussian")
        >>> problem.as_distances.K
        array([[0., 2.],
               [2., 0.]])
        """
        kernel = self.kernel
        if self.D is not None and kernel.form != "raw":
            return derived(self, "distances", partial(self.with_kernel, "distance(form=raw)"))
        if kernel is not None and getattr(kernel, "form", "") != "raw":
            raise ProblemError(
                "problem", "a problem of distances", f"one with the kernel {kernel}",
                "KernelProblem.from_distances makes one of a matrix, and the kernel "
                "'distance(form=raw)' of points.",
            )  # fmt: skip
        least = self.gram.extremes[0]
        if least < 0.0:
            raise ProblemError("K", "nonnegative distances", f"{least:g}")
        return self

    @property
    def asymmetric(self) -> bool:
        """Whether K was given as an asymmetric matrix, which `directed` has."""
        return self.gram.asymmetric

    @property
    def directed(self) -> Array:
        """k(x_i, x_j), (n, n), symmetric or not."""
        return self.gram.directed

    @property
    def features(self) -> Array | None:
        """The scaled points Φ, (n, d), of a linear kernel, whose K is ΦΦᵀ up to rounding."""
        linear = type(self.kernel) is kernels.Linear
        return None if self.X is None or not linear else self._scaled(self.X)

    def __repr__(self) -> str:
        labels = f"classes={self.classes.tolist()}" if self.classes.size else f"task={self.task!r}"
        asymmetric = ", asymmetric=True" if self.asymmetric else ""
        return f"KernelProblem({self.name!r}, n={self.n}, {labels}{asymmetric})"

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("points", self.n),
            ("labels", self.labels_in_words),
            ("kernel", self.origin),
            ("scaling", self.scaling or "none"),
        ]
        if 1 in self.gram.decompositions:  # else it would cost an eigendecomposition
            rows += [
                ("signature", "({}, {})".format(*self.signature)),
                *[("zero eigenvalues", self.counted_as_zero)] * bool(self.counted_as_zero),
                ("negative share", f"{100 * self.negative_share:.3g} % of the spectrum"),
            ]
        return html_card(f"{type(self).__name__} {self.name}", rows)

    @property
    def class_names(self) -> tuple[str, ...]:
        """What the classes stand for by `meanings`, else their labels, in the order of `classes`.

        Examples
        --------
        >>> KernelProblem(np.eye(3), [1.0, 2.0, 3.0]).class_names
        ('1', '2', '3')
        """
        return tuple(self.meaning(label) for label in self.classes.tolist())

    def meaning(self, label: Any) -> str:
        """What a label stands for by `meanings`, else the label itself."""
        return self.meanings.get(as_text(label), as_text(label))

    @property
    def labels_in_words(self) -> str:
        """The classes with their numbers of points, the range of the targets, or "none"."""
        if self.task == "regression":
            return f"targets from {self._values.min():.6g} to {self._values.max():.6g}"
        if self.classes.size == 2:
            (positive, negative), (minus, plus) = self.class_sizes, self.class_names
            return f"+1 = {plus} ({positive}), -1 = {minus} ({negative})"
        counts = np.bincount(self._values.astype(int), minlength=self.classes.size).tolist()
        named = [f"{name} ({counts[k]})" for k, name in enumerate(self.class_names)]
        shown = [*named[:8], "...", named[-1]] if len(named) > 10 else named
        return ", ".join(shown) or "none"

    @property
    def origin(self) -> str:
        """How K was made: by a kernel function, from distances, or outside of this package."""
        if self.kernel is None:
            return "precomputed"
        if not _of_distances(self.kernel):
            return str(self.kernel)
        width = f", gamma={self.kernel.gamma:.6g}"
        width = width if self.kernel.form in kernels.FORMS_WITH_GAMMA else ""
        return f"{self.kernel.form} of distances{width}"

    def transformed(self, transform: str, centered: bool = False) -> KernelProblem:
        """The same labels with h(K) = V h(Λ) Vᵀ of K = VΛVᵀ, always positive semidefinite.

        The spectrum of the new problem is known without another decomposition.

        Parameters
        ----------
        transform : {"clip", "flip", "shift", "square"}
            h(λ) is max(λ, 0), |λ|, λ - min(λ_min, 0), or λ², so that h(K) is K² (Schleif & Tiňo
            2015). Values of K² have the square of the unit of K.
        centered : bool
            Transform PKP, P = I - eeᵀ/n, instead of K.

        Raises
        ------
        UnknownName
            For another transformation.
        ProblemError
            If rows of K are computed on demand, or, for "square", if the largest |λ| is above
            1e76, or below 1e-140 and not 0.

        Examples
        --------
        >>> problem = KernelProblem([[0.0, 2.0], [2.0, 0.0]], [-1, 1])
        >>> problem.transformed("square").K.round(12)
        array([[4., 0.],
               [0., 4.]])
        """
        return derived(self, (transform, centered), partial(self._changed, transform, centered))

    def _changed(self, transform: str, centered: bool) -> KernelProblem:
        image = (self.centered_spectrum if centered else self.spectrum).transformed(transform)
        why = f"the spectrum was changed by {transform!r}"
        problem = self._of_spectrum(image, f"{self.name}, {transform}", why)
        problem.gram.spectrum = image
        return problem

    def symbols(self, *names: str, **values: Any) -> list[Constant]:
        """Constants for a model: symbols of the problem by name, and others by value.

        Parameters
        ----------
        *names : str
            K or K0 for the kernel matrix, Q or G for y_i y_j K_ij, H for the same of a matrix that
            may be asymmetric, D2 for the squared distances
            K_ii - 2 K_ij + K_jj, y for the labels, e for ones. Matrices stay references: nothing is
            formed.
        **values
            Numbers, arrays and operators by the names that they have in formulas; a
            `KernelProblem` stands for its kernel.

        Returns
        -------
        list of Constant
            In the order of the arguments, the names first.

        Raises
        ------
        UnknownName
            For another symbol.

        Examples
        --------
        >>> Q, C = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1]).symbols("Q", C=10.0)
        >>> Q.shape, float(C.value)
        ((2, 2), 10.0)
        """
        found: dict[str, Any] = {}
        for name in names:
            if name not in SYMBOLS:
                raise UnknownName("symbol", name, SYMBOLS)
            found[name] = SYMBOLS[name](self)
        for name, value in values.items():
            found[name] = SYMBOLS["K"](value) if isinstance(value, LabelledKernel) else value
        return constants(**found)

    def without_constant(self) -> KernelProblem:
        """The same labels with K - c, where a large constant c hides the digits of K, else itself.

        αᵀQα is the same for weights with yᵀα = 0, and has less rounding. No entry of K - c is
        rounded, as all entries have the size of c (Sterbenz 1974, Floating-Point Computation).

        Examples
        --------
        >>> c = 2.0**40
        >>> KernelProblem([[c + 1, c], [c, c + 2]], [1, -1]).without_constant().K
        array([[ 0., -1.],
               [-1.,  1.]])
        """
        if not self.constant:
            return self

        def make() -> KernelProblem:
            gram = DenseGram.of_own(self.K - self.constant)
            return self.with_gram(gram)

        return derived(self, "no constant", make)

    @cached_property
    def constant(self) -> float:
        """(min K_ij + max K_ij)/2 where it hides the digits of a K that is stored, else 0."""
        if self.gram.on_demand:
            return 0.0
        least, most = self.gram.extremes
        middle = 0.5 * (least + most)
        return middle if most - least < _HIDING_SHARE * abs(middle) else 0.0

    def centred_points(self) -> KernelProblem | None:
        """The same labels with centred points, where a constant hides the digits of their products.

        vᵀKv is the same for weights v of sum zero, and has no rounding of that constant. None for
        other kernels than the linear one, and where there is no such constant.

        Examples
        --------
        >>> X = 2.0**30 + np.array([[0.0], [1.0], [2.0]])
        >>> KernelProblem.from_data(X, [1, 1, -1], "linear").centred_points().K[0]
        array([ 1.,  0., -1.])
        """
        points = self.features
        if points is None or not self.constant:
            return None

        def make() -> KernelProblem:
            centred = points - points.mean(axis=0)
            return KernelProblem.from_data(
                centred, self.labels, "linear", task=self.task, name=self.name
            )

        return derived(self, "centred points", make)

    def raised(self, amount: float) -> KernelProblem:
        """The same labels with K + aI.

        Examples
        --------
        >>> KernelProblem([[0.0, 1.0], [1.0, 0.0]], [1, -1]).raised(2.0).K
        array([[2., 1.],
               [1., 2.]])
        """
        K = self.K.copy()
        K[np.diag_indices(self.n)] += amount
        return self.with_gram(DenseGram.of_own(K, known_symmetric=True))

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
        return self.with_gram(DenseGram.of_own(E), name)

    def relabelled(self, y: ArrayLike | None, task: str | None = None) -> KernelProblem:
        """The same points and kernel matrix with other labels, or without labels.

        Examples
        --------
        >>> KernelProblem([[1.0, 0.0], [0.0, 1.0]], [1, 2]).relabelled([1, 2], "regression").targets
        array([1., 2.])
        """
        made = KernelProblem.from_gram(self.gram, y, task=task, name=self.name)
        for attribute in KernelProblem.__annotations__:
            setattr(made, attribute, getattr(self, attribute))
        return made

    @property
    def unlabelled(self) -> KernelProblem:
        """The same kernel matrix with y = e, kept with the problem; itself if y = e."""
        if self.classes.size != 2:
            return self
        return derived(self, "unlabelled", lambda: self.relabelled(None))

    @property
    def matrix_was_given(self) -> bool:
        """Whether K or D, kept or left out, was given as a matrix: points cannot compute it
        again."""
        stored = isinstance(self.gram, DenseGram | AsymmetricGram | AbsentGram)
        return type(self) is KernelProblem and stored and self.X is None

    def without_matrix(self) -> KernelProblem:
        """The same labels and names without a matrix that was given, for pickles and files.

        Whatever needs K is then a `MatrixNotKept`. A problem of points is returned as it is.

        Examples
        --------
        >>> problem = KernelProblem([[0.0, 1.0], [1.0, 0.0]], [1, -1]).without_matrix()
        >>> problem.labels, problem.gram.diagonal
        (array([ 1, -1]), array([0., 0.]))
        """
        if not self.matrix_was_given or isinstance(self.gram, AbsentGram):
            return self
        gram = self.gram
        made = self.with_gram(AbsentGram(gram.diagonal, gram.extremes, gram.asymmetric))
        for attribute in ("kernel", "table", "objects", "meanings"):
            setattr(made, attribute, getattr(self, attribute))
        made.kept_digest = self.digest
        return made

    @property
    def digest(self) -> int | None:
        """The digest of the matrix that was given, K or D, of 64 bits; None for points.

        Another matrix has the same digest only by chance. The digest is kept where the matrix is
        left out.

        Examples
        --------
        >>> problem = KernelProblem([[0.0, 1.0], [1.0, 0.0]], [1, -1])
        >>> problem.digest == problem.without_matrix().digest != problem.raised(1.0).digest
        True
        """
        D, gram = self.D, self.gram
        unknown = self.kept_digest is None and self.matrix_was_given
        if unknown and isinstance(gram, DenseGram | AsymmetricGram):
            self.kept_digest = gram.digest if D is None else digest_of(D)
        return self.kept_digest

    def with_gram(self, gram: Gram, name: str | None = None) -> KernelProblem:
        """The same labels with another kernel matrix, which has been checked already."""
        name = self.name if name is None else name
        gram.came_as = self.gram.came_as
        return KernelProblem.from_gram(gram, self.labels, task=self.task, name=name)

    def with_sums(self) -> KernelProblem | None:
        """See `LabelledKernel.with_sums`."""

        def make() -> KernelProblem | None:
            gram = self.gram.with_sums()
            return None if gram is None else self.with_gram(gram)

        return derived(self, "sums", make)

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

    def squared(self) -> KernelProblem:
        """The same labels with the kernel K², positive semidefinite; made once per problem.

        Examples
        --------
        >>> KernelProblem([[0.0, 2.0], [2.0, 1.0]], [1, -1]).squared().K
        array([[4., 2.],
               [2., 5.]])
        """
        name = f"{self.name}, squared"
        return derived(self, "squared", lambda: self.with_factor(self.K, name))

    def _of_spectrum(self, image: Spectrum, name: str, why: str) -> KernelProblem:
        """The same labels with the kernel VΛVᵀ, Λ ≥ 0."""
        return self._constructed(image.rebuild(image.values), name, why)

    def _constructed(self, K: Array, name: str, why: str) -> KernelProblem:
        """The same labels with a kernel that is positive semidefinite, for the reason `why`."""
        gram = DenseGram.of_own(K)
        gram.construction = Construction(why)
        return self.with_gram(gram, name)

    def kernel_with(self, X_new: ArrayLike) -> Array:
        """k(new point, training point), (m, n), for raw new points, if made by `from_data`.

        For a problem of `from_distances` the argument is the (m, n) distances of new points from
        the training points, as `of_training_points` takes them.

        Examples
        --------
        >>> problem = KernelProblem.from_distances([[0.0, 2.0], [2.0, 0.0]], [-1, 1], "linear")
        >>> problem.kernel_with([[1.0, 3.0]])
        array([[-0.5, -4.5]])
        """
        if _of_distances(self.kernel):
            distances = self.distances_from_training_points(X_new)
            return kernels.of_distances(distances, self.kernel.form, self.kernel.gamma)
        X, kernel = self._source()
        return kernel(self._scaled(self._points(X_new)), self._scaled(X))

    def distances_from_training_points(self, X_new: ArrayLike) -> Array:
        """The (m, n) distances of new points from the training points, of a problem of distances.

        Examples
        --------
        >>> problem = KernelProblem.from_distances([[0.0, 2.0], [2.0, 0.0]], [-1, 1], "linear")
        >>> problem.distances_from_training_points([[1.0, 3.0]])
        array([[1., 3.]])
        """
        distances = self.of_training_points("X_new", X_new)
        if distances.min(initial=0.0) < 0.0:
            raise ProblemError("X_new", "nonnegative distances", f"{distances.min():g}")
        return distances

    def of_training_points(self, argument: str, X_new: ArrayLike) -> Array:
        """Similarities to the training points, or distances from them, (m, n), in their order.

        The columns of a DataFrame are found by the names of the training points, if both have
        names. `argument` is what errors call X_new. For an asymmetric matrix it is the pair of
        k(x, x_i) and k(x_i, x), two (m, n) matrices, which become one (m, 2n).

        Examples
        --------
        >>> import pandas as pd
        >>> problem = KernelProblem.from_distances([[0.0, 2.0], [2.0, 0.0]], [-1, 1], "linear")
        >>> problem.objects = ("a", "b")
        >>> problem.of_training_points("D_new", pd.DataFrame({"b": [3.0], "a": [1.0]}))
        array([[1., 3.]])
        """
        if self.asymmetric:
            return self._both_ways(argument, X_new)
        numbers = finite_array(argument, X_new, (None, self.n))
        return in_order(numbers, _columns(X_new), self.objects, argument)

    def _both_ways(self, argument: str, X_new: Any) -> Array:
        """k(x, x_i) and then k(x_i, x) of new points, (m, 2n), of the pair of both."""
        if not (isinstance(X_new, tuple | list) and len(X_new) == 2):
            raise ProblemError(
                argument, "the pair (k(x, x_i), k(x_i, x)) of two (m, n) matrices, as K is "
                "asymmetric", type(X_new).__name__, "For the training points it is (K, K.T).",
            )  # fmt: skip
        first, second = (
            in_order(finite_array(name, side, (None, self.n)), _columns(side), self.objects, name)
            for name, side in zip((f"{argument}[0]", f"{argument}[1]"), X_new, strict=True)
        )
        if len(first) != len(second):
            got = f"{len(first)} and {len(second)} rows"
            raise ProblemError(argument, "two matrices with a row for each new point", got)
        return np.hstack([first, second])

    def kernel_among(self, X_new: ArrayLike) -> Array:
        """k(new point, new point), (m, m), for raw new points, if made by `from_data`.

        Examples
        --------
        >>> problem = KernelProblem.from_data([[0.0], [2.0]], [-1, 1], "linear")
        >>> problem.kernel_among([[1.0], [3.0]])
        array([[1., 3.],
               [3., 9.]])
        """
        _, kernel = self._source()
        points = self._scaled(self._points(X_new))
        return kernel(points)

    def _points(self, X_new: Any) -> Array:
        """New points as an array; of a DataFrame with the columns of the training points."""
        X, _ = self._source()
        if self.table is not None and _columns(X_new):
            X_new = self.table.encode(X_new, "X_new")
        return checked_points("X_new", X_new, X.shape[1])

    def _source(self) -> tuple[Array, Callable[..., Array]]:
        if self.X is None or self.kernel is None:
            raise ProblemError("problem", "a problem made by from_data", "one without points")
        return self.X, self.kernel

    def split(self, train: NDArray[np.intp], test: NDArray[np.intp]) -> Split:
        """Training problem and test kernel for two sets of rows.

        A problem of `from_data` is made again from its training points, with a scaling that is
        fitted to them. If K is kept as a whole and the scaling is not fitted again, K is cut into
        blocks, and so is the K of all other problems.
        """
        given = self.labels
        known, labels = (None, None) if given is None else (given[train], given[test])
        if isinstance(self.gram, AsymmetricGram):
            problem = KernelProblem.from_gram(
                self.gram.part(train), known, task=self.task, name=self.name
            )
            rows = self.gram.columns_of(test, train)
            return Split(problem, rows, labels, lambda: self.K)  # which is refused
        kept = keeps_scaling(self.scaling)
        if kept and not self.gram.on_demand:
            block = self.gram.block
            problem = KernelProblem.from_gram(
                self.gram.part(train), known, task=self.task, name=self.name
            )
            if not _of_distances(self.kernel):
                return Split(problem, block(test, train), labels, lambda: block(test, test))
            problem.kernel, D_new = self.kernel, None
            if self.D is not None:
                problem.D, D_new = (read_only(self.D[np.ix_(i, train)]) for i in (train, test))
            return Split(problem, block(test, train), labels, lambda: block(test, test), D_new)
        X, kernel = self._source()
        part, scaling = (self._scaled(X[train]), None) if kept else (X[train], self.scaling)
        problem = self.from_data(
            part, known, kernel, task=self.task, scaling=scaling, cache_mb=self.cache_mb,
            name=self.name,
        )  # fmt: skip
        problem.gram.came_as = coarsest(problem.gram.came_as, self.gram.came_as)
        if kept:
            problem.X, problem.scaling, problem._scaled = X[train], self.scaling, self._scaled
        new = X[test]
        rows = problem.kernel_with(new) if test.size else np.empty((0, problem.n))
        return Split(problem, rows, labels, lambda: problem.kernel_among(new))


_KINDS = {
    "points": "kernel scaling cache_mb gamma",
    "distances": "form gamma symmetrize",
    "similarities": "symmetrize asymmetric",
}
"""Arguments of `from_dataset` by the kind of data that they are for."""


def _refuse_idle(dataset: Dataset, **given: Any) -> None:
    """Raise `ParameterError` for an argument that is for data of another kind."""
    kind = "points" if dataset.X is not None else "distances" if dataset.D is not None else None
    kind = kind or "similarities"
    uses = _KINDS[kind].split()
    for name, value in given.items():
        of_kernel = kind == "points" and name not in " ".join(_KINDS.values()).split()
        if value is not None and name not in uses and not of_kernel:
            raise ParameterError(name, f"none for data given as {kind}", f"{value}")


def coarsest(*types: np.dtype[Any]) -> np.dtype[Any]:
    """The type with the largest rounding."""
    return max(types, key=rounding_of)


def _of_distances(kernel: Any) -> TypeGuard[kernels.DistanceSubstitution]:
    """Whether a kernel is made of a matrix of distances."""
    return getattr(kernel, "distance", None) == kernels.PRECOMPUTED


def _own(array: Array, given: ArrayLike) -> Array:
    """The array, in memory of its own unless it was made of the given one, and read-only."""
    own = array
    if not isinstance(given, list | tuple):  # also a DataFrame may hold what its array is a view of
        is_new = array.base is None and isinstance(given, np.ndarray) and array is not given
        own = array if is_new else array.copy()
    own.flags.writeable = False
    return own


def _columns(X: Any) -> tuple[str, ...]:
    """The names of the columns of a DataFrame, if all of them are texts."""
    if not hasattr(X, "columns"):
        return ()
    names = tuple(X.columns)
    return names if all(isinstance(name, str) for name in names) else ()


@dataclass(frozen=True, eq=False)
class Split:
    """A training problem with the data needed to test on other points."""

    problem: KernelProblem
    K_new: Array
    """k(test point, training point), (m, n); for an asymmetric matrix (m, 2n), with
    k(training point, test point) behind it."""
    labels: NDArray[Any] | None
    """True labels or targets of the test points, (m,); None if there are none."""
    K_new_new: Callable[[], Array]
    """Computes the (m, m) kernel among the test points, for the joint treatment."""
    D_new: Array | None = None
    """Distances of the test points from the training points, (m, n), where they are known."""


def check_problem(problem: Any) -> None:
    """Raise `ProblemError` unless problem is a `KernelProblem`."""
    if not isinstance(problem, KernelProblem):
        raise ProblemError("problem", "a KernelProblem", type(problem).__name__)
