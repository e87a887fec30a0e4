"""Quadratic programs in one variable with the kernel matrix, and the least squares of KSVM."""

from __future__ import annotations

from typing import Any

import numpy as np

from indefinite_opt.algebra import Operator, level
from indefinite_opt.foundation import EPS, Array
from indefinite_opt.modeling.compiler.reading import (
    Mismatch,
    Reading,
    is_variable,
    kernel_in,
    only,
    reduced,
    require,
)
from indefinite_opt.modeling.programs import signed_qp
from indefinite_opt.problem import KernelFactor, KernelProblem
from indefinite_opt.quadratic import DenseGram, KreinLeastSquares, PairedQP, kernel_qp


def one_class_program(reading: Reading, problem: KernelProblem) -> PairedQP:
    """½hxᵀKx + cᵀx on 0 ≤ x ≤ u, eᵀx = t, which needs no labels."""
    form = reading.form
    require(len(form.variables) == 1 and not form.separables and form.quadratics)
    ((variable, shape),) = form.variables.items()
    require(shape == (problem.n,))
    total = reading.equation("total", variable, np.ones(problem.n)) or 0.0
    bounds = reading.bounds(variable, "lower", "upper")
    require(total > 0.0 and len(form.rows) == 1 and set(bounds) == {"lower", "upper"})
    require(only(bounds["lower"].end) == 0.0)
    H, c, constant = reading.quadratic_form(variable)
    require(constant == 0.0)
    h, kernel = _scaled_kernel(H, problem.unlabelled, "K")
    upper = only(bounds["upper"].end)
    return kernel_qp(kernel, h, level(c), upper, 1, total, form.sense, variable)


def signed_program(reading: Reading, problem: KernelProblem) -> PairedQP:
    """½hβᵀKβ + cᵀβ + ε‖β‖₁ on -u ≤ β ≤ u, eᵀβ = 0, and ‖β‖₁ ≤ t where that is declared.

    u has an entry per point only where t is not declared.
    """
    form = reading.form
    require(len(form.variables) == 1 and form.quadratics)
    ((variable, shape),) = form.variables.items()
    require(shape == (problem.n,) and (form.separables or form.norms))
    epsilon, total = 0.0, 0.0
    for term in reading.separables():
        require(term.kind == "abs" and is_variable(term.u, variable) and only(term.weights) >= 0.0)
        epsilon += only(term.weights)
    for norm in reading.norms():
        require(is_variable(norm.u, variable) and not total)
        total = norm.end
        reading.spell("norm", norm.name, norm.size)
        require(total > 0.0)
    balance = reading.equation("balance", variable, np.ones(problem.n))
    bounds = reading.bounds(variable, "lower", "upper")
    # With a bound t of the norm both parts grow by the same amount until their sum is t. That
    # must not change the objective, as ε‖β‖₁ would.
    require(not (total and epsilon))
    require(balance == 0.0 and len(form.rows) == 1 and set(bounds) == {"lower", "upper"})
    upper = level(np.atleast_1d(bounds["upper"].end))
    require(np.all(upper > 0.0) and np.all(bounds["lower"].end == -upper))
    # With more than half of the largest norm, pairs of parts cannot make up for a smaller one.
    if total:
        require(np.ndim(upper) == 0 and total <= problem.n * upper * (1.0 + 4.0 * EPS))
        total = min(total, problem.n * float(upper))
    H, c, constant = reading.quadratic_form(variable)
    require(constant == 0.0)
    h, kernel = _scaled_kernel(H, problem.unlabelled, "K")
    return signed_qp(kernel, h, c, epsilon, upper, total, form.sense, variable)


