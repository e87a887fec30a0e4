"""Printed mathematics: exact strings and valid MathML."""

from __future__ import annotations

import re
import unicodedata
import xml.etree.ElementTree as ElementTree
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from numpy.typing import NDArray

import indefinite_opt as iopt
from indefinite_opt import algebra
from indefinite_opt.algebra.notation import GLOSSARY, TEXT
from indefinite_opt.algebra.printing import Printer, latex, latex_expression, legend, mathml, text
from indefinite_opt.algebra.program import Model, Program

N = 4
RNG = np.random.default_rng(0)


def symmetric() -> NDArray[np.float64]:
    A = RNG.normal(size=(N, N))
    return A + A.T


y = cp.Constant(np.array([1.0, -1.0, 1.0, -1.0]), name="y")
K = cp.Constant(symmetric(), name="K")
K0 = cp.Constant(symmetric(), name="K0")
Q = cp.Constant(symmetric(), name="Q")
D2 = cp.Constant(symmetric(), name="D2")
Delta = cp.Constant(RNG.normal(size=(N, N)), name="Delta")
C = cp.Constant(1.7, name="C")
mu = cp.Constant(0.9, name="mu")
betabar = cp.Constant(0.6, name="betabar")
alpha, alphabar, u, xi = (cp.Variable(N, name=name) for name in ("alpha", "alphabar", "u", "xi"))
b, delta = cp.Variable(name="b"), cp.Variable(name="delta")
X = cp.Variable((N, N), name="X")


def declared(name: str, sense: str, objective: Any, rows: dict[str, Any] | None = None) -> Program:
    program: Any = None
    return Model(**{sense: objective}, subject_to=rows or {}).program(name, program)


def text_expression(expr: Any) -> str:
    return Printer(TEXT).show(algebra.converted(expr))


margin = cp.multiply(y, K @ u + b)
SVM = declared(
    "SVMDual", "maximize", cp.sum(alpha) - 0.5 * cp.quad_form(alpha, Q),
    {"balance": y @ alpha == 0, "lower": alpha >= 0, "upper": alpha <= C},
)  # fmt: skip
LP = declared(
    "LPSVM", "minimize", cp.norm1(u) + C * cp.sum(xi),
    {"margin": margin >= 1 - xi, "slack": xi >= 0},
)  # fmt: skip
LOGISTIC = declared(
    "KernelLogistic", "minimize", 0.5 * cp.sum_squares(alpha) + C * cp.sum(cp.logistic(-margin))
)
TYPICAL = [
    (
        SVM,
        """\
SVMDual
  maximize    eᵀα - ½ αᵀQα
  subject to  yᵀα = 0    (balance)
              0 ≤ α ≤ C  (lower, upper)
  with        α ∈ R⁴, Q ∈ R^(4×4), y ∈ R⁴, C = 1.7""",
        r"""\begin{array}{rl}
\max\limits_{\alpha} & \mathbf{e}^\top \alpha - \tfrac{1}{2} \alpha^\top Q \alpha \\
\text{s.t.} & y^\top \alpha = 0 \\
 & 0 \le \alpha \le C
\end{array}""",
    ),
    (
        LP,
        """\
LPSVM
  minimize    ‖u‖₁ + C eᵀξ
  subject to  y∘(Ku + b e) ≥ e - ξ  (margin)
              ξ ≥ 0                 (slack)
  with        u ∈ R⁴, ξ ∈ R⁴, b ∈ R, y ∈ R⁴, K ∈ R^(4×4), C = 1.7""",
        r"""\begin{array}{rl}
\min\limits_{u, \xi, b} & \|u\|_1 + C \mathbf{e}^\top \xi \\
\text{s.t.} & y \circ (K u + b \mathbf{e}) \ge \mathbf{e} - \xi \\
 & \xi \ge 0
\end{array}""",
    ),
    (
        LOGISTIC,
        """\
KernelLogistic
  minimize    ½ ‖α‖₂² + C eᵀ log(1 + exp(-y∘(Ku + b e)))
  with        α ∈ R⁴, u ∈ R⁴, b ∈ R, y ∈ R⁴, K ∈ R^(4×4), C = 1.7""",
        r"""\begin{array}{rl}
\min\limits_{\alpha, u, b} & \tfrac{1}{2} \|\alpha\|_2^2"""
        r""" + C \mathbf{e}^\top \log(1 + \exp(-y \circ (K u + b \mathbf{e})))
\end{array}""",
    ),
]
PROGRAMS = {program.name: program for program, _, _ in TYPICAL}


