"""Guo & Schuurmans (2009), Table 2: a hyperbolic tangent kernel, and its transformations."""

from __future__ import annotations

from indefinite_opt.studies.methods import Grid
from indefinite_opt.studies.papers import PaperStudy, deviations, published
from indefinite_opt.studies.papers._guo_schuurmans import (
    CHOICES,
    NOTES,
    OFFSETS,
    PAPER,
    SETS,
    data,
    entry,
    protocol,
)
from indefinite_opt.studies.papers._weighted_confidences import WeightedConfidences
from indefinite_opt.studies.study import Study

NUMBERS = published("""
              denoise  flip   shift  reg-svm  α1
  australian  0.852    0.852  0.554  0.782    0.844
  breast      0.967    0.967  0.650  0.965    0.969
  cleve       0.778    0.767  0.541  0.798    0.763
  corral      0.893    0.893  0.429  0.871    0.879
  crx         0.842    0.841  0.429  0.828    0.879
  diabetes    0.758    0.759  0.651  0.759    0.699
  flare       0.829    0.698  0.829  0.828    0.829
  german      0.722    0.723  0.700  0.726    0.695
  glass2      0.768    0.765  0.540  0.781    0.781
  heart       0.827    0.827  0.553  0.837    0.815
  hepatitis   0.875    0.875  0.813  0.813    0.825
  mofn-3-7    1.000    1.000  0.779  0.816    0.813
  pima        0.756    0.763  0.651  0.766    0.735
  vote        0.935    0.935  0.615  0.928    0.921
  average     0.843    0.833  0.624  0.821    0.818
""")

BOUNDS = [1.05, 1.2, 1.5, 2, 3, 5, 8]
COSTS = [1, 10, 100, 1000, 10000]
"""The kernel varies by 10⁻³ of its size over the points, so that only large C separate them."""
PRICES = [1e4, 1e6, 1e8]
"""Prices ρ of a change of the kernel, up to those that leave nothing but the removal of negative
eigenvalues."""

EXPLAINED = deviations("""
    crx, shift/α1: The paper's numbers of crx for shift and α1, .429 and .879, are those of corral
      in the same columns: probably they were copied. A constant classifier, as shift leaves on all
      other sets, has .453 or .547 on crx.
    corral, shift: Shift leaves a constant classifier; the paper's chose the smaller class, .429,
      ours the larger one, .571.
    cleve, denoise/flip: C of 10⁵ gives .78; the folds choose smaller ones.
    glass2, denoise/flip: C of 100 gives .75, larger ones .81; the folds choose these.
    flare, flip: No C from 0.1 to 10⁵ gives less than .81, and the paper's four other methods .83.
    australian, α1: No bound from 1.05 to 3 times the least one gives above .81.
    australian, reg-svm: ρ of 10⁴ gives .82; the folds choose larger ones.
    cleve, reg-svm: All ρ and C that do not choose one class give .81 to .84.
    cleve, α1: Bounds of 1.5 and 2 times the least value give .79 and .73.
    hepatitis, reg-svm: The paper's number is that of one class, which C up to 100 give here, too;
      the folds choose larger ones.
    mofn-3-7, reg-svm: C up to 100 choose one class, .78, larger ones with ρ of 10⁸ give .91.
""")


def experiments(quick: bool) -> dict[str, Study]:
    """Spectrum transformations, the proxy kernel of (13), and the linear program."""
    kernel = "sigmoid(a=0.001, r=-1)"
    costs, bounds = (COSTS[1::2], BOUNDS[:4]) if quick else (COSTS, BOUNDS)
    methods = {
        label: Grid("SpectrumSVM", kernel=kernel, transform=transform, C=costs)
        for label, transform in {"denoise": "clip", "flip": "flip", "shift": "shift"}.items()
    }
    methods["reg-svm"] = Grid("LussDual", kernel=kernel, rho=PRICES, C=costs)
    methods["α1"] = Grid(WeightedConfidences(), kernel=kernel, relative=bounds)
    return {"accuracy": Study(data=data(quick), methods=methods, protocol=protocol(quick))}


STUDY = PaperStudy(
    paper=PAPER,
    item="Table 2",
    place="section 6",
    title="Accuracy with the kernel tanh(0.001 x·x' - 1) and its transformations",
    experiments=experiments,
    minutes=3,
    quick_minutes=0.1,
    data=SETS,
    numbers=NUMBERS,
    entries=entry,
    choices=(*CHOICES, OFFSETS, "C, ρ and β are chosen by five folds of the training points."),
    notes=NOTES | EXPLAINED,
)
