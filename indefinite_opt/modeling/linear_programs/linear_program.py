"""Linear programs made of named blocks of variables and rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Set
from dataclasses import KW_ONLY, dataclass, field
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from indefinite_opt.foundation import EPS, Array, Values, cached_property, power_near
from indefinite_opt.quadratic import Optimality, Point, StandardForm, Structure, relative

MIN_GENERATED_ROWS = 400
"""Rows from which linear programs are solved by `generation`. Between 250 and 600, depending on
kernel and formulation, it becomes faster than the full model of HiGHS
(benchmarks/linear_programs.py)."""

Entries = float | Array | Callable[[], Array]


@dataclass(frozen=True, eq=False)
class Columns:
    """A variable v of a linear program: lower ≤ v ≤ upper, with a cost per entry."""

    shape: tuple[int, ...]
    """(n,), or () for a number."""
    cost: float | Array = 0.0
    lower: float | Array = -np.inf
    upper: float | Array = np.inf
    absolute: bool = False
    """Whether the cost is that of |v| instead of v: two nonnegative columns with difference v."""
    constraints: tuple[str | None, str | None] = (None, None)
    """Names of the lower and the upper bound as declared constraints."""

    @property
    def size(self) -> int:
        """Number of columns."""
        return math.prod(self.shape) * (2 if self.absolute else 1)

    def each(self, value: float | Array) -> Array:
        """The value of each column."""
        return np.full((2 if self.absolute else 1, *self.shape), value, dtype=float).ravel()


@dataclass(frozen=True, eq=False)
class Rows:
    """A constraint of a linear program: lower ≤ Σ A_v v ≤ upper over the variables v in it."""

    shape: tuple[int, ...]
    """(m,), or () for a single row."""
    entries: Mapping[str, Entries]
    """A_v by the name of v: an (m, n) matrix, or a function that makes it; a vector if the
    constraint or the variable is scalar; a number c for cI, or for equal entries if one of the two
    is scalar."""
    lower: float | Array = -np.inf
    upper: float | Array = np.inf
    """In all rows either both ends are finite, equal or not, or the same one is."""

    @property
    def size(self) -> int:
        """Number of rows."""
        return math.prod(self.shape)

    @cached_property
    def one_sided(self) -> bool:
        """Whether only one end is finite, so that multipliers have a sign."""
        return bool(np.any(np.isinf(self.lower)) or np.any(np.isinf(self.upper)))

    @cached_property
    def sign(self) -> float:
        """1 if a multiplier has the same sign in cvxpy and in the solvers, else -1."""
        return 1.0 if self.one_sided and np.all(np.isfinite(self.lower)) else -1.0

    def each(self, value: float | Array) -> Array:
        """The value of each row."""
        return np.full(self.shape, value, dtype=float).ravel()


class Units:
    """Units of variables and multipliers for solvers; here the natural ones.

    Subclasses override the pairs that they change. Values and multipliers are given by name.
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


def _slices(blocks: Mapping[str, Columns] | Mapping[str, Rows]) -> dict[str, slice]:
    ends = [0, *accumulate(block.size for block in blocks.values())]
    return {name: slice(*span) for name, span in zip(blocks, pairwise(ends), strict=True)}


def _joined(parts: list[Array]) -> Array:
    return np.concatenate(parts) if parts else np.empty(0)


def _no_program() -> None:
    return None


