r"""The notation of the papers: symbols, numbers and signs, in LaTeX and in Unicode text.

`GLOSSARY` says what each symbol means, `NOTATION` holds each sign in both notations, and a `Piece`
is a printed part of a formula that knows when it needs parentheses. Nothing here depends on cvxpy.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

__all__ = [
    "ATOM",
    "GLOSSARY",
    "HADAMARD",
    "LATEX",
    "LETTER",
    "NOTATION",
    "POWER",
    "PRODUCT",
    "SCALED",
    "SUM",
    "TEXT",
    "UNKNOWNS",
    "Piece",
    "index_text",
    "number",
    "subscript",
    "superscript",
    "symbol",
    "total",
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
    "w": "normal of the separating hyperplane",
    "M": "inner product of the pseudo-Euclidean space, diag(1, ..., 1, -1, ..., -1)",
    "Phi": "training points in the pseudo-Euclidean space, one a row",
    "b": "offset of the classifier",
    "xi": "slack: how far each margin falls short of 1",
    "delta": "largest sensitivity",
    "C": "price of slack or loss; in a dual the upper bound of each weight",
    "mu": "upper bound of each convex-hull weight",
    "beta": "upper bound of each weight",
    "betabar": "upper bound of each weight",
    "r": "largest squared distance of the proxy kernel from the given one",
    "rho": "price of moving the kernel matrix away from the given one",
}
"""One line on each symbol of the papers, by the name it is declared under."""

UNKNOWNS = {
    "K": "proxy kernel matrix, positive semidefinite",
    "lambda": "multipliers of α ≥ 0",
    "mu": "multipliers of α ≤ C",
    "nu": "multiplier of yᵀα = 0",
}
"""What a symbol means where it is a variable of the program, if that is not in `GLOSSARY`."""

LATEX, TEXT = 0, 1

# How tightly an expression holds together; a looser one inside a tighter one gets parentheses.
# Only a LETTER takes a subscript, and only an ATOM or a LETTER a superscript.
SUM, HADAMARD, SCALED, PRODUCT, POWER, ATOM, LETTER = range(7)

NOTATION = {
    "ones": (r"\mathbf{e}", "e"),
    "identity": ("I", "I"),
    "array": (r"\mathbf{c}", "c"),
    "axis": (r"\text{axis }%s", "axis %s"),
    "word": (r"\mathrm{%s}", "%s"),
    "bar": (r"\bar", "\u0304"),
    "tilde": (r"\tilde", "\u0303"),
    "hat": (r"\hat", "\u0302"),
    "T": (r"%s^\top", "%sᵀ"),
    "inverse": ("%s^{-1}", "%s⁻¹"),
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


class Piece(NamedTuple):
    """A printed expression, how tightly it holds together, and a minus sign kept apart.

    The sign stays apart until the end so that sums read `a - b` and never `a + -b`. A `word` keeps
    its distance from other factors: αᵀQα, but αᵀ log(x).
    """

    body: str
    level: int = LETTER
    negative: bool = False
    word: bool = False

    @property
    def signed(self) -> str:
        return f"-{self.body}" if self.negative else self.body

    def within(self, level: int) -> str:
        """The body, in parentheses if it is looser than `level`; no sign."""
        return self.body if self.level >= level else _bracketed(self.body)

    def closed(self, level: int) -> str:
        """The same with the sign, which also calls for parentheses."""
        return _bracketed(self.signed) if self.negative else self.within(level)

    def flipped(self) -> Piece:
        if self.level == SUM:
            return Piece(_bracketed(self.body), ATOM, True)
        return self._replace(negative=not self.negative)


def _bracketed(body: str) -> str:
    tall = r"\frac" in body or r"\begin" in body
    return rf"\left( {body} \right)" if tall else f"({body})"


def total(pieces: Iterable[Piece]) -> Piece:
    terms = [piece for piece in pieces if piece.body != "0"]
    if len(terms) < 2:
        return terms[0] if terms else Piece("0")
    rest = "".join(f" {'-' if term.negative else '+'} {term.body}" for term in terms[1:])
    return Piece(terms[0].signed + rest, SUM)


def number(value: float, to: int) -> Piece:
    body, negative = abs(value), value < 0
    if not math.isfinite(body):
        return Piece(NOTATION["infinity"][to] if body > 0 else "nan", LETTER, negative)
    near = Fraction(body).limit_denominator(9)
    top, bottom = near.numerator, near.denominator
    # 1/5 is better read as 0.2; 1e-12 forgives the rounding of 1/3 and nothing else.
    exact = abs(near - body) <= 1e-12 * body and bottom != 5
    if exact and bottom == 1 and body < 1e6:
        return Piece(str(top), LETTER, negative)
    if exact and bottom > 1 and top < 100:
        return Piece(_fraction(str(top), str(bottom), to), PRODUCT, negative)
    mantissa, _, exponent = f"{body:.4g}".partition("e")
    if not exponent:
        return Piece(mantissa, LETTER, negative)
    ten = superscript("10", str(int(exponent)), to)
    body_text = ten if mantissa == "1" else NOTATION["dot"][to] % (mantissa, ten)
    return Piece(body_text, PRODUCT, negative)


def _fraction(top: str, bottom: str, to: int) -> str:
    if to == LATEX:
        return rf"\tfrac{{{top}}}{{{bottom}}}"
    raised, lowered = top.translate(_RAISED), bottom.translate(_LOWERED)
    return _GLYPHS.get(f"{top}\u2044{bottom}", f"{raised}\u2044{lowered}")


def _script(mark: str, table: dict[int, int], base: str, script: str, to: int) -> str:
    if to == LATEX:
        return f"{base}{mark}{script}" if len(script) == 1 else f"{base}{mark}{{{script}}}"
    if all(ord(c) in table for c in script):
        return base + script.translate(table)
    simple = len(script) == 1 or script.isalpha() or re.fullmatch(r"\{[^{}]*\}", script)
    return f"{base}{mark}{script}" if simple else f"{base}{mark}({script})"


superscript = partial(_script, "^", _RAISED)
subscript = partial(_script, "_", _LOWERED)


def _stem(stem: str, to: int) -> str:
    if stem in _GREEK:
        command = r"\varepsilon" if stem == "epsilon" else f"\\{stem}"
        return (command, _GREEK[stem])[to]
    if len(stem) == 1:
        return stem
    return NOTATION["word"][to] % (stem.replace("_", r"\_") if to == LATEX else stem)


def symbol(name: str, to: int) -> Piece:
    """A name as a symbol: alphabar -> ᾱ, K0 -> K₀, D2 -> D⁽²⁾; a word stays a word."""
    if "\\" in name:
        level = POWER if "^" in name else ATOM if "_" in name else LETTER
        return Piece(name if to == LATEX else _without_commands(name), level)
    if name == "D2":
        return Piece(superscript("D", "(2)", to), POWER)
    letter = "|".join(sorted(_GREEK, key=len, reverse=True)) + "|[^\\W\\d_]"
    found = re.fullmatch(rf"({letter})(bar|tilde|hat)?(?:_?(\d+)|_(\w+))?", name)
    if found is None:
        return Piece(_stem(name, to), word=True)
    stem, accent, digits, word = found.groups()
    body = _stem(stem, to)
    if accent and to == LATEX:
        body = NOTATION[accent][to] + (body if body[0] == "\\" else f"{{{body}}}")
    elif accent:
        body = unicodedata.normalize("NFC", body + NOTATION[accent][to])
    if not (digits or word):
        return Piece(body)
    return Piece(subscript(body, digits or _stem(word, to), to), ATOM)


def _without_commands(name: str) -> str:
    """A name written in LaTeX, for the terminal: accents and Greek kept, other commands dropped."""
    for accent in ("bar", "tilde", "hat"):
        name = re.sub(rf"\\{accent}\s*(\{{.*?\}}|\\\w+|\w)", rf"\1{NOTATION[accent][TEXT]}", name)
    name = re.sub(r"\\([A-Za-z]+)\s*", lambda command: _GREEK.get(command[1], ""), name)
    return unicodedata.normalize("NFC", re.sub(r"[{}\\]", "", name))


def index_text(key: Any, n: int) -> str:
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
