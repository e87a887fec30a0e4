"""Many descents: they find what is known, repeat themselves, stop when told, and are honest."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.problems import random_problem, rugged_problem
from helpers.processes import HANGS
from helpers.programs import Program, check_feasible, program_of, weights
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.local.descent.descent import Descent
from indefinite_opt.quadratic.local.search.multistart import MultiStart

INF = float("inf")
SLOW = pytest.mark.slow

QUADRATIC = ("SVMDual(C=2)", "SVMDual(C=2, bias=False)", "ConvexHullDual", "GuoSchuurmansQP")


def indefinite(kernel: str, n: int, seed: int) -> iopt.KernelProblem:
    return rugged_problem(n, seed) if kernel == "random" else random_problem(kernel, n, seed)


def told(result: iopt.workflow.Result) -> dict[str, int]:
    """The numbers of the message."""
    words = r"(\d+) descents and (\d+) perturbations, (\d+) different ends"
    found = re.match(words, result.message)
    assert found is not None, result.message
    return dict(zip(("descents", "perturbations", "ends"), map(int, found.groups()), strict=True))


# ---------------------------------------------------------------------- Haasdonk (2005), Lemma 4


@pytest.mark.parametrize(
    ("q", "shift"), [(1, 0.0), (3, 0.5), *(pytest.param(5, s, marks=SLOW) for s in (0.0, 0.5))]
)
def test_all_optima_of_lemma_4_are_found_and_counted(q: int, shift: float) -> None:
    """2^q strict local optima, one for each vertex; ends that are none of them must say so."""
    data = iopt.datasets.load(f"haasdonk-lemma4(q={q}, shift={shift})")
    problem = iopt.KernelProblem.from_dataset(data, "pseudo-euclidean(p=1)")
    assert data.optima is not None
    known, objectives = data.optima["alpha"], data.optima["objective"]
    formulation = iopt.SVMDual(C=float(data.optima["C"]))
    search = MultiStart(starts=20 * 2**q, perturbations=0, budget=INF)
    result = iopt.solve(problem, formulation, solver=search)
    assert sum(end.count for end in result.optima) == told(result)["descents"] == search.starts
    assert result.objective == pytest.approx(objectives.max(), rel=1e-6)
    reached = set()
    for end in result.optima:
        distances = np.abs(known - end.values["alpha"]).max(axis=1)
        nearest = int(distances.argmin())
        if distances[nearest] < 1e-5:
            assert end.objective == pytest.approx(objectives[nearest], rel=1e-6)
            reached.add(nearest)
        else:
            assert iopt.verify(problem, formulation, end.values).claim < iopt.Claim.LOCAL
    assert len(reached) == 2**q, f"{len(reached)} of {2**q} optima"


# ------------------------------------------------------------------------------- what is returned


@pytest.mark.parametrize("title", QUADRATIC)
def test_ends_are_counted_ordered_and_true(title: str) -> None:
    problem = rugged_problem(60, 0)
    result = iopt.solve(problem, title, solver=MultiStart(starts=20))
    qp = program_of(problem, title)
    assert len(result.optima) == told(result)["ends"]
    assert sum(end.count for end in result.optima) == told(result)["descents"]
    values = [qp.sense * end.objective for end in result.optima]
    assert values == sorted(values)
    # Ends that differ by less than the tolerance may change places.
    assert result.optima[0].objective == pytest.approx(result.objective, rel=1e-6)
    for end in result.optima:
        x = end.values[qp.variable]
        check_feasible(qp, x)
        exact = qp.sense * (0.5 * x @ qp.H() @ x + qp.linear * x.sum())
        assert end.objective == pytest.approx(exact, rel=1e-6, abs=1e-12)


def test_the_best_of_many_ends_keep_their_weights() -> None:
    """ "empty but for the best of many": no end without weights is better than one with them."""
    search = MultiStart(starts=150, perturbations=0, budget=INF)
    result = iopt.solve(rugged_problem(200), "ConvexHullDual(relative=5)", search)
    kept = [bool(end.values) for end in result.optima]
    assert 50 <= sum(kept) < len(kept)
    assert kept == sorted(kept, reverse=True), f"end {kept.index(False) + 1} has no weights"


# -------------------------------------------------------------------------------- reproducibility


@pytest.mark.parametrize(
    ("kernel", "title"), [("random", QUADRATIC[0]), *(("sigmoid", each) for each in QUADRATIC[1:])]
)
def test_the_same_seed_gives_the_same_bits(kernel: str, title: str) -> None:
    """Of another problem with the same numbers, and of this one after much was computed of it."""
    problem, other = (indefinite(kernel, 70, 1) for _ in range(2))
    first, second = (iopt.solve(each, title, seed=3) for each in (problem, other))
    assert_same(first, second)
    assert first.certificate.claim >= iopt.Claim.STATIONARY
    assert problem.spectrum.inertia
    assert problem.transformed("clip").is_psd
    assert_same(first, iopt.solve(problem, title, seed=3))


@pytest.mark.parametrize("title", ["SVMDual(C=2)", "ConvexHullDual"])
def test_threads_change_nothing(title: str) -> None:
    problem = rugged_problem(80)
    one, *others = (
        iopt.solve(problem, title, solver=MultiStart(starts=6, jobs=jobs)) for jobs in (1, 2, 3)
    )
    assert told(one)["perturbations"] > 0
    for result in others:
        assert_same(one, result)


def assert_same(first: iopt.workflow.Result, second: iopt.workflow.Result) -> None:
    np.testing.assert_array_equal(weights(first), weights(second))
    assert first.objective == second.objective
    assert first.message == second.message
    assert [(e.objective, e.count) for e in first.optima] == [
        (e.objective, e.count) for e in second.optima
    ]
    for one, other in zip(first.optima, second.optima, strict=True):
        for name in one.values:
            np.testing.assert_array_equal(one.values[name], other.values[name])


def test_the_seed_is_used() -> None:
    """Half of the starts are random, and so are their ends on a rugged problem."""
    search, problem = MultiStart(starts=9, perturbations=0), rugged_problem(200)
    one, other = (iopt.solve(problem, "ConvexHullDual", search, seed=s).optima for s in range(2))
    assert [end.objective for end in one] != [end.objective for end in other]


# --------------------------------------------------------------------------------- never worse than


@pytest.mark.parametrize(
    ("kernel", "C", "seed"),
    [("sigmoid", 1.0, 0), ("epanechnikov", 100.0, 0), ("random", 100.0, 0),
     *(pytest.param(kernel, 10.0, 1, marks=SLOW) for kernel in ("sigmoid", "random"))],
)  # fmt: skip
def test_never_worse_than_one_descent_from_the_same_start(kernel: str, C: float, seed: int) -> None:
    generator = np.random.default_rng([1, seed])
    problem = indefinite(kernel, 50, seed)
    for title in (iopt.SVMDual(C=C), iopt.SVMDual(C=C, bias=False), "ConvexHullDual"):
        qp = program_of(problem, title)
        for start in (None, qp.feasible.random_point(generator)):
            one = iopt.solve(problem, title, solver="smo", start=start)
            many = iopt.solve(problem, title, start=start)
            allowed = 1e-9 * max(1.0, abs(one.objective))
            assert qp.sense * many.objective <= qp.sense * one.objective + allowed


@pytest.mark.parametrize(
    "title", ["SVMDual(C=2)", "ConvexHullDual(mu=0.5)", "GuoSchuurmansQP(beta=0.25)"]
)
@pytest.mark.parametrize("options", [{}, {"perturbations": 20}, {"starts": 12}])
def test_no_exchange_of_two_weights_improves_the_answer(
    options: dict[str, int], title: str
) -> None:
    """Every pair is tried, with its longest step."""
    for seed in range(2):
        problem = rugged_problem(16, seed)
        result = iopt.solve(problem, title, solver=MultiStart(**options))
        qp, x = program_of(problem, title), weights(result)
        gain = Program.of(problem.K, problem.y, result.formulation).exchanges(x)[0].max()
        assert gain <= 1e-8 * answers.gap_unit(qp, result.objective), f"seed {seed}: {gain}"


# ------------------------------------------------------------------------------------------ starts


@pytest.mark.parametrize("size", [1e8, 1e16, 1e300])
@pytest.mark.parametrize("title", ["SVMDual(C=1)", "ConvexHullDual(mu=0.4)", "GuoSchuurmansQP"])
def test_a_start_far_outside_is_made_feasible(title: str, size: float) -> None:
    """Nothing of the lines is lost to the size of the start."""
    problem = iopt.KernelProblem(np.eye(9), [1, 1, 1, 1, -1, -1, -1, -1, -1])
    for solver in ("smo", "multistart"):
        result = iopt.solve(problem, title, solver=solver, start=size * np.arange(9.0))
        qp, x = program_of(problem, title), weights(result)
        assert np.abs(qp.feasible.A @ x - qp.feasible.b).max() <= 1e-12 * x.sum()
        assert result.certificate.claim is iopt.Claim.GLOBAL


# ------------------------------------------------------------------------------------ when to stop


@pytest.mark.parametrize(("n", "most"), [(10, 240), (120, 2400)])
def test_perturbations_grow_with_the_number_of_weights(n: int, most: int) -> None:
    """24 for each weight up to 2400, by default."""
    result = iopt.solve(rugged_problem(n), "SVMDual", solver=MultiStart(budget=INF))
    assert most / 4 <= told(result)["perturbations"] <= most
    for allowed in (1, 5, 8):
        search = MultiStart(perturbations=allowed, budget=INF)
        few = told(iopt.solve(rugged_problem(n), "SVMDual", solver=search))
        assert few["perturbations"] <= allowed
        # A chain in which nothing was perturbed has not come down from anywhere.
        assert few["descents"] <= search.starts + few["perturbations"]


def test_perturbations_that_find_nothing_lower_count_no_descents() -> None:
    """-∇F > 0 in the whole box: every descent ends where all weights are at C, the optimum.

    Two rounds of 24 perturbations for each weight, of four, are made.
    """
    problem = iopt.KernelProblem(-0.1 * np.eye(20), np.resize([1, -1], 20))
    found = told(iopt.solve(problem, "SVMDual(C=1)"))
    assert found == {"descents": MultiStart().starts, "perturbations": 240, "ends": 1}


@pytest.mark.parametrize("title", QUADRATIC[1:3])
def test_a_small_budget_stops_the_search(title: str) -> None:
    problem = rugged_problem(60)
    small = iopt.solve(problem, title, solver=MultiStart(budget=1e-6))
    # A second descent follows where the curvature at the end of the first one leads down.
    assert told(small)["descents"] == told(small)["ends"] <= 2
    assert told(small)["perturbations"] == 0
    assert small.message.endswith("the budget is used up")
    assert small.certificate.claim is iopt.Claim.LOCAL
    large = iopt.solve(problem, title, solver=MultiStart(budget=INF))
    assert "budget" not in large.message
    sense = program_of(problem, title).sense
    assert sense * large.objective <= sense * small.objective + 1e-9


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Waiting calls end when Ctrl-C comes, as they do in a fresh Python."""
    signal.siginterrupt(signal.SIGINT, True)
    yield
    signal.siginterrupt(signal.SIGINT, True)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(("jobs", "after_uno"), [(1, False), (2, False), (1, True)])
