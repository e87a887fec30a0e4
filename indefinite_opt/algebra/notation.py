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
    "M": "inner product of the pseudo-Euclidean space, diag(1, ..., 1, -1, ..., -1)",
    "Phi": "training points in the pseudo-Euclidean space, one per row",
    "b": "offset of the classifier",
    "xi": "slack: how far each margin falls short of 1",
    "delta": "largest sensitivity",
    "C": "penalty of slack or loss",
    "r": "largest squared distance of the proxy kernel from the given one",
    "rho": "penalty of moving the kernel matrix away from the given one",
    "rho_plus": "level of the plane that supports the hull of the class +1",
    "rho_minus": "level of the plane that supports the hull of the class -1",
    "y_plus": "1 for points of the class +1, else 0",
    "y_minus": "1 for points of the class -1, else 0",
}
"""Meaning of each symbol of the papers, by the name it is declared under."""

UNKNOWNS = {
    "K": "proxy kernel matrix, positive semidefinite",
    "lambda": "multipliers of α ≥ 0",
    "mu": "multipliers of α ≤ C",
    "nu": "multiplier of yᵀα = 0",
}
"""Meaning of symbols that are variables of a program, where it differs from `GLOSSARY`."""

VARIABLES = {"alpha", "alphabar", "u", "w", "b", "xi", "delta", "rho_plus", "rho_minus"}
"""Symbols that are variables in the papers: a constant that has their name is something else."""

LATEX, TEXT = 0, 1

# Precedences of printed expressions; one inside another of higher precedence gets parentheses. Only
# a LETTER takes a subscript, and only an ATOM or a LETTER a superscript.
SUM, HADAMARD, SCALED, PRODUCT, POWER, ATOM, LETTER = range(7)

NOTATION = {
    "ones": (r"\mathbf{e}", "e"),
    "word": (r"\mathrm{%s}", "%s"),
    "bar": (r"\bar", "\u0304"),
    "tilde": (r"\tilde", "\u0303"),
    "T": (r"%s^\top", "%sᵀ"),
    "inverse": ("%s^{-1}", "%s⁻¹"),
    "hadamard": (r"%s \circ %s", "%s∘%s"),
    "dot": (r"%s \cdot %s", "%s·%s"),
    "fraction": ("%s / %s", "%s/%s"),
    "norm": (r"\|%s\|", "‖%s‖"),
    "absolute": ("|%s|", "|%s|"),
    "infinity": (r"\infty", "∞"),
    "logistic": (r"\log(1 + \exp(%s))", "log(1 + exp(%s))"),
    "=": ("=", "="),
    "<=": (r"\le", "≤"),
    ">=": (r"\ge", "≥"),
    ">>": (r"\succeq", "⪰"),
}

_GREEK = dict(
    re.findall(
        r"(\w+) (\w)",
        "alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ"
        " nu ν xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi φ chi χ psi ψ omega ω Gamma Γ Delta Δ"
        " Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω",
    )
)
_SCRIPTS = {
    "^": str.maketrans("0123456789-()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁽⁾"),
    "_": str.maketrans("0123456789+-", "₀₁₂₃₄₅₆₇₈₉₊₋"),
}
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
    if stem in _GREEK:
        return (r"\varepsilon" if stem == "epsilon" else f"\\{stem}", _GREEK[stem])[to]
    return stem if len(stem) == 1 else NOTATION["word"][to] % plain(stem, to)


def symbol(name: str, to: int) -> Piece:
    """A name as a symbol: alphabar -> ᾱ, K0 -> K₀, D2 -> D⁽²⁾; any other name is a word."""
    if name == "D2":
        return Piece(script("^", "D", "(2)", to), POWER)
    letter = "|".join(sorted(_GREEK, key=len, reverse=True)) + "|[^\\W\\d_]"
    found = re.fullmatch(rf"({letter})(bar|tilde)?(?:_?(\d+)|_(\w+))?", name)
    if re.fullmatch(r"\d+/[a-z]", name):
        return Piece(name, PRODUCT)
    if found is None:
        return Piece(name if "\\" in name and to == LATEX else _stem(name, to), word=True)
    stem, accent, digits, word = found.groups()
    word = {"plus": "+", "minus": "-"}.get(word, word)
    body = _stem(stem, to)
    if accent and to == LATEX:
        body = NOTATION[accent][to] + (body if body[0] == "\\" else f"{{{body}}}")
    elif accent:
        body = unicodedata.normalize("NFC", body + NOTATION[accent][to])
    if not (digits or word):
        return Piece(body)
    below = digits or (word if word in "+-" else _stem(word, to))
    return Piece(script("_", body, below, to), ATOM)


def symbol_text(name: str) -> str:
    """The symbol of a name in Unicode text, as formulas have it.

    >>> symbol_text("alphabar"), symbol_text("D2"), symbol_text("K0")
    ('ᾱ', 'D⁽²⁾', 'K₀')
    """
    return symbol(name, TEXT).body


def plain(name: str, to: int) -> str:
    """A word as it may stand in text."""
    return name.replace("_", r"\_") if to == LATEX else name
