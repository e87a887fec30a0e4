"""Linear programs made of named blocks of variables and rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

import numpy as np

from indefinite_opt.algebra import Operator
from indefinite_opt.foundation import Array, Values, cached_property
from indefinite_opt.quadratic import (
    CompiledProgram,
    LowerBound,
    Optimality,
    Point,
    StandardForm,
    answers,
    relative,
)

MIN_GENERATED_ROWS = 400
"""Rows from which linear programs are solved by `generation`. Between 250 and 600, depending on
kernel and formulation, it becomes faster than the full model of HiGHS
(benchmarks/linear_programs.py)."""


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
    sizes: tuple[float | Array, float | Array] = (1.0, 1.0)
    """Coefficients of v in these."""

    @property
    def size(self) -> int:
        """Number of columns."""
        return math.prod(self.shape) * (2 if self.absolute else 1)

    def each(self, value: float | Array) -> Array:
        """The value of each column."""
        return np.full((2 if self.absolute else 1, *self.shape), value, dtype=float).ravel()


@dataclass(frozen=True, eq=False)
class Rows:
    """A constraint of a linear program: Σ A_v v ≤ end, or = end, over the variables v in it."""

    entries: Mapping[str, Operator]
    """A_v by the name of v, (m, n), or (m, 1) for a number v."""
    end: Array
    """(m,)"""
    equal: bool = False

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.end.size

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the multipliers: a single equation has a number."""
        return () if self.equal and self.size == 1 else (self.size,)


def _none_cancels(values: Values) -> float:
    return 0.0


@dataclass(frozen=True, eq=False)
class Theorem:
    """How points of a linear program become feasible, and what multipliers prove about it."""

    repair: Callable[[Values], Values]
    """Feasible values near some values."""
    bound: Callable[[Values], float]
    """A lower bound on cᵀx from multipliers of the constraints, which holds for any of them."""
    slacks: Mapping[str, float] = field(default_factory=dict)
    """Variables that only have to be large enough, each with the least divisor of its relative
    shortfall. `repair` computes them from the others."""
    size_of_rows: Callable[[Values], float] = _none_cancels
    """Size beside which a slack is judged if the terms of its row cancel; 0 if they never do."""


def _slices(blocks: Mapping[str, Columns] | Mapping[str, Rows]) -> dict[str, slice]:
    ends = [0, *accumulate(block.size for block in blocks.values())]
    return {name: slice(*span) for name, span in zip(blocks, pairwise(ends), strict=True)}


def _joined(parts: list[Array]) -> Array:
    return np.concatenate(parts) if parts else np.empty(0)


