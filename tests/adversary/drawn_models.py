"""Random models of users, in the atoms of this package and in those of cvxpy, and references.

A model is drawn as numbers: affine expressions Az + c, atoms of these with weights, and rows. The
same numbers are written as a model in one of the two languages, are evaluated by NumPy, and are
stated once more with variables and rows for every atom, which are nothing but affine expressions,
for HiGHS and Clarabel. The reference of a model that is not convex is a grid of points.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import cvxpy
import numpy as np
from numpy.typing import NDArray

from indefinite_opt.algebra import Model

__all__ = ["ATOMS", "DrawnModel", "Reference", "draw_model"]

Array = NDArray[np.float64]
Generator = np.random.Generator

TOLERANCES = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-11)

GRID = 41
"""Points of the grid in each variable between its ends, of which there are at most three."""


class AtomKind(NamedTuple):
    """An atom of an affine u and a number k: as it is written, evaluated, and stated by rows."""

    write: Callable[[Any, Any, float], Any]
    """A number or a vector in a language."""
    value: Callable[[Array, float], Any]
    state: Callable[[Any, float, list[Any]], Any]
    """An affine or quadratic expression of cvxpy; rows are added to the list."""
    in_rows: bool = True
    """Whether it is piecewise linear."""


def _above(rows: list[Any], size: int, *parts: Any) -> Any:
    """A new variable that is above all parts."""
    t = cvxpy.Variable(size)
    rows.extend(t >= part for part in parts)
    return t


def _size(u: Any, rows: list[Any]) -> Any:
    return _above(rows, u.size, u, -u)


def _number(rows: list[Any], *vectors: Any) -> Any:
    """A new number that is above all entries."""
    t = cvxpy.Variable()
    rows.extend(t >= vector for vector in vectors)
    return t


def _largest(u: Any, k: int, rows: list[Any]) -> Any:
    v, t = cvxpy.Variable(), cvxpy.Variable(u.size, nonneg=True)
    rows.append(t >= u - v)
    return k * v + cvxpy.sum(t)


def _huber(u: Any, k: float, rows: list[Any]) -> Any:
    """v² + 2k|u - v|, entry by entry in a sum."""
    v = cvxpy.Variable(u.size)
    return cvxpy.sum_squares(v) + 2.0 * k * cvxpy.sum(_size(u - v, rows))


ATOMS: dict[str, AtomKind] = {
    "abs": AtomKind(
        lambda cp, u, k: cp.abs(u), lambda u, k: np.abs(u), lambda u, k, rows: _size(u, rows)
    ),
    "norm1": AtomKind(
        lambda cp, u, k: cp.norm1(u), lambda u, k: np.abs(u).sum(),
        lambda u, k, rows: cvxpy.sum(_size(u, rows)),
    ),
    "norm_inf": AtomKind(
        lambda cp, u, k: cp.norm_inf(u), lambda u, k: np.abs(u).max(),
        lambda u, k, rows: _number(rows, u, -u),
    ),
    "pos": AtomKind(
        lambda cp, u, k: cp.pos(u), lambda u, k: np.maximum(u, 0.0),
        lambda u, k, rows: _above(rows, u.size, u, np.zeros(u.size)),
    ),
    "max": AtomKind(
        lambda cp, u, k: cp.max(u), lambda u, k: u.max(), lambda u, k, rows: _number(rows, u)
    ),
    "maximum": AtomKind(
        lambda cp, u, k: cp.maximum(u, -2 * u + k, 0.5),
        lambda u, k: np.maximum(np.maximum(u, -2 * u + k), 0.5),
        lambda u, k, rows: _above(rows, u.size, u, -2 * u + k, np.full(u.size, 0.5)),
    ),
    "sum_largest": AtomKind(
        lambda cp, u, k: cp.sum_largest(u, 2), lambda u, k: np.sort(u)[-2:].sum(),
        lambda u, k, rows: _largest(u, 2, rows),
    ),
    "positive parts beyond sizes": AtomKind(
        lambda cp, u, k: cp.pos(cp.abs(u) - k), lambda u, k: np.maximum(np.abs(u) - k, 0.0),
        lambda u, k, rows: _above(rows, u.size, _size(u, rows) - k, np.zeros(u.size)),
    ),
    "two largest sizes": AtomKind(
        lambda cp, u, k: cp.sum_largest(cp.abs(u), 2), lambda u, k: np.sort(np.abs(u))[-2:].sum(),
        lambda u, k, rows: _largest(_size(u, rows), 2, rows),
    ),
    "largest of positive parts": AtomKind(
        lambda cp, u, k: cp.max(cp.pos(u)) + k, lambda u, k: max(u.max(), 0.0) + k,
        lambda u, k, rows: _number(rows, u, np.zeros(u.size)) + k,
    ),
    "huber": AtomKind(
        lambda cp, u, k: cp.sum(cp.huber(u, k)),
        lambda u, k: np.where(np.abs(u) <= k, u**2, 2 * k * np.abs(u) - k**2).sum(),
        _huber, False,
    ),
    "squares": AtomKind(
        lambda cp, u, k: cp.sum_squares(u) / k, lambda u, k: (u**2).sum() / k,
        lambda u, k, rows: cvxpy.sum_squares(u) / k, False,
    ),
    "squares of sizes": AtomKind(
        lambda cp, u, k: cp.sum_squares(cp.abs(u)), lambda u, k: (u**2).sum(),
        lambda u, k, rows: cvxpy.sum_squares(u), False,
    ),
    "squared hinges": AtomKind(
        lambda cp, u, k: cp.sum_squares(cp.pos(u)), lambda u, k: (np.maximum(u, 0.0) ** 2).sum(),
        lambda u, k, rows: cvxpy.sum_squares(_above(rows, u.size, u, np.zeros(u.size))), False,
    ),
    "squares of positive parts": AtomKind(
        lambda cp, u, k: cp.sum(cp.square(k * cp.pos(u))),
        lambda u, k: ((k * np.maximum(u, 0.0)) ** 2).sum(),
        lambda u, k, rows: k**2 * cvxpy.sum_squares(_above(rows, u.size, u, np.zeros(u.size))),
        False,
    ),
    "a squared norm": AtomKind(
        lambda cp, u, k: cp.square(cp.norm1(u)), lambda u, k: np.abs(u).sum() ** 2,
        lambda u, k, rows: cvxpy.square(cvxpy.sum(_size(u, rows))), False,
    ),
    "a squared largest size": AtomKind(
        lambda cp, u, k: cp.square(cp.norm_inf(u) + k), lambda u, k: (np.abs(u).max() + k) ** 2,
        lambda u, k, rows: cvxpy.square(_number(rows, u, -u) + k), False,
    ),
}  # fmt: skip


class Inner(NamedTuple):
    """Az + c."""

    A: Array
    c: Array

    def at(self, z: Array) -> Array:
        return self.A @ z + self.c


class Term(NamedTuple):
    """weight · the sum of an atom's entries, each times one of its own weights."""

    kind: str
    u: Inner
    k: float
    weight: float
    weights: Array | None

    def value(self, z: Array) -> float:
        found = ATOMS[self.kind].value(self.u.at(z), self.k)
        shared = np.ndim(found) == 0 or self.weights is None
        return self.weight * float(np.sum(found) if shared else self.weights @ found)


