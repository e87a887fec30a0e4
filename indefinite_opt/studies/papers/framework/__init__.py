"""How a study of a paper is declared, found, run, compared with the paper, and shown."""

from indefinite_opt.studies.papers.framework.computation import Computation, ComputationOutcome
from indefinite_opt.studies.papers.framework.declaration import (
    Check,
    Code,
    Deviation,
    Entry,
    Impossible,
    Missing,
    PaperStudy,
    StandIn,
    Uncounted,
    declared,
    notes,
)
from indefinite_opt.studies.papers.framework.discovery import find, studies
from indefinite_opt.studies.papers.framework.pages import write_index, write_study
from indefinite_opt.studies.papers.framework.published_table import Fact, PublishedTable, published
from indefinite_opt.studies.papers.framework.reproduction import (
    Compared,
    Reproduction,
    Tally,
    reproduce,
)
from indefinite_opt.studies.papers.framework.wording import (
    duration,
    footnotes,
    grade,
    ours_text,
    summary,
)

__all__ = [
    "Check",
    "Code",
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
    "Uncounted",
    "declared",
    "duration",
    "find",
    "footnotes",
    "grade",
    "notes",
    "ours_text",
    "published",
    "reproduce",
    "studies",
    "summary",
    "write_index",
    "write_study",
]
