"""Scaling of features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from indefinite_opt.foundation import Array, checks

_RANGES = {"minmax": (-1, 1), "unit": (0, 1)}
"""Ranges of the features after scaling, by name."""

_WHOLE = "-all"
"""Ending of the names of scalings that are fitted to all points, test points included."""


def scaler(kind: str | None) -> Any:
    """An unfitted scikit-learn transformer, to be fitted on the training rows.

    Parameters
    ----------
    kind : {"minmax", "unit", "standard", "none"} or None
        Whether features are scaled to [-1, 1], to [0, 1], to mean 0 and variance 1, or not at all.
        "minmax-all", "unit-all" and "standard-all" are the same, but `KernelProblem.split` keeps
        the scaling of all points, as Lin & Lin (2003) do, instead of fitting it again.

    Returns
    -------
    MinMaxScaler, StandardScaler or None

    Examples
    --------
    >>> scaler("minmax").fit_transform([[0.0], [1.0], [4.0]]).ravel()
    array([-1. , -0.5,  1. ])
    """
    return _transformer("kind", kind)


def fitted_scaling(kind: str | None, X: Array) -> Callable[[Array], Array]:
    """The scaling of `scaler`, fitted to the rows of X, as a function of points.

    >>> import numpy as np
    >>> fitted_scaling("minmax", np.array([[0.0], [4.0]]))(np.array([[1.0], [8.0]])).ravel()
    array([-0.5,  3. ])
    """
    transformer = _transformer("scaling", kind)
    return unscaled if transformer is None else transformer.fit(X).transform


def _transformer(argument: str, kind: str | None) -> Any:
    if kind is None or kind == "none":
        return None
    names = [*_RANGES, "standard"]
    checks.choice(argument, kind, [*names, *(name + _WHOLE for name in names), "none"])
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    ends = _RANGES.get(kind.removesuffix(_WHOLE))
    return StandardScaler() if ends is None else MinMaxScaler(feature_range=ends)


def unscaled(X: Array) -> Array:
    """X itself."""
    return X


def keeps_scaling(kind: str | None) -> bool:
    """Whether subsets keep the scaling of all points, or none.

    >>> keeps_scaling("minmax-all"), keeps_scaling("minmax"), keeps_scaling(None)
    (True, False, True)
    """
    return kind is None or kind == "none" or kind.endswith(_WHOLE)
