"""Names of variables and data as symbols: Greek letters, subscripts, and two that look alike."""

from __future__ import annotations

import unicodedata
from typing import Any

import cvxpy
import numpy as np
import pytest

import indefinite_opt.algebra as cp
from indefinite_opt.algebra.notation import LATEX, TEXT, symbol
from indefinite_opt.algebra.printing import Printer

NAMES = [
    ("alpha", "α", r"\alpha"), ("lam", "λ", r"\lambda"), ("lambda_", "λ", r"\lambda"),
    ("lambda", "λ", r"\lambda"), ("lmbda", "λ", r"\lambda"), ("Lam", "Λ", r"\Lambda"),
    ("eps", "ε", r"\varepsilon"), ("epsilon", "ε", r"\varepsilon"), ("Omega", "Ω", r"\Omega"),
    ("psi", "ψ", r"\psi"), ("pi", "π", r"\pi"), ("eta", "η", r"\eta"),
    ("gammaA", "γ_A", r"\gamma_A"), ("gamma_A", "γ_A", r"\gamma_A"),
    ("gammaMax", "γ_Max", r"\gamma_{\mathrm{Max}}"), ("nuSVM", "ν_SVM", r"\nu_{\mathrm{SVM}}"),
    ("lamA", "λ_A", r"\lambda_A"), ("alpha1", "α₁", r"\alpha_1"), ("lam2", "λ₂", r"\lambda_2"),
    ("xi_12", "ξ₁₂", r"\xi_{12}"), ("mu_k", "μ_k", r"\mu_k"), ("K_sigma", "K_σ", r"K_{\sigma}"),
    ("alpha_beta", "α_β", r"\alpha_{\beta}"), ("max_mu", "max_μ", r"\mathrm{max}_{\mu}"),
    ("loss_1", "loss₁", r"\mathrm{loss}_1"), ("x_1_2", "x_1,2", "x_{1,2}"),
    ("rho_plus", "ρ₊", r"\rho_+"), ("Cminus", "C₋", "C_-"), ("G_", "G", "G"), ("_w", "w", "w"),
    ("K0", "K₀", "K_0"), ("sigmabar", "σ̄", r"\bar\sigma"), ("sigma_hat", "σ̂", r"\hat\sigma"),
    ("y_tilde", "ỹ", r"\tilde{y}"), ("beta_bar_2", "β̄₂", r"\bar\beta_2"), ("α", "α", r"\alpha"),
    # Words are no letters, although they begin as one.
    ("alphabet", "alphabet", r"\mathrm{alphabet}"), ("pin", "pin", r"\mathrm{pin}"),
    ("lambdas", "lambdas", r"\mathrm{lambdas}"), ("etas", "etas", r"\mathrm{etas}"),
    ("nuance", "nuance", r"\mathrm{nuance}"), ("what", "what", r"\mathrm{what}"),
    ("epsilons", "epsilons", r"\mathrm{epsilons}"), ("piece", "piece", r"\mathrm{piece}"),
    ("lamp", "lamp", r"\mathrm{lamp}"), ("two_words", "two_words", r"\mathrm{two\_words}"),
    ("beta_version", "β_version", r"\beta_{\mathrm{version}}"),
    # Characters that mean something in LaTeX.
    ("a%", "a%", r"\mathrm{a\%}"), ("my name", "my name", r"\mathrm{my\ name}"),
    ("a{b", "a{b", r"\mathrm{a\{b}"), ("_", "_", r"\mathrm{\_}"), ("a\nb", "a b", r"\mathrm{a\ b}"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "as_text", "as_latex"), NAMES, ids=[ascii(row[0]) for row in NAMES]
)
def test_a_name_is_a_symbol(name: str, as_text: str, as_latex: str) -> None:
    assert symbol(name, TEXT).body == unicodedata.normalize("NFC", as_text)
    assert symbol(name, LATEX).body == as_latex
    assert cp.mathml(as_latex).startswith("<math")


@pytest.mark.parametrize("atoms", [cp, cvxpy])
def test_names_that_print_alike_stay_apart(atoms: Any) -> None:
    first, second = (atoms.Variable(name=name) for name in ("lam", "lambda_"))
    third, single = atoms.Constant(2.0, name="lambda"), atoms.Constant(3.0, name="x1")
    other = atoms.Variable(name="x_1")
    model = cp.Model(
        minimize=first + 2 * second,
        subject_to={"a": first >= third, "b": second >= 1, "c": other >= single},
        meanings={"lambda_": "the second one", "lambda": "a bound"},
    )
    program = model.program("P", compiled=None)
    assert program.formula() == (
        "min λ + 2 λ₂  s.t. λ ≥ λ₃, λ₂ ≥ 1, x₁ ≥ x_1,2;  λ₃ = 2, x_1,2 = 3"
    )
    assert r"\lambda + 2 \lambda_2" in program.latex()
    assert r"x_1 \ge x_{1,2}" in program.latex()
    assert program.legend() == {
        "λ": "variable", "λ₂": "the second one", "λ₃": "a bound", "x₁": "variable",
        "x_1,2": "constant",
    }  # fmt: skip
    assert program.text().endswith("with        λ ∈ R, λ₂ ∈ R, x₁ ∈ R, λ₃ = 2, x_1,2 = 3")


