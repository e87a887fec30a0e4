"""Drawn machines of several classes against exact optima."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.exact import BoxProgram, as_matrix

ZERO = Fraction(0)


def least(K: Any, y: Any, C: float) -> Fraction:
    """The optimal value Σα - ½αᵀQα of the SVM dual, exactly, by enumeration of all faces."""
    n = len(y)
    signs = [Fraction(int(sign)) for sign in y]
    Q = [[signs[i] * signs[j] * K[i][j] for j in range(n)] for i in range(n)]
    dual = BoxProgram(
        Q, [Fraction(-1)] * n, [ZERO] * n, [Fraction(C)] * n, [signs], [ZERO]
    )  # fmt: skip
    return -dual.minimum()[0]


@pytest.mark.parametrize("estimator", [iopt.IndefiniteSVC, iopt.KernelClassifier])
def test_certificates_of_several_classes_claim_nothing_false(estimator: Any) -> None:
    """Six points of three classes: a pair has four of them."""
    for draw in range(2):
        g = np.random.default_rng([draw, 7])
        A = g.integers(-4, 5, (6, 6)).astype(float)
        K, labels = A + A.T, np.repeat([0, 1, 2], 2)[g.permutation(6)]
        options: dict[str, Any] = {"kernel": "precomputed"}
        if estimator is iopt.KernelClassifier:
            options["formulation"] = iopt.SVMDual(C=1.0)
        fitted = estimator(**options).fit(K, labels)
        assert list(fitted.certificates_) == [*combinations(range(3), 2)]
        for (one, other), certificate in fitted.certificates_.items():
            chosen = np.isin(labels, (one, other)).nonzero()[0]
            y = np.where(labels[chosen] == one, 1, -1)
            best = float(least(as_matrix(K[np.ix_(chosen, chosen)]), y, 1.0))
            # Both accept relative residuals of 1e-8 (`tol`), of values of at most a hundred.
            assert certificate.objective <= best + 1e-5
            assert certificate.bound >= best - 1e-5
            if certificate.claim is iopt.Claim.GLOBAL:
                assert certificate.objective == pytest.approx(best, abs=1e-5)
