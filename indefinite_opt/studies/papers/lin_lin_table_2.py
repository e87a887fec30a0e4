"""Lin & Lin (2003), Table 2: support vectors and times of the models of Table 1."""

from __future__ import annotations

from indefinite_opt.studies.papers import Deviation, Entry, PaperStudy, published
from indefinite_opt.studies.papers._lin_lin import (
    LONG,
    PAPER,
    PRINTED_SMO,
    SCALED,
    SETS,
    experiment,
    nested,
)

NUMBERS = published("""
           #SV SVM  #SV KLR-NT  #SV KLR-CG  train SVM  train KLR-NT  train KLR-CG  test SVM  test KLR-NT  test KLR-CG
  heart    115.2    216         216         0.02       0.12          0.45          0.01      0.02         0.02
  german   430.2    800         800         0.51       5.76          73.3          0.07      0.10         0.11
  diabete  338.4    614.4       614.4       0.09       2.25          31.7          0.03      0.04         0.05
  a1a      492      1284        1284        0.39       46.7          80.3          0.08      0.25         0.19
""")  # noqa: E501

METRICS = {"#SV": "support", "train": "seconds", "test": "prediction_seconds"}

SUPPORT_SPREAD = 0.1
"""Share of the number of support vectors that counts as a standard deviation: it depends on the C
that is chosen, and those of nearly the same accuracy differ by more."""


def entry(row: str, column: str) -> Entry:
    """A metric of the models; times depend on the machine."""
    kind, _, method = column.partition(" ")
    return Entry(
        method,
        METRICS[kind],
        experiment=experiment(row, method),
        relative=SUPPORT_SPREAD,
        counted=kind == "#SV",
    )


STUDY = PaperStudy(
    paper=PAPER,
    item="Table 2",
    place="section 7",
    title="Number of support vectors, and seconds of training and testing, of the best models",
    experiments=nested,
    long=LONG,
    minutes=20,
    quick_minutes=0.3,
    data=SETS,
    numbers=NUMBERS,
    entries=entry,
    choices=(
        SCALED,
        PRINTED_SMO,
        "The models are those of Table 1; none is trained again if they are in the store.",
        "Times are those of this machine; the paper's are of a Pentium IV with 2.8 GHz. Testing "
        "does not include the kernel values.",
    ),
    notes={
        ("*", "#SV SVM"): Deviation(
            "The number of support vectors varies with the parameters that are chosen, and several "
            "of very different C have nearly the same accuracy."
        )
    },
)
