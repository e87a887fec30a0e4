"""Scaling of features."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from indefinite_opt.foundation import EPS, Array, checks

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
    name = _known("kind", kind)
    if name is None:
        return None
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    return MinMaxScaler(feature_range=_RANGES[name]) if name in _RANGES else StandardScaler()


def fitted_scaling(kind: str | None, X: Array) -> Callable[[Array], Array]:
    """The scaling of `scaler`, fitted to the rows of X, as a function of points.

    It does not import scikit-learn, which takes about a second.

    >>> fitted_scaling("minmax", np.array([[0.0], [4.0]]))(np.array([[1.0], [8.0]])).ravel()
    array([-0.5,  3. ])
    """
    name = _known("scaling", kind)
    if name is None:
        return unscaled
    if name == "standard":
        means, variances = X.mean(axis=0), X.var(axis=0)
        rounding = len(X) * EPS * variances + (len(X) * EPS * means) ** 2
        deviations = np.sqrt(np.where(variances > rounding, variances, 1.0))
        return partial(_standardised, means, deviations)
    low, high = _RANGES[name]
    least = X.min(axis=0)
    widths = X.max(axis=0) - least
    factors = (high - low) / np.where(widths >= 10.0 * EPS, widths, 1.0)
    return partial(_moved, factors, low - least * factors)


def _known(argument: str, kind: str | None) -> str | None:
    """The scaling without the ending of its name; None for no scaling."""
    if kind is None or kind == "none":
        return None
    names = [*_RANGES, "standard"]
    checks.choice(argument, kind, [*names, *(each + _WHOLE for each in names), "none"])
    return kind.removesuffix(_WHOLE)


def unscaled(X: Array) -> Array:
    """X itself."""
    return X


def _moved(factors: Array, shifts: Array, X: Array) -> Array:
    return X * factors + shifts


def _standardised(means: Array, deviations: Array, X: Array) -> Array:
    return (X - means) / deviations


def keeps_scaling(kind: str | None) -> bool:
    """Whether subsets keep the scaling of all points, or none.

    >>> keeps_scaling("minmax-all"), keeps_scaling("minmax"), keeps_scaling(None)
    (True, False, True)
    """
    return kind is None or kind == "none" or kind.endswith(_WHOLE)
