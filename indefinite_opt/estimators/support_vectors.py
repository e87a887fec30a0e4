"""What the estimators share that stand in for those of LIBSVM in scikit-learn."""

from __future__ import annotations

import dataclasses
import itertools
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.utils.validation import (
    _num_samples,
    check_is_fitted,
)

from indefinite_opt.errors import ParameterError, ProblemError
from indefinite_opt.estimators.solved import SolvedEstimator
from indefinite_opt.estimators.training_data import Points, dense
from indefinite_opt.foundation import Array, checks, parse_call
from indefinite_opt.problem import kernels
from indefinite_opt.quadratic import Gram, Solver

SKLEARN_KERNELS = {
    "linear": "", "poly": "degree gamma coef0", "rbf": "gamma", "sigmoid": "gamma coef0"
}  # fmt: skip
"""Kernels of scikit-learn, and which parameters of the estimator they read."""

KERNEL_PARAMETERS = {"degree": ("degree", 3), "gamma": ("gamma", "scale"), "coef0": ("r", 0.0)}
"""What kernels of the package call the parameters of the estimator, and their defaults."""

HARD_MARGINS = (1e4, 1e7, 1e10)
"""Bounds that stand for C = inf, in units of a weight that changes f by its whole range."""


def hard_margin_bounds(largest: float, span: float = 1.0) -> list[float]:
    """Bounds that stand for C = inf, ascending, where f has to change by `span` or less.

    `largest` is max |K_ij|. A solution without a weight at its bound is one for every larger bound.
    """
    unit = (span or 1.0) / (largest or 1.0)
    return [float(np.clip(factor * unit, 1e-100, 1e50)) for factor in HARD_MARGINS]


def refuse_infinite_C(bound: float, reason: str) -> ParameterError:
    """The error of a program without an optimum where C = inf."""
    return ParameterError(
        "C", f"a finite number, because {reason}: weights reach even C = {bound:.3g}", "inf",
        "Scale the features, choose another kernel, or a finite C.",
    )  # fmt: skip


