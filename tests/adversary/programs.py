"""Tiny quadratic programs of every kind of row and bound, with their exact optima.

A base program has small numbers, mostly integers. All stationary points of its faces are found in
floating point, and those that may be optimal are computed again as fractions. It is then shown in
other units: variables, rows and the objective are multiplied by powers of two and variables are
moved by integers, where no number is rounded, so that the optimum of what is shown is exact, too.
Nothing is imported from the package.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from helpers.exact import Program, Vector, as_vector, dot, is_psd, mirrored, product

__all__ = ["HESSIANS", "DrawnProgram", "Rows", "Units", "draw_program", "random_base"]

Array = NDArray[np.float64]
Generator = np.random.Generator
Rows = list[tuple[Array, float]]
"""Rows with their right-hand sides."""

ZERO = Fraction(0)

# ---------------------------------------------------------------------------- random programs


def _symmetric(g: Generator, n: int, most: int) -> Array:
    return mirrored(g.integers(-most, most + 1, (n, n)).astype(float).T)


def _rank_one(g: Generator, n: int) -> Array:
    v = g.integers(-2, 3, n).astype(float)
    return float(g.choice([-1.0, 1.0])) * np.outer(v, v)


def _gram(g: Generator, n: int) -> Array:
    B = g.integers(-2, 3, (n, n)).astype(float)
    return B.T @ B


def _bilinear(g: Generator, n: int) -> Array:
    half = (n + 1) // 2
    P = np.zeros((n, n))
    P[:half, half:] = g.integers(-4, 5, (half, n - half))
    return P + P.T


HESSIANS = {
    "indefinite": lambda g, n: _symmetric(g, n, 5),
    "ties": lambda g, n: _symmetric(g, n, 1),
    "large": lambda g, n: _symmetric(g, n, 50),
    "floats": lambda g, n: np.round(_symmetric(g, n, 1000) * 0.3141592653589793, 12),
    "zero": lambda g, n: np.zeros((n, n)),
    "convex": _gram,
    "concave": lambda g, n: -_gram(g, n),
    "rank one": _rank_one,
    "diagonal": lambda g, n: np.diag(g.integers(-3, 4, n).astype(float)),
    "bilinear": _bilinear,
    "near convex": lambda g, n: _gram(g, n) - 2.0**-25 * np.eye(n),
    "near linear": lambda g, n: 2.0**-25 * _symmetric(g, n, 3),
}
"""Kinds of Hessians. All that is claimed to be exact is exact for floats as well."""


def _box(g: Generator, n: int) -> tuple[str, Array, Array]:
    kind = str(g.choice(["unit", "integers", "symmetric", "wide", "fixed"]))
    lb, ub = np.zeros(n), np.ones(n)
    if kind == "symmetric":
        lb = -ub
    elif kind == "wide":
        ub = np.where(g.random(n) < 0.5, 1000.0, 1.0)
    elif kind != "unit":
        lb = g.integers(-3, 2, n).astype(float)
        ub = lb + g.integers(1, 5, n)
        if kind == "fixed":
            ub = np.where(g.random(n) < 0.4, lb, ub)
    return kind, lb, ub


def _unbounded_box(g: Generator, lb: Array, ub: Array) -> tuple[str, Rows, Rows]:
    """Infinite bounds in place, and inequalities and equations that bound the feasible set."""
    n = lb.size
    kind = str(g.choice(["cap", "simplex", "triangular band", "band"]))
    size = int(g.integers(1, min(n, 2 if "band" in kind else n) + 1))
    members = g.permutation(n)[:size]
    if kind in ("cap", "simplex"):
        row = np.zeros(n)
        row[members] = g.integers(1, 3, size)
        ub[members] = np.inf
        rows = [(row, float(row[members] @ lb[members] + g.integers(1, 6)))]
        return (kind, rows, []) if kind == "cap" else (kind, [], rows)
    block = np.tril(g.integers(-2, 3, (size, size))).astype(float)
    if kind == "band":
        block = g.integers(-2, 3, (size, size)).astype(float)
    np.fill_diagonal(block, g.choice([-2.0, -1.0, 1.0, 2.0], size))
    if abs(np.linalg.det(block)) < 0.5:
        block = np.tril(block)
    inequalities: Rows = []
    for line in block:
        row = np.zeros(n)
        row[members] = line
        inequalities += [(sign * row, float(g.integers(0, 5))) for sign in (1.0, -1.0)]
    lb[members], ub[members] = -np.inf, np.inf
    return kind, inequalities, []


def _rows(
    g: Generator, n: int, z: Array, lb: Array, ub: Array, room: int
) -> tuple[list[str], Rows, Rows]:
    """Random rows that z satisfies, some of them redundant or dependent on others."""
    kinds: list[str] = []
    inequalities: Rows = []
    equations: Rows = []
    for _ in range(int(g.integers(0, room + 1))):
        kind = str(g.choice(
            ["inequality", "tight", "equation", "knapsack", "twice", "sum", "zero", "bound as row",
             "opposite rows", "multiple of an equation"],
            p=[0.2, 0.15, 0.25, 0.1, 0.06, 0.05, 0.03, 0.06, 0.05, 0.05],
        ))  # fmt: skip
        row = g.integers(-3, 4, n).astype(float) * (g.random(n) < 0.8)
        end = float(row @ z)
        if kind == "equation":
            equations += [(row, end)][: n - len(equations)]
        elif kind == "multiple of an equation":
            equations += [(-2.0 * first, -2.0 * total) for first, total in equations[:1]]
        elif kind == "twice":
            inequalities += [(2.0 * first, 2.0 * most) for first, most in inequalities[:1]]
        elif kind == "sum":
            if len(inequalities) > 1:
                (first, most), (second, more) = inequalities[:2]
                inequalities.append((first + second, most + more))
        elif kind == "zero":
            inequalities.append((np.zeros(n), float(g.integers(0, 2))))
        elif kind == "bound as row":
            i = int(g.integers(n))
            if np.isfinite(ub[i]):
                inequalities.append((np.eye(n)[i], float(ub[i])))
            elif np.isfinite(lb[i]):
                inequalities.append((-np.eye(n)[i], -float(lb[i])))
        elif kind == "opposite rows":
            inequalities += [(row, end), (-row, -end)]
        else:
            row = np.abs(row) if kind == "knapsack" else row
            slack = 0.0 if kind == "tight" else float(g.integers(0, 4))
            inequalities.append((row, float(row @ z) + slack))
        kinds.append(kind)
    return kinds, inequalities, equations


def random_base(g: Generator) -> tuple[list[str], Program, bool]:
    """A program of small numbers, its kinds, and whether it is feasible."""
    n = int(g.choice(range(1, 8), p=[0.05, 0.2, 0.25, 0.22, 0.14, 0.09, 0.05]))
    curve = str(g.choice(list(HESSIANS)))
    kind, lb, ub = _box(g, n)
    kinds = [f"n = {n}", curve, kind]
    inequalities: Rows = []
    equations: Rows = []
    z = lb + (ub - lb) * g.integers(0, 5, n) / 4.0
    if g.random() < 0.3:
        name, inequalities, equations = _unbounded_box(g, lb, ub)
        kinds.append(name)
        z = np.where(np.isfinite(lb), lb, 0.0)
        for row, total in equations:  # a vertex of the simplex
            i = int(np.flatnonzero(row)[0])
            z[i] += (total - float(row @ z)) / row[i]
    room = 4 if n <= 5 else 3 - bool(inequalities)
    names, *further = _rows(g, n, z, lb, ub, room)
    kinds += names
    inequalities, equations = inequalities + further[0], equations + further[1]
    feasible = True
    if g.random() < 0.03:
        kinds.append("infeasible")
        feasible = False
        row = g.integers(-3, 4, n).astype(float)
        inequalities += [(row, float(row @ z)), (-row, -float(row @ z) - 1.0)]
    q = g.integers(-5, 6, n).astype(float) * g.choice([0.0, 1.0, 1.0, 10.0])
    (G, h), (A, b) = (
        (np.array([row for row, _ in rows]).reshape(-1, n), np.array([end for _, end in rows]))
        for rows in (inequalities, equations)
    )
    return kinds, Program(HESSIANS[curve](g, n), q, G, h, A, b, lb, ub), feasible


# ------------------------------------------------------------------------------- other units


@dataclass(frozen=True)
class Units:
    """x = size · base + move, rows times row, F times objective."""

    size: Array
    move: Array
    inequality: Array
    equation: Array
    objective: float

    @classmethod
    def of(cls, base: Program) -> Units:
        """Those in which the program is as it is."""
        ones = np.ones(base.n), np.zeros(base.n), np.ones(base.h.size), np.ones(base.b.size)
        return cls(*ones, 1.0)

    def shown(self, base: Program) -> Program | None:
        """The program in these units; None if a number would be rounded."""
        P, q, G, h, A, b = base.exact
        s, t = as_vector(self.size), as_vector(self.move)
        o = Fraction(self.objective)
        away = [v / w for v, w in zip(t, s, strict=True)]
        H = [[o * a / (s[i] * s[j]) for j, a in enumerate(row)] for i, row in enumerate(P)]
        bent = product(P, away)
        parts: list[tuple[object, list[int]]] = [
            (H, [base.n, base.n]),
            ([o * (c - d) / w for c, d, w in zip(q, bent, s, strict=True)], [base.n]),
        ]
        for rows, right, factors in ((G, h, self.inequality), (A, b, self.equation)):
            r = as_vector(factors)
            matrix = [[k * a / w for a, w in zip(row, s, strict=True)]
                      for k, row in zip(r, rows, strict=True)]  # fmt: skip
            moved = [k * (end + dot(row, away)) for k, row, end in zip(r, rows, right, strict=True)]
            parts += [(matrix, [len(rows), base.n]), (moved, [len(rows)])]
        arrays = [_floats(part, shape) for part, shape in parts]
        ends = []
        for bound in (base.lb, base.ub):
            exact = [w * Fraction(float(v)) + c if np.isfinite(v) else None
                     for v, w, c in zip(bound, s, t, strict=True)]  # fmt: skip
            known = _floats([ZERO if v is None else v for v in exact], [base.n])
            ends.append(None if known is None else np.where(np.isfinite(bound), known, bound))
        if any(part is None for part in (*arrays, *ends)):
            return None
        return Program(*arrays, *ends)  # type: ignore[arg-type]

    def point(self, x: Vector) -> Vector:
        """Where a point of the base is shown."""
        return [Fraction(float(w)) * v + Fraction(float(c))
                for v, w, c in zip(x, self.size, self.move, strict=True)]  # fmt: skip


def _floats(part: object, shape: list[int]) -> Array | None:
    """Fractions as floats; None if one of them is not a float."""
    flat = np.ravel(np.array(part, dtype=object)) if math.prod(shape) else np.zeros(0)
    floats = np.array([float(v) for v in flat])
    if any(Fraction(v) != w for v, w in zip(floats.tolist(), flat, strict=True)):
        return None
    return floats.reshape(shape)


def _units(g: Generator, base: Program, best: Vector | None) -> tuple[list[str], Units]:
    n, m, k = base.n, base.h.size, base.b.size
    kinds: list[str] = []
    units = Units.of(base)

    def powers(count: int, most: int) -> Array:
        return 2.0 ** g.integers(-most, most + 1, count)

    if g.random() < 0.3:
        kinds.append("scaled objective")
        units = replace(units, objective=float(2.0 ** g.integers(-27, 28)))
    chosen = g.random()
    if chosen < 0.15:
        kinds.append("scaled variables")
        units = replace(units, size=np.full(n, 2.0 ** g.integers(-27, 28)))
    elif chosen < 0.3:
        kinds.append("variables of different scales")
        units = replace(units, size=powers(n, int(g.choice([13, 40]))))
    elif chosen < 0.4:
        kinds.append("tiny box far away")
        units = replace(units, size=np.full(n, 2.0**-20), objective=2.0**-40)
        units = replace(units, move=g.integers(-4, 5, n).astype(float))
    if g.random() < 0.3:
        kinds.append("scaled rows")
        most = int(g.choice([27, 40]))
        units = replace(units, inequality=powers(m, most), equation=powers(k, most))
    if chosen >= 0.4 and g.random() < 0.15:
        kinds.append("moved")
        units = replace(units, move=np.round(10.0 ** g.uniform(0.0, 6.0)) * g.integers(-1, 2, n))
    elif best is not None and chosen < 0.3 and g.random() < 0.5:
        # The objective is 0 at 0, without its constant, and nowhere less.
        known = _floats(best, [n])
        if known is not None:
            kinds.append("optimum moved to zero")
            units = replace(units, move=-units.size * known)
    return kinds, units


@dataclass(frozen=True, eq=False)
class DrawnProgram:
    """A program, what is true of it, and how it can be drawn again."""

    seed: int
    number: int
    kinds: tuple[str, ...]
    base: Program
    units: Units
    program: Program
    minimum: tuple[Fraction, Vector] | None
    """The least value and its point; None if no point is feasible."""
    stationary: tuple[Vector, ...]

    drawn_by: ClassVar[tuple[str, str]] = "programs", "draw_program"
    """Module and function that draw it."""

    @property
    def long(self) -> bool:
        """Whether it has more variables than faces can be enumerated of."""
        return self.program.n > 8

    def violation(self, x: Vector) -> float:
        """The largest violation, where no variable is smaller than a thousandth of its unit."""
        return self.program.violation(x, float(self.units.size.max()))

    @property
    def terms(self) -> float:
        """The sum of the absolute terms of F where every variable of the base is 1."""
        base = self.base
        return self.units.objective * float(np.abs(base.P).sum() + np.abs(base.q).sum())

    def fall_near(self, x: Array, reach: float, tol: float) -> float | None:
        """How much better F gets near x, in multiples of what a local minimum may leave.

        The part of the base program is examined whose variables are within reach · max(1, |x|). At
        a point that is no local minimum F falls there by about reach² times the Hessian. None in
        units in which the first-order conditions within `tol` say nothing about the base.
        """
        size = self.units.size
        if np.ptp(size) != 0.0 or self.units.move.any():
            return None
        z, base = x / size, self.base
        width = reach * max(1.0, float(np.max(np.abs(z))))
        near = replace(base, lb=np.maximum(base.lb, z - width), ub=np.minimum(base.ub, z + width))
        if not near.stationary:
            return None
        best = near.stationary[0][0]
        fall = float(
            0.5 * z @ base.P @ z + base.q @ z - (0.5 * best @ base.P @ best + base.q @ best)
        )
        slope = max(float(np.max(np.abs(base.q))), float(np.max(np.abs(base.P @ z))))
        curved = 0.02 * width**2 * float(np.max(np.abs(base.P)))
        return fall / (curved + 10.0 * self.program.n * tol * width * slope + 1e-14 * base.terms(z))

    @property
    def convex(self) -> bool:
        """Whether it has a feasible point and its Hessian, exactly, no negative curvature."""
        return self.minimum is not None and is_psd(self.base.exact[0])

    def snippet(self) -> str:
        """Python that makes the program again."""
        module, name = self.drawn_by
        return "\n".join([
            f"# {self}",
            "import sys; sys.path[:0] = ['tests/adversary', 'tests']",
            f"from {module} import {name}; from program_hunt import as_problem",
            "import indefinite_opt as iopt",
            f"drawn = {name}({self.seed}, {self.number})",
            "qp = as_problem(drawn)",
        ])  # fmt: skip

    def __str__(self) -> str:
        return f"draw {self.number} of seed {self.seed}: {', '.join(self.kinds)}"


def draw_program(seed: int, number: int) -> DrawnProgram:
    """Program `number` of a seed."""
    g = np.random.default_rng([seed, number, 14])
    kinds, base, feasible = random_base(g)
    found = base.minimum()
    names, units = _units(g, base, found and found[1])
    shown = units.shown(base)
    if shown is None:
        names, units, shown = ["as it is"], Units.of(base), base
    if (found is not None) != feasible:
        raise AssertionError(f"draw {number} of seed {seed}: {kinds}, feasible: {feasible}")
    minimum = None
    if found is not None:
        point = units.point(found[1])
        minimum = shown.value(point), point
    others = tuple(units.point(x) for x in base.others(g, 2))
    return DrawnProgram(seed, number, (*kinds, *names), base, units, shown, minimum, others)
