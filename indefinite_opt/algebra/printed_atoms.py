"""How atoms and cones that only cvxpy has are printed, by their kinds.

Each rule gets the `Printer` and the expression. Atoms of each entry stand as formulas, such as
x∘log(x/y), others under the name that papers or NumPy give them. What is taken of each row or
column of a matrix has that word in its name. An atom that has no rule is printed under its title.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from indefinite_opt.algebra.notation import (
    ATOM,
    HADAMARD,
    LATEX,
    POWER,
    SCALED,
    SUM,
    Piece,
    number,
    script,
    total,
)

Rule = Callable[[Any, Any], Piece]


def _function(name: str) -> Rule:
    """An atom as a function of its arguments, along an axis or not."""

    def printed(printer: Any, expr: Any) -> Piece:
        found = printer.function(name, *expr.args, below=printer.along(expr))
        return printer.kept(expr, found)

    return printed


def _first(printer: Any, expr: Any) -> Piece:
    """An atom that only says what its argument is."""
    return printer.piece(expr.args[0])


def _fences(key: str) -> Rule:
    return lambda printer, expr: Piece(printer.write(key, printer.show(expr.args[0])), ATOM)


def _joined(key: str) -> Rule:
    """A product of another kind, such as that of Kronecker, between two factors."""

    def printed(printer: Any, expr: Any) -> Piece:
        left, right = map(printer.piece, expr.args)
        body = printer.write(key, left.within(POWER), right.within(POWER))
        return Piece(body, HADAMARD, left.negative != right.negative)

    return printed


def _logic(printer: Any, expr: Any) -> Piece:
    parts = [printer.piece(arg).closed(ATOM) for arg in expr.args]
    return Piece(f" {printer.write(expr.title)} ".join(parts), SUM)


def _not(printer: Any, expr: Any) -> Piece:
    return Piece(printer.write("Not", printer.piece(expr.args[0]).closed(ATOM)), ATOM)


def _power(printer: Any, expr: Any) -> Piece:
    """√x, x³ and x^p; X^∘3 of each entry of a matrix."""
    base, (exponent,) = printer.piece(expr.args[0]), expr.details
    value = None if exponent.kind == "Parameter" else float(exponent.value)
    if value == 0.5:
        inside = base.signed if printer.to == LATEX else base.closed(ATOM)
        return Piece(printer.write("root", inside), POWER)
    above = printer.piece(exponent)
    told = above.signed
    if value is not None:
        told = _exponent(value, printer.to)
    elif not above.body.isalnum():
        told = told if printer.to == LATEX else f"({told})"
    ring = printer.write("ring") if expr.ndim > 1 and expr.size > 1 else ""
    return Piece(script("^", base.closed(ATOM), ring + told, printer.to), POWER)


def _exponent(value: float, to: int) -> str:
    """An exponent as a whole number, a fraction or a decimal: -1, (1/3), 2.7."""
    for bottom in range(1, 10):
        top = round(value * bottom) if math.isfinite(value) else 0
        if math.isclose(value * bottom, top, rel_tol=1e-12):
            told = f"{top}/{bottom}"
            return str(top) if bottom == 1 else told if to == LATEX else f"({told})"
    return number(value, to).signed


def _pnorm(printer: Any, expr: Any) -> Piece:
    (p,) = expr.details
    norm = printer.norm(expr.args[0], _exponent(float(p.value), printer.to), printer.along(expr))
    return printer.kept(expr, norm)


def _nuclear(printer: Any, expr: Any) -> Piece:
    norm = printer.write("norm", printer.show(expr.args[0]))
    return Piece(script("_", norm, "*", printer.to), ATOM)


def _entrywise(printer: Any, left: Any, right: Piece) -> Piece:
    """An expression times another, entry by entry: x∘log(x), or t log(t) of numbers."""
    piece = printer.piece(left)
    if left.size == 1:
        return printer.product(piece, right)
    body = printer.write("hadamard", piece.within(HADAMARD), right.within(HADAMARD))
    return Piece(body, HADAMARD, piece.negative)


def _ratio(printer: Any, top: Any, bottom: Any) -> str:
    above, below = printer.piece(top), printer.piece(bottom)
    sign = "-" if above.negative != below.negative else ""
    return sign + str(printer.write("fraction", above.within(SCALED), below.within(POWER)))


def _relative_entropy(printer: Any, x: Any, y: Any) -> Piece:
    larger = x if x.size >= y.size else y
    logarithm = printer.function("log", _ratio(printer, x, y))
    if x.size == 1 and larger.size > 1:
        return printer.scaled(printer.piece(x), logarithm)
    return _entrywise(printer, x, logarithm)


def _kl_div(printer: Any, expr: Any) -> Piece:
    x, y = expr.args
    rest = [printer.filling(x, expr.shape).flipped(), printer.filling(y, expr.shape)]
    return total([_relative_entropy(printer, x, y), *rest])


def _log1p(printer: Any, expr: Any) -> Piece:
    x = expr.args[0]
    inside = total([printer.spread(Piece("1"), x.shape), printer.piece(x)]).signed
    return printer.function("log", inside)


def _one_minus(printer: Any, expr: Any) -> Piece:
    x = expr.args[0]
    return total([printer.spread(Piece("1"), x.shape), printer.piece(x).flipped()])


def _inverse(printer: Any, piece: Piece) -> Piece:
    return Piece(printer.write("inverse", piece.closed(ATOM)), POWER)


def _eye_minus_inverse(printer: Any, expr: Any) -> Piece:
    return _inverse(printer, total([printer.identity(), printer.piece(expr.args[0]).flipped()]))


def _trace_of_inverse(printer: Any, expr: Any) -> Piece:
    return printer.function("tr", _inverse(printer, printer.piece(expr.args[0])).body)


def _matrix_fraction(printer: Any, expr: Any) -> Piece:
    """tr(XᵀP⁻¹X), as X is a matrix."""
    X, P = expr.args
    inverse = _inverse(printer, printer.piece(P))
    product = printer.product(printer.transposed(X), inverse, printer.piece(X))
    return printer.function("tr", product.signed)


def _log_det(printer: Any, expr: Any) -> Piece:
    return printer.function("log", printer.function("det", *expr.args).body)


def _log_sum_exp(printer: Any, expr: Any) -> Piece:
    x = expr.args[0]
    if expr.axis is not None or x.ndim != 1:
        return _function("logsumexp")(printer, expr)
    product = printer.product(printer.turned(printer.ones()), printer.function("exp", x))
    return printer.function("log", product.signed)


def _matrix_log(printer: Any, X: Any) -> Piece:
    return printer.function("logm", X)


def _von_neumann(printer: Any, expr: Any) -> Piece:
    X = expr.args[0]
    product = printer.product(printer.piece(X), _matrix_log(printer, X))
    found = printer.function("tr", product.signed)
    return found.flipped()


def _quantum_relative(printer: Any, expr: Any) -> Piece:
    X, Y = expr.args
    logs = total([_matrix_log(printer, X), _matrix_log(printer, Y).flipped()])
    return printer.function("tr", printer.product(printer.piece(X), logs).signed)


def _lambda_sum(printer: Any, expr: Any) -> Piece:
    """The sum of the k largest eigenvalues."""
    values = printer.function("lambda", expr.args[0]).body
    return printer.function("sum_largest", values, *expr.details)


def _geometric_mean(printer: Any, expr: Any) -> Piece:
    """The geometric mean, with its weights where they differ."""
    weights = np.array([float(weight.value) for weight in expr.details])
    told = [] if np.ptp(weights) == 0 else [printer.array(weights).body]
    mean = printer.function("geomean", *expr.args, *told, below=printer.along(expr))
    return printer.kept(expr, mean)


def _monomials(printer: Any, expr: Any) -> Piece:
    """The products of powers that cvxpy's gmatmul(A, x) has: exp(A log(x))."""
    logs = printer.function("log", *expr.args)
    product = printer.product(printer.piece(expr.details[0]), logs)
    return printer.function("exp", product.signed)


