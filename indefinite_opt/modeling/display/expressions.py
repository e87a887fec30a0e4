r"""Prints cvxpy expressions as mathematics, in LaTeX or in Unicode text.

One walk over the expression serves both outputs: `Printer` finds the rule for each cvxpy class in
`_RULES`. Every vector is read as a column, so cvxpy's `y @ alpha` is :math:`y^\top \alpha`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from indefinite_opt.modeling.display.notation import (
    ATOM,
    GLOSSARY,
    HADAMARD,
    LATEX,
    LETTER,
    NOTATION,
    POWER,
    PRODUCT,
    SCALED,
    TEXT,
    UNKNOWNS,
    Piece,
    index_text,
    number,
    subscript,
    superscript,
    symbol,
    total,
)

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = [
    "Printer",
    "latex_expression",
    "text_expression",
    "unknown",
    "unpromoted",
]


def latex_expression(expr: cp.Expression) -> str:
    r"""LaTeX of a cvxpy expression.

    >>> import cvxpy as cp, numpy as np
    >>> alpha, Q = cp.Variable(2, name="alpha"), cp.Constant(np.diag([1, -1]), name="Q")
    >>> print(latex_expression(cp.sum(alpha) - 0.5 * cp.quad_form(alpha, Q)))
    \mathbf{e}^\top \alpha - \tfrac{1}{2} \alpha^\top Q \alpha
    """
    return Printer(LATEX).show(expr)


def text_expression(expr: cp.Expression) -> str:
    """Unicode text of a cvxpy expression, for a terminal.

    >>> import cvxpy as cp, numpy as np
    >>> alpha, Q = cp.Variable(2, name="alpha"), cp.Constant(np.diag([1, -1]), name="Q")
    >>> text_expression(cp.sum(alpha) - 0.5 * cp.quad_form(alpha, Q))
    'eᵀα - ½ αᵀQα'
    """
    return Printer(TEXT).show(expr)


class Printer:
    """Prints expressions into one of the two notations and remembers the symbols it used."""

    def __init__(self, to: int) -> None:
        self.to = to
        self.symbols: dict[str, str] = {}
        self._unnamed: dict[int, Piece] = {}

    def piece(self, expr: Any) -> Piece:
        # By class name, so that cvxpy need not be imported. Only leaves and wrappers go by their
        # base class: log1p derives from log, and printing it as log would be false.
        names = [type(expr).__name__.removesuffix("Approx")]
        names += [base.__name__ for base in type(expr).__mro__ if base.__name__ in _FAMILIES]
        rule = next((_RULES[name] for name in names if name in _RULES), unknown)
        return rule(self, expr)

    def show(self, expr: Any) -> str:
        return self.piece(expr).signed

    def write(self, key: str, *parts: str) -> str:
        template = NOTATION[key][self.to]
        return template % parts if parts else template

    def ones(self) -> Piece:
        self.symbols["e"] = GLOSSARY["e"]
        return Piece(self.write("ones"))

    def transposed(self, expr: Any) -> Piece:
        """A vector as a row, or a matrix transposed: (x @ A) as a row is xᵀA."""
        kind = type(expr).__name__
        if kind == "MulExpression" and expr.args[0].ndim == 1 and expr.args[1].ndim == 2:
            return self.product(self.transposed(expr.args[0]), self.piece(expr.args[1]))
        return self.piece(expr.args[0]) if kind == "transpose" else self.turned(self.piece(expr))

    def turned(self, piece: Piece) -> Piece:
        return piece._replace(body=self.write("T", piece.within(ATOM)), level=POWER)

    def product(self, *pieces: Piece) -> Piece:
        """A matrix product; the signs of the factors come out in front."""
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

    def quotient(self, top: Piece, bottom: Piece) -> Piece:
        negative = top.negative != bottom.negative
        if self.to == LATEX:
            return Piece(self.write("fraction", top.body, bottom.body), PRODUCT, negative)
        parts = top.within(SCALED), bottom.within(POWER)
        return Piece(self.write("fraction", *parts), HADAMARD, negative)

    def spread(self, scalar: Piece, shape: tuple[int, ...]) -> Piece:
        """A scalar where a vector or matrix is meant: b becomes b e, or b e eᵀ."""
        if math.prod(shape) == 1 or scalar.body == "0":
            return scalar
        ones = self.ones()
        row, column = len(shape) == 2 and shape[1] > 1, len(shape) == 1 or shape[0] > 1
        if row:
            ones = self.product(ones, self.turned(ones)) if column else self.turned(ones)
        return self.scaled(scalar, ones)

    def filling(self, expr: Any, shape: tuple[int, ...]) -> Piece:
        piece = self.piece(expr)
        return self.spread(piece, shape) if expr.size == 1 else piece

    def function(self, key: str, *args: str) -> Piece:
        if key in NOTATION:
            head = self.write(key)
        elif self.to == LATEX and "_" in key:
            # MathML converters stumble over \_ within \operatorname.
            head = self.write("word", key.replace("_", r"\_"))
        else:
            head = self.write("function", key)
        return Piece(f"{head}({', '.join(args)})", ATOM, word=True)

    def norm(self, expr: Any, kind: str) -> Piece:
        return Piece(subscript(self.write("norm", self.show(expr)), kind, self.to), ATOM)

    def euclidean(self, expr: Any) -> Piece:
        """The root of the sum of squares, which cvxpy takes of a matrix as one long vector."""
        inner = expr.args[0] if type(expr).__name__ == "reshape" else expr
        return self.norm(inner, "F") if _is_matrix(inner) else self.norm(expr, "2")

    def power(self, piece: Piece, exponent: str) -> Piece:
        return Piece(superscript(piece.closed(ATOM), exponent, self.to), POWER)

    def stacked(self, rows: Sequence[Sequence[str]]) -> Piece:
        cells = [self.write("cell").join(row) for row in rows]
        return Piece(self.write("matrix", self.write("row").join(cells)), ATOM)


def _is_matrix(expr: Any) -> bool:
    return expr.ndim == 2 and min(expr.shape) > 1


def _is_row(expr: Any) -> bool:
    return expr.ndim == 2 and expr.shape[0] == 1 < expr.shape[1]


def unpromoted(expr: Any) -> Any:
    """The scalar that cvxpy has promoted to a vector, or the expression itself."""
    promoted = type(expr).__name__ in ("Promote", "broadcast_to")
    return expr.args[0] if promoted and expr.args[0].size == 1 else expr


def _constant(printer: Printer, expr: Any) -> Piece:
    name = getattr(expr, "_name", None)  # name() of an unnamed constant is its printed value
    if name is not None:
        printer.symbols[name] = GLOSSARY.get(name, f"constant{_shaped(expr)}")
        return symbol(name, printer.to)
    value = expr.value
    if expr.size == 1:
        return number(float(value.sum()), printer.to)
    low, high = float(value.min()), float(value.max())
    if low == high:
        return printer.spread(number(low, printer.to), expr.shape)
    n = expr.shape[0]
    if expr.shape == (n, n) and (value.diagonal() == 1).all() and abs(value).sum() == n:
        return Piece(printer.write("identity"))
    return _unnamed_array(printer, expr)


def _unnamed_array(printer: Printer, expr: Any) -> Piece:
    known = printer._unnamed
    if id(expr) not in known:
        name = f"c{len(known) + 1}" if known else "c"
        printer.symbols[name] = f"constant without a name{_shaped(expr)}"
        letter = printer.write("array")
        numbered = Piece(subscript(letter, name[1:], printer.to), ATOM)
        known[id(expr)] = numbered if known else Piece(letter)
    return known[id(expr)]


def _leaf(printer: Printer, expr: Any) -> Piece:
    name, kind = expr.name(), type(expr).__name__.lower()
    known = {**GLOSSARY, **UNKNOWNS} if kind == "variable" else GLOSSARY
    printer.symbols[name] = known.get(name, kind + _shaped(expr))
    return symbol(name, printer.to)


def _shaped(expr: Any) -> str:
    return f" of shape {expr.shape}" if expr.shape else ""


def _promoted(printer: Printer, expr: Any) -> Piece:
    if unpromoted(expr) is expr:  # a vector spread over a matrix, which has no common notation
        return unknown(printer, expr)
    return printer.spread(printer.piece(expr.args[0]), expr.shape)


def _sum_of(printer: Printer, expr: Any) -> Piece:
    return total(printer.filling(term, expr.shape) for term in expr.args)


def _multiplied(printer: Printer, expr: Any) -> Piece:
    """A scalar times anything without a sign, numbers first; otherwise elementwise."""
    left, right = (unpromoted(arg) for arg in expr.args)
    if 1 in (left.size, right.size):
        if left.size != 1 or (right.size == 1 and _is_number(right)):
            left, right = right, left
        return printer.scaled(printer.piece(left), printer.piece(right))
    pieces = [printer.piece(arg) for arg in (left, right)]
    body = printer.write("hadamard", *(piece.within(HADAMARD) for piece in pieces))
    return Piece(body, HADAMARD, pieces[0].negative != pieces[1].negative)


def _is_number(expr: Any) -> bool:
    return type(expr).__name__ == "Constant" and expr._name is None


def _matrix_product(printer: Printer, expr: Any) -> Piece:
    left, right = expr.args
    if left.ndim != 1:
        return printer.product(printer.piece(left), printer.piece(right))
    if right.ndim != 1:  # a row times a matrix, read as a column
        return printer.product(printer.transposed(right), printer.piece(left))
    return printer.product(printer.transposed(left), printer.piece(right))


def _divided(printer: Printer, expr: Any) -> Piece:
    return printer.quotient(*(printer.piece(unpromoted(arg)) for arg in expr.args))


def _transposed(printer: Printer, expr: Any) -> Piece:
    arg = expr.args[0]
    return printer.transposed(arg) if arg.ndim == 2 else printer.piece(arg)


def _reshaped(printer: Printer, expr: Any) -> Piece:
    """Nothing to show between vectors, except that a row is a transposed column."""
    arg = expr.args[0]
    if _is_matrix(arg) and arg.shape != expr.shape:
        # vec stacks columns; cvxpy's order C stacks rows, the columns of the transpose.
        piece = printer.piece(arg) if expr.order == "F" else printer.transposed(arg)
        return printer.function("vec" if expr.ndim == 1 else "reshape", piece.signed)
    return printer.transposed(arg) if _is_row(arg) != _is_row(expr) else printer.piece(arg)


def _quadratic(printer: Printer, expr: Any) -> Piece:
    x, matrix = expr.args
    return printer.product(printer.transposed(x), printer.piece(matrix), printer.piece(x))


def _inverse_quadratic(printer: Printer, expr: Any) -> Piece:
    x, matrix = expr.args
    if x.ndim != 1 and x.shape[1] != 1:
        return unknown(printer, expr)
    inverse = printer.write("inverse", printer.piece(matrix).closed(ATOM))
    return printer.product(printer.transposed(x), Piece(inverse, POWER), printer.piece(x))


def _sum_of_squares(printer: Printer, expr: Any) -> Piece:
    x, scale = expr.args
    if expr.axis is not None:
        return unknown(printer, expr)
    square = printer.power(printer.euclidean(x), "2")
    if _is_number(scale) and scale.value == 1:
        return square
    return printer.quotient(square, printer.piece(scale))


def _summed(printer: Printer, expr: Any) -> Piece:
    """Sums as products with the vector of ones: eᵀx, eᵀXe, and column sums Xᵀe."""
    arg, axis = expr.args[0], expr.axis
    if arg.size == 1:
        return printer.piece(arg)
    if arg.ndim == 1 or (axis is None and arg.shape[1] == 1) or (axis == 0 and expr.keepdims):
        return printer.product(printer.turned(printer.ones()), printer.piece(arg))
    if axis == 0:
        return printer.product(printer.transposed(arg), printer.ones())
    if axis == 1 or (axis is None and arg.shape[0] == 1):
        return printer.product(printer.piece(arg), printer.ones())
    return _matrix_sum(printer, arg)


def _matrix_sum(printer: Printer, arg: Any) -> Piece:
    """Of A∘B: the inner product ⟨A, B⟩, or tr(AB) as cvxpy expands trace(A @ B)."""
    if type(arg).__name__ == "multiply" and all(_is_matrix(unpromoted(a)) for a in arg.args):
        a, b = arg.args
        if type(b).__name__ == "transpose":
            product = printer.product(printer.piece(a), printer.piece(b.args[0]))
            return printer.function("tr", product.signed)
        return Piece(printer.write("inner", printer.show(a), printer.show(b)))
    ones = printer.ones()
    return printer.product(printer.turned(ones), printer.piece(arg), ones)


def _norm(printer: Printer, expr: Any, kind: str = "") -> Piece:
    if getattr(expr, "axis", None) is not None:
        return unknown(printer, expr)
    if not kind and expr.p == 2:
        return printer.euclidean(expr.args[0])
    kind = kind or number(float(expr.p), TEXT).signed
    return printer.norm(expr.args[0], printer.write("infinity") if kind == "∞" else kind)


def _powered(printer: Printer, expr: Any) -> Piece:
    x, exponent = printer.piece(expr.args[0]), expr.get_data()[0]
    if not isinstance(exponent, int | float | Fraction):
        return printer.power(x, printer.show(exponent))
    if exponent == 0.5:
        root = x.signed if printer.to == LATEX else x.closed(ATOM)
        return Piece(printer.write("sqrt", root), POWER)
    return printer.power(x, str(Fraction(exponent).limit_denominator(1000)))


def _extreme(printer: Printer, expr: Any) -> Piece:
    """The largest or smallest entry: max_i x_i."""
    if expr.axis is not None:
        return unknown(printer, expr)
    entry = "ij" if expr.args[0].ndim == 2 else "i"
    head = subscript(printer.write(type(expr).__name__), entry, printer.to)
    base = printer.piece(expr.args[0]).closed(LETTER)
    return Piece(f"{head} {subscript(base, entry, printer.to)}", HADAMARD, word=True)


def _called(printer: Printer, expr: Any, key: str) -> Piece:
    return printer.function(key, *(printer.show(unpromoted(arg)) for arg in expr.args))


def _diagonal(printer: Printer, expr: Any) -> Piece:
    return _called(printer, expr, "diag") if expr.k == 0 else unknown(printer, expr)


def _wrapped(printer: Printer, expr: Any) -> Piece:
    key = type(expr).__name__
    level = POWER if key == "exp" else ATOM
    return Piece(printer.write(key, printer.show(expr.args[0])), level, word=key != "abs")


def _entropy(printer: Printer, expr: Any) -> Piece:
    x = printer.piece(expr.args[0])
    log = printer.function("log", x.signed)
    if expr.size == 1:
        return printer.scaled(Piece("1", negative=True), printer.product(x, log))
    parts = x.within(HADAMARD), log.body
    return Piece(printer.write("hadamard", *parts), HADAMARD, not x.negative)


def _indexed(printer: Printer, expr: Any) -> Piece:
    keys, lengths = expr.get_data()[0], expr.args[0].shape
    keys = keys if isinstance(keys, tuple) else (keys,)
    entries = [index_text(key, n) for key, n in zip(keys, lengths, strict=False)]
    entries += [":"] * (len(lengths) - len(keys))
    script = ",".join(entries).translate({123: r"\{", 125: r"\}"} if printer.to == LATEX else {})
    base = printer.piece(expr.args[0]).closed(LETTER)
    return Piece(subscript(base, script, printer.to), ATOM)


def _stacked_beside(printer: Printer, expr: Any) -> Piece:
    cells = [printer.show(arg) for arg in expr.args]
    return printer.stacked([cells] if expr.ndim == 2 else [[cell] for cell in cells])


def _stacked_below(printer: Printer, expr: Any) -> Piece:
    rows = []
    for arg in expr.args:
        if type(arg).__name__ == "Hstack" and arg.ndim == 2:
            rows.append([printer.show(cell) for cell in arg.args])
        else:
            row = printer.transposed(arg) if arg.ndim == 1 else printer.piece(arg)
            rows.append([row.signed])
    return printer.stacked(rows)


def unknown(printer: Printer, expr: Any) -> Piece:
    """Any other atom under cvxpy's own name, with the numbers or the axis that belong to it."""
    args = [printer.show(arg) for arg in expr.args if hasattr(arg, "shape")]
    axis = getattr(expr, "axis", None)
    if axis is not None:
        args.append(printer.write("axis", str(axis + 1)))
    elif hasattr(expr, "shape") and hasattr(expr, "is_convex"):  # a constraint's data is its id
        data = expr.get_data() or ()
        args += [number(n, printer.to).signed for n in data if type(n) in (int, float)]
        args += [printer.show(n) for n in data if hasattr(n, "is_constant")]
    return printer.function(type(expr).__name__.removesuffix("Approx"), *args)


