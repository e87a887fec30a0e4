"""The pages of the site: their examples run, their files are complete."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path for folder in ("", "guide", "extend") for path in (ROOT / "docs" / folder).glob("*.md")
)
WITH_EXAMPLES = [path for path in PAGES if ">>> " in path.read_text(encoding="utf-8")]


def test_the_pages_have_examples() -> None:
    assert ROOT / "docs" / "start.md" in WITH_EXAMPLES
    assert len(WITH_EXAMPLES) >= 9


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(path: Path) -> None:
    outcome = doctest.testfile(str(path), module_relative=False, encoding="utf-8")
    assert outcome.attempted > 0
    assert outcome.failed == 0
