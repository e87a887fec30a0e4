"""What solvers of other packages hand back is verified as it is, with their own signs."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

import indefinite_opt as iopt
from indefinite_opt.errors import ProblemError
from indefinite_opt.workflow.certificates import proof_checker

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

Array = np.ndarray

G = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 0.0]])
H = np.array([4.0, 1.0])
A = np.array([[0.0, 1.0, -1.0]])
B = np.array([0.5])
COST = np.array([-1.0, -2.0, 0.5])
P = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 1.0]])
"""max or min of ½xᵀPx + costᵀx for Gx ≤ h, Ax = b, 0 ≤ x, x₀ ≤ 3."""


def assert_proved(certificate: Any, value: float) -> None:
    assert certificate.claim is iopt.Claim.GLOBAL, str(certificate)
    assert certificate.objective == pytest.approx(value, rel=1e-6)
    assert not any("dual values" in reason for reason in certificate.reasons)


# ------------------------------------------------------------------------------------------ scipy


@pytest.mark.parametrize("method", ["highs-ds", "highs-ipm"])
def test_linprog(method: str) -> None:
    bounds = [(0, 3), (0, None), (None, 5)]
    arguments = {"c": COST, "A_ub": G, "b_ub": H, "A_eq": A, "b_eq": B, "bounds": bounds}
    result = linprog(**arguments, method=method)
    qp = iopt.QuadraticProgram.from_linprog(**arguments)
    assert_proved(iopt.verify(qp, result), result.fun)
    for side in (result.ineqlin, result.eqlin, result.lower, result.upper):
        side.marginals = -side.marginals
    turned = iopt.verify(qp, result)
    assert turned.claim is iopt.Claim.FEASIBLE
    assert "A negative multiplier proves no bound." in turned.reasons[0]
    assert "Marginals of linprog are at most 0" in " ".join(turned.reasons)


def test_bounds_of_linprog_are_read_as_linprog_reads_them() -> None:
    for bounds in ((0, None), None, [], (1, 2), [(1, 2)], [(0, None), (None, 3)], [[0, 1], [2, 9]]):
        c, row = [1.0, 2.0], [[-1.0, -1.0]]
        found = linprog(c, row, [-1.5], bounds=bounds)
        qp = iopt.QuadraticProgram.from_linprog(c, row, [-1.5], bounds=bounds)
        assert qp.sense == 1
        if found.success:
            assert iopt.solve(qp).objective == pytest.approx(found.fun)
            assert_proved(iopt.verify(qp, found), found.fun)
        else:
            assert found.status == 3  # unbounded, by x₁ → -∞
    with pytest.raises(ProblemError, match="bounds: expected pairs"):
        iopt.QuadraticProgram.from_linprog([1.0, 2.0], bounds=[0, 1, 2])


def test_a_result_without_a_point() -> None:
    arguments: dict[str, Any] = {"c": [1.0], "A_ub": [[1.0]], "b_ub": [-1.0]}
    qp = iopt.QuadraticProgram.from_linprog(**arguments)
    with pytest.raises(ProblemError, match="The problem is infeasible"):
        iopt.verify(qp, linprog(**arguments))


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
def test_minimize(method: str) -> None:
    """min ½‖x - (2, 1)‖² for x₀ + x₁ ≤ 2, x ≥ 0 is at (3/2, 1/2) with the value 1/4."""
    qp = iopt.QuadraticProgram(np.eye(2), [-2.0, -1.0], [[1.0, 1.0]], [2.0], lb=0.0, constant=2.5)
    row: Any = {"type": "ineq", "fun": lambda x: 2.0 - x.sum()}
    result = minimize(
        lambda x: 0.5 * np.sum((x - [2.0, 1.0]) ** 2), [0.1, 0.1], method=method,
        jac=lambda x: x - [2.0, 1.0], bounds=[(0, None)] * 2, constraints=[row], tol=1e-10,
    )  # fmt: skip
    certificate = iopt.verify(qp, result, tol=1e-4)
    assert certificate.claim is iopt.Claim.GLOBAL
    assert certificate.objective == pytest.approx(0.25, rel=1e-3)


# -------------------------------------------------------------------------------------- qpsolvers


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_every_solver_of_qpsolvers() -> None:
    qpsolvers = pytest.importorskip("qpsolvers", reason="qpsolvers is not installed")
    problem = qpsolvers.Problem(P, COST, G, H, A, B, np.zeros(3), np.array([3.0, np.inf, np.inf]))
    reference = iopt.solve_qp(P, COST, G, H, A, B, np.zeros(3), [3.0, np.inf, np.inf])
    value = 0.5 * reference @ P @ reference + COST @ reference
    used = {"clarabel", "highs", "osqp", "piqp", "proxqp", "quadprog", "scs", "daqp"}
    for solver in used & set(qpsolvers.available_solvers):
        solution = qpsolvers.solve_problem(problem, solver=solver)
        certificate = iopt.verify(solution, tol=1e-3)
        assert certificate.claim is iopt.Claim.GLOBAL, f"{solver}: {certificate}"
        assert certificate.objective == pytest.approx(value, rel=1e-2)


def test_a_solution_without_multipliers_or_without_a_point() -> None:
    """½x² - x on x ≤ ½ is least at ½ with the multiplier ½ of the bound."""
    problem = SimpleNamespace(
        P=[[1.0]], q=[-1.0], G=None, h=None, A=None, b=None, lb=None, ub=[0.5]
    )
    known: dict[str, Any] = {"problem": problem, "x": np.array([0.5]), "y": None, "z": None}
    for box, claim in (([0.5], "GLOBAL"), ([-0.5], "FEASIBLE"), ([0.4], "FEASIBLE"),
                       (None, "GLOBAL"), ([], "GLOBAL")):  # fmt: skip
        solution = SimpleNamespace(**known, z_box=None if box is None else np.array(box))
        assert iopt.verify(solution).claim.name == claim
    known["x"] = None
    with pytest.raises(ProblemError, match="found no solution"):
        iopt.verify(SimpleNamespace(**known, z_box=None))


# ------------------------------------------------------------------------------ HiGHS and Gurobi


def highs_model(sense: int, quadratic: bool) -> Any:
    """The program above in HiGHS, minimised, or maximised with the opposite objective."""
    highspy = pytest.importorskip("highspy", reason="highspy is not installed")
    highs = highspy.Highs()
    highs.silent()
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_, lp.offset_ = 3, 3, 7.0
    lp.col_cost_, lp.col_lower_ = sense * COST, np.zeros(3)
    lp.col_upper_ = np.array([3.0, highspy.kHighsInf, highspy.kHighsInf])
    lp.row_lower_ = np.array([-highspy.kHighsInf, -9.0, 0.5])
    lp.row_upper_ = np.array([4.0, 1.0, 0.5])
    rows = np.vstack([G, A])
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.arange(0, 10, 3)
    lp.a_matrix_.index_ = np.tile(np.arange(3), 3)
    lp.a_matrix_.value_ = rows.ravel()
    if sense < 0:
        lp.sense_ = highspy.ObjSense.kMaximize
    lp.col_names_, lp.row_names_ = ["tea", "milk", "jam"], ["cap", "band", "tie"]
    highs.passModel(lp)
    if quadratic:
        hessian = highspy.HighsHessian()
        hessian.dim_, hessian.format_ = 3, highspy.HessianFormat.kTriangular
        hessian.start_, hessian.index_ = np.array([0, 2, 3, 4]), np.array([0, 1, 1, 2])
        hessian.value_ = sense * np.array([2.0, 1.0, 3.0, 1.0])
        highs.passHessian(hessian)
    highs.run()
    return highs


@pytest.mark.parametrize("quadratic", [False, True])
@pytest.mark.parametrize("sense", [1, -1])
def test_models_of_highs(sense: int, quadratic: bool) -> None:
    highs = highs_model(sense, quadratic)
    certificate = iopt.verify(highs)
    assert_proved(certificate, highs.getInfo().objective_function_value)
    assert certificate.gap_kind == "duality gap"


def test_what_highs_leaves_without_a_point_or_with_integers_is_refused() -> None:
    highspy = pytest.importorskip("highspy", reason="highspy is not installed")
    for kind in (highspy.HighsVarType.kInteger, highspy.HighsVarType.kSemiContinuous):
        highs = highs_model(1, False)
        highs.changeColIntegrality(0, kind)
        with pytest.raises(ProblemError, match=r"model of HiGHS with variables that are integer"):
            iopt.verify(highs)
    fresh = highspy.Highs()
    fresh.silent()
    fresh.addVariable(lb=0.0)
    with pytest.raises(ProblemError, match="answer with a point, got one without a point: kN"):
        iopt.verify(fresh)


@pytest.mark.parametrize("quadratic", [False, True])
@pytest.mark.parametrize("sense", [1, -1])
def test_models_of_gurobi(sense: int, quadratic: bool) -> None:
    gurobipy = pytest.importorskip("gurobipy", reason="gurobipy is not installed")
    try:
        env = gurobipy.Env(params={"OutputFlag": 0})
    except gurobipy.GurobiError as error:
        pytest.skip(f"gurobipy has no license: {error}")
    model = gurobipy.Model(env=env)
    x = model.addMVar(3, lb=0.0, ub=[3.0, np.inf, np.inf], name="x")
    model.addConstr(G[:1] @ x <= H[:1], name="cap")
    model.addConstr(-G[1:] @ x >= -H[1:], name="band")
    model.addConstr(A @ x == B, name="tie")
    goal = COST @ x + 7.0
    if quadratic:
        goal = goal + 0.5 * (x @ P @ x)
    model.setObjective(sense * goal, sense)
    model.Params.BarQCPConvTol = model.Params.BarConvTol = 1e-10
    model.optimize()
    assert_proved(iopt.verify(model), model.ObjVal)
    model.addVar(vtype="B")
    model.optimize()
    with pytest.raises(ProblemError, match="model of Gurobi with integer variables"):
        iopt.verify(model)


# ------------------------------------------------------------------------------------------ cvxpy


def problems_with_cones() -> dict[str, Any]:
    """Problems of cvxpy with their optimal values in closed form."""
    x, S, t = cp.Variable(2, name="x"), cp.Variable((2, 2), name="S", PSD=True), cp.Variable()
    M = np.array([[2.0, 1.0], [1.0, 2.0]])
    end = cp.Parameter(nonneg=True, value=2.0)
    return {
        "second-order": (cp.sum(x), [cp.norm(x) <= end], -2.0 * np.sqrt(2.0)),
        "second-order cone": (cp.sum(x), [cp.SOC(cp.Constant(2.0), x)], -2.0 * np.sqrt(2.0)),
        "semidefinite": (cp.trace(M @ S), [cp.trace(S) == 1], 1.0),
        "semidefinite, as a row": (-t, [M - t * np.eye(2) >> 0], -1.0),
        "exponential": (cp.sum(cp.exp(x)), [cp.sum(x) == 2.0, x >= -5, x <= 5], 2.0 * np.e),
        "entropy": (-cp.sum(cp.entr(x)), [cp.sum(x) == 1.0], -np.log(2.0)),
        "power": (cp.sum(cp.power(x, 3)), [cp.sum(x) >= 2.0, x <= 9], 2.0),
        "geometric mean": (cp.sum(x), [cp.geo_mean(x) >= 3.0, x <= 99], 6.0),
    }  # fmt: skip


@pytest.mark.parametrize("maximised", [False, True])
@pytest.mark.parametrize("name", problems_with_cones())
def test_problems_with_cones(name: str, maximised: bool) -> None:
    """The certificate is in the unit and the sense of the problem, and nothing of it changes."""
    expression, rows, value = problems_with_cones()[name]
    goal = cp.Maximize(-expression) if maximised else cp.Minimize(expression)
    problem = cp.Problem(goal, rows)
    problem.solve(solver=cp.CLARABEL)
    before = [variable.value.copy() for variable in problem.variables()]
    duals = [np.copy(dual.value) for row in rows for dual in row.dual_variables]
    certificate = iopt.verify(problem, tol=1e-5)
    assert_proved(certificate, -value if maximised else value)
    assert set(certificate.multipliers) == {f"constraints[{k}]" for k in range(len(rows))}
    sign = -1.0 if maximised else 1.0
    assert sign * certificate.bound <= value + 1e-12 * abs(value)
    for variable, kept in zip(problem.variables(), before, strict=True):
        assert np.array_equal(variable.value, kept)
    after = [dual.value for row in rows for dual in row.dual_variables]
    assert all(np.array_equal(*both) for both in zip(after, duals, strict=True))


def test_values_that_are_no_optimum_of_a_problem_with_cones() -> None:
    x = cp.Variable(2, name="x")
    ball = cp.Problem(cp.Minimize(cp.sum(x)), [(cp.norm(x) <= 1).set_label("ball")])
    with pytest.raises(ProblemError, match=r"x without a value\. Solve it, or give values"):
        iopt.verify(ball)
    x.value = np.array([0.0, -1.0])
    inside = pickle.loads(pickle.dumps(iopt.verify(ball)))
    assert inside.claim is iopt.Claim.FEASIBLE
    assert "does not minimise the Lagrangian" in inside.reasons[0]
    assert inside.bound == pytest.approx(-np.sqrt(2.0), rel=1e-7)
    x.value = np.array([-1.0, -1.0])
    outside = iopt.verify(ball)
    assert outside.claim is iopt.Claim.NONE
    assert "'ball' is violated by 0.414" in outside.reasons[0]


def test_dual_values_that_are_wrong_are_named_and_do_not_limit_the_claim() -> None:
    """The variables may be newer than the dual values."""
    x = cp.Variable(2, name="x")
    rows = [(cp.norm(x) <= 1).set_label("ball"), (cp.sum(x) >= -9).set_label("cap")]
    ball = cp.Problem(cp.Minimize(cp.sum(x)), rows)
    ball.solve(solver=cp.CLARABEL)
    rows[0].dual_variables[0].save_value(-rows[0].dual_value)
    certificate = iopt.verify(ball)
    assert certificate.claim is iopt.Claim.GLOBAL
    assert any("'ball' must be nonnegative" in reason for reason in certificate.reasons)
    rows[0].dual_variables[0].save_value(None)
    assert not any("dual" in one for one in iopt.verify(ball).reasons[1:])


def test_a_problem_of_feasibility_alone() -> None:
    """Multipliers of 0 are right, and every feasible point is optimal."""
    S = cp.Variable((2, 2), symmetric=True, name="S")
    problem = cp.Problem(cp.Minimize(0), [S >> 0, cp.trace(S) == 1, cp.norm(S) <= 5])
    S.value = np.eye(2) / 2.0
    for row in problem.constraints:
        for dual in row.dual_variables:
            dual.save_value(np.zeros(dual.shape))
    certificate = iopt.verify(problem)
    assert certificate.claim is iopt.Claim.GLOBAL
    assert certificate.stationarity == 0.0
    assert not any("dual values" in reason for reason in certificate.reasons)


def test_present_values_of_parameters_count() -> None:
    end, x = cp.Parameter(nonneg=True, value=1.0), cp.Variable(2)
    ball = cp.Problem(cp.Minimize(cp.sum(x)), [cp.norm(x) <= end])
    ball.solve(solver=cp.CLARABEL)
    assert iopt.verify(ball).claim is iopt.Claim.GLOBAL
    end.value = 2.0
    later = iopt.verify(ball)
    assert later.claim is iopt.Claim.FEASIBLE
    assert later.bound == pytest.approx(-2.0 * np.sqrt(2.0), rel=1e-6)


def test_what_is_neither_quadratic_nor_convex_is_refused_by_name() -> None:
    x, k = cp.Variable(2, name="x"), cp.Variable(2, name="k", integer=True)
    for problem, said in (
        (cp.Problem(cp.Minimize(cp.sum(k)), [cp.norm(k) <= 1]), "the integer variable k"),
        (cp.Problem(cp.Maximize(cp.norm(x)), [cp.norm(x) <= 1]), "which is convex and enters"),
    ):
        for variable in problem.variables():
            variable.value = np.zeros(2)
        with pytest.raises(ProblemError, match=said):
            iopt.verify(problem)


def test_a_problem_with_cones_is_solved_as_well() -> None:
    expression, rows, value = problems_with_cones()["second-order"]
    problem = cp.Problem(cp.Minimize(expression), rows)
    result = iopt.solve(problem)
    assert_proved(result.certificate, value)
    assert problem.variables()[0].value == pytest.approx(-np.sqrt(2.0) * np.ones(2), rel=1e-5)
    with pytest.raises(iopt.IndefiniteOptError, match="no rule for cones"):
        result.certificate.save("proof.json")


def test_what_is_proved_of_a_solution_is_saved_as_a_proof(tmp_path: Path) -> None:
    """Linear and convex programs without a finite box, too; bounds of 8 and of ½ + 1."""
    arguments: dict[str, Any] = {"c": [1.0, 2.0], "A_ub": [[-1.0, -1.0]], "b_ub": [-8.0]}
    linear = iopt.verify(iopt.QuadraticProgram.from_linprog(**arguments), linprog(**arguments))
    x = cp.Variable(2, name="x")
    nearest = cp.Problem(cp.Maximize(-0.5 * cp.sum_squares(x) - 1.0), [cp.sum(x) >= 2, x[0] <= 1])
    nearest.solve(solver=cp.CLARABEL)
    x.value = np.ones(2)
    for certificate, kind, bound in (
        (linear, "linear", 8.0),
        (iopt.verify(nearest), "convex", -2.0),
    ):
        assert certificate.claim is iopt.Claim.GLOBAL
        document = json.loads(certificate.save(tmp_path / "proof.json").read_text())
        assert document["kind"] == kind
        assert proof_checker.check(document)[0] == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize("n", [15, 30])
def test_a_vertex_of_free_variables_has_a_proof(n: int, tmp_path: Path) -> None:
    """min qᵀx, Ax ≤ b with q = -Aᵀu, u ≥ 0: the optimum is -uᵀb, and all reduced costs are 0."""
    g = np.random.default_rng(n)
    rows, x, u = g.integers(-9, 10, (n, n)) + 20.0 * np.eye(n), g.integers(-9, 10, n), g.random(n)
    qp = iopt.QuadraticProgram(q=-rows.T @ u, G=rows, h=rows @ x)
    document = json.loads(iopt.verify(qp, x).save(tmp_path / "proof.json").read_text())
    assert proof_checker.check(document)[0] == pytest.approx(-u @ rows @ x, rel=1e-12)


def test_multipliers_that_pull_no_column_are_no_error(tmp_path: Path) -> None:
    """min 3x over 2x ≤ 2, -2x ≤ 3, x ≤ 4: the optimum is -4.5."""
    qp = iopt.QuadraticProgram(q=[3.0], G=[[2.0], [-2.0]], h=[2.0, 3.0], ub=4.0)
    certificate = iopt.verify(qp, [-1.5 + 1e-10])
    document = json.loads(certificate.save(tmp_path / "proof.json").read_text())
    assert proof_checker.check(document)[0] == pytest.approx(-4.5, rel=1e-12)


def test_what_a_search_proves_of_a_point_is_saved(tmp_path: Path) -> None:
    """min x² - 2x - y² + y over [-1, 1]² is -3 at (1, -1); the bound is saved with any point."""
    qp = iopt.QuadraticProgram([[2.0, 0.0], [0.0, -2.0]], [-2.0, 1.0], lb=-1.0, ub=1.0)
    for certificate in (iopt.verify(qp, point, bound=True) for point in ([1.0, -1.0], [0.0, 0.0])):
        document = json.loads(certificate.save(tmp_path / "proof.json").read_text())
        assert proof_checker.check(document)[0] == pytest.approx(-3.0, abs=1e-5)
        again = pickle.loads(pickle.dumps(certificate))
        assert (
            again.save(tmp_path / "again.json").read_text()
            == json.dumps(document, separators=(",", ":")) + "\n"
        )


def test_marginals_of_rows_without_a_side_are_left_out() -> None:
    """linprog keeps rows whose sides are 1e20 or more, which are infinite here."""
    arguments: dict[str, Any] = {
        "c": [-3.0, -1.0],
        "A_ub": [[1.0, 0.0], [1.0, 2.0]],
        "b_ub": [1e30, 4.0],
    }
    result = linprog(**arguments)
    assert_proved(iopt.verify(iopt.QuadraticProgram.from_linprog(**arguments), result), -12.0)


def test_the_row_that_is_named_does_not_depend_on_units() -> None:
    """x₀ ≤ 1 is missed by 1e-7, in a row of 1e9 by 100, and x₁ ≥ 1 by 0.01."""
    for unit in (1.0, 1e9):
        qp = iopt.QuadraticProgram(q=[1.0, 1.0], G=[[unit, 0.0], [0.0, -1.0]], h=[unit, -1.0], lb=0)
        told = iopt.verify(qp, [1.0 + 1e-7, 0.99]).reasons[0]
        assert told.startswith("The constraint 'inequalities' is violated by 0.01 in row 1 of G")


def test_reasons_name_no_dual_values_where_there_are_none() -> None:
    x = cp.Variable(2, name="x")
    x.value = np.zeros(2)
    certificate = iopt.verify(cp.Problem(cp.Minimize(cp.sum_squares(x - 1.0))))
    told = " ".join(certificate.reasons)
    assert certificate.claim is iopt.Claim.FEASIBLE
    assert "dual values" not in told
    assert "With atol" not in told  # the point is far from the optimum
    longer = cp.Problem(cp.Minimize(cp.norm(x)), [x[0] >= 1])
    longer.solve(solver=cp.CLARABEL)
    x.value = np.array([2.0, 1.0])  # newer than the dual values; the optimum is 1
    told = " ".join(iopt.verify(longer).reasons)
    assert "The dual values miss the first-order conditions by" in told
    assert "meets the objective" not in told


def test_a_cone_program_whose_optimum_is_0_says_with_which_atol_it_is_proved() -> None:
    x = cp.Variable(3, name="x")
    problem = cp.Problem(cp.Maximize(cp.sum(cp.log(x))), [cp.sum(x) <= 3])
    problem.solve(solver=cp.CLARABEL)
    x.value = np.full(3, 1.0 - 1e-9)
    told = " ".join(iopt.verify(problem).reasons)
    assert "The dual values miss" not in told  # by more than tol
    found = re.search(r"With atol (\S+) the claim is GLOBAL\.", told)
    assert found is not None
    assert iopt.verify(problem, atol=float(found[1])).claim is iopt.Claim.GLOBAL


def test_sets_of_values_are_refused() -> None:
    x = cp.Variable(name="x")
    x.value = 1.0
    problem = cp.Problem(cp.Minimize(x), [cp.FiniteSet(x, [1, 2, 4])])
    with pytest.raises(ProblemError, match="expected variables of real numbers in intervals"):
        iopt.verify(problem)


def test_multipliers_of_another_length_are_refused() -> None:
    problem = SimpleNamespace(P=np.eye(2), q=np.ones(2), G=[[1.0, 1.0]], h=[1.0], lb=[-2.0, -2.0])
    solution = SimpleNamespace(
        problem=problem, x=-np.ones(2), y=None, z=np.zeros(1), z_box=np.zeros(2), found=True
    )
    assert iopt.verify(solution).claim is iopt.Claim.GLOBAL
    solution.z = np.zeros(3)
    with pytest.raises(ProblemError, match="inequalities: expected 1 multipliers, got 3"):
        iopt.verify(solution)
    solution.z, solution.z_box = np.zeros(1), np.zeros(1)
    with pytest.raises(ProblemError, match="z_box: expected 2 multipliers, got 1"):
        iopt.verify(solution)


# ------------------------------------------------------------------------ support vector machines


def points(classes: int) -> tuple[Array, Array]:
    g = np.random.default_rng(classes)
    X = g.standard_normal((30, 2))
    K = np.exp(-np.sum((X[:, None] - X) ** 2, axis=-1))
    ends = np.quantile(X[:, 0] + 0.3 * X[:, 1], np.arange(1, classes) / classes)
    return K, np.digitize(X[:, 0] + 0.3 * X[:, 1], ends)


MACHINES: dict[str, tuple[Any, Any, str]] = {
    "SVC": (SVC(C=2.0, tol=1e-9), iopt.SVMDual(C=2.0), "classification"),
    "NuSVC": (NuSVC(nu=0.3, tol=1e-9), iopt.NuSVM(nu=0.3), "classification"),
    "SVR": (SVR(C=2.0, epsilon=0.2, tol=1e-9), iopt.EpsilonSVR(C=2.0, epsilon=0.2), "regression"),
    "NuSVR": (NuSVR(C=0.1, nu=0.4, tol=1e-9), iopt.NuSVR(C=3.0, nu=0.4), "regression"),
    "OneClassSVM": (OneClassSVM(nu=0.3, tol=1e-9), iopt.OneClassSVM(nu=0.3), "one class"),
}


@pytest.mark.parametrize("name", MACHINES)
def test_machines_of_scikit_learn(name: str) -> None:
    machine, formulation, task = MACHINES[name]
    K, y = points(2)
    target = {"regression": np.sin(3.0 * K[0]), "one class": None}.get(task, y)
    fitted = machine.set_params(kernel="precomputed").fit(K, target)
    problem = iopt.KernelProblem(K, target, task=task)
    certificate = iopt.verify(problem, formulation, fitted)
    assert certificate.claim is iopt.Claim.GLOBAL
    ours = iopt.solve(problem, formulation)
    assert certificate.objective == pytest.approx(ours.objective, rel=1e-6)
    with pytest.raises(ProblemError, match="which LIBSVM solves"):
        iopt.verify(problem, "UniformWeights", fitted)


@pytest.mark.parametrize("name", ["SVC", "NuSVC"])
def test_machines_of_several_classes_have_a_certificate_for_each_pair(name: str) -> None:
    machine, formulation, _ = MACHINES[name]
    K, y = points(4)
    names = np.array(["d", "a", "c", "b"])[y]
    fitted = machine.set_params(kernel="precomputed").fit(K, names)
    problem = iopt.KernelProblem(K, names)
    found: Any = iopt.verify(problem, formulation, fitted)
    ours = iopt.solve(problem, formulation)
    assert list(found) == list(ours)
    for pair, certificate in found.items():
        assert certificate.claim is iopt.Claim.GLOBAL, pair
        assert certificate.objective == pytest.approx(ours[pair].objective, rel=1e-6)
    fitted.dual_coef_[:, 0] *= 0.5
    first: Any = iopt.verify(problem, formulation, fitted)
    assert min(each.claim for each in first.values()) < iopt.Claim.GLOBAL


def test_a_model_of_libsvm() -> None:
    """LIBSVM's own order of classes is that in which they appear; its signs follow that order."""
    K, y = points(3)
    labels = np.array([5, 2, 9])[y]
    fitted = SVC(C=2.0, kernel="precomputed", tol=1e-9).fit(K, labels)
    order = list(dict.fromkeys(labels.tolist()))
    known = fitted.classes_.tolist()
    places = np.concatenate([fitted.support_[labels[fitted.support_] == one] for one in order])
    coef = np.zeros((2, places.size))
    for i, one in enumerate(order):
        for j, other in enumerate(order):
            if i == j:
                continue
            a, b = known.index(one), known.index(other)
            row = b - 1 if b > a else b
            mine = labels[places] == one
            at = [list(fitted.support_).index(k) for k in places[mine]]
            signs = 1.0 if (a < b) == (i < j) else -1.0
            coef[j - 1 if j > i else j, mine] = signs * fitted.dual_coef_[row, at]
    model = SimpleNamespace(
        get_sv_coef=lambda: [tuple(column) for column in coef.T], get_svm_type=lambda: 0,
        get_sv_indices=lambda: [int(k) + 1 for k in places], get_labels=lambda: order,
    )  # fmt: skip
    found: Any = iopt.verify(iopt.KernelProblem(K, labels), iopt.SVMDual(C=2.0), model)
    assert [one.claim.name for one in found.values()] == ["GLOBAL"] * 3


