"""Linear programs: three with the kernel matrix in their rows, and those on a box."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from indefinite_opt.algebra import Canonical, Operator, level
from indefinite_opt.foundation import Array
from indefinite_opt.modeling.compiler.reading import (
    Mismatch,
    Reading,
    is_kernel_of,
    kernel_in,
    only,
    positive,
    require,
)
from indefinite_opt.modeling.linear_programs import (
    Columns,
    LinearProgram,
    Rows,
    one_class_description,
    one_norm_machine,
    plain_box,
    sensitivity_game,
)
from indefinite_opt.problem import KernelProblem


class Blocks(NamedTuple):
    """A linear program as it is declared."""

    variables: dict[str, Columns]
    constraints: dict[str, Rows]
    sense: int


def blocks(form: Canonical) -> Blocks:
    """The blocks of a form with affine terms and absolute values of whole variables only."""
    norms = {name: part for part in form.separables for name in part.u.linear}
    variables = {}
    # Numbers last: HiGHS then pivots on vectors first.
    for name, shape in sorted(form.variables.items(), key=lambda variable: not variable[1]):
        bounds = {bound.side: bound for bound in form.bounds if bound.variable == name}
        ends = {side: bound.end for side, bound in bounds.items()}
        names = [bounds[side].name if side in bounds else None for side in ("lower", "upper")]
        sizes = [bounds[side].size if side in bounds else 1.0 for side in ("lower", "upper")]
        cost = form.cost(name)
        cost = np.zeros(1) if cost is None else cost
        variables[name] = Columns(
            shape,
            norms[name].weights if name in norms else level(cost),
            absolute=name in norms,
            constraints=(names[0], names[1]),
            sizes=(sizes[0], sizes[1]),
            **ends,
        )
    rows = {row.name: Rows(row.u.linear, 0.0 - row.u.constants, row.equal) for row in form.rows}
    return Blocks(variables, rows, form.sense)


def one_norm(reading: Reading, problem: KernelProblem) -> LinearProgram:
    """min ‖u‖₁ + C eᵀξ  s.t.  y∘(Ku + be) ≥ e - ξ,  ξ ≥ 0."""
    form = reading.form
    require(has_shapes(form, "u", problem.n) and form.sense == 1)
    require(len(form.separables) == 1 and not form.quadratics)
    (norm,) = reading.separables()
    require(norm.kind == "abs" and list(norm.u.linear) == ["u"] and only(norm.weights) == 1.0)
    require(norm.u.linear["u"].multiple == 1.0 and not norm.u.constants.any())
    require(has_margins(reading, problem, "u", "dK"))
    theorem = one_norm_machine(problem, positive(reading.cost("xi")))
    return LinearProgram(*blocks(form), theorem=theorem)


def has_shapes(form: Canonical, variable: str, n: int) -> bool:
    """Whether the variables are a vector of n, the slacks ξ of n points and an offset b."""
    return form.variables == {variable: (n,), "b": (), "xi": (n,)}


def has_margins(reading: Reading, problem: KernelProblem, variable: str, shape: str) -> bool:
    """Whether the rows are e - ξ ≤ Av + by with ξ ≥ 0 and the kernel matrix in A."""
    row = reading.inequality("margin", "xi")
    require(row.m == problem.n)
    require(set(row.linear) == {variable, "b", "xi"})
    require(is_kernel_of(problem, row.linear[variable], -1.0, shape))
    require(row.linear["xi"].multiple == -1.0 and np.all(row.constants == 1.0))
    require(np.array_equal(row.linear["b"].column, -problem.y))
    return reading.is_nonnegative("xi", "slack")


def game(reading: Reading, problem: KernelProblem) -> LinearProgram:
    """min δ  s.t.  Δᵀα ≤ δe, yᵀα = 0, eᵀα = 1, 0 ≤ α ≤ β̄."""
    form, y = reading.form, problem.y
    require(form.variables == {"alpha": (problem.n,), "delta": ()} and form.sense == 1)
    require(not form.separables and not form.quadratics)
    require(only(reading.cost("delta")) == 1.0)
    rows = reading.inequality("sensitivity", "delta")
    require(set(rows.linear) == {"alpha", "delta"} and not rows.constants.any())
    require(rows.m == problem.n)
    require(np.all(rows.linear["delta"].column == -1.0))
    require(reading.equation("balance", "alpha", y) == 0.0)
    require(reading.equation("total", "alpha", np.ones(y.size)) == 1.0)
    bounds = reading.bounds("alpha", "lower", "upper")
    require(set(bounds) == {"lower", "upper"})
    require(only(bounds["lower"].end) == 0.0)
    beta = only(bounds["upper"].end)
    # Repaired points and bounds exist only if each class can have the weight 1/2.
    require(beta * problem.smaller_class >= 0.5 * (1.0 - 1e-12))
    Delta = _sensitivity(rows.linear["alpha"].T, problem)
    return LinearProgram(*blocks(form), theorem=sensitivity_game(problem, Delta, beta))


def _sensitivity(Delta: Operator, problem: KernelProblem) -> Array | None:
    """Δ as an array, or None for 2Q."""
    try:
        c, kernel = kernel_in(Delta, "dKd")
    except Mismatch:
        return Delta.dense()
    require(c == 2.0 and kernel.problem.gram is problem.gram)
    return None


def one_class(reading: Reading, problem: KernelProblem) -> LinearProgram:
    """min σρ + p eᵀξ  s.t.  σMw ≤ σρe + ξ, eᵀw = 1, w ≥ 0, ξ ≥ 0, and ρ ≥ 0 if σ = 1."""
    form, n = reading.form, problem.n
    require(form.variables == {"w": (n,), "rho": (), "xi": (n,)})
    require(not (form.separables or form.quadratics or form.norms))
    sigma = float(form.sense)
    require(only(reading.cost("rho")) == sigma and not np.any(reading.cost("w")))
    price = positive(reading.cost("xi"))
    rows = reading.inequality("boundary", "xi")
    require(set(rows.linear) == {"w", "rho", "xi"} and not rows.constants.any())
    described = _described(rows.linear["w"], sigma, problem)
    require(np.all(rows.linear["rho"].column == -sigma) and rows.linear["xi"].multiple == -1.0)
    require(reading.equation("total", "w", np.ones(n)) == 1.0)
    require(reading.is_nonnegative("w", "lower") and reading.is_nonnegative("xi", "slack"))
    require(sigma < 0.0 or reading.is_nonnegative("rho", "radius"))
    require(price * n >= 1.0 and form.constant == 0.0)
    theorem = one_class_description(described, price, form.sense)
    return LinearProgram(*blocks(form), theorem=theorem)


def _described(A: Operator, sigma: float, problem: KernelProblem) -> KernelProblem:
    """The problem whose kernel matrix times σ is A: that of the points, or of their distances."""
    if is_kernel_of(problem, A, sigma, "K"):
        return problem
    c, kernel = kernel_in(A, "K")
    require(c == sigma)
    found: KernelProblem = kernel.problem
    return found


def box(reading: Reading, problem: KernelProblem) -> LinearProgram:
    """min cᵀx on a box of finite ends."""
    form = reading.form
    require(len(form.variables) == 1 and not (form.rows or form.quadratics or form.separables))
    ((variable, shape),) = form.variables.items()
    require(len(shape) == 1)
    reading.cost(variable)
    bounds = reading.bounds(variable, "lower", "upper")
    require(set(bounds) == {"lower", "upper"})
    ends = [
        np.broadcast_to(np.asarray(bounds[side].end, float), shape) for side in ("lower", "upper")
    ]
    require(all(np.isfinite(end).all() for end in ends) and np.all(ends[0] <= ends[1]))
    declared = blocks(form)
    return LinearProgram(*declared, theorem=plain_box(declared.variables))
