"""Whether what a certificate or a bracket says is true."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from references import Quadratic, Reference

import indefinite_opt as iopt
from helpers.exact import BoxProgram, Vector, dot, product

__all__ = ["Finding", "bracket_findings", "certificate_findings"]

Values = Mapping[str, Any]
Certificate = iopt.workflow.certificates.Certificate

EPS = Fraction(1, 2**52)

UNDERFLOW = Fraction(1, 10**300)
"""What products of numbers as small as this may lose."""

GAP = 1e-4
"""The relative gap at which `bound` stops."""

DECLARED = 8 * EPS
"""Rounding of a bound when the constant is added; the bound itself must not need any."""


@dataclass(frozen=True)
class Finding:
    """Something that is said and false: a name that can be counted, and the numbers."""

    what: str
    numbers: str


def number(v: Fraction | None) -> str:
    """As many digits as a difference may need."""
    return "-inf" if v is None else f"{float(v):.17g}"


def certificate_findings(
    reference: Reference, values: Values, certificate: Certificate, given: bool = False
) -> Iterator[Finding]:
    """What is false in a certificate; `given`: for multipliers of somebody's own."""
    claim, exact = certificate.claim, reference.value(values)
    reference.learn(values)
    declared = reference.sense * (exact + reference.constant)
    if np.isfinite(certificate.objective):
        terms = Fraction(reference.terms(values))
        rounding = 200 * EPS * terms + DECLARED * abs(declared)
        if abs(Fraction(certificate.objective) - declared) > rounding:
            yield Finding("objective", f"{certificate.objective!r} is {number(declared)}")
    violation, tol = reference.violation(values), Fraction(certificate.tol)
    if claim >= iopt.Claim.FEASIBLE and violation > 1.01 * certificate.tol:
        yield Finding("feasible", f"{claim.name} of a violation of {violation:.2e}")
    if claim is iopt.Claim.GLOBAL and not reference.vague:
        yield from _global(reference, values, exact, certificate)
    yield from _bound(reference, values, certificate, violation)
    if isinstance(reference, Quadratic) and violation <= certificate.tol:
        x = reference.x(values)
        if claim in (iopt.Claim.STATIONARY, iopt.Claim.LOCAL) and not given:
            yield from _stationary(reference, x, tol)
        if claim is iopt.Claim.LOCAL:
            yield from _local(reference, x, tol)


def _global(
    reference: Reference, values: Values, value: Fraction, certificate: Certificate
) -> Iterator[Finding]:
    low, high = reference.low, reference.high
    if low is None or high is None:
        yield Finding("global", "GLOBAL of a program that is unbounded")
        return
    unit = reference.unit(value, high if value > high else low)
    # The bound may be tol below the optimum and a point that is not quite feasible tol below it.
    error = max(value - high, (low - value) / 2)
    allowed = Fraction(certificate.tol) * unit * Fraction(1000001, 1000000)
    # What counts is a point that satisfies every constraint exactly, a rounding or so away.
    allowed += EPS * Fraction(reference.reach(values))
    if error > max(allowed, 2 * Fraction(certificate.zero_range)):
        share = float(error / unit) if unit else np.inf
        yield Finding("global", f"GLOBAL of {number(value)} in [{number(low)}, {number(high)}], "
                      f"off by {share:.2e} (claimed {certificate.relative_gap:.2e})")  # fmt: skip


def _bound(
    reference: Reference, values: Values, certificate: Certificate, violation: float
) -> Iterator[Finding]:
    """The bound is never beyond the optimum, whatever is claimed, and wherever the point is."""
    if not np.isfinite(certificate.bound) or reference.vague:
        return
    bound = reference.sense * Fraction(certificate.bound) - reference.constant
    if reference.high is None:
        if reference.low is None and isinstance(reference, Quadratic):
            yield Finding("bound", f"{number(bound)} of a program that is unbounded")
        return
    rounding = DECLARED * (abs(bound) + abs(reference.constant))
    if bound > reference.high + rounding:
        unit = reference.unit(bound, reference.high)
        share = float((bound - reference.high) / (unit or 1))
        where = "bound at an infeasible point" if violation > 1e-14 else "bound"
        yield Finding(where, f"{number(bound)} above {number(reference.high)}, by {share:.2e}")