def only_text(markup: str) -> str:
    """The characters a reader of the MathML sees; fails if it is not well-formed XML."""
    return "".join(ElementTree.fromstring(markup).itertext())


@pytest.mark.parametrize(("program", "as_text", "as_latex"), TYPICAL, ids=list(PROGRAMS))
def test_typical_problems(program: Program, as_text: str, as_latex: str) -> None:
    assert text(program) == as_text
    assert latex(program) == as_latex
    markup = mathml(as_latex)
    assert not set("\\&{}") & set(only_text(markup))
    assert len(re.findall("<mtr>", markup)) == as_latex.count("\\\\") + 1


z = cp.multiply(y, alpha)
EXPRESSIONS = [
    (-(alpha + xi), "-(α + ξ)"),
    (alpha - (xi - u), "α - (ξ - u)"),
    (-2 * alpha + 1, "-2 α + e"),
    (2 * (3 * alpha), "2·3 α"),
    (1.5 * alpha + alpha / 3, "³⁄₂ α + α/3"),
    (alpha * (1 / 3), "⅓ α"),
    (0.2 * alpha - 1e-6 * xi, "0.2 α - 10⁻⁶ ξ"),
    ((alpha + xi) / 2, "(α + ξ)/2"),
    (cp.multiply(1 / C, cp.multiply(y, alpha)), "(1/C) (y∘α)"),
    (1 / (C * mu) * b, "(1/(C μ)) b"),
    (K @ (alpha + xi), "K(α + ξ)"),
    (K @ cp.multiply(y, alpha), "K(y∘α)"),
    (cp.multiply(y, K @ alpha), "y∘Kα"),
    (K @ np.ones(N), "Ke"),
    (alpha @ Delta, "Δᵀα"),
    ((alpha @ Delta) @ (Q @ xi), "αᵀΔQξ"),
    ((2 * alpha) @ xi, "(2 α)ᵀξ"),
    (z @ (K @ z), "(y∘α)ᵀK(y∘α)"),
    (cp.quad_form(alpha - xi, K), "(α - ξ)ᵀK(α - ξ)"),
    (cp.quad_form(z, cp.psd_wrap(K + Q)), "(y∘α)ᵀ(K + Q)(y∘α)"),
    (D2.T @ alpha - K0.T @ xi, "(D⁽²⁾)ᵀα - K₀ᵀξ"),
    (cp.sum(2 * xi) + C * cp.sum(xi), "eᵀ(2 ξ) + C eᵀξ"),
    (cp.sum(-xi), "-eᵀξ"),
    (cp.sum(K @ alpha + b), "eᵀ(Kα + b e)"),
    (cp.sum(X), "eᵀXe"),
    (X + 1, "X + eeᵀ"),
    (cp.sum_squares(Q @ alpha - 1), "‖Qα - e‖₂²"),
    (cp.sum_squares(X - K), "‖X - K‖_F²"),
    (cp.sum(cp.logistic(-margin)), "eᵀ log(1 + exp(-y∘(Ku + b e)))"),
    (cp.matrix_frac(alpha + xi, K), "(α + ξ)ᵀK⁻¹(α + ξ)"),
    (cp.sum(cp.abs(alpha - xi)), "eᵀ|α - ξ|"),
    (-2 * cp.abs(b) * mu, "-2 |b| μ"),
    (C * cp.sum(cp.pos(1 - margin)), "C eᵀ(e - y∘(Ku + b e))₊"),
    (cp.sum(cp.square(cp.pos(1 - margin))), "‖(e - y∘(Ku + b e))₊‖₂²"),
    (cp.square(b) - cp.pos(-b), "b² - (-b)₊"),
    (cp.square(-alpha), "(-α)²"),
    (cp.square(cp.pos(alpha - xi)), "(α - ξ)₊²"),
    (cp.square(X - K), "(X - K)∘(X - K)"),
    (cp.sum(cp.square(X - K)), "‖X - K‖_F²"),
    (cp.square(cp.abs(z)), "|y∘α|²"),
    (cp.square(cp.square(b)), "(b²)²"),
    (y @ cp.square(z), "yᵀ(y∘α)²"),
]


