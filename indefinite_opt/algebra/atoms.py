"""Expressions in cvxpy's spelling, which only record what was written.

A model is read in three ways: it is printed, compiled for direct solvers, and translated into cvxpy
for the solvers behind it. `Expression` therefore keeps the name of cvxpy's class and the arguments,
and decides nothing about curvature. A matrix may be an `Operator`, whose entries are never formed
here. Expressions of cvxpy are converted by `from_cvxpy` when a model is made.

>>> x = Variable(2, name="x")
>>> x.value = np.array([3.0, -4.0])
>>> (sum_squares(x) + 2 * norm1(x)).value
39.0
"""

from __future__ import annotations

import builtins
import functools
import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from indefinite_opt.algebra.operators import MatrixFactor, Operator
from indefinite_opt.errors import ProblemError, shown
from indefinite_opt.foundation import Array, checks, frozen, is_sparse, real_array


class Expression:
    """An atom and its arguments.

    Sums, differences, multiples, `@`, `.T` and indices make others; `<=`, `>=` and `==` make
    constraints.

    Attributes
    ----------
    kind : str
        The name of cvxpy's class for the atom, with "cvxpy." in front if this package has no such
        atom.
    args : tuple of Expression
    shape : tuple of int
        () for a number, (n,) for a vector, (m, n) for a matrix.
    key : object
        The places of an index; None for other atoms of this package.
    origin : object
        The object of cvxpy that it was converted from, or None.

    Examples
    --------
    >>> x = Variable(2, name="x")
    >>> expression = 3 * x[0] - sum(x)
    >>> x.value = np.array([2.0, 1.0])
    >>> expression.shape, expression.value
    ((), 3.0)
    """

    __slots__ = ("shape",)
    shape: tuple[int, ...]
    kind: str
    args: tuple[Expression, ...]
    key: Any
    origin: Any = None
    _is_constant: bool

    axis: Any = property(lambda self: None)
    """The axis of a sum or a norm; None if it is over all entries."""
    keepdims: Any = property(lambda self: False)
    """Whether a sum or a norm along an axis keeps the axis."""
    is_linear: Any = property(lambda self: False)
    """Whether an atom that only cvxpy has is linear in its arguments."""
    is_copy: Any = property(lambda self: False)
    """Whether an atom that only cvxpy has is the vector or the number that its argument is."""
    growth: Any = property(lambda self: "")
    """How an atom that only cvxpy has grows: faster than its arguments, alike, or "" for others."""
    title: Any = property(lambda self: self.kind)
    """The printed name of an atom that has no notation."""
    details: Any = property(lambda self: _data(self))
    """What defines the atom beside its arguments, as texts and expressions, to be printed."""
    place: Any = property(lambda self: f"[{_place(self.key)}]")
    """The places of an index with brackets: [1:], [0, :]."""
    content: Any = property(lambda self: self.key)
    """What is recorded of a converted part beside its kind, its shape and its arguments."""

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))

    def is_constant(self) -> bool:
        """Whether there is no variable in it."""
        return self._is_constant

    def variables(self) -> list[Variable]:
        """The variables in it, in their order."""
        return list(dict.fromkeys(v for arg in self.args for v in arg.variables()))

    def name(self) -> str:
        """How the expression is written, for messages."""
        kind, inner = self.kind, [arg.name() for arg in self.args]
        if kind == "AddExpression":
            return " + ".join(inner).replace("+ -", "- ")
        if kind == "Promote":
            return inner[0]
        if is_positive_part(self):
            return f"pos({inner[0]})"
        if kind in _WRITTEN:
            inner += [str(part) for part in self.details]
            fixed = kind == "quad_over_lin"
            return f"{_WRITTEN[kind]}({', '.join(inner[:1] if fixed else inner)})"
        if kind == "DivExpression" and self.args[1].kind in ("multiply", "MulExpression"):
            inner[1] = f"({inner[1]})"
        loose = ["AddExpression", "Promote"]
        if kind in ("index", "transpose"):
            loose += ["NegExpression", "multiply", "MulExpression", "DivExpression"]
        for k, arg in enumerate(self.args):
            if arg.kind in loose and " " in inner[k]:
                inner[k] = f"({inner[k]})"
        if kind == "NegExpression":
            return f"-{inner[0]}"
        if kind == "index":
            return inner[0] + str(self.place)
        if kind == "transpose":
            return f"{inner[0]}.T"
        return {"MulExpression": " @ ", "DivExpression": " / "}.get(kind, " * ").join(inner)

    __str__ = name

    @property
    def value(self) -> Any:
        """The number or array at the values of the variables."""
        values = [arg.value for arg in self.args]
        return None if any(value is None for value in values) else self.numeric(values)

    def numeric(self, values: list[Any]) -> Any:
        """The number or array at the values of the arguments."""
        found = _VALUES[self.kind](self, *values)
        return found if self.shape else float(found)

    @property
    def T(self) -> Expression:
        """A matrix transposed; a vector stays as it is."""
        if self.ndim < 2:
            return self
        return Atom("transpose", (self,), self.shape[::-1])

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Sums, products and comparisons of an array with an expression, as `array + x`."""
        if method != "__call__" or options or ufunc not in _OPERATORS:
            raise ProblemError(
                str(self), "an operator or a function of indefinite_opt.algebra",
                f"numpy.{ufunc.__name__}", "numpy does not know what a variable is.",
            )  # fmt: skip
        return _OPERATORS[ufunc](*map(cast, inputs))

    def __add__(self, other: Any) -> Expression:
        return _total(self, cast(other))

    def __radd__(self, other: Any) -> Expression:
        return _total(cast(other), self)

    def __neg__(self) -> Expression:
        return Atom("NegExpression", (self,), self.shape)

    def __sub__(self, other: Any) -> Expression:
        return _total(self, -cast(other))

    def __rsub__(self, other: Any) -> Expression:
        return _total(cast(other), -self)

    def __mul__(self, other: Any) -> Expression:
        return _times(self, cast(other))

    def __rmul__(self, other: Any) -> Expression:
        return _times(cast(other), self)

    def __truediv__(self, other: Any) -> Expression:
        return _quotient(self, cast(other))

    def __rtruediv__(self, other: Any) -> Expression:
        return _quotient(cast(other), self)

    def __pow__(self, power: Any) -> Expression:
        if not np.isscalar(power) or power != 2:
            got = f"the power {shown(power)}"
            raise ProblemError("x ** p", "the power 2", got, "cvxpy's own atoms have others.")
        return square(self)

    def __abs__(self) -> Expression:
        return abs(self)

    def __matmul__(self, other: Any) -> Expression:
        return _product(self, cast(other))

    def __rmatmul__(self, other: Any) -> Expression:
        return _product(cast(other), self)

    def __getitem__(self, key: Any) -> Expression:
        try:
            shape = np.broadcast_to(False, self.shape)[key].shape
        except (IndexError, TypeError) as error:
            place = f"places of shape {self.shape}"
            raise ProblemError(f"{self}[...]", place, f"{_place(key)} ({error})") from None
        return Atom("index", (self,), shape, key)

    def __le__(self, other: Any) -> Constraint:
        return Constraint("Inequality", self, cast(other))

    def __ge__(self, other: Any) -> Constraint:
        return Constraint("Inequality", cast(other), self)

    def __eq__(self, other: Any) -> Constraint:  # type: ignore[override]
        return Constraint("Equality", self, cast(other))

    def __lt__(self, other: Any) -> Constraint:
        raise ProblemError("constraint", "<=, >= or ==", "< or >", "A strict side has no minimum.")

    __gt__ = __lt__

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise ProblemError("truth value", "values", f"the expression {self}", "Compare values.")


_OPERATORS: dict[Any, Callable[..., Any]] = {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul,
    np.divide: operator.truediv, np.matmul: operator.matmul, np.less_equal: operator.le,
    np.greater_equal: operator.ge, np.equal: operator.eq, np.less: operator.lt,
    np.greater: operator.gt,
}  # fmt: skip
"""What numpy calls for a sum, a product or a comparison with an array on the left."""

_COUNT = itertools.count()


class Atom(Expression):
    """An expression made of others.

    Variables and constants are not derived from it, as Python would then exchange the sides of
    `atom == constant`.
    """

    __slots__ = ("_is_constant", "args", "key", "kind")

    def __init__(
        self, kind: str, args: tuple[Expression, ...], shape: tuple[int, ...] = (), key: Any = None
    ) -> None:
        self.kind, self.args, self.shape, self.key = kind, args, shape, key
        self._is_constant = True
        for arg in args:
            if not arg._is_constant:
                self._is_constant = False
                break


class Variable(Expression):
    """A variable: a number, a vector of n or a matrix; PSD for a positive semidefinite one.

    >>> Variable(name="b").shape, Variable(3, name="alpha").shape, Variable((2, 2), name="K").shape
    ((), (3,), (2, 2))
    """

    __slots__ = ("_held", "_name", "attributes", "id")
    kind, args, key, _is_constant = "Variable", (), None, False
    attributes: dict[str, Any]

    def __init__(
        self, shape: int | tuple[int, ...] = (), name: str = "x", PSD: bool = False
    ) -> None:
        if not isinstance(name, str):
            raise ProblemError("name", "a text", shown(name))
        self.shape, self._name, self.attributes = _sizes(shape), name, {"PSD": PSD}
        self.id = next(_COUNT)  # as in cvxpy, a later variable has a larger one
        self._held: Array | None = None

    @property
    def domain(self) -> list[Constraint]:
        """What its attributes say, as constraints."""
        return [Constraint("PSD", self)] if self.attributes["PSD"] else []

    @property
    def unlisted(self) -> list[str]:
        """The names of attributes that `domain` does not state."""
        return []

    @property
    def value(self) -> Any:
        return self._held

    @value.setter
    def value(self, value: Any) -> None:
        held = np.asarray(value, dtype=float)
        if held.shape != self.shape:
            raise ValueError(f"invalid dimensions {held.shape} for the shape {self.shape}")
        if self.attributes["PSD"] and _negative(held) > 1e-8 * float(np.abs(held).max()):
            raise ValueError("the value must be positive semidefinite")
        self._held = held

    def variables(self) -> list[Variable]:
        return [self]

    def name(self) -> str:
        return self._name

    __str__ = name


def _sizes(shape: Any) -> tuple[int, ...]:
    """A shape as a tuple of integers."""
    sizes: list[int] = []
    for size in shape if isinstance(shape, tuple | list) else (shape,):
        if not isinstance(size, int | np.integer) or size < 0:
            raise ProblemError("shape", "an integer or a tuple of integers", shown(shape))
        sizes.append(int(size))
    return tuple(sizes)


class Dual(Expression):
    """The multiplier of a named constraint; see `dual`."""

    __slots__ = ("constraint",)
    kind, args, key, _is_constant = "Dual", (), None, False
    content: Any = property(lambda self: self.constraint)

    def __init__(self, constraint: str, shape: tuple[int, ...]) -> None:
        self.constraint, self.shape = constraint, shape

    @property
    def value(self) -> Any:
        """None, as it is known only of a solution."""
        return None

    def variables(self) -> list[Variable]:
        return []

    def name(self) -> str:
        return f"dual({self.constraint!r})"

    __str__ = name

    def misplaced(self) -> ProblemError:
        """The error for a multiplier in the objective or in a constraint."""
        got = "one in the objective or in a constraint"
        hint = "Multipliers are known when the program is solved."
        return ProblemError(str(self), "a place in coef or offset", got, hint)


def duals_of(expression: Any) -> list[Dual]:
    """The multipliers in an expression.

    >>> [part.constraint for part in duals_of(-dual("balance") / 4 + 1)]
    ['balance']
    """
    found, left = dict[str, Dual](), [expression]
    while left:
        part = left.pop()
        if isinstance(part, Dual):
            found[f"{part} {part.shape}"] = part
        left += getattr(part, "args", ())  # numbers and arrays have none
    return [*found.values()]


class Constant(Expression):
    """A number, an array, a sparse matrix or an `Operator`, printed under its name if it has one.

    Arrays and sparse matrices are copied unless they are read-only.

    >>> Constant([1.0, -1.0], name="y").name()
    'y'
    """

    __slots__ = ("_name", "_value")
    kind, args, key, _is_constant = "Constant", (), None, True

    def __init__(self, value: Any, name: str | None = None) -> None:
        held: Any = value
        if (
            type(value) in (float, int) and -checks.LARGEST <= value <= checks.LARGEST
        ):  # as most are
            held = np.array(value, float)
            held.flags.writeable = False
        elif not isinstance(value, Operator):
            sparse = is_sparse(value)
            entries = value.data if sparse else _numbers(name or "a constant", value)
            if np.isnan(entries).any():
                raise ProblemError(name or "a constant", "numbers", "NaN")
            # What is solved does not change with the caller's array.
            held = Operator.of(MatrixFactor(frozen(value))) if sparse else frozen(entries, float)
        self.shape, self._value, self._name = held.shape, held, name

    @property
    def value(self) -> Any:
        return self._value

    def variables(self) -> list[Variable]:
        return []

    def name(self) -> str:
        return self._name or str(self._value)

    __str__ = name


def _numbers(called: str, value: Any) -> Any:
    """The entries of a constant that is not sparse; `ProblemError` if they are not numbers."""
    hint = ""
    if isinstance(value, Constraint):
        hint = "A constraint is not a part of an expression."
    elif hasattr(value, "is_convex"):
        hint = "Write a model either in the atoms of indefinite_opt.algebra or in those of cvxpy."
    if hint:
        kind = getattr(value, "kind", type(value).__name__)
        raise ProblemError(called, "numbers or expressions", f"{kind} {value}", hint)
    return real_array(called, value, "numbers or expressions", finite=False)


class Constraint:
    """low ≤ high or left = right entry by entry, or X ⪰ 0.

    >>> x = Variable(2, name="x")
    >>> x.value = np.array([2.0, 0.5])
    >>> (x <= 1).violation()
    array([1., 0.])
    """

    __slots__ = ("args", "kind")
    origin: Any = None
    content: Any = ()
    """As in `Expression`."""

    def __init__(self, kind: str, *args: Expression) -> None:
        self.kind, self.args = kind, args
        if len(args) == 2:
            _common("≤" if kind == "Inequality" else "=", *args)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of its entries."""
        return builtins.max((arg.shape for arg in self.args), key=len)

    def variables(self) -> list[Variable]:
        """The variables in it, in their order."""
        return list(dict.fromkeys(v for arg in self.args for v in arg.variables()))

    def violation(self) -> Any:
        """By how much each entry misses the constraint at the values of the variables."""
        if self.kind == "PSD":
            return _negative(np.asarray(self.args[0].value))
        left, right = (np.asarray(arg.value) for arg in self.args)
        excess = left - right
        return np.maximum(excess, 0.0) if self.kind == "Inequality" else np.abs(excess)

    def __bool__(self) -> bool:
        raise ProblemError(
            "truth value",
            "values",
            f"a constraint ({self.kind})",
            "Write two constraints for low ≤ x ≤ high.",
        )

    def __str__(self) -> str:
        sign = {"Inequality": " <= ", "Equality": " == "}.get(self.kind, "")
        return sign.join(map(str, self.args)) or self.kind


