"""Separable programs, whose boxes are bounded by the secants of their concave terms."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

import indefinite_opt as iopt
from helpers.exact import Program
from indefinite_opt.quadratic import proof_checker
from indefinite_opt.quadratic.bracket.finite_form import finite_form
from indefinite_opt.quadratic.bracket.minorant import Multipliers
from indefinite_opt.quadratic.bracket.optimality_conditions import Box
from indefinite_opt.quadratic.bracket.proof import Tangent
from indefinite_opt.quadratic.bracket.secants import SecantProgram
from indefinite_opt.quadratic.bracket.settings import Settings


def separable(n: int, rows: int, equations: int, seed: int, convex: float = 0.3) -> Program:
    """Integer data; the middle of the box is feasible, and a share of the terms is convex."""
    rng = np.random.default_rng(seed)
    P = np.diag(-rng.integers(1, 20, n) * np.where(rng.random(n) < convex, -1.0, 1.0))
    M = rng.integers(-10, 11, (rows + equations, n)).astype(float)
    middle = 5.0 * M.sum(axis=1)
    h = middle[:rows] + rng.integers(0, 20, rows)
    q = rng.integers(-60, 61, n)
    return Program.on(P, q, 0.0, 10.0, M[:rows], h, M[rows:], middle[rows:])


def quadratic_program(program: Program) -> iopt.QuadraticProgram:
    rows = {"G": program.G, "h": program.h, "A": program.A, "b": program.b}
    return iopt.QuadraticProgram(
        program.P, program.q, **{k: v for k, v in rows.items() if v.size},
        lb=program.lb, ub=program.ub,
    )  # fmt: skip


@pytest.mark.parametrize("limit", [Settings().max_secant_bounds, 1])
@pytest.mark.parametrize("seed", [0, 5, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 4))])
def test_brackets_meet_at_the_exact_optimum(seed: int, limit: int, tmp_path: Path) -> None:
    """With secants alone, and where relaxations bound what one secant has left.

    Without convex terms the bound of a box is a linear program.
    """
    program = separable(5, 3, seed % 2, seed, convex=0.3 * (seed < 4))
    minimum = program.minimum()
    assert minimum is not None
    optimum = float(minimum[0])
    unit = program.terms(np.full(5, 10.0))
    bracket = iopt.bound(
        quadratic_program(program), gap=1e-7, settings=Settings(max_secant_bounds=limit)
    )
    assert bracket.lower <= optimum + 1e-12 * unit
    assert bracket.upper == pytest.approx(optimum, abs=1e-7 * unit)
    assert bracket.relative_gap <= 1e-7
    assert limit == 1 or bracket.iterations == 0
    value, _ = proof_checker.check(json.loads(bracket.save(tmp_path / "proof.json").read_text()))
    assert float(value) <= optimum
    assert float(value) == pytest.approx(optimum, abs=1e-6 * unit)


@pytest.mark.parametrize(("rows", "equations"), [(4, 2), (0, 1), (0, 0)])
def test_multipliers_of_secants_prove_the_optima_of_their_linear_programs(
    rows: int, equations: int
) -> None:
    """Those of scipy, box after box; where there is no point the bound is far above all values."""
    program = separable(8, rows, equations, 3, convex=0.0)
    form = finite_form(quadratic_program(program).program())
    assert form is not None
    whole, rng, empty = form.quadratic, np.random.default_rng(0), 0
    secants, h, unit = SecantProgram(whole), np.diagonal(whole.H), program.terms(np.full(8, 10.0))
    lines = {"A_eq": whole.rows, "b_eq": whole.rhs} if len(whole.rows) else {}
    for k in range(30):
        lower, upper = np.sort(rng.uniform(whole.lower, whole.upper, (2, whole.n)), axis=0)
        if k % 2:
            ends = np.column_stack([whole.lower, whole.upper])
            inside = linprog(rng.normal(size=whole.n), bounds=ends, **lines).x
            lower, upper = np.minimum(lower, inside), np.maximum(upper, inside)
        solved = secants.solve(lower, upper)
        assert solved is not None
        scaled = whole.scaled(lower, upper, orthonormal=False)
        start, nothing = scaled.place(solved[0]), np.zeros(whole.n, bool)
        tangent = Tangent(Multipliers.separable(scaled), start, solved[1])
        bound = tangent.bound(scaled, Box(lower, upper, nothing, nothing))
        ends = np.column_stack([lower, upper])
        peer = linprog(whole.c + 0.5 * h * (lower + upper), bounds=ends, **lines)
        if peer.status == 2:
            empty += 1
            assert bound.value > 1000.0 * unit
        else:
            optimum = peer.fun - 0.5 * float(h @ (lower * upper))
            assert bound.value == pytest.approx(optimum, abs=1e-7 * unit)
            assert whole.value(solved[0]) >= bound.value - 1e-9 * unit
    assert (empty > 0) == (rows + equations > 0)


@pytest.mark.parametrize(("seed", "nodes"), [(0, 1), (1, 3), (4, 1), (5, 3)])
def test_an_open_bracket_claims_what_its_proof_proves(seed: int, nodes: int) -> None:
    """Whichever multipliers are best at the root: those of secants need not be."""
    qp = quadratic_program(separable(12, 2, 10, seed, convex=0.3 * (seed < 3)))
    bracket = iopt.bound(qp, gap=1e-9, max_nodes=nodes)
    assert bracket.check(qp) == pytest.approx(bracket.bound, rel=1e-9)


def test_an_objective_of_zero_over_rows_that_share_variables() -> None:
    nothing = np.zeros((3, 3))
    rows = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]])
    qp = iopt.QuadraticProgram(nothing, nothing[0], rows, [2.0, 1.0], lb=0.0, ub=1.0)
    bracket = iopt.bound(qp)
    assert (bracket.lower, bracket.upper) == (0.0, 0.0)
