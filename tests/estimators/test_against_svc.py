"""`IndefiniteSVC` in the place of `SVC`: every parameter, and every attribute that makes sense."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import indefinite_opt as iopt

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)


def test_every_parameter_is_accepted() -> None:
    own = inspect.signature(iopt.IndefiniteSVC).parameters
    for name, parameter in inspect.signature(SVC).parameters.items():
        assert name in own
        if name not in ("tol", "verbose", "probability"):  # a switch, and one that is deprecated
            assert own[name].default == parameter.default, name
    fitted = iopt.IndefiniteSVC(cache_size=1000, shrinking=False, verbose=0).fit(X, y)
    assert fitted.score(X, y) == SVC(cache_size=1000, shrinking=False).fit(X, y).score(X, y)


def test_every_attribute_is_there() -> None:
    peer = SVC(kernel="linear").fit(X, y)
    fitted = iopt.IndefiniteSVC(kernel="linear").fit(X, y)
    for name in [name for name in dir(peer) if name.endswith("_") and not name.startswith("_")]:
        assert hasattr(fitted, name), name
    assert fitted.shape_fit_ == peer.shape_fit_ == X.shape
    assert fitted.fit_status_ == peer.fit_status_ == 0


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0}])
def test_attributes_of_a_linear_machine(classes: int, class_weight: Any) -> None:
    kept = y < classes
    options = {"kernel": "linear", "class_weight": class_weight, "C": 0.1}
    peer = SVC(**options, tol=1e-8).fit(X[kept], y[kept])
    fitted = iopt.IndefiniteSVC(**options).fit(X[kept], y[kept])
    assert fitted.coef_ == pytest.approx(peer.coef_, abs=1e-6)
    assert not fitted.coef_.flags.writeable
    assert fitted.class_weight_ == pytest.approx(peer.class_weight_)
    assert fitted.intercept_ == pytest.approx(peer.intercept_, abs=1e-6)


def test_an_infinite_C_is_the_hard_margin() -> None:
    options = {"kernel": "linear", "C": np.inf}
    peer = SVC(**options, tol=1e-8).fit(X[y < 2], y[y < 2])
    fitted = iopt.IndefiniteSVC(**options).fit(X[y < 2], y[y < 2])
    assert fitted.coef_ == pytest.approx(peer.coef_, rel=1e-4)
    assert fitted.certificate_.claim is iopt.Claim.GLOBAL


def test_coef_is_of_linear_kernels_only() -> None:
    fitted = iopt.IndefiniteSVC().fit(X, y)
    assert not hasattr(fitted, "coef_")
    assert not hasattr(iopt.IndefiniteSVC(kernel="linear"), "coef_")


def test_the_calibration_is_platts() -> None:
    kept = y < 2
    fitted = iopt.IndefiniteSVC(probability=True).fit(X[kept], y[kept])
    f = fitted.decision_function(X[kept])
    expected = 1.0 / (1.0 + np.exp(fitted.probA_[0] * f + fitted.probB_[0]))
    assert fitted.predict_proba(X[kept])[:, 1] == pytest.approx(expected, rel=1e-9)
    assert iopt.IndefiniteSVC().fit(X, y).probA_.size == 0


def test_names_of_features_raise_no_warning() -> None:
    frame, labels = load_iris(return_X_y=True, as_frame=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = iopt.IndefiniteSVC(probability=True).fit(frame, labels)
        assert fitted.predict_proba(frame).shape == (150, 3)
        assert (fitted.predict(frame) == labels).mean() > 0.95
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict_proba(pd.DataFrame(frame.to_numpy(), columns=list("abcd")))


def test_steps_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    fitted = iopt.IndefiniteSVC(verbose=True).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        f"{pair} steps"
        for pair in map("{} and {}: {}".format, (0, 0, 1), (1, 2, 2), fitted.n_iter_)
    ]


def test_one_certificate_stands_for_all() -> None:
    fitted = iopt.IndefiniteSVC().fit(X, y)
    assert set(fitted.certificates_) == {(0, 1), (0, 2), (1, 2)}
    claims = [one.claim for one in fitted.certificates_.values()]
    assert fitted.certificate_.claim is min(claims) is iopt.Claim.GLOBAL
    two = iopt.IndefiniteSVC().fit(X[y < 2], y[y < 2])
    gaps = [one.relative_gap for one in two.brackets_.values()]
    assert two.bracket_.relative_gap == gaps[0] <= 1e-4
