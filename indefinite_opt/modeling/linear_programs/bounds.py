"""What is known of the linear programs with a kernel matrix in their rows, and of those on a box.

A bound holds for any multipliers, and includes the rounding of its own computation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

import numpy as np

from indefinite_opt.foundation import EPS, TILE_ENTRIES, Array, Values, tiles
from indefinite_opt.modeling.linear_programs.linear_program import Columns, Theorem
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import CANCELLED, cheapest, exact_residuals, filled, project_line

_FEW = 300
"""Points up to which all products are computed exactly where that may close a gap at 0, in a tenth
of a second."""

_MAX_ROUNDING = 1e-8
"""Relative rounding of a bound beyond which it is also computed from a shifted matrix, and in the
longest floating-point format there is: a hundredth of the default tolerance."""


def plain_box(variables: Mapping[str, Columns]) -> Theorem:
    """About min cᵀx  s.t.  lower ≤ x ≤ upper, without absolute values and rows."""
    return Theorem(partial(_clipped, variables), partial(_least_on_box, variables))


def _clipped(variables: Mapping[str, Columns], values: Values) -> Values:
    """The nearest values."""
    return {name: np.clip(values[name], v.lower, v.upper) for name, v in variables.items()}


def _least_on_box(variables: Mapping[str, Columns], multipliers: Values) -> float:
    """min cᵀx on the box less its rounding, whatever the multipliers are."""
    parts = [[v.each(part) for part in (v.cost, v.lower, v.upper)] for v in variables.values()]
    cost, lower, upper = map(np.concatenate, zip(*parts, strict=True))
    terms = np.where(cost == 0.0, 0.0, cost * np.where(cost > 0.0, lower, upper))
    rounding = (terms.size + 2.0) * EPS * float(np.abs(terms).sum())
    total = math.fsum(terms.tolist())
    return total - (rounding if np.isfinite(total) else 0.0)


def one_norm_machine(problem: KernelProblem, C: float) -> Theorem:
    """About min ‖u‖₁ + C eᵀξ  s.t.  y∘(Ku + be) ≥ e - ξ,  ξ ≥ 0."""
    return Theorem(
        partial(_least_slacks, problem), partial(_bound_of_machine, problem, C), slacks={"xi": 1.0}
    )


def _least_slacks(problem: KernelProblem, values: Values) -> Values:
    """The same u and b with the least feasible slacks."""
    margins = problem.y * (problem.gram.times(values["u"]) + values["b"])
    return values | {"xi": np.maximum(1.0 - margins, 0.0)}


def _bound_of_machine(problem: KernelProblem, C: float, multipliers: Values) -> float:
    """eᵀλ after λ is clipped to [0, C], balanced between classes, and scaled into the dual.

    yᵀλ = 0 then holds exactly, and the rounding of the products with K is allowed for.
    """
    lam = _balanced(np.clip(multipliers["margin"], 0.0, C), problem.y)
    total = float(lam.sum())
    signed, terms = problem.y * lam, (problem.n + 4) * total
    sums, error = np.abs(problem.K @ signed), terms * EPS * problem.largest
    largest = float(sums.max())
    if error <= _MAX_ROUNDING * max(1.0, largest):
        return _scaled(total, largest + error)
    # Only these columns of K may decide. As yᵀλ = 0, any number may be subtracted from one.
    decisive = np.flatnonzero(sums + error > max(1.0, largest - error))
    reached = min(1.0, largest + error)
    for part in tiles(decisive.size, TILE_ENTRIES // problem.n):
        columns = problem.K[decisive[part]].astype(np.longdouble)
        columns -= columns.mean(axis=1)[:, None]
        fine = terms * np.finfo(np.longdouble).eps * np.abs(columns).max()
        reached = max(reached, float((np.abs(columns @ signed).max() + fine) * (1.0 + EPS)))
    return _scaled(total, reached)


def _scaled(total: float, reach: float) -> float:
    """total / max(1, reach), and less by the rounding of the sum and of the quotient."""
    return total / max(1.0, reach) * (1.0 - 4.0 * EPS) if total > 0.0 else 0.0


def _balanced(lam: Array, y: Array) -> Array:
    """λ reduced in one class until yᵀλ = 0 exactly, in units in which all sums are integers."""
    sums = float(lam[y > 0].sum()), float(lam[y < 0].sum())
    if not min(sums) > 1e-280:  # below it units would underflow
        return np.zeros_like(lam)
    unit = 2.0 ** (np.ceil(np.log2(min(sums))) - 51.0)
    shares = np.where(y > 0, min(1.0, sums[1] / sums[0]), min(1.0, sums[0] / sums[1]))
    counts = np.floor(lam * shares / unit)
    excess = float(y @ counts)
    larger = np.where(y * excess > 0.0, counts, 0.0)
    before = np.concatenate([[0.0], np.cumsum(larger)[:-1]])
    return np.asarray(unit * (counts - np.clip(abs(excess) - before, 0.0, larger)))


def sensitivity_game(problem: KernelProblem, given: Array | None, beta: float) -> Theorem:
    """About min δ  s.t.  Δᵀα ≤ δe,  yᵀα = 0,  eᵀα = 1,  0 ≤ α ≤ β̄.

    Δ, (n, n), is given, or None for 2Q, which is formed only when needed. β̄ is beta.
    """
    return Theorem(
        partial(_nearest_weights, problem, given, beta),
        partial(_bound_of_game, problem, given, beta),
        slacks={"delta": 0.0},
        size_of_rows=partial(_size_of_active_row, problem, given),
    )


def _activity(problem: KernelProblem, given: Array | None, alpha: Array) -> tuple[Array, float]:
    """Δᵀα, and the largest |Δ_ij|."""
    if given is None:
        y = problem.y
        return 2.0 * y * problem.gram.times(y * alpha), 2.0 * problem.largest
    return given.T @ alpha, float(np.max(np.abs(given)))


def _nearest_weights(
    problem: KernelProblem, given: Array | None, beta: float, values: Values
) -> Values:
    """The nearest feasible α with its least feasible δ."""
    y, alpha = problem.y, np.empty(problem.n)
    for sign in (1.0, -1.0):
        group = y == sign
        ones = np.ones(int(group.sum()))
        alpha[group] = project_line(values["alpha"][group], ones, 0.5, beta)
    return {"alpha": alpha, "delta": np.asarray(np.max(_activity(problem, given, alpha)[0]))}


def _size_of_active_row(problem: KernelProblem, given: Array | None, values: Values) -> float:
    """`CANCELLED` times Σ_k α_k |y_ky_iΔ_ki - c_i| in the largest row i, with c_i the mean.

    c_i has no effect on balanced weights. Several rows are the largest up to
    rounding where they are active, of which the one with the least sum counts.
    """
    y, alpha = problem.y, np.maximum(values["alpha"], 0.0)
    n, mass = y.size, float(alpha.sum()) or 1.0
    sums, largest = _activity(problem, given, alpha)
    rows = np.flatnonzero(sums >= sums.max() - 4.0 * (n + 2.0) * EPS * largest * mass)
    least = np.inf
    for part in tiles(rows.size, TILE_ENTRIES // n):
        if given is None:
            terms = 2.0 * problem.gram.block(rows[part], np.arange(n))
        else:
            terms = y[rows[part], None] * given[:, rows[part]].T * y
        terms -= (terms @ alpha / mass)[:, None]
        least = min(least, float((np.abs(terms, out=terms) @ alpha).min()))
    # If sums have overflowed there is no largest row, and no floor that hides a gap.
    return CANCELLED * least if rows.size else 0.0


def _bound_of_game(
    problem: KernelProblem, given: Array | None, beta: float, multipliers: Values
) -> float:
    """min over α of αᵀΔπ minus its rounding, with π the multipliers scaled to sum to one."""
    pi = np.maximum(multipliers["sensitivity"], 0.0)
    if not pi.max() > 0.0:
        return -np.inf
    pi = pi / pi.max()
    pi = pi / pi.sum()
    y = problem.y
    # 2Q is symmetric.
    costs, largest = _activity(problem, given, pi)
    if given is not None:
        costs = given @ pi
    bound, rounding = _cheapest(costs, y, beta, largest)
    if rounding > _MAX_ROUNDING * abs(bound):
        # As each class has weight ½, constants per class change a row by half of their sum.
        Delta = 2.0 * problem.Q if given is None else given
        level = np.array([Delta[y > 0].mean(axis=0), Delta[y < 0].mean(axis=0)])
        shifted = Delta - level[(y < 0).astype(int)]
        largest = float(np.max(np.abs(shifted)))
        constants = 0.5 * level.sum(axis=0) * pi
        fine, error = _cheapest(shifted @ pi, y, beta, largest)
        error += 4.0 * (y.size + 4) * EPS * float(np.abs(constants).sum())
        fine += float(constants.sum())
        if fine - error > bound - rounding:
            bound, rounding = fine, error
        if rounding > _MAX_ROUNDING * abs(bound) and y.size <= _FEW:
            exactly = exact_residuals(Delta, pi, np.zeros(y.size))
            fine, error = _cheapest_exactly(exactly, y, beta)
            if fine - error > bound - rounding:
                bound, rounding = fine, error
    return bound - rounding - 4.0 * EPS * abs(bound)


def _cheapest_exactly(costs: Array, y: Array, beta: float) -> tuple[float, float]:
    """`_cheapest` for costs of one rounding each, as where hulls meet and the minimum is 0.

    Amounts are rounded, too, by less than eps.
    """
    bound = rounding = 0.0
    for sign in (1.0, -1.0):
        ordered = np.sort(costs[y == sign])
        amounts = filled(ordered.size, 0.5, beta)
        bound += float(ordered @ amounts)
        last = np.abs(ordered[: np.count_nonzero(amounts) + 1]).max()
        rounding += (y.size + 8.0) * EPS * float(np.abs(ordered) @ amounts) + 4.0 * EPS * last
    return bound, rounding + (y.size + 8.0) * EPS * abs(bound)


def _cheapest(costs: Array, y: Array, beta: float, largest: float) -> tuple[float, float]:
    """min costsᵀα over the feasible α, and a bound on its rounding.

    It covers the n products in each cost, the sum of π, which is 1 up to rounding, and the n
    products of the minimum.
    """
    bound = sum(cheapest(part, 0.5, beta) for part in (costs[y > 0], costs[y < 0]))
    return bound, 4.0 * (y.size + 4) * EPS * largest


def one_class_description(problem: KernelProblem, price: float, sense: int) -> Theorem:
    """About min σρ + p eᵀξ  s.t.  σMw ≤ σρe + ξ,  eᵀw = 1,  w, ξ ≥ 0, and ρ ≥ 0 if σ = 1.

    The kernel matrix M of the problem holds distances if the sense σ is 1, and similarities if it
    is -1. p is the price.
    """
    return Theorem(
        partial(_nearest_description, problem, sense),
        partial(_bound_of_description, problem, price, sense),
        slacks={"xi": 0.0},
        size_of_rows=partial(_size_of_largest_row, problem),
    )


def _nearest_description(problem: KernelProblem, sense: int, values: Values) -> Values:
    """The nearest w, and the least feasible slacks."""
    w = project_line(values["w"], np.ones(problem.n), 1.0, np.inf)
    rho = np.maximum(values["rho"], 0.0 if sense > 0.0 else -np.inf)
    excess = sense * (problem.gram.times(w) - rho)
    return {"w": w, "rho": rho, "xi": np.maximum(excess, 0.0)}


def _size_of_largest_row(problem: KernelProblem, values: Values) -> float:
    """`CANCELLED` times the largest sum of the absolute terms of a row of Mw."""
    w = values["w"]
    used = np.flatnonzero(w)
    block = np.abs(problem.gram.block(np.arange(problem.n), used))
    return CANCELLED * float(np.max(block @ np.abs(w[used]), initial=0.0))


def _bound_of_description(
    problem: KernelProblem, price: float, sense: int, multipliers: Values
) -> float:
    """min_j σ(Mᵀλ)_j after λ is clipped to [0, p] and made to sum to 1 exactly.

    Where ρ ≥ 0 a sum of at most 1 suffices. Where n·p < 1 there is no bound for a ρ of either
    sign.
    """
    lam = np.clip(multipliers["boundary"], 0.0, price)
    if sense < 0.0 or float(lam.sum()) > 1.0 - problem.n * EPS:
        lam = _of_sum_one(lam, price)
        # The correctly rounded sum is 0 only if the sum of λ is 1 exactly.
        if sense < 0.0 and math.fsum([*lam.tolist(), -1.0]) != 0.0:
            return -np.inf
    error = (problem.n + 8.0) * EPS * problem.largest
    return float(np.min(sense * (problem.K @ lam))) - error


def _of_sum_one(lam: Array, most: float) -> Array:
    """λ with 0 ≤ λ ≤ most and the sum 1, where n·most allows it, in exact integers of a unit.

    The unit is that of the last bit of `most`, if that is smaller than 2⁻⁵²: no λ has more bits.

    >>> _of_sum_one(np.full(3, 0.3), 1.0 / 3.0 + 2.0**-54).tolist()
    [0.33333333333333326, 0.33333333333333337, 0.33333333333333337]
    """
    most, total = min(most, 1.0), float(lam.sum())
    if total > 1.0:
        lam = lam / total
    elif total < 1.0:
        space = float((most - lam).sum())
        lam = lam + (most - lam) * min(1.0, (1.0 - total) / (space or 1.0))
    unit = min(2.0**-52, float(np.spacing(most)))
    counts = np.floor(np.minimum(lam, most) / unit).astype(np.int64).astype(object)
    missing = int(1.0 / unit) - sum(counts)
    room = int(most / unit) - counts if missing > 0 else counts
    before = np.concatenate([[0], np.cumsum(room)[:-1]])
    moved = np.clip(abs(missing) - before, 0, room)
    return unit * np.asarray(counts + (moved if missing > 0 else -moved), dtype=np.float64)
