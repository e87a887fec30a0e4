"""The similarities of the atlas: each function compares some objects with others.

It returns an (m, n) array for m objects and n others. `matrices.py` asks for blocks of rows, and no
number depends on the other objects of its block. Time warping and its relatives are computed by
aeon, alignments by scikit-bio, distances of words by rapidfuzz.
"""

from __future__ import annotations

import itertools
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.atlas.objects import Molecule

Array = NDArray[np.float64]
Compare = Callable[[Any, Any], Array]


def _elastic(some: Any, others: Any, method: str, **parameters: float) -> Array:
    from aeon.distances import pairwise_distance

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of numba, about casts inside aeon
        found: Array = pairwise_distance(some, others, method=method, **parameters)
    return found


def dtw(some: Any, others: Any) -> Array:
    """The root of the least sum of squared differences over all warpings."""
    return np.sqrt(_elastic(some, others, "dtw"))


def ddtw(some: Any, others: Any) -> Array:
    """The root of the least sum of squared differences of slopes over all warpings."""
    return np.sqrt(_elastic(some, others, "ddtw"))


def wdtw(some: Any, others: Any) -> Array:
    """The least sum of squared differences, weighted by how far a warping goes."""
    return _elastic(some, others, "wdtw", g=0.05)


def adtw(some: Any, others: Any) -> Array:
    """The least sum of squared differences and of penalties for each step of a warping."""
    return _elastic(some, others, "adtw", warp_penalty=1.0)


def msm(some: Any, others: Any) -> Array:
    """Moves, splits and merges."""
    return _elastic(some, others, "msm", c=1.0)


def twe(some: Any, others: Any) -> Array:
    """Edits with stiffness."""
    return _elastic(some, others, "twe", nu=0.001, lmbda=1.0)


def erp(some: Any, others: Any) -> Array:
    """Edits with real penalties."""
    return _elastic(some, others, "erp", g=0.0)


def lcss(some: Any, others: Any) -> Array:
    """One less the longest common subsequence as a share of the length."""
    return _elastic(some, others, "lcss", epsilon=1.0)


def _by_pairs(some: Any, others: Any, value: Callable[[Any, Any], float]) -> Array:
    return np.array([[value(first, second) for second in others] for first in some])


def _of_words(some: Sequence[str], others: Sequence[str], value: Callable[..., Any]) -> Array:
    from rapidfuzz.process import cdist

    found: Array = cdist(some, others, scorer=value, dtype=np.float64)
    return found


def edit(some: Sequence[str], others: Sequence[str]) -> Array:
    """Letters to insert, delete or replace."""
    from rapidfuzz.distance import Levenshtein

    return _of_words(some, others, Levenshtein.distance)


def damerau(some: Sequence[str], others: Sequence[str]) -> Array:
    """Letters to insert, delete or replace, and neighbours to exchange."""
    from rapidfuzz.distance import DamerauLevenshtein

    return _of_words(some, others, DamerauLevenshtein.distance)


def jaro_winkler(some: Sequence[str], others: Sequence[str]) -> Array:
    """One less the share of common letters, more for a common beginning."""
    from rapidfuzz.distance import JaroWinkler

    return _of_words(some, others, JaroWinkler.distance)


def lcs(some: Sequence[str], others: Sequence[str]) -> Array:
    """One less the longest common subsequence as a share of the longer word."""
    from rapidfuzz.distance import LCSseq

    return _of_words(some, others, LCSseq.normalized_distance)


def nlcs(some: Sequence[str], others: Sequence[str]) -> Array:
    """The squared length of the longest common subsequence over the product of the lengths."""
    from rapidfuzz.distance import LCSseq

    lengths = np.outer([len(each) for each in some], [len(each) for each in others])
    return _of_words(some, others, LCSseq.similarity) ** 2 / lengths


