"""The structures that direct solvers read: a quadratic program on a box with lines, and an LP.

A `structure` says a declared program a second time, for speed. A contract test compares the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.modeling.gaps import CANCELLED, relative
from indefinite_opt.modeling.structures.box_line import BoxLine
from indefinite_opt.modeling.structures.proxy_kernel import ProxyStructure
from indefinite_opt.modeling.structures.structure import ExplicitProgram
from indefinite_opt.problem.kernel_problem import KernelProblem

__all__ = [
    "BoxLineQP",
    "Columns",
    "DualUnits",
    "Entries",
    "LinearProgram",
    "Rows",
    "Structure",
    "Units",
    "power_near",
]

Array = NDArray[np.float64]
Values = dict[str, Array]


_SHRINKS = 2
"""Times that the radius of a bound is bounded by that bound: after that little changes."""


@dataclass(frozen=True, eq=False)
class BoxLineQP(BoxLine):
    """min F(x) = ½ xᵀHx + cᵀx  s.t.  0 ≤ x ≤ u and none, one or two equality constraints.

    H = h·Q with Q_ij = y_i y_j K_ij for a kernel of any inertia. The equality constraints are
    none; yᵀx = 0; or yᵀx = 0 and eᵀx = t, which fix the weight of each class to t/2.

    Attributes
    ----------
    problem : KernelProblem
        Holds K and y; nothing is copied.
    hessian : float
        h > 0.
    linear : float or (n,) array
        c, one number for all variables or one for each.
    upper : float
        u, may be infinite.
    lines : {0, 1, 2}
        Number of equality constraints.
    total : float
        t, read only with two lines.
    sense : {1, -1}
        Declared objective = sense · F.
    variable : str
        Name of x in the declared program.
    """

    problem: KernelProblem
    hessian: float
    linear: float | Array
    upper: float
    lines: int
    total: float = 0.0
    sense: int = 1
    variable: str = "alpha"

    @classmethod
    def svm(
        cls, problem: KernelProblem, C: float, *, lines: int = 1, variable: str = "alpha"
    ) -> BoxLineQP:
        """The dual of a support vector machine: max eᵀx - ½xᵀQx, 0 ≤ x ≤ C, as a minimum."""
        return cls(problem, 1.0, -1.0, C, lines, sense=-1, variable=variable)

    @classmethod
    def hulls(cls, problem: KernelProblem, mu: float) -> BoxLineQP:
        """The nearest points of two convex hulls reduced by mu: max -xᵀQx, as a minimum."""
        return cls(problem, 2.0, 0.0, mu, lines=2, total=2.0, sense=-1, variable="alphabar")

    @property
    def is_convex(self) -> bool:
        """Whether F is convex along the lines; see `KernelProblem.is_convex`."""
        return self.problem.is_convex(self.lines)

    def H(self) -> Array:
        """The Hessian, a new (n, n) array."""
        y = self.problem.y
        dense: Array = self.problem.K * (self.hessian * y)[:, None]
        dense *= y
        return dense

    def hessian_times(self, x: Array) -> Array:
        """Hx in O(n · nonzeros of x)."""
        y = self.problem.y
        return self.hessian * y * self.problem.gram.times(y * x)

    def gradient(self, x: Array) -> Array:
        """∇F(x) = Hx + c."""
        return self.hessian_times(x) + self.linear

    def value(self, x: Array, gradient: Array | None = None) -> float:
        """F(x), in O(n) where the gradient is at hand."""
        g = self.gradient(x) if gradient is None else gradient
        return 0.5 * float(x @ (g + self.linear))

    def value_gradient(self, x: Array) -> tuple[float, Array]:
        """F and ∇F at x."""
        gradient = self.gradient(x)
        return self.value(x, gradient), gradient

    @property
    def tilt(self) -> float:
        """max |c|."""
        return float(np.max(np.abs(self.linear)))

    def gradient_unit(self, gradient: Array) -> float:
        """Size that a KKT residual is compared with.

        max |c| where there is a linear term (the margin 1 of an SVM), never below 1e-6 of the
        gradient, where rounding would decide. Without one the gradient's own size, never below
        `CANCELLED` of what it could be if nothing cancelled: where two hulls meet it vanishes.
        """
        largest = float(np.max(np.abs(gradient - self.linear)))
        if np.any(self.linear):
            return max(self.tilt, 1e-6 * largest)
        return max(largest, CANCELLED * self._steepest) or 1.0

    def gap_unit(self, value: float, x: Array) -> float:
        # The terms add up to less than all entries would; they need not be looked at if F is more.
        # With a linear term no entry is: rows on demand would all be computed for it.
        if np.any(self.linear) or abs(value) >= 0.5 * self.total * CANCELLED * self._steepest:
            return abs(value)
        return super().gap_unit(value, x)

    def gap_floor(self, x: Array) -> float:
        """Zero with a linear term, else `CANCELLED` times what the terms of F add up to at x."""
        if np.any(self.linear):
            return 0.0
        return 0.5 * CANCELLED * self.hessian * self.problem.gram.deviation(x)

    @property
    def _steepest(self) -> float:
        """The largest |(Hx)_i|, without the line multipliers, for weights of the given total.

        A constant in K cancels, as yᵀx = 0 with two lines, and does not count.
        """
        return self.hessian * self.problem.spread * self.total

    def dual_bound(self, x: Array, gradient: Array) -> float:
        """A lower bound on F over the feasible set, valid when F is convex there.

        The linearisation at x minimised over the feasible set; for the SVM dual this is the
        primal objective at the best offset. With u = ∞ the primal point is first scaled until
        it is feasible. From it are subtracted

        1. ½ha‖z - x‖² ≤ ½ha(R² + ‖x‖²), by which F may lie below its linearisation at a feasible z,
           a being what convexity was proved up to and R the largest ‖z‖;
        2. the rounding of the gradient, n·eps·‖|H|‖‖x‖ at most, along z - x;
        3. the rounding of the sums that are left, n·eps of their terms.

        With c < 0 and no fixed total R is that of a minimiser z alone, which cannot gain by
        shrinking: zᵀ∇F(z) ≤ 0, so that F(z) ≤ ½c eᵀz and ‖z‖² ≤ u·eᵀz ≤ 2u|F(z)|/|c|. Any bound on
        F(z) bounds R in this way, and makes a better one.
        """
        problem, eps = self.problem, float(np.finfo(float).eps)
        curvature = float(x @ (gradient - self.linear))
        square, length = self._square_radius(x), float(np.linalg.norm(x))

        def allowance(square: float) -> float:
            curved = 0.5 * problem.convexity_allowance * (square + length**2)
            return self.hessian * (
                curved + problem.zero_tolerance * length * (float(np.sqrt(square)) + length)
            )

        if np.isfinite(self.upper) or self.lines == 2:
            least = self.linear_minimum(gradient)
            terms = float(np.abs(x) @ np.abs(gradient)) + abs(least)
            single = min(self.upper, 0.5 * self.total) if self.lines == 2 else self.upper
            rounding = (self.n + 4.0) * eps * terms + eps * single * float(np.abs(gradient).sum())
            least -= 0.5 * curvature + rounding
            bound = least - allowance(square)
            if self.lines < 2 and np.ndim(self.linear) == 0 and np.all(self.linear < 0.0):
                for _ in range(_SHRINKS):
                    square = min(square, 2.0 * self.upper * abs(bound) / self.tilt)
                    bound = least - allowance(square)
            return bound
        if np.ndim(self.linear):
            return -np.inf
        # Hard margin: ½wᵀw/(1 - v)² where v is the largest shortfall of a margin at the best b.
        y = self.problem.y
        if self.lines == 0:
            shortfall = float(np.max(-gradient))
        else:
            signed = -y * gradient
            shortfall = 0.5 * (float(signed[y > 0].max()) - float(signed[y < 0].min()))
        # 1 - v may be small, so that the rounding of the gradient weighs.
        noise = (self.n + 4.0) * eps * (float(np.max(np.abs(gradient))) + self.tilt)
        noise += self.hessian * problem.zero_tolerance * length
        shortfall = max((shortfall + noise) / self.tilt, 0.0)
        if shortfall >= 1.0:
            return -np.inf
        least = -0.5 * max(curvature, 0.0) / (1.0 - shortfall) ** 2
        rounding = (self.n + 4.0) * eps * (float(np.abs(x) @ np.abs(gradient)) - least)
        return least - allowance(square) - rounding

    def _square_radius(self, x: Array) -> float:
        """Largest ‖z‖² over the feasible set; for u = ∞ that of x itself, doubled."""
        if self.lines == 2:
            return self.total * min(self.upper, 0.5 * self.total)
        if np.isinf(self.upper):
            return 4.0 * float(x @ x)
        count = self.n if self.lines == 0 else 2 * self.problem.smaller_class
        return count * self.upper * self.upper

    def convexified(self) -> tuple[Array, Array, float]:
        """H̃ ⪰ 0, q̃ and a constant with F(x) = ½xᵀH̃x + q̃ᵀx + constant on the lines.

        Only for `is_convex`. If K itself is positive semidefinite this is H and c e; if it is so
        only along the constraints, the curvature across them is projected away, because a convex
        solver must never see an indefinite Hessian.
        """
        linear = np.full(self.n, self.linear)
        if self.problem.is_convex(lines=0):
            return self.H(), linear, 0.0
        basis = np.linalg.qr(self.A.T)[0]
        offset = np.linalg.lstsq(self.A, self.b, rcond=None)[0]
        H = self.H()
        crossed = H @ basis
        half = crossed - 0.5 * basis @ (basis.T @ crossed)
        push = H @ offset
        constant = 0.5 * float(offset @ push)
        H -= half @ basis.T
        H -= basis @ half.T
        return H, linear + push - basis @ (basis.T @ push), constant


Entries = float | Array | Callable[[], Array]


@dataclass(frozen=True, eq=False)
class Columns:
    """A variable v of a linear program: lower ≤ v ≤ upper, each entry at its cost.

    Attributes
    ----------
    shape : tuple of int
        (n,), or () for a number.
    cost : float or (n,) array
    lower, upper : float or (n,) array
    absolute : bool
        Whether |v| is paid for instead of v: two nonnegative columns, whose difference is v.
    constraints : (str or None, str or None)
        Names of the declared constraints that the lower and the upper bound are.
    """

    shape: tuple[int, ...]
    cost: float | Array = 0.0
    lower: float | Array = -np.inf
    upper: float | Array = np.inf
    absolute: bool = False
    constraints: tuple[str | None, str | None] = (None, None)

    @property
    def size(self) -> int:
        """Number of columns."""
        return math.prod(self.shape) * (2 if self.absolute else 1)


@dataclass(frozen=True, eq=False)
class Rows:
    """A constraint of a linear program: lower ≤ Σ A_v v ≤ upper over the variables v in it.

    Attributes
    ----------
    shape : tuple of int
        (m,), or () for a single row.
    entries : mapping of str to float, array or callable
        A_v by the name of v: an (m, n) matrix, or what makes it when it is needed; a vector where
        the constraint or the variable is a number; a number c for cI, or for equal entries where
        one of the two is a number.
    lower, upper : float or (m,) array
        Both ends are finite, equal or not, or only one is, for all rows alike.
    """

    shape: tuple[int, ...]
    entries: Mapping[str, Entries]
    lower: float | Array = -np.inf
    upper: float | Array = np.inf

    @property
    def size(self) -> int:
        """Number of rows."""
        return math.prod(self.shape)


class Units:
    """Units in which solvers see variables and multipliers; here the natural ones.

    Subclasses override the pairs that they change. All values and multipliers go by name.
    """

    def read(self, values: Values) -> Values:
        """The variables in natural units."""
        return values

    def write(self, values: Values) -> Values:
        """The variables in these units."""
        return values

    def read_multipliers(self, multipliers: Values) -> Values:
        """The multipliers in natural units."""
        return multipliers

    def write_multipliers(self, multipliers: Values) -> Values:
        """The multipliers in these units."""
        return multipliers


class DualUnits(Units):
    """The units of a dual program, whose variables are multipliers, and the reverse."""

    def __init__(self, primal: Units) -> None:
        self.primal = primal

    def read(self, values: Values) -> Values:
        return self.primal.read_multipliers(values)

    def write(self, values: Values) -> Values:
        return self.primal.write_multipliers(values)

    def read_multipliers(self, multipliers: Values) -> Values:
        return self.primal.read(multipliers)

    def write_multipliers(self, multipliers: Values) -> Values:
        return self.primal.write(multipliers)


class _Blocks:
    """Where each variable and each constraint stands in the vectors of a linear program."""

    def __init__(
        self,
        variables: Mapping[str, Columns],
        rows: Mapping[str, Rows],
        units: Units,
        repair: Callable[[Values], Values] | None,
        gap_floor: Callable[[Values], float] | None,
    ) -> None:
        self.variables, self.constraints, self.units = variables, rows, units
        self.repair, self.floor = repair, gap_floor
        self.columns, self.rows = _slices(variables), _slices(rows)
        self.cost = _joined([_full(v, v.cost) for v in variables.values()])
        self.lower = _joined([_full(v, 0.0 if v.absolute else v.lower) for v in variables.values()])
        self.upper = _joined([_full(v, v.upper) for v in variables.values()])
        self.row_lower = _joined([_full(r, r.lower) for r in rows.values()])
        self.row_upper = _joined([_full(r, r.upper) for r in rows.values()])

    def read(self, x: Array) -> Values:
        return self.units.read(
            {name: self._value(x[self.columns[name]], v) for name, v in self.variables.items()}
        )

    def _value(self, x: Array, variable: Columns) -> Array:
        if variable.absolute:
            x = x[: x.size // 2] - x[x.size // 2 :]
        return x.reshape(variable.shape)[()]

    def write(self, values: Values) -> Array:
        values = self.units.write(values)
        parts: list[Array] = []
        for name, variable in self.variables.items():
            v = np.ravel(values[name])
            parts += [np.maximum(v, 0.0), np.maximum(-v, 0.0)] if variable.absolute else [v]
        return np.concatenate(parts)

    def read_multipliers(self, rows: Array, reduced: Array) -> Values:
        """As cvxpy has them: nonnegative for inequalities, and of -λ for equalities."""
        named = {}
        for name, constraint in self.constraints.items():
            multiplier = self._sign(name) * rows[self.rows[name]].reshape(constraint.shape)[()]
            one_sided = np.isinf(self.row_lower[self.rows[name]] + self.row_upper[self.rows[name]])
            named[name] = np.maximum(multiplier, 0.0) if np.any(one_sided) else multiplier
        for name, variable in self.variables.items():
            for bound, sign in zip(variable.constraints, (1.0, -1.0), strict=True):
                if bound is not None:
                    named[bound] = np.maximum(sign * reduced[self.columns[name]], 0.0)
        return self.units.read_multipliers(named)

    def write_multipliers(self, multipliers: Values) -> Array:
        named = self.units.write_multipliers(multipliers)
        return _joined([self._sign(name) * np.ravel(named[name]) for name in self.constraints])

    def _sign(self, name: str) -> float:
        """1 where rows are bounded from below alone."""
        return 1.0 if np.all(np.isposinf(self.row_upper[self.rows[name]])) else -1.0

    def repaired(self, x: Array) -> Array:
        if self.repair is None:
            return np.clip(x, self.lower, self.upper)
        return self.write(self.repair(self.read(x)))

    def gap_floor(self, x: Array) -> float:
        return self.floor(self.read(x)) if self.floor else 0.0

    def matrix(self) -> Any:
        """Dense, or compressed by rows where a block is a multiple of the identity."""
        if not any(self._diagonals(row) for row in self.constraints.values()):
            dense = np.zeros((self.row_lower.size, self.cost.size))
            for name, row in self.constraints.items():
                for variable in row.entries:
                    self._fill(dense[self.rows[name], self.columns[variable]], row, variable)
            return dense
        from scipy import sparse

        widths = [self._width(row) for row in self.constraints.values()]
        counts = np.repeat(widths, [row.size for row in self.constraints.values()])
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        entries, places = np.empty(starts[-1]), np.empty(starts[-1], dtype=np.int32)
        for (name, row), width in zip(self.constraints.items(), widths, strict=True):
            span = slice(starts[self.rows[name].start], starts[self.rows[name].stop])
            block, at = entries[span].reshape(-1, width), places[span].reshape(-1, width)
            diagonals, done = self._diagonals(row), 0
            for variable, columns in self.columns.items():
                if variable in diagonals:
                    block[:, done] = row.entries[variable]
                    at[:, done] = np.arange(columns.start, columns.stop)
                    done += 1
                elif variable in row.entries:
                    size = columns.stop - columns.start
                    self._fill(block[:, done : done + size], row, variable)
                    at[:, done : done + size] = np.arange(columns.start, columns.stop)
                    done += size
        return sparse.csr_array((entries, places, starts), shape=(starts.size - 1, self.cost.size))

    def _diagonals(self, row: Rows) -> set[str]:
        """The variables of which the rows hold a multiple of the identity."""
        return {
            name
            for name, entries in row.entries.items()
            if row.shape and self.variables[name].shape and isinstance(entries, int | float)
        }

    def _width(self, row: Rows) -> int:
        """Entries of each row."""
        diagonals = self._diagonals(row)
        return sum(1 if v in diagonals else self.variables[v].size for v in row.entries)

    def _fill(self, block: Array, row: Rows, name: str) -> None:
        """Entries of one variable, twice where its absolute value is paid for."""
        entries, variable = row.entries[name], self.variables[name]
        made = np.asarray(entries() if callable(entries) else entries, dtype=float)
        if row.shape and not variable.shape and made.ndim:
            made = made[:, None]
        width = math.prod(variable.shape)
        block[:, :width] = made
        if variable.absolute:
            np.negative(block[:, :width], out=block[:, width:])


def _slices(blocks: Mapping[str, Columns] | Mapping[str, Rows]) -> dict[str, slice]:
    ends = np.cumsum([block.size for block in blocks.values()], dtype=int).tolist()
    starts = [0, *ends[:-1]]
    return {name: slice(*span) for name, *span in zip(blocks, starts, ends, strict=False)}


def _full(block: Columns | Rows, values: float | Array) -> Array:
    """One value for each column or row."""
    each = np.broadcast_to(np.asarray(values, dtype=float), block.shape).ravel()
    return np.concatenate([each, each]) if block.size > each.size else each


def _joined(parts: list[Array]) -> Array:
    return np.concatenate([np.empty(0), *parts])


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """min cᵀx  s.t.  row_lower ≤ Ax ≤ row_upper, lower ≤ x ≤ upper; see `from_blocks`.

    Attributes
    ----------
    cost, lower, upper : (n,) arrays
    row_lower, row_upper : (m,) arrays
    build_matrix : callable
        Makes A, (m, n), dense or compressed by rows; called at most once.
    read : callable
        x -> the declared variables.
    write : callable
        Declared variables -> x.
    read_multipliers : callable
        (row multipliers λ, reduced costs c - Aᵀλ) -> multipliers of the declared constraints.
    write_multipliers : callable
        Multipliers of the declared constraints -> λ.
    source : tuple of objects
        What A is made of: programs made of the same objects have the same A, and a solver keeps
        its model. Empty if this is not known.
    repair : callable
        x -> a feasible point near x: what other variables determine is computed from them.
    rescale : callable, optional
        Makes the same program in other units, with all numbers about 1, for solvers whose
        tolerances are absolute; None where they are about 1 as it stands.
    dual : callable, optional
        Makes the dual, for solvers that generate rows, where this program has many columns. Its
        variables are multipliers of this one, and its multipliers are variables of this one.
    slacks : mapping of str to float
        Declared variables that only need be large enough, and the size that a shortfall is compared
        with at least.
    sense : {1, -1}
        Declared objective = sense · cᵀx.
    gap_floor : callable
        x -> least size that a gap at x is divided by, and a shortfall of `slacks`; see `gaps`.
    """

    cost: Array
    lower: Array
    upper: Array
    row_lower: Array
    row_upper: Array
    build_matrix: Callable[[], Any]
    read: Callable[[Array], Values]
    write: Callable[[Values], Array]
    read_multipliers: Callable[[Array, Array], Values]
    write_multipliers: Callable[[Values], Array]
    source: tuple[object, ...] = ()
    repair: Callable[[Array], Array] = np.asarray
    rescale: Callable[[], LinearProgram | None] = lambda: None
    dual: Callable[[], LinearProgram | None] = lambda: None
    slacks: Mapping[str, float] = field(default_factory=dict)
    sense: int = 1
    gap_floor: Callable[[Array], float] = lambda x: 0.0
    is_convex: bool = field(default=True, init=False)

    @classmethod
    def from_blocks(
        cls,
        variables: Mapping[str, Columns],
        rows: Mapping[str, Rows],
        *,
        units: Units | None = None,
        repair: Callable[[Values], Values] | None = None,
        gap_floor: Callable[[Values], float] | None = None,
        **options: Any,
    ) -> LinearProgram:
        """The program of named variables and constraints, with all that translates their names.

        Parameters
        ----------
        variables : mapping of str to Columns
        rows : mapping of str to Rows
        units : Units, optional
            Units that the numbers given here are in; the natural ones if not given.
        repair : callable, optional
            Values -> feasible values near them; by default x is clipped to its bounds.
        gap_floor : callable, optional
            Values -> least size that a gap there is divided by.
        **options
            Further attributes: `source`, `rescale`, `dual`, `slacks` and `sense`.

        Examples
        --------
        min |u| + 3ξ  s.t.  2u + ξ ≥ 1,  ξ ≥ 0:

        >>> u = Columns((1,), cost=1.0, absolute=True)
        >>> xi = Columns((1,), cost=3.0, lower=0.0, constraints=("slack", None))
        >>> margin = Rows((1,), {"u": np.array([[2.0]]), "xi": 1.0}, lower=1.0)
        >>> program = LinearProgram.from_blocks({"u": u, "xi": xi}, {"margin": margin})
        >>> program.cost, program.matrix.toarray()
        (array([1., 1., 3.]), array([[ 2., -2.,  1.]]))
        >>> program.write({"u": np.array([-0.5]), "xi": np.array([2.0])})
        array([0. , 0.5, 2. ])
        >>> program.multipliers(np.array([0.25]))    # slack: 3 - 0.25
        {'margin': array([0.25]), 'slack': array([2.75])}
        """
        blocks = _Blocks(variables, rows, units or Units(), repair, gap_floor)
        return cls(
            blocks.cost, blocks.lower, blocks.upper, blocks.row_lower, blocks.row_upper,
            blocks.matrix, blocks.read, blocks.write,
            blocks.read_multipliers, blocks.write_multipliers,
            repair=blocks.repaired, gap_floor=blocks.gap_floor, **options,
        )  # fmt: skip

    def multipliers(self, rows: Array) -> Values:
        """Multipliers of the declared constraints from those of the rows."""
        return self.read_multipliers(rows, self.cost - self.matrix.T @ rows)

    def shares_matrix(self, other: LinearProgram) -> bool:
        """Whether A is known to be that of the other program."""
        pairs = list(zip(self.source, other.source, strict=False))
        known = len(pairs) == len(self.source) == len(other.source) > 0
        return known and all(mine is theirs for mine, theirs in pairs)

    @cached_property
    def matrix(self) -> Any:
        """A."""
        return self.build_matrix()

    def repaired(self, x: Array) -> Array:
        """A feasible point near x, up to the rounding of its rows."""
        return self.repair(x)

    def rescaled(self) -> LinearProgram:
        """The same program with all numbers about 1, see `rescale`; itself where they are."""
        return self.rescale() or self

    def gap_unit(self, value: float, x: Array) -> float:
        """What gaps at x are divided by, where the objective has this value; see `gaps`."""
        return max(abs(value), self.gap_floor(x))

    def infeasibility(self, x: Array) -> float:
        """How far each variable is from what satisfies every constraint, relative to its size.

        Of `slacks` only what is missing counts, each relative to itself or the size given there.
        """
        repaired = self.repaired(x)
        found, near, floor = self.read(x), self.read(repaired), self.gap_floor(repaired)
        worst = 0.0
        for name, target in near.items():
            if name in self.slacks:
                missing = np.maximum(target - found[name], 0.0)
                size = np.maximum(np.abs(target), max(self.slacks[name], floor))
                shares = np.divide(missing, size, out=np.zeros_like(missing), where=missing > 0.0)
                worst = max(worst, float(np.max(shares, initial=0.0)))
                continue
            # The largest entry, as bounds are missed, and the sum, as equality constraints are.
            distance, size = np.abs(found[name] - target), np.abs(target)
            for total in (np.max, np.sum):
                missed = float(total(distance)) if distance.size else 0.0
                worst = max(worst, relative(missed, float(total(size)) if size.size else 0.0))
        return worst


Structure = BoxLineQP | LinearProgram | ProxyStructure | ExplicitProgram


def power_near(sizes: Array) -> Array:
    """For each size the nearest power of two, with which scaling does not round; 1 for 0."""
    return np.exp2(np.round(np.log2(np.where(sizes == 0.0, 1.0, sizes))))
