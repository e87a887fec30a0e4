r"""Prints expressions as mathematics, in LaTeX or in Unicode text.

`Printer` finds the rule for each atom by its kind, in `_RULES` or, for what only cvxpy has, in
`printed_atoms.RULES`, and prints any other atom as a function under its title. Every vector is read
as a column, so that `y @ alpha` is :math:`y^\top \alpha`. The text, with a legend of its symbols,
is generated from the expressions of a `Program`, whose variables and constants have names to print.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from indefinite_opt.algebra.atoms import Constant, is_positive_part
from indefinite_opt.algebra.from_cvxpy import converted
from indefinite_opt.algebra.notation import (
    ATOM,
    DIMENSIONS,
    GLOSSARY,
    HADAMARD,
    IN_DEFINITIONS,
    LATEX,
    NOTATION,
    ONES,
    POWER,
    PRODUCT,
    SCALED,
    TEXT,
    VARIABLES,
    Piece,
    canonical_name,
    number,
    numbered,
    script,
    symbol,
    total,
)
from indefinite_opt.algebra.operators import Operator
from indefinite_opt.algebra.printed_atoms import CONSTRAINTS, RULES
from indefinite_opt.foundation import is_sparse

ROOM = 79 - 14
"""Columns of formulas in a printed program, behind heads of 14."""


def latex_expression(expr: Any) -> str:
    r"""LaTeX of an expression, of ours or of cvxpy's.

    >>> import numpy as np, indefinite_opt.algebra as cp
    >>> alpha, Q = cp.Variable(2, name="alpha"), cp.Constant(np.diag([1, -1]), name="Q")
    >>> print(latex_expression(cp.sum(alpha) - 0.5 * cp.quad_form(alpha, Q)))
    \mathbf{e}^\top \alpha - \tfrac{1}{2} \alpha^\top Q \alpha
    """
    return Printer(LATEX).show(converted(expr))


class Printer:
    """Prints expressions into one of the two notations and remembers the symbols it used."""

    def __init__(self, to: int, symbols: Iterable[Any] = (), with_data: bool = True) -> None:
        self.to, self.with_data = to, with_data
        self.symbols: dict[str, str] = {}
        self.data: dict[str, Any] = {}
        """The constants and parameters among the symbols."""
        self.named: dict[str, str] = {}
        """The symbol that was the first to have a name, by the name."""
        self._owners: dict[str, tuple[str, Any]] = {}
        for one in symbols:
            self.called(one, one.name())

    def called(self, expr: Any, name: str) -> str:
        """The name of a symbol, with a number behind it if another symbol is printed alike."""
        found, count = name, 1
        while True:
            owner, other = self._owners.setdefault(symbol(found, TEXT).body, (name, expr))
            if owner == name and _is_same(other, expr):
                self.named.setdefault(name, found)
                return found
            count += 1
            found = numbered(name, count)

    def piece(self, expr: Any) -> Piece:
        rule = _RULES.get(expr.kind) or RULES.get(expr.kind.removesuffix("Approx"))
        return (rule or _unknown)(self, expr)

    def show(self, expr: Any) -> str:
        return self.piece(expr).signed

    def write(self, key: str, *parts: str) -> str:
        return NOTATION[key][self.to] % parts

    def ones(self) -> Piece:
        owner = self._owners.setdefault("e", ("", None))
        self.symbols["e" if owner[1] is None else ONES] = GLOSSARY["e"]
        return Piece(self.write("ones")) if owner[1] is None else symbol(ONES, self.to)

    def identity(self) -> Piece:
        owner = self._owners.setdefault("I", ("", None))
        name = "I" if owner[1] is None else "Id"
        self.symbols[name] = GLOSSARY["I"]
        return symbol(name, self.to)

    def transposed(self, expr: Any) -> Piece:
        """A vector as a row, or a matrix transposed: (x @ A) as a row is xᵀA."""
        if expr.kind == "MulExpression" and expr.args[0].ndim == 1 and expr.args[1].ndim == 2:
            return self.product(self.transposed(expr.args[0]), self.piece(expr.args[1]))
        if expr.kind == "transpose":
            return self.piece(expr.args[0])
        return self.turned(self.piece(expr))

    def turned(self, piece: Piece) -> Piece:
        return piece._replace(body=self.write("T", piece.within(ATOM)), level=POWER)

    def product(self, *pieces: Piece) -> Piece:
        """A matrix product with the signs of its factors in front."""
        word = any(piece.word for piece in pieces)
        space = " " if word or self.to == LATEX else ""
        body = space.join(piece.within(PRODUCT) for piece in pieces)
        return Piece(body, PRODUCT, sum(piece.negative for piece in pieces) % 2 == 1, word)

    def scaled(self, scalar: Piece, piece: Piece) -> Piece:
        negative = scalar.negative != piece.negative
        if "1" in (scalar.body, piece.body):
            factor = piece if scalar.body == "1" else scalar
            return factor.flipped() if negative != factor.negative else factor
        left, right = scalar.within(SCALED), piece.within(SCALED)
        digits = right[0].isnumeric() or right.startswith(r"\tfrac")
        body = self.write("dot", left, right) if digits else f"{left} {right}"
        return Piece(body, SCALED, negative, piece.word)

    def filling(self, expr: Any, shape: tuple[int, ...]) -> Piece:
        piece = self.piece(expr)
        return self.spread(piece, shape) if expr.size == 1 else piece

    def spread(self, scalar: Piece, shape: tuple[int, ...]) -> Piece:
        """A scalar where a vector or matrix is meant: b becomes b e, or b e eᵀ."""
        if math.prod(shape) == 1 or scalar.body == "0":
            return scalar
        ones = self.ones()
        if len(shape) == 2 and shape[1] > 1:
            row = self.turned(ones)
            ones = self.product(ones, row) if shape[0] > 1 else row
        return self.scaled(scalar, ones)

    def norm(self, expr: Any, kind: str, along: str = "") -> Piece:
        """A norm of all entries, or of each of the rows or columns.

        The 2-norm of all entries of a matrix is that of Frobenius; other norms have vec.
        """
        flat = expr.args[0] if _is_flat(expr) else expr
        of_matrix = flat.ndim > 1 and sorted(flat.shape)[-2] > 1
        if along or (of_matrix and (kind != "2" or flat.ndim > 2)):
            shown = self.function(along or "vec", flat).body
        else:
            shown, kind = self.show(flat), "F" if of_matrix else kind
        return Piece(script("_", self.write("norm", shown), kind, self.to), ATOM)

    def function(self, name: str, *args: Any, below: str = "") -> Piece:
        """A function under its name, with expressions and printed texts as its arguments."""
        told = [arg if isinstance(arg, str) else self.show(arg) for arg in args]
        head = self._head(name)
        if below:
            is_word = below.isidentifier() and len(below) > 1
            head = script("_", head, self.write("word", below) if is_word else below, self.to)
        return Piece(f"{head}({', '.join(told)})", ATOM, word=True)

    def _head(self, name: str) -> str:
        found = symbol(name, self.to)
        if self.to == TEXT or not found.word:
            return found.body
        if name in _COMMANDS:
            return f"\\{name}"
        return rf"\operatorname{{{name}}}" if name.isalnum() else found.body

    def along(self, expr: Any) -> str:
        """What a function with an axis is taken of, if not of all entries: rows, columns."""
        axis, ndim = expr.axis, expr.args[0].ndim
        if axis is None or ndim < 2:
            return ""
        axes = [each % ndim for each in (axis if isinstance(axis, tuple) else (axis,))]
        if ndim == 2 and len(axes) == 1:
            return ("columns", "rows")[axes[0]]
        return "axis" + "".join(map(str, axes))

    def kept(self, expr: Any, piece: Piece) -> Piece:
        """Numbers of columns as the row that they stay where an atom keeps its axis."""
        is_row = expr.keepdims and expr.ndim == 2 and expr.axis is not None and expr.shape[1] > 1
        return self.turned(piece) if is_row else piece

    def array(self, value: Any) -> Piece:
        """An array that is data of an atom, as a constant without a name."""
        return _constant(self, Constant(np.asarray(value, dtype=float)))


_COMMANDS = ("exp", "log", "sin", "cos", "tan", "sinh", "tanh", "min", "max", "det")
"""Functions that have a command in LaTeX."""


def _is_flat(expr: Any) -> bool:
    """Whether an expression is the vector of all entries of a matrix."""
    return expr.kind == "cvxpy.reshape" and expr.ndim == 1 and expr.args[0].ndim > 1


def _is_matrix(expr: Any) -> bool:
    return expr.ndim == 2 and min(expr.shape) > 1


def _is_number(expr: Any) -> bool:
    return expr.kind == "Constant" and expr._name is None


def unpromoted(expr: Any) -> Any:
    """The scalar that has been promoted to a vector, or the expression itself."""
    return expr.args[0] if expr.kind == "Promote" else expr


def _constant(printer: Printer, expr: Any) -> Piece:
    if not _is_number(expr):
        if _is_ones(expr):
            return printer.ones()
        name = printer.called(expr, expr._name)
        printer.symbols[name] = _known(expr) or _described(printer, "constant", expr)
        printer.data[name] = expr
        return symbol(name, printer.to)
    single = _single(expr)
    if single is not None:
        return printer.spread(number(single, printer.to), expr.shape)
    name = printer.called(expr, "c")
    printer.symbols[name] = _described(printer, "constant without a name", expr)
    printer.data[name] = expr
    return symbol(name, printer.to)


def _is_ones(expr: Any) -> bool:
    """Whether a named constant is the vector of ones that formulas have as e."""
    is_e = expr.kind == "Constant" and expr.ndim == 1 and canonical_name(expr._name) == "e"
    return is_e and _single(expr) == 1.0


def _known(expr: Any) -> str | None:
    """What a variable, or data, of that name and of as many dimensions means in the papers."""
    name = canonical_name(expr.name())
    other = name in IN_DEFINITIONS or (name in VARIABLES) != (expr.kind == "Variable")
    return None if other or expr.ndim != DIMENSIONS.get(name, 0) else GLOSSARY.get(name)


def _single(expr: Any) -> float | None:
    """The value of all entries of a constant, if they are equal."""
    value = expr.value
    # The entries of an operator are not computed to be printed.
    if value is None or isinstance(value, Operator) or np.iscomplexobj(value):
        return None
    value = value if is_sparse(value) else np.asarray(value)
    low, high = float(value.min()), float(value.max())
    return low if low == high else None


def _described(printer: Printer, kind: str, expr: Any) -> str:
    """The kind of a symbol, its shape, and the value of an array that `_value` has."""
    if not expr.ndim:
        return kind
    if not printer.with_data:
        return f"{kind}, a {('vector', 'matrix', 'array')[min(expr.ndim, 3) - 1]}"
    value = "" if kind == "variable" else _value(expr, TEXT)
    return f"{kind} of shape {expr.shape}" + (f": {value}" if value else "")


def _value(expr: Any, to: int) -> str:
    """The value of a number, of an array of equal numbers, or of a small array without a name."""
    single = _single(expr) if expr.size else None
    if single is not None and (expr.size > 1 or not expr.ndim):
        return Printer(to).spread(number(single, to), expr.shape).signed
    unnamed = _is_number(expr) and not is_sparse(expr.value) and not np.iscomplexobj(expr.value)
    if not unnamed or expr.ndim > 2 or expr.size > _SMALL:
        return ""
    rows = [", ".join(number(x, to).signed for x in row) for row in np.atleast_2d(expr.value)]
    return f"({rows[0]})" if expr.ndim == 1 else f"[{'; '.join(rows)}]"


_SMALL = 6
"""The number of entries up to which a legend has the value of an array without a name."""


def _is_same(one: Any, other: Any) -> bool:
    """Whether two symbols are one variable or parameter, or constants of one value."""
    kinds = {one.kind, other.kind}
    if one is other or kinds != {"Constant"}:
        return one is other or (len(kinds) == 1 and bool(one.id == other.id))
    a, b = one.value, other.value
    if a is b or a.shape != b.shape or type(a) is not type(b):
        return a is b
    if isinstance(a, Operator):
        return not (a - b).terms
    return not is_sparse(a) and np.array_equal(a, b)


def _leaf(printer: Printer, expr: Any) -> Piece:
    name, kind = printer.called(expr, expr.name()), expr.kind.lower()
    printer.symbols[name] = _known(expr) or _described(printer, kind, expr)
    if kind == "parameter":
        printer.data[name] = expr
    return symbol(name, printer.to)


def _multiplied(printer: Printer, expr: Any) -> Piece:
    """A scalar multiple, numbers first, or an elementwise product."""
    left, right = (unpromoted(arg) for arg in expr.args)
    if 1 in (left.size, right.size):
        if left.size != 1 or (right.size == 1 and _is_number(right)):
            left, right = right, left
        return printer.scaled(printer.piece(left), printer.piece(right))
    pieces = [printer.piece(arg) for arg in (left, right)]
    body = printer.write("hadamard", *(piece.within(HADAMARD) for piece in pieces))
    return Piece(body, HADAMARD, pieces[0].negative != pieces[1].negative)


def _matrix_product(printer: Printer, expr: Any) -> Piece:
    left, right = expr.args
    if left.ndim != 1:
        return printer.product(printer.piece(left), printer.piece(right))
    if right.ndim != 1:  # a row times a matrix, read as a column
        return printer.product(printer.transposed(right), printer.piece(left))
    return printer.product(printer.transposed(left), printer.piece(right))


def _divided(printer: Printer, expr: Any) -> Piece:
    top, bottom = (printer.piece(unpromoted(arg)) for arg in expr.args)
    body = printer.write("fraction", top.within(SCALED), bottom.within(POWER))
    return Piece(body, HADAMARD, top.negative != bottom.negative)


def _quadratic(printer: Printer, expr: Any) -> Piece:
    """xᵀAx, or xᵀA⁻¹x."""
    x, matrix = expr.args[0], printer.piece(expr.args[1])
    if expr.kind == "MatrixFrac":
        matrix = Piece(printer.write("inverse", matrix.closed(ATOM)), POWER)
    return printer.product(printer.transposed(x), matrix, printer.piece(x))


def _over_scale(printer: Printer, expr: Any) -> Piece:
    """The sum of squares by a scale: ‖x‖₂², ‖x‖₂²/t."""
    x, scale = expr.args
    squares = printer.kept(expr, _squared_norm(printer, x, printer.along(expr)))
    if _is_number(scale) and scale.value == 1:
        return squares
    below = printer.piece(scale)
    body = printer.write("fraction", squares.within(SCALED), below.within(POWER))
    return Piece(body, HADAMARD, below.negative)


def _squared_norm(printer: Printer, x: Any, along: str = "") -> Piece:
    root = printer.norm(x, "2", along).body
    return Piece(script("^", root, "2", printer.to), POWER)


def _summed(printer: Printer, expr: Any) -> Piece:
    """The sum of all entries, eᵀx or eᵀXe, or of rows and columns; ‖x‖₂², tr(AB)."""
    arg, axis = expr.args[0], expr.axis
    if arg.ndim not in (1, 2) or isinstance(axis, tuple):
        return printer.function("sum", arg, below=printer.along(expr))
    if arg.kind == "Power" and (axis is None or arg.ndim == 1):
        return _squared_norm(printer, arg.args[0])
    if axis is None and _is_matrix(arg) and arg.kind == "multiply":
        left, right = arg.args  # the trace of a product, as cvxpy writes it
        if right.kind == "transpose" and left.ndim == right.ndim == 2:
            product = printer.product(printer.piece(left), printer.piece(right.args[0]))
            return printer.function("tr", product.signed)
    rows, columns = (arg.shape[0], 1) if arg.ndim == 1 else arg.shape
    along_rows = axis is not None and axis % arg.ndim == 1
    if axis is not None and arg.ndim == 2 and not along_rows and not expr.keepdims:
        return printer.product(printer.transposed(arg), *([printer.ones()] if rows > 1 else []))
    left = [] if along_rows or rows == 1 else [printer.turned(printer.ones())]
    of_rows = axis is None or along_rows
    return printer.product(
        *left, printer.piece(arg), *([printer.ones()] if of_rows and columns > 1 else [])
    )


def _squared(printer: Printer, expr: Any) -> Piece:
    """The square of each entry.

    X² would be the product of a matrix with itself, which its entrywise square is not.
    """
    base = printer.piece(expr.args[0])
    if expr.ndim == 2:
        entries = base.closed(PRODUCT)
        return Piece(printer.write("hadamard", entries, entries), HADAMARD)
    return Piece(script("^", base.closed(ATOM), "2", printer.to), POWER)


def _maximum(printer: Printer, expr: Any) -> Piece:
    """The largest of several, or the positive part max(u, 0), of each entry."""
    if not is_positive_part(expr):
        return printer.function("max", *map(unpromoted, expr.args))
    return Piece(script("_", f"({printer.show(expr.args[0])})", "+", printer.to), ATOM)


def _indexed(printer: Printer, expr: Any) -> Piece:
    """Entries in Python's notation, counted from 0; x[None, :] is a row, and x[:, None] is x."""
    arg, key = expr.args[0], expr.key
    parts = list(key) if isinstance(key, tuple) else [key]
    if any(part is None for part in parts):
        kept = [part for part in parts if part is not None]
        piece = printer.piece(arg)
        if any(part != slice(None) for part in kept):
            place = ", ".join(_place(part, printer.write("dots")) for part in kept)
            piece = Piece(f"{piece.closed(ATOM)}[{place}]", ATOM)
        return printer.turned(piece) if arg.ndim == 1 and parts[0] is None else piece
    place = ", ".join(_place(part, printer.write("dots")) for part in parts)
    return Piece(f"{printer.piece(arg).closed(ATOM)}[{place}]", ATOM)


