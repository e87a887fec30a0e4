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
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import SolverFailed
from indefinite_opt.foundation import EPS, Array, clock, one_thread

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

_EVERY = 40
"""Nodes after which that procedure starts from a new point."""

_FACES = 3000
"""Most boxes of directions that are examined to prove that points far away are not better."""

_GROWTH, _LARGEST = 8.0, 1e9
"""Factor between the ranges that are tried for variables without ends, and the last of them."""


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


class _Side(NamedTuple):
    """½xᵀHx - Σ ½τ_j(v_jᵀx)² + hᵀx ≤ c with the positive semidefinite H = FᵀF."""

    F: Array
    H: Array
    tau: Array
    h: Array
    c: float
    size: Array
    """The absolute terms of h."""
    room: float
    """Those of c."""


class _Node(NamedTuple):
    bound: float
    number: int
    low: Array
    high: Array
    x: Array
    multipliers: Array
    """Of the sides of the quadratic row."""


class _Convex(NamedTuple):
    """min ½xᵀPx + qᵀx + constant, with the hinges or without, where the sides hold without τ."""

    P: Array
    q: Array
    constant: float
    sides: list[_Side]
    size: Array
    """The absolute terms of q."""
    room: float
    """Those of the constant."""
    hinged: bool = True


class _Found(NamedTuple):
    status: str
    x: Array
    t: float
    z: Array


class _Held(NamedTuple):
    """Multipliers: shares of the tangents, of rows and equations, of the sides, and of the
    directions, positive for upper ends."""

    cuts: Array
    direct: Array
    sides: Array
    net: Array