@dataclass(eq=False, repr=False)
class LinearProgram(Structure[Array]):
    """min cᵀx  s.t.  row_lower ≤ Ax ≤ row_upper, lower ≤ x ≤ upper, made of named blocks.

    Parameters
    ----------
    variables : mapping of str to Columns
    constraints : mapping of str to Rows
    units : Units
        Units of the numbers given here; by default the natural ones.
    repair : callable, optional
        Values -> feasible values near them, with variables that others determine computed from
        these; by default x is clipped to its bounds.
    least_unit : callable, optional
        Values -> least divisor of gaps there, and of shortfalls of `slacks`; see `gaps`. By default
        zero, for terms that do not cancel.
    rescale : callable, optional
        Makes the same program in units with all numbers about 1; by default it is in such units.
    dual : callable
        Makes the dual program in the same units, if its rows are worth generating.
    slacks : mapping of str to float
        Declared variables that only have to be large enough, and the least divisor of their
        relative shortfalls.
    source : tuple of objects
        What A is made of: programs made of the same objects have the same A, so that a solver can
        keep its model. Empty if unknown.
    bound : callable, optional
        Multipliers -> a lower bound that holds whatever they are; see `dual_bound`.
    sense : {1, -1}
        Declared objective = sense · cᵀx.

    Attributes
    ----------
    cost, lower, upper : (n,) arrays
    row_lower, row_upper : (m,) arrays

    Examples
    --------
    min |u| + 3ξ  s.t.  2u + ξ ≥ 1,  ξ ≥ 0:

    >>> u = Columns((1,), cost=1.0, absolute=True)
    >>> xi = Columns((1,), cost=3.0, lower=0.0, constraints=("slack", None))
    >>> margin = Rows((1,), {"u": np.array([[2.0]]), "xi": 1.0}, lower=1.0)
    >>> program = LinearProgram({"u": u, "xi": xi}, {"margin": margin})
    >>> program.cost, program.matrix.toarray()
    (array([1., 1., 3.]), array([[ 2., -2.,  1.]]))
    >>> program.write({"u": np.array([-0.5]), "xi": np.array([2.0])})
    array([0. , 0.5, 2. ])
    >>> program.multipliers(np.array([0.25]))    # slack: 3 - 0.25
    {'margin': array([0.25]), 'slack': array([2.75])}
    """

    title = "a linear program"
    usual_solver = "highs"
    is_linear = True
    is_convex = True
    multipliers_from_solver = True
    hessian_eigenvalue = 0.0
    open_gap = "The bound from the explicit dual leaves a gap of {}."

    variables: Mapping[str, Columns]
    constraints: Mapping[str, Rows]
    _: KW_ONLY
    units: Units = field(default_factory=Units)
    repair: Callable[[Values], Values] | None = None
    least_unit: Callable[[Values], float] | None = None
    rescale: Callable[[], LinearProgram] | None = None
    dual: Callable[[], LinearProgram | None] = _no_program
    slacks: Mapping[str, float] = field(default_factory=dict)
    source: tuple[object, ...] = ()
    bound: Callable[[Values], float] | None = None
    sense: int = 1

    def __post_init__(self) -> None:
        variables, rows = self.variables.values(), self.constraints.values()
        self._columns, self._rows = _slices(self.variables), _slices(self.constraints)
        self.cost = _joined([v.each(v.cost) for v in variables])
        self.lower = _joined([v.each(0.0 if v.absolute else v.lower) for v in variables])
        self.upper = _joined([v.each(v.upper) for v in variables])
        self.row_lower = _joined([row.each(row.lower) for row in rows])
        self.row_upper = _joined([row.each(row.upper) for row in rows])

    # ------------------------------------------------------------- names and places in vectors

    def read(self, x: Array) -> Values:
        """The declared variables."""
        return self.units.read(self._values(x))

    def _values(self, x: Array) -> Values:
        """The declared variables in the units of the program."""
        values = {}
        for name, variable in self.variables.items():
            v = x[self._columns[name]]
            if variable.absolute:
                v = v[: v.size // 2] - v[v.size // 2 :]
            values[name] = v.reshape(variable.shape)[()]
        return values

    def write(self, values: Values) -> Array:
        """x from the declared variables."""
        values = self.units.write(values)
        parts: list[Array] = []
        for name, variable in self.variables.items():
            v = np.ravel(values[name])
            parts += [np.maximum(v, 0.0), np.maximum(-v, 0.0)] if variable.absolute else [v]
        return np.concatenate(parts)

    def read_multipliers(self, rows: Array, reduced: Array) -> Values:
        """Multipliers of the declared constraints from λ and the reduced costs c - Aᵀλ.

        As cvxpy has them: nonnegative for inequalities, -λ for equalities.
        """
        named = {}
        for name, row in self.constraints.items():
            multiplier = row.sign * rows[self._rows[name]].reshape(row.shape)[()]
            named[name] = np.maximum(multiplier, 0.0) if row.one_sided else multiplier
        for name, variable in self.variables.items():
            for bound, sign in zip(variable.constraints, (1.0, -1.0), strict=True):
                if bound is not None:
                    named[bound] = np.maximum(sign * reduced[self._columns[name]], 0.0)
        return self.units.read_multipliers(named)

    def write_multipliers(self, multipliers: Values) -> Array:
        """λ from multipliers of the declared constraints."""
        named = self.units.write_multipliers(multipliers)
        return _joined([row.sign * np.ravel(named[name]) for name, row in self.constraints.items()])

    # ---------------------------------------------------------------------- A and its products

    @cached_property
    def matrix(self) -> Any:
        """A, dense, or compressed by rows if a block is a multiple of the identity."""
        from scipy import sparse

        blocks = [(label, name) for label, row in self.constraints.items() for name in row.entries]
        if not any(self._is_diagonal(*place) for place in blocks):
            dense = np.zeros((self.row_lower.size, self.cost.size))
            for label, name in blocks:
                block = self._block(label, name)
                if self.variables[name].absolute:
                    block = np.hstack([block, -block])
                dense[self._rows[label], self._columns[name]] = block
            return dense
        parts = [[self._sparse(label, name) for name in self.variables] for label in self._rows]
        return sparse.block_array(parts, format="csr")

    @cached_property
    def dense(self) -> Array:
        """A as an array, which is A itself if that is dense."""
        return self.matrix if isinstance(self.matrix, np.ndarray) else self.matrix.toarray()

    def _is_diagonal(self, label: str, name: str) -> bool:
        """Whether the block of a constraint and a variable is a multiple of the identity."""
        row, shape = self.constraints[label], self.variables[name].shape
        return bool(row.shape and shape) and isinstance(row.entries[name], int | float)

    def _block(self, label: str, name: str) -> Any:
        """A_v of a constraint and a variable: the number c for cI, else an array."""
        row, shape = self.constraints[label], self.variables[name].shape
        entries, width = row.entries[name], math.prod(shape)
        if self._is_diagonal(label, name):
            return entries
        whole = self.__dict__.get("matrix")
        if isinstance(whole, np.ndarray):
            return whole[self._rows[label], self._columns[name]][:, :width]
        made = np.asarray(entries() if callable(entries) else entries, dtype=float)
        if row.shape and not shape and made.ndim:
            made = made[:, None]
        return np.broadcast_to(made, (row.size, width))

    def _sparse(self, label: str, name: str) -> Any:
        """A_v by rows, in all its columns and with zeros, as finding these would cost more."""
        from scipy import sparse

        row, variable = self.constraints[label], self.variables[name]
        if name not in row.entries:
            return sparse.csr_array((row.size, variable.size))
        block = self._block(label, name)
        if self._is_diagonal(label, name):
            places, block = np.arange(row.size), np.full((row.size, 1), float(block))
        else:
            places = np.tile(np.arange(block.shape[1]), row.size)
        starts = np.arange(row.size + 1) * block.shape[1]
        shape = row.size, math.prod(variable.shape)
        block = sparse.csr_array((np.ravel(block), places, starts), shape=shape)
        return sparse.hstack([block, -block], format="csr") if variable.absolute else block

    def products(self, x: Array, rows: Array) -> tuple[Array, Array]:
        """Ax and Aᵀλ, from one block of A after the other, as A may be large."""
        image, values = np.zeros(self.row_lower.size), self._values(x)
        for label, row in self.constraints.items():
            for name in row.entries:
                block, v = self._block(label, name), np.ravel(values[name])
                image[self._rows[label]] += block @ v if np.ndim(block) else block * v
        return image, self._column_products(rows, self.variables.keys())

    def _column_products(self, rows: Array, names: Set[str]) -> Array:
        """Aᵀλ in the columns of some variables, and 0 in others."""
        products = np.zeros_like(self.cost)
        for label, row in self.constraints.items():
            for name in names & row.entries.keys():
                block, part = self._block(label, name), rows[self._rows[label]]
                product = part @ block if np.ndim(block) else block * part
                absolute = self.variables[name].absolute
                products[self._columns[name]] += (
                    np.append(product, -product) if absolute else product
                )
        return products

    # ---------------------------------------------------------------- what certificates ask

    def multipliers(self, rows: Array) -> Values:
        """Multipliers of the declared constraints from those of the rows."""
        constrained = {name for name, v in self.variables.items() if v.constraints != (None, None)}
        return self.read_multipliers(rows, self.cost - self._column_products(rows, constrained))

    def shares_matrix(self, other: LinearProgram) -> bool:
        """Whether A is known to be the same as in the other program."""
        pairs = list(zip(self.source, other.source, strict=False))
        known = len(pairs) == len(self.source) == len(other.source) > 0
        return known and all(mine is theirs for mine, theirs in pairs)

    def why_global(self) -> list[str]:
        return ["Linear, and the bound from its explicit dual meets the objective."]

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        sample = self.read(np.zeros(self.cost.size))
        return {name: np.shape(value) for name, value in sample.items()}

    @property
    def multiplier_shapes(self) -> dict[str, tuple[int, ...]]:
        zeros = np.zeros(self.row_lower.size), np.zeros(self.cost.size)
        return {name: np.shape(v) for name, v in self.read_multipliers(*zeros).items()}

    def from_values(self, values: Values) -> Array:
        return self.write(dict(values))

    def at(self, x: Array, gradient: Array | None = None) -> Point[Array]:
        return Point(x, float(self.cost @ x), self.cost)

    def feasible_near(self, point: Point[Array], infeasibility: float) -> Point[Array]:
        return self.at(self.repaired(point.x))

    def start_values(self, start: Array | None = None) -> Values:
        return self.read(self.repaired(np.zeros(self.cost.size)))

    def onto_constraints(self, values: Values) -> Values:
        return self.read(self.repaired(self.from_values(values)))

    def optimality(
        self, point: Point[Array], multipliers: Values | None, tol: float = 0.0
    ) -> Optimality:
        """Violation of the dual constraints, and multipliers times slacks."""
        if not multipliers:
            return Optimality({}, np.inf, np.inf)
        rows = self.write_multipliers(dict(multipliers))
        image, products = self.products(point.x, rows)
        reduced = self.cost - products
        violation = paid = 0.0
        for multiplier, low, high, at in (
            (rows, self.row_lower, self.row_upper, image),
            (reduced, self.lower, self.upper, point.x),
        ):
            for side, end in ((multiplier, low), (-multiplier, high)):
                active = np.maximum(side, 0.0)
                finite = np.isfinite(end)
                violation = max(violation, float(np.max(active[~finite], initial=0.0)))
                paid += float(active[finite] @ np.abs(at[finite] - end[finite]))
        return Optimality(multipliers, violation / self._dual_unit, paid)

    @property
    def _dual_unit(self) -> float:
        """Size relative to which violations of the dual constraints are judged."""
        return max(1.0, float(np.max(np.abs(self.cost))))

    def inconsistencies(self, optimality: Optimality, tol: float) -> list[str]:
        multipliers = dict(optimality.multipliers)
        implied = self.multipliers(self.write_multipliers(multipliers))
        return super().inconsistencies(optimality, tol) + [
            f"The multipliers of {name!r} do not agree with those of the other constraints."
            for name, value in multipliers.items()
            if np.max(np.abs(value - implied[name]), initial=0.0) > tol * self._dual_unit
        ]

    @property
    def solver_by_size(self) -> str:
        """The usual solver, or `generation` for many rows."""
        return "generation" if self.row_lower.size >= MIN_GENERATED_ROWS else self.usual_solver

    @property
    def solved_as(self) -> str:
        return f"{self.title}, by {self.solver_by_size}"

    def bound_at(self, point: Point[Array], multipliers: Values | None) -> float:
        return self.dual_bound(dict(multipliers)) if multipliers else -np.inf

    def dual_bound(self, multipliers: Values) -> float:
        """A lower bound from multipliers of the declared constraints, which holds for any of them.

        On a box it is that of the box; of other programs without a `bound` there is none.
        """
        if self.bound is not None:
            return self.bound(multipliers)
        if self.constraints:
            return -np.inf
        least = np.where(self.cost > 0.0, self.lower, self.upper)
        terms = np.where(self.cost == 0.0, 0.0, self.cost * least)
        rounding = (terms.size + 2.0) * EPS * float(np.abs(terms).sum())
        total = math.fsum(terms.tolist())
        return total - (rounding if np.isfinite(total) else 0.0)

    def arrays(self) -> Values:
        ends = ("row_lower", "row_upper", "lower", "upper")
        named = {"cost": self.cost, "A": self.dense} | {name: getattr(self, name) for name in ends}
        return named | {"sense": np.array(float(self.sense))}

    def standard_form(self) -> StandardForm:
        columns, rows = (self.lower, self.upper), (self.row_lower, self.row_upper)
        return StandardForm(self.sense, self.cost, *columns, *rows, self.matrix)

    @property
    def cost_units(self) -> tuple[float, float]:
        """Units that make the smallest nonzero cost, or the largest, about 1.

        Tolerances of HiGHS are absolute. They mean most in the first unit; where costs differ by
        many powers of ten only the second may let the simplex method come to an end.
        """
        costs = np.abs(self.cost[self.cost != 0.0])
        if not costs.size:
            return 1.0, 1.0
        return float(power_near(costs.min())), float(power_near(costs.max()))

    def repaired(self, x: Array) -> Array:
        """A feasible point near x, up to the rounding of its rows."""
        if self.repair is None:
            return np.clip(x, self.lower, self.upper)
        return self.write(self.repair(self.read(x)))

    def rescaled(self) -> LinearProgram:
        """The same program in units with all numbers about 1."""
        return self if self.rescale is None else self.rescale()

    def gap_floor(self, x: Array) -> float:
        """The least divisor of gaps at x; see `gaps`."""
        return self.least_unit(self.read(x)) if self.least_unit else 0.0

    def gap_unit(self, value: float, x: Array) -> float:
        return max(abs(value), self.gap_floor(x))

    def infeasibility(self, x: Array) -> float:
        """Largest distance of a variable from its value at a feasible point, relative to its size.

        For `slacks` only shortfalls count, relative to the slack or the size given there.
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
            # The largest entry measures violated bounds, and the sum violated equalities.
            distance, size = np.abs(found[name] - target), np.abs(target)
            for total in (np.max, np.sum):
                missed = float(total(distance)) if distance.size else 0.0
                worst = max(worst, relative(missed, float(total(size)) if size.size else 0.0))
        return worst