def test_expressions_are_written_as_on_the_blackboard() -> None:
    """Vectors are columns; superscripts bind first, then products, then ∘ and /, then + and -."""
    for expr, printed in EXPRESSIONS:
        assert text_expression(expr) == printed


def entrywise(atoms: Any) -> list[Any]:
    """Atoms that act on each entry, in the algebra or in cvxpy."""
    v, t = atoms.Variable(N, name="v"), atoms.Variable(name="t")
    signs, c = atoms.Constant(np.array([1.0, -1.0, 1.0, -1.0]), name="y"), atoms.Constant(2.5, "c")
    margins = atoms.multiply(signs, v + t)
    return [
        c * atoms.sum(atoms.square(atoms.pos(1 - margins))),
        atoms.sum(atoms.abs(margins)) - atoms.square(t) / 2,
        signs @ atoms.square(-v) + atoms.norm1(v - 1) + atoms.sum_squares(v),
        2 / c * t + 1 / (c * c) - atoms.sum(v / c),
        atoms.sum(atoms.pos(v[1:4]) + atoms.logistic(-v[0:3])),
    ]


def test_the_algebra_prints_what_cvxpy_prints() -> None:
    ours, theirs = entrywise(algebra), entrywise(cp)
    assert [text_expression(part) for part in ours] == [
        "c ‖(e - y∘(v + t e))₊‖₂²",
        "eᵀ|y∘(v + t e)| - t²/2",
        "yᵀ(-v)² + ‖v - e‖₁ + ‖v‖₂²",
        "(2/c) t + 1/(c c) - eᵀ(v/c)",
        "eᵀ((v[1:4])₊ + log(1 + exp(-v[0:3])))",
    ]
    assert [*map(text_expression, ours)] == [*map(text_expression, theirs)]
    assert [*map(latex_expression, ours)] == [*map(latex_expression, theirs)]
    assert [*map(text_expression, map(algebra.Translation(), ours))] == [
        *map(text_expression, theirs)
    ]


# ------------------------------------------------------------------------------- single features

