"""solve and solve_path: what they refuse, where they stop, and what they return."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import indefinite_opt as iopt
from helpers.problems import random_problem
from helpers.programs import check_feasible
from indefinite_opt.formulations import as_formulation
from indefinite_opt.modeling.linear_programs.linear_program import LinearProgram
from indefinite_opt.modeling.structures.quadratic_program import BoxLineQP
from indefinite_opt.quadratic.solving.solution import Solution
from indefinite_opt.quadratic.solving.solver import Solver, Task
from indefinite_opt.solvers.linear import simplex

Array = NDArray[np.float64]
# The package has a function of the same name as this module.
result_module = importlib.import_module("indefinite_opt.workflow.result")

PAIR = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
CONVEX_SOLVERS = ("clarabel", "highs", "osqp", "scs")
QUADRATIC = ("SVMDual(C=2)", "SVMDual(C=2, bias=False)", "ConvexHullDual", "GuoSchuurmansQP")


# ------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize("title", ["LPSVM", "KernelLogistic"])
def test_some_formulations_take_no_start(title: str) -> None:
    with pytest.raises(iopt.errors.ParameterError, match="formulation is solved without a start"):
        iopt.solve(PAIR, title, start=[1.0, 1.0])


@pytest.mark.parametrize(
    ("formulation", "hint"),
    [("SVMDaul", "SVMDual"), ("svmdual(c=1)", "C"), ("SVMDual(bais=1)", "bias"),
     ("SpectrumSVM(transform=clap)", "clip"), ("ConvexHull", "ConvexHullDual")],
)  # fmt: skip
def test_unknown_formulation_names(formulation: str, hint: str) -> None:
    with pytest.raises(iopt.errors.UnknownName, match=rf"Did you mean .*\b{hint}\b"):
        iopt.solve(PAIR, formulation)


@pytest.mark.parametrize("formulation", [3, None, [], int, object()])
def test_things_that_are_no_formulation(formulation: Any) -> None:
    with pytest.raises(iopt.errors.ParameterError, match="formulation: expected a formulation"):
        iopt.solve(PAIR, formulation)


# -------------------------------------------------------------------- parameters of formulations


@pytest.mark.parametrize("smaller", [1, 2, 3, 7])
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
    weights = result.values.get("alpha", result.values.get("alphabar"))
    np.testing.assert_allclose(weights[:smaller], least, rtol=1e-9)


# --------------------------------------------------------------------------- solvers that cannot


@pytest.mark.parametrize("title", QUADRATIC)
@pytest.mark.parametrize("solver", CONVEX_SOLVERS)
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


@pytest.mark.parametrize(
    ("solver", "package"), [("uno", "unopy"), ("clarabel", "clarabel"), ("scs", "scs")]
)
def test_a_missing_package_is_a_refusal(
    solver: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(
        iopt.errors.IncompatibleSolver, match=rf"{package} is not installed \(pip install {package}"
    ):
        iopt.solve(PAIR, "SVMDual", solver=solver)


# ------------------------------------------------------------------------------------ unbounded


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


# --------------------------------------------------------------------------- where solvers stop


@pytest.mark.parametrize("solver", CONVEX_SOLVERS)
def test_one_iteration_of_others_is_not_solved(
    solver: str, gaussian_problem: iopt.KernelProblem
) -> None:
    try:
        result = iopt.solve(gaussian_problem, "SVMDual(C=2)", solver=solver, max_iter=1)
    except iopt.errors.SolverFailed:
        return  # It says that there is no point, which is honest, too.
    assert result.status is not iopt.Status.SOLVED


@pytest.mark.parametrize(
    ("name", "solver"),
    [("LPSVM", "highs"), ("SVMDual(C=1e4)", "osqp"), ("SVMDual(C=1e4)", "clarabel"),
     ("SVMDual(C=1e4)", "scs")],
)  # fmt: skip
def test_time_limit_of_others(name: str, solver: str) -> None:
    """Labels by chance: most weights end at the bound, after many steps."""
    generator = np.random.default_rng(5)
    X = generator.standard_normal((300, 20))
    problem = iopt.KernelProblem.from_data(X, generator.choice([-1, 1], 300), "linear")
    try:
        result = iopt.solve(problem, name, solver=solver, time_limit=1e-9)
    except iopt.errors.SolverFailed:
        return
    assert result.status is iopt.Status.TIME_LIMIT


@pytest.mark.parametrize(("transform", "scale"), [("clip", -(2.0**35)), ("square", 1.0)])
def test_a_hessian_that_osqp_takes_for_nonconvex(transform: str, scale: float) -> None:
    """Its rounding alone, of eigenvalues of about 1e20, is larger than what OSQP allows for."""
    K = np.array([[0.0, -8.0, 0.0], [-8.0, 0.0, -8.0], [0.0, -8.0, 0.0]]) - 2.0**33
    problem = iopt.KernelProblem(scale * K, [1, -1, 1])
    formulation = iopt.SpectrumSVM(C=0.0176, transform=transform)
    with pytest.raises(iopt.errors.SolverFailed, match="OSQP failed on SpectrumSVM"):
        iopt.solve(problem, formulation, solver="osqp")


# --------------------------------------------------------------------------------------- starts


class Spy(Solver):
    """Returns the start it is given."""

    name = "spy"
    accepts = (BoxLineQP, LinearProgram)
    needs_convex = False
    claims = iopt.Claim.FEASIBLE

    def solve(self, task: Task) -> Solution:
        assert task.start is not None
        assert isinstance(task.structure, BoxLineQP)
        return Solution(task.structure.values(task.start), iopt.Status.INACCURATE)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "title",
    ["SVMDual(C=0.7, bias=False)", "SVMDual(C=inf, bias=False)", "SVMDual(C=0.7)",
     "SVMDual(C=inf)", "ConvexHullDual(mu=0.4)", "ConvexHullDual(mu=1)", "GuoSchuurmansQP"],
)  # fmt: skip
def test_a_start_moves_to_the_nearest_feasible_point(title: str, seed: int) -> None:
    """The projection by Clarabel onto the declared constraints."""
    import cvxpy as cp

    problem = random_problem("gaussian", n=11, seed=3)
    generator = np.random.default_rng(seed)
    point = generator.normal(0.2, 10.0 ** generator.uniform(-1, 1), problem.n)
    formulation = as_formulation(title)
    program = formulation.declare(problem)
    assert isinstance(program.structure, BoxLineQP)
    model, variables = program.in_cvxpy()
    variable = variables[program.structure.variable]
    distance = cp.Minimize(cp.sum_squares(variable - point))
    cp.Problem(distance, model.constraints).solve(
        solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12
    )
    size = np.abs(point).max()
    for start in (point, {program.structure.variable: point.tolist()}):
        moved = iopt.solve(problem, formulation, solver=Spy(), start=start)
        x = moved.values[program.structure.variable]
        np.testing.assert_allclose(x, variable.value, atol=1e-6 * max(1.0, size))
        check_feasible(program.structure, x)
    # A feasible point stays where it is.
    np.testing.assert_allclose(program.structure.project(x), x, atol=1e-12 * max(1.0, size))


# ---------------------------------------------------------------------------------------- paths


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every structure that becomes a new HiGHS model."""
    built: list[Any] = []
    original: Callable[..., Any] = simplex.highs_model

    def counting(structure: Any, **options: Any) -> Any:
        built.append(structure)
        return original(structure, **options)

    monkeypatch.setattr(simplex, "highs_model", counting)
    return built