def _place(part: Any, dots: str) -> str:
    """The places along one axis: a number, a slice, or a list of which the middle is left out."""
    if isinstance(part, slice):
        ends = ["" if end is None else str(end) for end in (part.start, part.stop)]
        return ":".join(ends if part.step in (None, 1) else [*ends, str(part.step)])
    array = np.asarray(part)
    if not array.ndim:
        return str(part)
    if array.dtype == bool:
        array = np.flatnonzero(array)
    places = [str(each) for each in array.ravel()]
    if len(places) > _SMALL:
        places = [*places[:2], dots, places[-1]]
    return f"[{', '.join(places)}]"


def _unknown(printer: Printer, expr: Any) -> Piece:
    """Any other atom as a function, with the numbers that define it."""
    data = [part for part in expr.details if not isinstance(part, str)]
    piece = printer.function(expr.title, *expr.args, *data, below=printer.along(expr))
    return printer.kept(expr, piece)


def _norm(kind: str) -> Callable[[Printer, Any], Piece]:
    def printed(printer: Printer, expr: Any) -> Piece:
        named = printer.write(kind) if kind in NOTATION else kind
        return printer.kept(expr, printer.norm(expr.args[0], named, printer.along(expr)))

    return printed


_RULES: dict[str, Callable[[Printer, Any], Piece]] = {
    "Constant": _constant,
    "Variable": _leaf,
    "Parameter": _leaf,
    "AddExpression": lambda to, expr: total(to.filling(term, expr.shape) for term in expr.args),
    "NegExpression": lambda printer, expr: printer.piece(expr.args[0]).flipped(),
    "multiply": _multiplied,
    "MulExpression": _matrix_product,
    "DivExpression": _divided,
    "transpose": lambda printer, expr: printer.transposed(expr.args[0]),
    "Promote": lambda printer, expr: printer.filling(expr.args[0], expr.shape),
    "QuadForm": _quadratic,
    "MatrixFrac": _quadratic,
    "quad_over_lin": _over_scale,
    "Sum": _summed,
    "norm1": _norm("1"),
    "norm_inf": _norm("infinity"),
    "abs": lambda printer, expr: Piece(printer.write("absolute", printer.show(expr.args[0])), ATOM),
    "Power": _squared,
    "maximum": _maximum,
    "logistic": lambda printer, expr: Piece(
        printer.write("logistic", printer.show(expr.args[0])), ATOM, word=True
    ),
    "index": _indexed,
}
"""Printing rules by the kinds of expressions."""


