"""Points and multipliers that are not what they are said to be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from drawing import Drawn
from numpy.typing import NDArray
from references import Quadratic, Reference

import indefinite_opt as iopt
from helpers.exact import BoxProgram

__all__ = ["Attack", "attacks"]

Array = NDArray[np.float64]
Values = dict[str, Any]
Attack = tuple[str, Values, Values | None]
"""Its name, values, and multipliers or None."""


def attacks(
    g: np.random.Generator, drawn: Drawn, reference: Reference, result: iopt.workflow.Result | None
) -> Iterator[Attack]:
    """False points of one problem, some of them near a true one."""
    if isinstance(reference, Quadratic):
        name = reference.variable
        yield from (("stationary point of a face", {name: x}, None)
                    for x in _stationary(g, reference.program))  # fmt: skip
        if result is not None and reference.program.lines:
            yield from _balanced_gap(g, drawn, result, name)
        x = _vertex(g, reference.program)
        if x is not None:
            yield "vertex", {name: x}, None
    if isinstance(drawn.formulation, iopt.LPSVM):
        yield from _missing_margins(g, drawn, drawn.formulation.C)
    if result is None:
        return
    noisy = {k: v + 0.1 * drawn.tol * np.abs(v).max(initial=0.0) * g.standard_normal(np.shape(v))
             for k, v in result.values.items()}  # fmt: skip
    yield "noise", noisy, None
    if drawn.name not in ("LPSVM", "KernelLogistic", "UniformWeights"):
        yield "off the line", _off_the_line(g, drawn, result.values), None
    shrunk = {k: v * (1.0 - 1e-7 * 10.0 ** g.uniform(0.0, 6.0)) for k, v in result.values.items()}
    yield "shrunk", shrunk, None
    if result.multipliers:
        yield "its own multipliers", result.values, result.multipliers
        flipped = {k: -np.asarray(v) for k, v in result.multipliers.items()}
        yield "multipliers of the wrong sign", result.values, flipped
        zero = {k: np.zeros(np.shape(v)) for k, v in result.multipliers.items()}
        yield "no multipliers", result.values, zero
        yield "noise and multipliers", noisy, result.multipliers


def _stationary(g: np.random.Generator, program: BoxProgram) -> list[Array]:
    """Up to three that are feasible, rounded; most of them no minima."""
    inside = [x for x in program.candidates() if program.holds(x)]
    chosen = g.permutation(len(inside))[:3]
    return [np.array([float(v) for v in inside[k]]) for k in chosen]


def _vertex(g: np.random.Generator, program: BoxProgram) -> Array | None:
    """All weights at a bound but one for each line, which makes it satisfied."""
    top = np.array([1.0 if upper is None else float(upper) for upper in program.upper])
    x = top * g.integers(0, 2, program.n)
    for line, total in zip(program.lines[:1], program.totals, strict=False):
        a = np.array([float(v) for v in line])
        if len(program.lines) == 2:
            return None
        for i in g.permutation(program.n):
            gap = float(total) - float(a @ x)
            x[i] = np.clip(x[i] + a[i] * gap, 0.0, top[i])
    return x


def _off_the_line(g: np.random.Generator, drawn: Drawn, values: Values) -> Values:
    """One class a little heavier: there a program may be curved downwards that is convex."""
    share = 1.0 + g.choice([-1.0, 1.0]) * 10.0 ** g.uniform(-8.0, -1.0)
    return {k: np.where(drawn.y > 0, share * v, v) if np.shape(v) == drawn.y.shape else v
            for k, v in values.items()}  # fmt: skip


def _balanced_gap(
    g: np.random.Generator, drawn: Drawn, result: iopt.workflow.Result, name: str
) -> Iterator[Attack]:
    """A worse point moved off its line, within the tolerance, until its bound meets it.

    Across the line a program that is convex along it may fall: the objective gets better than it
    could be, and a tangent there is no bound.
    """
    if drawn.K.sum() >= 0.0 or not result.values[name].any():
        return
    problem, x = drawn.problem(), (1.0 - 10.0 ** g.uniform(-3.0, -0.3)) * result.values[name]
    reach = 0.99 * drawn.tol * float(np.abs(x).sum())
    first = int(np.argmax(drawn.y * (x > 0.0)))

    def moved(t: float) -> Values:
        step = np.zeros(x.size)
        step[first] = t
        return {name: x + step}

    def gap(t: float) -> float:
        certificate = iopt.verify(problem, drawn.formulation, moved(t), tol=drawn.tol)
        return abs(certificate.bound) - abs(certificate.objective)

    low, high = 0.0, reach
    if not np.isfinite(gap(high)) or (gap(low) > 0.0) == (gap(high) > 0.0):
        return
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if (gap(middle) > 0.0) == (gap(0.0) > 0.0) else (low, middle)
    yield "balanced gap", moved(low), None


def _missing_margins(g: np.random.Generator, drawn: Drawn, C: float) -> Iterator[Attack]:
    """Large terms that cancel in every row: the margins are missed by as much as 1."""
    n, K = len(drawn.y), drawn.K
    kernel = np.linalg.svd(K)[2][-1]
    u = kernel * 10.0 ** g.uniform(0.0, 3.0) / (float(np.abs(K).max()) or 1.0)
    b = float(g.choice([0.0, 10.0 ** g.uniform(0.0, 7.0)]))
    values = {"u": u, "b": np.array(b), "xi": np.zeros(n)}
    yield "missing margins", values, None
    yield "missing margins, no multipliers", values, {"margin": np.zeros(n), "slack": np.full(n, C)}