ATOMS = [
    (alpha[0], "α[0]", r"\alpha[0]"),
    (X[1, 2:], "X[1, 2:]", "X[1, 2:]"),
    (X[::-1, 0], "X[::-1, 0]", "X[::-1, 0]"),
    (2.5e-7 * b, "2.5·10⁻⁷ b", r"2.5 \cdot 10^{-7} b"),
    (alpha / C, "α/C", r"\alpha / C"),
    (0.5 * b + 1.5 * b, "½ b + ³⁄₂ b", r"\tfrac{1}{2} b + \tfrac{3}{2} b"),
    (cp.psd_wrap(K), "K", "K"),
    (alpha + np.arange(N), "α + c", r"\alpha + c"),
    (alpha + np.zeros(N), "α", r"\alpha"),
    (cp.pos(K @ alpha), "(Kα)₊", r"(K \alpha)_+"),
    (cp.square(cp.pos(b)), "(b)₊²", "(b)_+^2"),
    (cp.square(cp.Variable(name="beta_0")), "β₀²", r"\beta_0^2"),
    # Other atoms, with all that defines them.
    (cp.maximum(alpha, 1), "max(α, 1)", r"\max(\alpha, 1)"),
    (cp.power(b, 3), "b³", "b^3"),
    (cp.log1p(b), "log(1 + b)", r"\log(1 + b)"),
    (cp.maximum(alpha, xi), "max(α, ξ)", r"\max(\alpha, \xi)"),
    (cp.sum_largest(alpha, 2), "sum_largest(α, 2)", r"\mathrm{sum\_largest}(\alpha, 2)"),
    (cp.huber(b, 3), "huber(b, 3)", r"\operatorname{huber}(b, 3)"),
    (cp.kron(K, X), "K ⊗ X", r"K \otimes X"),
    (cp.max(X, axis=1), "max_rows(X)", r"\max_{\mathrm{rows}}(X)"),
    (cp.sum(X, axis=0), "Xᵀe", r"X^\top \mathbf{e}"),
    (cp.sum(X, axis=1), "Xe", r"X \mathbf{e}"),
    (cp.sum(X, axis=0, keepdims=True), "eᵀX", r"\mathbf{e}^\top X"),
    (cp.quad_over_lin(alpha, b), "‖α‖₂²/b", r"\|\alpha\|_2^2 / b"),
    (cp.hstack([alpha, xi]), "[α; ξ]", r"[\alpha;\ \xi]"),
    (cp.vstack([alpha, xi]), "[αᵀ; ξᵀ]", r"[\alpha^\top;\ \xi^\top]"),
    (cp.bmat([[K, X], [X, Q]]), "[K, X; X, Q]", r"[K, X;\ X, Q]"),
    (cp.vec(X, order="F"), "vec(X)", r"\operatorname{vec}(X)"),
    (cp.vec(X, order="C"), "vec(Xᵀ)", r"\operatorname{vec}(X^\top)"),
    (cp.sqrt(b), "√b", r"\sqrt{b}"),
    (np.ones((N, 1)) @ alpha[None, :], "eαᵀ", r"\mathbf{e} \alpha^\top"),
    (cp.sum(cp.Variable((2, 3, 4), name="Z")), "sum(Z)", r"\operatorname{sum}(Z)"),
]


def test_atoms() -> None:
    for expr, as_text, as_latex in ATOMS:
        assert text_expression(expr) == as_text
        assert latex_expression(expr) == as_latex
        assert "\\" not in only_text(mathml(as_latex))


NAMES = [
    ("alphabar", "ᾱ", r"\bar\alpha"), ("Ktilde", "K̃", r"\tilde{K}"), ("K0", "K₀", "K_0"),
    ("D2", "D⁽²⁾", "D^{(2)}"), ("epsilon", "ε", r"\varepsilon"), ("xi_1", "ξ₁", r"\xi_1"),
    ("theta_max", "θ_max", r"\theta_{\mathrm{max}}"), ("margin", "margin", r"\mathrm{margin}"),
    ("two_words", "two_words", r"\mathrm{two\_words}"),
    (r"\mathcal{L}", r"\mathcal{L}", r"\mathcal{L}"),
]  # fmt: skip


def test_names() -> None:
    for name, as_text, as_latex in NAMES:
        variable = cp.Variable(name=name)
        assert text_expression(variable) == unicodedata.normalize("NFC", as_text)
        assert latex_expression(variable) == as_latex
        assert "\\" not in only_text(mathml(as_latex))


