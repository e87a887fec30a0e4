"""How a study of a paper is declared, found, run, compared with the paper, and shown."""

from indefinite_opt.studies.papers.framework.computation import Computation, ComputationOutcome
from indefinite_opt.studies.papers.framework.declaration import (
    Deviation,
    Entry,
    Impossible,
    Missing,
    PaperStudy,
    StandIn,
)
from indefinite_opt.studies.papers.framework.discovery import find, studies
from indefinite_opt.studies.papers.framework.published_table import Fact, PublishedTable, published
from indefinite_opt.studies.papers.framework.reproduction import (
    Compared,
    Reproduction,
    Tally,
    reproduce,
)

__all__ = [
    "Compared",
    "Computation",
    "ComputationOutcome",
    "Deviation",
    "Entry",
    "Fact",
    "Impossible",
    "Missing",
    "PaperStudy",
    "PublishedTable",
    "Reproduction",
    "StandIn",
    "Tally",
    "find",
    "published",
    "reproduce",
    "studies",
]
