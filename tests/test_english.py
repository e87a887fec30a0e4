"""Phrases that a reader has to read twice are kept out of the packages and their pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

BANNED = {
    r"(?<!there )\bis none\b": "say what it is not, or that there is none",
    r"\bwhich is said\b": "say who says it",
    r"\bOf (?:those|these|such|entries|all|them)\b[^.,]{0,40}\b(?:only|that|is|are)\b": (
        "begin with the subject"
    ),
    r"\bcontent with\b": "say what was met",
    r"\b[Dd]oors?\b": "say function, argument or way",
    r"\b[Rr]efuse[sd]? with a sentence\b": "name the error, and what it says",
    r"\brooms\b": "say folders, layers or space",
    r"\bas (?:it|they) stands?\b": "say unchanged, or what it is",
    r"\bproved of\b": "say proved about",
    r"\b(?:is|are|was|were) told\b": "say who says what to whom",
    r"(?:[.:;]|\"\"\")\s+Of (?!course)[a-z\d$]|\"\"\"Of ": "begin with the subject",
    r"\b(?:nobody|anybody else) (?:may|can|else)\b": "say what must not be done",
    r"\bby itself which\b|\bwithout a word\b": "say what is said, and by whom",
    r"\bhave their own reason\b": "say where each is explained",
    r"(?:^|[.] )Who (?:is|are|was|[a-z]+s)\b": "begin with what happens",
    r"\bwith another one\b[^.]*\banother\b": "say which one, and what changes",
    r"\bfirst-class\b|\bis mended\b|\bare mended\b": "use the plain word",
    r"\b[Bb]elow the table stands\b": "begin with the subject",
    r"\bthose of [^.,\n]{0,60}\bof which\b": "make two sentences",
}
"""Regular expressions, and what to write instead."""

PAGES = sorted(
    path
    for pattern in (
        "indefinite_opt/**/*.py",
        "reproduction/**/*.py",
        "docs/**/*.md",
        "*.md",
        "notebooks/*.py",
        ".github/**/*.md",
        "notebooks/*.ipynb",
    )
    for path in ROOT.glob(pattern)
    if not {"_build", "api", "commands", "gallery"} & {*path.parts}  # generated from the others
)


@pytest.mark.slow
def test_phrases_that_are_read_twice() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}: "
        f"{match.group()!r}: {better}"
        for path in PAGES
        for text in [path.read_text(encoding="utf-8")]
        for phrase, better in BANNED.items()
        for match in re.finditer(phrase, text)
    ]
    assert not found, "\n".join(found)
    assert len(PAGES) > 250
    assert ROOT / "README.md" in PAGES
    assert ROOT / ".github" / "PULL_REQUEST_TEMPLATE.md" in PAGES