CONSTRAINTS = [
    ({"c": alpha >= 0}, ["α ≥ 0  (c)"]),
    ({"high": alpha <= 1, "low": alpha >= -C}, ["-C ≤ α ≤ 1  (low, high)"]),
    ({"a": alpha >= 0, "x": xi <= C}, ["α ≥ 0  (a)", "ξ ≤ C  (x)"]),
    ({"a": alpha >= 0, "c": alpha >= -1}, ["α ≥ 0   (a)", "α ≥ -1  (c)"]),
    ({"c": Q @ alpha + b * y >= 1 - xi}, ["Qα + b y ≥ e - ξ  (c)"]),
    ({"c": cp.Constant(0) == y @ alpha}, ["yᵀα = 0  (c)"]),
    ({"c": alpha == 1}, ["α = e  (c)"]),
    (
        {"c": delta >= Delta.T @ alpha, "d": alphabar <= betabar},
        ["Δᵀα ≤ δ e  (c)", "ᾱ ≤ β̄      (d)"],
    ),
    ({"c": X >> 0}, ["X ⪰ 0  (c)"]),
    ({"c": X >> K}, ["X - K ⪰ 0  (c)"]),
    ({"c": cp.SOC(b, alpha)}, ["‖α‖₂ ≤ b  (c)"]),
    ({"c": cp.ExpCone(b, b, delta)}, ["b exp(b/b) ≤ δ  (c)"]),
]


def test_constraints() -> None:
    for subject_to, lines in CONSTRAINTS:
        *printed, sizes = text(declared("P", "minimize", b, subject_to)).splitlines()[2:]
        assert [line[14:] for line in printed] == lines
        assert sizes.startswith("  with        ")
        assert "b ∈ R" in sizes
        assert printed[0][:14] == "  subject to  "


def test_variables_stand_in_the_order_in_which_the_model_makes_them() -> None:
    for atoms in (algebra, cp):
        w, offset = atoms.Variable(2, name="w"), atoms.Variable(name="b")
        slack = atoms.Variable(2, name="xi")
        goal = atoms.sum(slack) + atoms.sum_squares(w)
        rows = {"margin": w + offset >= 1 - slack}
        program = declared("P", "minimize", goal, rows)
        assert list(program.variables) == ["w", "b", "xi"]
        assert r"\min\limits_{w, b, \xi}" in latex(program)


def width(printed: str) -> int:
    return max(sum(not unicodedata.combining(c) for c in line) for line in printed.splitlines()[1:])


def test_a_program_fits_in_80_columns_where_its_formulas_do() -> None:
    subject_to = {
        "the_weights_of_both_classes_are_balanced": y @ alpha == 0,
        "margins_of_all_points": cp.multiply(y, K @ (alpha - xi) + b) >= 1 - xi - Q @ u,
        "lower": alpha >= 0,
        "name_" * 12: cp.multiply(y, K @ (alpha - xi)) + b >= 1,
    }
    program = declared("P", "minimize", b, subject_to)
    expected = """\
P
  minimize    b
  subject to  yᵀα = 0  (the_weights_of_both_classes_are_balanced)
              y∘(K(α - ξ) + b e) ≥ e - ξ - Qu  (margins_of_all_points)
              α ≥ 0                            (lower)
              y∘K(α - ξ) + b e ≥ 1
                (name_name_name_name_name_name_name_name_name_name_name_name_)
  with        α ∈ R⁴, u ∈ R⁴, ξ ∈ R⁴, b ∈ R, y ∈ R⁴, Q ∈ R^(4×4), K ∈ R^(4×4)"""
    assert text(program) == expected
    assert width(expected) < 80


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_fits_on_one_line(name: str) -> None:
    program = PROGRAMS[name]
    line = program.formula()
    assert "\n" not in line
    assert line.startswith(f"{program.sense[:3]} ")
    for row in text(program).splitlines():
        if row[2:].startswith(("minimize", "maximize", "subject to", "where")):
            assert row[14:].partition("  ")[0] in line


