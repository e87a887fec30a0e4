"""The descent of `smo`: its steps, where they end, and the compiled loops they are made of.

What is expected comes from `Program`, plain numbers after formulations.md, from closed forms, from
brute force, from LIBSVM or from Clarabel.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar

import indefinite_opt as iopt
from bruteforce import stationary_points
from indefinite_opt import descent, smo_loops
from indefinite_opt.descent import Descent
from indefinite_opt.solve import as_formulation
from indefinite_opt.solver import Task
from indefinite_opt.structure import BoxLineQP

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
INF = float("inf")
EPS = float(np.finfo(np.float64).eps)
TOL = 1e-6

FORMS = ("SVMDual", "no bias", "ConvexHullDual", "GuoSchuurmansQP")
"""One line, no line, and two lines twice."""


def form(name: str, y: ArrayLike, size: float) -> iopt.Formulation:
    """A formulation whose bound is `size`: C itself, or in units of the least that is feasible."""
    positive = int(np.sum(np.asarray(y) > 0))
    least = 1.0 / min(positive, np.size(y) - positive)
    if name == "ConvexHullDual":
        return iopt.ConvexHullDual(mu=least * max(size, 1.0))
    if name == "GuoSchuurmansQP":
        return iopt.GuoSchuurmansQP(beta=0.5 * least * max(size, 1.0))
    return iopt.SVMDual(C=size, bias=name != "no bias")


@dataclass(frozen=True, eq=False)
class Program:
    """min F(x) = ½h xᵀQx + c eᵀx, 0 ≤ x ≤ u, and none, one or two lines."""

    Q: Array
    y: Array
    h: float
    c: float
    upper: float
    lines: int
    total: float = 0.0
    sense: int = 1
    variable: str = "alpha"

    @classmethod
    def of(cls, K: ArrayLike, y: ArrayLike, formulation: Any) -> Program:
        signs = np.where(np.asarray(y) > 0, 1.0, -1.0)
        Q = np.asarray(K, float) * np.outer(signs, signs)
        if isinstance(formulation, iopt.SVMDual):
            return cls(Q, signs, 1.0, -1.0, formulation.C, int(formulation.bias), sense=-1)
        if isinstance(formulation, iopt.ConvexHullDual):
            return cls(Q, signs, 2.0, 0.0, formulation.mu, 2, 2.0, -1, "alphabar")
        return cls(Q, signs, 2.0, 0.0, formulation.beta, 2, 1.0)

    @property
    def A(self) -> Array:
        return np.vstack([self.y, np.ones(self.y.size)])[: self.lines]

    @property
    def groups(self) -> list[NDArray[np.bool_]]:
        """The points among which weight is exchanged."""
        return [self.y > 0, self.y < 0] if self.lines == 2 else [self.y != 0][: self.lines]

    def gradient(self, x: Array) -> Array:
        """∇F, summed in extended precision where the machine has it."""
        product = self.Q.astype(np.longdouble) @ x.astype(np.longdouble)
        return np.asarray(self.h * product + self.c, float)

    def value(self, x: Array) -> float:
        return float(0.5 * x @ (self.gradient(x) + self.c))

    def rounding(self, x: Array) -> float:
        """Of F or of an entry of ∇F, whichever way they are summed up."""
        terms = self.h * np.abs(self.Q) @ np.abs(x) + abs(self.c)
        return 4.0 * x.size * EPS * float(max(terms.max(), np.abs(x) @ terms))

    def unit(self, x: Array) -> float:
        """What a violation is compared with."""
        largest = float(np.abs(self.gradient(x) - self.c).max())
        if self.c:
            return max(abs(self.c), 1e-6 * largest)
        return max(largest, 1e-3 * self.h * float(np.abs(self.Q).max()) * self.total) or 1.0

    def violation(self, x: Array) -> float:
        """max(0, m - M) of Lin & Lin (21); without lines the largest slope of one weight."""
        signed = -self.y * self.gradient(x)
        rising = np.where(self.y > 0, x < self.upper, x > 0)
        falling = np.where(self.y > 0, x > 0, x < self.upper)
        if not self.lines:
            up = np.max(signed[rising], initial=0.0)
            return float(max(up, np.max(-signed[falling], initial=0.0)))
        worst = 0.0
        for group in self.groups:
            m = np.max(signed[group & rising], initial=-INF)
            worst = max(worst, float(m - np.min(signed[group & falling], initial=INF)))
        return worst

    def check_feasible(self, x: Array) -> None:
        """Bounds exactly, and lines without drift."""
        assert np.all(np.isfinite(x))
        assert x.min() >= 0.0
        assert x.max() <= self.upper
        sums, mass = self.A.astype(np.longdouble) @ x, float(x.sum())
        drift = np.abs(sums - np.array([0.0, self.total])[: self.lines])
        assert np.all(drift <= x.size * EPS * mass)

    def check(self, result: iopt.Result) -> Array:
        """Everything a result says about itself that can be computed again; its weights."""
        x = result.values[self.variable]
        self.check_feasible(x)
        assert result.status in (iopt.Status.SOLVED, iopt.Status.INACCURATE)
        rounding = self.rounding(x)
        assert self.sense * result.objective == pytest.approx(self.value(x), abs=rounding)
        violation, unit = self.violation(x), self.unit(x)
        assert result.residual * unit <= violation + rounding
        if result.status is iopt.Status.SOLVED:
            assert violation <= TOL * unit + rounding
            assert result.certificate.claim >= iopt.Claim.STATIONARY
        return x


def smo(problem: iopt.KernelProblem, formulation: iopt.Formulation, **options: Any) -> iopt.Result:
    return iopt.solve(problem, formulation, solver="smo", **options)


def symmetric(n: int, seed: int) -> Array:
    A = np.random.default_rng(seed).standard_normal((n, n))
    return 0.5 * (A + A.T)


def gaussian(n: int, d: int, gamma: float, seed: int = 0) -> Array:
    X = np.random.default_rng(seed).standard_normal((n, d))
    return np.exp(-gamma * np.square(X[:, None] - X).sum(axis=2))


def labels(n: int, seed: int = 0) -> Array:
    return np.append([1.0, -1.0], np.random.default_rng(seed).choice([-1.0, 1.0], n - 2))


def escapes(result: iopt.Result) -> int:
    """How many steps along negative curvature the message tells of."""
    found = re.search(r"(\d+) along negative curvature", result.message)
    assert found is not None
    return int(found[1])


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report after every block, and small blocks."""
    monkeypatch.setattr(descent, "_CHUNK", 1.0)
    monkeypatch.setattr(descent, "_LEAST", 8)


