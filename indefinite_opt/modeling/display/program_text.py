r"""Declared programs as mathematics: LaTeX, Unicode text, MathML, and a legend of the symbols.

What is shown is generated from the declared cvxpy expressions, never typed a second time, so it
cannot drift from what is solved. A *program* is any object with `name`, `sense` ("minimize" or
"maximize"), `objective` (a scalar cvxpy expression) and `subject_to` (name -> cvxpy constraint);
its variables and constants carry the names to print: `cp.Variable(n, name="alpha")`.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

from indefinite_opt.errors import ParameterError
from indefinite_opt.modeling.display.expressions import (
    Printer,
    latex_expression,
    text_expression,
    unknown,
    unpromoted,
)
from indefinite_opt.modeling.display.notation import GLOSSARY, LATEX, TEXT, total

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


def _inner(program: DeclaredProgram) -> tuple[Any, dict[str, Any]]:
    """The variable of the inner problem, or None, and its constraints; see `program.Inner`."""
    inner = getattr(program, "inner", None)
    return (None, {}) if inner is None else (inner.variable, inner.subject_to)


_Line = tuple[str, tuple[str, ...]]
"""A printed constraint and the names under which its parts were declared."""


def _relation(printer: Printer, constraint: Any) -> str:
    kind = type(constraint).__name__
    args = constraint.args
    if kind == "Inequality":
        return _inequality(printer, *args)
    if kind == "Equality":
        left, right = reversed(args) if args[0].is_constant() else args
        shape = max(left.shape, right.shape, key=math.prod)
        sides = [printer.filling(side, shape).signed for side in (left, right)]
        return f" {printer.write('=')} ".join(sides)
    if kind == "PSD":
        return _semidefinite(printer, args[0])
    if kind == "SOC" and args[1].ndim == 1:
        cone = [printer.norm(args[1], "2").signed, printer.show(args[0])]
        return f" {printer.write('<=')} ".join(cone)
    sign = {"NonNeg": ">=", "NonPos": "<=", "Zero": "="}.get(kind)
    if sign:
        return f"{printer.show(args[0])} {printer.write(sign)} 0"
    return unknown(printer, constraint).signed


def _inequality(printer: Printer, low: Any, high: Any) -> str:
    """cvxpy keeps low <= high; a constant, or else the shorter side, is shown on the right."""
    left, right = _side(printer, low, high), _side(printer, high, low)
    fixed = low.is_constant(), high.is_constant()
    flip = fixed[0] if fixed[0] != fixed[1] else _count(low) < _count(high)
    if flip:
        return f"{right} {printer.write('>=')} {left}"
    return f"{left} {printer.write('<=')} {right}"


def _side(printer: Printer, expr: Any, other: Any) -> str:
    """A constant bound holds for every entry and stays a scalar: α ≤ C."""
    scalar = unpromoted(expr)
    if scalar.is_constant():
        return printer.show(scalar)
    return printer.filling(expr, max(expr.shape, other.shape, key=math.prod)).signed


def _count(expr: Any) -> int:
    return 1 + sum(_count(arg) for arg in expr.args)


def _semidefinite(printer: Printer, expr: Any) -> str:
    """A - B ⪰ 0, as cvxpy keeps A >> B, with the subtracted terms on the right."""
    terms = expr.args if type(expr).__name__ == "AddExpression" else [expr]
    pieces = [printer.piece(term) for term in terms]
    larger = total(piece for piece in pieces if not piece.negative)
    smaller = total(p._replace(negative=False) for p in pieces if p.negative)
    if larger.body == "0":
        return f"{smaller.body} {printer.write('<<')} 0"
    return f"{larger.body} {printer.write('>>')} {smaller.body}"


def _variables(program: DeclaredProgram) -> list[Any]:
    """The optimization variables in order of appearance."""
    declared = [program.objective, *program.subject_to.values()]
    return list({v.id: v for expr in declared for v in expr.variables()}.values())


def _lines(printer: Printer, program: DeclaredProgram) -> list[_Line]:
    """The constraints, with those built into a variable (`nonneg=True`, ...) at the end."""
    declared = [*program.subject_to.items(), *_inner(program)[1].items()]
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


def _merged(printer: Printer, declared: Sequence[tuple[str, Any]]) -> list[_Line]:
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


def _bound(printer: Printer, constraint: Any) -> tuple[tuple[Any, ...], str] | None:
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
    printer = Printer(LATEX)
    inner, _ = _inner(program)
    outer = [variable for variable in _variables(program) if variable is not inner]
    unknowns = ", ".join(printer.show(variable) for variable in outer)
    head = rf"\{_sense(program)[:3]}\limits_{{{unknowns}}}"
    if inner is not None:
        head += rf"\ \min\limits_{{{printer.show(inner)}}}"
    rows = [f"{head} & {printer.show(program.objective)}"]
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
    printer = Printer(TEXT)
    inner, _ = _inner(program)
    least = "" if inner is None else f"min over {printer.show(inner)} of "
    rows = [program.name, f"  {_sense(program):<12}{least}{printer.show(program.objective)}"]
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
    printer = Printer(TEXT)
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