def _diagonal(printer: Any, expr: Any) -> Piece:
    (k,) = expr.details
    below = number(float(k.value), printer.to).signed if float(k.value) else ""
    return printer.function("diag", expr.args[0], below=below)


def _distance_ratio(printer: Any, expr: Any) -> Piece:
    x, *centers = expr.args
    norms = []
    for center in centers:
        difference = total([printer.piece(x), printer.filling(center, x.shape).flipped()])
        norms.append(script("_", printer.write("norm", difference.signed), "2", printer.to))
    return Piece(printer.write("fraction", *norms), HADAMARD)


def _perspective(printer: Any, expr: Any) -> Piece:
    """The perspective s f(x/s), by the formula f(x) and the scale s."""
    return printer.function("perspective", expr.details[0], expr.args[0])


def _reshaped(printer: Any, expr: Any) -> Piece:
    """vec(X) has the columns of X below each other, and mat of a size is its inverse.

    In C's order, vec has the rows. Numbers and vectors stay as they are.
    """
    x, by_rows = expr.args[0], expr.details == ["C"]
    sizes = [size for size in expr.shape if size > 1]
    if len(sizes) < 2 and len([size for size in x.shape if size > 1]) < 2:
        piece = printer.piece(x)
        was_row, is_row = (len(s) == 2 and s[1] > 1 for s in (x.shape, expr.shape))
        if was_row != is_row:
            piece = printer.transposed(x) if was_row else printer.turned(piece)
        return piece
    if x.ndim > 2 or expr.ndim > 2:
        size = _size(printer, expr.shape)
        return printer.function("reshape", x, below=size)
    entries = (
        printer.show(x)
        if len([size for size in x.shape if size > 1]) < 2
        else printer.function("vec", printer.transposed(x).signed if by_rows else x).body
    )
    if len(sizes) < 2:
        if len([size for size in x.shape if size > 1]) < 2:
            return Piece(entries)
        vec = Piece(entries, ATOM, word=True)
        is_row = expr.ndim == 2 and expr.shape[1] > 1
        return printer.turned(vec) if is_row else vec
    shape = expr.shape[::-1] if by_rows else expr.shape
    matrix = printer.function("mat", entries, below=_size(printer, shape))
    return printer.turned(matrix) if by_rows else matrix


