"""Proofs of bounds of linear programs and of the programs of Luss & d'Aspremont, as documents."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from indefinite_opt.errors import ParameterError
from indefinite_opt.foundation import Array
from indefinite_opt.modeling.linear_programs import LinearProgram
from indefinite_opt.modeling.programs import ProxyDual, ProxyPoint
from indefinite_opt.quadratic import (
    Descent,
    Document,
    Task,
    bound_document,
    document,
    linear_document,
    plain,
    triangle,
)
from indefinite_opt.solvers.proxy_kernel import MIN_INNER_TOL


@bound_document.register(LinearProgram)
def _linear_bound(
    program: LinearProgram,
    task: Task[Any],
    values: Mapping[str, Array],
    multipliers: Mapping[str, Array],
    witness: object,
) -> Document:
    given = program.from_multipliers(dict(multipliers))
    return linear_document(program.standard_form(), given)


@bound_document.register(ProxyDual)
def _proxy_bound(
    program: ProxyDual,
    task: Task[Any],
    values: Mapping[str, Array],
    multipliers: Mapping[str, Array],
    witness: object,
) -> Document:
    return proxy_document(task, np.asarray(values[program.variable], float))


def proxy_document(task: Task[ProxyDual], x: Array) -> Document:
    """The proof of a bound on a Luss dual, by the proxy kernel of x and its own best weights."""
    dual = task.program
    y, arrays = dual.problem.y, dual.arrays()
    factor = _factor(dual.at(x))
    qp = dual.svm(factor @ factor.T, "its kernel matrix is F times its transpose")
    # Wherever the descent ends, a bound follows.
    inner = task.on(qp, problem=qp.problem, tol=MIN_INNER_TOL, max_iter=100_000)
    run = Descent(inner, dual.feasible.project(x))
    run.to_stationarity()
    margins = factor @ (factor.T @ (y * run.alpha))
    # The loss is convex and piecewise linear in the offset, so one of its kinks is optimal.
    offsets = y - margins
    left = np.maximum(1.0 - y[:, None] * (margins[:, None] + offsets), 0.0).sum(axis=0)
    distance = "radius" if dual.rho is None else "rho"
    program = {
        "K": triangle(arrays["K0"]),
        "y": [int(label) for label in y],
        "C": dual.feasible.upper,
    }
    content = {
        "factor": [plain(row) for row in factor],
        "point": plain(y * run.alpha),
        "offset": float(offsets[np.argmin(left)]),
    }
    program[distance] = float(arrays[distance])
    return document("proxy", program, {"sense": -1, "constant": 0}, content)


def _factor(point: ProxyPoint) -> Array:
    """F with FFᵀ its proxy kernel, up to rounding, but exactly in the ball if there is one."""
    dual = point.dual
    # Relative increases of the penalty of the distance, until the kernel is exactly in the ball.
    for share in (0.0, 1e-12, 1e-10, 1e-8, 1e-6):
        eigen = point.eigen_at(1.0 + share)
        kept = eigen.values > 0.0
        factor = eigen.vectors[:, kept] * np.sqrt(eigen.values[kept])
        if dual.rho is not None:
            return factor
        if _square_distance(factor, dual.problem.K) <= Fraction(dual.radius):
            return factor
    raise ParameterError("radius", "a radius that leaves room for rounding", f"{dual.radius!r}")


def _square_distance(factor: Array, K: Array) -> Fraction:
    """‖FFᵀ - K‖² as an exact fraction."""
    exactly = np.vectorize(Fraction, otypes=[object])
    F = exactly(factor)
    return Fraction(np.sum((F @ F.T - exactly(np.asarray(K, float))) ** 2))
