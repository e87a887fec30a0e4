"""Branch and bound against enumeration, divided on purpose, stopped early, and at its limits."""

from __future__ import annotations

import itertools
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.exact import mirrored
from helpers.problems import inertias, random_kernel, random_problem
from helpers.processes import HANGS
from helpers.programs import Program, program_of
from indefinite_opt.quadratic import Certificate
from indefinite_opt.quadratic.bracket.finite_form import box_quadratic
from indefinite_opt.quadratic.bracket.optimality_conditions import Conditions
from indefinite_opt.quadratic.bracket.search import GlobalSearch
from indefinite_opt.quadratic.bracket.settings import Settings
from indefinite_opt.quadratic.bracket.tree import BoxOutcome, Tree
from indefinite_opt.quadratic.programs.paired_qp import PairedQP
from indefinite_opt.quadratic.solving.solver import Task

ROUNDING = 1e-12
"""Relative: of the enumeration and of a value at a point that is feasible up to rounding."""


def random_instance(seed: int) -> tuple[iopt.KernelProblem, iopt.Formulation, PairedQP, float]:
    """Every inertia and formulation, half of them of whole numbers; F at the optimum."""
    generator = np.random.default_rng([12, seed])
    n = int(generator.integers(2, 6))
    y = generator.permutation(np.append([1, -1], generator.choice([-1, 1], n - 2)))
    K = mirrored(generator.integers(-2, 3, (n, n)).astype(float))
    if seed % 2:
        listed = list(inertias(n))
        K = random_kernel(generator, listed[generator.integers(len(listed))])
    problem = iopt.KernelProblem(K, y)
    least = 1.0 / problem.smaller_class
    C, share = 10.0 ** generator.uniform(-1.0, 2.0), generator.uniform(least, 1.0)
    formulation = (
        iopt.SVMDual(C=C), iopt.SVMDual(C=C, bias=False),
        iopt.ConvexHullDual(mu=share), iopt.GuoSchuurmansQP(beta=0.5 * share),
    )[generator.integers(4)]  # fmt: skip
    optimum = Program.of(K, problem.y, formulation).least
    return problem, formulation, program_of(problem, formulation), optimum


def checked(seed: int, **options) -> iopt.workflow.Bracket:
    """A bracket that holds what the enumeration finds, and a proof that does."""
    problem, formulation, qp, least = random_instance(seed)
    bracket = iopt.bound(problem, formulation, **options)
    slack = ROUNDING * max(1.0, abs(least))
    assert qp.sense * bracket.bound <= least + slack
    assert qp.sense * bracket.objective >= least - slack
    assert bracket.proof is not None
    if isinstance(bracket.proof, Certificate):  # the dual of a convex program may prove more
        proved = qp.sense * bracket.check(problem)
    else:
        proved = bracket.proof.lower_bound(Conditions(box_quadratic(qp)))
    assert proved <= least + slack
    return bracket


@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(12, 70), marks=pytest.mark.slow)])
def test_brackets_hold_the_enumerated_optimum_and_close(seeds: range) -> None:
    for seed in seeds:
        # Integer kernels have hulls that meet in a point, where no gap is small beside zero.
        bracket = checked(seed, gap=1e-6, time_limit=HANGS, atol=1e-9)
        assert bracket.status is iopt.Status.SOLVED
        assert bracket.relative_gap <= 1e-6 or bracket.upper - bracket.lower <= 1e-9


@pytest.mark.parametrize("steps", [1, 5])
def test_boxes_are_divided_without_losing_the_optimum(steps: int) -> None:
    """With a relaxation that is hardly solved, all the rules of division are needed."""
    settings = Settings(
        max_lagrangian_variables=0, cuts_per_variable=0.0, min_chunk=steps, max_chunk=steps,
        root_idle_iterations=1, idle_iterations=1, idle_gap_share=0.0,
    )  # fmt: skip
    options = {"gap": 1e-4, "time_limit": HANGS, "settings": settings}
    boxes = sum(checked(seed, **options).nodes for seed in range(200, 204))
    assert boxes >= {1: 6, 5: 2}[steps]


@pytest.mark.parametrize(
    "options",
    [{"max_nodes": 1}, {"time_limit": 1e-4}, {"callback": lambda trace: True}, {"gap": 0.3},
     {"method": "cheap"}, {"method": "relaxation"}],
    ids=["one box", "no time", "callback", "gap 0.3", "cheap", "relaxation"],
)  # fmt: skip
def test_brackets_hold_wherever_the_search_stops(options: dict) -> None:
    for seed in range(300, 304):
        checked(seed, **options)


