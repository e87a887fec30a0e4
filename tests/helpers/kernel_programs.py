"""The quadratic programs of kernel formulations as the papers have them, in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import indefinite_opt as iopt
from helpers.exact import BoxProgram, Matrix, Vector, as_matrix, as_vector, dot, product

ONE = Fraction(1)


def exact_program(
    problem: iopt.KernelProblem, formulation: iopt.Formulation, K: Matrix | None = None
) -> BoxProgram:
    """The minimisation of an SVMDual, ConvexHullDual, GuoSchuurmansQP or KSVM without constants.

    K is the kernel matrix, by default the one that the problem holds.
    """
    n, y = problem.n, as_vector(problem.y)
    K = as_matrix(problem.K) if K is None else K
    Q = [[a * b * v for b, v in zip(y, row, strict=True)] for a, row in zip(y, K, strict=True)]
    lines, totals = [y], [Fraction(0)]
    weights = np.ones(n)
    match formulation:
        case iopt.SVMDual():
            h, H, c = 1, Q, [-ONE] * n
            if formulation.weights is not None:
                weights = formulation.weights
            if not formulation.bias:
                lines, totals = [], []
        case iopt.KSVM():
            h, H, c = 2, [product(Q, row) for row in Q], [-2 * v for v in product(Q, [ONE] * n)]
        case iopt.ConvexHullDual() | iopt.GuoSchuurmansQP():
            hulls = isinstance(formulation, iopt.ConvexHullDual)
            h, H, c = 2, Q, [Fraction(0)] * n
            lines, totals = [y, [ONE] * n], [Fraction(0), Fraction(2 if hulls else 1)]
        case _:
            raise TypeError(type(formulation).__name__)
    upper = getattr(formulation, "C", None)
    if upper is None:
        upper = formulation.mu if isinstance(formulation, iopt.ConvexHullDual) else formulation.beta
    ends = [None if np.isinf(upper) else Fraction(float(upper * w)) for w in weights]
    return BoxProgram(
        [[h * v for v in row] for row in H], c, [Fraction(0)] * n, ends, lines, totals
    )


def beside(program: BoxProgram, x: Vector) -> list[Vector]:
    """The feasible points that differ from x in one variable, or in one of each of two classes."""
    if not program.lines:
        return [[min(max(v, low), v if up is None else up) for v, low, up
                 in zip(x, program.lower, program.upper, strict=True)]]  # fmt: skip
    y = program.lines[0]
    points = [x]
    for sign in (1, -1):
        if len(program.lines) == 1:
            found = []
            for point in points:
                missed = dot(y, point)
                found += [_moved(point, i, -missed * s) for i, s in enumerate(y)]
            return [point for point in found if program.holds(point)]
        members = [i for i, s in enumerate(y) if s == sign]
        points = [
            _moved(point, i, program.totals[1] / 2 - sum(point[k] for k in members))
            for point in points
            for i in members
        ]
    return [point for point in points if program.holds(point)]


def _moved(x: Vector, i: int, step: Fraction) -> Vector:
    return [v + step if k == i else v for k, v in enumerate(x)]
