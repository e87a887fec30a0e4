r"""The notation of the papers: symbols, numbers and signs, in LaTeX and in Unicode text.

`GLOSSARY` says what each symbol means, `NOTATION` holds each sign in both notations, and a `Piece`
is a printed part of a formula that knows when it needs parentheses. Nothing here depends on cvxpy.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

GLOSSARY = {
    "n": "number of training points",
    "1/n": "one over the number of training points",
    "e": "vector of ones",
    "I": "identity matrix",
    "K": "kernel matrix, K_ij = k(x_i, x_j)",
    "K0": "given kernel matrix, indefinite",
    "Ktilde": "kernel matrix with transformed spectrum",
    "Q": "label-signed kernel matrix, Q_ij = y_i y_j K_ij",
    "G": "label-signed kernel matrix, G_ij = y_i y_j K_ij",
    "D2": "squared distances, d²_ij = K_ii - 2 K_ij + K_jj; may be negative",
    "Delta": "sensitivity matrix",
    "V": "eigenvectors of the kernel matrix, in columns",
    "Lambda": "diagonal matrix of the eigenvalues",
    "P": "projection on the vectors of sum 0, I - eeᵀ/n",
    "y": "labels in {-1, +1}",
    "alpha": "example weights",
    "alphabar": "example weights of the convex hulls; each class sums to 1",
    "u": "coefficients of the classifier",
    "w": "normal of the separating hyperplane",
    "b": "offset of the classifier",
    "xi": "slack: how far each margin falls short of 1",
    "C": "penalty of slack or loss",
    "rho_plus": "level of the plane that supports the hull of the class +1",
    "rho_minus": "level of the plane that supports the hull of the class -1",
    "y_plus": "1 for points of the class +1, else 0",
    "y_minus": "1 for points of the class -1, else 0",
}
"""Meaning of each symbol of the papers, by the name it is declared under."""

VARIABLES = {"alpha", "alphabar", "u", "w", "b", "xi", "rho_plus", "rho_minus"}
"""Symbols that are variables in the papers: a constant that has their name is something else."""

IN_DEFINITIONS = {"I", "V", "Lambda", "P"}
"""Symbols that only definitions have: data or a variable of that name are something else."""

DIMENSIONS = dict.fromkeys(("K", "K0", "Ktilde", "Q", "G", "D2", "Delta"), 2) | dict.fromkeys(
    ("e", "y", "alpha", "alphabar", "u", "w", "xi", "y_plus", "y_minus"), 1
)
"""Which of these symbols are matrices and vectors; all others are numbers."""

LATEX, TEXT = 0, 1

# Precedences of printed expressions; one inside another of higher precedence gets parentheses. Only
# a LETTER takes a subscript, and only an ATOM or a LETTER a superscript.
SUM, HADAMARD, SCALED, PRODUCT, POWER, ATOM, LETTER = range(7)

NOTATION = {
    "ones": (r"\mathbf{e}", "e"),
    "word": (r"\mathrm{%s}", "%s"),
    "remark": (r"%s\ \mathrm{%s}", "%s %s"),
    "bar": (r"\bar", "\u0304"),
    "tilde": (r"\tilde", "\u0303"),
    "hat": (r"\hat", "\u0302"),
    "T": (r"%s^\top", "%sᵀ"),
    "inverse": ("%s^{-1}", "%s⁻¹"),
    "hadamard": (r"%s \circ %s", "%s∘%s"),
    "ring": (r"\circ ", "∘"),
    "dot": (r"%s \cdot %s", "%s·%s"),
    "fraction": ("%s / %s", "%s/%s"),
    "kronecker": (r"%s \otimes %s", "%s ⊗ %s"),
    "convolution": ("%s * %s", "%s ∗ %s"),
    "norm": (r"\|%s\|", "‖%s‖"),
    "absolute": ("|%s|", "|%s|"),
    "ceil": (r"\lceil %s \rceil", "⌈%s⌉"),
    "floor": (r"\lfloor %s \rfloor", "⌊%s⌋"),
    "root": (r"\sqrt{%s}", "√%s"),
    "conjugate": (r"\overline{%s}", "conj(%s)"),
    "infinity": (r"\infty", "∞"),
    "logistic": (r"\log(1 + \exp(%s))", "log(1 + exp(%s))"),
    "And": (r"\land", "∧"),
    "Or": (r"\lor", "∨"),
    "Xor": (r"\oplus", "⊕"),
    "Not": (r"\lnot %s", "¬%s"),
    "in": (r"%s \in %s", "%s ∈ %s"),
    "R": (r"\mathbb{R}", "R"),
    "Z": (r"\mathbb{Z}", "Z"),
    "set": (r"\{%s\}", "{%s}"),
    "times": (r" \times ", "×"),
    "dots": (r"\ldots", "…"),
    "=": ("=", "="),
    "<=": (r"\le", "≤"),
    ">=": (r"\ge", "≥"),
    ">>": (r"\succeq", "⪰"),
    "<<": (r"\preceq", "⪯"),
}

_GREEK = dict(
    re.findall(
        r"(\w+) (\w)",
        "alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ"
        " nu ν xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi φ chi χ psi ψ omega ω Gamma Γ Delta Δ"
        " Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω vartheta ϑ varphi ϕ",
    )
)
_SHORT = {
    "lam": "lambda", "lambd": "lambda", "lmbda": "lambda", "Lam": "Lambda", "eps": "epsilon",
    "varepsilon": "epsilon",
}  # fmt: skip
"""Names of Greek letters as programs write them, where `lambda` is a word of Python."""

_NAMED = "|".join([*_GREEK, *_SHORT])
_LETTER = re.compile(
    # A letter with a name of its own may have a capital behind it, as in gammaA or nuSVM.
    rf"(?:({_NAMED})(bar|tilde|hat)?(\d+|plus|minus|[A-Z][A-Za-z0-9]*)?"
    r"|([^\W\d_])(bar|tilde)?(\d+|plus|minus)?)"
)
_SCRIPTS = {
    "^": str.maketrans("0123456789-()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁽⁾"),
    "_": str.maketrans("0123456789+-", "₀₁₂₃₄₅₆₇₈₉₊₋"),
}
_ESCAPED = {c: f"\\{c}" for c in "_#%&${} "} | {
    "\\": r"\backslash ", "^": r"{\wedge}", "~": r"{\sim}",
}  # fmt: skip
"""Characters that mean something in LaTeX, as they are written there."""

ONES = "\N{MATHEMATICAL BOLD DIGIT ONE}"
"""The vector of ones where e is another symbol."""

_GLYPHS = {unicodedata.normalize("NFKC", c): c for c in "½⅓⅔¼¾⅙⅚⅛⅜⅝⅞⅑"}


class Piece(NamedTuple):
    """A printed expression with its precedence, and its minus sign kept separately.

    The sign is separate so that sums read `a - b` and never `a + -b`. A `word` is separated from
    other factors by a space: αᵀQα, but αᵀ log(x).
    """

    body: str
    level: int = LETTER
    negative: bool = False
    word: bool = False

    @property
    def signed(self) -> str:
        return f"-{self.body}" if self.negative else self.body

    def within(self, level: int) -> str:
        """The body without the sign, in parentheses if its precedence is below `level`."""
        return self.body if self.level >= level else f"({self.body})"

    def closed(self, level: int) -> str:
        """The same with the sign, which also requires parentheses."""
        return f"({self.signed})" if self.negative else self.within(level)

    def flipped(self) -> Piece:
        if self.level == SUM:
            return Piece(f"({self.body})", ATOM, True)
        return self._replace(negative=not self.negative)


def total(pieces: Iterable[Piece]) -> Piece:
    terms = [piece for piece in pieces if piece.body != "0"]
    if len(terms) < 2:
        return terms[0] if terms else Piece("0")
    rest = "".join(f" {'-' if term.negative else '+'} {term.body}" for term in terms[1:])
    return Piece(terms[0].signed + rest, SUM)


def number(value: float, to: int) -> Piece:
    body, negative = abs(value), value < 0
    if not math.isfinite(body):
        return Piece((r"\infty", "∞")[to] if body > 0 else "nan", LETTER, negative)
    near = Fraction(body).limit_denominator(9)
    top, bottom = str(near.numerator), str(near.denominator)
    # 1/5 is easier to read as 0.2; 1e-12 allows for the rounding of 1/3 and no more.
    exact = abs(near - body) <= 1e-12 * body and bottom != "5"
    if exact and bottom == "1" and body < 1e6:
        return Piece(top, LETTER, negative)
    if exact and bottom != "1" and len(top) < 3:
        raised, lowered = top.translate(_SCRIPTS["^"]), bottom.translate(_SCRIPTS["_"])
        text = _GLYPHS.get(f"{top}\u2044{bottom}", f"{raised}\u2044{lowered}")
        return Piece((rf"\tfrac{{{top}}}{{{bottom}}}", text)[to], PRODUCT, negative)
    mantissa, _, exponent = f"{body:.4g}".partition("e")
    if not exponent:
        return Piece(mantissa, LETTER, negative)
    ten = script("^", "10", str(int(exponent)), to)
    return Piece(
        ten if mantissa == "1" else NOTATION["dot"][to] % (mantissa, ten), PRODUCT, negative
    )


def script(mark: str, base: str, above: str, to: int) -> str:
    """A superscript, for the mark ^, or a subscript, for _."""
    if to == LATEX:
        return f"{base}{mark}{above}" if len(above) == 1 else f"{base}{mark}{{{above}}}"
    if all(ord(c) in _SCRIPTS[mark] for c in above):
        return base + above.translate(_SCRIPTS[mark])
    return f"{base}{mark}{above}"


def _stem(stem: str, to: int) -> str:
    """A letter, by its own name or as it is, or a word."""
    stem = _SHORT.get(stem, stem)
    if stem in _GREEK:
        return (r"\varepsilon" if stem == "epsilon" else f"\\{stem}", _GREEK[stem])[to]
    for name, letter in _GREEK.items() if to == LATEX else ():
        if letter == stem:
            return _stem(name, to)
    return stem if len(stem) == 1 and stem.isalnum() else NOTATION["word"][to] % plain(stem, to)


def canonical_name(name: str) -> str:
    """The name under which the papers have a symbol: `lam` and `lambda_` are lambda.

    >>> canonical_name("lambda_"), canonical_name("eps"), canonical_name("y_")
    ('lambda', 'epsilon', 'y')
    """
    bare = name.strip("_")
    return _SHORT.get(bare, bare)


def numbered(name: str, count: int) -> str:
    """The name of another symbol that would be printed alike: mu2, or x1_2 for a second x1."""
    bare = name.rstrip("_") or name
    apart = "_" if "_" in bare or bare[-1:].isdigit() else ""
    return f"{bare}{apart}{count}"


def symbol(name: str, to: int) -> Piece:
    """A name as a symbol: alphabar -> ᾱ, gammaA -> γ_A, D2 -> D⁽²⁾; any other name is a word.

    Behind underscores there are subscripts: rho_plus -> ρ₊, x_1_2 -> x_1,2.
    """
    if name == "D2":
        return Piece(script("^", "D", "(2)", to), POWER)
    if name == ONES:
        return Piece((r"\mathbf{1}", ONES)[to])
    if re.fullmatch(r"\d+/[a-z]", name):
        return Piece(name, PRODUCT)
    head, *below = name.strip("_").split("_")
    found = _LETTER.fullmatch(head)
    if found is None:
        if head.isalpha() and below and all(map(_is_subscript, below)):
            return Piece(script("_", _stem(head, to), _subscript(below, to), to), ATOM, word=True)
        given = to == LATEX and "\\" in name and name.count("{") == name.count("}")
        return Piece(name if given else _stem(name, to), word=True)
    stem, accent, first = (found[k] or found[k + 3] for k in (1, 2, 3))
    if below and below[0] in ("bar", "tilde", "hat") and not (accent or first):
        accent = below.pop(0)
    below = [part for part in (first, *below) if part]
    body = _stem(stem, to)
    if accent and to == LATEX:
        body = NOTATION[accent][to] + (body if body[0] == "\\" else f"{{{body}}}")
    elif accent:
        body = unicodedata.normalize("NFC", body + NOTATION[accent][to])
    return Piece(script("_", body, _subscript(below, to), to), ATOM) if below else Piece(body)


def _is_subscript(part: str) -> bool:
    return part.isdigit() or part in _SHORT or part in _GREEK or len(part) == 1


def _subscript(parts: list[str], to: int) -> str:
    signs = {"plus": "+", "minus": "-"}
    return ",".join(
        signs.get(part) or (part if part.isdigit() else _stem(part, to)) for part in parts
    )


def symbol_text(name: str) -> str:
    """The symbol of a name in Unicode text, as formulas have it.

    >>> symbol_text("alphabar"), symbol_text("D2"), symbol_text("K0")
    ('ᾱ', 'D⁽²⁾', 'K₀')
    """
    return symbol(name, TEXT).body


def plain(name: str, to: int) -> str:
    """A word as it may stand in text, on one line."""
    name = " ".join(name.split())
    return name if to == TEXT else "".join(_ESCAPED.get(c, c) for c in name)
