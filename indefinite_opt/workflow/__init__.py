"""The functions of the public interface, and what they return.

`solve` returns a `Result`, `solve_path` a `Path` of them, and `bound` a `Bracket`.
`available_solvers` lists the solvers of a formulation, and `show_versions` prints the versions on
which results depend. With more than two classes a `PairwiseResult` and a `PairwiseBracket` hold
those of all pairs. `certificates` holds `verify`, which certifies any point.
"""

from indefinite_opt.workflow.arguments import available_solvers, in_pairs
from indefinite_opt.workflow.bounding import PairwiseBracket, bound
from indefinite_opt.workflow.bracket import Bracket
from indefinite_opt.workflow.checking import Checks, Compared, check
from indefinite_opt.workflow.fit import misfit, training_fit
from indefinite_opt.workflow.loading import load
from indefinite_opt.workflow.pairwise import PairwiseResult, proof_of, weakest_kind
from indefinite_opt.workflow.path import Path, path_entries, solve_path
from indefinite_opt.workflow.progress import LOGGER, shown
from indefinite_opt.workflow.result import Result, kernel_values
from indefinite_opt.workflow.solving import Options, solve, solve_qp
from indefinite_opt.workflow.tables import (
    WIDTH,
    aligned,
    html_cells,
    html_table,
    latex_table,
    markdown_table,
)
from indefinite_opt.workflow.versions import show_versions
