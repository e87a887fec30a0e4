"""The similarities of the atlas: each function compares all pairs of objects.

Time warping and its relatives are computed by aeon, alignments by scikit-bio.
"""

from __future__ import annotations

import itertools
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import indefinite_opt as iopt
from reproduction.atlas.objects import Matrix, Molecule

Array = NDArray[np.float64]


def _elastic(series: Any, method: str, **parameters: float) -> Array:
    from aeon.distances import pairwise_distance

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of numba, about casts inside aeon
        found: Array = pairwise_distance(series, method=method, **parameters)
    return found


def dtw(series: Any) -> Matrix:
    """The root of the least sum of squared differences over all warpings."""
    return Matrix("D", np.sqrt(_elastic(series, "dtw")))


def msm(series: Any) -> Matrix:
    """Moves, splits and merges."""
    return Matrix("D", _elastic(series, "msm", c=1.0))


def twe(series: Any) -> Matrix:
    """Edits with stiffness."""
    return Matrix("D", _elastic(series, "twe", nu=0.001, lmbda=1.0))


def erp(series: Any) -> Matrix:
    """Edits with real penalties."""
    return Matrix("D", _elastic(series, "erp", g=0.0))


def lcss(series: Any) -> Matrix:
    """One less the longest common subsequence as a share of the length."""
    return Matrix("D", _elastic(series, "lcss", epsilon=1.0))


def _all_pairs(objects: Sequence[Any], distance: Callable[[Any, Any], float]) -> Array:
    """The symmetric matrix of a function of two objects, (n, n), with its diagonal."""
    values = np.zeros((len(objects), len(objects)))
    for i, j in itertools.combinations_with_replacement(range(len(objects)), 2):
        values[i, j] = values[j, i] = distance(objects[i], objects[j])
    return values


def edit(words: Sequence[str]) -> Matrix:
    """Letters to insert, delete or replace."""
    return Matrix("D", _all_pairs(words, iopt.datasets.edit_distance))


def smith_waterman(sequences: Sequence[str]) -> Matrix:
    """Scores of local alignments, divided so that each sequence has similarity 1 with itself."""
    from skbio.alignment import pair_align

    def score(first: str, second: str) -> float:
        found = pair_align(
            first, second, mode="local", sub_score="BLOSUM62", gap_cost=(11, 1), max_paths=0
        )
        return float(found.score)

    scores = _all_pairs(sequences, score)
    own = np.sqrt(np.diag(scores))
    return Matrix("K", scores / np.outer(own, own))


def ged(molecules: Sequence[Molecule]) -> Matrix:
    """A lower bound of the atoms and bonds to insert, delete or replace."""
    return Matrix("D", _all_pairs(molecules, assignment_cost))


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


def bray_curtis(counts: Array) -> Matrix:
    """Σ|a_k - b_k| / Σ(a_k + b_k)."""
    return _of_counts(counts, "braycurtis")


def canberra(counts: Array) -> Matrix:
    """Σ|a_k - b_k| / (a_k + b_k), where 0/0 is 0."""
    return _of_counts(counts, "canberra")


def _of_counts(counts: Array, metric: str) -> Matrix:
    from scipy.spatial.distance import pdist, squareform

    return Matrix("D", squareform(pdist(counts, metric)))


def given(published: Matrix) -> Matrix:
    """The published matrix, symmetrised."""
    return Matrix(published.letter, 0.5 * (published.values + published.values.T))


SIMILARITIES: dict[str, Callable[[Any], Matrix]] = {
    each.__name__.replace("_", "-"): each
    for each in (dtw, msm, twe, erp, lcss, edit, smith_waterman, ged, bray_curtis, canberra, given)
}
