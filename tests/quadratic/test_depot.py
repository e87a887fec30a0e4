"""The depot: its table is true, its verdicts are right, and it runs without this package."""

from __future__ import annotations

import itertools
import json
import re
import runpy
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from typer.testing import CliRunner, Result

import indefinite_opt as iopt
from helpers.exact import clique_number
from indefinite_opt.command_line.app import app
from indefinite_opt.errors import ParameterError, UnknownName
from indefinite_opt.quadratic import QuadraticProgram, proof_checker
from indefinite_opt.quadratic.instances import depot as module

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import depot_names
from regenerate_depot import FalseProof, bracket, read, write

BENCHMARKS = Path(depot_names.__file__).parent
ALL = iopt.depot()
NAMED = {p.name: p for p in ALL}
OPTIMAL = [p for p in ALL if p.status == "optimal"]
TARGETS = {"linear": 1e-9, "convex": 1e-9, "box": 1e-6, "rows": 1e-6}


def some(problems: list[Any], step: int) -> list[Any]:
    """All as parameters, of which the default run has every `step`-th."""
    return [
        pytest.param(p, marks=[pytest.mark.slow] * bool(k % step), id=p.name)
        for k, p in enumerate(problems)
    ]


def changed(name: str, /, **entries: Any) -> module.Problem:
    """A problem of the table with other entries."""
    return module.Problem(module._table()[name] | {k: str(v) for k, v in entries.items()})


def gap(p: module.Problem) -> float:
    return (p.upper - p.lower) / p.unit


# ------------------------------------------------------------------------------------- the table


def test_the_table_has_every_name() -> None:
    assert [p.name for p in ALL] == depot_names.names()
    assert len(NAMED) == len(ALL) >= 650
    assert len(iopt.depot(tags="structured")) >= 300
    assert len(iopt.depot(tags="random")) + len(iopt.depot(tags="structured")) == len(ALL)
    for tag in ("units", "kernel", "unbounded", "infeasible", "several-optima", "degenerate"):
        assert len(iopt.depot(tags=tag)) >= 10
    for kind in TARGETS:
        assert len(iopt.depot(kind=kind)) >= 50
    nonconvex = iopt.depot(kind="nonconvex")
    assert {p.kind for p in nonconvex} == {"box", "rows"}


def test_all_but_a_few_are_proved() -> None:
    for p in OPTIMAL:
        assert p.lower <= p.upper
        assert ("open" in p.tags) == (gap(p) > TARGETS[p.kind])
        assert ("open" in p.tags) == (p.optimum is None)
        assert p.n == p.x.size
        assert re.search(r"[A-Za-z]{4}", p.source)
    assert len(iopt.depot(tags="open")) <= 20
    assert all(p.kind in ("box", "rows") for p in iopt.depot(tags="open"))
    assert all(gap(p) < 2e-4 for p in OPTIMAL)


def test_arrays_are_those_of_the_table() -> None:
    """By their digests; kinds and numbers of negative eigenvalues by numpy."""
    for p in ALL:
        assert module.same(module.digest(module.arrays(p.name)), p.digest, 1e-11), p
        assert np.array_equal(p.P, p.P.T)
        assert p.G.shape == (p.h.size, p.n)
        assert p.A.shape == (p.b.size, p.n)
        assert p.lb.shape == p.ub.shape == p.q.shape == (p.n,)
        assert ("rows" in p.tags) == bool(p.h.size + p.b.size)
        eigenvalues = np.linalg.eigvalsh(p.P)
        negative = int(np.sum(eigenvalues < -1e-10 * np.abs(eigenvalues).max()))
        assert p.inertia == f"{negative} of {p.n} eigenvalues negative"
        kind = ("rows" if "rows" in p.tags else "box") if negative else "convex"
        assert p.kind == (kind if p.P.any() else "linear")
        del p.__dict__["_arrays"]  # 650 of them take much memory


def test_another_array_is_noticed() -> None:
    for letter in ("P", "q", "G", "h", "A", "b", "lb", "ub"):
        arrays = module.arrays("rowqp-20-5-5-25-1")
        arrays[letter].flat[0] += 0.5
        assert not module.same(module.digest(arrays), NAMED["rowqp-20-5-5-25-1"].digest)
    with pytest.raises(ValueError, match="table: expected the arrays of hs35"):
        _ = changed("hs76", name="hs35").P


# ------------------------------------------------------------------------------ exact arithmetic


def exact(array: Any) -> Any:
    """An array of fractions."""
    return np.vectorize(Fraction, otypes=[object])(array) if np.size(array) else np.zeros(
        np.shape(array), object
    )  # fmt: skip


def exact_objective(p: module.Problem, x: Any) -> Fraction:
    used = np.flatnonzero(x)
    point = exact(np.asarray(x)[used])
    square = exact(p.P[np.ix_(used, used)])
    return point @ square @ point / 2 + point @ exact(p.q[used])


