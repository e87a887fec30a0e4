"""500 small problems of every inertia against all their stationary points, found by enumeration.

By default every eighteenth of them is solved, and all of them with the slow tests.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.linalg import null_space

import indefinite_opt as iopt
from helpers.problems import inertias, random_kernel, whole_numbers
from helpers.programs import FORMS, Array, Program, form
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.programs.gaps import relative
from indefinite_opt.quadratic.programs.paired_qp import PairedQP

TIGHT = 1e-9
"""Tolerance of the descents whose ends are compared with stationary points one by one."""


def recipes() -> list[tuple[int, tuple[int, int, int], str, int]]:
    """(n, inertia, formulation, repetition): 500 of them, mostly of four to six points."""
    chosen = [
        (n, inertia, form, repetition)
        for n, repetitions in ((2, 1), (3, 1), (4, 2), (5, 2), (6, 1))
        for repetition in range(repetitions)
        for inertia in inertias(n)
        for form in FORMS
    ]
    seven, eight = list(inertias(7))[::9], list(inertias(8))[::9]
    chosen += [(7, inertia, form, 0) for inertia in seven for form in FORMS]
    chosen += [(8, inertia, form, 0) for inertia in eight for form in FORMS]
    return chosen


@dataclass(frozen=True)
class Instance:
    """A problem, everything enumerated about it, and what the package says."""

    title: str
    program: Program
    points: Array
    values: Array
    compiled: PairedQP
    answers: dict[str, iopt.workflow.Result]

    @property
    def least(self) -> float:
        return float(self.values.min())

    def value(self, result: iopt.workflow.Result) -> float:
        """F at the values of a result, by the matrix of the enumeration."""
        return float(self.program.value(result.values[self.compiled.variable]))

    def size(self) -> float:
        return answers.gap_unit(self.compiled, self.least)


def instance(number: int) -> Instance:
    n, inertia, name, repetition = recipes()[number]
    generator = np.random.default_rng([number, repetition])
    y = np.append([1, -1], generator.choice([-1, 1], n - 2))
    problem = iopt.KernelProblem(random_kernel(generator, inertia), generator.permutation(y))
    # Bounds of any size, or from the least that is feasible to the whole hull.
    low, high = (-1.0, 1.5) if name in FORMS[:2] else (1.0, problem.smaller_class + 0.5)
    size = float(generator.uniform(low, high))
    formulation = form(name, problem.y, 10.0**size if name in FORMS[:2] else size)
    compiled = formulation.program(problem)
    assert isinstance(compiled, PairedQP)
    program = Program.of(problem.K, problem.y, formulation)
    answers = {
        "default": iopt.solve(problem, formulation, seed=number),
        "smo": iopt.solve(problem, formulation, solver="smo", tol=TIGHT),
    }
    title = f"{number}: {formulation}, inertia {inertia}"
    return Instance(title, program, *program.stationary_points(), compiled, answers)


@pytest.fixture(
    scope="module", params=[18, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"]
)
def instances(request: pytest.FixtureRequest) -> list[Instance]:
    return [instance(number) for number in range(0, len(recipes()), request.param)]


def test_there_are_500_problems_and_every_inertia() -> None:
    assert len(recipes()) == 500
    for n in range(2, 7):
        listed = {inertia for order, inertia, _, _ in recipes() if order == n}
        assert len(listed) == (n + 1) * (n + 2) // 2


def test_the_enumerated_minimum_is_one(instances: list[Instance]) -> None:
    """No random feasible point lies lower, and curvature is nonnegative at the lowest."""
    generator = np.random.default_rng(1)
    for each in instances:
        assert each.values.size, each.title
        others = np.array([each.compiled.feasible.random_point(generator) for _ in range(50)])
        assert each.least <= each.program.value(others).min() + 1e-9 * each.size(), each.title
        lowest = each.points[each.values.argmin()]
        assert each.program.least_curvature(lowest) >= -1e-8, each.title


def test_the_default_finds_the_global_optimum(instances: list[Instance]) -> None:
    """All but one of 100 times, to the relative accuracy of 1e-6 that is asked of it."""
    missed = []
    for each in instances:
        result = each.answers["default"]
        excess, x = (
            max(each.value(result) - each.least, 0.0),
            result.values[each.compiled.variable],
        )
        rounding = 1e-12 * float(np.abs(x) @ np.abs(each.program.Q) @ np.abs(x))
        if excess > rounding and relative(excess, each.size()) > 1e-6:
            missed.append(each.title)
    assert len(missed) <= max(1, 0.01 * len(instances)), "\n".join(missed)


def test_no_end_can_be_improved_nearby(instances: list[Instance]) -> None:
    """Every end of the search is a local optimum, claimed or not; so is that of one descent."""
    for each in instances:
        results, name = each.answers, each.compiled.variable
        ends = [end.values[name] for end in results["default"].optima]
        for x in (*ends, results["smo"].values[name]):
            assert each.program.least_curvature(x) >= -1e-6, each.title


@pytest.mark.parametrize("solver", ["default", "smo"])
def test_what_is_claimed_is_true(solver: str, instances: list[Instance]) -> None:
    """No objective or bound is too good, and what is said of the point holds.

    A local optimum by the necessary and sufficient condition: dᵀHd ≥ 0 on the critical cone,
    one-sided where a multiplier is zero at a bound; that a point is none is a claim, too.
    """
    claims = Counter[iopt.Claim]()
    for each in instances:
        result = each.answers[solver]
        certificate, excess = result.certificate, each.value(result) - each.least
        claims[certificate.claim] += 1
        assert excess >= -1e-9 * each.size(), each.title
        bound = each.compiled.sense * certificate.bound
        assert not np.isfinite(bound) or bound <= each.least + 1e-12 * each.size(), each.title
        curvature = each.program.least_curvature(result.values[each.compiled.variable])
        if certificate.claim is iopt.Claim.GLOBAL:
            assert excess <= certificate.tol * each.size(), each.title
        if certificate.claim is iopt.Claim.LOCAL:
            assert curvature >= -1e-6, each.title
        if "not a local optimum" in str(certificate):
            assert curvature < 0.0, each.title
    # One positive semidefinite inertia in every n + 1 of them, and more along the lines.
    assert claims[iopt.Claim.GLOBAL] >= 0.2 * len(instances)
    assert claims[iopt.Claim.LOCAL] >= 0.4 * len(instances)


def test_a_descent_ends_at_an_enumerated_point(instances: list[Instance]) -> None:
    """Or on a flat face, whose points are not isolated: then it is stationary all the same."""
    flat = 0
    for each in instances:
        result = each.answers["smo"]
        value, x = each.value(result), result.values[each.compiled.variable]
        assert result.status is iopt.Status.SOLVED, each.title
        assert each.program.violation(x) <= 2.0 * TIGHT * max(1.0, each.size())
        rounding = 1e-12 * float(x @ np.abs(each.program.Q) @ x)
        if np.abs(each.values - value).min() > max(1e-7 * each.size(), rounding):
            free = (x > 0.0) & (x < each.program.upper)
            lines = each.program.A[:, free]
            along = null_space(lines) if len(lines) else np.eye(free.sum())
            curvatures = np.linalg.eigvalsh(along.T @ each.program.Q[np.ix_(free, free)] @ along)
            assert np.abs(curvatures).min() < 1e-9, f"{each.title}: {value} is no stationary value"
            flat += 1
    assert flat <= max(2, 0.02 * len(instances)), f"{flat} ends on flat faces"


@pytest.mark.parametrize("seeds", [range(20), pytest.param(range(20, 100), marks=pytest.mark.slow)])
def test_claims_where_multipliers_are_zero(seeds: range) -> None:
    """Claims about every enumerated stationary point, minima or not, of degenerate problems."""
    weak = 0
    for seed in seeds:
        C = (0.5, 1.0, 2.0)[seed // 3 % 3]
        formulations = iopt.SVMDual(C=C), iopt.SVMDual(C=C, bias=False), iopt.ConvexHullDual(mu=1.0)
        problem, formulation = whole_numbers(seed, 3, formulations)
        program = Program.of(problem.K, problem.y, formulation)
        points, values = program.stationary_points()
        size = max(1.0, abs(values.min(initial=np.inf)))
        for x, value in zip(points, values, strict=True):
            claim = iopt.verify(problem, formulation, {program.variable: x}).claim
            assert claim >= iopt.Claim.STATIONARY, (seed, x)
            curvature = program.least_curvature(x)
            if claim is iopt.Claim.LOCAL:
                weak += bool(np.isclose(curvature, 0.0))
                assert curvature >= -1e-7, (seed, x)
            if claim is iopt.Claim.GLOBAL:
                assert value <= values.min() + 1e-6 * size, (seed, x)
    assert weak
