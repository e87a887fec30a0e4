"""Files of a release: the paper cites what it lists, and counts what there is."""

from __future__ import annotations

import re
import tomllib
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
    assert f"{len(iopt.depot())} problems" in " ".join(text.split())


def test_nothing_claims_a_release_or_a_platform_without_tests() -> None:
    """The continuous integration runs one Python on Linux."""
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = re.findall(r'python-version: "([\d.]+)"', workflow)
    named = [c.rpartition(" :: ")[2] for c in project["classifiers"]]
    assert versions == [name for name in named if re.fullmatch(r"3\.\d+", name)]
    assert "runs-on: ubuntu-latest" in workflow
    systems = [c for c in project["classifiers"] if c.startswith("Operating System")]
    assert systems == ["Operating System :: POSIX :: Linux"]
    assert not re.search(r"^version:", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.M)
    for page in ("README.md", "docs/index.md"):
        assert "alpha, not released" in (ROOT / page).read_text(encoding="utf-8")
    # The name at a package index is nobody's, so that a command with it fails or is a stranger's.
    texts = [path.read_text(encoding="utf-8") for path in ROOT.glob("docs/**/*.md")]
    assert not [
        found for text in texts for found in re.findall(r"pip install '?indefinite.*", text)
    ]
