"""No argument is silently without effect: the fit, a warning or an error changes, or the docstring
says for what it has no effect.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import indefinite_opt as iopt
from helpers import shaking
from indefinite_opt.errors import IndefiniteOptError, ParameterError

ORDER = shaking.order(48, "arguments")
X = np.random.default_rng(5).normal(size=(48, 3))[ORDER]
NEW = np.random.default_rng(6).normal(size=(12, 3))
PAIR = np.where(np.sin(3.0 * X[:, 0]) + X[:, 1] > 0.0, 1, -1)
THREE = np.digitize(np.sin(3.0 * X[:, 0]) + X[:, 1], [-0.5, 0.5])
TARGETS = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1]


def dot(A: Any, B: Any) -> Any:
    """A kernel that is a function."""
    return np.asarray(A) @ np.asarray(B).T


KERNELS = (
    "linear", "poly", "rbf", "sigmoid", "precomputed", dot, "laplacian", "polynomial", "tl1",
    "sigmoid(r=-1)", "distance(form=gaussian)", "distance(form=linear)",
)  # fmt: skip

CHANGES: dict[str, tuple[Any, ...]] = {
    "C": (0.05,), "kernel": ("l1-gaussian",), "degree": (2,), "gamma": (0.3, "auto"),
    "coef0": (0.7,), "probability": (True,), "tol": (0.3, 2.0), "class_weight": ({1: 3.0},),
    "max_iter": (1,), "decision_function_shape": ("ovo",), "break_ties": (True,),
    "random_state": (1,), "solver": ("multistart", "none of them"), "cache_size": (1.0,),
    "shrinking": (False,), "verbose": (True,), "epsilon": (0.4,), "nu": (0.2,),
    "formulation": ("ESVM", "NuSVR", "SVDD"), "metric": ("precomputed",), "n_components": (2,),
    "spectrum": ("flip",),
}  # fmt: skip
"""Other values of every argument of every estimator; the last ones may be refused."""

FOR_SOME_DATA = ("break_ties", "cache_size", "random_state", "shrinking")
"""Arguments whose docstring says that they have no effect on such data, with any kernel."""


def outcome(made: Callable[[], Any], y: Any, precomputed: bool) -> Any:
    """All that a caller sees of a fit: values for new points, words, and warnings or an error."""
    K, rows = (np.tanh(X @ X.T - 1.0), np.tanh(NEW @ X.T - 1.0)) if precomputed else (X, NEW)
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as seen, contextlib.redirect_stdout(printed):
        warnings.simplefilter("always")
        try:
            fitted = made().fit(K, y)
        except (IndefiniteOptError, ValueError, TypeError) as error:
            return str(error)
        asked = ("decision_function", "predict", "predict_proba", "transform", "n_iter_")
        found = [getattr(fitted, name) for name in asked if hasattr(fitted, name)]
        values = [repr(np.asarray(one(rows) if callable(one) else one).tolist()) for one in found]
    return values, printed.getvalue(), sorted(str(one.message) for one in seen)


def said_of(estimator: type, name: str) -> str:
    """What the docstring of an estimator says of an argument."""
    text = (inspect.getdoc(estimator) or "").split("Parameters\n")[1].split("\nAttributes\n")[0]
    entries = re.split(r"\n(?=\S)", text)
    for head, *rest in (entry.split("\n") for entry in entries):
        if name in re.split(r"[, ]+", head.split(" : ")[0]):
            return " ".join(line.strip() for line in rest)
    raise AssertionError(f"{estimator.__name__} says nothing of {name}")


LABELS: dict[type, tuple[Any, ...]] = {
    iopt.IndefiniteSVC: (PAIR, THREE), iopt.KernelClassifier: (PAIR, THREE),
    iopt.KernelRegressor: (TARGETS,), iopt.KernelOutlierDetector: (None,),
    iopt.IndefiniteSVR: (TARGETS,), iopt.IndefiniteOneClassSVM: (None,),
    iopt.PseudoEuclideanEmbedding: (None,), iopt.SpectrumTransformer: (None,),
}  # fmt: skip


BASELINES = {
    iopt.KernelClassifier: "LSSVM", iopt.KernelRegressor: "KernelRidge",
    iopt.KernelOutlierDetector: "KNNDistance",
}  # fmt: skip


def contexts(estimator: type) -> list[dict[str, Any]]:
    """The other arguments with which each one is changed."""
    if estimator is iopt.SpectrumTransformer:
        return [{}]
    if estimator in BASELINES:
        return [{}, {"kernel": "laplacian"}, {"formulation": BASELINES[estimator]}]
    return [{"kernel": kernel} for kernel in KERNELS if not (
        estimator is iopt.PseudoEuclideanEmbedding and kernel in ("poly", "sigmoid(r=-1)")
    )]  # fmt: skip


CASES = [
    pytest.param(estimator, name, id=f"{estimator.__name__}-{name}")
    for estimator in LABELS
    for name in inspect.signature(estimator).parameters
]


@pytest.mark.parametrize(("estimator", "name"), CASES)
def test_every_argument_changes_something_or_says_where_it_does_not(
    estimator: type, name: str
) -> None:
    idle, tried = [], 0
    for context in contexts(estimator):
        given = context.get("kernel") == "precomputed" or estimator is iopt.SpectrumTransformer
        for y in LABELS[estimator]:
            found = [
                outcome(partial(estimator, **{**context, **change}), y, given)
                for change in ({}, *({name: value} for value in CHANGES[name]))
            ]
            tried += 1
            idle += [context] * all(one == found[0] for one in found)
    assert not idle or "effect" in said_of(estimator, name), idle
    # Whatever the docstring says, an argument has an effect somewhere.
    assert len(idle) < tried or name in FOR_SOME_DATA


@pytest.mark.parametrize("kernel", ["rbf", "gaussian", "l1-gaussian", "laplacian", "epanechnikov"])
def test_a_search_over_gamma_compares_kernels(kernel: str) -> None:
    """The scores are those of the kernels that have these widths."""
    widths = [0.01, 0.5, 50.0]
    grids = [
        GridSearchCV(iopt.IndefiniteSVC(kernel=kernel), {"gamma": widths}, cv=3),
        GridSearchCV(
            iopt.IndefiniteSVC(kernel="gaussian" if kernel == "rbf" else kernel),
            {"kernel__gamma": widths}, cv=3,
        ),
    ]  # fmt: skip
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "K is nearly")
        scores = [one.fit(X, PAIR).cv_results_["mean_test_score"] for one in grids]
    np.testing.assert_allclose(*scores, atol=1e-12)
    assert np.ptp(scores[0]) > 0.0


def test_arguments_of_kernels_reach_those_of_the_package() -> None:
    def values(**given: Any) -> Any:
        return iopt.IndefiniteSVR(**given).fit(X, TARGETS).predict(NEW)

    ours = values(kernel="polynomial", gamma=0.2, degree=2, coef0=0.5)
    theirs = values(kernel="poly", gamma=0.2, degree=2, coef0=0.5)
    np.testing.assert_allclose(ours, theirs, atol=1e-10)
    automatic = values(kernel="laplacian", gamma="auto")
    np.testing.assert_allclose(automatic, values(kernel="laplacian(gamma=0.3333333333333333)"))
    for kernel in ("laplacian(gamma=2)", iopt.kernels.Laplacian(2.0)):
        with pytest.raises(ParameterError, match=r"^gamma: expected one value of gamma"):
            values(kernel=kernel, gamma=0.5)
    with pytest.raises(ParameterError, match=r"^gamma: expected a number, 'scale' or 'auto'"):
        values(kernel="laplacian", gamma="wide")


def test_arguments_without_effect_are_named_in_a_warning() -> None:
    for given, told in (
        ({"kernel": "linear", "gamma": 0.5}, "gamma=0.5 has no effect with kernel='linear'"),
        ({"kernel": "tl1", "gamma": 0.5}, "gamma=0.5 has no .*: kernel__rho|kernel__rho"),
        ({"kernel": "rbf", "degree": 2}, "degree=2 has no effect with kernel='rbf'"),
        ({"kernel": dot, "coef0": 2.0}, "coef0=2.0 has no effect with kernel=<function dot"),
    ):
        for estimator, y in ((iopt.IndefiniteSVC, PAIR), (iopt.IndefiniteOneClassSVM, None)):
            with pytest.warns(UserWarning, match=told) as seen:
                estimator(**given).fit(X, y)
            assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        iopt.IndefiniteSVC(kernel="linear").fit(X, PAIR)
        iopt.IndefiniteSVC(kernel="tl1").fit(X, PAIR)