def _size(printer: Any, shape: tuple[int, ...]) -> str:
    return str(printer.write("times")).join(map(str, shape))


def _permuted(printer: Any, expr: Any) -> Piece:
    """An array of more dimensions with its axes in another order, counted from 0."""
    order = "".join(expr.details)
    return printer.function("transpose", expr.args[0], below=order)


def _broadcast(printer: Any, expr: Any) -> Piece:
    """A vector as each row or each column of a matrix: e xᵀ, x eᵀ."""
    x, shape = expr.args[0], expr.shape
    if len(shape) == 2 and x.ndim == 1 and shape[1] == x.size:
        found = printer.product(printer.ones(), printer.transposed(x))
    elif len(shape) == 2 and x.shape == (1, shape[1]):
        found = printer.product(printer.ones(), printer.piece(x))
    elif len(shape) == 2 and x.shape == (shape[0], 1):
        found = printer.product(printer.piece(x), printer.turned(printer.ones()))
    else:
        found = printer.function("broadcast", x, below=_size(printer, shape))
    return found


def _stacked(printer: Any, expr: Any) -> Piece:
    """Blocks beside each other, [A, B], or below each other, [A; B], where vectors are columns."""
    below = expr.kind == "cvxpy.Vstack"
    if expr.kind == "cvxpy.Concatenate":
        below = expr.details[0] == "0"
    elif expr.kind == "cvxpy.Hstack" and expr.ndim == 1:
        below = True
    turned = expr.kind == "cvxpy.Vstack" and expr.shape[1] > 1
    parts = []
    for arg in expr.args:
        if turned and arg.ndim == 1:
            parts.append(printer.transposed(arg).signed)
        else:
            parts.append(printer.show(arg))
            if below and arg.kind == "cvxpy.Hstack" and arg.ndim == 2:
                parts[-1] = parts[-1][1:-1]  # blocks in rows: [A, B; C, D]
    between = ";" if below else ","
    space = r"\ " if printer.to == LATEX and below else " "
    return Piece(f"[{f'{between}{space}'.join(parts)}]", ATOM)


def _x_exp(printer: Any, expr: Any) -> Piece:
    return _entrywise(printer, expr.args[0], printer.function("exp", *expr.args))


def _entropy(printer: Any, expr: Any) -> Piece:
    x = expr.args[0]
    return _entrywise(printer, x, printer.function("log", x)).flipped()


def _quadratic_form(printer: Any, expr: Any) -> Piece:
    x, P = expr.args[:2]
    return printer.product(printer.transposed(x), printer.piece(P), printer.piece(x))


_FUNCTIONS = {
    "asinh": "arsinh", "atanh": "artanh", "Prod": "prod", "real": "Re", "imag": "Im",
    "minimum": "min", "Trace": "tr", "upper_tri": "upper", "condition_number": "cond",
    "sigma_max": "sigma_max", "pf_eigenvalue": "lambda_pf", "gen_lambda_max": "lambda_max",
    "SuppFuncAtom": "support",
} | {
    name: name
    for name in (
        "exp", "log", "sin", "cos", "tan", "sinh", "tanh", "sign", "normcdf", "cumsum", "cummax",
        "cumprod", "min", "length", "lambda_max", "dotsort",
    )
}  # fmt: skip
"""Atoms that are printed as functions, with their printed names."""

_WRAPS = (
    "Wrap", "psd_wrap", "nsd_wrap", "nonneg_wrap", "nonpos_wrap", "symmetric_wrap",
    "hermitian_wrap", "skew_symmetric_wrap",
)  # fmt: skip

