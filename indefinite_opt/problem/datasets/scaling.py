"""Scaling of features."""

from __future__ import annotations

from typing import Any

from indefinite_opt.errors import UnknownName

__all__ = ["keeps_scaling", "scaler"]

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
    if kind is None or kind == "none":
        return None
    name = kind.removesuffix(_WHOLE)
    if name not in (*_RANGES, "standard"):
        names = [*_RANGES, "standard"]
        raise UnknownName("scaler", kind, [*names, *(each + _WHOLE for each in names), "none"])
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    return MinMaxScaler(feature_range=_RANGES[name]) if name in _RANGES else StandardScaler()


def keeps_scaling(kind: str | None) -> bool:
    """Whether subsets keep the scaling of all points, or none.

    >>> keeps_scaling("minmax-all"), keeps_scaling("minmax"), keeps_scaling(None)
    (True, False, True)
    """
    return kind is None or kind == "none" or kind.endswith(_WHOLE)
