r"""Declared problems as mathematics: LaTeX, Unicode text, MathML, and a legend of the symbols.

What is shown is generated from the declared cvxpy expressions, never typed a second time, so it
cannot drift from what is solved. A *program* is any object with `name`, `sense` ("minimize" or
"maximize"), `objective` (a scalar cvxpy expression) and `subject_to` (name -> cvxpy constraint);
its variables and constants carry the names to print: `cp.Variable(n, name="alpha")`.

Every vector is read as a column, so cvxpy's `y @ alpha` is :math:`y^\top \alpha`. Both outputs
come from one walk over the expression; `_NOTATION` holds all that differs between them.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from indefinite_opt.errors import ParameterError

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = [
    "GLOSSARY",
    "DeclaredProgram",
    "latex",
    "latex_expression",
    "legend",
    "mathml",
    "text",
    "text_expression",
]

GLOSSARY = {
    "n": "number of training points",
    "e": "vector of ones",
    "K": "kernel matrix, K_ij = k(x_i, x_j)",
    "K0": "given kernel matrix, indefinite",
    "Ktilde": "kernel matrix with transformed spectrum",
    "Q": "label-signed kernel matrix, Q_ij = y_i y_j K_ij",
    "G": "label-signed kernel matrix, G_ij = y_i y_j K_ij",
    "D2": "squared distances, d²_ij = K_ii - 2 K_ij + K_jj; may be negative",
    "Delta": "sensitivity matrix",
    "V": "eigenvectors of the kernel matrix, in columns",
    "Lambda": "diagonal matrix of the eigenvalues",
    "y": "labels in {-1, +1}",
    "alpha": "example weights",
    "alphabar": "example weights of the convex hulls; each class sums to 1",
    "u": "coefficients of the classifier",
    "b": "offset of the classifier",
    "xi": "slack: how far each margin falls short of 1",
    "delta": "largest sensitivity",
    "C": "price of slack; upper bound of each weight",
    "mu": "upper bound of each convex-hull weight",
    "beta": "upper bound of each weight",
    "betabar": "upper bound of each weight",
    "rho": "price of moving the kernel matrix away from the given one",
}
"""One line on each symbol of the papers, by the name it is declared under."""


class DeclaredProgram(Protocol):
    """What this module needs to know of a declared problem."""

    @property
    def name(self) -> str: ...
    @property
    def sense(self) -> str: ...
    @property
    def objective(self) -> cp.Expression: ...
    @property
    def subject_to(self) -> dict[str, cp.Constraint]: ...


# ---------------------------------------------------------------- notation: LaTeX beside Unicode

_LATEX, _TEXT = 0, 1

# How tightly an expression holds together; a looser one inside a tighter one gets parentheses.
# Only a LETTER takes a subscript, and only an ATOM or a LETTER a superscript.
_SUM, _HADAMARD, _SCALED, _PRODUCT, _POWER, _ATOM, _LETTER = range(7)

_NOTATION = {
    "ones": (r"\mathbf{e}", "e"),
    "identity": ("I", "I"),
    "array": (r"\mathbf{c}", "c"),
    "axis": (r"\text{axis }%s", "axis %s"),
    "word": (r"\mathrm{%s}", "%s"),
    "bar": (r"\bar", "\u0304"),
    "tilde": (r"\tilde", "\u0303"),
    "hat": (r"\hat", "\u0302"),
    "T": (r"%s^\top", "%sᵀ"),
    "hadamard": (r"%s \circ %s", "%s∘%s"),
    "dot": (r"%s \cdot %s", "%s·%s"),
    "fraction": (r"\frac{%s}{%s}", "%s/%s"),
    "inner": (r"\langle %s, %s \rangle", "⟨%s, %s⟩"),
    "norm": (r"\|%s\|", "‖%s‖"),
    "exp": ("e^{%s}", "exp(%s)"),
    "log1p": (r"\log(1 + %s)", "log(1 + %s)"),
    "logistic": (r"\log(1 + e^{%s})", "log(1 + exp(%s))"),
    "sqrt": (r"\sqrt{%s}", "√%s"),
    "log_det": (r"\log\det(%s)", "log det(%s)"),
    "lambda_max": (r"\lambda_{\max}(%s)", "λ_max(%s)"),
    "lambda_min": (r"\lambda_{\min}(%s)", "λ_min(%s)"),
    "max": (r"\max", "max"),
    "min": (r"\min", "min"),
    "log": (r"\log", "log"),
    "function": (r"\operatorname{%s}", "%s"),
    "abs": ("|%s|", "|%s|"),
    "infinity": (r"\infty", "∞"),
    "cell": (" & ", ", "),
    "row": (r" \\ ", "; "),
    "matrix": (r"\begin{bmatrix} %s \end{bmatrix}", "[%s]"),
    "=": ("=", "="),
    "<=": (r"\le", "≤"),
    ">=": (r"\ge", "≥"),
    "<<": (r"\preceq", "⪯"),
    ">>": (r"\succeq", "⪰"),
    "boolean": (r"%s \in \{0, 1\}", "%s ∈ {0, 1}"),
    "integer": (r"%s \in \mathbb{Z}", "%s ∈ ℤ"),
}

_GREEK = dict(
    re.findall(
        r"(\w+) (\w)",
        "alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ"
        " nu ν xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi φ chi χ psi ψ omega ω Gamma Γ Delta Δ"
        " Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω",
    )
)
_RAISED = str.maketrans("0123456789+-()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿ")
_LOWERED = str.maketrans("0123456789+-()ijn", "₀₁₂₃₄₅₆₇₈₉₊₋₍₎ᵢⱼₙ")
_GLYPHS = {unicodedata.normalize("NFKC", c): c for c in "½⅓⅔¼¾⅙⅚⅛⅜⅝⅞⅑"}


class _Piece(NamedTuple):
    """A printed expression, how tightly it holds together, and a minus sign kept apart.

    The sign stays apart until the end so that sums read `a - b` and never `a + -b`. A `word` keeps
    its distance from other factors: αᵀQα, but αᵀ log(x).
    """

    body: str
    level: int = _LETTER
    negative: bool = False
    word: bool = False


def _number(value: float, to: int) -> _Piece:
    body, negative = abs(value), value < 0
    if not math.isfinite(body):
        return _Piece(_NOTATION["infinity"][to] if body > 0 else "nan", _LETTER, negative)
    near = Fraction(body).limit_denominator(9)
    top, bottom = near.numerator, near.denominator
    # 1/5 is better read as 0.2; 1e-12 forgives the rounding of 1/3 and nothing else.
    exact = abs(near - body) <= 1e-12 * body and bottom != 5
    if exact and bottom == 1 and body < 1e6:
        return _Piece(str(top), _LETTER, negative)
    if exact and bottom > 1 and top < 100:
        return _Piece(_fraction(str(top), str(bottom), to), _PRODUCT, negative)
    mantissa, _, exponent = f"{body:.4g}".partition("e")
    if not exponent:
        return _Piece(mantissa, _LETTER, negative)
    ten = _raise("10", str(int(exponent)), to)
    body_text = ten if mantissa == "1" else _NOTATION["dot"][to] % (mantissa, ten)
    return _Piece(body_text, _PRODUCT, negative)


def _fraction(top: str, bottom: str, to: int) -> str:
    if to == _LATEX:
        return rf"\tfrac{{{top}}}{{{bottom}}}"
    raised, lowered = top.translate(_RAISED), bottom.translate(_LOWERED)
    return _GLYPHS.get(f"{top}\u2044{bottom}", f"{raised}\u2044{lowered}")


def _script(mark: str, table: dict[int, int], base: str, script: str, to: int) -> str:
    if to == _LATEX:
        return f"{base}{mark}{script}" if len(script) == 1 else f"{base}{mark}{{{script}}}"
    if all(ord(c) in table for c in script):
        return base + script.translate(table)
    simple = len(script) == 1 or script.isalpha() or re.fullmatch(r"\{[^{}]*\}", script)
    return f"{base}{mark}{script}" if simple else f"{base}{mark}({script})"


_raise = partial(_script, "^", _RAISED)
_lower = partial(_script, "_", _LOWERED)


def _stem(stem: str, to: int) -> str:
    if stem in _GREEK:
        command = r"\varepsilon" if stem == "epsilon" else f"\\{stem}"
        return (command, _GREEK[stem])[to]
    if len(stem) == 1:
        return stem
    return _NOTATION["word"][to] % (stem.replace("_", r"\_") if to == _LATEX else stem)


def _symbol(name: str, to: int) -> _Piece:
    """A name as a symbol: alphabar -> ᾱ, K0 -> K₀, D2 -> D⁽²⁾; a word stays a word."""
    if "\\" in name:
        level = _POWER if "^" in name else _ATOM if "_" in name else _LETTER
        return _Piece(name if to == _LATEX else _without_commands(name), level)
    if name == "D2":
        return _Piece(_raise("D", "(2)", to), _POWER)
    letter = "|".join(sorted(_GREEK, key=len, reverse=True)) + "|[^\\W\\d_]"
    found = re.fullmatch(rf"({letter})(bar|tilde|hat)?(?:_?(\d+)|_(\w+))?", name)
    if found is None:
        return _Piece(_stem(name, to), word=True)
    stem, accent, digits, word = found.groups()
    body = _stem(stem, to)
    if accent and to == _LATEX:
        body = _NOTATION[accent][to] + (body if body[0] == "\\" else f"{{{body}}}")
    elif accent:
        body = unicodedata.normalize("NFC", body + _NOTATION[accent][to])
    if not (digits or word):
        return _Piece(body)
    return _Piece(_lower(body, digits or _stem(word, to), to), _ATOM)


def _without_commands(name: str) -> str:
    """A name written in LaTeX, for the terminal: accents and Greek kept, other commands dropped."""
    for accent in ("bar", "tilde", "hat"):
        name = re.sub(rf"\\{accent}\s*(\{{.*?\}}|\\\w+|\w)", rf"\1{_NOTATION[accent][_TEXT]}", name)
    name = re.sub(r"\\([A-Za-z]+)\s*", lambda command: _GREEK.get(command[1], ""), name)
    return unicodedata.normalize("NFC", re.sub(r"[{}\\]", "", name))


# ------------------------------------------------------------------------- one walk, two outputs


class _Printer:
    """Prints expressions into one of the two notations and remembers the symbols it used."""

    def __init__(self, to: int) -> None:
        self.to = to
        self.symbols: dict[str, str] = {}
        self._unnamed: dict[int, _Piece] = {}

    def piece(self, expr: Any) -> _Piece:
        # By class name, so that cvxpy need not be imported. Only leaves and wrappers go by their
        # base class: log1p derives from log, and printing it as log would be false.
        names = [type(expr).__name__.removesuffix("Approx")]
        names += [base.__name__ for base in type(expr).__mro__ if base.__name__ in _FAMILIES]
        rule = next((_RULES[name] for name in names if name in _RULES), _unknown)
        return rule(self, expr)

    def show(self, expr: Any) -> str:
        return _signed(self.piece(expr))

    def write(self, key: str, *parts: str) -> str:
        template = _NOTATION[key][self.to]
        return template % parts if parts else template

    def within(self, piece: _Piece, level: int) -> str:
        """The body of `piece`, in parentheses if it is looser than `level`; no sign."""
        return piece.body if piece.level >= level else self.bracketed(piece.body)

    def bracketed(self, body: str) -> str:
        tall = r"\frac" in body or r"\begin" in body
        return rf"\left( {body} \right)" if tall else f"({body})"

    def closed(self, piece: _Piece, level: int) -> str:
        """The same with the sign, which also calls for parentheses."""
        return self.bracketed(_signed(piece)) if piece.negative else self.within(piece, level)

    def ones(self) -> _Piece:
        self.symbols["e"] = GLOSSARY["e"]
        return _Piece(self.write("ones"))

    def transposed(self, expr: Any) -> _Piece:
        """A vector as a row, or a matrix transposed: (x @ A) as a row is xᵀA."""
        kind = type(expr).__name__
        if kind == "MulExpression" and _ndim(expr.args[0]) == 1 and _ndim(expr.args[1]) == 2:
            return self.product(self.transposed(expr.args[0]), self.piece(expr.args[1]))
        return self.piece(expr.args[0]) if kind == "transpose" else self.turned(self.piece(expr))

    def turned(self, piece: _Piece) -> _Piece:
        return piece._replace(body=self.write("T", self.within(piece, _ATOM)), level=_POWER)

    def product(self, *pieces: _Piece) -> _Piece:
        """A matrix product; the signs of the factors come out in front."""
        word = any(piece.word for piece in pieces)
        space = " " if word or self.to == _LATEX else ""
        body = space.join(self.within(piece, _PRODUCT) for piece in pieces)
        return _Piece(body, _PRODUCT, sum(piece.negative for piece in pieces) % 2 == 1, word)

    def flipped(self, piece: _Piece) -> _Piece:
        if piece.level == _SUM:
            return _Piece(self.bracketed(piece.body), _ATOM, True)
        return piece._replace(negative=not piece.negative)

    def scaled(self, scalar: _Piece, piece: _Piece) -> _Piece:
        negative = scalar.negative != piece.negative
        if "1" in (scalar.body, piece.body):
            factor = piece if scalar.body == "1" else scalar
            return self.flipped(factor) if negative != factor.negative else factor
        left, right = self.within(scalar, _SCALED), self.within(piece, _SCALED)
        digits = right[0].isnumeric() or right.startswith(r"\tfrac")
        body = self.write("dot", left, right) if digits else f"{left} {right}"
        return _Piece(body, _SCALED, negative, piece.word)

    def quotient(self, top: _Piece, bottom: _Piece) -> _Piece:
        negative = top.negative != bottom.negative
        if self.to == _LATEX:
            return _Piece(self.write("fraction", top.body, bottom.body), _PRODUCT, negative)
        parts = self.within(top, _SCALED), self.within(bottom, _POWER)
        return _Piece(self.write("fraction", *parts), _HADAMARD, negative)

    def total(self, pieces: Iterable[_Piece]) -> _Piece:
        terms = [piece for piece in pieces if piece.body != "0"]
        if len(terms) < 2:
            return terms[0] if terms else _Piece("0")
        rest = "".join(f" {'-' if term.negative else '+'} {term.body}" for term in terms[1:])
        return _Piece(_signed(terms[0]) + rest, _SUM)

    def spread(self, scalar: _Piece, shape: tuple[int, ...]) -> _Piece:
        """A scalar where a vector or matrix is meant: b becomes b e, or b e eᵀ."""
        if _size(shape) == 1 or scalar.body == "0":
            return scalar
        ones = self.ones()
        row, column = len(shape) == 2 and shape[1] > 1, len(shape) == 1 or shape[0] > 1
        if row:
            ones = self.product(ones, self.turned(ones)) if column else self.turned(ones)
        return self.scaled(scalar, ones)

    def function(self, key: str, *args: str) -> _Piece:
        if key in _NOTATION:
            head = self.write(key)
        elif self.to == _LATEX and "_" in key:
            # MathML converters stumble over \_ within \operatorname.
            head = self.write("word", key.replace("_", r"\_"))
        else:
            head = self.write("function", key)
        return _Piece(f"{head}({', '.join(args)})", _ATOM, word=True)

    def norm(self, expr: Any, kind: str) -> _Piece:
        return _Piece(_lower(self.write("norm", self.show(expr)), kind, self.to), _ATOM)

    def euclidean(self, expr: Any) -> _Piece:
        """The root of the sum of squares, which cvxpy takes of a matrix as one long vector."""
        inner = expr.args[0] if type(expr).__name__ == "reshape" else expr
        return self.norm(inner, "F") if _is_matrix(inner) else self.norm(expr, "2")

    def power(self, piece: _Piece, exponent: str) -> _Piece:
        return _Piece(_raise(self.closed(piece, _ATOM), exponent, self.to), _POWER)

    def stacked(self, rows: Sequence[Sequence[str]]) -> _Piece:
        cells = [self.write("cell").join(row) for row in rows]
        return _Piece(self.write("matrix", self.write("row").join(cells)), _ATOM)


def _signed(piece: _Piece) -> str:
    return f"-{piece.body}" if piece.negative else piece.body


def _ndim(expr: Any) -> int:
    return len(expr.shape)


def _size(shape: tuple[int, ...]) -> int:
    return math.prod(shape)


def _is_matrix(expr: Any) -> bool:
    return _ndim(expr) == 2 and min(expr.shape) > 1


def _is_row(expr: Any) -> bool:
    return _ndim(expr) == 2 and expr.shape[0] == 1 < expr.shape[1]


def _scalar(expr: Any) -> Any:
    """The scalar that cvxpy has promoted to a vector, or the expression itself."""
    promoted = type(expr).__name__ in ("Promote", "broadcast_to")
    return expr.args[0] if promoted and _size(expr.args[0].shape) == 1 else expr


def _constant(printer: _Printer, expr: Any) -> _Piece:
    name = getattr(expr, "_name", None)  # name() of an unnamed constant is its printed value
    if name is not None:
        printer.symbols[name] = GLOSSARY.get(name, f"constant{_shaped(expr)}")
        return _symbol(name, printer.to)
    value = expr.value
    if _size(expr.shape) == 1:
        return _number(float(value.sum()), printer.to)
    low, high = float(value.min()), float(value.max())
    if low == high:
        return printer.spread(_number(low, printer.to), expr.shape)
    n = expr.shape[0]
    if expr.shape == (n, n) and (value.diagonal() == 1).all() and abs(value).sum() == n:
        return _Piece(printer.write("identity"))
    return _unnamed_array(printer, expr)


def _unnamed_array(printer: _Printer, expr: Any) -> _Piece:
    known = printer._unnamed
    if id(expr) not in known:
        name = f"c{len(known) + 1}" if known else "c"
        printer.symbols[name] = f"constant without a name{_shaped(expr)}"
        letter = printer.write("array")
        numbered = _Piece(_lower(letter, name[1:], printer.to), _ATOM)
        known[id(expr)] = numbered if known else _Piece(letter)
    return known[id(expr)]


def _leaf(printer: _Printer, expr: Any) -> _Piece:
    name, kind = expr.name(), type(expr).__name__.lower()
    printer.symbols[name] = GLOSSARY.get(name, kind + _shaped(expr))
    return _symbol(name, printer.to)


def _shaped(expr: Any) -> str:
    return f" of shape {expr.shape}" if expr.shape else ""


def _inner(printer: _Printer, expr: Any) -> _Piece:
    return printer.piece(expr.args[0])


def _negated(printer: _Printer, expr: Any) -> _Piece:
    return printer.flipped(printer.piece(expr.args[0]))


def _promoted(printer: _Printer, expr: Any) -> _Piece:
    if _scalar(expr) is expr:  # a vector spread over a matrix, which has no common notation
        return _unknown(printer, expr)
    return printer.spread(printer.piece(expr.args[0]), expr.shape)


def _sum_of(printer: _Printer, expr: Any) -> _Piece:
    return printer.total(_filling(printer, term, expr.shape) for term in expr.args)


def _filling(printer: _Printer, expr: Any, shape: tuple[int, ...]) -> _Piece:
    piece = printer.piece(expr)
    return printer.spread(piece, shape) if _size(expr.shape) == 1 else piece


def _multiplied(printer: _Printer, expr: Any) -> _Piece:
    """A scalar times anything without a sign, numbers first; otherwise elementwise."""
    left, right = (_scalar(arg) for arg in expr.args)
    if 1 in (_size(left.shape), _size(right.shape)):
        if _size(left.shape) != 1 or (_size(right.shape) == 1 and _is_number(right)):
            left, right = right, left
        return printer.scaled(printer.piece(left), printer.piece(right))
    pieces = [printer.piece(arg) for arg in (left, right)]
    body = printer.write("hadamard", *(printer.within(piece, _HADAMARD) for piece in pieces))
    return _Piece(body, _HADAMARD, pieces[0].negative != pieces[1].negative)


def _is_number(expr: Any) -> bool:
    return type(expr).__name__ == "Constant" and expr._name is None


def _matrix_product(printer: _Printer, expr: Any) -> _Piece:
    left, right = expr.args
    if _ndim(left) != 1:
        return printer.product(printer.piece(left), printer.piece(right))
    if _ndim(right) != 1:  # a row times a matrix, read as a column
        return printer.product(printer.transposed(right), printer.piece(left))
    return printer.product(printer.transposed(left), printer.piece(right))


def _divided(printer: _Printer, expr: Any) -> _Piece:
    return printer.quotient(*(printer.piece(_scalar(arg)) for arg in expr.args))


def _transposed(printer: _Printer, expr: Any) -> _Piece:
    arg = expr.args[0]
    return printer.transposed(arg) if _ndim(arg) == 2 else printer.piece(arg)


def _reshaped(printer: _Printer, expr: Any) -> _Piece:
    """Nothing to show between vectors, except that a row is a transposed column."""
    arg = expr.args[0]
    if _is_matrix(arg) and arg.shape != expr.shape:
        # vec stacks columns; cvxpy's order C stacks rows, the columns of the transpose.
        piece = printer.piece(arg) if expr.order == "F" else printer.transposed(arg)
        return printer.function("vec" if _ndim(expr) == 1 else "reshape", _signed(piece))
    return printer.transposed(arg) if _is_row(arg) != _is_row(expr) else printer.piece(arg)


def _quadratic(printer: _Printer, expr: Any) -> _Piece:
    x, matrix = expr.args
    return printer.product(printer.transposed(x), printer.piece(matrix), printer.piece(x))


def _sum_of_squares(printer: _Printer, expr: Any) -> _Piece:
    x, scale = expr.args
    if expr.axis is not None:
        return _unknown(printer, expr)
    square = printer.power(printer.euclidean(x), "2")
    if _is_number(scale) and scale.value == 1:
        return square
    return printer.quotient(square, printer.piece(scale))


def _summed(printer: _Printer, expr: Any) -> _Piece:
    """Sums as products with the vector of ones: eᵀx, eᵀXe, and column sums Xᵀe."""
    arg, axis = expr.args[0], expr.axis
    if _size(arg.shape) == 1:
        return printer.piece(arg)
    if _ndim(arg) == 1 or (axis is None and arg.shape[1] == 1) or (axis == 0 and expr.keepdims):
        return printer.product(printer.turned(printer.ones()), printer.piece(arg))
    if axis == 0:
        return printer.product(printer.transposed(arg), printer.ones())
    if axis == 1 or (axis is None and arg.shape[0] == 1):
        return printer.product(printer.piece(arg), printer.ones())
    return _matrix_sum(printer, arg)


def _matrix_sum(printer: _Printer, arg: Any) -> _Piece:
    """Of A∘B: the inner product ⟨A, B⟩, or tr(AB) as cvxpy expands trace(A @ B)."""
    if type(arg).__name__ == "multiply" and all(_is_matrix(_scalar(a)) for a in arg.args):
        a, b = arg.args
        if type(b).__name__ == "transpose":
            product = printer.product(printer.piece(a), printer.piece(b.args[0]))
            return printer.function("tr", _signed(product))
        return _Piece(printer.write("inner", printer.show(a), printer.show(b)))
    ones = printer.ones()
    return printer.product(printer.turned(ones), printer.piece(arg), ones)


def _norm(printer: _Printer, expr: Any, kind: str = "") -> _Piece:
    if getattr(expr, "axis", None) is not None:
        return _unknown(printer, expr)
    if not kind and expr.p == 2:
        return printer.euclidean(expr.args[0])
    kind = kind or _signed(_number(float(expr.p), _TEXT))
    return printer.norm(expr.args[0], _NOTATION["infinity"][printer.to] if kind == "∞" else kind)


def _powered(printer: _Printer, expr: Any) -> _Piece:
    x, exponent = printer.piece(expr.args[0]), expr.get_data()[0]
    if not isinstance(exponent, int | float | Fraction):
        return printer.power(x, printer.show(exponent))
    if exponent == 0.5:
        root = _signed(x) if printer.to == _LATEX else printer.closed(x, _ATOM)
        return _Piece(printer.write("sqrt", root), _POWER)
    return printer.power(x, str(Fraction(exponent).limit_denominator(1000)))


def _extreme(printer: _Printer, expr: Any) -> _Piece:
    """The largest or smallest entry: max_i x_i."""
    if expr.axis is not None:
        return _unknown(printer, expr)
    entry = "ij" if _ndim(expr.args[0]) == 2 else "i"
    head = _lower(printer.write(type(expr).__name__), entry, printer.to)
    base = printer.closed(printer.piece(expr.args[0]), _LETTER)
    return _Piece(f"{head} {_lower(base, entry, printer.to)}", _HADAMARD, word=True)


def _called(printer: _Printer, expr: Any, key: str) -> _Piece:
    return printer.function(key, *(printer.show(_scalar(arg)) for arg in expr.args))


def _diagonal(printer: _Printer, expr: Any) -> _Piece:
    return _called(printer, expr, "diag") if expr.k == 0 else _unknown(printer, expr)


def _wrapped(printer: _Printer, expr: Any, key: str) -> _Piece:
    level = _POWER if key == "exp" else _ATOM
    return _Piece(printer.write(key, printer.show(expr.args[0])), level, word=key != "abs")


def _entropy(printer: _Printer, expr: Any) -> _Piece:
    x = printer.piece(expr.args[0])
    log = printer.function("log", _signed(x))
    if _size(expr.shape) == 1:
        return printer.scaled(_Piece("1", negative=True), printer.product(x, log))
    parts = printer.within(x, _HADAMARD), log.body
    return _Piece(printer.write("hadamard", *parts), _HADAMARD, not x.negative)


def _indexed(printer: _Printer, expr: Any) -> _Piece:
    keys, lengths = expr.get_data()[0], expr.args[0].shape
    keys = keys if isinstance(keys, tuple) else (keys,)
    entries = [_entry(key, n) for key, n in zip(keys, lengths, strict=False)]
    entries += [":"] * (len(lengths) - len(keys))
    script = ",".join(entries).translate({123: r"\{", 125: r"\}"} if printer.to == _LATEX else {})
    base = printer.closed(printer.piece(expr.args[0]), _LETTER)
    return _Piece(_lower(base, script, printer.to), _ATOM)


def _entry(key: Any, n: int) -> str:
    """A Python index as mathematics counts: from 1, ends included."""
    if isinstance(key, slice):
        # cvxpy writes the end of a reversed slice as -1, which Python would count from the end.
        backwards = (key.step or 1) < 0 and key.stop == -1
        chosen = range(n)[slice(key.start, None, key.step) if backwards else key]
        if chosen == range(n) and n > 1:
            return ":"
        if len(chosen) > 1 and chosen.step == 1:
            return f"{chosen[0] + 1}:{chosen[-1] + 1}"
        return str(chosen[0] + 1) if len(chosen) == 1 else _listed(chosen)
    if not hasattr(key, "__len__"):
        return str(range(n)[int(key)] + 1)
    flags = getattr(key, "dtype", None) == "bool"
    return _listed(key.nonzero()[0] if flags else [range(n)[int(i)] for i in key])


def _listed(indices: Sequence[int]) -> str:
    numbers = [str(int(i) + 1) for i in indices]
    return f"{{{','.join(numbers if len(numbers) < 7 else [*numbers[:3], '…', numbers[-1]])}}}"


def _stacked_beside(printer: _Printer, expr: Any) -> _Piece:
    cells = [printer.show(arg) for arg in expr.args]
    return printer.stacked([cells] if _ndim(expr) == 2 else [[cell] for cell in cells])


def _stacked_below(printer: _Printer, expr: Any) -> _Piece:
    rows = []
    for arg in expr.args:
        if type(arg).__name__ == "Hstack" and _ndim(arg) == 2:
            rows.append([printer.show(cell) for cell in arg.args])
        else:
            row = printer.transposed(arg) if _ndim(arg) == 1 else printer.piece(arg)
            rows.append([_signed(row)])
    return printer.stacked(rows)


def _unknown(printer: _Printer, expr: Any) -> _Piece:
    """Any other atom under cvxpy's own name, with the numbers or the axis that belong to it."""
    args = [printer.show(arg) for arg in expr.args if hasattr(arg, "shape")]
    axis = getattr(expr, "axis", None)
    if axis is not None:
        args.append(printer.write("axis", str(axis + 1)))
    elif hasattr(expr, "shape") and hasattr(expr, "is_convex"):  # a constraint's data is its id
        data = expr.get_data() or ()
        args += [_signed(_number(n, printer.to)) for n in data if type(n) in (int, float)]
        args += [printer.show(n) for n in data if hasattr(n, "is_constant")]
    return printer.function(type(expr).__name__.removesuffix("Approx"), *args)