def _relation(printer: Printer, constraint: Any) -> str:
    """A constraint as text, with a constant, or else the shorter side, on the right.

    Every inequality is kept as low <= high.
    """
    kind, args = constraint.kind, constraint.args
    if kind not in ("Inequality", "Equality"):
        cone = CONSTRAINTS.get(kind.removesuffix("Approx"))
        return cone(printer, constraint) if cone else printer.function(kind, *args).body
    left, right = args
    fixed = left.is_constant(), right.is_constant()
    shorter = kind == "Inequality" and _count(left) < _count(right)
    flip = fixed[0] if fixed[0] != fixed[1] else shorter
    sign = "=" if kind == "Equality" else ">=" if flip else "<="
    if kind == "Equality":
        shape = max(left.shape, right.shape, key=math.prod)
        sides = [printer.filling(side, shape).signed for side in args]
    else:
        sides = [_side(printer, left, right), _side(printer, right, left)]
    return f" {printer.write(sign)} ".join(reversed(sides) if flip else sides)


def _side(printer: Printer, expr: Any, other: Any) -> str:
    """A constant bound holds for every entry and stays a scalar: α ≤ C."""
    scalar = unpromoted(expr)
    if scalar.is_constant():
        return printer.show(scalar)
    return printer.filling(expr, max(expr.shape, other.shape, key=math.prod)).signed


