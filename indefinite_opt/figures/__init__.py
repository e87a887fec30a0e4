"""Pictures drawn from plain data: spectra, brackets, paths, comparisons, regions, convergence.

The protocols `ResultLike`, `PathLike`, `BracketLike` and `ComparisonLike` name the attributes that
the figures read, so that nothing here runs a solver. matplotlib is imported when the first figure
is drawn.
"""

from indefinite_opt.figures.bracket import bracket_figure, convergence_figure
from indefinite_opt.figures.clusters import clusters_figure
from indefinite_opt.figures.comparison import CLAIM_COLORS as CLAIM_COLORS
from indefinite_opt.figures.comparison import comparison_figure
from indefinite_opt.figures.comparison import records_of as records_of
from indefinite_opt.figures.comparison import row_labels as row_labels
from indefinite_opt.figures.comparison import with_solver as with_solver
from indefinite_opt.figures.comparison import without_solver as without_solver
from indefinite_opt.figures.described import show
from indefinite_opt.figures.dual_function import lagrangian
from indefinite_opt.figures.inputs import SCORES as SCORES
from indefinite_opt.figures.inputs import BracketLike as BracketLike
from indefinite_opt.figures.inputs import ComparisonLike as ComparisonLike
from indefinite_opt.figures.inputs import PathLike as PathLike
from indefinite_opt.figures.inputs import ResultLike as ResultLike
from indefinite_opt.figures.inputs import Score as Score
from indefinite_opt.figures.inputs import scores_of as scores_of
from indefinite_opt.figures.no_optimum import no_optimum_figure
from indefinite_opt.figures.path import path_figure
from indefinite_opt.figures.points import hulls_figure, points_figure, reduced_hull
from indefinite_opt.figures.ranks import critical_difference_figure
from indefinite_opt.figures.regions import decision_regions, regions_figure
from indefinite_opt.figures.result import result_figure
from indefinite_opt.figures.spectrum import spectrum_figure
from indefinite_opt.figures.steps import StepByStep, step_by_step
from indefinite_opt.figures.style import SIGN_COLORS as SIGN_COLORS
from indefinite_opt.figures.surface import landscape
from indefinite_opt.figures.tree import tree_figure

__all__ = [
    "StepByStep",
    "bracket_figure",
    "clusters_figure",
    "comparison_figure",
    "convergence_figure",
    "critical_difference_figure",
    "decision_regions",
    "hulls_figure",
    "lagrangian",
    "landscape",
    "no_optimum_figure",
    "path_figure",
    "points_figure",
    "reduced_hull",
    "regions_figure",
    "result_figure",
    "show",
    "spectrum_figure",
    "step_by_step",
    "tree_figure",
]