_RULES: dict[str, Callable[[_Printer, Any], _Piece]] = {
    "Constant": _constant,
    "Leaf": _leaf,
    "AddExpression": _sum_of,
    "NegExpression": _negated,
    "multiply": _multiplied,
    "MulExpression": _matrix_product,
    "DivExpression": _divided,
    "transpose": _transposed,
    "Promote": _promoted,
    "broadcast_to": _promoted,
    "reshape": _reshaped,
    "Wrap": _inner,
    "QuadForm": _quadratic,
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
    "abs": partial(_wrapped, key="abs"),
    "log1p": partial(_wrapped, key="log1p"),
    "logistic": partial(_wrapped, key="logistic"),
    "log_det": partial(_wrapped, key="log_det"),
    "lambda_max": partial(_wrapped, key="lambda_max"),
    "lambda_min": partial(_wrapped, key="lambda_min"),
    "exp": partial(_wrapped, key="exp"),
    "entr": _entropy,
    "index": _indexed,
    "special_index": _indexed,
    "Hstack": _stacked_beside,
    "Vstack": _stacked_below,
}
"""How to print each cvxpy class, by class name."""

_FAMILIES = ("Leaf", "Wrap")


# --------------------------------------------------------------------- constraints and programs


_Line = tuple[str, tuple[str, ...]]
"""A printed constraint and the names under which its parts were declared."""