@pytest.mark.parametrize(
    "formulation",
    [*iopt.available_formulations(), iopt.ESVM(energy=0.7), iopt.ESVM(rank=1), iopt.ESVM(rank=2)],
    ids=str,
)
def test_no_declaration_shows_a_backslash(formulation: Any) -> None:
    if isinstance(formulation, str):
        formulation = getattr(iopt, formulation)()
    K = np.array([[1.0, 0.5, -1.0], [0.5, -1.0, 0.0], [-1.0, 0.0, 1.0]])
    labels = {"classification": [1, 1, -1], "regression": [0.5, 1.0, -1.0]}
    problem = iopt.KernelProblem(K, labels.get(formulation.task))
    assert "\\" not in only_text(mathml(formulation.declare(problem).latex()))


def test_long_formulas_are_broken_between_their_terms() -> None:
    terms = [k * cp.norm1(alpha - xi) * cp.sum_squares(Q @ u - k) for k in (3, 5, 7)]
    program = declared("P", "minimize", sum(terms) + b, {"all": sum(terms) <= b})
    expected = """\
P
  minimize    3 ‖α - ξ‖₁ ‖Qu - 3 e‖₂² + 5 ‖α - ξ‖₁ ‖Qu - 5 e‖₂²
                + 7 ‖α - ξ‖₁ ‖Qu - 7 e‖₂² + b
  subject to  3 ‖α - ξ‖₁ ‖Qu - 3 e‖₂² + 5 ‖α - ξ‖₁ ‖Qu - 5 e‖₂²
                + 7 ‖α - ξ‖₁ ‖Qu - 7 e‖₂² ≤ b  (all)
  with        α ∈ R⁴, u ∈ R⁴, ξ ∈ R⁴, b ∈ R, Q ∈ R^(4×4)"""
    assert text(program) == expected
    assert width(expected) < 80


def test_what_is_built_into_a_variable_is_shown_too() -> None:
    t = cp.Variable(2, name="t", bounds=[0, 1])
    S = cp.Variable((2, 2), name="S", PSD=True)
    w = cp.Variable(2, name="w", boolean=True)
    T = cp.Variable((2, 2), name="T", symmetric=True)
    program = declared("P", "minimize", cp.sum(t) + cp.trace(S) + cp.sum(w) + cp.trace(T))
    lines = [line[14:].split("  ")[0] for line in text(program).splitlines()[2:-1]]
    assert lines == ["0 ≤ t ≤ 1", "S ⪰ 0", "w ∈ {0, 1}²", "T = Tᵀ"]


def test_legends_name_every_symbol_that_is_printed() -> None:
    assert list(legend(PROGRAMS["SVMDual"])) == ["e", "alpha", "Q", "y", "C"]
    assert list(PROGRAMS["SVMDual"].legend()) == ["e", "α", "Q", "y", "C"]
    assert legend(PROGRAMS["LPSVM"]).items() <= GLOSSARY.items()
    # A constant is not taken for a variable of the papers.
    bound = cp.Constant(10.0, name="u")
    assert legend(declared("P", "maximize", cp.sum(alpha), {"upper": alpha <= bound})) == {
        "e": GLOSSARY["e"], "alpha": GLOSSARY["alpha"], "u": "upper bound of each entry of α",
    }  # fmt: skip
    # Symbols of no paper are described by shape.
    other, t = cp.Constant(np.arange(3.0), name="v"), cp.Variable(3, name="t")
    program = declared("P", "minimize", other @ t, {"c": t >= np.arange(3.0), "d": t <= [1, 3, 2]})
    assert legend(program) == {
        "v": "constant of shape (3,)", "t": "variable of shape (3,)",
        "c": "constant without a name of shape (3,): (0, 1, 2)",
        "c2": "constant without a name of shape (3,): (1, 3, 2)",
    }  # fmt: skip
    end = "c ≤ t ≤ c₂  (c, d)\n  with        t ∈ R³, v ∈ R³, c = (0, 1, 2), c₂ = (1, 3, 2)"
    assert text(program).endswith(end)


