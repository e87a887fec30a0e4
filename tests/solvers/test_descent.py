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
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar

import indefinite_opt as iopt
from helpers.bruteforce import stationary_points
from indefinite_opt.formulations import as_formulation
from indefinite_opt.modeling.structures.quadratic_program import BoxLineQP
from indefinite_opt.solvers.descent import _loops as smo_loops
from indefinite_opt.solvers.descent import descent
from indefinite_opt.solvers.descent.descent import Descent
from indefinite_opt.solvers.solver import Task

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
        # Balanced weights do not notice a constant in K: half the range of its entries counts.
        spread = 0.5 * float(np.ptp(self.Q * np.outer(self.y, self.y)))
        return max(largest, 1e-3 * self.h * spread * self.total) or 1.0

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

    def check(self, result: iopt.workflow.Result) -> Array:
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


def smo(
    problem: iopt.KernelProblem, formulation: iopt.Formulation, **options: Any
) -> iopt.workflow.Result:
    return iopt.solve(problem, formulation, solver="smo", **options)


def box(K: Array, y: Array, formulation: iopt.Formulation) -> BoxLineQP:
    """The structure that a descent reads."""
    structure = formulation.structure(iopt.KernelProblem(K, y))
    assert isinstance(structure, BoxLineQP)
    return structure


def symmetric(n: int, seed: int) -> Array:
    A = np.random.default_rng(seed).standard_normal((n, n))
    return 0.5 * (A + A.T)


def gaussian(n: int, d: int, gamma: float, seed: int = 0) -> Array:
    X = np.random.default_rng(seed).standard_normal((n, d))
    return np.exp(-gamma * np.square(X[:, None] - X).sum(axis=2))


def labels(n: int, seed: int = 0) -> Array:
    return np.append([1.0, -1.0], np.random.default_rng(seed).choice([-1.0, 1.0], n - 2))


def escapes(result: iopt.workflow.Result) -> int:
    """How many steps along negative curvature the message tells of."""
    found = re.search(r"(\d+) along negative curvature", result.message)
    assert found is not None
    return int(found[1])


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report after every block, and small blocks."""
    monkeypatch.setattr(descent, "CHUNK_WORK", 1.0)
    monkeypatch.setattr(descent, "MIN_BLOCK", 8)


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


@pytest.mark.parametrize(
    ("x", "scale", "C"), [([4.1, 1.97, -0.13], 1.0, 1e3), ([1.7, 1.1, -0.4, 0.3], 1e4, 10.0)]
)
def test_few_weights_in_long_runs_do_not_drift(x: list[float], scale: float, C: float) -> None:
    """Rank one: 2704 and 28209 steps without Newton's, each of which rounds two weights."""
    y, formulation = np.resize([1.0, -1.0], len(x)), iopt.SVMDual(C=C)
    K = scale * np.outer(x, x)
    result = smo(iopt.KernelProblem(K, y), formulation, max_iter=300_000)
    Program.of(K, y, formulation).check(result)


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
    "swaps": np.kron(np.eye(7), np.array([[0.0, 1.0], [1.0, 0.0]])),
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
@settings(max_examples=60, phases=[Phase.generate])  # shrinking takes minutes
@given(case=cases())
def test_any_kernel(name: str, case: tuple[Array, Array, float]) -> None:
    K, y, size = case
    formulation = form(name, y, size)
    result = smo(iopt.KernelProblem(K, y), formulation, max_iter=300_000)
    Program.of(K, y, formulation).check(result)


@pytest.mark.parametrize("name", FORMS)
@settings(max_examples=60, phases=[Phase.generate])
@given(case=cases(), block=st.integers(2, 6))
def test_any_kernel_in_small_blocks(
    name: str, case: tuple[Array, Array, float], block: int
) -> None:
    K, y, size = case
    formulation = form(name, y, size)
    with pytest.MonkeyPatch.context() as patch:
        for limit in ("MIN_BLOCK", "MAX_BLOCK"):
            patch.setattr(descent, limit, block)
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
    K, y = scale * np.outer([a, b], [a, b]), np.array([1.0, -1.0])
    formulation = iopt.SVMDual(C=C, bias=False)
    result = smo(iopt.KernelProblem(K, y), formulation, max_iter=300_000)
    Program.of(K, y, formulation).check(result)
    best = C * (1.0 + b / a) + 0.5 / (scale * a * a)
    # αᵀQα is what is left of terms of size s(aC)².
    rounding = EPS * scale * (a * C) ** 2
    assert result.objective == pytest.approx(best, rel=TOL, abs=rounding)


@pytest.mark.parametrize("scale", [1.0, 1e4, 1e8])
@pytest.mark.parametrize("n", [3, 6, 12])
def test_rank_one_against_its_primal(n: int, scale: float) -> None:
    """½sz² - eᵀα with z = wᵀα, w = y∘x: the primal, ½b²/s + CΣmax(0, 1 - bw), has one variable."""
    x, y, C = np.random.default_rng(n).standard_normal(n), np.resize([1.0, -1.0], n), 10.0
    K, formulation = scale * np.outer(x, x), iopt.SVMDual(C=C, bias=False)
    result = smo(iopt.KernelProblem(K, y), formulation, max_iter=300_000)
    Program.of(K, y, formulation).check(result)
    primal = minimize_scalar(
        lambda b: 0.5 * b**2 / scale + C * np.maximum(0.0, 1.0 - b * y * x).sum(),
        bounds=(-1.0 / np.abs(x).min(), 1.0 / np.abs(x).min()),
        options={"xatol": 1e-12},
    )
    assert result.objective == pytest.approx(primal.fun, rel=TOL, abs=TOL)


