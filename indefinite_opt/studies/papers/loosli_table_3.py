"""Loosli, Ong & Canu (2013), Table 3: nine methods on dissimilarities as kernels."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from indefinite_opt.errors import ParameterError
from indefinite_opt.problem import Kernel, KernelProblem, datasets
from indefinite_opt.studies.data import Data
from indefinite_opt.studies.papers import (
    Computation,
    Deviation,
    Entry,
    Missing,
    PaperStudy,
    StandIn,
    published,
)
from indefinite_opt.studies.papers._loosli import (
    CHOICES,
    NOTES,
    PAPER,
    SPECTRA,
    methods,
    protocol,
    smallest_eigenvalue,
)
from indefinite_opt.studies.papers._loosli import entry as table_entry
from indefinite_opt.studies.study import Study

NUMBERS = published("""
                   min eig      ESVM          ESVM-L        KSVM          RVM           Indefinite SVM  LP SVM        Abs eigs      Trunc eigs    Shift eigs
  Balls3D          -2.8894e+03  53.90 (2.47)  53.90 (2.47)  53.98 (1.58)  47.40 (0.82)  49.99 (0.01)    53.30 (3.86)  45.89 (2.40)  45.10 (1.54)  44.41 (2.07)
  GaussM1 linear   -1.8739e+03  81.94 (0.43)  81.94 (0.43)  83.95 (0.09)  82.40 (0.37)  -               -             17.67 (0.42)  16.54 (0.92)  16.89 (0.21)
  GaussM02         -2.1096e+08  73.98 (0.70)  73.98 (0.70)  78.75 (0.84)  79.54 (0.51)  -               -             23.42 (0.78)  38.31 (0.76)  16.24 (0.29)
  CatCortex,2vs1   -24.61       95.71 (2.30)  95.71 (2.30)  63.59 (5.27)  90.47 (2.96)  55.46 (0.10)    81.31 (8.12)  8.31 (1.07)   26.13 (8.71)  10.12 (2.53)
  Protein,2vs2     -322.34      99.91 (0.21)  99.91 (0.21)  48.54 (1.43)  98.21 (0.39)  52.11 (0.00)    98.59 (1.10)  0.09 (0.21)   7.98 (6.23)   1.87 (0.66)
  CoilYork,2vs2    -9.4559e+03  75.83 (1.87)  75.83 (1.87)  65.00 (2.22)  74.16 (3.40)  -               70.55 (6.19)  24.44 (4.38)  30.06 (1.58)  31.04 (0.67)
  NewsGroups,2vs2  -16.39       87.80 (0.32)  87.80 (0.32)  71.16 (0.97)  84.40 (1.32)  50.83 (0.12)    65.36 (3.48)  12.06 (0.71)  17.93 (4.79)  14.06 (0.84)
  PolyDisH57       -535.96      99.75 (0.08)  99.75 (0.08)  63.21 (0.38)  98.90 (0.18)  -               -             8.72 (0.40)   15.67 (0.77)  18.77 (0.26)
