"""Multipliers of rows and bounds that fit a gradient."""

from __future__ import annotations

import contextlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import EPS, Array, Values, afford, seconds_left
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.matrices.units import balancing_units
from indefinite_opt.quadratic.rows.declared_rows import DeclaredRows
from indefinite_opt.quadratic.rows.polyhedron import Polyhedron
from indefinite_opt.quadratic.rows.to_highs import solved_by_highs

_REFLECTION = 40.0
"""Operations on each entry by which scipy's `nnls` adds one multiplier."""


class Undeclared(NamedTuple):
    """Rows and bounds that no declared constraint has for itself."""

    rows: NDArray[np.bool_]
    """The inequalities of epigraphs, (m,)."""
    entries: NDArray[np.bool_]
    """The entries of epigraphs, (n,)."""
    sums: list[tuple[DeclaredRows, Array]]
    """Declared constraints of several rows, with their multipliers, a vector."""
    terms: Array
    """The sizes of the terms of each entry of x, (n,)."""


def shapes_by_kind(body: Polyhedron) -> dict[str, tuple[int, ...]]:
    """Shapes of the multipliers of all rows and bounds that there are, by their kind."""
    sizes = {"inequalities": body.h.size, "equalities": body.b.size}
    sizes |= {"lower": body.n * bool(np.isfinite(body.lower).any())}
    sizes |= {"upper": body.n * bool(np.isfinite(body.upper).any())}
    return {name: (size,) for name, size in sizes.items() if size}


def of_rows(body: Polyhedron, multipliers: Values) -> tuple[Array, Array]:
    """z and y, those of the inequalities and of the equations; zeros where there are none."""
    z = multipliers.get("inequalities", np.zeros(body.h.size))
    return z, multipliers.get("equalities", np.zeros(body.b.size))


def reduced(body: Polyhedron, gradient: Array, z: Array, y: Array) -> Array:
    """∇F + Gᵀz + Aᵀy, (n,)."""
    left: Array = gradient + body.columns @ np.concatenate([z, y])
    return left


def fitted(
    body: Polyhedron, x: Array, gradient: Array, tol: float, terms: Array | None = None
) -> Values:
    """The multipliers of the active constraints that leave the least residual ‖·‖₂.

    The residual of each variable is measured in a unit in which its conditions have terms near 1.
    `terms` are the sizes of the terms of each variable, by default |x|.
    """
    active = body.active_rows(x, tol, terms)
    lower, upper = body.at_bounds(x, tol)
    rows, count = np.vstack([body.G[active], body.A]), int(active.sum())
    row, column = balancing_units(np.vstack([rows, gradient]))
    scaled = rows * row[:-1, None] * column
    columns, target = np.vstack([scaled, -scaled[count:]]).T, -gradient * row[-1] * column
    multipliers = _least(columns, target, lower, upper)
    multipliers[count : len(rows)] -= multipliers[len(rows) :]
    z = np.zeros(body.h.size)
    z[active], y = np.split(multipliers[: len(rows)] * row[:-1] / row[-1], [count])
    left = reduced(body, gradient, z, y)
    return {
        "inequalities": z,
        "equalities": y,
        "lower": np.where(lower, np.maximum(left, 0.0), 0.0),
        "upper": np.where(upper, np.maximum(-left, 0.0), 0.0),
    }


def completed(
    body: Polyhedron, x: Array, gradient: Array, known: Values, undeclared: Undeclared, tol: float
) -> Values:
    """Known multipliers with those of rows and bounds that no declared constraint has for itself.

    Only active ones have multipliers, which leave the least residual ‖·‖₂ beside the known ones.
    Those of one declared constraint add up to the multiplier of that.
    """
    own, hidden, sums, terms = undeclared
    found, none = {name: value.copy() for name, value in known.items()}, np.zeros(body.n)
    active = np.flatnonzero(own & body.active_rows(x, tol, terms)).tolist()
    chosen = [("inequalities", k) for k in active]
    ties: list[tuple[list[int], Array, float]] = []
    for block, totals in sums:
        for entry in np.flatnonzero(totals).tolist():
            pieces, sizes = _held(body, x, terms, block, entry, tol)
            total = float(totals[entry])
            if len(pieces) > 1 and total > 0.0:
                ties.append(([len(chosen) + j for j in range(sizes.size)], 1.0 / sizes, total))
                chosen += pieces
            else:
                kind, k = pieces[0]
                found[kind][k] += sizes[0] * total
    left = reduced(body, gradient, *of_rows(body, found))
    left = left - found.get("lower", none) + found.get("upper", none)
    rows = np.zeros((len(chosen), body.n))
    for j, (kind, k) in enumerate(chosen):
        if kind == "inequalities":
            rows[j] = body.G[k]
        else:
            rows[j, k] = -1.0 if kind == "lower" else 1.0
    at_low, at_high = (hidden & at_end for at_end in body.at_bounds(x, tol))
    row, column = balancing_units(np.vstack([rows, left]))
    units, scaled = row[:-1] / row[-1], (rows * row[:-1, None] * column).T
    beside, target = np.zeros((len(ties), len(chosen))), np.zeros(len(ties))
    for i, (places, shares, total) in enumerate(ties):
        weights = shares * units[places]
        beside[i, places], target[i] = weights / weights.max(), total / weights.max()
    no = np.zeros(len(ties), dtype=bool)
    multipliers = units * _least(
        np.vstack([scaled, beside]), np.concatenate([-left * row[-1] * column, target]),
        np.concatenate([at_low, no]), np.concatenate([at_high, no]),
    )  # fmt: skip
    for (kind, k), value in zip(chosen, multipliers.tolist(), strict=True):
        found[kind][k] += value
    left = left + rows.T @ multipliers
    for kind, at_end, sign in (("lower", at_low, 1.0), ("upper", at_high, -1.0)):
        if kind in found:
            found[kind] = np.where(at_end, np.maximum(sign * left, 0.0), found[kind])
    return found


