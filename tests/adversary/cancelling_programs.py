"""Small quadratic programs whose terms cancel, with their exact optima.

Boxes far from the origin along which a convex form is flat, penalties of rows, and columns of other
units: the objective is a small difference of large terms, as in programs of map coordinates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from far_programs import FarProgram
from numpy.typing import NDArray
from programs import Units

from helpers.exact import Program

__all__ = ["CANCELLING", "CancellingProgram", "draw_cancelling"]

Array = NDArray[np.float64]
Generator = np.random.Generator


def _small(g: Generator, n: int) -> Array:
    """A form of small integers, of any inertia."""
    B = g.integers(-2, 3, (n, n)).astype(float)
    return g.choice([0.0, 1.0, -1.0]) * (B + B.T) if g.random() < 0.5 else np.zeros((n, n))


def _moved_box(g: Generator) -> Program:
    """Squares of differences, and a little more, on a small box far away along e."""
    n = int(g.integers(2, 5))
    differences = np.array([row - row.mean() for row in n * g.integers(-2, 3, (n, n))])
    P = differences.T @ differences
    if g.random() < 0.3:
        k = int(g.integers(n))
        P[k, k] += float(g.choice([-1.0, 1.0]))
    far = float(g.choice([1e3, 1e4, 1e5, 1e6]))
    low = far + g.integers(-2, 3, n)
    q = g.integers(-3, 4, n) * g.choice([0.0, 1.0, 100.0])
    return Program.on(P, q, low, low + g.integers(1, 7, n))


def _penalty(g: Generator) -> Program:
    """M(aᵀx - b)² without its constant Mb², beside a small objective."""
    n = int(g.integers(2, 5))
    a, M = g.integers(-2, 3, n).astype(float), float(2.0 ** g.integers(10, 36))
    a[int(g.integers(n))] = 1.0
    b = float(g.integers(-2, 3))
    q = -2.0 * M * b * a + g.integers(-3, 4, n)
    P = 2.0 * M * np.outer(a, a) + _small(g, n)
    rows = ([], []) if g.random() < 0.7 else ([g.integers(-1, 2, n)], [float(g.integers(0, 3))])
    return Program.on(P, q, -1.0 - g.integers(0, 2, n), 1.0 + g.integers(0, 2, n), *rows)


def _units(g: Generator) -> Program:
    """Least squares of small integers with columns of other units."""
    n = int(g.integers(2, 5))
    B = g.integers(-2, 3, (n, n)).astype(float) * 2.0 ** g.integers(0, 21, n)
    P = B.T @ B + (np.eye(n) if g.random() < 0.5 else _small(g, n))
    q = -B.T @ g.integers(-2, 3, n) + g.integers(-2, 3, n)
    return Program.on(P, q, np.full(n, -2.0), np.full(n, 2.0))


CANCELLING: dict[str, Callable[[Generator], Program]] = {
    "moved box": _moved_box,
    "penalty": _penalty,
    "units": _units,
}
"""Kinds of programs; a generator gives one."""


class CancellingProgram(FarProgram):
    """A program of `CANCELLING`."""

    drawn_by: ClassVar[tuple[str, str]] = "cancelling_programs", "draw_cancelling"

    @property
    def convex(self) -> bool:
        """Whether it must be solved to the tolerance: rounding may leave more of small values."""
        return False


def draw_cancelling(seed: int, number: int) -> CancellingProgram:
    """Program `number` of a seed; the kinds of `CANCELLING` take turns."""
    g = np.random.default_rng([seed, number, 58])
    kind = list(CANCELLING)[number % len(CANCELLING)]
    program = CANCELLING[kind](g)
    minimum, others = program.minimum(every=True), tuple(program.others(g, 2))
    return CancellingProgram(
        seed, number, (kind,), program, Units.of(program), program, minimum, others
    )