_WRITTEN = {
    "Sum": "sum", "QuadForm": "quad_form", "quad_over_lin": "sum_squares", "Power": "square",
    "abs": "abs", "norm1": "norm1", "maximum": "maximum", "logistic": "logistic", "max": "max",
    "norm_inf": "norm_inf", "huber": "huber", "sum_largest": "sum_largest",
}  # fmt: skip
"""The functions that make atoms, by the names of cvxpy's classes."""

_WITH_DATA = ("huber", "sum_largest")
"""Kinds of atoms whose key is data beside their arguments, one constant."""


def _data(e: Expression) -> list[Any]:
    if e.kind not in _WITH_DATA:
        return []
    return [part if isinstance(part, Expression) else str(part) for part in e.key]


def is_positive_part(e: Expression) -> bool:
    """Whether an expression is max(u, 0), whatever its first argument is."""
    if e.kind != "maximum" or len(e.args) != 2:
        return False
    return isinstance(e.args[1], Constant) and not np.any(e.args[1].value)


def _negative(matrix: Array) -> float:
    least = float(np.linalg.eigvalsh(0.5 * (matrix + matrix.T)).min(initial=0.0))
    return builtins.max(-least, 0.0)


def _place(key: Any) -> str:
    parts = key if isinstance(key, tuple) else (key,)
    return ", ".join(_slice(part) if isinstance(part, slice) else str(part) for part in parts)