def _held(
    body: Polyhedron, x: Array, terms: Array, block: DeclaredRows, entry: int, tol: float
) -> tuple[list[tuple[str, int]], Array]:
    """The rows and bounds of an entry of a declared constraint that are active, nearest first.

    With their sizes; the nearest one if none is active.
    """
    places, slacks, sizes = [], [], []
    for piece in block.pieces:
        k = piece.part.start + entry
        places.append((piece.kind, k))
        sizes.append(float(piece.size if np.ndim(piece.size) == 0 else np.ravel(piece.size)[entry]))
        if piece.kind == "inequalities":
            g, end = body.G[k], float(body.h[k])
            slack, size = end - float(g @ x), float(np.abs(g) @ terms) + abs(end)
        else:
            end = float((body.lower if piece.kind == "lower" else body.upper)[k])
            slack, size = abs(float(x[k]) - end), max(abs(float(x[k])), abs(end))
        slacks.append(slack / (size or 1.0))
    order = np.argsort(slacks, kind="stable")
    count = max(int(np.count_nonzero(np.array(slacks) <= tol)), 1)
    return [places[j] for j in order[:count]], np.array(sizes)[order[:count]]


def _least(
    columns: Array, target: Array, lower: NDArray[np.bool_], upper: NDArray[np.bool_]
) -> Array:
    """v ≥ 0 with the least ‖columns·v - target‖, where bounds excuse residuals of one sign.

    A variable at a bound counts as long as its residual has the wrong sign. What is minimised is
    convex, and quadratic as long as the same variables count: Newton's method, whose steps are
    halved until they lead down.
    """
    from scipy.optimize import nnls

    v, missed, counted = np.zeros(columns.shape[1]), np.inf, ~(lower | upper)
    if not v.size:  # on which scipy's function would end the process
        return v

    def wrong(v: Array) -> Array:
        left = columns @ v - target
        return np.where((left > 0.0) & lower | (left < 0.0) & upper, 0.0, left)

    for _ in range(50):  # two to five are usual, and one or two pivots for each multiplier
        best, share = v, 1.0
        if counted.any():
            afford(_REFLECTION * np.count_nonzero(counted) * float(v.size) ** 2)
            with contextlib.suppress(RuntimeError):  # without an answer nothing is claimed
                best, _ = nnls(columns[counted], target[counted], maxiter=30 * v.size)
        while np.linalg.norm(wrong(v + share * (best - v))) >= missed:
            share *= 0.5
            if share < EPS:
                return v
        v = v + share * (best - v)
        left = wrong(v)
        missed, before, counted = float(np.linalg.norm(left)), counted, left != 0.0
        counted |= ~(lower | upper)
        if share == 1.0 and np.array_equal(before, counted):
            break
    return v


def strict(
    body: Polyhedron, x: Array, gradient: Array, tol: float, residual: float
) -> tuple[Values, Array] | None:
    """Multipliers of the rows with maximal support, and the reduced gradient that they leave.

    They are positive at as many active constraints as any: each is s + t with 0 ≤ s ≤ 1 and t ≥ 0,
    and the linear program has the largest sum of s, for a gradient in its own unit. The conditions
    may be missed by twice the `residual` of known multipliers: by as much as `tol`, small
    multipliers would seem positive where they cannot be. None if HiGHS does not solve it.
    """
    lower, upper = body.at_bounds(x, tol)
    active, held = np.flatnonzero(body.active_rows(x, tol)), np.flatnonzero(lower ^ upper)
    if not (active.size or body.b.size):
        return None
    bounds = np.eye(body.n)[:, held] * np.where(lower, -1.0, 1.0)[held]
    normals = np.hstack([body.G[active].T, bounds])
    k, m, kept = normals.shape[1], body.b.size, ~(lower & upper)
    slack, free = 2.0 * residual, ~(lower | upper)
    form = StandardForm(
        1, np.repeat([-1.0, 0.0], [k, k + m]), np.repeat([0.0, -np.inf], [2 * k, m]),
        np.repeat([1.0, np.inf], [k, k + m]), (-gradient - slack * free)[kept],
        (-gradient + slack * free)[kept], np.hstack([normals, normals, body.A.T])[kept],
    )  # fmt: skip
    solution = solved_by_highs(form, seconds=seconds_left())
    if solution is None:
        return None
    small, rest, y = np.split(solution[0], [k, 2 * k])
    z = np.zeros(body.h.size)
    z[active] = np.maximum(small + rest, 0.0)[: active.size]
    left = reduced(body, gradient, z, y)
    # The tolerance of HiGHS itself, 1e-7, would be a tenth of the default one.
    if np.max(np.abs(left[free]), initial=0.0) > slack + 0.01 * tol:
        return None
    return {"inequalities": z, "equalities": y}, left
