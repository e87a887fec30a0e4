"""Every call ends: at its limits, at Ctrl-C, and by itself where there is no limit."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.internals import INTERRUPT_AT_THE_END_OF_A_DESCENT, long_from
from helpers.problems import random_problem
from indefinite_opt.foundation import limits
from indefinite_opt.quadratic.bracket.box_bound import Node
from indefinite_opt.quadratic.bracket.finite_form import finite_form
from indefinite_opt.quadratic.bracket.search import GlobalSearch
from indefinite_opt.quadratic.bracket.settings import Settings
from indefinite_opt.quadratic.programs.claim import Claim
from indefinite_opt.quadratic.solving.solution import Solution, Status
from indefinite_opt.quadratic.solving.solver import Task
from indefinite_opt.solvers.external import conic, highs, osqp
from indefinite_opt.solvers.linear import simplex
from indefinite_opt.solvers.proxy_kernel.projected_gradient import ProjectedGradient
from indefinite_opt.workflow import result as results
from indefinite_opt.workflow.certificates import verification


def test_an_interrupt_in_a_back_end_keeps_a_feasible_point(
    gaussian_problem: iopt.KernelProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press(*arguments: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(conic, "solve_by_cvxpy", press)
    monkeypatch.setattr(osqp, "limited", press)
    monkeypatch.setattr(highs, "run_highs", press)
    monkeypatch.setattr(simplex, "run_highs", press)
    hulls = [("ConvexHullDual", solver) for solver in ("clarabel", "scs", "osqp", "highs")]
    for title, solver in (*hulls, ("LPSVM", "highs")):
        result = iopt.solve(gaussian_problem, title, solver=solver)
        assert result.status is Status.INTERRUPTED
        assert result.certificate.claim >= Claim.FEASIBLE


class Clock:
    """A clock that goes on by a second whenever it is read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        for name, module in list(sys.modules.items()):
            if name.startswith("indefinite_opt.") and "clock" in vars(module):
                monkeypatch.setattr(module, "clock", self)

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def limits_of(monkeypatch: pytest.MonkeyPatch, module: Any) -> list[float]:
    """The seconds that certificates are given."""
    given: list[float] = []
    certify = module.certify

    def observed(*arguments: Any, **options: Any) -> Any:
        given.append(options["time_limit"])
        return certify(*arguments, **options)

    monkeypatch.setattr(module, "certify", observed)
    return given


