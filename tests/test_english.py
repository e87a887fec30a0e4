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
    r"\bfor want of\b": "say because there is no, or not enough",
    r"\bone (?:knows|has to know|would have done)\b": "say what is known, or who does what",
    r"\b[Nn]obody\b|\b[Ee]verybody who\b|(?:[.] |\"\"\")Whoever\b": "say what need not be done",
    r"\b(?:they|it) (?:is|are) no (?!longer\b|more\b|less\b|better\b|worse\b|larger\b|smaller\b)"
    r"[a-z]+": "say is not a, or are not",
    r", but for\b|\bbut for rounding\b": "say except for, or up to rounding",
    r"\bin the place of\b": "say instead of",
    r"\bwhat else\b": "name it",
    r"\bof one's own\b": "say your own",
    r"\bthe one of\b": "repeat the noun",
    r"\b(?:is|are) (?:that|those) of guessing\b": "say no better than guessing",
    r"\b(?:which is|is that|this is) not so\b": "say what is the case",
    r"(?:[.] |\"\"\")(?:From|To|Of|By) [^.,:=]{0,40} (?:comes?|follows?|stands?|goes)\b": (
        "begin with the subject"
    ),
    r"\b[Cc]an one (?:tell|say|see)\b": "say what can be told",
    r"\bcould not be found out\b|\bwhat could not be\b": "say what was not examined",
    r"\ba conflict of (?:row|lb|ub)\b": "say what contradicts what",
    r"\btells? (?:theirs|its own)\b": "repeat the noun",
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