def test_ctrl_c_reaches_the_threads(
    jobs: int, after_uno: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real interrupt among perturbations that take minutes, while the main thread waits for them.

    UNO installs the handler of SIGINT anew, so that waiting calls go on waiting.
    """
    if after_uno:
        pytest.importorskip("unopy", reason="unopy has no wheel for this platform")
        iopt.solve(rugged_problem(4), "SVMDual", solver="uno")
    slices: list[int] = []
    perturbed = Descent.perturbed

    def interrupted(self: Descent, perturbations: int, steps: int, work: float) -> None:
        perturbed(self, perturbations, steps, work)
        slices.append(perturbations)
        if len(slices) == 1:
            os.kill(os.getpid(), signal.SIGINT)
        else:
            time.sleep(0.2)

    monkeypatch.setattr(Descent, "perturbed", interrupted)
    search = MultiStart(jobs=jobs, perturbations=10**8, budget=INF)
    try:
        result = iopt.solve(rugged_problem(300), "SVMDual", solver=search, time_limit=HANGS)
    except KeyboardInterrupt:  # would end the test session
        pytest.fail("the interrupt came through")
    assert result.status is iopt.Status.INTERRUPTED
    # The main thread looks ten times a second; to the time limit there are thousands of slices.
    assert len(slices) <= 40
    assert result.objective == pytest.approx(max(result.trace.objective), rel=1e-9)


@pytest.mark.parametrize("row", [[], [[1.0, 1.0]]], ids=["a box", "a row"])
def test_ctrl_c_before_there_is_a_point(row: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is nothing to keep, and nobody else's error to raise."""

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    qp = iopt.QuadraticProgram(-np.eye(2), G=row, h=[1.0] * len(row), lb=0.0, ub=1.0)
    for place in ("pair_search.Descent", "row_search.ActiveSetDescent"):
        monkeypatch.setattr(f"indefinite_opt.quadratic.local.search.{place}", interrupted)
    with pytest.raises(KeyboardInterrupt):
        iopt.solve(qp)
    result = iopt.solve(qp, solver="global")  # which knows a feasible point without a descent
    assert result.status is iopt.Status.INTERRUPTED
    assert result.certificate.claim >= iopt.Claim.FEASIBLE


@pytest.mark.parametrize("seed", [1096, 2445])
def test_nothing_is_interrupted_by_itself(seed: int) -> None:
    """Ends that an exchange improves after the last round; found among 6000 such kernels."""
    generator = np.random.default_rng(seed)
    n = int(generator.integers(4, 9))
    A = generator.integers(-3, 4, (n, n)).astype(float)
    problem = iopt.KernelProblem(A + A.T, np.append([1, -1], generator.choice([-1, 1], n - 2)))
    for title in ("SVMDual", "ConvexHullDual(mu=1)", "SVMDual(bias=False)"):
        assert iopt.solve(problem, title).status is iopt.Status.SOLVED


# -------------------------------------------------------------------------- problems of every kind


@pytest.mark.parametrize("n", [2, 40])
@pytest.mark.parametrize("title", [*QUADRATIC, "SVMDual(C=inf)"])
def test_a_convex_problem_needs_one_descent(title: str, n: int) -> None:
    generator = np.random.default_rng(n)
    A = generator.standard_normal((n, n + 5))
    problem = iopt.KernelProblem(A @ A.T / n + 0.1 * np.eye(n), np.resize([1, -1], n))
    result = iopt.solve(problem, title)
    assert told(result) == {"descents": 1, "perturbations": 0, "ends": 1}
    assert "convex" in result.message
    assert result.certificate.claim is iopt.Claim.GLOBAL
    alone = iopt.solve(problem, title, solver="clarabel", tol=1e-9)
    assert result.objective == pytest.approx(alone.objective, rel=1e-5)
