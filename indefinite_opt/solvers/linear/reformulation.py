"""Standard forms of linear programs: of a program or its dual, in some units."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

import numpy as np

from indefinite_opt.foundation import EPS, Array, Values, cached_property, power_near
from indefinite_opt.modeling.linear_programs import LinearProgram
from indefinite_opt.quadratic import StandardForm, Units

MIN_REDUCTION = 8.0
"""Factor by which a multiple of equations must reduce the largest entry of a row to be subtracted
from it: three bits of the entries are gained."""

MODERATE = 1e-4, 1e4
"""Sizes of entries and ends at which programs are first solved in their natural units."""


@dataclass(frozen=True, eq=False)
class Reformulation:
    """A linear program or its dual in standard form, and how points of the form are read back.

    In other units than those of the program v = column∘v' and G' = row∘(G - levelᵀE)∘column, with
    the rows E of the equations, and zero levels for these rows themselves.
    """

    program: LinearProgram
    form: StandardForm
    """min cᵀv  s.t.  row_lower ≤ Gv ≤ row_upper, lower ≤ v ≤ upper, with a dense G, (m, n)."""
    row_blocks: list[slice]
    column_blocks: list[slice]
    """The rows and the columns that have one unit each."""
    units: Units
    is_dual: bool = False
    level: Array | None = None
    """One row for each equation, (k, m); None in the units of the program."""

    @classmethod
    def of(cls, program: LinearProgram) -> Reformulation:
        """The form in natural units: the dual, if slacks of rows become bounds of its variables.

        That has a half or a third of the columns, and rows that need not be there from the start.
        """
        slacks = _slacks_of_rows(program)
        if slacks:
            return _dual(program, slacks)
        form = StandardForm(
            1, program.cost, program.lower, program.upper, program.row_lower, program.row_upper,
            program.dense,
        )  # fmt: skip
        rows = _slices([row.size for row in program.constraints.values()])
        columns = _slices([variable.size for variable in program.variables.values()])
        return cls(program, form, rows, columns, _as_given(form))

    @property
    def is_natural(self) -> bool:
        """Whether the units are those of the program.

        In other units the matrix G is the same whatever the ends of rows and variables are.
        """
        return self.level is None

    def solution(self, v: Array, rows: Array) -> tuple[Values, Values]:
        """Variables and multipliers of the declared program from v and the multipliers of rows."""
        program = self.program
        v, rows = self.units.read(v), self.units.row * rows
        if self.level is not None:
            rows[self.form.equal] -= self.level @ rows
        if not self.is_dual:
            return program.values(v), program.multipliers(rows)
        values = {name: np.zeros(block.shape) for name, block in program.variables.items()}
        names = [name for name in values if name not in _slacks_of_rows(program)]
        for name, part in zip(names, self.row_blocks, strict=True):
            values[name] = -rows[part].reshape(values[name].shape)
        return values, program.multipliers(v)

    @property
    def cost_units(self) -> tuple[float, float]:
        """Units that make the smallest nonzero cost, or the largest, about 1.

        Tolerances of HiGHS are absolute. They mean most in the first unit; where costs differ by
        many powers of ten only the second may let the simplex method come to an end.
        """
        costs = np.abs(self.form.cost[self.form.cost != 0.0])
        if not costs.size:
            return 1.0, 1.0
        return float(power_near(costs.min())), float(power_near(costs.max()))

    # ------------------------------------------------------------------------------------ units

    @cached_property
    def is_moderate(self) -> bool:
        """Whether the largest entry of each block and the least end are not small or large."""
        entries = self._sizes(self.form.matrix)
        sizes = [*entries[entries > 0.0], _least_end(self.form, _as_given(self.form))]
        return MODERATE[0] <= min(sizes) and max(sizes) <= MODERATE[1]

    def _sizes(self, matrix: Array) -> Array:
        """The largest |entry| of each block."""
        return np.array(
            [[float(np.max(np.abs(matrix[rows, columns]), initial=0.0))
              for columns in self.column_blocks] for rows in self.row_blocks]
        ).reshape(len(self.row_blocks), len(self.column_blocks))  # fmt: skip

    def in_good_units(self) -> Reformulation:
        """The form in units in which the largest entry of each block is about 1.

        Such units of rows and columns can be multiplied and divided by any number; they are the
        ones in which the least end, by which v is limited, is about 1, too. Before that, multiples
        of equations are subtracted from rows that they make far smaller, as a constant added to a
        kernel is where weights are balanced.
        """
        form, level = self.form, self._levels()
        if level.any():
            ends = form.row_lower[form.equal] @ level
            form = form._replace(
                matrix=form.matrix - level.T @ form.matrix[form.equal],
                row_lower=form.row_lower - ends, row_upper=form.row_upper - ends,
            )  # fmt: skip
        # Units r of blocks of rows and c of columns such that rc times the size of each block is 1.
        sizes = self._sizes(form.matrix)
        k, j = np.nonzero(sizes)
        equations = np.zeros((k.size, sum(sizes.shape)))
        equations[np.arange(k.size), k] = equations[np.arange(k.size), len(sizes) + j] = 1.0
        factors = np.linalg.lstsq(equations, -np.log2(sizes[k, j]), rcond=None)[0]
        factors = np.exp2(np.round(factors))
        units = _as_given(form)
        for part, factor in zip(self.row_blocks, factors[: len(sizes)], strict=True):
            units.row[part] = factor
        for part, factor in zip(self.column_blocks, factors[len(sizes) :], strict=True):
            units.column[part] = factor
        unit = float(power_near(np.array(_least_end(self.form, units))))
        units = Units(units.column * unit, units.row / unit)
        return replace(self, form=form.in_units(units), units=units, level=level)

    def _levels(self) -> Array:
        """The multiples of equations that reduce each other row most, where they reduce it much."""
        equal = self.form.equal
        E, rest = self.form.matrix[equal], self.form.matrix[~equal]
        level, common = np.zeros((len(E), equal.size)), E.any(axis=0)
        if not common.any() or not len(rest):
            return level
        E, rest = E[:, common], rest[:, common]
        fitted = np.linalg.lstsq(E.T, rest.T, rcond=None)[0]
        sizes = np.abs(rest).max(axis=1)
        spreads = np.abs(rest - fitted.T @ E).max(axis=1)
        # The rounding of a constant row does not count as spread.
        steep = (MIN_REDUCTION * spreads < sizes) & (spreads > common.size * EPS * sizes)
        level[:, ~equal] = np.where(steep, fitted, 0.0)
        return level


def reformulations(program: LinearProgram) -> Iterator[Reformulation]:
    """The units to solve a program in, one or two, the more promising ones first.

    Natural units are often better than those that make all entries about 1, but tolerances of
    solvers are absolute.
    """
    natural = Reformulation.of(program)
    if natural.is_moderate:
        yield natural
    if program.constraints:
        yield natural.in_good_units()
    if not natural.is_moderate:
        yield natural


def _as_given(form: StandardForm) -> Units:
    """Units of 1."""
    return Units(np.ones(form.cost.size), np.ones(form.row_lower.size))


def _least_end(form: StandardForm, units: Units) -> float:
    """The least nonzero |end| of a row or a variable in some units."""
    rows = [units.row * end for end in (form.row_lower, form.row_upper)]
    ends = np.abs(np.concatenate([*rows, units.write(form.lower), units.write(form.upper)]))
    ends = ends[np.isfinite(ends) & (ends > 0.0)]
    return float(ends.min()) if ends.size else 1.0


def _slices(sizes: list[int]) -> list[slice]:
    return [slice(*span) for span in pairwise([0, *accumulate(sizes)])]


def _slacks_of_rows(program: LinearProgram) -> dict[str, tuple[str, float]]:
    """Slacks ξ ≥ 0 with entries d·I in a single constraint each: that constraint and d."""
    found = {}
    for name in program.theorem.slacks:
        rows = [(label, row.entries[name].multiple)
                for label, row in program.constraints.items() if name in row.entries]  # fmt: skip
        if len(rows) == 1 and rows[0][1] is not None and program.variables[name].shape:
            found[name] = (rows[0][0], rows[0][1])
    return found


def _dual(program: LinearProgram, slacks: dict[str, tuple[str, float]]) -> Reformulation:
    """min -endᵀλ over the multipliers λ of all rows, with c - Aᵀλ as the signs of bounds ask it.

    Variables are free, nonnegative, or have the cost c|v|.

    That is Aᵀλ ≤ c for v ≥ 0, Aᵀλ = c for a free v, |Aᵀλ| ≤ c for the cost c|v|, and for a slack
    with entries d·I the bound λ ≥ c/d.
    """
    constraints = program.constraints
    columns = _slices([row.size for row in constraints.values()])
    parts = dict(zip(constraints, columns, strict=True))
    lower = np.full(program.row_upper.size, -np.inf)
    upper = np.where(program.row_lower == program.row_upper, np.inf, 0.0)
    blocks, low, high = [], [], []
    for name, variable in program.variables.items():
        if name in slacks:
            label, d = slacks[name]
            lower[parts[label]] = np.broadcast_to(variable.cost, variable.shape) / d
            continue
        size = math.prod(variable.shape)
        block = np.zeros((size, lower.size))
        for label, row in constraints.items():
            if name in row.entries:
                block[:, parts[label]] = row.entries[name].T.dense()
        cost = np.full(size, variable.cost, dtype=float)
        is_free = not variable.absolute and np.isinf(variable.lower)
        blocks.append(block)
        high.append(cost)
        low.append(-cost if variable.absolute else cost if is_free else np.full(size, -np.inf))
    form = StandardForm(
        1, -program.row_upper, lower, upper, np.concatenate(low), np.concatenate(high),
        np.vstack(blocks),
    )  # fmt: skip
    rows = _slices([len(block) for block in blocks])
    return Reformulation(program, form, rows, columns, _as_given(form), is_dual=True)