def _relation(printer: _Printer, constraint: Any) -> str:
    kind = type(constraint).__name__
    args = constraint.args
    if kind == "Inequality":
        return _inequality(printer, *args)
    if kind == "Equality":
        left, right = reversed(args) if args[0].is_constant() else args
        shape = max(left.shape, right.shape, key=_size)
        sides = [_signed(_filling(printer, side, shape)) for side in (left, right)]
        return f" {printer.write('=')} ".join(sides)
    if kind == "PSD":
        return _semidefinite(printer, args[0])
    if kind == "SOC" and _ndim(args[1]) == 1:
        cone = [_signed(printer.norm(args[1], "2")), printer.show(args[0])]
        return f" {printer.write('<=')} ".join(cone)
    sign = {"NonNeg": ">=", "NonPos": "<=", "Zero": "="}.get(kind)
    if sign:
        return f"{printer.show(args[0])} {printer.write(sign)} 0"
    return _signed(_unknown(printer, constraint))


def _inequality(printer: _Printer, low: Any, high: Any) -> str:
    """cvxpy keeps low <= high; a constant, or else the shorter side, is shown on the right."""
    left, right = _side(printer, low, high), _side(printer, high, low)
    fixed = low.is_constant(), high.is_constant()
    flip = fixed[0] if fixed[0] != fixed[1] else _count(low) < _count(high)
    if flip:
        return f"{right} {printer.write('>=')} {left}"
    return f"{left} {printer.write('<=')} {right}"


