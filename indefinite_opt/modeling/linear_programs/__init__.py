"""Linear programs of named blocks, their units and bounds, and programs as HiGHS reads them."""

from indefinite_opt.modeling.linear_programs.bounds import (
    FactorUnits,
    KernelUnits,
    OneNormMachine,
    SensitivityGame,
    SensitivityUnits,
)
from indefinite_opt.modeling.linear_programs.linear_program import (
    Columns,
    DualUnits,
    Entries,
    LinearProgram,
    Rows,
)
from indefinite_opt.modeling.linear_programs.to_highs import (
    add_rows,
    change_costs,
    highs_model,
    run_within,
    simplex_limit,
    solved_by_highs,
)
