"""What is said of the Luss duals, against semidefinite programs and against any feasible point."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

import indefinite_opt as iopt
from helpers.problems import of_inertia

Array = NDArray[np.float64]

INERTIAS = ("indefinite", "psd", "nsd", "zero", "rank one", "graded")
SOLVERS = ["newton", "accpm", "projected-gradient"]


def make(kind: str, n: int, seed: int, minority: int | None = None) -> iopt.KernelProblem:
    """A kernel of the given inertia; `minority` points are in one of the classes."""
    y = np.ones(n)
    y[: n // 2 if minority is None else minority] = -1.0
    order = np.random.default_rng(seed).permutation(n)
    return iopt.KernelProblem(of_inertia(kind, n, seed), y[order])


def priced(problem: iopt.KernelProblem, alpha: Array, rho: float) -> float:
    """min over K of ½-zᵀKz + ρ‖K - K₀‖², without its value ρ‖(K₀)₋‖² at z = 0."""
    z = problem.y * alpha
    before, after = (
        np.linalg.eigvalsh(K) for K in (problem.K, problem.K + np.outer(z, z) / (4.0 * rho))
    )
    squares = np.sum(np.minimum(after, 0.0) ** 2) - np.sum(np.minimum(before, 0.0) ** 2)
    return -0.5 * z @ problem.K @ z - (z @ z) ** 2 / (16.0 * rho) + rho * squares


def negative_square(problem: iopt.KernelProblem) -> float:
    return float(np.sum(np.minimum(np.linalg.eigvalsh(problem.K), 0.0) ** 2))


def constant(problem: iopt.KernelProblem, formulation: iopt.Formulation) -> float:
    """The objective at α = 0, which gaps leave out."""
    if isinstance(formulation, iopt.LussDual):
        return formulation.rho * negative_square(problem)
    return 0.0


def objective(problem: iopt.KernelProblem, formulation: iopt.Formulation, alpha: Array) -> float:
    """Section 2 of the paper, from the eigenvalues of the whole matrix; of a ball from below."""
    total = float(alpha.sum())
    if isinstance(formulation, iopt.LussDual):
        return total + priced(problem, alpha, formulation.rho) + constant(problem, formulation)
    room = formulation.radius - negative_square(problem)

    def loss(log_rho: float) -> float:
        rho = float(np.exp(log_rho))
        return rho * room - priced(problem, alpha, rho)

    size = float(alpha @ alpha) or 1.0
    center = float(np.log(size / np.sqrt(room)))
    found = minimize_scalar(loss, bounds=(center - 20, center + 20), method="bounded",
                            options={"xatol": 1e-9})  # fmt: skip
    return total - float(found.fun)


def rounding(problem: iopt.KernelProblem, formulation: iopt.Formulation, alpha: Array) -> float:
    """What the reference itself may lose."""
    if isinstance(formulation, iopt.LussBall):
        return 1e-8 * (1.0 + alpha.sum())
    norm = np.linalg.norm(problem.K) + alpha @ alpha / (4.0 * formulation.rho)
    return 1e-13 * (1.0 + alpha.sum() + formulation.rho * norm**2)


def some_points(
    problem: iopt.KernelProblem, C: float, generator: np.random.Generator
) -> list[Array]:
    """Zero, a vertex, random points small and large: all feasible."""
    y = problem.y
    plus, minus = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    vertex = np.zeros(y.size)
    vertex[[*plus[: minus.size], *minus[: plus.size]]] = C
    points = [np.zeros(y.size), vertex]
    for scale in (1e-3, 1.0):
        inner = generator.uniform(0.0, 1.0, y.size)
        masses = inner[plus].sum(), inner[minus].sum()
        inner[plus] *= min(masses) / masses[0]
        inner[minus] *= min(masses) / masses[1]
        points.append(scale * C * inner)
    return points


def sdp(program: iopt.modeling.Program) -> float:
    """By Clarabel, whose last digits may be missing: those compared with are not."""
    model = program.cvxpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.solve(solver=cp.CLARABEL)
    assert model.status in ("optimal", "optimal_inaccurate")
    return float(model.value)


@pytest.mark.parametrize("ball", [False, True], ids=["price", "ball"])
@pytest.mark.parametrize(
    ("kind", "n"),
    [*((kind, 5) for kind in INERTIAS), ("nsd", 12)],
)
def test_both_semidefinite_programs_agree(kind: str, n: int, ball: bool) -> None:
    C, rho = (10.0, 0.1) if n == 5 and INERTIAS.index(kind) % 2 else (1.0, 1.0)
    problem = make(kind, n, seed=int(C > 1.0))
    radius = negative_square(problem) + 0.3 * rho
    formulation = iopt.LussBall(C=C, radius=radius) if ball else iopt.LussDual(C=C, rho=rho)
    result = iopt.solve(problem, formulation)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    for program in (formulation.declare(problem), formulation.dual(problem)):
        assert result.objective == pytest.approx(sdp(program), rel=1e-5, abs=1e-5)
    # Only the first is what `solve` takes.
    texts = str(formulation.declare(problem)), str(formulation.dual(problem))
    assert ["\n  solved as" in text for text in texts] == [True, False]


def formulations(problem: iopt.KernelProblem, C: float, scale: float) -> list[iopt.Formulation]:
    radius = negative_square(problem) + scale * (float(np.sum(problem.K**2)) + 1.0)
    return [iopt.LussDual(C=C, rho=scale), iopt.LussBall(C=C, radius=radius)]


@settings(max_examples=6)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 8),
    kind=st.sampled_from(INERTIAS),
    log_C=st.floats(-4.0, 5.0),
    log_scale=st.floats(-6.0, 6.0),
)
def test_bounds_hold_for_every_feasible_point(
    seed: int, n: int, kind: str, log_C: float, log_scale: float
) -> None:
    generator = np.random.default_rng(seed)
    C = 10.0**log_C
    problem = make(kind, n, seed, minority=1 + seed % (n - 1))
    for formulation in formulations(problem, C, 10.0**log_scale):
        points = some_points(problem, C, generator)
        result = iopt.solve(problem, formulation, solver="projected-gradient", max_iter=200)
        points.append(result.values["alpha"])
        values = [objective(problem, formulation, alpha) for alpha in points]
        slack = max(rounding(problem, formulation, alpha) for alpha in points)
        for alpha, value in zip(points, values, strict=True):
            certificate = iopt.verify(problem, formulation, {"alpha": alpha})
            assert certificate.objective >= value - slack
            if isinstance(formulation, iopt.LussDual):
                assert certificate.objective == pytest.approx(value, abs=slack)
            assert certificate.bound >= max(values) - slack
            if certificate.claim is iopt.Claim.GLOBAL:
                size = max(1.0, abs(value - (constant(problem, formulation))))
                assert value >= max(values) - 1.01e-6 * size - 2.0 * slack


@pytest.mark.parametrize("kind", INERTIAS)
def test_solvers_agree_and_their_traces_are_honest(kind: str) -> None:
    for seed, n, minority in [(0, 2, 1), (2, 8, 1), (4, 11, 5)]:
        problem = make(kind, n, seed, minority)
        for formulation in formulations(problem, 5.0, 0.5):
            offset = constant(problem, formulation)
            found, bounds = [], []
            for solver in SOLVERS:
                result = iopt.solve(problem, formulation, solver=solver)
                alpha, trace = result.values["alpha"], result.trace
                assert alpha.min() >= 0.0
                assert alpha.max() <= 5.0
                assert abs(problem.y @ alpha) <= 1e-12 * alpha.sum()
                slack = rounding(problem, formulation, alpha)
                assert objective(problem, formulation, alpha) <= result.objective + slack
                size = max(1.0, abs(result.objective - offset))
                values, ends = np.array(trace.objective), np.array(trace.bound)
                assert np.all(ends >= values - 1e-10 * size)
                assert np.all(np.diff(ends) <= 0.0)
                # Of points that agree to 1% of the tolerance any may be the best one.
                assert np.all(np.diff(values) >= -1e-8 * size)
                assert np.all(np.diff(trace.calls) >= 0)
                assert trace.objective[-1] == pytest.approx(result.objective, abs=1e-9 * size)
                found.append(result.objective)
                bounds += [ends[-1], result.certificate.bound]
            assert max(found) - min(found) <= 2e-6 * size
            assert min(bounds) >= max(found) - 1e-10 * size


@pytest.mark.parametrize(("kind", "C"), [("indefinite", 10.0), ("nsd", 0.1)])
def test_clip_is_the_limit_of_both(kind: str, C: float) -> None:
    """SpectrumSVM(clip) by Clarabel is the smallest ball, and the dual at a price of 1e8."""
    problem = make(kind, 8, 5)
    clip = iopt.solve(problem, iopt.SpectrumSVM(C=C, transform="clip"), "clarabel").objective
    radius = iopt.LussBall.smallest_radius(problem)
    assert radius == pytest.approx(negative_square(problem), rel=1e-12, abs=1e-12)
    smallest = iopt.solve(problem, iopt.LussBall(C=C, radius=radius))
    assert smallest.objective == pytest.approx(clip, rel=2e-6, abs=2e-6)
    assert smallest.certificate.bound >= clip - 1e-6 * max(1.0, clip)
    assert smallest.classifier.change.rho == np.inf
    far = iopt.solve(problem, iopt.LussDual(C=C, rho=1e8))
    # ‖z‖⁴/(16ρ) and rounding of the constant: below 1e-5 for ‖z‖ ≤ 10.
    offset = constant(problem, far.formulation)
    assert far.objective - offset == pytest.approx(clip, rel=1e-5, abs=1e-5)


def test_bounds_of_a_ball_cover_the_rounding_of_its_room() -> None:
    """All weights are C; r - ‖(K₀)₋‖² cancels; 21 units of rounding were missing."""
    K = np.array(
        [
            [-0.062093312478382644, 11611180.044246737, 976.5333151920419, -5.925714839046945e-05],
            [11611180.044246737, -2368270765.0383067, -1.4528449074152213e-07, 10.301748423533907],
            [976.5333151920419, -1.4528449074152213e-07, 1034.8364088692183, -38145571473.851494],
            [-5.925714839046945e-05, 10.301748423533907, -38145571473.851494, -35735477141.286224],
        ]
    )
    problem = iopt.KernelProblem(K, [1, -1, 1, -1])
    formulation = iopt.LussBall(C=1.712351679529278e-11, radius=3.6055933133385084e21)
    certificate = iopt.solve(problem, formulation, tol=1e-9).certificate
    assert certificate.claim is iopt.Claim.GLOBAL
    # The optimum in exact arithmetic, of the declared maximisation: bounds are above it.
    assert certificate.bound >= 6.1175722410739223e-11
    assert certificate.bound == pytest.approx(6.1175722410739223e-11, rel=1e-9)
