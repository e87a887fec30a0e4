"""Linear programs of named blocks, and what is known of those with a kernel matrix."""

from indefinite_opt.modeling.linear_programs.bounds import (
    one_class_description,
    one_norm_machine,
    plain_box,
    sensitivity_game,
)
from indefinite_opt.modeling.linear_programs.linear_program import (
    Columns,
    LinearProgram,
    Rows,
    Theorem,
)