RULES: dict[str, Rule] = {
    f"cvxpy.{name}": rule
    for name, rule in {
        **{name: _function(printed) for name, printed in _FUNCTIONS.items()},
        **dict.fromkeys(_WRAPS, _first),
        **dict.fromkeys(("And", "Or", "Xor"), _logic),
        **dict.fromkeys(("Vstack", "Hstack", "Concatenate"), _stacked),
        **dict.fromkeys(("diag_mat", "diag_vec"), _diagonal),
        **dict.fromkeys(("conv", "convolve"), _joined("convolution")),
        "Not": _not,
        "kron": _joined("kronecker"),
        "ceil": _fences("ceil"),
        "floor": _fences("floor"),
        "conj": _fences("conjugate"),
        "Power": _power,
        "power": _power,
        "Pnorm": _pnorm,
        "normNuc": _nuclear,
        "GeoMean": _geometric_mean,
        "MatrixFrac": _matrix_fraction,
        "SymbolicQuadForm": _quadratic_form,
        "broadcast_to": _broadcast,
        "reshape": _reshaped,
        "transpose": _permuted,
        "dist_ratio": _distance_ratio,
        "entr": _entropy,
        "eye_minus_inv": _eye_minus_inverse,
        "gmatmul": _monomials,
        "kl_div": _kl_div,
        "rel_entr": lambda printer, expr: _relative_entropy(printer, *expr.args),
        "lambda_sum_largest": _lambda_sum,
        "log1p": _log1p,
        "log_det": _log_det,
        "log_sum_exp": _log_sum_exp,
        "one_minus_pos": _one_minus,
        "perspective": _perspective,
        "quantum_rel_entr": _quantum_relative,
        "von_neumann_entr": _von_neumann,
        "tr_inv": _trace_of_inverse,
        "xexp": _x_exp,
    }.items()
}
"""Printing rules by the kinds of atoms that this package does not have."""


def _below(printer: Any, smaller: str, sign: str, larger: str) -> str:
    return f"{smaller} {printer.write(sign)} {larger}"


def _sign(sign: str) -> Callable[[Any, Any], str]:
    return lambda printer, cone: _below(printer, printer.show(cone.args[0]), sign, "0")


def _second_order(printer: Any, cone: Any) -> str:
    end, x = cone.args
    word = ("columns", "rows")[int(cone.details[0])] if x.ndim == 2 and min(x.shape) > 1 else ""
    norm = printer.norm(x, "2", word)
    return _below(printer, norm.signed, "<=", printer.show(end))


def _exponential(printer: Any, cone: Any) -> str:
    x, y, z = cone.args
    product = _entrywise(printer, y, printer.function("exp", _ratio(printer, x, y)))
    return _below(printer, product.signed, "<=", printer.show(z))


def _absolute(printer: Any, expr: Any) -> str:
    return str(printer.write("absolute", printer.show(expr)))


def _power_cone(printer: Any, cone: Any) -> str:
    """|z| ≤ xᵃ y¹⁻ᵃ"""
    x, y, z = cone.args
    weight = np.asarray(cone.details[0].value, dtype=float)
    powers = []
    for base, exponent in ((x, weight), (y, 1.0 - weight)):
        if np.ptp(exponent) == 0:
            above = _exponent(round(float(exponent.flat[0]), 12), printer.to)
        else:
            above = printer.array(exponent).body
        body = script("^", printer.piece(base).closed(ATOM), above, printer.to)
        powers.append(Piece(body, POWER))
    product = powers[0].body + (" " if x.size == 1 else printer.write("ring")) + powers[1].body
    return _below(printer, _absolute(printer, z), "<=", product)


def _many_powers(printer: Any, cone: Any) -> str:
    x, z = cone.args
    mean = printer.function("geomean", x, cone.details[0])
    return _below(printer, _absolute(printer, z), "<=", mean.body)


def _relative_cone(printer: Any, cone: Any) -> str:
    x, y, z = cone.args
    return _below(printer, _relative_entropy(printer, x, y).signed, "<=", printer.show(z))


def _operator_cone(printer: Any, cone: Any) -> str:
    """The relative entropy of two matrices, below a third one."""
    X, Y, Z = cone.args
    return _below(printer, printer.function("oprelentr", X, Y).body, "<<", printer.show(Z))


def _finite(printer: Any, cone: Any) -> str:
    x, values = cone.args
    if values.is_constant() and values.value is not None and values.size <= 6:
        told = ", ".join(number(float(v), printer.to).signed for v in np.ravel(values.value))
    else:
        told = printer.show(values)
    return str(printer.write("in", printer.show(x), printer.write("set", told)))


CONSTRAINTS: dict[str, Callable[[Any, Any], str]] = {
    "PSD": _sign(">>"),
    "SvecPSD": lambda printer, cone: _below(
        printer, printer.function("smat", cone.args[0]).body, ">>", "0"
    ),
    "NonNeg": _sign(">="),
    "NonPos": _sign("<="),
    "Zero": _sign("="),
    "SOC": _second_order,
    "ExpCone": _exponential,
    "PowCone3D": _power_cone,
    "PowConeND": _many_powers,
    "RelEntrConeQuad": _relative_cone,
    "OpRelEntrConeQuad": _operator_cone,
    "FiniteSet": _finite,
}
"""Printing rules of constraints that are not comparisons, by their kinds."""