_RULES: dict[str, Callable[[Printer, Any], Piece]] = {
    "Constant": _constant,
    "Leaf": _leaf,
    "AddExpression": _sum_of,
    "NegExpression": lambda printer, expr: printer.piece(expr.args[0]).flipped(),
    "multiply": _multiplied,
    "MulExpression": _matrix_product,
    "DivExpression": _divided,
    "transpose": _transposed,
    "Promote": _promoted,
    "broadcast_to": _promoted,
    "reshape": _reshaped,
    "Wrap": lambda printer, expr: printer.piece(expr.args[0]),
    "QuadForm": _quadratic,
    "MatrixFrac": _inverse_quadratic,
    "quad_over_lin": _sum_of_squares,
    "Sum": _summed,
    "norm1": partial(_norm, kind="1"),
    "norm_inf": partial(_norm, kind="∞"),
    "normNuc": partial(_norm, kind="*"),
    "Pnorm": _norm,
    "sigma_max": partial(_norm, kind="2"),
    "Power": _powered,
    "max": _extreme,
    "min": _extreme,
    "maximum": partial(_called, key="max"),
    "minimum": partial(_called, key="min"),
    "log": partial(_called, key="log"),
    "Trace": partial(_called, key="tr"),
    "diag_vec": _diagonal,
    "diag_mat": _diagonal,
    **dict.fromkeys(("abs", "exp", "log1p", "logistic", "log_det"), _wrapped),
    **dict.fromkeys(("lambda_max", "lambda_min"), _wrapped),
    "entr": _entropy,
    "index": _indexed,
    "special_index": _indexed,
    "Hstack": _stacked_beside,
    "Vstack": _stacked_below,
}
"""How to print each cvxpy class, by class name."""

_FAMILIES = ("Leaf", "Wrap")
