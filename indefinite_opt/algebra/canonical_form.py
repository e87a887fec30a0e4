"""The canonical form of a model: affine, quadratic and separable terms over rows and bounds.

The reader takes a declared objective and constraints apart. Matrices stay operators: nothing n by n
is formed. A linear atom that only cvxpy has is read by its derivative, a sparse matrix. Only sums
and products of the data are computed, and quotients where one is written, so that integers stay
exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from indefinite_opt.algebra.atoms import attributes_of, huber_values, is_positive_part
from indefinite_opt.algebra.from_cvxpy import CvxpyAtom, converted
from indefinite_opt.algebra.operators import (
    ColumnFactor,
    DiagonalFactor,
    MatrixFactor,
    Operator,
    RowFactor,
)
from indefinite_opt.algebra.program import Model
from indefinite_opt.algebra.sizes import term_sizes
from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import Array, is_sparse


class NotCanonical(ProblemError):
    """A part of a model that does not fit into the canonical form; the message quotes it.

    >>> import indefinite_opt.algebra as cp
    >>> try:
    ...     canonical(Model(minimize=cp.square(cp.logistic(cp.Variable(name="x")))))
    ... except NotCanonical as error:
    ...     print(error)
    model: expected an affine expression, got logistic(x)
    """

    def __init__(
        self, part: Any, expected: str = "an affine or quadratic expression", hint: str = ""
    ) -> None:
        super().__init__("model", expected, " ".join(str(part).split()), hint)


@dataclass(frozen=True, eq=False)
class Affine:
    """Σ_v A_v v + c, a vector of m entries, with an operator for each variable in it."""

    m: int
    linear: dict[str, Operator]
    constant: float | Array = 0.0
    """0, or an array of m entries."""

    @property
    def constants(self) -> Array:
        """c as a new array, (m,)."""
        return np.full(self.m, self.constant, dtype=float)

    def at(self, values: dict[str, Any]) -> Array:
        """The vector at some values of the variables."""
        total = self.constants
        for name, A in self.linear.items():
            total += A.times(np.ravel(values[name], order="F"))
        return total

    def sizes(self, values: dict[str, Any]) -> Array:
        """A bound on the absolute terms of each entry at some values."""
        total: Array = np.abs(self.constants)
        for name, A in self.linear.items():
            total = total + A.sizes(np.abs(np.ravel(values[name], order="F")))
        return total

    def scaled(self, multiple: float) -> Affine:
        if multiple == 1.0:
            return self
        linear = {name: A.scaled(multiple) for name, A in self.linear.items()}
        return Affine(self.m, linear, multiple * self.constant)

    def plus(self, other: Affine) -> Affine:
        if self.m != other.m:  # a number is added to every entry of a vector
            if 1 not in (self.m, other.m):
                raise NotCanonical(f"sums of {self.m} and {other.m} entries", "terms of one shape")
            spread = Operator.of(ColumnFactor(np.ones(other.m if self.m == 1 else self.m)))
            left, right = (part.through(spread) if part.m == 1 else part for part in (self, other))
            return left.plus(right)
        linear = dict(self.linear)
        for name, A in other.linear.items():
            linear[name] = linear[name] + A if name in linear else A
        return Affine(self.m, linear, self.constant + other.constant)

    def minus(self, other: Affine) -> Affine:
        return self.plus(other.scaled(-1.0))

    def rows(self, places: Mapping[str, slice], total: int) -> Array:
        """The coefficients, with those of each variable in its place, (m, total)."""
        rows = np.zeros((self.m, total))
        for name, A in self.linear.items():
            rows[:, places[name]] = A.dense()
        return rows

    def through(self, left: Operator) -> Affine:
        """The product with an operator from the left."""
        linear = {name: left @ A for name, A in self.linear.items()}
        zero = np.ndim(self.constant) == 0 and self.constant == 0.0
        return Affine(left.shape[0], linear, 0.0 if zero else left.times(self.constants))


@dataclass(frozen=True, eq=False)
class QuadraticTerm:
    """weight · uᵀPv, with the identity for P = None, and v = u if that is None."""

    weight: float
    u: Affine
    P: Operator | None
    v: Affine | None = None


@dataclass(frozen=True, eq=False)
class SeparableTerm:
    """Σ_i w_i φ(u_i)."""

    kind: str
    """Which φ: abs, pos for max(u, 0), pos2 for its square, logistic for log(1 + exp(u)), huber."""
    weights: float | Array
    u: Affine
    text: str = ""
    """The declared atom, for messages."""
    bend: float = 1.0
    """The M of huber: u² up to the size M, and 2M|u| - M² beyond it."""

    def phi(self, u: Array) -> Array:
        """φ of each entry."""
        return huber_values(u, self.bend) if self.kind == "huber" else _PHI[self.kind](u)


@dataclass(frozen=True, eq=False)
class Hidden:
    """h_j = φ(u_j) of groups u_j of entries of u: a variable that stands for an atom.

    Affine expressions have it beside declared variables, and Hidden ones of an earlier place in u.
    u_j has the entries j, size + j, 2·size + j, ... of u.
    """

    name: str
    kind: str
    """Which φ: abs, pos for max(u, 0), max, or largest for the sum of the `count` largest."""
    u: Affine
    size: int
    text: str
    """The declared atom, for messages."""
    count: int = 1

    def phi(self, u: Array) -> Array:
        """φ of each group, (size,)."""
        if self.kind in _PHI:
            return _PHI[self.kind](u)
        groups = np.sort(np.reshape(u, (-1, self.size)), axis=0)
        return np.asarray(groups[-self.count :].sum(axis=0))


@dataclass(frozen=True, eq=False)
class AffineRows:
    """u = 0 or u ≤ 0, entry by entry, under a declared name."""

    name: str
    u: Affine
    equal: bool
    shape: tuple[int, ...] | None = None
    """The shape of a declared matrix, whose entries count column by column; None for vectors."""


@dataclass(frozen=True, eq=False)
class NormRow:
    """k‖u‖₁ ≤ k · end, under a declared name."""

    name: str
    u: Affine
    end: float
    size: float
    """k > 0."""
    text: str
    """The declared constraint, for messages."""


@dataclass(frozen=True, eq=False)
class VariableBound:
    """v ≥ end or v ≤ end, under a declared name."""

    name: str
    variable: str
    side: str
    """lower or upper."""
    end: float | Array
    size: float | Array
    """The absolute coefficients of v where it is declared."""


@dataclass(frozen=True, eq=False)
class Canonical:
    """The minimum of sense · declared objective: affine, quadratic and separable terms."""

    sense: int
    variables: dict[str, tuple[int, ...]]
    """Shapes by name, in the order of their appearance."""
    affine: Affine
    quadratics: list[QuadraticTerm]
    separables: list[SeparableTerm]
    rows: list[AffineRows] = field(default_factory=list)
    bounds: list[VariableBound] = field(default_factory=list)
    norms: list[NormRow] = field(default_factory=list)
    hidden: list[Hidden] = field(default_factory=list)

    def completed(self, values: dict[str, Any], sizes: bool = False) -> dict[str, Any]:
        """The values with those of hidden variables, or bounds on the absolute terms of these."""
        found = dict(values)
        for one in self.hidden:
            found[one.name] = one.phi(one.u.sizes(found) if sizes else one.u.at(found))
        return found

    def row_sizes(self, row: AffineRows, values: dict[str, Any]) -> Array:
        """A bound on the absolute terms of each entry of a row at some values."""
        return row.u.sizes(self.completed(values, sizes=True))

    def cost(self, name: str) -> Array | None:
        """The coefficients of a variable in the affine term; None if it is not in it."""
        A = self.affine.linear.get(name)
        return None if A is None else A.row

    @property
    def constant(self) -> float:
        """The constant of the affine term."""
        return float(np.sum(self.affine.constant))

    def value(self, values: dict[str, Any]) -> float:
        """The objective to be minimised."""
        values = self.completed(values)
        total = float(np.sum(self.affine.at(values)))
        for term in self.quadratics:
            u, v = (part.at(values) for part in (term.u, term.v or term.u))
            total += term.weight * float(u @ (v if term.P is None else term.P.times(v)))
        for part in self.separables:
            total += float(np.sum(part.weights * part.phi(part.u.at(values))))
        return total

    def size(self, values: dict[str, Any]) -> float:
        """A bound on the absolute terms of the objective at some values."""
        values = self.completed(values, sizes=True)
        total = float(np.sum(self.affine.sizes(values)))
        for term in self.quadratics:
            u, v = (part.sizes(values) for part in (term.u, term.v or term.u))
            total += abs(term.weight) * float(u @ (v if term.P is None else term.P.sizes(v)))
        for part in self.separables:
            terms = np.abs(part.weights) * part.phi(part.u.sizes(values))
            total += float(np.sum(terms))
        return total

    def arrays(self, places: Mapping[str, slice], total: int) -> tuple[Array, Array, float]:
        """P, q and the constant of the affine and the quadratic terms, ½xᵀPx + qᵀx + constant."""
        P, q, constant = np.zeros((total, total)), np.zeros(total), self.constant
        for name, A in self.affine.linear.items():
            q[places[name]] += A.row
        for term in self.quadratics:
            u, v = term.u, term.v or term.u
            if term.v is None and len(u.linear) == 1 and not u.constants.any():
                ((name, L),) = u.linear.items()  # by factors, without a dense product
                half = (L.T @ L if term.P is None else L.T @ term.P @ L).scaled(term.weight).dense()
                P[places[name], places[name]] += half + half.T
                continue
            U, V, (a, b) = u.rows(places, total), v.rows(places, total), (u.constants, v.constants)
            if term.P is not None:
                M = term.P.dense()
                V, b = M @ V, M @ b
            half = term.weight * (U.T @ V)
            P += half + half.T
            q += term.weight * (U.T @ b + V.T @ a)
            constant += term.weight * float(a @ b)
        return P, q, constant

    def residuals(self, values: dict[str, Any]) -> dict[str, Array]:
        """u of every row, and the excess of every bound, by the declared names."""
        values = self.completed(values)
        found = {row.name: row.u.at(values) for row in self.rows}
        for norm in self.norms:
            excess = np.abs(norm.u.at(values)).sum() - norm.end
            found[norm.name] = np.array([norm.size * excess])
        for bound in self.bounds:
            v = np.ravel(np.asarray(values[bound.variable], dtype=float), order="F")
            excess = v - bound.end
            found[bound.name] = excess if bound.side == "upper" else -excess
        return found


_ROUNDING = 1e-12
"""Share of its terms up to which the difference of two constants is rounding."""

_PHI: dict[str, Callable[[Array], Array]] = {
    "abs": np.abs,
    "pos": lambda u: np.maximum(u, 0.0),
    "pos2": lambda u: np.maximum(u, 0.0) ** 2,
    "logistic": lambda u: np.logaddexp(0.0, u),
}

_PIECEWISE = (
    "abs", "norm1", "norm_inf", "max", "maximum", "sum_largest", "cvxpy.min", "cvxpy.minimum",
)  # fmt: skip
"""Piecewise linear atoms, for which hidden variables stand."""


def canonical(
    model: Model,
    called: Mapping[int, str] | None = None,
    with_duals: bool = False,
    reader: Reader | None = None,
) -> Canonical:
    """The canonical form of a model.

    Entries of matrices count column by column. With `called`, the names of cvxpy's variables by
    their ids, the attributes of these are left to the caller, and every constraint is a row.
    Multipliers count as variables under the names of their `Dual`, if they are allowed. A `reader`
    of another class may know further atoms.

    Raises
    ------
    NotCanonical
        For an atom for which the form has no term; the message quotes it.
    """
    if model.inner is not None:
        raise NotCanonical("an inner minimisation")
    reader = reader or Reader(called or {}, with_duals)
    sense = 1 if model.maximize is None else -1
    objective = model.minimize if sense > 0 else model.maximize
    if objective.size != 1:
        raise NotCanonical(f"{objective} of shape {objective.shape}", "a number as objective")
    affine = reader.objective(objective, float(sense))
    if not np.all(np.isfinite(affine.constant)):
        raise NotCanonical(objective, "a finite objective")
    form = Canonical(sense, reader.variables, affine, reader.quadratics, reader.separables)
    for name, constraint in model.subject_to.items():
        kind = constraint.kind
        if kind not in ("Equality", "Inequality", "Zero", "NonPos", "NonNeg"):
            raise NotCanonical(f"{kind}: {constraint}", "affine equations and inequalities")
        norm = reader.norm(name, constraint)
        if norm is not None:
            form.norms.append(norm)
            continue
        equal = kind in ("Equality", "Zero")
        reader.opens = not equal
        u = reader.difference(constraint)
        if not u.linear:
            u = _without_rounding(u, constraint)
        plain = u.linear.keys() <= reader.variables.keys()
        bound = None if equal or called or not plain else _as_bound(name, u)
        if not called and not _has_ends(u, bound):
            raise NotCanonical(f"{name}: {constraint}", "constraints with finite ends")
        if bound is None:
            shape = constraint.shape if len(constraint.shape) > 1 else None
            form.rows.append(AffineRows(name, u, equal, shape))
        else:
            form.bounds.append(bound)
    form.hidden.extend(reader.hidden)
    return form


def affine(expression: Any) -> Affine:
    """The canonical form of an affine expression in variables and multipliers.

    It is read at values that are known, so that attributes of variables do not matter.
    """
    whole = converted(expression)
    called = {variable.id: variable.name() for variable in whole.variables()}
    return Reader(called, with_duals=True).affine(whole)


def difference(constraint: Any) -> Affine:
    """The left side of an affine constraint less the right one, as its multiplier has it."""
    return Reader({}).difference(constraint)


def _as_bound(name: str, u: Affine) -> VariableBound | None:
    """u ≤ 0 as a bound, if u is ±a∘v + c for a single variable v and a > 0."""
    if len(u.linear) != 1:
        return None
    ((variable, A),) = u.linear.items()
    d: Any = A.multiple if A.multiple is not None else A.diagonal
    if d is None or not (np.all(np.asarray(d) > 0.0) or np.all(np.asarray(d) < 0.0)):
        return None
    end = 0.0 - np.asarray(u.constant) / d
    if end.ndim and end.size and np.all(end == end.flat[0]):
        end = end.flat[0]
    side = "upper" if np.all(np.asarray(d) > 0.0) else "lower"
    size = level(np.atleast_1d(np.abs(d)))
    return VariableBound(name, variable, side, float(end) if np.ndim(end) == 0 else end, size)


def _without_rounding(u: Affine, constraint: Any) -> Affine:
    """The difference of constant sides, without what is rounding beside their terms.

    0.1 + 0.2 ≤ 0.3 holds, although the numbers of double precision differ in the last bit.
    """
    left = u.constants
    size = max(float(np.max(term_sizes(arg), initial=0.0)) for arg in constraint.args)
    is_rounding = np.abs(left) <= _ROUNDING * (size if np.isfinite(size) else 0.0)
    return Affine(u.m, {}, np.where(is_rounding, 0.0, left))


def _has_ends(u: Affine, bound: VariableBound | None) -> bool:
    """Whether all ends are finite, or those of a bound infinite on its own side."""
    if bound is None:
        return bool(np.all(np.isfinite(u.constant)))
    outer = np.asarray(bound.end) if bound.side == "upper" else -np.asarray(bound.end)
    return bool(np.all(outer > -np.inf))  # and no nan


_LINEAR = {"AddExpression", "NegExpression", "Promote", "Sum", "index"}
"""Atoms that are affine if their arguments are."""

_PRODUCTS = ("multiply", "MulExpression")


class Reader:
    """Reads expressions; quadratic and separable terms of an objective collect in it."""

    def __init__(self, called: Mapping[int, str], with_duals: bool = False) -> None:
        self.called, self.with_duals = called, with_duals
        self.variables: dict[str, tuple[int, ...]] = {}
        self.ids: dict[str, int] = {}
        self.quadratics: list[QuadraticTerm] = []
        self.separables: list[SeparableTerm] = []
        self.hidden: list[Hidden] = []
        self.opens = False
        """Whether affine expressions may have hidden variables for piecewise linear atoms."""

    # --------------------------------------------------------------------- constants

    def operator(self, e: Any) -> Operator:
        """The operator of a constant matrix, or of a constant vector as a column."""
        kind = e.kind
        if kind == "Constant" and isinstance(e.value, Operator):
            return e.value
        if kind == "transpose":
            return self.operator(e.args[0]).T
        if kind == "NegExpression":
            return -self.operator(e.args[0])
        if kind == "MulExpression" and e.ndim == 2:
            return self.operator(e.args[0]) @ self.operator(e.args[1])
        if kind == "AddExpression" and all(arg.shape == e.shape for arg in e.args):
            total = Operator.zero(*e.shape)
            for arg in e.args:
                total = total + self.operator(arg)
            return total
        if kind == "multiply" and e.args[0].size == 1:
            return self.operator(e.args[1]).scaled(_number(e.args[0]))
        if kind == "DivExpression" and e.args[1].size == 1:
            return self.operator(e.args[0]).scaled(1.0 / float(_divisor(e)[0]))
        value = e.value
        if value is None:
            raise NotCanonical(f"the parameter {e} without a value", "numbers")
        if isinstance(value, Operator):
            return value
        if not np.isfinite(value.data if is_sparse(value) else value).all():
            raise NotCanonical(f"{e}, which has entries that are not numbers", "finite numbers")
        return _of_array(value)

    # ------------------------------------------------------------- affine expressions

    def affine(self, e: Any) -> Affine:
        """Σ_v A_v v + c."""
        if e.is_constant():
            return Affine(e.size, {}, _vector(e, may_be_infinite=True))
        kind, args = e.kind, e.args
        if kind == "Variable":
            return Affine(e.size, {self._name(e): Operator.identity(e.size)})
        if kind == "Dual":
            if not self.with_duals:
                raise e.misplaced()
            return Affine(e.size, {e.name(): Operator.identity(e.size)})
        if kind == "AddExpression" and all(arg.shape == e.shape for arg in args):
            total = self.affine(args[0])
            for arg in args[1:]:
                total = total.plus(self.affine(arg))
            return total
        if kind == "NegExpression":
            return self.affine(args[0]).scaled(-1.0)
        if kind == "Promote":
            return self.affine(args[0]).through(Operator.of(ColumnFactor(np.ones(e.size))))
        if kind == "Sum" and e.size == 1:
            return self.affine(args[0]).through(Operator.of(RowFactor(np.ones(args[0].size))))
        if e.is_copy:
            return self.affine(args[0])
        if kind == "index":
            return self._indexed(e)
        if kind == "multiply" and _is_plain(e):
            return self._scaled(e)
        if kind == "DivExpression" and args[1].is_constant() and _is_plain(e):
            divisor, inner = _divisor(e), self.affine(args[0])
            if divisor.size == 1:
                return inner.scaled(1.0 / float(divisor[0]))
            return inner.through(_entry_by_entry(1.0 / divisor, inner.m))
        if kind == "MulExpression" and all(arg.is_constant() or arg.ndim < 2 for arg in args):
            return self._product(e)
        if kind == "MulExpression" and _is_linear(e) and not isinstance(e, CvxpyAtom):
            return self._matrix_product(e)
        if kind == "transpose" and not isinstance(e, CvxpyAtom):
            return self.affine(args[0]).through(ordered_by(_transposed(e)))
        if isinstance(e, CvxpyAtom) and _is_affine(e):
            linear, constant = _derivatives(e, e.derivatives)
            return Affine(e.size, {self._name(v): A for v, A in linear.items()}, constant)
        if self.opens and kind in _PIECEWISE:
            return self._piecewise(e)
        if self.opens and isinstance(e, CvxpyAtom) and _is_linear(e):
            return self._image(e)
        raise NotCanonical(e, "an affine expression")

    def _image(self, e: CvxpyAtom) -> Affine:
        """An atom of cvxpy that is linear in arguments with hidden variables."""
        parts, constant = _derivatives(e, e.derivatives_by_arguments)
        total = Affine(e.size, {}, constant)
        for arg, A in zip(e.args, parts, strict=True):
            if A is not None:
                total = total.plus(self.affine(arg).through(A))
        return total

    # ------------------------------------------------------- piecewise linear expressions

    def opened(self, e: Any) -> Affine:
        """Σ_v A_v v + c with hidden variables for piecewise linear atoms."""
        before, self.opens = self.opens, True
        try:
            return self.affine(e)
        finally:
            self.opens = before

    def _closed(self, e: Any) -> Affine:
        """Σ_v A_v v + c without hidden variables."""
        before, self.opens = self.opens, False
        try:
            return self.affine(e)
        finally:
            self.opens = before

    def _hide(self, e: Any, kind: str, u: Affine, size: int, count: int = 1) -> Affine:
        """A new hidden variable, as an affine expression."""
        name = f"·{kind} {len(self.hidden)}"
        self.hidden.append(Hidden(name, kind, u, size, str(e), count))
        return Affine(size, {name: Operator.identity(size)})

    def _piecewise(self, e: Any) -> Affine:
        """A piecewise linear atom by hidden variables.

        Only an atom that grows with its arguments may have such atoms in these.
        """
        kind, args = e.kind, e.args
        if kind == "abs":
            return self._hide(e, "abs", self._closed(args[0]), e.size)
        if kind == "norm1":
            inner, groups = self._closed(args[0]), groups_of(e)
            return self._hide(e, "abs", inner, inner.m).through(sums_of(groups))
        if is_positive_part(e):
            return self._hide(e, "pos", self._spread(e, args[0]), e.size)
        if kind in ("maximum", "cvxpy.minimum"):
            parts = [self._spread(e, arg, kind != "maximum") for arg in args]
            found = self._hide(e, "max", joined(parts), e.size)
            return found.scaled(1.0 if kind == "maximum" else -1.0)
        groups = groups_of(e)
        if kind == "norm_inf":
            inner = self._closed(args[0]).through(ordered_by(groups))
            both = joined([inner, inner.scaled(-1.0)])
            return self._hide(e, "max", both, e.size)
        if kind == "cvxpy.min":
            inner = self._closed(args[0]).through(ordered_by(groups)).scaled(-1.0)
            return self._hide(e, "max", inner, e.size).scaled(-1.0)
        inner, count = self.affine(args[0]), e.key[0] if kind == "sum_largest" else 1
        if count != int(count):
            raise NotCanonical(e, "a whole number of largest entries")
        if len(groups) <= count:
            return inner.through(sums_of(groups))
        kind = "max" if count == 1 else "largest"
        return self._hide(e, kind, inner.through(ordered_by(groups)), e.size, int(count))

    def _spread(self, e: Any, arg: Any, negative: bool = False) -> Affine:
        """An argument with an entry for each of e; its negative, which grows as e falls."""
        found = self._closed(arg).scaled(-1.0) if negative else self.affine(arg)
        if arg.size == 1 and e.size > 1:
            return found.through(Operator.of(ColumnFactor(np.ones(e.size))))
        if arg.size != 1 and arg.shape != e.shape:
            raise NotCanonical(e, "arguments of one shape")
        return found

    def difference(self, constraint: Any) -> Affine:
        """The left side less the right one, if there is one."""
        sides = constraint.args
        if len({side.shape for side in sides if side.size != 1}) > 1:  # are made of one shape
            return self.affine(constraint.expr)
        u, *others = map(self.affine, sides)
        for other in others:
            u = u.plus(other.scaled(-1.0))
        return u.scaled(-1.0) if constraint.kind == "NonNeg" else u

    def _name(self, e: Any) -> str:
        """The name of a variable, which is remembered with its shape."""
        if e.id in self.called:
            self.variables.setdefault(self.called[e.id], e.shape)
            return self.called[e.id]
        if e.ndim > 2:
            raise NotCanonical(f"the variable {e.name()} of shape {e.shape}", "at most two axes")
        attributes = attributes_of(e)
        if attributes:
            raise NotCanonical(
                f"the variable {e.name()} with the attribute {attributes[0]}",
                "variables without attributes, and bounds as constraints",
            )
        name: str = e.name()
        if self.ids.setdefault(name, e.id) != e.id:
            raise NotCanonical(f"two variables {name}", "variables with different names")
        self.variables.setdefault(name, e.shape)
        return name

    def _indexed(self, e: Any) -> Affine:
        from scipy import sparse

        inner = self.affine(e.args[0])
        every = np.arange(inner.m).reshape(e.args[0].shape, order="F")
        chosen = np.ravel(every[e.key], order="F")
        # cvxpy has the same shape for x[::-1] and for x[:-1:-1], whose value is empty.
        if chosen.size != e.size:
            raise NotCanonical(e, "an index whose shape is that of its value")
        ones, places = np.ones(chosen.size), np.arange(chosen.size)
        pick = sparse.csr_array((ones, (places, chosen)), (chosen.size, inner.m))
        return inner.through(Operator.of(MatrixFactor(pick)))

    def _scaled(self, e: Any) -> Affine:
        a, b = e.args if e.args[0].is_constant() else reversed(e.args)
        if not a.is_constant():
            raise NotCanonical(e, "an affine expression")
        inner, plain = self.affine(b), a.args[0] if a.kind == "Promote" else a
        if plain.size == 1:
            scaled = inner.scaled(_number(plain))
            return scaled if a.size <= inner.m else scaled.plus(Affine(a.size, {}))
        return inner.through(_entry_by_entry(_vector(a), inner.m))

    def _product(self, e: Any) -> Affine:
        a, b = e.args
        if a.is_constant() and b.ndim <= 1:
            left = Operator.of(RowFactor(_vector(a))) if a.ndim == 1 else self.operator(a)
            return self.affine(b).through(left)
        if b.is_constant() and a.ndim <= 1:
            right = Operator.of(RowFactor(_vector(b))) if b.ndim == 1 else self.operator(b).T
            return self.affine(a).through(right)
        raise NotCanonical(e, "an affine expression")

    def _matrix_product(self, e: Any) -> Affine:
        """AX or Xb with a constant factor: (I ⊗ A) vec X or (bᵀ ⊗ I) vec X."""
        from scipy import sparse

        a, b = e.args
        constant = self.operator(a if a.is_constant() else b).dense()
        if a.is_constant():
            A = constant.T if a.ndim == 1 else constant  # a vector is held as a column
            eye = sparse.eye_array(b.shape[1], format="csr")
            return self.affine(b).through(Operator.of(MatrixFactor(sparse.kron(eye, A, "csr"))))
        eye = sparse.eye_array(a.shape[0], format="csr")
        across = sparse.kron(constant.T, eye, "csr")
        return self.affine(a).through(Operator.of(MatrixFactor(across)))

    def norm(self, name: str, constraint: Any) -> NormRow | None:
        """k‖u‖₁ ≤ k · end, if the constraint is one, on whichever side its terms are."""
        if constraint.kind != "Inequality":
            return None
        left, right = constraint.args
        if left.size != 1 or right.size != 1 or (_is_affine(left) and _is_affine(right)):
            return None
        before, self.separables, quadratics = self.separables, [], len(self.quadratics)
        hidden = len(self.hidden)
        try:
            rest, terms = self.objective(left).plus(self.objective(right, -1.0)), self.separables
        except NotCanonical:
            terms = []
        finally:
            self.separables = before
        if len(terms) != 1 or len(self.quadratics) > quadratics or rest.linear:
            del self.quadratics[quadratics:], self.hidden[hidden:]
            return None
        (norm,) = terms
        if norm.kind != "abs" or np.ndim(norm.weights) or norm.weights <= 0.0:
            return None
        size = float(norm.weights)
        return NormRow(name, norm.u, -float(rest.constants[0]) / size, size, norm.text)

    # ------------------------------------------------------------------ the objective

    def objective(self, e: Any, weight: Any = 1.0) -> Affine:
        """Σ weight · e; the affine part is returned, the other terms are collected."""
        if _is_affine(e):
            found = self.affine(e)
            if np.ndim(weight) == 0:
                return found.scaled(float(weight))
            return found.through(Operator.of(RowFactor(np.asarray(weight, dtype=float))))
        kind, args = e.kind, e.args
        if kind == "AddExpression" and all(arg.shape == e.shape for arg in args):
            total = Affine(1, {})
            for arg in args:
                total = total.plus(self.objective(arg, weight))
            return total
        if kind == "NegExpression":
            return self.objective(args[0], -weight)
        if kind == "DivExpression" and args[1].is_constant() and _is_plain(e):
            divisor = _divisor(e)
            if divisor.size > 1 and args[0].size == 1:
                return self.objective(args[0], float(np.sum(weight / divisor)))
            return self.objective(args[0], weight / (divisor[0] if divisor.size == 1 else divisor))
        if kind == "Promote":
            return self.objective(args[0], float(np.sum(np.broadcast_to(weight, (e.size,)))))
        inner = kind == "MulExpression" and e.ndim == 0
        if (inner or (kind == "multiply" and _is_plain(e))) and _is_linear(e):
            factor, other = args if args[0].is_constant() else reversed(args)
            multiple = _number(factor) if factor.size == 1 else _vector(factor)
            if np.ndim(multiple) and other.size == 1:
                return self.objective(other, float(np.sum(weight * multiple)))
            return self.objective(other, weight * multiple)
        if kind == "Sum" and e.size == 1:
            return self.objective(args[0], np.broadcast_to(weight, (args[0].size,)))
        if isinstance(e, CvxpyAtom) and _is_linear(e):
            return self._pulled_back(e, np.broadcast_to(weight, (e.size,)))
        is_separable = kind in ("abs", "norm1") or is_positive_part(e)
        if kind in _PIECEWISE and not is_separable:
            found = self.opened(e)
            row = np.broadcast_to(np.asarray(weight, dtype=float), (found.m,))
            return found.through(Operator.of(RowFactor(row)))
        self._collect(e, level(weight))
        return Affine(1, {})

    def _pulled_back(self, e: CvxpyAtom, weights: Array) -> Affine:
        """The same for an atom of cvxpy that is linear in its arguments, by their own weights."""
        parts, constant = _derivatives(e, e.derivatives_by_arguments)
        total = Affine(1, {}, np.array([weights @ constant]))
        for arg, A in zip(e.args, parts, strict=True):
            if A is not None:
                passed = A.T.times(weights)
                total = total.plus(self.objective(arg, passed if arg.size > 1 else passed[0]))
        return total

    def _collect(self, e: Any, weight: Any) -> None:
        """Add the terms of weight · e, for a single atom e."""
        kind, args = e.kind, e.args
        if kind == "QuadForm":
            form = self.operator(args[1])
            self.quadratics.append(QuadraticTerm(float(weight), self.affine(args[0]), form))
        elif kind == "quad_over_lin" and args[1].is_constant():
            divisor = float(_divisor(e)[0])
            if divisor < 0.0:
                raise NotCanonical(f"{e} with the divisor {divisor}", "a positive divisor")
            share = weight / divisor
            self._square(e, args[0], _along(e, share) if np.ndim(share) else share)
        elif kind == "Power":
            self._square(e, args[0], weight)
        elif kind in _PRODUCTS and all(map(_is_affine, args)):
            u, v = map(self.affine, args)
            by_entries = kind == "multiply" and u.m == v.m == e.size
            if np.ndim(weight) == 0 and (by_entries or e.ndim == 0):
                self.quadratics.append(QuadraticTerm(float(weight), u, None, v))
            else:
                W = Operator.of(MatrixFactor(_weighted_product(e, weight)))
                self.quadratics.append(QuadraticTerm(1.0, u, W, v))
        elif is_positive_part(e):
            u = self.opened(args[0])
            self.separables.append(SeparableTerm("pos", _spread(e, u, weight), u, str(e)))
        elif kind == "huber":
            u, bend = self.affine(args[0]), _number(e.key[0])
            if not bend > 0.0:
                raise NotCanonical(e, "a positive M")
            weight = _spread(e, u, weight)
            self.separables.append(SeparableTerm("huber", weight, u, str(e), bend))
        elif kind in ("norm1", "abs", "logistic"):
            name = "logistic" if kind == "logistic" else "abs"
            u = self.affine(args[0])
            if kind != "norm1":
                weight = _spread(e, u, weight)
            elif np.ndim(weight):
                weight = _along(e, weight)
            self.separables.append(SeparableTerm(name, weight, u, str(e)))
        else:
            self._other(e)

    def _other(self, e: Any) -> None:
        """Refuse an atom that no term is made of."""
        raise NotCanonical(e)

    def _square(self, e: Any, inner: Any, weight: Any) -> None:
        """Add Σ weight · inner², the squares of entries in the atom e.

        That of a nonnegative piecewise linear expression is the square of its positive part.
        """
        if inner.kind == "abs":  # |u|² = u²
            (inner,) = inner.args
        if is_positive_part(inner):
            u = self.opened(inner.args[0])
        elif not _is_affine(inner) and _is_nonnegative(inner):
            u = self.opened(inner)
        elif np.ndim(weight):
            weights = Operator.of(DiagonalFactor(np.asarray(weight, dtype=float)))
            self.quadratics.append(QuadraticTerm(1.0, self.affine(inner), weights))
            return
        else:
            self.quadratics.append(QuadraticTerm(float(weight), self.affine(inner), None))
            return
        self.separables.append(SeparableTerm("pos2", _spread(inner, u, weight), u, str(e)))


def _spread(e: Any, u: Affine, weight: Any) -> Any:
    """The weights of the entries of u, if e has one for each or repeats the only one."""
    if u.m == e.size:
        return weight
    if u.m != 1:
        raise NotCanonical(e, "arguments of one shape")
    return float(np.sum(np.broadcast_to(weight, (e.size,))))


def groups_of(e: Any) -> Array:
    """The places of the entries of each group that e, an atom along an axis, has one entry for.

    (k, e.size), for groups of k entries.
    """
    inner = e.args[0]
    every = np.arange(inner.size).reshape(inner.shape, order="F")
    if e.axis is None:
        return every.reshape((-1, 1), order="F")
    if not isinstance(e.axis, int):
        raise NotCanonical(e, "one axis")
    turned = np.moveaxis(every, e.axis, 0)
    return turned.reshape((turned.shape[0], -1), order="F")


def ordered_by(groups: Any) -> Operator:
    """Orders entries by groups: the first one of each, then the second ones."""
    from scipy import sparse

    order, size = groups.ravel(), groups.size
    if np.array_equal(order, np.arange(size)):
        return Operator.identity(size)
    pick = sparse.csr_array((np.ones(size), (np.arange(size), order)), (size, size))
    return Operator.of(MatrixFactor(pick))


def _transposed(e: Any) -> Array:
    """The places of the entries of a transposed matrix in that itself, column by column."""
    inner = e.args[0]
    every = np.arange(inner.size).reshape(inner.shape, order="F")
    return np.asarray(every.T.ravel(order="F"))


def sums_of(groups: Any) -> Operator:
    """The sum of the entries of each group."""
    from scipy import sparse

    if groups.shape[1] == 1:
        return Operator.of(RowFactor(np.ones(groups.size)))
    rows = np.tile(np.arange(groups.shape[1]), len(groups))
    pick = sparse.csr_array((np.ones(groups.size), (rows, groups.ravel())))
    return Operator.of(MatrixFactor(pick))


def joined(parts: list[Affine]) -> Affine:
    """Parts one below the other."""
    from scipy import sparse

    if len(parts) == 1:
        return parts[0]
    total, start = Affine(sum(part.m for part in parts), {}), 0
    for part in parts:
        places = np.arange(part.m)
        ones, shape = np.ones(part.m), (total.m, part.m)
        below = sparse.csr_array((ones, (start + places, places)), shape)
        total = total.plus(part.through(Operator.of(MatrixFactor(below))))
        start += part.m
    return total


def _along(e: Any, weights: Array) -> Array:
    """The weights of a sum along an axis, for each entry of the summed array."""
    spread = np.reshape(weights, e.shape, order="F")
    if not e.keepdims:
        spread = np.expand_dims(spread, e.axis)
    return np.asarray(np.broadcast_to(spread, e.args[0].shape).ravel(order="F"))


def _weighted_product(e: Any, weight: Any) -> Any:
    """The sparse matrix W with uᵀWv = Σ weight · e for e = u∘v or e = uv, column by column."""
    from scipy import sparse

    u, v = e.args
    weights, sizes = np.broadcast_to(np.asarray(weight, dtype=float), (e.size,)), (u.size, v.size)
    if e.kind == "multiply":
        numbers = (np.arange(arg.size).reshape(arg.shape, order="F") for arg in (u, v))
        i, j = (np.broadcast_to(part, e.shape).ravel(order="F") for part in numbers)
        return sparse.csr_array((weights, (i, j)), shape=sizes)
    if u.ndim > 2 or v.ndim > 2:
        raise NotCanonical(e, "products of vectors and matrices")
    rows, inner = (1, u.size) if u.ndim == 1 else u.shape
    columns = 1 if v.ndim == 1 else v.shape[1]
    # The entry ij of the product is the sum over k of u_ik v_kj.
    i, k, j = (axis.ravel() for axis in np.indices((rows, inner, columns)))
    places = k * rows + i, j * inner + k
    return sparse.csr_array((weights[j * rows + i], places), shape=sizes)


def _derivatives(e: CvxpyAtom, method: Callable[[], tuple[Any, Array]]) -> tuple[Any, Array]:
    """What a method of an affine or linear atom of cvxpy says of its derivatives."""
    for parameter in e.parameters():
        _vector(parameter)  # has a value
    try:
        found, value = method()
    except (ValueError, IndexError) as error:  # as of sums of a vector that keep its dimension
        raise NotCanonical(e, f"an expression that cvxpy reads itself ({error})") from error
    if value.size != e.size:
        raise NotCanonical(e, f"an expression with {e.size} entries, as cvxpy says")
    return found, value


def _is_plain(e: Any) -> bool:
    """Whether the arguments of a product or a quotient have the same shape or are numbers."""
    return all(arg.shape == e.shape or arg.size == 1 for arg in e.args)


def _divisor(e: Any) -> Array:
    """The entries of the constant that a quotient is divided by."""
    divisor = _vector(e.args[1], may_be_infinite=True)
    if not np.all(divisor):
        raise NotCanonical(e, "divisors other than 0")
    return divisor


def _entry_by_entry(weights: Array, m: int) -> Operator:
    """Multiplies m entries by as many weights, or a single entry by each of them."""
    return Operator.of(DiagonalFactor(weights) if m == weights.size else ColumnFactor(weights))


def level(values: Any) -> Any:
    """One number in place of an array of equal ones."""
    if np.ndim(values) and np.size(values) and np.all(values == values[0]):
        return float(values[0])
    return values


def _real(value: Any) -> Any:
    """A real array or sparse matrix of the same numbers; none has an imaginary part."""
    numbers = value.data if is_sparse(value) else np.asarray(value)
    if np.iscomplexobj(numbers):
        if np.any(np.imag(numbers)):
            raise NotCanonical("a constant with imaginary parts", "real numbers")
        value = value.real
    return value if is_sparse(value) else np.asarray(value, dtype=float)


def _of_array(value: Any) -> Operator:
    """An array as an operator, which is a multiple of the identity or a diagonal if it is one."""
    array: Any = _real(value)
    if array.ndim < 2:
        return Operator.of(ColumnFactor(np.atleast_1d(array)))
    if array.shape[0] == array.shape[1]:
        d = np.asarray(array.diagonal(), dtype=float)
        entries = array.nnz if is_sparse(array) else np.count_nonzero(array)
        if entries == np.count_nonzero(d):
            if np.all(d == d[0]):
                return Operator.identity(d.size, float(d[0]))
            return Operator.of(DiagonalFactor(d))
    return Operator.of(MatrixFactor(array))


def _is_affine(e: Any) -> bool:
    """Whether the reader takes it for affine. cvxpy's own test may need eigenvalues."""
    if not e.args or e.is_constant():
        return True
    return _is_linear(e) and all(map(_is_affine, e.args))


