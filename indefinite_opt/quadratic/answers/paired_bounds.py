"""Bounds on convex programs in pairs, and what a point attains, with all rounding.

There are four ways to a bound:

- the linearisation of F at the point, where each entry of the residual costs the width of the box;
- the same by features Φ with F(x) = ½h‖Φᵀ(s∘x)‖² + cᵀx, which needs no kernel matrix;
- the linearisation after a Newton step on the weights off their bounds, which makes the residual
  smaller;
- the curvature of F, if it is at least σ > 0: then an entry r costs at most r²/σ, however wide the
  box is.

Every qp is a `PairedQP` of a kernel problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import singledispatch

import numpy as np

from indefinite_opt.foundation import EPS, LEAST, LONG, Array, Values, one_thread
from indefinite_opt.quadratic.answers.bound import MAX_CHARGE, bounds, charged, charged_bounds
from indefinite_opt.quadratic.answers.feasibility import attained, feasible_near
from indefinite_opt.quadratic.matrices.spectrum import (
    cholesky_in_place,
    frobenius_norm,
    without_directions,
    zero_tolerance,
)
from indefinite_opt.quadratic.programs.paired_qp import PairedQP
from indefinite_opt.quadratic.programs.program import LowerBound, Point

Explicit = Callable[[Array], Iterator[LowerBound]]
"""Bounds as a function of x that need no products with K."""

FREE_TOL = 1e-8
"""Share of the box up to which a weight counts as being at its bound."""

MIN_SHARE = 1e-9
"""Share of F below which rounding need not be known any better."""

MAX_RESIDUAL = 1e-2
"""Residual of the first-order conditions, in units of the gradient, from which on a Newton step is
not tried: the weights at their bounds are not yet those of an optimum."""

NEWTON_STEPS = 2
"""Number of Newton steps; the second one removes what rounding has left of the residual."""

MAX_EXAMINED = 400
"""Number of weights up to which the least curvature is computed, in some hundredths of a second,
even if some weights are at a bound and no certificate would compute it otherwise."""


@attained.register
def _(qp: PairedQP, point: Point[Array], infeasibility: float) -> tuple[Point[Array], float]:
    """A feasible point nearby, and the error of its F.

    As it is rounded, that point may be outside of the box, and then miss its lines, by ρ in all.
    Weights that move by ρ in all lead to where every constraint holds, because all weights of a
    line can move in the direction that it needs. So F changes by ρ(max|∇F| + h‖K‖ρ) at most.
    Computed gradients are off by h·`zero_tolerance`·‖x‖, and the sum F by n·eps of its terms; every
    product may underflow.
    """
    if qp.plain is not qp:
        # Weights are feasible for both, and F is that of the other one.
        near, error = attained(qp.plain, qp.plain.at(point.x), infeasibility)
        return qp.at(near.x), error
    near = feasible_near(qp, point, infeasibility)
    problem, x, gradient = qp.problem, near.x, near.gradient
    known = problem.known_convex(qp.feasible.lines)
    if not (known or problem.curvature_known):
        return near, np.inf  # No bound will be proved with which it could be compared.
    missed, length = qp.feasible.missed(x), frobenius_norm(x)
    if known or qp.n < LONG:
        norm, off = problem.gram.norm, gradient_rounding(qp, length)
    else:  # without a pass over a large matrix, which a certificate may not need
        norm = qp.n * problem.largest
        off = qp.hessian * zero_tolerance(qp.n, norm) * length
    steep = float(np.abs(gradient).max()) + off + qp.hessian * norm * missed
    curved = off * length
    if curved > MIN_SHARE * abs(near.value):
        curved = min(curved, _rounding_of_form(qp, x))
    terms = float(np.abs(x) @ (np.abs(gradient) + 2.0 * np.abs(qp.linear)))
    error = missed * steep + curved + (qp.n + 8.0) * EPS * terms
    if norm > 0.0 and length > 0.0:
        error += underflow(qp, length)
    return near, (1.0 + 16.0 * EPS) * error


def _rounding_of_form(qp: PairedQP, x: Array) -> float:
    """n·eps of the terms of ½xᵀHx; less than what ‖K‖ gives if rows of K differ in size."""
    kept = np.flatnonzero(x)
    if kept.size >= LONG:
        return np.inf
    sizes = np.abs(x[kept])
    terms = qp.hessian * float(sizes @ np.abs(qp.gram.block(kept, kept)) @ sizes)
    return (qp.n + 8.0) * EPS * terms


def underflow(qp: PairedQP, length: float) -> float:
    """What F, and the product of its gradient and a step of that `length`, lose by underflow."""
    size = qp.n + (1.0 + qp.hessian) * float(np.sqrt(qp.n)) * length
    return LEAST * (qp.n + 8.0) * (size + 8.0)


@bounds.register
def _(qp: PairedQP, point: Point[Array], multipliers: Values | None) -> Iterator[LowerBound]:
    """Bounds in the four ways of this file, each of which takes longer than the last."""
    if not point.x.any() and zero_is_optimal(qp):
        yield LowerBound(0.0)
    # Where a theorem says that K is convex, what rounding has made of K - c need not be.
    if qp.plain is not qp and qp.plain.is_convex:
        yield from bounds(qp.plain, qp.plain.at(point.x), multipliers)
        return
    yield LowerBound(dual_bound(qp, point.x, point.gradient))
    explicit = explicit_bounds(qp, point)
    yield from explicit(point.x)
    summed = None if qp.problem is None else qp.problem.with_sums()
    if summed is not None:  # less counts as rounding
        qp = qp.on(summed)
        yield LowerBound(dual_bound(qp, point.x, point.gradient), surely(qp, point))
    plain = qp.without_constant()
    plain = plain if plain.is_convex else qp
    if plain is not qp:
        point = plain.at(point.x)
    least = surely(plain, point)
    if plain is not qp:
        yield LowerBound(dual_bound(plain, point.x, point.gradient), least)
    left = plain.feasible.first_order(point.x, point.gradient, FREE_TOL).residual
    if left > MAX_RESIDUAL * plain.gradient_unit(point.gradient):
        return
    for _ in range(NEWTON_STEPS):
        x = newton_point(plain, point)
        if x is None:
            break
        yield from explicit(x)
        point = plain.at(x)
        yield LowerBound(dual_bound(plain, x, point.gradient), least)
    lower, upper = plain.feasible.at_bounds(point.x, FREE_TOL)
    curvature = proved_curvature(plain, MAX_EXAMINED if np.any(lower | upper) else qp.n)
    if curvature > 0.0:
        yield LowerBound(bound_by_curvature(plain, point, curvature), least)


def zero_is_optimal(qp: PairedQP) -> bool:
    """Whether F ≥ 0 is proved on the feasible set, as slopes at x = 0 outweigh curvature.

    Where convexity is proved up to a, F(z) ≥ cᵀz - ½ha‖z‖² ≥ (c - ½hau)ᵀz for 0 ≤ z ≤ u.
    """
    box = qp.feasible
    if box.total or not np.isfinite(box.upper).all():
        return False
    curved = 0.5 * qp.hessian * qp.problem.convexity_allowance(box.lines)
    slopes = np.full(qp.n, qp.linear) - doubt_of_slopes(qp)
    costs = slopes - (1.0 + 8.0 * EPS) * (curved * box.upper + EPS * np.abs(slopes))
    return box.linear_minimum(costs) >= 0.0


def by_points(qp: PairedQP, point: Point[Array]) -> Explicit:
    """`bound_by_features` as a function of x, with an upper bound on what the point attains.

    K holds rounded inner products of training points; both bounds are about the exact products.
    There are no bounds if K has no features.
    """
    features = qp.problem.features
    if features is None:
        return lambda x: iter(())
    least = attained_by_features(qp, features, point)
    why = (
        "Convex, as K = XXᵀ for the points X, and the bound of w = Xᵀ(y∘α) meets the "
        "objective. The bound is for the exact inner products of the points; K holds them rounded."
    )
    return lambda x: iter([LowerBound(bound_by_features(qp, features, x), least, why)])


def surely(qp: PairedQP, point: Point[Array]) -> float:
    """An upper bound on F at a feasible point near one that is feasible up to rounding."""
    near, error = attained(qp, point, 0.0)
    return near.value + error


def linearised(qp: PairedQP, x: Array, gradient: Array) -> float:
    """A lower bound on F over the feasible set, valid if F is convex there.

    It is the linearisation at x minimised over the feasible set; for the SVM dual this is the
    primal objective at the best offset. With u = ∞ the primal point is first scaled until it is
    feasible. From it are subtracted

    1. ½ha‖z - x‖² ≤ ½ha(R² + ‖x‖²), by which F may lie below its linearisation at a feasible z,
       where convexity is proved up to a and R is the largest ‖z‖;
    2. the rounding of the gradient, at most n·eps·‖|H|‖‖x‖, along z - x;
    3. what x misses the lines by, ρ in all, along which F may be curved downwards;
    4. the rounding of the remaining sums, n·eps of their terms, and all underflow.

    With c < 0 and no fixed total, R need only bound a minimiser z, which cannot be improved by
    shrinking: zᵀ∇F(z) ≤ 0, so that F(z) ≤ ½c eᵀz and ‖z‖² ≤ u·eᵀz ≤ 2u|F(z)|/|c|. A bound on
    F(z) thus gives a smaller R, which gives a better bound.
    """
    box = qp.feasible
    problem = qp.problem
    curvature = float(x @ (gradient - qp.linear))
    square, length = square_radius(qp, x), float(np.linalg.norm(x))
    reach = float(np.sqrt(square)) + length
    lost = underflow(qp, reach) if problem.zero_tolerance else 0.0
    missed = 0.0 if problem.known_convex(lines=0) else 2.0 * box.missed(x)

    def allowance(square: float) -> float:
        curved = 0.5 * qp.hessian * problem.convexity_allowance(box.lines)
        reach = float(np.sqrt(square)) + length
        along = gradient_rounding(qp, length) + qp.hessian * problem.gram.norm * missed
        return curved * (square + length**2) + along * reach

    if box.is_bounded:
        least = box.linear_minimum(gradient)
        terms = float(np.abs(x) @ np.abs(gradient)) + abs(least)
        # In sums of two that are compared.
        sizes = float((box.widest * np.abs(gradient)).sum())
        rounding = EPS * ((qp.n + 4.0) * terms + sizes) + rounding_of_classes(qp, gradient)
        least -= 0.5 * curvature + rounding + lost
        bound = least - allowance(square)
        if not box.total and np.ndim(qp.linear) == 0 and np.all(qp.linear < 0.0):
            largest = float(np.max(box.upper))
            for _ in range(2):  # further updates change little
                square = min(square, 2.0 * largest * abs(bound) / qp.linear_size)
                bound = least - allowance(square)
        return bound
    if np.ndim(qp.linear):
        return -np.inf
    if qp.linear >= 0.0:  # No weight has a gain, and x = 0 is optimal.
        return -allowance(square)
    # Hard margin: ½wᵀw/(1 - v)² where v is the largest shortfall of a margin at the best b.
    # If 1 - v is small the rounding of the gradient matters.
    noise = (qp.n + 4.0) * EPS * (float(np.max(np.abs(gradient))) + qp.linear_size)
    noise += qp.hessian * problem.zero_tolerance * length
    short = max(shortfall(qp, gradient) + noise / qp.linear_size, 0.0)
    if short >= 1.0:
        return -np.inf
    least = -0.5 * max(curvature, 0.0) / (1.0 - short) ** 2
    rounding = (qp.n + 4.0) * EPS * (float(np.abs(x) @ np.abs(gradient)) - least)
    return least - allowance(square) - rounding - lost


def rounding_of_classes(qp: PairedQP, costs: Array) -> float:
    """Rounding of `linear_minimum` where the sum is fixed, as its costs may cancel."""
    return EPS * (qp.n + 4.0) * qp.feasible.total * float(np.abs(costs).max())


def shortfall(qp: PairedQP, gradient: Array) -> float:
    """The largest shortfall of a margin at the best offset, in units of the margin |c|."""
    box = qp.feasible
    if box.lines == 0:
        return float(np.max(-gradient)) / qp.linear_size
    y, signed = box.signs, -box.signs * gradient
    widest = float(signed[y > 0].max()) - float(signed[y < 0].min())
    return 0.5 * widest / qp.linear_size


def square_radius(qp: PairedQP, x: Array) -> float:
    """Largest ‖z‖² over the feasible set; for u = ∞ that of 2x."""
    box = qp.feasible
    if box.total:
        return box.total * float(box.widest)
    if np.ndim(box.upper):
        return float(np.sum(np.square(box.upper)))
    if np.isinf(box.upper):
        return 4.0 * float(x @ x)
    count = qp.n if box.lines == 0 else 2 * qp.problem.smaller_class
    return count * float(box.upper) * float(box.upper)


def bound_by_features(qp: PairedQP, features: Array, x: Array) -> float:
    """A lower bound on F with K = ΦΦᵀ exactly, whatever x is; features is Φ, (n, d).

    With any w, F(z) ≥ (h·y∘Φw + c)ᵀz - ½h‖w‖², as ‖Φᵀ(y∘z) - w‖² ≥ 0. For the SVM dual and
    w = Φᵀ(y∘x) the least value over the feasible set is minus the primal objective of w at its best
    offset. Each entry of Φw is off by (½d + 4)·eps of its terms at most; as z ≥ 0, so much is
    subtracted from the entry, and a little more for the sums of two that are compared.

    Where a multiple of w leaves no margin short, that is tried, too: its bound holds for any upper
    bounds of the weights, and without these it is the only one.
    """
    box = qp.feasible
    y, d = box.signs, features.shape[1]
    with one_thread():
        w = (y * x) @ features
        product, sizes = features @ w, np.abs(features) @ np.abs(w)
    image = qp.hessian * y * product
    off = EPS * ((0.5 * d + 8.0) * qp.hessian * sizes + 8.0 * np.abs(qp.linear))
    off += LEAST * (d + 8.0) * (1.0 + qp.hessian)
    square, best = 0.5 * qp.hessian * float(w @ w), -np.inf
    lengths = [1.0] if box.is_bounded else []
    if not box.total and np.ndim(qp.linear) == 0 and np.all(qp.linear < 0.0):
        short = shortfall(qp, image + qp.linear - off) + 16.0 * EPS
        lengths += [1.0 / (1.0 - short)] if short < 0.5 else []
    for length in lengths:
        costs = length * image + qp.linear - (1.0 + 8.0 * EPS) * length * off
        least, longer = box.linear_minimum(costs), length**2 * square
        rounding = EPS * ((qp.n + 8.0) * abs(least) + (d + 8.0) * longer) + d * LEAST
        best = max(best, least - longer - rounding - rounding_of_classes(qp, costs))
    return best


def attained_by_features(qp: PairedQP, features: Array, point: Point[Array]) -> float:
    """An upper bound on F with K = ΦΦᵀ exactly, at a feasible point near that one.

    Weights that move by ρ in all, as in `attained`, move Φᵀ(y∘x) by ρ·max‖φ_i‖.
    """
    x, h = np.abs(point.x), qp.hessian
    with one_thread():
        w = frobenius_norm((qp.feasible.signs * point.x) @ features)
        off = (qp.n + 8.0) * (EPS * (x @ np.abs(features)) + LEAST)
    missed, longest = qp.feasible.missed(point.x), float(np.abs(features).sum(axis=1).max())
    reach = (w + frobenius_norm(off) + missed * longest) * (1.0 + (features.shape[1] + 8.0) * EPS)
    square, tilts = 0.5 * h * reach**2, np.abs(qp.linear)
    rounding = (qp.n + 8.0) * EPS * (square + float(np.sum(tilts * x)))
    linear = float(np.sum(qp.linear * point.x)) + missed * float(np.max(tilts))
    return float(np.nextafter(square + linear + rounding, np.inf))


def newton_point(qp: PairedQP, point: Point[Array]) -> Array | None:
    """The feasible point to which a Newton step on the weights off their bounds leads.

    The step minimises F along the lines while all other weights stay; a multiple of the
    identity, of the size of rounding, makes its matrix positive definite. None if it does not.
    """
    from scipy.linalg import lapack

    box = qp.feasible
    x, y = point.x, box.signs
    lower, upper = box.at_bounds(x, FREE_TOL)
    free = np.flatnonzero(~(lower | upper))
    if not free.size:
        return None
    # In terms of v = y∘d, where every line says that the sum over its group is zero.
    block = qp.gram.block(free, free)
    size = free.size * float(np.abs(block).max())
    groups = box.group[free] == np.arange(box.totals.size)[:, None]
    normals = np.array([g / np.sqrt(np.count_nonzero(g)) for g in groups if g.any()]).T
    residual = y[free] * box.first_order(x, point.gradient, FREE_TOL).reduced[free] / qp.hessian
    if normals.size:
        without_directions(block.T, normals, size)
        residual -= normals @ (normals.T @ residual)
    block[np.diag_indices(free.size)] += zero_tolerance(free.size, size)
    factor = block.T  # by columns, as LAPACK reads it
    with one_thread():
        if size == 0.0 or cholesky_in_place(factor) != 0:
            return None
        step = -lapack.dpotrs(factor, residual, lower=1)[0]
    moved = x.copy()
    moved[free] += y[free] * step
    return box.project(moved) if np.isfinite(moved).all() else None


def bound_by_curvature(qp: PairedQP, point: Point[Array], curvature: float) -> float:
    """A lower bound on F where dᵀHd ≥ σ‖d‖², σ = `curvature` > 0, along the lines.

    With d = z - x̃ for the feasible x̃ near x, which is ρ away, r = ∇F(x) + Aᵀλ for multipliers λ of
    the lines, and a gradient that is off by η at most, rounding and the way from x to x̃ included,

        F(z) ≥ F(x̃) + rᵀd - η‖d‖ + ½σ‖d‖² ≥ F(x̃) - η²/σ + Σ min (r_i d_i + ¼σd_i²),

    where each minimum is over -x_i ≤ d_i ≤ u_i - x_i.
    """
    box = qp.feasible
    x, gradient = point.x, point.gradient
    reduced = box.first_order(x, gradient, FREE_TOL).reduced
    missed, length = box.missed(x), frobenius_norm(x)
    kernel = gradient_rounding(qp, length) + qp.hessian * qp.problem.gram.norm * missed
    off = kernel + 4.0 * EPS * frobenius_norm(np.abs(gradient) + np.abs(reduced))
    with np.errstate(over="ignore"):
        d = np.clip(-2.0 * reduced / curvature, -x, box.upper - x)
    if not np.isfinite(d).all():
        return -np.inf
    falls = np.abs(reduced * d), 0.25 * curvature * np.square(d)
    least = float((falls[1] - falls[0]).sum())
    steep = float(np.max(np.abs(gradient) + 2.0 * np.abs(reduced))) + kernel
    terms = float(np.abs(x) @ (np.abs(gradient) + 2.0 * np.abs(qp.linear)))
    terms += float(falls[0].sum() + falls[1].sum())
    rounding = (qp.n + 8.0) * EPS * terms + kernel * length + missed * steep
    rounding += underflow(qp, length + frobenius_norm(d))
    return point.value + least - (off * off / curvature + rounding) * (1.0 + 16.0 * EPS)


@charged_bounds.register
def _(
    qp: PairedQP, point: Point[Array], multipliers: Values | None, most: float
) -> Iterator[LowerBound]:
    """Bounds by K + δI, as `charged_bounds` says.

    For 0 ≤ x ≤ u the weights v of K have ‖v‖² ≤ uᵀx, also where they are differences of two x. So
    F̃ is F + ½hδ(‖v‖² - uᵀx). The rounding of K + δI and of the linear term is charged, too.
    """
    box = qp.feasible
    plain, problem = qp.plain, qp.problem
    if plain is not qp:
        yield from charged_bounds(plain, plain.at(point.x), multipliers, most)
        return
    if not box.is_bounded or not problem.curvature_known or problem.features is not None:
        return
    h, widest, x = qp.hessian, box.widest, point.x
    v = qp.values(x)[qp.variable] if qp.is_split else box.signs * x
    here = max(0.5 * h * float((widest * x).sum() - v @ v), 0.0)
    squares = np.square(widest).sum() * (1 if np.ndim(widest) else qp.n)
    per_curvature = max(here, 0.125 * h * float(squares) / MAX_CHARGE)
    if any(-met * per_curvature > most for met in problem.curvatures_met(box.lines)):
        return
    delta = problem.zero_tolerance - problem.least_curvature(box.lines)
    if delta * per_curvature > most:
        return
    convex = qp.on(problem.raised(delta))
    if convex.plain is not convex or not convex.is_convex:
        return
    # What is added to the diagonal may be larger by its rounding.
    added = (1.0 + 8.0 * EPS) * (delta + EPS * (convex.gram.largest + delta))
    price, always = 0.5 * h * added * widest, 0.0
    if box.total:
        always = (1.0 + 8.0 * EPS) * float(price) * box.total
    else:
        price = price + 4.0 * EPS * (np.abs(qp.linear) + price)
        convex = replace(convex, linear=qp.linear - price)
    values = (bound.value for bound in bounds(convex, convex.at(x), multipliers))
    if always:
        values = (float(np.nextafter(value - always, -np.inf)) for value in values)
    yield from charged(values, -delta, delta * here)


@singledispatch
def dual_bound(qp: PairedQP, x: Array, gradient: Array) -> float:
    """A lower bound on F over the feasible set by its linearisation, if F is convex there."""
    return linearised(qp, x, gradient)


@singledispatch
def explicit_bounds(qp: PairedQP, point: Point[Array]) -> Explicit:
    """Bounds that need no products with K, as a function of x; see `by_points`."""
    return by_points(qp, point)


@singledispatch
def gradient_rounding(qp: PairedQP, length: float) -> float:
    """Bound on the norm of the rounding of a gradient, at a point of that length."""
    return qp.hessian * float(qp.problem.zero_tolerance) * length


@singledispatch
def doubt(qp: PairedQP, upper: Array) -> float:
    """By how much F may lie below ½xᵀHx + cᵀx for 0 ≤ x ≤ upper, as H and c are rounded."""
    return 0.0


@singledispatch
def doubt_of_slopes(qp: PairedQP) -> float | Array:
    """By how much an entry of c may be larger than what it stands for."""
    return 0.0


@singledispatch
def proved_curvature(qp: PairedQP, most: int) -> float:
    """σ ≥ 0 with dᵀHd ≥ σ‖d‖² along the lines; see `LabelledKernel.proved_curvature`."""
    return qp.hessian * float(qp.problem.proved_curvature(qp.feasible.lines, most))
