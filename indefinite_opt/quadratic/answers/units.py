"""In which units gaps and values of 0 are judged; see `programs.gaps`."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from indefinite_opt.foundation import Array, Values
from indefinite_opt.quadratic.answers.multipliers import as_held, of_all_rows
from indefinite_opt.quadratic.programs.gaps import ZERO_SHARE
from indefinite_opt.quadratic.programs.paired_program import PairedProgram
from indefinite_opt.quadratic.programs.paired_qp import PairedQP
from indefinite_opt.quadratic.programs.program import CompiledProgram, Point
from indefinite_opt.quadratic.rows.multipliers import of_rows
from indefinite_opt.quadratic.rows.polyhedral_qp import PolyhedralQP

_FAR = 1e-12
"""Share of the terms of F above which it is not 0 up to their rounding, whatever rows add."""


def gap_unit(program: CompiledProgram[Any], value: float) -> float:
    """u = min(|F|, |F + constant|), the divisor of gaps; see `gaps`."""
    return min(abs(value), abs(value + program.constant))


@singledispatch
def terms(program: CompiledProgram[Any], point: Point[Any]) -> float:
    """Σ|terms of F|, or less; without its constant."""
    return abs(point.value)


@terms.register
def _(qp: PairedQP, point: Point[Array]) -> float:
    """½h|x|ᵀ|K||x| + |c|ᵀ|x|, or 0 where |F| is far above the rounding of such terms."""
    size = np.abs(point.x)
    pull, half = float((np.abs(qp.linear) * size).sum()), 0.5 * qp.hessian
    # Rows on demand are not computed for an F that is not 0, nor large blocks read.
    most = half * qp.gram.largest_read * float(np.square(size.sum()))
    if gap_unit(qp, point.value) > _FAR * (most + pull):
        return 0.0
    support = np.flatnonzero(size)
    block = np.abs(qp.gram.block(support, support))
    return half * float(size[support] @ block @ size[support]) + pull


@terms.register
def _(qp: PolyhedralQP, point: Point[Array]) -> float:
    # The value of an atom is rounded as the terms of what it stands for are.
    return sizes_of_terms(qp, qp.terms(point.x))


def sizes_of_terms(qp: PolyhedralQP, size: Array) -> float:
    """½|x|ᵀ|P||x| + |q|ᵀ|x|, given `size` = |x|, (n,)."""
    return float(size @ (0.5 * (qp.along_rows.sizes @ size) + np.abs(qp.q)))


@singledispatch
def row_terms(program: CompiledProgram[Any], x: Any, multipliers: Values) -> float:
    """Σᵢ|λᵢ|(|bᵢ| + Σⱼ|aᵢⱼxⱼ|) over rows and bounds with multipliers λ, or less."""
    return 0.0


@row_terms.register
def _row_terms_of_pairs(program: PairedProgram, x: Array, multipliers: Values) -> float:
    box, held = program.feasible, as_held(program, multipliers)
    size, total = np.abs(x), 0.0
    if box.names:
        lines = np.abs([held[name] for name in box.names])
        total += float(lines @ (np.abs(box.A) @ size + np.abs(box.b)))
    for name, ends in (("lower", box.lower), ("upper", box.upper)):
        finite = np.where(np.isfinite(ends), np.abs(ends), 0.0) + size
        total += float(np.abs(held.get(name, np.zeros(box.n))) @ finite)
    return total


@row_terms.register
def _(qp: PairedQP, x: Array, multipliers: Values) -> float:
    return _row_terms_of_pairs(qp, qp.least(x), multipliers)


@row_terms.register
def _(qp: PolyhedralQP, x: Array, multipliers: Values) -> float:
    body = qp.feasible
    size, stacked = np.abs(x), of_all_rows(qp, multipliers, x)
    rows = np.abs(np.concatenate(of_rows(body, stacked)))
    total = float(rows @ (np.abs(body.rhs) + abs(body.rows) @ size)) if rows.size else 0.0
    for name, ends in (("lower", body.lower), ("upper", body.upper)):
        finite = np.where(np.isfinite(ends), np.abs(ends), 0.0) + size
        total += float(np.abs(stacked.get(name, np.zeros(qp.n))) @ finite)
    return total


def zero_range(
    program: CompiledProgram[Any], point: Point[Any], multipliers: Values | None = None
) -> float:
    """R: a value and a bound in [-R, R] are 0 up to rounding; see `gaps`."""
    rows = 0.0 if multipliers is None else row_terms(program, point.x, multipliers)
    return ZERO_SHARE * (terms(program, point) + abs(program.constant) + rows)


def are_zero(program: CompiledProgram[Any], zero_range: float, *values: float) -> bool:
    """Whether these F are all in [-R, R]; or F + constant, if that is smaller at the first."""
    first = values[0]
    shift = 0.0 if abs(first) <= abs(first + program.constant) else program.constant
    return all(abs(value + shift) <= zero_range for value in values)
