"""Small quadratic programs that are convex but for a little curvature, with their exact optima.

A form of few squares less a little of the identity, of one square or of rounding to single
precision, on boxes of any width, where that is worth less or more than tolerances allow for.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from far_programs import FarProgram
from numpy.typing import NDArray
from programs import Units

from helpers.exact import Program, mirrored

__all__ = ["NearlyConvexProgram", "draw_nearly_convex"]

Array = NDArray[np.float64]
Generator = np.random.Generator

KINDS = ("identity", "square", "single")


def _form(g: Generator, n: int, kind: str) -> Array:
    B = g.integers(-2, 3, (int(g.integers(1, n + 1)), n)).astype(float)
    little = float(10.0 ** g.uniform(-13.0, -5.0))
    if kind == "identity":
        return mirrored(B.T @ B) - little * np.eye(n)
    if kind == "square":
        v = g.integers(-1, 2, n).astype(float)
        return mirrored(B.T @ B - little * np.outer(v, v))
    B = B * g.uniform(0.5, 2.0, n)
    return mirrored((B.T @ B).astype(np.float32).astype(float))


def _program(g: Generator, kind: str) -> Program:
    n = int(g.integers(2, 5))
    P, width = _form(g, n, kind), 10.0 ** g.uniform(-1.0, 4.0)
    # Multiples of 1/64, so that sums of rows are exact.
    low = np.round(-64.0 * width * g.choice([0.0, 0.5, 1.0], n)) / 64.0
    high = low + np.ceil(64.0 * width * g.uniform(0.2, 1.0, n)) / 64.0
    # Where q is in the range of P the optimum is inside, along which F is nearly flat.
    q = -P @ g.uniform(low, high) if g.random() < 0.5 else g.integers(-3, 4, n).astype(float)
    q += g.choice([0.0, 1e-9, 1e-6]) * g.standard_normal(n)
    chosen, middle = g.random(), 0.5 * (low + high)
    row = g.integers(-2, 3, n).astype(float)
    row[int(g.integers(n))] = 1.0
    if chosen < 0.3:
        return Program.on(P, q, low, high, [row], [float(row @ middle) + 0.5])
    if chosen < 0.6:
        return Program.on(P, q, low, high, A=[row], b=[float(row @ middle)])
    return Program.on(P, q, low, high)


class NearlyConvexProgram(FarProgram):
    """A program of this file; it is its own base."""

    drawn_by: ClassVar[tuple[str, str]] = "nearly_convex_programs", "draw_nearly_convex"

    @property
    def convex(self) -> bool:
        """Whether it must be solved to the tolerance: rounding may leave more of small values."""
        return False


def draw_nearly_convex(seed: int, number: int) -> NearlyConvexProgram:
    """Program `number` of a seed; the kinds take turns."""
    g = np.random.default_rng([seed, number, 71])
    kind = KINDS[number % len(KINDS)]
    program = _program(g, kind)
    minimum, others = program.minimum(every=True), tuple(program.others(g, 2))
    return NearlyConvexProgram(
        seed, number, (kind,), program, Units.of(program), program, minimum, others
    )
