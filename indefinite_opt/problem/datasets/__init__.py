"""Data sets of the papers, of scikit-learn and from files, and random ones of known geometry.

`load` finds one by name, `names` and `describe` list them, and the generators draw new ones.
"""

from indefinite_opt.problem.datasets.loading import describe, load, names
from indefinite_opt.problem.datasets.reading import read
from indefinite_opt.problem.datasets.scaling import scaler
from indefinite_opt.problem.datasets.synthetic import (
    Dataset,
    balls,
    checkerboard,
    gaussians,
    haasdonk_figure1a,
    haasdonk_figure1c,
    haasdonk_figure2d,
    haasdonk_figure3,
    haasdonk_figure4a,
    haasdonk_figure4b,
    haasdonk_lemma4,
)
from indefinite_opt.problem.datasets.words import edit_distance

__all__ = [
    "Dataset",
    "balls",
    "checkerboard",
    "describe",
    "edit_distance",
    "gaussians",
    "haasdonk_figure1a",
    "haasdonk_figure1c",
    "haasdonk_figure2d",
    "haasdonk_figure3",
    "haasdonk_figure4a",
    "haasdonk_figure4b",
    "haasdonk_lemma4",
    "load",
    "names",
    "read",
    "scaler",
]