def test_the_search_ends_soon_after_its_time_limit_or_an_exception(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a clock that goes on by 10 ms whenever it is read: it is read a few times more."""
    ticks = itertools.count()
    monkeypatch.setattr(Task, "elapsed", property(lambda task: 0.01 * next(ticks)))
    problem = random_problem("sigmoid", n=150, seed=0)
    bracket = iopt.bound(problem, iopt.SVMDual(C=10.0), time_limit=2.0, gap=1e-12)
    assert bracket.status is iopt.Status.TIME_LIMIT
    assert bracket.nodes > 0
    assert next(ticks) <= 200 + 60

    # An exception of a callback comes through.
    def fails(trace: iopt.solvers.Trace) -> bool:
        raise RuntimeError("of the callback")

    with pytest.raises(RuntimeError, match="of the callback"):
        iopt.bound(problem, iopt.SVMDual(C=10.0), callback=fails, gap=1e-12)


def test_verify_brackets_a_worse_local_optimum() -> None:
    """Any other enumerated local optimum is LOCAL at best, and the better one is named."""
    worse = 0
    for seed in range(500, 508):
        problem, formulation, qp, least = random_instance(seed)
        points, values = Program.of(problem.K, problem.y, formulation).stationary_points()
        at = int(values.argmax())
        if values[at] < least + 1e-3 * max(1.0, abs(least)) or qp.is_convex:
            continue
        certificate = iopt.verify(problem, formulation, qp.values(points[at]), bound=True)
        assert iopt.Claim.STATIONARY <= certificate.claim <= iopt.Claim.LOCAL
        assert certificate.gap_kind == "global bracket"
        assert qp.sense * certificate.bound <= least + ROUNDING * max(1.0, abs(least))
        assert certificate.gap >= 0.999 * (values[at] - least)
        assert "A better point exists" in str(certificate)
        worse += 1
        best = qp.values(points[int(values.argmin())])
        proved = iopt.verify(problem, formulation, best, bound=True, atol=1e-9)
        assert proved.claim is iopt.Claim.GLOBAL
        assert iopt.verify(problem, formulation, best).gap_kind == "KKT residual"
        outside = qp.values(points[at] + 2.0 * qp.feasible.upper)
        assert iopt.verify(problem, formulation, outside, bound=True).claim is iopt.Claim.NONE
    assert worse >= 2


def test_a_start_is_used_also_along_rays() -> None:
    """The hard margin's own solution, scaled: nothing better is found, and it is proved."""
    generator = np.random.default_rng(3)
    X = generator.standard_normal((16, 3))
    y = np.where(X[:, 0] > 0, 1, -1)
    noise = 0.02 * generator.standard_normal((16, 16))
    problem = iopt.KernelProblem(np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(2)) + noise + noise.T, y)
    hard = iopt.SVMDual(C=np.inf)
    first = iopt.solve(problem, hard, solver="global")
    again = iopt.solve(problem, hard, solver="global", start=0.3 * first.values["alpha"])
    assert first.certificate.claim is iopt.Claim.GLOBAL
    assert again.objective == pytest.approx(first.objective, rel=2e-6)
    # An upper bound beyond every weight changes nothing.
    largest = 2.0 * float(first.values["alpha"].max())
    soft = iopt.solve(problem, iopt.SVMDual(C=largest), solver="global")
    assert soft.objective == pytest.approx(first.objective, rel=2e-6)


def test_a_bound_that_a_point_disproves_is_called_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Optimum 4 of [[0, 2], [2, 0]]: a search that came to 3 must not pass for a bracket.

    2a + 2a² at a = 1 + 9e-8 is 5e-7 more than the optimum 4, and 4e-7 are tolerated.
    """
    problem = iopt.KernelProblem([[0.0, 2.0], [2.0, 0.0]], [1, -1])
    beyond = {"alpha": np.full(2, 1.0 + 9e-8)}
    certificate = iopt.verify(problem, iopt.SVMDual(C=1.0), beyond, tol=1e-7, bound=True)
    assert certificate.claim < iopt.Claim.GLOBAL
    assert any("lies beyond the bound" in reason for reason in certificate.reasons)
    honest = GlobalSearch.begin

    def wrong(search: GlobalSearch) -> iopt.Status:
        honest(search)
        search.bracket.lower = -3.0
        return iopt.Status.SOLVED

    monkeypatch.setattr(GlobalSearch, "begin", wrong)
    bracket = iopt.bound(problem, iopt.SVMDual(C=1.0))
    assert not bracket.rigorous
    assert "WRONG" in str(bracket)
    assert bracket.status is not iopt.Status.SOLVED
    assert bracket.relative_gap == pytest.approx(0.25)


class Recorded:
    """A crew that bounds the boxes of a table one after the other, and looks at the lower end."""

    size = most = batch = 1

    def __init__(self, bracket: Any, children: dict[float, list[float]]) -> None:
        self.bracket, self.children = bracket, children
        self.lower: dict[float, float] = {}

    def submit(self, nodes: list[Any], most: int, waiting: int) -> Future[Any]:
        self.lower[nodes[0].bound] = self.bracket.lower
        job: Future[Any] = Future()
        job.set_result(None)
        return job

    def outcome(self, nodes: list[Any], job: Future[Any]) -> BoxOutcome:
        (node,) = nodes
        children = [SimpleNamespace(bound=bound) for bound in self.children[node.bound]]
        return BoxOutcome(children, np.inf if children else node.bound, 1)


def test_a_box_that_is_taken_still_counts_for_the_lower_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The root has one child, which has two, and the bound of one of these is that of the tree."""
    monkeypatch.setattr(f"{Tree.__module__}.SECONDS_BETWEEN_REPORTS", 0.0)
    monkeypatch.setattr(f"{Tree.__module__}.SECONDS_BETWEEN_CHECKS", 0.0)
    bracket = SimpleNamespace(lower=-np.inf, value=0.0, cutoff=0.0, closed=False)
    task = SimpleNamespace(elapsed=0.0, stop=lambda: None)
    seen: list[float] = []
    tree = Tree(bracket, task, [SimpleNamespace(bound=-9.0)], lambda: seen.append(bracket.lower))
    crew = Recorded(bracket, {-9.0: [-8.0], -8.0: [-5.0, -7.0], -7.0: [], -5.0: [-4.0], -4.0: []})
    assert tree.divide(crew, 100) is iopt.Status.INACCURATE
    assert crew.lower == {-9.0: -9.0, -8.0: -8.0, -7.0: -7.0, -5.0: -7.0, -4.0: -7.0}
    assert max(seen) == bracket.lower == -7.0
    assert (tree.nodes, tree.root_bound) == (5, -8.0)
