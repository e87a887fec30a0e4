"""Small quadratic programs with numbers far apart, and long chains, with their exact optima.

Wide but finite boxes, rows whose terms cancel far away, contradictions of every size beside long
rows, boxes that are not active, and equations that follow from each other. Nothing is rounded: the
optima are enumerated as fractions or known in closed form, and those of empty programs are None.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from programs import HESSIANS, DrawnProgram, Rows, Units, random_base

from helpers.exact import Program, Vector, as_vector, dot

__all__ = ["FAR", "FarProgram", "draw_far"]

Array = NDArray[np.float64]
Generator = np.random.Generator

ZERO = Fraction(0)


class Made(NamedTuple):
    """A program, its kinds, and what is true of it."""

    kinds: list[str]
    program: Program
    minimum: tuple[Fraction, Vector] | None
    implied: tuple[tuple[Array, float], ...] = ()
    """Inequalities that follow from the rows, of terms that do not cancel."""


def _power(g: Generator, least: int, most: int) -> float:
    return float(2.0 ** g.integers(least, most + 1))


def _on(P: Array, q: Array, lb: Array, ub: Array, G: Rows, A: Rows) -> Program:
    rows = [([row for row, _ in part], [end for _, end in part]) for part in (G, A)]
    return Program.on(P, q, lb, ub, *rows[0], *rows[1])


def _wide_box(g: Generator) -> Made:
    """A program of small numbers, some ends of which are moved far out or become finite there."""
    while True:
        kinds, base, feasible = random_base(g)
        if base.n <= 4 and base.h.size <= 5:
            break
    far = _power(g, 10, 43)
    lower, upper = g.random((2, base.n)) < 0.5
    # Ends of a box that rows do not bound are infinite; all of them are finite in the end.
    lb = np.where(lower | np.isinf(base.lb), -far, base.lb)
    ub = np.where(upper | np.isinf(base.ub), far, base.ub)
    program = replace(base, lb=lb, ub=ub)
    return Made(kinds, program, program.minimum(every=True) if feasible else None)


def _cancelling(g: Generator) -> Made:
    """Far variables that are equal cancel in a row, which is about small ones then."""
    far, small = int(g.integers(2, 4)), int(g.integers(1, 3))
    n = far + small
    link = np.append(g.permutation([1.0, -1.0, *g.choice([-1.0, 1.0], far - 2)]), np.zeros(small))
    row = np.append(np.zeros(far), g.choice([-2.0, -1.0, 1.0, 2.0, 3.0], small))
    size = _power(g, 10, 43)
    lb = np.append(np.full(far, g.choice([0.0, -size])), g.integers(-3, 1, small))
    ub = np.append(np.full(far, size), g.integers(1, 4, small))
    P, q = np.zeros((n, n)), np.zeros(n)
    kind = str(g.choice(list(HESSIANS)))
    P[far:, far:] = g.choice([1.0, 1.0, 100.0]) * HESSIANS[kind](g, small)
    q[far:] = g.integers(-5, 6, small)
    where = str(g.choice(["anywhere", "far away", "curved"]))
    if where == "far away":
        q[:far] = g.choice([-1.0, -(2.0**-20)])
    elif where == "curved":
        P[0, 0] = g.choice([-1.0, 1.0]) * _power(g, -40, 0)
    least = float(row @ np.where(row > 0.0, lb, ub)) - float(g.choice([-1, -2, -3, 1, 2.0**-10]))
    multiple = float(g.integers(1, 4))
    shown = multiple * link + row
    program = _on(P, q, lb, ub, [(shown, least)], [(link, 0.0)])
    return Made([kind, f"cancels {where}"], program, program.minimum(every=True), [(row, least)])


def _inactive_box(g: Generator) -> Made:
    """A strictly convex program with its optimum inside a box that may be very wide."""
    n = int(g.integers(2, 5))
    B = g.integers(-3, 4, (n, n)).astype(float)
    P = B.T @ B + np.diag(g.integers(1, 4, n)).astype(float)
    q = g.integers(-5, 6, n) * g.choice([1.0, 10.0, 1000.0], n)
    z = g.integers(-2, 3, n).astype(float)
    lines = g.integers(-3, 4, (int(g.integers(0, 3)), n)).astype(float)
    rows = [(row, float(row @ z + g.integers(0, 3))) for row in lines]
    equal = int(g.integers(0, min(len(rows), 1) + 1))
    rows[:equal] = [(row, float(row @ z)) for row in lines[:equal]]  # z is feasible
    free = _on(P, q, np.full(n, -np.inf), np.full(n, np.inf), rows[equal:], rows[:equal])
    minimum = free.minimum(every=True)
    assert minimum is not None
    reach = 2.0 * float(max(map(abs, minimum[1])) + 1)
    ub = np.array([max(reach, _power(g, 7, 43)) for _ in range(n)])
    lb = -ub if g.random() < 0.5 else -np.array([max(reach, _power(g, 7, 43)) for _ in range(n)])
    return Made(["strictly convex"], replace(free, lb=lb, ub=ub), minimum)


def _contradiction(g: Generator, n: int, size: float) -> tuple[str, Rows, Rows]:
    """Rows that no point satisfies, by `size`."""
    kind = str(g.choice(["rows", "equal variables", "circle", "empty row", "empty equation",
                         "equations"]))  # fmt: skip
    row = g.integers(-3, 4, n).astype(float)
    row[int(g.integers(n))] = 1.0
    end = float(g.integers(-3, 4))
    i, j, k = g.permutation(n)[:3]
    unit = np.eye(n)
    if kind == "rows":
        return kind, [(row, end), (-row, -end - size)], []
    if kind == "equal variables":
        apart = unit[i] - unit[j]
        return kind, [(apart, -size)], [(apart, 0.0)]
    if kind == "circle":
        return kind, [(unit[i] - unit[j], 0.0), (unit[j] - unit[k], 0.0),
                      (unit[k] - unit[i], -size)], []  # fmt: skip
    if kind == "equations":
        return kind, [], [(row, end), (2.0 * row, 2.0 * end + size)]
    return (kind, [(0.0 * row, -size)], []) if kind == "empty row" else (
        kind, [], [(0.0 * row, size)])  # fmt: skip


def _empty(g: Generator) -> Made:
    """A contradiction of any size above 1e-9 in a wide box, beside rows that mean nothing."""
    n = int(g.integers(3, 6))
    size = _power(g, -24 if g.random() < 0.5 else -10, 0)
    kind, inequalities, equations = _contradiction(g, n, size)
    kinds = ["no point", kind]
    if g.random() < 0.6:
        kinds.append("long rows")
        for _ in range(int(g.integers(1, 4))):
            far = float(10.0 ** g.choice([6, 9, 12, 16, 19, 20, 25, 30]))
            inequalities.append((g.integers(-3, 4, n).astype(float), far))
    if g.random() < 0.3:
        kinds.append("twice")
        inequalities += [(2.0 * row, 2.0 * end) for row, end in inequalities[:2]]
    order = g.permutation(len(inequalities))
    B = np.full(n, _power(g, 10, 43))
    B[g.random(n) < 0.2] = np.inf
    lb = np.where(g.random(n) < 0.5, -B, g.integers(-3, 1, n))
    hessian = str(g.choice(list(HESSIANS)))
    P, q = HESSIANS[hessian](g, n), g.integers(-5, 6, n) * float(g.choice([0.0, 1.0]))
    program = _on(P, q, lb, B, [inequalities[k] for k in order], equations)
    return Made([*kinds, hessian], program, None)


def _chain(g: Generator) -> Made:
    """x_{k+1} = a x_k + b_k from x_1 in [0, 1], each x_k a linear function of x_1.

    The objective is a quadratic of x_1 then. The last variable may have a bound out of reach.
    """
    a, most = [(1.0, 300), (-1.0, 300), (0.5, 300), (1.5, 60), (2.0, 40)][int(g.integers(5))]
    n = int(g.integers(20, most + 1))
    steps = g.integers(-2, 3, n - 1).astype(float)
    slopes, moves = [Fraction(1)], [ZERO]
    for step in as_vector(steps):
        slopes.append(Fraction(a) * slopes[-1])
        moves.append(Fraction(a) * moves[-1] + step)
    rows = np.eye(n)[1:] - a * np.eye(n)[:-1]
    order = g.permutation(n - 1)
    reach = float(max(abs(s) + abs(t) for s, t in zip(slopes, moves, strict=True)))
    wide = 2.0 ** np.ceil(np.log2(reach) + g.integers(2, 12))
    ub = np.full(n, wide if g.random() < 0.5 else np.inf)
    lb, last = -ub, int(g.integers(n // 2, n))
    lb[0], ub[0] = 0.0, 1.0
    P, q = np.zeros((n, n)), np.zeros(n)
    P[last, last] = float(g.choice([0.0, 2.0, -2.0]))
    q[[0, last]] = g.choice([-3.0, -1.0, 1.0, 2.0], 2)
    kinds = [f"factor {a}", "chain"]
    ends = sorted((moves[-1], slopes[-1] + moves[-1]))
    minimum = None
    if g.random() < 0.5:
        kinds[-1] = "chain out of reach"
        ub[-1] = float(ends[0] - max(Fraction(1), abs(ends[0])) / 2)
        if lb[-1] > ub[-1]:
            lb[-1] = -np.inf
    else:
        curved, flat = Fraction(P[last, last]), as_vector(q)
        square = curved * slopes[last] ** 2
        line = flat[0] + (curved * moves[last] + flat[last]) * slopes[last]
        starts = [ZERO, Fraction(1)]
        if square > 0:
            starts.append(min(max(-line / square, ZERO), Fraction(1)))
        points = [[s * start + t for s, t in zip(slopes, moves, strict=True)] for start in starts]
        values = [curved * x[last] ** 2 / 2 + dot(flat, x) for x in points]
        best = min(range(len(values)), key=values.__getitem__)
        minimum = values[best], points[best]
    A: Rows = [(rows[k], float(steps[k])) for k in order]
    return Made(kinds, _on(P, q, lb, ub, [], A), minimum)


FAR: dict[str, Callable[[Generator], Made]] = {
    "wide box": _wide_box,
    "cancelling row": _cancelling,
    "inactive box": _inactive_box,
    "contradiction": _empty,
    "chain": _chain,
}
"""Kinds of programs; a generator gives one."""


@dataclass(frozen=True, eq=False)
class FarProgram(DrawnProgram):
    """A program of `FAR`; it is its own base."""

    implied: tuple[tuple[Array, float], ...] = ()

    drawn_by: ClassVar[tuple[str, str]] = "far_programs", "draw_far"

    def violation(self, x: Vector) -> float:
        """Also of the inequalities that are implied, in which what the rows leave is rounding."""
        worst, given = [self.program.violation(x)], [*self.program.G, *self.program.A]
        sizes = [abs(v) for v in x]
        terms = max((dot([abs(a) for a in as_vector(row)], sizes) for row in given), default=0)
        for row, end in self.implied:
            exact = as_vector(row)
            over = dot(exact, x) - Fraction(end)
            size = dot([abs(a) for a in exact], sizes) + abs(Fraction(end)) + terms / 10**9
            worst.append(float(over / (size or 1)))
        return max(worst)

    @property
    def convex(self) -> bool:
        """Whether it is convex and no flat direction of P goes far, along which rounding counts."""
        P = self.program.P
        return super().convex and (not P.any() or bool(np.linalg.eigvalsh(P)[0] > 1e-9))

    def fall_near(self, x: Array, reach: float, tol: float) -> float | None:
        # What is near one variable is not near another where they are far apart.
        apart = float(np.max(np.abs(x))) > 1e3
        return None if self.long or apart else super().fall_near(x, reach, tol)


def draw_far(seed: int, number: int) -> FarProgram:
    """Program `number` of a seed; the kinds of `FAR` take turns."""
    g = np.random.default_rng([seed, number, 38])
    kind = list(FAR)[number % len(FAR)]
    made = FAR[kind](g)
    program = made.program
    others = () if kind in ("chain", "contradiction") else tuple(program.others(g, 2))
    return FarProgram(
        seed, number, (kind, *made.kinds), program, Units.of(program), program, made.minimum,
        others, made.implied,
    )  # fmt: skip
