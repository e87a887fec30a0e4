"""Generation of rows and columns against full HiGHS, Clarabel and closed forms."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.problems import random_problem
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.programs.claim import Claim
from indefinite_opt.quadratic.solving.solution import Status
from indefinite_opt.solvers.linear.interior_point import LinearInteriorPoint

FORMULATIONS = (
    iopt.GuoSchuurmansLP(), iopt.GuoSchuurmansLP(beta=0.05), iopt.GuoSchuurmansLP(beta=0.5),
    iopt.LPSVM(C=0.01), iopt.LPSVM(C=1.0), iopt.LPSVM(C=100.0), iopt.UniformWeights(),
)  # fmt: skip
generated = partial(iopt.solve, solver="generation")


def check(problem: iopt.KernelProblem, formulation: iopt.Formulation, tol: float = 1e-6) -> None:
    """The value of the full model, a closed gap, a feasible point, honest words."""
    ours = generated(problem, formulation, tol=tol)
    full = iopt.solve(problem, formulation, solver="highs", tol=tol)
    program = formulation.program(problem)
    size = max(answers.gap_unit(program, program.sense * r.objective) for r in (ours, full))
    # Rows of 0 are so up to the rounding of their terms, 64 of it at most.
    rounding = 64.0 * 2.0**-53 * 2.0 * problem.largest
    if max(abs(ours.objective), abs(full.objective)) <= rounding:
        return  # an optimal value of zero, and no gap is small beside it
    assert ours.status is Status.SOLVED
    assert abs(ours.objective - full.objective) <= 2.0 * tol * size + rounding
    assert program.infeasibility(program.from_values(ours.values)) <= 1e-8
    bound = program.dual_bound(ours.multipliers)
    assert bound <= program.sense * full.objective + 1e-9 * size
    assert program.sense * ours.objective - bound <= tol * size
    assert ours.certificate.claim is Claim.GLOBAL


@pytest.mark.parametrize(
    ("kernel", "n", "formulation", "tol"),
    [
        *(("sigmoid", 90, formulation, 1e-6) for formulation in FORMULATIONS),
        *(("l1-gaussian", 160, FORMULATIONS[k], 1e-6) for k in (0, 4)),  # most rows are left out
        *(("sigmoid", 150, FORMULATIONS[k], tol) for k, tol in ((0, 1e-8), (5, 1e-3))),
    ],
    ids=str,
)
def test_agrees_with_the_full_model(
    kernel: str, n: int, formulation: iopt.Formulation, tol: float
) -> None:
    check(random_problem(kernel, n, seed=5), formulation, tol)


def test_interior_points_close_the_gap_where_few_columns_are_free() -> None:
    # The weights of the columns differ by a factor of 1e20 at the end, and all of them matter.
    problem = random_problem("l1-gaussian", n=700, seed=3)
    ours = generated(problem, iopt.GuoSchuurmansLP())
    assert ours.status is Status.SOLVED
    assert "simplex" not in ours.message
    assert ours.certificate.claim is Claim.GLOBAL


@pytest.mark.parametrize(
    ("title", "n", "solver"),
    [("GuoSchuurmansLP", 390, "highs"), ("GuoSchuurmansLP", 400, "generation"),
     ("LPSVM", 400, "generation")],
)  # fmt: skip
def test_is_the_default_for_many_rows(title: str, n: int, solver: str) -> None:
    assert iopt.solve(random_problem("sigmoid", n=n, seed=1), title).solver == solver


def test_any_sensitivity() -> None:
    """No kernel, not symmetric: rows and columns of Δ must not be mixed up."""
    problem = random_problem("gaussian", n=70, seed=1)
    Delta = np.random.default_rng(3).standard_normal((70, 70))
    for beta in (None, 0.03, 0.5):
        check(problem, iopt.GuoSchuurmansLP(beta=beta, sensitivity=Delta))
    # Δ = e vᵀ: sensitivities are v whatever α, so δ = max v.
    v = np.random.default_rng(0).uniform(-2.0, 1.0, 70)
    game = iopt.GuoSchuurmansLP(sensitivity=np.outer(np.ones(70), v))
    assert generated(problem, game).objective == pytest.approx(v.max(), rel=1e-9)


@pytest.mark.parametrize("name", ["zero", "rank one", "repeated", "identity", "negative"])
def test_degenerate(name: str) -> None:
    v = np.linspace(-1, 2, 60)
    K = {
        "zero": np.zeros((60, 60)), "rank one": np.outer(v, v), "identity": np.eye(60),
        "negative": -np.eye(60),
        "repeated": np.kron(random_problem("sigmoid", n=15, seed=7).K, np.ones((4, 4))),
    }[name]  # fmt: skip
    problem = iopt.KernelProblem(K, np.where(np.arange(60) % 5 < 2, 1, -1))
    for formulation in FORMULATIONS[::2]:
        check(problem, formulation)


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e6])
def test_a_game_of_any_scale(scale: float) -> None:
    """δ is proportional to K; HiGHS alone sees nothing below its absolute tolerance of 1e-7."""
    problem = random_problem("sigmoid", n=120, seed=4)
    value = iopt.solve(problem, iopt.GuoSchuurmansLP(), solver="highs").objective
    scaled = iopt.KernelProblem(scale * problem.K, problem.y)
    result = generated(scaled, "GuoSchuurmansLP")
    unit = min(1.0, 2.0 * scaled.largest)
    assert result.status is Status.SOLVED
    assert abs(result.objective - scale * value) <= 2e-6 * max(unit, scale * value)


def test_without_an_interior_the_simplex_method_says_so() -> None:
    """At the least β the smaller class has no choice, and no central point either."""
    problem = iopt.KernelProblem(np.eye(9), np.repeat([1, -1], [3, 6]))
    game = iopt.GuoSchuurmansLP(beta=1.0 / 6.0)
    result = generated(problem, game)
    # δ = 2 max α = 2/6, whatever the larger class does.
    assert result.objective == pytest.approx(1.0 / 3.0, rel=1e-6)
    assert result.status is Status.SOLVED


PROBLEM = random_problem("sigmoid", n=120, seed=11)


@pytest.mark.parametrize("formulation", [FORMULATIONS[0], FORMULATIONS[4]], ids=str)
def test_the_trace_closes_in_on_the_optimum(formulation: iopt.Formulation) -> None:
    result = generated(PROBLEM, formulation)
    optimum = iopt.solve(PROBLEM, formulation, solver="highs").objective
    trace = result.trace
    assert np.all(np.diff(trace.objective) <= 0.0)
    assert np.all(np.diff(trace.bound) >= 0.0)
    assert np.all(np.array(trace.bound) <= optimum + 1e-9)
    assert np.all(np.array(trace.objective) >= optimum - 1e-9)
    assert trace.residual[-1] <= 1e-6
    assert trace.calls[-1] >= 2


@pytest.mark.parametrize("formulation", [FORMULATIONS[k] for k in (0, 3, 4, 6)], ids=str)
def test_the_simplex_method_alone(
    formulation: iopt.Formulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no interior step can be taken the rows come to the live model of HiGHS."""
    monkeypatch.setattr(LinearInteriorPoint, "step", lambda self: False)
    check(PROBLEM, formulation)
    # Where b alone is worth its price, or nothing is to be chosen, the first point is the best.
    if str(formulation) not in ("LPSVM(C=0.01)", "UniformWeights"):
        assert "simplex" in generated(PROBLEM, formulation).message


