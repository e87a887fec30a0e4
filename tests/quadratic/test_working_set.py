"""Working sets: their minima against enumeration, and where K is indefinite."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.exact import stationary_points
from helpers.problems import labels, symmetric
from indefinite_opt.quadratic.local.descent._loops import BoxLines, DescentPoint
from indefinite_opt.quadratic.local.descent.working_set import WorkingSet
from indefinite_opt.quadratic.matrices.gram import DenseGram

Array = NDArray[np.float64]


def box_of(y: Array, tied: bool, C: float) -> BoxLines:
    n = y.size
    group = np.zeros(n, np.int64)  # the group of all, or that of weights in no constraint
    return BoxLines(y, group, int(tied), not tied, np.zeros(n), np.full(n, C))


def definite(n: int, seed: int) -> Array:
    factor = np.random.default_rng(seed).standard_normal((n, n))
    return factor @ factor.T / n + 0.1 * np.eye(n)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("C", [4.0, 16.0])
@pytest.mark.parametrize("seed", range(4))
def test_minima_between_bounds(tied: bool, C: float, seed: int) -> None:
    """The set grows in two parts, and some weights of its second minimum begin at bounds."""
    n, h = 7, 0.5
    K, y = definite(n, seed), labels(n)
    A = y[None, :] if tied else np.empty((0, n))
    H = h * np.outer(y, y) * K
    found = stationary_points(H, np.full(n, -1.0), C, A, np.zeros(A.shape[0]))
    expected, _ = min(found, key=operator.itemgetter(1))
    box, alpha = box_of(y, tied, C), 0.5 * C * np.where(y > 0, np.sum(y < 0), np.sum(y > 0)) / n
    working = WorkingSet(DenseGram(K), box)
    for points in (np.arange(4), np.arange(4, n)):
        assert working.append(points) == points.size
        point = DescentPoint(alpha, y - h * K @ (y * alpha))
        changed, alpha = working.minimum(h, box, point)
        np.testing.assert_array_equal(changed, point.alpha != alpha)
        assert not changed[~working.contains].any()
        assert alpha.min() >= 0.0
        assert alpha.max() <= C
        assert y @ alpha == pytest.approx(0.0, abs=1e-12) or not tied
    np.testing.assert_allclose(alpha, expected, rtol=0, atol=1e-6 * C)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_points_that_make_k_indefinite_stay_outside(tied: bool, seed: int) -> None:
    n = 40
    K, y = symmetric(n, seed) + 3.0 * np.eye(n), labels(n)
    working = WorkingSet(DenseGram(K), box_of(y, tied, 1.0))
    joined = sum(working.append(part) for part in np.array_split(np.arange(n), 3))
    assert 1 < joined == working.members.size < n

    def least(points: Array) -> float:
        """The least curvature on some points."""
        block = K[np.ix_(points, points)]
        if tied:
            block = block[1:, 1:] - block[:1, 1:] - block[1:, :1] + block[0, 0]
        return float(np.linalg.eigvalsh(block)[0])

    assert least(working.members) > 0.0
    for outside in np.flatnonzero(~working.contains):
        assert least(np.append(working.members, outside)) < 1e-6


def test_weights_at_bounds_leave_when_they_are_many() -> None:
    n = 30
    K, y = definite(n, 0), labels(n)
    working = WorkingSet(DenseGram(K), box_of(y, True, 1.0))
    assert working.hold(np.ones(n, bool))
    few = np.arange(n) < 28
    assert working.hold(few)
    assert working.members.size == n
    few = np.arange(n) < 15
    assert working.hold(few)
    np.testing.assert_array_equal(working.contains, few)