def _slice(part: slice) -> str:
    ends = ["" if end is None else str(end) for end in (part.start, part.stop)]
    return ":".join([*ends, str(part.step)] if part.step not in (None, 1) else ends)


# ------------------------------------------------------------------------------------ the atoms


def cast(value: Any) -> Expression:
    """The expression itself, or a constant without a name."""
    return value if isinstance(value, Expression) else Constant(value)


def dual(name: str, shape: int | tuple[int, ...] = ()) -> Expression:
    """The multiplier of a named constraint, in `coef` and `offset` of a `Model`.

    It is the λ for which λ (left side - right side) is a term of the Lagrangian of the
    minimisation; for a maximum, -objective is minimised. It is nonnegative for `<=`, and for `>=`
    with the sides exchanged. For any other cone it is the dual value of cvxpy.

    Parameters
    ----------
    name : str
        The name of the constraint in `subject_to`.
    shape : int or tuple of int
        Its shape, (n,) for the multipliers of n entries.

    Examples
    --------
    The objective here is n times the usual one, and so is the multiplier:

    >>> from dataclasses import dataclass
    >>> import numpy as np, indefinite_opt as iopt
    >>> @dataclass(frozen=True)
    ... class Scaled(iopt.Formulation):
    ...     def model(self, problem):
    ...         alpha, n = Variable(problem.n, name="alpha"), problem.n
    ...         Q, y = problem.symbols("Q", "y")
    ...         return iopt.algebra.Model(
    ...             minimize=n * (0.5 * quad_form(alpha, Q) - sum(alpha)),
    ...             subject_to={"balance": -(y @ alpha) == 0, "lower": alpha >= 0},
    ...             coef=multiply(y, alpha), offset=-dual("balance") / n,
    ...         )
    >>> problem = iopt.KernelProblem([[1.0, 0.0], [0.0, 3.0]], [1, -1])  # α = ½ for both
    >>> round(iopt.solve(problem, Scaled()).classifier.offset, 6)
    0.5
    """
    if not isinstance(name, str):
        raise ProblemError("name", "the name of a constraint", shown(name))
    return Dual(name, _sizes(shape))