def ncd(some: Sequence[str], others: Sequence[str]) -> Array:
    """(C(xy) - min(C(x), C(y))) / max(C(x), C(y)), where C is the length after compression.

    C(xy) is the lesser one of both orders.
    """

    def length(text: str) -> int:
        return len(zlib.compress(text.encode(), 9))

    def distance(first: str, second: str) -> float:
        both = min(length(first + second), length(second + first))
        least, most = sorted((alone[first], alone[second]))
        return (both - least) / most

    alone = {text: length(text) for text in {*some, *others}}
    return _by_pairs(some, others, distance)


def smith_waterman(some: Sequence[str], others: Sequence[str]) -> Array:
    """Scores of local alignments, divided so that each sequence has similarity 1 with itself."""
    from skbio.alignment import pair_align

    def score(first: str, second: str) -> float:
        found = pair_align(
            first, second, mode="local", sub_score="BLOSUM62", gap_cost=(11, 1), max_paths=0
        )
        return float(found.score)

    own = [np.sqrt([score(each, each) for each in part]) for part in (some, others)]
    return _by_pairs(some, others, score) / np.outer(*own)


def ged(some: Sequence[Molecule], others: Sequence[Molecule]) -> Array:
    """A lower bound of the atoms and bonds to insert, delete or replace."""
    return _by_pairs(some, others, assignment_cost)


def assignment_cost(first: Molecule, second: Molecule) -> float:
    """The least cost of an assignment of the atoms of two graphs (Riesen & Bunke 2009).

    To replace an atom costs 1 if the labels differ, to delete or insert one costs 1. To this is
    added half the edit distance of the bonds at both atoms, as each bond has two ends. So the cost
    is at most the graph edit distance (Blumenthal & Gamper 2018, BRANCH); Riesen & Bunke add the
    whole, and take the cost of the edits that the assignment implies.

    >>> atom = Molecule(np.array([6]), np.array([[0]]))
    >>> bond = Molecule(np.array([6, 8]), np.array([[0, 1], [1, 0]]))
    >>> assignment_cost(atom, bond)       # one atom, and one bond, are inserted
    2.0
    """
    from scipy.optimize import linear_sum_assignment

    n, m = first.atoms.size, second.atoms.size
    mine, theirs = (
        [Counter(row[row > 0].tolist()) for row in each.bonds] for each in (first, second)
    )
    costs = np.full((n + m, n + m), np.inf)
    for i, j in itertools.product(range(n), range(m)):
        shared = (mine[i] & theirs[j]).total()
        apart = max(mine[i].total(), theirs[j].total()) - shared
        costs[i, j] = float(first.atoms[i] != second.atoms[j]) + 0.5 * apart
    costs[range(n), range(m, m + n)] = [1.0 + 0.5 * each.total() for each in mine]
    costs[range(n, n + m), range(m)] = [1.0 + 0.5 * each.total() for each in theirs]
    costs[n:, m:] = 0.0
    rows, columns = linear_sum_assignment(costs)
    return float(costs[rows, columns].sum())


def shifted(some: Array, others: Array) -> Array:
    """The least distance of the middle of a picture to a part of the other, mean of both ways.

    The middle leaves out two rows and columns at each side, so there are 25 parts of its size.
    """

    def from_middles(first: Array, second: Array) -> Array:
        middles = first[:, 2:-2, 2:-2].reshape(len(first), -1)
        height, width = first.shape[1] - 4, first.shape[2] - 4
        parts = [
            _euclidean(middles, second[:, i : i + height, j : j + width].reshape(len(second), -1))
            for i, j in itertools.product(range(5), range(5))
        ]
        return np.min(parts, axis=0)

    return 0.5 * (from_middles(some, others) + from_middles(others, some).T)


def tangent(some: Array, others: Array) -> Array:
    """The distance of a picture to the tangent plane of the other, mean of both ways."""

    def to_planes(points: Array, pictures: Array) -> Array:
        """Squared distances of points, (m, d), to the planes of n pictures, (m, n)."""
        columns = []
        for picture in pictures:
            away = points - picture.ravel()
            basis = np.linalg.qr(tangents(picture))[0]
            columns.append((away**2).sum(axis=1) - ((away @ basis) ** 2).sum(axis=1))
        return np.maximum(np.column_stack(columns), 0.0)

    flat = [part.reshape(len(part), -1) for part in (some, others)]
    there, back = to_planes(flat[0], others), to_planes(flat[1], some).T
    return 0.5 * (np.sqrt(there) + np.sqrt(back))


