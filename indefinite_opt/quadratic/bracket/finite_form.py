"""The finite box with rows that branch and bound divides, for the program that a caller asks for.

A bound of the finite form is one of the program that was asked for, and every point of it stands
for a point of that program.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from indefinite_opt.errors import IncompatibleSolver, ParameterError
from indefinite_opt.foundation import (
    EPS,
    LEAST,
    TILE_ENTRIES,
    Array,
    TimeLimitReached,
    cached_property,
    derived,
    seconds_left,
    tiles,
)
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.bracket.optimality_conditions import Conditions
from indefinite_opt.quadratic.bracket.scaled_box import BoxQuadratic
from indefinite_opt.quadratic.local.descent.descent import Descent
from indefinite_opt.quadratic.local.polyhedral.descent import refined
from indefinite_opt.quadratic.local.polyhedral.recession import falling_ray
from indefinite_opt.quadratic.local.search.multistart import MultiStart
from indefinite_opt.quadratic.local.search.pairing import as_paired, restored
from indefinite_opt.quadratic.programs.paired_qp import PairedQP, kernel_qp
from indefinite_opt.quadratic.programs.qp import QP
from indefinite_opt.quadratic.rows.linear_rows import LinearRows
from indefinite_opt.quadratic.rows.polyhedral_qp import PolyhedralQP, first_point
from indefinite_opt.quadratic.rows.polyhedron import Polyhedron
from indefinite_opt.quadratic.rows.ranges import optimal_ranges
from indefinite_opt.quadratic.solving.solution import Status
from indefinite_opt.quadratic.solving.solver import Task

MAX_INFEASIBILITY = 1e-9
"""Infeasibility up to which a point counts for the upper end. Ends of descents have 1e-14 and less,
unless numbers as small as 1e-56 have made their steps fail."""

SEPARABLE_BUDGET = 10.0
"""Budget of the local search where secants bound boxes in a millisecond: that of `MultiStart` by
default takes half of the time then, and the same number of nodes follows, as they lead to descents
as well."""


@dataclass(frozen=True, eq=False)
class FiniteForm:
    """A program with a finite box and rows that are equations, and the same optimum as another one.

    1. Inequality rows of any program with finite ranges are equations with slacks: its points are
       z = (x, h - Gx). Points are found and measured in the variables x: beside large slacks, what
       is rounding for a row is not rounding for its variables.
    2. A kernel program with a finite box is its own finite form, except for a large constant in its
       kernel.
    3. Without upper bounds ½h xᵀQx - c eᵀx is minimised along each ray first. With q the minimum of
       ½h zᵀQz over total weight 1 the minimum is -c²/(4q) if q > 0, and the program is unbounded
       otherwise. This requires yᵀx = 0, which makes the weights of total 1 a box with two lines.
    """

    asked: Any
    """The program that was asked for, a `QP`."""
    measured: Any
    """The program in which points are found and measured, a `QP`."""
    ends: tuple[Array, Array] | None = None
    """Finite ends that every minimiser is between, of a program that gets slacks."""
    ray: float | None = None
    """c where points stand for rays, else None."""

    @property
    def n(self) -> int:
        """Number of variables of the finite form."""
        return int(
            self.measured.n if self.ends is None else self.asked.n + self.asked.feasible.h.size
        )

    @cached_property
    def quadratic(self) -> BoxQuadratic:
        """The arrays of the finite form."""
        if self.ends is None:
            return box_quadratic(self.measured)
        return with_slacks(self.asked, *self.ends)

    @cached_property
    def conditions(self) -> Conditions:
        """What optimal points of the finite form satisfy."""
        return Conditions(self.quadratic)

    @cached_property
    def _paired(self) -> tuple[PairedQP, Array] | None:
        return as_paired(self.measured)

    # ------------------------------------------------------------------------------- points

    def lifted(self, x: Array) -> Array:
        """The point of the finite form for one of the program in which points are measured."""
        if self.ends is None:
            return x
        return np.concatenate(
            [x, np.maximum(self.asked.feasible.h - self.asked.feasible.G @ x, 0.0)]
        )

    def lowered(self, z: Array) -> Array:
        """The point of the program in which points are measured for one of the finite form."""
        return z[: self.measured.n]

    def start(self) -> Array:
        """A feasible point of the finite form."""
        return self.lifted(self.measured.start())

    def placed(self, x: Array) -> Array:
        """A feasible point of the finite form for a point of the program that was asked for."""
        if self.ray is not None:
            x = x / (float(x.sum()) or 1.0)
        return self.lifted(self.measured.feasible.project(x))

    def restored(self, z: Array, value: float) -> Array:
        """The point asked for that z stands for, whose value in the finite form is given."""
        if self.ray is not None and value > 0.0:
            return z * (self.ray / (2.0 * value))
        return self.lowered(z)  # without an optimum the scale of a ray means nothing

    def attained(self, z: Array) -> tuple[float, Array] | None:
        """A value of the finite form that a feasible point near z certainly has, and the point.

        None if z is not known to be feasible.
        """
        qp, x = self.measured, self.lowered(z)
        infeasibility = qp.infeasibility(x)
        if infeasibility > MAX_INFEASIBILITY:
            return None
        point, error = answers.attained(qp, qp.at(x), infeasibility)
        return point.value + error, self.lifted(point.x)

    def best_point(self, task: Task[Any]) -> tuple[Status, Array]:
        """How a local search ended, and its best point; `task` is about what is measured."""
        separable = self.ends is not None and self.quadratic.is_separable
        search = MultiStart(budget=SEPARABLE_BUDGET) if separable else MultiStart()
        solution = search.solve(task)
        return solution.status, self.lifted(self.measured.from_values(solution.values))

    def descended(self, task: Task[Any], z: Array) -> tuple[Array, float]:
        """The point and the value at which a descent from near z ends; `task` as before."""
        qp, x = self.measured, self.lowered(z)
        if self.ends is None:
            run = Descent(task, qp.feasible.project(x))
            run.to_stationarity()
            return run.alpha, run.value
        if self._paired is None:
            x = refined(qp, x)
        else:
            pairs, sizes = self._paired
            run = Descent(task.on(pairs, start=None), pairs.feasible.project(sizes * x))
            run.to_stationarity()
            x = qp.feasible.project(restored(pairs, sizes, qp.feasible.ranges, run.alpha))
        return self.lifted(x), qp.value(x)

    # ------------------------------------------------------------------------------- values

    def value(self, z: Array) -> float:
        """The objective of the finite form."""
        return float(self.measured.value(self.lowered(z)))

    @property
    def unbounded_at(self) -> float:
        """The largest value of the finite form at which the program asked for is unbounded."""
        return -np.inf if self.ray is None else 0.0

    def original(self, value: float, away: float = -np.inf) -> float:
        """The value of the program that was asked for, at a value of the finite form.

        Where it is rounded, this is in the direction of `away`.
        """
        if self.ray is None:
            return value
        if not value > 0.0:
            return -np.inf
        if np.isinf(value):
            return 0.0
        exact = -(Fraction(self.ray) ** 2) / (4 * Fraction(value))
        rounded = float(exact)
        inwards = rounded > exact if away < 0.0 else rounded < exact
        return float(np.nextafter(rounded, away)) if inwards else rounded

    def level(self, value: float) -> float:
        """The value in the finite form, given that in the program that was asked for."""
        if self.ray is None:
            return value
        return -(self.ray**2) / (4.0 * value) if value < 0.0 else np.inf

    def linear_bound(self) -> float:
        """A lower bound in O(n²) from H_ij x_i x_j ≥ min(H_ij, 0) u_i x_j; -inf if there is none.

        The linear function that this leaves is minimised over the box and the lines; a bound on
        the rounding is subtracted.
        """
        return _linear_bound(self.measured) if self.ends is None else -np.inf


@functools.singledispatch
def finite_form(qp: QP) -> FiniteForm | None:
    """A program with a finite box and the same optimum, or None."""
    raise IncompatibleSolver(f"branch and bound has no finite box for {qp.title}")


@functools.singledispatch
def obstacle(qp: QP) -> str | None:
    """Why branch and bound cannot bracket a program, as a sentence, or None.

    Raises
    ------
    UnboundedProblem
        If a ray is found along which the objective falls without end.
    """
    raise IncompatibleSolver(f"branch and bound has no finite box for {qp.title}")


def required_form(qp: QP) -> FiniteForm:
    """The `finite_form` of a program that has one, else `ParameterError`."""
    form = finite_form(qp)
    if form is None:
        raise ParameterError("formulation", "a program with a finite box", str(obstacle(qp)))
    return form


@finite_form.register(PolyhedralQP)
def _form_of_rows(qp: PolyhedralQP) -> FiniteForm | None:
    ends = ends_of_minimisers(qp)
    return None if ends is None else FiniteForm(qp, qp, ends)


@obstacle.register(PolyhedralQP)
def _obstacle_of_rows(qp: PolyhedralQP) -> str | None:
    if ends_of_minimisers(qp) is not None:
        return None
    if not qp.feasible.knows_ranges:
        raise TimeLimitReached(answers.endless(qp))
    rows = LinearRows(qp.scaled, seconds_left)
    error = falling_ray(qp, rows, np.random.default_rng(0))
    if error is not None:
        raise error
    return f"{answers.endless(qp)}, which branch and bound needs; give it lower and upper bounds"


def with_slacks(qp: PolyhedralQP, low: Array, high: Array) -> BoxQuadratic:
    """The program in (x, s) with Gx + s = h and s ≥ 0 in place of Gx ≤ h.

    `low` and `high` are finite ends that every minimiser is between.
    """
    body = qp.feasible
    n, m, k = qp.n, body.h.size, body.b.size
    least = np.where(body.G > 0.0, body.G * low, 0.0) + np.where(body.G < 0.0, body.G * high, 0.0)
    sizes = np.abs(least).sum(axis=1) + np.abs(body.h)
    most = body.h - least.sum(axis=1) + (n + 4.0) * EPS * sizes
    most[body.held[body.held < m]] = 0.0
    rows = np.block([[body.G, np.eye(m)], [body.A, np.zeros((k, m))]])
    P = np.zeros((n + m, n + m))
    P[:n, :n] = qp.P
    return BoxQuadratic(
        P, np.concatenate([qp.q, np.zeros(m)]), rows, np.concatenate([body.h, body.b]),
        np.concatenate([low, np.zeros(m)]), np.concatenate([high, np.maximum(most, 0.0)]), qp.doubt,
    )  # fmt: skip


@finite_form.register(PairedQP)
def _form_of_pairs(qp: PairedQP) -> FiniteForm | None:
    plain, ray = qp.without_constant(), None
    if not qp.feasible.is_bounded:
        if qp.feasible.lines == 0 or np.ndim(qp.linear):
            return None
        plain = kernel_qp(plain.problem, plain.hessian, 0.0, plain.feasible.upper, 2, 1.0)
        ray = qp.linear_size
    return FiniteForm(qp, plain, ray=ray)


@obstacle.register(PairedQP)
def _obstacle_of_pairs(qp: PairedQP) -> str | None:
    if not qp.problem.curvature_known:
        return "the whole kernel matrix is needed, which cache_mb=math.inf forms"
    if not qp.feasible.is_bounded and (qp.feasible.lines == 0 or np.ndim(qp.linear)):
        return "ranges are divided, and without a bias the weights need a finite upper bound"
    return None


def box_quadratic(qp: PairedQP) -> BoxQuadratic:
    """The arrays of a kernel program; where classes have fixed weights, one row for each."""
    box = qp.feasible
    rows, rhs = box.A, box.b
    if box.has_classes:
        rows, rhs = (
            np.array([box.signs > 0, box.signs < 0], float),
            np.abs(box.totals),
        )
    linear, upper = _costs_and_bounds(qp)
    return BoxQuadratic(qp.H(), linear, rows, rhs, np.zeros(qp.n), upper, answers.doubt(qp, upper))


def _costs_and_bounds(qp: PairedQP) -> tuple[Array, Array]:
    """c, and the largest value of each weight in the box and on the lines; two (n,) arrays."""
    return np.full(qp.n, qp.linear, float), np.full(qp.n, qp.feasible.widest, float)


def _linear_bound(qp: PairedQP) -> float:
    # H is not formed: memory that is used for the first time takes longer than these sums.
    push = np.empty(qp.n)
    linear, upper = _costs_and_bounds(qp)
    K, y = qp.gram.matrix, qp.feasible.signs
    signed = y * upper

    for part in tiles(qp.n, TILE_ENTRIES // qp.n):
        products = K[part] * signed
        products *= y[part, None]
        push[part] = 0.5 * qp.hessian * np.minimum(products, 0.0, out=products).sum(axis=1)
    size = float(upper @ (np.abs(linear) - push))
    # Each product may lose a smallest number, times the weight that it belongs to.
    underflow = LEAST * (qp.n + 8) * (qp.n + 8 + float(upper.sum())) if np.any(push) else 0.0
    rounding = 4.0 * (qp.n + 8) * EPS * size + underflow + answers.doubt(qp, upper)
    return qp.feasible.linear_minimum(linear + push) - rounding


def ends_of_minimisers(qp: PolyhedralQP) -> tuple[Array, Array] | None:
    """Finite ends that all minimisers are between, or None; see `rows.optimal_ranges`.

    They are the `ranges`, except for variables that have none there and in which F is convex.
    """
    if qp.feasible.is_bounded:
        return qp.feasible.ranges
    return derived(qp, "ends of minimisers", partial(_ends_of_minimisers, qp))


def _ends_of_minimisers(qp: PolyhedralQP) -> tuple[Array, Array] | None:
    body = qp.feasible
    P, q, in_rows = qp.along_rows.P, qp.q, np.diff(body.columns.indptr) > 0
    alone = np.isinf(body.lower) & np.isinf(body.upper) & ~in_rows
    found = optimal_ranges(P, q, alone, body.ranges, partial(_certain, qp))
    if found is None or np.isfinite(found).all():
        return found
    # What is left has no costs and products, and only needs ends from the rows.
    G, A = body.given_rows
    low, high = Polyhedron(G, body.h, A, body.b, *found, body.names).ranges
    return (low, high) if np.isfinite([low, high]).all() else None


def _certain(qp: PolyhedralQP, x: Array) -> float:
    """A value that some feasible point attains for certain, near x if possible; or inf."""
    for point in (qp.feasible.project(x), first_point(qp)):
        near = qp.feasible.near(point)
        if near is not None and near.exactly:
            found, error = answers.attained(qp, qp.at(point), 0.0)
            return found.value + error
    return np.inf
