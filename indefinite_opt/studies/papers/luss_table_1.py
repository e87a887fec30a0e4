"""Luss & d'Aspremont (2007), Table 1: extreme eigenvalues of the training kernels."""

from __future__ import annotations

from indefinite_opt.studies.cells import Row
from indefinite_opt.studies.data import Data
from indefinite_opt.studies.papers import Computation, Entry, PaperStudy, published
from indefinite_opt.studies.papers._luss import (
    CHOICES,
    FILES,
    PAPER,
    SPLITS,
    TRAINING_POINTS,
    USPS,
    data,
)
from indefinite_opt.studies.protocols import RepeatedSplit

NUMBERS = published("""
               # Train  # Test  λmin       λmax
  USPS-3-5-SS  767      773     -34.76     453.58
  USPS-4-6-SS  829      857     -37.30     413.17
  Diabetes-EP  614      154     -0.27      18.17
  Liver-EP     276      69      -1.38e-15  3.74
""")


def eigenvalues(data: Data, train: int, splits: int) -> list[Row]:
    """Sizes and extreme eigenvalues for several random divisions."""
    found = []
    for division in RepeatedSplit(train, splits, stratified=False).divisions(data.y):
        spectrum = data.problem.split(division.train, division.test).problem.spectrum
        found.append(
            {
                "# Train": division.train.size, "# Test": division.test.size,
                "λmin": spectrum.minimum, "λmax": spectrum.maximum,
            }
        )  # fmt: skip
    return found


def experiments(quick: bool) -> dict[str, Computation]:
    """All sets, or the smallest one of each kernel."""
    names, splits = (("USPS-3-5-SS", "Liver-EP"), 1) if quick else (FILES, SPLITS)
    settings = {
        name: {"data": data(name), "train": TRAINING_POINTS[name], "splits": splits}
        for name in names
    }
    return {"spectra": Computation(eigenvalues, settings)}


ROUNDING = 1e-12
"""What counts as one standard deviation of the smallest eigenvalue of liver, which is rounding."""


def entry(row: str, column: str) -> Entry:
    """Sizes are those of the paper by choice, and EP kernels are chosen by their eigenvalues."""
    chosen = column.startswith("#") or row.endswith("EP")
    if (row, column) == ("Liver-EP", "λmin"):
        return Entry(metric=column, unit=ROUNDING, counted=False)
    return Entry(metric=column, relative=0.015, counted=not chosen)


STUDY = PaperStudy(
    paper=PAPER,
    item="Table 1",
    place="page 6",
    title="Sizes of the data sets and extreme eigenvalues of the training kernels",
    experiments=experiments,
    minutes=0.2,
    quick_minutes=0.1,
    data=tuple(FILES.values()),
    numbers=NUMBERS,
    entries=entry,
    choices=CHOICES,
    notes={"USPS-3-5-SS": USPS, "USPS-4-6-SS": USPS},
)
