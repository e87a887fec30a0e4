"""Branch and bound over the coordinates along which an objective or a quadratic row is concave.

With P = P₊ - Σ σ_j v_jv_jᵀ, P₊ positive semidefinite, a node has ends l_j ≤ v_jᵀx ≤ u_j for the
eigenvectors v_j of negative eigenvalues of the objective and of the row. There -½σ_j(v_jᵀx)² is at
least its secant -½σ_j((l_j + u_j) v_jᵀx - l_ju_j), so that the node has a convex program below it.
Hinges enter by tangents, which all nodes share. A bound is computed from the multipliers of a
solver, rounding included; the solver is not trusted.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import EPS, TINY, Array, clock, one_thread

MAX_NODES = 20_000
"""Most nodes of a tree that has no other limit."""

_GAP = 5e-7
"""Relative gap at which a tree ends: half of the default tolerance of claims."""

_NEGLIGIBLE = 1e-14
"""Share of the largest eigenvalue up to which others are rounding, which the bound allows for."""

_MOST_TANGENTS = 150
"""Tangents of the hinges from which the oldest are left out, down to two thirds."""

_INSIDE = 1e-7
"""Share of its range by which a variable is off both ends if its slope has to vanish."""

_STEPS = 12
"""Most steps of the convex-concave procedure from a point."""

_ROUNDS = 20
"""Most times that tangents of the hinges are added in such a step."""

_EVERY = 40
"""Nodes after which that procedure starts from a new point."""


@dataclass(frozen=True, eq=False)
class Hinges:
    """Σ k_i max(r_i + R_iᵀx, 0) with prices k ≥ 0."""

    costs: Array
    R: Array
    r: Array

    def value(self, x: Array) -> float:
        """The sum at x."""
        return float(self.costs @ np.maximum(self.r + self.R @ x, 0.0))

    def terms(self, x: Array) -> float:
        """The absolute terms of the sum."""
        return float(self.costs @ (np.abs(self.r) + np.abs(self.R) @ np.abs(x)))

    def tangent(self, x: Array) -> tuple[Array, float]:
        """a and b with a sum of at least aᵀw + b for every w, and equal at x."""
        return self._sums(self.r + self.R @ x > 0.0)

    def recession(self, v: Array) -> tuple[Array, float]:
        """The tangent at tv for large t."""
        return self._sums(self.R @ v > 0.0)

    def _sums(self, on: NDArray[np.bool_]) -> tuple[Array, float]:
        """Σ k_iR_i and Σ k_ir_i; only the products and the results are rounded."""
        costs = self.costs[on]
        columns = (costs[:, None] * self.R[on]).T
        return np.array([math.fsum(column) for column in columns]), math.fsum(costs * self.r[on])


class Ends(NamedTuple):
    """Lower and upper ends of all variables of an optimum."""

    low: Array
    high: Array


class _Quadratic(NamedTuple):
    """½xᵀHx - Σ ½τ_j(v_jᵀx)² + hᵀx - c with the positive semidefinite H = FᵀF."""

    F: Array
    H: Array
    tau: Array
    h: Array
    c: float
    size: Array
    """The absolute terms of h."""
    room: float
    """Those of c."""

    def linear(self, V: Array, middle: Array, product: Array) -> _Quadratic:
        """With middle·y - ½product in place of ½y² for the concave directions y = Vᵀx."""
        h, half = self.tau * middle, 0.5 * self.tau
        size = self.size + np.abs(V) @ np.abs(h)
        room = self.room + float(half @ np.abs(product))
        c = self.c - float(half @ product)
        return self._replace(tau=0.0 * h, h=self.h - V @ h, c=c, size=size, room=room)


def _combined(weights: Array, parts: list[_Quadratic]) -> _Quadratic:
    """The sum of convex parts with weights ≥ 0."""
    sums = [
        sum(k * value for k, value in zip(weights, values, strict=True))
        for values in zip(*(part[1:] for part in parts), strict=True)
    ]
    return _Quadratic(np.zeros((0, parts[0].h.size)), *sums)


class _Node(NamedTuple):
    bound: float
    number: int
    low: Array
    high: Array
    x: Array


class _Convex(NamedTuple):
    """The least of the first of convex parts where the others are at most 0."""

    parts: list[_Quadratic]
    hinged: bool = True
    """Whether the hinges are added."""


class _Found(NamedTuple):
    status: str
    x: Array
    t: float
    z: Array


class _Held(NamedTuple):
    """Multipliers: shares of the tangents, of rows and equations, of the quadratic rows, and of the
    directions, positive for upper ends."""

    cuts: Array
    direct: Array
    parts: Array
    net: Array


class Tree:
    """The tree of a `QuadraticRowProgram` whose optimum is between ends."""

    def __init__(self, program: Any, ends: Ends) -> None:
        self.program, self.ends = program, ends
        n, base, row = program.n, program.base, program.row
        parts = [(base.P, base.q, 0.0), (row.G, row.g, row.c)]
        if row.equal:
            parts.append((-row.G, -row.g, -row.c))
        splits = [_split(M) for M, _, _ in parts]
        self.V, taus = _merged([(one.minus, one.V) for one in splits])
        self.parts = [
            _Quadratic(split.F, split.plus, tau, h, c, np.abs(h), abs(c))
            for split, (_, h, c), tau in zip(splits, parts, taus, strict=True)
        ]
        """The objective without hinges, and the row; its negative, too, if it is an equation."""
        self._along = np.linalg.pinv(self.V)
        self.defect = 0.0 if _is_diagonal(base.P) and _is_diagonal(row.G) else 32.0 * n * EPS
        self.norm = float(np.linalg.norm(base.P) + np.linalg.norm(row.G))
        self.tangents: list[tuple[Array, float]] = [(np.zeros(n), 0.0)]
        self.best = np.inf
        self.point: Array | None = None
        self.nodes = 0
        reach = self.V.T * ends.low, self.V.T * ends.high
        low, high = np.minimum(*reach).sum(axis=1), np.maximum(*reach).sum(axis=1)
        room = self.defect * (np.abs(low) + np.abs(high))
        self._reach = low - room, high + room
        self._count = itertools.count()
        middle = 0.5 * (ends.low + ends.high)
        self._open = [_Node(-np.inf, next(self._count), *self._reach, middle)]
        self._started = False
        self.halted = False
        """Whether the user or a limit of nodes has ended it, so that the next certificate takes the
        bound as it is."""

    # -------------------------------------------------------------------------------- search

    @property
    def is_closed(self) -> bool:
        """Whether the bracket is closed, or every node is proved to be empty."""
        return self._started and not self._open

    @property
    def allowed(self) -> float:
        """The level from which a node cannot be better by more than the gap."""
        if not np.isfinite(self.best):
            return np.inf
        return self.best - _GAP * min(abs(self.best), abs(self.best + self.program.constant))

    @one_thread()
    def run(self, seconds: float, most: int = MAX_NODES, report: Any = None) -> None:
        """Go on for some seconds, up to a number of nodes, or until a report returns true."""
        end = clock() + seconds
        if not self._started:
            self._start()
        divisible = self.V.shape[1] > 0
        while divisible and self._open and clock() < end and self.nodes < most:
            node = self._open[0]
            if node.bound >= self.allowed:
                self._open.clear()
                break
            if self.nodes % _EVERY == 1:
                self.improve(node.x)
            self._replace_first(self._halves(node))
            if report is not None and report(self.lower):
                break

    @property
    def lower(self) -> float:
        """The least bound of all nodes, and of those that were left out."""
        return min([self.allowed, *(node.bound for node in self._open)])

    def _start(self) -> None:
        for start in (np.clip(np.zeros(self.program.n), *self.ends), self._open[0].x):
            self._add(start)
            self.offer(start)
            self.improve(start)
        self._replace_first([self._reach])
        if self._open:
            self.improve(self._open[0].x)

    def _replace_first(self, parts: Iterable[tuple[Array, Array]]) -> None:
        """Put the parts of the first open node in its place, except those without a better point.

        It stays open until all of them are there, so that an interrupt loses no node.
        """
        node = self._open[0]
        found = [self._examined(low, high, node.bound) for low, high in parts]
        for part in found:
            if part is not None:
                heapq.heappush(self._open, part)  # behind the node: its bound is no lower
        self._started = True
        heapq.heappop(self._open)

    def _halves(self, node: _Node) -> Iterator[tuple[Array, Array]]:
        """Two nodes of one, divided along the direction whose secants leave most open.

        They are those of the objective if these explain half of its gap at the point of the node,
        else those of the row if the point violates it.
        """
        y = np.clip(self.V.T @ node.x, node.low, node.high)
        width, over = node.high - node.low, self.program.row.value(node.x)
        open_at = 0.5 * (y - node.low) * (node.high - y)
        cost = open_at * self.parts[0].tau
        if float(cost.sum()) < 0.5 * (self.best - node.bound):
            for sign, part in zip((1.0, -1.0), self.parts[1:], strict=False):
                if sign * over > 0.0:
                    cost = open_at * part.tau
        if not cost.max(initial=0.0) > 0.0:
            cost = width
        j = int(np.argmax(cost))
        middle = 0.5 * (node.low[j] + node.high[j])
        at = np.clip(
            0.75 * y[j] + 0.25 * middle, node.low[j] + 0.1 * width[j], node.high[j] - 0.1 * width[j]
        )
        for side_of in (0, 1):
            low, high = node.low.copy(), node.high.copy()
            (low if side_of else high)[j] = at
            yield low, high

    def _examined(self, low: Array, high: Array, floor: float) -> _Node | None:
        """A node with its bound; None if it is empty or cannot be better."""
        self.nodes += 1
        # The secant of y² between two ends, for each concave direction.
        convex = self._linear(0.5 * (low + high), low * high)
        bound = floor
        x = np.clip(self._along.T @ (0.5 * (low + high)), *self.ends)
        for _ in range(3):
            found = self._solved(convex, low, high)
            held = self._held(convex, found.z)
            if "Infeasible" in found.status and self._is_empty(convex, held, low, high):
                return None
            if "Solved" not in found.status:
                break
            x = np.clip(found.x, *self.ends)
            bound = max(bound, self._certain(convex, held, x, low, high))
            if bound >= self.allowed:
                return None
            missed = self.program.hinges.value(x) - found.t
            if not missed > 0.3 * (self.best - bound):
                break
            self._add(x)
        self.offer(x)
        return _Node(bound, next(self._count), low, high, x)

    def _is_empty(self, convex: _Convex, ray: _Held, low: Array, high: Array) -> bool:
        """Whether a node is proved to have no point: a combination of its quadratic rows is
        positive, or its linear rows and ends contradict each other."""
        weights = ray.parts / (float(ray.parts.sum()) or 1.0)
        for scale in (weights, 0.0 * weights):
            least = _Convex([_combined(scale, convex.parts[1:])], hinged=False)
            found = self._solved(least, low, high)
            if "Solved" in found.status or not scale.any():
                break
        x = np.clip(found.x, *self.ends)
        return self._certain(least, self._held(least, found.z), x, low, high) > 0.0

    def _add(self, x: Array) -> None:
        if not self.program.hinges.costs.size:
            return
        self.tangents.append(self.program.hinges.tangent(x))
        if len(self.tangents) > _MOST_TANGENTS:
            del self.tangents[1 : _MOST_TANGENTS // 3]

    def offer(self, x: Array) -> bool:
        """Keep a point near x that surely is feasible, if it is better than the best one."""
        x = self.program.moved(np.clip(x, *self.ends), 0.0)
        found = self.program.surely_feasible(x) if self.program.value_at(x) < self.best else None
        if found is None or not found[1] < self.best:
            return False
        self.point, self.best = found
        return True

    def improve(self, x: Array) -> None:
        """The convex-concave procedure: what is concave is replaced by its tangent at a point.

        With both sides of an equation it could not move, and so it takes each of them by itself.
        """
        for side in range(1, len(self.parts)):
            self._descend(x, side)

    def _descend(self, x: Array, side: int) -> None:
        for _ in range(_STEPS):
            y = self.V.T @ x
            whole = self._linear(y, y * y)
            convex = whole._replace(parts=[whole.parts[0], whole.parts[side]])
            for _ in range(_ROUNDS):
                found = self._solved(convex, *self._reach)
                if "Solved" not in found.status:
                    return
                missed = self.program.hinges.value(found.x) - found.t
                self._add(found.x)
                if not missed > 1e-8 * max(abs(self.best), 1e-300):
                    break
            before, moved = self.best, float(np.linalg.norm(found.x - x))
            self.offer(found.x)
            if moved <= 1e-9 * float(np.linalg.norm(x)) or self.best > before - 1e-8 * abs(before):
                return
            x = found.x

    # ------------------------------------------------------------------- convex programs

    def _linear(self, middle: Array, product: Array) -> _Convex:
        """A program that is convex, as all parts have tangents or secants in concave directions."""
        return _Convex([part.linear(self.V, middle, product) for part in self.parts])

    def _solved(self, convex: _Convex, low: Array, high: Array) -> _Found:
        """The solution in x and t ≥ the hinges, by Clarabel, with ends of y and of x."""
        import clarabel
        from scipy import sparse

        n, body = self.program.n, self.program.base.feasible
        unit = abs(self.best) if convex.hinged and np.isfinite(self.best) and self.best else 1.0
        tangents, offsets = self._cuts(convex.hinged)
        m, V = body.h.size, self.V.T
        dense = body.rows.toarray() if body.rhs.size else np.zeros((0, n))
        blocks = [dense[m:], tangents / unit, dense[:m], V, -V, np.eye(n), -np.eye(n)]
        sides = [body.rhs[m:], -offsets / unit, body.rhs[:m], high, -low]
        sides += [self.ends.high, -self.ends.low]
        last = [np.full((len(block), 1), -1.0 if j == 1 else 0.0) for j, block in enumerate(blocks)]
        rows = [np.hstack(pair) for pair in zip(blocks, last, strict=True)]
        count = sum(map(len, blocks[1:]))
        cones = [clarabel.ZeroConeT(len(dense) - m)] if len(dense) > m else []
        cones.append(clarabel.NonnegativeConeT(count))
        first, *others = convex.parts
        for part in others:
            f = len(part.F)
            # ‖Fx‖² ≤ 2s for s = c - hᵀx: (s + ½, s - ½, Fx) is in the cone.
            cone = np.zeros((2 + f, n + 1))
            cone[:2, :n], cone[2:, :n] = part.h, -part.F
            rows.append(cone)
            sides.append(np.concatenate([[part.c + 0.5, part.c - 0.5], np.zeros(f)]))
            cones.append(clarabel.SecondOrderConeT(2 + f))
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        P = np.zeros((n + 1, n + 1))
        P[:n, :n] = first.H / unit
        solver = clarabel.DefaultSolver(
            sparse.csc_matrix(np.triu(P)), np.append(first.h / unit, 1.0),
            sparse.csc_matrix(np.vstack(rows)), np.concatenate(sides), cones, settings,
        )  # fmt: skip
        solution = solver.solve()
        x, z = np.array(solution.x), unit * np.array(solution.z)
        return _Found(str(solution.status), x[:n], unit * float(x[n]), z)

    def _cuts(self, hinged: bool) -> tuple[Array, Array]:
        """The tangents of the hinges; of nothing the first one, which is 0."""
        kept = self.tangents if hinged else self.tangents[:1]
        return np.array([a for a, _ in kept]), np.array([b for _, b in kept])

    def _held(self, convex: _Convex, z: Array) -> _Held:
        """The multipliers of a solver, without those of the ranges of variables."""
        body, cuts = self.program.base.feasible, len(self._cuts(convex.hinged)[1])
        m, k, d = body.h.size, body.b.size, self.V.shape[1]
        pieces = np.split(z, np.cumsum([k, cuts, m, d, d]))
        shares, own, above, below = (np.maximum(one, 0.0) for one in pieces[1:5])
        total = float(shares.sum())
        shares = shares / total if total > 0.0 else np.eye(cuts)[0]
        ends = np.cumsum([0, *(2 + len(part.F) for part in convex.parts[1:])])
        last = z[z.size - ends[-1] :]
        parts = np.array([max(float(last[k : k + 2].sum()), 0.0) for k in ends[:-1]])
        return _Held(shares, np.concatenate([own, pieces[0]]), parts, above - below)

    def _certain(self, convex: _Convex, held: _Held, x: Array, low: Array, high: Array) -> float:
        """A lower bound on a node from any multipliers.

        What a solver leaves of the slopes costs the range of a variable, so that all of them are
        corrected once, and the better bound counts.
        """
        body, best = self.program.base.feasible, -np.inf
        m = body.h.size
        rows = body.columns.toarray() if body.rhs.size else np.zeros((x.size, 0))
        room = _INSIDE * (self.ends.high - self.ends.low)
        for corrected in (False, True):
            bound, slope, P = self._bounded(convex, held, x, low, high)
            best = max(best, bound)
            if corrected:
                break
            inside = (x > self.ends.low + room) & (x < self.ends.high - room)
            bent = [part.H @ x + part.h for part in convex.parts[1:]]
            columns = np.column_stack([P[:, inside], rows, *bent, self.V])[inside]
            step = np.linalg.lstsq(columns, -slope[inside], rcond=None)[0]
            ends = np.cumsum([inside.sum(), body.rhs.size, len(bent)])
            dx, direct, parts, net = np.split(step, ends)
            x = x.copy()
            x[inside] += dx
            x = np.clip(x, *self.ends)
            direct = held.direct + direct
            direct[:m] = np.maximum(direct[:m], 0.0)
            parts = np.maximum(held.parts + parts, 0.0)
            held = _Held(held.cuts, direct, parts, held.net + net)
        return best

    def _bounded(
        self, convex: _Convex, held: _Held, x: Array, low: Array, high: Array
    ) -> tuple[float, Array, Array]:
        """The bound of a Lagrangian, and its gradient and matrix.

        It is convex, and so at least its tangent at x, which is least at a corner of the ends of
        the variables.
        """
        body, hinges, ends = self.program.base.feasible, self.program.hinges, self.ends
        tangents, offsets = self._cuts(convex.hinged)
        paid = np.maximum(held.net, 0.0) * high, np.maximum(-held.net, 0.0) * low
        linear = held.cuts @ tangents + body.columns @ held.direct + self.V @ held.net
        size = abs(body.columns) @ np.abs(held.direct) + np.abs(self.V) @ np.abs(held.net)
        numbers = [float(held.cuts @ offsets), -float(held.direct @ body.rhs)]
        numbers += [float(paid[1].sum()), -float(paid[0].sum())]
        whole = _combined(np.append(1.0, held.parts), convex.parts)
        numbers.append(-whole.c)
        terms, P = float(np.abs(paid).sum()) + whole.room, whole.H
        if convex.hinged:
            size = size + hinges.costs @ np.abs(hinges.R)
            terms += float(hinges.costs @ np.abs(hinges.r))
        linear, size = linear + whole.h, size + whole.size
        slope = P @ x + linear
        corner = np.minimum(slope * (ends.low - x), slope * (ends.high - x))
        value = 0.5 * float(x @ (P @ x)) + float(linear @ x) + sum(numbers) + float(corner.sum())
        reach = np.maximum(np.abs(ends.low), np.abs(ends.high))
        terms += float(reach @ (np.abs(P) @ reach + size)) + sum(map(abs, numbers))
        count = 2.0 * x.size + held.cuts.size + held.direct.size
        count += 4.0 * held.net.size + 16.0
        curved = float(np.linalg.norm(P)) + self.norm * (1.0 + float(held.parts.sum()))
        error = count * EPS * terms + (self.defect + 4.0 * EPS) * curved * float(reach @ reach)
        if P.any() or linear.any():
            error += TINY * (1.0 + float(reach.sum()))  # of underflow
        return value - error, slope, P


class _Split(NamedTuple):
    """M = M₊ - V diag(minus) Vᵀ with the positive semidefinite M₊ = FᵀF, up to rounding."""

    plus: Array
    F: Array
    minus: Array
    V: Array


def _split(M: Array) -> _Split:
    if _is_diagonal(M):  # without rounding, for which there is no room then
        values, vectors, zero = np.diagonal(M), np.eye(len(M)), 0.0
    else:
        values, vectors = np.linalg.eigh(M)
        zero = _NEGLIGIBLE * float(np.abs(values).max(initial=0.0))
    plus, minus = values > zero, values < -zero
    kept = vectors[:, plus]
    F = (kept * np.sqrt(values[plus])).T
    return _Split((kept * values[plus]) @ kept.T, F, -values[minus], vectors[:, minus])


def _merged(parts: list[tuple[Array, Array]]) -> tuple[Array, list[Array]]:
    """The different directions of several matrices, and the weights that each has for them."""
    V = np.hstack([vectors for _, vectors in parts])
    same = np.eye(V.shape[1], dtype=bool)
    for i, j in np.argwhere(np.triu(np.abs(V.T @ V) > 0.9, 1)):
        apart = [np.max(np.abs(V[:, i] + sign * V[:, j])) for sign in (-1.0, 1.0)]
        same[i, j] = same[j, i] = min(apart) <= 8.0 * EPS  # which the defect allows for
    kept, place = np.unique([int(np.flatnonzero(one)[0]) for one in same], return_inverse=True)
    kept = kept.astype(int)
    ends = np.cumsum([0, *(sizes.size for sizes, _ in parts)])
    weights = [np.zeros(kept.size) for _ in parts]
    for k, (sizes, _) in enumerate(parts):
        np.add.at(weights[k], place[ends[k] : ends[k + 1]], sizes)
    return V[:, kept], weights


def _is_diagonal(M: Array) -> bool:
    return not np.any(M - np.diag(np.diagonal(M)))
