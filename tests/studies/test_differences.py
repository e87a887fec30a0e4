"""The corrected resampled t-test against closed forms, and Holm's adjustment."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from indefinite_opt.studies.report.verdict import best_against_others, corrected_t_test, holm


def test_closed_form_with_two_degrees_of_freedom() -> None:
    """Student's distribution function with two degrees of freedom is 1/2 + t/(2√(2 + t²)).

    The differences have mean 0.06 and variance 0.0004; t = 0.06/√((1/3 + 1/2)·0.0004).
    """
    t, p = corrected_t_test([0.04, 0.06, 0.08], 0.5)
    expected = 0.06 / math.sqrt((1.0 / 3.0 + 0.5) * 0.0004)
    assert t == pytest.approx(expected)
    assert p == pytest.approx(1.0 - expected / math.sqrt(2.0 + expected**2))


def test_without_test_points_it_is_the_plain_t_test() -> None:
    differences = np.random.default_rng(0).normal(0.3, 1.0, 12)
    plain = ttest_1samp(differences, 0.0)
    assert corrected_t_test(differences, 0.0) == pytest.approx((plain.statistic, plain.pvalue))


def test_ten_times_tenfold_cross_validation_has_the_factor_of_the_paper() -> None:
    """The variance is multiplied by 1/100 + 1/9, not by 1/100: t shrinks by √(1 + 100/9)."""
    differences = np.random.default_rng(1).normal(0.1, 1.0, 100)
    t, _ = corrected_t_test(differences, 1.0 / 9.0)
    assert ttest_1samp(differences, 0.0).statistic / t == pytest.approx(math.sqrt(109.0 / 9.0))


def test_what_cannot_be_tested() -> None:
    """Without variance, or with fewer than three divisions; equal scores do not differ."""
    for differences in ([0.1, 0.1, 0.1], [0.1, 0.2], [0.3]):
        assert all(math.isnan(number) for number in corrected_t_test(differences, 0.25))
    assert corrected_t_test([0.0, 0.0, 0.0], 0.25) == (0.0, 1.0)


def test_holm_by_hand() -> None:
    """3 · 0.01, then 2 · 0.02, then the larger of 0.04 and 1 · 0.03; NaN is not counted."""
    adjusted = holm([0.03, math.nan, 0.01, 0.02])
    assert adjusted[0] == adjusted[3] == pytest.approx(0.04)
    assert adjusted[2] == pytest.approx(0.03)
    assert math.isnan(adjusted[1])
    assert holm([0.6, 0.7]) == [1.0, 1.0]


def test_the_best_mean_is_compared_with_every_other() -> None:
    scores = {
        "low": [0.5, 0.52, 0.5, 0.51],
        "best": [0.9, 0.91, 0.92, 0.9],
        "equal": [0.91, 0.9, 0.9, 0.92],
        "failed": [0.99, math.nan, 0.99, 0.99],
    }
    low, equal = best_against_others(scores, 1.0 / 3.0)
    assert (low.best, low.other, equal.other) == ("best", "low", "equal")
    assert low.mean == pytest.approx(0.4)
    assert low.p_value < 0.001 < 0.5 < equal.p_value
    assert best_against_others({"alone": [1.0]}, 0.25) == []