def _count(expr: Any) -> int:
    return 1 + sum(_count(arg) for arg in expr.args)


def _lines(printer: Printer, program: Any) -> list[tuple[str, str]]:
    """Each constraint and the name it was declared under; attributes of variables come last.

    Two constant bounds of the same expression share one line: 0 ≤ α ≤ C.
    """
    inner = program.inner and program.inner.variable
    declared = list(program.subject_to.items())
    variables = [variable for variable in program.variables.values() if variable is not inner]
    declared += [("domain", bound) for variable in variables for bound in variable.domain]
    shown: list[tuple[str, str]] = []
    single: dict[Any, tuple[int, str, str]] = {}  # the line, the end and the value of one bound
    for name, constraint in declared:
        bounded, end, value = _bound(printer, constraint)
        if bounded is None or single.get(bounded, (0, end))[1] == end:
            if bounded is not None:
                single.setdefault(bounded, (len(shown), end, value))
            shown.append((_relation(printer, constraint), name))
            continue
        place, _, first = single.pop(bounded)
        ends = [(first, shown[place][1]), (value, name)]
        (low, lower), (high, upper) = ends if end == "upper" else reversed(ends)
        body = f" {printer.write('<=')} ".join((low, bounded[0], high))
        shown[place] = body, ", ".join(dict.fromkeys((lower, upper)))
    for variable in variables:
        shown += [(_attribute(printer, variable, kind), "domain") for kind in variable.unlisted]
    return shown


