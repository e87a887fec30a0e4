"""Programs as text, LaTeX and MathML, printed from their cvxpy expressions."""

from indefinite_opt.modeling.display.expressions import latex_expression
from indefinite_opt.modeling.display.notation import symbol_text
from indefinite_opt.modeling.display.program_text import latex, legend, mathml, text