@pytest.mark.parametrize("p", some([p for p in OPTIMAL if p.n <= 50], 6))
def test_the_point_is_feasible_and_attains_the_bracket(p: module.Problem) -> None:
    """In fractions: its objective is in the bracket, and it misses rows by rounding alone."""
    assert p.x is not None
    value = exact_objective(p, p.x)
    # Kernel matrices differ in their last places between machines; a closed form is rounded.
    slack = Fraction(1e-9 if "kernel" in p.tags else 1e-14) * abs(Fraction(p.upper))
    assert Fraction(p.lower) - slack <= value <= Fraction(p.upper) + slack
    point, size = exact(p.x), exact(np.abs(p.x))
    for rows, right, equal in ((p.G, p.h, False), (p.A, p.b, True)):
        if right.size:
            excess = exact(rows) @ point - exact(right)
            terms = exact(np.abs(rows)) @ size + exact(np.abs(right))
            missed = np.abs(excess) if equal else np.maximum(excess, 0)
            assert np.all(missed <= Fraction(1e-13) * terms)
    assert np.all((p.lb <= p.x) & (p.x <= p.ub))


@pytest.mark.parametrize("p", iopt.depot(tags="unbounded"), ids=str)
def test_a_ray_proves_that_there_is_no_optimum(p: module.Problem) -> None:
    """In fractions: it leaves no row and bound, and the objective falls along it from a point."""
    assert p.x is not None
    assert p.ray is not None
    d, x = exact(p.ray), exact(p.x)
    assert all(value <= 0 for value in exact(p.G) @ d)
    assert all(value == 0 for value in exact(p.A) @ d)
    assert np.all(p.ray[np.isfinite(p.lb)] >= 0.0)
    assert np.all(p.ray[np.isfinite(p.ub)] <= 0.0)
    assert p.violation(p.x)[0] == 0.0
    curvature = d @ exact(p.P) @ d
    slope = d @ (exact(p.P) @ x + exact(p.q))
    assert curvature < 0 or (curvature == 0 and slope < 0)
    assert (p.lower, p.upper, p.optimum) == (-np.inf, -np.inf, None)


@pytest.mark.parametrize("p", iopt.depot(tags="infeasible"), ids=str)
def test_a_conflict_proves_that_no_point_is_feasible(p: module.Problem) -> None:
    """In fractions: the least value of the weighted rows within the bounds is above their sum."""
    assert p.conflict is not None
    y = exact(p.conflict)
    assert np.all(p.conflict[: p.h.size] >= 0.0)
    weights = exact(np.vstack([p.G, p.A])).T @ y
    least = Fraction(0)
    for weight, low, high in zip(weights, p.lb, p.ub, strict=True):
        if weight:
            least += weight * Fraction(low if weight > 0 else high)  # no infinity has a fraction
    assert least > sum(y * exact(np.concatenate([p.h, p.b])))
    assert (p.x, p.upper, p.optimum) == (None, np.inf, None)


# ----------------------------------------------------------------------------------- closed forms


def test_closed_forms_are_in_the_brackets() -> None:
    found = [p for p in OPTIMAL if p._row["optimum"]]
    proved = [p for p in found if p._row["method"] != "closed form"]
    assert len(proved) >= 180
    for p in found:
        slack = 1e-9 * (abs(p.optimum) or 1.0)
        assert p.lower - slack <= p.optimum <= p.upper + slack
        assert p.optimum == module.arrays(p.name)["optimum"]


@pytest.mark.parametrize("name", [name for name in NAMED if name.startswith(("clique", "packing"))])
def test_clique_numbers(name: str) -> None:
    """By branch and bound on graphs of up to 40 vertices."""
    graph = module.graph(name.partition("-")[2])
    if graph.n <= 40:
        omega = clique_number(graph.adjacency)
        expected = -omega if name.startswith("packing") else 0.5 / omega - 1.0
        assert NAMED[name].optimum == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("name", [p.name for p in ALL if p.name.startswith("cut") and p.n <= 15])
def test_largest_cuts(name: str) -> None:
    """By all partitions."""
    edges = np.transpose(np.nonzero(np.triu(module.graph(name.partition("-")[2]).adjacency)))
    sides = np.array([*itertools.product((0, 1), repeat=NAMED[name].n - 1)])
    sides = np.column_stack([sides, np.zeros(len(sides), int)])
    largest = np.sum(sides[:, edges[:, 0]] != sides[:, edges[:, 1]], axis=1).max()
    assert NAMED[name].optimum == pytest.approx(-largest, rel=1e-6)


@pytest.mark.parametrize("p", some([p for p in OPTIMAL if p.kind == "linear"], 4))
def test_linear_programs_as_highs_solves_them(p: module.Problem) -> None:
    bounds = np.column_stack([p.lb, p.ub])
    found = linprog(p.q, p.G, p.h, p.A, p.b, bounds, method="highs")
    assert found.status == 0
    assert found.fun == pytest.approx(p.optimum, rel=1e-7, abs=1e-9)


