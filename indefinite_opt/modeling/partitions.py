"""Partitions of points into clusters: their loss, and moves of single points that lower it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import EPS, Array

MOST_MOVES = 100
"""Moves per point after which a search ends at the latest."""

Clusters = NDArray[np.intp]
"""The number of the cluster of each point, from 0 on, (n,); -1 for points in none."""


def partition_loss(K: Array, clusters: Clusters) -> float:
    """tr K - Σ_c Σ_{i,j in c} K_ij / n_c, of points in k-means the squares to their means.

    >>> partition_loss(np.outer([0.0, 2.0, 5.0], [0.0, 2.0, 5.0]), np.array([0, 0, 1]))
    2.0
    """
    means = []
    for cluster in np.unique(clusters):
        members = clusters == cluster
        within = math.fsum(K[np.ix_(members, members)].ravel())
        means.append(-within / np.count_nonzero(members))
    return math.fsum([*np.diag(K), *means])


def far_apart(K: Array, k: int) -> Clusters:
    """The clusters of the nearest of k points, each of which is far from those before it.

    Squared distances are K_ii - 2K_ij + K_jj.

    >>> far_apart(np.outer([0.0, 1.0, 5.0], [0.0, 1.0, 5.0]), 2)
    array([1, 1, 0])
    """
    diagonal = np.diag(K)
    squares = diagonal[:, None] + diagonal - 2.0 * K
    centers = [int(np.argmax(squares.sum(axis=1)))]
    for _ in range(1, k):
        nearest = squares[:, centers].min(axis=1)
        nearest[centers] = -np.inf
        centers.append(int(np.argmax(nearest)))
    clusters = np.argmin(squares[:, centers], axis=1)
    clusters[centers] = np.arange(k)
    return clusters


def improved(K: Array, clusters: Clusters) -> Clusters:
    """A partition into as many clusters that no move of one point to another cluster improves.

    The best move is made each time. Clusters keep one point at least.
    """
    n, k = clusters.size, int(clusters.max()) + 1
    own, points, diagonal = clusters.copy(), np.arange(n), np.diag(K)
    sizes = np.bincount(own, minlength=k).astype(float)
    sums = K @ (own[:, None] == np.arange(k))
    least = n * n * EPS * float(np.max(np.abs(K)))
    for _ in range(MOST_MOVES * n):
        totals = np.bincount(own, sums[points, own], k)
        means = totals / sizes
        joined = (totals + 2.0 * sums + diagonal[:, None]) / (sizes + 1.0) - means
        alone = sizes[own] == 1.0
        left = totals[own] - 2.0 * sums[points, own] + diagonal
        left = left / np.where(alone, 1.0, sizes[own] - 1.0) - means[own]
        gains = joined + left[:, None]
        gains[alone] = gains[points, own] = -np.inf
        i, c = np.unravel_index(int(np.argmax(gains)), gains.shape)
        if gains[i, c] <= least:
            break
        sums[:, own[i]] -= K[:, i]
        sums[:, c] += K[:, i]
        sizes[own[i]] -= 1.0
        sizes[c] += 1.0
        own[i] = c
    return own


def rounded(Z: Array, K: Array, k: int) -> Clusters:
    """k clusters of small loss: those of Z as a kernel, or of K, improved for K.

    Z is near Σ_c of the matrices with 1/n_c between the points of a cluster, and 0 elsewhere.
    Clusters are numbered in the order of their first points.
    """
    starts = [improved(Z, far_apart(Z, k)), far_apart(K, k)]
    found = min((improved(K, start) for start in starts), key=lambda one: partition_loss(K, one))
    _, first = np.unique(found, return_index=True)
    return np.argsort(np.argsort(first))[found]