@pytest.mark.parametrize(
    ("n", "d", "C", "bias"), [(10, 2, 1.0, True), (10, 2, 100.0, False), (30, 3, 100.0, True)]
)
def test_a_linear_kernel_of_raw_features(n: int, d: int, C: float, bias: bool) -> None:
    """Features from 0 to 100, a kernel up to 1e4·d: the primal has d + 1 variables."""
    import cvxpy as cp

    generator = np.random.default_rng(n)
    X = np.round(generator.uniform(0.0, 100.0, (n, d)))
    y = np.where(X[:, 0] + 40.0 * generator.standard_normal(n) > 50.0, 1.0, -1.0)
    w, b = cp.Variable(d), cp.Variable() if bias else 0.0
    hinge = cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))
    primal = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * hinge))
    primal.solve(solver="CLARABEL")
    problem = iopt.KernelProblem.from_data(X, y, "linear")
    result = smo(problem, iopt.SVMDual(C=C, bias=bias))
    assert result.objective == pytest.approx(primal.value, rel=TOL)


# --------------------------------------------------------------------------------- second order

BARRIER = np.array([[1.0, 2.0], [2.0, 1.0]])  # eigenvalues 3 and -1; Q(⅓, ⅓) = e
TWO_BARRIERS = np.kron(np.eye(2), BARRIER)
CORNERS = np.kron(np.eye(2), [[0.0, 1.0], [1.0, 0.0]])


