"""Graphs whose clique number ω is known, and the standard quadratic programs that have it as value.

With A the adjacency matrix, Bomze [B97]_ adds half of the identity to the program of Motzkin and
Straus [MS65]_ and shows that

    max xᵀ(A + ½ I) x = 1 - 1/(2ω)    over the simplex Σ x_i = 1, x ≥ 0,

where every local maximiser is the uniform distribution on a clique that no vertex extends.

References
----------
.. [B97] I. M. Bomze, Evolution towards the Maximum Clique, Journal of Global Optimization 10, 1997.
.. [BB78] M. R. Best, A. E. Brouwer, F. J. MacWilliams, A. M. Odlyzko and N. J. A. Sloane, Bounds
   for Binary Codes of Length Less than 25, IEEE Transactions on Information Theory 24, 1978.
.. [BBSS] A. E. Brouwer, J. B. Shearer, N. J. A. Sloane and W. D. Smith, A New Table of Constant
   Weight Codes, IEEE Transactions on Information Theory 36, 1990.
.. [Bl84] A. Blokhuis, On Subsets of GF(q²) with Square Differences, Indagationes Mathematicae 46,
   1984.
.. [DELPS] J. Debroni, J. D. Eblen, M. A. Langston, W. Myrvold, P. Shor and D. Weerapurage, A
   Complete Resolution of the Keller Maximum Clique Problem, SODA 2011.
.. [MS65] T. S. Motzkin and E. G. Straus, Maxima for Graphs and a New Proof of a Theorem of Turán,
   Canadian Journal of Mathematics 17, 1965.
.. [S68] J. Schönheim, On Maximal Systems of k-Tuples, Studia Scientiarum Mathematicarum Hungarica
   1, 1966; J. Spencer, Maximal Consistent Families of Triples, Journal of Combinatorial Theory 5,
   1968.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import ParameterError
from indefinite_opt.foundation import checks
from indefinite_opt.quadratic.data.arrays import quadratic_arrays
from indefinite_opt.quadratic.instances.random_programs import MAX_VARIABLES

CODE_SIZES = {
    (5, 3): 4, (6, 3): 8, (7, 3): 16, (8, 3): 20, (8, 5): 4, (9, 5): 6, (10, 5): 12,
}  # fmt: skip
"""A(n, d), the largest number of binary words of length n at distances of at least d, for odd d,
from [BB78]_, Table I; for even d, A(n, d) = A(n - 1, d - 1)."""

CONSTANT_WEIGHT_CODE_SIZES = {
    (8, 4, 4): 14, (9, 4, 4): 18, (10, 4, 4): 30, (11, 4, 4): 35, (12, 4, 4): 51,
    (8, 6, 4): 2, (9, 6, 4): 3, (10, 6, 4): 5, (11, 6, 4): 6, (12, 6, 4): 9, (13, 6, 4): 13,
    (10, 4, 5): 36, (10, 6, 5): 6, (11, 6, 5): 11, (12, 6, 5): 12,
}  # fmt: skip
"""A(n, d, w), the largest number of binary words of length n and weight w at distances of at least
d, from [BBSS]_, Table I."""

KELLER_CLIQUES = {1: 1, 2: 2, 3: 5, 4: 12, 5: 28, 6: 60}
"""The clique numbers of the Keller graphs by dimension, from [DELPS]_."""


class Graph(NamedTuple):
    """A simple graph by its adjacency, (n, n), and its clique number."""

    adjacency: NDArray[np.bool_]
    clique_number: int

    @property
    def n(self) -> int:
        """Number of vertices."""
        return len(self.adjacency)


def bomze(graph: Graph) -> dict[str, Any]:
    """Minimise -xᵀ(A + ½ I) x over the simplex; the optimum is 1/(2ω) - 1 [B97]_.

    >>> bomze(turan(6, 3))["optimum"]
    -0.8333333333333334
    """
    P, simplex = -2.0 * graph.adjacency - np.eye(graph.n), np.ones((1, graph.n))
    optimum = 0.5 / graph.clique_number - 1.0
    return quadratic_arrays(P, A=simplex, b=[1.0], lb=0.0, ub=1.0, optimum=optimum)


def johnson(n: int, w: int, d: int) -> Graph:
    """Binary words of length n and weight w, adjacent if they differ in at least d places.

    Its cliques are the codes of constant weight: ω = A(n, d, w). That is 1 if no two words differ
    in d places, C(n, w) for d ≤ 2, ⌊n/w⌋ for d = 2w, Schönheim's and Spencer's formula for w = 3
    and d = 4 [S68]_, and an entry of the table of [BBSS]_ otherwise. Distances are even, so that an
    odd d counts as d + 1, and w and n - w give the same graph.

    >>> graph = johnson(8, 4, 4)
    >>> graph.n, graph.clique_number
    (70, 14)
    """
    checks.whole("n", n, 1, 64)
    checks.whole("w", w, 0, n)
    checks.whole("d", d, 1, 2 * n)
    words = math.comb(n, w)
    _check_vertices(words)
    size = _constant_weight_code(n, d + d % 2, min(w, n - w))
    return Graph(_distant(_words_of_weight(n, w), d), size)


def _constant_weight_code(n: int, d: int, w: int) -> int:
    """A(n, d, w) for even d and w ≤ n/2."""
    if d <= 2:  # all words are at distances of at least 2
        return math.comb(n, w)
    if d > 2 * w:  # no two words are so far apart
        return 1
    if d == 2 * w:  # disjoint sets of w places
        return n // w
    if (w, d) == (3, 4):
        return n * ((n - 1) // 2) // 3 - (n % 6 == 5)
    known = CONSTANT_WEIGHT_CODE_SIZES.get((n, d, w))
    if known is None:
        raise ParameterError(
            "n, w, d", "one of a code of constant weight whose size is known here",
            f"A({n}, {d}, {w})",
            f"Known are d ≤ 2, d = 2w, w = 3 with d = 4, and {sorted(CONSTANT_WEIGHT_CODE_SIZES)}.",
        )  # fmt: skip
    return known


def hamming(n: int, d: int) -> Graph:
    """Binary words of length n, adjacent if they differ in at least d places: ω = A(n, d).

    That is 2^n for d = 1, 2^(n-1) for d = 2, 1 for d > n, 2 for d > 2n/3, and an entry of the table
    of [BB78]_ otherwise.

    >>> graph = hamming(6, 4)
    >>> graph.n, graph.clique_number
    (64, 4)
    """
    checks.whole("n", n, 1, MAX_VARIABLES.bit_length() - 1)
    checks.whole("d", d, 1, 2 * n)
    words = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    return Graph(_distant(words.astype(np.int64), d), _binary_code(n, d))


def _binary_code(n: int, d: int) -> int:
    """A(n, d)."""
    if d > n:  # no two words are so far apart
        return 1
    if d <= 2:  # all words, or those of even weight
        return 2 ** (n - d + 1)
    if 3 * d > 2 * n:  # three words have distances of at most 2n in all
        return 2
    odd = (n, d) if d % 2 else (n - 1, d - 1)
    if odd not in CODE_SIZES:
        raise ParameterError(
            "n, d", "one of a binary code whose size is known here", f"A({n}, {d})",
            f"Known are d ≤ 2, d > 2n/3, and {sorted(CODE_SIZES)}.",
        )  # fmt: skip
    return CODE_SIZES[odd]


def keller(n: int) -> Graph:
    """Words of length n in 0, 1, 2, 3, adjacent if they differ in at least two places, in one by 2.

    The difference of 2 is modulo 4. The clique numbers are those of [DELPS]_.

    >>> graph = keller(3)
    >>> graph.n, graph.clique_number
    (64, 5)
    """
    checks.whole("n", n, 1, max(KELLER_CLIQUES))
    words = (np.arange(4**n)[:, None] >> (2 * np.arange(n))) & 3
    differing = np.zeros((4**n, 4**n), np.int8)
    opposite = np.zeros((4**n, 4**n), bool)
    for letter in words.T:
        difference = (letter[:, None] - letter) % 4
        differing += difference != 0
        opposite |= difference == 2
    return Graph(opposite & (differing >= 2), KELLER_CLIQUES[n])


def turan(n: int, parts: int) -> Graph:
    """Vertices in parts of nearly equal sizes, adjacent if they are in different parts: ω = parts.

    >>> turan(9, 3).clique_number
    3
    """
    checks.whole("n", n)
    checks.whole("parts", parts, 1, n)
    _check_vertices(n)
    part = np.arange(n) % parts
    return Graph(part[:, None] != part, parts)


def paley(p: int) -> Graph:
    """The field of p² elements, p an odd prime, adjacent if they differ by a square: ω = p [Bl84]_.

    The subfield of p elements is a clique, since each of its elements has a root in the larger one.

    >>> graph = paley(5)
    >>> graph.n, graph.clique_number
    (25, 5)
    """
    checks.whole("p", p, 3)
    _check_vertices(p * p)
    if any(p % k == 0 for k in range(2, p)):
        raise ParameterError("p", "an odd prime", str(p))
    roots = {k * k % p for k in range(p)}
    nonresidue = next(k for k in range(2, p) if k not in roots)
    # An element is u + v√r with a nonresidue r of the subfield; its number is p u + v.
    u, v = np.divmod(np.arange(p * p), p)
    square = np.zeros(p * p, bool)
    square[((u * u + nonresidue * v * v) % p) * p + 2 * u * v % p] = True
    square[0] = False
    adjacency = square[((u[:, None] - u) % p) * p + (v[:, None] - v) % p]
    return Graph(adjacency, p)


def triangular(m: int) -> Graph:
    """The pairs of m things, adjacent if they share one: ω = m - 1, and 3 for m = 3 by a triple.

    >>> graph = triangular(7)
    >>> graph.n, graph.clique_number
    (21, 6)
    """
    checks.whole("m", m, 3)
    _check_vertices(m * (m - 1) // 2)
    pairs = _words_of_weight(m, 2)
    return Graph(pairs @ pairs.T == 1, max(m - 1, 3))


def lattice(m: int) -> Graph:
    """The squares of an m by m board, adjacent in a row or a column: ω = m, rows and columns."""
    checks.whole("m", m, 2)
    _check_vertices(m * m)
    row, column = np.divmod(np.arange(m * m), m)
    return Graph((row[:, None] == row) != (column[:, None] == column), m)


def cycle_join(cycles: int, length: int) -> Graph:
    """The complement of disjoint cycles of the same length of at least 4: ω = cycles ⌊length/2⌋.

    For odd lengths the bound of Lovász is above that, for pentagons by the factor √5/2.

    >>> graph = cycle_join(6, 5)
    >>> graph.n, graph.clique_number
    (30, 12)
    """
    checks.whole("cycles", cycles)
    checks.whole("length", length, 4)
    n = cycles * length
    _check_vertices(n)
    cycle, place = np.divmod(np.arange(n), length)
    step = (place[:, None] - place) % length
    joined = (cycle[:, None] == cycle) & ((step <= 1) | (step == length - 1))
    return Graph(~joined, cycles * (length // 2))


def _words_of_weight(n: int, w: int) -> NDArray[np.int64]:
    words = np.zeros((math.comb(n, w), n), np.int64)
    for word, places in zip(words, itertools.combinations(range(n), w), strict=True):
        word[list(places)] = 1
    return words


def _distant(words: NDArray[np.int64], d: int) -> NDArray[np.bool_]:
    """Whether two binary words differ in at least d places."""
    common, weights = words @ words.T, words.sum(axis=1)
    return np.add.outer(weights, weights) - 2 * common >= d


def _check_vertices(n: int) -> None:
    checks.whole("number of vertices", n, 1, MAX_VARIABLES)
