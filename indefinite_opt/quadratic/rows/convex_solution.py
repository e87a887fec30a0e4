"""Convex programs with rows by Clarabel or HiGHS, and the exact end of the face they come to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array, TimeLimitReached, Values, afford, clock
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.matrices.sparse import compressed, rows_of
from indefinite_opt.quadratic.rows.polyhedron import Polyhedron
from indefinite_opt.quadratic.rows.to_highs import (
    highs_model,
    run_within,
    set_tolerance,
    simplex_limit,
)

_REGULAR = 1e-9
"""Regularisation of the equations of a face, beside the largest entry of P or 1."""

_DENSE_ORDER = 100
"""Order up to which the equations of a face are solved as dense ones, which takes less time."""

_MOST_LOST = 0.1
"""Residual beside a right-hand side of 1 that iterative refinement removes in some steps."""

_REFINEMENTS = 6
"""Steps of iterative refinement, which remove what the regularisation changes."""

_VANISHED = 1e-12
"""Share of what an entry was before refinement below which it is 0."""

_NOTHING = 1e-25
"""Share of the largest entry below which others are what rounding leaves of 0."""

_ROUNDING = 1e-11
"""Share of its terms by which a row or a multiplier may be wrong on a face."""

_TOGETHER, _TINY_STEP = 4.0, 1e-9
"""Constraints that block the way to the end of a face together with the first one: those in at most
so many times its step, or in a step as small as that."""

_WIDEST_QUOTIENT = 6.0
"""Logarithm of quotients of slacks and multipliers beyond which a constraint is certainly active or
not."""

ATTEMPTS = (1e-9, 400_000, 8), (1e-13, 1_500_000, 20)
"""Tolerances of Clarabel, and most entries of all factors of faces, and most of these in turn, that
are tried after it: the second attempt is for where the first one has come to no exact end."""

_BASIS_TOLERANCE = 1e-9
"""Tolerance of HiGHS, whose last basis is then optimal up to rounding."""

_MAX_ITER = 200

_FAR, _RESIDUE = 1e10, 1e-13
"""Times the least size of a right-hand side from which on others are far away: beside them solvers
may see nothing else; and share of the first quartile of sizes below which one is rounding."""

_SETUP, _LEAST_ITERATIONS = 8000.0, 8
"""Operations by which Clarabel sets up an entry, and factorisations that a solution takes."""

Mask = NDArray[np.bool_]
Indices = NDArray[np.integer[Any]]


class Active(NamedTuple):
    """Constraints that hold as equations: rows, and lower and upper bounds of variables."""

    rows: Mask
    low: Mask
    high: Mask

    def onto(self, x: Array, body: Polyhedron) -> Array:
        """x with the variables at bounds moved to these."""
        return np.where(self.low, body.lower, np.where(self.high, body.upper, x))


class ConvexSolution(NamedTuple):
    """Where a solver, or the face that it comes to, has ended."""

    x: Array
    multipliers: Array
    """Multipliers of all rows, (m + k,)."""
    reduced: Array
    """What the multipliers of the bounds balance: those of lower ends are positive, (n,)."""
    solver: str
    status: str
    iterations: int
    face: Active | None = None
    """Rows and bounds of the basis that it has ended at."""
    exact: bool = False
    """Whether constraints and first-order conditions hold up to rounding."""
    before: Array | None = None
    """The point of the solver itself, where x is the end of a face."""
    early: bool = False
    """Whether a time limit has ended the search for a more accurate one."""

    def by_kind(self, body: Polyhedron) -> Values:
        """The multipliers of rows and bounds by their kinds."""
        z, y = np.split(self.multipliers, [body.h.size])
        low = np.where(np.isfinite(body.lower), np.maximum(self.reduced, 0.0), 0.0)
        high = np.where(np.isfinite(body.upper), np.maximum(-self.reduced, 0.0), 0.0)
        return {"inequalities": z, "equalities": y, "lower": low, "upper": high}


def convex_solution(
    P: Any, q: Array, body: Polyhedron, seconds: float = np.inf,
    attempts: tuple[tuple[float, int, int], ...] = ATTEMPTS,
) -> ConvexSolution | None:  # fmt: skip
    """The solution of ½xᵀPx + qᵀx on a polyhedron, exact on its face if that is found.

    P is sparse and positive semidefinite. Without curvature HiGHS solves the program, and Clarabel
    otherwise, in one or more `attempts` until one is exact. None if the solver has no solution;
    `TimeLimitReached` if it has not ended in time.
    """
    last = None
    for tolerance, work, most in attempts if P.nnz else attempts[:1]:
        began = clock()
        try:
            found = _by_solver(P, q, body, tolerance, seconds)
        except TimeLimitReached:
            if last is None:
                raise
            return last._replace(early=True)
        seconds -= clock() - began
        if found is None:
            break
        last, faces = found, _Faces(P, q, body, found, work, most)
        for face in faces.likely():
            exact = faces.end(face)
            if exact is not None:
                return exact
    return last


def _by_highs(P: Any, q: Array, body: Polyhedron, seconds: float) -> ConvexSolution | None:
    import highspy

    low = np.where(body.are_equations, body.rhs, -np.inf)
    form = StandardForm(1, q, body.lower, body.upper, low, body.rhs, body.rows)
    highs = highs_model(form)
    set_tolerance(highs, _BASIS_TOLERANCE)
    status = run_within(highs, seconds, simplex_limit(sum(body.rows.shape)))
    if status == highspy.HighsModelStatus.kTimeLimit:
        raise TimeLimitReached("HiGHS did not end in time")
    if status != highspy.HighsModelStatus.kOptimal:
        return None
    answer, words = highs.getSolution(), highs.modelStatusToString(status)
    x, rows = np.array(answer.col_value), -np.array(answer.row_dual)
    x = np.clip(x, body.lower, body.upper)
    rows = np.where(body.are_equations, rows, np.maximum(rows, 0.0))
    basis, kinds = highs.getBasis(), highspy.HighsBasisStatus
    basic = np.array([kind == kinds.kBasic for kind in basis.row_status], dtype=bool)
    low, high = (
        np.array([kind == end for kind in basis.col_status]) for end in (kinds.kLower, kinds.kUpper)
    )
    count = max(int(highs.getInfo().simplex_iteration_count), 0)
    reduced, face = q + body.columns @ rows, Active(~basic | body.are_equations, low, high)
    return ConvexSolution(x, rows, reduced, "highs", words, count, face if low.size else None)


def _by_solver(
    P: Any, q: Array, body: Polyhedron, tolerance: float, seconds: float
) -> ConvexSolution | None:
    """The solution of Clarabel, or without curvature of HiGHS."""
    if P.nnz:

        def solved(rows: Polyhedron) -> ConvexSolution | None:
            return _by_clarabel(P, q, rows, tolerance, seconds)

        return solved(body) or _without_far_rows(body, solved)

    # Vertices on rows that are far away are so, too, and their objective is rounded.
    def found(rows: Polyhedron) -> ConvexSolution | None:
        return _by_highs(P, q, rows, seconds)

    return _without_far_rows(body, found) or found(body)


def _without_far_rows(
    body: Polyhedron, solved: Callable[[Polyhedron], ConvexSolution | None]
) -> ConvexSolution | None:
    """The solution without inequalities that are far away, if it satisfies these as well."""
    largest = body.largest
    with np.errstate(over="ignore"):
        zeros = np.zeros(body.rhs.size)
        sizes = np.divide(np.abs(body.rhs), largest, out=zeros, where=largest > 0.0)
    known = np.sort(sizes[sizes > 0.0])
    if not known.size:
        return None
    # What a modelling tool has rounded is no size.
    least = float(known[known > _RESIDUE * known[known.size // 4]][0])
    far = ~body.are_equations & (body.rhs > 0.0) & (sizes > _FAR * least)
    if not far.any():
        return None
    G, A = body.given_rows
    kept = np.flatnonzero(~far)
    near = kept[kept < body.h.size]
    found = solved(Polyhedron(G[near], body.h[near], A, body.b, body.lower, body.upper))
    if found is None or np.any((body.rows @ found.x > body.rhs)[far]):
        return None
    multipliers, face = np.zeros(body.rhs.size), found.face
    multipliers[kept] = found.multipliers
    if face is not None:
        held = np.zeros(body.rhs.size, dtype=bool)
        held[kept] = face.rows
        face = face._replace(rows=held)
    return found._replace(multipliers=multipliers, face=face)


def _by_clarabel(
    P: Any, q: Array, body: Polyhedron, tolerance: float, seconds: float
) -> ConvexSolution | None:
    import clarabel
    from scipy import sparse

    # It looks at no clock before the first factorisation has ended.
    entries, work = 0.5 * P.nnz + body.rows.nnz, _factorisation(P, body.rows)
    afford(_SETUP * entries + _LEAST_ITERATIONS * work)
    low, high = np.flatnonzero(np.isfinite(body.lower)), np.flatnonzero(np.isfinite(body.upper))
    m, k, n = body.h.size, body.b.size, body.n
    order = np.concatenate([np.arange(m, m + k), np.arange(m)])  # equations come first
    starts = body.rows.indptr
    part = rows_of(body.rows, order) if m and k else body.rows
    ends = np.concatenate([low, high])
    rows = compressed(
        np.concatenate([part.data, np.repeat([-1.0, 1.0], [low.size, high.size])]),
        np.concatenate([part.indices, ends]),
        np.concatenate([part.indptr, starts[-1] + 1 + np.arange(ends.size)]), n,
    )  # fmt: skip
    right = np.concatenate([body.rhs[order], -body.lower[low], body.upper[high]])
    settings: Any = clarabel.DefaultSettings()
    settings.verbose, settings.max_iter = False, _MAX_ITER
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    if np.isfinite(seconds):
        settings.time_limit = max(seconds, 1e-3)
    cones = [clarabel.ZeroConeT(k), clarabel.NonnegativeConeT(right.size - k)]
    # The upper triangle by columns is the lower one by rows.
    columns = np.repeat(np.arange(n), np.diff(P.indptr))
    kept = P.indices <= columns
    starts = np.concatenate([[0], np.cumsum(np.bincount(columns[kept], minlength=n))])
    half = sparse.csc_array((P.data[kept], P.indices[kept], starts), shape=(n, n))
    solver = clarabel.DefaultSolver(half, q, rows.tocsc(), right, cones, settings)
    found = solver.solve()
    if str(found.status) == "MaxTime":
        raise TimeLimitReached("Clarabel did not end in time")
    x, dual = np.asarray(found.x), np.asarray(found.z)
    solved = str(found.status) in ("Solved", "AlmostSolved")
    if not (solved and np.isfinite(x).all() and np.isfinite(dual).all()):
        return None
    multipliers, reduced = np.zeros(m + k), np.zeros(n)
    multipliers[order] = dual[: m + k]
    np.add.at(reduced, low, dual[m + k :][: low.size])
    np.subtract.at(reduced, high, dual[m + k + low.size :])
    return ConvexSolution(
        x, multipliers, reduced, "clarabel", str(found.status), int(found.iterations)
    )


def _factorisation(P: Any, rows: Any) -> float:
    """Operations of a factorisation of (P Rᵀ; R D) without fill, all of them where P is dense."""
    lengths, widths = np.diff(P.indptr).astype(float), np.diff(rows.indptr).astype(float)
    return float(lengths @ lengths / 3.0 + np.minimum(widths**2, P.nnz).sum())


class _Faces:
    """Faces near a solution, one of which has the optimum as its stationary point."""

    def __init__(
        self, P: Any, q: Array, body: Polyhedron, found: ConvexSolution, most_work: int,
        most_faces: int,
    ) -> None:  # fmt: skip
        self.most_work, self.most_faces = most_work, most_faces
        self.P, self.q, self.body, self.found = P, q, body, found
        self.size = 1.0 + np.abs(found.x)
        self.room = _ROUNDING * (np.abs(body.rhs) + body.sizes_of_rows @ self.size)
        self.quotients = self._quotients()
        self.work = 0
        rows, n, count = body.rows, body.n, body.n + body.rhs.size
        places = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)) + n
        curved = np.repeat(np.arange(n), np.diff(P.indptr))
        missing = np.ones(count, dtype=bool)
        missing[curved[P.indices == curved]] = False
        zero = np.flatnonzero(missing)
        # The entries of (P Rᵀ; R 0) for all rows R, line by line, and those of the diagonal.
        lines = np.concatenate([curved, rows.indices, places, zero])
        members = np.concatenate([P.indices, places, rows.indices, zero])
        order = np.argsort(lines * count + members, kind="stable")
        self._lines, self._members = lines[order], members[order]
        entries = np.concatenate([P.data, rows.data, rows.data, np.zeros(zero.size)])
        self._entries = entries[order]
        self._largest = max(1.0, float(np.max(np.abs(P.data), initial=0.0)))

    def _quotients(self) -> Array:
        """log₁₀ slack/multiplier of inequalities, lower and upper ends, (m + 2n,).

        Where interior points end, all products of the two are nearly equal.
        """
        body, x, m = self.body, self.found.x, self.body.h.size
        slacks = [(body.rhs - body.rows @ x)[:m], x - body.lower, body.upper - x]
        prices = [self.found.multipliers[:m], self.found.reduced, -self.found.reduced]
        slack, price = np.concatenate(slacks), np.concatenate(prices)
        return np.log10(np.maximum(slack, 1e-300)) - np.log10(np.maximum(price, 1e-300))

    def likely(self) -> Iterator[Active]:
        """The face of the basis, or those of constraints with quotients below two levels."""
        body, m = self.body, self.body.h.size
        if self.found.face is not None:
            yield self.found.face
            return
        for most in (self.middle_of_largest_gap, 0.0):
            at_end = self.quotients <= most
            low, high = np.split(at_end[m:], 2)
            rows = np.concatenate([at_end[:m], np.ones(body.b.size, dtype=bool)])
            yield Active(rows, low, high & ~low)

    @property
    def middle_of_largest_gap(self) -> float:
        """Where active constraints end, if quotients fall into two groups."""
        width = _WIDEST_QUOTIENT
        usual = np.sort(self.quotients[np.abs(self.quotients) < width])
        starts, ends = np.append(-width, usual), np.append(usual, width)
        widest = int(np.argmax(ends - starts))
        return 0.5 * float(starts[widest] + ends[widest])

    def end(self, face: Active) -> ConvexSolution | None:
        """A point that satisfies constraints and first-order conditions up to rounding, or None.

        From face to face, the constraints that block the way to the stationary point first are
        added; where none does, those with a multiplier of the wrong sign are dropped.
        """
        body = self.body
        base = face.onto(self.found.x, body)
        for _ in range(self.most_faces):
            ended = self._stationary(base, face)
            if ended is None:
                return None
            x, multipliers = ended
            step, blocking = self._first_blocking(base, x, face)
            if blocking is not None:
                face = Active(*map(np.logical_or, face, blocking))
                base = face.onto(base + step * (x - base), body)
                continue
            left = self.P @ x + self.q + body.columns @ multipliers
            wrong = self._wrong(x, multipliers, left, face)
            if wrong is None:
                return None
            if not any(part.any() for part in wrong):
                below, above = np.maximum(left, 0.0), np.minimum(left, 0.0)
                signs = body.are_equations | (multipliers > 0.0)
                return self.found._replace(
                    x=np.clip(x, body.lower, body.upper), exact=True, before=self.found.x,
                    multipliers=np.where(signs, multipliers, 0.0),
                    reduced=np.where(face.low, below, np.where(face.high, above, 0.0)),
                )  # fmt: skip
            base, face = x, Active(*(kept & ~part for kept, part in zip(face, wrong, strict=True)))
        return None

    def _wrong(self, x: Array, multipliers: Array, left: Array, face: Active) -> Active | None:
        """Constraints to drop: those with a multiplier of the wrong sign.

        Or, for each row that the others leave no point for, the bound in it with the largest
        quotient. None if there are none for such a row.
        """
        body = self.body
        slope = _ROUNDING * (1.0 + np.abs(self.q) + np.abs(left))
        least = -_ROUNDING * (1.0 + np.abs(multipliers).max(initial=0.0))
        wrong = Active(
            face.rows & (multipliers < least) & ~body.are_equations,
            face.low & (left < -slope), face.high & (left > slope),
        )  # fmt: skip
        missed = np.flatnonzero(face.rows & (np.abs(body.rows @ x - body.rhs) > self.room))
        if not missed.size or any(part.any() for part in wrong):
            return wrong
        doubt = self.quotients[body.h.size :].reshape(2, body.n).min(axis=0)
        freed = np.zeros(body.n, dtype=bool)
        for row in missed.tolist():
            members = body.rows.indices[body.rows.indptr[row] : body.rows.indptr[row + 1]]
            held = members[(face.low | face.high)[members]]
            if held.size:
                freed[held[np.argmax(doubt[held])]] = True
        return wrong._replace(low=face.low & freed, high=face.high & freed) if freed.any() else None

    def _first_blocking(self, base: Array, x: Array, face: Active) -> tuple[float, Active | None]:
        """The share of the way from `base` to x that other constraints allow, and the first."""
        body, rounding = self.body, 0.1 * _ROUNDING * self.size
        over, before = body.rows @ x - body.rhs, body.rows @ base - body.rhs
        ways = (
            (over, before, ~face.rows & (over > self.room)),
            (body.lower - x, body.lower - base, ~face.low & (body.lower - x > rounding)),
            (x - body.upper, base - body.upper, ~face.high & (x - body.upper > rounding)),
        )
        shares = []
        for end, start, beyond in ways:
            share = np.full(end.size, np.inf)
            slack, way = np.maximum(-start[beyond], 0.0), end[beyond] - start[beyond]
            share[beyond] = np.divide(slack, way, out=np.zeros(way.size), where=way > 0.0)
            shares.append(share)
        step = min(float(share.min(initial=np.inf)) for share in shares)
        if step == np.inf:
            return 1.0, None
        reach = max(_TOGETHER * step, _TINY_STEP)
        return min(step, 1.0), Active(*(share <= reach for share in shares))

    def _stationary(self, base: Array, face: Active) -> tuple[Array, Array] | None:
        """x and multipliers of the stationary point of a face, near `base` if there are several."""
        P, q, body = self.P, self.q, self.body
        free, on = np.flatnonzero(~(face.low | face.high)), np.flatnonzero(face.rows)
        x, multipliers = base.copy(), np.zeros(body.rhs.size)
        m, k = free.size, on.size
        if not m + k:
            return x, multipliers
        if self.work > self.most_work:
            return None
        x[free] = 0.0
        wanted = np.concatenate([-(q + P @ x)[free], body.rhs[on] - (body.rows @ x)[on]])
        solution = np.concatenate([base[free], self.found.multipliers[on]])
        place = np.full(body.n + body.rhs.size, -1)
        place[np.concatenate([free, body.n + on])] = np.arange(m + k)
        lines, members = place[self._lines], place[self._members]
        used = (lines >= 0) & (members >= 0)
        shift = np.repeat([_REGULAR, -_REGULAR], [m, k]) * self._largest
        factor = _factor(self._entries[used], lines[used], members[used], shift)
        if factor is None:
            return None
        exact, solve, work = factor
        self.work += work
        start = np.abs(solution)
        for _ in range(_REFINEMENTS):
            left = wanted - exact @ solution
            if not left.any():
                break
            solution = solution + solve(left)
        # What refinement has taken all digits from is 0, which it comes to in no number of steps.
        least = _VANISHED * start + _NOTHING * np.repeat(
            [np.abs(part).max(initial=0.0) for part in np.split(solution, [m])], [m, k]
        )
        solution = np.where(np.abs(solution) <= least, 0.0, solution)
        if not np.isfinite(solution).all():
            return None
        x[free], multipliers[on] = solution[:m], solution[m:]
        return x, multipliers


def _factor(
    entries: Array, lines: Indices, members: Indices, shift: Array
) -> tuple[Any, Callable[[Array], Array], int] | None:
    """A matrix, a solver of its equations with a shifted diagonal, and the entries of its factors.

    The matrix is symmetric. Its entries are given line by line, with all of the diagonal. The order
    of pivots is one for symmetric matrices, which takes least time, or where that loses most digits
    one for any. None if it is singular.
    """
    from scipy import sparse
    from scipy.linalg import lapack
    from scipy.sparse.linalg import splu

    n = shift.size
    if n <= _DENSE_ORDER:
        dense = np.bincount(lines.astype(np.intp) * n + members, entries, n * n).reshape(n, n)
        factors, order, failed = lapack.dgetrf(dense + np.diag(shift))
        if failed:
            return None
        return dense, lambda right: np.asarray(lapack.dgetrs(factors, order, right)[0]), n * n
    exact = compressed(entries, members, np.searchsorted(lines, np.arange(n + 1)), n)
    moved = entries.copy()
    moved[lines == members] += shift
    shifted = sparse.csc_array((moved, exact.indices, exact.indptr), shape=(n, n))
    right = np.cos(np.arange(n))
    symmetric: dict[str, Any] = {
        "permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}
    }  # fmt: skip
    factor = None
    for order in (symmetric, {}):
        try:
            factor = splu(shifted, **order)
        except RuntimeError:  # it is singular
            continue
        if np.all(np.abs(right - shifted @ factor.solve(right)) <= _MOST_LOST):
            break
    return None if factor is None else (exact, factor.solve, factor.nnz)