@pytest.mark.parametrize(
    ("name", "parameter", "values"),
    [
        ("LPSVM", "C", np.logspace(-2, 2, 10)),
        ("GuoSchuurmansLP", "beta", np.linspace(0.03, 0.5, 10)),
    ],
)
def test_a_path_of_linear_programs_keeps_one_model(
    name: str,
    parameter: str,
    values: Array,
    models: list[Any],
    sigmoid_problem: iopt.KernelProblem,
) -> None:
    formulations = [getattr(iopt, name)(**{parameter: float(value)}) for value in values]
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
    models: list[Any], gaussian_problem: iopt.KernelProblem
) -> None:
    n = gaussian_problem.n
    sensitivity = np.random.default_rng(8).standard_normal((n, n))
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


# ---------------------------------------------------------------------------------------- result


def test_the_certificate_is_computed_when_read(
    monkeypatch: pytest.MonkeyPatch, sigmoid_problem: iopt.KernelProblem
) -> None:
    calls: list[str] = []
    original = result_module.certify

    def counting(problem: Any, formulation: Any, *rest: Any, **named: Any) -> Any:
        calls.append(str(formulation))
        return original(problem, formulation, *rest, **named)

    monkeypatch.setattr(result_module, "certify", counting)
    result = iopt.solve(sigmoid_problem, "SVMDual")
    path = iopt.solve_path(sigmoid_problem, ["LPSVM(C=1)", "LPSVM(C=2)"])
    assert result.classifier.support.size > 0
    assert repr(result)
    assert calls == []
    assert result.certificate is result.certificate
    assert calls == ["SVMDual"]
    assert path[1].certificate.claim is iopt.Claim.GLOBAL
    assert calls == ["SVMDual", "LPSVM(C=2)"]