@pytest.mark.parametrize(
    ("Q", "y", "formulation", "start", "first", "last"),
    [
        # ½αᵀQα - eᵀα is -½·⅔ at the saddle and -½ at its ends (1, 0) and (0, 1).
        (BARRIER, [1, -1], "SVMDual(C=2, bias=False)", [1 / 3, 1 / 3], 1 / 3, 0.5),
        (BARRIER, [1, 1, -1], "SVMDual(C=2, bias=False)", [1 / 3, 1 / 3], 1 / 3, 0.5),
        # Both classes at the saddle: 2·⅓; one weight of each is left, 2·½.
        (TWO_BARRIERS, [1, 1, -1, -1], "SVMDual(C=1)", [1 / 3] * 4, 2 / 3, 1.0),
        (TWO_BARRIERS, [1, 1, -1, -1], "SVMDual(C=inf)", [1 / 3] * 4, 2 / 3, 1.0),
        # tᵀ(0, 1; 1, 0)t with t₁ + t₂ = ½ is at most 2/16, at t = (¼, ¼), and 0 at (½, 0).
        (CORNERS, [1, 1, -1, -1], "GuoSchuurmansQP(beta=0.5)", [0.25] * 4, 0.25, 0.0),
        # -αᵀα on two simplices of weight ½, and ᾱᵀᾱ on two of weight 1: least at the means.
        (-np.eye(6), [1, 1, 1, -1, -1, -1], "GuoSchuurmansQP(beta=0.5)", [1 / 6] * 6, -1 / 6, -0.5),
        (-np.eye(5), [1, 1, 1, 1, -1], "ConvexHullDual(mu=1)", [0.25] * 4 + [1.0], 1.25, 2.0),
        # μ = ¼: four weights of ¼ in each class.
        (-np.eye(40), [1] * 20 + [-1] * 20, "ConvexHullDual(mu=0.25)", [0.05] * 40, 0.1, 0.5),
        # Twins: Q = (1, 1; 1, 1) ⊗ (1, 2; 2, 1), a valley of saddles along the differences.
        (np.kron(np.ones((2, 2)), BARRIER), [1, -1, 1, -1], "SVMDual(C=2, bias=False)",
         [1 / 6] * 4, 1 / 3, 0.5),
    ],
)  # fmt: skip
def test_stationary_points_that_are_no_optima_are_left(
    Q: Array, y: list[int], formulation: str, start: list[float], first: float, last: float
) -> None:
    n = len(y)
    if len(Q) < n:  # one more point that stays at zero: its slope is 5/3 - 1
        Q = np.block([[Q, np.full((2, 1), 2.5)], [np.full((1, 2), 2.5), np.ones((1, 1))]])
        start = [*start, 0.0]
    K = Q * np.outer(y, y)
    program = Program.of(K, y, as_formulation(formulation))
    assert program.violation(np.array(start)) <= 4.0 * EPS
    assert program.sense * program.value(np.array(start)) == pytest.approx(first)
    result = smo(iopt.KernelProblem(K, y), as_formulation(formulation), start=start)
    program.check(result)
    assert escapes(result) >= 1
    assert result.objective == pytest.approx(last, abs=TOL)
    assert result.certificate.claim >= iopt.Claim.LOCAL


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", FORMS[2:])
def test_the_means_of_a_concave_problem_are_left(name: str, seed: int) -> None:
    """-K positive definite with constant row sums in each class: the means are stationary."""
    n = 16  # so that the bounds are powers of two
    y = np.resize([1.0, -1.0], n)
    A = np.random.default_rng(seed).standard_normal((n, n))
    class_means = np.equal.outer(y, y) / (n / 2)
    A -= class_means @ A
    K = -A @ A.T - 0.1 * np.eye(n)
    formulation = form(name, y, 2.0)
    program = Program.of(K, y, formulation)
    start = np.full(n, program.total / n)
    assert program.violation(start) <= 1e-13
    result = smo(iopt.KernelProblem(K, y), formulation, start=start)
    x = program.check(result)
    assert escapes(result) >= 1
    # A concave function has its local minima at vertices: half of each class at the bound.
    np.testing.assert_array_equal(np.sort(x), np.repeat([0.0, program.upper], n // 2))
    assert program.value(x) < program.value(start)


def test_a_stationary_local_minimum_is_not_left() -> None:
    """Lin & Lin (2003), section 2: (⅔, 0, ⅔) and (0, ⅔, ⅔) are local minima, strictly."""
    K = [[1.0, 2.0, -1.0], [2.0, 1.0, -1.0], [-1.0, -1.0, 0.0]]
    for start in ([2 / 3, 0.0, 2 / 3], [0.0, 2 / 3, 2 / 3]):
        result = smo(iopt.KernelProblem(K, [1, 1, -1]), iopt.SVMDual(C=9.0), start=start)
        np.testing.assert_allclose(result.values["alpha"], start, atol=1e-15)
        assert (result.iterations, escapes(result)) == (0, 0)
        assert result.certificate.claim is iopt.Claim.LOCAL


def weak(schur: list[list[float]]) -> Array:
    """Q = LLᵀ-like with Q₁₁ = 1 and a Schur complement: α = (1, 0, ...) is stationary, all weak."""
    S = np.array(schur)
    Q = np.ones((len(S) + 1, len(S) + 1))
    Q[1:, 1:] += S
    return Q


MIXED = {
    # α = (½, 0, 1), C = 1: Q₁₁ = 1, Q₁₃ = ½, Q₃₃ = ¾, Q₂₃ = 1 - ½Q₁₂; Schur (½, s; s, ½).
    1.0: np.array([[1.0, 0.0, 0.5], [0.0, 0.5, 1.0], [0.5, 1.0, 0.75]]),
    -1.0: np.array([[1.0, 2.0, 0.5], [2.0, 4.5, 0.0], [0.5, 0.0, 0.75]]),
}


@pytest.mark.parametrize(
    ("Q", "C", "start"),
    [
        # One weak weight, at zero and (Qα = e at (½, 1)) at C: curvature -1 and -½.
        (weak([[-1.0]]), 3.0, [1.0, 0.0]),
        (np.array([[0.5, 0.75], [0.75, 0.625]]), 1.0, [0.5, 1.0]),
        # Both may grow together, where the form is -2; one grows as the other shrinks.
        (weak([[1.0, -2.0], [-2.0, 1.0]]), 3.0, [1.0, 0.0, 0.0]),
        (MIXED[1.0], 1.0, [0.5, 0.0, 1.0]),
    ],
)
def test_negative_curvature_inward_is_followed(Q: Array, C: float, start: list[float]) -> None:
    y = np.resize([1.0, -1.0], len(Q))
    K, formulation = Q * np.outer(y, y), iopt.SVMDual(C=C, bias=False)
    program = Program.of(K, y, formulation)
    assert program.violation(np.array(start)) == 0.0
    result = smo(iopt.KernelProblem(K, y), formulation, start=start)
    x = program.check(result)
    assert escapes(result) >= 1
    assert program.value(x) < program.value(np.array(start)) - 1e-3
    ends = stationary_points(Q, np.full(len(Q), -1.0), C, np.empty((0, len(Q))), np.empty(0))
    assert min(float(np.abs(x - end).max()) for end, _ in ends) <= 1e-6
    assert result.certificate.claim is iopt.Claim.LOCAL


@pytest.mark.parametrize("bound", [0.2, 0.2098])
@pytest.mark.parametrize(
    "S",
    [
        np.diag([-1.0, -2.0, -3.0]),
        np.array([[-0.48, -0.3, 0.38], [-0.3, -0.52, 0.6], [0.38, 0.6, -3.09]]),
        np.array([[-0.55, 1.82, 0.58], [1.82, -10.31, -2.49], [0.58, -2.49, -0.92]]),
    ],
)
def test_slopes_of_mere_rounding_do_not_hold_back(S: Array, bound: float) -> None:
    """Opposite twins of equal weight: ∇F = 0, and αᵀQα = zᵀSz for the differences z, S < 0."""
    K, y = np.kron(S, np.ones((2, 2))), np.tile([1.0, -1.0], 3)
    formulation = iopt.GuoSchuurmansQP(beta=bound)
    start = np.repeat([bound, 0.5 - 2.0 * bound], [4, 2])
    program = Program.of(K, y, formulation)
    assert program.violation(start) <= 1e-15
    better = start + np.array([-0.1, 0.0, 0.0, 0.0, 0.1, 0.0])
    program.check_feasible(better)
    assert program.value(better) < -0.02
    result = smo(iopt.KernelProblem(K, y), formulation, start=start)
    program.check(result)
    assert result.objective < -0.005
    assert result.certificate.claim is iopt.Claim.LOCAL


@pytest.mark.parametrize(
    ("Q", "C", "start"),
    [
        # (1, 2; 2, 1) is negative on (1, -1) only: one of two weights at zero would shrink.
        (weak([[1.0, 2.0], [2.0, 1.0]]), 3.0, [1.0, 0.0, 0.0]),
        # α = (½, 1, 1), C = 1, Schur (¼, ½; ½, ¼): one of two weights at C would grow.
        (np.array([[1.0, 0.25, 0.25], [0.25, 0.3125, 0.5625], [0.25, 0.5625, 0.3125]]), 1.0,
         [0.5, 1.0, 1.0]),
        # Negative on (1, 1), with one weight at zero and one at C.
        (MIXED[-1.0], 1.0, [0.5, 0.0, 1.0]),
    ],
)  # fmt: skip
def test_negative_curvature_outward_decides_nothing(Q: Array, C: float, start: list[float]) -> None:
    """Local minima, as the form is nonnegative on all feasible directions."""
    y = np.array([1.0, -1.0, 1.0])
    K, formulation = Q * np.outer(y, y), iopt.SVMDual(C=C, bias=False)
    program = Program.of(K, y, formulation)
    x = np.array(start)
    assert program.violation(x) == 0.0
    moves = np.random.default_rng(0).uniform(-1.0, 1.0, (10_000, 3))
    inside = np.where(x == 0.0, np.abs(moves), np.where(x == C, -np.abs(moves), moves))
    assert np.einsum("ki,ij,kj->k", inside, Q, inside).min() >= 0.0
    result = smo(iopt.KernelProblem(K, y), formulation, start=start)
    np.testing.assert_array_equal(program.check(result), x)
    assert "curvature negative on the free weights and those at a bound" in result.message
    assert result.certificate.claim is iopt.Claim.STATIONARY
    assert "decides nothing" in str(result.certificate)


@pytest.mark.parametrize("name", FORMS)
@settings(max_examples=40)
@given(
    n=st.integers(2, 10),
    seed=st.integers(0, 2**32 - 1),
    family=st.sampled_from(FAMILIES),
    scale=st.sampled_from([1e-2, 1.0, 1e2]),
)
def test_an_end_is_called_improvable_only_if_it_is(
    name: str, n: int, seed: int, family: str, scale: float
) -> None:
    """STATIONARY leaves open what zero multipliers leave open, and nothing more."""
    K, y = scale * kernel(family, n, seed), labels(n, seed)
    result = smo(iopt.KernelProblem(K, y), form(name, y, 1.5), max_iter=300_000)
    claim = result.certificate.claim
    assert claim >= iopt.Claim.STATIONARY
    if claim is iopt.Claim.STATIONARY:
        assert "decides nothing" in str(result.certificate)


@pytest.mark.parametrize("scale", [1.0, 1e-4, 1e-8])
def test_flat_is_flat_at_any_scale(scale: float) -> None:
    """αᵀQα = -sα₃²: α₃ = ½, and how the others share their weight changes nothing."""
    K = -scale * np.diag([0.0, 0.0, 1.0, 0.0, 0.0])
    problem = iopt.KernelProblem(K, [1, 1, 1, -1, -1])
    start = [1 / 6, 1 / 6, 1 / 6, 0.25, 0.25]
    result = smo(problem, iopt.GuoSchuurmansQP(beta=0.5), start=start)
    assert result.objective == pytest.approx(-0.25 * scale, rel=TOL)
    assert "can be improved" not in str(result.certificate)
    assert result.certificate.claim is iopt.Claim.LOCAL


@pytest.mark.parametrize("name", ["SVMDual", *FORMS[2:]])
@pytest.mark.parametrize("level", [0.0, 0.1, -1.0, 1e8])
def test_a_constant_kernel_has_no_curvature(level: float, name: str) -> None:
    """αᵀQα = κ(yᵀα)² = 0."""
    K, y = np.full((5, 5), level), np.array([1.0, 1.0, 1.0, -1.0, -1.0])
    formulation = form(name, y, 1.3)
    program = Program.of(K, y, formulation)
    start = np.array([2.0, 2.0, 2.0, 3.0, 3.0]) * program.total / 12.0
    result = smo(iopt.KernelProblem(K, y), formulation, start=start)
    program.check(result)
    assert "curvature negative" not in result.message
    assert escapes(result) == 0
    assert result.iterations <= 5


@pytest.mark.parametrize(("scale", "C"), [(1.0, 1.0), (1e-4, 1.0), (1e-8, 1e-3)])
def test_the_solver_and_the_certificate_agree_on_what_counts(scale: float, C: float) -> None:
    """-K = sI at equal weights: ends differ by sC²/4 from the start, for sC = 1e-11 by nothing."""
    problem = iopt.KernelProblem(-scale * np.eye(3), [1, 1, -1])
    result = smo(problem, iopt.SVMDual(C=C), start=[0.5 * C, 0.5 * C, C])
    assert "can be improved" not in str(result.certificate)


# ------------------------------------------------------------------- precision, rows on demand


def points(n: int, seed: int) -> tuple[Array, Array]:
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, 5))
    return X, np.where(X[:, 0] + 0.5 * generator.standard_normal(n) > 0, 1.0, -1.0)


