"""Every iterative solver that is stopped: its point is feasible, the best so far, and no more."""

from __future__ import annotations

import importlib.util
import itertools
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import indefinite_opt as iopt
from helpers.problems import random_problem
from indefinite_opt.quadratic.solving.solver import Task

QUADRATIC = ("SVMDual(C=10)", "SVMDual(C=10, bias=False)", "ConvexHullDual", "GuoSchuurmansQP")
LUSS = ("LussDual(C=10, rho=0.1)", "LussBall(C=10)")
SEPARABILITY = ("SeparabilitySVM(C=100)", "SeparabilitySVM(C=100, identity=False)")

SOLVERS = {
    "smo": (*QUADRATIC, "SpectrumSVM(C=10)"),
    "smo(second_order=True)": QUADRATIC[:1],
    "smo-lin-lin": (QUADRATIC[0], *QUADRATIC[2:]),
    "dca(part=clip)": (QUADRATIC[0], *QUADRATIC[2:]),
    "dca(part=shift)": QUADRATIC[:1],
    "multistart": QUADRATIC,
    "uno": QUADRATIC[:1],
    "active-set": ("KSVM(C=1)",),
    "newton": LUSS,
    "projected-gradient": LUSS,
    "accpm": LUSS,
    "generation": ("LPSVM", "GuoSchuurmansLP"),
    "newton-cg": ("KernelLogistic(C=10)",),
    "cg": ("KernelLogistic(C=10)",),
    "lifted-dual": SEPARABILITY,
    "lift": ("PseudoEuclideanPrimal(C=1)", "ConvexHullPrimal"),
}
"""Formulations that each is tried on."""

PAIRS = [(solver, title) for solver, titles in SOLVERS.items() for title in titles]
FIRST = [(solver, titles[0]) for solver, titles in SOLVERS.items()]
LIFTED = ("lift", "lifted-dual")
"""Solvers of the dual, which show its trace first."""

pytestmark = pytest.mark.usefixtures("small_chunks")


def run(solver: str, title: str, **options: Any) -> iopt.workflow.Result:
    if solver == "uno" and importlib.util.find_spec("unopy") is None:
        pytest.skip("unopy has no wheel for this platform")
    problem = random_problem("sigmoid", n=12 if solver == "uno" else 24, seed=0)
    # At 1e-12 nothing is solved soon; margins of lifted points are rounded by more than that.
    tol = 1e-9 if solver in LIFTED else 1e-12
    try:
        return iopt.solve(problem, title, solver=solver, tol=tol, **options)
    except KeyboardInterrupt:  # would end the test session
        pytest.fail("the interrupt came through")


def check(result: iopt.workflow.Result, status: iopt.Status) -> None:
    """The point is feasible, and only UNO, which may have solved it, can know more of it."""
    assert result.status is status
    assert result.certificate.primal_residual <= 1e-10
    assert result.certificate.claim is iopt.Claim.FEASIBLE or result.solver == "uno"
    if result.solver != "active-set" and len(result.trace):  # exchanges between its reports
        assert result.iterations == result.trace.iterations[-1]


@pytest.mark.parametrize(("solver", "title"), [pair for pair in PAIRS if pair[0] != "uno"])
def test_the_iteration_limit_is_kept(solver: str, title: str) -> None:
    """That of UNO is one of its own iterations, which restarts follow."""
    for limit in (1, 3):
        result = run(solver, title, max_iter=limit)
        check(result, iopt.Status.MAX_ITER)
        assert result.iterations == limit


@pytest.mark.parametrize(("solver", "title"), PAIRS)
def test_time_runs_out(solver: str, title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, when pairs of the first block change before the clock is read, fewer than there are
    points; and on a clock that goes on by 1 s whenever it is read, which is soon and often."""
    result = run(solver, title, time_limit=1e-9)
    check(result, iopt.Status.TIME_LIMIT)
    assert result.iterations < 24
    ticks = itertools.count(1.0)
    monkeypatch.setattr(Task, "elapsed", property(lambda task: next(ticks)))
    check(run(solver, title, time_limit=5.0), iopt.Status.TIME_LIMIT)
    assert next(ticks) <= 15.0


@pytest.mark.parametrize(("how", "when"), [("a true answer", 3), ("Ctrl-C", 1)])
@pytest.mark.parametrize(("solver", "title"), PAIRS)
def test_a_callback_ends_it(solver: str, title: str, how: str, when: int) -> None:
    """It sees the one trace of the solver, and none after its answer; the best point is kept."""
    seen: list[tuple[int, int]] = []

    def callback(trace: iopt.solvers.Trace) -> bool:
        seen.append((id(trace), len(trace)))
        if how == "Ctrl-C" and len(trace) == when:
            raise KeyboardInterrupt
        return len(trace) == when

    result = run(solver, title, callback=callback)
    check(result, iopt.Status.INTERRUPTED)
    if solver in LIFTED:
        assert seen[-1][1] in (1, when)
        return
    assert seen == [(id(result.trace), length) for length in range(1, when + 1)]
    assert len(result.trace) == when
    values = result.trace.objective
    if solver == "active-set":  # its best point violates its conditions least
        least = int(np.argmin(result.trace.residual))
        assert result.objective == pytest.approx(values[least], rel=1e-9, abs=1e-12)
        return
    best = (max if result.formulation.declare(result.problem).sense == "maximize" else min)(values)
    assert [result.objective, values[-1]] == pytest.approx([best, best], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("solver", "title"), FIRST)
def test_an_error_of_the_callback_comes_through(solver: str, title: str) -> None:
    def fail(trace: iopt.solvers.Trace) -> None:
        if len(trace) == 3:
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        run(solver, title, callback=fail)


@pytest.mark.parametrize(("solver", "title"), FIRST)
def test_a_run_repeats_itself(solver: str, title: str) -> None:
    """Not to the bit: products by BLAS depend on where arrays lie in memory.

    So may the step at which a gap of 1e-12 is reached, or at which rounding prevents more.
    """
    first, second = (run(solver, title, max_iter=20) for _ in range(2))
    steps = min(len(first.trace), len(second.trace))
    if iopt.Status.INACCURATE not in (first.status, second.status):
        assert max(len(first.trace), len(second.trace)) <= steps + 2
    objectives = [each.trace.objective[:steps] for each in (first, second)]
    assert objectives[0] == pytest.approx(objectives[1], rel=1e-9, abs=1e-12)
    for name, value in first.values.items():
        assert_allclose(value, second.values[name], rtol=1e-9, atol=1e-9)
