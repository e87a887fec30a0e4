"""Expressions of cvxpy as expressions of this package; no other module reads those of cvxpy.

`Conversion` gives every part of cvxpy a kind of this package if one has the same meaning, and
otherwise the name of its class with "cvxpy." in front. Each converted part keeps its `origin`, the
object of cvxpy, which has its value and its text, and which the translation into cvxpy returns.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

import numpy as np

from indefinite_opt.algebra.atoms import (
    Atom,
    Constant,
    Constraint,
    Expression,
    Variable,
    attributes_of,
    cast,
)
from indefinite_opt.algebra.operators import MatrixFactor, Operator
from indefinite_opt.foundation import Array, frozen, is_sparse

HELD_BY_ONE = threading.RLock()
"""Code that gives values to variables of cvxpy holds it until the expressions have been evaluated,
as models that are solved in several threads may have variables in common."""

_SAME = (
    "AddExpression", "NegExpression", "multiply", "MulExpression", "DivExpression", "QuadForm",
    "quad_over_lin", "Sum", "norm1", "abs", "logistic", "norm_inf", "max", "maximum", "huber",
    "sum_largest",
)  # fmt: skip
"""Classes of cvxpy whose objects are atoms of this package under the same name."""

_POWERS = ("Power", "PowerApprox", "power")

_LISTED = ("nonneg", "nonpos", "pos", "neg", "PSD", "NSD", "bounds")
"""Attributes of variables that cvxpy states as constraints of their `domain`, too."""

_GROWTH = {
    **dict.fromkeys(_POWERS, "faster"),
    **dict.fromkeys(
        (
            "minimum", "min", "Pnorm", "PnormApprox", "Vstack", "Hstack", "Concatenate",
            "broadcast_to", "reshape", "transpose", "diag_vec", "diag_mat", "upper_tri",
        ),
        "alike",
    ),
}  # fmt: skip
"""`Expression.growth` of atoms without a kind of this package, by the names of their classes."""


_DATA = {
    "Power": "p", "power": "p", "Pnorm": "original_p", "GeoMean": "w", "diag_mat": "k",
    "diag_vec": "k", "huber": "M", "sum_largest": "k", "lambda_sum_largest": "k", "gmatmul": "A",
    "reshape": "order", "transpose": "axes", "Concatenate": "axis", "perspective": "f",
}  # fmt: skip
"""The attribute that defines an atom of cvxpy beside its arguments, by the name of its class."""


class _OfCvxpy:
    """What all converted parts have from the object of cvxpy."""

    __slots__ = ()
    origin: Any

    @property
    def value(self) -> Any:
        origin = self.origin
        unset = [v for v in origin.variables() if v.value is None] if origin.is_constant() else []
        if not unset:
            try:
                return origin.value
            except np.linalg.LinAlgError:  # as for the inverse of a singular matrix
                return np.nan
        # Without a value of u cvxpy takes u⁰ for a single number.
        with HELD_BY_ONE:
            try:
                for variable in unset:
                    variable.save_value(np.zeros(variable.shape))
                return origin.value
            finally:
                for variable in unset:
                    variable.save_value(None)

    def name(self) -> str:
        found: str = self.origin.name()
        return found

    def __str__(self) -> str:
        return str(self.origin)

    @property
    def title(self) -> str:
        # An approximation, as of a power by second-order cones, is the same function.
        return type(self.origin).__name__.removesuffix("Approx")


class CvxpyAtom(_OfCvxpy, Atom):
    """An atom of cvxpy; its kind begins with "cvxpy." if this package has none of that meaning.

    >>> import cvxpy
    >>> u = cvxpy.Variable(2, name="u")
    >>> whole = converted(cvxpy.min(u) - cvxpy.sum(u))
    >>> [part.kind for part in whole.args], str(whole.args[0])
    (['cvxpy.min', 'NegExpression'], 'min(u, None, False)')
    """

    __slots__ = ("origin",)

    def __init__(self, origin: Any, kind: str, args: tuple[Expression, ...], key: Any) -> None:
        super().__init__(kind, args, origin.shape, key)
        self.origin = origin
        self._is_constant = origin.is_constant()

    @property
    def axis(self) -> Any:
        return getattr(self.origin, "axis", None)

    @property
    def keepdims(self) -> bool:
        return bool(getattr(self.origin, "keepdims", False))

    @property
    def growth(self) -> str:
        return _GROWTH.get(type(self.origin).__name__, "")

    @property
    def is_linear(self) -> bool:
        from cvxpy.atoms.affine.affine_atom import AffAtom

        return isinstance(self.origin, AffAtom)

    @property
    def is_copy(self) -> bool:
        vectors = self.ndim <= 1 and all(arg.ndim <= 1 for arg in self.args)
        return self.kind == "cvxpy.reshape" and vectors

    @property
    def details(self) -> list[Any]:
        name = _DATA.get(self.title)
        if name is None:
            return []
        found = getattr(self.origin, name)
        if name == "axes":
            return [str(axis) for axis in found or reversed(range(self.ndim))]
        if name in ("order", "axis"):
            return [str(found)]
        parts = found if isinstance(found, tuple) else (found,)
        return [cast(converted(part)) for part in parts]

    def numeric(self, values: list[Any]) -> Any:
        return self.origin.numeric(values)

    def parameters(self) -> list[Parameter]:
        """The parameters in it."""
        return list(map(Parameter, self.origin.parameters()))

    def derivatives(self) -> tuple[dict[Variable, Operator], Array]:
        """The derivatives by its variables, of an affine expression, and its value at 0.

        `ValueError` or `IndexError` if cvxpy has none, as of a vector's sum that keeps its
        dimension.
        """
        linear, constant = _derivatives(self.origin)
        known = {variable.id: variable for variable in self.variables()}
        return {known[variable.id]: A for variable, A in linear.items()}, constant

    def derivatives_by_arguments(self) -> tuple[list[Operator | None], Array]:
        """The same by the arguments, with None for a constant one, if it is linear in them."""
        import cvxpy as cp

        args = self.origin.args
        inner = [arg if arg.is_constant() else cp.Variable(arg.shape) for arg in args]
        linear, constant = _derivatives(self.origin.copy(inner))
        return [linear.get(part) for part in inner], constant


class CvxpyVariable(_OfCvxpy, Variable):
    """A variable of cvxpy, which holds the value.

    >>> import cvxpy
    >>> u = cvxpy.Variable(2, name="u", nonneg=True)
    >>> converted(u).value = np.array([1.0, 2.0])
    >>> u.value, [str(one) for one in converted(u).domain]
    (array([1., 2.]), ['0.0 <= u'])
    """

    __slots__ = ("origin",)

    def __init__(self, origin: Any, convert: Conversion) -> None:
        self.shape, self.attributes = origin.shape, dict(origin.attributes)
        self.origin, self.id, self._name = origin, origin.id, origin.name()
        if origin.attributes["bounds"] is not None:  # which may have parameters
            self.attributes["bounds"] = list(map(convert, origin.attributes["bounds"]))

    @property
    def content(self) -> Any:
        return self._name, self.attributes

    @property
    def domain(self) -> list[Any]:
        return list(map(Conversion(self), self.origin.domain))

    @property
    def unlisted(self) -> list[str]:
        return [name for name in attributes_of(self) if name not in _LISTED]

    @property
    def value(self) -> Any:
        return self.origin.value

    @value.setter
    def value(self, value: Any) -> None:
        self.origin.value = value


class Parameter(_OfCvxpy, Expression):
    """A parameter of cvxpy: a constant whose value may change.

    >>> import cvxpy
    >>> end = cvxpy.Parameter(name="end", value=1.0)
    >>> row = converted(cvxpy.Variable(name="u") <= end)
    >>> end.value = 2.0
    >>> row.args[1].kind, float(row.args[1].value)
    ('Parameter', 2.0)
    """

    __slots__ = ("id", "origin")
    kind, args, key, _is_constant = "Parameter", (), None, True

    def __init__(self, origin: Any) -> None:
        self.shape, self.origin, self.id = origin.shape, origin, origin.id

    @property
    def content(self) -> Any:
        return self.value


class CvxpyConstant(_OfCvxpy, Constant):
    """A constant of cvxpy, whose value may be sparse or have complex entries."""

    __slots__ = ("origin",)

    def __init__(self, origin: Any) -> None:
        self.shape, self.origin, self._name = origin.shape, origin, origin._name

    @property
    def content(self) -> Any:
        return self._name, self.value


class CvxpyConstraint(_OfCvxpy, Constraint):
    """A constraint of cvxpy, whose kind is the name of its class.

    >>> import cvxpy
    >>> cone = converted(cvxpy.SOC(cvxpy.Constant(1.0), cvxpy.Variable(2, name="u")))
    >>> cone.kind, [arg.kind for arg in cone.args]
    ('SOC', ['cvxpy.reshape', 'Variable'])
    """

    __slots__ = ("content", "origin")

    def __init__(self, origin: Any, args: tuple[Expression, ...], data: tuple[Any, ...]) -> None:
        self.kind, self.args = type(origin).__name__, args
        self.origin, self.content = origin, data

    @property
    def shape(self) -> tuple[int, ...]:
        found: tuple[int, ...] = self.origin.shape
        return found

    @property
    def expr(self) -> Any:
        """The left side less the right one, or the only argument."""
        return converted(self.origin.expr)

    @property
    def details(self) -> list[Any]:
        if self.kind == "SOC":
            return [str(self.origin.axis)]
        return [part for part in self.content if isinstance(part, Expression)]

    def violation(self) -> Any:
        return self.origin.violation()


class Conversion:
    """Converts expressions and constraints of cvxpy, each of them once; all else stays as it is."""

    def __init__(self, *known: Any) -> None:
        # The objects of cvxpy themselves are kept, so that no other ones get their ids.
        self.made: dict[int, tuple[Any, Any]] = {}
        for part in known:
            self.made[id(part.origin)] = part.origin, part

    def __call__(self, part: Any) -> Any:
        if part is None or isinstance(part, (Expression, Constraint, str)):
            return part
        found = self.made.get(id(part))
        if found is not None:
            return found[1]
        made: Any
        if hasattr(part, "is_convex"):
            made = self._atom(part) if part.args else self._leaf(part)
        elif hasattr(part, "violation") and hasattr(part, "args"):
            # The last of the data is its number, which is never the same.
            data = tuple(map(self, (part.get_data() or ())[:-1]))
            made = CvxpyConstraint(part, tuple(map(self, part.args)), data)
        else:
            return part
        self.made[id(part)] = part, made
        return made

    def _atom(self, origin: Any) -> Expression:
        args = tuple(map(self, origin.args))
        if type(origin).__name__ == "psd_wrap":  # only says that its argument is semidefinite
            made: Expression = args[0]
            return made
        kind, data = _kind(origin), origin.get_data()
        if kind == "index":
            return CvxpyAtom(origin, kind, args, data[-1])  # the key as it was written
        return CvxpyAtom(origin, kind, args, None if data is None else tuple(map(self, data)))

    def _leaf(self, origin: Any) -> Expression:
        if origin.variables():
            return CvxpyVariable(origin, self)
        return Parameter(origin) if origin.parameters() else CvxpyConstant(origin)


def _kind(origin: Any) -> str:
    """The kind of an atom in this package, or its name behind "cvxpy." if it has none."""
    name, args = type(origin).__name__, origin.args
    if name in _POWERS:
        exponent = getattr(origin.p, "value", origin.p)
        if exponent is not None and float(np.asarray(exponent)) == 2.0:
            return "Power"
    elif name in ("Promote", "broadcast_to"):
        if args[0].size == 1:
            return "Promote"
    elif name in ("index", "special_index"):
        return "index"
    elif name == "transpose":
        axes = origin.axes
        if origin.ndim == 2 and (axes is None or [axis % 2 for axis in axes] == [1, 0]):
            return "transpose"
    elif name == "MatrixFrac":
        if args[0].ndim < 2 or min(args[0].shape) == 1:
            return "MatrixFrac"
    elif name in _SAME:
        return name
    return f"cvxpy.{name}"


def converted(part: Any) -> Any:
    """An expression or a constraint of cvxpy as one of this package; all else stays as it is.

    >>> import cvxpy
    >>> u = cvxpy.Variable(2, name="u")
    >>> converted(cvxpy.sum_squares(u) + 1).kind, converted(3.0)
    ('AddExpression', 3.0)
    """
    return Conversion()(part)


def _derivatives(e: Any) -> tuple[dict[Any, Operator], Array]:
    """The derivatives of an affine expression of cvxpy by its variables, and its value at 0."""
    from scipy import sparse

    with HELD_BY_ONE:
        kept = {variable: variable.value for variable in e.variables()}
        try:
            for variable in kept:
                variable.save_value(np.zeros(variable.shape))
            # The derivative of a number by a number is a number.
            parts = {
                v: np.atleast_2d(part) if np.isscalar(part) else part for v, part in e.grad.items()
            }
            value = e.value
        finally:
            for variable, before in kept.items():
                variable.save_value(before)
    linear = {v: Operator.of(MatrixFactor(sparse.csr_array(part.T))) for v, part in parts.items()}
    value = value.toarray() if is_sparse(value) else np.asarray(value, dtype=float)
    return linear, np.atleast_1d(value.ravel(order="F"))


def takes_other_arguments(origin: Any) -> bool:
    """Whether cvxpy makes the same atom of other arguments, as it does not of a perspective."""
    import cvxpy as cp

    args = [arg if arg.is_constant() else cp.Variable(arg.shape) for arg in origin.args]
    try:
        origin.copy(args)
    except (ValueError, TypeError, AssertionError):
        return False
    return True


def has_parameters(parts: Iterable[Any]) -> bool:
    """Whether there is a parameter of cvxpy in one of some converted parts."""
    for part in parts:
        origin = getattr(part, "origin", None)
        if origin is not None and origin.parameters():
            return True
    return False


class AtPresent:
    """Makes objects of cvxpy of converted parts, with the present values of parameters."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, Any]] = {}

    def __call__(self, part: Any) -> Any:
        origin = getattr(part, "origin", None)
        return part if origin is None else self._settled(origin)

    def _settled(self, origin: Any) -> Any:
        if not origin.parameters():
            return origin
        if id(origin) not in self._made:
            self._made[id(origin)] = origin, self._made_anew(origin)
        return self._made[id(origin)][1]

    def _made_anew(self, origin: Any) -> Any:
        import cvxpy

        if origin.args:
            return origin.copy(list(map(self._settled, origin.args)))
        # A variable may have parameters in its bounds. An error says so if a parameter without a
        # value is read.
        if origin.variables() or origin.value is None:
            return origin
        value = origin.value if is_sparse(origin.value) else frozen(origin.value)
        named = origin.name() != f"param{origin.id}"  # else it has the name that cvxpy gives to all
        return cvxpy.Constant(value, name=origin.name() if named else None)
