"""Loops of sequential minimal optimization.

`pair_steps` selects a pair and makes a step until the conditions of optimality hold; `block_steps`
does so on blocks of the worst violators in turn. `descent.cpp` has the formulas.
"""

from __future__ import annotations

import math
from ctypes import Structure, byref
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.core import library
from indefinite_opt.core.binding import (
    DOUBLE,
    INT64,
    NUMBER,
    SINGLE,
    WHOLE,
    Fixed,
    Indices,
    Lent,
    Rows,
    Table,
    View,
    count,
    fields,
    lasting_numbers,
    lending,
    matrix,
    number,
    numbers,
    places,
    reference,
    table,
    vector,
)
from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import Array, cached_property

RUNNING, CONVERGED, STALLED, UNBOUNDED = 0, 1, 2, 3

SECOND_ORDER, LIBSVM, FIRST_ORDER = 0, 1, 2
"""How pairs are selected; see `pair_steps`."""

LEAVE_SHARE = library.constant("LEAVE_SHARE")
BLOCK_TOLERANCE_SHARE = library.constant("BLOCK_TOLERANCE_SHARE")
STEPS_PER_MEMBER = int(library.constant("STEPS_PER_MEMBER"))
BLOCK_PASSES = library.constant("BLOCK_PASSES")
STEP_WORK = library.constant("STEP_WORK")

COMPUTING_WORK = 3.0
"""Work of computing an entry of K on demand, in units of that of reading one from memory."""

FIRST_ENTRIES = 2**18
"""Entries of the rows of a part for which there is room at first: often few rows are needed."""

MIN_DIVISOR = 1e-300
"""Least divisor that a curvature is replaced by, near the smallest normal number."""

MIN_CURVATURE_SHARE = 1e-12
"""When pairs are compared, a curvature counts as at least this share of the largest diagonal
entry of H: smaller ones are rounding."""


class ProgramStructure(Structure):
    """`Program`."""

    _fields_ = [
        ("K", Rows), ("diagonal", View), ("h", NUMBER), ("min_curvature", NUMBER), ("y", View),
        ("group", View), ("groups", WHOLE), ("tied", WHOLE), ("lower", View), ("upper", View),
        ("members", View), ("part", Table), ("slots", View), ("singles", Table),
    ]  # fmt: skip


class PointStructure(Structure):
    """`Point`."""

    _fields_ = [("alpha", View), ("v", View)]


class OutcomeStructure(Structure):
    """`Outcome`."""

    _fields_ = [
        ("state", WHOLE), ("violation", NUMBER), ("steps", WHOLE), ("decrease", NUMBER),
        ("work", NUMBER), ("rounding", NUMBER),
    ]  # fmt: skip


class BlockOutcomeStructure(Structure):
    """`BlockOutcome`."""

    _fields_ = [("outcome", OutcomeStructure), ("offset", WHOLE), ("blocks", WHOLE)]


_PROGRAM, _POINT = reference(ProgramStructure), reference(PointStructure)
_NO_PLACES, _NO_MATRIX, _NO_SINGLES = np.empty(0, INT64), np.empty((0, 0)), np.empty((0, 0), SINGLE)
_NO_MEMBERS = vector(_NO_PLACES, "members", dtype=INT64)
_ALL_MEMBERS = (
    _NO_MEMBERS, table(_NO_MATRIX, "part"), _NO_MEMBERS,
    table(_NO_SINGLES, "singles", dtype=SINGLE),
)  # fmt: skip
"""The last fields of a program that is no part of another one."""

_pair_steps = library.function(
    "descent_pair_steps", _PROGRAM, _POINT, WHOLE, NUMBER, WHOLE, NUMBER,
    reference(OutcomeStructure), Lent,
)  # fmt: skip
_choose_block = library.function(
    "descent_choose_block", _PROGRAM, _POINT, WHOLE, View, reference(NUMBER), Lent, returns=WHOLE
)
_block_steps = library.function(
    "descent_block_steps", _PROGRAM, _POINT, NUMBER, WHOLE, WHOLE, WHOLE, NUMBER,
    reference(BlockOutcomeStructure), Lent,
)  # fmt: skip
_spread = library.function("descent_spread", Rows, View, View, View)
_reduced_matrix = library.function("descent_reduced_matrix", Rows, View, View, View, Table)


