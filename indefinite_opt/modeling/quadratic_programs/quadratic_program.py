"""Any quadratic program: a problem and its formulation in one."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from indefinite_opt.errors import IncompatibleSolver, InfeasibleProblem, ProblemError
from indefinite_opt.foundation import Array, Values, finite_array, real_array
from indefinite_opt.modeling.classifier import Classifier
from indefinite_opt.modeling.formulation import Formulation
from indefinite_opt.modeling.program import Model, constants
from indefinite_opt.modeling.quadratic_programs.polyhedral_qp import PolyhedralQP
from indefinite_opt.modeling.quadratic_programs.polyhedron import Polyhedron
from indefinite_opt.problem import Problem

__all__ = ["QuadraticProgram"]

_SYMMETRY_SHARE = 1e-12
"""Largest |P_ij - P_ji|, as a share of the largest entry, that is not worth a note."""

_MEANINGS = {
    "x": "variables",
    "P": "matrix of the quadratic term, of any inertia",
    "q": "linear term",
    "constant": "constant of the objective",
    "G": "rows of the inequalities",
    "h": "right-hand sides of the inequalities",
    "A": "rows of the equations",
    "b": "right-hand sides of the equations",
    "lb": "lower bounds",
    "ub": "upper bounds",
}


class QuadraticProgram(Formulation, Problem):
    r"""Any quadratic program, convex or not, in the letters and the order of qpsolvers.

    .. math:: \min_x\ \tfrac12 x^\top P x + q^\top x
              \quad\text{s.t.}\quad Gx \le h,\ Ax = b,\ lb \le x \le ub

    Parameters
    ----------
    P : (n, n) array_like or sparse matrix
        Of any inertia. If it is not symmetric it is replaced by (P + Pᵀ)/2, which has the same
        xᵀPx, and the certificate says so.
    q : (n,) array_like, optional
        Zero by default.
    G, h : (m, n), (m,) array_like, optional
        Inequality rows; G may be sparse.
    A, b : (k, n), (k,) array_like, optional
        Equality rows; A may be sparse.
    lb, ub : float or (n,) array_like, optional
        Bounds, which may be infinite; a number holds for every variable. None by default.
    name : str
        What to call the program in reports.
    sense : {1, -1}
        The declared objective is sense · (½xᵀPx + qᵀx + constant); -1 for a program that was read
        as a maximisation.
    constant : float
        Added to the objective.

    Attributes
    ----------
    P, q, G, h, A, b, lb, ub : arrays
        Copies, read-only.
    notes : tuple of str
        What was changed when the program was read, as sentences.

    Raises
    ------
    ProblemError
        For arrays of other shapes, or with entries that are not numbers.
    InfeasibleProblem
        If a lower bound is above its upper bound; when the program is solved or bounded, if no
        point satisfies all constraints.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> qp = iopt.QuadraticProgram([[0.0, 2.0], [2.0, 0.0]], [-1.0, 0.0], lb=-1.0, ub=1.0)
    >>> print(qp.declare())
    QuadraticProgram(2 variables)
      minimize    ½ xᵀPx + qᵀx
      subject to  lb ≤ x ≤ ub  (lower, upper)
    >>> result = iopt.solve(qp, solver="global")
    >>> result.values["x"], result.objective, result.certificate.claim.name
    (array([ 1., -1.]), -3.0, 'GLOBAL')
    """

    reference: ClassVar[str] = "the letters of qpsolvers"
    structure_type: ClassVar[type] = PolyhedralQP
    convex: ClassVar[bool | None] = None

    def __init__(
        self,
        P: Any,
        q: ArrayLike | None = None,
        G: Any = None,
        h: ArrayLike | None = None,
        A: Any = None,
        b: ArrayLike | None = None,
        lb: ArrayLike | None = None,
        ub: ArrayLike | None = None,
        *,
        name: str = "quadratic program",
        sense: int = 1,
        constant: float = 0.0,
    ) -> None:
        self.name, self.sense, self.constant = name, sense, float(constant)
        self.P, self.notes = _symmetric(P)
        n = len(self.P)
        self.q = np.zeros(n) if q is None else finite_array("q", q, (n,)).copy()
        self.G, self.h = _rows("G", G, "h", h, n)
        self.A, self.b = _rows("A", A, "b", b, n)
        self.lb, self.ub = _bound("lb", lb, -np.inf, n), _bound("ub", ub, np.inf, n)
        crossed = np.flatnonzero(self.lb > self.ub)
        if crossed.size:
            i = int(crossed[0])
            raise InfeasibleProblem(
                "lb", f"at most ub[{i}] = {self.ub[i]:g} at {i}", f"{self.lb[i]:g}"
            )
        for array in (self.P, self.q, self.G, self.h, self.A, self.b, self.lb, self.ub):
            array.flags.writeable = False

    @property
    def n(self) -> int:
        """Number of variables."""
        return self.q.size

    def check_unchanged(self) -> None:
        """Nothing to check, because the arrays are copies that cannot be written to."""

    def __repr__(self) -> str:
        return f"QuadraticProgram({self.name!r}, n={self.n}, rows={self.h.size + self.b.size})"

    def __str__(self) -> str:
        rows = self.h.size + self.b.size
        parts = [_count(self.n, "variable")] + [_count(rows, "row")] * bool(rows)
        return f"QuadraticProgram({', '.join(parts)})"

    def parameters(self) -> dict[str, str]:
        return {}

    def model(self, problem: object = None) -> Model:
        import cvxpy as cp

        x = cp.Variable(self.n, name="x")
        P, q, G, h, A, b = constants(P=self.P, q=self.q, G=self.G, h=self.h, A=self.A, b=self.b)
        objective: Any = 0.5 * cp.quad_form(x, P, assume_PSD=True)
        if self.q.any():
            objective = objective + q @ x
        if self.constant:
            objective = objective + constants(constant=self.constant)[0]
        rows: dict[str, Any] = {}
        if self.h.size:
            rows["inequalities"] = G @ x <= h
        if self.b.size:
            rows["equalities"] = A @ x == b
        for name, end, sign in (("lower", self.lb, 1), ("upper", self.ub, -1)):
            held = np.flatnonzero(np.isfinite(end))
            if held.size:
                (bound,) = constants(**{"lb" if sign > 0 else "ub": end[held]})
                part = x if held.size == self.n else x[held]
                rows[name] = part >= bound if sign > 0 else part <= bound
        if self.sense < 0:
            return Model(maximize=-objective, subject_to=rows, meanings=_MEANINGS)
        return Model(minimize=objective, subject_to=rows, meanings=_MEANINGS)

    def declare(self, problem: object = None) -> Any:
        """The program as mathematics."""
        return self.model().program(str(self), self.structure())

    def structure(self, problem: object = None) -> PolyhedralQP:
        return self._structure

    @cached_property
    def _structure(self) -> PolyhedralQP:
        body = Polyhedron(self.G, self.h, self.A, self.b, self.lb, self.ub)
        _ = body.point
        return PolyhedralQP(self.P, self.q, body, self.sense, self.constant, self.notes)

    def classifier(self, problem: object, values: Values) -> Classifier:
        raise IncompatibleSolver("a quadratic program defines no classifier")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _dense(value: Any) -> Any:
    """A sparse matrix as an array; anything else as it is."""
    return value.toarray() if hasattr(value, "toarray") else value


def _symmetric(P: Any) -> tuple[Array, tuple[str, ...]]:
    """P as a symmetric array, and a note if that changed it."""
    expected = "a square matrix of finite numbers, of order 1 at least"
    matrix: Array = real_array("P", _dense(P), expected, (None, None))
    if matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ProblemError("P", expected, f"shape {matrix.shape}")
    if np.array_equal(matrix, matrix.T):
        return np.array(matrix, order="C"), ()
    half = 0.5 * matrix
    difference = float(np.max(np.abs(half - half.T)))
    note = "P was not symmetric and was replaced by (P + Pᵀ)/2, which has the same xᵀPx."
    noted = difference > _SYMMETRY_SHARE * float(np.max(np.abs(half)))
    return half + half.T, (note,) if noted else ()


def _rows(name: str, matrix: Any, right: str, rhs: ArrayLike | None, n: int) -> tuple[Array, Array]:
    """Rows and right-hand sides, none if both are None."""
    if matrix is None and rhs is None:
        return np.zeros((0, n)), np.zeros(0)
    if matrix is None or rhs is None:
        missing, other = (name, right) if matrix is None else (right, name)
        raise ProblemError(missing, f"an array, as {other} is given", "None")
    dense = np.atleast_2d(_dense(matrix)) if np.ndim(_dense(matrix)) == 1 else _dense(matrix)
    rows = np.array(finite_array(name, dense, (None, n)), order="C")
    return rows, finite_array(right, np.atleast_1d(np.asarray(rhs)), (len(rows),)).copy()


def _bound(name: str, value: ArrayLike | None, default: float, n: int) -> Array:
    """A bound for every variable; the side on which it may be infinite is that of `default`."""
    if value is None:
        return np.full(n, default)
    expected = f"a number or {n} numbers, none of them NaN or {-default:g}"
    ends: Array = real_array(name, value, expected, finite=False)
    ends = np.full(n, float(ends)) if ends.ndim == 0 else ends.copy()
    if ends.shape != (n,):
        raise ProblemError(name, expected, f"shape {ends.shape}")
    wrong = np.isnan(ends) | (ends == -default)
    if wrong.any():
        i = int(np.flatnonzero(wrong)[0])
        raise ProblemError(name, expected, f"{ends[i]} at {i}")
    return ends