def sum(x: Any) -> Expression:
    """The sum of all entries.

    >>> sum([1.0, -3.0]).value
    -2.0
    """
    return Atom("Sum", (cast(x),))


def multiply(x: Any, y: Any) -> Expression:
    """The product entry by entry; a number multiplies all entries.

    >>> multiply([1.0, -3.0], [2.0, 2.0]).value
    array([ 2., -6.])
    """
    left, right = cast(x), cast(y)
    return Atom("multiply", (left, right), _common("*", left, right))


def quad_form(x: Any, P: Any) -> Expression:
    """xᵀPx for a symmetric P of any inertia.

    >>> quad_form([1.0, -3.0], np.diag([1.0, -1.0])).value
    -8.0
    """
    vector, matrix = cast(x), cast(P)
    if len(vector.shape) != 1 or matrix.shape != 2 * vector.shape:
        raise _mismatch("quad_form", vector, matrix)
    if not matrix._is_constant:
        raise ProblemError("quad_form(x, P)", "a constant matrix P", f"{matrix}, with variables")
    return Atom("QuadForm", (vector, matrix))


def sum_squares(x: Any) -> Expression:
    """The sum of the squares of all entries.

    >>> sum_squares([1.0, -3.0]).value
    10.0
    """
    return Atom("quad_over_lin", (cast(x), Constant(1.0)))