@dataclass(eq=False, repr=False)
class LinearProgram(CompiledProgram[Array]):
    """min cᵀx  s.t.  row_lower ≤ Ax ≤ row_upper, lower ≤ x ≤ upper, made of named blocks.

    Parameters
    ----------
    variables : mapping of str to Columns
    constraints : mapping of str to Rows
    sense : {1, -1}
        Declared objective = sense · cᵀx.
    theorem : Theorem
        What is known of programs of this form.

    Attributes
    ----------
    cost, lower, upper : (n,) arrays
    row_lower, row_upper : (m,) arrays

    Examples
    --------
    min |u| + 3ξ  s.t.  1 - 2u - ξ ≤ 0,  ξ ≥ 0:

    >>> u = Columns((1,), cost=1.0, absolute=True)
    >>> xi = Columns((1,), cost=3.0, lower=0.0, constraints=("slack", None))
    >>> entries = {"u": Operator.identity(1, -2.0), "xi": Operator.identity(1, -1.0)}
    >>> theorem = Theorem(
    ...     repair=lambda v: v | {"xi": np.maximum(1.0 - 2.0 * v["u"], 0.0)},
    ...     bound=lambda multipliers: float(np.clip(multipliers["margin"][0], 0.0, 0.5)),
    ... )
    >>> margin = Rows(entries, np.array([-1.0]))
    >>> program = LinearProgram({"u": u, "xi": xi}, {"margin": margin}, theorem=theorem)
    >>> program.cost, program.dense
    (array([1., 1., 3.]), array([[-2.,  2., -1.]]))
    >>> program.from_values({"u": np.array([-0.5]), "xi": np.array([2.0])})
    array([0. , 0.5, 2. ])
    >>> program.multipliers(np.array([-0.25]))    # slack: 3 - 0.25
    {'margin': array([0.25]), 'slack': array([2.75])}
    >>> answers.feasible_values(program, {"u": np.array([0.5]), "xi": np.array([7.0])})
    {'u': array([0.5]), 'xi': array([0.])}
    >>> program.dual_bound({"margin": np.array([0.7])})    # 0.5, the optimum at u = 0.5
    0.5
    """

    title = "a linear program"
    usual_solver = "highs"
    is_linear = True
    feasible = None
    multipliers_from_solver = True
    is_convex = True

    variables: Mapping[str, Columns]
    constraints: Mapping[str, Rows]
    sense: int = 1
    theorem: Theorem = field(kw_only=True)

    def __post_init__(self) -> None:
        variables, rows = self.variables.values(), self.constraints.values()
        self._column_slices, self._row_slices = _slices(self.variables), _slices(self.constraints)
        self.cost = _joined([v.each(v.cost) for v in variables])
        self.lower = _joined([v.each(0.0 if v.absolute else v.lower) for v in variables])
        self.upper = _joined([v.each(v.upper) for v in variables])
        self.row_upper = _joined([row.end for row in rows])
        equal = _joined([np.full(row.size, row.equal) for row in rows]).astype(bool)
        self.row_lower = np.where(equal, self.row_upper, -np.inf)

    # ------------------------------------------------------------- names and places in vectors

    def values(self, x: Array) -> Values:
        """The declared variables."""
        found = {}
        for name, variable in self.variables.items():
            v = x[self._column_slices[name]]
            if variable.absolute:
                v = v[: v.size // 2] - v[v.size // 2 :]
            found[name] = v.reshape(variable.shape)[()]
        return found

    def from_values(self, values: Values) -> Array:
        parts: list[Array] = []
        for name, variable in self.variables.items():
            v = np.ravel(values[name])
            parts += [np.maximum(v, 0.0), np.maximum(-v, 0.0)] if variable.absolute else [v]
        return np.concatenate(parts)

    def _named(self, rows: Array, reduced: Array) -> Values:
        """Multipliers of the declared constraints from λ and the reduced costs c - Aᵀλ.

        As cvxpy has them: nonnegative for inequalities, -λ for equalities.
        """
        named = {}
        for name, row in self.constraints.items():
            multiplier = -rows[self._row_slices[name]].reshape(row.shape)[()]
            named[name] = multiplier if row.equal else np.maximum(multiplier, 0.0)
        for name, variable in self.variables.items():
            sides = zip(variable.constraints, (1.0, -1.0), variable.sizes, strict=True)
            for bound, sign, size in sides:
                if bound is not None:
                    signed = sign * reduced[self._column_slices[name]]
                    named[bound] = np.maximum(signed, 0.0) / np.ravel(size)
        return named

    def from_multipliers(self, multipliers: Values) -> Array:
        """λ from multipliers of the declared constraints."""
        return _joined([-np.ravel(multipliers[name]) for name in self.constraints])

    # ---------------------------------------------------------------------- A and its products

    @cached_property
    def dense(self) -> Array:
        """A as an array."""
        dense = np.zeros((self.row_upper.size, self.cost.size))
        for (label, name), A in self._entries.items():
            block = A.dense()
            if self.variables[name].absolute:
                block = np.hstack([block, -block])
            dense[self._row_slices[label], self._column_slices[name]] = block
        return dense

    def _products(self, x: Array, rows: Array) -> tuple[Array, Array]:
        """Ax and Aᵀλ; A is not formed."""
        image, values = np.zeros(self.row_lower.size), self.values(x)
        for (label, name), A in self._entries.items():
            image[self._row_slices[label]] += A.times(np.ravel(values[name]))
        return image, self._column_products(rows, self.variables.keys())

    def _column_products(self, rows: Array, names: Set[str]) -> Array:
        """Aᵀλ in the columns of some variables, and 0 in others."""
        products = np.zeros_like(self.cost)
        for (label, name), A in self._entries.items():
            if name in names:
                product = A.T.times(rows[self._row_slices[label]])
                if self.variables[name].absolute:
                    product = np.append(product, -product)
                products[self._column_slices[name]] += product
        return products

    @property
    def _entries(self) -> dict[tuple[str, str], Operator]:
        """A_v by the names of the constraint and of v."""
        return {
            (label, name): A
            for label, row in self.constraints.items()
            for name, A in row.entries.items()
        }

    # ----------------------------------------------------------------- points and multipliers

    def multipliers(self, rows: Array) -> Values:
        """Multipliers of the declared constraints from those of the rows."""
        constrained = {name for name, v in self.variables.items() if v.constraints != (None, None)}
        return self._named(rows, self.cost - self._column_products(rows, constrained))

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: variable.shape for name, variable in self.variables.items()}

    def at(self, x: Array, gradient: Array | None = None) -> Point[Array]:
        return Point(x, float(self.cost @ x), self.cost)

    @property
    def _dual_unit(self) -> float:
        """Size relative to which violations of the dual constraints are judged."""
        return max(1.0, float(np.max(np.abs(self.cost))))

    @property
    def solver_by_size(self) -> str:
        """The usual solver, or `generation` for many rows."""
        return "generation" if self.row_lower.size >= MIN_GENERATED_ROWS else self.usual_solver

    @property
    def solved_as(self) -> str:
        return f"{self.title}, by {self.solver_by_size}"

    def dual_bound(self, multipliers: Values) -> float:
        """A lower bound from multipliers of the declared constraints, which holds for any."""
        return self.theorem.bound(answers.as_held(self, multipliers))

    def arrays(self) -> Values:
        ends = ("row_lower", "row_upper", "lower", "upper")
        named = {"cost": self.cost, "A": self.dense} | {name: getattr(self, name) for name in ends}
        return named | {"sense": np.array(float(self.sense))}

    def standard_form(self) -> StandardForm:
        """The program, with A compressed by rows if a block is a multiple of the identity."""
        from scipy import sparse

        diagonal = any(A.multiple is not None and A.shape[0] > 1 for A in self._entries.values())
        matrix = sparse.csr_array(self.dense) if diagonal else self.dense
        columns, rows = (self.lower, self.upper), (self.row_lower, self.row_upper)
        return StandardForm(self.sense, self.cost, *columns, *rows, matrix)

    def repaired(self, x: Array) -> Array:
        """A feasible point near x, up to the rounding of its rows."""
        return self.from_values(self.theorem.repair(self.values(x)))

    def infeasibility(self, x: Array) -> float:
        """Largest distance of a variable from its value at a feasible point, relative to its size.

        For slacks only shortfalls count, relative to the slack or its least divisor.
        """
        theorem, found = self.theorem, self.values(x)
        near = theorem.repair(found)
        floor, worst = theorem.size_of_rows(near), 0.0
        for name, target in near.items():
            if name in theorem.slacks:
                missing = np.maximum(target - found[name], 0.0)
                size = np.maximum(np.abs(target), max(theorem.slacks[name], floor))
                shares = np.divide(missing, size, out=np.zeros_like(missing), where=missing > 0.0)
                worst = max(worst, float(np.max(shares, initial=0.0)))
                continue
            # The largest entry measures violated bounds, and the sum violated equalities.
            distance, size = np.abs(found[name] - target), np.abs(target)
            for total in (np.max, np.sum):
                missed = float(total(distance)) if distance.size else 0.0
                worst = max(worst, relative(missed, float(total(size)) if size.size else 0.0))
        return worst


