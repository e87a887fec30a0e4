"""`IndefiniteSVR` and `IndefiniteOneClassSVM` in the place of scikit-learn's, for any kernel."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes, load_wine, make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR, OneClassSVM

import indefinite_opt as iopt
from indefinite_opt.errors import ParameterError, ProblemError

DATA: dict[str, Any] = {
    "diabetes": load_diabetes(return_X_y=True),
    "wine": load_wine(return_X_y=True),
    "friedman": make_friedman1(150, random_state=0),
}
DATA = {
    name: (StandardScaler().fit_transform(X), np.array(y, float)) for name, (X, y) in DATA.items()
}
X, y = (part[:80] for part in DATA["diabetes"])
PAIRS = [(iopt.IndefiniteSVR, SVR), (iopt.IndefiniteOneClassSVM, OneClassSVM)]
KINDS = [iopt.IndefiniteSVR, iopt.IndefiniteOneClassSVM]
RANDOM = np.random.default_rng(5)


def weights_of_all(fitted: Any, n: int) -> Any:
    found = np.zeros(n)
    found[fitted.support_] = fitted.dual_coef_[0]
    return found


def assert_close(one: Any, other: Any, share: float) -> None:
    np.testing.assert_allclose(one, other, rtol=0.0, atol=share * float(np.abs(other).max()))


def values(fitted: Any, points: Any) -> Any:
    regression = isinstance(fitted, SVR | iopt.IndefiniteSVR)
    return fitted.predict(points) if regression else fitted.decision_function(points)


# Where K has a low rank, weights are not unique up to the single precision of LIBSVM's kernel.
CONVEX = [
    ("diabetes", {"kernel": "rbf", "gamma": 1.0}, 1e-6),
    ("wine", {"kernel": "rbf", "gamma": 0.5}, 1e-6),
    ("friedman", {"kernel": "rbf"}, 1e-6),
    ("friedman", {"kernel": "poly", "degree": 2, "coef0": 1.0}, 1e-4),
]


@pytest.mark.parametrize(("own", "peer"), PAIRS)
@pytest.mark.parametrize(("name", "options", "share"), CONVEX)
def test_convex_kernels_give_what_scikit_learn_gives(
    own: Any, peer: Any, name: str, options: Any, share: float
) -> None:
    points, targets = DATA[name]
    new = points + 0.3 * RANDOM.normal(size=points.shape)
    expected = peer(**options, tol=1e-9, max_iter=200_000).fit(points, targets)
    fitted = own(**options, tol=1e-10).fit(points, targets)
    weights, others = (weights_of_all(each, len(targets)) for each in (fitted, expected))
    assert_close(weights, others, share)
    assert_close(values(fitted, new), values(expected, new), min(share, 1e-5))
    assert_close(fitted.intercept_, expected.intercept_, min(share, 1e-6))
    assert fitted.certificate_.claim >= iopt.Claim.LOCAL
    assert own(**options).fit(points, targets).certificate_.claim is iopt.Claim.GLOBAL
    if own is iopt.IndefiniteOneClassSVM:
        assert fitted.offset_ == -fitted.intercept_
        scores = fitted.decision_function(new) + fitted.offset_
        np.testing.assert_array_equal(fitted.score_samples(new), scores)
        signs = np.sign(expected.decision_function(new))
        np.testing.assert_array_equal(fitted.predict(new), signs)
    else:
        assert fitted.score(points, targets) == pytest.approx(expected.score(points, targets))


@pytest.mark.parametrize("own", KINDS)
@pytest.mark.parametrize(
    ("kernel", "weighted"), [("sigmoid", False), ("sigmoid", True), ("precomputed", True)]
)
def test_indefinite_kernels_have_an_honest_certificate(
    own: Any, kernel: str, weighted: bool
) -> None:
    weights = RANDOM.integers(1, 4, len(y)).astype(float) if weighted else None
    points = X
    if kernel == "precomputed":
        A = np.random.default_rng(0).normal(size=(len(y), len(y)))
        points = A + A.T
    options = {"C": 10.0} if own is iopt.IndefiniteSVR else {"nu": 0.3}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = own(kernel=kernel, **options).fit(points, y, sample_weight=weights)
    assert fitted.certificate_.claim >= iopt.Claim.STATIONARY
    assert np.isfinite(values(fitted, points)).all()
    if own is iopt.IndefiniteOneClassSVM:
        counts = np.ones(len(y)) if weights is None else weights
        assert fitted.dual_coef_.sum() == pytest.approx(0.3 * counts.sum())
        # ν bounds the share of outliers at every stationary point.
        assert counts[fitted.predict(points) < 0].sum() <= 0.3 * counts.sum()
        assert counts[fitted.support_].sum() >= 0.3 * counts.sum() - 1e-9
    else:
        assert fitted.dual_coef_.sum() == pytest.approx(0.0, abs=1e-8)
        upper = 10.0 if weights is None else 10.0 * weights[fitted.support_]
        assert np.all(np.abs(fitted.dual_coef_[0]) <= upper * (1.0 + 1e-12))


@pytest.mark.parametrize("own", KINDS)
def test_kernels_in_other_forms_agree(own: Any) -> None:
    kernel = iopt.kernels.Sigmoid(a=0.1, r=-1.0)
    new = X[:9] + 0.1
    expected = values(own(kernel="sigmoid", gamma=0.1, coef0=-1.0).fit(X, y), new)
    for given in (kernel, "sigmoid(a=0.1, r=-1)", lambda A, B: kernel(A, B)):
        assert_close(values(own(kernel=given).fit(X, y), new), expected, 1e-6)
    precomputed = own(kernel="precomputed").fit(kernel(X), y)
    assert_close(values(precomputed, kernel(new, X)), expected, 1e-6)
    assert precomputed.support_vectors_.size == 0
    thin = own(kernel=kernel).fit(sparse.csr_matrix(X), y)
    assert_close(values(thin, sparse.csr_matrix(new)), expected, 1e-6)
    changed = own(kernel="sigmoid(a=0.5)").set_params(kernel__a=0.1, kernel__r=-1.0)
    assert_close(values(changed.fit(X, y), new), expected, 1e-6)


def test_outliers_are_found() -> None:
    cloud = np.random.default_rng(1).normal(size=(100, 2))
    points = np.vstack([cloud, [[8.0, 8.0], [-9.0, 9.0]]])
    for kernel in ("rbf", "l1-gaussian(gamma=0.1)", "distance(form=linear)"):
        found = iopt.IndefiniteOneClassSVM(kernel=kernel, nu=0.2).fit(cloud).predict(points)
        assert found[100] == found[101] == -1
        assert 0 < np.count_nonzero(found[:100] < 0) <= 0.2 * 100


def test_points_on_the_boundary_are_no_outliers() -> None:
    fitted = iopt.IndefiniteOneClassSVM(nu=0.3, gamma=0.1).fit(X)
    alpha = weights_of_all(fitted, len(X))
    free = (alpha > 1e-4) & (alpha < 1.0 - 1e-4)
    assert free.any()
    np.testing.assert_array_equal(fitted.decision_function(X)[free], 0.0)
    np.testing.assert_array_equal(fitted.predict(X)[free], 1)
    assert np.count_nonzero(fitted.predict(X) < 0) <= 0.3 * len(X)


@pytest.mark.parametrize("shift", [1e6, -1e9])
def test_a_constant_in_the_targets_is_a_constant_in_the_predictions(shift: float) -> None:
    expected = iopt.IndefiniteSVR(kernel="sigmoid", coef0=-1.0).fit(X, y)
    fitted = iopt.IndefiniteSVR(kernel="sigmoid", coef0=-1.0).fit(X, y + shift)
    rounding = 1e-13 * abs(shift) + 1e-5
    np.testing.assert_allclose(fitted.predict(X) - shift, expected.predict(X), atol=rounding)


def test_targets_within_the_tube_need_no_support_vectors() -> None:
    for targets in (np.ones(80), np.where(np.arange(80) % 2, 1.05, 0.95)):
        fitted = iopt.IndefiniteSVR(epsilon=0.1).fit(X, targets)
        assert fitted.support_.size == 0
        assert fitted.dual_coef_.shape == (1, 0)
        np.testing.assert_allclose(fitted.predict(X), 1.0, atol=1e-12)
        assert fitted.certificate_.claim >= iopt.Claim.LOCAL


@pytest.mark.parametrize("own", KINDS)
def test_arguments_that_cannot_be_used_are_refused_by_name(own: Any) -> None:
    for wrong, said in (
        ({"gamma": "large"}, "gamma: expected a number, 'scale' or 'auto'"),
        ({"tol": 0.0}, "tol: "),
        ({"max_iter": 0}, "max_iter: "),
    ):
        with pytest.raises(ParameterError, match=f"^{said}"):
            own(**wrong).fit(X, y)
    with pytest.raises(ProblemError, match=r"^K: expected a square"):
        own(kernel="precomputed").fit(X, y)
    with pytest.raises(ValueError, match="values of a new point with each"):
        values(own(kernel="precomputed").fit(X @ X.T, y), X)


@pytest.mark.parametrize("own", KINDS)
def test_a_limit_of_steps_warns(own: Any, capsys: pytest.CaptureFixture[str]) -> None:
    options: Any = {"kernel": "sigmoid", "coef0": -1.0, "max_iter": 1, "verbose": True}
    with pytest.warns(ConvergenceWarning, match="did not reach tol: increase max_iter") as caught:
        fitted = own(**options).fit(X, y)
    assert caught[0].filename == __file__
    assert fitted.fit_status_ == 1
    assert capsys.readouterr().out == f"{fitted.n_iter_} steps\n"


@pytest.mark.parametrize("own", KINDS)
def test_solvers_may_be_chosen_and_brackets_hold_the_objective(own: Any) -> None:
    fitted = own(kernel="sigmoid", gamma=1.0).fit(X[:12], y[:12])
    slack = 1e-6 * abs(fitted.bracket_.upper)
    objective = fitted.certificate_.objective
    assert fitted.bracket_.lower - slack <= objective <= fitted.bracket_.upper + slack
    plain = own(kernel="sigmoid", coef0=-1.0).fit(X[:40], y[:40])
    best = own(kernel="sigmoid", coef0=-1.0, solver="multistart").fit(X[:40], y[:40])
    sign = 1.0 if own is iopt.IndefiniteSVR else -1.0
    gain = sign * (best.certificate_.objective - plain.certificate_.objective)
    assert gain >= -1e-6 * abs(plain.certificate_.objective)


def test_targets_of_points_without_weight_do_not_count() -> None:
    far, kept = np.append(y[:20], 1e20), np.append(np.ones(20), 0.0)
    found = iopt.IndefiniteSVR(C=10.0).fit(X[:21], far, kept)
    peer = SVR(C=10.0, tol=1e-8).fit(X[:20], y[:20])
    np.testing.assert_allclose(found.predict(X[:20]), peer.predict(X[:20]), rtol=1e-4)