def test_published_values() -> None:
    """Of Hock and Schittkowski (1981) and Floudas and Pardalos (1990), with their constants."""
    published = {
        "hs21": (-100.0, -99.96), "hs35": (9.0, 0.1111111111), "hs44": (0.0, -15.0),
        "hs51": (6.0, 0.0), "hs52": (6.0, 5.326647564), "hs53": (6.0, 4.093023256),
        "hs76": (0.0, -4.681818181), "hs118": (0.0, 664.8204500), "hs268": (14463.0, 0.0),
        "floudas-1": (0.0, -17.0), "floudas-2": (0.0, -213.0), "floudas-3": (0.0, -15.0),
        "floudas-4": (0.0, -11.0), "floudas-5": (0.0, -268.0146315), "floudas-6": (0.0, -39.0),
        "floudas-7": (-420.0, -4150.410134), "floudas-8": (0.0, 15639.0),
        "floudas-9": (0.0, -0.375),
    }  # fmt: skip
    # ½ Σ d (x - c)², whose constant is half of Σ d c² = Σ q²/d.
    last = NAMED["floudas-10"]
    published["floudas-10"] = (0.5 * np.sum(last.q**2 / np.diag(last.P)), 49318.01796)
    for name, (constant, value) in published.items():
        assert NAMED[name].optimum + constant == pytest.approx(value, rel=1e-8, abs=1e-8)