def test_multipliers_of_the_linear_machine_do_not_take_its_matrix() -> None:
    """A slack has one entry in its margin, so that its reduced cost is C - λ."""
    margin = np.array([0.5, 0.0, 3.0, 1.25])
    program = iopt.LPSVM(C=3.0).program(random_problem("sigmoid", 4, seed=5))
    found = program.multipliers(-margin)
    assert found["margin"].tolist() == margin.tolist()
    assert found["slack"].tolist() == [2.5, 3.0, 0.0, 1.75]
    assert "dense" not in vars(program)
    place = program.from_values({"u": np.zeros(4), "b": 0.0, "xi": np.ones(4)}) == 1.0
    reduced = program.cost + program.dense.T @ margin
    assert np.maximum(reduced[place], 0.0).tolist() == found["slack"].tolist()


def test_a_box_that_leaves_hardly_any_choice() -> None:
    """-d²/2 of five points on a line, β a rounding above its least: δ = 4 to the tolerance."""
    x = np.array([0.0, 3.0, -1.0, 5.0, 4.0])
    K = -0.5 * (x[:, None] - x) ** 2
    problem = iopt.KernelProblem(K, [1, -1, 1, 1, -1])
    game = iopt.GuoSchuurmansLP(beta=0.25 * (1.0 + 3e-16))
    result = iopt.solve(problem, game, solver="generation", tol=1e-3)
    assert result.objective == pytest.approx(iopt.solve(problem, game).objective, rel=1e-3)
    assert result.certificate.claim is iopt.Claim.GLOBAL