STORED: dict[str, dict[str, Any]] = {
    "double": {},
    "single": {"precision": "single"},
    "all rows": {"cache_mb": 1.0},
    "rows": {"cache_mb": 10.5 * 8e-6 * 70},
    "5 rows": {"cache_mb": 5.5 * 8e-6 * 70},
    "2 rows": {"cache_mb": 2.5 * 8e-6 * 70},
    "3 single rows": {"cache_mb": 3.5 * 4e-6 * 70, "precision": "single"},
}
"""How K is kept, for 70 points."""


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("how", STORED)
def test_any_storage_solves_a_convex_problem(how: str, name: str) -> None:
    """The objective by Clarabel, on the matrix in double."""
    X, y = points(70, 7)
    formulation = form(name, y, 2.0)
    whole = iopt.KernelProblem.from_data(X, y, "gaussian")
    other = iopt.solve(whole, formulation, solver="clarabel", tol=1e-9)
    problem = iopt.KernelProblem.from_data(X, y, "gaussian", **STORED[how])
    result = smo(problem, formulation)
    program = Program.of(whole.K, y, formulation)
    program.check_feasible(result.values[program.variable])
    assert result.status is iopt.Status.SOLVED
    # Entries rounded to single differ by 6e-8: that of F by half of it times the square of Σα.
    tolerance = 1e-7 * float(result.values[program.variable].sum()) ** 2 if "single" in how else 0.0
    assert result.objective == pytest.approx(other.objective, rel=TOL, abs=tolerance)
    known = "rows" not in how
    assert result.certificate.claim is (iopt.Claim.GLOBAL if known else iopt.Claim.LOCAL)


@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
@pytest.mark.parametrize("how", STORED)
def test_any_storage_agrees_with_libsvm(how: str, C: float) -> None:
    from sklearn.svm import SVC

    X, y = points(70, 8)
    K = iopt.KernelProblem.from_data(X, y, "gaussian").K
    svc = SVC(C=C, kernel="precomputed", tol=1e-10).fit(K, y)
    result = smo(iopt.KernelProblem.from_data(X, y, "gaussian", **STORED[how]), iopt.SVMDual(C=C))
    rounded = 1e-7 if "single" in how else 1e-15
    z = np.zeros(70)
    z[svc.support_] = svc.dual_coef_[0]
    theirs = np.abs(z).sum() - 0.5 * z @ K @ z
    size = float(np.abs(z).sum())
    assert result.objective == pytest.approx(theirs, rel=TOL, abs=rounded * size**2)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("how", STORED)
def test_any_storage_ends_at_a_stationary_point(how: str, name: str) -> None:
    """An indefinite kernel has many; what a result says holds for the matrix that is kept."""
    X, y = points(70, 9)
    problem = iopt.KernelProblem.from_data(X, y, "sigmoid(a=0.2, r=-1)", **STORED[how])
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


# ----------------------------------------------------------------------------- compiled loops


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8, 9, 10, 15, 16, 17, 25])
def test_spread(count: int, dtype: Any) -> None:
    generator = np.random.default_rng(count)
    rows = generator.standard_normal((9, 37)).astype(dtype)
    slots = generator.integers(0, 9, 30)
    amounts, v = generator.standard_normal(30), generator.standard_normal(37)
    expected = v - amounts[:count] @ rows[slots[:count]].astype(float)
    smo_loops.spread(rows, slots, amounts, count, v)
    np.testing.assert_allclose(v, expected, atol=1e-14 * max(count, 1))