def test_a_letter_has_the_meaning_that_it_has_in_its_formulation() -> None:
    data = {"classification": [1, 1, -1], "regression": [0.5, 1.0, -1.0]}
    said = {}
    for name in iopt.available_formulations():
        formulation = getattr(iopt, name)()
        problem = iopt.KernelProblem(np.diag([1.0, -1.0, 1.0]), data.get(formulation.task))
        said[name] = formulation.declare(problem).legend()
        assert not any("constant" in told for told in said[name].values()), name
    assert said["SVMDual"]["C"] == said["KSVM"]["C"] == "upper bound of each entry of α"
    assert said["LPSVM"]["C"] == said["SeparabilitySVM"]["C"] == "penalty of slack or loss"
    assert said["ConvexHullDual"]["μ"] == "upper bound of each entry of ᾱ"
    assert said["ConvexHullPrimal"]["μ"] == "penalty of slack"
    # The margins of the hulls are not compared with 1, but with the levels of two planes.
    assert "short of 1" in said["LPSVM"]["ξ"]
    assert "plane of its class" in said["ConvexHullPrimal"]["ξ"]
    assert "proxy" not in said["OneClassLP"]["ρ"] + said["OneClassLP"]["ξ"]
    assert said["SVMDual"]["α"] == "example weights"
    assert "either sign" in said["KernelLogistic"]["α"]
    assert "either sign" in said["SeparabilitySVM"]["α"]


def test_symbols_that_share_a_name_are_printed_apart() -> None:
    """Only what is one variable, or has one value, is one letter."""
    alpha, t = algebra.Variable(2, name="alpha"), algebra.Variable(name="C")
    small, again, large = (algebra.Constant(value, name="mu") for value in (2.0, 2.0, 5.0))
    model = algebra.Model(
        maximize=algebra.sum(alpha) + t - np.array([1.0, 3.0]) @ alpha,
        subject_to={
            "upper": alpha <= small, "total": algebra.sum(alpha) <= large, "single": t <= again,
            "other": t <= algebra.Constant(7.0, name="C"),
        },
    )  # fmt: skip
    program = model.program("Names", compiled=None)
    expected = "max eᵀα + C - cᵀα  s.t. α ≤ μ, eᵀα ≤ μ₂, C ≤ μ, C ≤ C₂;  μ = 2, μ₂ = 5, C₂ = 7"
    assert program.formula() == expected
    assert r"C \le C_2" in program.latex()
    assert {"μ", "μ₂", "C", "C₂"} <= set(program.legend())


def test_slices_of_sums_have_brackets() -> None:
    """In text, LaTeX and MathML, and in messages, whose Python means the same slice."""
    a, b = algebra.Variable(3, name="a"), algebra.Variable(name="b")
    X, (K, z) = algebra.Variable((2, 3), name="X"), algebra.constants(K=np.eye(3), z=np.ones(3))
    cases = {
        "(a - z)[1:]": ((a - z)[1:], "(a - z)[1:]"),
        "(Ka + b e)[:2]": ((K @ a + b)[:2], "(K @ a + b)[:2]"),
        "(Ka)[0]": ((K @ a)[0], "(K @ a)[0]"),
        "(Xᵀ)[0, :]": (X.T[0, :], "X.T[0, :]"),
        "(X + eeᵀ)[:, 1:]": ((X + 1)[:, 1:], "(X + 1.0)[:, 1:]"),
        "(z∘a)[::2]": (algebra.multiply(z, a)[::2], "(z * a)[::2]"),
        "a[1:][0]": (a[1:][0], "a[1:][0]"),
    }
    for printed, (expression, python) in cases.items():
        assert Printer(TEXT).show(expression) == printed
        assert str(expression) == python
        typeset = latex_expression(expression)
        assert typeset.count("(") == typeset.count(")") == printed.count("(")
        assert typeset.endswith(printed[printed.index("[") :])
        assert "".join(ElementTree.fromstring(mathml(typeset)).itertext()).count("(") == (
            printed.count("(")
        )
