"""A declared model as cvxpy reads it, and whether a compiled program says the same.

Nothing here reads the canonical form: the model is translated into cvxpy, its objective is
evaluated there, and so are its constraints, at the origin and at the unit vectors, which gives
their coefficients.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import cvxpy
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space
from scipy.optimize import linprog

from indefinite_opt.algebra import Model, Translation
from indefinite_opt.modeling.compiler.convex_program import ConvexProgram
from indefinite_opt.modeling.linear_programs import LinearProgram
from indefinite_opt.modeling.programs.margin_program import MarginProgram
from indefinite_opt.quadratic import PolyhedralQP, answers
from indefinite_opt.quadratic.programs.paired_qp import PairedQP

Array = NDArray[np.float64]
Values = Mapping[str, Any]

SIZE = 20.0
"""Points are drawn from the declared set within this size."""

STEP = 1e-3
"""By how much points outside the declared set violate a constraint."""

TOL = 1e-7
"""Feasibility tolerance of HiGHS, which finds the points inside."""


class Declared:
    """The objective and the constraints of a model, by cvxpy."""

    def __init__(self, model: Model) -> None:
        translated = Translation()
        self.sense = "minimize" if model.maximize is None else "maximize"
        whole = model.minimize if model.maximize is None else model.maximize
        self.expression = translated(whole)
        self.rows = {name: translated(one) for name, one in model.subject_to.items()}
        found = [*whole.variables()]
        for one in model.subject_to.values():
            found += one.variables()
        self.variables = {v.name(): translated(v) for v in dict.fromkeys(found)}
        self.n = sum(v.size for v in self.variables.values())
        self.curved = [name for name, row in self.rows.items() if not row.expr.is_affine()]

    def values(self, x: Array) -> dict[str, Any]:
        """The variables, one behind the other in x, matrices column by column."""
        made, start = {}, 0
        for name, v in self.variables.items():
            made[name] = x[start : start + v.size].reshape(v.shape, order="F")
            start += v.size
        return made

    def set(self, values: Values) -> None:
        for name, v in self.variables.items():
            v.value = values[name]

    def objective(self, values: Values) -> float:
        self.set(values)
        return float(np.asarray(self.expression.value).item())

    def excess(self, x: Array) -> dict[str, Array]:
        """Left side minus right side of each constraint."""
        self.set(self.values(x))
        return {name: np.ravel(one.expr.value) for name, one in self.rows.items()}

    def is_equation(self, name: str) -> bool:
        return type(self.rows[name]).__name__ in ("Equality", "Zero")

    @cached_property
    def coefficients(self) -> dict[str, tuple[Array, Array]]:
        """J and r of each constraint Jx + r ≤ 0 or = 0."""
        at_zero = self.excess(np.zeros(self.n))
        for name in self.curved:
            del at_zero[name]
        columns = [self.excess(unit) for unit in np.eye(self.n)]
        found = {}
        for name, r in at_zero.items():
            with np.errstate(invalid="ignore"):
                J = np.column_stack([column[name] - r for column in columns])
            J[~np.isfinite(r)] = 0.0
            found[name] = J, r
        x = np.linspace(-1.0, 2.0, self.n)
        for name in found:
            value = self.excess(x)[name]
            J, r = found[name]
            assert np.allclose(J @ x + r, value, atol=1e-9, rtol=1e-9), f"{name} is not affine"
        return found

    @cached_property
    def polyhedron(self) -> tuple[Array, Array, Array, Array]:
        """G, h, A, b of Gx ≤ h, Ax = b, without rows that hold everywhere."""
        kinds: dict[bool, list[tuple[Array, Array]]] = {True: [], False: []}
        for name, (J, r) in self.coefficients.items():
            held = np.isfinite(r)
            assert np.all(r[~held] < 0.0)
            kinds[self.is_equation(name)].append((J[held], -r[held]))
        stacked: list[Array] = []
        for kind in (False, True):
            none = np.zeros((0, self.n)), np.zeros(0)
            stacked += [np.concatenate(parts) for parts in zip(none, *kinds[kind], strict=True)]
        return stacked[0], stacked[1], stacked[2], stacked[3]

    def minimum(self, g: Array, size: float = SIZE) -> Array | None:
        """argmin gᵀx over the declared set within a size; None if it is empty."""
        return minimum(g, self.polyhedron, size)

    def _shrunk(self, points: list[Array]) -> list[Array]:
        """Those multiples of points, by at most 1, that satisfy the constraints that are curved."""
        found = []
        for x in points:
            for share in (1.0, 0.5, 0.1, 0.01, 0.0) if self.curved else (1.0,):
                excess = self.excess(share * x)
                held = all(self._holds(name, share * x) for name in self.coefficients)
                if all(excess[name].max() <= 0.0 for name in self.curved) and held:
                    found.append(share * x)
                    break
        return found

    def _holds(self, name: str, x: Array) -> bool:
        """Whether an affine constraint holds."""
        J, r = self.coefficients[name]
        missed = J @ x + r
        missed = np.abs(missed) if self.is_equation(name) else missed
        return float(np.max(missed, initial=0.0)) <= TOL

    def inside(self, generator: np.random.Generator, count: int = 4) -> list[Array]:
        """Points of the declared set, half of them at its boundary; none if it is empty."""
        found = self._shrunk(self._in_polyhedron(generator, count))
        return found or (self._ends(generator, count) if self.curved else [])

    def _ends(self, generator: np.random.Generator, count: int) -> list[Array]:
        """Points of the declared set that are farthest in some directions, by cvxpy."""
        found = []
        parts = [cvxpy.vec(v, order="F") for v in self.variables.values()]
        x = cvxpy.hstack(parts)
        rows = [*self.rows.values(), cvxpy.abs(x) <= SIZE]
        for _ in range(count):
            slope = generator.standard_normal(self.n)
            problem = cvxpy.Problem(cvxpy.Minimize(slope @ x), rows)
            tolerances = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10)
            problem.solve(solver="CLARABEL", **tolerances)
            if problem.status != "optimal":
                return []
            found.append(np.array(x.value))
        return found

    def _in_polyhedron(self, generator: np.random.Generator, count: int) -> list[Array]:
        G, h, A, b = self.polyhedron
        sizes = np.linalg.norm(G, axis=1)
        room = np.column_stack([G, sizes]), h, np.column_stack([A, np.zeros(len(A))]), b
        best = minimum(np.append(np.zeros(self.n), -1.0), room, SIZE)
        if best is None or best[-1] < -TOL:
            return []
        center, width = best[:-1], best[-1]
        if width < 1e-6:
            return self.extreme(generator)
        along = null_space(A) if len(A) else np.eye(self.n)
        found = [center]
        for _ in range(count if along.size else 0):
            d = along @ generator.standard_normal(along.shape[1])
            with np.errstate(divide="ignore", invalid="ignore"):
                steps = np.where(G @ d > 0.0, (h - G @ center) / (G @ d), np.inf)
            step = min(float(np.min(steps, initial=np.inf)), SIZE / np.linalg.norm(d))
            found += [center + step * d, center + 0.6 * step * d]
        return found

    def extreme(self, generator: np.random.Generator, count: int = 2) -> list[Array]:
        """Extreme points of the declared set, of which some are at each constraint."""
        found = []
        slopes = list(generator.standard_normal((count, self.n)))
        for J, _ in self.coefficients.values():
            row = J[generator.integers(len(J))]
            slopes.append(0.01 * generator.standard_normal(self.n) - row)
        for slope in slopes:
            vertex = self.minimum(slope)
            if vertex is None:
                return []
            found.append(vertex)
        return found

    def outside(
        self, points: list[Array], generator: np.random.Generator, most: int
    ) -> list[Array]:
        """Points beyond rows of each constraint, a little, and inside all others if possible."""
        found: list[Array] = []
        G, h, A, b = self.polyhedron
        for name in self.curved:
            # One of even entries, which its bounds may hold still.
            x = max(points, key=lambda x: float(np.abs(x).sum() / (np.abs(x).max() or 1.0)))
            if not x.any():
                continue
            sizes = [1.0, 1e6]
            if self.excess(sizes[1] * x)[name].max() <= STEP:
                continue  # it holds along the whole ray
            while sizes[1] > sizes[0] * (1.0 + 1e-12):
                middle = float(np.sqrt(sizes[0] * sizes[1]))
                sizes[int(self.excess(middle * x)[name].max() > STEP)] = middle
            found.append(sizes[1] * x)
        for name, (J, r) in self.coefficients.items():
            if len(found) >= most:
                break
            for k in generator.permutation(len(J))[:2]:
                a = J[k]
                if not a.any() or not np.isfinite(r[k]):
                    continue
                sides = (1.0, -1.0) if self.is_equation(name) else (1.0,)
                for side in sides:
                    x = self._beyond(side * a, -side * r[k], (G, h, A, b), generator)
                    if x is None:
                        nearest = max(points, key=lambda x: float(side * (a @ x)))
                        missing = STEP - side * (a @ nearest + r[k])
                        x = nearest + side * a * max(missing, 0.0) / (a @ a)
                    if np.max(self.violations(x)) > 0.5 * STEP:
                        found.append(x)
        return found

    def _beyond(
        self, a: Array, end: float, rows: tuple[Array, ...], generator: np.random.Generator
    ) -> Array | None:
        """A point with aᵀx = end + STEP that satisfies all rows but those parallel to this one."""
        G, h, A, b = rows
        others = [_others(G, h, a), _others(A, b, a)]
        A = np.vstack([others[1][0], a])
        b = np.append(others[1][1], end + STEP)
        slope = generator.standard_normal(self.n)
        return minimum(slope, (*others[0], A, b), SIZE)

    def violations(self, x: Array) -> Array:
        """The violation of each row."""
        G, h, A, b = self.polyhedron
        return np.concatenate([[0.0], np.maximum(G @ x - h, 0.0), np.abs(A @ x - b)])


def _others(M: Array, ends: Array, a: Array) -> tuple[Array, Array]:
    """Rows that are no multiples of a."""
    sizes = np.linalg.norm(M, axis=1) * np.linalg.norm(a)
    keep = np.abs(M @ a) < sizes * (1.0 - 1e-9)
    return M[keep], ends[keep]


def minimum(g: Array, rows: tuple[Array, ...], size: float) -> Array | None:
    """argmin gᵀx s.t. Gx ≤ h, Ax = b, |x| ≤ size; None if there is no point."""
    G, h, A, b = rows
    found = linprog(g, A_ub=G, b_ub=h, A_eq=A, b_eq=b, bounds=(-size, size))
    if found.status == 2:
        return None
    assert found.status == 0, found.message
    x: Array = found.x
    return x


# ------------------------------------------------------------------------ what a program says


def program_violation(program: Any, values: Values) -> float:
    """The largest violation of a row or a bound, from the arrays of a program."""
    if isinstance(program, LinearProgram):
        x = program.from_values(values)
        back = program.values(x)
        assert all(np.allclose(back[name], value) for name, value in values.items())
        image = program.dense @ x
        pairs = [
            (program.row_lower, image), (image, program.row_upper),
            (program.lower, x), (x, program.upper),
        ]  # fmt: skip
        return max(float(np.max(low - high, initial=0.0)) for low, high in pairs)
    if isinstance(program, PairedQP | PolyhedralQP):
        return _violation(arrays(program), program.from_values(dict(values)))
    if isinstance(program, MarginProgram):
        excess, xi = program.excess(dict(values)), values["xi"]
        return float(np.max([-(excess + xi), -xi], initial=0.0))
    return float(program.infeasibility(dict(values)))


def arrays(program: Any) -> tuple[Array, ...]:
    """G, h, A, b, lower, upper."""
    if isinstance(program, PolyhedralQP):
        body = program.feasible
        return body.G, body.h, body.A, body.b, body.lower, body.upper
    n = program.n
    none = np.zeros((0, n)), np.zeros(0)
    return (
        *none, program.feasible.A, program.feasible.b, np.full(n, program.feasible.lower),
        np.broadcast_to(np.asarray(program.feasible.upper, dtype=float), (n,)),
    )  # fmt: skip


def _violation(rows: tuple[Array, ...], x: Array) -> float:
    G, h, A, b, lower, upper = rows
    parts = (G @ x - h, np.abs(A @ x - b), lower - x, x - upper)
    return max(float(np.max(part, initial=0.0)) for part in parts)


def program_objective(program: Any, values: Values) -> float:
    """The objective in its declared sense."""
    point = program.at(program.from_values(dict(values)))
    return float(program.declared(point.value))


def has_no_point(program: Any) -> bool:
    """Whether the arrays of a program have no feasible point, or it says so itself."""
    if isinstance(program, LinearProgram):
        A, low, high = program.dense, program.row_lower, program.row_upper
        rows = np.vstack([A, -A])
        ends = np.concatenate([high, -low])
        box = np.column_stack([program.lower, program.upper])
    else:
        G, h, E, b, lower, upper = arrays(program)
        rows, ends = np.vstack([G, E, -E]), np.concatenate([h, b, -b])
        box = np.column_stack([lower, upper])
    if np.any(box[:, 0] > box[:, 1]):
        return True
    held = np.isfinite(ends)
    found = linprog(np.zeros(rows.shape[1]), A_ub=rows[held], b_ub=ends[held], bounds=box)
    return bool(found.status == 2)


# --------------------------------------------------------------------------- the comparison


def check_as_declared(model: Model, program: ConvexProgram, name: str, seed: int = 0) -> None:
    """Assert that what cvxpy states has the values and violations of this package's own atoms.

    Variables with attributes have values of semidefinite matrices only.
    """
    declared, generator = model.program(name, program), np.random.default_rng(seed)
    assert set(answers.multiplier_shapes(program)) == set(model.subject_to)
    for size in (0.1, 1.0, 3.0):
        values = {n: size * generator.standard_normal(s) for n, s in program.shapes.items()}
        # cvxpy refuses others for a variable that is semidefinite.
        values = {n: x @ x.T if x.ndim == 2 else x for n, x in values.items()}
        objective, violation = declared.evaluate(values)
        _near(program.declared(program.value(values)), objective, 1e-9, f"{name}: objective")
        assert (program.infeasibility(values) > 1e-9) == (violation > 1e-9), name


def check_same(model: Model, program: Any, name: str, seed: int = 0) -> None:
    """Assert that a program, and the cvxpy problem of it, have the declared objective and set."""
    if isinstance(program, ConvexProgram):
        check_as_declared(model, program, name, seed)
        return
    declared = Declared(model)
    generator = np.random.default_rng(seed)
    assert {n: v.shape for n, v in declared.variables.items()} == dict(program.shapes)
    assert set(answers.multiplier_shapes(program)) == set(model.subject_to)
    points = declared.inside(generator)
    if not points:
        assert has_no_point(program), f"{name}: the declared set is empty"
        return
    shares = generator.dirichlet(np.ones(len(points)), 2)
    points += list(shares @ np.array(points))
    stated = model.program(name, program)
    for x in generator.standard_normal((3, points[0].size)):  # where no row holds
        values, anywhere = declared.values(x), stated.cvxpy()
        _set({v.name(): v for v in anywhere.variables()}, values)
        expected, found = declared.objective(values), anywhere.objective.value
        _near(found, expected, 1e-9, f"{name}: objective of cvxpy")
    problem = stated.cvxpy(equivalent=True)
    compiled = {v.name(): v for v in problem.variables()}
    for x in points:
        values = declared.values(x)
        _near(program_violation(program, values), 0.0, TOL, f"{name}: violation inside")
        expected = declared.objective(values)
        found = program_objective(program, values)
        _near(found, expected, 1e-9, f"{name}: objective")
        _set(compiled, values)
        _near(problem.objective.value, expected, 1e-9, f"{name}: convex objective of cvxpy")
    assert _violation_in(problem) <= TOL, f"{name}: cvxpy refuses a feasible point"
    explicit = isinstance(program, PairedQP | PolyhedralQP) and not getattr(
        program, "is_split", False
    )
    if explicit:
        check_rows(declared, program, name)
    if isinstance(program, PolyhedralQP):
        check_epigraphs(program, declared.values(points[0]))
    most = 1 if explicit else 100
    for x in declared.outside(points, generator, most):
        values = declared.values(x)
        if program_violation(program, values) < 0.01 * STEP:
            raise AssertionError(f"{name}: {values} is infeasible as declared only")
        _set(compiled, values)
        assert _violation_in(problem) > 0.01 * STEP, f"{name}: cvxpy takes an infeasible point"


def check_rows(declared: Declared, program: PairedQP | PolyhedralQP, name: str) -> None:
    """Every row of the program is a declared one, and the reverse, but for positive factors.

    Rows of constraints that are curved are left out: points inside and outside say what they are.
    """
    G, h, A, b, lower, upper = arrays(program)
    kept = np.ones(h.size, dtype=bool)
    if isinstance(program, PolyhedralQP):
        lower, upper = lower.copy(), upper.copy()
        for curved in declared.curved:
            for piece in program.named[curved].pieces:
                if piece.kind == "inequalities":
                    kept[piece.part] = False
                elif piece.kind == "lower":
                    lower[piece.part] = -np.inf
                else:
                    upper[piece.part] = np.inf
    order = np.concatenate([np.arange(declared.n)[part] for part in _places(declared, program)])
    width = order.size
    unit, below, above = np.eye(width), np.isfinite(upper[:width]), np.isfinite(lower[:width])
    assert not A[:, width:].any()
    own = kept & ~np.any(G[:, width:] != 0.0, axis=1)
    rows = np.vstack([G[own, :width], unit[below], -unit[above]])
    ends = np.concatenate([h[own], upper[:width][below], -lower[:width][above]])
    D, d, E, e = declared.polyhedron
    for found, right, known, level, is_equation in (
        (rows, ends, D, d, False),
        (A[:, :width], b, E, e, True),
    ):
        turned = np.zeros((len(found), declared.n))
        turned[:, order] = found
        mine, theirs = _units(turned, right, is_equation), _units(known, level, is_equation)
        for text, some, others in (("declared", mine, theirs), ("compiled", theirs, mine)):
            for row in some:
                near = np.abs(others - row).max(axis=1, initial=0.0) <= 1e-11 * (1 + abs(row[-1]))
                assert near.any(), f"{name}: the row {row} was not {text}"


def _units(rows: Array, ends: Array, is_equation: bool) -> Array:
    """Rows and ends in a form that all their positive multiples share, without 0 ≤ 1."""
    sizes = np.linalg.norm(rows, axis=1)
    empty = sizes == 0.0
    assert np.all(ends[empty] >= 0.0)
    whole = np.column_stack([rows, ends])[~empty] / sizes[~empty, None]
    if is_equation and len(whole):
        first = np.array([row[np.flatnonzero(np.abs(row) > 1e-12)[0]] for row in whole])
        whole = whole * np.sign(first)[:, None]
    return whole


def check_epigraphs(program: PolyhedralQP, values: Values) -> None:
    """No t of an epigraph can be smaller than its function."""
    x = program.from_values(dict(values))
    for term in program.epigraphs:
        for k in range(term.tops.start, term.tops.stop):
            lowered = x.copy()
            lowered[k] -= STEP
            assert _violation(arrays(program), lowered) > 0.5 * STEP


def _places(declared: Declared, program: Any) -> list[slice]:
    """Where the variables of the program are among those of the declaration, in its order."""
    starts, start = {}, 0
    for name, v in declared.variables.items():
        starts[name] = slice(start, start + v.size)
        start += v.size
    return [starts[name] for name in program.shapes]


def _set(variables: Mapping[str, Any], values: Values) -> None:
    for name, v in variables.items():
        v.value = values[name]


def _violation_in(problem: Any) -> float:
    sizes = [float(np.max(one.violation(), initial=0.0)) for one in problem.constraints]
    return max(sizes, default=0.0)


def _near(found: float, expected: float, tol: float, what: str) -> None:
    if not abs(found - expected) <= tol * max(1.0, abs(found), abs(expected)):
        raise AssertionError(f"{what} is {found} and {expected} as declared")