# ------------------------------------------------------------------------------- bounds and lines


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize(("n", "d", "gamma"), [(60, 2, 0.02), (100, 3, 0.05)])
def test_long_runs_do_not_drift(n: int, d: int, gamma: float, name: str) -> None:
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


@pytest.mark.parametrize("name", FORMS)
def test_a_start_at_the_bounds_keeps_them_exact(name: str) -> None:
    """C = 0.1 is no machine number, and the sums of many of them are rounded."""
    n = 30
    K, y = symmetric(n, 3), np.resize([1.0, -1.0], n)
    formulation = form(name, y, 1.7 if name in FORMS[2:] else 0.1)
    program = Program.of(K, y, formulation)
    start = np.where(np.random.default_rng(0).random(n) < 0.5, program.upper, 0.0)
    result = smo(iopt.KernelProblem(K, y), formulation, start=start)
    x = program.check(result)
    assert np.sum((x == 0.0) | (x == program.upper)) >= n // 2


# ----------------------------------------------------------------------------- monotone, prefixes

KINDS: dict[str, Array] = {
    "indefinite": symmetric(14, 1),
    "negative": -gaussian(14, 3, 0.5),
    "positive": gaussian(14, 3, 0.5),
    "twins": np.repeat(np.repeat(symmetric(7, 2), 2, axis=0), 2, axis=1),
    "swaps": np.kron(np.eye(7), [[0.0, 1.0], [1.0, 0.0]]),
}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_more_steps_are_never_worse(kind: str, name: str) -> None:
    """max_iter = 1, 2, ...: the points of one and the same descent."""
    K, y = KINDS[kind], labels(14)
    problem, formulation = iopt.KernelProblem(K, y), form(name, y, 1.5)
    program = Program.of(K, y, formulation)
    whole = smo(problem, formulation)
    parts = [smo(problem, formulation, max_iter=k + 1) for k in range(whole.iterations)]
    points = [part.values[program.variable] for part in parts]
    assert [part.iterations for part in parts] == list(range(1, whole.iterations + 1))
    for point in points:
        program.check_feasible(point)
    values = np.array([program.value(point) for point in points])
    assert np.all(np.diff(values) <= max(map(program.rounding, points)))
    np.testing.assert_array_equal(points[-1], program.check(whole))


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("kind", ["indefinite", "positive", "rows"])
def test_a_trace_tells_of_the_points_on_the_way(kind: str, name: str) -> None:
    """A descent cut off after as many steps has the objective that the trace has there."""
    n = 60
    X, y = np.random.default_rng(4).standard_normal((n, 3)), labels(n, 4)
    formulation = form(name, y, 2.0)
    K = symmetric(n, 4) if kind == "indefinite" else np.tanh(0.5 * X @ X.T)
    K = np.exp(X @ X.T / 3.0) if kind == "positive" else K
    program = Program.of(K, y, formulation)

    def run(**options: Any) -> iopt.Result:
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
    for k in range(1, len(told), max(len(told) // 8, 1)):
        part = run(max_iter=told.iterations[k])
        assert part.iterations == told.iterations[k]
        assert part.objective == pytest.approx(told.objective[k], abs=rounding)


@pytest.mark.parametrize("name", FORMS)
def test_a_descent_repeats_itself(name: str) -> None:
    K, y = symmetric(80, 5), labels(80, 5)
    problem, formulation = iopt.KernelProblem(K, y), form(name, y, 3.0)
    first, second = smo(problem, formulation), smo(iopt.KernelProblem(K.copy(), y), formulation)
    assert first.trace.objective == second.trace.objective
    variable = Program.of(K, y, formulation).variable
    np.testing.assert_array_equal(first.values[variable], second.values[variable])


def test_more_stationary_points_than_steps_allowed() -> None:
    """Blocks of Q = (1, 2; 2, 1) at their saddle (⅓, ⅓), all of whose escapes end at vertices."""
    K = np.kron(np.eye(6), [[1.0, -2.0], [-2.0, 1.0]])
    problem = iopt.KernelProblem(K, np.tile([1, -1], 6))
    formulation = iopt.SVMDual(C=2 / 3, bias=False)
    for limit in (1, 2, 4):
        result = smo(problem, formulation, start=np.full(12, 1 / 3), max_iter=limit)
        assert result.iterations <= limit


# ---------------------------------------------------------------------------------- any kernel

FAMILIES = (
    "random", "integers", "psd", "negative", "low rank", "krein", "rank one", "diagonal",
    "constant", "zero", "twins", "opposite twins", "large diagonal", "graded",
)  # fmt: skip


def kernel(family: str, n: int, seed: int) -> Array:
    generator = np.random.default_rng(seed)
    A, x = generator.standard_normal((n, n)), generator.standard_normal(n)
    low = generator.standard_normal((n, 2))
    place = generator.integers(0, max(n // 2, 1), n)
    integers = np.triu(generator.integers(-2, 3, (n, n)))
    graded = 10.0 ** generator.uniform(-4.0, 4.0, n)
    sign = float(generator.choice([-1.0, 1.0]))
    S = A + A.T
    return {
        "random": S,
        "integers": (integers + np.triu(integers, 1).T).astype(float),
        "psd": A @ A.T,
        "negative": -A @ A.T,
        "low rank": low @ low.T,
        "krein": np.outer(low[:, 0], low[:, 0]) - np.outer(low[:, 1], low[:, 1]),
        "rank one": sign * np.outer(x, x),
        "diagonal": np.diag(generator.integers(-2, 3, n).astype(float)),
        "constant": np.full((n, n), sign),
        "zero": np.zeros((n, n)),
        "twins": S[np.ix_(place, place)],
        "opposite twins": S[np.ix_(place, place)] * np.outer(np.sign(x), np.sign(x)),
        "large diagonal": S + np.diag(1e6 * x),
        "graded": S * np.outer(graded, graded),
    }[family]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Array, Array, float]:
    """A kernel, labels, and a bound."""
    n, seed = draw(st.integers(2, 12)), draw(st.integers(0, 2**32 - 1))
    scale = 10.0 ** draw(st.integers(-8, 8))
    size = 10.0 ** draw(st.floats(-3.0, 3.0))
    return scale * kernel(draw(st.sampled_from(FAMILIES)), n, seed), labels(n, seed), size


@pytest.mark.parametrize("name", FORMS)
@settings(max_examples=60)
@given(case=cases())
def test_any_kernel(name: str, case: tuple[Array, Array, float]) -> None:
    K, y, size = case
    formulation = form(name, y, size)
    result = smo(iopt.KernelProblem(K, y), formulation, max_iter=300_000)
    Program.of(K, y, formulation).check(result)


@pytest.mark.parametrize("name", FORMS)
@settings(max_examples=60)
@given(case=cases(), block=st.integers(2, 6))
def test_any_kernel_in_small_blocks(
    name: str, case: tuple[Array, Array, float], block: int
) -> None:
    K, y, size = case
    formulation = form(name, y, size)
    with pytest.MonkeyPatch.context() as patch:
        for size in ("_LEAST", "_MOST"):
            patch.setattr(descent, size, block)
        result = smo(iopt.KernelProblem(K, y), formulation, max_iter=300_000)
    Program.of(K, y, formulation).check(result)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("exponent", [-300, -200, -170, -100, 100, 150])
def test_kernels_at_the_ends_of_the_range(exponent: int, name: str) -> None:
    """Squares of the slopes over- or underflow from 1e±154 on."""
    K, y = 10.0**exponent * symmetric(6, 0), np.resize([1.0, -1.0], 6)
    formulation = form(name, y, 1.5)
    result = smo(iopt.KernelProblem(K, y), formulation, max_iter=100_000)
    program = Program.of(K, y, formulation)
    program.check_feasible(result.values[program.variable])
    assert result.status is iopt.Status.SOLVED


@pytest.mark.parametrize("C", [1.0, 1e3])
@pytest.mark.parametrize("scale", [1e2, 1e4, 1e8])
@pytest.mark.parametrize(("a", "b"), [(1.7, 1.1), (1.0, 0.1), (2.3, 0.1), (1.1, 0.7)])
def test_two_weights_in_a_narrow_valley(a: float, b: float, scale: float, C: float) -> None:
    """½s(aα₁ - bα₂)² - α₁ - α₂: α₂ = C, then sa(aα₁ - bC) = 1."""
    problem = iopt.KernelProblem(scale * np.outer([a, b], [a, b]), [1, -1])
    result = smo(problem, iopt.SVMDual(C=C, bias=False), max_iter=300_000)
    best = C * (1.0 + b / a) + 0.5 / (scale * a * a)
    assert result.objective == pytest.approx(best, rel=TOL)


@pytest.mark.parametrize("scale", [1.0, 1e4, 1e8])
@pytest.mark.parametrize("n", [3, 6, 12])
def test_rank_one_against_its_primal(n: int, scale: float) -> None:
    """½sz² - eᵀα with z = wᵀα, w = y∘x: the primal, ½b²/s + CΣmax(0, 1 - bw), has one variable."""
    x, y, C = np.random.default_rng(n).standard_normal(n), np.resize([1.0, -1.0], n), 10.0
    problem = iopt.KernelProblem(scale * np.outer(x, x), y)
    result = smo(problem, iopt.SVMDual(C=C, bias=False), max_iter=300_000)
    primal = minimize_scalar(
        lambda b: 0.5 * b**2 / scale + C * np.maximum(0.0, 1.0 - b * y * x).sum(),
        bounds=(-1.0 / np.abs(x).min(), 1.0 / np.abs(x).min()),
        options={"xatol": 1e-12},
    )
    assert result.objective == pytest.approx(primal.fun, rel=TOL, abs=TOL)
