"""Quadratic programs with rows, as plain arrays, and generators of them."""

from __future__ import annotations

import contextlib
import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from helpers import shaking
from helpers.exact import Program, mirrored
from indefinite_opt.foundation import Values
from indefinite_opt.quadratic import DeclaredRows, KernelConstant, Point, PolyhedralQP
from indefinite_opt.quadratic.answers.bound import bounds_from
from indefinite_opt.quadratic.data.naming import UNNAMED, Names
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.matrices.units import Units
from indefinite_opt.quadratic.rows.linear_rows import LinearRows
from indefinite_opt.quadratic.rows.multipliers import of_rows
from indefinite_opt.quadratic.rows.polyhedron import Polyhedron

Array = NDArray[np.float64]


class Rows(NamedTuple):
    """min ½xᵀPx + qᵀx s.t. Gx ≤ h, Ax = b, lower ≤ x ≤ upper."""

    P: Array
    q: Array
    G: Array
    h: Array
    A: Array
    b: Array
    lower: Array
    upper: Array
    names: Names = UNNAMED

    @property
    def n(self) -> int:
        return self.q.size

    @property
    def qp(self) -> PolyhedralQP:
        P, q, *others = self
        return PolyhedralQP(Polyhedron(*others), P, q)

    @property
    def feasible(self) -> Polyhedron:
        return self.qp.feasible

    @property
    def units(self) -> Units:
        return self.qp.units

    @property
    def scaled(self) -> StandardForm:
        return self.qp.scaled

    def ray_of_model(self) -> None:
        """No model declares them."""

    @property
    def constants(self) -> tuple[KernelConstant, ...]:
        return self.qp.constants

    @property
    def named(self) -> dict[str, DeclaredRows]:
        return self.qp.named

    def start(self) -> Array:
        """A vertex, or a point inside the bounds if the rows admit none."""
        vertex = LinearRows(self.scaled).vertex()  # in others tolerances may hide violations
        if vertex is None:
            return np.clip(np.zeros(self.n), self.lower, self.upper)
        return self.units.read(vertex)

    def project(self, x: Array) -> Array:
        return self.qp.feasible.project(x)

    def value(self, x: Array) -> float:
        return float(x @ (0.5 * (self.P @ x) + self.q))

    def gradient(self, x: Array) -> Array:
        return self.P @ x + self.q

    def values(self, x: Array) -> dict[str, Array]:
        return {"x": x}

    def declared(self, value: float) -> float:
        return value

    def violation(self, x: Array) -> float:
        """Largest violation, each relative to the terms of its row."""
        with np.errstate(invalid="ignore"):
            rows = (self.G @ x - self.h) / (1.0 + np.abs(self.h) + np.abs(self.G) @ np.abs(x))
        even = np.abs(self.A @ x - self.b) / (1.0 + np.abs(self.b) + np.abs(self.A) @ np.abs(x))
        ends = np.concatenate([self.lower - x, x - self.upper])
        return float(max(np.max(part, initial=0.0) for part in (rows, even, ends)))


def program(
    n: int, P: object = None, q: object = None, G: object = (), h: object = (),
    A: object = (), b: object = (), lower: object = -np.inf, upper: object = np.inf,
) -> Rows:  # fmt: skip
    """A program of which any part may be left out; a row may stand for a matrix."""
    P, q = np.zeros((n, n)) if P is None else P, np.zeros(n) if q is None else q
    p = Program.on(P, q, lower, upper, G, h, A, b)
    return Rows(p.P, p.q, p.G, p.h, p.A, p.b, p.lb, p.ub)


def shaken(qp: Rows, *name: object) -> Rows:
    """The same program, where tests are shaken with other orders and in another unit of F."""
    x, unit = shaking.order(qp.n, *name), shaking.unit(*name)
    upper, even = shaking.order(qp.h.size, "G", *name), shaking.order(qp.b.size, "A", *name)
    return Rows(
        unit * qp.P[np.ix_(x, x)], unit * qp.q[x],
        qp.G[np.ix_(upper, x)], qp.h[upper], qp.A[np.ix_(even, x)], qp.b[even],
        qp.lower[x], qp.upper[x],
    )  # fmt: skip


def indefinite(n: int, generator: np.random.Generator) -> Array:
    """A random symmetric matrix with integer entries from -50 to 50."""
    return mirrored(generator.integers(-50, 51, (n, n)).astype(float).T)


def random_rows(n: int, inequalities: int, equalities: int, seed: int, share: float = 0.5) -> Rows:
    """Rows with integer entries that the middle of the unit box satisfies, on the unit box.

    The class of Chen & Burer (2012, section 4): random sparse rows and random P and q.
    """
    generator = np.random.default_rng(seed)

    def matrix(count: int) -> Array:
        entries = generator.integers(-10, 11, (count, n)).astype(float)
        return entries * (generator.random((count, n)) < share)

    G, A = matrix(inequalities), matrix(equalities)
    middle = generator.random(n)
    made = program(
        n, indefinite(n, generator), generator.integers(-50, 51, n),
        G, G @ middle + generator.random(inequalities), A, A @ middle, 0.0, 1.0,
    )  # fmt: skip
    return shaken(made, "random_rows", n, inequalities, equalities, seed)


