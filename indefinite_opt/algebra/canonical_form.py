"""The canonical form of a model: affine, quadratic and separable terms over rows and bounds.

The reader takes a declared objective and constraints apart, whether they are written in the atoms
of this package or in cvxpy's. Matrices stay operators: nothing n by n is formed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from indefinite_opt.algebra.atoms import POWERS, is_positive_part, is_square, kind_of
from indefinite_opt.algebra.operators import (
    ColumnFactor,
    DiagonalFactor,
    MatrixFactor,
    Operator,
    RowFactor,
)
from indefinite_opt.algebra.program import Model
from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import Array, is_sparse


class NotCanonical(ProblemError):
    """A part of a model that the canonical form has no place for; the message quotes it.

    >>> import indefinite_opt.algebra as cp
    >>> try:
    ...     canonical(Model(minimize=cp.square(cp.logistic(cp.Variable(name="x")))))
    ... except NotCanonical as error:
    ...     print(error)
    model: expected an affine or quadratic expression, got logistic(x)
    """

    def __init__(self, part: Any, expected: str = "an affine or quadratic expression") -> None:
        super().__init__("model", expected, " ".join(str(part).split()))


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
            spread = Operator.of(ColumnFactor(np.ones(max(self.m, other.m))))
            left, right = (part.through(spread) if part.m == 1 else part for part in (self, other))
            return left.plus(right)
        linear = dict(self.linear)
        for name, A in other.linear.items():
            linear[name] = linear[name] + A if name in linear else A
        return Affine(self.m, linear, self.constant + other.constant)

    def through(self, left: Operator) -> Affine:
        """The product with an operator from the left."""
        linear = {name: left @ A for name, A in self.linear.items()}
        zero = np.ndim(self.constant) == 0 and self.constant == 0.0
        return Affine(left.shape[0], linear, 0.0 if zero else left.times(self.constants))


@dataclass(frozen=True, eq=False)
class QuadraticTerm:
    """weight · uᵀPu, with the identity for P = None."""

    weight: float
    u: Affine
    P: Operator | None


@dataclass(frozen=True, eq=False)
class SeparableTerm:
    """Σ_i w_i φ(u_i)."""

    kind: str
    """Which φ: abs, pos for max(u, 0), pos2 for its square, logistic for log(1 + exp(u))."""
    weights: float | Array
    u: Affine
    text: str = ""
    """The declared atom, for messages."""


@dataclass(frozen=True, eq=False)
class AffineRows:
    """u = 0 or u ≤ 0, entry by entry, under a declared name."""

    name: str
    u: Affine
    equal: bool


@dataclass(frozen=True, eq=False)
class NormRow:
    """‖u‖₁ ≤ end, under a declared name."""

    name: str
    u: Affine
    end: float
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
        total = float(np.sum(self.affine.at(values)))
        for term in self.quadratics:
            u = term.u.at(values)
            total += term.weight * float(u @ (u if term.P is None else term.P.times(u)))
        for part in self.separables:
            total += float(np.sum(part.weights * _PHI[part.kind](part.u.at(values))))
        return total

    def size(self, values: dict[str, Any]) -> float:
        """A bound on the absolute terms of the objective at some values."""
        total = float(np.sum(self.affine.sizes(values)))
        for term in self.quadratics:
            u = term.u.sizes(values)
            total += abs(term.weight) * float(u @ (u if term.P is None else term.P.sizes(u)))
        for part in self.separables:
            terms = np.abs(part.weights) * _PHI[part.kind](part.u.sizes(values))
            total += float(np.sum(terms))
        return total

    def residuals(self, values: dict[str, Any]) -> dict[str, Array]:
        """u of every row, and the excess of every bound, by the declared names."""
        found = {row.name: row.u.at(values) for row in self.rows}
        for norm in self.norms:
            found[norm.name] = np.array([np.abs(norm.u.at(values)).sum() - norm.end])
        for bound in self.bounds:
            excess = np.ravel(np.asarray(values[bound.variable], dtype=float) - bound.end)
            found[bound.name] = excess if bound.side == "upper" else -excess
        return found


_PHI: dict[str, Callable[[Array], Array]] = {
    "abs": np.abs,
    "pos": lambda u: np.maximum(u, 0.0),
    "pos2": lambda u: np.maximum(u, 0.0) ** 2,
    "logistic": lambda u: np.logaddexp(0.0, u),
}


def canonical(model: Model) -> Canonical:
    """The canonical form of a model.

    Raises
    ------
    NotCanonical
        For an atom that no term of the form is made of; the message quotes it.
    """
    if model.inner is not None:
        raise NotCanonical("an inner minimisation")
    reader = _Reader()
    sense = 1 if model.maximize is None else -1
    objective = model.minimize if sense > 0 else model.maximize
    if objective.size != 1:
        raise NotCanonical(f"{objective} of shape {objective.shape}", "a number as objective")
    affine = reader.objective(objective, float(sense))
    if not np.all(np.isfinite(affine.constant)):
        raise NotCanonical(objective, "a finite objective")
    form = Canonical(sense, reader.variables, affine, reader.quadratics, reader.separables)
    for name, constraint in model.subject_to.items():
        kind = kind_of(constraint)
        if kind not in ("Equality", "Inequality", "Zero", "NonPos"):
            raise NotCanonical(f"{kind}: {constraint}", "affine equations and inequalities")
        norm = reader.norm(name, constraint)
        if norm is not None:
            form.norms.append(norm)
            continue
        u = reader.difference(constraint)
        equal = kind in ("Equality", "Zero")
        bound = None if equal else _as_bound(name, u)
        if not _has_ends(u, bound):
            raise NotCanonical(f"{name}: {constraint}", "constraints with finite ends")
        if bound is None:
            form.rows.append(AffineRows(name, u, equal))
        else:
            form.bounds.append(bound)
    return form


def affine(expression: Any) -> Affine:
    """The canonical form of an affine expression."""
    return _Reader().affine(expression)


def _as_bound(name: str, u: Affine) -> VariableBound | None:
    """u ≤ 0 as a bound, if u is ±a∘v + c for a single variable v and a > 0."""
    if len(u.linear) != 1:
        return None
    ((variable, A),) = u.linear.items()
    multiple = A.multiple
    if multiple and np.ndim(u.constant) == 0:
        side = "upper" if multiple > 0.0 else "lower"
        return VariableBound(name, variable, side, 0.0 - u.constant / multiple)
    d: Any = A.multiple if A.multiple is not None else A.diagonal
    if d is None or not (np.all(np.asarray(d) > 0.0) or np.all(np.asarray(d) < 0.0)):
        return None
    end = 0.0 - np.asarray(u.constant) / d
    if end.ndim and end.size and np.all(end == end.flat[0]):
        end = end.flat[0]
    side = "upper" if np.all(np.asarray(d) > 0.0) else "lower"
    return VariableBound(name, variable, side, float(end) if np.ndim(end) == 0 else end)


def _has_ends(u: Affine, bound: VariableBound | None) -> bool:
    """Whether all ends are finite, or those of a bound infinite on its own side."""
    if bound is None:
        return bool(np.all(np.isfinite(u.constant)))
    outer = np.asarray(bound.end) if bound.side == "upper" else -np.asarray(bound.end)
    return bool(np.all(outer > -np.inf))  # and no nan


_LINEAR = {
    "AddExpression", "NegExpression", "Promote", "broadcast_to", "Sum", "reshape", "index",
    "special_index",
}  # fmt: skip
"""Atoms that are affine if their arguments are."""


class _Reader:
    """Reads expressions; quadratic and separable terms of an objective collect in it."""

    def __init__(self) -> None:
        self.variables: dict[str, tuple[int, ...]] = {}
        self.quadratics: list[QuadraticTerm] = []
        self.separables: list[SeparableTerm] = []

    # --------------------------------------------------------------------- constants

    def operator(self, e: Any) -> Operator:
        """The operator of a constant matrix, or of a constant vector as a column."""
        kind = kind_of(e)
        if kind == "Constant" and isinstance(e.value, Operator):
            return e.value
        if kind in ("transpose", "psd_wrap", "NegExpression"):
            inner = self.operator(e.args[0])
            if kind == "transpose":
                return inner.T
            return -inner if kind == "NegExpression" else inner
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
            raise NotCanonical(f"{e}, which has entries that are no numbers", "finite numbers")
        return _of_array(value)

    # ------------------------------------------------------------- affine expressions

    def affine(self, e: Any) -> Affine:
        """Σ_v A_v v + c."""
        if e.is_constant():
            return Affine(e.size, {}, _vector(e, may_be_infinite=True))
        kind, args = kind_of(e), e.args
        if kind == "Variable":
            if e.ndim > 1:
                raise NotCanonical(f"the matrix variable {e.name()}", "vectors and numbers")
            return self._variable(e)
        if kind == "AddExpression":
            total = self.affine(args[0])
            for arg in args[1:]:
                total = total.plus(self.affine(arg))
            return total
        if kind == "NegExpression":
            return self.affine(args[0]).scaled(-1.0)
        if kind in ("Promote", "broadcast_to") and args[0].size == 1:
            return self.affine(args[0]).through(Operator.of(ColumnFactor(np.ones(e.size))))
        if kind == "Sum" and e.size == 1:
            return self.affine(args[0]).through(Operator.of(RowFactor(np.ones(args[0].size))))
        if kind == "reshape" and e.ndim <= 1:
            return self.affine(args[0])
        if kind in ("index", "special_index"):
            return self._indexed(e)
        if kind == "multiply":
            return self._scaled(e)
        if kind == "DivExpression" and args[1].is_constant():
            divisor, inner = _divisor(e), self.affine(args[0])
            if divisor.size == 1:
                return inner.scaled(1.0 / float(divisor[0]))
            return inner.through(_entry_by_entry(1.0 / divisor, inner.m))
        if kind == "MulExpression":
            return self._product(e)
        raise NotCanonical(e)

    def difference(self, constraint: Any) -> Affine:
        """The left side less the right one, if there is one."""
        u = self.affine(constraint.args[0])
        if len(constraint.args) == 2:
            u = u.plus(self.affine(constraint.args[1]).scaled(-1.0))
        return u

    def _variable(self, e: Any) -> Affine:
        attributes = [
            name for name, value in e.attributes.items() if value is not None and np.any(value)
        ]
        if attributes:
            raise NotCanonical(
                f"the variable {e.name()} with the attribute {attributes[0]}",
                "variables without attributes, and bounds as constraints",
            )
        name = e.name()
        if self.variables.setdefault(name, e.shape) != e.shape:
            raise NotCanonical(f"two variables {name}", "variables with different names")
        return Affine(e.size, {name: Operator.identity(e.size)})

    def _indexed(self, e: Any) -> Affine:
        from scipy import sparse

        inner = self.affine(e.args[0])
        chosen = np.atleast_1d(np.arange(inner.m)[e.key])
        ones, places = np.ones(chosen.size), np.arange(chosen.size)
        pick = sparse.csr_array((ones, (places, chosen)), (chosen.size, inner.m))
        return inner.through(Operator.of(MatrixFactor(pick)))

    def _scaled(self, e: Any) -> Affine:
        a, b = e.args if e.args[0].is_constant() else reversed(e.args)
        if not a.is_constant():
            raise NotCanonical(e)
        inner, plain = self.affine(b), a.args[0] if kind_of(a) == "Promote" else a
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
        raise NotCanonical(e)

    def norm(self, name: str, constraint: Any) -> NormRow | None:
        """‖u‖₁ ≤ end, if the constraint is one."""
        if kind_of(constraint) != "Inequality":
            return None
        norm, end = constraint.args
        if kind_of(norm) != "norm1" or not end.is_constant() or end.size != 1:
            return None
        return NormRow(name, self.affine(norm.args[0]), _number(end), str(norm))

    # ------------------------------------------------------------------ the objective

    def objective(self, e: Any, weight: Any = 1.0) -> Affine:
        """Σ weight · e; the affine part is returned, the other terms are collected."""
        if _is_affine(e):
            found = self.affine(e)
            if np.ndim(weight) == 0:
                return found.scaled(float(weight))
            return found.through(Operator.of(RowFactor(np.asarray(weight, dtype=float))))
        kind, args = kind_of(e), e.args
        if kind == "AddExpression":
            total = Affine(1, {})
            for arg in args:
                total = total.plus(self.objective(arg, weight))
            return total
        if kind == "NegExpression":
            return self.objective(args[0], -weight)
        if kind == "DivExpression" and args[1].is_constant():
            divisor = _divisor(e)
            if divisor.size > 1 and args[0].size == 1:
                return self.objective(args[0], float(np.sum(weight / divisor)))
            return self.objective(args[0], weight / (divisor[0] if divisor.size == 1 else divisor))
        if kind in ("Promote", "broadcast_to") and args[0].size == 1:
            return self.objective(args[0], float(np.sum(np.broadcast_to(weight, (e.size,)))))
        if kind in ("multiply", "MulExpression") and any(arg.is_constant() for arg in args):
            factor, other = args if args[0].is_constant() else reversed(args)
            if kind == "MulExpression" and (factor.ndim != 1 or other.ndim != 1):
                raise NotCanonical(e)
            multiple = _number(factor) if factor.size == 1 else _vector(factor)
            if np.ndim(multiple) and other.size == 1:
                return self.objective(other, float(np.sum(weight * multiple)))
            return self.objective(other, weight * multiple)
        if kind == "Sum" and e.size == 1:
            return self.objective(args[0], np.broadcast_to(weight, (args[0].size,)))
        self._collect(e, _level(weight))
        return Affine(1, {})

    def _collect(self, e: Any, weight: Any) -> None:
        """Add the terms of weight · e, for a single atom e."""
        kind, args = kind_of(e), e.args
        if kind == "QuadForm":
            form = self.operator(args[1])
            self.quadratics.append(QuadraticTerm(float(weight), self.affine(args[0]), form))
        elif kind == "quad_over_lin" and e.size == 1 and args[1].is_constant():
            share = float(weight) / float(_divisor(e)[0])
            self.quadratics.append(QuadraticTerm(share, self.affine(args[0]), None))
        elif kind in POWERS and is_square(e):
            if is_positive_part(args[0]):
                u = self.affine(args[0].args[0])
                self.separables.append(SeparableTerm("pos2", weight, u, str(e)))
            elif np.ndim(weight) == 0:
                self.quadratics.append(QuadraticTerm(float(weight), self.affine(args[0]), None))
            else:
                weights = Operator.of(DiagonalFactor(np.asarray(weight, dtype=float)))
                self.quadratics.append(QuadraticTerm(1.0, self.affine(args[0]), weights))
        elif kind in ("multiply", "MulExpression") and e.size == 1 and all(map(_is_affine, args)):
            # uᵀv = ¼(‖u + v‖² - ‖u - v‖²)
            u, v = (self.affine(arg) for arg in args)
            for sign in (1.0, -1.0):
                both = u.plus(v.scaled(sign))
                self.quadratics.append(QuadraticTerm(0.25 * sign * float(weight), both, None))
        elif kind in ("norm1", "Pnorm", "abs", "logistic") or is_positive_part(e):
            if kind == "Pnorm" and float(np.asarray(e.p)) != 1.0:
                raise NotCanonical(e)
            name = {"logistic": "logistic", "maximum": "pos"}.get(kind, "abs")
            self.separables.append(SeparableTerm(name, weight, self.affine(args[0]), str(e)))
        else:
            raise NotCanonical(e)


def _divisor(e: Any) -> Array:
    """The entries of the constant that a quotient is divided by."""
    divisor = _vector(e.args[1], may_be_infinite=True)
    if not np.all(divisor):
        raise NotCanonical(e, "divisors other than 0")
    return divisor


def _entry_by_entry(weights: Array, m: int) -> Operator:
    """Multiplies m entries by as many weights, or a single entry by each of them."""
    return Operator.of(DiagonalFactor(weights) if m == weights.size else ColumnFactor(weights))


def _level(values: Any) -> Any:
    """One number in place of an array of equal ones."""
    if np.ndim(values) and np.size(values) and np.all(values == values[0]):
        return float(values[0])
    return values


def _of_array(value: Any) -> Operator:
    """An array as an operator, which is a multiple of the identity or a diagonal if it is one."""
    array: Any = value if is_sparse(value) else np.asarray(value, dtype=float)
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
    kind = kind_of(e)
    if kind in _LINEAR:
        return all(map(_is_affine, e.args))
    if kind == "DivExpression":
        return bool(e.args[1].is_constant()) and _is_affine(e.args[0])
    if kind in ("multiply", "MulExpression"):
        a, b = e.args
        return (a.is_constant() and _is_affine(b)) or (b.is_constant() and _is_affine(a))
    return False


def _vector(e: Any, may_be_infinite: bool = False) -> Array:
    """The entries of a constant, column by column."""
    if kind_of(e) in ("Promote", "broadcast_to") and e.args[0].size == 1:
        return np.full(e.size, _vector(e.args[0], may_be_infinite)[0])
    value = e.value
    if value is None:
        raise NotCanonical(f"the parameter {e} without a value", "numbers")
    value = value.toarray() if is_sparse(value) else np.asarray(value, dtype=float)
    if not np.isfinite(value).all() and (not may_be_infinite or np.isnan(value).any()):
        raise NotCanonical(f"{e}, which is {value}", "finite numbers")
    return np.atleast_1d(value.ravel(order="F"))


def _number(e: Any) -> float:
    return float(_vector(e)[0])