@dataclass(frozen=True, eq=False)
class State:
    """v, weights, labels and groups of points on their way, many of them at a bound."""

    v: Array
    alpha: Array
    y: Array
    group: Indices
    groups: int
    upper: float

    @property
    def loops(self) -> tuple[smo_loops.Box, smo_loops.Point]:
        """The state as the loops take it."""
        box = smo_loops.Box(self.y, self.group, self.groups, self.upper)
        return box, smo_loops.Point(self.alpha, self.v)

    @property
    def rises(self) -> NDArray[np.bool_]:
        return np.where(self.y > 0, self.alpha < self.upper, self.alpha > 0)

    @property
    def falls(self) -> NDArray[np.bool_]:
        return np.where(self.y > 0, self.alpha > 0, self.alpha < self.upper)

    def worst(self, chosen: Indices) -> float:
        """Largest violation among some points, pair by pair."""
        rises, falls = self.rises, self.falls
        if not self.groups:
            alone = [max(self.v[i] * rises[i], -self.v[i] * falls[i]) for i in chosen]
            return max(0.0, *alone)
        pairs = [
            self.v[i] - self.v[j]
            for i in chosen
            for j in chosen
            if rises[i] and falls[j] and self.group[i] == self.group[j]
        ]
        return max([0.0, *pairs])


@st.composite
def states(draw: st.DrawFn) -> State:
    n, groups = draw(st.integers(2, 24)), draw(st.integers(0, 2))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    levels = draw(st.sampled_from([2, 5, 1000]))  # few of them, for ties
    v = generator.integers(-levels, levels, n).astype(float) * 10.0 ** draw(st.integers(-6, 6))
    upper = draw(st.sampled_from([0.1, 1.0, INF]))
    alpha = generator.choice([0.0, min(upper, 5.0), 0.5 * min(upper, 5.0)], n)
    y = labels(n, int(generator.integers(99)))
    return State(v, alpha, y, (y < 0).astype(np.int64) * (groups == 2), groups, upper)


def chosen_block(
    state: State, tolerance: float, size: int, offset: int
) -> tuple[Indices, Indices, float]:
    block = smo_loops.Block(np.full(size + 4, -1), np.array([0, -1, -1]))
    count, worst = smo_loops.choose_block(*state.loops, tolerance, size, offset, block)
    assert np.all(block.members[count:] == -1)
    return block.members[:count], block.ends, worst


