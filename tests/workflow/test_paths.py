"""Paths over C, μ and β̄: each point is what a separate solve would be, however many there are."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

import indefinite_opt as iopt
from helpers.callbacks import press
from helpers.cases import LIN_LIN
from helpers.problems import random_problem, rugged_problem
from helpers.programs import Program, check_feasible, program_of, weights
from indefinite_opt.quadratic.solving.solver import Task
from indefinite_opt.solvers.descent.smo import SMO

Array = NDArray[np.float64]
Formulations = list[iopt.Formulation]
INF = float("inf")

CONVEX = ("gaussian", "linear")
NONCONVEX = ("sigmoid", "random")


def path_problem(kernel: str, n: int = 24) -> iopt.KernelProblem:
    return rugged_problem(n, seed=1) if kernel == "random" else random_problem(kernel, n, seed=1)


def svms(values: ArrayLike, bias: bool = True) -> Formulations:
    return [iopt.SVMDual(C=float(C), bias=bias) for C in np.ravel(values)]


def weighted(values: ArrayLike, n: int, bias: bool = True) -> Formulations:
    weights = np.random.default_rng(3).uniform(0.2, 4.0, n)
    return [iopt.SVMDual(C=float(C), bias=bias, weights=weights) for C in np.ravel(values)]


def hulls(shares: ArrayLike, problem: iopt.KernelProblem) -> Formulations:
    """Shares between 0, the least μ that is feasible, and 1, the whole hulls."""
    least = 1.0 / problem.smaller_class
    return [iopt.ConvexHullDual(mu=float(least + s * (1.0 - least))) for s in np.ravel(shares)]


def nus(shares: ArrayLike, problem: iopt.KernelProblem) -> Formulations:
    """The same over β̄ = μ/2."""
    least = 0.5 / problem.smaller_class
    return [iopt.GuoSchuurmansQP(beta=float(least + s * (0.5 - least))) for s in np.ravel(shares)]


GRID = np.logspace(-3, 3, 7)
RANDOM = 10.0 ** np.random.default_rng(0).uniform(-3, 3, 7)
SHARES = np.linspace(0.0, 1.0, 7)


def routes(problem: iopt.KernelProblem) -> dict[str, Formulations]:
    return {
        "C up": svms(GRID),
        "C down": svms(GRID[::-1]),
        "C repeated": svms([0.1, 0.1, 0.1, 1.0, 1.0, 30.0, 30.0, 0.1]),
        "C jumps": svms(RANDOM),
        "weights, jumps": weighted(RANDOM, problem.n),
        "weights, no bias": weighted(RANDOM, problem.n, bias=False),
        "no bias, jumps": svms(RANDOM, bias=False),
        "mu up": hulls(SHARES, problem),
        "mu down": hulls(SHARES[::-1], problem),
        "beta down": nus(SHARES[::-1], problem),
        "mixed": [
            *svms([1.0, 2.0]), *svms([2.0, 1.0], bias=False), *svms([1.0]),
            *hulls([0.3, 0.6], problem), *nus([0.6, 0.3], problem), *svms([1.0]),
        ],
    }  # fmt: skip


ROUTES = tuple(routes(path_problem("gaussian")))


def check_point(
    problem: iopt.KernelProblem, result: iopt.workflow.Result, tol: float = 1e-6
) -> None:
    """Bounds hold exactly, lines to rounding; first-order conditions and objective by ∇F afresh."""
    qp, x = program_of(problem, result.formulation), weights(result)
    program = Program.of(problem.K, problem.y, result.formulation)
    assert x.min() >= 0.0
    assert np.all(x <= program.upper)
    np.testing.assert_allclose(qp.feasible.A @ x, qp.feasible.b, rtol=0, atol=1e-12 * x.sum())
    sizes = 1e-14 * program.h * (np.abs(problem.K) @ x)  # rounding of the sums, if all cancels
    rounding = x @ sizes + 1e-14 * abs(program.c) * x.sum()
    value = program.value(x)
    assert program.sense * result.objective == pytest.approx(value, rel=1e-12, abs=rounding)
    violation, unit = program.violation(x), qp.gradient_unit(program.gradient(x))
    assert violation <= tol * unit + sizes.max(), f"{result.formulation}: {violation / unit:.2e}"
    # Entries within tol of a bound count as there, so that what is told may be less, never more.
    assert result.residual <= violation / unit + 1e-9


@pytest.mark.parametrize(
    ("route", "kernel"),
    [
        *zip(ROUTES, itertools.cycle(CONVEX), strict=False),
        *((route, kernel) for kernel in NONCONVEX for route in ROUTES),
    ],
)
def test_each_point_of_a_path_is_stationary_and_the_optimum_of_a_convex_program(
    route: str, kernel: str
) -> None:
    problem = path_problem(kernel)
    formulations = routes(problem)[route]
    path = iopt.solve_path(problem, formulations, solver="smo")
    assert [result.formulation for result in path] == formulations
    for result in path:
        check_point(problem, result)
        assert result.status is iopt.Status.SOLVED
        assert result.solver == "smo"
        assert result.certificate.claim >= iopt.Claim.STATIONARY
        if kernel in CONVEX:
            assert result.certificate.claim is iopt.Claim.GLOBAL
            alone = iopt.solve(problem, result.formulation, solver="smo").objective
            assert result.objective == pytest.approx(alone, rel=2e-6, abs=2e-6)


def test_the_default_solver_is_that_of_solve(sigmoid_problem: iopt.KernelProblem) -> None:
    """A point of a path is no worse than the same call alone."""
    formulations = ["SVMDual(C=1)", "LPSVM", "LussDual", "KernelLogistic"]
    path = iopt.solve_path(sigmoid_problem, formulations)
    for formulation, result in zip(formulations, path, strict=True):
        alone = iopt.solve(sigmoid_problem, formulation)
        assert result.solver == alone.solver
        assert result.objective == pytest.approx(alone.objective, rel=1e-6)


@pytest.mark.parametrize(("scale", "bias"), [(1e-8, True), (1.0, False)])
def test_gradients_that_only_grow_keep_their_digits(scale: float, bias: bool) -> None:
    """All weights stay at C over ten decades of C, so that no step ever refreshes the gradient.

    At first Qα is far below the 1 of the margins: what is left of it there is scaled up with C.
    """
    x = np.arange(20.0)
    K = scale * np.exp(-np.square(np.subtract.outer(x, x)))
    problem = iopt.KernelProblem(K, np.resize([1, -1], 20))
    for result in iopt.solve_path(
        problem, svms(np.logspace(-12, -1, 12) / scale, bias), solver="smo"
    ):
        np.testing.assert_array_equal(weights(result), result.formulation.C)
        check_point(problem, result)


def test_a_far_jump_upwards_is_not_believed() -> None:
    """Q = I, α = min(1, C): at C = 1e-18 the gradient is -1 to rounding, whatever Q may be."""
    problem = iopt.KernelProblem(np.eye(4), [1, 1, -1, -1])
    small, large = iopt.solve_path(problem, svms([1e-18, 10.0]), solver="smo")
    assert small.objective == pytest.approx(4e-18)
    assert large.objective == pytest.approx(2.0, rel=1e-6)
    assert large.certificate.claim is iopt.Claim.GLOBAL


@pytest.mark.parametrize("bias", [True, False])
def test_far_jumps_both_ways(bias: bool) -> None:
    problem, values = path_problem("gaussian", n=20), [1e8, 1e-8, 1e4, 1e-10, 1.0, 1e-12, 1e12]
    for result in iopt.solve_path(problem, svms(values, bias), solver="smo"):
        alone = iopt.solve(problem, result.formulation, solver="smo")
        assert result.objective == pytest.approx(alone.objective, rel=2e-6)
        assert result.residual <= 1e-6
        check_point(problem, result)


@pytest.mark.parametrize("scale", [1e-12, 1.0])
@pytest.mark.parametrize("kernel", ["gaussian", "sigmoid"])
def test_far_jumps_downwards_keep_the_balance(kernel: str, scale: float) -> None:
    """A Newton step on the free weights may be far longer than the new bound allows."""
    for seed in range(3):
        source = random_problem(kernel, 8, seed)
        problem = iopt.KernelProblem(scale * source.K, source.y)
        values = np.array([1e4, 1e-7, 1e-2, 1e-13, 1e-2, 1e-9, 1e-17])
        for result in iopt.solve_path(problem, svms(values), solver="smo"):
            alpha = weights(result)
            assert abs(problem.y @ alpha) <= 1e-12 * alpha.sum(), f"seed {seed}: {result}"


def test_an_infinite_bound_and_two_optima() -> None:
    """2s - 3s²/2 at s = min(C, 2/3), one optimum or the other."""
    problem = iopt.KernelProblem(LIN_LIN, [1, 1, -1])
    for result in iopt.solve_path(problem, svms([2.0, INF, 1.0, INF]), solver="smo"):
        assert result.objective == pytest.approx(2 / 3, rel=1e-6)
        assert sorted(weights(result)) == pytest.approx([0.0, 2 / 3, 2 / 3], abs=1e-5)


def test_a_session_goes_on_after_an_unbounded_point() -> None:
    """α = e at C = 1: 4 + ½·4; a session that has run off to infinity comes back to it.

    α = e has αᵀQα = 4 - 8 < 0, while each opposite pair has curvature 2.
    """
    block = np.array([[1.0, -2.0], [-2.0, 1.0]])
    problem = iopt.KernelProblem(np.kron(np.eye(2), block), [1, 1, -1, -1])
    session = SMO().session()

    def solve(C: float) -> Array:
        formulation = iopt.SVMDual(C=C)
        task = Task(problem, formulation, formulation.program(problem))
        return session.solve(task).values["alpha"]

    first = solve(1.0)
    with pytest.raises(iopt.errors.UnboundedProblem):
        solve(INF)
    np.testing.assert_array_equal(first, np.ones(4))
    np.testing.assert_array_equal(solve(1.0), np.ones(4))


def test_an_interrupted_point_is_honest_and_the_next_one_whole() -> None:
    problem = path_problem("sigmoid")
    session = SMO().session()
    formulation = iopt.SVMDual(C=10.0)
    task = Task(problem, formulation, formulation.program(problem))

    try:
        stopped = session.solve(replace(task, callback=press()))
    except KeyboardInterrupt:  # would end the test session
        pytest.fail("the interrupt came through")
    assert stopped.status is iopt.Status.INTERRUPTED
    limited = session.solve(replace(task, max_iter=2))
    assert limited.status in (iopt.Status.MAX_ITER, iopt.Status.SOLVED)
    whole = session.solve(task)
    assert whole.status is iopt.Status.SOLVED
    claim = iopt.verify(problem, formulation, whole.values).claim
    assert claim >= iopt.Claim.STATIONARY


@pytest.mark.parametrize("route", ["C down", "mixed"])
def test_limits_hold_at_each_point(route: str) -> None:
    """Three steps do not solve anything; the residual that is told is that of the point."""
    problem = path_problem("sigmoid")
    for result in iopt.solve_path(problem, routes(problem)[route], max_iter=3, solver="smo"):
        qp, x = program_of(problem, result.formulation), weights(result)
        assert result.iterations <= 3
        check_feasible(qp, x)
        value = Program.of(problem.K, problem.y, result.formulation).value(x)
        assert qp.sense * result.objective == pytest.approx(value, rel=1e-10, abs=1e-14)
        solved = result.status is iopt.Status.SOLVED
        assert solved == (result.certificate.claim >= iopt.Claim.STATIONARY)


def test_points_of_a_path_share_no_memory() -> None:
    """What a caller does to one result changes no other."""
    problem = path_problem("sigmoid")
    for solver in ("smo", "multistart", "dca"):
        path = iopt.solve_path(problem, svms([1.0, 1.0, 2.0]), solver=solver)
        for one, other in itertools.pairwise(path):
            assert not np.shares_memory(weights(one), weights(other))


@pytest.mark.parametrize("solver", ["multistart", "dca"])
@pytest.mark.parametrize("route", ["C jumps", "mixed"])
@pytest.mark.parametrize("kernel", ["gaussian", "sigmoid"])
def test_paths_of_other_local_solvers(kernel: str, route: str, solver: str) -> None:
    problem = path_problem(kernel, n=16)
    for result in iopt.solve_path(problem, routes(problem)[route], solver=solver):
        assert result.solver == solver
        assert result.status is iopt.Status.SOLVED
        check_point(problem, result, tol=1.1e-6)
        if kernel == "gaussian":
            assert result.certificate.claim is iopt.Claim.GLOBAL


@pytest.mark.parametrize("solver", ["osqp", "highs"])
@pytest.mark.parametrize("route", ["C jumps", "mixed"])
def test_paths_of_solvers_of_convex_programs(route: str, solver: str) -> None:
    problem = path_problem("gaussian", n=20)
    for result in iopt.solve_path(problem, routes(problem)[route], solver=solver):
        assert result.solver == solver
        assert result.certificate.claim is iopt.Claim.GLOBAL
        alone = iopt.solve(problem, result.formulation, solver="smo", tol=1e-8).objective
        assert result.objective == pytest.approx(alone, rel=1e-5, abs=1e-6)


def sensitivities(n: int) -> list[Array]:
    factors = np.random.default_rng(0).standard_normal((2, n, n + 5))
    return [A @ A.T for A in factors]


INFINITE = [1.0, INF, 0.5, INF, INF, 3.0]


@pytest.mark.parametrize(
    ("kernel", "chosen"),
    [
        *(("gaussian", svms(INFINITE, bias)) for bias in (True, False)),
        # Clip, flip and shift share C but no matrix.
        ("sigmoid", [iopt.SpectrumSVM(C=C, transform=transform) for C in (0.5, 5.0)
                     for transform in ("clip", "flip", "shift", "clip")]),
        # Matrices that differ although the bound does not.
        ("gaussian", [iopt.GuoSchuurmansQP(beta=beta, sensitivity=matrix)
                      for matrix in sensitivities(24) for beta in (0.1, 0.3)]),
    ],
)  # fmt: skip
def test_clarabel_agrees_at_each_point(kernel: str, chosen: Formulations) -> None:
    problem = path_problem(kernel)
    for result in iopt.solve_path(problem, chosen, solver="smo"):
        alone = iopt.solve(problem, result.formulation, solver="clarabel", tol=1e-9).objective
        assert result.objective == pytest.approx(alone, rel=1e-5)
        assert result.certificate.claim is iopt.Claim.GLOBAL


def test_each_point_has_its_own_default_solver() -> None:
    """A row makes an inequality of ν-SVM another kind of program than an equality."""
    problem = random_problem("gaussian", 11, seed=4)
    most = 2.0 * problem.smaller_class / problem.n
    formulations = [
        iopt.NuSVM(nu=share * most, equality=equality)
        for share, equality in ((0.9, False), (0.25, True), (0.2, True), (0.8, False), (0.8, True))
    ]
    for result in iopt.solve_path(problem, formulations):
        alone = iopt.solve(problem, result.formulation)
        assert result.solver == alone.solver
        assert not result.doubt
        assert result.objective == pytest.approx(alone.objective, rel=1e-6)
        assert result.certificate.claim is iopt.Claim.GLOBAL