def _side(printer: _Printer, expr: Any, other: Any) -> str:
    """A constant bound holds for every entry and stays a scalar: α ≤ C."""
    scalar = _scalar(expr)
    if scalar.is_constant():
        return printer.show(scalar)
    return _signed(_filling(printer, expr, max(expr.shape, other.shape, key=_size)))


def _count(expr: Any) -> int:
    return 1 + sum(_count(arg) for arg in expr.args)


def _semidefinite(printer: _Printer, expr: Any) -> str:
    """A - B ⪰ 0, as cvxpy keeps A >> B, with the subtracted terms on the right."""
    terms = expr.args if type(expr).__name__ == "AddExpression" else [expr]
    pieces = [printer.piece(term) for term in terms]
    larger = printer.total(piece for piece in pieces if not piece.negative)
    smaller = printer.total(p._replace(negative=False) for p in pieces if p.negative)
    if larger.body == "0":
        return f"{smaller.body} {printer.write('<<')} 0"
    return f"{larger.body} {printer.write('>>')} {smaller.body}"


def _variables(program: DeclaredProgram) -> list[Any]:
    """The optimization variables in order of appearance."""
    declared = [program.objective, *program.subject_to.values()]
    return list({v.id: v for expr in declared for v in expr.variables()}.values())


def _lines(printer: _Printer, program: DeclaredProgram) -> list[_Line]:
    """The constraints, with those built into a variable (`nonneg=True`, ...) at the end."""
    declared = list(program.subject_to.items())
    variables = _variables(program)
    declared += [("domain", bound) for variable in variables for bound in variable.domain]
    lines = _merged(printer, declared)
    for variable in variables:
        symbol = printer.show(variable)
        for kind in ("boolean", "integer"):
            if variable.attributes[kind]:
                lines.append((printer.write(kind, symbol), ("domain",)))
        if variable.attributes["symmetric"]:
            body = f"{symbol} {printer.write('=')} {printer.transposed(variable).body}"
            lines.append((body, ("domain",)))
    return lines