def milp_optimum(Q: Any, y: Any, C: float) -> float:
    """The optimum of the SVM dual as a mixed-integer linear program over its KKT points, by HiGHS.

    At a point with Qα - e + by = μ - λ, μᵀα = 0, λᵀ(α - Ce) = 0 the objective is linear:
    ½eᵀα + ½C eᵀλ. Binary z lets μ_i be positive and holds α_i at 0, w likewise λ_i and C. A KKT
    point has some |b| ≤ B, the largest entry a gradient can have, which bounds μ and λ.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    n = y.size
    high, low = C * np.maximum(Q, 0).sum(axis=1), C * np.minimum(Q, 0).sum(axis=1) - 1
    B = max(np.abs(high).max(), np.abs(low).max())
    most_mu, most_lam = np.maximum(high, 0) + B, np.maximum(-low, 0) + B
    eye, zero, column = np.eye(n), np.zeros((n, n)), np.zeros((n, 1))
    # Columns: α, b, μ, λ, z, w.
    rows = [
        (np.hstack([Q, y[:, None], -eye, eye, zero, zero]), 1.0, 1.0),
        (np.hstack([y[None], np.zeros((1, 4 * n + 1))]), 0.0, 0.0),
        (np.hstack([zero, column, eye, zero, -np.diag(most_mu), zero]), -np.inf, 0.0),
        (np.hstack([eye, column, zero, zero, C * eye, zero]), -np.inf, C),
        (np.hstack([zero, column, zero, eye, zero, -np.diag(most_lam)]), -np.inf, 0.0),
        (np.hstack([-eye, column, zero, zero, zero, C * eye]), -np.inf, 0.0),
    ]
    ones = np.ones(n)
    answer = milp(
        -0.5 * np.concatenate([ones, [0.0], 0 * ones, C * ones, 0 * ones, 0 * ones]),
        constraints=[LinearConstraint(*row) for row in rows],
        bounds=Bounds(
            np.concatenate([0 * ones, [-B], np.zeros(4 * n)]),
            np.concatenate([C * ones, [B], most_mu, most_lam, ones, ones]),
        ),
        integrality=np.concatenate([np.zeros(3 * n + 1), np.ones(2 * n)]),
        options={"mip_rel_gap": 1e-8},
    )
    assert answer.status == 0
    return float(answer.fun)


SMALL_DUALS = [p for p in iopt.depot("*-c1*", tags="kernel rows", n_max=17) if p.name != "paley"]


@pytest.mark.parametrize("p", some(SMALL_DUALS, 4))
def test_the_bracket_holds_the_optimum_that_highs_finds(p: module.Problem) -> None:
    """To 1e-6, by which HiGHS lets a binary variable miss 0 and 1."""
    assert p.y is not None
    assert p.C is not None
    optimum = milp_optimum(p.P, p.y, p.C)
    assert p.optimum == pytest.approx(optimum, rel=1e-6)


def test_kernel_problems_are_those_of_the_package() -> None:
    """Minus the dual as its formulation declares it, on the kernels of the package."""
    from indefinite_opt.formulations import named_formulation

    kernels = {
        "sigmoid": "sigmoid(a=1, r=-1)", "l1-gaussian": "l1-gaussian(gamma=0.02)",
        "epanechnikov": "epanechnikov(gamma=0.15)", "simpson": "simpson(threshold=0)",
        "polynomial": "polynomial(degree=3, gamma=0.5, r=-1)",
        "pseudo-euclidean": "pseudo-euclidean(p=2)", "tl1": "tl1(rho=5.6)",
        "chebyshev-linear": "distance(distance=chebyshev, form=linear)",
        "chebyshev-gaussian": "distance(distance=chebyshev, form=gaussian, gamma=0.3)",
        "cityblock-raw": "distance(distance=cityblock, form=raw)",
        "gaussian": "gaussian(gamma=0.2)", "linear": "linear",
    }  # fmt: skip
    for name, kernel in kernels.items():
        p = next(p for p in iopt.depot(f"{name}-0*", tags="random"))
        X = np.random.RandomState(1000 * (1 + [*module.KERNELS].index(name)) + p.n).uniform(
            -1.0, 1.0, (p.n, 8)
        )
        problem = iopt.KernelProblem.from_data(X, p.y, kernel)
        np.testing.assert_allclose(p.K, problem.K, rtol=0.0, atol=1e-12 * np.abs(p.K).max())
    for p in iopt.depot("*", tags="kernel", n_max=20):
        problem = iopt.KernelProblem(p.K, p.y)
        program = named_formulation(p.formulation).program(problem)
        assert program.value(p.x) == pytest.approx(p.objective(p.x), rel=1e-12)
        assert (program.sense < 0) == p.formulation.startswith(("SVMDual", "ConvexHullDual"))
    lemma = iopt.datasets.load("haasdonk-lemma4", q=4)
    known = NAMED["lemma4-017-c1"]
    problem = iopt.KernelProblem.from_data(np.asarray(lemma.X), lemma.y, lemma.kernel)
    np.testing.assert_allclose(known.K, problem.K, atol=1e-12)
    assert lemma.optima["objective"].max() == -known.optimum == 0.5


# --------------------------------------------------------------------------------------- verdicts


@pytest.mark.parametrize("p", some(OPTIMAL, 5))
def test_the_best_known_point_passes(p: module.Problem) -> None:
    found = p.check(p.x)
    assert found, found
    known = "AS GOOD AS THE BEST KNOWN" if "open" in p.tags else "OPTIMAL, PROVED"
    assert found.verdict == known
    assert str(found).startswith(f"{known}. ")
    assert not p.check(None)
    assert str(p.check(None)).startswith("AN OPTIMUM EXISTS.")


@pytest.mark.parametrize("p", some([p for p in OPTIMAL if "open" not in p.tags], 5))
def test_a_feasible_point_far_from_the_optimum_misses_it(p: module.Problem) -> None:
    """A random linear function leads to a point that is not optimal; numpy says how far it is."""
    rng = np.random.default_rng(5)
    bounds = np.column_stack([np.maximum(p.lb, p.x - 1.0), np.minimum(p.ub, p.x + 1.0)])
    far = linprog(rng.standard_normal(p.n), p.G, p.h, p.A, p.b, bounds, method="highs").x
    x = 0.5 * p.x + 0.5 * far
    value = 0.5 * x @ p.P @ x + p.q @ x
    unit = abs(p.optimum) or 1.0
    terms = 0.5 * np.abs(x) @ np.abs(p.P) @ np.abs(x) + np.abs(p.q) @ np.abs(x)
    found = p.check(x)
    missed, doubt = (value - p.optimum) / unit, 1e-14 * terms / unit + 1e-9
    if missed > 1e-6 + doubt:
        assert not found
        assert found.verdict == f"MISSED BY {found.missed:.2g}"
        assert found.missed == pytest.approx(missed, abs=doubt)
        assert f"A better point has objective {p.optimum!r}" in str(found)
    elif missed < 1e-6 - doubt:
        assert found, found


@pytest.mark.parametrize("p", some([p for p in OPTIMAL if p.h.size + p.b.size], 5))
def test_a_violated_row_is_named(p: module.Problem) -> None:
    """Twice the point, or a multiple of the row, leaves a row by far."""
    k = p.h.size - 1
    rows, right, letter = (p.G, p.h, "G") if p.h.size else (p.A, p.b, "A")
    row = rows[k] if p.h.size else rows[0]
    step = 1e3 * row / (row @ row)
    found = p.check(p.x + step)
    assert found.verdict == "NOT FEASIBLE"
    assert not found
    assert found.violation > 1e-6
    assert re.match(r"NOT FEASIBLE: (row [GA]|(lower|upper) bound of x)\[\d+\] by ", str(found))
    free = (p.lb == -np.inf) & (p.ub == np.inf)
    if free.all() and len(rows) == 1:
        excess = row @ (p.x + step) - right[k]
        unit = np.abs(row) @ np.abs(p.x + step) + abs(right[k])
        assert f"row {letter}[0] by {excess / unit:.2g}" in str(found)


def test_the_units_of_violations() -> None:
    [p] = iopt.depot("hs21")  # 10 x_0 - x_1 ≥ 10, 2 ≤ x_0 ≤ 50
    assert str(p.check([2.0, 11.0])).startswith("NOT FEASIBLE: row G[0] by 0.024")  # 1 / 41
    assert str(p.check([1.0, 0.0])).startswith("NOT FEASIBLE: lower bound of x[0] by 0.02")
    assert str(p.check([np.nan, 0.0])) == "NOT FEASIBLE: x[0] is not finite."
    assert p.check([2.0 - 1e-7, 0.0])
    with pytest.raises(ValueError, match="x: expected 2 numbers, got shape"):
        p.check([1.0])
    with pytest.raises(ValueError, match="tol: expected a number between 0 and 1"):
        p.check([2.0, 0.0], tol=2.0)


@pytest.mark.parametrize("size", [1e160, 1e308])
def test_huge_points_are_judged_as_others_are(size: float) -> None:
    """Whether a row or bound is violated by a thousandth of its terms, in fractions."""
    for p in iopt.depot(n_max=20):
        for x in (np.full(p.n, size), np.full(p.n, -size)) if p.status == "optimal" else ():
            found = p.check(x)
            exact = [Fraction(value) for value in x.tolist()]
            rows = [*zip(p.G, p.h, [False] * p.h.size, strict=True)]
            rows += zip(p.A, p.b, [True] * p.b.size, strict=True)
            missed = bool(np.any(x < p.lb) or np.any(x > p.ub))
            for row, right, equal in rows:
                terms = [Fraction(a) * b for a, b in zip(row.tolist(), exact, strict=True)]
                excess = sum(terms) - Fraction(float(right))
                share = sum(map(abs, terms)) / 1000
                missed |= excess > share or (equal and -excess > share)
            assert found.verdict.startswith("NOT FEASIBLE" if missed else "MISSED BY"), p.name
            assert "nan" not in str(found)


def test_bounds_of_zero_allow_what_solvers_call_rounding() -> None:
    """An interior-point method ends beside a bound of 0, and has no better point for that."""
    for name in ("boxqp-20-100-1", "kleeminty-5", "stqp-30-50-1", "units-2-boxqp-20-100-2"):
        p = NAMED[name]
        ends = np.where(np.isfinite(p.ub), p.ub, 1.0)
        x = np.where(p.x == 0.0, -1e-9 * ends, p.x)
        assert p.check(x), p.check(x)
        far = np.where(p.x == 0.0, -1e-4 * ends, p.x)
        assert p.check(far).verdict == "NOT FEASIBLE"


def test_an_objective_below_the_optimum_owes_it_to_violated_rows() -> None:
    [p] = iopt.depot("hs35")  # one row is active with a multiplier of 2/9
    x = p.x * (1.0 + 5e-7)
    found = p.check(x, tol=1e-7)
    assert found.verdict == "NOT FEASIBLE"
    tight = iopt.depot("minnorm-30")[0]  # the optimum is quadratic in the sum of the entries
    found = tight.check(tight.x * (1.0 - 0.9e-6))
    assert not found
    assert found.verdict.startswith("BELOW THE OPTIMUM BY 1.8e-06 THROUGH VIOLATED ROWS")
    assert "row A[0]" in str(found)
    # A row that is violated by rounding alone is not enough for that.
    assert tight.check(tight.x * (1.0 - 1e-9))


def test_points_beyond_a_bracket_are_false_proofs() -> None:
    """A bracket that a point in hand disproves by 1e-7 of the objective."""
    for name in ("sigmoid-010-c1", "boxqp-20-100-1", "rowqp-20-5-5-25-1", "hs76", "kleeminty-5"):
        p = NAMED[name]
        forged = p.upper + 1e-7 * abs(p.upper)
        false = changed(name, lower=forged, upper=forged, optimum="")
        found = false.check(p.x)
        assert found.verdict == "FALSE PROOF"
        assert not found
        assert "Please report this." in str(found)
        assert not false.check(p.x, tol=0.1)


def test_open_problems() -> None:
    name = "boxqp-20-100-1"
    p, tags = NAMED[name], "random open"
    poorer = changed(name, upper=0.99 * p.upper, lower=1.01 * p.upper, tags=tags)
    assert poorer.optimum is None
    found = poorer.check(p.x)
    assert found
    assert found.verdict == "BETTER THAN THE BEST KNOWN"
    equal = changed(name, upper=p.upper, lower=1.01 * p.upper, tags=tags)
    assert equal.check(p.x).verdict == "AS GOOD AS THE BEST KNOWN"
    assert "[" + repr(1.01 * p.upper) in str(equal.check(p.x))
    zero = equal.check(np.zeros(20))
    assert zero.verdict == "MISSED BY 1"
    assert not zero


def verdict_in_fractions(p: module.Problem, x: Any, tol: Fraction) -> tuple[str, bool]:
    """The verdict from its definition, and whether it is not within 1e-9 of another one."""
    point = exact(x)
    ends = np.where(np.isfinite([p.lb, p.ub]), np.abs([p.lb, p.ub]), 0.0).max(axis=0)
    size = exact(np.where(ends > 0.0, ends, 1.0))
    shares = [Fraction(0)]
    for rows, right, equal in ((p.G, p.h, False), (p.A, p.b, True)):
        for row, end in zip(exact(rows), exact(right), strict=True):
            excess = row @ point - end
            missed = abs(excess) if equal else max(excess, Fraction(0))
            unit = abs(row) @ abs(point) + abs(end)
            unit = max(unit, *(abs(row) * np.minimum(size, 1)))
            shares.append(missed / unit if unit else missed)
    for value, low, high, own in zip(point, p.lb, p.ub, size, strict=True):
        low_missed = Fraction(low) - value if low > -np.inf else 0
        high_missed = value - Fraction(high) if high < np.inf else 0
        shares.append(max(low_missed, high_missed, Fraction(0)) / max(abs(value), own))
    missed = (exact_objective(p, x) - Fraction(p.optimum)) / Fraction(p.unit)
    violation = max(shares)
    sure = min(abs(violation - tol), abs(missed - tol), abs(missed + tol)) > Fraction(1e-9)
    if violation > tol:
        return "NOT FEASIBLE", sure
    if missed > tol:
        return "MISSED", sure
    if missed < -tol:
        # A point without a violation would be a false proof, which there is none of.
        assert violation > 0
        return "BELOW", sure
    return "OPTIMAL", sure


@pytest.mark.parametrize("p", some([p for p in OPTIMAL if p.optimum is not None and p.n <= 30], 8))
def test_verdicts_are_those_of_their_definition(p: module.Problem) -> None:
    """For points at, beside and far from the optimum, inside and outside of the rows."""
    rng, tol, counted = np.random.default_rng(p.n), Fraction(1e-6), 0
    assert p.x is not None
    low, high = np.maximum(p.lb, p.x - 2.0), np.minimum(p.ub, p.x + 2.0)
    for k in range(24):
        x = p.x * (1.0 + 10.0 ** -(k % 12) * rng.standard_normal(p.n if k % 2 else 1))
        if k % 4 > 1:
            x = np.clip(x + 10.0 ** -(k % 9) * (rng.uniform(low, high) - x), p.lb, p.ub)
        expected, sure = verdict_in_fractions(p, x, tol)
        found = p.check(x, tol=float(tol))
        if sure:
            counted += 1
            assert found.verdict.startswith(expected), (k, found, expected)
            assert bool(found) == (expected == "OPTIMAL")
    assert counted >= 12


def test_a_tolerance_below_the_gap_is_told() -> None:
    [p] = iopt.depot("rowqp-20-5-5-25-1")
    assert 1e-8 < gap(p) < 1e-6
    assert p.check(p.x, tol=1e-9).verdict == f"OPTIMAL, PROVED TO {gap(p):.2g}"
    assert p.check(p.x).verdict == "OPTIMAL, PROVED"


def test_a_solver_may_overwrite_what_it_is_given() -> None:
    [p] = iopt.depot("hs118")
    for letter in ("P", "q", "G", "h", "A", "b", "lb", "ub", "x"):
        getattr(p, letter)[...] = 7.0
    assert p.check(p.x)
    assert p.check(np.full(15, 7.0)).verdict == "NOT FEASIBLE"
    x = p.x
    p.check(x + 1e-7)
    assert np.array_equal(x, p.x)


def test_no_optimum() -> None:
    for p in (*iopt.depot(tags="unbounded"), *iopt.depot(tags="infeasible")):
        found = p.check(None)
        assert found
        assert found.verdict == "NO OPTIMUM EXISTS"
        wrong = p.check(np.zeros(p.n))
        assert not wrong
        assert (wrong.ray is None) == (p.status == "infeasible")
        assert (wrong.conflict is None) == (p.status == "unbounded")


def test_the_objective_has_one_rounding() -> None:
    """Terms of 10^10 of an optimum of 10 are summed exactly; numpy alone loses digits."""
    [p] = iopt.depot("cancel-20-5")
    assert p.objective(p.x) == 10.0
    rng = np.random.default_rng(0)
    for name in ("cancel-20-5", "boxqp-30-60-1", "sigmoid-010-c1"):
        p = NAMED[name]
        x = p.x + 1e-3 * rng.standard_normal(p.n)
        assert Fraction(p.objective(x)) == Fraction(float(exact_objective(p, x)))
    with np.errstate(all="raise"):
        assert p.objective(np.full(p.n, 1e200)) in (np.inf, -np.inf)


# ---------------------------------------------------------------------------- names and arguments


def test_the_depot_is_filtered() -> None:
    assert [p.name for p in iopt.depot("hs76")] == ["hs76"]
    assert iopt.depot("nothing-*") == []
    assert all(p.n <= 10 and p.kind == "convex" for p in iopt.depot(kind="convex", n_max=10))
    chosen = iopt.depot(tags=["structured", "rows"], without="units kernel")
    assert chosen
    assert all({"structured", "rows"} <= {*p.tags} for p in chosen)
    assert not any({"units", "kernel"} & {*p.tags} for p in chosen)
    assert repr(chosen[0]).startswith(f"Problem('{chosen[0]}', n=")
    for arguments in ({"kind": "cubic"}, {"tags": "easy"}, {"without": "easy"}):
        with pytest.raises(UnknownName, match=f"{next(iter(arguments))}: expected one of"):
            iopt.depot(**arguments)
        with pytest.raises(LookupError, match=f"{next(iter(arguments))}: expected one of"):
            module.depot(**arguments)


def test_programs_in_other_units_have_the_same_optimum() -> None:
    for p in iopt.depot("units-*"):
        base = NAMED[p.name.split("-", 2)[2]]
        assert p.status == base.status
        if p.status == "optimal":
            assert p.upper == pytest.approx(base.upper, rel=1e-6)
            assert np.ptp(np.log10(np.abs(p.P[p.P != 0]))) > 2 if p.P.any() else True
    with pytest.raises(ParameterError, match="units-1-NAME"):
        QuadraticProgram.read("units-4-hs76")


def test_programs_are_read_by_name() -> None:
    for name in ("hs76", "kleeminty-3", "units-1-hs118", "sigmoid-010-c1", "chain-3-3-0"):
        ours, p = QuadraticProgram.read(name), NAMED[name]
        for letter in ("q", "G", "h", "A", "b", "lb", "ub"):
            np.testing.assert_array_equal(getattr(ours, letter), getattr(p, letter))
        np.testing.assert_array_equal(ours.P.toarray() if ours.P is None else p.P, p.P)


# --------------------------------------------------------------------------- without this package

PROGRAM = '''
import sys

class Refused:
    """A finder that refuses everything but numpy and the standard library."""
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in {"numpy", "depot", *sys.stdlib_module_names}:
            raise ImportError(f"{name} is not for the depot")

sys.meta_path.insert(0, Refused())
from depot import depot

count = 0
for p in depot(n_max=12):
    assert p.check(p.x if p.status == "optimal" else None), p.check(p.x)
    count += 1
assert not depot("hs76")[0].check([0.0, 0.0, 2.0, 0.0])
print(count, sorted(name for name in sys.modules if name.startswith("indefinite")))
'''


def test_the_export_runs_with_numpy_alone(tmp_path: Path) -> None:
    run("--export", tmp_path / "out")
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert files == ["depot.csv.gz", "depot.py"]
    assert sum(path.stat().st_size for path in (tmp_path / "out").iterdir()) < 2_000_000
    (tmp_path / "out" / "main.py").write_text(PROGRAM, encoding="utf-8")
    text = subprocess.run(
        [sys.executable, "-W", "error", "main.py"], cwd=tmp_path / "out", check=True,
        capture_output=True, text=True, env={"PATH": ""},
    ).stdout  # fmt: skip
    assert text == f"{len(iopt.depot(n_max=12))} []\n"


def test_ten_lines_of_pytest_are_enough(tmp_path: Path) -> None:
    """The example of the module with a solver that is right, and with one that is not."""
    run("--export", tmp_path)
    (tmp_path / "test_mine.py").write_text(
        "import numpy as np\n"
        "import pytest\n"
        "from depot import depot\n"
        "@pytest.mark.parametrize('p', depot('hs5?', kind='convex', n_max=50), ids=str)\n"
        "def test_my_solver(p):\n"
        "    verdict = p.check(p.x + (p.name == 'hs52'))\n"
        "    assert verdict, verdict\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 failed, 2 passed" in found.stdout
    assert "test_my_solver[hs52]" in found.stdout
    assert "NOT FEASIBLE: row A[0] by " in found.stdout


# -------------------------------------------------------------------------------------- the table


def test_the_table_is_written_as_it_was_read(tmp_path: Path) -> None:
    rows = read(module.TABLE)
    write([*rows.values()], tmp_path / "table.gz")
    assert read(tmp_path / "table.gz") == rows
    write([*rows.values()], tmp_path / "again.gz")
    assert (tmp_path / "again.gz").read_bytes() == (tmp_path / "table.gz").read_bytes()
    assert read(tmp_path / "none.gz") == {}
    frame = pd.read_csv(module.TABLE).set_index("name")  # as any other program reads it
    assert frame.loc["hs76", "upper"] == NAMED["hs76"].upper
    assert frame["negative"].dtype == int
    assert np.array_equal(np.fromstring(frame.loc["hs76", "x"], sep=" "), NAMED["hs76"].x)


def test_rows_are_computed_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of every kind; a row that is there is left alone with --missing."""
    program = runpy.run_path(str(BENCHMARKS / "regenerate_depot.py"))
    path = tmp_path / "table.gz"
    names = ["hs76", "beale", "boxqp-20-100-1", "fallcone-3", "chain-5-9-0", "lemma4-005-c1"]
    program["main"]([str(path), *names, "--time-limit", "30"])
    found, known = read(path), read(module.TABLE)
    assert set(found) == set(names)
    for name, row in found.items():
        for column in ("kind", "n", "status", "tags", "source", "negative", "ray", "conflict"):
            assert row[column] == known[name][column]
        assert float(row["upper"]) == pytest.approx(float(known[name]["upper"]), rel=1e-9)
    capsys.readouterr()
    program["main"]([str(path), *names, "--missing"])
    assert capsys.readouterr().out == ""
    with pytest.raises(UnknownName, match="Did you mean hs76"):
        program["main"]([str(path), "hs7"])


