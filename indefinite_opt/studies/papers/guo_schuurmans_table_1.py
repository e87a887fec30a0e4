"""Guo & Schuurmans (2009), Table 1: linear and Gaussian kernels."""

from __future__ import annotations

from typing import Any

from indefinite_opt.studies.methods import Grid
from indefinite_opt.studies.papers import Deviation, PaperStudy, published
from indefinite_opt.studies.papers._guo_schuurmans import (
    CHOICES,
    NOTES,
    PAPER,
    SETS,
    data,
    protocol,
)
from indefinite_opt.studies.study import Study

NUMBERS = published("""
              L-α0   L-α1   L-α2   RBF-α0  RBF-α1  RBF-α2
  australian  0.613  0.815  0.843  0.729   0.784   0.713
  breast      0.928  0.969  0.970  0.947   0.971   0.962
  cleve       0.617  0.794  0.802  0.817   0.819   0.792
  corral      0.571  0.900  0.929  0.907   0.936   1.000
  crx         0.546  0.850  0.837  0.649   0.770   0.677
  diabetes    0.651  0.754  0.705  0.741   0.705   0.730
  flare       0.829  0.829  0.760  0.800   0.815   0.829
  german      0.700  0.705  0.666  0.498   0.628   0.700
  glass2      0.756  0.781  0.819  0.892   0.867   0.864
  heart       0.780  0.824  0.835  0.764   0.794   0.774
  hepatitis   0.813  0.863  0.863  0.725   0.825   0.825
  mofn-3-7    0.779  0.781  0.805  0.704   0.776   0.857
  pima        0.651  0.763  0.736  0.772   0.701   0.694
  vote        0.615  0.931  0.935  0.881   0.913   0.875
""")

BOUNDS = [1.05, 1.2, 1.5, 2, 3, 5, 8]
"""Bounds β as multiples of the least feasible one, from nearly uniform weights to a hard margin."""


CODES = Deviation(
    "Without an offset the score depends on how attributes are coded, which the paper does not "
    "say. Codes from 0, from 1, and one indicator for each code give .71, .55 and .72 on "
    "australian, .55, .35 and .92 on breast, .48, .47 and .75 on cleve, .73, .54 and .67 on glass2."
)
DISTANCES = (
    "exp(-d²) on codes is far from 0 only for records that differ in one or two attributes by one "
    "code, so that it depends on the cut points and the order of the codes in that version of the "
    "data."
)
BOUNDED = Deviation(
    f"{DISTANCES} No bound from 1.02 to 20 times the least value comes within 3 points."
)

EXPLAINED: dict[Any, Deviation] = {
    **{(row, "L-α0"): CODES for row in ("australian", "breast", "cleve", "corral", "glass2")},
    ("*", "RBF-α0"): Deviation(DISTANCES),
    ("*", "RBF-α1"): BOUNDED,
    ("*", "RBF-α2"): BOUNDED,
    ("cleve", "L-α1"): Deviation(
        "β of 1.5 times the least value gives .79; the folds choose smaller ones, which are better."
    ),
    ("mofn-3-7", "L-α2"): Deviation(
        "The classes are linearly separable, and all β from twice the least value separate them; "
        "with the least one the mean is .94 already. The paper's number is that of its α1."
    ),
    ("german", "L-α2"): Deviation(
        "β of two times the least value, and larger ones, give .66; the folds choose smaller ones."
    ),
    ("flare", "L-α2"): Deviation(
        "No bound from 1.02 to 20 times the least value gives less than .81."
    ),
    ("german", "RBF-α1"): Deviation(
        "All bounds choose one class, which the paper's α2 does, too."
    ),
}  # fmt: skip


def experiments(quick: bool) -> dict[str, Study]:
    """Three choices of the weights with each of the kernels."""
    methods: dict[str, Grid] = {}
    bounds = BOUNDS[:4] if quick else BOUNDS
    for name, kernel in {"L": "linear", "RBF": "gaussian(gamma=1)"}.items():
        offset = name == "RBF"
        methods[f"{name}-α0"] = Grid("UniformWeights", kernel=kernel, bias=offset)
        methods[f"{name}-α1"] = Grid("GuoSchuurmansLP", kernel=kernel, relative=bounds)
        methods[f"{name}-α2"] = Grid("GuoSchuurmansQP", kernel=kernel, relative=bounds)
    return {"accuracy": Study(data=data(quick), methods=methods, protocol=protocol(quick))}


STUDY = PaperStudy(
    paper=PAPER,
    item="Table 1",
    place="section 6",
    title="Accuracy of three choices of the weights, with linear and Gaussian kernels",
    experiments=experiments,
    minutes=2,
    quick_minutes=0.1,
    data=SETS,
    numbers=NUMBERS,
    choices=(
        *CHOICES,
        "β is chosen by five folds of the training points.",
        "Uniform weights have no offset with the linear kernel, as its column of one class shows; "
        "with the Gaussian kernel they have that of least training error, which is nearer to the "
        "paper on 9 of 14 sets.",
    ),
    notes=NOTES | EXPLAINED,
)
