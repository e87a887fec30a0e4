"""Programs from problems of cvxpy, whose own path to solvers refuses what is not convex.

The objective is taken apart at its quadratic atoms. Each of them is vec(u)ᵀ W vec(v) with affine u
and v: of quad_form(u, P), W = P; of sum_squares(u), square(u) and a product u v, W holds the sums
over entries. With a new variable in place of every such atom, the objective is affine. Coefficients
of affine expressions are those of the equations that set them to 0, which cvxpy gives as a matrix.
Nothing is computed but sums and products of the data, so that integers stay exact.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import Array
from indefinite_opt.quadratic.program.arrays import QuadraticArrays
from indefinite_opt.quadratic.program.standard_form import StandardForm


def program_of_cvxpy(problem: Any) -> tuple[QuadraticArrays, Callable[[Array], None]]:
    """The quadratic program of a cvxpy problem, convex or not, and what assigns a point to it.

    The variables are stacked in the order of `problem.variables()`, each column by column. The
    objective may be any sum of affine expressions and multiples of `quad_form`, `sum_squares`,
    `square`, `quad_over_lin` and products of two affine expressions; the constraints are affine
    equations and inequalities. An inequality in one variable becomes a bound. Parameters count with
    their present values. `ProblemError` names what is neither.
    >>> import cvxpy as cp
    >>> x = cp.Variable(2, name="x")
    >>> objective = cp.Minimize(x[0] * x[1] - 3 * x[0])
    >>> problem = cp.Problem(objective, [x >= 0, x <= 2, cp.sum(x) == 2])
    >>> program, assign = program_of_cvxpy(problem)
    >>> program.P.tolist(), program.q.tolist(), program.ub.tolist()
    ([[0.0, 1.0], [1.0, 0.0]], [-3.0, 0.0], [2.0, 2.0])
    >>> assign(np.array([2.0, 0.0]))
    >>> x.value
    array([2., 0.])
    """
    import cvxpy as cp

    if not isinstance(problem, cp.Problem):
        raise ProblemError("problem", "a cvxpy.Problem", f"one of type {type(problem).__name__}")
    variables = problem.variables()
    if not variables:
        raise ProblemError("problem", "a problem with variables", "none")
    reader = _CvxpyReader(variables)
    sense = -1 if isinstance(problem.objective, cp.Maximize) else 1
    try:
        P, q, constant = reader.quadratic(problem.objective.expr)
        reader.constrain(problem.constraints)
    except RecursionError:
        raise ProblemError(
            "problem", "expressions that are less deeply nested",
            "more than Python's limit of recursion", "Use cp.sum for long sums.",
        ) from None  # fmt: skip
    rows, low, high, names = zip(*reader.rows, strict=True) if reader.rows else ((), (), (), ())
    form = StandardForm(
        sense, sense * q, reader.lower, reader.upper, np.array(low), np.array(high),
        np.reshape(rows, (len(rows), reader.n)), sense * P, sense * constant,
        variables=reader.names(), row_names=names,
    )  # fmt: skip
    return form.arrays(), reader.assign


Atom = tuple[Any, Any, Callable[[Array], Any]]
"""u, v, and W as a function of weights, of the weighted entries of a quadratic atom,
vec(u)ᵀ W vec(v)."""


class _CvxpyReader:
    """Coefficients of expressions in the stacked entries of the variables.

    Expressions are rebuilt with plain variables, which have no attributes, and with numbers in
    place of parameters, so that nothing of the problem itself changes.
    """

    def __init__(self, variables: list[Any]) -> None:
        import cvxpy as cp

        self._variables = variables
        self._plain = {variable.id: cp.Variable(variable.shape) for variable in variables}
        sizes = [variable.size for variable in variables]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        self.n = int(starts[-1])
        self._slices = [slice(*ends) for ends in itertools.pairwise(starts)]
        self.lower, self.upper = np.full(self.n, -np.inf), np.full(self.n, np.inf)
        self.rows: list[tuple[Array, float, float, str]] = []
        """Coefficients, both sides and the name of each row."""
        for variable, part in zip(variables, self._slices, strict=True):
            self._bound(variable, part)

    def _bound(self, variable: Any, part: slice) -> None:
        """Take over bounds among a variable's attributes; refuse any other attribute.

        cvxpy, too, takes pos and neg for nonneg and nonpos.
        """
        attributes = variable.attributes
        for name, value in attributes.items():
            bounds = name in ("nonneg", "nonpos", "pos", "neg", "bounds")
            if not bounds and value is not None and np.any(value):
                raise ProblemError(
                    variable.name(), "a continuous variable with no attributes but bounds",
                    f"the attribute {name}",
                )  # fmt: skip
        if attributes["nonneg"] or attributes["pos"]:
            self.lower[part] = 0.0
        if attributes["nonpos"] or attributes["neg"]:
            self.upper[part] = 0.0
        if attributes["bounds"] is not None:
            lower, upper = (self._values(bound, variable) for bound in attributes["bounds"])
            self.lower[part] = np.maximum(self.lower[part], lower)
            self.upper[part] = np.minimum(self.upper[part], upper)

    def _values(self, bound: Any, variable: Any) -> Array:
        if hasattr(bound, "parameters"):
            bound = self._rebuilt(bound).value
        dense = bound.toarray() if sparse.issparse(bound) else np.asarray(bound, dtype=float)
        return np.broadcast_to(dense, variable.shape).ravel(order="F")

    def names(self) -> tuple[str, ...]:
        """A name for each entry of each variable: x, y[0], Z[1, 2].

        Where variables share a name, all have those that cvxpy gives to variables without one.
        """
        names = [variable.name() for variable in self._variables]
        if len(set(names)) < len(names):
            names = [f"var{variable.id}" for variable in self._variables]
        return tuple(
            _place(name, place)
            for name, variable in zip(names, self._variables, strict=True)
            for place in np.ndindex(*reversed(variable.shape))
        )

    def assign(self, x: Array) -> None:
        """Write a point into the variables of the problem, whatever their attributes."""
        for variable, part in zip(self._variables, self._slices, strict=True):
            variable.save_value(np.reshape(x[part], variable.shape, order="F"))

    def _rebuilt(self, expression: Any) -> Any:
        """The expression of plain variables and numbers."""
        import cvxpy as cp

        if isinstance(expression, cp.Variable):
            return self._plain[expression.id]
        if isinstance(expression, cp.Parameter):
            if expression.value is None:
                raise ProblemError(expression.name(), "a parameter with a value", "none")
            return cp.Constant(expression.value)
        if not expression.args:
            return expression
        return expression.copy([self._rebuilt(argument) for argument in expression.args])

    def _coefficients(self, expressions: list[Any], *others: Any) -> tuple[Any, Array]:
        """A and c of affine expressions A x + c, one below the other, column by column.

        The columns are the entries of the plain variables, and then those of the `others`.
        """
        import cvxpy as cp

        for expression in expressions:
            if expression.is_complex():
                raise ProblemError("problem", "real expressions", _shown(expression))
        variables = [*self._plain.values(), *others]
        # The objective makes sure that every variable has its columns.
        objective = cp.sum(cp.hstack([cp.sum(variable) for variable in variables]))
        equations = cp.Problem(cp.Minimize(objective), [part == 0 for part in expressions])
        data, _, _ = equations.get_problem_data(cp.OSQP)
        starts = data["param_prob"].var_id_to_col
        columns = [starts[variable.id] + np.arange(variable.size) for variable in variables]
        if data["A"].shape[1] > sum(variable.size for variable in variables):
            return _derivatives(expressions, variables)
        # The equations are A x = -c; 0 - 0 has no sign.
        return sparse.csr_array(data["A"])[:, np.concatenate(columns)], 0.0 - data["b"]

    def quadratic(self, expression: Any) -> tuple[Array, Array, float]:
        """P, q and c of the quadratic expression ½ xᵀP x + qᵀx + c."""
        atoms: list[tuple[Any, Atom]] = []
        head = self._replaced(self._rebuilt(expression), atoms)
        A, constants = self._coefficients([head], *(new for new, _ in atoms))
        row, constant = A.toarray().ravel(), float(constants[0])
        q, ends = row[: self.n], self.n + np.cumsum([new.size for new, _ in atoms], dtype=int)
        parts = np.split(row, [self.n, *ends])[1:-1]
        products = [
            (u, v, weighted(weights))
            for (_, (u, v, weighted)), weights in zip(atoms, parts, strict=True)
            if weights.any()
        ]
        if not products:
            return np.zeros((self.n, self.n)), q, constant
        left, right, inner = map(list, zip(*products, strict=True))
        (B, b), (C, c) = self._coefficients(left), self._coefficients(right)
        W = sparse.block_diag(inner, format="csr")
        half = (B.T @ (W @ C)).toarray()
        linear = B.T @ (W @ c) + C.T @ (W.T @ b)
        return half + half.T, q + linear, constant + float(b @ (W @ c))

    def _replaced(self, expression: Any, atoms: list[tuple[Any, Atom]]) -> Any:
        """The expression with a new variable in place of each of its quadratic atoms.

        Each of these variables is added to `atoms`, together with what it replaces.
        """
        import cvxpy as cp

        if expression.is_constant() or expression.is_affine():
            return expression
        atom = _atom(expression)
        if atom is not None:
            new = cp.Variable(expression.shape)
            atoms.append((new, atom))
            return new
        if not _is_linear(expression):
            raise ProblemError("objective", "a quadratic function", _shown(expression))
        return expression.copy([self._replaced(part, atoms) for part in expression.args])

    def constrain(self, constraints: list[Any]) -> None:
        """Keep the rows of affine constraints, or the bounds of those in a single variable."""
        from cvxpy.constraints import Equality, Zero

        if not constraints:
            return
        expressions = [self._difference(constraint) for constraint in constraints]
        A, c = self._coefficients(expressions)
        equality = np.repeat(
            [isinstance(constraint, Equality | Zero) for constraint in constraints],
            [expression.size for expression in expressions],
        )
        labels = [one.label or f"constraints[{k}]" for k, one in enumerate(constraints)]
        if len(set(labels)) < len(labels):
            labels = [f"constraints[{k}]" for k in range(len(labels))]
        names = [
            _place(label, place)
            for label, expression in zip(labels, expressions, strict=True)
            for place in np.ndindex(*reversed(expression.shape))
        ]
        for row, value, equal, name in zip(A.toarray(), c, equality, names, strict=True):
            places = np.flatnonzero(row)
            if places.size == 1 and not equal:
                self._tighten(int(places[0]), float(row[places[0]]), float(-value), name)
            elif places.size or (value != 0.0 if equal else value > 0.0):
                self.rows.append((row, float(-value) if equal else -np.inf, float(-value), name))

    def _difference(self, constraint: Any) -> Any:
        """The affine expression that is 0, or at most 0, by an affine constraint."""
        from cvxpy.constraints import Equality, Inequality, NonNeg, NonPos, Zero

        if isinstance(constraint, Equality | Inequality):
            expression = constraint.expr
        elif isinstance(constraint, NonNeg | NonPos | Zero):
            (expression,) = constraint.args
        else:
            raise ProblemError(
                "constraints", "affine equations and inequalities",
                f"{type(constraint).__name__}: {_shown(constraint)}",
            )  # fmt: skip
        plain = self._rebuilt(expression)
        if not plain.is_affine():
            raise ProblemError("constraints", "affine expressions", _shown(constraint))
        return -plain if isinstance(constraint, NonNeg) else plain

    def _tighten(self, j: int, coefficient: float, right: float, name: str) -> None:
        """The inequality coefficient · x_j ≤ right as a bound, if the quotient is exact."""
        bound = right / coefficient
        if not np.isfinite(bound) or Fraction(bound) * Fraction(coefficient) != Fraction(right):
            row = np.zeros(self.n)
            row[j] = coefficient
            self.rows.append((row, -np.inf, right, name))
        elif coefficient > 0.0:
            self.upper[j] = min(self.upper[j], bound)
        else:
            self.lower[j] = max(self.lower[j], bound)


def _place(name: str, place: tuple[int, ...]) -> str:
    """What an entry is called, whose indices come last first."""
    return name + (f"[{', '.join(map(str, reversed(place)))}]" if place else "")


def _derivatives(expressions: list[Any], variables: list[Any]) -> tuple[Any, Array]:
    """A and c of affine expressions from their derivatives and their values at 0.

    This is slower than the matrix of equations, but also serves atoms such as cumsum, for which
    cvxpy adds variables of its own to the equations.
    """
    for variable in variables:
        variable.value = np.zeros(variable.shape)
    blocks, values = [], []
    for expression in expressions:
        found = {variable.id: part for variable, part in expression.grad.items()}
        size = expression.size
        parts = [found.get(v.id, sparse.csc_array((v.size, size))) for v in variables]
        # The derivative of a scalar in a scalar is a number.
        columns = [np.atleast_2d(part) if np.isscalar(part) else part for part in parts]
        blocks.append(sparse.vstack([sparse.csc_array(part) for part in columns]).T)
        values.append(np.ravel(expression.value, order="F"))
    return sparse.csr_array(sparse.vstack(blocks)), np.concatenate(values).astype(float)


def _is_linear(expression: Any) -> bool:
    """Whether an expression is linear in those of its arguments that are not constant."""
    from cvxpy.atoms.affine.affine_atom import AffAtom
    from cvxpy.atoms.affine.binary_operators import DivExpression, MulExpression, multiply

    if isinstance(expression, DivExpression):
        return bool(expression.args[1].is_constant())
    if isinstance(expression, multiply | MulExpression):
        return any(part.is_constant() for part in expression.args)
    return isinstance(expression, AffAtom)


def _atom(expression: Any) -> Atom | None:
    """u, v and a function of weights that gives W, if the expression is vec(u)ᵀ W vec(v)."""
    import cvxpy as cp
    from cvxpy.atoms.affine.binary_operators import MulExpression, multiply
    from cvxpy.atoms.elementwise.power import Power

    u, v = (*expression.args, None)[:2]
    if isinstance(expression, Power):
        return (u, u, sparse.diags_array) if u.is_affine() and expression.p.value == 2 else None
    if isinstance(expression, cp.QuadForm | cp.quad_over_lin):
        if not (u.is_affine() and v.is_constant()):
            return None
        value = v.value.toarray() if sparse.issparse(v.value) else np.asarray(v.value)
        if isinstance(expression, cp.QuadForm):
            return u, u, lambda weights: sparse.csr_array(weights[0] * np.atleast_2d(value))

        def spread(weights: Array) -> Any:
            summed = np.reshape(weights, expression.shape, order="F")
            if expression.axis is not None and not expression.keepdims:
                summed = np.expand_dims(summed, expression.axis)
            whole = np.broadcast_to(summed, u.shape).ravel(order="F")
            return sparse.diags_array(whole / float(np.ravel(value)[0]))

        return u, u, spread
    if not isinstance(expression, multiply | MulExpression) or not all(
        part.is_affine() and not part.is_constant() for part in (u, v)
    ):
        return None
    if isinstance(expression, multiply):
        shape = expression.shape
        u, v = (cp.promote(part, shape) if part.is_scalar() else part for part in (u, v))
        if not u.shape == v.shape == shape:
            expected = "products of expressions of one shape"
            raise ProblemError("objective", expected, _shown(expression))
        return u, v, sparse.diags_array
    if u.ndim > 2 or v.ndim > 2:
        raise ProblemError("objective", "products of vectors and matrices", _shown(expression))
    rows, inner = (1, u.size) if u.ndim == 1 else u.shape
    columns = 1 if v.ndim == 1 else v.shape[1]
    # The entry ij of the product is the sum over k of u_ik v_kj.
    i, k, j = (axis.ravel() for axis in np.indices((rows, inner, columns)))
    places, shape = (k * rows + i, j * inner + k), (u.size, v.size)
    return u, v, lambda weights: sparse.csr_array((weights[j * rows + i], places), shape=shape)


def _shown(thing: Any) -> str:
    return " ".join(str(thing).split())
