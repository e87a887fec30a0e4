"""All atoms and cones of cvxpy as mathematics, with the value that the formula has in NumPy."""

from __future__ import annotations

import importlib
import inspect
import re
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.linalg
import scipy.special
from numpy.typing import NDArray

from indefinite_opt.algebra import converted, latex_expression, mathml
from indefinite_opt.algebra.notation import LATEX, TEXT
from indefinite_opt.algebra.printed_atoms import CONSTRAINTS, RULES
from indefinite_opt.algebra.printing import Printer, _relation

Values = dict[str, NDArray[np.float64]]

x, z, a = (cp.Variable(3, name=name, pos=name == "a") for name in "xza")
b, t, s = (cp.Variable(name=name, nonneg=name == "s") for name in "bts")
X, V = cp.Variable((3, 3), name="X"), cp.Variable((2, 3), name="V")
S, T = (cp.Variable((3, 3), name=name, PSD=True) for name in "ST")
P = cp.Variable((3, 3), name="P", pos=True)
N = cp.Variable((2, 3, 4), name="N")
f, g = (cp.Variable(name=name, boolean=True) for name in "fg")
A = cp.Constant(np.array([[0.0, 1.0, 2.0], [1.0, 3.0, -1.0], [2.0, -1.0, 4.0]]), name="A")
v = cp.Constant(np.array([1.0, 2.0, 4.0]), name="v")
q = cp.Parameter(name="q", value=3.0, pos=True)

VALUES: Values = {
    "x": np.array([0.5, 2.0, 1.25]), "z": np.array([1.5, 0.75, 3.0]),
    "a": np.array([1.5, 3.0, 2.0]),
    "b": np.array(1.75), "t": np.array(2.5), "s": np.array(1.5),
    "X": np.array([[0.5, -1.0, 2.0], [3.0, 0.25, -0.75], [1.5, 4.0, -2.0]]),
    "V": np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]]),
    # Of trace 1, for which cvxpy has the value of the relative entropy of matrices.
    "S": np.array([[0.375, 0.125, 0.0], [0.125, 0.25, 0.0625], [0.0, 0.0625, 0.375]]),
    "T": np.array([[1.0, 0.25, 0.0], [0.25, 2.0, 0.5], [0.0, 0.5, 1.5]]),
    "P": np.array([[0.1, 0.2, 0.1], [0.3, 0.1, 0.2], [0.2, 0.1, 0.05]]),
    "N": np.arange(24.0).reshape(2, 3, 4), "f": np.array(1.0), "g": np.array(0.0),
    "A": A.value, "v": v.value,
}  # fmt: skip


def elementwise(module: str, name: str) -> Any:
    """An atom that cvxpy has, but does not name at its top."""
    return getattr(importlib.import_module(f"cvxpy.atoms.elementwise.{module}"), name)


