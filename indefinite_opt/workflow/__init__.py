"""The verbs of the public interface, and what they hand back.

`solve` and `solve_path` return a `Result`, `bound` a `Bracket`; `verify` returns a `Certificate` of
anybody's numbers. `available_solvers` says which solvers take a formulation.
"""

from indefinite_opt.workflow.bracket import Bracket, bound
from indefinite_opt.workflow.choice import available_solvers
from indefinite_opt.workflow.path import solve_path
from indefinite_opt.workflow.result import Result
from indefinite_opt.workflow.solving import solve

__all__ = [
    "Bracket",
    "Result",
    "available_solvers",
    "bound",
    "solve",
    "solve_path",
]