def _attribute(printer: Printer, variable: Any, kind: str) -> str:
    """What a variable is by its attribute: x ∈ {0, 1}ⁿ, X = Xᵀ, or a word behind it."""
    body, is_whole = printer.piece(variable).body, variable.attributes.get(kind) is True
    if kind == "symmetric":
        return f"{body} = {printer.transposed(variable).body}"
    if kind in ("boolean", "integer") and is_whole:
        values = printer.write("Z") if kind == "integer" else printer.write("set", "0, 1")
        return printer.write("in", body, _power(values, variable.shape, printer))
    return printer.write("remark", body, kind if is_whole else f"partly {kind}")


def _bound(printer: Printer, constraint: Any) -> tuple[tuple[Any, ...] | None, str, str]:
    """The text and the variables of what a constant bounds, the end, and the bound."""
    low, high = (*constraint.args, None, None)[:2]
    if constraint.kind != "Inequality" or low.is_constant() == high.is_constant():
        return None, "", ""
    end, value, inside = ("lower", low, high) if low.is_constant() else ("upper", high, low)
    same = tuple(id(variable) for variable in inside.variables())
    return (_side(printer, inside, value), *same), end, _side(printer, value, inside)


def _printer(program: Any, to: int, with_data: bool = True) -> Printer:
    """A printer that gives the names of a program to the symbols that have them.

    Variables come first, and constants without a name get what is left.
    """
    parts = [program.objective, *program.subject_to.values()]
    if program.inner is not None:
        parts += program.inner.subject_to.values()
    named = [leaf for part in parts for leaf in _leaves(part) if not _is_number(leaf)]
    constants = [leaf for leaf in named if leaf.kind != "Variable" and not _is_ones(leaf)]
    return Printer(to, [*program.variables.values(), *constants], with_data)


