"""Pictures drawn from plain data: spectra, brackets, comparisons, decision regions, convergence.

The protocols `ResultLike`, `BracketLike` and `ComparisonLike` name the attributes that the figures
read, so that nothing here runs a solver. matplotlib is imported when the first figure is drawn.
"""

from indefinite_opt.figures.bracket import bracket_figure
from indefinite_opt.figures.comparison import CLAIM_COLORS, comparison_figure, row_labels
from indefinite_opt.figures.convergence import convergence_figure
from indefinite_opt.figures.inputs import BracketLike, ComparisonLike, ResultLike
from indefinite_opt.figures.regions import decision_regions, regions_figure
from indefinite_opt.figures.spectrum import spectrum_figure

__all__ = [
    "CLAIM_COLORS",
    "BracketLike",
    "ComparisonLike",
    "ResultLike",
    "bracket_figure",
    "comparison_figure",
    "convergence_figure",
    "decision_regions",
    "regions_figure",
    "row_labels",
    "spectrum_figure",
]