class SupportVectorEstimator(SolvedEstimator):
    """An estimator with the kernels, the limits and the attributes of scikit-learn's `SVC`."""

    _plain_kernels = tuple(SKLEARN_KERNELS)

    C: Any
    degree: Any
    gamma: Any
    coef0: Any
    max_iter: Any
    verbose: Any
    _sparse: bool = False

    def _gets(self, X: Any) -> bool:
        return self._is_function

    def _validated(self, X: Any, reset: bool = False, **options: Any) -> Any:
        if self._precomputed and sparse.issparse(X):
            raise TypeError(
                "Sparse precomputed kernels are not supported: make the matrix dense by "
                "X.toarray()."
            )
        return super()._validated(X, reset, **options)

    def _advice(self) -> str:
        scales = isinstance(self.kernel, str) and self.kernel in ("linear", "poly")
        return super()._advice() + (", or scale the features by StandardScaler" if scales else "")

    def _solver_for(self, method: Any) -> str | Solver[Any] | None:
        return "smo(second_order=True)" if self.solver is None else self.solver

    def _step_limit(self) -> int | None:
        if checks.is_whole(self.max_iter) and self.max_iter == -1:
            return None
        checks.whole("max_iter", self.max_iter)
        return int(self.max_iter)

    def _kernel_for(self, X: Any, copies: Array | None = None) -> Any:
        name = self.kernel
        if self._is_function or self._precomputed:
            return name
        if not (isinstance(name, str) and name in SKLEARN_KERNELS):
            own = kernels.get(name)
            changed = self._of_kernel(own, X)
            return (dataclasses.replace(own, **changed) if changed else own).fitted(X, copies)
        if name == "linear":
            return kernels.Linear()
        gamma: Any = self.gamma
        if isinstance(gamma, str) and gamma == "scale":
            X = dense(X)  # so that gamma is the same to the last bit
            with np.errstate(over="ignore"):
                finite = np.isfinite(np.vdot(X, X))
            if not finite:
                raise ProblemError(
                    "X", "entries with a finite variance, by which gamma='scale' divides",
                    f"entries up to {np.abs(X).max():.3g}",
                    "The dual coefficients or intercepts are not finite. Scale the features.",
                )  # fmt: skip
            fitted: Any = kernels.RBF().fitted(X, copies)
            gamma = fitted.gamma
        else:
            gamma = self._given_gamma(X)
        # Errors name these arguments, which the kernels call differently.
        check = checks.number if name == "sigmoid" else checks.positive
        check("gamma", gamma)
        gamma = float(gamma)
        if name == "rbf":
            return kernels.Gaussian(gamma)
        checks.number("coef0", self.coef0)
        if name == "sigmoid":
            return kernels.Sigmoid(gamma, self.coef0)
        return kernels.Polynomial(self.degree, gamma, self.coef0)

    def _given_gamma(self, X: Any) -> Any:
        """The number that `gamma` is or, if it is "auto", means."""
        if isinstance(self.gamma, str) and self.gamma == "auto":
            return 1.0 / float(X.shape[1])
        if not checks.is_number(self.gamma):
            raise ParameterError("gamma", "a number, 'scale' or 'auto'", repr(self.gamma))
        return self.gamma

    @property
    def _changed(self) -> dict[str, Any]:
        """The parameters of kernels that do not have their defaults."""
        values = {name: getattr(self, name) for name in KERNEL_PARAMETERS}
        return {
            name: value
            for name, value in values.items()
            if not (
                isinstance(value, str | int | float | np.number)
                and value == KERNEL_PARAMETERS[name][1]
            )
        }

    def _read_by(self, own: kernels.Kernel) -> dict[str, str]:
        """Which changed parameters a kernel of the package has, and what it calls them."""
        fields = {field.name for field in dataclasses.fields(own)}
        if getattr(own, "width", "") is None:  # such as -d²/2 of a distance
            fields -= {"gamma"}
        named = {name: KERNEL_PARAMETERS[name][0] for name in self._changed}
        return {name: field for name, field in named.items() if field in fields}

    def _of_kernel(self, own: kernels.Kernel, X: Any) -> dict[str, Any]:
        """The parameters of a kernel of the package that those of the estimator change."""
        written = parse_call(self.kernel, "kernel")[1] if isinstance(self.kernel, str) else {}
        defaults = {field.name: field.default for field in dataclasses.fields(own)}
        changed = {}
        for name, field in self._read_by(own).items():
            value = getattr(self, name)
            if field in written or getattr(own, field) != defaults[field]:
                got = f"{value!r} with kernel={str(own)!r}"
                raise ParameterError(name, f"one value of {field} of the kernel", got)
            if name == "coef0":
                checks.number("coef0", value)
            changed[field] = self._given_gamma(X) if name == "gamma" else value
        return changed

    def _warn_of_oddities(self, gram: Gram, stacklevel: int = 3) -> None:
        super()._warn_of_oddities(gram, stacklevel + 1)
        idle, offered = set(self._changed), ""
        if isinstance(self.kernel, str) and self.kernel in SKLEARN_KERNELS:
            idle -= set(SKLEARN_KERNELS[self.kernel].split())
        elif not (self._precomputed or self._is_function):
            own = kernels.get(self.kernel)
            idle -= set(self._read_by(own))
            named = [f"kernel__{field.name}" for field in dataclasses.fields(own)]
            offered = f" Its parameters are {', '.join(named)}." if named else ""
        for name in sorted(idle):
            warnings.warn(
                f"{name}={getattr(self, name)!r} has no effect with kernel={self.kernel!r}."
                f"{offered}",
                UserWarning,
                stacklevel=stacklevel,
            )

    def _set_further_attributes(self, X: Any) -> None:
        """Attributes of a fit to X that predictions do not need."""
        machines = self._machines
        training, coef = machines.training, machines.coef
        needed = np.zeros(coef.shape[1], dtype=bool)
        for machine in machines.members:
            needed[training.indices(machine.pair)[machine.fitted.support]] = True
        self.support_ = training.places[needed]
        points = isinstance(training.data, Points)
        self._sparse = points and sparse.issparse(X)
        self.support_vectors_ = X[self.support_] if points else np.empty((0, 0))
        if self._sparse:
            self.support_vectors_ = as_csr(self.support_vectors_)
        self.n_support_ = np.add.reduceat(needed, training.bounds[:-1], dtype=np.int32)
        layout = layout_of_pairs(coef, training.bounds) if machines.several else coef
        self.dual_coef_ = layout[:, needed]
        if self._sparse:
            self.dual_coef_ = as_csr(self.dual_coef_)
        self.intercept_ = -machines.offsets if machines.several else machines.offsets
        self.class_weight_ = training.class_weights
        self.fit_status_ = int(
            any(m.result is not None and m.result.doubt for m in machines.members)
        )
        self.shape_fit_ = X.shape if hasattr(X, "shape") else (_num_samples(X),)
        if not training.pairs:
            self.n_iter_ = machines.members[0].steps
            if self.verbose:
                print(f"{self.n_iter_} steps")

    @property
    def coef_(self) -> Any:
        check_is_fitted(self)
        if not (isinstance(self.kernel, str) and self.kernel == "linear"):
            raise AttributeError('coef_ needs kernel="linear"')
        machines = self._machines
        normals: Any = np.asarray(machines.coef @ machines.training.data.data)
        if machines.several:
            normals = -normals
        if self._sparse:
            normals = as_csr(normals)
            normals.data.flags.writeable = False
            return normals
        normals.flags.writeable = False
        return normals


def as_csr(matrix: Any) -> Any:
    """A sparse matrix by rows, of the kind that scikit-learn gives."""
    if get_config().get("sparse_interface") == "sparray":
        return sparse.csr_array(matrix)
    return sparse.csr_matrix(matrix)


def layout_of_pairs(coef: Array, bounds: list[int]) -> Array:
    """Coefficients of the pairs of k > 2 classes, (k(k - 1)/2, n), in the layout of `dual_coef_`.

    Points are sorted by class. A point of class i has its coefficients in the pairs with classes
    0, ..., i - 1, i + 1, ..., k - 1 in the rows 0, ..., k - 2, positive for the first class of the
    pair.

    >>> coef = np.array([[-1.0, 1.0, 0.0], [-2.0, 0.0, 2.0], [0.0, -3.0, 3.0]])
    >>> layout_of_pairs(coef, [0, 1, 2, 3])
    array([[ 1., -1., -2.],
           [ 2.,  3., -3.]])
    """
    layout = np.zeros((len(bounds) - 2, coef.shape[1]))
    pairs = itertools.combinations(enumerate(itertools.pairwise(bounds)), 2)
    # 0 less the coefficients, as negated zeros print as -0.
    for row, ((i, first), (j, second)) in zip(0.0 - coef, pairs, strict=True):
        layout[j - 1, slice(*first)] = row[slice(*first)]
        layout[i, slice(*second)] = row[slice(*second)]
    return layout