class PairProgram(Fixed):
    """min ½αᵀHα + cᵀα with H = h · yyᵀ∘K on a box with equality constraints.

    Parameters
    ----------
    K : (n, n) array, or (0, n) where rows are computed on demand
        Columns beyond the n-th are not read.
    diagonal : (n,) array
        Of K.
    h : float
    y : (n,) array
        Signs, 1 or -1.
    group : (n,) array
        The constraint Σ y_iα_i = b_g of each weight; `groups` if it is in none.
    groups : int
    lower, upper : (n,) arrays
        May be infinite.
    min_curvature : float, optional
        Smaller curvatures are replaced by this when pairs are compared.
    tied : bool, optional
        Whether all weights are in one constraint. Both are given to a part of a program.

    The arrays may not change.
    """

    K: Array
    diagonal: Array
    h: float
    y: Array
    group: Indices
    groups: int
    lower: Array
    upper: Array
    n: int
    min_curvature: float
    tied: bool
    structure: ProgramStructure
    memory: tuple[int, ...]

    def __init__(
        self, K: Array, diagonal: Array, h: float, y: Array, group: Indices, groups: int,
        lower: Array, upper: Array, min_curvature: float | None = None, tied: bool | None = None,
    ) -> None:  # fmt: skip
        if math.isnan(h) or groups < 0:
            raise ProblemError("h", "a number, and groups from 0 on", f"{h}, {groups}")
        rows, signs = matrix(K, "K"), vector(y, "y")
        n: int = signs.size
        if rows.columns < n or rows.count not in (0, n):
            raise ProblemError("K", f"a matrix of order {n}, or no rows of it", f"shape {K.shape}")
        rows.columns = n
        given = vector(diagonal, "diagonal", n), places(group, "group", n, groups + 1)
        bounds = vector(lower, "lower", n), vector(upper, "upper", n)
        lasting_numbers(K, "K")
        for name, each in (("diagonal", diagonal), ("y", y), ("lower", lower), ("upper", upper)):
            numbers(each, name)
        if min_curvature is None:
            largest = float(np.max(np.abs(diagonal), initial=0.0))
            min_curvature = max(MIN_CURVATURE_SHARE * h * largest, MIN_DIVISOR)
        if tied is None:
            tied = groups == 1 and not np.any(group == groups)
        h, groups = float(h), int(groups)
        structure = ProgramStructure(
            rows, given[0], h, min_curvature, signs, given[1], groups, tied, *bounds, *_ALL_MEMBERS
        )
        self.__dict__.update(
            K=K, diagonal=diagonal, h=h, y=y, group=group, groups=groups, lower=lower, upper=upper,
            n=n, min_curvature=min_curvature, tied=tied, structure=structure,
            memory=(n, n, n, n, *[groups + 1] * 4),
        )  # fmt: skip

    def __reduce__(self) -> tuple[Any, ...]:
        given = self.K, self.diagonal, self.h, self.y, self.group, self.groups
        return PairProgram, (*given, self.lower, self.upper, self.min_curvature, self.tied)

    def on(self, members: Indices, K: Array) -> PairProgram:
        """The program of some weights while the others stay, with their part of K."""
        places(members, "members", None, self.n)
        return PairProgram(
            K, self.diagonal[members], self.h, self.y[members], self.group[members], self.groups,
            self.lower[members], self.upper[members], self.min_curvature, self.tied,
        )  # fmt: skip

    @cached_property
    def by_group(self) -> tuple[Indices, Indices]:
        """All weights sorted by groups, (n,), and where groups begin and end, (groups + 2,)."""
        order = np.argsort(self.group, kind="stable")
        starts = np.searchsorted(self.group[order], np.arange(self.groups + 2))
        return order.astype(np.int64), starts.astype(np.int64)

    def check(self, point: DescentPoint, *, reads: bool = True) -> None:
        """Raise `ProblemError` if steps from a point would read what is not there, or NaN."""
        if point.alpha.size != self.n:
            raise ProblemError("point", f"{self.n} weights", f"{point.alpha.size}")
        if reads and len(self.K) != self.n:
            raise ProblemError("K", f"a matrix with {self.n} rows", f"{len(self.K)} rows")
        numbers(point.alpha, "point")
        numbers(point.v, "point")


