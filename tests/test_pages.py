"""The pages of the site: their examples run, their files are complete."""

from __future__ import annotations

import doctest
import importlib.util
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from helpers.processes import HANGS

ROOT = Path(__file__).parents[1]
FOLDERS = ("", "guide", "quadratic", "extend", "theory")
PAGES = sorted(path for folder in FOLDERS for path in (ROOT / "docs" / folder).glob("*.md"))
WITH_EXAMPLES = [path for path in PAGES if ">>> " in path.read_text(encoding="utf-8")]


def test_the_pages_have_examples() -> None:
    assert ROOT / "docs" / "start.md" in WITH_EXAMPLES
    assert len(WITH_EXAMPLES) >= 9


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(path: Path) -> None:
    outcome = doctest.testfile(str(path), module_relative=False, encoding="utf-8")
    assert outcome.attempted > 0
    assert outcome.failed == 0


class Requests(HTMLParser):
    """The addresses that a browser fetches by itself when it shows a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "link" and values.get("rel") not in ("stylesheet", "preload", "icon"):
            return
        address = values.get("href" if tag == "link" else "src")
        if tag in ("link", "script", "img", "iframe") and address:
            self.addresses.append(address)


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("pydata_sphinx_theme") is None,
    reason="Sphinx and its theme are missing: pip install '.[docs]'",
)
def test_the_site_builds_without_warnings_and_needs_no_network(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "docs", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=HANGS)
    assert built.stderr == ""
    assert built.returncode == 0
    pages = sorted(tmp_path.rglob("*.html"))
    assert len(pages) > 150
    for page in pages:
        reader = Requests()
        reader.feed(page.read_text(encoding="utf-8"))
        assert [a for a in reader.addresses if re.match(r"(https?:)?//", a)] == [], page.name


GALLERY = sorted((ROOT / "docs" / "gallery_scripts").rglob("plot_*.py"))


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_a_picture_is_in_a_group_and_says_what_to_see(path: Path) -> None:
    groups = ("geometry", "problems", "solvers", "proofs")
    assert path.parent.name in groups
    code, _, seen = path.read_text(encoding="utf-8").rpartition("# %%\n")
    assert re.search(r"^figure(, axes)? = ", code, re.MULTILINE)
    lines = seen.splitlines()
    assert all(line.startswith("# ") for line in lines)
    sentences = re.split(r"(?<=[.?]) ", " ".join(line[2:] for line in lines))
    assert 3 <= len(sentences) <= 4