def tangents(picture: Array) -> Array:
    """How the pixels of a picture change if it moves, (d, 7) (Simard, LeCun & Denker 1993).

    Columns are two shifts, the change of size, the turn, two hyperbolic changes, and the width of
    strokes. Derivatives are central differences of the picture blurred with a deviation of 1 pixel.
    """
    from scipy.ndimage import gaussian_filter

    down, right = np.gradient(gaussian_filter(picture, 1.0))
    y, x = (np.arange(size) - 0.5 * (size - 1) for size in picture.shape)
    y = y[:, None]
    found = (
        right, down, x * right + y * down, y * right - x * down, x * right - y * down,
        y * right + x * down, right**2 + down**2,
    )  # fmt: skip
    return np.column_stack([each.ravel() for each in found])


def hausdorff(some: Sequence[Array], others: Sequence[Array]) -> Array:
    """The greater one of both mean distances of the points of a set to the other set."""

    def distance(first: Array, second: Array) -> float:
        apart = _euclidean(first, second)
        return float(max(apart.min(axis=0).mean(), apart.min(axis=1).mean()))

    return _by_pairs(some, others, distance)


def earth_movers(some: Sequence[Array], others: Sequence[Array]) -> Array:
    """The least mean distance of the points of two sets of the same size over all assignments."""
    from scipy.optimize import linear_sum_assignment

    def distance(first: Array, second: Array) -> float:
        apart = _euclidean(first, second)
        return float(apart[linear_sum_assignment(apart)].mean())

    return _by_pairs(some, others, distance)


def gower(some: Array, others: Array) -> Array:
    """The mean of min(1, |a_k - b_k|) over the features that both objects have.

    Numbers are in units of their range, kinds are codes, and what is missing is NaN.
    """
    rows = [np.minimum(np.abs(each - others), 1.0) for each in some]
    return np.array([np.nanmean(row, axis=1) for row in rows])


def bray_curtis(some: Array, others: Array) -> Array:
    """Σ|a_k - b_k| / Σ(a_k + b_k)."""
    return _of_points(some, others, "braycurtis")


def canberra(some: Array, others: Array) -> Array:
    """Σ|a_k - b_k| / (|a_k| + |b_k|), where 0/0 is 0."""
    return _of_points(some, others, "canberra")


def jaccard(some: Array, others: Array) -> Array:
    """One less |a ∧ b| / |a ∨ b|."""
    return _of_points(some.astype(bool), others.astype(bool), "jaccard")


def correlation(some: Array, others: Array) -> Array:
    """One less the correlation."""
    return _of_points(some, others, "correlation")


def _euclidean(first: Array, second: Array) -> Array:
    return _of_points(first, second, "euclidean")


def _of_points(some: Array, others: Array, metric: str) -> Array:
    from scipy.spatial.distance import cdist

    found: Array = cdist(some, others, metric)
    return found


def overlap(some: Array, others: Array) -> Array:
    """|a ∧ b| / min(|a|, |b|)."""
    return (some @ others.T) / np.minimum.outer(some.sum(axis=1), others.sum(axis=1))


def kulczynski(some: Array, others: Array) -> Array:
    """The mean of |a ∧ b| / |a| and |a ∧ b| / |b|."""
    shared = some @ others.T
    return 0.5 * (shared / some.sum(axis=1)[:, None] + shared / others.sum(axis=1))


def _named(*functions: Compare) -> dict[str, Compare]:
    return {each.__name__.replace("_", "-"): each for each in functions}


DISTANCES = _named(
    dtw, ddtw, wdtw, adtw, msm, twe, erp, lcss, edit, damerau, jaro_winkler, lcs, ncd, ged, shifted,
    tangent, hausdorff, earth_movers, gower, bray_curtis, canberra, jaccard, correlation,
)  # fmt: skip
"""What compares objects by distances D."""

SCORES = _named(smith_waterman, nlcs, overlap, kulczynski)
"""What compares objects by similarities K."""