def test_a_false_bracket_is_refused() -> None:
    p = NAMED["hs76"]
    row = bracket(p, p.x, p.lower, "a test", p.optimum, 1e-9)
    assert (row["method"], row["tags"]) == ("a test", "structured rows")
    with pytest.raises(FalseProof, match="is attained, below the bound"):
        bracket(p, p.x, p.upper + 1e-6, "a test", None, 1e-9)
    with pytest.raises(FalseProof, match="below the closed form"):
        bracket(p, p.x, p.lower, "a test", p.upper + 1e-6, 1e-9)
    with pytest.raises(FalseProof, match="below the bound"):
        bracket(p, p.x, p.lower, "a test", p.lower - 1e-6, 1e-9)
    assert bracket(p, p.x, p.lower - 1.0, "a test", None, 1e-9)["tags"].endswith(" open")
    assert bracket(p, p.x, -np.inf, "a test", p.optimum, 1e-9)["method"] == "closed form"


# ------------------------------------------------------------------------------------ the command


def run(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["depot", *map(str, arguments)])
    assert result.exit_code == code, (result.output, result.exception)
    assert "Traceback" not in result.output
    return result


def test_the_command_lists() -> None:
    text = run().stdout
    assert all(name in text for name in NAMED)
    assert max(map(len, text.splitlines())) <= 100
    chosen = json.loads(run("sigmoid-0?0-*", "--json").stdout)
    assert "sigmoid-010-c1" in chosen
    assert all(re.fullmatch(r"sigmoid-0.0-.*", name) for name in chosen)
    p = NAMED["sigmoid-010-c1"]
    assert chosen[p.name]["upper"] == p.upper
    assert chosen[p.name]["x"] == p.x.tolist()
    assert json.loads(run("fallcone-3", "--json").stdout)["fallcone-3"]["upper"] is None
    assert "hs76" in run("hs*", "--kind", "convex").stdout
    assert "hs44" not in run("hs*", "--kind", "convex").stdout
    assert "names: expected one of" in run("nothing-*", code=2).stderr
    assert "Did you mean hs76?" in run("hs7", code=2).stderr
    assert "kind: expected one of" in run("--kind", "cubic", code=2).stderr


