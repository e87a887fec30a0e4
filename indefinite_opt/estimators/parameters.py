"""What all estimators share: parameters such as `kernel__gamma`, and checks of X."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import (
    _num_samples,
    check_consistent_length,
    check_non_negative,
    validate_data,
)

from indefinite_opt.errors import IndefiniteOptError
from indefinite_opt.foundation import Array, refuse_mask
from indefinite_opt.problem import Kernel, kernels
from indefinite_opt.studies import as_method

KernelLike = Kernel | Callable[[Array, Array], Array] | str
"""A kernel as estimators take it: an object, a function of two blocks of points, or a name."""


def are_points(X: Any) -> bool:
    """Whether X has numbers in rows, in an array, a sparse matrix, a table or lists.

    >>> are_points([[1, 2], [3, 4]]), are_points(["ape", "bee"]), are_points([[1], [2, 3]])
    (True, False, False)
    """
    try:
        found = X if hasattr(X, "dtype") or sparse.issparse(X) else np.asarray(X)
    except ValueError:  # of rows that are not equally long
        return False
    return found.ndim == 2 and found.dtype.kind in "biuf"


class KernelEstimator(BaseEstimator):
    """An estimator with a kernel, whose parameters are parameters of the estimator, too.

    Kernels and formulations are immutable, so `set_params(kernel__gamma=2)` replaces the kernel by
    a new one; a name such as "gaussian" becomes the object it stands for.
    """

    _nested: ClassVar[tuple[str, ...]] = ("kernel",)
    """Constructor parameters that have parameters of their own."""
    _plain_kernels: ClassVar[tuple[str, ...]] = ()
    """Names of kernels whose parameters are those of the estimator itself."""

    kernel: Any
    metric: Any = None

    def _keep(self, parameters: dict[str, Any]) -> None:
        """Set the parameters of the constructor, which are its local variables."""
        self.__dict__.update({name: parameters[name] for name in self._get_param_names()})

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with `deep` also those of the kernel and of the formulation."""
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep:
            for name in self._nested:
                inner = self._object_of(name)
                if inner is not None:
                    for field in dataclasses.fields(inner):
                        params[f"{name}__{field.name}"] = getattr(inner, field.name)
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, such as `C=10` or `kernel__gamma=2`."""
        changes: dict[str, dict[str, Any]] = {}
        for key in [key for key in params if "__" in key]:
            name, _, field = key.partition("__")
            changes.setdefault(name, {})[field] = params.pop(key)
        super().set_params(**params)
        for name, values in changes.items():
            held: Any = self._object_of(name) if name in self._nested else None
            known = [] if held is None else [field.name for field in dataclasses.fields(held)]
            unknown = [f"{name}__{field}" for field in values if field not in known]
            if unknown:
                offered = [f"{name}__{field}" for field in known] or list(self.get_params())
                raise ValueError(
                    f"Invalid parameter {unknown[0]!r} for estimator {self}. "
                    f"Valid parameters are: {offered}."
                )
            setattr(self, name, dataclasses.replace(held, **values))
        return self

    def _object_of(self, name: str) -> Any:
        """The dataclass that a parameter holds or names; None where it has no parameters."""
        value = getattr(self, name)
        plain = ("precomputed", *self._plain_kernels)
        if value is None or (isinstance(value, str) and value in plain):
            return None
        try:
            # A value that is no kernel, or names none, is refused by `fit`.
            made = kernels.get(value) if name == "kernel" else as_method(value)
        except IndefiniteOptError:
            return None
        return made if dataclasses.is_dataclass(made) else None

    @property
    def _precomputed(self) -> bool:
        """Whether X is a matrix of kernel values or distances."""
        given = self.metric, self.kernel
        return any(isinstance(value, str) and value == "precomputed" for value in given)

    @property
    def _is_function(self) -> bool:
        """Whether the kernel is a function of two collections, of points or of other objects."""
        own = isinstance(self.kernel, (Kernel, type))
        return callable(self.kernel) and not own and self.metric is None

    def _gets(self, X: Any) -> bool:
        """Whether the kernel is a function that gets X as the user gave it, such as strings."""
        return self._is_function and not are_points(X)

    def _kernel_for(self, X: Any, copies: Array | None = None) -> Any:
        """The `Kernel`, fitted to points that count `copies` times each, or "precomputed".

        A function of objects that are no points is returned as it is.
        """
        if (isinstance(self.kernel, str) and self.kernel == "precomputed") or self._gets(X):
            return self.kernel
        return kernels.get(self.kernel).fitted(X, copies)

    def _validated(self, X: Any, reset: bool = False, **options: Any) -> Any:
        """X as an array of float64, or as a sparse matrix with rows that can be selected.

        `reset` is for fits: the features of X are not compared with those of the fit before, and a
        matrix keeps its type, which determines how far rounding may have moved its entries; that
        kernel values are finite is found where they are compared with their transpose.
        """
        if self._gets(X):
            return self._as_given(X, reset, **options)
        accepted = False if self._precomputed else "csr"
        dtype = "numeric" if self._precomputed and reset else np.float64
        if self._precomputed and reset and self.metric is None:
            options["ensure_all_finite"] = False
        for name, value in {"X": X, **options}.items():
            refuse_mask(name, value, "an array without a mask")
        try:
            found = validate_data(
                self, X, reset=reset, accept_sparse=accepted, dtype=dtype, **options
            )
        except ValueError as error:
            if not (self._precomputed and "features, but" in str(error)):
                raise
            raise ValueError(
                f"{error}\nAs X is precomputed, a row has the values of a new point with each of "
                "the training points."
            ) from None
        if self.metric is not None:
            check_non_negative(found if "y" not in options else found[0], type(self).__name__)
        return found

    def _as_given(self, X: Any, reset: bool, **options: Any) -> Any:
        """X as it was given, for a function that knows what it is; y is checked."""
        for name, value in {"X": X, **options}.items():
            refuse_mask(name, value, "an array without a mask")
        validate_data(self, X, reset=reset, skip_check_array=True)
        if _num_samples(X) < (fewest := options.get("ensure_min_samples", 1)):
            raise ValueError(
                f"X: expected at least {fewest} sample(s), got {_num_samples(X)} sample(s)"
            )
        if "y" not in options:
            return X
        y = validate_data(self, y=options["y"], y_numeric=options.get("y_numeric", False))
        check_consistent_length(X, y)
        return X, y

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.positive_only = self.metric is not None
        tags.input_tags.sparse = not self._precomputed
        return tags
