"""Scaling of features."""

from __future__ import annotations

from typing import Any

from indefinite_opt.errors import UnknownName

__all__ = ["scaler"]


def scaler(kind: str | None) -> Any:
    """An unfitted scikit-learn transformer, to be fitted on the training rows.

    Parameters
    ----------
    kind : {"minmax", "standard", "none"} or None
        Whether features are scaled to [-1, 1], to mean 0 and variance 1, or not at all.

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