class PartProgram(PairProgram):
    """The program of some weights of a larger K, of doubles or floats, which is not copied.

    `pair_steps` reads a row of K at these weights when it first needs it, and keeps it as doubles.
    It ends, RUNNING, when there is no more room for rows; `make_room` says whether that was it.

    Parameters
    ----------
    K : (N, N) array of float64 or float32
        Finite.
    members : (n,) array
        The rows and columns of K that belong to the weights.
    diagonal, h, y, group, groups, lower, upper
        As in `PairProgram`, of these weights.
    """

    def __init__(
        self, K: NDArray[Any], members: Indices, diagonal: Array, h: float, y: Array,
        group: Indices, groups: int, lower: Array, upper: Array,
    ) -> None:  # fmt: skip
        n: int = vector(members, "members", dtype=INT64).size
        super().__init__(np.empty((0, n)), diagonal, h, y, group, groups, lower, upper)
        structure = self.structure
        single = isinstance(K, np.ndarray) and K.dtype == SINGLE
        rows = table(K, "K", dtype=SINGLE if single else DOUBLE)
        if rows.count != rows.columns:
            raise ProblemError("K", "a square matrix", f"shape {K.shape}")
        structure.members = places(members, "members", self.n, rows.count)
        lasting_numbers(K, "K")
        if single:
            structure.singles = rows
        else:
            structure.K = matrix(K, "K")
        slots = np.full(self.n + 1, -1)
        slots[-1] = 0
        structure.slots = vector(slots, "slots", dtype=INT64, changed=True)
        self.__dict__.update(whole=K, members=members, slots=slots)
        self._keep(np.empty((min(self.n, max(FIRST_ENTRIES // max(self.n, 1), 2)), self.n)))

    def _keep(self, part: Array) -> None:
        self.__dict__["part"] = part
        self.structure.part = table(part, "part", None, self.n, changed=True)

    def make_room(self) -> bool:
        """Make room for four times as many rows, if there is none for two more."""
        used, rows = int(self.slots[-1]), len(self.part)
        if rows == self.n or used + 2 <= rows:
            return False
        part = np.empty((min(4 * rows, self.n), self.n))
        part[:used] = self.part[:used]
        self._keep(part)
        return True

    whole: NDArray[Any]
    members: Indices
    part: Array
    slots: Indices

    def __reduce__(self) -> tuple[Any, ...]:
        given = self.diagonal, self.h, self.y, self.group, self.groups, self.lower, self.upper
        return PartProgram, (self.whole, self.members, *given)

    def subtract(self, indices: Indices, amounts: Array, v: Array) -> None:
        """v -= Σ_k amounts[k] · K[indices[k]], of rows that have been read, in place."""
        spread(self.part[: self.slots[-1]], self.slots[indices], amounts, v)


class DescentPoint(Fixed):
    """Weights α and v_t = -y_t ∇F_t there, (n,) arrays; both are changed in place."""

    alpha: Array
    v: Array
    structure: PointStructure

    def __init__(self, alpha: Array, v: Array) -> None:
        weights = vector(alpha, "alpha", changed=True)
        structure = PointStructure(weights, vector(v, "v", alpha.size, changed=True))
        self.__dict__.update(alpha=alpha, v=v, structure=structure)

    def __reduce__(self) -> tuple[Any, ...]:
        return DescentPoint, (self.alpha, self.v)


class StepOutcome(NamedTuple):
    """The result of some steps."""

    state: int
    violation: float  # m - M at the end
    steps: int
    decrease: float  # of F
    work: float  # in entries of K read
    rounding: float  # of v, in units of eps · max|K|


def _limits(tolerance: float, most: int, most_work: float) -> tuple[float, int, float]:
    return number(tolerance, "tolerance", 0.0), count(most), number(most_work, "most_work")


def pair_steps(
    program: PairProgram, point: DescentPoint, rule: int, tolerance: float, most: int,
    most_work: float,
) -> StepOutcome:  # fmt: skip
    """Pair steps and steps of single weights until no violation exceeds the tolerance.

    The step is Lin & Lin (27). The pair is selected by a rule: `SECOND_ORDER` takes the largest
    violator and the partner of the largest gain (Fan, Chen & Lin 2005, who prove that it converges
    to stationary points for any symmetric K), `LIBSVM` the pair of that program, and `FIRST_ORDER`
    the pair of Lin & Lin (22). (Counting the clipped decrease of each pair instead was tried: it
    took more steps and ended at worse stationary points.)

    Returns
    -------
    a `StepOutcome`; its state is STALLED if the last step was below the rounding of a weight,
    UNBOUNDED if it would be infinite, CONVERGED, or RUNNING at a limit
    """
    program.check(point, reads=not isinstance(program, PartProgram))
    if rule not in (SECOND_ORDER, LIBSVM, FIRST_ORDER):
        raise ProblemError("rule", "SECOND_ORDER, LIBSVM or FIRST_ORDER", str(rule))
    found, limits = OutcomeStructure(), _limits(tolerance, most, most_work)
    lent = lending(*program.memory)
    _pair_steps(program.structure, point.structure, rule, *limits, byref(found), lent)
    return StepOutcome(*fields(found))


def _offset(offset: int, program: PairProgram) -> int:
    if not 0 <= offset < max(program.n, 1):
        raise ProblemError("offset", f"an index below {program.n}", str(offset))
    return int(offset)


def choose_block(
    program: PairProgram, point: DescentPoint, offset: int, members: Indices
) -> tuple[int, float]:
    """The worst violators: about half of the block may rise and as many may fall.

    A weight that may rise violates the conditions by v - M of its constraint, one that may fall by
    m - v. The pair of the largest violation is always among them. Equal violators are taken in
    their order from `offset` on.

    Parameters
    ----------
    members : (size,) array, size ≥ 2
        Receives the indices of the block.

    Returns
    -------
    number of indices, 0 if there is no violation, and the largest violation
    """
    program.check(point, reads=False)
    chosen, violation = vector(members, "members", dtype=INT64, changed=True), NUMBER()
    if members.size < 2:
        raise ProblemError("members", "room for two indices", str(members.size))
    found: int = _choose_block(
        program.structure, point.structure, _offset(offset, program), chosen, byref(violation),
        lending(*program.memory),
    )  # fmt: skip
    return found, violation.value


def block_steps(
    program: PairProgram, point: DescentPoint, tolerance: float, size: int, offset: int, most: int,
    most_work: float,
) -> tuple[StepOutcome, int, int]:  # fmt: skip
    """As `pair_steps` with second-order selection, on blocks of the worst violators in turn.

    Rows of K are read from a block's part of K, which is small enough for the cache; v is updated
    on all points when the block is done. A block costs one pass over the rows of the weights that
    it has changed, however many steps it took.

    Returns
    -------
    the outcome, where the next block begins, and the number of blocks
    """
    program.check(point)
    if size < 2:
        raise ProblemError("size", "at least 2", str(size))
    found, most_members = BlockOutcomeStructure(), min(size, program.n)
    tolerance, most, most_work = _limits(tolerance, most, most_work)
    # The block, its ten vectors and its part of K; then the memory of its steps.
    lent = lending(*[size] * 10, size + 1, most_members**2, *program.memory)
    _block_steps(
        program.structure, point.structure, tolerance, int(size), _offset(offset, program), most,
        most_work, byref(found), lent,
    )  # fmt: skip
    return StepOutcome(*fields(found.outcome)), found.offset, found.blocks


def spread(K: Array, indices: Indices, amounts: Array, v: Array) -> None:
    """v -= Σ_k amounts[k] · K[indices[k]], in place.

    Parameters
    ----------
    K : (m, n) array
    indices, amounts : (k,) arrays
    v : (n,) array
    """
    rows = matrix(K, "K")
    chosen = places(indices, "indices", None, rows.count)
    factors = vector(amounts, "amounts", chosen.size)
    target = vector(v, "v", rows.columns, changed=True)
    lasting_numbers(K, "K")
    numbers(amounts, "amounts")
    numbers(v, "v")
    _spread(rows, chosen, factors, target)


def reduced_matrix(
    K: Array, slots: Indices, columns: Indices, reference: Indices, matrix_: Array
) -> None:
    """Lower triangle of NᵀKN on some points, N a basis of what keeps the sum of each group.

    matrix[p, r] = K_pr - K_pb - K_ar + K_ab for points p, r with references a, b, the last points
    of their groups, which get no row of their own. A point that moves freely has the reference -1,
    and the terms with it are left out.

    Parameters
    ----------
    K, slots
        K[slots[p]] is the row of columns[p].
    columns, reference : (m,) arrays
        The points, group by group, and where in this order their references are.
    matrix_ : (k, k) array, receives the result; k = m less the number of groups
    """
    rows = matrix(K, "K")
    points = places(columns, "columns", None, rows.columns)
    m = points.size
    given = places(slots, "slots", m, rows.count), points, places(reference, "reference", m, m, -1)
    order = m - int(np.count_nonzero(reference == np.arange(m)))
    lasting_numbers(K, "K")
    _reduced_matrix(rows, *given, table(matrix_, "matrix", order, order, changed=True))