def bilinear(n: int, rows: int, seed: int) -> Rows:
    """min xᵀBy + linear with x and y each in a polytope of its own."""
    generator = np.random.default_rng(seed)
    half = n // 2
    P = np.zeros((n, n))
    P[:half, half:] = generator.integers(-10, 11, (half, n - half))
    G = np.zeros((2 * rows, n))
    G[:rows, :half] = generator.random((rows, half))
    G[rows:, half:] = generator.random((rows, n - half))
    made = program(
        n, P + P.T, generator.integers(-5, 6, n), G, 0.3 * G.sum(axis=1), lower=0.0, upper=1.0
    )
    return shaken(made, "bilinear", n, rows, seed)


def concave(n: int, rows: int, seed: int) -> Rows:
    """A concave quadratic over a polytope; its minima are vertices."""
    generator = np.random.default_rng(seed)
    factor = generator.standard_normal((n, n))
    G = generator.random((rows, n))
    made = program(
        n, -factor @ factor.T / n, generator.standard_normal(n), G, 0.25 * G.sum(axis=1),
        lower=0.0, upper=1.0,
    )  # fmt: skip
    return shaken(made, "concave", n, rows, seed)


def transportation(sources: int, sinks: int, seed: int) -> Rows:
    """Flows between sources and sinks with concave and bilinear costs; the rows are dependent.

    Its variables are never shaken: tests read them as a table.
    """
    generator = np.random.default_rng(seed)
    n = sources * sinks
    A = np.vstack(
        [np.kron(np.eye(sources), np.ones(sinks)), np.kron(np.ones(sources), np.eye(sinks))]
    )
    flow = generator.integers(0, 10, n).astype(float)
    P = 0.1 * indefinite(n, generator) * (generator.random((n, n)) < 0.2)
    P = mirrored(P.T) - np.diag(generator.random(n))
    return program(n, P, generator.integers(1, 50, n), A=A, b=A @ flow, lower=0.0)


def knapsack(n: int, seed: int) -> Rows:
    """A random indefinite quadratic over the unit box and one knapsack row."""
    generator = np.random.default_rng(seed)
    weights = generator.integers(1, 50, n).astype(float)
    made = program(
        n, indefinite(n, generator), generator.integers(-50, 51, n), weights, 0.4 * weights.sum(),
        lower=0.0, upper=1.0,
    )  # fmt: skip
    return shaken(made, "knapsack", n, seed)


def rescaled(qp: Rows, seed: int, exactly: bool = False) -> Rows:
    """The same program in other units of variables and rows, from 1e-8 to 1e8.

    `exactly` takes powers of two, by which nothing is rounded.
    """
    generator = np.random.default_rng(seed)
    column, upper, even = (
        10.0 ** generator.uniform(-8, 8, size) for size in (qp.n, qp.h.size, qp.b.size)
    )
    if exactly:
        column, upper, even = (np.exp2(np.round(np.log2(u))) for u in (column, upper, even))
    return Rows(
        qp.P * column * column[:, None], qp.q * column,
        qp.G * column * upper[:, None], qp.h * upper, qp.A * column * even[:, None], qp.b * even,
        qp.lower / column, qp.upper / column,
    )  # fmt: skip


def best_bound(program: PolyhedralQP, point: Point[Array], multipliers: Values) -> float:
    """The best of all bounds that a point proves with multipliers, the dear ones included."""
    z, y = of_rows(program.feasible, multipliers)
    return max(bound.value for bound in bounds_from(program, point, z, y))


def lowest(qp: Rows) -> float:
    """The optimal value by enumeration of all faces; rows hold up to rounding."""
    unit = float(np.abs(qp.P).max()) or 1.0
    rows = qp.G, qp.h, qp.A, qp.b, qp.lower, qp.upper
    return unit * Program(qp.P / unit, qp.q / unit, *rows).lowest


def uno(qp: Rows, starts: int, seed: int = 0) -> float:
    """The lowest objective of UNO from random starts in the box, and below 1."""
    import cvxpy as cp

    x = cp.Variable(qp.n)
    rows = [qp.G @ x <= qp.h, qp.A @ x == qp.b, x >= qp.lower]
    if np.isfinite(qp.upper).all():
        rows.append(x <= qp.upper)
    objective = 0.5 * cp.sum(cp.multiply(x, qp.P @ x)) + qp.q @ x
    kept = [row for row in rows if row.size]
    generator, best = np.random.default_rng(seed), np.inf
    model = cp.Problem(cp.Minimize(objective), kept)
    for _ in range(starts):
        x.value = generator.uniform(qp.lower, np.minimum(qp.upper, 1.0))
        with warnings.catch_warnings(), contextlib.suppress(cp.SolverError):
            warnings.simplefilter("ignore")
            model.solve(
                nlp=True, solver=cp.UNO, logger="SILENT", primal_tolerance=1e-9,
                dual_tolerance=1e-9, max_iterations=2000,
            )  # fmt: skip
        if x.value is not None and qp.violation(x.value) <= 1e-8:
            best = min(best, qp.value(x.value))
    return best
