"""The descent of `smo`: its steps, and where they end.

What is expected comes from `Program`, plain numbers after formulations.md, from closed forms, from
brute force, from LIBSVM or from Clarabel.
"""

from __future__ import annotations

import re
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import indefinite_opt as iopt
from helpers.problems import FAMILIES, gaussian, kernel, labels, points, symmetric
from helpers.processes import HANGS
from helpers.programs import EPS, FORMS, INF, TOL, Program, form, smo
from indefinite_opt.quadratic.local.descent import descent
from indefinite_opt.quadratic.programs.paired_qp import PairedQP
from indefinite_opt.solvers.descent.smo import SMO

Array = NDArray[np.float64]


def small_blocks(patch: pytest.MonkeyPatch, size: int, **others: float) -> None:
    """Blocks for any number of points."""
    blocks = {"MAX_WHOLE": 0, "BLOCK_SHARE": 0.0, "MIN_BLOCK": size, "MIN_STEPS_PER_BLOCK": 0}
    for name, value in {**blocks, **others}.items():
        patch.setattr(descent, name, value)


@pytest.mark.parametrize(
    ("name", "n", "d", "gamma"),
    [*((name, 60, 2, 0.02) for name in FORMS), *((name, 100, 3, 0.05) for name in FORMS[:2])],
)
def test_long_runs_do_not_drift(name: str, n: int, d: int, gamma: float) -> None:
    """C = 1e4 and a Gaussian of low numerical rank: 10⁴ to 10⁵ steps or more."""
    K, y = gaussian(n, d, gamma), np.resize([1.0, -1.0], n)
    formulation = form(name, y, 3.0 if name in FORMS[2:] else 1e4)
    result = smo(iopt.KernelProblem(K, y), formulation, max_iter=100_000)
    assert result.iterations > 3_000
    program = Program.of(K, y, formulation)
    x = result.values[program.variable]
    program.check_feasible(x)
    # No dust: a weight less than a rounding away from its bound is at its bound.
    assert not np.any((x > 0.0) & (x < EPS * x.max()))
    assert not np.any((x < program.upper) & (x > program.upper * (1.0 - EPS)))


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_steps_below_the_rounding_of_the_larger_weight(order: tuple[int, ...]) -> None:
    """α = (C, cC/L, C - cC/L): a change of α₂ by 1e-16 changes its slope by 2e-6, and not α₃."""
    C, L = 1.5, 2.2e10
    for c in np.linspace(1e3, 3e3, 40):
        K = np.array([[0.0, c, 0.0], [c, L, 0.0], [0.0, 0.0, 0.0]])[np.ix_(order, order)]
        y = np.array([1.0, -1.0, -1.0])[list(order)]
        result = smo(iopt.KernelProblem(K, y), iopt.SVMDual(C=C))
        assert result.status is iopt.Status.SOLVED
        assert result.certificate.claim is iopt.Claim.LOCAL
        assert result.values["alpha"][order.index(1)] == pytest.approx(c * C / L, rel=1e-12)
        assert result.objective == pytest.approx(2.0 * C + 0.5 * (c * C) ** 2 / L, rel=1e-12)


