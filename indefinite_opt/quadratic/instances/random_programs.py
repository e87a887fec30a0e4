"""Random quadratic programs with integer data, functions of sizes, a density and a seed.

Every number is drawn by `Draws` in the order of the sentences of the docstrings, so that an
instance never changes. A density is the probability in percent with which an entry is drawn at all;
the others are 0. Programs are minimisations in the notation of `quadratic_arrays`.

References
----------
.. [CB12] J. Chen and S. Burer, Globally Solving Nonconvex Quadratic Programming Problems via
   Completely Positive Programming, Mathematical Programming Computation 4, 2012.
.. [K76] H. Konno, A Cutting Plane Algorithm for Solving Bilinear Programs, Mathematical Programming
   11, 1976.
.. [ST08] A. Scozzari and F. Tardella, A Clique Algorithm for Standard Quadratic Programming,
   Discrete Applied Mathematics 156, 2008.
.. [VN05] D. Vandenbussche and G. L. Nemhauser, A Branch-and-Cut Algorithm for Nonconvex Quadratic
   Programs with Box Constraints, Mathematical Programming 102, 2005.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array, checks
from indefinite_opt.quadratic.data.arrays import quadratic_arrays


class Draws:
    """Uniform integers from the raw words of PCG64.

    numpy keeps the words of a seeded bit generator for good, but not what its `Generator` makes of
    them. A word below the largest multiple of k in 64 bits chooses one of k values by its
    remainder; other words are skipped, so that all values are equally likely.
    >>> Draws(1).integers(-50, 50, 4)
    array([ -1., -23., -17., -32.])
    """

    def __init__(self, seed: int) -> None:
        checks.seed("seed", seed)
        self._words = np.random.PCG64(seed)

    def integers(self, least: int, most: int, *shape: int) -> Array:
        """Independent integers from `least` to `most`, both included, as floats."""
        values = most - least + 1
        limit = 2**64 - 2**64 % values
        count = int(np.prod(shape, dtype=np.int64))
        accepted: NDArray[np.uint64] = np.zeros(0, np.uint64)
        while accepted.size < count:
            words = self._words.random_raw(count - accepted.size)
            accepted = np.concatenate([accepted, words[words <= np.uint64(limit - 1)]])
        return (accepted % np.uint64(values)).astype(np.float64).reshape(shape) + float(least)

    def chosen(self, percent: int, *shape: int) -> NDArray[np.bool_]:
        """Independent choices, each made with a probability of `percent` in a hundred."""
        return self.integers(1, 100, *shape) <= percent

    def symmetric(self, least: int, most: int, percent: int, n: int) -> Array:
        """A symmetric matrix; entries on and above the diagonal are 0 unless chosen, or uniform."""
        entries = self.integers(least, most, n, n) * self.chosen(percent, n, n)
        return np.triu(entries) + np.triu(entries, 1).T

    def order(self, n: int) -> NDArray[np.intp]:
        """A random permutation of 0, ..., n - 1."""
        return np.argsort(self.integers(0, 2**53 - 1, n), kind="stable")


def box_qp(n: int, density: int, seed: int) -> dict[str, Any]:
    """A box-constrained program of the class of Vandenbussche and Nemhauser [VN05]_.

        minimize  ½ xᵀP x + qᵀx   subject to  0 ≤ x ≤ 1

    The entries of P on and above the diagonal are integers, each of -50, ..., 50 equally likely,
    and so are those of q; those of P are 0 unless chosen with the density, those of q never.
    The instances of [VN05]_ maximise; since the law is symmetric about 0, the class is the same.

    >>> program = box_qp(50, 40, 1)
    >>> program["P"].shape, float(program["P"][0, 1]), float(program["q"][0])
    ((50, 50), -23.0, -18.0)
    """
    _check(n=n, density=density)
    draws = Draws(seed)
    P = draws.symmetric(-50, 50, density, n)
    q = draws.integers(-50, 50, n)
    return quadratic_arrays(P, q, lb=0.0, ub=1.0)


def max_cut(n: int, density: int, seed: int) -> dict[str, Any]:
    """The maximum cut of a random graph with weights 1 to 10, as a box-constrained program.

        minimize  Σ w_ij (2 x_i x_j - x_i - x_j)   over i < j, subject to  0 ≤ x ≤ 1

    An edge is there with the density. The objective is linear in every single variable, so that a
    vertex of the box is optimal: minus the weight of the largest cut.
    """
    _check(n=n, density=density)
    weights = Draws(seed).symmetric(1, 10, density, n)
    np.fill_diagonal(weights, 0.0)
    return _cut(weights)


def spin_glass(rows: int, columns: int, seed: int) -> dict[str, Any]:
    """The maximum cut of a toroidal grid with weights -1 and 1: ground states of the ±J model.

    The weights of the edges to the right are drawn first, then those of the edges downwards.
    """
    _check(least=3, rows=rows, columns=columns)
    n = rows * columns
    _check(variables=n)
    draws, place = Draws(seed), np.arange(n).reshape(rows, columns)
    weights = np.zeros((n, n))
    for axis in (1, 0):
        signs = 2.0 * draws.integers(0, 1, n) - 1.0
        neighbours = np.roll(place, -1, axis).ravel()
        weights[place.ravel(), neighbours] = signs
        weights[neighbours, place.ravel()] = signs
    return _cut(weights)


def _cut(weights: Array) -> dict[str, Any]:
    return quadratic_arrays(2.0 * weights, -weights.sum(axis=0), lb=0.0, ub=1.0)


def standard_qp(n: int, density: int, seed: int) -> dict[str, Any]:
    """A standard quadratic program whose convexity graph has a prescribed density.

        minimize  ½ xᵀP x   subject to  Σ x_i = 1,  x ≥ 0

    The diagonal of P is an even integer, each of 0, 2, ..., 100 equally likely. An edge ij of the
    convexity graph, that is a pair with P_ij < (P_ii + P_jj)/2, is there with the density; P_ij is
    (P_ii + P_jj)/2 less an integer from 1 to 100 on an edge, and as much more elsewhere. Two
    weights of a minimiser are positive only on an edge, so that its support is a clique [ST08]_.
    """
    _check(n=n, density=density)
    draws = Draws(seed)
    diagonal = 2.0 * draws.integers(0, 50, n)
    signs = np.where(draws.chosen(density, n, n), -1.0, 1.0)
    steps = np.triu(draws.integers(1, 100, n, n) * signs, 1)
    P = 0.5 * np.add.outer(diagonal, diagonal) + steps + steps.T
    return quadratic_arrays(P, np.zeros(n), A=np.ones((1, n)), b=[1.0], lb=0.0, ub=1.0)


def row_qp(n: int, inequalities: int, equalities: int, density: int, seed: int) -> dict[str, Any]:
    """A random program with inequality and equality rows, of the kind of Chen and Burer [CB12]_.

        minimize  ½ xᵀP x + qᵀx   subject to  G x ≤ h,  A x = b,  0 ≤ x ≤ 1

    [CB12]_ have n = 20, 30, 40 and 50 with n/2 rows; what they drew their entries from is not
    restated here, the law is this one. P and q are as in `box_qp`. The entries of G and then of A
    are 0 unless chosen with the density, else integers from -50 to 50, and an entry of a
    row that is left without any is set to 1, at a random place. A point z has coordinates 1/4, 1/2
    or 3/4; b = A z, and h = G z + an integer from 0 to 10, so that z is feasible.

    >>> program = row_qp(20, 7, 3, 50, 1)
    >>> program["G"].shape, program["A"].shape
    ((7, 20), (3, 20))
    """
    _check(n=n, density=density)
    _check(least=0, inequalities=inequalities, equalities=equalities)
    checks.whole("equalities", equalities, 0, n - 1, reason="one fewer than variables")
    draws = Draws(seed)
    P = draws.symmetric(-50, 50, density, n)
    q = draws.integers(-50, 50, n)
    G = _random_rows(draws, inequalities, n, density)
    A = _random_rows(draws, equalities, n, density)
    z = draws.integers(1, 3, n) / 4.0
    h = G @ z + draws.integers(0, 10, inequalities)
    return quadratic_arrays(P, q, G, h, A, A @ z, 0.0, 1.0)


def _random_rows(draws: Draws, m: int, n: int, density: int) -> Array:
    """Rows of integers from -50 to 50, none of them without an entry."""
    rows = draws.integers(-50, 50, m, n) * draws.chosen(density, m, n)
    places = draws.integers(0, n - 1, m).astype(np.intp)
    empty = np.flatnonzero(~rows.any(axis=1))
    rows[empty, places[empty]] = 1.0
    return rows


def bilinear(n: int, m: int, rows: int, seed: int) -> dict[str, Any]:
    """A bilinear program whose two blocks of variables have rows of their own [K76]_.

        minimize  xᵀC y + cᵀx + dᵀy   subject to  E x ≤ e,  F y ≤ f,  0 ≤ x, y ≤ 10

    C (n, m), c and d have integers from -10 to 10. E and F have `rows` rows each, with integers
    from 0 to 10; e and f are 5 times their sums, half of what the box allows. A pair of vertices of
    the two polytopes is optimal.
    """
    _check(n=n, m=m, variables=n + m)
    _check(least=0, rows=rows)
    draws = Draws(seed)
    C = draws.integers(-10, 10, n, m)
    q = draws.integers(-10, 10, n + m)
    E, F = draws.integers(0, 10, rows, n), draws.integers(0, 10, rows, m)
    G = np.zeros((2 * rows, n + m))
    G[:rows, :n], G[rows:, n:] = E, F
    return quadratic_arrays(_coupling(C), q, G, 5.0 * G.sum(axis=1), lb=0.0, ub=10.0)


def joint_bilinear(n: int, m: int, rows: int, seed: int) -> dict[str, Any]:
    """A bilinear program whose rows hold both blocks of variables, as `bilinear` otherwise.

    There are `rows` rows with integers from -10 to 10; their right-hand sides are 5 times their
    sums, so that the centre of the box is feasible. The optimum need not be at a vertex.
    """
    _check(n=n, m=m, variables=n + m)
    _check(least=0, rows=rows)
    draws = Draws(seed)
    C = draws.integers(-10, 10, n, m)
    q = draws.integers(-10, 10, n + m)
    G = draws.integers(-10, 10, rows, n + m)
    return quadratic_arrays(_coupling(C), q, G, 5.0 * G.sum(axis=1), lb=0.0, ub=10.0)


def _coupling(C: NDArray[np.floating[Any]]) -> Array:
    """The Hessian of xᵀC y."""
    n, m = C.shape
    return np.block([[np.zeros((n, n)), C], [C.T, np.zeros((m, m))]])


def concave(n: int, rows: int, rank: int, seed: int) -> dict[str, Any]:
    """A concave quadratic function to be minimised over a polytope.

        minimize  qᵀx - ½ ‖B x‖²   subject to  G x ≤ h,  0 ≤ x ≤ 10

    B (rank, n) has integers from -5 to 5, q from -50 to 50, and G from -10 to 10; h is 5 times the
    sums of the rows of G plus an integer from 0 to 50. A vertex of the polytope is optimal.
    """
    _check(n=n, rank=rank)
    _check(least=0, rows=rows)
    draws = Draws(seed)
    B = draws.integers(-5, 5, rank, n)
    q = draws.integers(-50, 50, n)
    G = draws.integers(-10, 10, rows, n)
    h = 5.0 * G.sum(axis=1) + draws.integers(0, 50, rows)
    return quadratic_arrays(-(B.T @ B), q, G, h, lb=0.0, ub=10.0)


def transportation(sources: int, sinks: int, seed: int) -> dict[str, Any]:
    """A transportation problem whose unit costs fall with the amount.

        minimize  Σ c_ij x_ij - ½ d_ij x_ij²
        subject to  Σ_j x_ij = s_i,  Σ_i x_ij = t_j,  0 ≤ x_ij ≤ min(s_i, t_j)

    Supplies s are integers from 10 to 30. Demands t are 1 plus the numbers of units that random
    sinks get when the rest of the supply is dealt out one by one. d_ij is an integer from 1 to 4,
    and c_ij = d_ij min(s_i, t_j) + an integer from 0 to 20, so that costs never fall with x_ij. The
    variables are in the order x_11, x_12, ...; the last row, which follows from the others, is
    left out. A vertex of the polytope is optimal.
    """
    _check(least=2, sources=sources, sinks=sinks)
    _check(variables=sources * sinks)
    checks.whole("sinks", sinks, 2, 10 * sources, reason="10 for each source")
    draws = Draws(seed)
    supply = draws.integers(10, 30, sources)
    dealt = draws.integers(0, sinks - 1, int(supply.sum()) - sinks).astype(np.intp)
    demand = 1.0 + np.bincount(dealt, minlength=sinks)
    ub = np.minimum.outer(supply, demand).ravel()
    d = draws.integers(1, 4, ub.size)
    c = d * ub + draws.integers(0, 20, ub.size)
    rows = np.vstack([
        np.kron(np.eye(sources), np.ones(sinks)), np.kron(np.ones(sources), np.eye(sinks))
    ])[:-1]  # fmt: skip
    totals = np.concatenate([supply, demand])[:-1]
    return quadratic_arrays(-np.diag(d), c, A=rows, b=totals, lb=0.0, ub=ub)


def portfolio(n: int, factors: int, seed: int) -> dict[str, Any]:
    """A portfolio whose cost of trading is concave in the weights: economies of scale.

        minimize  ½ ‖F x‖² + Σ (c_i - r_i) x_i - ½ Σ d_i x_i²   subject to  Σ x_i = 1,  x ≥ 0

    F (factors, n) has integers from -10 to 10, the returns r from 0 to 30, the linear costs c from
    0 to 20 and their falls d from 10 to 100. The Hessian has at most `factors` positive
    eigenvalues.
    """
    _check(n=n, factors=factors)
    draws = Draws(seed)
    F = draws.integers(-10, 10, factors, n)
    r, c = draws.integers(0, 30, n), draws.integers(0, 20, n)
    P = F.T @ F - np.diag(draws.integers(10, 100, n))
    return quadratic_arrays(P, c - r, A=np.ones((1, n)), b=[1.0], lb=0.0, ub=1.0)


def blending(inputs: int, pools: int, products: int, seed: int) -> dict[str, Any]:
    """Blending in pools with prices for quality: the bilinear core of the pooling problem.

        minimize  Σ_p Σ_i Σ_t (c_i + w_t λ_i - r_t) x_pi y_pt
        subject to  Σ_i x_pi = 1,  Σ_t y_pt ≤ 20 for every pool,  Σ_p y_pt ≤ D_t for every product,
                    Σ_p x_pi ≤ 2 for every input,  x ≥ 0,  0 ≤ y_pt ≤ D_t

    x_pi is the share of the input i in the pool p, and y_pt the flow from the pool to the product
    t. Costs c are integers from 1 to 10, impurities λ from 0 to 10, penalties w from 0 to 3,
    revenues r from 5 to 40 and demands D from 5 to 20. No input may supply more than two pools'
    worth. In the pooling problem quality is a bilinear constraint; here it has a price instead.
    """
    _check(least=2, inputs=inputs, products=products)
    _check(pools=pools)
    _check(variables=pools * (inputs + products))
    checks.whole("pools", pools, 1, 2 * inputs, reason="two for each input")
    draws = Draws(seed)
    cost, impurity = draws.integers(1, 10, inputs), draws.integers(0, 10, inputs)
    penalty, revenue = draws.integers(0, 3, products), draws.integers(5, 40, products)
    demand = draws.integers(5, 20, products)
    value = cost[:, None] + np.outer(impurity, penalty) - revenue
    each = np.eye(pools)
    P = _coupling(np.kron(each, value))
    shares, flows = pools * inputs, pools * products
    A = np.hstack([np.kron(each, np.ones(inputs)), np.zeros((pools, flows))])
    G = np.zeros((pools + products + inputs, shares + flows))
    G[:pools, shares:] = np.kron(each, np.ones(products))
    G[pools : pools + products, shares:] = np.kron(np.ones(pools), np.eye(products))
    G[pools + products :, :shares] = np.kron(np.ones(pools), np.eye(inputs))
    h = np.concatenate([np.full(pools, 20.0), demand, np.full(inputs, 2.0)])
    ub = np.concatenate([np.ones(shares), np.tile(demand, pools)])
    return quadratic_arrays(P, np.zeros(ub.size), G, h, A, np.ones(pools), 0.0, ub)


MAX_VARIABLES = 5_000
"""Largest number of variables, and of rows: P then takes 200 MB."""


def _check(least: int = 1, density: int = 100, **sizes: int) -> None:
    for name, size in sizes.items():
        checks.whole(name, size, least, MAX_VARIABLES)
    checks.whole("density", density, 0, 100, reason="percent")
