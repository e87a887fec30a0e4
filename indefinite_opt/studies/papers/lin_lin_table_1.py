"""Lin & Lin (2003), Table 1: sigmoid kernels against Gaussian ones, and logistic regression."""

from __future__ import annotations

from indefinite_opt.studies.papers import Entry, PaperStudy, published
from indefinite_opt.studies.papers._lin_lin import (
    LONG,
    PAPER,
    PRINTED_SMO,
    SCALED,
    SETS,
    nested,
    percentage,
)

NUMBERS = published("""
           RBF SVM  SVM   KLR-NT  KLR-CG
  heart    83.0     83.0  83.7    83.7
  german   76.6     76.1  75.6    75.6
  diabete  77.6     77.3  77.1    76.7
  a1a      83.6     83.1  83.7    83.8
""")


def entry(row: str, column: str) -> Entry:
    """The Gaussian kernel makes a method of its own."""
    return percentage(row, "RBF" if column == "RBF SVM" else column)


STUDY = PaperStudy(
    paper=PAPER,
    item="Table 1",
    place="section 7",
    title="Accuracy of SVMs with Gaussian and sigmoid kernels, and of logistic regression",
    experiments=nested,
    long=LONG,
    minutes=20,
    quick_minutes=0.3,
    data=SETS,
    numbers=NUMBERS,
    entries=entry,
    choices=(SCALED, PRINTED_SMO, "Of parameters that score equally the smallest C is chosen."),
)