@pytest.mark.parametrize(
    ("kind", "name"),
    [*(("indefinite", name) for name in FORMS), ("positive", "no bias"), ("rows", "SVMDual")],
)
def test_a_trace_tells_of_the_points_on_the_way(
    kind: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A descent cut off after as many steps has the objective that the trace has there."""
    small_blocks(monkeypatch, 8, CHUNK_WORK=1.0)
    n = 60
    X, y = np.random.default_rng(4).standard_normal((n, 3)), labels(n, 4)
    formulation = form(name, y, 2.0)
    K = symmetric(n, 4) if kind == "indefinite" else np.tanh(0.5 * X @ X.T)
    K = np.exp(X @ X.T / 3.0) if kind == "positive" else K
    program = Program.of(K, y, formulation)

    def run(**options: Any) -> iopt.workflow.Result:
        problem = iopt.KernelProblem(K, y)
        if kind == "rows":  # anew, as rows that are there already round differently
            room = 9.5 * 8e-6 * n
            problem = iopt.KernelProblem.from_data(X, y, "sigmoid(a=0.5, r=0)", cache_mb=room)
        return smo(problem, formulation, **options)

    whole = run()
    told, rounding = whole.trace, max(program.rounding(program.check(whole)), 1e-13)
    assert len(told) >= 4
    assert np.all(np.diff(program.sense * np.array(told.objective)) <= rounding)
    assert told.iterations == sorted(told.iterations)
    assert told.seconds == sorted(told.seconds)
    for k in range(1, len(told), max(len(told) // 4, 1)):
        part = run(max_iter=told.iterations[k])
        assert part.iterations == told.iterations[k]
        assert part.objective == pytest.approx(told.objective[k], abs=rounding)


def test_more_stationary_points_than_steps_allowed() -> None:
    """Blocks of Q = (1, 2; 2, 1) at their saddle (⅓, ⅓), all of whose escapes end at vertices."""
    K = np.kron(np.eye(6), [[1.0, -2.0], [-2.0, 1.0]])
    problem = iopt.KernelProblem(K, np.tile([1, -1], 6))
    formulation = iopt.SVMDual(C=2 / 3, bias=False)
    for limit in (1, 2, 4):
        result = smo(problem, formulation, start=np.full(12, 1 / 3), max_iter=limit)
        assert result.iterations <= limit


@pytest.mark.parametrize("name", FORMS)
@settings(max_examples=20, phases=[Phase.explicit, Phase.generate])  # shrinking takes minutes
@given(
    st.sampled_from(FAMILIES), st.integers(2, 12), st.integers(0, 2**32 - 1), st.integers(-8, 8),
    st.floats(-3.0, 3.0), st.sampled_from([None, None, None, 2, 4, 6]),
)  # fmt: skip
@example("rank one", 7, 761985053, 5, float(np.log10(963.0)), 4)
def test_any_kernel(
    name: str, family: str, n: int, seed: int, power: int, size: float, block: int | None
) -> None:
    """Also in small blocks. The example takes more steps than are allowed, as some do; its point
    must be honest, too."""
    K, y = 10.0**power * kernel(family, n, seed), labels(n, seed)
    formulation = form(name, y, 10.0**size)
    with pytest.MonkeyPatch.context() as patch:
        if block:
            small_blocks(patch, block)
        result = smo(iopt.KernelProblem(K, y), formulation, max_iter=100_000)
    program = Program.of(K, y, formulation)
    if result.status is not iopt.Status.MAX_ITER:
        program.check(result)
        return
    # Lines are balanced only where a gradient is computed afresh, which may be long ago.
    x = result.values[program.variable]
    program.check_feasible(x, steps=result.iterations)
    assert program.sense * result.objective == pytest.approx(
        program.value(x), abs=program.rounding(x)
    )
    assert result.residual * program.unit(x) <= program.violation(x) + program.rounding(x)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("exponent", [-300, -170, 150])
def test_kernels_at_the_ends_of_the_range(exponent: int, name: str) -> None:
    """Squares of the slopes over- or underflow from 1e±154 on."""
    K, y = 10.0**exponent * symmetric(6, 0), np.resize([1.0, -1.0], 6)
    formulation = form(name, y, 1.5)
    result = smo(iopt.KernelProblem(K, y), formulation, max_iter=100_000)
    program = Program.of(K, y, formulation)
    program.check_feasible(result.values[program.variable])
    assert result.status is iopt.Status.SOLVED


@pytest.mark.parametrize(
    ("how", "name"),
    [*(("whole", name) for name in FORMS), ("rows on demand", "ConvexHullDual"),
     ("steps of LIBSVM first", "SVMDual")],
)  # fmt: skip
def test_interior_points_lead_to_the_optimum(
    how: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tried at once: the kernel has rank 3, of any storage. Clarabel has the same optimum."""
    X, y = np.random.default_rng(3).standard_normal((80, 3)), np.resize([1.0, -1.0, -1.0], 80)
    formulation = form(name, y, 1.2 if name in FORMS[2:] else 1e3)
    at_once = {"READINGS_BEFORE_INTERIOR": 1.0, "WORK_BEFORE_INTERIOR": 0.0}
    small_blocks(monkeypatch, 8, CHUNK_WORK=1.0, **at_once)
    stored = {"cache_mb": 60.5 * 8e-6 * 80} if how == "rows on demand" else {}
    problem = iopt.KernelProblem.from_data(X, y, "linear", **stored)
    solver = SMO(second_order=how.startswith("steps"))
    result = iopt.solve(problem, formulation, solver=solver)
    whole = iopt.KernelProblem(X @ X.T, y)
    other = iopt.solve(whole, formulation, solver="clarabel", tol=1e-9)
    assert result.objective == pytest.approx(other.objective, rel=TOL, abs=1e-9)
    Program.of(X @ X.T, y, formulation).check(result)
    assert result.certificate.claim is iopt.Claim.GLOBAL


@pytest.mark.parametrize(
    ("rows", "name"),
    [*((rows, "SVMDual") for rows in (None, 1000, 10, 5)), *((2, name) for name in FORMS)],
)
def test_any_storage_ends_at_a_stationary_point(rows: int | None, name: str) -> None:
    """An indefinite kernel has many; what a result says holds for the matrix that is kept."""
    X, y = points(70, 9)
    room = None if rows is None else (rows + 0.5) * 8e-6 * 70
    problem = iopt.KernelProblem.from_data(X, y, "sigmoid(a=0.2, r=-1)", cache_mb=room)
    K = problem.gram.block(np.arange(70), np.arange(70))
    formulation = form(name, y, 2.0)
    result = smo(problem, formulation)
    x = Program.of(K, y, formulation).check(result)
    assert result.status is iopt.Status.SOLVED
    certificate = result.certificate
    assert certificate.claim in (iopt.Claim.STATIONARY, iopt.Claim.LOCAL)
    if "can be improved" in str(certificate):  # then there was no room to find out
        assert re.search(r"curvature not examined on \d+ weights", result.message)
    exact = Program.of(iopt.KernelProblem.from_data(X, y, "sigmoid(a=0.2, r=-1)").K, y, formulation)
    assert exact.violation(x) <= 2.0 * TOL * exact.unit(x) + 1e-6 * float(x.sum())


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1))
def test_hard_margin_on_a_cone_of_two_rays(seed: int) -> None:
    """α = (s, t, s + t) for y = (1, 1, -1): strictly copositive is bounded, else it is not."""
    K, y = symmetric(3, seed) + 0.3 * np.eye(3), np.array([1.0, 1.0, -1.0])
    rays = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    Q = K * np.outer(y, y)
    M = rays @ Q @ rays.T
    margin = min(M[0, 0], M[1, 1])
    if margin > 0.0:
        margin = min(margin, M[0, 1] + np.sqrt(M[0, 0] * M[1, 1]))
    if abs(margin) < 1e-3:
        return
    problem = iopt.KernelProblem(K, y)
    if margin < 0.0:
        with pytest.raises(iopt.errors.UnboundedProblem):
            smo(problem, iopt.SVMDual(C=INF), time_limit=HANGS)
        return
    result = smo(problem, iopt.SVMDual(C=INF))
    Program.of(K, y, iopt.SVMDual(C=INF)).check(result)
    # ½M₁₁s² - 2s at the ray (s, 0), and the same at the other; inside, M(s, t) = (2, 2).
    ends = [2.0 / M[0, 0], 2.0 / M[1, 1]]
    if np.linalg.det(M) > 0.0:
        inside = np.linalg.solve(M, [2.0, 2.0])
        if inside.min() > 0.0:
            ends = [float(inside.sum())]
    assert min(abs(result.objective - end) for end in ends) <= 1e-5 * max(1.0, result.objective)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("how", "seed"), [("whole", 0), ("rows", 0), ("rows", 1)])
