"""Convex minorants of a nonconvex quadratic on a box, and the bounds they prove.

A literal is one of the two slacks of a variable in units of its interval: 2i is that of x_i from
its lower end, and 2i + 1 that from its upper end, which is 1 less the other. On the box every
product of two literals is nonnegative, so that

    h(x) = f(x) - Σ φ · (product) - Σ γ · (triangle inequality) - Σ δ · (odd clique inequality)

lies below f there for φ, γ, δ ≥ 0. If h is convex along the equality constraints, its minimum over
the box is a lower bound of f, however the multipliers were chosen: the bound relies only on their
signs and on the smallest eigenvalue of a matrix, and rounding is accounted for in both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import EPS, TINY, Array, afford
from indefinite_opt.quadratic.bracket.scaled_box import (
    Bound,
    Indices,
    Mask,
    ScaledBox,
    is_diagonal,
)
from indefinite_opt.quadratic.matrices.spectrum import frobenius_norm

Literals = NDArray[np.int64]

_EIGENVALUE_ERROR = 12.0 * EPS
"""Largest error of the computed smallest eigenvalue of a matrix of order m, divided by m + 8 and by
the norm of the matrix, in a backward stable method."""


@cache
def no_pairs(m: int) -> Array:
    """Multipliers zero of the products of all pairs, which take no memory."""
    return np.broadcast_to(0.0, (m * (m - 1) // 2, 4))


def pair_indices(m: int) -> tuple[Indices, Indices]:
    """i and j of each row of pairs, i > j."""
    return np.tril_indices(m, -1)


class Products(NamedTuple):
    """Inequalities Σ_q signs_q · (product at places_q) ≥ least, one for each row of places."""

    places: NDArray[np.int64]
    """(t, q), in the flat pairs."""
    signs: Array
    """(q,), each 1 or -1."""
    least: float

    def add(self, pairs: Array, multipliers: Array) -> None:
        """Add to `pairs`, in place, multiples of the left-hand sides."""
        flat = pairs.ravel()
        for column, sign in zip(self.places.T, self.signs, strict=True):
            np.add.at(flat, column, sign * multipliers)


class Inequalities(NamedTuple):
    """Triangle inequalities, each of three literals, or others of an odd number, five or more."""

    literals: Literals
    """The literals of a row are those of different variables, (t, k)."""
    multipliers: Array
    """(t,)."""

    def genuine(self, m: int) -> Inequalities:
        """Those of different variables among m, without multipliers of the wrong sign.

        None are genuine unless the number of literals is odd and at least three.
        """
        literals = np.asarray(self.literals).astype(np.int64)  # so that no index wraps around
        points = np.sort(literals // 2, axis=1)
        known = np.all((points >= 0) & (points < m), axis=1)
        known &= np.all(points[:, 1:] > points[:, :-1], axis=1)
        known &= literals.shape[1] >= 3 and literals.shape[1] % 2 == 1
        multipliers = np.maximum(np.asarray(self.multipliers, float), 0.0)
        return Inequalities(literals[known], multipliers[known])

    def steepest(self, most: int) -> Literals:
        """The literals of at most so many with the largest multipliers."""
        return self.literals[np.argsort(-self.multipliers, kind="stable")[:most]]

    def copy(self) -> Inequalities:
        """The same, with multipliers of its own."""
        return self._replace(multipliers=self.multipliers.copy())

    def among(self, left: Mask) -> Inequalities:
        """Those of variables that are left, by their numbers among these."""
        whole = np.all(left[self.literals // 2], axis=1)
        literals = self.literals[whole]
        literals = 2 * (np.cumsum(left) - 1)[literals // 2] + literals % 2
        return Inequalities(literals, self.multipliers[whole])

    def products(self) -> Products:
        """The products that they are made of.

        Three literals stand for p(1 - q) + qr - pr = p(1 - q)(1 - r) + (1 - p)qr ≥ 0. With five or
        more, each pair adds the product of its literals and that of their complements, which sum to
        1 where the two are equal. Among 2h + 1 zeros and ones at least h² pairs are equal.
        """
        columns = self.literals.T
        count = len(columns)
        if count == 3:
            p, q, r = columns
            places = [_place(p, q ^ 1), _place(q, r), _place(p, r)]
            return Products(np.stack(places, axis=1), np.array([1.0, 1.0, -1.0]), 0.0)
        equal = [_place(columns[k], columns[h]) for k in range(1, count) for h in range(k)]
        # The complements of both literals have both of the last two bits changed.
        places = [place for one in equal for place in (one, one ^ 3)]
        signs = np.ones(len(places))
        return Products(np.stack(places, axis=1), signs, float((count // 2) ** 2))


def _place(one: Literals, other: Literals) -> Literals:
    """The flat index in the pairs of the products of two literals."""
    first, second = np.maximum(one, other), np.minimum(one, other)
    i, j = first // 2, second // 2
    return 2 * i * (i - 1) + 4 * j + 2 * (first % 2) + second % 2


NO_TRIANGLES = Inequalities(np.zeros((0, 3), np.int64), np.zeros(0))
NO_PENTAGONS = Inequalities(np.zeros((0, 5), np.int64), np.zeros(0))
NO_HEPTAGONS = Inequalities(np.zeros((0, 7), np.int64), np.zeros(0))


class Terms(NamedTuple):
    """What is subtracted from f."""

    pairs: Array
    """Coefficients of the products of each pair, with all inequalities; empty if all are zero."""
    squares: Array
    """Coefficients of the products of both slacks of a variable, (m,)."""
    sizes: Array
    """Sums of the sizes of the coefficients of each pair, with those that cancel."""
    constant: float = 0.0
    """What is added again: the least of the inequalities times their multipliers."""


@dataclass(frozen=True, eq=False)
class Multipliers:
    """The multipliers of the terms that are subtracted from f."""

    pairs: Array
    """(m(m-1)/2, 4), nonnegative; row i(i-1)/2 + j belongs to i > j and the products of the slacks
    from the lower and upper ends: lower·lower, lower·upper, upper·lower, upper·upper, each slack in
    units of the width of its interval."""
    squares: Array
    """(m,), multipliers of the products of both slacks of a variable; negative for `binary` ones
    only."""
    triangles: Inequalities = NO_TRIANGLES
    pentagons: Inequalities = NO_PENTAGONS
    heptagons: Inequalities = NO_HEPTAGONS
    """Those that repeat a variable are ignored."""

    @classmethod
    def spectral(cls, m: int) -> Multipliers:
        """All multipliers zero, which gives the bound of the smallest eigenvalue."""
        return cls(no_pairs(m), np.zeros(m))

    @classmethod
    def separable(cls, scaled: ScaledBox) -> Multipliers:
        """Products that make the minorant separable, with the mean of two planes for each term.

        A product of two variables has two planes below it and two above it, McCormick's (1976)
        envelope: the larger of the former and the smaller of the latter. Equal multiples of the two
        products of slacks behind them give the mean of both planes: a weaker bound, but a minorant
        in closed form.
        """
        h, pairs = scaled.curvature, no_pairs(scaled.m)
        if not is_diagonal(h):
            h = h[pair_indices(scaled.m)]
            alike, unlike = 2.0 * np.maximum(h, 0.0), 2.0 * np.maximum(-h, 0.0)
            pairs = np.column_stack([alike, unlike, unlike, alike])
        return cls(pairs, 2.0 * np.maximum(-np.diagonal(scaled.curvature), 0.0))

    @property
    def numbers(self) -> int:
        """How many numbers they are."""
        inequalities = sum(each.literals.size + len(each.literals) for each in self.inequalities)
        return self._own_pairs.size + self.squares.size + inequalities

    @property
    def inequalities(self) -> tuple[Inequalities, Inequalities, Inequalities]:
        """Those of three literals, of five, and of seven."""
        return self.triangles, self.pentagons, self.heptagons

    @property
    def _own_pairs(self) -> Array:
        """The pairs, or one number that stands for all of them, as in `no_pairs`."""
        return self.pairs if any(self.pairs.strides) else self.pairs[:1, :1]

    @property
    def _has_pairs(self) -> bool:
        return bool(np.any(self._own_pairs))

    def valid(self, binary: Mask) -> Multipliers:
        """The same with zeros for those of the wrong sign, and without false inequalities."""
        pairs, squares = self.pairs, np.asarray(self.squares, float)
        return Multipliers(
            np.maximum(np.asarray(pairs, float), 0.0) if self._has_pairs else pairs,
            np.where(binary, squares, np.maximum(squares, 0.0)),
            *(each.genuine(squares.size) for each in self.inequalities),
        )

    def terms(self) -> Terms:
        """The terms of valid multipliers.

        Where a product is in more than m inequalities, so many roundings are taken for its sum, and
        the sizes count more in proportion.
        """
        families = [each for each in self.inequalities if each.multipliers.size]
        if not (families or self._has_pairs):
            return Terms(self.pairs[:0], self.squares, np.zeros(0))
        total, constant = self.pairs.copy(), 0.0
        sizes, crowd = total.sum(axis=1), np.zeros(total.size)
        for each in families:
            products = each.products()
            # Every product, and its part of the constant.
            share = 1.0 + products.least / products.signs.size
            np.add.at(sizes, products.places // 4, share * each.multipliers[:, None])
            crowd += np.bincount(products.places.ravel(), minlength=total.size)
            constant += products.least * float(each.multipliers.sum())
            products.add(total, each.multipliers)
        sizes *= max(1.0, float(crowd.max(initial=0.0)) / self.squares.size)
        return Terms(total, self.squares, sizes, constant)


def lower_bound(
    scaled: ScaledBox,
    multipliers: Multipliers,
    start: Array,
    binary: Mask | None = None,
    nu: Array | None = None,
) -> Bound:
    """The lower bound of f that multipliers prove, valid for any multipliers.

    docs/quadratic/proof-format.md derives the terms of its slack, which the comments here and the
    functions below number as there.

    Parameters
    ----------
    scaled : ScaledBox
    multipliers : Multipliers
        Entries of the wrong sign count as zero.
    start : (m,) array
        A guess of the minimum of the minorant; only the quality of the bound depends on it.
    binary : (m,) array of bool, optional
        Variables that are known to be at one of their ends, where the product of their slacks is 0.
    nu : (k,) array, optional
        Multipliers of the rows, for a minorant that is convex without their help: its tangent at
        the start is the bound. Without them the highest tangent is looked for.
    """
    m, n, rows = scaled.m, scaled.center.size, scaled.rows
    terms = multipliers.valid(np.zeros(m, bool) if binary is None else binary).terms()
    size = float(terms.sizes.sum() + np.abs(terms.squares).sum())
    underflow = TINY if scaled.size + size > 0.0 else 0.0
    outwards = 1.0 + _EIGENVALUE_ERROR * (n + 8)  # the sums of the slack are rounded, too
    lost = scaled.fixed_loss + scaled.underflow + (m + 8) * underflow  # 1 and part of 6
    if m == 0:
        slack, nothing = outwards * (loss_of_sums(n, scaled.size) + lost), np.empty(0)
        return Bound(scaled.constant - slack, nothing, nothing, nothing, slack)
    constant, slope, curvature = _without_products(scaled, terms)
    coupling = scaled.coupling(curvature) if nu is None else np.zeros((m, len(rows)))
    if nu is None:
        crossed = coupling @ rows
        slope = slope + coupling @ scaled.rhs
        curvature = curvature - crossed - crossed.T
        curvature = 0.5 * (curvature + curvature.T)
    pulls = np.abs(coupling).sum(axis=0)
    sizes = frobenius_norm(scaled.curvature) + size
    sizes += 2.0 * frobenius_norm(coupling) * frobenius_norm(rows)
    shift = max(0.0, -_least_eigenvalue(curvature))  # 4
    shift += _eigenvalue_margin(curvature, sizes) + underflow
    curvature.flat[:: m + 1] += shift
    constant += terms.constant - 0.5 * shift * m
    convex = replace(scaled, constant=constant, slope=slope, curvature=curvature)
    d = np.clip(start, -1.0, 1.0)
    bound = convex.best_tangent(d) if nu is None else convex.tangent(d, nu)  # 5
    added = float(pulls @ (np.abs(rows).sum(axis=1) + np.abs(scaled.rhs)))
    lost += loss_of_sums(n, scaled.size + size + m * shift + added)  # 6
    lost += loss_beyond_ends(scaled.tolerance, terms.sizes, np.abs(terms.squares) + shift)  # 2, 4
    lost += 1.125 * float(pulls @ scaled.row_tolerance)  # 3
    if np.any(bound.nu):  # whose products may underflow, also where f is 0
        lost += (m + 8) * TINY
    slack = lost * outwards + bound.slack * (outwards - 1.0)
    value, slack = bound.value - slack, bound.slack + slack
    return replace(bound, value=value, slack=slack, shift=shift, coupling=coupling)


def _without_products(scaled: ScaledBox, terms: Terms) -> tuple[float, Array, Array]:
    """Constant, slope and curvature of h(d) = f(d) - Σ pairs·(products) - Σ squares·(squares).

    The product of the slacks (1 ± d_i)/2 and (1 ± d_j)/2 is ¼(1 ± d_i ± d_j ± ± d_id_j), and the
    product of both slacks of a variable is ¼(1 - d_i²).
    """
    M, slope, products = scaled.curvature.copy(), scaled.slope.copy(), 0.0
    M.flat[:: scaled.m + 1] += 0.5 * terms.squares
    if terms.pairs.size:
        i, j = pair_indices(scaled.m)
        quarter = 0.25 * terms.pairs
        M[i, j] -= quarter @ [1.0, -1.0, -1.0, 1.0]
        M[j, i] = M[i, j]
        np.subtract.at(slope, i, quarter @ [1.0, 1.0, -1.0, -1.0])
        np.subtract.at(slope, j, quarter @ [1.0, -1.0, 1.0, -1.0])
        products = float(quarter.sum())
    return scaled.constant - products - 0.25 * float(terms.squares.sum()), slope, M


def _least_eigenvalue(curvature: Array) -> float:
    if is_diagonal(curvature):
        return float(np.diagonal(curvature).min())
    afford(4.0 / 3.0 * len(curvature) ** 3)
    return float(np.linalg.eigvalsh(curvature)[0])


def _eigenvalue_margin(curvature: Array, sizes: float) -> float:
    """What is added to the shift, as a computed smallest eigenvalue may be too large (term 4).

    `sizes` is the Frobenius norm of the sizes of the terms of C, ‖curvature of f‖ + Θ + 2‖L‖‖Q‖, or
    more, and these go through at most 2(m + 8) roundings of eps/2. The rest is for the eigenvalue
    itself, whose error in a backward stable method is a modest multiple of eps times the norm.
    """
    norm = frobenius_norm(curvature)
    return (EPS * sizes + _EIGENVALUE_ERROR * norm) * (len(curvature) + 8)


def loss_of_sums(n: int, total: float) -> float:
    """Rounding of the value of a tangent and of its slopes (term 6): 6 eps (n + 8) · total."""
    return 6.0 * EPS * (n + 8) * total


def loss_beyond_ends(tolerance: Array, pairs: Array, squares: Array) -> float:
    """ΣΘ_ijπ_ij + ωΣπ_i (terms 2 and 4): products and ½ω(d_i² - 1) where |d_i| > 1.

    The squares have ω in them.
    """
    loss = float(squares @ tolerance)
    if pairs.size:
        i, j = pair_indices(tolerance.size)
        loss += float(pairs @ np.maximum(tolerance[i], tolerance[j]))
    return loss
