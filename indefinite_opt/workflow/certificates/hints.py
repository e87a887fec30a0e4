"""What a point that fails was perhaps meant to be: obvious changes are tried.

Values from other programs differ in their signs, their scale or their order. If a point violates a
constraint or the first-order conditions, and one of these changes satisfies them, the certificate
says so; it certifies the point as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from indefinite_opt.formulations import ESVM
from indefinite_opt.foundation import Array, Values, checked_values
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import CompiledProgram, Declaration, Problem, VectorProgram, answers

SLACKS = {"xi": "The slacks ξ were", "delta": "The bound δ was"}
"""Variables whose best values follow from the others, with the beginning of a sentence on each."""

FITTING = 1e-2
"""Residual of the first-order conditions up to which a change fits: ten times LIBSVM's default
tolerance."""


def named(program: CompiledProgram[Any], values: Any) -> Any:
    """Numbers without a name under that of the variable, if there is only one."""
    names, array = list(program.shapes), isinstance(values, np.ndarray | list | tuple)
    return {names[0]: values} if array and len(names) == 1 else values


def completed(
    program: CompiledProgram[Any], values: Mapping[str, ArrayLike]
) -> tuple[Mapping[str, ArrayLike], list[str]]:
    """The values with the least feasible slacks if these are missing, and a sentence that says so.

    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> machine = iopt.LPSVM(C=10.0).program(problem)
    >>> completed(machine, {"u": [0.25, 0.0], "b": 0.0})[0]["xi"]
    array([0.75, 0.75])
    """
    missing = [name for name in program.shapes if name not in values]
    if not missing or not SLACKS.keys() >= set(missing):
        return values, []
    known = {name: shape for name, shape in program.shapes.items() if name not in missing}
    given = checked_values("values", values, known)
    filled = {**given, **{name: np.zeros(program.shapes[name]) for name in missing}}
    whole = answers.feasible_values(program, filled) or filled
    words = "not among the values, but computed from the others."
    return {**whole, **given}, [f"{SLACKS[name]} {words}" for name in missing]


def hint(
    problem: Problem, formulation: Declaration, program: CompiledProgram[Any], values: Values
) -> list[str]:
    """A sentence on the first obvious change of a failing point that fits, if there is one."""
    if not isinstance(problem, KernelProblem) or not isinstance(program, VectorProgram):
        return []
    x = program.from_values(values)
    outside, residual = _residuals(program, x)
    for change, words in _changes(problem, formulation, program, x):
        off, left = _residuals(program, change)
        cured = off <= FITTING * max(outside, FITTING) and left <= FITTING
        if cured and (outside > FITTING or left <= 0.01 * residual):
            conditions = f"the first-order conditions up to {left:.1e}"
            return [f"{words} satisfies the constraints, and {conditions}."]
    return []


def sign_hint(
    program: CompiledProgram[Any], x: Any, multipliers: Values, signs: str = ""
) -> list[str]:
    """A sentence if multipliers that fail satisfy the conditions with the opposite sign.

    `signs` says which ones the source of the multipliers has.
    """
    point, turned = program.at(x), {name: -value for name, value in multipliers.items()}
    before, after = (answers.optimality(program, point, given) for given in (multipliers, turned))
    left = after.stationarity
    if left > min(FITTING, before.stationarity) or answers.inconsistencies(program, after, FITTING):
        return []
    words = (
        f"With the opposite sign the multipliers satisfy the conditions up to {left:.1e}: they are "
        "expected to be nonnegative for inequalities."
    )
    return [f"{words} {signs}".strip()]


def _residuals(program: VectorProgram, x: Array) -> tuple[float, float]:
    outside = program.infeasibility(x)
    return outside, answers.optimality(program, program.at(x), None, FITTING**2).stationarity


def _changes(
    problem: KernelProblem, formulation: Declaration, program: VectorProgram, x: Array
) -> Iterator[tuple[Array, str]]:
    """Changed points, each with the beginning of a sentence."""
    y, declared = problem.y, program.values(x)
    name = next(iter(declared))
    if x.size != y.size or len(declared) > 1:
        # Several variables have no labels, nor have signed weights in their two parts.
        words = f"-{name}" if len(declared) == 1 else "The opposite of all values"
        yield program.from_values({each: -value for each, value in declared.items()}), words
        return
    yield y * x, f"y∘{name}, as LIBSVM's dual_coef_ is to be read,"
    yield -x, f"-{name}"
    if isinstance(formulation, ESVM):
        back = y * formulation.stabilised(problem).coefficients(y * x)
        yield back, "α̃ = y∘(V sign(Λ) Vᵀ(y∘α)), for these values as the paper's α,"
    total, wanted = float(x.sum()), program.feasible.total
    if wanted and total > 0.0:
        yield x * (wanted / total), f"{name} scaled to the sum {wanted:g}"
    grouped = np.argsort(-y, kind="stable")
    orders = {
        "in the order of the points +1, then -1": grouped,
        "in the order of the points -1, then +1": np.argsort(y, kind="stable"),
        "in the reverse order": np.arange(y.size)[::-1],
    }
    for words, order in orders.items():
        placed = np.empty_like(x)
        placed[order] = x
        yield placed, f"{name} read as a vector {words}"
