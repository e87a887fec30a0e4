"""A face of the box, on which a descent takes Newton steps and steps of negative curvature."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.core import descent as loops
from indefinite_opt.foundation import Array, cached_property, one_thread
from indefinite_opt.quadratic.matrices.gram import Gram
from indefinite_opt.quadratic.matrices.spectrum import breakdown_direction, zero_tolerance
from indefinite_opt.quadratic.programs.paired_box import project_line

TRIAL_LENGTHS = (1.0, 0.03)
"""Lengths of steps along negative curvature from a point at bounds, as shares of the largest
weight; a short step helps where F increases along the projection of a long one."""


class Face:
    """Some weights of a descent, and the part of K that belongs to them.

    A move d keeps the sum of y∘d in each group at zero: the last member of each group follows from
    the others.

    Parameters
    ----------
    gram
        K.
    program, point
        The program and the point as the loops take them; v is read again whenever a direction
        is asked for.
    chosen : (n,) array of bool
        The weights that may move.
    """

    def __init__(
        self,
        gram: Gram,
        program: loops.PairProgram,
        point: loops.DescentPoint,
        chosen: NDArray[np.bool_],
    ) -> None:
        box, self.h, self.v = program, program.h, point.v
        members = np.flatnonzero(chosen)
        self.members = members[np.argsort(box.group[members], kind="stable")]
        self.y, self.x = box.y[self.members], point.alpha[self.members]
        self.lower, self.upper = box.lower[self.members], box.upper[self.members]
        self.gram = gram
        group = box.group[self.members]
        self.group = np.where(group < box.groups, group, -1)
        self.follows = np.append(self.group[1:] != self.group[:-1], True) & (self.group >= 0)
        self.order = members.size - int(self.follows.sum())

    @cached_property
    def matrix(self) -> Array:
        """Lower triangle of `reduced_matrix` of the core, which factorisations overwrite."""
        ends, places = np.flatnonzero(self.follows), np.arange(self.members.size)
        reference = np.full(self.members.size, -1)
        reference[self.group >= 0] = ends[np.searchsorted(ends, places[self.group >= 0])]
        matrix = np.zeros((self.order, self.order))
        if self.gram.on_demand:
            rows, slots = self.gram.block(self.members, self.members), places
        else:
            rows, slots = self.gram.matrix, self.members
        loops.reduced_matrix(rows, slots, slots, reference, matrix)
        return matrix

    @property
    def is_open(self) -> bool:
        """Whether every member may move both ways."""
        return bool(np.all((self.x > self.lower) & (self.x < self.upper)))

    def newton_direction(self) -> tuple[Array | None, bool]:
        """The step to the minimum without bounds and False, or a descent direction and True.

        The latter has negative curvature. The direction is None if no move is possible.
        """
        from scipy.linalg import lapack

        v = self.v[self.members] / self.h
        if self.order == 0:
            return None, False
        factor, failed = self._factor()
        if failed:
            direction = self._spread(breakdown_direction(factor.T, failed))
            return (direction if self.y * v @ direction >= 0.0 else -direction), True
        for end in np.flatnonzero(self.follows):
            members = self.group == self.group[end]
            v[members] -= v[end]
        with one_thread():
            reduced, _ = lapack.dpotrs(factor, v[~self.follows], lower=0)
        return self._spread(reduced), False

    def curved_direction(self) -> Array | None:
        """A direction of negative curvature beyond rounding, or None."""
        if self.order == 0:
            return None
        norm = np.sqrt(2.0) * float(np.linalg.norm(self.matrix))
        if norm == 0.0:
            return None
        self.matrix[np.diag_indices(self.order)] += zero_tolerance(self.order, norm)
        factor, failed = self._factor()
        return self._spread(breakdown_direction(factor.T, failed)) if failed else None

    def _factor(self) -> tuple[Array, int]:
        """The upper Cholesky factor, and the number of the first nonpositive pivot, or 0."""
        from scipy.linalg import lapack

        with one_thread():
            factor, failed = lapack.dpotrf(self.matrix.T, lower=0, clean=0, overwrite_a=1)
        return factor, int(failed)

    def _spread(self, reduced: Array) -> Array:
        """The move of the weights α of all members, given that of y∘α of the independent ones."""
        move = np.zeros(self.members.size)
        move[~self.follows] = reduced
        for end in np.flatnonzero(self.follows):
            move[end] = -move[self.group == self.group[end]].sum()
        return move * self.y

    def along(self, moves: list[Array]) -> list[tuple[Array, float, float]]:
        """For moves d of the members: the change of -v, the slope -∇Fᵀd and the curvature dᵀHd."""
        signed = self.y * np.array(moves)
        changes, amounts = np.zeros((len(moves), self.v.size)), -self.h * signed
        if self.gram.on_demand:
            self.gram.spread(self.members, amounts, changes)
        else:
            for each, change in zip(amounts, changes, strict=True):
                loops.spread(self.gram.matrix, self.members, each, change)
        return [
            (change, float(self.v[self.members] @ move), float(change[self.members] @ move))
            for move, change in zip(signed, changes, strict=True)
        ]

    def reach(self, direction: Array) -> float:
        """The largest multiple of a direction that the bounds allow."""
        return float(np.min(self._max_steps(direction)))

    def _max_steps(self, direction: Array) -> Array:
        max_step = np.where(direction > 0.0, self.upper - self.x, self.x - self.lower)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            return np.where(direction != 0.0, max_step / np.abs(direction), np.inf)

    def edge(self, direction: Array) -> Array:
        """The point where a direction meets the first bound, exactly at that bound."""
        max_steps = self._max_steps(direction)
        length = float(max_steps.min())
        goal = np.clip(self.x + length * direction, self.lower, self.upper)
        return np.where(
            max_steps == length, np.where(direction > 0.0, self.upper, self.lower), goal
        )

    def projected(self, direction: Array) -> Array:
        """The feasible point of the face nearest to the end of a move."""
        goal = self.x + direction
        inside = np.clip(goal, self.lower, self.upper)
        for g in np.unique(self.group[(inside != goal) & (self.group >= 0)]):
            members = self.group == g
            signs = self.y[members]
            inside[members] = project_line(
                goal[members], signs, float(signs @ self.x[members]),
                self.upper[members], self.lower[members],
            )  # fmt: skip
        return inside

    def goals(self, direction: Array) -> list[Array]:
        """Feasible points in both directions along a line, downhill first."""
        downhill = direction if self.v[self.members] @ (self.y * direction) >= 0.0 else -direction
        ways = (downhill, -downhill)
        if self.is_open:
            return [self.edge(way) for way in ways]
        width = self.upper - self.lower
        width[np.isinf(width)] = np.abs(self.x[np.isinf(width)])
        scale = float(np.max(width)) or 1.0
        lengths = scale / float(np.max(np.abs(direction))) * np.array(TRIAL_LENGTHS)
        return [self.projected(length * way) for length in lengths for way in ways]
