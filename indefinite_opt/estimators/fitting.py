"""Fits that are all or nothing."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

Estimator = TypeVar("Estimator")
P = ParamSpec("P")


def all_or_nothing(
    fit: Callable[Concatenate[Estimator, P], Estimator],
) -> Callable[Concatenate[Estimator, P], Estimator]:
    """A method `fit` that sets all attributes at once at its end, and none if it fails.

    It trains a second object with the same parameters, whose attributes then become those of the
    estimator in a single assignment, which Ctrl-C cannot divide. So after an exception or Ctrl-C
    the estimator is what it was: it predicts as before, or raises `NotFittedError` if it was not
    fitted. Attributes of the fit before that the new one does not set are removed.

    >>> from sklearn.base import BaseEstimator
    >>> class Mean(BaseEstimator):
    ...     @all_or_nothing
    ...     def fit(self, X, y=None):
    ...         self.count_ = len(X)
    ...         self.mean_ = sum(X) / self.count_
    ...         return self
    >>> estimator = Mean().fit([1.0, 2.0])
    >>> estimator.fit([])
    Traceback (most recent call last):
    ZeroDivisionError: division by zero
    >>> estimator.count_, estimator.mean_
    (2, 1.5)
    """

    @functools.wraps(fit)
    def whole(self: Estimator, /, *args: P.args, **kwargs: P.kwargs) -> Estimator:
        learned = vars(self).get("_learned", ())
        start = {name: value for name, value in vars(self).items() if name not in learned}
        # Not a clone, which would copy random_state, so that each fit would draw the same.
        trained = object.__new__(type(self))
        vars(trained).update(start)
        fit(trained, *args, **kwargs)
        added = [name for name in vars(trained) if name not in start]
        vars(trained)["_learned"] = ("_learned", *added)
        self.__dict__ = vars(trained)
        return self

    return whole
