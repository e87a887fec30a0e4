"""Programs with a finite box, which branch and bound divides, for those that callers ask for.

A bound of the finite form is one of the program that was asked for, and every point of it stands
for a point of that program.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from indefinite_opt.errors import IncompatibleSolver, ParameterError
from indefinite_opt.foundation import EPS, Array, TimeLimitReached, cached_property, seconds_left
from indefinite_opt.quadratic.bracket.optimality_conditions import Conditions
from indefinite_opt.quadratic.bracket.scaled_box import BoxQuadratic
from indefinite_opt.quadratic.local.descent.descent import Descent
from indefinite_opt.quadratic.local.polyhedral.descent import refined
from indefinite_opt.quadratic.local.polyhedral.recession import falling_ray
from indefinite_opt.quadratic.local.search.multistart import MultiStart
from indefinite_opt.quadratic.local.search.pairing import Paired, as_paired
from indefinite_opt.quadratic.rows.linear_rows import LinearRows
from indefinite_opt.quadratic.rows.polyhedral_qp import PolyhedralQP
from indefinite_opt.quadratic.solving.solution import Status
from indefinite_opt.quadratic.solving.solver import Task
from indefinite_opt.quadratic.structures.qp import QP

MAX_INFEASIBILITY = 1e-9
"""Infeasibility up to which a point counts for the upper end. Ends of descents have 1e-14 and less,
unless numbers as small as 1e-56 have made their steps fail."""

SEPARABLE_BUDGET = 10.0
"""Budget of the local search where secants bound boxes in a millisecond: that of `MultiStart` by
default takes half of the time then, and the same number of nodes follows, as they lead to descents
as well."""


class FiniteForm(ABC):
    """A program with a finite box and the same optimum as another one.

    Attributes
    ----------
    asked : QP
        The program that was asked for.
    structure : QP
        The finite one.
    unbounded_at : float
        The largest value of the finite form at which the program that was asked for is unbounded.
    """

    asked: Any
    structure: Any
    unbounded_at: ClassVar[float] = -np.inf

    def __init__(self, asked: QP, structure: QP) -> None:
        self.asked, self.structure = asked, structure

    @classmethod
    @abstractmethod
    def of(cls, qp: Any) -> FiniteForm | None:
        """The form of a program; None if there is none."""

    @classmethod
    @abstractmethod
    def obstacle(cls, qp: Any) -> str | None:
        """Why a program has no form that can be bracketed, as a sentence, or None."""

    @cached_property
    @abstractmethod
    def quadratic(self) -> BoxQuadratic:
        """The arrays of the finite form."""

    @cached_property
    def conditions(self) -> Conditions:
        """What optimal points of the finite form satisfy."""
        return Conditions(self.quadratic)

    @property
    def measured(self) -> QP:
        """The program in which points are found and measured, by default the finite one."""
        structure: QP = self.structure
        return structure

    def lifted(self, x: Array) -> Array:
        """The point of the finite form for one of the program in which points are measured."""
        return x

    def lowered(self, z: Array) -> Array:
        """The point of the program in which points are measured for one of the finite form."""
        return z

    def start(self) -> Array:
        """A feasible point of the finite form."""
        return self.lifted(self.measured.start())

    def placed(self, x: Array) -> Array:
        """A feasible point of the finite form for a point of the program that was asked for."""
        return self.lifted(self.measured.project(x))

    def attained(self, z: Array) -> tuple[float, Array] | None:
        """A value of the finite form that a feasible point near z certainly has, and the point.

        None if z is not known to be feasible.
        """
        qp, x = self.measured, self.lowered(z)
        infeasibility = qp.infeasibility(x)
        if infeasibility > MAX_INFEASIBILITY:
            return None
        point, error = qp.attained(qp.at(x), infeasibility)
        return point.value + error, self.lifted(point.x)

    def restored(self, z: Array, value: float) -> Array:
        """The point asked for that z stands for, whose value in the finite form is given."""
        return self.lowered(z)

    def original(self, value: float, away: float = -np.inf) -> float:
        """The value of the program that was asked for, at a value of the finite form.

        Where it is rounded, this is in the direction of `away`.
        """
        return value

    def level(self, value: float) -> float:
        """The value in the finite form, given that in the program that was asked for."""
        return value

    @property
    def ray(self) -> float | None:
        """The length of the linear term along the rays that points stand for, if they do."""
        return None

    @abstractmethod
    def best_point(self, task: Task[Any]) -> tuple[Status, Array | None]:
        """How a local search ended, and its best point; `task` is about the finite form."""

    @abstractmethod
    def descended(self, task: Task[Any], z: Array) -> tuple[Array, float]:
        """The point and the value at which a descent from near z ends."""

    def linear_bound(self) -> float:
        """A lower bound in O(n²) from H_ij x_i x_j ≥ min(H_ij, 0) u_i x_j; -inf if there is none.

        The linear function that this leaves is minimised over the box and the lines; a bound on
        the rounding is subtracted.
        """
        return -np.inf


class _Slacks(FiniteForm):
    """A `PolyhedralQP` with finite `optimal_ranges`, its inequality rows as equations with slacks.

    Points are found in the variables that were asked for: beside large slacks, what is rounding for
    a row is not rounding for its variables.
    """

    asked: PolyhedralQP
    structure: PolyhedralQP

    @classmethod
    def of(cls, qp: PolyhedralQP) -> FiniteForm | None:
        ends = qp.optimal_ranges
        return None if ends is None else cls(qp, with_slacks(qp, *ends))

    @classmethod
    def obstacle(cls, qp: PolyhedralQP) -> str | None:
        if qp.optimal_ranges is not None:
            return None
        if not qp.knows_ranges:
            raise TimeLimitReached(qp.endless)
        scaled = qp.equilibrated
        error = falling_ray(scaled, LinearRows(scaled, seconds_left), np.random.default_rng(0))
        if error is not None:
            raise error
        return f"{qp.endless}, which branch and bound needs; give it lower and upper bounds"

    @cached_property
    def _paired(self) -> Paired | None:
        return as_paired(self.asked)

    @cached_property
    def quadratic(self) -> BoxQuadratic:
        qp = self.structure
        return BoxQuadratic(qp.P, qp.q, qp.A, qp.b, qp.lower, qp.upper, self.asked.doubt)

    @property
    def measured(self) -> QP:
        return self.asked

    def lifted(self, x: Array) -> Array:
        return np.concatenate([x, np.maximum(self.asked.h - self.asked.G @ x, 0.0)])

    def lowered(self, z: Array) -> Array:
        return z[: self.asked.n]

    def best_point(self, task: Task[Any]) -> tuple[Status, Array | None]:
        inner = task.on(self.asked, start=None if task.start is None else self.lowered(task.start))
        separable = self.quadratic.is_separable
        search = MultiStart(budget=SEPARABLE_BUDGET) if separable else MultiStart()
        solution = search.solve(inner)
        return solution.status, self.lifted(self.asked.from_values(solution.values))

    def descended(self, task: Task[Any], z: Array) -> tuple[Array, float]:
        x, pairs = self.lowered(z), self._paired
        if pairs is None:
            x = refined(self.asked, x)
        else:
            run = Descent(task.on(pairs.qp, start=None), pairs.place(x))
            run.to_stationarity()
            x = self.asked.project(pairs.restore(run.alpha))
        point = self.lifted(x)
        return point, self.structure.value(point)


def with_slacks(qp: PolyhedralQP, low: Array, high: Array) -> PolyhedralQP:
    """The program in (x, s) with Gx + s = h and s ≥ 0 in place of Gx ≤ h.

    `low` and `high` are finite ends that every minimiser is between.
    """
    n, m, k = qp.n, qp.h.size, qp.b.size
    least = np.where(qp.G > 0.0, qp.G * low, 0.0) + np.where(qp.G < 0.0, qp.G * high, 0.0)
    sizes = np.abs(least).sum(axis=1) + np.abs(qp.h)
    most = qp.h - least.sum(axis=1) + (n + 4.0) * EPS * sizes
    most[qp.held[qp.held < m]] = 0.0
    rows = np.block([[qp.G, np.eye(m)], [qp.A, np.zeros((k, m))]])
    P = np.zeros((n + m, n + m))
    P[:n, :n] = qp.P
    return PolyhedralQP(
        np.zeros((0, n + m)), np.zeros(0), rows, np.concatenate([qp.h, qp.b]),
        np.concatenate([low, np.zeros(m)]), np.concatenate([high, np.maximum(most, 0.0)]),
        P=P, q=np.concatenate([qp.q, np.zeros(m)]), sense=qp.sense, constant=qp.constant,
    )  # fmt: skip


@functools.singledispatch
def form_type(qp: QP) -> type[FiniteForm]:
    """The kind of finite form of a program; other kinds of programs register theirs."""
    raise IncompatibleSolver(f"branch and bound has no finite box for {qp.title}")


@form_type.register(PolyhedralQP)
def _form_of_rows(qp: PolyhedralQP) -> type[FiniteForm]:
    return _Slacks


def finite_form(qp: QP) -> FiniteForm | None:
    """A program with a finite box and the same optimum, or None."""
    return form_type(qp).of(qp)


def required_form(qp: QP) -> FiniteForm:
    """The same of a program that has one, else `ParameterError`."""
    form = finite_form(qp)
    if form is None:
        raise ParameterError("formulation", "a program with a finite box", str(obstacle(qp)))
    return form


def obstacle(qp: QP) -> str | None:
    """Why branch and bound cannot bracket a program, as a sentence, or None.

    Raises
    ------
    UnboundedProblem
        If a ray is found along which the objective falls without end.
    """
    return form_type(qp).obstacle(qp)
