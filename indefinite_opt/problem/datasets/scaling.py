"""Scaling of features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indefinite_opt.errors import UnknownName

if TYPE_CHECKING:
    pass

__all__ = ["scaler"]


def scaler(kind: str | None) -> Any:
    """An unfitted scikit-learn transformer: fit it on training rows, apply it to all.

    Parameters
    ----------
    kind : {"minmax", "standard", "none"} or None
        Each feature to [-1, 1]; to mean 0 and variance 1; or no scaling.

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
    if kind not in ("minmax", "standard"):
        raise UnknownName("scaler", str(kind), ["minmax", "standard", "none"])
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    return MinMaxScaler(feature_range=(-1, 1)) if kind == "minmax" else StandardScaler()