def _merged(printer: _Printer, declared: Sequence[tuple[str, Any]]) -> list[_Line]:
    """One line each, but two constant bounds of the same expression share one: 0 ≤ α ≤ C."""
    lines: list[_Line] = []
    waiting: dict[tuple[Any, ...], tuple[int, str, str]] = {}
    for name, constraint in declared:
        lines.append((_relation(printer, constraint), (name,)))
        bound = _bound(printer, constraint)
        if bound is None:
            continue
        (which, *bounded), value = bound
        partner = waiting.pop(("upper" if which == "lower" else "lower", *bounded), None)
        if partner is None:
            waiting.setdefault((which, *bounded), (len(lines) - 1, name, value))
            continue
        lines.pop()
        position, other_name, other_value = partner
        ends = [(other_value, other_name), (value, name)]
        (low, low_name), (high, high_name) = ends if which == "upper" else reversed(ends)
        between = f" {printer.write('<=')} "
        names = tuple(dict.fromkeys((low_name, high_name)))
        lines[position] = (between.join((low, str(bounded[0]), high)), names)
    return lines


def _bound(printer: _Printer, constraint: Any) -> tuple[tuple[Any, ...], str] | None:
    """((which end, bounded expression, its variables), value) of a constant bound."""
    if type(constraint).__name__ != "Inequality":
        return None
    low, high = constraint.args
    if low.is_constant() == high.is_constant():
        return None
    which, value, bounded = ("lower", low, high) if low.is_constant() else ("upper", high, low)
    same = tuple(variable.id for variable in bounded.variables())
    return (which, _side(printer, bounded, value), same), _side(printer, value, bounded)