class Row(NamedTuple):
    """Σ terms + aᵀz ≤ end, or = end without terms."""

    terms: list[Term]
    a: Array
    end: float
    equal: bool
    turned: bool
    """Whether it is written with its right side on the left."""

    def missed(self, z: Array) -> float:
        excess = float(self.a @ z) + sum(t.value(z) for t in self.terms) - self.end
        return abs(excess) if self.equal else max(excess, 0.0)


class Reference(NamedTuple):
    """What HiGHS and Clarabel say: "optimal", "infeasible" or "unbounded", and the optimum."""

    status: str
    optimum: float


@dataclass
class DrawnModel:
    """The numbers of a model; every variable is a part of z."""

    seed: int
    number: int
    kind: str
    """linear, convex or nonconvex."""
    shapes: dict[str, tuple[int, ...]]
    P: Array
    """Of ½zᵀPz."""
    q: Array
    terms: list[Term]
    rows: list[Row]
    low: Array
    high: Array
    boxed: bool
    sense: int

    def snippet(self) -> str:
        return (
            "from drawn_models import draw_model\n"
            f"drawn = draw_model({self.seed}, {self.number})  # {self.kind}"
        )

    def __str__(self) -> str:
        return self.snippet()

    @property
    def n(self) -> int:
        return self.q.size

    @functools.cached_property
    def places(self) -> dict[str, slice]:
        ends = np.cumsum([0, *(int(np.prod(shape)) for shape in self.shapes.values())]).tolist()
        return dict(zip(self.shapes, map(slice, ends, ends[1:]), strict=True))

    # ------------------------------------------------------------------ values

    def joined(self, values: dict[str, Any]) -> Array:
        return np.concatenate([np.ravel(values[name], order="F") for name in self.shapes])

    def split(self, z: Array) -> dict[str, Array]:
        return {
            name: z[part].reshape(self.shapes[name], order="F")
            for name, part in self.places.items()
        }

    def value(self, z: Array) -> float:
        """The objective to be minimised."""
        return float(z @ (0.5 * (self.P @ z) + self.q)) + sum(t.value(z) for t in self.terms)

    def size(self, z: Array) -> float:
        """The absolute terms of the objective."""
        forms = 0.5 * np.abs(z) @ np.abs(self.P) @ np.abs(z) + np.abs(self.q) @ np.abs(z)
        return float(forms) + sum(abs(t.value(z)) for t in self.terms)

    def violation(self, z: Array) -> float:
        """The largest violation of a row or a bound."""
        missed = [row.missed(z) for row in self.rows]
        if self.boxed:
            missed += [float(np.max(self.low - z)), float(np.max(z - self.high))]
        return max(missed, default=0.0)

    # ------------------------------------------------------------------ as a user writes it

    def written(self, cp: Any) -> tuple[Model, dict[str, Any]]:
        """The model in a language, and its variables by name."""
        made = {name: cp.Variable(shape, name=name) for name, shape in self.shapes.items()}

        def affine(u: Inner) -> Any:
            whole: Any = u.c if u.c.any() else 0.0
            for name, part in self.places.items():
                A, v = u.A[:, part], made[name]
                if not A.any():
                    continue
                if v.ndim == 2:  # Az by columns of the matrix
                    m = v.shape[0]
                    for j in range(v.shape[1]):
                        whole = A[:, m * j : m * (j + 1)] @ v[:, j] + whole
                elif v.ndim == 0:
                    whole = A[:, 0] * v + whole
                else:
                    whole = A @ v + whole
            return whole if hasattr(whole, "shape") and whole.shape else whole + np.zeros(len(u.c))

        def term(one: Term) -> Any:
            found = ATOMS[one.kind].write(cp, affine(one.u), one.k)
            if found.shape:
                weights = one.weights
                found = cp.sum(found) if weights is None else weights @ found
            return one.weight * found

        def linear(a: Array) -> Any:
            return cp.sum(affine(Inner(a[None], np.zeros(1))))

        goal = linear(self.q)
        if self.P.any():
            whole = affine(Inner(np.eye(self.n), np.zeros(self.n)))
            goal = goal + 0.5 * cp.quad_form(whole, self.P)
        for one in self.terms:
            goal = goal + term(one)
        rows: dict[str, Any] = {}
        for k, row in enumerate(self.rows):
            left = sum((term(one) for one in row.terms), linear(row.a))
            if row.equal:
                rows[f"row{k}"] = left == row.end
            else:
                rows[f"row{k}"] = row.end >= left if row.turned else left - row.end <= 0
        if self.boxed:
            low, high = self.split(self.low), self.split(self.high)
            for name, v in made.items():
                rows[f"low of {name}"] = v >= low[name]
                rows[f"high of {name}"] = 2 * v <= 2 * high[name]
        if self.sense < 0:
            return Model(maximize=-goal, subject_to=rows), made
        return Model(minimize=goal, subject_to=rows), made

    # ------------------------------------------------------------------ references

    @functools.cached_property
    def reference(self) -> Reference | None:
        """Of HiGHS or Clarabel; None for a model that is not convex, and where they fail."""
        if self.kind == "nonconvex":
            return None
        z, rows = cvxpy.Variable(self.n), []  # type: ignore[var-annotated]

        def term(one: Term) -> Any:
            u = one.u.A @ z + one.u.c
            found = ATOMS[one.kind].state(u, one.k, rows)
            weights = one.weights
            if found.ndim:
                found = cvxpy.sum(found) if weights is None else weights @ found
            return one.weight * found

        goal = self.q @ z
        if self.P.any():
            goal = goal + 0.5 * cvxpy.quad_form(z, cvxpy.psd_wrap(self.P))
        goal = goal + sum(map(term, self.terms))
        for row in self.rows:
            left = row.a @ z + sum(map(term, row.terms))
            rows.append(left == row.end if row.equal else left <= row.end)
        if self.boxed:
            rows += [z >= self.low, z <= self.high]
        problem = cvxpy.Problem(cvxpy.Minimize(goal), rows)
        try:
            if self.kind == "linear":
                problem.solve(solver="HIGHS")
            else:
                problem.solve(solver="CLARABEL", **TOLERANCES)
        except cvxpy.error.SolverError:
            return None
        if problem.status not in ("optimal", "infeasible", "unbounded"):
            return None
        return Reference(problem.status, float(problem.value))

    @functools.cached_property
    def least_on_grid(self) -> float:
        """The least value at points of a grid, and of pushes into rows, that satisfy all rows."""
        ends = zip(self.low.tolist(), self.high.tolist(), strict=True)
        axes = [np.linspace(low, high, GRID if self.n < 4 else 13) for low, high in ends]
        best = np.inf
        for point in itertools.product(*axes):
            z = np.array(point)
            if self.violation(z) <= 0.0:
                best = min(best, self.value(z))
        return best


