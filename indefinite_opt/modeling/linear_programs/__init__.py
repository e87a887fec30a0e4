"""Linear programs of named blocks, and what is known of those with a kernel matrix."""

from indefinite_opt.modeling.linear_programs.bounds import (
    OneClassDescription,
    OneNormMachine,
    SensitivityGame,
)
from indefinite_opt.modeling.linear_programs.linear_program import Columns, LinearProgram, Rows