def test_hard_margin_with_a_pair_that_opposes_nothing(how: str, seed: int, bias: bool) -> None:
    """Minkowski space: pairs at distance (+, -) of negative square, points of negative norm."""
    X, y = points(20, seed)

    def minkowski(A: Array, B: Array) -> Array:
        return A[:, 1:] @ B[:, 1:].T - 3.0 * np.outer(A[:, 0], B[:, 0])

    K = minkowski(X, X)
    pairs = np.diag(K)[:, None] + np.diag(K) - 2.0 * K
    assert (pairs[np.ix_(y > 0, y < 0)].min() if bias else np.diag(K).min()) < 0.0
    room = 4.5 * 8e-6 * 20 if how == "rows" else None
    problem = iopt.KernelProblem.from_data(X, y, minkowski, cache_mb=room)
    with pytest.raises(iopt.errors.UnboundedProblem, match="Use a finite C"):
        smo(problem, iopt.SVMDual(C=INF, bias=bias))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("call", "C"), [(2, 1.0), (2, INF), (3, 1.0), (4, INF)])
def test_an_interrupt_during_a_gradient(
    call: int, C: float, bias: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where K is large that takes long; what is known of the point must still be true of it."""
    K, y = gaussian(40, 5, 0.5), labels(40, 1)
    formulation = iopt.SVMDual(C=C, bias=bias)
    calls, original = [0], PairedQP.gradient

    def gradient(self: PairedQP, x: Array) -> Array:
        calls[0] += 1
        if calls[0] == call:
            raise KeyboardInterrupt
        return original(self, x)

    monkeypatch.setattr(PairedQP, "gradient", gradient)
    problem = iopt.KernelProblem(K, y)
    try:
        result = smo(problem, formulation, tol=1e-9)
    except KeyboardInterrupt:
        pytest.skip("no more gradients than that")
    program = Program.of(K, y, formulation)
    x = result.values["alpha"]
    program.check_feasible(x)
    assert result.objective == pytest.approx(-program.value(x), abs=program.rounding(x))
