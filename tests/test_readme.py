"""The README's examples run as they are printed, and its links lead to files."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```\n\n```\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == README.count("```python") == 2
    assert len(README.splitlines()) <= 120
    for block, _ in EXAMPLES:
        ast.parse(block)


def test_links_lead_to_files() -> None:
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).is_file()] == []


def words(text: str) -> str:
    """A text without its numbers, which differ in the last digits from machine to machine."""
    return " ".join(re.sub(r"[-+]?\d[\d.e+-]*", "#", text).split())


@pytest.mark.slow
def test_the_examples_print_what_stands_below_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block, expected in EXAMPLES:
        exec(compile(block, "README.md", "exec"), names)
        printed = words(capsys.readouterr().out)
        for part in re.split(r"^ *\.\.\.$", expected, flags=re.MULTILINE):
            for line in part.splitlines():
                assert words(line) in printed
