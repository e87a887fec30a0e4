"""Programs with a loss or a slack per point whose classes hold theorems about them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from indefinite_opt.algebra import DiagonalFactor, Operator
from indefinite_opt.modeling.compiler.linear_programs import has_margins, has_shapes
from indefinite_opt.modeling.compiler.reading import Reading, is_kernel_of, only, positive, require
from indefinite_opt.modeling.programs import (
    LiftedHulls,
    LiftedPrimal,
    LogisticProgram,
    SeparabilityProgram,
)
from indefinite_opt.problem import KernelProblem, embed


def logistic(reading: Reading, problem: KernelProblem) -> LogisticProgram:
    """min ½‖α‖² + C Σ log(1 + exp(-y_i((Kα)_i + b)))."""
    form = reading.form
    require(form.variables == {"alpha": (problem.n,), "b": ()} and form.sense == 1)
    require(len(form.separables) == 1 and reading.square_of("alpha").P is None)
    (loss,) = reading.separables()
    require(loss.kind == "logistic" and set(loss.u.linear) == {"alpha", "b"})
    require(is_kernel_of(problem, loss.u.linear["alpha"], -1.0, "dK"))
    require(not loss.u.constants.any())
    require(np.array_equal(loss.u.linear["b"].column, -problem.y))
    return LogisticProgram(problem, positive(loss.weights))


def separability(reading: Reading, problem: KernelProblem) -> SeparabilityProgram:
    """min ½αᵀRα + C eᵀξ  s.t.  Qα + by ≥ e - ξ, ξ ≥ 0, with R = I or R = Q."""
    form = reading.form
    require(has_shapes(form, "alpha", problem.n) and form.sense == 1)
    require(not form.separables)
    P = reading.square_of("alpha").P
    identity = P is None or P.multiple == 1.0
    if P is not None and not identity:
        require(is_kernel_of(problem, P, 1.0, "dKd"))
    require(has_margins(reading, problem, "alpha", "dKd"))
    return SeparabilityProgram(problem, positive(reading.cost("xi")), identity=identity)


def lifted(reading: Reading, problem: KernelProblem) -> LiftedPrimal | LiftedHulls:
    """min ½wᵀMw + penalty·eᵀξ + ... with the points of an isometric embedding in the rows."""
    form, y = reading.form, problem.y
    scalars = {name for name, shape in form.variables.items() if not shape}
    require(set(form.variables) == {"w", "xi"} | scalars and form.sense == 1)
    require(form.variables["xi"] == (problem.n,))
    require(not form.separables)
    square, row = reading.square_of("w"), reading.inequality("margin", "xi")
    M, embedding = None if square.P is None else square.P.diagonal, embed(problem)
    # Lifting needs an isometric embedding of this very kernel.
    require(M is not None and np.array_equal(M, embedding.M))
    require(set(row.linear) == set(form.variables) and row.linear["xi"].multiple == -1.0)
    signs, inner = Operator.of(DiagonalFactor(y)), Operator.of(DiagonalFactor(embedding.M))
    points = (signs @ -row.linear["w"] @ inner).dense()
    require(np.array_equal(points, embedding.points))
    penalty = reading.cost("xi")
    require(reading.is_nonnegative("xi", "slack"))
    columns = {name: row.linear[name].column for name in scalars}
    if scalars == {"b"}:
        require(np.array_equal(columns["b"], -y) and np.all(row.constants == 1.0))
        return LiftedPrimal(problem, embedding, positive(penalty))
    require(scalars == {"rho_plus", "rho_minus"} and not row.constants.any())
    costs = [only(reading.cost(name)) for name in ("rho_plus", "rho_minus")]
    require(costs == [-1.0, 1.0])
    require(np.array_equal(columns["rho_plus"], np.where(y > 0, 1.0, 0.0)))
    require(np.array_equal(columns["rho_minus"], np.where(y < 0, -1.0, 0.0)))
    # The dual has weights only if each class can have the sum 1: without rounding, as the primal
    # is unbounded otherwise.
    mu, smaller = positive(penalty), problem.smaller_class
    require(mu * smaller >= 1.0 - 1e-12)
    if Fraction(mu) * smaller < 1:
        mu = float(np.nextafter(1.0 / smaller, np.inf))
    return LiftedHulls(problem, embedding, mu)
