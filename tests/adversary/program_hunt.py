"""Brackets, solutions and certificates of random quadratic programs against exact optima."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from campaign import Campaign
from cancelling_programs import draw_cancelling
from claims import Finding, number
from far_programs import draw_far
from nearly_convex_programs import draw_nearly_convex
from numpy.typing import NDArray
from programs import DrawnProgram, draw_program

import indefinite_opt as iopt
from helpers.exact import Vector, as_vector

__all__ = ["ProgramHunt", "as_problem"]

Array = NDArray[np.float64]

EPS = 2.0**-52

SECONDS = 2.0
"""Limit of every bracket and solve; programs of this size take milliseconds."""

LONG = 20.0
"""The same limit for programs of hundreds of variables."""

HURRIED = 0.05
"""Seconds below which a call may end before anything is known."""

GAP = 1e-6

CLOSED = 1e-9
"""Relative gap of brackets of strictly convex programs in boxes that are not active."""

ACROSS = 200 * EPS
"""Share of the terms at a point by which an attained end may be beyond the optimum, where its rows
hold up to the rounding of their data only."""

OUTWARDS = 1e-9
"""The same where numbers are far apart; and what a feasible point nearby may be worse."""

ROUNDING = 1e-13
"""Share of the terms at points of the size of the units by which rounding may change a value."""

ZERO = 1e-13
"""The same for what counts as 0: 64 roundings, times what small rows add to the terms."""

ROUNDINGS = 64.0 * EPS
"""Share of the terms of F, of rows and of bounds up to which a value counts as 0."""

SMALL = 1e-6
"""Share of the same terms that gaps are relative to at least, as the optimum may be 0."""

NEARLY_FEASIBLE = 1e-9
"""Violation, relative to the terms of a row, that a point of the package may have."""


def as_problem(drawn: DrawnProgram) -> iopt.QuadraticProgram:
    """The program as a user writes it: what is not there is left out."""
    p = drawn.program
    optional: dict[str, Any] = {}
    if p.h.size:
        optional |= {"G": p.G, "h": p.h}
    if p.b.size:
        optional |= {"A": p.A, "b": p.b}
    if np.isfinite(p.lb).any():
        optional["lb"] = p.lb if np.ptp(p.lb) != 0.0 else float(p.lb[0])
    if np.isfinite(p.ub).any():
        optional["ub"] = p.ub if np.ptp(p.ub) != 0.0 else float(p.ub[0])
    return iopt.QuadraticProgram(p.P, p.q, **optional)


REACH = 2e-3
"""Distance, relative to max(1, |x|) in small numbers, in which no point may be much better than a
local minimum: large enough for curvature to count for more than the tolerance of slopes, and small
enough for bounds whose multipliers are not 0 to hold the point."""


def _limit(drawn: DrawnProgram) -> float:
    return LONG if drawn.long else SECONDS


@dataclass
class ProgramHunt(Campaign):
    """Programs drawn one after the other, and everything that was found about them.

    The functions `kinds`, which draw a program from seed and number, take turns. With
    `brackets_only` the certificates of solutions and of other points are left out.
    """

    warnings_fail = True
    brackets_only: bool = False
    kinds: tuple[Callable[[int, int], DrawnProgram], ...] = (
        draw_program,
        draw_far,
        draw_cancelling,
        draw_nearly_convex,
    )

    def draw(self, number: int) -> DrawnProgram:
        turn, kind = divmod(number, len(self.kinds))
        return self.kinds[kind](self.seed, turn)

    def examine(self, drawn: DrawnProgram) -> None:
        qp = self.call(drawn, "qp", as_problem, drawn)
        if qp is None:
            return
        self._bracket(drawn, qp)
        if drawn.number % 8 == 0:
            self._hurried(drawn, qp)
        if not self.brackets_only:
            self._solved(drawn, qp)
            self._verified(drawn, qp)
        if drawn.minimum is None:
            self._refused(drawn, qp)

    # ------------------------------------------------------------------ what is asked

    def _bracket(self, drawn: DrawnProgram, qp: iopt.QuadraticProgram) -> None:
        inside = "inactive box" in drawn.kinds
        asked, limit = CLOSED if inside else GAP, _limit(drawn)
        call = f"bracket = iopt.bound(qp, time_limit={limit}, gap={asked})"
        bracket = self.call(drawn, call, lambda: iopt.bound(qp, time_limit=limit, gap=asked))
        if bracket is None:
            return
        call += "\nprint(bracket, bracket.check(qp))"
        self.counts["brackets"] += 1
        least = min(abs(bracket.lower), abs(bracket.upper))
        open_by = bracket.upper - bracket.lower - 1.000001 * asked * least
        if bracket.status is iopt.Status.SOLVED and open_by > 2.0 * bracket.zero_range:
            self.fail(drawn, "status", f"SOLVED with {bracket!r}", call)
        if drawn.minimum is not None:
            optimum = drawn.minimum[0]
            unit = max(abs(float(optimum)), SMALL * drawn.terms) or 1.0
            gap = (bracket.upper - bracket.lower) / unit
            self.counts[f"closed to {GAP:g}"] += gap <= GAP
            late = bracket.status is iopt.Status.TIME_LIMIT
            if inside and gap > CLOSED and not late:
                self.fail(drawn, "open", f"a gap of {gap:.1e}", call)
        checked = self.call(drawn, call, bracket.check, qp)
        self.examined(drawn, _bracket_findings(drawn, bracket, checked), call)

    def _hurried(self, drawn: DrawnProgram, qp: iopt.QuadraticProgram) -> None:
        """Whatever the limit, an end is what it is called; also of calls at the same time."""
        g = np.random.default_rng([drawn.seed, drawn.number, 16])
        limits = [float(10.0 ** g.uniform(-6.0, -1.5)) for _ in range(3)]

        def bounded(seconds: float) -> Any:
            call = f"bracket = iopt.bound(qp, time_limit={seconds!r})"
            return call, self.call(drawn, call, lambda: iopt.bound(qp, time_limit=seconds))

        with ThreadPoolExecutor(len(limits)) as threads:
            for call, bracket in threads.map(bounded, limits):
                if bracket is None:
                    continue
                self.counts["hurried brackets"] += 1
                findings = _bracket_findings(drawn, bracket, None)
                self.examined(drawn, findings, call)
                is_open = bracket.relative_gap > 1e-4 and not bracket.zero_range
                if is_open and bracket.status is iopt.Status.SOLVED:
                    self.fail(drawn, "status", "SOLVED with an open bracket", call)
        call = f"result = iopt.solve(qp, time_limit={limits[0]!r})"
        result = self.call(drawn, call, lambda: iopt.solve(qp, time_limit=limits[0]))
        if result is not None:
            self.counts[f"hurried: {result.status.name}"] += 1
            findings = certificate_findings(drawn, result.values, result.certificate)
            self.examined(drawn, findings, call)

    def _refused(self, drawn: DrawnProgram, qp: iopt.QuadraticProgram) -> None:
        """No numbers are returned of an empty program, and long chains are proved to be empty."""
        limit = _limit(drawn)
        matrices = (qp.P, qp.q, qp.G, qp.h, qp.A, qp.b, qp.lb, qp.ub)
        call = "x = iopt.solve_qp(qp.P, qp.q, qp.G, qp.h, qp.A, qp.b, qp.lb, qp.ub, "
        call += f"time_limit={limit})"
        x = self.call(drawn, call, lambda: iopt.solve_qp(*matrices, time_limit=limit))
        if x is not None:
            self.fail(drawn, "numbers", f"{x.tolist()} of a program that is infeasible", call)

    def _solved(self, drawn: DrawnProgram, qp: iopt.QuadraticProgram) -> None:
        limit = _limit(drawn)
        for solver in (None, "global"):
            call = f"result = iopt.solve(qp, solver={solver!r}, time_limit={limit})"
            result = self.call(
                drawn, call, lambda s=solver: iopt.solve(qp, solver=s, time_limit=limit)
            )
            if result is None:
                continue
            certificate = self.certified(drawn, result, call, f"{solver or 'default'}: ")
            if certificate is None:
                continue
            call += "\nprint(result.certificate)"
            findings = certificate_findings(drawn, result.values, certificate)
            self.examined(drawn, findings, call)
            if solver is None and drawn.convex:
                ended = result.status is iopt.Status.SOLVED
                proved = certificate.claim is iopt.Claim.GLOBAL
                if drawn.minimum is not None and drawn.minimum[0] == 0:
                    # No gap is small beside 0, and rounding may prove nothing.
                    ended = proved = proved or certificate.gap <= ROUNDING * drawn.terms
                if not ended or not proved:
                    said = f"{result.status.name} by {result.solver}, {certificate.claim.name}"
                    self.fail(drawn, "convex", said, call)

    def _verified(self, drawn: DrawnProgram, qp: iopt.QuadraticProgram) -> None:
        g = np.random.default_rng([drawn.seed, drawn.number, 15])
        points: list[tuple[str, Vector]] = [("stationary", x) for x in drawn.stationary]
        if drawn.minimum is not None:
            points.append(("optimum", drawn.minimum[1]))
        low = np.where(np.isfinite(drawn.program.lb), drawn.program.lb, -1.0)
        high = np.where(np.isfinite(drawn.program.ub), drawn.program.ub, low + 2.0)
        points.append(("random", as_vector(g.uniform(low, np.maximum(low, high)))))
        limit = _limit(drawn)
        for kind, exact in points:
            x = np.array([float(v) for v in exact])
            bound = kind != "random" and g.random() < 0.5
            about = f"{{'x': {x.tolist()}}}, bound={bound}, time_limit={limit}"
            call = f"print(iopt.verify(qp, {about}))"
            certificate = self.call(
                drawn, call,
                lambda x=x, bound=bound: iopt.verify(qp, {"x": x}, bound=bound, time_limit=limit),
            )  # fmt: skip
            if certificate is None:
                continue
            self.counts[f"verify {kind}: {certificate.claim.name}"] += 1
            self.examined(drawn, certificate_findings(drawn, {"x": x}, certificate), call)
            # Far away the rounding of a point may be no longer near what rows leave.
            far = drawn.base is drawn.program and not drawn.program.holds(as_vector(x))
            if kind != "random" and certificate.claim is iopt.Claim.NONE and not far:
                self.fail(drawn, "feasible", f"the {kind} point is called infeasible", call)

    # ------------------------------------------------------------------ accounts

    def refused(self, drawn: DrawnProgram, error: iopt.IndefiniteOptError) -> str | None:
        if isinstance(error, iopt.errors.UnboundedProblem):
            return f"called unbounded, and is not: {error}"
        if isinstance(error, iopt.errors.InfeasibleProblem):
            self.counts["called infeasible"] += 1
            if drawn.minimum is not None:
                return f"called infeasible, and is not: {error}"
            proved = iopt.verify(as_problem(drawn), error).proved
            return None if proved else f"without a proof: {error}"
        limit = re.search(r"time limit of (\S+) s", str(error))
        hurried = limit is not None and float(limit[1]) < HURRIED
        if "chain out of reach" in drawn.kinds and not hurried:
            return f"an empty chain is not proved to be so: {error}"
        self.counts[f"{type(error).__name__}: {str(error)[:60]}"] += 1
        return None


# ---------------------------------------------------------------------------------- what is false


def _bracket_findings(
    drawn: DrawnProgram, bracket: iopt.workflow.Bracket, checked: float | None
) -> Iterator[Finding]:
    """What is false in a bracket: a lower end must be below the optimum without any tolerance."""
    if drawn.minimum is None:
        yield Finding("bracket", "a bracket of a program that is infeasible")
        return
    optimum = drawn.minimum[0]
    x, unit = bracket.values["x"], abs(float(optimum))
    if "gap inf" in str(bracket).replace("  ", "") and np.isfinite(bracket.lower):
        yield Finding("words", "the gap of a finite bracket is printed as infinite")
    # A bracket may also say that its point is not proved to be feasible, which is honest.
    feasible = "not proved to be feasible" not in str(bracket)
    beyond = not bracket.rigorous and feasible
    if beyond and abs(bracket.lower - bracket.upper) > ROUNDING * drawn.terms:
        yield Finding("bracket", "a point is found beyond the bound")
    for name, lower in (("bracket", bracket.lower), ("check", checked)):
        if lower is not None and np.isfinite(lower) and Fraction(lower) > optimum:
            share = float(Fraction(lower) - optimum) / (unit or 1.0)
            yield Finding(name, f"{lower!r} is above {number(optimum)} by {share:.1e}")
    if feasible:
        yield from _attained(drawn, x, bracket.upper, "bracket")
    if checked is not None and bracket.lower - checked > 1e-9 * unit:
        yield Finding("check", f"{checked!r} instead of {bracket.lower!r}")


def _attained(drawn: DrawnProgram, x: Array, value: float, what: str) -> Iterator[Finding]:
    """Whether a value is that of a point, and the point feasible and no better than the best."""
    assert drawn.minimum is not None
    program, exact = drawn.program, as_vector(x)
    terms = program.terms(x)
    rounding = max(200, 20 * program.n) * EPS * terms + ROUNDING * drawn.terms
    # An end is moved outwards by what a feasible point near this one may be worse.
    outwards = float(Fraction(value) - program.value(exact))
    far = drawn.base is drawn.program
    if outwards < -rounding or (outwards > rounding + OUTWARDS * terms and not far):
        yield Finding(what, f"{value!r} is not the value of its point")
    # Rows that are implied hold at the feasible point nearby, which floats may not express.
    violation = program.violation(exact) if far else drawn.violation(exact)
    if violation > NEARLY_FEASIBLE:
        yield Finding(what, f"its point violates a constraint by {violation:.1e}")
    better = float(drawn.minimum[0] - Fraction(value))
    unit = abs(float(drawn.minimum[0]))
    # Dependent equations of numbers far apart hold up to their rounding only, which is worth this.
    across = OUTWARDS if far else ACROSS
    if better > across * terms:
        share = better / (unit or 1.0)
        said = f"{value!r} is better than {number(drawn.minimum[0])} by {share:.1e}"
        yield Finding(f"{what} across", said)


def certificate_findings(
    drawn: DrawnProgram,
    values: Mapping[str, Array],
    certificate: iopt.workflow.certificates.Certificate,
) -> Iterator[Finding]:
    """What is false in the certificate of a point."""
    x = values["x"]
    if drawn.minimum is None:
        if certificate.claim is not iopt.Claim.NONE:
            yield Finding("claim", f"{certificate.claim.name} of a program that is infeasible")
        return
    program, (optimum, _) = drawn.program, drawn.minimum
    exact = as_vector(x)
    violation, value = drawn.violation(exact), program.value(exact)
    if "relative inf" in str(certificate) or "gap of inf" in str(certificate):
        yield Finding("words", "a finite gap is printed as infinite")
    unit, tol = max(abs(float(value)), abs(float(optimum))), certificate.tol
    # Rows that are implied may be missed by more than those that are given.
    most = (10.0 if drawn.base is drawn.program else 1.01) * tol
    if certificate.claim > iopt.Claim.NONE and violation > most:
        yield Finding("feasible", f"{certificate.claim.name} of a violation of {violation:.1e}")
    if np.isfinite(certificate.bound) and Fraction(certificate.bound) > optimum:
        share = float(Fraction(certificate.bound) - optimum) / (unit or 1.0)
        said = f"{certificate.bound!r} is above {number(optimum)} by {share:.1e}"
        yield Finding("bound", said)
    # A point that violates rows a little may be better than the optimum, by twice the tolerance.
    off = float(max(value - optimum, (optimum - value) / 2))
    zero = certificate.zero_range
    rows = ROUNDINGS * program.row_terms(x)
    if zero > max(ZERO * (program.terms(x) + drawn.terms), rows):
        yield Finding("zero", f"0 up to a rounding of {zero:.1e}")
    if certificate.claim is iopt.Claim.GLOBAL and off > max(1.000001 * tol * unit, 2.0 * zero):
        share = float(value - optimum) / (unit or 1.0)
        yield Finding("global", f"GLOBAL of {number(value)}, off by {share:.1e}")
    if certificate.claim is iopt.Claim.LOCAL and violation <= EPS * program.n:
        # A minimum that slopes hold in place may end within REACH, but not within any part of it.
        falls = [drawn.fall_near(x, REACH / share, tol) for share in (1.0, 64.0)]
        fall = min((fall for fall in falls if fall is not None), default=0.0)
        if fall > 1.0:
            said = f"called a local minimum; nearby are points {fall:.1f} times too good"
            yield Finding("local", said)
