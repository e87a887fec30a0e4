"""Objects like those of solvers, with chosen points and multipliers in the signs of each."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import cvxpy as cp
import numpy as np
from optimal_by_design import Cone, Designed
from scipy import sparse
from scipy.optimize import OptimizeResult

import indefinite_opt as iopt

__all__ = ["JUDGED", "OBJECTS", "Multipliers", "as_given", "cvxpy_problem"]

Array = np.ndarray
Multipliers = dict[str, Array]
"""z, y, low, high, and Z of a cone, of the minimisation form."""


def as_given(drawn: Designed, x: Array, found: Multipliers | None) -> Any:
    """Arrays, as this package takes them."""
    qp = iopt.QuadraticProgram(
        drawn.P, drawn.q, drawn.G, drawn.h, drawn.A, drawn.b, drawn.lower, drawn.upper,
        constant=drawn.constant,
    )  # fmt: skip
    if found is None:
        return iopt.verify(qp, x)
    names = {"inequalities": "z", "equalities": "y", "lower": "low", "upper": "high"}
    sizes = {"z": drawn.h.size, "y": drawn.b.size, "low": drawn.n, "high": drawn.n}
    given = {name: found[own] for name, own in names.items() if sizes[own]}
    return iopt.verify(qp, x, multipliers=given)


def qpsolvers_solution(drawn: Designed, x: Array, found: Multipliers | None) -> Any:
    """z ≥ 0, and z_box negative at lower bounds; no constant."""
    problem = SimpleNamespace(
        P=drawn.P, q=drawn.q, G=drawn.G, h=drawn.h, A=drawn.A, b=drawn.b, lb=drawn.lower,
        ub=drawn.upper,
    )  # fmt: skip
    duals = {"z": None, "y": None, "z_box": None}
    if found is not None:
        duals = {"z": found["z"], "y": found["y"], "z_box": found["high"] - found["low"]}
    return iopt.verify(SimpleNamespace(problem=problem, x=x, found=True, obj=None, **duals))


def linprog_result(drawn: Designed, x: Array, found: Multipliers | None) -> Any:
    """Marginals are df/d(side): nonpositive for rows and upper bounds."""
    bounds = np.column_stack([drawn.lower, drawn.upper])
    rows = drawn.G, drawn.h, drawn.A, drawn.b
    qp = iopt.QuadraticProgram.from_linprog(drawn.q, *rows, bounds)
    result = OptimizeResult(x=x, success=True, message="chosen", fun=0.0)
    if found is not None:
        sides = {"ineqlin": -found["z"], "eqlin": -found["y"], "lower": found["low"]}
        sides["upper"] = -found["high"]
        for name, marginals in sides.items():
            result[name] = OptimizeResult(marginals=marginals, residual=np.zeros(marginals.size))
    return iopt.verify(qp, result)


def _duals(drawn: Designed, found: Multipliers, sense: int) -> tuple[Array, Array]:
    """df/d(side) of all rows, and reduced costs, of an objective with this sense."""
    rows = np.concatenate([-found["z"], -found["y"]])
    return sense * rows, sense * (found["low"] - found["high"])


def highs_model(sense: int) -> Callable[..., Any]:
    """A model with rows in ranges whose other side is far away, stored by columns."""

    def made(drawn: Designed, x: Array, found: Multipliers | None) -> Any:
        A = sparse.csc_array(np.vstack([drawn.G, drawn.A]))
        T = sparse.csc_array(sparse.tril(sense * drawn.P))
        ranged = np.arange(drawn.h.size) % 2 == 0
        lp = SimpleNamespace(
            num_col_=drawn.n, num_row_=A.shape[0], col_cost_=sense * drawn.q,
            col_lower_=drawn.lower, col_upper_=drawn.upper,
            row_lower_=np.concatenate([np.where(ranged, drawn.h - 1e4, -np.inf), drawn.b]),
            row_upper_=np.concatenate([drawn.h, drawn.b]),
            a_matrix_=SimpleNamespace(
                format_="MatrixFormat.kColwise", value_=A.data, index_=A.indices, start_=A.indptr
            ),
            offset_=sense * drawn.constant, integrality_=[], col_names_=[], row_names_=[],
            sense_="ObjSense.kMinimize" if sense > 0 else "ObjSense.kMaximize", model_name_="",
        )  # fmt: skip
        hessian = SimpleNamespace(
            dim_=drawn.n * bool(T.nnz), format_="HessianFormat.kTriangular", value_=T.data,
            index_=T.indices, start_=T.indptr,
        )  # fmt: skip
        duals = _duals(drawn, found, sense) if found is not None else ([], [])
        solution = SimpleNamespace(
            col_value=x, value_valid=True, dual_valid=found is not None, row_dual=duals[0],
            col_dual=duals[1],
        )  # fmt: skip
        return iopt.verify(SimpleNamespace(
            getModel=lambda: SimpleNamespace(lp_=lp, hessian_=hessian),
            getSolution=lambda: solution, getModelStatus=lambda: "HighsModelStatus.kOptimal",
        ))  # fmt: skip

    return made


class GurobiLike:
    """The attributes of a `gurobipy.Model` that has a solution; half of the rows are >= rows."""

    IsMIP = NumQConstrs = NumGenConstrs = NumSOS = NumPWLObjVars = 0
    NumObj = SolCount = 1
    Status = 2

    def __init__(self, drawn: Designed, x: Array, found: Multipliers | None, sense: int) -> None:
        turned = np.where(np.arange(drawn.h.size) % 2 == 0, 1.0, -1.0)
        signs = np.concatenate([turned, np.ones(drawn.b.size)])
        self._A = sparse.csr_array(signs[:, None] * np.vstack([drawn.G, drawn.A]))
        self._Q = sparse.csr_array(sense * 0.5 * drawn.P)
        self.IsQP, self.ModelSense, self.ObjCon = int(drawn.P.any()), sense, sense * drawn.constant
        self.X = x
        sides = ["<" if sign > 0 else ">" for sign in turned] + ["="] * drawn.b.size
        self._of = {
            "LB": drawn.lower, "UB": drawn.upper, "Obj": sense * drawn.q, "Sense": sides,
            "RHS": signs * np.concatenate([drawn.h, drawn.b]),
            "VarName": [f"x{j}" for j in range(drawn.n)],
            "ConstrName": [f"r{k}" for k in range(signs.size)],
        }  # fmt: skip
        if found is not None:
            pull, self.RC = _duals(drawn, found, sense)
            self.Pi = signs * pull

    def getVars(self) -> list[str]:
        return self._of["VarName"]

    def getConstrs(self) -> list[str]:
        return self._of["ConstrName"]

    def getAttr(self, name: str, of: list[str]) -> Any:
        return self._of[name]

    def getA(self) -> Any:
        return self._A

    def getQ(self) -> Any:
        return self._Q


def gurobi_model(sense: int) -> Callable[..., Any]:
    return lambda drawn, x, found: iopt.verify(GurobiLike(drawn, x, found, sense))


def cvxpy_problem(sense: int) -> Callable[..., Any]:
    """A problem of cvxpy whose variables and dual values are written by hand."""

    def made(drawn: Designed, x: Array, found: Multipliers | None) -> Any:
        v = cp.Variable(drawn.n, name="v")
        goal = drawn.q @ v + drawn.constant
        if drawn.P.any():
            goal = goal + 0.5 * cp.quad_form(v, drawn.P, assume_PSD=True)
        rows = [(v >= drawn.lower, "low"), (v <= drawn.upper, "high")]
        if drawn.h.size:
            rows.append((drawn.G @ v <= drawn.h, "z"))
        if drawn.b.size:
            rows.append((drawn.A @ v == drawn.b, "y"))
        if drawn.cone is not None:
            rows.append((_stated(drawn.cone, v), "Z"))
        objective = cp.Minimize(goal) if sense > 0 else cp.Maximize(-goal)
        problem = cp.Problem(objective, [row for row, _ in rows])
        v.value = x
        for row, name in rows if found is not None else []:
            parts = _parts(drawn.cone, found[name]) if name == "Z" else [found[name]]
            for dual, part in zip(row.dual_variables, parts, strict=True):
                dual.save_value(part)
        return iopt.verify(problem)

    return made


def _stated(cone: Cone, v: Any) -> Any:
    s = cone.R @ v + cone.r
    if cone.kind == "second-order":
        return cp.SOC(s[0], s[1:])
    if cone.kind == "semidefinite":
        return cp.reshape(s, (2, 2), order="F") >> 0
    if cone.kind == "power":
        return cp.PowCone3D(s[0], s[1], s[2], 0.5)
    return cp.ExpCone(s[0], s[1], s[2])


def _parts(cone: Cone | None, Z: Array) -> list[Array]:
    """The dual values of the arguments."""
    assert cone is not None
    if cone.kind == "second-order":
        return [Z[0], Z[1:]]
    if cone.kind == "semidefinite":
        return [Z.reshape(2, 2)]
    return list(Z)


OBJECTS: dict[str, Callable[..., Any]] = {
    "arrays": as_given,
    "qpsolvers": qpsolvers_solution,
    "linprog": linprog_result,
    "HiGHS, minimised": highs_model(1),
    "HiGHS, maximised": highs_model(-1),
    "Gurobi, minimised": gurobi_model(1),
    "Gurobi, maximised": gurobi_model(-1),
    "cvxpy, minimised": cvxpy_problem(1),
    "cvxpy, maximised": cvxpy_problem(-1),
}

JUDGED = frozenset(OBJECTS) - {"cvxpy, minimised", "cvxpy, maximised"}
"""Those whose multipliers the claim is about, too."""
