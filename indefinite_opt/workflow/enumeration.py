"""The optimum of a small quadratic program by all of its faces, from declared values alone."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from indefinite_opt.algebra import attributes_of
from indefinite_opt.foundation import Array

MAX_FACES = 5_000
"""Most faces that are tried."""

_AGREES = 1e-9
"""Difference, beside the size of the terms, up to which values are those of the polynomial."""

_MISSED = 1e-8
"""The same by which a point of a face may miss rows, or the equations that define it."""


class NotEnumerable(Exception):
    """Why the faces of a program are not tried."""


class _Quadratic(NamedTuple):
    """½xᵀPx + qᵀx + constant on Ax = b, Gx ≤ h."""

    P: Array
    q: Array
    constant: float
    A: Array
    b: Array
    G: Array
    h: Array

    @property
    def faces(self) -> int:
        """The number of sets of at most n inequalities."""
        m, n = self.G.shape
        return sum(math.comb(m, k) for k in range(min(m, n) + 1))


def by_faces(declared: Any, generator: np.random.Generator) -> tuple[float, int]:
    """The least declared objective, or the largest of a maximum, and the number of faces.

    A program that has an optimum attains it where its objective is stationary on a face: where some
    inequalities hold as equations, and the gradient is a combination of their normals. These points
    are solutions of linear equations, one for each set of inequalities. Objective and rows are read
    off the values of the declared expressions, at points with the entries 0, 1 and -1.

    The optimum is infinite if no such point is feasible. `NotEnumerable` says why it is not
    computed.
    """
    program = _read(declared, generator)
    if program.faces > MAX_FACES:
        raise NotEnumerable(f"it has more than {MAX_FACES} faces")
    n, best = program.q.size, np.inf
    m = program.h.size
    for k in range(min(m, n) + 1):
        for held in map(list, itertools.combinations(range(m), k)):
            x = _stationary(program, held)
            if x is not None and _is_feasible(program, x):
                best = min(best, float(x @ (0.5 * (program.P @ x) + program.q)))
    sense = 1.0 if declared.sense == "minimize" else -1.0
    return sense * (best + program.constant), program.faces


def _stationary(program: _Quadratic, held: list[int]) -> Array | None:
    """Where the objective is stationary if equations and the held inequalities hold as such."""
    rows = np.vstack([program.A, program.G[held]])
    ends = np.concatenate([program.b, program.h[held]])
    n, k = program.q.size, len(ends)
    system = np.block([[program.P, rows.T], [rows, np.zeros((k, k))]])
    target = np.concatenate([-program.q, ends])
    scale = np.max(np.abs(system), axis=1, initial=0.0)
    scale[scale == 0.0] = 1.0
    system, target = system / scale[:, None], target / scale
    found = np.linalg.lstsq(system, target, rcond=1e-12)[0]
    size = np.abs(found).max(initial=1e-300)  # the entries of each row are at most 1
    is_solution = np.all(np.abs(system @ found - target) <= _MISSED * (size + np.abs(target)))
    return np.asarray(found[:n]) if is_solution else None


def _is_feasible(program: _Quadratic, x: Array) -> bool:
    for rows, ends, equal in ((program.A, program.b, True), (program.G, program.h, False)):
        missed = rows @ x - ends
        room = _MISSED * (np.abs(rows) @ np.abs(x) + np.abs(ends) + np.abs(x).max(initial=0.0))
        if np.any((np.abs(missed) if equal else missed) > room + 1e-300):
            return False
    return True


def _read(declared: Any, generator: np.random.Generator) -> _Quadratic:
    """Objective and rows from the values of the declared expressions."""
    shapes = {name: variable.shape for name, variable in declared.variables.items()}
    sizes = [math.prod(shape) for shape in shapes.values()]
    n = sum(sizes)
    rows = declared.subject_to.values()
    if any(row.kind not in ("Inequality", "Equality") for row in rows):
        raise NotEnumerable("a constraint is neither ≤ nor =")
    if n > MAX_FACES:
        raise NotEnumerable("it has too many variables")
    if any(attributes_of(variable) for variable in declared.variables.values()):
        raise NotEnumerable("variables have attributes")

    def put(x: Array) -> None:
        parts = np.split(x, np.cumsum(sizes)[:-1])
        declared.set_values({
            name: np.reshape(part, shape)
            for (name, shape), part in zip(shapes.items(), parts, strict=True)
        })  # fmt: skip

    def objective(x: Array) -> float:
        put(x)
        sense = 1.0 if declared.sense == "minimize" else -1.0
        return sense * float(np.ravel(declared.objective.value)[0])

    def residuals(equal: bool) -> Callable[[Array], Array]:
        def of(x: Array) -> Array:
            put(x)
            found = [np.zeros(0)]
            for row in rows:
                if (row.kind == "Equality") == equal:
                    left, right = (np.asarray(arg.value, dtype=float) for arg in row.args)
                    found.append(np.ravel(left - right))
            return np.concatenate(found)

        return of

    P, q, constant = _polynomial(objective, n, generator)
    A, b = _affine(residuals(True), n, generator)
    G, h = _affine(residuals(False), n, generator)
    kept = np.isfinite(h)
    return _Quadratic(P, q, constant, A, b, G[kept], h[kept])


def _polynomial(
    value: Callable[[Array], float], n: int, generator: np.random.Generator
) -> tuple[Array, Array, float]:
    """P, q and the constant of ½xᵀPx + qᵀx + constant, from its values."""
    unit, constant = np.eye(n), value(np.zeros(n))
    plus, minus = (np.array([value(sign * e) for e in unit]) for sign in (1.0, -1.0))
    q, P = 0.5 * (plus - minus), np.diag(_sum(plus, minus, -2.0 * constant))
    for i, j in itertools.combinations(range(n), 2):
        P[i, j] = P[j, i] = _sum(value(unit[i] + unit[j]), -plus[i], -plus[j], constant)
    for x in generator.standard_normal((3, n)):
        size = 0.5 * np.abs(x) @ np.abs(P) @ np.abs(x) + np.abs(q) @ np.abs(x) + abs(constant)
        found = x @ (0.5 * (P @ x) + q) + constant
        if not abs(found - value(x)) <= _AGREES * max(size, 1.0):
            raise NotEnumerable("the objective is not quadratic")
    return P, q, constant


def _sum(*terms: float | Array) -> Any:
    """The sum, or 0 where that is rounding beside the terms."""
    total, size = sum(terms), sum(map(np.abs, terms))
    return np.where(np.abs(total) <= 1e-14 * size, 0.0, total)


def _affine(
    residual: Callable[[Array], Array], n: int, generator: np.random.Generator
) -> tuple[Array, Array]:
    """R and r of the rows Rx - r, from their values."""
    with np.errstate(invalid="ignore"):
        start = residual(np.zeros(n))
        R = np.array([residual(e) - start for e in np.eye(n)]).T.reshape(start.size, n)
    kept = np.isfinite(start)
    for x in generator.standard_normal((3, n)):
        size = np.abs(R[kept]) @ np.abs(x) + np.abs(start[kept])
        missed = np.abs(R[kept] @ x + start[kept] - residual(x)[kept])
        if not np.all(missed <= _AGREES * np.maximum(size, 1.0)):
            raise NotEnumerable("a row is not affine")
    return R, -start