# ------------------------------------------------------------------- first and second order


def _at_bounds(program: BoxProgram, x: Vector, tol: Fraction) -> tuple[list[bool], list[bool]]:
    largest = max(map(abs, x))
    sizes = [largest if up is None else min(largest, up) for up in program.upper]
    lower = [v <= tol * size for v, size in zip(x, sizes, strict=True)]
    upper = [up is not None and v >= up - tol * size
             for v, up, size in zip(x, program.upper, sizes, strict=True)]  # fmt: skip
    return lower, upper


def _gradient_unit(reference: Quadratic, gradient: Vector) -> Fraction:
    """The margin 1 of an SVM, or the size of the gradient, as the package measures residuals."""
    p = reference.program
    quadratic = max(abs(g - c) for g, c in zip(gradient, p.c, strict=True))
    if any(p.c):
        return max(max(map(abs, p.c)), quadratic / 10**6)
    # Where weights are balanced a constant in the kernel cancels.
    y = p.lines[0]
    entries = [y[i] * y[j] * v for i, row in enumerate(p.H) for j, v in enumerate(row)]
    return max(quadratic, (max(entries) - min(entries)) / 2 * sum(p.totals, Fraction(0)) / 1000)


def _groups(program: BoxProgram) -> list[tuple[list[int], Vector]]:
    """Weights that are exchanged with each other, and their signs in the line they share."""
    n = program.n
    if not program.lines:
        return []
    y = program.lines[0]
    if len(program.lines) == 1:
        return [(list(range(n)), y)]
    return [([i for i in range(n) if y[i] == sign], [Fraction(1)] * n) for sign in (1, -1)]


def _levels(program: BoxProgram, g: Vector, lower: list[bool], upper: list[bool]) -> Vector:
    """Multiplier of the line of each weight, with its sign; and the residual in the last place."""
    worst, levels = Fraction(0), [Fraction(0)] * program.n
    for members, sign in _groups(program):
        v = {i: -sign[i] * g[i] for i in members}
        rise = [i for i in members if not (upper[i] if sign[i] > 0 else lower[i])]
        fall = [i for i in members if not (lower[i] if sign[i] > 0 else upper[i])]
        m = max((v[i] for i in rise), default=None)
        M = min((v[i] for i in fall), default=None)
        if m is not None and M is not None:
            worst = max(worst, m - M)
        ends = [t for t in (m, M) if t is not None]
        free = [v[i] for i in rise if i in fall] or ends or [Fraction(0)]
        for i in members:
            levels[i] = sign[i] * sum(free, Fraction(0)) / len(free)
    if not program.lines:
        moves = [-t for t, up in zip(g, upper, strict=True) if not up]
        moves += [t for t, low in zip(g, lower, strict=True) if not low]
        worst = max([worst, *moves])
    return [*levels, worst]


def _stationary(reference: Quadratic, x: Vector, tol: Fraction) -> Iterator[Finding]:
    """Lin & Lin (2003), (21), recomputed."""
    p = reference.program
    g = p.gradient(x)
    lower, upper = _at_bounds(p, x, tol)
    residual, unit = _levels(p, g, lower, upper)[-1], _gradient_unit(reference, g)
    sizes = product([[abs(v) for v in row] for row in p.H], [abs(v) for v in x])
    rounding = 100 * EPS * (max(sizes) + max(map(abs, p.c)))
    if residual > tol * unit * Fraction(1001, 1000) + rounding:
        yield Finding("stationary", f"residual {float(residual / unit):.2e}")


