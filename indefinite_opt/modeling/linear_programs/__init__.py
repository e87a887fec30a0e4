"""Linear programs of named blocks, their units and bounds, and programs as HiGHS reads them."""

from indefinite_opt.modeling.linear_programs.bounds import (
    KernelUnits,
    OneNormMachine,
    SensitivityGame,
    SensitivityUnits,
)
from indefinite_opt.modeling.linear_programs.kernel_programs import (
    box_program,
    game_program,
    one_class_program,
    one_norm_program,
)
from indefinite_opt.modeling.linear_programs.linear_program import (
    Columns,
    DualUnits,
    Entries,
    LinearProgram,
    Rows,
)
