"""Descent to a local minimum over linear rows, by an active-set method."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.core import active_set
from indefinite_opt.foundation import EPS, Array
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.rows.linear_rows import LinearRows
from indefinite_opt.quadratic.rows.polyhedral_qp import PolyhedralQP
from indefinite_opt.quadratic.rows.row_curvature import RowCurvature
from indefinite_opt.quadratic.solving.solution import Status

Mask = NDArray[np.bool_]

Timed = Callable[..., Any]
"""Makes a call of a function with arguments, and abandons it where a time limit is reached."""

_SLICE_WORK = 1e9
"""Flops of steps between two checks of the time: some hundredths of a second."""

_FLOPS_PER_STEP = 20.0
"""Flops of a step, in units of n(n + m)."""

_FACTOR_SHARE = 0.2
"""Work to factorise a working set and to examine curvature, in steps per variable."""

_MIN_STEPS, _STEPS_PER_SIDE = 2000, 100
"""Most steps by default: this many, plus these for each variable and row; two or three per side
are usual."""

_CONE_STARTS = 6
"""Vertices of the cone of weakly active constraints from which a descent direction is sought."""

MAX_VIOLATION = 1e-10
"""Violation of a row or bound, in units in which a typical right-hand side is 1, up to which
the first steps of a descent repair a point."""

_MIN_EXCHANGE_SHARE = 1e-10
"""Least decrease by a step to the end of an edge, as a share of the terms of F: far above rounding
and far below any tolerance."""


def directly(function: Callable[..., Any], *arguments: Any) -> Any:
    """function(*arguments), without a limit."""
    return function(*arguments)


def views(form: StandardForm) -> active_set.Quadratic:
    """The arrays of a dense form as the compiled loops take them."""
    return active_set.Quadratic(
        form.dense_hessian, form.cost, form.dense_matrix,
        np.concatenate([form.lower, form.row_lower]),
        np.concatenate([form.upper, form.row_upper]),
    )  # fmt: skip


class ActiveSetDescent:
    """A monotone descent from a feasible point of a program in good units.

    Each step keeps all rows and bounds up to rounding. The end satisfies the first-order
    conditions up to rounding, and F does not fall along any direction that leaves one weakly
    active constraint.

    Parameters
    ----------
    form : StandardForm
        Its arrays are dense.
    z : (n,) array
        A feasible point.
    program : active_set.Quadratic, optional
        The `views` of the form, if they exist already, or those with another objective.
    seed : int
        Seed of the choices that end cycling.

    Attributes
    ----------
    z, value
        The point and its objective, in the units of the form.
    ray : (n,) array or None
        A direction along which the objective falls without end from z.
    curvature : str
        What is known of the curvature at the end, as a clause.
    steps_at_once : int
        Most steps between two questions whether to stop.
    """

    def __init__(
        self,
        form: StandardForm,
        z: Array,
        program: active_set.Quadratic | None = None,
        seed: int = 0,
    ) -> None:
        self.form, self.n = form, z.size
        self.program = views(form) if program is None else program
        self.state = active_set.State(self.program, z, seed)
        active_set.factorise(self.program, self.state, True)
        sides = self.program.low.size
        self.steps_at_once = max(int(_SLICE_WORK / (_FLOPS_PER_STEP * self.n * sides + 1.0)), 1)
        self._limit = _MIN_STEPS + _STEPS_PER_SIDE * sides
        self.ray: Array | None = None
        self.curvature = "curvature not examined"

    @property
    def z(self) -> Array:
        return self.state.x

    @property
    def end(self) -> Array:
        """z, with 0 in place of entries that are rounding of a unit, if that violates no more.

        Where all terms of a row are such entries they may violate it by all that it has.
        """
        z = self.state.x
        rounding = (z != 0.0) & (np.abs(z) <= EPS)
        if not rounding.any():
            return z
        clean = np.where(rounding, 0.0, z)
        return clean if self._violation(clean) <= self._violation(z) else z

    def _sides(self, z: Array) -> Array:
        """Entries of a vector, then those of its rows."""
        return np.concatenate([z, self.program.R @ z])

    def _violation(self, z: Array) -> float:
        values = self._sides(z)
        return float(np.max(np.maximum(self.program.low - values, values - self.program.high)))

    def _ways(self, slopes: Array, still: Mask) -> Array:
        """The way to the first constraint along directions, given slopes of constraints."""
        ends = np.where(slopes > 0.0, self.program.high, self.program.low)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ways = (ends - self._sides(self.state.x)) / slopes
        return np.asarray(np.maximum(np.where(still, np.inf, ways).min(axis=-1), 0.0))

    @property
    def value(self) -> float:
        """The objective without its rounding of updates."""
        x = self.end
        return float(x @ (0.5 * (self.program.P @ x) + self.program.q))

    @property
    def iterations(self) -> int:
        return int(self.state.counts[active_set.STEPS])

    @property
    def work(self) -> float:
        """Flops so far, by a formula that is the same on every machine."""
        n, sides = self.n, self.program.low.size
        return _FLOPS_PER_STEP * n * sides * (self.iterations + _FACTOR_SHARE * n)

    def run(
        self, halt: Callable[[], Status | None] = lambda: None, max_iter: int | None = None
    ) -> Status:
        """Descend until no step leads down.

        Parameters
        ----------
        halt : callable
            Asked between slices of the work whether to stop, and why.
        max_iter : int, optional
            Most steps.
        """
        limit = self._limit if max_iter is None else max_iter
        while self.iterations < limit:
            if self.state.counts[active_set.SINCE] >= active_set.FACTOR_STEPS:
                active_set.factorise(self.program, self.state, False)
            left = active_set.FACTOR_STEPS - int(self.state.counts[active_set.SINCE])
            steps = min(self.steps_at_once, limit - self.iterations, left)
            outcome = active_set.advance(self.program, self.state, steps)
            if outcome == active_set.UNBOUNDED:
                self.ray = self.state.ray
            if outcome != active_set.RUNNING:
                return Status.INACCURATE if outcome == active_set.STALLED else Status.SOLVED
            reason = halt()
            if reason is not None:
                return reason
        return Status.MAX_ITER if max_iter is not None else Status.INACCURATE

    def signed_multipliers(self) -> Array:
        """λ with ∇F = Σ λ_c a_c over bounds and rows, zero where a constraint is not active.

        Those of temporary constraints and of wrong sign are left out.
        """
        state, nz = self.state, self._free
        signed = np.zeros(self.program.low.size)
        slots, sides, values = state.slot[nz:], state.side[nz:], state.multiplier[nz:]
        kept = (slots != active_set.ARTIFICIAL) & (sides < active_set.TEMPORARY)
        kept &= values * sides <= 0.0
        signed[slots[kept]] = values[kept]
        return signed

    def residual(self) -> float:
        """Largest entry of ∇F - Σ λ_c a_c, relative to the largest terms of ∇F."""
        signed = self.signed_multipliers()
        left = self._gradient - signed[: self.n] - signed[self.n :] @ self.program.R
        return float(np.max(np.abs(left), initial=0.0)) / (self._terms or 1.0)

    @property
    def _terms(self) -> float:
        """Largest sum of the absolute terms of an entry of ∇F, on the way to the point."""
        program, state = self.program, self.state
        terms = program.sizes @ np.abs(state.x) + np.abs(program.q)
        return max(float(np.max(terms, initial=0.0)), float(state.extent[0]) * program.largest)

    def exchange(self, timed: Timed = directly) -> bool:
        """A step along an edge to its far end, if F is lower there; False if no edge pays.

        F rises at first along each edge of a local minimum, where one active constraint is left
        and the minimum on the others is kept, but can be lower where the edge ends. `timed` makes
        the calls that take O(n³).
        """
        step = timed(self._best_edge)
        if step is None:
            return False
        self.state.x[:] += step
        self._restart()
        return True

    def _best_edge(self) -> Array | None:
        """The step to the far end of the edge where F is least; None if it is lower at none."""
        program, state, nz, n = self.program, self.state, self._free, self.n
        sides = state.side[nz:]
        left = np.flatnonzero(np.abs(sides) == 1)
        if left.size == 0:
            return None
        rhs = np.zeros((n - nz, left.size))
        rhs[left, np.arange(left.size)] = -sides[left]
        edges = np.linalg.solve(state.T[nz:, nz:], rhs).T @ state.basis[nz:]
        curved = edges @ program.P
        if nz:
            Z, L = state.basis[:nz], np.tril(state.L[:nz, :nz])
            edges -= np.linalg.solve(L.T, np.linalg.solve(L, Z @ curved.T)).T @ Z
            curved = edges @ program.P
        slopes = np.hstack([edges, edges @ program.R.T])
        lengths = np.linalg.norm(edges, axis=1)[:, None]
        still = np.abs(slopes) <= active_set.PARALLEL_SHARE * program.norms * lengths
        still[:, state.held == 1] = True
        still[np.arange(left.size), state.slot[nz:][left]] = False
        ways = self._ways(slopes, still)
        ways[np.isinf(ways)] = 0.0
        slope, curvature = edges @ self._gradient, np.einsum("ij,ij->i", edges, curved)
        gains = ways * (slope + 0.5 * ways * curvature)
        best = int(np.argmin(gains))
        least = _MIN_EXCHANGE_SHARE * self._terms * max(float(state.extent[0]), 1e-300)
        return np.asarray(ways[best] * edges[best]) if gains[best] < -least else None

    @property
    def _free(self) -> int:
        """The dimension of the space in which all constraints of the working set are kept."""
        return int(self.state.counts[active_set.FREE])

    @property
    def _gradient(self) -> Array:
        return self.program.P @ self.state.x + self.program.q

    def _restart(self) -> None:
        active_set.factorise(self.program, self.state, True)

    def escape(
        self, rows: Callable[[StandardForm], LinearRows], seed: int, timed: Timed = directly
    ) -> bool:
        """Examine the second-order conditions; True if a direction that leads down was taken.

        F has a local minimum where dᵀPd ≥ 0 for all d of the critical cone: those along which
        constraints with nonzero multiplier stay at their ends, and weakly active ones do not
        cross them. This is so if P is positive semidefinite on the span of the cone; else vertices
        of the cone within a box are starts of descents of ½dᵀPd. `timed` makes the calls that take
        O(n³).
        """
        program, state, signed = self.program, self.state, self.signed_multipliers()
        share = active_set.MULTIPLIER_SHARE * np.sqrt(self.n) * self._terms
        strict = (np.abs(signed) * program.norms > share) | (program.low == program.high)
        values = self._sides(state.x)
        at_low = (values <= program.low + state.slack) & ~strict
        at_high = (values >= program.high - state.slack) & ~strict
        weak = int(np.count_nonzero(at_low | at_high))
        clause = "the free space"
        if weak:
            clause += f" and the {weak} constraints that are active with zero multiplier"
        if not timed(_is_curved_down, program, strict):
            self.curvature = f"curvature nonnegative on {clause}"
            return False
        if not weak:
            self.curvature = "curvature negative on the free space"
            return False
        cone = directions(self.form, at_low | strict, at_high | strict)
        floor = active_set.CURVATURE_SHARE * self.n * program.largest
        generator = np.random.default_rng(seed)
        for run in descents_on(cone, program.P, rows(cone), generator, _CONE_STARTS):
            if run.value < -floor * self.n:  # from where F falls, a descent goes on to the box
                rounding = np.abs(run.z) <= active_set.PARALLEL_SHARE
                return self._leave(np.where(rounding, 0.0, run.z))
        self.curvature = (
            "curvature nonnegative on the free space; it is negative between the "
            f"{weak} constraints that are active with zero multiplier, and no descent into "
            "their cone was found"
        )
        return False

    def _leave(self, direction: Array) -> bool:
        """Go along a direction of negative curvature to the first constraint."""
        program, state = self.program, self.state
        slopes = self._sides(direction)
        still = np.abs(slopes) <= active_set.PARALLEL_SHARE * program.norms
        step = float(self._ways(slopes, still))
        curvature = float(direction @ program.P @ direction)
        if np.isinf(step):
            self.ray = direction / np.max(np.abs(direction))
            return True
        if step * (float(self._gradient @ direction) + 0.5 * step * curvature) >= 0.0:
            self.curvature = "curvature negative between constraints that stay at their ends"
            return False
        state.x[:] += step * direction
        self._restart()
        return True


def refined(qp: PolyhedralQP, x: Array) -> Array:
    """The end of a descent from a feasible point near any x."""
    run = ActiveSetDescent(qp.scaled, placed(qp, x))
    run.run()
    return qp.units.read(run.end)


def placed(qp: PolyhedralQP, x: Array) -> Array:
    """A feasible point near x in the `units` of the program, or its start if none is found."""
    z = qp.units.write(qp.feasible.project(x))
    return z if qp.scaled.violation(z) <= MAX_VIOLATION else qp.units.write(qp.start())


def is_convex(form: StandardForm) -> bool:
    """Whether P has no negative curvature, beyond rounding, along the equalities."""
    program = views(form)
    fixed = program.low == program.high
    return not _is_curved_down(program, fixed)


def _is_curved_down(program: active_set.Quadratic, strict: Mask) -> bool:
    """Whether dᵀPd < 0, beyond rounding, for a d that leaves strictly active constraints alone."""
    n, rows = program.q.size, program.R[strict[program.q.size :]]
    least, rounding = RowCurvature(program.P, rows).restricted(np.flatnonzero(~strict[:n]), rows)
    return least < -rounding


def directions(form: StandardForm, low: Mask, high: Mask) -> StandardForm:
    """The directions that do not cross some lower and upper sides, in a box of width 2."""
    n = form.cost.size
    (lower, row_lower), (upper, row_upper) = (
        np.split(np.where(held, 0.0, end), [n]) for held, end in ((low, -np.inf), (high, np.inf))
    )
    return form._replace(
        lower=np.maximum(lower, -1.0), upper=np.minimum(upper, 1.0),
        row_lower=row_lower, row_upper=row_upper,
    )  # fmt: skip


def descents_on(
    cone: StandardForm, P: Array, rows: LinearRows, generator: np.random.Generator, count: int
) -> Iterator[ActiveSetDescent]:
    """Descents of ½dᵀPd on some `directions`, from random vertices."""
    homogeneous = views(cone).with_objective(np.zeros(len(P)), P)
    for _ in range(count):
        run = ActiveSetDescent(cone, rows.random_vertex(generator), homogeneous)
        run.run()
        yield run
