"""Many problems, formulations and solvers at once.

A `Study` declares data sets, methods over a `Grid` of parameters, and a protocol; its cells are
stored as they come. `compare` is the study of one problem. Both return a `StudyOutcome`.
A `Computation` does the same for the calls of any function.
"""

from indefinite_opt.studies import baselines
from indefinite_opt.studies.comparison import compare
from indefinite_opt.studies.computation import Computation, ComputationOutcome
from indefinite_opt.studies.data import Data
from indefinite_opt.studies.methods import Grid, as_method
from indefinite_opt.studies.methods import default_methods as default_methods
from indefinite_opt.studies.methods import has_gamma as has_gamma
from indefinite_opt.studies.metrics import METRICS
from indefinite_opt.studies.progress import bar as bar
from indefinite_opt.studies.protocols import (
    LeaveOneOut,
    Nested,
    RepeatedKFold,
    RepeatedSplit,
    SelectThenTest,
)
from indefinite_opt.studies.study import Study, StudyOutcome

__all__ = [
    "METRICS",
    "Computation",
    "ComputationOutcome",
    "Data",
    "Grid",
    "LeaveOneOut",
    "Nested",
    "RepeatedKFold",
    "RepeatedSplit",
    "SelectThenTest",
    "Study",
    "StudyOutcome",
    "as_method",
    "baselines",
    "compare",
]