def _leaves(expr: Any) -> list[Any]:
    return [leaf for arg in expr.args for leaf in _leaves(arg)] if expr.args else [expr]


def latex(program: Any, with_data: bool = False) -> str:
    r"""LaTeX of a declared program, with or without its sizes and the values of parameters.

    An `array` environment without delimiters: put it between `$$` for MathJax, KaTeX or LaTeX.
    (Converters to MathML do not support `aligned`.)

    >>> import cvxpy as cp
    >>> from indefinite_opt.algebra import Model, constants
    >>> x = cp.Variable(2, name="x")
    >>> model = Model(maximize=cp.sum(x), subject_to={"lower": x >= 0, "upper": x <= 1})
    >>> print(latex(model.program("Box", compiled=None)))
    \begin{array}{rl}
    \max\limits_{x} & \mathbf{e}^\top x \\
    \text{s.t.} & 0 \le x \le 1
    \end{array}
    """
    printer = _printer(program, LATEX)
    inner = program.inner and program.inner.variable
    outer = [variable for variable in program.variables.values() if variable is not inner]
    unknowns = ", ".join(printer.show(variable) for variable in outer)
    head = rf"\{program.sense[:3]}\limits_{{{unknowns}}}"
    if inner is not None:
        head += rf"\ \min\limits_{{{_inner_set(printer, program.inner)}}}"
    rows = [f"{head} & {printer.show(program.objective)}"]
    for i, (body, _) in enumerate(_lines(printer, program)):
        rows.append(("" if i else r"\text{s.t.}") + f" & {body}")
    for i, definition in enumerate(program.where):
        rows.append(("" if i else r"\text{where}") + f" & {definition.latex}")
    sizes = _sizes(printer, program) if with_data else []
    rows += [
        ("" if i else r"\text{with}") + " & " + r"\ ".join(sizes[i : i + 4])
        for i in range(0, len(sizes), 4)
    ]
    return "\\begin{array}{rl}\n" + " \\\\\n".join(rows) + "\n\\end{array}"