def norms(of: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.sqrt((of**2).sum(axis=axis))
    return found


Formula = Callable[..., Any]
ATOMS: list[tuple[Any, str, Formula | None]] = [
    # Norms: of vectors, of all entries of a matrix, of its rows and columns, of operators.
    (cp.norm(x), "‖x‖₂", lambda x: np.sqrt(x @ x)),
    (cp.norm(A - X, "fro"), "‖A - X‖_F", lambda A, X: np.sqrt(((A - X) ** 2).sum())),
    (cp.norm(cp.vec(X - A, order="F")), "‖X - A‖_F", lambda A, X: np.sqrt(((A - X) ** 2).sum())),
    (cp.pnorm(x, 3), "‖x‖₃", lambda x: (x**3).sum() ** (1 / 3)),
    (cp.pnorm(x, 1.5), "‖x‖_(3/2)", lambda x: (x**1.5).sum() ** (2 / 3)),
    (cp.norm(x, "inf"), "‖x‖_∞", lambda x: x.max()),
    (cp.norm1(X), "‖vec(X)‖₁", lambda X: np.abs(X).sum()),
    (cp.norm(X, 1), "max(‖columns(X)‖₁)", lambda X: np.abs(X).sum(axis=0).max()),
    (cp.norm(X, "inf"), "max(‖rows(X)‖₁)", lambda X: np.abs(X).sum(axis=1).max()),
    (cp.norm(V, 2, axis=1), "‖rows(V)‖₂", lambda V: norms(V, 1)),
    (cp.norm(V, 2, axis=0), "‖columns(V)‖₂", lambda V: norms(V, 0)),
    (cp.mixed_norm(V, 2, 1), "‖‖rows(V)‖₂‖₁", lambda V: norms(V, 1).sum()),
    (cp.norm(X, 2), "σ_max(X)", lambda X: scipy.linalg.svdvals(X)[0]),
    (cp.norm(X, "nuc"), "‖X‖_*", lambda X: scipy.linalg.svdvals(X).sum()),
    (cp.quad_over_lin(x, b), "‖x‖₂²/b", lambda x, b: x @ x / b),
    (cp.quad_over_lin(X, 2 * t), "‖X‖_F²/(2 t)", lambda X, t: (X**2).sum() / (2 * t)),
    (cp.quad_over_lin(V, 1, axis=1), "‖rows(V)‖₂²", lambda V: (V**2).sum(axis=1)),
    (cp.harmonic_mean(a), "3 ‖a‖₋₁", lambda a: 3 / (1 / a).sum()),
    (cp.tv(x), "‖x[1:] - x[0:2]‖₁", lambda x: np.abs(np.diff(x)).sum()),
    (cp.dist_ratio(x, v, np.zeros(3)), "‖x - v‖₂/‖x‖₂",
     lambda x, v: np.linalg.norm(x - v) / np.linalg.norm(x)),
    # Powers and means.
    (cp.power(b, 3), "b³", lambda b: b**3),
    (cp.power(x, -1), "x⁻¹", lambda x: 1 / x),
    (cp.sqrt(b + 1), "√(b + 1)", lambda b: np.sqrt(b + 1)),
    (cp.power(x, 1 / 3), "x^(1/3)", lambda x: x ** (1 / 3)),
    (cp.power(x, 2.7), "x^2.7", lambda x: x**2.7),
    (cp.power(a, q), "a^q", lambda a: a**3),
    (cp.power(P, 3), "P^∘3", lambda P: P**3),
    (cp.geo_mean(a), "geomean(a)", lambda a: a.prod() ** (1 / 3)),
    (cp.geo_mean(a, [1, 2, 1]), "geomean(a, c)", lambda a: np.sqrt(a[1] * np.sqrt(a[0] * a[2]))),
    (cp.prod(a), "prod(a)", np.prod),
    (cp.prod(P, axis=1), "prod_rows(P)", lambda P: P.prod(axis=1)),
    (cp.gmatmul(A, a), "exp(A log(a))", lambda A, a: np.exp(A @ np.log(a))),
    (cp.std(x), "‖x - (eᵀx/3) e‖₂/1.732", np.std),
    # Sums, traces and diagonals.
    (cp.sum(X, axis=0), "Xᵀe", lambda X: X.T @ np.ones(3)),
    (cp.sum(X, axis=1), "Xe", lambda X: X @ np.ones(3)),
    (cp.sum(V, axis=0, keepdims=True), "eᵀV", lambda V: np.ones((1, 2)) @ V),
    (cp.sum(V, axis=1, keepdims=True), "Ve", lambda V: V @ np.ones((3, 1))),
    (cp.sum(x, axis=0), "eᵀx", lambda x: x.sum()),
    (cp.sum(N, axis=(0, 2)), "sum_axis02(N)", lambda N: N.sum(axis=(0, 2))),
    (cp.sum(cp.multiply(A, X)), "eᵀ(A∘X)e", lambda A, X: (A * X).sum()),
    (cp.trace(A @ X), "tr(AX)", lambda A, X: np.trace(A @ X)),
    (cp.trace(X), "tr(X)", np.trace),
    (cp.cumsum(x), "cumsum(x)", np.cumsum),
    (cp.cumsum(X, axis=1), "cumsum_rows(X)", lambda X: X.cumsum(axis=1)),
    (cp.cummax(x), "cummax(x)", np.maximum.accumulate),
    (cp.cumprod(a), "cumprod(a)", np.cumprod),
    (cp.diag(X), "diag(X)", np.diag),
    (cp.diag(X, 1), "diag₁(X)", lambda X: np.diag(X, 1)),
    (cp.diag(x), "diag(x)", np.diag),
    (cp.upper_tri(X), "upper(X)", lambda X: np.array([X[0, 1], X[0, 2], X[1, 2]])),
    (cp.max(X, axis=0, keepdims=True), "max_columns(X)ᵀ", lambda X: X.max(axis=0)[None, :]),
    (cp.min(X, axis=1), "min_rows(X)", lambda X: X.min(axis=1)),
    (cp.maximum(x, z, 1), "max(x, z, 1)", lambda x, z: np.maximum(np.maximum(x, z), 1)),
    (cp.minimum(x, z), "min(x, z)", np.minimum),
    (cp.sum_largest(x, 2), "sum_largest(x, 2)", lambda x: np.sort(x)[1:].sum()),
    (cp.dotsort(x, v), "dotsort(x, v)", lambda x, v: np.sort(x) @ np.sort(v)),
    # Parts and blocks of vectors and matrices.
    (cp.vec(V, order="F"), "vec(V)", lambda V: V.T.ravel()),
    (cp.vec(V, order="C"), "vec(Vᵀ)", lambda V: V.ravel()),
    (cp.reshape(V, (3, 2), order="F"), "mat_3×2(vec(V))", lambda V: V.reshape(3, 2, order="F")),
    (cp.reshape(V, (3, 2), order="C"), "mat_2×3(vec(Vᵀ))ᵀ", lambda V: V.reshape(3, 2)),
    (cp.reshape(x, (1, 3), order="F"), "xᵀ", lambda x: x[None, :]),
    (cp.reshape(X[:, :1], (3,), order="F"), "X[:, :1]", lambda X: X[:, 0]),
    (cp.hstack([x, z]), "[x; z]", lambda x, z: np.hstack([x, z])),
    (cp.vstack([x, z]), "[xᵀ; zᵀ]", lambda x, z: np.vstack([x, z])),
    (cp.vstack([b, t]), "[b; t]", lambda b, t: np.vstack([b, t])),
    (cp.hstack([X, V.T]), "[X, Vᵀ]", lambda X, V: np.hstack([X, V.T])),
    (cp.bmat([[A, X], [X, A]]), "[A, X; X, A]", lambda A, X: np.block([[A, X], [X, A]])),
    (cp.concatenate([X, A], axis=1), "[X, A]", lambda X, A: np.hstack([X, A])),
    (cp.concatenate([X, A], axis=0), "[X; A]", lambda X, A: np.vstack([X, A])),
    (cp.broadcast_to(x, (2, 3)), "exᵀ", lambda x: np.outer(np.ones(2), x)),
    (cp.broadcast_to(x[:, None], (3, 2)), "xeᵀ", lambda x: np.outer(x, np.ones(2))),
    (cp.broadcast_to(V, (2, 2, 3)), "broadcast_2×2×3(V)", lambda V: np.array([V, V])),
    (cp.transpose(N, (1, 0, 2)), "transpose₁₀₂(N)", lambda N: N.transpose(1, 0, 2)),
    (cp.transpose(N), "transpose₂₁₀(N)", lambda N: N.T),
    (cp.reshape(N, (6, 4), order="C"), "reshape_6×4(N)", lambda N: N.reshape(6, 4)),
    (cp.kron(A, X + A), "A ⊗ (X + A)", lambda A, X: np.kron(A, X + A)),
    (cp.convolve(v, x), "v ∗ x", lambda v, x: np.convolve(v, x)),
    (cp.outer(x, z), "xzᵀ", lambda x, z: np.outer(x, z)),
    # Functions of each entry.
    (cp.exp(-x), "exp(-x)", lambda x: np.exp(-x)),
    (cp.log(x), "log(x)", np.log),
    (cp.log1p(x), "log(e + x)", lambda x: np.log(1 + x)),
    (cp.log1p(b), "log(1 + b)", np.log1p),
    (cp.entr(x), "-x∘log(x)", lambda x: -x * np.log(x)),
    (cp.entr(b), "-b log(b)", lambda b: -b * np.log(b)),
    (cp.xexp(a), "a∘exp(a)", lambda a: a * np.exp(a)),
    (cp.rel_entr(x, z), "x∘log(x/z)", lambda x, z: x * np.log(x / z)),
    (cp.rel_entr(b, x), "b log(b/x)", lambda b, x: b * np.log(b / x)),
    (cp.kl_div(x, z), "x∘log(x/z) - x + z", lambda x, z: x * np.log(x / z) - x + z),
    (cp.kl_div(b, 2 * t), "b log(b/(2 t)) - b + 2 t",
     lambda b, t: b * np.log(b / (2 * t)) - b + 2 * t),
    (cp.logistic(x), "log(1 + exp(x))", lambda x: np.log(1 + np.exp(x))),
    (cp.one_minus_pos(P[0]), "e - P[0]", lambda P: 1 - P[0]),
    (cp.huber(x, 1), "huber(x, 1)", lambda x: np.where(x <= 1, x**2, 2 * x - 1)),
    (cp.ceil(x), "⌈x⌉", np.ceil),
    (cp.floor(x - 1), "⌊x - e⌋", lambda x: np.floor(x - 1)),
    (cp.sign(b), "sign(b)", np.sign),
    (elementwise("normcdf", "normcdf")(x), "normcdf(x)", scipy.special.ndtr),
    (elementwise("trig", "sin")(x), "sin(x)", np.sin),
    (elementwise("trig", "cos")(x), "cos(x)", np.cos),
    (elementwise("trig", "tan")(x), "tan(x)", np.tan),
    (elementwise("hyperbolic", "sinh")(x), "sinh(x)", np.sinh),
    (elementwise("hyperbolic", "tanh")(x), "tanh(x)", np.tanh),
    (elementwise("hyperbolic", "asinh")(x), "arsinh(x)", np.arcsinh),
    (elementwise("hyperbolic", "atanh")(x / 4), "artanh(x/4)", lambda x: np.arctanh(x / 4)),
    (cp.conj(X), "conj(X)", np.conj),
    (cp.real(X), "Re(X)", np.real),
    (cp.imag(X), "Im(X)", np.imag),
    (cp.logic.And(f, cp.logic.Not(g)), "f ∧ ¬g", None),
    (cp.logic.Or(f, g), "f ∨ g", None),
    (cp.logic.Xor(f, g), "f ⊕ g", None),
    # Functions of vectors and of matrices.
    (cp.log_sum_exp(x), "log(eᵀ exp(x))", lambda x: np.log(np.exp(x).sum())),
    (cp.log_sum_exp(X, axis=1), "logsumexp_rows(X)", lambda X: np.log(np.exp(X).sum(axis=1))),
    (cp.length(x), "length(x)", None),
    (cp.matrix_frac(x, S), "xᵀS⁻¹x", lambda x, S: x @ np.linalg.inv(S) @ x),
    (cp.matrix_frac(V.T, S), "tr(VS⁻¹Vᵀ)", lambda V, S: np.trace(V @ np.linalg.inv(S) @ V.T)),
    (cp.tr_inv(S), "tr(S⁻¹)", lambda S: np.trace(np.linalg.inv(S))),
    (cp.log_det(S), "log(det(S))", lambda S: np.log(np.linalg.det(S))),
    (cp.lambda_max(S), "λ_max(S)", lambda S: np.linalg.eigvalsh(S)[-1]),
    (cp.lambda_min(S), "-λ_max(-S)", lambda S: np.linalg.eigvalsh(S)[0]),
    (cp.lambda_sum_largest(S, 2), "sum_largest(λ(S), 2)",
     lambda S: np.linalg.eigvalsh(S)[1:].sum()),
    (cp.gen_lambda_max(S, T), "λ_max(S, T)", lambda S, T: scipy.linalg.eigh(S, T)[0][-1]),
    (cp.condition_number(S), "cond(S)", np.linalg.cond),
    (cp.pf_eigenvalue(P), "λ_pf(P)", lambda P: np.abs(np.linalg.eigvals(P)).max()),
    (cp.eye_minus_inv(P), "(I - P)⁻¹", lambda P: np.linalg.inv(np.eye(3) - P)),
    (cp.von_neumann_entr(S), "-tr(S logm(S))", lambda S: -np.trace(S @ scipy.linalg.logm(S))),
    (cp.quantum_rel_entr(S, T), "tr(S(logm(S) - logm(T)))",
     lambda S, T: np.trace(S @ (scipy.linalg.logm(S) - scipy.linalg.logm(T)))),
    (cp.perspective(cp.square(b), s), "perspective(b², s)", None),
    (cp.suppfunc(x, [cp.norm(x) <= 1])(z), "support(z)", None),
    # What only says of which kind an argument is.
    (cp.symmetric_wrap(X), "X", lambda X: X),
    (cp.quad_form(x, A), "xᵀAx", lambda x, A: x @ A @ x),
    # Signs and factors in front, and functions inside others.
    (-3 * cp.entr(x), "3 (x∘log(x))", lambda x: 3 * x * np.log(x)),
    (2 * cp.norm(x) * b, "2 ‖x‖₂ b", lambda x, b: 2 * np.linalg.norm(x) * b),
    (cp.multiply(z, cp.exp(x)), "z∘exp(x)", lambda z, x: z * np.exp(x)),
    (v @ cp.exp(x) - cp.log(b), "vᵀ exp(x) - log(b)", lambda v, x, b: v @ np.exp(x) - np.log(b)),
    (cp.square(cp.exp(b)), "exp(b)²", lambda b: np.exp(2 * b)),
    (1 / cp.sqrt(cp.square(b)), "1/√(b²)", lambda b: 1 / b),
]  # fmt: skip


def named(expr: Any) -> Iterator[tuple[str, Any]]:
    """The variables and named constants in an expression, by their names."""
    for leaf in [*expr.variables(), *expr.constants()]:
        yield leaf.name(), leaf


@pytest.mark.parametrize(("expr", "as_text", "formula"), ATOMS, ids=[row[1] for row in ATOMS])
def test_an_atom_is_mathematics(expr: Any, as_text: str, formula: Formula | None) -> None:
    assert Printer(TEXT).show(converted(expr)) == as_text
    typeset = latex_expression(expr)
    assert_typeset(as_text, typeset)
    if formula is None:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of cvxpy, on complex and symmetric values
        for name, variable in named(expr):
            if isinstance(variable, cp.Variable):
                variable.value = VALUES[name]
        value = expr.value
    names = (
        inspect.signature(formula).parameters if is_own(formula) else re.findall(VARIABLE, as_text)
    )
    # Values of cvxpy and of NumPy are those of the same few operations, in other orders.
    given = [VALUES[name] for name in names]
    np.testing.assert_allclose(value, formula(*given), rtol=1e-9, atol=1e-12)


def is_own(formula: Formula) -> bool:
    """Whether a formula is written here, and not a function of NumPy or SciPy."""
    return getattr(formula, "__name__", "") == "<lambda>"


VARIABLE = r"\b[xzabtsXVSTPN]\b"


def assert_typeset(as_text: str, typeset: str) -> None:
    """One line, without what only Python writes; LaTeX with balanced braces, as MathML, too."""
    assert "\n" not in as_text + typeset
    for printed in (as_text, typeset):
        assert not re.search(r"None|True|False|,\)|axis=|Approx|Promote", printed)
        assert printed.count("(") == printed.count(")")
        assert printed.count("[") == printed.count("]")
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", typeset):
        depth += 1 if brace == "{" else -1
        assert depth >= 0
    assert depth == 0
    assert typeset.isascii()
    shown = "".join(ElementTree.fromstring(mathml(typeset)).itertext())
    assert not set("\\&") & set(shown)


CONES: list[tuple[Any, str, str]] = [
    (X >> A, "X - A ⪰ 0", r"X - A \succeq 0"),
    (cp.SOC(b, x), "‖x‖₂ ≤ b", r"\|x\|_2 \le b"),
    (cp.SOC(z, X), "‖columns(X)‖₂ ≤ z", r"\|\operatorname{columns}(X)\|_2 \le z"),
    (cp.SOC(z, X, axis=1), "‖rows(X)‖₂ ≤ z", r"\|\operatorname{rows}(X)\|_2 \le z"),
    (cp.ExpCone(b, s, t), "s exp(b/s) ≤ t", r"s \exp(b / s) \le t"),
    (cp.ExpCone(x, a, z), "a∘exp(x/a) ≤ z", r"a \circ \exp(x / a) \le z"),
    (cp.PowCone3D(b, s, t, 0.3), "|t| ≤ b^0.3 s^0.7", r"|t| \le b^{0.3} s^{0.7}"),
    (cp.PowCone3D(x, a, z, 0.5), "|z| ≤ x^(1/2)∘a^(1/2)", r"|z| \le x^{1/2}\circ a^{1/2}"),
    (cp.constraints.PowConeND(x, b, np.array([0.2, 0.3, 0.5])), "|b| ≤ geomean(x, c)",
     r"|b| \le \operatorname{geomean}(x, c)"),
    (cp.constraints.NonNeg(x), "x ≥ 0", r"x \ge 0"),
    (cp.constraints.Zero(x - z), "x - z = 0", "x - z = 0"),
    (cp.FiniteSet(b, [1, 2, 0.5]), "b ∈ {1, 2, ½}", r"b \in \{1, 2, \tfrac{1}{2}\}"),
    (cp.RelEntrConeQuad(b, s, t, 3, 3), "b log(b/s) ≤ t", r"b \log(b / s) \le t"),
    (cp.OpRelEntrConeQuad(S, T, S, 3, 3), "oprelentr(S, T) ⪯ S",
     r"\operatorname{oprelentr}(S, T) \preceq S"),
]  # fmt: skip


@pytest.mark.parametrize(("cone", "as_text", "as_latex"), CONES, ids=[row[1] for row in CONES])
def test_a_cone_is_an_inequality(cone: Any, as_text: str, as_latex: str) -> None:
    assert _relation(Printer(TEXT), converted(cone)) == as_text
    typeset = _relation(Printer(LATEX), converted(cone))
    assert typeset == as_latex
    assert_typeset(as_text, typeset)


def kinds(expr: Any) -> Iterator[str]:
    yield expr.kind.removesuffix("Approx")
    for arg in expr.args:
        yield from kinds(arg)


def test_every_rule_is_in_the_tables() -> None:
    """But for wraps, which print their argument, and classes that only cvxpy's solvers make."""
    printed = {kind for row in ATOMS for kind in kinds(converted(row[0]))}
    wraps = {kind for kind in RULES if kind.endswith("rap")}
    made_by_solvers = {"cvxpy.SymbolicQuadForm", "cvxpy.power", "cvxpy.conv"}
    assert set(RULES) - wraps - made_by_solvers <= printed
    cones = {converted(cone).kind.removesuffix("Approx") for cone, _, _ in CONES}
    assert set(CONSTRAINTS) - cones <= {"NonPos", "SvecPSD"}


def test_every_atom_of_cvxpy_has_a_rule() -> None:
    """Another version of cvxpy may have others, which are functions under their titles."""
    found, known = [*vars(cp.atoms).values()], {kind.removeprefix("cvxpy.") for kind in RULES}
    atoms = [c for c in found if isinstance(c, type) and issubclass(c, cp.atoms.atom.Atom)]
    other = {c.__name__.removesuffix("Approx") for c in atoms} - known
    with_kinds = {
        "AddExpression", "MulExpression", "QuadForm", "Sum", "abs", "huber", "logistic", "max",
        "maximum", "multiply", "norm1", "norm_inf", "quad_over_lin", "sum_largest",
    }  # fmt: skip
    if cp.__version__.startswith("1.9."):
        assert other <= with_kinds