def _sense(program: DeclaredProgram) -> str:
    if program.sense not in ("minimize", "maximize"):
        raise ParameterError("sense", '"minimize" or "maximize"', repr(program.sense))
    return program.sense


def latex_expression(expr: cp.Expression) -> str:
    r"""LaTeX of a cvxpy expression.

    >>> import cvxpy as cp, numpy as np
    >>> alpha, Q = cp.Variable(2, name="alpha"), cp.Constant(np.diag([1, -1]), name="Q")
    >>> print(latex_expression(cp.sum(alpha) - 0.5 * cp.quad_form(alpha, Q)))
    \mathbf{e}^\top \alpha - \tfrac{1}{2} \alpha^\top Q \alpha
    """
    return _Printer(_LATEX).show(expr)


def text_expression(expr: cp.Expression) -> str:
    """Unicode text of a cvxpy expression, for a terminal.

    >>> import cvxpy as cp, numpy as np
    >>> alpha, Q = cp.Variable(2, name="alpha"), cp.Constant(np.diag([1, -1]), name="Q")
    >>> text_expression(cp.sum(alpha) - 0.5 * cp.quad_form(alpha, Q))
    'eᵀα - ½ αᵀQα'
    """
    return _Printer(_TEXT).show(expr)


def latex(program: DeclaredProgram) -> str:
    r"""LaTeX of a declared program, as on the blackboard.

    An `array` environment without delimiters: put it between `$$` for MathJax, KaTeX or LaTeX.
    (`aligned` would do there too, but converters to MathML do not know it.)

    Parameters
    ----------
    program : DeclaredProgram
        Anything with `name`, `sense`, `objective` and `subject_to`.

    Raises
    ------
    ParameterError
        If the sense is neither "minimize" nor "maximize".

    Examples
    --------
    >>> import cvxpy as cp
    >>> from types import SimpleNamespace
    >>> x = cp.Variable(2, name="x")
    >>> bounds = {"lower": x >= 0, "upper": x <= 1}
    >>> program = SimpleNamespace(
    ...     name="Box", sense="maximize", objective=cp.sum(x), subject_to=bounds
    ... )
    >>> print(latex(program))
    \begin{array}{rl}
    \max\limits_{x} & \mathbf{e}^\top x \\
    \text{s.t.} & 0 \le x \le 1
    \end{array}
    """
    printer = _Printer(_LATEX)
    unknowns = ", ".join(printer.show(variable) for variable in _variables(program))
    rows = [rf"\{_sense(program)[:3]}\limits_{{{unknowns}}} & {printer.show(program.objective)}"]
    for i, (body, _) in enumerate(_lines(printer, program)):
        rows.append(("" if i else r"\text{s.t.}") + f" & {body}")
    return "\\begin{array}{rl}\n" + " \\\\\n".join(rows) + "\n\\end{array}"