def text(program: Any, with_data: bool = True) -> str:
    """Unicode text of a declared program, with the names of the constraints on the right."""
    printer = _printer(program, TEXT)
    rows = [program.name, *_behind(program.sense, _broken(_objective(printer, program)))]
    rows += _behind("subject to", _beside(_lines(printer, program)))
    rows += _behind("where", [definition.text for definition in program.where])
    rows += _behind("with", _filled(_sizes(printer, program)) if with_data else [])
    if program.is_solved and program.compiled is not None:
        rows += _behind("solved as", _filled(program.compiled.solved_as.split(" ")))
    return "\n".join(rows)


def formula(program: Any) -> str:
    """The program on one line, without sizes and names, with the values of its parameters.

    >>> import indefinite_opt.algebra as cp
    >>> x, (C,) = cp.Variable(2, name="x"), cp.constants(C=2.0)
    >>> model = cp.Model(maximize=cp.sum(x), subject_to={"lower": x >= 0, "upper": x <= C})
    >>> formula(model.program("Box", compiled=None))
    'max eᵀx  s.t. 0 ≤ x ≤ C;  C = 2'
    """
    printer = _printer(program, TEXT)
    told = f"{program.sense[:3]} {_objective(printer, program)}"
    constraints = ", ".join(body for body, _ in _lines(printer, program))
    told += f"  s.t. {constraints}" if constraints else ""
    told += "".join(f", {definition.text}" for definition in program.where)
    values = ", ".join(_values(printer))
    return f"{told};  {values}" if values else told


def _objective(printer: Printer, program: Any) -> str:
    least = f"min over {_inner_set(printer, program.inner)} of " if program.inner else ""
    return least + printer.show(program.objective)


def _behind(head: str, lines: list[str]) -> list[str]:
    """A column of lines behind a head, which stands at the first one."""
    return [f"  {'' if i else head:<12}{line}" for i, line in enumerate(lines)]


def _beside(constraints: list[tuple[str, str]]) -> list[str]:
    """Constraints with their names in a column on the right, or below where there is no room."""
    bodies = [_broken(body) for body, _ in constraints]
    room = [ROOM - 4 - _width(names) for _, names in constraints]
    ends = [_width(body[-1]) for body in bodies]
    column = max((end for end, most in zip(ends, room, strict=True) if end <= most), default=0)
    lines = []
    for body, (_, names), most, end in zip(bodies, constraints, room, ends, strict=True):
        lines += body
        padding = " " * (max(column, end) - end if max(column, end) <= most else 0)
        if end <= most:
            lines[-1] += f"{padding}  ({names})"
        else:
            lines += [f"  {line}" for line in _filled(f"({names})".split(" "), ROOM - 2)]
    return lines


def _broken(formula: str) -> list[str]:
    """A formula on one line if it fits, else broken before signs that no parentheses enclose."""
    if _width(formula) <= ROOM:
        return [formula]
    first, *words = formula.split(" ")
    parts, before = [first], first
    for word in words:
        if word in "+-=≤≥⪰" and _is_closed(before):
            parts.append(word)
        else:
            parts[-1] += f" {word}"
        before += word
    start, *others = _filled(parts, ROOM - 2)
    return [start, *(f"  {line}" for line in others)]


def _is_closed(formula: str) -> bool:
    """Whether every parenthesis and every norm that it begins ends in it."""
    pairs = all(formula.count(left) == formula.count(right) for left, right in ("()", "[]"))
    return pairs and formula.count("‖") % 2 == formula.count("|") % 2 == 0