""")  # noqa: E501

DRAWN_GAUSSIANS = (
    "A sample of our own: 200 objects are classified, 2000 as in the paper have the smallest "
    "eigenvalue. Of the published set only its kind is known, two normal classes in 20 dimensions "
    "(Duin & Pekalska, 2010). With means 2 apart the eigenvalues of both sets differ from the "
    "printed ones by .4 %."
)


def _two_classes(name: str, classes: tuple[str, ...], kernel: Kernel | None) -> KernelProblem:
    """The dissimilarities of several classes as a kernel, some of them against the rest."""
    if kernel is not None:
        raise ParameterError("kernel", "none, since D is the kernel", str(kernel))
    parts = [datasets.load(f"{name}-{letter}") for letter in classes]
    labels = np.max([part.y for part in parts], axis=0)
    return KernelProblem.from_dataset(dataclasses.replace(parts[0], y=labels), form="raw")


SPECTRA_BOUND = 0.01
"""C of the three transformations of the spectrum."""

DATA = {
    "Protein,2vs2": Data(functools.partial(_two_classes, "protein", ("HB", "M"))),
    "CatCortex,2vs1": Data(functools.partial(_two_classes, "catcortex53", ("V", "S"))),
    "CoilYork,2vs2": Data("coilyork", options={"form": "raw"}),
    "Balls3D": Data("balls", options={"form": "raw"}),
    "GaussM1 linear": Data("gaussians(n=200)", options={"form": "raw"}),
    "GaussM02": Data("gaussians(n=200, p=0.2)", options={"form": "raw"}),
}
GAUSSIANS = ("GaussM1 linear", "GaussM02")
WHOLE = {
    **DATA,
    "GaussM1 linear": Data("gaussians", options={"form": "raw"}),
    "GaussM02": Data("gaussians(p=0.2)", options={"form": "raw"}),
}
"""With the number of objects that the eigenvalues are of."""


def experiments(quick: bool) -> dict[str, Study | Computation]:
    """The accuracies, and the smallest eigenvalues of all points."""

    def study(names: tuple[str, ...], *chosen: str) -> Study:
        return Study(
            data={name: DATA[name] for name in names},
            methods=methods(quick, *chosen, spectra=SPECTRA_BOUND),
            protocol=protocol(quick),
        )

    eigenvalues = Computation(
        smallest_eigenvalue,
        {name: {"data": data} for name, data in (DATA if quick else WHOLE).items()},
    )
    if quick:
        return {"accuracy": study(("CatCortex,2vs1",)), "min eig": eigenvalues}
    small = tuple(name for name in DATA if name not in GAUSSIANS)
    return {
        "accuracy": study(small),
        "GaussM": study(GAUSSIANS, "ESVM", "KSVM", "RVM", *SPECTRA),
        "min eig": eigenvalues,
    }


def entry(row: str, column: str) -> Entry:
    """The experiment that has a data set."""
    return table_entry(column, "GaussM" if row in GAUSSIANS else "accuracy")


STUDY = PaperStudy(
    paper=PAPER,
    item="Table 3",
    place="section 6.3.2",
    title="Accuracy of nine methods with dissimilarities as kernels",
    experiments=experiments,
    minutes=5,
    quick_minutes=0.2,
    data=("protein", "catcortex53", "coilyork", "synthetic"),
    numbers=NUMBERS,
    entries=entry,
    choices=(
        "The caption calls the numbers in brackets variances; they are read as standard "
        "deviations, as in Table 2, which is the stricter reading.",
        "The kernel is the matrix D of dissimilarities itself: for protein this gives the printed "
        "eigenvalue to all digits, of all points and not of training points.",
        "The paper does not say which classes it joined. IndefiniteSVM on protein is 52.11 with no "
        "deviation, which is 111 of 213: the share of HA and M, and of HB and M. The latter two "
        "are joined here.",
        *CHOICES,
        "That C is .01, with which Shift on protein is 1.87 as printed; with larger ones it is 47.",
    ),
    notes=NOTES
    | {
        ("Protein,2vs2", "KSVM"): Deviation(
            "Ours is the share of the larger class, 111 of 213, and the paper's is near that of "
            "the smaller one, 47.9: Algorithm 2 leaves one class, and which one is chance."
        ),
        "Balls3D": StandIn(
            "A sample of our own by DisTools' generator, with its default radii of 1 and 2 in a "
            "cube of side 100; those of the published sample are not known."
        ),
        "GaussM1 linear": StandIn(DRAWN_GAUSSIANS),
        "GaussM02": StandIn(DRAWN_GAUSSIANS),
        "PolyDisH57": Missing(
            "4000 Hausdorff distances of random pentagons and heptagons; how these were drawn and "
            "scaled is not published, and the sample could not be found."
        ),
        "NewsGroups,2vs2": Missing("The dissimilarities of the 600 messages could not be found."),
        "CatCortex,2vs1": StandIn(
            "The later version of the data with 53 of the 65 areas; visual and somato-motor areas "
            "against auditory and frontolimbic ones, 36 of 65 in the paper's version, since its "
            "IndefiniteSVM shows 55.46. With C = .01 the transformed spectra classify these few "
            "areas as one class."
        ),
        "CoilYork,2vs2": StandIn(
            "The training half of one pair of the four objects, 144 images, made symmetric; the "
            "distances within the other half are lost."
        ),
    },
)
