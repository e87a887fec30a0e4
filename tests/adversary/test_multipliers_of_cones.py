"""Cone programs against an adversary who hands in any multipliers, and points that are no optimum.

Some by default; the slow tests take thousands.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from cone_programs import PROBLEM, Drawn, draw_cone_program

import indefinite_opt as iopt
from indefinite_opt.algebra import ConePiece, GraphForm
from indefinite_opt.modeling.compiler import ConvexProgram
from indefinite_opt.modeling.cones import (
    Multipliers,
    feasible_point,
    interior_point,
    lower_bound,
    ranges,
)

SHARE = 1e-7
"""Share up to which values of a solver are an optimum."""


def solved(drawn: Drawn) -> tuple[ConvexProgram, GraphForm] | None:
    program = drawn.program(PROBLEM)
    if not isinstance(program, ConvexProgram):  # quadratic, which other tests take
        return None
    assert program.graph is not None
    return None if program.solution is None else (program, program.graph)


def handed_in(form: GraphForm, best: Multipliers, generator: np.random.Generator) -> Multipliers:
    """Any numbers, those of the optimum with noise or times a number, or some of each."""
    kind = int(generator.integers(4))
    noise = 10.0 ** generator.uniform(-12.0, 1.0)
    parts = []
    for part in best.parts:
        drawn = generator.standard_normal(part.shape)
        size = max(float(np.abs(part).max(initial=0.0)), 1e-3)
        if kind == 0 or (kind == 3 and generator.random() < 0.3):
            parts.append(drawn * 10.0 ** generator.uniform(-6.0, 6.0))
        elif kind == 1:
            parts.append(part * generator.choice([0.0, 0.5, -1.0, 2.0, 1e6, 1.0 + noise]))
        else:
            parts.append(part + noise * size * drawn)
    return Multipliers(tuple(parts))


def assert_no_bound_is_false(seed: int, number: int, draws: int) -> int:
    drawn = draw_cone_program(seed, number)
    found = solved(drawn)
    if found is None:
        return 0
    program, form = found
    solution = program.solution
    assert solution is not None
    start = form.point(form.values(solution.z))
    attained = feasible_point(form, start, lambda: interior_point(form, solution.z))
    if attained is None:
        return 0
    z, level = attained
    low, high = ranges(form, level, solution.multipliers)
    # z is a point of the set whose ends these are, and so it is between them.
    room = 1e-9 * (1.0 + np.abs(z))
    assert np.all((low <= z + room) & (z <= high + room)), (seed, number)
    generator = np.random.default_rng([seed, number, 1])
    for _ in range(draws):
        given = handed_in(form, solution.multipliers, generator)
        low, high = ranges(form, level + abs(level) * generator.choice([0.0, 1.0]), given)
        assert np.all((low <= z + room) & (z <= high + room)), (seed, number)
        bound = lower_bound(form, given, (low, high))
        assert bound <= level, (seed, number, drawn.atoms, bound, level)
    return draws


def test_no_multipliers_prove_a_false_bound() -> None:
    assert sum(assert_no_bound_is_false(1, number, 10) for number in range(12)) >= 80


@pytest.mark.slow
def test_thousands_of_multipliers_prove_no_false_bound() -> None:
    total = sum(assert_no_bound_is_false(2, number, 75) for number in range(32))
    print(f"{total} draws")
    assert total >= 2000


def assert_no_claim_is_false(seed: int, number: int, draws: int) -> Counter[str]:
    """Points between the optimum and one inside, with any multipliers."""
    counts: Counter[str] = Counter()
    drawn = draw_cone_program(seed, number)
    found = solved(drawn)
    if found is None:
        return counts
    program, form = found
    result = iopt.solve(PROBLEM, drawn)
    optimum = result.certificate
    counts[optimum.claim.name] += 1
    reference = drawn.reference(tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    least = program.sense * optimum.bound
    if reference is not None:
        assert least <= reference + SHARE * max(abs(reference), 1.0), (seed, number, drawn.atoms)
    inner = interior_point(form, form.point(result.values))
    if inner is None or optimum.claim is not iopt.Claim.GLOBAL:
        return counts
    generator = np.random.default_rng([seed, number, 2])
    inside = form.values(inner)
    for _ in range(draws):
        share = 10.0 ** generator.uniform(-9.0, 0.0)
        values = {
            name: (1.0 - share) * np.asarray(value) + share * inside[name]
            for name, value in result.values.items()
        }
        multipliers = {
            name: np.asarray(value) * generator.choice([1.0, 1.0, 0.0, 2.0])
            + generator.choice([0.0, 1.0]) * generator.standard_normal(np.shape(value))
            for name, value in optimum.multipliers.items()
        }
        given = multipliers if generator.random() < 0.7 else None
        certificate = iopt.verify(PROBLEM, drawn, values, given)
        counts[f"handed in: {certificate.claim.name}"] += 1
        value = program.sense * certificate.objective
        if certificate.claim is iopt.Claim.GLOBAL:
            allowed = 2.0 * certificate.tol * max(abs(value), abs(least))
            assert value <= least + allowed, (seed, number, drawn.atoms, value, least)
    return counts


def test_no_point_is_called_an_optimum_that_is_none() -> None:
    counts: Counter[str] = Counter()
    for number in range(8):
        counts += assert_no_claim_is_false(3, number, 5)
    assert counts["GLOBAL"] >= 6, counts
    assert counts["handed in: GLOBAL"] > 0, counts
    assert counts["handed in: FEASIBLE"] > 0, counts


@pytest.mark.slow
def test_hundreds_of_points_are_called_what_they_are() -> None:
    counts: Counter[str] = Counter()
    for number in range(16):
        counts += assert_no_claim_is_false(4, number, 20)
    print(dict(counts))
    solved_ones = sum(counts[claim.name] for claim in iopt.Claim)
    assert counts["GLOBAL"] >= 0.98 * solved_ones


def test_the_rows_of_pieces_are_those_of_the_model() -> None:
    """Every declared constraint is a piece under its name."""
    for number in range(10):
        drawn = draw_cone_program(5, number)
        found = solved(drawn)
        if found is not None:
            named = {p.name for p in found[1].pieces if isinstance(p, ConePiece)} - {None}
            assert named == set(drawn.rows)