def box_line_program(reading: Reading, problem: KernelProblem) -> PairedQP:
    """½hxᵀQx + cᵀx on 0 ≤ x ≤ u, with the lines yᵀx = 0 and eᵀx = t or without them."""
    form = reading.form
    require(len(form.variables) == 1 and not form.separables and form.quadratics)
    ((variable, shape),) = form.variables.items()
    require(shape == (problem.n,))
    vectors = {"balance": problem.y, "total": np.ones(problem.n)}
    values = {name: reading.equation(name, variable, a) for name, a in vectors.items()}
    lines = [(vectors[name], value) for name, value in values.items() if value is not None]
    require(len(lines) == len(form.rows) and (not lines or values["balance"] == 0.0))
    total = values["total"] or 0.0
    require(total > 0.0 or len(lines) < 2)
    bounds = reading.bounds(variable, "lower", "upper")
    require("lower" in bounds and np.ndim(bounds["lower"].end) == 0 and bounds["lower"].end == 0.0)
    upper = bounds["upper"].end if "upper" in bounds else np.inf
    require(np.all(np.asarray(upper) > 0.0))
    # An infinite bound has no multipliers here, but has them under its declared name elsewhere.
    require("upper" not in bounds or np.any(np.isfinite(upper)))
    H, slope, constant = reading.quadratic_form(variable)
    H, slope = reduced(H, slope, lines)
    c = level(slope)
    require(len(lines) < 2 or not (np.ndim(upper) or np.ndim(c)))
    least_squares = _source(H)
    if least_squares is not None:
        weight, source = least_squares
        # Its bounds are those of ‖Gx - e‖², to which no linear term may be added.
        require(weight == 2.0 and constant == problem.n and len(lines) == 1)
        require(form.sense == 1 and variable == "alpha" and not np.ndim(upper))
        require(_is_least_squares(c, source))
        return KreinLeastSquares.of(source, only(upper), np.full(problem.n, c))
    require(constant == 0.0)
    h, kernel = _scaled_kernel(H, problem)
    return kernel_qp(kernel, h, c, upper, len(lines), total, form.sense, variable)


def _source(H: Operator) -> tuple[float, KernelProblem] | None:
    """c and the problem of K, if H is c·diag(y)K²diag(y)."""
    if len(H.terms) != 1:
        return None
    ((c, factors),) = H.terms
    inner = [factor for factor in factors if isinstance(factor, KernelFactor)]
    if len(factors) != 4 or len(inner) != 2 or not inner[0].same(inner[1]):
        return None
    halves = Operator(H.shape, ((1.0, factors[:2]),)), Operator(H.shape, ((1.0, factors[2:]),))
    kernel_in(halves[0], "dK")
    kernel_in(halves[1], "Kd")
    return c, inner[0].problem


def _is_least_squares(c: float | Array, source: KernelProblem) -> bool:
    """Whether c is -2Ge up to rounding."""
    sizes = source.gram.largest * source.n
    return bool(np.all(np.abs(c + 2.0 * source.y * source.gram.times(source.y)) <= 1e-14 * sizes))


def _scaled_kernel(
    H: Operator, problem: KernelProblem, shape: str = "dKd"
) -> tuple[float, KernelProblem]:
    """h > 0 and a problem with H = h·diag(y)K diag(y); without labels `shape` is "K"."""
    require(H.terms)
    try:
        h, kernel = kernel_in(H, shape)
    except Mismatch:
        return _formed(H, problem)
    require(h > 0.0)
    if kernel.problem.gram is problem.gram:
        return h, problem
    require(np.array_equal(kernel.problem.y, problem.y))
    return h, kernel.problem


def _formed(H: Operator, problem: KernelProblem) -> tuple[float, KernelProblem]:
    """The same for a sum of matrices, which is formed: K plus a ridge, or an array of the user."""
    h = H.terms[0][0] if len(H.terms) == 1 and H.terms[0][0] > 0.0 else 1.0
    made: Any = H.scaled(1.0 / h).dense()
    made *= problem.y[:, None]
    made *= problem.y
    if not problem.gram.on_demand and np.array_equal(made, problem.K):
        return h, problem
    return h, problem.with_gram(DenseGram.of_own(0.5 * (made + made.T)))
