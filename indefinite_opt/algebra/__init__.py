"""Programs as people read them: their expressions as text, LaTeX and MathML."""

from indefinite_opt.algebra.expressions import latex_expression, mathml
from indefinite_opt.algebra.notation import symbol_text
from indefinite_opt.algebra.program import Definition, Inner, Model, Program, constants
