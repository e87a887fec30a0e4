"""Points that solvers might hand back, with multipliers in the signs of each, against exact optima.

Some by default; the slow test goes on for ADVERSARY_SECONDS from ADVERSARY_SEED.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from campaign import Campaign, assert_nothing_false, long_campaign
from claims import Finding
from optimal_by_design import CONES, Designed, draw_designed
from solver_objects import JUDGED, OBJECTS, Multipliers

import indefinite_opt as iopt

Array = np.ndarray

KINDS = (*OBJECTS, *CONES)
"""What takes turns: the objects with programs without cones, and each cone in cvxpy."""


@dataclass
class HandedBackHunt(Campaign):
    """Programs, each with points and multipliers that are right, turned, moved or missing."""

    kinds: tuple[str, ...] = KINDS

    def draw(self, number: int) -> tuple[str, Designed]:
        turn, kind = divmod(number, len(self.kinds))
        return self.kinds[kind], draw_designed(
            self.seed, turn, self.kinds[kind] if self.kinds[kind] in CONES else None
        )

    def examine(self, both: Any) -> None:
        kind, drawn = both
        g = np.random.default_rng([drawn.seed, drawn.number, 7])
        if kind == "linprog":  # which has no quadratic term, and here no constant
            slope = drawn.q + drawn.P @ drawn.x
            drawn = Designed(**vars(drawn) | {"P": 0.0 * drawn.P, "q": slope, "constant": 0.0})
        if kind == "qpsolvers":
            drawn = Designed(**vars(drawn) | {"constant": 0.0})
        name = kind
        if kind in CONES:
            name = f"cvxpy, {'minimised' if drawn.number % 2 else 'maximised'}"
        read, sense = OBJECTS[name], -1 if name.endswith("maximised") else 1
        for where, x in drawn.points(g):
            for how, found in _multipliers(drawn, g):
                if kind in CONES and (where, how) not in _FEW:
                    continue
                call = f"{kind}, {where} {x.tolist()}, multipliers {how}"
                certificate = self.call(_Shown(drawn), call, read, drawn, x, found)
                if certificate is None:
                    continue
                self.counts["points"] += 1
                self.counts[f"{where}, {how}: {certificate.claim.name}"] += 1
                judged = kind in JUDGED
                findings = _findings(drawn, where, x, how, found, judged, sense, certificate)
                self.examined(_Shown(drawn), findings, call, kind)

    def refused(self, drawn: Any, error: iopt.IndefiniteOptError) -> str | None:
        return f"{type(error).__name__}: {error}"


_FEW = {("at", "right"), ("at", "turned"), ("beside", "missing"), ("far", "right")}
"""What is asked about cones, which take a hundred times as long."""


@dataclass(frozen=True)
class _Shown:
    drawn: Designed

    def snippet(self) -> str:
        return self.drawn.snippet()


def _multipliers(
    drawn: Designed, g: np.random.Generator
) -> Iterator[tuple[str, Multipliers | None]]:
    """The chosen ones, with the opposite signs, with one that is larger, and none."""
    right = {"z": drawn.z, "y": drawn.y, "low": drawn.low, "high": drawn.high}
    if drawn.cone is not None:
        right["Z"] = drawn.cone.Z
    yield "right", right
    yield "turned", {name: 0.0 - value for name, value in right.items()}
    moved = {name: value.copy() for name, value in right.items()}
    name = str(g.choice([name for name in moved if moved[name].size and name != "Z"]))
    moved[name][g.integers(moved[name].size)] += 1.0
    yield "moved", moved
    yield "missing", None


def _are_wrong(drawn: Designed, found: Multipliers) -> bool:
    """Whether multipliers without a cone have a wrong sign or leave a slope at the optimum."""
    negative = any(np.any(found[name] < 0.0) for name in ("z", "low", "high"))
    left = drawn.P @ drawn.x + drawn.q + drawn.G.T @ found["z"] + drawn.A.T @ found["y"]
    idle = found["low"] @ (drawn.x - drawn.lower) + found["high"] @ (drawn.upper - drawn.x)
    paid = idle + found["z"] @ (drawn.h - drawn.G @ drawn.x)
    return bool(negative or np.any(left - found["low"] + found["high"]) or paid)


def _signed(drawn: Designed) -> list[Array]:
    """The multipliers that must not have the opposite sign."""
    cone = [] if drawn.cone is None else [drawn.cone.Z]
    return [drawn.z, drawn.low, drawn.high, *cone]


def _findings(
    drawn: Designed, where: str, x: Array, how: str, found: Multipliers | None, judged: bool,
    sense: int, certificate: iopt.Certificate,
) -> Iterator[Finding]:  # fmt: skip
    """What is false in a certificate."""
    claim, tol = certificate.claim, certificate.tol
    value, optimum = drawn.value(x), drawn.optimum
    violation = drawn.violation(x)
    size = 1.0 + float(np.max(np.abs(x)))
    if violation is not None:
        if claim > iopt.Claim.NONE and violation > 1e3 * tol * size:
            yield Finding("feasible", f"{claim.name} of a violation of {violation:.1e}")
        if claim is iopt.Claim.NONE and violation == 0.0:
            yield Finding("infeasible", "NONE of a point that is exactly feasible")
    if np.isfinite(certificate.bound):
        ours = sense * Fraction(certificate.bound)
        # Adding the constant rounds once.
        if ours > optimum + abs(optimum) * Fraction(1, 2**52):
            yield Finding("bound", f"{float(ours)!r} is beyond {float(optimum)!r}")
    unit = max(abs(float(value)), abs(float(optimum)))
    off = float(max(value - optimum, (optimum - value) / 2))
    if claim is iopt.Claim.GLOBAL and off > max(
        1.000001 * tol * unit, 2.0 * certificate.zero_range
    ):
        yield Finding("global", f"GLOBAL of {float(value)!r}, and {float(optimum)!r} is best")
    if where != "at":
        return
    complains = any("dual values" in reason for reason in certificate.reasons)
    if not judged and how == "right" and complains:
        yield Finding("duals", f"right ones are blamed: {certificate.reasons}")
    if not judged and how == "turned" and not complains and any(map(np.any, _signed(drawn))):
        yield Finding("duals", "those of the wrong sign are not blamed")
    wrong = found is not None and drawn.cone is None and _are_wrong(drawn, found)
    if judged and wrong and claim > iopt.Claim.FEASIBLE:
        yield Finding("multipliers", f"{claim.name} with wrong multipliers")
    no_optimum_at_zero = optimum != 0 and optimum != drawn.constant
    # A cone may leave a single point, beside which rounding leaves none.
    expected = drawn.cone is None and not (judged and wrong) and no_optimum_at_zero
    if expected and claim is not iopt.Claim.GLOBAL:
        yield Finding("not proved", f"{claim.name} of the optimum: {certificate.reasons}")


@pytest.mark.parametrize("kind", KINDS)
def test_no_verdict_about_a_point_is_wrong(kind: str) -> None:
    """At, beside and far from optima that were chosen, in the signs of each solver."""
    hunt = HandedBackHunt(3, kinds=(kind,))
    hunt.run(draws=2)
    assert_nothing_false(hunt)
    assert hunt.counts["points"] >= 10


@pytest.mark.slow
def test_no_verdict_about_3000_points_is_wrong() -> None:
    hunt = HandedBackHunt(4)
    while hunt.counts["points"] < 3000:
        hunt.run(draws=len(KINDS), first=hunt.draws)
    assert_nothing_false(hunt)
    proved = hunt.counts["at, right: GLOBAL"]
    asked = sum(count for what, count in hunt.counts.items() if what.startswith("at, right: "))
    assert proved >= 0.85 * asked


@pytest.mark.slow
def test_no_verdict_about_many_points_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    long_campaign(HandedBackHunt, capsys)