def test_the_vector_of_ones_is_no_variable() -> None:
    """It is e, unless there is another e."""
    e, t = cp.Variable(3, name="e"), cp.Variable(3, name="t")
    ones = cp.Constant(np.ones(3), name="e")
    errors = cp.Model(minimize=cp.sum(e), subject_to={"low": e >= 2 - t})
    program = errors.program("P", compiled=None)
    assert program.formula() == "min 𝟏ᵀe  s.t. 2·𝟏 - t ≤ e"
    assert r"\mathbf{1}^\top e" in program.latex()
    assert program.legend()["𝟏"] == "vector of ones"
    assert program.legend()["e"] == "variable of shape (3,)"
    named = cp.Model(minimize=cp.sum(t), subject_to={"sum": ones @ t >= 1})
    assert named.program("P", compiled=None).formula() == "min eᵀt  s.t. eᵀt ≥ 1"
    assert list(named.program("P", compiled=None).legend()) == ["e", "t"]


def test_every_symbol_of_a_program_is_in_its_legend_and_in_its_text() -> None:
    x, X = cvxpy.Variable(3, name="x"), cvxpy.Variable((2, 3), name="X")
    L = cvxpy.Constant(np.arange(9.0).reshape(3, 3), name="L")
    data = {"c": np.full(3, 0.5), "weights": np.array([2.0, 1.0, 3.0])}
    c, weights = (cvxpy.Constant(value, name=name) for name, value in data.items())
    level = cvxpy.Parameter(name="level", value=4.0)
    rates = cvxpy.Parameter(3, name="rates")
    model = cp.Model(
        minimize=cvxpy.quad_over_lin(L @ x, 2) + weights @ x + np.array([1.0, 2.0, 4.0]) @ x,
        subject_to={
            "upper": x <= c, "level": cvxpy.sum(x) <= level, "rates": rates @ x <= 1,
            "rows": X @ x == np.array([1.0, 3.0]),
            "long": x >= np.arange(3.0) - 10 * np.arange(3.0) ** 2,
        },
        meanings={"L": "Laplacian of the graph"},
    )  # fmt: skip
    program = model.program("P", compiled=None)
    assert program.legend() == {
        "L": "Laplacian of the graph",
        "x": "variable of shape (3,)",
        "weights": "constant of shape (3,)",
        "c₂": "constant without a name of shape (3,): (1, 2, 4)",
        "c": "upper bound of each entry of x",
        "e": "vector of ones",
        "level": "parameter",
        "rates": "parameter of shape (3,)",
        "X": "variable of shape (2, 3)",
        "c₃": "constant without a name of shape (2,): (1, 3)",
        "c₄": "constant without a name of shape (3,): (0, -9, -38)",
    }
    told = " ".join(line.strip() for line in program.text().partition("with  ")[2].splitlines())
    assert told == (
        "x ∈ R³, X ∈ R^(2×3), L ∈ R^(3×3), weights ∈ R³, c₂ = (1, 2, 4), c = ½ e ∈ R³, rates ∈ R³, "
        "c₃ = (1, 3), c₄ = (0, -9, -38), level = 4"
    )
    with_data = program.latex(with_data=True)
    assert r"\text{with} & x \in \mathbb{R}^3,\ X \in \mathbb{R}^{2 \times 3}," in with_data
    assert r"c = \tfrac{1}{2} \mathbf{e} \in \mathbb{R}^3" in with_data
    assert with_data.startswith(program.latex().removesuffix("\n\\end{array}"))
    for line in with_data.splitlines():
        assert line.count("{") == line.count("}")
    assert program._repr_html_() == cp.mathml(with_data)
    # Of data of any size, no size is told.
    without = program.legend(with_data=False)
    assert (without["c₂"], without["X"]) == (
        "constant without a name, a vector",
        "variable, a matrix",
    )


def test_a_letter_of_the_papers_is_explained_only_where_it_can_be_the_same() -> None:
    P, rho = cp.constants(P=np.ones((2, 3)) + np.eye(2, 3), rho=2.0)
    x, r, K = cp.Variable(3, name="x"), cp.Variable(2, name="r"), cp.Variable((2, 2), name="K")
    rows = {"r": r == P @ x, "K": K <= 1}
    model = cp.Model(minimize=rho * cp.sum_squares(r), subject_to=rows)
    assert model.program("P", compiled=None).legend() == {
        "ρ": "constant", "r": "variable of shape (2,)", "P": "constant of shape (2, 3)",
        "x": "variable of shape (3,)", "K": "variable of shape (2, 2)",
    }  # fmt: skip


def test_places_in_vectors_are_counted_as_in_python() -> None:
    x, X = cvxpy.Variable(9, name="x"), cvxpy.Variable((3, 3), name="X")
    mask = np.arange(9) % 2 == 0
    shown = {
        "xᵀ": x[None, :], "x": x[:, None], "x[[0, 2]]": x[[0, 2]], "x[[0, 2, 4, 6, 8]]": x[mask],
        "x[[0, 1, …, 7]]": x[list(range(8))], "X[[0, 1], [1, 2]]": X[[0, 1], [1, 2]],
        "(-x)[1:]ᵀ": (-x)[None, 1:],
    }  # fmt: skip
    for as_text, expr in shown.items():
        assert Printer(TEXT).show(cp.converted(expr)) == as_text
    assert cp.latex_expression(x[list(range(8))]) == r"x[[0, 1, \ldots, 7]]"