# ------------------------------------------------------------------------------- drawing


def _inner(g: Generator, n: int, at: Array | None) -> Inner:
    """Az + c, which vanishes at a point if there is one."""
    m, way = int(g.integers(2, 5)), g.integers(3)
    if way == 0:
        A = g.integers(-2, 3, (m, n)).astype(float)
    elif way == 1:
        A = np.eye(n) if n > 1 else np.ones((2, 1))
    else:
        A = g.standard_normal((m, n)) / float(g.choice([1.0, 3.0]))
    if at is not None:
        return Inner(A, -A @ at)
    return Inner(A, g.integers(-2, 3, len(A)) * float(g.choice([0.0, 0.5, 1.0])))


def _term(g: Generator, n: int, at: Array | None, kinds: list[str]) -> Term:
    kind = str(g.choice(kinds))
    u = _inner(g, n, at)
    weights = None if g.random() < 0.6 else g.integers(0, 4, len(u.c)) / 2.0
    weight = float(g.choice([0.3, 0.5, 1.0, 2.0]))
    return Term(kind, u, float(g.choice([0.25, 0.5, 1.0, 2.0])), weight, weights)


def draw_model(seed: int, number: int) -> DrawnModel:
    """Draw `number` of a seed."""
    g = np.random.default_rng([seed, number])
    kind = str(g.choice(["linear", "convex", "nonconvex"], p=[0.35, 0.4, 0.25]))
    shapes: dict[str, tuple[int, ...]] = {"x": (int(g.integers(1, 4)),)}
    if kind != "nonconvex":
        if g.random() < 0.3:
            shapes["b"] = ()
        if g.random() < 0.15:
            shapes["Y"] = (2, 2)
    n = sum(int(np.prod(shape)) for shape in shapes.values())
    linear = [name for name, one in ATOMS.items() if one.in_rows]
    origin = g.integers(-1, 2, n).astype(float)
    at = origin if g.random() < 0.4 else None  # atoms that vanish at one point
    allowed = linear if kind == "linear" else list(ATOMS)
    terms = [_term(g, n, at, allowed) for _ in range(int(g.integers(0, 4)))]
    P, q = np.zeros((n, n)), np.zeros(n)
    if at is None or g.random() < 0.3:
        q = g.integers(-3, 4, n) * float(g.choice([0.0, 1.0, 0.3]))
    if kind == "convex" and g.random() < 0.6:
        L = g.integers(-2, 3, (int(g.integers(1, n + 1)), n)).astype(float)
        P = L.T @ L
        if at is not None:
            q = q - P @ at
    elif kind == "nonconvex":
        P = g.integers(-3, 4, (n, n)).astype(float)
        P = P + P.T
        P[0, 0] = -float(g.integers(1, 6))
    rows = []
    for _ in range(int(g.integers(0, 4))):
        has_terms = g.random() < 0.6
        inside = [_term(g, n, None, linear)] if has_terms else []
        if has_terms and g.random() < 0.2:
            inside.append(_term(g, n, None, linear))
        a = g.integers(-2, 3, n).astype(float) * float(g.random() < 0.7 or not has_terms)
        equal = not has_terms and kind != "nonconvex" and g.random() < 0.3
        row = Row(inside, a, 0.0, equal, bool(g.random() < 0.5))
        reach = float(a @ origin) + sum(t.value(origin) for t in inside)
        shares = [0.3, 0.2, 0.3, 0.16, 0.04]
        slack = 0.0 if equal else float(g.choice([0.0, 0.5, 1.0, 3.0, -4.0], p=shares))
        rows.append(row._replace(end=reach + slack))
    held = [t.u.A for t in terms] + [t.u.A for row in rows for t in row.terms]
    held += [P, q[None], *(row.a[None] for row in rows)]
    boxed = kind == "nonconvex" or g.random() < 0.7 or not all(np.vstack(held).any(axis=0))
    low, high = origin - g.integers(0, 4, n), origin + g.integers(1, 4, n)
    sense = 1 if g.random() < 0.7 else -1
    return DrawnModel(
        seed, number, kind, shapes, P, q, terms, rows, low.astype(float), high.astype(float),
        bool(boxed), sense,
    )  # fmt: skip