def test_a_machine_of_other_points_is_refused() -> None:
    K, y = points(2)
    fitted = SVC(kernel="precomputed").fit(K, y)
    with pytest.raises(ProblemError, match="a machine fitted to the 10 points"):
        iopt.verify(iopt.KernelProblem(K[:10, :10], y[:10]), iopt.SVMDual(), fitted)
    with pytest.raises(ProblemError, match="a machine of the classes"):
        iopt.verify(iopt.KernelProblem(K, y + 1), iopt.SVMDual(), fitted)


@pytest.mark.parametrize(
    ("rows", "duals", "told"),
    [
        (lambda x: [0 * x <= 0], [-2.0], "must be nonnegative; that of constraints[0][0] is -2"),
        (
            lambda x: [0 * x <= 4],
            [3.0],
            "must be 0 where there is slack; that of constraints[0][0] is 3",
        ),
        (lambda x: [0 * x <= 0], [2.0], ""),
        (
            lambda x: [x >= 1, x >= -5],
            [2.0, -7.0],
            "must be nonnegative; that of constraints[1][0] is -7",
        ),
        (lambda x: [x >= 1, x >= -5], [2.0, 7.0], "must be 0 where there is slack"),
        (lambda x: [x >= 1, x >= -5], [2.0, 0.0], ""),
        (lambda x: [x >= 1, x <= np.inf], [2.0, 1.0], "must be 0 where there is slack"),
        (lambda x: [x >= 1, cp.maximum(x, -x) <= 7], [2.0, 0.0], ""),
    ],
)
def test_dual_values_of_what_the_program_does_not_need_are_read(
    rows: Any, duals: list[float], told: str
) -> None:
    """x² has its minimum at 0, and at 1 with x ≥ 1, where the multiplier is 2."""
    x = cp.Variable(1, name="x")
    constraints = rows(x)
    x.value = np.array([len(constraints) - 1.0])
    for constraint, dual in zip(constraints, duals, strict=True):
        constraint.dual_variables[0].save_value(np.array([dual]))
    certificate = iopt.verify(cp.Problem(cp.Minimize(cp.sum_squares(x)), constraints))
    assert certificate.claim is iopt.Claim.GLOBAL
    assert certificate.objective == len(constraints) - 1.0
    blamed = [reason for reason in certificate.reasons if "dual values" in reason]
    assert len(blamed) == bool(told)
    assert not told or told in blamed[0]