def square(x: Any) -> Expression:
    """The square of each entry.

    >>> square([1.0, -3.0]).value
    array([1., 9.])
    """
    inner = cast(x)
    return Atom("Power", (inner,), inner.shape)


def abs(x: Any) -> Expression:
    """The absolute value of each entry.

    >>> abs([1.0, -3.0]).value
    array([1., 3.])
    """
    inner = cast(x)
    return Atom("abs", (inner,), inner.shape)


def huber(x: Any, M: float = 1.0) -> Expression:
    """x² of each entry up to the size M > 0, and 2M|x| - M² beyond it.

    >>> huber([0.5, -3.0]).value
    array([0.25, 5.  ])
    """
    inner, bend = cast(x), cast(M)
    if bend.shape or not bend._is_constant or not float(bend.value) > 0.0:
        raise ProblemError("huber(x, M)", "a positive number M", str(bend))
    return Atom("huber", (inner,), inner.shape, (bend,))


def max(x: Any) -> Expression:
    """The largest entry.

    >>> max([1.0, -3.0]).value
    1.0
    """
    return Atom("max", (_filled("max", x),))


def maximum(x: Any, *others: Any) -> Expression:
    """The largest of some expressions in each entry; numbers count in all entries.

    >>> maximum([1.0, -3.0], [0.0, 2.0], -1.0).value
    array([1., 2.])
    """
    args = tuple(map(cast, (x, *others)))
    for one in args:
        for other in args:
            _common("maximum", one, other)
    return Atom("maximum", args, builtins.max((arg.shape for arg in args), key=len))


