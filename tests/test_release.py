"""Files of a release: the paper cites what it lists, and counts what there is."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_paper_cites_what_its_bibliography_lists() -> None:
    text = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    entries = (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8")
    assert set(re.findall(r"@([a-z]+\d{4})", text)) == set(re.findall(r"\{([a-z]+\d{4}),", entries))
    assert 250 <= len(text.split()) <= 1000  # what the journal asks for


def test_the_paper_counts_studies_and_references() -> None:
    import indefinite_opt as iopt
    from reproduction.declaration import studies

    text = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    assert f"The {len(studies())} tables and figures" in text
    assert f"{len(iopt.reference_library.references())} problems" in " ".join(text.split())