class Tree:
    """The tree of a `QuadraticRowProgram` whose optimum is between ends."""

    def __init__(self, program: Any, ends: Ends) -> None:
        self.program, self.ends = program, ends
        n, row = program.n, program.row
        P, plus = program.base.P, [(row.G, row.g, row.c)]
        if row.equal:
            plus.append((-row.G, -row.g, -row.c))
        splits = [_split(P), *(_split(H) for H, _, _ in plus)]
        self.V, (self.sigma, *taus) = _merged([(one.minus, one.V) for one in splits])
        self.P = splits[0].plus
        self.sides = [
            _Side(split.F, split.plus, tau, h, c, np.abs(h), abs(c))
            for split, (_, h, c), tau in zip(splits[1:], plus, taus, strict=True)
        ]
        self._along = np.linalg.pinv(self.V)
        exact = np.isin(np.abs(self.V), (0.0, 1.0)).all() and _is_diagonal(P, row.G)
        self.defect = 0.0 if exact else 32.0 * n * EPS
        self.norm = float(np.linalg.norm(P) + np.linalg.norm(row.G))
        self.tangents: list[tuple[Array, float]] = [(np.zeros(n), 0.0)]
        self.best = np.inf
        self.point: Array | None = None
        self.nodes = 0
        self.lower, self._open, self._count = -np.inf, list[_Node](), itertools.count()
        self._started, self._prices = False, (0.0, 0)
        """The sum and the number of multipliers that are not small."""

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
        divisible = self.sigma.size > 0
        while divisible and self._open and clock() < end and self.nodes < most:
            node = heapq.heappop(self._open)
            if node.bound >= self.allowed:
                self._open.clear()
                break
            if self.nodes % _EVERY == 1:
                self.improve(node.x)
            for low, high in self._halves(node):
                self._examine(low, high, node.bound)
            if report is not None and report(self._bound()):
                break
        self.lower = self._bound()

    def _bound(self) -> float:
        """The least bound of all nodes, or what those that were left out allow."""
        return min((node.bound for node in self._open), default=self.allowed)

    def _start(self) -> None:
        self._started = True
        reach = self.V.T * self.ends.low, self.V.T * self.ends.high
        low, high = np.minimum(*reach).sum(axis=1), np.maximum(*reach).sum(axis=1)
        room = self.defect * (np.abs(low) + np.abs(high))
        low, high = low - room, high + room
        middle = 0.5 * (self.ends.low + self.ends.high)
        for start in (np.clip(np.zeros(self.program.n), *self.ends), middle):
            self._add(start)
            self.offer(start)
            self.improve(start)
        self._examine(low, high, -np.inf)
        if self._open:
            self.improve(self._open[0].x)

    def _halves(self, node: _Node) -> Iterator[tuple[Array, Array]]:
        """Two nodes of one, divided along the direction whose secants leave most open.

        The row counts with its multiplier, and at least with a usual one if the point violates it.
        """
        y = np.clip(self.V.T @ node.x, node.low, node.high)
        width, over = node.high - node.low, self.program.row.value(node.x)
        weight = self.sigma.copy()
        usual = self._prices[0] / max(self._prices[1], 1.0) or 1.0
        for k, side in enumerate(self.sides):
            missed = (-1.0) ** k * over > 0.0
            weight += max(node.multipliers[k], usual if missed else 0.0) * side.tau
        cost = weight * (y - node.low) * (node.high - y)
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

    def _examine(self, low: Array, high: Array, floor: float) -> None:
        """Bound a node, and keep it unless it is empty or cannot be better."""
        self.nodes += 1
        convex = self._secants(low, high)
        bound, multipliers = floor, np.zeros(len(self.sides))
        x = np.clip(self._along.T @ (0.5 * (low + high)), *self.ends)
        for _ in range(3):
            found = self._solved(convex, low, high)
            if "Infeasible" in found.status and self._is_empty(convex, found, low, high):
                return
            if "Solved" not in found.status:
                break
            x = np.clip(found.x, *self.ends)
            bound = max(bound, self._certain(convex, found, x, low, high))
            if bound >= self.allowed:
                return
            multipliers = self._multipliers(convex, found.z)
            missed = self.program.hinges.value(x) - found.t
            if not missed > 0.3 * (self.best - bound):
                break
            self._add(x)
        self.offer(x)
        held = float(multipliers.max())
        self._prices = self._prices[0] + held, self._prices[1] + (held > 1e-6 * abs(bound))
        heapq.heappush(self._open, _Node(bound, next(self._count), low, high, x, multipliers))

    def _is_empty(self, convex: _Convex, found: _Found, low: Array, high: Array) -> bool:
        """Whether a node is proved to have no point: a combination of its quadratic parts is
        positive, or its linear rows and ends contradict each other."""
        multipliers = self._multipliers(convex, found.z)
        total = float(multipliers.sum())
        shares = multipliers / total if total > 0.0 else multipliers
        pairs = [*zip(shares, convex.sides, strict=True)]
        P = sum((k * part.H for k, part in pairs), 0.0 * self.P)
        q = sum((k * part.h for k, part in pairs), 0.0 * convex.q)
        size = sum((k * part.size for k, part in pairs), 0.0 * convex.q)
        room = sum(k * part.room for k, part in pairs)
        least = _Convex(P, q, -sum(k * part.c for k, part in pairs), [], size, room, hinged=False)
        lowest = self._solved(least, low, high)
        if "Infeasible" in lowest.status:
            least = least._replace(P=0.0 * P, q=0.0 * q, constant=0.0)
        return self._certain(least, lowest, np.clip(lowest.x, *self.ends), low, high) > 0.0

    def _add(self, x: Array) -> None:
        if not self.program.hinges.costs.size:
            return
        self.tangents.append(self.program.hinges.tangent(x))
        if len(self.tangents) > _MOST_TANGENTS:
            del self.tangents[1 : _MOST_TANGENTS // 3]

    def offer(self, x: Array) -> bool:
        """Keep a point near x that surely is feasible, if it is better than the best one."""
        found = self.program.surely_feasible(np.clip(x, *self.ends))
        if found is None or not found[1] < self.best:
            return False
        self.point, self.best = found
        return True

    def improve(self, x: Array) -> None:
        """The convex-concave procedure: what is concave is replaced by its tangent at a point."""
        low, high = np.full(self.sigma.size, -np.inf), np.full(self.sigma.size, np.inf)
        for _ in range(_STEPS):
            convex = self._tangents(x)
            for _ in range(6):
                found = self._solved(convex, low, high)
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

    def _secants(self, low: Array, high: Array) -> _Convex:
        """The program below that of a node."""
        return self._replaced(0.5 * (low + high), low * high)

    def _tangents(self, x: Array) -> _Convex:
        """The program above the whole one, which is the same at x to first order."""
        y = self.V.T @ x
        return self._replaced(y, y * y)

    def _replaced(self, middle: Array, product: Array) -> _Convex:
        """With middle·y - ½product in place of ½y² for the directions y that are concave."""
        V, sides = self.V, []
        for one in self.sides:
            h, half = one.tau * middle, 0.5 * one.tau
            size, room = np.abs(V) @ np.abs(h), float(half @ np.abs(product))
            sides.append(one._replace(
                h=one.h - V @ h, c=one.c - float(half @ product), size=one.size + size,
                room=one.room + room,
            ))  # fmt: skip
        q, base = self.sigma * middle, self.program.base.q
        size = np.abs(base) + np.abs(V) @ np.abs(q)
        constant, room = (0.5 * float(self.sigma @ one) for one in (product, np.abs(product)))
        return _Convex(self.P, base - V @ q, constant, sides, size, room)

    def _solved(self, convex: _Convex, low: Array, high: Array) -> _Found:
        """The solution in x and t ≥ the hinges, by Clarabel, with ends of y and of x."""
        import clarabel
        from scipy import sparse

        n, body = self.program.n, self.program.base.feasible
        unit = abs(self.best) if convex.hinged and np.isfinite(self.best) and self.best else 1.0
        tangents, offsets = self._cuts(convex.hinged)
        k, m = np.isfinite(low), body.h.size
        dense = body.rows.toarray() if body.rhs.size else np.zeros((0, n))
        V = self.V.T[k]
        blocks = [dense[m:], tangents / unit, dense[:m], V, -V, np.eye(n), -np.eye(n)]
        sides = [body.rhs[m:], -offsets / unit, body.rhs[:m], high[k], -low[k]]
        sides += [self.ends.high, -self.ends.low]
        last = [np.full((len(block), 1), -1.0 if j == 1 else 0.0) for j, block in enumerate(blocks)]
        rows = [np.hstack(pair) for pair in zip(blocks, last, strict=True)]
        count = sum(map(len, blocks[1:]))
        cones = [clarabel.ZeroConeT(len(dense) - m)] if len(dense) > m else []
        cones.append(clarabel.NonnegativeConeT(count))
        for part in convex.sides:
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
        P[:n, :n] = convex.P / unit
        solver = clarabel.DefaultSolver(
            sparse.csc_matrix(np.triu(P)), np.append(convex.q / unit, 1.0),
            sparse.csc_matrix(np.vstack(rows)), np.concatenate(sides), cones, settings,
        )  # fmt: skip
        solution = solver.solve()
        x, z = np.array(solution.x), unit * np.array(solution.z)
        return _Found(str(solution.status), x[:n], unit * float(x[n]), z)

    def _cuts(self, hinged: bool) -> tuple[Array, Array]:
        """The tangents of the hinges; of nothing the first one, which is 0."""
        kept = self.tangents if hinged else self.tangents[:1]
        return np.array([a for a, _ in kept]), np.array([b for _, b in kept])

    def _multipliers(self, convex: _Convex, z: Array) -> Array:
        """Those of the quadratic parts, the last ones of a solver."""
        ends = np.cumsum([0, *(2 + len(part.F) for part in convex.sides)])
        own = z[z.size - ends[-1] :]
        return np.array([max(float(own[k : k + 2].sum()), 0.0) for k in ends[:-1]])

    def _certain(self, convex: _Convex, found: _Found, x: Array, low: Array, high: Array) -> float:
        """A lower bound on a node from any multipliers.

        What a solver leaves of the slopes costs the range of a variable, so that all of them are
        corrected once, and the better bound counts.
        """
        body, cuts = self.program.base.feasible, len(self._cuts(convex.hinged)[1])
        m, k, d = body.h.size, body.b.size, self.sigma.size
        pieces = np.split(found.z, np.cumsum([k, cuts, m, d, d]))
        shares, own, above, below = (np.maximum(one, 0.0) for one in pieces[1:5])
        total, best = float(shares.sum()), -np.inf
        shares = shares / total if total > 0.0 else np.eye(cuts)[0]
        held = _Held(
            shares, np.concatenate([own, pieces[0]]), self._multipliers(convex, found.z),
            above - below,
        )  # fmt: skip
        rows = body.columns.toarray() if body.rhs.size else np.zeros((x.size, 0))
        room = _INSIDE * (self.ends.high - self.ends.low)
        for corrected in (False, True):
            bound, slope, P = self._bounded(convex, held, x, low, high)
            best = max(best, bound)
            if corrected:
                break
            inside = (x > self.ends.low + room) & (x < self.ends.high - room)
            bent = [side.H @ x + side.h for side in convex.sides]
            columns = np.column_stack([P[:, inside], rows, *bent, self.V])[inside]
            step = np.linalg.lstsq(columns, -slope[inside], rcond=None)[0]
            ends = np.cumsum([inside.sum(), m + k, len(bent)])
            dx, direct, sides, net = np.split(step, ends)
            x = x.copy()
            x[inside] += dx
            x = np.clip(x, *self.ends)
            direct = held.direct + direct
            direct[:m] = np.maximum(direct[:m], 0.0)
            held = _Held(shares, direct, np.maximum(held.sides + sides, 0.0), held.net + net)
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
        linear = convex.q + held.cuts @ tangents + body.columns @ held.direct + self.V @ held.net
        size = convex.size + abs(body.columns) @ np.abs(held.direct)
        size = size + np.abs(self.V) @ np.abs(held.net)
        parts = [convex.constant, float(held.cuts @ offsets), -float(held.direct @ body.rhs)]
        parts += [float(paid[1].sum()), -float(paid[0].sum())]
        terms = float(np.abs(paid).sum()) + convex.room
        if convex.hinged:
            size = size + hinges.costs @ np.abs(hinges.R)
            terms += float(hinges.costs @ np.abs(hinges.r))
        P = convex.P
        for one, side in zip(held.sides, convex.sides, strict=True):
            P, linear = P + one * side.H, linear + one * side.h
            size, terms = size + one * side.size, terms + one * side.room
            parts.append(-one * side.c)
        slope = P @ x + linear
        corner = np.minimum(slope * (ends.low - x), slope * (ends.high - x))
        value = 0.5 * float(x @ (P @ x)) + float(linear @ x) + sum(parts) + float(corner.sum())
        reach = np.maximum(np.abs(ends.low), np.abs(ends.high))
        terms += float(reach @ (np.abs(P) @ reach + size)) + sum(map(abs, parts))
        count = 2.0 * x.size + held.cuts.size + held.direct.size
        count += 4.0 * held.net.size + 16.0
        curved = float(np.linalg.norm(P)) + self.norm * (1.0 + float(held.sides.sum()))
        error = count * EPS * terms + (self.defect + 4.0 * EPS) * curved * float(reach @ reach)
        return value - error, slope, P


class _Split(NamedTuple):
    """M = M₊ - V diag(minus) Vᵀ with the positive semidefinite M₊ = FᵀF, up to rounding."""

    plus: Array
    F: Array
    minus: Array
    V: Array


def _split(M: Array) -> _Split:
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


def _is_diagonal(*matrices: Array) -> bool:
    return all(not np.any(M - np.diag(np.diagonal(M))) for M in matrices)


def extent(program: Any) -> Ends:
    """Ends of every variable at an optimum.

    Those of the rows and bounds where they are finite. Other variables have ±R for the least R that
    is tried for which every point with a larger entry is proved to be worse than a known one.

    Raises
    ------
    SolverFailed
        If none of them is proved.
    """
    low, high = program.base.feasible.intervals
    if np.isfinite(low).all() and np.isfinite(high).all():
        return Ends(low, high)
    starts = [np.clip(np.zeros(program.n), low, high)]
    starts += [np.clip(k * program.row.slope(starts[0]), low, high) for k in (1.0, -1.0)]
    found = [program.surely_feasible(one) for one in starts]
    best = min((one[1] for one in found if one is not None), default=np.inf)
    row, q = program.row, program.base.q
    multipliers = {program.pencil.shift} | (set() if row.equal else {0.0})
    falls = q * row.g < 0.0  # as for t in `a(u) <= t`
    multipliers |= set((-2.0 * q[falls] / row.g[falls]).tolist())
    forms = [_Form.of(program, k) for k in multipliers]
    reach = _GROWTH**-3
    while np.isfinite(best) and reach < _LARGEST:
        if _nothing_beyond(program, forms, Ends(low, high), reach, best):
            return Ends(np.maximum(low, -reach), np.minimum(high, reach))
        reach *= _GROWTH
    raise SolverFailed(
        "branch and bound needs a range of each variable, and found none that is proved to have an "
        "optimum; give the variables finite bounds"
    )


def _nothing_beyond(
    program: Any, forms: list[_Form], ends: Ends, reach: float, best: float
) -> bool:
    """Whether every feasible x with an entry beyond ±reach, where that has no end, is worse.

    The variables without two ends are tv with t ≥ reach and a largest entry ±1 of v. The faces of
    such v, and the ranges of the others, are divided into boxes. It suffices in each that a
    Lagrangian below the objective, ½mt² + st + k, is above the best at t = reach, and rises.
    """
    far = ~(np.isfinite(ends.low) & np.isfinite(ends.high))
    low = np.where(far, np.maximum(np.minimum(ends.low / reach, 0.0), -1.0), ends.low)
    high = np.where(far, np.minimum(np.maximum(ends.high / reach, 0.0), 1.0), ends.high)
    stack = []
    for j in map(int, np.flatnonzero(far)):
        for sign in (-1.0, 1.0):
            if low[j] <= sign <= high[j]:
                face = low.copy(), high.copy()
                face[0][j] = face[1][j] = sign
                stack.append(face)
    for _ in range(_FACES):
        if not stack:
            return True
        low, high = stack.pop()
        a, b = program.hinges.recession(np.where(far, 0.5 * (low + high), 0.0))
        if not any(form.rises(a, b, low, high, far, reach, best) for form in forms):
            width = (high - low) / np.where(far, 1.0, reach)
            j = int(np.argmax(width))
            if width[j] < 1e-9:
                return False
            middle = 0.5 * (low[j] + high[j])
            for part in ((low[j], middle), (middle, high[j])):
                face = low.copy(), high.copy()
                face[0][j], face[1][j] = part
                stack.append(face)
    return False


class _Form(NamedTuple):
    """½xᵀMx + lᵀx - k of a Lagrangian without its hinges, and the rounding of its numbers."""

    M: Array
    error: Array
    slope: Array
    slope_error: Array
    constant: float
    constant_error: float

    @classmethod
    def of(cls, program: Any, multiplier: float) -> _Form:
        base, row, hinges = program.base, program.row, program.hinges
        M, slope = base.P + multiplier * row.G, base.q + multiplier * row.g
        exact = np.vectorize(_is_sum, otypes=[bool])(M, base.P, multiplier, row.G)
        error = np.where(exact, 0.0, 2.0 * EPS * (np.abs(base.P) + abs(multiplier) * np.abs(row.G)))
        count = 16.0 * EPS
        sizes = np.abs(base.q) + np.abs(multiplier * row.g) + hinges.costs @ np.abs(hinges.R)
        constant = abs(multiplier * row.c) + float(hinges.costs @ np.abs(hinges.r))
        return cls(M, error, slope, count * sizes, -multiplier * row.c, count * constant)

    def rises(
        self,
        a: Array,
        b: float,
        low: Array,
        high: Array,
        far: NDArray[np.bool_],
        reach: float,
        best: float,
    ) -> bool:
        """Whether the Lagrangian with the hinges aᵀx + b is above the best, and rises with t."""
        corners = np.array([np.outer(u, v) for u in (low, high) for v in (low, high)])
        least, most = corners.min(axis=0), corners.max(axis=0)
        np.fill_diagonal(least, np.where(low * high <= 0.0, 0.0, np.minimum(low**2, high**2)))
        sizes = np.maximum(np.abs(least), np.abs(most))
        count = 2.0 * EPS * (self.M.size + 8.0)
        products = 0.5 * np.minimum(self.M * least, self.M * most)
        products -= 0.5 * (self.error + count * np.abs(self.M)) * sizes
        slope = np.minimum((self.slope + a) * low, (self.slope + a) * high)
        slope -= (self.slope_error + count * np.abs(self.slope + a)) * np.abs([low, high]).max(0)
        power = far[:, None] * 1 + far
        m, s, k = (float(products[power == degree].sum()) for degree in (2, 1, 0))
        s, k = s + float(slope[far].sum()), k + float(slope[~far].sum())
        rises = m >= 0.0 and 2.0 * m * reach + s > 0.0
        k += self.constant + b - self.constant_error
        value = m * reach**2 + s * reach + k - 1e-12 * (abs(s) * reach + abs(k))
        return bool(rises and value > best)


def _is_sum(total: float, first: float, multiplier: float, second: float) -> bool:
    """Whether a number is exactly first + multiplier · second."""
    return Fraction(total) == Fraction(first) + Fraction(multiplier) * Fraction(second)