def norm_inf(x: Any) -> Expression:
    """The largest absolute value.

    >>> norm_inf([1.0, -3.0]).value
    3.0
    """
    return Atom("norm_inf", (_filled("norm_inf", x),))


def sum_largest(x: Any, k: int) -> Expression:
    """The sum of the k largest entries, or of all if there are no more.

    >>> sum_largest([1.0, -3.0, 2.0], 2).value
    3.0
    """
    inner = _filled("sum_largest", x)
    if not isinstance(k, int | np.integer) or k < 1:
        raise ProblemError("sum_largest(x, k)", "a positive integer k", shown(k))
    return Atom("sum_largest", (inner,), (), (int(k),))


def _filled(atom: str, x: Any) -> Expression:
    """An expression with at least one entry."""
    inner = cast(x)
    if not inner.size:
        raise ProblemError(f"{atom}(x)", "at least one entry", f"the shape {inner.shape}")
    return inner


def norm1(x: Any) -> Expression:
    """The sum of the absolute values.

    >>> norm1([1.0, -3.0]).value
    4.0
    """
    return Atom("norm1", (cast(x),))


def pos(x: Any) -> Expression:
    """max(x, 0) of each entry.

    >>> pos([1.0, -3.0]).value
    array([1., 0.])
    """
    inner = cast(x)
    return Atom("maximum", (inner, Constant(0.0)), inner.shape)


def logistic(x: Any) -> Expression:
    """log(1 + exp(x)) of each entry.

    >>> logistic([0.0, -1000.0]).value.round(6)
    array([0.693147, 0.      ])
    """
    inner = cast(x)
    return Atom("logistic", (inner,), inner.shape)


def _mismatch(atom: str, left: Expression, right: Expression) -> ProblemError:
    found = f"{left.shape} and {right.shape} in {left} {atom} {right}"
    return ProblemError("shapes", "equal shapes, or a number", found)