@settings(max_examples=200)
@given(state=states(), size=st.integers(2, 30), offset=st.integers(0, 23))
def test_a_block_holds_the_worst_violators(state: State, size: int, offset: int) -> None:
    n = state.v.size
    block, ends, worst = chosen_block(state, 0.0, size, offset % n)
    everyone = np.arange(n)
    assert worst == state.worst(everyone)
    if worst == 0.0:
        assert block.size == 0
        return
    assert 1 <= block.size <= size
    assert np.unique(block).size == block.size
    assert state.worst(block) == worst
    assert ends[max(state.groups, 1)] == block.size
    for g in range(state.groups):
        assert np.all(state.group[block[ends[g] : ends[g + 1]]] == g)
    # How far a weight may move up or down the scale of v from where its group's extremes are.
    up, down = np.full(n, -INF), np.full(n, -INF)
    for g in range(max(state.groups, 1)):
        here = state.group == g
        top = np.max(state.v[here & state.rises], initial=-INF) if state.groups else 0.0
        bottom = np.min(state.v[here & state.falls], initial=INF) if state.groups else 0.0
        up[here & state.rises] = state.v[here & state.rises] - bottom
        down[here & state.falls] = top - state.v[here & state.falls]
    assert np.all(np.maximum(up, down)[block] > 0.0)
    # The size/2 - 1 worst of each kind are there, but for differences of one bin.
    for violation in (up, down):
        if size >= 4:
            cut = np.sort(violation)[::-1][min(size // 2 - 2, n - 1)]
            sure = everyone[violation > max(cut, 0.0) + 1.01 * worst / (smo_loops.BINS - 1)]
            assert np.isin(sure, block).all()


@settings(max_examples=60)
@given(state=states(), share=st.floats(0.0, 2.0))
def test_no_block_where_nothing_violates(state: State, share: float) -> None:
    """The tolerance counts as satisfied when it is met exactly."""
    worst = state.worst(np.arange(state.v.size))
    block, _, told = chosen_block(state, share * worst, 6, 0)
    assert told == worst
    assert (block.size == 0) == (worst <= share * worst)


@pytest.mark.parametrize("offset", range(6))
def test_ties_are_taken_in_turn(offset: int) -> None:
    """All points alike: a block of two pairs begins where the last one ended."""
    y = np.resize([1.0, -1.0], 12)
    state = State(y.copy(), np.zeros(12), y, np.zeros(12, np.int64), 1, 1.0)
    block, _, worst = chosen_block(state, 1e-3, 6, 2 * offset)
    assert worst == 2.0
    taken = set(range(2 * offset, 2 * offset + 4))
    assert {t % 12 for t in taken} <= set(block.tolist())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sizes", [[5], [1], [4, 3], [1, 3], [2, 1], [1, 1], [0, 3]])
@pytest.mark.parametrize("free", [True, False])
def test_reduced_matrix(free: bool, sizes: list[int], dtype: Any) -> None:
    """NᵀKN, where the columns of N are e_p - e_b with b the last of the group of p."""
    n, m = 9, sum(sizes)
    K = symmetric(n, 3).astype(dtype)
    columns = np.random.default_rng(m).permutation(n)[:m]
    group = np.repeat(np.arange(len(sizes)), sizes)
    N = np.eye(m)
    if not free:
        last = np.array([np.flatnonzero(group == g)[-1] for g in group])
        N = np.delete(np.eye(m) - np.eye(m)[last].T, np.unique(last), axis=1)
    expected = N.T @ K[np.ix_(columns, columns)].astype(float) @ N
    storage, slots = K[columns[::-1]].copy(), np.arange(m)[::-1].copy()
    matrix = np.zeros((N.shape[1], N.shape[1]))
    labels_of = np.full(m, -1) if free else group
    smo_loops.reduced_matrix(storage, slots, columns, labels_of, matrix)
    rounding = 1e-15 if dtype is np.float64 else 1e-6
    np.testing.assert_allclose(np.tril(matrix), np.tril(expected), atol=8.0 * rounding)
    np.testing.assert_array_equal(np.triu(matrix, 1), 0.0)


@settings(max_examples=100)
@given(state=states(), seed=st.integers(0, 99))
def test_complementarity(state: State, seed: int) -> None:
    """Σ|multiplier|·|slack| with the multipliers that the structure recovers."""
    problem = iopt.KernelProblem(np.eye(state.v.size), state.y)
    total = float(state.alpha.sum())
    qp = BoxLineQP(problem, 1.0, -1.0, state.upper, state.groups, total)
    first_order = qp.first_order(state.alpha, -state.y * state.v)
    upper = first_order.upper if np.isfinite(state.upper) else None
    expected = qp.complementarity(state.alpha, first_order.lower, upper)
    found, levels = smo_loops.complementarity(*state.loops)
    size = float(np.abs(state.v).max()) * max(total, state.v.size * min(state.upper, 5.0))
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-14 * size)
    reduced = state.y * (levels[state.group] - state.v)
    np.testing.assert_allclose(
        reduced, first_order.reduced, atol=1e-14 * float(np.abs(state.v).max())
    )


@dataclass(eq=False)
class Loose:
    """A point, and v there, as the loops take them."""

    program: Program
    K: Array
    group: Indices
    alpha: Array
    v: Array

    @classmethod
    def at(cls, program: Program, alpha: Array) -> Loose:
        group = (program.y < 0).astype(np.int64) * (program.lines == 2)
        K = np.ascontiguousarray(program.Q * np.outer(program.y, program.y))
        return cls(program, K, group, alpha, -program.y * program.gradient(alpha))

    @property
    def error(self) -> float:
        """Of v against the gradient."""
        return float(np.abs(self.v + self.program.y * self.program.gradient(self.alpha)).max())

    @property
    def loops(self) -> tuple[smo_loops.Hessian, smo_loops.Box, smo_loops.Point]:
        """The program and the point as the loops take them."""
        p = self.program
        hessian = smo_loops.Hessian(self.K, np.diag(self.K).astype(float), p.h, 1e-12)
        box = smo_loops.Box(p.y, self.group, p.lines, p.upper)
        return hessian, box, smo_loops.Point(self.alpha, self.v)

    def exchange(self, min_gain: float = 0.0) -> tuple[int, float]:
        made, decrease, _ = smo_loops.exchange(*self.loops, min_gain)
        return made, decrease

    def kick(
        self, state: NDArray[np.uint64], kicks: int = 50, steps: int = 10**9, work: float = INF
    ) -> smo_loops.Kicked:
        n = self.v.size
        chain = smo_loops.Chain(kicks, pairs=n // 2, size=min(8, n))
        limits = smo_loops.Limits(1e-3, 0.2, steps, work)
        return smo_loops.kick(*self.loops, self.program.c, chain, limits, state)

    def gains(self) -> Array:
        """Decrease of F by the whole step of each pair of negative curvature, else 0."""
        p, n = self.program, self.v.size
        gains = np.zeros((n, n))
        for i in range(n):
            for j in range(n):
                curvature = p.h * (self.K[i, i] + self.K[j, j] - 2.0 * self.K[i, j])
                if i == j or self.group[i] != self.group[j] or curvature >= 0.0:
                    continue
                room_i = p.upper - self.alpha[i] if p.y[i] > 0 else self.alpha[i]
                room_j = self.alpha[j] if p.y[j] > 0 else p.upper - self.alpha[j]
                moved = self.alpha.copy()
                moved[i] += p.y[i] * min(room_i, room_j)
                moved[j] -= p.y[j] * min(room_i, room_j)
                gains[i, j] = p.value(self.alpha) - p.value(moved)
        return gains


def integer_kernel(n: int, seed: int) -> Array:
    """So that sums are exact."""
    K = np.triu(np.random.default_rng(seed).integers(-8, 9, (n, n)))
    return (K + np.triu(K, 1).T).astype(float)


@pytest.mark.parametrize("name", ["SVMDual", "ConvexHullDual"])
@pytest.mark.parametrize("seed", range(6))
def test_exchange(seed: int, name: str) -> None:
    """Every exchange pays what is told; in the end none is left that would."""
    n = 8
    y = np.resize([1.0, -1.0], n)
    formulation = form(name, y, 2.0)
    program = Program.of(integer_kernel(n, seed), y, formulation)
    start = np.where(np.arange(n) < n // 2, program.upper, 0.0)
    point = Loose.at(program, start.copy())
    pays = point.gains().max() > 0.0
    total, value = 0, program.value(start)
    for _ in range(50):
        made, decrease = point.exchange()
        program.check_feasible(point.alpha)
        assert program.value(point.alpha) == pytest.approx(value - decrease, abs=1e-12)
        assert (decrease > 0.0) == (made > 0)
        assert point.error <= 1e-13
        value, total = program.value(point.alpha), total + made
        if made == 0:
            break
    assert made == 0
    assert (total > 0) == pays
    assert point.gains().max() <= 1e-12


def test_exchange_counts_only_what_exceeds_the_least() -> None:
    """F = -2(α₁ - α₂)² - 2(α₃ - α₄)²: two concave pairs, each of gain 2."""
    y = np.array([1.0, 1.0, -1.0, -1.0])
    K = np.kron(np.eye(2), [[-2.0, 2.0], [2.0, -2.0]])
    point = Loose.at(Program.of(K, y, iopt.ConvexHullDual(mu=1.0)), np.full(4, 0.5))
    assert point.gains().max() == 2.0
    assert point.exchange(2.0) == (0, 0.0)
    np.testing.assert_array_equal(point.alpha, 0.5)
    assert point.exchange(1.99) == (2, 4.0)
    np.testing.assert_array_equal(np.sort(point.alpha), [0.0, 0.0, 1.0, 1.0])


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("kind", ["indefinite", "negative", "positive"])
def test_kicks_only_go_down(kind: str, name: str) -> None:
    n = 30
    K = symmetric(n, 1) if kind == "indefinite" else gaussian(n, 3, 0.5)
    K = -K if kind == "negative" else K
    y = np.resize([1.0, -1.0], n)
    formulation = form(name, y, 2.0)
    program = Program.of(K, y, formulation)
    qp = box(K, y, formulation)
    point = Loose.at(program, qp.random_start(np.random.default_rng(0)))
    generator = np.array([7], np.uint64)
    value, useful = program.value(point.alpha), 0
    for _ in range(6):
        before = point.alpha.copy()
        made, used, steps, work = point.kick(generator)
        assert made == 50
        assert steps >= used
        assert work > 0.0
        program.check_feasible(point.alpha)
        assert point.error <= 1e-10 * float(np.abs(K).max()) * max(1.0, point.alpha.sum())
        reached = program.value(point.alpha)
        assert (reached < value) if used else np.array_equal(before, point.alpha)
        value, useful = reached, useful + used
    assert useful > 0


@pytest.mark.parametrize("name", FORMS)
def test_kicks_depend_on_their_state_only(name: str) -> None:
    n = 20
    y, formulation = np.resize([1.0, -1.0], n), form(name, np.resize([1, -1], n), 2.0)
    program = Program.of(symmetric(n, 2), y, formulation)
    start = box(np.eye(n), y, formulation).random_start(np.random.default_rng(0))
    ends = []
    for seed in (1, 1, 2):
        point, state = Loose.at(program, start.copy()), np.array([seed], np.uint64)
        outcome = point.kick(state, kicks=3)
        ends.append((point.alpha, point.v, outcome, int(state[0])))
    np.testing.assert_array_equal(ends[0][0], ends[1][0])
    np.testing.assert_array_equal(ends[0][1], ends[1][1])
    assert ends[0][2:] == ends[1][2:]
    assert ends[0][3] != ends[2][3]


def test_kicks_keep_to_their_limits() -> None:
    n = 20
    program = Program.of(symmetric(n, 2), np.resize([1.0, -1.0], n), iopt.SVMDual(C=1.0))
    point = Loose.at(program, np.zeros(n))
    for nothing in ({"kicks": 0}, {"steps": 0}, {"work": 0.0}):
        assert point.kick(np.array([1], np.uint64), **nothing) == (0, 0, 0, 0.0)
        np.testing.assert_array_equal(point.alpha, 0.0)
    made, _, _, work = point.kick(np.array([1], np.uint64), kicks=1000, work=5000.0)
    assert 1 <= made < 1000
    assert work >= 5000.0
    made, _, steps, _ = point.kick(np.array([1], np.uint64), kicks=1000, steps=50)
    assert 1 <= made < 1000
    assert steps >= 50


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("steps", [1, 7, 400])
@pytest.mark.parametrize("name", FORMS)
def test_a_block_of_steps(name: str, steps: int, dtype: Any) -> None:
    """Only weights of the block change, v everywhere, and F by what is told."""
    n, m = 25, 10
    y = np.resize([1.0, -1.0], n)
    K = symmetric(n, 6).astype(dtype)
    formulation = form(name, y, 3.0)
    program = Program.of(K, y, formulation)
    qp = box(np.eye(n), y, formulation)
    point = Loose.at(program, qp.random_start(np.random.default_rng(1)))
    before = point.alpha.copy()
    block = np.sort(np.random.default_rng(2).permutation(n)[:m])
    block = block[np.argsort(point.group[block], kind="stable")]
    first = int(np.sum(point.group[block] == 0))
    ends = np.array([0, first if program.lines == 2 else m, m])
    hessian, feasible, at = point.loops
    outcome = smo_loops.solve_block(
        hessian._replace(rows=K[block]), np.arange(m), smo_loops.Block(block, ends), feasible, at,
        1.0, smo_loops.Limits(2e-9, 0.0, steps, INF),
    )  # fmt: skip
    assert 1 <= outcome.steps <= steps
    moved = np.flatnonzero(point.alpha != before)
    assert outcome.work == smo_loops.work_of(n, m, moved.size, outcome.steps)
    assert outcome.offset == (block[-1] + 1) % n
    assert np.isin(moved, block).all()
    program.check_feasible(point.alpha)
    assert point.error <= 1e-14 * n
    assert outcome.decrease > 0.0
    fallen = program.value(before) - program.value(point.alpha)
    assert outcome.decrease == pytest.approx(fallen, abs=1e-14 * n * steps)


# ----------------------------------------------------------------------------- unbounded, C = ∞


@settings(max_examples=60)
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
            smo(problem, iopt.SVMDual(C=INF), time_limit=10.0)
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
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("how", ["whole", "rows"])
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
@pytest.mark.parametrize("how", ["double", "single", "all rows", "5 rows"])
def test_hard_margin_of_a_definite_kernel(how: str, bias: bool) -> None:
    """The Gaussian separates any points; the objective by Clarabel."""
    X, y = points(70, 11)
    formulation = iopt.SVMDual(C=INF, bias=bias)
    kernel_name = "gaussian(gamma=0.5)"
    whole = iopt.KernelProblem.from_data(X, y, kernel_name)
    other = iopt.solve(whole, formulation, solver="clarabel", tol=1e-9)
    result = smo(iopt.KernelProblem.from_data(X, y, kernel_name, **STORED[how]), formulation)
    assert result.status is iopt.Status.SOLVED
    assert result.objective == pytest.approx(other.objective, rel=1e-5)


# ----------------------------------------------------------------------------------- rounding


def running(K: Array, y: Array, formulation: iopt.Formulation, start: Array | None) -> Descent:
    qp = box(K, y, formulation)
    task = Task(qp.problem, formulation, qp)
    return Descent(task, qp.start() if start is None else start.copy())


def rounding_of_v(run: Descent, program: Program) -> tuple[float, float, float]:
    """Largest error that pair steps have made of v, the bound on it, and error of the value."""

    def exact(alpha: Array) -> NDArray[np.longdouble]:
        product = program.Q.astype(np.longdouble) @ alpha.astype(np.longdouble)
        return -program.y * (program.h * product + program.c)

    before = exact(run.alpha) - run.v
    for _ in range(30):
        state, _ = run.pair_steps(1e-10 * run.unit, 1000)
        if state != smo_loops.RUNNING:
            break
    assert run.gradient is None
    error = np.abs(exact(run.alpha) - run.v - before).max()
    value = abs(run.value - program.value(run.alpha))
    return float(error), float(run.rounding), value


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("kind", ["indefinite", "gaussian", "large"])
def test_rounding_is_bounded(kind: str, name: str) -> None:
    n = 60
    K = symmetric(n, 1) if kind == "indefinite" else gaussian(n, 3, 0.05)
    K = 1e4 * K if kind == "large" else K
    y = np.resize([1.0, -1.0], n)
    formulation = form(name, y, 5.0 if name in FORMS[2:] else 100.0)
    run = running(K, y, formulation, None)
    error, bound, value = rounding_of_v(run, Program.of(K, y, formulation))
    assert error <= bound
    assert value <= 1e-9 * max(1.0, abs(run.value))


def test_rounding_is_bounded_beside_heavy_weights() -> None:
    """60 weights at the bound make v large, and four others take steps that it hardly shows."""
    heavy, few, C = 60, 4, 1e4
    y = np.resize([1.0, -1.0], few + heavy)
    K = np.zeros((y.size, y.size))
    K[:few, :few] = gaussian(few, 2, 0.3)
    K[few:, few:] = -np.outer(y[few:], y[few:])
    K[:few, few:] = 1e-6 * np.outer(np.ones(few), y[few:] * np.resize([1, 1, -1, -1], heavy))
    K[few:, :few] = K[:few, few:].T
    formulation = iopt.SVMDual(C=C, bias=False)
    run = running(K, y, formulation, np.append(np.zeros(few), np.full(heavy, C)))
    error, bound, _ = rounding_of_v(run, Program.of(K, y, formulation))
    assert error <= bound


# ------------------------------------------------------------------------------------- stops


def check_stopped(program: Program, result: iopt.workflow.Result, status: iopt.Status) -> None:
    """The point is feasible, and nothing is claimed but what it is."""
    x = result.values[program.variable]
    program.check_feasible(x)
    assert result.status is status
    rounding = program.rounding(x)
    assert program.sense * result.objective == pytest.approx(program.value(x), abs=rounding)
    unit = program.unit(x)
    at_bound = result.residual * unit - program.violation(x)
    assert at_bound <= rounding
    assert result.iterations == result.trace.iterations[-1]


def slow(name: str) -> tuple[Program, iopt.KernelProblem, iopt.Formulation]:
    K, y = gaussian(100, 3, 0.05), labels(100, 1)
    formulation = form(name, y, 3.0 if name in FORMS[2:] else 1e4)
    return Program.of(K, y, formulation), iopt.KernelProblem(K, y), formulation


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("how", ["stop", "interrupt"])
@pytest.mark.parametrize("when", [1, 2, 5, 20])
def test_callbacks_that_end_it(when: int, how: str, name: str) -> None:
    program, problem, formulation = slow(name)
    asked: list[int] = []

    def callback(trace: iopt.solvers.Trace) -> bool:
        asked.append(len(trace))
        if how == "interrupt" and len(trace) == when:
            raise KeyboardInterrupt
        return len(trace) == when

    result = smo(problem, formulation, callback=callback)
    assert asked == list(range(1, when + 1))
    check_stopped(program, result, iopt.Status.INTERRUPTED)
    assert result.certificate.claim is iopt.Claim.FEASIBLE


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("seconds", [1e-9, 0.005])
def test_time_runs_out(seconds: float, name: str) -> None:
    program, problem, formulation = slow(name)
    result = smo(problem, formulation, time_limit=seconds, tol=1e-12)
    check_stopped(program, result, iopt.Status.TIME_LIMIT)


@pytest.mark.parametrize("when", [1, 2])
def test_a_true_answer_is_the_last_report(when: int) -> None:
    """Two saddles to leave, each after a chunk that ends without a violation."""
    K = TWO_BARRIERS * np.outer([1, 1, -1, -1], [1, 1, -1, -1])
    problem, formulation = iopt.KernelProblem(K, [1, 1, -1, -1]), iopt.SVMDual(C=0.5, bias=False)
    asked: list[int] = []

    def callback(trace: iopt.solvers.Trace) -> bool:
        asked.append(len(trace))
        return len(trace) >= when

    smo(problem, formulation, start=[1 / 3] * 4, callback=callback)
    assert asked == list(range(1, when + 1))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("C", [1.0, INF])
@pytest.mark.parametrize("call", [2, 3, 4])
def test_an_interrupt_during_a_gradient(
    call: int, C: float, bias: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where K is large that takes long; what is known of the point must still be true of it."""
    K, y = gaussian(40, 5, 0.5), labels(40, 1)
    formulation = iopt.SVMDual(C=C, bias=bias)
    calls, original = [0], BoxLineQP.gradient

    def gradient(self: BoxLineQP, x: Array) -> Array:
        calls[0] += 1
        if calls[0] == call:
            raise KeyboardInterrupt
        return original(self, x)

    monkeypatch.setattr(BoxLineQP, "gradient", gradient)
    problem = iopt.KernelProblem(K, y)
    try:
        result = smo(problem, formulation, tol=1e-9)
    except KeyboardInterrupt:
        pytest.skip("no more gradients than that")
    program = Program.of(K, y, formulation)
    x = result.values["alpha"]
    program.check_feasible(x)
    assert result.objective == pytest.approx(-program.value(x), abs=program.rounding(x))
