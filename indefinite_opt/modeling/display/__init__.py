"""Programs as text, LaTeX and MathML, printed from their cvxpy expressions."""

from indefinite_opt.modeling.display.expressions import (
    latex,
    latex_expression,
    legend,
    mathml,
    text,
)
from indefinite_opt.modeling.display.notation import symbol_text