def _inner_set(printer: Printer, inner: Any) -> str:
    """The set under the inner minimum: K ⪰ 0, ‖K - K₀‖² ≤ r."""
    relations = [*inner.variable.domain, *inner.subject_to.values()]
    return ", ".join(_relation(printer, one) for one in relations)


def _sizes(printer: Printer, program: Any) -> list[str]:
    """The sizes of variables and data, and the values of parameters: α ∈ R¹⁰, C = 1."""
    found, values = [], []
    for variable in program.variables.values():
        name = printer.called(variable, variable.name())
        found.append(_in_space(symbol(name, printer.to).body, variable, printer))
    for name, expr in printer.data.items():
        body, value = symbol(name, printer.to).body, _value(expr, printer.to)
        told = f"{body} = {value}" if value else body
        if not expr.ndim and value:
            values.append(told)
        else:
            has_size = value[:1] in ("(", "[")
            found.append(told if has_size else _in_space(told, expr, printer))
    found += values
    return [f"{part}," for part in found[:-1]] + found[-1:]


def _in_space(body: str, expr: Any, printer: Printer) -> str:
    return printer.write("in", body, _power(printer.write("R"), expr.shape, printer))


def _power(base: str, shape: tuple[int, ...], printer: Printer) -> str:
    """The space of vectors or matrices whose entries are in a set: R, R¹⁰, R^(2×3)."""
    if not shape:
        return base
    size = printer.write("times").join(map(str, shape))
    is_wide = len(shape) > 1 and printer.to == TEXT
    return script("^", base, f"({size})" if is_wide else size, printer.to)


def _values(printer: Printer) -> list[str]:
    """The values of the parameters that were printed."""
    told = [(name, _value(expr, TEXT)) for name, expr in printer.data.items() if not expr.ndim]
    return [f"{symbol(name, TEXT).body} = {value}" for name, value in told if value]


def _filled(words: list[str], room: int | None = None) -> list[str]:
    """Words on as many lines of a column as they need."""
    lines: list[str] = []
    for word in words:
        if lines and _width(lines[-1]) + 1 + _width(word) <= (room or ROOM):
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _width(body: str) -> int:
    return sum(not unicodedata.combining(c) for c in body)


def legend(program: Any, with_data: bool = True) -> dict[str, str]:
    """What each symbol of a declared program means, by its name, in order of appearance.

    A constant that bounds a variable from above is described as such, and symbols that are not in
    `GLOSSARY` by their kind and shape, with the values of small arrays without a name. Without data
    they are vectors or matrices of any size.

    >>> import cvxpy as cp
    >>> from indefinite_opt.algebra import Model, constants
    >>> b, X = cp.Variable(name="b"), cp.Variable((2, 2), name="X")
    >>> legend(Model(minimize=b, subject_to={"entries": X >= 0}).program("", compiled=None))
    {'b': 'offset of the classifier', 'X': 'variable of shape (2, 2)'}
    """
    printer = _printer(program, TEXT, with_data)
    printer.show(program.objective)
    if program.inner is not None:
        _inner_set(printer, program.inner)
    _lines(printer, program)
    for definition in program.where:
        for name in definition.symbols:
            meaning = GLOSSARY.get(canonical_name(name), "symbol of a definition")
            printer.symbols.setdefault(name, meaning)
    bounds = _upper_bounds(printer, program)
    given = {printer.named.get(name, name): told for name, told in program.meanings.items()}
    own = {**bounds, **given}
    return {name: own.get(name, meaning) for name, meaning in printer.symbols.items()}


def _upper_bounds(printer: Printer, program: Any) -> dict[str, str]:
    """What the constants mean that bound each entry of a variable from above, by their symbols."""
    found = {}
    for constraint in program.subject_to.values():
        if constraint.kind != "Inequality":
            continue
        low, high = map(unpromoted, constraint.args)
        kinds = [low.kind, high.kind]
        if kinds == ["Variable", "Constant"] and low.ndim and high._name is not None:
            bounded = symbol(printer.called(low, low.name()), TEXT).body
            found[printer.called(high, high._name)] = f"upper bound of each entry of {bounded}"
    return found


def mathml(latex_string: str, display: str = "block") -> str:
    r"""MathML of a formula written by `latex` or `latex_expression`, for HTML without scripts.

    `display` is "block" or "inline".

    >>> mathml(r"\alpha \le C").startswith("<math")
    True
    """
    from latex2mathml.converter import convert

    return str(convert(latex_string, display=display))