def _is_nonnegative(e: Any) -> bool:
    """Whether the signs of constants and atoms show that no entry is below 0."""
    if e.is_constant():
        is_operator = isinstance(e.value, Operator)  # whose entries would have to be formed
        return not is_operator and bool(np.all(_vector(e, may_be_infinite=True) >= 0.0))
    if e.kind in ("abs", "norm1", "norm_inf"):
        return True
    if e.kind == "maximum":
        return any(map(_is_nonnegative, e.args))
    if isinstance(e, CvxpyAtom):
        return bool(e.origin.is_nonneg())
    grows = e.kind in ("AddExpression", "Promote", "Sum", "index", "max", "sum_largest")
    if grows or e.kind in ("transpose", "multiply", "MulExpression", "DivExpression"):
        return all(map(_is_nonnegative, e.args))
    return False


def _is_linear(e: Any) -> bool:
    """Whether an atom is linear in those of its arguments that are not constant."""
    if e.kind == "DivExpression":
        return bool(e.args[1].is_constant())
    if e.kind in _PRODUCTS:
        return any(arg.is_constant() for arg in e.args)
    return e.kind in _LINEAR or bool(e.is_linear)


def _vector(e: Any, may_be_infinite: bool = False) -> Array:
    """The entries of a constant, column by column."""
    if e.kind == "Promote":
        return np.full(e.size, _vector(e.args[0], may_be_infinite)[0])
    value = e.value
    if value is None:
        raise NotCanonical(f"the parameter {e} without a value", "numbers")
    value = _real(value.toarray() if is_sparse(value) else value)
    if not np.isfinite(value).all() and (not may_be_infinite or np.isnan(value).any()):
        raise NotCanonical(f"{e}, which is {value}", "finite numbers")
    return np.atleast_1d(value.ravel(order="F"))


def _number(e: Any) -> float:
    return float(_vector(e)[0])
