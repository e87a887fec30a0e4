r"""Declared programs as mathematics: LaTeX, Unicode text, MathML, and a legend of the symbols.

The text is generated from the declared cvxpy expressions of a `Program` and so agrees with what is
solved. Its variables and constants have the names to print: `cp.Variable(n, name="alpha")`.
"""

from __future__ import annotations

import math
import unicodedata
from typing import Any, NamedTuple

from indefinite_opt.modeling.display.expressions import Printer, unpromoted
from indefinite_opt.modeling.display.notation import GLOSSARY, LATEX, TEXT


def _relation(printer: Printer, constraint: Any) -> str:
    """A constraint as text, with a constant, or else the shorter side, on the right.

    cvxpy stores every inequality as low <= high.
    """
    kind, args = type(constraint).__name__, constraint.args
    if kind == "PSD":
        return f"{printer.show(args[0])} {printer.write('>>')} 0"
    if kind not in ("Inequality", "Equality"):
        return printer.show(constraint)
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


class _Line(NamedTuple):
    """A printed constraint, the expression that it bounds, and value and name of each end."""

    body: str
    bounded: tuple[Any, ...] | None
    ends: dict[str, tuple[str, str]]


def _lines(printer: Printer, program: Any) -> list[tuple[str, str]]:
    """Each constraint and the name it was declared under; attributes of variables come last.

    Two constant bounds of the same expression share one line: 0 ≤ α ≤ C.
    """
    inner = program.inner.subject_to if program.inner else {}
    declared = [*program.subject_to.items(), *inner.items()]
    variables = program.variables.values()
    declared += [("domain", bound) for variable in variables for bound in variable.domain]
    lines: list[_Line] = []
    for name, constraint in declared:
        bounded, end, value = _bound(printer, constraint)
        same = (line for line in lines if bounded and line.bounded == bounded)
        partner = next((line for line in same if end not in line.ends), None)
        if partner is None:
            lines.append(_Line(_relation(printer, constraint), bounded, {end: (value, name)}))
        else:
            partner.ends[end] = (value, name)
    shown = [_joined(printer, line) for line in lines]
    # cvxpy also lists these attributes as constraints, but not boolean, integer, symmetric, ...
    listed = ("nonneg", "nonpos", "pos", "neg", "PSD", "NSD", "bounds")
    for variable in variables:
        attributes = variable.attributes.items()
        kinds = [k for k, value in attributes if value not in (None, False) and k not in listed]
        word = printer.piece(variable).body
        shown += [(f"{word} {printer.write('word', kind)}", "domain") for kind in kinds]
    return shown


def _joined(printer: Printer, line: _Line) -> tuple[str, str]:
    if len(line.ends) < 2 or line.bounded is None:
        return line.body, next(iter(line.ends.values()))[1]
    (low, lower), (high, upper) = line.ends["lower"], line.ends["upper"]
    body = f" {printer.write('<=')} ".join((low, line.bounded[0], high))
    return body, ", ".join(dict.fromkeys((lower, upper)))


def _bound(printer: Printer, constraint: Any) -> tuple[tuple[Any, ...] | None, str, str]:
    """The text and the variables of what a constant bounds, the end, and the bound."""
    low, high = (*constraint.args, None, None)[:2]
    if type(constraint).__name__ != "Inequality" or low.is_constant() == high.is_constant():
        return None, "", ""
    end, value, inside = ("lower", low, high) if low.is_constant() else ("upper", high, low)
    same = tuple(variable.id for variable in inside.variables())
    return (_side(printer, inside, value), *same), end, _side(printer, value, inside)


def latex(program: Any) -> str:
    r"""LaTeX of a declared program.

    An `array` environment without delimiters: put it between `$$` for MathJax, KaTeX or LaTeX.
    (Converters to MathML do not support `aligned`.)

    >>> import cvxpy as cp
    >>> from indefinite_opt.modeling import Model
    >>> x = cp.Variable(2, name="x")
    >>> model = Model(maximize=cp.sum(x), subject_to={"lower": x >= 0, "upper": x <= 1})
    >>> print(latex(model.program("Box", structure=None)))
    \begin{array}{rl}
    \max\limits_{x} & \mathbf{e}^\top x \\
    \text{s.t.} & 0 \le x \le 1
    \end{array}
    """
    printer = Printer(LATEX)
    inner = program.inner and program.inner.variable
    outer = [variable for variable in program.variables.values() if variable is not inner]
    unknowns = ", ".join(printer.show(variable) for variable in outer)
    head = rf"\{program.sense[:3]}\limits_{{{unknowns}}}"
    if inner is not None:
        head += rf"\ \min\limits_{{{printer.show(inner)}}}"
    rows = [f"{head} & {printer.show(program.objective)}"]
    for i, (body, _) in enumerate(_lines(printer, program)):
        rows.append(("" if i else r"\text{s.t.}") + f" & {body}")
    for i, definition in enumerate(program.where):
        rows.append(("" if i else r"\text{where}") + f" & {definition.latex}")
    return "\\begin{array}{rl}\n" + " \\\\\n".join(rows) + "\n\\end{array}"


def text(program: Any) -> str:
    """Unicode text of a declared program, with the names of the constraints on the right."""
    printer = Printer(TEXT)
    least = f"min over {printer.show(program.inner.variable)} of " if program.inner else ""
    rows = [program.name, f"  {program.sense:<12}{least}{printer.show(program.objective)}"]
    lines = _lines(printer, program)
    width = max((_width(body) for body, _ in lines), default=0)
    for i, (body, names) in enumerate(lines):
        padding = " " * (width - _width(body))
        head = "" if i else "subject to"
        rows.append(f"  {head:<12}{body}{padding}  ({names})")
    for i, definition in enumerate(program.where):
        rows.append(f"  {'' if i else 'where':<12}{definition.text}")
    return "\n".join(rows)


def _width(body: str) -> int:
    return sum(not unicodedata.combining(c) for c in body)


def legend(program: Any) -> dict[str, str]:
    """What each symbol of a declared program means, in order of appearance.

    Symbols that are not in `GLOSSARY` are described by their kind and shape.

    >>> import cvxpy as cp
    >>> from indefinite_opt.modeling import Model
    >>> b, X = cp.Variable(name="b"), cp.Variable((2, 2), name="X")
    >>> legend(Model(minimize=b, subject_to={"entries": X >= 0}).program("", structure=None))
    {'b': 'offset of the classifier', 'X': 'variable of shape (2, 2)'}
    """
    printer = Printer(TEXT)
    printer.show(program.objective)
    _lines(printer, program)
    for definition in program.where:
        for name in definition.symbols:
            printer.symbols.setdefault(name, GLOSSARY[name])
    own, symbols = program.meanings, printer.symbols
    return {name: own.get(name, meaning) for name, meaning in symbols.items()}


def mathml(latex_string: str, display: str = "block") -> str:
    r"""MathML of a formula written by `latex` or `latex_expression`, for HTML without scripts.

    `display` is "block" or "inline".

    >>> mathml(r"\alpha \le C").startswith("<math")
    True
    """
    from latex2mathml.converter import convert

    return str(convert(latex_string, display=display))