@pytest.mark.parametrize(
    ("title", "limit"), [("SVMDual", 1000.0), ("LPSVM", 1000.0), ("LussDual", np.inf)]
)
def test_the_certificate_has_the_seconds_that_the_solver_has_left(
    title: str, limit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, given = random_problem("sigmoid", n=12, seed=1), limits_of(monkeypatch, results)
    Clock(monkeypatch)
    result = iopt.solve(problem, title, time_limit=limit)
    assert result.certificate.claim >= Claim.LOCAL
    assert result.seconds > 1.0
    (left,) = given
    assert left == np.inf or 0.0 < limit - result.seconds - left < 20.0


def test_a_solver_that_took_the_whole_limit_leaves_next_to_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A file keeps what is left."""
    Clock(monkeypatch)
    result = iopt.solve(random_problem("sigmoid", n=12, seed=1), "SVMDual", time_limit=3.0)
    assert result.seconds >= 3.0
    assert 0.0 < result.evidence.time_limit <= 1e-3
    again = iopt.load(result.save(tmp_path / "result.npz"))
    assert again.evidence.time_limit == result.evidence.time_limit


def test_a_solver_inside_of_a_certificate_has_the_rest_of_its_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a linear program whose solver has ended without multipliers."""
    problem = random_problem("gaussian", n=12, seed=1)
    result = iopt.solve(problem, "LPSVM", time_limit=1000.0)
    left: list[float] = []

    def solve(self: Any, task: Task) -> Solution:
        left.append(task.time_limit - task.elapsed)
        return Solution(result.values, Status.TIME_LIMIT)

    monkeypatch.setattr(highs.Highs, "solve", solve)
    Clock(monkeypatch)
    evidence = replace(result.evidence, multipliers=None, time_limit=50.0)
    certificate = replace(result, evidence=evidence).certificate
    assert certificate.claim is Claim.FEASIBLE
    assert len(left) == 1
    assert 0.0 < left[0] < 50.0


def test_what_verify_does_before_it_certifies_is_part_of_its_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = random_problem("sigmoid", n=12, seed=1)
    result = iopt.solve(problem, "SVMDual")
    given = limits_of(monkeypatch, verification)
    clock = Clock(monkeypatch)
    program = iopt.SVMDual.program

    def slow(formulation: iopt.SVMDual, problem: iopt.KernelProblem) -> Any:
        clock.now += 30.0
        return program(formulation, problem)

    monkeypatch.setattr(iopt.SVMDual, "program", slow)
    iopt.verify(problem, "SVMDual", result.values, time_limit=100.0)
    assert 0.0 < given[0] <= 70.0


@pytest.mark.parametrize("multipliers", [False, True])
def test_a_certificate_without_time_measures_what_takes_none(
    multipliers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is factorised; multipliers that are given need that neither."""
    generator = np.random.default_rng(0)
    A, q = generator.standard_normal((12, 12)), generator.standard_normal(12)
    G = generator.standard_normal((5, 12))

    def program() -> iopt.QuadraticProgram:
        return iopt.QuadraticProgram(A + A.T, q, G, 0.2 * np.abs(G).sum(axis=1), lb=-1.0, ub=1.0)

    qp, fresh = program(), program()
    result = iopt.solve(qp, time_limit=1000.0)
    known = result.multipliers if multipliers else None
    evidence = replace(result.evidence, multipliers=known, witness=None, time_limit=1e-3)
    _ = fresh.program()  # a feasible point
    long_from(monkeypatch, 0)
    Clock(monkeypatch)
    certificate = replace(result, problem=fresh, formulation=fresh, evidence=evidence).certificate
    assert Claim.FEASIBLE <= certificate.claim < Claim.GLOBAL
    x = result.values["x"]
    assert certificate.primal_residual <= 1e-9
    assert certificate.objective == pytest.approx(0.5 * x @ qp.P @ x + qp.q @ x, rel=1e-9)
    assert any("in time" in reason for reason in certificate.reasons)
    assert not any("conditions fail" in reason for reason in certificate.reasons)


@pytest.mark.parametrize("method", ["cheap", "branch-and-bound", "clarabel"])
def test_a_bracket_without_time_for_eigenvalues_is_valid(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The linear minorant takes the place of what does not begin; it is a bound nevertheless."""
    problem = random_problem("sigmoid", n=20, seed=0)
    known = iopt.solve(problem, iopt.SVMDual(C=1.0)).objective
    with monkeypatch.context() as patch:
        long_from(patch, 0)
        clock, search_locally = Clock(patch), GlobalSearch._search_locally

        def slowly(search: GlobalSearch) -> Status:
            status = search_locally(search)
            clock.now += 1000.0
            return status

        patch.setattr(GlobalSearch, "_search_locally", slowly)
        # No time is left for a conic solver, which would have to build its program first.
        patch.setattr("indefinite_opt.workflow.bounding.conic_multipliers", pytest.fail)
        bracket = iopt.bound(problem, iopt.SVMDual(C=1.0), time_limit=900.0, method=method)
    assert bracket.status is Status.TIME_LIMIT
    assert "linear" in bracket.bounds
    assert np.isfinite(bracket.upper)
    assert bracket.rigorous
    assert bracket.proof is None
    assert bracket.upper >= known


@pytest.mark.parametrize(
    "formulation",
    [iopt.SVMDual(C=0.1), iopt.SVMDual(C=0.7, bias=False), iopt.ConvexHullDual(mu=0.25)],
    ids=str,
)
@pytest.mark.parametrize("seed", range(2))
def test_the_linear_bound_is_below_an_optimum_that_it_attains(
    seed: int, formulation: iopt.Formulation
) -> None:
    """Where no y_iy_jK_ij is positive all weights are at their upper ends, in fractions."""
    A = np.random.default_rng(seed).standard_normal((8, 8))
    y = np.array([1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0])
    problem = iopt.KernelProblem(-np.outer(y, y) * np.abs(A + A.T), y)
    qp = formulation.program(problem)
    upper = Fraction(qp.feasible.upper)
    curved = Fraction(qp.hessian) * upper * sum(map(Fraction, -np.abs(problem.K).ravel())) / 2
    optimum = upper * (curved + 8 * Fraction(qp.linear))
    bound = finite_form(qp).linear_bound()
    assert Fraction(bound) <= optimum
    assert bound == pytest.approx(float(optimum), rel=1e-13)


def test_without_any_limit_the_number_of_boxes_has_one() -> None:
    problem = random_problem("l1-gaussian", n=16, seed=2)
    problem = iopt.KernelProblem(np.sin(9.0 * problem.K), problem.y)
    options: Any = {"time_limit": None, "gap": 1e-14, "settings": Settings(default_max_nodes=3)}
    bracket = iopt.bound(problem, iopt.SVMDual(C=5.0), **options)
    assert bracket.status in (Status.MAX_ITER, Status.SOLVED, Status.INACCURATE)
    assert bracket.nodes <= 3
    assert iopt.bound(problem, iopt.SVMDual(C=5.0), **options, max_nodes=5).nodes <= 5


def test_a_worker_gives_its_box_back_when_the_time_is_over(
    sigmoid_problem: iopt.KernelProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(*arguments: Any, **options: Any) -> Any:
        raise limits.TimeLimitReached

    formulation = iopt.SVMDual(C=10.0)
    task = Task(sigmoid_problem, formulation, formulation.program(sigmoid_problem))
    search = GlobalSearch(task, 1e-9)
    monkeypatch.setattr(search.deadline, "timed", late)
    node = Node(search.whole_box[1], -np.inf, 0, search.root)
    assert search.box_bound.process(node) == [node]


def test_boxes_do_not_wait_for_jobs_in_their_own_threads() -> None:
    """Below the root, relaxations begin anew where secants have ended, with a job for each tuning.

    The one thread of the pool bounds such a box; a job in the same pool would never begin.
    """
    generator = np.random.default_rng(0)
    P = generator.integers(-50, 51, (12, 12)).astype(float)
    qp = iopt.QuadraticProgram(P + P.T, generator.integers(-50, 51, 12), lb=0.0, ub=1.0)
    task = Task(qp, qp, qp.program(), time_limit=20.0)
    search = GlobalSearch(task, 1e-9)
    search.begin()
    node = Node(search.whole_box[1], search.bracket.lower, 3, search.root)
    search.box_bound.spare = executor = ThreadPoolExecutor(1)
    try:
        parts = executor.submit(search.box_bound.process, node).result(timeout=300.0)
    finally:
        executor.shutdown(cancel_futures=True)
    assert node.relaxation is not None
    assert all(part.depth == 4 for part in parts)


def test_a_line_search_among_numbers_that_are_none_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where F and its gradient are nan no step is short enough."""
    from indefinite_opt.solvers.proxy_kernel.search import ProxySearch

    evaluate, calls = ProxySearch.evaluate, []

    def broken(self: ProxySearch, x: np.ndarray) -> Any:
        calls.append(1)
        at = evaluate(self, x)
        return at if len(calls) < 3 else replace(at, value=np.nan, gradient=np.nan * at.gradient)

    monkeypatch.setattr(ProxySearch, "evaluate", broken)
    result = iopt.solve(
        random_problem("sigmoid", n=10, seed=0), iopt.LussDual(), solver=ProjectedGradient()
    )
    assert result.status is Status.INACCURATE


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals are sent as on Unix")
def test_an_interrupted_command_exits_with_130(tmp_path: Path) -> None:
    """The signal comes when the first callback of a descent, or bound, is asked."""
    K = np.random.default_rng(0).standard_normal((80, 80))
    np.savez(tmp_path / "data.npz", K=K + K.T, y=np.arange(80) % 2)
    out = str(tmp_path / "out.npz")
    arguments = ["solve", str(tmp_path / "data.npz"), "SVMDual", "--output", out, "--json"]
    code = (
        f"{INTERRUPT_AT_THE_END_OF_A_DESCENT}\n"
        "import sys\n"
        "from indefinite_opt.command_line import app as cli\n"
        f"sys.argv = ['indefinite-opt', *{arguments!r}]\n"
        "cli.main()\n"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120
    )
    assert finished.returncode == 130, finished.stderr
    assert "Traceback" not in finished.stderr
    assert '"status": "interrupted"' in finished.stdout
    with np.load(out) as written:
        assert written["alpha"].shape == (80,)


@pytest.mark.parametrize("scale", [1e-12, 1e6])
@pytest.mark.parametrize("title", ["SVMDual(C=1)", "ConvexHullDual", "LPSVM", "GuoSchuurmansLP"])
def test_no_solver_calls_an_infeasible_point_solved(title: str, scale: float) -> None:
    problem = random_problem("gaussian", n=8, seed=4)
    problem = iopt.KernelProblem(scale * problem.K, problem.y)
    for solver in iopt.available_solvers(title):
        if solver == "uno":
            continue  # takes minutes where nothing is scaled
        try:
            result = iopt.solve(problem, title, solver=solver, time_limit=10.0)
        except iopt.errors.SolverFailed:
            continue
        certificate = result.certificate
        assert certificate.claim > Claim.NONE or result.status is not Status.SOLVED, solver
        assert certificate.primal_residual <= 1e-6, solver