def _local(reference: Quadratic, x: Vector, tol: Fraction) -> Iterator[Finding]:
    """No direction of the critical cone along which the objective is curved downwards.

    For a quadratic objective that is necessary and sufficient. Multipliers within half the
    tolerance of zero count as zero: the cone is contained in what the package examines.
    """
    p = reference.program
    g = p.gradient(x)
    lower, upper = _at_bounds(p, x, 2 * tol)
    levels = _levels(p, g, lower, upper)
    unit = _gradient_unit(reference, g)
    reduced = [a + b for a, b in zip(g, levels, strict=False)]
    weak = [abs(v) <= tol * unit / 2 for v in reduced]
    kept = [i for i in range(p.n) if weak[i] or not (lower[i] or upper[i])]
    if not kept:
        return
    one, none = Fraction(1), Fraction(0)
    cone = BoxProgram(
        [[p.H[i][j] for j in kept] for i in kept], [none] * len(kept),
        [none if lower[i] else -one for i in kept], [none if upper[i] else one for i in kept],
        _independent([[line[i] for i in kept] for line in p.lines]), [none] * len(p.lines),
    )  # fmt: skip
    least, direction = cone.minimum()
    size = max(abs(v) for row in cone.H for v in row)
    square = dot(direction, direction)
    if 2 * least < -1000 * EPS * size * square:
        share = float(2 * least / (size * square))
        yield Finding("local", f"curvature {share:.2e} of the Hessian's size along "
                      f"{[float(v) for v in direction]} of the weights {kept}")  # fmt: skip


def _independent(lines: list[Vector]) -> list[Vector]:
    """yᵀd = 0 and eᵀd = 0 on weights of one class are one equation; the other is empty."""
    if len(lines) == 2 and lines[0] in (lines[1], [-v for v in lines[1]]):
        return [lines[0], [Fraction(0)] * len(lines[0])]
    return lines


# ------------------------------------------------------------------------------------ brackets


def bracket_findings(
    reference: Reference, bracket: iopt.workflow.Bracket, checked: float
) -> Iterator[Finding]:
    """The optimum lies between the ends, and the proof, checked again, says what it said."""
    low, high = reference.low, reference.high
    if not bracket.rigorous:
        yield Finding("bracket", "a point is found beyond the bound")
    if low is None or high is None:
        yield Finding("bracket", "a bracket of a program that is unbounded")
        return
    for name, bound in (("bracket", bracket.bound), ("check", checked)):
        if np.isfinite(bound) and reference.sense * Fraction(bound) > high:
            excess = reference.sense * Fraction(bound) - high
            unit = reference.unit(excess, high)
            yield Finding(name, f"{bound!r} is beyond {number(reference.sense * high)} "
                          f"by {float(excess / (unit or 1)):.2e}")  # fmt: skip
    attained = reference.sense * Fraction(bracket.objective)
    if attained < low:
        share = float((low - attained) / (reference.unit(attained, low) or 1))
        yield Finding("attained", f"{bracket.objective!r} is better than the optimum "
                      f"{number(reference.sense * low)}, by {share:.2e}")  # fmt: skip
    met = bracket.relative_gap <= GAP or bracket.zero_range > 0.0
    if met != (bracket.status is iopt.Status.SOLVED) or (
        (bracket.relative_gap == 0.0) != (bracket.lower == bracket.upper)
    ):
        yield Finding("bracket", f"{bracket.status.name} at a gap of {bracket.relative_gap!r}")
    found = reference.value(bracket.values)
    # It is moved outwards by its rounding, which is known up to that share, by what products may
    # lose by underflow, and by what an exactly feasible point nearby may be worse.
    rounding = 200 * EPS * Fraction(reference.terms(bracket.values)) + abs(found) / 10**9
    rounding += UNDERFLOW
    if (
        not -rounding
        <= attained - found
        <= rounding + EPS * Fraction(reference.reach(bracket.values))
    ):
        yield Finding("bracket", f"{bracket.objective!r} is not the value of its point")
    violation = reference.violation(bracket.values)
    if violation > 1e-9:
        yield Finding("bracket", f"its point violates a constraint by {violation:.2e}")
    if not (np.isfinite(checked) and np.isfinite(bracket.bound)):
        return
    worse = reference.sense * (Fraction(bracket.bound) - Fraction(checked))
    if worse > reference.unit(high, low) / 10**9 + rounding:
        yield Finding("check", f"{checked!r} instead of {bracket.bound!r}")