def test_the_command_writes(tmp_path: Path) -> None:
    path = tmp_path / "model.qplib"
    assert str(path) in run("rowqp-20-5-5-25-1", "--write", path).stdout
    theirs, ours = QuadraticProgram.read(path), NAMED["rowqp-20-5-5-25-1"]
    for letter in ("P", "q", "G", "h", "A", "b", "lb", "ub"):
        np.testing.assert_array_equal(getattr(theirs, letter), getattr(ours, letter))
    assert ".npz" in run("hs76", "--write", tmp_path / "model.txt", code=2).stderr
    assert "one problem" in run("hs*", "--write", path, code=2).stderr


PROVED = [
    "hs76", "kleeminty-3", "boxqp-20-100-1", "rowqp-20-5-5-25-1", "clique-hamming-5-3",
    "sigmoid-010-c1", "fallflat-3", "chain-10-3-1", "parity-4-0", "fallcone-3",
]  # fmt: skip


@pytest.mark.parametrize("name", PROVED)
def test_the_command_proves(name: str, tmp_path: Path) -> None:
    """The checker accepts the proof in fractions, for this program and a bound as good."""
    path, p = tmp_path / "proof.json", NAMED[name]
    assert run(name, "--prove", path).stdout.strip() == str(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    value, program = proof_checker.check(document)
    if p.status == "optimal":
        assert -2e-6 * p.unit <= value - p.upper <= 1e-9 * p.unit
        # Inequalities have slacks after the variables in trees of boxes.
        costs = program["c"] if document["kind"] == "boxes" else program["cost"]
        size = len(costs)
        assert size in (p.n, p.n + p.h.size)
        assert costs[: p.n] == p.q.tolist()
        H = np.zeros((size, size))
        if document["kind"] != "linear":
            H[np.tril_indices(size)] = [number for row in program["H"] for number in row]
        np.testing.assert_array_equal(H[: p.n, : p.n], np.tril(p.P))
        assert not H[p.n :].any()


@pytest.mark.slow
@pytest.mark.parametrize("name", [p.name for p in iopt.depot(kind="nonconvex", n_max=40)][::9])
def test_more_proofs(name: str, tmp_path: Path) -> None:
    test_the_command_proves(name, tmp_path)


def test_the_command_checks(tmp_path: Path) -> None:
    p, path = NAMED["sigmoid-010-c1"], tmp_path / "point.json"
    good = tmp_path / "good.npz"
    np.savez(good, alpha=p.x)
    assert run(p.name, "--check", good).stdout.startswith("OPTIMAL, PROVED.")
    for text, code, said in (
        (json.dumps({"x": p.x.tolist()}), 0, "OPTIMAL, PROVED."),
        (json.dumps({"x": [0.0] * 10}), 1, "MISSED BY 1."),
        (json.dumps({"x": [9.0] * 10}), 1, "NOT FEASIBLE: "),
        (json.dumps({"x": None}), 1, "AN OPTIMUM EXISTS."),
    ):
        path.write_text(text, encoding="utf-8")
        assert run(p.name, "--check", path, code=code).stdout.startswith(said)
    path.write_text(json.dumps({"x": [0.0]}), encoding="utf-8")
    assert "x: expected" in run(p.name, "--check", path, code=2).stderr
    assert "tol: expected" in run(p.name, "--check", good, "--tol", "0", code=2).stderr
    path.write_text(json.dumps({"x": None}), encoding="utf-8")
    assert "NO OPTIMUM EXISTS" in run("fallcone-3", "--check", path).stdout


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "a folder that can be written" in run("--export", tmp_path / "file", code=2).stderr
    shutil.rmtree(tmp_path, ignore_errors=True)