def text(program: DeclaredProgram) -> str:
    """Unicode text of a declared program; the names of the constraints stand at the right.

    Parameters
    ----------
    program : DeclaredProgram
        Anything with `name`, `sense`, `objective` and `subject_to`.

    Raises
    ------
    ParameterError
        If the sense is neither "minimize" nor "maximize".

    Examples
    --------
    >>> import cvxpy as cp
    >>> from types import SimpleNamespace
    >>> x = cp.Variable(2, name="x")
    >>> bounds = {"lower": x >= 0, "upper": x <= 1}
    >>> print(text(SimpleNamespace(
    ...     name="Box", sense="maximize", objective=cp.sum(x), subject_to=bounds
    ... )))
    Box
      maximize    eᵀx
      subject to  0 ≤ x ≤ 1  (lower, upper)
    """
    printer = _Printer(_TEXT)
    rows = [program.name, f"  {_sense(program):<12}{printer.show(program.objective)}"]
    lines = _lines(printer, program)
    width = max((_width(body) for body, _ in lines), default=0)
    for i, (body, names) in enumerate(lines):
        padding = " " * (width - _width(body))
        head = "" if i else "subject to"
        rows.append(f"  {head:<12}{body}{padding}  ({', '.join(names)})")
    return "\n".join(rows)


def _width(body: str) -> int:
    return sum(not unicodedata.combining(c) for c in body)


def legend(program: DeclaredProgram) -> dict[str, str]:
    """What each symbol of a declared program means, in order of appearance.

    Symbols that are not in `GLOSSARY` are described by their kind and shape.

    >>> import cvxpy as cp
    >>> from types import SimpleNamespace
    >>> b, X = cp.Variable(name="b"), cp.Variable((2, 2), name="X")
    >>> legend(
    ...     SimpleNamespace(name="", sense="minimize", objective=b, subject_to={"entries": X >= 0})
    ... )
    {'b': 'offset of the classifier', 'X': 'variable of shape (2, 2)'}
    """
    printer = _Printer(_TEXT)
    printer.show(program.objective)
    _lines(printer, program)
    return printer.symbols


def mathml(latex_string: str) -> str:
    r"""MathML of a formula written by `latex` or `latex_expression`, for HTML without scripts.

    >>> mathml(r"\alpha \le C").startswith("<math")
    True
    """
    from latex2mathml.converter import convert

    return cast(str, convert(latex_string, display="block"))
