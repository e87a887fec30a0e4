"""What is written with the atoms of this package, as objects of cvxpy."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from indefinite_opt.algebra.atoms import (
    OPERATIONS,
    Constant,
    Constraint,
    Dual,
    Expression,
    Variable,
    is_positive_part,
)
from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import EPS, is_sparse


class Translation:
    """Expressions and constraints as objects of cvxpy; every variable is made once.

    What was converted from cvxpy is the object that it was, and one of cvxpy stays as it is. With
    `marks_psd` matrices that are positive semidefinite up to rounding are so for cvxpy, too, which
    cannot decide on some of them. In rows their forms are `factored`, xᵀPx = ‖Fx‖²: the factors
    that cvxpy computes itself leave out small pivots, which may change a row by a share of 10⁻⁴.
    """

    def __init__(self, marks_psd: bool = False) -> None:
        self.marks_psd, self.factored = marks_psd, False
        self._made: dict[tuple[int, bool], tuple[Any, Any]] = {}

    def __call__(self, part: Any) -> Any:
        if not isinstance(part, Expression | Constraint):
            return part
        if part.origin is not None:
            return self._marked(part.origin) if self.marks_psd else part.origin
        key = self._key(part)
        if key not in self._made:
            # The part itself is kept, so that no other one gets its id.
            self._made[key] = part, self._translated(part)
        return self._made[key][1]

    def _key(self, part: Any) -> tuple[int, bool]:
        """What an object is known by; a form of objective and row is made for each of them."""
        return id(part), self.factored and bool(part.args)

    def _translated(self, part: Expression | Constraint) -> Any:
        import cvxpy as cp

        if isinstance(part, Variable):
            return cp.Variable(part.shape, name=part.name(), PSD=part.attributes["PSD"])
        if isinstance(part, Constant):
            return cp.Constant(np.asarray(part.value), name=part._name)
        if isinstance(part, Dual):
            raise part.misplaced()
        args = [self(arg) for arg in part.args]
        if isinstance(part, Constraint):
            left, *right = args
            if part.kind == "PSD":
                return left >> 0
            return left <= right[0] if part.kind == "Inequality" else left == right[0]
        if part.kind in OPERATIONS:
            return OPERATIONS[part.kind](part, *args)
        make: dict[str, Callable[..., Any]] = {
            "multiply": cp.multiply,
            "Promote": lambda x: cp.promote(x, part.shape),
            "Sum": cp.sum,
            "QuadForm": self._form,
            "quad_over_lin": lambda x, _: cp.sum_squares(x),
            "Power": cp.square,
            "abs": cp.abs,
            "norm1": cp.norm1,
            "norm_inf": cp.norm_inf,
            "max": cp.max,
            "maximum": cp.pos if is_positive_part(part) else cp.maximum,
            "huber": lambda x: cp.huber(x, self(part.key[0])),
            # cvxpy fails on the sum of as many as there are.
            "sum_largest": lambda x: (
                cp.sum(x) if part.key[0] >= x.size else cp.sum_largest(x, part.key[0])
            ),
            "logistic": cp.logistic,
        }
        return make[part.kind](*(args[:1] if is_positive_part(part) else args))

    def _marked(self, origin: Any) -> Any:
        """An object of cvxpy with forms that it need not decide on; the same one if it has none."""
        import cvxpy as cp

        key = self._key(origin)
        if key in self._made:
            return self._made[key][1]
        args = list(map(self._marked, origin.args))
        made = origin
        if any(new is not old for new, old in zip(args, origin.args, strict=True)):
            made = origin.copy(args)
        if isinstance(origin, cp.QuadForm) and origin.args[1].is_constant():
            P = origin.args[1]
            if P.value is not None and _is_psd(P.value):
                made = self._of_psd(args[0], P)
        self._made[key] = origin, made
        return made

    def _form(self, x: Any, P: Any) -> Any:
        import cvxpy as cp

        form = _symmetric(P)
        if self.marks_psd and _is_psd(getattr(form, "value", form)):
            return self._of_psd(x, form)
        return cp.quad_form(x, form)

    def _of_psd(self, x: Any, P: Any) -> Any:
        import cvxpy as cp

        if not self.factored:
            return cp.quad_form(x, cp.psd_wrap(P))
        return cp.sum_squares(psd_factor(getattr(P, "value", P)) @ x)


def solve_quietly(problem: Any, solver: str, options: Mapping[str, Any]) -> None:
    """Solve a `cvxpy.Problem`, without the warning that a solution may be inaccurate.

    Raises
    ------
    cvxpy.SolverError
        If the solver fails; Clarabel, which is written in Rust, may end in a panic.
    """
    import cvxpy as cp

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem.solve(solver=solver, **options)
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # of no module that can be imported
            raise cp.SolverError(f"{solver} failed: {error}") from None
        raise


def psd_factor(P: Any) -> Any:
    """F with FᵀF = P for a symmetric P that is positive semidefinite up to rounding."""
    P = np.asarray(P.toarray() if is_sparse(P) else P, dtype=float)
    values, vectors = np.linalg.eigh(P)
    kept = values > len(P) * EPS * max(float(values[-1]), 0.0)
    if not kept.any():
        return np.zeros((1, len(P)))
    return np.sqrt(values[kept])[:, None] * vectors[:, kept].T


_PSD_SHARE = 10.0
"""Multiples of n ε ‖P‖ up to which negative eigenvalues of P count as rounding."""


def _is_psd(P: Any) -> bool:
    """Whether a symmetric matrix is positive semidefinite up to rounding."""
    P = np.asarray(P.toarray() if is_sparse(P) else P, dtype=float)
    size = float(np.abs(P).sum(axis=1).max(initial=0.0))  # at least the largest |eigenvalue|
    if size == 0.0:
        return True
    try:
        np.linalg.cholesky(P / size + _PSD_SHARE * len(P) * EPS * np.eye(len(P)))
    except np.linalg.LinAlgError:
        return False
    return True


def _symmetric(P: Any) -> Any:
    """A matrix of cvxpy as `quad_form` takes it: its symmetric part, if it is not symmetric."""
    return P if P.is_symmetric() else 0.5 * (P.value + P.value.T)


def cvxpy_problem(
    sense: str, objective: Any, subject_to: Mapping[str, Any], translated: Translation
) -> Any:
    """The `cvxpy.Problem` with named constraints, which have their names as labels."""
    import cvxpy as cp

    goal = cp.Minimize(objective) if sense == "minimize" else cp.Maximize(objective)
    constraints: list[Any] = []
    for name, declared in subject_to.items():
        one = translated(declared)
        known = any(one is another for another in constraints)
        if known and declared.kind not in ("Equality", "Inequality"):
            raise ProblemError(name, "a cone under one name", str(one))
        # One with two names has two multipliers.
        constraints.append(type(one)(*one.args) if known else one)
    for name, constraint in zip(subject_to, constraints, strict=True):
        constraint.set_label(name)
    return cp.Problem(goal, constraints)