def _common(sign: str, left: Expression, right: Expression) -> tuple[int, ...]:
    """The shape of both, of which one may be a number."""
    if left.shape == right.shape or not right.shape:
        return left.shape
    if not left.shape:
        return right.shape
    raise _mismatch(sign, left, right)


def _total(left: Expression, right: Expression) -> Expression:
    shape = _common("+", left, right)
    longer = left.kind == "AddExpression" and left.shape == shape
    terms = [*left.args, right] if longer else [left, right]
    for k, term in enumerate(terms):
        if term.shape != shape:
            terms[k] = Atom("Promote", (term,), shape)
    return Atom("AddExpression", tuple(terms), shape)


def _times(left: Expression, right: Expression) -> Expression:
    if left.shape and right.shape:
        found = f"the shapes {left.shape} and {right.shape}"
        raise ProblemError(
            "x * y", "a number times an expression", found,
            "Use `multiply` for products entry by entry, and @ for matrix products.",
        )  # fmt: skip
    return Atom("multiply", (left, right), left.shape or right.shape)


def _quotient(top: Expression, bottom: Expression) -> Expression:
    return Atom("DivExpression", (top, bottom), _common("/", top, bottom))


def _product(left: Expression, right: Expression) -> Expression:
    if not left.shape or not right.shape or left.shape[-1] != right.shape[0]:
        raise _mismatch("@", left, right)
    return Atom("MulExpression", (left, right), left.shape[:-1] + right.shape[1:])


OPERATIONS: dict[str, Callable[..., Any]] = {
    "AddExpression": lambda _, *terms: functools.reduce(operator.add, terms),
    "NegExpression": lambda _, x: -x,
    "DivExpression": lambda _, x, y: x / y,
    "MulExpression": lambda _, x, y: x @ y,
    "transpose": lambda _, x: x.T,
    "index": lambda to, x: x[to.key],
}
"""What is written in the same way for arrays and for objects of cvxpy."""

_VALUES: dict[str, Callable[..., Any]] = {
    **OPERATIONS,
    "multiply": lambda _, x, y: x * y,
    "Promote": lambda to, x: np.broadcast_to(x, to.shape),
    "Sum": lambda _, x: float(np.sum(x)),
    "QuadForm": lambda _, x, P: float(x @ (P @ x)),
    "quad_over_lin": lambda _, x, y: float(np.sum(np.square(x)) / y),
    "Power": lambda _, x: np.square(x),
    "abs": lambda _, x: np.abs(x),
    "norm1": lambda _, x: float(np.sum(np.abs(x))),
    "norm_inf": lambda _, x: float(np.max(np.abs(x))),
    "max": lambda _, x: float(np.max(x)),
    "maximum": lambda _, *parts: functools.reduce(np.maximum, parts),
    "huber": lambda to, x: huber_values(np.asarray(x), float(to.key[0].value)),
    "sum_largest": lambda to, x: float(np.sum(np.sort(np.ravel(x))[-to.key[0] :])),
    "logistic": lambda _, x: np.logaddexp(0.0, x),
}


def huber_values(u: Array, M: float) -> Array:
    """u² up to the size M, and 2M|u| - M² beyond it."""
    near = np.minimum(np.abs(u), M)
    return np.asarray(near * (2.0 * np.abs(u) - near))


def attributes_of(variable: Any) -> list[str]:
    """The names of the attributes that a variable has, of ours or of cvxpy's.

    cvxpy takes the places of integers, too: [(0,)] is one place, although it holds zeros only.
    """
    attributes = variable.attributes.items()
    sizes = {name: len(it) if hasattr(it, "__len__") else it for name, it in attributes}
    return [name for name, size in sizes.items() if size]


__all__ = [
    "OPERATIONS", "Atom", "Constant", "Constraint", "Dual", "Expression", "Variable", "abs",
    "attributes_of", "cast", "dual", "duals_of", "huber", "huber_values", "is_positive_part",
    "logistic", "max", "maximum", "multiply", "norm1", "norm_inf", "pos", "quad_form", "square",
    "sum", "sum_largest", "sum_squares",
]  # fmt: skip