@answers.line_names.register
def _(program: LinearProgram) -> tuple[str, ...]:
    return tuple(name for name, row in program.constraints.items() if row.equal)


@answers.why_convex.register
def _(program: LinearProgram) -> str:
    return "Linear"


@answers.multiplier_shapes.register
def _(program: LinearProgram) -> dict[str, tuple[int, ...]]:
    zeros = np.zeros(program.row_lower.size), np.zeros(program.cost.size)
    return {name: np.shape(v) for name, v in program._named(*zeros).items()}


@answers.feasible_values.register
def _(program: LinearProgram, values: Values | None = None) -> Values:
    x = np.zeros(program.cost.size) if values is None else program.from_values(values)
    return program.values(program.repaired(x))


@answers.attained.register
def _(
    program: LinearProgram, point: Point[Array], infeasibility: float
) -> tuple[Point[Array], float]:
    return program.at(program.repaired(point.x)), 0.0


@answers.optimality.register
def _(
    program: LinearProgram, point: Point[Array], multipliers: Values | None, tol: float = 0.0
) -> Optimality:
    """Violation of the dual constraints, and multipliers times slacks."""
    if not multipliers:
        return Optimality({}, np.inf, np.inf)
    rows = program.from_multipliers(dict(multipliers))
    image, products = program._products(point.x, rows)
    reduced = program.cost - products
    violation = paid = 0.0
    for multiplier, low, high, at in (
        (rows, program.row_lower, program.row_upper, image),
        (reduced, program.lower, program.upper, point.x),
    ):
        for side, end in ((multiplier, low), (-multiplier, high)):
            active = np.maximum(side, 0.0)
            finite = np.isfinite(end)
            violation = max(violation, float(np.max(active[~finite], initial=0.0)))
            paid += float(active[finite] @ np.abs(at[finite] - end[finite]))
    return Optimality(multipliers, violation / program._dual_unit, paid)


@answers.inconsistencies.register
def _(program: LinearProgram, optimality: Optimality, tol: float) -> list[str]:
    multipliers = dict(optimality.multipliers)
    implied = program.multipliers(program.from_multipliers(multipliers))
    return answers.wrong_signs(program, optimality, tol) + [
        f"The multipliers of {name!r} do not agree with those of the other constraints."
        for name, value in multipliers.items()
        if np.max(np.abs(value - implied[name]), initial=0.0) > tol * program._dual_unit
    ]


@answers.bounds.register
def _(
    program: LinearProgram, point: Point[Array], multipliers: Values | None
) -> Iterator[LowerBound]:
    if multipliers:
        yield LowerBound(program.dual_bound(dict(multipliers)))


@answers.terms.register
def _(program: LinearProgram, point: Point[Array]) -> float:
    return float(np.abs(program.cost) @ np.abs(point.x))


@answers.row_terms.register
def _(program: LinearProgram, x: Array, multipliers: Values) -> float:
    if not multipliers:
        return 0.0
    rows = program.from_multipliers(multipliers)
    reduced, size = program.cost - program._products(x, rows)[1], np.abs(x)
    used = np.flatnonzero(rows)
    ends = np.where(rows > 0.0, program.row_lower, program.row_upper)[used]
    sides = np.where(reduced > 0.0, program.lower, program.upper)
    sides, ends = (np.where(np.isfinite(end), np.abs(end), 0.0) for end in (sides, ends))
    total = np.abs(rows[used]) @ (ends + np.abs(program.dense[used]) @ size)
    return float(total + np.abs(reduced) @ (sides + size))
