"""solve and solve_path: what they refuse, where they stop, and what they return."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import indefinite_opt as iopt
from helpers.problems import random_problem
from helpers.programs import check_feasible
from indefinite_opt.formulations import as_formulation
from indefinite_opt.modeling.linear_programs.linear_program import LinearProgram
from indefinite_opt.quadratic.programs.paired_qp import PairedQP
from indefinite_opt.quadratic.solving.solution import Solution
from indefinite_opt.quadratic.solving.solver import Solver, Task
from indefinite_opt.solvers.linear import simplex
from indefinite_opt.workflow import result as result_module

Array = NDArray[np.float64]

PAIR = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
CONVEX_SOLVERS = ("clarabel", "highs", "osqp", "scs")
QUADRATIC = ("SVMDual(C=2)", "SVMDual(C=2, bias=False)", "ConvexHullDual", "GuoSchuurmansQP")


@pytest.mark.parametrize(
    ("formulation", "hint"),
    [("SVMDaul", "SVMDual"), ("svmdual(c=1)", "C"), ("SVMDual(bais=1)", "bias"),
     ("SpectrumSVM(transform=clap)", "clip"), ("ConvexHull", "ConvexHullDual")],
)  # fmt: skip
def test_unknown_formulation_names(formulation: str, hint: str) -> None:
    with pytest.raises(iopt.errors.UnknownName, match=rf"Did you mean .*\b{hint}\b"):
        iopt.solve(PAIR, formulation)


def test_arguments_that_cannot_be_used() -> None:
    for formulation in (3, None, [], int):
        with pytest.raises(iopt.errors.ParameterError, match="formulation: expected a formulation"):
            iopt.solve(PAIR, formulation)
    with pytest.raises(iopt.errors.ParameterError, match="formulation is solved without one"):
        iopt.solve(PAIR, "LPSVM", start=[1.0, 1.0])


@pytest.mark.parametrize("smaller", [1, 3])
@pytest.mark.parametrize(
    ("name", "parameter", "total"),
    [("ConvexHullDual", "mu", 1.0), ("GuoSchuurmansQP", "beta", 0.5),
     ("GuoSchuurmansLP", "beta", 0.5)],
)  # fmt: skip
def test_infeasible_parameters_tell_the_least(
    name: str, parameter: str, total: float, smaller: int
) -> None:
    """The smaller class must carry its whole weight: at least total/min(n₊, n₋) each."""
    y = np.repeat([1, -1], [smaller, 8])
    problem = iopt.KernelProblem(np.eye(y.size), y)
    least = total / smaller
    with pytest.raises(iopt.errors.InfeasibleProblem) as caught:
        iopt.solve(problem, getattr(iopt, name)(**{parameter: 0.99 * least}))
    assert caught.value.argument == parameter
    told = re.search(r"at least (\S+) = [\d.]+/(\d+),", str(caught.value))
    assert told is not None
    iopt.solve(problem, getattr(iopt, name)(**{parameter: float(told[1])}))
    assert float(told[1]) == pytest.approx(least, rel=1e-5)
    assert int(told[2]) == smaller
    # At the least itself there is exactly one choice for the smaller class.
    result = iopt.solve(problem, getattr(iopt, name)(**{parameter: least}))
    weights = next(iter(result.values.values()))
    np.testing.assert_allclose(weights[:smaller], least, rtol=1e-9)


@pytest.mark.parametrize(("title", "solver"), list(zip(QUADRATIC, CONVEX_SOLVERS, strict=True)))
def test_convex_solvers_refuse_indefinite_problems(
    title: str, solver: str, sigmoid_problem: iopt.KernelProblem
) -> None:
    with pytest.raises(iopt.errors.IncompatibleSolver) as caught:
        iopt.solve(sigmoid_problem, title, solver=solver)
    found = re.fullmatch(
        rf"{solver} cannot solve {re.escape(str(as_formulation(title)))} on this problem: it "
        r"solves convex programs, and this one is not: along one feasible direction its "
        r"objective has curvature (-\S+)\. Solvers that can: dca, global, "
        r"multistart, smo, (?:smo-lin-lin, )?uno\.",
        str(caught.value),
    )
    assert found is not None, str(caught.value)
    assert float(found[1]) < 0.0


def test_a_missing_package_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for solver, package in (("uno", "unopy"), ("clarabel", "clarabel"), ("scs", "scs")):
        said = rf"{package} is not installed \(pip install {package}"
        with pytest.raises(iopt.errors.IncompatibleSolver, match=said):
            iopt.solve(PAIR, "SVMDual", solver=solver)


def test_unbounded_names_the_pair_that_coincides() -> None:
    X = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 0.0], [5.0, 1.0], [2.0, 3.0]])
    problem = iopt.KernelProblem.from_data(X, [1, 1, 1, -1, -1], "linear")
    with pytest.raises(iopt.errors.UnboundedProblem, match=r"points 1 and 4 of opposite classes"):
        iopt.solve(problem, "SVMDual(C=inf)")
    assert np.isfinite(iopt.solve(problem, "SVMDual(C=100)").objective)


def test_unbounded_names_the_point_without_bias() -> None:
    problem = iopt.KernelProblem(np.diag([2.0, 1.0, 0.0, 3.0]), [1, -1, 1, -1])
    with pytest.raises(iopt.errors.UnboundedProblem, match=r"K\[2, 2\] = 0 ≤ 0"):
        iopt.solve(problem, "SVMDual(C=inf, bias=False)")


@pytest.mark.parametrize(
    ("name", "solver", "limit"),
    [
        *(("SVMDual(C=1e4)", solver, {"max_iter": 1}) for solver in CONVEX_SOLVERS),
        *(
            ("SVMDual(C=1e4)", solver, {"time_limit": 1e-9})
            for solver in ("osqp", "clarabel", "scs")
        ),
        ("LPSVM", "highs", {"time_limit": 1e-9}),
    ],
)
def test_a_limit_that_is_reached_is_told(name: str, solver: str, limit: Any) -> None:
    """Labels by chance: most weights end at the bound, after many steps."""
    generator = np.random.default_rng(5)
    X = generator.standard_normal((200, 20))
    problem = iopt.KernelProblem.from_data(X, generator.choice([-1, 1], 200), "linear")
    try:
        result = iopt.solve(problem, name, solver=solver, **limit)
    except iopt.errors.SolverFailed:
        return  # It says that there is no point, which is honest, too.
    assert result.status is not iopt.Status.SOLVED
    assert "max_iter" in limit or result.status is iopt.Status.TIME_LIMIT


@pytest.mark.parametrize(("transform", "scale"), [("clip", -(2.0**35)), ("square", 1.0)])
def test_a_hessian_that_osqp_takes_for_nonconvex(transform: str, scale: float) -> None:
    """Its rounding alone, of eigenvalues of about 1e20, is larger than what OSQP allows for."""
    K = np.array([[0.0, -8.0, 0.0], [-8.0, 0.0, -8.0], [0.0, -8.0, 0.0]]) - 2.0**33
    problem = iopt.KernelProblem(scale * K, [1, -1, 1])
    formulation = iopt.SpectrumSVM(C=0.0176, transform=transform)
    with pytest.raises(iopt.errors.SolverFailed, match="OSQP failed on SpectrumSVM"):
        iopt.solve(problem, formulation, solver="osqp")


def counted(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[Any]:
    """The first arguments of all calls of a function."""
    calls: list[Any] = []
    original = getattr(module, name)

    def counting(first: Any, *rest: Any, **named: Any) -> Any:
        calls.append(first)
        return original(first, *rest, **named)

    monkeypatch.setattr(module, name, counting)
    return calls


class Spy(Solver):
    """Returns the start it is given."""

    name = "spy"
    accepts = (PairedQP, LinearProgram)
    needs_convex = False
    claims = iopt.Claim.FEASIBLE

    def solve(self, task: Task) -> Solution:
        assert task.start is not None
        assert isinstance(task.program, PairedQP)
        return Solution(task.program.values(task.start), iopt.Status.INACCURATE)


@pytest.mark.parametrize(
    ("title", "spread"),
    [("SVMDual(C=0.7, bias=False)", 1.0), ("SVMDual(C=inf, bias=False)", 0.1),
     ("SVMDual(C=0.7)", 10.0), ("SVMDual(C=0.7)", 0.2), ("SVMDual(C=inf)", 3.0),
     ("ConvexHullDual(mu=0.4)", 1.0), ("ConvexHullDual(mu=1)", 10.0), ("GuoSchuurmansQP", 0.1)],
)  # fmt: skip
def test_a_start_moves_to_the_nearest_feasible_point(title: str, spread: float) -> None:
    """The projection by Clarabel onto the declared constraints."""
    import cvxpy as cp

    problem = random_problem("gaussian", n=11, seed=3)
    point = np.random.default_rng(0).normal(0.2, spread, problem.n)
    formulation = as_formulation(title)
    program = formulation.declare(problem)
    assert isinstance(program.compiled, PairedQP)
    model, variables = program.in_cvxpy()
    variable = variables[program.compiled.variable]
    distance = cp.Minimize(cp.sum_squares(variable - point))
    cp.Problem(distance, model.constraints).solve(
        solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12
    )
    size = np.abs(point).max()
    for start in (point, {program.compiled.variable: point.tolist()}):
        moved = iopt.solve(problem, formulation, solver=Spy(), start=start)
        x = moved.values[program.compiled.variable]
        np.testing.assert_allclose(x, variable.value, atol=1e-6 * max(1.0, size))
        check_feasible(program.compiled, x)
    # A feasible point stays where it is.
    np.testing.assert_allclose(program.compiled.feasible.project(x), x, atol=1e-12 * max(1.0, size))


@pytest.mark.parametrize(
    "formulations",
    [
        [iopt.LPSVM(C=C) for C in (0.01, 0.3, 1.0, 100.0)],
        [iopt.GuoSchuurmansLP(beta=beta) for beta in (0.03, 0.1, 0.5)],
    ],
    ids=["LPSVM", "GuoSchuurmansLP"],
)
def test_a_path_of_linear_programs_keeps_one_model(
    formulations: list[Any], sigmoid_problem: iopt.KernelProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = counted(monkeypatch, simplex, "highs_model")
    path = iopt.solve_path(sigmoid_problem, formulations, solver="highs")
    assert len(models) == 1
    for formulation, result in zip(formulations, path, strict=True):
        # Both gaps are shares of the size of the program, which is about 1, whatever the optimum.
        alone = iopt.solve(sigmoid_problem, formulation, solver="clarabel", tol=1e-8)
        assert result.objective == pytest.approx(alone.objective, rel=1e-6, abs=1e-7)
        assert result.certificate.claim is iopt.Claim.GLOBAL


@pytest.mark.parametrize("solver", ["highs", "generation"])
def test_a_path_whose_penalties_need_other_units(
    solver: str, sigmoid_problem: iopt.KernelProblem
) -> None:
    """Up to C = 1/‖K‖ all weights of the dual are C, so that the optimum is 2C·min(n₊, n₋)."""
    sizes = [1e-7, 1e-3, 1e-7]
    path = iopt.solve_path(sigmoid_problem, [iopt.LPSVM(C=C) for C in sizes], solver=solver)
    for C, result in zip(sizes, path, strict=True):
        expected = 2.0 * C * sigmoid_problem.smaller_class
        assert result.objective == pytest.approx(expected, rel=1e-6)
        assert result.certificate.claim is iopt.Claim.GLOBAL


def test_a_path_of_mixed_formulations(
    gaussian_problem: iopt.KernelProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = counted(monkeypatch, simplex, "highs_model")
    sensitivity = np.random.default_rng(8).standard_normal((40, 40))
    titles: list[Any] = [
        "LPSVM(C=1)", "LPSVM(C=2)", "GuoSchuurmansLP", "SVMDual(C=1)", "SVMDual(C=3)",
        "SpectrumSVM", "LPSVM(C=2)", "GuoSchuurmansLP(beta=0.2)",
        iopt.GuoSchuurmansLP(beta=0.2, sensitivity=sensitivity),
        iopt.GuoSchuurmansLP(beta=0.3, sensitivity=sensitivity),
    ]  # fmt: skip
    path = iopt.solve_path(gaussian_problem, titles)
    for title, result in zip(titles, path, strict=True):
        assert result.objective == pytest.approx(
            iopt.solve(gaussian_problem, title, solver="clarabel", tol=1e-8).objective,
            rel=1e-6, abs=1e-7,
        )  # fmt: skip
    assert path[1].objective == pytest.approx(path[6].objective, rel=1e-9)
    # A session keeps its model for the matrix it was made from: one for the first two, one each
    # for the third, the seventh and the eighth, one for the last two; SMO needs none.
    assert len(models) == 5


def test_the_certificate_is_computed_when_read(
    monkeypatch: pytest.MonkeyPatch, sigmoid_problem: iopt.KernelProblem
) -> None:
    calls = counted(monkeypatch, result_module, "certify")
    result = iopt.solve(sigmoid_problem, "SVMDual")
    assert result.classifier.support.size > 0
    assert repr(result)
    assert calls == []
    assert result.certificate is result.certificate
    assert len(calls) == 1
